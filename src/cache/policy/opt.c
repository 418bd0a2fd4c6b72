/*
 * opt: the page that is needed last goes
 *
 * Idea       Whoever knows the future evicts the page whose next use is farthest away. Nothing can
 *            miss less often and still keep each page that it reads; so this is the bound that
 *            others are shown beside.
 * Source     Belady: "A study of replacement algorithms for a virtual-storage computer", IBM
 *            Systems Journal 5(2), 1966, algorithm MIN; Mattson, Gecsei, Slutz, Traiger, 1970, OPT
 * Differs    1. each page that missed is kept, even one that is never needed again (demand
 *            insertion, as a page cache does); with leave to pass pages by, the bound is lower by a
 *            few misses
 *            2. of pages that are never needed again, which one goes is not told: it changes no
 *            count
 * State      A page is known by when it is needed next: at request i, what was kept for i is a hit.
 *            So there is no index and no page record: a bit for each request of the trace, set if a
 *            page is kept for it, and a tree of 64 branches above these bits to find the last one.
 *            1/8 byte a request and 1/63 of that; beside it the future itself (future.h), which
 *            caches of all sizes share
 * Weakness   nobody knows the future: the whole trace is read first, so it must fit in memory
 */
#include "base/memory.h"
#include "cache/bare_loop.h"
#include "cache/future.h"
#include "cache/policy/shelf.h"

enum { LEVELS_MAX = 6 }; /* 64^6 > 2^32 */

struct state {
	const struct future *future;
	uint64_t at;    /* requests so far */
	uint32_t never; /* resident pages that are not needed again */
	uint32_t levels;
	/* levels[0] has a bit a request; a bit of the next says that a word has one. */
	uint64_t *level[LEVELS_MAX];
	uint64_t words[];
};

static void *opt_foresee(const struct future *future)
{
	uint64_t counts[LEVELS_MAX], all = 0, bits = future_count(future);
	uint32_t levels = 0;
	struct state *state;

	do {
		bits = bits / 64 + 1;
		counts[levels++] = bits;
		all += bits;
	} while (bits > 1);
	state = memory_alloc(1, sizeof(*state) + all * sizeof(uint64_t));
	state->future = future;
	state->levels = levels;
	all = 0;
	for (uint32_t i = 0; i < levels; i++) {
		state->level[i] = state->words + all;
		all += counts[i];
	}
	return state;
}

static inline void keep_until(struct state *state, uint32_t position)
{
	for (uint32_t i = 0; i < state->levels; i++) {
		uint64_t *word = &state->level[i][position / 64], before = *word;

		*word |= UINT64_C(1) << (position % 64);
		if (before)
			return;
		position /= 64;
	}
}

static inline void give_up(struct state *state, uint32_t position)
{
	for (uint32_t i = 0; i < state->levels; i++) {
		uint64_t *word = &state->level[i][position / 64];

		*word &= ~(UINT64_C(1) << (position % 64));
		if (*word)
			return;
		position /= 64;
	}
}

/* The latest position that a page is kept for; there is one. */
static inline uint32_t farthest(const struct state *state)
{
	uint32_t at = 0;

	for (uint32_t i = state->levels; i-- > 0;)
		at = at * 64 + 63 - (uint32_t)__builtin_clzll(state->level[i][at]);
	return at;
}

static uint64_t opt_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	struct state *state = bare->queue.state;
	uint64_t misses = 0;

	(void)keys; /* the future knows them */
	assert(count <= future_count(state->future) - state->at);
	for (uint64_t end = state->at + count; state->at < end; state->at++) {
		uint32_t now = (uint32_t)state->at, next = future_next(state->future, now);

		if (state->level[0][now / 64] >> (now % 64) & 1) {
			give_up(state, now);
		} else {
			misses++;
			if (bare->queue.resident < bare->queue.capacity) {
				bare->queue.resident++;
			} else {
				if (state->never > 0)
					state->never--;
				else
					give_up(state, farthest(state));
				bare->evictions++;
			}
		}
		if (next == FUTURE_NEVER)
			state->never++;
		else
			keep_until(state, next);
	}
	return misses;
}

const struct policy policy_opt = {
	.name = "opt",
	.summary = "Belady's bound: the page needed last goes; reads the whole trace first",
	.foresee = opt_foresee,
	.bare_run = opt_bare_run,
};
