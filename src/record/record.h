/*
 * record: watch processes, and write what they do to files as a trace
 *
 * What the kernel half sees (tracer.h) is put in order (queue.h), made into ops (translate.h) and kept
 * in a file without a name, since what there was before the start, and how large, is known only at the
 * end; then the trace is written whole. Memory grows with the files that are touched, some 500 bytes
 * each, and not with time. docs/record.md says what is seen and what is not.
 */
#ifndef REFAULT_RECORD_RECORD_H
#define REFAULT_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "op/calls/calls.h"
#include "op/stream.h"
#include "record/event.h"
#include "record/translate.h"

struct record_options {
	/* Whom: one of these. */
	char *const *command; /* ended by NULL */
	pid_t pid;            /* this process, and what it starts; 0: not */
	const char *cgroup;   /* its directory */
	bool is_all;

	const char *trace;          /* to be written */
	uint64_t duration_ns;       /* at most; 0: till the command, or the process, ends */
	uint64_t ring_bytes;        /* 0: RECORD_RING_BYTES */
	struct stream_map *streams; /* its expressions go before the recorder's own rule */

	/* Only files of this file system: its device, as the kernel encodes it (0: of all), and place. */
	uint32_t device;
	const char *root;

	/* The command waits while this is called, NULL: nothing to do; false: it is not run. */
	bool (*prepare)(void *context, pid_t command, struct error *error);
	void *context;
	const char *directory; /* where the command is run; NULL: here */

	const volatile int *interrupted; /* not 0: stop; NULL: not wanted */
	/* Called now and then; NULL: not wanted. */
	void (*progress)(void *context, uint64_t elapsed_ns, uint64_t ops, uint64_t lost);
	void *progress_context;
};

#define RECORD_RING_BYTES (UINT64_C(32) << 20)

struct record_summary {
	uint64_t elapsed_ns;
	uint64_t ops, existing, trace_bytes;
	struct record_counters counters;
	uint64_t left_out; /* ops that contradict others */
	uint64_t skipped;  /* events that could not be taken, besides counters.events_lost */
	struct translate_counts translated;
	struct calls_counts calls;
	char missing[256];  /* tracepoints that this kernel does not have; "": none */
	int command_status; /* as waitpid() has it; -1: no command, or it did not end */
	/* The busiest programs, by ops; owned. */
	struct translate_program *programs;
	size_t program_count;
	char *names; /* theirs */
};

/*
 * Record, and write the trace. False: not recorded, or not written; nothing is left. Free the summary
 * with record_summary_deinit(), also then.
 */
bool record(const struct record_options *options, struct record_summary *summary,
	    struct error *error);
void record_summary_deinit(struct record_summary *summary);

/* Pages that came into the page cache for files' data, and those that what was recorded explains. */
uint64_t record_inserted_pages(const struct record_counters *counters);
uint64_t record_explained_pages(const struct record_counters *counters);

#endif
