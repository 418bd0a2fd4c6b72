/*
 * xfs: metadata in buffers of its own
 *
 * Idea       Inodes are read in clusters of 32 (16 KiB), directories in blocks; both live in XFS
 *            buffers, outside the page cache and unpaid by a cgroup, so a block is read once. An
 *            inode that leaves the VFS stays charged until XFS frees it, which it cannot while the
 *            inode is in the log.
 * Source     Linux 6.18, measured (directories of 1000 to 60 000 files, names of 6 to 60 bytes;
 *            create storms); fs/xfs/xfs_icache.c, xfs_inode_map_blocks.
 * Differs    1. a directory made during the run is never read again
 *            2. directories go to the four allocation groups in turn; data files have their extents
 *               in the inode (true to 1 GiB)
 *            3. the log: a new inode is in it until the shrinker's push, 200 creates ago, had
 *               reached it: the last 13 000 creates are not yet committed (measured)
 */
#include "machine/model/fs/xfs_private.h"

static uint64_t key(enum what what, uint32_t which, uint64_t number)
{
	return (uint64_t)what << 62 | (uint64_t)which << 28 | number;
}

static void inode_assign(struct filesystem_mount *mount, uint32_t node)
{
	struct tree_node *at = &mount->tree->nodes.at[node];
	struct filesystem_state *fs = mount->state;

	if (at->is_directory)
		at->layout = 1 + fs->next_group++ % GROUPS;
	else
		at->layout = mount->tree->nodes.at[at->parent].layout;
	if (at->layout == 0)
		at->layout = 1;
	at->inode = (uint32_t)(fs->group_inodes[at->layout - 1]++);
}

static uint64_t cluster_of(const struct tree_node *at)
{
	return key(WHAT_CLUSTER, at->layout, at->inode / CLUSTER_INODES);
}

/* The root's cluster is read by mounting. */
static void xfs_mount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = memory_alloc(1, sizeof(*fs));
	struct tree *tree = mount->tree;

	mount->state = fs;
	for (uint32_t node = 0; node < tree->nodes.count; node++)
		if (tree_exists(tree, node))
			inode_assign(mount, node);
	if (mount->io)
		xfs_data_mount(mount);
}

static void xfs_unmount(struct filesystem_mount *mount)
{
	array_deinit(&mount->state->logged);
	xfs_data_unmount(mount->state);
	memory_free(mount->state);
}

enum use { USE_READ, USE_MAKE };

static void buffer_use(struct filesystem_mount *mount, uint64_t block, uint32_t bytes, enum use use)
{
	if (!cache_buffer_use(mount->cache, block, bytes) && use == USE_READ)
		mount_read(mount, mount->state->time ? xfs_buffer_offset(mount->state, block) : 0,
			   bytes);
}

bool xfs_is_short(const struct tree_node *directory)
{
	uint64_t entries = directory->entries ? directory->entries : 1;

	return directory->entry_text_bytes + entries * SHORT_ENTRY_BYTES + SHORT_HEADER_BYTES <=
	       INODE_DIRECTORY_BYTES;
}

enum { READDIR_BLOCKS = 32768 / BLOCK_BYTES };

/* Bytes of an entry in a block, on average. */
static uint64_t entry_bytes(const struct tree_node *directory)
{
	uint64_t entries = directory->entries ? directory->entries : 1;

	return (12 + directory->entry_text_bytes / entries + 7) / 8 * 8;
}

/*
 * Visit the blocks that hold this name: data by place, leaf by hash. USE_MAKE: they are written,
 * not read.
 */
static void directory_visit(struct filesystem_mount *mount, uint32_t node, enum use use)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	const struct tree_node *parent = &mount->tree->nodes.at[at->parent];
	uint64_t entries = parent->entries ? parent->entries : 1;
	uint64_t name_bytes = parent->entry_text_bytes / entries, entry = entry_bytes(parent);
	uint64_t position = tree_exists(mount->tree, node) ? at->position : at->hash % entries,
		 leaves = 1;

	if (xfs_is_short(parent))
		return;
	buffer_use(mount, key(WHAT_DATA, at->parent, position / (BLOCK_USABLE_BYTES / entry)),
		   BLOCK_BYTES, use);
	if (entries * (entry + 8) <= BLOCK_USABLE_BYTES)
		return;
	if (entries > LEAF_NAMES_MOST)
		leaves += entries / (name_bytes < 8 ? LEAF_NAMES : LEAF_NAMES_LONG);
	buffer_use(mount, key(WHAT_LEAF, at->parent, at->hash % leaves), BLOCK_BYTES, use);
	if (leaves > 1)
		buffer_use(mount, key(WHAT_NODE, at->parent, 0), 2 * BLOCK_BYTES, use);
}

