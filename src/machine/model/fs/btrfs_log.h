/*
 * btrfs_log: the tree that fsync writes
 *
 * What is fsynced is copied, item by item, into a tree of its own that lives until the transaction
 * commits; each fsync writes the nodes that it changed. This is that tree: real items in real leaves
 * of 16 KiB that are filled, pushed to their neighbours and split as btrfs does it, so that how many
 * nodes an fsync writes follows from what the ones before left. 24 bytes an item.
 */
#ifndef REFAULT_MACHINE_MODEL_FS_BTRFS_LOG_H
#define REFAULT_MACHINE_MODEL_FS_BTRFS_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct log_tree;

/* In the order of their keys. */
enum log_kind {
	LOG_INODE = 1,
	LOG_NAME_BACK = 12, /* the inode's name and directory */
	LOG_NAMES_RANGE = 72,
	LOG_NAME = 96, /* an entry of a directory, by its number */
	LOG_EXTENT = 108,
	LOG_CHECKSUM = 128,
};

struct log_tree *log_tree_create(void);
void log_tree_destroy(struct log_tree *tree);
/* The transaction committed: nothing is in it. */
void log_tree_empty(struct log_tree *tree);
/* An item is put there, or again; `bytes` without its header. */
void log_tree_put(struct log_tree *tree, uint32_t inode, enum log_kind kind, uint64_t offset,
		  uint32_t bytes);
/* Checksums of an extent, so many pages from this block on. */
void log_tree_checksums(struct log_tree *tree, uint64_t block, uint64_t pages);
/* How many nodes have changed since the last call. */
uint64_t log_tree_changed(struct log_tree *tree);
uint64_t log_tree_leaves(const struct log_tree *tree);
/* Walk everything and assert what must hold. */
void log_tree_check(const struct log_tree *tree);

#endif
