/*
 * w-tinylfu: a window, and an admission filter before the main part
 *
 * Idea       A page enters a small LRU window. When it leaves that, it is a candidate for the main
 *            part, a segmented LRU (slru.c), and must be used more often than the victim there;
 *            else it goes itself. How often pages were used lately, present or not, a sketch
 *            remembers in a few bits: each page has a counter in each of four rows, shared with
 *            others, and the least of the four is what is believed.
 *
 *            enter -> newest [ window ] oldest -> candidate
 *                                                  | more often used?
 *                                                  v
 *                                          newest [ probation ] oldest -> victim
 *                                             ^         | used
 *                                      oldest [ protected ] newest
 *
 *            All counters are halved now and then: what was hot is forgotten.
 * Source     Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", ACM
 *            Transactions on Storage 13(4), 2017
 * Differs    1. no doorkeeper (a Bloom filter before the sketch), as in Caffeine
 *            2. no adaptive window (Einziger, Eytan, Friedman, Manes, Middleware 2018), no chance
 *               for candidates against attackers, which Caffeine has
 *            3. the four counters of a page lie in one line of 64 bytes, so that a page touches one
 *               line and no more (Caffeine's do since 3.0.6)
 *            4. a page that comes in is counted when room was made for it, not before
 * State      a byte a page; the sketch, 16 counters of 4 bits a page: 8 bytes
 * Constants  The window is 1 %, and 80 % of the rest are protected (the paper's section 4);
 *            counters end at 15, and only the least of the four are raised (its section 3.4.2, minimal
 *            increment); 16 of them a page, and halved after ten requests a page, as in Caffeine
 * Options    window, protected: percent
 * Weakness   a page that becomes hot must be asked for several times before it may stay
 */
#include "cache/bare_loop.h"
#include "cache/policy/shelf.h"

enum list { WINDOW, PROBATION, PROTECTED, LISTS };

enum { OPTION_WINDOW, OPTION_PROTECTED };

static const struct policy_option tinylfu_options[] = {
	[OPTION_WINDOW] = {"window", 0, 99, 1, "where pages enter: this many percent of all"},
	[OPTION_PROTECTED] = {"protected", 0, 99, 80,
			      "how many of the others may be protected, percent"},
	{0},
};

enum { COUNTER_BITS = 4, COUNTER_MAX = 15, PAGES_A_LINE = 8, SAMPLE_TIMES = 10 };

/*
 * Four rows of 32 counters: of each row, the first 16 are a word of the first half, the others of
 * the second. With half as many, counters are shared by too many: measured, on a Zipf(0.9) trace, 2 %
 * more misses.
 */
typedef uint64_t rows __attribute__((vector_size(32)));

struct line {
	rows halves[2];
};
static_assert(sizeof(struct line) == 64, "one cache line");

/* A page's counter in each row: the bit of its word at which it begins; all ones: second half. */
struct places {
	rows bit, is_second;
};

struct state {
	struct line *lines; /* the table, from a multiple of a line's size on */
	uint32_t line_count;
	uint32_t count[LISTS];
	uint32_t capacity; /* for which these two are: */
	uint32_t window_max, protected_max;
	uint32_t window_percent, protected_percent;
	uint64_t sample, left; /* requests until all are halved; and how many are missing */
};

/* How many fit has changed, or is new. */
static void divide(struct state *state, uint32_t capacity)
{
	uint64_t main_max = (uint64_t)capacity * (100 - state->window_percent) / 100;

	state->capacity = capacity;
	state->window_max = capacity - (uint32_t)main_max;
	state->protected_max = (uint32_t)(main_max * state->protected_percent / 100);
}

/* ---- the sketch ---- */

static uint64_t tinylfu_table_bytes(uint64_t pages)
{
	return ((pages + PAGES_A_LINE - 1) / PAGES_A_LINE + 1) * sizeof(struct line);
}

