/*
 * The checkpointer
 *
 * A checkpoint is due checkpoint_timeout after the last one began, or when the journal has got so
 * many segments on: max_wal_size / (1 + completion_target). It notes the redo point (from now on
 * the first change of a block is journalled with the whole block), writes small state and the
 * commit log, then every buffer that is dirty now, in the order of relation and block, with naps of
 * 100 ms whenever it is ahead of both time and journal; every 32 blocks it tells the kernel to
 * begin writing them back. Then it syncs each relation file written since the last checkpoint,
 * journals the checkpoint, writes the control file, and gets rid of old segments: renamed to names
 * to come while fewer than needed are there, or removed; and one more is made if the present one is
 * three quarters full. Sources: PostgreSQL 15, checkpointer.c, CheckpointerMain(),
 * CheckpointWriteDelay(), IsCheckpointOnSchedule(); xlog.c, CreateCheckPoint(), CheckPointGuts(),
 * RemoveOldXlogFiles(), PreallocXlogFiles(), UpdateCheckPointDistanceEstimate(); bufmgr.c,
 * BufferSync(); sync.c, ProcessSyncRequests().
 *
 * Differs: 1. One tablespace, so nothing is balanced between them. 2. The small state is the commit
 * log's page, the directories that are synced and the replication origins' file: 11 syncs, of 15
 * measured. 3. The commit log has no buffers of its own: its pages are written at checkpoints only.
 */
#include "source/workload/pgbench/pgbench.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/prefetch.h"
#include "base/radix.h"
#include "base/size.h"

enum {
	NAP_NS = 100000000,
	CHECKPOINT_RECORD = 114,
	CONTROL_BYTES = 8192,
	CLOG_PER_PAGE = 32768, /* 2 bits a transaction */
	CLOG_PAGES_PER_FILE = 32,
	ORIGIN_BYTES = 8,
};

void checkpoint_request(struct pgbench *pg)
{
	struct process *process = server_process(pg, CHECKPOINTER);

	pg->checkpoint.is_requested = true;
	if (process->waits == WAIT_SLEEP && process->depth == 1)
		process_wake(pg, process, pg->now_ns);
}

/* ---- buffers ---- */

/* History has the highest numbers, but the lowest file node. */
static uint32_t order_of(const struct pgbench *pg, uint32_t block)
{
	return block - pg->relations[REL_HISTORY].first;
}

/* 9.5: from where the next buffer is taken, as those are needed soonest. */
static uint32_t order_in_pool(const struct pgbench *pg, uint32_t buffer)
{
	const struct buffers *buffers = &pg->buffers;

	return buffer >= buffers->hand ? buffer - buffers->hand
				       : buffer + buffers->count - buffers->hand;
}

static void dirty_collect(struct pgbench *pg)
{
	struct checkpoint *checkpoint = &pg->checkpoint;

	checkpoint->to_write = checkpoint->done = checkpoint->progress = 0;
	for (uint32_t i = 0; i < pg->buffers.used; i++) {
		struct buffer *buffer = &pg->buffers.at[i];

		if (!(buffer->flags & BUFFER_DIRTY))
			continue;
		buffer->flags |= BUFFER_NEEDED;
		checkpoint->sorted[checkpoint->to_write++] =
			(uint64_t)(pg->options->version == VERSION_9_5
					   ? order_in_pool(pg, i)
					   : order_of(pg, buffer->block))
				<< 32 |
			i;
	}
	radix_sort(checkpoint->sorted, checkpoint->to_write, 32);
}

/* IsCheckpointOnSchedule(): is what is written ahead of the journal and of the clock? */
static bool is_ahead(const struct pgbench *pg)
{
	const struct checkpoint *checkpoint = &pg->checkpoint;
	/* done / to_write * target >= part, both sides times all divisors */
	unsigned __int128 progress =
		(unsigned __int128)checkpoint->progress * pg->options->completion_target_ppm;
	uint64_t journal = pg->wal.inserted - checkpoint->begun_lsn;
	uint64_t elapsed = pg->now_ns - checkpoint->begun_ns;
	unsigned __int128 whole = (unsigned __int128)checkpoint->to_write * 1000000;

	return progress * pg->wal.checkpoint_segments * SEGMENT_BYTES >= whole * journal &&
	       progress * pg->options->checkpoint_timeout_ns >= whole * elapsed;
}

