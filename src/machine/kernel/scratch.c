#include "machine/kernel/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "machine/kernel/image.h"
#include "machine/kernel/mounts.h"
#include "machine/kernel/program.h"
#include "machine/kernel/text_file.h"

/* ---- programs ---- */

/*
 * How each is made: defaults, but for ext4's inodes, of which a storm needs many, and its tables,
 * which else are initialised in the background while we measure; as the measured traces were.
 */
struct maker {
	const char *filesystem, *program, *package;
	const char *words[8];
};

static const struct maker makers[] = {
	{"ext4",
	 "mkfs.ext4",
	 "e2fsprogs",
	 {"-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"}},
	{"xfs", "mkfs.xfs", "xfsprogs", {"-q", "-f"}},
	{"btrfs", "mkfs.btrfs", "btrfs-progs", {"-q", "-f"}},
};

static const struct maker *maker_find(const char *filesystem)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strcmp(makers[i].filesystem, filesystem) == 0)
			return &makers[i];
	return NULL;
}

const char *scratch_maker_package(const char *filesystem)
{
	const struct maker *maker = maker_find(filesystem);

	return maker ? maker->package : "?";
}

static bool make(struct scratch *scratch, struct error *error)
{
	const struct maker *maker = maker_find(scratch->options.filesystem);
	uint64_t inodes = 1000000 + 2 * scratch->options.file_count;
	char count[32];
	const char *words[16];
	struct arena arena = {0};
	size_t used = 0;
	bool done;

	if (!program_find(&words[used++], maker->program, maker->package, &arena, error)) {
		arena_deinit(&arena);
		return false;
	}
	for (size_t i = 0; maker->words[i]; i++)
		words[used++] = maker->words[i];
	if (strcmp(maker->filesystem, "ext4") == 0) {
		snprintf(count, sizeof(count), "%llu", (unsigned long long)inodes);
		words[used++] = "-N";
		words[used++] = count;
	}
	words[used++] = scratch->device;
	words[used] = NULL;
	done = program_run(words, error);
	arena_deinit(&arena);
	return done;
}

/* ---- the loop device ---- */

/* A free loop device, ours from now on. */
static bool loop_attach(struct scratch *scratch, int image, struct error *error)
{
	struct loop_config config = {
		.fd = (uint32_t)image,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
	};
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (control < 0)
		return error_system(error, "no loop devices here: /dev/loop-control");
	snprintf((char *)config.info.lo_file_name, sizeof(config.info.lo_file_name), "refault.%d",
		 (int)getpid());
	for (int tries = 0; tries < 100; tries++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);

		if (number < 0)
			break;
		snprintf(scratch->device, sizeof(scratch->device), "/dev/loop%d", number);
		scratch->device_fd = open(scratch->device, O_RDWR | O_CLOEXEC);
		if (scratch->device_fd < 0)
			break;
		if (ioctl(scratch->device_fd, LOOP_CONFIGURE, &config) == 0) {
			close(control);
			return true;
		}
		close(scratch->device_fd);
		scratch->device_fd = -1;
		if (errno != EBUSY) /* somebody else was faster */
			break;
	}
	error_system(error, "cannot set up a loop device");
	close(control);
	return false;
}

static bool loop_is_direct(const struct scratch *scratch, struct error *error)
{
	struct loop_info64 info;

	if (ioctl(scratch->device_fd, LOOP_GET_STATUS64, &info) != 0)
		return error_system(error, "%s does not say what it is", scratch->device);
	if (info.lo_flags & LO_FLAGS_DIRECT_IO)
		return true;
	return error_failed(error,
			    "files in %s cannot be read past the page cache (O_DIRECT), so that "
			    "all would be cached twice: name a directory on a disk with --images",
			    image_folder(scratch->options.image_directory));
}

/* ---- mounting ---- */

