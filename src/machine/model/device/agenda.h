/*
 * agenda: what falls due when, the earliest first
 *
 * A binary heap. What falls due at the same time comes out in the order in which it was put in.
 */
#ifndef REFAULT_MACHINE_MODEL_DEVICE_AGENDA_H
#define REFAULT_MACHINE_MODEL_DEVICE_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct agenda_entry {
	uint64_t ns;
	uint64_t order;
	uint32_t what, id; /* the owner's */
};

struct agenda {
	ARRAY(struct agenda_entry) at;
	uint64_t order;
};

static inline bool agenda_is_before(const struct agenda_entry *a, const struct agenda_entry *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->order < b->order);
}

/* UINT64_MAX: nothing. */
static inline uint64_t agenda_next_ns(const struct agenda *agenda)
{
	return agenda->at.count ? agenda->at.at[0].ns : UINT64_MAX;
}

static inline void agenda_add(struct agenda *agenda, uint64_t ns, uint32_t what, uint32_t id)
{
	struct agenda_entry entry = {.ns = ns, .order = agenda->order++, .what = what, .id = id};
	size_t at = agenda->at.count;

	(void)array_push(&agenda->at);
	while (at && agenda_is_before(&entry, &agenda->at.at[(at - 1) / 2])) {
		agenda->at.at[at] = agenda->at.at[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	agenda->at.at[at] = entry;
}

/* There must be one. */
static inline struct agenda_entry agenda_take(struct agenda *agenda)
{
	struct agenda_entry *heap = agenda->at.at, first = heap[0];
	size_t count = --agenda->at.count, at = 0;
	struct agenda_entry last = heap[count];

	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && agenda_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!agenda_is_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
	return first;
}

static inline void agenda_deinit(struct agenda *agenda)
{
	array_deinit(&agenda->at);
}

#endif
