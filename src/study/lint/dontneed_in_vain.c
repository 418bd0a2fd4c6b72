/*
 * dontneed_in_vain: DONTNEED that drops nothing, or not what was meant
 *
 * Idea       It is an event, not a mode: it drops what is cached, clean and not mapped at that moment, in whole
 *            pages. Given before the read it does nothing; right after a write the pages are dirty and stay (their
 *            writing begins, and what of it is done in time is chance); a range without a whole page is nothing.
 * Source     mm/fadvise.c, generic_fadvise(); mm/truncate.c, mapping_try_invalidate(); behaviour cases C03, C07,
 *            C09
 * Constants  none: each is said
 */
#include "study/lint_tally.h"

#include "base/size.h"

enum { WHAT_BEFORE_READ, WHAT_NOT_CACHED, WHAT_DIRTY, WHAT_MAPPED, WHAT_SUB_PAGE };
enum { COUNT_RANGE, COUNT_RESIDENT, COUNT_HINDERED, COUNT_DROPPED, COUNT_READ_AFTER };

/* Advice on a range of which nothing was cached: is it read afterwards? */
struct pending {
	uint32_t file, path, stream;
	struct lint_range range;
	struct lint_where where, read;
	uint64_t read_pages;
};

struct in_vain {
	struct tallies tallies;
	ARRAY(struct pending) pending;
	struct page_map by_file; /* (file, 0): the newest pending, index + 1 */
	/* of the advice under way, before it */
	struct lint_range range;
	uint64_t resident, dirty, mapped;
};

extern const struct lint lint_dontneed_in_vain;

/* Reads after an advice that came too early. */
static void read_see(struct in_vain *in_vain, const struct model_moment *moment)
{
	uint32_t known = page_map_get(&in_vain->by_file, moment->file, 0);
	struct pending *pending = known ? &in_vain->pending.at[known - 1] : NULL;
	struct lint_range touched;
	uint64_t first, end, whole;

	if (!pending)
		return;
	touched = lint_touched(moment);
	first = touched.first > pending->range.first ? touched.first : pending->range.first;
	end = touched.end < pending->range.end ? touched.end : pending->range.end;
	if (first >= end)
		return;
	if (!pending->read.op)
		pending->read = lint_where_of(moment);
	whole = pending->range.end - pending->range.first;
	pending->read_pages += end - first;
	if (pending->read_pages > whole)
		pending->read_pages = whole;
}

static void before(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct in_vain *in_vain = state;

	(void)run;
	if (lint_is_read(moment))
		read_see(in_vain, moment);
	if (!lint_is_dontneed(moment))
		return;
	in_vain->range = lint_whole_pages(moment);
	in_vain->resident = in_vain->dirty = in_vain->mapped = 0;
	if (cache_resident_pages(moment->cache, moment->file) == 0)
		return;
	for (uint64_t page = in_vain->range.first; page < in_vain->range.end; page++) {
		uint32_t peek = cache_peek(moment->cache, moment->file, page);

		in_vain->resident += peek & CACHE_PEEK_RESIDENT;
		if (peek & (CACHE_PEEK_DIRTY | CACHE_PEEK_WRITEBACK))
			in_vain->dirty++;
		else if (peek & CACHE_PEEK_MAPPED)
			in_vain->mapped++;
	}
}

static uint64_t resident_now(const struct in_vain *in_vain, const struct model_moment *moment)
{
	uint64_t resident = 0;

	for (uint64_t page = in_vain->range.first; page < in_vain->range.end; page++)
		resident += cache_peek(moment->cache, moment->file, page) & CACHE_PEEK_RESIDENT;
	return resident;
}

static struct tally *tally_of(struct in_vain *in_vain, uint32_t path, uint32_t stream,
			      uint32_t what, struct lint_where where)
{
	struct tally *tally = tally_get(&in_vain->tallies, path, stream, what);

	if (tally->times++ == 0)
		tally->first = where;
	return tally;
}

/* Nothing was cached: what that means the rest of the trace will show. */
static void pending_add(struct in_vain *in_vain, const struct model_moment *moment)
{
	*array_push(&in_vain->pending) = (struct pending){
		.file = moment->file,
		.path = moment->op->path,
		.stream = moment->stream,
		.range = in_vain->range,
		.where = lint_where_of(moment),
	};
	page_map_set(&in_vain->by_file, moment->file, 0, (uint32_t)in_vain->pending.count);
}

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct in_vain *in_vain = state;
	uint64_t pages = in_vain->range.end - in_vain->range.first;
	const struct op *op = moment->op;
	struct tally *tally;
	uint32_t what;

	(void)run;
	if (!lint_is_dontneed(moment))
		return;
	/* A later advice on a file ends the wait of one before. */
	page_map_set(&in_vain->by_file, moment->file, 0, 0);
	if (pages == 0) {
		tally = tally_of(in_vain, op->path, moment->stream, WHAT_SUB_PAGE,
				 lint_where_of(moment));
		tally->counts[COUNT_RANGE] += op->bytes;
		return;
	}
	if (in_vain->resident == 0) {
		pending_add(in_vain, moment);
		return;
	}
	if (in_vain->dirty + in_vain->mapped == 0)
		return;
	what = in_vain->dirty ? WHAT_DIRTY : WHAT_MAPPED;
	tally = tally_of(in_vain, op->path, moment->stream, what, lint_where_of(moment));
	tally->counts[COUNT_RANGE] += pages;
	tally->counts[COUNT_RESIDENT] += in_vain->resident;
	tally->counts[COUNT_HINDERED] += in_vain->dirty ? in_vain->dirty : in_vain->mapped;
	tally->counts[COUNT_DROPPED] += in_vain->resident - resident_now(in_vain, moment);
}

