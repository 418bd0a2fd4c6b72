/*
 * If this fails, dentries and inodes are kept or shrunk when a kernel does the opposite: inodes
 * read again for nothing, or a create storm that eats the page cache (or does not).
 *
 * Experiments E6 and E7 (linux-experiments.md); linux-caching.md 6. The formula is checked to the
 * unit.
 */
#include "cache_test.h"

/* One call of the shrinkers at this priority, as reclaim makes it. */
static void shrink_once(struct world *world, uint32_t priority, bool fs_allowed)
{
	struct scan scan = {.domain = &world->cache->domain,
			    .priority = priority,
			    .fs_allowed = fs_allowed,
			    .target_pages = 32};

	slab_shrink(world->cache, &scan);
}

/* What shrinkers freed comes back after a grace period: it is over now. */
static void settle(struct world *world)
{
	slab_settle(world->cache, true);
}

/* Dentries alone on the list: their inodes are pinned by them. */
static uint32_t world_with_names(struct world *world, uint32_t names)
{
	uint32_t first = names_use(world, names, 0, NULL);

	assert_int_equal(world->cache->dentry_lru.count, names);
	assert_int_equal(world->cache->inode_lru.count, 0);
	return first;
}

/* E7, observed at most: freeable 20001, debt 36260, priority 6: 566 + 624 */
static void what_a_call_may_not_scan_becomes_debt(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 128});

	(void)state;
	world_with_names(world, 20001);
	world->cache->domain.debt_super = 36260;
	shrink_once(world, 6, false);
	assert_int_equal(world->cache->dentry_lru.count, 20001);
	assert_int_equal(world->cache->domain.debt_super, 36260 + 624);
	/* It is never more than twice what there is. */
	for (uint32_t i = 0; i < 100; i++)
		shrink_once(world, 2, false);
	assert_int_equal(world->cache->domain.debt_super, 40002);
	world_destroy(world);
}

static void a_call_scans_in_batches_of_1024_or_not_at_all(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 128});

	(void)state;
	world_with_names(world, 20001);
	/* 16 at priority 12: (36260 >> 12) + (20001 >> 12) x 2. Too few for a batch. */
	world->cache->domain.debt_super = 36260;
	shrink_once(world, 12, true);
	assert_int_equal(world->cache->dentry_lru.count, 20001);
	assert_int_equal(world->cache->domain.debt_super, 36260 + 8);
	/* 1190 at 6: one batch; what is left of it is debt again. */
	world->cache->domain.debt_super = 36260;
	shrink_once(world, 6, true);
	assert_int_equal(world->cache->domain.debt_super, 36260 + 624 - 1024);
	assert_int_equal(world->cache->dentry_lru.count, 20001 - 1024);
	world_destroy(world);
}

static void few_objects_are_scanned_when_the_priority_reaches_all_of_them(void **state)
{
	struct world *world = world_create((struct world_options){0});

	(void)state;
	world_with_names(world, 500);
	for (uint32_t priority = 12; priority >= 2; priority--)
		shrink_once(world, priority, true);
	assert_int_equal(world->cache->dentry_lru.count, 500);
	shrink_once(world, 1, true);
	assert_int_equal(world->cache->dentry_lru.count, 0);
	world_destroy(world);
}

/* slab_debt=all (to 5.12): the debt counts whole, so small deltas soon make a batch */
static void old_debt_counts_whole(void **state)
{
	uint32_t calls = 0;
	struct world *world = world_create((struct world_options){
		.memory_mib = 128, .policy = "linux-6.18," FRESH ",slab_debt=all"});

	(void)state;
	world_with_names(world, 20001);
	/* A delta of 8 a call: 128 calls make a batch. */
	while (world->cache->dentry_lru.count == 20001) {
		shrink_once(world, 12, true);
		calls++;
	}
	assert_int_equal(calls, 128);
	assert_int_equal(world->cache->domain.debt_super, 0);
	world_destroy(world);
}

