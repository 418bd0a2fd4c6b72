/*
 * calls: what processes asked of the kernel, as ops on files
 *
 * A system call speaks of descriptors, positions and relative names; an op of a file, an offset and
 * a path. This keeps what the kernel keeps in between: tasks and what they share (descriptors,
 * directory, memory), open files with their positions, names with the directories above them, files
 * with their sizes. Whoever sees calls (a reader of strace's text, of perf's or ftrace's, or the
 * recorder) tells of each one when it has returned, in that order; ops come out by a function of the
 * caller's.
 *
 * Words   A *descriptor* is a number in a table; an *open file* is what it leads to, with a position,
 *         shared by dup and fork; a *file* is what is on the disk, whatever its names are. A file has
 *         a number of its own, from 0 in the order of first sight, the same in every reading.
 * Files   By name, unless the device and the inode are told. A rename is one file; unlink and create
 *         are two. A file that is unlinked while it is open goes on under a name of its own, "NAME
 *         (deleted)": a `rename` to it comes before the `unlink`. A descriptor whose opening was not
 *         seen is a file of its own, "pid 4100 fd 7", unless its name is told.
 * New     A file opened with O_CREAT is new and empty, unless it is known, or is found to have had
 *         more bytes than were written.
 * Sizes   What was there before the start, and its size, is known only when all has been seen. So
 *         what is learned in one reading is kept for the next (calls_again), and calls_existing()
 *         lists it; who reads once may put that list before the ops himself. Sizes come from
 *         lseek(SEEK_END), stat, reads that end early, and from whatever was read.
 * Ops     One op of the file per call that moved bytes, with the bytes that were returned. Nothing is
 *         delivered for a failed call but the look-up that it was (a `stat`). A `close` comes when the
 *         last descriptor is gone, for each thread that used it. O_SYNC, O_DSYNC: an fsync or
 *         fdatasync follows each write.
 * Differs 1. Descriptors passed over sockets, pidfd_getfd and mount points are not followed.
 *         2. Symbolic links are followed where they were seen to be made or read. 3. Mappings are
 *         known, what is done to memory is not: see calls_touch(). 4. A name that begins at an
 *         unknown directory stays relative to it.
 *
 * Costs about 200 bytes a file, 64 a name. Needs no system call itself; the same calls give the same
 * ops.
 */
#ifndef REFAULT_OP_CALLS_H
#define REFAULT_OP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/op.h"

struct calls; /* opaque */
struct path_table;

/* When, and who: of the call that has returned. */
struct calls_when {
	uint64_t time_ns; /* since the start; ops whose time would go back get the latest so far */
	uint32_t tid;     /* the thread; becomes the op's thread */
	uint32_t pid;     /* its process, where threads are known to belong; 0: not known */
	uint32_t line;    /* of the text, 1-based; 0: none */
};

/* A name as it was handed to the kernel: relative to `directory`. */
struct calls_name {
	int directory;    /* a descriptor, or CALLS_CWD */
	const char *text; /* NULL: not known; "": `directory` itself, as with AT_EMPTY_PATH */
	size_t bytes;
};

enum { CALLS_CWD = -100 }; /* AT_FDCWD */

/* What a descriptor or a name leads to, as far as told; zeroed: nothing is. */
enum calls_type {
	CALLS_TYPE_UNKNOWN,
	CALLS_REGULAR,
	CALLS_DIRECTORY,
	CALLS_SYMLINK,
	CALLS_OTHER, /* pipe, socket, terminal, ...: it has no pages */
};

struct calls_facts {
	enum calls_type type;
	const char *path; /* absolute and resolved, as the kernel would print it; NULL: not told */
	size_t path_bytes;
	bool is_deleted; /* `path` was its name */
	bool has_inode, has_size, has_position, has_flags;
	uint64_t device, inode; /* the device's major << 32 | minor */
	uint64_t size_bytes;
	uint64_t position;  /* of the open file */
	unsigned int flags; /* CALLS_O_..., of the open file */
};

