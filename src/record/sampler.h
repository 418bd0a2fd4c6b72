/*
 * sampler: looks at the running system, again and again (measure/top.h)
 *
 * The page cache's counts are the watch's (watch.h); levels, counters and slabs come from /proc and a
 * cgroup's files, read by `state`; what files have in memory by residency.h. Without root nothing is
 * counted, and what can be read is there all the same. Memory: that of two samples, at most some 8 MiB
 * each.
 */
#ifndef REFAULT_RECORD_SAMPLER_H
#define REFAULT_RECORD_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sampler;
struct top_sample;
struct top_view;

struct sampler_options {
	const char *cgroup;       /* a memory cgroup, as system_read() takes it; NULL: no */
	const char *mount;        /* a path: what is on its file system; NULL: no */
	const char *const *files; /* to be looked at in any case */
	size_t file_count;
};

/* NULL: what is asked for is not there (ERROR_INPUT), or /proc cannot be read. */
struct sampler *sampler_open(const struct sampler_options *options, struct error *error);
void sampler_close(struct sampler *sampler); /* NULL is fine */

/* Look. Free with top_sample_deinit(), also after a failure. */
bool sampler_take(struct sampler *sampler, struct top_sample *sample, struct error *error);

/*
 * Ask the kernel of the first `rows` files of a view what is in memory of them, as far as the time goes:
 * a page takes some 20 ns, and a file may have a billion. Of the others stands what was counted.
 */
void sampler_measure(const struct sampler *sampler, struct top_view *view, size_t rows,
		     uint64_t budget_ns);

/* What is looked at: "ext4 at /data", "/db"; "": the machine. */
const char *sampler_target(const struct sampler *sampler);

/* Why nothing is counted, or what of it this kernel does not have; "": all is. */
const char *sampler_note(const struct sampler *sampler);

#endif
