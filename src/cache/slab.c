/*
 * slab: the shrinkers, and how much each takes
 *
 * How many objects are looked at is a matter of priority, debt and batches; whether dentries and inodes
 * may go at all, of who allocates. Sources: Linux mm/shrinker.c, fs/super.c, mm/workingset.c;
 * linux-caching.md section 6. The objects are in dentry.c, inode.c and buffer.c.
 */
#include <stddef.h>

#include "cache/cache_private.h"

enum { SHRINK_BATCH_SUPER = 1024, SHRINK_BATCH = 128, SEEKS = 2 };

/* ---- memory that comes back late ---- */

/*
 * Dentries and inodes are freed by RCU (dentry_free(), destroy_inode(), xfs_inode_free()): after a
 * grace period, some 10 ms, the group gets their memory back. Until then what needs memory takes
 * pages. In operations, since traces' clocks are their own affair: a create and a close take about
 * 20 us together. Measured: in 256 MiB btrfs, the first calls at low priority free thousands of
 * objects and still 120 of 151 MiB of active pages go. On XFS freeing takes time as
 * well: calls that free 60 000 objects and more take 80 to 200 ms (traced), and most is back when
 * they end.
 */
enum { GRACE_OPERATIONS = 500, LINGERING_PER_OPERATION = 20 };

void object_free(struct cache *cache, uint32_t bytes)
{
	if (cache->in_shrinker)
		cache->late_bytes[0] += bytes;
	else
		slab_charge(cache, -(int64_t)bytes);
}

void slab_settle(struct cache *cache, bool all)
{
	uint64_t bytes = cache->late_bytes[1];

	uint64_t passed =
		cache->op_count - cache->late_op + cache->late_objects / LINGERING_PER_OPERATION;

	if (!all && passed < GRACE_OPERATIONS)
		return;
	all |= passed >= 2 * GRACE_OPERATIONS;
	cache->late_objects = 0;
	if (all)
		bytes += cache->late_bytes[0];
	cache->late_bytes[1] = all ? 0 : cache->late_bytes[0];
	cache->late_bytes[0] = 0;
	cache->late_op = cache->op_count;
	if (bytes > 0)
		slab_charge(cache, -(int64_t)bytes);
}

/* ---- the super block's shrinker: fs/super.c, super_cache_count(), super_cache_scan() ---- */

uint32_t cache_transaction_blocks(const struct cache *cache)
{
	return cache->rules.transaction_blocks;
}

/*
 * 128: nr_requests, BLKDEV_MAX_RQ in include/linux/blkdev.h. With blk-wbt the depth begins at 16
 * (RWB_DEF_DEPTH) of which ordinary write-back has half (calc_wb_limits(): wb_normal), as long as
 * reads come in: block/blk-wbt.c, 4.10 to 6.18. That it grows where reads are quick is not modelled.
 */
uint32_t cache_write_back_depth(const struct cache *cache)
{
	return cache->rules.writeback_throttled ? 8 : 128;
}

bool cache_elevator_is_cfq(const struct cache *cache)
{
	return cache->rules.elevator_cfq;
}

bool cache_write_back_holds(const struct cache *cache)
{
	return cache->rules.writeback_holds;
}

uint32_t cache_journal_blocks(const struct cache *cache)
{
	return cache->rules.journal_blocks;
}

uint64_t cache_shrinker_calls(const struct cache *cache)
{
	return cache->super_scans;
}

static uint64_t super_count(const struct cache *cache)
{
	uint64_t objects =
		cache->dentry_lru.count + cache->inode_lru.count + cache->lingering.count;

	return objects * cache->rules.vfs_cache_pressure / 100;
}

static uint64_t super_scan(struct cache *cache, struct scan *scan, uint64_t count)
{
	uint64_t dentries = cache->dentry_lru.count, inodes = cache->inode_lru.count;
	uint64_t objects = cache->lingering.count, total = dentries + inodes + objects + 1;
	uint64_t freed = dentries_prune(cache, count * dentries / total + 1);

	freed += inodes_prune(cache, scan, count * inodes / total + 1);
	if (objects)
		lingering_free(cache, count * objects / total + 1);
	cache->super_scans++;
	return freed;
}

