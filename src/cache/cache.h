/*
 * cache: the core. It decides what stays in memory and what goes; it never does I/O
 *
 * One `struct cache` is a machine's page cache, dentry cache and inode cache in one memory budget,
 * following one policy. The caller names files and directory entries once (cache_file_add,
 * cache_name_add), then says what happens to them. Each call may fill a plan: the runs of pages to
 * be read or written. The caller carries the plan out and says when (cache_fetched, cache_written);
 * until then those pages are in flight: present, not evictable. With `completes_at_once` the core
 * takes every run as done when it is planned, and the two calls are not needed.
 *
 * Nothing here owns a clock, a thread, a lock or a descriptor; `now_ns` comes in with the calls
 * that need it. The caller serialises. The same calls in the same order give the same result, to
 * the byte.
 *
 * Cost: 16 bytes a folio, 6.8 bytes an indexed page (resident, or evicted and remembered), 88 a
 * file, 28 a directory entry. Words and rules: linux-caching.md in the project's design; each rule
 * names its kernel source where it is written.
 */
#ifndef REFAULT_CACHE_CACHE_H
#define REFAULT_CACHE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/counters.h"
#include "cache/policy_options.h"

struct cache; /* opaque: cache_private.h */

/* Since when does this file system use large folios? (linux-caching.md 1.6) */
enum cache_folios {
	CACHE_FOLIOS_NEVER, /* btrfs */
	/* as XFS: the switches folios_read and folios_write say "xfs" or "all" */
	CACHE_FOLIOS_EARLY,
	CACHE_FOLIOS_LATE, /* as ext4: they say "all" */
};

/*
 * What the core must know of a file system. Bytes are charged ones: the object and its share of its
 * accounting.
 */
struct cache_filesystem {
	enum cache_folios folios;
	/* looks folios up as accessed in writes, if the switch write_marks_btrfs says so */
	bool marks_on_write;
	/*
	 * a folio that a write covers in part is read wherever the write touches it, not only at
	 * the blocks covered in part (XFS)
	 */
	bool partial_reads_all;
	/* reclaim from reads never enters the file system, in any kernel (XFS) */
	bool reads_without_fs;
	bool writes_without_fs; /* nor from writes (XFS, btrfs) */
	/* making an inode may reclaim dentries and inodes (btrfs: before its transaction) */
	bool inode_make_fs;
	bool inode_read_fs; /* so may reading one in (XFS, btrfs) */
	enum cache_folios
		dontcache; /* knows RWF_DONTCACHE: the switch dontcache says "xfs" or "all" */
	/* the end of a write that changes no extents drops nothing behind it (ext4: in an interrupt) */
	bool writes_end_in_interrupt;
	/* O_DIRECT writes are buffered ones, if the switch direct_writes_btrfs says so */
	bool direct_writes_switched;
	/* an inode evicted from the VFS stays charged until the file system frees it (XFS) */
	bool evicted_inodes_linger;
	/* its data is in a cache of its own (ZFS): arc.h */
	bool data_in_arc;
	uint32_t dentry_bytes;
	uint32_t long_name_bytes; /* on top, for a name over `inline_name_bytes` */
	uint32_t inline_name_bytes;
	uint32_t inode_bytes;
	bool inode_bytes_switched; /* inode_bytes is what the switch ext4_inode_bytes says */
	uint32_t buffer_bytes;     /* per written 4 KiB block: ext4's buffer heads */
	uint32_t node_bytes;       /* one index node of 64 pages */
};

struct cache_config {
	const struct policy_options *policy;
	const struct cache_filesystem *filesystem;
	uint64_t memory_bytes; /* the cgroup's limit, or the whole machine's memory */
	bool is_cgroup;
	uint64_t pinned_bytes;    /* of memory_bytes: not cache */
	uint32_t readahead_pages; /* the device's window */
	/* its largest request; at most this much of a large read is one window (4.10) */
	uint32_t device_io_pages;
	bool completes_at_once;
	/*
	 * With it, where time is kept: writes are done when cache_written() says so, and what is
	 * written during reclaim is kept, for cache_flushed() to be asked.
	 */
	bool writes_take_time;
	/*
	 * Bare mode of a scan policy: no readahead, single pages, no index or slab memory, every
	 * access a use.
	 */
	bool bare;
	uint64_t seed; /* of what a policy draws by lot */
};

enum { CACHE_RECLAIM_STEP_PAGES = 32, CACHE_MEMORY_BYTES_MIN = 4 << 20 };