/* slab_target=scanned (to 4.15): as large a part of the objects as of the pages */
static void old_targets_follow_the_pages_scanned(void **state)
{
	struct world *world = world_create((struct world_options){
		.memory_mib = 128,
		.policy = "linux-6.18," FRESH ",slab_debt=all,slab_target=scanned"});
	struct scan scan = {.domain = &world->cache->domain, .priority = 12, .fs_allowed = true};

	(void)state;
	world_with_names(world, 20000);
	scan.scanned_pages = 100;
	scan.eligible_pages = 999;
	slab_shrink(world->cache, &scan);
	/* 4 x 100 / 2 x 20000 / 1000 */
	assert_int_equal(world->cache->domain.debt_super, 4000 - 3 * 1024);
	/* Of later batches the inodes that the first ones set free take their part. */
	assert_in_range(world->cache->dentry_lru.count, 20000 - 3 * 1024, 20000 - 2 * 1024);
	world_destroy(world);
}

static void vfs_cache_pressure_scales_what_is_counted(void **state)
{
	static const uint32_t pressures[] = {0, 50, 100, 200};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char policy[96];
		struct world *world;

		snprintf(policy, sizeof(policy), "linux-6.18," FRESH ",vfs_cache_pressure=%u",
			 pressures[i]);
		world = world_create((struct world_options){.memory_mib = 128, .policy = policy});
		world_with_names(world, 20000);
		shrink_once(world, 6, false);
		assert_int_equal(world->cache->domain.debt_super,
				 (20000 * pressures[i] / 100 >> 6) * 2);
		world_destroy(world);
	}
}

/* ---- the lists ---- */

static void a_dentry_used_again_gets_another_round(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t first_name = 0, first = names_use(world, 100, 0, &first_name);

	(void)state;
	for (uint32_t i = 0; i < 100; i += 2)
		cache_name_use(world->cache, first_name + i);
	/* All are looked at, once. */
	shrink_once(world, 1, true);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(cache_name_cached(world->cache, first_name + i), i % 2 == 0);
	/* One inode goes with each batch; the others have come to their own list. */
	assert_int_equal(inodes_cached(world, first, 100), 99);
	cache_check(world->cache);
	shrink_once(world, 0, true);
	assert_int_equal(world->cache->dentry_lru.count, 0);
	world_destroy(world);
}

/* referenced_on_first_use=yes (to 4.12): use-once names get a round, too */
static void referenced_on_first_use_gives_everything_another_round(void **state)
{
	struct world *world = world_create((struct world_options){
		.policy = "linux-6.18," FRESH ",referenced_on_first_use=yes"});

	(void)state;
	names_use(world, 100, 0, NULL);
	shrink_once(world, 1, true);
	assert_int_equal(world->cache->dentry_lru.count, 100);
	assert_int_equal(count(world, dentries_evicted), 0);
	shrink_once(world, 1, true);
	assert_int_equal(world->cache->dentry_lru.count, 0);
	/* Their inodes came to their own list referenced, too. */
	assert_int_equal(world->cache->inode_lru.count, 100);
	assert_int_equal(count(world, inodes_evicted), 0);
	for (uint32_t i = 0; i < 3; i++)
		shrink_once(world, 1, true);
	assert_int_equal(count(world, inodes_evicted), 100);
	settle(world);
	assert_int_equal(count(world, slab_bytes), 0);
	world_destroy(world);
}

static void a_dentry_pins_its_inode_and_its_directory(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t directory = cache_file_add(world->cache, 0, CACHE_FILE_DIRECTORY),
		 parent = cache_name_add(world->cache, 0, 0, 4);
	uint32_t file = file_make(world, 0), child = cache_name_add(world->cache, parent, 0, 4);

	(void)state;
	cache_name_bind(world->cache, parent, directory);
	cache_name_bind(world->cache, child, file);
	cache_name_use(world->cache, parent);
	cache_name_get(world->cache, parent);
	cache_name_get(world->cache, child);
	cache_name_put(world->cache, parent);
	/*
	 * The child is held: nothing can go. The parent stays on its list until the scan meets it.
	 */
	shrink_once(world, 0, true);
	shrink_once(world, 0, true);
	assert_true(cache_name_cached(world->cache, parent) &&
		    cache_name_cached(world->cache, child));
	assert_int_equal(world->cache->dentry_lru.count, 0);
	cache_name_put(world->cache, child);
	for (uint32_t i = 0; i < 4; i++)
		shrink_once(world, 0, true);
	assert_false(cache_name_cached(world->cache, parent) ||
		     cache_name_cached(world->cache, child));
	assert_false(cache_inode_cached(world->cache, file) ||
		     cache_inode_cached(world->cache, directory));
	world_destroy(world);
}

