/*
 * memory_group: the memory cgroup that a process is in, of version 1 or 2
 */
#ifndef REFAULT_RECORD_MEMORY_GROUP_H
#define REFAULT_RECORD_MEMORY_GROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct memory_group {
	char path[PATH_MAX]; /* its directory */
	bool is_v2;
	uint64_t id;
	uint32_t level;       /* how many are above it; 0: it is the root, which counts nothing */
	uint64_t file_bytes;  /* of files' pages, charged to it now */
	uint64_t limit_bytes; /* UINT64_MAX: none */
};

/* Of this directory. False: ERROR_INPUT, it is no cgroup's, or not of one that has memory. */
bool memory_group_open(struct memory_group *group, const char *path, struct error *error);

/* The one that the process is in. False: none can be found. */
bool memory_group_of_process(struct memory_group *group, pid_t process);

#endif
