#include "machine/kernel/probe.h"

#include <assert.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"

/* The kernel half, compiled, is part of the program: one file less to find at run time. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"probe_object:\n"
	".incbin \"" BPF_OBJECT "\"\n"
	"probe_object_end:\n"
	".popsection\n");
extern const unsigned char probe_object[], probe_object_end[];

/* ---- which program gives which counter ---- */

/*
 * PROGRAM(name in probe.bpf.c, its tracepoint's first arguments as far as the program relies on them).
 * A tracepoint with others, on an older or newer kernel, is as good as none.
 */
#define PROGRAMS                                                                                   \
	PROGRAM(page_added, "folio")                                                               \
	PROGRAM(page_deleted, "folio")                                                             \
	PROGRAM(folio_inserted, "folio")                                                           \
	PROGRAM(folio_activated, "folio")                                                          \
	PROGRAM(inactive_scanned, "int,int,int,reclaim_stat,int,int")                              \
	PROGRAM(active_scanned, "int,int,int,int,int,int,int")                                     \
	PROGRAM(memcg_reclaim_ended, "int")                                                        \
	PROGRAM(direct_reclaim_ended, "int")                                                       \
	PROGRAM(shrinker_started, "shrinker")                                                      \
	PROGRAM(shrinker_ended, "shrinker,int,int")                                                \
	PROGRAM(object_allocated, "int,void,kmem_cache")                                           \
	PROGRAM(ext4_inode_evicted, "inode")                                                       \
	PROGRAM(btrfs_inode_evicted, "inode")                                                      \
	PROGRAM(xfs_inode_evicted, "xfs_inode")                                                    \
	PROGRAM(inode_ctime_set, "inode")                                                          \
	PROGRAM(xfs_inode_missed, "xfs_inode")                                                     \
	PROGRAM(xfs_inode_recycled, "xfs_inode")                                                   \
	PROGRAM(request_issued, "request")                                                         \
	PROGRAM(request_requeued, "request")

enum program_id {
#define PROGRAM(name, arguments) PROGRAM_##name,
	PROGRAMS
#undef PROGRAM
		PROGRAM_COUNT,
};

static const struct {
	const char *name, *arguments;
} programs[PROGRAM_COUNT] = {
#define PROGRAM(name, arguments) {#name, arguments},
	PROGRAMS
#undef PROGRAM
};

#define BIT(id)      (UINT64_C(1) << (id))
#define NEEDS(name)  BIT(PROGRAM_##name)
#define COUNTS(name) BIT(COUNTER_##name)

/* What a counter needs whatever the file system. */
static const struct {
	enum counter_id counter;
	uint64_t programs;
} needs[] = {
	{COUNTER_read_bytes, NEEDS(request_issued) | NEEDS(request_requeued)},
	{COUNTER_write_bytes, NEEDS(request_issued) | NEEDS(request_requeued)},
	{COUNTER_reread_bytes, NEEDS(page_added) | NEEDS(page_deleted)},
	{COUNTER_page_misses, NEEDS(page_added)},
	{COUNTER_readahead_pages, NEEDS(page_added)},
	{COUNTER_evictions, NEEDS(page_deleted)},
	{COUNTER_refault_activations,
	 NEEDS(page_added) | NEEDS(page_deleted) | NEEDS(folio_inserted)},
	{COUNTER_activations,
	 NEEDS(folio_inserted) | NEEDS(folio_activated) | NEEDS(inactive_scanned)},
	{COUNTER_deactivations, NEEDS(active_scanned)},
	{COUNTER_dentries_allocated, NEEDS(object_allocated)},
	{COUNTER_dentries_evicted, NEEDS(shrinker_started) | NEEDS(shrinker_ended)},
	{COUNTER_inodes_allocated, NEEDS(object_allocated)},
	{COUNTER_inodes_evicted, 0},
	{COUNTER_inodes_reallocated, 0},
};

static const struct filesystem {
	const char *name;
	const char *inode_cache; /* its kmem_cache's name */
	uint64_t skipped_ino;    /* no file: the free space's buddy bitmaps, the trees; 0: none */
	bool inode_numbers_come_again;
	uint64_t evicted, returned; /* the programs that see an inode go, and come back */
} filesystems[] = {
	{"ext4", "ext4_inode_cache", 1, true, NEEDS(ext4_inode_evicted), NEEDS(inode_ctime_set)},
	{"xfs", "xfs_inode", 0, true, NEEDS(xfs_inode_evicted),
	 NEEDS(xfs_inode_missed) | NEEDS(xfs_inode_recycled)},
	{"btrfs", "btrfs_inode", 1, false, NEEDS(btrfs_inode_evicted), NEEDS(inode_ctime_set)},
};

