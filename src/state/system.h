/*
 * system: the dumps of the running system
 */
#ifndef REFAULT_STATE_SYSTEM_H
#define REFAULT_STATE_SYSTEM_H

#include <stdio.h>

#include "state/state.h"

/*
 * Read all that this kernel has of them, at `time_ns` of a clock of the caller's. `cgroup`: its files
 * too, those of version 2 or of version 1; a path below the hierarchy's root ("/db"), or one that
 * begins with /sys/fs/cgroup; NULL: none. What cannot be read without being root is left out, with a
 * note. `copy`: what was read is written there as well, with headings; NULL: nowhere. Fails if /proc
 * cannot be read, or if there is no such cgroup.
 */
bool system_read(struct state *state, const char *cgroup, uint64_t time_ns, FILE *copy,
		 struct error *error);

/* Likewise, only what changes from one moment to the next: levels, counters, slabs. */
bool system_read_changing(struct state *state, const char *cgroup, struct error *error);

/* The folder that has a cgroup's memory files, in `bytes` of `folder`; false: there is none. */
bool system_cgroup_folder(const char *cgroup, char *folder, size_t bytes);

#endif
