/*
 * killed: processes were killed for memory
 *
 * Source     mm/oom_kill.c, __oom_kill_process() counts OOM_KILL (Linux 4.13)
 */
#include "state/finding.h"

extern const struct finding_rule finding_killed;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity now = quantity_change(view, QUANTITY_oom_kills);
	struct quantity ever = quantity_now(view, QUANTITY_oom_kills);
	struct quantity slab = quantity_now(view, QUANTITY_slab_reclaimable);
	struct quantity anon = quantity_now(view, QUANTITY_anon);
	const struct quantity *kills = now.known ? &now : &ever;
	struct finding *finding;

	if (!ever.known)
		return;
	/* Long ago is not now. */
	if (kills->value == 0 || (!now.known && !view->cgroup)) {
		if (kills->value)
			return;
		finding = finding_add(findings, &finding_killed, view, FINDING_RULED_OUT,
				      SEVERITY_NONE);
		finding_title(findings, finding, "Nobody was killed for memory");
		finding_quantity(findings, finding, "oom_kills", kills);
		return;
	}
	finding = finding_add(findings, &finding_killed, view, FINDING_ELSEWHERE,
			      now.known ? SEVERITY_HIGH : SEVERITY_MEDIUM);
	finding_title(findings, finding, "%s processes were killed for memory%s",
		      count_text(findings, kills->value),
		      now.known ? " between the two dumps" : " since the cgroup began");
	finding_text(
		findings, finding,
		"Clean page cache and unused dentries are dropped before that: what could not be "
		"given up was processes' memory, tmpfs, or kernel objects in use.");
	finding_quantity(findings, finding, "oom_kills", kills);
	finding_quantity(findings, finding, "anon_bytes", &anon);
	finding_quantity(findings, finding, "slab_reclaimable_bytes", &slab);
	finding_rule_is(findings, finding, "any; mm/oom_kill.c");
}

const struct finding_rule finding_killed = {
	.id = "killed",
	.summary = "processes killed for memory",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
