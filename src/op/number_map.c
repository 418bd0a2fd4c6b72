#include "op/number_map.h"

#include "base/memory.h"

static size_t home(const struct number_map *map, uint64_t key)
{
	return (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & map->mask;
}

/* The slot of this key, or the free one where it belongs. */
static struct number_slot *slot_find(const struct number_map *map, uint64_t key)
{
	size_t at = home(map, key);

	while (map->slots[at].value_plus_1 && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	return &map->slots[at];
}

uint32_t number_map_get(const struct number_map *map, uint64_t key)
{
	return map->slots ? slot_find(map, key)->value_plus_1 - 1 : NUMBER_MAP_NONE;
}

static void number_map_grow(struct number_map *map)
{
	struct number_slot *old = map->slots;
	size_t count = old ? map->mask + 1 : 0;

	map->mask = count ? count * 2 - 1 : 63;
	map->slots = memory_alloc(map->mask + 1, sizeof(*map->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].value_plus_1)
			*slot_find(map, old[i].key) = old[i];
	memory_free(old);
}

void number_map_put(struct number_map *map, uint64_t key, uint32_t value)
{
	struct number_slot *slot;

	if (!map->slots || map->count * 4 > map->mask * 3)
		number_map_grow(map);
	slot = slot_find(map, key);
	map->count += slot->value_plus_1 == 0;
	*slot = (struct number_slot){.key = key, .value_plus_1 = value + 1};
}

void number_map_remove(struct number_map *map, uint64_t key)
{
	size_t hole, at;

	if (number_map_get(map, key) == NUMBER_MAP_NONE)
		return;
	hole = (size_t)(slot_find(map, key) - map->slots);
	map->slots[hole].value_plus_1 = 0;
	map->count--;
	for (at = (hole + 1) & map->mask; map->slots[at].value_plus_1; at = (at + 1) & map->mask) {
		if (((at - home(map, map->slots[at].key)) & map->mask) < ((at - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[at];
		map->slots[at].value_plus_1 = 0;
		hole = at;
	}
}

void number_map_deinit(struct number_map *map)
{
	memory_free(map->slots);
	*map = (struct number_map){0};
}
