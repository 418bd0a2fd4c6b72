/*
 * probe_shared: what the probe's two halves, in the kernel and out of it, agree on
 *
 * Plain types of fixed width and no functions: this is compiled for BPF as well.
 */
#ifndef REFAULT_MACHINE_KERNEL_PROBE_SHARED_H
#define REFAULT_MACHINE_KERNEL_PROBE_SHARED_H

#include <stdint.h>

enum {
	PROBE_WORKERS_MAX = 4096,
	PROBE_STREAMS_MAX = 1024, /* numbers 0 .. 1023; 0: nobody known */
	PROBE_COMMAND_BYTES = 16, /* TASK_COMM_LEN */
	PROBE_CACHE_NAME_BYTES = 24,
	PROBE_BLOCK_PAGES = 64, /* pages remembered together */
};

/* What a worker is doing to the file system. */
enum probe_op {
	PROBE_OP_NONE,  /* nothing that is counted: pages it inserts are other_pages */
	PROBE_OP_READ,  /* a read, a fault, advice WILLNEED (with an empty range) */
	PROBE_OP_WRITE, /* a write: pages it covers in part are read first */
	PROBE_OP_OTHER, /* open, stat, create, unlink, fsync, truncate ... */
};

/*
 * What one worker asks for now. The worker writes it plainly before each system call (or touch of a
 * mapped page); nobody else writes it. One cache line, so that workers do not meet.
 */
struct probe_worker {
	uint32_t op;                   /* enum probe_op */
	uint32_t stream;               /* 0 .. stream_count - 1 */
	uint64_t ino;                  /* the file read or written */
	uint64_t first_byte, end_byte; /* of the read or write: [first_byte, end_byte) */
	uint64_t unused[4];
} __attribute__((aligned(64)));

/*
 * Counters of one stream. Pages are of 4 KiB: a folio counts as many as it has. The pages are data
 * of files on the one file system watched, never its metadata.
 */
struct probe_counters {
	/* Inserted by the stream's workers, each page in exactly one of these four. */
	uint64_t page_misses;     /* asked for by the op, and read for it */
	uint64_t readahead_pages; /* by a read, not asked for */
	uint64_t written_pages;   /* by a write, which covers or makes them */
	uint64_t other_pages;     /* by an op of another kind */

	uint64_t reread_pages; /* of misses and readahead: evicted before, under pressure */

	/* While the stream's workers reclaimed: they caused it, whoever used the page before. */
	uint64_t evictions; /* pages */
	uint64_t
		scan_activations; /* pages of the cgroup; see probe_counts for where they may lie */
	uint64_t deactivations;   /* pages of the cgroup */
	uint64_t dentries_evicted;
	uint64_t inodes_evicted;                     /* linked ones */
	uint64_t reclaim_calls, reclaim_freed_pages; /* of any kind, anonymous ones too */
	uint64_t shrinker_calls, shrinker_freed;     /* of any shrinker; objects in its own unit */

	/* Pages of the block device's own cache, where ext4 has its metadata: apart from the above. */
	uint64_t metadata_evictions, metadata_reread_pages;

	uint64_t refault_activations; /* pages */
	uint64_t mark_activations;    /* pages that a second use moved, or that came in active so */

	uint64_t dentries_allocated;
	uint64_t inodes_allocated;
	uint64_t inodes_reallocated; /* read in again after an eviction under pressure */
};

/* What the block device was given, in bytes. `metadata` is what the file system flags so. */
struct probe_device {
	uint64_t data_read_bytes, metadata_read_bytes;
	uint64_t data_written_bytes, metadata_written_bytes;
};

/* Who else had a hand in it, in pages of the file system's files. */
struct probe_disturbance {
	uint64_t inserted_pages; /* by a task that is no worker */
	uint64_t evicted_pages;  /* by reclaim that no worker ran: kswapd, kdamond ... */
	uint64_t dropped_pages; /* deleted otherwise by a task that is no worker: drop_caches ... */
	uint64_t inodes_evicted;               /* like evicted_pages */
	char inserted_by[PROBE_COMMAND_BYTES]; /* the latest; "": none */
	char evicted_by[PROBE_COMMAND_BYTES];
	char dropped_by[PROBE_COMMAND_BYTES];
};

/* Pages of one file that came into the cache and left it, for whatever reason, whoever did it. */
struct probe_file_pages {
	uint64_t inserted, deleted;
};

/* ---- the rest is between the two halves alone ---- */

/* In a map that both halves see; written by one, read by the other. */
struct probe_control {
	/* user half */
	uint32_t is_counting;
	uint32_t device;       /* super block's s_dev, as the kernel encodes it */
	uint32_t block_device; /* likewise */
	uint32_t stream_count;
	uint64_t skipped_ino;              /* has metadata in its pages; 0: none */
	uint32_t inode_numbers_come_again; /* after an unlink, with another generation */
	uint32_t unused;
	char inode_cache_name[PROBE_CACHE_NAME_BYTES];
	/* kernel half */
	uint64_t dentry_cache, inode_cache; /* kmem_caches, once seen */
	uint64_t page_memory_lost;          /* evictions that could not be remembered */
	uint64_t inode_memory_lost;
	uint64_t file_pages_lost;
	uint64_t metadata_inserted_pages;
	uint64_t metadata_evicted_pages;
	struct probe_disturbance disturbance;
};

struct probe_page_key {
	uint64_t ino;
	uint32_t generation;
	uint32_t block; /* page index / PROBE_BLOCK_PAGES */
};

struct probe_page_memory {
	uint64_t evicted;                   /* bit per page: under pressure, not back since */
	uint64_t refaulted;                 /* bit per page: back, not seen on a list yet */
	uint16_t stream[PROBE_BLOCK_PAGES]; /* evicted: who forced it out; refaulted: who read it */
};

struct probe_inode_key {
	uint64_t ino;
	uint64_t generation;
};

/* A worker's own, for the kernel half. */
struct probe_worker_state {
	uint64_t shrinker; /* the file system's, while it runs for this worker; 0: not */
	uint64_t inodes_in_shrinker;
};

#endif
