/*
 * clock: FIFO with one second chance
 *
 * Idea       a use sets a bit and moves nothing; the oldest leaves unless its bit is set, then it
 *            becomes the newest without it
 * Source     Corbato, "A Paging Experiment with the Multics System", 1968; here in its
 *            FIFO-reinsertion form with one bit, as libCacheSim's Clock, whose counts we are held
 *            against
 * State      1 bit a page; a page enters without it
 * Weakness   as lru's: a loop a little larger than the cache
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

static inline void clock_use(struct page_queue *queue, uint32_t slot)
{
	queue->marks[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static inline uint32_t clock_victim(struct page_queue *queue)
{
	for (;;) {
		uint32_t oldest = queue->pages[0].prev;
		uint64_t bit = UINT64_C(1) << (oldest % 64);

		if (!(queue->marks[oldest / 64] & bit))
			return oldest;
		queue->marks[oldest / 64] &= ~bit;
		queue_unlink(queue->pages, oldest);
		queue_push(queue->pages, 0, oldest);
	}
}

static uint64_t clock_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_clock = {
	.name = "clock",
	.summary = "FIFO with one second chance",
	.has_marks = true,
	.use = clock_use,
	.victim = clock_victim,
	.takes_folios = true,
	.tail_count = 1,
	.bare_run = clock_bare_run,
};

BARE_CLONES static uint64_t clock_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_clock, keys, count);
}
