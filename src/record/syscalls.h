/*
 * syscalls: which system calls are recorded, and what they mean
 *
 * The numbers are this machine's; a machine without a call (arm64 has no open, only openat) has no
 * line for it.
 */
#ifndef REFAULT_RECORD_SYSCALLS_H
#define REFAULT_RECORD_SYSCALLS_H

#include "record/event.h"

/* What a call with RECORD_OPEN, _CLOSE, _OF_FILE, _OF_PATH, _OF_MEMORY or _OF_NOTHING is. */
enum record_meaning {
	MEANING_NONE,
	MEANING_OPEN, /* flags are argument 2 of openat, 1 of open; see syscalls.def */
	MEANING_CLOSE,
	MEANING_FSYNC,
	MEANING_FDATASYNC,
	MEANING_SYNC,
	MEANING_SYNCFS,
	MEANING_SYNC_RANGE,
	MEANING_ADVISE,
	MEANING_READAHEAD,
	MEANING_FALLOCATE,
	MEANING_FTRUNCATE,
	MEANING_LIST,
	MEANING_CLONE_RANGE, /* an ioctl, should it be one of these */
	MEANING_LOOK_UP,
	MEANING_LOOK_UP_LINK, /* of a symbolic link itself, not of what it leads to */
	MEANING_LOOK_UP_AT,   /* whether of the link itself is in the flags: fstatat, statx */
	MEANING_READ_LINK,
	MEANING_TRUNCATE,
	MEANING_UNLINK,
	MEANING_UNLINK_AT, /* perhaps a directory: the flags say */
	MEANING_RMDIR,
	MEANING_MKDIR,
	MEANING_MKNOD,
	MEANING_RENAME,
	MEANING_RENAME_FLAGS,
	MEANING_LINK,
	MEANING_SYMLINK,
	MEANING_MSYNC,
	MEANING_MADVISE,
};

/* Fill in all of them; the rest is RECORD_NOTHING. */
void syscalls_fill(struct record_syscall syscalls[RECORD_SYSCALLS_MAX]);

/* "openat" for its number; NULL: none that is recorded. */
const char *syscall_name(uint32_t number);

#endif
