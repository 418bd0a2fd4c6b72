/*
 * rows: a text's lines, their fields, and numbers as people and programs write them
 *
 * What every reader of a foreign text needs: lines that end in LF or CRLF or not at all, a byte
 * order mark, empty lines, fields between commas or blanks, quoted or not, decimal and hexadecimal
 * numbers, with a decimal point or a decimal comma. For the readers in op/import/.
 */
#ifndef REFAULT_OP_ROWS_H
#define REFAULT_OP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct import;
struct op;

enum { ROW_BYTES_MAX = 64 * 1024 };

/* A line that is not empty, without its end. Good until the next one is asked for. */
struct row {
	const unsigned char *at, *end;
	uint64_t line; /* from 1 */
	bool is_ended; /* its line end is there: else it is the file's last, and may be cut off */
	bool is_too_long; /* `at` .. `end` is its beginning; the rest was skipped */
};

/* Where a text's reader is: a part of its state; zeros are the beginning. */
struct rows {
	uint64_t line;                           /* lines read */
	size_t bytes_max;                        /* of one; 0: ROW_BYTES_MAX */
	unsigned char kept[EXCERPT_COLUMNS_MAX]; /* the beginning of one that is too long */
};

enum row_found { ROW_FOUND, ROW_END, ROW_FAILED };

/* The next line that holds more than blanks. FAILED: the file cannot be read further (`error`). */
enum row_found row_next(struct rows *rows, struct import *import, struct row *row,
			struct error *error);

/* The same for the first bytes of a file, for match functions: a cut line at the end is left out. */
bool row_peek(const unsigned char **at, const unsigned char *end, bool whole, struct row *row);

/* A part of a row, without blanks around it and without its quotes. */
struct field {
	const unsigned char *at;
	size_t bytes;
};

/*
 * Take a row apart at each `separator` (' ': at blanks and tabs, any number of them). Returns how
 * many there are; of those, at most `most` are filled in.
 */
unsigned int row_split(const struct row *row, char separator, struct field *fields,
		       unsigned int most);

/* Is it this word, in any case? */
bool field_is(const struct field *field, const char *word);

/* Is it one of these words, in any case: "read|rd|r"? */
bool field_is_among(const struct field *field, const char *words);

enum number_verdict {
	NUMBER_FINE,
	NUMBER_EMPTY,
	NUMBER_NONE,
	NUMBER_NEGATIVE,
	NUMBER_NOT_WHOLE,
	NUMBER_TOO_LARGE,
};

/*
 * A whole number: "16384", "0x4000", "16384.0", "1.6384e4", "16,384". `hexadecimal`: also without
 * 0x. Nothing else may be in the field.
 */
enum number_verdict field_whole(const struct field *field, bool hexadecimal, uint64_t *value);

/*
 * A number times `unit`, rounded down: "0.000419690" and "0,000419690" times 10^9. To the last bit
 * as far as 18 decimals go.
 */
enum number_verdict field_scaled(const struct field *field, uint64_t unit, uint64_t *value);

/* "is not a number", ...: what follows a field in a message. */
const char *number_verdict_text(enum number_verdict verdict);

/*
 * The row cannot be read: fill in `error` with its place, `field` (NULL: the whole row) as what is
 * wrong in it, and the row itself. Returns false.
 */
bool row_wrong(const struct import *import, const struct row *row, const struct field *field,
	       struct error *error, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Turn a row into an op; *is_op false: it is none, and that is fine. Fails (ERROR_INPUT) on what cannot be read. */
typedef bool row_read_op(struct import *import, const struct row *row, struct op *op, bool *is_op,
			 struct error *error);

/*
 * An import's next ops (struct import_format, next()) of a text with an op in a row, at most: rows that cannot be read are left out if that is
 * allowed.
 */
bool rows_ops(struct rows *rows, struct import *import, row_read_op *read, struct op *ops,
	      size_t count, size_t *got, struct error *error);

/* For "%.*s" in such a message: enough of a field to recognise it. */
int field_shown(const struct field *field);

/* As an op keeps it: from four thousand million lines on, nowhere. */
static inline uint32_t row_line_kept(const struct row *row)
{
	return row->line <= UINT32_MAX ? (uint32_t)row->line : 0;
}

#endif
