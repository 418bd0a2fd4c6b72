/*
 * mglru: generations, tiers, and a controller that asks which tier comes back
 *
 * Idea       Two lists say whether a page was used twice; generations say how long ago, roughly.
 *            New generations are opened by aging; what is read by descriptor enters among the oldest
 *            and what is touched through a mapping among the youngest. Eviction takes the tail of
 *            the oldest generation. A page used several times there is in a higher tier; if pages of
 *            that tier came back more often than pages used once, it is protected: it moves on to
 *            the next generation and its count starts again. So a second use protects where it has
 *            paid, and a scan twice over cold data does not.
 *
 *                oldest        next        second        youngest
 *              [ evicted ]--[ protected ]--[ active ... active ]   <-- aging opens one more here
 *               ^     |          ^                       ^
 *               read  shadow     tier protected          fault, young mapping
 *
 * Source     Linux 6.1.119, 6.12.0 (6.12.63 is the same here) and 6.18.35: mm/vmscan.c from
 *            read_ctrl_pos() to lru_gen_shrink_node(); mm/workingset.c, lru_gen_eviction() and
 *            lru_gen_refault(); include/linux/mm_inline.h, lru_gen_add_folio() and (6.18)
 *            lru_gen_folio_seq(); mm/swap.c, folio_inc_refs() and (6.18) lru_gen_inc_refs(). In words:
 *            linux-caching.md section 7. Functions are named beside each rule.
 * Differs    1. one domain, no swap: files only (swappiness 0), so their generations are not held
 *               back by those of anonymous memory
 *            2. no per-CPU batches, no wheel of groups (6.3): one group is all there is
 *            3. young bits are a folio's, not a page's; a mapping starts at a table's start; the
 *               filter of tables to walk has no false positives
 *            4. on a whole machine, pages are not looked at again while a window is being
 *               allocated, once nothing was found to take
 *            5. the flusher's 30 s are not waited for: reclaim that meets a dirty page for the
 *               second time finds it at work (of a trace without time stamps nobody knows when)
 *            6. up to 6.2 whoever looks around a young page activates its neighbours one by one,
 *               however many they are; reclaim of a whole machine goes on until the pages asked
 *               for have been looked at
 * State      two bits for the generation and two for further uses, beside referenced and workingset;
 *            31 bits a shadow; a page's place in a list may lag behind its generation
 * Constants  the kernel's: 64 pages (MIN_LRU_BATCH), 4096 (MAX_LRU_BATCH), 4 generations, 4 tiers
 * Weakness   a loop a little larger than memory, as for the two lists; a set that is read once
 *            between two turns of the generations (hotscan: more is kept; zipf: less is)
 */
#include <assert.h>

#include "cache/cache_private.h"
#include "cache/policy/linux.h"

enum {
	GENERATIONS = 4,     /* MAX_NR_GENS */
	GENERATIONS_MIN = 2, /* MIN_NR_GENS: the youngest are never evicted from */
	TIERS = 4,
	REFS_MAX = 3, /* of the two-bit counter */
	BATCH_SMALL = 64,
	BATCH_LARGE = 4096,
	FILTERS = 2,
	TABLE_NODES = 512 / NODE_PAGES, /* of a page table */
	PRIORITY_LEAST = 6,
};

static_assert((int)GENERATIONS == (int)LISTS_MAX, "each has a list");

/* Only while eviction has a page in hand. */
#define PAGE_ISOLATED PAGE_ACTIVE

struct generations {
	uint64_t oldest, youngest; /* numbers; at most 4 are alive, each in slot (number % 4) */
	uint64_t pages[GENERATIONS];
	uint64_t birth_ns[GENERATIONS];
	/* of the oldest generation, so far, and what earlier ones left, halved at each turn; pages */
	uint64_t refaulted[TIERS], evicted[TIERS], protected[TIERS];
	uint64_t refaulted_before[TIERS], total_before[TIERS];
	bool has_filter[FILTERS]; /* of tables that are worth walking: bits of the index nodes */
	bool was_walked;
	/* reclaim of a whole machine found nothing while so many windows had been submitted, less one */
	uint64_t stuck_window;
	uint64_t (*stream_pages)[GENERATIONS];
};

/* ---- the levels ---- */

static uint32_t slot_of(uint64_t number)
{
	return (uint32_t)(number % GENERATIONS);
}

/* What the kernel reports as active: lru_gen_is_active(). */
static bool is_active(const struct generations *at, uint32_t generation)
{
	return generation == slot_of(at->youngest) || generation == slot_of(at->youngest - 1);
}

static void count(struct cache *cache, const struct page *page, uint32_t generation, bool in)
{
	struct generations *at = cache->generations;
	struct counters *stream = &cache->streams[page_stream(page)];
	bool active = is_active(at, generation);
	uint64_t pages = in ? page_count(page) : 0 - (uint64_t)page_count(page);

	at->pages[generation] += pages;
	at->stream_pages[page_stream(page)][generation] += pages;
	cache->domain.list_pages[active ? LIST_ACTIVE : LIST_INACTIVE] += pages;
	if (active)
		stream->active_file_pages += pages;
	else
		stream->inactive_file_pages += pages;
}

