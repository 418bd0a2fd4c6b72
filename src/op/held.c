#include "op/held.h"

#include <string.h>

#include "base/array.h"

enum { CHUNK_BITS = 14, CHUNK_OPS = 1 << CHUNK_BITS, BATCH = 4096 };

struct held {
	struct op_source *trace;
	ARRAY(struct op *) chunks; /* full, but for the last */
	uint64_t count;
};

struct view {
	struct op_source source;
	const struct held *held;
	uint64_t at;
	const volatile int *interrupted;
};

struct held *held_create(struct op_source *source)
{
	struct held *held = memory_alloc(1, sizeof(*held));

	held->trace = source;
	return held;
}

void held_destroy(struct held *held)
{
	if (!held)
		return;
	for (size_t i = 0; i < held->chunks.count; i++)
		memory_free(held->chunks.at[i]);
	array_deinit(&held->chunks);
	op_source_destroy(held->trace);
	memory_free(held);
}

void held_add(struct held *held, const struct op *op)
{
	uint64_t at = held->count++;

	if (at % CHUNK_OPS == 0)
		*array_push(&held->chunks) = memory_alloc(CHUNK_OPS, sizeof(struct op));
	held->chunks.at[at >> CHUNK_BITS][at % CHUNK_OPS] = *op;
}

struct held *held_read(struct op_source *source, uint64_t bytes_max,
		       const volatile int *interrupted, enum held_end *end, struct error *error)
{
	struct held *held = held_create(source);
	struct op *ops = memory_alloc(BATCH, sizeof(*ops));
	size_t count;

	for (;;) {
		*end = HELD_FAILED;
		if (!op_source_next(source, ops, BATCH, &count, error))
			break;
		if (count == 0) {
			memory_free(ops);
			return held;
		}
		for (size_t i = 0; i < count; i++)
			held_add(held, &ops[i]);
		*end = HELD_TOO_LARGE;
		if (bytes_max && held->count * sizeof(struct op) > bytes_max)
			break;
		*end = HELD_INTERRUPTED;
		if (interrupted && *interrupted)
			break;
	}
	memory_free(ops);
	held_destroy(held);
	return NULL;
}

const struct op_source *held_trace(const struct held *held)
{
	return held->trace;
}

uint64_t held_count(const struct held *held)
{
	return held->count;
}

const struct op *held_op(const struct held *held, uint64_t index)
{
	return &held->chunks.at[index >> CHUNK_BITS][index % CHUNK_OPS];
}

/* ---- a source ---- */

static bool view_next(struct op_source *source, struct op *ops, size_t count, size_t *got,
		      struct error *error)
{
	struct view *view = (struct view *)source;
	uint64_t left = view->held->count - view->at;
	size_t in_chunk = CHUNK_OPS - (size_t)(view->at % CHUNK_OPS);

	*got = 0;
	if (view->interrupted && *view->interrupted)
		return error_failed(error, "interrupted");
	if (count > in_chunk)
		count = in_chunk;
	if (count > left)
		count = (size_t)left;
	if (count > 0)
		memcpy(ops, held_op(view->held, view->at), count * sizeof(*ops));
	view->at += count;
	*got = count;
	return true;
}

static void view_progress(const struct op_source *source, uint64_t *done, uint64_t *total)
{
	const struct view *view = (const struct view *)source;

	*done = view->at;
	*total = view->held->count;
}

static void view_destroy(struct op_source *source)
{
	memory_free(source);
}

struct op_source *held_source(const struct held *held, const volatile int *interrupted)
{
	static const struct op_source_interface interface = {
		.next = view_next, .progress = view_progress, .destroy = view_destroy};
	struct view *view = memory_alloc(1, sizeof(*view));

	view->source = *held->trace;
	view->source.interface = &interface;
	view->source.foresight = (struct op_foresight){0};
	view->held = held;
	view->interrupted = interrupted;
	return &view->source;
}
