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
	struct page_queue queue; /* its head is slot 0 */
	struct bare_line *lines;
	void *lines_memory;
	uint32_t line_count;
	uint32_t slot_mask; /* the bits of an entry that are a slot; the others are a tag */
	uint32_t capacity;  /* pages */
	uint32_t resident;  /* without ghosts: slots 1 .. resident are in use */
	uint64_t evictions;

	/* ghost policies */
	uint8_t *own;            /* slot_bytes a slot */
	void *state;             /* state_bytes */
	uint32_t slots, records; /* numbers handed out, heads too; in use */
	uint32_t slot_max;
	uint32_t free_slot; /* dropped ones, chained by next, the last dropped first */
	/* How many are free; and how few were since the batch began. */
	uint32_t free_count, free_low;
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

/* A miss: evict if full, insert `key` as the newest. */
static inline __attribute__((always_inline)) void bare_miss(struct bare *bare,
							    const struct policy *policy,
							    struct page_queue *queue, uint64_t key,
							    uint64_t hash)
{
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

/* ---- for ghost policies ---- */

static inline void *bare_state(const struct bare *bare)
{
	return bare->state;
}

static inline uint8_t *bare_own(const struct bare *bare, uint32_t slot, uint32_t slot_bytes)
{
	return bare->own + (size_t)slot * slot_bytes;
}

/* This record, which is in no list, is forgotten. */
static inline void bare_drop(struct bare *bare, uint32_t slot)
{
	struct page *page = &bare->queue.pages[slot];

	bare_index_remove(bare, page->key, slot);
	page->next = bare->free_slot;
	bare->free_slot = slot;
	bare->free_count++;
	bare->records--;
}

static inline uint32_t bare_take(struct bare *bare)
{
	uint32_t slot = bare->free_slot;

	bare->records++;
	if (!slot) {
		assert(bare->slots <= bare->slot_max);
		return bare->slots++;
	}
	bare->free_slot = bare->queue.pages[slot].next;
	if (--bare->free_count < bare->free_low)
		bare->free_low = bare->free_count;
	return slot;
}

/* A key was looked up: `slot` is its record, page or ghost, or 0. Returns 1 if it missed. */
static inline __attribute__((always_inline)) uint32_t bare_ghost_access(struct bare *bare,
									const struct policy *policy,
									uint32_t slot, uint64_t key,
									uint64_t hash)
{
	if (__builtin_expect(slot != 0, 1))
		return !policy->ghosts->use(bare, slot);
	policy->ghosts->make_room(bare);
	slot = bare_take(bare);
	bare->queue.pages[slot].key = key;
	bare_index_insert(bare, hash, slot);
	policy->ghosts->enter(bare, slot);
	return 1;
}

/* ---- the loop ---- */

static inline __attribute__((always_inline)) uint64_t
bare_run_with(struct bare *bare, const struct policy *policy, const uint64_t *keys, size_t count)
{
	/* The compiler knows this copy's head, and that nothing else changes it. */
	struct page_queue queue = {
		.pages = bare->queue.pages, .marks = bare->queue.marks, .head = 0};
	struct page *pages = queue.pages;
	uint64_t misses = 0;
	uint64_t hashes[BARE_BATCH];
	const struct bare_line *lines[BARE_BATCH];
	uint32_t guesses[BARE_BATCH];

	while (count > 0) {
		size_t batch = count < BARE_BATCH ? count : BARE_BATCH;

		if (policy->ghosts)
			bare->free_low = bare->free_count;
		for (size_t i = 0; i < batch; i++) {
			hashes[i] = bare_hash(keys[i]);
			lines[i] = &bare->lines[bare_line_of(bare, hashes[i])];
			prefetch_read(lines[i]);
		}
		for (size_t i = 0; i < batch; i++) {
			guesses[i] = bare_guess(bare, lines[i], hashes[i]);
			prefetch_write(&pages[guesses[i]]);
			if (policy->ghosts)
				prefetch_write(
					bare_own(bare, guesses[i], policy->ghosts->slot_bytes));
		}
		/* With ghosts the records are many: what is beside these in their lists, too. */
		for (size_t i = 0; policy->ghosts && i < batch; i++) {
			prefetch_write(&pages[pages[guesses[i]].prev]);
			prefetch_write(&pages[pages[guesses[i]].next]);
		}
		for (size_t i = 0; i < batch; i++) {
			uint32_t slot = guesses[i];

			/*
			 * An earlier key of the batch may have evicted it, or brought it in; or
			 * dropped it: then its record, still free, says the same key.
			 */
			if (__builtin_expect(
				    slot == 0 || pages[slot].key != keys[i] ||
					    (policy->ghosts && bare->free_count > bare->free_low),
				    0))
				slot = bare_find(bare, keys[i], hashes[i]);
			if (policy->ghosts)
				misses += bare_ghost_access(bare, policy, slot, keys[i], hashes[i]);
			else if (__builtin_expect(slot != 0, 1)) {
				policy->hit(&queue, slot);
			} else {
				bare_miss(bare, policy, &queue, keys[i], hashes[i]);
				misses++;
			}
		}
		keys += batch;
		count -= batch;
	}
	return misses;
}

#endif
