#include "study/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "machine/model/watch.h"
#include "op/path.h"
#include "study/eviction_age.h"
#include "study/lint.h"
#include "study/page_map.h"

enum { AGES = 1 << 20, STREAMS = 1024, HOT_PERCENT = 90, HALF = 500000, MOST = 900000 };

/* The age after an op that pushed something out. */
struct aged {
	uint64_t age;
	struct explained_where where;
};

/* A file and who read it again; names come at the end. */
struct seen {
	struct explained_victim victim;
	uint32_t stream, path; /* path + 1; 0: the file system's own */
	uint64_t last_op;
	struct page_map evictors; /* (1, stream): pages */
	struct histogram distances;
};

struct evictor {
	struct explained_evictor told;
	uint32_t stream;
};

enum answer { NOT_ASKED, NO, YES };

struct explain {
	const struct explain_filter *filter;
	const struct model_options *options;
	struct op_source *source;
	struct explanation *story;

	ARRAY(struct seen) seen;
	struct page_map seen_by_key; /* (stream, file): index + 1 */
	ARRAY(struct evictor) evictors;
	uint32_t evictor_of[STREAMS]; /* index + 1 */
	ARRAY(struct aged) ages;
	uint64_t ages_every, ages_skipped; /* of so many one is kept */
	struct page_map paths;             /* (file, 0): path + 1 */
	struct page_map sizes;             /* (file, 0): pages */
	uint8_t streams[STREAMS];          /* enum answer */
	ARRAY(uint32_t) path_answers;      /* by path: enum answer */
	struct eviction_age age;
	ARRAY(uint32_t) list_keys; /* by explanation.list: index of seen, evictor's stream */
};

/* ---- what was asked for ---- */

static const char *stream_name(const struct explain *explain, uint32_t stream)
{
	const struct stream_map *map = explain->options->streams;
	char *const *names = map ? stream_map_names(map) : explain->source->stream_names;
	uint32_t count = map ? stream_map_count(map) : explain->source->stream_count;

	return stream < count && names[stream] ? names[stream] : "(none)";
}

static bool stream_is_asked(struct explain *explain, uint32_t stream)
{
	if (!explain->filter->stream)
		return true;
	if (explain->streams[stream] == NOT_ASKED)
		explain->streams[stream] =
			strcmp(stream_name(explain, stream), explain->filter->stream) == 0 ? YES
											   : NO;
	return explain->streams[stream] == YES;
}

static bool path_matches(const char *path, const char *asked)
{
	const char *last = strrchr(path, '/');

	return strcmp(path, asked) == 0 || (last && strcmp(last + 1, asked) == 0);
}

static bool path_is_asked(struct explain *explain, uint32_t path)
{
	if (!explain->filter->path)
		return true;
	if (!path)
		return false;
	while (explain->path_answers.count < path)
		(void)array_push(&explain->path_answers);
	if (explain->path_answers.at[path - 1] == NOT_ASKED)
		explain->path_answers.at[path - 1] =
			path_matches(path_text(explain->source->paths, path - 1),
				     explain->filter->path)
				? YES
				: NO;
	return explain->path_answers.at[path - 1] == YES;
}

static bool is_asked(struct explain *explain, const struct model_moment *moment, uint32_t path)
{
	return moment->op->time_ns >= explain->filter->from_ns &&
	       moment->op->time_ns < explain->filter->until_ns &&
	       stream_is_asked(explain, moment->stream) && path_is_asked(explain, path);
}

/* ---- the run's parts ---- */

static void fold(uint64_t *slices)
{
	for (size_t i = 0; i < EXPLAINED_SLICES / 2; i++)
		slices[i] = slices[2 * i] + slices[2 * i + 1];
	memset(slices + EXPLAINED_SLICES / 2, 0, EXPLAINED_SLICES / 2 * sizeof(*slices));
}

/* The part that this op is in; all become twice as long when there are too many. */
static uint32_t slice_of(struct explain *explain, const struct model_moment *moment)
{
	struct explanation *story = explain->story;
	uint64_t slice = (moment->number - 1) / story->slice_ops;

	while (slice >= EXPLAINED_SLICES) {
		fold(story->slices);
		for (size_t i = 0; i < explain->evictors.count; i++)
			fold(explain->evictors.at[i].told.slices);
		for (size_t i = 0; i < EXPLAINED_SLICES / 2; i++)
			story->slice_times[i] = story->slice_times[2 * i];
		story->slice_count = EXPLAINED_SLICES / 2;
		story->slice_ops *= 2;
		slice = (moment->number - 1) / story->slice_ops;
	}
	while (story->slice_count <= slice)
		story->slice_times[story->slice_count++] = moment->op->time_ns;
	return (uint32_t)slice;
}

