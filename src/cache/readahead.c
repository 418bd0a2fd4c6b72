/*
 * readahead: which pages to read beyond the one asked for
 *
 * Windows grow as long as the reader meets the marker that the last window left; a miss looks
 * whether it continues the last read, or whether enough pages before it are cached to look like a
 * stream. Source: Linux mm/readahead.c; 5.4 .. 6.10 "merged", page_cache_sync_ra() and
 * page_cache_async_ra() of 6.11 on "split"; linux-caching.md section 4. Windows are clipped at the
 * end of the file; pages already there are skipped.
 */
#include "cache/cache_private.h"

/* force_page_cache_ra() reads in pieces of 2 MiB. */
enum { FORCED_PAGES = 512 };

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint32_t order_down(uint64_t value)
{
	return 63 - (uint32_t)__builtin_clzll(value);
}

/* get_init_ra_size() */
static uint32_t window_first(uint64_t pages, uint64_t cap)
{
	uint64_t size = pages <= 1 ? 1 : UINT64_C(1) << (order_down(pages - 1) + 1);

	if (size <= cap / 32)
		size *= 4;
	else if (size <= cap / 4)
		size *= 2;
	else
		size = cap;
	return (uint32_t)size;
}

/* get_next_ra_size() */
static uint32_t window_next(uint64_t size, uint64_t cap)
{
	if (size < cap / 16)
		return (uint32_t)(4 * size);
	return (uint32_t)(size <= cap / 2 ? 2 * size : cap);
}

/*
 * ractl_max_pages(): since 4.10 a request larger than the window may be read as one, up to the
 * device's largest I/O.
 */
static uint64_t window_cap(const struct cache *cache, const struct open_file *open, uint64_t pages)
{
	if (cache->rules.readahead_io_cap && pages > open->window &&
	    cache->device_io_pages > open->window)
		return least(pages, cache->device_io_pages);
	return open->window;
}

static uint64_t file_pages(const struct cache *cache, uint32_t file)
{
	return pages_from_bytes_up(cache->files.at[file].size_bytes);
}

static uint32_t insert_and_plan(struct cache *cache, uint32_t file, uint64_t at, uint32_t order,
				enum insert_reason reason, uint64_t missed_until,
				struct cache_plan *plan)
{
	uint32_t slot = page_insert(cache, file, at, order, reason, missed_until);
	uint64_t end = least(at + (UINT64_C(1) << order), file_pages(cache, file));
	bool is_fetched = false;

	if (!slot)
		return 0;
	/* Holes are filled with zeros, without the device. */
	for (uint64_t first = at; first < end;) {
		uint64_t last = first;

		if (first + (end - first) <= cache->files.at[file].backed_pages)
			last = end;
		while (last < end && page_is_stored(cache, file, last))
			last++;
		if (last > first) {
			plan_fetch(cache, plan, file, first, (uint32_t)(last - first));
			is_fetched = true;
		}
		while (last < end && !page_is_stored(cache, file, last))
			last++;
		first = last;
	}
	/*
	 * Locked until it is read, and so out of reclaim's reach while the rest of the window is
	 * allocated.
	 */
	cache->queue.pages[slot].bits |= PAGE_LOCKED;
	/* Nobody will say that a hole has been read. */
	if (cache->completes_at_once || !is_fetched)
		cache->window[cache->window_count++] = slot;
	return slot;
}

/* The window is submitted: its holes are there now, and with a caller that completes at once all its pages. */
static void window_submit(struct cache *cache)
{
	for (uint32_t i = 0; i < cache->window_count; i++)
		cache->queue.pages[cache->window[i]].bits &= ~PAGE_LOCKED;
	cache->window_count = 0;
	cache->windows++;
}

/*
 * Order 0, holes only; the marker on the page at `marker`, if it is read here
 * (page_cache_ra_unbounded()).
 */
