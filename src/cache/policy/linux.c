/*
 * linux: two lists, marks, shadows
 *
 * Idea       A page comes in at the head of the inactive list and needs a second use before it
 *            reaches the tail to become active. Active pages are demoted only while the inactive
 *            list is too short, and get one more round there. A page that comes back soon after its
 *            eviction (sooner than the active list is long) was wrongly evicted and becomes active
 *            at once.
 *
 *                  second use, or refault in time
 *              +-----------------------------------+
 *              |                                   v
 *     read --> [ inactive ]--> evicted, shadow     [ active ]
 *              ^                                   |
 *              +-----------------------------------+
 *                  demoted, still referenced if used meanwhile
 *
 * Source     Linux 4.4 .. 6.18: mm/swap.c folio_mark_accessed(); mm/vmscan.c shrink_lruvec(),
 *            shrink_folio_list(), shrink_active_list(), prepare_scan_control(), inactive_is_low();
 *            mm/workingset.c. Sections of linux-caching.md stand beside each rule.
 * Differs    1. one domain, no swap: file lists only
 *            2. no per-CPU batches (at most 31 pages of order), no NUMA, one zone
 *            3. the shadow's age has 31 bits: wrong for a page that comes back after 8 TiB of
 *               evictions
 * State      12 bits a page, 16 a shadow beside the age
 * Weakness   a loop a little larger than memory never hits (loop-1.1); one use each of many pages
 *            twice (two readers, a backup that verifies) fills the active list
 */
#include <assert.h>

#include "cache/arc.h"
#include "cache/cache_private.h"
#include "cache/policy/linux.h"

enum { SWAP_CLUSTER_MAX = 32 };

/* ---- the mark (1.3) ---- */

static void linux_mark(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	/* What goes after its use has none (6.14); the switch dontcache says that it can be. */
	if (page->bits & PAGE_DROPBEHIND)
		return;
	if (!(page->bits & PAGE_REFERENCED)) {
		page->bits |= PAGE_REFERENCED;
	} else if (!(page->bits & PAGE_ACTIVE)) {
		page->bits &= ~PAGE_REFERENCED;
		page_list_move(cache, slot, LIST_ACTIVE, false);
		cache->domain.age += page_count(page);
		cache_counted(cache)->activations += page_count(page);
	}
}

/* ---- the refault test (3): mm/workingset.c, workingset_test_recent() ---- */

static bool linux_refault(struct cache *cache, uint32_t slot, uint32_t shadow_age, bool workingset)
{
	struct domain *domain = &cache->domain;
	struct page *page = &cache->queue.pages[slot];
	struct lists_summed exact;
	uint64_t distance = ((uint32_t)domain->age - shadow_age) & LOW_MASK;

	if (distance > domain_sizes(cache, &exact)->active_pages)
		return false;
	domain->age += page_count(page);
	domain->activations += page_count(page);
	if (workingset)
		page->bits |= PAGE_WORKINGSET;
	return true;
}

/* ---- may active pages be demoted? (2.3, 2.9) ---- */

static uint64_t inactive_ratio(uint64_t pages)
{
	uint64_t gib = pages >> 18, root = 1;

	if (gib == 0)
		return 1;
	while ((root + 1) * (root + 1) <= 10 * gib)
		root++;
	return root;
}

/*
 * 4.4 compares plainly; 4.7 has inactive_is_low() with a ratio, and 4.12 takes the ratio for 0
 * while refaults activate.
 */
static bool demotion_allowed(struct cache *cache, const struct scan *scan)
{
	struct domain *domain = &cache->domain;
	struct lists_summed exact;
	const struct lists_summed *sizes = domain_sizes(cache, &exact);
	bool refaulting = sizes->activations != domain->activations_seen;

	if (scan->demote_forced)
		return true;
	if (!cache->rules.ratio_is_sqrt)
		return sizes->active_pages > sizes->inactive_pages;
	if (cache->rules.demote_on_refault == DEMOTE_ROOT && refaulting)
		return true;
	if (cache->rules.demote_on_refault == DEMOTE_GROUP && refaulting)
		return sizes->active_pages > 0;
	return sizes->inactive_pages * inactive_ratio(sizes->inactive_pages + sizes->active_pages) <
	       sizes->active_pages;
}

/* ---- demotion (2.7): shrink_active_list() ---- */

