/*
 * zfs_private: the state of the file system zfs, for its own files
 *
 * zfs.c names and mounts, zfs_data.c reads and writes records, zfs_txg.c syncs transaction groups,
 * zfs_log.c the intent log, zfs_space.c places blocks. A file is a row of records, each with its
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
		[2];        /* of what happened to names: in the open group, in the syncing one */
	uint32_t sizes[16]; /* of the last log blocks (zl_prev_blks) */
	uint32_t size_next; /* place in `sizes` */
	ARRAY(struct zfs_extent) blocks, blocks_syncing;
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
};

struct filesystem_state {
	struct arc *arc;
	struct zfs_space *space; /* NULL: there is no device, and no places */
	/* The allocator's: before the start; and what a processor has been charged for already. */
	struct zfs_space_work work_before, work_paid;
	uint32_t record_bytes;
	ARRAY(struct zfs_file) files; /* by the cache's file */
	uint32_t next_object;
	ARRAY(struct zfs_gang) gangs;
	ARRAY(struct zfs_extent) pieces;

	uint64_t txg, txg_opened_ns; /* the open one */
	bool is_syncing;
	uint64_t dirty_max, dirty_open_bytes, dirty_syncing_bytes;
	uint64_t throttle_ns; /* when the last throttled writer goes on: dp_last_wakeup */
	ARRAY(struct zfs_dirty) dirty, syncing;
	ARRAY(struct zfs_dirty) indirect_syncing; /* record: level << 31 | index */
	ARRAY(uint32_t) dying;                    /* files whose blocks are to be freed */
	ARRAY(struct zfs_extent) pool;            /* the pool's own metadata of the last group */
	struct zfs_log log;
	struct zfs_figures figures;
};

/* ---- zfs.c: blocks on the device ---- */

/* Place and write a block of so many units; its address. */
uint32_t zfs_block_write(struct filesystem_mount *mount, uint32_t units, bool is_metadata);
void zfs_block_read(struct filesystem_mount *mount, uint32_t address, uint32_t units,
		    bool is_metadata);
void zfs_block_free(struct filesystem_state *fs, uint32_t address, uint32_t units);
/* The processor pays for what the allocator has done since it last did. */
void zfs_space_pay(struct filesystem_mount *mount);
struct zfs_file *zfs_file_get(struct filesystem_state *fs, uint32_t file);
/* Its dnode changes: in the open group. */
void zfs_dnode_dirty(struct filesystem_mount *mount, uint32_t file);

/* ---- zfs_report.c ---- */

void zfs_report(const struct filesystem_mount *mount, void *context,
		void (*figure)(void *context, const char *name, const char *meaning, double value,
			       bool per_work));

/* ---- zfs_data.c ---- */

enum zfs_key { ZFS_KEY_RECORD, ZFS_KEY_LEVEL_1, ZFS_KEY_LEVEL_2 };

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

/* ---- zfs_log.c ---- */

void zfs_log_write(struct filesystem_state *fs, uint32_t file, uint64_t offset, uint64_t bytes);
void zfs_log_name(struct filesystem_state *fs, uint32_t bytes);
void zfs_sync(struct filesystem_mount *mount, uint32_t node, bool data_only);
/* What a group that is on the device had logged need not be logged any more. */
void zfs_log_forget(struct filesystem_state *fs, uint32_t file, uint64_t txg);

/* ---- what it costs a processor: estimates, all of them ---- */

enum {
	ZFS_CPU_READ_NS = 1500,  /* a read(): holds and locks, beside the system call itself */
	ZFS_CPU_WRITE_NS = 3000, /* a write(): the same, and a transaction */
	ZFS_CPU_ZIO_NS = 5000,   /* a block read or written: the I/O pipeline's stages */
	ZFS_CPU_COMMIT_NS = 10000,
	ZFS_CPU_CREATE_NS = 20000, /* a dnode, a directory entry; and to remove them */
	ZFS_CPU_ALLOCATE_NS = 1000,
	ZFS_CPU_SEARCH_NS = 60, /* a free segment: a step in a tree that does not fit a cache */
	ZFS_CPU_LOAD_NS = 150,  /* one of a space map that is loaded: two trees */
	ZFS_CPU_FREE_NS = 500,  /* a block */
	/* fletcher4 with AVX2, about 4 GB/s; a copy, 10 GB/s */
	ZFS_CPU_CHECKSUM_BYTES_PER_NS = 4,
	ZFS_CPU_COPY_BYTES_PER_NS = 10,
};

#endif
