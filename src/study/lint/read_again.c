/*
 * read_again: what was read is evicted, and read once more
 *
 * Idea       A page that comes back has a refault distance: how many pages aged out since it was evicted. With
 *            so many more it would have stayed; with fewer, perhaps, since pages that come back age others out
 *            again and are counted each time. So the largest distance of a file's pages bounds how much more
 *            memory would have spared all these reads, and that of nine in ten what would have spared most. More
 *            than all files are large is never needed.
 * Source     mm/workingset.c, the opening comment; J. Weiner, "Thrash detection-based file cache sizing" (2012)
 * Constants  BYTES: 1 MiB, below which nobody asks; ours
 * Weakness   with the active list, and with other streams in the same memory, more memory changes who is evicted:
 *            it is an estimate; a replay with that much memory shows it
 */
#include "study/lint_tally.h"

#include <stdlib.h>

#include "base/size.h"

#define BYTES MIB
enum { MOST_PERCENT = 90 };
enum { COUNT_PAGES, COUNT_UNKNOWN };

struct distances {
	ARRAY(uint32_t) list;
};

struct again {
	struct tallies tallies;
	ARRAY(struct distances) distances; /* by tally */
	struct page_map evictors;          /* (tally + 1, stream): pages */
	struct page_map paths;             /* (file, 0): path + 1 */
	struct page_map sizes;             /* (file, 0): pages */
	uint64_t all_pages;                /* of all files that were seen: more is not needed */
};

extern const struct lint lint_read_again;

static void before(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct again *again = state;

	uint64_t pages;
	uint32_t known;

	(void)run;
	if (!moment->file)
		return;
	page_map_set(&again->paths, moment->file, 0, moment->op->path + 1);
	pages = pages_from_bytes_up(cache_file_size(moment->cache, moment->file));
	known = page_map_get(&again->sizes, moment->file, 0);
	if (pages <= known || pages > UINT32_MAX)
		return;
	again->all_pages += pages - known;
	page_map_set(&again->sizes, moment->file, 0, (uint32_t)pages);
}

static void page_add(struct again *again, const struct model_moment *moment, uint32_t path,
		     const struct cache_return *returned)
{
	size_t index = tally_find(&again->tallies, path, 0, 0);
	struct tally *tally = &again->tallies.list.at[index];
	uint32_t file = (uint32_t)index + 1;

	while (again->distances.count <= index)
		(void)array_push(&again->distances);
	if (!tally->first.op)
		tally->first = lint_where_of(moment);
	tally->counts[COUNT_PAGES]++;
	if (returned->distance_pages == CACHE_DISTANCE_UNKNOWN)
		tally->counts[COUNT_UNKNOWN]++;
	else
		*array_push(&again->distances.at[index].list) = returned->distance_pages;
	page_map_set(&again->evictors, file, returned->evictor,
		     page_map_get(&again->evictors, file, returned->evictor) + 1);
}

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct again *again = state;
	size_t count;
	const struct cache_return *returns = cache_returns(moment->cache, &count);
	uint32_t last = 0;

	(void)run;
	for (size_t i = 0; i < count; i++) {
		uint32_t path = page_map_get(&again->paths, returns[i].file, 0);

		/* A file system's own blocks are nobody's habit. */
		if (!path)
			continue;
		page_add(again, moment, path - 1, &returns[i]);
		if (path != last)
			tally_get(&again->tallies, path - 1, 0, 0)->times++;
		last = path;
	}
}

static int distance_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The stream that pushed most of them out. */
static uint32_t worst_evictor(const struct lint_run *run, const struct again *again, size_t index,
			      uint32_t *pages)
{
	uint32_t worst = 0;

	*pages = 0;
	for (uint32_t stream = 0; stream < run->stream_count; stream++) {
		uint32_t here = page_map_get(&again->evictors, (uint32_t)index + 1, stream);

		if (here > *pages) {
			*pages = here;
			worst = stream;
		}
	}
	return worst;
}

