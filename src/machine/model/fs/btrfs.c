/*
 * btrfs: copy on write, metadata in tree nodes of 16 KiB
 *
 * Idea       Inodes, names and checksums are items of B-trees whose nodes are read whole, once, into a mapping that the cgroup does not pay for. Folios are single pages. Allocating
 *            an inode comes before the transaction and may enter the file system, so every create's reclaim can shrink dentries and inodes: slabs stay small.
 * Source     Linux 6.18, measured (directories of 100 to 60 000 files; files of 10 MiB to 1 GiB; create storms)
 * Differs    1. commits and their writes are not modelled but for the nodes that creates dirty
 *            2. items are spread evenly: 220 + name an inode, 55 + name a directory entry with nodes 86 % full
 *            3. data is written in place as far as the cache can tell: what copy on write costs is metadata that is not counted here
 */
#include "base/array.h"
#include "machine/model/filesystem.h"

enum {
	NODE_BYTES = 16384,
	NODE_USABLE_BYTES = 16283,
	INODE_ITEM_BYTES = 220,
	ENTRY_ITEM_BYTES = 55,
	CHECKSUM_DATA_BYTES = 16672358, /* of data a checksum leaf covers: 15.9 MiB */
	CREATE_WRITE_BYTES = 296,	/* tree nodes dirtied, a create */
};

struct filesystem_state {
	uint64_t file_start; /* where the next file's checksums begin, data bytes */
	ARRAY(uint64_t) starts; /* by tree node */
};

enum what { WHAT_ROOT, WHAT_INODES, WHAT_ENTRIES, WHAT_CHECKSUMS };

static void node_use(struct filesystem_mount *mount, enum what what, uint32_t which, uint64_t number, bool make)
{
	if (!cache_buffer_use(mount->cache, (uint64_t)what << 61 | (uint64_t)which << 29 | number, NODE_BYTES) && !make)
		cache_read_outside(mount->cache, NODE_BYTES);
}

static void btrfs_mount(struct filesystem_mount *mount)
{
	mount->state = memory_alloc(1, sizeof(*mount->state));
}

static void btrfs_unmount(struct filesystem_mount *mount)
{
	array_deinit(&mount->state->starts);
	memory_free(mount->state);
}

static void visit(struct filesystem_mount *mount, uint32_t node, bool inode, bool make)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	const struct tree_node *parent = &mount->tree->nodes.at[at->parent == TREE_NONE ? TREE_ROOT : at->parent];
	uint64_t entries = parent->entries ? parent->entries : 1, name_bytes = parent->entry_text_bytes / entries;
	uint64_t nodes = entries * (ENTRY_ITEM_BYTES + name_bytes) * 100 / 86 / NODE_USABLE_BYTES + 1;

	node_use(mount, WHAT_ROOT, 0, 0, make);
	if (node == TREE_ROOT)
		return;
	if (inode)
		node_use(mount, WHAT_INODES, entries > 50 ? at->parent : TREE_ROOT,
			  at->position * (INODE_ITEM_BYTES + name_bytes) / NODE_USABLE_BYTES, make);
	else if (entries > 50)
		node_use(mount, WHAT_ENTRIES, at->parent, at->hash % nodes, make);
}

static void btrfs_lookup(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree *tree = mount->tree;

	/* A directory made here never left the tree nodes in memory. */
	if (!tree->nodes.at[tree->nodes.at[node].parent].is_made)
		visit(mount, node, false, false);
}

static void btrfs_inode_read(struct filesystem_mount *mount, uint32_t node)
{
	if (!mount->tree->nodes.at[node].is_made)
		visit(mount, node, true, false);
}

/* Checksums lie in order of the data's place on the device, which is taken for the order in which files are first read. */
static void btrfs_data_read(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;

	while (fs->starts.count <= node)
		*array_push(&fs->starts) = UINT64_MAX;
	if (fs->starts.at[node] == UINT64_MAX) {
		fs->starts.at[node] = fs->file_start;
		fs->file_start += cache_file_size(mount->cache, mount->tree->nodes.at[node].file);
	}
	offset += fs->starts.at[node];
	for (uint64_t leaf = offset / CHECKSUM_DATA_BYTES; leaf <= (offset + bytes - 1) / CHECKSUM_DATA_BYTES; leaf++)
		node_use(mount, WHAT_CHECKSUMS, 0, leaf, false);
}

static void btrfs_create(struct filesystem_mount *mount, uint32_t node)
{
	visit(mount, node, true, true);
	visit(mount, node, false, true);
	cache_write_outside(mount->cache, CREATE_WRITE_BYTES);
}

static void btrfs_remove(struct filesystem_mount *mount, uint32_t node)
{
	(void)mount;
	(void)node;
}

const struct filesystem filesystem_btrfs = {
	.name = "btrfs",
	.summary = "copy on write; single pages, metadata in tree nodes of its own",
	.core = {
		.folios = CACHE_FOLIOS_NEVER,
		.marks_on_write = true,
		.writes_without_fs = true,
		.inode_make_fs = true,
		.inode_read_fs = true,
		.dentry_bytes = 200,
		.inline_name_bytes = 39,
		.long_name_bytes = 104,
		.inode_bytes = 1024,
		.node_bytes = 592,
	},
	.device_io_pages = 32,
	.mount = btrfs_mount,
	.unmount = btrfs_unmount,
	.lookup = btrfs_lookup,
	.inode_read = btrfs_inode_read,
	.data_read = btrfs_data_read,
	.create = btrfs_create,
	.remove = btrfs_remove,
};
