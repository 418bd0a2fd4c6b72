/*
 * slab: what slabinfo and slabtop say of a cache of kernel objects, in one form
 */
#ifndef REFAULT_STATE_SLAB_H
#define REFAULT_STATE_SLAB_H

#include "state/state.h"

/* The values of an entry. */
enum slab_value {
	SLAB_ACTIVE, /* objects in use; SLUB: of full and of partial slabs, and all of per-CPU ones */
	SLAB_OBJECTS, /* that there is room for */
	SLAB_SIZE,    /* bytes an object; slabtop: from a rounded KiB */
	SLAB_PER_SLAB,
	SLAB_PAGES, /* a slab; slabtop: 0, it does not say */
	SLAB_SLABS,
	SLAB_BYTES, /* slabtop: of the whole cache; slabinfo: 0 */
	SLAB_VALUES,
};

/* Of all slabs of a cache: slabs * pages a slab * page size, or what slabtop says. */
uint64_t slab_bytes(const struct state *state, const struct entry *entry);

/* slabinfo, or slabtop, whichever there is; NULL: neither. */
const struct dump *slab_dump(const struct state *state);

/* Caches with the most bytes first, at most `count`; returns how many. */
size_t slab_largest(const struct state *state, const struct entry **caches, size_t count);

#endif
