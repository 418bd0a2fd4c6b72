/*
 * rocksdb: a store with a write-ahead log under clients that write, each write synced
 *
 * Idea       What recycling the log's files is worth is a matter of how a store uses them: how many
 *            commits share a sync, how long the sync of a file takes that grows or does not, what
 *            else the device has to do meanwhile (memtables that become tables, tables that are
 *            merged), and whether processors or the device are what everybody waits for. So the
 *            write path of RocksDB is modelled whole, as CockroachDB drives it: of each operation a
 *            synced entry (of the replication log), a wait for the others (`network`), and an
 *            unsynced one (when it is applied).
 *
 *                client --batch--> writer --log--> syncer --> client --batch--> writer --> client
 *                                    |  memtable full
 *                                    v
 *                                 flusher --table--> compactor --tables--> ...
 *
 * Source     RocksDB 5.17 and CockroachDB 19.1 (2019); each part names functions.
 * Differs    1. Nothing is stored, nothing is read by clients: keys are as if uniform. 2. Of a
 *            cluster it is one node, which stands for all: its followers are a wait. And what each
 *            part says.
 * State      A hundred bytes a client, a few a file.
 */
#include "source/workload/rocksdb/rocksdb.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "op/path.h"
#include "source/scenario.h"

#define FIELD(name) offsetof(struct rocksdb_options, name)

static const struct schema_key keys[] = {
	{SCHEMA_JOB, "clients", SCHEMA_NUMBER, FIELD(clients), "1", NULL, 1, CLIENTS_MAX,
	 "each begins an operation when the one before is done"},
	{SCHEMA_JOB, "operations", SCHEMA_NUMBER, FIELD(operations), "", NULL, 1,
	 SCENARIO_COUNT_MAX,
	 "of each client; if not given, the job's `duration` or `until` ends it"},
	{SCHEMA_JOB, "warm_up", SCHEMA_NUMBER, FIELD(warm_up), "0", NULL, 0, SCENARIO_COUNT_MAX,
	 "operations of each client before counting begins, at the mark `warm`"},
	{SCHEMA_JOB, "cpu", SCHEMA_TIME, FIELD(cpu_ns), "20us", NULL, 0, NS_PER_SECOND,
	 "processor time of an operation, system calls not included"},
	{SCHEMA_JOB, "network", SCHEMA_TIME, FIELD(network_ns), "0", NULL, 0, NS_PER_SECOND,
	 "what an operation waits for others between its two entries"},
	{SCHEMA_JOB, "synced", SCHEMA_SIZE, FIELD(synced_bytes), "100", NULL, 1, 16 * MIB,
	 "bytes of an operation's first entry in the log, which is synced"},
	{SCHEMA_JOB, "unsynced", SCHEMA_SIZE, FIELD(unsynced_bytes), "0", NULL, 0, 16 * MIB,
	 "bytes of its second, which is not; 0: there is none"},
	{SCHEMA_JOB, "sync", SCHEMA_FLAG, FIELD(sync), "yes", NULL, 0, 0,
	 "`no`: no operation waits for the device"},
	{SCHEMA_JOB, "write_buffer", SCHEMA_SIZE, FIELD(write_buffer_bytes), "64MiB", NULL, MIB,
	 16 * GIB, "write_buffer_size: of a memtable, and so of a log"},
	{SCHEMA_JOB, "write_buffers", SCHEMA_NUMBER, FIELD(write_buffers), "4", NULL, 2, 64,
	 "max_write_buffer_number: when all are full, writers wait"},
	{SCHEMA_JOB, "recycled_logs", SCHEMA_NUMBER, FIELD(recycled_logs), "0", NULL, 0, 64,
	 "recycle_log_file_num: so many old logs are kept, to be used again"},
	{SCHEMA_JOB, "table_part", SCHEMA_RATIO, FIELD(table_ppm), "0.5", NULL, 0, 1000000,
	 "bytes of a table for each byte of the log (compressed, and without what was "
	 "overwritten)"},
	{SCHEMA_JOB, "amplification", SCHEMA_NUMBER, FIELD(amplification), "4", NULL, 0, 100,
	 "bytes that merging writes, in the end, for each byte flushed; 0: tables are never "
	 "merged"},
	{SCHEMA_JOB, "directory", SCHEMA_TEXT, FIELD(directory), "", NULL, 0, 0,
	 "of the store; if not given, the job's name"},
};

