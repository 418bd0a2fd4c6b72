/*
 * nearest: the name that somebody probably meant
 */
#ifndef REFAULT_BASE_NEAREST_H
#define REFAULT_BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_BYTES_MAX = 63 }; /* longer names are never near */

/*
 * Keeps the best of the names offered so far, the first among equals. Start with {.wanted = text};
 * `best` is NULL while none is near enough to be worth saying. Capitals count as small letters.
 */
struct nearest {
	const char *wanted;
	const char *best;
	size_t best_distance; /* in half letters */
};

void nearest_offer(struct nearest *nearest, const char *name);

/*
 * The best of at(context, 0), at(context, 1), ... until NULL; NULL if none is near.
 */
const char *nearest_word(const char *word, const char *(*at)(const void *context, size_t index),
			 const void *context);

#endif