/* The next blocks, sorted, lie anywhere in the pool: they are looked up a step at a time. */
enum { AHEAD_BUFFER = 6, AHEAD_SOON = 4, AHEAD_SOONER = 2 };

static void block_ahead(struct pgbench *pg, uint32_t ahead, enum op_nearness nearness)
{
	uint64_t next = pg->checkpoint.sorted[pg->checkpoint.done + ahead];
	const struct buffer *buffer = &pg->buffers.at[(uint32_t)next];

	if (buffer->flags & BUFFER_NEEDED)
		block_expect(pg, NULL, buffer->block, OP_WRITE, nearness);
}

static void blocks_prefetch(struct pgbench *pg)
{
	const struct checkpoint *checkpoint = &pg->checkpoint;
	const uint64_t *next = &checkpoint->sorted[checkpoint->done];

	if (checkpoint->to_write - checkpoint->done <= AHEAD_BUFFER)
		return;
	prefetch_write(&pg->buffers.at[(uint32_t)next[AHEAD_BUFFER]]);
	block_ahead(pg, AHEAD_SOON, OP_SOON);
	block_ahead(pg, AHEAD_SOONER, OP_SOONER);
}

enum { BLOCKS_NEXT, BLOCKS_WRITTEN, BLOCKS_HINT, BLOCKS_PACE, BLOCKS_LAST_HINT };

/* BufferSync(). */
static enum turn blocks_write(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct checkpoint *checkpoint = &pg->checkpoint;
	struct buffer *buffer;

	switch (frame->step) {
	case BLOCKS_NEXT:
		if (checkpoint->done == checkpoint->to_write) {
			frame->step = BLOCKS_LAST_HINT;
			return TURN_ON;
		}
		blocks_prefetch(pg);
		frame->buffer = (uint32_t)checkpoint->sorted[checkpoint->done++];
		buffer = &pg->buffers.at[frame->buffer];
		frame->step = BLOCKS_PACE;
		if (pg->options->version != VERSION_9_5)
			checkpoint->progress = checkpoint->done;
		if (!(buffer->flags & BUFFER_NEEDED)) {
			/* 9.5 counts what it writes itself, and so falls behind. */
			if (pg->options->version == VERSION_9_5)
				frame->step = BLOCKS_NEXT;
			return TURN_ON;
		}
		frame->step = BLOCKS_WRITTEN;
		frame->block = buffer->block;
		buffer->pins++;
		routine_call(process, buffer_write)->buffer = frame->buffer;
		return TURN_ON;
	case BLOCKS_WRITTEN:
		pg->buffers.at[frame->buffer].pins--;
		if (pg->options->version == VERSION_9_5) {
			checkpoint->progress++;
			frame->step = BLOCKS_PACE;
			return TURN_ON;
		}
		checkpoint->hints[checkpoint->hint_count++] = frame->block;
		frame->step =
			checkpoint->hint_count == CHECKPOINTER_HINTS ? BLOCKS_HINT : BLOCKS_PACE;
		return TURN_ON;
	case BLOCKS_HINT:
		if (hints_next(pg, process, checkpoint->hints, &checkpoint->hint_count))
			return TURN_OP;
		frame->step = BLOCKS_PACE;
		__attribute__((fallthrough));
	case BLOCKS_PACE:
		frame->step = BLOCKS_NEXT;
		if (is_ahead(pg))
			return process_sleep(pg, process, pg->now_ns + NAP_NS);
		return TURN_ON;
	default:
		if (hints_next(pg, process, checkpoint->hints, &checkpoint->hint_count))
			return TURN_OP;
		return routine_done(process);
	}
}

/* ---- what is small ---- */

static enum turn sync_one(struct pgbench *pg, struct process *process, enum stream_id stream,
			  uint32_t path)
{
	if (!pg->options->fsync)
		return TURN_ON;
	return op_make(pg, process, OP_FSYNC, stream, path, 0, 0);
}

