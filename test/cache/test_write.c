/*
 * If this fails, what writing costs is wrong: reads that a partial overwrite makes, when dirty
 * pages are written, and what dirty pages do to clean ones.
 *
 * Rows of E10 (linux-experiments.md), and linux-caching.md 1.7, 2.6, 5.
 */
#include "cache_test.h"

static void random_partial_overwrites_read_one_block_each(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 512});
	uint32_t file = file_make(world, 256 * MIB), handle = file_open(world, file);
	uint64_t distinct = 0, fetched = 0;
	struct random random;

	(void)state;
	random_init(&random, 1, 1);
	for (uint32_t i = 0; i < 4000; i++) {
		uint64_t page = random_below(&random, 65536);

		distinct += !is_resident(world, file, page);
		fetched += do_write(world, handle, page * PAGE_BYTES, 512);
	}
	assert_int_equal(fetched, distinct * PAGE_BYTES);
	assert_int_equal(do_sync(world), distinct * PAGE_BYTES);
	world_destroy(world);
}

static void whole_pages_are_not_read_before_they_are_overwritten(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 512});
	uint32_t handle = file_open(world, file_make(world, 256 * MIB));
	struct random random;

	(void)state;
	random_init(&random, 1, 1);
	for (uint32_t i = 0; i < 4000; i++)
		assert_int_equal(do_write(world, handle, random_below(&random, 65536) * PAGE_BYTES,
					  PAGE_BYTES),
				 0);
	world_destroy(world);
}

static void six_kib_at_a_time_read_the_page_that_they_end_in(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &early, .memory_mib = 64});
	uint32_t handle = file_open(world, file_make(world, 32 * MIB));

	(void)state;
	for (uint64_t at = 0; at < 32 * MIB; at += 8192)
		assert_int_equal(do_write(world, handle, at, 6144), 4096);
	assert_int_equal(do_sync(world), 32 * MIB);
	world_destroy(world);
}

static void a_sequential_overwrite_in_pieces_reads_every_page_once(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &early, .memory_mib = 64});
	uint32_t handle = file_open(world, file_make(world, 16 * MIB));

	(void)state;
	assert_int_equal(do_write_all(world, handle, 0, 16 * MIB, 512), 16 * MIB);
	assert_int_equal(do_write_all(world, handle, 0, 16 * MIB, 512), 0);
	assert_int_equal(do_sync(world), 16 * MIB);
	world_destroy(world);
}

static void holes_and_what_is_beyond_the_end_are_zeros_and_need_no_device(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late});
	uint32_t sparse = cache_file_add(world->cache, 16 * MIB, CACHE_FILE_SPARSE),
		 handle = file_open(world, sparse);
	uint32_t grown = file_make(world, 0), other = file_open(world, grown);

	(void)state;
	assert_int_equal(do_read_all(world, handle, 0, 8 * MIB, 65536), 0);
	assert_int_equal(do_write(world, handle, 12 * MIB + 100, 100), 0);
	/* Appended in pieces. */
	assert_int_equal(do_write_all(world, other, 0, MIB, 100), 0);
	assert_int_equal(cache_file_size(world->cache, grown), 1048600);
	do_sync(world);
	do_advise(world, handle, CACHE_ADVICE_DONTNEED, 0, 0);
	/* What was written is there now, and is read. */
	assert_int_equal(do_write(world, handle, 12 * MIB + 300, 100), 4096);
	assert_int_equal(do_write(world, handle, 13 * MIB + 300, 100), 0);
	/* fallocate(2): unwritten blocks are as good as holes. */
	cache_allocate(world->cache, grown, 4 * MIB, MIB);
	assert_int_equal(cache_file_size(world->cache, grown), 5 * MIB);
	assert_int_equal(do_read(world, other, 4 * MIB, 65536), 0);
	world_destroy(world);
}

static void a_folio_covered_in_part_is_read_in_blocks_or_in_one_stretch(void **state)
{
	/*
	 * 64 KiB from the middle of a page: one folio of 64 KiB, its first block in part, and a
	 * page of its own in part.
	 */
	struct world *world = world_create((struct world_options){.fs = &late});
	uint32_t file = file_make(world, 16 * MIB), handle = file_open(world, file);

	(void)state;
	assert_int_equal(do_write(world, handle, MIB + 2048, 65536), 2 * 4096);
	assert_int_equal(page_order(page_at(world, file, 256)), 4);
	world_destroy(world);

	world = world_create((struct world_options){.fs = &early});
	file = file_make(world, 16 * MIB);
	handle = file_open(world, file);
	assert_int_equal(do_write(world, handle, MIB + 2048, 65536), 65536 + 4096);
	world_destroy(world);
}

