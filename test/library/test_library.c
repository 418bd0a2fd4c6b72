/*
 * If this fails, a program that embeds the core reads pages that have not arrived, loses pages that it is still writing, waits for ever, or is told wrong numbers.
 */
#include "library/library_test.h"

#include <stdlib.h>
#include <string.h>

#ifdef REFAULT_CHECK
enum { POLICY_STEP = 3 };
#else
enum { POLICY_STEP = 1 };
#endif

static struct refault_plan *plan; /* of whoever does I/O at once */

static int setup(void **state)
{
	(void)state;
	plan = refault_plan_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	refault_plan_destroy(plan);
	refault_plan_destroy(NULL);
	return 0;
}

/* ---- reads and counters ---- */

static void what_is_read_twice_is_fetched_once(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, 4 * MIB + 1, 0), handle = refault_open(cache, file);
	struct refault_counters counters;

	(void)state;
	assert_int_equal(refault_handle_file(cache, handle), file);
	assert_int_equal(read_all(cache, plan, handle, 0, 8 * MIB), 1025);
	assert_int_equal(read_all(cache, plan, handle, 0, 8 * MIB), 0);
	assert_int_equal(read_all(cache, plan, handle, 9 * MIB, UINT64_MAX - 9 * MIB),
			 0); /* behind the end */
	assert_int_equal(refault_resident_pages(cache, file), 1025);
	counters = counters_of(cache, 1);
	assert_int_equal(counters.page_accesses, 2 * 1025);
	assert_int_equal(counters.read_bytes, 1025 * PAGE);
	assert_int_equal(counters.reread_bytes, 0);
	assert_int_equal(counters.page_misses + counters.readahead_pages, 1025);
	assert_int_equal(counters.active_file_pages + counters.inactive_file_pages, 1025);
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void who_evicted_whom_is_counted(void **state)
{
	struct refault_cache *cache = cache_of(8, "lru", REFAULT_BY_CALLER);
	uint32_t victim = refault_open(cache, refault_file_add(cache, 4 * MIB, 0));
	uint32_t evictor = refault_open(cache, refault_file_add(cache, 16 * MIB, 0));
	uint64_t offset = 0, bytes = 16 * MIB;
	struct refault_counters all, first, second;

	(void)state;
	read_all(cache, plan, victim, 0, 4 * MIB);
	refault_operation(cache, 2, 0, plan);
	while (!refault_read(cache, evictor, &offset, &bytes, plan))
		plan_complete(cache, plan);
	plan_complete(cache, plan);
	assert_int_equal(read_all(cache, plan, victim, 0, 4 * MIB), 1024);
	assert_int_equal(refault_blame(cache, 1, 2), 1024);
	assert_int_equal(refault_blame(cache, 2, 1), 0);
	assert_int_equal(refault_stream_count(cache), 3);
	all = counters_of(cache, 0);
	first = counters_of(cache, 1);
	second = counters_of(cache, 2);
	assert_int_equal(first.reread_bytes, 4 * MIB);
	assert_int_equal(all.read_bytes, first.read_bytes + second.read_bytes);
	assert_int_equal(all.evictions, first.evictions + second.evictions);
	assert_int_equal(counters_of(cache, 77).read_bytes, 0); /* nobody yet */
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void a_caller_of_another_version_gets_the_counters_it_knows(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_AT_ONCE);
	uint32_t handle = refault_open(cache, refault_file_add(cache, MIB, 0));
	struct {
		struct refault_counters counters;
		uint64_t of_the_future;
	} more;
	uint64_t two[3] = {1, 2, 3};

	(void)state;
	read_all(cache, plan, handle, 0, MIB);
	refault_counters_read(cache, 0, (struct refault_counters *)two, 2 * sizeof(two[0]));
	assert_int_equal(two[0], MIB);
	assert_int_equal(two[1], 0);
	assert_int_equal(two[2], 3);
	memset(&more, 1, sizeof(more));
	refault_counters_read(cache, 0, &more.counters, sizeof(more));
	assert_int_equal(more.counters.read_bytes, MIB);
	assert_int_equal(more.of_the_future, 0);
	refault_cache_destroy(cache);
}

/* ---- in flight ---- */

