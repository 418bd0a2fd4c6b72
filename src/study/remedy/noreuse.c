/*
 * noreuse: FADV_NOREUSE on files that are used through a mapping
 *
 * Idea       Since 6.3 a use through such a file's mapping says nothing: its pages do not become active.
 * Source     Linux 17e810229cb3 ("mm: support POSIX_FADV_NOREUSE"), in 6.3: vma_has_recency(); a no-op
 *            before (switch noreuse)
 */
#include "study/page_map.h"
#include "study/remedy.h"

struct state {
	struct page_map advised; /* (path + 1, thread): 1 while it is open */
};

extern const struct remedy remedy_noreuse;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	return remedy_is_to_blame(facts, target) &&
	       facts->targets[target].mapped_reads + facts->targets[target].mapped_writes > 0;
}

static void propose(struct remedy_proposals *proposals)
{
	if (proposals->facts->model->policy.switches.value[SWITCH_noreuse])
		remedy_propose_targets(proposals);
	else
		remedy_leave_out(proposals, "FADV_NOREUSE does nothing before Linux 6.3");
}

static void edit(struct remedy_edit *edit, void *data, const struct op *op)
{
	struct state *state = data;

	if (edit->is_target && op_kind_is_mapped(op->kind) &&
	    !page_map_get(&state->advised, op->path + 1, op->thread)) {
		remedy_add(edit, op, OP_FADVISE_NOREUSE, 0, 0);
		page_map_set(&state->advised, op->path + 1, op->thread, 1);
	}
	if (op->kind == OP_CLOSE || op->kind == OP_OPEN || op->kind == OP_CREATE)
		page_map_set(&state->advised, op->path + 1, op->thread, 0);
	remedy_keep(edit, op);
}

static void end(void *data)
{
	page_map_deinit(&((struct state *)data)->advised);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	(void)facts;
	(void)attempt;
	return remedy_text(advice, "posix_fadvise(fd, 0, 0, POSIX_FADV_NOREUSE) before mmap()");
}

const struct remedy remedy_noreuse = {
	.id = "noreuse",
	.summary = "FADV_NOREUSE on files that are mapped",
	.since = "Linux 6.3",
	.risk = "what of it is used again goes as early as the rest",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = propose,
	.state_bytes = sizeof(struct state),
	.edit = edit,
	.end = end,
	.how = how,
	.what = "FADV_NOREUSE on what it maps",
	.is_for_each = true,
	.suits = suits,
};
