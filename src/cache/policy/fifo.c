/*
 * fifo: first in, first out
 *
 * Idea       one queue; a page leaves when it is the oldest, whatever happened to it meanwhile
 * Source     folklore
 * State      nothing beyond the queue
 * Weakness   any reuse: a hot page leaves as soon as a cold one of the same age
 *
 * The smallest whole policy: start here to write another.
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

static inline void fifo_use(struct page_queue *queue, uint32_t slot)
{
	(void)queue;
	(void)slot;
}

static inline uint32_t fifo_victim(struct page_queue *queue)
{
	return queue->pages[0].prev;
}

static uint64_t fifo_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_fifo = {
	.name = "fifo",
	.summary = "first in, first out",
	.use = fifo_use,
	.victim = fifo_victim,
	.takes_folios = true,
	.tail_count = 1,
	.bare_run = fifo_bare_run,
};

BARE_CLONES static uint64_t fifo_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_fifo, keys, count);
}
