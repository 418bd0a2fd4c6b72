/*
 * partial_write: a write of part of a page that is not cached reads the page first
 *
 * Idea       What the write does not cover must be known before the page can be written back. Whole pages, and
 *            what lies beyond the end of the file, need no read. The page is read once, not once a write.
 * Source     fs/buffer.c, __block_write_begin(); fs/iomap/buffered-io.c, __iomap_write_begin(); behaviour cases
 *            C51 and C07, where a reader's DONTNEED drops the page that the writer is filling
 * Constants  PAGES: 8, so that a file's first page is no finding; ours
 */
#include "study/lint_tally.h"

#include "base/size.h"

enum { PAGES = 8 };
enum { COUNT_PAGES, COUNT_WRITES, COUNT_UNALIGNED };

struct partial {
	struct tallies tallies;
	size_t current; /* of the write under way, index + 1; 0: none yet */
};

extern const struct lint lint_partial_write;

static void before(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct partial *partial = state;
	const struct op *op = moment->op;
	struct tally *tally;

	(void)run;
	partial->current = 0;
	if (!lint_is_write(moment))
		return;
	partial->current = tally_find(&partial->tallies, op->path, moment->stream, 0) + 1;
	tally = &partial->tallies.list.at[partial->current - 1];
	tally->counts[COUNT_WRITES]++;
	tally->counts[COUNT_UNALIGNED] += (op->offset | op->bytes) % PAGE_BYTES != 0;
}

static void fetched(struct lint_run *run, void *state, const struct model_moment *moment,
		    const struct cache_run *runs, size_t count)
{
	struct partial *partial = state;
	struct tally *tally;
	uint64_t pages = 0;

	(void)run;
	if (!partial->current)
		return;
	for (size_t i = 0; i < count; i++)
		pages += runs[i].file == moment->file ? runs[i].pages : 0;
	if (pages == 0)
		return;
	tally = &partial->tallies.list.at[partial->current - 1];
	tally->counts[COUNT_PAGES] += pages;
	if (!tally->first.op)
		tally->first = lint_where_of(moment);
	tally->times++;
}

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct partial *partial = state;

	(void)run;
	(void)moment;
	partial->current = 0;
}

static void say(struct lint_run *run, const struct tally *tally)
{
	uint64_t pages = tally->counts[COUNT_PAGES], bytes = bytes_from_pages(pages);
	struct lint_finding *finding =
		lint_add(run, &lint_partial_write, tally->path, tally->stream);

	finding->times = tally->times;
	finding->cost_bytes = bytes;
	lint_title(run, finding, "Writes of parts of pages to %s read them first: %s (%s)",
		   tally_files(run, tally), lint_pages(run, pages), lint_bytes(run, bytes));
	lint_text(run, finding,
		  "%s of %s writes begin or end inside a page; %s of them met pages that were not "
		  "cached and had to wait for the device.",
		  lint_count(run, tally->counts[COUNT_UNALIGNED]),
		  lint_count(run, tally->counts[COUNT_WRITES]), lint_count(run, tally->times));
	lint_figure(finding, "pages_read_first", (double)pages, LINT_PAGES);
	lint_figure(finding, "bytes_read_first", (double)bytes, LINT_BYTES);
	lint_figure(finding, "writes", (double)tally->counts[COUNT_WRITES], LINT_COUNT);
	lint_figure(finding, "unaligned_writes", (double)tally->counts[COUNT_UNALIGNED],
		    LINT_COUNT);
	lint_figure(finding, "writes_that_read", (double)tally->times, LINT_COUNT);
	lint_remedy(run, finding,
		    "write whole pages: multiples of 4 KiB at multiples of 4 KiB; or append to new "
		    "files "
		    "instead of overwriting old ones; and leave a page that is being filled out of "
		    "DONTNEED");
	lint_place(finding, tally->first, "the first write that reads");
}

static void end(struct lint_run *run, void *state)
{
	struct partial *partial = state;
	size_t kept = 0;

	/* Those that read nothing are no files of this habit. */
	for (size_t i = 0; i < partial->tallies.list.count; i++) {
		if (partial->tallies.list.at[i].counts[COUNT_PAGES])
			partial->tallies.list.at[kept++] = partial->tallies.list.at[i];
	}
	partial->tallies.list.count = kept;
	tallies_merge(&partial->tallies);
	for (size_t i = 0; i < partial->tallies.list.count; i++) {
		if (partial->tallies.list.at[i].counts[COUNT_PAGES] >= PAGES)
			say(run, &partial->tallies.list.at[i]);
	}
	tallies_deinit(&partial->tallies);
}

const struct lint lint_partial_write = {
	.id = "partial-write",
	.summary = "writes of parts of pages, which read them first",
	.state_bytes = sizeof(struct partial),
	.before = before,
	.fetched = fetched,
	.after = after,
	.end = end,
};
