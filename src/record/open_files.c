#include "record/open_files.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "record/lookup.h"
#include "record/mount_table.h"
#include "record/residency.h"

struct finding {
	struct open_files *files;
	const struct mount_table *mounts;
	const uint32_t *device;
	struct lookup seen; /* device and inode, as stat() tells them */
	uint64_t end_ns;    /* no more are looked at */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

bool open_files_may_hang(const char *filesystem)
{
	static const char *const remote[] = {"nfs", "cifs", "smb",    "fuse", "ceph",
					     "9p",  "afs",  "lustre", "gfs2", "ocfs2"};

	for (size_t i = 0; filesystem && i < sizeof(remote) / sizeof(remote[0]); i++)
		if (strncmp(filesystem, remote[i], strlen(remote[i])) == 0)
			return true;
	return false;
}

/* A path that a process has: is it what we have there, and do we want it? */
static void path_take(struct finding *finding, const char *path)
{
	struct stat status;
	struct lookup_key key;
	struct residency residency;
	uint32_t device;

	if (path[0] != '/' || finding->seen.count >= OPEN_FILES_LOOKED_AT ||
	    now_ns() >= finding->end_ns || !mount_table_is_recorded(finding->mounts, path) ||
	    !mount_table_device(finding->mounts, path, &device) ||
	    (finding->device && *finding->device != device) ||
	    open_files_may_hang(mount_table_filesystem(finding->mounts, device)))
		return;
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	key = (struct lookup_key){status.st_dev, status.st_ino};
	if (lookup_get(&finding->seen, key) != LOOKUP_NONE)
		return;
	lookup_put(&finding->seen, key, 0);
	if (!residency_look(&residency, path, status.st_ino) || !residency.pages)
		return;
	*array_push(&finding->files->all) = (struct open_file){
		.path = arena_text(&finding->files->texts, path, strlen(path)),
		.ino = status.st_ino,
		.size = (uint64_t)status.st_size,
		.device = device,
		.pages = residency.pages,
	};
}

static void descriptors_take(struct finding *finding, const char *process)
{
	char folder[64], link[PATH_MAX];
	struct dirent *entry;
	DIR *list;

	snprintf(folder, sizeof(folder), "/proc/%.20s/fd", process);
	list = opendir(folder);
	while (list && (entry = readdir(list))) {
		ssize_t bytes = readlinkat(dirfd(list), entry->d_name, link, sizeof(link) - 1);

		link[bytes > 0 ? bytes : 0] = '\0';
		path_take(finding, link);
	}
	if (list)
		closedir(list);
}

/* "55f0-55f1 r-xp 00000000 fe:00 123 /usr/bin/cat": proc(5). Neighbours are mostly of one file. */
static void mappings_take(struct finding *finding, const char *process)
{
	char path[64], last[PATH_MAX] = "", *line = NULL, *name;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", process);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		name = strchr(line, '/');
		if (!name)
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (strlen(name) >= sizeof(last) || strcmp(name, last) == 0)
			continue;
		strcpy(last, name);
		path_take(finding, name);
	}
	free(line);
	if (file)
		fclose(file);
}

static void process_take(struct finding *finding, const char *process)
{
	descriptors_take(finding, process);
	mappings_take(finding, process);
}

static void all_take(struct finding *finding)
{
	DIR *list = opendir("/proc");
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			process_take(finding, entry->d_name);
	if (list)
		closedir(list);
}

/* The processes of a cgroup, and of those below it. */
static void cgroup_take(struct finding *finding, const char *folder, int depth)
{
	char path[PATH_MAX], process[32];
	struct dirent *entry;
	FILE *file;
	DIR *list;

	snprintf(path, sizeof(path), "%.3800s/cgroup.procs", folder);
	file = fopen(path, "re");
	while (file && fscanf(file, "%31s", process) == 1)
		process_take(finding, process);
	if (file)
		fclose(file);
	list = depth < 32 ? opendir(folder) : NULL;
	while (list && (entry = readdir(list))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.3800s/%.255s", folder, entry->d_name);
		cgroup_take(finding, path, depth + 1);
	}
	if (list)
		closedir(list);
}

static int most_first(const void *a, const void *b)
{
	const struct open_file *one = a, *other = b;

	if (one->pages != other->pages)
		return one->pages > other->pages ? -1 : 1;
	return strcmp(one->path, other->path);
}

void open_files_find(struct open_files *files, const struct mount_table *mounts,
		     const uint32_t *device, const char *cgroup)
{
	struct finding finding = {.files = files, .mounts = mounts, .device = device};

	*files = (struct open_files){0};
	finding.end_ns = now_ns() + NS_PER_SECOND / 2;
	if (cgroup)
		cgroup_take(&finding, cgroup, 0);
	else
		all_take(&finding);
	lookup_deinit(&finding.seen);
	if (files->all.count)
		qsort(files->all.at, files->all.count, sizeof(*files->all.at), most_first);
	if (files->all.count > OPEN_FILES_KEPT)
		files->all.count = OPEN_FILES_KEPT;
}

void open_files_deinit(struct open_files *files)
{
	array_deinit(&files->all);
	arena_deinit(&files->texts);
}
