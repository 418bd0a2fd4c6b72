#include "record/queue.h"

#include <stdbool.h>
#include <string.h>

static bool is_before(const struct queue_entry *a, const struct queue_entry *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void swap(struct queue *queue, size_t a, size_t b)
{
	struct queue_entry kept = queue->heap.at[a];

	queue->heap.at[a] = queue->heap.at[b];
	queue->heap.at[b] = kept;
}

void queue_put(struct queue *queue, const struct record_event *event)
{
	struct record_event *copy = memory_resize(NULL, event->bytes, 1);
	size_t at = queue->heap.count;

	memcpy(copy, event, event->bytes);
	*array_push(&queue->heap) = (struct queue_entry){event->time_ns, queue->order++, copy};
	while (at > 0 && is_before(&queue->heap.at[at], &queue->heap.at[(at - 1) / 2])) {
		swap(queue, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void sink(struct queue *queue)
{
	size_t at = 0, count = queue->heap.count;

	for (;;) {
		size_t first = 2 * at + 1;

		if (first >= count)
			return;
		if (first + 1 < count &&
		    is_before(&queue->heap.at[first + 1], &queue->heap.at[first]))
			first++;
		if (!is_before(&queue->heap.at[first], &queue->heap.at[at]))
			return;
		swap(queue, at, first);
		at = first;
	}
}

struct record_event *queue_take(struct queue *queue, uint64_t now_ns)
{
	struct record_event *event;

	if (queue->heap.count == 0)
		return NULL;
	if (queue->heap.at[0].time_ns + queue->window_ns > now_ns &&
	    queue->heap.count <= queue->count_max)
		return NULL;
	event = queue->heap.at[0].event;
	queue->heap.at[0] = queue->heap.at[--queue->heap.count];
	sink(queue);
	return event;
}

void queue_deinit(struct queue *queue)
{
	for (size_t i = 0; i < queue->heap.count; i++)
		memory_free(queue->heap.at[i].event);
	array_deinit(&queue->heap);
}
