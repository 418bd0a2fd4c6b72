/*
 * The files of the journal: made, filled, and used again or removed
 *
 * 16 MiB each, pg_wal/ and 24 hex digits. One that is needed and not there is made under another
 * name, filled with zeros by writes of 256 KiB, until 13 of a block each (or made a hole of,
 * wal_init_zero: no), synced, renamed and synced again, file and directory. What lies wholly before
 * a checkpoint's redo point is renamed to the next name to come (synced before and after), or
 * removed. Sources: PostgreSQL 15, xlog.c, XLogFileInitInternal(), InstallXLogFileSegment(),
 * RemoveXlogFile(), XLOGfileslop(), XLogFileClose(); fd.c, durable_rename(), durable_unlink().
 *
 * With wal_level minimal whoever closes a segment that it has written says posix_fadvise(DONTNEED):
 * nobody will read it. `dontneed: recycle` is what Andres Freund's experimental branch did in 2016:
 * it says so when the file is used again.
 *
 * Differs: what is looked for and not there (xlogtemp, archive_status) is not looked for.
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

enum { ZERO_BLOCKS = 32, FIRST_SEGMENT = 1, TIMELINE = 1 };

static uint32_t segment_name(struct pgbench *pg, uint64_t segment)
{
	/* 256 segments of 16 MiB in each logical file of 4 GiB. */
	return path_make(pg, "pg_wal/%08X%08X%08X", TIMELINE, (unsigned int)(segment >> 8),
			 (unsigned int)(segment & 255));
}

uint32_t segment_path(const struct pgbench *pg, uint64_t segment)
{
	assert(segment_exists(pg, segment));
	return pg->wal.files.at[pg->wal.file_of.at[segment - pg->wal.base_segment]].path;
}

bool segment_exists(const struct pgbench *pg, uint64_t segment)
{
	return segment >= pg->wal.first_segment && segment < pg->wal.end_segment;
}

/* The next name is this file's now. */
static void segment_install(struct pgbench *pg, uint32_t file)
{
	*array_push(&pg->wal.file_of) = file;
	pg->wal.files.at[file].path = segment_name(pg, pg->wal.end_segment);
	pg->wal.end_segment++;
}

static uint32_t file_new(struct pgbench *pg)
{
	array_push(&pg->wal.files)->path = 0;
	return (uint32_t)pg->wal.files.count - 1;
}

void segments_init(struct pgbench *pg)
{
	struct wal *wal = &pg->wal;
	const struct pgbench_options *options = pg->options;

	wal->base_segment = wal->first_segment = wal->end_segment = FIRST_SEGMENT;
	wal->segments_max = options->max_wal_bytes / SEGMENT_BYTES;
	wal->segments_min = options->min_wal_bytes / SEGMENT_BYTES;
	/* CalculateCheckpointSegments(). */
	wal->checkpoint_segments = wal->segments_max * 1000000 /
				   ((options->version == VERSION_9_5 ? 2000000 : 1000000) +
				    options->completion_target_ppm);
	if (wal->checkpoint_segments < 1)
		wal->checkpoint_segments = 1;
	for (uint64_t i = 0; i < 1 + options->wal_segments; i++)
		segment_install(pg, file_new(pg));
}

static enum dontneed dontneed_when(const struct pgbench *pg)
{
	enum dontneed when = (enum dontneed)pg->options->dontneed;

	if (when == DONTNEED_AUTO)
		return pg->options->wal_level == WAL_LEVEL_MINIMAL ? DONTNEED_CLOSE
								   : DONTNEED_NEVER;
	return when;
}

uint64_t segment_recycle_last(const struct pgbench *pg, uint64_t redo)
{
	const struct wal *wal = &pg->wal;
	uint64_t low = redo / SEGMENT_BYTES + wal->segments_min - 1;
	uint64_t high = redo / SEGMENT_BYTES + wal->segments_max - 1;
	/* 10 % more than what will be written until the next one has completed. */
	uint64_t ahead = (uint64_t)((unsigned __int128)pg->checkpoint.distance_estimate *
				    ((pg->options->version == VERSION_9_5 ? 2000000 : 1000000) +
				     pg->options->completion_target_ppm) *
				    110 / 100000000);
	uint64_t last = (redo + ahead + SEGMENT_BYTES - 1) / SEGMENT_BYTES;

	if (last < low)
		last = low;
	return last > high ? high : last;
}

/* durable_rename(), durable_unlink(): until March 2016 (1d4a0ab19a7) names were changed, and no more. */
static bool names_are_synced(const struct pgbench *pg)
{
	return pg->options->fsync && pg->options->version != VERSION_9_5;
}

static enum turn sync_name(struct pgbench *pg, struct process *process, uint32_t path)
{
	if (!names_are_synced(pg))
		return TURN_ON;
	return op_make(pg, process, OP_FSYNC, STREAM_WAL, path, 0, 0);
}

/* ---- make one ---- */

/* What one write fills: XLogFileInit()'s block until 13, PG_IOV_MAX of them since ce6a71fa530 (14). */
static uint64_t zeros_bytes(const struct pgbench *pg)
{
	return (pg->options->version < VERSION_15 ? 1 : ZERO_BLOCKS) * BLOCK_BYTES;
}

enum {
	CREATE_BEGIN,
	CREATE_FILL,
	CREATE_SYNC,
	CREATE_SYNC_AGAIN,
	CREATE_RENAME,
	CREATE_SYNC_NEW,
	CREATE_SYNC_DIRECTORY,
	CREATE_CLOSE,
	CREATE_DONE
};

enum turn segment_create(struct pgbench *pg, struct process *process, struct frame *frame)
{
	uint32_t temporary = frame->block;
	uint64_t offset;

