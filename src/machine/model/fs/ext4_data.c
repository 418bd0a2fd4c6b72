/*
 * ext4's data: where it lies, and which metadata must change to have it there
 *
 * Idea       Blocks are chosen when dirty pages are written back, next to what the file has, 8 MiB at
 *            a time at most, and change the inode's block, a bitmap, a group descriptor and, beyond
 *            four extents, an extent block. What is allocated already costs nothing but the time
 *            stamp, which fdatasync does not wait for: then one flush is all that it takes.
 * Source     Linux 6.18 fs/ext4/inode.c mpage_map_and_submit_extent(), fsync.c ext4_fsync_journal()
 *            (i_datasync_tid, i_sync_tid; directories: ext4_force_commit()), mballoc.c, namei.c;
 *            super.c ext4_sync_fs(). Measured, bytes and flushes an operation: creating 16 MiB 48
 *            KiB, a durable rename 16, an unlink 32, 8 KiB into a hole 20 and into unwritten
 *            blocks 12, each with two flushes
 * Differs    1. first fit near a goal, not buddies; no preallocation: but what is written back
 *               together lies together
 *            2. an inode's time stamp is changed when its pages are written back, not at each write
 *            3. group descriptors and bitmaps are never read but for the first time; a large file's
 *               extent block is one
 * Constants  mkfs: an inode of 256 bytes for each 16 KiB; groups of 128 MiB; 64 descriptors of 64
 *            bytes a block; 340 extents a block; 5 % kept for the super user
 */
#include "base/size.h"
#include "machine/model/fs/ext4_private.h"

enum {
	DEFAULT_DEVICE_GIB = 1024,
	GROUP_DATA_BLOCKS = 32768, /* what one bitmap is for; the longest extent, too */
	GROUPS_PER_DESCRIPTOR_BLOCK = 64,
	WRITE_BLOCKS = 2048,   /* allocated at once in write-back: MAX_WRITEPAGES_EXTENT_LEN */
	READ_BLOCKS = 1 << 20, /* the device cuts */
	INODE_EXTENTS = 4,
	JIFFY_NS = 4 * 1000 * 1000, /* CONFIG_HZ=250, Kconfig's and Debian's */
	RESERVED_PER_CENT = 5,
	INODE_TABLE_SHARE = 64, /* of the device: 256 bytes for each 16 KiB */
	OTHER_SHARE = 1024,
	/*
	 * 17 us of the kernel's time a transaction of pgbench more than XFS's 88 (docs/pgbench.md),
	 * for 1.9 runs written back with 6.5 pages: divided between them by estimate (a journal
	 * handle is a run's, buffer heads are a block's).
	 */
	RUN_CPU_NS = 6000,
	BLOCK_CPU_NS = 1000,
};

/* ---- places ---- */

uint64_t ext4_block_offset(const struct filesystem_state *fs, uint64_t block)
{
	const struct ext4_time *time = fs->time;

	if (block < (uint64_t)GROUPS * GROUP_BLOCKS)
		return (time->group_start[block / GROUP_BLOCKS] +
			block % GROUP_BLOCKS % time->group_blocks) *
		       BLOCK_BYTES;
	return (time->other_start + block % time->other_blocks) * BLOCK_BYTES;
}

uint64_t ext4_aside_offset(const struct filesystem_state *fs, struct aside_name name)
{
	const struct ext4_time *time = fs->time;

	if (name.kind == ASIDE_SUPER)
		return 0;
	if (name.kind == ASIDE_DESCRIPTORS)
		return (1 + (uint64_t)name.number) * BLOCK_BYTES;
	return (time->other_start + ((uint64_t)name.number * 3 + name.kind) % time->other_blocks) *
	       BLOCK_BYTES;
}

static struct ext4_file *file_of(struct ext4_time *time, uint32_t file)
{
	while (time->files.count <= file)
		(void)array_push(&time->files);
	return &time->files.at[file];
}

