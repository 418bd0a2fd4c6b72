/*
 * If this fails, a machine reads more or less than Linux does for the same requests: windows that
 * are too long, a stream taken for random reads, or the other way round.
 *
 * linux-caching.md 4 and E11 (linux-experiments.md). Decision by decision: test/trace.
 */
#include "cache_test.h"

/* A world where a file of 64 MiB is read; the bytes that the last read made the device read. */
static struct world *world_for(const char *policy, uint32_t window_pages)
{
	return world_create((struct world_options){.policy = policy,
						   .memory_mib = 256,
						   .readahead_pages = window_pages,
						   .device_io_pages = 320});
}

static uint64_t first_read(const char *policy, uint32_t window_pages, uint64_t offset,
			   uint64_t bytes)
{
	struct world *world = world_for(policy, window_pages);
	uint64_t fetched =
		do_read(world, file_open(world, file_make(world, 64 * MIB)), offset, bytes);

	world_destroy(world);
	return fetched / PAGE_BYTES;
}

/*
 * get_init_ra_size(): 1 -> 4, 2 -> 4, 4 -> 8, 8 -> 16, 16 -> 32 of 32 pages; what is asked for is
 * never less
 */
static void the_first_window_of_a_file_is_two_to_four_times_the_request(void **state)
{
	static const struct {
		uint64_t asked, window;
	} rows[] = {{1, 4},
		    {2, 4},
		    {3, 8},
		    {4, 8},
		    {5, 16},
		    {8, 16},
		    {9, 32},
		    {16, 32},
		    {17, 32},
		    /* All of it, and the marker on its way: the next window, too. */
		    {32, 64}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(first_read("linux-6.12," FRESH, 32, 0, rows[i].asked * PAGE_BYTES),
				 rows[i].window);
	/* A window of 1 MiB: 256 pages. */
	assert_int_equal(first_read("linux-6.12," FRESH, 256, 0, PAGE_BYTES), 4);
	assert_int_equal(first_read("linux-6.12," FRESH, 256, 0, 8 * PAGE_BYTES), 32);
	assert_int_equal(first_read("linux-6.12," FRESH, 256, 0, 64 * PAGE_BYTES), 128);
	assert_int_equal(first_read("linux-6.12," FRESH, 256, 0, 65 * PAGE_BYTES), 256);
}

static void a_read_in_the_middle_reads_what_it_asks_for(void **state)
{
	(void)state;
	for (size_t i = 0; policy_of_pages_at(i); i++) {
		char policy[64];

		snprintf(policy, sizeof(policy), "%s", policy_name(policy_of_pages_at(i)));
		assert_int_equal(first_read(policy, 32, MIB, PAGE_BYTES), 1);
		assert_int_equal(first_read(policy, 32, MIB, 8 * PAGE_BYTES), 8);
		assert_int_equal(first_read(policy, 32, MIB + 100, PAGE_BYTES), 2);
		assert_int_equal(first_read(policy, 32, MIB + 100, 10), 1);
	}
}

/* E11 */
static void the_next_read_after_one_in_the_middle_starts_a_stream(void **state)
{
	struct world *world = world_for("linux-6.12," FRESH, 32);
	uint32_t handle = file_open(world, file_make(world, 64 * MIB));

	(void)state;
	assert_int_equal(do_read(world, handle, MIB, PAGE_BYTES), PAGE_BYTES);
	assert_int_equal(do_read(world, handle, MIB + PAGE_BYTES, PAGE_BYTES), 4 * PAGE_BYTES);
	world_destroy(world);
}

static void advice_about_the_pattern(void **state)
{
	struct world *world = world_for("linux-6.12," FRESH, 32);
	uint32_t file = file_make(world, 64 * MIB), handle = file_open(world, file);

	(void)state;
	do_advise(world, handle, CACHE_ADVICE_SEQUENTIAL, 0, 0);
	assert_int_equal(do_read(world, handle, 0, PAGE_BYTES), 4 * PAGE_BYTES);
	/* Twice the window. */
	handle = file_open(world, file_make(world, 64 * MIB));
	do_advise(world, handle, CACHE_ADVICE_SEQUENTIAL, 0, 0);
	assert_int_equal(do_read(world, handle, 0, 33 * PAGE_BYTES), 64 * PAGE_BYTES);
	handle = file_open(world, file_make(world, 64 * MIB));
	do_advise(world, handle, CACHE_ADVICE_RANDOM, 0, 0);
	assert_int_equal(do_read(world, handle, 0, PAGE_BYTES), PAGE_BYTES);
	assert_int_equal(do_read(world, handle, PAGE_BYTES, 40 * PAGE_BYTES), 40 * PAGE_BYTES);
	/* Another descriptor of the same file has not been advised. */
	handle = file_open(world, 2);
	assert_int_equal(do_read(world, handle, 0, 33 * PAGE_BYTES), 0);
	world_destroy(world);
}

static void willneed_reads_one_window_or_one_device_request(void **state)
{
	struct world *world = world_for(NULL, 32);
	uint32_t file = file_make(world, 64 * MIB), handle = file_open(world, file);

	(void)state;
	/* E11: asked for 64 MiB, got 1.25. */
	assert_int_equal(do_advise(world, handle, CACHE_ADVICE_WILLNEED, 0, 64 * MIB),
			 320 * PAGE_BYTES);
	assert_int_equal(do_advise(world, handle, CACHE_ADVICE_WILLNEED, 0, 64 * MIB), 0);
	assert_int_equal(do_advise(world, handle, CACHE_ADVICE_WILLNEED, 4 * MIB, 8192), 8192);
	/* Nothing of it counts as asked for. */
	assert_int_equal(count(world, readahead_pages), 322);
	assert_int_equal(count(world, page_misses), 0);
	assert_int_equal(do_advise(world, handle, CACHE_ADVICE_WILLNEED, 100 * MIB, 0), 0);
	world_destroy(world);

	world = world_for("linux-4.7", 32);
	handle = file_open(world, file_make(world, 64 * MIB));
	assert_int_equal(do_advise(world, handle, CACHE_ADVICE_WILLNEED, 0, 64 * MIB),
			 32 * PAGE_BYTES);
	world_destroy(world);
}

/*
 * readahead_io_cap: a large request may be one window, up to what the device takes at once (4.10)
 */
static void a_large_request_is_read_in_the_devices_pieces(void **state)
{
	(void)state;
	assert_int_equal(first_read("linux-6.18,readahead_io_cap=yes", 32, MIB, 64 * PAGE_BYTES),
			 64);
	for (int yes = 0; yes < 2; yes++) {
		struct world *world = world_for(yes ? "linux-6.12,readahead_io_cap=yes"
						    : "linux-6.12,readahead_io_cap=no",
						32);
		uint32_t file = file_make(world, 64 * MIB), handle = file_open(world, file);

		do_read(world, handle, 0, 256 * PAGE_BYTES);
		assert_int_equal(world->cache->opens.at[handle].size, yes ? 256 : 32);
		world_destroy(world);
	}
}

/* However it is cut up, a stream reads the file once. */
static void a_stream_reads_every_page_once_and_nothing_else(void **state)
{
	static const uint64_t steps[] = {512,   4096,   6000,   8192,   16384,
					 65536, 131072, 200000, 1 << 20};

	(void)state;
	for (size_t i = 0; policy_of_pages_at(i); i++) {
		/* All pairs of a policy and a step would take long: each meets a third of the others. */
		for (size_t j = i % 3; j < sizeof(steps) / sizeof(steps[0]); j += 3) {
			const struct cache_filesystem *systems[] = {&plain, &late, &early};

			for (size_t k = 0; k < 3; k++) {
				struct world *world = world_create((struct world_options){
					.policy = policy_name(policy_of_pages_at(i)),
					.fs = systems[k],
					.device_io_pages = 320});
				uint32_t file = file_make(world, 8 * MIB + 5000),
					 handle = file_open(world, file);

				assert_int_equal(
					do_read_all(world, handle, 0, 8 * MIB + 5000, steps[j]),
					8 * MIB + 8192);
				assert_int_equal(cache_resident_pages(world->cache, file) >= 2050,
						 1);
				world_destroy(world);
			}
		}
	}
}

/* "h > r": so much that is cached right before a miss looks like a stream; 4.2 */
static void cached_pages_before_a_miss_look_like_a_stream(void **state)
{
	(void)state;
	for (uint64_t before = 0; before < 40; before++) {
		struct world *world = world_for("linux-6.12," FRESH, 32);
		uint32_t file = file_make(world, 64 * MIB), random = open_random(world, file),
			 handle = file_open(world, file);
		uint64_t fetched;

		if (before)
			do_read(world, random, MIB - before * PAGE_BYTES, before * PAGE_BYTES);
		do_read(world, handle, 32 * MIB, PAGE_BYTES); /* somewhere else */
		fetched = do_read(world, handle, MIB, 2 * PAGE_BYTES) / PAGE_BYTES;
		assert_int_equal(fetched, before <= 2 ? 2 : before + 2 < 32 ? before + 2 : 32);
		world_destroy(world);
	}
}

static void a_run_from_the_start_of_the_file_counts_double(void **state)
{
	struct world *world = world_for("linux-6.12," FRESH, 32);
	uint32_t file = file_make(world, 64 * MIB), random = open_random(world, file),
		 handle = file_open(world, file);

	(void)state;
	do_read(world, random, 0, 6 * PAGE_BYTES);
	do_read(world, handle, 32 * MIB, PAGE_BYTES);
	assert_int_equal(do_read(world, handle, 6 * PAGE_BYTES, 2 * PAGE_BYTES), 14 * PAGE_BYTES);
	world_destroy(world);
}

static void windows_skip_what_is_there_and_end_at_the_end_of_the_file(void **state)
{
	struct world *world = world_for("linux-6.12," FRESH, 32);
	uint32_t file = file_make(world, 10 * PAGE_BYTES + 1), random = open_random(world, file),
		 handle = file_open(world, file);

	(void)state;
	do_read(world, random, 2 * PAGE_BYTES, PAGE_BYTES);
	assert_int_equal(do_read(world, handle, 0, 5 * PAGE_BYTES), 10 * PAGE_BYTES);
	assert_int_equal(world->fetch_runs, 2);
	assert_int_equal(cache_resident_pages(world->cache, file), 11);
	/* Beyond the end there is nothing, and nothing happens. */
	assert_int_equal(do_read(world, handle, 11 * PAGE_BYTES, MIB), 0);
	assert_int_equal(do_read(world, handle, UINT64_C(1) << 62, MIB), 0);
	assert_int_equal(do_read(world, handle, 0, 0), 0);
	assert_int_equal(count(world, page_accesses), 6);
	world_destroy(world);
}

static void no_window_means_one_page_at_a_time(void **state)
{
	struct world *world = world_create((struct world_options){.readahead_pages = UINT32_MAX});
	uint32_t file = file_make(world, 64 * MIB), handle = file_open(world, file);

	(void)state;
	assert_int_equal(do_read(world, handle, 0, 20 * PAGE_BYTES), 20 * PAGE_BYTES);
	assert_int_equal(do_read(world, handle, 20 * PAGE_BYTES, PAGE_BYTES), PAGE_BYTES);
	assert_int_equal(do_touch(world, handle, 30 * PAGE_BYTES, 1), PAGE_BYTES);
	assert_int_equal(count(world, readahead_pages), 0);
	world_destroy(world);
}

/* ---- folios ---- */

static uint32_t largest_order(struct world *world, uint32_t file, uint64_t pages)
{
	uint32_t largest = 0;

	for (uint64_t i = 0; i < pages; i++) {
		const struct page *page = page_at(world, file, i);

		if (page && page_order(page) > largest)
			largest = page_order(page);
	}
	return largest;
}

static void folios_of_a_stream_grow_to_the_window_where_the_file_system_has_them(void **state)
{
	static const struct {
		const char *policy;
		const struct cache_filesystem *fs;
		uint32_t order;
	} rows[] = {
		{"linux-6.18", &late, 5},
		{"linux-6.18", &early, 5},
		{"linux-6.18", &plain, 0},
		{"linux-6.12", &late, 0},
		{"linux-6.12", &early, 5},
		{"linux-5.15", &early, 0},
		{"linux-6.1", &early, 5},
		{"linux-6.18,folios_read=none", &early, 0},
		{"linux-6.18,folios_read=xfs", &late, 0},
		{"linux-6.12,folios_read=all", &late, 5},
		{"linux-6.18,folio_order=marker", &late, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *world = world_create(
			(struct world_options){.policy = rows[i].policy, .fs = rows[i].fs});
		uint32_t file = file_make(world, 8 * MIB), handle = file_open(world, file);

		do_read_all(world, handle, 0, 8 * MIB, 65536);
		assert_int_equal(largest_order(world, file, 2048), rows[i].order);
		world_destroy(world);
	}
}

/* ---- mappings ---- */

static void a_fault_reads_a_window_around_it(void **state)
{
	struct world *world = world_for(NULL, 32);
	uint32_t file = file_make(world, 64 * MIB), handle = file_open(world, file);

	(void)state;
	assert_int_equal(do_touch(world, handle, MIB, 1), 32 * PAGE_BYTES);
	/* One page was asked for, and missed; those before it are read ahead like those behind. */
	assert_int_equal(counted(world)->page_misses, 1);
	assert_int_equal(counted(world)->readahead_pages, 31);
	for (uint64_t page = 256 - 17; page < 256 + 17; page++)
		assert_int_equal(is_resident(world, file, page),
				 page >= 256 - 16 && page < 256 + 16);
	/* At the start of the file it cannot begin before it. */
	assert_int_equal(do_touch(world, handle, PAGE_BYTES, 1), 32 * PAGE_BYTES);
	world_destroy(world);
}

static void after_a_hundred_misses_in_vain_faults_read_single_pages(void **state)
{
	struct world *world = world_for("linux-6.18," FRESH, 32);
	uint32_t file = file_make(world, 1024 * MIB), handle = open_random(world, file);
	uint64_t single = 0;

	(void)state;
	/*
	 * Nothing else of what is around is ever touched. Fault-around counts what it finds, so
	 * take it away.
	 */
	for (uint64_t i = 0; i < 300; i++)
		single += do_touch(world, handle, i * 2 * MIB, 1) == PAGE_BYTES;
	/* Each fault that reads around finds neighbours and so forgives itself: it never ends. */
	assert_int_equal(single, 0);
	world_destroy(world);
}

/* Wherever it stands in the list: whoever faults holds the page, and reading ahead cannot take it. */
static void a_fault_on_a_marker_keeps_its_page(void **state)
{
	(void)state;
	for (uint64_t between = 600; between < 1100; between++) {
		struct world *world = world_create((struct world_options){.memory_mib = 4});
		uint32_t file = file_make(world, 16 * MIB), handle = file_open(world, file);
		uint32_t stream = open_random(world, file_make(world, 16 * MIB));

		do_read(world, handle, 0, PAGE_BYTES); /* page 1 carries the marker */
		do_read_all(world, stream, 0, between * PAGE_BYTES, PAGE_BYTES);
		do_touch(world, handle, PAGE_BYTES, 1);
		assert_int_equal(pages_with(world, file, 1, 1, PAGE_MAPPED | PAGE_YOUNG), 1);
		world_destroy(world);
	}
}

static void reading_positions(void **state)
{
	/*
	 * read_position=step (5.11 to 6.5): a read that goes on in steps is its own predecessor, so
	 * the miss in its middle goes on with a stream.
	 */
	uint64_t fetched[2];

	(void)state;
	for (int call = 0; call < 2; call++) {
		struct world *world = world_for(call ? "linux-6.12," FRESH ",read_position=call"
						     : "linux-6.12," FRESH ",read_position=step",
						32);
		uint32_t file = file_make(world, 64 * MIB), random = open_random(world, file),
			 handle = file_open(world, file);

		/* The first two pages of three are there. */
		do_read(world, random, MIB, 2 * PAGE_BYTES);
		do_read(world, handle, 32 * MIB, PAGE_BYTES);
		fetched[call] = do_read(world, handle, MIB, 4 * PAGE_BYTES) / PAGE_BYTES;
		world_destroy(world);
	}
	assert_int_equal(fetched[1], 2);
	assert_int_equal(fetched[0], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_window_of_a_file_is_two_to_four_times_the_request),
		cmocka_unit_test(a_read_in_the_middle_reads_what_it_asks_for),
		cmocka_unit_test(the_next_read_after_one_in_the_middle_starts_a_stream),
		cmocka_unit_test(advice_about_the_pattern),
		cmocka_unit_test(willneed_reads_one_window_or_one_device_request),
		cmocka_unit_test(a_large_request_is_read_in_the_devices_pieces),
		cmocka_unit_test(a_stream_reads_every_page_once_and_nothing_else),
		cmocka_unit_test(cached_pages_before_a_miss_look_like_a_stream),
		cmocka_unit_test(a_run_from_the_start_of_the_file_counts_double),
		cmocka_unit_test(windows_skip_what_is_there_and_end_at_the_end_of_the_file),
		cmocka_unit_test(no_window_means_one_page_at_a_time),
		cmocka_unit_test(
			folios_of_a_stream_grow_to_the_window_where_the_file_system_has_them),
		cmocka_unit_test(a_fault_reads_a_window_around_it),
		cmocka_unit_test(after_a_hundred_misses_in_vain_faults_read_single_pages),
		cmocka_unit_test(a_fault_on_a_marker_keeps_its_page),
		cmocka_unit_test(reading_positions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
