/*
 * watch, the half in the kernel
 *
 * Counts what the page cache does: which pages reads asked for, which of them had to come in, which
 * went. There is no counter of hits in the kernel; accesses are counted here from the ranges that
 * buffered reads ask the page cache for (filemap_get_pages(), of whatever system call), so that a page is
 * counted once for each call that asked for it, and not for each time that it was marked as accessed or
 * made dirty.
 *
 * A miss is a page that came into the cache and is asked for the first time. Each page that comes in
 * has a bit ("fresh"), which goes when a read asks for it: that read missed, whether it waited for the
 * device itself or whether readahead had been a moment faster. The bit goes without a miss when the
 * page is written to (its content was never read), and when it is mapped (who touches it then cannot
 * be seen). A page whose bit is still there when it leaves came in vain.
 *
 * A page that reclaim took has another bit ("gone"), and comes back as a refault. The kernel's own
 * refaults know no files, so this is how they are told apart; evictions before the start are not known.
 *
 * Differs  1. Bits are kept for the blocks of 64 pages that were used last, as many as the maps hold:
 *             a page that was read ahead long ago may then count as a hit, an old eviction as none.
 *          2. An eviction is a page deleted by a task that reclaims (PF_MEMALLOC). Reclaim that drops
 *             inodes with their pages leaves no shadows, and counts here.
 *          3. Reads of less than a page ask for the same page again and again, and hit.
 *          4. Of a read by io_uring, sendfile() or splice() that has to wait for a page in its middle, the
 *             pages before that one may not be counted (see read_begin()); one of io_uring's that goes on
 *             in another thread is counted anew from there. A read that is broken off is counted whole, up
 *             to STEP_PAGES_MAX. Where a file system's smallest folio is
 *             more than a page, a read's end is rounded up to it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "record/watched.h"

/* The kernel's own numbers (include/linux/sched.h, mm_types.h, uapi/linux/magic.h). */
#define PF_MEMALLOC     0x00000800
#define S_IFMT          0170000
#define S_IFREG         0100000
#define TMPFS_MAGIC     0x01021994
#define HUGETLBFS_MAGIC 0x958458f6
#define FS_REQUIRES_DEV 1

/* As in tracer.bpf.c: no device under them, and yet a page cache. */
#define IS_NETWORK_OR_LAYERED(magic)                                                               \
	((magic) == 0x6969 || (magic) == 0xff534d42 || (magic) == 0x65735546 ||                    \
	 (magic) == 0x01021997 || (magic) == 0x794c7630 || (magic) == 0x2fc12fc1 ||                \
	 (magic) == 0x00c36400)

/* At most so many blocks at once: folios have 8 of 64 pages, steps of reads STEP_PAGES_MAX, maps 8. */
#define BLOCKS_MAX 512

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct file_system_type {
	int fs_flags;
};

struct super_block {
	uint32_t s_dev;
	struct file_system_type *s_type;
	unsigned long s_magic;
};

struct address_space {
	struct inode *host;
	unsigned long nrpages;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	struct address_space *i_mapping;
	unsigned long i_ino;
	long long i_size;
	uint32_t i_generation;
	struct hlist_head i_dentry;
};

/* x86-64 */
struct pt_regs {
	unsigned long di, r10;
	unsigned long orig_ax;
};

struct pt_regs___arm64 {
	unsigned long regs[31];
	uint64_t orig_x0;
	int32_t syscallno;
};

struct file {
	struct address_space *f_mapping;
	long long f_pos;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct kernfs_node {
	uint64_t id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
};

/* From 6.1 on the ancestors are there themselves, before only their ids. */
struct cgroup___ancestors {
	struct cgroup *ancestors[8];
};

struct cgroup___ids {
	uint64_t ancestor_ids[8];
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[16];
};

struct task_io_accounting {
	uint64_t syscr;
};

struct task_struct {
	unsigned int flags;
	struct css_set *cgroups;
	struct files_struct *files;
	struct task_io_accounting ioac;
	unsigned long min_flt, maj_flt;
};

struct folio {
	unsigned long flags;
	struct address_space *mapping;
	unsigned long index;
	unsigned long memcg_data;
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

#pragma clang attribute pop

enum pageflags { PG_head };
enum cgroup_subsys_id { memory_cgrp_id };

/* ---- maps: the user half says how large those of blocks are ---- */

const volatile struct watched_settings settings;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WATCHED_SETS);
	__type(key, uint32_t);
	__type(value, struct top_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct watched_block);
	__type(value, struct watched_bits);
} fresh SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct watched_block);
	__type(value, uint64_t);
} gone SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct watched_id);
	__type(value, struct watched_file);
} files SEC(".maps");