static void tinylfu_init(struct page_queue *queue)
{
	struct state *state = queue->state;
	uintptr_t table = (uintptr_t)queue->table;

	state->lines = (struct line *)((table + sizeof(struct line) - 1) &
				       ~(uintptr_t)(sizeof(struct line) - 1));
	state->line_count =
		(uint32_t)(((uint64_t)queue->capacity + PAGES_A_LINE - 1) / PAGES_A_LINE);
	state->sample = state->left = (uint64_t)queue->capacity * SAMPLE_TIMES;
	state->window_percent = queue->options[OPTION_WINDOW];
	state->protected_percent = queue->options[OPTION_PROTECTED];
	divide(state, queue->capacity);
}

POLICY_INLINE struct line *line_of(const struct state *state, uint64_t hash)
{
	return &state->lines[((hash >> 32) * state->line_count) >> 32];
}

/* Each row has five bits of the hash for itself, from the third on: four say which, the fifth where. */
POLICY_INLINE void places_find(struct places *places, uint64_t hash)
{
	rows own = (hash - (rows){0}) >> (rows){0, 5, 10, 15};

	places->bit = own & (COUNTER_MAX * COUNTER_BITS);
	places->is_second = (rows)((own & 64) == 64);
}

POLICY_INLINE void counters_read(rows *counters, const struct line *line,
				 const struct places *places)
{
	*counters =
		((line->halves[0] & ~places->is_second) | (line->halves[1] & places->is_second)) >>
			places->bit &
		COUNTER_MAX;
}

/* The least of the four, in all four. As they are small, signed will do, and is quicker. */
POLICY_INLINE void least_find(rows *least, const rows *counters)
{
	typedef int64_t signed_rows __attribute__((vector_size(32)));
	signed_rows a = (signed_rows)*counters, b = __builtin_shufflevector(a, a, 2, 3, 0, 1), less;

	less = a < b;
	a = (a & less) | (b & ~less);
	b = __builtin_shufflevector(a, a, 1, 0, 3, 2);
	less = a < b;
	*least = (rows)((a & less) | (b & ~less));
}

POLICY_INLINE uint64_t estimate(const struct state *state, uint64_t hash)
{
	struct places places;
	rows counters, least;

	places_find(&places, hash);
	counters_read(&counters, line_of(state, hash), &places);
	least_find(&least, &counters);
	return least[0];
}

static void halve(struct state *state)
{
	for (uint32_t i = 0; i < state->line_count; i++)
		for (uint32_t half = 0; half < 2; half++) {
			rows *words = &state->lines[i].halves[half];

			*words = *words >> 1 & UINT64_C(0x7777777777777777);
		}
	state->left = state->sample - state->sample / 2;
}

/* Those of its counters that are the least are raised. */
POLICY_INLINE void count(struct state *state, uint64_t hash)
{
	struct line *line = line_of(state, hash);
	struct places places;
	rows counters, least, more;

	places_find(&places, hash);
	counters_read(&counters, line, &places);
	least_find(&least, &counters);
	/* None if all are at the end. */
	more = ((rows)(counters == least) & ~(rows)(counters == COUNTER_MAX)) >> 63 << places.bit;
	line->halves[0] += more & ~places.is_second;
	line->halves[1] += more & places.is_second;
	if (__builtin_expect(--state->left == 0, 0))
		halve(state);
}

/* ---- the lists ---- */

POLICY_INLINE enum list list_of(const struct page_queue *queue, uint32_t slot)
{
	return (enum list)queue->own[slot];
}

POLICY_INLINE void push(struct page_queue *queue, enum list list, uint32_t slot)
{
	struct state *state = queue->state;

	queue_push(queue->pages, list, slot);
	queue->own[slot] = (uint8_t)list;
	state->count[list]++;
}

POLICY_INLINE void tinylfu_forget(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;

	queue_unlink(queue->pages, slot);
	state->count[list_of(queue, slot)]--;
}

POLICY_INLINE void oldest_to_probation(struct page_queue *queue, enum list from)
{
	uint32_t slot = queue->pages[from].prev;

	tinylfu_forget(queue, slot);
	push(queue, PROBATION, slot);
}

