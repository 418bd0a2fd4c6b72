/*
 * pgbench: PostgreSQL 15 under its own benchmark, as a source of file operations
 *
 * Idea       What a file system sees of a database is decided by the database: which blocks miss in
 *            shared_buffers, when dirty ones are written and by whom, how the journal grows, is
 *            flushed for many commits at once, and runs through its segments' files. So the server
 *            is modelled as processes that do what PostgreSQL's do: a backend for each client
 *            (backend.c), the checkpointer, the background writer and the wal writer, around one
 *            clock-sweep buffer pool, one journal and one set of segments. What the answers of the
 *            machine change (who waits for whom, how many commits share a flush, who gets to write
 *            a dirty block first) comes out by itself.
 *
 *                client  --transaction-->  backend  --miss, dirty victim-->  base/5/...
 *                                             |                                  ^
 *                                          records              background writer, checkpointer
 *                                             v                                  |
 *                                          journal  --flush, wal writer-->  pg_wal/...
 *
 * Source     PostgreSQL 15's sources; each part names functions. Sizes, volumes and rates were
 *            measured with PostgreSQL 15.18 (docs/pgbench.md), and test/source/test_pgbench.c holds
 *            the model against them.
 *            `version: 9.5` is what the development branch was, too, until March 2016, when checkpoints came
 *            to be sorted and written back as they go (9cd00c457e6, 428b1d6b29c) and renames durable
 *            (1d4a0ab19a7); that two checkpoints' journal is kept went with version 11 (4b0d28de06b),
 *            which is also what 12 to 13 do here; zeros are written 32 blocks at once since 14 (ce6a71fa530).
 * Differs    1. Nothing is stored: rows have places, not values. 2. Insertion locks, buffer content
 *            locks, the commit log's buffers and catalogues are never waited for or read. 3. Leaves
 *            never split: there is room for 38 more entries, and pages give away few rows.
 *            4. Autovacuum only makes room known in tellers and branches: of accounts less than a
 *            fifth is ever dead, so that its threshold is never reached, and what autovacuum does
 *            to history, and analyze, is left out. 5. Relations grow a page at a time. 6. Data
 *            files stay open: a process opens each once. And what each part says.
 * State      4 bytes a heap page, a bit a block, 24 bytes a buffer; nothing is allocated for a
 *            transaction.
 * Weakness   Times between a client's statements are not modelled but as `think`, so commits are
 *            as many to a flush as processors and devices make them.
 */
#include "source/workload/pgbench/pgbench.h"

#include "base/memory.h"
#include "base/size.h"
#include "source/scenario.h"

#define FIELD(name) offsetof(struct pgbench_options, name)

