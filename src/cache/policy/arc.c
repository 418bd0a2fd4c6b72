/*
 * arc: adaptive replacement cache
 *
 * Idea       Two queues: pages used once lately (T1), and more than once (T2). Each has a ghost
 *            queue of what left it (B1, B2). A use of a ghost says which queue was too short, and
 *            moves the target p of T1:
 *
 *                 |<------ 2 x pages at most ------->|
 *               B1 . . . T1 * * * | * * * * T2 . . . B2
 *                        |<- pages resident  ->|
 *
 * Source     Megiddo, Modha: "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003,
 *            figure 4. What the figure leaves open is as in libCacheSim, whose counts we are held
 *            against: sizes are taken before the ghost leaves its queue, and division is real
 * Differs    1. p has 32 binary digits after the point, and is a whole number if it nearly is
 *            2. nothing is evicted while there is room
 * State      2 bits a record (a byte here) and as many ghosts as pages; p
 * Weakness   a loop larger than the cache: T1 and B1 hold 1 x pages, the loop comes back later
 *
 * ZFS's cache of this name is another thing: cache/arc.h.
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

/* In this order, so that what leaves list i is in list i + GHOST. */
enum list { T1, T2, B1, B2, LISTS, GHOST = B1 - T1 };

enum { POINT = 32, ROUNDED = 12 };

struct state {
	uint64_t t1_target; /* the paper's p; the last POINT bits are its fraction */
	uint32_t count[LISTS];
	enum list asked; /* where what is asked for was; T1: nowhere */
};

static uint64_t arc_ghosts_max(uint64_t pages)
{
	return pages;
}

static inline enum list list_of(const struct page_queue *queue, uint32_t slot)
{
	return (enum list)queue->own[slot];
}

static inline void push(struct page_queue *queue, enum list list, uint32_t slot)
{
	struct state *state = queue->state;

	queue_push(queue->pages, list, slot);
	queue->own[slot] = (uint8_t)list;
	state->count[list]++;
}

static inline void arc_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	state->count[list_of(queue, slot)]--;
}

static inline void drop_oldest(struct page_queue *queue, enum list list)
{
	uint32_t slot = queue->pages[list].prev;

	arc_forget(queue, slot);
	queue_drop(queue, slot);
}

static inline bool arc_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return list_of(queue, slot) >= GHOST;
}

/* max(over / under, 1), as a fixed-point number, to the nearest */
static inline uint64_t step(uint32_t over, uint32_t under)
{
	return over > under ? (((uint64_t)over << POINT) + under / 2) / under
			    : UINT64_C(1) << POINT;
}

/*
 * Three times 5/3 is 5, and T1 may have just as many: what is a whole number but for what was
 * rounded is that number.
 */
static inline uint64_t settle(uint64_t target)
{
	uint64_t whole = (target + (UINT64_C(1) << (POINT - 1))) >> POINT << POINT;
	uint64_t off = target > whole ? target - whole : whole - target;

	return off < UINT64_C(1) << ROUNDED ? whole : target;
}

static inline void adapt(const struct page_queue *queue, enum list hit)
{
	struct state *state = queue->state;
	uint64_t most = (uint64_t)queue->capacity << POINT, p = state->t1_target, move;

	if (hit == B1) {
		move = step(state->count[B2], state->count[B1]);
		state->t1_target = p < most && most - p > move ? settle(p + move) : most;
	} else {
		move = step(state->count[B1], state->count[B2]);
		state->t1_target = p > move ? settle(p - move) : 0;
	}
}

static inline void arc_use(struct page_queue *queue, uint32_t slot)
{
	arc_forget(queue, slot);
	push(queue, T2, slot);
}

static inline void arc_back(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	state->asked = list_of(queue, slot);
	adapt(queue, state->asked);
	arc_forget(queue, slot);
}

/* Case IV: T1 and B1 hold as much as fits at most, all four lists twice that. */
static inline void arc_miss(struct page_queue *queue)
{
	struct state *state = queue->state;
	uint64_t most = queue->capacity;

	state->asked = T1;
	/* Fewer fit than did. */
	while (queue->resident + queue->ghosts > 2 * most && state->count[B2] > 0)
		drop_oldest(queue, B2);
	if (state->count[T1] + state->count[B1] >= most)
		while (state->count[T1] + state->count[B1] >= most && state->count[B1] > 0)
			drop_oldest(queue, B1);
	else if (queue->resident + queue->ghosts >= 2 * most && state->count[B2] > 0)
		drop_oldest(queue, B2);
}

/* REPLACE() */
static inline uint32_t arc_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint64_t t1 = (uint64_t)state->count[T1] << POINT;
	bool wanted = t1 > state->t1_target || (state->asked == B2 && t1 == state->t1_target);
	bool from_t1 = queue_is_from_first(queue, wanted, state->count[T1], state->count[T2]);

	return queue->pages[from_t1 ? T1 : T2].prev;
}

/* It becomes a ghost; but not in case IV, if T1 alone is all that fits. */
static inline bool arc_evict(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	enum list list = list_of(queue, slot);
	bool is_alone = state->asked == T1 && list == T1 && state->count[T1] >= queue->capacity;

	arc_forget(queue, slot);
	if (is_alone)
		return false;
	push(queue, (enum list)(list + GHOST), slot);
	return true;
}

static inline void arc_spare(struct page_queue *queue, uint32_t slot)
{
	arc_forget(queue, slot);
	push(queue, list_of(queue, slot), slot);
}

static inline void arc_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	push(queue, was_ghost ? T2 : T1, slot);
}

static void arc_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;

	assert(state->count[T1] + state->count[T2] == queue->resident);
	assert(state->count[B1] + state->count[B2] == queue->ghosts);
	if (queue->cache) /* what fits, moves */
		return;
	assert(state->count[T1] + state->count[B1] <= queue->capacity);
	assert(queue->resident == queue->capacity || queue->ghosts == 0);
	assert(state->t1_target <= (uint64_t)queue->capacity << POINT);
}

static inline void arc_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static uint64_t arc_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_arc = {
	.name = "arc",
	.summary = "adaptive replacement cache: once and more often used, with ghosts",
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.ghosts_max = arc_ghosts_max,
	.use = arc_use,
	.is_ghost = arc_is_ghost,
	.back = arc_back,
	.miss = arc_miss,
	.victim = arc_victim,
	.evict = arc_evict,
	.spare = arc_spare,
	.enter = arc_enter,
	.forget = arc_forget,
	.prefetch = arc_prefetch,
	.check = arc_check,
	.tail_count = 4,
	.bare_run = arc_bare_run,
};

BARE_CLONES static uint64_t arc_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_arc, keys, count);
}
