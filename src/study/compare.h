/*
 * compare: kept runs, put on sides and held against each other
 */
#ifndef REFAULT_STUDY_COMPARE_H
#define REFAULT_STUDY_COMPARE_H

#include "base/error.h"
#include "measure/compared.h"
#include "store/store.h"

enum { COMPARE_SIDES_MAX = 16 };

struct compare_options {
	const char *const *figures; /* names of values (measure/value.h) */
	size_t figure_count; /* 0: what most people ask for, as far as it is not 0 everywhere */
	bool all;            /* or all of them */
	bool each;           /* each run is a side */
};

/*
 * Runs of one experiment are one side: the same input (by its digest), machine, policy, switches, options
 * and version of refault; only the seed may differ. Sides are in the order of their first runs. The
 * runs may be freed afterwards. False (ERROR_INPUT): there is one side only, or too many, or no run knows
 * a figure; nothing to free.
 */
bool compare_runs(struct compared *compared, const struct stored *runs, size_t count,
		  const struct compare_options *options, struct error *error);

#endif
