/*
 * read: buffered reads, writes, faults and advice, page by page
 *
 * What marks a page, and what does not, is the heart of it (linux-caching.md 1.2 to 1.4). Source:
 * Linux mm/filemap.c, filemap_read(), filemap_fault(), filemap_map_pages(); fs/iomap/buffered-io.c,
 * iomap_get_folio(); mm/fadvise.c; mm/truncate.c, mapping_try_invalidate().
 */
#include <assert.h>

#include "cache/cache_private.h"

enum { READ_BATCH_MAX = 1024, LOTS_OF_MISSES = 100, MISSES_MAX = 1000, FAULT_AROUND_PAGES = 16 };

static uint64_t folio_end(const struct cache *cache, uint32_t slot)
{
	const struct page *page = &cache->queue.pages[slot];

	return page_index_of(cache, page) + page_count(page);
}

/* ---- reads ---- */

/* Is this the second use of the same folio in a row, which counts as one? (1.2) */
static inline bool read_goes_on(const struct cache *cache, const struct open_file *open,
				uint32_t slot, uint64_t pos)
{
	uint64_t prev = open->last_pos;
	uint32_t shift;

	if (prev == UINT64_MAX)
		return false;
	switch (cache->rules.read_mark) {
	case READ_MARK_OFFSET: /* prev is the page read last and where in it that ended */
		return pos >> PAGE_SHIFT == prev >> PAGE_SHIFT &&
		       ((pos ^ prev) & (PAGE_BYTES - 1)) == 0;
	case READ_MARK_PAGE:
		return pos >> PAGE_SHIFT == prev >> PAGE_SHIFT;
	case READ_MARK_FOLIO:
		shift = PAGE_SHIFT + page_order(&cache->queue.pages[slot]);
		return prev > 0 && pos >> shift == (prev - 1) >> shift;
	}
	return false;
}

static inline void read_remember(const struct cache *cache, struct open_file *open, uint64_t pos)
{
	if (cache->rules.read_mark == READ_MARK_OFFSET && pos > 0)
		open->last_pos = ((pos - 1) & ~(PAGE_BYTES - 1)) | (pos & (PAGE_BYTES - 1));
	else
		open->last_pos = pos;
	if (!cache->rules.read_position_late)
		open->prev_pos = open->last_pos;
}

/* Read pos .. end - 1, batch by batch; how far it came (filemap_read()). */
static __attribute__((noinline)) uint64_t read_range(struct cache *cache, struct open_file *open,
						     uint64_t pos, uint64_t end,
						     struct cache_plan *plan)
{
	while (pos < end) {
		uint64_t index = pos >> PAGE_SHIFT, last_index = pages_from_bytes_up(end), next;
		uint32_t slots[READ_BATCH_MAX], count = 0;
		bool is_marked = false;

		/*
		 * The folios there, in a row, up to one that carries the marker or is on its way.
		 */
		for (next = index; next < last_index && count < cache->rules.read_batch;) {
			uint32_t slot = cache_lookup(cache, open->file, next);

			if (!slot || cache->queue.pages[slot].bits & PAGE_LOCKED)
				break;
			slots[count++] = slot;
			next = folio_end(cache, slot);
			if (cache->queue.pages[slot].bits & PAGE_MARKER) {
				is_marked = true;
				break;
			}
		}
		if (count == 0) {
			uint32_t slot = cache_lookup(cache, open->file, index);

			if (slot ||
			    !plan_has_room(plan)) /* on its way, or no room to ask for more */
				break;
			readahead_sync(cache, open, index, last_index - index, plan);
			if (!cache_lookup(cache, open->file, index))
				readahead_none(cache, open->file, index, plan);
			continue;
		}
		if (is_marked && !plan_has_room(plan))
			break;
		if (!read_goes_on(cache, open, slots[0], pos))
			page_mark(cache, slots[0]);
		for (uint32_t i = 1; i < count; i++)
			page_mark(cache, slots[i]);
		if (is_marked) {
			/*
			 * What is left of the request counts from the marked folio on
			 * (filemap_readahead()).
			 */
			uint64_t marked =
				page_index_of(cache, &cache->queue.pages[slots[count - 1]]);

			readahead_async(cache, open, slots[count - 1], marked, last_index - marked,
					plan);
		}
		next <<= PAGE_SHIFT;
		next = next < end ? next : end;
		cache_counted(cache)->page_accesses += ((next - 1) >> PAGE_SHIFT) - index + 1;
		pos = next;
		read_remember(cache, open, pos);
	}
	return pos;
}

/* The slot of a page if that takes no hashing to find: 0 when it is missing, or in a far corner. */
static inline uint32_t lookup_directly(const struct cache *cache, const struct cache_file *file,
				       uint64_t page_index)
{
	uint64_t chunk = page_index >> NODE_SHIFT;
	uint32_t node = file->node_last, low;

	if (chunk < file->directory_chunks)
		node = file->directory[chunk];
	else if (cache->index.keys[node].chunk != chunk)
		return 0;
	if (!node)
		return 0;
	low = index_node(&cache->index, node)->low[page_index % NODE_PAGES];
	return low & LOW_RESIDENT ? low & LOW_MASK : 0;
}

