/*
 * ext4: metadata in the device's pages, which the cgroup pays for
 *
 * Idea       An inode read brings the inode table's 32-block window around it; a name is found
 *            through its directory's hash tree; both are pages of the block device in the page
 *            cache, active from the start. What a transaction has touched stays in memory until it
 *            commits, and is dirty then. In a cgroup it stays until a later commit finds it written.
 * Source     Linux 6.18, measured: pages read cold for directories of 100 to 60 000 files with
 *            names of 5 to 60 bytes, bytes charged an object, who reclaims and with which flags,
 *            distinct blocks a transaction. fs/ext4/inode.c __ext4_get_inode_loc() (window),
 *            fs/ext4/namei.c (hash tree), fs/jbd2/.
 * Differs    1. directories get a block group each in turn (Orlov's choice depends on more)
 *            2. a directory's blocks are 69 % full once it has more than one (measured 65 to 75 %),
 *               names spread evenly over them
 *            3. bitmaps, group descriptors and the journal itself are not in the cache: a few pages
 *            4. a transaction also commits 5 s after it began, by the model's clock
 * Constants  group: mkfs of 6 GiB with a million inodes: 48 groups of 20848. Journal 64 MiB: 5392
 *            blocks a transaction from 6.13 on (measured). Before, 1000 fits 6.1 and 6.12 as they
 *            were measured (in guests): a quarter of a journal of 16 MiB.
 *            Extents: an extent block from 400 MiB on.
 */
#include "base/size.h"
#include "machine/model/fs/ext4_private.h"

uint64_t ext4_inode_block(uint32_t inode)
{
	return (uint64_t)(inode / GROUP_INODES) * GROUP_BLOCKS +
	       inode % GROUP_INODES / INODES_PER_BLOCK;
}

/* How many blocks the directory needs now: one, or a root and leaves. */
static uint64_t directory_blocks(const struct tree_node *node)
{
	/* An entry is 8 bytes and its name, in steps of 4; on average 1.5 are lost. */
	uint64_t bytes = node->entry_text_bytes + node->entries * 8 + node->entries * 3 / 2;

	if (bytes <= DIRECTORY_BLOCK_BYTES)
		return 1;
	return 1 + bytes * 100 / DIRECTORY_FILL_PERCENT / DIRECTORY_BLOCK_BYTES + 1;
}

static struct directory *directory_of(struct filesystem_mount *mount, uint32_t node)
{
	struct tree_node *at = &mount->tree->nodes.at[node];
	struct filesystem_state *fs = mount->state;

	if (at->layout == 0) {
		uint32_t group = node == TREE_ROOT         ? 0
				 : at->parent == TREE_ROOT ? fs->next_group++ % GROUPS
							   : directory_of(mount, at->parent)->group;
		struct directory *fresh = array_push(&fs->directories);

		fresh->group = group;
		at->layout = (uint32_t)(fs->directories.count - 1);
	}
	return &fs->directories.at[at->layout];
}

/*
 * Allocate the blocks that the directory has come to need. `make`: now, in memory; else they were
 * there before the start.
 */
struct directory *ext4_directory_grow(struct filesystem_mount *mount, uint32_t node, bool make)
{
	struct directory *directory = directory_of(mount, node);
	uint64_t wanted = directory_blocks(&mount->tree->nodes.at[node]);

	while (directory->blocks.count < wanted) {
		*array_push(&directory->blocks) = mount->state->next_block++;
		if (make)
			ext4_block_change(mount, mount->state->next_block - 1);
		directory = directory_of(mount, node);
	}
	return directory;
}

uint64_t ext4_leaf_of(const struct directory *directory, const struct tree_node *name)
{
	if (directory->blocks.count < 2)
		return directory->blocks.at[0];
	return directory->blocks.at[1 + name->hash % (directory->blocks.count - 1)];
}

static uint32_t inode_take(struct filesystem_state *fs, uint32_t group)
{
	if (fs->time && fs->time->free_inodes.count > 0)
		return fs->time->free_inodes.at[--fs->time->free_inodes.count];
	while (fs->group_used[group] >= GROUP_INODES)
		group = (group + 1) % GROUPS;
	return group * GROUP_INODES + fs->group_used[group]++;
}

