/*
 * If this fails, a backup that reads past the cache, or through it without staying, is said to cost others their pages
 * when it does not, or the other way round; or drop_caches takes what the kernel leaves.
 */
#include "cache_test.h"

/* As ext4 and XFS know RWF_DONTCACHE; single pages, no other memory. */
static const struct cache_filesystem in_task = {
	.folios = CACHE_FOLIOS_NEVER,
	.dontcache = CACHE_FOLIOS_EARLY,
	.dentry_bytes = 200,
	.inline_name_bytes = 39,
	.long_name_bytes = 104,
	.inode_bytes = 1000,
};
static const struct cache_filesystem in_interrupt = {
	.folios = CACHE_FOLIOS_LATE,
	.dontcache = CACHE_FOLIOS_LATE,
	.writes_end_in_interrupt = true,
	.dentry_bytes = 200,
	.inline_name_bytes = 39,
	.long_name_bytes = 104,
	.inode_bytes = 1000,
};

static uint64_t resident(struct world *world, uint32_t file)
{
	return cache_resident_pages(world->cache, file);
}

static void write_range(struct world *world, uint32_t file, uint64_t offset, uint64_t bytes)
{
	while (!cache_write_range(world->cache, file, offset, bytes, &world->plan))
		plan_clear(world);
	plan_clear(world);
}

/* What a file system does for these calls. */
static uint64_t direct_read(struct world *world, uint32_t file, uint64_t offset, uint64_t bytes)
{
	uint64_t before = world->plan.fetch_bytes;

	write_range(world, file, offset, bytes);
	while (!cache_direct_read(world->cache, file, &offset, &bytes, &world->plan))
		plan_clear(world);
	plan_clear(world);
	return world->plan.fetch_bytes - before;
}

static void direct_write(struct world *world, uint32_t file, uint64_t offset, uint64_t bytes)
{
	write_range(world, file, offset, bytes);
	cache_direct_drop(world->cache, file, offset, bytes);
	while (!cache_direct_write(world->cache, file, &offset, &bytes, &world->plan))
		plan_clear(world);
	plan_clear(world);
}

static uint64_t behind_read(struct world *world, uint32_t handle, uint64_t offset, uint64_t bytes)
{
	return world_move_all(world, cache_read_dontcache, handle, offset, bytes);
}

static void behind_write(struct world *world, uint32_t file, uint32_t handle, uint64_t offset,
			 uint64_t bytes)
{
	(void)world_move_all(world, cache_write_dontcache, handle, offset, bytes);
	write_range(world, file, offset, bytes);
}

/* ---- O_DIRECT ---- */

static void a_direct_read_leaves_the_cache_as_it_is(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);

	(void)state;
	do_read(world, handle, 0, 64 * KIB);
	assert_int_equal(direct_read(world, file, 0, MIB), MIB);
	assert_int_equal(resident(world, file), 16 + 16); /* and the window's rest */
	assert_int_equal(count(world, page_accesses), 16);
	/* Bytes, not pages. */
	assert_int_equal(direct_read(world, file, 512, 512), 512);
	assert_int_equal(direct_read(world, file, MIB - 512, 4096), 512);
	assert_int_equal(direct_read(world, file, 2 * MIB, 4096), 0);
	world_destroy(world);
}

static void a_direct_read_writes_what_is_dirty_and_leaves_it(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);

	(void)state;
	do_write(world, handle, 0, 64 * KIB);
	assert_int_equal(direct_read(world, file, 32 * KIB, 32 * KIB), 32 * KIB);
	assert_int_equal(count(world, dirty_pages), 8);
	assert_int_equal(count(world, write_bytes), 32 * KIB);
	assert_int_equal(resident(world, file), 16);
	world_destroy(world);
}

static void a_direct_read_of_a_hole_reads_nothing(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t file = cache_file_add(world->cache, MIB, CACHE_FILE_SPARSE);

	(void)state;
	assert_int_equal(direct_read(world, file, 0, MIB), 0);
	direct_write(world, file, 512 * KIB, 64 * KIB);
	assert_int_equal(direct_read(world, file, 0, MIB), 64 * KIB);
	world_destroy(world);
}

