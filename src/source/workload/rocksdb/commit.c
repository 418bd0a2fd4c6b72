/*
 * Clients and their commits: one writes for all who came meanwhile, and one syncs for all
 *
 * What clients have for the log while it is being written goes into the next write, in one call.
 * What of it has to be synced then waits for the syncer, which takes all who wait when it begins,
 * one fdatasync for all; writing goes on meanwhile. The write that finds the memtable full begins
 * another log first, and if no memtable is free, or there are too many tables of level 0, all are
 * held up. Sources: RocksDB 5.17,
 * db/write_thread.cc, JoinBatchGroup(), EnterAsBatchGroupLeader(); db/db_impl_write.cc,
 * PreprocessWrite(), SwitchMemtable(); db/db_impl.cc, SyncWAL(); CockroachDB 19.1,
 * pkg/storage/engine/rocksdb.go, commitInternal(), syncLoop().
 *
 * Differs: 1. a group has no upper size (1 MiB there). 2. Writers are stopped, and never
 * slowed down before that. 3. The first client of a group writes, there; here it is
 * a thread of its own, since an op's descriptors belong to its thread.
 */
#include "source/workload/rocksdb/rocksdb.h"

/* log_format.h, kRecyclableHeaderSize; write_batch.cc, kHeader. */
enum {
	RECORD_HEADER_BYTES = 11,
	BATCH_HEADER_BYTES = 12,
	LEVEL_0_STOP = 36, /* level0_stop_writes_trigger */
};

static void queue_push(struct rocksdb *db, struct queue *queue, uint32_t client)
{
	db->threads[client].next = 0;
	if (queue->last)
		db->threads[queue->last - 1].next = client + 1;
	else
		queue->first = client + 1;
	queue->last = client + 1;
}

static uint32_t queue_pop(struct rocksdb *db, struct queue *queue)
{
	uint32_t client = queue->first - 1;

	queue->first = db->threads[client].next;
	if (!queue->first)
		queue->last = 0;
	return client;
}

/* ---- the syncer ---- */

enum { SYNCER_LOOK, SYNCER_NEXT };

/* A log that is not in use any more, and that it has open. */
static struct log_file *log_to_close(struct rocksdb *db)
{
	for (size_t i = 0; i + 1 < db->logs.count; i++)
		if (db->logs.at[i].is_open)
			return &db->logs.at[i];
	return NULL;
}

static enum turn syncer_look(struct rocksdb *db, struct thread *syncer)
{
	struct log_file *log = log_to_close(db);

	if (log) {
		log->is_open = false;
		background_wake(db, FLUSHER);
		return rocksdb_op(db, syncer, OP_CLOSE, STREAM_LOG, log->path, 0, 0);
	}
	if (!db->unsynced.first)
		return TURN_WAIT;
	db->syncing = db->unsynced;
	db->unsynced = (struct queue){0};
	syncer->step = SYNCER_NEXT;
	return TURN_ON;
}

enum turn syncer_run(struct rocksdb *db, struct thread *syncer)
{
	if (syncer->step == SYNCER_LOOK)
		return syncer_look(db, syncer);
	/* Oldest first: one that is full has its last records to be synced. */
	for (size_t i = 0; i < db->logs.count; i++) {
		struct log_file *log = &db->logs.at[i];

		if (log->is_synced)
			continue;
		/* What is written from now on is another sync's. */
		log->is_synced = log->is_open = true;
		db->count.syncs++;
		return rocksdb_op(db, syncer, OP_FDATASYNC, STREAM_LOG, log->path, 0, 0);
	}
	while (db->syncing.first)
		turns_wake(&db->turns, queue_pop(db, &db->syncing), db->now_ns);
	syncer->step = SYNCER_LOOK;
	return TURN_ON;
}

/* ---- the writer ---- */

enum { WRITER_LOOK, WRITER_ROOM, WRITER_SWITCH, WRITER_WRITE, WRITER_WRITTEN };

static void group_make(struct rocksdb *db)
{
	db->group = db->waiting;
	db->waiting = (struct queue){0};
	db->group_bytes = RECORD_HEADER_BYTES;
	for (uint32_t at = db->group.first; at; at = db->threads[at - 1].next)
		db->group_bytes += db->threads[at - 1].bytes + BATCH_HEADER_BYTES;
}

static void group_done(struct rocksdb *db)
{
	struct log_file *log = log_in_use(db);

	log->bytes += db->group_bytes;
	log->is_synced = false;
	db->memtable_bytes += db->group_bytes;
	db->count.groups++;
	db->count.log_bytes += db->group_bytes;
	while (db->group.first) {
		uint32_t client = queue_pop(db, &db->group);

		if (!db->threads[client].wants_sync) {
			turns_wake(&db->turns, client, db->now_ns);
			continue;
		}
		queue_push(db, &db->unsynced, client);
		background_wake(db, SYNCER);
	}
}

enum turn writer_run(struct rocksdb *db, struct thread *writer)
{
	struct log_file *log;

