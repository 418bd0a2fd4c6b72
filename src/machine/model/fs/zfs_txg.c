/*
 * zfs_txg: transaction groups
 *
 * Idea       What is written belongs to the open group. Every 5 s, or when it holds a fifth of what
 *            may be dirty, it is synced while the next one opens: records are written to new places,
 *            then the blocks that point to them, up to the pool's own metadata, a flush, the
 *            uberblocks, a flush. What was there before can be used again two groups later. Writers
 *            are held up as dirty data comes near its limit.
 * Source     OpenZFS 2.2.0 module/zfs/txg.c: txg_sync_thread() (zfs_txg_timeout 5); dsl_pool.c:
 *            zfs_dirty_data_max_percent 10, zfs_dirty_data_sync_percent 20, dsl_pool_need_dirty_sync();
 *            dmu_tx.c: dmu_tx_delay() (zfs_delay_min_dirty_percent 60, zfs_delay_scale 500000);
 *            dmu.c: dmu_write_policy() (metadata has one copy more, the pool's own three);
 *            vdev_label.c: vdev_config_sync()
 * Differs    1. dirty data counts until its group is on the device, not until its block is
 *            2. a group's data comes in the order of files and records
 *            3. a group's writes are under way as many at once as the kernel's write-back
 *            4. the pool's own metadata is a fixed number of blocks, and what the space maps take
 */
#include <assert.h>
#include <stdlib.h>

#include "base/prefetch.h"
#include "machine/model/fs/zfs_private.h"

enum {
	TXG_SECONDS = 5,
	SYNC_PERCENT = 20,
	DELAY_MIN_PERCENT = 60,
	DELAY_SCALE = 500000,
	DELAY_MOST_NS = 100 * 1000 * 1000, /* zfs_delay_max_ns */
	UBERBLOCKS = 32,                   /* in a label of 256 KiB, 4 KiB each: half of it */
	LABEL_BYTES = 256 << 10,
	LABELS = 4,
	/*
	 * Blocks of 4 KiB, an estimate: the upper levels of the file of dnodes (six, two copies
	 * each), the file system's own block (two), and three copies each of the pool's: dnode
	 * blocks of data set, directory and space maps (three), levels above them (three), its own
	 * block.
	 */
	POOL_BLOCKS = 6 * 2 + 2 + 3 * 7,
	/* An entry of a space map: half of it for what is allocated, half for what is freed. */
	MAP_ENTRY_BYTES = 16,
};

/* ---- writers ---- */

void zfs_throttle(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	uint64_t dirty = fs->dirty_open_bytes + fs->dirty_syncing_bytes, most = fs->dirty_max;
	uint64_t least = most * DELAY_MIN_PERCENT / 100, wait_ns, until;

	if (!mount->io || dirty <= least)
		return;
	/* At the limit a writer waits for the group; it asks again 100 ms later. */
	wait_ns = dirty >= most ? DELAY_MOST_NS : DELAY_SCALE * (dirty - least) / (most - dirty);
	if (wait_ns > DELAY_MOST_NS)
		wait_ns = DELAY_MOST_NS;
	until = (fs->throttle_ns > mount->now_ns ? fs->throttle_ns : mount->now_ns) + wait_ns;
	fs->throttle_ns = until;
	mount->io->sleep_ns += until - mount->now_ns;
	fs->figures.throttled_ns += until - mount->now_ns;
}

/* ---- writing a group ---- */

static int by_place(const void *a, const void *b)
{
	const struct zfs_dirty *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->record < other->record ? -1 : one->record > other->record;
}

static void record_write(struct filesystem_mount *mount, struct zfs_file *file, uint32_t record)
{
	struct filesystem_state *fs = mount->state;
	uint32_t units = zfs_record_units(file, record);

	for (uint32_t copy = 0; copy < file->copies; copy++) {
		uint32_t *address = &file->records[(uint64_t)record * file->copies + copy];

		if (*address)
			zfs_block_free(fs, *address, record == 0 ? file->first_units : units);
		*address = zfs_block_write(mount, units, file->is_metadata);
	}
	if (record == 0)
		file->first_units = units;
	if (file->is_metadata) {
		fs->figures.metadata_bytes += (uint64_t)units * file->copies * ZFS_UNIT_BYTES;
	} else {
		fs->figures.data_bytes += (uint64_t)units * ZFS_UNIT_BYTES;
		fs->figures.record_writes++;
	}
}

/* The records of a group lie anywhere: those ahead are fetched while this one is dealt with. */
enum { AHEAD_FAR = 12, AHEAD_NEAR = 6, AHEAD_NEXT = 3 };

static void syncing_prefetch(const struct filesystem_state *fs, size_t i, uint32_t ahead,
			     enum arc_prefetch step)
{
	const struct zfs_dirty *dirty = &fs->syncing.at[i + ahead];

	if (i + ahead < fs->syncing.count)
		arc_prefetch(fs->arc, zfs_key(ZFS_KEY_RECORD, dirty->file, dirty->record), step);
}

