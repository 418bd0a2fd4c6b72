/*
 * zfs_log: the intent log (ZIL)
 *
 * Idea       Every write is remembered until its transaction group is on the device. fsync() puts
 *            what its file has, and all that happened to names, into log blocks: writes below 32 KiB
 *            copied, larger ones written to their own new place, of which the log has the pointer
 *            and the group then has no more to do. Then the device's cache is flushed. The blocks
 *            are a chain: each says where the next will be, so that one must have its place before
 *            the one in front of it is written. As large as the last ones were: on a busy server
 *            128 KiB, however little of it is then written. A log block cannot be cut. If no free
 *            run is so long the chain ends, and the commit waits until all is on the device with
 *            the group that is open, and two more.
 * Source     OpenZFS 0.7.9 and 2.2.0 module/zfs/zfs_log.c: zfs_log_write() (zfs_immediate_write_sz);
 *            module/zfs/zil.c: zil_commit(), zil_lwb_commit(), zil_lwb_assign(), zil_create(),
 *            zil_lwb_write_start(), zil_block_buckets, zl_prev_blks, "only write what is used"
 *            (ZILOG2); zio.c: zio_alloc_zil(); txg.c: txg_wait_synced() (of group 0: TXG_DEFER_SIZE
 *            more); include/sys/zil.h: sizes of the records
 * Differs    1. commits that were waiting for one before them (0.7) go together, but not in one
 *               block; in 2.2, where they need not wait, one may be done before the one before it
 *            2. a commit does not wait for more to come (2.2: zfs_commit_timeout_pct, 5 % of the
 *               last)
 *            3. the log is there from the start (the first commit of a mount waits for a group)
 *            4. that blocks of one commit are filled takes no longer than the device takes for those
 *               in front of them
 *            5. whoever waits for the allocator's lock uses no processor (Linux spins as long as the
 *               holder runs)
 */
#include "machine/model/fs/zfs_private.h"

