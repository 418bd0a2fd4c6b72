/*
 * swapping: processes' own memory goes to swap and comes back
 *
 * Idea       Memory that processes have written is short, not cache. What comes back (pswpin, refaults of
 *            anonymous pages) makes them wait; what only goes out (pswpout) may be good riddance.
 * Source     mm/page_io.c counts PSWPIN and PSWPOUT in pages; mm/workingset.c, workingset_refault_anon
 *            (Linux 5.9)
 * Constants  PAGES_PER_SECOND as in file_thrash.c: what a disk reads at random in a second
 */
#include "state/finding.h"

#include "base/size.h"

enum { PAGES_PER_SECOND = 100 };

extern const struct finding_rule finding_swapping;

/* What came from swap, and what went there. */
struct swap {
	struct quantity in, out, total;
	bool is_refaults; /* `in` counts such as had been evicted not long before */
	bool comes_back, goes_out;
};

static bool is_fast(const struct quantity *change)
{
	if (!change->known || change->value == 0)
		return false;
	return !change->has_interval ||
	       is_rate_at_least(change->value, change->interval_ns, PAGES_PER_SECOND);
}

static struct swap swap_of(const struct view *view)
{
	struct swap swap = {
		.in = quantity_change(view, QUANTITY_swapped_in),
		.out = quantity_change(view, QUANTITY_swapped_out),
		.total = quantity_now(view, QUANTITY_swap_total),
	};

	if (!swap.in.known) {
		swap.in = quantity_change(view, QUANTITY_refaults_anon);
		swap.is_refaults = true;
	}
	swap.comes_back = is_fast(&swap.in);
	swap.goes_out = is_fast(&swap.out);
	return swap;
}

static void say_problem(struct findings *findings, struct finding *finding, const struct view *view,
			const struct swap *swap)
{
	const struct quantity *worse = swap->comes_back ? &swap->in : &swap->out;

	finding_title(findings, finding,
		      "The machine swaps: %s pages came back from swap%s%s%s (%s)",
		      count_text(findings, swap->in.value), swap->out.known ? ", out went " : "",
		      swap->out.known ? count_text(findings, swap->out.value) : "",
		      within_text(findings, &swap->in),
		      rate_text(findings, worse, pages_bytes(view, worse->value)));
	finding_text(
		findings, finding,
		"It is processes' own memory that is short. Cache is given up before and beside "
		"it, so a larger cache is no remedy.%s",
		swap->comes_back ? "" : " What only goes out may never be missed.");
	finding_remedy(
		findings, finding,
		"find what grew (anon in this report, or RssAnon in /proc/PID/status), or give "
		"more memory");
}

static void add(struct findings *findings, const struct view *view, const struct swap *swap)
{
	bool is_problem = swap->comes_back || swap->goes_out;
	enum finding_severity severity = swap->comes_back ? SEVERITY_HIGH
					 : swap->goes_out ? SEVERITY_MEDIUM
							  : SEVERITY_NONE;
	struct finding *finding =
		finding_add(findings, &finding_swapping, view,
			    is_problem ? FINDING_ELSEWHERE : FINDING_RULED_OUT, severity);

	if (is_problem)
		say_problem(findings, finding, view, swap);
	else if (swap->in.value || quantity_or_zero(&swap->out))
		finding_title(findings, finding, "Little is swapped: %s pages in, %s out%s",
			      count_text(findings, swap->in.value),
			      swap->out.known ? count_text(findings, swap->out.value) : "?",
			      within_text(findings, &swap->in));
	else
		finding_title(findings, finding,
			      swap->is_refaults ? "No page of processes came back from swap%s"
						: "Nothing is swapped in or out%s",
			      within_text(findings, &swap->in));
	finding_quantity(findings, finding,
			 swap->is_refaults ? "anon_refaults_pages" : "swapped_in_pages", &swap->in);
	finding_quantity(findings, finding, "swapped_out_pages", &swap->out);
	finding_quantity(findings, finding, "swap_total_bytes", &swap->total);
	finding_rule_is(findings, finding,
			"%d pages/s, what a disk of 7200 rpm reads at random (rule of thumb)",
			PAGES_PER_SECOND);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct swap swap = swap_of(view);
	struct finding *finding;

	if (swap.in.known) {
		add(findings, view, &swap);
		return;
	}
	if (view->cgroup || !swap.total.known || swap.total.value)
		return;
	finding = finding_add(findings, &finding_swapping, view, FINDING_RULED_OUT, SEVERITY_NONE);
	finding_title(findings, finding, "There is no swap space, so nothing is swapped");
	finding_quantity(findings, finding, "swap_total_bytes", &swap.total);
}

const struct finding_rule finding_swapping = {
	.id = "swapping",
	.summary = "processes' memory that goes to swap and comes back",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
