#include "measure/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"

static_assert(COUNTER_COUNT < 64, "known is one bit a counter");

struct counter_row {
	const char *name;
	const char *meaning;
	enum counter_unit unit;
	bool is_level;
	size_t offset;
};

static const struct counter_row rows[COUNTER_COUNT] = {
#define ROW(name, unit, meaning, is_level)                                                         \
	{#name, meaning, COUNTER_UNIT_##unit, is_level, offsetof(struct counters, name)},
#define COUNTER(name, unit, meaning) ROW(name, unit, meaning, false)
#define LEVEL(name, unit, meaning)   ROW(name, unit, meaning, true)
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
#undef ROW
};

static const struct counter_row *row(enum counter_id id)
{
	assert(id < COUNTER_COUNT);
	return &rows[id];
}

const char *counter_name(enum counter_id id)
{
	return row(id)->name;
}

const char *counter_meaning(enum counter_id id)
{
	return row(id)->meaning;
}

enum counter_unit counter_unit(enum counter_id id)
{
	return row(id)->unit;
}

bool counter_is_level(enum counter_id id)
{
	return row(id)->is_level;
}

uint64_t counter_get(const struct counters *counters, enum counter_id id)
{
	return *(const uint64_t *)(const void *)((const char *)counters + row(id)->offset);
}

uint64_t *counter_at(struct counters *counters, enum counter_id id)
{
	return (uint64_t *)(void *)((char *)counters + row(id)->offset);
}

#define FIELD(type, name, is_level)                                                                \
	{                                                                                          \
#name, offsetof(struct type, name), is_level                                       \
	}

const struct result_field result_device_fields[] = {
	FIELD(result_device, size_bytes, true),
	FIELD(result_device, reads, false),
	FIELD(result_device, writes, false),
	FIELD(result_device, flushes, false),
	FIELD(result_device, read_bytes, false),
	FIELD(result_device, write_bytes, false),
	FIELD(result_device, metadata_read_bytes, false),
	FIELD(result_device, metadata_write_bytes, false),
	FIELD(result_device, busy_ns, false),
	{0},
};

const struct result_field result_interval_fields[] = {
	FIELD(result_interval, ops, false),
	FIELD(result_interval, work, false),
	FIELD(result_interval, read_bytes, false),
	FIELD(result_interval, write_bytes, false),
	FIELD(result_interval, flushes, false),
	FIELD(result_interval, active_file_pages, true),
	FIELD(result_interval, inactive_file_pages, true),
	FIELD(result_interval, dirty_pages, true),
	FIELD(result_interval, slab_bytes, true),
	FIELD(result_interval, free_bytes, true),
	FIELD(result_interval, arc_bytes, true),
	FIELD(result_interval, free_run_bytes, true),
	FIELD(result_interval, allocation_ns, false),
	FIELD(result_interval, group_waits, false),
	{0},
};

#undef FIELD

const struct result_quantile result_quantiles[] = {
	{"p50", "p50_ns", 500000}, {"p90", "p90_ns", 900000},     {"p95", "p95_ns", 950000},
	{"p99", "p99_ns", 990000}, {"p99.9", "p99_9_ns", 999000}, {"p99.99", "p99_99_ns", 999900},
	{NULL, NULL, 0},
};

const struct result_latency *result_latency_find(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->latency_count; i++) {
		if (strcmp(result->latencies[i].name, name) == 0)
			return &result->latencies[i];
	}
	return NULL;
}

bool result_series_has(const struct result *result, const struct result_field *field)
{
	for (size_t i = 0; i < result->interval_count; i++) {
		if (result_field_get(&result->intervals[i], field))
			return true;
	}
	return false;
}

static double per_second(uint64_t count, uint64_t ns)
{
	return ns ? (double)count * (double)NS_PER_SECOND / (double)ns : 0;
}

/* op_count has what made the files, too: the series begins with the time. */
double result_ops_per_second(const struct result *result)
{
	uint64_t ops = 0;

	for (size_t i = 0; i < result->interval_count; i++)
		ops += result->intervals[i].ops;
	return per_second(result->interval_count ? ops : result->op_count, result->elapsed_ns);
}

double result_work_per_second(const struct result *result)
{
	return per_second(result->work_count, result->elapsed_ns);
}

double result_interval_per_second(const struct result *result, size_t index, uint64_t count)
{
	uint64_t begin = index * result->interval_ns, ns = result->interval_ns;

	if (result->elapsed_ns > begin && result->elapsed_ns - begin < ns)
		ns = result->elapsed_ns - begin;
	return per_second(count, ns);
}

char *text_copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(memory_alloc(bytes, 1), text, bytes);
}

void result_note(struct result *result, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	result->notes =
		memory_resize(result->notes, result->note_count + 1, sizeof(*result->notes));
	result->notes[result->note_count++] = text_copy(text);
}

static void time_deinit(struct result *result)
{
	for (size_t i = 0; i < result->latency_count; i++) {
		memory_free(result->latencies[i].name);
		histogram_deinit(&result->latencies[i].ns);
	}
	memory_free(result->latencies);
	for (size_t i = 0; i < result->figure_count; i++) {
		memory_free(result->figures[i].name);
		memory_free(result->figures[i].meaning);
	}
	memory_free(result->figures);
	for (size_t i = 0; i < result->event_count; i++)
		memory_free(result->events[i].name);
	memory_free(result->events);
	memory_free(result->work);
	memory_free(result->intervals);
	memory_free(result->device.name);
}

void result_deinit(struct result *result)
{
	time_deinit(result);
	for (size_t i = 0; i < result->note_count; i++)
		memory_free(result->notes[i]);
	memory_free(result->notes);
	for (size_t i = 0; i < result->in_kernel.file_count; i++)
		memory_free(result->in_kernel.files[i].path);
	memory_free(result->in_kernel.files);
	memory_free(result->marks_low);
	memory_free(result->marks_high);
	memory_free(result->kernel);
	memory_free(result->statistics);
	memory_free(result->input);
	memory_free(result->machine);
	memory_free(result->policy);
	memory_free(result->filesystem);
	for (size_t i = 0; i < result->mark_count; i++)
		memory_free(result->marks[i].label);
	memory_free(result->marks);
	for (size_t i = 0; i < result->stream_count; i++)
		memory_free(result->streams[i].name);
	memory_free(result->streams);
	memory_free(result->blame);
	memory_free(result->samples);
	*result = (struct result){0};
}