/* Its generation alone: the list follows when eviction comes by (sort_folio()). */
static void page_set_generation(struct cache *cache, uint32_t slot, uint64_t number)
{
	struct page *page = &cache->queue.pages[slot];

	count(cache, page, page->generation, false);
	page->generation = slot_of(number) & (GENERATIONS - 1);
	count(cache, page, page->generation, true);
}

static void page_relink(struct cache *cache, uint32_t slot, bool to_oldest)
{
	struct page *pages = cache->queue.pages;

	queue_unlink(pages, slot);
	if (to_oldest)
		queue_push_oldest(pages, pages[slot].generation, slot);
	else
		queue_push(pages, pages[slot].generation, slot);
}

static void page_move(struct cache *cache, uint32_t slot, uint64_t number, bool to_oldest)
{
	page_set_generation(cache, slot, number);
	page_relink(cache, slot, to_oldest);
}

/* ---- uses and tiers ---- */

/*
 * folio_inc_refs(): referenced, workingset, then the counter; 6.14, lru_gen_inc_refs(): referenced,
 * the counter, then workingset.
 */
static void mglru_mark(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];
	bool counts_first = cache->rules.mglru_counts_first;

	if (page->bits & PAGE_DROPBEHIND)
		return;
	if (!(page->bits & PAGE_REFERENCED)) {
		page->bits |= PAGE_REFERENCED;
		if (counts_first)
			page->refs = 0;
	} else if (!counts_first && !(page->bits & PAGE_WORKINGSET)) {
		page->bits |= PAGE_WORKINGSET;
	} else if (page->refs < REFS_MAX) {
		page->refs++;
	} else {
		page->bits |= PAGE_WORKINGSET;
	}
}

/* folio_lru_refs(): uses beyond the first up to 6.13, uses since. */
static uint32_t refs_of(const struct cache *cache, const struct page *page)
{
	if (!cache->rules.mglru_counts_first)
		return page->refs + (page->bits & PAGE_WORKINGSET ? 1 : 0);
	return page->bits & PAGE_REFERENCED ? page->refs + 1u : 0;
}

/* lru_tier_from_refs() */
static uint32_t tier_of(const struct cache *cache, uint32_t refs, bool workingset)
{
	uint32_t power = 0;

	if (cache->rules.mglru_counts_first && workingset)
		return TIERS - 1;
	if (!cache->rules.mglru_counts_first)
		refs++;
	while ((1u << power) < refs)
		power++;
	return power;
}

/* Its count starts again; since 6.14 it stays in the working set. */
static void forget_uses(const struct cache *cache, struct page *page)
{
	page->refs = 0;
	page->bits &= ~PAGE_REFERENCED;
	if (!cache->rules.mglru_counts_first)
		page->bits &= ~PAGE_WORKINGSET;
}

/* ---- the controller: read_ctrl_pos(), reset_ctrl_pos(), positive_ctrl_err() ---- */

static uint64_t refaulted_of(const struct generations *at, uint32_t tier)
{
	return at->refaulted_before[tier] + at->refaulted[tier];
}

static uint64_t total_of(const struct generations *at, uint32_t tier)
{
	return at->total_before[tier] + at->evicted[tier] + at->protected[tier];
}

/*
 * The highest tier that may be evicted: get_tier_idx(). A tier is protected when its pages came back
 * at more than twice the rate of those used once (6.14: one and a half times).
 */
static uint32_t tier_evictable(const struct cache *cache)
{
	const struct generations *at = cache->generations;
	uint64_t base_gain = cache->rules.mglru_gain_is_smaller ? 2 : 1, gain = base_gain + 1;
	uint32_t tier;

	for (tier = 1; tier < TIERS; tier++)
		if (refaulted_of(at, tier) >= BATCH_SMALL &&
		    refaulted_of(at, tier) * (total_of(at, 0) + BATCH_SMALL) * base_gain >
			    (refaulted_of(at, 0) + 1) * total_of(at, tier) * gain)
			break;
	return tier - 1;
}

static void controller_turn(struct generations *at)
{
	for (uint32_t tier = 0; tier < TIERS; tier++) {
		at->refaulted_before[tier] = refaulted_of(at, tier) / 2;
		at->total_before[tier] = total_of(at, tier) / 2;
		at->refaulted[tier] = at->evicted[tier] = at->protected[tier] = 0;
	}
}

/* ---- in and out ---- */

/*
 * lru_gen_add_folio() and, 6.14, lru_gen_folio_seq(): where a page goes that is on no list.
 * `is_used`: PG_active, which a fault or a failed eviction sets.
 */
