/*
 * If these fail, the model of PostgreSQL under pgbench asks a machine for something else than PostgreSQL does: every prediction about
 * databases is off. The figures are of PostgreSQL 15.18 (docs/pgbench.md, bench/pgbench/measured.jsonl): 8 clients, scale 30, 64 MiB of
 * shared_buffers, 40000 transactions after 12000.
 *
 * The machine here is a stub with fixed times. Those it has are of that server: 3000 transactions a second, so 2.6 ms for one of 8
 * clients; 0.5 to 0.6 ms of it for an fdatasync, the rest for computing, system calls and waiting for one of two processors.
 */
#include "source_test.h"

#include "base/size.h"
#include "source/workload_driver.h"

#define SETTINGS                                                                                   \
	"scale: 30, shared_buffers: 64MiB, min_wal_size: 80MiB, checkpoint_timeout: 10min, "       \
	"autovacuum: no, cpu: 1500us"
#define COMMON   SETTINGS ", clients: 8"
#define MEASURED "{" COMMON ", max_wal_size: 256MiB, warm_up: 1500, transactions: 5000}"

static void run_look(struct driver *driver, const char *options, uint64_t seed,
		     void (*look)(struct driver *driver, const struct op *op))
{
	*driver = (struct driver){
		.call_ns = 20000, .read_ns = 50000, .sync_ns = 600000, .look = look};
	driver_open(driver, "pgbench", options, seed);
	driver_run(driver, UINT64_MAX);
	driver_report(driver);
}

static void run(struct driver *driver, const char *options)
{
	run_look(driver, options, 1, NULL);
}

#define assert_near(value, wanted, percent)                                                        \
	do {                                                                                       \
		double is_ = (value), wanted_ = (wanted);                                          \
		if (is_ < wanted_ * (1 - (percent) / 100.0) ||                                     \
		    is_ > wanted_ * (1 + (percent) / 100.0))                                       \
			fail_msg("%s is %g, not within %g %% of %g", #value, is_,                  \
				 (double)(percent), wanted_);                                      \
	} while (0)

/* ---- what it is made of ---- */

static uint64_t file_bytes[4096];

static void note_size(struct driver *driver, const struct op *op)
{
	(void)driver;
	if (op->kind == OP_EXISTS)
		file_bytes[op->path] = op->bytes;
}

static uint64_t size_of(const struct driver *driver, const char *path)
{
	uint32_t id;

	if (!path_find(driver->paths, path, strlen(path), &id))
		fail_msg("no file %s", path);
	return file_bytes[id];
}

static void relations_have_the_sizes_of_real_ones(void **state)
{
	static struct driver driver;

	(void)state;
	run_look(&driver, "{scale: 30, transactions: 1}", 1, note_size);
	assert_int_equal(size_of(&driver, "base/5/16396"), UINT64_C(49181) * 8192);
	assert_int_equal(size_of(&driver, "base/5/16402"), 8228 * 8192);
	assert_int_equal(size_of(&driver, "base/5/16394"), 2 * 8192);
	assert_int_equal(size_of(&driver, "base/5/16397"), 8192);
	assert_int_equal(size_of(&driver, "base/5/16396_vm"), 2 * 8192);
	assert_int_equal(size_of(&driver, "base/5/16393"), 0);
	assert_int_equal(size_of(&driver, "pg_wal/000000010000000000000001"), 16 * MIB);
	driver_close(&driver);
	run_look(&driver, "{scale: 200, transactions: 1, history: 157000, wal_segments: 2}", 1,
		 note_size);
	assert_int_equal(size_of(&driver, "base/5/16396"), GIB);
	assert_int_equal(size_of(&driver, "base/5/16396") + size_of(&driver, "base/5/16396.1") +
				 size_of(&driver, "base/5/16396.2"),
			 UINT64_C(327869) * 8192);
	assert_int_equal(size_of(&driver, "base/5/16393"), 1000 * 8192);
	assert_int_equal(size_of(&driver, "pg_wal/000000010000000000000003"), 16 * MIB);
	driver_close(&driver);
}

/* ---- what was measured ---- */

