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
#include "base/prefetch.h"
#include "machine/model/tree.h"

/* An open file of one thread; several threads may have the same file open. */
struct open {
	uint32_t thread;
	uint32_t handle;     /* the cache's */
	uint32_t file;       /* which stays, when the name is unlinked */
	uint32_t list;       /* its list's id, where that is hashed */
	uint32_t next, prev; /* of the same list; 0: none */
};

struct open_bucket {
	uint32_t id, file, thread; /* id 0: empty */
	uint32_t handle, list;     /* the cache's; here, so that a look-up is one line of memory */
};

struct opens {
	ARRAY(struct open) all; /* [0] unused */
	uint32_t free, count;
	struct open_bucket *buckets;
	uint32_t bucket_mask, hashed_count;
	uint32_t list_count; /* ids given to lists */
};

static inline uint32_t opens_bucket(const struct opens *opens, uint32_t file, uint32_t thread)
{
	uint64_t mixed = ((uint64_t)file << 32 | thread) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 40) & opens->bucket_mask;
}

void opens_init(struct opens *opens);
void opens_deinit(struct opens *opens);
/* The thread's, of this file's list; 0: none. */
uint32_t opens_find(const struct opens *opens, const struct open_list *list, uint32_t file,
		    uint32_t thread);
/* And its handle; 0: none. */
uint32_t opens_handle(const struct opens *opens, const struct open_list *list, uint32_t file,
		      uint32_t thread);
void opens_add(struct opens *opens, struct open_list *list, const struct open *open);
void opens_remove(struct opens *opens, struct open_list *list, uint32_t id);
/* It will be looked for: what that touches comes into the processor's caches. */
static inline void opens_prefetch(const struct opens *opens, uint32_t file, uint32_t thread)
{
	prefetch_read(&opens->buckets[opens_bucket(opens, file, thread)]);
}

#endif
