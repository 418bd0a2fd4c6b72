/*
 * miss_curve: miss ratios of plain caches over their size, as a chart of characters, JSON, CSV, or a picture
 */
#ifndef REFAULT_REPORT_MISS_CURVE_H
#define REFAULT_REPORT_MISS_CURVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What is not known is NAN. */
struct drawn_curve {
	const char *name;
	const double *misses, *deviation; /* look-ups, by size; deviation NAN: exact */
	double mean_error;                /* of the ratio */
	double knee;                      /* pages */
	const char *failure;              /* "": none */
};

struct curve_drawing {
	const char *input;
	bool is_lbn; /* requests by their start instead of pages */
	const uint64_t *sizes;
	size_t size_count;
	const struct drawn_curve *curves;
	size_t count;
	uint64_t accesses;
	double pages;
	bool is_sampled;
	double rate_asked, rate; /* asked 0: a number of pages was */
	double error_wanted;
	uint64_t sampled_accesses, sampled_pages, seed;
	unsigned int passes;
	bool is_ascii, colour;
};

void miss_curve_text(FILE *out, const struct curve_drawing *drawing);
json_t *miss_curve_json(const struct curve_drawing *drawing); /* a new reference */
void miss_curve_csv(FILE *out, const struct curve_drawing *drawing);
void miss_curve_svg(FILE *out, const struct curve_drawing *drawing);

#endif