static void a_name_that_means_nothing_is_a_dentry_too(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t name = cache_name_add(world->cache, 0, 0, 60), file;

	(void)state;
	cache_name_use(world->cache, name);
	assert_int_equal(count(world, dentries_allocated), 1);
	assert_int_equal(count(world, inodes_allocated), 0);
	assert_int_equal(count(world, slab_bytes), 304); /* with its long name */
	/* It comes to mean something, and then nothing once more. */
	file = file_make(world, 0);
	cache_name_get(world->cache, name);
	cache_name_link(world->cache, name, file);
	cache_name_put(world->cache, name);
	assert_int_equal(count(world, slab_bytes), 1304);
	cache_name_unlink(world->cache, name);
	assert_int_equal(count(world, slab_bytes), 304);
	assert_true(cache_name_cached(world->cache, name));
	world_destroy(world);
}

static void what_was_shrunk_comes_back_after_a_grace_period(void **state)
{
	struct world *world = world_create((struct world_options){0});

	(void)state;
	names_use(world, 2000, 0, NULL);
	for (uint32_t i = 0; i < 4; i++)
		shrink_once(world, 0, true);
	assert_int_equal(world->cache->dentry_lru.count + world->cache->inode_lru.count, 0);
	assert_int_equal(count(world, slab_bytes), 2000 * 1200);
	for (uint32_t i = 0; i < 1001; i++)
		cache_operation(world->cache);
	assert_int_equal(count(world, slab_bytes), 0);
	world_destroy(world);
}

static void a_rename_takes_the_file_along_and_unlinks_what_was_there(void **state)
{
	struct world *world = world_create((struct world_options){0});
	uint32_t one = file_make(world, MIB), two = file_make(world, MIB);
	uint32_t from = name_use(world, one), to = name_use(world, two),
		 handle = file_open(world, one), other = file_open(world, two);

	(void)state;
	do_read(world, handle, 0, MIB);
	do_read(world, other, 0, MIB);
	cache_name_rename(world->cache, from, to);
	/* Open still, so its pages stay until the last descriptor goes. */
	assert_int_equal(cache_resident_pages(world->cache, two), 256);
	cache_close(world->cache, other);
	assert_int_equal(cache_resident_pages(world->cache, two), 0);
	assert_false(cache_inode_cached(world->cache, two));
	assert_int_equal(cache_resident_pages(world->cache, one), 256);
	assert_int_equal(do_read(world, handle, 0, MIB), 0);
	world_destroy(world);
}

/* ---- inodes with pages (5.16) ---- */

static void an_inode_with_pages_is_pinned_by_them_or_takes_them_along(void **state)
{
	(void)state;
	for (int pinned = 0; pinned < 2; pinned++) {
		struct world *world = world_create((struct world_options){
			.fs = &late,
			.policy = pinned ? "linux-6.18," FRESH ",inode_with_pages=pinned"
					 : "linux-6.18," FRESH ",inode_with_pages=steal"});
		uint32_t first = names_use(world, 50, 65536, NULL);

		for (uint32_t i = 0; i < 50; i += 2) {
			uint32_t handle = file_open(world, first + i);

			do_read(world, handle, 0, 65536);
			cache_close(world->cache, handle);
		}
		for (uint32_t i = 0; i < 6; i++)
			shrink_once(world, 0, true);
		for (uint32_t i = 0; i < 50; i++) {
			assert_int_equal(cache_inode_cached(world->cache, first + i),
					 pinned && i % 2 == 0);
			assert_int_equal(cache_resident_pages(world->cache, first + i),
					 pinned && i % 2 == 0 ? 16 : 0);
		}
		/* Thrown away, but we know that they were there once. */
		assert_int_equal(count(world, evictions), pinned ? 0 : 25 * 16);
		assert_int_equal(count(world, inodes_evicted), pinned ? 25 : 50);
		world_destroy(world);
	}
}

