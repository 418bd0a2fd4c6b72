/*
 * If this fails, a result that comes from another machine (a guest, a file) is not the one that it
 * printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/result.h"
#include "measure/result_json.h"
#include "report/report.h"

static void counters_fill(struct counters *counters, uint64_t from)
{
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		*counter_at(counters, id) = from + id;
}

/* Something of everything that a result can have. */
static void result_fill(struct result *result, uint64_t runs)
{
	*result = (struct result){
		.input = text_copy("a \"quoted\" name"),
		.machine = text_copy("kernel"),
		.kernel = text_copy("6.12.1"),
		.has_mglru = true,
		.statistics = text_copy("lazy"),
		.filesystem = text_copy("xfs"),
		.memory_bytes = UINT64_C(1) << 40,
		.is_cgroup = true,
		.readahead_bytes = 131072,
		.seed = 7,
		.op_count = 1000,
		.file_count = 3,
		.known = COUNTERS_ALL_KNOWN & ~(UINT64_C(1) << COUNTER_reread_bytes),
		.run_count = runs,
	};
	counters_fill(&result->totals, 100);
	result->totals.reread_bytes = 0;
	result->marks = memory_alloc(2, sizeof(*result->marks));
	result->mark_count = 2;
	for (size_t i = 0; i < 2; i++) {
		result->marks[i].label = text_copy(i ? "end" : "warm");
		result->marks[i].op_index = 500 * i;
		counters_fill(&result->marks[i].counters, 10 * i);
		result->marks[i].counters.reread_bytes = 0;
	}
	result->streams = memory_alloc(2, sizeof(*result->streams));
	result->stream_count = 2;
	for (size_t i = 0; i < 2; i++) {
		result->streams[i].name = text_copy(i ? "wal" : "heap");
		result->streams[i].known = UINT64_C(1) << COUNTER_page_misses;
		result->streams[i].counters.page_misses = 40 + i;
		result->streams[i].passes = i;
		result->streams[i].at_pass.page_misses = 20 * i;
	}
	result->blame = memory_alloc(4, sizeof(*result->blame));
	result->blame[1] = 12;
	result->samples = memory_alloc(1, sizeof(*result->samples));
	result->sample_count = 1;
	result->samples[0] = (struct result_sample){1, 2, 3, 4, 5, 6};
	if (runs > 1) {
		counters_fill(&result->low, 90);
		counters_fill(&result->high, 110);
		result->low.reread_bytes = result->high.reread_bytes = 0;
		result->marks_low = memory_alloc(2, sizeof(struct counters));
		result->marks_high = memory_alloc(2, sizeof(struct counters));
	}
	result->in_kernel = (struct result_kernel){.knows_device = true, .data_read_bytes = 4096};
	result->in_kernel.knows_files = true;
	result->in_kernel.files = memory_alloc(1, sizeof(*result->in_kernel.files));
	result->in_kernel.file_count = 1;
	result->in_kernel.files[0] = (struct result_file){text_copy("d/heap"), 12, 7};
	result->device = (struct result_device){.name = text_copy("hdd"), .reads = 5, .busy_ns = 9};
	result->stopped = (struct result_stopped){3, 4000000000};
	result->events = memory_alloc(2, sizeof(*result->events));
	result->event_count = 2;
	result->events[0] = (struct result_event){text_copy("checkpoint"), 0, 12345};
	result->events[1] = (struct result_event){text_copy("checkpoint"), 20000, UINT64_MAX};
	result_note(result, "somebody was there");
}

static char *print(const struct result *result)
{
	const struct report_options options = {0};
	json_t *json = report_json(result, &options);
	char *text = json_dumps(json, JSON_INDENT(1));

	json_decref(json);
	return text;
}

static void what_was_printed_is_read(void **state)
{
	(void)state;
	for (uint64_t runs = 1; runs <= 3; runs += 2) {
		struct result result, again;
		struct error error;
		char *first, *second;

		result_fill(&result, runs);
		first = print(&result);
		assert_true(result_json_read(&again, first, strlen(first), &error));
		second = print(&again);
		assert_string_equal(first, second);
		free(first);
		free(second);
		result_deinit(&result);
		result_deinit(&again);
	}
}

static void what_is_no_result_is_said_to_be_none(void **state)
{
	static const char *const texts[] = {"", "nonsense", "[1]", "{\"totals\": "};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct result result;
		struct error error;

		assert_false(result_json_read(&result, texts[i], strlen(texts[i]), &error));
		assert_int_equal(error.kind, ERROR_FAILED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_printed_is_read),
		cmocka_unit_test(what_is_no_result_is_said_to_be_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
