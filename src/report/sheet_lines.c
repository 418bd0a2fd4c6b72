/*
 * Lines over an axis: of time, of memory, of the share of operations.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/result.h"
#include "report/markup.h"
#include "report/name.h"
#include "report/sheet_private.h"

enum { HEIGHT = 260, LEFT = 82, RIGHT = 14, TOP = 12, BOTTOM = 46, LEGEND_ROW = 18 };
enum { TICKS_MAX = 12, TABLE_ROWS_MAX = 24, LOG_BITS = 24 };

/* ---- scales ---- */

struct scale {
	double low, high; /* of what is drawn; logarithms if is_log */
	double from, to;  /* on the picture */
	bool is_log;
	double ticks[TICKS_MAX]; /* values */
	size_t tick_count;
};

/* Of more than 0, bit by bit: with the same digits everywhere, which a library's need not have. */
static double log2_of(double value)
{
	int exponent;
	double rest = 2 * frexp(value, &exponent), sum = exponent - 1, bit = 0.5;

	for (int i = 0; i < LOG_BITS; i++, bit /= 2) {
		rest *= rest;
		if (rest < 2)
			continue;
		rest /= 2;
		sum += bit;
	}
	return sum;
}

static double scale_place(const struct scale *scale, double value)
{
	double at = scale->is_log ? log2_of(value) : value;
	double span = scale->high - scale->low;

	return scale->from +
	       (span > 0 ? (at - scale->low) / span : 0.5) * (scale->to - scale->from);
}

/* 1, 2 or 5 times a power of ten, or a power of two of bytes: at most so many steps to `span`. */
static double nice_step(double span, int steps, enum axis_unit unit)
{
	static const double factors[] = {2, 2.5, 2};
	bool is_bytes = unit == AXIS_BYTES || unit == AXIS_BYTES_PER_SECOND;
	double step = unit == AXIS_NINES || is_bytes ? 1 : 1e-6;

	for (size_t i = 0; span / step > steps; i++)
		step *= is_bytes ? 2 : factors[i % 3];
	return step;
}

static void ticks_linear(struct scale *scale, int steps, enum axis_unit unit)
{
	double step = nice_step(scale->high - scale->low, steps, unit);
	double first = (double)(uint64_t)(scale->low / step);

	for (int i = 0; i < TICKS_MAX; i++) {
		double tick = (first + i) * step;

		if (tick >= scale->low && tick <= scale->high)
			scale->ticks[scale->tick_count++] = tick;
	}
}

static void ticks_log(struct scale *scale, int steps, enum axis_unit unit)
{
	double base = unit == AXIS_BYTES ? 2 : 10, per = unit == AXIS_BYTES ? 1 : log2_of(10);
	double factor = base, tick = 1;

	for (; (scale->high - scale->low) / per > steps; per *= 2)
		factor *= factor;
	for (; log2_of(tick) <= scale->high + 1e-6 && scale->tick_count < TICKS_MAX; tick *= factor)
		if (log2_of(tick) >= scale->low - 1e-6)
			scale->ticks[scale->tick_count++] = tick;
}

static bool is_drawn(const struct line_chart *chart, double x, double y)
{
	return isfinite(x) && isfinite(y) && (!chart->x_is_log || x > 0) &&
	       (!chart->y_is_log || y > 0);
}

static void scale_take(struct scale *scale, double value, bool *is_first)
{
	double at = scale->is_log ? log2_of(value) : value;

	scale->low = *is_first || at < scale->low ? at : scale->low;
	scale->high = *is_first || at > scale->high ? at : scale->high;
	*is_first = false;
}

static void scales_make(struct scale *x, struct scale *y, const struct line_chart *chart)
{
	bool x_first = true, y_first = true;

	x->is_log = chart->x_is_log;
	y->is_log = chart->y_is_log;
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct line_series *series = &chart->series[i];

		for (size_t k = 0; k < series->count; k++) {
			if (!is_drawn(chart, series->x[k], series->y[k]))
				continue;
			scale_take(x, series->x[k], &x_first);
			scale_take(y, series->y[k], &y_first);
		}
	}
	if (!y->is_log) {
		y->low = 0;
		y->high = y->high > 0 ? y->high * 1.04 : 1;
	} else {
		y->low -= 0.2;
		y->high += 0.2;
	}
	if (x->is_log)
		ticks_log(x, 8, chart->x_unit);
	else
		ticks_linear(x, 8, chart->x_unit);
	if (y->is_log)
		ticks_log(y, 6, chart->y_unit);
	else
		ticks_linear(y, 6, chart->y_unit);
}