static const char *const stream_names[] = {"log", "tables", "other", NULL};

static uint32_t threads(const void *options)
{
	return (uint32_t)((const struct rocksdb_options *)options)->clients + BACKGROUND_THREADS;
}

static bool ends(const void *options)
{
	return ((const struct rocksdb_options *)options)->operations > 0;
}

static void destroy(struct workload_run *run)
{
	struct rocksdb *db = (struct rocksdb *)run;

	if (!db)
		return;
	turns_deinit(&db->turns);
	memory_free(db->threads);
	array_deinit(&db->logs);
	array_deinit(&db->spare_logs);
	array_deinit(&db->level_0);
	array_deinit(&db->base);
	array_deinit(&db->compaction.outputs);
	histogram_deinit(&db->count.operation);
	histogram_deinit(&db->count.commit);
	memory_free(db);
}

uint32_t rocksdb_path(struct rocksdb *db, const char *format, ...)
{
	char text[PATH_BYTES_MAX + 1];
	const char *directory = db->options->directory;
	int bytes;
	va_list list;

	bytes = snprintf(text, sizeof(text), "%s/",
			 directory && directory[0] ? directory : db->place.job);
	va_start(list, format);
	bytes += vsnprintf(text + bytes, sizeof(text) - (size_t)bytes, format, list);
	va_end(list);
	return path_intern(db->place.paths, text, (size_t)bytes);
}

enum turn rocksdb_op(struct rocksdb *db, struct thread *thread, enum op_kind kind,
		     enum rocksdb_stream stream, uint32_t path, uint64_t offset, uint64_t bytes)
{
	thread->op = (struct op){
		.time_ns = db->now_ns,
		.offset = offset,
		.bytes = bytes,
		.path = path,
		.thread = db->place.first_thread + (uint32_t)(thread - db->threads),
		.stream = (uint16_t)(db->place.first_stream + stream),
		.kind = (uint8_t)kind,
	};
	return TURN_OP;
}

static struct workload_run *create(const void *options, const struct workload_place *place,
				   struct error *error)
{
	struct rocksdb *db = memory_alloc(1, sizeof(*db));
	const char *directory;

	db->options = options;
	db->place = *place;
	directory = db->options->directory;
	directory = directory && directory[0] ? directory : place->job;
	if (strlen(directory) + sizeof("/MANIFEST-000001") > PATH_BYTES_MAX) {
		error_input(error, "job \"%.60s\": its directory's name is too long", place->job);
		memory_free(db);
		return NULL;
	}
	db->path_directory = path_intern(place->paths, directory, strlen(directory));
	db->path_manifest = rocksdb_path(db, "MANIFEST-000001");
	db->warm_label = path_intern(place->paths, "warm", 4);
	db->next_number = 2;
	*array_push(&db->logs) =
		(struct log_file){.path = rocksdb_path(db, "000002.log"), .is_synced = true};
	db->next_number++;
	db->clients_left = (uint32_t)db->options->clients;
	db->is_warm = db->options->warm_up == 0;
	db->threads = memory_alloc(threads(options), sizeof(*db->threads));
	turns_init(&db->turns, threads(options));
	return (struct workload_run *)db;
}

/* An empty store that has just been opened: its manifest, and a log. */
static bool setup(struct workload_run *run, struct op *op)
{
	struct rocksdb *db = (struct rocksdb *)run;
	const uint32_t paths[] = {db->path_manifest, db->logs.at[0].path};

	if (db->setup_at == sizeof(paths) / sizeof(paths[0]))
		return false;
	*op = (struct op){
		.kind = OP_EXISTS,
		.path = paths[db->setup_at],
		.stream = (uint16_t)(db->place.first_stream + STREAM_OTHER),
	};
	db->setup_at++;
	return true;
}

static void start(struct workload_run *run, uint64_t now_ns)
{
	struct rocksdb *db = (struct rocksdb *)run;

	db->now_ns = db->count.begun_ns = now_ns;
	for (uint32_t i = 0; i < db->options->clients; i++)
		turns_wake(&db->turns, i, now_ns);
	for (uint32_t i = 0; i < BACKGROUND_THREADS; i++)
		background(db, i)->is_idle = true;
}

