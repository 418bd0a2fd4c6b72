/*
 * slab: dentries and inodes, their lists, and the shrinkers that take them
 *
 * A cached dentry pins its inode and its parent; an inode with pages is pinned by them (5.16). What
 * is left goes through one LRU each, from the first to the last, with a second chance for what was
 * used again. How many are looked at is a matter of priority, debt and batches. Sources: Linux
 * fs/dcache.c, fs/inode.c, fs/super.c, mm/shrinker.c, mm/workingset.c; linux-caching.md section 6.
 */
#include <assert.h>
#include <stddef.h>

#include "cache/cache_private.h"

enum { SHRINK_BATCH_SUPER = 1024, SHRINK_BATCH = 128, SEEKS = 2 };

/* ---- lists of objects ---- */

#define OBJECT_LIST(what, type, array)                                                             \
	static void what##_list_append(struct cache *cache, struct object_list *list, uint32_t id) \
	{                                                                                          \
		struct type *object = &cache->array.at[id];                                        \
                                                                                                   \
		object->lru_prev = list->last;                                                     \
		object->lru_next = 0;                                                              \
		if (list->last)                                                                    \
			cache->array.at[list->last].lru_next = id;                                 \
		else                                                                               \
			list->first = id;                                                          \
		list->last = id;                                                                   \
		list->count++;                                                                     \
	}                                                                                          \
                                                                                                   \
	static void what##_list_remove(struct cache *cache, struct object_list *list, uint32_t id) \
	{                                                                                          \
		struct type *object = &cache->array.at[id];                                        \
                                                                                                   \
		if (object->lru_prev)                                                              \
			cache->array.at[object->lru_prev].lru_next = object->lru_next;             \
		else                                                                               \
			list->first = object->lru_next;                                            \
		if (object->lru_next)                                                              \
			cache->array.at[object->lru_next].lru_prev = object->lru_prev;             \
		else                                                                               \
			list->last = object->lru_prev;                                             \
		list->count--;                                                                     \
	}

OBJECT_LIST(name, cache_name, names)
OBJECT_LIST(file, cache_file, files)

/* ---- inodes ---- */

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

void inode_pages_arrive(struct cache *cache, uint32_t file)
{
	/* It stays listed until a scan meets it (LRU_REMOVED): nothing to do here. */
	(void)cache;
	(void)file;
}

static void pages_forget_all(struct cache *cache, uint32_t id);

/*
 * Dentries and inodes are freed by RCU (dentry_free(), destroy_inode(), xfs_inode_free()): after a
 * grace period, some 10 ms, the group gets their memory back. Until then what needs memory takes
 * pages. In operations, since traces' clocks are their own affair: a create and a close take about
 * 20 us together. Measured: in 256 MiB btrfs, the first calls at low priority free thousands of
 * objects and still 120 of 151 MiB of active pages go.
 */
enum { GRACE_OPERATIONS = 500 };

static void object_free(struct cache *cache, uint32_t bytes)
{
	if (cache->in_shrinker)
		cache->late_bytes[0] += bytes;
	else
		slab_charge(cache, -(int64_t)bytes);
}

void slab_settle(struct cache *cache, bool all)
{
	uint64_t bytes = cache->late_bytes[1];

	if (!all && cache->op_count - cache->late_op < GRACE_OPERATIONS)
		return;
	if (all)
		bytes += cache->late_bytes[0];
	cache->late_bytes[1] = all ? 0 : cache->late_bytes[0];
	cache->late_bytes[0] = 0;
	cache->late_op = cache->op_count;
	if (bytes > 0)
		slab_charge(cache, -(int64_t)bytes);
}

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

static void inode_allocate(struct cache *cache, uint32_t id, enum allocation allocation)
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

	for (uint32_t node = file->node_first; node; node = cache->index.keys[node].next_node) {
		uint64_t base = (uint64_t)cache->index.keys[node].chunk << NODE_SHIFT;
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
					at->shadow_count--;
				/*
				 * When the inode goes, we still know that the page was evicted;
				 * when the data goes, nothing.
				 */
				at->high[i] =
					pages_too ? 0 : (uint16_t)(at->high[i] & ~HIGH_SHADOW);
			}
			if (pages_too)
				at->stored &= ~(UINT64_C(1) << i);
		}
		node_account(cache, node);
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
		next = cache->index.keys[node].next_node;
		index_remove(&cache->index, node);
	}
	file->node_first = file->node_last = file->dirty_chain = 0;
	memory_free(file->directory);
	file->directory = NULL;
	file->directory_chunks = 0;
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

/* ---- dentries ---- */

