/*
 * dying_cgroups: cgroups that are gone still hold what they were charged for
 *
 * Idea       A page is charged to whoever touched it first, and stays so while it is cached. A short job that
 *            warms a shared file leaves a group behind that exists as long as the pages do.
 * Source     mm/memcontrol.c, mem_cgroup_css_offline(); cgroup.stat, nr_dying_descendants (Linux 4.14)
 * Constants  MANY: ours
 */
#include "state/finding.h"

enum { MANY = 100 };

extern const struct finding_rule finding_dying_cgroups;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity dying = quantity_now(view, QUANTITY_dying_cgroups);
	struct finding *finding;

	if (!dying.known || dying.value < MANY)
		return;
	finding = finding_add(findings, &finding_dying_cgroups, view, FINDING_EXPLANATION,
			      SEVERITY_NONE);
	finding_title(findings, finding, "%s cgroups have been removed and still hold memory",
		      count_text(findings, dying.value));
	finding_text(
		findings, finding,
		"Pages stay charged to the group that touched them first. Who uses them now is not "
		"charged, and a limit of its own does not see them.");
	finding_quantity(findings, finding, "dying_cgroups", &dying);
	finding_rule_is(findings, finding, "at least %d (ours)", MANY);
	finding_remedy(findings, finding,
		       "run what warms a shared file in the cgroup that uses it");
}

const struct finding_rule finding_dying_cgroups = {
	.id = "dying-cgroups",
	.summary = "removed cgroups that still hold memory",
	.of_cgroups = true,
	.judge = judge,
};
