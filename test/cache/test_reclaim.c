/*
 * If this fails, memory is given back in the wrong portions, at the wrong moment, or to the wrong
 * end: hot pages are lost that a kernel keeps, or kept that it loses.
 *
 * Experiments E1, E5 and E13 (linux-experiments.md) with round numbers; linux-caching.md 2 and 3.
 */
#include "cache_test.h"

/* ---- how much one call frees (E13) ---- */

/* Read single pages in order; how often an insertion freed how many pages. */
static uint32_t steps_of(struct world *world, uint32_t handle, uint64_t first_page, uint64_t pages,
			 uint64_t bytes_a_read, uint64_t *usual)
{
	uint64_t before = count(world, evictions);
	uint32_t seen[4096] = {0}, calls = 0;

	for (uint64_t at = first_page * PAGE_BYTES; at < (first_page + pages) * PAGE_BYTES;
	     at += bytes_a_read) {
		uint64_t now;

		do_read(world, handle, at, bytes_a_read);
		now = count(world, evictions);
		assert_true(now - before < 4096);
		if (now > before) {
			seen[now - before]++;
			calls++;
		}
		before = now;
	}
	*usual = 0;
	for (uint64_t step = 1; step < 4096; step++)
		if (seen[step] > seen[*usual])
			*usual = step;
	return seen[*usual] * 100 / calls;
}

static void a_call_frees_53_single_pages_in_128_mib(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late, .memory_mib = 128});
	uint32_t handle = open_random(world, file_make(world, 512 * MIB));
	uint64_t usual;

	(void)state;
	do_read_all(world, handle, 0, 130 * MIB, 4096);
	/* 7 at priority 12, 15 at 11, 31 at 10: the first sum of 32 or more. */
	assert_int_equal(steps_of(world, handle, 131 * 256, 128 * 256, PAGE_BYTES, &usual), 100);
	assert_int_equal(usual, 53);
	world_destroy(world);
}

static void a_call_frees_one_folio_of_32_pages(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late, .memory_mib = 128});
	uint32_t handle = file_open(world, file_make(world, 512 * MIB));
	uint64_t usual;

	(void)state;
	do_read_all(world, handle, 0, 160 * MIB, 65536);
	assert_true(steps_of(world, handle, 160 * 256, 128 * 256, PAGE_BYTES, &usual) > 90);
	assert_int_equal(usual, 32);
	world_destroy(world);
}

static void the_step_falls_to_the_target_as_memory_grows(void **state)
{
	(void)state;
	/* Half a GiB and more: 32 pages at priority 12 are enough. */
	{
		struct world *world = world_create((struct world_options){.memory_mib = 640});
		uint32_t handle = open_random(world, file_make(world, GIB));
		uint64_t usual;

		do_read_all(world, handle, 0, 640 * MIB, 65536);
		steps_of(world, handle, 640 * 256, 16 * 256, PAGE_BYTES, &usual);
		/* 163840 >> 12 is 40: one cluster of 32, which is the target. */
		assert_int_equal(usual, 32);
		world_destroy(world);
	}
}

/* ---- loops (E1) ---- */

static void a_loop_that_fits_hits_and_one_a_little_larger_never_does(void **state)
{
	static const uint32_t sizes_mib[] = {57, 68, 75, 85, 100, 128};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes_mib) / sizeof(sizes_mib[0]); i++) {
		struct world *world =
			world_create((struct world_options){.fs = &late, .memory_mib = 64});
		uint64_t bytes = sizes_mib[i] * MIB;
		uint32_t handle = file_open(world, file_make(world, bytes));

		assert_int_equal(do_read_all(world, handle, 0, bytes, 65536), bytes);
		for (uint32_t pass = 2; pass <= 6; pass++)
			assert_int_equal(do_read_all(world, handle, 0, bytes, 65536),
					 sizes_mib[i] < 64 ? 0 : bytes);
		assert_int_equal(count(world, active_file_pages),
				 sizes_mib[i] < 64 ? bytes / PAGE_BYTES : 0);
		assert_int_equal(count(world, refault_activations), 0);
		if (sizes_mib[i] > 64)
			assert_int_equal(count(world, refaults), 5 * bytes / PAGE_BYTES);
		world_destroy(world);
	}
}

