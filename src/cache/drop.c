/*
 * drop: what /proc/sys/vm/drop_caches does
 *
 * 1: of every inode, and of every block device, the pages that are clean and nobody's: dirty, mapped
 * and locked ones stay, and those whose buffers a journal holds. Shadows go with them. An inode that
 * nobody uses has been looked at by this: it goes on its list, or has its second chance there. 2:
 * every shrinker as hard as it can, again and again until hardly anything goes: what is used, open,
 * dirty or (since 5.16) has pages stays. Source: Linux fs/drop_caches.c, drop_pagecache_sb();
 * mm/truncate.c, mapping_try_invalidate(); mm/vmscan.c, drop_slab() (to 5.15 until at most 10 objects
 * went); fs/inode.c, iput_final().
 *
 * Differs  a cgroup's cache is all that it knows of: what others have is dropped as well, and does
 *          not show
 */
#include "cache/cache_private.h"

static void node_drop(struct cache *cache, uint32_t node)
{
	struct node *at = index_node(&cache->index, node);

	for (uint32_t i = 0; i < NODE_PAGES; i++) {
		if (at->low[i] & LOW_RESIDENT) {
			uint32_t slot = at->low[i] & LOW_MASK;

			if (!(cache->queue.pages[slot].bits &
			      (PAGE_DIRTY | PAGE_WRITEBACK | PAGE_LOCKED | PAGE_MAPPED |
			       PAGE_HELD)))
				page_remove(cache, slot);
		} else if (at->high[i] & HIGH_SHADOW) {
			/* We still know that it was evicted: what is read again is read again. */
			at->high[i] &= (uint16_t)~HIGH_SHADOW;
			node_count(cache, node, 0, -1);
		} else if (at->high[i] & HIGH_GHOST) {
			cache_ghost_forget(cache, node, i);
		}
	}
}

static void pages_drop(struct cache *cache)
{
	for (uint32_t id = 1; id < cache->files.count; id++) {
		struct cache_file *file = &cache->files.at[id];
		bool has_pages = file->resident_pages > 0;

		for (uint32_t node = file->node_first; node;
		     node = cache->index.heads[node].next_node)
			node_drop(cache, node);
		if (!has_pages || cache->is_bare)
			continue;
		if (file->state & FILE_ON_LRU)
			file->state |= FILE_REFERENCED;
		else
			inode_pages_gone(cache, id);
	}
}

void cache_drop_caches(struct cache *cache, uint32_t what)
{
	if (what & CACHE_DROP_PAGES)
		pages_drop(cache);
	if (what & CACHE_DROP_SLAB) {
		uint32_t shift = 0;

		while (slab_drop(cache) >> shift > 1)
			shift++;
		/* It takes longer than a grace period. */
		slab_settle(cache, true);
	}
}