static void an_inode_comes_to_its_list_when_its_last_page_goes(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &plain});
	uint32_t file = file_make(world, 65536), name = name_use(world, file),
		 handle = file_open(world, file);

	(void)state;
	do_read(world, handle, 0, 65536);
	do_write(world, handle, 0, 4096);
	cache_close(world->cache, handle);
	for (uint32_t i = 0; i < 3; i++)
		shrink_once(world, 0, true);
	assert_false(cache_name_cached(world->cache, name));
	assert_true(cache_inode_cached(world->cache, file));
	assert_int_equal(world->cache->inode_lru.count, 0);
	handle = file_open(world, file); /* whoever has it open still */
	do_sync(world);
	do_advise(world, handle, CACHE_ADVICE_DONTNEED, 0, 0);
	cache_close(world->cache, handle);
	assert_int_equal(world->cache->inode_lru.count, 1);
	shrink_once(world, 0, true);
	assert_false(cache_inode_cached(world->cache, file));
	world_destroy(world);
}

/* ---- E7: a stream of pages beside inodes ---- */

static void reads_do_not_shrink_dentries_and_inodes_since_5_8(void **state)
{
	static const struct {
		const char *policy;
		const struct cache_filesystem *fs;
		bool shrinks;
	} rows[] = {
		{"linux-6.18," FRESH, &late, false},
		{"linux-6.18," FRESH ",read_reclaim_fs=yes,slab_debt=all", &late, true},
		{"linux-5.4", &late, true},
		{"linux-5.4", &early, false}, /* XFS never did */
		{"linux-5.10", &late, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *world = world_create((struct world_options){
			.memory_mib = 64, .policy = rows[i].policy, .fs = rows[i].fs});
		uint32_t handle = file_open(world, file_make(world, 512 * MIB)),
			 first = names_use(world, 10000, 0, NULL);

		do_read_all(world, handle, 0, 200 * MIB, 65536);
		assert_int_equal(inodes_cached(world, first, 10000) < 10000, rows[i].shrinks);
		assert_int_equal(count(world, inodes_evicted) > 0, rows[i].shrinks);
		if (i == 0) {
			/*
			 * The debt is there, and is collected by the first who may and has to look
			 * hard.
			 */
			assert_in_range(world->cache->domain.debt_super, 2000, 20000);
			for (int priority = 12; priority >= 0; priority--)
				shrink_once(world, (uint32_t)priority, true);
			assert_int_equal(world->cache->dentry_lru.count, 0);
		}
		world_destroy(world);
	}
}

/* ---- E6: a create storm beside hot pages that nobody reads again ---- */

static void a_create_storm_wins_against_the_page_cache(void **state)
{
	struct world *world = world_create((struct world_options){.memory_mib = 32, .fs = &early});
	uint32_t hot = file_make(world, 16 * MIB), one = open_random(world, hot),
		 two = open_random(world, hot);
	uint64_t before = 4096;

	(void)state;
	do_read_all(world, one, 0, 16 * MIB, 65536);
	do_read_all(world, two, 0, 16 * MIB, 65536);
	assert_int_equal(count(world, active_file_pages), 4096);
	for (uint32_t step = 0; step < 5; step++) {
		uint64_t left;

		for (uint32_t i = 0; i < 5000; i++) {
			uint32_t name = cache_name_add(world->cache, 0, 0, 8),
				 file = file_make(world, 0);

			cache_name_get(world->cache, name);
			cache_name_link(world->cache, name, file);
			cache_inode_hold(world->cache, file); /* in the log */
			cache_name_put(world->cache, name);
		}
		left = cache_resident_pages(world->cache, hot);
		assert_true(left <= before);
		if (step == 4)
			assert_true(left < 1500);
		if (step == 0)
			assert_int_equal(left, 4096);
		before = left;
	}
	assert_true(count(world, slab_bytes) > 20 * MIB);
	world_destroy(world);
}

static void an_evicted_inode_of_xfs_stays_charged_until_its_file_system_lets_go(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &early});
	uint32_t first = names_use(world, 100, 0, NULL);

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		cache_inode_hold(world->cache, first + i);
	for (uint32_t i = 0; i < 4; i++)
		shrink_once(world, 0, true);
	assert_int_equal(count(world, inodes_evicted), 100);
	assert_int_equal(world->cache->lingering.count, 100);
	assert_true(count(world, slab_bytes) >= 100 * 1000);
	/* Wanted again, it is set up anew in the memory that it has. */
	cache_name_use(world->cache, 1);
	assert_int_equal(world->cache->lingering.count, 99);
	assert_int_equal(count(world, inodes_reallocated), 1);
	for (uint32_t i = 0; i < 100; i++)
		cache_inode_release(world->cache, first + i);
	for (uint32_t i = 0; i < 4; i++)
		shrink_once(world, 0, true);
	assert_int_equal(world->cache->lingering.count, 0);
	settle(world);
	assert_int_equal(count(world, slab_bytes), 0);
	world_destroy(world);
}