static uint64_t goal_of(const struct ext4_time *time, uint32_t inode)
{
	return time->group_start[inode / GROUP_INODES % GROUPS] + time->group_blocks;
}

static uint64_t take_exactly(struct ext4_time *time, uint64_t goal, uint64_t blocks)
{
	uint64_t block = 0;

	(void)space_take(time->space, goal, blocks, &block);
	return block;
}

/*
 * As the switch ext4_journal_blocks says or, where that holds nothing (before 5.14), as mke2fs makes
 * it for a file system of so many blocks: e2fsprogs 1.47, ext2fs_default_journal_size().
 */
static uint64_t journal_blocks(const struct filesystem_mount *mount, uint64_t blocks)
{
	uint64_t given = cache_journal_blocks(mount->cache), size = 1024;

	if (given)
		return given;
	if (blocks >= 256 * 1024)
		size = 4096 * 2;
	if (blocks >= 512 * 1024)
		size = 4096 * 4;
	for (uint64_t most = 4096 * 1024; blocks >= most && size < 262144; most *= 2)
		size *= 2;
	return size;
}

static void places_make(struct filesystem_mount *mount, struct ext4_time *time)
{
	uint64_t bytes = mount->options.device_bytes ? mount->options.device_bytes
						     : DEFAULT_DEVICE_GIB * GIB,
		 blocks = bytes / BLOCK_BYTES, journal = journal_blocks(mount, blocks);

	if (blocks > SPACE_BLOCKS_MAX - 1)
		blocks = SPACE_BLOCKS_MAX - 1;
	time->device_blocks = blocks;
	time->reserved_blocks = blocks * RESERVED_PER_CENT / 100;
	time->group_blocks = blocks / INODE_TABLE_SHARE / GROUPS;
	if (time->group_blocks > GROUP_BLOCKS)
		time->group_blocks = GROUP_BLOCKS;
	if (time->group_blocks == 0)
		time->group_blocks = 1;
	time->other_blocks = blocks / OTHER_SHARE + 1;
	time->journal_blocks = journal < blocks / 16 ? journal : blocks / 16 + 1;
	space_give(time->space, 1 + blocks / GROUP_DATA_BLOCKS / GROUPS_PER_DESCRIPTOR_BLOCK + 1,
		   blocks - 2 - blocks / GROUP_DATA_BLOCKS / GROUPS_PER_DESCRIPTOR_BLOCK);
	for (uint64_t group = 0; group < GROUPS; group++)
		time->group_start[group] =
			take_exactly(time, blocks / GROUPS * group, time->group_blocks);
	time->other_start = take_exactly(time, 0, time->other_blocks);
	time->journal_start = take_exactly(time, blocks / 2, time->journal_blocks);
}

void ext4_data_mount(struct filesystem_mount *mount)
{
	struct ext4_time *time = memory_alloc(1, sizeof(*time));
	struct tree *tree = mount->tree;

	mount->state->time = time;
	time->space = space_create();
	places_make(mount, time);
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		const struct tree_node *at = &tree->nodes.at[node];

		if (!tree_exists(tree, node))
			continue;
		file_of(time, at->file)->inode = at->inode + 1;
		if (at->is_directory || at->is_sparse)
			continue;
		if (!space_fill(time->space, at->file, 0,
				pages_from_bytes_up(cache_file_size(mount->cache, at->file)),
				goal_of(time, at->inode), GROUP_DATA_BLOCKS, SPACE_WRITTEN, NULL,
				NULL) ||
		    space_free_blocks(time->space) < time->reserved_blocks)
			mount->is_out_of_space = true;
	}
}

void ext4_data_unmount(struct filesystem_state *fs)
{
	if (!fs->time)
		return;
	space_destroy(fs->time->space);
	array_deinit(&fs->time->files);
	for (int kind = 0; kind <= ASIDE_EXTENTS; kind++)
		array_deinit(&fs->time->asides[kind]);
	array_deinit(&fs->time->dirty);
	array_deinit(&fs->time->free_inodes);
	memory_free(fs->time);
}

