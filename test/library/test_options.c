/*
 * If this fails, a program that embeds the core gets a cache that it did not ask for, or no word about why it gets none.
 */
#include "library/library_test.h"

#include <string.h>

#include "machine/model/fs/shelf.h"

static void refused(const struct refault_options *options, const char *why)
{
	struct refault_error error = {0};

	assert_null(refault_cache_create(options, &error));
	assert_int_equal(error.kind, REFAULT_ERROR_INPUT);
	if (!strstr(error.message, why))
		fail_msg("expected \"%s\" in: %s", why, error.message);
	assert_null(refault_cache_create(options, NULL));
}

static struct refault_options good(void)
{
	struct refault_options options;

	refault_options_init(&options, sizeof(options));
	options.memory_bytes = 64 * MIB;
	return options;
}

static void the_defaults_need_nothing_but_a_size(void **state)
{
	struct refault_options options = good();
	struct refault_error error = {.kind = REFAULT_ERROR_FAILED};
	struct refault_cache *cache = refault_cache_create(&options, &error);

	(void)state;
	assert_non_null(cache);
	assert_int_equal(error.kind, REFAULT_ERROR_NONE);
	assert_string_equal(error.message, "");
	assert_string_equal(refault_policy(cache), refault_policy_name(0));
	assert_true(refault_in_memory(cache));
	refault_check(cache);
	refault_cache_destroy(cache);
	refault_cache_destroy(NULL);
}

static void what_is_wrong_is_said(void **state)
{
	struct refault_options options = good();

	(void)state;
	options.memory_bytes = 0;
	refused(&options, "too small");
	options = good();
	options.memory_bytes = MIB;
	refused(&options, "1 MiB");
	options = good();
	options.pinned_bytes = UINT64_MAX;
	refused(&options, "pinned");
	options = good();
	options.memory_bytes = UINT64_MAX;
	refused(&options, "4 TiB");
	options = good();
	options.readahead_bytes = UINT64_MAX;
	refused(&options, "readahead");
	options = good();
	options.policy = "linux-6.18x";
	refused(&options, "nearest: linux-6.18)");
	options.policy = "linux-6.18,statistics=stale";
	refused(&options, "fresh|lazy");
	options.policy = "linux-6.18,statistic=fresh";
	refused(&options, "statistics");
	options = good();
	options.domain = (enum refault_domain)7;
	refused(&options, "domain");
	options = good();
	options.completion = (enum refault_completion) - 1;
	refused(&options, "completion");
}

static void structs_of_other_versions_are_met_with_sense(void **state)
{
	struct {
		struct refault_options options;
		uint64_t of_the_future;
	} longer;
	struct refault_options zeros = {0}, options = good();
	struct refault_filesystem filesystem;
	struct refault_cache *cache;

	(void)state;
	refused(&zeros, "refault_options_init()");
	refault_options_init(&longer.options, sizeof(longer));
	longer.options.memory_bytes = 64 * MIB;
	assert_int_equal(longer.of_the_future, 0);
	cache = refault_cache_create(&longer.options, NULL);
	assert_non_null(cache); /* it is at its default: fine */
	refault_cache_destroy(cache);
	longer.of_the_future = 1;
	refused(&longer.options, "another version");

	memset(&filesystem, 0, sizeof(filesystem));
	options.filesystem = &filesystem;
	refused(&options, "refault_filesystem_init()");
	refault_filesystem_init(&filesystem, sizeof(filesystem));
	filesystem.folios = (enum refault_folios)3;
	refused(&options, "folios");
}

static void plain_is_what_the_program_calls_flat(void **state)
{
	const struct cache_filesystem *flat = &filesystem_flat.core;
	struct refault_filesystem plain;
	struct refault_options options = good();

	(void)state;
	refault_filesystem_init(&plain, sizeof(plain));
	assert_int_equal(plain.folios, flat->folios);
	assert_int_equal(plain.dentry_bytes, flat->dentry_bytes);
	assert_int_equal(plain.long_name_bytes, flat->long_name_bytes);
	assert_int_equal(plain.inline_name_bytes, flat->inline_name_bytes);
	assert_int_equal(plain.inode_bytes, flat->inode_bytes);
	assert_int_equal(plain.buffer_bytes, flat->buffer_bytes);
	assert_int_equal(plain.node_bytes, flat->node_bytes);
	assert_false(plain.marks_on_write || plain.partial_reads_all || plain.reads_without_fs ||
		     plain.writes_without_fs || plain.inode_make_fs || plain.inode_read_fs ||
		     plain.evicted_inodes_linger);
	assert_int_equal(options.device_io_bytes, (uint64_t)filesystem_flat.device_io_pages * PAGE);
}

/* Larger folios are charged whole: the same reads in the same memory end with other lists. */
static void the_file_system_given_is_the_one_used(void **state)
{
	struct refault_plan *plan = refault_plan_create();
	uint64_t pages[2];

	(void)state;
	for (int folios = 0; folios < 2; folios++) {
		struct refault_options options = good();
		struct refault_filesystem filesystem;
		struct refault_cache *cache;
		uint32_t file;

		refault_filesystem_init(&filesystem, sizeof(filesystem));
		filesystem.folios = folios ? REFAULT_FOLIOS_EARLY : REFAULT_FOLIOS_NEVER;
		filesystem.inode_bytes = folios ? 0 : 5000;
		options.filesystem = &filesystem;
		cache = refault_cache_create(&options, NULL);
		file = refault_file_add(cache, PAGE + 1, 0);
		refault_operation(cache, 1, 0, plan);
		refault_name_use(cache, refault_name_add(cache, 0, file, 5));
		pages[folios] = counters_of(cache, 0).slab_bytes;
		refault_cache_destroy(cache);
	}
	assert_int_equal(pages[0], 200 + 5000);
	assert_int_equal(pages[1], 200 + 1136); /* ext4_inode_bytes of 6.18 */
	refault_plan_destroy(plan);
}

static void policies_and_switches_can_be_listed_and_used(void **state)
{
	size_t policies = 0, switches = 0;

	(void)state;
	for (; refault_policy_name(policies); policies++) {
		assert_non_null(refault_policy_summary(policies));
		refault_cache_destroy(
			cache_of(8, refault_policy_name(policies), REFAULT_BY_CALLER));
	}
	assert_true(policies >= 13);
	assert_null(refault_policy_summary(policies));
	for (; refault_switch_name(switches); switches++)
		assert_true(strlen(refault_switch_values(switches)) > 0 &&
			    strlen(refault_switch_meaning(switches)) > 0);
	assert_true(switches >= 6);
	assert_null(refault_switch_values(switches));
	assert_null(refault_switch_meaning(SIZE_MAX));
}

static void the_policy_in_use_is_told_in_full(void **state)
{
	struct refault_cache *cache =
		cache_of(8, "linux-4.5,activate_on_write=never,statistics=fresh", REFAULT_AT_ONCE);

	(void)state;
	assert_string_equal(refault_policy(cache), "linux-4.5,activate_on_write=never");
	refault_cache_destroy(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_need_nothing_but_a_size),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(structs_of_other_versions_are_met_with_sense),
		cmocka_unit_test(plain_is_what_the_program_calls_flat),
		cmocka_unit_test(the_file_system_given_is_the_one_used),
		cmocka_unit_test(policies_and_switches_can_be_listed_and_used),
		cmocka_unit_test(the_policy_in_use_is_told_in_full),
	};

	return cmocka_run_group_tests_name("library/options", tests, NULL, NULL);
}
