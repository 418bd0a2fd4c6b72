/*
 * lru-k: the page whose K-th last use is longest ago goes
 *
 * Idea       LRU looks at the last use only, and so takes a page used once just now for a hot one.
 *            The K-th last tells how often a page is used; LRU is K = 1, and 2 is enough for most.
 *            Pages with fewer than K known uses go first, the least recently used of them. Uses
 *            that follow each other closely, as of one transaction, count as one; and the uses of
 *            a page that left are remembered for a while, or hardly any would ever have K.
 * Source     O'Neil, O'Neil, Weikum: "The LRU-K Page Replacement Algorithm For Database Disk
 *            Buffering", SIGMOD 1993, figure 2.1
 * Differs    1. times are requests (in the full model, uses and entries), as in the paper's
 *               simulations, not seconds
 *            2. uses of pages that left are remembered for as many pages as fit, the last that left,
 *               beside the paper's period, which alone has no bound in memory
 *            3. the figure finds no victim if all pages are within their correlated period: here
 *               the least recently used goes
 *            4. an unknown use stays unknown when a correlated period is added to it
 * State      24 bytes a record, and as many ghosts as pages; a heap of the pages with K uses by the
 *            K-th last, 8 bytes a page. A use leaves the heap alone: an entry may be too early, and
 *            moves when it is found at the top
 * Options    k; correlated, retained: requests, 0: none (the paper says these are for the builder)
 * Weakness   a page's first K - 1 uses are worth nothing: what is hot for a short time only suffers
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

/* MANY: with K uses; LEFT: ghosts. */
enum list { ONCE, MANY, LEFT, LISTS };

enum { OPTION_K, OPTION_CORRELATED, OPTION_RETAINED, K_MAX = 4, BRANCHES = 4, HEAP_SPARE = 4096 };

static const struct policy_option lru_k_options[] = {
	[OPTION_K] = {"k", 2, K_MAX, 2, "which use counts, from the last"},
	[OPTION_CORRELATED] = {"correlated", 0, 1000000000, 0,
			       "uses of a page that are so many requests apart, or fewer, are one"},
	[OPTION_RETAINED] = {"retained", 0, 4000000000, 0,
			     "for so many requests the uses of a page that left are remembered at "
			     "most (0: as long as there is room)"},
	{0},
};

struct known {
	uint32_t uses[K_MAX]; /* when, the last first; 0: not known */
	uint32_t last;        /* the last of those that count as one with uses[0] */
	uint32_t list;
};
static_assert(sizeof(struct known) == 24, "24 bytes a record");

/* In the heap: a page of MANY, and its K-th last use when it was put here. Others are left over. */
struct entry {
	uint32_t kth, slot;
};

struct state {
	uint32_t now; /* requests so far */
	uint32_t k;
	uint32_t correlated, retained;
	uint32_t heap_count, heap_max;
};

static uint64_t lru_k_ghosts_max(uint64_t pages)
{
	return pages;
}

static uint64_t lru_k_table_bytes(uint64_t pages)
{
	return (pages + HEAP_SPARE) * sizeof(struct entry);
}

static void lru_k_init(struct page_queue *queue)
{
	struct state *state = queue->state;

	state->k = queue->options[OPTION_K];
	state->correlated = queue->options[OPTION_CORRELATED];
	state->retained = queue->options[OPTION_RETAINED];
	state->heap_max = queue->capacity + HEAP_SPARE;
}

static inline struct known *known_of(const struct page_queue *queue, uint32_t slot)
{
	return QUEUE_OWN(queue, struct known, slot);
}

static inline bool lru_k_is_ghost(const struct page_queue *queue, uint32_t slot)
{
	return known_of(queue, slot)->list == LEFT;
}

static inline void push(struct page_queue *queue, enum list list, uint32_t slot)
{
	queue_push(queue->pages, list, slot);
	known_of(queue, slot)->list = list;
}

/* ---- the heap: the smallest first, four below each ---- */

static void sift_down(struct entry *heap, uint32_t count, struct entry entry)
{
	uint32_t at = 0, child;

	while ((child = at * BRANCHES + 1) < count) {
		uint32_t end = child + BRANCHES < count ? child + BRANCHES : count, least = child;

		for (uint32_t i = child + 1; i < end; i++)
			if (heap[i].kth < heap[least].kth)
				least = i;
		if (heap[least].kth >= entry.kth)
			break;
		heap[at] = heap[least];
		at = least;
	}
	heap[at] = entry;
}

