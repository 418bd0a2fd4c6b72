/*
 * readahead_unused: more was read ahead than was used
 *
 * Idea       Pages that are fetched beside those that an op asks for, and not touched before they are evicted or
 *            the trace ends, were read for nothing, and pushed others out.
 * Source     mm/readahead.c; mm/filemap.c, do_sync_mmap_readahead(), around a fault; behaviour cases C15, C17,
 *            C22
 * Constants  SHARE in percent of what was read ahead, and BYTES: 1 MiB; ours
 */
#include "study/lint_tally.h"

#include "base/size.h"

enum { SHARE = 50 };
#define BYTES MIB
enum { COUNT_AHEAD, COUNT_USED, COUNT_ASKED };

struct unused {
	struct tallies tallies;
	struct page_map ahead; /* read ahead and not used: the tally, index + 1 */
};

extern const struct lint lint_readahead_unused;

/* Pages that are used are not read ahead any more; those that were evicted meanwhile, never used. */
static void before(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct unused *unused = state;
	struct lint_range range;

	(void)run;
	if (!lint_is_read(moment) && !lint_is_write(moment))
		return;
	range = lint_touched(moment);
	for (uint64_t page = range.first; page < range.end; page++) {
		uint32_t tally = page_map_get(&unused->ahead, moment->file, page);

		if (!tally)
			continue;
		page_map_set(&unused->ahead, moment->file, page, 0);
		if (cache_peek(moment->cache, moment->file, page) & CACHE_PEEK_RESIDENT)
			unused->tallies.list.at[tally - 1].counts[COUNT_USED]++;
	}
}

static void fetched(struct lint_run *run, void *state, const struct model_moment *moment,
		    const struct cache_run *runs, size_t count)
{
	struct unused *unused = state;
	struct lint_range asked;
	struct tally *tally;
	uint32_t index;

	(void)run;
	if (!lint_is_read(moment))
		return;
	asked = lint_touched(moment);
	index = (uint32_t)tally_find(&unused->tallies, moment->op->path, moment->stream, 0) + 1;
	tally = &unused->tallies.list.at[index - 1];
	tally->times++;
	if (!tally->first.op)
		tally->first = lint_where_of(moment);
	for (size_t i = 0; i < count; i++) {
		for (uint64_t page = runs[i].index;
		     runs[i].file == moment->file && page < runs[i].index + runs[i].pages; page++) {
			if (page >= asked.first && page < asked.end) {
				tally->counts[COUNT_ASKED]++;
				continue;
			}
			tally->counts[COUNT_AHEAD]++;
			page_map_set(&unused->ahead, moment->file, page, index);
		}
	}
}

static void say(struct lint_run *run, const struct tally *tally)
{
	uint64_t ahead = tally->counts[COUNT_AHEAD];
	uint64_t pages = ahead - tally->counts[COUNT_USED];
	struct lint_finding *finding =
		lint_add(run, &lint_readahead_unused, tally->path, tally->stream);

	finding->times = tally->times;
	finding->cost_bytes = bytes_from_pages(pages);
	lint_title(run, finding, "Of %s read ahead in %s, %s were not used (%s)",
		   lint_pages(run, ahead), tally_files(run, tally), lint_count(run, pages),
		   lint_bytes(run, bytes_from_pages(pages)));
	lint_text(run, finding,
		  "%s were asked for and read. What is read ahead takes the place of what is used.",
		  lint_pages(run, tally->counts[COUNT_ASKED]));
	lint_figure(finding, "read_ahead_pages", (double)ahead, LINT_PAGES);
	lint_figure(finding, "unused_pages", (double)pages, LINT_PAGES);
	lint_figure(finding, "unused_bytes", (double)bytes_from_pages(pages), LINT_BYTES);
	lint_figure(finding, "unused_share", 100 * (double)pages / (double)ahead, LINT_PERCENT);
	lint_figure(finding, "asked_pages_read", (double)tally->counts[COUNT_ASKED], LINT_PAGES);
	lint_remedy(run, finding,
		    "posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) after open (madvise() for a "
		    "mapping), or a "
		    "smaller read_ahead_kb of the device: `refault replay --readahead 16KiB` shows "
		    "what it "
		    "changes");
	lint_place(finding, tally->first, "the first");
}

static void end(struct lint_run *run, void *state)
{
	struct unused *unused = state;

	tallies_merge(&unused->tallies);
	for (size_t i = 0; i < unused->tallies.list.count; i++) {
		const struct tally *tally = &unused->tallies.list.at[i];
		uint64_t ahead = tally->counts[COUNT_AHEAD];
		uint64_t pages = ahead - tally->counts[COUNT_USED];

		if (bytes_from_pages(pages) >= BYTES && pages * 100 >= ahead * SHARE)
			say(run, tally);
	}
	tallies_deinit(&unused->tallies);
	page_map_deinit(&unused->ahead);
}

const struct lint lint_readahead_unused = {
	.id = "readahead-unused",
	.summary = "more read ahead than was used",
	.state_bytes = sizeof(struct unused),
	.before = before,
	.fetched = fetched,
	.end = end,
};
