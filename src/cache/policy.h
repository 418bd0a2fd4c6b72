/*
 * policy: which page goes
 *
 * The interface of the shelf cache/policy/. A policy orders the resident pages of a domain and
 * chooses victims; whether a page or a dentry or an inode is reclaimed is not its question
 * (slab.h). There are two kinds:
 *
 *   queue policies keep lists of records, each a page or the ghost of one that left: use, enter,
 *   victim. One file runs in the plain cache (bare.h) and in the full model alike. See
 *   policy/fifo.c, then clock.c and arc.c.
 *   scan policies a kernel's: they see the domain, scan by priority, and follow the switches. See
 *   policy/linux.c.
 *
 * A record is 16 bytes, the same in both engines: two links, and eight bytes that only the engine
 * reads. What else a queue policy needs to know is in `marks`, one bit a slot, in `own`, bytes of
 * its own a slot, in `state`, once, and in `table`, sized by the cache. The lists' heads are slots
 * 0 .. list_count - 1, never pages.
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

struct bare;
struct cache;
struct future; /* cache/future.h */
struct scan;

/*
 * What a queue policy keeps, and its engine knows of it. A list is circular through the records:
 * pages[head].next is the newest, pages[head].prev the oldest.
 */
struct page_queue {
	struct page *pages; /* by slot */
	uint64_t *marks;    /* one bit a slot; NULL unless the policy has_marks */
	uint8_t *own;       /* slot_bytes a slot, */
	void *state;        /* state_bytes, */
	void *table;        /* table_bytes(): 0 at first, and then the policy's alone */
	/*
	 * Pages that fit. In the full model: that would, if all else kept its size. It moves there
	 * from call to call, both ways, and so fewer pages may fit than are resident or planned for.
	 */
	uint32_t capacity;
	uint32_t resident; /* pages */
	uint32_t ghosts;   /* records of pages that left */
	uint32_t slots;    /* numbers handed out so far, the heads' too; some may be free */
	uint32_t spared;   /* victims that could not go, since this reclaim began */

	const uint32_t *options; /* values, in the order of the policy's */
	uint64_t seed;           /* of what is drawn by lot */

	/* the engines' own */
	uint32_t free_slot; /* chained by next, the last freed first */
	/* How many are free; and how few were since the batch began. */
	uint32_t free_count, free_low;
	struct bare *bare;
	struct cache *cache; /* NULL in the plain cache */
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

/*
 * Of two lists with so many resident pages, is the victim the first one's? If it is wanted from
 * there; but not if there is none, nor while all of that list's were spared and not yet the other's.
 */
static inline bool queue_is_from_first(const struct page_queue *queue, bool is_wanted,
				       uint32_t first_count, uint32_t second_count)
{
	uint32_t count = is_wanted ? first_count : second_count;

	if (count == 0 || (queue->spared >= count && queue->spared < first_count + second_count))
		is_wanted = !is_wanted;
	return is_wanted;
}

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

