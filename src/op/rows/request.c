#include "op/rows/request.h"

#include <inttypes.h>
#include <string.h>

#include "op/import.h"

/* Linux' block layer counts a request's sectors of 512 bytes in 32 bits. */
#define REQUEST_BYTES_MAX (UINT64_C(1) << 41)

/* A stamp this far back, in a clock that never went beyond 32 bits, has wrapped. */
#define WRAP_TICKS (UINT64_C(1) << 32)

static const struct import_remark out_of_order = {
	.key = "rows_out_of_order",
	.one = "row is out of order: kept where it stands, at the time of the row before it",
	.many = "rows are out of order: kept where they stand, each at the time of the row before "
		"it",
	.is_warning = true,
};

static const struct import_remark wraps = {
	.key = "clock_wraps",
	.one = "time the clock wrapped around at 2^32: time goes on",
	.many = "times the clock wrapped around at 2^32: time goes on",
};

static const struct import_remark empty = {
	.key = "empty_requests",
	.one = "request of 0 bytes was left out",
	.many = "requests of 0 bytes were left out",
	.is_warning = true,
};

static const struct import_remark failed = {
	.key = "failed_requests",
	.one = "request failed and was left out",
	.many = "requests failed and were left out",
	.is_warning = true,
};

static const struct import_remark discards = {
	.key = "discards",
	.one = "discard was left out: it neither reads nor writes",
	.many = "discards were left out: they neither read nor write",
	.is_warning = true,
};

static const struct import_remark discard_bytes = {
	.key = "discard_bytes",
	.one = "byte was discarded",
	.many = "bytes were discarded",
};

static const struct import_remark flushes = {
	.key = "flushes",
	.one = "flush of a device's cache was left out: it moves no data of a file",
	.many = "flushes of a device's cache were left out: they move no data of a file",
};

static const struct import_remark others = {
	.key = "other_requests",
	.one = "request that neither reads nor writes was left out",
	.many = "requests that neither read nor write were left out",
	.is_warning = true,
};

/* The stamp, if its clock had not wrapped as often as it did. */
static uint64_t stamp_unwrap(struct import *import, struct requests *requests, uint64_t stamp,
			     uint64_t line)
{
	uint64_t unwrapped = stamp + requests->wrapped;

	if (!requests->may_wrap || stamp >= WRAP_TICKS)
		return stamp;
	if (requests->wrapped && unwrapped > requests->latest &&
	    unwrapped - requests->latest > WRAP_TICKS / 2)
		return unwrapped - WRAP_TICKS; /* a row from before the last wrap */
	if (requests->latest - requests->wrapped < WRAP_TICKS && unwrapped < requests->latest &&
	    requests->latest - unwrapped > WRAP_TICKS / 2) {
		import_note(import, &wraps, 1, line);
		requests->wrapped += WRAP_TICKS;
		return unwrapped + WRAP_TICKS;
	}
	return unwrapped;
}

bool request_time(struct import *import, struct requests *requests, uint64_t stamp, uint64_t line,
		  uint64_t *time_ns)
{
	*time_ns = 0;
	if (requests->tick_ns == 0)
		return true;
	if (!requests->any) {
		requests->any = true;
		requests->first = requests->latest = stamp;
		import_stamp(import, 0);
		return true;
	}
	stamp = stamp_unwrap(import, requests, stamp, line);
	if (stamp < requests->latest) {
		import_note(import, &out_of_order, 1, line);
		if (stamp < requests->first) {
			uint64_t early;

			if (__builtin_mul_overflow(requests->first - stamp, requests->tick_ns,
						   &early))
				return false;
			import_early(import, early);
		}
		stamp = requests->latest;
	}
	if (__builtin_mul_overflow(stamp - requests->first, requests->tick_ns, time_ns) ||
	    *time_ns > OP_TIME_MAX)
		return false;
	requests->latest = stamp;
	import_stamp(import, *time_ns);
	return true;
}

static bool is_left_out(struct import *import, const struct request *request, uint64_t line)
{
	switch (request->kind) {
	case REQUEST_READ:
	case REQUEST_WRITE:
		if (request->has_failed)
			import_note(import, &failed, 1, line);
		else if (request->bytes == 0)
			import_note(import, &empty, 1, line);
		else
			return false;
		return true;
	case REQUEST_DISCARD:
		import_note(import, &discards, 1, line);
		import_note(import, &discard_bytes, request->bytes, line);
		return true;
	case REQUEST_FLUSH:
		import_note(import, &flushes, 1, line);
		return true;
	case REQUEST_OTHER:
		break;
	}
	import_note(import, &others, 1, line);
	return true;
}

static bool request_wrong(const struct import *import, const struct row *row, struct error *error,
			  const char *what)
{
	if (row)
		return row_wrong(import, row, NULL, error, "%s", what);
	return error_at(error, import->input->name, 0, 0, "record %" PRIu64 ": %s",
			import->rows + 1, what);
}

bool request_read(struct import *import, struct requests *requests, const struct request *request,
		  const struct row *row, struct op *op, bool *is_op, struct error *error)
{
	uint64_t line = row ? row->line : 0, time_ns;

	*is_op = false;
	if (request->bytes > REQUEST_BYTES_MAX && request->kind != REQUEST_DISCARD)
		return request_wrong(import, row, error,
				     "its size is more than 2 TiB, which no request has");
	if (request->offset > OP_END_MAX || request->bytes > OP_END_MAX - request->offset)
		return request_wrong(import, row, error,
				     "offset and bytes together go beyond 2^63");
	if (!request_time(import, requests, request->stamp, line, &time_ns))
		return request_wrong(import, row, error,
				     "its time is more than 292 years from the first row's");
	if (is_left_out(import, request, line))
		return true;
	*op = (struct op){
		.time_ns = time_ns,
		.offset = request->offset,
		.bytes = request->bytes,
		.path = request->path,
		.thread = request->thread,
		.line = row ? row_line_kept(row) : 0,
		.kind = request->kind == REQUEST_READ ? OP_READ : OP_WRITE,
	};
	import_file_found(import, op->path, op->offset + op->bytes);
	if (request->has_response)
		import_response(import, request->kind == REQUEST_WRITE, request->response_ns);
	*is_op = true;
	return true;
}

bool request_path(struct import *import, const char *prefix, const struct field *name,
		  uint32_t *path)
{
	char text[PATH_BYTES_MAX];
	size_t bytes = strlen(prefix);

	if (name->bytes == 0 || bytes + name->bytes > sizeof(text) ||
	    memchr(name->at, '\0', name->bytes))
		return false;
	memcpy(text, prefix, bytes);
	memcpy(text + bytes, name->at, name->bytes);
	*path = path_intern(import->source.paths, text, bytes + name->bytes);
	return true;
}
