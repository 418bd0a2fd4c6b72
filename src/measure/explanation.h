/*
 * explanation: the story of a run: what was read again, who had pushed it out, when, and how far off it was
 *
 * Filled by study/explain.h, drawn by report/explanation.h. All texts are in its arena. Pages are of 4 KiB; an op's number counts from 1.
 */
#ifndef REFAULT_MEASURE_EXPLANATION_H
#define REFAULT_MEASURE_EXPLANATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/histogram.h"
#include "op/op.h"

enum {
	EXPLAINED_SLICES = 64,  /* at most so many equal parts of the run, in ops */
	EXPLAINED_BUCKETS = 64, /* and of a file */
};

/* An op. */
struct explained_where {
	uint64_t op;   /* 0: not known */
	uint64_t line; /* of the trace; 0: it has none */
	uint64_t time_ns;
};

struct explained_share {
	const char *name; /* of a stream */
	uint64_t pages;
};

/* A file that a stream read again. */
struct explained_victim {
	const char *stream;
	const char *path; /* NULL: the file system's own blocks */
	uint64_t pages;   /* read again, each time counted */
	uint64_t ops;     /* that did it */
	uint64_t file_pages;

	/* The shortest run of parts that has nine in ten of them. */
	uint64_t hot_first, hot_pages, hot_again;
	uint64_t bucket_pages; /* a part; the file has bucket_count of them */
	uint64_t buckets[EXPLAINED_BUCKETS];
	uint32_t bucket_count;

	ARRAY(struct explained_share)
	evictors; /* whose allocations had pushed them out; most first */
	/* Pages aged out in between: of half of them at most, of nine in ten at most. */
	uint64_t distance_half, distance_most;
	uint64_t unknown; /* of these nobody knows any more */
	struct explained_where first, last;
};

/* A stream that pushed out what was read again. */
struct explained_evictor {
	const char *stream;
	uint64_t pages;
	uint64_t
		slices[EXPLAINED_SLICES]; /* when it did; of those whose eviction's time is known */
	uint64_t dated;                   /* the sum of these */
};

/* An op that read something again. */
struct explained_op {
	struct explained_where where;
	const char *stream;
	const char *path; /* of what came back; NULL: the file system's own blocks */
	enum op_kind kind;
	uint64_t first_page, pages; /* that came back, the first of them */
	const char *evictor;        /* of the first */
	struct explained_where evicted;
};

/*
 * How old pages were when they were evicted under pressure: since they came in, and since they were last asked for.
 * Those that were never asked for (read ahead) have no last use.
 */
struct explained_ages {
	struct histogram arrived_ops, arrived_ns; /* pages */
	struct histogram used_ops, used_ns;
	uint64_t pages; /* evicted in all */
	uint64_t never_used;
	bool by_time; /* the run has a clock: a microsecond for each op and more */
};

struct explanation {
	struct arena arena;
	uint64_t op_count;
	uint64_t pages_all; /* read again in the whole run */
	uint64_t pages;     /* of them those that were asked for */
	uint64_t ops;       /* that did it */
	uint64_t unknown;   /* pages of which nobody knows any more when they were evicted */
	struct histogram distances; /* of the others, pages aged out in between */
	struct explained_ages ages;
	uint64_t all_pages; /* of all files that were used, at their largest */

	uint64_t slice_ops; /* ops of a slice */
	uint32_t slice_count;
	uint64_t slices[EXPLAINED_SLICES];      /* pages read again */
	uint64_t slice_times[EXPLAINED_SLICES]; /* when it began */

	ARRAY(struct explained_victim) victims;   /* most pages first */
	ARRAY(struct explained_evictor) evictors; /* likewise */
	ARRAY(struct explained_op) list;          /* in order; only if asked for */
};

/* The next of 1, 2, 5, 10, 20, 50, ...: bounds of classes of ages, which begin with 1 op or 1 us. */
uint64_t explained_age_next(uint64_t bound);

void explanation_deinit(struct explanation *explanation);

/*
 * With so many pages more, so many millionths of what came back would have stayed, at most: the
 * distance that so many are not above, or all pages there are. 0: none is known.
 */
uint64_t explanation_distance(const struct explanation *explanation, uint32_t millionths);

#endif
