#include "source/pace.h"

#include "base/size.h"

static uint64_t device_ns(uint64_t bytes, uint64_t bytes_per_s)
{
	return bytes_per_s ? (uint64_t)((unsigned __int128)bytes * NS_PER_SECOND / bytes_per_s) : 0;
}

uint64_t pace_done_ns(const struct pace *pace, uint64_t *device_free_ns, const struct op *op,
		      uint64_t pages, uint64_t read_bytes, uint64_t write_bytes)
{
	uint64_t now_ns = op->time_ns, done = now_ns + pace->op_ns + pace->hit_ns_per_page * pages;
	uint64_t busy_ns = device_ns(read_bytes, pace->read_bytes_per_s) +
			   device_ns(write_bytes, pace->write_bytes_per_s);

	if (op->kind == OP_MARK)
		return now_ns;
	if (op->kind == OP_COMPUTE)
		return now_ns + op->bytes;
	if (busy_ns == 0)
		return done;
	if (*device_free_ns < now_ns)
		*device_free_ns = now_ns;
	*device_free_ns += busy_ns;
	/* Whoever writes waits for nothing, unless it goes to the device itself. */
	return (read_bytes > 0 || op->kind == OP_WRITE_DIRECT) && done < *device_free_ns
		       ? *device_free_ns
		       : done;
}
