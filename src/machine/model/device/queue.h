/*
 * queue: who waits for the device, and who goes next
 *
 * First come, first served, but what somebody waits for goes before what nobody waits for, as the
 * block layer has it (reads and synchronous writes before asynchronous ones). Not for ever: once 32
 * requests have passed those in the background, 16 of those go.
 *
 * Source: Linux 6.12 block/mq-deadline.c: writes_starved (2 batches of reads may pass a write),
 * fifo_batch (16 requests are a batch). The deadlines themselves (500 ms, 5 s) are not kept: by then
 * the batches have brought everybody's turn.
 */
#ifndef REFAULT_MACHINE_MODEL_DEVICE_QUEUE_H
#define REFAULT_MACHINE_MODEL_DEVICE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum { QUEUE_BATCH = 16, QUEUE_STARVED = 2 };

/* First in, first out. */
struct ring {
	uint32_t *at;
	size_t head, count, capacity; /* the capacity is a power of 2, or 0 */
};

static inline void ring_push(struct ring *ring, uint32_t id)
{
	if (ring->count == ring->capacity) {
		size_t capacity = ring->capacity ? 2 * ring->capacity : 64;
		uint32_t *at = memory_alloc(capacity, sizeof(*at));

		for (size_t i = 0; i < ring->count; i++)
			at[i] = ring->at[(ring->head + i) & (ring->capacity - 1)];
		memory_free(ring->at);
		*ring = (struct ring){.at = at, .count = ring->count, .capacity = capacity};
	}
	ring->at[(ring->head + ring->count++) & (ring->capacity - 1)] = id;
}

static inline uint32_t ring_at(const struct ring *ring, size_t index)
{
	return ring->at[(ring->head + index) & (ring->capacity - 1)];
}

static inline uint32_t ring_pop(struct ring *ring)
{
	uint32_t id = ring_at(ring, 0);

	ring->head = (ring->head + 1) & (ring->capacity - 1);
	ring->count--;
	return id;
}

/* Take out the one at `index`; the others keep their order. */
static inline uint32_t ring_remove(struct ring *ring, size_t index)
{
	uint32_t id = ring_at(ring, index);

	for (; index; index--)
		ring->at[(ring->head + index) & (ring->capacity - 1)] = ring_at(ring, index - 1);
	(void)ring_pop(ring);
	return id;
}

struct queue {
	struct ring waited_for, background;
	uint32_t passed; /* how many have passed those in the background */
	uint32_t turn;   /* how many of those in the background are still to go first */
};

static inline bool queue_is_empty(const struct queue *queue)
{
	return !queue->waited_for.count && !queue->background.count;
}

static inline void queue_push(struct queue *queue, uint32_t id, bool is_background)
{
	ring_push(is_background ? &queue->background : &queue->waited_for, id);
}

/* Whose turn it is; not of an empty queue. */
static inline struct ring *queue_turn(struct queue *queue)
{
	bool background = !queue->waited_for.count || (queue->background.count && queue->turn);

	return background ? &queue->background : &queue->waited_for;
}

/* One of `ring`, whose turn it was, goes. */
static inline void queue_went(struct queue *queue, const struct ring *ring)
{
	if (ring == &queue->background) {
		queue->turn -= queue->turn > 0;
	} else if (queue->background.count) {
		if (++queue->passed >= QUEUE_BATCH * QUEUE_STARVED) {
			queue->passed = 0;
			queue->turn = QUEUE_BATCH;
		}
	} else {
		queue->passed = queue->turn = 0;
	}
}

static inline uint32_t queue_peek(struct queue *queue)
{
	return ring_at(queue_turn(queue), 0);
}

static inline uint32_t queue_pop(struct queue *queue)
{
	struct ring *ring = queue_turn(queue);

	queue_went(queue, ring);
	return ring_pop(ring);
}

static inline void queue_deinit(struct queue *queue)
{
	memory_free(queue->waited_for.at);
	memory_free(queue->background.at);
	*queue = (struct queue){0};
}

#endif
