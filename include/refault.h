/*
 * refault: the Linux page, dentry and inode caches as a library that plans (librefault)
 *
 * You tell a `struct refault_cache` what happens to files. It decides, as a Linux kernel of the
 * version you name would in that much memory, what stays, what goes and what is read ahead, and
 * answers with a plan: runs of pages to read, and runs to write. You carry the plan out (on a
 * device, on a simulated one, or not at all) and say when each run is done. It counts everything,
 * and who evicted whom.
 *
 *     refault_operation(cache, stream, now_ns, plan);      who asks, and when
 *     carry_out(plan);                                     what is due by then
 *     do {
 *             done = refault_read(cache, handle, &offset, &bytes, plan);
 *             carry_out(plan);                             and refault_fetched() for each run
 *     } while (!done);
 *
 * examples/embed.c is a whole program. Link with `pkg-config --cflags --libs refault`.
 *
 * For all functions
 *
 * Threads     The library has no lock, thread, clock or descriptor. The caller serialises all calls
 *             on one cache and its plans: a lock around each call, not around the I/O. Different
 *             caches know nothing of each other. The same calls in the same order give the same
 *             result, to the byte.
 * Ids         Files, names and handles are numbers from 1; 0 is none. They are one cache's and live
 *             as long as it does, but for a closed handle, and for a file that is unlinked and
 *             not open any more: those numbers must not be used again.
 * Units       A page is 4096 bytes, always. Names end in the unit: _bytes, _pages, _ns
 *             (nanoseconds); an index counts pages from the start of the file.
 * Errors      What depends on input returns NULL and fills a `struct refault_error` (which may be
 *             NULL). The caller's mistakes (an id never handed out, a file over
 *             REFAULT_FILE_BYTES_MAX) and a host that is out of memory end in abort(3), with a
 *             line on standard error; nothing else is printed. All other calls cannot fail.
 * Ownership   What a _create function returns is yours, until the _destroy function. Every
 *             const char * is the library's. Nothing that you pass is kept.
 * Versions    Structs that you allocate are passed with their sizeof, so that later versions can
 *             append to them. Names and numbers are never changed or reused.
 */
#ifndef REFAULT_H
#define REFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define REFAULT_VERSION "0.1.0" /* of this header */

#define REFAULT_PAGE_BYTES     4096
#define REFAULT_FILE_BYTES_MAX (UINT64_C(1) << 50)
#define REFAULT_STREAM_MAX     1023

/*
 * "0.1.0": of the library that is linked. Versions with the same first number, or with 0 and the
 * same second one, fit together.
 */
const char *refault_version(void);

/* ---- errors ---- */

enum refault_error_kind {
	REFAULT_ERROR_NONE,
	REFAULT_ERROR_INPUT, /* an argument is wrong */
	REFAULT_ERROR_FAILED,
};

struct refault_error {
	enum refault_error_kind kind;
	/* One sentence, printable UTF-8, no newline: what was found, and what was expected. */
	char message[512];
};

/* ---- policies ---- */

/* Policies that exist, the default first: "linux-6.18", ..., "lru"; NULL after the last. */
const char *refault_policy_name(size_t index);
const char *refault_policy_summary(size_t index);

/* Their switches: "activate_on_write", "always|partial|never", what it does. Likewise. */
const char *refault_switch_name(size_t index);
const char *refault_switch_values(size_t index);
const char *refault_switch_meaning(size_t index);

/* ---- create ---- */

/* Since when does the file system use folios larger than a page? */
enum refault_folios {
	REFAULT_FOLIOS_NEVER, /* as btrfs */
	REFAULT_FOLIOS_EARLY, /* as XFS: reads since 5.18, writes since 6.6 */
	REFAULT_FOLIOS_LATE,  /* as ext4: since 6.16 */
};

/*
 * What the core knows of a file system: sizes of objects as charged (each with its share of the
 * accounting), and who reclaims when. Metadata blocks are not part of it: the program's file-system
 * models read those, the library does not.
 */
