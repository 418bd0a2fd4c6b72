/*
 * What the tests of the cache share: a cache with one caller, who carries out every plan at once.
 *
 * A `struct world` is one cache. Reads and writes go through it in bytes, and it keeps what they
 * made the device do; page states are looked at through the core's own records.
 */
#ifndef REFAULT_TEST_CACHE_TEST_H
#define REFAULT_TEST_CACHE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "cache/cache_private.h"

#define UNUSED __attribute__((unused))

/*
 * Files and nothing else: no index memory, no buffers, so that every page charged is a page of
 * data.
 */
static const struct cache_filesystem plain UNUSED = {
	.folios = CACHE_FOLIOS_NEVER,
	.dentry_bytes = 200,
	.inline_name_bytes = 39,
	.long_name_bytes = 104,
	.inode_bytes = 1000,
};

/* As ext4 on a new kernel, with round numbers. */
static const struct cache_filesystem late UNUSED = {
	.folios = CACHE_FOLIOS_LATE,
	.dentry_bytes = 200,
	.inline_name_bytes = 39,
	.long_name_bytes = 104,
	.inode_bytes = 1000,
	.buffer_bytes = 100,
	.node_bytes = 592,
};

/* As XFS, with round numbers. */
static const struct cache_filesystem early UNUSED = {
	.folios = CACHE_FOLIOS_EARLY,
	.partial_reads_all = true,
	.reads_without_fs = true,
	.writes_without_fs = true,
	.inode_read_fs = true,
	.evicted_inodes_linger = true,
	.dentry_bytes = 200,
	.inline_name_bytes = 39,
	.long_name_bytes = 104,
	.inode_bytes = 1000,
	.node_bytes = 592,
};

struct world_options {
	const char *policy; /* NULL: linux-6.18 with statistics that are always current */
	const struct cache_filesystem *fs; /* NULL: plain */
	uint64_t memory_mib;               /* 0: 64 */
	uint32_t readahead_pages;          /* 0: 32; UINT32_MAX: none */
	uint32_t device_io_pages;
	bool is_machine, later, bare;
};

struct world {
	struct cache *cache;
	struct cache_plan plan;
	struct counters counters; /* by count() */
	uint32_t fetch_runs;      /* of the last operation */
};

/* Always current: what the sizes of the lists are is then a matter of arithmetic. */
#define FRESH "statistics=fresh,statistics_ops=0"

static UNUSED struct world *world_create(struct world_options options)
{
	struct world *world = memory_alloc(1, sizeof(*world));
	struct policy_options policy;
	struct error error;
	struct cache_config config = {
		.policy = &policy,
		.filesystem = options.fs ? options.fs : &plain,
		.memory_bytes = (options.memory_mib ? options.memory_mib : 64) * MIB,
		.is_cgroup = !options.is_machine,
		.readahead_pages = options.readahead_pages == UINT32_MAX ? 0
				   : options.readahead_pages             ? options.readahead_pages
									 : 32,
		.device_io_pages = options.device_io_pages,
		.completes_at_once = !options.later,
		.bare = options.bare,
	};

	if (!policy_options_parse(&policy, options.policy ? options.policy : "linux-6.18," FRESH,
				  &error))
		fail_msg("%s", error.message);
	world->cache = cache_create(&config, &error);
	if (!world->cache)
		fail_msg("%s", error.message);
	cache_stream(world->cache, 1);
	return world;
}

/* Ends it; what must hold of every structure is proved first. */
static UNUSED void world_destroy(struct world *world)
{
	cache_check(world->cache);
	cache_destroy(world->cache);
	memory_free(world);
}

static UNUSED uint32_t file_make(struct world *world, uint64_t bytes)
{
	return cache_file_add(world->cache, bytes, 0);
}

static UNUSED uint32_t file_open(struct world *world, uint32_t file)
{
	cache_open_pay(world->cache);
	return cache_open(world->cache, file);
}

static UNUSED void plan_clear(struct world *world)
{
	world->fetch_runs += world->plan.fetch_count;
	world->plan.fetch_count = world->plan.write_count = 0;
}

typedef bool world_move(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			struct cache_plan *plan);

/* Returns the bytes that the device had to read. */
static UNUSED uint64_t world_move_all(struct world *world, world_move *move, uint32_t handle,
				      uint64_t offset, uint64_t bytes)
{
	uint64_t before = world->plan.fetch_bytes;

	world->fetch_runs = 0;
	cache_operation(world->cache);
	while (!move(world->cache, handle, &offset, &bytes, &world->plan))
		plan_clear(world);
	plan_clear(world);
	return world->plan.fetch_bytes - before;
}

static UNUSED bool world_touch_read(struct cache *cache, uint32_t handle, uint64_t *offset,
				    uint64_t *bytes, struct cache_plan *plan)
{
	return cache_touch(cache, handle, false, offset, bytes, plan);
}

static UNUSED bool world_touch_write(struct cache *cache, uint32_t handle, uint64_t *offset,
				     uint64_t *bytes, struct cache_plan *plan)
{
	return cache_touch(cache, handle, true, offset, bytes, plan);
}

