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
#include "machine/model/io.h"
#include "machine/model/tree.h"
#include "op/source.h"

struct filesystem_state; /* each file system's own */

/* What can be chosen when a file system is made. 0: its own default. */
struct filesystem_options {
	uint64_t device_bytes;     /* the device's size */
	uint64_t record_bytes;     /* zfs: recordsize */
	uint64_t arc_max_bytes;    /* zfs: zfs_arc_max; 0: its own default */
	uint32_t arc_meta_percent; /* zfs: zfs_arc_meta_limit_percent */
	uint32_t metaslabs;        /* zfs: metaslabs_per_vdev */
	uint64_t seed;
	uint32_t processors; /* of the machine; 0: nobody keeps time */
	bool no_barriers;    /* mounted so that it never flushes the device's cache */
};

struct filesystem_mount {
	struct cache *cache;
	struct tree *tree;
	struct cache_plan *plan; /* of the operation under way */
	struct filesystem_state *state;
	uint64_t now_ns;
	struct filesystem_options options;
	/*
	 * What the operation under way asks of the device; NULL: nobody keeps time, and nothing
	 * below that is about time, places or the journal's bytes need be done.
	 */
	struct io_list *io;
	/* the kernel's own threads are at work (flusher, journal, txg): nobody waits */
	bool is_background;
	bool syncs_all; /* sync() is about the whole file system, whatever its node */
	/* the file of an operation whose node has lost its name; 0: what the node says */
	uint32_t orphan;
	/* background() is to be called again as soon as what it asks for now is done */
	bool goes_on;
	/* sums, for the series: processor time of its allocator; operations that await (below) */
	uint64_t allocation_ns, awaits;
	/* a number that a file system raises in background(): whoever awaits it goes on (IO_AWAIT) */
	uint64_t reached;
	/* set by a file system that cannot be made as its options say: why (ERROR_INPUT) */
	const char *failure;
	/*
	 * The file system had no room for something: the run cannot go on. (A write is given its
	 * room when it is written back, not, as in the kernel, when it is made.)
	 */
	bool is_out_of_space;
};

/*
 * Metadata from or to the device, outside the page cache: counted (cache_read_outside(),
 * cache_write_outside()) and, if time is kept, asked of the device. A write is counted only if time
 * is kept.
 */
void mount_read(struct filesystem_mount *mount, uint64_t offset, uint64_t bytes);
void mount_write(struct filesystem_mount *mount, uint64_t offset, uint64_t bytes);
/* The device's cache is flushed: all that was written before is durable after it. */
void mount_flush(struct filesystem_mount *mount);
/* What follows waits for what was asked before. */
void mount_then(struct filesystem_mount *mount);
/* What follows waits until mount->reached is so much; background() is called at once. */
void mount_await(struct filesystem_mount *mount, uint64_t reached);
/*
 * A record that makes what was written before it true: that is durable first, then the record is
 * (FUA, which a device that has none makes of another flush).
 */
void mount_write_durable(struct filesystem_mount *mount, uint64_t offset, uint64_t bytes);
/* Processor time, apart from what any system call takes. */
void mount_cpu(struct filesystem_mount *mount, uint64_t ns);
/* The file of the operation's node, also when its name is gone; 0: none. */
static inline uint32_t mount_file(const struct filesystem_mount *mount, uint32_t node)
{
	uint32_t file = mount->tree->nodes.at[node].file;

	return file ? file : mount->orphan;
}
/* The same of a rename, which the file has behind it or, a directory, before it. */
static inline uint32_t mount_renamed(const struct filesystem_mount *mount, uint32_t from,
				     uint32_t to)
{
	uint32_t file = mount->tree->nodes.at[to].file;

	return file ? file : mount->tree->nodes.at[from].file;
}
/* Processor time that is spent while the device is at work on the same: it makes nobody wait. */
void mount_cpu_aside(struct filesystem_mount *mount, uint64_t ns);
/* Data from or to the device: counted by the cache already. */
void mount_data(struct filesystem_mount *mount, enum io_kind kind, uint64_t offset, uint64_t bytes);

