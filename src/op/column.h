/*
 * column: many numbers of one meaning, packed small
 *
 * The native trace keeps each field of its ops in a column of its own, since a column is regular
 * where a row is not. How one is packed is found out by trying: plain numbers or the differences
 * between neighbours, divided by what all have in common (offsets are multiples of 4096), as
 * variable-length bytes or cut into byte planes (all lowest bytes, then all second ones, ...), each
 * piece through zstd; the shortest wins. src/op/README.md has the layout to the byte.
 */
#ifndef REFAULT_OP_COLUMN_H
#define REFAULT_OP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

enum { COLUMN_COUNT_MAX = 2 * 65536 }; /* numbers in one column */

/* How numbers are to be understood. */
enum column_meaning {
	COLUMN_UNSIGNED, /* as they are */
	COLUMN_SIGNED,   /* two's complement: small negative ones are near 0 */
};

struct column_writer; /* opaque: compressor and scratch memory */

struct column_bytes {
	ARRAY(unsigned char) packed;
};

struct column_writer *column_writer_create(void);
void column_writer_destroy(struct column_writer *writer);

/* Append `count` numbers, packed, to `to`. Nothing at all if `count` is 0. */
void column_put(struct column_writer *writer, struct column_bytes *to, const uint64_t *numbers,
		size_t count, enum column_meaning meaning);

/* Append `bytes` bytes, packed. Nothing at all if `bytes` is 0. */
void column_put_bytes(struct column_writer *writer, struct column_bytes *to,
		      const unsigned char *from, size_t bytes);

void column_append(struct column_bytes *to, const void *from, size_t bytes);

struct column_reader; /* opaque */

struct column_reader *column_reader_create(void);
void column_reader_destroy(struct column_reader *reader);

/* What is still to be read. The getters move `at` on; they never look beyond `end`. */
struct column_cursor {
	const unsigned char *at;
	const unsigned char *end;
};

/* Read what column_put() wrote for `count` numbers. False: this is not it. */
bool column_get(struct column_reader *reader, struct column_cursor *cursor, uint64_t *numbers,
		size_t count);

bool column_get_bytes(struct column_reader *reader, struct column_cursor *cursor, unsigned char *to,
		      size_t bytes);

#endif
