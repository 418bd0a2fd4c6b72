/*
 * page_key: what a plain cache looks up, from an op
 *
 * A page is named by its file and its number in it, as one number; a request of a block trace can be one
 * thing, named by its start. Who counts what a plain cache would be asked asks here; who asks it (machine/model/bare_run.c) says the same in a faster loop.
 */
#ifndef REFAULT_OP_PAGE_KEY_H
#define REFAULT_OP_PAGE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

/* What looks pages up; O_DIRECT goes past any cache. */
static inline bool op_looks_pages_up(const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_READ:
	case OP_WRITE:
	case OP_MMAP_READ:
	case OP_MMAP_WRITE:
	case OP_READ_DONTCACHE:
	case OP_WRITE_DONTCACHE:
		return op->bytes > 0;
	default:
		return false;
	}
}

/*
 * Pages beyond 2^40 (object ids) fold their high part over the path's: distinct up to 2^52 pages of
 * 4096 paths.
 */
static inline uint64_t page_key(uint32_t path, uint64_t page)
{
	return page ^ ((uint64_t)path << 52 | (uint64_t)path >> 12 << 40);
}

#endif
