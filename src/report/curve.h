/*
 * curve: runs that differ in memory alone (and in the seed), in the order of their memory
 *
 * The knee is where nine in ten of what is read again with the least memory of the runs are gone, on straight
 * lines between the runs.
 */
#ifndef REFAULT_REPORT_CURVE_H
#define REFAULT_REPORT_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page;

enum { CURVES_MAX = 8 };

/* Sums over the runs with so much memory. */
struct curve_point {
	uint64_t memory; /* bytes; of plain caches pages */
	double again, misses, accesses;
	bool again_known, misses_known;
	size_t runs;
};

struct curve {
	char *key;
	const char *name;
	struct curve_point *points; /* by memory */
	size_t count;               /* at least 2 */
	size_t runs;
	double knee; /* NAN: not within these runs */
};

struct curves {
	struct curve at[CURVES_MAX];
	size_t count;
	bool is_bare; /* plain caches */
};

/* Points are the page's. Free with curves_deinit(). */
void curves_make(struct curves *curves, const struct page *page);
void curves_deinit(struct curves *curves);

/* A mean, bytes; NAN: not known. */
double curve_again(const struct curve_point *point);

/* "90 % of the re-reads are gone at 24.5 GiB (linux-6.18)." for each; the text is the page's. */
const char *curves_knees(const struct curves *curves, const struct page *page);

#endif
