/*
 * target: the processes that are recorded: a command that is started, or one that runs
 */
#ifndef REFAULT_RECORD_TARGET_H
#define REFAULT_RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/tracer.h"

/* A command that waits to be let go. */
struct target_command {
	pid_t pid; /* 0: none */
	int go_fd; /* closed: it ends without having begun */
	int failed_fd;
};

/*
 * Make a process for it, which waits, and has itself recorded just before it turns into the command.
 * `directory`: where it is to run; NULL: here.
 */
bool target_start(struct target_command *target, struct tracer *tracer, char *const *command,
		  const char *directory, struct error *error);

/* Let it go. False: it could not be run (ERROR_INPUT: there is no such program). */
bool target_go(struct target_command *target, const char *name, struct error *error);

/* It is not wanted: end it, and wait. */
void target_stop(struct target_command *target);

/* This process and all that descend from it now are recorded from now on. */
bool target_add_tree(struct tracer *tracer, pid_t process, struct error *error);

/* Does it still run? */
bool target_is_alive(pid_t process);

#endif
