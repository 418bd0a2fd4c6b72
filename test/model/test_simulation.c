/*
 * If this fails, somebody waits for the wrong thing, too long or not at all: a throughput or a
 * latency is then wrong without any counter being so.
 */
#include "model_test.h"

#include <unistd.h>

#include "machine/model/device.h"

/* A device of so many channels: a read takes 1 ms, a write 2 ms, a flush 3 ms. */
static struct device_profile *device_of(unsigned int channels)
{
	char path[] = "/tmp/refault-test-XXXXXX.yaml";
	int fd = mkstemps(path, 5);
	struct device_profile *profile;
	struct error error;

	assert_true(fd >= 0);
	dprintf(fd,
		"kind: volume\nsummary: a test's\nsource: a test\nchannels: %u\n"
		"read_latency: 1ms\nread_sigma: 0\nwrite_latency: 2ms\nwrite_sigma: 0\n"
		"flush_time: 3ms\niops: 1000000000\nbandwidth: 1000GB/s\nmerge_size: 4KiB\n"
		"burst_requests: 1000000\nburst_bytes: 1GiB\nrequest_max: 1MiB\n",
		channels);
	close(fd);
	profile = device_profile_load(path, &error);
	if (!profile)
		fail_msg("%s", error.message);
	unlink(path);
	return profile;
}

struct timed {
	unsigned int channels, processors;
	uint64_t op_ns, memory_bytes;
	const char *policy, *filesystem; /* NULL: flat */
	struct result result;
};

static void run_timed(struct timed *timed, const char *text)
{
	struct op_memory *memory = op_memory_parse(text);
	struct device_profile *device = device_of(timed->channels);
	struct model_options options = {
		.memory_bytes = timed->memory_bytes ? timed->memory_bytes : 256 * MIB,
		.seed = 1,
		.device = device,
		.device_bytes = 64 * GIB,
		.processors = timed->processors ? timed->processors : 4,
		.pace = {.op_ns = timed->op_ns},
	};
	struct error error;

	options.filesystem = filesystem_find(timed->filesystem ? timed->filesystem : "flat");
	assert_true(
		policy_options_parse(&options.policy, timed->policy ? timed->policy : "", &error));
	if (!model_run(&options, &memory->source, &timed->result, &error))
		fail_msg("%s", error.message);
	op_source_destroy(&memory->source);
	device_profile_free(device);
}

static uint64_t most(const struct timed *timed, const char *kind)
{
	for (size_t i = 0; i < timed->result.latency_count; i++)
		if (strcmp(timed->result.latencies[i].name, kind) == 0)
			return timed->result.latencies[i].ns.most / NS_PER_US;
	fail_msg("nobody did a %s", kind);
	return 0;
}

static uint64_t least(const struct timed *timed, const char *kind)
{
	for (size_t i = 0; i < timed->result.latency_count; i++)
		if (strcmp(timed->result.latencies[i].name, kind) == 0)
			return timed->result.latencies[i].ns.least / NS_PER_US;
	fail_msg("nobody did a %s", kind);
	return 0;
}

static const char far_pages[] = "exists a 0 100000000\n"
				"@1 fadvise_random a\n@2 fadvise_random a\n"
				"@1 read a 0 4096\n@2 read a 49999872 4096";

static void readers_queue_at_a_device_of_one_channel(void **state)
{
	struct timed timed = {.channels = 1};

	(void)state;
	run_timed(&timed, far_pages);
	assert_int_equal(least(&timed, "read"), 1000);
	assert_in_range(most(&timed, "read"), 1990, 2000);
	assert_int_equal(timed.result.device.reads, 2);
	assert_int_equal(timed.result.device.read_bytes, 8192);
	result_deinit(&timed.result);
}

static void and_do_not_at_one_of_two(void **state)
{
	struct timed timed = {.channels = 2};

	(void)state;
	run_timed(&timed, far_pages);
	assert_int_equal(most(&timed, "read"), 1000);
	result_deinit(&timed.result);
}

