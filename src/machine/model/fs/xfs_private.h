/*
 * xfs_private: XFS's state, for its own files
 *
 * xfs.c names, inodes and directories; xfs_log.c the log; xfs_data.c where data lies and what is
 * logged to have it there (both only if time is kept).
 */
#ifndef REFAULT_MACHINE_MODEL_FS_XFS_PRIVATE_H
#define REFAULT_MACHINE_MODEL_FS_XFS_PRIVATE_H

#include "base/array.h"
#include "machine/model/filesystem.h"
#include "machine/model/space.h"

enum {
	CLUSTER_INODES = 32,
	CLUSTER_BYTES = 16384,
	BLOCK_BYTES = 4096,
	GROUPS = 4,
	/*
	 * a directory this small is in its inode (measured: 188 is, 198 is not; the rest is kept
	 * for attributes)
	 */
	INODE_DIRECTORY_BYTES = 195,
	SHORT_ENTRY_BYTES = 7, /* and the name */
	SHORT_HEADER_BYTES = 6,
	BLOCK_USABLE_BYTES = 4032,
	/* hashes that one leaf holds; the first is that of the whole directory */
	LEAF_NAMES_MOST = 500,
	/* half full after splits: hashes of short numbered names come in order */
	LEAF_NAMES = 254,
	LEAF_NAMES_LONG = 330, /* those of 8 letters and more do not */
	PUSH_CREATES = 200,
	UNCOMMITTED_CREATES = 13000,
	/* read when the first inode of an allocation group is made */
	GROUP_HEADER_BYTES = 5 * BLOCK_BYTES,
};

/* Metadata blocks that are logged by the 128 bytes. */
enum xfs_block {
	BLOCK_AGF,      /* an allocation group's header: free space */
	BLOCK_AGI,      /* the same: inodes */
	BLOCK_BY_PLACE, /* free extents, by place */
	BLOCK_BY_SIZE,
	BLOCK_INODES, /* inode chunks, all and those with free ones */
	BLOCK_FREE_INODES,
	BLOCK_MAP, /* a file's extents that its inode cannot hold */
	BLOCK_DIRECTORY,
	BLOCK_DIRECTORY_LEAF,
};

struct xfs_buffer {
	uint64_t key; /* 0: an empty bucket */
	uint32_t chunks;
	uint32_t checkpoint; /* the last that has it */
};

/* By the cache's id of the file. */
struct xfs_file {
	uint32_t node;            /* of one of its names, and 1 more; 0: it has none */
	uint32_t group, inode;    /* group: and 1 more; 0: no such file (any more) */
	uint32_t checkpoint;      /* the last that has the inode at all */
	uint32_t data_checkpoint; /* and with more than a time stamp */
	uint32_t entry;           /* where its name is in its directory: the number of its place */
	uint32_t entries;         /* of a directory: places given to names so far */
	bool has_fork;            /* its extents or entries are logged, too */
	bool is_dirty;            /* not yet in its place */
};

/* A file without a name, whose blocks and inode the kernel's worker will free. */
struct xfs_orphan {
	uint32_t file, inode, group;
};

/* Only if time is kept. */
struct xfs_time {
	struct space *space;
	uint64_t device_blocks, group_blocks;
	uint64_t inodes_start[GROUPS], inodes_blocks, other_start, other_blocks;
	uint64_t log_start, log_bytes, log_next; /* blocks; bytes */
	uint32_t checkpoint;                     /* the one that gathers: 1, 2, ... */
	ARRAY(struct xfs_file) files;
	struct xfs_buffer *buffers; /* dirty ones, by hash */
	size_t buffer_mask, buffer_count;
	ARRAY(uint32_t) logged_files;   /* in the checkpoint that gathers */
	ARRAY(uint64_t) logged_buffers; /* keys */
	uint64_t gathered_ns;           /* since when it does */
	ARRAY(uint32_t) dirty_files;
	uint64_t pushed_ns, logged_since_push;
	ARRAY(struct xfs_orphan) orphans;
	uint64_t removed_ns; /* the last of them */
};

struct filesystem_state {
	struct xfs_time *time; /* NULL: nobody keeps it */
	uint64_t group_inodes[GROUPS];
	uint32_t next_group;
	ARRAY(uint32_t) logged; /* files in order of creation */
	size_t logged_first;    /* those before are out of the log */
	size_t push_at;         /* how many were created when the shrinker last asked */
	uint64_t shrinker_calls;
};

enum what { WHAT_CLUSTER, WHAT_DATA, WHAT_LEAF, WHAT_NODE };
enum { HEADER_CLUSTER = (1 << 28) - 1 }; /* as an inode cluster's number: the group's header */

/* ---- xfs.c ---- */

/* Are the directory's entries in its inode? */
bool xfs_is_short(const struct tree_node *directory);

/* ---- xfs_log.c ---- */

enum xfs_change { CHANGE_STAMP, CHANGE_CORE, CHANGE_FORK };

void xfs_log_inode(struct filesystem_mount *mount, uint32_t file, enum xfs_change change);
/* `chunks`: a bit for each 128 bytes. */
void xfs_log_block(struct filesystem_mount *mount, enum xfs_block kind, uint32_t which,
		   uint32_t number, uint32_t chunks);
/* The name at `node` of this file comes to or leaves its directory. */
void xfs_log_entry(struct filesystem_mount *mount, uint32_t node, uint32_t file, bool is_added);
bool xfs_log_is_empty(const struct xfs_time *time);
/* The checkpoint that gathers is written, and the next begins. */
void xfs_log_force(struct filesystem_mount *mount);
/* Everything goes to its place. */
void xfs_log_push(struct filesystem_mount *mount);
void xfs_log_tick(struct filesystem_mount *mount);

/* ---- xfs_data.c ---- */

void xfs_data_mount(struct filesystem_mount *mount);
void xfs_data_unmount(struct filesystem_state *fs);
/* Where a buffer of xfs.c's is on the device, bytes. */
uint64_t xfs_buffer_offset(const struct filesystem_state *fs, uint64_t key);
uint64_t xfs_block_offset(const struct filesystem_state *fs, uint64_t key);
uint64_t xfs_cluster_offset(const struct filesystem_state *fs, uint64_t cluster);
void xfs_data_create(struct filesystem_mount *mount, uint32_t node);
void xfs_data_remove(struct filesystem_mount *mount, uint32_t node);
void xfs_linked(struct filesystem_mount *mount, uint32_t node);
void xfs_unlinked(struct filesystem_mount *mount, uint32_t node);
void xfs_orphaned(struct filesystem_mount *mount, uint32_t node);
void xfs_freed(struct filesystem_mount *mount, uint32_t file);
void xfs_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
void xfs_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
void xfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only);
void xfs_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to);
void xfs_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
		 uint64_t new_bytes);
void xfs_allocated(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes);
void xfs_background(struct filesystem_mount *mount);
uint64_t xfs_free_bytes(const struct filesystem_mount *mount);

#endif