/* ---- who pushed it out, and when ---- */

static struct explained_where where_of(const struct model_moment *moment)
{
	return (struct explained_where){moment->number, moment->op->line, moment->op->time_ns};
}

static void age_note(struct explain *explain, const struct model_moment *moment)
{
	uint64_t age = cache_age(moment->cache);
	size_t count = explain->ages.count;

	if (count && explain->ages.at[count - 1].age == age)
		return;
	if (++explain->ages_skipped < explain->ages_every)
		return;
	explain->ages_skipped = 0;
	if (count == AGES) {
		for (size_t i = 0; i < AGES / 2; i++)
			explain->ages.at[i] = explain->ages.at[2 * i + 1];
		explain->ages.count = AGES / 2;
		explain->ages_every *= 2;
	}
	*array_push(&explain->ages) = (struct aged){age, where_of(moment)};
}

/* The first op after which more pages had aged out; the present one, which is not noted yet, if none is. */
static struct explained_where evicted_when(const struct explain *explain,
					   const struct model_moment *moment, uint64_t evicted_age)
{
	size_t low = 0, high = explain->ages.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (explain->ages.at[middle].age > evicted_age)
			high = middle;
		else
			low = middle + 1;
	}
	return low < explain->ages.count ? explain->ages.at[low].where : where_of(moment);
}

static struct evictor *evictor_get(struct explain *explain, uint32_t stream)
{
	if (!explain->evictor_of[stream]) {
		array_push(&explain->evictors)->stream = stream;
		explain->evictor_of[stream] = (uint32_t)explain->evictors.count;
	}
	return &explain->evictors.at[explain->evictor_of[stream] - 1];
}

/* ---- what came back ---- */

static size_t seen_find(struct explain *explain, uint32_t stream, uint32_t file, uint32_t path)
{
	uint32_t known = page_map_get(&explain->seen_by_key, stream + 1, file);
	struct seen *seen;

	if (known)
		return known - 1;
	seen = array_push(&explain->seen);
	seen->stream = stream;
	seen->path = path;
	seen->victim.bucket_pages = 1;
	page_map_set(&explain->seen_by_key, stream + 1, file, (uint32_t)explain->seen.count);
	return explain->seen.count - 1;
}

static void bucket_add(struct explained_victim *victim, uint64_t page)
{
	while (page / victim->bucket_pages >= EXPLAINED_BUCKETS) {
		fold(victim->buckets);
		victim->bucket_pages *= 2;
	}
	victim->buckets[page / victim->bucket_pages]++;
}

static void victim_add(struct seen *seen, const struct model_moment *moment,
		       const struct cache_return *returned)
{
	struct explained_victim *victim = &seen->victim;
	uint64_t pages = pages_from_bytes_up(cache_file_size(moment->cache, returned->file));

	if (pages > victim->file_pages)
		victim->file_pages = pages;
	if (seen->last_op != moment->number)
		victim->ops++;
	seen->last_op = moment->number;
	victim->last = where_of(moment);
	if (victim->pages++ == 0)
		victim->first = victim->last;
	bucket_add(victim, returned->index);
	page_map_set(&seen->evictors, 1, returned->evictor,
		     page_map_get(&seen->evictors, 1, returned->evictor) + 1);
	if (returned->distance_pages == CACHE_DISTANCE_UNKNOWN)
		victim->unknown++;
	else
		histogram_add(&seen->distances, returned->distance_pages);
}

/* Pages of one file that came back in one op are one line of the list. */
static void list_add(struct explain *explain, size_t seen, const struct model_moment *moment,
		     const struct cache_return *returned, struct explained_where evicted)
{
	size_t count = explain->story->list.count;
	struct explained_op *last = count ? &explain->story->list.at[count - 1] : NULL;

	if (last && last->where.op == moment->number &&
	    explain->list_keys.at[2 * count - 2] == seen) {
		last->pages++;
		return;
	}
	*array_push(&explain->story->list) = (struct explained_op){
		.where = where_of(moment),
		.kind = (enum op_kind)moment->op->kind,
		.first_page = returned->index,
		.pages = 1,
		.evicted = evicted,
	};
	*array_push(&explain->list_keys) = (uint32_t)seen;
	*array_push(&explain->list_keys) = returned->evictor;
}