/* Where a file's entry is made; its last name may reach beyond. Two: insertions may interrupt reads' ends. */
struct scratch {
	struct watched_file file;
	char beyond[WATCHED_NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct top_counts *counted(uint32_t set)
{
	return bpf_map_lookup_elem(&counts, &set);
}

/* Of all, and of the target if it is its. */
#define COUNT(is_of_target, field, number)                                                         \
	do {                                                                                       \
		struct top_counts *counted_ = counted(WATCHED_ALL);                                \
		if (counted_)                                                                      \
			__sync_fetch_and_add(&counted_->field, (number));                          \
		counted_ = (is_of_target) ? counted(WATCHED_TARGET) : NULL;                        \
		if (counted_)                                                                      \
			__sync_fetch_and_add(&counted_->field, (number));                          \
	} while (0)

/* ---- which file, whose ---- */

static __always_inline void id_of(struct watched_id *id, struct inode *inode)
{
	id->ino = BPF_CORE_READ(inode, i_ino);
	id->device = BPF_CORE_READ(inode, i_sb, s_dev);
	id->generation = BPF_CORE_READ(inode, i_generation);
}

/* A regular file of a file system that reads it from somewhere; inode 1 is none (see tracer.bpf.c). */
static __always_inline bool is_file(struct inode *inode)
{
	struct super_block *super;
	uint64_t magic;

	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFREG || BPF_CORE_READ(inode, i_ino) == 1)
		return false;
	super = BPF_CORE_READ(inode, i_sb);
	if (BPF_CORE_READ(super, s_type, fs_flags) & FS_REQUIRES_DEV)
		return true;
	magic = BPF_CORE_READ(super, s_magic);
	return IS_NETWORK_OR_LAYERED(magic);
}

/* Does the kernel count it among file pages that are no shared memory? */
static __always_inline bool is_page_cache(struct inode *inode)
{
	uint64_t magic = BPF_CORE_READ(inode, i_sb, s_magic);

	return magic != TMPFS_MAGIC && magic != HUGETLBFS_MAGIC;
}

static __always_inline bool is_in_cgroup(struct cgroup_subsys_state *state)
{
	struct cgroup *group = BPF_CORE_READ(state, cgroup);
	struct cgroup___ancestors *newer = (void *)group;
	uint32_t level = settings.cgroup_level;
	uint64_t id = 0;

	if (!group || (uint32_t)BPF_CORE_READ(group, level) < level)
		return false;
	if (bpf_core_field_exists(newer->ancestors)) {
		struct cgroup *ancestor = NULL;

		bpf_probe_read_kernel(
			&ancestor, sizeof(ancestor),
			(void *)group +
				bpf_core_field_offset(struct cgroup___ancestors, ancestors) +
				level * sizeof(ancestor));
		id = BPF_CORE_READ(ancestor, kn, id);
	} else {
		bpf_probe_read_kernel(
			&id, sizeof(id),
			(void *)group + bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				level * sizeof(id));
	}
	return id == settings.cgroup;
}

static __always_inline bool is_of_device(struct inode *inode)
{
	return BPF_CORE_READ(inode, i_sb, s_dev) == settings.device;
}

/* Is what this task does to the file of the target? */
static __always_inline bool is_by_target(struct inode *inode)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state *state = NULL;
	uint32_t memory = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);

	switch (settings.scope) {
	case WATCHED_DEVICE:
		return is_of_device(inode);
	case WATCHED_CGROUP:
		bpf_core_read(&state, sizeof(state), &set->subsys[memory & 15]);
		return is_in_cgroup(state);
	}
	return true;
}

