#include "report/miss_curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/sheet.h"
#include "report/table.h"

enum { CHART_ROWS = 16, CHART_COLUMNS = 72, CELL_BYTES = 64, ROWS_SHOWN_MAX = 16, MARKS = 8 };

static const char *const marks[MARKS] = {"●", "○", "▲", "△", "■", "□", "◆", "◇"};
static const char *const ascii_marks[MARKS] = {"o", "x", "+", "*", "#", "@", "%", "="};

static const char *mark_of(const struct curve_drawing *drawing, size_t curve)
{
	return (drawing->is_ascii ? ascii_marks : marks)[curve % MARKS];
}

static double ratio_at(const struct curve_drawing *drawing, size_t curve, size_t size)
{
	return drawing->curves[curve].misses[size] / (double)drawing->accesses;
}

static const char *what_of(const struct curve_drawing *drawing)
{
	return drawing->is_lbn ? "requests" : "pages";
}

/* ---- the chart ---- */

/* By row from the top, then column: 1 + the curve that is there; 0: none. */
struct chart {
	uint8_t at[CHART_ROWS][CHART_COLUMNS];
};

/* Each size is as far from the next: sizes are spread evenly over their logarithms, or were chosen. */
static void chart_put(struct chart *chart, double ratio, size_t column, size_t curve)
{
	double row = (1 - ratio) * CHART_ROWS;
	size_t at = row < 0 ? 0 : row >= CHART_ROWS ? CHART_ROWS - 1 : (size_t)row;

	if (chart->at[at][column] == 0)
		chart->at[at][column] = (uint8_t)(1 + curve);
}

static void chart_curve(struct chart *chart, const struct curve_drawing *drawing, size_t curve)
{
	size_t last = drawing->size_count - 1;

	for (size_t column = 0; column < CHART_COLUMNS; column++) {
		double at = (double)column * (double)last / (CHART_COLUMNS - 1);
		size_t size = (size_t)at < last ? (size_t)at : last;
		double here = ratio_at(drawing, curve, size);
		double next = size < last ? ratio_at(drawing, curve, size + 1) : here;
		double ratio = here + (next - here) * (at - (double)size);

		if (isfinite(ratio))
			chart_put(chart, ratio, column, curve);
	}
}

static const char *short_count(char text[CELL_BYTES], uint64_t count)
{
	if (count >= 10000000)
		snprintf(text, CELL_BYTES, "%" PRIu64 "M", (count + 500000) / 1000000);
	else if (count >= 10000)
		snprintf(text, CELL_BYTES, "%" PRIu64 "k", (count + 500) / 1000);
	else
		snprintf(text, CELL_BYTES, "%" PRIu64, count);
	return text;
}

/* Sizes under the chart, at five of its columns. */
static void chart_axis(FILE *out, const struct curve_drawing *drawing)
{
	enum { LABELS = 5, WIDTH = CHART_COLUMNS + 16 };
	char line[WIDTH + CELL_BYTES], text[CELL_BYTES];
	size_t last = drawing->size_count - 1;

	memset(line, ' ', sizeof(line));
	for (size_t i = 0; i < LABELS; i++) {
		size_t column = i * (CHART_COLUMNS - 1) / (LABELS - 1);
		size_t size = i * last / (LABELS - 1), bytes;

		short_count(text, drawing->sizes[size]);
		bytes = strlen(text);
		/* Where that size is; the last one ends there. */
		column = last ? size * (CHART_COLUMNS - 1) / last : column;
		if (i == LABELS - 1)
			column = column + 1 > bytes ? column + 1 - bytes : 0;
		memcpy(line + column, text, bytes);
		if (last == 0)
			break;
	}
	line[WIDTH - 1] = '\0';
	for (size_t end = WIDTH - 1; end > 0 && line[end - 1] == ' '; end--)
		line[end - 1] = '\0';
	fprintf(out, "%*s%s  %s\n", 2 + 6 + 2, "", line, what_of(drawing));
}

