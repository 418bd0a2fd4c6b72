/*
 * prepare: all that a run needs before its first op, and what goes wrong
 */
#include "machine/kernel/kernel_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size.h"
#include "machine/kernel/probe.h"
#include "op/path.h"

#define IMAGE_BYTES_MIN   (6 * GIB)
#define READAHEAD_DEFAULT (128 * KIB)

/* ---- errors ---- */

bool run_op_error(struct run *run, const struct op *op, struct error *error, const char *what)
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
bool run_player_error(struct run *run, struct error *error)
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
	return run_op_error(run,
			    &(struct op){.kind = (uint8_t)failure.op_kind,
					 .path = failure.path,
					 .line = failure.line},
			    error, strerror(failure.errno_value));
}

/* ---- what is there before the start ---- */

bool run_exists(struct run *run, const struct op *op, struct error *error)
{
	if (run->has_begun)
		return run_op_error(run, op, error,
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
		return run_op_error(run, &op, error,
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

static bool files_make(struct run *run, struct error *error)
{
	char made[2 * PATH_MAX] = "";
	char *zeros = memory_alloc(MIB, 1);
	bool done = true;

	for (size_t i = 0; done && i < run->existing.count; i++) {
		done = run_is_interrupted(run)
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
		.worker_count = run_is_concurrent(run) ? run->source->thread_count : 1,
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
bool run_begin(struct run *run, struct error *error)
{
	run->has_begun = true;
	if (!scratch_make(run, error) || !files_make(run, error) || !cgroup_make(run, error))
		return false;
	probe_make(run);
	return player_make(run, error) && pin(run, error) && probe_begin(run, error) &&
	       meter_start(&run->meter, &run->cgroup, run->player, run->probe,
			   run->options->pinned_bytes, error);
}
