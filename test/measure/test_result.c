/* If this fails, counters are shown under the wrong name or unit, or a result leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "measure/result.h"

static char *copy(const char *text)
{
	return strcpy(memory_alloc(strlen(text) + 1, 1), text);
}

static void each_counter_is_found_under_its_own_name(void **state)
{
	(void)state;
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		assert_true(strlen(counter_name(id)) > 0);
		assert_true(strlen(counter_meaning(id)) > 0);
		for (enum counter_id other = 0; other < id; other++)
			assert_string_not_equal(counter_name(id), counter_name(other));
	}
	assert_string_equal(counter_name(COUNTER_read_bytes), "read_bytes");
	assert_string_equal(counter_name(COUNTER_pinned_bytes), "pinned_bytes");
}

static void names_that_end_in_bytes_are_bytes(void **state)
{
	(void)state;
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		const char *end = strrchr(counter_name(id), '_');

		assert_int_equal(counter_unit(id) == COUNTER_UNIT_BYTES,
				 end && strcmp(end, "_bytes") == 0);
	}
}

static void levels_are_told_from_counters(void **state)
{
	(void)state;
	assert_false(counter_is_level(COUNTER_evictions));
	assert_true(counter_is_level(COUNTER_dirty_pages));
}

static void counters_are_read_by_number(void **state)
{
	const struct counters counters = {.read_bytes = 1, .evictions = 2, .pinned_bytes = 3};

	(void)state;
	assert_int_equal(counter_get(&counters, COUNTER_read_bytes), 1);
	assert_int_equal(counter_get(&counters, COUNTER_evictions), 2);
	assert_int_equal(counter_get(&counters, COUNTER_pinned_bytes), 3);
	assert_int_equal(counter_get(&counters, COUNTER_refaults), 0);
}

static void a_result_is_freed_whole_and_empty_again(void **state)
{
	struct result result = {
		.input = copy("a"),
		.machine = copy("model"),
		.policy = copy("lru"),
		.mark_count = 1,
		.stream_count = 1,
		.sample_count = 1,
	};

	(void)state;
	result.marks = memory_alloc(1, sizeof(*result.marks));
	result.marks[0].label = copy("half");
	result.streams = memory_alloc(1, sizeof(*result.streams));
	result.streams[0].name = copy("heap");
	result.blame = memory_alloc(1, sizeof(*result.blame));
	result.samples = memory_alloc(1, sizeof(*result.samples));
	result_deinit(&result);
	assert_null(result.marks);
	assert_int_equal(result.stream_count, 0);
	result_deinit(&result); /* an empty one, too */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_counter_is_found_under_its_own_name),
		cmocka_unit_test(names_that_end_in_bytes_are_bytes),
		cmocka_unit_test(levels_are_told_from_counters),
		cmocka_unit_test(counters_are_read_by_number),
		cmocka_unit_test(a_result_is_freed_whole_and_empty_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
