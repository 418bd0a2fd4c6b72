/*
 * feed: ops as they fall due, whatever the source
 *
 * A scenario knows itself what is due and waits for answers. A trace has time stamps: an op begins
 * at its time, or when its thread's op before is done if that is later (an open loop that cannot
 * overtake itself). Ops that change names begin in the trace's order among all others, so that no
 * thread finds a file missing that another has made; a mark waits until all before it is done. If
 * the first op that is not `exists` is later than a day, the time stamps are a calendar's, and time
 * counts from there.
 */
#ifndef REFAULT_MACHINE_MODEL_FEED_H
#define REFAULT_MACHINE_MODEL_FEED_H

#include "op/source.h"

struct feed;

struct feed *feed_create(struct op_source *source);
void feed_destroy(struct feed *feed);

/*
 * An op that is due at `now_ns`, and its thread's number, from 0 and dense. *got false: none yet.
 * *next_ns is when to ask again (UINT64_MAX: not before one under way is done; or never, if none is).
 */
bool feed_next(struct feed *feed, uint64_t now_ns, struct op *op, uint32_t *thread, bool *got,
	       uint64_t *next_ns, struct error *error);

/* The op under way of this thread is done. */
void feed_completed(struct feed *feed, const struct op *op, uint32_t thread, uint64_t done_ns);

/* Is this op of the jobs (else: a file is made, before time counts)? */
bool feed_is_started(const struct feed *feed, const struct op *op);

#endif
