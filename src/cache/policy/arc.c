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
};

static uint64_t arc_record_count(uint64_t pages)
{
	return 2 * pages;
}

static inline void push(struct bare *bare, enum list list, uint32_t slot)
{
	struct state *state = bare_state(bare);

	queue_push(bare->queue.pages, list, slot);
	*bare_own(bare, slot, 1) = (uint8_t)list;
	state->count[list]++;
}

static inline void pull(struct bare *bare, enum list list, uint32_t slot)
{
	struct state *state = bare_state(bare);

	queue_unlink(bare->queue.pages, slot);
	state->count[list]--;
}

static inline uint32_t pull_oldest(struct bare *bare, enum list list)
{
	uint32_t slot = bare->queue.pages[list].prev;

	pull(bare, list, slot);
	return slot;
}

/* REPLACE(): the oldest of T1 or T2 becomes a ghost. */
static inline void replace(struct bare *bare, bool for_b2)
{
	const struct state *state = bare_state(bare);
	uint64_t t1 = (uint64_t)state->count[T1] << POINT;
	enum list from;

	if (bare->resident < bare->capacity)
		return;
	from = state->count[T2] == 0 || (t1 > 0 && (t1 > state->t1_target ||
						    (for_b2 && t1 == state->t1_target)))
		       ? T1
		       : T2;
	push(bare, (enum list)(from + GHOST), pull_oldest(bare, from));
	bare->resident--;
	bare->evictions++;
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

static inline void adapt(const struct bare *bare, enum list hit)
{
	struct state *state = bare_state(bare);
	uint64_t most = (uint64_t)bare->capacity << POINT, move;

	if (hit == B1) {
		move = step(state->count[B2], state->count[B1]);
		state->t1_target =
			most - state->t1_target > move ? settle(state->t1_target + move) : most;
	} else {
		move = step(state->count[B1], state->count[B2]);
		state->t1_target = state->t1_target > move ? settle(state->t1_target - move) : 0;
	}
}

static inline bool arc_bare_use(struct bare *bare, uint32_t slot)
{
	enum list list = (enum list) * bare_own(bare, slot, 1);
	bool is_hit = list < GHOST;

	if (!is_hit) {
		adapt(bare, list);
		replace(bare, list == B2);
		bare->resident++;
	}
	pull(bare, list, slot);
	push(bare, T2, slot);
	return is_hit;
}

static inline void arc_make_room(struct bare *bare)
{
	const struct state *state = bare_state(bare);

	if (state->count[T1] + state->count[B1] == bare->capacity) {
		if (state->count[B1] > 0) {
			bare_drop(bare, pull_oldest(bare, B1));
			replace(bare, false);
		} else {
			bare_drop(bare, pull_oldest(bare, T1));
			bare->resident--;
			bare->evictions++;
		}
		return;
	}
	if (bare->records >= 2 * (uint64_t)bare->capacity)
		bare_drop(bare, pull_oldest(bare, B2));
	replace(bare, false);
}

static inline void arc_enter(struct bare *bare, uint32_t slot)
{
	push(bare, T1, slot);
	bare->resident++;
}

static void arc_bare_check(const struct bare *bare)
{
	const struct state *state = bare_state(bare);

	assert(state->count[T1] + state->count[T2] == bare->resident);
	assert(state->count[T1] + state->count[B1] <= bare->capacity);
	assert(state->count[B1] + state->count[B2] + bare->resident == bare->records);
	assert(bare->resident == bare->capacity || state->count[B1] + state->count[B2] == 0);
	assert(state->t1_target <= (uint64_t)bare->capacity << POINT);
}

static const struct ghost_policy arc_ghosts = {
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.record_count = arc_record_count,
	.use = arc_bare_use,
	.make_room = arc_make_room,
	.enter = arc_enter,
	.check = arc_bare_check,
};

static uint64_t arc_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_arc = {
	.name = "arc",
	.summary = "adaptive replacement cache: once and more often used, with ghosts",
	.ghosts = &arc_ghosts,
	.bare_run = arc_bare_run,
};

BARE_CLONES static uint64_t arc_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_arc, keys, count);
}
