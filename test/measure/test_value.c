/* If this fails, a figure of a comparison is another one than its name says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "measure/result.h"
#include "measure/value.h"

static struct result_figure figures[] = {
	{.name = (char *)"wal_bytes", .value = 418880.5, .per_work = true},
	{.name = (char *)"checkpoint_ns", .value = 7e9},
	{.name = (char *)"share", .value = NAN},
};
static struct result_latency latencies[1];
static struct result_interval intervals[] = {{.ops = 30, .dirty_pages = 10},
					     {.ops = 70, .dirty_pages = 30}};

static struct result_interval six_intervals[] = {
	{.work = 10, .free_bytes = 90}, {.work = 20, .free_bytes = 70},
	{.work = 60, .free_bytes = 50}, {.work = 80, .free_bytes = 40},
	{.work = 30, .free_bytes = 20}, {.work = 5, .free_bytes = 30}};

static void result_init(struct result *result)
{
	*result = (struct result){
		.known = COUNTERS_ALL_KNOWN & ~(UINT64_C(1) << COUNTER_refaults),
		.totals = {.reread_bytes = 8192, .evictions = 9, .refaults = 5},
		.op_count = 1000,
		.elapsed_ns = 2 * NS_PER_SECOND,
		.cpu_ns = 3 * NS_PER_SECOND,
		.cpu_count = 2,
		.device = {.name = (char *)"disk",
			   .size_bytes = 1,
			   .reads = 20,
			   .writes = 3,
			   .flushes = 4,
			   .read_bytes = 5,
			   .write_bytes = 6,
			   .metadata_read_bytes = 7,
			   .metadata_write_bytes = 8,
			   .busy_ns = 9},
		.work = (char *)"transactions",
		.work_count = 40,
		.latencies = latencies,
		.latency_count = 1,
		.figures = figures,
		.figure_count = 3,
		.interval_ns = NS_PER_SECOND,
		.intervals = intervals,
		.interval_count = 2,
	};
	histogram_deinit(&latencies[0].ns);
	latencies[0].name = (char *)"transaction";
	for (uint64_t i = 1; i <= 100; i++)
		histogram_add(&latencies[0].ns, i);
}

static void each_name_finds_its_own_value(void **state)
{
	static const struct {
		const char *name;
		double value;
		enum value_unit unit;
	} all[] = {
		{"reread_bytes", 8192, VALUE_BYTES},
		{"evictions", 9, VALUE_COUNT},
		{"elapsed_ns", 2e9, VALUE_NS},
		{"work", 40, VALUE_COUNT},
		{"work_per_second", 20, VALUE_PER_SECOND},
		{"tps", 20, VALUE_PER_SECOND},
		{"ops_per_second", 50, VALUE_PER_SECOND},
		{"cpu.busy_ns", 3e9, VALUE_NS},
		{"cpu.count", 2, VALUE_COUNT},
		{"device.size_bytes", 1, VALUE_BYTES},
		{"device.reads", 20, VALUE_COUNT},
		{"device.writes", 3, VALUE_COUNT},
		{"device.flushes", 4, VALUE_COUNT},
		{"device.read_bytes", 5, VALUE_BYTES},
		{"device.write_bytes", 6, VALUE_BYTES},
		{"device.metadata_read_bytes", 7, VALUE_BYTES},
		{"device.metadata_write_bytes", 8, VALUE_BYTES},
		{"device.busy_ns", 9, VALUE_NS},
		{"latency.transaction.mean", 50, VALUE_NS},
		{"latency.transaction.deviation", 28, VALUE_NS},
		{"latency.transaction.p50", 50, VALUE_NS},
		{"latency.transaction.p90", 90, VALUE_NS},
		{"latency.transaction.p95", 95, VALUE_NS},
		{"latency.transaction.p99", 99, VALUE_NS},
		{"latency.transaction.p99.9", 100, VALUE_NS},
		{"latency.transaction.p99.99", 100, VALUE_NS},
		{"latency.transaction.min", 1, VALUE_NS},
		{"latency.transaction.max", 100, VALUE_NS},
		{"latency.transaction.count", 100, VALUE_COUNT},
		{"wal_bytes", 418880.5, VALUE_BYTES},
		{"checkpoint_ns", 7e9, VALUE_NS},
		{"device.reads/work", 0.5, VALUE_COUNT},
		{"reread_bytes/work", 204.8, VALUE_BYTES},
		{"cpu.busy_ns/work", 75e6, VALUE_NS},
		{"wal_bytes/work", 418880.5 / 40, VALUE_BYTES},
		{"mean.dirty_pages", 20, VALUE_COUNT},
		{"device.reads:device.flushes", 5, VALUE_COUNT},
		{"device.reads/work:mean.dirty_pages", 0.025, VALUE_COUNT},
	};
	struct result result;

	(void)state;
	result_init(&result);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		enum value_unit unit;
		double value;

		if (!result_value(&result, all[i].name, &value, &unit))
			fail_msg("%s is not found", all[i].name);
		if (value != all[i].value || unit != all[i].unit)
			fail_msg("%s is %g, unit %d", all[i].name, value, unit);
		/* What is published has it, too, whether or not a run knows the value. */
		assert_int_equal(value_unit_of_name(all[i].name), unit);
	}
}

