/*
 * own_range: DONTNEED on the whole pages that were used up, not on the whole file
 *
 * Idea       A DONTNEED of the whole file takes the page that is being filled with it, once that is
 *            written back; the next append reads it again. Whole pages below what its giver has read
 *            are enough.
 * Source     Linux mm/fadvise.c, generic_fadvise(): the file's last page counts as whole if the range
 *            reaches the end; behaviour case C07
 */
#include "base/size.h"
#include "study/remedy.h"

struct path {
	uint64_t used_bytes; /* read or written, from the start */
};

extern const struct remedy remedy_own_range;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return facts->targets[target].dontneeds > 0 && facts->targets[target].following_writes > 0;
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	struct path *path = edit->path;
	uint64_t end = op->offset + op->bytes;

	(void)state;
	if (path && (op_kind_is_read(op->kind) || op_kind_is_write(op->kind)) &&
	    end > path->used_bytes)
		path->used_bytes = end;
	if (op->kind != OP_FADVISE_DONTNEED || !edit->is_target || op->bytes) {
		remedy_keep(edit, op);
		return;
	}
	end = path->used_bytes / PAGE_BYTES * PAGE_BYTES;
	if (end > op->offset)
		remedy_add(edit, op, OP_FADVISE_DONTNEED, op->offset, end - op->offset);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	(void)facts;
	(void)attempt;
	return remedy_text(advice, "posix_fadvise(fd, 0, consumed & ~4095, POSIX_FADV_DONTNEED) "
				   "instead of posix_fadvise(fd, 0, 0, ...)");
}

const struct remedy remedy_own_range = {
	.id = "dontneed-range",
	.summary = "a DONTNEED of a whole file becomes one of the whole pages that were used up",
	.since = "Linux 2.6",
	.risk = "others who read behind still read from the device",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.state_bytes = 0,
	.path_bytes = sizeof(struct path),
	.edit = edit,
	.how = how,
	.what = "DONTNEED on whole pages that were read, not on the file",
	.is_for_each = true,
	.suits = suits,
};
