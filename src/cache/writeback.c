/*
 * writeback: dirty pages, and when they are written
 *
 * fsync writes a file; the flusher writes what is 30 s old, looking every 5 s, what is over the
 * background limit, and everything when reclaim met nothing but dirty pages. A page that reclaim
 * wanted goes to the inactive tail when it is clean. Source: Linux fs/fs-writeback.c,
 * mm/page-writeback.c, mm/filemap.c folio_end_writeback(); linux-caching.md section 5. In a version
 * 1 cgroup there is no dirty limit of the group's own.
 */
#include <assert.h>

#include "cache/cache_private.h"

enum { EXPIRE_SECONDS = 30, PERIODIC_SECONDS = 5, BACKGROUND_PERCENT = 10, LIMIT_PERCENT = 20 };
enum { RANGE_CHUNKS = 4, DIRTY_SCOPE = 8, TURN_PAGES_MIN = 1024 };

/* ---- dirty files: since when, and whether the flusher has them ---- */

static struct object_list *list_of(struct cache *cache, const struct cache_file *file)
{
	return file->state & FILE_FOR_IO    ? &cache->flusher.for_io
	       : file->state & FILE_MORE_IO ? &cache->flusher.more_io
					    : &cache->dirty_files;
}

/* `lists`: FILE_FOR_IO, FILE_MORE_IO, or 0 for those that became dirty lately. */
static void list_append(struct cache *cache, uint32_t id, uint16_t lists)
{
	struct cache_file *file = &cache->files.at[id];
	struct object_list *list;

	file->state |= lists;
	list = list_of(cache, file);
	file->dirty_prev = list->last;
	file->dirty_next = 0;
	if (list->last)
		cache->files.at[list->last].dirty_next = id;
	else
		list->first = id;
	list->last = id;
	list->count++;
}

static void list_remove(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];
	struct object_list *list = list_of(cache, file);

	if (file->dirty_prev)
		cache->files.at[file->dirty_prev].dirty_next = file->dirty_next;
	else
		list->first = file->dirty_next;
	if (file->dirty_next)
		cache->files.at[file->dirty_next].dirty_prev = file->dirty_prev;
	else
		list->last = file->dirty_prev;
	list->count--;
	file->state &= (uint16_t) ~(FILE_FOR_IO | FILE_MORE_IO);
}

void writeback_file_dirtied(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	if (file->state & FILE_DIRTY)
		return;
	file->state |= FILE_DIRTY;
	file->dirtied_ns = cache->now_ns;
	list_append(cache, id, 0);
}

void writeback_file_cleaned(struct cache *cache, uint32_t id)
{
	cache->files.at[id].state &= (uint16_t)~FILE_DIRTY;
	if (cache->flusher.file == id)
		cache->flusher.file = 0;
	list_remove(cache, id);
}

/* A folio is no longer under writeback: folio_end_writeback(). */
static void folio_written(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	page->bits &= ~PAGE_WRITEBACK;
	if (page->bits & PAGE_RECLAIM && !(page->bits & PAGE_DIRTY)) {
		page->bits &= ~PAGE_RECLAIM;
		page_list_move(cache, slot, LIST_INACTIVE, true);
	}
}

static bool folio_has_dirty(struct cache *cache, const struct page *page)
{
	uint64_t first = page_index_of(cache, page), end = first + page_count(page);
	uint64_t mask =
		page_count(page) >= NODE_PAGES ? UINT64_MAX : (UINT64_C(1) << page_count(page)) - 1;
	uint32_t file = page_file(cache, page);

	for (; first < end; first += NODE_PAGES)
		if (index_node(&cache->index, cache_node_find(cache, file, first))->dirty &
		    mask << first % NODE_PAGES)
			return true;
	return false;
}

/* The dirty pages of one node in the range become a few runs, and clean. */
static void node_write(struct cache *cache, uint32_t node, uint64_t mask, struct cache_plan *plan)
{
	struct node *at = index_node(&cache->index, node);
	uint64_t dirty = at->dirty & mask,
		 base = (uint64_t)cache->index.heads[node].chunk << NODE_SHIFT;

	at->dirty &= ~mask;
	while (dirty) {
		uint32_t first = (uint32_t)__builtin_ctzll(dirty), count = 0;
		struct cache_run *last =
			plan->write_count ? &plan->write[plan->write_count - 1] : NULL;

		while (first + count < NODE_PAGES && dirty >> (first + count) & 1) {
			uint32_t slot = at->low[first + count] & LOW_MASK;
			struct page *page = &cache->queue.pages[slot];
			struct counters *stream = &cache->streams[page_stream(page)];

			dirty &= ~(UINT64_C(1) << (first + count));
			stream->dirty_pages--;
			stream->write_bytes += PAGE_BYTES;
			cache->domain.dirty_pages--;
			page->bits |= PAGE_WRITEBACK;
			if (!folio_has_dirty(cache, page))
				page->bits &= ~PAGE_DIRTY;
			count++;
		}
		if (last && last->file == cache->index.heads[node].file &&
		    last->index + last->pages == base + first)
			last->pages += count;
		else
			plan->write[plan->write_count++] =
				(struct cache_run){.index = base + first,
						   .file = cache->index.heads[node].file,
						   .pages = count};
		plan->write_bytes += bytes_from_pages(count);
	}
}

