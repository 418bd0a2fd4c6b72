/*
 * slab_caches: how much of memory kernel objects take, and which
 *
 * Idea       dentries and inodes are a cache too, and compete with the page cache for the same memory: the
 *            more there are, the less file pages stay. That they are many is a fact, not yet a problem.
 * Source     mm/slab_common.c: a cache's bytes are its slabs times the pages of one times the page size,
 *            which is more than its objects times their size
 * Constants  SHARE in percent of memory: rule of thumb
 */
#include "state/finding.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "state/slab.h"

enum { SHARE = 25, CACHES_SHOWN = 5 };

extern const struct finding_rule finding_slab_caches;

/* "dentry_slab_bytes" */
static const char *figure_name(struct findings *findings, const struct entry *cache,
			       const char *what)
{
	return state_text(findings->state, "%s_%s", cache->name, what);
}

static void cache_figures(struct findings *findings, struct finding *finding,
			  const struct view *view, const struct entry *cache)
{
	uint64_t bytes = slab_bytes(view->state, cache);

	if (cache->values[SLAB_BYTES])
		finding_figure(findings, finding, figure_name(findings, cache, "slab_bytes"),
			       (double)bytes, UNIT_BYTES, "as it says");
	else
		finding_figure(findings, finding, figure_name(findings, cache, "slab_bytes"),
			       (double)bytes, UNIT_BYTES, "%s slabs * %s pages * %s bytes",
			       count_text(findings, cache->values[SLAB_SLABS]),
			       count_text(findings, cache->values[SLAB_PAGES]),
			       count_text(findings, view->state->page_bytes));
	finding_figure(findings, finding, figure_name(findings, cache, "object_bytes"),
		       (double)cache->values[SLAB_ACTIVE] * (double)cache->values[SLAB_SIZE],
		       UNIT_BYTES, "%s objects * %s bytes%s",
		       count_text(findings, cache->values[SLAB_ACTIVE]),
		       count_text(findings, cache->values[SLAB_SIZE]),
		       cache->values[SLAB_BYTES] ? ", rounded" : "");
	finding_rests_on_entry(finding, cache);
}

/* All slabs of all caches. */
static uint64_t bytes_of_all(const struct view *view, const struct dump *dump)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < dump->entries.count; i++)
		sum += slab_bytes(view->state, &dump->entries.at[i]);
	return sum;
}

static const char *names(struct findings *findings, const struct view *view,
			 const struct entry *const *caches, size_t count)
{
	char text[400] = "";
	size_t used = 0;

	for (size_t i = 0; i < count && i < 3 && used < sizeof(text); i++) {
		char size[SIZE_TEXT_BYTES];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.60s %s",
					 i ? ", " : "", caches[i]->name,
					 size_format(size, slab_bytes(view->state, caches[i])));
	}
	return state_text(findings->state, "%s", text);
}

static void judge(struct findings *findings, const struct view *view)
{
	const struct dump *dump = view->cgroup ? NULL : slab_dump(view->state);
	struct quantity slab = quantity_now(view, QUANTITY_slab);
	struct quantity reclaimable = quantity_now(view, QUANTITY_slab_reclaimable);
	struct quantity unreclaimable = quantity_now(view, QUANTITY_slab_unreclaimable);
	struct quantity memory = quantity_memory(view);
	const struct entry *caches[CACHES_SHOWN];
	size_t count = view->cgroup ? 0 : slab_largest(view->state, caches, CACHES_SHOWN);
	uint64_t bytes = slab.known          ? slab.value
			 : reclaimable.known ? reclaimable.value + quantity_or_zero(&unreclaimable)
			 : dump              ? bytes_of_all(view, dump)
					     : 0;
	bool is_large = memory.known && is_share_at_least(bytes, memory.value, SHARE);
	struct finding *finding;

	if (bytes == 0 || (count == 0 && !is_large))
		return;
	finding = finding_add(findings, &finding_slab_caches, view, FINDING_EXPLANATION,
			      SEVERITY_NONE);
	finding_title(findings, finding, "Kernel objects take %s%s%s%s%s%s",
		      bytes_text(findings, bytes), memory.known ? ", " : "",
		      memory.known ? percent_text(findings, bytes, memory.value) : "",
		      memory.known ? view->cgroup ? " of the limit" : " of memory" : "",
		      count ? ": " : "", count ? names(findings, view, caches, count) : "");
	if (reclaimable.known && bytes)
		finding_text(
			findings, finding,
			"%s of it (%s) is of kinds that can be reclaimed when they are not in use.",
			percent_text(findings, reclaimable.value, bytes),
			bytes_text(findings, reclaimable.value));
	if (is_large)
		finding_text(
			findings, finding,
			"Dentries and inodes compete with file pages for the same memory: where "
			"many names are looked up, less data stays.");
	if (slab.known)
		finding_quantity(findings, finding, "slab_bytes", &slab);
	else
		finding_figure(findings, finding, "slab_bytes", (double)bytes, UNIT_BYTES,
			       reclaimable.known ? "reclaimable + unreclaimable" : "all slabs");
	finding_quantity(findings, finding, "slab_reclaimable_bytes", &reclaimable);
	finding_quantity(findings, finding, "slab_unreclaimable_bytes", &unreclaimable);
	if (memory.known)
		finding_figure(findings, finding, "slab_share", share_percent(bytes, memory.value),
			       UNIT_PERCENT, "of %s bytes", count_text(findings, memory.value));
	for (size_t i = 0; i < count; i++)
		cache_figures(findings, finding, view, caches[i]);
	finding_rule_is(findings, finding,
			"told whenever there is a slabinfo; large: at least %d %% "
			"(rule of thumb)",
			SHARE);
}

const struct finding_rule finding_slab_caches = {
	.id = "slab-caches",
	.summary = "kernel objects, and which they are",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
