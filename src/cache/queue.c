/*
 * queue: a queue policy's records in the full model (policy.h)
 *
 * The engine's part: what fits, what an access and a departure mean, and where a ghost is found. A
 * page's entry in the index leads to its ghost; a kernel with such a policy would have a table of
 * its own for that, with what a ghost needs in it: so each is charged for.
 *
 * Differs  1. pages of a policy that counts them are single ones, no large folios
 *          2. a ghost outlives its inode, not its page's data: truncation and advice take it away
 */
#include "cache/queue.h"

#include <assert.h>

#include "cache/bare_loop.h"
#include "cache/cache_private.h"

/*
 * Two links, the file and the page's index, a hash chain and the policy's own few bytes: a slab of
 * 32-byte objects. Ours: no kernel has one.
 */
enum { GHOST_BYTES = 32 };

void cache_queue_init(struct cache *cache)
{
	const struct policy *policy = cache->policy;
	struct page_queue *queue = &cache->queue;
	uint64_t most = cache->domain.limit_pages;
	uint32_t heads = policy_list_count(policy);

	if (cache->page_count < heads)
		cache->page_count = heads;
	for (uint32_t head = LIST_COUNT; head < heads; head++)
		queue_init(queue->pages, head);
	queue->cache = cache;
	queue->slots = cache->page_count;
	if (!policy->use)
		return;
	queue->capacity = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	if (policy->has_marks)
		queue->marks = memory_alloc(cache->page_capacity / 64, 8);
	if (policy->slot_bytes)
		queue->own = memory_alloc(cache->page_capacity, policy->slot_bytes);
	if (policy->state_bytes)
		queue->state = memory_alloc(1, policy->state_bytes);
	if (policy->table_bytes)
		queue->table = memory_alloc(policy->table_bytes(queue->capacity), 1);
	if (policy->init)
		policy->init(queue);
}

void cache_queue_deinit(struct cache *cache)
{
	memory_free(cache->queue.pages);
	memory_free(cache->queue.marks);
	memory_free(cache->queue.own);
	memory_free(cache->queue.state);
	memory_free(cache->queue.table);
}

void cache_queue_grow(struct cache *cache, uint32_t capacity)
{
	struct page_queue *queue = &cache->queue;
	uint32_t old = cache->page_capacity, bytes = cache->policy->slot_bytes;

	if (queue->marks) {
		queue->marks = memory_resize(queue->marks, capacity / 64, 8);
		for (size_t i = old / 64; i < capacity / 64; i++)
			queue->marks[i] = 0;
	}
	if (queue->own) {
		queue->own = memory_resize(queue->own, capacity, bytes);
		memset(queue->own + (size_t)old * bytes, 0, (size_t)(capacity - old) * bytes);
	}
}

/* What file pages have, and what is free; of a whole machine, down to where reclaim begins. */
static void capacity_follow(struct cache *cache)
{
	const struct domain *domain = &cache->domain;
	uint64_t others = domain->usage_pages - domain->list_pages[LIST_INACTIVE] +
			  (domain->is_cgroup ? 0 : domain->pages_low);

	cache->queue.capacity =
		others < domain->limit_pages ? (uint32_t)(domain->limit_pages - others) : 1;
}

uint32_t cache_queue_asked(struct cache *cache, uint32_t file, uint64_t page_index)
{
	uint32_t node, slot, at = page_index % NODE_PAGES;
	struct node *entries;

	capacity_follow(cache);
	if (!cache->policy->ghosts_max && !cache->policy->miss)
		return 0;
	node = cache_node_find(cache, file, page_index);
	entries = index_node(&cache->index, node);
	if (!(entries->high[at] & HIGH_GHOST)) {
		if (cache->policy->miss)
			cache->policy->miss(&cache->queue);
		return 0;
	}
	/* It is nobody's while room is made. */
	slot = entries->low[at];
	entries->low[at] = 0;
	entries->high[at] &= (uint16_t)~HIGH_GHOST;
	cache->queue.ghosts--;
	cache->policy->back(&cache->queue, slot);
	return slot;
}

