/*
 * operation: one op, as calls of the cache and of the file-system model
 *
 * Names are held while they are used, as the kernel holds dentries; what is not cached is read
 * first. The plans that come back are what the device must do: for the cache, done as soon as made.
 * Who waits for it is plan.c's and simulation.c's business.
 */
#include <assert.h>
#include <string.h>

#include "base/size.h"
#include "machine/model/operation_private.h"
#include "op/path.h"

/* A node of the cache's index is numbered by 32 bits and has 64 pages: a pebibyte. */
#define FILE_BYTES_MAX (UINT64_C(1) << 50)

enum { TARGET_BYTES_MAX = 4095 /* of a symbolic link: PATH_MAX without the end */ };

/* ---- errors ---- */

static bool op_error(struct model *model, const struct op *op, struct error *error,
		     const char *what)
{
	const char *path = path_text(model->source->paths, op->path);

	if (op->line)
		return error_at(error, model->source->name, op->line, 0, "%s \"%.100s\": %s",
				op_kind_name((enum op_kind)op->kind), path, what);
	return error_input(error, "%s: operation %llu (%s \"%.100s\"): %s", model->source->name,
			   (unsigned long long)model->op_count,
			   op_kind_name((enum op_kind)op->kind), path, what);
}

static const char no_such_file[] =
	"there is no such file here; a file that is there before the start needs an exists line";

static void make_mounted(struct model *model)
{
	if (!model->is_mounted)
		model->fs->mount(&model->mount);
	model->is_mounted = true;
}

/* ---- names ---- */

static inline uint32_t node_of(struct model *model, uint32_t path)
{
	uint32_t known = path < model->tree.by_path.count ? model->tree.by_path.at[path] : 0;

	return known ? known - 1
		     : tree_resolve(&model->tree, path, path_text(model->source->paths, path));
}

/*
 * Hold the node's dentry, bringing it and its directories in, and its inode: what is not cached is
 * read. Each is held while it is searched, so that the reclaim that this causes cannot take it; a
 * dentry goes on its list once, when the last holder lets go.
 */
static void hold(struct model *model, uint32_t node)
{
	struct tree_node *at = &model->tree.nodes.at[node];

	if (node == TREE_ROOT)
		return;
	if (!cache_name_cached(model->cache, at->name)) {
		hold(model, at->parent);
		model->fs->lookup(&model->mount, node);
		/* One search after the other, if time is kept. */
		if (model->mount.io)
			plan_done(model);
		mount_then(&model->mount);
		if (at->file && !cache_inode_cached(model->cache, at->file))
			model->fs->inode_read(&model->mount, node);
		/* A path has up to 2000 directories, a rename two: more blocks than a plan holds. */
		if (model->plan.fetch_count > CACHE_PLAN_RUNS / 2)
			plan_done(model);
		cache_name_get(model->cache, at->name);
		if (at->parent != TREE_ROOT)
			cache_name_put(model->cache, model->tree.nodes.at[at->parent].name);
	} else {
		cache_name_get(model->cache, at->name);
	}
}

static void release(struct model *model, uint32_t node)
{
	if (node != TREE_ROOT)
		cache_name_put(model->cache, model->tree.nodes.at[node].name);
}

static void stat_node(struct model *model, uint32_t node)
{
	uint32_t parent = model->tree.nodes.at[node].parent;

	if (node == TREE_ROOT)
		return;
	/*
	 * A walk ends at the first name that is not there, which becomes a negative dentry, or is no
	 * directory.
	 */
	for (uint32_t up = parent; up != TREE_NONE; up = model->tree.nodes.at[up].parent)
		if (!tree_exists(&model->tree, up) || !model->tree.nodes.at[up].is_directory)
			node = up;
	if (cache_name_cached(model->cache, model->tree.nodes.at[node].name)) {
		cache_name_use(model->cache, model->tree.nodes.at[node].name);
		return;
	}
	hold(model, node);
	release(model, node);
}

static bool parents_exist(const struct model *model, uint32_t node)
{
	uint32_t parent = model->tree.nodes.at[node].parent;

	return node == TREE_ROOT ||
	       (tree_exists(&model->tree, parent) && model->tree.nodes.at[parent].is_directory);
}

