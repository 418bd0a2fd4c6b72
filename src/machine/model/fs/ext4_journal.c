/*
 * ext4's transactions
 *
 * Idea       What a transaction has touched stays in memory until it commits, and is dirty then. In a
 *            cgroup it stays until a later commit finds it written. On the device, a transaction is a
 *            descriptor block and the whole of each 4 KiB block it changed, in one piece, then a
 *            commit block that makes it true: 12 KiB for a change of one inode's block map.
 * Source     Linux fs/jbd2/commit.c jbd2_journal_commit_transaction(), checkpoint.c; who holds what:
 *            measured (ext4.c)
 * Differs    1. a commit is one piece of work: who comes while it is under way begins the next
 *            2. one block tag a block, no revoke records, no fast commits
 */
#include "base/size.h"
#include "machine/model/fs/ext4_private.h"

/*
 * A commit's share of processors, whoever they work for: measured on Linux 6.18 by schedstat, 4000
 * fdatasyncs of a file that grows against one that does not: 11.5 us of the journal's thread and 6
 * more of the caller, for 3 to 5 blocks.
 */
enum { COMMIT_CPU_NS = 17500 };

/* Off its checkpoint list, unless it has gone to a later transaction's. */
static void checkpoint_release(struct filesystem_mount *mount, struct logged logged)
{
	struct filesystem_state *fs = mount->state;
	struct journalled *journalled = &fs->journalled.at[logged.block];

	if (journalled->committed != logged.transaction_id)
		return;
	journalled->committed = 0;
	if (journalled->running != fs->transaction_id)
		cache_block_release(mount->cache, fs->device, logged.block);
}

/* One past the last block of the oldest transaction on the checkpoint lists. */
static size_t checkpoint_end(const struct filesystem_state *fs)
{
	size_t end = fs->checkpoint_first;

	while (end < fs->checkpoint.count &&
	       fs->checkpoint.at[end].transaction_id ==
		       fs->checkpoint.at[fs->checkpoint_first].transaction_id)
		end++;
	return end;
}

/*
 * What a commit does first: blocks that are written leave the checkpoint lists, each list from the
 * newest on, up to the first that is not or that the committing transaction has again; then the
 * later lists wait (__jbd2_journal_clean_checkpoint_list(), jbd2_journal_try_remove_checkpoint()).
 * As neighbouring transactions share the block where one stopped, it takes two commits: measured, a
 * whole transaction's pages become free at each commit, none in between.
 */
static void checkpoint_clean(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	while (fs->checkpoint_first < fs->checkpoint.count) {
		size_t end = checkpoint_end(fs);

		for (size_t at = end; at-- > fs->checkpoint_first;) {
			struct logged logged = fs->checkpoint.at[at];
			struct journalled journalled = fs->journalled.at[logged.block];

			if (journalled.committed != logged.transaction_id)
				continue;
			if (journalled.running == fs->transaction_id ||
			    cache_block_is_dirty(mount->cache, fs->device, logged.block))
				return;
			checkpoint_release(mount, logged);
		}
		fs->checkpoint_first = end;
	}
}

/*
 * The log has room for what the next transaction may hold, or the oldest ones are written out
 * (__jbd2_log_wait_for_space(), jbd2_log_do_checkpoint()). That writes buffers: their pages stay
 * marked dirty for the flusher to find.
 */
static void checkpoint_force(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	while (fs->checkpoint_first < fs->checkpoint.count) {
		size_t blocks = fs->checkpoint.count - fs->checkpoint_first, end;

		if (blocks + blocks / TAGS_PER_BLOCK + cache_transaction_blocks(mount->cache) <
		    cache_journal_blocks(mount->cache))
			break;
		end = checkpoint_end(fs);
		for (; fs->checkpoint_first < end; fs->checkpoint_first++) {
			struct logged logged = fs->checkpoint.at[fs->checkpoint_first];

			if (fs->time &&
			    cache_block_is_dirty(mount->cache, fs->device, logged.block))
				mount_write(mount, ext4_block_offset(fs, logged.block),
					    BLOCK_BYTES);
			checkpoint_release(mount, logged);
		}
	}
	if (fs->checkpoint_first > fs->checkpoint.count / 2) {
		fs->checkpoint.count -= fs->checkpoint_first;
		for (size_t i = 0; i < fs->checkpoint.count; i++)
			fs->checkpoint.at[i] = fs->checkpoint.at[fs->checkpoint_first + i];
		fs->checkpoint_first = 0;
	}
}

bool ext4_transaction_is_empty(const struct filesystem_state *fs)
{
	return fs->transaction.count == 0 && (!fs->time || fs->time->aside_count == 0);
}

