/*
 * random: a small deterministic generator (xoshiro256++, public domain, Blackman and Vigna)
 *
 * The same seed gives the same numbers on every machine: integers only, no libm in anything that
 * decides.
 */
#ifndef REFAULT_BASE_RANDOM_H
#define REFAULT_BASE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state[4];
};

/* `stream` separates the generators of one seed (a job's number, say). */
void random_init(struct random *random, uint64_t seed, uint64_t stream);
uint64_t random_next(struct random *random);

/* Uniform in 0 .. bound - 1 without bias; bound must not be 0. */
uint64_t random_below(struct random *random, uint64_t bound);

#endif
