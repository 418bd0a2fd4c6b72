/*
 * record, the half in the kernel
 *
 * Watches system calls, page faults and the page cache through tracepoints, for the processes that
 * are to be recorded, and tells of each call what file it was about: inode, offset and size are read
 * from the kernel's own structures at that moment, so no descriptor is resolved by guessing. Calls on
 * what is no file of a file system with a device (sockets, pipes, /proc, tmpfs) end here, untold.
 *
 * One event a call, when it ends, with the time at which it began. A name is sent once, with the
 * first event about its file. Everything is read with preemption off, as tracepoints run.
 *
 * The kernel's structs below have only the fields used; CO-RE finds them in the running kernel.
 */
#include <stdbool.h>
#include <stdint.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "record/event.h"

/* The kernel's own numbers, the same since before 5.17 (include/linux/fs.h, mm.h, sched.h). */
#define PF_KTHREAD          0x00200000
#define S_IFMT              0170000
#define S_IFDIR             0040000
#define S_IFREG             0100000
#define S_IFLNK             0120000
#define FMODE_CREATED       0x100000
#define FS_REQUIRES_DEV     1
#define O_APPEND            02000
#define AT_FDCWD            (-100)
#define VM_SHARED           8
#define MADV_WILLNEED       3
#define FAULT_IS_ON_PRESENT 1
#define FAULT_IS_WRITE      2 /* of x86's error code; arm64 tells no such thing in it */
#define PAGE_SHIFT          12
#define RWF_DONTCACHE       0x80
#define RWF_APPEND          0x10
#define IOCB_APPEND         2
#define IOCB_DONTCACHE      RWF_DONTCACHE
#define IOCB_DIRECT         (1 << 17)

/* Magic numbers of file systems that have no device under them and yet a page cache of their own. */
#define IS_NETWORK_OR_LAYERED(magic)                                                               \
	((magic) == 0x6969 || (magic) == 0xff534d42 || (magic) == 0x65735546 ||                    \
	 (magic) == 0x01021997 || (magic) == 0x794c7630 || (magic) == 0x2fc12fc1 ||                \
	 (magic) == 0x00c36400)

typedef uint32_t umode_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* x86-64 */
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9;
	unsigned long orig_ax;
};

struct pt_regs___arm64 {
	unsigned long regs[31];
	uint64_t orig_x0;
	int32_t syscallno;
};

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
	unsigned int i_nlink;
	long long i_size;
	uint32_t i_generation;
	struct hlist_head i_dentry;
};

struct qstr {
	uint32_t len;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct vfsmount {
	int mnt_flags;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	struct address_space *f_mapping;
	struct inode *f_inode;
	struct path f_path;
	long long f_pos;
};

typedef struct {
	long counter;
} atomic_long_t;

typedef struct {
	int counter;
} atomic_t;

/* Before 6.13 the count was a plain one. */
struct file___count {
	atomic_long_t f_count;
};

typedef struct {
	atomic_long_t refcnt;
} file_ref_t;

struct file___ref {
	file_ref_t f_ref;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root, pwd;
};

struct task_io_accounting {
	uint64_t read_bytes;
};

struct signal_struct {
	atomic_t live;
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
	struct cgroup_subsys_state *parent;
};

struct page_counter {
	atomic_long_t usage;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory, kmem;
};

struct css_set {
	struct cgroup_subsys_state *subsys[16];
	struct cgroup *dfl_cgrp;
};

struct thread_info {
	uint32_t status;
};

struct mm_struct {
	atomic_long_t pgtables_bytes;
};

struct task_struct {
	struct thread_info thread_info;
	struct mm_struct *mm;
	unsigned int flags;
	int pid, tgid;
	struct task_struct *real_parent;
	char comm[RECORD_COMMAND_BYTES];
	struct files_struct *files;
	struct fs_struct *fs;
	struct task_io_accounting ioac;
	struct signal_struct *signal;
	struct css_set *cgroups;
	uint64_t start_time;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct linux_binprm {
	struct file *file;
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

struct kiocb {
	struct file *ki_filp;
	long long ki_pos;
	int ki_flags;
};

struct io_rw {
	struct kiocb kiocb;
	uint32_t len;
};

struct io_sync {
	struct file *file;
	long long len, off;
	int flags, mode;
};

struct io_fadvise {
	struct file *file;
	uint64_t offset, len;
	uint32_t advice;
};

struct io_cqe {
	int32_t res;
	union {
		int32_t fd;
	};
};

struct io_kiocb {
	struct file *file;
	uint8_t opcode;
	struct io_cqe cqe;
};

struct io_uring_cqe {
	int32_t res;
};

#pragma clang attribute pop

enum pageflags { PG_head };
enum cgroup_subsys_id { memory_cgrp_id };

/* ---- maps ---- */

const volatile struct record_settings settings;

struct record_control control SEC(".data.control");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24); /* the user half says how large */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct record_counters);
} counters SEC(".maps");

/* RECORD_SCOPE_PROCESSES: their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, uint32_t);
	__type(value, uint32_t);
} processes SEC(".maps");

/* Whose names were sent. One that is forgotten is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 131072);
	__type(key, struct record_id);
	__type(value, uint32_t);
} named SEC(".maps");

/* What a thread is doing. */
struct task_state {
	uint32_t shape; /* of the call at hand; RECORD_NOTHING: none that is recorded */
	uint32_t number;
	uint64_t time_ns;
	struct inode *inode, *inode_to; /* that it is about */
	uint64_t handle, handle_to;
	struct record_id id;
	uint64_t size, cached_pages;
	uint64_t pages;      /* of that file that came in meanwhile */
	uint64_t pages_read; /* for exec */

	uint64_t fault_address;
	struct inode *fault_inode; /* its fault is told of, till the next fault or call */
	uint32_t fault;
	uint32_t fault_is_write;

	int64_t kernel_bytes; /* in control.kernel_bytes */
	uint64_t read_bytes;  /* counted so far */
	uint32_t is_told;     /* the user half knows the task */
	uint32_t is_named;    /* and the file's name */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} states SEC(".maps");

/* An io_uring request under way, by its address. */
struct uring_state {
	uint64_t time_ns, offset, bytes, handle, size, cached_pages;
	struct inode *inode;
	uint32_t process, thread, flags, advice;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct uring_state);
} requests SEC(".maps");

/* Inodes that io_uring's requests are about: their pages come in by calls that are told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, uint32_t);
} uring_inodes SEC(".maps");

/*
 * Where events of no fixed size are made: one each for calls, faults, and io_uring's completions, which
 * may come in an interrupt of these.
 */
enum { SCRATCH_OF_CALLS, SCRATCH_OF_FAULTS, SCRATCH_OF_REQUESTS, SCRATCH_COUNT };

