/*
 * If this fails, generations do not do what MGLRU does: pages that a kernel protects go, or the
 * other way round, and a prediction for a machine that runs it is a prediction for another.
 *
 * What the truth test compares as a whole, rule by rule: linux-caching.md section 7, mm/vmscan.c of
 * 6.1, 6.12 and 6.18.
 */
#include "cache_test.h"

enum { MEMORY_MIB = 64, MEMORY_PAGES = MEMORY_MIB * 256 };

static struct world *world_of(const char *policy)
{
	return world_create((struct world_options){.policy = policy, .memory_mib = MEMORY_MIB});
}

/* Uses the first pages of a file so many times each, by two descriptors in turn. */
static void use(struct world *world, uint32_t file, uint64_t pages, uint32_t times)
{
	uint32_t handles[2] = {open_random(world, file), open_random(world, file)};

	for (uint32_t i = 0; i < times; i++)
		do_read_all(world, handles[i % 2], 0, pages * PAGE_BYTES, PAGE_BYTES);
	for (uint32_t i = 0; i < 2; i++)
		cache_close(world->cache, handles[i]);
}

/* As many pages as memory has, and more, each read once. */
static void stream(struct world *world, uint64_t pages)
{
	use(world, file_make(world, pages * PAGE_BYTES), pages, 1);
}

static uint64_t resident(struct world *world, uint32_t file, uint64_t pages)
{
	return pages_with(world, file, 0, pages, 0);
}

/* ---- uses ---- */

static void uses_are_told_apart_up_to_five(void **state)
{
	struct world *world = world_of("linux-6.12-mglru");
	uint32_t file = file_make(world, 8 * PAGE_BYTES);

	(void)state;
	for (uint32_t times = 1; times <= 6; times++) {
		const struct page *page;

		use(world, file, 1, times == 1);
		use(world, file, 1, times > 1);
		page = page_at(world, file, 0);
		assert_true(page->bits & PAGE_REFERENCED);
		assert_int_equal(!!(page->bits & PAGE_WORKINGSET), times >= 2);
		assert_int_equal(page->refs, times < 3 ? 0 : times > 5 ? 3 : times - 2);
	}
	world_destroy(world);
}

static void since_6_14_they_are_counted_before_they_make_a_working_set(void **state)
{
	struct world *world = world_of("linux-6.18-mglru");
	uint32_t file = file_make(world, 8 * PAGE_BYTES);

	(void)state;
	for (uint32_t times = 1; times <= 6; times++) {
		const struct page *page;

		use(world, file, 1, 1);
		page = page_at(world, file, 0);
		assert_true(page->bits & PAGE_REFERENCED);
		assert_int_equal(page->refs, times > 4 ? 3 : times - 1);
		assert_int_equal(!!(page->bits & PAGE_WORKINGSET), times >= 5);
	}
	world_destroy(world);
}

/* ---- in ---- */

static void what_is_read_is_not_active_and_what_a_fault_brings_is(void **state)
{
	static const char *const policies[] = {"linux-6.1-mglru", "linux-6.12-mglru",
					       "linux-6.18-mglru"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world *world = world_of(policies[i]);
		uint32_t file = file_make(world, MIB), mapped = file_make(world, MIB);
		uint32_t handle = file_open(world, mapped);

		use(world, file, 256, 1);
		assert_int_equal(count(world, active_file_pages), 0);
		assert_int_equal(count(world, inactive_file_pages), 256);
		do_touch(world, handle, 0, MIB);
		assert_int_equal(count(world, active_file_pages), 256);
		world_destroy(world);
	}
}

static void a_mapping_without_recency_brings_nothing_active(void **state)
{
	struct world *world = world_of("linux-6.12-mglru");
	uint32_t handle = file_open(world, file_make(world, MIB));

	(void)state;
	do_advise(world, handle, CACHE_ADVICE_MAP_RANDOM, 0, 0);
	do_touch(world, handle, 0, MIB);
	assert_int_equal(count(world, active_file_pages), 0);
	assert_int_equal(count(world, inactive_file_pages), 256);
	world_destroy(world);
}

/* ---- out ---- */

