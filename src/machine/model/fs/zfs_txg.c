/*
 * zfs_txg: transaction groups
 *
 * Idea       What is written belongs to the open group. Every 5 s, or when enough is dirty (64 MiB;
 *            since 0.8 a fifth of what may be), it is synced while the next one opens: records are
 *            written to new places, then the blocks that point to them, up to the pool's own
 *            metadata, a flush, the uberblocks, a flush. What was there before can be used again
 *            two groups later. Writers are held up as dirty data comes near its limit. A group is
 *            done in parts, each as long as it takes to find a place for all of its blocks: in a
 *            pool of short free runs that, not the device, is what a group lasts.
 * Source     OpenZFS 0.7.9 and 2.2.0 module/zfs/txg.c: txg_sync_thread() (zfs_txg_timeout 5);
 *            dsl_pool.c: zfs_dirty_data_max_percent 10, zfs_dirty_data_sync, _sync_percent;
 *            dmu_tx.c: dmu_tx_delay() (zfs_delay_min_dirty_percent 60, zfs_delay_scale 500000);
 *            dmu.c: dmu_write_policy() (metadata has one copy more, the pool's own three);
 *            vdev_label.c: vdev_config_sync(); vdev_queue.c: vdev_queue_max_async_writes()
 * Differs    1. dirty data counts until its group is on the device, not until its block is
 *            2. a group's data comes in the order of files and records
 *            3. the pool's own metadata is a fixed number of blocks, and what the space maps take
 *            4. blocks are placed by one thread after the other, as the lock has it: the time that
 *               they work side by side (checksums) counts as processor time, not as the group's
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
	/* zfs_vdev_async_write_min_active, _max_active, _active_min_dirty_percent, _max_ */
	WRITES_LEAST = 2,
	WRITES_MOST = 10,
	WRITES_QUEUED = 100, /* zfs_vdev_queue_depth_pct of that */
	WRITES_LEAST_PERCENT = 30,
	WRITES_MOST_PERCENT = 60,
	/* A part is over when placing its blocks has taken so long: ours. */
	PART_NS = 10 * 1000 * 1000,
	UBERBLOCKS = 32, /* in a label of 256 KiB, 4 KiB each: half of it */
	LABEL_BYTES = 256 << 10,
	LABELS = 4,
	/*
	 * Blocks of 4 KiB, an estimate: the upper levels of the file of dnodes (six, two copies
	 * each), the file system's own block (two), and three copies each of the pool's: dnode
	 * blocks of data set, directory and space maps (three), levels above them (three), its own
	 * block.
	 */
	POOL_BLOCKS = 6 * 2 + 2 + 3 * 7,
	LOG_ENTRY_BYTES = 16, /* of the log of all space maps' changes: two words */
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

	zfs_block_rewrite(mount, units, record == 0 ? file->first_units : units,
			  &file->records[(uint64_t)record * file->copies], file->copies,
			  file->is_metadata);
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

/* A record of data, or of metadata. What the intent log has put in its place already stays there. */
static void dirty_write(struct filesystem_mount *mount, size_t i, bool is_metadata)
{
	struct filesystem_state *fs = mount->state;
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
		return;
	zfs_bit_set(file->dirty, dirty.record, false);
	if (zfs_bit(file->committed, dirty.record)) {
		zfs_bit_set(file->committed, dirty.record, false);
		return;
	}
	/* On account of whoever wrote it; what all share, on nobody's. */
	cache_stream(mount->cache, is_metadata ? 0 : dirty.stream);
	record_write(mount, file, dirty.record);
	cache_stream(mount->cache, 0);
}

static void indirect_write(struct filesystem_mount *mount, uint32_t file, int level, uint32_t index)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	struct zfs_indirect *block;
	uint32_t units;

	if (index >= at->indirect_count[level] || !at->indirect[level][index].is_dirty)
		return;
	block = &at->indirect[level][index];
	block->is_dirty = false;
	units = zfs_indirect_units(at, level, index);
	zfs_block_rewrite(mount, units, block->units, block->at, 2, true);
	block->units = units;
	fs->figures.metadata_bytes += (uint64_t)block->units * 2 * ZFS_UNIT_BYTES;
	*array_push(&fs->indirect_syncing) =
		(struct zfs_written){file, (uint32_t)level << 31 | index};
}