POLICY_INLINE void tinylfu_use(struct page_queue *queue, uint32_t slot)
{
	struct state *state = queue->state;
	enum list list = list_of(queue, slot);

	count(state, queue_hash(queue, slot));
	queue_unlink(queue->pages, slot);
	if (list != PROBATION) {
		queue_push(queue->pages, list, slot);
		return;
	}
	state->count[PROBATION]--;
	push(queue, PROTECTED, slot);
	if (__builtin_expect(state->capacity != queue->capacity, 0))
		divide(state, queue->capacity);
	while (state->count[PROTECTED] > state->protected_max)
		oldest_to_probation(queue, PROTECTED);
}

POLICY_INLINE uint32_t tinylfu_victim(struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t candidate = queue->pages[WINDOW].prev, victim = queue->pages[PROBATION].prev;

	if (candidate == WINDOW)
		return victim != PROBATION ? victim : queue->pages[PROTECTED].prev;
	prefetch_read(line_of(state, queue_prefetch_next(queue, candidate)));
	if (victim == PROBATION || estimate(state, queue_hash(queue, candidate)) <=
					   estimate(state, queue_hash(queue, victim)))
		return candidate;
	prefetch_read(line_of(state, queue_prefetch_next(queue, victim)));
	oldest_to_probation(queue, WINDOW);
	return victim;
}

POLICY_INLINE void tinylfu_enter(struct page_queue *queue, uint32_t slot, bool was_ghost)
{
	struct state *state = queue->state;

	(void)was_ghost;
	count(state, queue_hash(queue, slot));
	push(queue, WINDOW, slot);
	/* There is room, or its oldest would have gone. */
	if (__builtin_expect(state->capacity != queue->capacity, 0))
		divide(state, queue->capacity);
	while (state->count[WINDOW] > state->window_max)
		oldest_to_probation(queue, WINDOW);
}

/* One list further, so that in the end all have been looked at. */
static void tinylfu_spare(struct page_queue *queue, uint32_t slot)
{
	enum list list = list_of(queue, slot);

	tinylfu_forget(queue, slot);
	push(queue, list == WINDOW ? PROBATION : PROTECTED, slot);
}

POLICY_INLINE void tinylfu_prefetch(const struct page_queue *queue, uint32_t slot, uint64_t hash)
{
	const struct state *state = queue->state;

	prefetch_write(line_of(state, hash));
	queue_prefetch_neighbours(queue, slot);
}

static void tinylfu_check(const struct page_queue *queue)
{
	const struct state *state = queue->state;
	uint32_t counts[LISTS] = {0};

	for (uint32_t list = 0; list < LISTS; list++) {
		for (uint32_t slot = queue->pages[list].next; slot != list;
		     slot = queue->pages[slot].next) {
			assert(list_of(queue, slot) == list);
			counts[list]++;
		}
		assert(counts[list] == state->count[list]);
	}
	assert(counts[WINDOW] + counts[PROBATION] + counts[PROTECTED] == queue->resident);
	assert(state->left > 0 && state->left <= state->sample);
	if (queue->cache) /* what fits, moves */
		return;
	assert(counts[WINDOW] <= state->window_max);
	assert(counts[PROTECTED] <= state->protected_max);
}

static uint64_t tinylfu_bare_run(struct bare *bare, const uint64_t *keys, size_t count);

const struct policy policy_w_tinylfu = {
	.name = "w-tinylfu",
	.summary = "a window, and a main part for what was used more often than who must go for it",
	.options = tinylfu_options,
	.list_count = LISTS,
	.slot_bytes = 1,
	.state_bytes = sizeof(struct state),
	.table_bytes = tinylfu_table_bytes,
	.init = tinylfu_init,
	.use = tinylfu_use,
	.victim = tinylfu_victim,
	.spare = tinylfu_spare,
	.enter = tinylfu_enter,
	.forget = tinylfu_forget,
	.prefetch = tinylfu_prefetch,
	.check = tinylfu_check,
	.bare_run = tinylfu_bare_run,
};

BARE_CLONES static uint64_t tinylfu_bare_run(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare_run_with(bare, &policy_w_tinylfu, keys, count);
}
