/*
 * clockpro: hot and cold pages in one clock, told apart by how soon they are used again
 *
 * Idea       Pages that are used again sooner than hot ones were are hot. All pages, newest first,
 *            are in one list: hot ones, cold ones, and ghosts of cold ones. A cold page is in test
 *            from when it enters until the hot hand has passed it: a use meanwhile makes it hot (and
 *            a hot one cold), even when it has left by then, since its ghost stays that long. A
 *            hand is at the oldest page of its kind, and moves towards the newest:
 *
 *              newest  C H C h H c H g C h c H g h c H c h H c c  oldest     (h, c: not used again)
 *                                    ^       ^                ^
 *                                 test     hot             cold: its page goes, unless it was used
 *
 *            How many pages may be cold follows from who comes back: one more for a page used in
 *            test, one less for one that was not.
 * Source     Jiang, Chen, Zhang: "CLOCK-Pro: An Effective Improvement of the CLOCK Replacement",
 *            USENIX 2005. What the text leaves open is as in the authors' simulator, by way of
 *            Caffeine's (irr.ClockPro): until the cache is full, pages enter hot but for the
 *            least number of cold ones; a ghost that comes back, or a used cold page, becomes hot
 *            only if the hot hand finds one to become cold before it comes to where that page
 *            was; and a page asked for twice in a row was used once
 * Differs    1. where a page's place in the list matters after its ghost was taken (the hot hand may
 *               come to it), a record of ours stands there for it
 *            2. ghosts are as many as pages at most, as in the paper; Caffeine has twice that
 *            3. the full model may find no cold page: then the hot hand makes one
 * State      a byte a record, as many ghosts as pages; three hands
 * Constants  cold pages: at least 1 %, and all but 1 % at most, as in Caffeine and for LIRS
 * Weakness   a hot page that is not used any more stays until the hot hand comes round
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

/* PLACE is no list: the record that stands where a ghost was. */
enum { ALL, PLACE, LISTS };

enum { COLD_LEAST_PERCENT = 1 };

enum flags { HOT = 1, IN_TEST = 2, RESIDENT = 4, USED = 8 };

struct state {
	uint32_t hot_hand, cold_hand, test_hand; /* slots; 0: there is no page of that kind */
	uint32_t hot_count;
	uint32_t cold_target; /* resident cold pages */
	uint32_t last;        /* what was asked for last, if it was there */
	uint32_t asked;       /* whose place PLACE is; 0: it stands nowhere */
	bool was_full;
};

static uint64_t clockpro_ghosts_max(uint64_t pages)
{
	return pages;
}

static inline uint32_t cold_least(const struct page_queue *queue)
{
	uint32_t least = (uint32_t)((uint64_t)queue->capacity * COLD_LEAST_PERCENT / 100);

	return least ? least : 1;
}

static void clockpro_init(struct page_queue *queue)
{
	struct state *state = queue->state;

	state->cold_target = cold_least(queue);
}

static inline bool is_cold(const struct page_queue *queue, uint32_t slot)
{
	return (queue->own[slot] & (HOT | RESIDENT)) == RESIDENT;
}

static inline bool clockpro_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return !(queue->own[slot] & RESIDENT);
}

static inline void cold_adjust(struct page_queue *queue, bool more)
{
	struct state *state = queue->state;
	uint32_t least = cold_least(queue), most = queue->capacity - least;

	state->cold_target += more ? 1 : UINT32_MAX;
	if (state->cold_target > most)
		state->cold_target = most;
	if (state->cold_target < least)
		state->cold_target = least;
}

/* ---- the list, and the hands' way through it ---- */

/* Where a hand will come next. */
static inline void way_ahead(const struct page_queue *queue, uint32_t slot)
{
	uint32_t newer = queue->pages[slot].prev;

	prefetch_write(&queue->pages[newer]);
	prefetch_write(&queue->own[newer]);
}

static inline void cold_hand_moves(struct page_queue *queue)
{
	struct state *state = queue->state;

	while (state->cold_hand && !is_cold(queue, state->cold_hand))
		state->cold_hand = queue->pages[state->cold_hand].prev;
	way_ahead(queue, state->cold_hand);
}

static inline void test_hand_moves(struct page_queue *queue)
{
	struct state *state = queue->state;

	while (state->test_hand && !(queue->own[state->test_hand] & IN_TEST))
		state->test_hand = queue->pages[state->test_hand].prev;
	way_ahead(queue, state->test_hand);
}

