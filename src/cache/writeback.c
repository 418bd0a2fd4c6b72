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

enum { EXPIRE_SECONDS = 30, PERIODIC_SECONDS = 5 };
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

/*
 * What was to be dropped when written is, if it is clean and the end of its writeback may take it
 * from the cache: not in an interrupt, where ext4's writes end that change no extents (traced on
 * 6.18: written over, it stays, and goes after the next read). Source: mm/filemap.c,
 * folio_end_writeback(), folio_end_dropbehind() (6.14); fs/iomap/ioend.c, IOMAP_IOEND_DONTCACHE
 * (XFS, always a task); fs/ext4/page-io.c, ext4_end_bio().
 */
static bool folio_drop_written(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];
	bool in_task = page->bits & PAGE_ALLOCATES || !cache->filesystem.writes_end_in_interrupt;

	page->bits &= ~PAGE_ALLOCATES;
	if (!in_task || page->bits & (PAGE_DIRTY | PAGE_LOCKED))
		return false;
	page_remove(cache, slot);
	return true;
}

/* A folio is no longer under writeback: folio_end_writeback(). */
static void folio_written(struct cache *cache, uint32_t slot)
{
	struct page *page = &cache->queue.pages[slot];

	page->bits &= ~PAGE_WRITEBACK;
	if (page->bits & PAGE_DROPBEHIND && folio_drop_written(cache, slot))
		return;
	if (page->bits & PAGE_RECLAIM && !(page->bits & PAGE_DIRTY)) {
		page->bits &= ~PAGE_RECLAIM;
		if (cache->policy->lists)
			cache->policy->lists->written(cache, slot);
		else if (cache->policy->use && !(page->bits & (PAGE_LOCKED | PAGE_HELD)))
			page_evict(cache, slot); /* a queue may have no end to put it at */
		else
			page_list_move(cache, slot, LIST_INACTIVE, true);
	}
}

/* Is some page of the folio dirty, the first of whose nodes this is? */
static bool folio_has_dirty(struct cache *cache, const struct page *page,
			    const struct node_head *head)
{
	uint32_t count = page_count(page), first = page->bits & PAGE_OFFSET_MASK;

	if (count <= NODE_PAGES)
		return head->dirty & bits_between(first, first + count);
	for (uint32_t done = 0; done < count; done += NODE_PAGES)
		if (cache->index.heads[folio_node(cache, page, done)].dirty)
			return true;
	return false;
}

/* These dirty pages of a folio are being written: how many of them there are up to `end`. */
static uint32_t folio_write(struct cache *cache, const struct node_head *head, uint32_t slot,
			    uint64_t first, uint64_t end)
{
	struct page *page = &cache->queue.pages[slot];
	struct counters *stream = &cache->streams[page_stream(page)];
	uint64_t folio = folio_end(cache, slot, first), pages = (folio < end ? folio : end) - first;

	stream->dirty_pages -= pages;
	stream->write_bytes += bytes_from_pages(pages);
	cache->domain.dirty_pages -= pages;
	page->bits |= PAGE_WRITEBACK;
	if (!folio_has_dirty(cache, page, head))
		page->bits &= ~PAGE_DIRTY;
	return (uint32_t)pages;
}

/* The dirty pages of one node in the range become a few runs, and clean. */
static void node_write(struct cache *cache, uint32_t node, uint64_t mask, struct cache_plan *plan)
{
	const struct node *at = index_node(&cache->index, node);
	struct node_head *head = &cache->index.heads[node];
	uint64_t dirty = head->dirty & mask, base = (uint64_t)head->chunk << NODE_SHIFT;

	head->dirty &= ~mask;
	while (dirty) {
		uint32_t first = (uint32_t)__builtin_ctzll(dirty), count, end;
		uint64_t after = ~(dirty >> first); /* a bit where the run is over */
		struct cache_run *last =
			plan->write_count ? &plan->write[plan->write_count - 1] : NULL;

		count = after ? (uint32_t)__builtin_ctzll(after) : NODE_PAGES;
		end = first + count;
		dirty &= ~bits_between(first, end);
		for (uint32_t i = first; i < end;)
			i += folio_write(cache, head, at->low[i] & LOW_MASK, base + i, base + end);
		if (last && last->file == head->file && last->index + last->pages == base + first)
			last->pages += count;
		else
			plan->write[plan->write_count++] = (struct cache_run){
				.index = base + first, .file = head->file, .pages = count};
		plan->write_bytes += bytes_from_pages(count);
	}
}

