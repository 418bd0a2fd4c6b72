/*
 * peek: what a page is, without touching it; and a log of pages that came back, and of those that were evicted
 *
 * For whoever watches a run (lints). Nothing here changes what the core decides.
 */
#include "cache/cache_private.h"

static uint32_t node_of_page(const struct cache *cache, uint32_t file, uint64_t page_index)
{
	const struct cache_file *at = &cache->files.at[file];
	uint32_t chunk = (uint32_t)(page_index >> NODE_SHIFT);

	return chunk < at->directory_chunks ? at->directory[chunk]
					    : index_find(&cache->index, file, chunk);
}

uint32_t cache_peek(const struct cache *cache, uint32_t file, uint64_t page_index)
{
	uint32_t node = node_of_page(cache, file, page_index), low, bits,
		 state = CACHE_PEEK_RESIDENT;
	const struct node *at;

	if (!node)
		return 0;
	at = index_node(&cache->index, node);
	low = at->low[page_index % NODE_PAGES];
	if (!(low & LOW_RESIDENT))
		return at->high[page_index % NODE_PAGES] & HIGH_EVICTED ? CACHE_PEEK_EVICTED : 0;
	bits = cache->queue.pages[low & LOW_MASK].bits;
	if (cache->index.heads[node].dirty >> (page_index % NODE_PAGES) & 1)
		state |= CACHE_PEEK_DIRTY;
	if (bits & PAGE_WRITEBACK)
		state |= CACHE_PEEK_WRITEBACK;
	if (bits & PAGE_MAPPED)
		state |= CACHE_PEEK_MAPPED;
	if (bits & (PAGE_REFERENCED | (cache->policy->lists ? PAGE_WORKINGSET : PAGE_ACTIVE)))
		state |= CACHE_PEEK_USED;
	return state;
}

void cache_returns_log(struct cache *cache)
{
	cache->logs_returns = true;
}

const struct cache_return *cache_returns(const struct cache *cache, size_t *count)
{
	*count = cache->returns.count;
	return cache->returns.at;
}

const struct cache_eviction *cache_evictions(const struct cache *cache, size_t *count)
{
	*count = cache->evicted.count;
	return cache->evicted.at;
}

void cache_returns_clear(struct cache *cache)
{
	cache->returns.count = 0;
	cache->evicted.count = 0;
}

void page_log_return(struct cache *cache, uint32_t file, uint64_t page_index, uint32_t low,
		     uint16_t high)
{
	uint32_t distance = ((uint32_t)cache->domain.age - low) & LOW_MASK;
	/* A policy with lists of its own remembers no age. */
	bool is_known = high & HIGH_SHADOW && !cache->policy->lists;

	*array_push(&cache->returns) = (struct cache_return){
		.index = page_index,
		.file = file,
		.distance_pages = is_known ? distance : CACHE_DISTANCE_UNKNOWN,
		.evictor = high & HIGH_EVICTOR_MASK,
		.evicted_age = is_known ? cache->domain.age - distance -
						  (cache->rules.age_stored_first ? 0 : 1)
					: 0,
	};
}

uint64_t cache_age(const struct cache *cache)
{
	return cache->domain.age;
}
