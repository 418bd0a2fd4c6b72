/*
 * turns: which of a workload's threads goes next
 *
 * A heap of threads by the moment from which each is ready, ties by number, so that everything
 * happens in the order of time whatever a machine answers first. 16 bytes a thread.
 */
#ifndef REFAULT_SOURCE_WORKLOAD_TURNS_H
#define REFAULT_SOURCE_WORKLOAD_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns {
	uint32_t *heap; /* threads, the next one first */
	uint32_t count;
	uint32_t *place; /* by thread: where in `heap`, + 1; 0: it waits for somebody */
	uint64_t *ready_ns;
};

void turns_init(struct turns *turns, uint32_t threads);
void turns_deinit(struct turns *turns);

/* The thread is ready at `ns`, whatever was said of it before. */
void turns_wake(struct turns *turns, uint32_t thread, uint64_t ns);

/* When the next thread is ready; UINT64_MAX: all wait. */
uint64_t turns_next_ns(const struct turns *turns);

/* Take the next one out; there must be one. */
uint32_t turns_take(struct turns *turns);

#endif