/* ---- nodes of nothing but shadows: mm/workingset.c, count_shadow_nodes() ---- */

void shadow_list_add(struct cache *cache, uint32_t node)
{
	struct domain *domain = &cache->domain;
	struct node *at = index_node(&cache->index, node);

	cache->index.heads[node].lists |= NODE_ON_SHADOW_LIST;
	at->shadow_prev = domain->shadow_last;
	at->shadow_next = 0;
	if (domain->shadow_last)
		index_node(&cache->index, domain->shadow_last)->shadow_next = node;
	else
		domain->shadow_list = node;
	domain->shadow_last = node;
	domain->shadow_nodes++;
}

void shadow_list_remove(struct cache *cache, uint32_t node)
{
	struct domain *domain = &cache->domain;
	struct node *at = index_node(&cache->index, node);

	cache->index.heads[node].lists &= (uint8_t)~NODE_ON_SHADOW_LIST;
	if (at->shadow_prev)
		index_node(&cache->index, at->shadow_prev)->shadow_next = at->shadow_next;
	else
		domain->shadow_list = at->shadow_next;
	if (at->shadow_next)
		index_node(&cache->index, at->shadow_next)->shadow_prev = at->shadow_prev;
	else
		domain->shadow_last = at->shadow_prev;
	domain->shadow_nodes--;
}

static uint64_t shadow_count(const struct cache *cache)
{
	const struct domain *domain = &cache->domain;
	uint64_t pages = domain->list_pages[LIST_INACTIVE] + domain->list_pages[LIST_ACTIVE], kept;

	if (cache->rules.shadow_of_all)
		pages += domain->slab_pages;
	kept = pages >> cache->rules.shadow_shift;
	return domain->shadow_nodes > kept ? domain->shadow_nodes - kept : 0;
}

static uint64_t shadow_scan(struct cache *cache, struct scan *scan, uint64_t count)
{
	uint64_t freed = 0;

	(void)scan;
	while (count-- > 0 && cache->domain.shadow_list) {
		uint32_t node = cache->domain.shadow_list, file = cache->index.heads[node].file;
		struct node *at = index_node(&cache->index, node);

		for (uint32_t i = 0; i < NODE_PAGES; i++)
			at->high[i] &= (uint16_t)~HIGH_SHADOW;
		node_count(cache, node, 0, -cache->index.heads[node].shadow_count);
		inode_pages_gone(cache, file);
		freed++;
	}
	return freed;
}

/* ---- buffers: buffer.c ---- */

static uint64_t buffers_count(const struct cache *cache)
{
	return cache->domain.is_cgroup ? 0 : cache->buffers.count;
}

static uint64_t buffers_shrink(struct cache *cache, struct scan *scan, uint64_t count)
{
	(void)scan;
	return buffers_scan(cache, count);
}

/* ---- ZFS's ARC: arc_balance.c ---- */

static uint64_t arc_shrink(struct cache *cache, struct scan *scan, uint64_t count)
{
	(void)scan;
	return arc_shrinker_scan(cache, count);
}

/*
 * ---- how many: mm/shrinker.c, do_shrink_slab(); mm/vmscan.c before 6.7 (6.5 of linux-caching.md)
 * ----
 */

static uint64_t scan_wanted(const struct cache *cache, const struct scan *scan, uint64_t freeable,
			    uint32_t seeks)
{
	if (seeks == 0)
		return freeable / 2;
	if (cache->rules.slab_by_priority)
		return (freeable >> scan->priority) * 4 / seeks;
	/* Up to 4.15: as large a part of the objects as of the pages, times 4 / seeks. */
	return (uint64_t)((unsigned __int128)(4 * scan->scanned_pages / seeks) * freeable /
			  (scan->eligible_pages + 1));
}