static void chart_print(FILE *out, const struct curve_drawing *drawing)
{
	struct chart chart = {0};
	const char *wall = drawing->is_ascii ? "|" : "┤", *floor = drawing->is_ascii ? "-" : "─";

	for (size_t i = 0; i < drawing->count; i++)
		chart_curve(&chart, drawing, i);
	fprintf(out, "%*smisses\n", 2, "");
	for (size_t row = 0; row < CHART_ROWS; row++) {
		size_t end = CHART_COLUMNS;

		if (row % 4 == 0)
			fprintf(out, "%*s%4zu %% %s", 2, "", 100 - row * 100 / CHART_ROWS, wall);
		else
			fprintf(out, "%*s%s", 2 + 6 + 1, "", drawing->is_ascii ? "|" : "│");
		while (end > 0 && chart.at[row][end - 1] == 0)
			end--;
		for (size_t column = 0; column < end; column++)
			fputs(chart.at[row][column] ? mark_of(drawing, chart.at[row][column] - 1u)
						    : " ",
			      out);
		fputc('\n', out);
	}
	fprintf(out, "%*s%4d %% %s", 2, "", 0, drawing->is_ascii ? "+" : "┼");
	for (size_t column = 0; column < CHART_COLUMNS; column++)
		fputs(floor, out);
	fputc('\n', out);
	chart_axis(out, drawing);
	if (drawing->count < 2)
		return;
	fprintf(out, "%*s", 2, "");
	for (size_t i = 0; i < drawing->count; i++) {
		char name[NAME_TEXT_BYTES];

		fprintf(out, "%s%s %s", i ? "   " : "", mark_of(drawing, i),
			name_show(name, drawing->curves[i].name, NAME_COLUMNS));
	}
	fputc('\n', out);
}

/* ---- the table ---- */

static size_t row_shown(const struct curve_drawing *drawing, size_t shown, size_t i)
{
	return shown == drawing->size_count || shown < 2
		       ? i
		       : i * (drawing->size_count - 1) / (shown - 1);
}

static void ratio_text(char text[CELL_BYTES], const struct curve_drawing *drawing, size_t curve,
		       size_t size)
{
	double ratio = ratio_at(drawing, curve, size);
	double deviation = drawing->curves[curve].deviation[size] / (double)drawing->accesses;

	if (!isfinite(ratio))
		snprintf(text, CELL_BYTES, "?");
	else if (!isfinite(deviation))
		snprintf(text, CELL_BYTES, "%.2f %%", 100 * ratio);
	else
		snprintf(text, CELL_BYTES, "%.2f %s%.2f %%", 100 * ratio,
			 drawing->is_ascii ? "+-" : "±", 100 * deviation);
}

static void table_of(FILE *out, const struct curve_drawing *drawing)
{
	struct table *table = table_create();
	char text[CELL_BYTES], name[NAME_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES];
	size_t shown = drawing->size_count < ROWS_SHOWN_MAX ? drawing->size_count : ROWS_SHOWN_MAX;

	table_column(table, what_of(drawing), TABLE_RIGHT, TABLE_KEEP);
	if (!drawing->is_lbn)
		table_column(table, "memory", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < drawing->count; i++)
		table_column(table, name_show(name, drawing->curves[i].name, NAME_COLUMNS),
			     TABLE_RIGHT, TABLE_KEEP);
	for (size_t i = 0; i < shown; i++) {
		size_t size = row_shown(drawing, shown, i);

		table_text(table, count_format(count, drawing->sizes[size]));
		if (!drawing->is_lbn)
			table_size(table, drawing->sizes[size] * PAGE_BYTES);
		for (size_t k = 0; k < drawing->count; k++) {
			ratio_text(text, drawing, k, size);
			table_text(table, text);
		}
	}
	table_print(out, table, INDENT, drawing->colour);
	if (shown < drawing->size_count)
		fprintf(out, "%*s%zu more sizes: --csv and --json have them all\n", INDENT, "",
			drawing->size_count - shown);
	table_destroy(table);
}

/* ---- text ---- */

