/*
 * recorder: fills a result while a run goes on
 *
 * Marks keep the counters at a point; samples keep the levels at evenly spaced ops: at most SAMPLES
 * of them, the distance doubling as the run grows. Where time is kept, intervals are the same by
 * time, at most INTERVALS of them, and each operation's latency goes into its kind's histogram.
 */
#ifndef REFAULT_MEASURE_RECORDER_H
#define REFAULT_MEASURE_RECORDER_H

#include "base/array.h"
#include "measure/result.h"
#include "op/op.h"

enum { RECORDER_SAMPLES = 128, RECORDER_INTERVALS = 4096 };

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

	struct histogram latencies[OP_KIND_COUNT]; /* ns, by kind */
	struct result_interval *intervals;         /* RECORDER_INTERVALS; NULL: none came yet */
	size_t interval_count;
	/* Of those that come, so many make one that is kept, and so many of them came for the next. */
	uint64_t interval_fold, pending_count;
	struct result_interval pending;
	uint64_t interval_ns; /* of those that come */
};

void recorder_init(struct recorder *recorder);
void recorder_deinit(struct recorder *recorder);

/* These are the counters now, under this label (copied). */
void recorder_mark(struct recorder *recorder, const struct counters *now, const char *label,
		   uint64_t op_index);

/* The mark just made came so long after the start, when this was what the device had been asked for
 * (NULL: there is none). */
void recorder_mark_time(struct recorder *recorder, uint64_t elapsed_ns,
			const struct result_device *device);

/* What came before was a warm-up: latencies and intervals begin anew. */
void recorder_restart_time(struct recorder *recorder);

/* An operation took so long, from when it was asked for. */
static inline void recorder_latency(struct recorder *recorder, enum op_kind kind, uint64_t ns)
{
	histogram_add(&recorder->latencies[kind], ns);
}

/*
 * The next `ns` of the run, always as long; the last may be shorter. When there are too many, each
 * two neighbours become one, here and from then on.
 */
void recorder_interval(struct recorder *recorder, const struct result_interval *interval,
		       uint64_t ns);

/* A pass of this stream (not 0) ends here, with these counters of its own. */
void recorder_pass(struct recorder *recorder, uint32_t stream, const struct counters *now);

/* Asked after each op; almost always no. */
static inline bool recorder_wants_sample(const struct recorder *recorder, uint64_t op_index)
{
	return op_index >= recorder->sample_next;
}

void recorder_sample(struct recorder *recorder, const struct counters *now, uint64_t op_index);

/* The machine, as the recorder looks at it in the end. */
struct recorder_machine {
	const void *context;
	uint32_t stream_count;         /* including the unused 0 */
	uint64_t known, streams_known; /* bit per counter_id: of the totals, of each stream */

	/* A stream's counters; 0: the sum of all. */
	void (*counters)(const void *context, uint32_t stream, struct counters *counters);

	/* Pages of `victim` read again that `evictor` had evicted; NULL: not known. */
	uint64_t (*blame)(const void *context, uint32_t victim, uint32_t evictor);
};

/*
 * Fill totals, marks, samples, streams, blame, intervals and the operations' latencies of `result`.
 * names[i] is stream i's; streams that did nothing are left out, those without a name are "(none)".
 */
void recorder_finish(struct recorder *recorder, const struct recorder_machine *machine,
		     char *const *names, uint32_t name_count, struct result *result);

#endif
