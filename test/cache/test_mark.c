/*
 * If this fails, the wrong pages are protected: a use is counted that the kernel does not count (a
 * journal's writes push out the heap), or one is missed.
 *
 * Rows of E8 (linux-experiments.md), measured on Linux 6.18 with single pages, and the rules of
 * older kernels (linux-caching.md 1.2 to 1.4).
 */
#include "cache_test.h"

enum { FILE_PAGES = 4096, FILE_BYTES = FILE_PAGES * 4096 }; /* 16 MiB, as in E8 */

/* A world with one file that is read page by page; memory is plenty. */
struct bench {
	struct world *world;
	uint32_t file, one, other; /* two descriptors */
};

static struct bench bench_create(const char *policy)
{
	struct bench bench = {.world = world_create((struct world_options){.policy = policy})};

	bench.file = file_make(bench.world, FILE_BYTES);
	bench.one = open_random(bench.world, bench.file);
	bench.other = open_random(bench.world, bench.file);
	return bench;
}

/* Ends it, and says how many pages were active. */
static uint64_t bench_active(struct bench *bench)
{
	uint64_t active = count(bench->world, active_file_pages);

	assert_int_equal(active, pages_with(bench->world, bench->file, 0, FILE_PAGES, PAGE_ACTIVE));
	world_destroy(bench->world);
	return active;
}

static void a_sequential_reader_marks_each_page_once_however_small_its_reads(void **state)
{
	(void)state;
	for (uint64_t step = 512; step <= 65536; step *= 2) {
		struct bench bench = bench_create(NULL);

		do_read_all(bench.world, bench.one, 0, FILE_BYTES, step);
		assert_int_equal(
			pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED),
			FILE_PAGES);
		assert_int_equal(bench_active(&bench), 0);
	}
}

static void a_page_read_twice_in_a_row_is_used_once_by_one_descriptor_and_twice_by_two(void **state)
{
	struct bench bench = bench_create(NULL);

	(void)state;
	for (uint64_t at = 0; at < FILE_BYTES; at += PAGE_BYTES) {
		do_read(bench.world, bench.one, at, PAGE_BYTES);
		do_read(bench.world, bench.one, at, PAGE_BYTES);
	}
	assert_int_equal(bench_active(&bench), 0);

	bench = bench_create(NULL);
	for (uint64_t at = 0; at < FILE_BYTES; at += PAGE_BYTES) {
		do_read(bench.world, bench.one, at, PAGE_BYTES);
		do_read(bench.world, bench.other, at, PAGE_BYTES);
	}
	assert_int_equal(bench_active(&bench), FILE_PAGES);
}

static void two_passes_of_one_descriptor_are_two_uses(void **state)
{
	struct bench bench = bench_create(NULL);

	(void)state;
	do_read_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	do_read_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(count(bench.world, activations), FILE_PAGES);
	assert_int_equal(bench_active(&bench), FILE_PAGES);
}

static void a_write_is_no_use(void **state)
{
	struct bench bench = bench_create(NULL);

	(void)state;
	for (uint32_t times = 0; times < 3; times++)
		do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED), 0);
	/* Written, then read: one mark. Read, then written: the same. */
	do_read_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(count(bench.world, active_file_pages), 0);
	/* And read through another descriptor: two. */
	do_read_all(bench.world, bench.other, 0, FILE_BYTES, 4096);
	assert_int_equal(bench_active(&bench), FILE_PAGES);
}

/* up to 4.6: "mm: filemap: only do access activations on reads" changed it */
static void activate_on_write_says_which_writes_are_uses(void **state)
{
	struct bench bench = bench_create("linux-4.5");

	(void)state;
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED),
			 FILE_PAGES);
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(bench_active(&bench), FILE_PAGES);

	bench = bench_create("linux-4.5,activate_on_write=never");
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(bench_active(&bench), 0);

	/* Only writes that cover part of a page: whole ones leave no mark. */
	bench = bench_create("linux-6.18," FRESH ",activate_on_write=partial");
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	do_write_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	assert_int_equal(count(bench.world, active_file_pages), 0);
	for (uint64_t at = 0; at < FILE_BYTES; at += 8192) {
		do_write(bench.world, bench.one, at + 100, 200);
		do_write(bench.world, bench.one, at + 300, 200);
	}
	assert_int_equal(bench_active(&bench), FILE_PAGES / 2);

	/* 6 KiB from a page's start: the second page is covered in part, and it alone is marked. */
	bench = bench_create("linux-6.18," FRESH ",activate_on_write=partial");
	do_write(bench.world, bench.one, 0, 6144);
	assert_int_equal(pages_with(bench.world, bench.file, 0, 2, PAGE_REFERENCED), 1);
	assert_int_equal(pages_with(bench.world, bench.file, 1, 1, PAGE_REFERENCED), 1);
	assert_int_equal(bench_active(&bench), 0);
}

