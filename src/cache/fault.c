/*
 * fault: use through mappings
 *
 * A fault maps what is there around it, reads around what is missing, and marks nothing: the young
 * bit of a mapping is the record. Source: Linux mm/filemap.c, filemap_fault(), filemap_map_pages();
 * linux-caching.md 4.3.
 */
#include "cache/cache_private.h"

enum { LOTS_OF_MISSES = 100, MISSES_MAX = 1000, FAULT_AROUND_PAGES = 16, PAGES_PER_TABLE = 512 };

/*
 * A use through a mapping leaves its young bit, unless the file was advised NOREUSE, or the mapping
 * RANDOM (6.3: vma_has_recency()).
 */
static inline uint32_t young(const struct cache *cache, const struct open_file *open)
{
	bool has_recency = !open->is_noreuse && !open->map_is_random;

	return !has_recency && cache->rules.noreuse_mapped ? 0 : PAGE_YOUNG;
}

/* This mapping has entries for these pages. */
static void map_extend(struct cache *cache, struct open_file *open, uint64_t first, uint64_t end)
{
	if (open->map_end == 0) {
		cache->files.at[open->file].maps++;
		open->map_first = first;
	}
	open->map_first = first < open->map_first ? first : open->map_first;
	open->map_end = end > open->map_end ? end : open->map_end;
}

/* What a fault brings in counts as used, with generations (mm/memory.c, lru_gen_enter_fault()). */
static inline bool has_recency(const struct cache *cache, const struct open_file *open)
{
	return !open->map_is_random && young(cache, open) != 0;
}

/*
 * Map what is there of the 16 pages around (filemap_map_pages()); on x86 the entries are born
 * young. Each page there, mapped before or not, unless it was in the working set once, speaks
 * against the misses.
 */
static void fault_around(struct cache *cache, struct open_file *open, uint64_t index)
{
	uint64_t first = index & ~(uint64_t)(FAULT_AROUND_PAGES - 1);
	uint16_t there = 0;

	for (uint64_t at = first; at < first + FAULT_AROUND_PAGES; at++) {
		uint32_t slot = cache_lookup(cache, open->file, at);
		struct page *page = &cache->queue.pages[slot];

		/* next_uptodate_folio() passes over locked folios and those with the marker. */
		if (!slot || page->bits & (PAGE_LOCKED | PAGE_MARKER))
			continue;
		if (!(page->bits & PAGE_WORKINGSET))
			there++;
		if (!(page->bits & PAGE_MAPPED))
			page->bits |= PAGE_MAPPED | young(cache, open);
		map_extend(cache, open, at, at + 1);
	}
	open->mmap_miss = (uint16_t)(open->mmap_miss > there ? open->mmap_miss - there : 0);
}

/*
 * A fault that had to read, or to start reading, is taken again from the start: a read maps what is
 * around before and after (do_read_fault()), a write maps its page alone (do_shared_fault()).
 */
static bool fault(struct cache *cache, struct open_file *open, uint64_t index, bool write,
		  struct cache_plan *plan)
{
	uint32_t slot = cache_lookup(cache, open->file, index);

	if (slot && cache->queue.pages[slot].bits & PAGE_LOCKED)
		return false;
	if ((!slot || cache->queue.pages[slot].bits & PAGE_MARKER) && !plan_has_room(plan))
		return false;
	if (!write) {
		fault_around(cache, open, index);
		if (slot && cache->queue.pages[slot].bits & PAGE_MAPPED)
			return true;
	}
	if (!slot) {
		/* Before anything is counted: do_sync_mmap_readahead(), VM_RAND_READ. */
		if (open->mmap_miss < MISSES_MAX && !open->map_is_random)
			open->mmap_miss++;
		cache->in_fault = has_recency(cache, open);
		if (!open->map_is_random && open->mmap_miss <= LOTS_OF_MISSES && open->window > 0)
			readahead_around(cache, open, index, plan);
		cache_enter(cache, ALLOCATION_READ);
		if (!cache_lookup(cache, open->file, index))
			readahead_none(cache, open->file, index, plan);
		cache->in_fault = false;
		slot = cache_lookup(cache, open->file, index);
		if (cache->queue.pages[slot].bits & PAGE_LOCKED)
			return false;
		if (!write)
			fault_around(cache, open, index);
	} else {
		/* Looked up to be kept: filemap_fault(), 6.14. */
		page_keep(cache, slot);
		/* do_async_mmap_readahead() */
		if (open->mmap_miss > 0 && !open->map_is_random)
			open->mmap_miss--;
		if (!open->map_is_random && cache->queue.pages[slot].bits & PAGE_MARKER) {
			/* The fault holds the page: reading ahead must not evict it. */
			cache->queue.pages[slot].bits |= PAGE_LOCKED;
			cache->held = &slot;
			cache->held_count = 1;
			cache->in_fault = has_recency(cache, open);
			readahead_async(cache, open, slot, index, open->window, plan);
			cache->in_fault = false;
			cache->held_count = 0;
			cache->queue.pages[slot].bits &= ~PAGE_LOCKED;
			if (!write)
				fault_around(cache, open, index);
		}
	}
	cache->queue.pages[slot].bits |= PAGE_MAPPED | young(cache, open);
	return true;
}

