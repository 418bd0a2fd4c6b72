/*
 * mounts: where file systems are in the tree of names
 *
 * The kernel half tells names up to the root of a file system; here the rest is put in front, as this
 * process's mount namespace has it. Read from /proc/self/mountinfo, anew when it changes.
 */
#ifndef REFAULT_RECORD_MOUNTS_H
#define REFAULT_RECORD_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mounts;

struct mounts *mounts_open(struct error *error);
void mounts_close(struct mounts *mounts);

/* Read again, if there was a change. */
void mounts_refresh(struct mounts *mounts);

/*
 * The path of what is called `names` on the file system of this device (as the kernel encodes it):
 * `names` are the kernel half's, the last first, `bytes` long. Written to `path`, at most `room` bytes
 * with the NUL. Of a file system that is mounted nowhere here: below "[MAJOR:MINOR]".
 */
size_t mounts_path(const struct mounts *mounts, uint32_t device, const char *names, size_t bytes,
		   char *path, size_t room);

/* Is this absolute path on a file system whose files are recorded: none in memory, like /proc? */
bool mounts_is_recorded(const struct mounts *mounts, const char *path);

/* "ext4", ... of the file system of this device; NULL: not known. */
const char *mounts_filesystem(const struct mounts *mounts, uint32_t device);

#endif
