/*
 * lookup: pairs of numbers to small numbers
 *
 * A hash table, open addressing, at most half full: 24 bytes a slot. Its order is never seen.
 */
#ifndef REFAULT_RECORD_LOOKUP_H
#define REFAULT_RECORD_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#define LOOKUP_NONE UINT32_MAX

struct lookup_key {
	uint64_t a, b;
};

struct lookup_slot {
	struct lookup_key key;
	uint32_t value_plus_1; /* 0: free */
};

struct lookup {
	struct lookup_slot *slots;
	size_t mask, count;
};

uint32_t lookup_get(const struct lookup *lookup, struct lookup_key key); /* or LOOKUP_NONE */
void lookup_put(struct lookup *lookup, struct lookup_key key, uint32_t value);
void lookup_remove(struct lookup *lookup, struct lookup_key key);
void lookup_deinit(struct lookup *lookup);

#endif