/* Pages freed by the first call that frees any. */
static uint64_t first_step(struct world *world)
{
	uint32_t handle = open_random(world, file_make(world, 2 * MEMORY_MIB * MIB));

	for (uint64_t at = 0; count(world, evictions) == 0; at += PAGE_BYTES)
		do_read(world, handle, at, PAGE_BYTES);
	return count(world, evictions);
}

static void a_call_frees_64_pages_and_since_6_18_what_the_priorities_ask_for(void **state)
{
	struct world *batch = world_of("linux-6.12-mglru"), *asked = world_of("linux-6.18-mglru");

	(void)state;
	assert_int_equal(first_step(batch), 64);
	/* Some 16,300 pages >> 12, 11, 10 and 9: the first sum of 32 or more. */
	assert_int_equal(first_step(asked), 3 + 7 + 15 + 31);
	world_destroy(batch);
	world_destroy(asked);
}

static void five_uses_protect_and_one_does_not(void **state)
{
	static const char *const policies[] = {"linux-6.1-mglru", "linux-6.12-mglru"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *world = world_of(policies[i]);
		uint32_t hot = file_make(world, 16 * MIB), cold = file_make(world, 16 * MIB);

		use(world, hot, 4096, 5);
		use(world, cold, 4096, 1);
		stream(world, MEMORY_PAGES);
		assert_int_equal(resident(world, hot, 4096), 4096);
		assert_int_equal(resident(world, cold, 4096), 0);
		/* They had to be looked at for that, and their uses are forgotten. */
		assert_int_equal(pages_with(world, hot, 0, 4096, PAGE_REFERENCED), 0);
		assert_int_equal(count(world, active_file_pages), 4096);
		world_destroy(world);
	}
}

/*
 * Two uses are nothing until pages of that tier have come back: the controller has seen none, then
 * 4096 of 4096.
 */
static void a_tier_is_protected_once_its_pages_have_come_back(void **state)
{
	struct world *world = world_of("linux-6.12-mglru");
	uint32_t hot = file_make(world, 16 * MIB);

	(void)state;
	use(world, hot, 4096, 2);
	stream(world, MEMORY_PAGES + 2048);
	assert_int_equal(resident(world, hot, 4096), 0);
	use(world, hot, 4096, 2);
	assert_int_equal(count(world, refaults), 4096);
	assert_int_equal(count(world, refault_activations), 4096);
	stream(world, MEMORY_PAGES);
	assert_int_equal(resident(world, hot, 4096), 4096);
	world_destroy(world);
}

static void mapped_pages_in_use_outlive_a_stream(void **state)
{
	static const char *const policies[] = {"linux-6.1-mglru", "linux-6.12-mglru",
					       "linux-6.18-mglru"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world *world = world_of(policies[i]);
		uint32_t used = file_make(world, 8 * MIB), idle = file_make(world, 8 * MIB);
		uint32_t of_used = file_open(world, used), of_idle = file_open(world, idle);
		uint32_t scan = open_random(world, file_make(world, 512 * MIB));

		do_touch(world, of_used, 0, 8 * MIB);
		do_touch(world, of_idle, 0, 8 * MIB);
		for (uint64_t at = 0; at < 512 * MIB; at += MIB) {
			do_read_all(world, scan, at, MIB, PAGE_BYTES);
			do_touch(world, of_used, 0, 8 * MIB);
		}
		assert_true(resident(world, used, 2048) == 2048);
		world_destroy(world);
	}
}

/* ---- dirty pages ---- */

static void dirty_pages_wait_in_the_next_generation_and_go_first_when_written(void **state)
{
	struct world *world = world_of("linux-6.12-mglru");
	uint32_t dirty = file_make(world, 4 * MIB), handle = file_open(world, dirty);

	(void)state;
	do_write_all(world, handle, 0, 4 * MIB, PAGE_BYTES);
	stream(world, MEMORY_PAGES);
	assert_int_equal(count(world, dirty_pages), 1024);
	assert_int_equal(pages_with(world, dirty, 0, 1024, PAGE_DIRTY | PAGE_RECLAIM), 1024);
	do_sync(world);
	assert_int_equal(pages_with(world, dirty, 0, 1024, PAGE_RECLAIM), 0);
	stream(world, 1024 + 64);
	assert_int_equal(resident(world, dirty, 1024), 0);
	world_destroy(world);
}

