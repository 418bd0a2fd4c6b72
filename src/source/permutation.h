/*
 * permutation: the numbers 0 .. count - 1 in a random order that needs no memory
 *
 * A Feistel network over a x b >= count with both sides about sqrt(count) (Black and Rogaway,
 * "Ciphers with Arbitrary Finite Domains", 2002, the generalised Feistel); what falls outside is
 * sent through again, which happens to fewer than one number in sqrt(count). Integers only. About
 * 10 ns a number.
 */
#ifndef REFAULT_SOURCE_PERMUTATION_H
#define REFAULT_SOURCE_PERMUTATION_H

#include <stdint.h>

enum { PERMUTATION_ROUNDS = 4 };

struct permutation {
	uint64_t count;
	uint64_t left, right; /* left x right >= count */
	uint64_t keys[PERMUTATION_ROUNDS];
};

/* `count` is 1 .. 2^62. */
void permutation_init(struct permutation *permutation, uint64_t count, uint64_t key);

/* Where `index` (below count) goes; no two go to the same place. */
uint64_t permutation_at(const struct permutation *permutation, uint64_t index);

#endif