/* A page that left paid for it: never reclaims. */
void cache_ghost_charge(struct cache *cache)
{
	struct domain *domain = &cache->domain;

	if (cache->is_bare)
		return;
	domain->slab_bytes += GHOST_BYTES;
	if (domain->object_stock_bytes < GHOST_BYTES) {
		domain->usage_pages++;
		domain->slab_pages++;
		domain->object_stock_bytes += PAGE_BYTES;
	}
	domain->object_stock_bytes -= GHOST_BYTES;
}

void cache_ghost_uncharge(struct cache *cache)
{
	slab_charge(cache, -(int64_t)GHOST_BYTES);
}

void cache_ghost_drop(struct cache *cache, uint32_t slot)
{
	const struct page *page = &cache->queue.pages[slot];

	index_node(&cache->index, page->node)->high[page->bits & PAGE_OFFSET_MASK] &=
		(uint16_t)~HIGH_GHOST;
	page_slot_free(cache, slot);
	cache_ghost_uncharge(cache);
}

void cache_ghost_forget(struct cache *cache, uint32_t node, uint32_t at)
{
	uint32_t slot = index_node(&cache->index, node)->low[at];

	cache->queue.ghosts--;
	cache->policy->forget(&cache->queue, slot);
	cache_ghost_drop(cache, slot);
}

uint64_t cache_page_hash(const struct cache *cache, uint32_t slot)
{
	const struct page *page = &cache->queue.pages[slot];

	return bare_hash(((uint64_t)page_file(cache, page) << 38) ^ page_index_of(cache, page));
}

/*
 * Victims until the target is met. What cannot go is spared, and looked at once in a while: as many
 * as there are at the last priority.
 */
void cache_queue_scan(struct cache *cache, struct scan *scan)
{
	uint64_t left = cache->domain.list_pages[LIST_INACTIVE] >> scan->priority;

	if (scan->reclaimed_pages == 0 && scan->priority == PRIORITY_FIRST)
		cache->queue.spared = 0;
	while (left > 0 && scan->reclaimed_pages < scan->target_pages) {
		uint32_t slot = cache->policy->victim(&cache->queue);
		struct page *page = &cache->queue.pages[slot];
		uint32_t pages = page_count(page);

		scan->scanned_pages += pages;
		left -= left < pages ? left : pages;
		if (page->bits & (PAGE_DIRTY | PAGE_WRITEBACK | PAGE_LOCKED | PAGE_HELD)) {
			if (page->bits & PAGE_DIRTY)
				cache->domain.flush_wanted = true;
			policy_spare(cache->policy, &cache->queue, slot);
			cache->queue.spared++;
			continue;
		}
		page_evict(cache, slot);
		scan->reclaimed_pages += pages;
	}
	/* As a kernel's scan does; the next priority finds them clean. */
	if (scan->reclaimed_pages < scan->target_pages && cache->domain.flush_wanted)
		writeback_flush(cache);
}

void cache_queue_check(const struct cache *cache)
{
	const struct policy *policy = cache->policy;
	const struct page_queue *queue = &cache->queue;
	uint64_t pages = 0;
	uint32_t resident = 0, ghosts = 0;

	for (uint32_t head = 0; head < policy_list_count(policy); head++)
		for (uint32_t slot = queue->pages[head].next; slot != head;
		     slot = queue->pages[slot].next) {
			const struct page *page = &queue->pages[slot];
			const struct node *node = index_node(&cache->index, page->node);
			uint32_t at = page->bits & PAGE_OFFSET_MASK;

			assert(queue->pages[page->next].prev == slot &&
			       queue->pages[page->prev].next == slot);
			assert(policy->takes_folios || page_order(page) == 0);
			if (policy->is_ghost && policy->is_ghost(queue, slot)) {
				assert(node->high[at] & HIGH_GHOST && node->low[at] == slot);
				ghosts++;
				continue;
			}
			assert(node->low[at] == (LOW_RESIDENT | slot));
			resident++;
			pages += page_count(page);
		}
	assert(resident == queue->resident && ghosts == queue->ghosts);
	assert(pages == cache->domain.list_pages[LIST_INACTIVE]);
	assert(cache->domain.list_pages[LIST_ACTIVE] == 0);
	if (policy->check)
		policy->check(queue);
}
