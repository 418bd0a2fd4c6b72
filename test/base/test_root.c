/* If this fails, deviations, seeks and the kernel's watermarks are off, or differ from machine to machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/root.h"

static void check(unsigned __int128 value)
{
	uint64_t root = square_root_wide(value);

	assert_true((unsigned __int128)root * root <= value);
	if (root != UINT64_MAX)
		assert_true((unsigned __int128)(root + 1) * (root + 1) > value);
	if (value <= UINT64_MAX)
		assert_int_equal(square_root((uint64_t)value), root);
}

static void a_root_is_rounded_down(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 70000; value++)
		check(value);
	assert_int_equal(square_root(99), 9);
	assert_int_equal(square_root(100), 10);
}

static void about_squares_of_every_size(void **state)
{
	(void)state;
	for (int bit = 1; bit < 64; bit++) {
		for (uint64_t more = 0; more < 3; more++) {
			unsigned __int128 root = (UINT64_C(1) << bit) - 1 + more,
					  square = root * root;

			check(square - 1);
			check(square);
			check(square + 1);
			assert_int_equal(square_root_wide(square), root);
		}
	}
	assert_int_equal(square_root(UINT64_MAX), UINT32_MAX);
	assert_int_equal(square_root_wide(~(unsigned __int128)0), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_root_is_rounded_down),
		cmocka_unit_test(about_squares_of_every_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