/* Off the list: hands that are there stand one nearer to the newest. */
static inline void pull(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;
	uint32_t newer = queue->pages[slot].prev;

	state->hot_count -= queue->own[slot] & HOT;
	if (state->hot_hand == slot)
		state->hot_hand = newer;
	if (state->cold_hand == slot)
		state->cold_hand = newer;
	if (state->test_hand == slot)
		state->test_hand = newer;
	queue_unlink(queue->pages, slot);
}

/*
 * The test ends without a use, or with one that nobody saw. A ghost goes; not PLACE, which is none,
 * and not `kept`, whose record is the caller's.
 */
static inline void test_ends(struct page_queue *queue, uint32_t slot, uint32_t kept)
{
	struct state *state = queue->state;
	uint8_t *own = &queue->own[slot];

	cold_adjust(queue, *own & USED);
	*own &= (uint8_t)~IN_TEST;
	if (!(*own & RESIDENT)) {
		pull(queue, slot);
		if (slot == PLACE) {
			queue_init(queue->pages, PLACE);
			state->asked = 0;
		} else if (slot != kept) {
			queue_drop(queue, slot);
		}
	}
	test_hand_moves(queue);
	cold_hand_moves(queue);
}

/* To the next hot page; who is passed is no longer in test. */
static inline void hot_hand_moves(struct page_queue *queue)
{
	struct state *state = queue->state;

	while (state->hot_hand && !(queue->own[state->hot_hand] & HOT)) {
		uint32_t passed = state->hot_hand;

		state->hot_hand = queue->pages[passed].prev;
		if (queue->own[passed] & IN_TEST)
			test_ends(queue, passed, 0);
	}
}

static inline void push(struct page_queue *queue, uint32_t slot, uint8_t flags)
{
	struct state *state = queue->state;

	queue->own[slot] = flags;
	queue_push(queue->pages, ALL, slot);
	if (flags & HOT) {
		state->hot_count++;
		if (!state->hot_hand) {
			/* All others are cold, and older. */
			state->hot_hand = queue->pages[ALL].prev;
			hot_hand_moves(queue);
		}
	} else if (!state->cold_hand) {
		state->cold_hand = slot;
	}
	if (flags & IN_TEST && !state->test_hand)
		state->test_hand = slot;
}

static inline void to_newest(struct page_queue *queue, uint32_t slot, uint8_t flags)
{
	pull(queue, slot);
	push(queue, slot, flags);
	cold_hand_moves(queue);
	test_hand_moves(queue);
	hot_hand_moves(queue);
}

/* ---- hot ones ---- */

/*
 * The oldest hot page that was not used becomes cold, for the sake of a page in test. False: the
 * hand came to that page first.
 */
static inline bool hot_hand_runs(struct page_queue *queue, uint32_t for_slot)
{
	const struct state *state = queue->state;

	while (state->hot_hand && queue->own[for_slot] & IN_TEST) {
		uint32_t hot = state->hot_hand;
		bool used = queue->own[hot] & USED;

		to_newest(queue, hot, used ? HOT | RESIDENT : RESIDENT);
		if (!used)
			return true;
	}
	return false;
}

/* A page in test (or PLACE) was used: is there room for it among the hot? */
static inline bool may_be_hot(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;

	if (!(queue->own[slot] & IN_TEST))
		return false;
	cold_adjust(queue, true);
	queue->own[slot] &= (uint8_t)~USED;
	while ((uint64_t)state->hot_count + state->cold_target >= queue->capacity)
		if (!(queue->own[slot] & IN_TEST) || !hot_hand_runs(queue, slot))
			return false;
	return true;
}

/* ---- what the engine asks ---- */

static inline void clockpro_use(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	if (slot != state->last)
		queue->own[slot] |= USED;
	state->last = slot;
}

static inline void place_leaves(struct page_queue *queue)
{
	struct state *state = queue->state;

	if (!state->asked)
		return;
	pull(queue, PLACE);
	queue_init(queue->pages, PLACE);
	queue->own[PLACE] = 0;
	state->asked = 0;
	test_hand_moves(queue);
	hot_hand_moves(queue);
	cold_hand_moves(queue);
}

