/*
 * kernel: the machine that is measured
 *
 * Carries ops out as system calls of the kernel under the program, in a memory cgroup, on a file
 * system made for the purpose, and says what the kernel counted, in the same form as the model says
 * what it predicts. Nothing outlives the run.
 */
#ifndef REFAULT_MACHINE_KERNEL_KERNEL_H
#define REFAULT_MACHINE_KERNEL_KERNEL_H

#include "base/error.h"
#include "measure/result.h"
#include "op/source.h"
#include "op/stream.h"
#include "source/pace.h"

enum kernel_statistics {
	/*
	 * The group's sums are read every KERNEL_STATISTICS_OPS ops, so that reclaim decides on
	 * what is so: runs repeat themselves.
	 */
	KERNEL_STATISTICS_FRESH,
	KERNEL_STATISTICS_LAZY, /* only at marks: how the kernel runs by itself */
};

enum kernel_clock {
	/* Traces: as fast as they go, in their order. */
	KERNEL_CLOCK_NONE,
	/*
	 * Scenarios: their own clock. An op takes as long as the scenario's device and processor
	 * would need for what the kernel read and wrote: clients take turns as they would there,
	 * whatever this machine's disk is like, one op at a time.
	 */
	KERNEL_CLOCK_SCENARIO,
	/* Scenarios: this machine's. Every client is a thread, and all run at once. */
	KERNEL_CLOCK_REAL,
};

enum { KERNEL_STATISTICS_OPS = 16, KERNEL_LAZY_RUNS = 3, KERNEL_ATTEMPTS = 4 };

struct kernel_options {
	uint64_t cgroup_limit_bytes;
	uint64_t pinned_bytes; /* memory of the player's own, within the limit */

	const char *filesystem;      /* "ext4", "xfs", "btrfs" */
	const char *directory;       /* play below it instead; NULL: on a file system of its own */
	const char *block_device;    /* format this instead of an image */
	const char *image_directory; /* where images are; NULL: $TMPDIR or /var/tmp */
	uint64_t image_bytes;        /* 0: 6 GiB, or what the files need */
	uint64_t readahead_bytes;    /* 0: 128 KiB */

	enum kernel_statistics statistics;
	uint32_t runs; /* 0: one, or KERNEL_LAZY_RUNS when statistics are lazy */

	enum kernel_clock clock;
	struct pace pace; /* of KERNEL_CLOCK_SCENARIO */

	struct stream_map *streams; /* NULL: the source names its streams */
	uint64_t seed;

	/* Called now and then; NULL: not wanted. */
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t ops,
			 uint64_t reread_bytes);
	void *progress_context;

	/* Set by a signal handler: end, and clean up. NULL: never. */
	const volatile int *interrupted;
};

/* A run that was disturbed is repeated, and so is a lazy one: the ops are asked for again. */
struct kernel_source {
	/* NULL: see `error`. */
	struct op_source *(*open)(void *context, struct error *error);
	/* The run is over; the source may be asked about it once more. Destroys it. */
	void (*close)(void *context, struct op_source *source);
	bool is_once; /* it cannot be opened a second time (standard input) */
	void *context;
};

/*
 * Run it. What this kernel does not tell is unknown in `result`; what disturbed it is in its notes.
 * False: ERROR_INPUT (an op that cannot be) or ERROR_FAILED (no root, no such file system, out of
 * memory ...), and nothing is left behind. Free with result_deinit().
 */
bool kernel_run(const struct kernel_options *options, const struct kernel_source *source,
		struct result *result, struct error *error);

/* Are pages kept in generations here? The lowest bit is the main switch (mm/vmscan.c, lru_gen_admin). */
bool kernel_has_mglru(void);

#endif
