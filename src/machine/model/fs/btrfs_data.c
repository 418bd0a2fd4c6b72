/*
 * btrfs's data: never where it was
 *
 * Idea       What is written back gets new blocks, in one piece if there is one, behind what it
 *            replaces; the old ones are free when the transaction commits. (nodatacow: only what has
 *            no blocks gets some. Allocated but never written: in place, the first time.) fsync
 *            copies the inode's item, its new extents and their checksums, and its name and
 *            directory if they changed, into the log (btrfs_log.h), writes that tree's nodes and its
 *            root's, twice each, and one super block: 68 KiB and two flushes at least.
 * Source     Linux 6.18 fs/btrfs/inode.c cow_file_range(), tree-log.c btrfs_log_inode(),
 *            btrfs_log_changed_extents(), btrfs_sync_log(); space-info.c; block-group.c; mkfs.btrfs
 *            6.2 (one metadata chunk of 5 %, duplicated; one of 8 MiB for data). Measured, KiB and
 *            flushes an operation: 8 KiB and fdatasync 89 to 155 and 2, creating a sparse file of 16
 *            MiB 208 and 6, a durable rename 232 and 4, an unlink 100 to 108 and 2
 * Differs    1. no chunk is given back, and nobody balances
 *            2. an extent that is overwritten in part gives that part back (btrfs keeps the whole
 *               until no part is used)
 *            3. an unlinked file gives its room back at once, though somebody may have it open; what
 *               is still written to it goes nowhere
 *            4. no compression, no inline extents once time is kept
 */
#include "base/size.h"
#include "machine/model/fs/btrfs_private.h"

enum {
	FIRST_INODE = 256,
	COMMIT_SECONDS = 30,
	EXTENT_BLOCKS = 32768, /* 128 MiB */
	/*
	 * In one request: 128 pieces of memory, which are single pages, some of them side by side.
	 * Measured: 530 to 780 KiB.
	 */
	WRITE_BLOCKS = 160,
	READ_BLOCKS = 1 << 20,
	INODE_BYTES = 160,
	NAME_BYTES = 30, /* and the name */
	NAME_BACK_BYTES = 10,
	NAMES_RANGE_BYTES = 8,
	GAPS_MAX = 150, /* in the leaves of a directory that changed */
	EXTENT_BYTES = 53,
	/* NODE_CPU_NS in btrfs_transaction.c says where from. */
	EXTENT_CPU_NS = 32000,
	BLOCK_CPU_NS = 500,
};

/* ---- places ---- */

static struct btrfs_file *file_of(struct btrfs_time *time, uint32_t file)
{
	while (time->files.count <= file)
		(void)array_push(&time->files);
	return &time->files.at[file];
}

void btrfs_data_mount(struct filesystem_mount *mount, bool is_nodatacow)
{
	struct btrfs_time *time = memory_alloc(1, sizeof(*time));
	struct tree *tree = mount->tree;

	mount->state->time = time;
	time->is_nodatacow = is_nodatacow;
	time->transaction_id = 1;
	time->space = space_create();
	time->log = log_tree_create();
	btrfs_room_make(mount);
	for (uint32_t node = 0; node < tree->nodes.count; node++) {
		const struct tree_node *at = &tree->nodes.at[node];
		uint64_t pages, page = 0;

		if (!tree_exists(tree, node))
			continue;
		file_of(time, at->file)->inode = FIRST_INODE + time->inodes++;
		if (at->is_directory)
			file_of(time, at->file)->names = file_of(time, at->file)->names_logged =
				at->entries;
		pages = at->is_directory || at->is_sparse
				? 0
				: pages_from_bytes_up(cache_file_size(mount->cache, at->file));
		while (page < pages) {
			uint64_t left = pages - page;
			struct space_run run = {.page = page, .state = SPACE_WRITTEN};

			run.pages = btrfs_room_take(
				mount, 0, left < EXTENT_BLOCKS ? left : EXTENT_BLOCKS, &run.block);
			if (run.pages == 0) {
				mount->is_out_of_space = true;
				break;
			}
			space_put(time->space, at->file, &run);
			page += run.pages;
		}
		time->used_blocks += page;
		time->runs += space_runs(time->space, at->file);
	}
	time->must_commit = time->has_new_chunk = false;
	btrfs_nodes_watch(mount);
	time->must_commit = time->has_new_chunk = false;
	btrfs_leaves_count(time);
}

