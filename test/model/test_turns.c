/*
 * If this fails, commits of a log overtake each other, or whoever waits for a file system's threads
 * waits too long, or for ever: latencies of fsync are then wrong.
 *
 * A file system of our own on a device where a write takes 2 ms, a flush 3 ms; its sync takes turns,
 * or awaits what its threads bring about.
 */
#include "model_test.h"

#include <unistd.h>

#include "machine/model/device.h"
#include "machine/model/fs/shelf.h"

enum { PLACE = 100000 };

static struct filesystem lab;
static bool takes_turns;
static uint64_t awaits;  /* the groups that a sync waits for */
static uint64_t part_ns; /* how long the threads take for one */
static uint32_t parts;

static void lab_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	(void)node;
	(void)data_only;
	mount->io->takes_turns = takes_turns;
	if (awaits)
		mount_await(mount, mount->reached + awaits);
	mount_write(mount, PLACE, 4096);
	mount_then(mount);
	mount_flush(mount);
}

/* One after the other, as long as somebody has ever wanted one; each writes a block. */
static void lab_background(struct filesystem_mount *mount)
{
	if (!awaits)
		return;
	if (parts > 0)
		mount->reached++;
	parts++;
	mount->goes_on = parts <= 40;
	if (mount->goes_on)
		mount_write(mount, 0, 4096);
	mount->io->sleep_ns = part_ns;
}

static struct result run(const char *text)
{
	char path[] = "/tmp/refault-test-XXXXXX.yaml";
	int fd = mkstemps(path, 5);
	struct op_memory *memory = op_memory_parse(text);
	struct device_profile *device;
	struct model_options options = {
		.filesystem = &lab,
		.memory_bytes = 256 * MIB,
		.seed = 1,
		.device_bytes = 64 * GIB,
		.processors = 8,
		.pace = {.op_ns = 1},
	};
	struct result result;
	struct error error;

	dprintf(fd, "kind: volume\nsummary: a test's\nsource: a test\nchannels: 64\n"
		    "read_latency: 1ms\nread_sigma: 0\nwrite_latency: 2ms\nwrite_sigma: 0\n"
		    "flush_time: 3ms\niops: 1000000000\nbandwidth: 1000GB/s\nmerge_size: 4KiB\n"
		    "burst_requests: 1000000\nburst_bytes: 1GiB\nrequest_max: 1MiB\n");
	close(fd);
	device = device_profile_load(path, &error);
	assert_non_null(device);
	unlink(path);
	options.device = device;
	lab = filesystem_flat;
	lab.sync = lab_sync;
	lab.background = lab_background;
	parts = 0;
	assert_true(policy_options_parse(&options.policy, "", &error));
	if (!model_run(&options, &memory->source, &result, &error))
		fail_msg("%s", error.message);
	op_source_destroy(&memory->source);
	device_profile_free(device);
	return result;
}

static const struct histogram *syncs(const struct result *result)
{
	for (size_t i = 0; i < result->latency_count; i++)
		if (strcmp(result->latencies[i].name, "fsync") == 0)
			return &result->latencies[i].ns;
	fail_msg("nobody synced");
	return NULL;
}

static const char four_syncs[] = "exists a 0 4096\nexists b 0 4096\nexists c 0 4096\n"
				 "exists d 0 4096\n"
				 "@1 stat a\n@1 fsync a\n@2 fsync b\n@3 fsync c\n@4 fsync d\n";

static void without_turns_nobody_waits_for_another(void **state)
{
	struct result result;

	(void)state;
	takes_turns = false;
	awaits = 0;
	result = run(four_syncs);
	assert_int_equal(syncs(&result)->count, 4);
	assert_true(syncs(&result)->most < 9 * NS_PER_MS);
	result_deinit(&result);
}

static void all_who_came_meanwhile_go_next_together(void **state)
{
	struct result result;
	uint64_t one, all;

	(void)state;
	takes_turns = true;
	awaits = 0;
	result = run(four_syncs);
	one = syncs(&result)->least;
	all = syncs(&result)->most;
	/* The first, then three at once: not four one after the other. */
	assert_in_range(one, 5 * NS_PER_MS, 51 * NS_PER_MS / 10);
	assert_in_range(all, 99 * NS_PER_MS / 10, 14 * NS_PER_MS);
	result_deinit(&result);
}

static void whoever_awaits_has_the_threads_begin_at_once(void **state)
{
	struct result result;

	(void)state;
	takes_turns = false;
	awaits = 3;
	part_ns = 0;
	/* Three parts of 2 ms each, not three ticks of 100 ms; then its own 5 ms. */
	result = run("exists a 0 4096\n+1\nfsync a\n");
	assert_in_range(syncs(&result)->most, 5 * NS_PER_MS, 12 * NS_PER_MS);
	result_deinit(&result);
	/* As long as the threads compute, it takes. */
	part_ns = 7 * NS_PER_MS;
	result = run("exists a 0 4096\n+1\nfsync a\n");
	assert_in_range(syncs(&result)->most, (7 + 5) * NS_PER_MS, (3 * 7 + 6) * NS_PER_MS);
	result_deinit(&result);
}

static void several_may_await_and_each_goes_on_when_its_own_is_reached(void **state)
{
	struct result result;

	(void)state;
	takes_turns = false;
	awaits = 20;
	part_ns = 0;
	result = run("exists a 0 4096\nexists b 0 4096\n+1\n@1 fsync a\n@2 fsync b\n");
	assert_int_equal(syncs(&result)->count, 2);
	assert_in_range(syncs(&result)->least, 20 * NS_PER_MS, 50 * NS_PER_MS);
	result_deinit(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_turns_nobody_waits_for_another),
		cmocka_unit_test(all_who_came_meanwhile_go_next_together),
		cmocka_unit_test(whoever_awaits_has_the_threads_begin_at_once),
		cmocka_unit_test(several_may_await_and_each_goes_on_when_its_own_is_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
