#include "machine/kernel/player.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/kernel/probe.h"

enum {
	RING_BYTES_ONE = 1 << 18, /* the only worker's */
	RING_BYTES_MANY = 1 << 15,
	BUFFER_BYTES = 4 << 20, /* of one pread() or pwrite() */
	LIST_BYTES = 32 * 1024, /* of one getdents64(): what the C library asks for */
	STACK_BYTES = 64 * 1024,
	STATISTICS_BYTES = 64 * 1024,
	SLOTS_MAX = 1 << 24,
	STREAMS = STREAM_COUNT_MAX + 1,
	SPINS = 2000,
	WAIT_NS = 10 * 1000 * 1000,
};

/* ---- shared memory ---- */

struct slot {
	int32_t fd; /* -1: closed */
	uint32_t is_direct;
	uint64_t inode;
	char *map; /* in the child; NULL: not mapped */
	uint64_t map_bytes;
};

/* One cache line that the parent writes, one that the child writes, and the ring. */
struct worker {
	struct {
		_Atomic uint32_t head; /* bytes put in so far, wrapping */
		_Atomic uint32_t sent; /* calls */
	} __attribute__((aligned(64)));
	struct {
		_Atomic uint32_t tail;
		_Atomic uint32_t done;
		_Atomic uint32_t sleeps; /* the worker waits for `head` to move */
		_Atomic int32_t thread;
	} __attribute__((aligned(64)));
};

struct shared {
	_Atomic uint32_t go;      /* 0, then 1: begin, 2: end */
	_Atomic uint32_t ready;   /* workers that wait for `go` */
	_Atomic uint32_t events;  /* calls done by all, while somebody wants to know */
	_Atomic uint32_t watched; /* the parent waits for `events` */
	_Atomic uint32_t failed;  /* 0, or the failure below is there */
	_Atomic uint64_t ops;     /* begun, for `statistics_ops` */
	_Atomic uint64_t plain;   /* calls with RWF_DONTCACHE that were made without it */
	struct player_failure failure;
	_Atomic uint64_t pages[STREAMS];
	char statistics[STATISTICS_BYTES];
	struct worker workers[];
};

struct free_slots {
	ARRAY(uint32_t) slots;
};

struct player {
	struct player_options options;
	struct shared *shared;
	size_t shared_bytes;
	char *rings; /* worker_count rings of ring_bytes */
	uint32_t ring_bytes;
	struct slot *slots;
	uint32_t slot_count;           /* handed out so far */
	struct free_slots *free_slots; /* by worker */
	struct probe_worker *asks;     /* the probe's; NULL: none */
	char *read_buffer;
	char *zeros; /* which nobody writes to */
	pid_t pid;
	bool is_dead;
	int statistics_fd; /* the child's */
	int spins;         /* how often to look before sleeping: not at all on a single processor */
	struct player_failure failure;
};

/* Memory that belongs to whoever touches it first: the parent, here. */
static void *share(size_t bytes, bool touched)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | (touched ? MAP_POPULATE : MAP_NORESERVE), -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value,
		  const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	(void)futex(word, FUTEX_WAKE, INT32_MAX, NULL);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* ---- the child ---- */

static void fail(struct player *player, const struct call *call, int errno_value)
{
	struct shared *shared = player->shared;
	uint32_t none = 0;

	/* The first one counts. */
	if (!atomic_compare_exchange_strong(&shared->failed, &none, 1))
		return;
	shared->failure = (struct player_failure){
		.trouble = PLAYER_CALL_FAILED,
		.errno_value = errno_value,
		.op_kind = (enum op_kind)call->op_kind,
		.op_number = call->op_number,
		.path = call->path,
		.line = call->line,
	};
	atomic_store(&shared->failed, 2);
}

