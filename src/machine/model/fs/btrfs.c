/*
 * btrfs: copy on write, metadata in tree nodes of 16 KiB
 *
 * Idea       Inodes, names and checksums are items of B-trees whose nodes are read whole, once,
 *            into a mapping that the cgroup does not pay for. Folios are single pages. Allocating
 *            an inode comes before the transaction and may enter the file system, so every create's
 *            reclaim can shrink dentries and inodes: slabs stay small.
 * Source     Linux 6.18, measured (directories of 100 to 60 000 files; files of 10 MiB to 1 GiB;
 *            create storms)
 * Differs    1. unless time is kept, commits and their writes are not modelled but for the nodes
 *               that creates dirty
 *            2. items are spread evenly. Up to 250 entries a directory's items and its files' lie
 *               together in the tree: 330 + 3 names a file, nodes 86 % less a third of a name's
 *               length full (84 with 5 letters, 78 with 24). Larger: 220 + name an inode apart from
 *               55 + name an entry with nodes 86 % full. Data adds 78 to a file's items (nodes then
 *               72 % full: they come later, between the others), or itself, when it is inline (to
 *               2048 bytes; 91 %)
 *            3. unless time is kept, data is written in place as far as the cache can tell: what
 *               copy on write costs is metadata that is not counted here
 */
#include "machine/model/fs/btrfs_private.h"

enum what { WHAT_INODES, WHAT_ENTRIES, WHAT_CHECKSUMS, WHAT_LISTED };

static void node_use(struct filesystem_mount *mount, enum what what, uint32_t which,
		     uint64_t number, bool make)
{
	uint64_t key = (uint64_t)what << 61 | (uint64_t)which << 29 | number;

	if (!cache_buffer_use(mount->cache, key, NODE_BYTES) && !make)
		mount_read(mount, mount->state->time ? btrfs_node_offset(mount->state, key) : 0,
			   NODE_BYTES);
}

static uint64_t data_item_bytes(const struct filesystem_mount *mount, const struct tree_node *at)
{
	uint64_t size = at->file && !at->is_directory ? cache_file_size(mount->cache, at->file) : 0;

	return size == 0                   ? 0
	       : size <= INLINE_FILE_BYTES ? INLINE_ITEM_BYTES + size
					   : DATA_ITEM_BYTES;
}

static uint64_t small_fill_percent(const struct tree_node *directory)
{
	uint64_t less =
		directory->entries ? directory->entry_text_bytes / directory->entries / 3 : 0;

	return SMALL_FILL_PERCENT - (less < SMALL_FILL_PERCENT / 2 ? less : SMALL_FILL_PERCENT / 2);
}

static void mount_trees(struct filesystem_mount *mount, bool is_nodatacow)
{
	struct tree *tree = mount->tree;
	struct filesystem_state *fs = memory_alloc(1, sizeof(*fs));
	uint64_t start = 0;

	mount->state = fs;
	(void)array_push(&fs->directories);
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		struct tree_node *at = &tree->nodes.at[node], *parent;

		if (node == TREE_ROOT || !tree_exists(tree, node))
			continue;
		parent = &tree->nodes.at[at->parent];
		if (parent->layout == 0) {
			(void)array_push(&fs->directories);
			parent->layout = (uint32_t)(fs->directories.count - 1);
		}
		fs->directories.at[parent->layout].data_bytes += data_item_bytes(mount, at);
		if (!at->is_directory &&
		    cache_file_size(mount->cache, at->file) <= INLINE_FILE_BYTES)
			cache_file_inline(mount->cache, at->file);
	}
	fs->is_one_leaf = true;
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		const struct tree_node *at = &tree->nodes.at[node];

		if (at->layout != 0 && at->entries > SMALL_ENTRIES)
			fs->is_one_leaf = false;
		if (at->layout == 0 || at->entries > SMALL_ENTRIES)
			continue;
		fs->directories.at[at->layout].start = start;
		start += (at->entries * SMALL_ITEM_BYTES + 3 * at->entry_text_bytes +
			  fs->directories.at[at->layout].data_bytes) *
			 100 / small_fill_percent(at);
	}
	fs->is_one_leaf &= start < NODE_USABLE_BYTES;
	if (mount->io)
		btrfs_data_mount(mount, is_nodatacow);
}

static void btrfs_mount(struct filesystem_mount *mount)
{
	mount_trees(mount, false);
}

static void btrfs_mount_nodatacow(struct filesystem_mount *mount)
{
	mount_trees(mount, true);
}

static void btrfs_unmount(struct filesystem_mount *mount)
{
	array_deinit(&mount->state->directories);
	array_deinit(&mount->state->starts);
	btrfs_data_unmount(mount->state);
	memory_free(mount->state);
}

