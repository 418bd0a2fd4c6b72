/*
 * domain: a memory budget, and what happens when it is reached
 *
 * A cgroup reclaims in the task that charges, when the limit is reached; a whole machine wakes its
 * background reclaim below the low watermark, which frees up to the high one. Source: Linux
 * mm/memcontrol.c, try_charge_memcg(); mm/page_alloc.c, __setup_per_zone_wmarks().
 */
#include <assert.h>

#include "base/root.h"
#include "cache/cache_private.h"

/* Retries of a charge before the group counts as full (MAX_RECLAIM_RETRIES). */
enum { RECLAIM_RETRIES = 16 };

/* Above 8 pages (PAGE_ALLOC_COSTLY_ORDER) progress alone is no reason to try again. */
enum { COSTLY_PAGES = 8 };

void domain_init(struct cache *cache, const struct cache_config *config)
{
	struct domain *domain = &cache->domain;

	*domain = (struct domain){.is_cgroup = config->is_cgroup};
	domain->limit_pages = pages_from_bytes_down(config->memory_bytes - config->pinned_bytes);
	if (!domain->is_cgroup) {
		/* Watermarks of one zone that is the whole machine, watermark_scale_factor 10. */
		uint64_t pages = pages_from_bytes_down(config->memory_bytes);
		uint64_t min_kb = square_root(16 * (pages * 4)), gap;

		min_kb = min_kb < 128 ? 128 : min_kb > 262144 ? 262144 : min_kb;
		domain->pages_min = min_kb / 4;
		gap = domain->pages_min / 4;
		if (gap < pages / 1000)
			gap = pages / 1000;
		domain->pages_low = domain->pages_min + gap;
		domain->pages_high = domain->pages_low + gap;
	}
}

const struct lists_summed *domain_sizes(struct cache *cache, struct lists_summed *exact)
{
	struct domain *domain = &cache->domain;

	if (cache->rules.lazy_statistics || cache->rules.statistics_ops > 0)
		return &domain->published;
	*exact = (struct lists_summed){domain->list_pages[LIST_INACTIVE],
				       domain->list_pages[LIST_ACTIVE], domain->activations};
	return exact;
}

/*
 * Background reclaim keeps up with whoever allocates: it runs until the high watermark, or until a
 * pass frees nothing. Unless it sleeps: up to 5.8 XFS made whoever reclaimed its inodes wait for
 * them to be written, background reclaim too (fs/xfs/xfs_icache.c, xfs_reclaim_inodes_nr() with
 * SYNC_WAIT). Then tasks find the min watermark and reclaim for themselves, with the flags of their
 * own allocation: a reader takes pages only.
 */
static bool charge_machine(struct cache *cache, uint64_t pages, enum charge_effort effort)
{
	struct domain *domain = &cache->domain;

	domain->usage_pages += pages;
	if (domain->usage_pages + domain->pages_low <= domain->limit_pages)
		return true;
	if (cache->rules.background_waits && cache->logged_inodes > 0) {
		for (uint32_t retry = 0;
		     domain->usage_pages + domain->pages_min > domain->limit_pages; retry++)
			if (reclaim(cache, CACHE_RECLAIM_STEP_PAGES, false) == 0 &&
			    retry >= RECLAIM_RETRIES)
				break;
	} else {
		while (domain->usage_pages + domain->pages_high > domain->limit_pages)
			if (reclaim(cache, domain->pages_high - domain->pages_low, true) == 0)
				break;
	}
	/* The last reserves are for those who free memory. */
	if (domain->usage_pages <= domain->limit_pages ||
	    reclaim(cache, CACHE_RECLAIM_STEP_PAGES, true) > 0 ||
	    domain->usage_pages <= domain->limit_pages)
		return true;
	if (effort <= CHARGE_ONCE) { /* a window larger than memory: readahead does without */
		domain->usage_pages -= pages;
		return false;
	}
	domain->is_full = true;
	return true;
}

/*
 * What was charged ahead goes back (drain_all_stock()): so the next object needs a page. That is
 * the struct file of the next open, which may enter the file system (traced: each readahead that
 * found nothing to free was followed by such a call, which freed 60 000 objects and more).
 */
static void stock_drain(struct domain *domain)
{
	domain->usage_pages -= domain->stock_pages;
	domain->stock_pages = 0;
	domain->object_left_bytes += domain->object_stock_bytes;
	domain->object_stock_bytes = 0;
}

/* refill_obj_stock(): with what was flushed (obj_cgroup.nr_charged_bytes); whole pages go back. */
static void object_stock_refill(struct cache *cache, uint64_t bytes)
{
	struct domain *domain = &cache->domain;
	uint64_t pages;

	domain->object_stock_bytes += bytes + domain->object_left_bytes;
	domain->object_left_bytes = 0;
	if (domain->object_stock_bytes < PAGE_BYTES)
		return;
	pages = pages_from_bytes_down(domain->object_stock_bytes);
	domain->object_stock_bytes %= PAGE_BYTES;
	domain->slab_pages -= pages;
	domain_uncharge(cache, pages);
}

/*
 * Nothing is left to reclaim without the file system's help. Whether the kernel kills here is a
 * matter of luck (which of a create's allocations met the limit: ext4's inode may not enter the
 * file system, its dentry may; measured: two of three equal runs in 96 MiB were killed); the run
 * that we are to tell about goes on, so the luckier one came first.
 */