uint64_t ext4_free_bytes(const struct filesystem_mount *mount)
{
	const struct ext4_time *time = mount->state->time;
	uint64_t blocks = time ? space_free_blocks(time->space) : 0;

	return time && blocks > time->reserved_blocks
		       ? (blocks - time->reserved_blocks) * BLOCK_BYTES
		       : 0;
}

/* ---- what changes with what ---- */

/* ext4_sample_last_mounted(): the first file that is opened has the super block say where. */
static void first_use(struct filesystem_mount *mount)
{
	if (!mount->state->time->is_used)
		ext4_aside_change(mount, ASIDE_SUPER, 0);
	mount->state->time->is_used = true;
}

static void blocks_change(void *context, const struct space_run *run)
{
	struct filesystem_mount *mount = context;

	for (uint64_t group = run->block / GROUP_DATA_BLOCKS;
	     group <= (run->block + run->pages - 1) / GROUP_DATA_BLOCKS; group++) {
		ext4_aside_change(mount, ASIDE_BLOCKS, (uint32_t)group);
		ext4_aside_change(mount, ASIDE_DESCRIPTORS,
				  (uint32_t)(group / GROUPS_PER_DESCRIPTOR_BLOCK));
	}
}

static void blocks_give(void *context, const struct space_run *run)
{
	struct filesystem_mount *mount = context;

	blocks_change(mount, run);
	space_give(mount->state->time->space, run->block, run->pages);
}

enum change { CHANGE_STAMP, CHANGE_MAP };

/* The inode, and its extents if that is more than a time stamp, are in the running transaction. */
static void inode_change(struct filesystem_mount *mount, uint32_t file, enum change change)
{
	struct ext4_time *time = mount->state->time;
	struct ext4_file *at = file_of(time, file);
	uint64_t pages = space_pages(time->space, file);

	if (!mount->is_background)
		mount->io->joins = true;
	ext4_block_change(mount, ext4_inode_block(at->inode - 1));
	if (change == CHANGE_MAP &&
	    space_runs(time->space, file) + pages / GROUP_DATA_BLOCKS > INODE_EXTENTS)
		ext4_aside_change(mount, ASIDE_EXTENTS, file);
	at = file_of(time, file);
	at->sync_id = mount->state->transaction_id;
	if (change == CHANGE_MAP)
		at->data_id = at->sync_id;
}

/* ---- names ---- */

static uint32_t parent_of(const struct filesystem_mount *mount, uint32_t node)
{
	uint32_t parent = mount->tree->nodes.at[node].parent;

	return parent == TREE_NONE ? TREE_ROOT : parent;
}

static void inode_bitmap_change(struct filesystem_mount *mount, uint32_t inode)
{
	uint32_t group = inode / GROUP_INODES;

	ext4_aside_change(mount, ASIDE_INODES, group);
	ext4_aside_change(mount, ASIDE_DESCRIPTORS, group / GROUPS_PER_DESCRIPTOR_BLOCK);
}

static void inodes_change(struct filesystem_mount *mount, uint32_t node)
{
	inode_bitmap_change(mount, mount->tree->nodes.at[node].inode);
	ext4_block_change(mount,
			  ext4_inode_block(mount->tree->nodes.at[parent_of(mount, node)].inode));
}

void ext4_data_create(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	*file_of(mount->state->time, at->file) = (struct ext4_file){.inode = at->inode + 1};
	first_use(mount);
	inodes_change(mount, node);
	inode_change(mount, at->file, CHANGE_MAP);
	if (at->is_directory) { /* its first block */
		ext4_aside_change(mount, ASIDE_BLOCKS, at->inode / GROUP_INODES);
	}
}

/* A name more or less: the directory's inode changes, and the file's. */
void ext4_data_linked(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	first_use(mount);
	ext4_block_change(mount,
			  ext4_inode_block(mount->tree->nodes.at[parent_of(mount, node)].inode));
	inode_change(mount, at->file, CHANGE_STAMP);
}

