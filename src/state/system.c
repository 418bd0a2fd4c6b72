#include "state/system.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"

enum { PATH_MAX_BYTES = 4096 + 64, LOOP_DEVICES_MAX = 256 };

static const char *const system_files[] = {
	"/proc/version",
	"/proc/uptime",
	"/proc/meminfo",
	"/proc/vmstat",
	"/proc/slabinfo",
	"/proc/sys/fs/dentry-state",
	"/proc/sys/fs/inode-state",
	"/proc/zoneinfo",
	"/proc/buddyinfo",
	"/proc/pressure/memory",
	"/proc/pressure/io",
	"/proc/pressure/cpu",
	"/proc/stat",
	"/proc/spl/kstat/zfs/arcstats",
	"/proc/sys/vm/dirty_ratio",
	"/proc/sys/vm/dirty_background_ratio",
	"/proc/sys/vm/swappiness",
	"/proc/sys/vm/vfs_cache_pressure",
	"/proc/sys/vm/zone_reclaim_mode",
	"/sys/kernel/mm/lru_gen/enabled",
};

/* Of these, what is looked at again and again: figures that change, and cost little to read. */
static const char *const changing_files[] = {
	"/proc/meminfo",
	"/proc/vmstat",
	"/proc/slabinfo",
	"/proc/sys/fs/dentry-state",
	"/proc/sys/fs/inode-state",
};

static const char *const cgroup_files[] = {
	"memory.stat",           "memory.events",
	"memory.current",        "memory.max",
	"memory.high",           "memory.swap.current",
	"memory.swap.max",       "memory.pressure",
	"io.pressure",           "cgroup.stat",
	"memory.usage_in_bytes", "memory.limit_in_bytes",
	"memory.failcnt",        "memory.kmem.usage_in_bytes",
	"memory.oom_control",    "memory.swappiness",
};

struct reading {
	struct state *state;
	uint64_t time_ns;
	FILE *copy;
};

typedef ARRAY(char) text;

/* All of a file, whose size /proc does not tell. False: errno says why. */
static bool file_read(const char *path, text *into)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[16384];
	ssize_t got;

	if (fd < 0)
		return false;
	while ((got = read(fd, bytes, sizeof(bytes))) > 0 && into->count < STATE_FILE_BYTES_MAX) {
		for (ssize_t i = 0; i < got; i++)
			*array_push(into) = bytes[i];
	}
	if (got < 0) {
		int number = errno;

		close(fd);
		errno = number;
		return false;
	}
	close(fd);
	return true;
}

static bool text_read(struct reading *reading, const char *name, const char *bytes, size_t count,
		      struct error *error)
{
	if (reading->copy) {
		fprintf(reading->copy, "==> t=%" PRIu64 ".%03" PRIu64 " %s <==\n",
			reading->time_ns / NS_PER_SECOND,
			reading->time_ns % NS_PER_SECOND / NS_PER_MS, name);
		fwrite(bytes, 1, count, reading->copy);
		if (count && bytes[count - 1] != '\n')
			fputc('\n', reading->copy);
	}
	return state_read_text(reading->state, name, bytes, count, CLOCK_OURS, reading->time_ns,
			       error);
}

/* What there is not is left out; *found: it was there. */
static bool named_read(struct reading *reading, const char *path, bool *found, struct error *error)
{
	text bytes = {0};
	bool done = true;

	*found = false;
	if (file_read(path, &bytes)) {
		*found = bytes.count > 0;
		if (*found)
			done = text_read(reading, path, bytes.at, bytes.count, error);
	} else if ((errno == EACCES || errno == EPERM) && reading->time_ns == 0) {
		state_note(reading->state, "%s can be read by root alone", path);
	}
	array_deinit(&bytes);
	return done;
}

/* ---- loop devices, as losetup lists them ---- */

static void line_append(text *to, const char *line)
{
	for (; *line; line++)
		*array_push(to) = *line;
}

