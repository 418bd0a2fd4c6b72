/*
 * slab_unreclaimable: kernel objects that no shrinker takes back
 *
 * Idea       Much of it, or growth, is a leak or a driver's memory, and no caching problem: neither
 *            drop_caches nor vfs_cache_pressure changes it.
 * Source     include/linux/slab.h, SLAB_RECLAIM_ACCOUNT: caches without it are SUnreclaim
 * Constants  SHARE in percent of memory, GROWTH in percent of memory between two dumps: rules of thumb
 */
#include "state/finding.h"

enum { SHARE = 10, GROWTH = 1 };

extern const struct finding_rule finding_slab_unreclaimable;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity slab = quantity_now(view, QUANTITY_slab_unreclaimable);
	struct quantity memory = quantity_memory(view);
	struct quantity before, after;
	bool is_pair = quantity_pair(view, QUANTITY_slab_unreclaimable, &before, &after);
	bool is_growing, is_large;
	struct finding *finding;

	if (!slab.known || !memory.known)
		return;
	is_large = is_share_at_least(slab.value, memory.value, SHARE);
	is_growing = is_pair && after.value > before.value &&
		     is_share_at_least(after.value - before.value, memory.value, GROWTH);
	if (!is_large && !is_growing)
		return;
	finding = finding_add(findings, &finding_slab_unreclaimable, view, FINDING_ELSEWHERE,
			      is_share_at_least(slab.value, memory.value, 2 * SHARE) || is_growing
				      ? SEVERITY_HIGH
				      : SEVERITY_MEDIUM);
	finding_title(
		findings, finding, "%s (%s of %s) are kernel objects that cannot be reclaimed%s%s",
		bytes_text(findings, slab.value), percent_text(findings, slab.value, memory.value),
		view->cgroup ? "the limit" : "memory", is_growing ? ", grown by " : "",
		is_growing ? bytes_text(findings, after.value - before.value) : "");
	finding_text(findings, finding,
		     "This is no cache: dropping caches does not free it. Growth without an end is "
		     "a leak "
		     "in the kernel or a module.");
	finding_quantity(findings, finding, "slab_unreclaimable_bytes", &slab);
	if (is_pair) {
		finding_quantity(findings, finding, "slab_unreclaimable_bytes_before", &before);
		finding_rests_on(finding, &after);
	}
	finding_rests_on(finding, &memory);
	finding_rule_is(
		findings, finding,
		"at least %d %% of memory, or %d %% more between two dumps (rules of thumb)", SHARE,
		GROWTH);
	finding_remedy(findings, finding,
		       "see which caches in /proc/slabinfo grow (kmalloc-*, the "
		       "module's own)");
}

const struct finding_rule finding_slab_unreclaimable = {
	.id = "slab-unreclaimable",
	.summary = "kernel objects that cannot be reclaimed",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
