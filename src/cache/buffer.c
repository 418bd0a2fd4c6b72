/*
 * buffer: metadata that a file system keeps in buffers of its own
 *
 * XFS's inode clusters and directory blocks, btrfs's tree nodes. A cgroup does not pay for them and
 * its pressure does not reach them; a whole machine's memory holds them, and a shrinker takes them
 * from the oldest on, each after as many rounds as its kind is worth. It does not ask whether the
 * file system may be entered. Source: Linux fs/xfs/xfs_buf.c, xfs_buftarg_isolate(),
 * xfs_buftarg_shrink_scan(); fs/xfs/libxfs/xfs_shared.h, XFS_INO_REF and XFS_DIR_BTREE_REF (2).
 */
#include <assert.h>

#include "cache/cache_private.h"

enum { ROUNDS = 2 };

static uint32_t bucket_of(const struct buffers *buffers, uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & buffers->bucket_mask;
}

static void bucket_put(struct buffers *buffers, uint32_t id)
{
	uint32_t at = bucket_of(buffers, buffers->all.at[id].key);

	while (buffers->buckets[at])
		at = (at + 1) & buffers->bucket_mask;
	buffers->buckets[at] = id;
}

static void bucket_remove(struct buffers *buffers, uint32_t id)
{
	uint32_t hole = bucket_of(buffers, buffers->all.at[id].key);

	while (buffers->buckets[hole] != id)
		hole = (hole + 1) & buffers->bucket_mask;
	buffers->buckets[hole] = 0;
	for (uint32_t at = (hole + 1) & buffers->bucket_mask; buffers->buckets[at];
	     at = (at + 1) & buffers->bucket_mask) {
		uint32_t home = bucket_of(buffers, buffers->all.at[buffers->buckets[at]].key);

		if (((at - home) & buffers->bucket_mask) >= ((at - hole) & buffers->bucket_mask)) {
			buffers->buckets[hole] = buffers->buckets[at];
			buffers->buckets[at] = 0;
			hole = at;
		}
	}
}

static uint32_t buffer_find(const struct buffers *buffers, uint64_t key)
{
	uint32_t id;

	for (uint32_t at = bucket_of(buffers, key); (id = buffers->buckets[at]) != 0;
	     at = (at + 1) & buffers->bucket_mask)
		if (buffers->all.at[id].key == key)
			return id;
	return 0;
}

void buffers_init(struct buffers *buffers)
{
	buffers->bucket_mask = 255;
	buffers->buckets = memory_alloc(buffers->bucket_mask + 1, sizeof(*buffers->buckets));
	(void)array_push(&buffers->all); /* ids begin at 1 */
}

void buffers_deinit(struct buffers *buffers)
{
	memory_free(buffers->buckets);
	array_deinit(&buffers->all);
}

static void list_append(struct buffers *buffers, uint32_t id)
{
	struct buffer *buffer = &buffers->all.at[id];

	buffer->prev = buffers->last;
	buffer->next = 0;
	if (buffers->last)
		buffers->all.at[buffers->last].next = id;
	else
		buffers->first = id;
	buffers->last = id;
	buffers->count++;
}

static void list_remove_first(struct buffers *buffers)
{
	uint32_t next = buffers->all.at[buffers->first].next;

	if (next)
		buffers->all.at[next].prev = 0;
	else
		buffers->last = 0;
	buffers->first = next;
	buffers->count--;
}

bool cache_buffer_use(struct cache *cache, uint64_t key, uint32_t bytes)
{
	struct buffers *buffers = &cache->buffers;
	uint32_t id = buffer_find(buffers, key);

	if (id) {
		buffers->all.at[id].rounds = ROUNDS;
		return true;
	}
	if (!cache->domain.is_cgroup) {
		cache_enter(cache, ALLOCATION_JOURNAL);
		slab_charge(cache, bytes);
	}
	id = buffers->free_id;
	if (id)
		buffers->free_id = buffers->all.at[id].next;
	else
		id = (uint32_t)((void)array_push(&buffers->all), buffers->all.count - 1);
	buffers->all.at[id] = (struct buffer){.key = key, .bytes = bytes, .rounds = ROUNDS};
	if (buffers->all.count * 2 > buffers->bucket_mask) {
		memory_free(buffers->buckets);
		buffers->bucket_mask = buffers->bucket_mask * 2 + 1;
		buffers->buckets =
			memory_alloc((size_t)buffers->bucket_mask + 1, sizeof(*buffers->buckets));
		for (uint32_t i = buffers->first; i; i = buffers->all.at[i].next)
			bucket_put(buffers, i);
	}
	bucket_put(buffers, id);
	list_append(buffers, id);
	return false;
}

uint64_t buffers_scan(struct cache *cache, uint64_t count)
{
	struct buffers *buffers = &cache->buffers;
	uint64_t freed = 0;

	while (count-- > 0 && buffers->first) {
		uint32_t id = buffers->first;
		struct buffer *buffer = &buffers->all.at[id];

		list_remove_first(buffers);
		if (buffer->rounds > 0) {
			buffer->rounds--;
			list_append(buffers, id);
			continue;
		}
		bucket_remove(buffers, id);
		if (!cache->domain.is_cgroup) /* which pays for none */
			slab_charge(cache, -(int64_t)buffer->bytes);
		buffer->next = buffers->free_id;
		buffers->free_id = id;
		freed++;
	}
	return freed;
}
