/*
 * What the tests of the library share: a cache made in a line, and clients whose I/O is done at once or later.
 */
#ifndef REFAULT_TEST_LIBRARY_LIBRARY_TEST_H
#define REFAULT_TEST_LIBRARY_LIBRARY_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "refault.h"

enum { MIB = 1 << 20, PAGE = REFAULT_PAGE_BYTES };

/* A cgroup of that many MiB with the defaults otherwise; fails the test if it cannot be made. */
struct refault_cache *cache_of(uint64_t memory_mib, const char *policy,
			       enum refault_completion completion);

/* Report every run of the plan. */
void plan_complete(struct refault_cache *cache, const struct refault_plan *plan);

/* One operation of stream 1 each, all I/O done at once. Return how many pages had to be fetched. */
uint64_t read_all(struct refault_cache *cache, struct refault_plan *plan, uint32_t handle,
		  uint64_t offset, uint64_t bytes);
uint64_t write_all(struct refault_cache *cache, struct refault_plan *plan, uint32_t handle,
		   uint64_t offset, uint64_t bytes);

struct refault_counters counters_of(const struct refault_cache *cache, uint32_t stream);

#endif
