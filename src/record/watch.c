#include "record/watch.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"
#include "base/size.h"
#include "record/half.h"
#include "record/memory_group.h"

/* The kernel half, compiled, as in tracer.c. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"watch_object:\n"
	".incbin \"" BPF_OBJECT "\"\n"
	"watch_object_end:\n"
	".popsection\n");
extern const unsigned char watch_object[], watch_object_end[];

/* PROGRAM(name in watch.bpf.c, how many arguments its tracepoint has at least, can we do without). */
#define PROGRAMS                                                                                   \
	PROGRAM(page_deleted, 1, false)                                                            \
	PROGRAM(page_inserted, 1, false)                                                           \
	PROGRAM(folio_dirtied, 2, false)                                                           \
	PROGRAM(pages_mapped, 3, true)                                                             \
	PROGRAM(fault_begun, 2, true)                                                              \
	PROGRAM(pages_got, 3, true)

enum {
#define PROGRAM(name, arguments, optional) PROGRAM_##name,
	PROGRAMS
#undef PROGRAM
		PROGRAM_COUNT,
};

static const struct {
	const char *name;
	int arguments;
	bool is_optional;
} programs[PROGRAM_COUNT] = {
#define PROGRAM(name, arguments, optional) {#name, arguments, optional},
	PROGRAMS
#undef PROGRAM
};

enum { FILES_AT_ONCE = 256, RETRIES_MAX = 8 };

struct watch {
	struct bpf_object *object;
	struct bpf_program *programs[PROGRAM_COUNT];
	struct bpf_link *links[PROGRAM_COUNT];
	int counts_fd, files_fd, cpu_count;
	bool has_target;            /* else it is all */
	struct top_counts *of_cpus; /* [cpu_count] */
	struct watched_id *ids;     /* [FILES_AT_ONCE], and files */
	struct watched_file *files;
	char missing[256];
};

/* Leave out what this kernel cannot have. False: not without it. */
static bool programs_choose(struct watch *watch, struct error *error)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool fine = true;

	if (!btf)
		return error_failed(error, "cannot read how this kernel describes its types: %s",
				    half_why());
	for (size_t i = 0; i < PROGRAM_COUNT && fine; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(watch->object, programs[i].name);
		size_t used = strlen(watch->missing);

		assert(program); /* watch.bpf.c and the table agree */
		watch->programs[i] = program;
		if (half_arguments(btf, half_tracepoint(program)) >= programs[i].arguments)
			continue;
		bpf_program__set_autoload(program, false);
		snprintf(watch->missing + used, sizeof(watch->missing) - used, "%s%s",
			 used ? ", " : "", half_tracepoint(program));
		fine = programs[i].is_optional ||
		       error_failed(error, "this kernel has no tracepoint %s as it is needed",
				    half_tracepoint(program));
	}
	btf__free(btf);
	return fine;
}

static bool settings_make(struct watch *watch, const struct watch_options *options,
			  struct error *error)
{
	struct watched_settings settings = {
		.scope = options->scope,
		.device = options->device,
		.page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
		.call_read = SYS_read,
		.call_readv = SYS_readv,
		.call_pread = SYS_pread64,
		.call_preadv = SYS_preadv,
		.call_preadv2 = SYS_preadv2,
	};
	struct bpf_map *map = bpf_object__find_map_by_name(watch->object, ".rodata");

	if (options->scope == WATCHED_CGROUP) {
		struct memory_group group;

		if (!memory_group_open(&group, options->cgroup, error))
			return error_context(error, "--cgroup");
		settings.is_cgroup_v2 = group.is_v2;
		settings.cgroup = group.id;
		settings.cgroup_level = group.level;
	}
	assert(map);
	if (bpf_map__set_initial_value(map, &settings, sizeof(settings)) != 0)
		return error_failed(error, "cannot tell the kernel half what to watch");
	return true;
}

/*
 * Pages that came in and that were evicted are remembered by blocks of 64: one for each 256 KiB there
 * are, so that as much is known as fits the memory, if it is read in whole blocks. A block takes some
 * 100 bytes.
 */
static bool maps_size(struct watch *watch, uint64_t memory_bytes, struct error *error)
{
	static const char *const names[] = {"fresh", "gone"};
	uint64_t blocks = memory_bytes / (256 * KIB);

	blocks = blocks < 32768 ? 32768 : blocks > 262144 ? 262144 : blocks;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(watch->object, names[i]);

		assert(map);
		if (bpf_map__set_max_entries(map, (uint32_t)blocks) != 0)
			return error_failed(error, "cannot size the watch's maps");
	}
	return true;
}

static int map_fd(const struct watch *watch, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(watch->object, name);

	assert(map); /* watch.bpf.c has it */
	return bpf_map__fd(map);
}