static void a_direct_write_drops_what_is_cached_of_its_range(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);

	(void)state;
	do_read(world, handle, 0, MIB);
	do_touch(world, handle, 0, 4096); /* mapped, too */
	do_write(world, handle, 4096, 4096);
	direct_write(world, file, 512, 64 * KIB);
	assert_int_equal(resident(world, file), 256 - 17); /* the pages that it touches */
	assert_int_equal(count(world, dirty_pages), 0);
	assert_int_equal(count(world, write_bytes), 4096 + 64 * KIB);
	/* What it wrote is read from the device, and it is no page that pressure took. */
	assert_true(do_read(world, handle, 0, 4096) > 0);
	assert_int_equal(count(world, reread_bytes), 0);
	world_destroy(world);
}

static void a_direct_write_drops_whole_folios(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late, .memory_mib = 128});
	uint32_t file = file_make(world, 8 * MIB), handle = file_open(world, file);
	uint64_t before;

	(void)state;
	do_read_all(world, handle, 0, 8 * MIB, 128 * KIB);
	assert_true(page_count(page_at(world, file, 1024)) > 1);
	before = resident(world, file);
	direct_write(world, file, 4 * MIB, 512);
	assert_true(before - resident(world, file) > 1);
	assert_false(is_resident(world, file, 1024));
	world_destroy(world);
}

static void a_direct_write_makes_a_file_longer(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t file = file_make(world, 0), handle = file_open(world, file);

	(void)state;
	direct_write(world, file, 0, MIB);
	assert_int_equal(cache_file_size(world->cache, file), MIB);
	assert_int_equal(do_read_all(world, handle, 0, MIB, MIB), MIB);
	world_destroy(world);
}

/* ---- RWF_DONTCACHE ---- */

static void what_a_read_brought_in_goes_and_what_was_there_stays(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &in_task});
	uint32_t file = file_make(world, MIB), plain_handle = file_open(world, file),
		 handle = file_open(world, file);

	(void)state;
	do_advise(world, plain_handle, CACHE_ADVICE_RANDOM, 0, 0);
	do_read(world, plain_handle, 256 * KIB, 64 * KIB);
	for (uint64_t at = 0; at < MIB; at += 64 * KIB)
		behind_read(world, handle, at, 64 * KIB);
	assert_int_equal(resident(world, file), 16);
	assert_true(is_resident(world, file, 64));
	/* Those that were there count as used: twice, by two who have it open. */
	assert_true(is_active(world, file, 64));
	assert_int_equal(count(world, read_bytes), MIB);
	world_destroy(world);
}

static void what_was_read_ahead_goes_with_whoever_reads_it(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &in_task});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file),
		 other = open_random(world, file);
	uint64_t ahead;

	(void)state;
	behind_read(world, handle, 0, 16 * KIB);
	ahead = resident(world, file);
	assert_true(ahead > 0);
	assert_false(is_resident(world, file, 0));
	do_read(world, other, 16 * KIB, 4096);
	assert_false(is_resident(world, file, 4));
	assert_true(resident(world, file) >= ahead - 1); /* the marker is among them */
	/* A fault that maps what is around leaves it as it is, one that looks it up keeps it. */
	do_store(world, other, 20 * KIB, 4096);
	do_read(world, other, 20 * KIB, 4096);
	assert_true(is_resident(world, file, 5));
	world_destroy(world);
}

static void what_was_written_goes_when_it_is_written_back(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &in_task});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);

	(void)state;
	behind_write(world, file, handle, 0, 64 * KIB);
	assert_int_equal(resident(world, file), 0);
	assert_int_equal(count(world, write_bytes), 64 * KIB);
	assert_int_equal(count(world, dirty_pages), 0);
	/* Not what was there before. */
	do_read(world, handle, 0, 64 * KIB);
	behind_write(world, file, handle, 0, 4096);
	assert_true(is_resident(world, file, 0));
	world_destroy(world);
}

static void a_plain_write_keeps_the_page(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &in_interrupt});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);

	(void)state;
	(void)world_move_all(world, cache_write_dontcache, handle, MIB, 64 * KIB);
	do_write(world, handle, MIB, 4096);
	do_sync(world);
	assert_true(is_resident(world, file, 256));
	assert_int_equal(resident(world, file), 16); /* one folio: all or nothing */
	do_read(world, handle, MIB, 64 * KIB);
	assert_int_equal(resident(world, file), 16);
	world_destroy(world);
}