struct scratch {
	struct record_name name;
	char text[2 * RECORD_PATH_BYTES_MAX];
	struct record_call call;
	char texts[2 * RECORD_PATH_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_COUNT);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* ---- counting and sending ---- */

static __always_inline struct record_counters *counted(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

#define COUNT(field, number)                                                                       \
	do {                                                                                       \
		struct record_counters *counted_ = counted();                                      \
		if (counted_)                                                                      \
			__sync_fetch_and_add(&counted_->field, (number));                          \
	} while (0)

/* The user half looks now and then by itself; only a ring that fills wakes it. */
static __always_inline uint64_t wakeup(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= settings.wakeup_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

static __always_inline bool send(void *event, uint64_t bytes)
{
	struct record_counters *count = counted();
	bool is_sent = bpf_ringbuf_output(&ring, event, bytes, wakeup()) == 0;

	if (!count)
		return is_sent;
	if (is_sent) {
		__sync_fetch_and_add(&count->events, 1);
		__sync_fetch_and_add(&count->event_bytes, bytes);
	} else {
		__sync_fetch_and_add(&count->events_lost, 1);
	}
	return is_sent;
}

static __always_inline void begin(struct record_event *event, uint32_t type, uint64_t bytes,
				  uint64_t time_ns, uint32_t number)
{
	uint64_t who = bpf_get_current_pid_tgid();

	event->time_ns = time_ns;
	event->process = who >> 32;
	event->thread = (uint32_t)who;
	event->bytes = bytes;
	event->type = type;
	event->number = number;
}

/* ---- who is recorded ---- */

static __always_inline struct cgroup_subsys_state *memory_group_of(struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state *state = NULL;
	uint32_t memory = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);

	bpf_core_read(&state, sizeof(state), &set->subsys[memory & 15]);
	return state;
}

static __always_inline bool is_in_cgroup(struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	struct cgroup *group;
	struct cgroup___ancestors *newer;
	uint32_t level = settings.cgroup_level;

	if (settings.is_cgroup_v2) {
		group = set->dfl_cgrp;
	} else {
		struct cgroup_subsys_state *state = memory_group_of(task);

		group = BPF_CORE_READ(state, cgroup);
	}
	if ((uint32_t)BPF_CORE_READ(group, level) < level)
		return false;
	newer = (void *)group;
	if (bpf_core_field_exists(newer->ancestors)) {
		struct cgroup *ancestor = NULL;

		bpf_probe_read_kernel(
			&ancestor, sizeof(ancestor),
			(void *)group +
				bpf_core_field_offset(struct cgroup___ancestors, ancestors) +
				level * sizeof(ancestor));
		return BPF_CORE_READ(ancestor, kn, id) == settings.cgroup;
	} else {
		uint64_t id = 0;

		bpf_probe_read_kernel(
			&id, sizeof(id),
			(void *)group + bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				level * sizeof(id));
		return id == settings.cgroup;
	}
}

static __always_inline bool is_recorded(struct task_struct *task)
{
	uint32_t process = task->tgid;

	if (process == settings.self)
		return false;
	switch (settings.scope) {
	case RECORD_SCOPE_PROCESSES:
		return bpf_map_lookup_elem(&processes, &process) != NULL;
	case RECORD_SCOPE_CGROUP:
		return is_in_cgroup(task);
	default:
		return !(task->flags & PF_KTHREAD);
	}
}

static __always_inline uint64_t read_bytes_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.read_bytes) ? task->ioac.read_bytes : 0;
}

/* NULL: the task at hand is not recorded, or there is no memory for it. */
static __always_inline struct task_state *state_of(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&states, task, NULL, 0);

	if (state && settings.scope != RECORD_SCOPE_CGROUP)
		return state;
	if (!is_recorded(task))
		return NULL;
	if (state)
		return state;
	state = bpf_task_storage_get(&states, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		COUNT(tasks_lost, 1);
		return NULL;
	}
	if (task->start_time < settings.start_ns)
		state->read_bytes = read_bytes_of(task);
	return state;
}

static __always_inline void read_bytes_count(struct task_struct *task, struct task_state *state)
{
	uint64_t now = read_bytes_of(task);

	if (now != state->read_bytes) {
		COUNT(read_bytes, now - state->read_bytes);
		state->read_bytes = now;
	}
}

/* ---- files ---- */

static __always_inline struct file *file_of(struct task_struct *task, uint64_t fd)
{
	struct files_struct *open = task->files;
	struct fdtable *table;
	struct file *file = NULL;

	if (!open)
		return NULL;
	table = open->fdt;
	if ((uint32_t)fd < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof(file), &table->fd[(uint32_t)fd]);
	return file;
}

static __always_inline void id_of(struct record_id *id, struct inode *inode)
{
	id->ino = BPF_CORE_READ(inode, i_ino);
	id->device = BPF_CORE_READ(inode, i_sb, s_dev);
	id->generation = BPF_CORE_READ(inode, i_generation);
}

/* A file or directory of a file system with a page cache and something to read it from. */
static __always_inline bool is_of_interest(struct inode *inode)
{
	uint32_t kind;
	struct super_block *super;
	uint64_t magic;

	if (!inode)
		return false;
	kind = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	if (kind != S_IFREG && kind != S_IFDIR)
		return false;
	super = BPF_CORE_READ(inode, i_sb);
	if (BPF_CORE_READ(super, s_type, fs_flags) & FS_REQUIRES_DEV)
		return true;
	magic = BPF_CORE_READ(super, s_magic);
	return IS_NETWORK_OR_LAYERED(magic);
}

/*
 * Of a file's data? Else it is the file system's own: a device's pages; and inode 1, which is no file in
 * ext4 (buddy bitmaps, EXT4_BAD_INO) and btrfs (trees, BTRFS_BTREE_INODE_OBJECTID), whatever its mode.
 */