static const struct schema_key keys[] = {
	{SCHEMA_JOB, "scale", SCHEMA_NUMBER, FIELD(scale), "1", NULL, 1, 40000,
	 "pgbench -s: 100000 rows of accounts, 15.7 MB, each"},
	{SCHEMA_JOB, "clients", SCHEMA_NUMBER, FIELD(clients), "1", NULL, 1, CLIENTS_MAX,
	 "pgbench -c: each has a backend, and starts a transaction when the one before is done"},
	{SCHEMA_JOB, "transactions", SCHEMA_NUMBER, FIELD(transactions), "", NULL, 1,
	 SCENARIO_COUNT_MAX,
	 "pgbench -t: of each client; if not given, the job's `duration` or "
	 "`until` ends it"},
	{SCHEMA_JOB, "warm_up", SCHEMA_NUMBER, FIELD(warm_up), "0", NULL, 0, SCENARIO_COUNT_MAX,
	 "transactions of each client before counting begins, at the mark `warm`"},
	{SCHEMA_JOB, "rate", SCHEMA_RATE, FIELD(rate), "", NULL, 0, 0,
	 "pgbench -R: transactions a second that are due, of all clients together, at random "
	 "moments; latencies count from when one was due"},
	{SCHEMA_JOB, "think", SCHEMA_TIME, FIELD(think_ns), "0", NULL, 0, SCENARIO_NS_MAX,
	 "time that a client spends itself after each transaction"},
	{SCHEMA_JOB, "cpu", SCHEMA_TIME, FIELD(cpu_ns), "150us", NULL, 0, NS_PER_SECOND,
	 "processor time of the server itself for a transaction, system calls not included"},
	{SCHEMA_JOB, "shared_buffers", SCHEMA_SIZE, FIELD(shared_buffers_bytes), "128MiB", NULL,
	 MIB, UINT64_C(1) << 44, "the server's own cache"},
	{SCHEMA_JOB, "wal_buffers", SCHEMA_SIZE, FIELD(wal_buffers_bytes), "", NULL, 64 * KIB, GIB,
	 "of the journal; if not given 1/32 of shared_buffers, at most 16MiB"},
	{SCHEMA_JOB, "max_wal_size", SCHEMA_SIZE, FIELD(max_wal_bytes), "1GiB", NULL, 32 * MIB,
	 UINT64_C(1) << 50, "the journal between two checkpoints, and what is kept of it"},
	{SCHEMA_JOB, "min_wal_size", SCHEMA_SIZE, FIELD(min_wal_bytes), "80MiB", NULL, 32 * MIB,
	 UINT64_C(1) << 50, "segments up to this are always kept for use again"},
	{SCHEMA_JOB, "checkpoint_timeout", SCHEMA_TIME, FIELD(checkpoint_timeout_ns), "5min", NULL,
	 NS_PER_SECOND, 86400 * NS_PER_SECOND,
	 "a checkpoint begins at the latest so long after "
	 "the one before"},
	{SCHEMA_JOB, "completion_target", SCHEMA_RATIO, FIELD(completion_target_ppm), "0.9", NULL,
	 0, 1000000, "the part of that time over which a checkpoint's writes are spread"},
	{SCHEMA_JOB, "wal_recycle", SCHEMA_FLAG, FIELD(wal_recycle), "yes", NULL, 0, 0,
	 "old segments are renamed and used again; `no`: removed"},
	{SCHEMA_JOB, "wal_init_zero", SCHEMA_FLAG, FIELD(wal_init_zero), "yes", NULL, 0, 0,
	 "new segments are filled with zeros; `no`: they are holes"},
	{SCHEMA_JOB, "wal_level", SCHEMA_WORD, FIELD(wal_level), "replica", "minimal|replica", 0, 0,
	 "with `minimal` nobody reads the journal, and segments are advised away when closed"},
	{SCHEMA_JOB, "dontneed", SCHEMA_WORD, FIELD(dontneed), "auto", "auto|never|close|recycle",
	 0, 0,
	 "when fadvise_dontneed is said of a segment: `auto` as wal_level has it, when it is "
	 "`close`d, or when it is used again (`recycle`: an experiment of 2016)"},
	{SCHEMA_JOB, "full_page_writes", SCHEMA_FLAG, FIELD(full_page_writes), "yes", NULL, 0, 0,
	 "the first change of a block after a checkpoint puts all of it into the journal"},
	{SCHEMA_JOB, "fsync", SCHEMA_FLAG, FIELD(fsync), "yes", NULL, 0, 0,
	 "`no`: nothing is ever synced"},
	{SCHEMA_JOB, "synchronous_commit", SCHEMA_FLAG, FIELD(synchronous_commit), "yes", NULL, 0,
	 0, "a commit waits until the journal is on disk"},
	{SCHEMA_JOB, "commit_delay", SCHEMA_TIME, FIELD(commit_delay_ns), "0", NULL, 0,
	 100 * NS_PER_MS, "whoever flushes the journal waits so long for others to join"},
	{SCHEMA_JOB, "commit_siblings", SCHEMA_NUMBER, FIELD(commit_siblings), "5", NULL, 0, 1000,
	 "if so many others are in a transaction"},
	{SCHEMA_JOB, "autovacuum", SCHEMA_FLAG, FIELD(autovacuum), "yes", NULL, 0, 0,
	 "room in tellers and branches is found again, every minute"},
	{SCHEMA_JOB, "fillfactor", SCHEMA_NUMBER, FIELD(fillfactor), "100", NULL, 10, 100,
	 "pgbench -F: percent of accounts' pages that are filled at the beginning"},
	{SCHEMA_JOB, "history", SCHEMA_NUMBER, FIELD(history_rows), "0", NULL, 0,
	 SCENARIO_COUNT_MAX / 4, "rows that history has at the beginning"},
	{SCHEMA_JOB, "warm", SCHEMA_WORD, FIELD(warm), "no", "no|cached", 0, 0,
	 "`cached`: all relations' files are read once before the start"},
	{SCHEMA_JOB, "wal_segments", SCHEMA_NUMBER, FIELD(wal_segments), "0", NULL, 0, 1000000,
	 "segments there at the beginning besides the one in use; a server that has run for long "
	 "has max_wal_size's, one just made none"},
	{SCHEMA_JOB, "version", SCHEMA_WORD, FIELD(version), "15", "9.5|11|15", 0, 0,
	 "of the server; before 14, new segments are filled with zeros by writes of 8 KiB, not "
	 "256; "
	 "`9.5` also writes a checkpoint's blocks in the pool's order, never tells the kernel to "
	 "begin, keeps the journal of two checkpoints, and syncs no names"},
	{SCHEMA_JOB, "directory", SCHEMA_TEXT, FIELD(directory), "", NULL, 0, 0,
	 "of the cluster; if not given, the paths begin with base, global, pg_wal"},
};

