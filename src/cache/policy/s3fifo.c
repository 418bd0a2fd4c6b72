/*
 * s3fifo: three FIFOs, of which the small one sieves out what is used once
 *
 * Idea       Most pages of a skewed load are used once before they leave. They pass through a small
 *            FIFO and are gone soon; what was used twice there moves to the main FIFO, which gives
 *            up to three more rounds, one a use. What the small one threw out is remembered, and
 *            enters the main one when it is asked for again.
 *
 *                  new --> [ small, 1/10 ] --used twice--> [ main ]--+--> forgotten
 *                               |                            ^  ^----+ used: another round
 *                               v                            |
 *                         ( ghosts, 9/10 ) ----asked for-----+
 *
 * Source     Yang, Zhang, Qiu, Yue, Vinayak: "FIFO Queues are All You Need for Cache Eviction",
 *            SOSP 2023, algorithm 1
 * Differs    1. as many ghosts as main has pages in the paper; 9/10 of all here (the same), rounded
 *               down, and the small queue gives, at the limit, even if it is shorter than its
 *               share: main is held to its own. So has libCacheSim it (to October 2024), whose
 *               counts we are held against
 * State      4 bits a record (a byte here), 9/10 as many ghosts as pages
 * Constants  small 10 % (the paper, section 4.1); 2 uses to leave it, 3 counted (the paper)
 * Weakness   pages used twice, far apart: both uses miss, if the small queue and its ghosts turn
 *            over in between; a hot page has to wait its round in main, behind what was hot before
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

enum list { SMALL, MAIN, GHOSTS, LISTS };

/* A record's byte: the list, and how often it was used there, from USE on. */
enum { LIST_MASK = 3, USE = 4, USES_MAX = 3, USES_TO_STAY = 2 };

struct state {
	uint32_t count[LISTS];
};

static uint64_t s3fifo_ghosts_max(uint64_t pages)
{
	return pages * 9 / 10;
}

/* The newest, unused. */
static inline void push(struct page_queue *queue, enum list list, uint32_t slot)
{
	struct state *state = queue->state;

	queue_push(queue->pages, list, slot);
	queue->own[slot] = (uint8_t)list;
	state->count[list]++;
}

static inline void s3fifo_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	state->count[queue->own[slot] & LIST_MASK]--;
}

static inline bool s3fifo_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return queue->own[slot] == GHOSTS;
}

static inline void s3fifo_use(struct page_queue *queue, uint32_t slot)
{
	if (queue->own[slot] < USES_MAX * USE)
		queue->own[slot] = (uint8_t)(queue->own[slot] + USE);
}

/* The oldest of main that was not used in this round. */
static inline uint32_t main_victim(struct page_queue *queue)
{
	for (;;) {
		uint32_t slot = queue->pages[MAIN].prev;

		if (queue->own[slot] < USE)
			return slot;
		queue->own[slot] = (uint8_t)(queue->own[slot] - USE);
		queue_unlink(queue->pages, slot);
		queue_push(queue->pages, MAIN, slot);
	}
}

static inline uint32_t s3fifo_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t most = queue->capacity - queue->capacity / 10;

	if (queue_is_from_first(queue, state->count[MAIN] <= most, state->count[SMALL],
				state->count[MAIN]))
		while (state->count[SMALL] > 0) {
			uint32_t slot = queue->pages[SMALL].prev;

			if (queue->own[slot] < USES_TO_STAY * USE)
				return slot;
			s3fifo_forget(queue, slot);
			push(queue, MAIN, slot);
		}
	return main_victim(queue);
}

static inline bool s3fifo_evict(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	uint64_t most = s3fifo_ghosts_max(queue->capacity);
	bool is_new = (queue->own[slot] & LIST_MASK) == SMALL;

	s3fifo_forget(queue, slot);
	if (!is_new || most == 0)
		return false;
	while (state->count[GHOSTS] >= most) {
		uint32_t oldest = queue->pages[GHOSTS].prev;

		s3fifo_forget(queue, oldest);
		queue_drop(queue, oldest);
	}
	push(queue, GHOSTS, slot);
	return true;
}

static inline void s3fifo_spare(struct page_queue *queue, uint32_t slot)
{
	s3fifo_forget(queue, slot);
	push(queue, (enum list)(queue->own[slot] & LIST_MASK), slot);
}

static inline void s3fifo_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	push(queue, was_ghost ? MAIN : SMALL, slot);
}

static void s3fifo_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;

	assert(state->count[SMALL] + state->count[MAIN] == queue->resident);
	assert(state->count[GHOSTS] == queue->ghosts);
	assert(queue->cache || queue->ghosts <= s3fifo_ghosts_max(queue->capacity));
}

static uint64_t s3fifo_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_s3fifo = {
	.name = "s3fifo",
	.summary = "S3-FIFO: a small queue, a main one, and ghosts",
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.ghosts_max = s3fifo_ghosts_max,
	.use = s3fifo_use,
	.is_ghost = s3fifo_is_ghost,
	.back = s3fifo_forget,
	.victim = s3fifo_victim,
	.evict = s3fifo_evict,
	.spare = s3fifo_spare,
	.enter = s3fifo_enter,
	.forget = s3fifo_forget,
	.check = s3fifo_check,
	.tail_count = 3,
	.bare_run = s3fifo_bare_run,
};

BARE_CLONES static uint64_t s3fifo_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_s3fifo, keys, count);
}
