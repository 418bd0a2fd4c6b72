/*
 * sieve: FIFO with one bit, and a hand that stays where it was
 *
 * Idea       A use sets a bit and moves nothing. The hand walks from the oldest page towards the
 *            newest, clears bits, and takes the first page without one; the next walk begins there.
 *            What survives the hand lies between it and the oldest end and is not looked at again
 *            before new pages were: they are judged soon, the old ones seldom.
 *
 *                 newest  o o o 1 o 1 | 1 1 1 1 o 1  oldest
 *                                hand ^ <---- survivors
 *
 * Source     Zhang, Yang, Yue, Vigfusson, Rashmi: "SIEVE is Simpler than LRU: an Efficient Turn-Key
 *            Eviction Algorithm for Web Caches", NSDI 2024, algorithm 1
 * State      1 bit a page, one slot for the hand
 * Constants  none
 * Weakness   A scan that is used twice: its bits are set, and it stays until the hand comes round;
 *            large pages of memory and little change of what is hot (P6 of the ARC paper's traces
 *            with 262144 pages: 5 times LRU's misses)
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

struct state {
	uint32_t hand; /* 0: the oldest */
};

static inline void sieve_use(struct page_queue *queue, uint32_t slot)
{
	queue->marks[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static inline uint32_t sieve_victim(struct page_queue *queue)
{
	struct state *state = queue->state;
	uint32_t slot = state->hand;

	for (;; slot = queue->pages[slot].prev) {
		uint64_t bit;

		if (slot == 0)
			slot = queue->pages[0].prev;
		bit = UINT64_C(1) << (slot % 64);
		if (!(queue->marks[slot / 64] & bit))
			break;
		queue->marks[slot / 64] &= ~bit;
	}
	state->hand = slot;
	return slot;
}

static inline void sieve_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	if (state->hand == slot)
		state->hand = queue->pages[slot].prev;
	queue_unlink(queue->pages, slot);
}

static inline void sieve_spare(struct page_queue *queue, uint32_t slot)
{
	sieve_forget(queue, slot);
	queue_push(queue->pages, 0, slot);
}

static inline uint32_t sieve_older(const struct page_queue *queue, uint32_t tail, uint32_t slot)
{
	const struct state *state = queue->state;

	(void)tail;
	if (slot == 0 && state->hand)
		return state->hand;
	return queue->pages[slot].prev;
}

static uint64_t sieve_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_sieve = {
	.name = "sieve",
	.summary = "FIFO with one bit and a hand that stays",
	.state_bytes = sizeof(struct state),
	.has_marks = true,
	.takes_folios = true,
	.use = sieve_use,
	.victim = sieve_victim,
	.spare = sieve_spare,
	.forget = sieve_forget,
	.tail_count = 1,
	.older = sieve_older,
	.bare_run = sieve_bare_run,
};

BARE_CLONES static uint64_t sieve_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_sieve, keys, count);
}
