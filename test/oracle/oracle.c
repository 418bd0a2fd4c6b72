#include "oracle.h"

#include <string.h>

#include "base/memory.h"

void oracle_init(struct oracle *oracle, enum oracle_kind kind, size_t capacity)
{
	*oracle = (struct oracle){.kind = kind, .capacity = capacity};
	oracle->keys = memory_alloc(capacity, sizeof(*oracle->keys));
	oracle->used = memory_alloc(capacity, sizeof(*oracle->used));
	for (int list = 0; list < 4; list++)
		oracle->lists[list] = memory_alloc(2 * capacity + 1, sizeof(uint64_t));
}

void oracle_deinit(struct oracle *oracle)
{
	memory_free(oracle->keys);
	memory_free(oracle->used);
	for (int list = 0; list < 4; list++)
		memory_free(oracle->lists[list]);
}

/* ---- ARC: Megiddo and Modha, FAST 2003, figure 4, with real numbers ---- */

enum { T1, T2, B1, B2 };

static void arc_push(struct oracle *oracle, int list, uint64_t key)
{
	memmove(oracle->lists[list] + 1, oracle->lists[list],
		oracle->counts[list]++ * sizeof(uint64_t));
	oracle->lists[list][0] = key;
}

static uint64_t arc_pull(struct oracle *oracle, int list, size_t at)
{
	uint64_t key = oracle->lists[list][at];

	memmove(oracle->lists[list] + at, oracle->lists[list] + at + 1,
		(--oracle->counts[list] - at) * sizeof(uint64_t));
	return key;
}

static void arc_replace(struct oracle *oracle, bool in_b2)
{
	double t1 = (double)oracle->counts[T1];
	int from;

	if (oracle->counts[T1] + oracle->counts[T2] < oracle->capacity)
		return;
	from = (t1 >= 1 && (t1 > oracle->t1_target || (in_b2 && t1 == oracle->t1_target))) ||
			       oracle->counts[T2] == 0
		       ? T1
		       : T2;
	arc_push(oracle, from + 2, arc_pull(oracle, from, oracle->counts[from] - 1));
	oracle->evictions++;
}

static void arc_adapt(struct oracle *oracle, int list)
{
	double b1 = (double)oracle->counts[B1], b2 = (double)oracle->counts[B2];
	double p = oracle->t1_target;

	if (list == B1)
		p += b2 > b1 ? b2 / b1 : 1;
	else
		p -= b1 > b2 ? b1 / b2 : 1;
	/* Real numbers: what was rounded on the way to a whole one is that one. */
	if (p - (double)(long)(p + 0.5) < 1e-7 && (double)(long)(p + 0.5) - p < 1e-7)
		p = (double)(long)(p + 0.5);
	oracle->t1_target = p < 0 ? 0 : p > (double)oracle->capacity ? (double)oracle->capacity : p;
}

static bool arc_access(struct oracle *oracle, uint64_t key)
{
	const size_t *counts = oracle->counts;
	size_t all;

	for (int list = 0; list < 4; list++)
		for (size_t at = 0; at < counts[list]; at++) {
			if (oracle->lists[list][at] != key)
				continue;
			if (list >= B1) {
				arc_adapt(oracle, list);
				/* The ghost is found again by its place from the old end. */
				at = counts[list] - at;
				arc_replace(oracle, list == B2);
				at = counts[list] - at;
				oracle->misses++;
			}
			arc_push(oracle, T2, arc_pull(oracle, list, at));
			oracle->count = counts[T1] + counts[T2];
			return list < B1;
		}
	oracle->misses++;
	all = counts[T1] + counts[T2] + counts[B1] + counts[B2];
	if (counts[T1] + counts[B1] == oracle->capacity) {
		if (counts[T1] < oracle->capacity) {
			arc_pull(oracle, B1, counts[B1] - 1);
			arc_replace(oracle, false);
		} else {
			arc_pull(oracle, T1, counts[T1] - 1);
			oracle->evictions++;
		}
	} else if (all >= oracle->capacity) {
		if (all >= 2 * oracle->capacity)
			arc_pull(oracle, B2, counts[B2] - 1);
		arc_replace(oracle, false);
	}
	arc_push(oracle, T1, key);
	oracle->count = counts[T1] + counts[T2];
	return false;
}

/* The page at `from` becomes the newest. */
static void move_to_front(struct oracle *oracle, size_t from, uint64_t key, bool used)
{
	memmove(oracle->keys + 1, oracle->keys, from * sizeof(*oracle->keys));
	memmove(oracle->used + 1, oracle->used, from * sizeof(*oracle->used));
	oracle->keys[0] = key;
	oracle->used[0] = used;
}

bool oracle_access(struct oracle *oracle, uint64_t key)
{
	if (oracle->kind == ORACLE_ARC)
		return arc_access(oracle, key);
	for (size_t i = 0; i < oracle->count; i++) {
		if (oracle->keys[i] != key)
			continue;
		if (oracle->kind == ORACLE_LRU)
			move_to_front(oracle, i, key, false);
		oracle->used[oracle->kind == ORACLE_LRU ? 0 : i] = oracle->kind == ORACLE_CLOCK;
		return true;
	}
	oracle->misses++;
	if (oracle->count == oracle->capacity) {
		size_t oldest = oracle->count - 1;

		/* CLOCK: a used one becomes the newest, unused. */
		while (oracle->used[oldest])
			move_to_front(oracle, oldest, oracle->keys[oldest], false);
		oracle->evictions++;
		oracle->count--;
	}
	move_to_front(oracle, oracle->count++, key, false);
	return false;
}

uint64_t oracle_min_misses(const uint64_t *keys, size_t count, size_t capacity)
{
	size_t *next = memory_alloc(count, sizeof(*next)); /* where this key is needed again */
	size_t *held =
		memory_alloc(capacity, sizeof(*held)); /* positions whose keys are in the cache */
	size_t held_count = 0;
	uint64_t misses = 0;

	for (size_t i = 0; i < count; i++) {
		next[i] = SIZE_MAX;
		for (size_t j = i + 1; j < count && next[i] == SIZE_MAX; j++)
			if (keys[j] == keys[i])
				next[i] = j;
	}
	for (size_t i = 0; i < count; i++) {
		size_t at, last = 0;

		for (at = 0; at < held_count && keys[held[at]] != keys[i]; at++)
			if (next[held[at]] > next[held[last]])
				last = at;
		if (at == held_count) {
			misses++;
			at = held_count < capacity ? held_count++ : last;
		}
		held[at] = i;
	}
	memory_free(next);
	memory_free(held);
	return misses;
}
