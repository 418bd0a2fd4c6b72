/*
 * zipf: some items often, most seldom: rank r is drawn in proportion to 1 / r^theta
 *
 * Idea       The first EXACT_RANKS ranks are drawn each with its own weight; behind them, ranks
 *            within 1/STEPS of a doubling are drawn together, with the weight of their middle, and
 *            uniformly among themselves: a staircase that stays within theta x 0.6 % of the curve.
 *            That makes a table of a few thousand weights for any number of items, drawn from in
 *            constant time (Walker's alias method, by Vose, "A linear algorithm for generating
 *            random numbers with a given distribution", 1991).
 * Determinism  Integers from end to end: logarithm by repeated squaring, power of two by a table of
 *              square roots. The same seed gives
 *            the same items on every machine, whatever its libm.
 * Places     Ranks are spread over the items by a permutation that depends on the seed alone: jobs
 *            and threads that read the same file agree on what is hot, and hot items are no
 *            neighbours. `spread: no` leaves rank 1 at item 0.
 */
#include "base/root.h"
#include "source/generator.h"

#include "source/permutation.h"

#include <assert.h>

enum {
	EXACT_RANKS = 256,
	STEPS = 64,        /* per doubling */
	LOG_BITS = 40,     /* fraction bits of a logarithm */
	WEIGHT_SHIFT = 62, /* the weight of rank 1 is 2^62 */
};

struct zipf_options {
	uint64_t theta_ppm;
	bool spread;
};

struct zipf_bucket {
	uint64_t first, width; /* ranks, from 0 */
	uint64_t cut;          /* below it: this bucket; else the alias */
	uint32_t alias;
};

struct zipf_state {
	struct permutation place;
	struct zipf_bucket *buckets;
	uint64_t bucket_count;
	uint64_t total; /* what a cut is drawn below */
};

static const struct schema_key zipf_keys[] = {
	{.section = SCHEMA_STEP,
	 .name = "theta",
	 .type = SCHEMA_RATIO,
	 .offset = offsetof(struct zipf_options, theta_ppm),
	 .fallback = "0.99",
	 .low = 0,
	 .high = 4000000,
	 .meaning = "the exponent: 0 is uniform, about 1 is usual"},
	{.section = SCHEMA_STEP,
	 .name = "spread",
	 .type = SCHEMA_FLAG,
	 .offset = offsetof(struct zipf_options, spread),
	 .fallback = "yes",
	 .meaning = "hot items lie anywhere; `no`: at the beginning"},
};

/* log2(rank), LOG_BITS fraction bits, rounded down. */
static uint64_t log2_fixed(uint64_t rank)
{
	unsigned int whole = 63 - (unsigned int)__builtin_clzll(rank);
	uint64_t x = rank << (63 - whole), log = whole; /* x: 1 .. 2, 63 fraction bits */

	for (int i = 0; i < LOG_BITS; i++) {
		unsigned __int128 square = (unsigned __int128)x * x >> 63;

		log <<= 1;
		if (square >> 64) {
			log |= 1;
			square >>= 1;
		}
		x = (uint64_t)square;
	}
	return log;
}

/* 2^-exponent as a weight; roots[i] is 2^-(2^-(i + 1)), 63 fraction bits. */
static uint64_t power_fixed(unsigned __int128 exponent, const uint64_t roots[LOG_BITS])
{
	uint64_t whole = (uint64_t)(exponent >> LOG_BITS), weight = UINT64_C(1) << WEIGHT_SHIFT;

	if (whole > WEIGHT_SHIFT)
		return 0;
	for (unsigned int i = 0; i < LOG_BITS; i++) {
		if (exponent >> (LOG_BITS - 1 - i) & 1)
			weight = (uint64_t)((unsigned __int128)weight * roots[i] >> 63);
	}
	return weight >> whole;
}

static uint64_t bucket_width(uint64_t first)
{
	uint64_t width = (first + 1) / STEPS;

	return first < EXACT_RANKS ? 1 : width;
}

/*
 * Vose's construction: every bucket keeps `cut` of an equal share and gives the rest of it to one
 * other.
 */
