/*
 * comparison: one experiment under several settings, figure by figure, beside what was published
 *
 * A row is a figure, a column a setting; with two settings their ratio (the second to the first),
 * and the same for what was published. Sizes are in powers of ten (27.3 GB), as publications give
 * them. Under the table: who gains and who loses by the last setting against the first, said of
 * those streams alone whose figures say so.
 */
#ifndef REFAULT_REPORT_COMPARISON_H
#define REFAULT_REPORT_COMPARISON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/result.h"

struct report_options;

enum { COMPARISON_SETTINGS_MAX = 16 };

struct comparison_row {
	const char *label;
	enum counter_id counter;
	const char *value; /* instead of a counter: any value, by name (measure/value.h); or NULL */
	const char *const *streams; /* names, whose counters are added up */
	size_t stream_count;        /* 0: the whole machine's */
	bool whole_passes;          /* only until the end of each stream's last whole pass */
	uint64_t per_bytes;         /* divide by it; 0: do not */
	double published[COMPARISON_SETTINGS_MAX];
	bool published_known[COMPARISON_SETTINGS_MAX];
	const char *note; /* NULL: none */
};

struct comparison {
	const char *summary;          /* NULL: none */
	const char *key;              /* what differs: "referenced_on_first_use", "policy" */
	const char *const *settings;  /* its values */
	const struct result *results; /* one for each */
	const uint64_t *elapsed_ns;   /* of the modelled time; NULL: not known */
	size_t count;
	const struct comparison_row
		*rows; /* none: what each stream read again, and the machine's reads */
	size_t row_count;
	const char *source, *see; /* of the published figures; what to look at next. NULL: none */
};

void comparison_text(FILE *out, const struct comparison *comparison,
		     const struct report_options *options);

/* A row with its values in every result. A new reference. */
json_t *comparison_row_json(const struct comparison *comparison, const struct comparison_row *row);

/*
 * {"compare": {key, values}, "figures": [...], "runs": [report_json() of each]}. A new reference.
 */
json_t *comparison_json(const struct comparison *comparison, const struct report_options *options);

#endif
