/*
 * block: a file system's metadata in the pages of its device (ext4)
 *
 * Every look-up of such a block is a use, and a journal can hold it. Source: Linux fs/buffer.c,
 * __find_get_block(), touch_buffer(); fs/jbd2/; measured on 6.1 and 6.18.
 */
#include <assert.h>

#include "cache/cache_private.h"

static void block_add(struct cache *cache, uint32_t file, uint64_t index, enum insert_reason reason,
		      struct cache_plan *plan)
{
	uint32_t slot;

	cache_enter(cache, ALLOCATION_JOURNAL);
	slot = page_insert(cache, file, index, 0, reason, index + 1);
	if (!slot)
		return;
	page_add_buffers(cache, slot);
	/*
	 * Active from the start (measured on 6.1 and 6.18): the look-up marks it before and after
	 * the read.
	 */
	page_mark(cache, slot);
	page_mark(cache, slot);
	if (plan)
		plan_fetch(cache, plan, file, index, 1);
}

/*
 * What is read around the block asks for memory with GFP_NOWAIT since 6.7: at the limit it is not
 * read (fs/ext4/super.c, ext4_sb_breadahead_unmovable(); "ext4: use bdev_getblk() to avoid memory
 * reclaim in readahead path", e509ad4d77e6). Before, each page was sure to come, and what is cached
 * went for it.
 */
void cache_block(struct cache *cache, uint32_t file, uint64_t index, uint64_t first, uint64_t pages,
		 struct cache_plan *plan)
{
	uint32_t slot = cache_lookup(cache, file, index);
	enum insert_reason ahead = cache->rules.blocks_ahead_give_up ? INSERT_AT_ONCE : INSERT_READ;

	if (slot) {
		page_mark(cache, slot);
		return;
	}
	block_add(cache, file, index, INSERT_READ, plan);
	for (uint64_t at = first; at < first + pages; at++)
		if (!cache_lookup(cache, file, at))
			block_add(cache, file, at, ahead, plan);
}

void cache_block_make(struct cache *cache, uint32_t file, uint64_t index)
{
	uint32_t slot = cache_lookup(cache, file, index);

	if (slot)
		page_mark(cache, slot);
	else
		block_add(cache, file, index, INSERT_WRITE, NULL);
}

void cache_block_hold(struct cache *cache, uint32_t file, uint64_t index)
{
	uint32_t slot = cache_lookup(cache, file, index);

	assert(slot != 0);
	cache->queue.pages[slot].bits |= PAGE_HELD;
}

/*
 * Up to 5.13 whoever wanted the page could take its buffers off the checkpoint list
 * (bdev_try_to_free_page()); since then a shrinker of jbd2's does it, which a cgroup's reclaim does
 * not call.
 */
bool cache_block_commit(struct cache *cache, uint32_t file, uint64_t index)
{
	folio_set_dirty(cache, cache_lookup(cache, file, index), index, index + 1);
	if (cache->rules.journal_blocks > 0 && cache->domain.is_cgroup)
		return true;
	cache_block_release(cache, file, index);
	return false;
}

void cache_block_release(struct cache *cache, uint32_t file, uint64_t index)
{
	cache->queue.pages[cache_lookup(cache, file, index)].bits &= ~PAGE_HELD;
}

bool cache_block_is_dirty(struct cache *cache, uint32_t file, uint64_t index)
{
	uint32_t slot = cache_lookup(cache, file, index);

	return slot && cache->queue.pages[slot].bits & (PAGE_DIRTY | PAGE_WRITEBACK);
}