static void btrfs_marked_on_write_until_6_12(void **state)
{
	struct cache_filesystem btrfs = plain;

	(void)state;
	btrfs.marks_on_write = true;
	for (int with = 0; with < 2; with++) {
		struct world *world = world_create((struct world_options){
			.fs = &btrfs,
			.policy = with ? "linux-6.18," FRESH ",write_marks_btrfs=yes" : NULL});
		uint32_t handle = open_random(world, file_make(world, MIB));

		do_write_all(world, handle, 0, MIB, 4096);
		do_write_all(world, handle, 0, MIB, 4096);
		assert_int_equal(count(world, active_file_pages), with ? 256 : 0);
		world_destroy(world);
	}
}

/* to 5.10: the page read last, and the offset where that read ended */
static void read_mark_by_offset(void **state)
{
	struct bench bench = bench_create("linux-6.18," FRESH ",read_mark=offset");

	(void)state;
	do_read_all(bench.world, bench.one, 0, FILE_BYTES, 512);
	assert_int_equal(count(bench.world, active_file_pages), 0);
	/*
	 * From a page's start once more, after a part of it: not where the last read ended, so a
	 * use.
	 */
	do_read(bench.world, bench.one, 0, 512);
	assert_true(is_active(bench.world, bench.file, 0));
	do_read(bench.world, bench.one, 4096, 512);
	do_read(bench.world, bench.one, 4096 + 512, 512);
	assert_int_equal(bench_active(&bench), 2);
}

/*
 * 5.11 to 5.18, a defect: page numbers of the next byte are compared, so a stream of whole pages
 * marks nothing, or all but each read's first
 */
static void read_mark_by_page_number_forgets_the_first_page_of_each_read(void **state)
{
	struct bench bench = bench_create("linux-6.18," FRESH ",read_mark=page");

	(void)state;
	do_read_all(bench.world, bench.one, 0, FILE_BYTES, 4096);
	/* The very first read has nothing before it. */
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED), 1);
	(void)bench_active(&bench);

	bench = bench_create("linux-6.18," FRESH ",read_mark=page");
	do_read_all(bench.world, bench.one, 0, FILE_BYTES, 65536);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED),
			 FILE_PAGES / 16 * 15 + 1);
	assert_int_equal(bench_active(&bench), 0);
}

static void a_large_folio_is_one_thing_to_mark(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late});
	uint32_t file = file_make(world, 64 * MIB), reader = file_open(world, file),
		 other = open_random(world, file);

	(void)state;
	do_read_all(world, reader, 0, 8 * MIB, 256 * KIB);
	assert_int_equal(count(world, active_file_pages), 0);
	/*
	 * E9: 4 KiB in each 64 KiB, twice: nearly all of it is active, since folios have grown to
	 * 128 KiB.
	 */
	do_read_all(world, other, 0, 8 * MIB, 64 * KIB);
	assert_true(count(world, active_file_pages) > 2048 * 95 / 100);
	world_destroy(world);

	world = world_create((struct world_options){.fs = &late});
	file = file_make(world, 64 * MIB);
	reader = open_random(world, file);
	other = open_random(world, file);
	do_read_all(world, reader, 0, 8 * MIB, 256 * KIB);
	for (uint64_t at = 0; at < 8 * MIB; at += 64 * KIB)
		do_read(world, other, at, 4096);
	assert_int_equal(count(world, active_file_pages), 8 * MIB / (64 * KIB));
	world_destroy(world);
}

static void a_touch_through_a_mapping_is_no_mark_but_reclaim_sees_it(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 8});
	uint32_t file = file_make(world, MIB), handle = open_random(world, file);
	uint32_t stream = open_random(world, file_make(world, 64 * MIB));

	(void)state;
	do_touch(world, handle, 0, MIB);
	assert_int_equal(pages_with(world, file, 0, 256, PAGE_YOUNG | PAGE_MAPPED), 256);
	assert_int_equal(pages_with(world, file, 0, 256, PAGE_REFERENCED), 0);
	assert_int_equal(count(world, active_file_pages), 0);
	/* At the tail the first time: the young bit is taken, and they stay one round more. */
	do_read_all(world, stream, 0, 10 * MIB, 4096);
	assert_int_equal(cache_resident_pages(world->cache, file), 256);
	assert_int_equal(pages_with(world, file, 0, 256, PAGE_YOUNG), 0);
	/* Touched again before they are there once more: active. */
	do_touch(world, handle, 0, MIB);
	do_read_all(world, stream, 10 * MIB, 10 * MIB, 4096);
	assert_int_equal(pages_with(world, file, 0, 256, PAGE_ACTIVE), 256);
	world_destroy(world);
}

