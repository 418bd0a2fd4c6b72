/*
 * whole_pages: writes that follow each other cover whole pages (ZFS: whole records)
 *
 * Idea       A write of part of a page that is not cached reads it first. Who writes in order has the
 *            beginning of the page at hand, and what follows it is going to be overwritten: write all of
 *            it.
 * Source     Linux fs/buffer.c, __block_write_begin_int(); fs/iomap/buffered-io.c,
 *            __iomap_write_begin(); behaviour cases C51, C53
 * Differs    Beyond the file's end nothing is written that was not.
 */
#include "base/size.h"
#include "study/remedy.h"

#include <string.h>

struct path {
	uint64_t end_bytes; /* where the last write ended */
};

extern const struct remedy remedy_whole_pages;

static uint64_t unit_bytes(const struct model_options *model)
{
	if (strcmp(filesystem_name(model->filesystem), "zfs") != 0)
		return PAGE_BYTES;
	return model->record_bytes ? model->record_bytes : 128 * KIB;
}

static bool suits(const struct remedy_facts *facts, size_t target)
{
	const struct remedy_target *it = &facts->targets[target];

	return (it->partial_writes > 0 || unit_bytes(facts->model) > PAGE_BYTES) &&
	       it->following_writes > 0;
}

static void propose(struct remedy_proposals *proposals)
{
	remedy_propose_targets(proposals);
	for (size_t i = 0; i < proposals->list.count; i++)
		proposals->list.at[i].unit_bytes = unit_bytes(proposals->facts->model);
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	uint64_t unit = edit->attempt ? edit->attempt->unit_bytes : PAGE_BYTES, first, end;
	struct path *path = edit->path;
	bool follows;

	(void)state;
	if (!edit->is_target || !op_kind_is_write(op->kind)) {
		remedy_keep(edit, op);
		return;
	}
	follows = op->offset == path->end_bytes || op->offset % unit == 0;
	end = path->end_bytes = op->offset + op->bytes;
	if (!follows) {
		remedy_keep(edit, op);
		return;
	}
	first = op->offset / unit * unit;
	/* Below the file's end, up to the unit's; what is written beyond stays as long as it is. */
	if (edit->size_bytes != UINT64_MAX && end < edit->size_bytes) {
		end = (end + unit - 1) / unit * unit;
		end = end < edit->size_bytes ? end : edit->size_bytes;
	}
	remedy_add(edit, op, (enum op_kind)op->kind, first, end - first);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	(void)attempt;
	return remedy_text(
		advice, "collect %s in the program, and pwrite() it whole, at a multiple of that",
		remedy_size(advice, unit_bytes(facts->model)));
}

const struct remedy remedy_whole_pages = {
	.id = "whole-pages",
	.summary = "writes in order are made of whole pages, or records",
	.risk = "what follows in the page is overwritten: for logs and files written in order",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = propose,
	.path_bytes = sizeof(struct path),
	.edit = edit,
	.how = how,
	.what = "write whole pages",
	.is_for_each = true,
	.suits = suits,
};