/* ---- the drawing ---- */

static void axes_draw(FILE *out, const struct scale *x, const struct scale *y,
		      const struct line_chart *chart)
{
	char text[AXIS_TEXT_BYTES];
	double bottom = y->from, last = -1e9;

	for (size_t i = 0; i < y->tick_count; i++) {
		double at = scale_place(y, y->ticks[i]);

		svg_line(out, "grid", x->from, at, x->to, at);
		svg_text(out, "number", x->from - 6, at + 4, SVG_END,
			 axis_format(text, y->ticks[i], chart->y_unit));
	}
	for (size_t i = 0; i < x->tick_count; i++) {
		double at = scale_place(x, x->ticks[i]);
		double half =
			3.2 * (double)text_columns(axis_format(text, x->ticks[i], chart->x_unit));

		svg_line(out, "axis", at, bottom, at, bottom + 4);
		/* Not over its neighbour, nor over the edge. */
		if (at - half < last + 6 || at + half > CHART_WIDTH)
			continue;
		svg_text(out, "number", at, bottom + 17, SVG_MIDDLE, text);
		last = at + half;
	}
	svg_line(out, "axis", x->from, bottom, x->to, bottom);
	svg_text(out, "label", (x->from + x->to) / 2, bottom + 36, SVG_MIDDLE, chart->x_label);
}

static void point_draw(FILE *out, double x, double y, bool *is_first)
{
	if (*is_first)
		svg_path_move(out, x, y);
	else
		svg_path_line(out, x, y);
	*is_first = false;
}

/*
 * More points than there are places: of all those in half a unit of width, the lowest and the highest, in their
 * order.
 */
static void series_draw(FILE *out, const struct scale *x, const struct scale *y,
			const struct line_chart *chart, const struct line_series *series)
{
	bool is_first = true;

	for (size_t i = 0; i < series->count;) {
		double left, low, high;
		size_t low_at = i, high_at = i, next = i + 1;

		if (!is_drawn(chart, series->x[i], series->y[i])) {
			is_first = true;
			i++;
			continue;
		}
		left = scale_place(x, series->x[i]);
		low = high = series->y[i];
		for (; next < series->count && is_drawn(chart, series->x[next], series->y[next]) &&
		       scale_place(x, series->x[next]) < left + 0.5;
		     next++) {
			low_at = series->y[next] < low ? next : low_at;
			high_at = series->y[next] > high ? next : high_at;
			low = series->y[low_at];
			high = series->y[high_at];
		}
		point_draw(out, left, scale_place(y, low_at <= high_at ? low : high), &is_first);
		if (low_at != high_at)
			point_draw(out, left, scale_place(y, low_at < high_at ? high : low),
				   &is_first);
		i = next;
	}
}

static void points_draw(FILE *out, const struct scale *x, const struct scale *y,
			const struct line_chart *chart, size_t index, const char *class)
{
	const struct line_series *series = &chart->series[index];

	for (size_t i = 0; i < series->count; i++) {
		char hint[2 * AXIS_TEXT_BYTES + NAME_TEXT_BYTES + 8], at[AXIS_TEXT_BYTES],
			value[AXIS_TEXT_BYTES], name[NAME_TEXT_BYTES];

		if (!is_drawn(chart, series->x[i], series->y[i]))
			continue;
		snprintf(hint, sizeof(hint), "%s: %s at %s",
			 name_show(name, series->name, NAME_COLUMNS_MAX),
			 axis_format(value, series->y[i], chart->y_unit),
			 axis_format(at, series->x[i], chart->x_unit));
		svg_rect(out, class, scale_place(x, series->x[i]) - 3,
			 scale_place(y, series->y[i]) - 3, 6, 6, hint);
	}
}

/* A name is told once. */
static bool span_is_new(const struct line_chart *chart, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(chart->spans[i].text, chart->spans[index].text) == 0)
			return false;
	return true;
}

static size_t span_names(const struct line_chart *chart)
{
	size_t count = 0;

	for (size_t i = 0; i < chart->span_count; i++)
		count += span_is_new(chart, i);
	return count;
}

