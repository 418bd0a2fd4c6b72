/*
 * filesystem: what a file system reads, and where its metadata lives
 *
 * The interface of the shelf machine/model/fs/. The model keeps the tree of names (tree.h); a file
 * system is told what is looked up, read, made and removed, and calls the cache for the metadata
 * blocks that this takes. Metadata is in the page cache (ext4: the device's pages, charged to
 * whoever reads them first) or in buffers of the file system's own that a cgroup does not pay for
 * (XFS, btrfs): then only the device bytes count.
 */
#ifndef REFAULT_MACHINE_MODEL_FILESYSTEM_H
#define REFAULT_MACHINE_MODEL_FILESYSTEM_H

#include "cache/cache.h"
#include "machine/model/tree.h"

struct filesystem_state; /* each file system's own */

struct filesystem_mount {
	struct cache *cache;
	struct tree *tree;
	struct cache_plan *plan; /* of the operation under way */
	struct filesystem_state *state;
	uint64_t now_ns;
};

struct filesystem {
	const char *name;
	const char *summary;
	struct cache_filesystem core;
	/* the largest request that readahead may use; linux-caching.md 4.1 */
	uint32_t device_io_pages;

	/* After the files that exist are known, before the first operation. */
	void (*mount)(struct filesystem_mount *mount);
	void (*unmount)(struct filesystem_mount *mount);
	/* The name is not in the dentry cache: find it in its directory (which may not have it). */
	void (*lookup)(struct filesystem_mount *mount, uint32_t node);
	/* The inode is not in the inode cache. */
	void (*inode_read)(struct filesystem_mount *mount, uint32_t node);
	/*
	 * Data bytes offset .. offset + bytes - 1 were read from the device: what maps and checks
	 * them must be there. NULL: nothing to read.
	 */
	void (*data_read)(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
			  uint64_t bytes);
	/* A new file or directory; its directory was looked up before. */
	void (*create)(struct filesystem_mount *mount, uint32_t node);
	/* A name is removed (the file too, if `last`). */
	void (*remove)(struct filesystem_mount *mount, uint32_t node);
	/* fsync or sync: the journal is committed. NULL: nothing that the cache would notice. */
	void (*commit)(struct filesystem_mount *mount);
	/* After every operation: what is due. NULL: nothing. */
	void (*tick)(struct filesystem_mount *mount);
};

#endif