static void read_singly(struct cache *cache, uint32_t file, uint64_t first, uint64_t pages,
			uint64_t marker, uint64_t missed_until, struct cache_plan *plan)
{
	uint64_t end = file_pages(cache, file);

	if (first >= end)
		return;
	for (uint64_t at = first; at < end && at - first < pages; at++) {
		uint32_t slot;

		if (cache_lookup(cache, file, at))
			continue;
		slot = insert_and_plan(cache, file, at, 0, INSERT_READAHEAD, missed_until, plan);
		if (!slot) /* no room: the rest is not read ahead */
			return;
		if (at == marker)
			cache->queue.pages[slot].bits |= PAGE_MARKER;
	}
}

void readahead_exact(struct cache *cache, uint32_t file, uint64_t page_index, uint64_t pages,
		     uint64_t missed_until, struct cache_plan *plan)
{
	read_singly(cache, file, page_index, pages, UINT64_MAX, missed_until, plan);
	window_submit(cache);
}

void readahead_none(struct cache *cache, uint32_t file, uint64_t page_index,
		    struct cache_plan *plan)
{
	cache_enter(cache, ALLOCATION_READ_ALONE);
	(void)insert_and_plan(cache, file, page_index, 0, INSERT_READ, page_index + 1, plan);
	window_submit(cache);
}

static bool folios_for_reads(const struct cache *cache, uint32_t file)
{
	return cache->rules.folios_on_read && !(cache->files.at[file].state & FILE_METADATA);
}

/* Is one of these pages (aligned to their number) there? Whole nodes at a time. */
static bool any_cached(struct cache *cache, uint32_t file, uint64_t first, uint64_t pages)
{
	for (uint64_t at = first; at < first + pages; at += NODE_PAGES) {
		uint32_t id = cache_node_find(cache, file, at), any = 0;
		const struct node *node = index_node(&cache->index, id);

		if (cache->index.heads[id].resident_pages == 0)
			continue;
		for (uint64_t i = at % NODE_PAGES; i < at % NODE_PAGES + least(pages, NODE_PAGES);
		     i++)
			any |= node->low[i];
		if (any & LOW_RESIDENT)
			return true;
	}
	return false;
}

/* Read the window of `open`, in folios of up to 2^order pages (page_cache_ra_order()). */
static void window_read(struct cache *cache, struct open_file *open, uint32_t order,
			uint64_t missed_until, struct cache_plan *plan)
{
	uint64_t at = open->start, last_page = file_pages(cache, open->file);
	uint64_t marker = open->start + open->size - open->async_size, limit;

	/* No window: a fresh reader met a marker that is none (a page to be freed when written). */
	if (last_page == 0 || at >= last_page || open->size == 0)
		return;
	limit = least(last_page - 1, at + open->size - 1);
	if (folios_for_reads(cache, open->file) && order > 0) {
		if (order > ORDER_MAX)
			order = ORDER_MAX;
		if (order > order_down(open->size))
			order = order_down(open->size);
		open->order = (uint8_t)order;
		while (at <= limit) {
			uint32_t this_order = order, slot;
			uint64_t rounded;

			if (at & ((UINT64_C(1) << order) - 1))
				this_order = (uint32_t)__builtin_ctzll(at);
			while (this_order > 0 && at + (UINT64_C(1) << this_order) - 1 > limit)
				this_order--;
			/*
			 * A page already there, or no room, ends the large folios; what is left is
			 * read singly.
			 */
			if (any_cached(cache, open->file, at, UINT64_C(1) << this_order))
				goto singly;
			slot = insert_and_plan(cache, open->file, at, this_order, INSERT_READAHEAD,
					       missed_until, plan);
			if (!slot)
				goto singly;
			rounded = marker & ~((UINT64_C(1) << this_order) - 1);
			if (rounded == at)
				cache->queue.pages[slot].bits |= PAGE_MARKER;
			at += UINT64_C(1) << this_order;
		}
		window_submit(cache);
		return;
	}
	if (!folios_for_reads(cache, open->file))
		open->order = 0;
singly:
	read_singly(cache, open->file, at, open->size - (at - open->start), marker, missed_until,
		    plan);
	window_submit(cache);
}

