/*
 * mglru: the multi-generational LRU instead of the two lists, or the other way round
 *
 * Idea       Generations by age instead of an active and an inactive list: what is read twice is told from what is
 *            read once by how often, not by which list it is on. It is a switch of a running kernel.
 * Source     Documentation/admin-guide/mm/multigen_lru.rst; behaviour case C38
 * Differs    Taken by name: linux-V-mglru beside linux-V on the shelf of policies (cache/policy/), of the same
 *            version, else of the newest one before it. Switches that were set by hand stay set. Swapping, which it
 *            changes, too (C38), is not modelled.
 */
#include <stdio.h>
#include <string.h>

#include "study/remedy.h"

extern const struct remedy remedy_mglru;

#define SUFFIX "-mglru"

/* "linux-6.18-mglru": 6018; 0: no version of Linux. */
static unsigned int version_of(const char *name)
{
	unsigned int major, minor;

	return sscanf(name, "linux-%u.%u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

static bool is_mglru(const struct policy *policy)
{
	return strstr(policy_name(policy), SUFFIX) != NULL;
}

/* The nearest that is not newer, and of the other kind. */
static const struct policy *twin_of(const struct policy *now)
{
	unsigned int most = version_of(policy_name(now)), found = 0;
	const struct policy *twin = NULL;

	for (size_t i = 0; policy_at(i); i++) {
		const struct policy *policy = policy_at(i);
		unsigned int version = version_of(policy_name(policy));

		if (is_mglru(policy) == is_mglru(now) || version == 0 || version > most ||
		    version <= found)
			continue;
		twin = policy;
		found = version;
	}
	return twin;
}

static void propose(struct remedy_proposals *proposals)
{
	const struct policy_options *now = &proposals->facts->model->policy;
	struct switches before = policy_preset(now->policy);
	const struct policy *twin;
	struct remedy_try *attempt;

	if (!version_of(policy_name(now->policy))) {
		remedy_leave_out(proposals, "the policy is no version of Linux");
		return;
	}
	twin = twin_of(now->policy);
	if (!twin) {
		remedy_leave_out(proposals, "this kernel has two lists and nothing else (MGLRU: "
					    "Linux 6.1)");
		return;
	}
	attempt = remedy_propose(proposals);
	attempt->model.policy.policy = twin;
	attempt->model.policy.switches = policy_preset(twin);
	for (int id = 0; id < SWITCH_COUNT; id++)
		if (now->switches.value[id] != before.value[id])
			attempt->model.policy.switches.value[id] = now->switches.value[id];
	attempt->title =
		is_mglru(twin) ? "MGLRU instead of two lists" : "two lists instead of MGLRU";
	attempt->command = remedy_text(proposals->advice,
				       "echo %s > /sys/kernel/mm/lru_gen/enabled  # policy %s",
				       is_mglru(twin) ? "y" : "n", policy_name(twin));
}

const struct remedy remedy_mglru = {
	.id = "mglru",
	.summary = "the multi-generational LRU instead of the two lists, or the other way round",
	.since = "Linux 6.1",
	.risk = "it is everybody's on the machine, and changes when it swaps",
	.ease = 90,
	.propose = propose,
};
