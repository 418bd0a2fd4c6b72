/*
 * If this fails, the contract between the core and who carries its plans out is broken: a page is
 * used before it has been read, read twice, thrown away while it is on its way, or a plan that is
 * full loses what did not fit.
 *
 * Both machines speak it (the model completes at once, a file system in user space later), so it is
 * tested here once.
 */
#include "cache_test.h"

struct flight {
	struct world *world;
	uint32_t file, handle;
};

static struct flight flight_create(struct world_options options)
{
	struct flight flight;

	options.later = true;
	flight.world = world_create(options);
	flight.file = file_make(flight.world, 64 * MIB);
	flight.handle = open_random(flight.world, flight.file);
	return flight;
}

/* One call; what it planned stays in the plan. */
static bool ask(struct flight *flight, uint32_t handle, uint64_t offset, uint64_t bytes)
{
	return cache_read(flight->world->cache, handle, &offset, &bytes, &flight->world->plan);
}

static void fetched_all(struct flight *flight)
{
	for (uint32_t i = 0; i < flight->world->plan.fetch_count; i++)
		cache_fetched(flight->world->cache, &flight->world->plan.fetch[i]);
	flight->world->plan.fetch_count = 0;
}

static void written_all(struct flight *flight)
{
	for (uint32_t i = 0; i < flight->world->plan.write_count; i++)
		cache_written(flight->world->cache, &flight->world->plan.write[i]);
	flight->world->plan.write_count = 0;
}

static void a_read_waits_for_the_page_that_it_asked_for(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	struct cache_plan *plan = &flight.world->plan;

	(void)state;
	assert_false(ask(&flight, flight.handle, 0, 8192));
	assert_int_equal(plan->fetch_count, 1);
	assert_int_equal(plan->fetch[0].file, flight.file);
	assert_int_equal(plan->fetch[0].index, 0);
	assert_int_equal(plan->fetch[0].pages, 2);
	/* Asked again, it waits, and plans nothing more. */
	assert_false(ask(&flight, flight.handle, 0, 8192));
	assert_int_equal(plan->fetch_count, 1);
	assert_int_equal(count(flight.world, page_accesses), 0);
	fetched_all(&flight);
	assert_true(ask(&flight, flight.handle, 0, 8192));
	assert_int_equal(count(flight.world, page_accesses), 2);
	assert_int_equal(count(flight.world, read_bytes), 8192);
	world_destroy(flight.world);
}

static void two_readers_meeting_on_one_missing_page_read_it_once(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	uint32_t other = open_random(flight.world, flight.file);

	(void)state;
	assert_false(ask(&flight, flight.handle, 0, 4096));
	assert_false(ask(&flight, other, 0, 8192));
	/* The second one may not plan beyond the page that it waits for. */
	assert_int_equal(flight.world->plan.fetch_count, 1);
	fetched_all(&flight);
	assert_true(ask(&flight, flight.handle, 0, 4096));
	assert_false(ask(&flight, other, 0, 8192));
	assert_int_equal(flight.world->plan.fetch_count, 1);
	assert_int_equal(flight.world->plan.fetch[0].index, 1);
	fetched_all(&flight);
	assert_true(ask(&flight, other, 0, 8192));
	assert_int_equal(flight.world->plan.fetch_bytes, 8192);
	/* Both used it. */
	assert_true(is_active(flight.world, flight.file, 0));
	world_destroy(flight.world);
}

static void a_read_goes_as_far_as_pages_are_there(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	uint64_t offset = 0, bytes = 16384;

	(void)state;
	assert_false(ask(&flight, flight.handle, 0, 8192));
	fetched_all(&flight);
	assert_false(cache_read(flight.world->cache, flight.handle, &offset, &bytes,
				&flight.world->plan));
	assert_int_equal(offset, 8192);
	assert_int_equal(bytes, 8192);
	fetched_all(&flight);
	assert_true(cache_read(flight.world->cache, flight.handle, &offset, &bytes,
			       &flight.world->plan));
	assert_int_equal(offset, 16384);
	assert_int_equal(bytes, 0);
	world_destroy(flight.world);
}