/* Is this page? The low bits of memcg_data say what it is (include/linux/memcontrol.h). */
static __always_inline bool is_of_target(struct folio *folio, struct inode *inode)
{
	switch (settings.scope) {
	case WATCHED_DEVICE:
		return is_of_device(inode);
	case WATCHED_CGROUP:
		/* A struct mem_cgroup begins with its state. */
		return bpf_core_field_exists(folio->memcg_data) &&
		       is_in_cgroup((void *)(folio->memcg_data & ~7ul));
	}
	return true;
}

static __always_inline uint32_t folio_pages(struct folio *folio)
{
	struct folio___memdesc *newer = (void *)folio;
	struct folio___order *older = (void *)folio;
	unsigned long flags;
	unsigned int order;

	flags = bpf_core_field_exists(newer->flags.f) ? newer->flags.f : folio->flags;
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(older->_folio_order))
		order = older->_folio_order;
	else
		order = folio->_flags_1 & 0xff; /* folio_large_order() */
	return 1u << (order & 31);
}

/* ---- files ---- */

struct walk {
	struct dentry *at;
	char *text;
	uint32_t used;
	uint32_t is_whole;
};

static long walk_up(uint32_t step, void *context)
{
	struct walk *walk = context;
	struct dentry *at = walk->at, *parent = BPF_CORE_READ(at, d_parent);
	uint32_t used = walk->used;
	long bytes;

	if (parent == at || !parent) {
		walk->is_whole = 1;
		return 1;
	}
	bytes = bpf_probe_read_kernel_str(walk->text + (used & (WATCHED_NAMES_BYTES - 1)),
					  WATCHED_NAME_BYTES, BPF_CORE_READ(at, d_name.name));
	if (bytes <= 0 || used + (uint32_t)bytes >= WATCHED_NAMES_BYTES)
		return 1;
	walk->used = used + (uint32_t)bytes;
	walk->at = parent;
	return 0;
}

static __noinline int file_add(struct inode *inode, struct watched_id *id)
{
	uint32_t zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	struct hlist_node *first = BPF_CORE_READ(inode, i_dentry.first);
	struct watched_file *file;
	struct walk walk = {};

	if (!scratch || !id)
		return 0;
	file = &scratch->file;
	__builtin_memset(file, 0, offsetof(struct watched_file, names));
	if (first) {
		walk.at = (void *)first - bpf_core_field_offset(struct dentry, d_u.d_alias);
		walk.text = file->names;
		bpf_loop(WATCHED_DEPTH_MAX, walk_up, &walk, 0);
	}
	file->names_bytes = walk.used;
	file->is_cut = !walk.is_whole;
	bpf_map_update_elem(&files, id, file, BPF_NOEXIST);
	return 0;
}

/* The file's entry, made if there was none. */
static __always_inline struct watched_file *file_of(struct inode *inode, struct watched_id *id)
{
	struct watched_file *file = bpf_map_lookup_elem(&files, id);

	if (!file) {
		file_add(inode, id);
		file = bpf_map_lookup_elem(&files, id);
	}
	if (file) {
		file->resident = BPF_CORE_READ(inode, i_mapping, nrpages);
		file->size = BPF_CORE_READ(inode, i_size);
	}
	return file;
}

/* ---- pages' bits ---- */

enum sweep_kind { SWEEP_IN, SWEEP_ASKED, SWEEP_WRITTEN, SWEEP_OUT, SWEEP_EVICTED };

struct sweep {
	struct watched_block block; /* the first one, then the one at hand */
	uint64_t first, last;       /* pages */
	uint32_t kind;
	uint32_t unused;
	uint64_t fresh; /* how many had that bit */
	uint64_t
		returned; /* SWEEP_IN: how many had been evicted; SWEEP_WRITTEN: of those that were fresh */
};

static __always_inline uint64_t bits_count(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555ull;
	bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return bits * 0x0101010101010101ull >> 56;
}

/* They came in. */
static __always_inline void bits_set(struct sweep *sweep, uint64_t mask)
{
	uint64_t *evicted = bpf_map_lookup_elem(&gone, &sweep->block), returned = 0;
	struct watched_bits *bits, added = {.fresh = mask};

	if (evicted && (*evicted & mask))
		returned = __sync_fetch_and_and(evicted, ~mask) & mask;
	sweep->returned += bits_count(returned);
	bits = bpf_map_lookup_elem(&fresh, &sweep->block);
	if (!bits) {
		added.returned = returned;
		if (bpf_map_update_elem(&fresh, &sweep->block, &added, BPF_NOEXIST) == 0)
			return;
		bits = bpf_map_lookup_elem(&fresh, &sweep->block);
		if (!bits)
			return;
	}
	__sync_fetch_and_or(&bits->fresh, mask);
	__sync_fetch_and_or(&bits->returned, returned);
}

