/* If this fails, somebody believes that a device, a file system or a setting is faster than it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"
#include "measure/result_json.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report.h"

static void latency_fill(struct result_latency *latency, const char *name, uint64_t count,
			 uint64_t step_ns)
{
	latency->name = text_copy(name);
	for (uint64_t i = 1; i <= count; i++)
		histogram_add(&latency->ns, i * step_ns);
}

static void figure_fill(struct result_figure *figure, const char *name, const char *meaning,
			double value, bool per_work)
{
	*figure = (struct result_figure){
		.name = text_copy(name),
		.meaning = text_copy(meaning),
		.value = value,
		.per_work = per_work,
	};
}

/* Twelve seconds and a half of a database, in intervals of a second: twice as fast at the end. */
static void result_fill(struct result *result)
{
	*result = (struct result){
		.input = text_copy("wal-recycle"),
		.machine = text_copy("model"),
		.policy = text_copy("linux-6.18"),
		.filesystem = text_copy("ext4"),
		.memory_bytes = 400 * MIB,
		.is_cgroup = true,
		.known = COUNTERS_ALL_KNOWN,
		.op_count = 500000,
		.totals = {.read_bytes = 200 * MIB, .write_bytes = 900 * MIB},
		.elapsed_ns = 12500 * NS_PER_MS,
		.cpu_ns = 10 * NS_PER_SECOND,
		.cpu_count = 2,
		.device = {.name = text_copy("nvme-tlc"),
			   .size_bytes = 20 * GIB,
			   .reads = 20800,
			   .writes = 61234,
			   .flushes = 20500,
			   .read_bytes = 200 * MIB,
			   .write_bytes = 900 * MIB,
			   .metadata_write_bytes = 12 * MIB,
			   .busy_ns = 5 * NS_PER_SECOND},
		.work = text_copy("transactions"),
		.work_count = 40000,
		.interval_ns = NS_PER_SECOND,
		.interval_count = 13,
	};
	result->latencies = memory_alloc(3, sizeof(*result->latencies));
	result->latency_count = 3;
	latency_fill(&result->latencies[0], "transaction", 40000, 100);
	latency_fill(&result->latencies[1], "read", 100000, 3);
	latency_fill(&result->latencies[2], "fdatasync", 20500, 77);
	result->figures = memory_alloc(3, sizeof(*result->figures));
	result->figure_count = 3;
	figure_fill(&result->figures[0], "wal_bytes", "write-ahead log", 40000 * 10472.0, true);
	figure_fill(&result->figures[1], "full_page_images", "pages in the log", 50800, true);
	figure_fill(&result->figures[2], "hit_ratio", "of shared buffers", 0.8725, false);
	result->marks = memory_alloc(1, sizeof(*result->marks));
	result->mark_count = 1;
	result->marks[0] = (struct result_mark){
		.label = text_copy("warm"),
		.op_index = 1000,
		.device = {.reads = 5000, .read_bytes = 20 * MIB},
		.elapsed_ns = 2 * NS_PER_SECOND,
	};
	result->intervals = memory_alloc(13, sizeof(*result->intervals));
	for (size_t i = 0; i < 13; i++)
		result->intervals[i] = (struct result_interval){
			.ops = 30000 + i * 1000,
			.work = i < 6 ? 2000 : 4000,
			.read_bytes = (12 - i) * 2500000,
			.write_bytes = 70000000,
			.active_file_pages = i * 3000,
			.inactive_file_pages = 60000 - i * 3000,
			.dirty_pages = 1000 + 500 * (i % 3),
			.slab_bytes = 5 * MIB,
			.free_bytes = 10 * GIB - i * 100 * MIB,
		};
}

static char *text_of(const struct result *result)
{
	static const struct report_options options;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	report_text(out, result, &options);
	fclose(out);
	return text;
}