struct refault_filesystem {
	size_t size; /* sizeof(struct refault_filesystem): refault_filesystem_init() sets it */
	enum refault_folios folios;
	uint32_t dentry_bytes;
	uint32_t long_name_bytes; /* on top, for a name longer than the next */
	uint32_t inline_name_bytes;
	uint32_t inode_bytes;  /* 0: what the policy's switch ext4_inode_bytes says */
	uint32_t buffer_bytes; /* per written page: ext4's buffer head. 0: none */
	uint32_t node_bytes;   /* one index node of 64 pages */
	bool marks_on_write;   /* writes mark pages accessed, up to 6.12 (btrfs) */
	/* A write that must read a page covered in part reads all that it touches (XFS). */
	bool partial_reads_all;
	/* Reclaim caused by a read (XFS), by a write (XFS, btrfs) spares dentries and inodes. */
	bool reads_without_fs;
	bool writes_without_fs;
	/* That caused by making (btrfs), by reading an inode (XFS, btrfs) does not. */
	bool inode_make_fs;
	bool inode_read_fs;
	/* An evicted inode stays charged until the file system frees it (XFS). */
	bool evicted_inodes_linger;
};

/*
 * Fill in "plain": single pages, objects as large as ext4's on 6.18; what the program calls `flat`.
 * `bytes`: sizeof(*filesystem).
 */
void refault_filesystem_init(struct refault_filesystem *filesystem, size_t bytes);

enum refault_domain {
	REFAULT_MACHINE, /* a whole machine: watermarks, background reclaim */
	REFAULT_CGROUP,  /* a memory cgroup: who charges at the limit reclaims */
};

/* When are the runs of a plan done? */
enum refault_completion {
	/*
	 * When refault_fetched() and refault_written() say so. Until then the pages are in flight:
	 * present, not evictable. For programs that do I/O. Writers are held back when half of the
	 * memory is dirty or being written: refault_write().
	 */
	REFAULT_BY_CALLER,
	/*
	 * As soon as they are planned; the plan is for information. For simulators: the program's
	 * own model works so. What reclaim itself has written is in no run, but in the counters and
	 * in the write_bytes of the next refault_operation() or refault_clock().
	 */
	REFAULT_AT_ONCE,
};

struct refault_options {
	size_t size; /* sizeof(struct refault_options): refault_options_init() sets it */
	/* NAME[,SWITCH=VALUE]..., as "linux-6.18,statistics=fresh"; NULL: the default policy. */
	const char *policy;
	/* The cgroup's limit, or the machine's: pinned_bytes + 4 MiB .. 4 TiB. No default. */
	uint64_t memory_bytes;
	/* Of memory_bytes: taken by something that is not cache. Default 0. */
	uint64_t pinned_bytes;
	/* The device's window, in whole pages: 0 (none) .. 16 MiB. Default 128 KiB. */
	uint64_t readahead_bytes;
	/* The device's largest request: what one large read may read ahead. Default 1280 KiB. */
	uint64_t device_io_bytes;
	enum refault_domain domain;                  /* default REFAULT_MACHINE */
	enum refault_completion completion;          /* default REFAULT_BY_CALLER */
	const struct refault_filesystem *filesystem; /* NULL: plain */
};

/* Fill in the defaults. `bytes`: sizeof(*options). */
void refault_options_init(struct refault_options *options, size_t bytes);

struct refault_cache;

/*
 * A cache, empty. NULL (REFAULT_ERROR_INPUT) if an option is wrong. Costs 8 MiB of address space
 * for the blame table, then 16 bytes a folio, 6.6 an indexed page (resident, or evicted and
 * remembered), 88 a file, 36 a name.
 */
struct refault_cache *refault_cache_create(const struct refault_options *options,
					   struct refault_error *error);
void refault_cache_destroy(struct refault_cache *cache); /* NULL: nothing */

/* "linux-6.18,statistics=lazy": the policy and what differs from its preset. The cache's own. */
const char *refault_policy(const struct refault_cache *cache);

/* ---- plans ---- */

struct refault_run {
	uint64_t index; /* the first page */
	uint32_t file;
	uint32_t pages; /* at least 1 */
};

/*
 * The arrays are the plan's, and good until the next call that is given this plan: that call
 * empties it first.
 */
struct refault_plan {
	const struct refault_run *fetch; /* to read from the device, in this order */
	const struct refault_run *write; /* to write to it */
	uint32_t fetch_count, write_count;
	uint64_t fetch_bytes, write_bytes; /* sums; see REFAULT_AT_ONCE */
};

/*
 * An empty plan, for any cache; 280 KiB. One each for all who have I/O under way at the same time
 * (or copy the runs).
 */
struct refault_plan *refault_plan_create(void);
void refault_plan_destroy(struct refault_plan *plan); /* NULL: nothing */

/*
 * With REFAULT_BY_CALLER: this run, or this part of one, has been read; it has been written. Each
 * page of each planned run must be reported once, even if the file was truncated or removed
 * meanwhile. A page that was dirtied again while it was being written stays dirty, and will be
 * planned again; carry out writes of one page in the order of their plans. Does nothing with
 * REFAULT_AT_ONCE.
 */
