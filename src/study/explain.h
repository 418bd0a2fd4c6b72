/*
 * explain: look on while the model carries a run out, and tell its story
 *
 * What a run says in its result is sums. Here the same run is done once more with somebody looking on (machine/model/watch.h; the
 * model is deterministic, so it is the same run), who notes each page that comes back: of which file and stream, by which op, whose
 * allocation had pushed it out and during which op. The lints look on, too, and say what was done in vain.
 *
 * Idea       a shadow tells the age at which its page was evicted: how many pages had aged out until then. The age after
 *            each op is kept, so the op during which it passed that is the one that pushed the page out.
 * Differs    of a run of more than AGES ops that pushed something out every second one's age is dropped, again and again:
 *            "evicted by" is then the right op or one soon after it
 */
#ifndef REFAULT_STUDY_EXPLAIN_H
#define REFAULT_STUDY_EXPLAIN_H

#include "machine/model/model.h"
#include "measure/explanation.h"
#include "measure/lint.h"

/* What is asked for: all of it applies. */
struct explain_filter {
	const char *path;   /* of what came back: the whole path, or its last part; NULL: any */
	const char *stream; /* whose reads; NULL: anybody's */
	uint64_t from_ns, until_ns; /* op times, until not included; 0, UINT64_MAX: any */
	bool wants_list;            /* explanation.list */
};

/*
 * Run the source on the model with these options (no watch among them). True: the three are filled, to be freed with their
 * *_deinit(). False: none is there, and the error says why.
 */
bool explain_source(const struct model_options *options, struct op_source *source,
		    const struct explain_filter *filter, struct explanation *explanation,
		    struct lint_report *lints, struct result *result, struct error *error);

#endif