static void demote(struct cache *cache, struct scan *scan, uint64_t count)
{
	struct page *pages = cache->queue.pages;
	uint64_t taken = 0;

	while (taken < count && pages[LIST_ACTIVE].prev != LIST_ACTIVE) {
		uint32_t slot = pages[LIST_ACTIVE].prev;
		struct page *page = &pages[slot];

		taken += page_count(page);
		page->bits = (page->bits & ~PAGE_YOUNG) | PAGE_WORKINGSET;
		page_list_move(cache, slot, LIST_INACTIVE, false);
		cache->streams[page_stream(page)].deactivations += page_count(page);
	}
	scan->scanned_pages += taken;
}

/* ---- the inactive tail (2.6): shrink_folio_list() ---- */

enum fate { FATE_EVICT, FATE_KEEP, FATE_ACTIVATE };

static enum fate fate_of(struct cache *cache, struct page *page, uint32_t *unqueued)
{
	enum fate dirty_fate = cache->rules.dirty_to_active ? FATE_ACTIVATE : FATE_KEEP;

	if (page->bits & PAGE_LOCKED)
		return FATE_KEEP;
	/*
	 * In a version 1 cgroup, whoever meets it again waits for it (case 3 of shrink_folio_list()):
	 * it is clean then. The wait costs nothing here.
	 */
	if (page->bits & PAGE_WRITEBACK && page->bits & PAGE_RECLAIM && cache->writes_take_time &&
	    cache->domain.is_cgroup) {
		page->bits &= ~(PAGE_WRITEBACK | PAGE_RECLAIM);
		if (page->bits & PAGE_DROPBEHIND && !(page->bits & PAGE_DIRTY))
			page->bits &= ~PAGE_ALLOCATES;
	}
	if (page->bits & PAGE_WRITEBACK) {
		page->bits |= PAGE_RECLAIM;
		return dirty_fate;
	}
	if (page->bits & PAGE_MAPPED) {
		bool young = page->bits & PAGE_YOUNG, referenced = page->bits & PAGE_REFERENCED;

		page->bits &= ~PAGE_YOUNG;
		if (young) {
			page->bits |= PAGE_REFERENCED;
			return referenced ? FATE_ACTIVATE : FATE_KEEP;
		}
		page->bits &= ~(PAGE_MAPPED | PAGE_REFERENCED);
	}
	if (page->bits & PAGE_DIRTY) {
		(*unqueued)++;
		page->bits |= PAGE_RECLAIM;
		return dirty_fate;
	}
	if (page->bits & PAGE_HELD)
		return FATE_ACTIVATE;
	return FATE_EVICT;
}

static void evict(struct cache *cache, struct scan *scan, uint64_t count)
{
	uint32_t slots[SWAP_CLUSTER_MAX], taken = 0, unqueued = 0, kept_count = 0;
	uint32_t kept[SWAP_CLUSTER_MAX];
	enum fate fates[SWAP_CLUSTER_MAX];
	struct page *pages = cache->queue.pages;
	uint64_t scanned = 0;

	for (uint32_t slot = pages[LIST_INACTIVE].prev;
	     slot != LIST_INACTIVE && scanned < count && taken < SWAP_CLUSTER_MAX;
	     slot = pages[slot].prev) {
		slots[taken++] = slot;
		scanned += page_count(&pages[slot]);
	}
	scan->scanned_pages += scanned;
	/* Their index entries are anywhere: ask for all before touching the first. */
	for (uint32_t i = 0; i < taken; i++)
		page_prefetch_index(cache, &pages[slots[i]]);
	for (uint32_t i = 0; i < taken; i++) {
		struct page *page = &pages[slots[i]];
		enum fate fate = fate_of(cache, page, &unqueued);

		if (fate == FATE_EVICT) {
			scan->reclaimed_pages += page_count(page);
			page_evict(cache, slots[i]);
		} else {
			fates[kept_count] = fate;
			kept[kept_count++] = slots[i];
		}
	}
	/*
	 * What stays goes back in the order it was scanned (move_folios_to_lru); what becomes
	 * active counts as age.
	 */
	for (uint32_t i = 0; i < kept_count; i++) {
		struct page *page = &pages[kept[i]];

		if (fates[i] == FATE_ACTIVATE) {
			cache->domain.age += page_count(page);
			cache->streams[page_stream(page)].activations += page_count(page);
		}
		page_list_move(cache, kept[i],
			       fates[i] == FATE_ACTIVATE ? LIST_ACTIVE : LIST_INACTIVE, false);
	}
	if (unqueued > 0 && unqueued == taken) {
		cache->domain.flush_wanted = true;
		writeback_flush(cache);
	}
}

/* ---- one priority (2.4, 2.5): get_scan_count(), shrink_lruvec() ---- */

