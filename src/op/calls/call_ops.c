#include "op/calls/call_ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"

/* ---- the queue ---- */

static void queue_add(void *context, const struct op *op)
{
	struct call_ops *ops = context;

	/* What is made at the start is made by whoever comes first. */
	for (; ops->made < ops->existing.count; ops->made++) {
		struct op *made = array_push(&ops->queue);

		*made = ops->existing.at[ops->made];
		made->thread = op->thread;
	}
	*array_push(&ops->queue) = *op;
}

size_t call_ops_take(struct call_ops *ops, struct op *to, size_t count)
{
	size_t left = ops->queue.count - ops->taken;

	if (count > left)
		count = left;
	if (count)
		memcpy(to, &ops->queue.at[ops->taken], count * sizeof(*to));
	ops->taken += count;
	if (ops->taken == ops->queue.count)
		ops->taken = ops->queue.count = 0;
	return count;
}

/* ---- two readings ---- */

void call_ops_begin(struct call_ops *ops, struct import *import)
{
	*ops = (struct call_ops){0};
	ops->calls = calls_create(&(struct calls_options){.paths = import->source.paths});
}

void call_ops_again(struct call_ops *ops, struct import *import)
{
	calls_again(ops->calls, &(struct calls_options){.paths = import->source.paths,
							.deliver = queue_add,
							.context = ops});
	ops->taken = ops->queue.count = ops->made = 0;
}

bool call_ops_once_more(struct call_ops *ops, struct import *import, struct error *error)
{
	/* Rows that were left out would be told of twice. */
	if (import->is_second || import->skipped || !calls_place_came_late(ops->calls))
		return false;
	if (!input_again(import->input, error))
		return false;
	calls_from_there(ops->calls);
	import->rows = 0;
	return true;
}

void call_ops_deinit(struct call_ops *ops)
{
	calls_destroy(ops->calls);
	array_deinit(&ops->queue);
	array_deinit(&ops->existing);
}

struct found {
	struct call_ops *ops;
	struct import *import;
};

/*
 * There is no op for a directory that was there before, or for a second name: those are made at the
 * start. A directory with a file in it that was there needs nothing.
 */
static void existing_found(void *context, const struct calls_existing *existing)
{
	struct found *found = context;

	if (existing->is_link)
		*array_push(&found->ops->existing) = (struct op){
			.kind = OP_LINK, .path = existing->link_of, .path_to = existing->path};
	else if (existing->is_directory)
		*array_push(&found->ops->existing) =
			(struct op){.kind = OP_MKDIR, .path = existing->path};
	else
		import_file_found(found->import, existing->path,
				  existing->bytes < OP_END_MAX ? existing->bytes : OP_END_MAX - 1);
}

/* ---- what is told ---- */

const struct import_remark call_ops_cannot_see = {
	.key = "call_trace",
	.one = "system calls only: what the kernel reads by itself, or by a mapping, is not in the "
	       "trace",
};

