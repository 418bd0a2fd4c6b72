/*
 * generator: in which order a step takes its requests or files (the shelf generator/)
 *
 * A step has items, numbered from 0: the requests of a file one after the other, or the files of a
 * set. Its generator says which comes next; the player (source/player.h) makes ops of it, counts,
 * and ends the pass. A new order is one file in generator/ and one line in generators.def;
 * generator/uniform.c is the whole of the smallest. Must cost a few ns an item, and use no other
 * randomness than walk->random and walk->seed: the same seed gives the same items on every machine.
 */
#ifndef REFAULT_SOURCE_GENERATOR_H
#define REFAULT_SOURCE_GENERATOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/random.h"
#include "source/schema.h"

struct generator;

/* One thread's way through one step. */
struct walk {
	const struct generator *generator;
	const void
		*options; /* the generator's own keys, read into its struct; NULL if it has none */
	uint64_t item_count;    /* items are 0 .. item_count - 1; at least 1 */
	uint64_t per_directory; /* so many neighbours are in one directory; item_count if all are */
	uint64_t cursor;        /* the generator's: where it is */
	uint64_t seed;          /* of the run: the same for all walks */
	struct random random;   /* of this walk: of the seed, the job, the step and the thread */
	void *state;            /* the generator's, made by prepare() */
};

struct generator {
	const char *name;
	const char *summary; /* for docs/scenarios.md */

	const struct schema_key *keys; /* of its own; NULL: none */
	size_t key_count;
	size_t options_bytes; /* of the struct that they are read into */

	/* How many items a pass takes if the step does not say. NULL: all, item_count. */
	uint64_t (*pass_items)(const void *options, uint64_t item_count);

	/* Once, before all else: tables in `arena`, to hang on walk->state. NULL: none needed. */
	void (*prepare)(struct walk *walk, struct arena *arena);

	/*
	 * A pass begins anew (not called when a step with `count` goes on where it stopped). NULL:
	 * nothing to do.
	 */
	void (*begin)(struct walk *walk);

	/* The next item. Called any number of times: at its end it goes round. */
	uint64_t (*next)(struct walk *walk);
};

/* NULL: no such generator / after the last. */
const struct generator *generator_find(const char *name);
const struct generator *generator_at(size_t index);

#endif
