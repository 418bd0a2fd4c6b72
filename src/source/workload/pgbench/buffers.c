/*
 * shared_buffers: which blocks are in them, and which one goes
 *
 * A hash over blocks, and a clock: every buffer has a usage count from 0 to 5 that each pin raises
 * and the passing hand lowers; the first one found at 0 that nobody has pinned goes. If it is dirty
 * whoever needs the place writes it, behind the journal up to its last change. Sources: PostgreSQL
 * 15, bufmgr.c, BufferAlloc(), FlushBuffer(), PinBuffer(); freelist.c, StrategyGetBuffer().
 *
 * Differs: pins are held only while something is awaited (a read, a write, a row). 16 bytes a
 * buffer, and 8 for the hash.
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

#include "base/memory.h"
#include "base/prefetch.h"

bool pool_init(struct pgbench *pg, struct error *error)
{
	struct buffers *buffers = &pg->buffers;
	uint64_t count = pg->options->shared_buffers_bytes / BLOCK_BYTES;

	if (count < 16 + 8 * pg->options->clients)
		return error_input(error,
				   "job \"%.60s\": shared_buffers is too small for %llu clients: "
				   "each can have 8 blocks pinned",
				   pg->place.job, (unsigned long long)pg->options->clients);
	buffers->count = (uint32_t)count;
	buffers->bucket_bits = 1;
	while (UINT64_C(1) << buffers->bucket_bits < count * 2)
		buffers->bucket_bits++;
	buffers->at = memory_alloc(count, sizeof(*buffers->at));
	buffers->buckets =
		memory_alloc(UINT64_C(1) << buffers->bucket_bits, sizeof(*buffers->buckets));
	memory_use_randomly(buffers->at, count * sizeof(*buffers->at));
	memory_use_randomly(buffers->buckets, sizeof(*buffers->buckets) << buffers->bucket_bits);
	for (uint64_t i = 0; i < UINT64_C(1) << buffers->bucket_bits; i++)
		buffers->buckets[i] = BUFFER_NONE;
	for (uint32_t i = 0; i < buffers->count; i++)
		buffers->at[i].block = BLOCK_NONE;
	return true;
}

static inline uint32_t *bucket_of(const struct buffers *buffers, uint32_t block)
{
	return &buffers->buckets[block * UINT32_C(0x9e3779b1) >> (32 - buffers->bucket_bits)];
}

uint32_t buffer_find(const struct pgbench *pg, uint32_t block)
{
	uint32_t at = *bucket_of(&pg->buffers, block);

	while (at != BUFFER_NONE && pg->buffers.at[at].block != block)
		at = pg->buffers.at[at].next;
	return at;
}

void block_expect(struct pgbench *pg, const struct process *process, uint32_t block,
		  enum op_kind kind, enum op_nearness nearness)
{
	const struct op_foresight *foresight = pg->place.foresight;
	struct op op = {.bytes = BLOCK_BYTES, .kind = (uint8_t)kind};

	if (!foresight || !foresight->expect)
		return;
	op.thread = process ? pg->place.first_thread + process->index : 0;
	op.path = relation_file(pg, relation_of(pg, block), block, &op.offset)->path;
	foresight->expect(foresight->context, &op, nearness);
}

void block_prefetch(struct pgbench *pg, const struct process *process, uint32_t block,
		    enum block_step step)
{
	uint32_t at;

	switch (step) {
	case BLOCK_BUCKET:
		prefetch_read(bucket_of(&pg->buffers, block));
		prefetch_read(&pg->wal.imaged[block / 64]);
		break;
	case BLOCK_BUFFER:
		at = *bucket_of(&pg->buffers, block);
		if (at != BUFFER_NONE)
			prefetch_write(&pg->buffers.at[at]);
		if (process)
			block_expect(pg, process, block, OP_READ, OP_LATER);
		break;
	case BLOCK_SOON:
	case BLOCK_SOONER:
		if (buffer_find(pg, block) == BUFFER_NONE)
			block_expect(pg, process, block, OP_READ,
				     step == BLOCK_SOON ? OP_SOON : OP_SOONER);
		break;
	}
}

static void buffer_link(struct buffers *buffers, uint32_t at, uint32_t block)
{
	uint32_t *bucket = bucket_of(buffers, block);

	buffers->at[at].block = block;
	buffers->at[at].next = *bucket;
	*bucket = at;
}

static void buffer_unlink(struct buffers *buffers, uint32_t at)
{
	uint32_t *link = bucket_of(buffers, buffers->at[at].block);

	while (*link != at)
		link = &buffers->at[*link].next;
	*link = buffers->at[at].next;
	buffers->at[at].block = BLOCK_NONE;
}

void buffer_dirty(struct pgbench *pg, uint32_t block, uint64_t lsn)
{
	uint32_t at = buffer_find(pg, block);
	struct buffer *buffer;

	assert(at != BUFFER_NONE);
	buffer = &pg->buffers.at[at];
	buffer->flags |= BUFFER_DIRTY;
	buffer_lsn_set(buffer, lsn);
}

static inline void buffer_use(struct buffer *buffer)
{
	if (buffer->usage < USAGE_MAX)
		buffer->usage++;
}

/* So far ahead of the hand its next victims are looked at: each step a wait for memory. */
enum { AHEAD_BUCKET = 48, AHEAD_SOON = 32, AHEAD_SOONER = 16 };

