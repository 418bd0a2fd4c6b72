/*
 * native: the layout of our own trace files, shared by their writer and their reader
 *
 * src/op/README.md describes it to the byte; this header holds its numbers, and the predictor that
 * both sides run in step: what it foretells is not written. All integers are little-endian.
 */
#ifndef REFAULT_OP_NATIVE_H
#define REFAULT_OP_NATIVE_H

#include "op/column.h"
#include "op/op.h"
#include "op/path.h"

#define NATIVE_MAGIC "\x89RFT\r\n\x1a\n"

enum {
	NATIVE_VERSION = 2, /* the newest, for files with a head block; without, they are in 1 */
	NATIVE_VERSION_PLAIN = 1,
	NATIVE_MAGIC_BYTES = 8,
	NATIVE_FILE_HEADER_BYTES = 16,
	NATIVE_BLOCK_HEADER_BYTES = 40,
	NATIVE_SUMMED_BYTES = 32, /* of a header: under its checksum, and then the body */
	NATIVE_END_BODY_BYTES = 24,
	NATIVE_BLOCK_OPS_MAX = 65536,
	NATIVE_BLOCK_TEXT_FULL = 4 << 20, /* with so much path text, a block takes no more ops */
	NATIVE_BLOCK_TEXT_MAX = NATIVE_BLOCK_TEXT_FULL + 2 * PATH_BYTES_MAX,
	NATIVE_BODY_BYTES_MAX = 8 << 20, /* no block comes near: checked before memory is taken */
	NATIVE_FACTS_BYTES_MAX = 1 << 20,
};

#define NATIVE_MARK_BLOCK UINT32_C(0x4b4c4252) /* "RBLK" */
#define NATIVE_MARK_HEAD  UINT32_C(0x44454852) /* "RHED" */
#define NATIVE_MARK_END   UINT32_C(0x444e4552) /* "REND" */

/*
 * Offsets of a block header's fields. The end block has the same header, and zeros where it has
 * nothing to say.
 */
enum {
	NATIVE_AT_MARK = 0,
	NATIVE_AT_BODY_BYTES = 4,
	NATIVE_AT_OPS = 8,
	NATIVE_AT_PATHS = 12,      /* new in this block */
	NATIVE_AT_TEXT_BYTES = 16, /* of theirs, without the beginnings they share */
	NATIVE_AT_ZERO = 20,
	NATIVE_AT_TIME = 24, /* u64: of the first op */
	NATIVE_AT_CHECKSUM = 32,
};

/*
 * The kind column: kind * 4, and these if the predictor was wrong and the value stands in its own
 * column.
 */
enum { NATIVE_BYTES_DIFFER = 1, NATIVE_OFFSET_DIFFERS = 2, NATIVE_KIND_SHIFT = 2 };

/* What an op's offset and bytes will be, if it goes on as its like have done. */
struct native_predictor {
	ARRAY(uint64_t) ends;          /* by path: where the last range op on it ended */
	uint64_t bytes[OP_KIND_COUNT]; /* by kind: what the last one had */
};

static inline uint64_t *native_end(struct native_predictor *predictor, uint32_t path)
{
	while (predictor->ends.count <= path)
		*array_push(&predictor->ends) = 0;
	return &predictor->ends.at[path];
}

/* Sets *offset and *bytes for an op of this kind on this path. */
static inline void native_predict(struct native_predictor *predictor, enum op_kind kind,
				  uint32_t path, uint64_t *offset, uint64_t *bytes)
{
	enum op_takes takes = op_kind_takes(kind);

	*offset = takes == OP_TAKES_RANGE ? *native_end(predictor, path) : 0;
	*bytes = takes == OP_TAKES_RANGE || takes == OP_TAKES_SIZE ? predictor->bytes[kind] : 0;
}

/* Tell it how it really was. */
static inline void native_learn(struct native_predictor *predictor, const struct op *op)
{
	predictor->bytes[op->kind] = op->bytes;
	if (op_kind_takes((enum op_kind)op->kind) == OP_TAKES_RANGE)
		*native_end(predictor, op->path) = op->offset + op->bytes;
}

static inline void native_put32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static inline void native_put64(unsigned char *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static inline uint32_t native_get32(const unsigned char *from)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value |= (uint32_t)from[i] << (8 * i);
	return value;
}

static inline uint64_t native_get64(const unsigned char *from)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

/* XXH64 of a block: its header up to the checksum, then its body. Defined in trace_write.c. */
uint64_t native_checksum(const unsigned char *header, const unsigned char *body, size_t body_bytes);

#endif
