/*
 * remedy: the shelf of things that may help, each of which can be tried
 *
 * A remedy is one file in study/remedy/ with one constant `struct remedy remedy_NAME`, and one line in
 * study/remedy/remedies.def. It is a named transformation: of the operations (a DONTNEED more, a flag
 * on a read), of the machine (memory, readahead, a sysctl), or of what a scenario's program is set to
 * (a GUC). Having seen the run as it is, it proposes what to try (propose()); study/advise.h runs the
 * same operations with it, and tells what comes of it. A remedy does not know others.
 * study/remedy/drop_caches.c is the smallest whole example on operations, study/remedy/readahead.c on
 * the machine.
 *
 * Who does what is told apart by targets: a stream's operations on one class of paths (op/stream.h),
 * since a program that reads one table and streams through another should not change both.
 */
#ifndef REFAULT_STUDY_REMEDY_H
#define REFAULT_STUDY_REMEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "machine/model/model.h"
#include "measure/advice.h"
#include "op/op.h"
#include "source/scenario.h"

enum { REMEDY_TARGETS_MAX = 63, REMEDY_SETS_MAX = 4, REMEDY_TRIES_MAX = 12 };

/* What a target was seen doing in the run as it is. Counts of operations unless said otherwise. */
struct remedy_target {
	const char *name; /* for people */
	const char *stream, *class_name;
	uint64_t reads, writes, syncs, stats, creates, dontneeds, mapped_reads, mapped_writes;
	uint64_t read_bytes, write_bytes, mapped_bytes;
	uint64_t
		following_reads; /* reads that go on where the last of the file ended, or begin it */
	uint64_t onward_reads;   /* of them, those that do not begin it; mapped ones, too */
	uint64_t following_writes;   /* likewise */
	uint64_t partial_writes;     /* that cover part of a page within the file */
	uint64_t odd_writes;         /* not in multiples of 512 bytes: O_DIRECT refuses them */
	uint64_t rewrites_begun;     /* of a whole file from its start, while it has a size */
	uint64_t rewrites_finished;  /* those that came to its end */
	uint64_t rewritten_reads;    /* reads of files that were being rewritten */
	uint64_t randoms, willneeds; /* advice */
	uint64_t past_cache;         /* reads and writes with O_DIRECT or RWF_DONTCACHE */

	/* of the result as it is */
	uint64_t device_read_bytes, reread_bytes;
	uint64_t blamed_pages; /* of whomever, read again because this target allocated */
};

/* The run as it is. */
struct remedy_facts {
	const struct model_options *model; /* with the policy; its seed is the first */
	const struct scenario *scenario;   /* NULL: a trace */
	struct remedy_target targets[REMEDY_TARGETS_MAX + 1];
	size_t target_count; /* the last one may be "other", which is nobody's to change */
	struct counters totals;
	uint64_t blamed_pages; /* in all */
	uint64_t read_bytes, reread_bytes,
		asked_bytes;         /* asked_bytes: of reads, buffered or mapped */
	uint64_t drop_caches;        /* operations */
	uint64_t slab_bytes;         /* at its most, as far as samples tell */
	uint64_t dirty_pages;        /* likewise */
	uint64_t device_bytes_per_s; /* while it was busy; 0: not known */
	bool fails;                  /* the run does not come to its end for want of memory */
	bool keeps_time;
};

struct remedy;

/* One thing to try. */
struct remedy_try {
	const struct remedy *remedy;
	uint64_t targets;                  /* bit per target; 0: it is about the machine */
	struct model_options model;        /* the machine with it */
	const char *sets[REMEDY_SETS_MAX]; /* of a scenario, besides its own */
	size_t set_count;
	uint64_t split_bytes;  /* not 0: the targets run in a cgroup of their own with this limit */
	uint64_t unit_bytes;   /* edits: the remedy's own parameter */
	uint64_t memory_bytes; /* taken beyond what there is */
	/* A second remedy besides, whose machine and sets are in these already; NULL: none. */
	const struct remedy_try *second;
	bool is_search;                 /* tried to find the least that is enough; study/advise.c */
	const char *title, *how, *pays; /* in the advice's arena */
	const char
		*command; /* for a shell, as it is: words with blanks are quoted. NULL: see how */
};

struct remedy_proposals {
	const struct remedy_facts *facts;
	struct advice *advice; /* whose arena keeps texts */
	const struct remedy *remedy;
	ARRAY(struct remedy_try) list;
};

/* The present run of an edit. */
struct remedy_edit {
	const struct remedy_try *attempt;
	bool is_target; /* the present op is a target's */
	uint64_t
		size_bytes; /* of the op's file before it, as far as the ops tell; UINT64_MAX: they do not */
	void *path;           /* remedy->path_bytes of state for the op's path, zeroed at first */
	ARRAY(struct op) out; /* what is carried out instead of the op */
};