/* The shrinkers, in the order in which they are called. */
static const struct shrinker {
	uint32_t batch, seeks;
	bool enters_fs; /* refuses when it may not: all of it becomes debt */
	bool hides_fs;  /* says that it has nothing when it may not: no debt */
	size_t debt;    /* where in the domain */
	uint64_t (*count)(const struct cache *cache);
	uint64_t (*scan)(struct cache *cache, struct scan *scan, uint64_t count);
} shrinkers[] = {
	{SHRINK_BATCH_SUPER, SEEKS, true, false, offsetof(struct domain, debt_super), super_count,
	 super_scan},
	{SHRINK_BATCH, 0, false, false, offsetof(struct domain, debt_shadow), shadow_count,
	 shadow_scan},
	{SHRINK_BATCH, SEEKS, false, false, offsetof(struct domain, debt_buffers), buffers_count,
	 buffers_shrink},
	{SHRINK_BATCH, SEEKS, false, true, offsetof(struct domain, debt_arc), arc_shrinker_count,
	 arc_shrink},
};

/* How many objects went. */
static uint64_t shrink(struct cache *cache, struct scan *scan, const struct shrinker *shrinker)
{
	uint64_t *deferred = (uint64_t *)(void *)((char *)scan->domain + shrinker->debt);
	uint64_t freeable = shrinker->count(cache), debt = *deferred, delta, total, scanned = 0,
		 freed_all = 0;

	if (freeable == 0 || (shrinker->hides_fs && !scan->fs_allowed))
		return 0;
	delta = scan_wanted(cache, scan, freeable, shrinker->seeks);
	if (cache->rules.slab_debt_scaled) {
		total = (debt >> scan->priority) + delta;
	} else {
		total = debt + delta;
		if (delta < freeable / 4 && total > freeable / 2)
			total = freeable / 2;
	}
	if (total > 2 * freeable)
		total = 2 * freeable;
	while (total > 0 && (total >= shrinker->batch || total >= freeable) &&
	       (scan->fs_allowed || !shrinker->enters_fs)) {
		uint64_t count = total < shrinker->batch ? total : shrinker->batch, freed;

		cache->in_shrinker = shrinker->enters_fs;
		freed = shrinker->scan(cache, scan, count);
		if (cache->in_shrinker && cache->filesystem.evicted_inodes_linger)
			cache->late_objects += freed;
		cache->in_shrinker = false;
		freed_all += freed;
		total -= count;
		scanned += count;
	}
	debt = debt + delta > scanned ? debt + delta - scanned : 0;
	if (cache->rules.slab_debt_scaled && debt > 2 * freeable)
		debt = 2 * freeable;
	*deferred = debt;
	return freed_all;
}

void slab_shrink(struct cache *cache, struct scan *scan)
{
	uint64_t before = scan->domain->slab_pages, arc_before = scan->domain->arc_pages;

	if (cache->is_bare)
		return;
	for (size_t i = 0; i < sizeof(shrinkers) / sizeof(shrinkers[0]); i++)
		(void)shrink(cache, scan, &shrinkers[i]);
	/* Freed slab counts as reclaimed: always on a whole machine, in a cgroup up to 6.5. */
	if (scan->domain->slab_pages < before &&
	    (!scan->domain->is_cgroup || cache->rules.slab_counts))
		scan->reclaimed_pages += before - scan->domain->slab_pages;
	if (scan->domain->arc_pages < arc_before)
		scan->reclaimed_pages += arc_before - scan->domain->arc_pages;
}

/* To 4.15 a shrinker was told that 1000 of 1000 pages had been scanned (drop_slab_node()). */
enum { DROP_SCANNED = 1000 };

uint64_t slab_drop(struct cache *cache)
{
	struct scan scan = {
		.domain = &cache->domain,
		.fs_allowed = true,
		.scanned_pages = DROP_SCANNED,
		.eligible_pages = DROP_SCANNED,
	};
	uint64_t freed = 0;

	if (cache->is_bare)
		return 0;
	for (size_t i = 0; i < sizeof(shrinkers) / sizeof(shrinkers[0]); i++)
		freed += shrink(cache, &scan, &shrinkers[i]);
	/* A cgroup's pressure does not reach them; this is not a cgroup's. */
	if (cache->domain.is_cgroup)
		freed += buffers_scan(cache, 2 * cache->buffers.count);
	return freed;
}
