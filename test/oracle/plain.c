#include "plain.h"

#include <string.h>

#include "base/memory.h"
#include "cache/bare_loop.h"

/* ---- lists ---- */

static struct plain_page *find(struct plain_list *list, uint64_t key)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].key == key)
			return &list->at[i];
	return NULL;
}

static void push(struct plain_list *list, struct plain_page page)
{
	memmove(list->at + 1, list->at, list->count++ * sizeof(page));
	list->at[0] = page;
}

static struct plain_page pull(struct plain_list *list, const struct plain_page *page)
{
	struct plain_page copy = *page;
	size_t at = (size_t)(page - list->at);

	memmove(list->at + at, list->at + at + 1, (--list->count - at) * sizeof(copy));
	return copy;
}

static struct plain_page *oldest(struct plain_list *list)
{
	return &list->at[list->count - 1];
}

/* ---- slru ---- */

enum { PROBATION, PROTECTED, WINDOW };

/* A page of the main part was used. */
static void main_use(struct plain *plain, struct plain_page *page, bool is_protected)
{
	struct plain_list *probation = &plain->lists[PROBATION],
			  *protected = &plain->lists[PROTECTED];

	if (is_protected) {
		push(protected, pull(protected, page));
	} else if (plain->target == 0) {
		push(probation, pull(probation, page));
	} else {
		push(protected, pull(probation, page));
		if (protected->count > plain->target)
			push(probation, pull(protected, oldest(protected)));
	}
}

static bool main_access(struct plain *plain, uint64_t key)
{
	for (int list = PROBATION; list <= PROTECTED; list++) {
		struct plain_page *page = find(&plain->lists[list], key);

		if (page) {
			main_use(plain, page, list == PROTECTED);
			return true;
		}
	}
	return false;
}

static void slru_begin(struct plain *plain)
{
	plain->target = plain->pages * 80 / 100;
}

static bool slru_access(struct plain *plain, uint64_t key)
{
	struct plain_list *probation = &plain->lists[PROBATION];

	if (main_access(plain, key))
		return true;
	if (plain->resident == plain->pages) {
		pull(probation, oldest(probation));
		plain->evictions++;
		plain->resident--;
	}
	push(probation, (struct plain_page){.key = key});
	plain->resident++;
	return false;
}

/* ---- lfu: LFU-DA; rank is the paper's K, target its L ---- */

static bool lfu_access(struct plain *plain, uint64_t key)
{
	struct plain_list *all = &plain->lists[0];
	struct plain_page *page = find(all, key), *victim;

	if (page) {
		page->count++;
		page->rank = plain->target + page->count;
		push(all, pull(all, page));
		return true;
	}
	if (all->count == plain->pages) {
		victim = oldest(all);
		for (size_t i = all->count; i-- > 0;)
			if (all->at[i].rank < victim->rank)
				victim = &all->at[i];
		plain->target = victim->rank;
		pull(all, victim);
		plain->evictions++;
	}
	push(all, (struct plain_page){.key = key, .count = 1, .rank = plain->target + 1});
	plain->resident = all->count;
	return false;
}

/* ---- lru-k ---- */

enum { PRESENT, LEFT };

static void lru_k_begin(struct plain *plain)
{
	plain->k = 2;
}

/* The victim has the oldest k-th use; among those without so many, the oldest last use. */
static bool lru_k_goes_first(const struct plain *plain, const struct plain_page *a,
			     const struct plain_page *b)
{
	uint64_t a_k = a->history[plain->k - 1], b_k = b->history[plain->k - 1];

	if (a_k != b_k)
		return a_k < b_k;
	return a->last < b->last;
}

static void lru_k_evict(struct plain *plain)
{
	struct plain_list *present = &plain->lists[PRESENT], *left = &plain->lists[LEFT];
	struct plain_page *victim = NULL, *any = present->at;

	for (size_t i = 0; i < present->count; i++) {
		struct plain_page *page = &present->at[i];

		if (page->last < any->last)
			any = page;
		if (plain->now - page->last > plain->correlated &&
		    (!victim || lru_k_goes_first(plain, page, victim)))
			victim = page;
	}
	push(left, pull(present, victim ? victim : any));
	plain->evictions++;
	if (left->count > plain->pages)
		pull(left, oldest(left));
}

