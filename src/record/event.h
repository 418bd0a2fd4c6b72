/*
 * event: what the recorder's two halves, in the kernel and out of it, agree on
 *
 * Plain types of fixed width and no functions: this is compiled for BPF as well. Events lie in one
 * ring, in the order in which they ended; each begins with a `struct record_event`. Files are known by
 * their identity, which the kernel half reads from the inode at the moment of the call: no descriptor
 * has to be followed through dup, fork or exec, and nothing is guessed. What an identity is called is
 * told once, by a RECORD_NAME that comes before the first event that has the identity.
 */
#ifndef REFAULT_RECORD_EVENT_H
#define REFAULT_RECORD_EVENT_H

#include <stdint.h>

enum {
	RECORD_SYSCALLS_MAX = 512, /* numbers that can be recorded: 0 .. 511; 471 in Linux 6.18 */
	RECORD_COMMAND_BYTES = 16, /* TASK_COMM_LEN */
	RECORD_PATH_BYTES_MAX = 4096,
	RECORD_DEPTH_MAX = 128, /* directories of a name; deeper ones are cut at the front */
};

/*
 * What a system call is to the kernel half: where its descriptors and paths are among its arguments,
 * and what of it is told. The user half says so for each number of this machine.
 */
enum record_shape {
	RECORD_NOTHING,    /* not recorded */
	RECORD_READ,       /* fd; at the file's position */
	RECORD_WRITE,      /* likewise */
	RECORD_PREAD,      /* fd; at an offset */
	RECORD_PWRITE,     /* likewise */
	RECORD_OPEN,       /* paths, and a file that is known afterwards */
	RECORD_CLOSE,      /* fd; told if it was the last of its open file */
	RECORD_OF_FILE,    /* fd, and numbers: fsync, fadvise, ... */
	RECORD_OF_PATH,    /* paths: stat, unlink, rename, ... */
	RECORD_COPY,       /* fd and a second one: sendfile, splice, copy_file_range */
	RECORD_EXEC,       /* paths if it failed; else an event of its own */
	RECORD_OF_NOTHING, /* sync */
	RECORD_CHDIR,      /* paths begin elsewhere from now on; nothing else is told */
	RECORD_OF_MEMORY,  /* msync, madvise: of the mapping at the address */
	RECORD_UNSEEN,     /* could move data past us: io_submit; counted */
};

enum { RECORD_NO_ARGUMENT = 7 };

struct record_syscall {
	uint8_t shape;   /* enum record_shape */
	uint8_t meaning; /* the user half's own */
	/* which argument (0 .. 5), or RECORD_NO_ARGUMENT */
	uint8_t fd, fd_to;     /* a descriptor; for paths, the directory they begin at */
	uint8_t path, path_to; /* a name */
	/*
	 * pread, pwrite: which argument has the RWF_... flags, 0: none. open: which one has the O_...
	 * flags, 6: it is creat, 7: openat2. copy: 1, it is sendfile. of a file: 1, only ioctls that
	 * clone. of memory: which argument is the advice, of which only WILLNEED is told.
	 */
	uint8_t detail;
	uint8_t unused;
};

enum record_type {
	RECORD_TYPE_NAME = 1, /* struct record_name */
	RECORD_TYPE_TASK, /* struct record_task: first seen, or another program, or directory, now */
	RECORD_TYPE_TASK_EXIT,   /* struct record_event alone */
	RECORD_TYPE_TRANSFER,    /* struct record_transfer */
	RECORD_TYPE_CALL,        /* struct record_call */
	RECORD_TYPE_COPY,        /* struct record_copy */
	RECORD_TYPE_FAULT,       /* struct record_fault */
	RECORD_TYPE_KERNEL_READ, /* struct record_fault: exec reads a program's head */
	RECORD_TYPE_MEMORY,      /* struct record_memory */
	RECORD_TYPE_SUMMED, /* struct record_event alone: statistics of the cgroup that is watched */
};

struct record_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC; of a call, when it began */
	uint32_t process, thread;
	uint32_t bytes;  /* of the whole event */
	uint16_t type;   /* enum record_type */
	uint16_t number; /* of the system call, where it is one */
};

/* Which file: of no two that exist at once the same. ino 0: none. */
struct record_id {
	uint64_t ino;
	uint32_t device; /* the super block's s_dev, as the kernel encodes it */
	uint32_t generation;
};

enum {
	RECORD_IS_DIRECTORY = 1,
	RECORD_IS_CREATED = 2, /* by the open that tells of it */
	RECORD_IS_OPENED = 4,  /* likewise: by this name, whatever was told before */
};

/* A file that was not told of before. */
struct record_name {
	struct record_event event;
	struct record_id id;
	uint64_t size;         /* bytes, before what the next event does */
	uint64_t cached_pages; /* of it in memory, likewise */
	uint32_t links;
	uint32_t flags;
	uint32_t text_bytes;
	/* its names up to the file system's root, the last one first, each ended by a NUL */
	char text[4]; /* as long as text_bytes says */
};

