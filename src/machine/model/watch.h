/*
 * watch: to look on while the model carries ops out, one by one
 *
 * A watch is called before an op, for each piece that is fetched for it, and after it. It may look
 * at the cache (cache_peek(), cache_file_size(), cache_returns()) and must not change it: what the
 * model does is the same to the byte with it and without.
 */
#ifndef REFAULT_MACHINE_MODEL_WATCH_H
#define REFAULT_MACHINE_MODEL_WATCH_H

#include "cache/cache.h"
#include "op/source.h"

/* The present op, as the model sees it. */
struct model_moment {
	const struct cache *cache;
	const struct op_source *source; /* its paths */
	const struct op *op;
	uint64_t number; /* of the op, from 1, of all */
	uint32_t stream;
	uint32_t file; /* that its path means just now; 0: none, or the op is of none */
};

struct model_watch {
	void *context;
	void (*before)(void *context, const struct model_moment *moment);
	/* What is read from the device, of any file: the moment is that of before(). */
	void (*fetched)(void *context, const struct model_moment *moment,
			const struct cache_run *runs, size_t count);
	/* cache_returns() has what came back during this op. */
	void (*after)(void *context, const struct model_moment *moment);
};

#endif
