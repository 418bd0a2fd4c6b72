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

static const char whole[] = "GOLDEN";

static void the_answer_comes_first_and_the_evidence_under_it(void **state)
{
	struct result result;
	char *text;

	(void)state;
	result_fill(&result);
	text = text_of(&result);
	lines_fit(text);
	puts(text);
	free(text);
	result_deinit(&result);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_comes_first_and_the_evidence_under_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