static void knees_print(FILE *out, const struct curve_drawing *drawing)
{
	for (size_t i = 0; i < drawing->count; i++) {
		const struct drawn_curve *curve = &drawing->curves[i];
		char count[2 * SIZE_TEXT_BYTES], size[SIZE_TEXT_BYTES];
		uint64_t knee = isfinite(curve->knee) ? (uint64_t)(curve->knee + 0.5) : 0;

		if (knee)
			fprintf(out, "Knee: 90 %% of the re-reads are gone at %s %s%s%s (%s).\n",
				count_format(count, knee), what_of(drawing),
				drawing->is_lbn ? "" : ", ",
				drawing->is_lbn ? "" : size_format(size, knee * PAGE_BYTES),
				curve->name);
		if (curve->failure[0])
			fprintf(out, "%s: %s.\n", curve->name, curve->failure);
	}
}

/* "0.01", "1.5e-05": as many digits as say something. */
static void sample_print(FILE *out, const struct curve_drawing *drawing)
{
	char count[2 * SIZE_TEXT_BYTES], pages[2 * SIZE_TEXT_BYTES];

	fprintf(out, "%*ssample: %s pages in %s look-ups, %.3g %% of all%s", INDENT, "",
		count_format(pages, drawing->sampled_pages),
		count_format(count, drawing->sampled_accesses), 100 * drawing->rate,
		drawing->rate_asked > 0 && drawing->rate > drawing->rate_asked * 1.0001
			? ", raised until the error was small enough"
			: "");
	fputc('\n', out);
	for (size_t i = 0; i < drawing->count; i++)
		if (isfinite(drawing->curves[i].mean_error))
			fprintf(out, "%*s%s: mean absolute error of the miss ratio about %.5f\n",
				INDENT, "", drawing->curves[i].name, drawing->curves[i].mean_error);
}

void miss_curve_text(FILE *out, const struct curve_drawing *drawing)
{
	char name[NAME_TEXT_BYTES], accesses[2 * SIZE_TEXT_BYTES], pages[2 * SIZE_TEXT_BYTES];

	fprintf(out, "%s   %s look-ups of %s%s different %s\n\n",
		name_show(name, drawing->input, NAME_COLUMNS_MAX),
		count_format(accesses, drawing->accesses), drawing->is_sampled ? "about " : "",
		count_format(pages, (uint64_t)(drawing->pages + 0.5)), what_of(drawing));
	chart_print(out, drawing);
	fputc('\n', out);
	table_of(out, drawing);
	if (drawing->is_sampled)
		sample_print(out, drawing);
	else if (drawing->rate_asked > 0)
		fprintf(out, "%*sno sample was good enough: this is exact\n", INDENT, "");
	knees_print(out, drawing);
}

/* ---- for programs ---- */

static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Look-ups are whole where they were counted. */
static json_t *misses_json(const struct curve_drawing *drawing, double value)
{
	if (!isfinite(value))
		return json_null();
	return drawing->is_sampled ? json_real(value) : json_number((uint64_t)value);
}

static json_t *curve_json(const struct curve_drawing *drawing, const struct drawn_curve *curve)
{
	json_t *misses = json_array(), *ratios = json_array(), *errors = json_array();
	double accesses = (double)drawing->accesses;

	for (size_t i = 0; i < drawing->size_count; i++) {
		json_array_append_new(misses, misses_json(drawing, curve->misses[i]));
		json_array_append_new(ratios, real_json(curve->misses[i] / accesses));
		json_array_append_new(errors, real_json(curve->deviation[i] / accesses));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "policy", json_text(curve->name),
			 "misses", misses, "miss_ratio", ratios, "standard_error", errors,
			 "mean_absolute_error", real_json(curve->mean_error), "knee_pages",
			 isfinite(curve->knee) ? json_number((uint64_t)(curve->knee + 0.5))
					       : json_null(),
			 "failure", curve->failure[0] ? json_text(curve->failure) : json_null());
}