static uint64_t generation_for(const struct cache *cache, const struct page *page, bool is_used)
{
	const struct generations *at = cache->generations;
	uint64_t workingset = page->bits & PAGE_WORKINGSET ? 1 : 0, number;

	if (is_used)
		return cache->rules.mglru_faults_second ? at->youngest - 1 + workingset
							: at->youngest;
	if (page->bits & PAGE_RECLAIM && page->bits & (PAGE_DIRTY | PAGE_WRITEBACK))
		return at->youngest - 1;
	if (cache->rules.mglru_reads == MGLRU_READS_FOURTH_YOUNGEST) {
		number = at->youngest - (GENERATIONS - 1) + workingset;
		return number > at->oldest ? number : at->oldest;
	}
	if (cache->rules.mglru_reads == MGLRU_READS_OLDEST ||
	    at->oldest + GENERATIONS_MIN >= at->youngest)
		return at->oldest;
	return at->oldest + 1;
}

static void mglru_enter(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	page->generation =
		slot_of(generation_for(cache, page, cache->in_fault)) & (GENERATIONS - 1);
	queue_push(cache->queue.pages, page->generation, slot);
	count(cache, page, page->generation, true);
}

static void mglru_leave(struct cache *cache, uint32_t slot)
{
	const struct page *page = &cache->queue.pages[slot];

	queue_unlink(cache->queue.pages, slot);
	count(cache, page, page->generation, false);
}

/* folio_rotate_reclaimable() */
static void mglru_written(struct cache *cache, uint32_t slot)
{
	page_move(cache, slot, cache->generations->oldest, true);
}

/* deactivate_file_folio(); 6.14: one of the oldest generation stays where it is. */
static void mglru_unwanted(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	page->bits &= ~PAGE_REFERENCED;
	if (cache->rules.mglru_counts_first) {
		page->refs = 0;
		page->bits &= ~PAGE_WORKINGSET;
		if (page->generation == slot_of(cache->generations->oldest))
			return;
	}
	if (!(page->bits & (PAGE_DIRTY | PAGE_WRITEBACK))) {
		page_move(cache, slot, cache->generations->oldest, true);
		return;
	}
	page_move(cache, slot, generation_for(cache, page, false), false);
	page->bits |= PAGE_RECLAIM;
}

/* ---- shadows: the oldest generation, and the uses ---- */

enum { SHADOW_REFS_BITS = 3, SHADOW_REFS_MASK = 7 };

/* lru_gen_eviction(). Since 6.14 the uses are one less, and the working set is told beside. */
static uint32_t mglru_shadow(struct cache *cache, uint32_t slot)
{
	struct generations *at = cache->generations;
	const struct page *page = &cache->queue.pages[slot];
	uint32_t refs = refs_of(cache, page);

	at->evicted[tier_of(cache, refs, page->bits & PAGE_WORKINGSET)] += page_count(page);
	if (cache->rules.mglru_counts_first && refs > 0)
		refs--;
	return ((uint32_t)at->oldest << SHADOW_REFS_BITS | refs) & LOW_MASK;
}

/* lru_gen_test_recent() */
static bool shadow_is_recent(const struct cache *cache, uint32_t shadow)
{
	const struct generations *at = cache->generations;
	uint32_t mask = LOW_MASK >> SHADOW_REFS_BITS, then = shadow >> SHADOW_REFS_BITS;

	if (!cache->rules.mglru_recent_is_wide)
		return then == ((uint32_t)at->oldest & mask);
	return (((uint32_t)at->youngest - then) & mask) < GENERATIONS;
}

/* lru_gen_refault(). Nothing is activated: it tells the controller, and uses are remembered. */
static bool mglru_refault(struct cache *cache, uint32_t slot, uint32_t shadow, bool workingset)
{
	struct generations *at = cache->generations;
	struct page *page = &cache->queue.pages[slot];
	struct counters *counted = cache_counted(cache);
	uint32_t refs = shadow & SHADOW_REFS_MASK, pages = page_count(page);

	if (!shadow_is_recent(cache, shadow)) {
		if (!cache->rules.mglru_counts_all_refaults)
			counted->refaults -= pages;
		return false;
	}
	if (cache->rules.mglru_counts_first)
		refs++;
	at->refaulted[tier_of(cache, refs, workingset)] += pages;
	/* WORKINGSET_ACTIVATE: each recent one; up to 6.2 what is protected; 6.14: by faults. */
	if (cache->rules.mglru_counts_all_refaults &&
	    (!cache->rules.mglru_counts_first || cache->in_fault))
		counted->refault_activations += pages;
	if (cache->rules.mglru_counts_first) {
		if (workingset)
			page->bits |= PAGE_WORKINGSET;
		else
			page->refs = (refs - 1) & REFS_MAX;
	} else if (cache->in_fault || refs >= REFS_MAX) {
		page->bits |= PAGE_WORKINGSET;
		page->refs = REFS_MAX;
	}
	return false;
}

/* ---- use through mappings ---- */

/*
 * folio_update_gen(): a young page found by a walk is of the youngest generation; since 6.14 only
 * when it is found for the second time.
 */
