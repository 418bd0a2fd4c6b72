/*
 * car: clock with adaptive replacement
 *
 * Idea       ARC (arc.c) with two clocks in place of its two LRU queues: a use sets a bit and moves
 *            nothing. T1 are pages that came in lately, T2 those that were used since; what leaves
 *            them is remembered in B1 and B2, and who comes back says which clock was too short,
 *            and moves the target p of T1.
 *
 *                       used                  used: once more round
 *            T1 oldest ------> newest T2      T2 oldest ------> newest T2
 *               | not used                       | not used
 *               v newest B1                      v newest B2
 *
 * Source     Bansal, Modha: "CAR: Clock with Adaptive Replacement", FAST 2004, figure 2
 * Differs    1. p is a real number with 32 binary digits after the point, and is a whole number if
 *               it nearly is (as in arc.c); Caffeine's simulator divides whole numbers
 *            2. where fewer pages fit than did (the full model), ghosts go until the paper's bounds
 *               hold again
 * State      3 bits a record (a byte and a bit here) and as many ghosts as pages; p
 * Weakness   as arc's: a loop larger than the cache
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

static uint64_t car_ghosts_max(uint64_t pages)
{
	return pages;
}

static inline enum list list_of(const struct page_queue *queue, uint32_t slot)
{
	return (enum list)queue->own[slot];
}

static inline bool car_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return list_of(queue, slot) >= GHOST;
}

static inline void unmark(struct page_queue *queue, uint32_t slot)
{
	queue->marks[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

static inline bool is_marked(const struct page_queue *queue, uint32_t slot)
{
	return queue->marks[slot / 64] >> (slot % 64) & 1;
}

static inline void push(struct page_queue *queue, enum list list, uint32_t slot)
{
	struct state *state = queue->state;

	queue_push(queue->pages, list, slot);
	queue->own[slot] = (uint8_t)list;
	state->count[list]++;
}

static inline void pull(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	state->count[list_of(queue, slot)]--;
}

static inline void car_forget(struct page_queue *queue, uint32_t slot)
{
	pull(queue, slot);
	unmark(queue, slot);
}

static inline void drop_oldest(struct page_queue *queue, enum list list)
{
	uint32_t slot = queue->pages[list].prev;

	pull(queue, slot);
	queue_drop(queue, slot);
}

static inline void car_use(struct page_queue *queue, uint32_t slot)
{
	queue->marks[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static inline void car_back(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	state->asked = list_of(queue, slot);
	pull(queue, slot);
}

/* The paper's replace(), up to the page that it finds. */
static inline uint32_t car_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;

	for (;;) {
		uint64_t t1 = (uint64_t)state->count[T1] << POINT;
		bool from_t1 =
			state->count[T2] == 0 || (state->count[T1] > 0 && t1 >= state->t1_target);
		uint32_t oldest = queue->pages[from_t1 ? T1 : T2].prev;

		if (!is_marked(queue, oldest))
			return oldest;
		unmark(queue, oldest);
		pull(queue, oldest);
		push(queue, T2, oldest);
	}
}

/*
 * It becomes a ghost. If what is asked for is none, one ghost goes for it: of B1 if T1 and B1 are
 * all that fits, else of B2 if all are twice that. This may be the one that just came.
 */
static inline bool car_evict(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	enum list list = list_of(queue, slot), to = (enum list)(list + GHOST);
	uint64_t most = queue->capacity;

	car_forget(queue, slot);
	push(queue, to, slot);
	while (state->asked == T1) {
		uint64_t resident = state->count[T1] + state->count[T2];
		enum list from = (uint64_t)state->count[T1] + state->count[B1] >= most &&
						 state->count[B1] > 0
					 ? B1
					 : B2;

		if (from == B2 && (state->count[B2] == 0 ||
				   resident + state->count[B1] + state->count[B2] < 2 * most))
			break;
		if (queue->pages[from].prev == slot) {
			pull(queue, slot);
			return false;
		}
		drop_oldest(queue, from);
	}
	return true;
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

/* After replace(), and with the page still among the ghosts: it is counted there. */
static inline void adapt(struct page_queue *queue)
{
	struct state *state = queue->state;
	uint64_t most = (uint64_t)queue->capacity << POINT, p = state->t1_target, move;
	uint32_t b1 = state->count[B1] + (state->asked == B1);
	uint32_t b2 = state->count[B2] + (state->asked == B2);

	if (state->asked == B1) {
		move = step(b2, b1);
		state->t1_target = p < most && most - p > move ? settle(p + move) : most;
	} else {
		move = step(b1, b2);
		state->t1_target = p > move ? settle(p - move) : 0;
	}
}

static inline void car_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	struct state *state = queue->state;

	if (was_ghost && state->asked != T1)
		adapt(queue);
	state->asked = T1;
	push(queue, was_ghost ? T2 : T1, slot);
}

/* As if it had been used. */
static void car_spare(struct page_queue *queue, uint32_t slot)
{
	pull(queue, slot);
	push(queue, T2, slot);
}

static void car_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;

	assert(state->count[T1] + state->count[T2] == queue->resident);
	assert(state->count[B1] + state->count[B2] == queue->ghosts);
	for (uint32_t list = B1; list <= B2; list++)
		for (uint32_t slot = queue->pages[list].next; slot != list;
		     slot = queue->pages[slot].next)
			assert(!is_marked(queue, slot));
	if (queue->cache) /* what fits, moves */
		return;
	assert(state->count[T1] + state->count[B1] <= queue->capacity);
	assert(queue->ghosts <= queue->capacity);
	assert(queue->resident == queue->capacity || queue->ghosts == 0);
	assert(state->t1_target <= (uint64_t)queue->capacity << POINT);
}

static uint64_t car_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_car = {
	.name = "car",
	.summary = "clock with adaptive replacement: arc, with clocks for queues",
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.has_marks = true,
	.ghosts_max = car_ghosts_max,
	.use = car_use,
	.is_ghost = car_is_ghost,
	.back = car_back,
	.victim = car_victim,
	.evict = car_evict,
	.spare = car_spare,
	.enter = car_enter,
	.forget = car_forget,
	.check = car_check,
	.bare_run = car_bare_run,
};

BARE_CLONES static uint64_t car_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_car, keys, count);
}
