/*
 * lirs: low inter-reference recency set
 *
 * Idea       What counts is how many other pages were used between the last two uses of a page (its
 *            inter-reference recency), not how long ago the last one was. Pages for which that is
 *            low keep 99 % of the cache; all others pass through a short queue. The stack orders
 *            pages by their last use, down to the low page used longest ago: a high page, resident
 *            or gone, that is used while it is still in there has been used again sooner than
 *            that one will be, and takes its place.
 *
 *                 newest                                oldest
 *                 stack   h L g L L h g g L L g L L L L L      L low, h high, g ghost
 *                 queue   h h h h  --> evicted; a ghost while it is in the stack
 *                                                 bottom of the stack: always low
 *
 * Source     Jiang, Zhang: "LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy to
 *            Improve Buffer Cache Performance", SIGMETRICS 2002, section 3.3
 * Differs    1. The paper leaves the stack unbounded. Here the ghost that left the cache first goes
 *               while it holds more than twice what fits, as in libCacheSim, whose counts we are
 *               held against
 *            2. From libCacheSim, by up to 0.1 % of the misses: there a use of a high page that is
 *               in the queue alone demotes a low page, and evicts a high one, though nothing takes
 *               their places; the paper (case 2b) has it move, and nothing else
 *            3. in the full model what cannot go, for it is dirty, becomes low: the queue is short,
 *               and would hold nothing else
 *            4. a cache of one page has no low one
 * State      two links and 2 bits a record (12 bytes here), about as many ghosts as pages
 * Constants  high: 1 % of the pages, at least 1 (the paper, section 4.3)
 * Weakness   new hot pages: they need a second use within the short stay in the queue, or the life
 *            of their ghost, so a change of what is hot, or bursts of uses a little apart, miss more
 *            than LRU does
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

/* Those in the stack are in its order; the others in none. */
enum list { STACK, ALONE, LISTS };

/* The other order, through links in `own`: resident high pages, and ghosts, as they came there. */
enum side { QUEUE, GHOSTS };

enum kind { LOW, HIGH /* in the stack */, HIGH_ALONE /* or not */, GHOST /* in the stack */ };

struct own {
	uint32_t prev, next; /* on its side: but for low ones */
	uint32_t kind;
};

struct state {
	uint32_t low, stack; /* records */
};

static inline struct own *own(const struct page_queue *queue, uint32_t slot)
{
	return QUEUE_OWN(queue, struct own, slot);
}

static inline void side_push(struct page_queue *queue, enum side side, uint32_t slot)
{
	uint32_t newest = own(queue, side)->next;

	own(queue, slot)->prev = side;
	own(queue, slot)->next = newest;
	own(queue, newest)->prev = slot;
	own(queue, side)->next = slot;
}

static inline void side_unlink(struct page_queue *queue, uint32_t slot)
{
	uint32_t prev = own(queue, slot)->prev, next = own(queue, slot)->next;

	own(queue, prev)->next = next;
	own(queue, next)->prev = prev;
}

static uint64_t lirs_ghosts_max(uint64_t pages)
{
	return pages + (pages / 100 ? pages / 100 : 1) + 1;
}

static void lirs_init(struct page_queue *queue)
{
	for (uint32_t side = 0; side <= GHOSTS; side++)
		*own(queue, side) = (struct own){.prev = side, .next = side};
}

static inline uint32_t low_max(const struct page_queue *queue)
{
	uint32_t high = queue->capacity / 100;

	return queue->capacity - (high ? high : 1);
}

static inline void stack_push(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_push(queue->pages, STACK, slot);
	state->stack++;
}

static inline void stack_unlink(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	state->stack--;
}

/* What is below the last low page leaves the stack. */
static void prune(struct page_queue *queue)
{
	uint32_t slot;

	while ((slot = queue->pages[STACK].prev) != STACK && own(queue, slot)->kind != LOW) {
		stack_unlink(queue, slot);
		if (own(queue, slot)->kind == HIGH) {
			own(queue, slot)->kind = HIGH_ALONE;
			queue_push(queue->pages, ALONE, slot);
		} else {
			side_unlink(queue, slot);
			queue_drop(queue, slot);
		}
	}
}

/* The last low page becomes the newest of the high ones. */
static void demote(struct page_queue *queue)
{
	struct state *state = queue->state;
	uint32_t slot = queue->pages[STACK].prev;

	stack_unlink(queue, slot);
	state->low--;
	own(queue, slot)->kind = HIGH_ALONE;
	queue_push(queue->pages, ALONE, slot);
	side_push(queue, QUEUE, slot);
	prune(queue);
}

static inline void ghosts_limit(struct page_queue *queue)
{
	const struct state *state = queue->state;

	while (state->stack > 2 * (uint64_t)queue->capacity && own(queue, GHOSTS)->prev != GHOSTS) {
		uint32_t slot = own(queue, GHOSTS)->prev;

		side_unlink(queue, slot);
		stack_unlink(queue, slot);
		queue_drop(queue, slot);
	}
}

/* It becomes low, and the newest in the stack, in which it is not. */
static inline void promote(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	stack_push(queue, slot);
	own(queue, slot)->kind = LOW;
	state->low++;
	if (state->low == 1) /* of the others none is above a low one's last use */
		prune(queue);
	if (state->low > low_max(queue))
		demote(queue);
}