static bool charge_last_resort(struct cache *cache, uint64_t pages)
{
	struct domain *domain = &cache->domain;

	if (cache->fs_allowed)
		return false;
	cache->fs_allowed = true;
	reclaim_slab(cache, pages);
	cache->fs_allowed = false;
	if (domain->usage_pages + pages > domain->limit_pages)
		return false;
	domain->usage_pages += pages;
	return true;
}

static bool charge_cgroup(struct cache *cache, uint64_t pages, enum charge_effort effort)
{
	struct domain *domain = &cache->domain;
	uint64_t batch = cache->rules.charge_batch;
	bool drained = false;

	if (pages <= batch && domain->stock_pages >= pages) {
		domain->stock_pages -= pages;
		return true;
	}
	if (batch < pages)
		batch = pages;
	for (uint32_t retries = RECLAIM_RETRIES; retries > 0;) {
		uint64_t reclaimed;

		if (domain->usage_pages + batch <= domain->limit_pages) {
			domain->usage_pages += batch;
			domain->stock_pages += batch - pages;
			if (domain->stock_pages > cache->rules.charge_batch)
				stock_drain(domain);
			return true;
		}
		if (batch > pages) {
			batch = pages;
			continue;
		}
		if (effort == CHARGE_AT_ONCE)
			return false;
		reclaimed = reclaim(
			cache, pages > CACHE_RECLAIM_STEP_PAGES ? pages : CACHE_RECLAIM_STEP_PAGES,
			false);
		if (domain->usage_pages + pages <= domain->limit_pages)
			continue;
		if (!drained) {
			stock_drain(domain);
			drained = true;
			continue;
		}
		if (effort == CHARGE_ONCE)
			return false;
		/* The retries take long enough for a grace period. */
		if (reclaimed == 0 && cache->late_bytes[0] + cache->late_bytes[1] > 0) {
			slab_settle(cache, true);
			continue;
		}
		if (reclaimed == 0 || pages > COSTLY_PAGES)
			retries--;
	}
	if (effort == CHARGE_RETRY && charge_last_resort(cache, pages))
		return true;
	if (effort != CHARGE_ALWAYS)
		domain->is_full = true;
	domain->usage_pages += pages;
	return true;
}

bool domain_charge(struct cache *cache, uint64_t pages, enum charge_effort effort)
{
	struct domain *domain = &cache->domain;

	if (cache->is_bare) {
		domain->usage_pages += pages;
		while (domain->usage_pages > domain->limit_pages)
			if (reclaim(cache, domain->usage_pages - domain->limit_pages, false) == 0)
				break;
		return true;
	}
	if (domain->is_cgroup)
		return charge_cgroup(cache, pages, effort);
	return charge_machine(cache, pages, effort);
}

void domain_uncharge(struct cache *cache, uint64_t pages)
{
	assert(cache->domain.usage_pages >= pages);
	cache->domain.usage_pages -= pages;
}

/*
 * Objects are charged by the byte: whole pages are charged as they are needed, and what is left of
 * them is kept for the next (obj_cgroup_charge(), refill_obj_stock()). An object's bytes come back
 * at once, however full its slab is (measured on 6.18).
 */
void slab_charge(struct cache *cache, int64_t bytes)
{
	struct domain *domain = &cache->domain;
	uint64_t pages;

	if (cache->is_bare)
		return;
	domain->slab_bytes += (uint64_t)bytes;
	if (bytes > 0) {
		if (domain->object_stock_bytes >= (uint64_t)bytes) {
			domain->object_stock_bytes -= (uint64_t)bytes;
			return;
		}
		pages = pages_from_bytes_up((uint64_t)bytes);
		(void)domain_charge(cache, pages,
				    cache->charge_always ? CHARGE_ALWAYS : CHARGE_RETRY);
		domain->slab_pages += pages;
		object_stock_refill(cache, bytes_from_pages(pages) - (uint64_t)bytes);
	} else {
		object_stock_refill(cache, (uint64_t)-bytes);
	}
}

void cache_pin(struct cache *cache, uint64_t bytes)
{
	struct domain *domain = &cache->domain;
	uint64_t pages = pages_from_bytes_up(bytes);

	cache_enter(cache, ALLOCATION_ANONYMOUS);
	if (pages < domain->held_pages) {
		domain_uncharge(cache, domain->held_pages - pages);
		domain->held_pages = pages;
	}
	while (domain->held_pages < pages) {
		(void)domain_charge(cache, 1, CHARGE_ALWAYS);
		domain->held_pages++;
	}
}

bool cache_in_memory(const struct cache *cache)
{
	return !cache->domain.is_full;
}

void cache_other_slab(struct cache *cache, int64_t bytes)
{
	slab_charge(cache, bytes);
}

void cache_publish(struct cache *cache)
{
	struct domain *domain = &cache->domain;

	domain->published =
		(struct lists_summed){domain->list_pages[LIST_INACTIVE],
				      domain->list_pages[LIST_ACTIVE], domain->activations};
	domain->published_ns = cache->now_ns;
}

void cache_publish_told(struct cache *cache)
{
	if (!cache->rules.lazy_statistics)
		return;
	cache->domain.publishing_is_told = true;
	cache_publish(cache);
}