static void lines_fit(const char *text)
{
	while (*text) {
		size_t bytes = strcspn(text, "\n");
		char *line = strndup(text, bytes);

		if (text_columns(line) > 100)
			fail_msg("wider than 100 columns: %s", line);
		free(line);
		text += bytes + (text[bytes] == '\n');
	}
}

/* clang-format off */
static const char whole[] =
	"wal-recycle   500,000 ops, 0 streams   cgroup limit 400 MiB   policy linux-6.18   ext4\n"
	"\n"
	"  read from device     200 MiB   of which again  0\n"
	"  page misses                -   refaults  0   activated by refault  0\n"
	"  written              900 MiB\n"
	"  throughput             3,200 transactions/s   40,000 in 12.5 s   each 2.00 ms   p99 3.96 ms\n"
	"\n"
	"  since the start, at each mark\n"
	"  at mark     read  written\n"
	"  warm       0        0\n"
	"  (end)    200 MiB  900 MiB\n"
	"\n"
	"  how long it took, from when it was asked for\n"
	"  latency        count     mean  deviation      p50      p90      p99    p99.9   p99.99      max\n"
	"  transaction   40,000  2.00 ms    1.15 ms  2.02 ms  3.60 ms  3.96 ms  4.00 ms  4.00 ms  4.00 ms\n"
	"  read         100,000   150 µs    86.6 µs   152 µs   270 µs   299 µs   300 µs   300 µs   300 µs\n"
	"  fdatasync     20,500   789 µs     456 µs   795 µs  1.43 ms  1.57 ms  1.58 ms  1.58 ms  1.58 ms\n"
	"\n"
	"  what the device was asked for\n"
	"  device     reads     read  writes  written  of it metadata  flushes  busy\n"
	"  nvme-tlc  20,800  200 MiB  61,234  900 MiB          12 MiB   20,500  40 %\n"
	"\n"
	"  processors busy         40 %   of 2\n"
	"\n"
	"  what the workload says\n"
	"  figure                   all  per transaction\n"
	"  wal_bytes          399.5 MiB         10.2 KiB  write-ahead log\n"
	"  full_page_images  50,800            1.270      pages in the log\n"
	"  hit_ratio          0.873                       of shared buffers\n"
	"\n"
	"  over 12.5 s    tps        ▅▅▅▅▅▅██████  2,000..4,000 /s\n"
	"                 read       ▄▄▄▃▃▃▃▂▂▂▂▁     2.5..30.0 MB/s\n"
	"                 written    ████████████          70.0 MB/s\n"
	"                 dirty      ▅▆█▅▆█▅▆█▅▆█      3.9..7.8 MiB\n"
	"                 active     ▁▁▂▂▂▃▃▃▄▄▅▅    0.0..128.9 MiB\n"
	"                 inactive   ██▇▇▇▆▆▆▅▅▅▄  105.5..234.4 MiB\n"
	"                 slab       ▁▁▁▁▁▁▁▁▁▁▁▁           5.0 MiB\n"
	"                 free space █▇▇▆▅▅▄▄▃▂▂▁     8.9..10.0 GiB\n"
	"\n"
	"Nothing is read twice: 400 MiB is enough.\n"
	"Try: refault run wal-recycle --set machine.cgroup_limit=200MiB\n";
/* clang-format on */

static void the_answer_comes_first_and_the_evidence_under_it(void **state)
{
	struct result result;
	char *text;

	(void)state;
	result_fill(&result);
	text = text_of(&result);
	lines_fit(text);
	assert_string_equal(text, whole);
	free(text);
	result_deinit(&result);
}

