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

/* The beginning of it: the rest is a trace's. */
struct feed {
	struct op_source *source;
	bool is_trace;
};

struct feed *feed_create(struct op_source *source);
void feed_destroy(struct feed *feed);

bool feed_trace_next(struct feed *feed, uint64_t now_ns, struct op *op, uint32_t *thread, bool *got,
		     uint64_t *next_ns, struct error *error);
void feed_trace_completed(struct feed *feed, uint32_t thread);

/*
 * An op that is due at `now_ns`, and its thread's number, from 0 and dense. *got false: none yet.
 * *next_ns is when to ask again (UINT64_MAX: not before one under way is done; or never, if none is).
 */
static inline bool feed_next(struct feed *feed, uint64_t now_ns, struct op *op, uint32_t *thread,
			     bool *got, uint64_t *next_ns, struct error *error)
{
	size_t count = 0;

	if (feed->is_trace)
		return feed_trace_next(feed, now_ns, op, thread, got, next_ns, error);
	if (!feed->source->interface->next_due(feed->source, now_ns, op, &count, next_ns, error))
		return false;
	*got = count > 0;
	*thread = op->thread;
	return true;
}

/* The op under way of this thread is done. */
static inline void feed_completed(struct feed *feed, const struct op *op, uint32_t thread,
				  uint64_t done_ns)
{
	if (feed->is_trace)
		feed_trace_completed(feed, thread);
	else
		feed->source->interface->completed(feed->source, op, done_ns);
}

/* Is this op of the jobs (else: a file is made, before time counts)? */
static inline bool feed_is_started(const struct feed *feed, const struct op *op)
{
	/* A scenario's setup is thread 0's (source/player.h). */
	return feed->is_trace ? op->kind != OP_EXISTS && op->kind != OP_EXISTS_SPARSE
			      : op->thread != 0;
}

#endif
