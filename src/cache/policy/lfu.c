/*
 * lfu: least frequently used, with dynamic ageing
 *
 * Idea       The page with the fewest uses goes. So that pages that were hot long ago do not stay
 *            forever, whatever is used counts from where the last victim stood: K = L + uses, L
 *            being the victim's K. The page of the smallest K goes; L only rises, and what is not
 *            used any more is overtaken.
 * Source     Arlitt, Cherkasova, Dilley, Friedrich, Jin: "Evaluating Content Management Techniques
 *            for Web Proxy Caches", Performance Evaluation Review 27(4), 2000: LFU-DA, with all
 *            pages alike in size and cost
 * Differs    1. the paper leaves open which of several pages with one K goes: here the least
 *            recently used
 *            2. libCacheSim's LFUDA is another thing: a use adds L to K there, in place of 1
 *            3. uses are counted while a page is resident, as in the paper, and up to 2^24 - 1
 * State      8 bytes a page: K and uses; L. The pages lie in a radix heap: list 0 holds those whose K
 *            is L, list n those whose K differs from L first in bit n - 1. Since no K is below L, the
 *            victim is in the first list that is not empty; when that is not list 0, L rises, and it
 *            is spread over the lists before it. Each list is in the order of use, since only empty
 *            ones are spread over. A page moves once a use, and down the
 *            lists at most once for each of them
 * Weakness   a page must be used as often as others were to stay: phases that change quickly
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

enum { USES_BITS = 24, RANK_BITS = 64 - USES_BITS, LISTS = RANK_BITS + 1 };

#define USES_MAX ((UINT64_C(1) << USES_BITS) - 1)

struct rank {
	uint64_t rank : RANK_BITS; /* the paper's K */
	uint64_t uses : USES_BITS;
};
static_assert(sizeof(struct rank) == 8, "8 bytes a page");

static inline struct rank rank_make(uint64_t rank, uint64_t uses)
{
	return (struct rank){.rank = rank & UINT64_MAX >> USES_BITS, .uses = uses & USES_MAX};
}

struct state {
	uint64_t age;      /* the paper's L */
	uint64_t nonempty; /* a bit a list; set though it is empty, now and then */
};

static inline uint32_t list_for(const struct state *state, uint64_t rank)
{
	uint64_t differs = rank ^ state->age;

	return differs ? 64 - (uint32_t)__builtin_clzll(differs) : 0;
}

static inline void push(struct page_queue *queue, uint32_t slot, uint64_t rank)
{
	struct state *state = queue->state;
	uint32_t list = list_for(state, rank);

	queue_push(queue->pages, list, slot);
	state->nonempty |= UINT64_C(1) << list;
}

static inline void lfu_use(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	struct rank *own = QUEUE_OWN(queue, struct rank, slot);
	uint64_t uses = own->uses;

	uses += uses < USES_MAX;
	*own = rank_make(state->age + uses, uses);
	queue_unlink(queue->pages, slot);
	push(queue, slot, own->rank);
}

static inline void lfu_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	const struct state *state = queue->state;

	(void)was_ghost;
	*QUEUE_OWN(queue, struct rank, slot) = rank_make(state->age + 1, 1);
	push(queue, slot, state->age + 1);
}

/*
 * All lists before this one are empty: L may rise to the least K that can be in it, and then what is
 * in it belongs in lists before it. Of list 1 all, in list 0.
 */
static void spread(struct page_queue *queue, uint32_t list)
{
	struct state *state = queue->state;
	struct page *pages = queue->pages;
	uint32_t slot = pages[list].prev, newer;

	state->age = ((state->age >> list) << list) | UINT64_C(1) << (list - 1);
	state->nonempty &= ~(UINT64_C(1) << list);
	if (list == 1) {
		pages[0] = pages[1];
		pages[pages[0].next].prev = pages[pages[0].prev].next = 0;
		state->nonempty |= 1;
		queue_init(pages, 1);
		return;
	}
	queue_init(pages, list);
	for (; slot != list; slot = newer) {
		newer = pages[slot].prev;
		prefetch_write(&pages[newer]);
		prefetch_read(QUEUE_OWN(queue, struct rank, newer));
		push(queue, slot, QUEUE_OWN(queue, struct rank, slot)->rank);
	}
}

static inline uint32_t lfu_victim(struct page_queue *queue)
{
	struct state *state = queue->state;
	uint32_t oldest;

	for (;;) {
		uint32_t list = (uint32_t)__builtin_ctzll(state->nonempty);

		oldest = queue->pages[list].prev;
		if (oldest == list)
			state->nonempty &= ~(UINT64_C(1) << list);
		else if (list > 0)
			spread(queue, list);
		else
			break;
	}
	(void)queue_prefetch_next(queue, oldest);
	return oldest;
}

/* As if it had been used, but not more often. */
static void lfu_spare(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	struct rank *own = QUEUE_OWN(queue, struct rank, slot);

	*own = rank_make(state->age + own->uses, own->uses);
	queue_unlink(queue->pages, slot);
	push(queue, slot, own->rank);
}

static inline void lfu_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static void lfu_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;

	for (uint32_t list = 0; list < LISTS; list++)
		for (uint32_t slot = queue->pages[list].next; slot != list;
		     slot = queue->pages[slot].next) {
			const struct rank *own = QUEUE_OWN(queue, const struct rank, slot);

			assert(own->rank >= state->age && own->uses >= 1);
			assert(list_for(state, own->rank) == list);
			assert(state->nonempty >> list & 1);
		}
}

static uint64_t lfu_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_lfu = {
	.name = "lfu",
	.summary = "least frequently used, with dynamic ageing",
	.list_count = LISTS,
	.slot_bytes = sizeof(struct rank),
	.state_bytes = sizeof(struct state),
	.use = lfu_use,
	.victim = lfu_victim,
	.spare = lfu_spare,
	.enter = lfu_enter,
	.prefetch = lfu_prefetch,
	.check = lfu_check,
	.bare_run = lfu_bare_run,
};

BARE_CLONES static uint64_t lfu_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_lfu, keys, count);
}
