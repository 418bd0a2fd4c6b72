#include "record/tracer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"
#include "base/size.h"
#include "record/half.h"
#include "record/memory_group.h"
#include "record/syscalls.h"

/* The kernel half, compiled, is part of the program: one file less to find at run time. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"tracer_object:\n"
	".incbin \"" BPF_OBJECT "\"\n"
	"tracer_object_end:\n"
	".popsection\n");
extern const unsigned char tracer_object[], tracer_object_end[];

/*
 * PROGRAM(name in tracer.bpf.c, how many arguments its tracepoint has at least, can we do without).
 * A tracepoint with fewer, on another kernel, is as good as none.
 */
#define PROGRAMS                                                                                   \
	PROGRAM(call_entered, 2, false)                                                            \
	PROGRAM(call_exited, 2, false)                                                             \
	PROGRAM(task_forked, 2, false)                                                             \
	PROGRAM(task_execed, 3, false)                                                             \
	PROGRAM(task_exited, 1, false)                                                             \
	PROGRAM(page_added, 1, false)                                                              \
	PROGRAM(fault_begun, 3, true)                                                              \
	PROGRAM(fault_missed, 2, true)                                                             \
	PROGRAM(fault_mapped, 3, true)                                                             \
	PROGRAM(page_deleted, 1, true)                                                             \
	PROGRAM(folio_dirtied, 2, true)                                                            \
	PROGRAM(pages_got, 3, true)                                                                \
	PROGRAM(request_submitted, 1, true)                                                        \
	PROGRAM(request_completed, 3, true)                                                        \
	PROGRAM(statistics_summed, 4, true)

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

struct tracer {
	struct bpf_object *object;
	struct bpf_program *programs[PROGRAM_COUNT];
	struct bpf_link *links[PROGRAM_COUNT];
	struct ring_buffer *ring;
	int counters_fd, processes_fd, cpu_count;
	struct record_counters *of_cpus; /* [cpu_count] */
	struct record_control *control;  /* shared with the kernel half */
	char missing[256];
	uint64_t start_ns;

	void (*receive)(void *context, const struct record_event *event);
	void *context;
};

/* ---- opening ---- */

/* Leave out what this kernel cannot have. False: not without it. */
static bool programs_choose(struct tracer *tracer, struct error *error)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool fine = true;

	if (!btf)
		return error_failed(error, "cannot read how this kernel describes its types: %s",
				    half_why());
	for (size_t i = 0; i < PROGRAM_COUNT && fine; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(tracer->object, programs[i].name);
		size_t used = strlen(tracer->missing);

		assert(program); /* tracer.bpf.c and the table agree */
		tracer->programs[i] = program;
		if (half_arguments(btf, half_tracepoint(program)) >= programs[i].arguments)
			continue;
		bpf_program__set_autoload(program, false);
		snprintf(tracer->missing + used, sizeof(tracer->missing) - used, "%s%s",
			 used ? ", " : "", half_tracepoint(program));
		fine = programs[i].is_optional ||
		       error_failed(error, "this kernel has no tracepoint %s as it is needed",
				    half_tracepoint(program));
	}
	btf__free(btf);
	return fine;
}

static bool cgroup_find(struct record_settings *settings, const char *path, struct error *error)
{
	struct memory_group group;

	if (!memory_group_open(&group, path, error))
		return error_context(error, "--cgroup");
	settings->is_cgroup_v2 = group.is_v2;
	settings->cgroup = group.id;
	settings->cgroup_level = group.level;
	return group.level < 8 ||
	       error_input(error, "--cgroup %.200s is deeper than 7 levels", path);
}

static bool settings_make(struct tracer *tracer, const struct tracer_options *options,
			  struct error *error)
{
	struct record_settings settings = {
		.scope = options->scope,
		.self = (uint32_t)getpid(),
		.o_direct = O_DIRECT,
		.wakeup_bytes = (uint32_t)(options->ring_bytes / 4),
		.start_ns = tracer->start_ns,
	};
	struct bpf_map *map = bpf_object__find_map_by_name(tracer->object, ".rodata");

