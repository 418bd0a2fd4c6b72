#include "machine/kernel/initramfs.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/kernel/program.h"

/* What the header of an entry says beyond what is the same in all of ours. */
struct entry {
	const char *path;
	unsigned mode; /* with the file's type */
	unsigned links;
	uint64_t bytes; /* of the contents */
	unsigned device_major, device_minor;
};

bool initramfs_init(struct initramfs *initramfs, int fd, struct error *error)
{
	int ours = dup(fd);

	*initramfs = (struct initramfs){0};
	if (ours < 0)
		return error_system(error, "cannot write an initramfs");
	initramfs->file = fdopen(ours, "wb");
	if (initramfs->file)
		return true;
	error_system(error, "cannot write an initramfs");
	close(ours);
	return false;
}

void initramfs_deinit(struct initramfs *initramfs)
{
	if (initramfs->file)
		fclose(initramfs->file);
	array_deinit(&initramfs->present);
	arena_deinit(&initramfs->names);
	*initramfs = (struct initramfs){0};
}

/* ---- the format ---- */

static bool bytes_write(struct initramfs *initramfs, const void *from, size_t bytes,
			struct error *error)
{
	initramfs->bytes += bytes;
	if (fwrite(from, 1, bytes, initramfs->file) == bytes)
		return true;
	return error_system(error, "cannot write an initramfs");
}

static bool pad(struct initramfs *initramfs, struct error *error)
{
	static const char zeros[3];

	return bytes_write(initramfs, zeros, -initramfs->bytes & 3, error);
}

static bool header_write(struct initramfs *initramfs, const struct entry *entry,
			 struct error *error)
{
	enum { HEADER_BYTES = 6 + 13 * 8 };
	size_t name_bytes = strlen(entry->path) + 1;
	char header[HEADER_BYTES + 1];

	if (entry->bytes > UINT32_MAX)
		return error_failed(error, "%s is too large for an initramfs", entry->path);
	/*
	 * magic, inode, mode, uid, gid, links, mtime, bytes, device of the file, of the node, name,
	 * checksum (unused)
	 */
	snprintf(header, sizeof(header),
		 "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		 ++initramfs->inode_last, entry->mode, 0U, 0U, entry->links, 0U,
		 (unsigned)entry->bytes, 0U, 0U, entry->device_major, entry->device_minor,
		 (unsigned)name_bytes, 0U);
	return bytes_write(initramfs, header, HEADER_BYTES, error) &&
	       bytes_write(initramfs, entry->path, name_bytes, error) && pad(initramfs, error);
}

/* ---- names ---- */

static bool is_present(const struct initramfs *initramfs, const char *path, size_t bytes)
{
	for (size_t i = 0; i < initramfs->present.count; i++) {
		if (strncmp(initramfs->present.at[i], path, bytes) == 0 &&
		    initramfs->present.at[i][bytes] == '\0')
			return true;
	}
	return false;
}

/*
 * Make ready for an entry at `path`: the directories above it. *name is the path as the archive
 * spells it, without the slash it begins with, and stays valid; NULL when something lies there
 * already.
 */
static bool path_begin(struct initramfs *initramfs, const char **name, const char *path,
		       struct error *error)
{
	assert(path[0] == '/');
	path++;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t bytes = (size_t)(slash - path);
		struct entry entry = {.mode = S_IFDIR | 0755, .links = 2};

		if (is_present(initramfs, path, bytes))
			continue;
		entry.path = *array_push(&initramfs->present) =
			arena_text(&initramfs->names, path, bytes);
		if (!header_write(initramfs, &entry, error))
			return false;
	}
	*name = NULL;
	if (!is_present(initramfs, path, strlen(path)))
		*name = *array_push(&initramfs->present) =
			arena_text(&initramfs->names, path, strlen(path));
	return true;
}

/* ---- entries ---- */

