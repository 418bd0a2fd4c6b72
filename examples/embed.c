/*
 * embed: the page cache of a toy program
 *
 * A query reads a table at random, in a cgroup of 16 MiB that has room for it; then a backup reads
 * another file beside it, once. librefault decides which pages stay; the "device" only takes its
 * time. In the end we see who evicted whom, under two kernels and under a plain LRU.
 *
 *     cc examples/embed.c $(pkg-config --cflags --libs refault) && ./a.out
 */
#include <stdio.h>

#include <refault.h>

enum { QUERY = 1, BACKUP = 2 }; /* streams: what is counted apart */
enum { READ_BYTES = 8192, TABLE_READS = 1536, BACKUP_READS = 32768 }; /* 12 MiB, 256 MiB */
enum { BACKUP_FROM = 8000, READS = BACKUP_FROM + BACKUP_READS };

static uint64_t now_ns;

/* The fake device: 100 us a request and 1 GB/s, one at a time; then the pages are there. */
static void carry_out(struct refault_cache *cache, const struct refault_plan *plan)
{
	for (uint32_t i = 0; i < plan->fetch_count; i++) {
		now_ns += 100000 + (uint64_t)plan->fetch[i].pages * REFAULT_PAGE_BYTES;
		refault_fetched(cache, &plan->fetch[i]);
	}
	for (uint32_t i = 0; i < plan->write_count; i++)
		refault_written(cache, &plan->write[i]); /* nothing is written in this program */
}

/* One read(2) by `stream`: the core says what it takes, we do it, until all of it was there. */
static void serve(struct refault_cache *cache, struct refault_plan *plan, uint32_t stream,
		  uint32_t handle, uint64_t offset)
{
	uint64_t bytes = READ_BYTES;
	bool done;

	refault_operation(cache, stream, now_ns, plan);
	carry_out(cache, plan);
	do {
		done = refault_read(cache, handle, &offset, &bytes, plan);
		carry_out(cache, plan);
	} while (!done);
}

static double mib(uint64_t pages)
{
	return (double)pages / 256;
}

static int simulate(const char *policy)
{
	static const char *const names[] = {"", "query", "backup"};
	struct refault_options options;
	struct refault_error error;
	struct refault_cache *cache;
	struct refault_plan *plan;
	uint32_t table, backup;
	uint64_t random = 1;

	now_ns = 0;
	refault_options_init(&options, sizeof(options));
	options.policy = policy;
	options.memory_bytes = 16 << 20;
	options.domain = REFAULT_CGROUP;
	cache = refault_cache_create(&options, &error);
	if (!cache)
		return fprintf(stderr, "embed: %s\n", error.message), 1;
	plan = refault_plan_create();
	table = refault_open(cache, refault_file_add(cache, TABLE_READS * READ_BYTES, 0));
	backup = refault_open(cache, refault_file_add(cache, BACKUP_READS * READ_BYTES, 0));
	for (uint64_t i = 0; i < READS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		serve(cache, plan, QUERY, table, (random >> 33) % TABLE_READS * READ_BYTES);
		if (i >= BACKUP_FROM)
			serve(cache, plan, BACKUP, backup, (i - BACKUP_FROM) * READ_BYTES);
	}

	printf("librefault %s, %s: %.1f s\n", refault_version(), refault_policy(cache),
	       (double)now_ns / 1e9);
	for (uint32_t stream = QUERY; stream <= BACKUP; stream++) {
		struct refault_counters counters;

		refault_counters_read(cache, stream, &counters, sizeof(counters));
		printf("  %-6s read %.1f MiB, %.1f again: evicted for query %.1f, backup %.1f\n",
		       names[stream], mib(counters.read_bytes / REFAULT_PAGE_BYTES),
		       mib(counters.reread_bytes / REFAULT_PAGE_BYTES),
		       mib(refault_blame(cache, stream, QUERY)),
		       mib(refault_blame(cache, stream, BACKUP)));
	}
	refault_cache_destroy(cache);
	refault_plan_destroy(plan);
	return 0;
}

int main(void)
{
	return simulate("linux-4.5") || simulate("linux-6.18") || simulate("lru");
}
