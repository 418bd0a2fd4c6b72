/*
 * fragmented: free memory is there, in single pages
 *
 * Source     mm/page_alloc.c: PAGE_ALLOC_COSTLY_ORDER is 3, blocks of 8 pages, beyond which allocations may
 *            fail
 * Constants  LARGE in percent of free memory in blocks of that size: ours; FREE_BYTES: 64 MiB, so that little
 *            free memory alone is not called so
 */
#include "state/finding.h"

#include "base/size.h"

enum { COSTLY_ORDER = 3, LARGE = 5 };
#define FREE_BYTES (64 * MIB)

extern const struct finding_rule finding_fragmented;

static void judge(struct findings *findings, const struct view *view)
{
	const struct series *series = state_series(view->state, DUMP_BUDDYINFO, NULL, NULL);
	uint64_t free = 0, large = 0;
	struct finding *finding;

	for (size_t i = 0; series && i < series->last->entries.count; i++) {
		const struct entry *zone = &series->last->entries.at[i];

		for (uint32_t order = 0; order < zone->value_count; order++) {
			uint64_t pages;

			if (zone->values[order] >> 40)
				return;
			pages = zone->values[order] << order;
			free += pages;
			large += order >= COSTLY_ORDER ? pages : 0;
		}
	}
	if (pages_bytes(view, free) < FREE_BYTES || is_share_at_least(large, free, LARGE))
		return;
	finding = finding_add(findings, &finding_fragmented, view, FINDING_ELSEWHERE, SEVERITY_LOW);
	finding_title(findings, finding,
		      "Free memory is in small pieces: %s of %s are in blocks of %s or more",
		      percent_text(findings, large, free),
		      bytes_text(findings, pages_bytes(view, free)),
		      bytes_text(findings, view->state->page_bytes << COSTLY_ORDER));
	finding_figure(findings, finding, "free_pages", (double)free, UNIT_PAGES,
		       "blocks * 2^order, all zones");
	finding_figure(findings, finding, "free_pages_in_large_blocks", (double)large, UNIT_PAGES,
		       "of orders from %d", COSTLY_ORDER);
	for (size_t i = 0; i < series->last->entries.count; i++)
		finding_rests_on_entry(finding, &series->last->entries.at[i]);
	finding_rule_is(findings, finding,
			"below %d %% in blocks of order %d and more, "
			"PAGE_ALLOC_COSTLY_ORDER (share: ours)",
			LARGE, COSTLY_ORDER);
}

const struct finding_rule finding_fragmented = {
	.id = "fragmented",
	.summary = "free memory in small pieces",
	.of_system = true,
	.judge = judge,
};
