/*
 * model: the machine that predicts
 *
 * Carries ops out on the cache core, a file-system model and a simple clock: an op costs CPU time,
 * and what must come from the device costs bytes / bandwidth on a device that serves one request
 * after the other. Deterministic: same source, options and seed, same result.
 */
#ifndef REFAULT_MACHINE_MODEL_MODEL_H
#define REFAULT_MACHINE_MODEL_MODEL_H

#include "base/error.h"
#include "cache/policy_options.h"
#include "measure/result.h"
#include "op/source.h"
#include "op/stream.h"
#include "source/pace.h"

struct device_profile; /* machine/model/device.h */
struct model_watch;    /* machine/model/watch.h */
struct filesystem;     /* machine/model/fs/: a shelf */

/* The shelf. NULL: no such file system / after the last. */
const struct filesystem *filesystem_find(const char *name);
const struct filesystem *filesystem_at(size_t index);

/* The same, but fails (ERROR_INPUT) with the nearest name there is. */
bool filesystem_choose(const struct filesystem **fs, const char *name, struct error *error);
const char *filesystem_name(const struct filesystem *fs);
const char *filesystem_summary(const struct filesystem *fs);

#define MODEL_DEVICE_BYTES (UINT64_C(512) << 30) /* of a device, when nobody says */

struct model_options {
	struct policy_options policy;
	const struct filesystem *filesystem; /* not used by model_bare_run() */
	uint64_t memory_bytes;               /* the whole machine's memory, or the cgroup's limit */
	bool is_cgroup;
	/* memory that is not cache (processes, shared_buffers); taken from memory_bytes */
	uint64_t pinned_bytes;
	uint64_t readahead_bytes; /* device window (read_ahead_kb); 0: 128 KiB */
	uint64_t seed;

	struct pace pace; /* the clock; with a device, of it: a call's time and a page's */

	/*
	 * With a device, everything waits for it on one clock (simulation.c), and results tell time.
	 * NULL: the pace alone, or a trace's own time stamps.
	 */
	const struct device_profile *device;
	uint64_t device_bytes;  /* its size */
	uint32_t processors;    /* at least 1 */
	bool no_barriers;       /* the file system never flushes the device's cache */
	uint64_t record_bytes;  /* zfs's recordsize; 0: its own default */
	uint64_t arc_max_bytes; /* zfs_arc_max; 0: its own default */
	/* zfs to 2.1: zfs_arc_meta_limit_percent; 0: its own default */
	uint32_t arc_meta_percent;
	uint32_t metaslabs; /* zfs: how many it aims at; 0: its own default */
	/* not 0: stop, and say what has happened so far; NULL: not wanted */
	const volatile int *interrupted;

	struct stream_map *streams; /* NULL: the source names its streams */

	const struct model_watch *watch; /* who looks on, op by op (watch.h); NULL: nobody */

	/* Called now and then; NULL: not wanted. */
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t ops,
			 uint64_t reread_bytes);
	void *progress_context;
};

/*
 * Carry out all of `source` and say what happened. False: the input was wrong (ERROR_INPUT: e.g. a
 * trace error, an op on a file that does not exist, memory too small) or the run failed; `result`
 * is then empty. Free with result_deinit().
 */
bool model_run(const struct model_options *options, struct op_source *source, struct result *result,
	       struct error *error);

enum bare_key { BARE_KEY_PAGE4K, BARE_KEY_LBN };

/*
 * The plain cache of exactly `pages` pages: one look-up a page (page4k) or a record (lbn) and
 * nothing else. Fills page_accesses, page_misses, evictions, marks and streams; the rest is not
 * known.
 */
bool model_bare_run(const struct model_options *options, uint64_t pages, enum bare_key key,
		    struct op_source *source, struct result *result, struct error *error);

#endif