static void per_transaction_it_does_what_was_measured(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver, MEASURED);
	assert_int_equal(driver.transactions, 40000);
	assert_near(driver_per_work(&driver, "buffer_misses"), 1.46, 3);
	/* The median of 90 runs is 22.8, the least 22.6, the most 33.5: as far as tellers has grown. */
	assert_near(driver_per_work(&driver, "buffer_accesses"), 22.8, 10);
	assert_near(driver_per_work(&driver, "wal_bytes"), 10496, 3);
	assert_near(driver_per_work(&driver, "full_page_images"), 1.276, 3);
	assert_near(driver_per_work(&driver, "wal_records"), 6.71, 10);
	assert_near(driver_per_work(&driver, "blocks_written_checkpointer"), 0.197, 10);
	assert_near(driver_per_work(&driver, "blocks_written_bgwriter"), 0.165, 10);
	assert_near(driver_per_work(&driver, "blocks_written_backend"), 1.0, 10);
	assert_near(driver_per_work(&driver, "flushes"), 0.5, 10);
	assert_int_equal(driver_figure_of(&driver, "checkpoints"), 3);
	assert_int_equal(driver_figure_of(&driver, "segments_used"), 25);
	assert_int_equal(driver_figure_of(&driver, "segments_recycled"), 24);
	assert_int_equal(driver_figure_of(&driver, "segments_created"), 7);
	assert_int_equal(driver_figure_of(&driver, "segments_removed"), 0);
	driver_close(&driver);
}

static void without_recycling_every_segment_is_made_and_removed(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver, "{" COMMON
		     ", max_wal_size: 256MiB, warm_up: 1500, transactions: 5000, wal_recycle: no}");
	assert_int_equal(driver_figure_of(&driver, "segments_recycled"), 0);
	assert_int_equal(driver_figure_of(&driver, "segments_removed"), 24);
	assert_near(driver_figure_of(&driver, "segments_created"), 25, 4);
	assert_true(driver_figure_of(&driver, "segment_create_ns") > 0);
	assert_true(driver_figure_of(&driver, "segment_create_stall_ns") >
		    2 * driver_figure_of(&driver, "segment_create_ns"));
	driver_close(&driver);
}

static void without_images_the_journal_has_520_bytes_a_transaction(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver, "{" COMMON ", max_wal_size: 256MiB, warm_up: 500, transactions: 3000, "
		     "full_page_writes: no}");
	assert_near(driver_per_work(&driver, "wal_bytes"), 520, 5);
	assert_near(driver_per_work(&driver, "wal_records"), 6.91, 10);
	assert_int_equal(driver_figure_of(&driver, "full_page_images"), 0);
	driver_close(&driver);
}

static void with_few_checkpoints_images_are_few(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver, "{" COMMON ", max_wal_size: 4GiB, warm_up: 1500, transactions: 5000}");
	assert_near(driver_per_work(&driver, "wal_bytes"), 5178, 3);
	assert_near(driver_per_work(&driver, "full_page_images"), 0.58, 3);
	assert_int_equal(driver_figure_of(&driver, "checkpoints"), 0);
	assert_int_equal(driver_figure_of(&driver, "segments_created"), 12);
	driver_close(&driver);
}

static void the_first_update_of_a_full_page_leaves_it(void **state)
{
	static struct driver driver;

	(void)state;
	/* 1 - (1 - e^-l) / l with l = 48000 / 49181: 0.361; measured 0.356. */
	run(&driver, "{" COMMON ", max_wal_size: 4GiB, transactions: 6000}");
	assert_near(driver_figure_of(&driver, "hot_fraction"), 0.361, 2);
	driver_close(&driver);
	/* Half-empty pages have room for all. */
	run(&driver, "{" COMMON ", max_wal_size: 4GiB, transactions: 1000, fillfactor: 50}");
	assert_true(driver_figure_of(&driver, "hot_fraction") > 0.99);
	driver_close(&driver);
}

/* ---- how it answers to settings ---- */

