/*
 * zfs: copy on write in records, cached by an ARC of its own
 *
 * Idea       Nothing is overwritten: a group of writes goes to new places every few seconds, and
 *            with it the pointers to it, up to the root. Data is in the ARC, not in the page cache
 *            (but for what is mapped, which is in both); so is all metadata: level-1 blocks, blocks
 *            of dnodes, directories. fsync() goes to a log. The parts: zfs_private.h.
 * Source     OpenZFS 2.2.0, named where each rule is written; database-workloads.md C.5
 * Differs    1. no compression, snapshots, RAID, separate log or L2ARC; one data set in the pool;
 *               ashift 12
 *            2. a dnode is read with its inode, and its block is then in the ARC as long as it is
 *               used (an inode in memory would hold it there)
 *            3. a directory has a block of 16 KiB for 200 entries (one below 2048 would be one block
 *               of 64 bytes an entry)
 *            4. what existed before lies in order, as after a restore
 *            5. with a cgroup nothing is known of the machine around it: its memory, of which the ARC
 *               has half, is taken to be as large as the limit
 */
#include <assert.h>

#include "machine/model/fs/zfs_private.h"

enum {
	DIRECTORY_BLOCK_ENTRIES = 200,
	DIRTY_MAX_PERCENT = 10, /* zfs_dirty_data_max_percent; at most 4 GiB */
	/* lr_create_t with its attributes, lr_remove_t, lr_rename_t: names come on top */
	LOG_CREATE_BYTES = 232,
	LOG_REMOVE_BYTES = 64,
	LOG_RENAME_BYTES = 80,
	LOG_LINK_BYTES = 72, /* lr_link_t */
};

#define DIRTY_MAX_BYTES (UINT64_C(4) << 30)

/* ---- files ---- */

struct zfs_file *zfs_file_get(struct filesystem_state *fs, uint32_t file)
{
	struct zfs_file *at;

	while (fs->files.count <= file)
		(void)array_push(&fs->files);
	at = &fs->files.at[file];
	if (!at->is_known) {
		at->is_known = true;
		at->copies = 1;
		at->object = fs->next_object++;
	}
	return at;
}

static void metadata_file(struct zfs_file *at)
{
	at->is_metadata = true;
	at->copies = 2;
	at->record_bytes = ZFS_METADATA_BYTES;
}

static struct zfs_file *directory_get(struct filesystem_state *fs, uint32_t file)
{
	struct zfs_file *at = zfs_file_get(fs, file);

	if (!at->is_metadata)
		metadata_file(at);
	return at;
}

void zfs_dnode_dirty(struct filesystem_mount *mount, uint32_t file)
{
	struct filesystem_state *fs = mount->state;
	uint32_t block = fs->files.at[file].object / ZFS_BLOCK_DNODES;

	zfs_records_grow(&fs->files.at[ZFS_DNODES], block + UINT64_C(1));
	zfs_record_make_dirty(mount, ZFS_DNODES, block, false);
}

/* All its blocks get a place. False: there is none. */
static bool file_place(struct filesystem_state *fs, struct zfs_file *at)
{
	for (uint32_t i = 0; i < at->record_count; i++) {
		uint32_t units = zfs_record_units(at, i);

		if (!zfs_block_place(fs, units, &at->records[(uint64_t)i * at->copies], at->copies))
			return false;
		if (i == 0)
			at->first_units = units;
	}
	for (int level = 0; level < 2; level++)
		for (uint32_t i = 0; i < at->indirect_count[level]; i++) {
			struct zfs_indirect *block = &at->indirect[level][i];

			block->units = zfs_indirect_units(at, level, i);
			if (!zfs_block_place(fs, block->units, block->at, 2))
				return false;
		}
	return true;
}

