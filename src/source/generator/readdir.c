/*
 * readdir: every item once, directory by directory, in each in the order that a hashed directory
 * lists its names
 *
 * So ext4 (dir_index) does it. The order has nothing to do with that of creation, and is the same
 * in every pass and for every reader, whatever the seed. XFS and btrfs list names in the order in
 * which they were added: `sequential` is the pattern for those.
 */
#include "source/generator.h"

#include "source/permutation.h"

enum { DIRECTORY_HASH = 0x6a09e667 }; /* any number: the order of the names' hashes */

struct readdir_state {
	struct permutation full, last; /* of a full directory, and of the last one */
	uint64_t directory_first;
	uint64_t at;
};

static void readdir_prepare(struct walk *walk, struct arena *arena)
{
	struct readdir_state *state = arena_alloc(arena, sizeof(*state));
	uint64_t rest = walk->item_count % walk->per_directory;

	permutation_init(&state->full, walk->per_directory, DIRECTORY_HASH);
	permutation_init(&state->last, rest ? rest : walk->per_directory, DIRECTORY_HASH);
	walk->state = state;
}

static void readdir_begin(struct walk *walk)
{
	struct readdir_state *state = walk->state;

	state->directory_first = state->at = 0;
}

static uint64_t readdir_next(struct walk *walk)
{
	struct readdir_state *state = walk->state;
	const struct permutation *order = &state->full;
	uint64_t item;

	if (walk->item_count - state->directory_first <= walk->per_directory)
		order = &state->last;
	item = state->directory_first + permutation_at(order, state->at++);
	if (state->at == order->count) {
		state->at = 0;
		state->directory_first += order->count;
		if (state->directory_first == walk->item_count)
			state->directory_first = 0;
	}
	return item;
}

extern const struct generator generator_readdir;
const struct generator generator_readdir = {
	.name = "readdir",
	.summary = "each once, directory by directory, in the order of a hashed directory (ext4): "
		   "always the same, and not that of creation",
	.prepare = readdir_prepare,
	.begin = readdir_begin,
	.next = readdir_next,
};
