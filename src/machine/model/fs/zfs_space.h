/*
 * zfs_space: where on the device ZFS puts a block
 *
 * The device is cut into metaslabs, about a hundred to two hundred, each a bitmap of units of 4 KiB.
 * Allocation goes on in one of them (the active one) until it has become poor, from a cursor for
 * each alignment; freed space can be used again two transaction groups later. Sources and
 * differences: zfs_space.c. Memory: 1 bit for 4 KiB, 15 MB for 480 GB.
 */
#ifndef REFAULT_MACHINE_MODEL_FS_ZFS_SPACE_H
#define REFAULT_MACHINE_MODEL_FS_ZFS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

enum { ZFS_UNIT_BYTES = 4096 };

struct zfs_space;

/* A run of units. */
struct zfs_extent {
	uint32_t at, units;
};

/* What was done, summed: what an allocation costs the processor is a matter of this. */
struct zfs_space_work {
	uint64_t allocations; /* blocks */
	uint64_t searched;    /* free segments looked at */
	uint64_t loads;       /* metaslabs brought into memory */
	uint64_t loaded;      /* free segments of these */
	uint64_t best_fits; /* allocations by size, where going on from the cursor found nothing */
	uint64_t sorted;    /* segments gone through for them */
	uint64_t ganged;    /* blocks that had to be cut */
};

/* A block that is cut has at most so many pieces. */
enum { ZFS_PIECES_MAX = 64 };

/* A device of this size, empty. NULL: it is too small or too large (up to 8 TiB). */
struct zfs_space *zfs_space_create(uint64_t device_bytes);
void zfs_space_destroy(struct zfs_space *space);

/*
 * Place a block of so many units: one piece, or several if no run is long enough. Returns how many;
 * 0: there is no room. `is_log`: a block of the intent log, which has a metaslab of its own.
 */
enum zfs_space_use { ZFS_SPACE_BLOCK, ZFS_SPACE_LOG };
uint32_t zfs_space_allocate(struct zfs_space *space, uint32_t units, enum zfs_space_use use,
			    struct zfs_extent pieces[ZFS_PIECES_MAX]);
/* Freed in the present transaction group. */
void zfs_space_free(struct zfs_space *space, uint32_t at, uint32_t units);
/* A transaction group is on the device: what was freed two groups ago can be used. */
void zfs_space_txg_end(struct zfs_space *space);

/* Free, and what users may have of it (less slop); what is freed but not usable yet is free. */
uint64_t zfs_space_free_bytes(const struct zfs_space *space);
uint64_t zfs_space_usable_bytes(const struct zfs_space *space);
uint64_t zfs_space_total_bytes(const struct zfs_space *space);
const struct zfs_space_work *zfs_space_work(const struct zfs_space *space);
/* Where a metaslab's space map is, and how long it is, whenever one was loaded: */
uint64_t zfs_space_map_bytes(const struct zfs_space *space);
/* The mean free run of the whole device, for tests and reports; walks it all. */
uint64_t zfs_space_mean_run_bytes(const struct zfs_space *space);
uint32_t zfs_space_metaslab_count(const struct zfs_space *space);
uint64_t zfs_space_memory_bytes(const struct zfs_space *space);

/* Assert what must hold. */
void zfs_space_check(const struct zfs_space *space);

#endif