static void alias_build(struct zipf_state *state, unsigned __int128 *weights, uint32_t *small,
			uint32_t *large)
{
	size_t small_count = 0, large_count = 0;
	unsigned __int128 share = 0;

	for (uint32_t i = 0; i < state->bucket_count; i++)
		share += weights[i];
	/*
	 * Cuts are in units of the sum of all weights, scaled to 62 bits; each weight counts
	 * bucket_count times.
	 */
	while (share >> 62) {
		share = 0;
		for (uint32_t i = 0; i < state->bucket_count; i++)
			share += weights[i] >>= 1;
	}
	state->total = (uint64_t)share;
	for (uint32_t i = 0; i < state->bucket_count; i++) {
		weights[i] *= state->bucket_count;
		state->buckets[i].alias = i;
		if (weights[i] < share)
			small[small_count++] = i;
		else
			large[large_count++] = i;
	}
	while (small_count && large_count) {
		uint32_t less = small[--small_count], more = large[large_count - 1];

		state->buckets[less].cut = (uint64_t)weights[less];
		state->buckets[less].alias = more;
		weights[more] -= share - weights[less];
		if (weights[more] < share) {
			large_count--;
			small[small_count++] = more;
		}
	}
	while (large_count)
		state->buckets[large[--large_count]].cut = state->total;
	while (small_count)
		state->buckets[small[--small_count]].cut = state->total;
}

static void zipf_prepare(struct walk *walk, struct arena *arena)
{
	const struct zipf_options *options = walk->options;
	struct zipf_state *state = arena_alloc(arena, sizeof(*state));
	uint64_t roots[LOG_BITS], root = UINT64_C(1) << 62; /* 1/2 */
	unsigned __int128 *weights;
	uint32_t *stacks;

	for (uint64_t first = 0; first < walk->item_count; first += bucket_width(first))
		state->bucket_count++;
	state->buckets = arena_alloc(arena, state->bucket_count * sizeof(*state->buckets));
	weights = arena_alloc(arena, state->bucket_count * sizeof(*weights));
	stacks = arena_alloc(arena, 2 * state->bucket_count * sizeof(*stacks));

	for (int i = 0; i < LOG_BITS; i++)
		roots[i] = root = square_root_wide((unsigned __int128)root << 63);
	for (uint64_t first = 0, i = 0; first < walk->item_count; i++) {
		uint64_t width = bucket_width(first);
		uint64_t middle;

		if (width > walk->item_count - first)
			width = walk->item_count - first;
		middle = first + 1 + (width - 1) / 2;
		weights[i] = (unsigned __int128)power_fixed((unsigned __int128)log2_fixed(middle) *
								    options->theta_ppm / 1000000,
							    roots) *
			     width;
		state->buckets[i].first = first;
		state->buckets[i].width = width;
		first += width;
	}
	alias_build(state, weights, stacks, stacks + state->bucket_count);
	permutation_init(&state->place, walk->item_count, walk->seed);
	walk->state = state;
}

static uint64_t zipf_next(struct walk *walk)
{
	const struct zipf_options *options = walk->options;
	const struct zipf_state *state = walk->state;
	const struct zipf_bucket *bucket =
		&state->buckets[random_below(&walk->random, state->bucket_count)];
	uint64_t rank;

	if (random_below(&walk->random, state->total) >= bucket->cut)
		bucket = &state->buckets[bucket->alias];
	rank = bucket->first;
	if (bucket->width > 1)
		rank += random_below(&walk->random, bucket->width);
	return options->spread ? permutation_at(&state->place, rank) : rank;
}

extern const struct generator generator_zipf;
const struct generator generator_zipf = {
	.name = "zipf",
	.summary = "few often, most seldom: rank r in proportion to 1 / r^`theta`",
	.keys = zipf_keys,
	.key_count = sizeof(zipf_keys) / sizeof(zipf_keys[0]),
	.options_bytes = sizeof(struct zipf_options),
	.prepare = zipf_prepare,
	.next = zipf_next,
};
