#include "streams.h"

static uint64_t uniform(struct random *random, uint64_t i)
{
	(void)i;
	return random_below(random, 600);
}

/* The smaller the key, the likelier; no floating point. */
static uint64_t skewed(struct random *random, uint64_t i)
{
	(void)i;
	return random_below(random, 1 + random_below(random, 1 + random_below(random, 3000)));
}

static uint64_t loop(struct random *random, uint64_t i)
{
	(void)random;
	return i % 270;
}

static uint64_t loop_beside_hot_keys(struct random *random, uint64_t i)
{
	return random_below(random, 3) ? 1000000 + i % 300 : random_below(random, 40);
}

static uint64_t runs(struct random *random, uint64_t i)
{
	/* Sequential stretches of 16 from random starts. */
	static uint64_t start;

	if (i % 16 == 0)
		start = random_below(random, 40) * 16;
	return start + i % 16;
}

static uint64_t phases(struct random *random, uint64_t i)
{
	return i / 3000 * 1000 + random_below(random, 150);
}

/*
 * Keys whose low bits, or high bits, are all alike: a hash that is careless with some of them
 * shows.
 */
static uint64_t multiples_of_a_page(struct random *random, uint64_t i)
{
	return skewed(random, i) * 4096;
}

static uint64_t multiples_of_4_gib(struct random *random, uint64_t i)
{
	return skewed(random, i) << 32;
}

static uint64_t path_and_page(struct random *random, uint64_t i)
{
	return random_below(random, 7) << 40 | skewed(random, i);
}

static uint64_t huge(struct random *random, uint64_t i)
{
	return UINT64_MAX - skewed(random, i);
}

static uint64_t powers_of_two(struct random *random, uint64_t i)
{
	(void)i;
	return UINT64_C(1) << random_below(random, 64) | UINT64_C(1) << random_below(random, 64);
}

static uint64_t one_key(struct random *random, uint64_t i)
{
	(void)random;
	(void)i;
	return 0;
}

static uint64_t twice_in_a_row(struct random *random, uint64_t i)
{
	(void)random;
	return i / 2 % 400;
}

const struct stream streams[STREAMS] = {
	{"uniform", uniform},
	{"skewed", skewed},
	{"loop", loop},
	{"loop beside hot keys", loop_beside_hot_keys},
	{"runs", runs},
	{"phases", phases},
	{"pages", multiples_of_a_page},
	{"4 GiB apart", multiples_of_4_gib},
	{"path and page", path_and_page},
	{"huge", huge},
	{"powers of two", powers_of_two},
	{"one key", one_key},
	{"twice in a row", twice_in_a_row},
};

void stream_fill(uint64_t *keys, size_t count, const struct stream *stream, uint64_t seed)
{
	struct random random;

	random_init(&random, seed, 0);
	for (size_t i = 0; i < count; i++)
		keys[i] = stream->key(&random, i);
}
