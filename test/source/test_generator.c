/*
 * If these fail, workloads have the wrong shape: a "shuffled" pass that misses files, a zipf that is no zipf.
 */
#include "source_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "source/generator.h"
#include "source/permutation.h"

struct zipf_options {
	uint64_t theta_ppm;
	bool spread;
};

static void walk_start(struct walk *walk, const char *name, const void *options, uint64_t count,
		       struct arena *arena)
{
	*walk = (struct walk){.generator = generator_find(name),
			      .options = options,
			      .item_count = count,
			      .per_directory = count,
			      .seed = 42};
	assert_non_null(walk->generator);
	random_init(&walk->random, 42, 1);
	if (walk->generator->prepare)
		walk->generator->prepare(walk, arena);
	if (walk->generator->begin)
		walk->generator->begin(walk);
}

static void a_permutation_goes_everywhere_once(void **state)
{
	static const uint64_t counts[] = {1,  2,  3,    4,    5,     15,     16,
					  17, 99, 1000, 4097, 65537, 1000003};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		struct permutation permutation;
		uint8_t *seen = calloc(counts[c], 1);

		permutation_init(&permutation, counts[c], 99);
		for (uint64_t i = 0; i < counts[c]; i++) {
			uint64_t to = permutation_at(&permutation, i);

			assert_true(to < counts[c]);
			assert_int_equal(seen[to]++, 0);
		}
		free(seen);
	}
}

static void a_permutation_leaves_no_order(void **state)
{
	enum { COUNT = 100000 };
	struct permutation permutation;
	uint64_t rising = 0, near = 0, last = 0;
	double product = 0;

	(void)state;
	permutation_init(&permutation, COUNT, 7);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t to = permutation_at(&permutation, i);

		rising += to > last;
		near += llabs((long long)to - (long long)last) < 100;
		product += ((double)i / COUNT - 0.5) * ((double)to / COUNT - 0.5);
		last = to;
	}
	assert_true(rising > COUNT * 49 / 100 && rising < COUNT * 51 / 100);
	assert_true(near < COUNT / 250); /* 0.2 % expected */
	assert_true(fabs(product / COUNT * 12) < 0.02);
}

static void shuffled_and_readdir_take_each_item_once_a_pass(void **state)
{
	static const char *const names[] = {"shuffled", "readdir", "sequential"};

	(void)state;
	for (size_t n = 0; n < 3; n++) {
		struct arena arena = {0};
		struct walk walk;

		walk_start(&walk, names[n], NULL, 997, &arena);
		for (int pass = 0; pass < 3; pass++) {
			uint8_t seen[997] = {0};

			for (int i = 0; i < 997; i++)
				assert_int_equal(seen[walk.generator->next(&walk)]++, 0);
		}
		arena_deinit(&arena);
	}
}

static void readdir_stays_in_a_directory_and_is_the_same_for_all(void **state)
{
	struct arena arena = {0};
	struct walk one = {
		.generator = generator_find("readdir"), .item_count = 250, .per_directory = 100};
	struct walk two = one;

	(void)state;
	two.seed = 77;
	one.generator->prepare(&one, &arena);
	two.generator->prepare(&two, &arena);
	for (int i = 0; i < 500; i++) {
		uint64_t item = one.generator->next(&one);

		assert_int_equal(item, two.generator->next(&two));
		assert_int_equal(item / 100, (i % 250) / 100);
	}
	arena_deinit(&arena);
}

/* Drawn counts of the first ranks, and of all ranks beyond, against the law itself. */
static void zipf_follows_the_law(void **state)
{
	static const uint64_t thetas[] = {0, 500000, 990000, 1200000, 2000000};
	enum { ITEMS = 100000, DRAWS = 2000000 };

	(void)state;
	for (size_t t = 0; t < sizeof(thetas) / sizeof(thetas[0]); t++) {
		struct zipf_options options = {.theta_ppm = thetas[t], .spread = false};
		struct arena arena = {0};
		struct walk walk;
		uint32_t *drawn = calloc(ITEMS, sizeof(*drawn));
		double sum = 0, theta = (double)thetas[t] / 1e6;

		walk_start(&walk, "zipf", &options, ITEMS, &arena);
		for (int i = 0; i < DRAWS; i++) {
			uint64_t item = walk.generator->next(&walk);

			assert_true(item < ITEMS);
			drawn[item]++;
		}
		for (int i = 0; i < ITEMS; i++)
			sum += pow(i + 1, -theta);
		for (int from = 0, to = 1; from < ITEMS;
		     from = to, to = to * 3 < ITEMS ? to * 3 : ITEMS) {
			double expected = 0, got = 0;

			for (int i = from; i < to; i++) {
				expected += pow(i + 1, -theta) / sum * DRAWS;
				got += drawn[i];
			}
			/* Five standard deviations, and half a per cent for the staircase. */
			assert_true(fabs(got - expected) <
				    5 * sqrt(expected) + expected * 0.005 + 2);
		}
		free(drawn);
		arena_deinit(&arena);
	}
}

/* Not how likely an item is, but which one: these numbers must never change, on no machine. */
static void zipf_is_the_same_everywhere(void **state)
{
	struct zipf_options options = {.theta_ppm = 990000, .spread = true};
	struct arena arena = {0};
	struct walk walk;
	uint64_t hash = 0;

	(void)state;
	walk_start(&walk, "zipf", &options, 1 << 20, &arena);
	for (int i = 0; i < 100000; i++)
		hash = (hash ^ walk.generator->next(&walk)) * UINT64_C(0x100000001b3);
	assert_true(hash == UINT64_C(0x6b4b9fff2b58a65b));
	arena_deinit(&arena);
}

static void all_generators_stay_within_bounds_however_few_items(void **state)
{
	const struct generator *generator;

	(void)state;
	for (size_t g = 0; (generator = generator_at(g)); g++) {
		for (uint64_t count = 1; count < 40; count++) {
			uint64_t options[4] = {3, 1};
			struct arena arena = {0};
			struct walk walk;

			walk_start(&walk, generator->name, options, count, &arena);
			for (int i = 0; i < 100; i++)
				assert_true(generator->next(&walk) < count);
			if (generator->pass_items)
				assert_true(generator->pass_items(options, count) <= count);
			arena_deinit(&arena);
		}
		assert_ptr_equal(generator_find(generator->name), generator);
	}
	assert_null(generator_find("none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_permutation_goes_everywhere_once),
		cmocka_unit_test(a_permutation_leaves_no_order),
		cmocka_unit_test(shuffled_and_readdir_take_each_item_once_a_pass),
		cmocka_unit_test(readdir_stays_in_a_directory_and_is_the_same_for_all),
		cmocka_unit_test(zipf_follows_the_law),
		cmocka_unit_test(zipf_is_the_same_everywhere),
		cmocka_unit_test(all_generators_stay_within_bounds_however_few_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
