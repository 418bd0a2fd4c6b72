/*
 * cgroup_slab: dentries and inodes fill a cgroup: they are given back, unless they are in use
 *
 * Source     mm/memcontrol.c charges kernel objects since Linux 4.5 (by object since 5.9); mm/vmscan.c,
 *            shrink_node_memcgs() shrinks a group's own
 * Constants  SHARE in percent of the limit: ours
 */
#include "state/finding.h"

enum { SHARE = 25 };

extern const struct finding_rule finding_cgroup_slab;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity slab = quantity_now(view, QUANTITY_slab_reclaimable);
	struct quantity limit = quantity_memory(view);
	struct quantity kills = quantity_now(view, QUANTITY_oom_kills);
	struct finding *finding;

	if (!slab.known || !limit.known || !is_share_at_least(slab.value, limit.value, SHARE))
		return;
	finding = finding_add(findings, &finding_cgroup_slab, view, FINDING_EXPLANATION,
			      SEVERITY_NONE);
	finding_title(findings, finding,
		      "%s (%s of the limit) are dentries, inodes and the like: not processes' "
		      "memory, and "
		      "no leak",
		      bytes_text(findings, slab.value),
		      percent_text(findings, slab.value, limit.value));
	finding_text(findings, finding,
		     "Whoever walks many files is charged for their names and inodes. At the limit "
		     "they are "
		     "reclaimed like file pages, so that alone is no reason for a kill%s. What is "
		     "in use "
		     "(open files, watches) cannot be, and memory.stat does not tell it apart.",
		     kills.known && kills.value == 0 ? ", and there was none" : "");
	finding_quantity(findings, finding, "slab_reclaimable_bytes", &slab);
	finding_quantity(findings, finding, "limit_bytes", &limit);
	finding_figure(findings, finding, "slab_share_of_limit",
		       share_percent(slab.value, limit.value), UNIT_PERCENT,
		       "slab_reclaimable of the limit");
	finding_rests_on(finding, &kills);
	finding_rule_is(findings, finding, "at least %d %% of the limit (ours)", SHARE);
}

const struct finding_rule finding_cgroup_slab = {
	.id = "cgroup-slab",
	.summary = "dentries and inodes that fill a cgroup",
	.of_cgroups = true,
	.judge = judge,
};
