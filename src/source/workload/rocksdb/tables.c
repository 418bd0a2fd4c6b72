/*
 * The flusher and the compactor
 *
 * A full memtable becomes a table of level 0: written in pieces of 1 MiB, of which the kernel is told
 * every 512 KiB to begin (what the last MiB holds is left alone), synced, and entered in the
 * manifest, which is synced too; then its log is done with. Two tables of level 0 are merged with
 * as much of the base level as the keys' spread makes necessary: with uniform keys, all of it. What
 * goes further down is a matter of `amplification`. Sources: RocksDB 5.17, db/builder.cc,
 * BuildTable(); util/file_reader_writer.cc, WritableFileWriter::Flush(), RangeSync();
 * db/version_set.cc, LogAndApply(); db/compaction_job.cc. Sizes as CockroachDB 19.1 sets them
 * (c-deps/libroach/options.cc: bytes_per_sync, level0_file_num_compaction_trigger,
 * target_file_size_base).
 *
 * Differs: 1. one flush and one compaction at a time. 2. A merge writes as many bytes as it reads,
 * but for what exceeds the base level's size, which leaves it as if moved. 3. Whoever compacts reads
 * in pieces of 256 KiB, and computes 10 ns a byte (estimated: 100 MB/s a thread).
 */
#include "source/workload/rocksdb/rocksdb.h"

#include <string.h>

#include "base/size.h"

enum {
	PIECE_BYTES = 1 << 20,       /* writable_file_max_buffer_size */
	HINT_BYTES = 512 << 10,      /* bytes_per_sync */
	HINT_LEAVES = 1 << 20,       /* kBytesNotSyncRange */
	READ_BYTES = 256 << 10,      /* compaction */
	TABLE_BYTES = 64 << 20,      /* target_file_size_base */
	LEVEL_0_TABLES = 2,          /* level0_file_num_compaction_trigger */
	MANIFEST_RECORD_BYTES = 200, /* a file's number, size, and two keys */
	COMPUTE_NS_PER_BYTE = 10,
};

static uint32_t table_path(struct rocksdb *db)
{
	return rocksdb_path(db, "%06llu.sst", (unsigned long long)db->next_number++);
}

/* ---- writing a table: both do it ---- */

/* Its next op; false: all of it is written. */
static bool table_write(struct rocksdb *db, struct thread *thread, struct table *table)
{
	uint64_t offset = table->written, left = table->bytes - offset, end;

	/* Up to 1 MiB before its end, in whole pages. */
	end = offset > HINT_LEAVES ? (offset - HINT_LEAVES) / 4096 * 4096 : 0;
	if (end >= table->hinted + HINT_BYTES) {
		uint64_t from = table->hinted;

		table->hinted = end;
		return rocksdb_op(db, thread, OP_SYNC_FILE_RANGE, STREAM_TABLE, table->path, from,
				  end - from) == TURN_OP;
	}
	if (left == 0)
		return false;
	left = left < PIECE_BYTES ? left : PIECE_BYTES;
	table->written += left;
	return rocksdb_op(db, thread, OP_WRITE, STREAM_TABLE, table->path, offset, left) == TURN_OP;
}

static enum turn table_begin(struct rocksdb *db, struct thread *thread, struct table *table,
			     uint64_t bytes)
{
	*table = (struct table){.path = table_path(db), .bytes = bytes};
	return rocksdb_op(db, thread, OP_CREATE, STREAM_TABLE, table->path, 0, 0);
}

/* ---- after it: what is in which level is on disk ---- */

enum { END_SYNC, END_CLOSE, END_MANIFEST, END_MANIFEST_SYNC, END_DONE };

