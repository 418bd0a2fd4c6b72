/*
 * watch: the page cache's own counts of a running machine, taken in the kernel
 *
 * What they mean is in measure/top_counts.h, how they are taken in watch.bpf.c. Needs root, a kernel
 * that describes its types (BTF), and Linux 6.1 or later; to see reads, Linux 6.12 or later. Memory in the
 * kernel is set aside at the start: some 6 MiB for files, and 0.1 % of the machine's memory, from 6 to 50
 * MiB, for pages; and some 200 bytes for each thread that reads. Used by one thread at a time.
 */
#ifndef REFAULT_RECORD_WATCH_H
#define REFAULT_RECORD_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/watched.h"

struct watch;

struct watch_options {
	enum watched_scope scope;
	uint32_t device;       /* for WATCHED_DEVICE */
	const char *cgroup;    /* its directory, for WATCHED_CGROUP */
	uint64_t memory_bytes; /* of the machine */
};

/* Load and attach. From now on it counts. NULL: `error` says why not. */
struct watch *watch_open(const struct watch_options *options, struct error *error);
void watch_close(struct watch *watch); /* NULL is fine */

/* The counts now, of the target and of all. */
bool watch_counts(struct watch *watch, struct top_counts *target, struct top_counts *all,
		  struct error *error);

/* How often something could not be counted. */
uint64_t watch_skipped(const struct watch *watch);

bool watch_sees_reads(const struct watch *watch);

/* "mm_filemap_get_pages": tracepoints that are not here; "": all are. The watch's. */
const char *watch_missing(const struct watch *watch);

/* Hand over each file that is known, the target's ones, in no order. */
bool watch_files(struct watch *watch,
		 void (*take)(void *context, const struct watched_id *id,
			      const struct watched_file *file),
		 void *context, struct error *error);

#endif
