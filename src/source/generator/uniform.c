/*
 * uniform: any item, all equally likely, with repetition
 *
 * The smallest generator: one function and a row of facts.
 */
#include "source/generator.h"

static uint64_t uniform_next(struct walk *walk)
{
	return random_below(&walk->random, walk->item_count);
}

extern const struct generator generator_uniform;
const struct generator generator_uniform = {
	.name = "uniform",
	.summary = "any, all equally likely, with repetition",
	.next = uniform_next,
};
