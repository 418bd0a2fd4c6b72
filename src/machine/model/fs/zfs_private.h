/*
 * zfs_private: the state of the file system zfs, for its own files
 *
 * zfs.c names and mounts, zfs_data.c reads and writes records, zfs_txg.c syncs transaction groups,
 * zfs_log.c the intent log, zfs_block.c has blocks placed, written and freed, zfs_map.c keeps what
 * that changes in space maps; zfs_space.c places blocks, and what versions do differently is in
 * zfs_version.h. A file is a row of records, each with its
 * address (in units of 4 KiB, 0: a hole), and the indirect blocks above them. Directories are files
 * of 16 KiB blocks, and so is the file of all dnodes, number 0: their records are metadata, which
 * has two copies on the device.
 *
 * Memory: 4 bytes and 3 bits a record.
 */
#ifndef REFAULT_MACHINE_MODEL_FS_ZFS_PRIVATE_H
#define REFAULT_MACHINE_MODEL_FS_ZFS_PRIVATE_H

#include "base/array.h"
#include "base/size.h"
#include "cache/arc.h"
#include "machine/model/filesystem.h"
#include "machine/model/fs/zfs_space.h"
#include "machine/model/fs/zfs_version.h"

enum {
	ZFS_RECORD_BYTES_DEFAULT = 128 << 10,
	ZFS_RECORD_BYTES_MAX = 16 << 20,
	ZFS_RECORD_BYTES_MIN = 512,
	/* dn_indblkshift 17, a block pointer of 128 bytes */
	ZFS_INDIRECT_BYTES = 128 << 10,
	ZFS_POINTER_SHIFT = 10,
	ZFS_POINTERS = 1 << ZFS_POINTER_SHIFT,
	/* a dnode block, 32 dnodes; a leaf of a directory */
	ZFS_METADATA_BYTES = 16 << 10,
	ZFS_BLOCK_DNODES = 32,
	ZFS_DNODES = 0, /* the file of dnodes */
};

/* An indirect block. */
struct zfs_indirect {
	uint32_t at[2]; /* its copies; 0: it is not on the device yet */
	uint32_t units; /* of each */
	bool is_dirty;  /* in the open group */
};

struct zfs_file {
	uint32_t *records;   /* `copies` addresses each */
	uint64_t *dirty;     /* bit: in the open group */
	uint64_t *committed; /* bit: dirty, but written already, by the intent log (dmu_sync()) */
	uint64_t *seen;      /* bit: was in the cache once */
	uint32_t record_count, record_capacity;
	struct zfs_indirect *indirect[2]; /* levels 1 and 2 */
	uint32_t indirect_count[2];
	uint32_t record_bytes; /* 0: it has no data yet */
	uint32_t first_units;  /* of record 0 as it is on the device: a small file's grows */
	uint32_t object;       /* its dnode's number */
	uint32_t log_first, log_last;
	uint64_t read_next, read_ahead_end; /* where a reader in order would go on; bytes */
	uint32_t read_ahead_bytes;
	uint8_t copies;
	bool is_metadata, is_known, is_gone;
};

struct zfs_dirty {
	uint32_t file, record;
	uint32_t stream; /* who made it dirty first */
};

/* An indirect block that a group has written; `index`: level << 31 | its number. */
struct zfs_written {
	uint32_t file, index;
};

/* A write since the last commit of its file: itx_t */
struct zfs_logged {
	uint64_t offset, bytes, txg;
	uint32_t next;
};

/* A block that had to be cut: [first .. first + count - 1] of `pieces`. */
struct zfs_gang {
	uint32_t first, count;
};

struct zfs_log {
	ARRAY(struct zfs_logged) writes; /* from 1 */
	uint32_t free;
	uint64_t name_bytes
		[2]; /* of what happened to names: in the open group, in the syncing one */
	/* The block that comes next: its place was chosen before the last one was written. */
	struct zfs_extent next; /* 0 units: the chain has ended, there was no room for it */
	uint32_t sizes[16];     /* of the last log blocks (zl_prev_blks) */
	uint32_t size_next;     /* place in `sizes` */
	ARRAY(struct zfs_extent) blocks, blocks_syncing;
};

/* A metaslab's space map on the device, in blocks of 4 KiB, three copies each. */
struct zfs_map {
	uint32_t (*at)[3];
	uint32_t count, capacity;
	uint32_t top[3]; /* the block that points to them; 0: there is none yet */
};

/* What a group still has to do: it is done in parts, one after the other. */
enum zfs_stage {
	ZFS_IDLE,
	ZFS_RECORDS, /* of data */
	ZFS_METADATA,
	ZFS_LEVEL_1,
	ZFS_LEVEL_2,
	ZFS_POOL,
	ZFS_WRITTEN,
};

