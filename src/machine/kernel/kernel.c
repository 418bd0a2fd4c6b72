/*
 * kernel: prepares files, starts the player in its cgroup, feeds it, and reads the counters
 */
#include "machine/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/kernel/cgroup.h"
#include "machine/kernel/janitor.h"
#include "machine/kernel/meter.h"
#include "machine/kernel/player.h"
#include "machine/kernel/probe.h"
#include "machine/kernel/scratch.h"
#include "machine/kernel/script.h"
#include "machine/kernel/text_file.h"
#include "measure/recorder.h"
#include "op/path.h"

enum { OP_BATCH = 256, PROGRESS_OPS = 1 << 12 };

#define IMAGE_BYTES_MIN   (6 * GIB)
#define READAHEAD_DEFAULT (128 * KIB)

/* A file that is there before the start. */
struct existing {
	uint64_t bytes;
	uint32_t path, line;
	bool is_sparse;
};

struct run {
	const struct kernel_options *options;
	struct op_source *source;
	ARRAY(struct existing) existing;
	struct janitor janitor;
	struct scratch scratch;
	struct cgroup cgroup;
	struct script *script;
	struct probe *probe; /* NULL: `no_probe` says why */
	struct error no_probe;
	struct player *player;
	uint32_t worker_count;
	struct meter meter;
	struct recorder recorder;
	bool has_begun;
	uint64_t op_count, file_count;
	uint64_t next_progress;
	uint64_t device_free_ns; /* on the scenario's clock */
	uint64_t start_ns;       /* on the real one */
};

/* Clients side by side, each a thread? */
static bool is_concurrent(const struct run *run)
{
	return run->options->clock == KERNEL_CLOCK_REAL && run->source->interface->next_due &&
	       run->source->thread_count > 0;
}

/* ---- errors ---- */

static bool op_error(struct run *run, const struct op *op, struct error *error, const char *what)
{
	const char *path = path_text(run->source->paths, op->path);
	const char *kind = op_kind_name((enum op_kind)op->kind);

	if (op->line)
		return error_at(error, run->source->name, op->line, 0, "%s \"%.100s\": %s", kind,
				path, what);
	return error_input(error, "%s: operation %llu (%s \"%.100s\"): %s", run->source->name,
			   (unsigned long long)run->op_count, kind, path, what);
}

static bool disk_full(const struct run *run, struct error *error)
{
	char size[SIZE_TEXT_BYTES];

	if (run->options->directory)
		return error_failed(error, "no space is left in %s", run->options->directory);
	return error_failed(error,
			    "the scratch file system of %s is full, or the disk that it is on: "
			    "--image-size makes it larger",
			    size_format(size, run->scratch.options.image_bytes));
}

/* What the player could not do. */
static bool player_error(struct run *run, struct error *error)
{
	struct player_failure failure;
	struct cgroup_stat stat;

	player_failure(run->player, &failure);
	switch (failure.trouble) {
	case PLAYER_INTERRUPTED:
		return error_failed(error, "interrupted");
	case PLAYER_DIED:
		cgroup_read(&run->cgroup, false, &stat);
		if (stat.oom_kills != CGROUP_UNKNOWN && stat.oom_kills > 0)
			return error_failed(error,
					    "out of memory at about operation %llu: what was left "
					    "could not be reclaimed, and the kernel killed the "
					    "process",
					    (unsigned long long)run->op_count);
		return error_failed(error, "the player was killed at about operation %llu",
				    (unsigned long long)run->op_count);
	case PLAYER_CALL_FAILED:
	case PLAYER_FINE:
		break;
	}
	if (failure.errno_value == ENOSPC || failure.errno_value == EDQUOT)
		return disk_full(run, error);
	run->op_count = failure.op_number;
	return op_error(run,
			&(struct op){.kind = (uint8_t)failure.op_kind,
				     .path = failure.path,
				     .line = failure.line},
			error, strerror(failure.errno_value));
}

/* ---- what is there before the start ---- */

