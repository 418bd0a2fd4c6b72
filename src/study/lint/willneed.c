/*
 * willneed: advice to read ahead that reads little, or nothing
 *
 * Source     mm/readahead.c, force_page_cache_ra(): at most the device's readahead window, or since Linux 4.10
 *            its largest request if that is more, however long the range is
 */
#include "study/lint_tally.h"

#include "base/size.h"

enum { WHAT_SHORT, WHAT_CACHED };
enum { COUNT_RANGE, COUNT_MISSING, COUNT_LEFT };

struct willneed {
	struct tallies tallies;
	uint64_t range, missing; /* of the advice under way */
};

extern const struct lint lint_willneed;

static struct lint_range range_of(const struct model_moment *moment)
{
	uint64_t size = cache_file_size(moment->cache, moment->file);
	uint64_t end = moment->op->bytes ? moment->op->offset + moment->op->bytes : size;

	if (end > size)
		end = size;
	if (moment->op->offset >= end)
		return (struct lint_range){0};
	return (struct lint_range){moment->op->offset >> PAGE_SHIFT, pages_from_bytes_up(end)};
}

static uint64_t missing_in(const struct model_moment *moment, struct lint_range range)
{
	uint64_t missing = 0;

	for (uint64_t page = range.first; page < range.end; page++)
		missing += !(cache_peek(moment->cache, moment->file, page) & CACHE_PEEK_RESIDENT);
	return missing;
}

static void before(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct willneed *willneed = state;
	struct lint_range range;

	(void)run;
	willneed->range = 0;
	if (moment->op->kind != OP_FADVISE_WILLNEED || !moment->file)
		return;
	range = range_of(moment);
	willneed->range = range.end - range.first;
	willneed->missing = missing_in(moment, range);
}

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct willneed *willneed = state;
	uint64_t left = 0;
	struct tally *tally;
	bool is_cached;

	(void)run;
	if (willneed->range == 0 || moment->op->kind != OP_FADVISE_WILLNEED)
		return;
	is_cached = willneed->missing == 0;
	if (!is_cached)
		left = missing_in(moment, range_of(moment));
	if (!is_cached && left == 0)
		return;
	tally = tally_get(&willneed->tallies, moment->op->path, moment->stream,
			  is_cached ? WHAT_CACHED : WHAT_SHORT);
	if (tally->times++ == 0)
		tally->first = lint_where_of(moment);
	tally->counts[COUNT_RANGE] += willneed->range;
	tally->counts[COUNT_MISSING] += willneed->missing;
	tally->counts[COUNT_LEFT] += left;
}

static void say(struct lint_run *run, const struct tally *tally)
{
	struct lint_finding *finding = lint_add(run, &lint_willneed, tally->path, tally->stream);
	uint64_t missing = tally->counts[COUNT_MISSING], left = tally->counts[COUNT_LEFT];

	finding->times = tally->times;
	if (tally->what == WHAT_CACHED) {
		lint_title(run, finding, "WILLNEED on %s read nothing: all of its %s were cached",
			   tally_files(run, tally), lint_pages(run, tally->counts[COUNT_RANGE]));
		lint_remedy(run, finding, "leave it out, or give it before others read the file");
	} else {
		lint_title(
			run, finding,
			"WILLNEED on %s read %s of %s that were missing: a call reads at most one "
			"window",
			tally_files(run, tally), lint_count(run, missing - left),
			lint_pages(run, missing));
		lint_remedy(run, finding,
			    "a call for each window (read_ahead_kb, or the device's largest "
			    "request), or "
			    "readahead(2) in pieces");
	}
	lint_figure(finding, "range_pages", (double)tally->counts[COUNT_RANGE], LINT_PAGES);
	lint_figure(finding, "missing_pages", (double)missing, LINT_PAGES);
	lint_figure(finding, "pages_not_read", (double)left, LINT_PAGES);
	lint_place(finding, tally->first, "the advice");
}

static void end(struct lint_run *run, void *state)
{
	struct willneed *willneed = state;

	tallies_merge(&willneed->tallies);
	for (size_t i = 0; i < willneed->tallies.list.count; i++)
		say(run, &willneed->tallies.list.at[i]);
	tallies_deinit(&willneed->tallies);
}

const struct lint lint_willneed = {
	.id = "willneed",
	.summary = "WILLNEED that read little or nothing",
	.state_bytes = sizeof(struct willneed),
	.before = before,
	.after = after,
	.end = end,
};
