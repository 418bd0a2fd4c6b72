/*
 * btrfs_private: btrfs's state, for its own files
 *
 * btrfs.c names, inodes and tree nodes read; btrfs_log.c the tree that fsync writes;
 * btrfs_transaction.c what a transaction touches and its commit; btrfs_data.c where data lies (these
 * three only if time is kept).
 */
#ifndef REFAULT_MACHINE_MODEL_FS_BTRFS_PRIVATE_H
#define REFAULT_MACHINE_MODEL_FS_BTRFS_PRIVATE_H

#include "base/array.h"
#include "machine/model/filesystem.h"
#include "machine/model/fs/btrfs_log.h"
#include "machine/model/space.h"

enum {
	NODE_BYTES = 16384,
	NODE_USABLE_BYTES = 16283,
	INODE_ITEM_BYTES = 220,
	ENTRY_ITEM_BYTES = 55,
	SMALL_ENTRIES = 250, /* a directory up to this: all items together */
	SMALL_ITEM_BYTES = 330,
	SMALL_FILL_PERCENT = 86,
	ENTRY_FILL_PERCENT = 86,
	/* entries by number, measured: with 9 letters a name, with 28 */
	LISTED_FILL_PERCENT = 92,
	LISTED_FILL_LONG_PERCENT = 68,
	LISTED_SHORT_BYTES = 9,
	LISTED_LONG_BYTES = 28,
	READDIR_NODES = 4,
	DATA_ITEM_BYTES = 78,
	DATA_FILL_PERCENT = 72,
	INLINE_ITEM_BYTES = 46,
	INLINE_FILL_PERCENT = 91,
	INLINE_FILE_BYTES = 2048,       /* mount option max_inline */
	CHECKSUM_DATA_BYTES = 16672358, /* of data a checksum leaf covers: 15.9 MiB */
	CREATE_WRITE_BYTES = 296,       /* tree nodes dirtied, a create */
};

/* Where the items of a directory's entries are; by tree_node.layout, [0] unused. */
struct directory {
	uint64_t start;      /* of a small one, bytes into the tree, fill and all */
	uint64_t data_bytes; /* of items for its files' data */
};

enum btrfs_tree { TREE_FILES, TREE_CHECKSUMS, TREE_EXTENTS, TREE_FREE_SPACE, TREES };

/*
 * A block group holds extents of one size, as long as there are others to choose from
 * (btrfs_calc_block_group_size_class()).
 */
enum btrfs_size { SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE, SIZE_NONE, SIZES };

struct btrfs_chunk {
	uint64_t block, blocks;
	enum btrfs_size size; /* SIZE_NONE: nothing is in it */
};

/* By the cache's id of the file. What belongs to a transaction names it, and is void after it. */
struct btrfs_file {
	uint32_t inode;      /* 0: no such file (any more) */
	uint32_t changed_in; /* the transaction in which it was, since it was synced last */
	uint32_t named_in;   /* and in which its name was, not yet logged */
	uint32_t logged_in;
	uint32_t pending_in,
		pending; /* the first of its extents that are not yet logged, and 1 more */
	/* of a directory: numbers given to entries, those that are free again, and what is logged */
	uint32_t names, names_logged, gaps, gaps_logged;
};

/* An extent that was written, or allocated, and is not yet in the log. */
struct btrfs_pending {
	struct space_run run;
	uint32_t next; /* and 1 more */
};

/* Only if time is kept. */
struct btrfs_time {
	struct space *space;              /* where files lie */
	struct space *room[SIZES];        /* what is free in chunks for data of each size */
	ARRAY(struct btrfs_chunk) chunks; /* for data, in order of place */
	struct log_tree *log;
	uint64_t device_blocks, unallocated_block; /* beyond it are no chunks yet */
	uint64_t node_start, node_room;      /* the first chunk for metadata: nodes are put there */
	uint64_t node_next, node_blocks_max; /* nodes that all its chunks hold */
	uint32_t transaction_id;
	uint64_t transaction_began_ns;
	bool must_commit; /* a chunk was allocated: no log will do */
	bool has_new_chunk;
	bool is_touched;
	uint64_t pinned_nodes;          /* written in this transaction, and replaced since */
	ARRAY(struct space_run) pinned; /* freed by this transaction: free when it commits */
	uint64_t pinned_blocks;
	ARRAY(struct btrfs_file) files;
	uint32_t inodes;
	ARRAY(struct btrfs_pending) pending;
	uint64_t used_blocks, runs; /* of all files */
	uint64_t leaves_at_mount[TREES];
	uint64_t *touched; /* leaves, by hash: tree and number; 0: empty */
	size_t touched_mask, touched_count;
	bool is_nodatacow;
};

struct filesystem_state {
	struct btrfs_time *time; /* NULL: nobody keeps it */
	ARRAY(struct directory) directories;
	bool is_one_leaf;
	uint64_t file_start;    /* where the next file's checksums begin, data bytes */
	ARRAY(uint64_t) starts; /* by tree node */
};

/* ---- btrfs_room.c ---- */

void btrfs_room_make(struct filesystem_mount *mount);
void btrfs_room_destroy(struct btrfs_time *time);
/* Another chunk for data or metadata. False: all is allocated. */
bool btrfs_chunk_add(struct filesystem_mount *mount, bool is_metadata);
/* At most so many blocks in one piece; as space_take(). */
uint64_t btrfs_room_take(struct filesystem_mount *mount, uint64_t goal, uint64_t blocks,
			 uint64_t *block);
void btrfs_room_give(struct btrfs_time *time, uint64_t block, uint64_t blocks);
uint64_t btrfs_room_blocks(const struct btrfs_time *time);
uint64_t btrfs_room_pieces(const struct btrfs_time *time);
uint64_t btrfs_node_offset(const struct filesystem_state *fs, uint64_t key);

/* ---- btrfs_transaction.c ---- */

/* The inode, or an entry of the directory, changed: its leaf is copied when this transaction commits. */
void btrfs_touch_inode(struct filesystem_mount *mount, uint32_t inode);
/* An extent of the file came or went: so do its items in four trees. */
void btrfs_touch_extent(struct filesystem_mount *mount, uint32_t file, const struct space_run *run,
			bool is_new);
/* The trees are as the start finds them. */
void btrfs_leaves_count(struct btrfs_time *time);
/* So many nodes are written (each twice). */
void btrfs_nodes_write(struct filesystem_mount *mount, uint64_t nodes);
void btrfs_super_write(struct filesystem_mount *mount, bool all);
void btrfs_commit(struct filesystem_mount *mount);
/* What the log and the trees take is watched: a chunk more, a commit, or the end. */
void btrfs_nodes_watch(struct filesystem_mount *mount);

/* ---- btrfs_data.c ---- */

void btrfs_data_mount(struct filesystem_mount *mount, bool is_nodatacow);
void btrfs_data_unmount(struct filesystem_state *fs);
void btrfs_data_create(struct filesystem_mount *mount, uint32_t node);
void btrfs_data_remove(struct filesystem_mount *mount, uint32_t node);
void btrfs_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
void btrfs_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index,
		      uint64_t pages);
void btrfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only);
void btrfs_linked(struct filesystem_mount *mount, uint32_t node);
void btrfs_unlinked(struct filesystem_mount *mount, uint32_t node);
void btrfs_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to);
void btrfs_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
		   uint64_t new_bytes);
void btrfs_allocated(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
		     uint64_t bytes);
void btrfs_background(struct filesystem_mount *mount);
uint64_t btrfs_free_bytes(const struct filesystem_mount *mount);

#endif
