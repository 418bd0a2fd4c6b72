/*
 * sweep: many cells, each a run of its own, on threads and on the ranks of a launcher
 *
 * What a cell is, is the caller's business: it is a number, and its outcome a text. Whoever is free takes the next one (there is no plan, so that
 * slow cells and slow machines balance out), and what comes out does not depend on who did it.
 *
 * Without a launcher all of it happens in this process. With one, rank 0 hands cells out and gathers the outcomes; the others ask it for cells
 * over a socket for each of their threads, and send outcomes back (ranks.h). A rank that is lost loses what it was doing: rank 0 gives those cells to
 * others.
 */
#ifndef REFAULT_STUDY_SWEEP_H
#define REFAULT_STUDY_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct ranks;

struct sweep {
	size_t count;        /* cells */
	const bool *done;    /* [0 .. count - 1]: those that are there already */
	const bool *wanted;  /* likewise: others are nobody's; NULL: all are wanted */
	size_t threads;      /* at least 1 */
	struct ranks *ranks; /* NULL: no launcher */

	/*
	 * Before this process does its first cell, if anything is left to do: on rank 0, while others may be at work already. False: nothing more is done, and the
	 * error is sweep_run()'s. NULL: nothing to prepare.
	 */
	bool (*prepare)(void *context, struct error *error);
	/*
	 * Its outcome, to be freed with free(), of any thread; `worker` tells threads of this process apart, from 0. NULL: interrupted.
	 */
	char *(*run)(void *context, size_t cell, size_t worker);
	/* On rank 0, as they come, one at a time. `by`: the rank that did it. */
	void (*finished)(void *context, size_t cell, const char *outcome, unsigned int by);
	/* A rank is gone, and this cell goes to another. */
	void (*lost)(void *context, size_t cell, unsigned int rank);
	void *context;
	const volatile int *interrupted; /* not 0: take no more; NULL: never */
};

/*
 * Until all is done, or interrupted. False: it could not be prepared; or, on a rank other than 0, that did not find rank 0, lost it, or is not welcome (the
 * error says why).
 */
bool sweep_run(const struct sweep *sweep, struct error *error);

#endif