static void a_page_in_flight_is_waited_for_by_all(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, MIB, 0);
	uint32_t first = refault_open(cache, file), second = refault_open(cache, file);
	struct refault_plan *theirs = refault_plan_create();
	uint64_t offset = 0, bytes = PAGE, their_offset = 100, their_bytes = 50;

	(void)state;
	assert_false(refault_read(cache, first, &offset, &bytes, plan));
	assert_int_equal(offset, 0);
	assert_int_equal(bytes, PAGE);
	assert_int_equal(plan->fetch_count, 1);
	assert_int_equal(plan->fetch[0].file, file);
	assert_int_equal(plan->fetch[0].index, 0);
	assert_int_equal(plan->fetch_bytes, (uint64_t)plan->fetch[0].pages * PAGE);
	/* Nobody is told to read it a second time, however often he asks. */
	for (int i = 0; i < 3; i++) {
		assert_false(refault_read(cache, second, &their_offset, &their_bytes, theirs));
		assert_int_equal(theirs->fetch_count + theirs->write_count, 0);
		assert_int_equal(their_offset, 100);
	}
	assert_int_equal(plan->fetch_count, 1); /* the first one's plan is still his */
	assert_false(refault_write(cache, second, &their_offset, &their_bytes, theirs));
	plan_complete(cache, plan);
	assert_true(refault_read(cache, first, &offset, &bytes, plan));
	assert_int_equal(offset, PAGE);
	assert_true(refault_read(cache, second, &their_offset, &their_bytes, theirs));
	assert_int_equal(their_offset, 150);
	refault_plan_destroy(theirs);
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void a_run_may_arrive_in_parts_and_in_any_order(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t handle = refault_open(cache, refault_file_add(cache, MIB, 0));
	uint64_t offset = 0, bytes = 2 * PAGE;
	struct refault_run run;

	(void)state;
	assert_false(refault_read(cache, handle, &offset, &bytes, plan));
	assert_int_equal(plan->fetch_count, 1);
	run = plan->fetch[0];
	assert_true(run.pages > 2);
	refault_fetched(
		cache, &(struct refault_run){.index = 1, .file = run.file, .pages = run.pages - 1});
	assert_false(refault_read(cache, handle, &offset, &bytes, plan));
	assert_int_equal(offset, 0);
	refault_fetched(cache, &(struct refault_run){.index = 0, .file = run.file, .pages = 1});
	assert_true(refault_read(cache, handle, &offset, &bytes, plan));
	refault_cache_destroy(cache);
}