bool cache_read(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		struct cache_plan *plan)
{
	struct open_file *open = &cache->opens.at[handle];
	const struct cache_file *file = &cache->files.at[open->file];
	uint64_t size = file->size_bytes, pos = *offset, end, done;
	uint32_t slot;

	if (pos >= size || *bytes == 0) {
		*bytes = 0;
		return true;
	}
	end = *bytes < size - pos ? pos + *bytes : size;
	/*
	 * The commonest read by far lies in one page, which is there: what read_range() does,
	 * without its loops.
	 */
	slot = (pos ^ (end - 1)) >> PAGE_SHIFT == 0
		       ? lookup_directly(cache, file, pos >> PAGE_SHIFT)
		       : 0;
	if (slot && !(cache->queue.pages[slot].bits & (PAGE_LOCKED | PAGE_MARKER))) {
		if (!read_goes_on(cache, open, slot, pos))
			page_mark(cache, slot);
		cache_counted(cache)->page_accesses++;
		read_remember(cache, open, end);
	} else {
		done = read_range(cache, open, pos, end, plan);
		if (done < end) {
			*bytes -= done - pos;
			*offset = done;
			return false;
		}
	}
	/*
	 * Readahead sees where the read before this one ended, until this one is done:
	 * filemap_read(), ra->prev_pos.
	 */
	open->prev_pos = open->last_pos;
	*offset = end;
	*bytes = 0;
	return true;
}

void cache_prefetch(const struct cache *cache, uint32_t handle, uint64_t offset,
		    enum cache_prefetch step)
{
	const struct cache_file *file = &cache->files.at[cache->opens.at[handle].file];
	const struct page *pages = cache->queue.pages;
	uint64_t page_index = offset >> PAGE_SHIFT;
	const struct node *node;
	uint32_t low;

	/* With two lists a use moves a page seldom; a queue policy's may move it each time. */
	if (step == CACHE_PREFETCH_NEIGHBOURS && cache->policy->mark)
		return;
	if (page_index >> NODE_SHIFT >= file->directory_chunks)
		return;
	node = index_node(&cache->index, file->directory[page_index >> NODE_SHIFT]);
	page_index %= NODE_PAGES;
	if (step == CACHE_PREFETCH_INDEX) {
		__builtin_prefetch(&node->low[page_index]);
		return;
	}
	low = node->low[page_index];
	if (low & LOW_RESIDENT) {
		if (step == CACHE_PREFETCH_RECORD) {
			__builtin_prefetch(&pages[low & LOW_MASK], 1);
		} else {
			__builtin_prefetch(&pages[pages[low & LOW_MASK].prev], 1);
			__builtin_prefetch(&pages[pages[low & LOW_MASK].next], 1);
		}
	} else if (step == CACHE_PREFETCH_RECORD) {
		/* It will be inserted. */
		__builtin_prefetch(&node->high[page_index], 1);
		__builtin_prefetch(&node->dirty, 1);
	}
}

/* ---- writes ---- */

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

static bool page_was_evicted(struct cache *cache, uint32_t file, uint64_t index, uint32_t *evictor)
{
	uint32_t node = cache_node_find(cache, file, index);
	uint16_t high = node ? index_node(&cache->index, node)->high[index % NODE_PAGES] : 0;

	*evictor = high & HIGH_EVICTOR_MASK;
	return high != 0;
}

static void write_fetch(struct cache *cache, uint32_t file, uint64_t index, struct cache_plan *plan)
{
	uint32_t evictor;

	if (page_was_evicted(cache, file, index, &evictor)) {
		cache_counted(cache)->reread_bytes += PAGE_BYTES;
		cache->blame[cache->stream * CACHE_STREAMS + evictor]++;
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
		}
		to = folio_end(cache, slot) << PAGE_SHIFT;
		if (to > end)
			to = end;
		is_partial = (pos | to) & (PAGE_BYTES - 1);
		page_add_buffers(cache, slot);
		for (uint64_t at = index; at <= (to - 1) >> PAGE_SHIFT; at++)
			page_set_dirty(cache, slot, at);
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

/* ---- mappings ---- */

/*
 * A use through a mapping leaves its young bit, unless the file was advised NOREUSE (6.3:
 * vma_has_recency()).
 */
static inline uint32_t young(const struct cache *cache, const struct open_file *open)
{
	return open->is_noreuse && cache->rules.noreuse_mapped ? 0 : PAGE_YOUNG;
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
		if (open->mmap_miss < MISSES_MAX)
			open->mmap_miss++;
		if (open->mmap_miss <= LOTS_OF_MISSES && open->window > 0)
			readahead_around(cache, open, index, plan);
		cache_enter(cache, ALLOCATION_READ);
		if (!cache_lookup(cache, open->file, index))
			readahead_none(cache, open->file, index, plan);
		slot = cache_lookup(cache, open->file, index);
		if (cache->queue.pages[slot].bits & PAGE_LOCKED)
			return false;
		if (!write)
			fault_around(cache, open, index);
	} else {
		if (open->mmap_miss > 0)
			open->mmap_miss--;
		if (cache->queue.pages[slot].bits & PAGE_MARKER) {
			/* The fault holds the page: reading ahead must not evict it. */
			cache->queue.pages[slot].bits |= PAGE_LOCKED;
			readahead_async(cache, open, slot, index, open->window, plan);
			cache->queue.pages[slot].bits &= ~PAGE_LOCKED;
			if (!write)
				fault_around(cache, open, index);
		}
	}
	cache->queue.pages[slot].bits |= PAGE_MAPPED | young(cache, open);
	return true;
}