#define CACHE_MEMORY_BYTES_MAX (UINT64_C(4) << 40)

/*
 * Create; NULL if the memory is too small (ERROR_INPUT). `config` and what it points to may go
 * afterwards.
 */
struct cache *cache_create(const struct cache_config *config, struct error *error);
void cache_destroy(struct cache *cache);

/* A run of pages of one file. */
struct cache_run {
	uint64_t index; /* pages from the start of the file */
	uint32_t file;
	uint32_t pages;
};

enum { CACHE_PLAN_RUNS = 4352 };

struct cache_plan {
	struct cache_run fetch[CACHE_PLAN_RUNS];
	struct cache_run write[CACHE_PLAN_RUNS];
	uint32_t fetch_count, write_count;
	uint64_t fetch_bytes, write_bytes; /* sums */
};

/* ---- naming files and directory entries: identities, not memory ---- */

enum cache_file_flags {
	CACHE_FILE_SPARSE = 1, /* all hole: reading costs no device bytes until written */
	CACHE_FILE_DIRECTORY = 2,
	/*
	 * a file system's own blocks in the page cache (a block device's pages): order 0, each
	 * look-up a use
	 */
	CACHE_FILE_METADATA = 4,
};

/* A file of `size_bytes` that is on the device. Ids count up from 1. */
uint32_t cache_file_add(struct cache *cache, uint64_t size_bytes, uint32_t flags);
/* Its data is in the file system's metadata: reading it costs no device bytes of its own. */
void cache_file_inline(struct cache *cache, uint32_t file);
uint64_t cache_file_size(const struct cache *cache, uint32_t file);
uint64_t cache_file_count(const struct cache *cache);

/*
 * A directory entry `name_bytes` long in the directory whose own entry is `parent` (0: the root),
 * for `file` (0: there is none). Ids from 1.
 */
uint32_t cache_name_add(struct cache *cache, uint32_t parent, uint32_t file, uint32_t name_bytes);

/*
 * The name, which is not in memory and meant nothing, means this file, which is not in memory
 * either: things that were there before.
 */
void cache_name_bind(struct cache *cache, uint32_t name, uint32_t file);

/* ---- who asks, and when ---- */

/* All that follows is on account of this stream (1 .. 1023). */
void cache_stream(struct cache *cache, uint32_t stream);
uint32_t cache_stream_of(const struct cache *cache);
/* One more operation begins: statistics that are read every so many are. */
void cache_operation(struct cache *cache);

/*
 * Processes hold so many bytes from now on, besides config.pinned_bytes: whole pages, charged one by
 * one as they are touched. They cannot be reclaimed (no swap); more than fits is charged all the same.
 */
void cache_pin(struct cache *cache, uint64_t bytes);

/*
 * Time only goes forward. Runs what is due: statistics published, expired dirty pages written. False:
 * nothing was written, neither now nor during reclaim since the last time.
 */
bool cache_clock(struct cache *cache, uint64_t now_ns, struct cache_plan *plan);

/* ---- open files ---- */

/*
 * open(2) pays for the descriptor before it looks the name up or makes it (path_openat(),
 * alloc_empty_file()); which allocation meets the limit decides whether dentries and inodes can be
 * shrunk, so the order matters. Each cache_open() follows one cache_open_pay().
 */
void cache_open_pay(struct cache *cache);
/* a handle, from 1; the inode is pinned by the caller's dentry */
uint32_t cache_open(struct cache *cache, uint32_t file);
void cache_close(struct cache *cache, uint32_t handle);
/* Somebody has it open, or one of its names is in memory. */
bool cache_file_is_held(const struct cache *cache, uint32_t file);

enum cache_advice {
	CACHE_ADVICE_RANDOM,
	CACHE_ADVICE_SEQUENTIAL,
	CACHE_ADVICE_NOREUSE,
	CACHE_ADVICE_WILLNEED,
	CACHE_ADVICE_DONTNEED,
	CACHE_ADVICE_MAP_RANDOM, /* of the mapping: madvise(2) */
};

/*
 * posix_fadvise(); bytes 0: to the end. WILLNEED and DONTNEED fill the plan and, like reads, may
 * have to be called again: see cache_read().
 */
bool cache_advise(struct cache *cache, uint32_t handle, enum cache_advice advice, uint64_t *offset,
		  uint64_t *bytes, struct cache_plan *plan);

/* ---- pages ---- */

