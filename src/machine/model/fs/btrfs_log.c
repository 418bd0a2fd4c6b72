#include "machine/model/fs/btrfs_log.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/*
 * Source: Linux 6.18 fs/btrfs/ctree.c split_leaf(), push_leaf_left(), push_leaf_right();
 * file-item.c btrfs_csum_file_blocks().
 * Differs: 1. nodes above the leaves have 400 children each, in order
 *          2. pushed are as many items as fit on the other side of the new one
 */
enum {
	LEAF_BYTES = 16283,
	ITEM_BYTES = 25, /* an item's header */
	CHECKSUM_BYTES = 4,
	CHECKSUMS_MAX = 4057,    /* in one item */
	SUM_PAGES = 1016,        /* whose checksums come together: max_ordered_sum_bytes() */
	NODE_CHILDREN = 400,     /* of 493 */
	LAST_INODE = UINT32_MAX, /* checksums sort behind all inodes */
};

struct log_item {
	uint64_t offset;
	uint32_t inode;
	uint16_t bytes; /* header and all */
	uint8_t kind;
};

struct log_leaf {
	ARRAY(struct log_item) items;
	uint32_t bytes;
	bool is_changed;
};

struct log_tree {
	ARRAY(struct log_leaf *) leaves; /* in order */
	ARRAY(struct log_leaf *) unused;
};

static struct log_leaf *leaf_add(struct log_tree *tree, size_t at)
{
	struct log_leaf *leaf = tree->unused.count > 0 ? tree->unused.at[--tree->unused.count]
						       : memory_alloc(1, sizeof(*leaf));

	(void)array_push(&tree->leaves);
	memmove(&tree->leaves.at[at + 1], &tree->leaves.at[at],
		(tree->leaves.count - 1 - at) * sizeof(struct log_leaf *));
	tree->leaves.at[at] = leaf;
	leaf->items.count = 0;
	leaf->bytes = 0;
	leaf->is_changed = true;
	return leaf;
}

struct log_tree *log_tree_create(void)
{
	return memory_alloc(1, sizeof(struct log_tree));
}

void log_tree_empty(struct log_tree *tree)
{
	while (tree->leaves.count > 0)
		*array_push(&tree->unused) = tree->leaves.at[--tree->leaves.count];
}

void log_tree_destroy(struct log_tree *tree)
{
	if (!tree)
		return;
	log_tree_empty(tree);
	for (size_t i = 0; i < tree->unused.count; i++) {
		array_deinit(&tree->unused.at[i]->items);
		memory_free(tree->unused.at[i]);
	}
	array_deinit(&tree->leaves);
	array_deinit(&tree->unused);
	memory_free(tree);
}

uint64_t log_tree_leaves(const struct log_tree *tree)
{
	return tree->leaves.count;
}