/* The next so many blocks of the journal, which goes round. */
static void journal_write(struct filesystem_mount *mount, uint64_t blocks)
{
	struct ext4_time *time = mount->state->time;

	while (blocks > 0) {
		uint64_t left = time->journal_blocks - time->journal_next,
			 some = blocks < left ? blocks : left;

		mount_write(mount, (time->journal_start + time->journal_next) * BLOCK_BYTES,
			    some * BLOCK_BYTES);
		time->journal_next = (time->journal_next + some) % time->journal_blocks;
		blocks -= some;
	}
}

/* Data that the transaction makes reachable was written before: mode ordered. */
static void transaction_write(struct filesystem_mount *mount)
{
	struct ext4_time *time = mount->state->time;
	uint64_t blocks = mount->state->transaction.count + time->aside_count;
	size_t first, record;

	mount_cpu(mount, COMMIT_CPU_NS);
	mount_then(mount);
	first = mount->io->at.count;
	journal_write(mount, blocks + (blocks + TAGS_PER_BLOCK - 1) / TAGS_PER_BLOCK);
	record = mount->io->at.count;
	mount_write_durable(mount, (time->journal_start + time->journal_next) * BLOCK_BYTES,
			    BLOCK_BYTES);
	/* Whom the journal's own thread does it for does not wait. */
	mount->io->at.at[first].closes = !mount->is_background;
	mount->io->at.at[record].opens = !mount->is_background;
	time->journal_next = (time->journal_next + 1) % time->journal_blocks;
	time->aside_count = 0;
}

void ext4_transaction_commit(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	if (ext4_transaction_is_empty(fs))
		return;
	checkpoint_clean(mount);
	if (fs->time && mount->io)
		transaction_write(mount);
	for (size_t i = 0; i < fs->transaction.count; i++) {
		uint64_t block = fs->transaction.at[i];

		if (!cache_block_commit(mount->cache, fs->device, block))
			continue;
		fs->journalled.at[block].committed = fs->transaction_id;
		*array_push(&fs->checkpoint) = (struct logged){block, fs->transaction_id};
	}
	fs->transaction.count = 0;
	fs->transaction_id++;
	checkpoint_force(mount);
}

/* A block that this operation changes: in the running transaction until it commits. */
void ext4_block_change(struct filesystem_mount *mount, uint64_t block)
{
	struct filesystem_state *fs = mount->state;

	cache_block_make(mount->cache, fs->device, block);
	while (fs->journalled.count <= block)
		*array_push(&fs->journalled) = (struct journalled){0};
	if (fs->journalled.at[block].running == fs->transaction_id)
		return;
	if (ext4_transaction_is_empty(fs))
		fs->transaction_began_ns = mount->now_ns;
	fs->journalled.at[block].running = fs->transaction_id;
	cache_block_hold(mount->cache, fs->device, block);
	*array_push(&fs->transaction) = block;
	if (fs->transaction.count >= cache_transaction_blocks(mount->cache)) {
		bool was_background = mount->is_background;

		/* The journal's thread does it; who comes next has a transaction of its own. */
		mount->is_background = true;
		ext4_transaction_commit(mount);
		mount->is_background = was_background;
	}
}

static struct aside *aside_at(struct ext4_time *time, struct aside_name name)
{
	while (time->asides[name.kind].count <= name.number)
		(void)array_push(&time->asides[name.kind]);
	return &time->asides[name.kind].at[name.number];
}

void ext4_aside_change(struct filesystem_mount *mount, enum ext4_aside kind, uint32_t number)
{
	struct filesystem_state *fs = mount->state;
	struct aside_name name = {kind, number};
	struct aside *aside = aside_at(fs->time, name);

	if (aside->transaction_id == fs->transaction_id)
		return;
	if (ext4_transaction_is_empty(fs))
		fs->transaction_began_ns = mount->now_ns;
	aside->transaction_id = fs->transaction_id;
	fs->time->aside_count++;
	if (aside->is_dirty)
		return;
	aside->is_dirty = true;
	if (fs->time->dirty.count == 0)
		fs->time->dirty_since_ns = mount->now_ns;
	*array_push(&fs->time->dirty) = name;
}

void ext4_asides_write(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	struct ext4_time *time = fs->time;
	size_t kept = 0;

	if (time->dirty.count == 0 ||
	    mount->now_ns - time->dirty_since_ns < WRITE_BACK_SECONDS * NS_PER_SECOND)
		return;
	for (size_t i = 0; i < time->dirty.count; i++) {
		struct aside_name name = time->dirty.at[i];
		struct aside *aside = aside_at(time, name);

		/* In place only what is committed. */
		if (aside->transaction_id == fs->transaction_id) {
			time->dirty.at[kept++] = name;
			continue;
		}
		mount_write(mount, ext4_aside_offset(fs, name), BLOCK_BYTES);
		aside->is_dirty = false;
	}
	time->dirty.count = kept;
	time->dirty_since_ns = mount->now_ns;
}
