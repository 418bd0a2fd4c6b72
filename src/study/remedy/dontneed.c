/*
 * dontneed: DONTNEED behind what is read or written in order
 *
 * Idea       What is used once need not stay. A reader drops what it has read, a writer what it has
 *            written and synced, a window at a time; what others have in the same file goes with it.
 *            Who never syncs has to, or DONTNEED finds dirty pages and leaves them.
 * Source     Linux mm/fadvise.c, generic_fadvise(); behaviour cases C01, C04, C09, C10
 * Constants  WINDOW: 8 MiB, as C04's merges have it, or the file if that is shorter
 * Differs    Reads and writes at random are left alone: there is no behind.
 */
#include "base/size.h"
#include "study/remedy.h"

#define WINDOW (8 * MIB)

/* What of a file is to be dropped. */
struct behind {
	uint64_t first, end; /* bytes; end is where the next one has to go on */
};

struct path {
	struct behind read, written;
	uint64_t synced; /* of what was written, up to here */
};

extern const struct remedy remedy_dontneed;

static bool suits(const struct remedy_facts *facts, size_t target)
{
	const struct remedy_target *it = &facts->targets[target];

	return remedy_is_to_blame(facts, target) && it->following_reads + it->following_writes > 0;
}

/* Whole pages; the last one of the file counts as whole. */
static void drop(struct remedy_edit *edit, const struct op *op, struct behind *behind, uint64_t end,
		 uint64_t size)
{
	uint64_t last = end >= size ? end : end / PAGE_BYTES * PAGE_BYTES;

	if (last > behind->first)
		remedy_add(edit, op, OP_FADVISE_DONTNEED, behind->first, last - behind->first);
	behind->first = end >= size ? end : last;
}

/* Go on, or begin somewhere else. */
static void extend(struct behind *behind, const struct op *op)
{
	if (op->offset != behind->end)
		behind->first = op->offset / PAGE_BYTES * PAGE_BYTES;
	behind->end = op->offset + op->bytes;
}

static void after_read(struct remedy_edit *edit, const struct op *op)
{
	struct behind *read = &((struct path *)edit->path)->read;

	extend(read, op);
	if (read->end - read->first >= WINDOW || read->end >= edit->size_bytes)
		drop(edit, op, read, read->end, edit->size_bytes);
}

static void after_write(struct remedy_edit *edit, const struct op *op)
{
	struct path *path = edit->path;

	if (op->offset != path->written.end)
		path->synced = op->offset;
	extend(&path->written, op);
	if (path->written.end - path->written.first < WINDOW)
		return;
	remedy_add(edit, op, OP_FDATASYNC, 0, 0);
	path->synced = path->written.end;
	drop(edit, op, &path->written, path->synced, UINT64_MAX);
}

static void edit(struct remedy_edit *edit, void *state, const struct op *op)
{
	struct path *path = edit->path;
	uint64_t size = edit->size_bytes;

	(void)state;
	if (!edit->is_target || !path || op->kind != OP_CLOSE)
		remedy_keep(edit, op);
	if (!edit->is_target || !path)
		return;
	if (op_kind_is_read(op->kind))
		after_read(edit, op);
	else if (op_kind_is_write(op->kind))
		after_write(edit, op);
	else if (op->kind == OP_FSYNC || op->kind == OP_FDATASYNC)
		path->synced = path->written.end;
	/* A segment that is full and synced is done with. */
	if ((op->kind == OP_FSYNC || op->kind == OP_FDATASYNC) && size != UINT64_MAX &&
	    path->written.end >= size)
		drop(edit, op, &path->written, path->synced, size);
	if (op->kind != OP_CLOSE)
		return;
	if (path->read.end > path->read.first)
		drop(edit, op, &path->read, path->read.end, size);
	if (path->written.end > path->written.first) {
		if (path->synced < path->written.end)
			remedy_add(edit, op, OP_FDATASYNC, 0, 0);
		drop(edit, op, &path->written, path->written.end, size);
	}
	remedy_keep(edit, op);
}

static const char *how(struct advice *advice, const struct remedy_facts *facts,
		       const struct remedy_try *attempt)
{
	bool reads = false, writes = false, syncs = false;

	for (size_t i = 0; i < facts->target_count; i++) {
		if (!(attempt->targets >> i & 1))
			continue;
		reads |= facts->targets[i].reads > 0;
		writes |= facts->targets[i].writes > 0;
		syncs |= facts->targets[i].syncs > 0;
	}
	return remedy_text(
		advice,
		"posix_fadvise(fd, offset, length, POSIX_FADV_DONTNEED) %s%s%s, every 8 MiB",
		reads ? "after reading" : "", reads && writes ? ", and " : "",
		!writes ? ""
		: syncs ? "after the fdatasync(fd) of what was written"
			: "after fdatasync(fd) of what was written (dirty pages would stay)");
}

const struct remedy remedy_dontneed = {
	.id = "dontneed",
	.summary = "DONTNEED behind what is read or written in order",
	.since = "Linux 2.6",
	.risk = "it is the file's: who else has it hot reads it again",
	.ease = 100,
	.can_be_confirmed = true,
	.propose = remedy_propose_targets,
	.path_bytes = sizeof(struct path),
	.edit = edit,
	.how = how,
	.what = "DONTNEED behind it",
	.is_for_each = true,
	.suits = suits,
};
