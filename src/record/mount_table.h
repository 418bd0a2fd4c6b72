/*
 * mount_table: where file systems are in the tree of names
 *
 * The kernel half tells names up to the root of a file system; here the rest is put in front, as this
 * process's mount namespace has it. Read from /proc/self/mountinfo, anew when it changes.
 */
#ifndef REFAULT_RECORD_MOUNT_TABLE_H
#define REFAULT_RECORD_MOUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mount_table;

struct mount_table *mount_table_open(struct error *error);
void mount_table_close(struct mount_table *mounts);

/* Read again, if there was a change. */
void mount_table_refresh(struct mount_table *mounts);

/*
 * The path of what is called `names` on the file system of this device (as the kernel encodes it):
 * `names` are the kernel half's, the last first, `bytes` long. Written to `path`, at most `room` bytes
 * with the NUL. Of a file system that is mounted nowhere here: below "[MAJOR:MINOR]".
 */
size_t mount_table_path(const struct mount_table *mounts, uint32_t device, const char *names,
			size_t bytes, char *path, size_t room);

/* Is this absolute path on a file system whose files are recorded: none in memory, like /proc? */
bool mount_table_is_recorded(const struct mount_table *mounts, const char *path);

/* The device of the file system that this absolute path is on. False: it is on none that is known. */
bool mount_table_device(const struct mount_table *mounts, const char *path, uint32_t *device);

/* "ext4", ... of the file system of this device; NULL: not known. */
const char *mount_table_filesystem(const struct mount_table *mounts, uint32_t device);

#endif
