/*
 * validate: the model's prediction, and what the kernel did
 */
#ifndef REFAULT_STUDY_VALIDATE_H
#define REFAULT_STUDY_VALIDATE_H

#include "machine/kernel/guest_machine.h"
#include "machine/kernel/kernel.h"
#include "machine/model/model.h"
#include "measure/validation.h"

struct validate_options {
	struct model_options model;   /* its policy: validate_policy(), or the user's */
	struct kernel_options kernel; /* the same workload */
	const struct guest_machine
		*guest;   /* another kernel than the one underneath; NULL: that one */
	double tolerance; /* 0.05 is 5 % */
};

struct validated {
	/* Of a side that failed, only its heading is there. */
	struct result predicted, measured;
	struct validation validation;
	/*
	 * Why a side did not come to its end ("out of memory at operation ..."); "": it did. That
	 * both fail is agreement.
	 */
	char predicted_failure[512], measured_failure[512];
};

/*
 * The policy that stands for a kernel of this release ("6.18.44-..."): the newest preset that is not
 * newer, with fresh or lazy statistics; with MGLRU if that kernel runs it. False: there is none so
 * old (ERROR_INPUT).
 */
bool validate_policy(struct policy_options *policy, const char *release, bool has_mglru,
		     enum kernel_statistics statistics, struct error *error);

/*
 * Run both. The model goes first: an input that is wrong costs no run. False: the input is wrong,
 * or the kernel could not be tried at all; nothing is left.
 * Free with validated_deinit().
 */
bool validate_run(const struct validate_options *options, const struct kernel_source *source,
		  struct validated *validated, struct error *error);
void validated_deinit(struct validated *validated);

#endif
