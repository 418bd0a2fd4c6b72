/*
 * number_map: numbers to small numbers, by open addressing; what is removed leaves no mark
 *
 * 16 bytes a slot, of which a quarter at least is free. Zeros are an empty map.
 */
#ifndef REFAULT_OP_NUMBER_MAP_H
#define REFAULT_OP_NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAP_NONE UINT32_MAX

struct number_slot {
	uint64_t key;
	uint32_t value_plus_1; /* 0: free */
};

struct number_map {
	struct number_slot *slots;
	size_t mask, count;
};

uint32_t number_map_get(const struct number_map *map,
			uint64_t key); /* NUMBER_MAP_NONE: not there */
void number_map_put(struct number_map *map, uint64_t key, uint32_t value);
void number_map_remove(struct number_map *map, uint64_t key);
void number_map_deinit(struct number_map *map);

#endif
