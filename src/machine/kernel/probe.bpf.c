/*
 * probe, the half in the kernel
 *
 * Each program counts what one tracepoint tells. The file system is known by its super block's
 * s_dev, a worker by its thread id. "Under pressure" is PF_MEMALLOC: every way into reclaim sets it
 * (direct, memcg, kswapd, memory.reclaim, DAMON, node reclaim: memalloc_noreclaim_save() in
 * mm/vmscan.c, Linux 4.13 to 6.18), so that no list of tracepoints can be short of one.
 *
 * Counters are per CPU and added to plainly: tracepoints run with preemption off, and none of those
 * that count for a stream fires in an interrupt. What several CPUs share is added to atomically.
 *
 * The kernel's structs below have only the fields used; CO-RE finds them in the running kernel.
 */
#include <stdbool.h>
#include <stdint.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "machine/kernel/probe_shared.h"

#define PF_MEMALLOC      0x800 /* include/linux/sched.h; the same since 2.6 */
#define S_PAGE_SHIFT     12
#define FOLIO_BLOCKS     8 /* 512 pages: PREFERRED_MAX_PAGECACHE_ORDER with 4 KiB pages */
#define PAGES_FROM(byte) ((byte) >> S_PAGE_SHIFT)
#define PAGES_UP(byte)   (((byte) >> S_PAGE_SHIFT) + (((byte)&4095) != 0))

typedef uint64_t sector_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	unsigned int flags;
	char comm[PROBE_COMMAND_BYTES];
};

struct super_block {
	uint32_t s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	uint32_t i_rdev;
	long long i_size;
	uint32_t i_generation;
};

struct address_space {
	struct inode *host;
};

struct folio {
	unsigned long flags;
	struct address_space *mapping;
	unsigned long index;
	unsigned long _flags_1;
};

/* Linux 6.18: page flags are a struct of their own. */
struct folio___memdesc {
	struct {
		unsigned long f;
	} flags;
};

/* Before 6.6 the order was a byte of its own. */
struct folio___order {
	unsigned char _folio_order;
};

struct kmem_cache {
	const char *name;
};

struct shrinker {
	void *private_data;
};

/* Before 6.7 a super block had its shrinker inside. */
struct shrinker___inside {
	int seeks;
};

struct super_block___inside {
	struct shrinker___inside s_shrink;
	uint32_t s_dev;
};

struct reclaim_stat {
	unsigned int nr_activate[2];
};

struct xfs_mount {
	struct super_block *m_super;
};

struct xfs_inode {
	struct xfs_mount *i_mount;
	uint64_t i_ino;
	struct inode i_vnode;
};

struct block_device {
	uint32_t bd_dev;
};

struct gendisk {
	struct block_device *part0;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
};

#pragma clang attribute pop

enum pageflags { PG_head, PG_active };
enum req_flag_bits { __REQ_META };

struct probe_control control SEC(".data.control");

/* The user half sets every max_entries but these: as many as there are streams, pages, ... */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROBE_WORKERS_MAX);
	__type(key, uint32_t);
	__type(value, struct probe_worker);
} workers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_WORKERS_MAX);
	__type(key, uint32_t);
	__type(value, struct probe_worker_state);
} worker_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_WORKERS_MAX);
	__type(key, uint32_t);
	__type(value, uint32_t);
} worker_of_thread SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct probe_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} blame SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct probe_device);
} device SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct probe_page_key);
	__type(value, struct probe_page_memory);
} page_memory SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct probe_inode_key);
	__type(value, uint32_t); /* who forced it out */
} inode_memory SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, uint64_t); /* inode number */
	__type(value, struct probe_file_pages);
} file_pages SEC(".maps");

/* ---- who, what, where ---- */

struct who {
	struct probe_worker *worker; /* NULL: no worker */
	uint32_t index, stream;
};

static __always_inline struct who who_runs(void)
{
	struct who who = {};
	uint32_t thread = (uint32_t)bpf_get_current_pid_tgid();
	uint32_t *index = bpf_map_lookup_elem(&worker_of_thread, &thread);

	if (!index)
		return who;
	who.index = *index;
	who.worker = bpf_map_lookup_elem(&workers, &who.index);
	if (who.worker)
		who.stream = who.worker->stream;
	return who;
}