struct probe {
	struct bpf_object *object;
	struct bpf_program *programs[PROGRAM_COUNT];
	struct bpf_link *links[PROGRAM_COUNT];
	uint64_t attached;                    /* bit per program_id */
	uint64_t skipped_runs[PROGRAM_COUNT]; /* when counting began */
	uint32_t stream_count;
	int cpu_count;
	char missing[512];

	int counters_fd, device_fd, page_memory_fd, inode_memory_fd, file_pages_fd;
	int worker_of_thread_fd;
	int worker_states_fd;

	/* Shared with the kernel half. */
	struct probe_control *control;
	struct probe_worker *workers;
	uint64_t *blame;

	struct probe_counters *of_cpus;      /* [cpu_count]: one stream's, being read */
	const struct filesystem *filesystem; /* counted now; NULL: none, or one we do not know */
	bool has_block_device;
};

/* ---- what libbpf says ---- */

/* Its first warning is why; the name of a program that the kernel refused is in another. */
static _Thread_local char why[256], refused[64];

__attribute__((format(printf, 2, 0))) static int keep_warning(enum libbpf_print_level level,
							      const char *format, va_list arguments)
{
	static const char mark[] = "BPF program load failed";
	char line[1024], *end;

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "libbpf: ", 8) == 0)
		memmove(line, line + 8, strlen(line + 8) + 1);
	if (!why[0])
		snprintf(why, sizeof(why), "%.250s", line);
	if (strstr(line, mark) && strncmp(line, "prog '", 6) == 0 &&
	    (end = strchr(line + 6, '\''))) {
		*end = '\0';
		snprintf(refused, sizeof(refused), "%.60s", line + 6);
	}
	return 0;
}

/* ---- what this kernel's tracepoints look like ---- */

/* "folio,int": of the function that a btf_trace_ typedef points to, without its first argument. */
static void describe_arguments(const struct btf *btf, int32_t typedef_id, char *text, size_t bytes)
{
	const struct btf_type *type = btf__type_by_id(btf, (uint32_t)typedef_id);
	const struct btf_param *parameter;
	size_t used = 0;

	text[0] = '\0';
	type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_ptr(type))
		return;
	type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_func_proto(type))
		return;
	parameter = btf_params(type);
	for (int i = 1; i < btf_vlen(type); i++) {
		int id = btf__resolve_type(btf, parameter[i].type);
		const struct btf_type *it = id >= 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
		const char *name = "int";
		int length;

		if (it && btf_is_ptr(it)) {
			id = btf__resolve_type(btf, it->type);
			it = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
			name = it && btf_is_composite(it) ? btf__name_by_offset(btf, it->name_off)
							  : "void";
		} else if (!it || (!btf_is_int(it) && !btf_is_any_enum(it))) {
			name = "?";
		}
		length = snprintf(text + used, bytes - used, "%s%s", i > 1 ? "," : "", name);
		if (length < 0 || (size_t)length >= bytes - used)
			return;
		used += (size_t)length;
	}
}

static bool tracepoint_fits(struct btf *const *btfs, size_t btf_count, const char *tracepoint,
			    const char *arguments)
{
	char name[96], found[256];
	size_t length = strlen(arguments);

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	for (size_t i = 0; i < btf_count; i++) {
		int32_t id = btf__find_by_name_kind(btfs[i], name, BTF_KIND_TYPEDEF);

		if (id <= 0)
			continue;
		describe_arguments(btfs[i], id, found, sizeof(found));
		return strncmp(found, arguments, length) == 0 &&
		       (found[length] == '\0' || found[length] == ',');
	}
	return false;
}

/* Of `wanted` (bits), the programs whose tracepoint is here as expected. */
static uint64_t programs_that_fit(struct bpf_object *object, uint64_t wanted)
{
	struct btf *btfs[1 + sizeof(filesystems) / sizeof(filesystems[0])];
	uint64_t fitting = 0;
	size_t btf_count = 0;

	btfs[0] = btf__load_vmlinux_btf();
	if (!btfs[0])
		return 0;
	btf_count = 1;
	for (size_t i = 0; i < sizeof(filesystems) / sizeof(filesystems[0]); i++) {
		struct btf *module = btf__load_module_btf(filesystems[i].name, btfs[0]);

		if (module)
			btfs[btf_count++] = module;
	}
	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(object, programs[i].name);
		const char *section = program ? bpf_program__section_name(program) : "";

		assert(strncmp(section, "tp_btf/", 7) == 0); /* probe.bpf.c and the table agree */
		if ((wanted & BIT(i)) &&
		    tracepoint_fits(btfs, btf_count, section + 7, programs[i].arguments))
			fitting |= BIT(i);
	}
	while (btf_count > 0)
		btf__free(btfs[--btf_count]);
	return fitting;
}

