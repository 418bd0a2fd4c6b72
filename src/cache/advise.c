/*
 * advise: posix_fadvise()
 *
 * Source: Linux mm/fadvise.c, generic_fadvise(); mm/truncate.c, mapping_try_invalidate();
 * linux-caching.md 4.4.
 */
#include "cache/cache_private.h"

static bool advise_willneed(struct cache *cache, struct open_file *open, uint64_t offset,
			    uint64_t end, struct cache_plan *plan)
{
	uint64_t most = open->window, first = offset >> PAGE_SHIFT,
		 pages = pages_from_bytes_up(end) - first;

	if (!plan_has_room(plan))
		return false;
	/* force_page_cache_ra(): at most the window, or the device's largest I/O (4.10), in all. */
	if (cache->rules.readahead_io_cap && cache->device_io_pages > most)
		most = cache->device_io_pages;
	cache_enter(cache, ALLOCATION_READ);
	readahead_exact(cache, open->file, first, pages < most ? pages : most, 0, plan);
	return true;
}

/* Of the pages first .. last - 1 that are to go, those from `index` to before `end`. */
static void advise_dontneed_part(struct cache *cache, uint32_t file, uint64_t first, uint64_t last,
				 uint64_t index, uint64_t end)
{
	while (index < end) {
		uint32_t slot = cache_lookup(cache, file, index);
		struct page *page = &cache->queue.pages[slot];
		uint32_t node;
		uint16_t *high;

		if (!slot) {
			/* Shadows in the range go too; a missing node is 64 pages of nothing. */
			node = cache_node_find(cache, file, index);
			if (!node) {
				index = (index | (NODE_PAGES - 1)) + 1;
				continue;
			}
			high = &index_node(&cache->index, node)->high[index % NODE_PAGES];
			if (*high & HIGH_SHADOW)
				node_count(cache, node, 0, -1);
			if (*high & HIGH_GHOST)
				cache_ghost_forget(cache, node, index % NODE_PAGES);
			*high = 0;
			index++;
			continue;
		}
		index = folio_end(cache, slot, index);
		if (page_index_of(cache, page) < first || index > last)
			continue; /* a folio that straddles the edge stays */
		if (!(page->bits &
		      (PAGE_DIRTY | PAGE_WRITEBACK | PAGE_LOCKED | PAGE_MAPPED | PAGE_HELD))) {
			page_remove(cache, slot);
		} else if (!(page->bits & (PAGE_MAPPED | PAGE_LOCKED))) {
			/*
			 * deactivate_file_folio(): dirty ones to the head, to be freed when
			 * written.
			 */
			if (cache->policy->lists) {
				cache->policy->lists->unwanted(cache, slot);
				continue;
			}
			page->bits = (page->bits & ~PAGE_REFERENCED) | PAGE_RECLAIM;
			page_list_move(cache, slot, LIST_INACTIVE, false);
		}
	}
}

/* From so many chunks on (64 GiB) a file is taken by the nodes that it has: it may be all hole. */
enum { DONTNEED_CHUNKS_MAX = 1 << 18 };

static void advise_dontneed(struct cache *cache, uint32_t file, uint64_t offset, uint64_t end)
{
	uint64_t size = cache->files.at[file].size_bytes, first = pages_from_bytes_up(offset), last;

	/* Whole pages only, but the file's last page counts as whole. `last` is one past. */
	last = end >= size ? pages_from_bytes_up(size) : end >> PAGE_SHIFT;
	if (first >= last)
		return;
	if ((last - first) >> NODE_SHIFT < DONTNEED_CHUNKS_MAX) {
		advise_dontneed_part(cache, file, first, last, first, last);
		return;
	}
	for (uint32_t node = cache->files.at[file].node_first; node;
	     node = cache->index.heads[node].next_node) {
		uint64_t base = (uint64_t)cache->index.heads[node].chunk << NODE_SHIFT;

		advise_dontneed_part(cache, file, first, last, base > first ? base : first,
				     base + NODE_PAGES < last ? base + NODE_PAGES : last);
	}
}

bool cache_advise(struct cache *cache, uint32_t handle, enum cache_advice advice, uint64_t *offset,
		  uint64_t *bytes, struct cache_plan *plan)
{
	struct open_file *open = &cache->opens.at[handle];
	uint64_t end = *bytes == 0 || *bytes > UINT64_MAX - *offset ? UINT64_MAX : *offset + *bytes;
	uint64_t size = cache->files.at[open->file].size_bytes;
	uint32_t first_run;
	bool done;

	switch (advice) {
	case CACHE_ADVICE_RANDOM:
		open->is_random = true;
		break;
	case CACHE_ADVICE_SEQUENTIAL:
		open->is_random = false;
		open->window = 2 * cache->readahead_pages;
		break;
	case CACHE_ADVICE_MAP_RANDOM:
		open->map_is_random = true;
		break;
	case CACHE_ADVICE_NOREUSE:
		open->is_noreuse = true;
		break;
	case CACHE_ADVICE_WILLNEED:
		if (end > size)
			end = size;
		return *offset >= end || advise_willneed(cache, open, *offset, end, plan);
	case CACHE_ADVICE_DONTNEED:
		/*
		 * Writing is started first; what is being written stays, and goes when it is done.
		 */
		first_run = plan->write_count;
		done = writeback_file(cache, open->file, *offset >> PAGE_SHIFT,
				      end == UINT64_MAX ? end : pages_from_bytes_up(end), plan,
				      true);
		if (done)
			advise_dontneed(cache, open->file, *offset, end);
		writeback_settle(cache, plan, first_run);
		return done;
	}
	return true;
}