/* The first line of a file below /sys/block/loopN; false: it is not there. */
static bool loop_attribute(int number, const char *name, char *value, size_t bytes)
{
	char path[128];
	text content = {0};
	size_t count;

	snprintf(path, sizeof(path), "/sys/block/loop%d/loop/%s", number, name);
	if (!file_read(path, &content)) {
		array_deinit(&content);
		return false;
	}
	for (count = 0; count < content.count && count + 1 < bytes; count++) {
		if (content.at[count] == '\n')
			break;
		value[count] = content.at[count];
	}
	value[count] = '\0';
	array_deinit(&content);
	return count > 0;
}

static bool loops_read(struct reading *reading, struct error *error)
{
	text list = {0};
	bool any = false, done = true;

	line_append(&list, "NAME BACK-FILE DIO\n");
	for (int number = 0; number < LOOP_DEVICES_MAX; number++) {
		char file[512], dio[8], line[600];

		if (!loop_attribute(number, "backing_file", file, sizeof(file)) ||
		    !loop_attribute(number, "dio", dio, sizeof(dio)))
			continue;
		snprintf(line, sizeof(line), "/dev/loop%d %s %s\n", number, file, dio);
		line_append(&list, line);
		any = true;
	}
	if (any)
		done = text_read(reading, "losetup", list.at, list.count, error);
	array_deinit(&list);
	return done;
}

/* ---- cgroups ---- */

bool system_cgroup_folder(const char *cgroup, char *folder, size_t bytes)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/memory",
					    "/sys/fs/cgroup/unified"};
	char path[PATH_MAX_BYTES];

	if (strncmp(cgroup, roots[0], strlen(roots[0])) == 0) {
		snprintf(folder, bytes, "%s", cgroup);
		snprintf(path, sizeof(path), "%s/memory.stat", folder);
		return access(path, F_OK) == 0;
	}
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(folder, bytes, "%s%s%s", roots[i], cgroup[0] == '/' ? "" : "/", cgroup);
		snprintf(path, sizeof(path), "%s/memory.stat", folder);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool cgroup_read(struct reading *reading, const char *cgroup, struct error *error)
{
	char folder[PATH_MAX_BYTES - 64], path[PATH_MAX_BYTES];
	size_t length;

	if (strlen(cgroup) > 3000 || !system_cgroup_folder(cgroup, folder, sizeof(folder)))
		return error_input(
			error,
			"no memory cgroup %.200s: expected a path below /sys/fs/cgroup in "
			"which there is a memory.stat",
			cgroup);
	length = strlen(folder);
	while (length > 1 && folder[length - 1] == '/')
		folder[--length] = '\0';
	for (size_t i = 0; i < sizeof(cgroup_files) / sizeof(cgroup_files[0]); i++) {
		bool found;

		snprintf(path, sizeof(path), "%s/%s", folder, cgroup_files[i]);
		if (!named_read(reading, path, &found, error))
			return false;
	}
	return true;
}

static bool files_read(struct reading *reading, const char *const *files, size_t count,
		       struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		bool found;

		if (!named_read(reading, files[i], &found, error))
			return false;
		if (!found && strcmp(files[i], "/proc/meminfo") == 0)
			return error_failed(error, "cannot read /proc/meminfo: is /proc mounted?");
	}
	return true;
}

bool system_read(struct state *state, const char *cgroup, uint64_t time_ns, FILE *copy,
		 struct error *error)
{
	struct reading reading = {.state = state, .time_ns = time_ns, .copy = copy};

	return files_read(&reading, system_files, sizeof(system_files) / sizeof(system_files[0]),
			  error) &&
	       loops_read(&reading, error) && (!cgroup || cgroup_read(&reading, cgroup, error));
}

bool system_read_changing(struct state *state, const char *cgroup, struct error *error)
{
	struct reading reading = {.state = state};

	return files_read(&reading, changing_files,
			  sizeof(changing_files) / sizeof(changing_files[0]), error) &&
	       (!cgroup || cgroup_read(&reading, cgroup, error));
}