static bool exists(struct run *run, const struct op *op, struct error *error)
{
	if (run->has_begun)
		return op_error(run, op, error,
				"exists comes after other operations; what is there before the "
				"start must come first");
	*array_push(&run->existing) = (struct existing){
		.bytes = op->bytes,
		.path = op->path,
		.line = op->line,
		.is_sparse = op->kind == OP_EXISTS_SPARSE,
	};
	return true;
}

/* All directories above this path; one made before costs nothing. */
static void parents_make(char *path, size_t root_bytes, char *made)
{
	char *last = strrchr(path, '/');
	size_t bytes = last ? (size_t)(last - path) : 0;

	if (bytes <= root_bytes || (strncmp(made, path, bytes) == 0 && made[bytes] == '\0'))
		return;
	for (char *at = strchr(path + root_bytes + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(path, 0755);
		*at = '/';
	}
	memcpy(made, path, bytes);
	made[bytes] = '\0';
}

static int file_fill(int fd, const struct existing *file, const char *zeros)
{
	if (file->is_sparse)
		return ftruncate(fd, (off_t)file->bytes);
	for (uint64_t at = 0; at < file->bytes;) {
		size_t bytes = file->bytes - at < MIB ? (size_t)(file->bytes - at) : MIB;
		ssize_t written = pwrite(fd, zeros, bytes, (off_t)at);

		if (written < 0)
			return -1;
		at += (uint64_t)written;
	}
	return 0;
}

static bool file_make(struct run *run, const struct existing *file, char *made, const char *zeros,
		      struct error *error)
{
	char path[2 * PATH_MAX];
	const struct op op = {.kind = file->is_sparse ? OP_EXISTS_SPARSE : OP_EXISTS,
			      .path = file->path,
			      .line = file->line};
	int fd, failed;

	snprintf(path, sizeof(path), "%s/%s", run->scratch.root,
		 script_path(run->script, file->path));
	parents_make(path, strlen(run->scratch.root), made);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || file_fill(fd, file, zeros) != 0) {
		failed = errno;
		if (fd >= 0)
			close(fd);
		if (failed == ENOSPC)
			return disk_full(run, error);
		return op_error(run, &op, error,
				failed == EEXIST    ? "this file exists already"
				: failed == ENOTDIR ? "what should be its directory is a file"
						    : strerror(failed));
	}
	close(fd);
	return true;
}

