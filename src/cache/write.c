/*
 * write: buffered writes
 *
 * A block that is not cached and will be covered in part is read first, alone; whether a write counts
 * as use is a switch. Source: Linux mm/filemap.c, generic_perform_write(); fs/iomap/buffered-io.c,
 * iomap_get_folio(), __iomap_write_begin(); linux-caching.md 1.4 to 1.7.
 */
#include "cache/cache_private.h"

/* The largest power of two that fits the rest of the write and the alignment (fgf_set_order()). */
static uint32_t write_order(struct cache *cache, uint32_t file, uint64_t pos, uint64_t bytes)
{
	uint64_t index = pos >> PAGE_SHIFT, pages = bytes >> PAGE_SHIFT;
	uint32_t order;

	if (!cache->rules.folios_on_write || pages < 2)
		return 0;
	order = 63 - (uint32_t)__builtin_clzll(pages);
	if (order > ORDER_MAX)
		order = ORDER_MAX;
	if (index & ((UINT64_C(1) << order) - 1))
		order = (uint32_t)__builtin_ctzll(index);
	for (; order > 0; order--) {
		uint64_t at = index;

		while (at < index + (UINT64_C(1) << order) && !cache_lookup(cache, file, at))
			at++;
		if (at == index + (UINT64_C(1) << order))
			break;
	}
	return order;
}

/*
 * A page that is not there and will be covered in part must be read first, alone, unless it is a
 * hole (1.7).
 */
static bool write_must_read(struct cache *cache, uint32_t file, uint64_t index, uint64_t from,
			    uint64_t to)
{
	uint64_t size = cache->files.at[file].size_bytes, start = index << PAGE_SHIFT;
	uint64_t last = start + PAGE_BYTES < size ? start + PAGE_BYTES : size;

	if (start >= size || (from <= start && to >= last))
		return false;
	return page_is_stored(cache, file, index);
}

static void write_fetch(struct cache *cache, uint32_t file, uint64_t index, struct cache_plan *plan)
{
	uint32_t node = cache_node_find(cache, file, index);
	const struct node *at = node ? index_node(&cache->index, node) : NULL;
	uint16_t high = at ? at->high[index % NODE_PAGES] : 0;

	if (high) {
		cache_counted(cache)->reread_bytes += PAGE_BYTES;
		cache->blame[cache->stream * CACHE_STREAMS + (high & HIGH_EVICTOR_MASK)]++;
		if (cache->logs_returns)
			page_log_return(cache, file, index, at->low[index % NODE_PAGES], high);
	}
	cache_counted(cache)->page_misses++;
	plan_fetch(cache, plan, file, index, 1);
}

static void write_mark(struct cache *cache, uint32_t slot, bool is_partial)
{
	enum activate_on_write rule = cache->rules.activate_on_write;

	if (rule == ACTIVATE_ALWAYS || (rule == ACTIVATE_PARTIAL && is_partial) ||
	    cache->filesystem.marks_on_write || !cache->policy->mark)
		page_mark(cache, slot);
}

bool cache_write(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		 struct cache_plan *plan)
{
	struct open_file *open = &cache->opens.at[handle];
	uint32_t file = open->file;
	uint64_t pos = *offset, end = pos + *bytes;

	cache_enter(cache, ALLOCATION_WRITE);
	while (pos < end) {
		uint64_t index = pos >> PAGE_SHIFT, to;
		uint32_t slot = cache_lookup(cache, file, index);
		bool is_new = slot == 0, is_partial;

		if (!plan_has_room(plan))
			break;
		if (slot && cache->queue.pages[slot].bits & PAGE_LOCKED)
			break;
		if (is_new) {
			uint32_t order = write_order(cache, file, pos, end - pos);
			uint64_t first = index & ~((UINT64_C(1) << order) - 1), last;
			bool all = false;

			last = first + (UINT64_C(1) << order) - 1;
			/*
			 * iomap reads in one stretch from the first block to the last that the
			 * write touches: __iomap_write_begin(), iomap_adjust_read_range().
			 */
			for (uint64_t at = first; at <= last && cache->filesystem.partial_reads_all;
			     at++)
				all |= write_must_read(cache, file, at, pos, end);
			for (uint64_t at = first; at <= last; at++)
				if (write_must_read(cache, file, at, pos, end) ||
				    (all && page_is_stored(cache, file, at)))
					write_fetch(cache, file, at, plan);
			slot = page_insert(cache, file, first, order, INSERT_WRITE, 0);
		} else if (!cache->drops_behind) {
			/* Somebody wants it for longer: __filemap_get_folio(), FGP_DONTCACHE (6.14). */
			page_keep(cache, slot);
		}
		to = folio_end(cache, slot, index) << PAGE_SHIFT;
		if (to > end)
			to = end;
		is_partial = (pos | to) & (PAGE_BYTES - 1);
		page_add_buffers(cache, slot);
		folio_set_dirty(cache, slot, index, pages_from_bytes_up(to));
		cache_counted(cache)->page_accesses += ((to - 1) >> PAGE_SHIFT) - index + 1;
		write_mark(cache, slot, is_partial);
		pos = to;
		if (pos > cache->files.at[file].size_bytes)
			cache->files.at[file].size_bytes = pos;
	}
	*bytes -= pos - *offset;
	*offset = pos;
	return pos == end;
}
