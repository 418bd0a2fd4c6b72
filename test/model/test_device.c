/*
 * If this fails, a device takes another time than its profile says, forgets a request, or lets somebody wait for what goes later; or a
 * prediction differs from machine to machine.
 */
#include "model_test.h"

#include <inttypes.h>

#include "base/random.h"
#include "machine/model/device.h"
#include "machine/model/device/profile.h"
#include "machine/model/device/spread.h"

/* ---- a device, and what it has done ---- */

struct rig {
	struct device_profile *profile;
	struct device *device;
	uint64_t now_ns;
	uint64_t done_ns[1000]; /* by tag */
	uint64_t order[1000];
	size_t done;
};

static struct rig *rig_create(const char *text)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct error error;

	rig->profile = strchr(text, '\n')
			       ? device_profile_read("test.yaml", text, strlen(text), &error)
			       : device_profile_load(text, &error);
	if (!rig->profile)
		fail_msg("%s:%" PRIu64 ":%" PRIu64 ": %s", error.file, error.line, error.column,
			 error.message);
	rig->device = device_create(rig->profile, 400 * GIB, 1);
	return rig;
}

static void rig_destroy(struct rig *rig)
{
	device_destroy(rig->device);
	device_profile_free(rig->profile);
	free(rig);
}

static void ask(struct rig *rig, uint64_t tag, enum device_op op, uint64_t offset, uint64_t bytes,
		bool is_background)
{
	struct device_request request = {.op = op,
					 .offset = offset,
					 .bytes = bytes,
					 .tag = tag,
					 .is_background = is_background};

	device_submit(rig->device, rig->now_ns, &request);
}

/* Let time pass until then, event by event. */
static void pass(struct rig *rig, uint64_t until_ns)
{
	uint64_t tags[8], next_ns;
	size_t count;

	while ((next_ns = device_next_ns(rig->device)) <= until_ns) {
		assert_true(next_ns >= rig->now_ns);
		rig->now_ns = next_ns;
		do {
			count = device_advance(rig->device, next_ns, tags, 8);
			for (size_t i = 0; i < count; i++) {
				assert_int_equal(rig->done_ns[tags[i]], 0);
				rig->done_ns[tags[i]] = next_ns;
				rig->order[rig->done++] = tags[i];
			}
		} while (count == 8);
	}
	if (until_ns != UINT64_MAX - 1) {
		rig->now_ns = until_ns;
		assert_int_equal(device_advance(rig->device, until_ns, tags, 8), 0);
	}
}

static void pass_all(struct rig *rig)
{
	pass(rig, UINT64_MAX - 1);
	assert_int_equal(device_next_ns(rig->device), UINT64_MAX);
}

#define US NS_PER_US
#define MS NS_PER_MS

/* Two channels, 100 us a read, 20 us a write, nothing by lot. */
#define PLAIN                                                                                      \
	"kind: flash\nchannels: 2\nread_latency: 100us\nwrite_latency: 20us\n"                     \
	"read_bandwidth: 4GB/s\nwrite_bandwidth: 4GB/s\n"

/* ---- flash ---- */

static void channels_work_side_by_side_and_the_rest_waits(void **state)
{
	struct rig *rig = rig_create(PLAIN);

	(void)state;
	for (uint64_t tag = 1; tag <= 5; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 4096, false);
	pass_all(rig);
	for (uint64_t tag = 1; tag <= 5; tag++) {
		assert_int_equal(rig->done_ns[tag], (tag + 1) / 2 * 100 * US);
		assert_int_equal(rig->order[tag - 1], tag);
	}
	assert_int_equal(device_busy_ns(rig->device), 300 * US);
	rig_destroy(rig);
}

