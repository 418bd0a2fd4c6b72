/*
 * arc: buffers, their states and lists
 *
 * Idea       Buffers of any size, seen once (MRU) or again (MFU), and ghosts of both; each state
 *            apart for data and metadata. In front a cache of dbufs: what was used lately is
 *            referenced and cannot be evicted; the ARC's list gets it when it leaves there.
 * Source     OpenZFS 2.2.0 and 2.1.15, module/zfs/arc.c: arc_access(), arc_change_state(),
 *            arc_evict_state_impl(), arc_freed(); module/zfs/dbuf.c: dbuf_hold_impl(), dbuf_rele(),
 *            dbuf_evict_thread(), dbuf_cache_target_bytes()
 * Differs    1. a list is one, not one per processor; eviction takes no time and nobody waits for it
 *            2. one dbuf cache: the second one (1/64) holds types of metadata that are a pool's, not
 *               a file's or a directory's (DMU_OT_IS_METADATA_CACHED)
 *            3. a dbuf does not keep its parent's, nor a dnode its block: each is as old as its own
 *               last use
 *            4. no L2ARC, no uncached state, no prescient prefetch
 *            5. a buffer that is overwritten keeps its key: its old self (another address on the
 *               device) would be freed and leave no ghost
 * State      32 bytes a buffer or ghost, 4 to 8 of the hash's
 */
#include "cache/arc_private.h"

#include "base/prefetch.h"
#include "base/size.h"

enum {
	/* ARC_MINTIME: hz >> 4, with hz = 1000 */
	PROMOTE_MS = 62,
	/* arc_min_prefetch_ms */
	PREFETCH_YOUNG_MS = 1000,
	/* dbuf_cache_shift, dbuf_cache_lowater_pct */
	DBUF_SHIFT = 5,
	DBUF_LOW_PERCENT = 10,
};

/* ---- the hash ---- */

enum { NEIGHBOURS_BITS = 4 };

/* Keys in a row have buckets in a row: who goes through a file finds 16 in a line of memory. */
static inline uint32_t bucket_of(const struct arc *arc, uint64_t key)
{
	uint64_t group = key >> NEIGHBOURS_BITS;
	uint64_t mixed = (group ^ group >> 32) * 0x9e3779b97f4a7c15u >> 32;

	return (uint32_t)(mixed + (key & ((1 << NEIGHBOURS_BITS) - 1))) & arc->bucket_mask;
}

static inline uint32_t find(const struct arc *arc, uint64_t key)
{
	uint32_t id = arc->buckets[bucket_of(arc, key)];

	while (id && arc->headers.at[id].key != key)
		id = arc->headers.at[id].chain;
	return id;
}

void arc_prefetch(const struct arc *arc, uint64_t key, enum arc_prefetch step)
{
	const struct arc_header *headers = arc->headers.at;
	uint32_t id;

	switch (step) {
	case ARC_PREFETCH_BUCKET:
		prefetch_read(&arc->buckets[bucket_of(arc, key)]);
		break;
	case ARC_PREFETCH_HEADER:
		prefetch_write(&headers[arc->buckets[bucket_of(arc, key)]]);
		break;
	case ARC_PREFETCH_NEIGHBOURS:
		id = find(arc, key);
		prefetch_write(&headers[headers[id].prev]);
		prefetch_write(&headers[headers[id].next]);
		break;
	}
}

static void buckets_grow(struct arc *arc)
{
	uint32_t *old = arc->buckets, old_mask = arc->bucket_mask;

	arc->bucket_mask = old_mask * 2 + 1;
	arc->buckets = memory_alloc((size_t)arc->bucket_mask + 1, sizeof(*arc->buckets));
	memory_use_randomly(arc->buckets, ((size_t)arc->bucket_mask + 1) * sizeof(*arc->buckets));
	for (uint32_t i = 0; i <= old_mask; i++)
		for (uint32_t id = old[i], chain; id; id = chain) {
			uint32_t *bucket = &arc->buckets[bucket_of(arc, arc->headers.at[id].key)];

			chain = arc->headers.at[id].chain;
			arc->headers.at[id].chain = *bucket;
			*bucket = id;
		}
	memory_free(old);
}

