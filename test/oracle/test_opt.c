/*
 * If this fails, the bound that every policy is shown beside is not one: opt misses more or less
 * than Belady's MIN, and what a better policy could win is told wrongly.
 *
 * It is held against a MIN that looks through all that follows, at every request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cache/bare.h"
#include "cache/future.h"
#include "cache/policy_options.h"
#include "oracle.h"
#include "streams.h"

enum { KEYS = 2500 };

static const struct policy *policy_named(const char *name)
{
	struct policy_options options;
	struct error error;

	if (!policy_options_parse(&options, name, &error))
		fail_msg("%s", error.message);
	return options.policy;
}

static struct future *future_of(const uint64_t *keys, size_t count)
{
	struct future *future = future_create();

	/* In pieces, since a trace comes so. */
	for (size_t at = 0; at < count; at += 700)
		future_add(future, keys + at, at + 700 < count ? 700 : count - at);
	future_settle(future);
	return future;
}

static void a_future_tells_each_next_use(void **state)
{
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++) {
		struct future *future;
		uint64_t distinct = 0;

		stream_fill(keys, KEYS, &streams[stream], 3);
		future = future_of(keys, KEYS);
		assert_int_equal(future_count(future), KEYS);
		for (size_t i = 0; i < KEYS; i++) {
			size_t next = i + 1;

			while (next < KEYS && keys[next] != keys[i])
				next++;
			assert_int_equal(future_next(future, i), next < KEYS ? next : FUTURE_NEVER);
			distinct += next == KEYS;
		}
		assert_int_equal(future_distinct(future), distinct);
		future_destroy(future);
	}
	memory_free(keys);
}

/* The table begins with room for 32,768 pages: here it grows, thrice. */
static void a_future_of_many_pages_is_no_other(void **state)
{
	enum { COUNT = 400000, DISTINCT = 250000 };
	uint64_t *keys = memory_alloc(COUNT, sizeof(*keys));
	struct future *future;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		keys[i] = i % DISTINCT << 12;
	future = future_of(keys, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(future_next(future, i),
				 i + DISTINCT < COUNT ? i + DISTINCT : FUTURE_NEVER);
	assert_int_equal(future_distinct(future), DISTINCT);
	future_destroy(future);
	memory_free(keys);
}

static void opt_misses_as_often_as_min(void **state)
{
	static const uint64_t sizes[] = {1, 2, 3, 20, 64, 65, 320, 1000, 4000};
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++) {
		struct future *future;

		stream_fill(keys, KEYS, &streams[stream], 12);
		future = future_of(keys, KEYS);
		for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
			struct bare *bare = bare_create(sizes[size], policy_named("opt"));
			uint64_t misses = 0, least = oracle_min_misses(keys, KEYS, sizes[size]);

			bare_foresee(bare, future);
			for (size_t at = 0; at < KEYS; at += 100)
				misses += bare_access(bare, NULL, 100);
			if (misses != least)
				fail_msg("%s, %llu pages: %llu misses, not %llu",
					 streams[stream].name, (unsigned long long)sizes[size],
					 (unsigned long long)misses, (unsigned long long)least);
			assert_int_equal(bare_evictions(bare),
					 misses > sizes[size] ? misses - sizes[size] : 0);
			bare_check(bare);
			bare_destroy(bare);
		}
		future_destroy(future);
	}
	memory_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_future_tells_each_next_use),
		cmocka_unit_test(a_future_of_many_pages_is_no_other),
		cmocka_unit_test(opt_misses_as_often_as_min),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
