/*
 * bare_loop: the plain cache's hot loop, for policies to instantiate
 *
 * One source, made direct by the compiler: a policy's file calls bare_run_with() with its own constant table, and gcc and clang inline the calls.
 * A batch of keys is hashed first and everything it will touch prefetched (index line, then page record, then the neighbours
 * that a list move writes to), since a random access is two or three cache misses and little else.
 */
#ifndef REFAULT_CACHE_BARE_LOOP_H
#define REFAULT_CACHE_BARE_LOOP_H

#include <string.h>

#include "cache/bare.h"

enum { BARE_LINE_ENTRIES = 15, BARE_BATCH = 32 };

struct bare_line {
	uint32_t entry[BARE_LINE_ENTRIES]; /* tag | slot; the first `count` are in use */
	uint8_t count;
	uint8_t reach;	  /* the farthest line after this one that ever held a key of it; 0 once none is left */
	uint16_t spilled; /* keys of this line that live in a later one */
};
static_assert(sizeof(struct bare_line) == 64, "one cache line");

struct bare {
	const struct policy *policy;
	struct page_queue queue; /* its head is slot 0 */
	struct bare_line *lines;
	uint32_t line_count;
	uint32_t slot_mask; /* the bits of an entry that are a slot; the others are a tag */
	uint32_t capacity;  /* pages */
	uint32_t resident;  /* slots 1 .. resident are in use */
	uint64_t evictions;
};

static inline uint64_t bare_hash(uint64_t key)
{
	/* Multiply and fold (after wyhash): enough for keys that count up. */
	unsigned __int128 product =
		(unsigned __int128)(key ^ 0x9e3779b97f4a7c15u) * 0xa0761d6478bd642fu;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
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

/* The slot that holds `key`, or 0. */
static inline uint32_t bare_find(const struct bare *bare, uint64_t key, uint64_t hash)
{
	uint32_t tag = (uint32_t)hash & ~bare->slot_mask;
	uint32_t at = bare_line_of(bare, hash);
	uint32_t slot = bare_find_in(bare, &bare->lines[at], key, tag);

	if (__builtin_expect(bare->lines[at].reach == 0, 1))
		return slot;
	for (uint32_t left = bare->lines[at].reach; slot == 0 && left > 0; left--) {
		at = at + 1 == bare->line_count ? 0 : at + 1;
		slot = bare_find_in(bare, &bare->lines[at], key, tag);
	}
	return slot;
}

/* Index bookkeeping for a miss; out of line, but cheap: bare.c. */
void bare_index_insert(struct bare *bare, uint64_t hash, uint32_t slot);
void bare_index_remove(struct bare *bare, uint64_t key, uint32_t slot);

/* A miss: evict if full, insert `key` as the newest. */
static inline __attribute__((always_inline)) void
bare_miss(struct bare *bare, const struct policy *policy, uint64_t key, uint64_t hash)
{
	struct page_queue *queue = &bare->queue;
	uint32_t slot;

	if (bare->resident < bare->capacity) {
		slot = ++bare->resident;
	} else {
		slot = policy->victim(queue);
		bare_index_remove(bare, queue->pages[slot].key, slot);
		bare->evictions++;
	}
	queue->pages[slot].key = key;
	queue_push(queue->pages, queue->head, slot);
	bare_index_insert(bare, hash, slot);
}

static inline __attribute__((always_inline)) uint64_t
bare_run_with(struct bare *bare, const struct policy *policy, const uint64_t *keys, size_t count)
{
	struct page *pages = bare->queue.pages;
	uint64_t misses = 0;
	uint64_t hashes[BARE_BATCH];

	while (count > 0) {
		size_t batch = count < BARE_BATCH ? count : BARE_BATCH;

		for (size_t i = 0; i < batch; i++) {
			hashes[i] = bare_hash(keys[i]);
			__builtin_prefetch(&bare->lines[bare_line_of(bare, hashes[i])]);
		}
		/* Guess the slot by its tag alone: a wrong guess costs a useless prefetch, nothing else. */
		for (size_t i = 0; i < batch; i++) {
			const struct bare_line *line = &bare->lines[bare_line_of(bare, hashes[i])];
			uint32_t tag = (uint32_t)hashes[i] & ~bare->slot_mask;

			for (uint32_t at = 0; at < line->count; at++)
				if (((line->entry[at] ^ tag) & ~bare->slot_mask) == 0) {
					__builtin_prefetch(&pages[line->entry[at] & bare->slot_mask], 1);
					break;
				}
		}
		for (size_t i = 0; i < batch; i++) {
			uint32_t slot = bare_find(bare, keys[i], hashes[i]);

			if (__builtin_expect(slot != 0, 1)) {
				policy->hit(&bare->queue, slot);
			} else {
				bare_miss(bare, policy, keys[i], hashes[i]);
				misses++;
			}
		}
		keys += batch;
		count -= batch;
	}
	return misses;
}

#endif
