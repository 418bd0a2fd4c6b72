/*
 * btrfs's transactions: every leaf that was touched, copied once, when it commits
 *
 * Idea       All that changes within 30 s is one transaction. Each leaf that it touched is written
 *            anew when it commits, with the nodes above it and the root tree's, all of them twice
 *            (metadata is duplicated), then the super blocks. Which leaves: files' extents by their
 *            place in the file; checksums, back references and free space by their place on the
 *            device, where what is new lies together, and what is freed anywhere. A transaction
 *            that allocated a chunk cannot be logged: fsync then commits it all.
 * Source     Linux 6.18 fs/btrfs/transaction.c, disk-io.c write_all_supers(), block-group.c
 *            btrfs_make_block_group(), extent-tree.c; on-disk item sizes. Measured: creating a first
 *            file of 16 MiB 9 nodes and 2 super blocks, 2 flushes
 * Differs    1. leaves are as full as sequential insertion makes them; their number follows from the
 *               number of items
 *            2. the tree of extents also says where the nodes themselves lie: it is taken that the
 *               nodes a commit replaces lie in as many leaves as there are, at most one each
 *            3. a node's new place is the next one, round the first metadata chunk
 *            4. qgroups, device statistics, discards: none
 */
#include "base/size.h"
#include "machine/model/fs/btrfs_private.h"

enum {
	LEAF_EXTENTS = 150,     /* items of a file's extent (78 bytes), or of a device's, a leaf */
	LEAF_INODES = 35,       /* files with their names, a leaf */
	LEAF_CHECKSUMS = 4070,  /* pages */
	LEAF_NODES = 280,       /* items of 58 bytes that say where nodes lie */
	LEAF_FREE_PIECES = 600, /* of 25 bytes */
	FILE_ITEM_BYTES = 400,
	NODE_CHILDREN = 400,
	SUPER_BYTES = 4096,
	SUPER_MIRRORS = 3,
	/*
	 * 80 us of the kernel's time a transaction of pgbench more than XFS's 88 (docs/pgbench.md),
	 * for 1.8 nodes written (a copy, a sum over 16 KiB), 1.7 extents and 6 blocks
	 * (btrfs_data.c): divided between them by estimate.
	 */
	NODE_CPU_NS = 12000,
};

/* /fs/btrfs/disk-io.h, btrfs_sb_offset(): 64 KiB, 64 MiB, 256 GiB. */
static const uint64_t super_offsets[SUPER_MIRRORS] = {64 * KIB, 64 * MIB, 256 * GIB};

/* ---- which leaves ---- */

static size_t bucket_of(const struct btrfs_time *time, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & time->touched_mask;

	while (time->touched[at] && time->touched[at] != key)
		at = (at + 1) & time->touched_mask;
	return at;
}

static void buckets_double(struct btrfs_time *time)
{
	uint64_t *old = time->touched;
	size_t count = old ? time->touched_mask + 1 : 0;

	time->touched_mask = count ? 2 * count - 1 : 255;
	time->touched = memory_alloc(time->touched_mask + 1, sizeof(*time->touched));
	for (size_t i = 0; i < count; i++)
		if (old[i])
			time->touched[bucket_of(time, old[i])] = old[i];
	memory_free(old);
}

/* How many leaves a tree has. */
static uint64_t tree_leaves(const struct btrfs_time *time, enum btrfs_tree tree)
{
	switch (tree) {
	case TREE_FILES:
		return 1 + (time->inodes * (uint64_t)FILE_ITEM_BYTES +
			    time->runs * (uint64_t)DATA_ITEM_BYTES) /
				   NODE_USABLE_BYTES;
	case TREE_CHECKSUMS:
		return time->is_nodatacow ? 1 : 1 + time->used_blocks / LEAF_CHECKSUMS;
	case TREE_EXTENTS:
		return 1 + time->runs / LEAF_EXTENTS;
	case TREE_FREE_SPACE:
	case TREES:
	default:
		return 1 + btrfs_room_pieces(time) / LEAF_FREE_PIECES;
	}
}

static void touch(struct filesystem_mount *mount, enum btrfs_tree tree, uint64_t leaf, bool is_new)
{
	struct btrfs_time *time = mount->state->time;
	uint64_t key;
	size_t at;

	if (!time->is_touched)
		time->transaction_began_ns = mount->now_ns;
	time->is_touched = true;
	if (tree_leaves(time, tree) == 1)
		leaf = 0;
	key = (uint64_t)(tree + 1) << 56 | leaf;
	if (time->touched_count * 2 >= time->touched_mask)
		buckets_double(time);
	at = bucket_of(time, key);
	if (time->touched[at])
		return;
	time->touched[at] = key;
	time->touched_count++;
	/* What was made since the start, or was all there was, never left memory. */
	if (!cache_buffer_use(mount->cache, key | UINT64_C(1) << 63, NODE_BYTES) && !is_new &&
	    time->leaves_at_mount[tree] > 1)
		mount_read(mount, btrfs_node_offset(mount->state, key), NODE_BYTES);
}

void btrfs_touch_inode(struct filesystem_mount *mount, uint32_t inode)
{
	touch(mount, TREE_FILES, UINT64_C(1) << 55 | inode / LEAF_INODES, true);
}

static void touch_range(struct filesystem_mount *mount, enum btrfs_tree tree, uint64_t block,
			uint64_t blocks, uint64_t leaf_blocks, bool is_new)
{
	for (uint64_t leaf = block / leaf_blocks; leaf <= (block + blocks - 1) / leaf_blocks;
	     leaf++)
		touch(mount, tree, leaf, is_new);
}

