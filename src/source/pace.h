/*
 * pace: how long an op takes on a scenario's clock
 *
 * A system call, copying, and what the device must read first, behind what it is doing: one request
 * after the other. Whatever carries the op out says how much was read and written.
 */
#ifndef REFAULT_SOURCE_PACE_H
#define REFAULT_SOURCE_PACE_H

#include <stdint.h>

struct pace {
	uint64_t op_ns;                               /* a system call */
	uint64_t hit_ns_per_page;                     /* copying a page */
	uint64_t read_bytes_per_s, write_bytes_per_s; /* of the device; 0: takes no time */
	uint64_t device_free_ns;                      /* when it can begin the next request */
};

/* When the op that began at `now_ns` is done; the device is busy for what it read and wrote. */
uint64_t pace_done_ns(struct pace *pace, uint64_t now_ns, uint64_t pages, uint64_t read_bytes,
		      uint64_t write_bytes);

#endif
