/*
 * If these fail, a task that syncs a large file no longer delays everybody else's requests as the
 * elevator of older kernels has it, or requests are lost in its queues.
 */
#include "model_test.h"

#include <unistd.h>

#include "machine/model/cfq.h"
#include "machine/model/device.h"

enum { TASKS = 4, REQUESTS = 4096, ASYNC_TASK = TASKS };

/* A device that does `channels` at a time, a write in 1 ms, and who asked for what. */
struct rig {
	struct device_profile *profile;
	struct device *device;
	struct cfq *cfq;
	uint64_t now_ns, next_tag;
	uint32_t task_of[REQUESTS];
	uint64_t done_ns[REQUESTS];
	uint64_t done_of[TASKS + 1], last_of[TASKS + 1];
};

static void rig_init(struct rig *rig, unsigned int channels)
{
	char path[] = "/tmp/refault-test-XXXXXX.yaml";
	int fd = mkstemps(path, 5);
	struct error error;

	*rig = (struct rig){0};
	assert_true(fd >= 0);
	dprintf(fd,
		"kind: volume\nsummary: a test's\nsource: a test\nchannels: %u\n"
		"read_latency: 1ms\nread_sigma: 0\nwrite_latency: 1ms\nwrite_sigma: 0\n"
		"flush_time: 3ms\niops: 1000000000\nbandwidth: 1000GB/s\nmerge_size: 4KiB\n"
		"burst_requests: 1000000\nburst_bytes: 1GiB\nrequest_max: 1MiB\n",
		channels);
	close(fd);
	rig->profile = device_profile_load(path, &error);
	unlink(path);
	assert_non_null(rig->profile);
	rig->device = device_create(rig->profile, 64 * GIB, 1);
	rig->cfq = cfq_create(rig->device);
}

static void rig_deinit(struct rig *rig)
{
	cfq_destroy(rig->cfq);
	device_destroy(rig->device);
	device_profile_free(rig->profile);
}

static uint64_t ask(struct rig *rig, uint32_t task, enum device_op op)
{
	uint64_t tag = rig->next_tag++;
	struct device_request request = {
		.offset = tag * 8 * KIB,
		.bytes = op == DEVICE_FLUSH ? 0 : 8 * KIB,
		.tag = tag,
		.op = (uint8_t)op,
		.is_background = task == ASYNC_TASK,
	};

	assert_true(tag < REQUESTS);
	rig->task_of[tag] = op == DEVICE_FLUSH ? UINT32_MAX : task;
	if (op == DEVICE_FLUSH)
		cfq_flush(rig->cfq, rig->now_ns, &request);
	else
		cfq_submit(rig->cfq, rig->now_ns, &request, task);
	return tag;
}

/* Let time pass until `ns`, or until nothing is left to do. */
static void run_until(struct rig *rig, uint64_t ns)
{
	uint64_t tags[16];

	for (uint64_t next; (next = device_next_ns(rig->device)) <= ns && next != UINT64_MAX;) {
		size_t count = device_advance(rig->device, next, tags, 16);

		rig->now_ns = next;
		for (size_t i = 0; i < count; i++) {
			uint32_t task = rig->task_of[tags[i]];

			rig->done_ns[tags[i]] = next;
			if (task == UINT32_MAX) {
				cfq_flush_done(rig->cfq, next);
				continue;
			}
			rig->done_of[task]++;
			rig->last_of[task] = next;
			cfq_done(rig->cfq, next, tags[i]);
		}
	}
	if (ns != UINT64_MAX)
		rig->now_ns = ns;
}

static void a_task_keeps_its_turn_for_a_tenth_of_a_second(void **state)
{
	struct rig rig;
	uint64_t other;

	(void)state;
	rig_init(&rig, 1);
	for (int i = 0; i < 400; i++)
		ask(&rig, 0, DEVICE_WRITE);
	run_until(&rig, 10 * NS_PER_MS);
	other = ask(&rig, 1, DEVICE_WRITE);
	run_until(&rig, UINT64_MAX);
	assert_int_equal(rig.done_of[0], 400);
	/*
	 * Nobody else was there when its turn began, so that 31 requests are at the device already,
	 * and go before the other one.
	 */
	assert_in_range(rig.done_ns[other], 100 * NS_PER_MS, 140 * NS_PER_MS);
	/* Without turns it would have been the 401st. */
	assert_in_range(rig.last_of[0], 400 * NS_PER_MS, 402 * NS_PER_MS);
	rig_deinit(&rig);
}

static void two_who_have_little_to_ask_wait_for_nobody(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, 8);
	ask(&rig, 0, DEVICE_READ);
	ask(&rig, 1, DEVICE_READ);
	run_until(&rig, UINT64_MAX);
	assert_in_range(rig.last_of[0], 0, 3 * NS_PER_MS / 2);
	assert_in_range(rig.last_of[1], 0, 3 * NS_PER_MS / 2);
	rig_deinit(&rig);
}

static void what_nobody_waits_for_goes_while_nothing_else_is_at_the_device(void **state)
{
	struct rig rig;
	uint64_t first, asked_ns;

	(void)state;
	rig_init(&rig, 1);
	ask(&rig, 0, DEVICE_READ);
	for (int i = 0; i < 100; i++)
		ask(&rig, ASYNC_TASK, DEVICE_WRITE);
	/* Each read is followed by another one of somebody, so there is no gap. */
	for (int i = 0; i < 20; i++) {
		run_until(&rig, rig.now_ns + NS_PER_MS / 2);
		ask(&rig, (uint32_t)i % 2, DEVICE_READ);
		run_until(&rig, rig.now_ns + NS_PER_MS / 2);
	}
	assert_int_equal(rig.done_of[ASYNC_TASK], 0);
	run_until(&rig, UINT64_MAX);
	assert_int_equal(rig.done_of[ASYNC_TASK], 100);
	/* And a read does not wait for the rest of them, but for those that the drive has. */
	for (int i = 0; i < 1000; i++)
		ask(&rig, ASYNC_TASK, DEVICE_WRITE);
	run_until(&rig, rig.now_ns + 100 * NS_PER_MS);
	asked_ns = rig.now_ns;
	first = ask(&rig, 0, DEVICE_READ);
	run_until(&rig, UINT64_MAX);
	assert_int_equal(rig.done_of[ASYNC_TASK], 1100);
	assert_in_range(rig.done_ns[first], asked_ns, asked_ns + 33 * NS_PER_MS);
	rig_deinit(&rig);
}

static void nothing_leaves_the_queues_while_a_flush_is_under_way(void **state)
{
	struct rig rig;
	uint64_t flush, read;

	(void)state;
	rig_init(&rig, 8);
	flush = ask(&rig, 0, DEVICE_FLUSH);
	read = ask(&rig, 1, DEVICE_READ);
	run_until(&rig, UINT64_MAX);
	assert_in_range(rig.done_ns[read], rig.done_ns[flush] + NS_PER_MS / 2,
			rig.done_ns[flush] + 3 * NS_PER_MS / 2);
	rig_deinit(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_keeps_its_turn_for_a_tenth_of_a_second),
		cmocka_unit_test(two_who_have_little_to_ask_wait_for_nobody),
		cmocka_unit_test(what_nobody_waits_for_goes_while_nothing_else_is_at_the_device),
		cmocka_unit_test(nothing_leaves_the_queues_while_a_flush_is_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
