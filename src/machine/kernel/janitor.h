/*
 * janitor: what a run leaves when it is killed, and how that goes away
 *
 * Mount, loop device and image end with the process (scratch.h). Three things do not: the cgroup,
 * the mount point, and files below a directory of the user's. They are written down in a folder of
 * the run's own below /run/refault before they are made, and a second process, which survives its
 * parent's end however that comes, removes them. If that is killed too, `refault clean` finds the
 * folder: it is locked as long as somebody sees to it.
 */
#ifndef REFAULT_MACHINE_KERNEL_JANITOR_H
#define REFAULT_MACHINE_KERNEL_JANITOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct janitor {
	char folder[PATH_MAX]; /* of this run; "": none */
	char name[64];         /* the run's own, for its cgroup: "refault-4711.2" */
	char mountpoint[PATH_MAX];
	int list_fd, alive_fd; /* what is to be removed; closed when the parent ends */
	pid_t pid;
};

/* Make the folder and start the process. False: ERROR_FAILED (no root, no /run). */
bool janitor_start(struct janitor *janitor, struct error *error);

enum janitor_kind { JANITOR_CGROUP, JANITOR_TREE };

/* This is going to be made: to be removed in the end. */
bool janitor_note(struct janitor *janitor, enum janitor_kind kind, const char *path,
		  struct error *error);

/* Remove all of it now, and end. */
void janitor_stop(struct janitor *janitor);

/*
 * Remove what runs that nobody sees to any more have left. Calls `removed` for each thing that is
 * gone, and with is_gone false for what could not be removed. Returns how many could not.
 */
size_t janitor_clean(void (*removed)(void *context, const char *path, bool is_gone), void *context);

#endif