static void a_page_on_its_way_is_waited_for_and_read_once(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\n@1 fadvise_random a\n@2 fadvise_random a\n"
			  "@1 read a 0 4096\n@2 read a 0 4096");
	assert_int_equal(timed.result.device.reads, 1);
	/* The second asks 1 us after the first. */
	assert_in_range(least(&timed, "read"), 999, 999);
	assert_int_equal(most(&timed, "read"), 1000);
	result_deinit(&timed.result);
}

static void what_readahead_brings_besides_is_not_waited_for(void **state)
{
	struct timed timed = {.channels = 8};
	const struct histogram *reads;

	(void)state;
	/* From the second read on, the marker is met: a window more is asked for. */
	run_timed(&timed, "exists a 0 100000000\nread a 0 16384\nread a 16384 16384\n"
			  "read a 32768 16384\nread a 49152 16384");
	assert_int_equal(timed.result.latency_count, 1);
	reads = &timed.result.latencies[0].ns;
	assert_int_equal(reads->count, 4);
	assert_true(reads->sum < (unsigned __int128)4 * NS_PER_MS);
	result_deinit(&timed.result);
}

static void a_sync_waits_for_its_writes_and_then_for_the_flush(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\nwrite a 0 4096\nfdatasync a\n");
	assert_int_equal(most(&timed, "write"), 0);
	assert_int_equal(most(&timed, "fdatasync"), 5000);
	assert_int_equal(timed.result.device.writes, 1);
	assert_int_equal(timed.result.device.flushes, 1);
	result_deinit(&timed.result);
}

static void a_sync_waits_for_what_was_only_begun(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\nwrite a 0 4096\nsync_file_range a 0 4096\n"
			  "fdatasync a\n");
	assert_int_equal(most(&timed, "sync_file_range"), 0);
	assert_int_equal(timed.result.device.writes, 1);
	/* It asked 1 us after the write was begun. */
	assert_in_range(most(&timed, "fdatasync"), 4998, 4999);
	result_deinit(&timed.result);
}

/* 64 pages far from each other are written, and their write-back begun; then `last`. */
static char *far_writes(const char *last)
{
	char *ops = malloc(1 << 16), *at = stpcpy(ops, "exists a 0 1000000000\n");

	for (int i = 0; i < 64; i++)
		at += sprintf(at, "write a %d 4096\n", i * 10240000);
	strcpy(stpcpy(at, "sync_file_range a 0 1000000000\n"), last);
	return ops;
}

static void write_back_keeps_so_many_requests_at_the_device(void **state)
{
	struct timed few = {.channels = 1000, .policy = "linux-6.18"},
		     many = {.channels = 1000, .policy = "linux-4.5"};
	char *ops = far_writes("compute x 0 50000000\n");

	(void)state;
	run_timed(&few, ops);
	run_timed(&many, ops);
	/* 64 requests, 8 at a time: 16 ms; or all at once: 2 ms. */
	assert_int_equal(few.result.device.busy_ns, 16 * NS_PER_MS);
	assert_int_equal(many.result.device.busy_ns, 2 * NS_PER_MS);
	free(ops);
	result_deinit(&few.result);
	result_deinit(&many.result);
}

static void whoever_syncs_does_not_wait_for_its_turn(void **state)
{
	static const char *const syncs[] = {"fdatasync", "sync"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct timed timed = {.channels = 1000, .policy = "linux-6.18"};
		char *ops = far_writes(i ? "sync x" : "fdatasync a");

		run_timed(&timed, ops);
		assert_in_range(most(&timed, syncs[i]), 4990, 5000);
		assert_int_equal(timed.result.device.writes, 64);
		free(ops);
		result_deinit(&timed.result);
	}
}

