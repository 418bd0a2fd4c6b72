/*
 * bare_run: the plain cache of exactly N pages, driven by ops
 *
 * Reads, writes and mapped accesses look each page of their range up once; everything else only
 * names files. Keys: path id * 2^40 + page, or for block traces by record the byte offset as it is.
 *
 * A policy that foresees (opt) is asked when the source is at its end: until then the keys are only
 * gathered (cache/future.h), and whose they are.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "cache/bare.h"
#include "cache/cache.h"
#include "cache/future.h"
#include "cache/policy.h"
#include "machine/model/filesystem.h"
#include "machine/model/model_private.h"
#include "measure/recorder.h"
#include "op/path.h"

enum { OP_BATCH = 256, KEY_BATCH = 512, KEY_PAGE_BITS = 40, PROGRESS_OPS = 1 << 16 };

struct counted {
	uint64_t accesses, misses;
};

/* Requests of one stream in a row, of a policy that foresees: FUTURE_REQUESTS_MAX at most. */
struct stretch {
	uint32_t stream, count;
};

struct run {
	struct bare *bare;     /* queue and ghost policies */
	struct cache *cache;   /* scan policies: the full core, with nothing but pages */
	struct future *future; /* policies that foresee; NULL: it does not */
	uint64_t future_max;   /* requests that there is memory for */
	ARRAY(struct stretch) stretches;
	ARRAY(uint32_t) files; /* by path: the cache's file */
	ARRAY(uint32_t) handles;
	struct cache_plan plan;
	uint64_t keys[KEY_BATCH];
	size_t key_count;
	uint32_t stream; /* whose the keys are */
	/* The last access whose stream had to be looked up; stream 0: none yet. */
	uint32_t last_path, last_thread, last_stream;
	struct counted streams[STREAM_COUNT_MAX + 1];
	ARRAY(struct result_mark) marks;
};

/* The keys wait for the end; stretches of one stream are joined. */
static void gather(struct run *run)
{
	struct stretch *last =
		run->stretches.count ? &run->stretches.at[run->stretches.count - 1] : NULL;

	future_add(run->future, run->keys, run->key_count);
	if (!last || last->stream != run->stream) {
		last = array_push(&run->stretches);
		last->stream = run->stream;
	}
	last->count += (uint32_t)run->key_count;
	run->key_count = 0;
}

static void flush(struct run *run)
{
	if (run->key_count == 0)
		return;
	if (run->future) {
		gather(run);
		return;
	}
	run->streams[run->stream].misses += bare_access(run->bare, run->keys, run->key_count);
	run->streams[run->stream].accesses += run->key_count;
	run->key_count = 0;
}

/*
 * A scan policy needs the full core's records: one page at a time, without readahead, each a use.
 */
static void core_access(struct run *run, uint32_t path, uint64_t page)
{
	while (run->files.count <= path) {
		uint32_t file = cache_file_add(run->cache, UINT64_C(1) << 62, 0);

		cache_open_pay(run->cache);
		*array_push(&run->files) = file;
		*array_push(&run->handles) = cache_open(run->cache, file);
	}
	run->streams[run->stream].accesses++;
	if (!cache_bare_access(run->cache, run->files.at[path], page))
		run->streams[run->stream].misses++;
}

/* 16 bytes a request at most, of what memory there is, or may be used. */
static uint64_t future_requests_max(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	bytes /= FUTURE_REQUEST_BYTES;
	return bytes < FUTURE_REQUESTS_MAX ? bytes : FUTURE_REQUESTS_MAX;
}

static bool future_fits(const struct run *run, struct error *error)
{
	if (!run->future || future_count(run->future) + KEY_BATCH <= run->future_max)
		return true;
	return error_input(
		error,
		"opt must know the whole trace before it begins, %d bytes a request, and "
		"there is memory for %llu requests here: the trace has more",
		FUTURE_REQUEST_BYTES, (unsigned long long)run->future_max);
}

/* What looks pages up; O_DIRECT goes past any cache. A bit each. */
static const uint64_t accesses = UINT64_C(1) << OP_READ | UINT64_C(1) << OP_WRITE |
				 UINT64_C(1) << OP_MMAP_READ | UINT64_C(1) << OP_MMAP_WRITE |
				 UINT64_C(1) << OP_READ_DONTCACHE |
				 UINT64_C(1) << OP_WRITE_DONTCACHE;