static void without_time_nothing_is_said_of_it(void **state)
{
	struct result result = {.input = text_copy("x"),
				.machine = text_copy("model"),
				.policy = text_copy("lru"),
				.known = COUNTERS_ALL_KNOWN,
				.memory_bytes = MIB,
				.op_count = 5};
	static const char *const words[] = {"throughput", "latency", "device was", "processors",
					    "over "};
	static const char *const nulls[] = {"elapsed_ns", "cpu", "device", "workload", "series"};
	static const struct report_options options;
	char *text = text_of(&result);
	json_t *json = report_json(&result, &options);

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_null(strstr(text, words[i]));
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		assert_true(json_is_null(json_object_get(json, nulls[i])));
	/* The contract: it is always there. */
	assert_true(json_is_object(json_object_get(json, "latency")));
	assert_int_equal(json_object_size(json_object_get(json, "latency")), 0);
	json_decref(json);
	free(text);
	result_deinit(&result);
}

static void operations_are_what_is_counted_without_a_workload(void **state)
{
	struct result result;
	char *text;

	(void)state;
	result_fill(&result);
	memory_free(result.work);
	result.work = NULL;
	text = text_of(&result);
	lines_fit(text);
	assert_non_null(strstr(text, "\n  throughput            37,440 ops/s   in 12.5 s\n"));
	assert_non_null(strstr(text, "\n  over 12.5 s    ops/s "));
	assert_null(strstr(text, "tps"));
	free(text);
	result_deinit(&result);
}

static void a_long_run_still_fits_the_screen(void **state)
{
	enum { MANY = 4096 };
	struct result result;
	char *text;

	(void)state;
	result_fill(&result);
	memory_free(result.intervals);
	result.intervals = memory_alloc(MANY, sizeof(*result.intervals));
	result.interval_count = MANY;
	result.interval_ns = 100 * NS_PER_SECOND;
	result.elapsed_ns = MANY * result.interval_ns;
	for (size_t i = 0; i < MANY; i++)
		for (const struct result_field *field = result_interval_fields; field->name;
		     field++)
			*result_field_at(&result.intervals[i], field) =
				i % 7 ? UINT64_C(999999999999999) >> (i % 30) : 1;
	for (size_t i = 0; i < 30; i++)
		histogram_add(&result.latencies[2].ns, UINT64_C(1) << i);
	histogram_add(&result.latencies[2].ns, UINT64_MAX / 2);
	memory_free(result.latencies[2].name);
	result.latencies[2].name = text_copy("a name that is longer than what is reasonable");
	memory_free(result.work);
	result.work = text_copy("orders that were placed and paid for");
	memory_free(result.figures[0].meaning);
	result.figures[0].meaning =
		text_copy("much more than anybody wants to hear, with\na line of its own");
	memory_free(result.device.name);
	result.device.name = text_copy("/dev/disk/by-id/something-that-goes-on-and-on");
	result.device.reads = result.device.read_bytes = UINT64_MAX / 3;
	text = text_of(&result);
	lines_fit(text);
	free(text);
	result_deinit(&result);
}

static int64_t integer_at(const json_t *json, const char *key)
{
	assert_true(json_is_integer(json_object_get(json, key)));
	return json_integer_value(json_object_get(json, key));
}

