/*
 * trial: a scenario on the model, with what is set differently in this run of it
 *
 * The scenario is read anew for each trial, with its settings: they may change anything in it.
 * Several run side by side, each on a source and a model of its own, so that results do not depend
 * on how many do.
 */
#ifndef REFAULT_STUDY_TRIAL_H
#define REFAULT_STUDY_TRIAL_H

#include "base/error.h"
#include "machine/model/device.h"
#include "machine/model/model.h"
#include "measure/result.h"
#include "source/scenario.h"

struct trial {
	struct scenario scenario;
	struct device_profile *device; /* NULL: the scenario names none */
	struct model_options model;    /* policy and all; the caller may change it before it runs */
	struct result result;
	uint64_t elapsed_ns; /* of the jobs */
};

/*
 * What a scenario says of its machine; the policy is its own, or the default one. `device` is to be
 * freed with device_profile_free(). False: ERROR_INPUT at the value's place, nothing to free.
 */
bool trial_machine(const struct scenario *scenario, struct model_options *model,
		   struct device_profile **device, struct error *error);

/* Run it once. False: the error says why, and there is no result. */
bool trial_play(const struct scenario *scenario, const struct model_options *model,
		struct result *result, uint64_t *elapsed_ns, struct error *error);

/*
 * Read the scenario `name` (scenario_load()) with all of `sets`. False: ERROR_INPUT; nothing to
 * close.
 */
bool trial_open(struct trial *trial, const char *name, const char *const *sets, size_t set_count,
		struct error *error);
void trial_close(struct trial *trial); /* the result too */

/*
 * Run all, on at most `workers` threads; model.progress is called for the first alone. False: the
 * error is the first one's that failed.
 */
bool trials_run(struct trial *trials, size_t count, size_t workers, struct error *error);

#endif