/* Directories of files that exist before the start exist too. False: one of them is a file. */
static bool make_parents(struct model *model, uint32_t node)
{
	uint32_t parent = model->tree.nodes.at[node].parent;

	if (parent == TREE_NONE)
		return true;
	if (tree_exists(&model->tree, parent))
		return model->tree.nodes.at[parent].is_directory;
	if (!make_parents(model, parent))
		return false;
	tree_link_cold(&model->tree, parent, 0, true, false);
	model->file_count++;
	return true;
}

static void open_close_all(struct model *model, uint32_t node);

/* Make a file or directory (or a symbolic link) and hold its name. */
static void create_held(struct model *model, uint32_t node, enum op_kind kind, uint64_t bytes)
{
	uint32_t file;

	/* Descriptors of an unlinked file of this name can no longer be named: they end here. */
	open_close_all(model, node);
	hold(model, node);
	file = tree_add_file(&model->tree, node, bytes, kind == OP_MKDIR, false);
	model->tree.nodes.at[node].is_made = true;
	model->tree.nodes.at[node].is_symlink = kind == OP_SYMLINK;
	if (kind == OP_SYMLINK) /* Its target is in its inode. */
		cache_file_inline(model->cache, file);
	cache_name_link(model->cache, model->tree.nodes.at[node].name, file);
	model->fs->create(&model->mount, node);
	model->file_count++;
}

/* ---- open files ---- */

/*
 * The file that an op on this node means: the name's, or that of a descriptor whose name is gone.
 * 0: none.
 */
uint32_t node_file(const struct model *model, uint32_t node)
{
	const struct tree_node *at = &model->tree.nodes.at[node];

	return at->file ? at->file : model->opens.all.at[at->opens.first].file;
}

/* The descriptor is paid for already; the node is held, and this takes over the hold. */
static uint32_t open_add(struct model *model, uint32_t node, uint32_t thread)
{
	uint32_t file = model->tree.nodes.at[node].file;
	uint32_t handle = cache_open(model->cache, file);

	opens_add(&model->opens, &model->tree.nodes.at[node].opens,
		  &(struct open){.thread = thread, .handle = handle, .file = file});
	return handle;
}

/* The thread's handle of this file, opening it if it is not open. */
uint32_t node_open(struct model *model, uint32_t node, uint32_t thread)
{
	const struct tree_node *at = &model->tree.nodes.at[node];
	uint32_t handle = opens_handle(&model->opens, &at->opens, node_file(model, node), thread);

	if (!handle && !at->file) /* unlinked: another thread's will do */
		handle = model->opens.all.at[at->opens.first].handle;
	if (handle)
		return handle;
	cache_open_pay(model->cache);
	hold(model, node);
	return open_add(model, node, thread);
}

static void open_close(struct model *model, uint32_t node, uint32_t id)
{
	struct open open = model->opens.all.at[id];

	opens_remove(&model->opens, &model->tree.nodes.at[node].opens, id);
	cache_close(model->cache, open.handle);
	release(model, node);
	if (model->fs->freed && cache_file_is_dead(model->cache, open.file))
		model->fs->freed(&model->mount, open.file);
}

static void open_close_all(struct model *model, uint32_t node)
{
	while (model->tree.nodes.at[node].opens.first)
		open_close(model, node, model->tree.nodes.at[node].opens.first);
}

uint32_t operation_file(const struct model *model, const struct op *op)
{
	uint32_t known =
		op->path < model->tree.by_path.count ? model->tree.by_path.at[op->path] : 0;

	return known ? node_file(model, known - 1) : 0;
}

uint32_t operation_resolve(struct model *model, const struct op *op)
{
	return node_file(model, node_of(model, op->path));
}

/* ---- data ---- */

/*
 * The plan is done as soon as it is made; only what maps and checks the data is left to read, and,
 * if time is kept, to be asked of the device.
 */
