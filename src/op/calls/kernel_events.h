/*
 * kernel_events: what perf and ftrace saw: beginnings and ends of system calls, and the page cache
 *
 * Both print the same events, "TASK, NUMBER, CPU, TIME: EVENT: TEXT", only the words around them
 * differ. A call is its sys_enter and the sys_exit of the same thread. Names are pointers, which
 * nobody followed (until Linux 6.19), so that each opening is a file of its own, "pid 4100 fd 7".
 * Where a trace has calls, those are the ops, and page-cache events are counted beside them.
 */
#ifndef REFAULT_OP_CALLS_KERNEL_EVENTS_H
#define REFAULT_OP_CALLS_KERNEL_EVENTS_H

#include "op/calls/call_ops.h"
#include "op/calls/filemap.h"
#include "op/rows/rows.h"

struct kernel_event {
	struct syscall_text task;
	uint32_t tid;
	uint32_t pid; /* 0: not told */
	uint64_t time_ns;
	uint64_t line;
	struct syscall_text name; /* "raw_syscalls:sys_enter", "sys_openat" */
	struct syscall_text text; /* what follows it */
};

struct kernel_thread;

struct kernel_events {
	struct call_ops ops;
	struct filemap filemap;
	ARRAY(struct kernel_thread) threads;
	struct number_map tids;
	enum syscall_machine machine;
	uint64_t calls;                         /* that began or ended */
	uint64_t other_events, io_uring_events; /* of no use here */
	uint64_t first_ns, last_ns;
	bool any;
	bool has_calls; /* found in the first reading */
	bool is_finished;
};

void kernel_events_begin(struct kernel_events *events, struct import *import);
void kernel_events_again(struct kernel_events *events, struct import *import);
void kernel_events_deinit(struct kernel_events *events);

/*
 * Take apart "... [CPU] FLAGS TIME: EVENT: TEXT", of which `separator` stands between the task and
 * its number: '-' for ftrace, ' ' for perf. False: it is no event.
 */
bool kernel_event_split(const struct row *row, char separator, struct kernel_event *event);

/* False: its text cannot be read. */
bool kernel_event_take(struct kernel_events *events, struct import *import,
		       const struct kernel_event *event);

/* Events were lost there; 0: it is not said how many. */
void kernel_events_lost(struct import *import, uint64_t count, uint64_t line);

/* Give at most `count` ops; 0: read on, or, after kernel_events_finish(), the end. */
void kernel_events_finish(struct kernel_events *events, struct import *import);

#endif
