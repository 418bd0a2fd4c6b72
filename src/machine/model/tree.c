#include "machine/model/tree.h"

#include <string.h>

#include "cache/cache.h"

static uint32_t name_hash(const char *name, size_t bytes)
{
	uint32_t hash = 2166136261u; /* FNV-1a: spreads names over a directory's blocks */

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static uint32_t bucket_of(const struct tree *tree, uint32_t parent, uint32_t hash)
{
	return (uint32_t)(((uint64_t)hash << 32 | parent) * 0x9e3779b97f4a7c15u >> 32) &
	       tree->bucket_mask;
}

static void bucket_put(struct tree *tree, uint32_t node)
{
	uint32_t at = bucket_of(tree, tree->nodes.at[node].parent, tree->nodes.at[node].hash);

	while (tree->buckets[at])
		at = (at + 1) & tree->bucket_mask;
	tree->buckets[at] = node;
}

void tree_init(struct tree *tree, struct cache *cache)
{
	*tree = (struct tree){.cache = cache, .bucket_mask = 1023};
	tree->buckets = memory_alloc(tree->bucket_mask + 1, sizeof(*tree->buckets));
	*array_push(&tree->nodes) =
		(struct tree_node){.parent = TREE_NONE, .text = "", .is_directory = true};
	tree->nodes.at[TREE_ROOT].file = cache_file_add(cache, 0, CACHE_FILE_DIRECTORY);
}

void tree_deinit(struct tree *tree)
{
	memory_free(tree->buckets);
	array_deinit(&tree->nodes);
	array_deinit(&tree->by_path);
}

static void bucket_remove(struct tree *tree, uint32_t node)
{
	uint32_t hole = bucket_of(tree, tree->nodes.at[node].parent, tree->nodes.at[node].hash);

	while (tree->buckets[hole] != node)
		hole = (hole + 1) & tree->bucket_mask;
	tree->buckets[hole] = 0;
	for (uint32_t at = (hole + 1) & tree->bucket_mask; tree->buckets[at];
	     at = (at + 1) & tree->bucket_mask) {
		const struct tree_node *moved = &tree->nodes.at[tree->buckets[at]];
		uint32_t home = bucket_of(tree, moved->parent, moved->hash);

		if (((at - home) & tree->bucket_mask) >= ((at - hole) & tree->bucket_mask)) {
			tree->buckets[hole] = tree->buckets[at];
			tree->buckets[at] = 0;
			hole = at;
		}
	}
}

static uint32_t node_get(struct tree *tree, uint32_t parent, const char *name, size_t bytes)
{
	uint32_t hash = name_hash(name, bytes), node;

	for (uint32_t at = bucket_of(tree, parent, hash); (node = tree->buckets[at]) != 0;
	     at = (at + 1) & tree->bucket_mask) {
		const struct tree_node *found = &tree->nodes.at[node];

		if (found->parent == parent && found->hash == hash && found->name_bytes == bytes &&
		    memcmp(found->text, name, bytes) == 0)
			return node;
	}
	node = (uint32_t)tree->nodes.count;
	*array_push(&tree->nodes) = (struct tree_node){
		.text = name,
		.parent = parent,
		.name = cache_name_add(tree->cache, tree->nodes.at[parent].name, 0,
				       (uint32_t)bytes),
		.hash = hash,
		.name_bytes = (uint16_t)bytes,
		.next_below = tree->nodes.at[parent].first_below,
	};
	tree->nodes.at[parent].first_below = node;
	if (tree->nodes.count * 2 > tree->bucket_mask) {
		memory_free(tree->buckets);
		tree->bucket_mask = tree->bucket_mask * 2 + 1;
		tree->buckets = memory_alloc((size_t)tree->bucket_mask + 1, sizeof(*tree->buckets));
		for (uint32_t i = 1; i < tree->nodes.count; i++)
			if (!tree->nodes.at[i].is_orphan)
				bucket_put(tree, i);
	} else {
		bucket_put(tree, node);
	}
	return node;
}

/*
 * The path's first `bytes`: "a//b", "./a" and "a/../b" are what they seem, "/a" is in the root, and
 * so is "../a", since the root is its own parent.
 */
static uint32_t resolve(struct tree *tree, const char *text, size_t bytes)
{
	uint32_t node = TREE_ROOT;

	for (size_t at = 0; at < bytes;) {
		size_t end = at;

		while (end < bytes && text[end] != '/')
			end++;
		if (end == at + 2 && text[at] == '.' && text[at + 1] == '.')
			node = node == TREE_ROOT ? TREE_ROOT : tree->nodes.at[node].parent;
		else if (end > at && !(end == at + 1 && text[at] == '.'))
			node = node_get(tree, node, text + at, end - at);
		at = end + 1;
	}
	return node;
}

uint32_t tree_resolve(struct tree *tree, uint32_t path, const char *text)
{
	size_t bytes, name;
	uint32_t node;

	while (tree->by_path.count <= path)
		*array_push(&tree->by_path) = 0;
	if (tree->by_path.at[path])
		return tree->by_path.at[path] - 1;
	bytes = strlen(text);
	for (name = bytes; name > 0 && text[name - 1] != '/'; name--)
		;
	/* Most paths share their directory with the one before. */
	if (!tree->last_path || name != tree->last_parent_bytes ||
	    memcmp(text, tree->last_path, name) != 0) {
		tree->last_parent = resolve(tree, text, name);
		tree->last_path = text;
		tree->last_parent_bytes = name;
	}
	if (name == bytes || text[name] == '.')
		node = resolve(tree, text, bytes); /* may be ".", "..", or a name like any other */
	else
		node = node_get(tree, tree->last_parent, text + name, bytes - name);
	tree->by_path.at[path] = node + 1;
	return node;
}

static void entry_add(struct tree *tree, uint32_t id)
{
	struct tree_node *node = &tree->nodes.at[id], *parent = &tree->nodes.at[node->parent];

	node->position = parent->entries++;
	parent->entry_text_bytes += node->name_bytes;
}

static void entry_remove(struct tree *tree, uint32_t id)
{
	struct tree_node *node = &tree->nodes.at[id], *parent = &tree->nodes.at[node->parent];

	parent->entries--;
	parent->entry_text_bytes -= node->name_bytes;
}

uint32_t tree_add_file(struct tree *tree, uint32_t id, uint64_t size_bytes, bool is_directory,
		       bool is_sparse)
{
	struct tree_node *node = &tree->nodes.at[id];

	node->file = cache_file_add(tree->cache, size_bytes,
				    (is_directory ? CACHE_FILE_DIRECTORY : 0u) |
					    (is_sparse ? CACHE_FILE_SPARSE : 0u));
	node->is_directory = is_directory;
	node->is_sparse = is_sparse;
	node->is_symlink = false;
	node->entries = 0;
	node->entry_text_bytes = 0;
	node->layout = 0;
	node->is_made = false;
	entry_add(tree, id);
	return node->file;
}

void tree_link_cold(struct tree *tree, uint32_t id, uint64_t size_bytes, bool is_directory,
		    bool is_sparse)
{
	uint32_t file = tree_add_file(tree, id, size_bytes, is_directory, is_sparse);

	cache_name_bind(tree->cache, tree->nodes.at[id].name, file);
}

/* The one before it in the ring of its file's names. */
static struct tree_node *name_before(struct tree *tree, uint32_t id)
{
	uint32_t before = tree->nodes.at[id].next_name;

	while (tree->nodes.at[before].next_name != id)
		before = tree->nodes.at[before].next_name;
	return &tree->nodes.at[before];
}

void tree_add_name(struct tree *tree, uint32_t id, uint32_t of_id)
{
	struct tree_node *node = &tree->nodes.at[id], *of = &tree->nodes.at[of_id];

	node->file = of->file;
	node->inode = of->inode;
	node->layout = of->layout;
	node->is_directory = false;
	node->is_sparse = of->is_sparse;
	node->is_symlink = of->is_symlink;
	node->is_made = of->is_made;
	node->next_name = of->next_name ? of->next_name : of_id;
	of->next_name = id;
	entry_add(tree, id);
}

static void name_remove(struct tree *tree, uint32_t id)
{
	struct tree_node *node = &tree->nodes.at[id], *before;

	if (!node->next_name)
		return;
	before = name_before(tree, id);
	before->next_name = node->next_name;
	if (&tree->nodes.at[before->next_name] == before)
		before->next_name = 0;
	node->next_name = 0;
}

void tree_move_file(struct tree *tree, uint32_t from_id, uint32_t to_id)
{
	struct tree_node *from = &tree->nodes.at[from_id], *to = &tree->nodes.at[to_id];

	to->next_name = from->next_name;
	if (from->next_name)
		name_before(tree, from_id)->next_name = to_id;
	from->next_name = 0;
	to->file = from->file;
	to->inode = from->inode;
	to->layout = from->layout;
	to->is_sparse = from->is_sparse;
	to->is_directory = from->is_directory;
	to->is_symlink = from->is_symlink;
	to->is_made = from->is_made;
	to->opens = from->opens;
	from->opens = (struct open_list){0};
	entry_add(tree, to_id);
	entry_remove(tree, from_id);
	from->file = 0;
}

/* Out of the names of its directory. */
static void below_remove(struct tree *tree, uint32_t id)
{
	struct tree_node *node = &tree->nodes.at[id];
	uint32_t *link = &tree->nodes.at[node->parent].first_below;

	while (*link != id)
		link = &tree->nodes.at[*link].next_below;
	*link = node->next_below;
}

void tree_move_directory(struct tree *tree, uint32_t from_id, uint32_t to_id)
{
	struct tree_node *from = &tree->nodes.at[from_id], *to = &tree->nodes.at[to_id];

	below_remove(tree, from_id);
	from->next_below = tree->nodes.at[to->parent].first_below;
	tree->nodes.at[to->parent].first_below = from_id;
	entry_remove(tree, from_id);
	bucket_remove(tree, from_id);
	bucket_remove(tree, to_id);
	to->is_orphan = true;
	from->parent = to->parent;
	from->text = to->text;
	from->name_bytes = to->name_bytes;
	from->hash = to->hash;
	bucket_put(tree, from_id);
	entry_add(tree, from_id);
	/* Paths that led here, or to what was at the new name, are to be looked up again. */
	for (size_t i = 0; i < tree->by_path.count; i++)
		tree->by_path.at[i] = 0;
	tree->last_path = NULL;
}

void tree_remove_file(struct tree *tree, uint32_t id)
{
	entry_remove(tree, id);
	name_remove(tree, id);
	tree->nodes.at[id].file = 0;
}
