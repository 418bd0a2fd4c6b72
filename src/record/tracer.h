/*
 * tracer: the recorder's half in the kernel, loaded and listened to
 *
 * Needs root, a kernel that describes its types (BTF), Linux 6.1 or later, and the machine's own pid
 * namespace. Where a tracepoint is missing, what it would have told is not seen: tracer_missing().
 * Events come in the order in which they ended (event.h). Used by one thread at a time.
 */
#ifndef REFAULT_RECORD_TRACER_H
#define REFAULT_RECORD_TRACER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/event.h"

struct tracer;

struct tracer_options {
	enum record_scope scope;
	const char *cgroup;  /* its directory, for RECORD_SCOPE_CGROUP */
	uint64_t ring_bytes; /* a power of two, at least 64 KiB: what it may be behind by */
};

/* Load and attach. From now on it records. NULL: `error` says why. */
struct tracer *tracer_open(const struct tracer_options *options, struct error *error);
void tracer_close(struct tracer *tracer); /* NULL is fine */

/* Record this process, all its threads, and what they start from now on. */
bool tracer_add(struct tracer *tracer, pid_t process, struct error *error);

/* Tell from now on how much memory this cgroup's processes have of their own. */
struct memory_group;
void tracer_watch_memory(struct tracer *tracer, const struct memory_group *group);

/*
 * Hand over what there is, at the latest when `timeout_ms` is over (0: at once). `receive` must not
 * keep the event. False: the kernel failed.
 */
bool tracer_listen(struct tracer *tracer, int timeout_ms,
		   void (*receive)(void *context, const struct record_event *event), void *context,
		   struct error *error);

/* Record no more; what is in the ring can still be heard. */
void tracer_stop(struct tracer *tracer);

/* The counters now, summed over CPUs; *skipped: how often a program could not run (see probe.h). */
bool tracer_counters(const struct tracer *tracer, struct record_counters *counters,
		     uint64_t *skipped, struct error *error);

/* Does it have this tracepoint ("mm_filemap_fault")? */
bool tracer_has(const struct tracer *tracer, const char *tracepoint);

/* "io_uring_complete, mm_filemap_fault": those that are not here; "": all are. The tracer's. */
const char *tracer_missing(const struct tracer *tracer);

/* When it began: CLOCK_MONOTONIC. */
uint64_t tracer_start_ns(const struct tracer *tracer);

#endif
