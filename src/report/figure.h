/*
 * figure: one row's value in one result, as number, text and JSON
 */
#ifndef REFAULT_REPORT_FIGURE_H
#define REFAULT_REPORT_FIGURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "measure/result.h"
#include "measure/value.h"
#include "report/number.h"

struct comparison_row;

struct figure {
	double number;
	bool known;
	enum value_unit unit;
};

enum { FIGURE_TEXT_BYTES = NUMBER_TEXT_BYTES };

/* NULL: it did nothing. */
const struct result_stream *result_stream_find(const struct result *result, const char *name);

/* The unit, as far as the row alone tells. */
enum value_unit figure_unit(const struct comparison_row *row);
struct figure figure_value(const struct comparison_row *row, const struct result *result);
/* What was published for setting `i`. */
struct figure figure_published(const struct comparison_row *row, size_t i);
/* Was anything, for the first `count` settings? */
bool figure_is_published(const struct comparison_row *row, size_t count);

/* "27.3 GB", "12,345", "?". Returns `text`. */
const char *figure_format(char text[FIGURE_TEXT_BYTES], const struct comparison_row *row,
			  struct figure figure);
/* last / first: "0.517"; "-" of nothing. */
const char *figure_ratio_format(char text[FIGURE_TEXT_BYTES], struct figure first,
				struct figure last);

/* New references; null for what is not known. */
json_t *figure_json(struct figure figure);
json_t *figure_ratio_json(struct figure first, struct figure last);

#endif
