/*
 * cache_pressure: vm.vfs_cache_pressure, up and down
 *
 * Idea       How many of the dentries and inodes a shrinker counts, in percent: more of it gives their
 *            memory to pages sooner, less keeps names.
 * Source     Linux fs/super.c, super_cache_count(), vfs_pressure_ratio(); behaviour cases C11, C32
 * Constants  10, 200 and 1000; slab below a fiftieth of the memory is not worth it
 */
#include <stdio.h>

#include "study/remedy.h"

enum { SLAB_PART = 50 };

extern const struct remedy remedy_cache_pressure;

static void propose(struct remedy_proposals *proposals)
{
	static const unsigned int values[] = {10, 200, 1000};
	const struct remedy_facts *facts = proposals->facts;
	uint32_t now = facts->model->policy.switches.value[SWITCH_vfs_cache_pressure];

	if (facts->slab_bytes < facts->model->memory_bytes / SLAB_PART &&
	    facts->totals.inodes_reallocated == 0) {
		remedy_leave_out(proposals, "dentries and inodes take next to no memory");
		return;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct remedy_try *attempt;

		if (values[i] == now)
			continue;
		attempt = remedy_propose(proposals);
		attempt->model.policy.switches.value[SWITCH_vfs_cache_pressure] = values[i];
		attempt->title = remedy_text(proposals->advice, "vfs_cache_pressure=%u", values[i]);
		attempt->command = remedy_text(proposals->advice,
					       "sysctl -w vm.vfs_cache_pressure=%u", values[i]);
	}
}

const struct remedy remedy_cache_pressure = {
	.id = "cache-pressure",
	.summary = "vm.vfs_cache_pressure, up and down",
	.since = "Linux 2.6",
	.risk = "it is everybody's on the machine; high values make look-ups read inodes again",
	.ease = 95,
	.propose = propose,
};
