#include "op/summary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "op/touched.h"

void trace_summary_init(struct trace_summary *summary)
{
	*summary = (struct trace_summary){.knows_distinct = true};
	summary->touched = touched_create();
}

void trace_summary_deinit(struct trace_summary *summary)
{
	touched_destroy(summary->touched);
	array_deinit(&summary->files);
	array_deinit(&summary->by_path);
	array_deinit(&summary->threads);
}

/* ---- files ---- */

static uint32_t *place_of(struct trace_summary *summary, uint32_t path)
{
	while (summary->by_path.count <= path)
		*array_push(&summary->by_path) = 0;
	return &summary->by_path.at[path];
}

static uint32_t file_new(struct trace_summary *summary, uint32_t path)
{
	uint32_t number = (uint32_t)summary->files.count;

	*array_push(&summary->files) = (struct summary_file){
		.path = path,
		.first_path = path,
		.number = number,
	};
	*place_of(summary, path) = number + 1;
	return number;
}

/* The file that an op on this path means. */
static uint32_t file_of(struct trace_summary *summary, uint32_t path)
{
	uint32_t known = *place_of(summary, path);

	return known ? known - 1 : file_new(summary, path);
}

/* A file that is made, unless there is one of that name. */
static uint32_t file_made(struct trace_summary *summary, uint32_t path)
{
	uint32_t known = *place_of(summary, path);

	return known && !summary->files.at[known - 1].is_unlinked ? known - 1
								  : file_new(summary, path);
}

static void file_rename(struct trace_summary *summary, uint32_t from, uint32_t to)
{
	uint32_t file = file_of(summary, from), *target = place_of(summary, to);

	if (from == to)
		return;
	if (*target)
		summary->files.at[*target - 1].is_unlinked = true;
	*target = file + 1;
	*place_of(summary, from) = 0;
	summary->files.at[file].path = to;
}

/* ---- threads ---- */

static void thread_note(struct trace_summary *summary, uint32_t thread)
{
	size_t low = 0, high = summary->threads.count;

	if (summary->threads.count && summary->thread == thread)
		return;
	summary->thread = thread;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (summary->threads.at[middle] < thread)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < summary->threads.count && summary->threads.at[low] == thread)
		return;
	(void)array_push(&summary->threads);
	memmove(&summary->threads.at[low + 1], &summary->threads.at[low],
		(summary->threads.count - 1 - low) * sizeof(summary->threads.at[0]));
	summary->threads.at[low] = thread;
}

/* ---- reads and writes ---- */

enum way { WAY_BUFFERED, WAY_DIRECT, WAY_MAPPED };

static void transfer_add(struct trace_summary *summary, const struct op *op, bool is_write,
			 enum way way)
{
	struct summary_side *side = is_write ? &summary->write : &summary->read;
	uint32_t id = file_of(summary, op->path);
	struct summary_file *file = &summary->files.at[id];
	struct touch touch;

	side->count++;
	side->bytes += op->bytes;
	if (way == WAY_DIRECT) {
		side->direct_count++;
		side->direct_bytes += op->bytes;
	} else if (way == WAY_MAPPED) {
		side->mapped_count++;
		side->mapped_bytes += op->bytes;
	}
	if (is_write) {
		file->write_count++;
		file->write_bytes += op->bytes;
	} else {
		file->read_count++;
		file->read_bytes += op->bytes;
	}
	if (op->offset + op->bytes > file->end_bytes)
		file->end_bytes = op->offset + op->bytes;
	if (!summary->knows_distinct || op->bytes == 0)
		return;
	if (!touched_add(summary->touched, id, op->offset, op->bytes, is_write, &touch)) {
		summary->knows_distinct = false;
		touched_destroy(summary->touched);
		summary->touched = NULL;
		return;
	}
	side->distinct_bytes += touch.new_bytes;
	side->pages += touch.pages;
	side->distinct_pages += touch.new_pages;
	summary->distinct_pages += touch.untouched_pages;
	if (!is_write) {
		file->distinct_read_bytes += touch.new_bytes;
		summary->cold_read_pages += way == WAY_DIRECT ? 0 : touch.untouched_pages;
	} else {
		summary->cold_partial_write_pages += way == WAY_DIRECT ? 0 : touch.partial_pages;
	}
}