static void page_came_back(struct explain *explain, const struct model_moment *moment,
			   const struct cache_return *returned, uint32_t path)
{
	struct explanation *story = explain->story;
	uint32_t slice = slice_of(explain, moment);
	size_t seen = seen_find(explain, moment->stream, returned->file, path);
	struct evictor *evictor = evictor_get(explain, returned->evictor);
	struct explained_where evicted = {0};

	story->pages++;
	story->slices[slice]++;
	victim_add(&explain->seen.at[seen], moment, returned);
	evictor->told.pages++;
	if (returned->distance_pages == CACHE_DISTANCE_UNKNOWN) {
		story->unknown++;
	} else {
		histogram_add(&story->distances, returned->distance_pages);
		evicted = evicted_when(explain, moment, returned->evicted_age);
		evictor->told.slices[(evicted.op - 1) / story->slice_ops]++;
		evictor->told.dated++;
	}
	if (explain->filter->wants_list)
		list_add(explain, seen, moment, returned, evicted);
}

static void before(void *context, const struct model_moment *moment)
{
	struct explain *explain = context;
	uint64_t pages;
	uint32_t known;

	eviction_age_before(&explain->age, moment);
	if (!moment->file)
		return;
	page_map_set(&explain->paths, moment->file, 0, moment->op->path + 1);
	pages = pages_from_bytes_up(cache_file_size(moment->cache, moment->file));
	known = page_map_get(&explain->sizes, moment->file, 0);
	if (pages <= known || pages > UINT32_MAX)
		return;
	explain->story->all_pages += pages - known;
	page_map_set(&explain->sizes, moment->file, 0, (uint32_t)pages);
}

static void fetched(void *context, const struct model_moment *moment, const struct cache_run *runs,
		    size_t count)
{
	struct explain *explain = context;

	eviction_age_fetched(&explain->age, moment, runs, count);
}

static void after(void *context, const struct model_moment *moment)
{
	struct explain *explain = context;
	size_t count;
	const struct cache_return *returns = cache_returns(moment->cache, &count);
	bool any = false;

	eviction_age_after(&explain->age, moment);
	(void)slice_of(explain, moment);
	explain->story->op_count = moment->number;
	for (size_t i = 0; i < count; i++) {
		uint32_t path = page_map_get(&explain->paths, returns[i].file, 0);

		explain->story->pages_all++;
		if (!is_asked(explain, moment, path))
			continue;
		any = true;
		page_came_back(explain, moment, &returns[i], path);
	}
	explain->story->ops += any;
	age_note(explain, moment);
}

/* ---- at the end ---- */

static const char *keep(struct explain *explain, const char *text)
{
	return arena_text(&explain->story->arena, text, strlen(text));
}

static const char *keep_path(struct explain *explain, uint32_t path)
{
	return path ? keep(explain, path_text(explain->source->paths, path - 1)) : NULL;
}

/* The shortest run of parts that has HOT_PERCENT of all. */
static void hot_find(struct explained_victim *victim)
{
	uint64_t enough = (victim->pages * HOT_PERCENT + 99) / 100, sum = 0;
	uint32_t first = 0, best_first = 0, best_count = EXPLAINED_BUCKETS + 1;

	for (uint32_t end = 0; end < EXPLAINED_BUCKETS; end++) {
		sum += victim->buckets[end];
		while (sum - victim->buckets[first] >= enough)
			sum -= victim->buckets[first++];
		if (sum >= enough && end + 1 - first < best_count) {
			best_first = first;
			best_count = end + 1 - first;
			victim->hot_again = sum;
		}
	}
	victim->hot_first = best_first * victim->bucket_pages;
	victim->hot_pages = best_count * victim->bucket_pages;
	if (victim->hot_first + victim->hot_pages > victim->file_pages &&
	    victim->file_pages > victim->hot_first)
		victim->hot_pages = victim->file_pages - victim->hot_first;
}

