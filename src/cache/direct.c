/*
 * direct: reads and writes past the cache (O_DIRECT), and through it without staying (RWF_DONTCACHE)
 *
 * O_DIRECT moves bytes between the device and the caller, and sees to it that cached pages do not
 * lie: what is dirty of the range is written first, and a write drops the folios that it touches,
 * whole, with their mappings and shadows. RWF_DONTCACHE is a buffered read or write whose own
 * folios carry a bit: they go when they have been read (by anybody) or are written, unless somebody
 * looked them up to keep them. Source: Linux mm/filemap.c, kiocb_write_and_wait(),
 * kiocb_invalidate_pages(), filemap_end_dropbehind() (6.14), __filemap_get_folio(); mm/truncate.c,
 * invalidate_inode_pages2_range(); fs/iomap/direct-io.c; fs/btrfs/direct-io.c; measured on 6.18.
 * The bit's other places: read.c, write.c, fault.c, writeback.c, page.c.
 */
#include "cache/cache_private.h"

/* A plan's run counts its pages in 32 bits. */
enum { RUN_PAGES_MAX = 1 << 20 };

/* ---- RWF_DONTCACHE ---- */

bool cache_takes_dontcache(const struct cache *cache)
{
	return cache->rules.has_dontcache;
}

bool cache_read_dontcache(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			  struct cache_plan *plan)
{
	bool done;

	cache->drops_behind = cache->rules.has_dontcache;
	done = cache_read(cache, handle, offset, bytes, plan);
	cache->drops_behind = false;
	return done;
}

bool cache_write_dontcache(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			   struct cache_plan *plan)
{
	bool done;

	cache->drops_behind = cache->rules.has_dontcache;
	done = cache_write(cache, handle, offset, bytes, plan);
	cache->drops_behind = false;
	return done;
}

/* ---- O_DIRECT ---- */

bool cache_direct_writes_are_buffered(const struct cache *cache)
{
	return cache->rules.direct_writes_buffered;
}

bool cache_range_is_dirty(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes)
{
	uint64_t end = pages_from_bytes_up(offset + bytes);

	for (uint64_t index = offset >> PAGE_SHIFT; index < end;) {
		uint32_t slot = cache_lookup(cache, file, index);

		if (slot && cache->queue.pages[slot].bits & (PAGE_DIRTY | PAGE_WRITEBACK))
			return true;
		if (slot)
			index = folio_end(cache, slot, index);
		else if (cache_node_find(cache, file, index))
			index++;
		else
			index = (index | (NODE_PAGES - 1)) + 1;
	}
	return false;
}

void cache_direct_drop(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes)
{
	uint64_t end = pages_from_bytes_up(offset + bytes);

	for (uint64_t index = offset >> PAGE_SHIFT; index < end;) {
		uint32_t slot = cache_lookup(cache, file, index),
			 node = cache_node_find(cache, file, index);
		uint16_t *high;

		if (!node) {
			index = (index | (NODE_PAGES - 1)) + 1;
			continue;
		}
		if (slot) {
			index = folio_end(cache, slot, index);
			if (!(cache->queue.pages[slot].bits & PAGE_LOCKED))
				page_remove(cache, slot);
			continue;
		}
		high = &index_node(&cache->index, node)->high[index % NODE_PAGES];
		if (*high & HIGH_SHADOW)
			node_count(cache, node, 0, -1);
		if (*high & HIGH_GHOST)
			cache_ghost_forget(cache, node, index % NODE_PAGES);
		*high = 0;
		index++;
	}
}

static void run_add(struct cache_run *runs, uint32_t *count, uint32_t file, uint64_t index,
		    uint64_t pages)
{
	struct cache_run *last = *count ? &runs[*count - 1] : NULL;

	if (last && last->file == file && last->index + last->pages == index &&
	    last->pages + pages <= RUN_PAGES_MAX)
		last->pages += (uint32_t)pages;
	else
		runs[(*count)++] =
			(struct cache_run){.index = index, .file = file, .pages = (uint32_t)pages};
}

/* From `index` on, how many pages before `end` are stored, or are not. */
static uint64_t stored_alike(struct cache *cache, uint32_t file, uint64_t index, uint64_t end,
			     bool *is_stored)
{
	uint64_t backed = cache->files.at[file].backed_pages, at = index;

	*is_stored = page_is_stored(cache, file, index);
	if (end - index > RUN_PAGES_MAX)
		end = index + RUN_PAGES_MAX;
	if (index < backed)
		at = backed < end ? backed : end;
	while (at < end && page_is_stored(cache, file, at) == *is_stored)
		at++;
	return at - index;
}

bool cache_direct_read(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
		       struct cache_plan *plan)
{
	uint64_t size = bytes_from_pages(pages_from_bytes_up(cache->files.at[file].size_bytes));
	uint64_t end = *offset + *bytes < size ? *offset + *bytes : size;

	while (*offset < end && plan_has_room(plan)) {
		uint64_t index = *offset >> PAGE_SHIFT, to;
		bool is_stored;

		to = bytes_from_pages(index + stored_alike(cache, file, index,
							   pages_from_bytes_up(end), &is_stored));
		to = to < end ? to : end;
		if (is_stored) {
			run_add(plan->fetch, &plan->fetch_count, file, index,
				pages_from_bytes_up(to) - index);
			plan->fetch_bytes += to - *offset;
			cache_counted(cache)->read_bytes += to - *offset;
		}
		*bytes -= to - *offset;
		*offset = to;
	}
	if (*offset >= end)
		*bytes = 0;
	return *bytes == 0;
}

bool cache_direct_write(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
			struct cache_plan *plan)
{
	struct cache_file *at = &cache->files.at[file];

	while (*bytes > 0 && plan_has_room(plan)) {
		uint64_t first = *offset >> PAGE_SHIFT, end = pages_from_bytes_up(*offset + *bytes),
			 to;

		if (end - first > RUN_PAGES_MAX)
			end = first + RUN_PAGES_MAX;
		to = bytes_from_pages(end) < *offset + *bytes ? bytes_from_pages(end)
							      : *offset + *bytes;
		for (uint64_t index = first; index < end; index++)
			page_set_stored(cache, file, index);
		run_add(plan->write, &plan->write_count, file, first, end - first);
		plan->write_bytes += to - *offset;
		cache_counted(cache)->write_bytes += to - *offset;
		*bytes -= to - *offset;
		*offset = to;
		if (to > at->size_bytes)
			at->size_bytes = to;
	}
	return *bytes == 0;
}
