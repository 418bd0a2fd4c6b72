/*
 * new_files: a file that is written anew from its start is a new one
 *
 * Idea       Overwriting a file that has gone cold in small pieces reads it first, piece by piece. A new
 *            file has nothing to read.
 * Source     behaviour case C53; PostgreSQL's wal_recycle
 * Differs    The file is cut to nothing before the first write: what unlink() and creat() of one that
 *            nobody has open come to.
 */
#include "base/size.h"
#include "study/remedy.h"

extern const struct remedy remedy_new_files;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	const struct remedy_target *it = &facts->targets[target];

	/* Only who rewrites files from start to end, again and again, the last one perhaps not yet. */
	return it->rewrites_begun > 1 && it->rewrites_finished * 10 >= it->rewrites_begun * 8 &&
	       it->rewritten_reads == 0 && it->device_read_bytes > 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (edit->is_target && op_kind_is_write(op->kind) && op->offset == 0 &&
	    edit->size_bytes != UINT64_MAX && edit->size_bytes >= PAGE_BYTES)
		remedy_add(edit, op, OP_TRUNCATE, 0, 0);
	remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	(void)facts;
	(void)attempt;
	return remedy_text(advice, "unlink() the old file and open(O_CREAT) a new one instead of "
				   "writing over it (PostgreSQL 12: wal_recycle = off)");
}

const struct remedy remedy_new_files = {
	.id = "new-files",
	.summary = "files that are written anew from start to end are made anew",
	.risk = "blocks are allocated again each time: more metadata, and on fast devices more "
		"processor time",
	.ease = 95,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.edit = edit,
	.how = how,
	.what = "new files instead of old ones overwritten",
	.is_for_each = true,
	.suits = suits,
};