/* ---- opening ---- */

static int map_fd(const struct probe *probe, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(probe->object, name);

	assert(map); /* probe.bpf.c has it */
	return bpf_map__fd(map);
}

static void map_size(struct bpf_object *object, const char *name, uint64_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	uint64_t entries_max = UINT32_C(1) << 30;

	assert(map);
	if (entries == 0)
		entries = 1;
	bpf_map__set_max_entries(map, (uint32_t)(entries < entries_max ? entries : entries_max));
}

/* Load with as many of `wanted` as the kernel takes. */
static bool load(struct probe *probe, const struct probe_options *options, uint64_t *wanted,
		 struct error *error)
{
	for (;;) {
		uint64_t fitting, before = *wanted;

		why[0] = refused[0] = '\0';
		probe->object = bpf_object__open_mem(
			probe_object, (size_t)(probe_object_end - probe_object), NULL);
		if (!probe->object)
			return error_failed(error, "cannot read the probe's programs: %s", why);
		fitting = programs_that_fit(probe->object, *wanted);
		for (size_t i = 0; i < PROGRAM_COUNT; i++) {
			probe->programs[i] =
				bpf_object__find_program_by_name(probe->object, programs[i].name);
			bpf_program__set_autoload(probe->programs[i], fitting >> i & 1);
		}
		*wanted = fitting;
		map_size(probe->object, "counters", options->stream_count);
		map_size(probe->object, "blame",
			 (uint64_t)options->stream_count * options->stream_count);
		map_size(probe->object, "page_memory", options->page_blocks_max);
		map_size(probe->object, "inode_memory", options->inodes_max);
		map_size(probe->object, "file_pages", options->inodes_max);
		why[0] = '\0';
		if (bpf_object__load(probe->object) == 0)
			return true;
		errno = errno ? errno : EINVAL;
		for (size_t i = 0; i < PROGRAM_COUNT; i++) {
			if (strcmp(programs[i].name, refused) == 0)
				*wanted &= ~BIT(i);
		}
		if (*wanted == before || *wanted == fitting)
			return error_failed(
				error, "the kernel does not take the probe's programs: %s", why);
		bpf_object__close(probe->object);
		probe->object = NULL;
	}
}