/* In a directory of the user's nothing can be mounted anew: drop each file by itself. */
static void files_drop(struct run *run)
{
	int root = open(run->scratch.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root >= 0)
		(void)syncfs(root);
	for (size_t i = 0; root >= 0 && i < run->existing.count; i++) {
		int fd = openat(root, script_path(run->script, run->existing.at[i].path),
				O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
	if (root >= 0)
		close(root);
}

static bool is_interrupted(const struct run *run)
{
	return run->options->interrupted && *run->options->interrupted;
}

static bool files_make(struct run *run, struct error *error)
{
	char made[2 * PATH_MAX] = "";
	char *zeros = memory_alloc(MIB, 1);
	bool done = true;

	for (size_t i = 0; done && i < run->existing.count; i++) {
		done = is_interrupted(run)
			       ? error_failed(error, "interrupted")
			       : file_make(run, &run->existing.at[i], made, zeros, error);
		run->file_count++;
	}
	memory_free(zeros);
	if (done && run->options->directory)
		files_drop(run);
	return done && scratch_cool(&run->scratch, run->janitor.mountpoint, error);
}

/* ---- the beginning ---- */

static bool scratch_make(struct run *run, struct error *error)
{
	const struct kernel_options *options = run->options;
	struct scratch_options scratch = {
		.filesystem = options->filesystem,
		.directory = options->directory,
		.block_device = options->block_device,
		.image_directory = options->image_directory,
		.image_bytes = options->image_bytes,
		.file_count = run->existing.count,
		.readahead_bytes =
			options->readahead_bytes ? options->readahead_bytes : READAHEAD_DEFAULT,
	};
	uint64_t bytes = 0;

	for (size_t i = 0; i < run->existing.count; i++)
		if (!run->existing.at[i].is_sparse)
			bytes += run->existing.at[i].bytes;
	if (!scratch.image_bytes)
		scratch.image_bytes = 2 * bytes + GIB < IMAGE_BYTES_MIN
					      ? IMAGE_BYTES_MIN
					      : (2 * bytes + GIB) / MIB * MIB;
	return scratch_open(&run->scratch, &scratch, run->janitor.mountpoint, error) &&
	       (!options->directory ||
		janitor_note(&run->janitor, JANITOR_TREE, run->scratch.root, error));
}

static bool cgroup_make(struct run *run, struct error *error)
{
	struct cgroup planned;

	if (!cgroup_create(&run->cgroup, run->janitor.name, run->options->cgroup_limit_bytes,
			   error))
		return false;
	planned = run->cgroup;
	return janitor_note(&run->janitor, JANITOR_CGROUP, planned.path, error);
}

/*
 * Room to remember what was evicted: the files cannot be larger than the file system, but for holes;
 * each of its inodes has a page at least.
 */
static void probe_make(struct run *run)
{
	struct probe_options options = {
		.stream_count = PROBE_STREAMS_MAX,
		.inodes_max = 1000000 + 2 * run->existing.count,
		.page_blocks_max = run->scratch.options.image_bytes / (64 * PAGE_BYTES),
	};

	for (size_t i = 0; i < run->existing.count; i++)
		options.page_blocks_max +=
			1 + (run->existing.at[i].is_sparse
				     ? run->existing.at[i].bytes / (64 * PAGE_BYTES)
				     : 0);
	options.page_blocks_max += options.inodes_max;
	run->probe = probe_open(&options, &run->no_probe);
}

/* Count from now on. Without a probe, much is unknown, and the rest is as good as ever. */
static bool probe_begin(struct run *run, struct error *error)
{
	const struct probe_target target = {
		.filesystem = run->scratch.filesystem,
		.major = run->scratch.major,
		.minor = run->scratch.minor,
		.block_major = run->scratch.block_major,
		.block_minor = run->scratch.block_minor,
	};

	for (uint32_t i = 0; run->probe && i < run->worker_count; i++)
		if (!probe_worker_add(run->probe, i, player_thread(run->player, i), error))
			return false;
	return !run->probe || probe_count(run->probe, &target, error);
}

static bool player_make(struct run *run, struct error *error)
{
	char statistics[PATH_MAX];
	struct player_options options = {
		.root = run->scratch.root,
		.worker_count = is_concurrent(run) ? run->source->thread_count : 1,
		.statistics_path = statistics,
		.statistics_ops = run->options->statistics == KERNEL_STATISTICS_FRESH
					  ? KERNEL_STATISTICS_OPS
					  : 0,
		.probe = run->probe,
		.interrupted = run->options->interrupted,
	};

	cgroup_statistics_path(&run->cgroup, statistics);
	run->player = player_start(&options, error);
	if (!run->player)
		return false;
	run->worker_count = options.worker_count;
	script_player(run->script, run->player);
	return cgroup_join(&run->cgroup, player_pid(run->player), error);
}

static bool pin(struct run *run, struct error *error)
{
	const struct call call = {.kind = CALL_PIN,
				  .slot = SLOT_NONE,
				  .op_kind = OP_MARK,
				  .bytes = run->options->pinned_bytes};

	if (!run->options->pinned_bytes)
		return true;
	return (player_send(run->player, 0, &call, NULL, NULL) && player_wait(run->player, 0)) ||
	       error_failed(error, "the player cannot pin %llu bytes of memory",
			    (unsigned long long)run->options->pinned_bytes);
}

/* All that is there before the start is known: make it, cold, and let the player wait in its cgroup. */
static bool begin(struct run *run, struct error *error)
{
	run->has_begun = true;
	if (!scratch_make(run, error) || !files_make(run, error) || !cgroup_make(run, error))
		return false;
	probe_make(run);
	return player_make(run, error) && pin(run, error) && probe_begin(run, error) &&
	       meter_start(&run->meter, &run->cgroup, run->player, run->probe,
			   run->options->pinned_bytes, error);
}

/* ---- ops ---- */

static uint32_t stream_of(struct run *run, const struct op *op)
{
	if (op->stream)
		return op->stream;
	return run->options->streams && op->kind != OP_MARK
		       ? stream_map_get(run->options->streams, run->source->paths, op)
		       : 0;
}

/* All that was sent is done. */
static bool rest(struct run *run, struct error *error)
{
	for (uint32_t i = 0; i < run->worker_count; i++)
		if (!player_wait(run->player, i))
			return player_error(run, error);
	return true;
}

static bool mark(struct run *run, const struct op *op, struct error *error)
{
	struct counters now;

	if (!rest(run, error))
		return false;
	player_count_op(run->player);
	if (op->stream) {
		/* A mark that has a stream is the end of a pass of it (source/player.h). */
		meter_read(&run->meter, false, &now);
		meter_stream(&run->meter, op->stream, &now);
		recorder_pass(&run->recorder, op->stream, &now);
		return true;
	}
	meter_read(&run->meter, true, &now);
	recorder_mark(&run->recorder, &now, path_text(run->source->paths, op->path), run->op_count);
	return true;
}

/* Levels over time: only where reading them changes nothing, because they are read all the time. */
static void sample(struct run *run)
{
	struct error error;
	struct counters now;

	/* A player in trouble is noticed at the next op. */
	if (run->options->statistics != KERNEL_STATISTICS_FRESH || !rest(run, &error))
		return;
	meter_sample(&run->meter, &now);
	recorder_sample(&run->recorder, &now, run->op_count);
}

/* When the op is done on the scenario's clock: see model.c, done_at(). */
static uint64_t done_at(struct run *run, const struct op *op, uint64_t read_bytes,
			uint64_t write_bytes)
{
	const struct kernel_options *options = run->options;
	bool moves = op->kind == OP_READ || op->kind == OP_WRITE || op->kind == OP_MMAP_READ ||
		     op->kind == OP_MMAP_WRITE;
	uint64_t pages = moves ? pages_from_bytes_up(op->bytes) : 0;
	uint64_t done = op->time_ns + options->op_ns + options->hit_ns_per_page * pages;
	uint64_t device_ns = 0;

	if (options->device_read_bytes_per_s)
		device_ns += (uint64_t)((unsigned __int128)read_bytes * NS_PER_SECOND /
					options->device_read_bytes_per_s);
	if (options->device_write_bytes_per_s)
		device_ns += (uint64_t)((unsigned __int128)write_bytes * NS_PER_SECOND /
					options->device_write_bytes_per_s);
	if (device_ns > 0) {
		if (run->device_free_ns < op->time_ns)
			run->device_free_ns = op->time_ns;
		run->device_free_ns += device_ns;
		if (read_bytes > 0 && done < run->device_free_ns)
			done = run->device_free_ns;
	}
	return done;
}

/* The setup's ops have thread 0, clients begin with 1. */
static uint32_t worker_of(const struct run *run, const struct op *op)
{
	return run->worker_count > 1 && op->thread ? op->thread - 1 : 0;
}

static bool carry_out(struct run *run, const struct op *op, struct error *error)
{
	char what[sizeof(error->message)];

	if (op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE)
		return exists(run, op, error);
	if (!run->has_begun && !begin(run, error))
		return false;
	if (op->kind == OP_MARK)
		return mark(run, op, error);
	if (op->kind == OP_CREATE || op->kind == OP_MKDIR)
		run->file_count++;
	/* What closes or moves other threads' descriptors finds them at rest. */
	if (run->worker_count > 1 && (op->kind == OP_RENAME || op->kind == OP_CREATE) &&
	    script_is_shared(run->script, op) && !rest(run, error))
		return false;
	if (script_op(run->script, op, stream_of(run, op), worker_of(run, op), run->op_count,
		      error))
		return true;
	if (error->kind == ERROR_NONE)
		return player_error(run, error);
	snprintf(what, sizeof(what), "%s", error->message);
	return op_error(run, op, error, what);
}

static uint64_t now_ns(const struct run *run)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec - run->start_ns;
}

/*
 * Statistics that are left alone are summed every 2 s of real time: a scenario that takes longer on
 * its clock than here, or pauses, must take as long here.
 */
static bool keep_pace(struct run *run, const struct op *op, struct error *error)
{
	enum { SLICE_NS = 50 * 1000 * 1000 };

	if (run->options->statistics != KERNEL_STATISTICS_LAZY || !run->has_begun)
		return true;
	if (run->start_ns == 0)
		run->start_ns = now_ns(run) - op->time_ns;
	if (op->time_ns < now_ns(run) + NS_PER_MS)
		return true;
	if (!rest(run, error))
		return false;
	while (now_ns(run) < op->time_ns) {
		uint64_t left = op->time_ns - now_ns(run);
		const struct timespec pause = {.tv_nsec = left < SLICE_NS ? (long)left : SLICE_NS};

		if (is_interrupted(run))
			return error_failed(error, "interrupted");
		nanosleep(&pause, NULL);
	}
	return true;
}

/* One op, and on a scenario's clock its end. */
static bool run_op(struct run *run, const struct op *op, struct error *error)
{
	const struct op_source_interface *interface = run->source->interface;
	/* Where reading takes no time, nothing that follows depends on what was read. */
	bool has_device = run->options->device_read_bytes_per_s > 0 ||
			  run->options->device_write_bytes_per_s > 0;
	uint64_t read_before = 0, write_before = 0, read_after = 0, write_after = 0;
	uint64_t done = op->time_ns;

	run->op_count++;
	if (!interface->completed)
		return carry_out(run, op, error);
	if (!keep_pace(run, op, error))
		return false;
	if (run->has_begun && has_device)
		meter_io(&run->meter, &read_before, &write_before);
	if (!carry_out(run, op, error))
		return false;
	if (run->has_begun && has_device && op->kind != OP_MARK) {
		if (!player_wait(run->player, 0))
			return player_error(run, error);
		meter_io(&run->meter, &read_after, &write_after);
	}
	if (op->kind != OP_MARK && op->kind != OP_EXISTS && op->kind != OP_EXISTS_SPARSE)
		done = done_at(run, op, read_after - read_before, write_after - write_before);
	interface->completed(run->source, op, done);
	return true;
}

/* After an op or a few: what is due now and then. */
static void look_around(struct run *run)
{
	uint64_t done = 0, total = 0;

	if (run->has_begun && recorder_wants_sample(&run->recorder, run->op_count))
		sample(run);
	if (!run->options->progress || run->op_count < run->next_progress)
		return;
	run->next_progress = run->op_count + PROGRESS_OPS;
	run->source->interface->progress(run->source, &done, &total);
	run->options->progress(run->options->progress_context, done, total, run->op_count, 0);
}

static bool run_in_order(struct run *run, struct error *error)
{
	struct op ops[OP_BATCH];
	size_t count, most = run->source->interface->completed ? 1 : OP_BATCH;

	for (;;) {
		if (!op_source_next(run->source, ops, most, &count, error))
			return false;
		if (count == 0)
			return true;
		for (size_t i = 0; i < count; i++)
			if (!run_op(run, &ops[i], error))
				return false;
		look_around(run);
	}
}

/* ---- clients side by side ---- */

/* Tell the source whose op is done. */
static void answer(struct run *run, struct op *under_way, bool *is_under_way)
{
	for (uint32_t i = 0; i < run->worker_count; i++) {
		if (!is_under_way[i] || !player_is_idle(run->player, i))
			continue;
		is_under_way[i] = false;
		run->source->interface->completed(run->source, &under_way[i], now_ns(run));
	}
}

/* Something is under way, or will be: wait for either. */
static bool wait_for_any(struct run *run, uint64_t next_ns, struct error *error)
{
	uint64_t now = now_ns(run), pause = next_ns > now ? next_ns - now : 0;

	return player_wait_any(run->player, pause) || player_error(run, error);
}

static bool run_side_by_side(struct run *run, struct error *error)
{
	uint32_t count = run->source->thread_count;
	struct op *under_way = memory_alloc(count, sizeof(*under_way));
	bool *is_under_way = memory_alloc(count, sizeof(*is_under_way));
	bool done = true;

	run->start_ns = now_ns(run);
	while (done) {
		struct op op = {0};
		size_t got = 0;
		uint64_t next_ns;
		bool waits = false;

		answer(run, under_way, is_under_way);
		done = run->source->interface->next_due(run->source, now_ns(run), &op, &got,
							&next_ns, error);
		if (!done)
			break;
		if (got == 0) {
			for (uint32_t i = 0; i < run->worker_count && !waits; i++)
				waits = is_under_way[i];
			if (!waits && next_ns == UINT64_MAX)
				break;
			done = wait_for_any(run, next_ns, error);
			continue;
		}
		run->op_count++;
		done = carry_out(run, &op, error);
		look_around(run);
		if (done && run->has_begun && op.kind != OP_MARK) {
			player_flush(run->player, worker_of(run, &op));
			under_way[worker_of(run, &op)] = op;
			is_under_way[worker_of(run, &op)] = true;
		} else if (done) {
			run->source->interface->completed(run->source, &op, now_ns(run));
		}
	}
	memory_free(under_way);
	memory_free(is_under_way);
	return done;
}

static bool run_ops(struct run *run, struct error *error)
{
	bool done = is_concurrent(run) ? run_side_by_side(run, error) : run_in_order(run, error);

	return done && (run->has_begun || begin(run, error)) && rest(run, error);
}

/* ---- the result ---- */

struct finished {
	struct meter *meter;
	struct counters totals;
};

static void finished_counters(const void *context, uint32_t stream, struct counters *counters)
{
	const struct finished *finished = context;

	if (stream == 0)
		*counters = finished->totals;
	else
		meter_stream(finished->meter, stream, counters);
}

static uint64_t finished_blame(const void *context, uint32_t victim, uint32_t evictor)
{
	const struct finished *finished = context;

	return meter_blame(finished->meter, victim, evictor);
}

/* Are pages kept in generations? The lowest bit is the main switch (mm/vmscan.c, lru_gen_admin). */
static bool has_mglru(void)
{
	char *text = text_file_read("/sys/kernel/mm/lru_gen/enabled");
	bool enabled = text && strtoul(text, NULL, 16) & 1;

	memory_free(text);
	return enabled;
}

static void describe(const struct run *run, struct result *result)
{
	const struct kernel_options *options = run->options;
	struct utsname name;

	result->input = text_copy(run->source->name);
	result->machine = text_copy("kernel");
	if (uname(&name) == 0)
		result->kernel = text_copy(name.release);
	result->has_mglru = has_mglru();
	result->statistics =
		text_copy(options->statistics == KERNEL_STATISTICS_FRESH ? "fresh" : "lazy");
	result->filesystem = text_copy(run->scratch.filesystem);
	result->memory_bytes = options->cgroup_limit_bytes;
	result->is_cgroup = true;
	result->readahead_bytes = run->scratch.options.readahead_bytes;
	result->seed = options->seed;
	result->op_count = run->op_count;
	result->file_count = run->file_count;
}

static void finish(struct run *run, struct result *result)
{
	struct finished finished = {.meter = &run->meter};
	struct stream_map *streams = run->options->streams;
	struct recorder_machine machine = {
		.context = &finished,
		.stream_count = STREAM_COUNT_MAX + 1,
		.counters = finished_counters,
	};

	meter_read(&run->meter, true, &finished.totals);
	machine.known = run->meter.known;
	machine.streams_known = run->meter.streams_known;
	if (machine.known >> COUNTER_reread_bytes & 1)
		machine.blame = finished_blame;
	if (streams)
		recorder_finish(&run->recorder, &machine, stream_map_names(streams),
				stream_map_count(streams), result);
	else
		recorder_finish(&run->recorder, &machine, run->source->stream_names,
				run->source->stream_count, result);
	describe(run, result);
	if (!run->probe)
		result_note(
			result,
			"without tracepoints, misses, evictions and what was read again are not "
			"known: %s",
			run->no_probe.message);
	else if (probe_missing(run->probe)[0])
		result_note(result, "this kernel lacks tracepoints: %s", probe_missing(run->probe));
	meter_notes(&run->meter, result);
}

/* ---- runs ---- */

/* One run from beginning to end. *is_disturbed: it says nothing, do it again. */
static bool run_once(const struct kernel_options *options, struct op_source *source,
		     struct result *result, bool *is_disturbed, struct error *error)
{
	struct run run = {.options = options, .source = source, .scratch.device_fd = -1};
	bool done;

	*result = (struct result){0};
	*is_disturbed = false;
	if (!janitor_start(&run.janitor, error))
		return false;
	run.script = script_create(source->paths);
	recorder_init(&run.recorder);
	done = run_ops(&run, error);
	if (done) {
		finish(&run, result);
		*is_disturbed = meter_is_disturbed(&run.meter);
	}
	meter_stop(&run.meter);
	player_stop(run.player);
	probe_close(run.probe);
	scratch_close(&run.scratch);
	if (run.cgroup.version)
		(void)cgroup_remove(run.cgroup.path);
	recorder_deinit(&run.recorder);
	script_destroy(run.script);
	array_deinit(&run.existing);
	janitor_stop(&run.janitor);
	return done;
}

/* The same, until nobody drops all caches meanwhile. */
static bool run_undisturbed(const struct kernel_options *options,
			    const struct kernel_source *source, struct result *result,
			    struct error *error)
{
	uint32_t attempts = source->is_once ? 1 : KERNEL_ATTEMPTS;
	bool is_disturbed = true;

	for (uint32_t attempt = 1;; attempt++) {
		struct op_source *ops = source->open(source->context, error);
		bool done;

		if (!ops)
			return false;
		done = run_once(options, ops, result, &is_disturbed, error);
		source->close(source->context, ops);
		if (!done)
			return false;
		if (!is_disturbed || attempt == attempts) {
			if (is_disturbed)
				result_note(
					result,
					"somebody dropped all caches of this machine during the "
					"run%s: do not believe it",
					attempts > 1 ? ", each of the times it was tried" : "");
			else if (attempt > 1)
				result_note(
					result,
					"repeated %u time%s, because somebody dropped all caches "
					"of this machine",
					attempt - 1, attempt == 2 ? "" : "s");
			return true;
		}
		result_deinit(result);
	}
}

static int by_read_bytes(const void *a, const void *b)
{
	uint64_t left = ((const struct result *)a)->totals.read_bytes,
		 right = ((const struct result *)b)->totals.read_bytes;

	return (left > right) - (left < right);
}

static void range_add(struct counters *low, struct counters *high, const struct counters *counters)
{
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		uint64_t value = counter_get(counters, id);

		if (value < counter_get(low, id))
			*counter_at(low, id) = value;
		if (value > counter_get(high, id))
			*counter_at(high, id) = value;
	}
}

