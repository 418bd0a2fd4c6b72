#include "machine/kernel/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "machine/kernel/mounts.h"
#include "machine/kernel/text_file.h"

/* ---- where the controller is ---- */

static bool has_word(const char *list, const char *word, const char *between)
{
	size_t bytes = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += bytes) {
		bool begins = at == list || strchr(between, at[-1]);
		bool ends = at[bytes] == '\0' || strchr(between, at[bytes]);

		if (begins && ends)
			return true;
	}
	return false;
}

/* The directory of the controller's root, and the version; 0: there is none. */
static int hierarchy_find(char root[PATH_MAX])
{
	struct mounts mounts;
	struct mount mount;
	int version = 0;

	mounts_open(&mounts);
	while (version != 1 && mounts_next(&mounts, &mount)) {
		char path[PATH_MAX + 32], *controllers;

		if (strcmp(mount.type, "cgroup") == 0 && has_word(mount.options, "memory", ",")) {
			version = 1;
			strcpy(root, mount.point);
		} else if (strcmp(mount.type, "cgroup2") == 0) {
			snprintf(path, sizeof(path), "%s/cgroup.controllers", mount.point);
			controllers = text_file_read(path);
			if (controllers && has_word(controllers, "memory", " \n")) {
				version = 2;
				strcpy(root, mount.point);
			}
			memory_free(controllers);
		}
	}
	mounts_close(&mounts);
	return version;
}

/* ---- making one ---- */

static void file_of(const struct cgroup *cgroup, const char *name, char path[PATH_MAX + 64])
{
	snprintf(path, PATH_MAX + 64, "%s/%s", cgroup->path, name);
}

static bool set(const struct cgroup *cgroup, const char *name, const char *value,
		struct error *error)
{
	char path[PATH_MAX + 64];

	file_of(cgroup, name, path);
	return text_file_write(path, value) ||
	       error_system(error, "cannot write %s to %s", value, path);
}

/* What is set where it exists, and does not matter where not. */
static void set_if_there(const struct cgroup *cgroup, const char *name, const char *value)
{
	char path[PATH_MAX + 64];

	file_of(cgroup, name, path);
	(void)text_file_write(path, value);
}

static bool limits_set(const struct cgroup *cgroup, uint64_t limit_bytes, struct error *error)
{
	char value[32];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)limit_bytes);
	if (cgroup->version == 1) {
		set_if_there(cgroup, "memory.swappiness", "0");
		return set(cgroup, "memory.limit_in_bytes", value, error);
	}
	set_if_there(cgroup, "memory.swap.max", "0");
	return set(cgroup, "memory.max", value, error);
}

bool cgroup_create(struct cgroup *cgroup, const char *name, uint64_t limit_bytes,
		   struct error *error)
{
	char root[PATH_MAX] = "", control[PATH_MAX + 32];
	int version = hierarchy_find(root);

	*cgroup = (struct cgroup){0};
	if (version == 0)
		return error_failed(error,
				    "this machine has no memory cgroups: neither a version 1 "
				    "hierarchy with the memory controller nor a cgroup2 with "
				    "it is mounted (mount -t cgroup2 none /sys/fs/cgroup)");
	if (version == 2) {
		snprintf(control, sizeof(control), "%s/cgroup.subtree_control", root);
		(void)text_file_write(control, "+memory");
	}
	if (snprintf(cgroup->path, sizeof(cgroup->path), "%s/%s", root, name) >= PATH_MAX)
		return error_failed(error, "%.80s...: the path is too long", root);
	if (mkdir(cgroup->path, 0755) != 0) {
		error_system(error, "cannot make the memory cgroup %s", cgroup->path);
		if (errno == EACCES || errno == EPERM || errno == EROFS)
			error_context(error, "running on the kernel needs root");
		return false;
	}
	cgroup->version = version;
	if (limits_set(cgroup, limit_bytes, error))
		return true;
	cgroup_remove(cgroup->path);
	*cgroup = (struct cgroup){0};
	return false;
}

bool cgroup_join(const struct cgroup *cgroup, pid_t pid, struct error *error)
{
	char value[32];

	snprintf(value, sizeof(value), "%d", (int)pid);
	return set(cgroup, "cgroup.procs", value, error);
}

/* ---- reading it ---- */

void cgroup_statistics_path(const struct cgroup *cgroup, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/memory.stat", PATH_MAX - 64, cgroup->path);
}

static uint64_t value_of(const struct cgroup *cgroup, const char *name)
{
	char path[PATH_MAX + 64];
	uint64_t value;

	file_of(cgroup, name, path);
	return text_file_number(path, &value) ? value : CGROUP_UNKNOWN;
}

static uint64_t field_of(const char *text, const char *name)
{
	uint64_t value;

	return text && text_field(text, name, &value) ? value : CGROUP_UNKNOWN;
}

static void stat_read(const struct cgroup *cgroup, struct cgroup_stat *stat)
{
	char path[PATH_MAX], *text;
	bool first = cgroup->version == 1;

	cgroup_statistics_path(cgroup, path);
	text = text_file_read(path);
	stat->active_file = field_of(text, "active_file");
	stat->inactive_file = field_of(text, "inactive_file");
	stat->dirty = field_of(text, first ? "dirty" : "file_dirty");
	stat->writeback = field_of(text, first ? "writeback" : "file_writeback");
	stat->anonymous = field_of(text, first ? "rss" : "anon");
	stat->refaults = field_of(text, "workingset_refault_file");
	stat->refault_activations = field_of(text, "workingset_activate_file");
	if (!first)
		stat->kernel_bytes = field_of(text, "kernel");
	memory_free(text);
}

void cgroup_read(const struct cgroup *cgroup, bool sums, struct cgroup_stat *stat)
{
	char path[PATH_MAX + 64], *text;

	memset(stat, 0xff, sizeof(*stat)); /* CGROUP_UNKNOWN */
	if (sums)
		stat_read(cgroup, stat);
	if (cgroup->version == 1) {
		stat->kernel_bytes = value_of(cgroup, "memory.kmem.usage_in_bytes");
		stat->usage_bytes = value_of(cgroup, "memory.usage_in_bytes");
		file_of(cgroup, "memory.oom_control", path);
	} else {
		stat->usage_bytes = value_of(cgroup, "memory.current");
		file_of(cgroup, "memory.events", path);
	}
	text = text_file_read(path);
	stat->oom_kills = field_of(text, "oom_kill");
	memory_free(text);
}

/* ---- its end ---- */

static void processes_kill(const char *path)
{
	char procs[PATH_MAX + 32], *text, *rest, *line;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	rest = text = text_file_read(procs);
	while ((line = strsep(&rest, "\n")) != NULL)
		if (atoi(line) > 0)
			kill(atoi(line), SIGKILL);
	memory_free(text);
}

bool cgroup_remove(const char *path)
{
	for (int tries = 0; tries < 200; tries++) {
		const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

		if (rmdir(path) == 0 || errno == ENOENT)
			return true;
		if (errno != EBUSY)
			return false;
		processes_kill(path);
		nanosleep(&pause, NULL);
	}
	return false;
}
