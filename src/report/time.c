/*
 * Time as a person reads it: how fast, how long each operation waited, how busy device and
 * processors were, what the workload says of itself, and all of it over time.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"
#include "op/op.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report_private.h"
#include "report/sparkline.h"
#include "report/table.h"

/* With the range of each line beside it, the lines must be shorter than those of the samples. */
enum { SERIES_COLUMNS = 44, RANGE_TEXT_BYTES = 64 };

/* "transactions" without the s. */
static const char *work_singular(char text[NAME_TEXT_BYTES], const struct result *result)
{
	size_t bytes;

	name_show(text, result->work, NAME_COLUMNS);
	bytes = strlen(text);
	if (bytes > 1 && text[bytes - 1] == 's')
		text[bytes - 1] = '\0';
	return text;
}

/* ---- the answer ---- */

static void work_latency_print(FILE *out, const struct result *result)
{
	char name[NAME_TEXT_BYTES], mean[SIZE_TEXT_BYTES], p99[SIZE_TEXT_BYTES];
	const struct result_latency *latency =
		result_latency_find(result, work_singular(name, result));

	if (!latency)
		return;
	fprintf(out, "   each %s   p99 %s", time_format(mean, histogram_mean(&latency->ns)),
		time_format(p99, histogram_quantile(&latency->ns, 990000)));
}

void time_answer_print(FILE *out, const struct result *result)
{
	char rate[NUMBER_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES], elapsed[SIZE_TEXT_BYTES],
		name[NAME_TEXT_BYTES];
	size_t unit;

	if (result->elapsed_ns == 0)
		return;
	number_format(rate,
		      result->work ? result_work_per_second(result) : result_ops_per_second(result),
		      VALUE_PER_SECOND);
	unit = strlen(rate) - strlen(" /s");
	rate[unit] = '\0';
	fprintf(out, "  %-16s  %10s %s/s", "throughput", rate,
		result->work ? name_show(name, result->work, NAME_COLUMNS) : "ops");
	if (result->work)
		fprintf(out, "   %s", count_format(count, result->work_count));
	fprintf(out, "%s in %s", result->work ? "" : "  ",
		time_format(elapsed, result->elapsed_ns));
	if (result->work)
		work_latency_print(out, result);
	fputc('\n', out);
}

/* ---- latencies ---- */

static void latency_row(struct table *table, const struct result_latency *latency)
{
	const struct histogram *ns = &latency->ns;
	char name[NAME_TEXT_BYTES], text[SIZE_TEXT_BYTES];

	table_text(table, name_show(name, latency->name, NAME_COLUMNS));
	table_count(table, ns->count);
	table_text(table, time_format(text, histogram_mean(ns)));
	table_text(table, time_format(text, histogram_deviation(ns)));
	for (const struct result_quantile *q = result_quantiles; q->name; q++) {
		if (q->millionths != 950000)
			table_text(table, time_format(text, histogram_quantile(ns, q->millionths)));
	}
	table_text(table, time_format(text, ns->most));
}