static __always_inline bool is_data(struct inode *inode)
{
	return (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG &&
	       BPF_CORE_READ(inode, i_ino) != 1;
}

static __always_inline uint64_t size_of(struct inode *inode)
{
	return BPF_CORE_READ(inode, i_size);
}

static __always_inline struct inode *inode_of(struct file *file)
{
	return BPF_CORE_READ(file, f_inode);
}

static __always_inline struct inode *mapped_of(struct file *file)
{
	return BPF_CORE_READ(file, f_mapping, host);
}

static __always_inline uint64_t cached_pages_of(struct inode *inode)
{
	return BPF_CORE_READ(inode, i_mapping, nrpages);
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

/* ---- names ---- */

struct walk {
	struct dentry *at;
	char *text;
	uint32_t used;
};

static long walk_up(uint32_t step, void *context)
{
	struct walk *walk = context;
	struct dentry *at = walk->at, *parent = BPF_CORE_READ(at, d_parent);
	const unsigned char *name;
	uint32_t used = walk->used;
	long bytes;

	if (parent == at || !parent)
		return 1;
	name = BPF_CORE_READ(at, d_name.name);
	if (used > RECORD_PATH_BYTES_MAX - 257)
		return 1;
	bytes = bpf_probe_read_kernel_str(walk->text + (used & (RECORD_PATH_BYTES_MAX - 1)), 256,
					  name);
	if (bytes <= 0)
		return 1;
	walk->used = used + (uint32_t)bytes;
	walk->at = parent;
	return 0;
}

struct naming {
	struct inode *inode;
	struct dentry *dentry; /* one of its names; NULL: any */
	uint64_t time_ns, size, cached_pages;
	uint32_t flags;
	uint32_t scratch; /* SCRATCH_OF_CALLS, ... */
};

/* Tell what this inode is called. */
static __noinline int name_send(struct naming *naming)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &naming->scratch);
	struct dentry *dentry = naming->dentry;
	struct inode *inode = naming->inode;
	struct record_name *name;
	struct walk walk = {};
	struct record_id id = {};
	uint32_t one = 1, kind;

	if (!scratch)
		return 0;
	id_of(&id, inode);
	name = &scratch->name;
	if (!dentry) {
		struct hlist_node *first = BPF_CORE_READ(inode, i_dentry.first);

		if (first)
			dentry = (void *)first - bpf_core_field_offset(struct dentry, d_u.d_alias);
	}
	if (dentry) {
		walk.at = dentry;
		walk.text = scratch->name.text;
		bpf_loop(RECORD_DEPTH_MAX, walk_up, &walk, 0);
	}
	kind = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	walk.used &= RECORD_PATH_BYTES_MAX - 1;
	begin(&name->event, RECORD_TYPE_NAME, sizeof(*name) + walk.used, naming->time_ns, 0);
	name->id = id;
	name->size = naming->size;
	name->cached_pages = naming->cached_pages;
	name->links = BPF_CORE_READ(inode, i_nlink);
	name->flags = naming->flags | (kind == S_IFDIR ? RECORD_IS_DIRECTORY : 0);
	name->text_bytes = walk.used;
	if (!send(name, sizeof(*name) + walk.used))
		COUNT(names_lost, 1);
	else if (naming->dentry || name->links <= 1) /* else it may be known by another one */
		bpf_map_update_elem(&named, &id, &one, BPF_ANY);
	return 0;
}

/* Likewise, if that was not done before. */
static __always_inline void name_tell(struct inode *inode, struct dentry *dentry, uint64_t time_ns,
				      uint64_t size, uint64_t cached_pages, uint32_t flags,
				      uint32_t scratch)
{
	struct record_id id = {};

	id_of(&id, inode);
	if ((flags & RECORD_IS_OPENED) || !bpf_map_lookup_elem(&named, &id)) {
		struct naming naming = {.inode = inode,
					.dentry = dentry,
					.time_ns = time_ns,
					.size = size,
					.cached_pages = cached_pages,
					.flags = flags,
					.scratch = scratch};

		name_send(&naming);
	}
}

static __always_inline void file_name_tell(struct file *file, struct inode *inode,
					   const struct task_state *state, uint32_t flags)
{
	if (state->is_named && !flags)
		return;
	name_tell(inode, BPF_CORE_READ(file, f_path.dentry), state->time_ns, state->size,
		  state->cached_pages, flags, SCRATCH_OF_CALLS);
}

/* ---- the processes' own memory ---- */

/*
 * What the kernel keeps for a task besides its page tables: stack, task_struct, vmas, files and the
 * rest. Measured on 6.18, x86-64: ten processes of `sleep` were charged 65,536 bytes of kernel memory
 * each, of which 45,056 were page tables.
 */
#define TASK_BYTES 20480

/* It has changed, or is gone: then `bytes` is 0. */
static __always_inline void kernel_bytes_are(struct task_state *state, int64_t bytes)
{
	if (bytes != state->kernel_bytes)
		__sync_fetch_and_add(&control.kernel_bytes, bytes - state->kernel_bytes);
	state->kernel_bytes = bytes;
}

/* Threads share their page tables: the first one's they are. */
static __always_inline int64_t kernel_bytes_of(struct task_struct *task)
{
	struct mm_struct *memory = task->mm;

	return TASK_BYTES + (task->pid == task->tgid && memory
				     ? BPF_CORE_READ(memory, pgtables_bytes.counter)
				     : 0);
}

/*
 * All that the cgroup is charged for, less files' pages and the kernel's objects: anonymous memory and
 * shared memory (and what is charged ahead, up to 64 pages a CPU). Of the kernel's memory dentries,
 * inodes and the like are a machine's business, and the rest is the processes'.
 */
static __always_inline void memory_tell(struct task_struct *task, struct task_state *own)
{
	struct record_memory event = {};
	struct cgroup_subsys_state *state;
	struct mem_cgroup *group;
	int64_t pages, change;

	if (!control.memory_cgroup)
		return;
	state = memory_group_of(task);
	if (!control.group && BPF_CORE_READ(state, cgroup, kn, id) == control.memory_cgroup)
		control.group = (uint64_t)state;
	if (!state || (uint64_t)state != control.group)
		return;
	kernel_bytes_are(own, kernel_bytes_of(task));
	group = (struct mem_cgroup *)state; /* which begins with it */
	pages = BPF_CORE_READ(group, memory.usage.counter) -
		BPF_CORE_READ(group, kmem.usage.counter) - control.file_pages +
		(control.kernel_bytes >> PAGE_SHIFT);
	if (pages < 0)
		pages = 0;
	change = pages - control.told_pages;
	if (change < (int64_t)control.step_pages && -change < (int64_t)control.step_pages)
		return;
	control.told_pages = pages;
	begin(&event.event, RECORD_TYPE_MEMORY, sizeof(event), bpf_ktime_get_ns(), 0);
	event.pages = pages;
	send(&event, sizeof(event));
}

/* Files' pages of the cgroup that is watched come and go. */
static __always_inline void memory_count(struct folio *folio, int64_t pages)
{
	/* MEMCG_DATA_OBJEXTS and the like are in the low bits (include/linux/memcontrol.h). */
	if (control.group && bpf_core_field_exists(folio->memcg_data) &&
	    (folio->memcg_data & ~7ul) == control.group)
		__sync_fetch_and_add(&control.file_pages, pages);
}

/* ---- tasks ---- */

/* `program`: it is another one now; NULL: tell only what was not told. */
static __always_inline void task_tell(struct task_struct *task, struct task_state *state,
				      struct inode *program, uint32_t scratch)
{
	struct record_task event = {};
	struct dentry *directory;
	struct inode *inode;

	if (state->is_told && !program)
		return;
	directory = BPF_CORE_READ(task, fs, pwd.dentry);
	inode = directory ? BPF_CORE_READ(directory, d_inode) : NULL;
	if (inode) {
		name_tell(inode, directory, state->time_ns, 0, 0, 0, scratch);
		id_of(&event.directory, inode);
	}
	begin(&event.event, RECORD_TYPE_TASK, sizeof(event), state->time_ns, 0);
	event.event.process = task->tgid;
	event.event.thread = task->pid;
	event.parent = BPF_CORE_READ(task, real_parent, tgid);
	event.is_exec = program != NULL;
	bpf_probe_read_kernel_str(event.command, sizeof(event.command), task->comm);
	if (program)
		id_of(&event.program, program);
	state->is_told = send(&event, sizeof(event));
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_forked, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *state;
	uint32_t process = child->tgid, one = 1;

