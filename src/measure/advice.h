/*
 * advice: what would help, tried out: each remedy with what it saves, whom it costs, and how to apply it
 *
 * Filled by study/advise.h, drawn by report/remedies.h. All texts and lists are in the arena.
 */
#ifndef REFAULT_MEASURE_ADVICE_H
#define REFAULT_MEASURE_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/memory.h"
#include "measure/change.h"

enum advice_verdict {
	ADVICE_HELPS,
	ADVICE_NO_EFFECT, /* within a hundredth */
	ADVICE_COSTS,
	ADVICE_FAILED, /* with it the run does not come to its end */
};

/* The answer before all figures. */
enum advice_headline {
	ADVICE_REMEDY,       /* the first of the remedies is worth it */
	ADVICE_MORE_MEMORY,  /* nothing else comes near it */
	ADVICE_NOTHING,      /* something is read again, and nothing that was tried changes that */
	ADVICE_NOT_CACHING,  /* nothing is read again, and nothing is read that nobody asked for */
	ADVICE_OUT_OF_MEMORY /* the run does not come to its end as it is */
};

/* What a kernel did, beside what was predicted. */
struct advice_measured {
	bool is_known;
	char *failure;                      /* why it is not known; NULL: nobody asked, or it is */
	uint64_t base_bytes, changed_bytes; /* read from the device */
	double change;                      /* relative */
};

struct advice_stream {
	const char *name;
	struct effect reads;
};

struct advice_remedy {
	const char *id;     /* of the remedy: "dontneed" */
	const char *target; /* whose operations are changed: "wal"; NULL: it is about the machine */
	const char *title;  /* "wal: DONTNEED behind what it writes" */
	const char *how;    /* what to do, in a program or elsewhere; NULL: see command */
	const char *command; /* the exact setting, for a shell; NULL: it is none */
	const char *since;   /* "Linux 2.6"; NULL: any */
	const char *risk;
	const char *pays; /* who loses: "heap +12 MiB", "24 MiB of memory"; NULL: nobody */

	enum advice_verdict verdict;
	char *failure;         /* ADVICE_FAILED: why */
	struct effect reads;   /* bytes from the device */
	struct effect rereads; /* of them, read again after an eviction */
	struct effect writes;  /* bytes to the device, and what is still owed to it at the end */
	struct effect rate;    /* operations or work in a second; is_known false: no time is kept */
	struct effect p99;     /* ns */
	struct effect longest; /* wait, ns */
	struct effect inodes;  /* made again after their eviction */
	double score;          /* what it is ranked by; 1: all that is read is saved */
	uint64_t memory_bytes; /* what it takes more than there is; 0: nothing */
	size_t sample_count;   /* runs, each of a seed and a way to sum statistics */
	bool can_be_confirmed; /* the kernel machine can do it */
	struct advice_stream *streams;
	size_t stream_count;
	struct advice_measured measured;
};

/* What the run as it is waits for: a share of its time, of its waiting or of what there is. */
struct advice_bound {
	const char *id;   /* "device", "flushes", "reads", "processors", "locks", "dirty-limit" */
	const char *text; /* with the figures it rests on */
	double share;
	bool is_limit; /* enough to be what bounds it */
};

struct advice_left_out {
	const char *id, *why;
};

struct advice {
	struct arena arena;
	const char *input, *policy, *filesystem;
	uint64_t memory_bytes, readahead_bytes;
	bool is_cgroup;
	uint64_t op_count;

	/* as it is: means over the samples */
	double read_bytes, reread_bytes, write_bytes;
	bool knows_time, knows_p99;
	double rate, p99_ns, longest_ns;
	const char *work; /* what the rate counts: "operations", "transactions" */
	size_t seed_count;
	bool both_statistics; /* fresh and lazy sums of a cgroup's statistics were both tried */
	char *failure;        /* why the run as it is does not come to its end; NULL: it does */

	enum advice_headline headline;
	const char *text; /* the answer in a sentence or two */

	/* Tried; those that help first, best first; then those without effect, then those that cost. */
	ARRAY(struct advice_remedy *) remedies;
	/* Not tried, and why. */
	ARRAY(struct advice_left_out) left_out;
	/* The best two that change different things, both at once; NULL: no better than the better one. */
	struct advice_remedy *together;
	/* Where time is kept, else none: what bounds the run as it is, the most telling first. */
	ARRAY(struct advice_bound) bounds;
	uint64_t run_count;
	bool is_interrupted; /* there would have been more */
};

const char *advice_verdict_name(enum advice_verdict verdict);
const char *advice_headline_name(enum advice_headline headline);

void advice_deinit(struct advice *advice);

#endif
