/*
 * oracle: caches that are too slow and too plain to be wrong
 *
 * Pages in an array, newest first; every look-up walks it. LRU moves what it finds to the front,
 * FIFO does not, CLOCK remembers that it was used. ARC has four such arrays, as in the paper. MIN (Belady) knows the future: it evicts what is
 * needed last.
 */
#ifndef REFAULT_TEST_ORACLE_H
#define REFAULT_TEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oracle_kind { ORACLE_LRU, ORACLE_FIFO, ORACLE_CLOCK, ORACLE_ARC };

struct oracle {
	enum oracle_kind kind;
	size_t capacity, count;
	uint64_t *keys;     /* newest first */
	bool *used;         /* CLOCK's bit */
	uint64_t *lists[4]; /* ARC's T1, T2, B1, B2 */
	size_t counts[4];
	double t1_target;
	uint64_t misses, evictions;
};

void oracle_init(struct oracle *oracle, enum oracle_kind kind, size_t capacity);
void oracle_deinit(struct oracle *oracle);
/* True: it was there. */
bool oracle_access(struct oracle *oracle, uint64_t key);

/* How often the best possible cache of `capacity` pages misses. */
uint64_t oracle_min_misses(const uint64_t *keys, size_t count, size_t capacity);

#endif
