/*
 * 2q: a queue on probation, and one for what came back
 *
 * Idea       A page comes into a FIFO (In) where uses count for nothing: they belong to the same
 *            burst. What leaves it is remembered (Out, ghosts); asked for once more while it is, it
 *            has proved itself over some time and enters the LRU of the hot (Main).
 *
 *                  new --> [ In, 1/4 ] --> ( Out, 1/2 ghosts ) --> forgotten
 *                                              | asked for
 *                                              v
 *                                          [ Main, LRU ] --> forgotten
 *
 * Source     Johnson, Shasha: "2Q: A Low Overhead High Performance Buffer Management Replacement
 *            Algorithm", VLDB 1994, the full version
 * Differs    1. In gives a page as long as it is longer than its share, as in the paper; sizes are
 *               rounded down, as in libCacheSim, whose counts we are held against
 *            2. in the full model, while Main is empty, In gives whatever its length
 * State      2 bits a record (a byte here), half as many ghosts as pages
 * Constants  In 25 % of the pages, Out 50 %: the paper's advice (section 4)
 * Weakness   what is used twice within the time In holds, and never again after: twice the misses of
 *            LRU's; a loop longer than In and Out together finds no ghost
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

enum list { IN, MAIN, OUT, LISTS };

struct state {
	uint32_t count[LISTS];
};

static uint64_t two_queues_ghosts_max(uint64_t pages)
{
	return pages / 2;
}

static inline void push(struct page_queue *queue, enum list list, uint32_t slot)
{
	struct state *state = queue->state;

	queue_push(queue->pages, list, slot);
	queue->own[slot] = (uint8_t)list;
	state->count[list]++;
}

static inline void two_queues_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	state->count[queue->own[slot]]--;
}

static inline bool two_queues_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return queue->own[slot] == OUT;
}

static inline void two_queues_use(struct page_queue *queue, uint32_t slot)
{
	if (queue->own[slot] != MAIN)
		return;
	queue_unlink(queue->pages, slot);
	queue_push(queue->pages, MAIN, slot);
}

static inline uint32_t two_queues_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t in = state->count[IN];
	bool from_in = queue_is_from_first(queue, in > queue->capacity / 4, in, state->count[MAIN]);

	return queue->pages[from_in ? IN : MAIN].prev;
}

static inline bool two_queues_evict(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	uint64_t most = two_queues_ghosts_max(queue->capacity);
	bool is_new = queue->own[slot] == IN;

	two_queues_forget(queue, slot);
	if (!is_new || most == 0)
		return false;
	while (state->count[OUT] >= most) {
		uint32_t oldest = queue->pages[OUT].prev;

		two_queues_forget(queue, oldest);
		queue_drop(queue, oldest);
	}
	push(queue, OUT, slot);
	return true;
}

static inline void two_queues_spare(struct page_queue *queue, uint32_t slot)
{
	two_queues_forget(queue, slot);
	push(queue, (enum list)queue->own[slot], slot);
}

static inline void two_queues_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	push(queue, was_ghost ? MAIN : IN, slot);
}

static inline void two_queues_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static void two_queues_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;

	assert(state->count[IN] + state->count[MAIN] == queue->resident);
	assert(state->count[OUT] == queue->ghosts);
	assert(queue->cache || queue->ghosts <= two_queues_ghosts_max(queue->capacity));
}

static uint64_t two_queues_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_2q = {
	.name = "2q",
	.summary = "2Q: a queue on probation, an LRU for what came back",
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.ghosts_max = two_queues_ghosts_max,
	.use = two_queues_use,
	.is_ghost = two_queues_is_ghost,
	.back = two_queues_forget,
	.victim = two_queues_victim,
	.evict = two_queues_evict,
	.spare = two_queues_spare,
	.enter = two_queues_enter,
	.forget = two_queues_forget,
	.prefetch = two_queues_prefetch,
	.check = two_queues_check,
	.tail_count = 3,
	.bare_run = two_queues_bare_run,
};

BARE_CLONES static uint64_t two_queues_bare_run(struct bare *bare, const uint64_t *keys,
						size_t count)
{
	return bare_run_with(bare, &policy_2q, keys, count);
}