static uint32_t clog_path(struct pgbench *pg, uint64_t file)
{
	return path_make(pg, "pg_xact/%04X", (unsigned int)file);
}

/* The commit log's pages since the last time, then directories, then the origins' file. */
static enum turn state_write(struct pgbench *pg, struct process *process, struct frame *frame)
{
	uint64_t last = pg->next_xid / CLOG_PER_PAGE, page;
	const uint32_t directories[] = {pg->path_mappings, pg->path_clog_directory,
					pg->path_commit_ts, pg->path_multixact_offsets,
					pg->path_multixact_members};
	enum { DIRECTORIES = sizeof(directories) / sizeof(directories[0]) };
	uint32_t path;

	switch (frame->step++) {
	case 0: /* CheckPointReplicationOrigin() */
		return op_make(pg, process, OP_CREATE, STREAM_OTHER, pg->path_origin_new, 0, 0);
	case 1:
		return op_make(pg, process, OP_WRITE, STREAM_OTHER, pg->path_origin_new, 0,
			       ORIGIN_BYTES);
	case 2:
	case 3: /* durable_rename() does it again */
		return sync_one(pg, process, STREAM_OTHER, pg->path_origin_new);
	case 4:
		(void)op_make(pg, process, OP_RENAME, STREAM_OTHER, pg->path_origin_new, 0, 0);
		pg->op->path_to = pg->path_origin;
		return TURN_OP;
	case 5:
		return sync_one(pg, process, STREAM_OTHER, pg->path_origin);
	case 6:
		return op_make(pg, process, OP_CLOSE, STREAM_OTHER, pg->path_origin, 0, 0);
	case 7:
		return sync_one(pg, process, STREAM_OTHER, pg->path_logical);
	case 8:
		page = pg->checkpoint.clog_page;
		path = clog_path(pg, page / CLOG_PAGES_PER_FILE);
		/* SlruPhysicalWritePage(): with O_CREAT. */
		if (page / CLOG_PAGES_PER_FILE > pg->checkpoint.clog_file) {
			pg->checkpoint.clog_file++;
			frame->step = 8;
			return op_make(pg, process, OP_CREATE, STREAM_OTHER, path, 0, 0);
		}
		if (page < last) {
			pg->checkpoint.clog_page++;
			frame->step = 8;
		}
		return op_make(pg, process, OP_WRITE, STREAM_OTHER, path,
			       page % CLOG_PAGES_PER_FILE * BLOCK_BYTES, BLOCK_BYTES);
	default:
		/* SimpleLruFlush(), CheckPointLogicalRewriteHeap(): 9.5 syncs no directories. */
		if (frame->at == DIRECTORIES || pg->options->version == VERSION_9_5)
			return routine_done(process);
		return sync_one(pg, process, STREAM_OTHER, directories[frame->at++]);
	}
}

/* ProcessSyncRequests(): the relations' files, and the commit log's. */
static enum turn files_sync(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct checkpoint *checkpoint = &pg->checkpoint;
	uint32_t path;

	if (frame->step == 0) {
		path = clog_path(pg, checkpoint->clog_unsynced);
		if (checkpoint->clog_unsynced < checkpoint->clog_file)
			checkpoint->clog_unsynced++;
		else
			frame->step = 1;
		return sync_one(pg, process, STREAM_OTHER, path);
	}
	for (; frame->block < REL_COUNT; frame->block++, frame->at = 0) {
		struct relation *relation = &pg->relations[frame->block];

		while (frame->at < relation->files.count) {
			struct relation_file *file = &relation->files.at[frame->at++];

			if (!file->is_unsynced)
				continue;
			file->is_unsynced = false;
			if (pg->options->fsync)
				return op_make(pg, process, OP_FSYNC, relation->stream, file->path,
					       0, 0);
		}
	}
	return routine_done(process);
}

/* UpdateCheckPointDistanceEstimate(): up at once, down by a tenth. */
static void distance_update(struct checkpoint *checkpoint, uint64_t distance)
{
	if (checkpoint->distance_estimate < distance)
		checkpoint->distance_estimate = distance;
	else
		checkpoint->distance_estimate = (checkpoint->distance_estimate * 9 + distance) / 10;
}

