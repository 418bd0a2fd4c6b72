/*
 * index: numbers to numbers, by open addressing; what is removed leaves no mark
 */
#include "op/calls/calls_private.h"

static size_t home(const struct index *index, uint64_t key)
{
	return (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & index->mask;
}

/* The slot of this key, or the free one where it belongs. */
static struct index_slot *slot_find(const struct index *index, uint64_t key)
{
	size_t at = home(index, key);

	while (index->slots[at].value_plus_1 && index->slots[at].key != key)
		at = (at + 1) & index->mask;
	return &index->slots[at];
}

uint32_t index_get(const struct index *index, uint64_t key)
{
	return index->slots ? slot_find(index, key)->value_plus_1 - 1 : NONE;
}

static void index_grow(struct index *index)
{
	struct index_slot *old = index->slots;
	size_t count = old ? index->mask + 1 : 0;

	index->mask = count ? count * 2 - 1 : 63;
	index->slots = memory_alloc(index->mask + 1, sizeof(*index->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].value_plus_1)
			*slot_find(index, old[i].key) = old[i];
	memory_free(old);
}

void index_put(struct index *index, uint64_t key, uint32_t value)
{
	struct index_slot *slot;

	if (!index->slots || index->count * 4 > index->mask * 3)
		index_grow(index);
	slot = slot_find(index, key);
	index->count += slot->value_plus_1 == 0;
	*slot = (struct index_slot){.key = key, .value_plus_1 = value + 1};
}

void index_remove(struct index *index, uint64_t key)
{
	size_t hole, at;

	if (index_get(index, key) == NONE)
		return;
	hole = (size_t)(slot_find(index, key) - index->slots);
	index->slots[hole].value_plus_1 = 0;
	index->count--;
	for (at = (hole + 1) & index->mask; index->slots[at].value_plus_1;
	     at = (at + 1) & index->mask) {
		if (((at - home(index, index->slots[at].key)) & index->mask) <
		    ((at - hole) & index->mask))
			continue;
		index->slots[hole] = index->slots[at];
		index->slots[at].value_plus_1 = 0;
		hole = at;
	}
}

void index_deinit(struct index *index)
{
	memory_free(index->slots);
	*index = (struct index){0};
}