	/*
	 * Queue policies. Each function but use and victim may be NULL: then there is one list, and
	 * what stands behind "or" is done.
	 *
	 * A page that is asked for is a hit (use), or it is a ghost (back, then victim and evict as
	 * often as there is no room, then enter), or unknown (miss, victim and evict, enter). In the
	 * full model many go at once before many come in, or none; and a page may be spared because
	 * it cannot go now. There pages come in ahead of their first use, too: as for one that came
	 * in for it, that first use is not told, unless the policy sees_first_use.
	 */
	const struct policy_option *options; /* ended by one without a name; or none */
	uint32_t list_count;                 /* 0: 1 */
	uint32_t slot_bytes, state_bytes;
	bool has_marks;    /* all 0 for a page that enters: a victim's must be */
	bool takes_folios; /* a record may be many pages: for policies that do not count them */
	/*
	 * Is the use that a page came in for, or the first after readahead brought it, told? For
	 * those to which a use more makes no difference but that it is later.
	 */
	bool sees_first_use;
	/* Bytes of `table` if at most so many pages fit, ever; or none. */
	uint64_t (*table_bytes)(uint64_t pages);
	/* How many ghosts there are at most while so many pages fit; or none, ever. */
	uint64_t (*ghosts_max)(uint64_t pages);
	/* Before anything else, if zeroed state and table are not enough. */
	void (*init)(struct page_queue *queue);
	/* A resident page was used. */
	void (*use)(struct page_queue *queue, uint32_t slot);
	/* Is this record, which is in some list, a ghost? */
	bool (*is_ghost)(const struct page_queue *queue, uint32_t slot);
	/* A ghost's page was asked for: take the ghost off its list; it is in none until enter. */
	void (*back)(struct page_queue *queue, uint32_t slot);
	/* What came back does not enter after all: it could not be paid for; or nothing. */
	void (*lost)(struct page_queue *queue);
	/* A page without a record was asked for; or nothing. */
	void (*miss)(struct page_queue *queue);
	/* Which resident page goes? There is one. It stays in its list for the moment. */
	uint32_t (*victim)(struct page_queue *queue);
	/*
	 * It goes: take it off its list. True: it is a ghost now, in a list of ghosts; false: its
	 * record is forgotten. Or forget. Before it too many ghosts may have been dropped with
	 * queue_drop() (bare_loop.h).
	 */
	bool (*evict)(struct page_queue *queue, uint32_t slot);
	/*
	 * It cannot go now: let victim choose others, and in the end each page that there is, if
	 * all before it are spared: queue->spared counts them. Or it becomes the newest.
	 */
	void (*spare)(struct page_queue *queue, uint32_t slot);
	/* This record, in no list, is a resident page from now on, was_ghost or new; or the newest. */
	void (*enter)(struct page_queue *queue, uint32_t slot, bool was_ghost);
	/* The page of this record, resident or a ghost, is no more: take it off its list; or that. */
	void (*forget)(struct page_queue *queue, uint32_t slot);
	/*
	 * Ask for memory that an access will touch beside the record and its own bytes. `slot` is
	 * the record in all likelihood, or 0; or nothing.
	 */
	void (*prefetch)(const struct page_queue *queue, uint32_t slot, uint64_t hash);
	/*
	 * Hints for the plain cache: how many lists, from list 0 on, give their oldest records (4 at
	 * most; 0: no matter); and what else goes in turn, if not those: the record that goes after
	 * this one, or, after 0, first.
	 */
	uint32_t tail_count;
	uint32_t (*older)(const struct page_queue *queue, uint32_t tail, uint32_t slot);
	/* Assert what must hold; or nothing. */
	void (*check)(const struct page_queue *queue);
	/* The plain cache's loop with this policy built in (bare_loop.h). Returns the misses. */
	uint64_t (*bare_run)(struct bare *bare, const uint64_t *keys, size_t count);

	/*
	 * Policies that must know the future (opt): the plain cache's state, made of it before the
	 * first request is carried out; freed with memory_free(). They have no lists, and of the
	 * rest only bare_run.
	 */
	void *(*foresee)(const struct future *future);

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

/* ---- a queue policy's functions, or what stands for them ---- */

#define POLICY_INLINE static inline __attribute__((always_inline))

POLICY_INLINE uint32_t policy_list_count(const struct policy *policy)
{
	return policy->list_count ? policy->list_count : 1;
}

POLICY_INLINE void policy_enter(const struct policy *policy, struct page_queue *queue,
				uint32_t slot, bool was_ghost)
{
	queue->resident++;
	if (policy->enter)
		policy->enter(queue, slot, was_ghost);
	else
		queue_push(queue->pages, 0, slot);
}

/* A resident page that is no more. */
POLICY_INLINE void policy_forget(const struct policy *policy, struct page_queue *queue,
				 uint32_t slot)
{
	queue->resident--;
	if (policy->forget)
		policy->forget(queue, slot);
	else
		queue_unlink(queue->pages, slot);
}

/* True: the record stays, as a ghost. */
POLICY_INLINE bool policy_evict(const struct policy *policy, struct page_queue *queue,
				uint32_t slot)
{
	if (!policy->evict) {
		policy_forget(policy, queue, slot);
		return false;
	}
	queue->resident--;
	if (!policy->evict(queue, slot))
		return false;
	queue->ghosts++;
	return true;
}

POLICY_INLINE void policy_spare(const struct policy *policy, struct page_queue *queue,
				uint32_t slot)
{
	if (policy->spare) {
		policy->spare(queue, slot);
	} else {
		queue_unlink(queue->pages, slot);
		queue_push(queue->pages, 0, slot);
	}
}

#endif