static const char *const stream_names[] = {"heap", "index", "wal", "history", "other", NULL};

static uint32_t threads(const void *options)
{
	return (uint32_t)((const struct pgbench_options *)options)->clients + SERVER_PROCESSES;
}

static bool ends(const void *options)
{
	return ((const struct pgbench_options *)options)->transactions > 0;
}

static void destroy(struct workload_run *run)
{
	struct pgbench *pg = (struct pgbench *)run;

	if (!pg)
		return;
	for (int i = 0; i < REL_COUNT; i++)
		array_deinit(&pg->relations[i].files);
	wal_deinit(pg);
	array_deinit(&pg->checkpoint.all);
	memory_free(pg->pages);
	memory_free(pg->buffers.at);
	memory_free(pg->buffers.buckets);
	memory_free(pg->checkpoint.sorted);
	memory_free(pg->processes);
	turns_deinit(&pg->turns);
	memory_free(pg->oldest);
	histogram_deinit(&pg->count.transaction);
	histogram_deinit(&pg->count.commit);
	arena_deinit(&pg->arena);
	memory_free(pg);
}

static bool options_check(const struct pgbench *pg, struct error *error)
{
	const struct pgbench_options *options = pg->options;

	if (options->rate.per_s && options->rate.is_bytes)
		return error_input(error,
				   "job \"%.60s\": rate must be transactions a second (like 500/s)",
				   pg->place.job);
	if (options->rate.per_s > NS_PER_SECOND)
		return error_input(error, "job \"%.60s\": rate is more than one a nanosecond",
				   pg->place.job);
	return true;
}

static struct workload_run *create(const void *options, const struct workload_place *place,
				   struct error *error)
{
	struct pgbench *pg = memory_alloc(1, sizeof(*pg));

	pg->options = options;
	pg->place = *place;
	if (!options_check(pg, error) || !relations_init(pg, error) || !pool_init(pg, error)) {
		destroy((struct workload_run *)pg);
		return NULL;
	}
	heap_init(pg);
	wal_init(pg);
	pg->checkpoint.sorted = memory_alloc(pg->buffers.count, sizeof(*pg->checkpoint.sorted));
	pg->writer.density = 10 * 65536;
	pg->next_xid = 1000;
	pg->is_warm = pg->options->warm_up == 0;
	pg->clients_left = (uint32_t)pg->options->clients;
	random_init(&pg->schedule, place->seed, (uint64_t)place->first_stream << 32 | UINT32_MAX);
	processes_init(pg);
	return (struct workload_run *)pg;
}

static bool setup(struct workload_run *run, struct op *op)
{
	return pgbench_setup((struct pgbench *)run, op);
}

static void start(struct workload_run *run, uint64_t now_ns)
{
	struct pgbench *pg = (struct pgbench *)run;

	pg->now_ns = pg->schedule_ns = pg->checkpoint.begun_ns = pg->count.begun_ns = now_ns;
	pg->autovacuum_ns = now_ns + 60 * NS_PER_SECOND;
	for (uint32_t i = 0; i < pg->process_count; i++)
		process_wake(pg, &pg->processes[i], now_ns);
}

static bool next_due(struct workload_run *run, uint64_t now_ns, struct op *op, uint64_t *next_ns)
{
	return processes_next((struct pgbench *)run, now_ns, op, next_ns);
}

static void completed(struct workload_run *run, const struct op *op, uint64_t done_ns)
{
	process_completed((struct pgbench *)run, op, done_ns);
}

static uint64_t work(const struct workload_run *run)
{
	const struct pgbench *pg = (const struct pgbench *)run;

	return pg->is_warm ? pg->count.transactions : 0;
}

static void progress(const struct workload_run *run, uint64_t *done, uint64_t *total)
{
	const struct pgbench *pg = (const struct pgbench *)run;
	const struct pgbench_options *options = pg->options;

	*done = pg->count.transactions + (pg->is_warm ? options->warm_up * options->clients : 0);
	*total = options->transactions
			 ? (options->warm_up + options->transactions) * options->clients
			 : 0;
}

/* ---- what it says in the end ---- */