	if (!state_of(bpf_get_current_task_btf()))
		return 0;
	if (settings.scope == RECORD_SCOPE_PROCESSES && process != (uint32_t)parent->tgid &&
	    bpf_map_update_elem(&processes, &process, &one, BPF_ANY) != 0)
		COUNT(tasks_lost, 1);
	state = bpf_task_storage_get(&states, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) {
		COUNT(tasks_lost, 1);
		return 0;
	}
	state->time_ns = bpf_ktime_get_ns();
	task_tell(child, state, NULL, SCRATCH_OF_FAULTS);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_execed, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct task_state *state = state_of(task);
	struct inode *inode;

	if (!state)
		return 0;
	inode = BPF_CORE_READ(program, file, f_inode);
	if (!inode)
		return 0;
	if (!state->time_ns)
		state->time_ns = bpf_ktime_get_ns();
	if (is_of_interest(inode))
		name_tell(inode, BPF_CORE_READ(program, file, f_path.dentry), state->time_ns,
			  size_of(inode), cached_pages_of(inode), 0, SCRATCH_OF_FAULTS);
	task_tell(task, state, inode, SCRATCH_OF_FAULTS);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exited, struct task_struct *task)
{
	struct task_state *state = state_of(task);
	struct record_event event = {};
	uint32_t process = task->tgid;

	if (!state)
		return 0;
	read_bytes_count(task, state);
	kernel_bytes_are(state, 0);
	if (state->is_told) {
		begin(&event, RECORD_TYPE_TASK_EXIT, sizeof(event), bpf_ktime_get_ns(), 0);
		send(&event, sizeof(event));
	}
	if (settings.scope == RECORD_SCOPE_PROCESSES &&
	    BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&processes, &process);
	return 0;
}

/* ---- system calls: they begin ---- */

static __always_inline uint64_t argument(struct pt_regs *regs, uint32_t which)
{
	struct pt_regs___arm64 *arm = (void *)regs;
	uint64_t value = 0;

	if (bpf_core_field_exists(regs->di)) {
		switch (which) {
		case 0:
			return regs->di;
		case 1:
			return regs->si;
		case 2:
			return regs->dx;
		case 3:
			return regs->r10;
		case 4:
			return regs->r8;
		case 5:
			return regs->r9;
		}
		return 0;
	}
	if (!bpf_core_field_exists(arm->orig_x0))
		return 0;
	if (which == 0)
		bpf_core_read(&value, sizeof(value), &arm->orig_x0);
	else if (which < 6)
		bpf_core_read(&value, sizeof(value), &arm->regs[which]);
	return value;
}

/*
 * Most calls are none of ours: to know that at once, without a look at the task, is what keeps them
 * cheap. A number below 0 (rt_sigreturn has reset it) is not known.
 */
static __always_inline bool may_be_ours(struct pt_regs *regs)
{
	struct pt_regs___arm64 *arm = (void *)regs;
	int32_t number = -1;

	if (bpf_core_field_exists(regs->orig_ax))
		number = (int32_t)regs->orig_ax;
	else if (bpf_core_field_exists(arm->syscallno))
		bpf_core_read(&number, sizeof(number), &arm->syscallno);
	if (number < 0)
		return true;
	return number < RECORD_SYSCALLS_MAX &&
	       settings.syscalls[number & (RECORD_SYSCALLS_MAX - 1)].shape != RECORD_NOTHING;
}

/* A 32-bit program's call: its numbers mean something else. */
static __always_inline bool is_foreign(struct task_struct *task, struct pt_regs *regs)
{
	if (!bpf_core_field_exists(regs->di))
		return false;
	return bpf_core_field_exists(task->thread_info.status) &&
	       (task->thread_info.status & 2); /* TS_COMPAT */
}

/* How many references to an open file there are: 1 is the last. */
static __always_inline long references_of(struct file *file)
{
	struct file___ref *newer = (void *)file;
	struct file___count *older = (void *)file;

	/* file_ref_t counts from 0 (include/linux/file_ref.h, FILE_REF_ONEREF). */
	if (bpf_core_field_exists(newer->f_ref))
		return BPF_CORE_READ(newer, f_ref.refcnt.counter) + 1;
	return BPF_CORE_READ(older, f_count.counter);
}

static __always_inline void remember_inode(struct task_state *state, struct inode *inode)
{
	state->inode = inode;
	id_of(&state->id, inode);
	state->size = size_of(inode);
	state->is_named = bpf_map_lookup_elem(&named, &state->id) != NULL;
	state->cached_pages = state->is_named ? 0 : cached_pages_of(inode);
}

/* Remember the file of the descriptor; false: not one that is recorded. */
static __always_inline bool remember_file(struct task_struct *task, struct task_state *state,
					  uint64_t fd)
{
	struct file *file = file_of(task, fd);
	struct inode *inode;

	if (!file)
		return false;
	inode = BPF_CORE_READ(file, f_inode);
	if (!is_of_interest(inode))
		return false;
	state->handle = (uint64_t)file;
	remember_inode(state, inode);
	return true;
}

static __always_inline void remember_second(struct task_struct *task, struct task_state *state,
					    uint64_t fd)
{
	struct file *file = file_of(task, fd);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;

	if (is_of_interest(inode)) {
		state->inode_to = inode;
		state->handle_to = (uint64_t)file;
	}
}

/* include/uapi/linux/fs.h. FIDEDUPERANGE changes nothing that is cached. */
#define FICLONE      0x40049409
#define FICLONERANGE 0x4020940d

static __always_inline bool is_clone(uint32_t command)
{
	return command == FICLONE || command == FICLONERANGE;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_entered, struct pt_regs *regs, long number)
{
	struct task_struct *task;
	struct task_state *state;
	uint32_t shape, fd, detail;

	if ((unsigned long)number >= RECORD_SYSCALLS_MAX)
		return 0;
	number &= RECORD_SYSCALLS_MAX - 1;
	shape = settings.syscalls[number].shape;
	if (shape == RECORD_NOTHING)
		return 0;
	task = bpf_get_current_task_btf();
	state = state_of(task);
	if (!state)
		return 0;
	state->shape = RECORD_NOTHING;
	state->fault_inode = NULL;
	if (is_foreign(task, regs)) {
		COUNT(calls_foreign, 1);
		return 0;
	}
	state->inode = state->inode_to = NULL;
	state->handle = state->handle_to = 0;
	state->size = state->cached_pages = 0;
	fd = settings.syscalls[number].fd;
	switch (shape) {
	case RECORD_READ:
	case RECORD_WRITE:
	case RECORD_PREAD:
	case RECORD_PWRITE:
		if (!remember_file(task, state, argument(regs, fd)))
			return 0;
		break;
	case RECORD_OF_FILE:
		if (settings.syscalls[number].detail && !is_clone(argument(regs, 1)))
			return 0;
		if (!remember_file(task, state, argument(regs, fd)))
			return 0;
		break;
	case RECORD_OF_MEMORY:
		detail = settings.syscalls[number].detail;
		if (detail && argument(regs, detail) != MADV_WILLNEED)
			return 0;
		break;
	case RECORD_CLOSE:
		if (!remember_file(task, state, argument(regs, fd)) ||
		    references_of((struct file *)state->handle) > 1)
			return 0;
		break;
	case RECORD_COPY:
		remember_second(task, state, argument(regs, settings.syscalls[number].fd_to));
		if (!remember_file(task, state, argument(regs, fd)) && !state->inode_to)
			return 0;
		break;
	}
	state->number = number;
	state->pages = state->pages_read = 0;
	state->time_ns = bpf_ktime_get_ns();
	state->shape = shape;
	return 0;
}

