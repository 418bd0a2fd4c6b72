/*
 * zfs_metaslab: one metaslab: what is free in it, and where in it a block goes
 *
 * A bitmap of units, with a bit for every 64 of them that says whether any is used, and one whether
 * any is free; free runs are counted by length. For zfs_space.c, which has all of them. Memory:
 * 1 bit a unit and a 32nd, 800 bytes.
 */
#ifndef REFAULT_MACHINE_MODEL_FS_ZFS_METASLAB_H
#define REFAULT_MACHINE_MODEL_FS_ZFS_METASLAB_H

#include "machine/model/fs/zfs_space.h"

enum {
	METASLAB_NOWHERE = UINT32_MAX,
	METASLAB_SHORT =
		64, /* shorter runs are counted by their exact length, others by its log2 */
	METASLAB_BUCKETS = 32,
	METASLAB_CURSORS = 32,
};

enum metaslab_turn { METASLAB_PASSIVE, METASLAB_SECONDARY, METASLAB_PRIMARY };

struct metaslab {
	/* bits: [unit]; [unit / 64]: any of these is used, free */
	uint64_t *used, *some_used, *some_free;
	uint32_t units, free_units;
	uint32_t cursor[METASLAB_CURSORS]; /* where the last of this alignment ended */

	/* sum over [n] of n x short_runs[n], and long runs, = free_units */
	uint32_t short_runs[METASLAB_SHORT], long_runs[METASLAB_BUCKETS], run_count;
	uint64_t short_lengths;               /* bit n: short_runs[n] > 0 */
	uint32_t long_buckets;                /* bit n: long_runs[n] > 0 */
	uint32_t short_first[METASLAB_SHORT]; /* no run of n units begins before */

	/* zfs_space.c's: which metaslab is chosen */
	uint64_t weight;        /* when it was last weighed: log2, number of runs */
	uint32_t rank;          /* place in the order of choice */
	uint32_t active_bucket; /* of its longest when its turn began */
	enum metaslab_turn turn;
	uint64_t tried;                     /* the last ask that it could not satisfy */
	uint64_t selected_txg, selected_ns; /* when something was last taken, or it was preloaded */
	bool is_loaded, has_changed;

	/* and its space map's */
	uint64_t map_entries;
	uint32_t taken_runs, taken_end, given_runs; /* since the map was last written */
};

void metaslab_init(struct metaslab *metaslab, uint32_t units);
void metaslab_deinit(struct metaslab *metaslab);

/* Can it have a free run so long? True may be wrong from 64 units on, where that is no power of two. */
bool metaslab_has_run(const struct metaslab *metaslab, uint32_t units);
/* log2 of the longest free run; 0 if there is none. */
uint32_t metaslab_bucket(const struct metaslab *metaslab);
/* metaslab_segment_weight(): the longest runs' log2 << 32 | how many there are of these. */
uint64_t metaslab_weight(const struct metaslab *metaslab);
/* Free runs of at least so many units. */
uint32_t metaslab_runs(const struct metaslab *metaslab, uint32_t units);

/* metaslab_df_alloc(): where a block goes. Not taken yet. */
uint32_t metaslab_pick(struct metaslab *metaslab, const struct zfs_space_rules *rules,
		       uint32_t units, struct zfs_space_work *work);
void metaslab_take(struct metaslab *metaslab, uint32_t at, uint32_t units);
void metaslab_give(struct metaslab *metaslab, uint32_t at, uint32_t units);

/* Assert what must hold. */
void metaslab_check(const struct metaslab *metaslab);

#endif
