/*
 * matrix: one change against a corpus of scenarios
 *
 * Who wins by a change is easily found: run what it was made for. This finds who loses: every
 * scenario of a corpus is run under a base policy and under the change, over some seeds, and each is
 * called a winner, a loser or unchanged (measure/change.h). Runs go side by side on as many threads
 * as asked for; what comes out does not depend on how many.
 */
#ifndef REFAULT_STUDY_MATRIX_H
#define REFAULT_STUDY_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "cache/policy_options.h"
#include "measure/change.h"

/*
 * A change, read: what it makes of the base's policy, and what it sets in each scenario
 * (scenario_load()'s sets).
 */
struct matrix_change {
	struct policy_options base, changed;
	bool policy_differs; /* else it is about the machine alone */
	const char **sets;   /* [0 .. set_count - 1], in the arena */
	size_t set_count;
	char text[512]; /* "activate_on_write=never, machine.readahead=16KiB" */
	struct arena arena;
};

/*
 * `texts` are KEY=VALUE, together one change. KEY is a switch of the policy; `policy` (VALUE is
 * another one); any other key of a scenario's machine; or a path of a scenario's keys with a dot in
 * it (machine.readahead: `readahead` alone is a switch). Fails (ERROR_INPUT) with the nearest KEY
 * there is, and on a change that the base makes already. Free with matrix_change_deinit(), also
 * after a failure.
 */
bool matrix_change_parse(struct matrix_change *change, const struct policy_options *base,
			 const char *const *texts, size_t count, struct error *error);
void matrix_change_deinit(struct matrix_change *change);

struct matrix_options {
	const struct matrix_change *change;
	const char *const *names; /* of scenarios, as scenario_load() takes them */
	size_t name_count;
	const char *const *sets; /* for both sides */
	size_t set_count;
	struct metric metric;
	size_t seed_count;
	bool has_first_seed; /* else each scenario's own is the first */
	uint64_t first_seed;
	size_t thread_count;       /* at least 1 */
	uint64_t memory_bytes_max; /* leave larger machines out; 0: none is too large */

	/* Called after each run, by one thread at a time; NULL: not wanted. */
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t ops,
			 uint64_t reread_bytes);
	void *progress_context;
};

/*
 * False: a scenario is wrong as it is, or the change can be made in none (ERROR_INPUT). That a run
 * fails (no memory left) is an outcome: change_scenario.base_failure. Free with change_deinit().
 */
bool matrix_run(const struct matrix_options *options, struct change *change, struct error *error);

#endif
