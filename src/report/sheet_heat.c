/*
 * Fields that are the darker the more there is, and bars.
 */
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "report/markup.h"
#include "report/name.h"
#include "report/sheet_private.h"

enum { ROW = 30, LETTER = 7, GAP = 8, LEGEND = 34, TURNED_MAX = 88 };
enum { BARS_HEIGHT = 240, BARS_LEFT = 70, BARS_TOP = 22, BARS_BOTTOM = 76 };

/* 0 is nothing at all; the least that there is is seen. */
static unsigned int heat_of(double value, double most)
{
	unsigned int heat;

	if (!(value > 0) || !(most > 0))
		return 0;
	heat = 1 + (unsigned int)(value / most * (SVG_HEATS - 1));
	return heat < SVG_HEATS ? heat : SVG_HEATS - 1;
}

static double longest(const char *const *names, size_t count, size_t columns_max)
{
	size_t most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t columns = names[i] ? text_columns(names[i]) : 0;

		columns = columns < columns_max ? columns : columns_max;
		most = columns > most ? columns : most;
	}
	return (double)(most * LETTER);
}

struct heat_layout {
	double left, right, top, bottom;
	bool is_turned; /* columns' names */
};

static struct heat_layout layout_of(const struct heat_chart *chart)
{
	const char **names = memory_alloc(2 * chart->row_count + 1, sizeof(*names));
	size_t columns = chart->row_count ? chart->rows[0].count : 0;
	struct heat_layout layout = {.top = 6};

	for (size_t i = 0; i < chart->row_count; i++) {
		names[i] = chart->rows[i].name;
		names[chart->row_count + i] = chart->rows[i].end;
	}
	layout.left = longest(names, chart->row_count, CHART_NAME_COLUMNS) + 2 * GAP;
	layout.right = CHART_WIDTH - GAP -
		       longest(names + chart->row_count, chart->row_count, CHART_NAME_COLUMNS);
	memory_free(names);
	if (chart->columns) {
		double width = longest(chart->columns, columns, CHART_NAME_COLUMNS);

		layout.is_turned = width > (layout.right - layout.left) / (double)columns;
		layout.top = layout.is_turned ? 20 + width * 0.62 : 24;
		if (layout.is_turned)
			layout.right -= width * 0.5;
	}
	layout.bottom = layout.top + ROW * (double)chart->row_count;
	return layout;
}

static void columns_draw(FILE *out, const struct heat_chart *chart,
			 const struct heat_layout *layout)
{
	size_t count = chart->row_count ? chart->rows[0].count : 0;
	double width = (layout->right - layout->left) / (double)(count ? count : 1);

	for (size_t i = 0; chart->columns && i < count; i++) {
		double at = layout->left + width * ((double)i + 0.5);
		char name[NAME_TEXT_BYTES];

		name_show(name, chart->columns[i], CHART_NAME_COLUMNS);
		if (layout->is_turned)
			svg_text_turned(out, "label", at, layout->top - 6, name);
		else
			svg_text(out, "label", at, layout->top - 8, SVG_MIDDLE, name);
	}
}

static void hint_of(char *text, size_t bytes, const struct heat_chart *chart, size_t row,
		    size_t column)
{
	char value[AXIS_TEXT_BYTES], name[NAME_TEXT_BYTES], other[NAME_TEXT_BYTES];

	name_show(name, chart->rows[row].name, NAME_COLUMNS_MAX);
	axis_format(value, chart->rows[row].values[column], chart->unit);
	if (chart->columns)
		snprintf(text, bytes, "%s, %s: %s", name,
			 name_show(other, chart->columns[column], NAME_COLUMNS_MAX), value);
	else
		snprintf(text, bytes, "%s, part %zu of %zu: %s", name, column + 1,
			 chart->rows[row].count, value);
}

static void row_draw(FILE *out, const struct heat_chart *chart, const struct heat_layout *layout,
		     size_t index)
{
	const struct heat_row *row = &chart->rows[index];
	double top = layout->top + ROW * (double)index;
	double width = (layout->right - layout->left) / (double)(row->count ? row->count : 1);
	/* A hair between fields, but not where they are hairs. */
	double gap = width > 12 ? 1 : 0;
	char name[NAME_TEXT_BYTES];

	svg_text(out, "label", layout->left - GAP, top + ROW / 2 + 4, SVG_END,
		 name_show(name, row->name, CHART_NAME_COLUMNS));
	for (size_t i = 0; i < row->count; i++) {
		char hint[3 * NAME_TEXT_BYTES], class[24], text[AXIS_TEXT_BYTES];
		unsigned int heat = heat_of(row->values[i], chart->most);
		double left = layout->left + width * (double)i;

		hint_of(hint, sizeof(hint), chart, index, i);
		snprintf(class, sizeof(class), "h%u", heat);
		svg_rect(out, class, left, top + 1, width - gap, ROW - 2, hint);
		axis_format(text, row->values[i], chart->unit);
		snprintf(class, sizeof(class), "number h%u", heat);
		if (row->values[i] > 0 && width > 8 + (double)(text_columns(text) * LETTER))
			svg_text(out, class, left + width / 2, top + ROW / 2 + 4, SVG_MIDDLE, text);
	}
	if (row->end)
		svg_text(out, "number", layout->right + GAP / 2, top + ROW / 2 + 4, SVG_START,
			 name_show(name, row->end, CHART_NAME_COLUMNS));
}