	syscalls_fill(settings.syscalls);
	if (options->scope == RECORD_SCOPE_CGROUP &&
	    !cgroup_find(&settings, options->cgroup, error))
		return false;
	assert(map);
	if (bpf_map__set_initial_value(map, &settings, sizeof(settings)) != 0)
		return error_failed(error, "cannot tell the kernel half what to record");
	return true;
}

static int map_fd(const struct tracer *tracer, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(tracer->object, name);

	assert(map); /* tracer.bpf.c has it */
	return bpf_map__fd(map);
}

static int on_event(void *context, void *data, size_t bytes)
{
	struct tracer *tracer = context;
	const struct record_event *event = data;

	if (bytes >= sizeof(*event) && event->bytes <= bytes && tracer->receive)
		tracer->receive(tracer->context, event);
	return 0;
}

/* Calls end before they begin here: so that none is told of whose beginning was not seen. */
static bool attach(struct tracer *tracer, struct error *error)
{
	for (size_t i = PROGRAM_COUNT; i-- > 0;) {
		if (!bpf_program__autoload(tracer->programs[i]))
			continue;
		tracer->links[i] = bpf_program__attach(tracer->programs[i]);
		if (!tracer->links[i])
			return error_failed(error, "cannot attach to tracepoint %s: %s",
					    half_tracepoint(tracer->programs[i]), half_why());
	}
	return true;
}

static size_t control_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static_assert(sizeof(struct record_control) <= 4096, "control_bytes() is one page");

static bool open_all(struct tracer *tracer, const struct tracer_options *options,
		     struct error *error)
{
	struct bpf_map *ring;

	tracer->cpu_count = libbpf_num_possible_cpus();
	if (tracer->cpu_count <= 0)
		return error_failed(error, "cannot tell how many CPUs there are");
	tracer->of_cpus = memory_alloc((size_t)tracer->cpu_count, sizeof(*tracer->of_cpus));
	tracer->object = bpf_object__open_mem(tracer_object,
					      (size_t)(tracer_object_end - tracer_object), NULL);
	if (!tracer->object)
		return error_failed(error, "cannot read the recorder's programs: %s", half_why());
	ring = bpf_object__find_map_by_name(tracer->object, "ring");
	assert(ring);
	bpf_map__set_max_entries(ring, (uint32_t)options->ring_bytes);
	if (!programs_choose(tracer, error) || !settings_make(tracer, options, error))
		return false;
	if (bpf_object__load(tracer->object) != 0)
		return error_failed(error, "the kernel does not take the recorder's programs: %s",
				    half_why());
	tracer->counters_fd = map_fd(tracer, "counters");
	tracer->processes_fd = map_fd(tracer, "processes");
	tracer->control = mmap(NULL, control_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
			       map_fd(tracer, ".data.control"), 0);
	if (tracer->control == MAP_FAILED) {
		tracer->control = NULL;
		return error_system(error, "cannot map what is shared with the kernel half");
	}
	tracer->ring = ring_buffer__new(map_fd(tracer, "ring"), on_event, tracer, NULL);
	if (!tracer->ring)
		return error_failed(error, "cannot map the ring of events: %s", half_why());
	return attach(tracer, error);
}

/* Process ids are the kernel's own only in the first pid namespace. */
static bool is_first_pid_namespace(void)
{
	char text[64];
	ssize_t length = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	if (length <= 0)
		return false;
	text[length] = '\0';
	return strcmp(text, "pid:[4026531836]") == 0; /* PROC_PID_INIT_INO, linux/proc_ns.h */
}

struct tracer *tracer_open(const struct tracer_options *options, struct error *error)
{
	struct timespec now;
	struct tracer *tracer;
	bool is_open;