static void a_page_in_flight_is_not_evicted(void **state)
{
	struct refault_cache *cache = cache_of(8, NULL, REFAULT_BY_CALLER);
	uint32_t slow = refault_file_add(cache, 64 * 1024, 0),
		 fast = refault_file_add(cache, 64 * MIB, 0);
	uint32_t slow_handle = refault_open(cache, slow), fast_handle = refault_open(cache, fast);
	struct refault_plan *theirs = refault_plan_create();
	uint64_t offset = 0, bytes = 64 * 1024;

	(void)state;
	assert_false(refault_read(cache, slow_handle, &offset, &bytes, theirs));
	assert_int_equal(refault_resident_pages(cache, slow), 16);
	read_all(cache, plan, fast_handle, 0, 64 * MIB);
	assert_int_equal(refault_resident_pages(cache, slow), 16);
	plan_complete(cache, theirs);
	assert_true(refault_read(cache, slow_handle, &offset, &bytes, theirs));
	assert_int_equal(theirs->fetch_count, 0);
	read_all(cache, plan, fast_handle, 0, 64 * MIB);
	assert_int_equal(refault_resident_pages(cache, slow), 0); /* now it can go */
	refault_plan_destroy(theirs);
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void a_page_being_written_stays_and_can_be_dirtied_again(void **state)
{
	struct refault_cache *cache = cache_of(8, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, 0, 0), fast = refault_file_add(cache, 64 * MIB, 0);
	uint32_t handle = refault_open(cache, file), fast_handle = refault_open(cache, fast);
	struct refault_plan *writes = refault_plan_create();
	struct refault_run run;

	(void)state;
	assert_int_equal(write_all(cache, plan, handle, 0, 4 * PAGE), 0);
	assert_int_equal(refault_file_size(cache, file), 4 * PAGE);
	assert_int_equal(counters_of(cache, 0).dirty_pages, 4);
	assert_true(refault_sync_file(cache, file, writes));
	assert_int_equal(writes->write_count, 1);
	assert_int_equal(writes->write[0].pages, 4);
	assert_int_equal(writes->write_bytes, 4 * PAGE);
	run = writes->write[0];

	read_all(cache, plan, fast_handle, 0, 64 * MIB);
	assert_int_equal(refault_resident_pages(cache, file), 4);
	write_all(cache, plan, handle, PAGE, 10); /* meanwhile */
	refault_written(cache, &run);
	read_all(cache, plan, fast_handle, 0, 64 * MIB);
	assert_int_equal(refault_resident_pages(cache, file), 1);
	assert_true(refault_sync(cache, writes));
	assert_int_equal(writes->write_count, 1);
	assert_int_equal(writes->write[0].index, 1);
	plan_complete(cache, writes);
	assert_true(refault_sync(cache, writes));
	assert_int_equal(writes->write_count, 0);
	assert_int_equal(counters_of(cache, 1).write_bytes, 5 * PAGE);
	refault_plan_destroy(writes);
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void dirty_pages_are_due_after_30_seconds(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t handle = refault_open(cache, refault_file_add(cache, 0, 0));

	(void)state;
	write_all(cache, plan, handle, 0, PAGE);
	refault_operation(cache, 1, UINT64_C(29000000000), plan);
	assert_int_equal(plan->write_count, 0);
	refault_clock(cache, UINT64_C(36000000000), plan);
	assert_int_equal(plan->write_count, 1);
	plan_complete(cache, plan);
	refault_clock(cache, UINT64_C(99000000000), plan);
	assert_int_equal(plan->write_count, 0);
	refault_cache_destroy(cache);
}

/* A page covered in part is to be read before it is written; one covered whole, or behind the end, is not. */
static void a_write_in_part_is_read_first(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, 8 * PAGE, 0), handle = refault_open(cache, file);
	uint64_t offset = PAGE + 10, bytes = 2 * PAGE;

	(void)state;
	refault_operation(cache, 1, 0, plan);
	assert_true(refault_write(cache, handle, &offset, &bytes, plan));
	assert_int_equal(plan->fetch_count, 2);
	assert_int_equal(plan->fetch[0].index, 1);
	assert_int_equal(plan->fetch[1].index, 3);
	plan_complete(cache, plan);
	assert_int_equal(write_all(cache, plan, handle, 8 * PAGE + 10, 10), 0);
	refault_cache_destroy(cache);
}

/* Holes are zeros without I/O: nobody will report them, so nobody may wait for them. */
static void a_hole_is_there_at_once(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t sparse = refault_file_add(cache, MIB, REFAULT_FILE_SPARSE);
	uint32_t grown = refault_file_add(cache, 5 * PAGE, 0);
	uint32_t handle = refault_open(cache, sparse), other = refault_open(cache, grown);

	(void)state;
	assert_int_equal(read_all(cache, plan, handle, 0, MIB), 0);
	assert_int_equal(refault_resident_pages(cache, sparse), 256);
	refault_truncate(cache, grown, MIB);
	write_all(cache, plan, other, 100 * PAGE, PAGE);
	assert_int_equal(read_all(cache, plan, other, 0, MIB), 5);
	refault_check(cache);
	refault_cache_destroy(cache);
}

/* ---- writers ---- */

static void writers_of_more_than_memory_are_held_back_and_get_through(void **state)
{
	(void)state;
	for (size_t policy = 0; refault_policy_name(policy); policy += POLICY_STEP) {
		struct refault_cache *cache =
			cache_of(8, refault_policy_name(policy), REFAULT_BY_CALLER);
		uint32_t file = refault_file_add(cache, 0, 0), handle = refault_open(cache, file);
		uint64_t dirty_most = 0;

		assert_int_equal(write_all(cache, plan, handle, 3, 64 * MIB), 0);
		for (uint64_t at = 64 * MIB + 3; at < 80 * MIB; at += 8192) {
			write_all(cache, plan, handle, at, 8192);
			if (dirty_most < counters_of(cache, 0).dirty_pages)
				dirty_most = counters_of(cache, 0).dirty_pages;
		}
		assert_true(dirty_most <= 1024);
		assert_true(refault_in_memory(cache));
		assert_true(counters_of(cache, 1).write_bytes >= 72 * MIB);
		refault_check(cache);
		refault_cache_destroy(cache);
	}
}

static void simulators_of_writers_get_through_as_well(void **state)
{
	(void)state;
	for (size_t policy = 0; refault_policy_name(policy); policy += POLICY_STEP) {
		struct refault_cache *cache =
			cache_of(8, refault_policy_name(policy), REFAULT_AT_ONCE);
		uint32_t handle = refault_open(cache, refault_file_add(cache, 0, 0));

		write_all(cache, plan, handle, 3, 64 * MIB);
		assert_true(refault_in_memory(cache));
		assert_true(counters_of(cache, 1).write_bytes >= 56 * MIB);
		refault_check(cache);
		refault_cache_destroy(cache);
	}
}

static void writes_on_their_way_count_as_well(void **state)
{
	struct refault_cache *cache = cache_of(8, NULL, REFAULT_BY_CALLER);
	uint32_t handle = refault_open(cache, refault_file_add(cache, 0, 0));
	struct refault_plan *writes = refault_plan_create();
	uint64_t offset = 0, bytes = 16 * MIB;

	(void)state;
	assert_false(refault_write(cache, handle, &offset, &bytes, plan));
	assert_int_equal(offset, 4 * MIB);
	assert_int_equal(bytes, 12 * MIB);
	assert_false(refault_write(cache, handle, &offset, &bytes, writes));
	assert_int_equal(offset, 4 * MIB);
	assert_int_equal(writes->write_bytes, 4 * MIB);
	assert_false(
		refault_write(cache, handle, &offset, &bytes, plan)); /* all of it is on its way */
	assert_int_equal(offset, 4 * MIB);
	assert_int_equal(plan->write_count, 0);
	refault_written(cache, &(struct refault_run){
				       .index = 0, .file = writes->write[0].file, .pages = 1});
	assert_false(refault_write(cache, handle, &offset, &bytes, plan));
	assert_int_equal(offset, 4 * MIB + PAGE);
	refault_plan_destroy(writes);
	refault_cache_destroy(cache);
}

static void stores_through_a_mapping_are_held_back_too(void **state)
{
	struct refault_cache *cache = cache_of(8, NULL, REFAULT_BY_CALLER);
	uint32_t handle = refault_open(cache, refault_file_add(cache, 32 * MIB, 0));

	(void)state;
	for (int touch = REFAULT_LOAD; touch <= REFAULT_STORE; touch++) {
		uint64_t offset = 5, bytes = 64 * MIB;
		bool done;

		do {
			done = refault_touch(cache, handle, (enum refault_touch_kind)touch, &offset,
					     &bytes, plan);
			plan_complete(cache, plan);
		} while (!done);
		assert_int_equal(offset, 32 * MIB);
		assert_int_equal(bytes, 0);
	}
	assert_true(refault_in_memory(cache));
	assert_int_equal(counters_of(cache, 0).page_accesses, 2 * 32 * MIB / PAGE);
	assert_true(counters_of(cache, 0).write_bytes >= 28 * MIB);
	refault_check(cache);
	refault_cache_destroy(cache);
}

/* ---- advice, sizes ---- */

static void advice_is_followed(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, MIB, 0), handle = refault_open(cache, file);

	(void)state;
	refault_operation(cache, 1, 0, plan);
	assert_true(refault_advise(cache, handle, REFAULT_ADVICE_WILLNEED, 0, 64 * 1024, plan));
	assert_int_equal(plan->fetch_bytes, 64 * 1024);
	plan_complete(cache, plan);
	assert_int_equal(refault_resident_pages(cache, file), 16);
	assert_true(refault_advise(cache, handle, REFAULT_ADVICE_DONTNEED, 0, 0, plan));
	assert_int_equal(refault_resident_pages(cache, file), 0);
	assert_true(refault_advise(cache, handle, REFAULT_ADVICE_RANDOM, 0, 0, plan));
	assert_int_equal(read_all(cache, plan, handle, 0, 1), 1);
	refault_cache_destroy(cache);
}

