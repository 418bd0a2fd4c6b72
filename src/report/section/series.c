/*
 * The run over time: work done, what the device was asked for, lists, dirty pages, slab, free space
 *
 * Of a single run the lines of a group are in one picture; of several each line is one, with all runs in it. Where
 * nobody kept time it is over the operations.
 */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/report_private.h"
#include "report/section.h"

enum { FIELDS_MAX = 2, MARKS_MAX = 12, SAID_MAX = 3 };

enum kind { KIND_RATE, KIND_BYTES, KIND_PAGES };

struct line {
	const char *name;
	size_t of_interval, of_sample; /* offsets; SIZE_MAX: it is not there */
	enum kind kind;
	enum counter_id counter; /* that tells whether it is known; COUNTER_COUNT: it is */
};

#define INTERVAL(field) offsetof(struct result_interval, field)
#define SAMPLE(field)   offsetof(struct result_sample, field)

static const struct picture {
	const char *name, *title, *label;
	enum axis_unit unit;
	struct line lines[FIELDS_MAX];
	size_t count;
} pictures[] = {
	{"work",
	 "Work done",
	 "in a second",
	 AXIS_PER_SECOND,
	 {{"done", INTERVAL(work), SIZE_MAX, KIND_RATE, COUNTER_COUNT}},
	 1},
	{"device",
	 "Read from and written to the device",
	 "in a second",
	 AXIS_BYTES_PER_SECOND,
	 {{"read", INTERVAL(read_bytes), SIZE_MAX, KIND_RATE, COUNTER_read_bytes},
	  {"written", INTERVAL(write_bytes), SIZE_MAX, KIND_RATE, COUNTER_write_bytes}},
	 2},
	{"read",
	 "Read from the device so far",
	 "bytes",
	 AXIS_BYTES,
	 {{"read", SIZE_MAX, SAMPLE(read_bytes), KIND_BYTES, COUNTER_read_bytes}},
	 1},
	{"flushes",
	 "Flushes of the device",
	 "in a second",
	 AXIS_PER_SECOND,
	 {{"flushes", INTERVAL(flushes), SIZE_MAX, KIND_RATE, COUNTER_COUNT}},
	 1},
	{"lists",
	 "Active and inactive list",
	 "file pages",
	 AXIS_BYTES,
	 {{"active", INTERVAL(active_file_pages), SAMPLE(active_file_pages), KIND_PAGES,
	   COUNTER_active_file_pages},
	  {"inactive", INTERVAL(inactive_file_pages), SAMPLE(inactive_file_pages), KIND_PAGES,
	   COUNTER_inactive_file_pages}},
	 2},
	{"dirty",
	 "Dirty pages",
	 "dirty",
	 AXIS_BYTES,
	 {{"dirty", INTERVAL(dirty_pages), SAMPLE(dirty_pages), KIND_PAGES, COUNTER_dirty_pages}},
	 1},
	{"slab",
	 "Slab: dentries, inodes and what comes with them",
	 "slab",
	 AXIS_BYTES,
	 {{"slab", INTERVAL(slab_bytes), SAMPLE(slab_bytes), KIND_BYTES, COUNTER_slab_bytes}},
	 1},
	{"arc",
	 "ZFS's cache",
	 "ARC",
	 AXIS_BYTES,
	 {{"ARC", INTERVAL(arc_bytes), SIZE_MAX, KIND_BYTES, COUNTER_COUNT}},
	 1},
	{"free",
	 "Free space on the file system",
	 "free",
	 AXIS_BYTES,
	 {{"free", INTERVAL(free_bytes), SIZE_MAX, KIND_BYTES, COUNTER_COUNT}},
	 1},
};

enum { PICTURES = sizeof(pictures) / sizeof(pictures[0]) };

/* In all pictures the same: a page with time and without would mix seconds and operations. */
static bool by_time(const struct page *page)
{
	for (size_t i = 0; i < page_drawn(page); i++)
		if (page->runs[i].result.interval_count < 2)
			return false;
	return true;
}

static size_t points_of(const struct result *result, bool is_time)
{
	return is_time ? result->interval_count : result->sample_count;
}

