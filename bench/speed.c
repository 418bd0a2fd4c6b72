/*
 * speed: million page accesses per second, bytes of memory per resident page, and instructions per
 * access
 *
 *     build/bench/speed              the table
 *     build/bench/speed SLICE one fixed slice, for callgrind (bench/instructions.sh):
 *     bare-POLICY, full-random, full-sequential
 *
 * Random: Zipf (exponent 1) over 4 M pages, memory for 1 M. Sequential: a file of 4 M pages read
 * from end to end in 128 KiB requests, memory for 1 M; a page is an access. The machine is shared:
 * figures of one run are to be compared with each other, not with another day's. The first row is a
 * reference: as many independent random reads of an array as large as the page records, the least
 * that any cache must pay.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"
#include "cache/bare.h"
#include "cache/cache.h"
#include "cache/policy.h"
#include "cache/policy_options.h"

enum {
	PAGES = 4 << 20,
	MEMORY_PAGES = 1 << 20,
	ACCESSES = 32 << 20,
	REQUEST_PAGES = 32,
	ROUNDS = 3,
	PREFETCH_AHEAD = 8
};

static double seconds(void)
{
	struct timespec now;

	/* the machine is shared: what others take is not ours */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Zipf by inversion of the continuous distribution, pages scattered so that neighbours in heat are
 * not neighbours in the file.
 */
static uint64_t *zipf_pages(size_t count)
{
	uint64_t *pages = memory_alloc(count, sizeof(*pages));
	struct random random;

	random_init(&random, 1, 0);
	for (size_t i = 0; i < count; i++) {
		double u = (double)(random_next(&random) >> 11) * 0x1p-53;
		uint64_t rank = (uint64_t)exp(u * log((double)PAGES));

		pages[i] = (rank * 2654435761u) % PAGES;
	}
	return pages;
}

struct figures {
	double millions_per_s;
	double bytes_per_page; /* resident; 0: not said */
	double bytes_per_shadow;
	double unused_ratio; /* index entries of pages that were never touched */
	double miss_ratio;
};

static void print(const char *what, const struct figures *figures)
{
	printf("%-34s %8.1f", what, figures->millions_per_s);
	if (figures->bytes_per_page > 0)
		printf(" %12.1f", figures->bytes_per_page);
	if (figures->bytes_per_shadow > 0)
		printf(" %12.1f %8.0f %%", figures->bytes_per_shadow, figures->unused_ratio * 100);
	else if (figures->bytes_per_page > 0)
		printf(" %12s %10s", "-", "-");
	if (figures->miss_ratio > 0)
		printf(" %9.1f %%", figures->miss_ratio * 100);
	printf("\n");
}

static struct figures reference(const uint64_t *pages, size_t count)
{
	size_t records = (size_t)MEMORY_PAGES;
	struct page *array = memory_alloc(records, sizeof(*array));
	volatile uint64_t sink = 0;
	uint64_t sum = 0;
	double start;

	memset(array, 1, records * sizeof(*array));
	start = seconds();
	for (size_t i = 0; i < count; i++)
		sum += array[pages[i] % records].key;
	sink = sum;
	(void)sink;
	memory_free(array);
	return (struct figures){.millions_per_s = (double)count / (seconds() - start) / 1e6};
}

static struct policy_options options_of(const char *text)
{
	struct policy_options options;
	struct error error;

	if (!policy_options_parse(&options, text, &error)) {
		fprintf(stderr, "%s\n", error.message);
		exit(2);
	}
	return options;
}

static struct figures bare_random(const char *policy, const uint64_t *pages, size_t count)
{
	struct policy_options options = options_of(policy);
	struct bare *bare = bare_create(MEMORY_PAGES, options.policy);
	double start, spent;
	uint64_t misses;

	bare_access(bare, pages, count / 4); /* warm */
	start = seconds();
	misses = bare_access(bare, pages + count / 4, count - count / 4);
	spent = seconds() - start;
	count -= count / 4;
	struct figures figures = {
		.millions_per_s = (double)count / spent / 1e6,
		.bytes_per_page = (double)bare_memory_bytes(bare) / (double)bare_resident(bare),
		.miss_ratio = (double)misses / (double)count,
	};
	bare_destroy(bare);
	return figures;
}

static const struct cache_filesystem plain = {
	.folios = CACHE_FOLIOS_LATE,
	.dentry_bytes = 200,
	.inode_bytes = 1136,
	.node_bytes = 592,
};

static struct cache *full_create(const char *policy)
{
	struct policy_options options = options_of(policy);
	struct cache_config config = {
		.policy = &options,
		.filesystem = &plain,
		.memory_bytes = (uint64_t)MEMORY_PAGES * PAGE_BYTES,
		.is_cgroup = true,
		.readahead_pages = 32,
		.device_io_pages = 320,
		.completes_at_once = true,
	};
	struct error error;
	struct cache *cache = cache_create(&config, &error);

	if (!cache) {
		fprintf(stderr, "%s\n", error.message);
		exit(2);
	}
	cache_stream(cache, 1);
	return cache;
}

static void full_memory(const struct cache *cache, struct figures *figures)
{
	uint64_t index, records, resident, remembered, entries;

	cache_memory_parts(cache, &records, &index, &entries, &resident, &remembered);
	/*
	 * A page's entry in the index costs the same whether it is there or remembered; entries of
	 * pages never touched are what a sparse file costs on top.
	 */
	figures->bytes_per_shadow = (double)index / (double)entries;
	figures->bytes_per_page = (double)records / (double)resident + figures->bytes_per_shadow;
	figures->unused_ratio = 1 - (double)(resident + remembered) / (double)entries;
}

