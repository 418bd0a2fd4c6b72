/*
 * page: folios in and out of the cache, and what is remembered of those that went
 */
#include <assert.h>

#include "cache/cache_private.h"

/* ---- slots ---- */

static uint32_t slot_take(struct cache *cache)
{
	uint32_t slot = cache->free_slot;

	if (slot) {
		cache->free_slot = cache->queue.pages[slot].next;
		return slot;
	}
	if (cache->page_count == cache->page_capacity) {
		size_t capacity = (size_t)cache->page_capacity * 2;

		assert(capacity <= UINT32_C(1) << 31);
		cache->queue.pages =
			memory_resize(cache->queue.pages, capacity, sizeof(struct page));
		memory_use_randomly(cache->queue.pages, capacity * sizeof(struct page));
		cache_queue_grow(cache, (uint32_t)capacity);
		cache->page_capacity = (uint32_t)capacity;
	}
	cache->queue.slots++;
	return cache->page_count++;
}

void page_slot_free(struct cache *cache, uint32_t slot)
{
	if (cache->queue.marks)
		cache->queue.marks[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	cache->queue.pages[slot].bits = 0;
	cache->queue.pages[slot].next = cache->free_slot;
	cache->free_slot = slot;
}

/* ---- lists ---- */

static void list_add(struct cache *cache, uint32_t slot, enum list list, bool to_oldest)
{
	struct page *page = &cache->queue.pages[slot];
	uint32_t pages = page_count(page);
	struct counters *stream = &cache->streams[page_stream(page)];

	if (cache->policy->use)
		; /* in the policy's */
	else if (to_oldest)
		queue_push_oldest(cache->queue.pages, list, slot);
	else
		queue_push(cache->queue.pages, list, slot);
	cache->domain.list_pages[list] += pages;
	if (list == LIST_ACTIVE) {
		page->bits |= PAGE_ACTIVE;
		stream->active_file_pages += pages;
	} else {
		page->bits &= ~PAGE_ACTIVE;
		stream->inactive_file_pages += pages;
	}
}

static void list_remove(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];
	uint32_t pages = page_count(page);
	struct counters *stream = &cache->streams[page_stream(page)];

	if (!cache->policy->use)
		queue_unlink(cache->queue.pages, slot);
	if (page->bits & PAGE_ACTIVE) {
		cache->domain.list_pages[LIST_ACTIVE] -= pages;
		stream->active_file_pages -= pages;
	} else {
		cache->domain.list_pages[LIST_INACTIVE] -= pages;
		stream->inactive_file_pages -= pages;
	}
}

void page_list_move(struct cache *cache, uint32_t slot, enum list to, bool to_oldest)
{
	if (cache->policy->use)
		return;
	list_remove(cache, slot);
	list_add(cache, slot, to, to_oldest);
}

/*
 * A scan follows links from one cold record to the next, each a wait for memory. The scouts go
 * ahead of it, one page for each page that comes in.
 */
static void scouts_advance(struct cache *cache)
{
	const struct page *pages = cache->queue.pages;

	for (int list = 0; list < LIST_COUNT; list++) {
		uint32_t slot = cache->scouts[list];

		if (list == LIST_INACTIVE)
			page_prefetch_index(cache, &pages[slot]);
		slot = cache->scouts[list] = pages[slot].prev;
		prefetch_write(&pages[slot]);
	}
}

/* ---- nodes ---- */

/*
 * A node is in the kernel, and charged, while it holds pages or shadows; a file whose only page is
 * page 0 needs none, nor does a folio of 64 pages or more, which fills a slot one level up. Source:
 * Linux lib/xarray.c; sizes: linux-caching.md 6.1. Upper levels are 1/64 of the leaves and not
 * modelled.
 *
 * The counts change in registers: a load of both bytes at once, right after a store to one of them,
 * would wait for that store.
 */