static void sift_up(struct entry *heap, uint32_t at, struct entry entry)
{
	while (at > 0 && heap[(at - 1) / BRANCHES].kth > entry.kth) {
		heap[at] = heap[(at - 1) / BRANCHES];
		at = (at - 1) / BRANCHES;
	}
	heap[at] = entry;
}

static inline uint32_t kth_of(const struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;

	return known_of(queue, slot)->uses[state->k - 1];
}

/* What is left over of pages that went otherwise than from the top, goes. */
static void heap_rebuild(struct page_queue *queue)
{
	struct state *state = queue->state;

	state->heap_count = 0;
	for (uint32_t slot = queue->pages[MANY].prev; slot != MANY; slot = queue->pages[slot].prev)
		sift_up(queue->table, state->heap_count++,
			(struct entry){kth_of(queue, slot), slot});
}

/* A page that is in MANY by now. */
static inline void heap_add(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	if (state->heap_count == state->heap_max) {
		heap_rebuild(queue);
		return;
	}
	sift_up(queue->table, state->heap_count++, (struct entry){kth_of(queue, slot), slot});
}

static inline void heap_pop(struct page_queue *queue)
{
	struct state *state = queue->state;
	struct entry *heap = queue->table;

	if (--state->heap_count > 0)
		sift_down(heap, state->heap_count, heap[state->heap_count]);
}

/* The top, once it is a page of MANY and in its right place; 0: there is none. */
static inline uint32_t heap_top(struct page_queue *queue)
{
	struct state *state = queue->state;
	struct entry *heap = queue->table;

	while (state->heap_count > 0) {
		struct entry top = heap[0];
		uint32_t kth;

		if (known_of(queue, top.slot)->list != MANY) {
			heap_pop(queue);
			continue;
		}
		kth = kth_of(queue, top.slot);
		if (top.kth == kth)
			return top.slot;
		sift_down(heap, state->heap_count, (struct entry){kth, top.slot});
	}
	return 0;
}

/* ---- time ---- */

static uint32_t earlier(uint32_t time)
{
	return time == 0 ? 0 : time > UINT32_MAX / 2 ? time - UINT32_MAX / 2 : 1;
}

/* The clock would end: it is put back, and what was long ago becomes one moment. */
static void clock_put_back(struct page_queue *queue)
{
	struct state *state = queue->state;
	struct entry *heap = queue->table;

	for (uint32_t slot = 0; slot < queue->slots; slot++) {
		struct known *known = known_of(queue, slot);

		for (uint32_t i = 0; i < K_MAX; i++)
			known->uses[i] = earlier(known->uses[i]);
		known->last = earlier(known->last);
	}
	for (uint32_t i = 0; i < state->heap_count; i++)
		heap[i].kth = earlier(heap[i].kth);
	state->now = earlier(state->now);
}

static inline uint32_t tick(struct page_queue *queue)
{
	struct state *state = queue->state;

	if (__builtin_expect(state->now == UINT32_MAX - 1, 0))
		clock_put_back(queue);
	return ++state->now;
}

/* ---- what the engine asks ---- */

static inline void lru_k_use(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	struct known *known = known_of(queue, slot);
	uint32_t now = tick(queue), correlated = known->last - known->uses[0];
	bool had_k = known->list == MANY;

	if (now - known->last > state->correlated) {
		for (uint32_t i = K_MAX - 1; i > 0; i--)
			known->uses[i] = known->uses[i - 1] ? known->uses[i - 1] + correlated : 0;
		known->uses[0] = now;
	}
	known->last = now;
	if (had_k && state->correlated == 0)
		return; /* the order of MANY matters not */
	queue_unlink(queue->pages, slot);
	push(queue, known->uses[state->k - 1] ? MANY : ONCE, slot);
	if (!had_k && known->list == MANY)
		heap_add(queue, slot);
}

static inline void lru_k_back(struct page_queue *queue, uint32_t slot)
{
	queue_unlink(queue->pages, slot);
}

/*
 * Past those that are within their correlated period: they are taken off the top meanwhile. MANY is
 * in the order of use if there is such a period.
 */
static uint32_t past_correlated(struct page_queue *queue)
{
	struct state *state = queue->state;
	uint32_t now = state->now + 1, once = queue->pages[ONCE].prev,
		 many = queue->pages[MANY].prev, slot, first = state->heap_max;
	struct entry *heap = queue->table;

	if (many != MANY && now - known_of(queue, many)->last > state->correlated) {
		while (slot = heap_top(queue),
		       now - known_of(queue, slot)->last <= state->correlated) {
			struct entry top = heap[0];

			/* From the end of the table on there is room, one more at each turn. */
			heap_pop(queue);
			heap[--first] = top;
		}
		while (first < state->heap_max)
			sift_up(heap, state->heap_count++, heap[first++]);
		return slot;
	}
	/* All are within it. */
	if (once == ONCE || many == MANY)
		return once == ONCE ? many : once;
	return known_of(queue, once)->last < known_of(queue, many)->last ? once : many;
}