static struct figures full_random(const char *policy, const uint64_t *pages, size_t count)
{
	struct cache *cache = full_create(policy);
	struct cache_plan *plan = memory_alloc(1, sizeof(*plan));
	uint32_t file = cache_file_add(cache, (uint64_t)PAGES * PAGE_BYTES, 0), handle;
	uint64_t offset = 0, bytes = 0;
	struct counters before, after;
	size_t warm = count / 4;
	double start;

	cache_open_pay(cache);
	handle = cache_open(cache, file);
	cache_advise(cache, handle, CACHE_ADVICE_RANDOM, &offset, &bytes, plan);
	cache_counters(cache, 0, &before);
	start = seconds();
	for (size_t i = 0; i < count; i++) {
		if (i == warm) {
			cache_counters(cache, 0, &before);
			start = seconds();
		}
		if (i + 3 * PREFETCH_AHEAD < count) {
			cache_prefetch(cache, handle, pages[i + 3 * PREFETCH_AHEAD] << PAGE_SHIFT,
				       CACHE_PREFETCH_INDEX);
			cache_prefetch(cache, handle, pages[i + 2 * PREFETCH_AHEAD] << PAGE_SHIFT,
				       CACHE_PREFETCH_RECORD);
			cache_prefetch(cache, handle, pages[i + PREFETCH_AHEAD] << PAGE_SHIFT,
				       CACHE_PREFETCH_NEIGHBOURS);
		}
		cache_operation(cache);
		offset = pages[i] << PAGE_SHIFT;
		bytes = PAGE_BYTES;
		while (!cache_read(cache, handle, &offset, &bytes, plan))
			plan->fetch_count = 0;
		plan->fetch_count = 0;
	}
	struct figures figures = {.millions_per_s =
					  (double)(count - warm) / (seconds() - start) / 1e6};
	cache_counters(cache, 0, &after);
	figures.miss_ratio =
		(double)(after.page_misses - before.page_misses) / (double)(count - warm);
	full_memory(cache, &figures);
	memory_free(plan);
	cache_destroy(cache);
	return figures;
}

static struct figures full_sequential(const char *policy, size_t count)
{
	struct cache *cache = full_create(policy);
	struct cache_plan *plan = memory_alloc(1, sizeof(*plan));
	uint32_t file = cache_file_add(cache, (uint64_t)PAGES * PAGE_BYTES, 0), handle;
	double start = seconds();

	cache_open_pay(cache);
	handle = cache_open(cache, file);
	for (size_t i = 0; i < count; i += REQUEST_PAGES) {
		uint64_t offset = (i % PAGES) << PAGE_SHIFT, bytes = REQUEST_PAGES * PAGE_BYTES;

		cache_operation(cache);
		while (!cache_read(cache, handle, &offset, &bytes, plan))
			plan->fetch_count = 0;
		plan->fetch_count = 0;
	}
	struct figures figures = {.millions_per_s = (double)count / (seconds() - start) / 1e6};
	full_memory(cache, &figures);
	memory_free(plan);
	cache_destroy(cache);
	return figures;
}

static struct figures best(struct figures a, struct figures b)
{
	return a.millions_per_s > b.millions_per_s ? a : b;
}

#define BEST(expression)                                                                           \
	({                                                                                         \
		struct figures best_ = expression;                                                 \
		for (int round_ = 1; round_ < ROUNDS; round_++)                                    \
			best_ = best(best_, expression);                                           \
		best_;                                                                             \
	})

int main(int argc, char **argv)
{
	static const char *const bare_policies[] = {"lru", "fifo", "clock", "arc"};
	static const char *const full_policies[] = {"linux-6.18,statistics=fresh", "linux-6.1",
						    "lru"};
	size_t count = argc > 1 ? 2 << 20 : ACCESSES;
	uint64_t *pages = zipf_pages(count);
	struct figures figures;
	char name[64];

	if (argc > 1) {
		if (strncmp(argv[1], "bare-", 5) == 0)
			bare_random(argv[1] + 5, pages, count);
		else if (strcmp(argv[1], "full-random") == 0)
			full_random("linux-6.18,statistics=fresh", pages, count);
		else if (strcmp(argv[1], "full-sequential") == 0)
			full_sequential("linux-6.18,statistics=fresh", count);
		else if (strcmp(argv[1], "nothing") != 0)
			return 2;
		printf("%zu\n", count);
		return 0;
	}
	printf("%-34s %8s %12s %12s %10s %11s\n", "", "M/s", "bytes/page", "bytes/shadow", "unused",
	       "misses");
	figures = BEST(reference(pages, count));
	print("reference: random reads of 16 MiB", &figures);
	for (size_t i = 0; i < sizeof(bare_policies) / sizeof(bare_policies[0]); i++) {
		snprintf(name, sizeof(name), "bare %s, random", bare_policies[i]);
		figures = BEST(bare_random(bare_policies[i], pages, count));
		print(name, &figures);
	}
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "full %.*s, random",
			 (int)strcspn(full_policies[i], ","), full_policies[i]);
		figures = BEST(full_random(full_policies[i], pages, count));
		print(name, &figures);
	}
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "full %.*s, sequential",
			 (int)strcspn(full_policies[i], ","), full_policies[i]);
		figures = BEST(full_sequential(full_policies[i], count));
		print(name, &figures);
	}
	memory_free(pages);
	return 0;
}