void node_count(struct cache *cache, uint32_t node, int resident_pages, int shadows)
{
	struct node_head *head = &cache->index.heads[node];
	int resident_now = head->resident_pages + resident_pages;
	int shadows_now = head->shadow_count + shadows;
	bool lives = resident_now + shadows_now > 0;
	bool listed = head->lists & NODE_ON_SHADOW_LIST;

	assert(resident_now >= 0 && shadows_now >= 0 && resident_now + shadows_now <= NODE_PAGES);
	head->resident_pages = (uint8_t)resident_now;
	head->shadow_count = (uint8_t)shadows_now;
	if (listed != (lives && resident_now == 0 && head->charged == NODE_LIVE_CHARGED)) {
		if (listed)
			shadow_list_remove(cache, node);
		else
			shadow_list_add(cache, node);
	}
	if (lives == (head->charged != NODE_NOT_LIVE))
		return;
	if (lives) {
		head->charged = NODE_LIVE_FREE;
	} else {
		if (head->charged == NODE_LIVE_CHARGED) {
			slab_charge(cache, -(int64_t)cache->filesystem.node_bytes);
			cache->files.at[head->file].node_live--;
		}
		head->charged = NODE_NOT_LIVE;
	}
}

static void run_add(struct cache_file *file, const struct index *index, uint32_t node)
{
	if (index->heads[node].chunk != file->run_chunks)
		return;
	if (file->run_chunks == 0)
		file->run_node = node;
	if (node == file->run_node + file->run_chunks)
		file->run_chunks++;
}

/* A second node near the start of the file makes a directory worth its while. */
static void directory_add(struct cache_file *file, const struct index *index, uint32_t node)
{
	uint32_t chunk = index->heads[node].chunk, chunks = file->directory_chunks;

	if (chunk >= DIRECTORY_CHUNKS_MAX || !file->node_first)
		return;
	if (chunk >= chunks) {
		uint32_t wanted = chunks ? chunks * 2 : 16;

		while (wanted <= chunk)
			wanted *= 2;
		/* Not for a lone page far out: at least one chunk in 64 is to be there. */
		if (wanted / 64 > chunks + 64)
			return;
		file->directory = memory_resize(file->directory, wanted, sizeof(*file->directory));
		for (uint32_t i = chunks; i < wanted; i++)
			file->directory[i] = index_find(index, index->heads[node].file, i);
		file->directory_chunks = wanted;
	}
	file->directory[chunk] = node;
}

uint32_t page_node_make(struct cache *cache, uint32_t file, uint64_t page_index)
{
	struct cache_file *at = &cache->files.at[file];
	uint32_t node = cache_node_find(cache, file, page_index);

	if (node)
		return node;
	node = index_insert(&cache->index, file, (uint32_t)(page_index >> NODE_SHIFT));
	run_add(at, &cache->index, node);
	directory_add(at, &cache->index, node);
	cache->index.heads[node].next_node = at->node_first;
	return at->node_first = at->node_last = node;
}

/*
 * Make the node of this page, and pay for it if the kernel would have to allocate it now. May
 * reclaim.
 */
static uint32_t node_prepare(struct cache *cache, uint32_t file, uint64_t page_index,
			     uint32_t order)
{
	struct cache_file *at = &cache->files.at[file];
	uint32_t node = page_node_make(cache, file, page_index);

	if (cache->index.heads[node].charged == NODE_LIVE_CHARGED || order >= NODE_SHIFT ||
	    at->size_bytes <= PAGE_BYTES || cache->is_bare)
		return node;
	slab_charge(cache, cache->filesystem.node_bytes);
	cache->index.heads[node].charged = NODE_LIVE_CHARGED;
	at->node_live++;
	return node;
}

bool page_is_stored(struct cache *cache, uint32_t file, uint64_t page_index)
{
	uint32_t node;

	if (page_index < cache->files.at[file].backed_pages)
		return true;
	node = cache_node_find(cache, file, page_index);
	return node && (index_node(&cache->index, node)->stored >> (page_index % NODE_PAGES) & 1);
}

void page_set_stored(struct cache *cache, uint32_t file, uint64_t page_index)
{
	struct cache_file *at = &cache->files.at[file];

	if (page_index == at->backed_pages)
		at->backed_pages++;
	else if (page_index > at->backed_pages)
		index_node(&cache->index, page_node_make(cache, file, page_index))->stored |=
			UINT64_C(1) << (page_index % NODE_PAGES);
}

