/*
 * dontneed_read_again: advice dropped pages that somebody then read again
 *
 * Idea       DONTNEED is the file's, not the caller's: it drops what others have hot as well (a backup that reads
 *            a database's files), and what the caller itself comes back to. Each page dropped remembers which
 *            advice it was; when it is fetched again, that is what the advice cost.
 * Source     mm/truncate.c, mapping_try_invalidate(); behaviour cases C01 and C07
 * Constants  PAGES: 8, so that a page or two are no finding; ours
 */
#include "study/lint_tally.h"

#include "base/size.h"

enum { PAGES = 8 };
enum { COUNT_DROPPED, COUNT_BY_OTHERS, COUNT_BY_SELF, COUNT_USED };

struct read_again {
	struct tallies tallies;
	struct page_map dropped;   /* by which advice: the tally, index + 1 */
	struct page_map thread_of; /* (tally + 1, 0): the thread that advises, + 1 */
	uint64_t used; /* of the advice under way: pages that had been used more than once */
};

extern const struct lint lint_dontneed_read_again;

static uint32_t tally_of(struct read_again *again, const struct model_moment *moment)
{
	return (uint32_t)tally_find(&again->tallies, moment->op->path, moment->stream, 0) + 1;
}

/* All that may go is marked; what stays after all is not, afterwards. */
static void before(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct read_again *again = state;
	struct lint_range range;
	uint32_t tally = 0;

	(void)run;
	if (!lint_is_dontneed(moment) || cache_resident_pages(moment->cache, moment->file) == 0)
		return;
	range = lint_whole_pages(moment);
	again->used = 0;
	for (uint64_t page = range.first; page < range.end; page++) {
		uint32_t peek = cache_peek(moment->cache, moment->file, page);

		if (!(peek & CACHE_PEEK_RESIDENT))
			continue;
		if (!tally)
			tally = tally_of(again, moment);
		again->used += (peek & CACHE_PEEK_USED) != 0;
		page_map_set(&again->dropped, moment->file, page, tally);
	}
}

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct read_again *again = state;
	struct lint_range range;
	struct tally *tally;
	uint64_t dropped = 0;
	uint32_t index;

	(void)run;
	if (!lint_is_dontneed(moment))
		return;
	range = lint_whole_pages(moment);
	for (uint64_t page = range.first; page < range.end; page++) {
		if (!page_map_get(&again->dropped, moment->file, page))
			continue;
		if (cache_peek(moment->cache, moment->file, page) & CACHE_PEEK_RESIDENT)
			page_map_set(&again->dropped, moment->file, page, 0);
		else
			dropped++;
	}
	if (dropped == 0)
		return;
	index = tally_of(again, moment);
	tally = &again->tallies.list.at[index - 1];
	if (tally->times++ == 0)
		tally->first = lint_where_of(moment);
	tally->counts[COUNT_DROPPED] += dropped;
	tally->counts[COUNT_USED] += again->used < dropped ? again->used : dropped;
	page_map_set(&again->thread_of, index, 0, moment->op->thread + 1);
}

static void fetched(struct lint_run *run, void *state, const struct model_moment *moment,
		    const struct cache_run *runs, size_t count)
{
	struct read_again *again = state;

	(void)run;
	for (size_t i = 0; i < count; i++) {
		for (uint64_t page = runs[i].index; page < runs[i].index + runs[i].pages; page++) {
			uint32_t index = page_map_get(&again->dropped, runs[i].file, page);
			struct tally *tally;
			bool is_self;

			if (!index)
				continue;
			page_map_set(&again->dropped, runs[i].file, page, 0);
			tally = &again->tallies.list.at[index - 1];
			is_self =
				tally->stream == moment->stream &&
				page_map_get(&again->thread_of, index, 0) == moment->op->thread + 1;
			tally->counts[is_self ? COUNT_BY_SELF : COUNT_BY_OTHERS]++;
			if (!tally->second.op)
				tally->second = lint_where_of(moment);
			if (!is_self)
				tally->other = moment->stream;
		}
	}
}

static void say(struct lint_run *run, const struct tally *tally)
{
	uint64_t others = tally->counts[COUNT_BY_OTHERS], self = tally->counts[COUNT_BY_SELF];
	uint64_t pages = others + self;
	struct lint_finding *finding =
		lint_add(run, &lint_dontneed_read_again, tally->path, tally->stream);

	finding->times = tally->times;
	finding->cost_bytes = bytes_from_pages(pages);
	lint_title(run, finding, "DONTNEED on %s dropped %s, and %s were read again (%s)",
		   tally_files(run, tally), lint_pages(run, tally->counts[COUNT_DROPPED]),
		   lint_count(run, pages), lint_bytes(run, bytes_from_pages(pages)));
	if (others)
		lint_text(run, finding,
			  "%s by others (%s): the advice is about the file, so it dropped what "
			  "they had in "
			  "use.",
			  lint_count(run, others), lint_stream(run, tally->other));
	if (self)
		lint_text(run, finding, "%s by whoever gave the advice.", lint_count(run, self));
	if (tally->counts[COUNT_USED])
		lint_text(run, finding, "%s of them had been used more than once.",
			  lint_count(run, tally->counts[COUNT_USED]));
	lint_figure(finding, "dropped_pages", (double)tally->counts[COUNT_DROPPED], LINT_PAGES);
	lint_figure(finding, "read_again_pages", (double)pages, LINT_PAGES);
	lint_figure(finding, "read_again_bytes", (double)bytes_from_pages(pages), LINT_BYTES);
	lint_figure(finding, "read_again_by_others_pages", (double)others, LINT_PAGES);
	lint_figure(finding, "dropped_in_use_pages", (double)tally->counts[COUNT_USED], LINT_PAGES);
	lint_remedy(
		run, finding,
		"read with RWF_DONTCACHE (Linux 6.14), which leaves pages alone that were there "
		"before; or ask mincore() or cachestat() first, and drop only what one brought in "
		"oneself; and end the range before what is still needed");
	lint_place(finding, tally->first, "the advice");
	lint_place(finding, tally->second, "the first read of what it dropped");
}

static void end(struct lint_run *run, void *state)
{
	struct read_again *again = state;
	size_t kept = 0;

	for (size_t i = 0; i < again->tallies.list.count; i++) {
		const struct tally *tally = &again->tallies.list.at[i];

		if (tally->counts[COUNT_BY_OTHERS] + tally->counts[COUNT_BY_SELF] > 0)
			again->tallies.list.at[kept++] = *tally;
	}
	again->tallies.list.count = kept;
	tallies_merge(&again->tallies);
	for (size_t i = 0; i < again->tallies.list.count; i++) {
		const struct tally *tally = &again->tallies.list.at[i];

		if (tally->counts[COUNT_BY_OTHERS] + tally->counts[COUNT_BY_SELF] >= PAGES)
			say(run, tally);
	}
	tallies_deinit(&again->tallies);
	page_map_deinit(&again->dropped);
	page_map_deinit(&again->thread_of);
}

const struct lint lint_dontneed_read_again = {
	.id = "dontneed-read-again",
	.summary = "advice that dropped what somebody read again",
	.state_bytes = sizeof(struct read_again),
	.before = before,
	.fetched = fetched,
	.after = after,
	.end = end,
};