/* ---- the refault distance (E5) ---- */

/*
 * A: half of memory, active. A probe, a stream of D MiB, the probe again: how many of its pages
 * came back active?
 */
static uint64_t probe(const char *policy, uint64_t stream_mib)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 128, .policy = policy});
	uint32_t a = open_random(world, file_make(world, 64 * MIB)), again = open_random(world, 1);
	uint32_t probed = open_random(world, file_make(world, 4 * MIB));
	uint32_t stream = open_random(world, file_make(world, 512 * MIB));
	uint64_t activated;

	do_read_all(world, a, 0, 64 * MIB, 65536);
	do_read_all(world, again, 0, 64 * MIB, 65536);
	do_read_all(world, probed, 0, 4 * MIB, 65536);
	do_read_all(world, stream, 0, stream_mib * MIB, 65536);
	do_read_all(world, probed, 0, 4 * MIB, 65536);
	activated = count(world, refault_activations);
	world_destroy(world);
	return activated;
}

static void a_page_comes_back_active_if_it_would_have_fitted_beside_the_active_ones(void **state)
{
	static const struct {
		uint64_t stream_mib, least, most;
	} rows[] = {
		{50, 0, 0}, /* a hit */
		{80, 1024, 1024},
		{110, 1024, 1024},
		{116, 1024, 1024},
		/*
		 * Each page that comes back ages the next by two, so that the last ones are late:
		 * 3.4 of 4 MiB were measured.
		 */
		{120, 870, 1023},
		{128, 0, 0},
		{140, 0, 0},
		{300, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_in_range(probe("linux-6.18," FRESH, rows[i].stream_mib), rows[i].least,
				rows[i].most);
}

static void the_age_may_be_stored_before_or_after_the_eviction_counts(void **state)
{
	(void)state;
	/* A page of difference: */
	assert_int_equal(probe("linux-6.18," FRESH ",shadow_age=added", 120),
			 probe("linux-6.18," FRESH, 120) + 1);
	assert_int_equal(probe("linux-6.18," FRESH ",shadow_age=added", 128), 0);
	assert_int_equal(probe("lru", 80), 0);
}

static void a_page_that_a_write_brings_back_is_not_activated_since_4_7(void **state)
{
	(void)state;
	for (int yes = 0; yes < 2; yes++) {
		struct world *world = world_create((struct world_options){
			.memory_mib = 16,
			.policy = yes ? "linux-6.18," FRESH ",refault_on_write=yes"
				      : "linux-6.18," FRESH ",refault_on_write=no"});
		uint32_t hot = file_make(world, 8 * MIB), one = open_random(world, hot),
			 two = open_random(world, hot);
		uint32_t log = open_random(world, file_make(world, 4 * MIB)),
			 stream = open_random(world, file_make(world, 64 * MIB));

		do_read_all(world, one, 0, 8 * MIB, 65536);
		do_read_all(world, two, 0, 8 * MIB, 65536);
		do_read_all(world, log, 0, 4 * MIB, 65536);
		do_read_all(world, stream, 0, 9 * MIB, 65536);
		/* The log was evicted a moment ago, and is written over. */
		do_write_all(world, log, 0, 4 * MIB, 65536);
		assert_int_equal(count(world, refault_activations) > 0, yes);
		assert_int_equal(count(world, refaults) > 0, yes);
		world_destroy(world);
	}
}

static void shadows_die_with_the_data_and_not_with_the_memory(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late, .memory_mib = 16});
	uint32_t file = file_make(world, 4 * MIB), handle = open_random(world, file);
	uint32_t stream = open_random(world, file_make(world, 64 * MIB));

	(void)state;
	do_read_all(world, handle, 0, 4 * MIB, 65536);
	do_read_all(world, stream, 0, 32 * MIB, 65536);
	assert_int_equal(cache_resident_pages(world->cache, file), 0);
	do_advise(world, handle, CACHE_ADVICE_DONTNEED, 0, 2 * MIB);
	cache_check(world->cache);
	do_read_all(world, handle, 0, 4 * MIB, 65536);
	/* What was advised away is forgotten: not read again, but read. */
	assert_int_equal(count(world, refaults), 512);
	assert_int_equal(count(world, reread_bytes), 2 * MIB);
	assert_int_equal(cache_blame(world->cache, 1, 1), 512);
	world_destroy(world);
}