json_t *miss_curve_json(const struct curve_drawing *drawing)
{
	json_t *sizes = json_array(), *curves = json_array(), *sample = json_null();

	for (size_t i = 0; i < drawing->size_count; i++)
		json_array_append_new(sizes, json_number(drawing->sizes[i]));
	for (size_t i = 0; i < drawing->count; i++)
		json_array_append_new(curves, curve_json(drawing, &drawing->curves[i]));
	if (drawing->is_sampled)
		sample = json_pack(
			"{s:o, s:f, s:o, s:o, s:o}", "rate_asked",
			drawing->rate_asked > 0 ? json_real(drawing->rate_asked) : json_null(),
			"rate", drawing->rate, "pages", json_number(drawing->sampled_pages),
			"accesses", json_number(drawing->sampled_accesses), "seed",
			json_number(drawing->seed));
	return json_pack("{s:o, s:s, s:o, s:o, s:b, s:o, s:o, s:o}", "input",
			 json_text(drawing->input), "key", drawing->is_lbn ? "lbn" : "page4k",
			 "accesses", json_number(drawing->accesses), "distinct_pages",
			 drawing->is_sampled ? json_real(drawing->pages)
					     : json_number((uint64_t)drawing->pages),
			 "exact", !drawing->is_sampled, "sample", sample, "sizes", sizes, "curves",
			 curves);
}

static void csv_real(FILE *out, double value, const char *format_digits)
{
	fputc(',', out);
	if (isfinite(value))
		fprintf(out, strcmp(format_digits, "count") == 0 ? "%.0f" : "%.9f", value);
}

void miss_curve_csv(FILE *out, const struct curve_drawing *drawing)
{
	fputs("policy,pages,accesses,misses,miss_ratio,standard_error\n", out);
	for (size_t i = 0; i < drawing->count; i++)
		for (size_t k = 0; k < drawing->size_count; k++) {
			const struct drawn_curve *curve = &drawing->curves[i];
			bool quotes = strchr(curve->name, ',') != NULL;

			fprintf(out, "%s%s%s,%" PRIu64 ",%" PRIu64, quotes ? "\"" : "", curve->name,
				quotes ? "\"" : "", drawing->sizes[k], drawing->accesses);
			csv_real(out, curve->misses[k], "count");
			csv_real(out, ratio_at(drawing, i, k), "ratio");
			csv_real(out, curve->deviation[k] / (double)drawing->accesses, "ratio");
			fputc('\n', out);
		}
}

/* ---- a picture ---- */

void miss_curve_svg(FILE *out, const struct curve_drawing *drawing)
{
	size_t count = drawing->size_count;
	double *x = memory_alloc(count + 1, sizeof(*x));
	double *y = memory_alloc(drawing->count * count + 1, sizeof(*y));
	struct line_series *series = memory_alloc(drawing->count + 1, sizeof(*series));
	struct line_mark *knees = memory_alloc(drawing->count + 1, sizeof(*knees));
	struct line_chart chart = {
		.name = "miss-curve",
		.title = "Misses over memory",
		.x_label = drawing->is_lbn ? "requests that fit" : "memory",
		.y_label = "of all look-ups",
		.summary = drawing->is_sampled ? "Estimated from a sample of the pages." : "Exact.",
		.x_unit = drawing->is_lbn ? AXIS_COUNT : AXIS_BYTES,
		.y_unit = AXIS_PERCENT,
		.x_is_log = drawing->sizes[count - 1] >= 8 * drawing->sizes[0],
		.series = series,
		.series_count = drawing->count,
		.marks = knees,
	};
	double unit = drawing->is_lbn ? 1 : (double)PAGE_BYTES;
	struct sheet sheet;

	for (size_t k = 0; k < count; k++)
		x[k] = (double)drawing->sizes[k] * unit;
	for (size_t i = 0; i < drawing->count; i++) {
		for (size_t k = 0; k < count; k++)
			y[i * count + k] = 100 * ratio_at(drawing, i, k);
		series[i] = (struct line_series){.name = drawing->curves[i].name,
						 .x = x,
						 .y = &y[i * count],
						 .count = count};
		if (isfinite(drawing->curves[i].knee))
			knees[chart.mark_count++] = (struct line_mark){
				.x = drawing->curves[i].knee * unit, .text = "knee: 90 % gone"};
	}
	sheet_init(&sheet);
	sheet_lines(&sheet, &chart);
	sheet_finish(&sheet);
	for (size_t i = 0; i < sheet.charts.count; i++) {
		svg_begin_alone(out, &sheet.charts.at[i].picture);
		fputs(sheet.charts.at[i].drawn, out);
		svg_end(out);
	}
	sheet_deinit(&sheet);
	memory_free(x);
	memory_free(y);
	memory_free(series);
	memory_free(knees);
}
