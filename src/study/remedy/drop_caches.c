/*
 * drop_caches: nobody writes to /proc/sys/vm/drop_caches
 *
 * Idea       What is dropped and was in use is read again; the memory would have been given up anyway as
 *            soon as somebody had needed it.
 * Source     Linux fs/drop_caches.c, Documentation/admin-guide/sysctl/vm.rst, which advises against it;
 *            behaviour case C59
 */
#include "study/remedy.h"

extern const struct remedy remedy_drop_caches;

static void propose(struct remedy_proposals *proposals)
{
	struct remedy_try *attempt;

	if (!proposals->facts->drop_caches) {
		remedy_leave_out(proposals, "nobody drops caches");
		return;
	}
	attempt = remedy_propose(proposals);
	attempt->title = "do not drop caches";
	attempt->how = "remove `echo N > /proc/sys/vm/drop_caches` from cron or the script";
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (op->kind != OP_DROP_CACHES)
		remedy_keep(edit, op);
}

const struct remedy remedy_drop_caches = {
	.id = "drop-caches",
	.summary = "what is written to drop_caches is not written",
	.risk = "none: what is clean goes when memory is needed",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = propose,
	.edit = edit,
};
