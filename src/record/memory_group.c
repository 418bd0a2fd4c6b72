#include "record/memory_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { CGROUP1_MAGIC = 0x27e0eb, CGROUP2_MAGIC = 0x63677270 };

static bool text_read(const struct memory_group *group, const char *name, char *text, size_t room)
{
	char path[PATH_MAX + 64];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", group->path, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	bytes = fread(text, 1, room - 1, file);
	fclose(file);
	text[bytes] = '\0';
	return bytes > 0;
}

/* The number in the line "NAME 4096"; 0: there is none. */
static uint64_t field(const char *text, const char *name)
{
	size_t bytes = strlen(name);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (strncmp(text, name, bytes) == 0 && text[bytes] == ' ')
			return strtoull(text + bytes + 1, NULL, 10);
	return 0;
}

/* Shared memory is counted with files, and is none. */
static void sizes_read(struct memory_group *group)
{
	char text[8192];
	uint64_t files, shared;

	group->limit_bytes = UINT64_MAX;
	if (text_read(group, "memory.stat", text, sizeof(text))) {
		files = field(text, group->is_v2 ? "file" : "cache");
		shared = field(text, "shmem");
		group->file_bytes = files > shared ? files - shared : 0;
	}
	if (text_read(group, group->is_v2 ? "memory.max" : "memory.limit_in_bytes", text,
		      sizeof(text)) &&
	    text[0] >= '0' && text[0] <= '9')
		group->limit_bytes = strtoull(text, NULL, 10);
}

/* How many directories of the same file system are above it. */
static uint32_t level_of(const char *path)
{
	char above[PATH_MAX];
	struct stat here, there;
	uint32_t level = 0;
	char *slash;

	snprintf(above, sizeof(above), "%s", path);
	while (stat(above, &here) == 0 && (slash = strrchr(above, '/'))) {
		*slash = '\0';
		if (stat(above[0] ? above : "/", &there) != 0 || there.st_dev != here.st_dev)
			break;
		level++;
	}
	return level;
}

bool memory_group_open(struct memory_group *group, const char *path, struct error *error)
{
	char bytes[sizeof(struct file_handle) + 8], limit[PATH_MAX + 32];
	struct file_handle *handle = (struct file_handle *)(void *)bytes;
	struct statfs status;
	int mount;

	*group = (struct memory_group){0};
	if (!realpath(path, group->path) || statfs(group->path, &status) != 0)
		return error_input(error, "cgroup %.200s: %s", path, strerror(errno));
	if (status.f_type != CGROUP2_MAGIC && status.f_type != CGROUP1_MAGIC)
		return error_input(error,
				   "%.200s is no cgroup's directory, as those below "
				   "/sys/fs/cgroup are",
				   path);
	group->is_v2 = status.f_type == CGROUP2_MAGIC;
	snprintf(limit, sizeof(limit), "%s/memory.usage_in_bytes", group->path);
	if (!group->is_v2 && access(limit, F_OK) != 0)
		return error_input(error,
				   "cgroup %.200s: of version 1, only memory cgroups can be "
				   "recorded",
				   path);
	/* A cgroup's id is what its directory is known by (include/linux/kernfs.h). */
	handle->handle_bytes = sizeof(group->id);
	if (name_to_handle_at(AT_FDCWD, group->path, handle, &mount, 0) != 0)
		return error_system(error, "cannot find the id of cgroup %.200s", path);
	memcpy(&group->id, handle->f_handle, sizeof(group->id));
	group->level = level_of(group->path);
	sizes_read(group);
	return true;
}

/* Where the hierarchy that has memory is mounted. */
static bool hierarchy_find(char root[PATH_MAX], bool *is_v2)
{
	FILE *file = fopen("/proc/self/mounts", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && getline(&line, &room, file) > 0) {
		char point[PATH_MAX], type[64], options[1024];

		if (sscanf(line, "%*s %4095s %63s %1023s", point, type, options) != 3)
			continue;
		if (strcmp(type, "cgroup") == 0 && strstr(options, "memory")) {
			*is_v2 = false;
			found = true;
			snprintf(root, PATH_MAX, "%s", point);
			break;
		}
		if (strcmp(type, "cgroup2") == 0) {
			*is_v2 = true;
			found = true;
			snprintf(root, PATH_MAX, "%s", point);
		}
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

bool memory_group_of_process(struct memory_group *group, pid_t process)
{
	char root[PATH_MAX], path[2 * PATH_MAX], name[64], *line = NULL, *inside;
	size_t room = 0;
	bool is_v2, found = false;
	struct error error;
	FILE *file;

	if (!hierarchy_find(root, &is_v2))
		return false;
	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)process);
	file = fopen(name, "re");
	/* "4:memory:/a/b", "0::/a/b": cgroups(7). */
	while (file && !found && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		inside = is_v2 ? (strncmp(line, "0::", 3) == 0 ? line + 3 : NULL)
			       : strstr(line, ":memory:");
		if (!inside)
			continue;
		snprintf(path, sizeof(path), "%s%s", root, is_v2 ? inside : inside + 8);
		found = true;
	}
	free(line);
	if (file)
		fclose(file);
	return found && memory_group_open(group, path, &error);
}