void refault_fetched(struct refault_cache *cache, const struct refault_run *run);
void refault_written(struct refault_cache *cache, const struct refault_run *run);

/* ---- who asks, and when ---- */

/*
 * An operation begins; what is called until the next one is part of it. `stream` (0 ..
 * REFAULT_STREAM_MAX; a process, a job, a kind of file: what you want counted apart) pays for its
 * allocations; `now_ns` never goes back (an earlier time counts as the last one). The plan has what
 * is due: expired dirty pages to write.
 */
void refault_operation(struct refault_cache *cache, uint32_t stream, uint64_t now_ns,
		       struct refault_plan *plan);

/* Time passes without an operation. */
void refault_clock(struct refault_cache *cache, uint64_t now_ns, struct refault_plan *plan);

/* ---- files and names: identities, which cost no modelled memory ---- */

enum refault_file_flags {
	REFAULT_FILE_SPARSE = 1, /* all hole: read without I/O until it is written */
	REFAULT_FILE_DIRECTORY = 2,
};

/* A file of `size_bytes` that is on the device. Returns its id. */
uint32_t refault_file_add(struct refault_cache *cache, uint64_t size_bytes, uint32_t flags);
uint64_t refault_file_size(const struct refault_cache *cache, uint32_t file);

/*
 * Names are for those who want the dentry and inode caches modelled; without, open files by id. A
 * name of `name_bytes` in the directory that the name `parent` means (0: the root), for `file` (0:
 * nothing has this name yet). A file has one name at most. Returns the name's id. Names that a call
 * needs are looked up with all the directories above that are not cached.
 */
uint32_t refault_name_add(struct refault_cache *cache, uint32_t parent, uint32_t file,
			  uint32_t name_bytes);

/* What the name means; 0: nothing. */
uint32_t refault_name_file(const struct refault_cache *cache, uint32_t name);

/* Look it up, as stat(2): a dentry, negative if it means nothing, and an inode. */
void refault_name_use(struct refault_cache *cache, uint32_t name);

/*
 * Make an empty file or directory (flags) of a name that means nothing, as mkdir(2). Returns the
 * file.
 */
uint32_t refault_name_make(struct refault_cache *cache, uint32_t name, uint32_t flags);

/* The name means nothing from now on. Its file goes, pages and all, when no handle has it open. */
void refault_name_unlink(struct refault_cache *cache, uint32_t name);

/*
 * What `from` means is called `to`; what that meant is unlinked. Not for directories: names in them
 * would stay where they were.
 */
void refault_name_rename(struct refault_cache *cache, uint32_t from, uint32_t to);

bool refault_name_cached(const struct refault_cache *cache, uint32_t name);
bool refault_inode_cached(const struct refault_cache *cache, uint32_t file);

/* ---- open files: each handle has its own readahead ---- */

/*
 * Open a file by its id, by its name (which means one), or make an empty one of a name that means
 * nothing (O_CREAT). Returns a handle; close it.
 */
uint32_t refault_open(struct refault_cache *cache, uint32_t file);
uint32_t refault_open_name(struct refault_cache *cache, uint32_t name);
uint32_t refault_open_new(struct refault_cache *cache, uint32_t name);
void refault_close(struct refault_cache *cache, uint32_t handle);
uint32_t refault_handle_file(const struct refault_cache *cache, uint32_t handle);

/* ---- pages ---- */

/*
 * A buffered read of *bytes at *offset, as read(2); what lies behind the end of the file is not
 * there. Moves both along: what they have passed is up to date in the cache now. True: done, *bytes
 * is 0. False: carry the plan out and call again with the same variables; if the plan has nothing
 * to fetch, the page at *offset is being fetched for an earlier plan, so wait for that.
 */
bool refault_read(struct refault_cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		  struct refault_plan *plan);

/*
 * A buffered write; grows the file. As refault_read(), and what it has passed is dirty. Pages
 * covered in part may be fetched: before you put your bytes in. With REFAULT_BY_CALLER it also
 * stops when half of the memory beside the pinned is dirty or being written: then the plan has what
 * to write, unless all of it is on its way already. *offset + *bytes is at most
 * REFAULT_FILE_BYTES_MAX.
 */
bool refault_write(struct refault_cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		   struct refault_plan *plan);

enum refault_touch_kind {
	REFAULT_LOAD,
	REFAULT_STORE,
};

