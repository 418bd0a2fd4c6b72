/*
 * agenda: what falls due when, the earliest first
 *
 * A list in order, the earliest last: the next is taken off the end, and what falls due soon is put
 * in near it. What falls due at the same time comes out in the order in which it was put in.
 *
 * Not a heap: an agenda is short, as what a device or a set of processors has in hand, and then this
 * takes a third of the instructions. Slow when thousands are on it: so many entries may have to move
 * for one that is put in.
 */
#ifndef REFAULT_MACHINE_MODEL_AGENDA_H
#define REFAULT_MACHINE_MODEL_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct agenda_entry {
	uint64_t ns;
	uint32_t what, id; /* the owner's */
};

struct agenda {
	ARRAY(struct agenda_entry) at;
};

/* UINT64_MAX: nothing. */
static inline uint64_t agenda_next_ns(const struct agenda *agenda)
{
	return agenda->at.count ? agenda->at.at[agenda->at.count - 1].ns : UINT64_MAX;
}

static inline void agenda_add(struct agenda *agenda, uint64_t ns, uint32_t what, uint32_t id)
{
	size_t at = agenda->at.count;

	(void)array_push(&agenda->at);
	for (; at > 0 && agenda->at.at[at - 1].ns <= ns; at--)
		agenda->at.at[at] = agenda->at.at[at - 1];
	agenda->at.at[at] = (struct agenda_entry){.ns = ns, .what = what, .id = id};
}

/* There must be one. */
static inline struct agenda_entry agenda_take(struct agenda *agenda)
{
	return agenda->at.at[--agenda->at.count];
}

static inline void agenda_deinit(struct agenda *agenda)
{
	array_deinit(&agenda->at);
}

#endif