/*
 * A buffered read. Moves *offset and *bytes along; true: done (also at the end of the file). False:
 * the plan is full or the page at *offset is not there yet; carry the plan out, empty it and call
 * again with the same numbers.
 */
bool cache_read(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		struct cache_plan *plan);

/*
 * A hint that the byte at `offset` will be read: brings what that will touch into the processor's
 * caches, in steps, each to be taken some reads after the one before. Changes nothing.
 */
enum cache_prefetch {
	CACHE_PREFETCH_DIRECTORY, /* of a file with many pages */
	CACHE_PREFETCH_INDEX,
	CACHE_PREFETCH_RECORD,
	CACHE_PREFETCH_NEIGHBOURS,
};
void cache_prefetch(const struct cache *cache, uint32_t handle, uint64_t offset,
		    enum cache_prefetch step);
/* What an open file remembers will be looked at. */
void cache_prefetch_open(const struct cache *cache, uint32_t handle);
/* The same as cache_prefetch() of some pages of a file, by its number. */
void cache_prefetch_file(const struct cache *cache, uint32_t file, uint64_t index, uint32_t pages,
			 enum cache_prefetch step);

/* A buffered write; grows the file. As cache_read(). */
bool cache_write(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		 struct cache_plan *plan);

/*
 * Touch a byte of each page of the range through a mapping of the whole file; `write`: store to it.
 * As cache_read().
 */
bool cache_touch(struct cache *cache, uint32_t handle, bool write, uint64_t *offset,
		 uint64_t *bytes, struct cache_plan *plan);

/*
 * Look a metadata block up (of a file added with CACHE_FILE_METADATA). If it is not there, it and
 * what is missing of first .. first + pages - 1 around it are read. Every block is active from the
 * start: it is looked up before and after it is read.
 */
void cache_block(struct cache *cache, uint32_t file, uint64_t index, uint64_t first, uint64_t pages,
		 struct cache_plan *plan);
/* The same for a block that is being made: nothing is read. */
void cache_block_make(struct cache *cache, uint32_t file, uint64_t index);

/*
 * Use a metadata buffer of the file system's own, named by any number. False: it was not there, and
 * is now; whoever has not just made it must read it. Buffers take memory, and are shrunk, on a
 * whole machine; a cgroup has nothing to do with them.
 */
bool cache_buffer_use(struct cache *cache, uint64_t key, uint32_t bytes);

/*
 * An inode that the file system's log holds (XFS): it can leave the VFS, but its memory stays until
 * it is let go.
 */
void cache_inode_hold(struct cache *cache, uint32_t file);
void cache_inode_release(struct cache *cache, uint32_t file);
/* Blocks a journal may hold before it commits (the switch ext4_transaction_blocks). */
uint32_t cache_transaction_blocks(const struct cache *cache);
/* Blocks the journal has in all (the switch ext4_journal_blocks). */
uint32_t cache_journal_blocks(const struct cache *cache);
/* How many requests write-back keeps at the device (the switch writeback_throttle). */
uint32_t cache_write_back_depth(const struct cache *cache);
/*
 * The flusher turns to the next file after half a second's worth of pages, of a device that takes so
 * many bytes a second: writeback_chunk_size(). Returns that, pages. All of a file's if never told.
 */
uint64_t cache_flusher_pace(struct cache *cache, uint64_t bytes_per_s);
/* It has no next turn until the device has been asked for the last one's. */
void cache_flusher_busy(struct cache *cache, bool is_busy);
/* The plan was too small for a turn: the rest of it comes with the next cache_clock(). */
bool cache_flusher_has_turn(const struct cache *cache);
/* Do requests to a SATA SSD go through CFQ (the switch elevator)? */
bool cache_elevator_is_cfq(const struct cache *cache);
/* Does write-back on ext4 hold the running transaction (the switch ext4_writeback)? */
bool cache_write_back_holds(const struct cache *cache);
/* How often the super block's shrinker has looked: file systems push their logs when it does. */
uint64_t cache_shrinker_calls(const struct cache *cache);

/*
 * Hold a resident block in a journal's transaction: reclaim cannot free it; it goes to the active
 * list. Committed it is dirty; true: and held still, on a checkpoint list, until released.
 */
void cache_block_hold(struct cache *cache, uint32_t file, uint64_t index);
bool cache_block_commit(struct cache *cache, uint32_t file, uint64_t index);
void cache_block_release(struct cache *cache, uint32_t file, uint64_t index);
bool cache_block_is_dirty(struct cache *cache, uint32_t file, uint64_t index);

/* ---- past the cache, or through it without staying ---- */