/* ---- who must go: demotion (2.3) ---- */

/* Half of memory read twice, then a stream: what is left of the hot half. */
static uint64_t hot_left(const char *policy, uint64_t hot_mib, uint64_t stream_mib)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 64, .policy = policy});
	uint32_t hot = file_make(world, hot_mib * MIB), one = open_random(world, hot),
		 two = open_random(world, hot);
	uint32_t stream = open_random(world, file_make(world, 512 * MIB));
	uint64_t left;

	do_read_all(world, one, 0, hot_mib * MIB, 65536);
	do_read_all(world, two, 0, hot_mib * MIB, 65536);
	do_read_all(world, stream, 0, stream_mib * MIB, 65536);
	left = cache_resident_pages(world->cache, hot) * PAGE_BYTES / MIB;
	world_destroy(world);
	return left;
}

static void half_of_memory_is_safe_from_a_stream_and_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; policy_of_pages_at(i); i++) {
		char policy[64];

		if (!policy_has_switches(policy_of_pages_at(i)) ||
		    policy_has_generations(policy_of_pages_at(i)))
			continue;
		/* Each with the newest rule of what a use is: this is about reclaim. */
		snprintf(policy, sizeof(policy), "%s," FRESH ",read_mark=folio",
			 policy_name(policy_of_pages_at(i)));
		assert_int_equal(hot_left(policy, 24, 400), 24);
		/* 48 of 64: the active list is worn down to half. */
		assert_in_range(hot_left(policy, 48, 400), 28, 33);
	}
	assert_int_equal(hot_left("lru", 24, 400), 0);
	assert_int_equal(hot_left("fifo", 24, 400), 0);
	assert_int_equal(hot_left("clock", 24, 400), 0);
}

static void the_square_root_lets_a_large_machine_keep_more_active(void **state)
{
	static const struct {
		const char *policy;
		uint64_t most_mib, least_mib;
	} rows[] = {
		/*
		 * Over 2 GiB of files: the root of 20 is 4, so the inactive list may fall to a
		 * fifth.
		 */
		{"linux-6.18," FRESH ",inactive_ratio=half", 1100, 1080},
		{"linux-6.18," FRESH ",inactive_ratio=sqrt", 1760, 1740},
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *world = world_create((struct world_options){
			.memory_mib = 2200, .policy = rows[i].policy, .fs = &late});
		uint32_t hot = file_make(world, 1900 * MIB), one = file_open(world, hot),
			 two = file_open(world, hot);
		uint32_t stream = file_open(world, file_make(world, 8192 * MIB));
		uint64_t active;

		do_read_all(world, one, 0, 1900 * MIB, MIB);
		do_read_all(world, two, 0, 1900 * MIB, MIB);
		do_read_all(world, stream, 0, 2500 * MIB, MIB);
		active = count(world, active_file_pages) * PAGE_BYTES / MIB;
		assert_in_range(active, rows[i].least_mib, rows[i].most_mib);
		world_destroy(world);
	}
}