static void processors_are_shared_first_come_first_served(void **state)
{
	struct timed one = {.channels = 8, .processors = 1}, two = {.channels = 8, .processors = 2};
	static const char text[] = "@1 compute x 0 1000000\n@2 compute x 0 1000000\n"
				   "@1 stat x\n@2 stat x\n";

	(void)state;
	run_timed(&one, text);
	run_timed(&two, text);
	assert_in_range(one.result.elapsed_ns, 2000000, 2003000);
	assert_in_range(two.result.elapsed_ns, 1001000, 1004000);
	assert_int_equal(one.result.cpu_ns, 2000000);
	assert_int_equal(one.result.cpu_count, 1);
	result_deinit(&one.result);
	result_deinit(&two.result);
}

static void a_call_takes_the_processor_its_time(void **state)
{
	struct timed timed = {.channels = 8, .op_ns = 7000};

	(void)state;
	run_timed(&timed, "exists a 0 4096\nstat a\nstat a\n");
	assert_int_equal(most(&timed, "stat"), 7);
	assert_int_equal(timed.result.cpu_ns, 14000);
	result_deinit(&timed.result);
}

static void what_is_old_is_written_back_by_itself(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\nwrite a 0 40960\n+60\nstat a\n");
	assert_int_equal(timed.result.device.write_bytes, 40960);
	assert_true(timed.result.interval_count >= 59);
	for (size_t i = 0; i < timed.result.interval_count; i++) {
		const struct result_interval *at = &timed.result.intervals[i];

		assert_int_equal(at->write_bytes, i >= 30 && at->write_bytes ? 40960 : 0);
	}
	result_deinit(&timed.result);
}

static void writers_are_held_up_when_too_much_is_dirty(void **state)
{
	struct timed timed = {.channels = 1, .memory_bytes = 64 * MIB};
	char *ops = malloc(1 << 20), *at;

	(void)state;
	at = stpcpy(ops, "exists a 0 1000000000\n");
	for (int i = 0; i < 4000; i++)
		at += sprintf(at, "write a %d 65536\n", i * 65536);
	run_timed(&timed, ops);
	free(ops);
	/* 250 MiB through 64: most of it has to reach the device at its pace, 1 MiB in 2 ms. */
	assert_true(timed.result.elapsed_ns > 350 * NS_PER_MS);
	assert_true(most(&timed, "write") > 2000);
	result_deinit(&timed.result);
}

/*
 * A file is synced of which every other block is dirty, for 4 seconds; after one somebody makes a file
 * durable, and somebody else just writes.
 */
static uint64_t writer_waits_us(const char *policy)
{
	struct timed timed = {.channels = 1, .policy = policy, .filesystem = "ext4"};
	char *ops = malloc(1 << 20), *at;
	uint64_t waits;

	at = stpcpy(ops, "exists a 0 100000000\nexists c 0 4096\n@3 read c 0 4096\n"
			 "@1 read a 0 4096\n+1\n");
	for (int i = 0; i < 2000; i++)
		at += sprintf(at, "@1 write a %d 4096\n", i * 8192);
	at = stpcpy(at, "@1 fsync a\n+1\n@2 create b 0 0\n@2 fsync b\n");
	/* A commit computes for a while first. */
	for (int i = 0; i < 1000; i++)
		at = stpcpy(at, "@4 stat c\n");
	(void)stpcpy(at, "@3 write c 0 4096\n");
	run_timed(&timed, ops);
	free(ops);
	waits = most(&timed, "write");
	result_deinit(&timed.result);
	return waits;
}

static void a_commit_waits_for_write_back_of_ext4_and_writers_for_it(void **state)
{
	(void)state;
	/* Until all but the last 128 of 2000 writes of 2 ms are at the device. */
	assert_in_range(writer_waits_us("linux-4.7"), 2400000, 3100000);
	/* Until the journal's blocks are there, for which there is a place after the next 32. */
	assert_in_range(writer_waits_us("linux-4.14"), 10000, 400000);
}

/* ---- past the cache ---- */

static void whoever_goes_past_the_cache_waits_for_the_device(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\nopen a\n"
			  "+1\nwrite_direct a 0 4096\n"
			  "+1\nread_direct a 0 4096\n+1\nread_direct a 0 4096\n");
	assert_int_equal(most(&timed, "write_direct"), 2000);
	assert_int_equal(most(&timed, "read_direct"), 1000);
	assert_int_equal(timed.result.device.reads, 2);
	assert_int_equal(timed.result.device.write_bytes, 4096);
	result_deinit(&timed.result);
}