enum {
	IMMEDIATE_BYTES = 32768,     /* zfs_immediate_write_sz */
	WRITE_RECORD_BYTES = 192,    /* lr_write_t */
	CHAIN_BYTES = 192,           /* zil_chain_t */
	NAME_RECORD_BYTES = 256,     /* about what creating, renaming or removing takes */
	BLOCK_BYTES_MAX = 128 << 10, /* SPA_OLD_MAXBLOCKSIZE */
	DEFER_TXGS = 2,              /* TXG_DEFER_SIZE */
	/* zio_taskq_batch_pct of 0.7: threads that allocate a group's blocks */
	ALLOCATING_PERCENT = 75,
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

/* ---- log blocks ---- */

/*
 * The allocator's lock: while a space map is loaded, until it is; while a group has its blocks
 * placed, each of the threads that do may be in front. With a metaslab of its own the log meets none
 * of them.
 */
static void lock_wait(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	uint64_t now_ns, wait_ns = 0, left_ns = 0, queue_ns;

	(void)zfs_space_pay(mount);
	if (!mount->io || !fs->space || zfs_space_has_log(fs->space))
		return;
	/* It has waited already, for the block before. */
	now_ns = mount->now_ns + mount->io->sleep_ns;
	if (fs->loading_until_ns > now_ns)
		wait_ns = fs->loading_until_ns - now_ns;
	if (fs->locked_until_ns > now_ns)
		left_ns = fs->locked_until_ns - now_ns - wait_ns;
	queue_ns = mount->options.processors * ALLOCATING_PERCENT / 100 / fs->version->allocators *
		   fs->lock_hold_ns;
	wait_ns += queue_ns < left_ns ? queue_ns : left_ns;
	mount->io->sleep_ns += wait_ns;
	fs->figures.allocation_wait_ns += wait_ns;
}

/* A commit in the making. */
struct commit {
	struct filesystem_mount *mount;
	uint32_t block_bytes, used_bytes; /* of the block that is being filled */
	uint64_t bytes;                   /* of all records so far (zl_cur_used) */
	uint64_t block_ns;                /* processor time for this block */
	bool has_failed;                  /* there was no room for the next block */
};

static uint32_t size_of(const struct zfs_version *version, uint64_t bytes)
{
	for (int i = 0; i < ZFS_LOG_SIZES && version->log_sizes[i].bytes; i++)
		if (bytes <= version->log_sizes[i].most)
			return version->log_sizes[i].bytes;
	return BLOCK_BYTES_MAX;
}

/*
 * The next block gets its place, as large as any of the last sixteen would have needed. False: there
 * is no run so long.
 */
static bool next_place(struct filesystem_state *fs, uint64_t bytes)
{
	struct zfs_log *log = &fs->log;
	struct zfs_extent pieces[ZFS_PIECES_MAX];
	struct zfs_space_ask ask = {.use = ZFS_SPACE_LOG};
	uint32_t size = size_of(fs->version, bytes + CHAIN_BYTES);

	log->sizes[log->size_next++ % 16] = size;
	for (int i = 0; i < 16; i++)
		size = log->sizes[i] > size ? log->sizes[i] : size;
	ask.units = size / ZFS_UNIT_BYTES;
	log->next = (struct zfs_extent){.units = ask.units};
	if (!fs->space)
		return true;
	if (!zfs_space_allocate(fs->space, &ask, pieces)) {
		log->next.units = 0;
		return false;
	}
	log->next = pieces[0];
	return true;
}

/* zil_create(), when the chain begins: a small block. */
void zfs_log_begin(struct filesystem_state *fs)
{
	struct zfs_extent pieces[ZFS_PIECES_MAX];
	struct zfs_space_ask ask = {.units = 1, .use = ZFS_SPACE_LOG};

	fs->log.next = (struct zfs_extent){.units = 1};
	if (fs->space)
		fs->log.next = zfs_space_allocate(fs->space, &ask, pieces) ? pieces[0]
									   : (struct zfs_extent){0};
}

static void block_take(struct commit *commit)
{
	commit->block_bytes = commit->mount->state->log.next.units * ZFS_UNIT_BYTES;
	commit->used_bytes = CHAIN_BYTES;
}

/*
 * zil_lwb_write_start(): the next block gets its place, this one is written, as far as it is used.
 * `is_last`: else the next one is filled while the device has this one.
 */
static void block_write(struct commit *commit, bool is_last)
{
	struct filesystem_mount *mount = commit->mount;
	struct filesystem_state *fs = mount->state;
	struct zfs_extent block = fs->log.next;
	uint64_t bytes = (commit->used_bytes + UINT64_C(4095)) / ZFS_UNIT_BYTES * ZFS_UNIT_BYTES;

	commit->has_failed = !next_place(fs, commit->bytes);
	lock_wait(mount);
	fs->figures.log_blocks++;
	fs->figures.log_bytes += bytes;
	commit->block_ns += ZFS_CPU_ZIO_NS + bytes / ZFS_CPU_CHECKSUM_BYTES_PER_NS;
	if (is_last)
		mount_cpu(mount, commit->block_ns);
	else
		mount_cpu_aside(mount, commit->block_ns);
	commit->block_ns = 0;
	if (!fs->space)
		return;
	mount_write(mount, (uint64_t)block.at * ZFS_UNIT_BYTES, bytes);
	*array_push(&fs->log.blocks) = block;
}

/*
 * zil_lwb_commit(), zil_lwb_assign(): a record and its data, which may be cut between blocks; but not
 * if that would take one block more than it must, for little.
 */
static void record_put(struct commit *commit, uint64_t record_bytes, uint64_t data_bytes)
{
	enum {
		DATA_MOST = BLOCK_BYTES_MAX - CHAIN_BYTES - WRITE_RECORD_BYTES,
		WASTE_MOST = DATA_MOST / 8,
	};

	commit->bytes += record_bytes + data_bytes;
	commit->block_ns += ZFS_CPU_LOG_NS + data_bytes / ZFS_CPU_COPY_BYTES_PER_NS;
	while (!commit->has_failed) {
		uint64_t room = commit->block_bytes - commit->used_bytes, now;

		if (record_bytes > room || (record_bytes + data_bytes > room && room < WASTE_MOST &&
					    (data_bytes % DATA_MOST == 0 ||
					     room < record_bytes + data_bytes % DATA_MOST))) {
			block_write(commit, false);
			block_take(commit);
			continue;
		}
		now = data_bytes < room - record_bytes ? data_bytes : room - record_bytes;
		commit->used_bytes += (uint32_t)(record_bytes + now);
		data_bytes -= now;
		if (data_bytes == 0)
			return;
		commit->bytes += record_bytes;
	}
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
	zfs_block_rewrite(mount, units, record == 0 ? at->first_units : units, &at->records[record],
			  1, false);
	if (record == 0)
		at->first_units = units;
	zfs_bit_set(at->committed, record, true);
	fs->figures.record_writes++;
}

/* A part of a write, as zfs_log_write() saw it. */
static void part_commit(struct commit *commit, uint32_t file, uint64_t offset, uint64_t bytes)
{
	const struct zfs_file *at = &commit->mount->state->files.at[file];
	uint64_t first = offset / at->record_bytes, last = (offset + bytes - 1) / at->record_bytes;

	if (bytes < IMMEDIATE_BYTES) {
		record_put(commit, WRITE_RECORD_BYTES, (bytes + 7) / 8 * 8);
		return;
	}
	for (uint64_t record = first; record <= last; record++) {
		record_commit(commit->mount, file, record);
		record_put(commit, WRITE_RECORD_BYTES, 0);
	}
}

static void writes_commit(struct commit *commit, uint32_t file)
{
	struct filesystem_state *fs = commit->mount->state;
	struct zfs_file *at = &fs->files.at[file];

	while (at->log_first) {
		struct zfs_logged write = take_first(fs, at);

		while (write.bytes > 0) {
			uint64_t part = write.bytes;

			if (fs->version->writes_by_record &&
			    part > at->record_bytes - write.offset % at->record_bytes)
				part = at->record_bytes - write.offset % at->record_bytes;
			part_commit(commit, file, write.offset, part);
			write.offset += part;
			write.bytes -= part;
		}
	}
}

static void names_commit(struct commit *commit)
{
	uint64_t *names = commit->mount->state->log.name_bytes, bytes = names[0] + names[1];

	names[0] = names[1] = 0;
	for (; bytes > 0; bytes -= bytes < NAME_RECORD_BYTES ? bytes : NAME_RECORD_BYTES)
		record_put(commit, bytes < NAME_RECORD_BYTES ? bytes : NAME_RECORD_BYTES, 0);
}

static bool has_writes(const struct filesystem_mount *mount, uint32_t node)
{
	const struct filesystem_state *fs = mount->state;
	uint32_t file = mount->tree->nodes.at[node].file;

	if (!mount->syncs_all)
		return file && file < fs->files.count && fs->files.at[file].log_first;
	for (uint32_t i = 1; i < fs->files.count; i++)
		if (fs->files.at[i].log_first)
			return true;
	return false;
}

/* The open group is waited for, and as many more: txg_wait_synced(). */
static void group_await(struct filesystem_mount *mount, uint64_t more)
{
	struct filesystem_state *fs = mount->state;

	zfs_txg_want(fs, fs->txg + more);
	mount_await(mount, fs->txg + more);
	if (!mount->io)
		return;
	fs->figures.waits_for_groups++;
}

void zfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only)
{
	struct filesystem_state *fs = mount->state;
	struct commit commit = {.mount = mount};
	uint32_t file = mount->tree->nodes.at[node].file;
	bool is_new;

	(void)data_only; /* ZFS makes no difference */
	if (fs->log.name_bytes[0] + fs->log.name_bytes[1] == 0 && !has_writes(mount, node))
		return;
	fs->figures.commits++;
	mount_cpu(mount, ZFS_CPU_COMMIT_NS);
	if (mount->io)
		mount->io->takes_turns = fs->version->commits_take_turns;
	if (fs->version->commits_are_throttled)
		zfs_throttle(mount);
	is_new = fs->log.next.units == 0;
	if (is_new) {
		zfs_log_begin(fs);
		group_await(mount, 0);
	}
	block_take(&commit);
	commit.has_failed = fs->log.next.units == 0;
	names_commit(&commit);
	if (mount->syncs_all)
		for (uint32_t i = 1; i < fs->files.count; i++)
			writes_commit(&commit, i);
	else if (file && file < fs->files.count)
		writes_commit(&commit, file);
	if (!commit.has_failed)
		block_write(&commit, true);
	mount_then(mount);
	mount_flush(mount);
	if (commit.has_failed)
		group_await(mount, DEFER_TXGS + (is_new ? 1 : 0));
}
