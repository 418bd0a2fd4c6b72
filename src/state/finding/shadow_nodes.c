/*
 * shadow_nodes: refaults that were not recognised, as their shadow entries had been thrown away
 *
 * Source     mm/workingset.c, shadow_lru_isolate() counts WORKINGSET_NODERECLAIM
 */
#include "state/finding.h"

extern const struct finding_rule finding_shadow_nodes;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity nodes = quantity_change(view, QUANTITY_shadow_nodes_reclaimed);
	struct finding *finding;

	if (!nodes.known || nodes.value == 0)
		return;
	finding = finding_add(findings, &finding_shadow_nodes, view, FINDING_EXPLANATION,
			      SEVERITY_NONE);
	finding_title(findings, finding,
		      "Refaults are a lower bound: %s nodes of shadow entries were "
		      "thrown away%s",
		      count_text(findings, nodes.value), within_text(findings, &nodes));
	finding_text(
		findings, finding,
		"A node remembers up to 64 evicted pages of a file. What they remembered counts as "
		"new when it is read again.");
	finding_quantity(findings, finding, "shadow_nodes_reclaimed", &nodes);
	finding_rule_is(findings, finding, "any; mm/workingset.c, shadow_lru_isolate()");
}

const struct finding_rule finding_shadow_nodes = {
	.id = "shadow-nodes",
	.summary = "evictions that were forgotten, so that refaults are a lower bound",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
