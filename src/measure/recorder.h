/*
 * recorder: fills a result while a run goes on
 *
 * Marks keep the counters at a point; samples keep the levels at evenly spaced ops: at most SAMPLES
 * of them, the distance doubling as the run grows.
 */
#ifndef REFAULT_MEASURE_RECORDER_H
#define REFAULT_MEASURE_RECORDER_H

#include "base/array.h"
#include "cache/cache.h"
#include "measure/result.h"

enum { RECORDER_SAMPLES = 128 };

/* A stream's whole passes, and its counters at the end of the last one. */
struct recorder_passes {
	uint64_t count;
	struct counters counters;
};

struct recorder {
	ARRAY(struct result_mark) marks;
	ARRAY(struct recorder_passes) passes; /* by stream */
	struct result_sample samples[RECORDER_SAMPLES];
	size_t sample_count;
	uint64_t sample_every, sample_next; /* ops */
};

void recorder_init(struct recorder *recorder);
void recorder_deinit(struct recorder *recorder);

/* The counters now, under this label (copied). */
void recorder_mark(struct recorder *recorder, const struct cache *cache, const char *label,
		   uint64_t op_index);

/* A pass of this stream (not 0) ends here. */
void recorder_pass(struct recorder *recorder, const struct cache *cache, uint32_t stream);

void recorder_take_sample(struct recorder *recorder, const struct cache *cache, uint64_t op_index);

/* Called after each op; almost always nothing to do. */
static inline void recorder_sample(struct recorder *recorder, const struct cache *cache,
				   uint64_t op_index)
{
	if (op_index >= recorder->sample_next)
		recorder_take_sample(recorder, cache, op_index);
}

/*
 * Fill totals, marks, samples, streams and blame of `result`. names[i] is stream i's; streams that
 * did nothing are left out, those without a name are "(none)".
 */
void recorder_finish(struct recorder *recorder, const struct cache *cache, char *const *names,
		     uint32_t name_count, struct result *result);

/* A copy that result_deinit() frees. */
char *text_copy(const char *text);

#endif