static uint32_t header_new(struct arc *arc)
{
	size_t before = arc->headers.capacity;
	uint32_t id = (uint32_t)((void)array_push(&arc->headers), arc->headers.count - 1);

	if (arc->headers.capacity != before)
		memory_use_randomly(arc->headers.at,
				    arc->headers.capacity * sizeof(*arc->headers.at));
	return id;
}

static uint32_t header_add(struct arc *arc, const struct arc_buffer *buffer)
{
	uint32_t id = arc->free_header, *bucket;
	uint32_t logical = buffer->logical_bytes ? buffer->logical_bytes : buffer->bytes;

	assert(buffer->bytes <= ARC_BUFFER_BYTES_MAX && logical <= ARC_BUFFER_BYTES_MAX);
	if (id)
		arc->free_header = arc->headers.at[id].chain;
	else
		id = header_new(arc);
	if (arc->header_count > arc->bucket_mask)
		buckets_grow(arc);
	bucket = &arc->buckets[bucket_of(arc, buffer->key)];
	arc->headers.at[id] = (struct arc_header){
		.key = buffer->key,
		.chain = *bucket,
		.units = (uint16_t)((buffer->bytes + ARC_BUFFER_UNIT_BYTES - 1) /
				    ARC_BUFFER_UNIT_BYTES),
		.logical_units =
			(uint16_t)((logical + ARC_BUFFER_UNIT_BYTES - 1) / ARC_BUFFER_UNIT_BYTES),
		.bits = buffer->type == ARC_METADATA ? ARC_IS_METADATA : 0,
	};
	*bucket = id;
	arc->header_count++;
	return id;
}

static void header_remove(struct arc *arc, uint32_t id)
{
	struct arc_header *header = &arc->headers.at[id];
	uint32_t *link = &arc->buckets[bucket_of(arc, header->key)];

	while (*link != id)
		link = &arc->headers.at[*link].chain;
	*link = header->chain;
	header->chain = arc->free_header;
	arc->free_header = id;
	arc->header_count--;
}

/* ---- lists and sums ---- */

static inline enum arc_type type_of(const struct arc_header *header)
{
	return header->bits & ARC_IS_METADATA ? ARC_METADATA : ARC_DATA;
}

static inline uint64_t physical_bytes(const struct arc_header *header)
{
	return (uint64_t)header->units * ARC_BUFFER_UNIT_BYTES;
}

static inline uint64_t logical_bytes(const struct arc_header *header)
{
	return (uint64_t)header->logical_units * ARC_BUFFER_UNIT_BYTES;
}

/* What is dirty is not compressed yet. */
static inline uint64_t bytes_of(const struct arc_header *header)
{
	return header->state == ARC_ANON ? logical_bytes(header) : physical_bytes(header);
}

static inline void link_newest(struct arc *arc, uint32_t list, uint32_t id)
{
	struct arc_header *at = arc->headers.at;
	uint32_t newest = at[list].next;

	at[id].prev = list;
	at[id].next = newest;
	at[newest].prev = id;
	at[list].next = id;
}

static inline void unlink_from(struct arc *arc, uint32_t id)
{
	struct arc_header *at = arc->headers.at;

	at[at[id].prev].next = at[id].next;
	at[at[id].next].prev = at[id].prev;
}

/* Out of the dbuf cache or its state's list, if in either. */
static void pull(struct arc *arc, uint32_t id)
{
	struct arc_header *header = &arc->headers.at[id];

	if (header->state == ARC_ANON)
		return;
	unlink_from(arc, id);
	if (header->bits & ARC_IS_IN_DBUF) {
		header->bits &= (uint8_t)~ARC_IS_IN_DBUF;
		arc->dbuf_bytes -= logical_bytes(header);
		if (header->logical_units != header->units)
			arc->overhead_bytes[type_of(header)] -= logical_bytes(header);
	} else {
		arc->evictable_bytes[header->state][type_of(header)] -= physical_bytes(header);
	}
}

