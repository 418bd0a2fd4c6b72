/*
 * If these fail, the model of RocksDB's write path does something else than what it says of itself: commits that do not share syncs,
 * logs that are not recycled, or operations on files that nobody could carry out.
 *
 * The machine here is a stub with fixed times.
 */
#include "source_test.h"

#include "base/size.h"
#include "source/workload_driver.h"

static void run_look(struct driver *driver, const char *options,
		     void (*look)(struct driver *driver, const struct op *op))
{
	*driver =
		(struct driver){.call_ns = 5000, .read_ns = 50000, .sync_ns = 200000, .look = look};
	driver_open(driver, "rocksdb", options, 1);
	driver_run(driver, UINT64_MAX);
	driver_report(driver);
}

static void commits_share_writes_and_syncs(void **state)
{
	static struct driver driver;
	double syncs;

	(void)state;
	run_look(&driver, "{clients: 1, operations: 500}", NULL);
	assert_int_equal(driver_figure_of(&driver, "syncs"), 500);
	assert_int_equal(driver_figure_of(&driver, "groups"), 500);
	/* An entry, its batch's header, and the record's. */
	assert_int_equal(driver_figure_of(&driver, "log_bytes"), 500 * (100 + 12 + 11));
	driver_close(&driver);
	run_look(&driver, "{clients: 32, operations: 500}", NULL);
	assert_int_equal(driver_figure_of(&driver, "operations"), 16000);
	syncs = driver_figure_of(&driver, "syncs");
	assert_true(driver_figure_of(&driver, "commits_per_sync") > 10);
	assert_int_equal(driver.kinds[OP_FDATASYNC], (int)syncs);
	driver_close(&driver);
	run_look(&driver, "{clients: 32, operations: 500, sync: no}", NULL);
	assert_int_equal(driver.kinds[OP_FDATASYNC], 0);
	driver_close(&driver);
}

static void the_second_entry_is_not_synced(void **state)
{
	static struct driver driver;

	(void)state;
	run_look(&driver, "{clients: 1, operations: 500, unsynced: 300, network: 1ms}", NULL);
	assert_int_equal(driver_figure_of(&driver, "syncs"), 500);
	assert_int_equal(driver_figure_of(&driver, "groups"), 1000);
	/* Of each operation at least the network's. */
	assert_true(driver.now_ns > 500 * UINT64_C(1000000));
	driver_close(&driver);
}

#define FILLING                                                                                    \
	"clients: 8, operations: 400, cpu: 2ms, synced: 64KiB, write_buffer: 4MiB, table_part: "   \
	"0.25"

static void a_full_memtable_becomes_a_table_and_its_log_goes(void **state)
{
	static struct driver driver;
	double flushes;

	(void)state;
	run_look(&driver, "{" FILLING "}", NULL);
	flushes = driver_figure_of(&driver, "flushes");
	/* 200 MiB through memtables of 4 MiB, and what a group is too large by. */
	assert_in_range(flushes, 40, 50);
	assert_in_range(driver_figure_of(&driver, "flushed_bytes"), 45 * MIB, 51 * MIB);
	assert_in_range(driver_figure_of(&driver, "logs_created"), flushes, flushes + 1);
	assert_in_range(driver_figure_of(&driver, "logs_removed"), flushes - 1, flushes);
	assert_int_equal(driver_figure_of(&driver, "logs_recycled"), 0);
	/* Two tables at a time are merged with what is there. */
	assert_true(driver_figure_of(&driver, "compactions") >= 5);
	assert_true(driver_figure_of(&driver, "compacted_bytes") >
		    driver_figure_of(&driver, "flushed_bytes"));
	driver_close(&driver);
	run_look(&driver, "{" FILLING ", amplification: 0}", NULL);
	assert_int_equal(driver_figure_of(&driver, "compactions"), 0);
	driver_close(&driver);
}

static void recycled_logs_are_made_no_more(void **state)
{
	static struct driver driver;
	double flushes;

	(void)state;
	run_look(&driver, "{" FILLING ", recycled_logs: 2}", NULL);
	flushes = driver_figure_of(&driver, "flushes");
	assert_in_range(driver_figure_of(&driver, "logs_created"), 1, 4);
	assert_in_range(driver_figure_of(&driver, "logs_recycled"), flushes - 4, flushes);
	assert_in_range(driver_figure_of(&driver, "logs_removed"), 0, 2);
	driver_close(&driver);
}