	switch (writer->step) {
	case WRITER_LOOK:
		if (!db->waiting.first)
			return TURN_WAIT;
		group_make(db);
		writer->sub_step = 0;
		writer->step = db->memtable_bytes < db->options->write_buffer_bytes ? WRITER_WRITE
										    : WRITER_ROOM;
		return TURN_ON;
	case WRITER_ROOM: /* and again whenever something has changed */
		if (db->memtables_full + 1 < db->options->write_buffers &&
		    (db->level_0.count < LEVEL_0_STOP || db->options->amplification == 0)) {
			writer->step = WRITER_SWITCH;
			return TURN_ON;
		}
		db->count.stalls++;
		db->stalled_ns = db->now_ns;
		return TURN_WAIT;
	case WRITER_SWITCH:
		if (log_switch(db, writer))
			return TURN_OP;
		background_wake(db, FLUSHER);
		writer->step = WRITER_WRITE;
		return TURN_ON;
	case WRITER_WRITE:
		log = log_in_use(db);
		writer->step = WRITER_WRITTEN;
		return rocksdb_op(db, writer, OP_WRITE, STREAM_LOG, log->path, log->bytes,
				  db->group_bytes);
	default:
		group_done(db);
		writer->step = WRITER_LOOK;
		return TURN_ON;
	}
}

void commit_unstall(struct rocksdb *db)
{
	if (!db->stalled_ns)
		return;
	db->count.stall_ns += db->now_ns - db->stalled_ns;
	db->stalled_ns = 0;
	background_wake(db, WRITER);
}

/* ---- clients ---- */

enum {
	CLIENT_BEGIN,
	CLIENT_APPEND,
	CLIENT_APPENDED,
	CLIENT_ANSWERED,
	CLIENT_APPLIED,
	CLIENT_DONE,
};

static uint32_t number_of(const struct rocksdb *db, const struct thread *client)
{
	return (uint32_t)(client - db->threads);
}

/* Into the queue for the log; whoever writes or syncs it wakes the client. */
static enum turn append(struct rocksdb *db, struct thread *client, uint64_t bytes, bool wants_sync)
{
	client->bytes = bytes;
	client->wants_sync = wants_sync;
	client->appended_ns = db->now_ns;
	queue_push(db, &db->waiting, number_of(db, client));
	background_wake(db, WRITER);
	return TURN_WAIT;
}

static enum turn compute(struct rocksdb *db, struct thread *client, uint64_t ns)
{
	if (ns == 0)
		return TURN_ON;
	return rocksdb_op(db, client, OP_COMPUTE, STREAM_OTHER, 0, 0, ns);
}

static void counting_begins(struct rocksdb *db)
{
	db->is_warm = true;
	db->clients_left = (uint32_t)db->options->clients;
	histogram_deinit(&db->count.operation);
	histogram_deinit(&db->count.commit);
	db->count = (struct counts){.begun_ns = db->now_ns};
	for (uint32_t i = 0; i < db->options->clients; i++)
		db->threads[i].done = 0;
}

/* The phase (the warm-up, or what counts) is over for this client: what now? */
static enum turn phase_end(struct rocksdb *db, struct thread *client)
{
	if (--db->clients_left > 0)
		return TURN_WAIT;
	if (db->is_warm) {
		db->is_over = true;
		return TURN_WAIT;
	}
	counting_begins(db);
	for (uint32_t i = 0; i < db->options->clients; i++)
		if (i != number_of(db, client))
			turns_wake(&db->turns, i, db->now_ns);
	/* The last one says so, and then begins as the others do. */
	return rocksdb_op(db, client, OP_MARK, STREAM_OTHER, db->warm_label, 0,
			  MARK_COUNTING_BEGINS);
}

static enum turn client_begin(struct rocksdb *db, struct thread *client)
{
	uint64_t most = db->is_warm ? db->options->operations : db->options->warm_up;

	if ((most || !db->is_warm) && client->done >= most)
		return phase_end(db, client);
	client->begun_ns = db->now_ns;
	client->step = CLIENT_APPEND;
	/* Half of the processor's time before the commit, half after it. */
	return compute(db, client, db->options->cpu_ns / 2);
}

static void client_done(struct rocksdb *db, struct thread *client)
{
	client->done++;
	db->count.operations++;
	histogram_add(&db->count.operation, db->now_ns - client->begun_ns);
}

enum turn client_run(struct rocksdb *db, struct thread *client)
{
	switch (client->step) {
	case CLIENT_BEGIN:
		return client_begin(db, client);
	case CLIENT_APPEND:
		client->step = CLIENT_APPENDED;
		return append(db, client, db->options->synced_bytes, db->options->sync);
	case CLIENT_APPENDED:
		histogram_add(&db->count.commit, db->now_ns - client->appended_ns);
		client->step = CLIENT_ANSWERED;
		if (db->options->network_ns == 0)
			return TURN_ON;
		turns_wake(&db->turns, number_of(db, client), db->now_ns + db->options->network_ns);
		return TURN_WAIT;
	case CLIENT_ANSWERED:
		client->step = CLIENT_APPLIED;
		if (db->options->unsynced_bytes == 0)
			return TURN_ON;
		return append(db, client, db->options->unsynced_bytes, false);
	case CLIENT_APPLIED:
		client->step = CLIENT_DONE;
		return compute(db, client, db->options->cpu_ns - db->options->cpu_ns / 2);
	default:
		client_done(db, client);
		client->step = CLIENT_BEGIN;
		return TURN_ON;
	}
}
