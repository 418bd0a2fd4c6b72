/*
 * watermarks: a zone has less free memory than the kernel wants to keep
 *
 * Source     mm/page_alloc.c: below "low" kswapd is woken, below "min" who allocates reclaims for itself
 * Constants  ZONE_SHARE in percent of all: ours, so that a small zone (DMA) is no finding
 */
#include "state/finding.h"

#include <string.h>

enum { ZONE_SHARE = 10 };

extern const struct finding_rule finding_watermarks;

static const struct entry *of_zone(struct findings *findings, const struct dump *dump,
				   const struct entry *zone, const char *what)
{
	return dump_entry(dump, state_text(findings->state, "%s/%s", zone->name, what));
}

static uint64_t pages_of(struct findings *findings, const struct dump *dump,
			 const struct entry *zone)
{
	const struct entry *managed = of_zone(findings, dump, zone, "managed");

	if (!managed)
		managed = of_zone(findings, dump, zone, "present");
	return managed ? managed->values[0] : 0;
}

static bool is_zone(const struct entry *entry)
{
	const char *slash = strchr(entry->name, '/');

	return slash && !strchr(slash + 1, '/');
}

static void zone_judge(struct findings *findings, const struct view *view, const struct dump *dump,
		       const struct entry *zone)
{
	const struct entry *free = of_zone(findings, dump, zone, "free");
	const struct entry *min = of_zone(findings, dump, zone, "min");
	const struct entry *low = of_zone(findings, dump, zone, "low");
	bool is_below_min;
	struct finding *finding;

	if (!free || !min || !low || free->values[0] >= low->values[0])
		return;
	is_below_min = free->values[0] < min->values[0];
	finding = finding_add(findings, &finding_watermarks, view,
			      is_below_min ? FINDING_PROBLEM : FINDING_EXPLANATION,
			      is_below_min ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(findings, finding,
		      "Zone %s has less free memory than its %s watermark: %s of %s", zone->name,
		      is_below_min ? "min" : "low",
		      bytes_text(findings, pages_bytes(view, free->values[0])),
		      bytes_text(findings, pages_bytes(view, is_below_min ? min->values[0]
									  : low->values[0])));
	finding_text(findings, finding,
		     is_below_min ? "Who allocates there reclaims for itself, and waits."
				  : "kswapd is at work there.");
	finding_figure(findings, finding, "free_pages", (double)free->values[0], UNIT_PAGES,
		       "free");
	finding_figure(findings, finding, "min_pages", (double)min->values[0], UNIT_PAGES, "min");
	finding_figure(findings, finding, "low_pages", (double)low->values[0], UNIT_PAGES, "low");
	finding_rests_on_entry(finding, free);
	finding_rests_on_entry(finding, min);
	finding_rests_on_entry(finding, low);
	finding_rule_is(findings, finding, "free below low, or min: mm/page_alloc.c");
}

static void judge(struct findings *findings, const struct view *view)
{
	const struct series *series = state_series(view->state, DUMP_ZONEINFO, NULL, NULL);
	const struct dump *dump = series ? series->last : NULL;
	uint64_t all = 0;

	for (size_t i = 0; dump && i < dump->entries.count; i++) {
		if (is_zone(&dump->entries.at[i]))
			all += pages_of(findings, dump, &dump->entries.at[i]);
	}
	for (size_t i = 0; dump && i < dump->entries.count; i++) {
		const struct entry *zone = &dump->entries.at[i];

		if (is_zone(zone) &&
		    is_share_at_least(pages_of(findings, dump, zone), all, ZONE_SHARE))
			zone_judge(findings, view, dump, zone);
	}
}

const struct finding_rule finding_watermarks = {
	.id = "watermarks",
	.summary = "zones with less free memory than is to be kept",
	.of_system = true,
	.judge = judge,
};