static void writers_wait_when_all_memtables_are_full(void **state)
{
	static struct driver driver;

	(void)state;
	/* A flusher that takes 30 times as long as writing one does. */
	driver = (struct driver){.call_ns = 5000, .sync_ns = 30000000};
	driver_open(&driver, "rocksdb",
		    "{clients: 8, operations: 200, synced: 64KiB, write_buffer: 1MiB, "
		    "write_buffers: 2, sync: no, amplification: 0}",
		    1);
	driver_run(&driver, UINT64_MAX);
	driver_report(&driver);
	assert_int_equal(driver_figure_of(&driver, "operations"), 1600);
	assert_true(driver_figure_of(&driver, "stalls") > 50);
	assert_true(driver_figure_of(&driver, "stall_ns") > 1e9);
	driver_close(&driver);
}

static void only_what_follows_the_warm_up_counts(void **state)
{
	static struct driver driver;

	(void)state;
	run_look(&driver, "{clients: 8, warm_up: 300, operations: 200}", NULL);
	assert_int_equal(driver_figure_of(&driver, "operations"), 1600);
	assert_int_equal(driver.kinds[OP_MARK], 1);
	driver_close(&driver);
}

/* ---- its operations are possible ones ---- */

enum { PATHS_MAX = 4096, THREADS_MAX = 64 };

static struct {
	bool is_there[PATHS_MAX], is_open[PATHS_MAX][THREADS_MAX], is_busy[THREADS_MAX];
	uint64_t bytes[PATHS_MAX];
	uint64_t read_beyond;
} world;

static void look_at(struct driver *driver, const struct op *op)
{
	bool *open = world.is_open[op->path];
	const char *path = path_text(driver->paths, op->path);

	assert_true(op->path < PATHS_MAX && op->thread < THREADS_MAX);
	switch (op->kind) {
	case OP_EXISTS:
		world.is_there[op->path] = true;
		return;
	case OP_CREATE:
		assert_false(world.is_there[op->path]);
		world.is_there[op->path] = open[op->thread] = true;
		world.bytes[op->path] = 0;
		return;
	case OP_WRITE:
		assert_true(world.is_there[op->path]);
		/* Tables are written in order; logs too, from their beginning. */
		if (strstr(path, ".sst"))
			assert_int_equal(op->offset, world.bytes[op->path]);
		if (op->offset + op->bytes > world.bytes[op->path])
			world.bytes[op->path] = op->offset + op->bytes;
		open[op->thread] = true;
		return;
	case OP_READ:
		assert_true(op->offset + op->bytes <= world.bytes[op->path]);
		open[op->thread] = true;
		return;
	case OP_RENAME:
		assert_true(world.is_there[op->path] && !world.is_there[op->path_to]);
		world.is_there[op->path] = false;
		world.is_there[op->path_to] = true;
		world.bytes[op->path_to] = world.bytes[op->path];
		for (int i = 0; i < THREADS_MAX; i++)
			assert_false(open[i]);
		return;
	case OP_CLOSE:
		assert_true(open[op->thread]);
		open[op->thread] = false;
		return;
	case OP_UNLINK:
		assert_true(world.is_there[op->path]);
		for (int i = 0; i < THREADS_MAX; i++)
			assert_false(open[i]);
		world.is_there[op->path] = false;
		return;
	case OP_FDATASYNC:
		assert_true(world.is_there[op->path]);
		open[op->thread] = true;
		return;
	default:
		return;
	}
}

static void files_are_there_and_closed_when_they_go(void **state)
{
	static struct driver driver;

	(void)state;
	run_look(&driver, "{" FILLING ", recycled_logs: 1}", look_at);
	driver_close(&driver);
	memset(&world, 0, sizeof(world));
	run_look(&driver, "{" FILLING "}", look_at);
	driver_close(&driver);
}

static void the_same_settings_do_the_same(void **state)
{
	static struct driver driver;
	uint64_t hash;

	(void)state;
	run_look(&driver, "{" FILLING ", recycled_logs: 1}", NULL);
	hash = driver.hash;
	driver_close(&driver);
	run_look(&driver, "{" FILLING ", recycled_logs: 1}", NULL);
	assert_int_equal(hash, driver.hash);
	driver_close(&driver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commits_share_writes_and_syncs),
		cmocka_unit_test(the_second_entry_is_not_synced),
		cmocka_unit_test(a_full_memtable_becomes_a_table_and_its_log_goes),
		cmocka_unit_test(recycled_logs_are_made_no_more),
		cmocka_unit_test(writers_wait_when_all_memtables_are_full),
		cmocka_unit_test(only_what_follows_the_warm_up_counts),
		cmocka_unit_test(files_are_there_and_closed_when_they_go),
		cmocka_unit_test(the_same_settings_do_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
