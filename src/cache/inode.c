/*
 * inode: inodes in memory, their list, and a file's death
 *
 * A cached dentry or an open file pins its inode, and so do pages (5.16). What is left is listed, and
 * goes after a second chance if it was used again. Source: Linux fs/inode.c, iput_final(),
 * inode_add_lru(), inode_lru_isolate(); fs/xfs/xfs_icache.c; linux-caching.md 6.3.
 */
#include <assert.h>

#include "cache/object_list.h"

OBJECT_LIST(file, cache_file, files)

static bool inode_is_pinned_by_pages(const struct cache *cache, const struct cache_file *file)
{
	return !cache->rules.inode_steals_pages &&
	       (file->resident_pages > 0 || file->node_live > 0);
}

static void inode_leave_lru(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	if (file->state & FILE_ON_LRU)
		file_list_remove(cache, &cache->inode_lru, id);
	file->state &= (uint16_t) ~(FILE_ON_LRU | FILE_REFERENCED);
}

/* The last reference went, or its last page: fs/inode.c, iput_final(), inode_add_lru(). */
static void inode_to_lru(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	if (!(file->state & FILE_CACHED) || file->references > 0 || file->state & FILE_METADATA)
		return;
	if (file->state & FILE_ON_LRU) {
		file->state |= FILE_REFERENCED;
		return;
	}
	if (file->state & FILE_DIRTY || inode_is_pinned_by_pages(cache, file))
		return;
	file->state |= FILE_ON_LRU;
	/* Up to 4.12 the bit is set on every last release, so also on the first. */
	if (cache->rules.referenced_on_first_use)
		file->state |= FILE_REFERENCED;
	file_list_append(cache, &cache->inode_lru, id);
}

void inode_pages_gone(struct cache *cache, uint32_t file)
{
	if (!cache->is_bare && !(cache->files.at[file].state & FILE_ON_LRU))
		inode_to_lru(cache, file);
}

static void pages_forget_all(struct cache *cache, uint32_t id);

/* The file system frees the inode's memory. */
static void inode_free(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	object_free(cache, cache->filesystem.inode_bytes);
	file->state &= (uint16_t) ~(FILE_CACHED | FILE_LINGERS);
}

/* Evicted from the VFS under pressure: its shadows go with it. */
static void inode_evict(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	inode_leave_lru(cache, id);
	pages_forget_all(cache, id);
	file->state |= FILE_EVICTED;
	cache->streams[file->stream].inodes_evicted++;
	if (cache->filesystem.evicted_inodes_linger) {
		file->state |= FILE_LINGERS;
		file_list_append(cache, &cache->lingering, id);
	} else {
		inode_free(cache, id);
	}
}

bool cache_inode_cached(const struct cache *cache, uint32_t file)
{
	return cache->files.at[file].state & FILE_CACHED;
}

void inode_allocate(struct cache *cache, uint32_t id, enum allocation allocation)
{
	struct cache_file *file = &cache->files.at[id];

	if (file->state & FILE_LINGERS) {
		/*
		 * XFS recycles the memory, but sets the inode up anew (fs/xfs/xfs_icache.c,
		 * xfs_iget_recycle()).
		 */
		file_list_remove(cache, &cache->lingering, id);
		file->state &= (uint16_t)~FILE_LINGERS;
		file->stream = (uint16_t)cache->stream;
		cache_counted(cache)->inodes_allocated++;
		cache_counted(cache)->inodes_reallocated++;
		return;
	}
	if (file->state & FILE_CACHED)
		return;
	cache_enter(cache, allocation);
	slab_charge(cache, cache->filesystem.inode_bytes);
	file->state |= FILE_CACHED;
	file->stream = (uint16_t)cache->stream;
	cache_counted(cache)->inodes_allocated++;
	if (file->state & FILE_EVICTED)
		cache_counted(cache)->inodes_reallocated++;
}

/* ---- a file's death ---- */

/* Every page and every shadow of the file goes, without a trace. */
static void nodes_drop_from(struct cache *cache, uint32_t id, uint64_t first_page, bool pages_too)
{
	struct cache_file *file = &cache->files.at[id];

	for (uint32_t node = file->node_first; node; node = cache->index.heads[node].next_node) {
		uint64_t base = (uint64_t)cache->index.heads[node].chunk << NODE_SHIFT;
		struct node *at = index_node(&cache->index, node);

		if (base + NODE_PAGES <= first_page)
			continue;
		for (uint32_t i = base < first_page ? (uint32_t)(first_page - base) : 0;
		     i < NODE_PAGES; i++) {
			if (at->low[i] & LOW_RESIDENT) {
				/*
				 * A folio that straddles the edge stays (the kernel splits it:
				 * linux-caching.md 1.6).
				 */
				uint32_t slot = at->low[i] & LOW_MASK;

				if (pages_too &&
				    page_index_of(cache, &cache->queue.pages[slot]) >= first_page)
					page_remove(cache, slot);
			} else if (at->high[i]) {
				if (at->high[i] & HIGH_SHADOW)
					node_count(cache, node, 0, -1);
				/*
				 * When the inode goes, we still know that the page was evicted;
				 * when the data goes, nothing.
				 */
				if (pages_too && at->high[i] & HIGH_GHOST)
					cache_ghost_forget(cache, node, i);
				at->high[i] =
					pages_too ? 0 : (uint16_t)(at->high[i] & ~HIGH_SHADOW);
			}
			if (pages_too)
				at->stored &= ~(UINT64_C(1) << i);
		}
	}
}

