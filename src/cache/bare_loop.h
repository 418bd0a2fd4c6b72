/*
 * bare_loop: the plain cache's hot loop, for policies to instantiate
 *
 * One source, made direct by the compiler: a policy's file calls bare_run_with() with its own
 * constant table, and gcc and clang inline the calls. A batch of keys is hashed first and
 * everything it will touch prefetched (index line, then page record, then the neighbours that a
 * list move writes to), since a random access is two or three cache misses and little else.
 */
#ifndef REFAULT_CACHE_BARE_LOOP_H
#define REFAULT_CACHE_BARE_LOOP_H

#include <string.h>

#include "base/prefetch.h"
#include "cache/bare.h"

enum { BARE_LINE_ENTRIES = 15, BARE_BATCH = 32 };

struct bare_line {
	uint32_t entry[BARE_LINE_ENTRIES]; /* tag | slot; the first `count` are in use */
	uint8_t count;
	/* the farthest line after this one that ever held a key of it; 0 once none is left */
	uint8_t reach;
	uint16_t spilled; /* keys of this line that live in a later one */
};
static_assert(sizeof(struct bare_line) == 64, "one cache line");

struct bare {
	const struct policy *policy;
	struct page_queue queue;
	uint32_t options[POLICY_OPTIONS_MAX];
	struct bare_line *lines;
	void *lines_memory;
	uint32_t line_count;
	uint32_t slot_mask; /* the bits of an entry that are a slot; the others are a tag */
	uint32_t slot_max;
	uint64_t evictions;
};