void cache_written(struct cache *cache, const struct cache_run *run)
{
	for (uint64_t index = run->index; index < run->index + run->pages; index++) {
		uint32_t slot = cache_lookup(cache, run->file, index);

		if (slot && cache->queue.pages[slot].bits & PAGE_WRITEBACK)
			folio_written(cache, slot);
	}
}

void writeback_settle(struct cache *cache, const struct cache_plan *plan, uint32_t first_run)
{
	/*
	 * A run may have grown, so the one before is looked at too: its pages are no longer under
	 * writeback, or are these.
	 */
	if (cache->completes_at_once && !cache->writes_take_time)
		for (uint32_t run = first_run > 0 ? first_run - 1 : 0; run < plan->write_count;
		     run++)
			cache_written(cache, &plan->write[run]);
}

/* Two nodes that a walk along a dirty chain will come to; 0: the end. A step is a wait for memory. */
struct chain_ahead {
	uint32_t far, near, steps;
};

enum { CHAIN_FAR = 8, CHAIN_NEAR = 4 };

/* From `far` on its dirty pages' entries are asked for, from `near` on their records. */
static void chain_advance(const struct cache *cache, struct chain_ahead *ahead)
{
	const struct node *node = index_node(&cache->index, ahead->far);

	if (ahead->far) {
		for (uint64_t dirty = node->dirty; dirty; dirty &= dirty - 1)
			__builtin_prefetch(&node->low[__builtin_ctzll(dirty)]);
		ahead->far = node->dirty_next;
		__builtin_prefetch(&index_node(&cache->index, ahead->far)->dirty, 1);
		__builtin_prefetch(&cache->index.heads[ahead->far], 1);
	}
	if (!ahead->near || ++ahead->steps <= CHAIN_FAR - CHAIN_NEAR)
		return;
	node = index_node(&cache->index, ahead->near);
	for (uint64_t dirty = node->dirty; dirty; dirty &= dirty - 1)
		__builtin_prefetch(
			&cache->queue.pages[node->low[__builtin_ctzll(dirty)] & LOW_MASK], 1);
	ahead->near = node->dirty_next;
}

/* As writeback_file(), but not more than *most pages; less by those that it wrote. */
static bool file_write(struct cache *cache, uint32_t id, uint64_t first, uint64_t last,
		       struct cache_plan *plan, bool start_only, uint64_t *most)
{
	struct cache_file *file = &cache->files.at[id];
	uint32_t *link = &file->dirty_chain, first_run = plan->write_count;
	struct chain_ahead ahead = {.far = *link, .near = *link};
	bool done = true;

	for (uint32_t i = 0; i < CHAIN_FAR && ahead.far; i++)
		chain_advance(cache, &ahead);
	while (*link) {
		uint32_t node = *link;
		struct node *at = index_node(&cache->index, node);
		uint64_t base = (uint64_t)cache->index.heads[node].chunk << NODE_SHIFT,
			 mask = UINT64_MAX, pages;

		if (!plan_has_room(plan) || *most == 0) {
			done = false;
			break;
		}
		if (base + NODE_PAGES <= first || base >= last)
			mask = 0;
		else if (base < first)
			mask &= UINT64_MAX << (first - base);
		if (mask && last < base + NODE_PAGES)
			mask &= (UINT64_C(1) << (last - base)) - 1;
		chain_advance(cache, &ahead);
		pages = (uint64_t)__builtin_popcountll(at->dirty & mask);
		*most -= pages < *most ? pages : *most;
		node_write(cache, node, mask, plan);
		if (at->dirty == 0) {
			cache->index.heads[node].lists &= (uint8_t)~NODE_ON_DIRTY_CHAIN;
			*link = at->dirty_next;
		} else {
			link = &at->dirty_next;
		}
	}
	if (!start_only)
		writeback_settle(cache, plan, first_run);
	if (file->dirty_chain == 0 && file->state & FILE_DIRTY) {
		writeback_file_cleaned(cache, id);
		/* inode_sync_complete(): a clean inode nobody uses may go on the LRU now. */
		inode_pages_gone(cache, id);
	}
	return done;
}

