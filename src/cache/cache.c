/*
 * cache: creation, naming, open files, counters; and the walk that proves the invariants
 */
#include "cache/cache.h"

#include <assert.h>
#include <string.h>

#include "cache/cache_private.h"

enum { PUBLISH_SECONDS = 2, CLOSED_FILES_BATCH = 50 };

static struct rules rules_from(const struct switches *s, const struct cache_filesystem *fs)
{
	const uint32_t *v = s->value;
	/* Words stand for their place in switches.def. */
	enum { SINCE_NONE, SINCE_XFS, SINCE_ALL };
#define SINCE(field, id)                                                                           \
	(fs->field != CACHE_FOLIOS_NEVER &&                                                        \
	 (v[id] == SINCE_ALL || (v[id] == SINCE_XFS && fs->field == CACHE_FOLIOS_EARLY)))
	return (struct rules){
		.activate_on_write = (enum activate_on_write)v[SWITCH_activate_on_write],
		.refault_on_write = v[SWITCH_refault_on_write] == 0,
		.ratio_is_sqrt = v[SWITCH_inactive_ratio] == 1,
		.demote_on_refault = (enum demote_on_refault)v[SWITCH_demote_on_refault],
		.demote_per_priority = v[SWITCH_demote_decision] == 1,
		.dirty_to_active = v[SWITCH_dirty_at_tail] == 1,
		.read_mark = (enum read_mark)v[SWITCH_read_mark],
		.read_position_late = v[SWITCH_read_position] == 1,
		.lazy_statistics = v[SWITCH_statistics] == 1,
		.statistics_ops = v[SWITCH_statistics_ops],
		.age_stored_first = v[SWITCH_shadow_age] == 1,
		.background_waits = v[SWITCH_background_reclaim] == 0 && fs->evicted_inodes_linger,
		.open_file_late = v[SWITCH_open_file_free] == 0,
		.open_file_bytes = v[SWITCH_open_file_bytes],
		.transaction_blocks = v[SWITCH_ext4_transaction_blocks],
		.journal_blocks = v[SWITCH_ext4_journal_blocks],
		.writeback_throttled = v[SWITCH_writeback_throttle] == 1,
		.elevator_cfq = v[SWITCH_elevator] == 0,
		.writeback_holds = v[SWITCH_ext4_writeback] == 0,
		.blocks_ahead_give_up = v[SWITCH_ext4_readahead] == 1,
		.charge_batch = v[SWITCH_charge_batch],
		.read_batch = v[SWITCH_read_batch],
		.folios_on_read = SINCE(folios, SWITCH_folios_read),
		.folios_on_write = SINCE(folios, SWITCH_folios_write),
		.dirty_whole_folios =
			v[SWITCH_folio_dirty] == 1 && fs->folios == CACHE_FOLIOS_EARLY,
		.order_by_counter = v[SWITCH_folio_order] == 1,
		.readahead_split = v[SWITCH_readahead] == 1,
		.readahead_io_cap = v[SWITCH_readahead_io_cap] == 1,
		.read_reclaim_fs = v[SWITCH_read_reclaim_fs] == 0,
		.noreuse_mapped = v[SWITCH_noreuse] == 1,
		.referenced_on_first_use = v[SWITCH_referenced_on_first_use] == 0,
		.vfs_cache_pressure = v[SWITCH_vfs_cache_pressure],
		.dirty_limit_percent = v[SWITCH_dirty_ratio],
		/* domain_dirty_limits(): half of the limit where it would not be below it. */
		.dirty_background_percent =
			v[SWITCH_dirty_background_ratio] >= v[SWITCH_dirty_ratio]
				? v[SWITCH_dirty_ratio] / 2
				: v[SWITCH_dirty_background_ratio],
		.dirty_limit_pages = pages_from_bytes_up(v[SWITCH_dirty_bytes]),
		.dirty_background_pages = pages_from_bytes_up(v[SWITCH_dirty_background_bytes]),
		.slab_by_priority = v[SWITCH_slab_target] == 1,
		.slab_debt_scaled = v[SWITCH_slab_debt] == 1,
		.inode_steals_pages = v[SWITCH_inode_with_pages] == 0,
		.slab_counts = v[SWITCH_slab_counts] == 0,
		.has_dontcache = SINCE(dontcache, SWITCH_dontcache),
		.direct_writes_buffered =
			v[SWITCH_direct_writes_btrfs] == 1 && fs->direct_writes_switched,
		.shadow_shift = v[SWITCH_shadow_limit] == 0 ? 4 : 3,
		.shadow_of_all = v[SWITCH_shadow_limit] == 2,
		.mglru_reads = (enum mglru_reads)v[SWITCH_mglru_reads],
		.mglru_faults_second = v[SWITCH_mglru_faults] == 1,
		.mglru_counts_first = v[SWITCH_mglru_uses] == 1,
		.mglru_recent_is_wide = v[SWITCH_mglru_recent] == 1,
		.mglru_protects_at_head = v[SWITCH_mglru_protected] == 1,
		.mglru_gain_is_smaller = v[SWITCH_mglru_gain] == 1,
		.mglru_ages_by_count = v[SWITCH_mglru_aging] == 1,
		.mglru_aging_ends_turn = v[SWITCH_mglru_aging_turn] == 1,
		.mglru_mapped_twice = v[SWITCH_mglru_mapped] == 1,
		.mglru_scans_as_asked = v[SWITCH_mglru_scan] == 1,
		.mglru_wakes_flusher = v[SWITCH_mglru_flusher] == 1,
		.mglru_counts_all_refaults = v[SWITCH_mglru_refaults] == 1,
		.min_ttl_ns = v[SWITCH_min_ttl_ms] * NS_PER_MS,
	};
#undef SINCE
}