static void walk_promotes(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	if (cache->rules.mglru_mapped_twice) {
		if (!(page->bits & (PAGE_REFERENCED | PAGE_WORKINGSET))) {
			page->bits |= PAGE_REFERENCED;
			page->refs = 0;
			return;
		}
		if (page->bits & PAGE_ISOLATED)
			return;
		forget_uses(cache, page);
		page->bits |= PAGE_WORKINGSET;
	} else {
		if (page->bits & PAGE_ISOLATED) {
			page->bits |= PAGE_REFERENCED;
			return;
		}
		forget_uses(cache, page);
	}
	page_set_generation(cache, slot, cache->generations->youngest);
}

/* lru_gen_set_refs(), 6.14: is it found young for the second time? */
static bool mapped_again(struct page *page)
{
	bool again = page->bits & (PAGE_REFERENCED | PAGE_WORKINGSET);

	page->refs = 0;
	if (again)
		page->bits = (page->bits & ~PAGE_REFERENCED) | PAGE_WORKINGSET;
	else
		page->bits |= PAGE_REFERENCED;
	return again;
}

/* The same, by a task that looks around a page: folio_activate() moves it at once. */
static void look_promotes(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	if (cache->rules.mglru_mapped_twice) {
		if (!mapped_again(page))
			return;
	} else if (page->bits & PAGE_ISOLATED) {
		page->bits |= PAGE_REFERENCED;
		return;
	}
	if (page->generation == slot_of(cache->generations->youngest))
		return;
	cache->streams[page_stream(page)].activations += page_count(page);
	page_move(cache, slot, generation_for(cache, page, true), false);
}

/* Clears the young bits of pages first .. end - 1; how many had one. */
static uint64_t young_clear(struct cache *cache, uint32_t file, uint64_t first, uint64_t end,
			    void (*promote)(struct cache *, uint32_t))
{
	uint64_t found = 0;

	for (uint64_t at = first; at < end;) {
		uint32_t slot = cache_lookup(cache, file, at);
		struct page *page = &cache->queue.pages[slot];
		uint64_t next = slot ? folio_end(cache, slot, at) : at + 1;

		next = next < end ? next : end;
		if (slot && page->bits & PAGE_YOUNG &&
		    !(page->bits & PAGE_ISOLATED && cache->rules.mglru_mapped_twice)) {
			page->bits &= ~PAGE_YOUNG;
			found += next - at;
			promote(cache, slot);
		}
		at = next;
	}
	return found;
}

/* A young page in each cache line of a table, on average: suitable_to_scan(). */
static bool is_worth_walking(uint64_t young, uint64_t pages)
{
	return young * 8 >= pages;
}

static uint64_t table_end(const struct cache *cache, uint32_t file, uint64_t first)
{
	uint64_t end = first + TABLE_NODES * NODE_PAGES;
	uint64_t pages = pages_from_bytes_up(cache->files.at[file].size_bytes);

	return pages < end ? pages : end;
}

static uint8_t filter_bit(uint64_t number)
{
	return (uint8_t)(NODE_FILTER << number % FILTERS);
}

/* The bits of a table's nodes, and what to change in them. */
static uint8_t table_filters(struct cache *cache, uint32_t file, uint64_t first, uint8_t clear,
			     uint8_t set)
{
	uint8_t bits = 0;

	for (uint32_t i = 0; i < TABLE_NODES; i++) {
		uint32_t node = cache_node_find(cache, file, first + i * NODE_PAGES);
		struct node_head *head = &cache->index.heads[node];

		if (!node)
			continue;
		bits |= head->lists;
		head->lists = (uint8_t)((head->lists & ~clear) | set);
	}
	return bits;
}

/*
 * Eviction met a young page: it looks at the 64 entries around it, in the same table
 * (lru_gen_look_around()).
 */
static void look_around(struct cache *cache, const struct scan *scan, uint32_t file, uint64_t index)
{
	struct generations *at = cache->generations;
	uint64_t table = index / (TABLE_NODES * NODE_PAGES) * (TABLE_NODES * NODE_PAGES);
	uint64_t first = table, end = table_end(cache, file, table), young;

	if (end - first > BATCH_SMALL) {
		if (index - first < BATCH_SMALL / 2)
			end = first + BATCH_SMALL;
		else if (end - index < BATCH_SMALL / 2)
			first = end - BATCH_SMALL;
		else
			end = (first = index - BATCH_SMALL / 2) + BATCH_SMALL;
	}
	young = 1 + young_clear(cache, file, first, end,
				scan->is_background ? walk_promotes : look_promotes);
	if (at->has_filter[at->youngest % FILTERS] && is_worth_walking(young, end - first))
		table_filters(cache, file, table, 0, filter_bit(at->youngest));
}

/* walk_pmd_range(), walk_pte_range() */
static void table_walk(struct cache *cache, uint32_t file, uint64_t first, bool all)
{
	struct generations *at = cache->generations;
	uint8_t next = filter_bit(at->youngest + 1);
	uint8_t filters = table_filters(cache, file, first, next, 0);
	uint64_t end = table_end(cache, file, first);

	if (!all && !(filters & filter_bit(at->youngest)))
		return;
	if (is_worth_walking(young_clear(cache, file, first, end, walk_promotes), end - first))
		table_filters(cache, file, first, 0, next);
}