bool writeback_file(struct cache *cache, uint32_t id, uint64_t first, uint64_t last,
		    struct cache_plan *plan, bool start_only)
{
	uint64_t most = UINT64_MAX;

	return file_write(cache, id, first, last, plan, start_only, &most);
}

bool cache_sync_file(struct cache *cache, uint32_t file, struct cache_plan *plan)
{
	return writeback_file(cache, file, 0, UINT64_MAX, plan, false);
}

bool cache_sync_range(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes,
		      struct cache_plan *plan)
{
	uint64_t first = offset >> PAGE_SHIFT, last = pages_from_bytes_up(offset + bytes);
	uint32_t first_run = plan->write_count;

	if (bytes == 0 || last - first > RANGE_CHUNKS * NODE_PAGES)
		return writeback_file(cache, file, first, bytes ? last : UINT64_MAX, plan, false);
	/* A few nodes are found faster than on the chain, where they stay until it is walked. */
	for (uint64_t at = first; at < last; at = (at / NODE_PAGES + 1) * NODE_PAGES) {
		uint32_t node = cache_node_find(cache, file, at);
		uint64_t mask = UINT64_MAX << at % NODE_PAGES;

		if (!plan_has_room(plan))
			return false;
		if (last < (at / NODE_PAGES + 1) * NODE_PAGES)
			mask &= (UINT64_C(1) << last % NODE_PAGES) - 1;
		if (node && index_node(&cache->index, node)->dirty & mask)
			node_write(cache, node, mask, plan);
	}
	writeback_settle(cache, plan, first_run);
	return true;
}

uint64_t cache_dirty_files(const struct cache *cache)
{
	return cache->dirty_files.count + cache->flusher.for_io.count +
	       cache->flusher.more_io.count;
}

bool cache_sync(struct cache *cache, struct cache_plan *plan)
{
	struct object_list *const lists[] = {&cache->flusher.for_io, &cache->flusher.more_io,
					     &cache->dirty_files};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		while (lists[i]->first)
			if (!cache_sync_file(cache, lists[i]->first, plan))
				return false;
	return true;
}

/* Free memory and the file lists: global_dirtyable_memory(). */
static uint64_t dirtyable_pages(const struct domain *domain)
{
	return domain->limit_pages -
	       (domain->usage_pages < domain->limit_pages ? domain->usage_pages
							  : domain->limit_pages) +
	       domain->list_pages[LIST_INACTIVE] + domain->list_pages[LIST_ACTIVE];
}

static bool over_background_limit(const struct cache *cache)
{
	const struct domain *domain = &cache->domain;

	return !domain->is_cgroup &&
	       domain->dirty_pages > dirtyable_pages(domain) / 100 * BACKGROUND_PERCENT;
}

uint64_t cache_dirty_allowed(const struct cache *cache)
{
	if (cache->domain.is_cgroup)
		return UINT64_MAX;
	return dirtyable_pages(&cache->domain) / 200 * (BACKGROUND_PERCENT + LIMIT_PERCENT);
}

/* What was written during reclaim: its bytes and, if the caller asks for them, its runs. */
static void flushed_keep(struct cache *cache, struct cache_plan *plan)
{
	cache->flushed_bytes += plan->write_bytes;
	for (uint32_t i = 0; cache->writes_take_time && i < plan->write_count; i++)
		*array_push(&cache->flushed) = plan->write[i];
	plan->write_count = 0;
	plan->write_bytes = 0;
}

/*
 * Reclaim met nothing but dirty pages: it wakes the flusher and, in a version 1 cgroup, sleeps
 * until pages have been written (shrink_inactive_list(), wakeup_flusher_threads(),
 * reclaim_throttle()), so its next batch finds clean ones.
 */
void writeback_flush(struct cache *cache)
{
	struct cache_plan *plan = cache->flush_plan;

	if (!plan)
		return; /* the caller carries out what cache_clock() plans */
	while (!cache_sync(cache, plan))
		flushed_keep(cache, plan);
	flushed_keep(cache, plan);
	cache->domain.flush_wanted = false;
}

