/*
 * working_set: what orchestrators call a container's working set counts active page cache as used
 *
 * Idea       working set = usage - inactive file pages. A file page that was used twice is on the active
 *            list, and so in that figure, but it is dropped when the limit is met, as an inactive one is.
 *            What the group cannot do without is its usage less all file pages and reclaimable slab.
 * Source     cAdvisor's and the kubelet's container_memory_working_set_bytes; mm/vmscan.c,
 *            shrink_active_list(): an active page is demoted when the inactive list runs short
 * Constants  ACTIVE_SHARE in percent of the working set: ours
 * Weakness   active pages may be needed after all: then they are read again, and that shows as refaults
 */
#include "state/finding.h"

#include "base/size.h"

enum { ACTIVE_SHARE = 10 };

extern const struct finding_rule finding_working_set;

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity usage = quantity_now(view, QUANTITY_usage);
	struct quantity active = quantity_now(view, QUANTITY_active_file);
	struct quantity inactive = quantity_now(view, QUANTITY_inactive_file);
	struct quantity slab = quantity_now(view, QUANTITY_slab_reclaimable);
	struct quantity dirty = quantity_now(view, QUANTITY_dirty);
	struct quantity limit = quantity_memory(view);
	struct quantity kills = quantity_now(view, QUANTITY_oom_kills);
	uint64_t working_set, needed;
	struct finding *finding;

	if (!usage.known || !active.known || !inactive.known)
		return;
	working_set = less(usage.value, inactive.value);
	needed = less(less(working_set, active.value), quantity_or_zero(&slab));
	if (!is_share_at_least(active.value, working_set, ACTIVE_SHARE) || working_set == 0)
		return;
	finding = finding_add(findings, &finding_working_set, view, FINDING_EXPLANATION,
			      SEVERITY_NONE);
	finding_title(
		findings, finding,
		"Active page cache is not leaked memory: of a \"working set\" of %s, %s can be "
		"dropped",
		bytes_text(findings, working_set), bytes_text(findings, less(working_set, needed)));
	finding_text(findings, finding,
		     "An alarm on usage less inactive file pages counts %s of active file pages as "
		     "used. "
		     "Under pressure they are demoted and dropped like the others; what the group "
		     "cannot do without is about %s.",
		     bytes_text(findings, active.value), bytes_text(findings, needed));
	if (kills.known && kills.value == 0)
		finding_text(findings, finding,
			     "It has killed nobody so far: such an alarm is false.");
	if (quantity_or_zero(&dirty))
		finding_text(findings, finding,
			     "%s of the file pages are dirty, and must be written "
			     "before they can be dropped.",
			     bytes_text(findings, dirty.value));
	finding_quantity(findings, finding, "usage_bytes", &usage);
	finding_quantity(findings, finding, "inactive_file_bytes", &inactive);
	finding_quantity(findings, finding, "active_file_bytes", &active);
	finding_quantity(findings, finding, "limit_bytes", &limit);
	finding_figure(findings, finding, "working_set_bytes", (double)working_set, UNIT_BYTES,
		       "usage - inactive file: %s - %s", count_text(findings, usage.value),
		       count_text(findings, inactive.value));
	finding_figure(findings, finding, "needed_bytes", (double)needed, UNIT_BYTES,
		       "working set - active file - reclaimable slab");
	finding_rests_on(finding, &kills);
	finding_rule_is(findings, finding,
			"active file pages are at least %d %% of the working set "
			"(ours)",
			ACTIVE_SHARE);
}

const struct finding_rule finding_working_set = {
	.id = "working-set",
	.summary = "active page cache that is counted as used memory",
	.of_cgroups = true,
	.judge = judge,
};