static __always_inline void evicted_set(struct sweep *sweep, uint64_t mask)
{
	uint64_t *evicted = bpf_map_lookup_elem(&gone, &sweep->block);

	if (!evicted) {
		if (bpf_map_update_elem(&gone, &sweep->block, &mask, BPF_NOEXIST) == 0)
			return;
		evicted = bpf_map_lookup_elem(&gone, &sweep->block);
	}
	if (evicted)
		__sync_fetch_and_or(evicted, mask);
}

static long block_sweep(uint32_t step, void *context)
{
	struct sweep *sweep = context;
	uint64_t number = sweep->first / WATCHED_BLOCK_PAGES + step;
	uint64_t from = number * WATCHED_BLOCK_PAGES, mask = ~0ull, was = 0, returned;
	struct watched_bits *bits;

	if (from > sweep->last)
		return 1;
	if (sweep->first > from)
		mask &= ~0ull << (sweep->first - from & 63);
	if (sweep->last - from < WATCHED_BLOCK_PAGES - 1)
		mask &= ~0ull >> (WATCHED_BLOCK_PAGES - 1 - (sweep->last - from) & 63);
	sweep->block.number = number;
	if (sweep->kind == SWEEP_IN) {
		bits_set(sweep, mask);
		return 0;
	}
	if (sweep->kind == SWEEP_EVICTED)
		evicted_set(sweep, mask);
	bits = bpf_map_lookup_elem(&fresh, &sweep->block);
	if (!bits)
		return 0;
	if (bits->fresh & mask) {
		was = __sync_fetch_and_and(&bits->fresh, ~mask) & mask;
		sweep->fresh += bits_count(was);
	}
	if (sweep->kind == SWEEP_WRITTEN && (bits->returned & was)) {
		returned = __sync_fetch_and_and(&bits->returned, ~was) & was;
		sweep->returned += bits_count(returned);
	} else if (bits->returned & mask) {
		__sync_fetch_and_and(&bits->returned, ~mask);
	}
	return 0;
}

static __always_inline void sweep_begin(struct sweep *sweep, struct inode *inode, uint64_t first,
					uint64_t pages, enum sweep_kind kind)
{
	id_of(&sweep->block.id, inode);
	sweep->first = first;
	sweep->last = first + pages - 1;
	sweep->kind = kind;
	bpf_loop(BLOCKS_MAX, block_sweep, sweep, 0);
}

/* ---- what a task is doing ---- */

/*
 * Of a read's pages, so many are counted ahead of what was found for it: as many as one step of it can
 * find at most, 31 folios (PAGEVEC_SIZE) of 2 MiB.
 */
#define STEP_PAGES_MAX (31 * 512)

struct doing {
	/* the read at hand, or the last one */
	struct address_space *mapping;
	uint64_t index, last, counted_to, calls;
	/* the fault, likewise */
	struct address_space *fault_mapping;
	uint64_t fault_index, faults;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct doing);
} tasks SEC(".maps");

/* Reads that have ended: counted where each ends (inc_syscr()), io_uring's apart. */
static __always_inline uint64_t calls_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.syscr) ? task->ioac.syscr : 0;
}

/* Faults that have ended, less those that begin again (mm_account_fault()). */
static __always_inline uint64_t faults_of(struct task_struct *task)
{
	return task->min_flt + task->maj_flt;
}

/* ---- reads ---- */

/* The system call that the task is in, its descriptor and its fourth argument. */
struct call {
	int32_t number;
	uint32_t fd;
	uint64_t fourth;
};

static __always_inline void call_read(struct call *call, struct pt_regs *regs)
{
	struct pt_regs___arm64 *arm = (void *)regs;

	if (bpf_core_field_exists(regs->orig_ax)) {
		call->number = (int32_t)BPF_CORE_READ(regs, orig_ax);
		call->fd = (uint32_t)BPF_CORE_READ(regs, di);
		call->fourth = BPF_CORE_READ(regs, r10);
	} else if (bpf_core_field_exists(arm->syscallno)) {
		call->number = BPF_CORE_READ(arm, syscallno);
		call->fd = (uint32_t)BPF_CORE_READ(arm, orig_x0);
		call->fourth = BPF_CORE_READ(arm, regs[3]);
	}
}

