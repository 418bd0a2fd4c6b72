#include "measure/top.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

static const char *const level_names[] = {
#define TOP_LEVEL(name, called) called,
#include "measure/top.def"
#undef TOP_LEVEL
};

static const char *const counter_names[] = {
#define TOP_COUNTER(name, called) called,
#include "measure/top.def"
#undef TOP_COUNTER
};

static const char *const sort_names[TOP_SORTS] = {"resident", "refaults", "misses", "accesses",
						  "evicted"};

static const char *const why_texts[TOP_WHYS] = {
	"",
	"nothing is counted",
	"this kernel does not tell of reads",
	"nothing was read",
	"the kernel does not say how many file pages there are",
	"the counts do not agree with the kernel's statistics",
	"some events could not be counted",
	"a read goes on since before the interval",
};

const char *top_level_name(enum top_level level)
{
	return level_names[level];
}

const char *top_counter_name(enum top_counter counter)
{
	return counter_names[counter];
}

const char *top_sort_name(enum top_sort sort)
{
	return sort_names[sort];
}

const char *top_why_text(enum top_why why)
{
	return why_texts[why];
}

void top_sample_deinit(struct top_sample *sample)
{
	array_deinit(&sample->files);
	arena_deinit(&sample->texts);
}

/* ---- amounts ---- */

static struct top_amount known(uint64_t value)
{
	return (struct top_amount){.known = true, .value = value};
}

static const struct top_amount unknown = {0};

/* A counter that went back began anew: what it grew by is not known. */
static struct top_amount grown(const struct top_amount *before, const struct top_amount *after)
{
	if (!before->known || !after->known || after->value < before->value)
		return unknown;
	return known(after->value - before->value);
}