/* No longer referenced: the newest of its state's list. */
static void push_evictable(struct arc *arc, uint32_t id)
{
	const struct arc_header *header = &arc->headers.at[id];
	enum arc_type type = type_of(header);

	link_newest(arc, arc_list((enum arc_state)header->state, type), id);
	arc->evictable_bytes[header->state][type] += physical_bytes(header);
}

static void push_dbuf(struct arc *arc, uint32_t id)
{
	struct arc_header *header = &arc->headers.at[id];
	uint64_t target = arc->size_target >> DBUF_SHIFT;

	link_newest(arc, ARC_LIST_DBUF, id);
	header->bits |= ARC_IS_IN_DBUF;
	arc->dbuf_bytes += logical_bytes(header);
	if (header->logical_units != header->units)
		arc->overhead_bytes[type_of(header)] += logical_bytes(header);
	if (arc->dbuf_bytes <= target)
		return;
	target -= target * DBUF_LOW_PERCENT / 100;
	while (arc->dbuf_bytes > target) {
		uint32_t oldest = arc->headers.at[ARC_LIST_DBUF].prev;

		prefetch_write(&arc->headers.at[arc->headers.at[oldest].prev]);
		pull(arc, oldest);
		push_evictable(arc, oldest);
	}
}

static void state_leave(struct arc *arc, const struct arc_header *header)
{
	arc->state_bytes[header->state][type_of(header)] -= bytes_of(header);
}

static void state_enter(struct arc *arc, struct arc_header *header, enum arc_state state)
{
	header->state = (uint8_t)state;
	arc->state_bytes[state][type_of(header)] += bytes_of(header);
}

static void state_change(struct arc *arc, struct arc_header *header, enum arc_state state)
{
	state_leave(arc, header);
	state_enter(arc, header, state);
}

/* ---- eviction ---- */

uint64_t arc_evict_from(struct arc *arc, enum arc_state state, enum arc_type type, int64_t bytes)
{
	uint32_t list = arc_list(state, type), id = arc->headers.at[list].prev, newer;
	uint32_t scout = id;
	uint32_t now_ms = (uint32_t)(arc->now_ns / NS_PER_MS);
	uint64_t gone = 0;

	/* Some buffers ahead, so that the next ones are there when their turn comes. */
	for (int i = 0; bytes > 0 && i < 4; i++)
		scout = arc->headers.at[scout].prev;
	for (; bytes > 0 && gone < (uint64_t)bytes && id != list; id = newer) {
		struct arc_header *header = &arc->headers.at[id];

		newer = header->prev;
		scout = arc->headers.at[scout].prev;
		prefetch_write(&arc->headers.at[arc->headers.at[scout].prev]);
		if (state > ARC_MFU)
			prefetch_write(&arc->buckets[bucket_of(arc, arc->headers.at[scout].key)]);
		if (state <= ARC_MFU && header->bits & ARC_IS_PREFETCHED &&
		    now_ms - header->access_ms < PREFETCH_YOUNG_MS)
			continue;
		gone += physical_bytes(header);
		pull(arc, id);
		if (state > ARC_MFU) {
			state_leave(arc, header);
			header_remove(arc, id);
			continue;
		}
		arc->counters.evicted_bytes[type] += physical_bytes(header);
		state_change(arc, header, state == ARC_MRU ? ARC_MRU_GHOST : ARC_MFU_GHOST);
		push_evictable(arc, id);
	}
	return gone;
}

/* ---- use ---- */

/* A resident buffer is used again. */
static void access_resident(struct arc *arc, struct arc_header *header, enum arc_use use,
			    uint32_t now_ms)
{
	bool was_prefetch = header->bits & ARC_IS_PREFETCHED;
	bool is_prefetch = use == ARC_USE_PREFETCH;

	/* Up to 2.1 a prefetch of what somebody used leaves no mark (arc_read()). */
	if (!is_prefetch)
		header->bits &= (uint8_t)~ARC_IS_PREFETCHED;
	else if (arc->rules == ARC_2_2)
		header->bits |= ARC_IS_PREFETCHED;
	if (header->state == ARC_MFU || was_prefetch) {
		header->access_ms = now_ms;
		return;
	}
	if (now_ms - header->access_ms > PROMOTE_MS) {
		header->access_ms = now_ms;
		state_change(arc, header, ARC_MFU);
	}
}