struct filesystem {
	const char *name;
	const char *summary;
	struct cache_filesystem core;
	/* the largest request that readahead may use; linux-caching.md 4.1 */
	uint32_t device_io_pages;
	/*
	 * O_DIRECT of what is not aligned to this is buffered, and so are reads of what was dirty
	 * (btrfs); 0: it must be aligned to the device's sectors
	 */
	uint32_t direct_bytes;

	/*
	 * After the files that exist are known, before the first operation. Time is kept for the
	 * whole run if `io` is there now.
	 */
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
	/* A name is removed, and with it the file, which has no other and is not open. */
	void (*remove)(struct filesystem_mount *mount, uint32_t node);
	/*
	 * A file has one more name, `node`, or one less of several. NULL: nothing that the cache
	 * would notice.
	 */
	void (*linked)(struct filesystem_mount *mount, uint32_t node);
	void (*unlinked)(struct filesystem_mount *mount, uint32_t node);
	/*
	 * The last name is removed, but somebody has the file open: what it has stays until the last
	 * of them closes it, which freed() says. NULL: remove() it is, and no freed().
	 */
	void (*orphaned)(struct filesystem_mount *mount, uint32_t node);
	void (*freed)(struct filesystem_mount *mount, uint32_t file);
	/*
	 * The directory is listed: read what comes next of its entries, *place being how far that
	 * came (0 at first, the file system's own count then). False: that was the last. NULL:
	 * nothing to read.
	 */
	bool (*readdir)(struct filesystem_mount *mount, uint32_t node, uint64_t *place);
	/* fsync or sync: the journal is committed. NULL: nothing that the cache would notice. */
	void (*commit)(struct filesystem_mount *mount);
	/* After every operation: what is due. NULL: nothing. */
	void (*tick)(struct filesystem_mount *mount);

	/* ---- only called when time is kept (mount->io) ---- */

	/* Pages of a file are read: where they are. */
	void (*fetch)(struct filesystem_mount *mount, uint32_t file, uint64_t index,
		      uint64_t pages);
	/* Dirty pages are written: allocates what they need, and where. */
	void (*write_back)(struct filesystem_mount *mount, uint32_t file, uint64_t index,
			   uint64_t pages);
	/*
	 * fsync, fdatasync (`data_only`): all dirty pages of the file were passed to write_back(),
	 * now what must follow until all is durable. mount->syncs_all: sync, everything.
	 */
	void (*sync)(struct filesystem_mount *mount, uint32_t node, bool data_only);
	/* The name at `from` is `to` now; a directory's will be: its file is still at `from`. */
	void (*renamed)(struct filesystem_mount *mount, uint32_t from, uint32_t to);
	/* A file was written to: its time stamp changes. NULL: that costs nothing. */
	void (*written)(struct filesystem_mount *mount, uint32_t file);
	/* A file became longer by a write, or was truncated, or fallocated (bytes > 0: the range). */
	void (*resized)(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
			uint64_t new_bytes);
	void (*allocated)(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
			  uint64_t bytes);
	/* The kernel's threads' turn, every 100 ms: journal, flusher, transaction groups. */
	void (*background)(struct filesystem_mount *mount);
	/* The warm-up is over: what it says of itself counts from here. NULL: it says nothing. */
	void (*counting_begins)(struct filesystem_mount *mount);
	/* What it says of itself at the end of a run: op_source_reporter.figure. NULL: nothing. */
	void (*report)(const struct filesystem_mount *mount, void *context,
		       void (*figure)(void *context, const char *name, const char *meaning,
				      double value, bool per_work));
	uint64_t (*free_bytes)(const struct filesystem_mount *mount);
	uint64_t (*cache_bytes)(const struct filesystem_mount *mount); /* of its own; NULL: none */
	/* The mean free run on the device. NULL: it does not say. */
	uint64_t (*free_run_bytes)(const struct filesystem_mount *mount);

	/*
	 * A file system with a cache of its own for data (zfs): these instead of cache_read() and
	 * cache_write(), with or without time. NULL: the page cache.
	 */
	void (*read)(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
		     uint64_t bytes);
	void (*write)(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
		      uint64_t bytes);
	/* One of them will probably be asked for (op/source.h, op_foresight). */
	void (*expect)(const struct filesystem_mount *mount, uint32_t file, uint64_t offset,
		       enum op_nearness nearness);
};

#endif