void btrfs_touch_extent(struct filesystem_mount *mount, uint32_t file, const struct space_run *run,
			bool is_new)
{
	struct btrfs_time *time = mount->state->time;
	uint64_t runs = space_runs(time->space, file), pages = space_pages(time->space, file);
	uint32_t inode = time->files.at[file].inode;

	btrfs_touch_inode(mount, inode);
	if (runs >= LEAF_EXTENTS)
		touch(mount, TREE_FILES,
		      (uint64_t)inode << 22 | run->page * runs / (pages ? pages : 1) / LEAF_EXTENTS,
		      true);
	if (!time->is_nodatacow && run->state == SPACE_WRITTEN)
		touch_range(mount, TREE_CHECKSUMS, run->block, run->pages, LEAF_CHECKSUMS, is_new);
	touch(mount, TREE_EXTENTS,
	      run->block * (time->runs + 1) / (time->used_blocks + 1) / LEAF_EXTENTS, is_new);
	touch(mount, TREE_FREE_SPACE,
	      run->block * tree_leaves(time, TREE_FREE_SPACE) / time->device_blocks, true);
}

void btrfs_leaves_count(struct btrfs_time *time)
{
	for (enum btrfs_tree tree = 0; tree < TREES; tree++)
		time->leaves_at_mount[tree] = tree_leaves(time, tree);
}

/* ---- what is written ---- */

void btrfs_nodes_write(struct filesystem_mount *mount, uint64_t nodes)
{
	struct btrfs_time *time = mount->state->time;

	for (uint64_t i = 0; i < nodes; i++) {
		uint64_t at = time->node_next++ % time->node_room;

		for (uint64_t copy = 0; copy < 2; copy++)
			mount_write(mount,
				    time->node_start * SPACE_BLOCK_BYTES +
					    (at + copy * time->node_room) * NODE_BYTES,
				    NODE_BYTES);
	}
	mount_cpu(mount, nodes * NODE_CPU_NS);
}

/* What comes before is durable first; the first of the super blocks is written through. */
void btrfs_super_write(struct filesystem_mount *mount, bool all)
{
	const struct btrfs_time *time = mount->state->time;

	mount_then(mount);
	mount_flush(mount);
	mount_then(mount);
	for (int mirror = 0; mirror < (all ? SUPER_MIRRORS : 1); mirror++)
		if (super_offsets[mirror] + SUPER_BYTES <= time->device_blocks * SPACE_BLOCK_BYTES)
			mount_write(mount, super_offsets[mirror], SUPER_BYTES);
	mount_then(mount);
	mount_flush(mount);
	mount_then(mount);
}

/* All nodes of the trees, by their number of items. */
static uint64_t trees_nodes(const struct btrfs_time *time)
{
	uint64_t leaves = 4; /* the trees of roots, chunks, devices and identities */

	for (enum btrfs_tree tree = 0; tree < TREES; tree++)
		leaves += tree_leaves(time, tree);
	leaves += leaves / LEAF_NODES;
	return leaves + leaves / NODE_CHILDREN + TREES;
}

static uint64_t commit_nodes(const struct btrfs_time *time)
{
	uint64_t leaves[TREES] = {0}, nodes = 1; /* the tree of roots */

	for (size_t i = 0; time->touched && i <= time->touched_mask; i++)
		if (time->touched[i])
			leaves[(time->touched[i] >> 56) - 1]++;
	if (time->has_new_chunk)
		nodes += 2; /* chunks, devices */
	for (enum btrfs_tree tree = 0; tree < TREES; tree++) {
		uint64_t all = tree_leaves(time, tree), inner = all / NODE_CHILDREN + 1;

		nodes += leaves[tree];
		if (all > 1 && leaves[tree] > 0)
			nodes += (inner < leaves[tree] ? inner : leaves[tree]) + (inner > 1);
	}
	if (tree_leaves(time, TREE_EXTENTS) > 1) {
		uint64_t homes = trees_nodes(time) / LEAF_NODES + 1;

		nodes += homes < nodes ? homes : nodes;
	}
	return nodes;
}

void btrfs_commit(struct filesystem_mount *mount)
{
	struct btrfs_time *time = mount->state->time;

	if (!time->is_touched || !mount->io)
		return;
	mount_then(mount);
	btrfs_nodes_write(mount, commit_nodes(time));
	btrfs_super_write(mount, true);
	for (size_t i = 0; i < time->pinned.count; i++)
		btrfs_room_give(time, time->pinned.at[i].block, time->pinned.at[i].pages);
	time->pinned.count = 0;
	time->pinned_blocks = time->pinned_nodes = 0;
	log_tree_empty(time->log);
	time->pending.count = 0;
	for (size_t i = 0; time->touched_count > 0 && i <= time->touched_mask; i++)
		time->touched[i] = 0;
	time->touched_count = 0;
	time->must_commit = time->has_new_chunk = time->is_touched = false;
	time->transaction_id++;
}

/*
 * Nodes replaced within a transaction stay where they are until it commits. If the chunks for
 * metadata are full, there is one more; if there is none, a commit makes room, or nothing does.
 */
void btrfs_nodes_watch(struct filesystem_mount *mount)
{
	struct btrfs_time *time = mount->state->time;

	while (trees_nodes(time) + time->pinned_nodes + time->touched_count >
	       time->node_blocks_max) {
		bool was_background = mount->is_background;

		if (btrfs_chunk_add(mount, true))
			continue;
		if (time->pinned_nodes == 0) {
			mount->is_out_of_space = true;
			return;
		}
		mount->is_background = false; /* whoever comes waits */
		btrfs_commit(mount);
		mount->is_background = was_background;
	}
}
