/*
 * arc_private: the ARC's state, for its own two files
 *
 * arc.c keeps the buffers and their lists, arc_balance.c holds the rules of how much of what stays.
 *
 *     resident     ANON (dirty), MRU, MFU         ghosts     MRU_GHOST, MFU_GHOST
 *
 * A clean resident buffer is either in the dbuf cache (used lately, so referenced, so not
 * evictable) or on the list of its state and type: one pair of links serves for both.
 *
 *     evictable_bytes[state][type] = what is on the list; state_bytes = that and what is referenced
 */
#ifndef REFAULT_CACHE_ARC_PRIVATE_H
#define REFAULT_CACHE_ARC_PRIVATE_H

#include <assert.h>

#include "base/array.h"
#include "cache/arc.h"

enum arc_state { ARC_ANON, ARC_MRU, ARC_MFU, ARC_MRU_GHOST, ARC_MFU_GHOST, ARC_STATES };

enum { ARC_IS_METADATA = 1, ARC_IS_PREFETCHED = 2, ARC_IS_IN_DBUF = 4 };

struct arc_header {
	uint64_t key;
	uint32_t prev, next;           /* towards the newest, the oldest */
	uint32_t chain;                /* of the same bucket */
	uint32_t access_ms;            /* since the start, modulo 2^32 */
	uint16_t units, logical_units; /* of ARC_BUFFER_UNIT_BYTES */
	uint8_t state, bits;
};
static_assert(sizeof(struct arc_header) == 32, "and 4 to 8 bytes of the buckets");

/* The lists' heads are the first headers. */
enum { ARC_LIST_DBUF = 0, ARC_LISTS = 1 + 4 * 2 };

static inline uint32_t arc_list(enum arc_state state, enum arc_type type)
{
	return 1 + (uint32_t)(state - ARC_MRU) * 2 + (uint32_t)type;
}

struct arc {
	struct cache *cache;
	enum arc_rules rules;
	bool is_charged; /* its size counts in a whole machine's memory */
	ARRAY(struct arc_header) headers;
	uint32_t free_header; /* chained by `chain` */
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint64_t header_count; /* in use */
	uint64_t now_ns;

	uint64_t state_bytes[ARC_STATES][2], evictable_bytes[ARC_STATES][2];
	uint64_t dbuf_bytes;        /* logical */
	uint64_t overhead_bytes[2]; /* the uncompressed copies of what is in the dbuf cache */
	uint64_t size_target, size_max, size_min; /* c, c_max, c_min */
	uint64_t charged_pages;

	/* classic */
	uint64_t mru_target, meta_limit, meta_min, dnode_limit;
	/* 2.2: fractions of 2^32, and ghost hits and sizes since the pass before */
	uint64_t meta, data_mru, metadata_mru;
	uint64_t ghost_hit_bytes[2][2], ghost_size[2][2]; /* [type][0 MRU, 1 MFU] */

	/* memory of the machine */
	uint64_t memory_bytes, free_wanted_bytes; /* arc_sys_free */
	uint64_t grow_ns, reap_ns;
	bool no_growth;

	struct arc_counters counters;
};

/* ---- arc.c ---- */

/* The oldest of a list until `bytes` are gone: residents become ghosts, ghosts go. How many went. */
uint64_t arc_evict_from(struct arc *arc, enum arc_state state, enum arc_type type, int64_t bytes);

static inline uint64_t arc_resident_bytes(const struct arc *arc, enum arc_type type)
{
	return arc->state_bytes[ARC_ANON][type] + arc->state_bytes[ARC_MRU][type] +
	       arc->state_bytes[ARC_MFU][type];
}

/* ---- arc_balance.c ---- */

void arc_balance_init(struct arc *arc, const struct arc_config *config);
/* Room for `bytes` more is wanted; `ghost`: that of a ghost of this state (ARC_ANON: of none). */
void arc_adapt(struct arc *arc, uint64_t bytes, enum arc_state ghost);
/* Evict if it is too large. */
void arc_make_room(struct arc *arc);
/* Once a second: what the machine's memory says. */
void arc_reap(struct arc *arc);
/* The size has changed: the domain's usage follows, and may reclaim. */
void arc_charge(struct arc *arc);

#endif