static void a_truncated_file_keeps_what_is_left(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, MIB, 0), handle = refault_open(cache, file);

	(void)state;
	read_all(cache, plan, handle, 0, MIB);
	refault_truncate(cache, file, 10 * PAGE);
	assert_int_equal(refault_file_size(cache, file), 10 * PAGE);
	assert_int_equal(refault_resident_pages(cache, file), 10);
	refault_allocate(cache, file, 0, 20 * PAGE);
	assert_int_equal(refault_file_size(cache, file), 20 * PAGE);
	refault_check(cache);
	refault_cache_destroy(cache);
}

/* ---- names ---- */

static void a_name_brings_its_directories(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_AT_ONCE);
	uint32_t directory = refault_file_add(cache, PAGE, REFAULT_FILE_DIRECTORY),
		 file = refault_file_add(cache, MIB, 0);
	uint32_t top = refault_name_add(cache, 0, directory, 3);
	uint32_t name = refault_name_add(cache, top, file, 8),
		 nothing = refault_name_add(cache, top, 0, 60);

	(void)state;
	assert_false(refault_name_cached(cache, top));
	refault_operation(cache, 1, 0, plan);
	refault_name_use(cache, name);
	refault_name_use(cache, nothing);
	refault_name_use(cache, name);
	assert_true(refault_name_cached(cache, top) && refault_name_cached(cache, name) &&
		    refault_name_cached(cache, nothing));
	assert_true(refault_inode_cached(cache, file) && refault_inode_cached(cache, directory));
	assert_int_equal(counters_of(cache, 1).dentries_allocated, 3);
	assert_int_equal(counters_of(cache, 1).inodes_allocated, 2);
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void files_are_made_renamed_and_removed(void **state)
{
	struct refault_cache *cache = cache_of(16, NULL, REFAULT_AT_ONCE);
	uint32_t directory = refault_name_add(cache, 0, 0, 3);
	uint32_t from = refault_name_add(cache, directory, 0, 4),
		 to = refault_name_add(cache, directory, 0, 4);
	uint32_t handle, old, file, again;

	(void)state;
	refault_operation(cache, 1, 0, plan);
	file = refault_name_make(cache, directory, REFAULT_FILE_DIRECTORY);
	assert_int_equal(refault_name_file(cache, directory), file);
	old = refault_open_new(cache, to);
	write_all(cache, plan, old, 0, PAGE);
	handle = refault_open_new(cache, from);
	file = refault_handle_file(cache, handle);
	write_all(cache, plan, handle, 0, 3 * PAGE);
	refault_name_rename(cache, from, from);
	refault_name_rename(cache, from, to);
	assert_int_equal(refault_name_file(cache, from), 0);
	assert_int_equal(refault_name_file(cache, to), file);
	assert_int_equal(refault_resident_pages(cache, refault_handle_file(cache, old)),
			 1); /* unlinked, but open */
	refault_close(cache, old);
	assert_int_equal(counters_of(cache, 0).dirty_pages, 3);
	again = refault_open_name(cache, to);
	assert_int_equal(read_all(cache, plan, again, 0, 3 * PAGE), 0);
	refault_name_unlink(cache, to);
	refault_close(cache, handle);
	assert_int_equal(refault_resident_pages(cache, file), 3);
	refault_close(cache, again);
	assert_int_equal(counters_of(cache, 0).dirty_pages, 0);
	assert_int_equal(counters_of(cache, 0).active_file_pages +
				 counters_of(cache, 0).inactive_file_pages,
			 0);
	assert_false(refault_inode_cached(cache, file));
	again = refault_open_new(cache, to); /* the name can be used anew */
	assert_int_equal(refault_handle_file(cache, again), refault_name_file(cache, to));
	refault_check(cache);
	refault_cache_destroy(cache);
}