/* Read the leaf with the node's inode, or with its entry in its directory. */
static void visit(struct filesystem_mount *mount, uint32_t node, bool inode, bool make)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	uint32_t parent_node = at->parent == TREE_NONE ? TREE_ROOT : at->parent;
	const struct tree_node *parent = &mount->tree->nodes.at[parent_node];
	struct directory directory = mount->state->directories.at[parent->layout];
	uint64_t entries = parent->entries ? parent->entries : 1, names = parent->entry_text_bytes,
		 bytes, fill;
	uint64_t place = at->position < entries ? at->position : entries - 1;

	/*
	 * Mounting has read the tree's root, and that is all of it as long as everything fits one
	 * leaf.
	 */
	if (node == TREE_ROOT || mount->state->is_one_leaf)
		return;
	if (entries <= SMALL_ENTRIES) {
		bytes = inode ? (entries * SMALL_ITEM_BYTES + 3 * names + directory.data_bytes) *
					place / entries
			      : at->hash % (entries * ENTRY_ITEM_BYTES + names + 1);
		node_use(mount, WHAT_INODES, TREE_ROOT,
			 (directory.start + bytes * 100 / small_fill_percent(parent)) /
				 NODE_USABLE_BYTES,
			 make);
	} else if (inode) {
		bytes = (entries * INODE_ITEM_BYTES + names + directory.data_bytes) * place /
			entries;
		fill = directory.data_bytes == 0                       ? 100
		       : data_item_bytes(mount, at) == DATA_ITEM_BYTES ? DATA_FILL_PERCENT
								       : INLINE_FILL_PERCENT;
		node_use(mount, WHAT_INODES, parent_node, bytes * 100 / fill / NODE_USABLE_BYTES,
			 make);
	} else {
		bytes = (entries * ENTRY_ITEM_BYTES + names) * 100 / ENTRY_FILL_PERCENT;
		node_use(mount, WHAT_ENTRIES, parent_node,
			 at->hash % (bytes / NODE_USABLE_BYTES + 1), make);
	}
}

static void btrfs_lookup(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree *tree = mount->tree;

	/* A directory made here never left the tree nodes in memory. */
	if (!tree->nodes.at[tree->nodes.at[node].parent].is_made)
		visit(mount, node, false, false);
}

static uint64_t listed_fill_percent(const struct tree_node *directory)
{
	uint64_t name = directory->entry_text_bytes / directory->entries;

	if (name <= LISTED_SHORT_BYTES)
		return LISTED_FILL_PERCENT;
	if (name >= LISTED_LONG_BYTES)
		return LISTED_FILL_LONG_PERCENT;
	return LISTED_FILL_PERCENT - (name - LISTED_SHORT_BYTES) *
					     (LISTED_FILL_PERCENT - LISTED_FILL_LONG_PERCENT) /
					     (LISTED_LONG_BYTES - LISTED_SHORT_BYTES);
}

/*
 * btrfs_real_readdir(): entries are there twice, by hash for who looks one up and by number for who
 * lists them. Those lie behind the others, and in front of the directory's inodes; 64 KiB are read
 * ahead (reada_for_search()), also of what follows.
 */
static bool btrfs_readdir(struct filesystem_mount *mount, uint32_t node, uint64_t *place)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	uint64_t bytes = at->entries * (uint64_t)ENTRY_ITEM_BYTES + at->entry_text_bytes, first,
		 end;

	if (at->entries == 0 || mount->state->is_one_leaf)
		return false;
	if (at->entries <= SMALL_ENTRIES) {
		uint64_t fill = small_fill_percent(at),
			 start = mount->state->directories.at[at->layout].start;

		first = (start + bytes * 100 / fill) / NODE_USABLE_BYTES;
		end = (start + 2 * bytes * 100 / fill) / NODE_USABLE_BYTES + 1;
		for (; first < end; first++)
			node_use(mount, WHAT_INODES, TREE_ROOT, first, at->is_made);
		return false;
	}
	first = *place;
	end = bytes * 100 / listed_fill_percent(at) / NODE_USABLE_BYTES + 1;
	for (*place += READDIR_NODES; first < *place && first < end; first++)
		node_use(mount, WHAT_LISTED, node, first, at->is_made);
	for (uint64_t ahead = 0; first < *place; first++, ahead++)
		node_use(mount, WHAT_INODES, node, ahead, at->is_made);
	return *place < end + READDIR_NODES;
}

static void btrfs_inode_read(struct filesystem_mount *mount, uint32_t node)
{
	if (!mount->tree->nodes.at[node].is_made)
		visit(mount, node, true, false);
}

/*
 * Checksums lie in order of the data's place on the device, which is taken for the order in which
 * files are first read.
 */