static void inode_assign(struct filesystem_mount *mount, uint32_t node)
{
	struct tree_node *at = &mount->tree->nodes.at[node];
	uint32_t group = at->is_directory ? directory_of(mount, node)->group
					  : directory_of(mount, at->parent)->group;

	/* Full everywhere: a file system that big has more groups; numbers then repeat. */
	for (uint32_t tried = 0; mount->state->group_used[group] >= GROUP_INODES; tried++) {
		if (tried == GROUPS) {
			for (uint32_t i = 0; i < GROUPS; i++)
				mount->state->group_used[i] = 0;
			break;
		}
		group = (group + 1) % GROUPS;
	}
	mount->tree->nodes.at[node].inode = inode_take(mount->state, group);
}

static void ext4_mount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = memory_alloc(1, sizeof(*fs));
	struct tree *tree = mount->tree;

	mount->state = fs;
	(void)array_push(&fs->directories);
	fs->transaction_id = 1;
	fs->next_block = (uint64_t)GROUPS * GROUP_BLOCKS;
	fs->device = cache_file_add(mount->cache, UINT64_C(1) << 50, CACHE_FILE_METADATA);
	fs->group_used[0] = ROOT_INODES;
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		if (!tree_exists(tree, node))
			continue;
		if (tree->nodes.at[node].is_directory)
			ext4_directory_grow(mount, node, false);
		if (node != TREE_ROOT)
			inode_assign(mount, node);
	}
	if (mount->io)
		ext4_data_mount(mount);
}

static void ext4_unmount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	for (size_t i = 0; i < fs->directories.count; i++)
		array_deinit(&fs->directories.at[i].blocks);
	array_deinit(&fs->directories);
	array_deinit(&fs->transaction);
	array_deinit(&fs->journalled);
	array_deinit(&fs->checkpoint);
	ext4_data_unmount(fs);
	memory_free(fs);
}

static void ext4_lookup(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	struct directory *directory = directory_of(mount, at->parent);
	uint64_t root = directory->blocks.at[0], leaf = ext4_leaf_of(directory, at);

	cache_block(mount->cache, mount->state->device, root, root, 1, mount->plan);
	if (leaf != root)
		cache_block(mount->cache, mount->state->device, leaf, leaf, 1, mount->plan);
}

static void ext4_inode_read(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	uint32_t inode = mount->tree->nodes.at[node].inode, group = inode / GROUP_INODES;
	uint64_t block = ext4_inode_block(inode), base = (uint64_t)group * GROUP_BLOCKS;
	uint64_t first = base + (block - base) / INODE_WINDOW_BLOCKS * INODE_WINDOW_BLOCKS;
	uint64_t end = first + INODE_WINDOW_BLOCKS + 1; /* the window's end is inclusive */
	uint64_t used =
		base + (fs->group_used[group] + INODES_PER_BLOCK - 1) / INODES_PER_BLOCK + 1;

	/* The root's own block was read by mounting, and is nobody's. */
	if (node == TREE_ROOT || block == 0)
		return;
	if (first == 0)
		first = 1;
	cache_block(mount->cache, fs->device, block, first, (end < used ? end : used) - first,
		    mount->plan);
}

/*
 * ext4_dx_readdir(): the root of the hash tree, then its leaves in the order of the hash, one after
 * the other; with one block there is no tree (ext4_readdir()).
 */
static bool ext4_readdir(struct filesystem_mount *mount, uint32_t node, uint64_t *place)
{
	const struct directory *directory = directory_of(mount, node);
	uint64_t block;

	if (directory->blocks.count == 0)
		return false;
	block = directory->blocks.at[*place];
	cache_block(mount->cache, mount->state->device, block, block, 1, mount->plan);
	return ++*place < directory->blocks.count;
}

static void ext4_data_read(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
			   uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;
	uint32_t file = mount_file(mount, node);

	(void)offset;
	(void)bytes;
	/* A large file has more extents than its inode holds: one block more. */
	if (cache_file_size(mount->cache, file) >= EXTENT_BLOCK_FILE_MIB * MIB) {
		uint64_t block = (UINT64_C(1) << 37) + file;

		cache_block(mount->cache, fs->device, block, block, 1, mount->plan);
	}
}