static void what_is_dirty_goes_before_a_direct_read(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\nopen a\n+1\nwrite a 0 4096\n"
			  "+1\nread_direct a 0 8192\n");
	assert_int_equal(most(&timed, "read_direct"), 3000);
	result_deinit(&timed.result);
	/* Also what is being written back already. */
	timed = (struct timed){.channels = 8};
	run_timed(&timed, "exists a 0 100000000\nopen a\n+1\nwrite a 0 4096\n"
			  "+1\nsync_file_range a 0 4096\nread_direct a 0 8192\n");
	assert_in_range(most(&timed, "read_direct"), 2900, 3000);
	assert_int_equal(timed.result.device.write_bytes, 4096);
	result_deinit(&timed.result);
}

static void direct_requests_are_as_long_as_they_are(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\n+1\nread_direct a 512 512\n"
			  "read_direct a 4608 8192\nwrite_direct a 1024 1536\n");
	assert_int_equal(timed.result.device.read_bytes, 512 + 8192);
	assert_int_equal(timed.result.device.write_bytes, 1536);
	assert_int_equal(timed.result.totals.read_bytes, 512 + 8192);
	assert_int_equal(timed.result.totals.write_bytes, 1536);
	result_deinit(&timed.result);
}

static void what_was_read_during_a_direct_write_is_read_again(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	/* It came in before the write was done, and may be what was there before. */
	run_timed(&timed, "exists a 0 100000000\n@1 fadvise_random a\n@2 fadvise_random a\n+1\n"
			  "@1 write_direct a 0 4096\n@2 read a 0 4096\n+1\n@2 read a 0 4096\n");
	assert_int_equal(timed.result.device.reads, 2);
	result_deinit(&timed.result);
}

static void what_is_written_behind_is_not_waited_for(void **state)
{
	struct timed timed = {.channels = 8};

	(void)state;
	run_timed(&timed, "exists a 0 100000000\nfadvise_random a\n+1\nwrite_dontcache a 0 4096\n"
			  "mark begun\n+1\nmark done\nread a 0 4096\n");
	assert_int_equal(most(&timed, "write_dontcache"), 0);
	assert_int_equal(timed.result.device.writes, 1);
	assert_int_equal(timed.result.marks[0].counters.inactive_file_pages, 1);
	assert_int_equal(timed.result.marks[1].counters.inactive_file_pages, 0);
	assert_int_equal(timed.result.device.reads, 1);
	result_deinit(&timed.result);
}

/* ---- files without a name ---- */

static void a_file_keeps_its_room_until_it_is_closed(void **state)
{
	static const char *const names[] = {"ext4", "xfs"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct timed timed = {.channels = 8, .filesystem = names[i]};
		const struct result_interval *at;
		uint64_t before;

		run_timed(&timed, "exists a 0 100000000\n+1\ncreate b\n+1\nwrite b 0 40960000\n"
				  "fsync b\n+2\nunlink b\n+2\nwrite b 40960000 4096000\n"
				  "fsync b\n+2\nclose b\n+3\nstat b\n+1\nstat b\n");
		at = timed.result.intervals;
		assert_true(timed.result.interval_count >= 10);
		before = at[0].free_bytes;
		assert_int_equal(before - at[3].free_bytes, 40960000);
		assert_int_equal(at[4].free_bytes, at[3].free_bytes);
		assert_int_equal(before - at[6].free_bytes, 40960000 + 4096000);
		assert_int_equal(at[9].free_bytes, before);
		/* What was written after its name went reached the device. */
		assert_true(timed.result.device.write_bytes -
				    timed.result.device.metadata_write_bytes ==
			    40960000 + 4096000);
		result_deinit(&timed.result);
	}
}