static void commits_share_flushes(void **state)
{
	static struct driver driver;
	double plain;

	(void)state;
	run(&driver, "{" COMMON ", transactions: 500}");
	plain = driver_figure_of(&driver, "commits_per_flush");
	assert_true(plain > 1.5 && plain < 4);
	assert_int_equal(driver.kinds[OP_FDATASYNC], (int)driver_figure_of(&driver, "flushes"));
	driver_close(&driver);
	run(&driver, "{" COMMON ", transactions: 500, commit_delay: 500us}");
	assert_true(driver_figure_of(&driver, "commits_per_flush") > plain * 1.2);
	driver_close(&driver);
	run(&driver, "{" SETTINGS ", transactions: 500, clients: 1}");
	assert_true(driver_per_work(&driver, "flushes") > 0.99);
	driver_close(&driver);
}

static void commits_wait_for_nobody_if_told_so(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver, "{" COMMON ", transactions: 500, synchronous_commit: no}");
	assert_true(driver_per_work(&driver, "flushes") < 0.05);
	assert_true(driver_figure_of(&driver, "wal_write_bytes") >
		    driver_figure_of(&driver, "wal_bytes") * 0.8);
	driver_close(&driver);
	run(&driver, "{" COMMON ", transactions: 500, fsync: no}");
	assert_int_equal(driver.kinds[OP_FDATASYNC] + driver.kinds[OP_FSYNC], 0);
	driver_close(&driver);
}

static void an_open_loop_keeps_its_rate(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver, "{" COMMON ", transactions: 1000, rate: 400/s}");
	assert_near(driver_figure_of(&driver, "transactions_per_second"), 400, 5);
	driver_close(&driver);
}

static void checkpoints_come_by_time_too(void **state)
{
	static struct driver driver;

	(void)state;
	run(&driver,
	    "{scale: 1, clients: 2, rate: 100/s, transactions: 500, checkpoint_timeout: 2s, "
	    "completion_target: 0.5}");
	assert_near(driver_figure_of(&driver, "checkpoints"), 4, 1);
	assert_true(driver.event_count >= (size_t)driver_figure_of(&driver, "checkpoints"));
	/* Nothing of a small database is evicted: all is written by checkpoints. */
	assert_true(driver_figure_of(&driver, "blocks_written_checkpointer") >
		    10 * driver_figure_of(&driver, "blocks_written_backend"));
	driver_close(&driver);
}

static uint32_t renames, syncs_of_names;

static void note_names(struct driver *driver, const struct op *op)
{
	const char *path = path_text(driver->paths, op->path);

	renames += op->kind == OP_RENAME && strncmp(path, "pg_wal/0", 8) == 0;
	syncs_of_names += op->kind == OP_FSYNC && strcmp(path, "pg_wal") == 0;
}

static void version_9_5_hints_at_nothing_and_keeps_two_checkpoints(void **state)
{
	static struct driver driver;

	(void)state;
	renames = syncs_of_names = 0;
	run_look(&driver,
		 "{" COMMON ", max_wal_size: 256MiB, completion_target: 0.5, transactions: 6000, "
		 "wal_segments: 16, version: 9.5}",
		 1, note_names);
	assert_int_equal(driver.kinds[OP_SYNC_FILE_RANGE], 0);
	/* 16 segments / 2.5: a checkpoint is due when 6 have been filled, not 10. */
	assert_near(driver_figure_of(&driver, "segments_used") /
			    (driver_figure_of(&driver, "checkpoints") + 1),
		    6, 20);
	assert_true(renames > 10);
	assert_int_equal(syncs_of_names, 0);
	driver_close(&driver);
	renames = syncs_of_names = 0;
	run_look(&driver,
		 "{" COMMON ", max_wal_size: 256MiB, completion_target: 0.5, transactions: 6000, "
		 "wal_segments: 16}",
		 1, note_names);
	assert_true(driver.kinds[OP_SYNC_FILE_RANGE] > 1000);
	assert_true(renames > 10);
	assert_true(syncs_of_names >= renames);
	driver_close(&driver);
}

static uint64_t zero_writes, zero_bytes;