struct cache *cache_create(const struct cache_config *config, struct error *error)
{
	const struct policy_options *policy = config->policy;
	struct cache *cache;

	if (!config->bare &&
	    (config->memory_bytes < CACHE_MEMORY_BYTES_MIN ||
	     config->memory_bytes - CACHE_MEMORY_BYTES_MIN < config->pinned_bytes)) {
		char memory[SIZE_TEXT_BYTES], pinned[SIZE_TEXT_BYTES], least[SIZE_TEXT_BYTES];

		error_input(error,
			    "memory of %s (of which %s pinned) is too small: reclaim works in "
			    "steps, and needs at least %s beside what is pinned",
			    size_format(memory, config->memory_bytes),
			    size_format(pinned, config->pinned_bytes),
			    size_format(least, CACHE_MEMORY_BYTES_MIN));
		return NULL;
	}
	if (config->memory_bytes > CACHE_MEMORY_BYTES_MAX) {
		error_input(error, "memory over 4 TiB is not supported");
		return NULL;
	}
	if (config->readahead_pages > READAHEAD_PAGES_MAX / 2) {
		error_input(error, "a readahead window over %u KiB is not supported",
			    READAHEAD_PAGES_MAX / 2 * 4);
		return NULL;
	}
	if (policy->policy->foresee) {
		error_input(
			error,
			"policy %s must know which pages will be asked for, and what a whole "
			"machine asks for depends on what it keeps: only the plain cache (--bare) "
			"can have it",
			policy->policy->name);
		return NULL;
	}
	if (policy->policy->arc_rules && !config->filesystem->data_in_arc) {
		error_input(error,
			    "policy %s is how ZFS's own cache works, and needs the file system "
			    "zfs; others are cached by a kernel's policy, as linux-6.18",
			    policy->policy->name);
		return NULL;
	}
	cache = memory_alloc(1, sizeof(*cache));
	cache->policy = policy->policy;
	cache->filesystem = *config->filesystem;
	if (cache->policy->use && !cache->policy->takes_folios)
		cache->filesystem.folios = CACHE_FOLIOS_NEVER;
	if (config->filesystem->inode_bytes_switched)
		cache->filesystem.inode_bytes = policy->switches.value[SWITCH_ext4_inode_bytes];
	cache->rules = rules_from(&policy->switches, &cache->filesystem);
	cache->filesystem.marks_on_write = config->filesystem->marks_on_write &&
					   policy->switches.value[SWITCH_write_marks_btrfs] == 0;
	if (cache->rules.read_batch > 1024)
		cache->rules.read_batch = 1024;
	cache->readahead_pages = config->readahead_pages;
	cache->device_io_pages = config->device_io_pages < READAHEAD_PAGES_MAX
					 ? config->device_io_pages
					 : READAHEAD_PAGES_MAX;
	cache->completes_at_once = config->completes_at_once;
	cache->writes_take_time = config->writes_take_time;
	cache->is_bare = config->bare;
	cache->pinned_bytes = config->pinned_bytes;
	domain_init(cache, config);
	index_init(&cache->index);
	buffers_init(&cache->buffers);
	cache->page_capacity = 4096;
	cache->page_count = SLOT_FIRST;
	cache->queue.pages = memory_alloc(cache->page_capacity, sizeof(struct page));
	for (uint32_t list = 0; list < LISTS_MAX; list++)
		queue_init(cache->queue.pages, list);
	memcpy(cache->policy_options, policy->own, sizeof(cache->policy_options));
	cache->queue.options = cache->policy_options;
	cache->queue.seed = config->seed;
	cache_queue_init(cache);
	if (cache->policy->lists)
		cache->policy->lists->create(cache);
	if (cache->completes_at_once)
		cache->flush_plan = memory_alloc(1, sizeof(*cache->flush_plan));
	cache->window = memory_alloc(READAHEAD_PAGES_MAX, sizeof(*cache->window));
	cache->streams = memory_alloc(CACHE_STREAMS, sizeof(*cache->streams));
	cache->counted = cache->streams;
	cache->blame = memory_alloc((size_t)CACHE_STREAMS * CACHE_STREAMS, sizeof(*cache->blame));
	(void)array_push(&cache->files); /* ids begin at 1 */
	(void)array_push(&cache->names);
	(void)array_push(&cache->opens);
	cache->stream_count = 1;
	cache->flush_check_ns = 5 * NS_PER_SECOND;
	cache->flusher.chunk_pages = UINT64_MAX;
	return cache;
}

