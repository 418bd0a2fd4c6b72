/*
 * cfq: the elevator in front of a SATA SSD, to Linux 4.20: completely fair queueing
 *
 * Requests that somebody waits for are queued by task; what nobody waits for is in one queue. A
 * queue that has its turn keeps it for up to 100 ms while it has requests (300 ms divided by the
 * queues that want one, if those are more than three), however long others wait. So a task that
 * syncs a large file delays each write of the journal by that much. What nobody waits for goes while
 * nothing else is at the device, and gives up its turn for the first request that somebody waits for.
 *
 * Costs 64 bytes a task that has ever asked for something.
 */
#ifndef REFAULT_MACHINE_MODEL_CFQ_H
#define REFAULT_MACHINE_MODEL_CFQ_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/model/device.h"

struct cfq;

struct cfq *cfq_create(struct device *device);
void cfq_destroy(struct cfq *cfq);
/* A read or write, on behalf of `task`; nobody waits for it if it is in the background. */
void cfq_submit(struct cfq *cfq, uint64_t now_ns, const struct device_request *request,
		uint32_t task);
/* A flush goes past the queues, and nothing leaves them until it is done. */
void cfq_flush(struct cfq *cfq, uint64_t now_ns, const struct device_request *request);
/* The device is done with this one: what is next may go. Not for flushes. */
void cfq_done(struct cfq *cfq, uint64_t now_ns, uint64_t tag);
void cfq_flush_done(struct cfq *cfq, uint64_t now_ns);

#endif
