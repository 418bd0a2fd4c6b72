/*
 * XFS's log: what changed, not what it is in
 *
 * Idea       Changes gather in memory, each thing once (delayed logging), until somebody forces the
 *            log: then all that gathered is one checkpoint: of an inode its core and, if they
 *            changed, its extents; of a block the 128 bytes around each change. What is not in its
 *            place yet is logged whole again when it changes again, so the tail can move. A
 *            checkpoint's last record flushes the device's cache and is written through (FUA).
 *            Every 30 s the log is forced and everything goes to its place.
 * Source     Linux 6.18 fs/xfs/xfs_log_cil.c, xfs_inode_item.c, xfs_buf_item.c, xfs_log.c
 *            (xfs_log_worker()), fs/xfs/libxfs/xfs_log_format.h (sizes of the structures),
 *            xfs_dir2_block.c (what of a directory's block is logged)
 * Differs    1. one record a sector at least, 32 KiB at most; no wait for a free one
 *            2. names are put one behind the other in a directory's blocks, and none moves; a hash
 *               is at a place that it says itself
 *            3. intents and their ends are in one checkpoint, which then has neither
 * Constants  an operation's header 12, a checkpoint's start 40; an inode 56 + 176, an extent 16; a
 *            buffer 24; 8 records of 32 KiB, so that 4 MiB gathered are written at once
 */
#include <stdlib.h>

#include "base/size.h"
#include "machine/model/fs/xfs_private.h"

enum {
	SECTOR_BYTES = 512,
	RECORD_BYTES = 32768, /* with a header of a sector */
	START_BYTES = 40,
	OP_BYTES = 12,
	INODE_FORMAT_BYTES = 56,
	INODE_CORE_BYTES = 176,
	EXTENT_BYTES = 16,
	INODE_EXTENTS = 21, /* 512 bytes less the core */
	MAP_ROOT_BYTES = 24,
	BUFFER_FORMAT_BYTES = 24,
	CHUNK_BYTES = 128,
	CHUNKS = BLOCK_BYTES / CHUNK_BYTES,
	GATHERED_BYTES_MAX = 4 << 20,
	PUSH_SECONDS = 30, /* xfs_syncd_centisecs */
	DIRECTORY_HEADER_BYTES = 64,
	HASH_BYTES = 8, /* a name's entry in a leaf */
	TAIL_BYTES = 8,
};

/* ---- dirty blocks, by hash ---- */

static size_t bucket_of(const struct xfs_time *time, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & time->buffer_mask;

	while (time->buffers[at].key && time->buffers[at].key != key)
		at = (at + 1) & time->buffer_mask;
	return at;
}

static void buckets_double(struct xfs_time *time)
{
	struct xfs_buffer *old = time->buffers;
	size_t count = old ? time->buffer_mask + 1 : 0;

	time->buffer_mask = count ? 2 * count - 1 : 63;
	time->buffers = memory_alloc(time->buffer_mask + 1, sizeof(*time->buffers));
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			time->buffers[bucket_of(time, old[i].key)] = old[i];
	memory_free(old);
}

static uint64_t block_key(enum xfs_block kind, uint32_t which, uint32_t number)
{
	return (uint64_t)(kind + 1) << 56 | (uint64_t)which << 24 | (number & 0xffffff);
}

static enum xfs_block kind_of(uint64_t key)
{
	return (enum xfs_block)((key >> 56) - 1);
}

static uint64_t block_bytes(uint64_t key)
{
	return kind_of(key) == BLOCK_AGF || kind_of(key) == BLOCK_AGI ? SECTOR_BYTES : BLOCK_BYTES;
}

/* ---- what gathers ---- */

bool xfs_log_is_empty(const struct xfs_time *time)
{
	return time->logged_files.count + time->logged_buffers.count == 0;
}

static void gather(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;
	bool was_background = mount->is_background;

	if (xfs_log_is_empty(time))
		time->gathered_ns = mount->now_ns;
	if ((time->logged_files.count + time->logged_buffers.count) * 2 * CHUNK_BYTES <
	    GATHERED_BYTES_MAX)
		return;
	mount->is_background = true;
	xfs_log_force(mount);
	mount->is_background = was_background;
}

void xfs_log_block(struct filesystem_mount *mount, enum xfs_block kind, uint32_t which,
		   uint32_t number, uint32_t chunks)
{
	struct xfs_time *time = mount->state->time;
	uint64_t key = block_key(kind, which, number);
	struct xfs_buffer *at;

	gather(mount);
	if (time->buffer_count * 2 >= time->buffer_mask)
		buckets_double(time);
	at = &time->buffers[bucket_of(time, key)];
	if (!at->key) {
		*at = (struct xfs_buffer){.key = key};
		time->buffer_count++;
	}
	at->chunks |= chunks;
	if (at->checkpoint == time->checkpoint)
		return;
	at->checkpoint = time->checkpoint;
	*array_push(&time->logged_buffers) = key;
}