/* ---- in ---- */

/* What the pages of one node that are about to be filled remember of an earlier life. */
struct memory {
	uint32_t shadow_low; /* the last shadow met: one wins for the whole folio */
	uint16_t shadow_high;
};

static void node_fill(struct cache *cache, uint32_t node, uint32_t first, uint32_t pages,
		      uint32_t slot, bool is_read, struct memory *memory)
{
	struct node *at = index_node(&cache->index, node);
	const struct node_head *head = &cache->index.heads[node];
	struct counters *counted = cache_counted(cache);
	int shadows = 0;

	for (uint32_t i = first; i < first + pages; i++) {
		uint16_t high = at->high[i];

		if (high) {
			if (high & HIGH_SHADOW) {
				*memory = (struct memory){at->low[i], high};
				shadows++;
			}
			/* A hole is filled with zeros: nothing is read again. */
			if (is_read && page_is_stored(cache, head->file,
						      ((uint64_t)head->chunk << NODE_SHIFT) + i)) {
				counted->reread_bytes += PAGE_BYTES;
				if (cache->logs_returns)
					page_log_return(cache, head->file,
							((uint64_t)head->chunk << NODE_SHIFT) + i,
							at->low[i], high);
				cache->blame[cache->stream * CACHE_STREAMS +
					     (high & HIGH_EVICTOR_MASK)]++;
			}
			at->high[i] = 0;
		}
		at->low[i] = LOW_RESIDENT | slot;
	}
	node_count(cache, node, (int)pages, -shadows);
}

uint32_t page_insert(struct cache *cache, uint32_t file, uint64_t page_index, uint32_t order,
		     enum insert_reason reason, uint64_t missed_until)
{
	uint32_t pages = 1u << order, node, slot, ghost = 0;
	struct page *page;
	struct counters *counted = cache_counted(cache);
	struct memory memory = {0};
	bool to_active = false, is_read = reason != INSERT_WRITE;

	if (cache->policy->use)
		ghost = cache_queue_asked(cache, file, page_index);
	/*
	 * Charging may reclaim, and reclaim may touch any node: pay for everything first, then
	 * change things.
	 */
	if (!domain_charge(cache, pages,
			   reason == INSERT_AT_ONCE     ? CHARGE_AT_ONCE
			   : reason == INSERT_READAHEAD ? CHARGE_ONCE
			   : cache->charge_always       ? CHARGE_ALWAYS
							: CHARGE_RETRY)) {
		if (ghost) {
			if (cache->policy->lost)
				cache->policy->lost(&cache->queue);
			page_slot_free(cache, ghost);
			cache_ghost_uncharge(cache);
		}
		return 0;
	}
	node = node_prepare(cache, file, page_index, order);
	for (uint32_t done = NODE_PAGES; done < pages; done += NODE_PAGES)
		(void)node_prepare(cache, file, page_index + done, order);
	slot = ghost ? ghost : slot_take(cache);
	scouts_advance(cache);
	page = &cache->queue.pages[slot];
	*page = (struct page){
		.node = node & PAGE_NODE_MASK,
		.bits = (uint32_t)(page_index % NODE_PAGES) | order << PAGE_ORDER_SHIFT |
			cache->stream << PAGE_STREAM_SHIFT |
			(cache->drops_behind ? PAGE_DROPBEHIND : 0),
	};
	for (uint32_t done = 0; done < pages; done += NODE_PAGES)
		node_fill(cache, folio_node(cache, page, done),
			  (uint32_t)((page_index + done) % NODE_PAGES),
			  pages < NODE_PAGES ? pages : NODE_PAGES, slot, is_read, &memory);
	cache->files.at[file].resident_pages += pages;

