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
 *            3. bitmaps, group descriptors and the journal itself are not modelled: a few pages
 *            4. a transaction also commits 5 s after it began, by the model's clock
 * Constants  group: mkfs of 6 GiB with a million inodes: 48 groups of 20848. Journal 64 MiB: 5392
 *            blocks a transaction from 6.13 on (measured). Before, 1000 fits 6.1 and 6.12 as they
 *            were measured (in guests): a quarter of a journal of 16 MiB.
 *            Extents: an extent block from 400 MiB on.
 */
#include "base/size.h"
#include "machine/model/filesystem.h"

enum {
	BLOCK_BYTES = 4096,
	INODES_PER_BLOCK = 16,
	INODE_WINDOW_BLOCKS = 32, /* mount option inode_readahead_blks */
	GROUPS = 48,
	GROUP_INODES = 20848,
	GROUP_BLOCKS = GROUP_INODES / INODES_PER_BLOCK,
	ROOT_INODES = 11, /* in use after mkfs: the root, lost+found, reserved ones */
	DIRECTORY_FILL_PERCENT = 69,
	DIRECTORY_BLOCK_BYTES = 4084,
	EXTENT_BLOCK_FILE_MIB = 400,
	COMMIT_SECONDS = 5,
	TAGS_PER_BLOCK = 254, /* blocks named by one descriptor block in the journal */
};

struct directory {
	ARRAY(uint64_t) blocks; /* page indices on the device; [0] is the hash tree's root */
	uint32_t group;
};

/* Who holds a block: the running transaction (its id); the committed one on whose checkpoint list
 * it is, or 0. */
struct journalled {
	uint32_t running, committed;
};

/* A block that a transaction committed, on its checkpoint list unless a later one has it. */
struct logged {
	uint64_t block;
	uint32_t transaction_id;
};

struct filesystem_state {
	uint32_t device; /* the cache's file of the block device */
	uint32_t group_used[GROUPS];
	uint32_t next_group;
	ARRAY(struct directory) directories; /* by tree_node.layout; [0] unused */
	uint64_t next_block; /* directories' and extents' blocks lie behind the inode tables */
	ARRAY(uint64_t) transaction; /* blocks that it holds */
	uint32_t transaction_id;     /* of the running one: 1, 2, ... */
	uint64_t transaction_began_ns;
	ARRAY(struct journalled) journalled; /* by block */
	ARRAY(struct logged) checkpoint;     /* committed blocks, oldest first */
	size_t checkpoint_first;             /* those before are off the list */
};

static uint64_t inode_block(uint32_t inode)
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

/* Off its checkpoint list, unless it has gone to a later transaction's. */
static void checkpoint_release(struct filesystem_mount *mount, struct logged logged)
{
	struct filesystem_state *fs = mount->state;
	struct journalled *journalled = &fs->journalled.at[logged.block];

	if (journalled->committed != logged.transaction_id)
		return;
	journalled->committed = 0;
	if (journalled->running != fs->transaction_id)
		cache_block_release(mount->cache, fs->device, logged.block);
}

/* One past the last block of the oldest transaction on the checkpoint lists. */
static size_t checkpoint_end(const struct filesystem_state *fs)
{
	size_t end = fs->checkpoint_first;

	while (end < fs->checkpoint.count &&
	       fs->checkpoint.at[end].transaction_id ==
		       fs->checkpoint.at[fs->checkpoint_first].transaction_id)
		end++;
	return end;
}

/*
 * What a commit does first: blocks that are written leave the checkpoint lists, each list from the
 * newest on, up to the first that is not or that the committing transaction has again; then the
 * later lists wait (__jbd2_journal_clean_checkpoint_list(), jbd2_journal_try_remove_checkpoint()).
 * As neighbouring transactions share the block where one stopped, it takes two commits: measured, a
 * whole transaction's pages become free at each commit, none in between.
 */
static void checkpoint_clean(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	while (fs->checkpoint_first < fs->checkpoint.count) {
		size_t end = checkpoint_end(fs);

		for (size_t at = end; at-- > fs->checkpoint_first;) {
			struct logged logged = fs->checkpoint.at[at];
			struct journalled journalled = fs->journalled.at[logged.block];

			if (journalled.committed != logged.transaction_id)
				continue;
			if (journalled.running == fs->transaction_id ||
			    cache_block_is_dirty(mount->cache, fs->device, logged.block))
				return;
			checkpoint_release(mount, logged);
		}
		fs->checkpoint_first = end;
	}
}

/*
 * The log has room for what the next transaction may hold, or the oldest ones are written out
 * (__jbd2_log_wait_for_space(), jbd2_log_do_checkpoint()). That writes buffers: their pages stay
 * marked dirty for the flusher to find.
 */