static void note_zeros(struct driver *driver, const struct op *op)
{
	if (op->kind != OP_WRITE ||
	    strncmp(path_text(driver->paths, op->path), "pg_wal/xlogtemp", 15) != 0)
		return;
	zero_writes++;
	zero_bytes += op->bytes;
}

static void zeros_are_written_by_the_block_until_13(void **state)
{
	static const char *const versions[] = {"9.5", "11", "15"};
	static const uint64_t bytes[] = {8192, 8192, 262144};
	static struct driver driver;
	char text[256];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		zero_writes = zero_bytes = 0;
		snprintf(text, sizeof(text), "{" COMMON ", transactions: 3000, version: %s}",
			 versions[i]);
		run_look(&driver, text, 1, note_zeros);
		assert_true(zero_writes > 0);
		assert_int_equal(zero_bytes % (16 << 20), 0);
		assert_int_equal(zero_bytes / zero_writes, bytes[i]);
		driver_close(&driver);
	}
}

/* ---- its operations are possible ones ---- */

enum { PATHS_MAX = 4096, THREADS_MAX = 64, FILES_MAX = 4096 };

static struct {
	uint32_t file_of[PATHS_MAX]; /* 0: nothing there */
	bool is_directory[PATHS_MAX];
	bool is_open[FILES_MAX][THREADS_MAX];
	bool was_written[FILES_MAX][THREADS_MAX];
	uint32_t files;
	uint64_t wal_end; /* of the last write to the journal */
	uint64_t dontneed, dontneed_written;
	bool is_busy[THREADS_MAX];
} world;

static void parents_note(struct driver *driver, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		world.is_directory[path_intern(driver->paths, path, slash - path)] = true;
}

static bool is_wal(const char *path)
{
	return strncmp(path, "pg_wal/0", 8) == 0;
}

static void look_at(struct driver *driver, const struct op *op)
{
	const char *path = path_text(driver->paths, op->path);
	uint32_t file = world.file_of[op->path];

	assert_true(op->path < PATHS_MAX && op->thread < THREADS_MAX);
	switch ((enum op_kind)op->kind) {
	case OP_COMPUTE:
	case OP_MARK:
		return;
	case OP_EXISTS:
	case OP_CREATE:
		assert_int_equal(file, 0);
		file = world.file_of[op->path] = ++world.files;
		assert_true(file < FILES_MAX);
		world.is_open[file][op->thread] = op->kind == OP_CREATE;
		parents_note(driver, path);
		return;
	case OP_RENAME:
		assert_int_not_equal(file, 0);
		world.file_of[op->path_to] = file;
		world.file_of[op->path] = 0;
		return;
	case OP_UNLINK:
		assert_int_not_equal(file, 0);
		world.file_of[op->path] = 0;
		return;
	case OP_CLOSE:
		/* One that is unlinked meanwhile cannot be told apart here. */
		assert_true(!file || world.is_open[file][op->thread]);
		world.is_open[file][op->thread] = false;
		return;
	default:
		break;
	}
	if (world.is_directory[op->path]) {
		assert_int_equal(op->kind, OP_FSYNC);
		return;
	}
	if (!file)
		fail_msg("%s of %s, which is not there", op_kind_name(op->kind), path);
	world.is_open[file][op->thread] = true;
	if (op->kind == OP_FADVISE_DONTNEED) {
		assert_true(is_wal(path));
		world.dontneed++;
		world.dontneed_written += world.was_written[file][op->thread];
	}
	if (op->kind != OP_WRITE && op->kind != OP_READ)
		return;
	world.was_written[file][op->thread] |= op->kind == OP_WRITE;
	assert_true(op->bytes > 0);
	if (is_wal(path)) {
		assert_int_equal(op->offset % 8192, 0);
		assert_int_equal(op->bytes % 8192, 0);
		assert_true(op->offset + op->bytes <= 16 * MIB);
		/* It goes on where the last one ended, or writes the block there again. */
		assert_true(op->offset == world.wal_end % (16 * MIB) ||
			    op->offset + 8192 == world.wal_end % (16 * MIB) ||
			    op->offset + 8192 == world.wal_end || world.wal_end == 0);
		world.wal_end = op->offset + op->bytes;
	} else if (strncmp(path, "base/", 5) == 0) {
		assert_int_equal(op->offset % 8192, 0);
		assert_true(op->kind == OP_READ || op->bytes == 8192);
		assert_true(op->offset + op->bytes <= GIB);
	}
}

