/*
 * sweep: the cells of a sweep, drawn: policies beside each other over sizes, the best of each size marked, and the knees
 *
 * Cells are JSON, as study/sweep_file.h keeps them, so that one process, many ranks and merged files say the same to the byte. The question has
 * "input", "kind" ("trace", "scenario", "bare"), "axis" ("memory_bytes", "cgroup_limit_bytes", "pages"), and "cells": objects of "policy",
 * "size", "seed" and "settings", null where nothing was said. An outcome has "result" (report_json()), and of plain caches "distinct_pages"; or "failure", an object with
 * "message".
 */
#ifndef REFAULT_REPORT_SWEEP_H
#define REFAULT_REPORT_SWEEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "measure/metric.h"

struct sweep_view {
	const json_t *question;
	json_t *const *outcomes; /* by cell; NULL: not there */
	size_t count;
	struct metric metric;
	bool colour;
};

/* What is compared when nobody says. */
const char *sweep_metric_default(const json_t *question);

void sweep_text(FILE *out, const struct sweep_view *view);

/* {"sweep": {..., "cells": [...], "knees": [...]}, "runs": [results]}. A new reference. */
json_t *sweep_json(const struct sweep_view *view);

/* A line a cell, a column a counter; what is not known is empty. */
void sweep_csv(FILE *out, const struct sweep_view *view);

/* "linux-6.18 at 4 GiB, seed 3"; `text` has room for it all, cut to fit. */
enum { SWEEP_CELL_TEXT_BYTES = 200 };
const char *sweep_cell_text(char text[SWEEP_CELL_TEXT_BYTES], const json_t *question, size_t cell);

/* Where nine in ten of what is above `floor` at the first size are gone, on straight lines; NAN: at none. */
double sweep_knee(const double *sizes, const double *values, size_t count, double floor);

#endif