static inline uint32_t lru_k_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t once = queue->pages[ONCE].prev;

	if (once != ONCE && state->now + 1 - known_of(queue, once)->last > state->correlated)
		return once;
	return state->correlated ? past_correlated(queue) : heap_top(queue);
}

static inline bool lru_k_evict(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	const struct entry *heap = queue->table;

	if (known_of(queue, slot)->list == MANY && state->heap_count > 0 && heap[0].slot == slot)
		heap_pop(queue);
	while (queue->ghosts > 0 && queue->ghosts >= queue->capacity) {
		uint32_t oldest = queue->pages[LEFT].prev;

		queue_unlink(queue->pages, oldest);
		queue_drop(queue, oldest);
	}
	queue_unlink(queue->pages, slot);
	push(queue, LEFT, slot);
	return true;
}

static inline void lru_k_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	const struct state *state = queue->state;
	struct known *known = known_of(queue, slot);
	uint32_t now = tick(queue);

	if (!was_ghost || (state->retained && now - known->last > state->retained))
		*known = (struct known){0};
	for (uint32_t i = K_MAX - 1; i > 0; i--)
		known->uses[i] = known->uses[i - 1];
	known->uses[0] = known->last = now;
	push(queue, known->uses[state->k - 1] ? MANY : ONCE, slot);
	if (known->list == MANY)
		heap_add(queue, slot);
}

static void lru_k_forget(struct page_queue *queue, uint32_t slot)
{
	queue_unlink(queue->pages, slot);
	known_of(queue, slot)->list = LISTS; /* its entry is left over */
}

/* As if all of its uses had been now: so that in the end all have been looked at. */
static void lru_k_spare(struct page_queue *queue, uint32_t slot)
{
	const struct state *state = queue->state;
	struct known *known = known_of(queue, slot);
	bool had_k = known->list == MANY;

	for (uint32_t i = 0; i < state->k; i++)
		known->uses[i] = state->now;
	known->last = state->now;
	queue_unlink(queue->pages, slot);
	push(queue, MANY, slot);
	if (!had_k)
		heap_add(queue, slot);
}

static inline void lru_k_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	(void)hash;
	queue_prefetch_neighbours(queue, slot);
}

static void lru_k_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;
	const struct entry *heap = queue->table;
	uint32_t many = 0, present = 0;

	for (uint32_t list = 0; list < LISTS; list++)
		for (uint32_t slot = queue->pages[list].next; slot != list;
		     slot = queue->pages[slot].next) {
			const struct known *known = known_of(queue, slot);

			assert(known->list == list && known->last <= state->now);
			assert(known->uses[0] > 0 && known->uses[0] <= known->last);
			assert(list == LEFT || (list == MANY) == (kth_of(queue, slot) != 0));
			many += list == MANY;
		}
	for (uint32_t i = 0; i < state->heap_count; i++) {
		assert(i == 0 || heap[(i - 1) / BRANCHES].kth <= heap[i].kth);
		if (known_of(queue, heap[i].slot)->list != MANY)
			continue;
		assert(heap[i].kth <= kth_of(queue, heap[i].slot));
		present++;
	}
	assert(present >= many);
	assert(queue->cache || queue->ghosts <= queue->capacity);
}

static uint64_t lru_k_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_lru_k = {
	.name = "lru-k",
	.summary = "the page whose K-th last use (2) is longest ago goes",
	.options = lru_k_options,
	.list_count = LISTS,
	.slot_bytes = sizeof(struct known),
	.state_bytes = sizeof(struct state),
	.table_bytes = lru_k_table_bytes,
	.ghosts_max = lru_k_ghosts_max,
	.init = lru_k_init,
	.use = lru_k_use,
	.is_ghost = lru_k_is_ghost,
	.back = lru_k_back,
	.victim = lru_k_victim,
	.evict = lru_k_evict,
	.spare = lru_k_spare,
	.enter = lru_k_enter,
	.forget = lru_k_forget,
	.prefetch = lru_k_prefetch,
	.check = lru_k_check,
	.bare_run = lru_k_bare_run,
};

BARE_CLONES static uint64_t lru_k_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_lru_k, keys, count);
}