static void operations_are_possible(void **state)
{
	static const char *const options[] = {
		"wal_recycle: yes",
		"wal_recycle: no",
		"wal_init_zero: no, wal_recycle: no",
		"wal_level: minimal",
		"dontneed: recycle, directory: ''",
		"shared_buffers: 1MiB, wal_buffers: 64KiB",
		"synchronous_commit: no, checkpoint_timeout: 1s",
		"warm: cached, wal_segments: 5, history: 1000, fillfactor: 90",
		"autovacuum: yes, think: 100ms, completion_target: 0",
		"version: 9.5, wal_segments: 4",
	};
	static struct driver driver;

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char text[300];

		memset(&world, 0, sizeof(world));
		snprintf(text, sizeof(text),
			 "{scale: 2, clients: 6, warm_up: 20, transactions: 4000, max_wal_size: "
			 "64MiB, min_wal_size: 32MiB%s%s}",
			 i == 5 ? ", " : ", shared_buffers: 2MiB, ", options[i]);
		run_look(&driver, text, i, look_at);
		assert_int_equal(driver.transactions, 24000);
		if (i == 3) {
			/* Whoever closes a segment has written it. */
			assert_true(world.dontneed > 4);
			assert_int_equal(world.dontneed, world.dontneed_written);
		} else if (i == 4) {
			assert_int_equal(world.dontneed,
					 driver_figure_of(&driver, "segments_recycled"));
			assert_true(world.dontneed > 0);
		} else {
			assert_int_equal(world.dontneed, 0);
		}
		driver_close(&driver);
	}
}

static void the_commit_log_has_another_file_after_a_million(void **state)
{
	static struct driver driver;
	uint32_t path;

	(void)state;
	memset(&world, 0, sizeof(world));
	run_look(&driver,
		 "{scale: 20, clients: 6, transactions: 180000, shared_buffers: 512MiB, "
		 "checkpoint_timeout: 1s, full_page_writes: no}",
		 1, look_at);
	if (!path_find(driver.paths, "pg_xact/0001", 12, &path))
		fail_msg("no pg_xact/0001");
	assert_int_not_equal(world.file_of[path], 0);
	driver_close(&driver);
}

static uint64_t progress_done, progress_total;

static void note_progress(struct driver *driver, const struct op *op)
{
	uint64_t done;

	(void)op;
	driver->workload->progress(driver->run, &done, &progress_total);
	assert_true(done >= progress_done && done <= progress_total);
	progress_done = done;
}

static void it_knows_how_far_it_is(void **state)
{
	static struct driver driver;

	(void)state;
	progress_done = 0;
	run_look(&driver, "{scale: 3, clients: 5, warm_up: 100, transactions: 300}", 1,
		 note_progress);
	assert_int_equal(progress_total, 5 * 400);
	assert_true(progress_done > 5 * 390);
	driver_close(&driver);
}

static void the_same_seed_gives_the_same(void **state)
{
	static struct driver driver;
	uint64_t hash, ops;

	(void)state;
	run_look(&driver, "{scale: 3, clients: 5, transactions: 500}", 7, NULL);
	hash = driver.hash;
	ops = driver.ops;
	driver_close(&driver);
	run_look(&driver, "{scale: 3, clients: 5, transactions: 500}", 7, NULL);
	assert_true(driver.hash == hash && driver.ops == ops);
	driver_close(&driver);
	run_look(&driver, "{scale: 3, clients: 5, transactions: 500}", 8, NULL);
	assert_true(driver.hash != hash);
	driver_close(&driver);
}

/* ---- as a job of a scenario ---- */

#define MACHINE "machine: {memory: 1GiB}\n"

