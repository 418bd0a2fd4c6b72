/*
 * zfs_data: records read and written, through the ARC
 *
 * Idea       To reach a record its indirect blocks must be in the ARC: they are read first, one
 *            after the other, then the record. A write that covers a record in part needs the old
 *            one; one that covers it whole does not, but still the level-1 block, because the old
 *            pointer is there. New indirect blocks are made, not read.
 * Source     OpenZFS 2.2.0 module/zfs/dbuf.c: dbuf_hold_impl(), dbuf_findbp() (reads the parents),
 *            dbuf_dirty(); module/zfs/dmu.c: dmu_buf_hold_array_by_dnode(), dmu_write_uio_dnode()
 *            (a whole record is filled, not read); module/zfs/zfs_vnops.c: zfs_write(),
 *            zfs_grow_blocksize(); module/zfs/dmu_zfetch.c
 * Differs    1. two levels of indirect blocks; the next, one block for 8 TiB at 8 KiB, is always there
 *            2. a file has one stream of prefetch, which begins with the second read in order
 *            3. no compression: a record takes what it holds
 */
#include <assert.h>
#include <string.h>

#include "base/prefetch.h"
#include "machine/model/fs/zfs_private.h"

enum {
	/* zfetch_min_distance, zfetch_max_distance of 2.2 */
	AHEAD_LEAST_BYTES = 4 << 20,
	AHEAD_MOST_BYTES = 64 << 20,
};

/* ---- sizes ---- */

static uint32_t units_of(uint64_t bytes)
{
	return (uint32_t)((bytes + ZFS_UNIT_BYTES - 1) / ZFS_UNIT_BYTES);
}

/* As it would be written now. Metadata is compressed, to half of its size: an estimate. */
uint32_t zfs_record_units(const struct zfs_file *file, uint64_t record)
{
	(void)record;
	return file->is_metadata ? units_of(file->record_bytes / 2) : units_of(file->record_bytes);
}

static uint64_t pointers_of(const struct zfs_file *file, int level, uint32_t index)
{
	uint64_t below = level == 0 ? file->record_count : file->indirect_count[0];
	uint64_t before = (uint64_t)index << ZFS_POINTER_SHIFT;

	below = below > before ? below - before : 0;
	return below < ZFS_POINTERS ? below : ZFS_POINTERS;
}

uint32_t zfs_indirect_units(const struct zfs_file *file, int level, uint32_t index)
{
	return zfs_indirect_bytes(pointers_of(file, level, index)) / ZFS_UNIT_BYTES;
}

static uint64_t *bits_grow(uint64_t *bits, uint64_t old_count, uint64_t count)
{
	uint64_t old_words = (old_count + 63) / 64, words = (count + 63) / 64;

	bits = memory_resize(bits, words, sizeof(*bits));
	memset(bits + old_words, 0, (words - old_words) * sizeof(*bits));
	return bits;
}

static void indirect_grow(struct zfs_file *file, int level, uint64_t count)
{
	uint32_t old = file->indirect_count[level];

	if (count <= old)
		return;
	file->indirect[level] =
		memory_resize(file->indirect[level], count, sizeof(*file->indirect[level]));
	memset(file->indirect[level] + old, 0, (count - old) * sizeof(*file->indirect[level]));
	file->indirect_count[level] = (uint32_t)count;
}

static uint64_t blocks_above(uint64_t count)
{
	return count > 1 ? (count + ZFS_POINTERS - 1) / ZFS_POINTERS : 0;
}