static inline uint64_t bare_hash(uint64_t key)
{
	/*
	 * Multiply, fold, multiply (after splitmix64): the high bits choose the line, the low ones
	 * are the tag.
	 */
	uint64_t mixed = (key ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	return (mixed ^ mixed >> 32) * 0x94d049bb133111ebu;
}

static inline uint32_t bare_line_of(const struct bare *bare, uint64_t hash)
{
	return (uint32_t)(((hash >> 32) * bare->line_count) >> 32);
}

/* The slot in this line that holds `key`, or 0. */
static inline uint32_t bare_find_in(const struct bare *bare, const struct bare_line *line,
				    uint64_t key, uint32_t tag)
{
	uint32_t mask = bare->slot_mask;

	for (uint32_t i = 0; i < line->count; i++) {
		uint32_t entry = line->entry[i];

		if (((entry ^ tag) & ~mask) == 0 && bare->queue.pages[entry & mask].key == key)
			return entry & mask;
	}
	return 0;
}

/*
 * A line is two of these. Where the processor has 32-byte registers, a clone of the loop uses them.
 * Which clone it is, is asked of the processor before a sanitizer has set itself up: none there.
 */
typedef uint32_t bare_vector __attribute__((vector_size(32)));

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                \
	!defined(__SANITIZE_THREAD__)
#define BARE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define BARE_CLONES
#endif

/*
 * The slot in the key's own line whose tag fits, if just one does: all entries are compared at
 * once, and those that fit are OR-ed together. Nonsense if two fit, 0 if none; the key tells.
 */
static inline uint32_t bare_guess(const struct bare *bare, const struct bare_line *at,
				  uint64_t hash)
{
	const bare_vector *line = (const bare_vector *)(const void *)at;
	typedef uint64_t quad __attribute__((vector_size(32)));
	uint32_t mask = bare->slot_mask, tag = (uint32_t)hash & ~mask;
	bare_vector tags = tag - (bare_vector){0}, high = ~mask - (bare_vector){0};
	bare_vector fits = line[1] & (bare_vector)((line[1] & high) == tags);
	quad quarters;

	fits &= (bare_vector){-1u, -1u, -1u, -1u, -1u, -1u, -1u, 0}; /* not the counts */
	fits |= line[0] & (bare_vector)((line[0] & high) == tags);
	quarters = (quad)fits;
	quarters[0] |= quarters[1] | quarters[2] | quarters[3];
	return (uint32_t)(quarters[0] | quarters[0] >> 32) & mask;
}

/* The slot that holds `key`, or 0: exact. */
static inline uint32_t bare_find(const struct bare *bare, uint64_t key, uint64_t hash)
{
	uint32_t tag = (uint32_t)hash & ~bare->slot_mask;
	uint32_t at = bare_line_of(bare, hash), reach = bare->lines[at].reach;
	uint32_t slot = bare_guess(bare, &bare->lines[at], hash);

	/*
	 * No tag fits here, and nothing of this line lies elsewhere: it is not in the cache. Most
	 * misses end so.
	 */
	if (__builtin_expect(slot == 0 && reach == 0, 1))
		return 0;
	slot = bare_find_in(bare, &bare->lines[at], key, tag);
	for (; slot == 0 && reach > 0; reach--) {
		at = at + 1 == bare->line_count ? 0 : at + 1;
		slot = bare_find_in(bare, &bare->lines[at], key, tag);
	}
	return slot;
}

/* Index bookkeeping for a miss; out of line, but cheap: bare.c. */
void bare_index_insert(struct bare *bare, uint64_t hash, uint32_t slot);
void bare_index_remove(struct bare *bare, uint64_t key, uint32_t slot);

/* ---- records ---- */

static inline void bare_free(struct bare *bare, struct page_queue *queue, uint32_t slot)
{
	struct page *page = &queue->pages[slot];

	bare_index_remove(bare, page->key, slot);
	page->next = queue->free_slot;
	queue->free_slot = slot;
	queue->free_count++;
}

static inline uint32_t bare_take(struct bare *bare, struct page_queue *queue)
{
	uint32_t slot = queue->free_slot;

	if (!slot) {
		assert(queue->slots <= bare->slot_max);
		return queue->slots++;
	}
	queue->free_slot = queue->pages[slot].next;
	if (--queue->free_count < queue->free_low)
		queue->free_low = queue->free_count;
	return slot;
}

/* ---- for policies: what is the engine's to do ---- */

/* In the full model: order.c. */
void cache_ghost_drop(struct cache *cache, uint32_t slot);
uint64_t cache_page_hash(const struct cache *cache, uint32_t slot);

/* This ghost, which is in no list any more, is forgotten. */
static inline void queue_drop(struct page_queue *queue, uint32_t slot)
{
	queue->ghosts--;
	if (queue->cache)
		cache_ghost_drop(queue->cache, slot);
	else
		bare_free(queue->bare, queue, slot);
}

/* A hash of which page this is, of which file: the same whenever it comes back. */
static inline uint64_t queue_hash(const struct page_queue *queue, uint32_t slot)
{
	return queue->cache ? cache_page_hash(queue->cache, slot)
			    : bare_hash(queue->pages[slot].key);
}

/* A policy's own bytes of this slot. */
#define QUEUE_OWN(queue, type, slot) ((type *)(void *)(queue)->own + (slot))

/* For a policy whose uses move records from the middle of a long list. */
static inline void queue_prefetch_neighbours(const struct page_queue *queue, uint32_t slot)
{
	prefetch_write(&queue->pages[queue->pages[slot].prev]);
	prefetch_write(&queue->pages[queue->pages[slot].next]);
}

/*
 * `slot` goes from the old end of its list: the next one will before long. Its line of the index is
 * asked for, and the record of the one after it. Returns the next one's hash.
 */
static inline uint64_t queue_prefetch_next(const struct page_queue *queue, uint32_t slot)
{
	const struct page *pages = queue->pages;
	uint32_t next = pages[slot].prev;
	uint64_t hash;

	prefetch_write(&pages[pages[next].prev]);
	if (queue->cache)
		return 0;
	hash = bare_hash(pages[next].key);
	prefetch_write(&queue->bare->lines[bare_line_of(queue->bare, hash)]);
	return hash;
}

/* ---- the loop ---- */

POLICY_INLINE void bare_make_room(struct bare *bare, const struct policy *policy,
				  struct page_queue *queue)
{
	while (queue->resident >= queue->capacity) {
		uint32_t slot = policy->victim(queue);

		bare->evictions++;
		if (!policy_evict(policy, queue, slot))
			bare_free(bare, queue, slot);
	}
}

/* A key was looked up: `slot` is its record, page or ghost, or 0. Returns 1 if it missed. */
POLICY_INLINE uint32_t bare_one(struct bare *bare, const struct policy *policy,
				struct page_queue *queue, uint32_t slot, uint64_t key,
				uint64_t hash)
{
	if (__builtin_expect(slot != 0, 1)) {
		if (!policy->is_ghost || !policy->is_ghost(queue, slot)) {
			policy->use(queue, slot);
			return 0;
		}
		queue->ghosts--;
		policy->back(queue, slot);
		bare_make_room(bare, policy, queue);
		policy_enter(policy, queue, slot, true);
		return 1;
	}
	if (policy->miss)
		policy->miss(queue);
	bare_make_room(bare, policy, queue);
	slot = bare_take(bare, queue);
	queue->pages[slot].key = key;
	bare_index_insert(bare, hash, slot);
	policy_enter(policy, queue, slot, false);
	return 1;
}

POLICY_INLINE uint64_t bare_run_with(struct bare *bare, const struct policy *policy,
				     const uint64_t *keys, size_t count)
{
	/* This copy is the loop's alone: the compiler may keep it in registers. */
	struct page_queue queue = bare->queue;
	struct page *pages = queue.pages;
	uint64_t misses = 0;
	uint64_t hashes[BARE_BATCH];
	const struct bare_line *lines[BARE_BATCH];
	uint32_t guesses[BARE_BATCH];

	queue.bare = bare;
	queue.cache = NULL;
	while (count > 0) {
		size_t batch = count < BARE_BATCH ? count : BARE_BATCH;

		queue.free_low = queue.free_count;
		for (size_t i = 0; i < batch; i++) {
			hashes[i] = bare_hash(keys[i]);
			lines[i] = &bare->lines[bare_line_of(bare, hashes[i])];
			prefetch_read(lines[i]);
		}
		for (size_t i = 0; i < batch; i++) {
			guesses[i] = bare_guess(bare, lines[i], hashes[i]);
			prefetch_write(&pages[guesses[i]]);
			if (policy->slot_bytes)
				prefetch_write(queue.own + (size_t)guesses[i] * policy->slot_bytes);
		}
		for (size_t i = 0; policy->prefetch && i < batch; i++)
			policy->prefetch(&queue, guesses[i], hashes[i]);
		for (size_t i = 0; i < batch; i++) {
			uint32_t slot = guesses[i];

			/*
			 * An earlier key of the batch may have evicted it, or brought it in; or
			 * dropped it: then its record, still free, says the same key.
			 */
			if (__builtin_expect(slot == 0 || pages[slot].key != keys[i] ||
						     queue.free_count > queue.free_low,
					     0))
				slot = bare_find(bare, keys[i], hashes[i]);
			misses += bare_one(bare, policy, &queue, slot, keys[i], hashes[i]);
		}
		keys += batch;
		count -= batch;
	}
	bare->queue = queue;
	return misses;
}

#endif
