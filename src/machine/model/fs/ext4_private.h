/*
 * ext4_private: ext4's state, for its own files
 *
 * ext4.c names, inodes and directories; ext4_journal.c transactions; ext4_data.c where data lies and
 * what it takes to have it there (only if time is kept).
 */
#ifndef REFAULT_MACHINE_MODEL_FS_EXT4_PRIVATE_H
#define REFAULT_MACHINE_MODEL_FS_EXT4_PRIVATE_H

#include "base/array.h"
#include "machine/model/filesystem.h"
#include "machine/model/space.h"

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
	WRITE_BACK_SECONDS = 30, /* what the flusher lets lie (dirty_expire_centisecs) */
	TAGS_PER_BLOCK = 254,    /* blocks named by one descriptor block in the journal */
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

/*
 * Blocks that the page cache's model leaves out (a few pages), but the journal has: changed in a
 * transaction, in place 30 s later.
 */
enum ext4_aside { ASIDE_SUPER, ASIDE_DESCRIPTORS, ASIDE_INODES, ASIDE_BLOCKS, ASIDE_EXTENTS };

struct aside {
	uint32_t transaction_id; /* the last that has it */
	bool is_dirty, is_loaded;
};

/* By the cache's id of the file. */
struct ext4_file {
	uint32_t inode; /* and 1 more; 0: no such file (any more) */
	/* transactions that fsync, and fdatasync, must see committed */
	uint32_t sync_id, data_id;
	uint64_t stamp; /* of its last change, in jiffies, and 1 more */
};

struct aside_name {
	enum ext4_aside kind;
	uint32_t number;
};

/* Only if time is kept. */
struct ext4_time {
	struct space *space;
	uint64_t device_blocks, reserved_blocks;
	uint64_t group_start[GROUPS], group_blocks; /* inode tables, on the device */
	uint64_t other_start, other_blocks;         /* directories, extents, bitmaps */
	uint64_t journal_start, journal_blocks, journal_next;
	bool is_used; /* the first change marks the super block */
	ARRAY(struct ext4_file) files;
	ARRAY(struct aside) asides[ASIDE_EXTENTS + 1];
	uint32_t aside_count; /* in the running transaction */
	ARRAY(struct aside_name) dirty;
	uint64_t dirty_since_ns;
	ARRAY(uint32_t) free_inodes; /* of removed files, the last first */
};

struct filesystem_state {
	struct ext4_time *time; /* NULL: nobody keeps it */
	uint32_t device;        /* the cache's file of the block device */
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

uint64_t ext4_inode_block(uint32_t inode);
struct directory *ext4_directory_grow(struct filesystem_mount *mount, uint32_t node, bool make);
uint64_t ext4_leaf_of(const struct directory *directory, const struct tree_node *name);

/* ---- ext4_journal.c ---- */

/* A block that this operation changes: in the running transaction until it commits. */
void ext4_block_change(struct filesystem_mount *mount, uint64_t block);
void ext4_aside_change(struct filesystem_mount *mount, enum ext4_aside kind, uint32_t number);
void ext4_transaction_commit(struct filesystem_mount *mount);
bool ext4_transaction_is_empty(const struct filesystem_state *fs);
/* What is long committed goes to its place. */
void ext4_asides_write(struct filesystem_mount *mount);

/* ---- ext4_data.c ---- */

void ext4_data_mount(struct filesystem_mount *mount);
void ext4_data_unmount(struct filesystem_state *fs);
/* Where a block of the cache's device file is on the device, bytes. */
uint64_t ext4_block_offset(const struct filesystem_state *fs, uint64_t block);
uint64_t ext4_aside_offset(const struct filesystem_state *fs, struct aside_name name);
void ext4_data_create(struct filesystem_mount *mount, uint32_t node);
void ext4_data_remove(struct filesystem_mount *mount, uint32_t node);
void ext4_data_linked(struct filesystem_mount *mount, uint32_t node);
void ext4_data_orphaned(struct filesystem_mount *mount, uint32_t node);
void ext4_freed(struct filesystem_mount *mount, uint32_t file);
void ext4_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
void ext4_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
void ext4_sync(struct filesystem_mount *mount, uint32_t node, bool data_only);
void ext4_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to);
void ext4_written(struct filesystem_mount *mount, uint32_t file);
void ext4_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
		  uint64_t new_bytes);
void ext4_allocated(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes);
void ext4_background(struct filesystem_mount *mount);
uint64_t ext4_free_bytes(const struct filesystem_mount *mount);

#endif
