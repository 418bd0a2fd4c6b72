/*
 * random: FADV_RANDOM (a mapping: MADV_RANDOM) before a file is first read
 *
 * Idea       Readahead brings in what nobody asks for, and that pushes out what somebody will. Reads at
 *            random, and first pages of many files, want none.
 * Source     Linux mm/readahead.c, page_cache_sync_ra(): FMODE_RANDOM; mm/filemap.c,
 *            do_sync_mmap_readahead(): VM_RAND_READ; behaviour cases C15, C17, C22
 * Differs    A mapping's advice is given to all of it.
 */
#include "study/page_map.h"
#include "study/remedy.h"

struct state {
	struct page_map advised; /* (path + 1, thread): 1 while it is open */
};

extern const struct remedy remedy_random;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	const struct remedy_target *it = &facts->targets[target];

	/* Not whoever reads in order: there readahead is what it should be. */
	return it->reads + it->mapped_reads + it->mapped_writes > 0 && it->device_read_bytes > 0 &&
	       it->onward_reads * 2 <= it->reads + it->mapped_reads + it->mapped_writes;
}

static void edit(struct remedy_edit *edit, void *data, const struct op *op)
{
	struct state *state = data;

	if (edit->is_target && (op_kind_is_read(op->kind) || op_kind_is_mapped(op->kind)) &&
	    !page_map_get(&state->advised, op->path + 1, op->thread)) {
		remedy_add(edit, op,
			   op_kind_is_mapped(op->kind) ? OP_MADVISE_RANDOM : OP_FADVISE_RANDOM, 0,
			   0);
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
	bool is_mapped = false, is_read = false;

	for (size_t i = 0; i < facts->target_count; i++) {
		is_mapped |= (attempt->targets >> i & 1) &&
			     facts->targets[i].mapped_reads + facts->targets[i].mapped_writes > 0;
		is_read |= (attempt->targets >> i & 1) && facts->targets[i].reads > 0;
	}
	return remedy_text(advice, "%s%s%s",
			   is_read ? "posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) after open()" : "",
			   is_read && is_mapped ? ", " : "",
			   is_mapped ? "madvise(address, length, MADV_RANDOM) after mmap()" : "");
}

const struct remedy remedy_random = {
	.id = "random",
	.summary = "FADV_RANDOM or MADV_RANDOM: nothing is read ahead",
	.since = "Linux 2.6",
	.risk = "reading the same files in order takes one request a read",
	.ease = 100,
	.touches = "readahead",
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.state_bytes = sizeof(struct state),
	.edit = edit,
	.end = end,
	.how = how,
	.what = "advise RANDOM",
	.is_for_each = true,
	.suits = suits,
};