/* Each of a file's tables, when its first node that is mapped comes. */
static void file_walk(struct cache *cache, uint32_t file, bool all)
{
	const struct node_head *heads = cache->index.heads;

	for (uint32_t node = cache->files.at[file].node_first; node; node = heads[node].next_node) {
		uint32_t chunk = heads[node].chunk, first = chunk / TABLE_NODES * TABLE_NODES,
			 at = first;

		if (!(heads[node].lists & NODE_HAS_TABLE))
			continue;
		while (at < chunk &&
		       !(heads[cache_node_find(cache, file, (uint64_t)at << NODE_SHIFT)].lists &
			 NODE_HAS_TABLE))
			at++;
		if (at == chunk)
			table_walk(cache, file, (uint64_t)first << NODE_SHIFT, all);
	}
}

/*
 * Before a generation is opened: what is young in the tables goes to the youngest that there is
 * (walk_mm()). All tables at first, then those that had many young entries the last time or when
 * eviction looked.
 */
static void tables_walk(struct cache *cache)
{
	struct generations *at = cache->generations;
	bool all = !at->was_walked || !at->has_filter[at->youngest % FILTERS];

	at->was_walked = true;
	at->has_filter[(at->youngest + 1) % FILTERS] = true; /* reset_bloom_filter() */
	for (size_t i = 0; i < cache->mapped.count; i++)
		file_walk(cache, cache->mapped.at[i], all);
}

/* ---- aging ---- */

static uint64_t pages_of(const struct generations *at)
{
	uint64_t pages = 0;

	for (uint32_t i = 0; i < GENERATIONS; i++)
		pages += at->pages[i];
	return pages;
}

/* try_to_inc_max_seq(), inc_max_seq(): only with two or three generations, so the fourth is free. */
static void age(struct cache *cache)
{
	struct generations *at = cache->generations;
	uint32_t old = slot_of(at->youngest - 1);

	assert(at->youngest - at->oldest + 1 < GENERATIONS);
	tables_walk(cache);
	/* Eviction may have left pages in the slot that the new generation takes, or in others. */
	cache->domain.list_pages[LIST_ACTIVE] -= at->pages[old];
	cache->domain.list_pages[LIST_INACTIVE] += at->pages[old];
	for (uint32_t i = 0; i < cache->stream_count; i++) {
		cache->streams[i].active_file_pages -= at->stream_pages[i][old];
		cache->streams[i].inactive_file_pages += at->stream_pages[i][old];
	}
	at->youngest++;
	assert(at->pages[slot_of(at->youngest)] == 0);
	at->birth_ns[slot_of(at->youngest)] = cache->now_ns;
}

/* should_run_aging() */
static bool wants_aging(const struct cache *cache)
{
	const struct generations *at = cache->generations;
	uint64_t pages;

	if (at->oldest + GENERATIONS_MIN != at->youngest)
		return at->oldest + GENERATIONS_MIN > at->youngest;
	if (cache->rules.mglru_ages_by_count)
		return true;
	pages = pages_of(at);
	return at->pages[slot_of(at->youngest)] * GENERATIONS_MIN > pages ||
	       at->pages[slot_of(at->youngest - GENERATIONS_MIN)] * (GENERATIONS_MIN + 2) < pages;
}

/* ---- eviction ---- */

/* What this round of eviction took from the oldest generation. */
struct batch {
	uint32_t slots[BATCH_SMALL];
	uint32_t count;
	uint64_t scanned, dirty; /* pages */
	bool meets_again;        /* a dirty page that has come round */
	bool has_emptied;        /* nothing but what it took is left there */
};

/* folio_inc_gen() */
static void page_protect(struct cache *cache, uint32_t slot, bool to_oldest)
{
	forget_uses(cache, &cache->queue.pages[slot]);
	page_move(cache, slot, cache->generations->oldest + 1, to_oldest);
}

static bool is_held(const struct cache *cache, uint32_t slot)
{
	for (uint32_t i = 0; i < cache->held_count; i++)
		if (cache->held[i] == slot)
			return true;
	return false;
}