static bool attach(struct watch *watch, struct error *error)
{
	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		if (!bpf_program__autoload(watch->programs[i]))
			continue;
		watch->links[i] = bpf_program__attach(watch->programs[i]);
		if (!watch->links[i])
			return error_failed(error, "cannot attach to tracepoint %s: %s",
					    half_tracepoint(watch->programs[i]), half_why());
	}
	return true;
}

static bool open_all(struct watch *watch, const struct watch_options *options, struct error *error)
{
	watch->cpu_count = libbpf_num_possible_cpus();
	if (watch->cpu_count <= 0)
		return error_failed(error, "cannot tell how many CPUs there are");
	watch->of_cpus = memory_alloc((size_t)watch->cpu_count, sizeof(*watch->of_cpus));
	watch->ids = memory_alloc(FILES_AT_ONCE, sizeof(*watch->ids));
	watch->files = memory_alloc(FILES_AT_ONCE, sizeof(*watch->files));
	watch->has_target = options->scope != WATCHED_MACHINE;
	watch->object =
		bpf_object__open_mem(watch_object, (size_t)(watch_object_end - watch_object), NULL);
	if (!watch->object)
		return error_failed(error, "cannot read the watch's programs: %s", half_why());
	if (!programs_choose(watch, error) || !settings_make(watch, options, error) ||
	    !maps_size(watch, options->memory_bytes, error))
		return false;
	if (bpf_object__load(watch->object) != 0)
		return error_failed(error, "the kernel does not take the watch's programs: %s",
				    half_why());
	watch->counts_fd = map_fd(watch, "counts");
	watch->files_fd = map_fd(watch, "files");
	return attach(watch, error);
}

struct watch *watch_open(const struct watch_options *options, struct error *error)
{
	struct watch *watch;
	bool is_open;

	if (!half_possible("to count what the page cache does", error))
		return NULL;
	watch = memory_alloc(1, sizeof(*watch));
	half_listen();
	is_open = open_all(watch, options, error);
	half_listen_no_more();
	if (is_open)
		return watch;
	watch_close(watch);
	return NULL;
}

void watch_close(struct watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < PROGRAM_COUNT; i++)
		bpf_link__destroy(watch->links[i]);
	bpf_object__close(watch->object);
	memory_free(watch->of_cpus);
	memory_free(watch->ids);
	memory_free(watch->files);
	memory_free(watch);
}

/* ---- looking ---- */

static bool set_read(struct watch *watch, uint32_t set, struct top_counts *counts,
		     struct error *error)
{
	enum { FIELDS = sizeof(*counts) / sizeof(uint64_t) };
	uint64_t *sums = (uint64_t *)counts;

	if (bpf_map_lookup_elem(watch->counts_fd, &set, watch->of_cpus) != 0)
		return error_system(error, "cannot read the watch's counts");
	memset(counts, 0, sizeof(*counts));
	for (int cpu = 0; cpu < watch->cpu_count; cpu++) {
		const uint64_t *one = (const uint64_t *)&watch->of_cpus[cpu];

		for (size_t i = 0; i < FIELDS; i++)
			sums[i] += one[i];
	}
	return true;
}

bool watch_counts(struct watch *watch, struct top_counts *target, struct top_counts *all,
		  struct error *error)
{
	if (!set_read(watch, WATCHED_ALL, all, error))
		return false;
	*target = *all;
	if (!watch->has_target)
		return true;
	if (!set_read(watch, WATCHED_TARGET, target, error))
		return false;
	target->uncounted = all->uncounted; /* nobody knows whose */
	return true;
}

uint64_t watch_skipped(const struct watch *watch)
{
	uint64_t skipped = 0;

	for (size_t i = 0; i < PROGRAM_COUNT; i++)
		if (bpf_program__autoload(watch->programs[i]))
			skipped += half_skipped(watch->programs[i]);
	return skipped;
}

bool watch_sees_reads(const struct watch *watch)
{
	return bpf_program__autoload(watch->programs[PROGRAM_pages_got]);
}

const char *watch_missing(const struct watch *watch)
{
	return watch->missing;
}

/* The map changes while it is read: a file may be handed over twice, or not. */
bool watch_files(struct watch *watch,
		 void (*take)(void *context, const struct watched_id *id,
			      const struct watched_file *file),
		 void *context, struct error *error)
{
	uint32_t place = 0, *from = NULL;

	for (int retries = 0;;) {
		uint32_t count = FILES_AT_ONCE, next = 0;
		int failed = bpf_map_lookup_batch(watch->files_fd, from, &next, watch->ids,
						  watch->files, &count, NULL);

		/* ENOSPC: more in one bucket than there is room for, which cannot be, or goes by. */
		if (failed && errno != ENOENT && (errno != ENOSPC || ++retries > RETRIES_MAX))
			return error_system(error, "cannot read the watch's files");
		for (uint32_t i = 0; i < count && (!failed || errno == ENOENT); i++)
			take(context, &watch->ids[i], &watch->files[i]);
		if (failed && errno == ENOENT)
			return true;
		if (!failed) {
			place = next;
			from = &place;
		}
	}
}
