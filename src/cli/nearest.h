/*
 * nearest: the name that somebody probably meant
 */
#ifndef REFAULT_CLI_NEAREST_H
#define REFAULT_CLI_NEAREST_H

#include <stddef.h>

/*
 * Keeps the best of the names offered so far. Start with {.wanted = text}; `best` is NULL while
 * none is near enough to be worth saying.
 */
struct nearest {
	const char *wanted;
	const char *best;
	size_t best_distance;
};

void nearest_offer(struct nearest *nearest, const char *name);

#endif