bool cache_touch(struct cache *cache, uint32_t handle, bool write, uint64_t *offset,
		 uint64_t *bytes, struct cache_plan *plan)
{
	struct open_file *open = &cache->opens.at[handle];
	struct cache_file *file = &cache->files.at[open->file];
	uint64_t index = *offset >> PAGE_SHIFT, end = *offset + *bytes;

	if (end > file->size_bytes)
		end = file->size_bytes;
	if (!(file->state & FILE_MAPPED)) {
		/* Page tables are the group's too: a page for each 2 MiB. */
		file->state |= FILE_MAPPED;
		cache_enter(cache, ALLOCATION_WRITE);
		slab_charge(cache, (int64_t)((file->size_bytes / (2 * MIB) + 1) * PAGE_BYTES));
	}
	for (; index < pages_from_bytes_up(end); index++) {
		uint32_t slot = cache_lookup(cache, open->file, index);

		if (slot && cache->queue.pages[slot].bits & PAGE_MAPPED)
			cache->queue.pages[slot].bits |= young(cache, open);
		else if (!fault(cache, open, index, write, plan))
			break;
		if (!cache->policy->mark) /* a queue policy sees every use */
			page_mark(cache, cache_lookup(cache, open->file, index));
		if (write) {
			slot = cache_lookup(cache, open->file, index);
			page_add_buffers(cache, slot);
			page_set_dirty(cache, slot, index);
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

/* ---- advice: mm/fadvise.c, mm/truncate.c ---- */

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

		if (!slot) {
			/* Shadows in the range go too; a missing node is 64 pages of nothing. */
			node = cache_node_find(cache, file, index);
			if (!node) {
				index = (index | (NODE_PAGES - 1)) + 1;
				continue;
			}
			if (index_node(&cache->index, node)->high[index % NODE_PAGES]) {
				struct node *at = index_node(&cache->index, node);

				if (at->high[index % NODE_PAGES] & HIGH_SHADOW)
					at->shadow_count--;
				at->high[index % NODE_PAGES] = 0;
				node_account(cache, node);
			}
			index++;
			continue;
		}
		index = folio_end(cache, slot);
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
	     node = cache->index.keys[node].next_node) {
		uint64_t base = (uint64_t)cache->index.keys[node].chunk << NODE_SHIFT;

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

/* ---- metadata blocks ---- */

static void block_add(struct cache *cache, uint32_t file, uint64_t index, struct cache_plan *plan)
{
	uint32_t slot;

	cache_enter(cache, ALLOCATION_JOURNAL);
	slot = page_insert(cache, file, index, 0, plan ? INSERT_READ : INSERT_WRITE, index + 1);
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

void cache_block(struct cache *cache, uint32_t file, uint64_t index, uint64_t first, uint64_t pages,
		 struct cache_plan *plan)
{
	uint32_t slot = cache_lookup(cache, file, index);

	if (slot) {
		page_mark(cache, slot);
		return;
	}
	block_add(cache, file, index, plan);
	for (uint64_t at = first; at < first + pages; at++)
		if (!cache_lookup(cache, file, at))
			block_add(cache, file, at, plan);
}

void cache_block_make(struct cache *cache, uint32_t file, uint64_t index)
{
	uint32_t slot = cache_lookup(cache, file, index);

	if (slot)
		page_mark(cache, slot);
	else
		block_add(cache, file, index, NULL);
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
	page_set_dirty(cache, cache_lookup(cache, file, index), index);
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

/* ---- bare mode ---- */

bool cache_bare_access(struct cache *cache, uint32_t file, uint64_t index)
{
	uint32_t slot = cache_lookup(cache, file, index);

	assert(cache->is_bare);
	/*
	 * A miss is the first use: it counts as one mark, as a read of a page that was read in
	 * does.
	 */
	if (!slot)
		page_mark(cache, page_insert(cache, file, index, 0, INSERT_READ, 0));
	else
		page_mark(cache, slot);
	return slot != 0;
}