struct record_task {
	struct record_event event;
	uint32_t parent; /* process */
	uint32_t is_exec;
	char command[RECORD_COMMAND_BYTES];
	struct record_id program;   /* ino 0: not known */
	struct record_id directory; /* where it works; likewise */
};

enum {
	RECORD_IS_WRITE = 1,
	RECORD_IS_DIRECT = 2,
	RECORD_IS_DONTCACHE = 4,
	RECORD_IS_IO_URING = 8,
};

struct record_transfer {
	struct record_event event;
	struct record_id id;
	uint64_t handle; /* which open file: dup() and fork() share one */
	uint64_t offset, bytes;
	uint64_t size; /* of the file, before */
	uint32_t flags;
	uint32_t inserted_pages; /* into the page cache, meanwhile, of this file */
};

struct record_copy {
	struct record_event event;
	struct record_id from, to; /* ino 0: not a file, but a pipe or a socket */
	uint64_t from_handle, to_handle;
	uint64_t from_offset, to_offset;
	uint64_t from_size, to_size;
	uint64_t bytes;
	uint64_t inserted_pages; /* into the page cache, meanwhile, of both files */
};

/* Any other call. `id` is the file that it opened or closed or was about. */
struct record_call {
	struct record_event event;
	int64_t result;
	uint64_t arguments[6];
	struct record_id id, directory,
		directory_to; /* where the paths begin; ino 0: at the root */
	uint64_t handle;
	uint64_t size; /* of the file, before; of an opened one, now */
	uint32_t flags;
	uint32_t open_flags;    /* O_... of the open file */
	uint64_t asked_flags;   /* open: the call's own */
	uint32_t path_bytes[2]; /* each with its NUL; 0: none */
	char text[8];           /* one after the other */
};

struct record_fault {
	struct record_event event;
	struct record_id id;
	uint64_t index; /* page */
	uint64_t pages;
	uint64_t size;
	uint32_t fault; /* counts the thread's faults: several events may be of one */
	uint32_t flags; /* RECORD_IS_WRITE */
};

/* The processes of the cgroup that is watched have so much memory, with what the kernel needs for them. */
struct record_memory {
	struct record_event event;
	uint64_t pages;
};

/* ---- counters ---- */

/* Of pages that came into the page cache while a recorded task ran. Summed over CPUs. */
struct record_counters {
	/* Of files' data, each page in exactly one of these. */
	uint64_t pages_by_call; /* of the file that the call at hand is about, and it is recorded */
	uint64_t pages_by_fault; /* of a mapped file, at a fault that is recorded */
	uint64_t pages_by_exec;  /* read for exec, which is recorded */
	uint64_t pages_lost;     /* by a call or fault whose event did not fit the ring */
	uint64_t pages_by_other; /* by none of these: not explained */
	uint64_t pages_metadata; /* of the file system's own: directories, block maps, inodes */

	uint64_t events_lost;  /* did not fit the ring */
	uint64_t names_lost;   /* of these, names */
	uint64_t texts_unread; /* paths that could not be read from the process's memory */
	uint64_t tasks_lost;   /* no memory to remember them */
	uint64_t
		calls_unseen; /* RECORD_UNSEEN, and io_uring's operations that are not understood */
	uint64_t calls_foreign; /* of 32-bit programs */
	uint64_t read_bytes;    /* that the kernel read from devices for the tasks: metadata too */
	uint64_t events, event_bytes;
	uint64_t unexplained[RECORD_UNSEEN + 1]; /* pages_by_other, by the call's shape */
};

/* ---- what the user half says ---- */

enum record_scope { RECORD_SCOPE_PROCESSES, RECORD_SCOPE_CGROUP, RECORD_SCOPE_ALL };

struct record_settings {
	uint32_t scope; /* enum record_scope */
	uint32_t self;  /* our own process, which is never recorded */
	uint32_t is_cgroup_v2;
	uint32_t o_direct; /* this machine's */
	uint64_t cgroup;   /* its id */
	uint32_t cgroup_level;
	uint32_t wakeup_bytes; /* in the ring, before the user half is woken */
	uint64_t start_ns;     /* CLOCK_MONOTONIC */
	struct record_syscall syscalls[RECORD_SYSCALLS_MAX];
};

/* What may be said later; both halves see it. */
struct record_control {
	uint64_t memory_cgroup; /* id of the cgroup whose memory is watched; 0: none */
	uint64_t step_pages;    /* how much it has to change to be told again */
	int64_t file_pages;     /* charged to it; the user half says how many at the start */
	/* kernel half */
	uint64_t group;       /* its address, once seen */
	int64_t kernel_bytes; /* of its tasks: page tables, stacks and the like */
	int64_t told_pages;
};

/* Which of io_uring's operations are understood; their numbers never change. */
enum {
	RECORD_URING_READV = 1,
	RECORD_URING_WRITEV = 2,
	RECORD_URING_FSYNC = 3,
	RECORD_URING_READ_FIXED = 4,
	RECORD_URING_WRITE_FIXED = 5,
	RECORD_URING_FALLOCATE = 17,
	RECORD_URING_READ = 22,
	RECORD_URING_WRITE = 23,
	RECORD_URING_FADVISE = 24,
};

#endif
