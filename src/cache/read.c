/*
 * read: buffered reads
 *
 * What marks a page, and what does not, is the heart of it (linux-caching.md 1.2 to 1.4). Source:
 * Linux mm/filemap.c, filemap_read(), filemap_get_pages().
 */
#include <assert.h>

#include "cache/cache_private.h"

enum { READ_BATCH_MAX = 1024 };

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
			next = folio_end(cache, slot, next);
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
		if (is_marked) {
			/*
			 * What is left of the request counts from the marked folio on
			 * (filemap_readahead()). The batch holds its folios: reclaim puts them back
			 * at the inactive head.
			 */
			uint64_t marked =
				page_index_of(cache, &cache->queue.pages[slots[count - 1]]);

			for (uint32_t i = 0; i < count; i++)
				cache->queue.pages[slots[i]].bits |= PAGE_LOCKED;
			cache->held = slots;
			cache->held_count = count;
			readahead_async(cache, open, slots[count - 1], marked, last_index - marked,
					plan);
			cache->held_count = 0;
			for (uint32_t i = 0; i < count; i++)
				cache->queue.pages[slots[i]].bits &= ~PAGE_LOCKED;
		}
		if (!read_goes_on(cache, open, slots[0], pos))
			page_mark(cache, slots[0]);
		for (uint32_t i = 1; i < count; i++)
			page_mark(cache, slots[i]);
		/* Whoever reads it: filemap_end_dropbehind_read(), 6.14. */
		for (uint32_t i = 0; i < count; i++)
			if (cache->queue.pages[slots[i]].bits & PAGE_DROPBEHIND)
				page_end_dropbehind(cache, slots[i]);
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

	if (chunk < file->run_chunks)
		node = file->run_node + (uint32_t)chunk;
	else if (chunk < file->directory_chunks)
		node = file->directory[chunk];
	else if (cache->index.heads[node].chunk != chunk)
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
	/* A page that is missing, of a file advised RANDOM: readahead_sync() would read it alone. */
	if (!slot && open->is_random && (pos ^ (end - 1)) >> PAGE_SHIFT == 0 &&
	    pos >> PAGE_SHIFT >> NODE_SHIFT < file->directory_chunks && plan_has_room(plan)) {
		cache_enter(cache, ALLOCATION_READ);
		readahead_exact(cache, open->file, pos >> PAGE_SHIFT, 1, (pos >> PAGE_SHIFT) + 1,
				plan);
		slot = lookup_directly(cache, file, pos >> PAGE_SHIFT);
		if (!slot) {
			readahead_none(cache, open->file, pos >> PAGE_SHIFT, plan);
			slot = lookup_directly(cache, file, pos >> PAGE_SHIFT);
		}
	}
	if (slot &&
	    !(cache->queue.pages[slot].bits & (PAGE_LOCKED | PAGE_MARKER | PAGE_DROPBEHIND))) {
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

/* What is behind a page's entry. */
static inline void entry_prefetch(const struct cache *cache, const struct node *node, uint32_t at,
				  enum cache_prefetch step)
{
	const struct page *pages = cache->queue.pages;
	uint32_t low = node->low[at], slot = low & LOW_MASK;

	if (step == CACHE_PREFETCH_NEIGHBOURS && low & LOW_RESIDENT) {
		prefetch_write(&pages[pages[slot].prev]);
		prefetch_write(&pages[pages[slot].next]);
	} else if (low & LOW_RESIDENT) {
		prefetch_write(&pages[slot]);
		if (cache->policy->slot_bytes)
			prefetch_write(cache->queue.own + (size_t)slot * cache->policy->slot_bytes);
	} else {
		/* It will be inserted. */
		prefetch_write(&node->high[at]);
	}
}

void cache_prefetch_file(const struct cache *cache, uint32_t number, uint64_t index, uint32_t pages,
			 enum cache_prefetch step)
{
	const struct cache_file *file = &cache->files.at[number];
	uint64_t chunk = index >> NODE_SHIFT;
	uint32_t at = index % NODE_PAGES, id;
	const struct node *node;

	/* With two lists a use moves a page seldom; a queue policy's may move it each time. */
	if (step == CACHE_PREFETCH_NEIGHBOURS && cache->policy->mark)
		return;
	if (chunk < file->run_chunks) {
		id = file->run_node + (uint32_t)chunk;
	} else if (chunk >= file->directory_chunks) {
		return;
	} else if (step == CACHE_PREFETCH_DIRECTORY) {
		prefetch_read(&file->directory[chunk]);
		return;
	} else {
		id = file->directory[chunk];
	}
	if (step == CACHE_PREFETCH_DIRECTORY)
		return;
	node = index_node(&cache->index, id);
	if (step == CACHE_PREFETCH_INDEX) {
		prefetch_read(&node->low[at]);
		return;
	}
	if (step == CACHE_PREFETCH_RECORD)
		prefetch_write(&cache->index.heads[id]);
	for (uint32_t end = at + pages < NODE_PAGES ? at + pages : NODE_PAGES; at < end; at++)
		entry_prefetch(cache, node, at, step);
}

void cache_prefetch(const struct cache *cache, uint32_t handle, uint64_t offset,
		    enum cache_prefetch step)
{
	cache_prefetch_file(cache, cache->opens.at[handle].file, offset >> PAGE_SHIFT, 1, step);
}

void cache_prefetch_open(const struct cache *cache, uint32_t handle)
{
	const char *at = (const char *)&cache->opens.at[handle];

	prefetch_write(at);
	prefetch_write(at + sizeof(struct open_file) - 1);
}

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