	switch (frame->step) {
	case CREATE_BEGIN:
		frame->step = CREATE_FILL;
		/* Its process number: the postmaster's is 1000. */
		frame->block = path_make(pg, "pg_wal/xlogtemp.%u", 1001 + process->index);
		return op_make(pg, process, OP_CREATE, STREAM_WAL, frame->block, 0, 0);
	case CREATE_FILL:
		if (!pg->options->wal_init_zero) {
			frame->step = CREATE_SYNC;
			return op_make(pg, process, OP_WRITE, STREAM_WAL, temporary,
				       SEGMENT_BYTES - 1, 1);
		}
		offset = frame->at;
		frame->at += zeros_bytes(pg);
		if (frame->at == SEGMENT_BYTES)
			frame->step = CREATE_SYNC;
		return op_make(pg, process, OP_WRITE, STREAM_WAL, temporary, offset,
			       zeros_bytes(pg));
	case CREATE_SYNC:
		frame->step = CREATE_SYNC_AGAIN;
		if (!pg->options->fsync)
			return TURN_ON;
		return op_make(pg, process, OP_FSYNC, STREAM_WAL, temporary, 0, 0);
	case CREATE_SYNC_AGAIN:
		frame->step = CREATE_RENAME;
		return sync_name(pg, process, temporary);
	case CREATE_RENAME:
		frame->step = CREATE_SYNC_NEW;
		pg->count.created++;
		frame->segment_file = file_new(pg);
		segment_install(pg, frame->segment_file);
		(void)op_make(pg, process, OP_RENAME, STREAM_WAL, temporary, 0, 0);
		pg->op->path_to = pg->wal.files.at[frame->segment_file].path;
		return TURN_OP;
	case CREATE_SYNC_NEW:
		frame->step = CREATE_SYNC_DIRECTORY;
		return sync_name(pg, process, pg->wal.files.at[frame->segment_file].path);
	case CREATE_SYNC_DIRECTORY:
		frame->step = CREATE_CLOSE;
		return sync_name(pg, process, pg->path_wal);
	case CREATE_CLOSE:
		frame->step = CREATE_DONE;
		if (!frame->is_new)
			return TURN_ON;
		return op_make(pg, process, OP_CLOSE, STREAM_WAL,
			       pg->wal.files.at[frame->segment_file].path, 0, 0);
	default:
		return routine_done(process);
	}
}

/* ---- and do away with one ---- */

enum { OLD_BEGIN, OLD_RENAME, OLD_SYNC_NEW, OLD_CLOSE, OLD_SYNC_DIRECTORY, OLD_DONE };

/* The first segment's file gets the next name. */
enum turn segment_recycle(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct wal *wal = &pg->wal;

	switch (frame->step) {
	case OLD_BEGIN:
		frame->segment_file = wal->file_of.at[wal->first_segment - wal->base_segment];
		if (process->wal_file == frame->segment_file + 1) {
			routine_call(process, segment_close);
			return TURN_ON;
		}
		frame->block = wal->files.at[frame->segment_file].path;
		frame->step = OLD_RENAME;
		if (dontneed_when(pg) == DONTNEED_RECYCLE && !frame->is_new) {
			frame->is_new = true;
			frame->step = OLD_BEGIN;
			return op_make(pg, process, OP_FADVISE_DONTNEED, STREAM_WAL, frame->block,
				       0, 0);
		}
		return sync_name(pg, process, frame->block);
	case OLD_RENAME:
		frame->step = OLD_SYNC_NEW;
		pg->count.recycled++;
		wal->first_segment++;
		segment_install(pg, frame->segment_file);
		(void)op_make(pg, process, OP_RENAME, STREAM_WAL, frame->block, 0, 0);
		pg->op->path_to = wal->files.at[frame->segment_file].path;
		return TURN_OP;
	case OLD_SYNC_NEW:
		frame->step = OLD_CLOSE;
		return sync_name(pg, process, wal->files.at[frame->segment_file].path);
	case OLD_CLOSE:
		frame->step = OLD_SYNC_DIRECTORY;
		/* Nobody opened it if nothing was synced. */
		if (!names_are_synced(pg) && dontneed_when(pg) != DONTNEED_RECYCLE)
			return TURN_ON;
		return op_make(pg, process, OP_CLOSE, STREAM_WAL,
			       wal->files.at[frame->segment_file].path, 0, 0);
	case OLD_SYNC_DIRECTORY:
		frame->step = OLD_DONE;
		return sync_name(pg, process, pg->path_wal);
	default:
		return routine_done(process);
	}
}

enum turn segment_remove(struct pgbench *pg, struct process *process, struct frame *frame)
{
	switch (frame->step) {
	case OLD_BEGIN:
		frame->step = OLD_SYNC_DIRECTORY;
		frame->block = segment_path(pg, pg->wal.first_segment);
		pg->wal.first_segment++;
		pg->count.removed++;
		return op_make(pg, process, OP_UNLINK, STREAM_WAL, frame->block, 0, 0);
	case OLD_SYNC_DIRECTORY:
		frame->step = OLD_DONE;
		return sync_name(pg, process, pg->path_wal);
	default:
		return routine_done(process);
	}
}

enum turn segment_close(struct pgbench *pg, struct process *process, struct frame *frame)
{
	uint32_t path;

	if (frame->step == 2)
		return routine_done(process);
	path = pg->wal.files.at[process->wal_file - 1].path;
	if (frame->step++ == 0) {
		if (dontneed_when(pg) == DONTNEED_CLOSE)
			return op_make(pg, process, OP_FADVISE_DONTNEED, STREAM_WAL, path, 0, 0);
		return TURN_ON;
	}
	process->wal_file = 0;
	return op_make(pg, process, OP_CLOSE, STREAM_WAL, path, 0, 0);
}