/* What the worker asks for from now on, where the probe can see it. */
static void ask(const struct player *player, uint32_t worker, const struct call *call,
		uint64_t inode)
{
	enum probe_op op = PROBE_OP_OTHER;
	uint64_t end = call->offset + call->bytes;

	if (!player->asks)
		return;
	if (call->kind == CALL_TOUCH || (call->kind == CALL_READ && call->advice != CALL_DIRECT))
		op = PROBE_OP_READ;
	else if (call->kind == CALL_WRITE)
		op = PROBE_OP_WRITE;
	else if (call->kind == CALL_ADVISE && call->advice == POSIX_FADV_WILLNEED)
		op = PROBE_OP_READ, end = call->offset; /* all that it reads is read ahead */
	probe_ask(&player->asks[worker], op, call->stream, inode, call->offset, end);
}

static void pages_add(struct player *player, const struct call *call, uint64_t end)
{
	if (end > call->offset)
		atomic_fetch_add_explicit(&player->shared->pages[call->stream],
					  pages_from_bytes_up(end) -
						  pages_from_bytes_down(call->offset),
					  memory_order_relaxed);
}

/* Set or clear O_DIRECT, which stays. Returns 0 or an errno. */
static int direct_set(struct slot *slot, bool is_direct)
{
	int flags;

	if (slot->is_direct == is_direct)
		return 0;
	flags = fcntl(slot->fd, F_GETFL);
	flags = is_direct ? flags | O_DIRECT : flags & ~O_DIRECT;
	if (fcntl(slot->fd, F_SETFL, flags) != 0)
		return errno;
	slot->is_direct = is_direct;
	return 0;
}

/* In linux/fs.h since 6.14. */
#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif

/* The buffers are pages' beginnings, as O_DIRECT wants them. */
static ssize_t move(struct player *player, const struct call *call, int fd, size_t bytes, off_t at,
		    int flags)
{
	struct iovec one = {
		.iov_base = call->kind == CALL_READ ? player->read_buffer : player->zeros,
		.iov_len = bytes,
	};

	return call->kind == CALL_READ ? preadv2(fd, &one, 1, at, flags)
				       : pwritev2(fd, &one, 1, at, flags);
}

/* Returns 0 or an errno. */
static int transfer(struct player *player, const struct call *call, struct slot *slot)
{
	uint64_t at = call->offset, end = call->offset + call->bytes;
	int flags = call->advice == CALL_DONTCACHE ? RWF_DONTCACHE : 0;
	int failed = direct_set(slot, call->advice == CALL_DIRECT);

	if (failed)
		return failed;
	while (at < end) {
		size_t bytes = end - at < BUFFER_BYTES ? (size_t)(end - at) : BUFFER_BYTES;
		ssize_t moved = move(player, call, slot->fd, bytes, (off_t)at, flags);

		if (moved < 0 && errno == EINTR)
			continue;
		if (moved < 0 && errno == EOPNOTSUPP && flags) {
			flags = 0;
			atomic_fetch_add(&player->shared->plain, 1);
			continue;
		}
		if (moved < 0)
			return errno;
		if (moved == 0)
			break; /* the end of the file */
		at += (uint64_t)moved;
	}
	if (call->advice != CALL_DIRECT)
		pages_add(player, call, at);
	return 0;
}

/* The mapping covers the file; one that has grown since is mapped anew. */
static int map_fit(struct slot *slot, uint64_t end)
{
	struct stat status;
	void *map;

	if (slot->map && end <= slot->map_bytes)
		return 0;
	if (fstat(slot->fd, &status) != 0)
		return errno;
	if ((uint64_t)status.st_size <= slot->map_bytes)
		return 0;
	if (slot->map)
		map = mremap(slot->map, slot->map_bytes, (size_t)status.st_size, MREMAP_MAYMOVE);
	else
		map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   slot->fd, 0);
	if (map == MAP_FAILED)
		return errno;
	slot->map = map;
	slot->map_bytes = (uint64_t)status.st_size;
	return 0;
}

