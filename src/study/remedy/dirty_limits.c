/*
 * dirty_limits: vm.dirty_background_ratio and vm.dirty_ratio, down and up
 *
 * Idea       Low limits have the flusher begin early, and writers stop often and for short; high ones take
 *            bursts, and make whoever fills them wait for long.
 * Source     Linux mm/page-writeback.c, domain_dirty_limits(), balance_dirty_pages(); behaviour case C50
 * Differs    In percent alone; vm.dirty_bytes is the same in another unit. A version 1 cgroup has no limit of
 *            its own, and without a device nobody waits: then there is nothing to try.
 */
#include <inttypes.h>

#include "study/remedy.h"

extern const struct remedy remedy_dirty_limits;

static void try_it(struct remedy_proposals *proposals, uint32_t background, uint32_t limit)
{
	struct advice *advice = proposals->advice;
	uint64_t memory = proposals->facts->model->memory_bytes;
	struct remedy_try *attempt = remedy_propose(proposals);

	attempt->model.policy.switches.value[SWITCH_dirty_background_ratio] = background;
	attempt->model.policy.switches.value[SWITCH_dirty_ratio] = limit;
	attempt->title = remedy_text(advice, "dirty limits %" PRIu32 " and %" PRIu32 " %%",
				     background, limit);
	attempt->how = remedy_text(
		advice,
		"sysctl vm.dirty_background_ratio=%" PRIu32 " vm.dirty_ratio=%" PRIu32
		" (or vm.dirty_background_bytes=%" PRIu64 " vm.dirty_bytes=%" PRIu64 ")",
		background, limit, memory / 100 * background, memory / 100 * limit);
}

static void propose(struct remedy_proposals *proposals)
{
	static const uint32_t limits[][2] = {{1, 2}, {3, 9}, {20, 40}};
	const struct remedy_facts *facts = proposals->facts;
	const uint32_t *now = facts->model->policy.switches.value;

	if (facts->model->is_cgroup || !facts->keeps_time || facts->dirty_pages == 0) {
		remedy_leave_out(proposals,
				 facts->model->is_cgroup
					 ? "a memory cgroup is modelled without a dirty limit of "
					   "its own"
				 : !facts->keeps_time ? "without a device nobody waits for it"
						      : "nothing is dirty");
		return;
	}
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i][0] != now[SWITCH_dirty_background_ratio] ||
		    limits[i][1] != now[SWITCH_dirty_ratio])
			try_it(proposals, limits[i][0], limits[i][1]);
}

const struct remedy remedy_dirty_limits = {
	.id = "dirty-limits",
	.summary = "vm.dirty_background_ratio and vm.dirty_ratio, down and up",
	.since = "Linux 2.6",
	.risk = "it is everybody's on the machine; low limits write what would have been "
		"overwritten",
	.ease = 95,
	.propose = propose,
};