static void checkpoint_force(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	while (fs->checkpoint_first < fs->checkpoint.count) {
		size_t blocks = fs->checkpoint.count - fs->checkpoint_first, end;

		if (blocks + blocks / TAGS_PER_BLOCK + cache_transaction_blocks(mount->cache) <
		    cache_journal_blocks(mount->cache))
			break;
		end = checkpoint_end(fs);
		for (; fs->checkpoint_first < end; fs->checkpoint_first++)
			checkpoint_release(mount, fs->checkpoint.at[fs->checkpoint_first]);
	}
	if (fs->checkpoint_first > fs->checkpoint.count / 2) {
		fs->checkpoint.count -= fs->checkpoint_first;
		for (size_t i = 0; i < fs->checkpoint.count; i++)
			fs->checkpoint.at[i] = fs->checkpoint.at[fs->checkpoint_first + i];
		fs->checkpoint_first = 0;
	}
}

static void transaction_commit(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	if (fs->transaction.count == 0)
		return;
	checkpoint_clean(mount);
	for (size_t i = 0; i < fs->transaction.count; i++) {
		uint64_t block = fs->transaction.at[i];

		if (!cache_block_commit(mount->cache, fs->device, block))
			continue;
		fs->journalled.at[block].committed = fs->transaction_id;
		*array_push(&fs->checkpoint) = (struct logged){block, fs->transaction_id};
	}
	fs->transaction.count = 0;
	fs->transaction_id++;
	checkpoint_force(mount);
}

/* A block that this operation changes: in the running transaction until it commits. */
static void block_change(struct filesystem_mount *mount, uint64_t block)
{
	struct filesystem_state *fs = mount->state;

	cache_block_make(mount->cache, fs->device, block);
	while (fs->journalled.count <= block)
		*array_push(&fs->journalled) = (struct journalled){0};
	if (fs->journalled.at[block].running == fs->transaction_id)
		return;
	if (fs->transaction.count == 0)
		fs->transaction_began_ns = mount->now_ns;
	fs->journalled.at[block].running = fs->transaction_id;
	cache_block_hold(mount->cache, fs->device, block);
	*array_push(&fs->transaction) = block;
	if (fs->transaction.count >= cache_transaction_blocks(mount->cache))
		transaction_commit(mount);
}

/*
 * Allocate the blocks that the directory has come to need. `make`: now, in memory; else they were
 * there before the start.
 */
static struct directory *directory_grow(struct filesystem_mount *mount, uint32_t node, bool make)
{
	struct directory *directory = directory_of(mount, node);
	uint64_t wanted = directory_blocks(&mount->tree->nodes.at[node]);

	while (directory->blocks.count < wanted) {
		*array_push(&directory->blocks) = mount->state->next_block++;
		if (make)
			block_change(mount, mount->state->next_block - 1);
		directory = directory_of(mount, node);
	}
	return directory;
}

static uint64_t leaf_of(const struct directory *directory, const struct tree_node *name)
{
	if (directory->blocks.count < 2)
		return directory->blocks.at[0];
	return directory->blocks.at[1 + name->hash % (directory->blocks.count - 1)];
}

static uint32_t inode_take(struct filesystem_state *fs, uint32_t group)
{
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
			directory_grow(mount, node, false);
		if (node != TREE_ROOT)
			inode_assign(mount, node);
	}
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
	memory_free(fs);
}

static void ext4_lookup(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	struct directory *directory = directory_of(mount, at->parent);
	uint64_t root = directory->blocks.at[0], leaf = leaf_of(directory, at);

	cache_block(mount->cache, mount->state->device, root, root, 1, mount->plan);
	if (leaf != root)
		cache_block(mount->cache, mount->state->device, leaf, leaf, 1, mount->plan);
}

static void ext4_inode_read(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	uint32_t inode = mount->tree->nodes.at[node].inode, group = inode / GROUP_INODES;
	uint64_t block = inode_block(inode), base = (uint64_t)group * GROUP_BLOCKS;
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

static void ext4_data_read(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
			   uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;
	uint32_t file = mount->tree->nodes.at[node].file;

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
	block_change(mount, inode_block(mount->tree->nodes.at[node].inode));
	directory = directory_grow(mount, mount->tree->nodes.at[node].parent, true);
	block_change(mount, leaf_of(directory, &mount->tree->nodes.at[node]));
	if (mount->tree->nodes.at[node].is_directory)
		directory_grow(mount, node, true);
}

static void ext4_remove(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	block_change(mount, leaf_of(directory_of(mount, at->parent), at));
	block_change(mount, inode_block(at->inode));
}

static void ext4_tick(struct filesystem_mount *mount)
{
	if (mount->state->transaction.count > 0 &&
	    mount->now_ns - mount->state->transaction_began_ns >= COMMIT_SECONDS * NS_PER_SECOND)
		transaction_commit(mount);
}

const struct filesystem filesystem_ext4 = {
	.name = "ext4",
	.summary = "in place, journalled; metadata in device pages",
	.core =
		{
			.folios = CACHE_FOLIOS_LATE,
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
	.commit = transaction_commit,
	.tick = ext4_tick,
};