static uint64_t raw_of(const struct result *result, const struct line *line, bool is_time, size_t i)
{
	const void *at =
		is_time ? (const void *)&result->intervals[i] : (const void *)&result->samples[i];

	return *(const uint64_t *)(const void *)((const char *)at +
						 (is_time ? line->of_interval : line->of_sample));
}

/* Known, and not 0 all the time: what a machine has not is 0 there. */
static bool has_line(const struct result *result, const struct line *line, bool is_time)
{
	if ((is_time ? line->of_interval : line->of_sample) == SIZE_MAX)
		return false;
	if (line->counter != COUNTER_COUNT && !result_knows(result, line->counter))
		return false;
	if (is_time && line->of_interval == INTERVAL(work) && !result->work)
		return false;
	for (size_t i = 0; i < points_of(result, is_time); i++)
		if (raw_of(result, line, is_time, i))
			return true;
	return false;
}

static bool has(const struct page *page)
{
	bool is_time = by_time(page);

	for (size_t i = 0; i < page_drawn(page); i++)
		if (points_of(&page->runs[i].result, is_time) > 1)
			return true;
	return false;
}

static double value_of(const struct result *result, const struct line *line, bool is_time, size_t i)
{
	uint64_t raw = raw_of(result, line, is_time, i);

	if (line->kind == KIND_RATE)
		return result_interval_per_second(result, i, raw);
	return line->kind == KIND_PAGES ? (double)bytes_from_pages(raw) : (double)raw;
}

/* An interval's figures are those of its end. */
static double place_of(const struct result *result, bool is_time, size_t i)
{
	uint64_t end;

	if (!is_time)
		return (double)result->samples[i].op_index;
	end = (i + 1) * result->interval_ns;
	if (i + 1 == result->interval_count && result->elapsed_ns &&
	    result->elapsed_ns > i * result->interval_ns && result->elapsed_ns < end)
		end = result->elapsed_ns;
	return (double)end / (double)NS_PER_SECOND;
}

static void series_add(const struct page *page, struct line_chart *chart,
		       struct line_series *series, const struct result *result,
		       const struct line *line, bool is_time, const char *name)
{
	size_t count = points_of(result, is_time);
	double *x = page_alloc(page, count, sizeof(*x)), *y = page_alloc(page, count, sizeof(*y));

	for (size_t i = 0; i < count; i++) {
		x[i] = place_of(result, is_time, i);
		y[i] = value_of(result, line, is_time, i);
	}
	series[chart->series_count++] =
		(struct line_series){.name = name, .x = x, .y = y, .count = count};
}

/* What a trace or a scenario has marked; too many would hide the lines. */
static void marks_add(const struct page *page, struct line_chart *chart, bool is_time)
{
	const struct result *result = &page->runs[0].result;
	struct line_mark *marks = page_alloc(page, result->mark_count, sizeof(*marks));

	if (result->mark_count > MARKS_MAX || (is_time && !result->elapsed_ns))
		return;
	for (size_t i = 0; i < result->mark_count; i++)
		marks[i] = (struct line_mark){
			.x = is_time ? (double)result->marks[i].elapsed_ns / (double)NS_PER_SECOND
				     : (double)result->marks[i].op_index,
			.text = result->marks[i].label,
		};
	chart->marks = marks;
	chart->mark_count = result->mark_count;
}

/* What went on for a while: checkpoints. */
static void spans_add(const struct page *page, struct line_chart *chart, bool is_time)
{
	const struct result *result = &page->runs[0].result;
	struct line_span *spans = page_alloc(page, result->event_count, sizeof(*spans));

	if (!is_time || page->count > 1)
		return;
	for (size_t i = 0; i < result->event_count; i++) {
		const struct result_event *event = &result->events[i];
		uint64_t end =
			event->end_ns < result->elapsed_ns ? event->end_ns : result->elapsed_ns;

		spans[i] = (struct line_span){
			.from = (double)event->begin_ns / (double)NS_PER_SECOND,
			.to = (double)end / (double)NS_PER_SECOND,
			.text = event->name,
		};
	}
	chart->spans = spans;
	chart->span_count = result->event_count;
}

/* Of many only the last. */
static const char *summary_short(const struct page *page, const struct line_chart *chart)
{
	const char *text = "In the end:";

	for (size_t i = 0; i < chart->series_count; i++) {
		const struct line_series *series = &chart->series[i];
		char last[AXIS_TEXT_BYTES];

		text = page_text(page, "%s %s %s%s", text, series->name,
				 axis_format(last, series->y[series->count - 1], chart->y_unit),
				 i + 1 < chart->series_count ? "," : ".");
	}
	return text;
}