static void more_is_written_than_memory_holds(void **state)
{
	static const char *const policies[] = {"linux-6.12-mglru", "linux-6.18-mglru"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *world = world_of(policies[i]);
		uint32_t handle = file_open(world, file_make(world, 0));

		do_write_all(world, handle, 0, 2 * MEMORY_MIB * MIB, MIB);
		assert_true(cache_in_memory(world->cache));
		world_destroy(world);
	}
}

static void what_dontneed_cannot_drop_goes_when_written(void **state)
{
	struct world *world = world_of("linux-6.12-mglru");
	uint32_t file = file_make(world, MIB), handle = file_open(world, file);
	uint64_t offset = 0, bytes = MIB;

	(void)state;
	do_write_all(world, handle, 0, MIB, PAGE_BYTES);
	while (!cache_advise(world->cache, handle, CACHE_ADVICE_DONTNEED, &offset, &bytes,
			     &world->plan))
		plan_clear(world);
	plan_clear(world);
	stream(world, MEMORY_PAGES + 128);
	assert_int_equal(resident(world, file, 256), 0);
	world_destroy(world);
}

/* ---- a whole machine ---- */

static void with_min_ttl_a_machine_is_out_of_memory_sooner(void **state)
{
	static const char *const policies[] = {"linux-6.12-mglru",
					       "linux-6.12-mglru,min_ttl_ms=1000"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *world = world_create((struct world_options){
			.policy = policies[i], .memory_mib = MEMORY_MIB, .is_machine = true});

		stream(world, MEMORY_PAGES);
		assert_int_equal(cache_in_memory(world->cache), i == 0);
		world_destroy(world);
	}
}

/* ---- the plain cache ---- */

static void the_plain_cache_can_have_generations(void **state)
{
	struct world *world = world_create((struct world_options){
		.policy = "linux-6.12-mglru", .memory_mib = 1, .bare = true});
	uint32_t file = file_make(world, 2 * MIB);

	(void)state;
	use(world, file, 512, 1);
	assert_in_range(resident(world, file, 512), 256 - 64, 256);
	world_destroy(world);
}

/* ---- switches ---- */

static void switches_are_for_those_that_have_what_they_are_about(void **state)
{
	struct policy_options options;
	struct error error;

	(void)state;
	assert_true(policy_options_parse(&options, "linux-6.12-mglru,mglru_gain=1.5", &error));
	assert_true(policy_options_parse(&options, "linux-6.12-mglru,read_mark=page", &error));
	assert_false(policy_options_parse(&options, "linux-6.12,mglru_gain=1.5", &error));
	assert_string_equal(error.message,
			    "policy switch mglru_gain: linux-6.12 has no generations; give a "
			    "kernel's policy, as in linux-6.18-mglru,mglru_gain=1.5");
	assert_false(
		policy_options_parse(&options, "linux-6.12-mglru,inactive_ratio=half", &error));
	assert_non_null(strstr(error.message, "linux-6.12-mglru has no active and inactive list"));
	assert_false(policy_options_parse(&options, "lru,read_mark=page", &error));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(uses_are_told_apart_up_to_five),
		cmocka_unit_test(since_6_14_they_are_counted_before_they_make_a_working_set),
		cmocka_unit_test(what_is_read_is_not_active_and_what_a_fault_brings_is),
		cmocka_unit_test(a_mapping_without_recency_brings_nothing_active),
		cmocka_unit_test(a_call_frees_64_pages_and_since_6_18_what_the_priorities_ask_for),
		cmocka_unit_test(five_uses_protect_and_one_does_not),
		cmocka_unit_test(a_tier_is_protected_once_its_pages_have_come_back),
		cmocka_unit_test(mapped_pages_in_use_outlive_a_stream),
		cmocka_unit_test(dirty_pages_wait_in_the_next_generation_and_go_first_when_written),
		cmocka_unit_test(more_is_written_than_memory_holds),
		cmocka_unit_test(what_dontneed_cannot_drop_goes_when_written),
		cmocka_unit_test(with_min_ttl_a_machine_is_out_of_memory_sooner),
		cmocka_unit_test(the_plain_cache_can_have_generations),
		cmocka_unit_test(switches_are_for_those_that_have_what_they_are_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
