/*
 * memory: more of it, as little more as does it
 *
 * Idea       The least memory at which 90 % of the re-reads are gone. Replacement that is not inclusive may
 *            have a larger memory read more: the least of those tried counts, and steps are a thirty-second
 *            of what there is where it is near.
 * Constants  up to 16 times what there is
 */
#include "base/size.h"
#include "study/remedy.h"

extern const struct remedy remedy_memory;

static void propose(struct remedy_proposals *proposals)
{
	const struct remedy_facts *facts = proposals->facts;
	struct remedy_try *attempt;

	if (!facts->fails && facts->reread_bytes == 0 && facts->totals.inodes_reallocated == 0) {
		remedy_leave_out(proposals, "nothing is read again");
		return;
	}
	attempt = remedy_propose(proposals);
	attempt->is_search = true;
}

const struct remedy remedy_memory = {
	.id = "memory",
	.summary = "the least more memory that removes 90 % of the re-reads",
	.risk = "somebody else goes without it",
	.ease = 80,
	.can_be_confirmed = true,
	.propose = propose,
};