static const struct workload_sum sums[] = {
#define SUM(name, field, meaning)                                                                  \
	{                                                                                          \
		name, meaning, offsetof(struct counts, field)                                      \
	}
	SUM("wal_bytes", wal_bytes, "bytes of journal records"),
	SUM("wal_records", wal_records, "journal records"),
	SUM("full_page_images", images, "blocks put into the journal whole"),
	SUM("buffer_accesses", accesses, "blocks looked up in shared_buffers"),
	SUM("buffer_misses", misses, "of those not there"),
	SUM("blocks_written_checkpointer", written_checkpointer, "data blocks by the checkpointer"),
	SUM("blocks_written_bgwriter", written_writer, "data blocks by the background writer"),
	SUM("blocks_written_backend", written_backend, "data blocks by backends, also new"),
	SUM("blocks_extended", extended, "data blocks that relations grew by"),
	SUM("hot_updates", hot, "account updates that kept their page"),
	SUM("wal_writes", wal_writes, "writes to the journal's files"),
	SUM("wal_write_bytes", wal_write_bytes, "bytes of them, in whole blocks"),
	SUM("flushes", flushes, "fdatasyncs of the journal"),
	SUM("checkpoints", checkpoints, "checkpoints completed"),
	SUM("segments_used", segments_used, "segments of the journal filled"),
	SUM("segments_created", created, "segments made"),
	SUM("segments_recycled", recycled, "segments renamed to be used again"),
	SUM("segments_removed", removed, "segments removed"),
	SUM("commit_wait_ns", commit_wait_ns, "from commit records to their flush"),
	SUM("row_lock_waits", lock_waits, "waits for a teller's or branch's row"),
	SUM("row_lock_wait_ns", lock_wait_ns, "time of these waits"),
	SUM("segment_create_ns", creating_ns, "making segments under the write lock"),
	SUM("segment_create_stall_ns", create_stall_ns, "all backends' waits for that"),
#undef SUM
};

static void ratios_report(const struct pgbench *pg, const struct op_source_reporter *reporter)
{
	const struct counts *count = &pg->count;
	uint64_t elapsed_ns = pg->now_ns - count->begun_ns;

	if (elapsed_ns)
		reporter->figure(reporter->context, "transactions_per_second",
				 "transactions a second",
				 (double)count->transactions * 1e9 / (double)elapsed_ns, false);
	if (count->flushes && pg->options->synchronous_commit)
		reporter->figure(reporter->context, "commits_per_flush",
				 "transactions a flush of the journal",
				 (double)count->transactions / (double)count->flushes, false);
	if (count->updates)
		reporter->figure(reporter->context, "hot_fraction",
				 "part of updates in the same page",
				 (double)count->hot / (double)count->updates, false);
	if (count->images)
		reporter->figure(reporter->context, "image_bytes_mean",
				 "bytes of a block in the journal",
				 (double)count->image_bytes / (double)count->images, false);
}

/* Those that end after counting has begun. */
static void checkpoints_report(const struct pgbench *pg, const struct op_source_reporter *reporter)
{
	const struct checkpoint *checkpoint = &pg->checkpoint;
	uint64_t start_ns = pg->count.begun_ns;

	for (size_t i = 0; i < checkpoint->all.count; i++) {
		const struct checkpoint_done *one = &checkpoint->all.at[i];

		if (one->done_ns > start_ns)
			reporter->event(reporter->context, "checkpoint",
					one->begun_ns > start_ns ? one->begun_ns - start_ns : 0,
					one->done_ns - start_ns);
	}
	if (checkpoint->is_under_way)
		reporter->event(reporter->context, "checkpoint",
				checkpoint->begun_ns > start_ns ? checkpoint->begun_ns - start_ns
								: 0,
				UINT64_MAX);
}

static void report(struct workload_run *run, const struct op_source_reporter *reporter)
{
	struct pgbench *pg = (struct pgbench *)run;

	if (!pg->is_warm)
		return; /* it never came to count */
	reporter->work(reporter->context, "transactions");
	reporter->figure(reporter->context, "transactions", "transactions done",
			 (double)pg->count.transactions, false);
	workload_sums_report(reporter, sums, sizeof(sums) / sizeof(sums[0]), &pg->count);
	ratios_report(pg, reporter);
	checkpoints_report(pg, reporter);
	reporter->latency(reporter->context, "transaction", &pg->count.transaction);
	reporter->latency(reporter->context, "commit", &pg->count.commit);
}

extern const struct workload workload_pgbench;
const struct workload workload_pgbench = {
	.name = "pgbench",
	.summary = "PostgreSQL 15 and its benchmark: backends, checkpointer, writers, journal",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.options_bytes = sizeof(struct pgbench_options),
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
