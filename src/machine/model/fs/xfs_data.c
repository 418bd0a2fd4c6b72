/*
 * XFS's data: where it lies, and what is logged to have it there
 *
 * Idea       Blocks are chosen when dirty pages are written back, in the file's allocation group,
 *            next to what it has: that changes the group's header, its two trees of free extents
 *            and the inode's extents, which are in the inode up to 21. What is there already costs
 *            the time stamp alone, which fdatasync does not wait for. An unlinked file's blocks and
 *            inode are freed by a worker, a moment later.
 * Source     Linux 6.18 fs/xfs/xfs_file.c xfs_file_fsync() (one flush if the log has nothing to
 *            write), xfs_iomap.c, xfs_icache.c (inodegc), libxfs/xfs_ialloc.c. Measured, bytes and
 *            flushes an operation: creating 16 MiB 4 to 5 KiB in two checkpoints, a durable rename
 *            1.5 to 3 KiB, an unlink 2, 8 KiB into a hole 1.5 and into unwritten blocks 1
 * Differs    1. first fit near a goal; no preallocation past the end: but what is written back
 *               together lies together
 *            2. an inode's time stamp is changed when its pages are written back, not at each write
 *            3. trees of free extents have 500 records a leaf, spread evenly
 * Constants  mkfs: four allocation groups; a log of 1/2048 of the device, from 64 MiB to 2 GiB
 */
#include "base/size.h"
#include "machine/model/fs/xfs_private.h"

enum {
	DEFAULT_DEVICE_GIB = 1024,
	LOG_SHARE = 2048,
	INODES_SHARE = 128, /* of the device, where inode clusters are put */
	OTHER_SHARE = 256,
	TRANSFER_BLOCKS = 1 << 20, /* the device cuts */
	TREE_RECORDS = 500,        /* of free extents, a leaf */
	TREE_HEADER_BYTES = 56,
	TREE_RECORD_BYTES = 8,
	CHUNK_RECORD_BYTES = 16, /* of 64 inodes */
	CHUNK_INODES = 64,
	CHUNK_BYTES = 128,
	CHUNKS = BLOCK_BYTES / CHUNK_BYTES,
	UNLINKED_OFFSET_BYTES = 40, /* of an inode's group header: 64 lists of orphans */
	EXTENTS_MAX = 21,
	MAP_RECORDS = 250,
	/*
	 * The worker comes a jiffy after the last removal, at once if there are more than a
	 * cluster's: xfs_inodegc_queue(), mod_delayed_work_on().
	 */
	WORKER_NS = 4000 * 1000,
};

/* ---- places ---- */

static void places_make(struct filesystem_mount *mount, struct xfs_time *time)
{
	uint64_t bytes = mount->options.device_bytes ? mount->options.device_bytes
						     : DEFAULT_DEVICE_GIB * GIB,
		 blocks = bytes / BLOCK_BYTES, log = bytes / LOG_SHARE;

	if (blocks > SPACE_BLOCKS_MAX - 1)
		blocks = SPACE_BLOCKS_MAX - 1;
	log = log < 64 * MIB ? 64 * MIB : log > 2 * GIB ? 2 * GIB : log;
	if (log > bytes / 4)
		log = bytes / 4;
	time->device_blocks = blocks;
	time->group_blocks = (blocks + GROUPS - 1) / GROUPS;
	time->inodes_blocks = blocks / INODES_SHARE / GROUPS + CLUSTER_BYTES / BLOCK_BYTES;
	time->other_blocks = blocks / OTHER_SHARE + 1;
	space_give(time->space, 1, blocks - 1);
	for (uint64_t group = 0; group < GROUPS; group++)
		(void)space_take(time->space, time->group_blocks * group + 1, time->inodes_blocks,
				 &time->inodes_start[group]);
	(void)space_take(time->space, 1, time->other_blocks, &time->other_start);
	time->log_bytes = space_take(time->space, time->group_blocks * (GROUPS / 2),
				     log / BLOCK_BYTES, &time->log_start) *
			  BLOCK_BYTES;
}

uint64_t xfs_cluster_offset(const struct filesystem_state *fs, uint64_t cluster)
{
	const struct xfs_time *time = fs->time;
	uint64_t group = (cluster >> 32) - 1, room = time->inodes_blocks * BLOCK_BYTES;

	return time->inodes_start[group % GROUPS] * BLOCK_BYTES +
	       (cluster & UINT32_MAX) * CLUSTER_BYTES % (room / CLUSTER_BYTES * CLUSTER_BYTES);
}