/* Records of data, or of metadata. What the intent log has put in its place already stays there. */
static void records_write(struct filesystem_mount *mount, bool is_metadata)
{
	struct filesystem_state *fs = mount->state;

	for (size_t i = 0; i < fs->syncing.count; i++) {
		struct zfs_dirty dirty = fs->syncing.at[i];
		struct zfs_file *file = &fs->files.at[dirty.file];

		if (i + AHEAD_FAR < fs->syncing.count) {
			const struct zfs_dirty *ahead = &fs->syncing.at[i + AHEAD_FAR];
			const struct zfs_file *at = &fs->files.at[ahead->file];

			if (ahead->record < at->record_count)
				prefetch_write(&at->records[(size_t)ahead->record * at->copies]);
		}
		if (file->is_metadata != is_metadata || dirty.record >= file->record_count ||
		    !zfs_bit(file->dirty, dirty.record))
			continue;
		zfs_bit_set(file->dirty, dirty.record, false);
		if (zfs_bit(file->committed, dirty.record))
			zfs_bit_set(file->committed, dirty.record, false);
		else
			record_write(mount, file, dirty.record);
	}
}

static void indirect_write(struct filesystem_mount *mount, uint32_t file, int level, uint32_t index)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	struct zfs_indirect *block;

	if (index >= at->indirect_count[level] || !at->indirect[level][index].is_dirty)
		return;
	block = &at->indirect[level][index];
	block->is_dirty = false;
	for (int copy = 0; copy < 2; copy++)
		if (block->at[copy])
			zfs_block_free(fs, block->at[copy], block->units);
	block->units = zfs_indirect_units(at, level, index);
	for (int copy = 0; copy < 2; copy++)
		block->at[copy] = zfs_block_write(mount, block->units, true);
	fs->figures.metadata_bytes += (uint64_t)block->units * 2 * ZFS_UNIT_BYTES;
	*array_push(&fs->indirect_syncing) =
		(struct zfs_dirty){file, (uint32_t)level << 31 | index};
}

/* Each level after the one below it. */
static void indirects_write(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	for (int level = 0; level < 2; level++) {
		uint32_t shift = ZFS_POINTER_SHIFT * (uint32_t)(level + 1);

		mount_then(mount);
		for (size_t i = 0; i < fs->syncing.count; i++)
			indirect_write(mount, fs->syncing.at[i].file, level,
				       fs->syncing.at[i].record >> shift);
	}
}

static void pool_write(struct filesystem_mount *mount, uint64_t changes)
{
	struct filesystem_state *fs = mount->state;
	uint64_t blocks = POOL_BLOCKS + 3 * (changes * MAP_ENTRY_BYTES / ZFS_UNIT_BYTES + 1);

	if (!fs->space)
		return;
	for (size_t i = 0; i < fs->pool.count; i++)
		zfs_space_free(fs->space, fs->pool.at[i].at, fs->pool.at[i].units);
	fs->pool.count = 0;
	for (uint64_t i = 0; i < blocks; i++) {
		struct zfs_extent pieces[ZFS_PIECES_MAX];

		if (!zfs_space_allocate(fs->space, 1, ZFS_SPACE_BLOCK, pieces))
			return;
		mount_write(mount, (uint64_t)pieces[0].at * ZFS_UNIT_BYTES, ZFS_UNIT_BYTES);
		*array_push(&fs->pool) = pieces[0];
	}
	fs->figures.metadata_bytes += blocks * ZFS_UNIT_BYTES;
}

static void uberblocks_write(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	uint64_t place = LABEL_BYTES / 2 + fs->txg % UBERBLOCKS * ZFS_UNIT_BYTES;

	if (!fs->space)
		return;
	mount_then(mount);
	mount_flush(mount);
	mount_then(mount);
	for (uint64_t label = 0; label < LABELS; label++) {
		uint64_t start = label < 2
					 ? label * LABEL_BYTES
					 : mount->options.device_bytes / LABEL_BYTES * LABEL_BYTES -
						   (LABELS - label) * LABEL_BYTES;

		mount_write(mount, start + place, ZFS_UNIT_BYTES);
	}
	fs->figures.metadata_bytes += LABELS * ZFS_UNIT_BYTES;
	mount_then(mount);
	mount_flush(mount);
}

static void group_begin(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	typeof(fs->dirty) empty = fs->syncing;
	typeof(fs->log.blocks) no_blocks = fs->log.blocks_syncing;

	assert(!fs->is_syncing && empty.count == 0 && no_blocks.count == 0);
	fs->is_syncing = true;
	fs->syncing = fs->dirty;
	fs->dirty = empty;
	fs->dirty_syncing_bytes = fs->dirty_open_bytes;
	fs->dirty_open_bytes = 0;
	fs->log.blocks_syncing = fs->log.blocks;
	fs->log.blocks = no_blocks;
	fs->log.name_bytes[1] += fs->log.name_bytes[0];
	fs->log.name_bytes[0] = 0;
	fs->txg++;
	fs->txg_opened_ns = mount->now_ns;
	fs->figures.txgs++;

	if (fs->syncing.count > 1)
		qsort(fs->syncing.at, fs->syncing.count, sizeof(fs->syncing.at[0]), by_place);
	mount_then(mount);
	records_write(mount, false);
	mount_then(mount);
	records_write(mount, true);
	indirects_write(mount);
	mount_then(mount);
	pool_write(mount, fs->syncing.count);
	uberblocks_write(mount);
	zfs_space_pay(mount);
}