/* What the inode has is given back, and then the inode: ext4_evict_inode(). */
static void file_free(struct filesystem_mount *mount, uint32_t file, uint32_t inode)
{
	struct ext4_time *time = mount->state->time;

	space_cut(time->space, file, 0, blocks_give, mount);
	*file_of(time, file) = (struct ext4_file){0};
	*array_push(&time->free_inodes) = inode;
}

/* ext4_unlink(), ext4_evict_inode(): by way of the list of orphans, which the super block begins. */
void ext4_data_remove(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	first_use(mount);
	inodes_change(mount, node);
	ext4_aside_change(mount, ASIDE_SUPER, 0);
	file_free(mount, at->file, at->inode);
}

/* ext4_orphan_add(): the rest comes when nobody has it open any more. */
void ext4_data_orphaned(struct filesystem_mount *mount, uint32_t node)
{
	first_use(mount);
	ext4_block_change(mount,
			  ext4_inode_block(mount->tree->nodes.at[parent_of(mount, node)].inode));
	ext4_aside_change(mount, ASIDE_SUPER, 0);
	inode_change(mount, mount->tree->nodes.at[node].file, CHANGE_MAP);
}

void ext4_freed(struct filesystem_mount *mount, uint32_t file)
{
	uint32_t inode;

	if (!mount->state->time || !file_of(mount->state->time, file)->inode)
		return;
	inode = file_of(mount->state->time, file)->inode - 1;
	inode_bitmap_change(mount, inode);
	ext4_aside_change(mount, ASIDE_SUPER, 0);
	ext4_block_change(mount, ext4_inode_block(inode));
	file_free(mount, file, inode);
}

void ext4_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to)
{
	struct tree *tree = mount->tree;
	uint32_t nodes[2] = {from, to}, file = mount_renamed(mount, from, to);

	for (int i = 0; i < 2; i++) {
		uint32_t parent = parent_of(mount, nodes[i]);
		struct directory *directory = ext4_directory_grow(mount, parent, true);

		ext4_block_change(mount, ext4_leaf_of(directory, &tree->nodes.at[nodes[i]]));
		ext4_block_change(mount, ext4_inode_block(tree->nodes.at[parent].inode));
	}
	if (file && file_of(mount->state->time, file)->inode)
		inode_change(mount, file, CHANGE_STAMP);
	/* A directory's own ".." changes: ext4_rename_dir_finish(). */
	if (tree->nodes.at[from].is_directory && tree->nodes.at[from].file == file &&
	    parent_of(mount, from) != parent_of(mount, to))
		ext4_block_change(mount, ext4_directory_grow(mount, from, true)->blocks.at[0]);
}

/* ---- data ---- */

/* The device's own pages: inode tables, directories and extents. */
static void device_transfer(struct filesystem_mount *mount, enum io_kind kind, uint64_t index,
			    uint64_t pages)
{
	for (uint64_t end = index + pages; index < end;) {
		uint64_t offset = ext4_block_offset(mount->state, index), some = 1;
		struct io *io;

		while (index + some < end &&
		       ext4_block_offset(mount->state, index + some) == offset + some * BLOCK_BYTES)
			some++;
		io = io_add(mount->io, kind, offset, some * BLOCK_BYTES);
		io->is_metadata = true;
		io->is_background = mount->is_background;
		if (kind == IO_READ) {
			io->file = mount->state->device;
			io->index = index;
		}
		index += some;
	}
}

void ext4_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	struct filesystem_state *fs = mount->state;

	if (file == fs->device)
		device_transfer(mount, IO_READ, index, pages);
	else
		space_transfer(fs->time->space, mount, IO_READ, file, index, pages, READ_BLOCKS);
}

static bool has_hole(const struct ext4_time *time, uint32_t file, uint64_t index, uint64_t pages)
{
	for (uint64_t end = index + pages; index < end;) {
		struct space_run run = space_find(time->space, file, index, end - index);

		if (run.state == SPACE_HOLE)
			return true;
		index += run.pages;
	}
	return false;
}