static void ext4_create(struct filesystem_mount *mount, uint32_t node)
{
	struct directory *directory;

	inode_assign(mount, node);
	ext4_block_change(mount, ext4_inode_block(mount->tree->nodes.at[node].inode));
	directory = ext4_directory_grow(mount, mount->tree->nodes.at[node].parent, true);
	ext4_block_change(mount, ext4_leaf_of(directory, &mount->tree->nodes.at[node]));
	if (mount->tree->nodes.at[node].is_directory)
		ext4_directory_grow(mount, node, true);
	if (mount->state->time)
		ext4_data_create(mount, node);
}

static void ext4_remove(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	ext4_block_change(mount, ext4_leaf_of(directory_of(mount, at->parent), at));
	ext4_block_change(mount, ext4_inode_block(at->inode));
	if (mount->state->time)
		ext4_data_remove(mount, node);
}

/* ext4_link(): an entry, and the inode says how many names it has. */
static void ext4_linked(struct filesystem_mount *mount, uint32_t node)
{
	struct directory *directory =
		ext4_directory_grow(mount, mount->tree->nodes.at[node].parent, true);

	ext4_block_change(mount, ext4_inode_block(mount->tree->nodes.at[node].inode));
	ext4_block_change(mount, ext4_leaf_of(directory, &mount->tree->nodes.at[node]));
	if (mount->state->time)
		ext4_data_linked(mount, node);
}

static void ext4_unlinked(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	ext4_block_change(mount, ext4_leaf_of(directory_of(mount, at->parent), at));
	ext4_block_change(mount, ext4_inode_block(at->inode));
	if (mount->state->time)
		ext4_data_linked(mount, node);
}

static void ext4_orphaned(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	ext4_block_change(mount, ext4_leaf_of(directory_of(mount, at->parent), at));
	ext4_block_change(mount, ext4_inode_block(at->inode));
	if (mount->state->time)
		ext4_data_orphaned(mount, node);
}

/* With time, ext4_sync() and ext4_background() do what these do without. */
static void ext4_commit(struct filesystem_mount *mount)
{
	if (!mount->state->time)
		ext4_transaction_commit(mount);
}

static void ext4_tick(struct filesystem_mount *mount)
{
	if (!mount->state->time && mount->state->transaction.count > 0 &&
	    mount->now_ns - mount->state->transaction_began_ns >= COMMIT_SECONDS * NS_PER_SECOND)
		ext4_transaction_commit(mount);
}

const struct filesystem filesystem_ext4 = {
	.name = "ext4",
	.summary = "in place, journalled; metadata in device pages",
	.core =
		{
			.folios = CACHE_FOLIOS_LATE,
			.dontcache = CACHE_FOLIOS_LATE,
			.writes_end_in_interrupt = true,
			.dentry_bytes = 200,
			.inline_name_bytes = 39,
			.long_name_bytes = 104,
			.inode_bytes = 1136, /* or as the switch ext4_inode_bytes says */
			.inode_bytes_switched = true,
			.buffer_bytes = 112,
			.node_bytes = 592,
		},
	.device_io_pages = 320,
	.mount = ext4_mount,
	.unmount = ext4_unmount,
	.lookup = ext4_lookup,
	.inode_read = ext4_inode_read,
	.data_read = ext4_data_read,
	.create = ext4_create,
	.remove = ext4_remove,
	.linked = ext4_linked,
	.unlinked = ext4_unlinked,
	.orphaned = ext4_orphaned,
	.freed = ext4_freed,
	.readdir = ext4_readdir,
	.commit = ext4_commit,
	.tick = ext4_tick,
	.fetch = ext4_fetch,
	.write_back = ext4_write_back,
	.sync = ext4_sync,
	.renamed = ext4_renamed,
	.written = ext4_written,
	.resized = ext4_resized,
	.allocated = ext4_allocated,
	.background = ext4_background,
	.free_bytes = ext4_free_bytes,
};
