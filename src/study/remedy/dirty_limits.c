/*
 * dirty_limits: how much may be dirty: vm.dirty_background_bytes and vm.dirty_bytes, or ratios
 *
 * Idea       Low limits have the flusher begin early, and writers stop often and for short; high ones take
 *            bursts, and make whoever has to wait for the device wait for all that has come together. A percent
 *            of a large memory is seconds of a device's work, which is why low limits are said in bytes.
 * Source     Linux mm/page-writeback.c, domain_dirty_limits(), balance_dirty_pages(); behaviour case C50
 * Differs    A version 1 cgroup has no limit of its own, and without a device nobody waits: then there is nothing
 *            to try.
 * Constants  what the device does in 0.2 and 0.6 s (C50: 16 and 48 MiB of 80 MiB/s), and in a quarter of that;
 *            20 and 40 %
 */
#include <inttypes.h>

#include "base/size.h"
#include "study/remedy.h"

enum { BACKGROUND_PARTS = 5, LIMIT_TIMES = 3 };

extern const struct remedy remedy_dirty_limits;

/* In words that a sysctl takes: bytes without a unit. */
static void try_bytes(struct remedy_proposals *proposals, uint64_t background)
{
	struct advice *advice = proposals->advice;
	const struct model_options *model = proposals->facts->model;
	uint64_t limit = background * LIMIT_TIMES;
	struct remedy_try *attempt;

	/* Sysctls take no less than two pages; and more than the ratios allow is no lower limit. */
	if (background < MIB || limit > UINT32_MAX || limit > model->memory_bytes / 5)
		return;
	attempt = remedy_propose(proposals);
	attempt->model.policy.switches.value[SWITCH_dirty_background_bytes] = (uint32_t)background;
	attempt->model.policy.switches.value[SWITCH_dirty_bytes] = (uint32_t)limit;
	attempt->title = remedy_text(advice, "dirty limits of %s and %s",
				     remedy_size(advice, background), remedy_size(advice, limit));
	attempt->command = remedy_text(
		advice, "sysctl -w vm.dirty_background_bytes=%" PRIu64 " vm.dirty_bytes=%" PRIu64,
		background, limit);
}

static void try_ratio(struct remedy_proposals *proposals, uint32_t background, uint32_t limit)
{
	struct advice *advice = proposals->advice;
	struct remedy_try *attempt = remedy_propose(proposals);
	uint32_t *value = attempt->model.policy.switches.value;

	value[SWITCH_dirty_background_ratio] = background;
	value[SWITCH_dirty_ratio] = limit;
	value[SWITCH_dirty_background_bytes] = value[SWITCH_dirty_bytes] = 0;
	attempt->title = remedy_text(advice, "dirty limits %" PRIu32 " and %" PRIu32 " %%",
				     background, limit);
	attempt->command = remedy_text(
		advice, "sysctl -w vm.dirty_background_ratio=%" PRIu32 " vm.dirty_ratio=%" PRIu32,
		background, limit);
}

static void propose(struct remedy_proposals *proposals)
{
	const struct remedy_facts *facts = proposals->facts;
	const uint32_t *now = facts->model->policy.switches.value;
	uint64_t background = facts->device_bytes_per_s / BACKGROUND_PARTS / MIB * MIB;

	if (facts->model->is_cgroup || !facts->keeps_time || facts->dirty_pages == 0) {
		remedy_leave_out(proposals,
				 facts->model->is_cgroup
					 ? "a memory cgroup is modelled without a dirty limit of "
					   "its own"
				 : !facts->keeps_time ? "without a device nobody waits for it"
						      : "nothing is dirty");
		return;
	}
	if (background != now[SWITCH_dirty_background_bytes])
		try_bytes(proposals, background);
	try_bytes(proposals, background / 4 / MIB * MIB);
	if (now[SWITCH_dirty_bytes])
		try_ratio(proposals, 10, 20);
	if (now[SWITCH_dirty_background_ratio] != 20 || now[SWITCH_dirty_ratio] != 40)
		try_ratio(proposals, 20, 40);
}

const struct remedy remedy_dirty_limits = {
	.id = "dirty-limits",
	.summary = "vm.dirty_background_bytes and vm.dirty_bytes, or ratios, down and up",
	.since = "Linux 2.6.29",
	.risk = "it is everybody's on the machine; low limits write what would have been "
		"overwritten",
	.ease = 95,
	.propose = propose,
};
