/*
 * pace: how long an op takes on a scenario's clock
 *
 * A system call, copying, and what the device must read first, behind what it is doing: one request
 * after the other. Whatever carries the op out says how much was read and written.
 */
#ifndef REFAULT_SOURCE_PACE_H
#define REFAULT_SOURCE_PACE_H

#include <stdint.h>

#include "op/op.h"

/* All 0: nothing takes time (traces: their own time stamps are the clock). */
struct pace {
	uint64_t op_ns;                               /* a system call */
	uint64_t hit_ns_per_page;                     /* copying a cached page to the reader */
	uint64_t read_bytes_per_s, write_bytes_per_s; /* of the device; 0: takes no time */
};

/*
 * When the op, which begins at its time_ns, is done. *device_free_ns is when the device can begin its
 * next request, 0 at first: it is busy for what the op read and wrote. `compute` takes what it says:
 * there is a processor for every thread. A mark takes no time.
 */
uint64_t pace_done_ns(const struct pace *pace, uint64_t *device_free_ns, const struct op *op,
		      uint64_t pages, uint64_t read_bytes, uint64_t write_bytes);

#endif
