/* If this fails, a latency is reported that nobody waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/histogram.h"
#include "base/memory.h"
#include "base/random.h"

static void without_values_it_says_nothing(void **state)
{
	struct histogram histogram = {0};

	(void)state;
	assert_int_equal(histogram_mean(&histogram), 0);
	assert_int_equal(histogram_deviation(&histogram), 0);
	assert_int_equal(histogram_quantile(&histogram, 500000), 0);
	assert_null(histogram.buckets);
	histogram_deinit(&histogram);
}

static void buckets_follow_each_other_without_a_gap(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), high = histogram_bucket_high(i);

		assert_true(low <= high);
		if (i)
			assert_int_equal(histogram_bucket_high(i - 1) + 1, low);
		/* No wider than a 64th of what is in it. */
		assert_true(high - low <= low / 64);
	}
	assert_int_equal(histogram_bucket_low(0), 0);
	assert_int_equal(histogram_bucket_high(127), 127);
	assert_int_equal(histogram_bucket_high(128), 129);
	assert_true(histogram_bucket_high(HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
}

static void a_value_falls_into_the_bucket_that_spans_it(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 1, 0);
	for (int i = 0; i < 2000; i++) {
		struct histogram histogram = {0};
		uint64_t value = random_next(&random) >> random_below(&random, 64);
		uint32_t bucket = 0;

		histogram_add(&histogram, value);
		while (!histogram.buckets[bucket])
			bucket++;
		assert_true(histogram_bucket_low(bucket) <= value);
		assert_true(value <= histogram_bucket_high(bucket));
		/* One value: all that can be asked is exact. */
		assert_true(histogram_mean(&histogram) == value);
		assert_int_equal(histogram_deviation(&histogram), 0);
		assert_true(histogram_quantile(&histogram, 500000) == value);
		histogram_deinit(&histogram);
	}
}

static int by_size(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void quantiles_are_near_those_of_the_sorted_values(void **state)
{
	static const uint32_t asked[] = {0,      1,      100000, 500000, 900000, 950000,
					 990000, 999000, 999900, 999999, 1000000};
	enum { COUNT = 30000 };
	struct histogram histogram = {0};
	uint64_t *values = memory_alloc(COUNT, sizeof(*values));
	struct random random;

	(void)state;
	random_init(&random, 2, 0);
	for (int i = 0; i < COUNT; i++) {
		values[i] = random_below(&random, 100000) * random_below(&random, 100000);
		histogram_add(&histogram, values[i]);
	}
	qsort(values, COUNT, sizeof(*values), by_size);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		uint64_t rank = ((uint64_t)COUNT * asked[i] + 999999) / 1000000;
		uint64_t exact = values[rank ? rank - 1 : 0];
		uint64_t said = histogram_quantile(&histogram, asked[i]);

		assert_true(said >= exact);
		assert_true(said <= exact + exact / 64);
	}
	assert_int_equal(histogram_quantile(&histogram, 0), values[0]);
	assert_int_equal(histogram_quantile(&histogram, 1000000), values[COUNT - 1]);
	assert_int_equal(histogram.least, values[0]);
	assert_int_equal(histogram.most, values[COUNT - 1]);
	memory_free(values);
	histogram_deinit(&histogram);
}

static void small_values_are_exact(void **state)
{
	struct histogram histogram = {0};

	(void)state;
	for (uint64_t value = 1; value <= 100; value++)
		histogram_add(&histogram, value);
	assert_int_equal(histogram_quantile(&histogram, 500000), 50);
	assert_int_equal(histogram_quantile(&histogram, 500001), 51);
	assert_int_equal(histogram_quantile(&histogram, 990000), 99);
	assert_int_equal(histogram_quantile(&histogram, 999000), 100);
	/* 50.5, and the square root of 833.25. */
	assert_int_equal(histogram_mean(&histogram), 50);
	assert_int_equal(histogram_deviation(&histogram), 28);
	histogram_deinit(&histogram);
}

/* The same by the definition, n^2 * variance = n * sum of squares - sum^2, where it fits. */
static void the_deviation_is_that_of_the_definition(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 3, 0);
	for (int round = 0; round < 3000; round++) {
		struct histogram histogram = {0};
		uint64_t count = 1 + random_below(&random, 20);
		uint64_t bound = 1 + random_below(&random, 1 + (UINT64_C(1) << (round % 40)));
		unsigned __int128 scaled, said;

		for (uint64_t i = 0; i < count; i++)
			histogram_add(&histogram, random_below(&random, bound));
		scaled = histogram.sum_of_squares * count - histogram.sum * histogram.sum;
		said = histogram_deviation(&histogram);
		assert_true(said * said * count * count <= scaled);
		assert_true((said + 1) * (said + 1) * count * count > scaled);
		histogram_deinit(&histogram);
	}
}

static void large_values_do_not_spoil_the_deviation(void **state)
{
	struct histogram histogram = {0};
	const uint64_t large = UINT64_C(1) << 62;

	(void)state;
	/* Their squares' sum is 2^129 and more; what they are apart is not. */
	for (int i = 0; i < 50; i++) {
		histogram_add(&histogram, large - 1000);
		histogram_add(&histogram, large + 1000);
	}
	assert_true(histogram_mean(&histogram) == large);
	assert_int_equal(histogram_deviation(&histogram), 1000);
	histogram_deinit(&histogram);
}

static void merging_is_adding_all(void **state)
{
	struct histogram parts[3] = {{0}}, merged = {0}, whole = {0};
	struct random random;

	(void)state;
	random_init(&random, 4, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = random_below(&random, 1 + (UINT64_C(1) << (i % 50)));

		histogram_add(&parts[i % 2], value); /* the third stays empty */
		histogram_add(&whole, value);
	}
	for (int i = 2; i >= 0; i--)
		histogram_merge(&merged, &parts[i]);
	assert_int_equal(merged.count, 1000);
	assert_int_equal(merged.least, whole.least);
	assert_int_equal(merged.most, whole.most);
	assert_int_equal(histogram_mean(&merged), histogram_mean(&whole));
	assert_int_equal(histogram_deviation(&merged), histogram_deviation(&whole));
	assert_memory_equal(merged.buckets, whole.buckets,
			    HISTOGRAM_BUCKETS * sizeof(*whole.buckets));
	for (int i = 0; i < 3; i++)
		histogram_deinit(&parts[i]);
	histogram_deinit(&merged);
	histogram_deinit(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_values_it_says_nothing),
		cmocka_unit_test(buckets_follow_each_other_without_a_gap),
		cmocka_unit_test(a_value_falls_into_the_bucket_that_spans_it),
		cmocka_unit_test(quantiles_are_near_those_of_the_sorted_values),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(the_deviation_is_that_of_the_definition),
		cmocka_unit_test(large_values_do_not_spoil_the_deviation),
		cmocka_unit_test(merging_is_adding_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
