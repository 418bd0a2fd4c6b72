/*
 * zfs_space: where on the device ZFS puts a block
 *
 * The device is cut into metaslabs, about a hundred to two hundred, each a bitmap of units of 4 KiB
 * whose free runs are counted by length. Allocation goes on in the active ones until they have
 * become poor, from a cursor for each alignment; freed space can be used again two transaction
 * groups later. What differs between versions is in struct zfs_space_rules. Sources and
 * differences: zfs_space.c. Memory: 1 bit for 4 KiB, 15 MB for 480 GB.
 */
#ifndef REFAULT_MACHINE_MODEL_FS_ZFS_SPACE_H
#define REFAULT_MACHINE_MODEL_FS_ZFS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZFS_UNIT_BYTES = 4096 };

struct zfs_space;

/* What versions do differently. The two of them: zfs_version.c. */
struct zfs_space_rules {
	/* log2 of a metaslab's bytes; another only if there were fewer or more than so many of it */
	uint32_t metaslab_shift; /* 0: always as large as 200 need it */
	/*
	 * First fit looks no farther than so many bytes from the cursor (but at so many segments
	 * at least), then for the segment of that size. 0: on to the end, and from the beginning.
	 */
	uint64_t search_bytes;
	uint32_t search_segments;
	bool has_log_metaslab; /* one is set aside for the intent log, if there are 64 */
	/* A block that is too long for the active metaslab leaves it active; else its turn ends. */
	bool stays_active;
	/* A block's copies are an eighth of the device apart; else in any other metaslab. */
	bool copies_are_far;
	uint32_t unload_txgs; /* a metaslab that nothing was taken from for longer ... */
	uint64_t unload_ns;   /* ... and so long leaves memory */
	uint32_t preloads;    /* so many of the best ones are brought in ahead */
	/* Each metaslab's space map is appended to by every group that changed it, in blocks of: */
	uint32_t map_block_bytes; /* 0: changes go to one log for all of them */
};

/* A run of units. */
struct zfs_extent {
	uint32_t at, units;
};

/* What was done, summed: what an allocation costs the processor is a matter of this. */
struct zfs_space_work {
	uint64_t allocations;  /* blocks, and pieces of those that were cut */
	uint64_t searched;     /* free segments looked at */
	uint64_t best_fits;    /* allocations by size */
	uint64_t loads;        /* metaslabs brought into memory because a block needed one */
	uint64_t loads_ahead;  /* and because one might */
	uint64_t loaded;       /* entries of the space maps of all these */
	uint64_t ganged;       /* blocks that had to be cut */
	uint64_t log_failures; /* log blocks for which no run was long enough */
};

/*
 * A block that is cut has at most so many pieces, headers included: 1 MiB in units of 4 KiB. Longer
 * ones may find no room though there is some.
 */
enum { ZFS_PIECES_MAX = 512 };

enum zfs_space_use { ZFS_SPACE_BLOCK, ZFS_SPACE_LOG };

struct zfs_space_ask {
	uint32_t units;
	enum zfs_space_use use;
	/* Where the copies before this one are: it goes elsewhere. */
	uint32_t others[2], other_count;
};

/* A device of this size, empty, in so many metaslabs at most (0: 200). NULL: it is too small or too large (up to 8 TiB). */
struct zfs_space *zfs_space_create(uint64_t device_bytes, const struct zfs_space_rules *rules,
				   uint32_t metaslabs);
void zfs_space_destroy(struct zfs_space *space);

/*
 * Place a block: in one piece, or, if no run is long enough, as a tree of gang headers and parts of
 * which pieces[0] is the first header. Returns how many; 0: there is no room. A log block is never
 * cut.
 */
uint32_t zfs_space_allocate(struct zfs_space *space, const struct zfs_space_ask *ask,
			    struct zfs_extent pieces[ZFS_PIECES_MAX]);
/* Freed in the present transaction group. */
void zfs_space_free(struct zfs_space *space, uint32_t at, uint32_t units);
/* A transaction group is on the device: what was freed two groups ago can be used. */
void zfs_space_txg_end(struct zfs_space *space, uint64_t now_ns);

/* ---- space maps ---- */

/* A metaslab that came into memory: its map was needed. `is_ahead`: nobody waited for it. */
struct zfs_space_load {
	uint32_t metaslab;
	bool is_ahead;
};
/* The next of them, first come first served. False: there is none. */
bool zfs_space_load_next(struct zfs_space *space, struct zfs_space_load *load);

/* What a group has to write of a metaslab's map (map_block_bytes > 0): from here to there. */
struct zfs_space_map {
	uint32_t metaslab;
	uint64_t from_bytes, to_bytes;
	bool is_new; /* written anew, shorter (condensed): from 0 */
};
/* The next that has changed since it was last written. False: none. */
bool zfs_space_map_next(struct zfs_space *space, struct zfs_space_map *map);
/* Runs taken and given back since it was last asked: what a log for all has to write. */
uint64_t zfs_space_changes(struct zfs_space *space);
uint64_t zfs_space_map_bytes(const struct zfs_space *space, uint32_t metaslab);

/* ---- figures ---- */

/* Free, and what users may have of it (less slop); what is freed but not usable yet is free. */
uint64_t zfs_space_free_bytes(const struct zfs_space *space);
uint64_t zfs_space_usable_bytes(const struct zfs_space *space);
uint64_t zfs_space_total_bytes(const struct zfs_space *space);
const struct zfs_space_work *zfs_space_work(const struct zfs_space *space);
/* The mean free run of the whole device. */
uint64_t zfs_space_mean_run_bytes(const struct zfs_space *space);
/* What `zpool list` calls FRAG. */
uint32_t zfs_space_fragmentation_percent(const struct zfs_space *space);
/* Free runs of at least so many units. */
uint64_t zfs_space_runs(const struct zfs_space *space, uint32_t units);
/* Has the intent log a metaslab of its own? */
bool zfs_space_has_log(const struct zfs_space *space);
uint32_t zfs_space_metaslab_count(const struct zfs_space *space);
uint64_t zfs_space_memory_bytes(const struct zfs_space *space);

/* Assert what must hold. */
void zfs_space_check(const struct zfs_space *space);

#endif