static void *map_shared(int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, (bytes + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void unmap_shared(void *at, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (at)
		munmap(at, (bytes + page - 1) / page * page);
}

static size_t blame_bytes(const struct probe *probe)
{
	return (size_t)probe->stream_count * probe->stream_count * sizeof(uint64_t);
}

static size_t workers_bytes(void)
{
	return PROBE_WORKERS_MAX * sizeof(struct probe_worker);
}

static void attach(struct probe *probe, uint64_t loaded)
{
	size_t used = 0;

	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		int length;

		if (loaded >> i & 1)
			probe->links[i] = bpf_program__attach(probe->programs[i]);
		if (probe->links[i]) {
			probe->attached |= BIT(i);
			continue;
		}
		length = snprintf(probe->missing + used, sizeof(probe->missing) - used, "%s%s",
				  used ? ", " : "",
				  bpf_program__section_name(probe->programs[i]) + 7);
		if (length > 0 && (size_t)length < sizeof(probe->missing) - used)
			used += (size_t)length;
	}
}

static bool open_all(struct probe *probe, const struct probe_options *options, struct error *error)
{
	uint64_t wanted = BIT(PROGRAM_COUNT) - 1;

	probe->cpu_count = libbpf_num_possible_cpus();
	if (probe->cpu_count <= 0)
		return error_failed(error, "cannot tell how many CPUs there are");
	probe->of_cpus = memory_alloc((size_t)probe->cpu_count, sizeof(*probe->of_cpus));
	if (!load(probe, options, &wanted, error))
		return false;
	probe->counters_fd = map_fd(probe, "counters");
	probe->device_fd = map_fd(probe, "device");
	probe->page_memory_fd = map_fd(probe, "page_memory");
	probe->inode_memory_fd = map_fd(probe, "inode_memory");
	probe->file_pages_fd = map_fd(probe, "file_pages");
	probe->worker_of_thread_fd = map_fd(probe, "worker_of_thread");
	probe->worker_states_fd = map_fd(probe, "worker_states");
	probe->control = map_shared(map_fd(probe, ".data.control"), sizeof(*probe->control));
	probe->workers = map_shared(map_fd(probe, "workers"), workers_bytes());
	probe->blame = map_shared(map_fd(probe, "blame"), blame_bytes(probe));
	if (!probe->control || !probe->workers || !probe->blame)
		return error_system(error, "cannot map what the probe shares with the kernel");
	attach(probe, wanted);
	if (!(probe->attached & (NEEDS(page_added) | NEEDS(page_deleted))))
		return error_failed(error, "this kernel has no tracepoints for the page cache");
	return true;
}

/* Thread ids are the kernel's own only in the first pid namespace. */
static bool is_first_pid_namespace(void)
{
	char text[64];
	ssize_t length = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	if (length <= 0)
		return false;
	text[length] = '\0';
	return strcmp(text, "pid:[4026531836]") == 0; /* PROC_PID_INIT_INO, linux/proc_ns.h */
}

struct probe *probe_open(const struct probe_options *options, struct error *error)
{
	libbpf_print_fn_t before;
	struct probe *probe;
	bool is_open;

	assert(options->stream_count >= 1 && options->stream_count <= PROBE_STREAMS_MAX);
	if (geteuid() != 0) {
		error_failed(error, "to count in the kernel needs root");
		return NULL;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		error_failed(error, "this kernel does not describe its types (no BTF: "
				    "/sys/kernel/btf/vmlinux)");
		return NULL;
	}
	if (!is_first_pid_namespace()) {
		error_failed(error, "to count in the kernel needs the machine's own pid namespace, "
				    "not a container's");
		return NULL;
	}
	probe = memory_alloc(1, sizeof(*probe));
	probe->stream_count = options->stream_count;
	before = libbpf_set_print(keep_warning);
	is_open = open_all(probe, options, error);
	libbpf_set_print(before);
	if (!is_open) {
		probe_close(probe);
		return NULL;
	}
	return probe;
}

void probe_close(struct probe *probe)
{
	if (!probe)
		return;
	for (size_t i = 0; i < PROGRAM_COUNT; i++)
		bpf_link__destroy(probe->links[i]);
	unmap_shared(probe->control, sizeof(*probe->control));
	unmap_shared(probe->workers, workers_bytes());
	unmap_shared(probe->blame, blame_bytes(probe));
	bpf_object__close(probe->object);
	memory_free(probe->of_cpus);
	memory_free(probe);
}

const char *probe_missing(const struct probe *probe)
{
	return probe->missing;
}

/* ---- workers ---- */

struct probe_worker *probe_workers(struct probe *probe)
{
	return probe->workers;
}

bool probe_worker_add(struct probe *probe, uint32_t index, pid_t tid, struct error *error)
{
	uint32_t thread = (uint32_t)tid;

	assert(index < PROBE_WORKERS_MAX);
	assert(tid > 0);
	if (bpf_map_update_elem(probe->worker_of_thread_fd, &thread, &index, BPF_ANY) != 0)
		return error_system(error, "cannot tell the kernel of thread %d", (int)tid);
	return true;
}

void probe_worker_remove(struct probe *probe, pid_t tid)
{
	uint32_t thread = (uint32_t)tid;

	bpf_map_delete_elem(probe->worker_of_thread_fd, &thread);
}

/* ---- counting ---- */

/* Every entry of a hash map; at most `key_bytes` of 16. */
static void map_clear(int fd)
{
	unsigned char key[16], next[16];
	bool has_next = bpf_map_get_next_key(fd, NULL, next) == 0;

	while (has_next) {
		memcpy(key, next, sizeof(key));
		has_next = bpf_map_get_next_key(fd, key, next) == 0;
		bpf_map_delete_elem(fd, key);
	}
}

static_assert(sizeof(struct probe_page_key) == 16 && sizeof(struct probe_inode_key) == 16,
	      "map_clear() has room for the keys");

/* How often a program was left out because it was running on that CPU: what it counts is short. */
static uint64_t skipped_runs(const struct probe *probe, size_t program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(probe->programs[program]), &info, &bytes) != 0)
		return 0;
	return info.recursion_misses;
}