void cache_destroy(struct cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->files.count; i++)
		memory_free(cache->files.at[i].directory);
	if (cache->policy->lists)
		cache->policy->lists->destroy(cache);
	index_deinit(&cache->index);
	buffers_deinit(&cache->buffers);
	cache_queue_deinit(cache);
	memory_free(cache->flush_plan);
	array_deinit(&cache->flushed);
	array_deinit(&cache->returns);
	array_deinit(&cache->mapped);
	array_deinit(&cache->evicted);
	memory_free(cache->window);
	memory_free(cache->streams);
	memory_free(cache->blame);
	array_deinit(&cache->files);
	array_deinit(&cache->names);
	array_deinit(&cache->opens);
	memory_free(cache);
}

/* ---- plans ---- */

void plan_fetch(struct cache *cache, struct cache_plan *plan, uint32_t file, uint64_t page_index,
		uint32_t pages)
{
	struct cache_run *last = plan->fetch_count ? &plan->fetch[plan->fetch_count - 1] : NULL;

	if (last && last->file == file && last->index + last->pages == page_index)
		last->pages += pages;
	else
		plan->fetch[plan->fetch_count++] =
			(struct cache_run){.index = page_index, .file = file, .pages = pages};
	plan->fetch_bytes += bytes_from_pages(pages);
	cache_counted(cache)->read_bytes += bytes_from_pages(pages);
}

void cache_fetched(struct cache *cache, const struct cache_run *run)
{
	for (uint64_t index = run->index; index < run->index + run->pages; index++) {
		uint32_t slot = cache_lookup(cache, run->file, index);

		if (slot)
			cache->queue.pages[slot].bits &= ~PAGE_LOCKED;
	}
}

/* ---- naming ---- */

uint32_t cache_file_add(struct cache *cache, uint64_t size_bytes, uint32_t flags)
{
	struct cache_file *file = array_push(&cache->files);

	file->size_bytes = size_bytes;
	file->state = (uint16_t)flags;
	if (!(flags & CACHE_FILE_SPARSE))
		file->backed_pages = pages_from_bytes_up(size_bytes);
	return (uint32_t)(cache->files.count - 1);
}

void cache_file_inline(struct cache *cache, uint32_t file)
{
	cache->files.at[file].backed_pages = 0;
}

uint64_t cache_file_size(const struct cache *cache, uint32_t file)
{
	return cache->files.at[file].size_bytes;
}

uint64_t cache_file_count(const struct cache *cache)
{
	return cache->files.count - 1;
}

uint32_t cache_name_add(struct cache *cache, uint32_t parent, uint32_t file, uint32_t name_bytes)
{
	struct cache_name *name = array_push(&cache->names);

	name->parent = parent;
	name->file = file;
	if (file)
		cache->files.at[file].links++;
	name->name_bytes = (uint8_t)(name_bytes < 255 ? name_bytes : 255);
	return (uint32_t)(cache->names.count - 1);
}

