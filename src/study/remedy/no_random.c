/*
 * no_random: an existing FADV_RANDOM or MADV_RANDOM less
 *
 * Idea       Advice that nothing be read ahead is for reads at random: who gives it and goes on in order has a request
 *            for each of its reads, and waits for each.
 * Source     Linux mm/readahead.c, page_cache_sync_ra(): FMODE_RANDOM; mm/filemap.c, do_sync_mmap_readahead(): VM_RAND_READ
 */
#include "study/remedy.h"

extern const struct remedy remedy_no_random;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return facts->targets[target].randoms > 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (!edit->is_target || !(op->kind == OP_FADVISE_RANDOM || op->kind == OP_MADVISE_RANDOM))
		remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	return remedy_text(advice, "leave out POSIX_FADV_RANDOM and MADV_RANDOM on %s",
			   remedy_target_names(advice, facts, attempt->targets));
}

const struct remedy remedy_no_random = {
	.id = "no-random",
	.summary = "an existing FADV_RANDOM or MADV_RANDOM is left out",
	.risk = "reads at random bring in what nobody asks for",
	.ease = 100,
	.touches = "readahead",
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.edit = edit,
	.how = how,
	.what = "no RANDOM on it",
	.is_for_each = true,
	.suits = suits,
};