/* The least, the most and the last of each. */
static const char *summary_of(const struct page *page, const struct line_chart *chart)
{
	const char *text = "";

	if (chart->series_count > SAID_MAX)
		return summary_short(page, chart);

	for (size_t i = 0; i < chart->series_count; i++) {
		const struct line_series *series = &chart->series[i];
		double least = series->y[0], most = series->y[0];
		char low[AXIS_TEXT_BYTES], high[AXIS_TEXT_BYTES], last[AXIS_TEXT_BYTES];

		for (size_t k = 0; k < series->count; k++) {
			least = series->y[k] < least ? series->y[k] : least;
			most = series->y[k] > most ? series->y[k] : most;
		}
		text = page_text(page, "%s%s%s: %s to %s, in the end %s.", text, *text ? " " : "",
				 series->name, axis_format(low, least, chart->y_unit),
				 axis_format(high, most, chart->y_unit),
				 axis_format(last, series->y[series->count - 1], chart->y_unit));
	}
	return text;
}

static struct line_chart chart_of(const struct page *page, const struct picture *picture,
				  bool is_time, struct line_series *series)
{
	return (struct line_chart){
		.name = page_text(page, "time-%s", picture->name),
		.title = picture->title,
		.x_label = is_time ? "time" : "operations",
		.y_label = picture->label,
		.x_unit = is_time ? AXIS_SECONDS : AXIS_COUNT,
		.y_unit = picture->unit,
		.series = series,
	};
}

static void chart_finish(const struct page *page, struct sheet *sheet, struct line_chart *chart,
			 bool is_time)
{
	if (chart->series_count == 0)
		return;
	marks_add(page, chart, is_time);
	spans_add(page, chart, is_time);
	chart->summary = summary_of(page, chart);
	sheet_lines(sheet, chart);
}

static const char *work_of(const struct result *result, const struct line *line)
{
	return line->of_interval == INTERVAL(work) ? result->work : line->name;
}

static void picture_of_one(const struct page *page, struct sheet *sheet,
			   const struct picture *picture, bool is_time)
{
	const struct result *result = &page->runs[0].result;
	struct line_series series[FIELDS_MAX];
	struct line_chart chart = chart_of(page, picture, is_time, series);

	for (size_t i = 0; i < picture->count; i++)
		if (has_line(result, &picture->lines[i], is_time))
			series_add(page, &chart, series, result, &picture->lines[i], is_time,
				   work_of(result, &picture->lines[i]));
	if (picture->lines[0].of_interval == INTERVAL(work) && result->work)
		chart.title = page_text(page, "Work done: %s in a second", result->work);
	chart_finish(page, sheet, &chart, is_time);
}

static void pictures_of_all(const struct page *page, struct sheet *sheet,
			    const struct picture *picture, bool is_time)
{
	for (size_t k = 0; k < picture->count; k++) {
		struct line_series series[PAGE_RUNS_DRAWN];
		struct line_chart chart = chart_of(page, picture, is_time, series);

		if (picture->count > 1) {
			chart.name = page_text(page, "time-%s-%s", picture->name,
					       picture->lines[k].name);
			chart.title =
				page_text(page, "%s: %s", picture->title, picture->lines[k].name);
		}
		for (size_t i = 0; i < page_drawn(page); i++)
			if (has_line(&page->runs[i].result, &picture->lines[k], is_time))
				series_add(page, &chart, series, &page->runs[i].result,
					   &picture->lines[k], is_time, page->names[i]);
		chart_finish(page, sheet, &chart, is_time);
	}
}

static void write(const struct page *page, struct sheet *sheet)
{
	bool is_time = by_time(page);

	fputs("<div class=\"charts\">\n", sheet->html);
	for (size_t i = 0; i < PICTURES; i++) {
		if (page->count == 1)
			picture_of_one(page, sheet, &pictures[i], is_time);
		else
			pictures_of_all(page, sheet, &pictures[i], is_time);
	}
	fputs("</div>\n", sheet->html);
}

const struct section section_series = {
	.name = "time", .title = "Over the run", .has = has, .write = write};