/*
 * The page where the read that the task is in began, which is `index` or before it. A step that has to
 * wait for its last folio's reading ends without being told of, with those before it
 * (filemap_get_pages(), of AOP_TRUNCATED_PAGE), so the first step that is told of need not be the first.
 */
static __noinline uint64_t read_begin(struct address_space *mapping, uint64_t index)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct fdtable *table;
	struct file *file = NULL;
	struct call call = {.number = -1};
	long long at;
	uint64_t first;

	call_read(&call, regs);
	if (call.number < 0 ||
	    (call.number != settings.call_read && call.number != settings.call_readv &&
	     call.number != settings.call_pread && call.number != settings.call_preadv &&
	     call.number != settings.call_preadv2))
		return index;
	table = BPF_CORE_READ(task, files, fdt);
	if (!table || call.fd >= BPF_CORE_READ(table, max_fds))
		return index;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + call.fd);
	if (!file || BPF_CORE_READ(file, f_mapping) != mapping)
		return index;
	at = (long long)call.fourth;
	if (call.number == settings.call_read || call.number == settings.call_readv || at < 0)
		at = BPF_CORE_READ(file, f_pos);
	first = (uint64_t)at >> settings.page_shift;
	return first <= index && index - first < STEP_PAGES_MAX ? first : index;
}

/*
 * A step of a buffered read has found pages from `index` on; the read goes to `last`, that page included,
 * perhaps beyond the file's end (Linux 6.12, filemap_get_pages()). A read of many pages has several steps, each with its own index and the same last page.
 */
SEC("tp_btf/mm_filemap_get_pages")
int BPF_PROG(pages_got, struct address_space *mapping, unsigned long index, unsigned long last)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = mapping->host;
	struct sweep sweep = {};
	struct watched_file *file;
	struct doing *doing;
	/* pages from `begin` on were asked for; they are counted from `from` on */
	uint64_t size, begin, from, to, pages = 0, calls = calls_of(task);
	bool is_target;

	if (!is_file(inode))
		return 0;
	size = BPF_CORE_READ(inode, i_size);
	if (!size || index > ((size - 1) >> settings.page_shift))
		return 0;
	if (last > ((size - 1) >> settings.page_shift))
		last = (size - 1) >> settings.page_shift;
	if (last < index)
		return 0;
	doing = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!doing) {
		COUNT(false, uncounted, 1);
		return 0;
	}
	to = last - index < STEP_PAGES_MAX ? last : index + STEP_PAGES_MAX - 1;
	if (doing->mapping == mapping && doing->last == last && doing->calls == calls &&
	    index > doing->index && index <= doing->counted_to + 1) {
		begin = doing->index;
		from = doing->counted_to + 1;
	} else {
		begin = from = read_begin(mapping, index);
	}
	if (to + 1 > from)
		pages = to + 1 - from;
	doing->mapping = mapping;
	doing->index = index;
	doing->last = last;
	doing->calls = calls;
	if (pages)
		doing->counted_to = to;
	is_target = is_by_target(inode);
	sweep_begin(&sweep, inode, begin, to - begin + 1, SWEEP_ASKED);
	if (pages)
		COUNT(is_target, accesses, pages);
	if (sweep.fresh)
		COUNT(is_target, misses, sweep.fresh);
	file = is_target ? file_of(inode, &sweep.block.id) : NULL;
	if (file) {
		__sync_fetch_and_add(&file->accesses, pages);
		__sync_fetch_and_add(&file->misses, sweep.fresh);
	}
	return 0;
}

/* ---- mapped files: only faults are seen ---- */

static __always_inline void asked_by_fault(struct inode *inode, uint64_t first, uint64_t pages)
{
	struct sweep sweep = {};

	sweep_begin(&sweep, inode, first, pages, SWEEP_ASKED);
	if (sweep.fresh)
		COUNT(is_by_target(inode), fault_misses, sweep.fresh);
}

