/*
 * cgroup: a memory cgroup of the run's own, of version 1 or 2
 *
 * Made beside all others, at the root of the hierarchy that has the memory controller, so that no
 * other limit applies. Sources: Linux Documentation/admin-guide/cgroup-v1/memory.rst and
 * cgroup-v2.rst; field names in mm/memcontrol.c, memory_stats[], and mm/memcontrol-v1.c,
 * memcg1_stats[] (6.18).
 */
#ifndef REFAULT_MACHINE_KERNEL_CGROUP_H
#define REFAULT_MACHINE_KERNEL_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define CGROUP_UNKNOWN UINT64_MAX

struct cgroup {
	int version;         /* 1 or 2; 0: none was made */
	char path[PATH_MAX]; /* its directory */
};

/* What the kernel says of it; CGROUP_UNKNOWN: this version, or this kernel, does not say. */
struct cgroup_stat {
	uint64_t active_file, inactive_file, dirty, writeback, anonymous; /* bytes */
	uint64_t refaults, refault_activations; /* file pages, since the start */
	uint64_t kernel_bytes;                  /* slab and all else the kernel keeps for it */
	uint64_t usage_bytes;
	uint64_t oom_kills;
};

/*
 * Make it, with this limit in bytes and no swap. False: ERROR_FAILED, with what is missing (root,
 * the controller). Remove with cgroup_remove().
 */
bool cgroup_create(struct cgroup *cgroup, const char *name, uint64_t limit_bytes,
		   struct error *error);

/* Move a process in, with all its threads. What it has been charged for stays where it was. */
bool cgroup_join(const struct cgroup *cgroup, pid_t pid, struct error *error);

/* The file that a player reads to have the kernel sum its counters. */
void cgroup_statistics_path(const struct cgroup *cgroup, char path[PATH_MAX]);

/*
 * Read all of it. With `sums`, memory.stat is read too, which brings the kernel's lazily summed
 * counters up to date and so changes what reclaim does next; without, its fields are unknown.
 */
void cgroup_read(const struct cgroup *cgroup, bool sums, struct cgroup_stat *stat);

/* End what is still in it, wait, and remove it. True if it is gone. */
bool cgroup_remove(const char *path);

#endif