static void what_somebody_waits_for_goes_first_but_not_for_ever(void **state)
{
	struct rig *rig = rig_create("kind: flash\nchannels: 1\nread_latency: 100us\n"
				     "write_latency: 100us\nread_bandwidth: 4GB/s\n"
				     "write_bandwidth: 4GB/s\n");

	(void)state;
	ask(rig, 0, DEVICE_READ, 0, 4096, false);
	for (uint64_t tag = 100; tag < 120; tag++)
		ask(rig, tag, DEVICE_WRITE, tag * MIB, 4096, true);
	for (uint64_t tag = 1; tag <= 60; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 4096, false);
	pass_all(rig);
	/* 32 pass those in the background, 16 of which then go; and so on. */
	for (uint64_t i = 1; i <= 32; i++)
		assert_int_equal(rig->order[i], i);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(rig->order[33 + i], 100 + i);
	for (uint64_t i = 0; i < 28; i++)
		assert_int_equal(rig->order[49 + i], 33 + i);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(rig->order[77 + i], 116 + i);
	rig_destroy(rig);
}

static void the_link_bounds_what_all_have_together(void **state)
{
	struct rig *rig = rig_create("kind: flash\nchannels: 8\nread_latency: 100us\n"
				     "write_latency: 20us\nread_bandwidth: 1GB/s\n"
				     "write_bandwidth: 1GB/s\n");

	(void)state;
	for (uint64_t tag = 1; tag <= 8; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 1000000, false);
	pass_all(rig);
	for (uint64_t tag = 1; tag <= 8; tag++)
		assert_in_range(rig->done_ns[tag], tag * MS - US, tag * MS + US);
	rig_destroy(rig);
}

#define CACHE "cache: 8MiB\ndrain: 100MB/s\nflush_time: 500us\n"

static void a_write_is_done_when_the_cache_has_it_until_that_is_full(void **state)
{
	struct rig *rig = rig_create(PLAIN CACHE);
	uint64_t tag = 0;

	(void)state;
	for (; tag < 8; tag++) {
		ask(rig, tag, DEVICE_WRITE, tag * MIB, MIB, false);
		pass(rig, (tag + 1) * 300 * US);
		/* 1 MiB on a link of 4 GB/s */
		assert_in_range(rig->done_ns[tag] - tag * 300 * US, 262 * US, 263 * US);
	}
	/* From here on as fast as it is drained: 10.5 ms for each. */
	for (; tag < 40; tag++)
		ask(rig, tag, DEVICE_WRITE, tag * MIB, MIB, false);
	pass_all(rig);
	assert_in_range(rig->done_ns[39], 32 * 10 * MS, 33 * 11 * MS);
	rig_destroy(rig);
}

static void a_cache_that_wants_idle_time_stays_full_while_somebody_writes(void **state)
{
	struct rig *rig = rig_create(PLAIN CACHE "drain_idle: 1s\n");

	(void)state;
	for (uint64_t tag = 0; tag < 8; tag++)
		ask(rig, tag, DEVICE_WRITE, tag * MIB, MIB, false);
	pass(rig, 500 * MS);
	/* 84 ms would have emptied it. */
	ask(rig, 8, DEVICE_WRITE, 0, MIB, false);
	pass(rig, 600 * MS);
	assert_in_range(rig->done_ns[8], 510 * MS, 511 * MS);
	/* From 1500 ms on nobody has asked for a second. */
	pass(rig, 1700 * MS);
	ask(rig, 9, DEVICE_WRITE, 0, MIB, false);
	pass_all(rig);
	assert_in_range(rig->done_ns[9], 1700 * MS, 1701 * MS);
	rig_destroy(rig);
}

static void a_flush_waits_for_the_cache_and_writes_wait_for_it(void **state)
{
	struct rig *rig = rig_create(PLAIN CACHE);

	(void)state;
	ask(rig, 1, DEVICE_WRITE, 0, 1000000, false);
	pass(rig, 300 * US);
	ask(rig, 2, DEVICE_FLUSH, 0, 0, false);
	ask(rig, 3, DEVICE_WRITE, MIB, 4096, false);
	ask(rig, 4, DEVICE_READ, MIB, 4096, false);
	pass_all(rig);
	/* 10 ms for the megabyte since it came, and the flush's own 500 us */
	assert_in_range(rig->done_ns[2], 10 * MS + 499 * US, 10 * MS + 501 * US);
	assert_int_equal(rig->done_ns[3], rig->done_ns[2] + 20 * US);
	assert_int_equal(rig->done_ns[4], 400 * US); /* reads go on */
	rig_destroy(rig);
}

