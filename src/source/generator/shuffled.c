/*
 * shuffled: every item once, in a random order; the next pass in another
 */
#include "source/generator.h"

#include "source/permutation.h"

static void shuffled_prepare(struct walk *walk, struct arena *arena)
{
	walk->state = arena_alloc(arena, sizeof(struct permutation));
}

static void shuffled_begin(struct walk *walk)
{
	walk->cursor = 0;
	permutation_init(walk->state, walk->item_count, random_next(&walk->random));
}

static uint64_t shuffled_next(struct walk *walk)
{
	uint64_t item = permutation_at(walk->state, walk->cursor++);

	if (walk->cursor == walk->item_count)
		shuffled_begin(walk);
	return item;
}

extern const struct generator generator_shuffled;
const struct generator generator_shuffled = {
	.name = "shuffled",
	.summary = "each once, in a random order; the next pass in another",
	.prepare = shuffled_prepare,
	.begin = shuffled_begin,
	.next = shuffled_next,
};