static uint64_t other_offset(const struct xfs_time *time, uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (time->other_start +
		(key >> 32) % (time->other_blocks > 4 ? time->other_blocks - 4 : 1)) *
	       BLOCK_BYTES;
}

uint64_t xfs_block_offset(const struct filesystem_state *fs, uint64_t key)
{
	return other_offset(fs->time, key);
}

uint64_t xfs_buffer_offset(const struct filesystem_state *fs, uint64_t key)
{
	uint64_t which = key >> 28 & UINT32_MAX, number = key & ((1 << 28) - 1);

	if (key >> 62 == WHAT_CLUSTER && number != HEADER_CLUSTER)
		return xfs_cluster_offset(fs, which << 32 | number);
	return other_offset(fs->time, key);
}

static struct xfs_file *file_of(struct xfs_time *time, uint32_t file)
{
	while (time->files.count <= file)
		(void)array_push(&time->files);
	return &time->files.at[file];
}

static uint64_t goal_of(const struct xfs_time *time, uint32_t group)
{
	return time->group_blocks * (group ? (group - 1) % GROUPS : 0) + 1;
}

/* The file's inode is what the node says. */
static void file_set(struct xfs_file *file, const struct tree_node *at, uint32_t node)
{
	file->node = node + 1;
	file->group = at->layout ? at->layout : 1;
	file->inode = at->inode;
}

void xfs_data_mount(struct filesystem_mount *mount)
{
	struct xfs_time *time = memory_alloc(1, sizeof(*time));
	struct tree *tree = mount->tree;

	mount->state->time = time;
	time->checkpoint = 1;
	time->pushed_ns = mount->now_ns;
	time->space = space_create();
	places_make(mount, time);
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		const struct tree_node *at = &tree->nodes.at[node];

		if (!tree_exists(tree, node))
			continue;
		file_set(file_of(time, at->file), at, node);
		if (node != TREE_ROOT)
			file_of(time, at->file)->entry =
				file_of(time, tree->nodes.at[at->parent].file)->entries++;
		if (!at->is_directory && !at->is_sparse &&
		    !space_fill(time->space, at->file, 0,
				pages_from_bytes_up(cache_file_size(mount->cache, at->file)),
				goal_of(time, at->layout), time->group_blocks, SPACE_WRITTEN, NULL,
				NULL))
			mount->is_out_of_space = true;
	}
}

void xfs_data_unmount(struct filesystem_state *fs)
{
	struct xfs_time *time = fs->time;

	if (!time)
		return;
	space_destroy(time->space);
	array_deinit(&time->files);
	memory_free(time->buffers);
	array_deinit(&time->logged_files);
	array_deinit(&time->logged_buffers);
	array_deinit(&time->dirty_files);
	array_deinit(&time->orphans);
	memory_free(time);
}

uint64_t xfs_free_bytes(const struct filesystem_mount *mount)
{
	const struct xfs_time *time = mount->state->time;

	return time ? space_free_blocks(time->space) * BLOCK_BYTES : 0;
}

/* ---- what changes with what ---- */

static uint32_t record_chunk(uint64_t record, uint64_t bytes)
{
	return UINT32_C(1) << (TREE_HEADER_BYTES + record * bytes) / CHUNK_BYTES % CHUNKS;
}

/* Blocks were taken or given back: the group's header, and its free extents by place and size. */
static void blocks_log(void *context, const struct space_run *run)
{
	struct filesystem_mount *mount = context;
	struct xfs_time *time = mount->state->time;
	uint64_t group = run->block / time->group_blocks,
		 records = space_free_pieces(time->space) / GROUPS + 1,
		 place = run->block % time->group_blocks * records / time->group_blocks;

	xfs_log_block(mount, BLOCK_AGF, (uint32_t)group, 0, 1);
	xfs_log_block(mount, BLOCK_BY_PLACE, (uint32_t)group, (uint32_t)(place / TREE_RECORDS),
		      record_chunk(place % TREE_RECORDS, TREE_RECORD_BYTES));
	xfs_log_block(mount, BLOCK_BY_SIZE, (uint32_t)group,
		      (uint32_t)((records - 1) / TREE_RECORDS),
		      record_chunk((records - 1) % TREE_RECORDS, TREE_RECORD_BYTES));
}