	/* A file system's own blocks are nobody's pages: they count as bytes read only. */
	if (is_read && !cache->is_bare && !(cache->files.at[file].state & FILE_METADATA)) {
		uint64_t from = page_index, until = page_index + pages, missed;

		if (from < cache->missed_from)
			from = cache->missed_from;
		if (until > missed_until)
			until = missed_until;
		missed = until > from ? until - from : 0;
		counted->page_misses += missed;
		counted->readahead_pages += pages - missed;
	}
	if (memory.shadow_high) {
		if (is_read || cache->rules.refault_on_write) {
			counted->refaults += pages;
			to_active = cache->policy->refault &&
				    cache->policy->refault(cache, slot, memory.shadow_low,
							   memory.shadow_high & HIGH_WORKINGSET);
		}
	}
	if (to_active) {
		counted->refault_activations += pages;
		counted->activations += pages;
	}
	if (cache->policy->lists)
		cache->policy->lists->enter(cache, slot);
	else
		list_add(cache, slot, to_active ? LIST_ACTIVE : LIST_INACTIVE, false);
	if (ghost) {
		counted->refaults++;
		cache_ghost_uncharge(cache);
	}
	if (cache->policy->use)
		policy_enter(cache->policy, &cache->queue, slot, ghost != 0);
	return slot;
}

/* ---- out ---- */

/* Off the sums; the record is free, but for a ghost's. */
static void page_forget(struct cache *cache, uint32_t slot, bool is_ghost)
{
	struct page *page = &cache->queue.pages[slot];

	if (page->bits & PAGE_BUFFERS)
		slab_charge(cache, -(int64_t)cache->filesystem.buffer_bytes * page_count(page));
	if (cache->policy->lists)
		cache->policy->lists->leave(cache, slot);
	else
		list_remove(cache, slot);
	domain_uncharge(cache, page_count(page));
	if (is_ghost) {
		cache->queue.pages[slot].bits &= PAGE_OFFSET_MASK;
		cache_ghost_charge(cache);
	} else {
		page_slot_free(cache, slot);
	}
}

void page_evict(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];
	uint64_t page_index = page_index_of(cache, page);
	uint32_t pages = page_count(page), file = page_file(cache, page);
	struct domain *domain = &cache->domain;
	uint16_t high = (uint16_t)(HIGH_EVICTED | cache->stream);
	bool is_ghost = false;
	uint32_t low;

	assert(!(page->bits & (PAGE_DIRTY | PAGE_WRITEBACK | PAGE_LOCKED)));
	/*
	 * Source: Linux mm/workingset.c, workingset_eviction(): 5.15 stores the age, then counts;
	 * before, the other way round.
	 */
	if (!cache->rules.age_stored_first)
		domain->age += pages;
	low = cache->policy->lists ? cache->policy->lists->shadow(cache, slot)
				   : (uint32_t)domain->age & LOW_MASK;
	if (cache->rules.age_stored_first)
		domain->age += pages;
	if (cache->policy->refault)
		high |= HIGH_SHADOW;
	if (page->bits & PAGE_WORKINGSET)
		high |= HIGH_WORKINGSET;
	if (cache->policy->use && policy_evict(cache->policy, &cache->queue, slot)) {
		is_ghost = true;
		high |= HIGH_GHOST;
		low = slot;
	}

	for (uint32_t done = 0; done < pages; done += NODE_PAGES) {
		uint32_t node = folio_node(cache, page, done);
		uint32_t first = (uint32_t)((page_index + done) % NODE_PAGES);
		uint32_t here = pages < NODE_PAGES ? pages : NODE_PAGES;
		struct node *at = index_node(&cache->index, node);

		for (uint32_t i = first; i < first + here; i++) {
			at->low[i] = low;
			at->high[i] = high;
		}
		node_count(cache, node, -(int)here, high & HIGH_SHADOW ? (int)here : 0);
	}
	cache_counted(cache)->evictions += pages;
	if (cache->logs_returns)
		*array_push(&cache->evicted) = (struct cache_eviction){page_index, file, pages};
	cache->files.at[file].resident_pages -= pages;
	page_forget(cache, slot, is_ghost);
	if (cache->files.at[file].resident_pages == 0)
		inode_pages_gone(cache, file);
}