void cache_name_bind(struct cache *cache, uint32_t name, uint32_t file)
{
	assert(!(cache->names.at[name].state & NAME_CACHED) && cache->names.at[name].file == 0);
	cache->names.at[name].file = file;
	cache->files.at[file].links++;
}

/* ---- who and when ---- */

void cache_stream(struct cache *cache, uint32_t stream)
{
	assert(stream < CACHE_STREAMS);
	cache->stream = stream;
	cache->counted = &cache->streams[stream];
	if (stream >= cache->stream_count)
		cache->stream_count = stream + 1;
}

uint32_t cache_stream_of(const struct cache *cache)
{
	return cache->stream;
}

bool cache_clock(struct cache *cache, uint64_t now_ns, struct cache_plan *plan)
{
	if (now_ns > cache->now_ns)
		cache->now_ns = now_ns;
	if (cache->rules.lazy_statistics && !cache->domain.publishing_is_told &&
	    cache->now_ns - cache->domain.published_ns >= PUBLISH_SECONDS * NS_PER_SECOND)
		cache_publish(cache);
	return writeback_balance(cache, plan);
}

/*
 * The experiments that call themselves fresh read memory.stat every so many operations; reclaim
 * sees nothing newer (mem_cgroup_flush_stats_ratelimited(), 6.12).
 */
void cache_operation(struct cache *cache)
{
	cache->op_count++;
	slab_settle(cache, false);
	if (cache->rules.statistics_ops == 0 || cache->rules.lazy_statistics ||
	    ++cache->unpublished_ops < cache->rules.statistics_ops)
		return;
	cache->unpublished_ops = 0;
	cache_publish(cache);
}

/* ---- open files ---- */

void cache_open_pay(struct cache *cache)
{
	cache_enter(cache, ALLOCATION_DENTRY);
	slab_charge(cache, cache->rules.open_file_bytes);
}

uint32_t cache_open(struct cache *cache, uint32_t file)
{
	uint32_t handle = cache->free_open;

	if (handle)
		cache->free_open = cache->opens.at[handle].next_free;
	else
		handle = (uint32_t)((void)array_push(&cache->opens), cache->opens.count - 1);
	cache->opens.at[handle] = (struct open_file){
		.file = file,
		.last_pos = UINT64_MAX,
		.prev_pos = UINT64_MAX,
		.window = cache->readahead_pages,
	};
	cache->files.at[file].references++;
	return handle;
}

void cache_close(struct cache *cache, uint32_t handle)
{
	uint32_t file = cache->opens.at[handle].file;

	if (cache->opens.at[handle].map_end > 0)
		cache_unmap(cache, handle);
	cache->opens.at[handle].next_free = cache->free_open;
	cache->free_open = handle;
	file_reference_put(cache, file);
	/* Up to 6.6 the memory comes back by RCU, many at a time. */
	if (!cache->rules.open_file_late) {
		slab_charge(cache, -(int64_t)cache->rules.open_file_bytes);
	} else if (++cache->closed_files >= CLOSED_FILES_BATCH) {
		slab_charge(cache, -(int64_t)cache->rules.open_file_bytes * cache->closed_files);
		cache->closed_files = 0;
	}
}

bool cache_file_is_held(const struct cache *cache, uint32_t file)
{
	return cache->files.at[file].references > 0;
}

void cache_read_outside(struct cache *cache, uint64_t bytes)
{
	cache_counted(cache)->read_bytes += bytes;
}

void cache_write_outside(struct cache *cache, uint64_t bytes)
{
	cache_counted(cache)->write_bytes += bytes;
}

void cache_count_own(struct cache *cache, uint64_t pages, uint64_t missed_pages,
		     uint64_t reread_bytes)
{
	cache_counted(cache)->page_accesses += pages;
	cache_counted(cache)->page_misses += missed_pages;
	cache_counted(cache)->reread_bytes += reread_bytes;
}

uint64_t cache_memory_bytes(const struct cache *cache)
{
	return bytes_from_pages(cache->domain.limit_pages) + cache->pinned_bytes;
}

/* ---- counters ---- */

