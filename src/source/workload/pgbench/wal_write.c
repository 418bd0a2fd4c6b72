/*
 * Who writes the journal: one at a time, for all
 *
 * A commit needs the journal on disk up to its record. Whoever gets the write lock takes along
 * everything inserted so far (after commit_delay, if set and others are busy); those who waited for
 * the lock look again when it is free, and most find that it has been done. The writer writes whole
 * blocks of 8 KiB, from the last one that was partly filled: that one is written again every time.
 * A write ends where the ring of buffers or the segment ends. A full segment is synced at once; the
 * next one is made on the spot if it does not exist, with the lock held. Sources: PostgreSQL 15,
 * xlog.c, XLogFlush(), XLogWrite(), XLogBackgroundFlush(), AdvanceXLInsertBuffer(); lwlock.c,
 * LWLockAcquireOrWait().
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

enum { WAL_WRITER_DELAY_NS = 200000000, WAL_WRITER_FLUSH_BLOCKS = 128 };

/* ---- the write lock ---- */

static bool wal_lock(struct pgbench *pg, struct process *process, enum wait_kind kind)
{
	if (pg->wal.holder == 0) {
		pg->wal.holder = process->index + 1;
		return true;
	}
	process->waits = kind;
	process->ready_ns = pg->now_ns;
	pg->wal.waiting++;
	return false;
}

/* All who wait for it to be free, and the first of those who want to have it, look again. */
static void wal_unlock(struct pgbench *pg)
{
	bool is_given = false;

	pg->wal.holder = 0;
	for (uint32_t i = 0; i < pg->process_count && pg->wal.waiting > 0; i++) {
		struct process *process = &pg->processes[i];

		if (process->waits == WAIT_WAL_FREE ||
		    (process->waits == WAIT_WAL_LOCK && !is_given)) {
			is_given |= process->waits == WAIT_WAL_LOCK;
			pg->wal.waiting--;
			process_wake(pg, process, pg->now_ns);
		}
	}
}

/* While a segment is made under the lock, all who wait for the lock wait for that. */
static void creating_begins(struct pgbench *pg)
{
	pg->wal.creating_since_ns = pg->now_ns;
}

static void creating_ends(struct pgbench *pg)
{
	uint64_t since = pg->wal.creating_since_ns;

	pg->count.creating_ns += pg->now_ns - since;
	/* Its own time is lost, too. */
	pg->count.create_stall_ns += pg->now_ns - since;
	for (uint32_t i = 0; i < pg->process_count; i++) {
		const struct process *process = &pg->processes[i];
		uint64_t from = process->ready_ns > since ? process->ready_ns : since;

		if (process->backend &&
		    (process->waits == WAIT_WAL_FREE || process->waits == WAIT_WAL_LOCK))
			pg->count.create_stall_ns += pg->now_ns - from;
	}
	pg->wal.creating_since_ns = UINT64_MAX;
}

/* ---- XLogWrite() ---- */

enum {
	WRITE_NEXT,
	WRITE_CLOSED,
	WRITE_CREATED,
	WRITE_DONE,
	WRITE_SYNCED,
	FLUSH_CLOSED,
	FLUSH_DONE
};

