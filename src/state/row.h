/*
 * row: a line of a dump, cut into its fields
 */
#ifndef REFAULT_STATE_ROW_H
#define REFAULT_STATE_ROW_H

#include "state/state.h"

struct field {
	const char *at; /* not ended by NUL */
	size_t bytes;
};

struct row {
	const char *file;
	uint64_t line;
	const char *text; /* trimmed, ended by NUL */
	size_t indent;    /* bytes that were before it in the line */
	const char *raw;  /* the line itself, for messages */
	size_t raw_bytes;
	bool is_cut_off; /* the file ends with it, without an end of line */
	/* what the heading above, or the file's name, says that follows; "": nothing */
	const char *called;
	struct field fields[ROW_FIELDS_MAX]; /* between blanks */
	size_t field_count;                  /* at most ROW_FIELDS_MAX: the rest is not cut */
};

/* Cut `line` (not ended by NUL). What is in the row points into it; `text` is to be set. */
void dump_row_cut(struct row *row, const char *line, size_t bytes);

bool word_is(const struct field *field, const char *text);
bool word_starts(const struct field *field, const char *text);

/* A whole number in decimal, nothing behind it, below 2^64. */
bool word_number(const struct field *field, uint64_t *value);

/* "12.34" in hundredths; "12" too. */
bool word_hundredths(const struct field *field, uint64_t *value);

/* A name as counters have: letters, digits, _ . and what parentheses hold. */
bool word_is_name(const struct field *field);

/* How a row's field is wrong: "found \"12x\", expected ...". Returns false. */
bool dump_row_wrong(const struct row *row, size_t field, const char *expected, struct error *error);

#endif