/*
 * A walk over the index as xas_prev() and xas_next() make it (lib/xarray.c). Looking up a page
 * inside a large folio lands on the folio's first slot, while the label stays the page's; from
 * there both go on one by one, so what is looked at lags the label, up to the node's edge: there
 * the label says where in the next node to look. Traced on 6.18. Folios of a node (64 pages) and
 * more are found one level up, where it does not happen.
 */
struct walk {
	uint64_t label, at;
};

static struct walk walk_start(struct cache *cache, uint32_t file, uint64_t page_index)
{
	uint32_t slot = cache_lookup(cache, file, page_index);
	struct walk walk = {page_index, page_index};

	if (slot && page_order(&cache->queue.pages[slot]) < NODE_SHIFT)
		walk.at = page_index_of(cache, &cache->queue.pages[slot]);
	return walk;
}

/* False: before the file's first page. */
static bool walk_back(struct walk *walk)
{
	walk->label--;
	if (walk->at % NODE_PAGES > 0) {
		walk->at--;
		return true;
	}
	if (walk->at == 0)
		return false;
	walk->at = walk->at - NODE_PAGES + walk->label % NODE_PAGES;
	return true;
}

static void walk_on(struct walk *walk)
{
	walk->label++;
	walk->at++;
	if (walk->at % NODE_PAGES == 0)
		walk->at += walk->label % NODE_PAGES;
}

/*
 * Pages in a row right before page_index that look cached, at most `most` - 1
 * (page_cache_prev_miss()). Those of the whole start of the file count double.
 */
static uint64_t cached_before(struct cache *cache, uint32_t file, uint64_t page_index,
			      uint64_t most)
{
	struct walk walk = walk_start(cache, file, page_index - 1);

	for (uint64_t count = 0; count < most; count++) {
		if (!cache_lookup(cache, file, walk.at))
			return count;
		if (!walk_back(&walk))
			return walk.label == UINT64_MAX ? 2 * (count + 1) : count + 1;
	}
	return most - 1;
}

/*
 * The first missing page after page_index, at most `most` away; UINT64_MAX: none
 * (page_cache_next_miss()).
 */
static uint64_t missing_after(struct cache *cache, uint32_t file, uint64_t page_index,
			      uint64_t most)
{
	struct walk walk = walk_start(cache, file, page_index + 1);

	for (; walk.label - page_index <= most; walk_on(&walk))
		if (!cache_lookup(cache, file, walk.at))
			return walk.label;
	return UINT64_MAX;
}

static void window_start(struct cache *cache, struct open_file *open, uint64_t page_index,
			 uint64_t pages, uint64_t cap)
{
	open->start = page_index;
	open->size = window_first(pages, cap);
	if (open->size > pages)
		open->async_size = open->size - (uint32_t)pages;
	else
		open->async_size = cache->rules.readahead_split ? open->size / 2 : open->size;
}

/* Up to 6.10: a window whose marker is the very page asked for takes the next window in at once. */
static void window_merge(struct open_file *open, uint64_t page_index, uint64_t cap)
{
	uint32_t more;

	if (page_index != open->start || open->size != open->async_size)
		return;
	more = window_next(open->size, cap);
	if (open->size + (uint64_t)more <= cap) {
		open->async_size = more;
		open->size += more;
	} else {
		open->size = (uint32_t)cap;
		open->async_size = (uint32_t)cap / 2;
	}
}

