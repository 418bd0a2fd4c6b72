/* If this fails, a figure stands beside a published one that is another, or in a wrong unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "report/comparison.h"
#include "report/report.h"

static struct result_figure figures[] = {
	{.name = (char *)"wal_bytes", .value = 104720000, .per_work = true},
	{.name = (char *)"wal_bytes", .value = 52360000, .per_work = true},
};
static struct result_latency latencies[2];
static struct result results[2];

static int results_make(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		latencies[i].name = (char *)"transaction";
		histogram_add(&latencies[i].ns, 1140000 * (i + 1));
		results[i] = (struct result){
			.input = (char *)"wal",
			.machine = (char *)"model",
			.policy = (char *)"linux-6.18",
			.memory_bytes = 400 * MIB,
			.known = COUNTERS_ALL_KNOWN,
			.totals = {.reread_bytes = i ? 9565376512 : 27262988288, .evictions = 1000},
			.elapsed_ns = 4 * NS_PER_SECOND,
			.device = {.name = (char *)"disk", .reads = 5200 + i},
			.work = (char *)"transactions",
			.work_count = 10000 * (i + 1),
			.latencies = &latencies[i],
			.latency_count = 1,
			.figures = &figures[i],
			.figure_count = 1,
		};
	}
	return 0;
}

static int results_free(void **state)
{
	(void)state;
	histogram_deinit(&latencies[0].ns);
	histogram_deinit(&latencies[1].ns);
	return 0;
}

static const struct comparison_row rows[] = {
	{.label = "again",
	 .counter = COUNTER_reread_bytes,
	 .published = {27262988288, 9565376512},
	 .published_known = {true, true}},
	{.label = "passes", .counter = COUNTER_reread_bytes, .per_bytes = 1000000000},
	{.label = "evicted", .counter = COUNTER_evictions},
	{.label = "throughput",
	 .value = "tps",
	 .published = {2349.5, 4700},
	 .published_known = {true, true}},
	{.label = "mean",
	 .value = "latency.transaction.mean",
	 .published = {1200000, 0},
	 .published_known = {true, false}},
	{.label = "reads a transaction",
	 .value = "device.reads/work",
	 .published = {0.52, 0.25},
	 .published_known = {true, true}},
	{.label = "log a transaction", .value = "wal_bytes/work"},
	{.label = "nobody keeps it", .value = "latency.read.p99"},
	{.label = "misspelt", .value = "wal_byts"},
};

static const struct comparison comparison = {
	.key = "policy",
	.settings = (const char *const[]){"a", "b"},
	.results = results,
	.count = 2,
	.rows = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
};

/* clang-format off */
static const char table[] =
	"wal   0 ops, 0 streams   memory 400 MiB\n"
	"\n"
	"  policy                      a         b  ratio  published: a         b  ratio\n"
	"  again                 27.3 GB    9.6 GB  0.351       27.3 GB    9.6 GB  0.351\n"
	"  passes               27.26      9.57     0.351\n"
	"  evicted              1,000     1,000     1.000\n"
	"  throughput           2,500 /s  5,000 /s  2.000      2,350 /s  4,700 /s  2.000\n"
	"  mean                  1.14 ms   2.28 ms  2.000       1.20 ms                -\n"
	"  reads a transaction  0.520     0.260     0.500      0.520     0.250     0.481\n"
	"  log a transaction     10.5 kB    2.6 kB  0.250\n"
	"  nobody keeps it          ?         ?         -\n"
	"  misspelt                 ?         ?         -\n"
	"\n"
	"With policy b instead of a: who gains: nobody.  Who loses: nobody here.\n"
	"No run says anything of \"wal_byts\" (nearest: \"wal_bytes\").\n";
/* clang-format on */

static void each_value_stands_in_its_unit(void **state)
{
	static const struct report_options options;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	comparison_text(out, &comparison, &options);
	fclose(out);
	assert_string_equal(text, table);
	free(text);
}

static const json_t *at(const json_t *json, size_t row, const char *key)
{
	return json_object_get(json_array_get(json_object_get(json, "figures"), row), key);
}

static void a_program_gets_them_whole(void **state)
{
	static const struct report_options options;
	json_t *json = comparison_json(&comparison, &options);

	(void)state;
	/* A counter is a whole number, as it always was. */
	assert_true(json_is_integer(json_array_get(at(json, 0, "values"), 0)));
	assert_true(json_is_integer(json_array_get(at(json, 0, "published"), 0)));
	assert_int_equal(json_integer_value(json_array_get(at(json, 0, "published"), 1)),
			 9565376512);
	assert_string_equal(json_string_value(at(json, 0, "counter")), "reread_bytes");
	assert_string_equal(json_string_value(at(json, 3, "counter")), "tps");
	assert_true(json_number_value(json_array_get(at(json, 3, "published"), 0)) == 2349.5);
	assert_true(json_number_value(at(json, 3, "ratio")) == 2);
	assert_true(json_number_value(json_array_get(at(json, 5, "values"), 0)) == 0.52);
	assert_true(json_is_null(json_array_get(at(json, 7, "values"), 0)));
	assert_true(json_is_null(at(json, 7, "ratio")));
	assert_true(json_is_null(at(json, 4, "published_ratio")));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_stands_in_its_unit),
		cmocka_unit_test(a_program_gets_them_whole),
	};

	return cmocka_run_group_tests(tests, results_make, results_free);
}
