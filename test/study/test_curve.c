/* If this fails, a miss curve is not what runs of the caches would say, or an estimate says that it is better than it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "cache/bare.h"
#include "cache/policy.h"
#include "cache/policy_options.h"
#include "study/key_sample.h"
#include "study/key_set.h"
#include "study/stack.h"

enum { KEYS = 20000, ACCESSES = 200000 };

/* Skewed, with a loop over some of them in between: distances of all kinds. */
static uint64_t *stream_make(uint64_t seed, size_t count)
{
	uint64_t *keys = memory_alloc(count, sizeof(*keys));
	struct random random;

	random_init(&random, seed, 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t a = random_below(&random, KEYS);

		keys[i] = i % 3 == 0 ? KEYS + i / 3 % (KEYS / 4) : a * a / KEYS;
	}
	return keys;
}

static uint64_t lru_misses(const uint64_t *keys, size_t count, uint64_t pages)
{
	struct policy_options lru;
	struct error error;
	struct bare *bare;
	uint64_t misses;

	assert_true(policy_options_parse(&lru, "lru", &error));
	bare = bare_create(pages, lru.policy);
	misses = bare_access(bare, keys, count);
	bare_destroy(bare);
	return misses;
}

static void distances_are_how_many_keys_came_between(void **state)
{
	struct stack *stack = stack_create();
	static const uint64_t keys[] = {7, 7, 8, 9, 7, 0, 0, 8};
	static const uint64_t distances[] = {STACK_COLD, 0,          STACK_COLD, STACK_COLD,
					     2,          STACK_COLD, 0,          3};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(stack_access(stack, keys[i]), distances[i]);
	stack_forget(stack, 7);
	assert_int_equal(stack_count(stack), 3);
	assert_int_equal(stack_access(stack, 9), 2);
	stack_forget_oldest(stack); /* 0 */
	assert_int_equal(stack_access(stack, 8), 1);
	assert_int_equal(stack_access(stack, 0), STACK_COLD);
	assert_int_equal(stack_access(stack, 7), STACK_COLD);
	stack_destroy(stack);
}

static void one_pass_says_what_a_run_at_each_size_says(void **state)
{
	static const uint64_t sizes[] = {1, 2, 100, 4999, 5000, 5001, 12345, KEYS, 2 * KEYS};
	uint64_t *keys = stream_make(1, ACCESSES);
	uint64_t *hits = memory_alloc(2 * KEYS, sizeof(*hits));
	struct stack *stack = stack_create();

	(void)state;
	for (size_t i = 0; i < ACCESSES; i++) {
		uint64_t distance = stack_access(stack, keys[i]);

		if (distance != STACK_COLD)
			hits[distance]++;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t misses = ACCESSES;

		for (uint64_t d = 0; d < sizes[i] && d < 2 * KEYS; d++)
			misses -= hits[d];
		assert_int_equal(misses, lru_misses(keys, ACCESSES, sizes[i]));
	}
	/* Some 30 bytes a key; here with what a table has to spare. */
	assert_true(stack_bytes(stack) < 80 * stack_count(stack));
	stack_destroy(stack);
	memory_free(hits);
	memory_free(keys);
}

/* Forgetting at random beside a slow list says whether the table and the tree stay whole. */
static void forgetting_leaves_the_rest_as_it_was(void **state)
{
	struct stack *stack = stack_create();
	uint64_t list[64];
	size_t count = 0;
	struct random random;

	(void)state;
	random_init(&random, 5, 0);
	for (int step = 0; step < 20000; step++) {
		uint64_t key = random_below(&random, 60), distance = STACK_COLD;
		size_t at = 0;

		while (at < count && list[at] != key)
			at++;
		if (random_below(&random, 5) == 0 && count > 0) {
			if (at == count || key % 2) {
				stack_forget_oldest(stack);
				count--;
				continue;
			}
			stack_forget(stack, key);
			memmove(&list[at], &list[at + 1], (--count - at) * sizeof(list[0]));
			continue;
		}
		if (at < count)
			distance = at;
		else
			count++;
		memmove(&list[1], &list[0], at * sizeof(list[0]));
		list[0] = key;
		assert_int_equal(stack_access(stack, key), distance);
		assert_int_equal(stack_count(stack), count);
	}
	stack_destroy(stack);
}