/* Measured on ext4. */
static void in_an_interrupt_nothing_is_dropped_until_it_is_read(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &in_interrupt});
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);

	(void)state;
	behind_write(world, file, handle, 0, MIB); /* over what it has */
	assert_int_equal(resident(world, file), 256);
	behind_write(world, file, handle, MIB, MIB); /* and beyond */
	assert_int_equal(resident(world, file), 256);
	do_read(world, handle, 0, MIB);
	assert_int_equal(resident(world, file), 0);
	do_read(world, handle, 0, MIB);
	assert_true(resident(world, file) >= 256);
	world_destroy(world);
}

static void it_means_nothing_to_a_kernel_that_does_not_know_it(void **state)
{
	static const char *const older[] = {"linux-6.12", "linux-6.18,dontcache=none"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *world =
			world_create((struct world_options){.fs = &in_task, .policy = older[i]});
		uint32_t file = file_make(world, MIB), handle = file_open(world, file);

		assert_false(cache_takes_dontcache(world->cache));
		behind_read(world, handle, 0, 64 * KIB);
		assert_true(resident(world, file) >= 16);
		world_destroy(world);
	}
}

static void pages_to_be_dropped_can_be_evicted(void **state)
{
	struct world *world =
		world_create((struct world_options){.fs = &in_interrupt, .memory_mib = 8});
	uint32_t file = file_make(world, 32 * MIB), handle = file_open(world, file),
		 other = file_make(world, 32 * MIB), other_handle = file_open(world, other);

	(void)state;
	/* Dirty and clean ones, of both sorts. */
	for (uint64_t at = 0; at < 16 * MIB; at += 64 * KIB)
		(void)world_move_all(world, cache_write_dontcache, handle, at * 2, 64 * KIB);
	for (uint64_t at = 0; at < 16 * MIB; at += 64 * KIB)
		behind_write(world, file, handle, at * 2 + 64 * KIB, 64 * KIB);
	do_read_all(world, other_handle, 0, 32 * MIB, 64 * KIB);
	cache_check(world->cache);
	assert_true(cache_in_memory(world->cache));
	world_destroy(world);
}

/* ---- drop_caches ---- */

static void one_drops_clean_pages_that_nobody_has_mapped(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 128});
	uint32_t first_name, tree = names_use(world, 100, 0, &first_name);
	uint32_t clean = file_make(world, MIB), dirty = file_make(world, MIB),
		 mapped = file_make(world, MIB);
	uint32_t handle = file_open(world, clean);

	(void)state;
	do_read(world, handle, 0, MIB);
	do_write(world, file_open(world, dirty), 0, 64 * KIB);
	do_touch(world, open_random(world, mapped), 0, 64 * KIB);
	cache_drop_caches(world->cache, CACHE_DROP_PAGES);
	assert_int_equal(resident(world, clean), 0);
	assert_int_equal(resident(world, dirty), 16);
	assert_int_equal(resident(world, mapped), 16);
	assert_int_equal(inodes_cached(world, tree, 100), 100);
	/* Nothing was evicted under pressure. */
	assert_int_equal(count(world, evictions), 0);
	do_read(world, handle, 0, MIB);
	assert_int_equal(count(world, reread_bytes), 0);
	assert_int_equal(count(world, refaults), 0);
	world_destroy(world);
}

static void shadows_are_dropped_but_what_was_evicted_is_read_again(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 8});
	uint32_t file = file_make(world, 16 * MIB), handle = open_random(world, file);

	(void)state;
	do_read_all(world, handle, 0, 16 * MIB, 64 * KIB);
	assert_true(count(world, evictions) > 0);
	cache_drop_caches(world->cache, CACHE_DROP_PAGES);
	assert_int_equal(resident(world, file), 0);
	do_read_all(world, handle, 0, MIB, 64 * KIB);
	assert_int_equal(count(world, refaults), 0);
	assert_int_equal(count(world, reread_bytes), MIB);
	world_destroy(world);
}

static void two_drops_dentries_and_inodes(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 128});
	uint32_t first_name, tree = names_use(world, 5000, 0, &first_name);
	uint32_t file = file_make(world, MIB), name = name_use(world, file);
	uint32_t held = first_name + 7;

	(void)state;
	do_read(world, file_open(world, file), 0, MIB);
	cache_name_get(world->cache, held);
	/* Used again: a second chance, which is no more than that. */
	for (uint32_t i = 0; i < 1000; i++)
		cache_name_use(world->cache, first_name + i);
	cache_drop_caches(world->cache, CACHE_DROP_SLAB);
	assert_int_equal(inodes_cached(world, tree, 5000), 1);
	assert_true(cache_name_cached(world->cache, held));
	assert_false(cache_name_cached(world->cache, name));
	assert_int_equal(resident(world, file), 256);
	assert_true(count(world, slab_bytes) < 10000);
	cache_name_put(world->cache, held);
	world_destroy(world);
}

