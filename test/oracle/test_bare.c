/*
 * If this fails, the plain cache is not the policy it says it is, and every miss ratio printed with
 * --bare is wrong.
 *
 * Each policy is held against a slow, obvious one (oracle.h), key by key, on streams of every
 * shape; and against what is known of all caches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "cache/bare_loop.h"
#include "cache/cache.h"
#include "cache/policy_options.h"
#include "oracle.h"
#include "streams.h"

enum { KEYS = 12000 };

static const struct policy *policy_named(const char *name)
{
	struct policy_options options;
	struct error error;

	if (!policy_options_parse(&options, name, &error))
		fail_msg("%s", error.message);
	return options.policy;
}

static const struct {
	const char *name;
	enum oracle_kind kind;
} kinds[] = {
	{"lru", ORACLE_LRU}, {"fifo", ORACLE_FIFO}, {"clock", ORACLE_CLOCK}, {"arc", ORACLE_ARC}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static uint64_t misses_of(const char *policy, uint64_t pages, const uint64_t *keys, size_t count)
{
	struct bare *bare = bare_create(pages, policy_named(policy));
	uint64_t misses = bare_access(bare, keys, count);

	bare_check(bare);
	bare_destroy(bare);
	return misses;
}

/* In pieces of odd sizes, and the sums compared after each: batches end everywhere. */
static void compare(const char *name, enum oracle_kind kind, uint64_t pages, const uint64_t *keys,
		    size_t count, uint64_t seed, const char *what)
{
	struct bare *bare = bare_create(pages, policy_named(name));
	struct oracle oracle;
	struct random random;
	uint64_t misses = 0;

	oracle_init(&oracle, kind, pages);
	random_init(&random, seed, 99);
	for (size_t at = 0, piece; at < count; at += piece) {
		piece = 1 + random_below(&random, 100);
		piece = piece < count - at ? piece : count - at;
		misses += bare_access(bare, keys + at, piece);
		for (size_t i = at; i < at + piece; i++)
			oracle_access(&oracle, keys[i]);
		if (misses != oracle.misses || bare_evictions(bare) != oracle.evictions ||
		    bare_resident(bare) != oracle.count)
			fail_msg("%s of %llu pages, stream %s, seed %llu: %llu misses by key %zu, "
				 "expected %llu",
				 name, (unsigned long long)pages, what, (unsigned long long)seed,
				 (unsigned long long)misses, at + piece,
				 (unsigned long long)oracle.misses);
	}
	bare_check(bare);
	bare_destroy(bare);
	oracle_deinit(&oracle);
}

static void each_policy_is_its_oracle_on_every_stream(void **state)
{
	static const uint64_t sizes[] = {1, 2, 3, 14, 15, 16, 31, 100, 256, 300, 1000};
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++) {
		for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
			uint64_t seed = 1 + stream * 100 + size;

			stream_fill(keys, KEYS, &streams[stream], seed);
			for (size_t kind = 0; kind < KINDS; kind++)
				compare(kinds[kind].name, kinds[kind].kind, sizes[size], keys, KEYS,
					seed, streams[stream].name);
		}
	}
	memory_free(keys);
}

/* All of them want the same line of the index: it spills far, and comes back. */
static void keys_that_collide_are_told_apart(void **state)
{
	enum { COLLIDING = 900 };
	uint64_t *pool = memory_alloc(COLLIDING, sizeof(*pool)),
		 *keys = memory_alloc(KEYS, sizeof(*keys));
	struct random random;

	(void)state;
	for (uint64_t pages = 100; pages <= 700; pages += 300) {
		struct bare *bare = bare_create(pages, policy_named("lru"));
		size_t found = 0;

		for (uint64_t key = 0; found < COLLIDING; key++)
			if (bare_line_of(bare, bare_hash(key)) == bare->line_count - 1)
				pool[found++] = key;
		bare_destroy(bare);
		random_init(&random, pages, 0);
		for (size_t i = 0; i < KEYS; i++)
			keys[i] = pool[random_below(&random, COLLIDING)];
		for (size_t kind = 0; kind < KINDS; kind++)
			compare(kinds[kind].name, kinds[kind].kind, pages, keys, KEYS, pages,
				"colliding");
	}
	memory_free(pool);
	memory_free(keys);
}

