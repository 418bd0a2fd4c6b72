/*
 * result: what a run says happened, in the same form whichever machine it came from
 *
 * A value that a machine cannot know is absent: its bit in `known` is clear, and text, JSON and
 * everything else say so. All strings are copies owned by the result; free with result_deinit().
 */
#ifndef REFAULT_MEASURE_RESULT_H
#define REFAULT_MEASURE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "cache/counters.h"

/* Numbers the counters, in counters.def's order. */
enum counter_id {
#define COUNTER(name, unit, meaning) COUNTER_##name,
#define LEVEL(name, unit, meaning)   COUNTER_##name,
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
	COUNTER_COUNT,
};

enum counter_unit { COUNTER_UNIT_BYTES, COUNTER_UNIT_COUNT };

const char *counter_name(enum counter_id id);
const char *counter_meaning(enum counter_id id);
enum counter_unit counter_unit(enum counter_id id);
bool counter_is_level(enum counter_id id);
uint64_t counter_get(const struct counters *counters, enum counter_id id);
uint64_t *counter_at(struct counters *counters, enum counter_id id);

#define COUNTERS_ALL_KNOWN ((UINT64_C(1) << COUNTER_COUNT) - 1)

/* What the device was asked for. */
struct result_device {
	char *name; /* NULL: no device was simulated */
	uint64_t size_bytes;
	uint64_t reads, writes, flushes; /* requests */
	uint64_t read_bytes, write_bytes;
	uint64_t metadata_read_bytes, metadata_write_bytes; /* of those */
	uint64_t busy_ns;
};

/* Writers that were held up because too much was dirty. */
struct result_stopped {
	uint64_t count, ns;
};

struct result_mark {
	char *label;
	uint64_t op_index; /* how many ops came before */
	struct counters counters;
	/* with a device: what it was asked for until then (name NULL) */
	struct result_device device;
	uint64_t elapsed_ns;
};

struct result_stream {
	char *name;
	struct counters counters; /* levels: this stream's share */
	uint64_t known;           /* bit per counter_id */
	uint64_t passes;          /* scenario jobs that loop: whole passes done; else 0 */
	/* its counters at the end of its last whole pass; zero without one */
	struct counters at_pass;
};

/* One sample of the levels over the run, evenly spaced in ops. */
struct result_sample {
	uint64_t op_index;
	uint64_t active_file_pages, inactive_file_pages, slab_bytes, dirty_pages, read_bytes;
};

/* How long the operations of a kind took, from when they were asked for: "read", "fdatasync"; or a
 * workload's own unit: "transaction". */
struct result_latency {
	char *name;
	struct histogram ns;
};

/* What a workload says of itself. */
struct result_figure {
	char *name;    /* "transactions", "wal_bytes" */
	char *meaning; /* with the unit, for people */
	double value;
	bool per_work; /* a sum over the run, which people want by transaction */
};

/* Something that went on for a while, of which a series shows what it did: a checkpoint. */
struct result_event {
	char *name;
	uint64_t begin_ns,
		end_ns; /* since the run's beginning; UINT64_MAX: it goes on in the end */
};

/* One interval of simulated time. Levels are those at its end. */
struct result_interval {
	uint64_t ops, work; /* finished; work: the workloads' units (transactions) */
	uint64_t read_bytes, write_bytes;
	uint64_t flushes;
	uint64_t active_file_pages, inactive_file_pages, dirty_pages;
	uint64_t slab_bytes;
	uint64_t free_bytes; /* on the file system; 0 in all of them: not known */
	uint64_t arc_bytes;  /* ZFS's cache; 0 in all of them: there is none */
	/* ZFS's allocator; 0 in all of them: there is none, or it had nothing to do */
	uint64_t free_run_bytes; /* mean free run */
	uint64_t allocation_ns;  /* processor time that finding places took */
	uint64_t group_waits;    /* commits that had to wait for a transaction group */
};

/* The uint64_t fields of a struct, under the names that they have everywhere; a NULL name ends. */
struct result_field {
	const char *name;
	size_t offset;
	bool is_level; /* a present amount; else what came in that time */
};

extern const struct result_field result_device_fields[], result_interval_fields[];

static inline uint64_t result_field_get(const void *object, const struct result_field *field)
{
	return *(const uint64_t *)(const void *)((const char *)object + field->offset);
}

static inline uint64_t *result_field_at(void *object, const struct result_field *field)
{
	return (uint64_t *)(void *)((char *)object + field->offset);
}

/* The quantiles of latencies that are shown; a NULL name ends. */
struct result_quantile {
	const char *name, *key; /* "p99.9"; in JSON "p99_9_ns" */
	uint32_t millionths;
};

extern const struct result_quantile result_quantiles[];

