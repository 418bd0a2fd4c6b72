/*
 * What the fuzz targets of op/ share: bytes as a file, and what must hold of every op that a reader delivers.
 *
 * A failure is an assertion: libFuzzer keeps the input. `make fuzz` runs a while; by hand: build/fuzz/test/fuzz/fuzz_csv test/fuzz/corpus/csv
 */
#ifndef REFAULT_TEST_FUZZ_OP_H
#define REFAULT_TEST_FUZZ_OP_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "op/path.h"
#include "op/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct fuzz_file {
	int fd;
	char path[40];
};

static inline void fuzz_file_create(struct fuzz_file *file, const void *data, size_t bytes)
{
	file->fd = memfd_create("fuzz", 0);
	assert(file->fd >= 0);
	assert(write(file->fd, data, bytes) == (ssize_t)bytes);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

struct fuzz_ops {
	ARRAY(struct op) ops;
	struct op_source *source;
	bool fine;
};

static inline void fuzz_ops_check(const struct fuzz_ops *list)
{
	uint64_t time_ns = 0;
	uint32_t paths = list->source ? path_count(list->source->paths) : 0;

	for (size_t i = 0; i < list->ops.count; i++) {
		const struct op *op = &list->ops.at[i];

		assert(op->time_ns >= time_ns && op->time_ns <= OP_TIME_MAX);
		assert(op->offset <= OP_END_MAX && op->bytes <= OP_END_MAX - op->offset);
		assert(op->kind < OP_KIND_COUNT);
		assert(op->path < paths);
		assert(op_kind_has_two_paths(op->kind) ? op->path_to < paths : op->path_to == 0);
		time_ns = op->time_ns;
	}
	for (uint32_t i = 0; i < paths; i++) {
		size_t bytes = path_bytes(list->source->paths, i);

		assert(bytes > 0 && bytes <= PATH_BYTES_MAX);
		assert(strlen(path_text(list->source->paths, i)) == bytes);
	}
}

/* Read all; at most a million, lest a small file that unpacks to a large one takes the afternoon. */
static inline void fuzz_ops_read(struct fuzz_ops *list, const char *path, const char *format,
				 bool lenient)
{
	struct trace_options options = {.format = format, .lenient = lenient};
	struct error error = {0};
	struct op ops[97];
	size_t got = 1;

	*list = (struct fuzz_ops){0};
	list->source = trace_open(path, &options, &error);
	list->fine = list->source != NULL;
	while (list->fine && got && list->ops.count < 1000000) {
		list->fine = op_source_next(list->source, ops, 97, &got, &error);
		assert(list->fine || got == 0);
		for (size_t i = 0; i < got; i++)
			*array_push(&list->ops) = ops[i];
	}
	assert(list->fine || (error.kind != ERROR_NONE && error.message[0]));
	assert(error.columns == 0 || error.column > 0);
	fuzz_ops_check(list);
}

static inline void fuzz_ops_deinit(struct fuzz_ops *list)
{
	array_deinit(&list->ops);
	op_source_destroy(list->source);
}

/* `a` and the first ops of `b` are the same. */
static inline void fuzz_ops_equal(const struct fuzz_ops *a, const struct fuzz_ops *b)
{
	assert(a->ops.count <= b->ops.count);
	for (size_t i = 0; i < a->ops.count; i++) {
		const struct op *one = &a->ops.at[i], *other = &b->ops.at[i];

		assert(one->time_ns == other->time_ns && one->offset == other->offset);
		assert(one->bytes == other->bytes && one->thread == other->thread);
		assert(one->kind == other->kind);
		assert(strcmp(path_text(a->source->paths, one->path),
			      path_text(b->source->paths, other->path)) == 0);
		if (op_kind_has_two_paths(one->kind))
			assert(strcmp(path_text(a->source->paths, one->path_to),
				      path_text(b->source->paths, other->path_to)) == 0);
	}
}

#endif