static bool lru_k_access(struct plain *plain, uint64_t key)
{
	struct plain_list *present = &plain->lists[PRESENT], *left = &plain->lists[LEFT];
	struct plain_page *page = find(present, key), fresh = {.key = key};

	if (page) {
		uint64_t correlated = page->last - page->history[0];

		if (plain->now - page->last > plain->correlated) {
			for (unsigned i = plain->k - 1; i > 0; i--)
				if (page->history[i - 1])
					page->history[i] = page->history[i - 1] + correlated;
			page->history[0] = plain->now;
		}
		page->last = plain->now;
		return true;
	}
	page = find(left, key);
	if (page) {
		struct plain_page known = pull(left, page);

		if (!plain->retained || plain->now - known.last <= plain->retained)
			fresh = known;
	}
	if (present->count == plain->pages)
		lru_k_evict(plain);
	for (unsigned i = plain->k - 1; i > 0; i--)
		fresh.history[i] = fresh.history[i - 1];
	fresh.history[0] = fresh.last = plain->now;
	push(present, fresh);
	plain->resident = present->count;
	return false;
}

/* ---- car: figure 2 of the paper; share is its p ---- */

enum { T1, T2, B1, B2 };

static void car_replace(struct plain *plain)
{
	struct plain_list *lists = plain->lists;

	for (;;) {
		double t1 = (double)lists[T1].count;
		int from = t1 >= (plain->share > 1 ? plain->share : 1) ? T1 : T2;
		struct plain_page page = pull(&lists[from], oldest(&lists[from]));

		if (!page.used) {
			push(&lists[from == T1 ? B1 : B2], page);
			plain->evictions++;
			return;
		}
		page.used = false;
		push(&lists[T2], page);
	}
}

static bool car_access(struct plain *plain, uint64_t key)
{
	struct plain_list *lists = plain->lists;
	size_t c = plain->pages;
	struct plain_page *page = NULL;
	double b1, b2, p = plain->share;
	int list;

	for (list = T1; list <= B2; list++) {
		page = find(&lists[list], key);
		if (page)
			break;
	}
	if (list < B1) {
		page->used = true;
		return true;
	}
	if (lists[T1].count + lists[T2].count == c) {
		car_replace(plain);
		if (!page && lists[T1].count + lists[B1].count == c)
			pull(&lists[B1], oldest(&lists[B1]));
		else if (!page &&
			 lists[T1].count + lists[T2].count + lists[B1].count + lists[B2].count ==
				 2 * c)
			pull(&lists[B2], oldest(&lists[B2]));
	}
	if (!page) {
		push(&lists[T1], (struct plain_page){.key = key});
	} else {
		b1 = (double)lists[B1].count;
		b2 = (double)lists[B2].count;
		if (list == B1)
			p += b2 > b1 ? b2 / b1 : 1;
		else
			p -= b1 > b2 ? b1 / b2 : 1;
		/* Real numbers: what was rounded on the way to a whole one is that one. */
		if (p - (double)(long)(p + 0.5) < 1e-7 && (double)(long)(p + 0.5) - p < 1e-7)
			p = (double)(long)(p + 0.5);
		plain->share = p < 0 ? 0 : p > (double)c ? (double)c : p;
		pull(&lists[list], find(&lists[list], key));
		push(&lists[T2], (struct plain_page){.key = key});
	}
	plain->resident = lists[T1].count + lists[T2].count;
	return false;
}

/* ---- hyperbolic: a page that comes takes the place of the one that goes ---- */

enum { SAMPLE = 64 };

static bool hyperbolic_access(struct plain *plain, uint64_t key)
{
	struct plain_list *all = &plain->lists[0];
	struct plain_page *page = find(all, key), *victim = NULL;

	if (page) {
		page->count++;
		return true;
	}
	if (all->count < plain->pages) {
		page = &all->at[all->count++];
	} else {
		for (int i = 0; i < SAMPLE / 2; i++) {
			uint64_t drawn = random_next(&plain->random);

			for (int half = 0; half < 2; half++, drawn <<= 32) {
				page = &all->at[((drawn >> 32) * all->count) >> 32];
				/* uses / age: which is smaller? */
				if (!victim ||
				    (unsigned __int128)page->count * (plain->now - victim->last) <
					    (unsigned __int128)victim->count *
						    (plain->now - page->last))
					victim = page;
			}
		}
		page = victim;
		plain->evictions++;
	}
	*page = (struct plain_page){.key = key, .count = 1, .last = plain->now};
	plain->resident = all->count;
	return false;
}

/* ---- w-tinylfu ---- */

enum { ROWS = 4, ROW_COUNTERS = 32, COUNTER_MAX = 15, SAMPLE_TIMES = 10 };

static void tinylfu_begin(struct plain *plain)
{
	size_t main_pages = plain->pages * 99 / 100;

	plain->target = main_pages * 80 / 100;
	plain->counter_lines = (plain->pages + 7) / 8;
	plain->counters = memory_alloc(plain->counter_lines, ROWS * ROW_COUNTERS);
}