enum { RESULT_FILES_MAX = 1000 };

/* What a kernel counts besides, whole runs: no model has a counterpart to it. */
struct result_kernel {
	bool knows_calls; /* of the player's own reclaim, and the shrinkers that it called */
	uint64_t reclaim_calls, reclaim_freed_pages;
	uint64_t shrinker_calls, shrinker_freed; /* objects, in each shrinker's own unit */

	bool knows_device; /* what the block device was asked for; metadata: flagged so */
	uint64_t data_read_bytes, metadata_read_bytes;
	uint64_t data_written_bytes, metadata_written_bytes;

	/*
	 * Pages that came into the cache and left it, of the files that are there in the end and
	 * had any: those with the most first, at most RESULT_FILES_MAX. Whoever did it, and why.
	 */
	bool knows_files;
	struct result_file {
		char *path;
		uint64_t inserted_pages, deleted_pages;
	} * files;
	size_t file_count;

	bool knows_cachestat; /* cachestat(2) of all files in the end (Linux 6.5), pages */
	uint64_t cached_pages, dirty_pages, writeback_pages;
	uint64_t evicted_pages;          /* that have left a shadow */
	uint64_t recently_evicted_pages; /* and would be activated if they came back */
};

struct result {
	/* the machine and the input, for headings and JSON "machine" */
	char *input;    /* "wal.csv", "cache-pressure" */
	char *machine;  /* "model", "kernel" */
	char *policy;   /* "linux-6.18,statistics=fresh" as normalised; NULL: the kernel's own */
	char *kernel;   /* the release of the kernel that did it, "6.18.44"; NULL: none did */
	bool has_mglru; /* that kernel ran the multi-generational LRU instead of two lists */
	char *statistics; /* "fresh" or "lazy": how that kernel summed its counters; NULL: no kernel */
	char *filesystem; /* "ext4"; NULL in bare mode */
	uint64_t memory_bytes;
	bool is_cgroup; /* memory_bytes is a cgroup's limit, not a whole machine */
	uint64_t readahead_bytes;
	uint64_t seed;
	uint64_t op_count, file_count;

	struct counters totals;
	uint64_t known; /* bit per counter_id, for totals and marks alike */

	struct result_mark *marks;
	size_t mark_count;

	struct result_stream *streams; /* [0 .. stream_count - 1], only those that did something */
	size_t stream_count;

	/*
	 * The blame matrix: blame[victim * stream_count + evictor] is how many pages of `victim`
	 * were re-read that had been evicted because `evictor` allocated. NULL: not known.
	 */
	uint64_t *blame;

	struct result_sample *samples;
	size_t sample_count;

	/*
	 * A kernel that is left to itself does not repeat itself. What it did in several runs, of
	 * which the figures above are the middle one's: the least and the most of each counter.
	 */
	uint64_t run_count;                      /* 0 or 1: one run, and no range */
	struct counters low, high;               /* of the totals */
	struct counters *marks_low, *marks_high; /* by mark; NULL: one run */

	/* Time; all absent (0, NULL) where nobody keeps it: a trace without a device. */
	uint64_t elapsed_ns; /* simulated, from the first op (after a scenario's files are made) */
	uint64_t cpu_ns, cpu_count; /* processor time used, of so many */
	struct result_device device;
	struct result_stopped stopped; /* where a device was simulated */
	struct result_latency *latencies;
	size_t latency_count;
	struct result_figure *figures;
	size_t figure_count;
	struct result_event *events; /* in order of beginning */
	size_t event_count;
	char *work; /* what a unit of work is called: "transactions"; NULL: there is none */
	uint64_t work_count;  /* how many of them were done */
	uint64_t interval_ns; /* of the series; the last one may be shorter: where the run ended */
	struct result_interval *intervals;
	size_t interval_count;

	struct result_kernel in_kernel; /* nothing known unless `kernel` is set */

	char **notes; /* what whoever believes the figures must know, a sentence each */
	size_t note_count;
};

/* A copy that result_deinit() frees. */
char *text_copy(const char *text);

/* Add a note: a sentence without a full stop. */
void result_note(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The latency of this name; NULL: there is none. */
const struct result_latency *result_latency_find(const struct result *result, const char *name);

/* Does any interval have something there? What a machine has not is 0 in all of them. */
bool result_series_has(const struct result *result, const struct result_field *field);

/* Operations and units of work in a second of simulated time; 0 where no time is kept. */
double result_ops_per_second(const struct result *result);
double result_work_per_second(const struct result *result);

/* What so much in the interval at `index` is in a second: the last one may be shorter. */
double result_interval_per_second(const struct result *result, size_t index, uint64_t count);

void result_deinit(struct result *result);

#endif