static void one_flush_stands_for_all_that_come_while_another_is_under_way(void **state)
{
	struct rig *rig = rig_create(PLAIN CACHE);

	(void)state;
	ask(rig, 1, DEVICE_FLUSH, 0, 0, false);
	pass(rig, 100 * US);
	for (uint64_t tag = 2; tag < 10; tag++)
		ask(rig, tag, DEVICE_FLUSH, 0, 0, false);
	pass_all(rig);
	assert_int_equal(rig->done_ns[1], 500 * US);
	for (uint64_t tag = 2; tag < 10; tag++)
		assert_int_equal(rig->done_ns[tag], 1000 * US);
	rig_destroy(rig);
}

static void a_protected_cache_has_nothing_to_flush(void **state)
{
	struct rig *rig = rig_create(PLAIN "cache: 8MiB\ndrain: 100MB/s\ncache_volatile: no\n");

	(void)state;
	ask(rig, 1, DEVICE_WRITE, 0, 1000000, false);
	pass(rig, 300 * US);
	ask(rig, 2, DEVICE_FLUSH, 0, 0, false);
	pass_all(rig);
	assert_int_equal(rig->done_ns[2], 300 * US);
	rig_destroy(rig);
}

/* A flush that is alone waits for reads that wait for a die: those must go on, or all stand still. */
static void a_flush_that_is_alone_does_not_hold_up_what_it_waits_for(void **state)
{
	struct rig *rig =
		rig_create(PLAIN CACHE "flush_holds: everything\nprogram_time_min: "
				       "1ms\nprogram_time_max: 1ms\nprogram_size: 1MiB\n");

	(void)state;
	ask(rig, 1, DEVICE_WRITE, 0, 1000000, false);
	pass(rig, 263 * US); /* a die programs until 1 ms */
	for (uint64_t tag = 10; tag < 30; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 4096, false);
	ask(rig, 2, DEVICE_FLUSH, 0, 0, false);
	ask(rig, 3, DEVICE_READ, 0, 4096, false);
	pass_all(rig);
	assert_int_equal(rig->done, 23);
	/* It waited for those behind the die, and the last read for it. */
	assert_true(rig->done_ns[2] > MS + 500 * US);
	assert_true(rig->done_ns[3] > rig->done_ns[2]);
	rig_destroy(rig);
}

static void a_read_waits_behind_the_programs_of_its_die(void **state)
{
	struct rig *rig = rig_create(
		PLAIN CACHE "program_time_min: 5ms\nprogram_time_max: 5ms\nprogram_size: 1MiB\n");
	size_t behind = 0;

	(void)state;
	ask(rig, 0, DEVICE_WRITE, 0, 1000000, false); /* one die of two programs for 5 ms */
	pass(rig, MS);
	for (uint64_t tag = 1; tag <= 100; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 4096, false);
	pass_all(rig);
	for (uint64_t tag = 1; tag <= 100; tag++)
		behind += rig->done_ns[tag] > 5 * MS;
	/* Those of the other die are all done by then: 50 at 100 us, two at a time. */
	assert_in_range(behind, 30, 70);
	rig_destroy(rig);
}

/* ---- disk ---- */

#define DISK                                                                                       \
	"kind: disk\ncapacity: 1TB\nseek_min: 1ms\nseek_full: 11ms\nrevolution: 10ms\n"            \
	"outer_rate: 100MB/s\ninner_rate: 100MB/s\nlink_bandwidth: 500MB/s\n"

static void a_disk_seeks_turns_and_transfers(void **state)
{
	struct rig *rig = rig_create(DISK);

	(void)state;
	/* A quarter of the way: 1 + 10 * sqrt(1/4) = 6 ms; then at the sector's angle; then 10 us. */
	ask(rig, 1, DEVICE_READ, 250000000000, 1000, false);
	pass_all(rig);
	/* 250 GB at 100 MB/s are 2,500 s: a whole number of revolutions. */
	assert_in_range(rig->done_ns[1], 10 * MS + 9 * US, 10 * MS + 11 * US);
	rig_destroy(rig);
}

