/*
 * If this fails, a policy of the shelf does not do what its paper says, and whoever compares
 * policies compares something else.
 *
 * Each is held against a plain model of it (plain.h), request by request, on streams of every
 * shape, and on real traces where there are any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cache/bare.h"
#include "cache/policy_options.h"
#include "plain.h"
#include "streams.h"

enum { KEYS = 4000 };

static struct policy_options options_of(const char *text)
{
	struct policy_options options;
	struct error error;

	if (!policy_options_parse(&options, text, &error))
		fail_msg("%s", error.message);
	return options;
}

/* In pieces of odd sizes, and the sums compared after each: batches end everywhere. */
static void compare(const char *policy, struct plain *plain, uint64_t seed, const uint64_t *keys,
		    size_t count, const char *what)
{
	struct policy_options options = options_of(policy);
	struct bare *bare = bare_create_with(plain->pages, &options, seed);
	struct random random;
	uint64_t misses = 0;

	random_init(&random, seed, 98);
	for (size_t at = 0, piece; at < count; at += piece) {
		piece = 1 + random_below(&random, 70);
		piece = piece < count - at ? piece : count - at;
		misses += bare_access(bare, keys + at, piece);
		for (size_t i = at; i < at + piece; i++)
			plain_access(plain, keys[i]);
		if (misses != plain->misses || bare_evictions(bare) != plain->evictions ||
		    bare_resident(bare) != plain->resident)
			fail_msg("%s of %zu pages, stream %s, seed %llu: %llu misses by key %zu, "
				 "expected %llu",
				 policy, plain->pages, what, (unsigned long long)seed,
				 (unsigned long long)misses, at + piece,
				 (unsigned long long)plain->misses);
		if (at % 16 == 0)
			bare_check(bare);
	}
	bare_check(bare);
	bare_destroy(bare);
}

#ifdef REFAULT_CHECK
enum { SIZES_STEP = 3 }; /* each stream with some */
#else
enum { SIZES_STEP = 1 };
#endif

static void each_policy_is_its_plain_model_on_every_stream(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 10, 31, 101, 256, 300};
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++)
		for (size_t size = stream % SIZES_STEP; size < sizeof(sizes) / sizeof(sizes[0]);
		     size += SIZES_STEP) {
			uint64_t seed = 1 + stream * 100 + size;

			stream_fill(keys, KEYS, &streams[stream], seed);
			for (size_t i = 0; plain_at(i); i++) {
				struct plain plain;

				plain_init(&plain, plain_at(i), sizes[size], seed);
				compare(plain_at(i)->name, &plain, seed, keys, KEYS,
					streams[stream].name);
				plain_deinit(&plain);
			}
		}
	memory_free(keys);
}

static void lru_k_heeds_its_options(void **state)
{
	static const struct {
		const char *policy;
		unsigned k;
		uint64_t correlated, retained;
	} cases[] = {
		{"lru-k,k=3", 3, 0, 0},
		{"lru-k,k=4", 4, 0, 0},
		{"lru-k,correlated=1", 2, 1, 0},
		{"lru-k,correlated=30", 2, 30, 0},
		{"lru-k,correlated=2000", 2, 2000, 0},
		{"lru-k,retained=100", 2, 0, 100},
		{"lru-k,k=3,correlated=10,retained=500", 3, 10, 500},
	};
	uint64_t *keys = memory_alloc(KEYS, sizeof(*keys));

	(void)state;
	for (size_t stream = 0; stream < STREAMS; stream++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct plain plain;

			stream_fill(keys, KEYS, &streams[stream], 7 + i);
			plain_init(&plain, plain_named("lru-k"), 64, 1);
			plain.k = cases[i].k;
			plain.correlated = cases[i].correlated;
			plain.retained = cases[i].retained;
			compare(cases[i].policy, &plain, 7, keys, KEYS, streams[stream].name);
			plain_deinit(&plain);
		}
	memory_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_policy_is_its_plain_model_on_every_stream),
		cmocka_unit_test(lru_k_heeds_its_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
