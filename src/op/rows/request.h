/*
 * request: what a block device was asked for, as ops
 *
 * A block trace knows devices, not files: each device becomes one file, there from the start, as
 * large as the farthest request on it reaches, and each request a read or a write of it. What is
 * neither (discards, flushes), moves nothing (zero bytes), or failed is left out and counted. For
 * the readers in op/import/.
 *
 * Time stamps become ns since the first row. Rows out of order are kept in the file's order, at the
 * time of the row before. A clock of 32 bits may wrap. Both are counted.
 */
#ifndef REFAULT_OP_ROWS_REQUEST_H
#define REFAULT_OP_ROWS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "op/rows/rows.h"

struct op;

enum request_kind {
	REQUEST_READ,
	REQUEST_WRITE,
	REQUEST_DISCARD,
	REQUEST_FLUSH,
	REQUEST_OTHER, /* neither of these: a command that moves no data of a file */
};

struct request {
	enum request_kind kind;
	uint64_t stamp; /* ticks of the trace's clock */
	uint64_t offset, bytes;
	uint32_t path; /* the device's file */
	uint32_t thread;
	bool has_failed;
	bool has_response;
	uint64_t response_ns; /* from issue to completion */
};

/* A part of a reader's state; zeros are the beginning. */
struct requests {
	uint64_t tick_ns; /* of a stamp; set by the reader; 0: there are no stamps */
	bool may_wrap;    /* it may be a clock of 32 bits; set by the reader */
	bool any;
	uint64_t first, latest; /* stamps; latest with what wrapped */
	uint64_t wrapped;       /* to add to a stamp: so often 2^32 */
};

/*
 * Turn a request into an op. *is_op false: there is nothing to carry out, which is counted. Fails
 * (ERROR_INPUT, at `row`; NULL: at no line, for records) on what cannot be: an end beyond 2^63.
 */
bool request_read(struct import *import, struct requests *requests, const struct request *request,
		  const struct row *row, struct op *op, bool *is_op, struct error *error);

/* Only the time of such a row, in ns since the first. False: it is beyond what an op can say. */
bool request_time(struct import *import, struct requests *requests, uint64_t stamp, uint64_t line,
		  uint64_t *time_ns);

/* The file of a device: `prefix` and its name in the trace. 0 bytes, or a NUL in it: false. */
bool request_path(struct import *import, const char *prefix, const struct field *name,
		  uint32_t *path);

#endif
