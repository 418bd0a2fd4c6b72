#include "oracle.h"

#include <string.h>

#include "base/memory.h"

void oracle_init(struct oracle *oracle, enum oracle_kind kind, size_t capacity)
{
	*oracle = (struct oracle){.kind = kind, .capacity = capacity};
	oracle->keys = memory_alloc(capacity, sizeof(*oracle->keys));
	oracle->used = memory_alloc(capacity, sizeof(*oracle->used));
}

void oracle_deinit(struct oracle *oracle)
{
	memory_free(oracle->keys);
	memory_free(oracle->used);
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
