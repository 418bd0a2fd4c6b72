/*
 * settings: a comparison of settings that may differ in anything: a line for each, a column for each
 * figure; and what is claimed of them, held against the run
 *
 * Where there are cells (a file system on a device at a scale), each is a line, and the settings are
 * compared in it.
 */
#ifndef REFAULT_REPORT_SETTINGS_H
#define REFAULT_REPORT_SETTINGS_H

#include "report/comparison.h"

/* A value, or its ratio, that must lie within low .. high. */
struct settings_claim {
	const char *label, *value, *published; /* published NULL: nothing was */
	size_t run, against;                   /* results; against SIZE_MAX: the value itself */
	double low, high;
};

struct settings_table {
	/* count: the settings; results and elapsed_ns: of each cell, one after the other */
	const struct comparison *comparison;
	const char *const *cells; /* labels; NULL: there are none */
	const char *const *cells_published;
	size_t cell_count;
	const struct settings_claim *claims;
	size_t claim_count;
};

void settings_text(FILE *out, const struct settings_table *table,
		   const struct report_options *options);

/*
 * {"compare", "figures" (without cells), "cells": [{"label", "published", "figures"}], "claims":
 * [{"label", "value", "number", "published", "low", "high", "holds"}], "runs"}. A new reference.
 */
json_t *settings_json(const struct settings_table *table, const struct report_options *options);

#endif