static void btrfs_data_read(struct filesystem_mount *mount, uint32_t node, uint64_t offset,
			    uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;

	while (fs->starts.count <= node)
		*array_push(&fs->starts) = UINT64_MAX;
	if (fs->starts.at[node] == UINT64_MAX) {
		fs->starts.at[node] = fs->file_start;
		fs->file_start += cache_file_size(mount->cache, mount_file(mount, node));
	}
	offset += fs->starts.at[node];
	for (uint64_t leaf = offset / CHECKSUM_DATA_BYTES;
	     leaf <= (offset + bytes - 1) / CHECKSUM_DATA_BYTES; leaf++)
		node_use(mount, WHAT_CHECKSUMS, 0, leaf, false);
}

static void btrfs_create(struct filesystem_mount *mount, uint32_t node)
{
	visit(mount, node, true, true);
	visit(mount, node, false, true);
	/* With time, nodes are counted when they are written. */
	if (mount->state->time)
		btrfs_data_create(mount, node);
	else
		cache_write_outside(mount->cache, CREATE_WRITE_BYTES);
}

static void btrfs_remove(struct filesystem_mount *mount, uint32_t node)
{
	if (mount->state->time)
		btrfs_data_remove(mount, node);
}

/*
 * A file with dirty pages reserves metadata for the worst case: an extent item and a checksum, 16 KiB
 * nodes * 8 levels * 2 each, and the inode's update, half of that: 640 KiB. When what is reserved
 * passes what the device can promise, a worker writes all dirty data back, long before anybody's
 * limit. Source: Linux fs/btrfs/delalloc-space.c, btrfs_calculate_inode_block_rsv_size();
 * fs/btrfs/space-info.c, need_preemptive_reclaim(), btrfs_preempt_reclaim_metadata_space() (5.13 to
 * 6.18). Traced in 6 GiB: at some hundred files; what is promised shrinks each time it happens
 * (space_info->clamp), so that 100 GiB were no different. 300 MiB is what 6 GiB promise at first.
 */
enum { DIRTY_FILES_MAX = 300 * 1024 / 640 };

static void plan_write(struct filesystem_mount *mount)
{
	if (mount->io)
		for (uint32_t i = 0; i < mount->plan->write_count; i++)
			btrfs_write_back(mount, mount->plan->write[i].file,
					 mount->plan->write[i].index, mount->plan->write[i].pages);
	mount->plan->write_count = 0;
}

static void btrfs_tick(struct filesystem_mount *mount)
{
	bool was_background = mount->is_background;

	if (cache_dirty_files(mount->cache) <= DIRTY_FILES_MAX)
		return;
	mount->is_background = true;
	while (!cache_sync(mount->cache, mount->plan))
		plan_write(mount);
	if (mount->io)
		plan_write(mount);
	mount->is_background = was_background;
}

#define BTRFS_CORE(checksums)                                                                      \
	{                                                                                          \
		.folios = CACHE_FOLIOS_NEVER, .marks_on_write = true, .writes_without_fs = true,   \
		.inode_make_fs = true, .inode_read_fs = true, .dentry_bytes = 200,                 \
		.inline_name_bytes = 39, .long_name_bytes = 104, .inode_bytes = 1024,              \
		.node_bytes = 592, .direct_writes_switched = (checksums),                          \
	}

/* What is the same whether or not data is overwritten in place. */
#define BTRFS_SAME                                                                                 \
	.device_io_pages = 32, .direct_bytes = 4096, .unmount = btrfs_unmount,                     \
	.lookup = btrfs_lookup, .inode_read = btrfs_inode_read, .create = btrfs_create,            \
	.remove = btrfs_remove, .linked = btrfs_linked, .unlinked = btrfs_unlinked,                \
	.readdir = btrfs_readdir, .tick = btrfs_tick, .fetch = btrfs_fetch,                        \
	.write_back = btrfs_write_back, .sync = btrfs_sync, .renamed = btrfs_renamed,              \
	.resized = btrfs_resized, .allocated = btrfs_allocated, .background = btrfs_background,    \
	.free_bytes = btrfs_free_bytes

const struct filesystem filesystem_btrfs = {
	.name = "btrfs",
	.summary = "copy on write; single pages, metadata in tree nodes of its own",
	.core = BTRFS_CORE(true),
	.mount = btrfs_mount,
	.data_read = btrfs_data_read,
	BTRFS_SAME,
};

/* As after chattr +C on the directory: data in place, and no checksums. */
const struct filesystem filesystem_btrfs_nodatacow = {
	.name = "btrfs-nodatacow",
	.summary = "btrfs with data overwritten in place, and without checksums",
	.core = BTRFS_CORE(false),
	.mount = btrfs_mount_nodatacow,
	BTRFS_SAME,
};
