/*
 * dontcache: reads and writes with RWF_DONTCACHE
 *
 * Idea       Through the page cache, without staying: what the call brought in itself is dropped when it
 *            is done, what was there before stays.
 * Source     Linux mm/filemap.c, filemap_read(), FGP_DONTCACHE; docs/operations.md says which file systems
 *            know it since when (switch dontcache); behaviour cases C01, C04
 */
#include "study/remedy.h"

#include <string.h>

extern const struct remedy remedy_dontcache;

/* The words of the switch: none|xfs|all, which leaves out btrfs and zfs. */
static bool is_known(const struct model_options *model)
{
	const char *name = filesystem_name(model->filesystem);
	uint32_t value = model->policy.switches.value[SWITCH_dontcache];

	return value == 2 ? strncmp(name, "btrfs", 5) != 0 && strcmp(name, "zfs") != 0
			  : value == 1 && strcmp(name, "xfs") == 0;
}

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return remedy_is_to_blame(facts, target) &&
	       facts->targets[target].reads + facts->targets[target].writes > 0;
}

static void propose(struct remedy_proposals *proposals)
{
	if (is_known(proposals->facts->model))
		remedy_propose_targets(proposals);
	else
		remedy_leave_out(proposals, "this kernel and file system do not know RWF_DONTCACHE "
					    "(XFS: Linux 6.16, ext4: 6.17)");
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (edit->is_target && op->kind == OP_READ)
		remedy_keep_as(edit, op, OP_READ_DONTCACHE);
	else if (edit->is_target && op->kind == OP_WRITE)
		remedy_keep_as(edit, op, OP_WRITE_DONTCACHE);
	else
		remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	bool reads = false, writes = false;

	for (size_t i = 0; i < facts->target_count; i++) {
		reads |= (attempt->targets >> i & 1) && facts->targets[i].reads > 0;
		writes |= (attempt->targets >> i & 1) && facts->targets[i].writes > 0;
	}
	return remedy_text(advice, "%s%s%s",
			   reads ? "preadv2(fd, iov, n, offset, RWF_DONTCACHE)" : "",
			   reads && writes ? ", " : "",
			   writes ? "pwritev2(fd, iov, n, offset, RWF_DONTCACHE)" : "");
}

const struct remedy remedy_dontcache = {
	.id = "dontcache",
	.summary = "reads and writes with RWF_DONTCACHE",
	.since = "Linux 6.14 (XFS 6.16, ext4 6.17)",
	.risk = "EOPNOTSUPP elsewhere: fall back to a plain call",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = propose,
	.edit = edit,
	.how = how,
	.what = "RWF_DONTCACHE",
	.is_for_each = true,
	.suits = suits,
};
