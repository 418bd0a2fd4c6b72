/*
 * kernel: another version of Linux
 *
 * Idea       Each is a row of switches (cache/policy/linux_presets.c): all newer ones, and the one before.
 * Differs    Two lists stay two lists, and generations stay generations: study/remedy/mglru.c. A switch that was set by hand is the user's, and
 *            is gone in another version.
 */
#include <stdio.h>
#include <string.h>

#include "study/remedy.h"

extern const struct remedy remedy_kernel;

static bool is_mglru(const struct policy *policy)
{
	return strstr(policy_name(policy), "-mglru") != NULL;
}

static void try_it(struct remedy_proposals *proposals, const struct policy *policy)
{
	struct remedy_try *attempt = remedy_propose(proposals);
	const char *name = policy_name(policy);

	attempt->model.policy.policy = policy;
	attempt->model.policy.switches = policy_preset(policy);
	attempt->title = remedy_text(proposals->advice, "kernel %s", name);
	attempt->how =
		remedy_text(proposals->advice,
			    "boot Linux %.*s or a later one before the next "
			    "that is listed",
			    (int)strcspn(name + strlen("linux-"), "-"), name + strlen("linux-"));
}

static void propose(struct remedy_proposals *proposals)
{
	const struct policy *now = proposals->facts->model->policy.policy;
	bool is_newer = true;

	if (strncmp(policy_name(now), "linux-", 6) != 0) {
		remedy_leave_out(proposals, "the policy is no version of Linux");
		return;
	}
	/* Newest first. */
	for (size_t i = 0; policy_at(i); i++) {
		const struct policy *policy = policy_at(i);

		if (strncmp(policy_name(policy), "linux-", 6) != 0 ||
		    is_mglru(policy) != is_mglru(now))
			continue;
		if (policy == now) {
			is_newer = false;
			continue;
		}
		try_it(proposals, policy);
		if (!is_newer)
			break;
	}
}

const struct remedy remedy_kernel = {
	.id = "kernel",
	.summary = "another version of Linux",
	.risk = "all else that changes with it",
	.ease = 60,
	.propose = propose,
};
