#include "study/roundtrip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "machine/kernel/cgroup.h"
#include "machine/kernel/janitor.h"
#include "machine/kernel/scratch.h"
#include "op/trace.h"

#define IMAGE_BYTES (8 * GIB)

struct run {
	const struct roundtrip_options *options;
	struct janitor janitor;
	struct scratch scratch;
	struct cgroup cgroup;
	char trace[PATH_MAX + 16];
};

/* ---- what the device did ---- */

struct device_counts {
	uint64_t read_bytes, written_bytes;
};

static bool device_read(const struct run *run, struct device_counts *counts, struct error *error)
{
	char path[64], text[512];
	uint64_t sectors_read, sectors_written;
	ssize_t bytes;
	int fd;

	/* Documentation/block/stat.rst: reads, merged, sectors, ms, writes, merged, sectors. */
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", run->scratch.block_major,
		 run->scratch.block_minor);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (bytes <= 0)
		return error_system(error, "cannot read %s", path);
	text[bytes] = '\0';
	if (sscanf(text, "%*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, &sectors_read,
		   &sectors_written) != 2)
		return error_failed(error, "%s is not as it should be", path);
	*counts = (struct device_counts){sectors_read * 512, sectors_written * 512};
	return true;
}

/* ---- the machine ---- */

static bool setup_run(const struct run *run, struct error *error)
{
	int status = 0;
	pid_t pid;

	if (!run->options->setup)
		return true;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (chdir(run->scratch.root) == 0)
			execl("/bin/sh", "sh", "-c", run->options->setup, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	return error_failed(error, "--setup ended with %d",
			    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Commands that are run as somebody else must get through to the mount point. */
static void way_open(const char *mountpoint)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", mountpoint);
	for (int i = 0; i < 3; i++) {
		(void)chmod(path, 0711);
		*strrchr(path, '/') = '\0';
	}
}

static bool machine_open(struct run *run, struct error *error)
{
	const struct model_options *model = &run->options->model;
	const struct scratch_options scratch = {
		.filesystem = filesystem_name(model->filesystem),
		.image_directory = run->options->image_directory,
		.image_bytes = run->options->image_bytes ? run->options->image_bytes : IMAGE_BYTES,
		.file_count = 1000000,
		.readahead_bytes = model->readahead_bytes ? model->readahead_bytes : 128 * KIB,
	};
	char root[PATH_MAX + 8];

	if (!janitor_start(&run->janitor, error))
		return false;
	way_open(run->janitor.mountpoint);
	if (!scratch_open(&run->scratch, &scratch, run->janitor.mountpoint, error))
		return false;
	if (!setup_run(run, error) || !scratch_cool(&run->scratch, run->janitor.mountpoint, error))
		return false;
	snprintf(root, sizeof(root), "%s", run->janitor.name);
	if (!cgroup_create(&run->cgroup, root, model->memory_bytes, error))
		return false;
	return janitor_note(&run->janitor, JANITOR_CGROUP, run->cgroup.path, error);
}

static void machine_close(struct run *run)
{
	if (run->cgroup.version)
		cgroup_remove(run->cgroup.path);
	scratch_close(&run->scratch);
	janitor_stop(&run->janitor);
}

static bool join(void *context, pid_t command, struct error *error)
{
	const struct run *run = context;

	return cgroup_join(&run->cgroup, command, error);
}

/* ---- the three steps ---- */

static bool record_it(struct run *run, struct roundtrip *roundtrip, struct error *error)
{
	const struct roundtrip_options *options = run->options;
	struct stream_map *streams = stream_map_create(STREAM_BY_CLASS);
	const struct record_options record_options = {
		.command = options->command,
		.trace = run->trace,
		.streams = streams,
		.device = run->scratch.major << 20 | run->scratch.minor,
		.root = run->scratch.root,
		.prepare = join,
		.context = run,
		.directory = run->scratch.root,
		.interrupted = options->interrupted,
	};
	struct device_counts before, after;
	bool done;

	done = device_read(run, &before, error) &&
	       record(&record_options, &roundtrip->summary, error) &&
	       device_read(run, &after, error);
	stream_map_destroy(streams);
	if (!done)
		return false;
	roundtrip->device_read_bytes = after.read_bytes - before.read_bytes;
	roundtrip->device_written_bytes = after.written_bytes - before.written_bytes;
	return true;
}

static bool replay_it(const struct run *run, struct roundtrip *roundtrip, struct error *error)
{
	struct op_source *source = trace_open(run->trace, NULL, error);
	bool done;

	if (!source)
		return false;
	done = model_run(&run->options->model, source, &roundtrip->predicted, error);
	op_source_destroy(source);
	return done;
}

static void measured_fill(const struct run *run, struct roundtrip *roundtrip)
{
	struct result *measured = &roundtrip->measured;
	struct utsname name;

	measured->input = text_copy(run->options->command[0]);
	measured->machine = text_copy("kernel");
	measured->filesystem = text_copy(run->scratch.filesystem);
	measured->memory_bytes = run->options->model.memory_bytes;
	measured->is_cgroup = true;
	measured->run_count = 1;
	if (uname(&name) == 0)
		measured->kernel = text_copy(name.release);
	measured->known = UINT64_C(1) << COUNTER_read_bytes;
	measured->totals.read_bytes = roundtrip->device_read_bytes;
}

bool roundtrip_run(const struct roundtrip_options *options, struct roundtrip *roundtrip,
		   struct error *error)
{
	struct run run = {.options = options};
	bool done;

	*roundtrip = (struct roundtrip){0};
	done = machine_open(&run, error);
	if (done) {
		snprintf(run.trace, sizeof(run.trace), "%s/trace.rft", run.janitor.folder);
		if (options->trace)
			snprintf(run.trace, sizeof(run.trace), "%s", options->trace);
		done = record_it(&run, roundtrip, error);
	}
	if (done) {
		measured_fill(&run, roundtrip);
		done = replay_it(&run, roundtrip, error);
	}
	if (!options->trace && run.trace[0])
		unlink(run.trace);
	machine_close(&run);
	return done;
}

void roundtrip_deinit(struct roundtrip *roundtrip)
{
	record_summary_deinit(&roundtrip->summary);
	result_deinit(&roundtrip->predicted);
	result_deinit(&roundtrip->measured);
}
