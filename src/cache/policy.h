/*
 * policy: which page goes
 *
 * The interface of the shelf cache/policy/. A policy orders the resident pages of a domain and
 * chooses victims; whether a page or a dentry or an inode is reclaimed is not its question
 * (slab.h). There are two kinds:
 *
 *   queue policies one list, used by the plain cache (bare.h) and by the full model alike: insert,
 *   hit, victim. See policy/fifo.c.
 *   ghost policies several lists, some of pages that left and are remembered: the plain cache alone.
 *   See policy/arc.c.
 *   scan policies a kernel's: they see the domain, scan by priority, and follow the switches. See
 *   policy/linux.c.
 *
 * A page record is 16 bytes, the same in both engines: two links and eight bytes that only the
 * engine reads. What else a queue policy needs to know about a page is in `marks`, one bit a page,
 * if it asks for it. Slot 0 is the list's head, never a page.
 */
#ifndef REFAULT_CACHE_POLICY_H
#define REFAULT_CACHE_POLICY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/policy_options.h"

enum { PAGE_NODE_BITS = 28 };

struct page {
	uint32_t prev; /* towards the newest; slots */
	uint32_t next; /* towards the oldest */
	union {
		uint64_t key; /* bare.c */
		struct {      /* the full model: cache_private.h */
			uint32_t node : PAGE_NODE_BITS;
			uint32_t generation : 2; /* policy/mglru.c's, as are the refs */
			uint32_t refs : 2;
			uint32_t bits;
		};
	};
};
static_assert(sizeof(struct page) == 16, "a page record is 16 bytes");

/*
 * A circular list through page records: pages[head].next is the newest, pages[head].prev the
 * oldest.
 */
struct page_queue {
	struct page *pages;
	uint64_t *marks; /* one bit a slot; NULL unless the policy has_marks */
	uint32_t head;   /* the list's own slot */
};

static inline void queue_init(struct page *pages, uint32_t head)
{
	pages[head].prev = pages[head].next = head;
}

static inline void queue_push(struct page *pages, uint32_t head, uint32_t slot)
{
	uint32_t newest = pages[head].next;

	pages[slot].prev = head;
	pages[slot].next = newest;
	pages[newest].prev = slot;
	pages[head].next = slot;
}

static inline void queue_push_oldest(struct page *pages, uint32_t head, uint32_t slot)
{
	uint32_t oldest = pages[head].prev;

	pages[slot].next = head;
	pages[slot].prev = oldest;
	pages[oldest].next = slot;
	pages[head].prev = slot;
}

static inline void queue_unlink(struct page *pages, uint32_t slot)
{
	uint32_t prev = pages[slot].prev, next = pages[slot].next;

	pages[prev].next = next;
	pages[next].prev = prev;
}

struct cache;
struct scan;
struct bare;

/*
 * A policy that remembers pages that left. Its lists' heads are slots 0 .. list_count - 1; a record
 * is a page or a ghost, in one index, and which is the policy's to know, by bytes of its own a slot
 * (bare_own()) and once (bare_state()). It moves records between its lists, counts what is resident
 * and evicted, and drops records for good: see bare_loop.h.
 */
struct ghost_policy {
	uint32_t list_count;
	uint32_t slot_bytes, state_bytes;
	/* How many records a cache of so many pages has, at most, while none is being added. */
	uint64_t (*record_count)(uint64_t pages);
	/* A known key. True: a hit. False: a ghost, which is resident now. */
	bool (*use)(struct bare *bare, uint32_t slot);
	/* An unknown key comes: after this there is room for its page and a record is free. */
	void (*make_room)(struct bare *bare);
	/* This is its record, in none of the lists yet. */
	void (*enter)(struct bare *bare, uint32_t slot);
	/* Assert what must hold. */
	void (*check)(const struct bare *bare);
};

/*
 * A scan policy with lists of its own, in LISTS_MAX slots at most (their heads are slots 0 ...).
 * It keeps the levels: what of its pages counts as active, and what as inactive.
 */
struct list_policy {
	void (*create)(struct cache *cache);
	void (*destroy)(struct cache *cache);
	/* A page is new (policy->refault() has seen it, if it has a shadow), or is about to go. */
	void (*enter)(struct cache *cache, uint32_t slot);
	void (*leave)(struct cache *cache, uint32_t slot);
	/* It was to be freed when written, and is. */
	void (*written)(struct cache *cache, uint32_t slot);
	/* FADV_DONTNEED, and it cannot go now: it is dirty, or held. */
	void (*unwanted)(struct cache *cache, uint32_t slot);
	/* It is evicted: what to remember, 31 bits, which policy->refault() will be given. */
	uint32_t (*shadow)(struct cache *cache, uint32_t slot);
	/* The priority that a reclaim call begins at. */
	uint32_t (*first_priority)(struct cache *cache, const struct scan *scan);
	/* Assert what must hold. */
	void (*check)(const struct cache *cache);
};

struct policy {
	const char *name;
	const char *summary; /* one line */

	/* queue policies */
	bool has_marks;
	void (*hit)(struct page_queue *queue, uint32_t slot);
	uint32_t (*victim)(struct page_queue *queue); /* unlinked; the queue is not empty */
	/* The plain cache's loop with this policy built in (bare_loop.h). Returns the misses. */
	uint64_t (*bare_run)(struct bare *bare, const uint64_t *keys, size_t count);

	/* ghost policies: these, and bare_run, instead of hit and victim */
	const struct ghost_policy *ghosts;

	/* scan policies */
	const struct switches *preset;
	/*
	 * Not 0: 1 + enum arc_rules (arc.h). For file systems whose data is in an ARC only, which
	 * follows these rules; the page cache beside it follows the rest.
	 */
	uint32_t arc_rules;
	/* NULL: an inactive and an active list, and the shadow is an age (page.c). */
	const struct list_policy *lists;
	/* A resident page was used; it may be promoted. */
	void (*mark)(struct cache *cache, uint32_t slot);
	/*
	 * A page comes back and finds its shadow, 31 bits of the age it left at (or what
	 * lists->shadow() gave): shall it be active at once?
	 */
	bool (*refault)(struct cache *cache, uint32_t slot, uint32_t shadow_age, bool workingset);
	/*
	 * One priority's worth of scanning; adds to scan->reclaimed_pages and scan->scanned_pages.
	 */
	void (*scan)(struct cache *cache, struct scan *scan);
	/* A whole reclaim call ended. */
	void (*reclaimed)(struct cache *cache);
};

#endif