static void a_page_touched_once_leaves_in_the_round_after(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 8});
	uint32_t file = file_make(world, MIB), handle = open_random(world, file);
	uint32_t stream = open_random(world, file_make(world, 64 * MIB));

	(void)state;
	do_touch(world, handle, 0, MIB);
	do_read_all(world, stream, 0, 24 * MIB, 4096);
	assert_int_equal(cache_resident_pages(world->cache, file), 0);
	world_destroy(world);
}

/* E8: mmap, touched, munmap: no page is active; read, then mmap, touched, munmap: all are. */
static void the_end_of_a_mapping_marks_what_it_used(void **state)
{
	struct bench bench = bench_create(NULL);

	(void)state;
	do_touch(bench.world, bench.one, 0, FILE_BYTES);
	cache_close(bench.world->cache, bench.one);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED),
			 FILE_PAGES);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_MAPPED), 0);
	assert_int_equal(bench_active(&bench), 0);

	bench = bench_create(NULL);
	do_read_all(bench.world, bench.other, 0, FILE_BYTES, 4096);
	do_touch(bench.world, bench.one, 0, FILE_BYTES);
	assert_int_equal(count(bench.world, active_file_pages), 0);
	cache_close(bench.world->cache, bench.one);
	assert_int_equal(bench_active(&bench), FILE_PAGES);
}

static void of_two_mappings_each_marks_its_own_part_and_the_last_to_go_unmaps(void **state)
{
	struct bench bench = bench_create(NULL);

	(void)state;
	do_touch(bench.world, bench.one, 0, FILE_BYTES);
	/* With what is mapped around it: 16 pages. */
	do_touch(bench.world, bench.other, FILE_BYTES / 2, 1);
	cache_close(bench.world->cache, bench.other);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_REFERENCED), 16);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_MAPPED),
			 FILE_PAGES);
	cache_close(bench.world->cache, bench.one);
	assert_int_equal(pages_with(bench.world, bench.file, 0, FILE_PAGES, PAGE_MAPPED), 0);
	assert_int_equal(bench_active(&bench), 16);
}

/* 6.3, vma_has_recency(): nor are they young for reclaim. */
static void a_mapping_advised_random_marks_nothing(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct bench bench = bench_create(known ? "linux-6.18," FRESH
							: "linux-6.18," FRESH ",noreuse=ignored");
		uint64_t offset = 0, bytes = 0;
		struct cache_plan plan = {0};

		assert_true(cache_advise(bench.world->cache, bench.one, CACHE_ADVICE_MAP_RANDOM,
					 &offset, &bytes, &plan));
		do_read_all(bench.world, bench.other, 0, FILE_BYTES, 4096);
		do_touch(bench.world, bench.one, 0, FILE_BYTES);
		cache_close(bench.world->cache, bench.one);
		assert_int_equal(bench_active(&bench), known ? 0 : FILE_PAGES);
	}
}

static void page_tables_go_with_the_last_mapping(void **state)
{
	struct bench bench = bench_create(NULL);
	/* One for each 2 MiB; an open file takes memory, too. */
	uint64_t before, tables = FILE_BYTES / (2 * MIB) * 4096;
	uint64_t open = bench.world->cache->rules.open_file_bytes;

	(void)state;
	cache_open_pay(bench.world->cache);
	cache_open_pay(bench.world->cache);
	do_read_all(bench.world, bench.other, 0, FILE_BYTES, 4096);
	before = count(bench.world, slab_bytes);
	do_touch(bench.world, bench.one, 0, FILE_BYTES);
	do_touch(bench.world, bench.other, 0, FILE_BYTES);
	assert_int_equal(count(bench.world, slab_bytes), before + tables);
	cache_close(bench.world->cache, bench.one);
	assert_int_equal(count(bench.world, slab_bytes), before + tables - open);
	cache_close(bench.world->cache, bench.other);
	assert_int_equal(count(bench.world, slab_bytes), before - 2 * open);
	world_destroy(bench.world);
}

/*
 * 6.3: FADV_NOREUSE makes reclaim ignore the young bit; with descriptors it never had an effect
 * (E11)
 */
