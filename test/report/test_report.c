/* If this fails, a person reads a wrong answer, or a program finds a key missing or a 0 where nothing is known. */
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
#include "measure/result.h"
#include "report/name.h"
#include "report/report.h"

enum { HEAP, WAL, STREAMS };

/* The sketch of the design, as a result: a heap that fits, pushed out by journal pages. Nothing in it is owned. */
struct sample {
	struct result result;
	struct result_mark marks[2];
	struct result_stream streams[STREAMS];
	uint64_t blame[STREAMS * STREAMS];
	struct result_sample samples[20];
};

static void sample_init(struct sample *sample)
{
	*sample = (struct sample){
		.marks = {{.label = (char *)"warm",
			   .op_index = 60000,
			   .counters = {.read_bytes = 160 * MIB,
					.page_misses = 30000,
					.active_file_pages = 10000}},
			  {.label = (char *)"end",
			   .op_index = 119999,
			   .counters = {.read_bytes = 310 * MIB,
					.page_misses = 31680,
					.active_file_pages = 18688}}},
		.streams = {{.name = (char *)"heap",
			     .known = COUNTERS_ALL_KNOWN,
			     .counters = {.page_accesses = 240000,
					  .page_misses = 15840,
					  .read_bytes = 310 * MIB,
					  .reread_bytes = 149 * MIB}},
			    {.name = (char *)"wal",
			     .known = COUNTERS_ALL_KNOWN,
			     .counters = {.page_accesses = 240000, .write_bytes = 960 * MIB}}},
		.blame = {[HEAP * STREAMS + HEAP] = 7247, [HEAP * STREAMS + WAL] = 30897},
	};
	for (size_t i = 0; i < 20; i++)
		sample->samples[i] = (struct result_sample){
			.op_index = i * 6000,
			.active_file_pages = i * 1000,
			.inactive_file_pages = 20000 - i * 1000,
		};
	sample->result = (struct result){
		.input = (char *)"wal.csv",
		.machine = (char *)"model",
		.policy = (char *)"linux-6.18",
		.filesystem = (char *)"ext4",
		.memory_bytes = 256 * MIB,
		.is_cgroup = true,
		.readahead_bytes = 128 * KIB,
		.seed = 1,
		.op_count = 120000,
		.file_count = 2,
		.totals = {.read_bytes = 310 * MIB,
			   .write_bytes = 960 * MIB,
			   .reread_bytes = 149 * MIB,
			   .page_accesses = 480000,
			   .page_misses = 31680,
			   .refaults = 38739,
			   .refault_activations = 9120},
		.known = COUNTERS_ALL_KNOWN,
		.marks = sample->marks,
		.mark_count = 2,
		.streams = sample->streams,
		.stream_count = STREAMS,
		.blame = sample->blame,
		.samples = sample->samples,
		.sample_count = 20,
	};
}

/* *text: what is printed. To be freed with free(). */
static void print_to(char **text, const struct result *results, size_t count,
		     const struct report_options *options)
{
	size_t bytes;
	FILE *memory = open_memstream(text, &bytes);

	if (count == 1)
		report_text(memory, results, options);
	else
		report_side_by_side(memory, results, count, options);
	fclose(memory);
}