static void what_lies_in_a_row_is_read_without_a_gap(void **state)
{
	struct rig *rig = rig_create(DISK);

	(void)state;
	for (uint64_t tag = 1; tag <= 100; tag++)
		ask(rig, tag, DEVICE_READ, (tag - 1) * 100000, 100000, false);
	pass_all(rig);
	assert_in_range(rig->done_ns[100], 100 * MS - US, 100 * MS + US);
	/* Whoever comes a little later finds what was read ahead. */
	pass(rig, 100 * MS + 500 * US);
	ask(rig, 101, DEVICE_READ, 10000000, 100000, false);
	pass_all(rig);
	assert_in_range(rig->done_ns[101], 101 * MS - US, 101 * MS + US);
	rig_destroy(rig);
}

static void the_nearest_of_those_that_wait_goes_next(void **state)
{
	struct rig *queued = rig_create(DISK);
	struct rig *in_order = rig_create(DISK "ncq: 1\n");
	uint64_t seed = 1;

	(void)state;
	for (uint64_t tag = 1; tag <= 200; tag++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		ask(queued, tag, DEVICE_READ, (seed >> 33) % 244140625 * 4096 / 3, 4096, false);
		ask(in_order, tag, DEVICE_READ, (seed >> 33) % 244140625 * 4096 / 3, 4096, false);
	}
	pass_all(queued);
	pass_all(in_order);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(in_order->order[i], i + 1);
	/* Section E: up to about twice as many. */
	assert_true(queued->now_ns * 3 / 2 < in_order->now_ns);
	assert_true(queued->now_ns * 3 > in_order->now_ns);
	rig_destroy(queued);
	rig_destroy(in_order);
}

static void a_written_sector_has_to_come_round_again(void **state)
{
	struct rig *rig = rig_create(DISK "cache: 8MiB\nwrite_latency: 100us\n");

	(void)state;
	/* 8 KiB after 8 KiB, each with a flush, as a log does: a revolution each. */
	for (uint64_t tag = 0; tag < 20; tag += 2) {
		uint64_t since = rig->now_ns;

		ask(rig, tag, DEVICE_WRITE, tag * 4096, 8192, false);
		while (!rig->done_ns[tag])
			pass(rig, rig->now_ns + 10 * US);
		assert_in_range(rig->done_ns[tag] - since, 100 * US, 101 * US);
		ask(rig, tag + 1, DEVICE_FLUSH, 0, 0, false);
		pass_all(rig);
		if (tag)
			assert_in_range(rig->now_ns - since, 10 * MS - 100 * US,
					10 * MS + 200 * US);
	}
	rig_destroy(rig);
}

/* Reads go before writers in the background that wait for room in the cache, but not for ever. */
static void reads_pass_writers_that_nobody_waits_for(void **state)
{
	(void)state;
	for (int is_background = 0; is_background < 2; is_background++) {
		struct rig *rig = rig_create(DISK "cache: 1MiB\ncache_writes: 4\n");
		uint64_t before = 0;

		for (uint64_t tag = 100; tag < 200; tag++)
			ask(rig, tag, DEVICE_WRITE, tag * GIB, 4096, is_background);
		for (uint64_t tag = 1; tag <= 64; tag++)
			ask(rig, tag, DEVICE_READ, tag * 3 * GIB, 4096, false);
		pass_all(rig);
		/* How many reads are done before the fortieth write? */
		for (uint64_t i = 0, writes = 0; i < rig->done && writes < 40; i++) {
			writes += rig->order[i] >= 100;
			before += rig->order[i] < 100;
		}
		if (is_background)
			assert_in_range(before, 63, 64);
		else
			assert_in_range(before, 34, 38);
		rig_destroy(rig);
	}
}

static void disks_of_a_raid_work_side_by_side(void **state)
{
	struct rig *rig = rig_create(DISK "members: 4\nchunk: 100000\n");
	struct rig *one = rig_create(DISK);

	(void)state;
	ask(rig, 1, DEVICE_READ, 0, 400000, false);
	ask(one, 1, DEVICE_READ, 0, 400000, false);
	pass_all(rig);
	pass_all(one);
	assert_in_range(rig->done_ns[1], MS - US, MS + US);
	assert_in_range(one->done_ns[1], 4 * MS - US, 4 * MS + US);
	/* A flush is done when all of them are. */
	ask(rig, 2, DEVICE_FLUSH, 0, 0, false);
	pass_all(rig);
	assert_true(rig->done_ns[2] > 0);
	rig_destroy(rig);
	rig_destroy(one);
}