static void writes_make_folios_as_large_as_they_and_their_place_allow(void **state)
{
	static const struct {
		uint64_t offset, bytes;
		uint32_t order;
	} rows[] = {
		{0, 4096, 0},      {0, 8192, 1},
		{4096, 65536, 0},  {8192, 65536, 1},
		{65536, 65536, 4}, {MIB, 3 * 65536, 5},
		{0, 2 * MIB, 9},   {0, 8 * MIB, 9},
		{MIB, 8 * MIB, 8}, {2 * MIB, 2 * MIB - 1, 8},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *world = world_create((struct world_options){.fs = &late});
		uint32_t file = file_make(world, 0), handle = file_open(world, file);

		do_write(world, handle, rows[i].offset, rows[i].bytes);
		assert_int_equal(page_order(page_at(world, file, rows[i].offset >> PAGE_SHIFT)),
				 rows[i].order);
		world_destroy(world);
	}
}

/* folios_write=none|xfs|all */
static void folios_write_says_which_file_systems_do(void **state)
{
	static const struct {
		const char *policy;
		const struct cache_filesystem *fs;
		uint32_t order;
	} rows[] = {
		{"linux-6.18,folios_write=none", &early, 0},
		{"linux-6.18,folios_write=xfs", &early, 4},
		{"linux-6.18,folios_write=xfs", &late, 0},
		{"linux-6.18,folios_write=all", &late, 4},
		{"linux-6.18,folios_write=all", &plain, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *world = world_create(
			(struct world_options){.fs = rows[i].fs, .policy = rows[i].policy});
		uint32_t file = file_make(world, 0), handle = file_open(world, file);

		do_write(world, handle, 0, 65536);
		assert_int_equal(page_order(page_at(world, file, 0)), rows[i].order);
		world_destroy(world);
	}
}

/* ---- when dirty pages are written ---- */

static void the_flusher_writes_what_is_thirty_seconds_old(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t handle = file_open(world, file_make(world, 0)),
		 later = file_open(world, file_make(world, 0));

	(void)state;
	cache_clock(world->cache, NS_PER_SECOND, &world->plan);
	do_write(world, handle, 0, MIB);
	cache_clock(world->cache, 20 * NS_PER_SECOND, &world->plan);
	do_write(world, later, 0, MIB);
	cache_clock(world->cache, 30 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write_bytes, 0);
	assert_int_equal(count(world, dirty_pages), 512);
	/* It looks every 5 s. */
	cache_clock(world->cache, 36 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write_bytes, MIB);
	assert_int_equal(count(world, dirty_pages), 256);
	plan_clear(world);
	cache_clock(world->cache, 60 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write_bytes, 2 * MIB);
	world_destroy(world);
}

static void a_machine_writes_above_a_tenth_of_what_can_be_dirty_and_a_group_does_not(void **state)
{
	for (int is_machine = 0; is_machine < 2; is_machine++) {
		struct world *world = world_create(
			(struct world_options){.memory_mib = 64, .is_machine = is_machine});
		uint32_t handle = file_open(world, file_make(world, 0));

		(void)state;
		do_write(world, handle, 0, 5 * MIB);
		cache_clock(world->cache, NS_PER_SECOND, &world->plan);
		assert_int_equal(world->plan.write_bytes, 0);
		do_write(world, handle, 5 * MIB, 3 * MIB);
		cache_clock(world->cache, NS_PER_SECOND, &world->plan);
		assert_int_equal(world->plan.write_bytes, is_machine ? 8 * MIB : 0);
		plan_clear(world);
		world_destroy(world);
	}
}

static void the_flusher_turns_to_the_next_file_after_a_chunk_and_comes_back(void **state)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 64, .is_machine = 1});
	uint32_t files[2] = {file_make(world, 0), file_make(world, 0)};

	(void)state;
	/* Half a second's worth, at least 4 MiB; at most an eighth of the limit, and 4 MiB. */
	assert_int_equal(cache_flusher_pace(world->cache, MIB), 1024);
	for (int i = 0; i < 2; i++)
		do_write(world, file_open(world, files[i]), 0, 5 * MIB);
	cache_clock(world->cache, NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write[0].file, files[0]);
	assert_int_equal(world->plan.write_bytes, 4 * MIB);
	plan_clear(world);
	/* Another turn: not before the device has been asked for this one's; and then not needed. */
	cache_flusher_busy(world->cache, true);
	do_write(world, file_open(world, files[1]), 5 * MIB, 2 * MIB);
	cache_clock(world->cache, 2 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write_bytes, 4 * MIB);
	cache_flusher_busy(world->cache, false);
	cache_clock(world->cache, 2 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write[0].file, files[1]);
	assert_int_equal(world->plan.write_bytes, 8 * MIB);
	plan_clear(world);
	cache_clock(world->cache, 4 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write_bytes, 8 * MIB);
	/* What is left over of these the next periodic one writes, though it is young. */
	cache_clock(world->cache, 5 * NS_PER_SECOND, &world->plan);
	cache_clock(world->cache, 5 * NS_PER_SECOND, &world->plan);
	assert_int_equal(world->plan.write_bytes, 12 * MIB);
	assert_int_equal(count(world, dirty_pages), 0);
	plan_clear(world);
	world_destroy(world);
}