void btrfs_data_unmount(struct filesystem_state *fs)
{
	struct btrfs_time *time = fs->time;

	if (!time)
		return;
	space_destroy(time->space);
	btrfs_room_destroy(time);
	log_tree_destroy(time->log);
	array_deinit(&time->pinned);
	array_deinit(&time->files);
	array_deinit(&time->pending);
	memory_free(time->touched);
	memory_free(time);
}

uint64_t btrfs_free_bytes(const struct filesystem_mount *mount)
{
	const struct btrfs_time *time = mount->state->time;

	return time ? (btrfs_room_blocks(time) + time->device_blocks - time->unallocated_block) *
			       SPACE_BLOCK_BYTES
		    : 0;
}

/* ---- names ---- */

static uint32_t parent_file(const struct filesystem_mount *mount, uint32_t node)
{
	uint32_t parent = mount->tree->nodes.at[node].parent;

	return mount->tree->nodes.at[parent == TREE_NONE ? TREE_ROOT : parent].file;
}

static void change(struct filesystem_mount *mount, uint32_t file)
{
	struct btrfs_time *time = mount->state->time;
	struct btrfs_file *at = file_of(time, file);

	btrfs_touch_inode(mount, at->inode);
	at->changed_in = time->transaction_id;
}

/* An entry came to (`is_added`) or left this file's directory. */
static void entry_change(struct filesystem_mount *mount, uint32_t directory, bool is_added)
{
	struct btrfs_file *at = file_of(mount->state->time, directory);

	if (is_added)
		at->names++;
	else
		at->gaps++;
	at->named_in = mount->state->time->transaction_id;
	change(mount, directory);
}

void btrfs_data_create(struct filesystem_mount *mount, uint32_t node)
{
	struct btrfs_time *time = mount->state->time;
	uint32_t file = mount->tree->nodes.at[node].file;

	*file_of(time, file) = (struct btrfs_file){.inode = FIRST_INODE + time->inodes++,
						   .named_in = time->transaction_id};
	change(mount, file);
	entry_change(mount, parent_file(mount, node), true);
	btrfs_nodes_watch(mount);
}

static void pin(void *context, const struct space_run *run)
{
	struct filesystem_mount *mount = context;
	struct btrfs_time *time = mount->state->time;

	*array_push(&time->pinned) = *run;
	time->pinned_blocks += run->pages;
	time->used_blocks -= run->pages;
}

struct cut {
	struct filesystem_mount *mount;
	uint32_t file;
};

static void extent_free(void *context, const struct space_run *run)
{
	const struct cut *cut = context;

	btrfs_touch_extent(cut->mount, cut->file, run, false);
	pin(cut->mount, run);
}

static void truncate(struct filesystem_mount *mount, uint32_t file, uint64_t page)
{
	struct btrfs_time *time = mount->state->time;
	struct cut cut = {mount, file};

	time->runs -= space_runs(time->space, file);
	space_cut(time->space, file, page, extent_free, &cut);
	time->runs += space_runs(time->space, file);
	file_of(time, file)->pending = 0;
}

void btrfs_data_remove(struct filesystem_mount *mount, uint32_t node)
{
	uint32_t file = mount->tree->nodes.at[node].file;

	entry_change(mount, parent_file(mount, node), false);
	truncate(mount, file, 0);
	change(mount, file);
	*file_of(mount->state->time, file) = (struct btrfs_file){0};
	btrfs_nodes_watch(mount);
}

/* A name more or less: the directory's entry, and the inode's own item that says where it is. */
void btrfs_linked(struct filesystem_mount *mount, uint32_t node)
{
	uint32_t file = mount->tree->nodes.at[node].file;

	if (!mount->state->time)
		return;
	entry_change(mount, parent_file(mount, node), true);
	file_of(mount->state->time, file)->named_in = mount->state->time->transaction_id;
	change(mount, file);
}

void btrfs_unlinked(struct filesystem_mount *mount, uint32_t node)
{
	if (!mount->state->time)
		return;
	entry_change(mount, parent_file(mount, node), false);
	change(mount, mount->tree->nodes.at[node].file);
}