static bool node_place(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	const struct tree_node *at = &mount->tree->nodes.at[node];
	struct zfs_file *file;
	uint64_t size;

	if (at->is_directory) {
		file = directory_get(fs, at->file);
		zfs_records_grow(file, at->entries / DIRECTORY_BLOCK_ENTRIES + UINT64_C(1));
		return file_place(fs, file);
	}
	file = zfs_file_get(fs, at->file);
	size = cache_file_size(mount->cache, at->file);
	if (size == 0)
		return true;
	file->record_bytes =
		size < fs->record_bytes ? (uint32_t)((size + 511) / 512 * 512) : fs->record_bytes;
	zfs_records_grow(file, (size + file->record_bytes - 1) / file->record_bytes);
	return at->is_sparse || file_place(fs, file);
}

/* ---- the shelf's functions ---- */

static const char *options_set(struct filesystem_mount *mount, struct filesystem_state *fs)
{
	uint64_t record = mount->options.record_bytes ? mount->options.record_bytes
						      : (uint64_t)ZFS_RECORD_BYTES_DEFAULT;

	if (record < ZFS_RECORD_BYTES_MIN || record > ZFS_RECORD_BYTES_MAX || record & (record - 1))
		return "a recordsize is a power of two from 512 bytes to 16 MiB";
	fs->record_bytes = (uint32_t)record;
	if (mount->options.device_bytes == 0)
		return NULL;
	fs->space = zfs_space_create(mount->options.device_bytes, &fs->version->space,
				     mount->options.metaslabs);
	if (!fs->space)
		return "a pool needs a device of 64 MiB to 8 TiB";
	zfs_maps_create(fs);
	return NULL;
}

/* What came before is nobody's work: maps are as long as what is free now needs. */
static void pool_mount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_space_load load;

	zfs_log_begin(fs);
	if (!fs->space)
		return;
	if (zfs_space_usable_bytes(fs->space) == 0)
		mount->is_out_of_space = true;
	while (zfs_space_load_next(fs->space, &load))
		;
	if (fs->maps)
		zfs_maps_begin(fs);
	fs->work_before = fs->work_paid = *zfs_space_work(fs->space);
}

static void zfs_mount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = memory_alloc(1, sizeof(*fs));
	struct tree *tree = mount->tree;
	struct arc_config config = {
		.rules = arc_rules_of(mount->cache),
		.memory_bytes = cache_memory_bytes(mount->cache),
		.size_max_bytes = mount->options.arc_max_bytes,
		.meta_percent = mount->options.arc_meta_percent,
	};

	mount->state = fs;
	fs->version = zfs_version_of(config.rules);
	fs->arc = arc_create(mount->cache, &config);
	fs->txg = 1;
	fs->txg_opened_ns = mount->now_ns;
	fs->dirty_max = config.memory_bytes * DIRTY_MAX_PERCENT / 100;
	fs->dirty_max = fs->dirty_max < DIRTY_MAX_BYTES ? fs->dirty_max : DIRTY_MAX_BYTES;
	(void)zfs_file_get(fs, ZFS_DNODES);
	metadata_file(&fs->files.at[ZFS_DNODES]);
	mount->failure = options_set(mount, fs);
	if (mount->failure) {
		fs->record_bytes = ZFS_RECORD_BYTES_DEFAULT;
		return;
	}
	for (uint32_t node = 0; node < tree->nodes.count && !mount->is_out_of_space; node++)
		if (tree_exists(tree, node) && !node_place(mount, node))
			mount->is_out_of_space = true;
	zfs_records_grow(&fs->files.at[ZFS_DNODES],
			 fs->next_object / ZFS_BLOCK_DNODES + UINT64_C(1));
	if (!mount->is_out_of_space && !file_place(fs, &fs->files.at[ZFS_DNODES]))
		mount->is_out_of_space = true;
	if (!mount->is_out_of_space)
		pool_mount(mount);
}