/* What it all came to: reported at the end of a run. */
struct zfs_figures {
	uint64_t record_reads, record_writes;
	uint64_t old_record_reads; /* for a write that covers one in part */
	uint64_t indirect_reads;   /* on the way to a record that is read */
	uint64_t indirect_reads_in_writes, dnode_reads, directory_reads;
	uint64_t indirect_reads_to_free;
	uint64_t txgs, commits, log_blocks, log_bytes;
	uint64_t data_bytes, metadata_bytes; /* written by transaction groups */
	uint64_t throttled_ns;
	uint64_t allocation_cpu_ns;
	uint64_t allocation_wait_ns; /* commits': for the allocator's lock */
	uint64_t waits_for_groups;   /* commits that had no log block */
	uint64_t map_bytes, map_reads;
	uint64_t group_ns, group_ns_most; /* from a group's beginning to its end */
};

struct filesystem_state {
	struct arc *arc;
	const struct zfs_version *version;
	struct zfs_space *space; /* NULL: there is no device, and no places */
	struct zfs_map *maps;    /* by metaslab */
	/* The allocator's: before counting began; and what a processor has been charged for already. */
	struct zfs_space_work work_before, work_paid;
	struct arc_counters arc_before;
	/*
	 * A group's part holds the allocator's lock: first to load space maps, then again and again,
	 * each time so long, to place blocks. Whoever wants it meanwhile waits for those in front.
	 */
	uint64_t loading_until_ns, locked_until_ns, lock_hold_ns;
	uint32_t record_bytes;
	ARRAY(struct zfs_file) files; /* by the cache's file */
	uint32_t next_object;
	ARRAY(struct zfs_gang) gangs;
	ARRAY(struct zfs_extent) pieces;

	uint64_t txg, txg_opened_ns; /* the open one */
	uint64_t txg_wanted;         /* somebody waits for this one to be on the device */
	enum zfs_stage stage;
	size_t stage_next;
	uint64_t dirty_max, dirty_open_bytes, dirty_syncing_bytes;
	uint64_t throttle_ns; /* when the last throttled writer goes on: dp_last_wakeup */
	ARRAY(struct zfs_dirty) dirty, syncing;
	ARRAY(struct zfs_written) indirect_syncing;
	ARRAY(uint32_t)
	dying; /* files without a name: their blocks are freed when nobody has them */
	ARRAY(uint32_t) pool; /* the pool's own metadata of the last group */
	struct zfs_log log;
	struct zfs_figures figures;
};

/* ---- zfs.c ---- */

struct zfs_file *zfs_file_get(struct filesystem_state *fs, uint32_t file);
/* Its dnode changes: in the open group. */
void zfs_dnode_dirty(struct filesystem_mount *mount, uint32_t file);

/* ---- zfs_block.c ---- */

/* Place all copies of a block of so many units. False: there is no room. */
bool zfs_block_place(struct filesystem_state *fs, uint32_t units, uint32_t *copies, uint32_t count);
/* Place and write them; what was there before is freed, of so many units. */
void zfs_block_rewrite(struct filesystem_mount *mount, uint32_t units, uint32_t old_units,
		       uint32_t *copies, uint32_t count, bool is_metadata);
void zfs_block_read(struct filesystem_mount *mount, uint32_t address, uint32_t units,
		    bool is_metadata);
void zfs_block_free(struct filesystem_state *fs, uint32_t address, uint32_t units);
/*
 * The processor pays for what the allocator has done since it last did, and the space maps that it
 * needed are read. Returns for how long that held the allocator's lock, to place blocks and to load
 * maps.
 */
struct zfs_space_paid {
	uint64_t place_ns, load_ns;
};
struct zfs_space_paid zfs_space_pay(struct filesystem_mount *mount);

/* ---- zfs_map.c ---- */

void zfs_maps_create(struct filesystem_state *fs);
void zfs_maps_destroy(struct filesystem_state *fs);
/* All of them get their places, as they are. */
void zfs_maps_begin(struct filesystem_state *fs);
/* What the group has changed is written. */
void zfs_maps_write(struct filesystem_mount *mount);
/* One is needed: what of it is not in the ARC is read. */
void zfs_map_load(struct filesystem_mount *mount, uint32_t metaslab);

/* ---- zfs_report.c ---- */

void zfs_counting_begins(struct filesystem_mount *mount);
void zfs_report(const struct filesystem_mount *mount, void *context,
		void (*figure)(void *context, const char *name, const char *meaning, double value,
			       bool per_work));

/* ---- zfs_data.c ---- */

enum zfs_key { ZFS_KEY_RECORD, ZFS_KEY_LEVEL_1, ZFS_KEY_LEVEL_2, ZFS_KEY_MAP };

static inline uint64_t zfs_key(enum zfs_key kind, uint32_t file, uint64_t index)
{
	return (uint64_t)kind << 62 | (uint64_t)file << 34 | index;
}

static inline bool zfs_bit(const uint64_t *bits, uint64_t at)
{
	return bits[at / 64] >> (at % 64) & 1;
}