/*
 * A directory that grows finds its names in blocks that were made a moment ago, though their
 * numbers here shift: in memory.
 */
static void xfs_lookup(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree *tree = mount->tree;

	directory_visit(mount, node,
			tree->nodes.at[tree->nodes.at[node].parent].is_made ? USE_MAKE : USE_READ);
}

/*
 * xfs_readdir(): what a leaf says of hashes is not needed; the blocks are read ahead by 32 KiB
 * (xfs_dir2_leaf_readbuf()).
 */
static bool xfs_readdir(struct filesystem_mount *mount, uint32_t node, uint64_t *place)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	uint64_t entries = at->entries, blocks, end = *place + READDIR_BLOCKS;

	if (entries == 0 || xfs_is_short(at))
		return false;
	blocks = (entries - 1) / (BLOCK_USABLE_BYTES / entry_bytes(at)) + 1;
	for (; *place < end && *place < blocks; ++*place)
		buffer_use(mount, key(WHAT_DATA, node, *place), BLOCK_BYTES,
			   at->is_made ? USE_MAKE : USE_READ);
	return *place < blocks;
}

static void xfs_inode_read(struct filesystem_mount *mount, uint32_t node)
{
	if (node != TREE_ROOT)
		buffer_use(mount, cluster_of(&mount->tree->nodes.at[node]), CLUSTER_BYTES,
			   USE_READ);
}

static void xfs_create(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;

	inode_assign(mount, node);
	buffer_use(mount, key(WHAT_CLUSTER, mount->tree->nodes.at[node].layout, HEADER_CLUSTER),
		   GROUP_HEADER_BYTES, USE_READ);
	buffer_use(mount, cluster_of(&mount->tree->nodes.at[node]), CLUSTER_BYTES, USE_MAKE);
	directory_visit(mount, node, USE_MAKE);
	cache_inode_hold(mount->cache, mount->tree->nodes.at[node].file);
	*array_push(&fs->logged) = mount->tree->nodes.at[node].file;
	if (fs->time)
		xfs_data_create(mount, node);
}

static void xfs_remove(struct filesystem_mount *mount, uint32_t node)
{
	if (mount->state->time)
		xfs_data_remove(mount, node);
}

static void log_release(struct filesystem_mount *mount, size_t until)
{
	struct filesystem_state *fs = mount->state;

	for (; fs->logged_first < until; fs->logged_first++)
		cache_inode_release(mount->cache, fs->logged.at[fs->logged_first]);
}

static void xfs_commit(struct filesystem_mount *mount)
{
	log_release(mount, mount->state->logged.count);
}

static void xfs_tick(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	uint64_t calls = cache_shrinker_calls(mount->cache);

	if (fs->push_at && fs->logged.count > fs->push_at + PUSH_CREATES &&
	    fs->push_at > UNCOMMITTED_CREATES)
		log_release(mount, fs->push_at - UNCOMMITTED_CREATES);
	if (calls != fs->shrinker_calls) {
		fs->shrinker_calls = calls;
		fs->push_at = fs->logged.count;
	}
}

const struct filesystem filesystem_xfs = {
	.name = "xfs",
	.summary = "in place, journalled; metadata in buffers of its own",
	.core =
		{
			.folios = CACHE_FOLIOS_EARLY,
			.dontcache = CACHE_FOLIOS_EARLY,
			.partial_reads_all = true,
			.reads_without_fs = true,
			.writes_without_fs = true,
			.inode_read_fs = true,
			.evicted_inodes_linger = true,
			.dentry_bytes = 200,
			.inline_name_bytes = 39,
			.long_name_bytes = 104,
			.inode_bytes = 1032,
			.node_bytes = 592,
		},
	.device_io_pages = 320,
	.mount = xfs_mount,
	.unmount = xfs_unmount,
	.lookup = xfs_lookup,
	.inode_read = xfs_inode_read,
	.create = xfs_create,
	.remove = xfs_remove,
	.linked = xfs_linked,
	.unlinked = xfs_unlinked,
	.orphaned = xfs_orphaned,
	.freed = xfs_freed,
	.readdir = xfs_readdir,
	.commit = xfs_commit,
	.tick = xfs_tick,
	.fetch = xfs_fetch,
	.write_back = xfs_write_back,
	.sync = xfs_sync,
	.renamed = xfs_renamed,
	.resized = xfs_resized,
	.allocated = xfs_allocated,
	.background = xfs_background,
	.free_bytes = xfs_free_bytes,
};