static void blocks_give(void *context, const struct space_run *run)
{
	struct filesystem_mount *mount = context;

	blocks_log(mount, run);
	space_give(mount->state->time->space, run->block, run->pages);
}

/* The file's extents changed around this page: in the inode, or in a leaf of their tree. */
static void map_log(struct filesystem_mount *mount, uint32_t file, uint64_t page)
{
	struct xfs_time *time = mount->state->time;
	uint64_t runs = space_runs(time->space, file), pages = space_pages(time->space, file),
		 record = pages ? page * runs / pages : 0;

	xfs_log_inode(mount, file, CHANGE_FORK);
	if (runs > EXTENTS_MAX)
		xfs_log_block(mount, BLOCK_MAP, file, (uint32_t)(record / MAP_RECORDS),
			      record_chunk(record % MAP_RECORDS, CHUNK_RECORD_BYTES));
}

/* An inode is taken or given back: its group's header and the trees of inode chunks. */
static void inode_log(struct filesystem_mount *mount, uint32_t group, uint32_t inode)
{
	uint32_t record = inode / CHUNK_INODES;

	xfs_log_block(mount, BLOCK_AGI, group, 0, 1);
	xfs_log_block(mount, BLOCK_INODES, group, record / (TREE_RECORDS / 2),
		      record_chunk(record % (TREE_RECORDS / 2), CHUNK_RECORD_BYTES));
	xfs_log_block(mount, BLOCK_FREE_INODES, group, 0, 1);
}

/* ---- names ---- */

/* What the worker of removed files has come to. */
static void orphans_free(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;

	for (size_t i = 0; i < time->orphans.count; i++) {
		struct xfs_orphan orphan = time->orphans.at[i];

		space_cut(time->space, orphan.file, 0, blocks_give, mount);
		xfs_log_inode(mount, orphan.file, CHANGE_CORE);
		inode_log(mount, orphan.group, orphan.inode);
	}
	time->orphans.count = 0;
}

static void worker(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;

	if (mount->now_ns >= time->removed_ns + WORKER_NS || time->orphans.count > CLUSTER_INODES)
		orphans_free(mount);
}

void xfs_data_create(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	worker(mount);
	*file_of(mount->state->time, at->file) = (struct xfs_file){0};
	file_set(file_of(mount->state->time, at->file), at, node);
	inode_log(mount, at->layout - 1, at->inode);
	/* 64 inodes more: xfs_ialloc_ag_alloc(), their blocks taken, what is in them not logged. */
	if (at->inode % CHUNK_INODES == 0)
		blocks_log(mount,
			   &(struct space_run){.block = goal_of(mount->state->time, at->layout)});
	xfs_log_inode(mount, at->file, CHANGE_CORE);
	xfs_log_entry(mount, node, at->file, true);
}

/* The name goes, and the inode comes on one of the 64 lists of orphans, by its number. */
static void name_remove(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	worker(mount);
	xfs_log_entry(mount, node, at->file, false);
	xfs_log_inode(mount, at->file, CHANGE_CORE);
	xfs_log_block(mount, BLOCK_AGI, at->layout - 1, 0,
		      1 | UINT32_C(1) << (UNLINKED_OFFSET_BYTES + at->inode % 64 * 4) /
						 CHUNK_BYTES);
	file_of(mount->state->time, at->file)->node = 0;
}

/* Nobody has it any more: xfs_inode_mark_reclaimable(), xfs_inodegc_queue(). */
void xfs_freed(struct filesystem_mount *mount, uint32_t file)
{
	struct xfs_time *time = mount->state->time;
	struct xfs_file *at = time ? file_of(time, file) : NULL;

	if (!at || !at->group)
		return;
	*array_push(&time->orphans) =
		(struct xfs_orphan){.file = file, .inode = at->inode, .group = at->group - 1};
	at->group = 0;
	time->removed_ns = mount->now_ns;
}

void xfs_data_remove(struct filesystem_mount *mount, uint32_t node)
{
	name_remove(mount, node);
	xfs_freed(mount, mount->tree->nodes.at[node].file);
}

void xfs_orphaned(struct filesystem_mount *mount, uint32_t node)
{
	if (mount->state->time)
		name_remove(mount, node);
}

void xfs_linked(struct filesystem_mount *mount, uint32_t node)
{
	uint32_t file = mount->tree->nodes.at[node].file;

	if (!mount->state->time)
		return;
	worker(mount);
	xfs_log_entry(mount, node, file, true);
	xfs_log_inode(mount, file, CHANGE_CORE);
}

