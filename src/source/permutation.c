#include "source/permutation.h"

#include "base/random.h"

#include <assert.h>

static uint64_t root_up(uint64_t count)
{
	uint64_t low = 1, high = UINT64_C(1) << 31;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (middle * middle >= count)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void permutation_init(struct permutation *permutation, uint64_t count, uint64_t key)
{
	struct random random;

	assert(count >= 1 && count <= UINT64_C(1) << 62);
	permutation->count = count;
	permutation->left = root_up(count);
	permutation->right = (count + permutation->left - 1) / permutation->left;
	random_init(&random, key, 0);
	for (unsigned int i = 0; i < PERMUTATION_ROUNDS; i++)
		permutation->keys[i] = random_next(&random);
}

/*
 * A number below `bound` (at most 2^31) from `value` and a key: both halves of a product, folded
 * and scaled.
 */
static inline uint64_t mix_below(uint64_t value, uint64_t key, uint64_t bound)
{
	unsigned __int128 product =
		(unsigned __int128)(value ^ key) * (key ^ UINT64_C(0x9e3779b97f4a7c15));
	uint64_t folded = (uint64_t)(product >> 64) ^ (uint64_t)product;

	return (folded >> 32) * bound >> 32;
}

static inline uint64_t add_below(uint64_t a, uint64_t b, uint64_t bound)
{
	uint64_t sum = a + b;

	return sum >= bound ? sum - bound : sum;
}

uint64_t permutation_at(const struct permutation *permutation, uint64_t index)
{
	const uint64_t left_count = permutation->left, right_count = permutation->right;

	assert(index < permutation->count);
	do {
		/* Most counts fit 32 bits, and dividing those is several times faster. */
		uint64_t left =
			index >> 32 ? index / right_count : (uint32_t)index / (uint32_t)right_count;
		uint64_t right = index - left * right_count;

		for (unsigned int i = 0; i < PERMUTATION_ROUNDS; i += 2) {
			left = add_below(left, mix_below(right, permutation->keys[i], left_count),
					 left_count);
			right = add_below(right,
					  mix_below(left, permutation->keys[i + 1], right_count),
					  right_count);
		}
		index = left * right_count + right;
	} while (index >= permutation->count);
	return index;
}
