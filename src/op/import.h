/*
 * import: the shelf of trace formats
 *
 * A format is one file in op/import/ with one constant `struct import_format format_NAME`, and one
 * line in op/import/formats.def. op/import/csv.c is the whole example. A reader turns the input's
 * bytes into ops and is otherwise alone: opening, unpacking, `lenient` at the end of a cut-off
 * file, deciding how many wrong rows are too many, and holding errors back until the good ops
 * before them are delivered, are op/trace.c's business.
 *
 * Besides ops a reader has three things to tell, by the functions below: that a row is wrong
 * (import_row_wrong), what must be known of the whole before its ops are believed (import_note,
 * import_remark), and that a file was there before the start (import_file_found).
 */
#ifndef REFAULT_OP_IMPORT_H
#define REFAULT_OP_IMPORT_H

#include "base/array.h"
#include "base/histogram.h"
#include "op/input.h"
#include "op/path.h"
#include "op/source.h"
#include "op/trace.h"

/*
 * How sure a format is that the file is its own. The surest wins; among equals the first in
 * formats.def.
 */
enum import_match {
	IMPORT_NO,
	IMPORT_PERHAPS, /* could be, and would make a better error message than "unknown format" */
	IMPORT_RATHER,  /* its first row fits, too few of the others: one of them will be named */
	IMPORT_LIKELY,  /* no magic number, but everything fits */
	IMPORT_YES,     /* it says so itself */
};

/*
 * How often a file is read, from its beginning to its end. Twice: the first reading delivers nothing and learns which files were
 * there before the start and how large (import_file_found); trace.c then puts their `exists` in
 * front of the ops of the second. What cannot be read twice (a pipe) is kept in a temporary file
 * meanwhile.
 */
enum import_readings {
	IMPORT_ONCE,            /* it has its own `exists`, or knows no files */
	IMPORT_TWICE_FOR_FILES, /* not for a plain cache (trace_options.is_bare), which needs none */
	IMPORT_TWICE, /* the reader itself must have seen the whole (`again`): notes are the second's */
};

struct file_set; /* op/file_set.h */

/* What every reader works on. */
struct import {
	struct op_source source; /* `paths` is there; readers intern into it */
	const struct import_format *format;
	struct input *input;
	struct file_set *files; /* several files that are one trace; NULL: `input` is all */
	const char *columns;    /* where the user says the columns are; NULL: nothing said */
	bool own_streams;       /* asked for: those that the file names itself */
	bool lenient;
	/*
	 * Rows that hold something, wrong ones among them: not headers, comments, empty lines. The
	 * reader counts the good ones, import_row_wrong() the others.
	 */
	uint64_t rows;
	bool is_second; /* reading: import_file_found() is of no use any more */
	void *state;    /* the reader's own, state_bytes long, zeroed */

	/* What the file tells of itself, see trace_facts(); the reader's, till it ends. NULL: nothing. */
	const char *facts;

	/* The rest belongs to trace.c. */
	uint64_t skipped; /* wrong rows that `lenient` left out */
	ARRAY(struct trace_note) notes;
	struct arena note_texts;
	struct histogram responses[2]; /* of reads, of writes: ns */
	bool has_stamps;
	uint64_t stamp_first_ns, stamp_last_ns, early_ns;
	uint32_t remark_count;
	struct error wrong;    /* the first row that was left out */
	ARRAY(uint64_t) found; /* by path: bytes + 1; 0: not found to be there before */
	uint32_t found_path;   /* the next one whose `exists` is due */
	bool is_bare;
	uint64_t first_rows; /* of the first reading, in the second */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	uint64_t delivered; /* ops */
	bool ended;
	struct error failure; /* kind ERROR_NONE: none yet */
};

struct import_format {
	struct trace_format about;
	size_t state_bytes;

	/*
	 * Look at the first bytes of a file, unpacked; at most IMPORT_HEAD_BYTES; `whole`: there
	 * are no others.
	 */
	enum import_match (*match)(const unsigned char *head, size_t bytes, bool whole);

	enum import_readings readings;
	bool reads_sets; /* and cares for import->files itself */

	/* Read and check the header. May be NULL. */
	bool (*begin)(struct import *import, struct error *error);

	/*
	 * The second reading begins: instead of end() and begin() with a zeroed state, for a reader
	 * that keeps what it has learned. May be NULL.
	 */
	bool (*again)(struct import *import, struct error *error);

	/*
	 * At most `count` ops; *got 0 at the end. When false, the *got ops before the mistake are
	 * good. Every op holds what op.h promises: times that never go back, offset + bytes <=
	 * OP_END_MAX, ids of paths that exist.
	 */
	bool (*next)(struct import *import, struct op *ops, size_t count, size_t *got,
		     struct error *error);

	void (*end)(struct import *import); /* frees what `state` owns; may be NULL */
};

enum { IMPORT_HEAD_BYTES = 4096 };

/*
 * The row at hand cannot be read; `error` says why, and its line. True: leave it out and go on
 * behind it (the user said --lenient; it is counted and will be told). False: fail with `error`,
 * which may have become another: too many rows are wrong.
 */
bool import_row_wrong(struct import *import, struct error *error);

/*
 * What a reader may have to say, with a count: "3 " and `many`, or "1 " and `one`. Without `many`:
 * the sentence is `one`, and there is nothing to count ("times are read as microseconds"). A
 * constant of the reader's; no full stop.
 */
struct import_remark {
	const char *key; /* for programs: "rows_out_of_order", "failed_calls" */
	const char *one, *many;
	/* the figures mean something else than they seem to: told wherever the trace is used */
	bool is_warning;
};

/*
 * Add `count` to a remark (0: to have it said that there were none, in the summary and in JSON).
 * `line` of the first is kept; 0: nowhere. Cheap enough for every row.
 */
void import_note(struct import *import, const struct import_remark *remark, uint64_t count,
		 uint64_t line);

/* The last line has no end and makes no sense: the file was cut off there, and no row is wrong. */
extern const struct import_remark import_last_line_cut;

/* A sentence of its own, about one place; of the first hundred all are kept, then some are left out. */
void import_remark(struct import *import, const char *key, bool is_warning, uint64_t line,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* `of` of a note that came with the trace itself, as one of its facts (op/carried.h). */
extern const struct import_remark import_carried;
/* Such a one; its key and text are copied. Of more than can be, the rest is dropped. */
void import_carry(struct import *import, const struct trace_note *note);

/* A row has this time stamp, in ns on any clock (import_early: so long before the first one's). */
void import_stamp(struct import *import, uint64_t stamp_ns);
void import_early(struct import *import, uint64_t ns);

/* How long a request took, from issue to completion, where the trace says it. */
void import_response(struct import *import, bool is_write, uint64_t ns);

/* It shows that this file was there before the start, and had at least so many bytes then. */
static inline void import_file_found(struct import *import, uint32_t path, uint64_t bytes)
{
	while (import->found.count <= path)
		*array_push(&import->found) = 0;
	if (import->found.at[path] <= bytes)
		import->found.at[path] = bytes + 1;
}

/*
 * Is this text, as far as one can see? No control bytes but tab, line ends, and a few. For match
 * functions.
 */
bool import_is_text(const unsigned char *head, size_t bytes);

/* For trace.c: fills in the error that too many rows are wrong, with the first; returns false. */
bool import_too_many_wrong(struct import *import, struct error *error);
void import_notes_deinit(struct import *import);

/* The registry (op/import/registry.c): NULL after the last. */
const struct import_format *import_format_at(size_t index);

#endif