/* The point of having them in the same memory: files made in numbers push pages out, and pages push names out. */
static void names_and_pages_share_the_memory(void **state)
{
	struct refault_cache *cache = cache_of(8, "linux-4.5", REFAULT_BY_CALLER);
	uint32_t heap = refault_open(cache, refault_file_add(cache, 6 * MIB, 0));

	(void)state;
	read_all(cache, plan, heap, 0, 6 * MIB);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t name = refault_name_add(cache, 0, 0, 8);

		refault_operation(cache, 2, 0, plan);
		refault_close(cache, refault_open_new(cache, name));
		if (i % 8 == 0)
			read_all(cache, plan, heap, i % 1500 * PAGE, PAGE);
	}
	assert_true(refault_blame(cache, 1, 2) > 0);
	assert_true(counters_of(cache, 2).dentries_evicted > 0 &&
		    counters_of(cache, 2).inodes_evicted > 0);
	assert_true(refault_in_memory(cache));
	refault_check(cache);
	refault_cache_destroy(cache);
}

static void memory_that_somebody_takes_is_not_there_for_pages(void **state)
{
	struct refault_cache *cache = cache_of(8, NULL, REFAULT_BY_CALLER);
	uint32_t file = refault_file_add(cache, 16 * MIB, 0), handle = refault_open(cache, file);

	(void)state;
	read_all(cache, plan, handle, 0, 16 * MIB);
	for (int i = 0; i < 1024; i++)
		refault_charge(cache, 4096);
	assert_in_range(refault_resident_pages(cache, file), 900, 1024);
	refault_charge(cache, -1024 * 4096);
	read_all(cache, plan, handle, 0, 16 * MIB);
	assert_true(refault_resident_pages(cache, file) > 1900);
	refault_cache_destroy(cache);
}

