/*
 * roundtrip: a command recorded while the kernel runs it, and replayed in the model
 *
 * The command runs in a memory cgroup, in a directory on a file system made for it, whose caches are
 * cold. What the kernel then reads from that file system's device is the measure; what the model reads
 * for the recorded trace is held against it.
 */
#ifndef REFAULT_STUDY_ROUNDTRIP_H
#define REFAULT_STUDY_ROUNDTRIP_H

#include <limits.h>

#include "base/error.h"
#include "machine/model/model.h"
#include "measure/result.h"
#include "record/record.h"

struct roundtrip_options {
	char *const *command; /* ended by NULL */
	const char *setup;    /* for sh -c, run before, unlimited and not recorded; NULL: none */
	struct model_options model;  /* memory_bytes is the cgroup's limit */
	const char *image_directory; /* as in scratch.h */
	uint64_t image_bytes;
	const char *trace; /* where it is kept; NULL: nowhere */
	const volatile int *interrupted;
};

struct roundtrip {
	struct result predicted, measured; /* of the measured one, only what is read is known */
	struct record_summary summary;
	uint64_t device_read_bytes, device_written_bytes;
	uint64_t anonymous_bytes_most; /* the processes' own, at the most */
};

/* Do it. False: one of the three failed; nothing is left. Free with roundtrip_deinit(), also then. */
bool roundtrip_run(const struct roundtrip_options *options, struct roundtrip *roundtrip,
		   struct error *error);
void roundtrip_deinit(struct roundtrip *roundtrip);

#endif