/* PLACE stands where it was. */
static inline void clockpro_back(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;
	uint32_t newer;

	place_leaves(queue);
	newer = queue->pages[slot].prev;
	queue_unlink(queue->pages, slot);
	queue_push(queue->pages, newer, PLACE);
	queue->own[PLACE] = queue->own[slot];
	queue->own[slot] = 0;
	if (state->test_hand == slot)
		state->test_hand = PLACE;
	state->asked = slot;
}

static inline uint32_t clockpro_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;

	for (;;) {
		uint32_t slot = state->cold_hand;
		uint8_t own = queue->own[slot];

		if (!slot) { /* not in the plain cache */
			slot = state->hot_hand;
			own = queue->own[slot];
			to_newest(queue, slot, own & USED ? HOT | RESIDENT : RESIDENT);
		} else if (!(own & USED)) {
			return slot;
		} else if (own & IN_TEST && may_be_hot(queue, slot)) {
			to_newest(queue, slot, HOT | RESIDENT);
		} else {
			to_newest(queue, slot, RESIDENT | IN_TEST);
		}
	}
}

static void clockpro_forget(struct page_queue *queue, uint32_t slot)
{
	pull(queue, slot);
	queue->own[slot] = 0;
	test_hand_moves(queue);
	hot_hand_moves(queue);
	cold_hand_moves(queue);
}

/* In test, its ghost stays where it was; if that is one too many, the oldest test ends. */
static inline bool clockpro_evict(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	state->was_full = true;
	if (!(queue->own[slot] & IN_TEST)) {
		clockpro_forget(queue, slot);
		return false;
	}
	queue->own[slot] = IN_TEST;
	while ((uint64_t)queue->ghosts + 1 + (state->asked != 0) > queue->capacity) {
		bool is_own = state->test_hand == slot;

		test_ends(queue, state->test_hand, slot);
		if (is_own)
			break;
	}
	cold_hand_moves(queue);
	return queue->own[slot] & IN_TEST;
}

static inline void clockpro_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	struct state *state = queue->state;
	bool hot = false;

	if (!state->was_full) {
		uint32_t free = queue->capacity - (queue->resident - 1);

		hot = queue->capacity >= queue->resident && free > cold_least(queue);
	} else if (was_ghost && state->asked == slot) {
		hot = may_be_hot(queue, PLACE);
	}
	place_leaves(queue);
	push(queue, slot, hot ? HOT | RESIDENT : RESIDENT | IN_TEST);
	state->last = slot;
}

/* It is hot, so that in the end all have been looked at. */
static void clockpro_spare(struct page_queue *queue, uint32_t slot)
{
	to_newest(queue, slot, HOT | RESIDENT);
}

static void clockpro_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t hot = 0, cold_hand = 0, hot_hand = 0, test_hand = 0;

	for (uint32_t slot = queue->pages[ALL].prev; slot != ALL; slot = queue->pages[slot].prev) {
		uint8_t own = queue->own[slot];

		hot += own & HOT;
		assert(own & (RESIDENT | IN_TEST) && slot != PLACE);
		assert(!(own & HOT) || own & RESIDENT);
		if (own & HOT && !hot_hand)
			hot_hand = slot;
		if (is_cold(queue, slot) && !cold_hand)
			cold_hand = slot;
		if (own & IN_TEST && !test_hand)
			test_hand = slot;
		/* No test is older than the oldest hot page. */
		assert(hot_hand || !test_hand || !state->hot_count);
	}
	assert(hot == state->hot_count && hot_hand == state->hot_hand);
	assert(cold_hand == state->cold_hand && test_hand == state->test_hand);
	assert(state->asked == 0);
}

static uint64_t clockpro_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_clockpro = {
	.name = "clockpro",
	.summary = "CLOCK-Pro: hot and cold pages in one clock, told apart by when they are used "
		   "again",
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.ghosts_max = clockpro_ghosts_max,
	.init = clockpro_init,
	.use = clockpro_use,
	.is_ghost = clockpro_is_ghost,
	.back = clockpro_back,
	.lost = place_leaves,
	.victim = clockpro_victim,
	.evict = clockpro_evict,
	.spare = clockpro_spare,
	.enter = clockpro_enter,
	.forget = clockpro_forget,
	.check = clockpro_check,
	.bare_run = clockpro_bare_run,
};

BARE_CLONES static uint64_t clockpro_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_clockpro, keys, count);
}