void node_plan_done(struct model *model, uint32_t node)
{
	struct cache_plan *plan = &model->plan;

	if (plan->fetch_count > 0 && model->fs->data_read && node != TREE_NONE) {
		uint32_t count = plan->fetch_count, file = node_file(model, node);

		for (uint32_t i = 0; i < count; i++)
			if (plan->fetch[i].file == file)
				model->fs->data_read(&model->mount, node,
						     bytes_from_pages(plan->fetch[i].index),
						     bytes_from_pages(plan->fetch[i].pages));
	}
	plan_done(model);
}

static bool touch_read(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		       struct cache_plan *plan)
{
	return cache_touch(cache, handle, false, offset, bytes, plan);
}

static bool touch_write(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			struct cache_plan *plan)
{
	return cache_touch(cache, handle, true, offset, bytes, plan);
}

/* Of the node's file, these bytes are asked for: what is read besides, nobody waits for. */
static void asks_for(struct model *model, uint32_t node, uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset / PAGE_BYTES, end = pages_from_bytes_up(offset + bytes);

	model->asked = (struct cache_run){
		.file = node_file(model, node),
		.index = first,
		.pages = end - first < UINT32_MAX ? (uint32_t)(end - first) : UINT32_MAX,
	};
}

static void transfer_all(struct model *model, const struct op *op, uint32_t node, transfer *move)
{
	uint32_t handle = node_open(model, node, op->thread);
	uint64_t offset = op->offset, bytes = op->bytes;

	model->op_pages += pages_from_bytes_up(bytes);
	asks_for(model, node, offset, bytes);
	node_plan_done(model, TREE_NONE);
	while (!move(model->cache, handle, &offset, &bytes, &model->plan) &&
	       cache_in_memory(model->cache))
		node_plan_done(model, node);
	node_plan_done(model, node);
}

static void advise(struct model *model, const struct op *op, uint32_t node,
		   enum cache_advice advice)
{
	uint32_t handle = node_open(model, node, op->thread);
	uint64_t offset = op->offset, bytes = op->bytes;

	while (!cache_advise(model->cache, handle, advice, &offset, &bytes, &model->plan))
		node_plan_done(model, node);
	node_plan_done(model, node);
}

/* A read or write, by the file system's own cache if it has one. */
void node_read(struct model *model, const struct op *op, uint32_t node, transfer *move)
{
	if (!model->fs->read) {
		transfer_all(model, op, node, move);
		return;
	}
	(void)node_open(model, node, op->thread);
	node_plan_done(model, TREE_NONE);
	model->op_pages += pages_from_bytes_up(op->bytes);
	asks_for(model, node, op->offset, op->bytes);
	model->fs->read(&model->mount, node, op->offset, op->bytes);
}

/* The file was written to; it ended at `before`, and may end elsewhere now. */
void node_grew(struct model *model, uint32_t node, uint64_t before)
{
	uint64_t after = cache_file_size(model->cache, node_file(model, node));

	if (model->mount.io && model->fs->written)
		model->fs->written(&model->mount, node_file(model, node));
	if (model->mount.io && after != before && model->fs->resized)
		model->fs->resized(&model->mount, node, before, after);
}

void node_write(struct model *model, const struct op *op, uint32_t node, transfer *move)
{
	uint64_t before = cache_file_size(model->cache, node_file(model, node));

	if (model->fs->write) {
		(void)node_open(model, node, op->thread);
		node_plan_done(model, TREE_NONE);
		model->op_pages += pages_from_bytes_up(op->bytes);
		model->fs->write(&model->mount, node, op->offset, op->bytes);
	} else {
		transfer_all(model, op, node, move);
	}
	node_grew(model, node, before);
}

/* ---- advice, sync, sizes ---- */

static void sync_node(struct model *model, uint32_t node, bool data_only)
{
	model->is_syncing = true;
	while (!cache_sync_file(model->cache, node_file(model, node), &model->plan))
		plan_done(model);
	plan_done(model);
	if (!data_only && model->fs->commit)
		model->fs->commit(&model->mount);
	mount_then(&model->mount);
	if (model->mount.io && model->fs->sync)
		model->fs->sync(&model->mount, node, data_only);
	model->is_syncing = false;
}

