/*
 * top_counts: what is counted of the page cache, page by page, while somebody looks
 *
 * A plain type of fixed width: the half of `record` that runs in the kernel is compiled with it as well,
 * and counts in it. All are pages of regular files since the counting began, and each is a uint64_t.
 */
#ifndef REFAULT_MEASURE_TOP_COUNTS_H
#define REFAULT_MEASURE_TOP_COUNTS_H

#include <stdint.h>

struct top_counts {
	uint64_t accesses; /* asked for by reads, each page once a call */
	uint64_t misses; /* of these: had come into the cache, and were asked for the first time */
	uint64_t faults; /* page faults on mapped files that looked the page up */
	uint64_t fault_misses; /* pages that had come in, and were then mapped */
	uint64_t inserted;
	uint64_t evicted;  /* by reclaim */
	uint64_t dropped;  /* taken out otherwise: truncated, unlinked, advised away, drop_caches */
	uint64_t unused;   /* of evicted and dropped: came in, and were never asked for */
	uint64_t refaults; /* inserted that had been evicted since the counting began */
	uint64_t rewritten; /* of these: not to be read, but to be written anew */
	/* of anything that the kernel counts among file pages: files, directories, devices */
	uint64_t pages_in, pages_out;
	uint64_t uncounted; /* reads and faults for which there was no memory */
};

#endif
