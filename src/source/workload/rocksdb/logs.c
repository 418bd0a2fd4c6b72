/*
 * The log's files: begun, filled, and used again or removed
 *
 * Each memtable has a log of its own. A new one grows, and each sync has the file system journal
 * that it did. A recycled one is an old log under a new name, written over from its beginning:
 * nothing about it changes. Sources: RocksDB 5.17, db/db_impl_write.cc, SwitchMemtable();
 * db/db_impl_files.cc, FindObsoleteFiles(), DeleteObsoleteFileImpl(); env/env_posix.cc,
 * ReuseWritableFile().
 *
 * Differs: a new log's blocks are not allocated ahead (there 1.1 times the memtable, with
 * FALLOC_FL_KEEP_SIZE). On ext4 the sync of an append costs the same with that and without: the
 * size is journaled, and blocks come in runs (measured on Linux 6.18).
 */
#include "source/workload/rocksdb/rocksdb.h"

#include <string.h>

static enum turn log_op(struct rocksdb *db, struct thread *thread, enum op_kind kind, uint32_t path)
{
	return rocksdb_op(db, thread, kind, STREAM_LOG, path, 0, 0);
}

static uint32_t log_begin(struct rocksdb *db)
{
	uint32_t path = rocksdb_path(db, "%06llu.log", (unsigned long long)db->next_number++);

	*array_push(&db->logs) = (struct log_file){.path = path, .is_synced = true};
	db->memtable_bytes = 0;
	return path;
}

enum { SWITCH_CLOSE, SWITCH_MAKE, SWITCH_DIRECTORY };

/* A recycled one is renamed, and that is all. */
static void log_make(struct rocksdb *db, struct thread *thread)
{
	uint32_t path = log_begin(db);

	if (db->spare_logs.count == 0) {
		db->count.logs_created++;
		(void)log_op(db, thread, OP_CREATE, path);
		return;
	}
	db->count.logs_recycled++;
	(void)log_op(db, thread, OP_RENAME, db->spare_logs.at[--db->spare_logs.count]);
	thread->op.path_to = path;
}

bool log_switch(struct rocksdb *db, struct thread *thread)
{
	switch (thread->sub_step++) {
	case SWITCH_CLOSE:
		db->memtables_full++;
		return log_op(db, thread, OP_CLOSE, log_in_use(db)->path) == TURN_OP;
	case SWITCH_MAKE:
		log_make(db, thread);
		return true;
	case SWITCH_DIRECTORY:
		/* The first sync of a log is one of its directory, too. */
		return rocksdb_op(db, thread, OP_FSYNC, STREAM_OTHER, db->path_directory, 0, 0) ==
		       TURN_OP;
	default:
		return false;
	}
}

bool log_retire(struct rocksdb *db, struct thread *thread)
{
	uint32_t path = db->logs.at[0].path;

	if (thread->sub_step++ > 0)
		return false;
	db->logs.count--;
	memmove(&db->logs.at[0], &db->logs.at[1], db->logs.count * sizeof(db->logs.at[0]));
	if (db->spare_logs.count < db->options->recycled_logs) {
		*array_push(&db->spare_logs) = path;
		return false;
	}
	db->count.logs_removed++;
	return log_op(db, thread, OP_UNLINK, path) == TURN_OP;
}
