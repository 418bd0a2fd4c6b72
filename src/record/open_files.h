/*
 * open_files: what processes have open or mapped, and how much of it is in memory
 *
 * So that a look at a system begins with the files that matter, and not with those that something
 * happened to since. Found through /proc; without root only one's own processes'. Files of other mount
 * namespaces, and of servers that may not answer, are left out.
 */
#ifndef REFAULT_RECORD_OPEN_FILES_H
#define REFAULT_RECORD_OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct mount_table;

/* So many different files are looked at, for half a second, and so many kept: those with most in memory. */
enum { OPEN_FILES_LOOKED_AT = 4096, OPEN_FILES_KEPT = 256 };

struct open_file {
	const char *path;
	uint64_t ino, size;
	uint32_t device; /* as the kernel encodes it */
	uint64_t pages;  /* in memory */
};

struct open_files {
	ARRAY(struct open_file) all; /* those with most in memory first */
	struct arena texts;
};

/* `device`: of this file system alone; NULL: of any. `cgroup`: of the processes in this cgroup's folder. */
void open_files_find(struct open_files *files, const struct mount_table *mounts,
		     const uint32_t *device, const char *cgroup);
void open_files_deinit(struct open_files *files);

/* Is it on a server that may not answer, or on what a process makes of it? */
bool open_files_may_hang(const char *filesystem);

#endif
