/*
 * zfs_report: what ZFS and its ARC say of themselves at the end of a run
 *
 * What decides between the explanations of what recycling costs (database-workloads.md F, H1 to H5
 * and H8): which blocks were missing on whose way, what groups and log wrote, what allocating took.
 */
#include "machine/model/fs/zfs_private.h"

struct teller {
	void *context;
	void (*figure)(void *context, const char *name, const char *meaning, double value,
		       bool per_work);
};

static void sum(const struct teller *teller, const char *name, uint64_t value, const char *meaning)
{
	teller->figure(teller->context, name, meaning, (double)value, true);
}

static void level(const struct teller *teller, const char *name, double value, const char *meaning)
{
	teller->figure(teller->context, name, meaning, value, false);
}

static void files_tell(const struct teller *teller, const struct zfs_figures *figures)
{
	sum(teller, "zfs_record_reads", figures->record_reads, "records read from the device");
	sum(teller, "zfs_old_record_reads", figures->old_record_reads,
	    "of these, because a write covered them in part");
	sum(teller, "zfs_indirect_reads", figures->indirect_reads,
	    "indirect blocks read on the way to a record that was read");
	sum(teller, "zfs_indirect_reads_in_writes", figures->indirect_reads_in_writes,
	    "indirect blocks read on the way to one that was written");
	sum(teller, "zfs_indirect_reads_to_free", figures->indirect_reads_to_free,
	    "indirect blocks read because their file was removed");
	sum(teller, "zfs_dnode_reads", figures->dnode_reads, "blocks of dnodes read");
	sum(teller, "zfs_directory_reads", figures->directory_reads, "blocks of directories read");
	sum(teller, "zfs_commits", figures->commits, "commits to the intent log");
	sum(teller, "zfs_log_bytes", figures->log_bytes, "bytes written to the intent log");
	sum(teller, "zfs_txgs", figures->txgs, "transaction groups");
	if (figures->txgs) {
		level(teller, "zfs_txg_mean_ns", (double)figures->group_ns / (double)figures->txgs,
		      "how long a group took to be written, in the mean");
		level(teller, "zfs_txg_longest_ns", (double)figures->group_ns_most,
		      "the longest of them");
	}
	sum(teller, "zfs_data_bytes", figures->data_bytes, "bytes of data that they wrote");
	sum(teller, "zfs_metadata_bytes", figures->metadata_bytes,
	    "bytes of metadata that they wrote");
	sum(teller, "zfs_throttled_ns", figures->throttled_ns,
	    "time for which writers were held up by the dirty limit");
}

static void space_tells(const struct teller *teller, const struct filesystem_state *fs)
{
	const struct zfs_space_work *work = zfs_space_work(fs->space), *before = &fs->work_before;

	sum(teller, "zfs_allocations", work->allocations - before->allocations,
	    "blocks given a place");
	sum(teller, "zfs_segments_searched", work->searched - before->searched,
	    "free segments looked at for them");
	sum(teller, "zfs_best_fits", work->best_fits - before->best_fits,
	    "blocks placed by size, not in order");
	sum(teller, "zfs_gang_blocks", work->ganged - before->ganged, "blocks that had to be cut");
	sum(teller, "zfs_metaslab_loads", work->loads - before->loads,
	    "space maps loaded because a block needed a place");
	sum(teller, "zfs_metaslab_loads_ahead", work->loads_ahead - before->loads_ahead,
	    "space maps loaded ahead");
	sum(teller, "zfs_map_reads", fs->figures.map_reads, "blocks of space maps read for that");
	sum(teller, "zfs_map_bytes", fs->figures.map_bytes, "bytes of space maps written");
	sum(teller, "zfs_allocation_cpu_ns", fs->figures.allocation_cpu_ns,
	    "processor time of allocation");
	sum(teller, "zfs_allocation_wait_ns", fs->figures.allocation_wait_ns,
	    "time for which commits waited for the allocator's lock");
	sum(teller, "zfs_commits_without_block", fs->figures.waits_for_groups,
	    "waits for a group by commits for which no free run was long enough");
	level(teller, "zfs_free_run_bytes", (double)zfs_space_mean_run_bytes(fs->space),
	      "mean length of a free segment at the end");
	level(teller, "zfs_fragmentation_percent",
	      (double)zfs_space_fragmentation_percent(fs->space),
	      "fragmentation of free space at the end, as `zpool list` has it");
	level(teller, "zfs_long_runs", (double)zfs_space_runs(fs->space, 32),
	      "free segments of 128 KiB and more at the end");
}