size_t cache_flushed(struct cache *cache, struct cache_run *runs, size_t most)
{
	size_t count = 0;

	while (count < most && cache->flushed_taken < cache->flushed.count)
		runs[count++] = cache->flushed.at[cache->flushed_taken++];
	if (cache->flushed_taken == cache->flushed.count)
		cache->flushed.count = cache->flushed_taken = 0;
	return count;
}

/* ---- the flusher ---- */

uint64_t cache_flusher_pace(struct cache *cache, uint64_t bytes_per_s)
{
	uint64_t pages = bytes_per_s / PAGE_BYTES / 2,
		 share = dirtyable_pages(&cache->domain) / 100 * LIMIT_PERCENT / DIRTY_SCOPE;

	pages = pages < share ? pages : share;
	cache->flusher.chunk_pages = (pages + TURN_PAGES_MIN) / TURN_PAGES_MIN * TURN_PAGES_MIN;
	return cache->flusher.chunk_pages;
}

void cache_flusher_busy(struct cache *cache, bool is_busy)
{
	cache->flusher.is_busy = is_busy;
}

bool cache_flusher_has_turn(const struct cache *cache)
{
	return cache->flusher.file && !cache->flusher.is_busy;
}

/* queue_io(): those whose turn was too short, then those dirty since `until_ns` or before. */
static void flusher_queue(struct cache *cache, uint64_t until_ns)
{
	uint32_t id;

	while ((id = cache->flusher.more_io.first)) {
		list_remove(cache, id);
		list_append(cache, id, FILE_FOR_IO);
	}
	while ((id = cache->dirty_files.first) && cache->files.at[id].dirtied_ns <= until_ns) {
		list_remove(cache, id);
		list_append(cache, id, FILE_FOR_IO);
	}
}

/* May it go on with what it does? wb_writeback() */
static bool flusher_goes_on(struct cache *cache)
{
	struct flusher *flusher = &cache->flusher;
	uint64_t expire_ns = EXPIRE_SECONDS * NS_PER_SECOND;

	if (flusher->work == FLUSHER_BACKGROUND ? !over_background_limit(cache)
						: flusher->pages_left == 0)
		return false;
	if (!flusher->for_io.first)
		flusher_queue(cache, flusher->work == FLUSHER_BACKGROUND ? cache->now_ns
				     : cache->now_ns > expire_ns         ? cache->now_ns - expire_ns
									 : 0);
	return flusher->for_io.first;
}

/*
 * The next file's turn. False: there is nothing to do. Whatever background write-back had queued when
 * it had done enough, the next periodic one writes, whatever its age: wb_do_writeback().
 */
static bool flusher_take(struct cache *cache)
{
	struct flusher *flusher = &cache->flusher;

	if (flusher->work == FLUSHER_RESTS || !flusher_goes_on(cache)) {
		flusher->work = FLUSHER_RESTS;
		if (cache->now_ns >= cache->flush_check_ns) {
			cache->flush_check_ns = cache->now_ns + PERIODIC_SECONDS * NS_PER_SECOND;
			flusher->work = FLUSHER_PERIODIC;
			flusher->pages_left = cache->domain.dirty_pages;
		}
		if (flusher->work == FLUSHER_RESTS || !flusher_goes_on(cache))
			flusher->work = FLUSHER_BACKGROUND;
		if (flusher->work == FLUSHER_BACKGROUND && !flusher_goes_on(cache)) {
			flusher->work = FLUSHER_RESTS;
			return false;
		}
	}
	flusher->file = flusher->for_io.first;
	flusher->left = flusher->chunk_pages;
	return true;
}

void writeback_balance(struct cache *cache, struct cache_plan *plan)
{
	struct domain *domain = &cache->domain;

	plan->write_bytes += cache->flushed_bytes;
	cache->flushed_bytes = 0;
	if (domain->flush_wanted) {
		if (!cache_sync(cache, plan))
			return;
		domain->flush_wanted = false;
	}
	while (!cache->flusher.is_busy && (cache->flusher.file || flusher_take(cache))) {
		struct flusher *flusher = &cache->flusher;
		uint64_t before = flusher->left;
		uint32_t id = flusher->file;

		(void)file_write(cache, id, 0, UINT64_MAX, plan, false, &flusher->left);
		flusher->pages_left -= before - flusher->left < flusher->pages_left
					       ? before - flusher->left
					       : flusher->pages_left;
		if (flusher->file && flusher->left > 0)
			return; /* the plan is full */
		if (flusher->file) {
			list_remove(cache, id);
			list_append(cache, id, FILE_MORE_IO);
		}
		flusher->file = 0;
		if (flusher->chunk_pages != UINT64_MAX)
			return; /* one turn at a time, where that takes time */
	}
}