static void pool_write(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	uint64_t blocks = POOL_BLOCKS;

	if (!fs->space)
		return;
	if (fs->maps)
		zfs_maps_write(mount);
	else
		blocks += 3 * (zfs_space_changes(fs->space) * LOG_ENTRY_BYTES / ZFS_UNIT_BYTES + 1);
	for (size_t i = 0; i < fs->pool.count; i++)
		zfs_block_free(fs, fs->pool.at[i], 1);
	fs->pool.count = 0;
	for (uint64_t i = 0; i < blocks; i++) {
		uint32_t address = 0;

		zfs_block_rewrite(mount, 1, 1, &address, 1, true);
		if (!address)
			return;
		*array_push(&fs->pool) = address;
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

	assert(fs->stage == ZFS_IDLE && empty.count == 0 && no_blocks.count == 0);
	fs->stage = ZFS_RECORDS;
	fs->stage_next = 0;
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
}

/* One step of the present stage. False: the stage is over. */
static bool stage_step(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	size_t i = fs->stage_next++;
	const struct zfs_dirty *dirty;

	if (fs->stage == ZFS_POOL) {
		if (i == 0)
			pool_write(mount);
		else
			uberblocks_write(mount);
		return i == 0;
	}
	if (i >= fs->syncing.count)
		return false;
	dirty = &fs->syncing.at[i];
	if (fs->stage == ZFS_RECORDS)
		dirty_write(mount, i, false);
	else if (fs->stage == ZFS_METADATA)
		dirty_write(mount, i, true);
	else if (fs->stage == ZFS_LEVEL_1)
		indirect_write(mount, dirty->file, 0, dirty->record >> ZFS_POINTER_SHIFT);
	else
		indirect_write(mount, dirty->file, 1, dirty->record >> 2 * ZFS_POINTER_SHIFT);
	return true;
}

/* vdev_queue_max_async_writes(): the more is dirty, the more writes are under way at once. */
static uint32_t writes_at_once(const struct filesystem_state *fs)
{
	uint64_t dirty = fs->dirty_open_bytes + fs->dirty_syncing_bytes;
	uint64_t least = fs->dirty_max * WRITES_LEAST_PERCENT / 100,
		 most = fs->dirty_max * WRITES_MOST_PERCENT / 100;

	if (dirty < least)
		return WRITES_LEAST;
	if (dirty >= most)
		return WRITES_MOST;
	return (uint32_t)((dirty - least) * (WRITES_MOST - WRITES_LEAST) / (most - least)) +
	       WRITES_LEAST;
}

static int by_offset(const void *a, const void *b)
{
	const struct io *one = a, *other = b;

	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/*
 * A device's writes wait in the order of their places, those of a hundred blocks at a time: as many
 * are placed ahead of being written (zio_dva_throttle(): ten times the most that are under way).
 */
static void writes_sort(struct io_list *list)
{
	size_t first = 0;

	for (size_t i = 1; i <= list->at.count; i++) {
		bool begins_phase = list->at.at[first].begins_phase;

		if (i < list->at.count && i - first < WRITES_QUEUED &&
		    !list->at.at[i].begins_phase && list->at.at[i].kind == IO_WRITE)
			continue;
		if (list->at.at[first].kind == IO_WRITE) {
			list->at.at[first].begins_phase = false;
			qsort(&list->at.at[first], i - first, sizeof(list->at.at[0]), by_offset);
			list->at.at[first].begins_phase = begins_phase;
		}
		first = i;
	}
}

static uint64_t pay(struct filesystem_mount *mount, struct zfs_space_paid *sum)
{
	struct zfs_space_paid held = zfs_space_pay(mount);

	sum->place_ns += held.place_ns;
	sum->load_ns += held.load_ns;
	return sum->place_ns + sum->load_ns;
}

/* As much of the group as the allocator finds a place for in so long, stage after stage. */
static void group_part(struct filesystem_mount *mount)
{
	enum { STEPS = 16 };
	struct filesystem_state *fs = mount->state;
	struct zfs_space_paid held = {0};
	uint64_t allocations = fs->space ? zfs_space_work(fs->space)->allocations : 0;

	if (mount->io)
		mount->io->depth = writes_at_once(fs);
	for (uint32_t steps = 1; fs->stage != ZFS_WRITTEN; steps++) {
		if (!stage_step(mount)) {
			fs->stage++;
			fs->stage_next = 0;
			mount_then(mount);
		}
		if (steps % STEPS == 0 && pay(mount, &held) >= PART_NS && mount->io)
			break;
	}
	(void)pay(mount, &held);
	if (!mount->io || !fs->space)
		return;
	writes_sort(mount->io);
	allocations = zfs_space_work(fs->space)->allocations - allocations;
	fs->loading_until_ns = mount->now_ns + held.load_ns;
	fs->locked_until_ns = fs->loading_until_ns + held.place_ns;
	fs->lock_hold_ns = allocations ? held.place_ns / allocations : 0;
	mount->io->sleep_ns += held.load_ns + held.place_ns;
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
		struct zfs_written written = fs->indirect_syncing.at[i];
		int level = (int)(written.index >> 31);
		uint32_t index = written.index & ~(1u << 31);
		struct zfs_file *file = &fs->files.at[written.file];
		uint64_t key =
			zfs_key(level ? ZFS_KEY_LEVEL_2 : ZFS_KEY_LEVEL_1, written.file, index);

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
	fs->stage = ZFS_IDLE;
	mount->reached = fs->txg - 1;
	fs->figures.group_ns += mount->now_ns - fs->txg_opened_ns;
	if (mount->now_ns - fs->txg_opened_ns > fs->figures.group_ns_most)
		fs->figures.group_ns_most = mount->now_ns - fs->txg_opened_ns;
	if (fs->space) {
		zfs_space_txg_end(fs->space, mount->now_ns);
		(void)zfs_space_pay(mount);
	}
}

/* ---- files that are gone ---- */

/*
 * zfs_rmnode(): the pointers to a file's blocks are in its level-1 blocks: they must be read to free
 * them. As long as somebody has it open it stays (zfs_unlinked_add()).
 */
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

	size_t kept = 0;

	for (size_t i = 0; i < fs->dying.count; i++) {
		uint32_t file = fs->dying.at[i];

		if (cache_file_is_held(mount->cache, file))
			fs->dying.at[kept++] = file;
		else
			dying_free(mount, file);
	}
	fs->dying.count = kept;
}

/* ---- when ---- */

void zfs_txg_want(struct filesystem_state *fs, uint64_t txg)
{
	fs->txg_wanted = txg > fs->txg_wanted ? txg : fs->txg_wanted;
}

static bool is_due(const struct filesystem_mount *mount)
{
	const struct filesystem_state *fs = mount->state;
	const struct zfs_version *version = fs->version;
	uint64_t most = version->close_bytes ? version->close_bytes
					     : fs->dirty_max * version->close_percent / 100;

	if (fs->txg_wanted >= fs->txg)
		return true;
	if (fs->dirty.count == 0)
		return false;
	return mount->now_ns - fs->txg_opened_ns >= TXG_SECONDS * NS_PER_SECOND ||
	       fs->dirty_open_bytes > most;
}

/* Called again when all that it asked for the last time is done. */
void zfs_background(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	cache_stream(mount->cache, 0);
	if (fs->stage == ZFS_WRITTEN)
		group_end(mount);
	if (fs->stage == ZFS_IDLE) {
		all_dying_free(mount);
		if (is_due(mount))
			group_begin(mount);
	}
	if (fs->stage != ZFS_IDLE)
		group_part(mount);
	mount->goes_on = fs->stage != ZFS_IDLE;
}

void zfs_tick(struct filesystem_mount *mount)
{
	if (mount->io)
		return;
	all_dying_free(mount);
	if (is_due(mount)) {
		group_begin(mount);
		group_part(mount);
		group_end(mount);
	}
}