static void a_set_knows_what_was_added(void **state)
{
	struct key_set set = {0};

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(key_set_add(&set, i % 3001 * 64), i < 3001);
	assert_int_equal(set.count, 3001);
	key_set_deinit(&set);
}

/* ---- samples ---- */

enum { MANY = 100000, LOOK_UPS = 1200000 };

/* More pages than the head of the stack has; a loop and a skewed part. */
static struct key_sample *sample_make(double rate, uint64_t max_keys, uint64_t seed,
				      struct stack *stack, uint64_t *hits)
{
	struct key_sample *sample = key_sample_create(rate, max_keys, seed);
	struct random random;

	random_init(&random, 3, 0);
	for (size_t i = 0; i < LOOK_UPS; i++) {
		uint64_t a = random_below(&random, MANY), distance;
		uint64_t key = i % 4 == 0 ? MANY + i / 4 % 60000 : a * a / MANY;

		(void)key_sample_access(sample, key);
		if (!stack)
			continue;
		distance = stack_access(stack, key);
		if (distance != STACK_COLD)
			hits[distance]++;
	}
	return sample;
}

static void a_sample_is_as_good_as_it_says(void **state)
{
	enum { SIZES = 10, SEEDS = 3 };
	struct stack *stack = stack_create();
	uint64_t *hits = memory_alloc(2 * MANY, sizeof(*hits)), sizes[SIZES];
	double exact[SIZES], misses[SIZES], groups[SIZES * SAMPLE_GROUPS];
	size_t outside = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct key_sample *sample = sample_make(seed == 3 ? 1 : 0.05, seed == 3 ? 5000 : 0,
							seed, seed == 1 ? stack : NULL, hits);
		double left = LOOK_UPS, pages = (double)stack_count(stack);
		uint64_t distance = 0;

		assert_int_equal(key_sample_accesses(sample), LOOK_UPS);
		assert_true(fabs(key_sample_pages(sample) / pages - 1) < 0.005);
		for (size_t i = 0; i < SIZES; i++) {
			sizes[i] = (uint64_t)(pages * (double)(i + 1) / SIZES);
			for (; distance < sizes[i]; distance++)
				left -= (double)hits[distance];
			exact[i] = left;
		}
		key_sample_misses(sample, sizes, SIZES, misses);
		key_sample_group_misses(sample, sizes, SIZES, groups);
		for (size_t i = 0; i < SIZES; i++) {
			double mean = 0, square = 0, off = misses[i] - exact[i];

			for (size_t g = 0; g < SAMPLE_GROUPS; g++)
				mean += groups[g * SIZES + i] / SAMPLE_GROUPS;
			for (size_t g = 0; g < SAMPLE_GROUPS; g++)
				square += (groups[g * SIZES + i] - mean) *
					  (groups[g * SIZES + i] - mean);
			square /= SAMPLE_GROUPS * (SAMPLE_GROUPS - 1);
			/* What the head knows is exact. */
			if (sizes[i] <= SAMPLE_HEAD)
				assert_true(off == 0);
			outside += off * off > 6.25 * square + 16;
			assert_true(fabs(off) < 0.01 * LOOK_UPS);
		}
		if (seed == 3)
			assert_int_equal(key_sample_sampled_pages(sample), 5000);
		key_sample_destroy(sample);
	}
	/* Beyond 2.5 standard errors are 1 in 80; they come together, as sizes are alike. */
	assert_true(outside <= 6);
	stack_destroy(stack);
	memory_free(hits);
}

static void logarithms_are_logarithms(void **state)
{
	(void)state;
	for (double x = 1e-9; x < 1e9; x *= 1.7)
		assert_true(fabs(sample_log(x) - log(x)) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_how_many_keys_came_between),
		cmocka_unit_test(one_pass_says_what_a_run_at_each_size_says),
		cmocka_unit_test(forgetting_leaves_the_rest_as_it_was),
		cmocka_unit_test(a_set_knows_what_was_added),
		cmocka_unit_test(a_sample_is_as_good_as_it_says),
		cmocka_unit_test(logarithms_are_logarithms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
