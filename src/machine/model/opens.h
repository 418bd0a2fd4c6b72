/*
 * opens: which thread has which file open
 *
 * A node's open files are a list, the newest first; where it has more than one (a database's
 * processes all have each of its files open) they are hashed by (file, thread) as well.
 */
#ifndef REFAULT_MACHINE_MODEL_OPENS_H
#define REFAULT_MACHINE_MODEL_OPENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* An open file of one thread; several threads may have the same file open. */
struct open {
	uint32_t thread;
	uint32_t handle;     /* the cache's */
	uint32_t file;       /* which stays, when the name is unlinked */
	uint32_t next, prev; /* of the same node; 0: none */
	bool is_hashed;
};

struct opens {
	ARRAY(struct open) all; /* [0] unused */
	uint32_t free, count;
	uint32_t *buckets; /* 0: empty */
	uint32_t bucket_mask, hashed_count;
};

void opens_init(struct opens *opens);
void opens_deinit(struct opens *opens);
/* The thread's, of the list that begins with `first`; 0: none. */
uint32_t opens_find(const struct opens *opens, uint32_t first, uint32_t thread);
/* Add to the list that begins with *first, or take from it. */
void opens_add(struct opens *opens, uint32_t *first, const struct open *open);
void opens_remove(struct opens *opens, uint32_t *first, uint32_t id);

#endif
