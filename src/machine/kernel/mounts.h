/*
 * mounts: what is mounted where, as this process sees it
 *
 * Source: Linux Documentation/filesystems/proc.rst, /proc/PID/mountinfo.
 */
#ifndef REFAULT_MACHINE_KERNEL_MOUNTS_H
#define REFAULT_MACHINE_KERNEL_MOUNTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct mount {
	uint32_t major, minor; /* the super block's s_dev, not what stat() makes of it (btrfs) */
	char point[PATH_MAX];
	char type[32];
	char source[PATH_MAX];
	char options[1024]; /* of the super block */
};

struct mounts {
	char *text, *rest;
};

/* Read them all; none if that cannot be. Free with mounts_close(). */
void mounts_open(struct mounts *mounts);
void mounts_close(struct mounts *mounts);

/* The next one, in the order of mounting. False: no more. */
bool mounts_next(struct mounts *mounts, struct mount *mount);

#endif