/* "259:3" of the block device, from its node. */
static void block_device_find(struct scratch *scratch)
{
	struct stat status;

	if (stat(scratch->device, &status) == 0 && S_ISBLK(status.st_mode)) {
		scratch->block_major = major(status.st_rdev);
		scratch->block_minor = minor(status.st_rdev);
	}
}

/*
 * The super block's own number and its type, from the line of the mount: stat() gives another one on
 * btrfs, where each subvolume has its own.
 */
static void super_block_find(struct scratch *scratch, const char *point)
{
	struct mounts mounts;
	struct mount mount;
	size_t best = 0;

	mounts_open(&mounts);
	while (mounts_next(&mounts, &mount)) {
		size_t bytes = strcmp(mount.point, "/") == 0 ? 0 : strlen(mount.point);
		struct stat status;

		/* The longest mount point that the path is below; the last one covers the others. */
		if (strncmp(point, mount.point, bytes) != 0 ||
		    (point[bytes] && point[bytes] != '/') || bytes < best)
			continue;
		best = bytes;
		scratch->major = mount.major;
		scratch->minor = mount.minor;
		snprintf(scratch->filesystem, sizeof(scratch->filesystem), "%s", mount.type);
		if (scratch->device[0])
			continue;
		scratch->block_major = scratch->block_minor = 0;
		if (stat(mount.source, &status) == 0 && S_ISBLK(status.st_mode)) {
			scratch->block_major = major(status.st_rdev);
			scratch->block_minor = minor(status.st_rdev);
		}
	}
	mounts_close(&mounts);
}

/* The window; btrfs keeps its own, by the file system's UUID (linux-caching.md 5.1). */
static bool readahead_set(const struct scratch *scratch, struct error *error)
{
	char path[PATH_MAX + 64], value[32];
	const char *name = scratch->device + strlen("/dev/");
	glob_t found = {0};

	snprintf(value, sizeof(value), "%llu",
		 (unsigned long long)(scratch->options.readahead_bytes / KIB));
	snprintf(path, sizeof(path), "/sys/block/%s/queue/read_ahead_kb", name);
	if (!text_file_write(path, value))
		return error_system(error, "cannot set %s", path);
	/* btrfs has a window of its own, found by the device that it is on. */
	snprintf(path, sizeof(path), "/sys/fs/btrfs/*/devices/%s", name);
	if (glob(path, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			/* "devices/loop3" is a link: its neighbours are found from its name. */
			snprintf(path, sizeof(path), "%.*s/bdi/read_ahead_kb",
				 (int)(strlen(found.gl_pathv[i]) - strlen("/devices/") -
				       strlen(name)),
				 found.gl_pathv[i]);
			(void)text_file_write(path, value);
		}
	}
	globfree(&found);
	return true;
}

static bool mount_it(struct scratch *scratch, const char *mountpoint, struct error *error)
{
	if (mount(scratch->device, mountpoint, scratch->options.filesystem, 0, NULL) != 0) {
		if (errno == ENODEV)
			return error_failed(error, "this kernel has no %s",
					    scratch->options.filesystem);
		return error_system(error, "cannot mount %s (%s)", scratch->device,
				    scratch->options.filesystem);
	}
	scratch->is_mounted = true;
	super_block_find(scratch, mountpoint);
	return readahead_set(scratch, error);
}

/* What is still being written back or closed keeps it for a moment. */
static bool unmount_it(struct scratch *scratch, const char *mountpoint)
{
	for (int tries = 0; scratch->is_mounted && tries < 100; tries++) {
		const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

		if (umount(mountpoint) == 0 || errno == EINVAL)
			scratch->is_mounted = false;
		else if (errno != EBUSY)
			break;
		else
			nanosleep(&pause, NULL);
	}
	return !scratch->is_mounted;
}

/* Mounts from now on are this process's and its children's only. */
static bool namespace_leave(struct error *error)
{
	static bool has_left;

	if (has_left)
		return true;
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		error_system(error, "cannot have a mount namespace of its own");
		return errno == EPERM ? error_context(error, "running on the kernel needs root")
				      : false;
	}
	has_left = true;
	return true;
}

