/*
 * scratch: a file system to play on, made for the run and gone with it
 *
 * Three kinds. An image: a file without a name, behind a loop device with direct I/O (so that
 * nothing is cached twice), freshly made, mounted in a mount namespace of the process's own. A block
 * device, likewise formatted: what a guest gets. A directory that the user names: no file system is
 * made, and files are dropped from the cache one by one before they are used.
 *
 * Nothing of an image outlives the process, however it ends: with the last process the namespace
 * goes, with it the mount, with that the loop device (it clears itself) and the file. A directory of
 * the user's is the one thing that has to be tidied up behind it (janitor.h).
 */
#ifndef REFAULT_MACHINE_KERNEL_SCRATCH_H
#define REFAULT_MACHINE_KERNEL_SCRATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct scratch_options {
	const char *filesystem;      /* ext4, xfs, btrfs; not used with `directory` */
	const char *directory;       /* play below this one; NULL: make a file system */
	const char *block_device;    /* format and use this; NULL: an image */
	const char *image_directory; /* where the image's blocks are; NULL: $TMPDIR, or /var/tmp */
	uint64_t image_bytes;        /* how large the file system is */
	uint64_t file_count;         /* that will be there before the start */
	uint64_t readahead_bytes;    /* read_ahead_kb of the device; not used with `directory` */
};

struct scratch {
	struct scratch_options options;
	char root[PATH_MAX]; /* where files go */
	char device[64];     /* "/dev/loop3"; "": a directory's, not ours */
	int device_fd;       /* keeps the loop device while it is not mounted; -1: none */
	bool is_mounted, is_made;
	/* the super block's device and the block device under it, 0: not known */
	uint32_t major, minor;
	uint32_t block_major, block_minor;
	char filesystem[32]; /* what it is, as the kernel says */
};

/*
 * Make it, and mount it at `mountpoint` (an empty directory). False: ERROR_FAILED, ERROR_INPUT for
 * what the user named; nothing is left behind.
 */
bool scratch_open(struct scratch *scratch, const struct scratch_options *options,
		  const char *mountpoint, struct error *error);

/*
 * What a directory is on: the file system, as the kernel calls it, and its readahead window in bytes
 * (0: not known). False: ERROR_INPUT, there is no such directory.
 */
bool scratch_directory_look(const char *directory, char filesystem[32], uint64_t *readahead_bytes,
			    struct error *error);

/* Unmount and mount: nothing of it is cached any more. Does nothing in a directory. */
bool scratch_cool(struct scratch *scratch, const char *mountpoint, struct error *error);

/* Unmount, and let go of everything. */
void scratch_close(struct scratch *scratch);

/* The Debian package with the program that makes this file system. */
const char *scratch_maker_package(const char *filesystem);

/* Remove a directory and all that is in it. */
void scratch_remove_tree(const char *path);

#endif