/* Of several runs: the middle one, and how far they go apart. */
static void runs_sum_up(struct result *runs, size_t count, struct result *result)
{
	qsort(runs, count, sizeof(*runs), by_read_bytes);
	*result = runs[count / 2];
	runs[count / 2] = (struct result){0};
	result->run_count = count;
	if (count > 1) {
		result->low = result->high = result->totals;
		result->marks_low = memory_alloc(result->mark_count + 1, sizeof(struct counters));
		result->marks_high = memory_alloc(result->mark_count + 1, sizeof(struct counters));
		for (size_t m = 0; m < result->mark_count; m++)
			result->marks_low[m] = result->marks_high[m] = result->marks[m].counters;
	}
	for (size_t i = 0; i < count; i++) {
		if (!runs[i].machine)
			continue;
		range_add(&result->low, &result->high, &runs[i].totals);
		for (size_t m = 0; m < result->mark_count && m < runs[i].mark_count; m++)
			range_add(&result->marks_low[m], &result->marks_high[m],
				  &runs[i].marks[m].counters);
		result_deinit(&runs[i]);
	}
}

bool kernel_run(const struct kernel_options *options, const struct kernel_source *source,
		struct result *result, struct error *error)
{
	bool is_lazy = options->statistics == KERNEL_STATISTICS_LAZY;
	size_t count = options->runs                 ? options->runs
		       : is_lazy && !source->is_once ? KERNEL_LAZY_RUNS
						     : 1;
	struct result *runs = memory_alloc(count, sizeof(*runs));
	bool done = true;
	size_t i;

	*result = (struct result){0};
	for (i = 0; done && i < count; i++)
		done = run_undisturbed(options, source, &runs[i], error);
	if (done) {
		runs_sum_up(runs, count, result);
	} else {
		while (i-- > 0)
			result_deinit(&runs[i]);
	}
	memory_free(runs);
	return done;
}