/* By thread->sub_step. False: done. */
static bool table_end(struct rocksdb *db, struct thread *thread, const struct table *table)
{
	uint64_t at = db->manifest_bytes;

	switch (thread->sub_step++) {
	case END_SYNC:
		return rocksdb_op(db, thread, OP_FSYNC, STREAM_TABLE, table->path, 0, 0) == TURN_OP;
	case END_CLOSE:
		return rocksdb_op(db, thread, OP_CLOSE, STREAM_TABLE, table->path, 0, 0) == TURN_OP;
	case END_MANIFEST:
		db->manifest_bytes += MANIFEST_RECORD_BYTES;
		return rocksdb_op(db, thread, OP_WRITE, STREAM_OTHER, db->path_manifest, at,
				  MANIFEST_RECORD_BYTES) == TURN_OP;
	case END_MANIFEST_SYNC:
		return rocksdb_op(db, thread, OP_FSYNC, STREAM_OTHER, db->path_manifest, 0, 0) ==
		       TURN_OP;
	default:
		return false;
	}
}

/* ---- the flusher ---- */

enum { FLUSH_LOOK, FLUSH_WRITE, FLUSH_END, FLUSH_RETIRE };

enum turn flusher_run(struct rocksdb *db, struct thread *flusher)
{
	uint64_t bytes;

	switch (flusher->step) {
	case FLUSH_LOOK:
		if (db->memtables_full == 0)
			return TURN_WAIT;
		flusher->step = FLUSH_WRITE;
		bytes = (uint64_t)((unsigned __int128)db->logs.at[0].bytes *
				   db->options->table_ppm / 1000000);
		return table_begin(db, flusher, &db->flushed, bytes ? bytes : 1);
	case FLUSH_WRITE:
		if (table_write(db, flusher, &db->flushed))
			return TURN_OP;
		flusher->step = FLUSH_END;
		flusher->sub_step = END_SYNC;
		return TURN_ON;
	case FLUSH_END:
		if (table_end(db, flusher, &db->flushed))
			return TURN_OP;
		*array_push(&db->level_0) = db->flushed;
		db->count.flushes++;
		db->count.flushed_bytes += db->flushed.bytes;
		db->memtables_full--;
		commit_unstall(db);
		background_wake(db, COMPACTOR);
		flusher->step = FLUSH_RETIRE;
		flusher->sub_step = 0;
		return TURN_ON;
	default:
		if (flusher->sub_step == 0 && db->logs.at[0].is_open) {
			background_wake(db, SYNCER);
			return TURN_WAIT;
		}
		if (log_retire(db, flusher))
			return TURN_OP;
		flusher->step = FLUSH_LOOK;
		return TURN_ON;
	}
}

/* ---- the compactor ---- */

enum { COMPACT_LOOK, COMPACT_READ, COMPACT_COMPUTE, COMPACT_WRITE, COMPACT_END, COMPACT_REMOVE };

/* Level 0's tables and all of the base level. */
static void compaction_begin(struct rocksdb *db)
{
	struct compaction *compaction = &db->compaction;

	*compaction = (struct compaction){.level_0_count = db->level_0.count,
					  .input_count = db->level_0.count + db->base.count};
	for (size_t i = 0; i < db->level_0.count; i++)
		compaction->to_write += db->level_0.at[i].bytes;
	/* So many bytes written for each that was flushed: the base level grows up to that. */
	compaction->base_most = compaction->to_write * db->options->amplification;
	for (size_t i = 0; i < db->base.count; i++)
		compaction->to_write += db->base.at[i].bytes;
}

static struct table *compaction_input(struct rocksdb *db, size_t index)
{
	size_t level_0 = db->compaction.level_0_count;

	return index < level_0 ? &db->level_0.at[index] : &db->base.at[index - level_0];
}

static enum turn compact_read(struct rocksdb *db, struct thread *compactor)
{
	struct compaction *compaction = &db->compaction;
	struct table *input = compaction_input(db, compaction->input);
	uint64_t offset = compaction->input_at, left = input->bytes - offset;

	if (left > READ_BYTES)
		left = READ_BYTES;
	compaction->input_at += left;
	compaction->read_bytes += left;
	if (compaction->input_at == input->bytes) {
		compaction->input++;
		compaction->input_at = 0;
	}
	compactor->step = COMPACT_COMPUTE;
	compaction->piece_bytes = left;
	return rocksdb_op(db, compactor, OP_READ, STREAM_TABLE, input->path, offset, left);
}