/* ---- system calls: they end ---- */

/* Whose pages came in meanwhile: now we know whether that is told. */
static __always_inline void pages_count(struct task_state *state, bool is_told)
{
	if (!state->pages)
		return;
	if (is_told)
		COUNT(pages_by_call, state->pages);
	else
		COUNT(pages_lost, state->pages);
}

static __always_inline uint32_t transfer_flags(struct file *file, uint64_t rwf)
{
	uint32_t flags = 0;

	if (BPF_CORE_READ(file, f_flags) & settings.o_direct)
		flags |= RECORD_IS_DIRECT;
	if (rwf & RWF_DONTCACHE)
		flags |= RECORD_IS_DONTCACHE;
	return flags;
}

static __always_inline void transfer_tell(struct task_struct *task, struct task_state *state,
					  struct pt_regs *regs, uint64_t bytes)
{
	struct file *file = (struct file *)state->handle;
	struct record_transfer event = {};
	uint32_t shape = state->shape;
	bool is_write = shape == RECORD_WRITE || shape == RECORD_PWRITE;
	uint64_t rwf = 0;

	file_name_tell(file, state->inode, state, 0);
	begin(&event.event, RECORD_TYPE_TRANSFER, sizeof(event), state->time_ns, state->number);
	event.id = state->id;
	event.handle = state->handle;
	event.bytes = bytes;
	event.size = state->size;
	event.inserted_pages = state->pages;
	if (shape == RECORD_READ || shape == RECORD_WRITE) {
		event.offset = BPF_CORE_READ(file, f_pos) - bytes;
	} else {
		uint32_t detail =
			settings.syscalls[state->number & (RECORD_SYSCALLS_MAX - 1)].detail;

		event.offset = argument(regs, 3);
		if (detail)
			rwf = argument(regs, detail);
		if (event.offset == ~0ull)
			event.offset = BPF_CORE_READ(file, f_pos) - bytes;
		/* Linux appends, whatever the offset (BUGS in pwrite(2)). */
		if (is_write && ((BPF_CORE_READ(file, f_flags) & O_APPEND) || (rwf & RWF_APPEND)))
			event.offset = size_of(state->inode) - bytes;
	}
	event.flags = transfer_flags(file, rwf) | (is_write ? RECORD_IS_WRITE : 0);
	pages_count(state, send(&event, sizeof(event)));
}

/* The position that the pointer leads to, or the file's own, before `bytes` were moved. */
static __always_inline uint64_t copy_offset(uint64_t pointer, uint64_t handle, uint64_t bytes)
{
	struct file *file = (struct file *)handle;
	uint64_t after = 0;

	if (!handle)
		return 0;
	if (!pointer)
		after = BPF_CORE_READ(file, f_pos);
	else
		bpf_probe_read_user(&after, sizeof(after), (void *)pointer);
	return after - bytes;
}

/* sendfile has one pointer, its second argument's file being the first here; the others two. */
static __always_inline void copy_tell(struct task_state *state, struct pt_regs *regs,
				      uint64_t bytes)
{
	bool is_sendfile = settings.syscalls[state->number & (RECORD_SYSCALLS_MAX - 1)].detail;
	struct record_copy event = {};

	if (state->inode) {
		file_name_tell((struct file *)state->handle, state->inode, state, 0);
		event.from = state->id;
		event.from_size = state->size;
	}
	if (state->inode_to) {
		struct file *file = (struct file *)state->handle_to;
		uint64_t size = size_of(state->inode_to);

		name_tell(state->inode_to, BPF_CORE_READ(file, f_path.dentry), state->time_ns, size,
			  0, 0, SCRATCH_OF_CALLS);
		id_of(&event.to, state->inode_to);
		event.to_size = size;
	}
	begin(&event.event, RECORD_TYPE_COPY, sizeof(event), state->time_ns, state->number);
	event.inserted_pages = state->pages;
	event.from_handle = state->handle;
	event.to_handle = state->handle_to;
	event.bytes = bytes;
	event.from_offset = copy_offset(argument(regs, is_sendfile ? 2 : 1), state->handle, bytes);
	event.to_offset = copy_offset(is_sendfile ? 0 : argument(regs, 3), state->handle_to, bytes);
	pages_count(state, send(&event, sizeof(event)));
}

/* Where a relative path begins: the descriptor's directory, or the task's own. */
static __always_inline void directory_tell(struct task_struct *task, struct task_state *state,
					   struct record_id *id, bool has_fd, uint64_t fd)
{
	struct dentry *dentry;
	struct inode *inode;

	if (has_fd && (int32_t)fd != AT_FDCWD) {
		struct file *file = file_of(task, fd);

		dentry = file ? BPF_CORE_READ(file, f_path.dentry) : NULL;
	} else {
		dentry = BPF_CORE_READ(task, fs, pwd.dentry);
	}
	if (!dentry)
		return;
	inode = BPF_CORE_READ(dentry, d_inode);
	if (!inode)
		return;
	name_tell(inode, dentry, state->time_ns, size_of(inode), 0, 0, SCRATCH_OF_CALLS);
	id_of(id, inode);
}

static __always_inline uint32_t path_read(char *texts, uint32_t at, uint64_t from)
{
	long bytes;

	bytes = bpf_probe_read_user_str(texts + (at & (RECORD_PATH_BYTES_MAX - 1)),
					RECORD_PATH_BYTES_MAX, (void *)from);
	if (bytes > 0)
		return (uint32_t)bytes & (2 * RECORD_PATH_BYTES_MAX - 1);
	COUNT(texts_unread, 1);
	return 0;
}

static __always_inline uint64_t asked_flags(struct pt_regs *regs, uint32_t detail)
{
	uint64_t flags = 0;

	switch (detail) {
	case 6:
		return 01 | 0100 | 01000; /* creat(2): O_WRONLY | O_CREAT | O_TRUNC */
	case 7:
		bpf_probe_read_user(&flags, sizeof(flags), (void *)argument(regs, 2));
		return flags; /* the first of struct open_how */
	default:
		return (uint32_t)argument(regs, detail);
	}
}

/* Where it was cloned to: arguments 3 and 4; 0 and 0: all of it. `size` is the new one. */
static __always_inline void clone_look(struct record_call *event, struct task_state *state,
				       struct pt_regs *regs)
{
	struct {
		int64_t from;
		uint64_t from_offset, bytes, offset;
	} range = {}; /* struct file_clone_range */

