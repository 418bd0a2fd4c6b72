#include "record/lookup.h"

#include <assert.h>
#include <stdbool.h>

#include "base/memory.h"

enum { SLOTS_MIN = 64 };

static size_t hash(struct lookup_key key)
{
	uint64_t mixed = key.a * UINT64_C(0x9e3779b97f4a7c15) ^ key.b;

	mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return (size_t)(mixed ^ mixed >> 32);
}

static bool is_same(struct lookup_key a, struct lookup_key b)
{
	return a.a == b.a && a.b == b.b;
}

/* The key's slot, or the free one where it would be. */
static struct lookup_slot *slot_of(const struct lookup *lookup, struct lookup_key key)
{
	size_t at = hash(key) & lookup->mask;

	while (lookup->slots[at].value_plus_1 && !is_same(lookup->slots[at].key, key))
		at = (at + 1) & lookup->mask;
	return &lookup->slots[at];
}

uint32_t lookup_get(const struct lookup *lookup, struct lookup_key key)
{
	return lookup->slots ? slot_of(lookup, key)->value_plus_1 - 1 : LOOKUP_NONE;
}

static void grow(struct lookup *lookup)
{
	struct lookup old = *lookup;
	size_t slots = old.slots ? 2 * (old.mask + 1) : SLOTS_MIN;

	lookup->slots = memory_alloc(slots, sizeof(*lookup->slots));
	lookup->mask = slots - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value_plus_1)
			*slot_of(lookup, old.slots[i].key) = old.slots[i];
	memory_free(old.slots);
}

void lookup_put(struct lookup *lookup, struct lookup_key key, uint32_t value)
{
	struct lookup_slot *slot;

	assert(value != LOOKUP_NONE);
	if (!lookup->slots || 2 * lookup->count > lookup->mask)
		grow(lookup);
	slot = slot_of(lookup, key);
	lookup->count += slot->value_plus_1 == 0;
	*slot = (struct lookup_slot){.key = key, .value_plus_1 = value + 1};
}

void lookup_remove(struct lookup *lookup, struct lookup_key key)
{
	struct lookup_slot *slot;
	size_t at;

	if (!lookup->slots)
		return;
	slot = slot_of(lookup, key);
	if (!slot->value_plus_1)
		return;
	slot->value_plus_1 = 0;
	lookup->count--;
	/* Those behind it may have been pushed on by it: each is put in anew. */
	for (at = ((size_t)(slot - lookup->slots) + 1) & lookup->mask;
	     lookup->slots[at].value_plus_1; at = (at + 1) & lookup->mask) {
		struct lookup_slot moved = lookup->slots[at];

		lookup->slots[at].value_plus_1 = 0;
		*slot_of(lookup, moved.key) = moved;
	}
}

void lookup_deinit(struct lookup *lookup)
{
	memory_free(lookup->slots);
	*lookup = (struct lookup){0};
}