/* A line where it begins, and a tint as long as it goes on. */
static void spans_draw(FILE *out, const struct scale *x, const struct scale *y,
		       const struct line_chart *chart)
{
	for (size_t i = 0; i < chart->span_count; i++) {
		double from = scale_place(x, chart->spans[i].from);
		double to = scale_place(x, chart->spans[i].to);
		char hint[NAME_TEXT_BYTES + 2 * AXIS_TEXT_BYTES + 16], name[NAME_TEXT_BYTES],
			begun[AXIS_TEXT_BYTES], done[AXIS_TEXT_BYTES];

		from = from < x->from ? x->from : from;
		to = to > x->to ? x->to : to;
		if (!(from <= x->to && to >= x->from))
			continue;
		snprintf(hint, sizeof(hint), "%s: %s to %s",
			 name_show(name, chart->spans[i].text, NAME_COLUMNS_MAX),
			 axis_format(begun, chart->spans[i].from, chart->x_unit),
			 axis_format(done, chart->spans[i].to, chart->x_unit));
		svg_rect(out, "span", from, y->to, to - from, y->from - y->to, hint);
		svg_line(out, "begin", from, y->from, from, y->to);
	}
}

static size_t legend_columns(const struct line_chart *chart)
{
	return chart->series_count < 3 ? 2 : 3;
}

static void legend_draw(FILE *out, const struct line_chart *chart, double top)
{
	size_t columns = legend_columns(chart);
	double width = (double)(CHART_WIDTH - LEFT - RIGHT) / (double)columns;

	for (size_t i = 0; i < chart->series_count; i++) {
		double left = LEFT + width * (double)(i % columns);
		double y = top + LEGEND_ROW * (double)(i / columns);
		char class[8], name[NAME_TEXT_BYTES];

		snprintf(class, sizeof(class), "s%zu", i % SVG_SERIES);
		svg_rect(out, class, left, y - 4, 14, 4, NULL);
		svg_text(out, "label", left + 20, y + 2, SVG_START,
			 name_show(name, chart->series[i].name, columns == 2 ? 30 : 19));
	}
	for (size_t i = 0, at = chart->series_count; i < chart->span_count; i++) {
		double left = LEFT + width * (double)(at % columns);
		double y = top + LEGEND_ROW * (double)(at / columns);
		char name[NAME_TEXT_BYTES];

		if (!span_is_new(chart, i))
			continue;
		at++;
		svg_rect(out, "span", left, y - 8, 14, 10, NULL);
		svg_line(out, "begin", left, y - 8, left, y + 2);
		svg_text(out, "label", left + 20, y + 2, SVG_START,
			 name_show(name, chart->spans[i].text, columns == 2 ? 30 : 19));
	}
}

static void marks_draw(FILE *out, const struct scale *x, const struct scale *y,
		       const struct line_chart *chart)
{
	for (size_t i = 0; i < chart->mark_count; i++) {
		double at = scale_place(x, chart->marks[i].x);
		bool is_right = at > (x->from + x->to) / 2;
		char name[NAME_TEXT_BYTES];

		if (!(at >= x->from - 1 && at <= x->to + 1))
			continue;
		svg_line(out, "mark", at, y->from, at, y->to);
		/* One under the other, so that neighbours do not meet. */
		svg_text(out, "label", is_right ? at - 5 : at + 5,
			 y->to + 10 + 13 * (double)(i % 4), is_right ? SVG_END : SVG_START,
			 name_show(name, chart->marks[i].text, 30));
	}
}

static double draw(FILE *out, const struct line_chart *chart)
{
	size_t entries = chart->series_count + span_names(chart);
	size_t rows =
		entries > 1 ? (entries + legend_columns(chart) - 1) / legend_columns(chart) : 0;
	double top = TOP + LEGEND_ROW * (double)rows, height = HEIGHT + LEGEND_ROW * (double)rows;
	struct scale x = {.from = LEFT, .to = CHART_WIDTH - RIGHT};
	struct scale y = {.from = height - BOTTOM, .to = top};

	scales_make(&x, &y, chart);
	axes_draw(out, &x, &y, chart);
	if (rows)
		legend_draw(out, chart, TOP);
	spans_draw(out, &x, &y, chart);
	marks_draw(out, &x, &y, chart);
	for (size_t i = 0; i < chart->series_count; i++) {
		char class[8];

		snprintf(class, sizeof(class), "s%zu", i % SVG_SERIES);
		svg_path_begin(out, class);
		series_draw(out, &x, &y, chart, &chart->series[i]);
		svg_path_end(out);
		if (chart->has_points)
			points_draw(out, &x, &y, chart, i, class);
	}
	return height;
}