	state->size = size_of(state->inode);
	event->arguments[3] = event->arguments[4] = 0;
	if ((uint32_t)argument(regs, 1) != FICLONERANGE)
		return;
	bpf_probe_read_user(&range, sizeof(range), (void *)argument(regs, 2));
	event->arguments[3] = range.offset;
	event->arguments[4] = range.bytes;
}

static __noinline int call_tell(struct task_struct *task, struct pt_regs *regs, long result)
{
	struct task_state *state = bpf_task_storage_get(&states, task, NULL, 0);
	struct record_syscall call;
	struct record_call *event;
	struct scratch *scratch;
	struct file *file = NULL;
	uint32_t which = SCRATCH_OF_CALLS, used = 0, flags = 0;
	char first;

	scratch = bpf_map_lookup_elem(&scratches, &which);
	if (!state || !scratch)
		return 0;
	event = &scratch->call;
	__builtin_memset(event, 0, sizeof(*event));
	call = settings.syscalls[state->number & (RECORD_SYSCALLS_MAX - 1)];
	if (state->shape == RECORD_OPEN && result >= 0) {
		if (!remember_file(task, state, result))
			return 0; /* not one that is recorded */
		file = (struct file *)state->handle;
		flags = RECORD_IS_OPENED;
		if (BPF_CORE_READ(file, f_mode) & FMODE_CREATED)
			flags |= RECORD_IS_CREATED;
	} else if (state->inode) {
		file = (struct file *)state->handle;
	}
	/* A closed file's may be gone; what was to be told of it was told when it was used. */
	if (file && state->shape != RECORD_CLOSE)
		file_name_tell(file, state->inode, state, flags);
	if (call.path != RECORD_NO_ARGUMENT && !file) {
		event->path_bytes[0] = used = path_read(event->text, 0, argument(regs, call.path));
		/* AT_EMPTY_PATH: of a descriptor, and nothing is looked up. */
		if (used <= 1 && state->shape == RECORD_OF_PATH &&
		    call.path_to == RECORD_NO_ARGUMENT)
			return 0;
		bpf_probe_read_kernel(&first, 1, event->text);
		if (used > 1 && first != '/')
			directory_tell(task, state, &event->directory,
				       call.fd != RECORD_NO_ARGUMENT, argument(regs, call.fd));
	}
	if (call.path_to != RECORD_NO_ARGUMENT && !file) {
		char *second = event->text + (used & (RECORD_PATH_BYTES_MAX - 1));

		event->path_bytes[1] = path_read(event->text, used, argument(regs, call.path_to));
		bpf_probe_read_kernel(&first, 1, second);
		if (event->path_bytes[1] > 1 && first != '/')
			directory_tell(task, state, &event->directory_to,
				       call.fd_to != RECORD_NO_ARGUMENT,
				       argument(regs, call.fd_to));
		used += event->path_bytes[1];
	}
	used &= 2 * RECORD_PATH_BYTES_MAX - 1;
	for (uint32_t i = 0; i < 6; i++)
		event->arguments[i] = argument(regs, i);
	begin(&event->event, RECORD_TYPE_CALL, sizeof(*event) + used, state->time_ns,
	      state->number);
	event->result = result;
	if (state->shape == RECORD_OF_FILE && call.detail && result == 0)
		clone_look(event, state, regs);
	if (state->shape == RECORD_OPEN)
		event->asked_flags = asked_flags(regs, call.detail);
	event->handle = state->handle;
	event->size = state->size;
	event->flags = flags;
	if (state->inode)
		event->id = state->id;
	if (file && state->shape != RECORD_CLOSE)
		event->open_flags = BPF_CORE_READ(file, f_flags);
	pages_count(state, send(event, sizeof(*event) + used));
	return 0;
}

struct found_vma {
	uint64_t start, page_offset, flags;
	struct file *file;
};

static long vma_look(struct task_struct *task, struct vm_area_struct *vma, void *context)
{
	struct found_vma *found = context;

	found->start = vma->vm_start;
	found->page_offset = vma->vm_pgoff;
	found->flags = vma->vm_flags;
	found->file = vma->vm_file;
	return 0;
}

static __always_inline uint64_t page_at(const struct found_vma *found, uint64_t address)
{
	return ((address - found->start) >> PAGE_SHIFT) + found->page_offset;
}

/* The file mapped at the address of an msync or madvise, and where in it. */
static __always_inline bool remember_mapping(struct task_struct *task, struct task_state *state,
					     uint64_t address, uint64_t *offset)
{
	struct found_vma found = {};
	struct inode *inode;

	if (bpf_find_vma(task, address, vma_look, &found, 0) != 0 || !found.file)
		return false;
	inode = inode_of(found.file);
	if (!is_of_interest(inode))
		return false;
	state->handle = (uint64_t)found.file;
	remember_inode(state, inode);
	*offset = (address - found.start) + (found.page_offset << PAGE_SHIFT);
	return true;
}

static __noinline int mapping_tell(struct task_struct *task, struct pt_regs *regs)
{
	struct task_state *state = bpf_task_storage_get(&states, task, NULL, 0);
	struct record_call event = {};
	uint64_t offset = 0;

	if (!state || !remember_mapping(task, state, argument(regs, 0), &offset))
		return 0;
	file_name_tell((struct file *)state->handle, state->inode, state, 0);
	begin(&event.event, RECORD_TYPE_CALL, sizeof(event), state->time_ns, state->number);
	event.arguments[0] = offset;
	event.arguments[1] = argument(regs, 1);
	event.arguments[2] = argument(regs, 2);
	event.id = state->id;
	event.handle = state->handle;
	event.size = state->size;
	pages_count(state, send(&event, sizeof(event)));
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_exited, struct pt_regs *regs, long result)
{
	struct task_struct *task;
	struct task_state *state;
	uint32_t shape;

	if (!may_be_ours(regs))
		return 0;
	task = bpf_get_current_task_btf();
	state = bpf_task_storage_get(&states, task, NULL, 0);
	if (!state || state->shape == RECORD_NOTHING)
		return 0;
	shape = state->shape;
	task_tell(task, state, NULL, SCRATCH_OF_CALLS);
	read_bytes_count(task, state);
	memory_tell(task, state);
	switch (shape) {
	case RECORD_READ:
	case RECORD_WRITE:
	case RECORD_PREAD:
	case RECORD_PWRITE:
		if (result > 0)
			transfer_tell(task, state, regs, result);
		else
			pages_count(state, true);
		break;
	case RECORD_COPY:
		if (result > 0)
			copy_tell(state, regs, result);
		else
			pages_count(state, true);
		break;
	case RECORD_EXEC:
		if (result != 0)
			call_tell(task, regs, result);
		if (state->pages_read)
			COUNT(pages_by_exec, state->pages_read);
		break;
	case RECORD_OF_MEMORY:
		if (result == 0)
			mapping_tell(task, regs);
		break;
	case RECORD_CHDIR:
		if (result == 0)
			state->is_told = 0;
		break;
	case RECORD_UNSEEN:
		if (result > 0)
			COUNT(calls_unseen, result);
		break;
	default:
		call_tell(task, regs, result);
	}
	state->shape = RECORD_NOTHING;
	state->inode = state->inode_to = NULL;
	return 0;
}

