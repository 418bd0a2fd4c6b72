/* If this fails, a long run eats the memory, or its second half is drawn over its first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/memory.h"
#include "measure/recorder.h"
#include "measure/reported.h"
#include "op/source.h"

enum { NS = 100000000 };

static void no_counters(const void *context, uint32_t stream, struct counters *counters)
{
	(void)context;
	(void)stream;
	*counters = (struct counters){0};
}

static void finish(struct recorder *recorder, struct result *result)
{
	static const struct recorder_machine machine = {
		.stream_count = 1,
		.known = COUNTERS_ALL_KNOWN,
		.counters = no_counters,
	};

	recorder_finish(recorder, &machine, NULL, 0, result);
	recorder_deinit(recorder);
}

/* `count` intervals: in interval i, i operations, and a level of i pages at its end. */
static void run_of(struct result *result, uint64_t count)
{
	struct recorder recorder;

	*result = (struct result){0};
	recorder_init(&recorder);
	for (uint64_t i = 0; i < count; i++) {
		const struct result_interval interval = {
			.ops = i,
			.work = 1,
			.read_bytes = 4096,
			.write_bytes = 2,
			.flushes = 3,
			.dirty_pages = i,
			.active_file_pages = 2 * i,
			.inactive_file_pages = 3 * i,
			.slab_bytes = 4 * i,
			.free_bytes = 5 * i,
			.arc_bytes = 6 * i,
			.free_run_bytes = 7 * i,
			.allocation_ns = 4,
			.group_waits = 5,
		};

		recorder_interval(&recorder, &interval, NS);
	}
	finish(&recorder, result);
}

static void a_run_without_time_has_none(void **state)
{
	struct recorder recorder;
	struct result result = {0};

	(void)state;
	recorder_init(&recorder);
	finish(&recorder, &result);
	assert_int_equal(result.interval_count, 0);
	assert_int_equal(result.latency_count, 0);
	result_deinit(&result);
}

static void intervals_are_kept_as_they_came_while_there_is_room(void **state)
{
	static const uint64_t counts[] = {1, 2, RECORDER_INTERVALS};

	(void)state;
	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		struct result result;

		run_of(&result, counts[k]);
		assert_int_equal(result.interval_ns, NS);
		assert_int_equal(result.interval_count, counts[k]);
		for (uint64_t i = 0; i < counts[k]; i++)
			assert_int_equal(result.intervals[i].ops, i);
		result_deinit(&result);
	}
}

static void neighbours_merge_when_there_are_more(void **state)
{
	static const struct {
		uint64_t came, fold;
	} runs[] = {
		{RECORDER_INTERVALS + 1, 2},
		{2 * RECORDER_INTERVALS, 2},
		{2 * RECORDER_INTERVALS + 1, 4},
		{5 * RECORDER_INTERVALS + 3, 8},
		{100000, 32},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(runs) / sizeof(runs[0]); k++) {
		uint64_t came = runs[k].came, fold = runs[k].fold;
		struct result result;

		run_of(&result, came);
		assert_int_equal(result.interval_ns, fold * NS);
		assert_int_equal(result.interval_count, (came + fold - 1) / fold);
		for (uint64_t i = 0; i < result.interval_count; i++) {
			const struct result_interval *at = &result.intervals[i];
			uint64_t first = i * fold;
			uint64_t end = first + fold < came ? first + fold : came;

			/* Sums add up, levels are those at the end. */
			assert_int_equal(at->ops, (first + end - 1) * (end - first) / 2);
			assert_int_equal(at->work, end - first);
			assert_int_equal(at->read_bytes, 4096 * (end - first));
			assert_int_equal(at->write_bytes, 2 * (end - first));
			assert_int_equal(at->flushes, 3 * (end - first));
			assert_int_equal(at->dirty_pages, end - 1);
			assert_int_equal(at->active_file_pages, 2 * (end - 1));
			assert_int_equal(at->inactive_file_pages, 3 * (end - 1));
			assert_int_equal(at->slab_bytes, 4 * (end - 1));
			assert_int_equal(at->free_bytes, 5 * (end - 1));
			assert_int_equal(at->arc_bytes, 6 * (end - 1));
			assert_int_equal(at->free_run_bytes, 7 * (end - 1));
			assert_int_equal(at->allocation_ns, 4 * (end - first));
			assert_int_equal(at->group_waits, 5 * (end - first));
		}
		result_deinit(&result);
	}
}