/*
 * RWF_DONTCACHE: cache_read() and cache_write() of pages that go when they have been read, or are
 * written. What was there stays. After a write the caller has the range written
 * (cache_write_range()). Only if the file system and the kernel know it (the switch dontcache).
 */
bool cache_takes_dontcache(const struct cache *cache);
bool cache_read_dontcache(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			  struct cache_plan *plan);
bool cache_write_dontcache(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			   struct cache_plan *plan);

/*
 * O_DIRECT. Before either, dirty pages of the range are written: cache_write_range(). A write drops
 * what is cached of the range, used by others or not, before and after; it changes the size.
 */
bool cache_range_is_dirty(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes);
void cache_direct_drop(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes);
/* Runs to fetch, or to write; as cache_read(). Bytes are counted as they are, not in pages. */
bool cache_direct_read(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
		       struct cache_plan *plan);
bool cache_direct_write(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
			struct cache_plan *plan);
/* Does the file system make a buffered write of it (btrfs with checksums, since 6.15)? */
bool cache_direct_writes_are_buffered(const struct cache *cache);

/*
 * What writing this to /proc/sys/vm/drop_caches does: 1 clean pages that nobody has mapped, 2 what
 * the shrinkers free, 3 both.
 */
enum { CACHE_DROP_PAGES = 1, CACHE_DROP_SLAB = 2 };
void cache_drop_caches(struct cache *cache, uint32_t what);

/* Write back a file's dirty pages (fsync, and what a flusher does); true when all are planned. */
bool cache_sync_file(struct cache *cache, uint32_t file, struct cache_plan *plan);
bool cache_sync(struct cache *cache, struct cache_plan *plan);
/* The same for a range (sync_file_range()); bytes 0: to the end. */
bool cache_sync_range(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes,
		      struct cache_plan *plan);
/* The same, for all that is dirty of the folios that the range touches. */
bool cache_write_range(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes,
		       struct cache_plan *plan);
/* With writes_take_time: take at most `most` runs that were written during reclaim. */
size_t cache_flushed(struct cache *cache, struct cache_run *runs, size_t most);
/*
 * So many pages may be dirty or under write-back before whoever writes is held up: halfway between
 * the background limit and the limit (mm/page-writeback.c, dirty_freerun_ceiling(): 10 and 20 % of
 * what could be dirty). UINT64_MAX in a version 1 cgroup, which has no limit of its own.
 */
uint64_t cache_dirty_allowed(const struct cache *cache);

uint64_t cache_dirty_pages(const struct cache *cache);
/* How many files have dirty pages. */
uint64_t cache_dirty_files(const struct cache *cache);

void cache_truncate(struct cache *cache, uint32_t file, uint64_t size_bytes);
/* fallocate: grows the file, holes become unwritten blocks */
void cache_allocate(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes);

/*
 * With `bare` alone: look one page up, insert it if it is missing, and count as a use if it is
 * there. Returns whether it was.
 */
bool cache_bare_access(struct cache *cache, uint32_t file, uint64_t index);

/* Completions, unless completes_at_once (cache_written(): or with writes_take_time). */
void cache_fetched(struct cache *cache, const struct cache_run *run);
void cache_written(struct cache *cache, const struct cache_run *run);

/* ---- names and inodes ---- */

bool cache_name_cached(const struct cache *cache, uint32_t name);
bool cache_inode_cached(const struct cache *cache, uint32_t file);

/*
 * Look a name up and let it go again, as stat(2) does: allocates dentry and inode where they are
 * missing (cached parents are the caller's business: look up the parent first). The caller has paid
 * for the device reads before.
 */
void cache_name_use(struct cache *cache, uint32_t name);
/* The same, but held: an open file's. */
void cache_name_get(struct cache *cache, uint32_t name);
void cache_name_put(struct cache *cache, uint32_t name);
/*
 * A held name that means nothing yet means `file` from now on: a new file, or one that is in memory
 * and has another name (a hard link).
 */
void cache_name_link(struct cache *cache, uint32_t name, uint32_t file);
/*
 * The name means nothing any more. Without another name its file dies, pages and all, when nothing
 * else holds it.
 */
void cache_name_unlink(struct cache *cache, uint32_t name);
/* Is there nobody left then, of a name that nobody but the caller holds, who has the file? */
bool cache_name_is_all(const struct cache *cache, uint32_t name);
/* If nobody holds the name it is in memory no more, without any pressure. */
void cache_name_drop(struct cache *cache, uint32_t name);
/* Is the file gone: no name, nobody has it open? */
bool cache_file_is_dead(const struct cache *cache, uint32_t file);
/*
 * `name` moves: its file is `to`'s from now on (whose old file is unlinked), in memory too; `name`
 * means nothing.
 */