static void lines_fit(const char *text)
{
	char line[1024];

	for (; *text; text += strcspn(text, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
		/* A command or a policy to be copied is not broken. */
		if (!strstr(line, ": refault ") && !strstr(line, "   policy ") &&
		    text_columns(line) > 100)
			fail_msg("%zu columns: %s", text_columns(line), line);
	}
}

static void the_answer_comes_first_and_the_next_command_last(void **state)
{
	static const struct report_options options = {.is_trace = true};
	struct sample sample;
	char *text;

	(void)state;
	sample_init(&sample);
	print_to(&text, &sample.result, 1, &options);
	assert_string_equal(
		text,
		"wal.csv   120,000 ops, 2 streams, 2 files   cgroup limit 256 MiB   policy "
		"linux-6.18   ext4\n"
		"\n"
		"  read from device     310 MiB   of which again  149 MiB  (48 %)\n"
		"  page misses            6.6 %   refaults  38,739   activated by refault  9,120\n"
		"  written              960 MiB\n"
		"\n"
		"  since the start, at each mark\n"
		"  at mark     read  misses    active\n"
		"  warm     160 MiB  30,000  39.1 MiB\n"
		"  end      310 MiB  31,680    73 MiB\n"
		"\n"
		"  stream  accesses  misses     read    again  written  evicted by\n"
		"  heap     240,000   6.6 %  310 MiB  149 MiB    0      wal 81 %   heap 19 %\n"
		"  wal      240,000     0      0        0      960 MiB  -\n"
		"\n"
		"  memory over time   active    ▁▁▂▂▂▃▃▃▄▄▅▅▅▆▆▆▇▇▇█   74.2 MiB\n"
		"                     inactive  ██▇▇▇▆▆▆▅▅▅▄▄▃▃▃▂▂▂▁    3.9 MiB\n"
		"\n"
		"81 % of what heap reads again was pushed out by wal.\n"
		"Try: refault advise wal.csv --cgroup-limit 256MiB\n");
	free(text);
}

static void what_is_not_known_is_never_zero(void **state)
{
	static const struct report_options options = {.is_trace = true};
	struct sample sample;
	json_t *json;
	char *text;

	(void)state;
	sample_init(&sample);
	sample.result.known &= ~(UINT64_C(1) << COUNTER_write_bytes);
	sample.streams[HEAP].known = 0;
	sample.result.blame = NULL;
	print_to(&text, &sample.result, 1, &options);
	assert_non_null(strstr(text, "  written                    ?\n"));
	lines_fit(text);
	free(text);
	json = report_json(&sample.result, &options);
	assert_true(json_is_null(json_object_get(json_object_get(json, "totals"), "write_bytes")));
	assert_true(json_is_null(json_object_get(
		json_object_get(json_object_get(json, "streams"), "heap"), "read_bytes")));
	assert_true(json_is_null(json_object_get(json, "blame")));
	json_decref(json);
}

static void json_holds_what_the_contract_says(void **state)
{
	static const struct report_options options = {.is_trace = true};
	static const char *const keys[] = {"totals", "marks",   "streams",
					   "blame",  "machine", "latency"};
	struct sample sample;
	json_t *json, *mark, *pages;

	(void)state;
	sample_init(&sample);
	json = report_json(&sample.result, &options);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(json, keys[i]));
	mark = json_array_get(json_object_get(json, "marks"), 1);
	assert_string_equal(json_string_value(json_object_get(mark, "label")), "end");
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		assert_true(json_is_integer(json_object_get(mark, counter_name(id))));
		assert_true(json_is_integer(
			json_object_get(json_object_get(json, "totals"), counter_name(id))));
	}
	assert_int_equal(json_integer_value(json_object_get(mark, "read_bytes")), 310 * MIB);
	pages = json_object_get(
		json_object_get(json_object_get(json_object_get(json, "blame"), "heap"), "wal"),
		"pages");
	assert_int_equal(json_integer_value(pages), 30897);
	assert_null(json_object_get(json_object_get(json, "blame"), "wal"));
	assert_true(json_is_true(json_object_get(json_object_get(json, "machine"), "cgroup")));
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(json_object_get(json, "machine"), "switches"),
				    "activate_on_write")),
			    "never");
	json_decref(json);
}

static void names_that_are_no_utf8_stay_apart_in_json(void **state)
{
	static const struct report_options options = {.is_trace = true};
	struct sample sample;
	json_t *json;

	(void)state;
	sample_init(&sample);
	sample.streams[HEAP].name = (char *)"a\xff";
	sample.streams[WAL].name = (char *)"a\xfe";
	json = report_json(&sample.result, &options);
	assert_int_equal(json_object_size(json_object_get(json, "streams")), 2);
	json_decref(json);
}

static void a_scenario_is_run_again_not_replayed(void **state)
{
	static const struct report_options options;
	struct sample sample;
	char *text;

	(void)state;
	sample_init(&sample);
	sample.result.input = (char *)"my scenario.yaml";
	print_to(&text, &sample.result, 1, &options);
	assert_non_null(strstr(
		text,
		"Try: refault advise 'my scenario.yaml' --set machine.cgroup_limit=256MiB\n"));
	free(text);
}

