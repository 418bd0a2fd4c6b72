/*
 * arc_use: what ZFS's own cache has, and how often it has what is asked for
 *
 * Source     module/zfs/arc.c: c is the target, between c_min and c_max; hits and misses of all look-ups,
 *            "demand" of those that somebody waits for
 * Differs    iohits (ZFS 2.2: the block was being read already) count as neither
 */
#include "state/finding.h"

#include "base/size.h"

extern const struct finding_rule finding_arc_use;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity size = quantity_now(view, QUANTITY_arc_size);
	struct quantity target = quantity_now(view, QUANTITY_arc_target);
	struct quantity floor = quantity_now(view, QUANTITY_arc_floor);
	struct quantity most = quantity_now(view, QUANTITY_arc_most);
	struct quantity meta = quantity_now(view, QUANTITY_arc_meta);
	struct quantity total = quantity_now(view, QUANTITY_total);
	struct quantity hits = quantity_change(view, QUANTITY_arc_demand_hits);
	struct quantity misses = quantity_change(view, QUANTITY_arc_demand_misses);
	bool is_pair = hits.known && misses.known;
	struct finding *finding;

	if (!size.known)
		return;
	if (!is_pair) {
		hits = quantity_now(view, QUANTITY_arc_demand_hits);
		misses = quantity_now(view, QUANTITY_arc_demand_misses);
	}
	finding = finding_add(findings, &finding_arc_use, view, FINDING_EXPLANATION, SEVERITY_NONE);
	finding_title(findings, finding, "ZFS's ARC has %s%s%s of at most %s",
		      bytes_text(findings, size.value), total.known ? ", " : "",
		      total.known ? state_text(findings->state, "%s of memory,",
					       percent_text(findings, size.value, total.value))
				  : "",
		      most.known ? bytes_text(findings, most.value) : "?");
	finding_text(
		findings, finding,
		"It is a cache, though meminfo counts it neither as cached nor, in part, anywhere: "
		"what looks used is given back, down to %s, when memory is short.",
		floor.known ? bytes_text(findings, floor.value) : "its floor");
	if (hits.known && misses.known && hits.value + misses.value)
		finding_figure(findings, finding, "demand_hit_share",
			       share_percent(hits.value, hits.value + misses.value), UNIT_PERCENT,
			       is_pair ? "demand hits of hits and misses, between the dumps"
				       : "demand hits of hits and misses, since it was loaded");
	finding_quantity(findings, finding, "arc_bytes", &size);
	finding_quantity(findings, finding, "arc_target_bytes", &target);
	finding_quantity(findings, finding, "arc_floor_bytes", &floor);
	finding_quantity(findings, finding, "arc_most_bytes", &most);
	finding_quantity(findings, finding, "arc_metadata_bytes", &meta);
	if (total.known)
		finding_figure(findings, finding, "arc_share_of_memory",
			       share_percent(size.value, total.value), UNIT_PERCENT,
			       "size of MemTotal");
	finding_rule_is(findings, finding, "told whenever there are arcstats");
}

const struct finding_rule finding_arc_use = {
	.id = "arc-use",
	.summary = "what ZFS's ARC has",
	.of_system = true,
	.judge = judge,
};
