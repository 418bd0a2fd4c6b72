/*
 * zfs_version: what versions of ZFS do differently, by name
 *
 * Which one is in force follows from the ARC: `arc-classic` is that of 0.7, `arc-2.2` that of 2.2.
 * Every fact has its place in the source beside it in zfs_version.c; what is the same in both is a
 * constant where it is used.
 */
#ifndef REFAULT_MACHINE_MODEL_FS_ZFS_VERSION_H
#define REFAULT_MACHINE_MODEL_FS_ZFS_VERSION_H

#include "cache/arc.h"
#include "machine/model/fs/zfs_space.h"

enum { ZFS_LOG_SIZES = 6 };

struct zfs_version {
	const char *name;
	struct zfs_space_rules space;

	/* A group is closed when so much is dirty: bytes, or (0) percent of what may be. */
	uint64_t close_bytes;
	uint32_t close_percent;

	/* A write makes one transaction for each record that it touches; else one in all. */
	bool writes_by_record;
	/* Up to so many bytes go into a log block of this size; more, into one of 128 KiB. */
	struct {
		uint32_t most, bytes;
	} log_sizes[ZFS_LOG_SIZES];
	/* One commit is written after the other: who comes meanwhile goes with the next. */
	bool commits_take_turns;
	/* Commits, too, are held up when much is dirty. */
	bool commits_are_throttled;
	uint32_t allocators; /* whoever allocates meets only one in so many of the others */
};

const struct zfs_version *zfs_version_of(enum arc_rules rules);

#endif