/* ---- many at once ---- */

enum { CLIENTS = 6, FILES = 4, STEPS = 60000 };

struct client {
	struct refault_plan *plan;
	uint64_t offset, bytes;
	uint32_t handle;
	uint32_t fetches_done, writes_done; /* runs of the plan reported */
	bool is_write, is_busy;
};

static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % below);
}

/* One run of the client's plan has come back; false: there was none. */
static bool client_complete(struct refault_cache *cache, struct client *client)
{
	if (client->fetches_done < client->plan->fetch_count)
		refault_fetched(cache, &client->plan->fetch[client->fetches_done++]);
	else if (client->writes_done < client->plan->write_count)
		refault_written(cache, &client->plan->write[client->writes_done++]);
	else
		return false;
	return true;
}

static void client_step(struct refault_cache *cache, struct client *client, const uint32_t *handles,
			uint32_t stream, uint64_t now_ns, uint64_t *random)
{
	if (client_complete(cache, client))
		return;
	client->fetches_done = client->writes_done = 0;
	if (!client->is_busy) {
		client->is_busy = true;
		client->is_write = draw(random, 3) == 0;
		client->handle = handles[draw(random, FILES)];
		client->offset = draw(random, 8 * MIB);
		client->bytes = draw(random, 10) ? draw(random, 40000) : draw(random, 2 * MIB);
		refault_operation(cache, stream, now_ns, client->plan);
		return;
	}
	if (client->is_write)
		client->is_busy = !refault_write(cache, client->handle, &client->offset,
						 &client->bytes, client->plan);
	else
		client->is_busy = !refault_read(cache, client->handle, &client->offset,
						&client->bytes, client->plan);
}

static struct refault_counters clients_run(const char *policy, uint64_t seed)
{
	struct refault_cache *cache = cache_of(16, policy, REFAULT_BY_CALLER);
	struct client clients[CLIENTS] = {0};
	uint32_t handles[FILES];
	struct refault_counters counters;

	for (int i = 0; i < FILES; i++)
		handles[i] = refault_open(cache, refault_file_add(cache, 8 * MIB, 0));
	for (int i = 0; i < CLIENTS; i++)
		clients[i].plan = refault_plan_create();
	for (uint64_t step = 0; step < STEPS; step++) {
		uint32_t who = draw(&seed, CLIENTS);

		client_step(cache, &clients[who], handles, who + 1, step * 1000000, &seed);
		if (step % 4096 == 0)
			refault_check(cache);
	}
	/* Nobody waits for something that nobody was told to do: once all I/O is back, everybody ends. */
	for (uint32_t busy = 1, rounds = 0; busy; rounds++) {
		assert_true(rounds < 100000);
		busy = 0;
		for (uint32_t i = 0; i < CLIENTS; i++) {
			while (client_complete(cache, &clients[i]))
				;
			if (clients[i].is_busy)
				client_step(cache, &clients[i], handles, i + 1,
					    UINT64_C(60000000000), &seed);
			busy += clients[i].is_busy ||
				clients[i].plan->fetch_count > clients[i].fetches_done ||
				clients[i].plan->write_count > clients[i].writes_done;
		}
	}
	refault_check(cache);
	assert_true(refault_in_memory(cache));
	counters = counters_of(cache, 0);
	for (int i = 0; i < CLIENTS; i++)
		refault_plan_destroy(clients[i].plan);
	refault_cache_destroy(cache);
	return counters;
}