void cache_counters(const struct cache *cache, uint32_t stream, struct counters *counters)
{
	if (stream != 0) {
		*counters = cache->streams[stream];
		return;
	}
	*counters = (struct counters){0};
	for (uint32_t i = 0; i < cache->stream_count; i++) {
#define COUNTER(name, unit, meaning) counters->name += cache->streams[i].name;
#define LEVEL(name, unit, meaning)
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
	}
	counters->active_file_pages = cache->domain.list_pages[LIST_ACTIVE];
	counters->inactive_file_pages = cache->domain.list_pages[LIST_INACTIVE];
	counters->dirty_pages = cache->domain.dirty_pages;
	counters->slab_bytes = cache->domain.slab_bytes;
	counters->pinned_bytes = cache->pinned_bytes + bytes_from_pages(cache->domain.held_pages);
}

uint64_t cache_blame(const struct cache *cache, uint32_t victim, uint32_t evictor)
{
	return cache->blame[victim * CACHE_STREAMS + evictor];
}

uint32_t cache_stream_count(const struct cache *cache)
{
	return cache->stream_count;
}

uint64_t cache_resident_pages(const struct cache *cache, uint32_t file)
{
	return cache->files.at[file].resident_pages;
}

void cache_memory_parts(const struct cache *cache, uint64_t *record_bytes, uint64_t *index_bytes,
			uint64_t *index_entries, uint64_t *resident_pages,
			uint64_t *remembered_pages)
{
	*resident_pages =
		cache->domain.list_pages[LIST_INACTIVE] + cache->domain.list_pages[LIST_ACTIVE];
	*record_bytes = cache->page_count * sizeof(struct page) +
			(uint64_t)cache->page_count * cache->policy->slot_bytes +
			(cache->queue.marks ? cache->page_count / 8 : 0);
	*index_bytes = cache->index.node_count * (sizeof(struct node) + sizeof(struct node_head)) +
		       (cache->index.bucket_mask + UINT64_C(1)) * sizeof(uint32_t);
	*index_entries = (uint64_t)cache->index.used_count * NODE_PAGES;
	*remembered_pages = 0;
	for (uint32_t node = 1; node < cache->index.node_count; node++)
		for (uint32_t i = 0; i < NODE_PAGES; i++)
			*remembered_pages += index_node(&cache->index, node)->high[i] != 0;
}

/* ---- invariants ---- */

static void check_lists(const struct cache *cache)
{
	uint64_t folios = 0, pages_in_lists = 0;

	if (cache->policy->use) {
		cache_queue_check(cache);
		pages_in_lists = cache->domain.list_pages[LIST_INACTIVE];
	} else if (cache->policy->lists) {
		cache->policy->lists->check(cache);
		pages_in_lists = cache->domain.list_pages[LIST_INACTIVE] +
				 cache->domain.list_pages[LIST_ACTIVE];
	}
	for (uint32_t list = 0; list < LIST_COUNT && !cache->policy->use && !cache->policy->lists;
	     list++) {
		uint64_t pages = 0;

		for (uint32_t slot = cache->queue.pages[list].next; slot != list;
		     slot = cache->queue.pages[slot].next) {
			const struct page *page = &cache->queue.pages[slot];

			assert(cache->queue.pages[page->next].prev == slot &&
			       cache->queue.pages[page->prev].next == slot);
			assert(!(page->bits & PAGE_ACTIVE) == (list == LIST_INACTIVE));
			assert((page->bits & PAGE_OFFSET_MASK) % (page_count(page) < NODE_PAGES
									  ? page_count(page)
									  : NODE_PAGES) ==
			       0);
			pages += page_count(page);
			folios++;
		}
		assert(pages == cache->domain.list_pages[list]);
		pages_in_lists += pages;
	}
	(void)folios;
	if (cache->is_bare)
		assert(cache->domain.usage_pages == pages_in_lists);
	else
		assert(cache->domain.usage_pages ==
		       pages_in_lists + cache->domain.slab_pages + cache->domain.held_pages +
			       cache->domain.stock_pages + cache->domain.arc_pages);
	assert(bytes_from_pages(cache->domain.slab_pages) ==
	       cache->domain.slab_bytes + cache->domain.object_stock_bytes +
		       cache->domain.object_left_bytes);
}