/* ---- as data, and as a table ---- */

static json_t *value_json(double value)
{
	if (!isfinite(value))
		return json_null();
	if (value < 9e15 && value == (double)(int64_t)value)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *values_json(const double *values, size_t count)
{
	json_t *json = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(json, value_json(values[i]));
	return json;
}

static json_t *text_json(const char *text)
{
	char *utf8 = name_utf8(text);
	json_t *json = json_string(utf8);

	memory_free(utf8);
	return json;
}

static const char *unit_key(enum axis_unit unit)
{
	static const char *const keys[] = {"count", "bytes",   "ns", "s",
					   "/s",    "bytes/s", "%",  "nines"};

	return keys[unit];
}

static json_t *data_of(const struct line_chart *chart)
{
	json_t *series = json_array(), *marks = json_array(), *spans = json_array();

	for (size_t i = 0; i < chart->series_count; i++)
		json_array_append_new(
			series,
			json_pack("{s:o, s:o, s:o}", "name", text_json(chart->series[i].name), "x",
				  values_json(chart->series[i].x, chart->series[i].count), "y",
				  values_json(chart->series[i].y, chart->series[i].count)));
	for (size_t i = 0; i < chart->mark_count; i++)
		json_array_append_new(marks,
				      json_pack("{s:o, s:o}", "x", value_json(chart->marks[i].x),
						"text", text_json(chart->marks[i].text)));
	for (size_t i = 0; i < chart->span_count; i++)
		json_array_append_new(spans, json_pack("{s:o, s:o, s:o}", "from",
						       value_json(chart->spans[i].from), "to",
						       value_json(chart->spans[i].to), "text",
						       text_json(chart->spans[i].text)));
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:b}, s:{s:s, s:s, s:b}, s:b, s:o, s:o, s:o}",
			 "name", chart->name, "title", chart->title, "x", "label", chart->x_label,
			 "unit", unit_key(chart->x_unit), "log", chart->x_is_log, "y", "label",
			 chart->y_label, "unit", unit_key(chart->y_unit), "log", chart->y_is_log,
			 "points", chart->has_points, "series", series, "marks", marks, "spans",
			 spans);
}

/* Of a long series some evenly spaced values, the first and the last among them. */
static void table_write(struct sheet *sheet, const struct line_chart *chart)
{
	FILE *out = sheet->html;
	char text[AXIS_TEXT_BYTES];

	sheet_table_begin(sheet, chart->title);
	fputs("<thead><tr><th scope=\"col\">series</th><th scope=\"col\">", out);
	markup_text(out, chart->x_label);
	fputs("</th><th scope=\"col\">", out);
	markup_text(out, chart->y_label);
	fputs("</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct line_series *series = &chart->series[i];
		size_t rows = series->count < TABLE_ROWS_MAX ? series->count : TABLE_ROWS_MAX;

		for (size_t r = 0; r < rows; r++) {
			size_t at = rows < 2 ? 0 : r * (series->count - 1) / (rows - 1);

			fputs("<tr><th scope=\"row\">", out);
			markup_text(out, series->name);
			if (chart->x_unit == AXIS_NINES &&
			    series->x[at] != (double)(int)series->x[at])
				snprintf(text, sizeof(text), "%.2f nines", series->x[at]);
			else
				axis_format(text, series->x[at], chart->x_unit);
			fprintf(out, "</th><td>%s</td>", text);
			fprintf(out, "<td>%s</td></tr>\n",
				axis_format(text, series->y[at], chart->y_unit));
		}
	}
	fputs("</tbody>", out);
	sheet_table_end(sheet);
}

void sheet_lines(struct sheet *sheet, const struct line_chart *chart)
{
	struct svg_picture picture = {
		.id = chart->name,
		.width = CHART_WIDTH,
		.title = chart->title,
		.description = chart->summary,
	};

	picture.height = draw(sheet_chart_begin(sheet), chart);
	sheet_chart_end(sheet, &picture, NULL, true);
	table_write(sheet, chart);
	sheet_figure_end(sheet);
	json_array_append_new(sheet->data, data_of(chart));
}