static void pages_in_flight_are_out_of_reclaims_reach(void **state)
{
	struct flight flight = flight_create((struct world_options){.memory_mib = 4});
	uint32_t stream = file_make(flight.world, 64 * MIB),
		 reader = open_random(flight.world, stream);

	(void)state;
	assert_false(ask(&flight, flight.handle, 0, 2 * MIB));
	flight.world->plan.fetch_count = 0; /* the device is slow */
	for (uint64_t page = 0; page < 4096; page++) {
		struct cache_run run = {.file = stream, .index = page, .pages = 1};

		if (!ask(&flight, reader, page * PAGE_BYTES, PAGE_BYTES)) {
			cache_fetched(flight.world->cache, &run);
			flight.world->plan.fetch_count = 0;
			assert_true(ask(&flight, reader, page * PAGE_BYTES, PAGE_BYTES));
		}
	}
	assert_int_equal(cache_resident_pages(flight.world->cache, flight.file), 32);
	assert_int_equal(pages_with(flight.world, flight.file, 0, 32, PAGE_LOCKED), 32);
	assert_true(cache_in_memory(flight.world->cache));
	world_destroy(flight.world);
}

static void a_file_that_dies_takes_what_is_on_its_way_along(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	uint32_t name = cache_name_add(flight.world->cache, 0, 0, 4),
		 file = file_make(flight.world, MIB), handle;
	struct cache_run run;

	(void)state;
	cache_name_get(flight.world->cache, name);
	cache_name_link(flight.world->cache, name, file);
	handle = open_random(flight.world, file);
	assert_false(ask(&flight, handle, 0, 65536));
	run = flight.world->plan.fetch[0];
	cache_name_unlink(flight.world->cache, name);
	cache_name_put(flight.world->cache, name);
	cache_close(flight.world->cache, handle);
	assert_int_equal(cache_resident_pages(flight.world->cache, file), 0);
	cache_check(flight.world->cache);
	/* The device does not know, and says so later. */
	cache_fetched(flight.world->cache, &run);
	cache_written(flight.world->cache, &run);
	world_destroy(flight.world);
}

static void a_file_that_is_cut_takes_what_is_on_its_way_along(void **state)
{
	struct flight flight = flight_create((struct world_options){0});

	(void)state;
	assert_false(ask(&flight, flight.handle, 0, 65536));
	cache_truncate(flight.world->cache, flight.file, 8192);
	assert_int_equal(cache_resident_pages(flight.world->cache, flight.file), 2);
	cache_check(flight.world->cache);
	fetched_all(&flight);
	assert_true(ask(&flight, flight.handle, 0, 65536));
	world_destroy(flight.world);
}

static void dontneed_leaves_what_is_being_read_and_what_is_being_written(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	struct world *world = flight.world;
	uint64_t offset = 0, bytes = 65536;

	(void)state;
	assert_false(ask(&flight, flight.handle, 0, 65536));
	do_advise(world, flight.handle, CACHE_ADVICE_DONTNEED, 0, 0);
	assert_int_equal(cache_resident_pages(world->cache, flight.file), 16);
	for (uint64_t page = 0; page < 16; page++)
		cache_fetched(world->cache,
			      &(struct cache_run){.file = flight.file, .index = page, .pages = 1});
	assert_true(cache_write(world->cache, flight.handle, &offset, &bytes, &world->plan));
	/*
	 * E11: at once nothing is dropped, since its writing was only just begun; when it is done,
	 * all is.
	 */
	offset = bytes = 0;
	assert_true(cache_advise(world->cache, flight.handle, CACHE_ADVICE_DONTNEED, &offset,
				 &bytes, &world->plan));
	assert_int_equal(world->plan.write_bytes, 65536);
	assert_int_equal(cache_resident_pages(world->cache, flight.file), 16);
	written_all(&flight);
	do_advise(world, flight.handle, CACHE_ADVICE_DONTNEED, 0, 0);
	assert_int_equal(cache_resident_pages(world->cache, flight.file), 0);
	world_destroy(world);
}