	if (!half_possible("to record", error))
		return NULL;
	if (!is_first_pid_namespace()) {
		error_failed(error, "to record needs the machine's own pid namespace, not a "
				    "container's");
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	tracer = memory_alloc(1, sizeof(*tracer));
	tracer->start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	half_listen();
	is_open = open_all(tracer, options, error);
	half_listen_no_more();
	if (is_open)
		return tracer;
	tracer_close(tracer);
	return NULL;
}

void tracer_stop(struct tracer *tracer)
{
	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		bpf_link__destroy(tracer->links[i]);
		tracer->links[i] = NULL;
	}
}

void tracer_close(struct tracer *tracer)
{
	if (!tracer)
		return;
	tracer_stop(tracer);
	ring_buffer__free(tracer->ring);
	if (tracer->control)
		munmap(tracer->control, control_bytes());
	bpf_object__close(tracer->object);
	memory_free(tracer->of_cpus);
	memory_free(tracer);
}

/* ---- listening ---- */

bool tracer_add(struct tracer *tracer, pid_t process, struct error *error)
{
	uint32_t number = (uint32_t)process, one = 1;

	if (bpf_map_update_elem(tracer->processes_fd, &number, &one, BPF_ANY) != 0)
		return error_system(error, "cannot tell the kernel of process %d", (int)process);
	return true;
}

void tracer_watch_memory(struct tracer *tracer, const struct memory_group *group)
{
	uint64_t step = group->limit_bytes / 512;

	/* A 512th of the limit, from 64 KiB to sixteen mebibytes. */
	step = step < 64 * KIB ? 64 * KIB : step > 16 * MIB ? 16 * MIB : step;
	tracer->control->step_pages = pages_from_bytes_down(step);
	tracer->control->file_pages = (int64_t)pages_from_bytes_down(group->file_bytes);
	__atomic_store_n(&tracer->control->memory_cgroup, group->id, __ATOMIC_RELEASE);
}

bool tracer_listen(struct tracer *tracer, int timeout_ms,
		   void (*receive)(void *context, const struct record_event *event), void *context,
		   struct error *error)
{
	int got;

	tracer->receive = receive;
	tracer->context = context;
	/* The kernel half wakes us only if much has come: so look in any case. */
	got = timeout_ms > 0 ? ring_buffer__poll(tracer->ring, timeout_ms) : 0;
	if (got >= 0 || got == -EINTR)
		got = ring_buffer__consume(tracer->ring);
	if (got < 0 && got != -EINTR)
		return error_failed(error, "cannot read the ring of events: %s", strerror(-got));
	return true;
}

/* ---- counters ---- */

bool tracer_counters(const struct tracer *tracer, struct record_counters *counters,
		     uint64_t *skipped, struct error *error)
{
	enum { FIELDS = sizeof(*counters) / sizeof(uint64_t) };
	uint64_t *sums = (uint64_t *)counters;
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(tracer->counters_fd, &zero, tracer->of_cpus) != 0)
		return error_system(error, "cannot read the recorder's counters");
	memset(counters, 0, sizeof(*counters));
	for (int cpu = 0; cpu < tracer->cpu_count; cpu++) {
		const uint64_t *one = (const uint64_t *)&tracer->of_cpus[cpu];

		for (size_t i = 0; i < FIELDS; i++)
			sums[i] += one[i];
	}
	*skipped = 0;
	for (size_t i = 0; i < PROGRAM_COUNT; i++)
		if (bpf_program__autoload(tracer->programs[i]))
			*skipped += half_skipped(tracer->programs[i]);
	return true;
}

bool tracer_has(const struct tracer *tracer, const char *tracepoint)
{
	for (size_t i = 0; i < PROGRAM_COUNT; i++)
		if (strcmp(half_tracepoint(tracer->programs[i]), tracepoint) == 0)
			return bpf_program__autoload(tracer->programs[i]);
	return false;
}

const char *tracer_missing(const struct tracer *tracer)
{
	return tracer->missing;
}

uint64_t tracer_start_ns(const struct tracer *tracer)
{
	return tracer->start_ns;
}
