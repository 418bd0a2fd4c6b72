/*
 * If this fails, a checkpoint writes its blocks out of order, and write-back its runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/radix.h"
#include "base/random.h"

enum { COUNT = 5000 };

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* `bits`: how wide the numbers are. */
static void sort_like_qsort(uint64_t seed, size_t count, uint32_t bits)
{
	uint64_t numbers[COUNT], expected[COUNT];
	struct random random;

	random_init(&random, seed, 0);
	for (size_t i = 0; i < count; i++)
		numbers[i] = expected[i] = random_next(&random) >> (64 - bits);
	radix_sort(numbers, count, 0);
	qsort(expected, count, sizeof(expected[0]), compare);
	assert_memory_equal(numbers, expected, count * sizeof(numbers[0]));
}

static void numbers_of_any_width_come_out_in_order(void **state)
{
	(void)state;
	for (uint32_t bits = 1; bits <= 64; bits++)
		sort_like_qsort(bits, COUNT, bits);
}

static void none_one_and_two_are_sorted(void **state)
{
	(void)state;
	radix_sort(NULL, 0, 0);
	for (uint64_t seed = 0; seed < 8; seed++)
		for (size_t count = 1; count <= 2; count++)
			sort_like_qsort(seed, count, 64);
}

static void lower_bits_do_not_count_and_keep_their_order(void **state)
{
	uint64_t numbers[COUNT];

	(void)state;
	for (uint64_t i = 0; i < COUNT; i++)
		numbers[i] = (i * 7919 % 13) << 40 | i << 20 | (COUNT - i);
	radix_sort(numbers, COUNT, 40);
	for (size_t i = 1; i < COUNT; i++) {
		assert_true(numbers[i - 1] >> 40 <= numbers[i] >> 40);
		if (numbers[i - 1] >> 40 == numbers[i] >> 40)
			assert_true((numbers[i - 1] >> 20 & 0xfffff) <
				    (numbers[i] >> 20 & 0xfffff));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_any_width_come_out_in_order),
		cmocka_unit_test(none_one_and_two_are_sorted),
		cmocka_unit_test(lower_bits_do_not_count_and_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
