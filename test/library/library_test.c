#include "library/library_test.h"

struct refault_cache *cache_of(uint64_t memory_mib, const char *policy,
			       enum refault_completion completion)
{
	struct refault_options options;
	struct refault_error error;
	struct refault_cache *cache;

	refault_options_init(&options, sizeof(options));
	options.policy = policy;
	options.memory_bytes = memory_mib * MIB;
	options.domain = REFAULT_CGROUP;
	options.completion = completion;
	cache = refault_cache_create(&options, &error);
	if (!cache)
		fail_msg("%s", error.message);
	assert_int_equal(error.kind, REFAULT_ERROR_NONE);
	return cache;
}

void plan_complete(struct refault_cache *cache, const struct refault_plan *plan)
{
	for (uint32_t i = 0; i < plan->fetch_count; i++)
		refault_fetched(cache, &plan->fetch[i]);
	for (uint32_t i = 0; i < plan->write_count; i++)
		refault_written(cache, &plan->write[i]);
}

typedef bool transfer(struct refault_cache *cache, uint32_t handle, uint64_t *offset,
		      uint64_t *bytes, struct refault_plan *plan);

static uint64_t transfer_all(struct refault_cache *cache, struct refault_plan *plan,
			     uint32_t handle, uint64_t offset, uint64_t bytes, transfer *move)
{
	uint64_t end = offset + bytes, fetched = 0;
	bool done;

	refault_operation(cache, 1, 0, plan);
	plan_complete(cache, plan);
	do {
		uint64_t before = offset;

		done = move(cache, handle, &offset, &bytes, plan);
		/* With all I/O done at once, each call comes further or has something to do. */
		assert_true(done || offset > before || plan->fetch_count + plan->write_count > 0);
		assert_true(done || offset + bytes == end);
		fetched += plan->fetch_bytes / PAGE;
		plan_complete(cache, plan);
	} while (!done);
	assert_int_equal(bytes, 0);
	return fetched;
}

uint64_t read_all(struct refault_cache *cache, struct refault_plan *plan, uint32_t handle,
		  uint64_t offset, uint64_t bytes)
{
	return transfer_all(cache, plan, handle, offset, bytes, refault_read);
}

uint64_t write_all(struct refault_cache *cache, struct refault_plan *plan, uint32_t handle,
		   uint64_t offset, uint64_t bytes)
{
	return transfer_all(cache, plan, handle, offset, bytes, refault_write);
}

struct refault_counters counters_of(const struct refault_cache *cache, uint32_t stream)
{
	struct refault_counters counters;

	refault_counters_read(cache, stream, &counters, sizeof(counters));
	return counters;
}