/* Open flags, ours: machines differ in theirs. */
enum {
	CALLS_O_WRITE = 1 << 0, /* O_WRONLY or O_RDWR */
	CALLS_O_CREATE = 1 << 1,
	CALLS_O_EXCLUSIVE = 1 << 2,
	CALLS_O_TRUNCATE = 1 << 3,
	CALLS_O_APPEND = 1 << 4,
	CALLS_O_DIRECT = 1 << 5,
	CALLS_O_DSYNC = 1 << 6,
	CALLS_O_SYNC = 1 << 7, /* O_SYNC, which includes O_DSYNC */
	CALLS_O_CLOEXEC = 1 << 8,
	CALLS_O_DIRECTORY = 1 << 9,
	CALLS_O_PATH = 1 << 10,
	CALLS_O_TMPFILE = 1 << 11,
	CALLS_O_NOFOLLOW = 1 << 12,
};

/* From the numbers of x86-64 and, with `is_arm64`, of arm64. */
unsigned int calls_open_flags(uint64_t flags, bool is_arm64);

/* Flags of preadv2 and pwritev2 that matter here: the kernel's numbers, which all machines share. */
enum {
	CALLS_RWF_DSYNC = 0x2,
	CALLS_RWF_SYNC = 0x4,
	CALLS_RWF_NOWAIT = 0x8,
	CALLS_RWF_APPEND = 0x10,
	CALLS_RWF_DONTCACHE = 0x80,
};

/* What a new task shares with its parent: the kernel's numbers. */
enum {
	CALLS_CLONE_VM = 0x100,
	CALLS_CLONE_FS = 0x200,
	CALLS_CLONE_FILES = 0x400,
	CALLS_CLONE_VFORK = 0x4000,
	CALLS_CLONE_THREAD = 0x10000,
};

#define CALLS_AT_POSITION   UINT64_MAX       /* for an offset: where the open file stands */
#define CALLS_NOT_TOLD      (UINT64_MAX - 1) /* elsewhere, and it is not told where */
#define CALLS_ASKED_UNKNOWN UINT64_MAX

/*
 * A result below 0: the call failed, and that is errno with its sign, Linux's numbers; of which
 * these matter. CALLS_FAILED: some error that is not told.
 */
enum {
	CALLS_FAILED = -4095,
	CALLS_ENOENT = -2,
	CALLS_EBADF = -9,
	CALLS_EEXIST = -17,
	CALLS_ENOTDIR = -20,
	CALLS_EISDIR = -21,
	CALLS_ESPIPE = -29,
};

struct calls_options {
	struct path_table *paths; /* the ops' paths are interned here */
	/* NULL: nothing is delivered, as in a first reading. `op` is the receiver's to keep. */
	void (*deliver)(void *context, const struct op *op);
	void *context;
};

struct calls *calls_create(const struct calls_options *options);
void calls_destroy(struct calls *calls);

/*
 * Forget everything but what was learned of the files: the same calls come again, from the first on,
 * and now deliver like this.
 */
void calls_again(struct calls *calls, const struct calls_options *options);

/*
 * Was the directory that relative names begin at told only after some had been used? Then what was
 * found so far of names may be wrong; calls_from_there() forgets all but that directory, and the calls
 * should be told once more, before calls_again().
 */
bool calls_place_came_late(const struct calls *calls);
void calls_from_there(struct calls *calls);

/*
 * The calls that come belong to this row of the input, or this event: a number that is the same in
 * each reading and does not go back. What is learned of a file is kept under that, so that it is found
 * again though other things are known by then. Who never says it has files numbered from 0.
 */
void calls_step(struct calls *calls, uint64_t step);

/* ---- tasks ---- */

/* fork, vfork, clone, clone3: `child` is a thread's id; CALLS_CLONE_... */
void calls_fork(struct calls *calls, const struct calls_when *when, uint32_t child,
		unsigned int flags);

/* This thread is of that process and shares all with it, as far as both are known. */
void calls_same_process(struct calls *calls, uint32_t tid, uint32_t of_tid);