void readahead_sync(struct cache *cache, struct open_file *open, uint64_t page_index,
		    uint64_t pages, struct cache_plan *plan)
{
	uint64_t cap = window_cap(cache, open, pages), history;
	uint64_t missed_until = page_index + pages, prev_index = open->prev_pos >> PAGE_SHIFT;
	bool is_first_read = open->prev_pos == UINT64_MAX;

	cache_enter(cache, ALLOCATION_READ);
	if (open->window == 0 || open->is_random) {
		uint64_t most = cache->device_io_pages > open->window ? cache->device_io_pages
								      : open->window;

		if (open->window == 0)
			pages = 1;
		readahead_exact(cache, open->file, page_index, least(pages, most), missed_until,
				plan);
		return;
	}
	if (!cache->rules.readahead_split && page_index != 0 && open->size > 0 &&
	    (page_index == open->start + open->size - open->async_size ||
	     page_index == open->start + open->size)) {
		/*
		 * Up to 6.10 a miss where the window ends, or where its marker was, goes on with
		 * the stream.
		 */
		open->start += open->size;
		open->size = open->async_size = window_next(open->size, cap);
	} else if (page_index == 0 || pages > cap ||
		   (!is_first_read && page_index - prev_index <= 1)) {
		window_start(cache, open, page_index, pages, cap);
	} else {
		history = cached_before(cache, open->file, page_index, cap);
		if (history <= pages) {
			readahead_exact(cache, open->file, page_index, pages, missed_until, plan);
			return;
		}
		open->start = page_index;
		open->size = (uint32_t)least(history + pages, cap);
		open->async_size = 1;
	}
	open->order = 0;
	if (!cache->rules.readahead_split)
		window_merge(open, page_index, cap);
	window_read(cache, open, 0, missed_until, plan);
}

void readahead_async(struct cache *cache, struct open_file *open, uint32_t slot,
		     uint64_t page_index, uint64_t pages, struct cache_plan *plan)
{
	struct page *page = &cache->queue.pages[slot];
	uint64_t cap = window_cap(cache, open, pages), expected,
		 folio_mask = page_count(page) - UINT64_C(1);
	/* What the request goes on to ask for was not there when it began. */
	uint64_t missed_until = page_index + pages;
	uint32_t order;

	if (open->window == 0 || page->bits & PAGE_WRITEBACK)
		return;
	page->bits &= ~PAGE_MARKER;
	cache_enter(cache, ALLOCATION_READ);
	order = cache->rules.order_by_counter ? open->order : page_order(page);
	expected = (open->start + open->size - open->async_size) & ~folio_mask;
	page_index &= ~folio_mask;
	if (page_index == expected) {
		uint32_t next = window_next(open->size, cap);

		open->start += open->size;
		open->size = open->size > next ? open->size : next;
	} else {
		uint64_t start = missing_after(cache, open->file, page_index, cap);

		if (start == UINT64_MAX)
			return;
		open->start = start;
		open->size = window_next(start - page_index + pages, cap);
	}
	order += 2;
	if (cache->rules.order_by_counter) {
		/*
		 * 6.16: the window ends on a folio's boundary, also where there are only single
		 * pages.
		 */
		uint64_t end = open->start + open->size,
			 align = least(UINT64_C(1) << order, UINT64_C(1) << order_down(cap));
		uint64_t aligned = end & ~(align - 1);

		if (aligned > open->start)
			open->size -= (uint32_t)(end - aligned);
	}
	open->async_size = open->size;
	open->order = (uint8_t)least(order, ORDER_MAX);
	if (!cache->rules.readahead_split)
		window_merge(open, page_index, cap);
	window_read(cache, open, order, missed_until, plan);
}

/* A fault on a missing page (do_sync_mmap_readahead()): half a window before, half behind. */
void readahead_around(struct cache *cache, struct open_file *open, uint64_t page_index,
		      struct cache_plan *plan)
{
	open->start = page_index > open->window / 2 ? page_index - open->window / 2 : 0;
	open->size = open->window;
	open->async_size = open->window / 4;
	open->order = 0;
	cache_enter(cache, ALLOCATION_READ);
	cache->missed_from = page_index;
	window_read(cache, open, 0, page_index + 1, plan);
	cache->missed_from = 0;
}