static enum arc_state state_after_ghost(const struct arc *arc, const struct arc_header *header,
					enum arc_use use)
{
	bool was_prefetch = header->bits & ARC_IS_PREFETCHED;

	if (arc->rules == ARC_2_2)
		return header->state == ARC_MRU_GHOST && was_prefetch ? ARC_MRU : ARC_MFU;
	return was_prefetch || use == ARC_USE_PREFETCH ? ARC_MRU : ARC_MFU;
}

static void clock_set(struct arc *arc, uint64_t now_ns)
{
	if (now_ns > arc->now_ns)
		arc->now_ns = now_ns;
	if (arc->now_ns >= arc->reap_ns)
		arc_reap(arc);
}

/* It comes in: what it was as a ghost (or ARC_ANON, none) says how the balance moves. */
static void bring_in(struct arc *arc, uint32_t id, const struct arc_buffer *buffer,
		     enum arc_use use)
{
	struct arc_header *header;
	enum arc_state ghost = ARC_ANON, state = ARC_MRU;

	if (id) {
		header = &arc->headers.at[id];
		ghost = (enum arc_state)header->state;
		state = state_after_ghost(arc, header, use);
		arc->counters.ghost_hits[type_of(header)][ghost == ARC_MFU_GHOST]++;
		arc->ghost_hit_bytes[type_of(header)][ghost == ARC_MFU_GHOST] +=
			physical_bytes(header);
		arc_adapt(arc, physical_bytes(header), ghost);
		pull(arc, id); /* this eviction cannot take it */
		state_leave(arc, header);
		header->state = ARC_ANON;
		arc_make_room(arc);
		/* It may have been rewritten in another size since. */
		header->units = (uint16_t)((buffer->bytes + ARC_BUFFER_UNIT_BYTES - 1) /
					   ARC_BUFFER_UNIT_BYTES);
	} else {
		arc_adapt(arc, buffer->bytes, ARC_ANON);
		arc_make_room(arc);
		id = header_add(arc, buffer);
		header = &arc->headers.at[id];
	}
	state_enter(arc, header, state);
	header->access_ms = (uint32_t)(arc->now_ns / NS_PER_MS);
	if (use == ARC_USE_PREFETCH) {
		header->bits |= ARC_IS_PREFETCHED;
		push_evictable(arc, id);
	} else {
		header->bits &= (uint8_t)~ARC_IS_PREFETCHED;
		push_dbuf(arc, id);
	}
}

bool arc_use_buffer(struct arc *arc, const struct arc_buffer *buffer, enum arc_use use,
		    uint64_t now_ns)
{
	uint32_t id = find(arc, buffer->key);
	struct arc_header *header = &arc->headers.at[id];

	clock_set(arc, now_ns);
	if (!id || header->state > ARC_MFU) {
		arc->counters.misses[buffer->type][use]++;
		bring_in(arc, id, buffer, use);
		arc_charge(arc);
		return false;
	}
	/* Dirty: the dbuf has it, and the ARC does not hear of the use (arc_buf_access()). */
	if (header->state == ARC_ANON) {
		arc->counters.dbuf_hits++;
		return true;
	}
	arc->counters.dbuf_hits += (header->bits & ARC_IS_IN_DBUF) != 0;
	arc->counters.hits[type_of(header)][use]++;
	pull(arc, id);
	access_resident(arc, header, use, (uint32_t)(arc->now_ns / NS_PER_MS));
	if (use == ARC_USE_PREFETCH)
		push_evictable(arc, id);
	else
		push_dbuf(arc, id);
	return true;
}

