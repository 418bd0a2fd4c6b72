/*
 * op: one file operation, the vocabulary of everything above
 *
 * A source (trace, scenario) yields ops; a machine (model, kernel, fuse) carries them out. Paths
 * are ids into the source's `struct path_table`. 48 bytes.
 */
#ifndef REFAULT_OP_OP_H
#define REFAULT_OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum op_kind {
#define OP(name, NAME, takes, help) OP_##NAME,
#include "op/ops.def"
#undef OP
	OP_KIND_COUNT,
};

enum { STREAM_NONE = 0, STREAM_COUNT_MAX = 1023 };

/*
 * No time and no file end is larger: 2^63, so that sums of two cannot wrap. Every reader sees to
 * it.
 */
#define OP_END_MAX  (UINT64_C(1) << 63)
#define OP_TIME_MAX (OP_END_MAX - 1)

/* In a mark's bytes: where time is kept, what came before was a warm-up, and counts no more. */
enum { MARK_COUNTING_BEGINS = 1 };

struct op {
	uint64_t time_ns; /* since the start; an order, and a pace for machines that keep time */
	uint64_t offset;  /* bytes; offset + bytes <= OP_END_MAX */
	uint64_t bytes;   /* length; truncate, exists: the (new) size */
	uint32_t path;    /* path id; mark: the label's id in the same table */
	uint32_t path_to; /* rename, link: the new name; else 0 */
	uint32_t thread;
	uint32_t line; /* where in the input, 1-based; 0: nowhere, or not a text */
	uint16_t
		/*
		 * who asks: 1 .. STREAM_COUNT_MAX, index into the source's streams; 0: by the
		 * path's class
		 */
		stream;
	uint8_t kind; /* enum op_kind */
};

/* "read", "fadvise_dontneed", ... as in the op CSV. */
const char *op_kind_name(enum op_kind kind);

/* False if there is no such op. `bytes` is the text's length. */
bool op_kind_from_name(enum op_kind *kind, const char *text, size_t bytes);

/* The name most like this wrong one, for a message ("raed": "read"); NULL if none is near. */
const char *op_kind_nearest(const char *text, size_t bytes);

/* Is it of no file, so that its path says nothing? */
static inline bool op_kind_is_of_no_file(unsigned int kind)
{
	return kind == OP_SYNC || kind == OP_COMPUTE || kind == OP_DROP_CACHES || kind == OP_PIN ||
	       kind == OP_SUM_STATISTICS;
}

/* Does it have two paths, from>to, the second in path_to? */
static inline bool op_kind_has_two_paths(unsigned int kind)
{
	return kind == OP_RENAME || kind == OP_LINK;
}

/* A `compute` that takes longer is a mistake, which no machine carries out: 30 days. */
#define OP_COMPUTE_NS_MAX (UINT64_C(30) * 24 * 3600 * 1000000000)

/* Does this kind use offset and bytes, or only bytes, or neither? (ops.def says.) */
enum op_takes { OP_TAKES_NOTHING, OP_TAKES_SIZE, OP_TAKES_RANGE, OP_TAKES_RENAME, OP_TAKES_LABEL };
enum op_takes op_kind_takes(enum op_kind kind);

#endif
