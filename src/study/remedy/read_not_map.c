/*
 * read_not_map: read() instead of a mapping
 *
 * Idea       A page of a mapping starts with its accessed bit set, and gets another trip round the inactive
 *            list for it. One that was read does not: a stream leaves what is hot alone.
 * Source     Linux mm/vmscan.c, folio_check_references(); behaviour case C57
 */
#include "study/remedy.h"

extern const struct remedy remedy_read_not_map;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return remedy_is_to_blame(facts, target) && facts->targets[target].mapped_reads > 0 &&
	       facts->targets[target].mapped_writes == 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (edit->is_target && op->kind == OP_MMAP_READ)
		remedy_keep_as(edit, op, OP_READ);
	else
		remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	return remedy_text(advice, "pread() into a buffer instead of mmap() for %s",
			   remedy_target_names(advice, facts, attempt->targets));
}

const struct remedy remedy_read_not_map = {
	.id = "read-not-mmap",
	.summary = "read() instead of a mapping",
	.risk = "a copy of each page",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.edit = edit,
	.how = how,
	.what = "read() instead of mmap()",
	.is_for_each = true,
	.suits = suits,
};
