/*
 * trace: files of ops, ours and other people's
 *
 * trace_open() recognises what a file is by its contents: the native format, the op CSV, and
 * everybody else's (docs/traces.md); each plain or compressed (zstd, gzip, xz, bzip2). Adding a foreign format is one file in
 * op/import/ and one line in formats.def there.
 */
#ifndef REFAULT_OP_TRACE_H
#define REFAULT_OP_TRACE_H

#include "op/source.h"

struct trace_options {
	bool own_streams;   /* keep the streams that a native trace names; else its ops have none */
	const char *format; /* NULL: recognise */
	/*
	 * Skip wrong rows (but of a hundred not more than one), and end quietly where a file is cut
	 * off; count both.
	 */
	bool lenient;
	bool is_bare; /* nobody asks which files there were before the start: may save a reading */
	const char *columns; /* of a text: where they are ("offset=3,bytes=4"); NULL: not said */
	/*
	 * Called now and then while a trace that is read twice is read for the first time, within
	 * the first op_source_next(). NULL: nobody asks.
	 */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/*
 * Open for reading. NULL: failed, and `error` says why. "-" is standard input. Free with
 * op_source_destroy().
 */
struct op_source *trace_open(const char *path, const struct trace_options *options,
			     struct error *error);

/* How many wrong rows `lenient` skipped so far. 0 for other sources. */
uint64_t trace_skipped(const struct op_source *source);

/* Rows read so far that held something, the skipped ones among them; 0 for other sources. */
uint64_t trace_rows(const struct op_source *source);

/* From the earliest of all rows' time stamps to the latest; false: they have none. */
bool trace_span(const struct op_source *source, uint64_t *ns);

/* How long requests took, in ns, where the trace says it; NULL: it does not. */
const struct histogram *trace_responses(const struct op_source *source, bool of_writes);

/* What its reader has to say of a trace besides its ops, so far; all of it after the last op. */
struct trace_note {
	const char *key; /* for programs: "rows_out_of_order" */
	const char
		*text; /* for people: a sentence without its full stop; follows the count, if any */
	bool is_counted;
	uint64_t count;
	uint64_t line;   /* of the first one, 1-based; 0: nowhere */
	bool is_warning; /* to be told wherever the trace is used; else where it is summed up */

	const void *of; /* the reader's constant; NULL: a sentence of its own */
};
const struct trace_note *trace_note_at(const struct op_source *source, size_t index);

/* "3 rows are out of order (first in line 12)". Returns `text`. */
enum { TRACE_NOTE_BYTES = 600 };
const char *trace_note_format(char text[TRACE_NOTE_BYTES], const struct trace_note *note);

/* Has the file been found to end in the middle, so that `lenient` leaves out, or would, the rest? */
bool trace_is_cut_off(const struct op_source *source);

/* Does its format know files, or only objects, which a plain cache alone can look up? */
bool trace_has_files(const struct op_source *source);

/*
 * An op that nobody could carry out: `error` has its line, which a machine knows, and not yet what
 * stands there. Look for that line in the trace at `path` once more and fill in the place of its
 * path and the excerpt. Changes nothing if `path` is not a regular file any more, has no lines, or
 * is "-".
 */
void trace_excerpt(const char *path, struct error *error);

/*
 * What a trace tells of itself: lines of "key=value", each ended by a newline, sorted by nobody; ""
 * if it tells nothing. The source's. Some are there only when its last op was read.
 */
const char *trace_facts(const struct op_source *source);

/* The value of one of them, cut to fit. False: it does not tell. */
bool trace_fact(const struct op_source *source, const char *key, char *value, size_t bytes);

/*
 * Of how many pages that came into the page cache while it was recorded, how many belong to its ops.
 * False: it was not recorded, or none came.
 */
bool trace_coverage(const struct op_source *source, uint64_t *explained_pages,
		    uint64_t *inserted_pages);

struct trace_writer; /* opaque */

/*
 * Write the native format to `path`: in a file without a name, or beside it where the file system
 * knows no such thing, and put in place when closed, so that nothing is ever half-written. NULL if
 * the file cannot be made there; `path` must lead to a regular file or to nothing (ERROR_INPUT).
 */
struct trace_writer *trace_writer_create(const char *path, struct error *error);

/*
 * The file that would be left if the process died now, for a signal handler to unlink; NULL: none,
 * the file has no name. Belongs to the writer.
 */
const char *trace_writer_leftover(const struct trace_writer *writer);

/*
 * What is known of all the ops. A trace with stream names keeps the ops' streams, which are numbers of
 * these names.
 */
struct trace_head {
	const char *facts;         /* as trace_facts() returns them; NULL: none */
	char *const *stream_names; /* [0] unused; NULL: none */
	uint32_t stream_count;     /* including the unused 0 */
};

/* Before the first op, or not at all. False: the disk failed, or it is too much (ERROR_FAILED). */
bool trace_writer_head(struct trace_writer *writer, const struct trace_head *head,
		       struct error *error);

/*
 * Add ops, all of the same `source`, whose path table their ids are from; lines are not kept, nor
 * streams without names. False: the disk failed, or an op goes back in time or ends beyond OP_END_MAX
 * (ERROR_FAILED); then only abandoning is left to do.
 */
bool trace_write(struct trace_writer *writer, const struct op_source *source, const struct op *ops,
		 size_t count, struct error *error);

/*
 * Behind the last op, before closing, or not at all: facts that are known only now. Only of a trace
 * with a head, whose facts they continue.
 */
bool trace_writer_tail(struct trace_writer *writer, const char *facts, struct error *error);

/*
 * Bring it to disk under its name; frees it, also on failure, which leaves nothing behind. The
 * source may be gone.
 */
bool trace_writer_close(struct trace_writer *writer, struct error *error);

/*
 * The same, but the trace gets no name: it can be read as "/proc/self/fd/N", till that descriptor is
 * closed. -1: failed. Frees the writer, too.
 */
int trace_writer_close_nameless(struct trace_writer *writer, struct error *error);

/* Nothing is left behind. NULL is fine. */
void trace_writer_abandon(struct trace_writer *writer);

/* For each known format, in order; NULL after the last. */
struct trace_format {
	const char *name;
	const char *summary; /* one line */
	const char *alias;   /* another name it answers to; NULL: none */
	bool is_objects;     /* it knows objects, not files */
	bool takes_columns;  /* trace_options.columns means something to it */
};
const struct trace_format *trace_format_at(size_t index);

#endif