bool arc_use(struct arc *arc, uint64_t key, uint32_t bytes, enum arc_type type, enum arc_use use,
	     uint64_t now_ns)
{
	struct arc_buffer buffer = {.key = key, .bytes = bytes, .type = type};

	return arc_use_buffer(arc, &buffer, use, now_ns);
}

bool arc_has(const struct arc *arc, uint64_t key)
{
	uint32_t id = find(arc, key);

	return id && arc->headers.at[id].state <= ARC_MFU;
}

bool arc_is_held(const struct arc *arc, uint64_t key)
{
	uint32_t id = find(arc, key);

	return id &&
	       (arc->headers.at[id].state == ARC_ANON || arc->headers.at[id].bits & ARC_IS_IN_DBUF);
}

/* ---- dirty buffers ---- */

void arc_make_buffer(struct arc *arc, const struct arc_buffer *buffer, uint64_t now_ns)
{
	uint32_t id = find(arc, buffer->key);

	clock_set(arc, now_ns);
	if (id && arc->headers.at[id].state == ARC_ANON)
		return;
	if (id) /* what was there before is of no use: a ghost is no hit */
		arc_forget(arc, buffer->key);
	arc_adapt(arc, buffer->bytes, ARC_ANON);
	arc_make_room(arc);
	id = header_add(arc, buffer);
	state_enter(arc, &arc->headers.at[id], ARC_ANON);
	arc_charge(arc);
}

void arc_make(struct arc *arc, uint64_t key, uint32_t bytes, enum arc_type type, uint64_t now_ns)
{
	struct arc_buffer buffer = {.key = key, .bytes = bytes, .type = type};

	arc_make_buffer(arc, &buffer, now_ns);
}

/* arc_release(): it is nobody's block any more until it is written. */
void arc_dirty(struct arc *arc, uint64_t key)
{
	uint32_t id = find(arc, key);
	struct arc_header *header = &arc->headers.at[id];

	assert(id && header->state <= ARC_MFU);
	if (header->state == ARC_ANON)
		return;
	pull(arc, id);
	state_change(arc, header, ARC_ANON);
	arc_charge(arc);
}

bool arc_is_dirty(const struct arc *arc, uint64_t key)
{
	uint32_t id = find(arc, key);

	return id && arc->headers.at[id].state == ARC_ANON;
}

/* arc_write_done(): it has a place, and is in the cache as something seen once. */
void arc_clean_as(struct arc *arc, uint64_t key, uint32_t bytes)
{
	uint32_t id = find(arc, key);
	struct arc_header *header = &arc->headers.at[id];

	assert(id && header->state == ARC_ANON && bytes <= ARC_BUFFER_BYTES_MAX);
	state_leave(arc, header);
	if (header->units == header->logical_units)
		header->logical_units = header->units;
	header->units = (uint16_t)((bytes + ARC_BUFFER_UNIT_BYTES - 1) / ARC_BUFFER_UNIT_BYTES);
	header->access_ms = (uint32_t)(arc->now_ns / NS_PER_MS);
	state_enter(arc, header, ARC_MRU);
	push_dbuf(arc, id);
	arc_charge(arc);
}

void arc_clean(struct arc *arc, uint64_t key)
{
	uint32_t id = find(arc, key);

	arc_clean_as(arc, key, (uint32_t)physical_bytes(&arc->headers.at[id]));
}

void arc_forget(struct arc *arc, uint64_t key)
{
	uint32_t id = find(arc, key);

	if (!id)
		return;
	pull(arc, id);
	state_leave(arc, &arc->headers.at[id]);
	header_remove(arc, id);
	arc_charge(arc);
}

/* ---- life, counters, invariants ---- */

struct arc *arc_create(struct cache *cache, const struct arc_config *config)
{
	struct arc *arc = memory_alloc(1, sizeof(*arc));

	*arc = (struct arc){.cache = cache, .rules = config->rules, .bucket_mask = 1023};
	arc->buckets = memory_alloc(arc->bucket_mask + 1, sizeof(*arc->buckets));
	for (uint32_t list = 0; list < ARC_LISTS; list++) {
		(void)array_push(&arc->headers);
		arc->headers.at[list].prev = arc->headers.at[list].next = list;
	}
	arc_balance_init(arc, config);
	return arc;
}

