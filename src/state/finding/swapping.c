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

static bool is_fast(const struct quantity *change)
{
	if (!change->known || change->value == 0)
		return false;
	return !change->has_interval ||
	       is_rate_at_least(change->value, change->interval_ns, PAGES_PER_SECOND);
}

/* `in` counts what came from swap, or (is_refaults) such of it as had been evicted not long before. */
static void add(struct findings *findings, const struct view *view, const struct quantity *in,
		const struct quantity *out, bool is_refaults)
{
	bool is_problem = is_fast(in);
	bool is_seen = in->value || quantity_or_zero(out);
	struct quantity total = quantity_now(view, QUANTITY_swap_total);
	struct finding *finding = finding_add(findings, &finding_swapping, view,
					      is_problem ? FINDING_ELSEWHERE : FINDING_RULED_OUT,
					      is_problem ? SEVERITY_HIGH : SEVERITY_NONE);

	if (is_problem) {
		finding_title(findings, finding,
			      "The machine swaps: %s pages came back from swap%s (%s)",
			      count_text(findings, in->value), within_text(findings, in),
			      rate_text(findings, in, pages_bytes(view, in->value)));
		finding_text(findings, finding,
			     "It is processes' own memory that is short. Cache is given up before "
			     "and beside it, so a larger cache is no remedy.");
		finding_remedy(
			findings, finding,
			"find what grew (anon in this report, or RssAnon in /proc/PID/status), "
			"or give more memory");
	} else if (is_seen) {
		finding_title(findings, finding, "Little is swapped: %s pages in, %s out%s",
			      count_text(findings, in->value),
			      out->known ? count_text(findings, out->value) : "?",
			      within_text(findings, in));
	} else {
		finding_title(findings, finding,
			      is_refaults ? "No page of processes came back from swap%s"
					  : "Nothing is swapped in or out%s",
			      within_text(findings, in));
	}
	finding_quantity(findings, finding,
			 is_refaults ? "anon_refaults_pages" : "swapped_in_pages", in);
	finding_quantity(findings, finding, "swapped_out_pages", out);
	finding_quantity(findings, finding, "swap_total_bytes", &total);
	finding_rule_is(findings, finding,
			"%d pages/s, what a disk of 7200 rpm reads at random (rule of thumb)",
			PAGES_PER_SECOND);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity in = quantity_change(view, QUANTITY_swapped_in);
	struct quantity out = quantity_change(view, QUANTITY_swapped_out);
	struct quantity total = quantity_now(view, QUANTITY_swap_total);
	struct finding *finding;

	bool is_refaults = !in.known;

	if (is_refaults)
		in = quantity_change(view, QUANTITY_refaults_anon);
	if (in.known) {
		add(findings, view, &in, &out, is_refaults);
		return;
	}
	if (view->cgroup || !total.known || total.value)
		return;
	finding = finding_add(findings, &finding_swapping, view, FINDING_RULED_OUT, SEVERITY_NONE);
	finding_title(findings, finding, "There is no swap space, so nothing is swapped");
	finding_quantity(findings, finding, "swap_total_bytes", &total);
}

const struct finding_rule finding_swapping = {
	.id = "swapping",
	.summary = "processes' memory that goes to swap and comes back",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