static uint8_t *tinylfu_counter(const struct plain *plain, uint64_t key, unsigned row)
{
	uint64_t hash = bare_hash(key), line = ((hash >> 32) * plain->counter_lines) >> 32;

	return &plain->counters[(line * ROWS + row) * ROW_COUNTERS + (hash >> (5 * row + 2) & 31)];
}

static unsigned tinylfu_estimate(const struct plain *plain, uint64_t key)
{
	unsigned least = COUNTER_MAX;

	for (unsigned row = 0; row < ROWS; row++)
		if (*tinylfu_counter(plain, key, row) < least)
			least = *tinylfu_counter(plain, key, row);
	return least;
}

static void tinylfu_count(struct plain *plain, uint64_t key)
{
	unsigned least = tinylfu_estimate(plain, key);
	uint64_t sample = SAMPLE_TIMES * plain->pages;

	for (unsigned row = 0; row < ROWS && least < COUNTER_MAX; row++)
		if (*tinylfu_counter(plain, key, row) == least)
			++*tinylfu_counter(plain, key, row);
	if (++plain->counted < sample)
		return;
	plain->counted = sample / 2;
	for (size_t i = 0; i < plain->counter_lines * ROWS * ROW_COUNTERS; i++)
		plain->counters[i] /= 2;
}

/* The window's oldest leaves it, if one page more would be too many there. */
static void tinylfu_make_room(struct plain *plain)
{
	struct plain_list *window = &plain->lists[WINDOW], *probation = &plain->lists[PROBATION];
	struct plain_page candidate, *victim;

	if (window->count < plain->pages - plain->pages * 99 / 100)
		return;
	candidate = pull(window, oldest(window));
	victim = probation->count ? oldest(probation) : NULL;
	if (plain->resident < plain->pages) {
		push(probation, candidate);
		return;
	}
	plain->resident--;
	plain->evictions++;
	if (victim &&
	    tinylfu_estimate(plain, candidate.key) > tinylfu_estimate(plain, victim->key)) {
		pull(probation, victim);
		push(probation, candidate);
	}
}

static bool tinylfu_access(struct plain *plain, uint64_t key)
{
	struct plain_list *window = &plain->lists[WINDOW];
	struct plain_page *page = find(window, key);

	if (page)
		push(window, pull(window, page));
	if (page || main_access(plain, key)) {
		tinylfu_count(plain, key);
		return true;
	}
	tinylfu_make_room(plain);
	tinylfu_count(plain, key);
	push(window, (struct plain_page){.key = key});
	plain->resident++;
	return false;
}

/* ---- clockpro: one list; a hand is at the oldest page of its kind; target: resident cold pages ---- */

static struct plain_page *hand(struct plain_list *list,
			       bool (*stops)(const struct plain_page *page))
{
	for (size_t i = list->count; i-- > 0;)
		if (stops(&list->at[i]))
			return &list->at[i];
	return NULL;
}

static bool is_hot(const struct plain_page *page)
{
	return page->is_hot;
}

static bool is_cold(const struct plain_page *page)
{
	return page->is_resident && !page->is_hot;
}

static bool is_in_test(const struct plain_page *page)
{
	return page->is_in_test;
}

static size_t pages_that(const struct plain_list *list, bool (*are)(const struct plain_page *page))
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += are(&list->at[i]);
	return count;
}

static bool is_ghost(const struct plain_page *page)
{
	return !page->is_resident;
}

static size_t cold_least(const struct plain *plain)
{
	return plain->pages / 100 ? plain->pages / 100 : 1;
}

static void cold_adjust(struct plain *plain, bool more)
{
	size_t least = cold_least(plain), most = plain->pages - least;

	plain->target += more ? 1 : -1;
	if (plain->target > most)
		plain->target = most;
	if (plain->target < least)
		plain->target = least;
}

static void clockpro_begin(struct plain *plain)
{
	plain->target = cold_least(plain);
	plain->last_key = ~UINT64_C(0);
}

static void test_ends(struct plain *plain, struct plain_page *page)
{
	cold_adjust(plain, page->used);
	page->is_in_test = false;
	if (!page->is_resident)
		pull(&plain->lists[0], page);
}

/* The hot hand is at the oldest hot page: what it passed is no longer in test. */
static void hot_hand_rests(struct plain *plain)
{
	struct plain_page *hot, *test;

	for (;;) {
		hot = hand(&plain->lists[0], is_hot);
		test = hand(&plain->lists[0], is_in_test);
		if (!hot || !test || test < hot)
			return;
		test_ends(plain, test);
	}
}