void zfs_records_grow(struct zfs_file *file, uint64_t count)
{
	uint64_t capacity = file->record_capacity;

	assert(count <= UINT32_MAX / 2);
	if (count <= file->record_count)
		return;
	if (count > capacity) {
		uint64_t more = capacity + capacity / 4 + 4;

		more = count > more ? count : more;
		file->records =
			memory_resize(file->records, more * file->copies, sizeof(*file->records));
		memset(file->records + capacity * file->copies, 0,
		       (more - capacity) * file->copies * sizeof(*file->records));
		file->dirty = bits_grow(file->dirty, capacity, more);
		file->committed = bits_grow(file->committed, capacity, more);
		file->seen = bits_grow(file->seen, capacity, more);
		file->record_capacity = (uint32_t)more;
	}
	file->record_count = (uint32_t)count;
	indirect_grow(file, 0, blocks_above(count));
	indirect_grow(file, 1, blocks_above(file->indirect_count[0]));
}

/* ---- the way to a record ---- */

static bool is_stored(const struct zfs_file *file, uint64_t record)
{
	return record < file->record_count && file->records[record * file->copies] != 0;
}

/* As record 0 is on the device, and the others are. */
static uint32_t stored_units(const struct zfs_file *file, uint64_t record)
{
	return record == 0 ? file->first_units : zfs_record_units(file, record);
}

static struct arc_buffer indirect_buffer(const struct zfs_file *at, uint32_t file, int level,
					 uint32_t index)
{
	const struct zfs_indirect *block = &at->indirect[level][index];

	return (struct arc_buffer){
		.key = zfs_key(level == 0 ? ZFS_KEY_LEVEL_1 : ZFS_KEY_LEVEL_2, file, index),
		.bytes = (block->units ? block->units : zfs_indirect_units(at, level, index)) *
			 ZFS_UNIT_BYTES,
		.logical_bytes = ZFS_INDIRECT_BYTES,
		.type = ARC_METADATA,
	};
}

bool zfs_indirect_use(struct filesystem_mount *mount, uint32_t file, uint64_t record,
		      uint64_t *reads)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t index = record >> ZFS_POINTER_SHIFT;
	bool is_read = false;

	for (int level = 1; level >= 0; level--) {
		uint64_t here = level == 1 ? index >> ZFS_POINTER_SHIFT : index;
		struct arc_buffer buffer;

		if (here >= at->indirect_count[level])
			continue;
		buffer = indirect_buffer(at, file, level, (uint32_t)here);
		/* Neither on the device nor made yet: a hole. */
		if (!at->indirect[level][here].at[0] && !arc_is_dirty(fs->arc, buffer.key))
			continue;
		if (arc_use_buffer(fs->arc, &buffer, ARC_USE_DEMAND, mount->now_ns))
			continue;
		mount_then(mount);
		zfs_block_read(mount, at->indirect[level][here].at[0],
			       at->indirect[level][here].units, true);
		++*reads;
		is_read = true;
	}
	if (is_read)
		mount_then(mount);
	return is_read;
}

static struct arc_buffer record_buffer(const struct zfs_file *at, uint32_t file, uint64_t record)
{
	return (struct arc_buffer){
		.key = zfs_key(ZFS_KEY_RECORD, file, record),
		.bytes = zfs_record_units(at, record) * ZFS_UNIT_BYTES,
		.logical_bytes = at->is_metadata ? at->record_bytes : 0,
		.type = at->is_metadata ? ARC_METADATA : ARC_DATA,
	};
}

/* The record's own bytes, from the device. Readers of its pages wait for them. */
static void record_read(struct filesystem_mount *mount, uint32_t file, uint64_t record,
			enum arc_use use)
{
	struct filesystem_state *fs = mount->state;
	const struct zfs_file *at = &fs->files.at[file];
	size_t first = mount->io ? mount->io->at.count : 0;
	uint64_t page = record * at->record_bytes / PAGE_BYTES;

	zfs_block_read(mount, at->records[record * at->copies], stored_units(at, record),
		       at->is_metadata);
	for (size_t i = first; mount->io && i < mount->io->at.count && !at->is_metadata; i++) {
		struct io *io = &mount->io->at.at[i];

		io->file = file;
		io->index = page;
		io->is_background |= use == ARC_USE_PREFETCH;
		page += io->bytes / PAGE_BYTES;
	}
	if (!at->is_metadata) {
		fs->figures.record_reads++;
		cache_count_own(mount->cache, 0, 0,
				zfs_bit(at->seen, record) ? at->record_bytes : 0);
	}
}