static void a_page_dirtied_again_while_it_is_written_stays_dirty(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	struct world *world = flight.world;
	uint64_t offset = 0, bytes = 8192;

	(void)state;
	assert_true(cache_write(world->cache, flight.handle, &offset, &bytes, &world->plan));
	assert_true(cache_sync_file(world->cache, flight.file, &world->plan));
	assert_int_equal(world->plan.write_bytes, 8192);
	offset = 0;
	bytes = 4096;
	assert_true(cache_write(world->cache, flight.handle, &offset, &bytes, &world->plan));
	written_all(&flight);
	assert_int_equal(pages_with(world, flight.file, 0, 2, PAGE_WRITEBACK), 0);
	assert_int_equal(count(world, dirty_pages), 1);
	assert_true(cache_sync(world->cache, &world->plan));
	assert_int_equal(world->plan.write_bytes, 12288);
	written_all(&flight);
	world_destroy(world);
}

static void a_write_waits_for_a_page_that_is_being_read(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	uint64_t offset = 0, bytes = 8192;

	(void)state;
	assert_false(ask(&flight, flight.handle, 4096, 4096));
	assert_false(cache_write(flight.world->cache, flight.handle, &offset, &bytes,
				 &flight.world->plan));
	assert_int_equal(offset, 4096);
	fetched_all(&flight);
	assert_true(cache_write(flight.world->cache, flight.handle, &offset, &bytes,
				&flight.world->plan));
	world_destroy(flight.world);
}

static void a_fault_waits_too_and_maps_nothing_before(void **state)
{
	struct flight flight = flight_create((struct world_options){0});
	struct world *world = flight.world;
	uint64_t offset = 8192, bytes = 1;

	(void)state;
	assert_false(
		cache_touch(world->cache, flight.handle, false, &offset, &bytes, &world->plan));
	assert_int_equal(pages_with(world, flight.file, 0, 64, PAGE_MAPPED), 0);
	fetched_all(&flight);
	assert_true(cache_touch(world->cache, flight.handle, false, &offset, &bytes, &world->plan));
	assert_true(pages_with(world, flight.file, 2, 1, PAGE_MAPPED) == 1);
	world_destroy(world);
}

/* ---- a full plan ---- */

/* Every second page of a stretch is there, so that each missing one is a run of its own. */
static void make_gaps(struct world *world, uint32_t handle, uint64_t pages)
{
	for (uint64_t page = 0; page < pages; page += 2)
		do_read(world, handle, page * PAGE_BYTES, PAGE_BYTES);
}

static void a_full_plan_ends_the_call_and_the_next_goes_on(void **state)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 256, .readahead_pages = 4096});
	uint32_t file = file_make(world, 128 * MIB), random = open_random(world, file),
		 handle = file_open(world, file);
	uint64_t offset = 0, bytes = 128 * MIB, fetched = 0, rounds = 0;

	(void)state;
	make_gaps(world, random, 32768);
	memset(&world->plan, 0, sizeof(world->plan));
	for (bool done = false; !done; rounds++) {
		uint64_t before = offset;

		done = cache_read(world->cache, handle, &offset, &bytes, &world->plan);
		assert_true(world->plan.fetch_count <= CACHE_PLAN_RUNS);
		assert_true(done || offset > before);
		for (uint32_t i = 0; i < world->plan.fetch_count; i++)
			fetched += world->plan.fetch[i].pages;
		world->plan.fetch_count = 0;
	}
	assert_true(rounds > 2);
	assert_int_equal(fetched, 16384);
	assert_int_equal(offset, 128 * MIB);
	world_destroy(world);
}

