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

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { BARE_LINE_ENTRIES = 12, BARE_BATCH = 32 };

struct bare_line {
	uint8_t tag
		[BARE_LINE_ENTRIES]; /* of the hash; the first `count` are in use, the others 0 */
	uint8_t count;
	/* the farthest line after this one that ever held a key of it; 0 once none is left */
	uint8_t reach;
	uint16_t spilled; /* keys of this line that live in a later one */
	uint32_t slot[BARE_LINE_ENTRIES];
};
static_assert(sizeof(struct bare_line) == 64, "one cache line");

struct bare {
	const struct policy *policy;
	struct page_queue queue;
	uint32_t options[POLICY_OPTIONS_MAX];
	struct bare_line *lines;
	void *lines_memory;
	uint32_t line_count;
	uint32_t slot_max;
	uint64_t evictions;
};

/*
 * One wide product, folded: the high bits choose the line, the lowest are the tag. The constants are
 * splitmix64's; a key that is a small number, or a multiple of a large power of two, spreads over
 * both halves.
 */
static inline uint64_t bare_hash(uint64_t key)
{
	unsigned __int128 product =
		(unsigned __int128)(key ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline uint32_t bare_line_of(const struct bare *bare, uint64_t hash)
{
	return (uint32_t)((unsigned __int128)hash * bare->line_count >> 64);
}

/* Which entries of a line have the hash's tag: a bit each. Of entries not in use, perhaps. */
static inline uint32_t bare_matches(const struct bare_line *line, uint64_t hash)
{
#if defined(__SSE2__)
	__m128i tags = _mm_load_si128((const __m128i *)(const void *)line);
	__m128i same = _mm_cmpeq_epi8(tags, _mm_set1_epi8((char)hash));

	return (uint32_t)_mm_movemask_epi8(same) & ((1u << BARE_LINE_ENTRIES) - 1);
#else
	uint32_t matches = 0;

	for (uint32_t i = 0; i < BARE_LINE_ENTRIES; i++)
		matches |= (uint32_t)(line->tag[i] == (uint8_t)hash) << i;
	return matches;
#endif
}

/* The slot in this line that holds `key`, or 0. */
static inline uint32_t bare_find_in(const struct bare *bare, const struct bare_line *line,
				    uint64_t key, uint64_t hash)
{
	for (uint32_t matches = bare_matches(line, hash); matches; matches &= matches - 1) {
		uint32_t slot = line->slot[__builtin_ctz(matches)];

		if (slot != 0 && bare->queue.pages[slot].key == key)
			return slot;
	}
	return 0;
}

/*
 * Where the processor spreads a byte over a register in one instruction, and has wide registers, a
 * clone of the loop uses them. Which clone it is, is asked of the processor before a sanitizer has
 * set itself up: none there.
 */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                \
	!defined(__SANITIZE_THREAD__)
#define BARE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define BARE_CLONES
#endif

/*
 * The slot in the key's own line whose tag fits first: most likely the right one; the key tells. 0
 * if none fits.
 */
static inline uint32_t bare_guess(const struct bare_line *line, uint64_t hash)
{
	uint32_t matches = bare_matches(line, hash);

	return matches ? line->slot[__builtin_ctz(matches)] : 0;
}

/* The slot that holds `key`, or 0: exact. */
static inline uint32_t bare_find(const struct bare *bare, uint64_t key, uint64_t hash)
{
	uint32_t at = bare_line_of(bare, hash), reach = bare->lines[at].reach;
	uint32_t slot = bare_find_in(bare, &bare->lines[at], key, hash);

	for (; __builtin_expect(slot == 0 && reach > 0, 0); reach--) {
		at = at + 1 == bare->line_count ? 0 : at + 1;
		slot = bare_find_in(bare, &bare->lines[at], key, hash);
	}
	return slot;
}

/* A line is full: to a later one, and away from there (bare.c). */
void bare_index_spill(struct bare *bare, uint32_t home, uint64_t hash, uint32_t slot);
void bare_index_unspill(struct bare *bare, uint32_t home, uint64_t hash, uint32_t slot);

static inline void bare_line_put(struct bare_line *line, uint64_t hash, uint32_t slot)
{
	uint32_t at = line->count++;

	line->tag[at] = (uint8_t)hash;
	line->slot[at] = slot;
}

/* False: it is not in this line. */
static inline bool bare_line_remove(struct bare_line *line, uint64_t hash, uint32_t slot)
{
	for (uint32_t matches = bare_matches(line, hash); matches; matches &= matches - 1) {
		uint32_t at = (uint32_t)__builtin_ctz(matches), last;

		if (line->slot[at] != slot)
			continue;
		last = --line->count;
		line->tag[at] = line->tag[last];
		line->slot[at] = line->slot[last];
		/* bare_guess() looks at all of them */
		line->tag[last] = 0;
		line->slot[last] = 0;
		return true;
	}
	return false;
}

static inline void bare_index_insert(struct bare *bare, uint64_t hash, uint32_t slot)
{
	uint32_t home = bare_line_of(bare, hash);
	struct bare_line *line = &bare->lines[home];

	if (__builtin_expect(line->count < BARE_LINE_ENTRIES, 1))
		bare_line_put(line, hash, slot);
	else
		bare_index_spill(bare, home, hash, slot);
}

static inline void bare_index_remove(struct bare *bare, uint64_t key, uint32_t slot)
{
	uint64_t hash = bare_hash(key);
	uint32_t home = bare_line_of(bare, hash);

	if (__builtin_expect(!bare_line_remove(&bare->lines[home], hash, slot), 0))
		bare_index_unspill(bare, home, hash, slot);
}

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

/*
 * What leaves is cold: neither its record nor its line of the index is in the processor's caches, and
 * links lead to it one by one. Two scouts walk ahead of each list's old end, a step a miss: the
 * first asks for records, the second, who finds them there, for their lines.
 */
enum { BARE_TAILS_MAX = 4, BARE_AHEAD = 8 };

struct bare_scouts {
	uint32_t first[BARE_TAILS_MAX], second[BARE_TAILS_MAX]; /* slots */
};

POLICY_INLINE uint32_t bare_tail(const struct policy *policy, const struct page_queue *queue,
				 uint32_t tail, uint32_t slot)
{
	if (policy->older)
		return policy->older(queue, tail, slot);
	return queue->pages[slot ? slot : tail].prev;
}

/* Pages have been moved about: begin again. So near the end most records have been asked for. */
POLICY_INLINE void bare_scouts_begin(const struct policy *policy, const struct page_queue *queue,
				     struct bare_scouts *scouts)
{
	for (uint32_t tail = 0; tail < policy->tail_count; tail++) {
		uint32_t slot = bare_tail(policy, queue, tail, 0);

		for (uint32_t i = 1; i < BARE_AHEAD; i++)
			slot = bare_tail(policy, queue, tail, slot);
		scouts->second[tail] = slot;
		for (uint32_t i = 0; i < BARE_AHEAD; i++)
			slot = bare_tail(policy, queue, tail, slot);
		scouts->first[tail] = slot;
	}
}

POLICY_INLINE void bare_scouts_advance(const struct bare *bare, const struct policy *policy,
				       const struct page_queue *queue, struct bare_scouts *scouts)
{
	for (uint32_t tail = 0; tail < policy->tail_count; tail++) {
		uint32_t slot = scouts->second[tail];

		prefetch_write(&bare->lines[bare_line_of(bare, bare_hash(queue->pages[slot].key))]);
		scouts->second[tail] = bare_tail(policy, queue, tail, slot);
		slot = scouts->first[tail] = bare_tail(policy, queue, tail, scouts->first[tail]);
		prefetch_write(&queue->pages[slot]);
		if (policy->slot_bytes)
			prefetch_write(queue->own + (size_t)slot * policy->slot_bytes);
	}
}

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
				struct page_queue *queue, struct bare_scouts *scouts, uint32_t slot,
				uint64_t key, uint64_t hash)
{
	if (__builtin_expect(slot != 0, 1)) {
		if (!policy->is_ghost || !policy->is_ghost(queue, slot)) {
			policy->use(queue, slot);
			return 0;
		}
		queue->ghosts--;
		bare_scouts_advance(bare, policy, queue, scouts);
		policy->back(queue, slot);
		bare_make_room(bare, policy, queue);
		policy_enter(policy, queue, slot, true);
		return 1;
	}
	bare_scouts_advance(bare, policy, queue, scouts);
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
	struct bare_scouts scouts;

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
			guesses[i] = bare_guess(lines[i], hashes[i]);
			prefetch_write(&pages[guesses[i]]);
			if (policy->slot_bytes)
				prefetch_write(queue.own + (size_t)guesses[i] * policy->slot_bytes);
		}
		bare_scouts_begin(policy, &queue, &scouts);
		for (size_t i = 0; policy->prefetch && i < batch; i++)
			policy->prefetch(&queue, guesses[i], hashes[i]);
		for (size_t i = 0; i < batch; i++) {
			uint32_t slot = guesses[i];

			/*
			 * An earlier key of the batch may have evicted it, or brought it in; or
			 * dropped it: then its record, still free, says the same key.
			 */
			if (__builtin_expect(slot == 0 || pages[slot].key != keys[i] ||
						     (policy->ghosts_max &&
						      queue.free_count > queue.free_low),
					     0))
				slot = bare_find(bare, keys[i], hashes[i]);
			misses += bare_one(bare, policy, &queue, &scouts, slot, keys[i], hashes[i]);
		}
		keys += batch;
		count -= batch;
	}
	bare->queue = queue;
	return misses;
}

#endif
