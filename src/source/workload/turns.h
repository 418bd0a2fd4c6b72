/*
 * turns: which of a workload's threads goes next
 *
 * Those that are ready, or will be at a known moment, are in a list, the earliest last, ties by
 * number: so everything happens in the order of time whatever a machine answers first. Whoever is
 * woken goes next as a rule, and so is put in and taken off at the list's end. 17 bytes a thread.
 */
#ifndef REFAULT_SOURCE_WORKLOAD_TURNS_H
#define REFAULT_SOURCE_WORKLOAD_TURNS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct turn_ready {
	uint64_t ns;
	uint32_t thread;
};

struct turns {
	struct turn_ready *ready; /* in order, the earliest last */
	uint32_t count;
	bool *is_ready; /* by thread: it is in `ready`; else it waits for somebody */
};

void turns_init(struct turns *turns, uint32_t threads);
void turns_deinit(struct turns *turns);

/* The thread is ready at `ns`, whatever was said of it before. */
void turns_wake(struct turns *turns, uint32_t thread, uint64_t ns);

/* When the next thread is ready; UINT64_MAX: all wait. */
static inline uint64_t turns_next_ns(const struct turns *turns)
{
	return turns->count ? turns->ready[turns->count - 1].ns : UINT64_MAX;
}

/* Take the next one out; there must be one. */
static inline uint32_t turns_take(struct turns *turns)
{
	uint32_t thread;

	assert(turns->count > 0);
	thread = turns->ready[--turns->count].thread;
	turns->is_ready[thread] = false;
	return thread;
}

#endif
