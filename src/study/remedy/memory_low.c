/*
 * memory_low: those that are pushed out are protected: memory.low
 *
 * Idea       Reclaim takes from whoever is above its memory.low as long as there is somebody: with as much of it
 *            as they use, those that were pushed out stay, and the others have the rest and what is left over.
 *            Nobody has a wall: that is what it has over memory.max for the others (remedy cgroup).
 * Source     Documentation/admin-guide/cgroup-v2.rst, memory.low, memory.min; Linux mm/vmscan.c, get_scan_count(),
 *            mm/page_counter.c, page_counter_calculate_protection()
 * Differs    1. As two memories, of what is protected and of the rest: what both come to while both want more than
 *            they have. What one side leaves is the other's on a kernel and nobody's here: it does at least as
 *            well. 2. No time is told, as of cgroup. 3. memory.min is the same until memory is so short that
 *            memory.low would be given up.
 * Constants  half and three quarters of what is not pinned
 */
#include <inttypes.h>

#include "base/size.h"
#include "study/remedy.h"

#define LEAST_BYTES (16 * MIB)

extern const struct remedy remedy_memory_low;

static void try_it(struct remedy_proposals *proposals, uint64_t targets, uint64_t low)
{
	const struct remedy_facts *facts = proposals->facts;
	struct advice *advice = proposals->advice;
	uint64_t rest = facts->model->memory_bytes - facts->model->pinned_bytes - low, others = 0;
	struct remedy_try *attempt;

	if (low < LEAST_BYTES || rest < LEAST_BYTES)
		return;
	for (size_t i = 0; i < facts->target_count && i < REMEDY_TARGETS_MAX; i++)
		if (!(targets >> i & 1) && facts->targets[i].reads + facts->targets[i].writes +
							   facts->targets[i].mapped_reads +
							   facts->targets[i].mapped_writes +
							   facts->targets[i].stats >
						   0)
			others |= UINT64_C(1) << i;
	if (!others)
		return;
	attempt = remedy_propose(proposals);
	attempt->targets = targets;
	attempt->split_bytes = rest;
	attempt->model.memory_bytes -= rest;
	attempt->model.device = NULL;
	attempt->title =
		remedy_text(advice, "%s: memory.low %s", remedy_target_names(advice, facts, others),
			    remedy_size(advice, low));
	attempt->command = remedy_text(advice,
				       "systemd-run --scope -p MemoryLow=%" PRIu64
				       " COMMAND  # its slice needs as much",
				       low + facts->model->pinned_bytes);
}

static void propose(struct remedy_proposals *proposals)
{
	const struct remedy_facts *facts = proposals->facts;
	uint64_t free = facts->model->memory_bytes - facts->model->pinned_bytes;
	size_t worst = remedy_worst(facts, 0), count = proposals->list.count;

	if (worst != SIZE_MAX && facts->target_count > 1)
		for (uint64_t quarters = 2; quarters <= 3; quarters++)
			try_it(proposals, remedy_same_class(facts, worst),
			       free / 4 * quarters / MIB * MIB);
	if (proposals->list.count == count)
		remedy_leave_out(proposals, worst == SIZE_MAX ? "nobody pushes anything out"
					    : facts->target_count < 2
						    ? "there is nobody to be kept apart from"
						    : "there is too little memory to be split");
}

const struct remedy remedy_memory_low = {
	.id = "memory-low",
	.summary = "those that are pushed out are protected by memory.low",
	.since = "Linux 4.5 (cgroup v2; mounted with memory_recursiveprot: 5.7)",
	.risk = "whoever is protected and idle keeps its memory all the same",
	.ease = 90,
	.propose = propose,
};
