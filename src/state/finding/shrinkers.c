/*
 * shrinkers: reclaim is looking through kernel objects
 *
 * Source     mm/shrinker.c, do_shrink_slab() counts SLABS_SCANNED: objects of all shrinkers
 */
#include "state/finding.h"

extern const struct finding_rule finding_shrinkers;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity scanned = quantity_change(view, QUANTITY_slabs_scanned);
	struct quantity inode_pages = quantity_change(view, QUANTITY_pages_of_inodes);
	struct finding *finding;

	if (!scanned.known)
		return;
	finding =
		finding_add(findings, &finding_shrinkers, view,
			    scanned.value ? FINDING_EXPLANATION : FINDING_RULED_OUT, SEVERITY_NONE);
	if (scanned.value == 0)
		finding_title(findings, finding, "Reclaim looked at no kernel objects%s",
			      within_text(findings, &scanned));
	else
		finding_title(
			findings, finding,
			"Reclaim looked at %s kernel objects%s (%s): dentries and inodes are under "
			"pressure too",
			count_text(findings, scanned.value), within_text(findings, &scanned),
			rate_text(findings, &scanned, 0));
	finding_quantity(findings, finding, "slabs_scanned", &scanned);
	if (inode_pages.known && inode_pages.value) {
		finding_text(findings, finding,
			     "%s pages went because their inodes were reclaimed: they leave no "
			     "shadow, so "
			     "reading them again is no refault.",
			     count_text(findings, inode_pages.value));
		finding_quantity(findings, finding, "pages_of_inodes", &inode_pages);
	}
	finding_rule_is(findings, finding, "any; mm/shrinker.c, do_shrink_slab()");
}

const struct finding_rule finding_shrinkers = {
	.id = "shrinkers",
	.summary = "dentries and inodes that reclaim looks through",
	.of_system = true,
	.judge = judge,
};