void zfs_metadata_use(struct filesystem_mount *mount, uint32_t file, uint64_t record,
		      uint64_t *reads)
{
	struct filesystem_state *fs = mount->state;
	struct arc_buffer buffer = record_buffer(&fs->files.at[file], file, record);
	uint64_t indirect = 0;

	if (!is_stored(&fs->files.at[file], record) && !arc_is_dirty(fs->arc, buffer.key))
		return;
	if (!arc_has(fs->arc, buffer.key))
		(void)zfs_indirect_use(mount, file, record, &indirect);
	if (!arc_use_buffer(fs->arc, &buffer, ARC_USE_DEMAND, mount->now_ns)) {
		mount_then(mount);
		record_read(mount, file, record, ARC_USE_DEMAND);
		mount_then(mount);
		++*reads;
	}
}

/* ---- dirty ---- */

static void indirect_make_dirty(struct filesystem_mount *mount, uint32_t file, uint64_t record)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t index = record >> ZFS_POINTER_SHIFT;

	for (int level = 0; level < 2; level++, index >>= ZFS_POINTER_SHIFT) {
		struct arc_buffer buffer;

		if (index >= at->indirect_count[level] || at->indirect[level][index].is_dirty)
			continue;
		at->indirect[level][index].is_dirty = true;
		buffer = indirect_buffer(at, file, level, (uint32_t)index);
		if (arc_has(fs->arc, buffer.key))
			arc_dirty(fs->arc, buffer.key);
		else
			arc_make_buffer(fs->arc, &buffer, mount->now_ns);
	}
}

void zfs_record_make_dirty(struct filesystem_mount *mount, uint32_t file, uint32_t record,
			   bool is_whole)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	struct arc_buffer buffer = record_buffer(at, file, record);

	if (!is_whole && arc_has(fs->arc, buffer.key))
		arc_dirty(fs->arc, buffer.key);
	else
		arc_make_buffer(fs->arc, &buffer, mount->now_ns);
	at = &fs->files.at[file];
	zfs_bit_set(at->seen, record, true);
	zfs_bit_set(at->committed, record, false);
	if (zfs_bit(at->dirty, record))
		return;
	zfs_bit_set(at->dirty, record, true);
	if (!at->is_metadata)
		fs->dirty_open_bytes += at->record_bytes;
	*array_push(&fs->dirty) = (struct zfs_dirty){file, record, cache_stream_of(mount->cache)};
	indirect_make_dirty(mount, file, record);
}

void zfs_records_free(struct filesystem_mount *mount, uint32_t file, uint64_t first)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t freed = 0;

	for (uint64_t record = first; record < at->record_count; record++) {
		arc_forget(fs->arc, zfs_key(ZFS_KEY_RECORD, file, record));
		if (zfs_bit(at->dirty, record) && !at->is_metadata)
			fs->dirty_open_bytes -= at->record_bytes;
		zfs_bit_set(at->dirty, record, false);
		zfs_bit_set(at->seen, record, false);
		zfs_bit_set(at->committed, record, false);
		for (uint32_t copy = 0; copy < at->copies; copy++) {
			uint32_t *address = &at->records[record * at->copies + copy];

			if (*address) {
				zfs_block_free(fs, *address, stored_units(at, record));
				freed++;
			}
			*address = 0;
		}
	}
	if (first < at->record_count)
		at->record_count = (uint32_t)first;
	for (int level = 0; level < 2; level++) {
		uint64_t left =
			level == 0 ? blocks_above(first) : blocks_above(at->indirect_count[0]);

		for (uint64_t index = left; index < at->indirect_count[level]; index++) {
			struct zfs_indirect *block = &at->indirect[level][index];

			arc_forget(fs->arc, zfs_key(level == 0 ? ZFS_KEY_LEVEL_1 : ZFS_KEY_LEVEL_2,
						    file, index));
			for (int copy = 0; copy < 2; copy++)
				if (block->at[copy])
					zfs_block_free(fs, block->at[copy], block->units);
		}
		if (left < at->indirect_count[level])
			at->indirect_count[level] = (uint32_t)left;
	}
	mount_cpu(mount, freed * ZFS_CPU_FREE_NS);
}