void page_remove(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];
	uint64_t page_index = page_index_of(cache, page);
	uint32_t pages = page_count(page), file = page_file(cache, page);

	for (uint32_t done = 0; done < pages; done += NODE_PAGES) {
		uint32_t node = folio_node(cache, page, done);
		uint32_t first = (uint32_t)((page_index + done) % NODE_PAGES);
		uint32_t here = pages < NODE_PAGES ? pages : NODE_PAGES;
		struct node *at = index_node(&cache->index, node);
		struct node_head *head = &cache->index.heads[node];

		for (uint32_t i = first; i < first + here; i++) {
			at->low[i] = 0;
			at->high[i] = 0;
			if (head->dirty >> i & 1) {
				head->dirty &= ~(UINT64_C(1) << i);
				cache->domain.dirty_pages--;
				cache->streams[page_stream(page)].dirty_pages--;
			}
		}
		node_count(cache, node, -(int)here, 0);
	}
	cache->files.at[file].resident_pages -= pages;
	if (cache->policy->use)
		policy_forget(cache->policy, &cache->queue, slot);
	page_forget(cache, slot, false);
	if (cache->files.at[file].resident_pages == 0)
		inode_pages_gone(cache, file);
}

/* ---- state ---- */

/* Have all pages of `dirty`, from `base` on, a block? */
static bool are_stored(struct cache *cache, uint32_t file, uint64_t base, uint64_t dirty)
{
	for (; dirty; dirty &= dirty - 1)
		if (!page_is_stored(cache, file, base + (uint64_t)__builtin_ctzll(dirty)))
			return false;
	return true;
}

/* What is dirty beyond the pages that are known to have blocks will have one. */
static void node_will_be_stored(struct cache_file *file, struct node *node, uint64_t base,
				uint64_t dirty)
{
	for (; dirty; dirty &= dirty - 1) {
		uint64_t page_index = base + (uint64_t)__builtin_ctzll(dirty);

		if (page_index == file->backed_pages)
			file->backed_pages++;
		else if (page_index > file->backed_pages)
			node->stored |= dirty & -dirty;
	}
}

void folio_set_dirty(struct cache *cache, uint32_t slot, uint64_t first, uint64_t end)
{
	struct page *page = &cache->queue.pages[slot];
	uint32_t id = page_file(cache, page), node = page->node;
	struct cache_file *file = &cache->files.at[id];

	page->bits |= PAGE_DIRTY;
	/* Without a state for each block: fs/iomap/buffered-io.c to 6.5 writes what is up to date of the folio. */
	if (cache->rules.dirty_whole_folios) {
		end = folio_end(cache, slot, first);
		first = page_index_of(cache, page);
		node = page->node;
	}
	for (uint64_t next; first < end; first = next) {
		uint64_t base = first & ~(uint64_t)(NODE_PAGES - 1), dirty, count;
		struct node_head *head;

		next = base + NODE_PAGES < end ? base + NODE_PAGES : end;
		if (cache->index.heads[node].chunk != first >> NODE_SHIFT)
			node = cache_node_find(cache, id, first);
		head = &cache->index.heads[node];
		dirty = bits_between(first - base, next - base) & ~head->dirty;
		if (!dirty)
			continue;
		count = (uint64_t)__builtin_popcountll(dirty);
		head->dirty |= dirty;
		cache->domain.dirty_pages += count;
		cache->streams[page_stream(page)].dirty_pages += count;
		if (page->bits & PAGE_DROPBEHIND && !are_stored(cache, id, base, dirty))
			page->bits |= PAGE_ALLOCATES;
		if (next > file->backed_pages)
			node_will_be_stored(file, index_node(&cache->index, node), base, dirty);
		if (!(head->lists & NODE_ON_DIRTY_CHAIN)) {
			head->lists |= NODE_ON_DIRTY_CHAIN;
			head->dirty_next = file->dirty_chain;
			file->dirty_chain = node;
		}
		writeback_file_dirtied(cache, id);
	}
}

/*
 * ext4 keeps a buffer head for each block of a page that was written or partly read. Source:
 * linux-caching.md 6.1.
 */
void page_add_buffers(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	if (!cache->filesystem.buffer_bytes || page->bits & PAGE_BUFFERS)
		return;
	page->bits |= PAGE_BUFFERS | PAGE_LOCKED; /* locked: paying for them must not evict it */
	slab_charge(cache, (int64_t)cache->filesystem.buffer_bytes * page_count(page));
	cache->queue.pages[slot].bits &= ~PAGE_LOCKED;
}