static int share_compare(const void *a, const void *b)
{
	const struct explained_share *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages < y->pages ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void victim_finish(struct explain *explain, struct seen *seen)
{
	struct explained_victim *victim = &seen->victim;

	victim->stream = keep(explain, stream_name(explain, seen->stream));
	victim->path = keep_path(explain, seen->path);
	victim->bucket_count =
		(uint32_t)((victim->file_pages + victim->bucket_pages - 1) / victim->bucket_pages);
	if (victim->bucket_count > EXPLAINED_BUCKETS)
		victim->bucket_count = EXPLAINED_BUCKETS;
	hot_find(victim);
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		uint32_t pages = page_map_get(&seen->evictors, 1, stream);

		if (pages)
			*array_push(&victim->evictors) = (struct explained_share){
				keep(explain, stream_name(explain, stream)), pages};
	}
	if (victim->evictors.count)
		qsort(victim->evictors.at, victim->evictors.count, sizeof(*victim->evictors.at),
		      share_compare);
	if (seen->distances.count) {
		victim->distance_half = histogram_quantile(&seen->distances, HALF);
		victim->distance_most = histogram_quantile(&seen->distances, MOST);
	}
	*array_push(&explain->story->victims) = *victim;
}

static int victim_compare(const void *a, const void *b)
{
	const struct explained_victim *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages < y->pages ? 1 : -1;
	return x->first.op != y->first.op ? (x->first.op < y->first.op ? -1 : 1)
					  : strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

static int evictor_compare(const void *a, const void *b)
{
	const struct explained_evictor *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages < y->pages ? 1 : -1;
	return strcmp(x->stream, y->stream);
}

static void story_finish(struct explain *explain)
{
	struct explanation *story = explain->story;

	eviction_age_finish(&explain->age);
	for (size_t i = 0; i < explain->seen.count; i++)
		victim_finish(explain, &explain->seen.at[i]);
	for (size_t i = 0; i < story->list.count; i++) {
		const struct seen *seen = &explain->seen.at[explain->list_keys.at[2 * i]];

		story->list.at[i].stream = keep(explain, stream_name(explain, seen->stream));
		story->list.at[i].path = keep_path(explain, seen->path);
		story->list.at[i].evictor =
			keep(explain, stream_name(explain, explain->list_keys.at[2 * i + 1]));
	}
	for (size_t i = 0; i < explain->evictors.count; i++) {
		struct evictor *evictor = &explain->evictors.at[i];

		evictor->told.stream = keep(explain, stream_name(explain, evictor->stream));
		*array_push(&story->evictors) = evictor->told;
	}
	if (story->victims.count)
		qsort(story->victims.at, story->victims.count, sizeof(*story->victims.at),
		      victim_compare);
	if (story->evictors.count)
		qsort(story->evictors.at, story->evictors.count, sizeof(*story->evictors.at),
		      evictor_compare);
}

static void explain_free(struct explain *explain)
{
	for (size_t i = 0; i < explain->seen.count; i++) {
		page_map_deinit(&explain->seen.at[i].evictors);
		histogram_deinit(&explain->seen.at[i].distances);
	}
	array_deinit(&explain->seen);
	array_deinit(&explain->evictors);
	array_deinit(&explain->ages);
	array_deinit(&explain->path_answers);
	array_deinit(&explain->list_keys);
	eviction_age_deinit(&explain->age);
	page_map_deinit(&explain->seen_by_key);
	page_map_deinit(&explain->paths);
	page_map_deinit(&explain->sizes);
}

bool explain_source(const struct model_options *options, struct op_source *source,
		    const struct explain_filter *filter, struct explanation *explanation,
		    struct lint_report *lints, struct result *result, struct error *error)
{
	struct model_options model = *options;
	struct explain *explain = memory_alloc(1, sizeof(*explain));
	const struct model_watch watch = {explain, before, fetched, after};
	bool done;

	*explanation = (struct explanation){.slice_ops = 1};
	*explain = (struct explain){.filter = filter,
				    .options = options,
				    .source = source,
				    .story = explanation,
				    .ages_every = 1};
	eviction_age_init(&explain->age, &explanation->ages);
	model.watch = &watch;
	done = lint_source(&model, source, lints, result, error);
	if (done)
		story_finish(explain);
	else
		explanation_deinit(explanation);
	explain_free(explain);
	memory_free(explain);
	return done;
}