static UNUSED uint64_t do_read(struct world *world, uint32_t handle, uint64_t offset,
			       uint64_t bytes)
{
	return world_move_all(world, cache_read, handle, offset, bytes);
}

static UNUSED uint64_t do_write(struct world *world, uint32_t handle, uint64_t offset,
				uint64_t bytes)
{
	return world_move_all(world, cache_write, handle, offset, bytes);
}

static UNUSED uint64_t do_touch(struct world *world, uint32_t handle, uint64_t offset,
				uint64_t bytes)
{
	return world_move_all(world, world_touch_read, handle, offset, bytes);
}

static UNUSED uint64_t do_store(struct world *world, uint32_t handle, uint64_t offset,
				uint64_t bytes)
{
	return world_move_all(world, world_touch_write, handle, offset, bytes);
}

/* A whole stretch in requests of `step` bytes. */
static UNUSED uint64_t do_read_all(struct world *world, uint32_t handle, uint64_t offset,
				   uint64_t bytes, uint64_t step)
{
	uint64_t fetched = 0;

	for (uint64_t at = 0; at < bytes; at += step)
		fetched += do_read(world, handle, offset + at, step);
	return fetched;
}

static UNUSED uint64_t do_write_all(struct world *world, uint32_t handle, uint64_t offset,
				    uint64_t bytes, uint64_t step)
{
	uint64_t fetched = 0;

	for (uint64_t at = 0; at < bytes; at += step)
		fetched += do_write(world, handle, offset + at, step);
	return fetched;
}

static UNUSED uint64_t do_advise(struct world *world, uint32_t handle, enum cache_advice advice,
				 uint64_t offset, uint64_t bytes)
{
	uint64_t before = world->plan.fetch_bytes;

	world->fetch_runs = 0;
	while (!cache_advise(world->cache, handle, advice, &offset, &bytes, &world->plan))
		plan_clear(world);
	plan_clear(world);
	return world->plan.fetch_bytes - before;
}

static UNUSED uint64_t do_sync(struct world *world)
{
	uint64_t before = world->plan.write_bytes;

	while (!cache_sync(world->cache, &world->plan))
		plan_clear(world);
	plan_clear(world);
	return world->plan.write_bytes - before;
}

/* A file whose handle reads single pages, exactly those asked for. */
static UNUSED uint32_t open_random(struct world *world, uint32_t file)
{
	uint32_t handle = file_open(world, file);

	do_advise(world, handle, CACHE_ADVICE_RANDOM, 0, 0);
	return handle;
}

static UNUSED const struct counters *counted(struct world *world)
{
	cache_counters(world->cache, 0, &world->counters);
	return &world->counters;
}

#define count(world, name) (counted(world)->name)

/* The record of the folio that holds this page; NULL: not there. */
static UNUSED const struct page *page_at(struct world *world, uint32_t file, uint64_t index)
{
	uint32_t slot = cache_lookup(world->cache, file, index);

	return slot ? &world->cache->queue.pages[slot] : NULL;
}

static UNUSED bool is_resident(struct world *world, uint32_t file, uint64_t index)
{
	return page_at(world, file, index) != NULL;
}

static UNUSED bool is_active(struct world *world, uint32_t file, uint64_t index)
{
	const struct page *page = page_at(world, file, index);

	return page && page->bits & PAGE_ACTIVE;
}

static UNUSED const struct page *oldest_inactive(struct world *world)
{
	return &world->cache->queue.pages[world->cache->queue.pages[LIST_INACTIVE].prev];
}

/* How many pages of the stretch carry all these bits. */
static UNUSED uint64_t pages_with(struct world *world, uint32_t file, uint64_t first,
				  uint64_t pages, uint32_t bits)
{
	uint64_t found = 0;

	for (uint64_t index = first; index < first + pages; index++) {
		const struct page *page = page_at(world, file, index);

		found += page && (page->bits & bits) == bits;
	}
	return found;
}

/* A name with an inode, both in memory, as after a stat(2). */
static UNUSED uint32_t name_use(struct world *world, uint32_t file)
{
	uint32_t name = cache_name_add(world->cache, 0, 0, 8);

	cache_name_bind(world->cache, name, file);
	cache_name_use(world->cache, name);
	return name;
}

/* Files of this size, each stat-ed once; the first one's id. Names are consecutive, too. */
static UNUSED uint32_t names_use(struct world *world, uint32_t how_many, uint64_t bytes,
				 uint32_t *first_name)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < how_many; i++) {
		uint32_t file = file_make(world, bytes), name = name_use(world, file);

		if (i == 0) {
			first = file;
			if (first_name)
				*first_name = name;
		}
	}
	return first;
}

/* How many of those inodes are in memory. */
static UNUSED uint32_t inodes_cached(struct world *world, uint32_t first, uint32_t how_many)
{
	uint32_t cached = 0;

	for (uint32_t i = 0; i < how_many; i++)
		cached += cache_inode_cached(world->cache, first + i);
	return cached;
}

#endif
