/*
 * meter: the kernel's own counters of a run, gathered from where it keeps them
 *
 *     read_bytes             /proc/PID/io of the player: what it caused to be read, metadata too
 *     levels, refaults       the cgroup's memory.stat and its neighbours
 *     the rest               tracepoints (probe.h), where they can be attached
 *
 * and what must not happen meanwhile: somebody drops all caches (/proc/vmstat), the group is out of
 * memory, strangers' pages come in, the machine reclaims by itself.
 */
#ifndef REFAULT_MACHINE_KERNEL_METER_H
#define REFAULT_MACHINE_KERNEL_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "machine/kernel/cgroup.h"
#include "measure/result.h"

struct player;
struct probe;
struct probe_counts;

struct meter {
	const struct cgroup *cgroup;
	const struct player *player;
	struct probe *probe;         /* counting; NULL: none */
	struct probe_counts *counts; /* as last read; NULL: no probe */
	int io_fd;
	uint64_t read_bytes_base, write_bytes_base, drops_base;
	uint64_t pinned_bytes;
	uint64_t known;         /* bit per counter_id */
	uint64_t streams_known; /* likewise, of each stream */
};

/*
 * Begin: from now on everything counts. The player waits. `probe` counts already, or is NULL; it
 * must outlive the meter.
 */
bool meter_start(struct meter *meter, const struct cgroup *cgroup, const struct player *player,
		 struct probe *probe, uint64_t pinned_bytes, struct error *error);
void meter_stop(struct meter *meter);

/*
 * All counters now; the player must have come to rest, or they are a little behind. With `sums`,
 * the cgroup's statistics are summed, too (see cgroup_read()): without, levels are 0 and unknown.
 */
void meter_read(struct meter *meter, bool sums, struct counters *counters);

/* What a sample has: read_bytes and the levels. Cheaper. */
void meter_sample(struct meter *meter, struct counters *counters);

/* Of what meter_read() read: those of one stream. */
void meter_stream(const struct meter *meter, uint32_t stream, struct counters *counters);

/* Pages of `victim` read again that `evictor` had evicted. Known if reread_bytes is. */
uint64_t meter_blame(const struct meter *meter, uint32_t victim, uint32_t evictor);

/* What the player has read and written (dirtied) so far, alone: cheap. */
void meter_io(const struct meter *meter, uint64_t *read_bytes, uint64_t *write_bytes);

/* What this kernel counts besides; `root` is the folder of the files. Takes a walk through them. */
void meter_besides(const struct meter *meter, const char *root, struct result_kernel *in);

/* We have just dropped all caches ourselves. */
void meter_drops_expected(struct meter *meter);

/* Has somebody dropped all caches since the start? */
bool meter_is_disturbed(const struct meter *meter);

/*
 * Say in the result's notes what else was seen. `drops_pages`: others than the player
 * were to drop pages.
 */
void meter_notes(const struct meter *meter, bool drops_pages, struct result *result);

#endif
