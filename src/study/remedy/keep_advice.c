/*
 * keep_advice: a DONTNEED less
 *
 * Idea       DONTNEED is the file's, not the reader's: who gives it on files that others keep hot throws
 *            out what they are about to use.
 * Source     Linux mm/fadvise.c, generic_fadvise(); behaviour case C01
 */
#include "study/remedy.h"

extern const struct remedy remedy_keep_advice;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return facts->targets[target].dontneeds > 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (op->kind != OP_FADVISE_DONTNEED || !edit->is_target)
		remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	return remedy_text(
		advice,
		"leave out posix_fadvise(fd, ..., POSIX_FADV_DONTNEED) on %s, or give it "
		"only on what was not in memory before (mincore(2), cachestat(2))",
		remedy_target_names(advice, facts, attempt->targets));
}

const struct remedy remedy_keep_advice = {
	.id = "no-dontneed",
	.summary = "an existing DONTNEED is left out",
	.risk = "what nobody uses again stays in memory for a while",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.edit = edit,
	.how = how,
	.what = "no DONTNEED on it",
	.is_for_each = true,
	.suits = suits,
};