/* An entry whose contents are in memory. Its path is set here. */
static bool entry_write(struct initramfs *initramfs, const char *path, struct entry entry,
			const void *contents, struct error *error)
{
	if (!path_begin(initramfs, &entry.path, path, error))
		return false;
	return !entry.path || (header_write(initramfs, &entry, error) &&
			       bytes_write(initramfs, contents, (size_t)entry.bytes, error) &&
			       pad(initramfs, error));
}

bool initramfs_directory(struct initramfs *initramfs, const char *path, struct error *error)
{
	return entry_write(initramfs, path, (struct entry){.mode = S_IFDIR | 0755, .links = 2}, "",
			   error);
}

bool initramfs_file(struct initramfs *initramfs, const char *path, unsigned mode,
		    const void *contents, size_t bytes, struct error *error)
{
	struct entry entry = {.mode = S_IFREG | mode, .links = 1, .bytes = bytes};

	return entry_write(initramfs, path, entry, contents, error);
}

bool initramfs_symlink(struct initramfs *initramfs, const char *path, const char *target,
		       struct error *error)
{
	struct entry entry = {.mode = S_IFLNK | 0777, .links = 1, .bytes = strlen(target)};

	return entry_write(initramfs, path, entry, target, error);
}

bool initramfs_character_device(struct initramfs *initramfs, const char *path, unsigned mode,
				unsigned major_number, unsigned minor_number, struct error *error)
{
	struct entry entry = {
		.mode = S_IFCHR | mode,
		.links = 1,
		.device_major = major_number,
		.device_minor = minor_number,
	};

	return entry_write(initramfs, path, entry, "", error);
}

/*
 * As many bytes as the header says: a file that grows meanwhile is cut, one that shrinks is a
 * failure.
 */
static bool contents_copy(struct initramfs *initramfs, FILE *from, uint64_t bytes,
			  const char *host_path, struct error *error)
{
	char buffer[64 * 1024];

	while (bytes > 0) {
		size_t step = bytes < sizeof(buffer) ? (size_t)bytes : sizeof(buffer);

		if (fread(buffer, 1, step, from) != step)
			return ferror(from)
				       ? error_system(error, "cannot read %s", host_path)
				       : error_failed(error, "%s became shorter while it was read",
						      host_path);
		if (!bytes_write(initramfs, buffer, step, error))
			return false;
		bytes -= step;
	}
	return pad(initramfs, error);
}

bool initramfs_copy(struct initramfs *initramfs, const char *path, unsigned mode,
		    const char *host_path, struct error *error)
{
	struct entry entry = {.mode = S_IFREG | mode, .links = 1};
	FILE *from = fopen(host_path, "rbe");
	struct stat status;
	bool done = false;

	if (!from || fstat(fileno(from), &status) != 0) {
		error_system(error, "cannot read %s", host_path);
	} else if (!S_ISREG(status.st_mode)) {
		error_input(error, "%s is not a file", host_path);
	} else if (path_begin(initramfs, &entry.path, path, error)) {
		entry.bytes = (uint64_t)status.st_size;
		done = !entry.path ||
		       (header_write(initramfs, &entry, error) &&
			contents_copy(initramfs, from, entry.bytes, host_path, error));
	}
	if (from)
		fclose(from);
	return done;
}

bool initramfs_program(struct initramfs *initramfs, const char *path, const char *host_path,
		       struct error *error)
{
	struct arena arena = {0};
	struct program_parts parts;
	bool done = program_parts_list(&parts, host_path, &arena, error) &&
		    initramfs_copy(initramfs, path, 0755, host_path, error);

	for (size_t i = 0; done && i < parts.count; i++)
		done = initramfs_copy(initramfs, parts.at[i], 0755, parts.at[i], error);
	arena_deinit(&arena);
	return done;
}

bool initramfs_finish(struct initramfs *initramfs, struct error *error)
{
	struct entry end = {.path = "TRAILER!!!", .links = 1};

	if (!header_write(initramfs, &end, error))
		return false;
	return fflush(initramfs->file) == 0 || error_system(error, "cannot write an initramfs");
}