static void say(struct lint_run *run, const struct again *again, size_t index)
{
	const struct tally *tally = &again->tallies.list.at[index];
	struct distances *distances = &again->distances.at[index];
	uint64_t pages = tally->counts[COUNT_PAGES], bytes = bytes_from_pages(pages);
	struct lint_finding *finding = lint_add(run, &lint_read_again, tally->path, 0);
	uint32_t evicted, evictor = worst_evictor(run, again, index, &evicted);
	uint64_t most = 0, all = 0;

	if (distances->list.count) {
		qsort(distances->list.at, distances->list.count, sizeof(*distances->list.at),
		      distance_compare);
		most = bytes_from_pages(
			distances->list.at[(distances->list.count - 1) * MOST_PERCENT / 100]);
		all = bytes_from_pages(distances->list.at[distances->list.count - 1]);
	}
	if (most > bytes_from_pages(again->all_pages))
		most = bytes_from_pages(again->all_pages);
	if (all > bytes_from_pages(again->all_pages))
		all = bytes_from_pages(again->all_pages);
	finding->times = tally->times;
	finding->cost_bytes = bytes;
	lint_title(run, finding, "%s %s read again after eviction: %s (%s)",
		   tally_files(run, tally), tally->files > 1 ? "are" : "is", lint_pages(run, pages),
		   lint_bytes(run, bytes));
	if (all)
		lint_text(run, finding,
			  "With at most %s more memory nine in ten of these reads would have found "
			  "their page, with at most %s more all of them.",
			  lint_bytes(run, most), lint_bytes(run, all));
	if (tally->counts[COUNT_UNKNOWN])
		lint_text(run, finding, "Of %s nobody knows any more when they were evicted.",
			  lint_pages(run, tally->counts[COUNT_UNKNOWN]));
	if (evicted)
		lint_text(run, finding, "%s of them had been pushed out by %s.",
			  lint_count(run, evicted), lint_stream(run, evictor));
	lint_figure(finding, "pages_read_again", (double)pages, LINT_PAGES);
	lint_figure(finding, "bytes_read_again", (double)bytes, LINT_BYTES);
	if (all) {
		lint_figure(finding, "more_memory_for_nine_in_ten_bytes", (double)most, LINT_BYTES);
		lint_figure(finding, "more_memory_for_all_bytes", (double)all, LINT_BYTES);
	}
	lint_figure(finding, "pages_of_unknown_distance", (double)tally->counts[COUNT_UNKNOWN],
		    LINT_PAGES);
	lint_remedy(
		run, finding,
		"more memory, or less beside it: `refault replay` "
		"shows who evicts whom, and DONTNEED or RWF_DONTCACHE in the evictor spares it");
	lint_place(finding, tally->first, "the first page that comes back");
}

/* Many small files are one habit: those that are no finding by themselves go into the first of them. */
static void small_join(const struct lint_run *run, struct again *again)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < again->tallies.list.count; i++) {
		struct tally *from = &again->tallies.list.at[i], *into;

		if (bytes_from_pages(from->counts[COUNT_PAGES]) >= BYTES)
			continue;
		if (first == SIZE_MAX) {
			first = i;
			continue;
		}
		into = &again->tallies.list.at[first];
		into->files++;
		into->times += from->times;
		into->counts[COUNT_PAGES] += from->counts[COUNT_PAGES];
		into->counts[COUNT_UNKNOWN] += from->counts[COUNT_UNKNOWN];
		for (size_t j = 0; j < again->distances.at[i].list.count; j++)
			*array_push(&again->distances.at[first].list) =
				again->distances.at[i].list.at[j];
		for (uint32_t stream = 0; stream < run->stream_count; stream++) {
			uint32_t pages = page_map_get(&again->evictors, (uint32_t)i + 1, stream);

			if (pages)
				page_map_set(&again->evictors, (uint32_t)first + 1, stream,
					     pages + page_map_get(&again->evictors,
								  (uint32_t)first + 1, stream));
		}
		from->counts[COUNT_PAGES] = 0;
	}
}

static void end(struct lint_run *run, void *state)
{
	struct again *again = state;

	small_join(run, again);
	for (size_t i = 0; i < again->tallies.list.count; i++) {
		if (bytes_from_pages(again->tallies.list.at[i].counts[COUNT_PAGES]) >= BYTES)
			say(run, again, i);
	}
	for (size_t i = 0; i < again->distances.count; i++)
		array_deinit(&again->distances.at[i].list);
	array_deinit(&again->distances);
	tallies_deinit(&again->tallies);
	page_map_deinit(&again->evictors);
	page_map_deinit(&again->paths);
	page_map_deinit(&again->sizes);
}

const struct lint lint_read_again = {
	.id = "read-again",
	.summary =
		"files read again after their eviction, and how much memory would have kept them",
	.state_bytes = sizeof(struct again),
	.before = before,
	.after = after,
	.end = end,
};