void btrfs_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to)
{
	uint32_t file = mount_renamed(mount, from, to);

	entry_change(mount, parent_file(mount, from), false);
	entry_change(mount, parent_file(mount, to), true);
	file_of(mount->state->time, file)->named_in = mount->state->time->transaction_id;
	change(mount, file);
}

/* ---- data ---- */

void btrfs_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	mount_cpu(mount, pages * BLOCK_CPU_NS);
	space_transfer(mount->state->time->space, mount, IO_READ, file, index, pages, READ_BLOCKS);
}

/* The file has this run from now on, and will log it. */
static void run_add(struct filesystem_mount *mount, uint32_t file, const struct space_run *run)
{
	struct btrfs_time *time = mount->state->time;
	struct btrfs_file *at = file_of(time, file);
	uint64_t runs = space_runs(time->space, file);
	struct btrfs_pending *pending = array_push(&time->pending);

	space_put(time->space, file, run);
	time->runs = time->runs - runs + space_runs(time->space, file);
	pending->run = *run;
	pending->next = at->pending_in == time->transaction_id ? at->pending : 0;
	at->pending = (uint32_t)time->pending.count;
	at->pending_in = time->transaction_id;
	btrfs_touch_extent(mount, file, run, true);
	at->changed_in = time->transaction_id;
	mount_cpu(mount, EXTENT_CPU_NS + run->pages * BLOCK_CPU_NS);
}

/* New blocks for the run, at most an extent; what it had is pinned. Returns how many pages. */
static uint64_t extent_move(struct filesystem_mount *mount, uint32_t file,
			    const struct space_run *old, enum space_state state)
{
	struct btrfs_time *time = mount->state->time;
	struct space_run run = {.page = old->page, .state = state};
	uint64_t goal = old->block;

	if (old->state == SPACE_HOLE && old->page > 0) {
		struct space_run before = space_find(time->space, file, old->page - 1, 1);

		goal = before.state == SPACE_HOLE ? 0 : before.block + 1;
	}
	run.pages = btrfs_room_take(
		mount, goal, old->pages < EXTENT_BLOCKS ? old->pages : EXTENT_BLOCKS, &run.block);
	if (run.pages == 0 && time->pinned_blocks > 0) {
		/* flush_space(), COMMIT_TRANS: what it freed is free then. */
		btrfs_commit(mount);
		run.pages = btrfs_room_take(mount, goal, old->pages, &run.block);
	}
	if (run.pages == 0) {
		mount->is_out_of_space = true;
		return old->pages;
	}
	if (old->state != SPACE_HOLE) {
		struct space_run gone = *old;

		gone.pages = run.pages;
		btrfs_touch_extent(mount, file, &gone, false);
		pin(mount, &gone);
	}
	time->used_blocks += run.pages;
	run_add(mount, file, &run);
	return run.pages;
}

void btrfs_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	struct btrfs_time *time = mount->state->time;
	uint64_t end = index + pages;

	if (file_of(time, file)->inode == 0)
		return;
	for (uint64_t page = index; page < end;) {
		struct space_run run = space_find(time->space, file, page, end - page);

		if (run.state == SPACE_UNWRITTEN) {
			run.state = SPACE_WRITTEN;
			run_add(mount, file, &run);
		} else if (run.state == SPACE_WRITTEN && time->is_nodatacow) {
			change(mount, file);
		} else {
			/* Old pieces side by side in the file become one. */
			run.pages = extent_move(mount, file, &run, SPACE_WRITTEN);
		}
		page += run.pages;
	}
	space_transfer(time->space, mount, IO_WRITE, file, index, pages, WRITE_BLOCKS);
	btrfs_nodes_watch(mount);
}

void btrfs_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
		   uint64_t new_bytes)
{
	uint32_t file = mount_file(mount, node);

	if (!file || !file_of(mount->state->time, file)->inode)
		return;
	if (new_bytes < old_bytes)
		truncate(mount, file, pages_from_bytes_up(new_bytes));
	change(mount, file);
}

