/*
 * top: what a running system's page cache does (measure/top.h), drawn
 *
 * A *screen* is text at places, with a style that says no more than the text does; who has a terminal
 * puts it there, who has none prints it. A *line* is a row of a table, for what is no terminal. And
 * JSON. Nothing here reads a clock or a terminal.
 */
#ifndef REFAULT_REPORT_TOP_H
#define REFAULT_REPORT_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/array.h"
#include "measure/top.h"

/* A past interval without a ratio. */
#define TOP_NO_RATIO UINT32_MAX

/* What a view does not know of itself. */
struct top_shown {
	const struct top_view *view; /* NULL: there is none yet */
	const char *target;          /* "": the machine */
	const char *note;            /* what is not counted; "": nothing to say */
	const char *system;          /* "Linux 6.18.44" */
	const char *time;            /* "12:00:01", "2026-12-01T12:00:01Z" */
	uint64_t every_ns;           /* how often there is a view */
	enum top_sort sort;
	bool is_paused, is_help;
	bool has_keys; /* somebody can press them */
	bool is_ascii; /* nothing but ASCII can be shown: not in names either */
	/* past hit ratios in ppm, the last one last */
	const uint32_t *history;
	size_t history_count;
};

enum top_style {
	TOP_PLAIN,
	TOP_DIM,     /* names of figures */
	TOP_STRONG,  /* the answer */
	TOP_HEADING, /* a bar */
	TOP_ALARM,   /* what is not right; the text says so too */
};

struct top_piece {
	size_t row, column;
	enum top_style style;
	const char *text; /* UTF-8, printable */
};

struct top_screen {
	size_t rows, columns;
	bool is_ascii;
	ARRAY(struct top_piece) pieces; /* row by row, from left to right; none lies on another */
	struct arena texts;
};

/* Smaller ones are cut off. */
enum { TOP_ROWS_MIN = 24, TOP_COLUMNS_MIN = 80, TOP_COLUMNS_MAX = 400 };

/* How many files fit a screen of so many rows, and how many rows it takes for so many files. */
size_t top_files_shown(size_t rows);
size_t top_rows_for(size_t files);

/* Draw. Free with top_screen_deinit(). */
void top_screen_draw(struct top_screen *screen, const struct top_shown *shown, size_t rows,
		     size_t columns);
void top_screen_deinit(struct top_screen *screen);

/* Print it, without empty rows at the end. */
void top_screen_print(FILE *out, const struct top_screen *screen);

/* One line for the view, and the two above the first; at most 100 columns. */
void top_line_heading(FILE *out);
void top_line_print(FILE *out, const struct top_shown *shown);

/*
 * The object that `--json` prints, with at most so many files; what is not known is null. Rates are not
 * told: amounts are those of the interval, whose length is there. A new reference.
 */
json_t *top_json(const struct top_shown *shown, size_t files);

#endif