static void demote_on_refault_lets_active_pages_go_though_they_are_few(void **state)
{
	static const char *const values[] = {"no", "group", "root"};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		char policy[96];
		struct world *world;
		uint32_t hot, one, two, probed, stream;

		snprintf(policy, sizeof(policy), "linux-5.4,read_mark=folio,demote_on_refault=%s",
			 values[i]);
		world = world_create((struct world_options){.memory_mib = 64, .policy = policy});
		hot = file_make(world, 20 * MIB);
		one = open_random(world, hot);
		two = open_random(world, hot);
		probed = open_random(world, file_make(world, MIB));
		stream = open_random(world, file_make(world, 512 * MIB));
		do_read_all(world, one, 0, 20 * MIB, 65536);
		do_read_all(world, two, 0, 20 * MIB, 65536);
		do_read_all(world, probed, 0, MIB, 65536);
		do_read_all(world, stream, 0, 50 * MIB, 65536);
		/* 20 active, 44 inactive: nobody may be demoted. */
		assert_int_equal(count(world, deactivations), 0);
		do_read_all(world, probed, 0, MIB, 65536);
		assert_int_equal(count(world, refault_activations), 256);
		/* A working set that changes: once it is seen, something active must make room. */
		assert_int_equal(count(world, deactivations) > 0, i > 0);
		world_destroy(world);
	}
}

static void statistics_may_be_seconds_old(void **state)
{
	/* E5b: demotion that was allowed goes on until the lists are summed again. */
	uint64_t fresh = hot_left("linux-6.18,statistics=fresh,statistics_ops=0", 32, 100);
	struct world *world = world_create(
		(struct world_options){.memory_mib = 64, .policy = "linux-6.18,statistics=lazy"});
	uint32_t hot = file_make(world, 40 * MIB), one = open_random(world, hot),
		 two = open_random(world, hot);
	uint32_t stream = open_random(world, file_make(world, 512 * MIB));

	(void)state;
	assert_in_range(fresh, 31, 32);
	do_read_all(world, one, 0, 40 * MIB, 65536);
	do_read_all(world, two, 0, 40 * MIB, 65536);
	cache_clock(world->cache, 3 * NS_PER_SECOND, &world->plan);
	do_read_all(world, stream, 0, 200 * MIB, 65536);
	/* It has not noticed that 32 : 32 was reached. */
	assert_true(count(world, active_file_pages) < 24 * MIB / PAGE_BYTES);
	cache_publish(world->cache);
	assert_int_equal(world->cache->domain.published.active_pages,
			 count(world, active_file_pages));
	world_destroy(world);
}

/* A recorded trace tells when they were summed: then the cache's own two seconds would be wrong. */
static void statistics_are_summed_when_a_trace_says_so_and_not_besides(void **state)
{
	struct world *world =
		world_create((struct world_options){.policy = "linux-6.18,statistics=lazy"});
	uint32_t handle = open_random(world, file_make(world, MIB));
	const struct domain *domain = &world->cache->domain;

	(void)state;
	do_read(world, handle, 0, PAGE_BYTES);
	cache_clock(world->cache, 3 * NS_PER_SECOND, &world->plan);
	assert_int_equal(domain->published.inactive_pages, 1);
	do_read(world, handle, PAGE_BYTES, PAGE_BYTES);
	cache_publish_told(world->cache);
	assert_int_equal(domain->published.inactive_pages, 2);
	do_read(world, handle, 2 * PAGE_BYTES, PAGE_BYTES);
	cache_clock(world->cache, 60 * NS_PER_SECOND, &world->plan);
	assert_int_equal(domain->published.inactive_pages, 2);
	cache_publish_told(world->cache);
	assert_int_equal(domain->published.inactive_pages, 3);
	world_destroy(world);
}

static void statistics_may_be_summed_every_so_many_operations(void **state)
{
	struct world *world = world_create(
		(struct world_options){.policy = "linux-6.18,statistics=fresh,statistics_ops=4"});
	uint32_t handle = open_random(world, file_make(world, MIB));

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		do_read(world, handle, i * PAGE_BYTES, PAGE_BYTES);
		assert_int_equal(world->cache->domain.published.inactive_pages,
				 i < 3 ? 0 : (i + 1) / 4 * 4 - 1);
	}
	world_destroy(world);
}