void arc_counters(const struct arc *arc, struct arc_counters *counters)
{
	*counters = arc->counters;
	counters->size_bytes = arc_size_bytes(arc);
	counters->target_bytes = arc->size_target;
	counters->target_max_bytes = arc->size_max;
	counters->mru_target_bytes = arc->mru_target;
	/* Just below 1 where it is 1. */
#define FRACTION(value) (uint32_t)((value) > UINT32_MAX ? UINT32_MAX : (value))
	counters->meta_fraction = FRACTION(arc->meta);
	counters->data_mru_fraction = FRACTION(arc->data_mru);
	counters->metadata_mru_fraction = FRACTION(arc->metadata_mru);
#undef FRACTION
	for (int type = 0; type < 2; type++)
		for (int mfu = 0; mfu < 2; mfu++)
			counters->resident_bytes[type][mfu] =
				arc->state_bytes[mfu ? ARC_MFU : ARC_MRU][type];
	counters->dirty_bytes =
		arc->state_bytes[ARC_ANON][ARC_DATA] + arc->state_bytes[ARC_ANON][ARC_METADATA];
}

uint64_t arc_memory_bytes(const struct arc *arc)
{
	return sizeof(*arc) + arc->headers.capacity * sizeof(struct arc_header) +
	       ((uint64_t)arc->bucket_mask + 1) * sizeof(*arc->buckets);
}

void arc_check(const struct arc *arc)
{
	uint64_t state_bytes[ARC_STATES][2] = {0}, evictable[ARC_STATES][2] = {0},
		 overhead[2] = {0};
	uint64_t count = 0, dbuf = 0;

	for (uint32_t i = 0; i <= arc->bucket_mask; i++)
		for (uint32_t id = arc->buckets[i]; id; id = arc->headers.at[id].chain) {
			const struct arc_header *header = &arc->headers.at[id];

			assert(bucket_of(arc, header->key) == i && find(arc, header->key) == id);
			assert(header->state < ARC_STATES);
			assert(!(header->bits & ARC_IS_IN_DBUF) || header->state == ARC_MRU ||
			       header->state == ARC_MFU);
			state_bytes[header->state][type_of(header)] += bytes_of(header);
			count++;
		}
	for (uint32_t list = 0; list < ARC_LISTS; list++)
		for (uint32_t id = arc->headers.at[list].next; id != list;
		     id = arc->headers.at[id].next) {
			const struct arc_header *header = &arc->headers.at[id];
			enum arc_type type = type_of(header);

			assert(arc->headers.at[header->next].prev == id);
			assert(arc->headers.at[header->prev].next == id);
			assert((list == ARC_LIST_DBUF) == !!(header->bits & ARC_IS_IN_DBUF));
			if (list != ARC_LIST_DBUF) {
				assert(arc_list((enum arc_state)header->state, type) == list);
				evictable[header->state][type] += physical_bytes(header);
				continue;
			}
			dbuf += logical_bytes(header);
			if (header->logical_units != header->units)
				overhead[type] += logical_bytes(header);
		}
	assert(count == arc->header_count && dbuf == arc->dbuf_bytes);
	for (int type = 0; type < 2; type++) {
		assert(overhead[type] == arc->overhead_bytes[type]);
		for (int state = 0; state < ARC_STATES; state++) {
			assert(state_bytes[state][type] == arc->state_bytes[state][type]);
			assert(evictable[state][type] == arc->evictable_bytes[state][type]);
		}
	}
	assert(arc->size_target >= arc->size_min && arc->size_target <= arc->size_max);
	assert(arc->mru_target <= arc->size_max);
	assert(arc->meta <= UINT64_C(1) << 32 && arc->data_mru <= UINT64_C(1) << 32 &&
	       arc->metadata_mru <= UINT64_C(1) << 32);
}
