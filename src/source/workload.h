/*
 * workload: a job that is a program (the shelf workload/)
 *
 * A generator orders the requests of a step; a workload is whole: processes that think, wait for
 * each other's locks, and ask for file operations (pgbench: clients' backends, checkpointer,
 * writers). A scenario's job names it with `workload: NAME` and gives it its own keys. It is asked
 * for what is due and told what is done, as any source is (op/source.h): one op at a time of each
 * of its threads, any number of threads at once. A new one is one file in workload/ (or a folder,
 * if it is large) and one line in workloads.def. Deterministic: same options, seed and answers,
 * same ops.
 */
#ifndef REFAULT_SOURCE_WORKLOAD_H
#define REFAULT_SOURCE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "op/source.h"
#include "source/schema.h"

struct path_table;
struct workload_run; /* each workload's own */

struct workload_place {
	struct path_table *paths; /* the source's, to intern its paths in */
	const struct op_foresight
		*foresight;    /* likewise, of whoever carries its ops out; or NULL */
	uint32_t first_thread; /* its ops' threads are first_thread ... + threads() - 1 */
	uint16_t first_stream; /* its streams are first_stream ... + stream_count - 1 */
	uint64_t seed;
	/* the device is not a machine's, but a name in messages: the job's */
	const char *job;
};

struct workload {
	const char *name;
	const char *summary;

	const struct schema_key *keys; /* of its own, section SCHEMA_JOB */
	size_t key_count;
	size_t options_bytes; /* of the struct that they are read into */

	/* By options: how many threads, and streams with which names (of the job's name: "db.heap"). */
	uint32_t (*threads)(const void *options);
	const char *const *stream_names; /* NULL ends */
	/* By options: does it end by itself? Else its job needs `duration` or `until`. */
	bool (*ends)(const void *options);

	/* NULL: ERROR_INPUT (options that do not go together). */
	struct workload_run *(*create)(const void *options, const struct workload_place *place,
				       struct error *error);
	void (*destroy)(struct workload_run *run);

	/* Files that are there before the start, then how they are warmed: ops to be done one after the
	 * other, before time counts. False: no more. */
	bool (*setup)(struct workload_run *run, struct op *op);

	/* The jobs' time begins. */
	void (*start)(struct workload_run *run, uint64_t now_ns);

	/*
	 * An op whose time has come; false: none. *next_ns says when to ask for the next (UINT64_MAX:
	 * not before one under way is done; or never again, if none is). Whoever does not say when he
	 * has one is asked again at once.
	 */
	bool (*next_due)(struct workload_run *run, uint64_t now_ns, struct op *op,
			 uint64_t *next_ns);
	void (*completed)(struct workload_run *run, const struct op *op, uint64_t done_ns);

	/* Units of work done (transactions), and what it says in the end. */
	uint64_t (*work)(const struct workload_run *run);
	/* How many of how many, those of a warm-up included; total 0: not known (it runs for a time). */
	void (*progress)(const struct workload_run *run, uint64_t *done, uint64_t *total);
	void (*report)(struct workload_run *run, const struct op_source_reporter *reporter);
};

/* A uint64_t in a workload's counts, of which so many are told for a unit of work. */
struct workload_sum {
	const char *name, *meaning;
	size_t offset;
};

void workload_sums_report(const struct op_source_reporter *reporter,
			  const struct workload_sum *sums, size_t sum_count, const void *counts);

/* NULL: no such workload / after the last. */
const struct workload *workload_find(const char *name);
const struct workload *workload_at(size_t index);

#endif
