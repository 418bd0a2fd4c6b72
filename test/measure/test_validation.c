/*
 * If this fails, a wrong prediction passes for a right one, or the other way round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "measure/validation.h"

static struct result_mark marks[2][2] = {
	{{.label = "a", .op_index = 10}, {.label = "b", .op_index = 20}},
	{{.label = "a", .op_index = 10}, {.label = "b", .op_index = 20}}};
static struct result_sample samples[2][3];

/* Two results with two marks; what differs is set by the test. */
static void pair(struct result *predicted, struct result *measured)
{
	for (int i = 0; i < 2; i++) {
		struct result *result = i ? measured : predicted;

		memset(&marks[i][0].counters, 0, sizeof(struct counters));
		memset(&marks[i][1].counters, 0, sizeof(struct counters));
		marks[i][0].counters.read_bytes = 100 << 20;
		marks[i][1].counters.read_bytes = 200 << 20;
		memset(samples[i], 0, sizeof(samples[i]));
		for (size_t s = 0; s < 3; s++)
			samples[i][s].op_index = 8 * s + 1;
		*result = (struct result){
			.memory_bytes = 256 << 20,
			.known = COUNTERS_ALL_KNOWN,
			.op_count = 21,
			.marks = marks[i],
			.mark_count = 2,
			.samples = samples[i],
			.sample_count = 3,
		};
	}
}

static void the_same_is_right(void **state)
{
	struct result predicted, measured;
	struct validation validation;

	(void)state;
	pair(&predicted, &measured);
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_int_equal(validation.judged_count, 2 * 4);
	assert_true(validation.worst == 0);
	assert_false(validation.departure.is_known);
	validation_deinit(&validation);
}

static void an_error_is_relative_to_what_was_measured(void **state)
{
	struct result predicted, measured;
	struct validation validation;

	(void)state;
	pair(&predicted, &measured);
	marks[0][1].counters.read_bytes = 220 << 20;
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_true(validation.worst > 0.0999 && validation.worst < 0.1001);
	assert_string_equal(validation.worst_row->mark, "b");
	assert_int_equal(validation.worst_row->counter, COUNTER_read_bytes);
	assert_true(validation.worst_row->error > 0);
	validation_deinit(&validation);
}

/* 4 MiB of 256: a page or two of next to nothing are no error. */
static void little_is_held_against_the_memory(void **state)
{
	struct result predicted, measured;
	struct validation validation;

	(void)state;
	pair(&predicted, &measured);
	marks[0][1].counters.refaults = 10;
	marks[1][1].counters.refaults = 5;
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_true(validation.worst > 0 && validation.worst < 0.006);
	validation_deinit(&validation);
}

static void what_either_does_not_know_is_not_compared(void **state)
{
	struct result predicted, measured;
	struct validation validation;

	(void)state;
	pair(&predicted, &measured);
	measured.known = UINT64_C(1) << COUNTER_read_bytes;
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_int_equal(validation.row_count, 2);
	validation_deinit(&validation);
}

static void within_the_kernels_own_range_all_is_right(void **state)
{
	struct result predicted, measured;
	struct counters low[2], high[2];
	struct validation validation;

	(void)state;
	pair(&predicted, &measured);
	low[0] = high[0] = marks[1][0].counters;
	low[1] = high[1] = marks[1][1].counters;
	low[1].read_bytes = 150 << 20;
	high[1].read_bytes = 250 << 20;
	measured.run_count = 3;
	measured.marks_low = low;
	measured.marks_high = high;
	marks[0][1].counters.read_bytes = 240 << 20;
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_true(validation.worst == 0);
	validation_deinit(&validation);
	marks[0][1].counters.read_bytes = 275 << 20;
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_true(validation.worst > 0.0999 && validation.worst < 0.1001);
	validation_deinit(&validation);
}

static void the_first_departure_is_named(void **state)
{
	struct result predicted, measured;
	struct validation validation;

	(void)state;
	pair(&predicted, &measured);
	samples[0][1].active_file_pages = 30000; /* first the lists, */
	samples[1][1].active_file_pages = 10000;
	samples[0][2].read_bytes = 500 << 20; /* then what comes of it */
	samples[1][2].read_bytes = 100 << 20;
	marks[0][1].counters.read_bytes = 400 << 20;
	validation_make(&validation, &predicted, &measured, 0.05);
	assert_true(validation.departure.is_known);
	assert_int_equal(validation.departure.op_index, 9);
	assert_string_equal(validation.departure.what, "active_file_pages");
	assert_int_equal(validation.departure.predicted, 30000);
	assert_int_equal(validation.departure.measured, 10000);
	validation_deinit(&validation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_is_right),
		cmocka_unit_test(an_error_is_relative_to_what_was_measured),
		cmocka_unit_test(little_is_held_against_the_memory),
		cmocka_unit_test(what_either_does_not_know_is_not_compared),
		cmocka_unit_test(within_the_kernels_own_range_all_is_right),
		cmocka_unit_test(the_first_departure_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