static uint64_t divided(uint64_t part, uint64_t scale, uint64_t whole)
{
	unsigned __int128 value = ((unsigned __int128)part * scale + whole / 2) / whole;

	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

struct top_amount top_ppm(const struct top_amount *part, uint64_t whole)
{
	return part->known && whole ? known(divided(part->value, 1000000, whole)) : unknown;
}

struct top_amount top_per_second(const struct top_amount *amount, uint64_t interval_ns)
{
	return amount->known && interval_ns
		       ? known(divided(amount->value, NS_PER_SECOND, interval_ns))
		       : unknown;
}

/* ---- counts ---- */

enum { COUNTS = sizeof(struct top_counts) / sizeof(uint64_t) };

static struct top_counts counts_grown(const struct top_counts *before,
				      const struct top_counts *after)
{
	struct top_counts grown;
	const uint64_t *a = (const uint64_t *)before, *b = (const uint64_t *)after;
	uint64_t *sum = (uint64_t *)&grown;

	for (size_t i = 0; i < COUNTS; i++)
		sum[i] = b[i] - a[i];
	return grown;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Pages that came and went while a sample was read: any of them may be in its file pages or not. */
static uint64_t moved_meanwhile(const struct top_counts *first, const struct top_counts *then)
{
	return then->pages_in - first->pages_in + then->pages_out - first->pages_out;
}

static struct top_conservation conservation_make(const struct top_sample *before,
						 const struct top_sample *after)
{
	const bool is_cgroup = after->is_cgroup;
	const struct top_counts *a = is_cgroup ? &before->first : &before->all_first;
	const struct top_counts *a_then = is_cgroup ? &before->then : &before->all_then;
	const struct top_counts *b = is_cgroup ? &after->first : &after->all_first;
	const struct top_counts *b_then = is_cgroup ? &after->then : &after->all_then;
	struct top_conservation made = {0};

	if (!before->is_counting || !after->is_counting || !before->file_pages.known ||
	    !after->file_pages.known)
		return made;
	made.known = true;
	made.pages_in = b->pages_in - a->pages_in;
	made.pages_out = b->pages_out - a->pages_out;
	made.counted_pages = (int64_t)made.pages_in - (int64_t)made.pages_out;
	made.level_pages = (int64_t)(after->file_pages.value - before->file_pages.value);
	made.error_pages = made.counted_pages - made.level_pages;
	made.tolerance_pages = moved_meanwhile(a, a_then) + moved_meanwhile(b, b_then) +
			       before->statistics_slack_pages + after->statistics_slack_pages;
	made.holds = (uint64_t)(made.error_pages < 0 ? -made.error_pages : made.error_pages) <=
		     made.tolerance_pages;
	return made;
}

static enum top_why why_not(const struct top_view *view)
{
	if (!view->is_counting)
		return TOP_WHY_NOT_COUNTING;
	if (!view->sees_reads)
		return TOP_WHY_NO_READS_SEEN;
	if (view->skipped || view->counts.uncounted)
		return TOP_WHY_SKIPPED;
	if (!view->conservation.known)
		return TOP_WHY_LEVEL_UNKNOWN;
	if (!view->conservation.holds)
		return TOP_WHY_NOT_CONSERVED;
	if (!view->counts.accesses && !view->counts.misses)
		return TOP_WHY_NOTHING_ASKED;
	if (view->counts.misses > view->counts.accesses)
		return TOP_WHY_OVERHANG;
	return TOP_WHY_NOT;
}

/* ---- files ---- */

int top_file_order(const void *a, const void *b)
{
	const struct top_file *one = a, *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->ino != other->ino)
		return one->ino < other->ino ? -1 : 1;
	if (one->generation != other->generation)
		return one->generation < other->generation ? -1 : 1;
	return 0;
}

/* A file that was not counted before begins at 0; one whose counts went back was forgotten meanwhile. */
static struct top_amount file_grown(bool is_counted, uint64_t before, uint64_t after)
{
	if (!is_counted)
		return unknown;
	return known(after >= before ? after - before : after);
}

static void file_make(struct top_view_file *made, const struct top_file *before,
		      const struct top_file *after)
{
	const struct top_file none = {0};
	const struct top_file *was = before && before->is_counted ? before : &none;
	const bool is_counted = after->is_counted;

	*made = (struct top_view_file){
		.total = *after,
		.accesses = file_grown(is_counted, was->accesses, after->accesses),
		.misses = file_grown(is_counted, was->misses, after->misses),
		.evicted = file_grown(is_counted, was->evicted, after->evicted),
		.dropped = file_grown(is_counted, was->dropped, after->dropped),
		.refaults = file_grown(is_counted, was->refaults, after->refaults),
	};
	if (is_counted)
		made->refaults.value =
			less(made->refaults.value,
			     file_grown(true, was->rewritten, after->rewritten).value);
}

static const struct top_file *file_find(const struct top_sample *sample, const struct top_file *key)
{
	return sample->files.count ? bsearch(key, sample->files.at, sample->files.count,
					     sizeof(*sample->files.at), top_file_order)
				   : NULL;
}

/* By what files are sorted; among equals by all until now, and by what is in memory of them. */
static uint64_t sort_key(const struct top_view_file *file, enum top_sort sort, bool is_total)
{
	switch (sort) {
	case TOP_BY_REFAULTS:
		return is_total ? less(file->total.refaults, file->total.rewritten)
				: file->refaults.value;
	case TOP_BY_MISSES:
		return is_total ? file->total.misses : file->misses.value;
	case TOP_BY_ACCESSES:
		return is_total ? file->total.accesses : file->accesses.value;
	case TOP_BY_EVICTED:
		return is_total ? file->total.evicted : file->evicted.value;
	case TOP_BY_RESIDENT:
	case TOP_SORTS:
		break;
	}
	return file->total.resident.value;
}

static int files_order(const void *a, const void *b, void *context)
{
	const struct top_view_file *one = a, *other = b;
	const enum top_sort *sort = context;

	if (one->total.is_named != other->total.is_named)
		return one->total.is_named ? -1 : 1;
	for (int is_total = 0; is_total < 2; is_total++) {
		uint64_t mine = sort_key(one, *sort, is_total),
			 theirs = sort_key(other, *sort, is_total);

		if (mine != theirs)
			return mine > theirs ? -1 : 1;
	}
	if (one->total.resident.value != other->total.resident.value)
		return one->total.resident.value > other->total.resident.value ? -1 : 1;
	return top_file_order(&one->total, &other->total);
}

/* ---- the view ---- */

void top_view_make(struct top_view *view, const struct top_sample *before,
		   const struct top_sample *after, enum top_sort sort)
{
	*view = (struct top_view){
		.interval_ns = less(after->time_ns, before->time_ns),
		.page_bytes = after->page_bytes,
		.is_counting = before->is_counting && after->is_counting,
		.sees_reads = before->sees_reads && after->sees_reads,
		.slabs = after->slabs,
		.slab_count = after->slab_count,
	};
	memcpy(view->levels, after->levels, sizeof(view->levels));
	for (size_t i = 0; i < TOP_COUNTERS; i++)
		view->counters[i] = grown(&before->counters[i], &after->counters[i]);
	if (view->is_counting) {
		view->counts = counts_grown(&before->first, &after->first);
		view->skipped = less(after->skipped, before->skipped);
		view->refaults = known(less(view->counts.refaults, view->counts.rewritten));
	}
	view->conservation = conservation_make(before, after);
	view->why = why_not(view);
	if (view->why == TOP_WHY_NOT)
		view->hits = known(view->counts.accesses - view->counts.misses);
	for (size_t i = 0; i < after->files.count; i++)
		file_make(array_push(&view->files), file_find(before, &after->files.at[i]),
			  &after->files.at[i]);
	if (view->files.count)
		qsort_r(view->files.at, view->files.count, sizeof(*view->files.at), files_order,
			&sort);
}

void top_view_deinit(struct top_view *view)
{
	array_deinit(&view->files);
}
