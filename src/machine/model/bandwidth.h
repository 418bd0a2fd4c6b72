/*
 * bandwidth: how much a device takes in write-back, as a kernel estimates it
 *
 * Over 4 s, and smoothed once more; only times count in which write-back is under way. Source: Linux
 * mm/page-writeback.c, wb_update_bandwidth(), wb_update_write_bandwidth(); INIT_BW.
 */
#ifndef REFAULT_MACHINE_MODEL_BANDWIDTH_H
#define REFAULT_MACHINE_MODEL_BANDWIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/size.h"

struct bandwidth {
	uint64_t since_ns, bytes_before;
	uint64_t bytes_per_s, mean_bytes_per_s;
};

static inline struct bandwidth bandwidth_initial(void)
{
	return (struct bandwidth){.bytes_per_s = 100 * MIB, .mean_bytes_per_s = 100 * MIB};
}

/* `bytes`: written so far. False: it is too early for another estimate, or there was no write-back. */
static inline bool bandwidth_update(struct bandwidth *bandwidth, uint64_t now_ns, uint64_t bytes,
				    bool is_writing)
{
	/* BANDWIDTH_INTERVAL; 3 s in jiffies, rounded up to a power of 2: 1024, of 4 ms. */
	const uint64_t interval_ns = 200 * NS_PER_MS, period_ns = 4096 * NS_PER_MS;
	uint64_t elapsed_ns = now_ns - bandwidth->since_ns, done = bytes - bandwidth->bytes_before;
	uint64_t old = bandwidth->bytes_per_s, *mean = &bandwidth->mean_bytes_per_s, now;

	if (elapsed_ns < interval_ns)
		return false;
	bandwidth->since_ns = now_ns;
	bandwidth->bytes_before = bytes;
	if (!is_writing)
		return false;
	if (elapsed_ns > period_ns) {
		bandwidth->bytes_per_s = *mean =
			(uint64_t)((unsigned __int128)done * NS_PER_SECOND / elapsed_ns);
		return true;
	}
	now = (uint64_t)(((unsigned __int128)done * NS_PER_SECOND +
			  (unsigned __int128)old * (period_ns - elapsed_ns)) /
			 period_ns);
	if (*mean > old && old >= now)
		*mean -= (*mean - old) >> 3;
	else if (*mean < old && old <= now)
		*mean += (old - *mean) >> 3;
	bandwidth->bytes_per_s = now;
	return true;
}

#endif