static __always_inline struct probe_counters *counters_of(uint32_t stream)
{
	return bpf_map_lookup_elem(&counters, &stream);
}

static __always_inline bool is_under_pressure(void)
{
	return bpf_get_current_task_btf()->flags & PF_MEMALLOC;
}

static __always_inline unsigned long folio_flags(struct folio *folio)
{
	struct folio___memdesc *newer = (void *)folio;

	if (bpf_core_field_exists(newer->flags.f))
		return newer->flags.f;
	return folio->flags;
}

static __always_inline uint32_t folio_pages(struct folio *folio)
{
	struct folio___order *older = (void *)folio;
	unsigned int order = 0;

	if (!(folio_flags(folio) >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(older->_folio_order))
		order = older->_folio_order;
	else
		order = folio->_flags_1 & 0xff; /* folio_large_order() */
	return 1u << (order & 31);
}

/* Pages [first, first + count) of a block as bits; count is 1 .. 64. */
static __always_inline uint64_t bits(uint32_t first, uint32_t count)
{
	return (~0ull >> ((PROBE_BLOCK_PAGES - count) & 63)) << (first & 63);
}

static __always_inline uint64_t overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	uint64_t first = a > b ? a : b, end = a_end < b_end ? a_end : b_end;

	return end > first ? end - first : 0;
}

/* The key under which pages of the block device are remembered: no inode has this number. */
#define METADATA_INO (~0ull)

/* NULL: an anonymous folio, whose mapping is no address_space. */
static __always_inline struct inode *file_of(struct folio *folio)
{
	unsigned long mapping = 0;

	bpf_core_read(&mapping, sizeof(mapping), &folio->mapping);
	return mapping & 3 ? NULL : folio->mapping->host; /* PAGE_MAPPING_FLAGS */
}

static __always_inline bool is_watched(struct inode *inode)
{
	return inode->i_sb->s_dev == control.device && inode->i_ino != control.skipped_ino;
}

/* Of one that is not watched: the device's own page cache, or the inode for it. */
static __always_inline bool is_metadata(struct inode *inode)
{
	return (control.block_device && inode->i_rdev == control.block_device) ||
	       inode->i_sb->s_dev == control.device;
}

static __always_inline void file_count(struct inode *inode, uint64_t inserted, uint64_t deleted)
{
	uint64_t ino = inode->i_ino;
	struct probe_file_pages *pages = bpf_map_lookup_elem(&file_pages, &ino);

	if (!pages) {
		struct probe_file_pages fresh = {};

		/* Another CPU may have been first; then it is found below. */
		bpf_map_update_elem(&file_pages, &ino, &fresh, BPF_NOEXIST);
		pages = bpf_map_lookup_elem(&file_pages, &ino);
	}
	if (!pages) {
		__sync_fetch_and_add(&control.file_pages_lost, 1);
		return;
	}
	__sync_fetch_and_add(&pages->inserted, inserted);
	__sync_fetch_and_add(&pages->deleted, deleted);
}

/* ---- pages that come ---- */

/*
 * Of this page-in: which of the block's pages `mask` are back that were evicted, each charged to who
 * forced it out. Forgets them. `read` are those that are read from the device.
 *
 * Not static, like pages_leave(): so the verifier looks at its loop once, not at each call.
 */
__noinline uint32_t pages_return(struct probe_page_key *key, uint64_t mask, uint64_t read,
				 uint32_t stream)
{
	struct probe_page_memory *memory;
	uint32_t count = 0;
	uint64_t back;

	if (!key)
		return 0;
	memory = bpf_map_lookup_elem(&page_memory, key);
	if (!memory || !(memory->evicted & mask))
		return 0;
	back = __sync_fetch_and_and(&memory->evicted, ~mask) & mask & read;
	for (uint32_t i = 0; i < PROBE_BLOCK_PAGES; i++) {
		uint64_t *blamed;
		uint32_t pair;

		if (!(back >> i & 1))
			continue;
		pair = stream * control.stream_count + memory->stream[i];
		blamed = bpf_map_lookup_elem(&blame, &pair);
		if (blamed)
			__sync_fetch_and_add(blamed, 1);
		memory->stream[i] = stream;
		count++;
	}
	if (back)
		__sync_fetch_and_or(&memory->refaulted, back);
	return count;
}

