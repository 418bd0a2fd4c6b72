/*
 * diagnosis: everything that dumps show, and what they cannot show
 */
#ifndef REFAULT_STATE_DIAGNOSIS_H
#define REFAULT_STATE_DIAGNOSIS_H

#include "state/finding.h"

enum verdict {
	VERDICT_CACHING,   /* the caches are, or have, a problem */
	VERDICT_ELSEWHERE, /* there is a problem, and it is not caching */
	VERDICT_NONE,      /* what would be one is ruled out */
	VERDICT_UNKNOWN,   /* nothing is found, and nothing that matters is ruled out */
};

/* What these dumps cannot show, and what would. */
struct gap {
	const char *what, *needs;
};

struct diagnosis {
	struct state *state;
	enum verdict verdict;
	const char *summary;      /* the answer, a sentence without a full stop */
	struct findings findings; /* by kind, the most severe first */
	ARRAY(struct gap) gaps;
};

/* All rules over all that was read: after state_finish(). Free with diagnosis_deinit(). */
void diagnosis_make(struct diagnosis *diagnosis, struct state *state);
void diagnosis_deinit(struct diagnosis *diagnosis);

/* Is there anything of the system, not only of cgroups? */
bool state_has_system(const struct state *state);

#endif
