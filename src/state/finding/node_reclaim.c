/*
 * node_reclaim: a NUMA node gives up its cache while another has free memory
 *
 * Source     mm/vmscan.c, node_reclaim(); vm.zone_reclaim_mode, 0 by default since Linux 3.16
 * Constants  any in a pair; BETWEEN_DUMPS, below which it may be chance: ours
 */
#include "state/finding.h"

enum { BETWEEN_DUMPS = 10 };

extern const struct finding_rule finding_node_reclaim;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity reclaims = quantity_change(view, QUANTITY_node_reclaims);
	struct quantity mode = quantity_now(view, QUANTITY_node_reclaim_mode);
	bool is_happening = reclaims.known && reclaims.value >= BETWEEN_DUMPS;
	bool is_set = mode.known && mode.value;
	struct finding *finding;

	if (!is_happening && !is_set)
		return;
	finding = finding_add(findings, &finding_node_reclaim, view,
			      is_happening ? FINDING_PROBLEM : FINDING_EXPLANATION,
			      is_happening ? SEVERITY_MEDIUM : SEVERITY_NONE);
	if (is_happening)
		finding_title(
			findings, finding,
			"NUMA nodes throw out their own cache rather than use memory of others: %s "
			"times%s",
			count_text(findings, reclaims.value), within_text(findings, &reclaims));
	else
		finding_title(findings, finding,
			      "vm.zone_reclaim_mode is %s: nodes reclaim before they "
			      "use others' memory",
			      count_text(findings, mode.value));
	finding_text(findings, finding,
		     "One node is then full of cache that is thrown out while others "
		     "have free memory, so less is cached than would fit.");
	finding_quantity(findings, finding, "node_reclaims", &reclaims);
	finding_quantity(findings, finding, "zone_reclaim_mode", &mode);
	finding_rule_is(findings, finding, "at least %d between two dumps (ours)", BETWEEN_DUMPS);
	finding_remedy(findings, finding, "vm.zone_reclaim_mode=0");
}

const struct finding_rule finding_node_reclaim = {
	.id = "node-reclaim",
	.summary = "NUMA nodes that reclaim while others have memory",
	.of_system = true,
	.judge = judge,
};