/* ---- volume ---- */

#define VOLUME                                                                                     \
	"kind: volume\nread_latency: 1ms\nwrite_latency: 1ms\niops: 1000\nbandwidth: 100MB/s\n"

static void a_volume_has_so_many_requests_a_second(void **state)
{
	struct rig *rig = rig_create(VOLUME);

	(void)state;
	for (uint64_t tag = 1; tag <= 100; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 4096, false);
	pass_all(rig);
	assert_int_equal(rig->done_ns[1], MS);
	assert_int_equal(rig->done_ns[100], 100 * MS);
	rig_destroy(rig);
}

static void what_lies_in_a_row_counts_as_one_until_256_kib(void **state)
{
	struct rig *rig = rig_create(VOLUME);

	(void)state;
	/* 512 KiB in pieces of 16 KiB: two tokens, so the bytes decide. */
	for (uint64_t tag = 1; tag <= 32; tag++)
		ask(rig, tag, DEVICE_READ, tag * 16 * KIB, 16 * KIB, false);
	pass_all(rig);
	assert_in_range(rig->done_ns[32], 6 * MS, 6 * MS + 200 * US);
	rig_destroy(rig);
}

static void unused_requests_are_kept_for_a_burst(void **state)
{
	struct rig *rig = rig_create(VOLUME "burst_requests: 50\n");

	(void)state;
	pass(rig, 10 * NS_PER_SECOND);
	for (uint64_t tag = 1; tag <= 100; tag++)
		ask(rig, tag, DEVICE_READ, tag * MIB, 4096, false);
	pass_all(rig);
	assert_in_range(rig->done_ns[40] - 10 * NS_PER_SECOND, MS, 3 * MS);
	assert_in_range(rig->done_ns[100] - 10 * NS_PER_SECOND, 49 * MS, 52 * MS);
	rig_destroy(rig);
}

/* ---- the lot ---- */

static void the_spread_is_lognormal_with_its_mean(void **state)
{
	struct spread *spread = malloc(sizeof(*spread));
	uint64_t sum = 0, squares = 0;

	(void)state;
	spread_init(spread, 100000, 500000);
	for (int i = 0; i < SPREAD_COUNT; i++) {
		uint64_t ns = spread->ns[i];

		sum += ns;
		squares += (ns - 100000) * (ns - 100000);
		assert_true(i == 0 || ns >= spread->ns[i - 1]);
	}
	assert_in_range(sum / SPREAD_COUNT, 99990, 100010);
	/* The median is the mean less e^(sigma^2/2), which is 1.1331; 97.725 % is two sigmas above. */
	assert_in_range(spread->ns[511], 87900, 88500);
	assert_in_range(spread->ns[1000], 236000, 243000);
	/* The deviation is sqrt(e^(sigma^2) - 1) of the mean, 53,294, but for the ends cut off. */
	assert_in_range(squares / SPREAD_COUNT, UINT64_C(51800) * 51800, UINT64_C(53400) * 53400);
	/* On every machine. */
	assert_int_equal(spread->ns[0], 16993);
	assert_int_equal(spread->ns[1023], 458537);
	spread_init(spread, 8900, 0);
	assert_int_equal(spread->ns[0], 8900);
	assert_int_equal(spread->ns[1023], 8900);
	free(spread);
}

/* ---- all that ship, at random ---- */

struct storm {
	uint64_t sum, done;
};

/*
 * Requests of all kinds at random times: each is done once, never before it came, in order of time;
 * asking at other moments than the next one changes nothing.
 */
static struct storm storm(const char *name, uint64_t seed, bool asks_often)
{
	enum { COUNT = 4000 };
	struct storm storm = {0};
	struct error error;
	struct device_profile *profile = device_profile_load(name, &error);
	struct device *device;
	struct random random;
	uint64_t *since = calloc(COUNT, sizeof(*since)), now_ns = 0, tags[3];
	bool *is_done = calloc(COUNT, sizeof(*is_done));