/* ---- mapped files ---- */

/* The memory is looked at so often. */
#define FAULTS_BETWEEN 16

static __always_inline void fault_tell(struct task_struct *task, struct task_state *state,
				       struct inode *inode, struct file *file, uint64_t index,
				       uint64_t pages, uint32_t type, uint32_t flags)
{
	struct record_fault event = {};
	uint64_t now = bpf_ktime_get_ns();

	if (!state->is_told) {
		state->time_ns = now;
		task_tell(task, state, NULL, SCRATCH_OF_FAULTS);
	}
	event.size = size_of(inode);
	name_tell(inode, file ? BPF_CORE_READ(file, f_path.dentry) : NULL, now, event.size,
		  cached_pages_of(inode), 0, SCRATCH_OF_FAULTS);
	begin(&event.event, type, sizeof(event), now, 0);
	id_of(&event.id, inode);
	event.index = index;
	event.pages = pages;
	event.fault = state->fault;
	event.flags = flags;
	if (send(&event, sizeof(event)) && type == RECORD_TYPE_FAULT)
		state->fault_inode = inode;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(fault_begun, unsigned long address, struct pt_regs *regs, unsigned long code)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&states, task, NULL, 0);
	struct found_vma found = {};

	if (!state)
		return 0;
	state->fault_address = address;
	state->fault_is_write = bpf_core_field_exists(regs->di) && (code & FAULT_IS_WRITE);
	state->fault++;
	state->fault_inode = NULL;
	if (state->fault % FAULTS_BETWEEN == 0)
		memory_tell(task, state);
	/* Written to, and mapped already, but not to be written to. Private pages are copied. */
	if (!state->fault_is_write || !(code & FAULT_IS_ON_PRESENT) ||
	    bpf_find_vma(task, address, vma_look, &found, 0) != 0)
		return 0;
	if (found.file && (found.flags & VM_SHARED) && is_of_interest(mapped_of(found.file)))
		fault_tell(task, state, mapped_of(found.file), found.file, page_at(&found, address),
			   1, RECORD_TYPE_FAULT, RECORD_IS_WRITE);
	return 0;
}

/* A fault on a page that nothing was mapped around of: it may have to be read. */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(fault_missed, struct address_space *mapping, unsigned long index)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	struct inode *inode = mapping->host;
	struct found_vma found = {};
	uint32_t flags = 0;

	if (!state || !is_of_interest(inode))
		return 0;
	if (bpf_find_vma(task, state->fault_address, vma_look, &found, 0) != 0 || !found.file ||
	    mapped_of(found.file) != inode)
		found.file = NULL; /* the kernel itself touched it */
	/* A write to a private mapping copies the page: the file's is only read. */
	if (found.file && state->fault_is_write && (found.flags & VM_SHARED))
		flags = RECORD_IS_WRITE;
	fault_tell(task, state, inode, found.file, index, 1, RECORD_TYPE_FAULT, flags);
	return 0;
}

/*
 * Cached pages around the faulting address were mapped. It was one of them if it is in the range: else
 * fault_missed() is next.
 */
SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(fault_mapped, struct address_space *mapping, unsigned long start, unsigned long end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	struct inode *inode = mapping->host;
	struct found_vma found = {};
	uint64_t index;

	if (!state || !state->fault_address || !is_of_interest(inode))
		return 0;
	if (bpf_find_vma(task, state->fault_address, vma_look, &found, 0) != 0 || !found.file)
		return 0;
	if (mapped_of(found.file) != inode)
		return 0;
	index = page_at(&found, state->fault_address);
	if (index < start || index > end)
		return 0;
	fault_tell(task, state, inode, found.file, index, 1, RECORD_TYPE_FAULT, 0);
	return 0;
}

/*
 * A page of a shared mapping is made dirty, by no call: it was written to. Where the fault itself tells
 * (fault_begun()), this comes after it, and says no more.
 */
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(folio_dirtied, struct folio *folio, struct address_space *mapping)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&states, task, NULL, 0);
	struct inode *inode;

	if (!state || state->shape != RECORD_NOTHING || !mapping || state->fault_is_write)
		return 0;
	inode = mapping->host;
	if (!is_of_interest(inode) || !is_data(inode))
		return 0;
	fault_tell(task, state, inode, NULL, folio->index, folio_pages(folio), RECORD_TYPE_FAULT,
		   RECORD_IS_WRITE);
	return 0;
}

/* Behind each buffered read; of interest where no call tells it: exec reads the heads of programs. */
SEC("tp_btf/mm_filemap_get_pages")
int BPF_PROG(pages_got, struct address_space *mapping, unsigned long index, unsigned long last)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = bpf_task_storage_get(&states, task, NULL, 0);
	struct inode *inode = mapping->host;

	if (!state || state->shape != RECORD_EXEC || !is_of_interest(inode))
		return 0;
	fault_tell(task, state, inode, NULL, index, last - index + 1, RECORD_TYPE_KERNEL_READ, 0);
	if (state->pages_read && state->inode == inode) {
		COUNT(pages_by_exec, state->pages_read);
		state->pages_read = 0;
	}
	return 0;
}