/* sort_folio(): true if the page is dealt with, and not to be evicted. */
static bool page_sort(struct cache *cache, uint32_t slot, uint32_t tier_most, struct batch *batch)
{
	struct generations *at = cache->generations;
	struct page *page = &cache->queue.pages[slot];
	uint32_t refs = refs_of(cache, page), tier, pages = page_count(page);
	bool workingset = page->bits & PAGE_WORKINGSET,
	     counts_first = cache->rules.mglru_counts_first;
	/* As often used as can be told: it is protected without asking. */
	bool is_full = refs + (counts_first && workingset) == REFS_MAX + 1u + counts_first;

	if (page->generation != slot_of(at->oldest)) {
		page_relink(cache, slot, false);
		return true;
	}
	tier = tier_of(cache, refs, workingset);
	if (tier > tier_most || is_full) {
		if (!is_full || !counts_first)
			at->protected[tier] += pages;
		if (!cache->rules.mglru_counts_all_refaults)
			cache_counted(cache)->refault_activations += pages;
		page_protect(cache, slot, !cache->rules.mglru_protects_at_head);
		return true;
	}
	if (page->bits & PAGE_DIRTY && !(page->bits & PAGE_WRITEBACK))
		batch->dirty += pages;
	/*
	 * Up to 6.13 a locked page likewise. One that is being read ahead gets what is the readahead
	 * marker on a clean page: whoever reads it reads on from there. (storm: without this rule the
	 * 200 MiB of its fifth part are read once; with it 520 MiB are, and in the kernel.)
	 */
	if (page->bits & (PAGE_DIRTY | PAGE_WRITEBACK) ||
	    (page->bits & PAGE_LOCKED && !counts_first && !is_held(cache, slot))) {
		batch->meets_again |= (page->bits & (PAGE_DIRTY | PAGE_RECLAIM | PAGE_WRITEBACK)) ==
				      (PAGE_DIRTY | PAGE_RECLAIM);
		page_protect(cache, slot, false);
		page->bits |= PAGE_RECLAIM;
		return true;
	}
	return false;
}

/* isolate_folio(): what is known of uses beyond the first counts if there was a first. */
static void page_isolate(const struct cache *cache, struct page *page)
{
	bool referenced = page->bits & PAGE_REFERENCED;

	page->bits = (page->bits & ~PAGE_MARKER) | PAGE_ISOLATED;
	if (cache->rules.mglru_counts_first) {
		if (!referenced)
			page->refs = 0;
		return;
	}
	if (!referenced)
		forget_uses(cache, page);
	page->bits &= ~PAGE_REFERENCED;
}

/* scan_folios() */
static void batch_take(struct cache *cache, uint64_t asked, struct batch *batch)
{
	struct generations *at = cache->generations;
	struct page *pages = cache->queue.pages;
	uint32_t head = slot_of(at->oldest), slot = pages[head].prev;
	uint32_t tier_most = tier_evictable(cache), left = BATCH_LARGE;
	uint64_t isolated = 0;

	batch->has_emptied = slot == head;
	if (at->youngest - at->oldest + 1 == GENERATIONS_MIN)
		return;
	if (cache->rules.mglru_scans_as_asked && asked < left)
		left = (uint32_t)asked;
	while (slot != head) {
		uint32_t next = pages[slot].prev;

		prefetch_write(&pages[next]);
		batch->scanned += page_count(&pages[slot]);
		if (!page_sort(cache, slot, tier_most, batch)) {
			page_isolate(cache, &pages[slot]);
			isolated += page_count(&pages[slot]);
			batch->slots[batch->count++] = slot;
		}
		slot = next;
		if (--left == 0 || isolated >= BATCH_SMALL)
			break;
	}
	batch->has_emptied = slot == head;
	if (isolated == 0 && left > 0)
		batch->scanned = 0;
}

/* try_to_inc_min_seq(): the oldest generation that has pages. */
static bool oldest_advance(struct cache *cache, bool is_empty)
{
	struct generations *at = cache->generations;
	uint64_t before = at->oldest;

	while (is_empty && at->oldest + GENERATIONS_MIN <= at->youngest) {
		uint32_t head = slot_of(++at->oldest);

		is_empty = cache->queue.pages[head].prev == head;
	}
	if (at->oldest == before)
		return false;
	controller_turn(at);
	return true;
}

/* shrink_folio_list(): true if the page is gone; else `is_used` says whether it was activated. */
static bool page_shrink(struct cache *cache, struct scan *scan, uint32_t slot, bool *is_used)
{
	struct page *page = &cache->queue.pages[slot];
	bool twice = cache->rules.mglru_mapped_twice;

	*is_used = false;
	if (page->bits & PAGE_LOCKED)
		return false;
	if (page->bits & PAGE_MAPPED) {
		/* Somebody has just looked around and found it young. */
		if (!twice && page->bits & PAGE_REFERENCED)
			return false;
		if (page->bits & PAGE_YOUNG) {
			page->bits &= ~PAGE_YOUNG;
			look_around(cache, scan, page_file(cache, page),
				    page_index_of(cache, page));
			if (twice)
				*is_used = mapped_again(page);
			else
				page->bits |= PAGE_REFERENCED;
			return false;
		}
		page->bits &= ~PAGE_MAPPED;
	}
	if (page->bits & PAGE_HELD) {
		*is_used = true;
		return false;
	}
	scan->reclaimed_pages += page_count(page);
	page_evict(cache, slot);
	return true;
}

/*
 * What could not go does not return to the oldest generation: evict_folios(). Up to 6.13 all of it
 * is taken for used.
 */
static void page_put_back(struct cache *cache, uint32_t slot, bool is_used)
{
	struct page *page = &cache->queue.pages[slot];

	page->bits &= ~PAGE_ISOLATED;
	if (is_used)
		cache->streams[page_stream(page)].activations += page_count(page);
	if (!cache->rules.mglru_faults_second) {
		forget_uses(cache, page);
		is_used = true;
	} else if (generation_for(cache, page, is_used) == cache->generations->oldest) {
		page->refs = 0;
		page->bits &= ~PAGE_REFERENCED;
		is_used = true;
	}
	page_move(cache, slot, generation_for(cache, page, is_used), false);
}