	assert_non_null(profile);
	device = device_create(profile, 64 * GIB, 3);
	random_init(&random, seed, 0);
	for (uint64_t begun = 0; storm.done < COUNT;) {
		uint64_t gap = random_below(&random, 3) ? 0 : random_below(&random, 3 * MS);
		uint64_t due_ns = begun < COUNT ? now_ns + gap : UINT64_MAX;

		while (device_next_ns(device) <= due_ns && device_next_ns(device) != UINT64_MAX) {
			uint64_t next_ns = device_next_ns(device);
			size_t count;

			assert_true(next_ns >= now_ns);
			if (asks_often && next_ns > now_ns + 1)
				assert_int_equal(
					device_advance(device, (now_ns + next_ns) / 2, tags, 3), 0);
			now_ns = next_ns;
			while ((count = device_advance(device, now_ns, tags, 3))) {
				for (size_t i = 0; i < count; i++) {
					assert_true(tags[i] < begun && !is_done[tags[i]]);
					assert_true(now_ns >= since[tags[i]]);
					is_done[tags[i]] = true;
					storm.done++;
					storm.sum = storm.sum * 31 + now_ns * 7 + tags[i];
				}
			}
		}
		if (begun < COUNT) {
			struct device_request request = {
				.op = (uint8_t)random_below(&random, 3),
				.tag = begun,
				.is_background = random_below(&random, 2),
			};

			now_ns = due_ns;
			if (request.op != DEVICE_FLUSH) {
				request.bytes = (random_below(&random, 32) + 1) * 4096;
				request.offset = random_below(&random, 16 * MIB - 32) * 4096;
			}
			since[begun++] = now_ns;
			device_submit(device, now_ns, &request);
		}
	}
	assert_int_equal(device_next_ns(device), UINT64_MAX);
	assert_true(device_busy_ns(device) <= now_ns);
	device_destroy(device);
	device_profile_free(profile);
	free(since);
	free(is_done);
	return storm;
}

static void every_request_is_done_once_and_always_at_the_same_time(void **state)
{
	const char *name, *summary;
	size_t i = 0;

	(void)state;
	for (; (name = device_profile_shipped(i, &summary)); i++) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct storm one = storm(name, seed, false);

			assert_int_equal(one.done, 4000);
			assert_int_equal(one.sum, storm(name, seed, true).sum);
		}
	}
	assert_true(i >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channels_work_side_by_side_and_the_rest_waits),
		cmocka_unit_test(what_somebody_waits_for_goes_first_but_not_for_ever),
		cmocka_unit_test(the_link_bounds_what_all_have_together),
		cmocka_unit_test(a_write_is_done_when_the_cache_has_it_until_that_is_full),
		cmocka_unit_test(a_cache_that_wants_idle_time_stays_full_while_somebody_writes),
		cmocka_unit_test(a_flush_waits_for_the_cache_and_writes_wait_for_it),
		cmocka_unit_test(one_flush_stands_for_all_that_come_while_another_is_under_way),
		cmocka_unit_test(a_protected_cache_has_nothing_to_flush),
		cmocka_unit_test(a_flush_that_is_alone_does_not_hold_up_what_it_waits_for),
		cmocka_unit_test(a_read_waits_behind_the_programs_of_its_die),
		cmocka_unit_test(a_disk_seeks_turns_and_transfers),
		cmocka_unit_test(what_lies_in_a_row_is_read_without_a_gap),
		cmocka_unit_test(the_nearest_of_those_that_wait_goes_next),
		cmocka_unit_test(a_written_sector_has_to_come_round_again),
		cmocka_unit_test(reads_pass_writers_that_nobody_waits_for),
		cmocka_unit_test(disks_of_a_raid_work_side_by_side),
		cmocka_unit_test(a_volume_has_so_many_requests_a_second),
		cmocka_unit_test(what_lies_in_a_row_counts_as_one_until_256_kib),
		cmocka_unit_test(unused_requests_are_kept_for_a_burst),
		cmocka_unit_test(the_spread_is_lognormal_with_its_mean),
		cmocka_unit_test(every_request_is_done_once_and_always_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