enum { OLD_NEXT, OLD_PREALLOCATE, OLD_END };

/* RemoveOldXlogFiles() and PreallocXlogFiles(). */
static enum turn segments_clear(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct wal *wal = &pg->wal;
	uint64_t last, segment;

	switch (frame->step) {
	case OLD_NEXT:
		if (wal->first_segment < pg->checkpoint.kept_lsn / SEGMENT_BYTES) {
			last = segment_recycle_last(pg, pg->checkpoint.kept_lsn);
			routine_call(process, pg->options->wal_recycle && wal->end_segment <= last
						      ? segment_recycle
						      : segment_remove);
			return TURN_ON;
		}
		frame->step = OLD_PREALLOCATE;
		__attribute__((fallthrough));
	case OLD_PREALLOCATE:
		frame->step = OLD_END;
		segment = (wal->inserted - 1) / SEGMENT_BYTES;
		if ((wal->inserted - 1) % SEGMENT_BYTES >= SEGMENT_BYTES / 4 * 3 &&
		    !segment_exists(pg, segment + 1))
			routine_call(process, segment_create)->is_new = true;
		return TURN_ON;
	default:
		return routine_done(process);
	}
}

/* ---- all of it ---- */

enum {
	CHECKPOINT_WAIT,
	CHECKPOINT_BLOCKS,
	CHECKPOINT_SYNC,
	CHECKPOINT_RECORDED,
	CHECKPOINT_CONTROL,
	CHECKPOINT_CONTROL_SYNC,
	CHECKPOINT_CLEAR,
	CHECKPOINT_END
};

enum turn checkpointer_main(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct checkpoint *checkpoint = &pg->checkpoint;
	uint64_t due_ns = checkpoint->begun_ns + pg->options->checkpoint_timeout_ns;

	switch (frame->step) {
	case CHECKPOINT_WAIT:
		if (!checkpoint->is_requested && pg->now_ns < due_ns)
			return process_sleep(pg, process, due_ns);
		checkpoint->is_requested = false;
		checkpoint->is_under_way = true;
		checkpoint->begun_ns = pg->now_ns;
		checkpoint->redo_before = pg->wal.redo;
		checkpoint->begun_lsn = pg->wal.inserted;
		wal_redo_here(pg);
		frame->step = CHECKPOINT_BLOCKS;
		routine_call(process, state_write);
		return TURN_ON;
	case CHECKPOINT_BLOCKS:
		dirty_collect(pg);
		frame->step = CHECKPOINT_SYNC;
		routine_call(process, blocks_write);
		return TURN_ON;
	case CHECKPOINT_SYNC:
		frame->step = CHECKPOINT_RECORDED;
		routine_call(process, files_sync);
		return TURN_ON;
	case CHECKPOINT_RECORDED:
		frame->step = CHECKPOINT_CONTROL;
		routine_call(process, wal_flush)->at = wal_record(pg, CHECKPOINT_RECORD, NULL, 0);
		return TURN_ON;
	case CHECKPOINT_CONTROL:
		frame->step = CHECKPOINT_CONTROL_SYNC;
		return op_make(pg, process, OP_WRITE, STREAM_OTHER, pg->path_control, 0,
			       CONTROL_BYTES);
	case CHECKPOINT_CONTROL_SYNC:
		frame->step = CHECKPOINT_CLEAR;
		return sync_one(pg, process, STREAM_OTHER, pg->path_control);
	case CHECKPOINT_CLEAR:
		frame->step = CHECKPOINT_END;
		distance_update(checkpoint, pg->wal.redo - checkpoint->redo_before);
		checkpoint->kept_lsn = pg->options->version == VERSION_9_5 ? checkpoint->redo_before
									   : pg->wal.redo;
		routine_call(process, segments_clear);
		return TURN_ON;
	default:
		pg->count.checkpoints++;
		checkpoint->is_under_way = false;
		*array_push(&checkpoint->all) =
			(struct checkpoint_done){checkpoint->begun_ns, pg->now_ns};
		frame->step = CHECKPOINT_WAIT;
		return TURN_ON;
	}
}