/* The output follows the input; a table that is full is closed, and the next begun. */
static enum turn compact_write(struct rocksdb *db, struct thread *compactor)
{
	struct compaction *compaction = &db->compaction;
	uint64_t left = compaction->to_write - compaction->written;
	struct table *output = &compaction->output;

	if (!compaction->is_output_open) {
		compaction->is_output_open = true;
		return table_begin(db, compactor, output, left < TABLE_BYTES ? left : TABLE_BYTES);
	}
	/* A piece is written when it is full, and what is left at the end. */
	if (compaction->read_bytes - compaction->written >= PIECE_BYTES ||
	    compaction->read_bytes == compaction->to_write) {
		uint64_t before = output->written;

		if (table_write(db, compactor, output)) {
			compaction->written += output->written - before;
			return TURN_OP;
		}
		compactor->step = COMPACT_END;
		compactor->sub_step = END_SYNC;
		return TURN_ON;
	}
	compactor->step = COMPACT_READ;
	return TURN_ON;
}

static void compaction_end(struct rocksdb *db)
{
	struct compaction *compaction = &db->compaction;
	uint64_t bytes = 0;

	for (size_t i = 0; i < compaction->outputs.count; i++)
		bytes += compaction->outputs.at[i].bytes;
	db->level_0.count -= compaction->level_0_count;
	memmove(db->level_0.at, db->level_0.at + compaction->level_0_count,
		db->level_0.count * sizeof(db->level_0.at[0]));
	db->base.count = 0;
	/* What is too much for the level has moved on; it is a file that nobody touches any more. */
	for (size_t i = 0; i < compaction->outputs.count; i++) {
		if (bytes > compaction->base_most)
			bytes -= compaction->outputs.at[i].bytes;
		else
			*array_push(&db->base) = compaction->outputs.at[i];
	}
	db->count.compactions++;
	db->count.compacted_bytes += compaction->to_write;
	array_deinit(&compaction->outputs);
}

enum turn compactor_run(struct rocksdb *db, struct thread *compactor)
{
	struct compaction *compaction = &db->compaction;
	uint32_t path;

	switch (compactor->step) {
	case COMPACT_LOOK:
		if (db->level_0.count < LEVEL_0_TABLES || db->options->amplification == 0)
			return TURN_WAIT;
		compaction_begin(db);
		compactor->step = COMPACT_READ;
		return TURN_ON;
	case COMPACT_READ:
		if (compaction->input < compaction->input_count)
			return compact_read(db, compactor);
		compactor->step = COMPACT_WRITE;
		return TURN_ON;
	case COMPACT_COMPUTE:
		compactor->step = COMPACT_WRITE;
		return rocksdb_op(db, compactor, OP_COMPUTE, STREAM_OTHER, 0, 0,
				  compaction->piece_bytes * COMPUTE_NS_PER_BYTE);
	case COMPACT_WRITE:
		return compact_write(db, compactor);
	case COMPACT_END:
		if (table_end(db, compactor, &compaction->output))
			return TURN_OP;
		*array_push(&compaction->outputs) = compaction->output;
		compaction->is_output_open = false;
		compactor->step = COMPACT_WRITE;
		if (compaction->written < compaction->to_write)
			return TURN_ON;
		compactor->step = COMPACT_REMOVE;
		compactor->sub_step = 0;
		compaction->input = 0;
		return TURN_ON;
	default:
		if (compaction->input == compaction->input_count) {
			compaction_end(db);
			commit_unstall(db);
			compactor->step = COMPACT_LOOK;
			return TURN_ON;
		}
		path = compaction_input(db, compaction->input)->path;
		if (compactor->sub_step ^= 1)
			return rocksdb_op(db, compactor, OP_CLOSE, STREAM_TABLE, path, 0, 0);
		compaction->input++;
		return rocksdb_op(db, compactor, OP_UNLINK, STREAM_TABLE, path, 0, 0);
	}
}