void cache_name_rename(struct cache *cache, uint32_t name, uint32_t to);

/*
 * `name`, which is held, is an entry of the directory `parent` (held too) from now on, under a name
 * this long.
 */
void cache_name_move(struct cache *cache, uint32_t name, uint32_t parent, uint32_t name_bytes);

/* ---- other memory, pressure and statistics ---- */

/*
 * Device bytes that a file system read for itself, outside the page cache (XFS and btrfs metadata
 * buffers).
 */
void cache_read_outside(struct cache *cache, uint64_t bytes);
void cache_write_outside(struct cache *cache, uint64_t bytes);
/* So many pages of a file were used in a cache that is not the page cache, and missed, and reread. */
void cache_count_own(struct cache *cache, uint64_t pages, uint64_t missed_pages,
		     uint64_t reread_bytes);
/* The whole machine's memory, or the cgroup's. */
uint64_t cache_memory_bytes(const struct cache *cache);
/* Kernel memory that is not a cache object (negative: given back). */
void cache_other_slab(struct cache *cache, int64_t bytes);
/* Lists are summed now, as reading memory.stat does (statistics=lazy). */
void cache_publish(struct cache *cache);
/* The same; and from now on nothing else sums them, not every 2 s either. */
void cache_publish_told(struct cache *cache);
/* False once the domain could not reclaim enough: a real kernel would have killed somebody. */
bool cache_in_memory(const struct cache *cache);

/* Counters of one stream, or the sum over all (stream 0). Levels of stream 0 are the domain's. */
void cache_counters(const struct cache *cache, uint32_t stream, struct counters *counters);
/* Pages of `victim` re-read after having been evicted for `evictor`. */
uint64_t cache_blame(const struct cache *cache, uint32_t victim, uint32_t evictor);
uint32_t cache_stream_count(const struct cache *cache); /* highest stream seen + 1 */
uint64_t cache_resident_pages(const struct cache *cache, uint32_t file);
/*
 * refault's own memory, for bench: bytes of page records and of the index, how many pages the index
 * has entries for, how many of these are resident, and how many are remembered after their
 * eviction.
 */
void cache_memory_parts(const struct cache *cache, uint64_t *record_bytes, uint64_t *index_bytes,
			uint64_t *index_entries, uint64_t *resident_pages,
			uint64_t *remembered_pages);

/* ---- for whoever watches: nothing of it changes what is decided (peek.c) ---- */

enum cache_peek {
	CACHE_PEEK_RESIDENT = 1,
	CACHE_PEEK_DIRTY = 2,
	CACHE_PEEK_WRITEBACK = 4,
	CACHE_PEEK_MAPPED = 8,
	CACHE_PEEK_USED = 16,    /* active, or used since it was last looked at */
	CACHE_PEEK_EVICTED = 32, /* not there, and evicted under pressure when it was last */
};

/* What a page is, as bits of enum cache_peek; 0: not cached, and not remembered. */
uint32_t cache_peek(const struct cache *cache, uint32_t file, uint64_t page_index);

#define CACHE_DISTANCE_UNKNOWN UINT32_MAX

/* A page that was read from the device again after its eviction under pressure. */
struct cache_return {
	uint64_t index;
	uint32_t file;
	/* pages aged out in between: with so many more it would have stayed; or unknown */
	uint32_t distance_pages;
	uint32_t evictor;     /* the stream whose allocation forced it out */
	uint64_t evicted_age; /* cache_age() just before its eviction, if the distance is known */
};

/* Pages that were evicted under pressure. */
struct cache_eviction {
	uint64_t index;
	uint32_t file, pages;
};

const struct cache_eviction *cache_evictions(const struct cache *cache, size_t *count);

/*
 * From now on, keep a list of them: as many as reread_bytes counts pages; and one of evictions. The caller empties
 * both.
 */
void cache_returns_log(struct cache *cache);
const struct cache_return *cache_returns(const struct cache *cache, size_t *count);
void cache_returns_clear(struct cache *cache);
/* Pages that have aged out so far: evicted, or activated (mm/workingset.c, nonresident_age). */
uint64_t cache_age(const struct cache *cache);

/* Walk everything and assert what must hold. */
void cache_check(const struct cache *cache);

#endif