static uint32_t dentry_bytes(const struct cache *cache, const struct cache_name *name)
{
	return cache->filesystem.dentry_bytes +
	       (name->name_bytes > cache->filesystem.inline_name_bytes
			? cache->filesystem.long_name_bytes
			: 0);
}

bool cache_name_cached(const struct cache *cache, uint32_t name)
{
	return cache->names.at[name].state & NAME_CACHED;
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

/* The last user let go: fs/dcache.c, dput(), retain_dentry(). */
static void dentry_to_lru(struct cache *cache, uint32_t id)
{
	struct cache_name *name = &cache->names.at[id];

	if (name->state & NAME_ON_LRU) {
		name->state |= NAME_REFERENCED;
		return;
	}
	name->state |= NAME_ON_LRU;
	if (cache->rules.referenced_on_first_use)
		name->state |= NAME_REFERENCED;
	name_list_append(cache, &cache->dentry_lru, id);
}

static void dentry_free(struct cache *cache, uint32_t id)
{
	struct cache_name *name = &cache->names.at[id];
	uint32_t parent = name->parent, file = name->file;

	if (name->state & NAME_ON_LRU)
		name_list_remove(cache, &cache->dentry_lru, id);
	name->state = 0;
	object_free(cache, dentry_bytes(cache, name));
	if (file)
		file_reference_put(cache, file);
	if (parent && --cache->names.at[parent].references == 0)
		dentry_to_lru(cache, parent);
}

static void dentry_allocate(struct cache *cache, uint32_t id)
{
	struct cache_name *name = &cache->names.at[id];

	if (name->state & NAME_CACHED)
		return;
	/* Held while it is being made, and so is its parent: reclaim must not take them. */
	name->references++;
	if (name->parent) {
		assert(cache->names.at[name->parent].state & NAME_CACHED);
		cache->names.at[name->parent].references++;
	}
	cache_enter(cache, ALLOCATION_DENTRY);
	slab_charge(cache, dentry_bytes(cache, name));
	name = &cache->names.at[id];
	name->state |= NAME_CACHED;
	name->stream = (uint16_t)cache->stream;
	name->references--;
	cache_counted(cache)->dentries_allocated++;
	if (name->file)
		cache->files.at[name->file].references++;
}

void cache_name_get(struct cache *cache, uint32_t id)
{
	dentry_allocate(cache, id);
	cache->names.at[id].references++;
	if (cache->names.at[id].file)
		inode_allocate(cache, cache->names.at[id].file, ALLOCATION_INODE_READ);
}

void cache_name_put(struct cache *cache, uint32_t id)
{
	struct cache_name *name = &cache->names.at[id];

	assert(name->references > 0);
	if (--name->references == 0 && name->state & NAME_CACHED)
		dentry_to_lru(cache, id);
}

void cache_name_use(struct cache *cache, uint32_t id)
{
	struct cache_name *name = &cache->names.at[id];

	/* The common case first: everything is there. */
	if (name->state & NAME_CACHED) {
		if (name->references == 0)
			dentry_to_lru(cache, id);
		return;
	}
	cache_name_get(cache, id);
	cache_name_put(cache, id);
}

void cache_name_link(struct cache *cache, uint32_t id, uint32_t file)
{
	struct cache_name *name = &cache->names.at[id];

	assert(name->file == 0 && name->state & NAME_CACHED && name->references > 0);
	name->file = file;
	cache->files.at[file].references++;
	inode_allocate(cache, file, ALLOCATION_INODE_MAKE);
}

void cache_name_unlink(struct cache *cache, uint32_t id)
{
	struct cache_name *name = &cache->names.at[id];
	uint32_t file = name->file;

	if (!file)
		return;
	/* The dentry stays, negative. fs/dcache.c, d_delete(). */
	name->file = 0;
	cache->files.at[file].state |= FILE_UNLINKED;
	if (name->state & NAME_CACHED)
		file_reference_put(cache, file);
	else
		inode_maybe_dies(cache, file);
}

void cache_name_rename(struct cache *cache, uint32_t from, uint32_t to)
{
	uint32_t file = cache->names.at[from].file;

	cache_name_get(cache, from);
	cache_name_get(cache, to);
	cache_name_unlink(cache, to);
	cache->names.at[to].file = file;
	cache->names.at[from].file = 0;
	/* The file's reference moves with its dentry. */
	cache_name_put(cache, to);
	cache_name_put(cache, from);
}

void cache_name_move(struct cache *cache, uint32_t id, uint32_t parent, uint32_t name_bytes)
{
	struct cache_name *name = &cache->names.at[id];
	uint32_t old = name->parent;
	int64_t before = dentry_bytes(cache, name);

	assert(name->state & NAME_CACHED && name->references > 0);
	if (parent)
		cache->names.at[parent].references++;
	name->parent = parent;
	name->name_bytes = (uint8_t)(name_bytes < 255 ? name_bytes : 255);
	slab_charge(cache, dentry_bytes(cache, name) - before);
	if (old && --cache->names.at[old].references == 0)
		dentry_to_lru(cache, old);
}

/* ---- the super block's shrinker: fs/super.c, super_cache_count(), super_cache_scan() ---- */

static uint64_t dentries_prune(struct cache *cache, uint64_t count)
{
	uint64_t freed = 0;

	while (count-- > 0 && cache->dentry_lru.first) {
		uint32_t id = cache->dentry_lru.first;
		struct cache_name *name = &cache->names.at[id];

		if (name->references > 0) {
			name_list_remove(cache, &cache->dentry_lru, id);
			name->state &= (uint8_t) ~(NAME_ON_LRU | NAME_REFERENCED);
		} else if (name->state & NAME_REFERENCED) {
			name->state &= (uint8_t)~NAME_REFERENCED;
			name_list_remove(cache, &cache->dentry_lru, id);
			name_list_append(cache, &cache->dentry_lru, id);
		} else {
			cache->streams[name->stream].dentries_evicted++;
			dentry_free(cache, id);
			freed++;
		}
	}
	return freed;
}

/*
 * Up to 5.15 an unused inode's clean pages were thrown away with it: fs/inode.c,
 * inode_lru_isolate().
 */
static void inode_steal_pages(struct cache *cache, uint32_t id)
{
	struct cache_file *file = &cache->files.at[id];

	for (uint32_t node = file->node_first; node; node = cache->index.keys[node].next_node) {
		struct node *at = index_node(&cache->index, node);

		for (uint32_t i = 0; i < NODE_PAGES && at->resident_pages > 0; i++) {
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

static uint64_t inodes_prune(struct cache *cache, struct scan *scan, uint64_t count)
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

static void lingering_free(struct cache *cache, uint64_t count)
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

uint32_t cache_transaction_blocks(const struct cache *cache)
{
	return cache->rules.transaction_blocks;
}

uint32_t cache_journal_blocks(const struct cache *cache)
{
	return cache->rules.journal_blocks;
}

uint64_t cache_shrinker_calls(const struct cache *cache)
{
	return cache->super_scans;
}

static uint64_t super_count(const struct cache *cache)
{
	uint64_t objects =
		cache->dentry_lru.count + cache->inode_lru.count + cache->lingering.count;

	return objects * cache->rules.vfs_cache_pressure / 100;
}

static uint64_t super_scan(struct cache *cache, struct scan *scan, uint64_t count)
{
	uint64_t dentries = cache->dentry_lru.count, inodes = cache->inode_lru.count;
	uint64_t objects = cache->lingering.count, total = dentries + inodes + objects + 1;
	uint64_t freed = dentries_prune(cache, count * dentries / total + 1);

	freed += inodes_prune(cache, scan, count * inodes / total + 1);
	if (objects)
		lingering_free(cache, count * objects / total + 1);
	cache->super_scans++;
	return freed;
}

/*
 * ---- index nodes that hold nothing but shadows: mm/workingset.c, count_shadow_nodes(),
 * shadow_lru_isolate() ----
 */

void shadow_list_add(struct cache *cache, uint32_t node)
{
	struct domain *domain = &cache->domain;
	struct node *at = index_node(&cache->index, node);

	at->lists |= NODE_ON_SHADOW_LIST;
	at->shadow_prev = domain->shadow_last;
	at->shadow_next = 0;
	if (domain->shadow_last)
		index_node(&cache->index, domain->shadow_last)->shadow_next = node;
	else
		domain->shadow_list = node;
	domain->shadow_last = node;
	domain->shadow_nodes++;
}

void shadow_list_remove(struct cache *cache, uint32_t node)
{
	struct domain *domain = &cache->domain;
	struct node *at = index_node(&cache->index, node);

	at->lists &= (uint8_t)~NODE_ON_SHADOW_LIST;
	if (at->shadow_prev)
		index_node(&cache->index, at->shadow_prev)->shadow_next = at->shadow_next;
	else
		domain->shadow_list = at->shadow_next;
	if (at->shadow_next)
		index_node(&cache->index, at->shadow_next)->shadow_prev = at->shadow_prev;
	else
		domain->shadow_last = at->shadow_prev;
	domain->shadow_nodes--;
}

static uint64_t shadow_count(const struct cache *cache)
{
	const struct domain *domain = &cache->domain;
	uint64_t pages = domain->list_pages[LIST_INACTIVE] + domain->list_pages[LIST_ACTIVE], kept;

	if (cache->rules.shadow_of_all)
		pages += domain->slab_pages;
	kept = pages >> cache->rules.shadow_shift;
	return domain->shadow_nodes > kept ? domain->shadow_nodes - kept : 0;
}

static uint64_t shadow_scan(struct cache *cache, struct scan *scan, uint64_t count)
{
	uint64_t freed = 0;

	(void)scan;
	while (count-- > 0 && cache->domain.shadow_list) {
		uint32_t node = cache->domain.shadow_list, file = cache->index.keys[node].file;
		struct node *at = index_node(&cache->index, node);

		for (uint32_t i = 0; i < NODE_PAGES; i++)
			at->high[i] &= (uint16_t)~HIGH_SHADOW;
		at->shadow_count = 0;
		node_account(cache, node);
		inode_pages_gone(cache, file);
		freed++;
	}
	return freed;
}

/* ---- buffers: buffer.c ---- */

static uint64_t buffers_count(const struct cache *cache)
{
	return cache->domain.is_cgroup ? 0 : cache->buffers.count;
}

static uint64_t buffers_shrink(struct cache *cache, struct scan *scan, uint64_t count)
{
	(void)scan;
	return buffers_scan(cache, count);
}

/*
 * ---- how many: mm/shrinker.c, do_shrink_slab(); mm/vmscan.c before 6.7 (6.5 of linux-caching.md)
 * ----
 */

static uint64_t scan_wanted(const struct cache *cache, const struct scan *scan, uint64_t freeable,
			    uint32_t seeks)
{
	if (seeks == 0)
		return freeable / 2;
	if (cache->rules.slab_by_priority)
		return (freeable >> scan->priority) * 4 / seeks;
	/* Up to 4.15: as large a part of the objects as of the pages, times 4 / seeks. */
	return (uint64_t)((unsigned __int128)(4 * scan->scanned_pages / seeks) * freeable /
			  (scan->eligible_pages + 1));
}

/* The shrinkers, in the order in which they are called. */
static const struct shrinker {
	uint32_t batch, seeks;
	bool enters_fs; /* refuses when it may not: all of it becomes debt */
	size_t debt;    /* where in the domain */
	uint64_t (*count)(const struct cache *cache);
	uint64_t (*scan)(struct cache *cache, struct scan *scan, uint64_t count);
} shrinkers[] = {
	{SHRINK_BATCH_SUPER, SEEKS, true, offsetof(struct domain, debt_super), super_count,
	 super_scan},
	{SHRINK_BATCH, 0, false, offsetof(struct domain, debt_shadow), shadow_count, shadow_scan},
	{SHRINK_BATCH, SEEKS, false, offsetof(struct domain, debt_buffers), buffers_count,
	 buffers_shrink},
};

static void shrink(struct cache *cache, struct scan *scan, const struct shrinker *shrinker)
{
	uint64_t *deferred = (uint64_t *)(void *)((char *)scan->domain + shrinker->debt);
	uint64_t freeable = shrinker->count(cache), debt = *deferred, delta, total, scanned = 0;

	if (freeable == 0)
		return;
	delta = scan_wanted(cache, scan, freeable, shrinker->seeks);
	if (cache->rules.slab_debt_scaled) {
		total = (debt >> scan->priority) + delta;
	} else {
		total = debt + delta;
		if (delta < freeable / 4 && total > freeable / 2)
			total = freeable / 2;
	}
	if (total > 2 * freeable)
		total = 2 * freeable;
	while (total > 0 && (total >= shrinker->batch || total >= freeable) &&
	       (scan->fs_allowed || !shrinker->enters_fs)) {
		uint64_t count = total < shrinker->batch ? total : shrinker->batch;

		cache->in_shrinker = shrinker->enters_fs;
		(void)shrinker->scan(cache, scan, count);
		cache->in_shrinker = false;
		total -= count;
		scanned += count;
	}
	debt = debt + delta > scanned ? debt + delta - scanned : 0;
	if (cache->rules.slab_debt_scaled && debt > 2 * freeable)
		debt = 2 * freeable;
	*deferred = debt;
}

void slab_shrink(struct cache *cache, struct scan *scan)
{
	uint64_t before = scan->domain->slab_pages;

	if (cache->is_bare)
		return;
	for (size_t i = 0; i < sizeof(shrinkers) / sizeof(shrinkers[0]); i++)
		shrink(cache, scan, &shrinkers[i]);
	/* Freed slab counts as reclaimed: always on a whole machine, in a cgroup up to 6.5. */
	if (scan->domain->slab_pages < before &&
	    (!scan->domain->is_cgroup || cache->rules.slab_counts))
		scan->reclaimed_pages += before - scan->domain->slab_pages;
}