static const struct import_remark remarks[] = {
	{"eof_reads", "read met the end of the file and returned 0",
	 "reads met the end of the file and returned 0", false},
	{"failed_reads", "read failed", "reads failed", false},
	{"failed_writes", "write failed", "writes failed", false},
	{"failed_lookups", "look-up failed (ENOENT): a name that is not there",
	 "look-ups failed (ENOENT): names that are not there", false},
	{"failed_calls", "call failed, of all", "calls failed, in all", false},
	{"threads", "thread", "threads", false},
	{"processes", "process", "processes", false},
	{"direct_reads", "read by O_DIRECT, past the page cache",
	 "reads by O_DIRECT, past the page cache", false},
	{"direct_read_bytes", "byte of them", "bytes of them", false},
	{"direct_writes", "write by O_DIRECT, past the page cache",
	 "writes by O_DIRECT, past the page cache", false},
	{"direct_written_bytes", "byte of them", "bytes of them", false},
	{"dontcache_reads", "read by RWF_DONTCACHE", "reads by RWF_DONTCACHE", false},
	{"dontcache_writes", "write by RWF_DONTCACHE", "writes by RWF_DONTCACHE", false},
	{"transfers", "of the reads is of a sendfile, splice or copy_file_range",
	 "of the reads are of sendfile, splice or copy_file_range", false},
	{"transfer_bytes", "byte of them", "bytes of them", false},
	{"transfers_to_files", "of the writes is of a sendfile, splice or copy_file_range",
	 "of the writes are of sendfile, splice or copy_file_range", false},
	{"unknown_files",
	 "descriptor was open before the trace and its file is not known: a file of its own",
	 "descriptors were open before the trace and their files are not known: files of their own",
	 true},
	{"unnamed_files",
	 "file was opened by a name that is not told: a file of its own for each opening",
	 "files were opened by names that are not told: a file of its own for each opening", true},
	{"unknown_reads", "read of them", "reads of them", false},
	{"unknown_read_bytes", "byte read of them", "bytes read of them", false},
	{"unknown_writes", "write to them", "writes to them", false},
	{"unknown_written_bytes", "byte written to them", "bytes written to them", false},
	{"unknown_positions", "read or write is at a position that is not known: counted from 0 on",
	 "reads and writes are at positions that are not known: counted from 0 on", true},
	{"other_reads",
	 "read of what is no file on a disk (pipe, socket, terminal, /proc): left out",
	 "reads of what is no file on a disk (pipes, sockets, terminals, /proc): left out", false},
	{"other_read_bytes", "byte of them", "bytes of them", false},
	{"other_writes",
	 "write to what is no file on a disk (pipe, socket, terminal, /proc): left out",
	 "writes to what is no file on a disk (pipes, sockets, terminals, /proc): left out", false},
	{"other_written_bytes", "byte of them", "bytes of them", false},
	{"assumed_new",
	 "file was opened with O_CREAT and is taken to be new and empty: nothing shows whether it "
	 "was there",
	 "files were opened with O_CREAT and are taken to be new and empty: nothing shows whether "
	 "they were there",
	 false},
	{"appends_at_unknown_end", "append to a file whose size is not known: at the least size",
	 "appends to files whose sizes are not known: at the least size", true},
	{"changes_unseen", "file came, went or grew without a call that was seen",
	 "files came, went or grew without a call that was seen", true},
	{"threads_before",
	 "thread was there before the trace, a process of its own as far as known",
	 "threads were there before the trace, each a process of its own as far as known", false},
	{"syncs", "fsync, fdatasync, sync or msync", "fsync, fdatasync, sync or msync", false},
	{"synchronous_writes", "write is by O_SYNC or O_DSYNC: an fsync or fdatasync follows it",
	 "writes are by O_SYNC or O_DSYNC: an fsync or fdatasync follows each", false},
	{"mapped_files",
	 "mapping of a file was made: what is read and written through it is not in the trace",
	 "mappings of files were made: what is read and written through them is not in the trace",
	 true},
	{"mapped_bytes", "byte of files mapped", "bytes of files mapped", false},
	{"programs_started",
	 "program was started: its pages come in by faults, which no call shows",
	 "programs were started: their pages come in by faults, which no call shows", true},
	{"io_uring_requests", "request to io_uring: what it reads or writes is not in the trace",
	 "requests to io_uring: what they read and write is not in the trace", true},
	{"aio_requests", "request of io_submit cannot be read: left out",
	 "requests of io_submit cannot be read: left out", true},
	{"cloned_ranges", "range of a file was cloned (FICLONE): there is no op for that",
	 "ranges of files were cloned (FICLONE): there is no op for that", true},
	{"punched_holes",
	 "fallocate that punched a hole or moved bytes: pages that this drops stay by the ops",
	 "fallocates that punched holes or moved bytes: pages that they drop stay by the ops",
	 true},
	{"passed_descriptors", "descriptor came by a message or pidfd_getfd: its file is not known",
	 "descriptors came by messages or pidfd_getfd: their files are not known", true},
	{"out_of_range", "call beyond the largest file there can be: left out",
	 "calls beyond the largest file there can be: left out", true},
};

/* Also that there were none. */
static void note_always(struct import *import, const char *key, uint64_t count)
{
	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++)
		if (strcmp(remarks[i].key, key) == 0)
			import_note(import, &remarks[i], count, 0);
}

static void note(struct import *import, const char *key, uint64_t count)
{
	if (count)
		note_always(import, key, count);
}