static void latencies_print(FILE *out, const struct result *result, bool colour)
{
	struct table *table;

	if (result->latency_count == 0)
		return;
	table = table_create();
	table_column(table, "latency", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "count", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "mean", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "deviation", TABLE_UNIT, TABLE_KEEP);
	/* p95 is in --json: the table would be too wide. */
	for (const struct result_quantile *q = result_quantiles; q->name; q++) {
		if (q->millionths != 950000)
			table_column(table, q->name, TABLE_UNIT, TABLE_KEEP);
	}
	table_column(table, "max", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < result->latency_count; i++)
		latency_row(table, &result->latencies[i]);
	report_heading(out, "how long it took, from when it was asked for", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

/* ---- device and processors ---- */

static void device_print(FILE *out, const struct result *result, bool colour)
{
	const struct result_device *device = &result->device;
	struct table *table;
	char name[NAME_TEXT_BYTES];

	if (!device->name)
		return;
	table = table_create();
	table_column(table, "device", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "reads", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "read", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "of it metadata", TABLE_UNIT, TABLE_HIDE_ZERO);
	table_column(table, "writes", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "written", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "of it metadata", TABLE_UNIT, TABLE_HIDE_ZERO);
	table_column(table, "flushes", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "busy", TABLE_UNIT, TABLE_KEEP);
	table_text(table, name_show(name, device->name, NAME_COLUMNS));
	table_count(table, device->reads);
	table_size(table, device->read_bytes);
	table_size(table, device->metadata_read_bytes);
	table_count(table, device->writes);
	table_size(table, device->write_bytes);
	table_size(table, device->metadata_write_bytes);
	table_count(table, device->flushes);
	table_share(table, device->busy_ns, result->elapsed_ns);
	report_heading(out, "what the device was asked for", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

static void processors_print(FILE *out, const struct result *result)
{
	char share[SHARE_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES], time[SIZE_TEXT_BYTES];

	if (result->cpu_count == 0 || result->elapsed_ns == 0)
		return;
	fprintf(out, "\n  %-16s  %10s   of %" PRIu64 "\n", "processors busy",
		share_format(share, result->cpu_ns / result->cpu_count, result->elapsed_ns),
		result->cpu_count);
	if (result->stopped.count)
		fprintf(out, "  %-16s  %10s   times, %s in all: too much was dirty\n",
			"writers stopped", count_format(count, result->stopped.count),
			time_format(time, result->stopped.ns));
}

/* ---- what the workload says ---- */

/* Room for a figure's name, and for what it means. */
enum { FIGURE_COLUMNS = 27, MEANING_COLUMNS = 36 };

static void figure_row(struct table *table, const struct result *result,
		       const struct result_figure *figure)
{
	enum value_unit unit = value_unit_of_name(figure->name);
	char text[NAME_TEXT_BYTES], number[NUMBER_TEXT_BYTES];

	table_text(table, name_show(text, figure->name, FIGURE_COLUMNS));
	table_text(table, number_format(number, figure->value, unit));
	if (result->work)
		table_text(table,
			   figure->per_work && result->work_count
				   ? number_format(number,
						   figure->value / (double)result->work_count, unit)
				   : "");
	table_text(table, name_show(text, figure->meaning, MEANING_COLUMNS));
}

static void figures_print(FILE *out, const struct result *result, bool colour)
{
	char name[NAME_TEXT_BYTES], heading[NAME_TEXT_BYTES + 8];
	struct table *table;

	if (result->figure_count == 0)
		return;
	table = table_create();
	table_column(table, "figure", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "all", TABLE_UNIT, TABLE_KEEP);
	if (result->work) {
		snprintf(heading, sizeof(heading), "per %s", work_singular(name, result));
		table_column(table, heading, TABLE_UNIT, TABLE_KEEP);
	}
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < result->figure_count; i++)
		figure_row(table, result, &result->figures[i]);
	report_heading(out, "what the workload says", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

/* ---- over time ---- */

enum line_unit { LINE_RATE, LINE_BYTES_PER_S, LINE_BYTES };

/* Lines of one group have one scale, so that they can be held against each other. */
enum line_group {
	GROUP_WORK,
	GROUP_DEVICE,
	GROUP_DIRTY,
	GROUP_MEMORY,
	GROUP_SPACE,
	GROUP_RUN,
	GROUP_WAITS,
	GROUP_COUNT,
};

static const struct line_kind {
	const char *name;
	enum line_group group;
	enum line_unit unit;
	size_t offset; /* in struct result_interval */
	uint64_t factor;
} line_kinds[] = {
	{"tps", GROUP_WORK, LINE_RATE, offsetof(struct result_interval, work), 1},
	{"ops/s", GROUP_WORK, LINE_RATE, offsetof(struct result_interval, ops), 1},
	{"read", GROUP_DEVICE, LINE_BYTES_PER_S, offsetof(struct result_interval, read_bytes), 1},
	{"written", GROUP_DEVICE, LINE_BYTES_PER_S, offsetof(struct result_interval, write_bytes),
	 1},
	{"dirty", GROUP_DIRTY, LINE_BYTES, offsetof(struct result_interval, dirty_pages),
	 PAGE_BYTES},
	{"active", GROUP_MEMORY, LINE_BYTES, offsetof(struct result_interval, active_file_pages),
	 PAGE_BYTES},
	{"inactive", GROUP_MEMORY, LINE_BYTES,
	 offsetof(struct result_interval, inactive_file_pages), PAGE_BYTES},
	{"slab", GROUP_MEMORY, LINE_BYTES, offsetof(struct result_interval, slab_bytes), 1},
	{"ARC", GROUP_MEMORY, LINE_BYTES, offsetof(struct result_interval, arc_bytes), 1},
	{"free space", GROUP_SPACE, LINE_BYTES, offsetof(struct result_interval, free_bytes), 1},
	{"free run", GROUP_RUN, LINE_BYTES, offsetof(struct result_interval, free_run_bytes), 1},
	{"group waits", GROUP_WAITS, LINE_RATE, offsetof(struct result_interval, group_waits), 1},
};

enum { LINE_COUNT = sizeof(line_kinds) / sizeof(line_kinds[0]) };

struct line {
	uint64_t *values; /* bytes, bytes a second, thousandths a second; NULL: nothing to show */
	uint64_t least, most;
	char range[RANGE_TEXT_BYTES]; /* "12.5..310.2" */
	const char *unit;
};

struct series {
	size_t count, columns;
	struct line lines[LINE_COUNT];
	uint64_t least[GROUP_COUNT], most[GROUP_COUNT]; /* of the scales */
};

static uint64_t line_value(const struct result *result, const struct line_kind *kind, size_t index)
{
	const struct result_field field = {.offset = kind->offset};
	uint64_t number = result_field_get(&result->intervals[index], &field) * kind->factor;

	switch (kind->unit) {
	case LINE_RATE:
		return (uint64_t)(result_interval_per_second(result, index, number) * 1000 + 0.5);
	case LINE_BYTES_PER_S:
		return (uint64_t)(result_interval_per_second(result, index, number) + 0.5);
	default:
		return number;
	}
}

/* So many thousandths, bytes or bytes a second, in units of `one`. */
static void end_write(char text[2 * SIZE_TEXT_BYTES], uint64_t value, uint64_t one, bool is_whole)
{
	uint64_t tenths = (uint64_t)(((unsigned __int128)value * 10 + one / 2) / one);

	if (is_whole)
		count_format(text, (uint64_t)(((unsigned __int128)value + one / 2) / one));
	else
		snprintf(text, 2 * SIZE_TEXT_BYTES, "%" PRIu64 ".%" PRIu64, tenths / 10,
			 tenths % 10);
}

/* Both ends of the range in the unit of the larger one; one where they are the same. */
static void range_write(struct line *line, enum line_unit unit)
{
	static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	static const char *const decimal[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
	uint64_t base = unit == LINE_BYTES ? KIB : 1000, one = 1;
	size_t power = 0, power_max = unit == LINE_BYTES ? 6 : 4;
	char least[2 * SIZE_TEXT_BYTES], most[2 * SIZE_TEXT_BYTES];
	bool is_whole;

	if (unit == LINE_RATE) {
		bool in_millions = line->most >= UINT64_C(10000000) * 1000;

		line->unit = in_millions ? "M/s" : "/s";
		one = in_millions ? UINT64_C(1000000000) : 1000;
		is_whole = !in_millions && line->most >= 100 * one;
	} else {
		while (power < power_max && line->most / one >= base) {
			one *= base;
			power++;
		}
		line->unit = unit == LINE_BYTES ? binary[power] : decimal[power];
		is_whole = one == 1;
	}
	end_write(least, line->least, one, is_whole);
	end_write(most, line->most, one, is_whole);
	if (strcmp(least, most) == 0)
		snprintf(line->range, sizeof(line->range), "%s", most);
	else
		snprintf(line->range, sizeof(line->range), "%.28s..%.28s", least, most);
}

static void line_make(struct series *series, const struct result *result, size_t index)
{
	const struct line_kind *kind = &line_kinds[index];
	struct line *line = &series->lines[index];
	uint64_t most;

	if (kind->offset == (result->work ? offsetof(struct result_interval, ops)
					  : offsetof(struct result_interval, work)))
		return;
	line->values = memory_alloc(series->count, sizeof(*line->values));
	line->least = UINT64_MAX;
	for (size_t i = 0; i < series->count; i++) {
		uint64_t value = line_value(result, kind, i);

		line->values[i] = value;
		line->least = value < line->least ? value : line->least;
		line->most = value > line->most ? value : line->most;
	}
	if (line->most == 0) {
		memory_free(line->values);
		line->values = NULL;
		return;
	}
	range_write(line, kind->unit);
	most = sparkline_most(line->values, series->count, series->columns);
	if (most > series->most[kind->group])
		series->most[kind->group] = most;
	/* A file system is mostly what it was: only its change can be seen. */
	if (kind->group == GROUP_SPACE)
		series->least[kind->group] = line->least;
}

static void series_make(struct series *series, const struct result *result)
{
	size_t count = result->interval_count;

	*series = (struct series){0};
	/* The rates of a last one that is shorter would stick out. */
	if (count > 2 && count * result->interval_ns > result->elapsed_ns)
		count--;
	series->count = count;
	series->columns = count < SERIES_COLUMNS ? count : SERIES_COLUMNS;
	for (size_t i = 0; i < LINE_COUNT; i++)
		line_make(series, result, i);
}

static void series_print(FILE *out, const struct result *result)
{
	struct series series;
	char title[SIZE_TEXT_BYTES + 8], elapsed[SIZE_TEXT_BYTES];
	size_t range_columns = 0;

	series_make(&series, result);
	for (size_t i = 0; i < LINE_COUNT; i++) {
		size_t columns = strlen(series.lines[i].range);

		range_columns = columns > range_columns ? columns : range_columns;
	}
	snprintf(title, sizeof(title), "over %s", time_format(elapsed, result->elapsed_ns));
	fputc('\n', out);
	for (size_t i = 0; i < LINE_COUNT; i++) {
		const struct line_kind *kind = &line_kinds[i];
		struct line *line = &series.lines[i];
		const char *name = kind->name;

		if (!line->values)
			continue;
		if (kind->offset == offsetof(struct result_interval, work) &&
		    strcmp(result->work, "transactions") != 0)
			name = "work/s";
		fprintf(out, "  %-14s %-10s ", title, name);
		title[0] = '\0';
		sparkline_print(out, line->values, series.count, series.columns,
				series.least[kind->group], series.most[kind->group]);
		fprintf(out, "  %*s %s\n", (int)range_columns, line->range, line->unit);
		memory_free(line->values);
	}
}

void time_print(FILE *out, const struct result *result, bool colour)
{
	latencies_print(out, result, colour);
	device_print(out, result, colour);
	processors_print(out, result);
	figures_print(out, result, colour);
	if (result->interval_count >= 2)
		series_print(out, result);
}
