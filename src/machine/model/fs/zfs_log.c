/*
 * zfs_log: the intent log (ZIL)
 *
 * Idea       Every write is remembered until its transaction group is on the device. fsync() puts
 *            what its file has, and all that happened to names, into log blocks: writes below 32 KiB
 *            copied, larger ones written to their own new place, of which the log has the pointer
 *            and the group then has no more to do. Then the device's cache is flushed.
 * Source     OpenZFS 2.2.0 module/zfs/zfs_log.c: zfs_log_write() (zfs_immediate_write_sz);
 *            module/zfs/zil.c: zil_commit(), zil_lwb_assign(), zil_block_buckets, zl_prev_blks, "only
 *            write what is used" (ZILOG2); include/sys/zil.h: sizes of the records
 * Differs    1. who comes while a log block is being written does not join the next one
 *            2. a commit does not wait for more to come (zfs_commit_timeout_pct: 5 % of the last)
 *            3. the log is there from the start (the first commit of a mount waits for a group)
 */
#include "machine/model/fs/zfs_private.h"

enum {
	IMMEDIATE_BYTES = 32768,  /* zfs_immediate_write_sz */
	WRITE_RECORD_BYTES = 192, /* lr_write_t */
	CHAIN_BYTES = 192,        /* zil_chain_t */
	BLOCK_BYTES_MAX = 128 << 10,
};

void zfs_log_write(struct filesystem_state *fs, uint32_t file, uint64_t offset, uint64_t bytes)
{
	struct zfs_file *at = &fs->files.at[file];
	struct zfs_log *log = &fs->log;
	uint32_t id = log->free;

	if (log->writes.count == 0)
		(void)array_push(&log->writes);
	if (id)
		log->free = log->writes.at[id].next;
	else
		id = (uint32_t)((void)array_push(&log->writes), log->writes.count - 1);
	log->writes.at[id] = (struct zfs_logged){.offset = offset, .bytes = bytes, .txg = fs->txg};
	if (at->log_first)
		log->writes.at[at->log_last].next = id;
	else
		at->log_first = id;
	at->log_last = id;
}

void zfs_log_name(struct filesystem_state *fs, uint32_t bytes)
{
	fs->log.name_bytes[0] += bytes;
}

static struct zfs_logged take_first(struct filesystem_state *fs, struct zfs_file *file)
{
	uint32_t id = file->log_first;
	struct zfs_logged write = fs->log.writes.at[id];

	file->log_first = write.next;
	if (!write.next)
		file->log_last = 0;
	fs->log.writes.at[id].next = fs->log.free;
	fs->log.free = id;
	return write;
}

void zfs_log_forget(struct filesystem_state *fs, uint32_t file, uint64_t txg)
{
	struct zfs_file *at = &fs->files.at[file];

	while (at->log_first && fs->log.writes.at[at->log_first].txg <= txg)
		(void)take_first(fs, at);
}

/* ---- a commit ---- */

/* dmu_sync(): the record as it is goes where the group would put it. */
static void record_commit(struct filesystem_mount *mount, uint32_t file, uint64_t record)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint32_t units;

	/* Not dirty in the open group: it is on its way already, with the syncing one. */
	if (record >= at->record_count || !zfs_bit(at->dirty, record) ||
	    zfs_bit(at->committed, record))
		return;
	units = zfs_record_units(at, record);
	if (at->records[record])
		zfs_block_free(fs, at->records[record], record == 0 ? at->first_units : units);
	if (record == 0)
		at->first_units = units;
	at->records[record] = zfs_block_write(mount, units, false);
	zfs_bit_set(at->committed, record, true);
	fs->figures.record_writes++;
}

/* What the file's writes take of the log, in bytes; the large ones are written. */
static uint64_t writes_commit(struct filesystem_mount *mount, uint32_t file)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_file *at = &fs->files.at[file];
	uint64_t bytes = 0;

	while (at->log_first) {
		struct zfs_logged write = take_first(fs, at);
		uint64_t first, last;

		if (write.bytes < IMMEDIATE_BYTES) {
			bytes += WRITE_RECORD_BYTES + (write.bytes + 7) / 8 * 8;
			continue;
		}
		first = write.offset / at->record_bytes;
		last = (write.offset + write.bytes - 1) / at->record_bytes;
		for (uint64_t record = first; record <= last; record++)
			record_commit(mount, file, record);
		bytes += (last - first + 1) * WRITE_RECORD_BYTES;
	}
	return bytes;
}

/* zil_block_buckets: the log block that so much goes into. */
static uint32_t bucket_bytes(uint64_t bytes)
{
	static const uint32_t buckets[] = {4 << 10, 12 << 10, 36 << 10, 68 << 10};

	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++)
		if (bytes <= buckets[i])
			return buckets[i];
	return BLOCK_BYTES_MAX;
}

/* The largest that one of the last sixteen commits wanted: the next block was made for that. */
static uint32_t next_block_bytes(const struct zfs_log *log)
{
	uint32_t bytes = 4 << 10;

	for (int i = 0; i < 16; i++)
		bytes = log->sizes[i] > bytes ? log->sizes[i] : bytes;
	return bytes;
}

static void block_write(struct filesystem_mount *mount, uint32_t block_bytes, uint64_t used)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_extent pieces[ZFS_PIECES_MAX];
	uint64_t bytes = (used + ZFS_UNIT_BYTES - 1) / ZFS_UNIT_BYTES * ZFS_UNIT_BYTES;
	uint32_t count;

	fs->figures.log_blocks++;
	fs->figures.log_bytes += bytes;
	mount_cpu(mount, ZFS_CPU_ZIO_NS + bytes / ZFS_CPU_CHECKSUM_BYTES_PER_NS);
	if (!fs->space)
		return;
	count = zfs_space_allocate(fs->space, block_bytes / ZFS_UNIT_BYTES, ZFS_SPACE_LOG, pieces);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t part = (uint64_t)pieces[i].units * ZFS_UNIT_BYTES;

		part = part < bytes ? part : bytes;
		if (part > 0)
			mount_write(mount, (uint64_t)pieces[i].at * ZFS_UNIT_BYTES, part);
		bytes -= part;
		*array_push(&fs->log.blocks) = pieces[i];
	}
}

static void log_bytes_write(struct filesystem_mount *mount, uint64_t bytes)
{
	struct zfs_log *log = &mount->state->log;

	while (bytes > 0) {
		uint32_t block = next_block_bytes(log);
		uint64_t part = bytes < block - CHAIN_BYTES ? bytes : block - CHAIN_BYTES;

		/* Sized for what is to come when it is issued, this one included. */
		log->sizes[log->size_next++ % 16] = bucket_bytes(bytes + CHAIN_BYTES);
		block_write(mount, block, part + CHAIN_BYTES);
		bytes -= part;
	}
}

void zfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	struct filesystem_state *fs = mount->state;
	uint64_t bytes = fs->log.name_bytes[0] + fs->log.name_bytes[1];
	uint32_t file = mount->tree->nodes.at[node].file;

	(void)data_only; /* ZFS makes no difference */
	fs->log.name_bytes[0] = fs->log.name_bytes[1] = 0;
	if (mount->syncs_all)
		for (uint32_t i = 1; i < fs->files.count; i++)
			bytes += writes_commit(mount, i);
	else if (file && file < fs->files.count)
		bytes += writes_commit(mount, file);
	if (bytes == 0)
		return;
	fs->figures.commits++;
	mount_cpu(mount, ZFS_CPU_COMMIT_NS);
	log_bytes_write(mount, bytes);
	zfs_space_pay(mount);
	mount_then(mount);
	mount_flush(mount);
}