static void the_root_is_synced_by_itself(void **state)
{
	static const char *const names[] = {"ext4", "xfs", "btrfs"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct timed timed = {.channels = 8, .filesystem = names[i]};

		run_timed(&timed, "exists a 0 100000000\nmkdir d\n+1\ncreate d/a\n"
				  "write d/a 0 4096000\ncreate b\nfsync .\n+1\nmark synced\n");
		/* Its entries, and whatever goes with them (ext4: metadata pages); no data. */
		assert_true(timed.result.device.write_bytes -
				    timed.result.device.metadata_write_bytes ==
			    0);
		assert_true(timed.result.device.metadata_write_bytes > 0);
		assert_in_range(timed.result.totals.dirty_pages, 1000, 1009);
		result_deinit(&timed.result);
	}
}

/* A directory's new name is as durable as a file's. */
static void a_directorys_new_name_is_written(void **state)
{
	static const char *const names[] = {"ext4", "xfs", "btrfs", "zfs"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct timed timed = {.channels = 8, .filesystem = names[i]};

		run_timed(&timed, "exists d/a 0 4096\nexists e/a 0 4096\n+1\nrename d>e/d\nsync\n"
				  "+1\nstat e/d/a\nrename e/d>f\nsync\n");
		assert_true(timed.result.device.metadata_write_bytes >= 512);
		assert_true(timed.result.device.flushes > 0);
		result_deinit(&timed.result);
	}
}

static void the_same_again_is_the_same(void **state)
{
	struct timed timed[2] = {{.channels = 2, .op_ns = 900}, {.channels = 2, .op_ns = 900}};
	char *ops = malloc(1 << 20), *at;

	(void)state;
	at = stpcpy(ops, "exists a 0 1000000000\n");
	for (unsigned int i = 0; i < 3000; i++)
		at += sprintf(at, "@%u %s a %u 8192\n", i % 7, i % 5 ? "read" : "write",
			      i * 2654435761u % 900000000u);
	for (int i = 0; i < 2; i++)
		run_timed(&timed[i], ops);
	free(ops);
	assert_int_equal(timed[0].result.elapsed_ns, timed[1].result.elapsed_ns);
	for (size_t i = 0; i < timed[0].result.latency_count; i++)
		assert_true(timed[0].result.latencies[i].ns.sum ==
			    timed[1].result.latencies[i].ns.sum);
	result_deinit(&timed[0].result);
	result_deinit(&timed[1].result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_queue_at_a_device_of_one_channel),
		cmocka_unit_test(and_do_not_at_one_of_two),
		cmocka_unit_test(a_page_on_its_way_is_waited_for_and_read_once),
		cmocka_unit_test(what_readahead_brings_besides_is_not_waited_for),
		cmocka_unit_test(a_sync_waits_for_its_writes_and_then_for_the_flush),
		cmocka_unit_test(a_sync_waits_for_what_was_only_begun),
		cmocka_unit_test(write_back_keeps_so_many_requests_at_the_device),
		cmocka_unit_test(whoever_syncs_does_not_wait_for_its_turn),
		cmocka_unit_test(processors_are_shared_first_come_first_served),
		cmocka_unit_test(a_call_takes_the_processor_its_time),
		cmocka_unit_test(what_is_old_is_written_back_by_itself),
		cmocka_unit_test(writers_are_held_up_when_too_much_is_dirty),
		cmocka_unit_test(a_commit_waits_for_write_back_of_ext4_and_writers_for_it),
		cmocka_unit_test(whoever_goes_past_the_cache_waits_for_the_device),
		cmocka_unit_test(what_is_dirty_goes_before_a_direct_read),
		cmocka_unit_test(direct_requests_are_as_long_as_they_are),
		cmocka_unit_test(what_was_read_during_a_direct_write_is_read_again),
		cmocka_unit_test(what_is_written_behind_is_not_waited_for),
		cmocka_unit_test(a_file_keeps_its_room_until_it_is_closed),
		cmocka_unit_test(the_root_is_synced_by_itself),
		cmocka_unit_test(a_directorys_new_name_is_written),
		cmocka_unit_test(the_same_again_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
