/*
 * key_set: which keys there were; 8 to 16 bytes each
 */
#ifndef REFAULT_STUDY_KEY_SET_H
#define REFAULT_STUDY_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_set {
	uint64_t *keys;     /* by hash; 0: nothing */
	size_t room, count; /* room: a power of two, or 0 */
	bool has_zero;
};

/* True: it is new. All zero is an empty one. */
bool key_set_add(struct key_set *set, uint64_t key);
void key_set_deinit(struct key_set *set);

/* Mixes all bits: for tables, and for who takes a part of all keys. splitmix64's (public domain). */
static inline uint64_t key_hash(uint64_t key)
{
	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
	key = (key ^ key >> 27) * 0x94d049bb133111ebu;
	return key ^ key >> 31;
}

#endif