/* ---- a machine's watermarks ---- */

static void a_machine_frees_down_to_the_high_watermark_in_the_background(void **state)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 64, .is_machine = true});
	const struct domain *domain = &world->cache->domain;
	uint32_t handle = open_random(world, file_make(world, 512 * MIB));
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	/* isqrt(16 x 65536 KiB) = 1024 KiB; gaps of a quarter. */
	assert_int_equal(domain->pages_min, 256);
	assert_int_equal(domain->pages_low, 320);
	assert_int_equal(domain->pages_high, 384);
	for (uint64_t at = 0; at < 200 * MIB; at += PAGE_BYTES) {
		uint64_t free_pages;

		do_read(world, handle, at, PAGE_BYTES);
		free_pages = domain->limit_pages - domain->usage_pages;
		if (at > 100 * MIB) {
			least = free_pages < least ? free_pages : least;
			most = free_pages > most ? free_pages : most;
		}
	}
	assert_in_range(least, 319, 321);
	assert_in_range(most, 384, 384 + 64);
	world_destroy(world);
}

/* Readahead does without what there is no memory for, in a group and on a machine. */
static void a_window_larger_than_memory_is_read_as_far_as_it_fits(void **state)
{
	(void)state;
	for (int is_machine = 0; is_machine < 2; is_machine++) {
		struct world *world = world_create((struct world_options){
			.memory_mib = 5, .is_machine = is_machine, .readahead_pages = 4096});
		uint32_t handle = file_open(world, file_make(world, 64 * MIB));
		uint64_t first = do_read(world, handle, 0, MIB);

		assert_in_range(first, MIB, 5 * MIB);
		do_read_all(world, handle, MIB, MIB, 65536);
		assert_true(cache_in_memory(world->cache));
		assert_true(world->cache->domain.usage_pages <= world->cache->domain.limit_pages);
		world_destroy(world);
	}
}

static void a_groups_usage_stays_within_a_step_of_its_limit(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &late, .memory_mib = 64});
	const struct domain *domain = &world->cache->domain;
	uint32_t handle = file_open(world, file_make(world, 512 * MIB));

	(void)state;
	do_read_all(world, handle, 0, 70 * MIB, 65536);
	for (uint64_t at = 70 * MIB; at < 200 * MIB; at += 65536) {
		do_read(world, handle, at, 65536);
		assert_true(domain->usage_pages <= domain->limit_pages);
		assert_true(domain->usage_pages + 128 >= domain->limit_pages);
	}
	world_destroy(world);
}

static void charge_batch_is_what_a_group_takes_at_once(void **state)
{
	static const uint32_t batches[] = {1, 32, 64, 1000};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char policy[96];
		struct world *world;
		uint32_t handle;

		snprintf(policy, sizeof(policy), "linux-6.18,charge_batch=%u", batches[i]);
		world = world_create((struct world_options){.policy = policy});
		handle = open_random(world, file_make(world, MIB));
		/* Opening paid for a page of objects. */
		do_read(world, handle, 0, PAGE_BYTES);
		assert_int_equal(world->cache->domain.usage_pages % batches[i], 0);
		assert_int_equal(world->cache->domain.stock_pages,
				 world->cache->domain.usage_pages - 2);
		world_destroy(world);
	}
}

