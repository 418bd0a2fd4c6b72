/*
 * oracleGeneral: the binary traces of libCacheSim
 *
 *     24 bytes a record, little-endian, no header: u32 time in s | u64 object id | u32 size in
 *     bytes | i64 number of the next request to the same object, -1: none
 *
 * Idea       an object becomes a page: a record is a read of 4096 bytes at id * 4096 of the file
 *            "objects". So a cache of N pages is a cache of N objects, and published miss counts
 *            can be compared.
 * Differs    1. sizes and the look into the future are checked and then left out; 2. ids from 2^51
 *            on, which would lie beyond the end of any file (2^63), go to "objects+N", N = id >>
 *            51; 3. records out of order keep their place, at the time of the one before.
 * Source     libCacheSim, libCacheSim/traceReader/customizedReader/oracle/oracleGeneralBin.h
 */
#include "op/import.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/rows/request.h"

enum { RECORD_BYTES = 24, FILE_ID_BITS = 51, BATCH_BYTES = 64 * 1024 };

static_assert(FILE_ID_BITS + PAGE_SHIFT == 63, "the last page ends at OP_END_MAX");

struct oraclegeneral {
	struct requests requests; /* for its clock */
	uint64_t count;           /* records read */
	uint64_t file;            /* id >> FILE_ID_BITS of the last one */
	uint32_t path;            /* and its path */
	bool any;
	uint32_t time_s; /* of the last record, and what was made of it */
	uint64_t time_ns;
};

struct record {
	uint32_t time_s;
	uint64_t id;
	uint32_t size;
	int64_t next;
};

static inline struct record record_at(const unsigned char *at)
{
	uint32_t time_s, size;
	uint64_t id, next;

	memcpy(&time_s, at, 4);
	memcpy(&id, at + 4, 8);
	memcpy(&size, at + 12, 4);
	memcpy(&next, at + 16, 8);
	return (struct record){
		.time_s = le32toh(time_s),
		.id = le64toh(id),
		.size = le32toh(size),
		.next = (int64_t)le64toh(next),
	};
}

/*
 * There is no magic number, so every record in sight must make sense: the time never goes back nor
 * leaps a year, no object is larger than 1 GiB, and the next request to it comes later in the file
 * than this one.
 */
static enum import_match oraclegeneral_match(const unsigned char *head, size_t bytes, bool whole)
{
	const uint32_t leap_s = 366 * 24 * 3600;
	size_t count = bytes / RECORD_BYTES;
	uint32_t time_s = 0;

	if (count == 0 || (count < 2 && !whole) || import_is_text(head, bytes))
		return IMPORT_NO;
	for (size_t i = 0; i < count; i++) {
		struct record record = record_at(head + i * RECORD_BYTES);

		if (i && (record.time_s < time_s || record.time_s - time_s > leap_s))
			return IMPORT_NO;
		if (record.size == 0 || record.size > GIB)
			return IMPORT_NO;
		/* Some write the largest number for none. */
		if (record.next != -1 && record.next != INT64_MAX &&
		    (record.next <= (int64_t)i || record.next >> 40))
			return IMPORT_NO;
		time_s = record.time_s;
	}
	return count < 4 ? IMPORT_PERHAPS : IMPORT_LIKELY;
}

static __attribute__((noinline)) uint32_t path_of_other(struct import *import, uint64_t file)
{
	struct oraclegeneral *state = import->state;
	char text[32];

	if (file)
		snprintf(text, sizeof(text), "objects+%" PRIu64, file);
	else
		snprintf(text, sizeof(text), "objects");
	state->any = true;
	state->file = file;
	state->path = path_intern(import->source.paths, text, strlen(text));
	return state->path;
}

static inline uint32_t path_of(struct import *import, uint64_t file)
{
	const struct oraclegeneral *state = import->state;

	return state->any && state->file == file ? state->path : path_of_other(import, file);
}

static inline void record_read(struct import *import, struct op *op)
{
	struct oraclegeneral *state = import->state;
	struct record record = record_at(import->input->at);
	uint64_t time_ns;

	state->count++;
	import->input->at += RECORD_BYTES;
	/* Many records to a second. */
	if (state->count > 1 && record.time_s == state->time_s) {
		time_ns = state->time_ns;
	} else {
		(void)request_time(import, &state->requests, record.time_s, 0, &time_ns);
		state->time_s = record.time_s;
		state->time_ns = time_ns;
	}
	*op = (struct op){
		.time_ns = time_ns,
		.offset = (record.id & ((UINT64_C(1) << FILE_ID_BITS) - 1)) << PAGE_SHIFT,
		.bytes = PAGE_BYTES,
		.path = path_of(import, record.id >> FILE_ID_BITS),
		.kind = OP_READ,
	};
}

static bool oraclegeneral_begin(struct import *import, struct error *error)
{
	struct oraclegeneral *state = import->state;

	(void)error;
	/* Seconds, which many of these traces count from 0. */
	state->requests = (struct requests){.tick_ns = NS_PER_SECOND, .any = true};
	return true;
}

static bool oraclegeneral_next(struct import *import, struct op *ops, size_t count, size_t *got,
			       struct error *error)
{
	struct oraclegeneral *state = import->state;
	struct input *input = import->input;
	char count_text[2 * SIZE_TEXT_BYTES];

	*got = 0;
	while (*got < count) {
		if (input_visible(input) < RECORD_BYTES && !input->last &&
		    !input_fill(input, BATCH_BYTES, error) && input_visible(input) < RECORD_BYTES)
			return false;
		if (input_visible(input) == 0)
			return true;
		if (input_visible(input) < RECORD_BYTES) {
			input->cut_off = true;
			return error_at(error, input->name, 0, 0,
					"cut off after %s records: %zu of the next one's %d bytes "
					"are there",
					count_format(count_text, state->count),
					input_visible(input), RECORD_BYTES);
		}
		do {
			record_read(import, &ops[*got]);
			import->rows++;
			++*got;
		} while (*got < count && input_visible(input) >= RECORD_BYTES);
	}
	return true;
}

const struct import_format format_oraclegeneral = {
	.about = {.name = "oracleGeneral",
		  .summary = "libCacheSim's binary format; an object is a page",
		  .is_objects = true},
	.state_bytes = sizeof(struct oraclegeneral),
	.match = oraclegeneral_match,
	.begin = oraclegeneral_begin,
	.next = oraclegeneral_next,
};
