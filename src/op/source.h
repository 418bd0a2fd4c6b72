/*
 * source: whatever yields ops, in time order: a trace reader or a scenario
 *
 * A machine pulls batches. The source owns its path table and stream names; both may grow with
 * every batch, ids never change.
 */
#ifndef REFAULT_OP_SOURCE_H
#define REFAULT_OP_SOURCE_H

#include "base/error.h"
#include "op/op.h"

struct path_table;
struct op_source;

struct histogram;

/* Whoever wants to know what a source says of itself; texts are copied. */
struct op_source_reporter {
	void *context;
	/* the name of a unit of work: "transactions" */
	void (*work)(void *context, const char *name);
	/* `per_work`: a sum over the run; else a level or a ratio */
	void (*figure)(void *context, const char *name, const char *meaning, double value,
		       bool per_work);
	void (*latency)(void *context, const char *name, const struct histogram *ns);
	/* Something that went on for a while, since what counts began; end_ns UINT64_MAX: still. */
	void (*event)(void *context, const char *name, uint64_t begin_ns, uint64_t end_ns);
};

/*
 * What a machine likes to know of an op some time before it comes: so that what it has to look at is
 * in the processor's caches by then. It may as well not come; nothing changes by it.
 */
enum op_nearness { OP_LATER, OP_SOON, OP_SOONER };

struct op_foresight {
	void *context;
	/* LATER, then SOON, then SOONER, each some ops after the one before. Of the op kind, path,
	 * offset, bytes and, unless 0, thread count. */
	void (*expect)(void *context, const struct op *op, enum op_nearness nearness);
};

struct op_source_interface {
	/*
	 * Fill at most `count` ops; *got is how many, 0 at the end. False: the input is wrong
	 * (place and reason in `error`) and *got is 0; ops delivered before stay valid, and asking
	 * again says the same.
	 */
	bool (*next)(struct op_source *source, struct op *ops, size_t count, size_t *got,
		     struct error *error);

	/*
	 * The machine has carried out `op`, the last one delivered, and it took until `done_ns`.
	 * NULL in traces: they do not wait. A source that has this is asked for one op at a time,
	 * and the next op may depend on the answer (a closed loop).
	 */
	void (*completed)(struct op_source *source, const struct op *op, uint64_t done_ns);

	/*
	 * For a machine that carries out several ops at once: an op whose time has come at `now_ns`
	 * (since the start), while others are under way, each of another thread. *got 0: none yet.
	 * *next_ns is when to ask for the next, UINT64_MAX: when one of those under way is done, or
	 * never, if none is. Not mixed with next() in one run. NULL in traces.
	 */
	bool (*next_due)(struct op_source *source, uint64_t now_ns, struct op *op, size_t *got,
			 uint64_t *next_ns, struct error *error);

	/*
	 * Work that is more than ops (transactions), and what the source says of itself. NULL: none.
	 * work() is how many are done so far; report() hands over each figure and latency, once, at
	 * the end.
	 */
	uint64_t (*work)(const struct op_source *source);
	void (*report)(struct op_source *source, const struct op_source_reporter *reporter);

	/*
	 * How far through the input, and how long it is, in any unit; total 0: unknown. For
	 * progress bars.
	 */
	void (*progress)(const struct op_source *source, uint64_t *done, uint64_t *total);

	void (*destroy)(struct op_source *source);
};

/* First member of every source's own struct. */
struct op_source {
	const struct op_source_interface *interface;
	struct path_table *paths; /* owned */
	/* as the user gave it, or "standard input"; owned by the source */
	const char *name;
	const char *format; /* "csv", "refault-trace", "scenario", ... */
	/* [0] unused; NULL when streams are given by path classes (op/stream.h) */
	char **stream_names;
	uint32_t stream_count;         /* including the unused 0 */
	uint32_t thread_count;         /* its ops' threads are 0 .. thread_count; 0: not known */
	struct op_foresight foresight; /* the machine's; expect NULL: it does not care */
};

static inline bool op_source_next(struct op_source *source, struct op *ops, size_t count,
				  size_t *got, struct error *error)
{
	return source->interface->next(source, ops, count, got, error);
}

static inline void op_source_destroy(struct op_source *source)
{
	if (source)
		source->interface->destroy(source);
}

#endif
