/* If this fails, a slip of the fingers is answered with the wrong word, or with none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/nearest.h"

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
	struct nearest nearest = {.wanted = "linux"};

	(void)state;
	assert_string_equal(nearest_of("imp"), "import");
	nearest_offer(&nearest, "line");
	nearest_offer(&nearest, "linux-6.18");
	nearest_offer(&nearest, "linux-6.6");
	assert_string_equal(nearest.best, "linux-6.18");
}

static void capitals_are_small_letters(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("RUN"), "run");
	assert_string_equal(nearest_of("IMP"), "import");
}

static const char *name_at(const void *context, size_t index)
{
	const char *const *names = context;

	return names[index];
}

static void a_list_is_searched_to_its_end(void **state)
{
	static const char *const names[] = {"memory", "cgroup_limit", "pinned",
					    "policy", "op",           NULL};

	(void)state;
	assert_string_equal(nearest_word("memroy", name_at, names), "memory");
	assert_string_equal(nearest_word("cgrouplimit", name_at, names), "cgroup_limit");
	assert_string_equal(nearest_word("polisy", name_at, names), "policy");
	assert_null(nearest_word("filesystem", name_at, names));
	assert_null(nearest_word("", name_at, names));
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
		cmocka_unit_test(capitals_are_small_letters),
		cmocka_unit_test(a_list_is_searched_to_its_end),
		cmocka_unit_test(another_word_finds_nothing),
		cmocka_unit_test(the_first_of_equals_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