/* The thread's number, which was not known, is this. */
void calls_renumber(struct calls *calls, uint32_t tid, uint32_t new_tid);

/* `name` may be not known. A result below 0: failed. */
void calls_exec(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		int64_t result);

/* The thread is gone; `is_group`: all of its process are, as far as they are known to be. */
void calls_exit(struct calls *calls, const struct calls_when *when, bool is_group);

/* wait4 and its like returned this child: it is gone, should nobody have seen it go. */
void calls_reaped(struct calls *calls, const struct calls_when *when, uint32_t child);

void calls_chdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result);
void calls_fchdir(struct calls *calls, const struct calls_when *when, int fd, int64_t result);

/* Its working directory is this one (getcwd, or told beside a call). */
void calls_cwd_is(struct calls *calls, const struct calls_when *when, const char *path,
		  size_t bytes);

/* ---- descriptors ---- */

/* open, openat, openat2, creat; `result` is the descriptor. `facts`: NULL, or what is told of it. */
void calls_open(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		unsigned int flags, int64_t result, const struct calls_facts *facts);

/*
 * This descriptor leads there: one that was open before the start, or one of which more is told
 * than its opening did. Nothing happens to one that is known to lead there.
 */
void calls_known_file(struct calls *calls, const struct calls_when *when, int fd,
		      const struct calls_facts *facts);

/* A new descriptor of something without pages: pipe, socket, epoll, ... (result below 0: none). */
void calls_other(struct calls *calls, const struct calls_when *when, int64_t result);

/* dup, dup2, dup3, F_DUPFD: `result` is the new descriptor, which may have led elsewhere before. */
void calls_dup(struct calls *calls, const struct calls_when *when, int fd, int64_t result,
	       bool is_cloexec);

void calls_set_cloexec(struct calls *calls, const struct calls_when *when, int fd, bool is_cloexec);

/* F_SETFL: O_APPEND and O_DIRECT can be changed. F_GETFL's result is a fact: calls_known_file(). */
void calls_set_flags(struct calls *calls, const struct calls_when *when, int fd,
		     unsigned int flags);

void calls_close(struct calls *calls, const struct calls_when *when, int fd, int64_t result);

/* close_range: `is_cloexec`: only marks them; `is_unshared`: with a table of the caller's own. */
void calls_close_range(struct calls *calls, const struct calls_when *when, uint32_t first,
		       uint32_t last, bool is_cloexec, bool is_unshared, int64_t result);

/* unshare(2); CALLS_CLONE_FILES and _FS matter. */
void calls_unshare(struct calls *calls, const struct calls_when *when, unsigned int flags);

/* ---- data ---- */

/*
 * The read and write families: `offset` CALLS_AT_POSITION moves the position. `asked` is what the
 * call asked for; a read that returns less has met the end. `rwf`: CALLS_RWF_...
 */
void calls_read(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		uint64_t asked, unsigned int rwf, int64_t result);
void calls_write(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		 uint64_t asked, unsigned int rwf, int64_t result);

/* sendfile, splice, copy_file_range: a read of the one and a write of the other. */
struct calls_transfer {
	int from, to;
	uint64_t from_offset, to_offset; /* also CALLS_AT_POSITION, CALLS_NOT_TOLD */
	uint64_t asked;
};
void calls_transfer(struct calls *calls, const struct calls_when *when,
		    const struct calls_transfer *transfer, int64_t result);

/* `whence` as in lseek(2), SEEK_DATA and SEEK_HOLE too; `result`: the position. */
void calls_seek(struct calls *calls, const struct calls_when *when, int fd, int64_t offset,
		int whence, int64_t result);

void calls_truncate(struct calls *calls, const struct calls_when *when,
		    const struct calls_name *name, uint64_t bytes, int64_t result);
void calls_ftruncate(struct calls *calls, const struct calls_when *when, int fd, uint64_t bytes,
		     int64_t result);