static enum turn thread_run(struct rocksdb *db, uint32_t number)
{
	static enum turn (*const routines[BACKGROUND_THREADS])(struct rocksdb *,
							       struct thread *) = {
		[WRITER] = writer_run,
		[SYNCER] = syncer_run,
		[FLUSHER] = flusher_run,
		[COMPACTOR] = compactor_run,
	};
	struct thread *thread = &db->threads[number];
	bool is_client = number < db->options->clients;
	enum turn turn;

	do
		turn = is_client ? client_run(db, thread)
				 : routines[number - db->options->clients](db, thread);
	while (turn == TURN_ON);
	thread->is_idle = turn == TURN_WAIT;
	return turn;
}

static bool next_due(struct workload_run *run, uint64_t now_ns, struct op *op, uint64_t *next_ns)
{
	struct rocksdb *db = (struct rocksdb *)run;

	while (!db->is_over && turns_next_ns(&db->turns) <= now_ns) {
		uint32_t number;

		db->now_ns = turns_next_ns(&db->turns);
		number = turns_take(&db->turns);
		if (thread_run(db, number) != TURN_OP)
			continue;
		*op = db->threads[number].op;
		return true;
	}
	*next_ns = db->is_over ? UINT64_MAX : turns_next_ns(&db->turns);
	return false;
}

static void completed(struct workload_run *run, const struct op *op, uint64_t done_ns)
{
	struct rocksdb *db = (struct rocksdb *)run;

	turns_wake(&db->turns, op->thread - db->place.first_thread,
		   done_ns > db->now_ns ? done_ns : db->now_ns);
}

static uint64_t work(const struct workload_run *run)
{
	const struct rocksdb *db = (const struct rocksdb *)run;

	return db->is_warm ? db->count.operations : 0;
}

static void progress(const struct workload_run *run, uint64_t *done, uint64_t *total)
{
	const struct rocksdb *db = (const struct rocksdb *)run;
	const struct rocksdb_options *options = db->options;

	*done = db->count.operations + (db->is_warm ? options->warm_up * options->clients : 0);
	*total = options->operations ? (options->warm_up + options->operations) * options->clients
				     : 0;
}

/* ---- what it says in the end ---- */

static const struct workload_sum sums[] = {
#define SUM(field, meaning)                                                                        \
	{                                                                                          \
#field, meaning, offsetof(struct counts, field)                                    \
	}
	SUM(log_bytes, "bytes written to the log"),
	SUM(groups, "writes to the log, each for all who waited"),
	SUM(syncs, "fdatasyncs of the log"),
	SUM(logs_created, "logs made"),
	SUM(logs_recycled, "logs used again"),
	SUM(logs_removed, "logs removed"),
	SUM(flushes, "memtables that became tables"),
	SUM(flushed_bytes, "bytes of these tables"),
	SUM(compactions, "merges of tables"),
	SUM(compacted_bytes, "bytes written by them"),
	SUM(stalls, "times that all memtables were full"),
	SUM(stall_ns, "time of these"),
#undef SUM
};

static void report(struct workload_run *run, const struct op_source_reporter *reporter)
{
	struct rocksdb *db = (struct rocksdb *)run;
	const struct counts *count = &db->count;
	uint64_t elapsed_ns = db->now_ns - count->begun_ns;

	if (!db->is_warm)
		return; /* it never came to count */
	reporter->work(reporter->context, "operations");
	reporter->figure(reporter->context, "operations", "operations done",
			 (double)count->operations, false);
	workload_sums_report(reporter, sums, sizeof(sums) / sizeof(sums[0]), count);
	if (elapsed_ns)
		reporter->figure(reporter->context, "operations_per_second", "operations a second",
				 (double)count->operations * 1e9 / (double)elapsed_ns, false);
	if (count->syncs)
		reporter->figure(reporter->context, "commits_per_sync",
				 "operations for each fdatasync of the log",
				 (double)count->operations / (double)count->syncs, false);
	reporter->latency(reporter->context, "operation", &count->operation);
	reporter->latency(reporter->context, "commit", &count->commit);
}

extern const struct workload workload_rocksdb;
const struct workload workload_rocksdb = {
	.name = "rocksdb",
	.summary = "RocksDB's write path: clients, write groups, log, memtables, tables",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.options_bytes = sizeof(struct rocksdb_options),
	.threads = threads,
	.ends = ends,
	.stream_names = stream_names,
	.create = create,
	.destroy = destroy,
	.setup = setup,
	.start = start,
	.next_due = next_due,
	.completed = completed,
	.work = work,
	.progress = progress,
	.report = report,
};