static void zfs_unmount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	for (size_t i = 0; i < fs->files.count; i++) {
		struct zfs_file *file = &fs->files.at[i];

		memory_free(file->records);
		memory_free(file->dirty);
		memory_free(file->committed);
		memory_free(file->seen);
		memory_free(file->indirect[0]);
		memory_free(file->indirect[1]);
	}
	arc_destroy(fs->arc);
	zfs_maps_destroy(fs);
	zfs_space_destroy(fs->space);
	array_deinit(&fs->files);
	array_deinit(&fs->gangs);
	array_deinit(&fs->pieces);
	array_deinit(&fs->dirty);
	array_deinit(&fs->syncing);
	array_deinit(&fs->indirect_syncing);
	array_deinit(&fs->dying);
	array_deinit(&fs->pool);
	array_deinit(&fs->log.writes);
	array_deinit(&fs->log.blocks);
	array_deinit(&fs->log.blocks_syncing);
	memory_free(fs);
}

/* The block of the node's directory that has its name. */
static uint64_t directory_block(struct filesystem_mount *mount, uint32_t node, uint32_t *directory)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	const struct tree_node *parent = &mount->tree->nodes.at[at->parent];
	struct zfs_file *file = directory_get(mount->state, parent->file);

	*directory = parent->file;
	if (file->record_count == 0)
		zfs_records_grow(file, 1);
	return at->hash % file->record_count;
}

static void zfs_lookup(struct filesystem_mount *mount, uint32_t node)
{
	uint32_t directory;
	uint64_t block;

	if (!mount->tree->nodes.at[mount->tree->nodes.at[node].parent].file)
		return;
	block = directory_block(mount, node, &directory);
	zfs_metadata_use(mount, directory, block, &mount->state->figures.directory_reads);
}

static void zfs_inode_read(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	const struct zfs_file *at = zfs_file_get(fs, mount->tree->nodes.at[node].file);

	zfs_records_grow(&fs->files.at[ZFS_DNODES], at->object / ZFS_BLOCK_DNODES + UINT64_C(1));
	zfs_metadata_use(mount, ZFS_DNODES, at->object / ZFS_BLOCK_DNODES,
			 &fs->figures.dnode_reads);
}

/* An entry of the node's directory changes. */
static void entry_change(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	uint32_t directory;
	uint64_t block = directory_block(mount, node, &directory);
	const struct tree_node *parent = &mount->tree->nodes.at[mount->tree->nodes.at[node].parent];

	zfs_records_grow(&fs->files.at[directory],
			 parent->entries / DIRECTORY_BLOCK_ENTRIES + UINT64_C(1));
	zfs_metadata_use(mount, directory, block, &fs->figures.directory_reads);
	zfs_record_make_dirty(mount, directory, (uint32_t)block, false);
	zfs_dnode_dirty(mount, directory);
	mount_cpu(mount, ZFS_CPU_CREATE_NS);
}

static void zfs_create(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	const struct tree_node *at = &mount->tree->nodes.at[node];

	/* Objects are numbered in order; numbers that were given back are not used soon. */
	if (at->is_directory)
		zfs_records_grow(directory_get(fs, at->file), 1);
	else
		(void)zfs_file_get(fs, at->file);
	zfs_dnode_dirty(mount, at->file);
	entry_change(mount, node);
	zfs_log_name(fs, LOG_CREATE_BYTES + at->name_bytes + 1u);
}

static void zfs_remove(struct filesystem_mount *mount, uint32_t node)
{
	struct filesystem_state *fs = mount->state;
	const struct tree_node *at = &mount->tree->nodes.at[node];

	(void)zfs_file_get(fs, at->file);
	entry_change(mount, node);
	*array_push(&fs->dying) = at->file;
	zfs_log_name(fs, LOG_REMOVE_BYTES + at->name_bytes + 1u);
}

/* zfs_link_create(): a name more, and the dnode's link count. */
static void zfs_linked(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	(void)zfs_file_get(mount->state, at->file);
	zfs_dnode_dirty(mount, at->file);
	entry_change(mount, node);
	zfs_log_name(mount->state, LOG_LINK_BYTES + at->name_bytes + 1u);
}

static void zfs_unlinked(struct filesystem_mount *mount, uint32_t node)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];

	(void)zfs_file_get(mount->state, at->file);
	zfs_dnode_dirty(mount, at->file);
	entry_change(mount, node);
	zfs_log_name(mount->state, LOG_REMOVE_BYTES + at->name_bytes + 1u);
}