static void noreuse_is_about_mappings_alone(void **state)
{
	(void)state;
	for (int mapped = 0; mapped < 2; mapped++) {
		struct world *world = world_create((struct world_options){
			.memory_mib = 8,
			.policy = mapped ? "linux-6.18," FRESH ",noreuse=mapped"
					 : "linux-6.18," FRESH ",noreuse=ignored"});
		uint32_t file = file_make(world, MIB), handle = open_random(world, file),
			 other = open_random(world, file);
		uint32_t stream = open_random(world, file_make(world, 64 * MIB));

		do_advise(world, handle, CACHE_ADVICE_NOREUSE, 0, 0);
		do_touch(world, handle, 0, MIB);
		do_read_all(world, stream, 0, 10 * MIB, 4096);
		assert_int_equal(cache_resident_pages(world->cache, file), mapped ? 0 : 256);
		do_advise(world, other, CACHE_ADVICE_NOREUSE, 0, 0);
		world_destroy(world);

		world = world_create((struct world_options){.memory_mib = 32});
		file = file_make(world, 16 * MIB);
		handle = open_random(world, file);
		do_advise(world, handle, CACHE_ADVICE_NOREUSE, 0, 0);
		do_read_all(world, handle, 0, 16 * MIB, 4096);
		do_read_all(world, handle, 0, 16 * MIB, 4096);
		assert_int_equal(count(world, active_file_pages), 4096);
		world_destroy(world);
	}
}

static void metadata_blocks_are_active_from_the_start(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late});
	uint32_t device = cache_file_add(world->cache, GIB, CACHE_FILE_METADATA);

	(void)state;
	cache_block(world->cache, device, 100, 96, 32, &world->plan);
	assert_int_equal(world->plan.fetch_bytes, 32 * PAGE_BYTES);
	assert_int_equal(pages_with(world, device, 96, 32, PAGE_ACTIVE), 32);
	plan_clear(world);
	cache_block(world->cache, device, 101, 96, 32, &world->plan);
	cache_block_make(world->cache, device, 200);
	assert_int_equal(world->plan.fetch_bytes, 32 * PAGE_BYTES);
	assert_true(is_active(world, device, 200));
	world_destroy(world);
}

static void a_queue_policy_sees_every_use_and_keeps_one_list(void **state)
{
	struct world *world =
		world_create((struct world_options){.policy = "lru", .memory_mib = 8});
	uint32_t hot = file_make(world, MIB), handle = open_random(world, hot);
	uint32_t stream = open_random(world, file_make(world, 64 * MIB));

	(void)state;
	do_write_all(world, handle, 0, MIB, 4096);
	do_sync(world);
	/*
	 * Written and touched between stretches of the stream that are shorter than memory: an LRU
	 * never lets it go.
	 */
	for (uint64_t at = 0; at < 60 * MIB; at += 6 * MIB) {
		do_read_all(world, stream, at, 6 * MIB, 4096);
		assert_int_equal(cache_resident_pages(world->cache, hot), 256);
		do_touch(world, handle, 0, MIB / 2);
		do_write_all(world, handle, MIB / 2, MIB / 2, 4096);
	}
	assert_int_equal(count(world, active_file_pages), 0);
	world_destroy(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sequential_reader_marks_each_page_once_however_small_its_reads),
		cmocka_unit_test(
			a_page_read_twice_in_a_row_is_used_once_by_one_descriptor_and_twice_by_two),
		cmocka_unit_test(two_passes_of_one_descriptor_are_two_uses),
		cmocka_unit_test(a_write_is_no_use),
		cmocka_unit_test(activate_on_write_says_which_writes_are_uses),
		cmocka_unit_test(btrfs_marked_on_write_until_6_12),
		cmocka_unit_test(read_mark_by_offset),
		cmocka_unit_test(read_mark_by_page_number_forgets_the_first_page_of_each_read),
		cmocka_unit_test(a_large_folio_is_one_thing_to_mark),
		cmocka_unit_test(a_touch_through_a_mapping_is_no_mark_but_reclaim_sees_it),
		cmocka_unit_test(a_page_touched_once_leaves_in_the_round_after),
		cmocka_unit_test(the_end_of_a_mapping_marks_what_it_used),
		cmocka_unit_test(of_two_mappings_each_marks_its_own_part_and_the_last_to_go_unmaps),
		cmocka_unit_test(a_mapping_advised_random_marks_nothing),
		cmocka_unit_test(page_tables_go_with_the_last_mapping),
		cmocka_unit_test(noreuse_is_about_mappings_alone),
		cmocka_unit_test(metadata_blocks_are_active_from_the_start),
		cmocka_unit_test(a_queue_policy_sees_every_use_and_keeps_one_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