static void say_early(struct lint_run *run, struct lint_finding *finding, const struct tally *tally)
{
	uint64_t range = tally->counts[COUNT_RANGE];

	if (tally->what == WHAT_BEFORE_READ) {
		lint_title(run, finding, "DONTNEED on %s evicted 0 of %s: it came before the read",
			   tally_files(run, tally), lint_pages(run, range));
		lint_text(run, finding,
			  "It drops what is cached at that moment, and nothing was. %s of the "
			  "range were "
			  "read afterwards%s, and stayed.",
			  lint_pages(run, tally->counts[COUNT_READ_AFTER]),
			  lint_at_place(run, tally->second));
		lint_remedy(run, finding,
			    "give the advice after the read, once or behind a window");
	} else {
		lint_title(run, finding, "DONTNEED on %s evicted 0 of %s: nothing of it was cached",
			   tally_files(run, tally), lint_pages(run, range));
		lint_remedy(run, finding, "leave it out");
	}
	lint_figure(finding, "range_pages", (double)range, LINT_PAGES);
	lint_figure(finding, "evicted_pages", 0, LINT_PAGES);
	lint_figure(finding, "read_afterwards_pages", (double)tally->counts[COUNT_READ_AFTER],
		    LINT_PAGES);
}

static void say_hindered(struct lint_run *run, struct lint_finding *finding,
			 const struct tally *tally)
{
	bool is_dirty = tally->what == WHAT_DIRTY;

	lint_title(run, finding, "DONTNEED on %s: %s of %s %s", tally_files(run, tally),
		   lint_count(run, tally->counts[COUNT_HINDERED]),
		   lint_pages(run, tally->counts[COUNT_RESIDENT]),
		   is_dirty ? "were dirty, and are not dropped by it" : "were mapped, and stay");
	if (is_dirty)
		lint_text(run, finding,
			  "Dirty pages are not dropped; the call begins to write them, and some "
			  "may be clean "
			  "in time and go. How many is chance, and never to be relied on.");
	lint_figure(finding, "range_pages", (double)tally->counts[COUNT_RANGE], LINT_PAGES);
	lint_figure(finding, "resident_pages", (double)tally->counts[COUNT_RESIDENT], LINT_PAGES);
	lint_figure(finding, is_dirty ? "dirty_pages" : "mapped_pages",
		    (double)tally->counts[COUNT_HINDERED], LINT_PAGES);
	lint_figure(finding, "evicted_pages_in_the_model", (double)tally->counts[COUNT_DROPPED],
		    LINT_PAGES);
	lint_remedy(run, finding,
		    is_dirty ? "fsync() or sync_file_range() the range first, and give the advice "
			       "when that is "
			       "done"
			     : "munmap() it first");
}

static void say(struct lint_run *run, const struct tally *tally)
{
	struct lint_finding *finding =
		lint_add(run, &lint_dontneed_in_vain, tally->path, tally->stream);

	finding->times = tally->times;
	if (tally->what == WHAT_SUB_PAGE) {
		lint_title(run, finding,
			   "DONTNEED on %s covers no whole page: it does nothing (%s in %s calls)",
			   tally_files(run, tally), lint_bytes(run, tally->counts[COUNT_RANGE]),
			   lint_count(run, tally->times));
		lint_text(run, finding, "Pages that a range covers in part are kept.");
		lint_figure(finding, "range_bytes", (double)tally->counts[COUNT_RANGE], LINT_BYTES);
		lint_figure(finding, "evicted_pages", 0, LINT_PAGES);
		lint_remedy(run, finding,
			    "advise whole pages: from an offset rounded up to 4 KiB, to an end "
			    "rounded down");
	} else if (tally->what == WHAT_DIRTY || tally->what == WHAT_MAPPED) {
		say_hindered(run, finding, tally);
	} else {
		say_early(run, finding, tally);
	}
	lint_place(finding, tally->first, "the advice");
	lint_place(finding, tally->second, "the first read after it");
}

static void end(struct lint_run *run, void *state)
{
	struct in_vain *in_vain = state;

	for (size_t i = 0; i < in_vain->pending.count; i++) {
		const struct pending *pending = &in_vain->pending.at[i];
		struct tally *tally = tally_of(
			in_vain, pending->path, pending->stream,
			pending->read_pages ? WHAT_BEFORE_READ : WHAT_NOT_CACHED, pending->where);

		tally->counts[COUNT_RANGE] += pending->range.end - pending->range.first;
		tally->counts[COUNT_READ_AFTER] += pending->read_pages;
		if (!tally->second.op)
			tally->second = pending->read;
	}
	tallies_merge(&in_vain->tallies);
	for (size_t i = 0; i < in_vain->tallies.list.count; i++)
		say(run, &in_vain->tallies.list.at[i]);
	tallies_deinit(&in_vain->tallies);
	array_deinit(&in_vain->pending);
	page_map_deinit(&in_vain->by_file);
}

const struct lint lint_dontneed_in_vain = {
	.id = "dontneed-in-vain",
	.summary = "DONTNEED that drops nothing, or not what was meant",
	.state_bytes = sizeof(struct in_vain),
	.before = before,
	.after = after,
	.end = end,
};