void btrfs_allocated(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes)
{
	struct btrfs_time *time = mount->state->time;
	uint32_t file = mount_file(mount, node);
	uint64_t page = pages_from_bytes_down(offset), end = pages_from_bytes_up(offset + bytes);

	if (!file || !file_of(time, file)->inode)
		return;
	while (page < end) {
		struct space_run run = space_find(time->space, file, page, end - page);

		if (run.state == SPACE_HOLE)
			run.pages = extent_move(mount, file, &run, SPACE_UNWRITTEN);
		page += run.pages;
	}
	change(mount, file);
	btrfs_nodes_watch(mount);
}

/* ---- fsync ---- */

static void log_inode(struct btrfs_time *time, uint32_t file)
{
	log_tree_put(time->log, file_of(time, file)->inode, LOG_INODE, 0, INODE_BYTES);
}

/*
 * btrfs_log_all_parents(): the directory's inode, its new entries and, the first time in a
 * transaction, each gap in their numbers (process_dir_items_leaf()).
 */
static void log_directory(struct filesystem_mount *mount, uint32_t node)
{
	struct btrfs_time *time = mount->state->time;
	const struct tree_node *at = &mount->tree->nodes.at[node];
	struct btrfs_file *directory = file_of(time, at->file);
	uint32_t name_bytes = at->entries ? (uint32_t)(at->entry_text_bytes / at->entries) : 0;

	log_inode(time, at->file);
	if (directory->logged_in != time->transaction_id) {
		uint32_t most = at->entries < GAPS_MAX ? at->entries : GAPS_MAX;

		directory->gaps_logged = directory->gaps > most ? directory->gaps - most : 0;
	}
	directory->logged_in = time->transaction_id;
	for (; directory->gaps_logged < directory->gaps; directory->gaps_logged++)
		log_tree_put(time->log, directory->inode, LOG_NAMES_RANGE, directory->gaps_logged,
			     NAMES_RANGE_BYTES);
	for (; directory->names_logged < directory->names; directory->names_logged++)
		log_tree_put(time->log, directory->inode, LOG_NAME, directory->names_logged,
			     NAME_BYTES + name_bytes);
	directory->named_in = 0;
}

static void log_file(struct filesystem_mount *mount, uint32_t node)
{
	struct btrfs_time *time = mount->state->time;
	const struct tree_node *at = &mount->tree->nodes.at[node];
	struct btrfs_file *file = file_of(time, at->file);
	uint32_t pending = file->pending_in == time->transaction_id ? file->pending : 0;

	log_inode(time, at->file);
	if (file->named_in == time->transaction_id) {
		log_tree_put(time->log, file->inode, LOG_NAME_BACK, 0,
			     NAME_BACK_BYTES + at->name_bytes);
		log_directory(mount, at->parent == TREE_NONE ? TREE_ROOT : at->parent);
		file->named_in = 0;
	}
	for (; pending; pending = time->pending.at[pending - 1].next) {
		const struct space_run *run = &time->pending.at[pending - 1].run;

		log_tree_put(time->log, file->inode, LOG_EXTENT, run->page, EXTENT_BYTES);
		if (run->state == SPACE_WRITTEN && !time->is_nodatacow)
			log_tree_checksums(time->log, run->block, run->pages);
	}
	file->pending = 0;
}

void btrfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	struct btrfs_time *time = mount->state->time;
	const struct tree_node *at = &mount->tree->nodes.at[node];
	struct btrfs_file *file = file_of(time, at->file);
	uint64_t nodes;

	(void)data_only; /* all the same */
	if (mount->syncs_all) {
		btrfs_commit(mount);
		return;
	}
	if (file->changed_in != time->transaction_id)
		return;
	file->changed_in = 0;
	if (time->must_commit) {
		btrfs_commit(mount);
		return;
	}
	if (at->is_directory)
		log_directory(mount, node);
	else
		log_file(mount, node);
	/* The log's nodes that are replaced stay pinned, and so does the root of its own. */
	nodes = log_tree_changed(time->log) + 1;
	time->pinned_nodes += nodes;
	mount_then(mount);
	btrfs_nodes_write(mount, nodes);
	btrfs_super_write(mount, false);
	btrfs_nodes_watch(mount);
}

void btrfs_background(struct filesystem_mount *mount)
{
	struct btrfs_time *time = mount->state->time;

	if (time->is_touched &&
	    mount->now_ns - time->transaction_began_ns >= COMMIT_SECONDS * NS_PER_SECOND)
		btrfs_commit(mount);
}