static void linux_scan(struct cache *cache, struct scan *scan)
{
	uint64_t left[LIST_COUNT], before = scan->reclaimed_pages;

	for (int list = 0; list < LIST_COUNT; list++) {
		uint64_t size = cache->domain.list_pages[list];

		left[list] = size >> scan->priority;
		/* Up to 4.10 a cgroup's list is scanned for 32 pages at least. */
		if (left[list] == 0 && cache->domain.is_cgroup &&
		    cache->rules.demote_on_refault == DEMOTE_NO)
			left[list] = size < SWAP_CLUSTER_MAX ? size : SWAP_CLUSTER_MAX;
	}
	if (cache->rules.demote_per_priority)
		scan->demote = demotion_allowed(cache, scan);
	while (left[LIST_INACTIVE] > 0 || left[LIST_ACTIVE] > 0) {
		for (int list = 0; list < LIST_COUNT; list++) {
			uint64_t count =
				left[list] < SWAP_CLUSTER_MAX ? left[list] : SWAP_CLUSTER_MAX;

			if (count == 0)
				continue;
			left[list] -= count;
			if (list == LIST_INACTIVE) {
				evict(cache, scan, count);
				continue;
			}
			if (!cache->rules.demote_per_priority)
				scan->demote = demotion_allowed(cache, scan);
			if (scan->demote)
				demote(cache, scan, count);
			else
				scan->demote_skipped = true;
		}
		/*
		 * Enough is what this priority alone has reclaimed: a scan that earlier ones had
		 * nearly satisfied goes on.
		 */
		if (scan->reclaimed_pages - before >= scan->target_pages)
			break;
	}
}

/* snapshot_refaults() */
static void linux_reclaimed(struct cache *cache)
{
	struct lists_summed exact;

	cache->domain.activations_seen = domain_sizes(cache, &exact)->activations;
}

/* The rules of a kernel, before its switches; the newest beside ZFS's. */
#define LINUX_POLICY(symbol, version, text)                                                        \
	extern const struct policy policy_##symbol;                                                \
	const struct policy policy_##symbol = {                                                    \
		.name = "linux-" version,                                                          \
		.summary = text,                                                                   \
		.preset = &preset_##symbol,                                                        \
		.mark = linux_mark,                                                                \
		.refault = linux_refault,                                                          \
		.scan = linux_scan,                                                                \
		.reclaimed = linux_reclaimed,                                                      \
	};

#define ARC_POLICY(symbol, rule_book, rules, text)                                                 \
	extern const struct policy policy_##symbol;                                                \
	const struct policy policy_##symbol = {                                                    \
		.name = "arc-" rule_book,                                                          \
		.summary = text,                                                                   \
		.preset = &preset_linux_6_18,                                                      \
		.arc_rules = 1 + (rules),                                                          \
		.mark = linux_mark,                                                                \
		.refault = linux_refault,                                                          \
		.scan = linux_scan,                                                                \
		.reclaimed = linux_reclaimed,                                                      \
	};

ARC_POLICY(arc_2_2, "2.2", ARC_2_2,
	   "ZFS 2.2's ARC: three fractions moved by ghosts; page cache as in Linux 6.18")
ARC_POLICY(arc_classic, "classic", ARC_CLASSIC,
	   "ZFS's ARC to 2.1: one target, a metadata limit; page cache as in Linux 6.18")
LINUX_POLICY(linux_6_18, "6.18", "Linux 6.18: large folios on ext4, counters summed lazily")
LINUX_POLICY(linux_6_12, "6.12", "Linux 6.12: statistics summed every 2 s")
LINUX_POLICY(linux_6_6, "6.6",
	     "Linux 6.6: large folios for XFS writes, freed slab no longer counts")
LINUX_POLICY(linux_6_1, "6.1",
	     "Linux 6.1: large folios for XFS reads, inodes with pages off their list")
LINUX_POLICY(linux_5_15, "5.15",
	     "Linux 5.15: slab debt scaled by priority, reads mark by page number")
LINUX_POLICY(linux_5_10, "5.10", "Linux 5.10: demotion decided once, at the reclaim root")
LINUX_POLICY(linux_5_4, "5.4", "Linux 5.4: slab scanned by priority")
LINUX_POLICY(linux_4_14, "4.14",
	     "Linux 4.14: dentries and inodes enter unreferenced, refaults allow demotion")
LINUX_POLICY(linux_4_7, "4.7", "Linux 4.7: writes no longer activate, inactive list may be short")
LINUX_POLICY(linux_4_5, "4.5", "Linux 4.5: writes count as use, lists held at 1:1")