/* ---- reading ---- */

/* Pages that the bytes touch. */
static uint64_t pages_of(uint64_t offset, uint64_t bytes)
{
	return bytes ? pages_from_bytes_up(offset + bytes) - pages_from_bytes_down(offset) : 0;
}

/* One record of a read, which asks for so many pages of it. */
static void record_use(struct filesystem_mount *mount, uint32_t file, uint64_t record,
		       enum arc_use use, uint64_t pages)
{
	struct filesystem_state *fs = mount->state;
	struct arc_buffer buffer = record_buffer(&fs->files.at[file], file, record);

	if (!is_stored(&fs->files.at[file], record) && !arc_is_dirty(fs->arc, buffer.key))
		return; /* a hole */
	if (arc_use_buffer(fs->arc, &buffer, use, mount->now_ns))
		return;
	record_read(mount, file, record, use);
	zfs_bit_set(fs->files.at[file].seen, record, true);
	if (use == ARC_USE_DEMAND)
		cache_count_own(mount->cache, 0, pages, 0);
}

/* dmu_zfetch(): who reads where the last one stopped goes on. */
static void read_ahead(struct filesystem_mount *mount, uint32_t file, uint64_t offset, uint64_t end)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t until, reads = 0, record;

	if (offset != at->read_next || offset == 0) {
		at->read_next = end;
		at->read_ahead_bytes = 0;
		at->read_ahead_end = end;
		return;
	}
	at->read_next = end;
	at->read_ahead_bytes = at->read_ahead_bytes == 0 ? AHEAD_LEAST_BYTES
			       : at->read_ahead_bytes < AHEAD_MOST_BYTES / 2
				       ? at->read_ahead_bytes * 2
				       : AHEAD_MOST_BYTES;
	until = end + at->read_ahead_bytes;
	record = (at->read_ahead_end > end ? at->read_ahead_end : end) / at->record_bytes;
	for (; record < at->record_count && record * at->record_bytes < until; record++) {
		if (arc_has(fs->arc, zfs_key(ZFS_KEY_RECORD, file, record)))
			continue;
		(void)zfs_indirect_use(mount, file, record, &reads);
		record_use(mount, file, record, ARC_USE_PREFETCH, 0);
	}
	at = &fs->files.at[file];
	at->read_ahead_end = record * at->record_bytes;
	fs->figures.indirect_reads += reads;
}

/* Bytes of the file, which end before its end. */
static void bytes_use(struct filesystem_mount *mount, uint32_t file, uint64_t offset,
		      uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;
	uint64_t size = fs->files.at[file].record_bytes;
	uint64_t first = offset / size, last = (offset + bytes - 1) / size;

	/* The way to all of them first; a record that is in use has its own dbuf. */
	for (uint64_t record = first; record <= last; record++)
		if (!arc_has(fs->arc, zfs_key(ZFS_KEY_RECORD, file, record)) ||
		    !arc_is_held(fs->arc, zfs_key(ZFS_KEY_RECORD, file, record)))
			(void)zfs_indirect_use(mount, file, record, &fs->figures.indirect_reads);
	for (uint64_t record = first; record <= last; record++) {
		uint64_t from = record == first ? offset : record * size;
		uint64_t to = record == last ? offset + bytes : (record + 1) * size;

		record_use(mount, file, record, ARC_USE_DEMAND, pages_of(from, to - from));
	}
}