static void fsync_writes_a_file_and_leaves_its_pages(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late});
	uint32_t file = file_make(world, 0), handle = file_open(world, file),
		 other = file_open(world, file_make(world, 0));

	(void)state;
	do_write_all(world, handle, 0, MIB, 8192); /* every page twice over two writes: */
	do_write_all(world, handle, 4096, MIB, 8192);
	do_write(world, other, 0, MIB);
	assert_true(cache_sync_file(world->cache, file, &world->plan));
	assert_int_equal(world->plan.write_bytes, MIB + 4096);
	assert_int_equal(cache_resident_pages(world->cache, file), 257);
	assert_int_equal(count(world, dirty_pages), 256);
	plan_clear(world);
	assert_true(cache_sync_file(world->cache, file, &world->plan));
	assert_int_equal(world->plan.write_bytes, MIB + 4096);
	world_destroy(world);
}

/* 4.11: out of the way until written, or back to where they came from */
static void dirty_pages_at_the_tail_become_active_or_stay(void **state)
{
	(void)state;
	for (int activate = 0; activate < 2; activate++) {
		/* Later: nobody writes by himself. */
		struct world *world = world_create((struct world_options){
			.memory_mib = 16,
			.later = true,
			.policy = activate ? "linux-6.18," FRESH ",dirty_at_tail=activate"
					   : "linux-6.18," FRESH ",dirty_at_tail=keep"});
		uint32_t file = file_make(world, 0), handle = file_open(world, file);
		uint32_t stream = file_make(world, 64 * MIB), reader = open_random(world, stream);
		uint64_t offset = 0, bytes = 2 * MIB;

		assert_true(cache_write(world->cache, handle, &offset, &bytes, &world->plan));
		for (uint64_t page = 0; page < 30 * MIB / PAGE_BYTES; page++) {
			struct cache_run run = {.file = stream, .index = page, .pages = 1};

			offset = page * PAGE_BYTES;
			bytes = PAGE_BYTES;
			while (!cache_read(world->cache, reader, &offset, &bytes, &world->plan)) {
				plan_clear(world);
				cache_fetched(world->cache, &run);
			}
		}
		assert_int_equal(cache_resident_pages(world->cache, file), 512);
		assert_int_equal(pages_with(world, file, 0, 512, PAGE_ACTIVE), activate ? 512 : 0);
		/* Written, they go to the tail of the inactive list, and are the next to leave. */
		assert_true(cache_sync_file(world->cache, file, &world->plan));
		assert_int_equal(pages_with(world, file, 0, 512, PAGE_WRITEBACK), 512);
		for (uint32_t i = 0; i < world->plan.write_count; i++)
			cache_written(world->cache, &world->plan.write[i]);
		plan_clear(world);
		assert_int_equal(count(world, dirty_pages), 0);
		if (activate) {
			assert_int_equal(pages_with(world, file, 0, 512, PAGE_ACTIVE), 0);
			assert_int_equal(page_file(world->cache, oldest_inactive(world)), file);
		}
		world_destroy(world);
	}
}