/* ---- the three kinds ---- */

static bool directory_find(const char *directory, char path[PATH_MAX], struct error *error)
{
	struct stat status;

	if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
		return error_input(error, "--directory %.200s: there is no such directory",
				   directory);
	if (!realpath(directory, path) || strlen(path) > PATH_MAX - 64)
		return error_input(error, "--directory %.200s: the path is too long", directory);
	return true;
}

/* The window of the backing device, by the super block's number, or by the block device's. */
static uint64_t readahead_of(const struct scratch *scratch)
{
	const uint32_t numbers[][2] = {{scratch->major, scratch->minor},
				       {scratch->block_major, scratch->block_minor}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char path[128];
		uint64_t kb;

		snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", numbers[i][0],
			 numbers[i][1]);
		if (text_file_number(path, &kb))
			return kb * KIB;
	}
	return 0;
}

bool scratch_directory_look(const char *directory, char filesystem[32], uint64_t *readahead_bytes,
			    struct error *error)
{
	struct scratch scratch = {.device_fd = -1};

	if (!directory_find(directory, scratch.root, error))
		return false;
	super_block_find(&scratch, scratch.root);
	memcpy(filesystem, scratch.filesystem, sizeof(scratch.filesystem));
	*readahead_bytes = readahead_of(&scratch);
	return true;
}

static bool open_directory(struct scratch *scratch, struct error *error)
{
	const char *directory = scratch->options.directory;

	if (!directory_find(directory, scratch->root, error))
		return false;
	strcat(scratch->root, "/refault.XXXXXX");
	if (!mkdtemp(scratch->root))
		return error_system(error, "cannot make a directory in %s", directory);
	scratch->is_made = true;
	super_block_find(scratch, scratch->root);
	scratch->options.readahead_bytes = readahead_of(scratch);
	return true;
}

static bool open_filesystem(struct scratch *scratch, const char *mountpoint, struct error *error)
{
	int image = -1;
	bool done;

	if (!maker_find(scratch->options.filesystem))
		return error_input(
			error, "a file system \"%.60s\" cannot be made here: ext4, xfs or btrfs",
			scratch->options.filesystem);
	snprintf(scratch->root, sizeof(scratch->root), "%s", mountpoint);
	if (!namespace_leave(error))
		return false;
	if (scratch->options.block_device) {
		snprintf(scratch->device, sizeof(scratch->device), "%s",
			 scratch->options.block_device);
	} else {
		if (!image_make(&image, scratch->options.image_directory,
				scratch->options.image_bytes, error))
			return false;
		done = loop_attach(scratch, image, error);
		close(image);
		if (!done || !loop_is_direct(scratch, error))
			return false;
	}
	block_device_find(scratch);
	return make(scratch, error) && mount_it(scratch, mountpoint, error);
}

bool scratch_open(struct scratch *scratch, const struct scratch_options *options,
		  const char *mountpoint, struct error *error)
{
	*scratch = (struct scratch){.options = *options, .device_fd = -1};
	if (options->directory ? open_directory(scratch, error)
			       : open_filesystem(scratch, mountpoint, error))
		return true;
	scratch_close(scratch);
	return false;
}

bool scratch_cool(struct scratch *scratch, const char *mountpoint, struct error *error)
{
	if (!scratch->is_mounted)
		return true;
	if (!unmount_it(scratch, mountpoint))
		return error_system(error, "cannot unmount %s", mountpoint);
	return mount_it(scratch, mountpoint, error);
}

void scratch_close(struct scratch *scratch)
{
	if (scratch->is_mounted)
		(void)unmount_it(scratch, scratch->root);
	if (scratch->device_fd >= 0)
		close(scratch->device_fd);
	scratch->device_fd = -1;
	if (scratch->is_made)
		scratch_remove_tree(scratch->root);
	scratch->is_made = false;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	(void)remove(path);
	return 0;
}

void scratch_remove_tree(const char *path)
{
	(void)nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