static void to_head(struct plain *plain, struct plain_page *page, bool hot, bool in_test)
{
	struct plain_page moved = pull(&plain->lists[0], page);

	moved.used = false;
	moved.is_resident = true;
	moved.is_hot = hot;
	moved.is_in_test = in_test;
	push(&plain->lists[0], moved);
}

static bool still_in_test(struct plain *plain, uint64_t key)
{
	const struct plain_page *page = find(&plain->lists[0], key);

	return page && page->is_in_test;
}

static bool hot_hand_runs(struct plain *plain, uint64_t for_key)
{
	struct plain_page *hot;

	while ((hot = hand(&plain->lists[0], is_hot)) && still_in_test(plain, for_key)) {
		bool used = hot->used;

		to_head(plain, hot, used, false);
		hot_hand_rests(plain);
		if (!used)
			return true;
	}
	return false;
}

static bool may_be_hot(struct plain *plain, uint64_t key)
{
	if (!still_in_test(plain, key))
		return false;
	cold_adjust(plain, true);
	find(&plain->lists[0], key)->used = false;
	while (pages_that(&plain->lists[0], is_hot) >= plain->pages - plain->target)
		if (!still_in_test(plain, key) || !hot_hand_runs(plain, key))
			return false;
	return true;
}

static void cold_hand_runs(struct plain *plain)
{
	struct plain_list *list = &plain->lists[0];
	struct plain_page *cold = hand(list, is_cold);
	uint64_t key = cold->key;

	if (cold->used) {
		bool hot = may_be_hot(plain, key);

		to_head(plain, find(list, key), hot, !hot);
		if (hot)
			hot_hand_rests(plain);
		return;
	}
	plain->resident--;
	plain->evictions++;
	cold->is_resident = false;
	if (!cold->is_in_test)
		pull(list, cold);
	while (pages_that(list, is_ghost) > plain->pages)
		test_ends(plain, hand(list, is_in_test));
}

static bool clockpro_access(struct plain *plain, uint64_t key)
{
	struct plain_list *list = &plain->lists[0];
	struct plain_page *page = find(list, key);
	bool hot = false, again = key == plain->last_key;
	size_t free = plain->pages - plain->resident;

	plain->last_key = key;
	if (page && page->is_resident) {
		page->used |= !again;
		return true;
	}
	if (free > 0) {
		hot = free > cold_least(plain);
	} else {
		while (plain->resident == plain->pages)
			cold_hand_runs(plain);
		hot = page && may_be_hot(plain, key);
	}
	page = find(list, key);
	if (page)
		pull(list, page);
	push(list, (struct plain_page){
			   .key = key, .is_resident = true, .is_hot = hot, .is_in_test = !hot});
	plain->resident++;
	hot_hand_rests(plain);
	return false;
}

/* ---- all of them ---- */

static const struct plain_policy policies[] = {
	{"slru", slru_access, slru_begin},
	{"lfu", lfu_access, NULL},
	{"lru-k", lru_k_access, lru_k_begin},
	{"car", car_access, NULL},
	{"clockpro", clockpro_access, clockpro_begin},
	{"w-tinylfu", tinylfu_access, tinylfu_begin},
	{"hyperbolic", hyperbolic_access, NULL},
};

const struct plain_policy *plain_at(size_t index)
{
	return index < sizeof(policies) / sizeof(policies[0]) ? &policies[index] : NULL;
}

const struct plain_policy *plain_named(const char *name)
{
	for (size_t i = 0; plain_at(i); i++)
		if (strcmp(policies[i].name, name) == 0)
			return &policies[i];
	return NULL;
}

void plain_init(struct plain *plain, const struct plain_policy *policy, size_t pages, uint64_t seed)
{
	*plain = (struct plain){.policy = policy, .pages = pages};
	for (int list = 0; list < PLAIN_LISTS; list++)
		plain->lists[list].at = memory_alloc(2 * pages + 2, sizeof(struct plain_page));
	random_init(&plain->random, seed, 0);
	if (policy->begin)
		policy->begin(plain);
}

void plain_deinit(struct plain *plain)
{
	for (int list = 0; list < PLAIN_LISTS; list++)
		memory_free(plain->lists[list].at);
	memory_free(plain->counters);
}

bool plain_access(struct plain *plain, uint64_t key)
{
	bool hit;

	plain->now++;
	hit = plain->policy->access(plain, key);
	plain->misses += !hit;
	return hit;
}
