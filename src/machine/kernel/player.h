/*
 * player: a process that makes system calls and nothing else
 *
 * What a memory cgroup is charged for must be the workload's alone: no trace, no table of paths, no
 * buffer. So the calls are made by a child that owns next to nothing: calls (call.h) reach it
 * through rings in shared memory that its parent has touched first, and that are therefore the
 * parent's, as are the buffers that it reads into and the table of its open files. The child sees
 * the scratch file system as its root directory.
 *
 * Each worker is a thread with a ring of its own: calls of one worker are carried out in their
 * order, those of different workers side by side. The child dies with its parent.
 */
#ifndef REFAULT_MACHINE_KERNEL_PLAYER_H
#define REFAULT_MACHINE_KERNEL_PLAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "machine/kernel/call.h"
#include "op/op.h"

struct player; /* opaque */
struct probe;

enum { PLAYER_WORKERS_MAX = 4096 };

struct player_options {
	const char *root; /* a directory: all paths are below it */
	uint32_t worker_count;
	/* memory.stat: read it every so many ops (0: never), to keep the kernel's sums fresh */
	const char *statistics_path;
	uint32_t statistics_ops;
	/* is told what each worker is at, and what was cut off files; NULL: nobody looks */
	struct probe *probe;
	/* set by a signal handler: stop waiting; NULL: never */
	const volatile int *interrupted;
};

/*
 * Fork the child. It has touched all memory that it will use, and waits: put it into its cgroup
 * now. NULL: ERROR_FAILED.
 */
struct player *player_start(const struct player_options *options, struct error *error);

pid_t player_pid(const struct player *player);
pid_t player_thread(const struct player *player, uint32_t worker); /* its thread id */

/*
 * A free slot; SLOT_NONE: all 16 million are taken. One that is given back (its CALL_CLOSE may still
 * be queued) goes to the same worker only, which takes its calls in order.
 */
uint32_t player_slot_take(struct player *player, uint32_t worker);
void player_slot_free(struct player *player, uint32_t worker, uint32_t slot);

/*
 * Queue a call for this worker; waits while its ring is full. `path` and `path_to` are copied;
 * NULL: none. The call's sizes are filled in here. False: see player_error().
 */
bool player_send(struct player *player, uint32_t worker, const struct call *call, const char *path,
		 const char *path_to);

/* Begin with what was sent: else it may wait for more. Those that wait for the worker do this. */
void player_flush(struct player *player, uint32_t worker);

/* Wait until this worker has done all that was sent to it. False: see player_error(). */
bool player_wait(struct player *player, uint32_t worker);

/* The same for whichever is next: waits at most `timeout_ns` for any worker to finish a call. */
bool player_wait_any(struct player *player, uint64_t timeout_ns);

/* Has this worker done all that was sent to it? */
bool player_is_idle(const struct player *player, uint32_t worker);

enum player_trouble {
	PLAYER_FINE,
	PLAYER_CALL_FAILED, /* errno_value, op ... say which */
	PLAYER_DIED,        /* it was killed: by whom, its cgroup may know */
	PLAYER_INTERRUPTED,
};

struct player_failure {
	enum player_trouble trouble;
	int errno_value;
	enum op_kind op_kind;
	uint64_t op_number;
	uint32_t path, line;
};

/* Why the call before returned false. */
void player_failure(const struct player *player, struct player_failure *failure);

/* An op that needs no call (a mark) counts for `statistics_ops`, too. */
void player_count_op(struct player *player);

/* Pages that this stream has asked for in reads, writes and faults. */
uint64_t player_pages(const struct player *player, uint32_t stream);

/* Calls with RWF_DONTCACHE that the kernel refused, and that were made without it. */
uint64_t player_plain(const struct player *player);

/* End the child, if it is there, and free everything. */
void player_stop(struct player *player);

#endif