/* From nothing to most. */
static void legend_draw(FILE *out, const struct heat_chart *chart, const struct heat_layout *layout)
{
	char text[AXIS_TEXT_BYTES];
	double top = layout->bottom + 12, left = layout->left + 20;

	svg_text(out, "number", layout->left + 12, top + 10, SVG_END, "0");
	for (unsigned int i = 0; i < SVG_HEATS; i++) {
		char class[8];

		snprintf(class, sizeof(class), "h%u", i);
		svg_rect(out, class, left + 16 * i, top, 16, 12, NULL);
	}
	svg_text(out, "number", left + 16 * SVG_HEATS + 6, top + 10, SVG_START,
		 axis_format(text, chart->most, chart->unit));
}

static void heat_table(struct sheet *sheet, const struct heat_chart *chart)
{
	FILE *out = sheet->html;
	char text[AXIS_TEXT_BYTES];

	sheet_table_begin(sheet, chart->title);
	fputs("<thead><tr><th scope=\"col\">", out);
	markup_text(out, chart->row_label);
	for (size_t i = 0; i < chart->rows[0].count; i++) {
		fputs("</th><th scope=\"col\">", out);
		markup_format(out, "%s %s", chart->column_label, chart->columns[i]);
	}
	fputs("</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < chart->row_count; i++) {
		fputs("<tr><th scope=\"row\">", out);
		markup_text(out, chart->rows[i].name);
		fputs("</th>", out);
		for (size_t k = 0; k < chart->rows[i].count; k++)
			fprintf(out, "<td>%s</td>",
				axis_format(text, chart->rows[i].values[k], chart->unit));
		fputs("</tr>\n", out);
	}
	fputs("</tbody>", out);
	sheet_table_end(sheet);
}

void sheet_heat(struct sheet *sheet, const struct heat_chart *chart)
{
	struct heat_layout layout = layout_of(chart);
	FILE *out = sheet_chart_begin(sheet);
	struct svg_picture picture = {
		.id = chart->name,
		.width = CHART_WIDTH,
		.height = layout.bottom + LEGEND,
		.title = chart->title,
		.description = chart->summary,
	};

	columns_draw(out, chart, &layout);
	for (size_t i = 0; i < chart->row_count; i++)
		row_draw(out, chart, &layout, i);
	legend_draw(out, chart, &layout);
	sheet_chart_end(sheet, &picture, chart->caption, false);
	if (chart->columns && chart->row_count)
		heat_table(sheet, chart);
	sheet_figure_end(sheet);
}

/* ---- bars ---- */

static void bars_draw(FILE *out, const struct bar_chart *chart)
{
	double bottom = BARS_HEIGHT - BARS_BOTTOM, most = 0, left = BARS_LEFT;
	double width = (CHART_WIDTH - BARS_LEFT - GAP) / (double)(chart->count ? chart->count : 1);
	char text[AXIS_TEXT_BYTES], hint[2 * AXIS_TEXT_BYTES + NAME_TEXT_BYTES];

	for (size_t i = 0; i < chart->count; i++)
		most = chart->values[i] > most ? chart->values[i] : most;
	for (int i = 0; i <= 4; i++) {
		double at = bottom - (bottom - BARS_TOP) * i / 4;

		svg_line(out, "grid", left, at, CHART_WIDTH - GAP, at);
		svg_text(out, "number", left - 6, at + 4, SVG_END,
			 axis_format(text, most * i / 4, chart->unit));
	}
	for (size_t i = 0; i < chart->count; i++) {
		double height = most > 0 ? chart->values[i] / most * (bottom - BARS_TOP) : 0;
		double at = left + width * (double)i;

		snprintf(hint, sizeof(hint), "%s: %s", chart->labels[i],
			 axis_format(text, chart->values[i], chart->unit));
		svg_rect(out, "s0", at + 1, bottom - height, width - 2, height, hint);
		/* In the middle of the bar, and its end below it: like a column's name, upside down. */
		svg_text_turned(out, "number", at + width / 2 - 34, bottom + 42, chart->labels[i]);
	}
	svg_line(out, "axis", left, bottom, CHART_WIDTH - GAP, bottom);
	if (chart->mark <= chart->count) {
		double at = left + width * (double)chart->mark;
		bool is_right = chart->mark * 2 > chart->count;

		svg_line(out, "mark", at, bottom, at, BARS_TOP - 10);
		svg_text(out, "label", is_right ? at - 5 : at + 5, BARS_TOP - 8,
			 is_right ? SVG_END : SVG_START, chart->mark_text);
	}
	svg_text(out, "label", (left + CHART_WIDTH) / 2, BARS_HEIGHT - 6, SVG_MIDDLE,
		 chart->bar_label);
}

void sheet_bars(struct sheet *sheet, const struct bar_chart *chart)
{
	FILE *out = sheet_chart_begin(sheet);
	struct svg_picture picture = {
		.id = chart->name,
		.width = CHART_WIDTH,
		.height = BARS_HEIGHT,
		.title = chart->title,
		.description = chart->summary,
	};
	char text[AXIS_TEXT_BYTES];

	bars_draw(out, chart);
	sheet_chart_end(sheet, &picture, chart->caption, false);
	sheet_table_begin(sheet, chart->title);
	out = sheet->html;
	fputs("<thead><tr><th scope=\"col\">", out);
	markup_text(out, chart->bar_label);
	fputs("</th><th scope=\"col\">", out);
	markup_text(out, chart->value_label);
	fputs("</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < chart->count; i++) {
		fputs("<tr><th scope=\"row\">", out);
		markup_text(out, chart->labels[i]);
		fprintf(out, "</th><td>%s</td></tr>\n",
			axis_format(text, chart->values[i], chart->unit));
	}
	fputs("</tbody>", out);
	sheet_table_end(sheet);
	sheet_figure_end(sheet);
}
