/* If this fails, a slip of the fingers is answered with the wrong word, or with none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/nearest.h"

static const char *nearest_of(const char *wanted)
{
	static const char *const names[] = {"replay", "import", "list",
					    "run",    "report", "--memory"};
	struct nearest nearest = {.wanted = wanted};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		nearest_offer(&nearest, names[i]);
	return nearest.best;
}

static void a_slip_finds_the_word(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("repaly"), "replay"); /* swapped */
	assert_string_equal(nearest_of("reply"), "replay");  /* left out */
	assert_string_equal(nearest_of("listt"), "list");    /* put in */
	assert_string_equal(nearest_of("inport"), "import"); /* changed */
	assert_string_equal(nearest_of("--memroy"), "--memory");
}

static void the_beginning_of_a_word_is_enough(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("imp"), "import");
}

static void another_word_finds_nothing(void **state)
{
	(void)state;
	assert_null(nearest_of("zzzzzz"));
	assert_null(nearest_of(
		"a-very-long-word-that-is-longer-than-any-name-there-could-be-in-refault"));
}

static void the_first_of_equals_wins(void **state)
{
	struct nearest nearest = {.wanted = "bat"};

	(void)state;
	nearest_offer(&nearest, "cat");
	nearest_offer(&nearest, "hat");
	assert_string_equal(nearest.best, "cat");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_finds_the_word),
		cmocka_unit_test(the_beginning_of_a_word_is_enough),
		cmocka_unit_test(another_word_finds_nothing),
		cmocka_unit_test(the_first_of_equals_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
