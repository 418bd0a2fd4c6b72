/*
 * operation_private: what the files that carry ops out share
 *
 * operation.c has the names, the descriptors and the ops; past_cache.c reads and writes that leave
 * nothing in the cache.
 */
#ifndef REFAULT_MACHINE_MODEL_OPERATION_PRIVATE_H
#define REFAULT_MACHINE_MODEL_OPERATION_PRIVATE_H

#include "machine/model/model_private.h"

/* cache_read(), cache_write() and their like. */
typedef bool transfer(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		      struct cache_plan *plan);

/* ---- operation.c ---- */

/*
 * The file that an op on this node means: the name's, or that of a descriptor whose name is gone.
 * 0: none.
 */
uint32_t node_file(const struct model *model, uint32_t node);
/* The thread's handle of this file, opening it if it is not open. */
uint32_t node_open(struct model *model, uint32_t node, uint32_t thread);
/* The plan is done, and what the file system reads to carry it out. TREE_NONE: of no node's data. */
void node_plan_done(struct model *model, uint32_t node);
/* By `move`, or by the file system's own cache if it has one. */
void node_read(struct model *model, const struct op *op, uint32_t node, transfer *move);
void node_write(struct model *model, const struct op *op, uint32_t node, transfer *move);
/* The file was written to; it ended at `before`, and may end elsewhere now. */
void node_grew(struct model *model, uint32_t node, uint64_t before);

/* ---- past_cache.c ---- */

enum { OPERATION_SECTOR_BYTES = 512 };

bool operation_is_aligned(const struct op *op, uint64_t bytes);
void operation_direct_read(struct model *model, const struct op *op, uint32_t node);
void operation_direct_write(struct model *model, const struct op *op, uint32_t node);
void operation_dontcache_read(struct model *model, const struct op *op, uint32_t node);
void operation_dontcache_write(struct model *model, const struct op *op, uint32_t node);
/* What the last RWF_DONTCACHE write left, unless this op goes on with it. */
void operation_behind_settle(struct model *model, const struct op *op);

#endif
