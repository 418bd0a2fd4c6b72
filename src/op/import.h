/*
 * import: the shelf of trace formats
 *
 * A format is one file in op/import/ with one constant `struct import_format format_NAME`, and one
 * line in op/import/formats.def. op/import/csv.c is the whole example. A reader turns the input's
 * bytes into ops and is otherwise alone: opening, unpacking, `lenient` at the end of a cut-off
 * file, and holding errors back until the good ops before them are delivered, are op/trace.c's
 * business.
 */
#ifndef REFAULT_OP_IMPORT_H
#define REFAULT_OP_IMPORT_H

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
	IMPORT_LIKELY,  /* no magic number, but everything fits */
	IMPORT_YES,     /* it says so itself */
};

/* What every reader works on. */
struct import {
	struct op_source source; /* `paths` is there; readers intern into it */
	const struct import_format *format;
	struct input *input;
	bool lenient;
	uint64_t skipped; /* wrong rows that `lenient` left out: the reader counts */
	void *state;      /* the reader's own, state_bytes long, zeroed */

	/* What the file tells of itself, see trace_facts(); the reader's, till it ends. NULL: nothing. */
	const char *facts;

	/* The rest belongs to trace.c. */
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

	/* Read and check the header. May be NULL. */
	bool (*begin)(struct import *import, struct error *error);

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
 * Is this text, as far as one can see? No control bytes but tab, line ends, and a few. For match
 * functions.
 */
bool import_is_text(const unsigned char *head, size_t bytes);

/* The registry (op/import/registry.c): NULL after the last. */
const struct import_format *import_format_at(size_t index);

#endif