static void a_group_full_of_dirty_pages_has_them_written_by_reclaim(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 8});
	uint32_t handle = file_open(world, file_make(world, 0));

	(void)state;
	do_write_all(world, handle, 0, 64 * MIB, 65536);
	assert_true(cache_in_memory(world->cache));
	cache_clock(world->cache, 1, &world->plan);
	/* What it wrote comes to the caller's knowledge. */
	assert_true(world->plan.write_bytes >= 56 * MIB);
	assert_int_equal(world->plan.write_bytes, count(world, write_bytes));
	world_destroy(world);
}

/* ---- large folios that are written in part ---- */

static void a_folio_is_dirty_until_its_last_page_is_written(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late, .memory_mib = 16});
	uint32_t file = file_make(world, 0), handle = file_open(world, file);
	uint32_t stream = open_random(world, file_make(world, 64 * MIB));

	(void)state;
	do_write(world, handle, 0, 2 * MIB);
	assert_int_equal(page_order(page_at(world, file, 0)), 9);
	/* Advice about an eighth of it starts the writing of that part alone. */
	do_advise(world, handle, CACHE_ADVICE_DONTNEED, 0, 256 * KIB);
	assert_int_equal(count(world, dirty_pages), 448);
	assert_int_equal(pages_with(world, file, 0, 512, PAGE_DIRTY), 512);
	do_read_all(world, stream, 0, 20 * MIB, 4096);
	cache_check(world->cache);
	do_sync(world);
	cache_check(world->cache);
	cache_clock(world->cache, 1, &world->plan);
	assert_int_equal(world->plan.write_bytes, 2 * MIB);
	world_destroy(world);
}

static void a_dirty_file_that_is_unlinked_or_cut_is_not_written(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late});
	uint32_t file = file_make(world, 0), name = cache_name_add(world->cache, 0, 0, 5), handle;

	(void)state;
	cache_name_get(world->cache, name);
	cache_name_link(world->cache, name, file);
	cache_open_pay(world->cache);
	handle = cache_open(world->cache, file);
	do_write(world, handle, 0, 4 * MIB);
	cache_truncate(world->cache, file, 2 * MIB);
	assert_int_equal(count(world, dirty_pages), 512);
	assert_int_equal(do_read(world, handle, 3 * MIB, 4096), 0);
	cache_truncate(world->cache, file, 4 * MIB);
	assert_int_equal(do_read(world, handle, 3 * MIB, 4096), 0);
	cache_name_unlink(world->cache, name);
	cache_check(world->cache);
	assert_int_equal(count(world, dirty_pages), 512); /* open still */
	cache_close(world->cache, handle);
	cache_name_put(world->cache, name);
	assert_int_equal(count(world, dirty_pages), 0);
	assert_int_equal(cache_resident_pages(world->cache, file), 0);
	assert_false(cache_inode_cached(world->cache, file));
	assert_int_equal(do_sync(world), 0);
	world_destroy(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_partial_overwrites_read_one_block_each),
		cmocka_unit_test(whole_pages_are_not_read_before_they_are_overwritten),
		cmocka_unit_test(six_kib_at_a_time_read_the_page_that_they_end_in),
		cmocka_unit_test(a_sequential_overwrite_in_pieces_reads_every_page_once),
		cmocka_unit_test(holes_and_what_is_beyond_the_end_are_zeros_and_need_no_device),
		cmocka_unit_test(a_folio_covered_in_part_is_read_in_blocks_or_in_one_stretch),
		cmocka_unit_test(writes_make_folios_as_large_as_they_and_their_place_allow),
		cmocka_unit_test(folios_write_says_which_file_systems_do),
		cmocka_unit_test(the_flusher_writes_what_is_thirty_seconds_old),
		cmocka_unit_test(
			a_machine_writes_above_a_tenth_of_what_can_be_dirty_and_a_group_does_not),
		cmocka_unit_test(the_flusher_turns_to_the_next_file_after_a_chunk_and_comes_back),
		cmocka_unit_test(fsync_writes_a_file_and_leaves_its_pages),
		cmocka_unit_test(dirty_pages_at_the_tail_become_active_or_stay),
		cmocka_unit_test(a_group_full_of_dirty_pages_has_them_written_by_reclaim),
		cmocka_unit_test(a_folio_is_dirty_until_its_last_page_is_written),
		cmocka_unit_test(a_dirty_file_that_is_unlinked_or_cut_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