static void arc_tells(const struct teller *teller, const struct filesystem_state *fs)
{
	const struct arc_counters *before = &fs->arc_before;
	struct arc_counters now;

	arc_counters(fs->arc, &now);
	sum(teller, "arc_data_hits",
	    now.hits[ARC_DATA][ARC_USE_DEMAND] - before->hits[ARC_DATA][ARC_USE_DEMAND],
	    "records found in the ARC");
	sum(teller, "arc_data_misses",
	    now.misses[ARC_DATA][ARC_USE_DEMAND] - before->misses[ARC_DATA][ARC_USE_DEMAND],
	    "records not found");
	sum(teller, "arc_metadata_hits",
	    now.hits[ARC_METADATA][ARC_USE_DEMAND] - before->hits[ARC_METADATA][ARC_USE_DEMAND],
	    "blocks of metadata found in the ARC");
	sum(teller, "arc_metadata_misses",
	    now.misses[ARC_METADATA][ARC_USE_DEMAND] - before->misses[ARC_METADATA][ARC_USE_DEMAND],
	    "blocks of metadata not found");
	sum(teller, "arc_prefetches",
	    now.misses[ARC_DATA][ARC_USE_PREFETCH] - before->misses[ARC_DATA][ARC_USE_PREFETCH],
	    "records brought in ahead");
	sum(teller, "arc_dbuf_hits", now.dbuf_hits - before->dbuf_hits,
	    "of those found, in the dbuf cache");
	sum(teller, "arc_ghost_hits_data_mru",
	    now.ghost_hits[ARC_DATA][0] - before->ghost_hits[ARC_DATA][0],
	    "of those not found, ghosts of records used once");
	sum(teller, "arc_ghost_hits_data_mfu",
	    now.ghost_hits[ARC_DATA][1] - before->ghost_hits[ARC_DATA][1],
	    "ghosts of records used more often");
	sum(teller, "arc_ghost_hits_metadata_mru",
	    now.ghost_hits[ARC_METADATA][0] - before->ghost_hits[ARC_METADATA][0],
	    "ghosts of metadata used once");
	sum(teller, "arc_ghost_hits_metadata_mfu",
	    now.ghost_hits[ARC_METADATA][1] - before->ghost_hits[ARC_METADATA][1],
	    "ghosts of metadata used more often");
	sum(teller, "arc_evicted_data_bytes",
	    now.evicted_bytes[ARC_DATA] - before->evicted_bytes[ARC_DATA], "data evicted");
	sum(teller, "arc_evicted_metadata_bytes",
	    now.evicted_bytes[ARC_METADATA] - before->evicted_bytes[ARC_METADATA],
	    "metadata evicted");
	sum(teller, "arc_prunes", now.prunes - before->prunes,
	    "times that file systems were asked for dnodes");
	level(teller, "arc_size_bytes", (double)now.size_bytes, "size of the ARC at the end");
	level(teller, "arc_target_bytes", (double)now.target_bytes, "its target (c)");
	level(teller, "arc_metadata_bytes",
	      (double)(now.resident_bytes[ARC_METADATA][0] + now.resident_bytes[ARC_METADATA][1]),
	      "metadata in it, clean");
	level(teller, "arc_mfu_bytes",
	      (double)(now.resident_bytes[ARC_DATA][1] + now.resident_bytes[ARC_METADATA][1]),
	      "of it used more than once");
}

static void balance_tells(const struct teller *teller, const struct filesystem_mount *mount)
{
	struct arc_counters now;

	arc_counters(mount->state->arc, &now);
	if (arc_rules_of(mount->cache) == ARC_CLASSIC) {
		level(teller, "arc_mru_target_bytes", (double)now.mru_target_bytes,
		      "target of what was used once (p)");
		return;
	}
	level(teller, "arc_metadata_fraction", (double)now.meta_fraction / 0x1p32,
	      "metadata's part of the target (meta)");
	level(teller, "arc_data_mru_fraction", (double)now.data_mru_fraction / 0x1p32,
	      "of data, the part for what was used once (pd)");
	level(teller, "arc_metadata_mru_fraction", (double)now.metadata_mru_fraction / 0x1p32,
	      "of metadata, the part for what was used once (pm)");
}

void zfs_counting_begins(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;

	fs->figures = (struct zfs_figures){0};
	if (fs->space)
		fs->work_before = *zfs_space_work(fs->space);
	arc_counters(fs->arc, &fs->arc_before);
}

void zfs_report(const struct filesystem_mount *mount, void *context,
		void (*figure)(void *context, const char *name, const char *meaning, double value,
			       bool per_work))
{
	const struct teller teller = {context, figure};

	files_tell(&teller, &mount->state->figures);
	if (mount->state->space)
		space_tells(&teller, mount->state);
	arc_tells(&teller, mount->state);
	balance_tells(&teller, mount);
}
