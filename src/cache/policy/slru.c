/*
 * slru: segmented LRU
 *
 * Idea       A page enters on probation; one that is used there is protected. Protected pages are a
 *            queue of their own, of limited length: its oldest goes back on probation, as the
 *            newest, and so has another chance. Victims are on probation, so that pages used once
 *            push out only such:
 *
 *                 enter -> newest [ probation ] oldest -> victim
 *                             ^         | used
 *                      oldest [ protected ] newest
 *
 * Source     Karedla, Love, Wherry: "Caching Strategies to Improve Disk System Performance", IEEE
 *            Computer 27(3), 1994
 * Differs    1. while there is room all pages enter on probation; libCacheSim, which otherwise does
 *            the same with seg-size=1:4, fills the protected segment first
 * State      1 bit a page; how many are protected
 * Options    protected: 80 % of the pages, as in Caffeine's simulator and in W-TinyLFU; the paper
 *            leaves it to who builds it
 * Weakness   pages that were in use once, twice, stay as long as nothing better comes: it does not
 *            age; and a loop a little larger than the cache
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

enum list { PROBATION, PROTECTED, LISTS };

enum { OPTION_PROTECTED };

static const struct policy_option slru_options[] = {
	[OPTION_PROTECTED] = {"protected", 0, 99, 80,
			      "how many of the pages may be protected, percent"},
	{0},
};

struct state {
	uint32_t protected_count;
};

static inline bool is_protected(const struct page_queue *queue, uint32_t slot)
{
	return queue->marks[slot / 64] >> (slot % 64) & 1;
}

static inline void flip(struct page_queue *queue, uint32_t slot)
{
	queue->marks[slot / 64] ^= UINT64_C(1) << (slot % 64);
}

static inline uint64_t protected_max(const struct page_queue *queue)
{
	return (uint64_t)queue->capacity * queue->options[OPTION_PROTECTED] / 100;
}

/* Those beyond what may be protected go back. */
static inline void demote(struct page_queue *queue, uint64_t most)
{
	struct state *state = queue->state;

	while (state->protected_count > most) {
		uint32_t slot = queue->pages[PROTECTED].prev;

		queue_unlink(queue->pages, slot);
		queue_push(queue->pages, PROBATION, slot);
		flip(queue, slot);
		state->protected_count--;
	}
}

static inline void slru_use(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;
	uint64_t most;

	queue_unlink(queue->pages, slot);
	queue_push(queue->pages, PROTECTED, slot);
	if (is_protected(queue, slot))
		return;
	flip(queue, slot);
	state->protected_count++;
	most = protected_max(queue);
	if (state->protected_count > most)
		demote(queue, most);
}

static inline uint32_t slru_victim(struct page_queue *queue)
{
	uint32_t oldest = queue->pages[PROBATION].prev;

	(void)queue_prefetch_next(queue, oldest);
	return oldest != PROBATION ? oldest : queue->pages[PROTECTED].prev;
}

static inline void slru_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	if (!is_protected(queue, slot))
		return;
	flip(queue, slot);
	state->protected_count--;
}

/* Among the protected, so that in the end all have been looked at. */
static void slru_spare(struct page_queue *queue, uint32_t slot)
{
	slru_forget(queue, slot);
	queue_push(queue->pages, PROTECTED, slot);
	flip(queue, slot);
	((struct state *)queue->state)->protected_count++;
}

static inline void slru_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static void slru_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t count = 0;

	for (uint32_t slot = queue->pages[PROTECTED].next; slot != PROTECTED;
	     slot = queue->pages[slot].next) {
		assert(is_protected(queue, slot));
		count++;
	}
	assert(count == state->protected_count);
	assert(queue->cache || count <= protected_max(queue));
}

static uint64_t slru_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_slru = {
	.name = "slru",
	.summary = "segmented LRU: on probation until it is used again",
	.options = slru_options,
	.list_count = LISTS,
	.state_bytes = sizeof(struct state),
	.has_marks = true,
	.use = slru_use,
	.victim = slru_victim,
	.spare = slru_spare,
	.forget = slru_forget,
	.prefetch = slru_prefetch,
	.check = slru_check,
	.bare_run = slru_bare_run,
};

BARE_CLONES static uint64_t slru_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_slru, keys, count);
}
