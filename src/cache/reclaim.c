/*
 * reclaim: one call, from priority 12 to 0, until enough is free
 *
 * Each priority scans the page lists, then the shrinkers with the same priority. Source: Linux
 * mm/vmscan.c, do_try_to_free_pages(), shrink_node(); linux-caching.md 2.2. Whether pages went and
 * which is the policy's; dentries and inodes are slab.c's.
 */
#include <assert.h>

#include "cache/cache_private.h"

enum { PRIORITY_STORM = 5 };

static void scan_priorities(struct cache *cache, struct scan *scan)
{
	const struct list_policy *lists = cache->policy->lists;
	int first = lists ? (int)lists->first_priority(cache, scan) : PRIORITY_FIRST;

	for (int priority = first; priority >= 0; priority--) {
		struct domain *domain = scan->domain;

		scan->priority = (uint32_t)priority;
		scan->scanned_pages = 0;
		scan->eligible_pages =
			domain->list_pages[LIST_INACTIVE] + domain->list_pages[LIST_ACTIVE];
		if (cache->policy->scan)
			cache->policy->scan(cache, scan);
		else if (domain->list_pages[LIST_INACTIVE] > 0)
			cache_queue_scan(cache, scan);
		slab_shrink(cache, scan);
		if (scan->reclaimed_pages >= scan->target_pages)
			return;
	}
}

uint64_t reclaim(struct cache *cache, uint64_t target_pages, bool is_background)
{
	struct scan scan = {
		.domain = &cache->domain,
		.target_pages = target_pages,
		.is_background = is_background,
		/* Background reclaim may always enter the file system. */
		.fs_allowed = is_background || cache->fs_allowed,
	};

	scan_priorities(cache, &scan);
	/*
	 * Nothing at all: once more, and active pages may go now (6.12 walks the whole tree first,
	 * which is one group here).
	 */
	if (scan.reclaimed_pages == 0 && scan.demote_skipped) {
		scan.demote_forced = true;
		scan_priorities(cache, &scan);
	}
	for (uint32_t list = 0; list < LIST_COUNT; list++)
		cache->scouts[list] = list;
	if (cache->policy->reclaimed)
		cache->policy->reclaimed(cache);
	return scan.reclaimed_pages;
}

void reclaim_slab(struct cache *cache, uint64_t pages)
{
	struct domain *domain = &cache->domain;
	struct scan scan = {.domain = domain, .target_pages = pages, .fs_allowed = true};

	/*
	 * As deep as such a call goes while some pages are left, whether it is needed or not: to 4
	 * or 5, measured; one that finds no page at all goes to 0, and frees everything.
	 */
	for (int priority = PRIORITY_FIRST;
	     priority >= PRIORITY_STORM ||
	     (priority >= 0 && domain->usage_pages + pages > domain->limit_pages);
	     priority--) {
		scan.priority = (uint32_t)priority;
		slab_shrink(cache, &scan);
		slab_settle(cache, true);
	}
}