static int touch(struct player *player, uint32_t worker, const struct call *call, struct slot *slot)
{
	uint64_t end = call->offset + call->bytes;
	int failed = map_fit(slot, end);
	volatile char *map = slot->map;

	if (failed)
		return failed;
	if (call->advice == CALL_MAP_RANDOM)
		return slot->map && madvise(slot->map, slot->map_bytes, MADV_RANDOM) != 0 ? errno
											  : 0;
	end = end < slot->map_bytes ? end : slot->map_bytes;
	for (uint64_t at = call->offset & ~(PAGE_BYTES - 1); at < end; at += PAGE_BYTES) {
		/* A fault asks for its own page, and may read others around it. */
		if (player->asks)
			probe_ask(&player->asks[worker], PROBE_OP_READ, call->stream, slot->inode,
				  at, at + PAGE_BYTES);
		if (call->advice == CALL_WRITTEN_TO)
			map[at] = 1;
		else
			(void)map[at];
	}
	pages_add(player, call, end);
	return 0;
}

static int open_slot(struct player *player, const struct call *call, const char *path)
{
	struct slot *slot = &player->slots[call->slot];
	struct stat status;
	int create = call->flags & CALL_CREATE ? O_CREAT : 0;

	slot->fd = open(path, O_RDWR | O_CLOEXEC | create, 0644);
	if (slot->fd < 0 && errno == EISDIR)
		slot->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (slot->fd < 0)
		return errno;
	if (player->asks && fstat(slot->fd, &status) == 0)
		slot->inode = status.st_ino;
	return 0;
}

static int close_slot(struct slot *slot)
{
	int fd = slot->fd;

	if (slot->map)
		munmap(slot->map, slot->map_bytes);
	*slot = (struct slot){.fd = -1};
	return close(fd) == 0 ? 0 : errno;
}

static int allocate(const struct player *player, const struct call *call, const char *path)
{
	int fd = call->slot == SLOT_NONE ? open(path, O_RDWR | O_CLOEXEC)
					 : player->slots[call->slot].fd;
	int failed;

	if (fd < 0)
		return errno;
	failed = posix_fallocate(fd, (off_t)call->offset, (off_t)call->bytes);
	if (call->slot == SLOT_NONE)
		close(fd);
	return failed;
}

/* Hold so much memory from now on, in one piece that grows and shrinks. */
static int pin(uint64_t bytes)
{
	static void *held;
	static uint64_t held_bytes;
	void *memory;

	bytes = bytes_from_pages(pages_from_bytes_up(bytes));
	if (bytes == held_bytes)
		return 0;
	if (bytes == 0) {
		munmap(held, held_bytes);
		held_bytes = 0;
		return 0;
	}
	memory = held_bytes ? mremap(held, held_bytes, bytes, MREMAP_MAYMOVE)
			    : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	held = memory;
	held_bytes = bytes;
	return mlock(memory, bytes) == 0 ? 0 : errno;
}

static int no_such_is_an_answer(int result)
{
	return result == 0 || errno == ENOENT ? 0 : errno;
}

static int result_of(int result)
{
	return result == 0 ? 0 : errno;
}

/* What is cut off does not come back when it is read again: the probe must forget it. */
static void forget_cut(const struct player *player, const char *path, uint64_t first, uint64_t end)
{
	int fd = first < end ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	probe_forget(player->options.probe, fd, first, end);
	close(fd);
}

static int truncate_file(const struct player *player, const struct call *call,
			 const struct slot *slot, const char *path)
{
	struct stat before;
	int failed;

	if (slot)
		return result_of(ftruncate(slot->fd, (off_t)call->bytes));
	if (!player->asks)
		return result_of(truncate(path, (off_t)call->bytes));
	if (stat(path, &before) != 0)
		return errno;
	failed = result_of(truncate(path, (off_t)call->bytes));
	if (!failed)
		forget_cut(player, path, call->bytes, (uint64_t)before.st_size);
	return failed;
}

static int unlink_any(const char *path)
{
	if (unlink(path) == 0)
		return 0;
	return errno == EISDIR ? result_of(rmdir(path)) : errno;
}