static uint64_t part_until(uint64_t offset, uint64_t bytes, uint64_t size)
{
	return offset >= size ? 0 : bytes < size - offset ? bytes : size - offset;
}

void zfs_read(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;
	uint32_t file = mount->tree->nodes.at[node].file;
	const struct zfs_file *at;

	if (!file)
		return;
	at = zfs_file_get(fs, file);
	bytes = part_until(offset, bytes, cache_file_size(mount->cache, file));
	mount_cpu(mount, ZFS_CPU_READ_NS + bytes / ZFS_CPU_COPY_BYTES_PER_NS);
	cache_count_own(mount->cache, pages_of(offset, bytes), 0, 0);
	if (bytes == 0 || at->record_bytes == 0)
		return;
	bytes_use(mount, file, offset, bytes);
	read_ahead(mount, file, offset, offset + bytes);
}

/*
 * Pages for a mapping: filled through the ARC, where they stay as well. The cache has counted them
 * as read from the device; what is, is counted here.
 */
void zfs_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	const struct zfs_file *at = zfs_file_get(mount->state, file);
	uint64_t offset = bytes_from_pages(index);
	uint64_t bytes =
		part_until(offset, bytes_from_pages(pages), cache_file_size(mount->cache, file));

	cache_read_outside(mount->cache, 0 - bytes_from_pages(pages));
	mount_cpu(mount, ZFS_CPU_READ_NS + bytes / ZFS_CPU_COPY_BYTES_PER_NS);
	if (bytes > 0 && at->record_bytes > 0)
		bytes_use(mount, file, offset, bytes);
}

void zfs_expect(const struct filesystem_mount *mount, uint32_t file, uint64_t offset,
		enum op_nearness nearness)
{
	static const enum arc_prefetch steps[] = {[OP_LATER] = ARC_PREFETCH_BUCKET,
						  [OP_SOON] = ARC_PREFETCH_HEADER,
						  [OP_SOONER] = ARC_PREFETCH_NEIGHBOURS};
	const struct filesystem_state *fs = mount->state;
	const struct zfs_file *at;
	uint64_t record;

	if (file >= fs->files.count || fs->files.at[file].record_bytes == 0)
		return;
	at = &fs->files.at[file];
	record = offset / at->record_bytes;
	if (record >= at->record_count)
		return;
	arc_prefetch(fs->arc, zfs_key(ZFS_KEY_RECORD, file, record), steps[nearness]);
	arc_prefetch(fs->arc, zfs_key(ZFS_KEY_LEVEL_1, file, record >> ZFS_POINTER_SHIFT),
		     steps[nearness]);
	if (nearness != OP_SOON)
		return;
	prefetch_write(&at->records[record * at->copies]);
	prefetch_write(&at->dirty[record / 64]);
	prefetch_write(&at->committed[record / 64]);
	prefetch_write(&at->seen[record / 64]);
}

/* ---- writing ---- */

/* The block size is settled when a file outgrows a record: until then it is all one record. */
static void record_bytes_settle(struct filesystem_mount *mount, uint32_t file, uint64_t end)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t bytes = (end + 511) / 512 * 512;
	uint64_t reads = 0;

	bytes = bytes < fs->record_bytes ? bytes : fs->record_bytes;
	if (at->record_count > 1 || bytes <= at->record_bytes)
		return;
	if (at->record_count == 1 && at->record_bytes > 0) {
		struct arc_buffer buffer = record_buffer(at, file, 0);

		/* What it has is a part of the larger block, which is new. */
		if (is_stored(at, 0) &&
		    !arc_use_buffer(fs->arc, &buffer, ARC_USE_DEMAND, mount->now_ns)) {
			record_read(mount, file, 0, ARC_USE_DEMAND);
			mount_then(mount);
			fs->figures.old_record_reads++;
			reads++;
		}
		if (zfs_bit(at->dirty, 0))
			fs->dirty_open_bytes += bytes - at->record_bytes;
		arc_forget(fs->arc, buffer.key);
		at->record_bytes = (uint32_t)bytes;
		if (is_stored(at, 0) || zfs_bit(at->dirty, 0))
			zfs_record_make_dirty(mount, file, 0, true);
		return;
	}
	at->record_bytes = (uint32_t)bytes;
}

