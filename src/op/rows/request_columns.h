/*
 * request_columns: texts that have a request in each row, each of its parts in a column
 *
 * Most block traces are such texts; they differ in which column is what, and in what units. A
 * format says that in a `struct request_columns` (op/import/msr.c is the whole example), and these
 * functions do the rest: recognise, read, and say what is wrong. A user says it with --columns, and
 * gets the same.
 */
#ifndef REFAULT_OP_ROWS_REQUEST_COLUMNS_H
#define REFAULT_OP_ROWS_REQUEST_COLUMNS_H

#include "op/import.h"
#include "op/rows/request.h"

enum request_column {
	COLUMN_TIME,
	COLUMN_RESPONSE, /* how long it took */
	COLUMN_OP,
	COLUMN_OFFSET,
	COLUMN_BYTES,
	COLUMN_DEVICE,
	COLUMN_DEVICE_TOO, /* a second part of its name */
	COLUMN_THREAD,
	COLUMN_COUNT,
};

enum { COLUMN_PLACE_MAX = 64 };

struct request_columns {
	/* ' ': blanks and tabs; else that one; 0: a comma, a semicolon or a tab, as the first row */
	char separator;
	bool may_be_blanks;          /* 0 may also turn out to be those */
	uint8_t place[COLUMN_COUNT]; /* 1 is the first; 0: there is none */
	uint8_t least, most;         /* so many columns has a row; most 0: or more */
	uint64_t time_unit_ns;       /* of a whole number in the time's column */
	uint64_t time_tick_ns;       /* what a stamp is counted in: the unit, or 1 with decimals */
	uint64_t response_unit_ns;
	uint64_t offset_unit_bytes, bytes_unit_bytes;
	uint64_t bytes_fixed; /* without a column for it */
	/* Words of the op's column: "r|read"; ignored if `op_bit_reads`. No column: all are reads. */
	const char *reads, *writes;
	bool op_bit_reads;    /* a hexadecimal number: bit 0 set is a read, else a write */
	const char *device;   /* put before its name; without a column for it: its name */
	const char *header;   /* in any case; NULL: the format has none */
	bool first_is_header; /* whatever it holds */
	/* A row with such a byte anywhere is none ("*"); NULL: nothing. */
	const char *comments;
};

/* A reader's state, its first member. */
struct request_reader {
	struct request_columns columns;
	struct rows rows;
	struct requests requests;
	char separator;
	bool header_seen;
	bool has_begun; /* a row was read: no header comes any more */
	uint32_t path;  /* of the last row's device */
	unsigned char device[256];
	size_t device_bytes; /* and one more; 0: not known */
};

/* Begin with these columns. */
void request_columns_begin(struct import *import, const struct request_columns *columns);

/* import_format.next of such a format. */
bool request_columns_next(struct import *import, struct op *ops, size_t count, size_t *got,
			  struct error *error);

/*
 * import_format.match: do the first rows look like it? IMPORT_LIKELY if three quarters of those in
 * sight do, IMPORT_RATHER if the first does, IMPORT_YES if the header stands before them.
 */
enum import_match request_columns_match(const struct request_columns *columns,
					const unsigned char *head, size_t bytes, bool whole);

#endif