static inline const struct buffer *buffer_ahead(const struct buffers *buffers, uint32_t distance)
{
	uint32_t at = buffers->hand + distance;

	return &buffers->at[at < buffers->count ? at : 0];
}

static inline void victim_expect(struct pgbench *pg, uint32_t distance, enum op_nearness nearness)
{
	const struct buffer *buffer = buffer_ahead(&pg->buffers, distance);

	if (buffer->usage == 0 && buffer->flags & BUFFER_DIRTY)
		block_expect(pg, NULL, buffer->block, OP_WRITE, nearness);
}

static inline void victims_prefetch(struct pgbench *pg)
{
	const struct buffer *buffer = buffer_ahead(&pg->buffers, AHEAD_BUCKET);

	if (buffer->usage == 0 && buffer->block != BLOCK_NONE)
		prefetch_write(bucket_of(&pg->buffers, buffer->block));
	victim_expect(pg, AHEAD_SOON, OP_SOON);
	victim_expect(pg, AHEAD_SOONER, OP_SOONER);
}

/* The hand goes round to the first that has not been used and that nobody holds. */
static uint32_t victim_find(struct pgbench *pg)
{
	struct buffers *buffers = &pg->buffers;
	uint64_t left = (uint64_t)buffers->count * (USAGE_MAX + 1) + 1;

	buffers->allocated++;
	if (buffers->used < buffers->count)
		return buffers->used++;
	while (left-- > 0) {
		uint32_t at = buffers->hand;
		struct buffer *buffer = &buffers->at[at];

		victims_prefetch(pg);
		if (++buffers->hand == buffers->count) {
			buffers->hand = 0;
			buffers->rounds++;
		}
		if (buffer->pins)
			continue;
		if (buffer->usage == 0)
			return at;
		buffer->usage--;
	}
	assert(false && "more buffers pinned than clients can pin");
	return BUFFER_NONE;
}

static void block_waiters_wake(struct pgbench *pg, uint32_t block)
{
	for (uint32_t i = 0; i < pg->process_count && pg->block_waiters > 0; i++) {
		struct process *process = &pg->processes[i];

		if (process->waits == WAIT_BLOCK && process->waits_block == block) {
			pg->block_waiters--;
			process_wake(pg, process, pg->now_ns);
		}
	}
}

enum { BRING_LOOK, BRING_WRITTEN, BRING_CREATED, BRING_READ };

/* Ask for the block's file: read it, or make the relation longer by it. */
static enum turn block_ask(struct pgbench *pg, struct process *process, struct frame *frame)
{
	enum relation_id id = relation_of(pg, frame->block);
	uint64_t offset;
	struct relation_file *file = relation_file(pg, id, frame->block, &offset);
	enum stream_id stream = pg->relations[id].stream;

	if (!frame->is_new) {
		frame->step = BRING_READ;
		return op_make(pg, process, OP_READ, stream, file->path, offset, BLOCK_BYTES);
	}
	if (offset == 0 && frame->step != BRING_CREATED && frame->block > pg->relations[id].first) {
		frame->step = BRING_CREATED;
		return op_make(pg, process, OP_CREATE, stream, file->path, 0, 0);
	}
	/* mdextend(): the backend writes a block of zeros. */
	frame->step = BRING_READ;
	file->is_unsynced = true;
	pg->count.written_backend++;
	pg->count.extended++;
	return op_make(pg, process, OP_WRITE, stream, file->path, offset, BLOCK_BYTES);
}

static enum turn victim_take(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct buffers *buffers = &pg->buffers;
	struct buffer *buffer = &buffers->at[frame->buffer];

	if (buffer->block != BLOCK_NONE)
		buffer_unlink(buffers, frame->buffer);
	buffer_link(buffers, frame->buffer, frame->block);
	buffer->usage = 1;
	buffer->pins = 1;
	buffer_lsn_set(buffer, 0);
	buffer->flags = BUFFER_READING;
	pg->count.misses++;
	return block_ask(pg, process, frame);
}