void xfs_unlinked(struct filesystem_mount *mount, uint32_t node)
{
	uint32_t file = mount->tree->nodes.at[node].file;

	if (!mount->state->time)
		return;
	worker(mount);
	xfs_log_entry(mount, node, file, false);
	xfs_log_inode(mount, file, CHANGE_CORE);
	file_of(mount->state->time, file)->node = tree_other_name(mount->tree, node) + 1;
}

void xfs_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to)
{
	const struct tree_node *at = &mount->tree->nodes.at[from];
	uint32_t file = mount_renamed(mount, from, to);

	worker(mount);
	xfs_log_entry(mount, from, file, false);
	xfs_log_entry(mount, to, file, true);
	if (mount->tree->nodes.at[to].file) {
		file_of(mount->state->time, file)->node = to + 1;
		xfs_log_inode(mount, file, CHANGE_CORE);
		return;
	}
	/* A directory keeps its node; its own ".." may change, where its entries are. */
	xfs_log_inode(mount, file, CHANGE_CORE);
	if (at->parent == mount->tree->nodes.at[to].parent)
		return;
	if (xfs_is_short(at))
		xfs_log_inode(mount, file, CHANGE_FORK);
	else
		xfs_log_block(mount, BLOCK_DIRECTORY, from, 0, 1);
}

/* ---- data ---- */

void xfs_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	space_transfer(mount->state->time->space, mount, IO_READ, file, index, pages,
		       TRANSFER_BLOCKS);
}

/* Give the holes room; what the worker has not freed yet is freed if there is none. */
static bool fill(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages,
		 enum space_state state)
{
	struct xfs_time *time = mount->state->time;
	uint64_t goal = goal_of(time, file_of(time, file)->group);
	uint64_t free_blocks = space_free_blocks(time->space);

	if (!space_fill(time->space, file, index, pages, goal, time->group_blocks, state,
			blocks_log, mount)) {
		orphans_free(mount);
		if (!space_fill(time->space, file, index, pages, goal, time->group_blocks, state,
				blocks_log, mount))
			mount->is_out_of_space = true;
	}
	return space_free_blocks(time->space) != free_blocks;
}

void xfs_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	struct xfs_time *time = mount->state->time;
	bool changed = false;

	if (file_of(time, file)->group == 0)
		return;
	worker(mount);
	if (!space_is_written(time->space, file, index, pages)) {
		changed = fill(mount, file, index, pages, SPACE_WRITTEN);
		changed |= space_convert(time->space, file, index, pages);
	}
	space_transfer(time->space, mount, IO_WRITE, file, index, pages, TRANSFER_BLOCKS);
	if (changed)
		map_log(mount, file, index);
	else
		xfs_log_inode(mount, file, CHANGE_STAMP);
}

void xfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	struct xfs_time *time = mount->state->time;
	const struct tree_node *at = &mount->tree->nodes.at[node];
	const struct xfs_file *file = file_of(time, mount_file(mount, node));
	bool is_logged = (data_only ? file->data_checkpoint : file->checkpoint) == time->checkpoint;

	worker(mount);
	if (mount->syncs_all)
		is_logged = !xfs_log_is_empty(time);
	if (is_logged) {
		xfs_log_force(mount);
	} else if (mount->syncs_all || !at->is_directory) {
		mount_then(mount);
		mount_flush(mount);
	}
}

void xfs_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
		 uint64_t new_bytes)
{
	uint32_t file = mount_file(mount, node);

	if (!file || !file_of(mount->state->time, file)->group)
		return;
	if (new_bytes < old_bytes) {
		space_cut(mount->state->time->space, file, pages_from_bytes_up(new_bytes),
			  blocks_give, mount);
		xfs_log_inode(mount, file, CHANGE_FORK);
	}
	xfs_log_inode(mount, file, CHANGE_CORE);
}

void xfs_allocated(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes)
{
	uint32_t file = mount_file(mount, node);
	uint64_t first = pages_from_bytes_down(offset);

	if (!file || !file_of(mount->state->time, file)->group)
		return;
	if (fill(mount, file, first, pages_from_bytes_up(offset + bytes) - first, SPACE_UNWRITTEN))
		map_log(mount, file, first);
	xfs_log_inode(mount, file, CHANGE_CORE);
}

void xfs_background(struct filesystem_mount *mount)
{
	worker(mount);
	xfs_log_tick(mount);
}