static size_t lines_with(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

static double figure_found;

static void figure_find(void *context, const char *name, const char *meaning, double value,
			bool per_work)
{
	(void)meaning;
	(void)per_work;
	if (strcmp(name, context) == 0)
		figure_found = value;
}

static double source_figure(struct op_source *source, const char *name)
{
	figure_found = -1;
	source->interface->report(source, &(struct op_source_reporter){.context = (void *)name,
								       .work = driver_work,
								       .figure = figure_find,
								       .latency = driver_latency,
								       .event = driver_event});
	return figure_found;
}

static void a_job_can_be_a_workload(void **state)
{
	struct scenario scenario;
	struct op_source *source;
	uint64_t last = 0;
	char *ops;

	(void)state;
	scenario_right(&scenario, MACHINE "files: {a: {size: 1MiB, cached: read}}\n"
					  "jobs:\n"
					  "  reader: {read: a, loop: forever, until: db}\n"
					  "  db: {workload: pgbench, clients: 3, transactions: 20, "
					  "warm_up: 5, warm: cached}\n"
					  "  after: {stat: a, after: db}\n");
	assert_int_equal(scenario.jobs[1].stream_count, 5);
	assert_string_equal(scenario.jobs[1].streams[2], "db.wal");
	ops = scenario_play(&scenario, 1, stub_constant, 1000000, &source);
	assert_int_equal(source->thread_count, 1 + 3 + 3 + 1);
	assert_string_equal(source->stream_names[scenario.jobs[1].first_stream + 4], "db.other");
	assert_int_equal(source->interface->work(source), 60);
	assert_int_equal(source_figure(source, "transactions"), 60);
	/* All files are there before anything is read; then one mark ends it. */
	assert_true(strstr(ops, "read") > strstr(ops, "exists pg_wal/000000010000000000000001"));
	assert_true(strstr(ops, "read") > strstr(ops, "exists a "));
	assert_int_equal(lines_with(ops, "mark start"), 1);
	assert_int_equal(lines_with(ops, "mark warm"), 1);
	assert_int_equal(lines_with(ops, " 8 stat a"), 1);
	for (const char *at = ops; *at; at = strchr(at, '\n') + 1) {
		uint64_t ns = strtoull(at, NULL, 10);

		assert_true(ns >= last);
		last = ns;
	}
	free(ops);
	op_source_destroy(source);
	scenario_deinit(&scenario);
}

static void a_job_ends_a_workload(void **state)
{
	struct scenario scenario;
	struct op_source *source;
	char *ops;

	(void)state;
	scenario_right(&scenario, MACHINE
		       "jobs: {db: {workload: pgbench, start: 1s, duration: 2s, rate: 500/s}}\n");
	ops = scenario_play(&scenario, 1, stub_constant, 1000000, &source);
	assert_near(source->interface->work(source), 1000, 10);
	assert_true(scenario_source_elapsed_ns(source) >= 2990000000 &&
		    scenario_source_elapsed_ns(source) <= 3010000000);
	free(ops);
	op_source_destroy(source);
	scenario_deinit(&scenario);
}

/* Ops of all threads at once, each of which takes so long: as a machine with a clock asks for them. */
static uint64_t play_at_once(struct op_source *source, uint64_t op_ns, uint32_t *most)
{
	struct {
		struct op op;
		uint64_t done_ns;
	} at[64];
	uint32_t count = 0;
	uint64_t now_ns = 0;
	struct error error;

	*most = 0;
	for (;;) {
		uint64_t next_ns = UINT64_MAX;
		uint32_t first = 0;
		size_t got = 1;
		struct op op;

		while (got) {
			source->interface->next_due(source, now_ns, &op, &got, &next_ns, &error);
			if (got) {
				for (uint32_t i = 0; i < count; i++)
					assert_int_not_equal(at[i].op.thread, op.thread);
				at[count].op = op;
				at[count++].done_ns = now_ns + op_ns;
			}
		}
		*most = count > *most ? count : *most;
		for (uint32_t i = 1; i < count; i++)
			first = at[i].done_ns < at[first].done_ns ? i : first;
		if (count && at[first].done_ns <= next_ns) {
			now_ns = at[first].done_ns;
			op = at[first].op;
			at[first] = at[--count];
			source->interface->completed(source, &op, now_ns);
		} else if (next_ns == UINT64_MAX) {
			return now_ns;
		} else {
			now_ns = next_ns;
		}
	}
}

static void two_workloads_and_a_reader_run_at_once(void **state)
{
	struct scenario scenario;
	struct op_source *source;
	struct error error;
	uint32_t most;

	(void)state;
	scenario_right(&scenario, MACHINE
		       "files: {a: {size: 1MiB}}\n"
		       "jobs:\n"
		       "  one: {workload: pgbench, clients: 4, transactions: 200, directory: one}\n"
		       "  reader: {read: a, threads: 2, loop: forever, until: [one, two]}\n"
		       "  two: {workload: pgbench, clients: 4, duration: 1s, directory: two}\n");
	source = scenario_source_create(&scenario, 1, &error);
	assert_non_null(source);
	assert_true(play_at_once(source, 100000, &most) >= 1000000000);
	assert_true(most > 6);
	/* A closed loop of 4 clients with seven ops or so of 0.1 ms. */
	assert_in_range(source->interface->work(source), 800 + 3000, 800 + 10000);
	op_source_destroy(source);
	scenario_deinit(&scenario);
}

static void wrong(const char *jobs, const char *message)
{
	struct scenario scenario;
	struct op_source *source = NULL;
	struct error error;
	char text[600];

	snprintf(text, sizeof(text), MACHINE "jobs: {db: {workload: pgbench, %s}}\n", jobs);
	if (scenario_parse(&scenario, "test.yaml", text, strlen(text), NULL, 0, &error)) {
		source = scenario_source_create(&scenario, 1, &error);
		assert_null(source);
		scenario_deinit(&scenario);
	}
	if (!strstr(error.message, message))
		fail_msg("%s: \"%s\" says nothing of \"%s\"", jobs, error.message, message);
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_int_equal(error.line, 2);
}

static void what_does_not_go_together_is_named(void **state)
{
	(void)state;
	wrong("transactions: 1, threads: 2", "\"threads\" means nothing to workload pgbench");
	wrong("transactions: 1, loop: 2", "\"loop\" means nothing");
	wrong("scale: 3", "never ends");
	wrong("transactions: 1, scal: 3", "nearest: \"scale\"");
	wrong("transactions: 1, rate: 5MiB/s", "transactions a second");
	wrong("transactions: 1, clients: 100, shared_buffers: 1MiB", "too small for 100 clients");
	wrong("transactions: 1, fillfactor: 5", "out of range");
	wrong("transactions: 1, workload: pgbnch", "given twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relations_have_the_sizes_of_real_ones),
		cmocka_unit_test(per_transaction_it_does_what_was_measured),
		cmocka_unit_test(without_recycling_every_segment_is_made_and_removed),
		cmocka_unit_test(without_images_the_journal_has_520_bytes_a_transaction),
		cmocka_unit_test(with_few_checkpoints_images_are_few),
		cmocka_unit_test(the_first_update_of_a_full_page_leaves_it),
		cmocka_unit_test(commits_share_flushes),
		cmocka_unit_test(commits_wait_for_nobody_if_told_so),
		cmocka_unit_test(an_open_loop_keeps_its_rate),
		cmocka_unit_test(checkpoints_come_by_time_too),
		cmocka_unit_test(version_9_5_hints_at_nothing_and_keeps_two_checkpoints),
		cmocka_unit_test(zeros_are_written_by_the_block_until_13),
		cmocka_unit_test(operations_are_possible),
		cmocka_unit_test(the_commit_log_has_another_file_after_a_million),
		cmocka_unit_test(it_knows_how_far_it_is),
		cmocka_unit_test(the_same_seed_gives_the_same),
		cmocka_unit_test(a_job_can_be_a_workload),
		cmocka_unit_test(a_job_ends_a_workload),
		cmocka_unit_test(two_workloads_and_a_reader_run_at_once),
		cmocka_unit_test(what_does_not_go_together_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