/* A fault looks a page up; what it then brings in is told of by page_inserted(). */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(fault_begun, struct address_space *mapping, unsigned long index)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = mapping->host;
	struct doing *doing;
	uint64_t faults = faults_of(task);

	if (!is_file(inode))
		return 0;
	doing = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!doing) {
		COUNT(false, uncounted, 1);
		return 0;
	}
	/* It had to wait, and begins again. */
	if (doing->fault_mapping == mapping && doing->fault_index == index &&
	    doing->faults == faults)
		return 0;
	doing->fault_mapping = mapping;
	doing->fault_index = index;
	doing->faults = faults;
	COUNT(is_by_target(inode), faults, 1);
	asked_by_fault(inode, index, 1);
	return 0;
}

/* Cached pages around a fault were mapped: who touches them from now on cannot be seen. */
SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(pages_mapped, struct address_space *mapping, unsigned long start, unsigned long end)
{
	if (end >= start && is_file(mapping->host))
		asked_by_fault(mapping->host, start, end - start + 1);
	return 0;
}

/* ---- pages that come and go ---- */

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(page_inserted, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = folio->mapping->host;
	uint64_t pages = folio_pages(folio);
	struct sweep sweep = {};
	struct watched_file *file;
	struct doing *doing;
	bool is_target;

	if (!is_page_cache(inode))
		return 0;
	is_target = is_of_target(folio, inode);
	COUNT(is_target, pages_in, pages);
	if (!is_file(inode))
		return 0;
	sweep_begin(&sweep, inode, folio->index, pages, SWEEP_IN);
	COUNT(is_target, inserted, pages);
	if (sweep.returned)
		COUNT(is_target, refaults, sweep.returned);
	file = is_target ? file_of(inode, &sweep.block.id) : NULL;
	if (file) {
		__sync_fetch_and_add(&file->inserted, pages);
		__sync_fetch_and_add(&file->refaults, sweep.returned);
	}
	doing = bpf_task_storage_get(&tasks, task, NULL, 0);
	if (doing && doing->fault_mapping == folio->mapping && doing->faults == faults_of(task) &&
	    doing->fault_index - folio->index < pages)
		asked_by_fault(inode, doing->fault_index, 1);
	return 0;
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(page_deleted, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode *inode = folio->mapping->host;
	uint64_t pages = folio_pages(folio);
	bool is_target, is_evicted = task->flags & PF_MEMALLOC;
	struct sweep sweep = {};
	struct watched_file *file;

	if (!is_page_cache(inode))
		return 0;
	is_target = is_of_target(folio, inode);
	COUNT(is_target, pages_out, pages);
	if (!is_file(inode))
		return 0;
	sweep_begin(&sweep, inode, folio->index, pages, is_evicted ? SWEEP_EVICTED : SWEEP_OUT);
	if (is_evicted)
		COUNT(is_target, evicted, pages);
	else
		COUNT(is_target, dropped, pages);
	if (sweep.fresh)
		COUNT(is_target, unused, sweep.fresh);
	/* Of several that go at once the kernel's own number of pages changes afterwards: so ours is counted. */
	file = bpf_map_lookup_elem(&files, &sweep.block.id);
	if (!file && is_target)
		file = file_of(inode, &sweep.block.id);
	if (!file)
		return 0;
	__sync_fetch_and_add(&file->resident, -(int64_t)pages);
	if (is_target && is_evicted)
		__sync_fetch_and_add(&file->evicted, pages);
	else if (is_target)
		__sync_fetch_and_add(&file->dropped, pages);
	return 0;
}

/* A page that came in to be written to was not read again. */
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(folio_dirtied, struct folio *folio, struct address_space *mapping)
{
	struct sweep sweep = {};
	struct watched_file *file;
	struct inode *inode;
	bool is_target;

	if (!mapping)
		return 0;
	inode = mapping->host;
	if (!inode || !is_file(inode))
		return 0;
	sweep_begin(&sweep, inode, folio->index, folio_pages(folio), SWEEP_WRITTEN);
	if (!sweep.returned)
		return 0;
	is_target = is_of_target(folio, inode);
	COUNT(is_target, rewritten, sweep.returned);
	file = bpf_map_lookup_elem(&files, &sweep.block.id);
	if (file && is_target)
		__sync_fetch_and_add(&file->rewritten, sweep.returned);
	return 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
