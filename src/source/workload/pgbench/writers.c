/*
 * The background writer and the wal writer
 *
 * Every 200 ms the background writer looks how many buffers were taken since, and cleans ahead of
 * the clock's hand what will be taken until the next time (twice the smoothed rate), at most 100 of
 * them; what has been used since the hand came by is left alone. After 64 written blocks it tells
 * the kernel to begin. The wal writer writes whole blocks of the journal every 200 ms, or when
 * a commit that nobody waits for has filled one. Sources: PostgreSQL 15, bufmgr.c, BgBufferSync(),
 * SyncOneBuffer(); bgwriter.c; walwriter.c. Fractions are in 65536ths there are doubles there.
 *
 * Differs: neither goes into its long sleep when nothing happens.
 */
#include "source/workload/pgbench/pgbench.h"

#include <stdlib.h>

enum {
	DELAY_NS = 200000000, /* bgwriter_delay, wal_writer_delay */
	PAGES_MAX = 100,      /* bgwriter_lru_maxpages */
	MULTIPLIER = 2,       /* bgwriter_lru_multiplier */
	SMOOTHING = 16,
	WHOLE_POOL_ROUNDS = 600, /* the whole pool is looked at in 2 minutes: 120 s / 200 ms */
	ONE = 65536,
};

/* How far the hand has gone per buffer taken, smoothed. */
static void density_add(struct writer *writer, uint64_t scanned, uint64_t taken)
{
	uint64_t before = writer->density;

	if (scanned == 0 || taken == 0)
		return;
	writer->density += scanned * ONE / taken / SMOOTHING;
	writer->density -= before / SMOOTHING;
	if (writer->density == 0)
		writer->density = 1;
}

/* How far is the hand from where cleaning goes on? And if it has overtaken that: from the hand. */
static void lap_measure(const struct pgbench *pg, struct writer *writer)
{
	const struct buffers *buffers = &pg->buffers;

	if (writer->is_valid && (int32_t)(writer->next_round - buffers->rounds) > 0) {
		writer->lap = buffers->hand - writer->next;
	} else if (writer->is_valid && writer->next_round == buffers->rounds &&
		   writer->next >= buffers->hand) {
		writer->lap = buffers->count - (writer->next - buffers->hand);
	} else {
		writer->next = buffers->hand;
		writer->next_round = buffers->rounds;
		writer->lap = buffers->count;
	}
}

/* The first half of BgBufferSync(): how many are wanted clean. */
static void round_begin(struct pgbench *pg)
{
	struct writer *writer = &pg->writer;
	struct buffers *buffers = &pg->buffers;
	uint64_t taken = buffers->allocated, least;

	buffers->allocated = 0;
	if (writer->is_valid)
		density_add(writer,
			    (uint64_t)(buffers->rounds - writer->rounds_before) * buffers->count +
				    buffers->hand - writer->hand_before,
			    taken);
	lap_measure(pg, writer);
	writer->hand_before = buffers->hand;
	writer->rounds_before = buffers->rounds;
	writer->is_valid = true;
	writer->reusable_before =
		(uint32_t)((uint64_t)(buffers->count - writer->lap) * ONE / writer->density);
	if (writer->smoothed_alloc <= taken * ONE)
		writer->smoothed_alloc = taken * ONE;
	else
		writer->smoothed_alloc -= (writer->smoothed_alloc - taken * ONE) / SMOOTHING;
	writer->wanted = (uint32_t)(writer->smoothed_alloc * MULTIPLIER / ONE);
	if (writer->wanted == 0)
		writer->smoothed_alloc = 0;
	least = buffers->count / WHOLE_POOL_ROUNDS + writer->reusable_before;
	if (writer->wanted < least)
		writer->wanted = (uint32_t)least;
	writer->to_scan = writer->lap;
	writer->written = 0;
	writer->reusable = writer->reusable_before;
}

static void next_step(const struct pgbench *pg, struct writer *writer)
{
	writer->to_scan--;
	if (++writer->next == pg->buffers.count) {
		writer->next = 0;
		writer->next_round++;
	}
}

/* The next one that nobody has used, dirty; counts clean ones as it goes. BUFFER_NONE: enough. */
static uint32_t dirty_next(const struct pgbench *pg, struct writer *writer)
{
	while (writer->to_scan > 0 && writer->reusable < writer->wanted &&
	       writer->written < PAGES_MAX) {
		uint32_t at = writer->next;
		const struct buffer *buffer = &pg->buffers.at[at];

		next_step(pg, writer);
		if (buffer->pins || buffer->usage || buffer->block == BLOCK_NONE)
			continue;
		if (buffer->flags & BUFFER_DIRTY)
			return at;
		writer->reusable++;
	}
	return BUFFER_NONE;
}

static int block_compare(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

enum { WRITER_SLEEP, WRITER_ROUND, WRITER_NEXT, WRITER_WRITTEN, WRITER_HINT };

enum turn writer_main(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct writer *writer = &pg->writer;

	switch (frame->step) {
	case WRITER_SLEEP:
		frame->step = WRITER_ROUND;
		return process_sleep(pg, process, pg->now_ns + DELAY_NS);
	case WRITER_ROUND:
		round_begin(pg);
		frame->step = WRITER_NEXT;
		__attribute__((fallthrough));
	case WRITER_NEXT:
		frame->buffer = dirty_next(pg, writer);
		if (frame->buffer == BUFFER_NONE) {
			density_add(writer, writer->lap - writer->to_scan,
				    writer->reusable - writer->reusable_before);
			frame->step = WRITER_SLEEP;
			return TURN_ON;
		}
		frame->block = pg->buffers.at[frame->buffer].block;
		pg->buffers.at[frame->buffer].pins++;
		frame->step = WRITER_WRITTEN;
		routine_call(process, buffer_write)->buffer = frame->buffer;
		return TURN_ON;
	case WRITER_WRITTEN:
		pg->buffers.at[frame->buffer].pins--;
		writer->written++;
		writer->reusable++;
		frame->step = WRITER_NEXT;
		if (pg->options->version == VERSION_9_5)
			return TURN_ON;
		writer->hints[writer->hint_count++] = frame->block;
		if (writer->hint_count < WRITER_HINTS)
			return TURN_ON;
		qsort(writer->hints, writer->hint_count, sizeof(writer->hints[0]), block_compare);
		frame->step = WRITER_HINT;
		__attribute__((fallthrough));
	default:
		if (hints_next(pg, process, writer->hints, &writer->hint_count))
			return TURN_OP;
		frame->step = WRITER_NEXT;
		return TURN_ON;
	}
}

enum turn wal_writer_main(struct pgbench *pg, struct process *process, struct frame *frame)
{
	if (frame->step++ % 2 == 0)
		return process_sleep(pg, process, pg->now_ns + DELAY_NS);
	routine_call(process, wal_background_flush);
	return TURN_ON;
}
