/*
 * dentry: names in memory
 *
 * A look-up takes a reference; when the last goes, the dentry is listed, or marked as used again if it
 * is there already. A cached dentry pins its directory's and its inode. Source: Linux fs/dcache.c,
 * dput(), retain_dentry(), d_delete(), d_move(), dentry_lru_isolate(); linux-caching.md 6.2.
 */
#include <assert.h>

#include "cache/object_list.h"

OBJECT_LIST(name, cache_name, names)

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
	cache->files.at[file].links++;
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
	if (--cache->files.at[file].links == 0)
		cache->files.at[file].state |= FILE_UNLINKED;
	if (name->state & NAME_CACHED)
		file_reference_put(cache, file);
	else
		inode_maybe_dies(cache, file);
}

void cache_name_drop(struct cache *cache, uint32_t id)
{
	if (cache->names.at[id].state & NAME_CACHED && cache->names.at[id].references == 0)
		dentry_free(cache, id);
}

bool cache_name_is_all(const struct cache *cache, uint32_t id)
{
	const struct cache_name *name = &cache->names.at[id];
	const struct cache_file *file = &cache->files.at[name->file];

	return file->links == 1 && file->references == (name->state & NAME_CACHED ? 1 : 0);
}

bool cache_file_is_dead(const struct cache *cache, uint32_t file)
{
	return cache->files.at[file].state & FILE_DEAD;
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

/* ---- the shrinker's part ---- */

uint64_t dentries_prune(struct cache *cache, uint64_t count)
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
