/*
 * trace: files of ops, ours and other people's
 *
 * trace_open() recognises what a file is by its contents: the native format, the op CSV, oracleGeneral; each plain or compressed
 * (zstd, gzip, xz). Adding a foreign format is one file in op/import/ and one line in op/import/formats.def.
 */
#ifndef REFAULT_OP_TRACE_H
#define REFAULT_OP_TRACE_H

#include "op/source.h"

struct trace_options {
	const char *format; /* NULL: recognise */
	bool lenient;	    /* skip wrong rows, count them (op_source.skipped via trace_skipped()) */
};

/* Open for reading. NULL: failed, and `error` says why. "-" is standard input. Free with op_source_destroy(). */
struct op_source *trace_open(const char *path, const struct trace_options *options, struct error *error);

/* Rows skipped by `lenient` so far. */
uint64_t trace_skipped(const struct op_source *source);

struct trace_writer; /* opaque */

/*
 * Write the native format to `path`: written beside it and renamed when closed, so that nothing is ever half-written.
 * Ops of one file must come in non-decreasing time order.
 */
struct trace_writer *trace_writer_create(const char *path, struct error *error);
bool trace_write(struct trace_writer *writer, const struct op_source *source, const struct op *ops,
		 size_t count, struct error *error);
bool trace_writer_close(struct trace_writer *writer, struct error *error); /* frees it, also on failure */
void trace_writer_abandon(struct trace_writer *writer);			   /* nothing is left behind */

/* For each known format, in order; NULL after the last. */
struct trace_format {
	const char *name;
	const char *summary; /* one line */
};
const struct trace_format *trace_format_at(size_t index);

#endif