static void calls_leave_a_plan_alone_that_somebody_filled_before(void **state)
{
	static struct cache_plan before;
	struct world *world =
		world_create((struct world_options){.memory_mib = 64, .device_io_pages = 4096});
	uint32_t file = file_make(world, 64 * MIB), random = open_random(world, file),
		 handle = file_open(world, file);
	uint64_t offset, bytes;

	(void)state;
	make_gaps(world, random, 8192);
	do_write(world, random, 32 * MIB, 4096);
	world->plan.fetch_count = CACHE_PLAN_RUNS - 4;
	world->plan.write_count = CACHE_PLAN_RUNS - 4;
	before = world->plan;
	offset = 4096, bytes = 4096;
	assert_false(cache_read(world->cache, handle, &offset, &bytes, &world->plan));
	offset = 4100, bytes = 10;
	assert_false(cache_write(world->cache, handle, &offset, &bytes, &world->plan));
	offset = 4096, bytes = 4096;
	assert_false(cache_touch(world->cache, handle, false, &offset, &bytes, &world->plan));
	offset = 0, bytes = 16 * MIB;
	assert_false(cache_advise(world->cache, handle, CACHE_ADVICE_WILLNEED, &offset, &bytes,
				  &world->plan));
	offset = 0, bytes = 0;
	assert_false(cache_advise(world->cache, handle, CACHE_ADVICE_DONTNEED, &offset, &bytes,
				  &world->plan));
	assert_false(cache_sync_file(world->cache, file, &world->plan));
	assert_false(cache_sync(world->cache, &world->plan));
	cache_clock(world->cache, 100 * NS_PER_SECOND, &world->plan);
	assert_memory_equal(&before, &world->plan, sizeof(before));
	/* With room, all of them do. */
	world->plan.fetch_count = world->plan.write_count = 0;
	offset = 0, bytes = 16 * MIB;
	assert_true(cache_advise(world->cache, handle, CACHE_ADVICE_WILLNEED, &offset, &bytes,
				 &world->plan));
	assert_int_equal(world->plan.fetch_count, 2048);
	plan_clear(world);
	assert_true(cache_sync(world->cache, &world->plan));
	assert_int_equal(world->plan.write_count, 1);
	plan_clear(world);
	world_destroy(world);
}

static void a_faulting_reader_meets_a_full_plan_at_a_marker_too(void **state)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 64, .readahead_pages = 4096});
	uint32_t file = file_make(world, 64 * MIB), random = open_random(world, file),
		 handle = file_open(world, file);
	uint64_t offset = 0, bytes = 4096;
	uint32_t marked = 0;

	(void)state;
	make_gaps(world, random, 16384);
	do_read(world, handle, PAGE_BYTES, PAGE_BYTES);
	do_read(world, handle, 0, PAGE_BYTES);
	while (marked < 16384 && !pages_with(world, file, marked, 1, PAGE_MARKER))
		marked++;
	if (marked == 16384)
		do_touch(world, handle, MIB, 1);
	for (marked = 0; marked < 16384 && !pages_with(world, file, marked, 1, PAGE_MARKER);)
		marked++;
	assert_true(marked < 16384);
	world->plan.fetch_count = CACHE_PLAN_RUNS - 4;
	offset = marked * PAGE_BYTES;
	assert_false(cache_touch(world->cache, handle, true, &offset, &bytes, &world->plan));
	assert_int_equal(world->plan.fetch_count, CACHE_PLAN_RUNS - 4);
	plan_clear(world);
	world_destroy(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_waits_for_the_page_that_it_asked_for),
		cmocka_unit_test(two_readers_meeting_on_one_missing_page_read_it_once),
		cmocka_unit_test(a_read_goes_as_far_as_pages_are_there),
		cmocka_unit_test(pages_in_flight_are_out_of_reclaims_reach),
		cmocka_unit_test(a_file_that_dies_takes_what_is_on_its_way_along),
		cmocka_unit_test(a_file_that_is_cut_takes_what_is_on_its_way_along),
		cmocka_unit_test(dontneed_leaves_what_is_being_read_and_what_is_being_written),
		cmocka_unit_test(a_page_dirtied_again_while_it_is_written_stays_dirty),
		cmocka_unit_test(a_write_waits_for_a_page_that_is_being_read),
		cmocka_unit_test(a_fault_waits_too_and_maps_nothing_before),
		cmocka_unit_test(a_full_plan_ends_the_call_and_the_next_goes_on),
		cmocka_unit_test(calls_leave_a_plan_alone_that_somebody_filled_before),
		cmocka_unit_test(a_faulting_reader_meets_a_full_plan_at_a_marker_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