/* Metadata in the block device's own pages; whatever a worker brings in is read, or made, for it. */
static __always_inline void metadata_added(struct inode *inode, struct folio *folio)
{
	struct probe_page_key key = {.ino = METADATA_INO};
	struct probe_counters *mine;
	struct who who = who_runs();
	uint64_t index = folio->index;
	uint32_t pages = folio_pages(folio);

	if (!is_metadata(inode))
		return;
	__sync_fetch_and_add(&control.metadata_inserted_pages, pages);
	mine = counters_of(who.stream);
	if (!who.worker || !mine || inode->i_rdev != control.block_device ||
	    pages > PROBE_BLOCK_PAGES)
		return;
	key.block = index / PROBE_BLOCK_PAGES;
	mine->metadata_reread_pages += pages_return(&key, bits(index, pages), ~0ull, who.stream);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(page_added, struct folio *folio)
{
	struct inode *inode = folio->mapping->host;
	struct probe_page_key key = {};
	struct probe_counters *mine;
	struct probe_worker *worker;
	uint64_t index, first, end, asked;
	uint64_t head = ~0ull, tail = ~0ull; /* pages that a write covers in part */
	uint32_t pages, reread = 0;
	struct who who;
	bool is_read;

	if (!control.is_counting)
		return 0;
	if (!is_watched(inode)) {
		metadata_added(inode, folio);
		return 0;
	}
	pages = folio_pages(folio);
	file_count(inode, pages, 0);
	index = folio->index;
	key.ino = inode->i_ino;
	key.generation = inode->i_generation;
	who = who_runs();
	worker = who.worker;
	mine = counters_of(who.stream);
	if (!mine)
		return 0;
	is_read = worker && worker->op == PROBE_OP_READ;
	asked = 0;
	if (!worker) {
		__sync_fetch_and_add(&control.disturbance.inserted_pages, pages);
		bpf_get_current_comm(control.disturbance.inserted_by, PROBE_COMMAND_BYTES);
	} else if (is_read) {
		first = PAGES_FROM(worker->first_byte);
		end = PAGES_UP(worker->end_byte);
		if (worker->ino == key.ino)
			asked = overlap(index, index + pages, first, end);
		mine->page_misses += asked;
		mine->readahead_pages += pages - asked;
	} else if (worker->op == PROBE_OP_WRITE) {
		uint64_t size = inode->i_size, there = PAGES_UP(size);

		first = worker->first_byte;
		end = worker->end_byte;
		if (worker->ino == key.ino) {
			if (first & 4095)
				head = PAGES_FROM(first);
			/* A tail that reaches the file's end leaves nothing to read. */
			if ((end & 4095) && end < size)
				tail = PAGES_FROM(end);
			if (tail == head)
				tail = ~0ull;
			if (head - index < pages && head < there)
				asked++;
			else
				head = ~0ull;
			if (tail - index < pages && tail < there)
				asked++;
			else
				tail = ~0ull;
		}
		mine->page_misses += asked;
		mine->written_pages += pages - asked;
	} else {
		mine->other_pages += pages;
	}

	for (uint32_t block = 0; block < FOLIO_BLOCKS; block++) {
		uint64_t at = index + block * PROBE_BLOCK_PAGES, read = is_read ? ~0ull : 0;
		uint32_t left = pages - block * PROBE_BLOCK_PAGES;

		if (block * PROBE_BLOCK_PAGES >= pages)
			break;
		key.block = at / PROBE_BLOCK_PAGES;
		if (head / PROBE_BLOCK_PAGES == key.block)
			read |= 1ull << (head & 63);
		if (tail / PROBE_BLOCK_PAGES == key.block)
			read |= 1ull << (tail & 63);
		reread += pages_return(
			&key, bits(at, left < PROBE_BLOCK_PAGES ? left : PROBE_BLOCK_PAGES), read,
			who.stream);
	}
	mine->reread_pages += reread;
	return 0;
}

/* ---- pages that go ---- */

__noinline int pages_leave(struct probe_page_key *key, uint32_t first, uint32_t count,
			   uint32_t stream)
{
	struct probe_page_memory *memory;

	if (!key)
		return 0;
	memory = bpf_map_lookup_elem(&page_memory, key);
	if (!memory) {
		struct probe_page_memory fresh = {};

		/* Another CPU may have been first; then it is found below. */
		bpf_map_update_elem(&page_memory, key, &fresh, BPF_NOEXIST);
		memory = bpf_map_lookup_elem(&page_memory, key);
	}
	if (!memory) {
		__sync_fetch_and_add(&control.page_memory_lost, count);
		return 0;
	}
	for (uint32_t i = 0; i < PROBE_BLOCK_PAGES; i++) {
		if (i >= count)
			break;
		memory->stream[(first + i) & (PROBE_BLOCK_PAGES - 1)] = stream;
	}
	__sync_fetch_and_and(&memory->refaulted, ~bits(first, count));
	__sync_fetch_and_or(&memory->evicted, bits(first, count));
	return 0;
}

static __always_inline void metadata_deleted(struct inode *inode, struct folio *folio)
{
	struct probe_page_key key = {.ino = METADATA_INO};
	struct probe_counters *mine;
	struct who who = who_runs();
	uint64_t index = folio->index;
	uint32_t pages = folio_pages(folio);

	if (!is_metadata(inode) || !is_under_pressure())
		return;
	__sync_fetch_and_add(&control.metadata_evicted_pages, pages);
	mine = counters_of(who.stream);
	if (!who.worker || !mine || inode->i_rdev != control.block_device ||
	    pages > PROBE_BLOCK_PAGES)
		return;
	mine->metadata_evictions += pages;
	key.block = index / PROBE_BLOCK_PAGES;
	pages_leave(&key, index % PROBE_BLOCK_PAGES, pages, who.stream);
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(page_deleted, struct folio *folio)
{
	struct inode *inode = folio->mapping->host;
	struct probe_page_key key = {};
	struct probe_counters *mine;
	uint32_t pages;
	uint64_t index;
	struct who who;

	if (!control.is_counting)
		return 0;
	if (!is_watched(inode)) {
		metadata_deleted(inode, folio);
		return 0;
	}
	pages = folio_pages(folio);
	file_count(inode, 0, pages);
	who = who_runs();
	if (!is_under_pressure()) {
		if (!who.worker) {
			__sync_fetch_and_add(&control.disturbance.dropped_pages, pages);
			bpf_get_current_comm(control.disturbance.dropped_by, PROBE_COMMAND_BYTES);
		}
		return 0;
	}
	if (inode->i_nlink == 0)
		return 0; /* its last name went before: nobody can ask again */
	if (who.worker) {
		mine = counters_of(who.stream);
		if (mine)
			mine->evictions += pages;
	} else {
		__sync_fetch_and_add(&control.disturbance.evicted_pages, pages);
		bpf_get_current_comm(control.disturbance.evicted_by, PROBE_COMMAND_BYTES);
	}
	index = folio->index;
	key.ino = inode->i_ino;
	key.generation = inode->i_generation;
	if (pages > FOLIO_BLOCKS * PROBE_BLOCK_PAGES)
		__sync_fetch_and_add(&control.page_memory_lost, pages);
	for (uint32_t block = 0; block < FOLIO_BLOCKS; block++) {
		uint64_t at = index + block * PROBE_BLOCK_PAGES;
		uint32_t left = pages - block * PROBE_BLOCK_PAGES;

		if (block * PROBE_BLOCK_PAGES >= pages)
			break;
		key.block = at / PROBE_BLOCK_PAGES;
		pages_leave(&key, at & (PROBE_BLOCK_PAGES - 1),
			    left < PROBE_BLOCK_PAGES ? left : PROBE_BLOCK_PAGES, who.stream);
	}
	return 0;
}

/* ---- lists ---- */

/*
 * A folio reaches its list when a CPU's batch is drained, by whoever runs there: the folio says whose
 * it is, not the task. It comes in active if workingset_refault() said so, or if a second use met it
 * still in the batch (__lru_cache_activate_folio()). Only the first kind was evicted before.
 */
SEC("tp_btf/mm_lru_insertion")
int BPF_PROG(folio_inserted, struct folio *folio)
{
	struct probe_page_memory *memory;
	struct probe_page_key key = {};
	struct probe_counters *mine;
	uint32_t pages, stream;
	struct inode *inode;
	uint64_t mask;

	if (!control.is_counting ||
	    !(folio_flags(folio) >> bpf_core_enum_value(enum pageflags, PG_active) & 1))
		return 0;
	inode = file_of(folio);
	if (!inode || !is_watched(inode))
		return 0;
	pages = folio_pages(folio);
	key.ino = inode->i_ino;
	key.generation = inode->i_generation;
	key.block = folio->index / PROBE_BLOCK_PAGES;
	mask = bits(folio->index, pages < PROBE_BLOCK_PAGES ? pages : PROBE_BLOCK_PAGES);
	memory = bpf_map_lookup_elem(&page_memory, &key);
	if (memory && (memory->refaulted & mask)) {
		stream = memory->stream[folio->index & (PROBE_BLOCK_PAGES - 1)];
		__sync_fetch_and_and(&memory->refaulted, ~mask);
		mine = counters_of(stream);
		if (mine)
			mine->refault_activations += pages;
	} else {
		struct who who = who_runs();

		mine = counters_of(who.stream);
		if (mine)
			mine->mark_activations += pages;
	}
	return 0;
}

SEC("tp_btf/mm_lru_activate")
int BPF_PROG(folio_activated, struct folio *folio)
{
	struct probe_counters *mine;
	struct inode *inode;
	struct who who;

	if (!control.is_counting)
		return 0;
	inode = file_of(folio);
	if (!inode || !is_watched(inode))
		return 0;
	who = who_runs();
	mine = counters_of(who.stream);
	if (mine)
		mine->mark_activations += folio_pages(folio);
	return 0;
}

SEC("tp_btf/mm_vmscan_lru_shrink_inactive")
int BPF_PROG(inactive_scanned, int node, unsigned long scanned, unsigned long reclaimed,
	     struct reclaim_stat *stat, int priority, int is_file)
{
	struct probe_counters *mine;
	struct who who;

	if (!control.is_counting || !is_file)
		return 0;
	who = who_runs();
	mine = who.worker ? counters_of(who.stream) : NULL;
	if (mine)
		mine->scan_activations += stat->nr_activate[1];
	return 0;
}

SEC("tp_btf/mm_vmscan_lru_shrink_active")
int BPF_PROG(active_scanned, int node, unsigned long taken, unsigned long active,
	     unsigned long deactivated, unsigned long referenced, int priority, int is_file)
{
	struct probe_counters *mine;
	struct who who;

	if (!control.is_counting || !is_file)
		return 0;
	who = who_runs();
	mine = who.worker ? counters_of(who.stream) : NULL;
	if (mine)
		mine->deactivations += deactivated;
	return 0;
}

/* ---- calls of reclaim and of shrinkers ---- */

static __always_inline int reclaim_ended(unsigned long freed_pages)
{
	struct probe_counters *mine;
	struct who who;

	if (!control.is_counting)
		return 0;
	who = who_runs();
	mine = who.worker ? counters_of(who.stream) : NULL;
	if (mine) {
		mine->reclaim_calls++;
		mine->reclaim_freed_pages += freed_pages;
	}
	return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(memcg_reclaim_ended, unsigned long freed_pages)
{
	return reclaim_ended(freed_pages);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(direct_reclaim_ended, unsigned long freed_pages)
{
	return reclaim_ended(freed_pages);
}

static __always_inline bool is_super_block_shrinker(struct shrinker *shrinker)
{
	struct super_block___inside *around;
	struct super_block *super;
	uint32_t dev = 0;

	if (bpf_core_field_exists(shrinker->private_data)) {
		/* Other shrinkers have other things there: read it, and believe it only if s_dev
		 * is ours and it is not 0. */
		super = shrinker->private_data;
		bpf_core_read(&dev, sizeof(dev), &super->s_dev);
	} else {
		around = (void *)shrinker;
		around = (void *)around - bpf_core_field_offset(around->s_shrink);
		bpf_core_read(&dev, sizeof(dev), &around->s_dev);
	}
	return dev && dev == control.device;
}

SEC("tp_btf/mm_shrink_slab_start")
int BPF_PROG(shrinker_started, struct shrinker *shrinker)
{
	struct probe_worker_state *state;
	struct who who;

	if (!control.is_counting)
		return 0;
	who = who_runs();
	if (!who.worker || !is_super_block_shrinker(shrinker))
		return 0;
	state = bpf_map_lookup_elem(&worker_states, &who.index);
	if (state) {
		state->shrinker = (uint64_t)shrinker;
		state->inodes_in_shrinker = 0;
	}
	return 0;
}

/* super_cache_scan() frees dentries, then inodes, and returns their sum. */
SEC("tp_btf/mm_shrink_slab_end")
int BPF_PROG(shrinker_ended, struct shrinker *shrinker, int node, int freed)
{
	struct probe_worker_state *state;
	struct probe_counters *mine;
	struct who who;

	if (!control.is_counting)
		return 0;
	who = who_runs();
	mine = who.worker ? counters_of(who.stream) : NULL;
	if (!mine)
		return 0;
	mine->shrinker_calls++;
	if (freed > 0)
		mine->shrinker_freed += freed;
	state = bpf_map_lookup_elem(&worker_states, &who.index);
	if (!state || state->shrinker != (uint64_t)shrinker)
		return 0;
	if (freed > 0 && (uint64_t)freed > state->inodes_in_shrinker)
		mine->dentries_evicted += freed - state->inodes_in_shrinker;
	state->shrinker = 0;
	return 0;
}

/* ---- dentries and inodes ---- */

static __always_inline bool is_named(const char *name, const char *wanted)
{
	for (int i = 0; i < PROBE_CACHE_NAME_BYTES; i++) {
		if (name[i] != wanted[i])
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(object_allocated, unsigned long call_site, const void *object,
	     struct kmem_cache *cache)
{
	uint64_t it = (uint64_t)cache;
	struct probe_counters *mine;
	struct who who;

	if (it != control.dentry_cache && it != control.inode_cache) {
		char name[PROBE_CACHE_NAME_BYTES] = {};

		if (control.dentry_cache && control.inode_cache)
			return 0;
		bpf_probe_read_kernel_str(name, sizeof(name), cache->name);
		if (is_named(name, "dentry"))
			control.dentry_cache = it;
		else if (name[0] && is_named(name, control.inode_cache_name))
			control.inode_cache = it;
		else
			return 0;
	}
	if (!control.is_counting || !object)
		return 0;
	who = who_runs();
	if (!who.worker || who.worker->op == PROBE_OP_NONE)
		return 0;
	mine = counters_of(who.stream);
	if (!mine)
		return 0;
	if (it == control.dentry_cache)
		mine->dentries_allocated++;
	else
		mine->inodes_allocated++;
	return 0;
}

static __always_inline int inode_evicted(const struct inode *inode, uint64_t ino)
{
	struct probe_inode_key key = {.ino = ino};
	struct probe_worker_state *state;
	struct probe_counters *mine;
	struct who who;

	if (!control.is_counting || inode->i_sb->s_dev != control.device || !is_under_pressure())
		return 0;
	who = who_runs();
	if (who.worker) {
		state = bpf_map_lookup_elem(&worker_states, &who.index);
		if (state && state->shrinker)
			state->inodes_in_shrinker++;
	}
	if (inode->i_nlink == 0)
		return 0; /* deleted, not evicted */
	if (who.worker) {
		mine = counters_of(who.stream);
		if (mine)
			mine->inodes_evicted++;
	} else {
		__sync_fetch_and_add(&control.disturbance.inodes_evicted, 1);
		bpf_get_current_comm(control.disturbance.evicted_by, PROBE_COMMAND_BYTES);
	}
	if (control.inode_numbers_come_again)
		key.generation = inode->i_generation;
	if (bpf_map_update_elem(&inode_memory, &key, &who.stream, BPF_ANY))
		__sync_fetch_and_add(&control.inode_memory_lost, 1);
	return 0;
}

SEC("tp_btf/ext4_evict_inode")
int BPF_PROG(ext4_inode_evicted, struct inode *inode)
{
	return inode_evicted(inode, inode->i_ino);
}

SEC("tp_btf/btrfs_inode_evict")
int BPF_PROG(btrfs_inode_evicted, const struct inode *inode)
{
	return inode_evicted(inode, inode->i_ino);
}

SEC("tp_btf/xfs_destroy_inode")
int BPF_PROG(xfs_inode_evicted, struct xfs_inode *inode)
{
	return inode_evicted(&inode->i_vnode, inode->i_ino);
}

static __always_inline int inode_returns(uint64_t ino, uint64_t generation)
{
	struct probe_inode_key key = {.ino = ino};
	struct probe_counters *mine;
	struct who who;

	if (control.inode_numbers_come_again)
		key.generation = generation;
	if (bpf_map_delete_elem(&inode_memory, &key))
		return 0; /* never evicted, or back already */
	who = who_runs();
	mine = who.worker ? counters_of(who.stream) : NULL;
	if (mine)
		mine->inodes_reallocated++;
	return 0;
}

/*
 * Reading an inode in sets its ctime, after its number and generation: __ext4_iget(),
 * btrfs_read_locked_inode(). An evicted inode's ctime can be set in no other way.
 */
SEC("tp_btf/inode_set_ctime_to_ts")
int BPF_PROG(inode_ctime_set, struct inode *inode)
{
	if (!control.is_counting || inode->i_sb->s_dev != control.device)
		return 0;
	return inode_returns(inode->i_ino, inode->i_generation);
}

SEC("tp_btf/xfs_iget_miss")
int BPF_PROG(xfs_inode_missed, struct xfs_inode *inode)
{
	if (!control.is_counting || inode->i_mount->m_super->s_dev != control.device)
		return 0;
	return inode_returns(inode->i_ino, inode->i_vnode.i_generation);
}

/* An evicted inode that XFS had not freed yet: back without an allocation. */
SEC("tp_btf/xfs_iget_recycle")
int BPF_PROG(xfs_inode_recycled, struct xfs_inode *inode)
{
	struct probe_inode_key key = {.ino = inode->i_ino};

	if (!control.is_counting || inode->i_mount->m_super->s_dev != control.device)
		return 0;
	if (control.inode_numbers_come_again)
		key.generation = inode->i_vnode.i_generation;
	bpf_map_delete_elem(&inode_memory, &key);
	return 0;
}

/* ---- the device ---- */

static __always_inline int request_counted(struct request *request, uint64_t sign)
{
	unsigned int flags = request->cmd_flags, op = flags & 0xff; /* REQ_OP_MASK */
	bool is_meta = flags >> bpf_core_enum_value(enum req_flag_bits, __REQ_META) & 1;
	uint64_t bytes = request->__data_len * sign;
	struct probe_device *it;
	uint32_t zero = 0;

	if (!control.is_counting || op > 1 ||
	    request->q->disk->part0->bd_dev != control.block_device)
		return 0;
	it = bpf_map_lookup_elem(&device, &zero);
	if (!it)
		return 0;
	if (op)
		__sync_fetch_and_add(
			is_meta ? &it->metadata_written_bytes : &it->data_written_bytes, bytes);
	else
		__sync_fetch_and_add(is_meta ? &it->metadata_read_bytes : &it->data_read_bytes,
				     bytes);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(request_issued, struct request *request)
{
	return request_counted(request, 1);
}

/* It will be issued again. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(request_requeued, struct request *request)
{
	return request_counted(request, -1);
}

char terms[] SEC("license") = "Dual MIT/GPL";
