/*
 * queue: events in the order in which they began
 *
 * The ring has them in the order in which they ended; a read that waited for the device comes behind
 * those that did not. Each is held back until `window_ns` have passed since it began, or until too many
 * wait, and then handed on, the earliest first; equals in the order of the ring. One that took longer
 * than the window comes late, and its user sees to it that time does not go back.
 */
#ifndef REFAULT_RECORD_QUEUE_H
#define REFAULT_RECORD_QUEUE_H

#include "base/array.h"
#include "record/event.h"

struct queue_entry {
	uint64_t time_ns, order;
	struct record_event *event; /* a copy */
};

struct queue {
	ARRAY(struct queue_entry) heap;
	uint64_t order;
	uint64_t window_ns;
	size_t count_max;
};

void queue_put(struct queue *queue, const struct record_event *event);

/* The next one that is due at `now_ns`, to be freed with memory_free(); NULL: none. */
struct record_event *queue_take(struct queue *queue, uint64_t now_ns);

void queue_deinit(struct queue *queue);

#endif