/* `mode`: FALLOC_FL_..., the kernel's numbers. */
void calls_fallocate(struct calls *calls, const struct calls_when *when, int fd, unsigned int mode,
		     uint64_t offset, uint64_t bytes, int64_t result);

void calls_fsync(struct calls *calls, const struct calls_when *when, int fd, bool is_data_only,
		 int64_t result);
void calls_sync(struct calls *calls, const struct calls_when *when); /* sync */
void calls_syncfs(struct calls *calls, const struct calls_when *when, int fd, int64_t result);

/* `flags`: SYNC_FILE_RANGE_...; `bytes` 0: to the end. */
void calls_sync_range(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		      uint64_t bytes, unsigned int flags, int64_t result);

/* `advice`: POSIX_FADV_..., generic numbers (DONTNEED 4, NOREUSE 5); readahead() is WILLNEED. */
void calls_advise(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		  uint64_t bytes, int advice, int64_t result);

/* getdents, getdents64: `result` 0 is the end. */
void calls_list(struct calls *calls, const struct calls_when *when, int fd, int64_t result);

/* ---- memory ---- */

/* mmap; `result` is the address, `fd` -1: of no file. `flags`: MAP_...; `protection`: PROT_... */
struct calls_mapping {
	uint64_t bytes, offset;
	unsigned int protection, flags;
	int fd;
};
void calls_map(struct calls *calls, const struct calls_when *when,
	       const struct calls_mapping *mapping, int64_t result);
void calls_unmap(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, int64_t result);
void calls_remap(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, uint64_t new_bytes, int64_t result);
void calls_msync(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, unsigned int flags, int64_t result);
void calls_madvise(struct calls *calls, const struct calls_when *when, uint64_t address,
		   uint64_t bytes, int advice, int64_t result);

/* Who sees page faults: memory of a mapping was touched, at this address. False: of no known file. */
bool calls_touch(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, bool is_write);

/* The same, of who knows which file and where in it: it goes by this descriptor. */
void calls_touch_file(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		      uint64_t bytes, bool is_write);

/* ---- names ---- */

/*
 * stat, lstat, statx, access, readlink, ...: a look-up. ENOENT leaves a negative dentry. `facts`:
 * NULL, or what it found; `follows`: a symbolic link at the end.
 */
void calls_look_up(struct calls *calls, const struct calls_when *when,
		   const struct calls_name *name, bool follows, int64_t result,
		   const struct calls_facts *facts);
void calls_fstat(struct calls *calls, const struct calls_when *when, int fd, int64_t result,
		 const struct calls_facts *facts);

/* readlink, or symlink(target, name): where a symbolic link leads. */
void calls_link_leads(struct calls *calls, const struct calls_when *when,
		      const struct calls_name *name, const char *target, size_t bytes);

void calls_mkdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result);
void calls_rmdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result);
void calls_unlink(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		  int64_t result);

/* `is_exchange`: RENAME_EXCHANGE. */
void calls_rename(struct calls *calls, const struct calls_when *when, const struct calls_name *from,
		  const struct calls_name *to, bool is_exchange, int64_t result);
void calls_link(struct calls *calls, const struct calls_when *when, const struct calls_name *from,
		const struct calls_name *to, bool follows, int64_t result);
void calls_symlink(struct calls *calls, const struct calls_when *when, const char *target,
		   size_t target_bytes, const struct calls_name *name, int64_t result);

/* mknod: of a CALLS_REGULAR file, or something CALLS_OTHER. */
void calls_mknod(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 enum calls_type type, int64_t result);

/* Does this descriptor lead to /proc/sys/vm/drop_caches? What is written there is an op, too. */
bool calls_is_drop_caches(struct calls *calls, const struct calls_when *when, int fd);
void calls_drop_caches(struct calls *calls, const struct calls_when *when, unsigned int what);

/* ---- what was seen ---- */