/* The end of the blocks that one write can take from `begin`, a block's beginning. */
static uint64_t write_end(const struct wal *wal, uint64_t begin)
{
	uint64_t end = (wal->write_to + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
	uint64_t segment = (begin / SEGMENT_BYTES + 1) * SEGMENT_BYTES;
	uint64_t ring = (begin / wal->buffers_bytes + 1) * wal->buffers_bytes;

	if (end > segment)
		end = segment;
	return end > ring ? ring : end;
}

static void checkpoint_look(struct pgbench *pg, uint64_t segment)
{
	/* XLogCheckpointNeeded(). */
	if (segment >= pg->wal.redo / SEGMENT_BYTES + pg->wal.checkpoint_segments - 1)
		checkpoint_request(pg);
}

static enum turn segment_sync(struct pgbench *pg, struct process *process, uint64_t segment)
{
	if (!pg->options->fsync)
		return TURN_ON;
	pg->count.flushes++;
	return op_make(pg, process, OP_FDATASYNC, STREAM_WAL, segment_path(pg, segment), 0, 0);
}

/* Have `segment` open; false: `call`ed what it takes. */
static bool segment_open(struct pgbench *pg, struct process *process, uint64_t segment)
{
	if (process->wal_file && process->wal_segment == segment)
		return true;
	if (process->wal_file) {
		routine_call(process, segment_close);
		return false;
	}
	if (!segment_exists(pg, segment)) {
		creating_begins(pg);
		routine_call(process, segment_create);
		return false;
	}
	if (pg->wal.creating_since_ns != UINT64_MAX)
		creating_ends(pg);
	process->wal_file = pg->wal.file_of.at[segment - pg->wal.base_segment] + 1;
	process->wal_segment = segment;
	return true;
}

/* Up to wal.write_to, then on disk up to wal.flush_to; the lock is held. */
static enum turn wal_write(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct wal *wal = &pg->wal;
	uint64_t begin = wal->written / BLOCK_BYTES * BLOCK_BYTES, segment;

	switch (frame->step) {
	case WRITE_NEXT:
		if (wal->written >= wal->write_to) {
			frame->step = FLUSH_CLOSED;
			return TURN_ON;
		}
		if (!segment_open(pg, process, begin / SEGMENT_BYTES))
			return TURN_ON;
		frame->end = write_end(wal, begin);
		frame->step = WRITE_DONE;
		pg->count.wal_writes++;
		pg->count.wal_write_bytes += frame->end - begin;
		return op_make(pg, process, OP_WRITE, STREAM_WAL,
			       segment_path(pg, begin / SEGMENT_BYTES), begin % SEGMENT_BYTES,
			       frame->end - begin);
	case WRITE_DONE:
		wal->written = frame->end < wal->write_to ? frame->end : wal->write_to;
		frame->step = WRITE_SYNCED;
		if (wal->written % SEGMENT_BYTES == 0)
			return segment_sync(pg, process, wal->written / SEGMENT_BYTES - 1);
		return TURN_ON;
	case WRITE_SYNCED:
		frame->step = wal->is_flexible ? FLUSH_CLOSED : WRITE_NEXT;
		if (wal->written % SEGMENT_BYTES == 0) {
			wal->flushed = wal->written;
			pg->count.segments_used++;
			checkpoint_look(pg, wal->written / SEGMENT_BYTES - 1);
		}
		return TURN_ON;
	case FLUSH_CLOSED:
		if (wal->flushed >= wal->flush_to || wal->flushed >= wal->written)
			return routine_done(process);
		segment = (wal->written - 1) / SEGMENT_BYTES;
		if (!segment_open(pg, process, segment))
			return TURN_ON;
		frame->step = FLUSH_DONE;
		frame->end = wal->written;
		return segment_sync(pg, process, segment);
	default:
		wal->flushed = frame->end;
		return routine_done(process);
	}
}

/* ---- who asks for it ---- */

enum { FLUSH_LOOK, FLUSH_DELAYED, FLUSH_WRITTEN, FLUSH_NOTHING };

/* MinimumActiveBackends(): so many others are in a transaction, and not waiting for a lock. */
static bool others_are_active(const struct pgbench *pg, const struct process *self)
{
	uint64_t active = 0;

	for (uint32_t i = 0; i < pg->options->clients; i++) {
		const struct process *process = &pg->processes[i];

		active += process != self && process->backend->xid && process->waits != WAIT_ROW;
	}
	return active >= pg->options->commit_siblings;
}

enum turn wal_flush(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct wal *wal = &pg->wal;

	switch (frame->step) {
	case FLUSH_LOOK:
		if (frame->at <= wal->flushed)
			return routine_done(process);
		if (!wal_lock(pg, process, WAIT_WAL_FREE))
			return TURN_WAIT;
		frame->step = FLUSH_DELAYED;
		if (pg->options->commit_delay_ns && pg->options->fsync &&
		    others_are_active(pg, process))
			return process_sleep(pg, process,
					     pg->now_ns + pg->options->commit_delay_ns);
		return TURN_ON;
	case FLUSH_DELAYED:
		frame->step = FLUSH_WRITTEN;
		wal->write_to = wal->flush_to = wal->inserted;
		wal->is_flexible = false;
		routine_call(process, wal_write);
		return TURN_ON;
	default:
		wal_unlock(pg);
		assert(frame->at <= wal->flushed);
		return routine_done(process);
	}
}

/*
 * The buffers are full: the oldest are written, and not synced. Differs: whoever fills them writes
 * after its record, not within it.
 */
enum turn wal_make_room(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct wal *wal = &pg->wal;

	switch (frame->step) {
	case FLUSH_LOOK:
		if (wal->inserted <= wal->written + wal->buffers_bytes)
			return routine_done(process);
		if (!wal_lock(pg, process, WAIT_WAL_LOCK))
			return TURN_WAIT;
		frame->step = FLUSH_WRITTEN;
		if (wal->inserted <= wal->written + wal->buffers_bytes)
			return TURN_ON;
		wal->write_to = (wal->inserted - wal->buffers_bytes + BLOCK_BYTES - 1) /
				BLOCK_BYTES * BLOCK_BYTES;
		wal->flush_to = 0;
		wal->is_flexible = false;
		routine_call(process, wal_write);
		return TURN_ON;
	default:
		wal_unlock(pg);
		return routine_done(process);
	}
}

/* Whole blocks only, unless a commit that nobody waits for is behind. */
static uint64_t background_write_to(const struct wal *wal, bool *is_flexible)
{
	uint64_t to = wal->asked / BLOCK_BYTES * BLOCK_BYTES;

	*is_flexible = to > wal->flushed;
	return *is_flexible ? to : wal->asynchronous;
}

/* Written is always; synced each wal_writer_delay or after 1 MiB. */
static uint64_t background_flush_to(struct pgbench *pg, uint64_t write_to)
{
	uint64_t *last = &pg->writer.wal_flushed_ns;
	uint64_t blocks = write_to / BLOCK_BYTES - pg->wal.flushed / BLOCK_BYTES;

	if (*last && pg->now_ns - *last < WAL_WRITER_DELAY_NS &&
	    (write_to < pg->wal.flushed || blocks < WAL_WRITER_FLUSH_BLOCKS))
		return 0;
	*last = pg->now_ns;
	return write_to;
}

enum turn wal_background_flush(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct wal *wal = &pg->wal;
	bool is_flexible;

	switch (frame->step) {
	case FLUSH_LOOK:
		frame->at = background_write_to(wal, &is_flexible);
		frame->is_new = is_flexible;
		if (frame->at <= wal->flushed) {
			/* Nothing to do; but a segment that is done with is not kept open. */
			frame->step = FLUSH_NOTHING;
			if (process->wal_file &&
			    process->wal_segment != (wal->written - 1) / SEGMENT_BYTES)
				routine_call(process, segment_close);
			return TURN_ON;
		}
		frame->end = background_flush_to(pg, frame->at);
		frame->step = FLUSH_DELAYED;
		return TURN_ON;
	case FLUSH_DELAYED:
		if (!wal_lock(pg, process, WAIT_WAL_LOCK))
			return TURN_WAIT;
		frame->step = FLUSH_WRITTEN;
		if (frame->at <= wal->written && frame->end <= wal->flushed)
			return TURN_ON;
		wal->write_to = frame->at;
		wal->flush_to = frame->end;
		wal->is_flexible = frame->is_new;
		routine_call(process, wal_write);
		return TURN_ON;
	case FLUSH_WRITTEN:
		wal_unlock(pg);
		return routine_done(process);
	default:
		return routine_done(process);
	}
}