/*
 * A reader makes the directories on the way to what was there (no line, before all else); a trace
 * that has more to say of one names it again.
 */
static void directory_add(struct trace_summary *summary, const struct op *op)
{
	uint32_t file = file_made(summary, op->path);

	summary->files.at[file].is_directory = true;
	if (op->line > 0 || op->time_ns > 0)
		summary->files.at[file].is_named = true;
}

/* A look-up makes nothing: only of what is known already. */
static void look_up_add(struct trace_summary *summary, const struct op *op)
{
	uint32_t known = *place_of(summary, op->path);

	if (known)
		summary->files.at[known - 1].is_named = true;
}

static void op_add(struct trace_summary *summary, const struct op *op)
{
	uint32_t file;

	switch ((enum op_kind)op->kind) {
	case OP_READ:
	case OP_READ_DONTCACHE:
		transfer_add(summary, op, false, WAY_BUFFERED);
		break;
	case OP_READ_DIRECT:
		transfer_add(summary, op, false, WAY_DIRECT);
		break;
	case OP_MMAP_READ:
		transfer_add(summary, op, false, WAY_MAPPED);
		break;
	case OP_WRITE:
	case OP_WRITE_DONTCACHE:
		transfer_add(summary, op, true, WAY_BUFFERED);
		break;
	case OP_WRITE_DIRECT:
		transfer_add(summary, op, true, WAY_DIRECT);
		break;
	case OP_MMAP_WRITE:
		transfer_add(summary, op, true, WAY_MAPPED);
		break;
	case OP_EXISTS:
	case OP_EXISTS_SPARSE:
		file = file_made(summary, op->path);
		summary->files.at[file].end_bytes = op->bytes;
		break;
	case OP_CREATE:
		(void)file_made(summary, op->path);
		break;
	case OP_MKDIR:
		directory_add(summary, op);
		break;
	case OP_STAT:
		look_up_add(summary, op);
		break;
	case OP_READDIR:
	case OP_RMDIR:
		file = file_of(summary, op->path);
		summary->files.at[file].is_directory = summary->files.at[file].is_named = true;
		break;
	case OP_UNLINK:
		file = file_of(summary, op->path);
		summary->files.at[file].is_unlinked = true;
		break;
	case OP_RENAME:
		file_rename(summary, op->path, op->path_to);
		break;
	case OP_LINK:
		*place_of(summary, op->path_to) = file_of(summary, op->path) + 1;
		break;
	case OP_TRUNCATE:
		file = file_of(summary, op->path);
		summary->files.at[file].end_bytes = op->bytes;
		break;
	case OP_OPEN:
	case OP_FSYNC:
	case OP_FDATASYNC:
	case OP_FALLOCATE:
		file = file_of(summary, op->path);
		summary->files.at[file].is_named = true;
		break;
	default:
		break;
	}
}

void trace_summary_add(struct trace_summary *summary, const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct op *op = &ops[i];

		summary->op_count++;
		summary->kinds[op->kind]++;
		op_add(summary, op);
		if (op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE)
			continue;
		if (summary->threads.count == 0)
			summary->first_ns = op->time_ns;
		summary->last_ns = op->time_ns;
		thread_note(summary, op->thread);
	}
}

/* The most bytes first; among equals the first in the trace. */
static int files_compare(const void *a, const void *b)
{
	const struct summary_file *one = a, *other = b;
	uint64_t ones = one->read_bytes + one->write_bytes;
	uint64_t others = other->read_bytes + other->write_bytes;

	if (ones != others)
		return ones > others ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

void trace_summary_finish(struct trace_summary *summary)
{
	summary->thread_count = (uint32_t)summary->threads.count;
	summary->knows_threads =
		summary->thread_count && summary->threads.at[summary->thread_count - 1] > 0;
	for (size_t i = 0; i < summary->files.count; i++) {
		if (!summary->files.at[i].is_directory)
			summary->file_count++;
		else if (summary->files.at[i].is_named)
			summary->directory_count++;
	}
	/* From here on, files have no numbers any more. */
	summary->by_path.count = 0;
	if (summary->files.count)
		qsort(summary->files.at, summary->files.count, sizeof(summary->files.at[0]),
		      files_compare);
}
