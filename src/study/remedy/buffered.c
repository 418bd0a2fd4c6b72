/*
 * buffered: plain reads and writes instead of O_DIRECT or RWF_DONTCACHE
 *
 * Idea       What goes past the cache, or does not stay in it, comes from the device each time it is asked for, and nothing
 *            is read ahead of it: that pays for what is used once only.
 * Source     open(2); Linux mm/filemap.c, FGP_DONTCACHE
 */
#include "study/remedy.h"

extern const struct remedy remedy_buffered;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return facts->targets[target].past_cache > 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (edit->is_target && (op->kind == OP_READ_DIRECT || op->kind == OP_READ_DONTCACHE))
		remedy_keep_as(edit, op, OP_READ);
	else if (edit->is_target && (op->kind == OP_WRITE_DIRECT || op->kind == OP_WRITE_DONTCACHE))
		remedy_keep_as(edit, op, OP_WRITE);
	else
		remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	return remedy_text(advice, "read() and write() without O_DIRECT and RWF_DONTCACHE for %s",
			   remedy_target_names(advice, facts, attempt->targets));
}

const struct remedy remedy_buffered = {
	.id = "buffered",
	.summary = "plain reads and writes instead of O_DIRECT or RWF_DONTCACHE",
	.risk = "it takes memory from others, and what is written is not on the device before a "
		"sync",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.edit = edit,
	.how = how,
	.what = "buffered reads and writes",
	.is_for_each = true,
	.suits = suits,
};
