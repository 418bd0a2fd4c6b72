/*
 * lru: least recently used
 *
 * Idea       one queue; a use moves the page to the newest end, and the oldest leaves
 * Source     folklore; the measure that all others are held against
 * State      nothing beyond the queue
 * Weakness   a loop a little larger than the cache never hits; a scan empties it
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

static inline void lru_use(struct page_queue *queue, uint32_t slot)
{
	queue_unlink(queue->pages, slot);
	queue_push(queue->pages, 0, slot);
}

static inline uint32_t lru_victim(struct page_queue *queue)
{
	return queue->pages[0].prev;
}

static inline void lru_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static uint64_t lru_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_lru = {
	.name = "lru",
	.summary = "least recently used",
	.use = lru_use,
	.victim = lru_victim,
	.takes_folios = true,
	.sees_first_use = true,
	.prefetch = lru_prefetch,
	.tail_count = 1,
	.bare_run = lru_bare_run,
};

BARE_CLONES static uint64_t lru_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_lru, keys, count);
}