/* ---- the page cache: what is explained ---- */

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(page_added, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state;
	struct inode *inode = folio->mapping->host;
	uint64_t pages = folio_pages(folio), key;
	uint32_t shape;

	memory_count(folio, pages);
	state = state_of(task);
	if (!state)
		return 0;
	if (!is_data(inode)) {
		COUNT(pages_metadata, pages);
		return 0;
	}
	shape = state->shape;
	if (shape != RECORD_NOTHING && shape != RECORD_EXEC &&
	    (state->inode == inode || state->inode_to == inode)) {
		state->pages += pages;
		return 0;
	}
	if (shape == RECORD_EXEC) {
		state->inode = inode;
		state->pages_read += pages;
		return 0;
	}
	if (state->fault_inode == inode) {
		COUNT(pages_by_fault, pages);
		return 0;
	}
	key = (uint64_t)inode;
	if (bpf_map_lookup_elem(&uring_inodes, &key)) {
		COUNT(pages_by_call, pages);
		return 0;
	}
	COUNT(pages_by_other, pages);
	if (shape <= RECORD_UNSEEN)
		COUNT(unexplained[shape], pages);
	return 0;
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(page_deleted, struct folio *folio)
{
	if (control.group)
		memory_count(folio, -(int64_t)folio_pages(folio));
	return 0;
}

/* ---- statistics of memory ---- */

/* The cgroup that is watched is so deep at most. */
#define LEVELS_MAX 32

/*
 * Reclaim decides by list sizes that are as old as the last sum (6.12 on): of all cgroups each 2 s, on a
 * timer of its own, or of one when somebody reads its memory.stat. Not summed if little has changed, and
 * nobody insists (mm/memcontrol.c, __mem_cgroup_flush_stats()).
 */
SEC("tp_btf/memcg_flush_stats")
int BPF_PROG(statistics_summed, struct mem_cgroup *group, int64_t updates, bool is_forced,
	     bool is_needed)
{
	struct record_event event = {};
	struct cgroup_subsys_state *state = (void *)control.group;

	if (!state || (!is_forced && !is_needed))
		return 0;
	/* With a cgroup, all in it are summed. */
	for (int i = 0; i < LEVELS_MAX && state; i++) {
		if ((uint64_t)state == (uint64_t)group) {
			begin(&event, RECORD_TYPE_SUMMED, sizeof(event), bpf_ktime_get_ns(), 0);
			send(&event, sizeof(event));
			return 0;
		}
		state = BPF_CORE_READ(state, parent);
	}
	return 0;
}

/* ---- io_uring ---- */

static __always_inline bool is_understood(uint32_t opcode)
{
	switch (opcode) {
	case RECORD_URING_READV:
	case RECORD_URING_WRITEV:
	case RECORD_URING_FSYNC:
	case RECORD_URING_READ_FIXED:
	case RECORD_URING_WRITE_FIXED:
	case RECORD_URING_FALLOCATE:
	case RECORD_URING_READ:
	case RECORD_URING_WRITE:
	case RECORD_URING_FADVISE:
		return true;
	}
	return false;
}

/* Of files, and not understood: openat, close, statx, openat2, splice, renames, links, ftruncate. */
#define UNSEEN_OPCODES                                                                             \
	(1ull << 18 | 1ull << 19 | 1ull << 21 | 1ull << 28 | 1ull << 30 | 1ull << 35 |             \
	 1ull << 36 | 1ull << 37 | 1ull << 38 | 1ull << 39 | 1ull << 55)

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(request_submitted, struct io_kiocb *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	struct uring_state uring = {};
	uint64_t key = (uint64_t)request;
	uint32_t opcode = request->opcode, one = 1;
	struct file *file;
	struct io_fadvise *advice = (void *)request;
	struct io_sync *sync = (void *)request;
	struct io_rw *transfer = (void *)request;

	if (!state)
		return 0;
	if (!is_understood(opcode)) {
		if (opcode < 64 && (UNSEEN_OPCODES >> opcode & 1))
			COUNT(calls_unseen, 1);
		return 0;
	}
	uring.time_ns = bpf_ktime_get_ns();
	uring.process = task->tgid;
	uring.thread = task->pid;
	switch (opcode) {
	case RECORD_URING_FSYNC:
	case RECORD_URING_FALLOCATE:
		uring.offset = BPF_CORE_READ(sync, off);
		uring.bytes = BPF_CORE_READ(sync, len);
		uring.flags = BPF_CORE_READ(sync, flags);
		uring.advice = BPF_CORE_READ(sync, mode);
		break;
	case RECORD_URING_FADVISE:
		uring.offset = BPF_CORE_READ(advice, offset);
		uring.bytes = BPF_CORE_READ(advice, len);
		uring.advice = BPF_CORE_READ(advice, advice);
		break;
	default:
		uring.offset = BPF_CORE_READ(transfer, kiocb.ki_pos);
	}
	if (!state->is_told) {
		state->time_ns = uring.time_ns;
		task_tell(task, state, NULL, SCRATCH_OF_FAULTS);
	}
	bpf_map_update_elem(&requests, &key, &uring, BPF_ANY);
	file = file_of(task, BPF_CORE_READ(request, cqe.fd));
	key = file ? (uint64_t)inode_of(file) : 0;
	if (key)
		bpf_map_update_elem(&uring_inodes, &key, &one, BPF_ANY);
	return 0;
}

static __always_inline void request_transfer_tell(struct io_kiocb *request, struct file *file,
						  struct inode *inode,
						  const struct uring_state *uring, uint32_t opcode,
						  uint64_t bytes)
{
	struct io_rw *transfer = (void *)request;
	int flags = BPF_CORE_READ(transfer, kiocb.ki_flags);
	struct record_transfer event = {};

	begin(&event.event, RECORD_TYPE_TRANSFER, sizeof(event), uring->time_ns, opcode);
	event.event.process = uring->process;
	event.event.thread = uring->thread;
	id_of(&event.id, inode);
	event.handle = (uint64_t)file;
	event.bytes = bytes;
	event.size = size_of(inode);
	event.offset = uring->offset;
	event.flags = RECORD_IS_IO_URING;
	if (opcode == RECORD_URING_WRITE || opcode == RECORD_URING_WRITEV ||
	    opcode == RECORD_URING_WRITE_FIXED) {
		event.flags |= RECORD_IS_WRITE;
		if (flags & IOCB_APPEND)
			event.offset = event.size - bytes;
	}
	if (flags & IOCB_DIRECT)
		event.flags |= RECORD_IS_DIRECT;
	if (flags & IOCB_DONTCACHE)
		event.flags |= RECORD_IS_DONTCACHE;
	/* At the file's own position: that has moved on. */
	if (event.offset == ~0ull)
		event.offset = BPF_CORE_READ(file, f_pos) - bytes;
	send(&event, sizeof(event));
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(request_completed, void *ring_context, struct io_kiocb *request_maybe,
	     struct io_uring_cqe *answer)
{
	/* The kernel says void *: not to be read but by probing. */
	struct io_kiocb *request = request_maybe;
	uint64_t key = (uint64_t)request;
	struct uring_state *uring;
	struct record_call event = {};
	uint32_t opcode;
	struct inode *inode;
	struct file *file;
	int result;

	if (!request)
		return 0;
	uring = bpf_map_lookup_elem(&requests, &key);
	if (!uring)
		return 0;
	result = BPF_CORE_READ(answer, res);
	opcode = BPF_CORE_READ(request, opcode);
	file = BPF_CORE_READ(request, file);
	inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	if (result < 0 || !is_of_interest(inode))
		goto out;
	name_tell(inode, BPF_CORE_READ(file, f_path.dentry), uring->time_ns, size_of(inode), 0, 0,
		  SCRATCH_OF_REQUESTS);
	if (opcode != RECORD_URING_FSYNC && opcode != RECORD_URING_FALLOCATE &&
	    opcode != RECORD_URING_FADVISE) {
		if (result > 0)
			request_transfer_tell(request, file, inode, uring, opcode, result);
		goto out;
	}
	begin(&event.event, RECORD_TYPE_CALL, sizeof(event), uring->time_ns, opcode);
	event.event.process = uring->process;
	event.event.thread = uring->thread;
	event.flags = RECORD_IS_IO_URING;
	event.arguments[1] = uring->offset;
	event.arguments[2] = uring->bytes;
	event.arguments[3] = uring->advice;
	event.arguments[4] = uring->flags;
	id_of(&event.id, inode);
	event.handle = (uint64_t)file;
	event.size = size_of(inode);
	send(&event, sizeof(event));
out:
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
