/*
 * top: what a running system's page cache did between two looks at it
 *
 * A *sample* is what was read at one time: the page cache's own counts (top_counts.h), levels and
 * counters of the kernel's (top.def), and the files in which something happened. A *view* is what two
 * samples say together: how much of each there was in the interval, and the hit ratio.
 *
 * The hit ratio is hits / accesses: of the pages that reads asked for, those that had not come into the
 * cache for it. It stands only if the counting agrees with the kernel's own statistics: what was seen to
 * come in less what was seen to go must be what the file pages grew by, within what the two readings
 * themselves can differ by. So an event that is not seen (a missing tracepoint, a kernel that works
 * otherwise) shows as an error, and no ratio is told, instead of a wrong one.
 *
 * What is not known is not known: a counter that is not there, or that went back, is never 0.
 */
#ifndef REFAULT_MEASURE_TOP_H
#define REFAULT_MEASURE_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "measure/top_counts.h"

enum top_level {
#define TOP_LEVEL(name, called) TOP_LEVEL_##name,
#include "measure/top.def"
#undef TOP_LEVEL
	TOP_LEVELS,
};

enum top_counter {
#define TOP_COUNTER(name, called) TOP_COUNTER_##name,
#include "measure/top.def"
#undef TOP_COUNTER
	TOP_COUNTERS,
};

/* "active_file_bytes", "read_bytes". */
const char *top_level_name(enum top_level level);
const char *top_counter_name(enum top_counter counter);

struct top_amount {
	bool known;
	uint64_t value;
};

/* A cache of kernel objects. */
enum { TOP_SLABS_MAX = 8, TOP_SLAB_NAME_BYTES = 32 };
struct top_slab {
	char name[TOP_SLAB_NAME_BYTES];
	uint64_t bytes, objects;
};

/* A file, since the counting began. */
struct top_file {
	uint64_t ino;
	uint32_t device, generation;
	const char *path; /* the sample's */
	bool is_named;    /* by the user: shown in any case */
	bool is_counted;  /* else its counts are not known */
	uint64_t accesses, misses, inserted, evicted, dropped, refaults, rewritten;
	struct top_amount resident; /* pages in memory, of whomever they are */
	struct top_amount size;     /* bytes */
};

struct top_sample {
	uint64_t time_ns;    /* of a clock that goes on */
	uint64_t page_bytes; /* a page of the kernel's */

	/* The counting; false: there is none, and `first` to `skipped` say nothing. */
	bool is_counting;
	bool sees_reads;
	/* the target's, read before the kernel's file pages and after them; and all the machine's */
	struct top_counts first, then;
	struct top_counts all_first, all_then;
	uint64_t skipped; /* times that an event could not be counted */

	/* Whose pages are conserved: a cgroup's, the target's; else all the machine's. */
	bool is_cgroup;
	struct top_amount file_pages; /* what the kernel has, read between `first` and `then` */
	/* by how many pages its statistics may be behind */
	uint64_t statistics_slack_pages;

	struct top_amount levels[TOP_LEVELS];
	struct top_amount counters[TOP_COUNTERS];
	struct top_slab slabs[TOP_SLABS_MAX]; /* the largest first */
	size_t slab_count;

	ARRAY(struct top_file) files; /* in the order of top_file_order() */
	struct arena texts;
};

void top_sample_deinit(struct top_sample *sample);

/* By device, inode and generation; for qsort(). */
int top_file_order(const void *a, const void *b);

enum top_sort {
	TOP_BY_RESIDENT,
	TOP_BY_REFAULTS,
	TOP_BY_MISSES,
	TOP_BY_ACCESSES,
	TOP_BY_EVICTED,
	TOP_SORTS,
};

/* "resident", ... */
const char *top_sort_name(enum top_sort sort);

/* Why there is no hit ratio. */
enum top_why {
	TOP_WHY_NOT, /* there is one */
	TOP_WHY_NOT_COUNTING,
	TOP_WHY_NO_READS_SEEN, /* this kernel does not tell of them */
	TOP_WHY_NOTHING_ASKED,
	TOP_WHY_LEVEL_UNKNOWN, /* the kernel does not say how many file pages there are */
	TOP_WHY_NOT_CONSERVED,
	TOP_WHY_SKIPPED,  /* events could not be counted */
	TOP_WHY_OVERHANG, /* more misses than accesses: a read that began before the interval */
	TOP_WHYS,
};

/* A few words. */
const char *top_why_text(enum top_why why);

/* Pages that came less pages that went, against what the kernel's statistics grew by. */
struct top_conservation {
	bool known;
	bool holds; /* |error| <= tolerance */
	uint64_t pages_in, pages_out;
	int64_t counted_pages; /* in - out */
	int64_t level_pages;   /* the kernel's own */
	int64_t error_pages;   /* counted - level */
	/* What came and went while the two were read, and what the statistics may be behind by. */
	uint64_t tolerance_pages;
};

/* A file in the interval; its counts are not known unless is_counted. */
struct top_view_file {
	struct top_file total; /* until now; its path is the later sample's */
	struct top_amount accesses, misses, evicted, dropped;
	struct top_amount refaults; /* less those that were written anew */
	/* to be filled in for the few that are shown: pages */
	struct top_amount dirty, recently_evicted;
	bool is_measured; /* total.resident is from cachestat() or mincore(), not from counting */
};

struct top_view {
	uint64_t interval_ns;
	uint64_t page_bytes;
	bool is_counting, sees_reads;
	struct top_counts counts;   /* in the interval, of the target */
	uint64_t skipped;           /* likewise */
	struct top_amount hits;     /* accesses - misses; known with the ratio only */
	struct top_amount refaults; /* counted, less those that were written anew */
	enum top_why why;
	struct top_conservation conservation;
	struct top_amount levels[TOP_LEVELS];
	struct top_amount counters[TOP_COUNTERS]; /* in the interval */
	const struct top_slab *slabs;             /* the later sample's */
	size_t slab_count;
	ARRAY(struct top_view_file) files; /* named ones first, then the first by the sort */
};

/*
 * What happened between `before` and `after`, of the same watch. Points into `after`. Cannot fail: what
 * the samples do not have is not known. Free with top_view_deinit().
 */
void top_view_make(struct top_view *view, const struct top_sample *before,
		   const struct top_sample *after, enum top_sort sort);
void top_view_deinit(struct top_view *view);

/* In millionths of `whole`; not known of nothing. */
struct top_amount top_ppm(const struct top_amount *part, uint64_t whole);

/* So much a second; not known of no time. */
struct top_amount top_per_second(const struct top_amount *amount, uint64_t interval_ns);

#endif