static void sync_range(struct model *model, const struct op *op, uint32_t node)
{
	(void)node_open(model, node, op->thread);
	while (!cache_sync_range(model->cache, node_file(model, node), op->offset, op->bytes,
				 &model->plan))
		plan_done(model);
	plan_done(model);
}

static void resize_node(struct model *model, const struct op *op, uint32_t node)
{
	uint32_t file = node_file(model, node);
	uint64_t before = cache_file_size(model->cache, file);

	stat_node(model, node);
	if (op->kind == OP_TRUNCATE) {
		cache_truncate(model->cache, file, op->bytes);
		if (model->mount.io && model->fs->resized)
			model->fs->resized(&model->mount, node, before, op->bytes);
	} else {
		cache_allocate(model->cache, file, op->offset, op->bytes);
		if (model->mount.io && model->fs->allocated)
			model->fs->allocated(&model->mount, node, op->offset, op->bytes);
	}
}

static void sync_all(struct model *model)
{
	model->is_syncing = model->mount.syncs_all = true;
	if (model->fs->commit)
		model->fs->commit(&model->mount);
	while (!cache_sync(model->cache, &model->plan))
		plan_done(model);
	plan_done(model);
	mount_then(&model->mount);
	if (model->mount.io && model->fs->sync)
		model->fs->sync(&model->mount, TREE_ROOT, false);
	model->is_syncing = model->mount.syncs_all = false;
}

/* ---- ops ---- */

static void unlink_node(struct model *model, uint32_t node)
{
	const struct filesystem *fs = model->fs;

	hold(model, node);
	if (tree_other_name(&model->tree, node) != TREE_NONE) {
		if (fs->unlinked)
			fs->unlinked(&model->mount, node);
	} else if (fs->orphaned &&
		   !cache_name_is_all(model->cache, model->tree.nodes.at[node].name)) {
		fs->orphaned(&model->mount, node);
	} else {
		fs->remove(&model->mount, node);
	}
	cache_name_unlink(model->cache, model->tree.nodes.at[node].name);
	tree_remove_file(&model->tree, node);
	release(model, node);
}

/* What is known of names that are not there goes first: vfs_rmdir(), shrink_dcache_parent(). */
static void rmdir_node(struct model *model, uint32_t node)
{
	hold(model, node);
	for (uint32_t below = model->tree.nodes.at[node].first_below; below;
	     below = model->tree.nodes.at[below].next_below)
		cache_name_drop(model->cache, model->tree.nodes.at[below].name);
	unlink_node(model, node);
	release(model, node);
}

/* Another name of the file at `from`. */
static bool link_node(struct model *model, const struct op *op, uint32_t from, struct error *error)
{
	uint32_t to = node_of(model, op->path_to);

	if (model->tree.nodes.at[from].is_directory)
		return op_error(model, op, error, "a directory has one name only");
	if (!parents_exist(model, to))
		return op_error(model, op, error, "the new name's directory does not exist");
	if (tree_exists(&model->tree, to))
		return op_error(model, op, error, "the new name is there already");
	/* As for a file that is made there: create_held(). */
	open_close_all(model, to);
	hold(model, from);
	hold(model, to);
	tree_add_name(&model->tree, to, from);
	cache_name_link(model->cache, model->tree.nodes.at[to].name,
			model->tree.nodes.at[from].file);
	if (model->fs->linked)
		model->fs->linked(&model->mount, to);
	release(model, to);
	release(model, from);
	return true;
}

/* open, getdents until nothing comes, close: no dentry is made for what is in it. */
static void readdir_node(struct model *model, uint32_t node)
{
	uint64_t place = 0;
	uint32_t handle;
	bool more = model->fs->readdir != NULL;

	cache_open_pay(model->cache);
	hold(model, node);
	handle = cache_open(model->cache, model->tree.nodes.at[node].file);
	while (more) {
		more = model->fs->readdir(&model->mount, node, &place);
		plan_done(model);
		mount_then(&model->mount);
	}
	cache_close(model->cache, handle);
	release(model, node);
}

static bool drop_caches(struct model *model, const struct op *op, struct error *error)
{
	if (op->bytes < CACHE_DROP_PAGES || op->bytes > (CACHE_DROP_PAGES | CACHE_DROP_SLAB))
		return op_error(model, op, error, "its bytes are 1, 2 or 3");
	make_mounted(model);
	cache_drop_caches(model->cache, (uint32_t)op->bytes);
	return true;
}

