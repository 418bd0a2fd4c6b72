/*
 * tree: the names that exist in the model's file system, and what they stand for
 *
 * Nodes are numbered from 0, the root. A node is a name that was mentioned, whether a file is
 * behind it or not; a file with several names (hard links) is behind each of them. 80 bytes, apart
 * from its text.
 */
#ifndef REFAULT_MACHINE_MODEL_TREE_H
#define REFAULT_MACHINE_MODEL_TREE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct cache;

enum { TREE_ROOT = 0, TREE_NONE = UINT32_MAX };

/* Who has a file open: opens.h. */
struct open_list {
	uint32_t first;
	uint32_t id : 31; /* of what is hashed of it: another name's list may be of the same file */
	uint32_t is_hashed : 1;
};

struct tree_node {
	const char *text; /* its own name, name_bytes long, in the source's path table */
	uint32_t parent;
	uint32_t name; /* the cache's id of the directory entry; 0: the root's */
	uint32_t file; /* the cache's id of the inode; 0: nothing is here */
	struct open_list opens;
	uint32_t hash;     /* of the name */
	uint32_t inode;    /* the file system's number for it */
	uint32_t position; /* its place among its directory's entries, in order of creation */
	uint32_t entries;  /* directories: how many there are now */
	uint64_t entry_text_bytes; /* directories: length of all their names */
	uint32_t layout;           /* directories: the file system's own index */
	uint16_t name_bytes;
	bool is_directory;
	bool is_sparse;
	bool is_orphan; /* a renamed directory took its name: no path leads here */
	bool is_made;   /* during the run: what describes it was in memory when it was made */
	bool is_symlink;
	uint32_t next_name; /* of its file, in a ring; 0: the only one */
	/* all names ever mentioned in it, the last first, chained by next_below; 0 ends */
	uint32_t first_below, next_below;
};
static_assert(sizeof(struct tree_node) == 80, "a tree of millions of names is kept");

struct tree {
	ARRAY(struct tree_node) nodes;
	ARRAY(uint32_t) by_path; /* node + 1, by the source's path id; 0: not resolved yet */
	uint32_t *buckets;       /* node ids by hash of (parent, name); 0: empty */
	uint32_t bucket_mask;
	struct cache *cache;
	uint32_t last_parent; /* of the path resolved last, and the length of its text */
	const char *last_path;
	size_t last_parent_bytes;
};

void tree_init(struct tree *tree, struct cache *cache);
void tree_deinit(struct tree *tree);

/*
 * The node of this path (its text must stay valid), made if it is new, with those of its
 * directories.
 */
uint32_t tree_resolve(struct tree *tree, uint32_t path, const char *text);

/*
 * A file or directory appears at this node (and in its parent's entries). Returns the cache's file
 * id.
 */
uint32_t tree_add_file(struct tree *tree, uint32_t node, uint64_t size_bytes, bool is_directory,
		       bool is_sparse);
/* The same for a file that was there before: nothing of it is in memory. */
void tree_link_cold(struct tree *tree, uint32_t node, uint64_t size_bytes, bool is_directory,
		    bool is_sparse);
/* The file at `of` has another name, `node`. The cache's names are the caller's. */
void tree_add_name(struct tree *tree, uint32_t node, uint32_t of);
/* Another name of the node's file; TREE_NONE: it has no other. */
static inline uint32_t tree_other_name(const struct tree *tree, uint32_t node)
{
	return tree->nodes.at[node].next_name ? tree->nodes.at[node].next_name
					      : (uint32_t)TREE_NONE;
}
/*
 * The file at `from`, and who has it open, is at `to` now (where nothing is). The cache's names are
 * the caller's.
 */
void tree_move_file(struct tree *tree, uint32_t from, uint32_t to);
/*
 * The directory at `from`, with all in it, is at `to` now (where nothing is): `from` itself gets
 * to's name, and paths are resolved anew. The cache's name is the caller's.
 */
void tree_move_directory(struct tree *tree, uint32_t from, uint32_t to);
/* The node's name is gone from its directory; its file has this name no more. */
void tree_remove_file(struct tree *tree, uint32_t node);

static inline bool tree_exists(const struct tree *tree, uint32_t node)
{
	return tree->nodes.at[node].file != 0;
}

#endif