/* Give the holes room. False: there were none, or there is no room. */
static bool fill(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages,
		 uint64_t most, enum space_state state)
{
	struct ext4_time *time = mount->state->time;

	if (!has_hole(time, file, index, pages))
		return false;
	if (!space_fill(time->space, file, index, pages,
			goal_of(time, file_of(time, file)->inode - 1), most, state, blocks_change,
			mount) ||
	    space_free_blocks(time->space) < time->reserved_blocks) {
		mount->is_out_of_space = true;
		return false;
	}
	return true;
}

void ext4_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	struct filesystem_state *fs = mount->state;
	bool changed = false;

	if (file == fs->device) {
		device_transfer(mount, IO_WRITE, index, pages);
		return;
	}
	if (file_of(fs->time, file)->inode == 0)
		return;
	first_use(mount);
	mount_cpu(mount, RUN_CPU_NS + pages * BLOCK_CPU_NS);
	if (!space_is_written(fs->time->space, file, index, pages)) {
		changed = fill(mount, file, index, pages, WRITE_BLOCKS, SPACE_WRITTEN);
		changed |= space_convert(fs->time->space, file, index, pages);
	}
	space_transfer(fs->time->space, mount, IO_WRITE, file, index, pages, WRITE_BLOCKS);
	if (changed)
		inode_change(mount, file, CHANGE_MAP);
}

void ext4_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	struct filesystem_state *fs = mount->state;
	const struct tree_node *at = &mount->tree->nodes.at[node];
	const struct ext4_file *file = file_of(fs->time, mount_file(mount, node));
	bool must_flush = mount->syncs_all || !at->is_directory;
	bool is_committing = (data_only ? file->data_id : file->sync_id) + 1 == fs->transaction_id;
	size_t first;

	/* A directory, or everything: all that runs. */
	if (at->is_directory || (data_only ? file->data_id : file->sync_id) == fs->transaction_id) {
		must_flush &= ext4_transaction_is_empty(fs);
		ext4_transaction_commit(mount);
	}
	if (must_flush) {
		mount_then(mount);
		first = mount->io->at.count;
		mount_flush(mount);
		if (mount->io->at.count > first)
			mount->io->at.at[first].follows = is_committing;
	}
}

/* file_update_time(), ext4_dirty_inode(): the coarse clock has gone on since the last time. */
void ext4_written(struct filesystem_mount *mount, uint32_t file)
{
	struct ext4_file *at = file_of(mount->state->time, file);
	uint64_t stamp = mount->now_ns / JIFFY_NS + 1;

	if (!at->inode || at->stamp == stamp)
		return;
	at->stamp = stamp;
	inode_change(mount, file, CHANGE_STAMP);
}

void ext4_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
		  uint64_t new_bytes)
{
	uint32_t file = mount_file(mount, node);
	struct ext4_time *time = mount->state->time;

	if (!file || !file_of(time, file)->inode)
		return;
	if (new_bytes < old_bytes) {
		ext4_aside_change(mount, ASIDE_SUPER, 0);
		space_cut(time->space, file, pages_from_bytes_up(new_bytes), blocks_give, mount);
	}
	inode_change(mount, file, CHANGE_MAP);
}

void ext4_allocated(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes)
{
	uint32_t file = mount_file(mount, node);
	uint64_t first = pages_from_bytes_down(offset),
		 pages = pages_from_bytes_up(offset + bytes) - first;

	if (!file || !file_of(mount->state->time, file)->inode)
		return;
	fill(mount, file, first, pages, GROUP_DATA_BLOCKS, SPACE_UNWRITTEN);
	inode_change(mount, file, CHANGE_MAP);
}

void ext4_background(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	if (!ext4_transaction_is_empty(fs) &&
	    mount->now_ns - fs->transaction_began_ns >= COMMIT_SECONDS * NS_PER_SECOND) {
		/* The journal's thread: WRITE_SYNC. */
		mount->is_background = false;
		ext4_transaction_commit(mount);
		mount->is_background = true;
	}
	ext4_asides_write(mount);
}