/* zap_cursor_retrieve(): the directory's leaves, one after the other. */
static bool zfs_readdir(struct filesystem_mount *mount, uint32_t node, uint64_t *place)
{
	struct filesystem_state *fs = mount->state;
	uint32_t directory = mount->tree->nodes.at[node].file;
	const struct zfs_file *file = directory_get(fs, directory);

	if (file->record_count == 0)
		return false;
	zfs_metadata_use(mount, directory, *place, &fs->figures.directory_reads);
	return ++*place < fs->files.at[directory].record_count;
}

static void zfs_renamed(struct filesystem_mount *mount, uint32_t from, uint32_t to)
{
	const struct tree_node *at = &mount->tree->nodes.at[to];
	uint32_t file = mount_renamed(mount, from, to);

	entry_change(mount, from);
	entry_change(mount, to);
	if (file) {
		(void)zfs_file_get(mount->state, file);
		zfs_dnode_dirty(mount, file);
	}
	zfs_log_name(mount->state, LOG_RENAME_BYTES + 2u + at->name_bytes +
					   mount->tree->nodes.at[from].name_bytes);
}

/* Truncated: whole records beyond the end go; longer: a hole. */
static void zfs_resized(struct filesystem_mount *mount, uint32_t node, uint64_t old_bytes,
			uint64_t new_bytes)
{
	struct filesystem_state *fs = mount->state;
	uint32_t file = mount->tree->nodes.at[node].file;
	const struct zfs_file *at;
	uint64_t keep;

	if (!file || new_bytes >= old_bytes)
		return;
	at = zfs_file_get(fs, file);
	keep = at->record_bytes ? (new_bytes + at->record_bytes - 1) / at->record_bytes : 0;
	for (uint64_t record = keep; record < at->record_count; record += ZFS_POINTERS)
		(void)zfs_indirect_use(mount, file, record, &fs->figures.indirect_reads_to_free);
	zfs_records_free(mount, file, keep);
	zfs_dnode_dirty(mount, file);
}

static uint64_t zfs_free_bytes(const struct filesystem_mount *mount)
{
	return mount->state->space ? zfs_space_usable_bytes(mount->state->space) : 0;
}

static uint64_t zfs_free_run_bytes(const struct filesystem_mount *mount)
{
	return mount->state->space ? zfs_space_mean_run_bytes(mount->state->space) : 0;
}

static uint64_t zfs_cache_bytes(const struct filesystem_mount *mount)
{
	return arc_size_bytes(mount->state->arc);
}

const struct filesystem filesystem_zfs = {
	.name = "zfs",
	.summary = "copy on write in records, cached by an ARC of its own",
	.core =
		{
			.folios = CACHE_FOLIOS_NEVER,
			.reads_without_fs = true,
			.writes_without_fs = true,
			.data_in_arc = true,
			.dentry_bytes = 200,
			.inline_name_bytes = 39,
			.long_name_bytes = 104,
			/* znode with its inode, dnode, attributes: an estimate */
			.inode_bytes = 3072,
			.node_bytes = 592,
		},
	.device_io_pages = 32,
	.mount = zfs_mount,
	.unmount = zfs_unmount,
	.lookup = zfs_lookup,
	.inode_read = zfs_inode_read,
	.create = zfs_create,
	.remove = zfs_remove,
	.linked = zfs_linked,
	.unlinked = zfs_unlinked,
	.readdir = zfs_readdir,
	.tick = zfs_tick,
	.fetch = zfs_fetch,
	.write_back = zfs_write_back,
	.sync = zfs_sync,
	.renamed = zfs_renamed,
	.resized = zfs_resized,
	.background = zfs_background,
	.counting_begins = zfs_counting_begins,
	.report = zfs_report,
	.free_bytes = zfs_free_bytes,
	.cache_bytes = zfs_cache_bytes,
	.free_run_bytes = zfs_free_run_bytes,
	.read = zfs_read,
	.expect = zfs_expect,
	.write = zfs_write,
};