static inline bool run_op(struct run *run, const struct op *op, enum bare_key key,
			  struct error *error)
{
	uint64_t first = op->offset >> PAGE_SHIFT, last, of_path;

	if (!(accesses >> op->kind & 1) || op->bytes == 0)
		return true;
	last = (op->offset + op->bytes - 1) >> PAGE_SHIFT;
	if (key == BARE_KEY_LBN)
		first = last = op->offset;
	if (last >> KEY_PAGE_BITS && key == BARE_KEY_PAGE4K &&
	    op->path >> (64 - KEY_PAGE_BITS - 12))
		return error_input(error,
				   "bare mode: page %llu of path %u is beyond what a key holds",
				   (unsigned long long)last, op->path);
	/* The core's index numbers 2^38 pages of a file; the plain cache's keys are any number. */
	if (run->cache && last >> 38)
		return error_input(
			error,
			"bare mode: page %llu is beyond 2^38, the last that a kernel's policy "
			"can be asked about here; the others can",
			(unsigned long long)last);
	if (run->cache) {
		for (uint64_t page = first; page <= last; page++)
			core_access(run, op->path, page);
		return true;
	}
	/*
	 * Pages beyond 2^40 (object ids) fold their high part over the path's: distinct up to 2^52
	 * pages of 4096 paths.
	 */
	of_path = (uint64_t)op->path << 52 | (uint64_t)op->path >> 12 << KEY_PAGE_BITS;
	for (uint64_t page = first; page <= last; page++) {
		if (run->key_count == KEY_BATCH) {
			flush(run);
			if (!future_fits(run, error))
				return false;
		}
		run->keys[run->key_count++] = page ^ of_path;
	}
	return true;
}

static void counters_fill(const struct run *run, uint32_t stream, struct counters *counters)
{
	*counters = (struct counters){0};
	for (uint32_t i = 0; i <= STREAM_COUNT_MAX; i++)
		if (stream == 0 || stream == i) {
			counters->page_accesses += run->streams[i].accesses;
			counters->page_misses += run->streams[i].misses;
		}
	if (stream == 0) {
		struct counters core;

		if (run->cache) {
			cache_counters(run->cache, 0, &core);
			counters->evictions = core.evictions;
		} else {
			counters->evictions = bare_evictions(run->bare);
		}
	}
}

/* The marks that were made after so many requests. Returns how many requests the next is away. */
static uint64_t marks_fill(struct run *run, size_t *mark, uint64_t done)
{
	for (; *mark < run->marks.count; ++*mark) {
		struct counters *counters = &run->marks.at[*mark].counters;

		if (counters->page_accesses > done)
			return counters->page_accesses - done;
		counters_fill(run, 0, counters);
	}
	return UINT64_MAX;
}

/* The source is at its end: now each request is carried out, and each mark looked up. */
static void foresee(struct run *run)
{
	uint64_t done = 0, away;
	size_t mark = 0;

	future_settle(run->future);
	bare_foresee(run->bare, run->future);
	away = marks_fill(run, &mark, done);
	for (size_t i = 0; i < run->stretches.count; i++) {
		struct counted *counted = &run->streams[run->stretches.at[i].stream];

		for (uint64_t left = run->stretches.at[i].count, count; left > 0; left -= count) {
			count = left < away ? left : away;
			counted->misses += bare_access(run->bare, NULL, count);
			counted->accesses += count;
			done += count;
			away = marks_fill(run, &mark, done);
		}
	}
}

static const uint64_t known_streams =
	UINT64_C(1) << COUNTER_page_accesses | UINT64_C(1) << COUNTER_page_misses;

static void finish(struct run *run, char *const *names, uint32_t name_count, struct result *result)
{
	result->known = known_streams | UINT64_C(1) << COUNTER_evictions;
	counters_fill(run, 0, &result->totals);
	result->marks = run->marks.at;
	result->mark_count = run->marks.count;
	run->marks.at = NULL;
	result->streams = memory_alloc(STREAM_COUNT_MAX + 1, sizeof(*result->streams));
	for (uint32_t i = 1; i <= STREAM_COUNT_MAX; i++) {
		struct result_stream *stream = &result->streams[result->stream_count];

		if (run->streams[i].accesses == 0)
			continue;
		stream->name = text_copy(i < name_count && names && names[i] ? names[i] : "(none)");
		stream->known = known_streams;
		counters_fill(run, i, &stream->counters);
		result->stream_count++;
	}
}