/*
 * Page tables are the group's too: a page for each 2 MiB in which something is mapped. Remembered
 * by the index nodes there, eight to a table.
 */
static void page_table_charge(struct cache *cache, uint32_t file, uint64_t index)
{
	uint64_t table = index / PAGES_PER_TABLE * PAGES_PER_TABLE;
	uint32_t node = cache_node_find(cache, file, index),
		 slot = cache_lookup(cache, file, index);
	struct node_head *heads = cache->index.heads;

	if (heads[node].lists & NODE_HAS_TABLE)
		return;
	heads[node].lists |= NODE_HAS_TABLE;
	if (!(cache->files.at[file].state & FILE_MAPPED)) {
		cache->files.at[file].state |= FILE_MAPPED;
		*array_push(&cache->mapped) = file;
	}
	for (uint64_t at = table; at < table + PAGES_PER_TABLE; at += NODE_PAGES) {
		uint32_t other = cache_node_find(cache, file, at);

		if (other != node && heads[other].lists & NODE_HAS_TABLE)
			return;
	}
	/* Locked: paying for the table must not evict the page. */
	cache->queue.pages[slot].bits |= PAGE_LOCKED;
	cache_enter(cache, ALLOCATION_WRITE);
	slab_charge(cache, PAGE_BYTES);
	cache->files.at[file].map_tables++;
	cache->queue.pages[slot].bits &= ~PAGE_LOCKED;
}

bool cache_touch(struct cache *cache, uint32_t handle, bool write, uint64_t *offset,
		 uint64_t *bytes, struct cache_plan *plan)
{
	struct open_file *open = &cache->opens.at[handle];
	struct cache_file *file = &cache->files.at[open->file];
	uint64_t index = *offset >> PAGE_SHIFT, end = *offset + *bytes;

	if (end > file->size_bytes)
		end = file->size_bytes;
	for (; index < pages_from_bytes_up(end); index++) {
		uint32_t slot = cache_lookup(cache, open->file, index);

		if (slot && cache->queue.pages[slot].bits & PAGE_MAPPED &&
		    index >= open->map_first && index < open->map_end)
			cache->queue.pages[slot].bits |= young(cache, open);
		else if (!fault(cache, open, index, write, plan))
			break;
		else
			page_table_charge(cache, open->file, index);
		map_extend(cache, open, index, index + 1);
		if (!cache->policy->mark) /* a queue policy sees every use */
			page_mark(cache, cache_lookup(cache, open->file, index));
		if (write) {
			slot = cache_lookup(cache, open->file, index);
			page_add_buffers(cache, slot);
			folio_set_dirty(cache, slot, index, index + 1);
		}
		cache_counted(cache)->page_accesses++;
	}
	if (index < pages_from_bytes_up(end)) {
		uint64_t at = index << PAGE_SHIFT;

		if (at > *offset) {
			*bytes -= at - *offset;
			*offset = at;
		}
		return false;
	}
	if (end > *offset)
		*offset = end;
	*bytes = 0;
	return true;
}

/*
 * Of a node's folios, those that begin in it, and that this mapping may have used: each young one is
 * marked accessed, once.
 */
static void node_unmap(struct cache *cache, uint32_t node, const struct open_file *open, bool marks)
{
	const struct node *at = index_node(&cache->index, node);
	uint64_t base = (uint64_t)cache->index.heads[node].chunk << NODE_SHIFT;
	bool is_last = cache->files.at[open->file].maps == 0;

	for (uint32_t i = 0; i < NODE_PAGES; i++) {
		uint32_t slot = at->low[i] & LOW_MASK;
		struct page *page = &cache->queue.pages[slot];

		if (!(at->low[i] & LOW_RESIDENT) || !(page->bits & PAGE_MAPPED) ||
		    page_index_of(cache, page) != base + i)
			continue;
		if (marks && page->bits & PAGE_YOUNG && base + i < open->map_end &&
		    base + i + page_count(page) > open->map_first)
			page_mark(cache, slot);
		if (is_last)
			page->bits &= ~(PAGE_MAPPED | PAGE_YOUNG);
	}
}

/*
 * Source: Linux mm/memory.c, zap_present_folio_ptes(), free_pgtables(); linux-caching.md 1.4.
 * Differs: a mapping is known by the first and the last page that it used, not by each; and a page
 *          is mapped as long as any mapping of the file is left.
 */
void cache_unmap(struct cache *cache, uint32_t handle)
{
	struct open_file *open = &cache->opens.at[handle];
	struct cache_file *file = &cache->files.at[open->file];
	bool marks = cache->policy->mark && young(cache, open) != 0;

	file->maps--;
	for (uint32_t node = file->node_first; node; node = cache->index.heads[node].next_node) {
		struct node_head *head = &cache->index.heads[node];

		if (head->resident_pages > 0)
			node_unmap(cache, node, open, marks);
		if (file->maps == 0)
			head->lists &= (uint8_t)~NODE_HAS_TABLE;
	}
	open->map_first = open->map_end = 0;
	if (file->maps == 0 && file->map_tables > 0) {
		slab_charge(cache, -(int64_t)(file->map_tables * PAGE_BYTES));
		file->map_tables = 0;
	}
}