static void pinned_memory_is_not_there_for_caches(void **state)
{
	struct policy_options policy;
	struct error error;
	struct cache_config config = {.policy = &policy,
				      .filesystem = &plain,
				      .memory_bytes = 64 * MIB,
				      .is_cgroup = true,
				      .completes_at_once = true};
	struct cache *cache;
	struct counters counters;

	(void)state;
	assert_true(policy_options_parse(&policy, "", &error));
	config.pinned_bytes = 60 * MIB;
	cache = cache_create(&config, &error);
	assert_non_null(cache);
	assert_int_equal(cache->domain.limit_pages, 1024);
	cache_counters(cache, 0, &counters);
	assert_int_equal(counters.pinned_bytes, 60 * MIB);
	cache_destroy(cache);
	config.pinned_bytes++;
	assert_null(cache_create(&config, &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_non_null(strstr(error.message, "too small"));
	config.pinned_bytes = UINT64_MAX;
	assert_null(cache_create(&config, &error));
	config = (struct cache_config){
		.policy = &policy, .filesystem = &plain, .memory_bytes = 4 * MIB - 1};
	assert_null(cache_create(&config, &error));
	config.memory_bytes = UINT64_C(8192) * GIB;
	assert_null(cache_create(&config, &error));
	assert_non_null(strstr(error.message, "4 TiB"));
}

/* ---- whose fault it was ---- */

static void blame_counts_every_page_read_again_against_who_forced_it_out(void **state)
{
	struct world *world =
		world_create((struct world_options){.memory_mib = 16, .policy = "lru"});
	uint32_t heap = open_random(world, file_make(world, 8 * MIB)),
		 log = open_random(world, file_make(world, 64 * MIB));
	struct counters counters;

	(void)state;
	cache_stream(world->cache, 2);
	do_read_all(world, heap, 0, 8 * MIB, 65536);
	cache_stream(world->cache, 5);
	do_read_all(world, log, 0, 64 * MIB, 65536);
	cache_stream(world->cache, 2);
	do_read_all(world, heap, 0, 8 * MIB, 65536);
	assert_int_equal(cache_stream_count(world->cache), 6);
	assert_int_equal(cache_blame(world->cache, 2, 5), 2048);
	assert_int_equal(cache_blame(world->cache, 2, 2) + cache_blame(world->cache, 5, 2) +
				 cache_blame(world->cache, 5, 5),
			 0);
	cache_counters(world->cache, 2, &counters);
	assert_int_equal(counters.reread_bytes, 8 * MIB);
	assert_int_equal(counters.read_bytes, 16 * MIB);
	assert_int_equal(counters.inactive_file_pages, 2048);
	cache_counters(world->cache, 5, &counters);
	assert_int_equal(counters.reread_bytes, 0);
	assert_int_equal(counters.evictions, count(world, evictions) - 2048);
	world_destroy(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_frees_53_single_pages_in_128_mib),
		cmocka_unit_test(a_call_frees_one_folio_of_32_pages),
		cmocka_unit_test(the_step_falls_to_the_target_as_memory_grows),
		cmocka_unit_test(a_loop_that_fits_hits_and_one_a_little_larger_never_does),
		cmocka_unit_test(
			a_page_comes_back_active_if_it_would_have_fitted_beside_the_active_ones),
		cmocka_unit_test(the_age_may_be_stored_before_or_after_the_eviction_counts),
		cmocka_unit_test(a_page_that_a_write_brings_back_is_not_activated_since_4_7),
		cmocka_unit_test(shadows_die_with_the_data_and_not_with_the_memory),
		cmocka_unit_test(half_of_memory_is_safe_from_a_stream_and_no_more),
		cmocka_unit_test(the_square_root_lets_a_large_machine_keep_more_active),
		cmocka_unit_test(demote_on_refault_lets_active_pages_go_though_they_are_few),
		cmocka_unit_test(statistics_may_be_seconds_old),
		cmocka_unit_test(statistics_are_summed_when_a_trace_says_so_and_not_besides),
		cmocka_unit_test(statistics_may_be_summed_every_so_many_operations),
		cmocka_unit_test(a_machine_frees_down_to_the_high_watermark_in_the_background),
		cmocka_unit_test(a_window_larger_than_memory_is_read_as_far_as_it_fits),
		cmocka_unit_test(a_groups_usage_stays_within_a_step_of_its_limit),
		cmocka_unit_test(charge_batch_is_what_a_group_takes_at_once),
		cmocka_unit_test(pinned_memory_is_not_there_for_caches),
		cmocka_unit_test(blame_counts_every_page_read_again_against_who_forced_it_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