/* evict_folios(). How many pages were looked at; 0: there is no use in going on. */
static uint64_t evict(struct cache *cache, struct scan *scan, uint64_t asked, uint64_t *dirty,
		      uint64_t *taken, bool *meets_again)
{
	struct generations *at = cache->generations;
	struct page *pages = cache->queue.pages;
	struct batch batch = {0};
	uint32_t kept[BATCH_SMALL], kept_count = 0;
	bool kept_used[BATCH_SMALL];

	batch_take(cache, asked, &batch);
	batch.scanned += oldest_advance(cache, batch.has_emptied);
	if (at->youngest - at->oldest + 1 == GENERATIONS_MIN)
		batch.scanned = 0;
	*meets_again |= batch.meets_again;
	*dirty += batch.dirty;
	*taken += batch.dirty;
	for (uint32_t i = 0; i < batch.count; i++)
		page_prefetch_index(cache, &pages[batch.slots[i]]);
	for (uint32_t i = 0; i < batch.count; i++) {
		*taken += page_count(&pages[batch.slots[i]]);
		if (!page_shrink(cache, scan, batch.slots[i], &kept_used[kept_count]))
			kept[kept_count++] = batch.slots[i];
	}
	for (uint32_t i = 0; i < kept_count; i++)
		page_put_back(cache, kept[i], kept_used[i]);
	return batch.scanned;
}

/*
 * get_nr_to_scan(): at the first priority it gets away without aging; later ones age when it is
 * time, and (6.3) leave it at that.
 */
static uint64_t pages_to_scan(struct cache *cache, const struct scan *scan, uint32_t *aged)
{
	const struct generations *at = cache->generations;
	bool has_cold = at->oldest + GENERATIONS_MIN <= at->youngest;
	uint64_t pages = pages_of(at) >> scan->priority;

	if (!wants_aging(cache))
		return pages;
	if (scan->priority == PRIORITY_FIRST)
		return has_cold ? pages : 0;
	if (!cache->rules.mglru_aging_ends_turn && scan->is_background)
		return 0; /* lru_gen_age_node() does it */
	age(cache);
	(*aged)++;
	return cache->rules.mglru_aging_ends_turn ? 0 : pages;
}

/* should_abort_scan(): a group's reclaim goes on, for fairness. */
static bool has_enough(const struct cache *cache, const struct scan *scan, uint32_t aged)
{
	const struct domain *domain = &cache->domain;

	if (!cache->rules.mglru_aging_ends_turn)
		return aged > 1 && !scan->is_background;
	if (domain->is_cgroup || cache->is_bare)
		return false;
	return scan->reclaimed_pages >= scan->target_pages ||
	       (scan->is_background &&
		domain->usage_pages + domain->pages_high + BATCH_SMALL <= domain->limit_pages);
}

/*
 * A window as large as a machine's memory locks all of it, and each of its further pages would have
 * every page looked at in vain, thirteen times.
 */
static bool is_stuck(const struct cache *cache)
{
	return !cache->domain.is_cgroup && cache->window_count > 0 &&
	       cache->generations->stuck_window == cache->windows + 1;
}

/* try_to_shrink_lruvec() */
static void mglru_scan(struct cache *cache, struct scan *scan)
{
	uint64_t scanned = 0, dirty = 0, taken = 0, asked, looked;
	uint32_t aged = 0;
	bool meets_again = false;

	if (is_stuck(cache))
		return;
	if (!cache->rules.mglru_aging_ends_turn && scan->is_background && wants_aging(cache))
		age(cache);
	while ((asked = pages_to_scan(cache, scan, &aged)) > 0) {
		looked = evict(cache, scan, asked, &dirty, &taken, &meets_again);
		scanned += looked;
		if (looked == 0 || scanned >= asked || has_enough(cache, scan, aged))
			break;
	}
	scan->scanned_pages += scanned;
	/*
	 * All that was met was dirty: the flusher is woken (not in 6.12). Where it is not, it comes by
	 * in its own time; and a dirty page that has come round has been dirty for long.
	 */
	if (meets_again || (cache->rules.mglru_wakes_flusher && dirty > 0 && dirty == taken)) {
		cache->domain.flush_wanted = true;
		writeback_flush(cache);
	}
	if (scan->priority == 0 && scan->reclaimed_pages == 0)
		cache->generations->stuck_window = cache->windows + 1;
}

static uint32_t bits_of(uint64_t number)
{
	return number ? 64 - (uint32_t)__builtin_clzll(number) : 0;
}

/*
 * Reclaim of a whole machine begins as deep as it must to find its target in one go
 * (set_initial_priority(), 6.3; background reclaim's target is the high watermark). With min_ttl_ms
 * it kills somebody before it takes what is younger (lru_gen_age_node()).
 */
