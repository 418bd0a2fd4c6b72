/*
 * dropped_caches: somebody throws the caches away
 *
 * Idea       Whoever writes to drop_caches because little memory is free has everything that was hot read
 *            again. If that made something faster, the reason is another one: slab, fragmentation, dirty data.
 * Source     fs/drop_caches.c, drop_caches_sysctl_handler() counts DROP_PAGECACHE and DROP_SLAB once a
 *            write (Linux 3.15)
 * Constants  ONCE_A_DAY: rule of thumb, for what is no accident. LOST in percent of the page cache before: ours,
 *            below it most has been read again already
 */
#include "state/finding.h"

#include "base/size.h"

enum { ONCE_A_DAY = 3, LOST = 10 };

extern const struct finding_rule finding_dropped_caches;

/* In the pair: it was done meanwhile. */
static bool judge_pair(struct findings *findings, const struct view *view)
{
	struct quantity pages = quantity_change(view, QUANTITY_dropped_pagecache);
	struct quantity slab = quantity_change(view, QUANTITY_dropped_slab);
	struct quantity read = quantity_change(view, QUANTITY_read);
	struct quantity cached_before, cached;
	struct finding *finding;

	if (!pages.known && !slab.known)
		return false;
	if (quantity_or_zero(&pages) + quantity_or_zero(&slab) == 0)
		return false;
	finding = finding_add(findings, &finding_dropped_caches, view, FINDING_PROBLEM,
			      SEVERITY_MEDIUM);
	finding_title(findings, finding,
		      "The caches were thrown away between the two dumps: drop_caches (pages "
		      "%s, slab %s)",
		      count_text(findings, quantity_or_zero(&pages)),
		      count_text(findings, quantity_or_zero(&slab)));
	finding_text(findings, finding,
		     "All that was hot is read again, and gains nothing: clean pages are given up "
		     "anyway "
		     "when memory is needed. Figures of this interval show the dropping, not the "
		     "workload.");
	if (quantity_pair(view, QUANTITY_cached, &cached_before, &cached) &&
	    cached_before.value > cached.value &&
	    is_share_at_least(cached_before.value - cached.value, cached_before.value, LOST)) {
		finding_figure(findings, finding, "page_cache_lost_bytes",
			       (double)(cached_before.value - cached.value), UNIT_BYTES,
			       "page cache before - after");
		finding_rests_on(finding, &cached_before);
		finding_rests_on(finding, &cached);
	}
	finding_quantity(findings, finding, "read_bytes", &read);
	finding_quantity(findings, finding, "dropped_pagecache", &pages);
	finding_quantity(findings, finding, "dropped_slab", &slab);
	finding_rule_is(findings, finding, "any; fs/drop_caches.c");
	finding_remedy(findings, finding,
		       "find the cron job or the script that writes to "
		       "/proc/sys/vm/drop_caches, and what it was meant to cure");
	return true;
}

/* Since the machine started. */
static void judge_history(struct findings *findings, const struct view *view)
{
	struct quantity pages = quantity_now(view, QUANTITY_dropped_pagecache);
	struct quantity slab = quantity_now(view, QUANTITY_dropped_slab);
	struct quantity uptime = quantity_now(view, QUANTITY_uptime);
	uint64_t times = quantity_or_zero(&pages) > quantity_or_zero(&slab)
				 ? quantity_or_zero(&pages)
				 : quantity_or_zero(&slab);
	const uint64_t day_ns = UINT64_C(24) * 3600 * NS_PER_SECOND;
	bool is_habit;
	struct finding *finding;

	if (!pages.known && !slab.known)
		return;
	is_habit = uptime.known && times >= ONCE_A_DAY && times >= uptime.value / day_ns;
	finding = finding_add(findings, &finding_dropped_caches, view,
			      times == 0 ? FINDING_RULED_OUT
			      : is_habit ? FINDING_PROBLEM
					 : FINDING_EXPLANATION,
			      is_habit ? SEVERITY_LOW : SEVERITY_NONE);
	if (times == 0) {
		finding_title(findings, finding, "Nobody has thrown the caches away (drop_caches)");
	} else {
		finding_title(
			findings, finding,
			"The caches have been thrown away since the machine started: drop_caches "
			"(pages %s, slab %s)",
			count_text(findings, quantity_or_zero(&pages)),
			count_text(findings, quantity_or_zero(&slab)));
		finding_text(findings, finding,
			     uptime.known ? "It has been running for %s."
					  : "How often that is, %s would say.",
			     uptime.known ? time_text(findings, uptime.value) : "/proc/uptime");
		finding_remedy(findings, finding, "look for drop_caches in cron jobs and scripts");
	}
	finding_quantity(findings, finding, "dropped_pagecache", &pages);
	finding_quantity(findings, finding, "dropped_slab", &slab);
	finding_quantity(findings, finding, "uptime", &uptime);
	finding_rule_is(findings, finding,
			"any; a habit: at least %d times and once a day (rule of thumb)",
			ONCE_A_DAY);
}

static void judge(struct findings *findings, const struct view *view)
{
	if (!judge_pair(findings, view))
		judge_history(findings, view);
}

const struct finding_rule finding_dropped_caches = {
	.id = "dropped-caches",
	.summary = "caches that somebody throws away",
	.of_system = true,
	.judge = judge,
};