/* d_move(): the directory's dentry takes the new name, and all below stays as cached as it was. */
static bool rename_directory(struct model *model, const struct op *op, uint32_t from, uint32_t to,
			     struct error *error)
{
	uint32_t parent = model->tree.nodes.at[to].parent;

	for (uint32_t up = to; up != TREE_NONE; up = model->tree.nodes.at[up].parent)
		if (up == from)
			return op_error(model, op, error,
					"a directory cannot be moved into itself");
	if (tree_exists(&model->tree, to)) {
		if (!model->tree.nodes.at[to].is_directory || model->tree.nodes.at[to].entries > 0)
			return op_error(model, op, error,
					"the new name is there already, and is no empty directory");
		unlink_node(model, to);
	}
	hold(model, from);
	hold(model, to);
	if (model->mount.io && model->fs->renamed)
		model->fs->renamed(&model->mount, from, to);
	cache_name_move(model->cache, model->tree.nodes.at[from].name,
			model->tree.nodes.at[parent].name, model->tree.nodes.at[to].name_bytes);
	release(model, to);
	tree_move_directory(&model->tree, from, to);
	release(model, from);
	return true;
}

static bool rename_node(struct model *model, const struct op *op, uint32_t from,
			struct error *error)
{
	uint32_t to = node_of(model, op->path_to), file;

	if (from == to)
		return true;
	if (!parents_exist(model, to))
		return op_error(model, op, error, "the new name's directory does not exist");
	if (model->tree.nodes.at[from].is_directory)
		return rename_directory(model, op, from, to, error);
	if (tree_exists(&model->tree, to) && model->tree.nodes.at[to].is_directory)
		return op_error(model, op, error, "the new name is a directory");
	/* Two names of one file stay what they are: rename(2). */
	if (model->tree.nodes.at[from].file == model->tree.nodes.at[to].file)
		return true;
	hold(model, from);
	hold(model, to);
	if (tree_exists(&model->tree, to))
		unlink_node(model, to);
	open_close_all(model, to);
	/* Open descriptors follow the file: each pins the name that it has now. */
	for (uint32_t id = model->tree.nodes.at[from].opens.first; id;
	     id = model->opens.all.at[id].next) {
		cache_name_get(model->cache, model->tree.nodes.at[to].name);
		cache_name_put(model->cache, model->tree.nodes.at[from].name);
	}
	file = model->tree.nodes.at[from].file;
	cache_name_rename(model->cache, model->tree.nodes.at[from].name,
			  model->tree.nodes.at[to].name);
	tree_move_file(&model->tree, from, to);
	if (model->mount.io && model->fs->renamed)
		model->fs->renamed(&model->mount, from, to);
	release(model, from);
	release(model, to);
	assert(model->tree.nodes.at[to].file == file);
	return true;
}

static bool exists(struct model *model, const struct op *op, uint32_t node, struct error *error)
{
	if (model->is_mounted)
		return op_error(model, op, error,
				"exists comes after other operations; what is there before the "
				"start must come first");
	if (tree_exists(&model->tree, node))
		return op_error(model, op, error,
				model->tree.nodes.at[node].is_directory
					? "it is a directory"
					: "this file exists already");
	if (!make_parents(model, node))
		return op_error(model, op, error, "what should be its directory is a file");
	tree_link_cold(&model->tree, node, op->bytes, false, op->kind == OP_EXISTS_SPARSE);
	model->file_count++;
	return true;
}

/* Would the file end beyond what the cache's index can number (2^38 pages)? */
static bool grows_too_large(const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_EXISTS:
	case OP_EXISTS_SPARSE:
	case OP_TRUNCATE:
		return op->bytes > FILE_BYTES_MAX;
	case OP_WRITE:
	case OP_WRITE_DIRECT:
	case OP_WRITE_DONTCACHE:
	case OP_FALLOCATE:
	case OP_SYNC_FILE_RANGE:
		return op->offset + op->bytes > FILE_BYTES_MAX;
	default:
		return false;
	}
}