/* BufferAlloc() and the read: frame->block. */
static enum turn bring(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct buffers *buffers = &pg->buffers;
	uint32_t at;

	switch (frame->step) {
	case BRING_WRITTEN:
		buffers->at[frame->buffer].pins--;
		if (!(buffers->at[frame->buffer].flags & BUFFER_DIRTY) &&
		    buffers->at[frame->buffer].pins == 0 &&
		    buffer_find(pg, frame->block) == BUFFER_NONE)
			return victim_take(pg, process, frame);
		__attribute__((fallthrough));
	case BRING_LOOK:
		frame->step = BRING_LOOK;
		at = buffer_find(pg, frame->block);
		if (at != BUFFER_NONE) {
			if (buffers->at[at].flags & BUFFER_READING) {
				process->waits = WAIT_BLOCK;
				process->waits_block = frame->block;
				pg->block_waiters++;
				return TURN_WAIT;
			}
			buffer_use(&buffers->at[at]);
			process->brought = frame->block;
			return routine_done(process);
		}
		frame->buffer = victim_find(pg);
		if (!(buffers->at[frame->buffer].flags & BUFFER_DIRTY))
			return victim_take(pg, process, frame);
		buffers->at[frame->buffer].pins++;
		frame->step = BRING_WRITTEN;
		routine_call(process, buffer_write)->buffer = frame->buffer;
		return TURN_ON;
	case BRING_CREATED:
		return block_ask(pg, process, frame);
	default:
		buffers->at[frame->buffer].pins--;
		buffers->at[frame->buffer].flags = 0;
		block_waiters_wake(pg, frame->block);
		process->brought = frame->block;
		return routine_done(process);
	}
}

/* Has it just been read for this process? Then that was its pin. */
static inline bool is_brought(struct pgbench *pg, struct process *process, uint32_t block)
{
	bool is_it = process->brought == block;

	process->brought = BLOCK_NONE;
	pg->count.accesses += is_it;
	return is_it;
}

bool block_need(struct pgbench *pg, struct process *process, uint32_t block)
{
	uint32_t at;

	if (is_brought(pg, process, block))
		return true;
	at = buffer_find(pg, block);
	if (at != BUFFER_NONE && !(pg->buffers.at[at].flags & BUFFER_READING)) {
		buffer_use(&pg->buffers.at[at]);
		pg->count.accesses++;
		return true;
	}
	routine_call(process, bring)->block = block;
	return false;
}

bool block_extend(struct pgbench *pg, struct process *process, uint32_t block)
{
	struct frame *frame;

	if (is_brought(pg, process, block))
		return true;
	frame = routine_call(process, bring);
	frame->block = block;
	frame->is_new = true;
	return false;
}

/* FlushBuffer(): the journal first, then the block. */
enum turn buffer_write(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct buffer *buffer = &pg->buffers.at[frame->buffer];
	struct relation_file *file;
	enum relation_id id;
	uint64_t offset;

	switch (frame->step++) {
	case 0:
		if (buffer_lsn(buffer) > pg->wal.flushed)
			routine_call(process, wal_flush)->at = buffer_lsn(buffer);
		return TURN_ON;
	case 1:
		if (!(buffer->flags & BUFFER_DIRTY)) {
			/* Somebody else has written it while the journal was. */
			frame->step = 3;
			return TURN_ON;
		}
		buffer->flags = 0;
		id = relation_of(pg, buffer->block);
		file = relation_file(pg, id, buffer->block, &offset);
		file->is_unsynced = true;
		if (process->backend)
			pg->count.written_backend++;
		else if (process == server_process(pg, CHECKPOINTER))
			pg->count.written_checkpointer++;
		else
			pg->count.written_writer++;
		return op_make(pg, process, OP_WRITE, pg->relations[id].stream, file->path, offset,
			       BLOCK_BYTES);
	default:
		return routine_done(process);
	}
}

/*
 * Take the first run of neighbours off a list that is in order, and hint at it. Source: PostgreSQL
 * 15, bufmgr.c, IssuePendingWritebacks(): a range ends where the next block is not the following
 * one, or is in another relation; a file's end cuts it.
 */
bool hints_next(struct pgbench *pg, struct process *process, uint32_t *hints, uint32_t *count)
{
	uint32_t run = 1, first = hints[0];
	struct relation_file *file;
	enum relation_id id;
	uint64_t offset, next_offset;

	if (*count == 0)
		return false;
	id = relation_of(pg, first);
	while (run < *count && hints[run] - hints[run - 1] <= 1 &&
	       relation_of(pg, hints[run]) == id &&
	       relation_file(pg, id, hints[run], &next_offset) ==
		       relation_file(pg, id, first, &offset))
		run++;
	file = relation_file(pg, id, first, &offset);
	op_make(pg, process, OP_SYNC_FILE_RANGE, pg->relations[id].stream, file->path, offset,
		(uint64_t)(hints[run - 1] - first + 1) * BLOCK_BYTES);
	*count -= run;
	for (uint32_t i = 0; i < *count; i++)
		hints[i] = hints[i + run];
	return true;
}
