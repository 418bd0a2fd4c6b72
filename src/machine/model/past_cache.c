/*
 * past_cache: reads and writes that leave nothing in the page cache: RWF_DONTCACHE and O_DIRECT
 *
 * What the cache makes of them is cache/direct.c's business; here is their order: what is written
 * before, what is waited for, which bytes the device moves. Source: Linux 6.18 mm/filemap.c,
 * fs/iomap/direct-io.c, fs/btrfs/direct-io.c; docs/operations.md has what was measured.
 */
#include "base/size.h"
#include "machine/model/operation_private.h"

/* Write the range back, in whole folios, and wait for it if `is_awaited`. */
static void range_write(struct model *model, uint32_t file, uint64_t offset, uint64_t bytes,
			bool is_awaited)
{
	model->is_syncing = is_awaited;
	while (!cache_write_range(model->cache, file, offset, bytes, &model->plan))
		plan_done(model);
	plan_done(model);
	model->is_syncing = false;
}

/* ---- RWF_DONTCACHE ---- */

/* Where it is not known the call fails, and whoever makes it does without: ext4 and XFS know it. */
static bool takes_dontcache(struct model *model)
{
	bool takes = !model->fs->read && cache_takes_dontcache(model->cache);

	if (!takes)
		model->plain_count++;
	return takes;
}

void operation_dontcache_read(struct model *model, const struct op *op, uint32_t node)
{
	node_read(model, op, node, takes_dontcache(model) ? cache_read_dontcache : cache_read);
}

/*
 * generic_write_sync(): what was written is written back at once, and nobody waits. Where nobody
 * keeps time that would be done before the next call, which it is not: a page written piece by piece
 * is in the cache until it is whole.
 */
void operation_dontcache_write(struct model *model, const struct op *op, uint32_t node)
{
	bool takes = takes_dontcache(model);
	uint64_t end = op->offset + op->bytes, part = model->mount.io ? 0 : end % PAGE_BYTES;
	uint64_t whole = part < op->bytes ? op->bytes - part : 0;

	node_write(model, op, node, takes ? cache_write_dontcache : cache_write);
	if (!takes)
		return;
	range_write(model, node_file(model, node), op->offset, whole, false);
	model->behind_file = part > 0 ? node_file(model, node) : 0;
	model->behind_index = end / PAGE_BYTES;
}

/* What the last RWF_DONTCACHE write left, unless this op goes on with it. */
void operation_behind_settle(struct model *model, const struct op *op)
{
	if (op->kind == OP_WRITE_DONTCACHE && op->offset / PAGE_BYTES == model->behind_index &&
	    operation_file(model, op) == model->behind_file)
		return;
	range_write(model, model->behind_file, model->behind_index * PAGE_BYTES, PAGE_BYTES, false);
	model->behind_file = 0;
}

/* ---- O_DIRECT ---- */

bool operation_is_aligned(const struct op *op, uint64_t bytes)
{
	return (op->offset | op->bytes) % bytes == 0;
}

/*
 * Pages asked of the device from `first` on become the bytes that the call moves, and whoever wants
 * the same pages in the cache does not wait for them.
 */
static void direct_trim(struct model *model, size_t first, const struct op *op, uint32_t file)
{
	struct io_list *list = model->mount.io;
	uint64_t end = op->offset + op->bytes;

	for (; list && first < list->at.count; first++) {
		struct io *io = &list->at.at[first];
		uint64_t from = bytes_from_pages(io->index);

		if (io->file != file || io->is_metadata)
			continue;
		if (from + io->bytes > end && end > from)
			io->bytes = end - from;
		if (from < op->offset && op->offset - from < io->bytes) {
			io->offset += op->offset - from;
			io->bytes -= op->offset - from;
		}
		io->file = 0;
	}
}

/* Before either: what is dirty of the range, or on its way, is written. False: nothing was. */
static bool direct_clean(struct model *model, const struct op *op, uint32_t file)
{
	if (!cache_range_is_dirty(model->cache, file, op->offset, op->bytes))
		return false;
	model->waits_for_file = true;
	range_write(model, file, op->offset, op->bytes, true);
	mount_then(&model->mount);
	return true;
}

void operation_direct_read(struct model *model, const struct op *op, uint32_t node)
{
	uint64_t offset = op->offset, bytes = op->bytes;
	uint32_t file;
	size_t first;

	if (model->fs->read ||
	    (model->fs->direct_bytes && !operation_is_aligned(op, model->fs->direct_bytes))) {
		node_read(model, op, node, cache_read);
		return;
	}
	(void)node_open(model, node, op->thread);
	node_plan_done(model, TREE_NONE);
	file = node_file(model, node);
	if (direct_clean(model, op, file) && model->fs->direct_bytes) {
		/*
		 * btrfs: the pages are written, but not all that follows from it, which cannot be
		 * waited for (fs/btrfs/direct-io.c, lock_extent_direct()); measured, always.
		 */
		node_read(model, op, node, cache_read);
		return;
	}
	first = model->mount.io ? model->mount.io->at.count : 0;
	while (!cache_direct_read(model->cache, file, &offset, &bytes, &model->plan))
		node_plan_done(model, node);
	node_plan_done(model, node);
	direct_trim(model, first, op, file);
}

/* As btrfs does it: buffered, written, dropped (btrfs_direct_write()). */
static void direct_write_buffered(struct model *model, const struct op *op, uint32_t node)
{
	uint32_t file = node_file(model, node);

	node_write(model, op, node, cache_write);
	model->waits_for_file = true;
	range_write(model, file, op->offset, op->bytes, true);
	cache_direct_drop(model->cache, file, op->offset, op->bytes);
}

void operation_direct_write(struct model *model, const struct op *op, uint32_t node)
{
	uint64_t offset = op->offset, bytes = op->bytes, before;
	uint32_t file;
	size_t first;

	if (model->fs->write) {
		node_write(model, op, node, cache_write);
		return;
	}
	if (cache_direct_writes_are_buffered(model->cache) ||
	    (model->fs->direct_bytes && !operation_is_aligned(op, model->fs->direct_bytes))) {
		direct_write_buffered(model, op, node);
		return;
	}
	(void)node_open(model, node, op->thread);
	node_plan_done(model, TREE_NONE);
	file = node_file(model, node);
	before = cache_file_size(model->cache, file);
	(void)direct_clean(model, op, file);
	cache_direct_drop(model->cache, file, op->offset, op->bytes);
	first = model->mount.io ? model->mount.io->at.count : 0;
	model->is_syncing = true;
	while (!cache_direct_write(model->cache, file, &offset, &bytes, &model->plan))
		plan_done(model);
	plan_done(model);
	model->is_syncing = false;
	direct_trim(model, first, op, file);
	node_grew(model, node, before);
}

/* What came into the cache while it was written would lie: kiocb_invalidate_post_direct_write(). */
void operation_end(struct model *model, const struct op *op)
{
	uint32_t file =
		op->kind == OP_WRITE_DIRECT && !model->fs->write ? operation_file(model, op) : 0;

	if (file)
		cache_direct_drop(model->cache, file, op->offset, op->bytes);
}