/* Is there a reason why this cannot be done with what is at the node? NULL: none. */
static const char *kind_wrong(const struct model *model, const struct op *op, uint32_t node)
{
	const struct tree_node *at = &model->tree.nodes.at[node];
	enum op_kind kind = (enum op_kind)op->kind;
	bool of_name = kind == OP_UNLINK || kind == OP_RENAME || kind == OP_LINK;

	if ((of_name || kind == OP_RMDIR || kind == OP_READDIR) && !tree_exists(&model->tree, node))
		return "it is unlinked already";
	if (!at->is_directory && (kind == OP_RMDIR || kind == OP_READDIR))
		return "it is not a directory";
	if (at->is_directory && !of_name && kind != OP_OPEN && kind != OP_FSYNC &&
	    kind != OP_FDATASYNC && kind != OP_RMDIR && kind != OP_READDIR)
		return "it is a directory";
	if (at->is_symlink && !of_name)
		return "it is a symbolic link, and none is followed here: the path that it leads "
		       "to was expected";
	if ((kind == OP_RMDIR || kind == OP_UNLINK || kind == OP_RENAME) && node == TREE_ROOT)
		return "it is the root directory";
	if ((kind == OP_UNLINK || kind == OP_RMDIR) && at->is_directory && at->entries > 0)
		return "the directory is not empty";
	if ((kind == OP_READ_DIRECT || kind == OP_WRITE_DIRECT) && !model->fs->read &&
	    !model->fs->direct_bytes && !operation_is_aligned(op, OPERATION_SECTOR_BYTES))
		return "with O_DIRECT the kernel takes offsets and lengths that are multiples of "
		       "512 bytes";
	return NULL;
}

static void mark(struct model *model, const struct op *op)
{
	struct counters now;

	if (op->stream) {
		/* A mark that has a stream is the end of a pass of it (source/player.h). */
		cache_counters(model->cache, op->stream, &now);
		recorder_pass(&model->recorder, op->stream, &now);
		return;
	}
	cache_publish(model->cache); /* whoever reads the counters sums them */
	cache_counters(model->cache, 0, &now);
	recorder_mark(&model->recorder, &now, path_text(model->source->paths, op->path),
		      model->op_count);
	if (model->options->device)
		recorder_mark_time(&model->recorder, model->now_ns - model->started_ns,
				   &model->requests);
}

static bool pin(struct model *model, const struct op *op, struct error *error)
{
	/* Who says how much is pinned asks what would be if it were. */
	if (model->options->pinned_bytes)
		return true;
	if (op->bytes > model->options->memory_bytes)
		return op_error(model, op, error,
				"the processes' own memory is larger than all there is (--pinned "
				"SIZE says another)");
	cache_pin(model->cache, op->bytes);
	return true;
}

