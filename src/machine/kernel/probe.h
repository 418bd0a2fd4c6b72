/*
 * probe: counts, from the kernel's tracepoints, what one file system's caches do for some threads
 *
 * A scratch file system is watched, by its super block; the threads that play operations on it are
 * its *workers*. Each writes down what it asks for before it asks, and the pages that come in are
 * told apart by that: asked for (a miss), read ahead, made by a write. Pages and inodes that reclaim
 * takes are remembered with the stream that forced them out, so that their return is a re-read that
 * somebody is to blame for. The kernel itself counts none of this per file system or per thread.
 *
 *     probe = probe_open(&options, &error);          before the file system is mounted, if possible
 *     ask = probe_workers(probe);                    shared: before fork()
 *     probe_worker_add(probe, 0, tid, &error);       for each thread of the player
 *     probe_count(probe, &target, &error);           everything is 0 now
 *     ... in the player: probe_ask(&ask[0], PROBE_OP_READ, stream, ino, 0, 4096); pread(...) ...
 *     probe_read(probe, &counts, &error);
 *
 * Needs root (CAP_BPF, CAP_PERFMON), a kernel with BTF (CONFIG_DEBUG_INFO_BTF), Linux 6.1 or later,
 * and the initial pid namespace. Tried on 6.18. Where a tracepoint is missing or has other arguments
 * than expected, the counters that need it are unknown.
 *
 * Costs nothing where nothing is cached or evicted: no program runs on the path of a cached read. The
 * kernel's memory for it, 64 bytes a worker, 160 bytes a stream and CPU, 8 bytes a pair of streams,
 * and about 256 bytes for each 64 pages and 128 for each inode remembered, is charged to the cgroup of
 * whoever opened the probe, also where a worker's eviction takes it.
 *
 * Not quite what the name says, and why:
 *
 * 1. refault_activations: a page that was evicted and is used a second time while its folio is still in
 *    a CPU's batch looks the same as one that the kernel activates for its refault. Their sum with
 *    mark_activations is right.
 * 2. scan_activations, deactivations: of the cgroup that a worker reclaims from, metadata and files of
 *    other file systems too: the tracepoints tell no more. Reclaim by others is not in them.
 * 3. dentries_evicted is what the super block's shrinker says it freed, without the inodes seen to go:
 *    a dentry or inode in use that it only takes off its list counts as one. btrfs in Linux 6.10 and
 *    6.11 adds its extent maps.
 * 4. inodes_evicted on XFS: the VFS let go of them; XFS frees them a little later, or revives them, and
 *    one revived counts in neither inodes_allocated nor inodes_reallocated.
 * 5. dentries and inodes allocated by a worker count whatever file system they are of (inodes: of that
 *    type).
 * 6. Pages of a hole are inserted like others, but nothing is read for them. XFS reads a large folio's
 *    pages that a write covers in full together with those that it covers in part; they count as
 *    written.
 * 7. metadata bytes: requests flagged REQ_META. ext4 does not flag all.
 *
 * A probe is used by one thread at a time.
 */
#ifndef REFAULT_MACHINE_KERNEL_PROBE_H
#define REFAULT_MACHINE_KERNEL_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "machine/kernel/probe_shared.h"

struct probe;

struct probe_options {
	uint32_t stream_count; /* streams are 0 .. stream_count - 1; 1 .. PROBE_STREAMS_MAX */
	/*
	 * How much is remembered, at most: blocks of 64 pages of one file, and inodes. Enough is a
	 * block for each 256 KiB of each file, or part of it, and as many inodes as there are
	 * files and directories. If it was not enough, what depends on it is unknown.
	 */
	uint64_t page_blocks_max, inodes_max;
};

/* The file system to watch, as it is mounted now. */
struct probe_target {
	const char *filesystem; /* "ext4", "xfs", "btrfs"; of others the inodes are unknown */
	uint32_t major, minor;  /* as /proc/self/mountinfo has them (btrfs: not a stat()'s) */
	/* The block device under it; both 0: none, or unknown. */
	uint32_t block_major, block_minor;
};

