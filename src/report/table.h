/*
 * table: columns of text that line up
 *
 * Cells are added row by row, each into the next column. Numbers with a unit ("310.2 MiB", "6.6 %")
 * line up on the unit. Columns of nothing but zeros can be left out, and what does not fit in the
 * width goes into a second block under the first, which repeats the first column.
 */
#ifndef REFAULT_REPORT_TABLE_H
#define REFAULT_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_align {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_UNIT, /* the number to the right, its unit behind it to the left */
};

enum table_zero { TABLE_KEEP, TABLE_HIDE_ZERO };

enum { TABLE_WIDTH_MAX = 100 };

struct table; /* opaque */

struct table *table_create(void);
void table_destroy(struct table *table);

/* All columns before the first cell. The heading is copied. */
void table_column(struct table *table, const char *heading, enum table_align align,
		  enum table_zero zero);

/*
 * The next cell. Texts are copied as they are; make strangers' names printable first
 * (report/name.h).
 */
void table_text(struct table *table, const char *text);
void table_size(struct table *table, uint64_t bytes);
void table_count(struct table *table, uint64_t count);
void table_share(struct table *table, uint64_t part, uint64_t whole); /* percent */
void table_unknown(struct table *table);                              /* "?" */

/* Print with `indent` blanks before each line, headings dimmed if `colour`. */
void table_print(FILE *out, const struct table *table, size_t indent, bool colour);

#endif
