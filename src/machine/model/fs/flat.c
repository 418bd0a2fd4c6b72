/*
 * flat: files and nothing else
 *
 * Idea       data is where it is: no metadata to read, none to write, none to cache, single pages
 *            only. To see what the page cache and the device do by themselves, and as the shelf's
 *            smallest whole example. fsync is the data and a flush.
 * Source     ours; object sizes as ext4's on Linux 6.18
 */
#include "base/size.h"
#include "machine/model/filesystem.h"
#include "machine/model/space.h"

enum { DEFAULT_DEVICE_GIB = 1024, TRANSFER_BLOCKS = 1 << 20 };

/* Only if time is kept. */
struct filesystem_state {
	struct space *space;
};

static struct space *space_of(const struct filesystem_mount *mount)
{
	return mount->state->space;
}

static void fill(struct filesystem_mount *mount, uint32_t file, uint64_t page, uint64_t pages)
{
	if (!space_fill(space_of(mount), file, page, pages, 0, TRANSFER_BLOCKS, SPACE_WRITTEN, NULL,
			NULL))
		mount->is_out_of_space = true;
}

static void flat_mount(struct filesystem_mount *mount)
{
	const struct tree *tree = mount->tree;
	uint64_t blocks = (mount->options.device_bytes ? mount->options.device_bytes
						       : DEFAULT_DEVICE_GIB * GIB) /
			  SPACE_BLOCK_BYTES;

	mount->state = memory_alloc(1, sizeof(*mount->state));
	if (!mount->io)
		return;
	mount->state->space = space_create();
	space_give(space_of(mount), 0, blocks < SPACE_BLOCKS_MAX ? blocks : SPACE_BLOCKS_MAX - 1);
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		const struct tree_node *at = &tree->nodes.at[node];

		if (tree_exists(tree, node) && !at->is_directory && !at->is_sparse)
			fill(mount, at->file, 0,
			     pages_from_bytes_up(cache_file_size(mount->cache, at->file)));
	}
}

static void flat_unmount(struct filesystem_mount *mount)
{
	space_destroy(space_of(mount));
	memory_free(mount->state);
}

static void nothing_at(struct filesystem_mount *mount, uint32_t node)
{
	(void)mount;
	(void)node;
}

static void give(void *context, const struct space_run *run)
{
	space_give(context, run->block, run->pages);
}

static void flat_remove(struct filesystem_mount *mount, uint32_t node)
{
	if (space_of(mount))
		space_cut(space_of(mount), mount->tree->nodes.at[node].file, 0, give,
			  space_of(mount));
}

static void flat_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index,
		       uint64_t pages)
{
	space_transfer(space_of(mount), mount, IO_READ, file, index, pages, TRANSFER_BLOCKS);
}

static void flat_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index,
			    uint64_t pages)
{
	fill(mount, file, index, pages);
	space_transfer(space_of(mount), mount, IO_WRITE, file, index, pages, TRANSFER_BLOCKS);
}

static void flat_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	(void)node;
	(void)data_only;
	mount_then(mount);
	mount_flush(mount);
}

static void flat_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
			 uint64_t new_bytes)
{
	if (new_bytes < old_bytes && mount->tree->nodes.at[node].file)
		space_cut(space_of(mount), mount->tree->nodes.at[node].file,
			  pages_from_bytes_up(new_bytes), give, space_of(mount));
}

static uint64_t flat_free_bytes(const struct filesystem_mount *mount)
{
	return space_of(mount) ? space_free_blocks(space_of(mount)) * SPACE_BLOCK_BYTES : 0;
}

const struct filesystem filesystem_flat = {
	.name = "flat",
	.summary = "data without metadata, single pages",
	.core =
		{
			.folios = CACHE_FOLIOS_NEVER,
			.dontcache = CACHE_FOLIOS_LATE,
			.dentry_bytes = 200,
			.inline_name_bytes = 39,
			.long_name_bytes = 104,
			.inode_bytes = 1136,
			.node_bytes = 592,
		},
	.device_io_pages = 320,
	.mount = flat_mount,
	.unmount = flat_unmount,
	.lookup = nothing_at,
	.inode_read = nothing_at,
	.create = nothing_at,
	.remove = flat_remove,
	.fetch = flat_fetch,
	.write_back = flat_write_back,
	.sync = flat_sync,
	.resized = flat_resized,
	.free_bytes = flat_free_bytes,
};
