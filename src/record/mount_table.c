#include "record/mount_table.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

struct mount {
	uint32_t device;  /* as the kernel encodes it: major << 20 | minor */
	const char *root; /* of the file system, what is mounted: "/" */
	const char *at;   /* where */
	const char *filesystem;
	bool is_recorded;
};

struct mount_table {
	int fd; /* of mountinfo: tells of changes */
	ARRAY(struct mount) all;
	struct arena texts;
};

/* File systems that hold nothing, or hold it in memory alone. */
static const char *const in_memory[] = {
	"proc",     "sysfs",  "tmpfs",      "devtmpfs", "devpts",    "ramfs",       "cgroup",
	"cgroup2",  "mqueue", "securityfs", "debugfs",  "tracefs",   "bpf",         "pstore",
	"efivarfs", "autofs", "hugetlbfs",  "configfs", "fusectl",   "binfmt_misc", "nsfs",
	"pipefs",   "sockfs", "rpc_pipefs", "nfsd",     "selinuxfs",
};

static bool is_in_memory(const char *filesystem)
{
	for (size_t i = 0; i < sizeof(in_memory) / sizeof(in_memory[0]); i++)
		if (strcmp(in_memory[i], filesystem) == 0)
			return true;
	return false;
}

/* "\040" and its like, in place. */
static char *unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return text;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": proc(5). */
static void line_take(struct mount_table *mounts, char *line)
{
	unsigned int major, minor;
	char *fields[6], *rest = line, *dash;
	struct mount *mount;

	for (int i = 0; i < 6; i++) {
		fields[i] = strsep(&rest, " ");
		if (!fields[i] || !rest)
			return;
	}
	dash = strncmp(rest, "- ", 2) == 0 ? rest : strstr(rest, " - ");
	if (!dash || sscanf(fields[2], "%u:%u", &major, &minor) != 2)
		return;
	rest = strchr(dash, '-') + 2;
	mount = array_push(&mounts->all);
	unescape(fields[3]);
	unescape(fields[4]);
	mount->device = major << 20 | minor;
	mount->root = arena_text(&mounts->texts, fields[3], strlen(fields[3]));
	mount->at = arena_text(&mounts->texts, fields[4], strlen(fields[4]));
	mount->filesystem = arena_text(&mounts->texts, rest, strcspn(rest, " \n"));
	mount->is_recorded = !is_in_memory(mount->filesystem);
}

static void read_all(struct mount_table *mounts)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;

	mounts->all.count = 0;
	arena_deinit(&mounts->texts);
	while (file && getline(&line, &room, file) > 0)
		line_take(mounts, line);
	free(line);
	if (file)
		fclose(file);
}

struct mount_table *mount_table_open(struct error *error)
{
	struct mount_table *mounts = memory_alloc(1, sizeof(*mounts));

	mounts->fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (mounts->fd < 0) {
		error_system(error, "cannot read /proc/self/mountinfo");
		memory_free(mounts);
		return NULL;
	}
	read_all(mounts);
	return mounts;
}

void mount_table_close(struct mount_table *mounts)
{
	if (!mounts)
		return;
	close(mounts->fd);
	array_deinit(&mounts->all);
	arena_deinit(&mounts->texts);
	memory_free(mounts);
}

void mount_table_refresh(struct mount_table *mounts)
{
	struct pollfd event = {.fd = mounts->fd, .events = POLLPRI};

	if (poll(&event, 1, 0) > 0 && event.revents & (POLLPRI | POLLERR))
		read_all(mounts);
}

/* Is `path` `above`, or in it? Then how much of it `above` is. */
static bool is_below(const char *path, const char *above, size_t *bytes)
{
	*bytes = strcmp(above, "/") == 0 ? 0 : strlen(above);
	return strncmp(path, above, *bytes) == 0 && (path[*bytes] == '/' || path[*bytes] == '\0');
}

/* The mount that shows most of the file system, or all of it; the latest of equals. */
static const struct mount *mount_of(const struct mount_table *mounts, uint32_t device,
				    const char *path, size_t *root_bytes)
{
	const struct mount *best = NULL;
	size_t bytes;

	for (size_t i = 0; i < mounts->all.count; i++) {
		const struct mount *mount = &mounts->all.at[i];

		if (mount->device != device || !is_below(path, mount->root, &bytes))
			continue;
		if (best && bytes > *root_bytes)
			continue;
		best = mount;
		*root_bytes = bytes;
	}
	return best;
}

size_t mount_table_path(const struct mount_table *mounts, uint32_t device, const char *names,
			size_t bytes, char *path, size_t room)
{
	char inside[8192];
	size_t at = sizeof(inside) - 1, root_bytes = 0;
	const struct mount *mount;
	int written;

	inside[at] = '\0';
	for (size_t i = 0; i < bytes;) {
		size_t length = strnlen(names + i, bytes - i);

		if (at < length + 1)
			break;
		at -= length;
		memcpy(inside + at, names + i, length);
		inside[--at] = '/';
		i += length + 1;
	}
	mount = mount_of(mounts, device, inside + at, &root_bytes);
	if (mount)
		written = snprintf(path, room, "%s%s", strcmp(mount->at, "/") == 0 ? "" : mount->at,
				   inside + at + root_bytes);
	else
		written = snprintf(path, room, "/[%u:%u]%s", device >> 20, device & 0xfffff,
				   inside + at);
	if (written == 0)
		written = snprintf(path, room, "/");
	return (size_t)written < room ? (size_t)written : room - 1;
}

/* The one that this path is in; NULL: none. */
static const struct mount *mount_at(const struct mount_table *mounts, const char *path)
{
	const struct mount *best = NULL;
	size_t best_bytes = 0, bytes;

	for (size_t i = 0; i < mounts->all.count; i++) {
		const struct mount *mount = &mounts->all.at[i];

		if (!is_below(path, mount->at, &bytes) || (best && bytes < best_bytes))
			continue;
		best = mount;
		best_bytes = bytes;
	}
	return best;
}

bool mount_table_is_recorded(const struct mount_table *mounts, const char *path)
{
	const struct mount *mount = mount_at(mounts, path);

	return !mount || mount->is_recorded;
}

bool mount_table_device(const struct mount_table *mounts, const char *path, uint32_t *device)
{
	const struct mount *mount = mount_at(mounts, path);

	if (mount)
		*device = mount->device;
	return mount != NULL;
}

const char *mount_table_filesystem(const struct mount_table *mounts, uint32_t device)
{
	for (size_t i = 0; i < mounts->all.count; i++)
		if (mounts->all.at[i].device == device)
			return mounts->all.at[i].filesystem;
	return NULL;
}