static void what_is_not_finished_is_freed(void **state)
{
	struct recorder recorder;

	(void)state;
	recorder_init(&recorder);
	recorder_interval(&recorder, &(struct result_interval){.ops = 1}, NS);
	recorder_latency(&recorder, OP_READ, 5);
	recorder_deinit(&recorder);
}

static void a_mark_may_have_its_time(void **state)
{
	struct recorder recorder;
	struct result result = {0};
	const struct counters now = {0};
	struct result_device device = {.name = (char *)"disk", .reads = 7};

	(void)state;
	recorder_init(&recorder);
	recorder_mark(&recorder, &now, "a", 1);
	recorder_mark(&recorder, &now, "b", 2);
	recorder_mark_time(&recorder, 55, &device);
	finish(&recorder, &result);
	assert_int_equal(result.marks[0].elapsed_ns, 0);
	assert_int_equal(result.marks[1].elapsed_ns, 55);
	assert_int_equal(result.marks[1].device.reads, 7);
	assert_null(result.marks[1].device.name);
	result_deinit(&result);
}

/* ---- what a source says ---- */

static uint64_t fake_work(const struct op_source *source)
{
	(void)source;
	return 42;
}

/* Two workloads: what they say of the same thing. */
static void fake_report(struct op_source *source, const struct op_source_reporter *reporter)
{
	(void)source;
	for (uint64_t i = 1; i <= 2; i++) {
		struct histogram ns = {0}, empty = {0};
		char name[16] = "transactions"; /* copied, not kept */

		histogram_add(&ns, 1000 * i);
		reporter->work(reporter->context, name);
		reporter->figure(reporter->context, "wal_bytes", "log", 100.0 * i, true);
		reporter->figure(reporter->context, "hit_ratio", "hits", 0.5 * i, false);
		reporter->latency(reporter->context, "transaction", &ns);
		reporter->latency(reporter->context, "checkpoint", &ns);
		reporter->latency(reporter->context, "vacuum", &empty);
		memset(name, 'x', sizeof(name) - 1);
		histogram_deinit(&ns);
	}
}

static void what_a_source_says_is_in_the_result(void **state)
{
	static const struct op_source_interface interface = {.work = fake_work,
							     .report = fake_report};
	struct op_source source = {.interface = &interface};
	struct recorder recorder;
	struct result result = {0};

	(void)state;
	recorder_init(&recorder);
	recorder_latency(&recorder, OP_WRITE, 10);
	recorder_latency(&recorder, OP_READ, 20);
	recorder_latency(&recorder, OP_READ, 40);
	finish(&recorder, &result);
	result_take_report(&result, &source);
	assert_string_equal(result.work, "transactions");
	assert_int_equal(result.work_count, 42);
	/* Sums add up, a ratio does not. */
	assert_int_equal(result.figure_count, 3);
	assert_string_equal(result.figures[0].name, "wal_bytes");
	assert_true(result.figures[0].value == 300);
	assert_true(result.figures[0].per_work);
	assert_string_equal(result.figures[1].name, "hit_ratio");
	assert_true(result.figures[1].value == 0.5);
	assert_string_equal(result.figures[2].name, "hit_ratio#2");
	assert_true(result.figures[2].value == 1.0);
	/* What is more than an operation comes first; what never happened, not at all. */
	assert_int_equal(result.latency_count, 4);
	assert_string_equal(result.latencies[0].name, "transaction");
	assert_int_equal(result.latencies[0].ns.count, 2);
	assert_int_equal(histogram_mean(&result.latencies[0].ns), 1500);
	assert_string_equal(result.latencies[1].name, "checkpoint");
	assert_string_equal(result.latencies[2].name, "read");
	assert_int_equal(result.latencies[2].ns.count, 2);
	assert_string_equal(result.latencies[3].name, "write");
	result_deinit(&result);
}

static void a_source_need_not_say_anything(void **state)
{
	static const struct op_source_interface interface = {0};
	struct op_source source = {.interface = &interface};
	struct result result = {0};

	(void)state;
	result_take_report(&result, &source);
	assert_null(result.work);
	assert_int_equal(result.figure_count + result.latency_count, 0);
	result_deinit(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_time_has_none),
		cmocka_unit_test(intervals_are_kept_as_they_came_while_there_is_room),
		cmocka_unit_test(neighbours_merge_when_there_are_more),
		cmocka_unit_test(what_is_not_finished_is_freed),
		cmocka_unit_test(a_mark_may_have_its_time),
		cmocka_unit_test(what_a_source_says_is_in_the_result),
		cmocka_unit_test(a_source_need_not_say_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