/* Bytes `from` .. `to` - 1 of the record are written: is its old self needed? */
static bool needs_old(const struct filesystem_state *fs, const struct zfs_file *at, uint32_t file,
		      uint64_t record, uint64_t from, uint64_t to)
{
	(void)fs;
	(void)file;
	return is_stored(at, record) && to - from < at->record_bytes;
}

static void records_write(struct filesystem_mount *mount, uint32_t file, uint64_t offset,
			  uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t size = at->record_bytes, first = offset / size, last = (offset + bytes - 1) / size;
	uint64_t known = at->record_count;

	for (uint64_t record = first; record <= last && record < known; record++)
		(void)zfs_indirect_use(mount, file, record, &fs->figures.indirect_reads_in_writes);
	zfs_records_grow(at, last + 1);
	/* The first and the last may be covered in part. */
	for (uint64_t record = first; record <= last; record += last > first ? last - first : 1) {
		uint64_t from = record == first ? offset - first * size : 0;
		uint64_t to = record == last ? offset + bytes - last * size : size;
		struct arc_buffer buffer = record_buffer(at, file, record);

		if (!needs_old(fs, at, file, record, from, to) ||
		    arc_use_buffer(fs->arc, &buffer, ARC_USE_DEMAND, mount->now_ns))
			continue;
		record_read(mount, file, record, ARC_USE_DEMAND);
		fs->figures.old_record_reads++;
	}
	for (uint64_t record = first; record <= last; record++) {
		uint64_t from = record == first ? offset - first * size : 0;
		uint64_t to = record == last ? offset + bytes - last * size : size;

		zfs_record_make_dirty(mount, file, (uint32_t)record, to - from == size);
	}
}

static void data_write(struct filesystem_mount *mount, uint32_t file, uint64_t offset,
		       uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;

	uint64_t transactions = 1;

	record_bytes_settle(mount, file, offset + bytes);
	records_write(mount, file, offset, bytes);
	zfs_dnode_dirty(mount, file);
	if (fs->version->writes_by_record)
		transactions = (offset + bytes - 1) / fs->files.at[file].record_bytes -
			       offset / fs->files.at[file].record_bytes + 1;
	mount_cpu(mount, transactions * ZFS_CPU_WRITE_NS + bytes / ZFS_CPU_COPY_BYTES_PER_NS);
	zfs_log_write(fs, file, offset, bytes);
}

void zfs_write(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes)
{
	struct filesystem_state *fs = mount->state;
	uint32_t file = mount->tree->nodes.at[node].file;

	if (!file || bytes == 0)
		return;
	(void)zfs_file_get(fs, file);
	if (offset + bytes > cache_file_size(mount->cache, file))
		cache_allocate(mount->cache, file, offset, bytes);
	cache_count_own(mount->cache, pages_of(offset, bytes), 0, 0);
	zfs_throttle(mount);
	data_write(mount, file, offset, bytes);
}

/* zfs_putpage(): pages stored to through a mapping become records. */
void zfs_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages)
{
	uint64_t offset = bytes_from_pages(index);
	uint64_t bytes =
		part_until(offset, bytes_from_pages(pages), cache_file_size(mount->cache, file));

	cache_write_outside(mount->cache, 0 - bytes_from_pages(pages));
	if (bytes == 0)
		return;
	(void)zfs_file_get(mount->state, file);
	data_write(mount, file, offset, bytes);
}