void xfs_log_inode(struct filesystem_mount *mount, uint32_t file, enum xfs_change change)
{
	struct xfs_time *time = mount->state->time;
	struct xfs_file *at;

	gather(mount);
	at = &time->files.at[file];
	if (change == CHANGE_FORK)
		at->has_fork = true;
	if (change != CHANGE_STAMP)
		at->data_checkpoint = time->checkpoint;
	if (!at->is_dirty)
		*array_push(&time->dirty_files) = file;
	at->is_dirty = true;
	if (at->checkpoint == time->checkpoint)
		return;
	at->checkpoint = time->checkpoint;
	*array_push(&time->logged_files) = file;
}

/* The chunks of a block's bytes from .. to, both inside. */
static uint32_t chunks_of(uint64_t from, uint64_t to)
{
	uint32_t chunks = 0;

	for (uint64_t chunk = from / CHUNK_BYTES; chunk <= to / CHUNK_BYTES && chunk < CHUNKS;
	     chunk++)
		chunks |= UINT32_C(1) << chunk;
	return chunks;
}

/*
 * A name comes to or leaves its directory: entry and header, and the hash in the block's tail or in
 * a leaf of its own, where a new one moves those before it.
 */
void xfs_log_entry(struct filesystem_mount *mount, uint32_t node, uint32_t file, bool is_added)
{
	const struct tree_node *at = &mount->tree->nodes.at[node];
	uint32_t directory = at->parent == TREE_NONE ? TREE_ROOT : at->parent;
	const struct tree_node *parent = &mount->tree->nodes.at[directory];
	uint64_t entries = parent->entries ? parent->entries : 1;
	uint64_t entry = (12 + parent->entry_text_bytes / entries + 7) / 8 * 8;
	uint64_t per_block = BLOCK_USABLE_BYTES / entry, place, rank = at->hash % entries, hashes;
	struct xfs_file *files = mount->state->time->files.at;
	uint32_t chunks, number;

	if (xfs_is_short(parent)) {
		xfs_log_inode(mount, parent->file, CHANGE_FORK);
		return;
	}
	xfs_log_inode(mount, parent->file, CHANGE_CORE);
	if (is_added)
		files[file].entry = files[parent->file].entries++;
	number = files[file].entry;
	place = DIRECTORY_HEADER_BYTES + number % per_block * entry;
	chunks = chunks_of(0, 0) | chunks_of(place, place + entry - 1);
	if (entries * (entry + HASH_BYTES) <= BLOCK_USABLE_BYTES) {
		hashes = BLOCK_BYTES - TAIL_BYTES - entries * HASH_BYTES;
		chunks |= chunks_of(BLOCK_BYTES - TAIL_BYTES, BLOCK_BYTES - 1) |
			  chunks_of(hashes + (is_added ? 0 : rank * HASH_BYTES),
				    hashes + rank * HASH_BYTES);
		xfs_log_block(mount, BLOCK_DIRECTORY, directory, 0, chunks);
		return;
	}
	xfs_log_block(mount, BLOCK_DIRECTORY, directory,
		      (uint32_t)(number / per_block % (1 + entries / per_block)), chunks);
	rank %= LEAF_NAMES;
	xfs_log_block(mount, BLOCK_DIRECTORY_LEAF, directory,
		      (uint32_t)(at->hash % (1 + entries / LEAF_NAMES)),
		      chunks_of(0, 0) |
			      chunks_of(DIRECTORY_HEADER_BYTES + rank * HASH_BYTES,
					DIRECTORY_HEADER_BYTES +
						(is_added ? LEAF_NAMES : rank) * HASH_BYTES));
}

/* ---- a checkpoint ---- */

static uint64_t inode_bytes(const struct filesystem_mount *mount, uint32_t file)
{
	const struct xfs_time *time = mount->state->time;
	const struct xfs_file *at = &time->files.at[file];
	uint64_t bytes = OP_BYTES + INODE_FORMAT_BYTES + OP_BYTES + INODE_CORE_BYTES, runs;
	const struct tree_node *node;

	if (!at->has_fork || !at->group)
		return bytes;
	node = at->node ? &mount->tree->nodes.at[at->node - 1] : NULL;
	if (node && node->is_directory)
		return bytes + OP_BYTES + SHORT_HEADER_BYTES +
		       (xfs_is_short(node) ? node->entry_text_bytes +
						     (uint64_t)node->entries * SHORT_ENTRY_BYTES
					   : EXTENT_BYTES);
	runs = space_runs(time->space, file);
	if (runs == 0)
		return bytes;
	return bytes + OP_BYTES + (runs <= INODE_EXTENTS ? runs * EXTENT_BYTES : MAP_ROOT_BYTES);
}