static void pages_forget_all(struct cache *cache, uint32_t id)
{
	if (cache->files.at[id].node_live > 0)
		nodes_drop_from(cache, id, 0, false);
}

static void nodes_free(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	for (uint32_t node = file->node_first, next; node; node = next) {
		next = cache->index.heads[node].next_node;
		index_remove(&cache->index, node);
	}
	file->node_first = file->node_last = file->dirty_chain = 0;
	memory_free(file->directory);
	file->directory = NULL;
	file->directory_chunks = file->run_chunks = 0;
}

void inode_maybe_dies(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	if (!(file->state & FILE_UNLINKED) || file->references > 0 || file->state & FILE_DEAD)
		return;
	nodes_drop_from(cache, id, 0, true);
	nodes_free(cache, id);
	if (file->state & FILE_DIRTY)
		writeback_file_cleaned(cache, id);
	inode_leave_lru(cache, id);
	if (file->state & FILE_LINGERS)
		file_list_remove(cache, &cache->lingering, id);
	if (file->state & FILE_CACHED)
		inode_free(cache, id);
	file->state |= FILE_DEAD;
}

void file_reference_put(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	assert(file->references > 0);
	if (--file->references == 0) {
		if (file->state & FILE_UNLINKED)
			inode_maybe_dies(cache, id);
		else
			inode_to_lru(cache, id);
	}
}

void cache_truncate(struct cache *cache, uint32_t id, uint64_t size_bytes)
{
	struct cache_file *file = &cache->files.at[id];
	uint64_t pages = pages_from_bytes_up(size_bytes);

	if (size_bytes < file->size_bytes) {
		nodes_drop_from(cache, id, pages, true);
		if (file->backed_pages > pages)
			file->backed_pages = pages;
	}
	file->size_bytes = size_bytes;
}

void cache_allocate(struct cache *cache, uint32_t id, uint64_t offset, uint64_t bytes)
{
	/* Unwritten blocks read as zeros without I/O, like holes: only the size changes. */
	if (offset + bytes > cache->files.at[id].size_bytes)
		cache->files.at[id].size_bytes = offset + bytes;
}

/* ---- the shrinker's part ---- */

/*
 * Up to 5.15 an unused inode's clean pages were thrown away with it: fs/inode.c,
 * inode_lru_isolate().
 */
static void inode_steal_pages(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	for (uint32_t node = file->node_first; node; node = cache->index.heads[node].next_node) {
		struct node *at = index_node(&cache->index, node);

		for (uint32_t i = 0; i < NODE_PAGES && cache->index.heads[node].resident_pages > 0;
		     i++) {
			struct page *page;

			if (!(at->low[i] & LOW_RESIDENT))
				continue;
			page = &cache->queue.pages[at->low[i] & LOW_MASK];
			if (!(page->bits &
			      (PAGE_DIRTY | PAGE_WRITEBACK | PAGE_LOCKED | PAGE_MAPPED))) {
				uint32_t slot = at->low[i] & LOW_MASK;

				/* An eviction that leaves no shadow, but that we remember. */
				page_evict(cache, slot);
			}
		}
	}
	pages_forget_all(cache, id);
}

uint64_t inodes_prune(struct cache *cache, struct scan *scan, uint64_t count)
{
	uint64_t freed = 0;

	while (count-- > 0 && cache->inode_lru.first) {
		uint32_t id = cache->inode_lru.first;
		struct cache_file *file = &cache->files.at[id];

		if (file->references > 0 || file->state & FILE_DIRTY ||
		    inode_is_pinned_by_pages(cache, file)) {
			inode_leave_lru(cache, id);
			continue;
		}
		if (file->state & FILE_REFERENCED) {
			file->state &= (uint16_t)~FILE_REFERENCED;
			file_list_remove(cache, &cache->inode_lru, id);
			file_list_append(cache, &cache->inode_lru, id);
			continue;
		}
		if (file->resident_pages > 0) {
			scan->reclaimed_pages += file->resident_pages;
			inode_steal_pages(cache, id);
			if (file->resident_pages > 0) {
				inode_leave_lru(cache, id);
				continue;
			}
		}
		inode_evict(cache, id);
		freed++;
	}
	return freed;
}

/*
 * XFS frees inodes that left the VFS in batches of 32 in each allocation group, at least one batch
 * a group (xfs_reclaim_inodes_nr(), XFS_LOOKUP_BATCH). Those in the log are passed over. What it
 * frees is not reported to the shrinker.
 */
enum { LINGER_BATCH = 32, LINGER_GROUPS = 4 };

void lingering_free(struct cache *cache, uint64_t count)
{
	uint64_t looks = (count + LINGER_BATCH - 1) / LINGER_BATCH * LINGER_BATCH +
			 LINGER_BATCH * (LINGER_GROUPS - 1);

	if (looks > cache->lingering.count)
		looks = cache->lingering.count;
	while (looks-- > 0) {
		uint32_t id = cache->lingering.first;

		file_list_remove(cache, &cache->lingering, id);
		if (cache->files.at[id].state & FILE_LOGGED)
			file_list_append(cache, &cache->lingering, id);
		else
			inode_free(cache, id);
	}
}

void cache_inode_hold(struct cache *cache, uint32_t file)
{
	if (!(cache->files.at[file].state & FILE_LOGGED))
		cache->logged_inodes++;
	cache->files.at[file].state |= FILE_LOGGED;
}

void cache_inode_release(struct cache *cache, uint32_t file)
{
	if (cache->files.at[file].state & FILE_LOGGED)
		cache->logged_inodes--;
	cache->files.at[file].state &= (uint16_t)~FILE_LOGGED;
}