static inline bool lirs_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return own(queue, slot)->kind == GHOST;
}

static inline void lirs_use(struct page_queue *queue, uint32_t slot)
{
	bool was_last;

	switch (own(queue, slot)->kind) {
	case LOW:
		was_last = queue->pages[STACK].prev == slot;
		queue_unlink(queue->pages, slot);
		queue_push(queue->pages, STACK, slot);
		if (was_last)
			prune(queue);
		break;
	case HIGH:
		side_unlink(queue, slot);
		stack_unlink(queue, slot);
		promote(queue, slot);
		break;
	default:
		queue_unlink(queue->pages, slot);
		stack_push(queue, slot);
		own(queue, slot)->kind = HIGH;
		side_unlink(queue, slot);
		side_push(queue, QUEUE, slot);
		ghosts_limit(queue);
		break;
	}
}

static inline void lirs_back(struct page_queue *queue, uint32_t slot)
{
	side_unlink(queue, slot);
	stack_unlink(queue, slot);
}

static inline uint32_t lirs_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;

	while (state->low > low_max(queue) || own(queue, QUEUE)->prev == QUEUE)
		demote(queue);
	return own(queue, QUEUE)->prev;
}

static inline bool lirs_evict(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	switch (own(queue, slot)->kind) {
	case LOW:
		stack_unlink(queue, slot);
		state->low--;
		prune(queue);
		return false;
	case HIGH:
		side_unlink(queue, slot);
		own(queue, slot)->kind = GHOST;
		side_push(queue, GHOSTS, slot);
		return true;
	default:
		side_unlink(queue, slot);
		queue_unlink(queue->pages, slot);
		return false;
	}
}

static inline void lirs_spare(struct page_queue *queue, uint32_t slot)
{
	side_unlink(queue, slot);
	if (own(queue, slot)->kind == HIGH)
		stack_unlink(queue, slot);
	else
		queue_unlink(queue->pages, slot);
	promote(queue, slot);
}

static inline void lirs_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	const struct state *state = queue->state;

	if (was_ghost || state->low < low_max(queue)) {
		promote(queue, slot);
	} else {
		stack_push(queue, slot);
		own(queue, slot)->kind = HIGH;
		side_push(queue, QUEUE, slot);
	}
	ghosts_limit(queue);
}

static inline void lirs_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;
	uint32_t kind = own(queue, slot)->kind;

	if (kind != LOW)
		side_unlink(queue, slot);
	if (kind == HIGH_ALONE) {
		queue_unlink(queue->pages, slot);
		return;
	}
	stack_unlink(queue, slot);
	if (kind == LOW)
		state->low--;
	prune(queue);
}

/* The two sides, and the stack. */
static inline uint32_t lirs_older(const struct page_queue *queue, uint32_t tail, uint32_t slot)
{
	if (tail > GHOSTS)
		return queue->pages[slot].prev;
	return own(queue, slot ? slot : tail)->prev;
}

static inline void lirs_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static void lirs_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t count[GHOST + 1] = {0}, last = queue->pages[STACK].prev;

	for (uint32_t list = STACK; list < LISTS; list++)
		for (uint32_t slot = queue->pages[list].next; slot != list;
		     slot = queue->pages[slot].next) {
			assert((own(queue, slot)->kind == HIGH_ALONE) == (list == ALONE));
			count[own(queue, slot)->kind]++;
		}
	for (uint32_t side = QUEUE; side <= GHOSTS; side++)
		for (uint32_t slot = own(queue, side)->next; slot != side;
		     slot = own(queue, slot)->next) {
			assert(own(queue, slot)->kind != LOW);
			assert((own(queue, slot)->kind == GHOST) == (side == GHOSTS));
			assert(own(queue, own(queue, slot)->next)->prev == slot);
			count[own(queue, slot)->kind]--;
		}
	assert(count[LOW] == state->low && !count[HIGH] && !count[HIGH_ALONE] && !count[GHOST]);
	assert(last == STACK || own(queue, last)->kind == LOW || state->low == 0);
	if (queue->cache)
		return;
	assert(state->low <= low_max(queue));
	assert(state->stack <= 2 * (uint64_t)queue->capacity || queue->ghosts == 0);
}

static uint64_t lirs_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_lirs = {
	.name = "lirs",
	.summary = "LIRS: pages used again soon after their last use, and a few others",
	.list_count = LISTS,
	.slot_bytes = sizeof(struct own),
	.state_bytes = sizeof(struct state),
	.ghosts_max = lirs_ghosts_max,
	.init = lirs_init,
	.use = lirs_use,
	.is_ghost = lirs_is_ghost,
	.back = lirs_back,
	.victim = lirs_victim,
	.evict = lirs_evict,
	.spare = lirs_spare,
	.enter = lirs_enter,
	.forget = lirs_forget,
	.prefetch = lirs_prefetch,
	.check = lirs_check,
	.tail_count = GHOSTS + 2,
	.older = lirs_older,
	.bare_run = lirs_bare_run,
};

BARE_CLONES static uint64_t lirs_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_lirs, keys, count);
}