void cache_written(struct cache *cache, const struct cache_run *run)
{
	uint64_t end = run->index + run->pages;

	for (uint64_t index = run->index; index < end;) {
		uint32_t slot = cache_lookup(cache, run->file, index);

		if (!slot) {
			index++;
			continue;
		}
		index = folio_end(cache, slot, index);
		if (cache->queue.pages[slot].bits & PAGE_WRITEBACK)
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
	const struct node_head *head = &cache->index.heads[ahead->far];
	const struct node *node = index_node(&cache->index, ahead->far);

	if (ahead->far) {
		for (uint64_t dirty = head->dirty; dirty; dirty &= dirty - 1)
			prefetch_read(&node->low[__builtin_ctzll(dirty)]);
		ahead->far = head->dirty_next;
		prefetch_write(&cache->index.heads[ahead->far]);
	}
	if (!ahead->near || ++ahead->steps <= CHAIN_FAR - CHAIN_NEAR)
		return;
	head = &cache->index.heads[ahead->near];
	node = index_node(&cache->index, ahead->near);
	for (uint64_t dirty = head->dirty; dirty; dirty &= dirty - 1)
		prefetch_write(&cache->queue.pages[node->low[__builtin_ctzll(dirty)] & LOW_MASK]);
	ahead->near = head->dirty_next;
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
		struct node_head *head = &cache->index.heads[node];
		uint64_t base = (uint64_t)head->chunk << NODE_SHIFT, mask = UINT64_MAX, pages;

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
		pages = (uint64_t)__builtin_popcountll(head->dirty & mask);
		*most -= pages < *most ? pages : *most;
		node_write(cache, node, mask, plan);
		if (head->dirty == 0) {
			head->lists &= (uint8_t)~NODE_ON_DIRTY_CHAIN;
			*link = head->dirty_next;
		} else {
			link = &head->dirty_next;
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

/* From the first page of the folio at `first` to the end of that before `last`. */
static void range_widen(struct cache *cache, uint32_t file, uint64_t *first, uint64_t *last)
{
	uint32_t slot = cache_lookup(cache, file, *first);

	if (slot)
		*first = page_index_of(cache, &cache->queue.pages[slot]);
	slot = cache_lookup(cache, file, *last - 1);
	if (slot)
		*last = folio_end(cache, slot, *last - 1);
}

bool cache_sync_file(struct cache *cache, uint32_t file, struct cache_plan *plan)
{
	return writeback_file(cache, file, 0, UINT64_MAX, plan, false);
}

static bool range_write(struct cache *cache, uint32_t file, uint64_t first, uint64_t last,
			struct cache_plan *plan)
{
	uint32_t first_run = plan->write_count;

	if (last - first > RANGE_CHUNKS * NODE_PAGES)
		return writeback_file(cache, file, first, last, plan, false);
	/* A few nodes are found faster than on the chain, where they stay until it is walked. */
	for (uint64_t at = first; at < last; at = (at / NODE_PAGES + 1) * NODE_PAGES) {
		uint32_t node = cache_node_find(cache, file, at);
		uint64_t mask = UINT64_MAX << at % NODE_PAGES;

		if (!plan_has_room(plan))
			return false;
		if (last < (at / NODE_PAGES + 1) * NODE_PAGES)
			mask &= (UINT64_C(1) << last % NODE_PAGES) - 1;
		if (node && cache->index.heads[node].dirty & mask)
			node_write(cache, node, mask, plan);
	}
	writeback_settle(cache, plan, first_run);
	return true;
}

bool cache_sync_range(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes,
		      struct cache_plan *plan)
{
	return range_write(cache, file, offset >> PAGE_SHIFT,
			   bytes ? pages_from_bytes_up(offset + bytes) : UINT64_MAX, plan);
}

bool cache_write_range(struct cache *cache, uint32_t file, uint64_t offset, uint64_t bytes,
		       struct cache_plan *plan)
{
	uint64_t first = offset >> PAGE_SHIFT, last = pages_from_bytes_up(offset + bytes);

	if (bytes == 0 || !(cache->files.at[file].state & FILE_DIRTY))
		return true;
	range_widen(cache, file, &first, &last);
	return range_write(cache, file, first, last, plan);
}

uint64_t cache_dirty_pages(const struct cache *cache)
{
	return cache->domain.dirty_pages;
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

/* Bytes go before percentages: domain_dirty_limits(). */
static uint64_t pages_or_percent(const struct cache *cache, uint64_t pages, uint32_t percent)
{
	return pages ? pages : dirtyable_pages(&cache->domain) / 100 * percent;
}

static uint64_t dirty_limit_pages(const struct cache *cache)
{
	return pages_or_percent(cache, cache->rules.dirty_limit_pages,
				cache->rules.dirty_limit_percent);
}

/* Half of the limit where it would not be below it. */
static uint64_t dirty_background_pages(const struct cache *cache)
{
	uint64_t limit = dirty_limit_pages(cache);
	uint64_t pages = pages_or_percent(cache, cache->rules.dirty_background_pages,
					  cache->rules.dirty_background_percent);

	return pages >= limit ? limit / 2 : pages;
}

static bool over_background_limit(const struct cache *cache)
{
	return !cache->domain.is_cgroup &&
	       cache->domain.dirty_pages > dirty_background_pages(cache);
}

uint64_t cache_dirty_allowed(const struct cache *cache)
{
	if (cache->domain.is_cgroup)
		return UINT64_MAX;
	return (dirty_background_pages(cache) + dirty_limit_pages(cache)) / 2;
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
		 share = dirty_limit_pages(cache) / DIRTY_SCOPE;

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

/* queue_io(): those whose turn was too short, then those that have been dirty for `age_ns`. */
static void flusher_queue(struct cache *cache, uint64_t age_ns)
{
	uint32_t id;

	while ((id = cache->flusher.more_io.first)) {
		list_remove(cache, id);
		list_append(cache, id, FILE_FOR_IO);
	}
	while ((id = cache->dirty_files.first) &&
	       cache->files.at[id].dirtied_ns + age_ns <= cache->now_ns) {
		list_remove(cache, id);
		list_append(cache, id, FILE_FOR_IO);
	}
}

/* May it go on with what it does? wb_writeback() */
static bool flusher_goes_on(struct cache *cache)
{
	struct flusher *flusher = &cache->flusher;

	if (flusher->work == FLUSHER_BACKGROUND ? !over_background_limit(cache)
						: flusher->pages_left == 0)
		return false;
	if (!flusher->for_io.first)
		flusher_queue(cache, flusher->work == FLUSHER_BACKGROUND
					     ? 0
					     : EXPIRE_SECONDS * NS_PER_SECOND);
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

static inline bool is_due(const struct cache *cache)
{
	if (cache->flushed_bytes > 0)
		return true;
	if (cache->domain.dirty_pages == 0)
		return false;
	return cache->domain.flush_wanted ||
	       (!cache->flusher.is_busy &&
		(cache->flusher.work != FLUSHER_RESTS || cache->now_ns >= cache->flush_check_ns ||
		 over_background_limit(cache)));
}

bool writeback_balance(struct cache *cache, struct cache_plan *plan)
{
	struct domain *domain = &cache->domain;

	if (!is_due(cache))
		return false;
	plan->write_bytes += cache->flushed_bytes;
	cache->flushed_bytes = 0;
	if (domain->flush_wanted) {
		if (!cache_sync(cache, plan))
			return true;
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
			return true; /* the plan is full */
		if (flusher->file) {
			list_remove(cache, id);
			list_append(cache, id, FILE_MORE_IO);
		}
		flusher->file = 0;
		if (flusher->chunk_pages != UINT64_MAX)
			return true; /* one turn at a time, where that takes time */
	}
	return true;
}
