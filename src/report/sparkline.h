/*
 * sparkline: a line of blocks, ▁▂▃▄▅▆▇█, from values that are evenly spaced
 */
#ifndef REFAULT_REPORT_SPARKLINE_H
#define REFAULT_REPORT_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The largest of these. */
uint64_t sparkline_most(const uint64_t *values, size_t count, size_t columns);

/* A block for each part: `least` is the lowest, `most` the highest. */
void sparkline_print(FILE *out, const uint64_t *values, size_t count, size_t columns,
		     uint64_t least, uint64_t most);

#endif
