/*
 * shrinkers: reclaim is looking through kernel objects
 *
 * Source     mm/shrinker.c, do_shrink_slab() counts SLABS_SCANNED: objects of all shrinkers
 * Constants  SCANNED_PER_SECOND: ours; 128 objects are the least that a shrinker is asked to scan at once
 */
#include "state/finding.h"

enum { SCANNED_PER_SECOND = 100 };

extern const struct finding_rule finding_shrinkers;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity scanned = quantity_change(view, QUANTITY_slabs_scanned);
	struct quantity inode_pages = quantity_change(view, QUANTITY_pages_of_inodes);
	struct quantity dropped = quantity_change(view, QUANTITY_dropped_slab);
	struct finding *finding;
	bool is_busy;

	/* drop_caches asks the shrinkers, too: that is no pressure. */
	if (!scanned.known || quantity_or_zero(&dropped))
		return;
	is_busy = scanned.value &&
		  (!scanned.has_interval ||
		   is_rate_at_least(scanned.value, scanned.interval_ns, SCANNED_PER_SECOND));
	finding = finding_add(findings, &finding_shrinkers, view,
			      is_busy ? FINDING_EXPLANATION : FINDING_RULED_OUT, SEVERITY_NONE);
	finding_title(findings, finding, "Reclaim looked at %s kernel objects%s%s%s%s",
		      scanned.value ? count_text(findings, scanned.value) : "no",
		      within_text(findings, &scanned), is_busy ? " (" : "",
		      is_busy ? rate_text(findings, &scanned, 0) : "",
		      is_busy ? "): dentries and inodes are under pressure too" : "");
	finding_quantity(findings, finding, "slabs_scanned", &scanned);
	if (inode_pages.known && inode_pages.value) {
		finding_text(findings, finding,
			     "%s pages went because their inodes were reclaimed: they leave no "
			     "shadow, so reading them again is no refault.",
			     count_text(findings, inode_pages.value));
		finding_quantity(findings, finding, "pages_of_inodes", &inode_pages);
	}
	finding_rule_is(findings, finding,
			"at least %d objects/s (ours); mm/shrinker.c, do_shrink_slab()",
			SCANNED_PER_SECOND);
}

const struct finding_rule finding_shrinkers = {
	.id = "shrinkers",
	.summary = "dentries and inodes that reclaim looks through",
	.of_system = true,
	.judge = judge,
};