/* Use the processor for so long, by the thread's own clock. */
static void compute(uint64_t ns)
{
	struct timespec now;
	uint64_t until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	until = (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec + ns;
	while ((uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec < until)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

static int list(struct player *player, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
	long bytes = 1;

	if (fd < 0)
		return errno;
	while (bytes > 0)
		bytes = syscall(SYS_getdents64, fd, player->read_buffer, LIST_BYTES);
	if (bytes < 0)
		failed = errno;
	close(fd);
	return failed;
}

static int symlink_make(const struct call *call, const char *path)
{
	char target[PATH_MAX];
	size_t bytes = call->bytes > 0 ? (size_t)call->bytes : 1;

	if (bytes >= sizeof(target))
		return ENAMETOOLONG;
	memset(target, 'x', bytes);
	target[bytes] = '\0';
	return result_of(symlink(target, path));
}

static int carry_out(struct player *player, uint32_t worker, const struct call *call)
{
	const char *path = (const char *)(call + 1);
	struct slot *slot = call->slot == SLOT_NONE ? NULL : &player->slots[call->slot];
	struct stat status;

	ask(player, worker, call, slot ? slot->inode : 0);
	switch ((enum call_kind)call->kind) {
	case CALL_NONE:
		return 0;
	case CALL_OPEN:
		return open_slot(player, call, path);
	case CALL_CLOSE:
		return close_slot(slot);
	case CALL_READ:
	case CALL_WRITE:
		return transfer(player, call, slot);
	case CALL_FSYNC:
		return result_of(fsync(slot->fd));
	case CALL_DATASYNC:
		return result_of(fdatasync(slot->fd));
	case CALL_ADVISE:
		return posix_fadvise(slot->fd, (off_t)call->offset, (off_t)call->bytes,
				     (int)call->advice);
	case CALL_ALLOCATE:
		return allocate(player, call, path);
	case CALL_TOUCH:
		return touch(player, worker, call, slot);
	case CALL_STAT:
		return no_such_is_an_answer(stat(path, &status));
	case CALL_UNLINK:
		return unlink_any(path);
	case CALL_MKDIR:
		return result_of(mkdir(path, 0755));
	case CALL_RENAME:
		return result_of(rename(path, path + call->path_bytes));
	case CALL_TRUNCATE:
		return truncate_file(player, call, slot, path);
	case CALL_SYNC: {
		int root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		int failed = root < 0 ? errno : result_of(syncfs(root));

		if (root >= 0)
			close(root);
		return failed;
	}
	case CALL_SYNC_RANGE:
		return result_of(sync_file_range(slot->fd, (off64_t)call->offset,
						 (off64_t)call->bytes, SYNC_FILE_RANGE_WRITE));
	case CALL_COMPUTE:
		compute(call->bytes);
		return 0;
	case CALL_PIN:
		return pin(call->bytes);
	case CALL_LIST:
		return list(player, path);
	case CALL_RMDIR:
		return result_of(rmdir(path));
	case CALL_LINK:
		return result_of(link(path, path + call->path_bytes));
	case CALL_SYMLINK:
		return symlink_make(call, path);
	}
	return EINVAL;
}

/* Read the sums now and then: that is what brings them up to date (linux-caching.md 2.8). */
static void statistics_freshen(struct player *player)
{
	uint64_t ops = atomic_fetch_add_explicit(&player->shared->ops, 1, memory_order_relaxed) + 1;

	if (player->options.statistics_ops && ops % player->options.statistics_ops == 0)
		(void)!pread(player->statistics_fd, player->shared->statistics, STATISTICS_BYTES,
			     0);
}

static void work(struct player *player, uint32_t index)
{
	struct shared *shared = player->shared;
	struct worker *worker = &shared->workers[index];
	char *ring = player->rings + (size_t)index * player->ring_bytes;
	uint32_t tail = 0;

	for (;;) {
		uint32_t head = atomic_load(&worker->head);
		const struct call *call = (const void *)(ring + tail % player->ring_bytes);

		for (int spin = 0; head == tail && spin < player->spins; spin++) {
			relax();
			head = atomic_load(&worker->head);
		}
		if (head == tail) {
			atomic_store(&worker->sleeps, 1);
			if (atomic_load(&worker->head) == tail)
				(void)futex(&worker->head, FUTEX_WAIT, tail, NULL);
			atomic_store(&worker->sleeps, 0);
			continue;
		}
		if (call->flags & CALL_OP_BEGINS)
			statistics_freshen(player);
		if (!atomic_load_explicit(&shared->failed, memory_order_relaxed)) {
			int failed = carry_out(player, index, call);

			if (failed)
				fail(player, call, failed);
		}
		tail += call->total_bytes;
		if (call->kind != CALL_NONE)
			atomic_fetch_add(&worker->done, 1);
		atomic_store(&worker->tail, tail);
		if (atomic_load(&shared->watched)) {
			atomic_fetch_add(&shared->events, 1);
			futex_wake(&shared->events);
		}
	}
}

struct thread {
	struct player *player;
	uint32_t index;
};

static void worker_begin(struct player *player, uint32_t index)
{
	struct shared *shared = player->shared;

	atomic_store(&shared->workers[index].thread, (int32_t)syscall(SYS_gettid));
	atomic_fetch_add(&shared->ready, 1);
	futex_wake(&shared->ready);
	while (atomic_load(&shared->go) == 0)
		(void)futex(&shared->go, FUTEX_WAIT, 0, NULL);
	work(player, index);
}

static void *worker_thread(void *argument)
{
	struct thread *thread = argument;

	worker_begin(thread->player, thread->index);
	return NULL;
}

/* A stack that is there already, so that it is not charged to the cgroup later. */
static void *stack_make(void)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_POPULATE, -1, 0);

	return stack == MAP_FAILED ? NULL : stack;
}

static __attribute__((noinline)) void stack_touch(void)
{
	volatile char stack[STACK_BYTES / 2];

	for (size_t i = 0; i < sizeof(stack); i += 64)
		stack[i] = 0;
}

static _Noreturn void child_main(struct player *player, pid_t parent)
{
	struct rlimit files = {0};
	struct thread *threads = memory_alloc(player->options.worker_count, sizeof(struct thread));

	/* Ctrl-C is the parent's business; when that is gone, so are we. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "refault-player");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		if (files.rlim_max < 1 << 20)
			files.rlim_cur = files.rlim_max = 1 << 20;
		if (setrlimit(RLIMIT_NOFILE, &files) != 0 &&
		    getrlimit(RLIMIT_NOFILE, &files) == 0) {
			files.rlim_cur = files.rlim_max;
			(void)setrlimit(RLIMIT_NOFILE, &files);
		}
	}
	player->statistics_fd =
		player->options.statistics_path
			? open(player->options.statistics_path, O_RDONLY | O_CLOEXEC)
			: -1;
	/* The kernel's own buffer for it is allocated, and charged, at the first read. */
	(void)!pread(player->statistics_fd, player->shared->statistics, STATISTICS_BYTES, 0);
	if (chdir(player->options.root) != 0 || chroot(".") != 0 || chdir("/") != 0)
		_exit(1);
	stack_touch();
	for (uint32_t i = 1; i < player->options.worker_count; i++) {
		pthread_attr_t attributes;
		pthread_t id;
		void *stack = stack_make();

		threads[i] = (struct thread){player, i};
		if (!stack || pthread_attr_init(&attributes) != 0 ||
		    pthread_attr_setstack(&attributes, stack, STACK_BYTES) != 0 ||
		    pthread_create(&id, &attributes, worker_thread, &threads[i]) != 0)
			_exit(1);
	}
	worker_begin(player, 0);
	_exit(0);
}

/* ---- the parent ---- */

static bool player_map(struct player *player)
{
	uint32_t workers = player->options.worker_count;

	player->ring_bytes = workers == 1 ? RING_BYTES_ONE : RING_BYTES_MANY;
	player->shared_bytes = sizeof(struct shared) + workers * sizeof(struct worker);
	player->shared = share(player->shared_bytes, true);
	player->rings = share((size_t)workers * player->ring_bytes, true);
	player->slots = share((size_t)SLOTS_MAX * sizeof(struct slot), false);
	player->read_buffer = share(BUFFER_BYTES, true);
	player->zeros = share(BUFFER_BYTES, true);
	return player->shared && player->rings && player->slots && player->read_buffer &&
	       player->zeros;
}

static void unmap(const void *memory, size_t bytes)
{
	if (memory)
		munmap((void *)(uintptr_t)memory, bytes);
}

/* False, if it is dead. */
static bool is_alive(struct player *player)
{
	int status;

	if (!player->is_dead && waitpid(player->pid, &status, WNOHANG) == player->pid)
		player->is_dead = true;
	return !player->is_dead;
}

/* Is there a reason to stop waiting? */
static bool is_over(struct player *player)
{
	if (player->failure.trouble != PLAYER_FINE)
		return true;
	if (atomic_load(&player->shared->failed) == 2)
		player->failure = player->shared->failure;
	else if (!is_alive(player))
		player->failure.trouble = PLAYER_DIED;
	else if (player->options.interrupted && *player->options.interrupted)
		player->failure.trouble = PLAYER_INTERRUPTED;
	return player->failure.trouble != PLAYER_FINE;
}

/* Wait a little for `word` to be something else. */
static void wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_PER_SECOND),
					 .tv_nsec = (long)(timeout_ns % NS_PER_SECOND)};

	(void)futex(word, FUTEX_WAIT, value, &timeout);
}