struct probe_counts {
	struct probe_counters totals;
	/*
	 * [stream_count], the caller's to give, or NULL. Stream 0 has, besides workers of stream 0,
	 * what could not be charged to anybody: activations in a batch that another task drained.
	 */
	struct probe_counters *streams;
	struct probe_device device;
	struct probe_disturbance disturbance;
	/*
	 * Pages of metadata: the block device's own cache (ext4's), and an inode that is no file
	 * (ext4's buddy bitmaps, btrfs's trees). XFS keeps its own outside the page cache.
	 */
	uint64_t metadata_inserted_pages, metadata_evicted_pages;
	/*
	 * Bit per enum counter_id (measure/result.h), of totals and streams alike. reread_bytes
	 * stands for reread_pages and the blame, activations for all three kinds of them, read_bytes
	 * and write_bytes for `device`. Unknown ones are 0 and mean nothing.
	 */
	uint64_t known;
};

/*
 * Load and attach, not counting yet. NULL, and the reason in `error`, if not root, without BTF, in a
 * pid namespace, or if the kernel refuses the programs without which nothing is counted. Where only
 * some cannot be attached, see probe_missing(). Close with probe_close().
 */
struct probe *probe_open(const struct probe_options *options, struct error *error);

/* Detach and free. NULL is fine. The mapping of a forked player stays valid until it ends. */
void probe_close(struct probe *probe);

/*
 * What could not be attached, as text for people: "mm_lru_activate, xfs_iget_miss"; "" if all was.
 * The probe's.
 */
const char *probe_missing(const struct probe *probe);

/* [PROBE_WORKERS_MAX], shared with children forked from now on. Valid until probe_close(). */
struct probe_worker *probe_workers(struct probe *probe);

/*
 * The thread `tid` is worker `index` from now on (0 .. PROBE_WORKERS_MAX - 1; one thread each). Fails
 * when the kernel does.
 */
bool probe_worker_add(struct probe *probe, uint32_t index, pid_t tid, struct error *error);

/*
 * It has ended (not just played its last op: a thread allocates, and reclaims, until its end). Its
 * number may be another thread's now.
 */
void probe_worker_remove(struct probe *probe, pid_t tid);

/*
 * Set everything to 0, forget what was remembered, and count from now on; may be called again, say
 * after a remount. Workers should be idle: what they do meanwhile may be counted or not. Takes time
 * in proportion to what was remembered.
 */
bool probe_count(struct probe *probe, const struct probe_target *target, struct error *error);

/*
 * The file open as `fd` was cut: what was evicted of its bytes [first_byte, end_byte) is forgotten, so
 * that new pages there are none that come back. (An unlink needs no such call: a new file has another
 * number or generation.) Any process that has the probe may call it, while nobody reads there. A
 * system call each 256 KiB. Does nothing if the file system has no generations to be asked for
 * (FS_IOC_GETVERSION) but should.
 */
void probe_forget(struct probe *probe, int fd, uint64_t first_byte, uint64_t end_byte);

/* Count nothing any more, for an unmount or a clean-up. What was counted stays. */
void probe_stop(struct probe *probe);

/*
 * The counters now. Each is right by itself; between them an op may be half done if workers are not
 * idle. Activations by a second use are counted when a CPU's batch of 31 folios is drained.
 */
bool probe_read(struct probe *probe, struct probe_counts *counts, struct error *error);

/*
 * The pages of the file of this number, on the file system watched, that came and went since
 * probe_count(). Files that had the number one after the other are counted together. False: not
 * known, since a tracepoint is missing or there were more than inodes_max files.
 */
bool probe_file(const struct probe *probe, uint64_t ino, struct probe_file_pages *pages);

/*
 * The blame matrix, live: [victim * stream_count + evictor] is how many pages the stream `victim` read
 * again that reclaim run by a worker of `evictor` had taken (0: by no worker). Known if reread_bytes
 * is. The probe's, until probe_close().
 */
const uint64_t *probe_blame(const struct probe *probe);

/* Pages moved to an active list, or put there: by a scan, a refault, or a second use. */
static inline uint64_t probe_activations(const struct probe_counters *counters)
{
	return counters->scan_activations + counters->refault_activations +
	       counters->mark_activations;
}

/*
 * In a worker, before it asks: a read, a write, or the touch of a mapped page (its bytes; of kind
 * PROBE_OP_READ). Advice WILLNEED is a read of nothing, so that all it inserts is read ahead.
 */
static inline void probe_ask(struct probe_worker *worker, enum probe_op op, uint32_t stream,
			     uint64_t ino, uint64_t first_byte, uint64_t end_byte)
{
	worker->op = op;
	worker->stream = stream;
	worker->ino = ino;
	worker->first_byte = first_byte;
	worker->end_byte = end_byte;
	/* The kernel half runs on this very thread: only the compiler must keep the order. */
	atomic_signal_fence(memory_order_seq_cst);
}

#endif