/* Something happened to files that is no op: io_uring, io_submit, ioctl(FICLONE), punched holes ... */
enum calls_unseen {
	CALLS_UNSEEN_IO_URING,    /* io_uring_enter: its reads and writes are in shared memory */
	CALLS_UNSEEN_AIO,         /* io_submit, where its control blocks cannot be read */
	CALLS_UNSEEN_CLONE_RANGE, /* ioctl FICLONE, FICLONERANGE, FIDEDUPERANGE */
	CALLS_UNSEEN_HOLE,   /* fallocate: holes punched, ranges zeroed, collapsed or inserted */
	CALLS_UNSEEN_EXEC,   /* programs started: their pages come in by faults */
	CALLS_UNSEEN_MAPPED, /* mappings of files: what is done to them is not seen */
	CALLS_UNSEEN_PASSED, /* descriptors that may have come over a socket or pidfd_getfd */
	CALLS_UNSEEN_RANGE,  /* beyond the largest file there can be: left out */
	CALLS_UNSEEN_COUNT,
};
void calls_unseen(struct calls *calls, enum calls_unseen what, uint64_t count);

/* A sum over some files. */
struct calls_sum {
	uint64_t reads, read_bytes;
	uint64_t writes, written_bytes;
};

struct calls_counts {
	struct calls_sum all;     /* regular files: buffered and direct, known and unknown */
	struct calls_sum direct;  /* of them: O_DIRECT */
	struct calls_sum unknown; /* of them: descriptors whose opening and name are not known */
	struct calls_sum no_position; /* of them: at a position that is not known, counted from 0 */
	struct calls_sum dontcache;   /* of them: RWF_DONTCACHE */
	struct calls_sum transferred; /* of them: by sendfile, splice, copy_file_range */
	struct calls_sum not_files; /* pipes, sockets, terminals, /proc, /sys, /dev: not in `all` */
	uint64_t files;             /* regular files that were read or written */
	uint64_t unknown_files;     /* of them: descriptors whose opening and name are not known */
	uint64_t unnamed_files;     /* of them: opened, and it is not told what */
	uint64_t eof_reads;         /* of regular files: returned 0 */
	uint64_t failed_reads, failed_writes; /* of regular files */
	uint64_t failed_lookups;              /* ENOENT: names that are not there */
	uint64_t failed_others;               /* all other calls that failed */
	uint64_t assumed_new; /* opened with O_CREAT, and nothing shows that they were there */
	uint64_t
		appends_unknown; /* appended to a file whose size is not known: at the least size */
	uint64_t changes_unseen; /* files that came, went or grew without a call that was seen */
	uint64_t threads, processes;
	uint64_t tasks_before;       /* threads whose beginning was not seen */
	uint64_t fsyncs;             /* fsync, fdatasync, msync, syncfs, sync that returned 0 */
	uint64_t synchronous_writes; /* to O_SYNC or O_DSYNC: an fsync or fdatasync op each */
	uint64_t mapped_bytes;       /* of files */
	uint64_t unseen[CALLS_UNSEEN_COUNT];
};

/* So far; right about what is no file only in the second reading, or where all is told. */
void calls_counts(const struct calls *calls, struct calls_counts *counts);

/* One file, for lists and tests. */
struct calls_file {
	uint32_t number;
	uint32_t path; /* its name now, or its last one */
	struct calls_sum sum;
	uint64_t size_bytes; /* now */
	bool is_size_exact;  /* else it is at least that */
	bool is_unknown;     /* a descriptor whose opening and name are not known */
	bool is_unnamed;     /* its opening was seen, and not what was opened */
	bool is_deleted, is_directory, is_no_file;
};
uint32_t calls_file_count(const struct calls *calls);
void calls_file_get(struct calls *calls, uint32_t number, struct calls_file *file);

/*
 * What there was before the start, by its name then: files with their (least) sizes, and directories
 * in which no such file is, each after the one that it is in. Complete when all calls were told.
 */
struct calls_existing {
	uint32_t path;
	bool is_directory;
	bool is_link;     /* another name of the file */
	uint32_t link_of; /*  at this path, which came before */
	uint64_t bytes;
};
void calls_existing(struct calls *calls,
		    void (*found)(void *context, const struct calls_existing *existing),
		    void *context);

#endif
