/*
 * less_memory: half of it
 *
 * Idea       Where nothing is read again, some of the memory may be somebody else's. It is never a gain of
 *            its own, but what it costs is worth knowing.
 */
#include "base/size.h"
#include "cache/cache.h"
#include "study/remedy.h"

extern const struct remedy remedy_less_memory;

static void propose(struct remedy_proposals *proposals)
{
	const struct model_options *model = proposals->facts->model;
	struct remedy_try *attempt;
	uint64_t half = model->memory_bytes / 2 / MIB * MIB;

	if (proposals->facts->fails || half < CACHE_MEMORY_BYTES_MIN + model->pinned_bytes) {
		remedy_leave_out(proposals, "there is too little of it");
		return;
	}
	attempt = remedy_propose(proposals);
	attempt->model.memory_bytes = half;
	attempt->title = remedy_text(proposals->advice, "half the memory, %s",
				     remedy_size(proposals->advice, half));
	if (model->is_cgroup)
		attempt->command = remedy_memory_max(proposals->advice, half);
	else
		attempt->how = "a smaller machine";
}

const struct remedy remedy_less_memory = {
	.id = "less-memory",
	.summary = "half the memory: what that would cost",
	.risk = "what is read again with less of it",
	.ease = 0,
	.can_be_confirmed = true,
	.propose = propose,
};