/* Whose op it is: by a map, mostly the same as the one before. */
static inline uint32_t stream_of(struct run *run, const struct model_options *options,
				 const struct op_source *source, const struct op *op)
{
	if (op->stream || !options->streams || op->kind == OP_MARK)
		return op->stream;
	if (!(accesses >> op->kind & 1))
		return stream_map_get(options->streams, source->paths, op);
	if (run->last_stream && op->path == run->last_path && op->thread == run->last_thread)
		return run->last_stream;
	run->last_path = op->path;
	run->last_thread = op->thread;
	return run->last_stream = stream_map_get(options->streams, source->paths, op);
}

bool model_bare_run(const struct model_options *options, uint64_t pages, enum bare_key key,
		    struct op_source *source, struct result *result, struct error *error)
{
	struct run *run = memory_alloc(1, sizeof(*run));
	struct op *ops = memory_alloc(OP_BATCH, sizeof(*ops));
	uint64_t op_count = 0, next_progress = PROGRESS_OPS;
	struct counters counters;
	bool done = false;

	*result = (struct result){0};
	if (pages < 1 || pages > UINT64_C(1) << 30) {
		error_input(error, "a plain cache has 1 to %llu pages",
			    (unsigned long long)(UINT64_C(1) << 30));
		goto out;
	}
	if (options->policy.policy->bare_run) {
		run->bare = bare_create_with(pages, &options->policy, options->seed);
		if (options->policy.policy->foresee) {
			run->future = future_create();
			run->future_max = future_requests_max();
		}
	} else {
		static const struct cache_filesystem nothing = {0};
		struct cache_config config = {
			.policy = &options->policy,
			.filesystem = &nothing,
			.memory_bytes = pages * PAGE_BYTES,
			.is_cgroup = true,
			.completes_at_once = true,
			.bare = true,
		};

		run->cache = cache_create(&config, error);
		if (!run->cache)
			goto out;
	}
	for (;;) {
		size_t count;

		if (!op_source_next(source, ops, OP_BATCH, &count, error))
			goto out;
		if (count == 0)
			break;
		for (size_t i = 0; i < count; i++) {
			uint32_t stream = stream_of(run, options, source, &ops[i]);

			op_count++;
			if (ops[i].kind == OP_MARK) {
				struct result_mark *mark;

				flush(run);
				mark = array_push(&run->marks);
				mark->label = text_copy(path_text(source->paths, ops[i].path));
				mark->op_index = op_count;
				if (run->future) /* filled in when it is known */
					mark->counters.page_accesses = future_count(run->future);
				else
					counters_fill(run, 0, &mark->counters);
				continue;
			}
			if (stream != run->stream) {
				flush(run);
				run->stream = stream;
				if (run->cache)
					cache_stream(run->cache, stream);
			}
			if (!run_op(run, &ops[i], key, error))
				goto out;
		}
		if (options->progress && op_count >= next_progress) {
			uint64_t at = 0, total = 0;

			next_progress = op_count + PROGRESS_OPS;
			source->interface->progress(source, &at, &total);
			options->progress(options->progress_context, at, total, op_count, 0);
		}
	}
	flush(run);
	if (run->future)
		foresee(run);
	if (options->streams)
		finish(run, stream_map_names(options->streams), stream_map_count(options->streams),
		       result);
	else
		finish(run, source->stream_names, source->stream_count, result);
	counters_fill(run, 0, &counters);
	model_describe(options, source, result);
	result->memory_bytes = pages * PAGE_BYTES;
	result->op_count = op_count;
	result->file_count = path_count(source->paths);
	done = true;
out:
	if (run->cache)
		cache_destroy(run->cache);
	bare_destroy(run->bare);
	future_destroy(run->future);
	array_deinit(&run->stretches);
	array_deinit(&run->files);
	array_deinit(&run->handles);
	for (size_t i = 0; i < run->marks.count && run->marks.at; i++)
		memory_free(run->marks.at[i].label);
	memory_free(run->marks.at);
	memory_free(run);
	memory_free(ops);
	return done;
}
