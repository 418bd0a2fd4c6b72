/*
 * What the parts of rocksdb share: one struct for the store and its clients
 *
 * commit.c are the clients, their write groups and the syncer, logs.c the log's files, tables.c the
 * flusher and the compactor. workload/rocksdb.c tells what all this stands for. Each thread is a
 * routine that is called when it is ready, and stops at an op or a wait.
 */
#ifndef REFAULT_SOURCE_WORKLOAD_ROCKSDB_H
#define REFAULT_SOURCE_WORKLOAD_ROCKSDB_H

#include "base/array.h"
#include "base/histogram.h"
#include "op/op.h"
#include "source/schema.h"
#include "source/workload.h"
#include "source/workload/turns.h"

enum { WRITER, SYNCER, FLUSHER, COMPACTOR, BACKGROUND_THREADS };
enum rocksdb_stream { STREAM_LOG, STREAM_TABLE, STREAM_OTHER };
enum { CLIENTS_MAX = 900 };

struct rocksdb_options {
	uint64_t clients, operations, warm_up;
	uint64_t cpu_ns, network_ns;
	uint64_t synced_bytes, unsynced_bytes;
	bool sync;
	uint64_t write_buffer_bytes, write_buffers, recycled_logs;
	uint64_t table_ppm, amplification;
	const char *directory;
};

/* What a thread says when it stops. */
enum turn {
	TURN_ON,   /* call it again */
	TURN_OP,   /* thread->op is to be done first */
	TURN_WAIT, /* somebody will wake it, or it has said when it goes on */
};

struct thread {
	uint32_t step, sub_step;
	struct op op;
	bool is_idle; /* it waits to be woken */
	/* a client's */
	uint64_t begun_ns, appended_ns, done;
	uint64_t bytes; /* of its batch */
	bool wants_sync;
	uint32_t next; /* client behind it in a queue, + 1 */
};

/* Clients, by number + 1. */
struct queue {
	uint32_t first, last;
};

struct log_file {
	uint32_t path;
	uint64_t bytes; /* written, of this use */
	bool is_synced;
	bool is_open; /* by the syncer */
};

struct table {
	uint32_t path;
	uint64_t bytes, written, hinted; /* hinted: the kernel was told to begin up to there */
};

struct counts {
	uint64_t operations, groups, log_bytes, syncs;
	uint64_t logs_created, logs_recycled, logs_removed;
	uint64_t flushes, flushed_bytes, compactions, compacted_bytes;
	uint64_t stalls, stall_ns, begun_ns;
	struct histogram operation, commit;
};

struct rocksdb {
	const struct rocksdb_options *options;
	struct workload_place place;
	uint64_t now_ns;
	struct turns turns;
	struct thread *threads; /* clients, then the background */
	uint32_t clients_left;
	bool is_warm, is_over;

	/* commit.c */
	struct queue waiting;  /* for the log */
	struct queue group;    /* being written */
	struct queue unsynced; /* written, for the next sync */
	struct queue syncing;
	uint64_t group_bytes;
	uint64_t stalled_ns; /* since when; 0: nobody is held up */

	/* logs.c: oldest first, the one in use last */
	ARRAY(struct log_file) logs;
	ARRAY(uint32_t) spare_logs; /* paths: to be recycled */
	uint64_t memtable_bytes;
	uint32_t memtables_full; /* to be flushed, or being */
	uint64_t next_number;    /* of a file */

	/* tables.c */
	ARRAY(struct table) level_0, base;
	struct table flushed; /* being written */
	uint64_t manifest_bytes;
	struct compaction {
		size_t level_0_count, input_count; /* the tables of level 0 first */
		size_t input;                      /* being read, then removed */
		uint64_t input_at, piece_bytes, read_bytes, written, to_write, base_most;
		struct table output;
		ARRAY(struct table) outputs;
		bool is_output_open;
	} compaction;

	uint32_t path_manifest, path_directory;
	uint32_t setup_at, warm_label;
	struct counts count;
};

static inline struct thread *background(struct rocksdb *db, uint32_t which)
{
	return &db->threads[db->options->clients + which];
}

/* If it waits; one with something under way looks for itself when that is done. */
static inline void background_wake(struct rocksdb *db, uint32_t which)
{
	struct thread *thread = background(db, which);

	if (!thread->is_idle)
		return;
	thread->is_idle = false;
	turns_wake(&db->turns, (uint32_t)db->options->clients + which, db->now_ns);
}

/* ---- rocksdb.c ---- */

uint32_t rocksdb_path(struct rocksdb *db, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum turn rocksdb_op(struct rocksdb *db, struct thread *thread, enum op_kind kind,
		     enum rocksdb_stream stream, uint32_t path, uint64_t offset, uint64_t bytes);

/* ---- commit.c ---- */

enum turn client_run(struct rocksdb *db, struct thread *client);
enum turn writer_run(struct rocksdb *db, struct thread *writer);
enum turn syncer_run(struct rocksdb *db, struct thread *syncer);
/* A memtable is free again, or level 0 is smaller: whoever was held up looks again. */
void commit_unstall(struct rocksdb *db);

/* ---- logs.c ---- */

static inline struct log_file *log_in_use(struct rocksdb *db)
{
	return &db->logs.at[db->logs.count - 1];
}

/* Begin another log, by thread->sub_step, from 0 on. True: an op is to be done; false: all are. */
bool log_switch(struct rocksdb *db, struct thread *thread);
/* The oldest log's memtable is in a table, and nobody has it open: keep it for use again, or remove
 * it; likewise. */
bool log_retire(struct rocksdb *db, struct thread *thread);

/* ---- tables.c ---- */

enum turn flusher_run(struct rocksdb *db, struct thread *flusher);
enum turn compactor_run(struct rocksdb *db, struct thread *compactor);

#endif
