/*
 * future: when each request's page is asked for again
 *
 * What no cache can know, and Belady's policy must (policy/opt.c). All requests are added in order;
 * then each of them has a next use. One future serves caches of any number of sizes, and any number
 * of threads, since they only read it.
 *
 * Cost: 8 bytes a request, and while it is settled 4 to 8 bytes more for each page there is: 16
 * bytes a request at most, when no page is asked for twice.
 */
#ifndef REFAULT_CACHE_FUTURE_H
#define REFAULT_CACHE_FUTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most requests that there can be: positions are 32 bits. */
#define FUTURE_REQUESTS_MAX (UINT64_C(0xffffffff) - 1)
#define FUTURE_NEVER        UINT32_MAX

enum { FUTURE_REQUEST_BYTES = 16 };

struct future; /* opaque */

/* Free with future_destroy(). */
struct future *future_create(void);
void future_destroy(struct future *future);

/* More requests, FUTURE_REQUESTS_MAX in all. */
void future_add(struct future *future, const uint64_t *keys, size_t count);

/* No more are added: now future_next() may be asked. */
void future_settle(struct future *future);

uint64_t future_count(const struct future *future);
uint64_t future_distinct(const struct future *future); /* pages; once settled */

/* The position (from 0) at which the page of the request at `position` is asked for next. */
uint32_t future_next(const struct future *future, uint64_t position);

#endif
