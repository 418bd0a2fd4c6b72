#include "base/random.h"

#include <assert.h>

/* splitmix64 (Vigna): spreads a seed over the state, as the authors of xoshiro256++ advise. */
static uint64_t seed_next(uint64_t *seed)
{
	uint64_t value = *seed += UINT64_C(0x9e3779b97f4a7c15);

	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

void random_init(struct random *random, uint64_t seed, uint64_t stream)
{
	uint64_t mixed = stream;

	/* The stream is mixed first: seed 1, stream 0 must not be seed 0, stream 1. */
	mixed = seed ^ seed_next(&mixed);
	for (int i = 0; i < 4; i++)
		random->state[i] = seed_next(&mixed);
}

static uint64_t rotate_left(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

uint64_t random_next(struct random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

/*
 * Source: Lemire, Fast Random Integer Generation in an Interval, ACM TOMACS 2019. Rarely needs a
 * division.
 */
uint64_t random_below(struct random *random, uint64_t bound)
{
	unsigned __int128 product;

	assert(bound > 0);
	product = (unsigned __int128)random_next(random) * bound;
	if ((uint64_t)product < bound) {
		uint64_t rejected = -bound % bound;

		while ((uint64_t)product < rejected)
			product = (unsigned __int128)random_next(random) * bound;
	}
	return (uint64_t)(product >> 64);
}