static uint64_t buffer_bytes(const struct xfs_buffer *at)
{
	uint64_t bytes = OP_BYTES + BUFFER_FORMAT_BYTES;

	for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
		if (!(at->chunks >> chunk & 1))
			continue;
		bytes += CHUNK_BYTES;
		if (chunk == 0 || !(at->chunks >> (chunk - 1) & 1))
			bytes += OP_BYTES;
	}
	return bytes;
}

static uint64_t gathered_bytes(const struct filesystem_mount *mount)
{
	const struct xfs_time *time = mount->state->time;
	uint64_t bytes = START_BYTES + OP_BYTES;

	for (size_t i = 0; i < time->logged_files.count; i++)
		bytes += inode_bytes(mount, time->logged_files.at[i]);
	for (size_t i = 0; i < time->logged_buffers.count; i++)
		bytes += buffer_bytes(&time->buffers[bucket_of(time, time->logged_buffers.at[i])]);
	return bytes;
}

static uint64_t log_take(struct xfs_time *time, uint64_t bytes)
{
	uint64_t offset;

	if (time->log_next + bytes > time->log_bytes)
		time->log_next = 0;
	offset = time->log_start * BLOCK_BYTES + time->log_next;
	time->log_next += bytes;
	time->logged_since_push += bytes;
	return offset;
}

void xfs_log_force(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;
	uint64_t bytes;

	if (xfs_log_is_empty(time) || !mount->io)
		return;
	mount_then(mount);
	bytes = gathered_bytes(mount);
	for (; bytes > RECORD_BYTES - SECTOR_BYTES; bytes -= RECORD_BYTES - SECTOR_BYTES)
		mount_write(mount, log_take(time, RECORD_BYTES), RECORD_BYTES);
	bytes = SECTOR_BYTES + (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
	mount_write_durable(mount, log_take(time, bytes), bytes);
	time->checkpoint++;
	time->logged_files.count = time->logged_buffers.count = 0;
	/* xlog_grant_push_threshold(): a quarter of the log is kept free. */
	if (time->logged_since_push > time->log_bytes / 4 * 3) {
		bool was_background = mount->is_background;

		mount->is_background = true;
		xfs_log_push(mount);
		mount->is_background = was_background;
	}
}

/* ---- in place ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

/* Dirty inodes go by the cluster. */
static void inodes_write(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;
	ARRAY(uint64_t) clusters = {0};

	for (size_t i = 0; i < time->dirty_files.count; i++) {
		struct xfs_file *at = &time->files.at[time->dirty_files.at[i]];

		at->is_dirty = at->has_fork = false;
		if (at->group)
			*array_push(&clusters) =
				(uint64_t)at->group << 32 | at->inode / CLUSTER_INODES;
	}
	time->dirty_files.count = 0;
	if (clusters.count > 0)
		qsort(clusters.at, clusters.count, sizeof(*clusters.at), by_number);
	for (size_t i = 0; i < clusters.count; i++)
		if (i == 0 || clusters.at[i] != clusters.at[i - 1])
			mount_write(mount, xfs_cluster_offset(mount->state, clusters.at[i]),
				    CLUSTER_BYTES);
	array_deinit(&clusters);
}

static void blocks_write(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;
	ARRAY(uint64_t) keys = {0};

	for (size_t i = 0; time->buffers && i <= time->buffer_mask; i++) {
		if (time->buffers[i].key)
			*array_push(&keys) = time->buffers[i].key;
		time->buffers[i] = (struct xfs_buffer){0};
	}
	time->buffer_count = 0;
	if (keys.count > 0)
		qsort(keys.at, keys.count, sizeof(*keys.at), by_number);
	for (size_t i = 0; i < keys.count; i++)
		mount_write(mount, xfs_block_offset(mount->state, keys.at[i]),
			    block_bytes(keys.at[i]));
	array_deinit(&keys);
}

void xfs_log_push(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;

	xfs_log_force(mount);
	mount_then(mount);
	blocks_write(mount);
	inodes_write(mount);
	time->logged_since_push = 0;
	time->pushed_ns = mount->now_ns;
}

void xfs_log_tick(struct filesystem_mount *mount)
{
	struct xfs_time *time = mount->state->time;

	if (mount->now_ns - time->pushed_ns >= PUSH_SECONDS * NS_PER_SECOND)
		xfs_log_push(mount);
}
