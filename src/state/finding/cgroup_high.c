/*
 * cgroup_high: a cgroup that is slowed down at memory.high
 *
 * Source     mm/memcontrol.c, mem_cgroup_handle_over_high(): who allocates above it reclaims, and sleeps
 * Constants  EVENTS_PER_SECOND: ours
 */
#include "state/finding.h"

enum { EVENTS_PER_SECOND = 1 };

extern const struct finding_rule finding_cgroup_high;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity change = quantity_change(view, QUANTITY_events_high);
	struct quantity high = quantity_now(view, QUANTITY_limit_high);
	struct quantity usage = quantity_now(view, QUANTITY_usage);
	bool is_over = high.known && usage.known && usage.value > high.value;
	bool is_slowed = change.known && change.value &&
			 (!change.has_interval ||
			  is_rate_at_least(change.value, change.interval_ns, EVENTS_PER_SECOND));
	struct finding *finding;

	if (!is_slowed && !is_over)
		return;
	finding = finding_add(findings, &finding_cgroup_high, view,
			      is_slowed ? FINDING_PROBLEM : FINDING_EXPLANATION,
			      is_slowed ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(findings, finding, "The cgroup is over its memory.high%s%s%s",
		      is_slowed ? ", and slowed down " : "",
		      is_slowed ? count_text(findings, change.value) : "",
		      is_slowed ? " times" : "");
	finding_text(findings, finding,
		     "Above it, whoever allocates reclaims first and then sleeps: it "
		     "throttles, and never kills.");
	finding_quantity(findings, finding, "high_bytes", &high);
	finding_quantity(findings, finding, "usage_bytes", &usage);
	finding_quantity(findings, finding, "times_over_high", &change);
	finding_rule_is(findings, finding,
			"usage over memory.high; slowed: at least %d event/s (ours)",
			EVENTS_PER_SECOND);
}

const struct finding_rule finding_cgroup_high = {
	.id = "cgroup-high",
	.summary = "a cgroup slowed down at memory.high",
	.of_cgroups = true,
	.judge = judge,
};