static void data_note(struct import *import, const struct calls_counts *counts)
{
	note_always(import, "processes", counts->processes);
	note_always(import, "threads", counts->threads);
	note_always(import, "eof_reads", counts->eof_reads);
	note_always(import, "failed_calls",
		    counts->failed_reads + counts->failed_writes + counts->failed_lookups +
			    counts->failed_others);
	note(import, "failed_reads", counts->failed_reads);
	note(import, "failed_writes", counts->failed_writes);
	note(import, "failed_lookups", counts->failed_lookups);
	note(import, "direct_reads", counts->direct.reads);
	note(import, "direct_read_bytes", counts->direct.read_bytes);
	note(import, "direct_writes", counts->direct.writes);
	note(import, "direct_written_bytes", counts->direct.written_bytes);
	note(import, "dontcache_reads", counts->dontcache.reads);
	note(import, "dontcache_writes", counts->dontcache.writes);
	note(import, "transfers", counts->transferred.reads);
	note(import, "transfer_bytes", counts->transferred.read_bytes);
	note(import, "transfers_to_files", counts->transferred.writes);
	note(import, "unknown_files", counts->unknown_files);
	note(import, "unnamed_files", counts->unnamed_files);
	note(import, "unknown_reads", counts->unknown.reads);
	note(import, "unknown_read_bytes", counts->unknown.read_bytes);
	note(import, "unknown_writes", counts->unknown.writes);
	note(import, "unknown_written_bytes", counts->unknown.written_bytes);
	note(import, "unknown_positions", counts->no_position.reads + counts->no_position.writes);
	note(import, "other_reads", counts->not_files.reads);
	note(import, "other_read_bytes", counts->not_files.read_bytes);
	note(import, "other_writes", counts->not_files.writes);
	note(import, "other_written_bytes", counts->not_files.written_bytes);
}

static void rest_note(struct import *import, const struct calls_counts *counts)
{
	static const char *const unseen[] = {
		[CALLS_UNSEEN_IO_URING] = "io_uring_requests",
		[CALLS_UNSEEN_AIO] = "aio_requests",
		[CALLS_UNSEEN_CLONE_RANGE] = "cloned_ranges",
		[CALLS_UNSEEN_HOLE] = "punched_holes",
		[CALLS_UNSEEN_EXEC] = "programs_started",
		[CALLS_UNSEEN_MAPPED] = "mapped_files",
		[CALLS_UNSEEN_PASSED] = "passed_descriptors",
		[CALLS_UNSEEN_RANGE] = "out_of_range",
	};

	note(import, "assumed_new", counts->assumed_new);
	note(import, "appends_at_unknown_end", counts->appends_unknown);
	note(import, "changes_unseen", counts->changes_unseen);
	note(import, "threads_before", counts->tasks_before);
	note(import, "syncs", counts->fsyncs);
	note(import, "synchronous_writes", counts->synchronous_writes);
	for (unsigned int i = 0; i < CALLS_UNSEEN_COUNT; i++)
		note(import, unseen[i], counts->unseen[i]);
	note(import, "mapped_bytes", counts->mapped_bytes);
}

enum { UNKNOWN_TOLD_MAX = 50 };

/* Files of which only a descriptor is known are listed apart, one by one. */
static void unknown_note(struct import *import, struct calls *calls)
{
	unsigned int told = 0;

	for (uint32_t i = 0; i < calls_file_count(calls) && told < UNKNOWN_TOLD_MAX; i++) {
		char read[SIZE_TEXT_BYTES * 2], written[SIZE_TEXT_BYTES * 2];
		struct calls_file file;

		calls_file_get(calls, i, &file);
		if (!file.is_unknown || file.is_no_file || file.sum.reads + file.sum.writes == 0)
			continue;
		told++;
		import_remark(import, "unknown_file", false, 0,
			      "%.80s: %s byte%s read, %s written, of a file that is not known",
			      path_text(import->source.paths, file.path),
			      count_format(read, file.sum.read_bytes),
			      file.sum.read_bytes == 1 ? "" : "s",
			      count_format(written, file.sum.written_bytes));
	}
}

void call_ops_finish(struct call_ops *ops, struct import *import)
{
	struct found found = {.ops = ops, .import = import};
	struct calls_counts counts;

	if (!import->is_second) {
		calls_existing(ops->calls, existing_found, &found);
		return;
	}
	calls_counts(ops->calls, &counts);
	data_note(import, &counts);
	rest_note(import, &counts);
	unknown_note(import, ops->calls);
}