static void clients_meet_on_pages_in_flight_and_all_get_through(void **state)
{
	(void)state;
	for (size_t policy = 0; refault_policy_name(policy); policy += POLICY_STEP) {
		struct refault_counters once = clients_run(refault_policy_name(policy), 7);
		struct refault_counters twice = clients_run(refault_policy_name(policy), 7);

		assert_memory_equal(&once, &twice, sizeof(once)); /* the same, to the byte */
		assert_true(once.evictions > 0 && once.write_bytes > 0);
	}
}

/*
 * Reads alone: whose I/O takes no time gets what the program's model predicts. Two policies keep new
 * pages in a queue of a hundredth of the memory, which is less than what is read ahead here: their
 * victims are in flight then, and others go.
 */
static void who_completes_by_hand_gets_what_at_once_gets(void **state)
{
	(void)state;
	for (size_t policy = 0; refault_policy_name(policy); policy += POLICY_STEP) {
		struct refault_counters counters[2];

		for (int completion = REFAULT_BY_CALLER; completion <= REFAULT_AT_ONCE;
		     completion++) {
			struct refault_cache *cache = cache_of(8, refault_policy_name(policy),
							       (enum refault_completion)completion);
			uint32_t small = refault_open(cache, refault_file_add(cache, 6 * MIB, 0));
			uint32_t large = refault_open(cache, refault_file_add(cache, 32 * MIB, 0));
			uint64_t random = 1;

			for (uint64_t i = 0; i < 4096; i++) {
				read_all(cache, plan, small, draw(&random, 768) * UINT64_C(8192),
					 8192);
				read_all(cache, plan, large, i * 8192, 8192);
			}
			counters[completion] = counters_of(cache, 0);
			refault_cache_destroy(cache);
		}
		if (strcmp(refault_policy_name(policy), "lirs") != 0 &&
		    strcmp(refault_policy_name(policy), "w-tinylfu") != 0) {
			assert_memory_equal(&counters[0], &counters[1], sizeof(counters[0]));
			continue;
		}
		assert_true(counters[0].read_bytes >= counters[1].read_bytes / 100 * 97);
		assert_true(counters[0].read_bytes <= counters[1].read_bytes / 100 * 103);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_twice_is_fetched_once),
		cmocka_unit_test(who_evicted_whom_is_counted),
		cmocka_unit_test(a_caller_of_another_version_gets_the_counters_it_knows),
		cmocka_unit_test(a_page_in_flight_is_waited_for_by_all),
		cmocka_unit_test(a_run_may_arrive_in_parts_and_in_any_order),
		cmocka_unit_test(a_page_in_flight_is_not_evicted),
		cmocka_unit_test(a_page_being_written_stays_and_can_be_dirtied_again),
		cmocka_unit_test(dirty_pages_are_due_after_30_seconds),
		cmocka_unit_test(a_write_in_part_is_read_first),
		cmocka_unit_test(a_hole_is_there_at_once),
		cmocka_unit_test(writers_of_more_than_memory_are_held_back_and_get_through),
		cmocka_unit_test(simulators_of_writers_get_through_as_well),
		cmocka_unit_test(writes_on_their_way_count_as_well),
		cmocka_unit_test(stores_through_a_mapping_are_held_back_too),
		cmocka_unit_test(advice_is_followed),
		cmocka_unit_test(a_truncated_file_keeps_what_is_left),
		cmocka_unit_test(a_name_brings_its_directories),
		cmocka_unit_test(files_are_made_renamed_and_removed),
		cmocka_unit_test(names_and_pages_share_the_memory),
		cmocka_unit_test(memory_that_somebody_takes_is_not_there_for_pages),
		cmocka_unit_test(clients_meet_on_pages_in_flight_and_all_get_through),
		cmocka_unit_test(who_completes_by_hand_gets_what_at_once_gets),
	};

	return cmocka_run_group_tests_name("library", tests, setup, teardown);
}