/* It is on the device: what it held is clean, unless the open group has changed it again. */
static void group_end(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	for (size_t i = 0; i < fs->syncing.count; i++) {
		struct zfs_dirty dirty = fs->syncing.at[i];
		struct zfs_file *file = &fs->files.at[dirty.file];
		uint64_t key = zfs_key(ZFS_KEY_RECORD, dirty.file, dirty.record);

		syncing_prefetch(fs, i, AHEAD_FAR, ARC_PREFETCH_BUCKET);
		syncing_prefetch(fs, i, AHEAD_NEAR, ARC_PREFETCH_HEADER);
		syncing_prefetch(fs, i, AHEAD_NEXT, ARC_PREFETCH_NEIGHBOURS);
		if (i == 0 || fs->syncing.at[i - 1].file != dirty.file)
			zfs_log_forget(fs, dirty.file, fs->txg - 1);
		if (dirty.record < file->record_count && !zfs_bit(file->dirty, dirty.record) &&
		    arc_is_dirty(fs->arc, key))
			arc_clean_as(fs->arc, key,
				     zfs_record_units(file, dirty.record) * ZFS_UNIT_BYTES);
	}
	for (size_t i = 0; i < fs->indirect_syncing.count; i++) {
		struct zfs_dirty dirty = fs->indirect_syncing.at[i];
		int level = (int)(dirty.record >> 31);
		uint32_t index = dirty.record & ~(1u << 31);
		struct zfs_file *file = &fs->files.at[dirty.file];
		uint64_t key =
			zfs_key(level ? ZFS_KEY_LEVEL_2 : ZFS_KEY_LEVEL_1, dirty.file, index);

		if (index < file->indirect_count[level] && !file->indirect[level][index].is_dirty &&
		    arc_is_dirty(fs->arc, key))
			arc_clean_as(fs->arc, key,
				     file->indirect[level][index].units * ZFS_UNIT_BYTES);
	}
	for (size_t i = 0; i < fs->log.blocks_syncing.count; i++)
		zfs_space_free(fs->space, fs->log.blocks_syncing.at[i].at,
			       fs->log.blocks_syncing.at[i].units);
	fs->log.blocks_syncing.count = 0;
	fs->log.name_bytes[1] = 0;
	fs->syncing.count = fs->indirect_syncing.count = 0;
	fs->dirty_syncing_bytes = 0;
	fs->is_syncing = false;
	if (fs->space)
		zfs_space_txg_end(fs->space);
}

/* ---- files that are gone ---- */

/* The pointers to a file's blocks are in its level-1 blocks: they must be read to free them. */
static void dying_free(struct filesystem_mount *mount, uint32_t file)
{
	struct filesystem_state *fs = mount->state;

	for (uint64_t index = 0; index < fs->files.at[file].indirect_count[0]; index++)
		(void)zfs_indirect_use(mount, file, index << ZFS_POINTER_SHIFT,
				       &fs->figures.indirect_reads_to_free);
	zfs_records_free(mount, file, 0);
	zfs_log_forget(fs, file, UINT64_MAX);
	zfs_dnode_dirty(mount, file);
	fs->files.at[file].is_gone = true;
	memory_free(fs->files.at[file].records);
	memory_free(fs->files.at[file].dirty);
	memory_free(fs->files.at[file].committed);
	memory_free(fs->files.at[file].seen);
	fs->files.at[file].records = NULL;
	fs->files.at[file].dirty = fs->files.at[file].committed = fs->files.at[file].seen = NULL;
	fs->files.at[file].record_capacity = 0;
}

static void all_dying_free(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	for (size_t i = 0; i < fs->dying.count; i++)
		dying_free(mount, fs->dying.at[i]);
	fs->dying.count = 0;
}

/* ---- when ---- */

static bool is_due(const struct filesystem_mount *mount)
{
	const struct filesystem_state *fs = mount->state;

	if (fs->dirty.count == 0)
		return false;
	return mount->now_ns - fs->txg_opened_ns >= TXG_SECONDS * NS_PER_SECOND ||
	       fs->dirty_open_bytes > fs->dirty_max * SYNC_PERCENT / 100;
}

/* Called again when all that it asked for the last time is done. */
void zfs_background(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	cache_stream(mount->cache, 0); /* on nobody's account: a group has everybody's */
	if (fs->is_syncing)
		group_end(mount);
	all_dying_free(mount);
	if (is_due(mount))
		group_begin(mount);
}

void zfs_tick(struct filesystem_mount *mount)
{
	if (mount->io)
		return;
	all_dying_free(mount);
	if (is_due(mount)) {
		group_begin(mount);
		group_end(mount);
	}
}