/*
 * slab_counts: whether a cgroup's reclaim is content with slab pages (not since 6.6). Dentries and
 * inodes come back too late for that; index nodes that hold nothing but shadows at once.
 */
static void freed_slab_counts_as_reclaimed_or_not(void **state)
{
	(void)state;
	for (int yes = 0; yes < 2; yes++) {
		struct world *world = world_create((struct world_options){
			.fs = &late,
			.memory_mib = 16,
			.policy = yes ? "linux-6.18," FRESH ",slab_counts=yes"
				      : "linux-6.18," FRESH ",slab_counts=no"});
		struct scan scan = {.domain = &world->cache->domain, .fs_allowed = true};
		uint32_t file = file_make(world, 64 * GIB), handle = open_random(world, file),
			 before;

		for (uint64_t at = 0; world->cache->domain.shadow_nodes < 500; at++)
			do_read(world, handle, at * 64 * PAGE_BYTES, PAGE_BYTES);
		/* Less memory makes them too many. */
		do_advise(world, handle, CACHE_ADVICE_DONTNEED, 500 * 64 * PAGE_BYTES, 0);
		before = world->cache->domain.shadow_nodes;
		slab_shrink(world->cache, &scan);
		assert_true(world->cache->domain.shadow_nodes < before);
		assert_int_equal(scan.reclaimed_pages > 0, yes);
		world_destroy(world);
	}
}

/* ---- shadows have a limit, too ---- */

static void shadow_nodes_are_kept_for_an_eighth_of_memory(void **state)
{
	static const struct {
		const char *policy;
		uint64_t kept;
	} rows[] = {{"linux-6.18," FRESH, 2048},
		    {"linux-6.18," FRESH ",shadow_limit=file/16", 1024},
		    {"linux-6.18," FRESH ",shadow_limit=file/8", 2048}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world *world = world_create((struct world_options){
			.fs = &late, .memory_mib = 64, .policy = rows[i].policy});
		uint32_t file = file_make(world, 64 * GIB), handle = open_random(world, file);

		/* One page of each node: single reads far apart. */
		for (uint64_t at = 0; at < 60000; at++)
			do_read(world, handle, at * 64 * PAGE_BYTES, PAGE_BYTES);
		/* Half of what is too many goes in each call. */
		assert_in_range(world->cache->domain.shadow_nodes, rows[i].kept / 2,
				rows[i].kept * 13 / 10);
		assert_in_range(count(world, refaults), 0, 0);
		world_destroy(world);
	}
}

/* ---- buffers of the file system's own ---- */