static bool counters_clear(struct probe *probe, struct error *error)
{
	static const struct probe_worker_state idle;
	static const struct probe_device none;
	uint32_t thread, next, index = 0, *from = NULL;

	memset(probe->of_cpus, 0, (size_t)probe->cpu_count * sizeof(*probe->of_cpus));
	for (uint32_t stream = 0; stream < probe->stream_count; stream++) {
		if (bpf_map_update_elem(probe->counters_fd, &stream, probe->of_cpus, BPF_ANY) != 0)
			return error_system(error, "cannot clear the probe's counters");
	}
	if (bpf_map_update_elem(probe->device_fd, &index, &none, BPF_ANY) != 0)
		return error_system(error, "cannot clear the probe's counters");
	for (; bpf_map_get_next_key(probe->worker_of_thread_fd, from, &next) == 0; from = &thread) {
		thread = next;
		if (bpf_map_lookup_elem(probe->worker_of_thread_fd, &thread, &index) == 0)
			bpf_map_update_elem(probe->worker_states_fd, &index, &idle, BPF_ANY);
	}
	memset(probe->blame, 0, blame_bytes(probe));
	map_clear(probe->page_memory_fd);
	map_clear(probe->inode_memory_fd);
	map_clear(probe->file_pages_fd);
	return true;
}

bool probe_file(const struct probe *probe, uint64_t ino, struct probe_file_pages *pages)
{
	const uint64_t needed = NEEDS(page_added) | NEEDS(page_deleted);

	*pages = (struct probe_file_pages){0};
	if ((needed & ~probe->attached) || probe->control->file_pages_lost)
		return false;
	(void)bpf_map_lookup_elem(probe->file_pages_fd, &ino, pages);
	return true;
}

/* As the kernel keeps it: MKDEV(), include/linux/kdev_t.h. */
static uint32_t kernel_device(uint32_t major, uint32_t minor)
{
	return major << 20 | (minor & 0xfffff);
}

static void control_set(struct probe *probe, const struct probe_target *target)
{
	struct probe_control *control = probe->control;
	/* Caches once seen stay where they are, unless it is another file system's. */
	uint64_t dentry_cache = control->dentry_cache, inode_cache = control->inode_cache;
	const char *cache = probe->filesystem ? probe->filesystem->inode_cache : "";

	if (strcmp(cache, control->inode_cache_name) != 0)
		inode_cache = 0;
	*control = (struct probe_control){
		.device = kernel_device(target->major, target->minor),
		.block_device = kernel_device(target->block_major, target->block_minor),
		.stream_count = probe->stream_count,
		.dentry_cache = dentry_cache,
		/* Where nothing is to be found, names need not be looked at. */
		.inode_cache = cache[0] ? inode_cache : UINT64_MAX,
	};
	snprintf(control->inode_cache_name, sizeof(control->inode_cache_name), "%s", cache);
	if (probe->filesystem) {
		control->skipped_ino = probe->filesystem->skipped_ino;
		control->inode_numbers_come_again = probe->filesystem->inode_numbers_come_again;
	}
}

bool probe_count(struct probe *probe, const struct probe_target *target, struct error *error)
{
	probe_stop(probe);
	if (!counters_clear(probe, error))
		return false;
	probe->filesystem = NULL;
	for (size_t i = 0; i < sizeof(filesystems) / sizeof(filesystems[0]); i++) {
		if (strcmp(filesystems[i].name, target->filesystem) == 0)
			probe->filesystem = &filesystems[i];
	}
	probe->has_block_device = target->block_major || target->block_minor;
	control_set(probe, target);
	for (size_t i = 0; i < PROGRAM_COUNT; i++)
		probe->skipped_runs[i] = probe->attached >> i & 1 ? skipped_runs(probe, i) : 0;
	__atomic_store_n(&probe->control->is_counting, 1, __ATOMIC_SEQ_CST);
	return true;
}

void probe_stop(struct probe *probe)
{
	__atomic_store_n(&probe->control->is_counting, 0, __ATOMIC_SEQ_CST);
}