struct player *player_start(const struct player_options *options, struct error *error)
{
	struct player *player = memory_alloc(1, sizeof(*player));
	pid_t parent = getpid();

	assert(options->worker_count > 0 && options->worker_count <= PLAYER_WORKERS_MAX);
	player->options = *options;
	player->asks = options->probe ? probe_workers(options->probe) : NULL;
	player->spins = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPINS : 0;
	player->free_slots = memory_alloc(options->worker_count, sizeof(*player->free_slots));
	if (!player_map(player)) {
		error_system(error, "no memory for the player");
		goto fail;
	}
	player->pid = fork();
	if (player->pid < 0) {
		error_system(error, "cannot start the player");
		goto fail;
	}
	if (player->pid == 0)
		child_main(player, parent);
	for (;;) {
		uint32_t ready = atomic_load(&player->shared->ready);

		if (ready == options->worker_count)
			return player;
		wait_for(&player->shared->ready, ready, WAIT_NS);
		if (is_over(player))
			break;
	}
	error_failed(error, "the player could not begin in %s (it needs root, to see nothing else)",
		     options->root);
fail:
	player_stop(player);
	return NULL;
}

pid_t player_pid(const struct player *player)
{
	return player->pid;
}

pid_t player_thread(const struct player *player, uint32_t worker)
{
	return atomic_load(&player->shared->workers[worker].thread);
}

