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
 *            4. a file that is unlinked is freed at once, open or not
 *            5. what existed before lies in order, as after a restore
 *            6. with a cgroup nothing is known of the machine around it: its memory, of which the ARC
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

/* Addresses of blocks that are in pieces. */
#define GANG (1u << 31)

/* ---- blocks ---- */

void zfs_space_pay(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	const struct zfs_space_work *now;
	struct zfs_space_work *paid = &fs->work_paid;
	uint64_t ns;

	if (!fs->space)
		return;
	now = zfs_space_work(fs->space);
	ns = (now->allocations - paid->allocations) * ZFS_CPU_ALLOCATE_NS +
	     (now->searched - paid->searched) * ZFS_CPU_SEARCH_NS +
	     /* a list of ours that would be a tree there: two steps of it */
	     (now->best_fits - paid->best_fits) * 2 * ZFS_CPU_SEARCH_NS +
	     (now->loaded - paid->loaded) * ZFS_CPU_LOAD_NS;
	mount_cpu(mount, ns);
	fs->figures.allocation_cpu_ns += ns;
	/* Space maps are read where the pool's metadata is: anywhere. */
	if (now->loads != paid->loads && mount->io && mount->is_background)
		mount_read(mount, (uint64_t)ZFS_UNIT_BYTES << 10,
			   zfs_space_map_bytes(fs->space) / ZFS_UNIT_BYTES * ZFS_UNIT_BYTES +
				   ZFS_UNIT_BYTES);
	*paid = *now;
}

static uint32_t address_of(struct filesystem_state *fs, const struct zfs_extent *pieces,
			   uint32_t count)
{
	if (count == 1)
		return pieces[0].at;
	*array_push(&fs->gangs) = (struct zfs_gang){(uint32_t)fs->pieces.count, count};
	for (uint32_t i = 0; i < count; i++)
		*array_push(&fs->pieces) = pieces[i];
	return GANG | (uint32_t)(fs->gangs.count - 1);
}

static void io_ask(struct filesystem_mount *mount, enum io_kind kind, struct zfs_extent piece,
		   bool is_metadata)
{
	uint64_t offset = (uint64_t)piece.at * ZFS_UNIT_BYTES,
		 bytes = (uint64_t)piece.units * ZFS_UNIT_BYTES;

	if (is_metadata) {
		if (kind == IO_READ)
			mount_read(mount, offset, bytes);
		else
			mount_write(mount, offset, bytes);
		return;
	}
	if (kind == IO_READ)
		cache_read_outside(mount->cache, bytes);
	else
		cache_write_outside(mount->cache, bytes);
	if (mount->io)
		mount_data(mount, kind, offset, bytes);
}

/* 0: there is no room. */
static uint32_t block_place(struct filesystem_state *fs, uint32_t units, struct zfs_extent *pieces,
			    uint32_t *count)
{
	if (!fs->space) {
		*count = 1;
		pieces[0] = (struct zfs_extent){1, units};
		return 1;
	}
	*count = zfs_space_allocate(fs->space, units, ZFS_SPACE_BLOCK, pieces);
	return *count ? address_of(fs, pieces, *count) : 0;
}

uint32_t zfs_block_write(struct filesystem_mount *mount, uint32_t units, bool is_metadata)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_extent pieces[ZFS_PIECES_MAX];
	uint32_t count, address = block_place(fs, units, pieces, &count);

	if (!address) {
		mount->is_out_of_space = true;
		return 0;
	}
	mount_cpu(mount, ZFS_CPU_ZIO_NS * count +
				 (uint64_t)units * ZFS_UNIT_BYTES / ZFS_CPU_CHECKSUM_BYTES_PER_NS);
	for (uint32_t i = 0; i < count; i++)
		io_ask(mount, IO_WRITE, pieces[i], is_metadata);
	return address;
}

void zfs_block_read(struct filesystem_mount *mount, uint32_t address, uint32_t units,
		    bool is_metadata)
{
	struct filesystem_state *fs = mount->state;

	mount_cpu(mount, ZFS_CPU_ZIO_NS +
				 (uint64_t)units * ZFS_UNIT_BYTES / ZFS_CPU_CHECKSUM_BYTES_PER_NS);
	if (address & GANG) {
		struct zfs_gang gang = fs->gangs.at[address & ~GANG];

		for (uint32_t i = 0; i < gang.count; i++)
			io_ask(mount, IO_READ, fs->pieces.at[gang.first + i], is_metadata);
		return;
	}
	io_ask(mount, IO_READ, (struct zfs_extent){address, units}, is_metadata);
}

void zfs_block_free(struct filesystem_state *fs, uint32_t address, uint32_t units)
{
	struct zfs_gang gang;

	if (!fs->space)
		return;
	if (!(address & GANG)) {
		zfs_space_free(fs->space, address, units);
		return;
	}
	gang = fs->gangs.at[address & ~GANG];
	for (uint32_t i = 0; i < gang.count; i++)
		zfs_space_free(fs->space, fs->pieces.at[gang.first + i].at,
			       fs->pieces.at[gang.first + i].units);
}

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
	struct zfs_extent pieces[ZFS_PIECES_MAX];
	uint32_t count;

	for (uint64_t i = 0; i < (uint64_t)at->record_count * at->copies; i++) {
		uint32_t units = zfs_record_units(at, i / at->copies);

		at->records[i] = block_place(fs, units, pieces, &count);
		if (!at->records[i])
			return false;
		if (i == 0)
			at->first_units = units;
	}
	for (int level = 0; level < 2; level++)
		for (uint32_t i = 0; i < at->indirect_count[level]; i++) {
			struct zfs_indirect *block = &at->indirect[level][i];

			block->units = zfs_indirect_units(at, level, i);
			for (int copy = 0; copy < 2; copy++) {
				block->at[copy] = block_place(fs, block->units, pieces, &count);
				if (!block->at[copy])
					return false;
			}
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
	fs->space = zfs_space_create(mount->options.device_bytes);
	return fs->space ? NULL : "a pool needs a device of 64 MiB to 8 TiB";
}

static void zfs_mount(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = memory_alloc(1, sizeof(*fs));
	struct tree *tree = mount->tree;
	struct arc_config config = {
		.rules = arc_rules_of(mount->cache),
		.memory_bytes = cache_memory_bytes(mount->cache),
	};

	mount->state = fs;
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
	if (fs->space) {
		if (zfs_space_usable_bytes(fs->space) == 0)
			mount->is_out_of_space = true;
		/* What came before is nobody's work. */
		fs->work_before = fs->work_paid = *zfs_space_work(fs->space);
	}
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
	.report = zfs_report,
	.free_bytes = zfs_free_bytes,
	.cache_bytes = zfs_cache_bytes,
	.read = zfs_read,
	.expect = zfs_expect,
	.write = zfs_write,
};
