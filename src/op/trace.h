/*
 * trace: files of ops, ours and other people's
 *
 * trace_open() recognises what a file is by its contents: the native format, the op CSV,
 * oracleGeneral; each plain or compressed (zstd, gzip, xz). Adding a foreign format is one file in
 * op/import/ and one line in formats.def there.
 */
#ifndef REFAULT_OP_TRACE_H
#define REFAULT_OP_TRACE_H

#include "op/source.h"

struct trace_options {
	const char *format; /* NULL: recognise */
	bool lenient; /* skip wrong rows, and end quietly where a file is cut off; count both */
};

/*
 * Open for reading. NULL: failed, and `error` says why. "-" is standard input. Free with
 * op_source_destroy().
 */
struct op_source *trace_open(const char *path, const struct trace_options *options,
			     struct error *error);

/* What `lenient` skipped so far: wrong rows, and 1 if the file was cut off. 0 for other sources. */
uint64_t trace_skipped(const struct op_source *source);

struct trace_writer; /* opaque */

/*
 * Write the native format to `path`: written beside it and renamed when closed, so that nothing is
 * ever half-written. NULL if the file cannot be made there; `path` must lead to a regular file or
 * to nothing (ERROR_INPUT).
 */
struct trace_writer *trace_writer_create(const char *path, struct error *error);

/*
 * Add ops, all of the same `source`, whose path table their ids are from; streams and lines are not
 * kept. False: the disk failed, or an op goes back in time or ends beyond OP_END_MAX
 * (ERROR_FAILED); then only abandoning is left to do.
 */
bool trace_write(struct trace_writer *writer, const struct op_source *source, const struct op *ops,
		 size_t count, struct error *error);

/*
 * Bring it to disk under its name; frees it, also on failure, which leaves nothing behind. The
 * source may be gone.
 */
bool trace_writer_close(struct trace_writer *writer, struct error *error);

/* Nothing is left behind. NULL is fine. */
void trace_writer_abandon(struct trace_writer *writer);

/* For each known format, in order; NULL after the last. */
struct trace_format {
	const char *name;
	const char *summary; /* one line */
};
const struct trace_format *trace_format_at(size_t index);

#endif