static void a_larger_lru_never_misses_more(void **state)
{
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++) {
		uint64_t before = KEYS;

		stream_fill(keys, KEYS, &streams[stream], 5);
		for (uint64_t pages = 1; pages < 4000; pages += 1 + pages / 7) {
			uint64_t misses = misses_of("lru", pages, keys, KEYS);

			assert_true(misses <= before);
			before = misses;
		}
	}
	memory_free(keys);
}

/* Belady, Nelson, Shedler 1969: a larger FIFO may. */
static void a_larger_fifo_may_miss_more(void **state)
{
	static const uint64_t keys[] = {1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5};

	(void)state;
	assert_int_equal(misses_of("fifo", 3, keys, 12), 9);
	assert_int_equal(misses_of("fifo", 4, keys, 12), 10);
	assert_int_equal(misses_of("lru", 3, keys, 12), 10);
	assert_int_equal(misses_of("lru", 4, keys, 12), 8);
	assert_int_equal(oracle_min_misses(keys, 12, 3), 7);
}

static void nobody_beats_the_one_who_knows_the_future(void **state)
{
	enum { COUNT = 2500 };
	uint64_t *keys = memory_alloc(COUNT, sizeof(*keys));
	static const char *const names[] = {"lru", "fifo", "clock", "arc"};

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++) {
		stream_fill(keys, COUNT, &streams[stream], 11);
		for (uint64_t pages = 20; pages <= 320; pages *= 4) {
			uint64_t best = oracle_min_misses(keys, COUNT, pages);

			for (size_t i = 0; i < 4; i++)
				assert_true(misses_of(names[i], pages, keys, COUNT) >= best);
		}
	}
	memory_free(keys);
}

/*
 * The full core with nothing but pages (how kernels' policies run with --bare) is the same cache.
 */
static void the_full_core_in_bare_mode_agrees(void **state)
{
	static const struct cache_filesystem nothing;
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < 6; stream++) {
		stream_fill(keys, KEYS, &streams[stream], 21);
		for (size_t kind = 0; policy_at(kind); kind++) {
			const char *name = policy_name(policy_at(kind));
			struct policy_options options;
			struct error error;
			struct cache_config config = {.policy = &options,
						      .filesystem = &nothing,
						      .memory_bytes = 200 * UINT64_C(4096),
						      .is_cgroup = true,
						      .completes_at_once = true,
						      .bare = true,
						      .seed = 1};
			struct cache *cache;
			uint64_t misses = 0;
			uint32_t file;

			if (!policy_at(kind)->use)
				continue;
			assert_true(policy_options_parse(&options, name, &error));
			cache = cache_create(&config, &error);
			assert_non_null(cache);
			file = cache_file_add(cache, UINT64_C(1) << 40, 0);
			for (size_t i = 0; i < KEYS; i++)
				misses += !cache_bare_access(cache, file, keys[i]);
			cache_check(cache);
			/* A page's identity is hashed, by some: there it has its file's number in it. */
			for (size_t i = 0; i < KEYS; i++)
				keys[i] ^= (uint64_t)file << 38;
			assert_int_equal(misses, misses_of(name, 200, keys, KEYS));
			for (size_t i = 0; i < KEYS; i++)
				keys[i] ^= (uint64_t)file << 38;
			assert_int_equal(cache_resident_pages(cache, file),
					 misses < 200 ? misses : 200);
			cache_destroy(cache);
		}
	}
	memory_free(keys);
}

static void a_page_costs_at_most_24_bytes(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct bare *bare = bare_create(1000000, policy_named(kinds[kind].name));

		/* With as many ghosts as pages, twice that, and a byte that says which is which. */
		assert_true(bare_memory_bytes(bare) <=
			    (kinds[kind].kind == ORACLE_ARC ? 50 : 24) * 1000000);
		bare_destroy(bare);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_policy_is_its_oracle_on_every_stream),
		cmocka_unit_test(keys_that_collide_are_told_apart),
		cmocka_unit_test(a_larger_lru_never_misses_more),
		cmocka_unit_test(a_larger_fifo_may_miss_more),
		cmocka_unit_test(nobody_beats_the_one_who_knows_the_future),
		cmocka_unit_test(the_full_core_in_bare_mode_agrees),
		cmocka_unit_test(a_page_costs_at_most_24_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