static void two_took_pages_with_their_inode_before_5_16(void **state)
{
	static const char *const policies[] = {"linux-5.15", "linux-6.1"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *world = world_create(
			(struct world_options){.memory_mib = 128, .policy = policies[i]});
		uint32_t file = file_make(world, MIB), handle;

		(void)name_use(world, file);
		handle = file_open(world, file);
		do_read(world, handle, 0, MIB);
		cache_close(world->cache, handle);
		cache_drop_caches(world->cache, CACHE_DROP_SLAB);
		assert_int_equal(resident(world, file), i == 0 ? 0 : 256);
		cache_drop_caches(world->cache, CACHE_DROP_PAGES | CACHE_DROP_SLAB);
		assert_int_equal(resident(world, file), 0);
		assert_false(cache_inode_cached(world->cache, file));
		world_destroy(world);
	}
}

static void a_cgroup_pays_for_no_buffers_that_are_dropped(void **state)
{
	(void)state;
	for (int is_machine = 0; is_machine < 2; is_machine++) {
		struct world *world = world_create(
			(struct world_options){.fs = &early, .is_machine = is_machine});
		uint32_t first_name;

		names_use(world, 100, 0, &first_name);
		for (uint64_t key = 1; key <= 100; key++)
			assert_false(cache_buffer_use(world->cache, key, 16384));
		cache_drop_caches(world->cache, CACHE_DROP_SLAB);
		assert_true(count(world, slab_bytes) < 200 * KIB);
		assert_false(cache_buffer_use(world->cache, 1, 16384));
		world_destroy(world);
	}
}

/* ---- names ---- */

static void a_file_dies_with_its_last_name(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t file = file_make(world, MIB), first = name_use(world, file),
		 second = cache_name_add(world->cache, 0, 0, 8);

	(void)state;
	cache_name_get(world->cache, second);
	cache_name_link(world->cache, second, file);
	cache_name_put(world->cache, second);
	do_read(world, file_open(world, file), 0, MIB);
	cache_close(world->cache, 1);
	assert_false(cache_name_is_all(world->cache, first));
	cache_name_unlink(world->cache, first);
	assert_int_equal(resident(world, file), 256);
	assert_false(cache_file_is_dead(world->cache, file));
	assert_true(cache_name_is_all(world->cache, second));
	cache_name_unlink(world->cache, second);
	assert_true(cache_file_is_dead(world->cache, file));
	assert_int_equal(resident(world, file), 0);
	/* Their dentries stay, and mean nothing. */
	assert_true(cache_name_cached(world->cache, first));
	cache_name_drop(world->cache, first);
	assert_false(cache_name_cached(world->cache, first));
	world_destroy(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_direct_read_leaves_the_cache_as_it_is),
		cmocka_unit_test(a_direct_read_writes_what_is_dirty_and_leaves_it),
		cmocka_unit_test(a_direct_read_of_a_hole_reads_nothing),
		cmocka_unit_test(a_direct_write_drops_what_is_cached_of_its_range),
		cmocka_unit_test(a_direct_write_drops_whole_folios),
		cmocka_unit_test(a_direct_write_makes_a_file_longer),
		cmocka_unit_test(what_a_read_brought_in_goes_and_what_was_there_stays),
		cmocka_unit_test(what_was_read_ahead_goes_with_whoever_reads_it),
		cmocka_unit_test(what_was_written_goes_when_it_is_written_back),
		cmocka_unit_test(a_plain_write_keeps_the_page),
		cmocka_unit_test(in_an_interrupt_nothing_is_dropped_until_it_is_read),
		cmocka_unit_test(it_means_nothing_to_a_kernel_that_does_not_know_it),
		cmocka_unit_test(pages_to_be_dropped_can_be_evicted),
		cmocka_unit_test(one_drops_clean_pages_that_nobody_has_mapped),
		cmocka_unit_test(shadows_are_dropped_but_what_was_evicted_is_read_again),
		cmocka_unit_test(two_drops_dentries_and_inodes),
		cmocka_unit_test(two_took_pages_with_their_inode_before_5_16),
		cmocka_unit_test(a_cgroup_pays_for_no_buffers_that_are_dropped),
		cmocka_unit_test(a_file_dies_with_its_last_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