/*
 * Touch each page of the range (not behind the end of the file) through a shared mapping of the
 * whole file, which lasts until the handle is closed. As refault_read() and refault_write().
 */
bool refault_touch(struct refault_cache *cache, uint32_t handle, enum refault_touch_kind touch,
		   uint64_t *offset, uint64_t *bytes, struct refault_plan *plan);

enum refault_advice {
	REFAULT_ADVICE_RANDOM,
	REFAULT_ADVICE_SEQUENTIAL,
	REFAULT_ADVICE_NOREUSE,
	REFAULT_ADVICE_WILLNEED,
	REFAULT_ADVICE_DONTNEED,
};

/*
 * posix_fadvise(3); bytes 0: to the end of the file. False: carry the plan out and call again with
 * the same arguments.
 */
bool refault_advise(struct refault_cache *cache, uint32_t handle, enum refault_advice advice,
		    uint64_t offset, uint64_t bytes, struct refault_plan *plan);

/*
 * Write a file's dirty pages, or everybody's, as fsync(2) and sync(2). False: there are more than a
 * plan holds; carry it out and call again. The data is on the device when all of these runs, and
 * those of earlier plans, are written.
 */
bool refault_sync_file(struct refault_cache *cache, uint32_t file, struct refault_plan *plan);
bool refault_sync(struct refault_cache *cache, struct refault_plan *plan);

/*
 * ftruncate(2), to at most REFAULT_FILE_BYTES_MAX: pages behind the new end go, dirty or not. Wait
 * for runs in flight there first.
 */
void refault_truncate(struct refault_cache *cache, uint32_t file, uint64_t size_bytes);
/* fallocate(2): grows the file to offset + bytes; what is new reads as zeros without I/O. */
void refault_allocate(struct refault_cache *cache, uint32_t file, uint64_t offset, uint64_t bytes);

/* ---- memory and statistics ---- */

/*
 * Memory of the budget that you use for something else from now on (negative: given back, never
 * more than was taken). May evict, on account of the present stream.
 */
void refault_charge(struct refault_cache *cache, int64_t bytes);

/* Somebody reads memory.stat: with statistics=lazy, reclaim decides on the sizes as of now. */
void refault_publish(struct refault_cache *cache);

/*
 * False once memory was needed and nothing could be reclaimed; it stays so. A kernel would have
 * killed a process; counts are no prediction after that.
 */
bool refault_in_memory(const struct refault_cache *cache);

/* Counted since the start; the last five are present amounts. */
struct refault_counters {
	uint64_t read_bytes;          /* read from the device */
	uint64_t write_bytes;         /* written to it */
	uint64_t reread_bytes;        /* of those read, evicted before */
	uint64_t page_accesses;       /* pages asked for by reads, writes and faults */
	uint64_t page_misses;         /* of these, not in the cache */
	uint64_t refaults;            /* pages inserted that had left a shadow entry */
	uint64_t refault_activations; /* of these, put on the active list at once */
	uint64_t activations;         /* pages moved or put on the active list */
	uint64_t deactivations;       /* pages demoted to the inactive list */
	uint64_t evictions;           /* pages evicted under pressure */
	uint64_t readahead_pages;     /* pages inserted by readahead, not asked for yet */
	uint64_t dentries_allocated;
	uint64_t dentries_evicted;
	uint64_t inodes_allocated;
	uint64_t inodes_evicted;
	uint64_t inodes_reallocated; /* of those allocated, evicted under pressure before */
	uint64_t active_file_pages;
	uint64_t inactive_file_pages;
	uint64_t dirty_pages;
	/* Dentries, inodes, index nodes and refault_charge()'s; the cache's, 0 for a stream. */
	uint64_t slab_bytes;
	uint64_t pinned_bytes; /* likewise */
};

/* The counters of one stream, or of all (stream 0). `bytes`: sizeof(*counters). */
void refault_counters_read(const struct refault_cache *cache, uint32_t stream,
			   struct refault_counters *counters, size_t bytes);

/* Pages that `victim` had to read again because `evictor`'s allocations had evicted them. */
uint64_t refault_blame(const struct refault_cache *cache, uint32_t victim, uint32_t evictor);

/* The highest stream that was named, plus 1. */
uint32_t refault_stream_count(const struct refault_cache *cache);

uint64_t refault_resident_pages(const struct refault_cache *cache, uint32_t file);

/* Walk everything and assert what must hold: slow, for tests. */
void refault_check(const struct refault_cache *cache);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