static uint32_t mglru_first_priority(struct cache *cache, const struct scan *scan)
{
	const struct generations *at = cache->generations;
	const struct domain *domain = &cache->domain;
	uint64_t target = scan->target_pages;
	uint32_t priority = PRIORITY_FIRST, inactive_bits, target_bits;

	if (domain->is_cgroup || cache->is_bare)
		return priority;
	if (scan->is_background && target < domain->pages_high)
		target = domain->pages_high;
	if (cache->rules.mglru_aging_ends_turn && target >= BATCH_SMALL) {
		inactive_bits = bits_of(domain->list_pages[LIST_INACTIVE]);
		target_bits = bits_of(target - 1) + 1;
		priority = inactive_bits > target_bits ? inactive_bits - target_bits : 0;
		priority = priority < PRIORITY_LEAST   ? PRIORITY_LEAST
			   : priority > PRIORITY_FIRST ? PRIORITY_FIRST
						       : priority;
	}
	if (cache->rules.min_ttl_ns > 0 && scan->is_background &&
	    (pages_of(at) >> priority == 0 ||
	     at->birth_ns[slot_of(at->oldest)] + cache->rules.min_ttl_ns >= cache->now_ns))
		cache->domain.is_full = true;
	return priority;
}

/* The scouts go before eviction: they begin again at the oldest page. */
static void mglru_reclaimed(struct cache *cache)
{
	for (uint32_t list = 0; list < LIST_COUNT; list++)
		cache->scouts[list] = slot_of(cache->generations->oldest);
}

/* ---- the shelf ---- */

/* lru_gen_init_lruvec() */
static void mglru_create(struct cache *cache)
{
	struct generations *at = cache->generations = memory_alloc(1, sizeof(*at));

	at->youngest = GENERATIONS_MIN + 1;
	at->stream_pages = memory_alloc(CACHE_STREAMS, sizeof(*at->stream_pages));
}

static void mglru_destroy(struct cache *cache)
{
	memory_free(cache->generations->stream_pages);
	memory_free(cache->generations);
}

static void mglru_check(const struct cache *cache)
{
	const struct generations *at = cache->generations;
	uint64_t pages[GENERATIONS] = {0}, of_streams[GENERATIONS] = {0}, active = 0;

	assert(at->youngest >= at->oldest + 1 && at->youngest - at->oldest < GENERATIONS);
	for (uint32_t list = 0; list < GENERATIONS; list++)
		for (uint32_t slot = cache->queue.pages[list].next; slot != list;
		     slot = cache->queue.pages[slot].next) {
			const struct page *page = &cache->queue.pages[slot];

			assert(cache->queue.pages[page->next].prev == slot &&
			       cache->queue.pages[page->prev].next == slot);
			assert(!(page->bits & PAGE_ISOLATED));
			pages[page->generation] += page_count(page);
		}
	for (uint32_t i = 0; i < CACHE_STREAMS; i++)
		for (uint32_t generation = 0; generation < GENERATIONS; generation++)
			of_streams[generation] += at->stream_pages[i][generation];
	for (uint32_t generation = 0; generation < GENERATIONS; generation++) {
		assert(pages[generation] == at->pages[generation]);
		assert(pages[generation] == of_streams[generation]);
		if (is_active(at, generation))
			active += pages[generation];
	}
	for (uint64_t dead = at->youngest + 1; dead < at->oldest + GENERATIONS; dead++)
		assert(pages[slot_of(dead)] == 0);
	assert(active == cache->domain.list_pages[LIST_ACTIVE]);
	assert(pages_of(at) - active == cache->domain.list_pages[LIST_INACTIVE]);
}

static const struct list_policy lists = {
	.create = mglru_create,
	.destroy = mglru_destroy,
	.enter = mglru_enter,
	.leave = mglru_leave,
	.written = mglru_written,
	.unwanted = mglru_unwanted,
	.shadow = mglru_shadow,
	.first_priority = mglru_first_priority,
	.check = mglru_check,
};

#define MGLRU_POLICY(series, version, text)                                                        \
	extern const struct policy policy_mglru_##series;                                          \
	const struct policy policy_mglru_##series = {                                              \
		.name = "linux-" version "-mglru",                                                 \
		.summary = text,                                                                   \
		.preset = &preset_linux_##series,                                                  \
		.lists = &lists,                                                                   \
		.mark = mglru_mark,                                                                \
		.refault = mglru_refault,                                                          \
		.scan = mglru_scan,                                                                \
		.reclaimed = mglru_reclaimed,                                                      \
	};

MGLRU_POLICY(6_18, "6.18",
	     "Linux 6.18 with MGLRU: working set in the shadows, two young looks to promote")
MGLRU_POLICY(6_12, "6.12", "Linux 6.12 with MGLRU: as 6.6")
MGLRU_POLICY(6_6, "6.6", "Linux 6.6 with MGLRU: aging leaves eviction to the next priority")
MGLRU_POLICY(6_1, "6.1", "Linux 6.1 with MGLRU: aging goes on to evict at once")