uint32_t player_slot_take(struct player *player, uint32_t worker)
{
	struct free_slots *free = &player->free_slots[worker];
	uint32_t slot;

	if (free->slots.count)
		return free->slots.at[--free->slots.count];
	if (player->slot_count == SLOTS_MAX)
		return SLOT_NONE;
	slot = player->slot_count++;
	player->slots[slot].fd = -1; /* touched here first */
	return slot;
}

void player_slot_free(struct player *player, uint32_t worker, uint32_t slot)
{
	*array_push(&player->free_slots[worker].slots) = slot;
}

/* Room for so many bytes in one piece. NULL: the player is at its end. */
static char *ring_reserve(struct player *player, uint32_t index, uint32_t bytes)
{
	struct worker *worker = &player->shared->workers[index];
	char *ring = player->rings + (size_t)index * player->ring_bytes;
	uint32_t head = atomic_load_explicit(&worker->head, memory_order_relaxed);
	uint32_t at = head % player->ring_bytes;
	uint32_t skip = at + bytes > player->ring_bytes ? player->ring_bytes - at : 0;

	for (;;) {
		uint32_t tail = atomic_load(&worker->tail);

		if (player->ring_bytes - (head - tail) >= skip + bytes)
			break;
		if (is_over(player))
			return NULL;
		player_flush(player, index);
		wait_for(&worker->tail, tail, WAIT_NS / 100);
	}
	if (skip) {
		/* A header always fits: sizes and the ring's are multiples of it. */
		*(struct call *)(void *)(ring + at) = (struct call){.total_bytes = skip};
		atomic_store(&worker->head, head + skip);
		at = 0;
	}
	return ring + at;
}

static_assert(sizeof(struct call) == 64, "a ring is a whole number of headers");

