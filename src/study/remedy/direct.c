/*
 * direct: O_DIRECT reads and writes
 *
 * Idea       Past the page cache altogether: nothing is kept, nothing is read ahead, nothing is pushed out.
 * Source     open(2); docs/operations.md; behaviour case C04
 * Differs    Reads are widened to multiples of 512 bytes, as a program would have to. Writes that are no
 *            multiples of it cannot be made so: such targets are left alone.
 */
#include "study/remedy.h"

#include <string.h>

enum { SECTOR = 512 };

extern const struct remedy remedy_direct;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	const struct remedy_target *it = &facts->targets[target];

	return remedy_is_to_blame(facts, target) && it->odd_writes == 0 &&
	       it->reads + it->writes > 0;
}

static void propose(struct remedy_proposals *proposals)
{
	if (strcmp(filesystem_name(proposals->facts->model->filesystem), "zfs") == 0)
		remedy_leave_out(proposals, "ZFS up to 2.2 takes O_DIRECT through the ARC");
	else
		remedy_propose_targets(proposals);
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	(void)state;
	if (edit->is_target && (op->kind == OP_READ || op->kind == OP_READ_DONTCACHE)) {
		uint64_t first = op->offset / SECTOR * SECTOR;
		uint64_t end = (op->offset + op->bytes + SECTOR - 1) / SECTOR * SECTOR;

		remedy_add(edit, op, OP_READ_DIRECT, first, end - first);
	} else if (edit->is_target && (op->kind == OP_WRITE || op->kind == OP_WRITE_DONTCACHE)) {
		remedy_keep_as(edit, op, OP_WRITE_DIRECT);
	} else {
		remedy_keep(edit, op);
	}
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	return remedy_text(
		advice,
		"open(path, ... | O_DIRECT) for %s, with buffers, offsets and lengths in "
		"multiples of the block size",
		remedy_target_names(advice, facts, attempt->targets));
}

const struct remedy remedy_direct = {
	.id = "direct",
	.summary = "O_DIRECT reads and writes",
	.since = "Linux 2.4",
	.risk = "nothing is read ahead or put off: small requests get slower, and each wait is the "
		"program's",
	.ease = 95,
	.can_be_confirmed = true,
	.propose = propose,
	.edit = edit,
	.how = how,
	.what = "O_DIRECT",
	.is_for_each = true,
	.suits = suits,
};
