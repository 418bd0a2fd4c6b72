/*
 * cgroup: whoever pushes others out gets a memory cgroup of its own
 *
 * Idea       A limit of its own makes a stream recycle its own pages, and a walk its own dentries and
 *            inodes, whatever it does. What there was in all stays: the others have the rest.
 * Source     Documentation/admin-guide/cgroup-v2.rst, memory.max; behaviour cases C11, C24, C29, C32, C49
 * Differs    1. Both sides are run by themselves and added up, which is what separate limits come to as
 *            long as they share no files: a class of paths that somebody else uses, too, is split off with all who use it.
 *            2. So neither waits for the other's device: no time is told.
 * Constants  a sixteenth of the memory, 16 MiB at least; and half of what is not pinned
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "study/remedy.h"

#define LEAST_BYTES (16 * MIB)

enum { PART = 16, ROUNDS = 3 };

extern const struct remedy remedy_cgroup;

static void try_it(struct remedy_proposals *proposals, size_t target, uint64_t limit)
{
	const struct remedy_facts *facts = proposals->facts;
	struct advice *advice = proposals->advice;
	struct remedy_try *attempt = remedy_propose(proposals);
	const char *size = remedy_size(advice, limit);

	attempt->targets = remedy_same_class(facts, target);
	attempt->split_bytes = limit;
	attempt->model.memory_bytes -= limit;
	attempt->model.device = NULL;
	attempt->title = remedy_text(advice, "%s: a memory cgroup of its own, %s",
				     remedy_target_names(advice, facts, attempt->targets), size);
	attempt->command =
		remedy_text(advice, "systemd-run --scope -p MemoryMax=%" PRIu64 " COMMAND", limit);
}

/* As little as does, and as much as leaves the others half. */
static void try_both(struct remedy_proposals *proposals, size_t target, uint64_t least)
{
	const struct model_options *model = proposals->facts->model;
	uint64_t half = (model->memory_bytes - model->pinned_bytes) / 2 / MIB * MIB;

	try_it(proposals, target, least);
	if (half > least)
		try_it(proposals, target, half);
}

static void propose(struct remedy_proposals *proposals)
{
	const struct remedy_facts *facts = proposals->facts;
	const struct model_options *model = facts->model;
	uint64_t limit = model->memory_bytes / PART / MIB * MIB, taken = 0;
	size_t tried = 0;

	limit = limit < LEAST_BYTES ? LEAST_BYTES : limit;
	if (model->memory_bytes < limit * 2 + model->pinned_bytes || facts->target_count < 2) {
		remedy_leave_out(proposals, facts->target_count < 2
						    ? "there is nobody to be kept apart from"
						    : "there is too little memory to be split");
		return;
	}
	for (; tried < ROUNDS; tried++) {
		size_t worst = remedy_worst(facts, taken);

		if (worst == SIZE_MAX)
			break;
		taken |= remedy_same_class(facts, worst);
		try_both(proposals, worst, limit);
	}
	if (!tried)
		remedy_leave_out(proposals, "nobody pushes anything out");
}

const struct remedy remedy_cgroup = {
	.id = "cgroup",
	.summary = "whoever pushes others out gets a memory cgroup with a limit of its own",
	.since = "Linux 4.5 (cgroup v2)",
	.risk = "what it uses again itself has to fit its own limit",
	.ease = 90,
	.propose = propose,
};
