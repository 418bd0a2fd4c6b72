/*
 * no_willneed: an existing FADV_WILLNEED less
 *
 * Idea       What is brought in early takes the place of what is in use, and may be gone again before it is asked for.
 * Source     Linux mm/fadvise.c, generic_fadvise(); docs/lint.md (willneed)
 */
#include "study/remedy.h"

extern const struct remedy remedy_no_willneed;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return facts->targets[target].willneeds > 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (!edit->is_target || !(op->kind == OP_FADVISE_WILLNEED))
		remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	return remedy_text(advice, "leave out POSIX_FADV_WILLNEED (readahead(2)) on %s",
			   remedy_target_names(advice, facts, attempt->targets));
}

const struct remedy remedy_no_willneed = {
	.id = "no-willneed",
	.summary = "an existing FADV_WILLNEED is left out",
	.risk = "who reads waits for what would have been there",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.edit = edit,
	.how = how,
	.what = "no WILLNEED on it",
	.is_for_each = true,
	.suits = suits,
};
