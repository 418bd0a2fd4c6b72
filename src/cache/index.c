/*
 * index: (file, page) to node, by hashing (file, chunk)
 *
 * Linear probing at most half full, without tombstones: a removal moves later entries of its run
 * back. Heads are apart from the nodes and small, so that probing stays in the processor's
 * caches while the nodes do not fit there.
 */
#include <assert.h>

#include "cache/cache_private.h"

static uint32_t hash(uint32_t file, uint32_t chunk)
{
	uint64_t mixed = ((uint64_t)file << 32 | chunk) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(mixed >> 32) ^ (uint32_t)(mixed >> 12);
}

static uint32_t bucket_of(const struct index *index, uint32_t node)
{
	const struct node_head *head = &index->heads[node];

	return hash(head->file, head->chunk) & index->bucket_mask;
}

/* One block more. Block pointers and heads double; the nodes themselves never move. */
static void index_grow(struct index *index)
{
	uint32_t block = index->node_capacity / NODES_PER_BLOCK;

	if ((block & (block - 1)) == 0) {
		size_t blocks = block ? (size_t)block * 2 : 1;

		index->blocks = memory_resize(index->blocks, blocks, sizeof(*index->blocks));
		index->heads = memory_resize(index->heads, blocks * NODES_PER_BLOCK,
					     sizeof(*index->heads));
		memory_use_randomly(index->heads, blocks * NODES_PER_BLOCK * sizeof(*index->heads));
	}
	index->blocks[block] = memory_alloc(NODES_PER_BLOCK, sizeof(struct node));
	memory_use_randomly(index->blocks[block], NODES_PER_BLOCK * sizeof(struct node));
	index->node_capacity += NODES_PER_BLOCK;
}

void index_init(struct index *index)
{
	*index = (struct index){.node_count = 1, .bucket_mask = 1023};
	index->buckets = memory_alloc(index->bucket_mask + 1, sizeof(*index->buckets));
	/* Node 0 is none, and empty: it can be looked into without asking. */
	index_grow(index);
	index->heads[0] = (struct node_head){.chunk = UINT32_MAX};
}

void index_deinit(struct index *index)
{
	for (uint32_t i = 0; i < (index->node_capacity + NODES_PER_BLOCK - 1) / NODES_PER_BLOCK;
	     i++)
		memory_free(index->blocks[i]);
	memory_free(index->blocks);
	memory_free(index->heads);
	memory_free(index->buckets);
}

uint32_t index_find(const struct index *index, uint32_t file, uint32_t chunk)
{
	uint32_t at = hash(file, chunk) & index->bucket_mask, node;

	while ((node = index->buckets[at]) != 0) {
		const struct node_head *head = &index->heads[node];

		if (head->chunk == chunk && head->file == file)
			return node;
		at = (at + 1) & index->bucket_mask;
	}
	return 0;
}

static void bucket_put(struct index *index, uint32_t node)
{
	uint32_t at = bucket_of(index, node);

	while (index->buckets[at] != 0)
		at = (at + 1) & index->bucket_mask;
	index->buckets[at] = node;
}

static void buckets_double(struct index *index)
{
	uint32_t *old = index->buckets, old_count = index->bucket_mask + 1;

	assert(old_count < UINT32_C(1) << 31);
	index->bucket_mask = old_count * 2 - 1;
	index->buckets = memory_alloc((size_t)old_count * 2, sizeof(*index->buckets));
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i])
			bucket_put(index, old[i]);
	memory_free(old);
}

uint32_t index_insert(struct index *index, uint32_t file, uint32_t chunk)
{
	uint32_t node = index->free_node;

	if (node) {
		index->free_node = index->heads[node].next_node;
		*index_node(index, node) = (struct node){0};
	} else {
		assert(index->node_count < UINT32_C(1) << PAGE_NODE_BITS);
		node = index->node_count++;
		if (node >= index->node_capacity)
			index_grow(index);
	}
	index->heads[node] = (struct node_head){.file = file, .chunk = chunk};
	if (++index->used_count * 2 > index->bucket_mask)
		buckets_double(index);
	bucket_put(index, node);
	return node;
}

void index_remove(struct index *index, uint32_t node)
{
	uint32_t hole = bucket_of(index, node), at;

	while (index->buckets[hole] != node)
		hole = (hole + 1) & index->bucket_mask;
	index->buckets[hole] = 0;
	for (at = (hole + 1) & index->bucket_mask; index->buckets[at] != 0;
	     at = (at + 1) & index->bucket_mask) {
		uint32_t home = bucket_of(index, index->buckets[at]);

		/*
		 * May this entry live in the hole? Yes unless its home lies between the hole and
		 * it.
		 */
		if (((at - home) & index->bucket_mask) >= ((at - hole) & index->bucket_mask)) {
			index->buckets[hole] = index->buckets[at];
			index->buckets[at] = 0;
			hole = at;
		}
	}
	index->used_count--;
	index->heads[node].next_node = index->free_node;
	index->free_node = node;
}
