/*
 * call: one system call, or a few that belong together, for the player
 *
 * Ops name files; calls name slots, the player's table of open files, and carry the texts of paths
 * behind them. script.c makes calls out of ops, player.c carries them out. 64 bytes and the texts.
 */
#ifndef REFAULT_MACHINE_KERNEL_CALL_H
#define REFAULT_MACHINE_KERNEL_CALL_H

#include <stdint.h>

enum call_kind {
	CALL_NONE,  /* room left over at the end of the ring */
	CALL_OPEN,  /* path into slot; `create`: with O_CREAT */
	CALL_CLOSE, /* slot; its mapping, too */
	/* slot, offset, bytes: pread(), 4 MiB at most at a time, up to the end; advice: call_way */
	CALL_READ,
	CALL_WRITE,    /* likewise: pwrite() of zeros */
	CALL_FSYNC,    /* slot */
	CALL_DATASYNC, /* slot */
	CALL_ADVISE,   /* slot, offset, bytes, advice: posix_fadvise() */
	CALL_ALLOCATE, /* slot, or SLOT_NONE and path: posix_fallocate() */
	/* slot, offset, bytes; advice: call_touch. The file is mapped whole, once */
	CALL_TOUCH,
	CALL_STAT,       /* path; that it does not exist is an answer */
	CALL_UNLINK,     /* path, of a file or an empty directory */
	CALL_MKDIR,      /* path */
	CALL_RENAME,     /* path, path_to */
	CALL_TRUNCATE,   /* path, or slot where that is gone; bytes */
	CALL_SYNC,       /* syncfs() of the file system */
	CALL_SYNC_RANGE, /* slot, offset, bytes: sync_file_range(), of which only the start */
	CALL_COMPUTE,    /* bytes: ns of processor time */
	CALL_PIN,        /* bytes: memory of the player's own, locked */
	CALL_LIST,       /* path, of a directory: open, getdents64() to its end, close */
	CALL_RMDIR,      /* path */
	CALL_LINK,       /* path, path_to */
	CALL_SYMLINK,    /* path; bytes: of its target's name */
};

/* How CALL_READ and CALL_WRITE go. */
enum call_way {
	CALL_BUFFERED,
	CALL_DIRECT,    /* O_DIRECT, set on the descriptor when it is needed */
	CALL_DONTCACHE, /* RWF_DONTCACHE; plain where it is not known */
};

/* What CALL_TOUCH does with the mapping. */
enum call_touch {
	CALL_READ_FROM,
	CALL_WRITTEN_TO,
	CALL_MAP_RANDOM, /* madvise(MADV_RANDOM), of all of it */
};

enum { SLOT_NONE = UINT32_MAX };

enum call_flag {
	CALL_OP_BEGINS = 1, /* the first call of its op */
	CALL_CREATE = 2,    /* of CALL_OPEN */
};

struct call {
	uint16_t kind;        /* enum call_kind */
	uint16_t flags;       /* enum call_flag */
	uint32_t total_bytes; /* of this header and the texts, a multiple of 64 */
	uint64_t offset, bytes;
	uint64_t op_number; /* from 1, for messages */
	uint32_t slot;
	uint32_t stream;
	uint32_t advice; /* POSIX_FADV_..., or enum call_way or call_touch */
	uint32_t path;   /* the op's path and line, for messages */
	uint32_t line;
	uint16_t op_kind;
	uint16_t path_bytes, path_to_bytes; /* of the texts behind, each with its NUL; 0: none */
	uint16_t unused;
};

#endif
