/*
 * sequential: from the first item to the last, and round again
 */
#include "source/generator.h"

static void sequential_begin(struct walk *walk)
{
	walk->cursor = 0;
}

static uint64_t sequential_next(struct walk *walk)
{
	uint64_t item = walk->cursor++;

	if (walk->cursor == walk->item_count)
		walk->cursor = 0;
	return item;
}

extern const struct generator generator_sequential;
const struct generator generator_sequential = {
	.name = "sequential",
	.summary = "from the first to the last",
	.begin = sequential_begin,
	.next = sequential_next,
};
