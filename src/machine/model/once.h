/*
 * once: a set of numbers, to do a thing the first time only
 *
 * For metadata that a file system keeps in buffers of its own: read when first needed, there from then on.
 */
#ifndef REFAULT_MACHINE_MODEL_ONCE_H
#define REFAULT_MACHINE_MODEL_ONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct once {
	uint64_t *keys; /* + 1; 0: empty */
	size_t mask, count;
};

/* True the first time this key (not UINT64_MAX) is seen. */
bool once(struct once *once, uint64_t key);
void once_deinit(struct once *once);

#endif