void probe_forget(struct probe *probe, int fd, uint64_t first_byte, uint64_t end_byte)
{
	uint64_t page = first_byte >> PAGE_SHIFT, end = pages_from_bytes_up(end_byte);
	struct stat status;
	long generation = 0; /* only its lower half is written */

	if (fstat(fd, &status) != 0 || ioctl(fd, FS_IOC_GETVERSION, &generation) != 0)
		return;
	while (page < end) {
		struct probe_page_key key = {status.st_ino, (uint32_t)generation,
					     (uint32_t)(page / PROBE_BLOCK_PAGES)};
		uint64_t block_end = (page / PROBE_BLOCK_PAGES + 1) * PROBE_BLOCK_PAGES;
		uint64_t kept = BIT(page % PROBE_BLOCK_PAGES) - 1;
		struct probe_page_memory memory;

		if (end < block_end)
			kept |= ~(BIT(end % PROBE_BLOCK_PAGES) - 1);
		if (kept == 0) {
			bpf_map_delete_elem(probe->page_memory_fd, &key);
		} else if (bpf_map_lookup_elem(probe->page_memory_fd, &key, &memory) == 0) {
			memory.evicted &= kept;
			memory.refaulted &= kept;
			bpf_map_update_elem(probe->page_memory_fd, &key, &memory, BPF_EXIST);
		}
		page = block_end;
	}
}

/* ---- reading ---- */

/* Two caches of one size may have been made one, under a name that is neither's: SLUB's aliases. */
static bool cache_is_shared(const char *name)
{
	char path[128], target[64];

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s", name);
	return readlink(path, target, sizeof(target)) > 0;
}

/* With generations instead of two lists, "active" means something else. */
static bool has_generations(void)
{
	FILE *file = fopen("/sys/kernel/mm/lru_gen/enabled", "re");
	unsigned int enabled = 0;

	if (!file)
		return false;
	if (fscanf(file, "%x", &enabled) != 1)
		enabled = 0;
	fclose(file);
	return enabled & 1;
}

static uint64_t known_counters(const struct probe *probe)
{
	const struct filesystem *filesystem = probe->filesystem;
	uint64_t working = probe->attached, known = 0;

	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		/* Objects are allocated in interrupts as well, but none that is counted. */
		if (i != PROGRAM_object_allocated && (working >> i & 1) &&
		    skipped_runs(probe, i) != probe->skipped_runs[i])
			working &= ~BIT(i);
	}
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if ((needs[i].programs & ~working) == 0)
			known |= BIT(needs[i].counter);
	}
	if (!filesystem || cache_is_shared(filesystem->inode_cache))
		known &= ~COUNTS(inodes_allocated);
	if (!filesystem || (filesystem->evicted & ~working))
		known &= ~(COUNTS(inodes_evicted) | COUNTS(inodes_reallocated) |
			   COUNTS(dentries_evicted));
	if (!filesystem || (filesystem->returned & ~working) || probe->control->inode_memory_lost)
		known &= ~COUNTS(inodes_reallocated);
	if (cache_is_shared("dentry"))
		known &= ~COUNTS(dentries_allocated);
	if (!probe->has_block_device)
		known &= ~(COUNTS(read_bytes) | COUNTS(write_bytes));
	if (probe->control->page_memory_lost)
		known &= ~(COUNTS(reread_bytes) | COUNTS(refault_activations));
	if (has_generations())
		known &= ~(COUNTS(refault_activations) | COUNTS(activations) |
			   COUNTS(deactivations));
	return known;
}

static_assert(sizeof(struct probe_counters) % sizeof(uint64_t) == 0, "nothing but counters");

static void counters_add(struct probe_counters *sum, const struct probe_counters *part)
{
	const uint64_t *from = (const uint64_t *)part;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

bool probe_read(struct probe *probe, struct probe_counts *counts, struct error *error)
{
	const struct probe_control *control = probe->control;
	struct probe_counters *streams = counts->streams;
	uint32_t zero = 0;

	*counts = (struct probe_counts){
		.streams = streams,
		.disturbance = control->disturbance,
		.metadata_inserted_pages = control->metadata_inserted_pages,
		.metadata_evicted_pages = control->metadata_evicted_pages,
	};
	for (uint32_t stream = 0; stream < probe->stream_count; stream++) {
		struct probe_counters sum = {0};

		if (bpf_map_lookup_elem(probe->counters_fd, &stream, probe->of_cpus) != 0)
			return error_system(error, "cannot read the probe's counters");
		for (int cpu = 0; cpu < probe->cpu_count; cpu++)
			counters_add(&sum, &probe->of_cpus[cpu]);
		counters_add(&counts->totals, &sum);
		if (streams)
			streams[stream] = sum;
	}
	if (bpf_map_lookup_elem(probe->device_fd, &zero, &counts->device) != 0)
		return error_system(error, "cannot read the probe's counters");
	counts->known = known_counters(probe);
	return true;
}

const uint64_t *probe_blame(const struct probe *probe)
{
	return probe->blame;
}