bool player_send(struct player *player, uint32_t index, const struct call *call, const char *path,
		 const char *path_to)
{
	struct worker *worker = &player->shared->workers[index];
	size_t path_bytes = path ? strlen(path) + 1 : 0,
	       path_to_bytes = path_to ? strlen(path_to) + 1 : 0;
	size_t total = (sizeof(*call) + path_bytes + path_to_bytes + sizeof(*call) - 1) /
		       sizeof(*call) * sizeof(*call);
	char *at;
	struct call *sent;

	if (is_over(player))
		return false;
	at = ring_reserve(player, index, (uint32_t)total);
	if (!at)
		return false;
	sent = (struct call *)(void *)at;
	*sent = *call;
	sent->total_bytes = (uint32_t)total;
	sent->path_bytes = (uint16_t)path_bytes;
	sent->path_to_bytes = (uint16_t)path_to_bytes;
	if (path)
		memcpy(at + sizeof(*call), path, path_bytes);
	if (path_to)
		memcpy(at + sizeof(*call) + path_bytes, path_to, path_to_bytes);
	if (atomic_load(&player->shared->go) == 0) {
		atomic_store(&player->shared->go, 1);
		futex_wake(&player->shared->go);
	}
	atomic_fetch_add(&worker->sent, 1);
	atomic_fetch_add(&worker->head, (uint32_t)total);
	/*
	 * A worker that is woken for each call runs for one call, and is then waited for: let some
	 * gather first.
	 */
	if (atomic_load(&worker->head) - atomic_load(&worker->tail) > player->ring_bytes / 4)
		player_flush(player, index);
	return true;
}

void player_flush(struct player *player, uint32_t index)
{
	struct worker *worker = &player->shared->workers[index];

	if (atomic_load(&worker->sleeps))
		futex_wake(&worker->head);
}

bool player_is_idle(const struct player *player, uint32_t index)
{
	const struct worker *worker = &player->shared->workers[index];

	return atomic_load(&worker->done) == atomic_load(&worker->sent);
}

bool player_wait_any(struct player *player, uint64_t timeout_ns)
{
	struct shared *shared = player->shared;
	uint32_t events = atomic_load(&shared->events);

	atomic_store(&shared->watched, 1);
	wait_for(&shared->events, events, timeout_ns < WAIT_NS ? timeout_ns : WAIT_NS);
	atomic_store(&shared->watched, 0);
	return !is_over(player);
}

bool player_wait(struct player *player, uint32_t index)
{
	player_flush(player, index);
	for (int spin = 0; spin < player->spins * 2; spin++) {
		if (player_is_idle(player, index))
			return !is_over(player);
		relax();
	}
	while (!player_is_idle(player, index)) {
		struct shared *shared = player->shared;
		uint32_t events = atomic_load(&shared->events);

		atomic_store(&shared->watched, 1);
		if (!player_is_idle(player, index))
			wait_for(&shared->events, events, WAIT_NS);
		atomic_store(&shared->watched, 0);
		if (is_over(player))
			return false;
	}
	return !is_over(player);
}

void player_failure(const struct player *player, struct player_failure *failure)
{
	*failure = player->failure;
}

void player_count_op(struct player *player)
{
	atomic_fetch_add(&player->shared->ops, 1);
}

uint64_t player_pages(const struct player *player, uint32_t stream)
{
	return stream < STREAMS ? atomic_load(&player->shared->pages[stream]) : 0;
}

uint64_t player_plain(const struct player *player)
{
	return atomic_load(&player->shared->plain);
}

void player_stop(struct player *player)
{
	int status;

	if (!player)
		return;
	if (player->pid > 0 && !player->is_dead) {
		kill(player->pid, SIGKILL);
		while (waitpid(player->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	unmap(player->shared, player->shared_bytes);
	unmap(player->rings, (size_t)player->options.worker_count * player->ring_bytes);
	unmap(player->slots, (size_t)SLOTS_MAX * sizeof(struct slot));
	unmap(player->read_buffer, BUFFER_BYTES);
	unmap(player->zeros, BUFFER_BYTES);
	for (uint32_t i = 0; i < player->options.worker_count; i++)
		array_deinit(&player->free_slots[i].slots);
	memory_free(player->free_slots);
	memory_free(player);
}