static void check_file(const struct cache *cache, uint32_t id, uint64_t *dirty,
		       uint64_t *shadow_nodes)
{
	const struct cache_file *file = &cache->files.at[id];
	uint64_t resident = 0, live = 0, file_dirty = 0;

	for (uint32_t node = file->node_first; node; node = cache->index.heads[node].next_node) {
		const struct node *at = index_node(&cache->index, node);
		const struct node_head *head = &cache->index.heads[node];
		uint32_t here = 0, shadows = 0;

		assert(head->file == id);
		assert(index_find(&cache->index, id, head->chunk) == node);
		if (head->chunk < file->run_chunks)
			assert(file->run_node + head->chunk == node);
		if (head->chunk < file->directory_chunks)
			assert(file->directory[head->chunk] == node);
		for (uint32_t i = 0; i < NODE_PAGES; i++) {
			if (at->low[i] & LOW_RESIDENT) {
				const struct page *page =
					&cache->queue.pages[at->low[i] & LOW_MASK];
				uint64_t index = ((uint64_t)head->chunk << NODE_SHIFT) + i;

				assert(at->high[i] == 0);
				assert(page_file(cache, page) == id);
				assert(!(page->bits & PAGE_DROPBEHIND &&
					 page->bits & PAGE_ALLOCATES) ||
				       page->bits & (PAGE_DIRTY | PAGE_WRITEBACK));
				assert(index >= page_index_of(cache, page) &&
				       index < page_index_of(cache, page) + page_count(page));
				here++;
			} else {
				assert(!(head->dirty >> i & 1));
				assert(!(at->high[i] & (HIGH_SHADOW | HIGH_GHOST)) ||
				       at->high[i] & HIGH_EVICTED);
				shadows += (at->high[i] & HIGH_SHADOW) != 0;
			}
		}
		assert(here == head->resident_pages && shadows == head->shadow_count);
		assert((here + shadows > 0) == (head->charged != NODE_NOT_LIVE));
		assert((here == 0 && shadows > 0 && head->charged == NODE_LIVE_CHARGED) ==
		       !!(head->lists & NODE_ON_SHADOW_LIST));
		assert(!head->dirty || head->lists & NODE_ON_DIRTY_CHAIN);
		resident += here;
		live += head->charged == NODE_LIVE_CHARGED;
		*shadow_nodes += here == 0 && shadows > 0 && head->charged == NODE_LIVE_CHARGED;
		file_dirty += (uint64_t)__builtin_popcountll(head->dirty);
	}
	assert(resident == file->resident_pages && live == file->node_live);
	assert(!file_dirty || file->state & FILE_DIRTY);
	*dirty += file_dirty;
}

static void check_links(const struct cache *cache)
{
	uint32_t *links = memory_alloc(cache->files.count, sizeof(*links));

	for (uint32_t id = 1; id < cache->names.count; id++)
		links[cache->names.at[id].file]++;
	for (uint32_t id = 1; id < cache->files.count; id++)
		assert(links[id] == cache->files.at[id].links);
	memory_free(links);
}

void cache_check(const struct cache *cache)
{
	uint64_t dirty = 0, shadow_nodes = 0, inodes = 0, dentries = 0;

	check_lists(cache);
	for (uint32_t id = 1; id < cache->files.count; id++)
		check_file(cache, id, &dirty, &shadow_nodes);
	assert(dirty == cache->domain.dirty_pages && shadow_nodes == cache->domain.shadow_nodes);
	for (uint32_t id = cache->inode_lru.first; id; id = cache->files.at[id].lru_next) {
		assert(cache->files.at[id].state & FILE_ON_LRU &&
		       cache->files.at[id].state & FILE_CACHED);
		inodes++;
	}
	for (uint32_t id = cache->dentry_lru.first; id; id = cache->names.at[id].lru_next) {
		assert(cache->names.at[id].state & NAME_ON_LRU &&
		       cache->names.at[id].state & NAME_CACHED);
		dentries++;
	}
	assert(inodes == cache->inode_lru.count && dentries == cache->dentry_lru.count);
	check_links(cache);
	for (uint32_t id = 1; id < cache->names.count; id++) {
		const struct cache_name *name = &cache->names.at[id];

		if (name->state & NAME_CACHED && name->parent)
			assert(cache->names.at[name->parent].references > 0);
		if (name->state & NAME_CACHED && name->references == 0)
			assert(name->state & NAME_ON_LRU);
	}
}