static void buffers_are_a_machines_memory_and_none_of_a_groups(void **state)
{
	(void)state;
	for (int is_machine = 0; is_machine < 2; is_machine++) {
		struct world *world = world_create(
			(struct world_options){.is_machine = is_machine, .memory_mib = 16});
		uint32_t handle = open_random(world, file_make(world, 64 * MIB)), there = 0;

		for (uint64_t key = 0; key < 400; key++)
			assert_false(cache_buffer_use(world->cache, key << 33, 16384));
		for (uint64_t key = 0; key < 400; key++)
			assert_true(cache_buffer_use(world->cache, key << 33, 16384));
		assert_int_equal(count(world, slab_bytes) >= 400 * 16384, is_machine);
		do_read_all(world, handle, 0, 64 * MIB, 65536);
		for (uint32_t round = 0; round < 8; round++)
			for (int priority = 12; priority >= 0; priority--)
				shrink_once(world, (uint32_t)priority, false);
		for (uint64_t key = 0; key < 400; key++)
			there += cache_buffer_use(world->cache, key << 33, 16384);
		assert_int_equal(there, is_machine ? 0 : 400);
		world_destroy(world);
	}
}

/* ---- open files ---- */

static void open_files_are_paid_for_and_come_back_at_once_or_in_batches(void **state)
{
	(void)state;
	for (int late_free = 0; late_free < 2; late_free++) {
		struct world *world = world_create((struct world_options){
			.policy = late_free ? "linux-6.18,open_file_free=late,open_file_bytes=264"
					    : "linux-6.18,open_file_free=now,open_file_bytes=240"});
		uint32_t file = file_make(world, 0), handles[60];

		for (uint32_t i = 0; i < 60; i++)
			handles[i] = file_open(world, file);
		assert_int_equal(count(world, slab_bytes), 60 * (late_free ? 264 : 240));
		for (uint32_t i = 0; i < 49; i++)
			cache_close(world->cache, handles[i]);
		assert_int_equal(count(world, slab_bytes), late_free ? 60 * 264 : 11 * 240);
		for (uint32_t i = 49; i < 60; i++)
			cache_close(world->cache, handles[i]);
		assert_int_equal(count(world, slab_bytes), late_free ? 10 * 264 : 0);
		world_destroy(world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_call_may_not_scan_becomes_debt),
		cmocka_unit_test(a_call_scans_in_batches_of_1024_or_not_at_all),
		cmocka_unit_test(few_objects_are_scanned_when_the_priority_reaches_all_of_them),
		cmocka_unit_test(old_debt_counts_whole),
		cmocka_unit_test(old_targets_follow_the_pages_scanned),
		cmocka_unit_test(vfs_cache_pressure_scales_what_is_counted),
		cmocka_unit_test(a_dentry_used_again_gets_another_round),
		cmocka_unit_test(referenced_on_first_use_gives_everything_another_round),
		cmocka_unit_test(a_dentry_pins_its_inode_and_its_directory),
		cmocka_unit_test(a_name_that_means_nothing_is_a_dentry_too),
		cmocka_unit_test(what_was_shrunk_comes_back_after_a_grace_period),
		cmocka_unit_test(a_rename_takes_the_file_along_and_unlinks_what_was_there),
		cmocka_unit_test(an_inode_with_pages_is_pinned_by_them_or_takes_them_along),
		cmocka_unit_test(an_inode_comes_to_its_list_when_its_last_page_goes),
		cmocka_unit_test(reads_do_not_shrink_dentries_and_inodes_since_5_8),
		cmocka_unit_test(a_create_storm_wins_against_the_page_cache),
		cmocka_unit_test(
			an_evicted_inode_of_xfs_stays_charged_until_its_file_system_lets_go),
		cmocka_unit_test(freed_slab_counts_as_reclaimed_or_not),
		cmocka_unit_test(shadow_nodes_are_kept_for_an_eighth_of_memory),
		cmocka_unit_test(buffers_are_a_machines_memory_and_none_of_a_groups),
		cmocka_unit_test(open_files_are_paid_for_and_come_back_at_once_or_in_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
