#include "study/key_set.h"

#include "base/memory.h"

enum { ROOM_MIN = 1024 };

static size_t place_of(const struct key_set *set, uint64_t key)
{
	size_t at = key_hash(key) & (set->room - 1);

	while (set->keys[at] != 0 && set->keys[at] != key)
		at = (at + 1) & (set->room - 1);
	return at;
}

static void grow(struct key_set *set)
{
	struct key_set larger = {.room = set->room ? 2 * set->room : ROOM_MIN};

	larger.keys = memory_alloc(larger.room, sizeof(*larger.keys));
	memory_use_randomly(larger.keys, larger.room * sizeof(*larger.keys));
	for (size_t i = 0; i < set->room; i++)
		if (set->keys[i])
			larger.keys[place_of(&larger, set->keys[i])] = set->keys[i];
	memory_free(set->keys);
	set->keys = larger.keys;
	set->room = larger.room;
}

bool key_set_add(struct key_set *set, uint64_t key)
{
	size_t at;

	if (key == 0) {
		bool is_new = !set->has_zero;

		set->has_zero = true;
		set->count += is_new;
		return is_new;
	}
	if (set->count >= set->room / 4 * 3)
		grow(set);
	at = place_of(set, key);
	if (set->keys[at] == key)
		return false;
	set->keys[at] = key;
	set->count++;
	return true;
}

void key_set_deinit(struct key_set *set)
{
	memory_free(set->keys);
	*set = (struct key_set){0};
}