static void many_of_everything_still_fit_the_screen(void **state)
{
	enum { MANY = 300 };
	static const struct report_options options = {.is_trace = true, .skipped_rows = 3};
	struct sample sample;
	struct result_mark *marks = calloc(MANY, sizeof(*marks));
	struct result_stream *streams = calloc(MANY, sizeof(*streams));
	uint64_t *blame = calloc(MANY * MANY, sizeof(*blame));
	char name[400], *text;

	(void)state;
	sample_init(&sample);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < MANY; i++) {
		marks[i].label = name;
		streams[i].name = name;
		streams[i].known = COUNTERS_ALL_KNOWN;
		memset(&marks[i].counters, 0x01, sizeof(marks[i].counters));
		memset(&streams[i].counters, 0x01, sizeof(streams[i].counters));
		streams[i].passes = i;
		for (size_t k = 0; k < MANY; k++)
			blame[i * MANY + k] = i * k;
	}
	sample.result.input = sample.result.policy = name;
	sample.result.marks = marks;
	sample.result.streams = streams;
	sample.result.mark_count = sample.result.stream_count = MANY;
	sample.result.blame = blame;
	print_to(&text, &sample.result, 1, &options);
	lines_fit(text);
	assert_non_null(strstr(text, "288 more streams"));
	assert_non_null(strstr(text, "  20 of 300 marks: --json has all\n"));
	assert_non_null(strstr(text, "3 rows of the input could not be read and were left out"));
	free(text);
	free(marks);
	free(streams);
	free(blame);
}

static void the_blame_matrix_is_shown_when_there_is_more_than_one_victim(void **state)
{
	static const struct report_options options = {.is_trace = true};
	struct sample sample;
	char *text;

	(void)state;
	sample_init(&sample);
	sample.blame[WAL * STREAMS + HEAP] = 256;
	print_to(&text, &sample.result, 1, &options);
	assert_non_null(strstr(
		text, "  who evicted whom: read again, by the stream whose pages pushed it out\n"
		      "  read again         heap               wal\n"
		      "  heap        28.3 MiB █▍  120.7 MiB ██████\n"
		      "  wal            1 MiB ▏\n"));
	free(text);
}

static void policies_stand_side_by_side(void **state)
{
	static const struct report_options options = {.is_trace = true};
	struct sample samples[2];
	struct result results[2];
	char *text;

	(void)state;
	sample_init(&samples[0]);
	sample_init(&samples[1]);
	results[0] = samples[0].result;
	results[1] = samples[1].result;
	results[1].policy = (char *)"lru";
	results[1].totals.reread_bytes = 30 * MIB;
	print_to(&text, results, 2, &options);
	lines_fit(text);
	assert_non_null(strstr(text, "  linux-6.18  310 MiB  149 MiB"));
	assert_non_null(strstr(text, "  lru         310 MiB   30 MiB"));
	assert_non_null(strstr(text, "Least read again: lru, 30 MiB, 80 % less than linux-6.18."));
	free(text);
}

static void the_plain_cache_says_only_what_it_knows(void **state)
{
	static const struct report_options options = {.bare_pages = 1000};
	struct sample sample;
	json_t *json;
	char *text;

	(void)state;
	sample_init(&sample);
	sample.result.filesystem = NULL;
	sample.result.policy = (char *)"lru";
	sample.result.known = UINT64_C(1) << COUNTER_page_accesses |
			      UINT64_C(1) << COUNTER_page_misses | UINT64_C(1) << COUNTER_evictions;
	sample.result.blame = NULL;
	print_to(&text, &sample.result, 1, &options);
	lines_fit(text);
	assert_non_null(strstr(text, "a plain cache of 1,000 pages   policy lru\n"));
	assert_non_null(strstr(text, "  misses                  31,680  (6.6 %)\n"));
	assert_null(strstr(text, "read"));
	free(text);
	json = report_json(&sample.result, &options);
	assert_true(json_is_null(json_object_get(json_object_get(json, "totals"), "read_bytes")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "machine"), "pages")),
		1000);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_comes_first_and_the_next_command_last),
		cmocka_unit_test(what_is_not_known_is_never_zero),
		cmocka_unit_test(json_holds_what_the_contract_says),
		cmocka_unit_test(names_that_are_no_utf8_stay_apart_in_json),
		cmocka_unit_test(a_scenario_is_run_again_not_replayed),
		cmocka_unit_test(many_of_everything_still_fit_the_screen),
		cmocka_unit_test(the_blame_matrix_is_shown_when_there_is_more_than_one_victim),
		cmocka_unit_test(policies_stand_side_by_side),
		cmocka_unit_test(the_plain_cache_says_only_what_it_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