static void a_series_has_parts(void **state)
{
	static const struct {
		const char *name;
		double value;
	} all[] = {
		{"first.work", 15},      {"middle.work", 70},
		{"last.work", 20},       {"first.free_bytes", 80},
		{"last.free_bytes", 25}, {"least.free_bytes", 20},
		{"least.work", 10},      {"most.work", 80},
		{"mean.free_bytes", 50}, {"last.work:middle.work", 2. / 7},
	};
	struct result result;
	enum value_unit unit;
	double value;

	(void)state;
	result_init(&result);
	result.intervals = six_intervals;
	result.interval_count = 6;
	/* The last interval is half a second long: 5 in it are 10 a second. */
	result.elapsed_ns = 5500 * NS_PER_MS;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_true(value_name_exists(all[i].name));
		if (!result_value(&result, all[i].name, &value, &unit))
			fail_msg("%s is not found", all[i].name);
		if (value < all[i].value - 1e-9 || value > all[i].value + 1e-9)
			fail_msg("%s is %g", all[i].name, value);
	}
	/* A mean of sums would be a question of how long an interval is. */
	assert_false(result_value(&result, "mean.work", &value, &unit));
	assert_false(value_name_exists("mean.work"));
	assert_false(value_name_exists("first.nothing"));
	result.interval_count = 0;
	assert_false(result_value(&result, "first.work", &value, &unit));
}

static void what_is_not_known_has_no_value(void **state)
{
	static const char longer_than_any[] = "a_name_that_is_longer_than_any_that_could_be_there_"
					      "and_longer_than_what_there_is_room_for_anywhere";
	static const char *const names[] = {
		"refaults",
		"share",
		"nonsense",
		"",
		"/work",
		"latency.read.mean",
		"latency.transaction.p98",
		"latency.transaction",
		"latency..mean",
		"device.name",
		"device.",
		"transactions",
		"wal_bytes/",
		longer_than_any,
	};
	static const char *const timely[] = {
		"elapsed_ns",  "work",           "tps",          "ops_per_second",
		"cpu.busy_ns", "cpu.count",      "device.reads", "latency.transaction.mean",
		"wal_bytes",   "evictions/work",
	};
	struct result result;
	enum value_unit unit;
	double value;

	(void)state;
	result_init(&result);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (result_value(&result, names[i], &value, &unit))
			fail_msg("\"%s\" is %g", names[i], value);
	}
	/* A trace: nobody kept time. */
	result = (struct result){.known = COUNTERS_ALL_KNOWN, .op_count = 5};
	for (size_t i = 0; i < sizeof(timely) / sizeof(timely[0]); i++) {
		if (result_value(&result, timely[i], &value, &unit))
			fail_msg("\"%s\" is %g", timely[i], value);
	}
	assert_true(result_value(&result, "evictions", &value, &unit));
}

static void without_intervals_all_operations_count(void **state)
{
	struct result result;
	enum value_unit unit;
	double value;

	(void)state;
	result_init(&result);
	result.interval_count = 0;
	assert_true(result_value(&result, "ops_per_second", &value, &unit));
	assert_true(value == 500);
}

static void names_are_all_that_exist(void **state)
{
	size_t count = 0;
	const char *name;

	(void)state;
	for (; (name = value_name_at(NULL, count)); count++) {
		char per_work[VALUE_NAME_BYTES];

		assert_true(strlen(name) < VALUE_NAME_BYTES - 8);
		assert_true(value_name_exists(name));
		snprintf(per_work, sizeof(per_work), "%s/work", name);
		assert_true(value_name_exists(per_work));
	}
	assert_true(count > COUNTER_COUNT + 15);
	/* Each field of the device is one of them. */
	for (const struct result_field *field = result_device_fields; field->name; field++) {
		char device[VALUE_NAME_BYTES];

		snprintf(device, sizeof(device), "device.%s", field->name);
		assert_true(value_name_exists(device));
	}
	for (const struct result_quantile *q = result_quantiles; q->name; q++) {
		char latency[VALUE_NAME_BYTES];

		snprintf(latency, sizeof(latency), "latency.sync_file_range.%s", q->name);
		assert_true(value_name_exists(latency));
	}
	assert_true(value_name_exists("latency.new_order.p99.9"));
	assert_false(value_name_exists("latency.new_order.p98"));
	assert_false(value_name_exists("wal_bytes"));
	assert_false(value_name_exists("tps/works"));
}

static void a_misspelt_name_is_found_again(void **state)
{
	struct result result;
	char text[VALUE_NAME_BYTES];

	(void)state;
	result_init(&result);
	assert_string_equal(value_name_nearest(text, NULL, "latency.transactoin.p99.9"),
			    "latency.transaction.p99.9");
	assert_string_equal(value_name_nearest(text, NULL, "device.reeds/work"),
			    "device.reads/work");
	assert_string_equal(value_name_nearest(text, NULL, "evictoins"), "evictions");
	assert_string_equal(value_name_nearest(text, &result, "wal_byts"), "wal_bytes");
	assert_null(value_name_nearest(text, NULL, "qqqqqqqqqqqqqqqqqqq"));
}

static void the_last_interval_may_be_shorter(void **state)
{
	struct result result;

	(void)state;
	result_init(&result);
	assert_true(result_interval_per_second(&result, 1, 70) == 70);
	result.elapsed_ns = 3 * NS_PER_SECOND / 2;
	assert_true(result_interval_per_second(&result, 0, 30) == 30);
	assert_true(result_interval_per_second(&result, 1, 70) == 140);
}

static int latencies_free(void **state)
{
	(void)state;
	histogram_deinit(&latencies[0].ns);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_finds_its_own_value),
		cmocka_unit_test(a_series_has_parts),
		cmocka_unit_test(what_is_not_known_has_no_value),
		cmocka_unit_test(without_intervals_all_operations_count),
		cmocka_unit_test(names_are_all_that_exist),
		cmocka_unit_test(a_misspelt_name_is_found_again),
		cmocka_unit_test(the_last_interval_may_be_shorter),
	};

	return cmocka_run_group_tests(tests, NULL, latencies_free);
}