static void a_program_reads_all_of_it(void **state)
{
	static const struct report_options options;
	struct result result;
	json_t *json, *latency, *workload, *series, *mark;

	(void)state;
	result_fill(&result);
	json = report_json(&result, &options);
	assert_int_equal(integer_at(json, "elapsed_ns"), 12500 * NS_PER_MS);
	assert_int_equal(integer_at(json_object_get(json, "cpu"), "count"), 2);
	assert_int_equal(integer_at(json_object_get(json, "device"), "flushes"), 20500);
	latency = json_object_get(json_object_get(json, "latency"), "fdatasync");
	assert_int_equal(integer_at(latency, "count"), 20500);
	assert_int_equal(integer_at(latency, "max_ns"), 20500 * 77);
	assert_int_equal(integer_at(latency, "mean_ns"), 77 * 20501 / 2);
	assert_in_range(integer_at(latency, "p99_99_ns"), 1578500 / 10000 * 9999, 1578500);
	assert_int_equal(json_integer_value(json_array_get(
				 json_array_get(json_object_get(latency, "buckets"), 0), 0)),
			 77);
	workload = json_object_get(json, "workload");
	assert_string_equal(json_string_value(json_object_get(workload, "unit")), "transactions");
	assert_true(json_number_value(json_object_get(workload, "per_second")) == 3200);
	workload = json_object_get(json_object_get(workload, "figures"), "wal_bytes");
	assert_true(json_number_value(json_object_get(workload, "per_work")) == 10472);
	series = json_object_get(json, "series");
	assert_int_equal(json_array_size(json_object_get(series, "ops")), 13);
	/* The last one is half as long: 4000 in half a second. */
	assert_true(json_number_value(json_array_get(json_object_get(series, "work_per_second"),
						     12)) == 8000);
	/* There is no ARC: nobody can say that it is empty. */
	assert_true(json_is_null(json_object_get(series, "arc_bytes")));
	assert_true(json_is_array(json_object_get(series, "free_bytes")));
	mark = json_array_get(json_object_get(json, "marks"), 0);
	assert_int_equal(integer_at(mark, "elapsed_ns"), 2 * NS_PER_SECOND);
	assert_int_equal(integer_at(json_object_get(mark, "device"), "reads"), 5000);
	json_decref(json);
	result_deinit(&result);
}

static void what_was_printed_is_read(void **state)
{
	static const struct report_options options;
	struct result result, again;
	char *text, *texts[2];

	(void)state;
	result_fill(&result);
	result.figures[2].value = NAN; /* hits of nothing */
	for (int i = 0; i < 2; i++) {
		json_t *json = report_json(i ? &again : &result, &options);
		struct error error;

		texts[i] = json_dumps(json, JSON_INDENT(1));
		json_decref(json);
		if (i == 0)
			assert_true(result_json_read(&again, texts[0], strlen(texts[0]), &error));
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	/* And it is told the same way. */
	texts[0] = text_of(&result);
	text = text_of(&again);
	assert_string_equal(texts[0], text);
	free(texts[0]);
	free(text);
	result_deinit(&result);
	result_deinit(&again);
}

static void a_number_has_the_digits_that_say_something(void **state)
{
	static const struct {
		double value;
		enum value_unit unit;
		const char *text;
	} all[] = {
		{0, VALUE_COUNT, "0"},
		{12345, VALUE_COUNT, "12,345"},
		{12345.6, VALUE_COUNT, "12,346"},
		{999.96, VALUE_COUNT, "1,000"},
		{999.94, VALUE_COUNT, "999.9"},
		{52.318, VALUE_COUNT, "52.32"},
		{0.5234, VALUE_COUNT, "0.523"},
		{0.0001, VALUE_COUNT, "<0.001"},
		{-0.25, VALUE_COUNT, "-0.250"},
		{1e30, VALUE_COUNT, "1e+30"},
		{NAN, VALUE_COUNT, "?"},
		{2349.5, VALUE_PER_SECOND, "2,350 /s"},
		{23.49, VALUE_PER_SECOND, "23.5 /s"},
		{2.349, VALUE_PER_SECOND, "2.35 /s"},
		{1234567.8, VALUE_NS, "1.23 ms"},
		{0, VALUE_NS, "0"},
		{10472.3, VALUE_BYTES, "10.2 KiB"},
		{-4096, VALUE_BYTES, "-4 KiB"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[NUMBER_TEXT_BYTES];

		assert_string_equal(number_format(text, all[i].value, all[i].unit), all[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_comes_first_and_the_evidence_under_it),
		cmocka_unit_test(without_time_nothing_is_said_of_it),
		cmocka_unit_test(operations_are_what_is_counted_without_a_workload),
		cmocka_unit_test(a_long_run_still_fits_the_screen),
		cmocka_unit_test(a_program_reads_all_of_it),
		cmocka_unit_test(what_was_printed_is_read),
		cmocka_unit_test(a_number_has_the_digits_that_say_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
