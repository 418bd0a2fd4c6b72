/*
 * sheet: what a report is written on
 *
 * Sections write HTML to `html` and charts with sheet_lines() and sheet_heat(). A chart is drawn once, as SVG: it
 * is on the page (with a summary for who cannot see it, and its figures as a table) and in `charts` for `--svg`.
 * Lines are in `data` too, from which the page draws them again so that one can look closer.
 */
#ifndef REFAULT_REPORT_SHEET_H
#define REFAULT_REPORT_SHEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/array.h"
#include "report/svg.h"

struct sheet_chart {
	struct svg_picture picture; /* id: "blame-1", fit for a file's name; texts are owned */
	char *drawn;                /* what is between svg_begin() and svg_end() */
};

struct sheet {
	FILE *html;
	char *text; /* what was written to it; after sheet_finish() */
	size_t bytes;
	json_t *data; /* an array */
	ARRAY(struct sheet_chart) charts;

	FILE *drawing; /* of the chart that is being drawn */
	char *drawn;
	size_t drawn_bytes;
};

void sheet_init(struct sheet *sheet);
void sheet_finish(struct sheet *sheet);
void sheet_deinit(struct sheet *sheet);

/* How figures on an axis are written. */
enum axis_unit {
	AXIS_COUNT,
	AXIS_BYTES,
	AXIS_NS,
	AXIS_SECONDS,
	AXIS_PER_SECOND,
	AXIS_BYTES_PER_SECOND,
	AXIS_PERCENT,
	AXIS_NINES, /* 0: none of them, 1: 90 %, 2: 99 % */
};

/* Of at least 0; NAN is not known. */
struct line_series {
	const char *name;
	const double *x, *y; /* x rises */
	size_t count;
};

struct line_mark {
	double x;
	const char *text;
};

/* Something that went on from x to x. */
struct line_span {
	double from, to;
	const char *text;
};

struct line_chart {
	const char *name, *title, *x_label, *y_label;
	const char *summary; /* a sentence or two */
	enum axis_unit x_unit, y_unit;
	bool x_is_log, y_is_log; /* then values of 0 are not drawn */
	bool has_points;         /* each value is marked */
	const struct line_series *series;
	size_t series_count;
	const struct line_mark *marks; /* something happened at x */
	size_t mark_count;
	const struct line_span *spans;
	size_t span_count;
};

void sheet_lines(struct sheet *sheet, const struct line_chart *chart);

/* A row has as many columns as it has; they share its width. */
struct heat_row {
	const char *name, *end; /* before and behind it; end NULL: nothing */
	const double *values;
	size_t count;
};

struct heat_chart {
	const char *name, *title, *summary;
	const char *row_label, *column_label; /* of its table */
	const char *caption;                  /* under it: what the columns are */
	enum axis_unit unit;
	/* their names, if each row has as many as there are; NULL: none, and no table */
	const char *const *columns;
	const struct heat_row *rows;
	size_t row_count;
	double most; /* of all values */
};

void sheet_heat(struct sheet *sheet, const struct heat_chart *chart);

/* Bars, a label under each. */
struct bar_chart {
	const char *name, *title, *summary, *caption;
	const char *bar_label, *value_label; /* of its table */
	enum axis_unit unit;
	const char *const *labels;
	const double *values;
	size_t count;
	size_t mark; /* a line before this bar; SIZE_MAX: none */
	const char *mark_text;
};

void sheet_bars(struct sheet *sheet, const struct bar_chart *chart);

/* A value with its unit; "?" of what is not known. Returns `text`. */
enum { AXIS_TEXT_BYTES = 64 };
const char *axis_format(char text[AXIS_TEXT_BYTES], double value, enum axis_unit unit);

#endif
