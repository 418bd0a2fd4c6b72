/*
 * lint: what a trace does that costs without need, each with its place
 *
 * Filled by study/lint.h, drawn by report/lint.h. All texts are in the report's arena.
 */
#ifndef REFAULT_MEASURE_LINT_H
#define REFAULT_MEASURE_LINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

enum lint_unit { LINT_COUNT, LINT_PAGES, LINT_BYTES, LINT_PERCENT };

struct lint_figure {
	const char *name; /* "dropped_pages" */
	double value;
	enum lint_unit unit;
};

/* An op that it is about. */
struct lint_place {
	uint64_t op;      /* from 1, of all */
	uint64_t line;    /* of the trace; 0: it has none */
	const char *what; /* "the advice", "first read after it" */
};

enum { LINT_PLACES_MAX = 8 };

struct lint_finding {
	const char *id;      /* of the lint: "dontneed-in-vain" */
	const char *path;    /* the file; NULL: of no single one */
	const char *stream;  /* who does it; NULL: nobody says */
	uint64_t times;      /* ops that do it */
	uint64_t cost_bytes; /* read from the device without need; 0: none that is known */
	const char *title;   /* a sentence without a full stop */
	const char *text;    /* in whole sentences; "": nothing to add */
	const char *remedy;  /* what to do about it */
	struct lint_figure figures[12];
	size_t figure_count;
	struct lint_place places[LINT_PLACES_MAX];
	size_t place_count;
};

struct lint_report {
	struct arena arena;
	ARRAY(struct lint_finding *)
	findings; /* those that cost most first, then in order of place */
	uint64_t op_count;
	uint64_t read_bytes, reread_bytes; /* of the whole run */
};

void lint_report_deinit(struct lint_report *report);

#endif