static inline void zfs_bit_set(uint64_t *bits, uint64_t at, bool value)
{
	uint64_t mask = UINT64_C(1) << (at % 64);

	bits[at / 64] = value ? bits[at / 64] | mask : bits[at / 64] & ~mask;
}

/* Bytes of an indirect block on the device and in the ARC, with so many pointers in use. */
static inline uint32_t zfs_indirect_bytes(uint64_t pointers)
{
	/*
	 * One of 1024 compresses to about 40 KiB ("each scattered small write also rewrites an
	 * indirect block of about 40 KiB": an OpenZFS developer, database-workloads.md A.3).
	 */
	uint64_t bytes = pointers * 40;

	bytes = (bytes + ZFS_UNIT_BYTES - 1) / ZFS_UNIT_BYTES * ZFS_UNIT_BYTES;
	return (uint32_t)(bytes ? bytes : ZFS_UNIT_BYTES);
}

uint32_t zfs_record_units(const struct zfs_file *file, uint64_t record);
uint32_t zfs_indirect_units(const struct zfs_file *file, int level, uint32_t index);
/* There are so many records from now on, the new ones holes. */
void zfs_records_grow(struct zfs_file *file, uint64_t count);
/* The record is dirty in the open group: made whole (nothing of it is read), or as it was. */
void zfs_record_make_dirty(struct filesystem_mount *mount, uint32_t file, uint32_t record,
			   bool is_whole);
/* Bring in what points to the record. True: something is read. */
bool zfs_indirect_use(struct filesystem_mount *mount, uint32_t file, uint64_t record,
		      uint64_t *reads);
/* Bring in a metadata record (a dnode block, a directory's). */
void zfs_metadata_use(struct filesystem_mount *mount, uint32_t file, uint64_t record,
		      uint64_t *reads);
void zfs_read(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes);
void zfs_expect(const struct filesystem_mount *mount, uint32_t file, uint64_t offset,
		enum op_nearness nearness);
void zfs_write(struct filesystem_mount *mount, uint32_t node, uint64_t offset, uint64_t bytes);
void zfs_fetch(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
void zfs_write_back(struct filesystem_mount *mount, uint32_t file, uint64_t index, uint64_t pages);
/* Free records `first` on, in the open group. */
void zfs_records_free(struct filesystem_mount *mount, uint32_t file, uint64_t first);

/* ---- zfs_txg.c ---- */

void zfs_background(struct filesystem_mount *mount);
/* Without a device: what is due is done at once. */
void zfs_tick(struct filesystem_mount *mount);
/* Hold a writer up. */
void zfs_throttle(struct filesystem_mount *mount);
/* The open group is to be on the device as soon as it can be. */
void zfs_txg_want(struct filesystem_state *fs, uint64_t txg);

/* ---- zfs_log.c ---- */

void zfs_log_write(struct filesystem_state *fs, uint32_t file, uint64_t offset, uint64_t bytes);
void zfs_log_name(struct filesystem_state *fs, uint32_t bytes);
/* The first block of the chain has its place. */
void zfs_log_begin(struct filesystem_state *fs);
void zfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only);
/* What a group that is on the device had logged need not be logged any more. */
void zfs_log_forget(struct filesystem_state *fs, uint32_t file, uint64_t txg);

/* ---- what it costs a processor: estimates, all of them ---- */

enum {
	ZFS_CPU_READ_NS = 1500,  /* a read(): holds and locks, beside the system call itself */
	ZFS_CPU_WRITE_NS = 3000, /* a write(): the same, and a transaction */
	ZFS_CPU_ZIO_NS = 5000,   /* a block read or written: the I/O pipeline's stages */
	ZFS_CPU_COMMIT_NS = 10000,
	ZFS_CPU_LOG_NS = 1500,     /* a record into the log: its data is read, as by a read() */
	ZFS_CPU_CREATE_NS = 20000, /* a dnode, a directory entry; and to remove them */
	ZFS_CPU_ALLOCATE_NS = 1000,
	/*
	 * A free segment: a step in a tree that does not fit a cache. ("Hundreds of thousands" of
	 * them take "dozens of ms": d3230d761ac6, OpenZFS, 2019.)
	 */
	ZFS_CPU_SEARCH_NS = 60,
	/*
	 * An entry of a space map that is loaded: some twenty such steps, in two trees. ("Around a
	 * second", aa755b35493a, 2021: a metaslab of 16 GiB has a million entries at 8 KiB.)
	 */
	ZFS_CPU_LOAD_NS = 1000,
	ZFS_CPU_FREE_NS = 500, /* a block */
	/* fletcher4 with AVX2, about 4 GB/s; a copy, 10 GB/s */
	ZFS_CPU_CHECKSUM_BYTES_PER_NS = 4,
	ZFS_CPU_COPY_BYTES_PER_NS = 10,
};

#endif
