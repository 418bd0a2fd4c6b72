/*
 * model_private: what the model's own files share
 */
#ifndef REFAULT_MACHINE_MODEL_MODEL_PRIVATE_H
#define REFAULT_MACHINE_MODEL_MODEL_PRIVATE_H

#include "machine/model/model.h"

/* Fill in what the options say: input, machine, policy, memory, seed. */
void model_describe(const struct model_options *options, const struct op_source *source,
		    struct result *result);

#endif
