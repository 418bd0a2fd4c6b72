/*
 * bar: a bar that lies, ███▌, as wide as its value is of the most
 */
#ifndef REFAULT_REPORT_BAR_H
#define REFAULT_REPORT_BAR_H

#include <stdint.h>

enum { BAR_COLUMNS_MAX = 40, BAR_TEXT_BYTES = BAR_COLUMNS_MAX * 4 + 1 };

/* At most `columns` of them; empty for 0, and at least an eighth of a column for anything else. Returns `text`. */
const char *bar_format(char text[BAR_TEXT_BYTES], uint64_t value, uint64_t most,
		       unsigned int columns);

#endif
