/*
 * hyperbolic: how often since it came, for how long it has been here
 *
 * Idea       A page is worth its uses divided by its age, both since it entered: a new page starts
 *            high and falls quickly unless it is used, an old one falls slowly. No queue can keep
 *            such an order, since pages overtake each other while nobody touches them; so some are
 *            drawn by lot, and the one of least worth goes.
 * Source     Blankstein, Sen, Freedman: "Hyperbolic Caching: Flexible Caching for Web Applications",
 *            USENIX ATC 2017, all pages alike in size and cost
 * Differs    1. age is in requests; in the full model, in uses and entries
 *            2. the lots are drawn with replacement: the same page may be drawn twice
 *            3. uses are counted up to 2^24 - 1, ages up to 2^40 - 1
 * State      8 bytes a page: when it entered, and uses; requests so far
 * Options    samples: pages drawn, 64 as in the paper
 * Weakness   a page that was used much long ago outlives newer, hotter ones for as long again; and
 *            each eviction looks at 64 pages that lie anywhere in memory
 */
#include "base/random.h"
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

enum { OPTION_SAMPLES };

static const struct policy_option hyperbolic_options[] = {
	[OPTION_SAMPLES] = {"samples", 2, 256, 64,
			    "pages drawn by lot for each eviction, of which the worst goes"},
	{0},
};

enum { USES_BITS = 24, ROUNDS = 16 };

#define USES_MAX ((UINT64_C(1) << USES_BITS) - 1)

struct worth {
	uint64_t entered : 64 - USES_BITS; /* the request it came in with, from 1 */
	uint64_t uses : USES_BITS;         /* 0: no page is here */
};
static_assert(sizeof(struct worth) == 8, "8 bytes a page");

struct state {
	uint64_t now;   /* requests so far */
	uint32_t first; /* the first slot that is a page's */
	struct random random;
};

static void hyperbolic_init(struct page_queue *queue)
{
	struct state *state = queue->state;

	state->first = queue->slots;
	random_init(&state->random, queue->seed, 0);
}

static inline void hyperbolic_use(struct page_queue *queue, uint32_t slot)
{
	struct worth *own = QUEUE_OWN(queue, struct worth, slot);
	struct state *state = queue->state;
	uint64_t uses = own->uses;

	state->now++;
	own->uses = (uses + (uses < USES_MAX)) & USES_MAX;
}

static inline void hyperbolic_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	struct state *state = queue->state;

	(void)was_ghost;
	state->now++;
	*QUEUE_OWN(queue, struct worth, slot) =
		(struct worth){.entered = state->now & (UINT64_MAX >> USES_BITS), .uses = 1};
	queue_push(queue->pages, 0, slot);
}

static inline void hyperbolic_forget(struct page_queue *queue, uint32_t slot)
{
	*QUEUE_OWN(queue, struct worth, slot) = (struct worth){0};
	queue_unlink(queue->pages, slot);
}

/* Two lots of 32 bits from each number: the bias that is in them is below a page in 2^32. */
static void draw(struct page_queue *queue, uint32_t *drawn, uint32_t count)
{
	struct state *state = queue->state;
	uint64_t span = queue->slots - state->first;

	for (uint32_t i = 0; i < count; i += 2) {
		uint64_t lots = random_next(&state->random);

		drawn[i] = state->first + (uint32_t)(((lots >> 32) * span) >> 32);
		drawn[i + 1] = state->first + (uint32_t)(((lots & UINT32_MAX) * span) >> 32);
		prefetch_read(QUEUE_OWN(queue, struct worth, drawn[i]));
		prefetch_read(QUEUE_OWN(queue, struct worth, drawn[i + 1]));
	}
}

static inline uint32_t hyperbolic_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t count = queue->options[OPTION_SAMPLES] & ~1u, drawn[256];
	uint32_t worst = 0;
	uint64_t worst_uses = 0, worst_age = 0;

	/* Numbers that are free are passed over: in the plain cache there are none. */
	for (uint32_t round = 0; round < ROUNDS && !worst; round++) {
		draw(queue, drawn, count);
		for (uint32_t i = 0; i < count; i++) {
			struct worth own = *QUEUE_OWN(queue, struct worth, drawn[i]);
			uint64_t age = state->now + 1 - own.entered;

			/* uses / age < worst_uses / worst_age */
			if (own.uses && (!worst || own.uses * worst_age < worst_uses * age)) {
				worst = drawn[i];
				worst_uses = own.uses;
				worst_age = age;
			}
		}
	}
	return worst ? worst : queue->pages[0].prev;
}

/* As if it had been used. */
static void hyperbolic_spare(struct page_queue *queue, uint32_t slot)
{
	hyperbolic_use(queue, slot);
	queue_unlink(queue->pages, slot);
	queue_push(queue->pages, 0, slot);
}

static void hyperbolic_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;

	for (uint32_t slot = queue->pages[0].next; slot != 0; slot = queue->pages[slot].next) {
		const struct worth *own = QUEUE_OWN(queue, const struct worth, slot);

		assert(own->uses >= 1 && own->entered >= 1 && own->entered <= state->now);
	}
}

static uint64_t hyperbolic_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_hyperbolic = {
	.name = "hyperbolic",
	.summary = "of pages drawn by lot, the one with the fewest uses for its age goes",
	.options = hyperbolic_options,
	.slot_bytes = sizeof(struct worth),
	.state_bytes = sizeof(struct state),
	.init = hyperbolic_init,
	.use = hyperbolic_use,
	.victim = hyperbolic_victim,
	.spare = hyperbolic_spare,
	.enter = hyperbolic_enter,
	.forget = hyperbolic_forget,
	.check = hyperbolic_check,
	.bare_run = hyperbolic_bare_run,
};

BARE_CLONES static uint64_t hyperbolic_bare_run(struct bare *bare, const uint64_t *keys,
						size_t count)
{
	return bare_run_with(bare, &policy_hyperbolic, keys, count);
}