/* An op on the file or directory that its path names. */
static bool carry_out_on_path(struct model *model, const struct op *op, struct error *error)
{
	enum op_kind kind = (enum op_kind)op->kind;
	const char *what;
	uint32_t node;

	if (grows_too_large(op))
		return op_error(model, op, error,
				"the file would be larger than 1 PiB, which is not modelled");
	node = node_of(model, op->path);
	if (kind == OP_EXISTS || kind == OP_EXISTS_SPARSE)
		return exists(model, op, node, error);
	make_mounted(model);
	switch (kind) {
	case OP_STAT:
		stat_node(model, node);
		return true;
	case OP_CREATE:
	case OP_MKDIR:
	case OP_SYMLINK:
		if (!parents_exist(model, node))
			return op_error(model, op, error,
					"its directory does not exist; mkdir it first");
		if (op->bytes > TARGET_BYTES_MAX && kind == OP_SYMLINK)
			return op_error(model, op, error, "a target's name has at most 4095 bytes");
		if (tree_exists(&model->tree, node)) {
			if (kind != OP_CREATE)
				return op_error(model, op, error, "it exists already");
			(void)node_open(model, node, op->thread);
		} else if (kind != OP_CREATE) {
			create_held(model, node, kind, kind == OP_SYMLINK ? op->bytes : 0);
			release(model, node);
		} else {
			cache_open_pay(model->cache);
			create_held(model, node, kind, 0);
			(void)open_add(model, node, op->thread);
		}
		return true;
	case OP_CLOSE: {
		const struct open_list *list = &model->tree.nodes.at[node].opens;
		uint32_t id = opens_find(&model->opens, list, node_file(model, node), op->thread);

		if (!list->first)
			return op_error(model, op, error, "it is not open");
		/* Somebody else may have opened it: threads of one process share descriptors. */
		open_close(model, node, id ? id : list->first);
		return true;
	}
	default:
		break;
	}
	if (!node_file(model, node))
		return op_error(model, op, error, no_such_file);
	what = kind_wrong(model, op, node);
	if (what)
		return op_error(model, op, error, what);
	model->mount.orphan = tree_exists(&model->tree, node) ? 0 : node_file(model, node);
	switch (kind) {
	case OP_OPEN:
		(void)node_open(model, node, op->thread);
		break;
	case OP_READ:
		node_read(model, op, node, cache_read);
		break;
	case OP_WRITE:
		node_write(model, op, node, cache_write);
		break;
	case OP_READ_DIRECT:
		operation_direct_read(model, op, node);
		break;
	case OP_WRITE_DIRECT:
		operation_direct_write(model, op, node);
		break;
	case OP_READ_DONTCACHE:
		operation_dontcache_read(model, op, node);
		break;
	case OP_WRITE_DONTCACHE:
		operation_dontcache_write(model, op, node);
		break;
	case OP_READDIR:
		readdir_node(model, node);
		break;
	case OP_MMAP_READ:
		transfer_all(model, op, node, touch_read);
		break;
	case OP_MMAP_WRITE:
		transfer_all(model, op, node, touch_write);
		break;
	case OP_FSYNC:
	case OP_FDATASYNC:
		(void)node_open(model, node, op->thread);
		sync_node(model, node, kind == OP_FDATASYNC);
		break;
	case OP_SYNC_FILE_RANGE:
		sync_range(model, op, node);
		break;
	case OP_UNLINK:
		unlink_node(model, node);
		break;
	case OP_RMDIR:
		rmdir_node(model, node);
		break;
	case OP_RENAME:
		return rename_node(model, op, node, error);
	case OP_LINK:
		return link_node(model, op, node, error);
	case OP_TRUNCATE:
	case OP_FALLOCATE:
		resize_node(model, op, node);
		break;
	case OP_FADVISE_DONTNEED:
		advise(model, op, node, CACHE_ADVICE_DONTNEED);
		break;
	case OP_FADVISE_RANDOM:
		advise(model, op, node, CACHE_ADVICE_RANDOM);
		break;
	case OP_MADVISE_RANDOM:
		advise(model, op, node, CACHE_ADVICE_MAP_RANDOM);
		break;
	case OP_FADVISE_SEQUENTIAL:
		advise(model, op, node, CACHE_ADVICE_SEQUENTIAL);
		break;
	case OP_FADVISE_WILLNEED:
		advise(model, op, node, CACHE_ADVICE_WILLNEED);
		break;
	case OP_FADVISE_NOREUSE:
		advise(model, op, node, CACHE_ADVICE_NOREUSE);
		break;
	default:
		return op_error(model, op, error, "not an operation of this machine");
	}
	return true;
}

bool operation_carry_out(struct model *model, const struct op *op, struct error *error)
{
	if (model->behind_file)
		operation_behind_settle(model, op);
	switch ((enum op_kind)op->kind) {
	case OP_MARK:
		mark(model, op);
		return true;
	case OP_COMPUTE:
		return op->bytes <= OP_COMPUTE_NS_MAX ||
		       op_error(model, op, error, "it computes for more than 30 days");
	case OP_PIN:
		return pin(model, op, error);
	case OP_SUM_STATISTICS:
		cache_publish_told(model->cache);
		return true;
	case OP_SYNC:
		make_mounted(model);
		sync_all(model);
		return true;
	case OP_DROP_CACHES:
		return drop_caches(model, op, error);
	default:
		return carry_out_on_path(model, op, error);
	}
}