static int compare(const struct log_item *one, const struct log_item *other)
{
	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* The last leaf that begins at or before the key; the first if none does. */
static size_t leaf_find(const struct log_tree *tree, const struct log_item *key)
{
	size_t low = 0, high = tree->leaves.count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (compare(&tree->leaves.at[middle]->items.at[0], key) <= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The first item at or after the key. */
static size_t slot_find(const struct log_leaf *leaf, const struct log_item *key)
{
	size_t low = 0, high = leaf->items.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare(&leaf->items.at[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void items_remove(struct log_leaf *leaf, size_t slot, size_t count)
{
	for (size_t i = slot; i < slot + count; i++)
		leaf->bytes -= leaf->items.at[i].bytes;
	memmove(&leaf->items.at[slot], &leaf->items.at[slot + count],
		(leaf->items.count - slot - count) * sizeof(struct log_item));
	leaf->items.count -= count;
	leaf->is_changed = true;
}

static void items_insert(struct log_leaf *leaf, size_t slot, const struct log_item *items,
			 size_t count)
{
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		(void)array_push(&leaf->items);
		leaf->bytes += items[i].bytes;
	}
	memmove(&leaf->items.at[slot + count], &leaf->items.at[slot],
		(leaf->items.count - count - slot) * sizeof(struct log_item));
	memcpy(&leaf->items.at[slot], items, count * sizeof(struct log_item));
	leaf->is_changed = true;
}

/* Items behind `slot` go to the neighbour on the right, as many as fit there. */
static void push_right(struct log_tree *tree, size_t at, size_t slot)
{
	struct log_leaf *leaf = tree->leaves.at[at], *right;
	size_t first = leaf->items.count;
	uint32_t bytes = 0;

	if (at + 1 >= tree->leaves.count)
		return;
	right = tree->leaves.at[at + 1];
	while (first > slot + 1 &&
	       right->bytes + bytes + leaf->items.at[first - 1].bytes <= LEAF_BYTES)
		bytes += leaf->items.at[--first].bytes;
	if (first == leaf->items.count)
		return;
	items_insert(right, 0, &leaf->items.at[first], leaf->items.count - first);
	items_remove(leaf, first, leaf->items.count - first);
}

/* Items before `slot` go to the left. Returns how many. */
static size_t push_left(struct log_tree *tree, size_t at, size_t slot)
{
	struct log_leaf *leaf = tree->leaves.at[at], *left;
	size_t count = 0;
	uint32_t bytes = 0;

	if (at == 0)
		return 0;
	left = tree->leaves.at[at - 1];
	while (count < slot && count + 1 < leaf->items.count &&
	       left->bytes + bytes + leaf->items.at[count].bytes <= LEAF_BYTES)
		bytes += leaf->items.at[count++].bytes;
	if (count == 0)
		return 0;
	items_insert(left, left->items.count, leaf->items.at, count);
	items_remove(leaf, 0, count);
	return count;
}

static uint64_t items_bytes(const struct log_leaf *leaf, size_t first, size_t end)
{
	uint64_t bytes = 0;

	for (; first < end; first++)
		bytes += leaf->items.at[first].bytes;
	return bytes;
}

/* Where a full leaf is cut: in the middle, unless what comes would fit in neither half. */
static size_t split_at(const struct log_leaf *leaf, size_t slot, uint32_t bytes, bool extends)
{
	size_t count = leaf->items.count, middle = (count + 1) / 2;

	if (middle <= slot) {
		if (count > 1 && items_bytes(leaf, middle, count) + bytes <= LEAF_BYTES)
			return middle;
		return slot;
	}
	if (items_bytes(leaf, 0, middle) + bytes <= LEAF_BYTES)
		return middle;
	return slot == 0 && extends ? 1 : slot;
}

/*
 * Make room for so many bytes at a slot, for an item that is new or longer; both may be elsewhere
 * then.
 */
static void room_make(struct log_tree *tree, size_t *at, size_t *slot, uint32_t bytes, bool extends)
{
	struct log_leaf *leaf = tree->leaves.at[*at], *right;
	size_t middle;

	while (leaf->bytes + bytes > LEAF_BYTES) {
		push_right(tree, *at, *slot);
		if (leaf->bytes + bytes <= LEAF_BYTES)
			return;
		*slot -= push_left(tree, *at, *slot);
		if (leaf->bytes + bytes <= LEAF_BYTES)
			return;
		middle = split_at(leaf, *slot, bytes, extends);
		right = leaf_add(tree, *at + 1);
		items_insert(right, 0, &leaf->items.at[middle], leaf->items.count - middle);
		items_remove(leaf, middle, leaf->items.count - middle);
		if (middle > 0 && *slot >= middle) {
			*slot -= middle;
			(*at)++;
			leaf = right;
		}
	}
}

static void item_put(struct log_tree *tree, const struct log_item *item)
{
	size_t at, slot;
	struct log_leaf *leaf;

	if (tree->leaves.count == 0)
		(void)leaf_add(tree, 0);
	at = leaf_find(tree, item);
	leaf = tree->leaves.at[at];
	slot = slot_find(leaf, item);
	if (slot < leaf->items.count && compare(&leaf->items.at[slot], item) == 0) {
		if (leaf->items.at[slot].bytes == item->bytes) {
			leaf->is_changed = true;
			return;
		}
		items_remove(leaf, slot, 1);
	}
	room_make(tree, &at, &slot, item->bytes, false);
	items_insert(tree->leaves.at[at], slot, item, 1);
}

void log_tree_put(struct log_tree *tree, uint32_t inode, enum log_kind kind, uint64_t offset,
		  uint32_t bytes)
{
	assert(bytes + ITEM_BYTES <= LEAF_BYTES);
	item_put(tree, &(struct log_item){.inode = inode,
					  .kind = (uint8_t)kind,
					  .offset = offset,
					  .bytes = (uint16_t)(bytes + ITEM_BYTES)});
}

/* The item of checksums that ends at `block`, if there is one that can take more. */
static bool checksums_before(struct log_tree *tree, uint64_t block, size_t *at, size_t *slot)
{
	struct log_item key = {.inode = LAST_INODE, .kind = LOG_CHECKSUM, .offset = block};
	const struct log_item *item;
	uint64_t count;

	if (tree->leaves.count == 0)
		return false;
	*at = leaf_find(tree, &key);
	*slot = slot_find(tree->leaves.at[*at], &key);
	if (*slot == 0)
		return false;
	item = &tree->leaves.at[*at]->items.at[--*slot];
	count = (item->bytes - (uint64_t)ITEM_BYTES) / CHECKSUM_BYTES;
	return item->inode == LAST_INODE && item->offset + count == block && count < CHECKSUMS_MAX;
}

/* The item takes some more, as its leaf has room, or is made to have. Returns how many. */
static uint64_t checksums_extend(struct log_tree *tree, size_t at, size_t slot, uint64_t pages)
{
	struct log_leaf *leaf = tree->leaves.at[at];
	uint64_t room = CHECKSUMS_MAX -
			(leaf->items.at[slot].bytes - (uint64_t)ITEM_BYTES) / CHECKSUM_BYTES;

	const struct log_item *item = &leaf->items.at[slot];
	uint64_t end = item->offset + (item->bytes - (uint64_t)ITEM_BYTES) / CHECKSUM_BYTES;

	if (pages > room)
		pages = room;
	/* Not beyond where the next one begins: what follows is there already. */
	if (item[1].inode == LAST_INODE && pages > item[1].offset - end)
		pages = item[1].offset > end ? item[1].offset - end : 1;
	if (leaf->bytes + CHECKSUM_BYTES > LEAF_BYTES)
		room_make(tree, &at, &slot, CHECKSUM_BYTES, true);
	leaf = tree->leaves.at[at];
	room = (LEAF_BYTES - leaf->bytes) / CHECKSUM_BYTES;
	if (pages > room)
		pages = room;
	leaf->items.at[slot].bytes += (uint16_t)(pages * CHECKSUM_BYTES);
	leaf->bytes += (uint32_t)(pages * CHECKSUM_BYTES);
	leaf->is_changed = true;
	return pages;
}

/*
 * They come in pieces as the tree of all checksums has them, whose items are as long as they can be.
 * Each is an item of its own: an item that is the last of its leaf is not extended in a log, and the
 * newest blocks are behind all others (btrfs_csum_file_blocks(), extend_csum).
 */
void log_tree_checksums(struct log_tree *tree, uint64_t block, uint64_t pages)
{
	while (pages > 0) {
		uint64_t some = pages < SUM_PAGES ? pages : SUM_PAGES,
			 left = CHECKSUMS_MAX - block % CHECKSUMS_MAX;
		size_t at, slot;

		if (pages > SUM_PAGES && some > left)
			some = left;
		if (checksums_before(tree, block, &at, &slot) &&
		    slot + 1 < tree->leaves.at[at]->items.count)
			some = checksums_extend(tree, at, slot, some);
		else
			log_tree_put(tree, LAST_INODE, LOG_CHECKSUM, block,
				     (uint32_t)some * CHECKSUM_BYTES);
		block += some;
		pages -= some;
	}
}

uint64_t log_tree_changed(struct log_tree *tree)
{
	uint64_t leaves = 0, parents = 0;
	size_t last_parent = SIZE_MAX;

	for (size_t i = 0; i < tree->leaves.count; i++) {
		if (!tree->leaves.at[i]->is_changed)
			continue;
		tree->leaves.at[i]->is_changed = false;
		leaves++;
		parents += i / NODE_CHILDREN != last_parent;
		last_parent = i / NODE_CHILDREN;
	}
	if (tree->leaves.count <= 1 || leaves == 0)
		return leaves;
	return leaves + parents + (tree->leaves.count > NODE_CHILDREN);
}

void log_tree_check(const struct log_tree *tree)
{
	const struct log_item *last = NULL;

	for (size_t i = 0; i < tree->leaves.count; i++) {
		const struct log_leaf *leaf = tree->leaves.at[i];

		assert(leaf->items.count > 0 && leaf->bytes <= LEAF_BYTES);
		assert(items_bytes(leaf, 0, leaf->items.count) == leaf->bytes);
		for (size_t slot = 0; slot < leaf->items.count; slot++) {
			assert(!last || compare(last, &leaf->items.at[slot]) < 0);
			last = &leaf->items.at[slot];
		}
	}
}