struct remedy {
	const char *id;      /* "dontneed" */
	const char *summary; /* for --only and the manual, from lower case */
	const char *since;   /* NULL: any */
	const char *risk;
	/*
	 * Of a hundred: what its gain counts for beside another's. Ours: a line of a program or a
	 * sysctl counts whole, whatever has to be bought or moved to counts less.
	 */
	unsigned int ease;
	/* What two remedies may change in different ways, and only one of them does: "readahead". NULL. */
	const char *touches;
	bool can_be_confirmed; /* the kernel machine can do it */

	/*
	 * Add what is worth trying (remedy_propose()). What can have no effect is not: say why with
	 * remedy_leave_out().
	 */
	void (*propose)(struct remedy_proposals *proposals);

	/* Edit one op: push to edit->out what takes its place. NULL: the ops stay. */
	size_t state_bytes, path_bytes;
	void (*edit)(struct remedy_edit *edit, void *state, const struct op *op);
	void (*end)(void *state); /* free what the state has; NULL: nothing */

	/* For edits of targets: what to call it, for these. In the advice's arena. */
	const char *(*how)(struct advice *advice, const struct remedy_facts *facts,
			   const struct remedy_try *attempt);
	const char *what; /* "DONTNEED behind what it reads and writes" */
	/* Tried for one target after the other, then for all that it helped. */
	bool is_for_each;
	bool (*suits)(const struct remedy_facts *facts, size_t target);

	/* For settings of PostgreSQL: a pgbench job's key and value, what to call it, and the command. */
	struct {
		const char *key, *value, *line, *command;
	} setting;
};

/* The registry (study/remedy/registry.c): NULL after the last. */
const struct remedy *remedy_at(size_t index);
const struct remedy *remedy_find(const char *id);

/* Adds a try of the run as it is, to be changed. Good until the next one. */
struct remedy_try *remedy_propose(struct remedy_proposals *proposals);
void remedy_leave_out(struct remedy_proposals *proposals, const char *why);

/* A propose() for edits: each target that suits(), those to blame most first. */
void remedy_propose_targets(struct remedy_proposals *proposals);
/* A propose() for settings: each pgbench job of the scenario that does not say so already. */
void remedy_propose_setting(struct remedy_proposals *proposals);
/* A remedy on these targets: title and how are filled in. */
void remedy_name(struct advice *advice, const struct remedy_facts *facts,
		 struct remedy_try *attempt);

/*
 * Both at once, over `base`: *both is it, of whose texts none is set. False: they touch the same setting, or the
 * same target's operations.
 */
bool remedy_combine(const struct model_options *base, const struct remedy_try *one,
		    const struct remedy_try *other, struct remedy_try *both);

const char *remedy_text(struct advice *advice, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "wal", "source, part" */
const char *remedy_target_names(struct advice *advice, const struct remedy_facts *facts,
				uint64_t targets);
/* The command that sets a cgroup's limit. */
const char *remedy_memory_max(struct advice *advice, uint64_t bytes);
/* A size as options take it: "384MiB". */
const char *remedy_size(struct advice *advice, uint64_t bytes);

/* Is the target read or written at all, and does it push anything out? */
bool remedy_is_to_blame(const struct remedy_facts *facts, size_t target);

/* All targets of this one's class of paths, which share files: a cgroup split keeps them together. */
uint64_t remedy_same_class(const struct remedy_facts *facts, size_t target);
/*
 * Who pushes others out most and is not in `taken`; else, since objects are in nobody's blame matrix,
 * who looks up or makes many names. SIZE_MAX: nobody.
 */
size_t remedy_worst(const struct remedy_facts *facts, uint64_t taken);

/* The op as it is; a copy of it of another kind; advice on a range of its file. */
void remedy_keep(struct remedy_edit *edit, const struct op *op);
void remedy_keep_as(struct remedy_edit *edit, const struct op *op, enum op_kind kind);
void remedy_add(struct remedy_edit *edit, const struct op *op, enum op_kind kind, uint64_t offset,
		uint64_t bytes);

static inline bool op_kind_is_read(unsigned int kind)
{
	return kind == OP_READ || kind == OP_READ_DIRECT || kind == OP_READ_DONTCACHE;
}

static inline bool op_kind_is_write(unsigned int kind)
{
	return kind == OP_WRITE || kind == OP_WRITE_DIRECT || kind == OP_WRITE_DONTCACHE;
}

static inline bool op_kind_is_mapped(unsigned int kind)
{
	return kind == OP_MMAP_READ || kind == OP_MMAP_WRITE;
}

#endif
