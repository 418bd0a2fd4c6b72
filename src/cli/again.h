/*
 * again: a kept run, to be done once more by a command that takes a trace or a scenario
 *
 * The store has what was asked, word by word. From that come the words that make the same run: of a trace its machine, of a scenario what was
 * set in it (by the user, and by the column and row of a comparison), and the policy and seed that this one run had. Whether trace or
 * scenario are what they were is seen by their digest.
 */
#ifndef REFAULT_CLI_AGAIN_H
#define REFAULT_CLI_AGAIN_H

#include "base/memory.h"
#include "cli/subject.h"
#include "store/store.h"

struct again {
	struct stored stored;
	const char **
		words; /* the trace or scenario, then options of SUBJECT_OPTIONS and SUBJECT_TIME_OPTIONS */
	size_t word_count;
	struct arena arena; /* has them */
};

/* Is it the name of a kept run, @last or its id, and not of a file? */
bool again_is_run(const char *name);

/*
 * `db` NULL: the default store. False: there is no such run, or it cannot be done again (ERROR_INPUT: the kernel did it, or it is a plain
 * cache's). Close it in any case.
 */
bool again_open(struct again *again, const char *db, const char *name, struct error *error);

/* Is what the words led to what it was when the run was kept? False: ERROR_INPUT. */
bool again_check(const struct again *again, const struct subject *subject, struct error *error);

void again_close(struct again *again);

#endif
