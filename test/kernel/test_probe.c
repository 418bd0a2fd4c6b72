/*
 * If this fails, what a run on the real kernel is said to have missed, read again and evicted is not
 * what it did, and predictions are held against wrong numbers.
 *
 * Each test has a file system of its own in a loop device, and a small memory cgroup that its players
 * run in. Both go with the process that made them: the mount namespace is private, the image has no
 * name, the loop device clears itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "machine/kernel/probe.h"
#include "measure/result.h"

#define HERE "/mnt"

enum { STREAMS = 4, A = 1, B = 2, LIMIT_MIB = 24 };

/* ---- a file system and a cgroup ---- */

struct world {
	const char *filesystem;
	char loop[32], cgroup[128];
	int loop_fd;
	bool is_mounted;
	struct probe *probe;
	struct probe_counters streams[STREAMS];
	struct probe_counts counts;
	uint64_t io_read_bytes, io_write_bytes; /* /proc/PID/io of the latest player, its growth */
};

static bool text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return is_written;
}

static uint64_t number_after(const char *path, const char *name)
{
	char line[256];
	FILE *file = fopen(path, "re");
	uint64_t value = UINT64_MAX;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoull(line + strlen(name), NULL, 10);
	}
	if (file)
		fclose(file);
	return value;
}

static bool loop_attach(struct world *world, int image)
{
	struct loop_config config = {.fd = (uint32_t)image, .block_size = 512};
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
	world->loop_fd = -1;
	for (int tries = 0; control >= 0 && tries < 20 && world->loop_fd < 0; tries++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);

		snprintf(world->loop, sizeof(world->loop), "/dev/loop%d", number);
		world->loop_fd = open(world->loop, O_RDWR | O_CLOEXEC);
		if (world->loop_fd >= 0 && ioctl(world->loop_fd, LOOP_CONFIGURE, &config) != 0) {
			close(world->loop_fd);
			world->loop_fd = -1;
		}
	}
	if (control >= 0)
		close(control);
	return world->loop_fd >= 0;
}

static bool cgroup_make(struct world *world)
{
	char path[192], text[32];

	snprintf(world->cgroup, sizeof(world->cgroup), "/sys/fs/cgroup/memory/refault-probe-%d",
		 (int)getpid());
	if (access("/sys/fs/cgroup/memory/memory.limit_in_bytes", W_OK) != 0)
		snprintf(world->cgroup, sizeof(world->cgroup), "/sys/fs/cgroup/refault-probe-%d",
			 (int)getpid());
	if (mkdir(world->cgroup, 0755) != 0)
		return false;
	snprintf(text, sizeof(text), "%d", LIMIT_MIB << 20);
	snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", world->cgroup);
	if (text_write(path, text))
		return true;
	snprintf(path, sizeof(path), "%s/memory.max", world->cgroup);
	return text_write(path, text);
}

static void mount_here(struct world *world)
{
	assert_int_equal(mount(world->loop, HERE, world->filesystem, MS_NOATIME, NULL), 0);
	world->is_mounted = true;
}

static void unmount_here(struct world *world)
{
	if (world->is_mounted)
		assert_int_equal(umount(HERE), 0);
	world->is_mounted = false;
}

static void count_from_here(struct world *world)
{
	struct probe_target target = {.filesystem = world->filesystem};
	char line[512];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	struct stat loop;
	struct error error;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned int major_number, minor_number;
		char at[256];

		if (sscanf(line, "%*d %*d %u:%u %*s %255s", &major_number, &minor_number, at) ==
			    3 &&
		    strcmp(at, HERE) == 0)
			target.major = major_number, target.minor = minor_number;
	}
	fclose(file);
	assert_int_equal(stat(world->loop, &loop), 0);
	target.block_major = major(loop.st_rdev);
	target.block_minor = minor(loop.st_rdev);
	assert_true(probe_count(world->probe, &target, &error));
}

/* Nothing is cached any more, and counting begins. */
static void forget_all(struct world *world)
{
	unmount_here(world);
	mount_here(world);
	count_from_here(world);
}

static int world_close(void **state)
{
	struct world *world = *state;

	if (!world)
		return 0;
	probe_close(world->probe);
	if (world->is_mounted)
		umount(HERE);
	if (world->loop_fd >= 0)
		close(world->loop_fd);
	for (int tries = 0; world->cgroup[0] && rmdir(world->cgroup) != 0 && tries < 100; tries++)
		usleep(20000);
	free(world);
	*state = NULL;
	return 0;
}

static int world_open(void **state)
{
	static const struct probe_options options = {
		.stream_count = STREAMS, .page_blocks_max = 100000, .inodes_max = 100000};
	struct world *world = calloc(1, sizeof(*world));
	char image[] = "/tmp/refault-probe-XXXXXX", command[256];
	struct error error;
	int fd, made;

	world->filesystem = *state;
	world->loop_fd = -1;
	*state = world;
	fd = mkstemp(image);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 600 << 20), 0);
	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin:/sbin mkfs.%s -q %s %s >/dev/null 2>&1", world->filesystem,
		 strcmp(world->filesystem, "ext4") == 0 ? "-F -N 60000 -E lazy_itable_init=0"
							: "-f",
		 image);
	made = system(command);
	unlink(image);
	if (made == 0 && loop_attach(world, fd) &&
	    mount(world->loop, HERE, world->filesystem, MS_NOATIME, NULL) == 0)
		world->is_mounted = true;
	close(fd);
	if (world->is_mounted && cgroup_make(world)) {
		unmount_here(world);
		world->probe = probe_open(&options, &error);
		assert_non_null(world->probe);
		mount_here(world);
		return 0;
	}
	printf("# no %s in a loop device, or no memory cgroup, here: %s\n", world->filesystem,
	       strerror(errno));
	world_close(state);
	return 0;
}

/* ---- players ---- */

static uint64_t ino_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

struct part {
	const char *path;
	uint32_t stream;
	uint64_t first_byte, bytes, step_bytes;
	uint64_t count; /* of files, or passes */
};

typedef void player(struct probe_worker *ask, const struct part *part);

/* A process in the cgroup that is worker 0 plays, and ends. */
static void perform(struct world *world, player *play, struct part part)
{
	struct probe_worker *workers = probe_workers(world->probe);
	char path[192], io[64];
	int go[2], done[2], status;
	struct error error;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	if (pid == 0) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", world->cgroup);
		if (!text_write(path, "0") || read(go[0], &byte, 1) != 1)
			_exit(1);
		play(&workers[0], &part);
		probe_ask(&workers[0], PROBE_OP_NONE, 0, 0, 0, 0);
		if (write(done[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_true(pid > 0);
	/* So that a player that dies is the end of what is read from it. */
	close(go[0]);
	close(done[1]);
	snprintf(io, sizeof(io), "/proc/%d/io", (int)pid);
	assert_true(probe_worker_add(world->probe, 0, pid, &error));
	usleep(20000);
	world->io_read_bytes = number_after(io, "read_bytes:");
	world->io_write_bytes = number_after(io, "write_bytes:");
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	world->io_read_bytes = number_after(io, "read_bytes:") - world->io_read_bytes;
	world->io_write_bytes = number_after(io, "write_bytes:") - world->io_write_bytes;
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	probe_worker_remove(world->probe, pid);
	close(go[1]);
	close(done[0]);
	world->counts.streams = world->streams;
	assert_true(probe_read(world->probe, &world->counts, &error));
}

static void play_reads(struct probe_worker *ask, const struct part *part)
{
	static char buffer[1 << 20];
	uint64_t ino = ino_of(part->path), end = part->first_byte + part->bytes;
	int fd = open(part->path, O_RDONLY | O_CLOEXEC);

	for (uint64_t pass = 0; pass < (part->count ? part->count : 1); pass++) {
		for (uint64_t at = part->first_byte; at < end; at += part->step_bytes) {
			probe_ask(ask, PROBE_OP_READ, part->stream, ino, at, at + part->step_bytes);
			if (pread(fd, buffer, part->step_bytes, (off_t)at) < 0)
				_exit(2);
		}
	}
	probe_ask(ask, PROBE_OP_OTHER, part->stream, 0, 0, 0);
	close(fd);
}

static void play_touches(struct probe_worker *ask, const struct part *part)
{
	uint64_t ino = ino_of(part->path);
	int fd = open(part->path, O_RDONLY | O_CLOEXEC);
	volatile char *at = mmap(NULL, part->bytes, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t page = 0;

	if (at == MAP_FAILED)
		_exit(2);
	for (uint64_t i = 0; i < part->bytes / 4096; i++) {
		page = (page + 1237) % (part->bytes / 4096);
		probe_ask(ask, PROBE_OP_READ, part->stream, ino, page * 4096, page * 4096 + 4096);
		(void)at[page * 4096];
	}
}

static void play_dontneed(struct probe_worker *ask, const struct part *part)
{
	int fd = open(part->path, O_RDONLY | O_CLOEXEC);

	probe_ask(ask, PROBE_OP_OTHER, part->stream, 0, 0, 0);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		_exit(2);
	close(fd);
}

static void play_writes(struct probe_worker *ask, const struct part *part)
{
	static char buffer[1 << 20];
	uint64_t ino = ino_of(part->path), end = part->first_byte + part->bytes;
	int fd = open(part->path, O_WRONLY | O_CLOEXEC);

	for (uint64_t at = part->first_byte; at < end; at += part->step_bytes) {
		probe_ask(ask, PROBE_OP_WRITE, part->stream, ino, at, at + part->step_bytes);
		if (pwrite(fd, buffer, part->step_bytes, (off_t)at) < 0)
			_exit(2);
	}
	probe_ask(ask, PROBE_OP_OTHER, part->stream, 0, 0, 0);
	if (fdatasync(fd) != 0)
		_exit(2);
	close(fd);
}

/* Unlinks and makes it again, with an inode number that is likely the same. */
static void play_replacement(struct probe_worker *ask, const struct part *part)
{
	static char buffer[1 << 20];
	int fd;

	probe_ask(ask, PROBE_OP_OTHER, part->stream, 0, 0, 0);
	if (unlink(part->path) != 0)
		_exit(2);
	fd = open(part->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	probe_ask(ask, PROBE_OP_WRITE, part->stream, ino_of(part->path), 0, part->bytes);
	for (uint64_t at = 0; at < part->bytes; at += sizeof(buffer)) {
		if (write(fd, buffer, sizeof(buffer)) != sizeof(buffer))
			_exit(2);
	}
	probe_ask(ask, PROBE_OP_OTHER, part->stream, 0, 0, 0);
	if (fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		_exit(2);
	close(fd);
}

static void play_stats(struct probe_worker *ask, const struct part *part)
{
	struct stat status;
	char path[128];

	for (uint64_t i = 0; i < part->count; i++) {
		snprintf(path, sizeof(path), "%s/%" PRIu64, part->path, i);
		probe_ask(ask, PROBE_OP_OTHER, part->stream, 0, 0, 0);
		if (stat(path, &status) != 0)
			_exit(2);
	}
}

static void make_file(const char *path, uint64_t bytes)
{
	static char buffer[1 << 20];
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	memset(buffer, 'x', sizeof(buffer));
	for (uint64_t at = 0; at < bytes; at += sizeof(buffer))
		assert_int_equal(write(fd, buffer, sizeof(buffer)), sizeof(buffer));
	assert_int_equal(fsync(fd), 0);
	close(fd);
}

/* cachestat(2), Linux 6.5; UINT64_MAX where there is none. */
static uint64_t cached_pages(const char *path)
{
	struct {
		uint64_t first_byte, bytes;
	} range = {0, 0};
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted;
	} pages = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long result = syscall(451, fd, &range, &pages, 0);

	close(fd);
	return result == 0 ? pages.cached : UINT64_MAX;
}

static uint64_t inserted_pages(const struct probe_counters *counters)
{
	return counters->page_misses + counters->readahead_pages + counters->written_pages +
	       counters->other_pages;
}

static uint64_t blamed(const struct world *world, uint32_t victim, uint32_t evictor)
{
	return probe_blame(world->probe)[victim * STREAMS + evictor];
}

/*
 * What the player read is its data, and metadata, of which some may have been read by the kernel's own
 * threads (ext4 reads its bitmaps ahead).
 */
static void io_is(const struct world *world, uint64_t data_bytes, uint64_t metadata_bytes)
{
	assert_in_range(world->io_read_bytes, data_bytes, data_bytes + metadata_bytes);
}

static void nobody_else_was_there(const struct world *world)
{
	const struct probe_disturbance *others = &world->counts.disturbance;

	if (others->inserted_pages || others->evicted_pages || others->dropped_pages)
		printf("# others: %s inserted %" PRIu64 ", %s evicted %" PRIu64
		       ", %s dropped %" PRIu64 "\n",
		       others->inserted_by, others->inserted_pages, others->evicted_by,
		       others->evicted_pages, others->dropped_by, others->dropped_pages);
	assert_int_equal(others->inserted_pages, 0);
	assert_int_equal(others->evicted_pages, 0);
	assert_int_equal(others->dropped_pages, 0);
}

/* ---- the tests ---- */

#define NEEDS_WORLD(world)                                                                         \
	do {                                                                                       \
		if (!(world))                                                                      \
			skip();                                                                    \
	} while (0)

static void a_file_larger_than_the_limit_is_read_twice(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/big", A, 0, 40 << 20, 64 << 10, 1};
	struct probe_counters *a, first;
	uint64_t metadata_bytes;

	NEEDS_WORLD(world);
	a = &world->streams[A];
	make_file(part.path, part.bytes);
	forget_all(world);

	perform(world, play_reads, part);
	assert_int_equal(a->page_misses + a->readahead_pages, part.bytes / 4096);
	assert_true(a->readahead_pages > a->page_misses);
	assert_int_equal(a->reread_pages, 0);
	assert_int_equal(a->written_pages + a->other_pages, 0);
	assert_int_equal(world->counts.device.data_read_bytes, part.bytes);
	io_is(world, part.bytes, world->counts.device.metadata_read_bytes);
	if (cached_pages(part.path) != UINT64_MAX)
		assert_int_equal(inserted_pages(a) - a->evictions, cached_pages(part.path));
	first = *a;
	metadata_bytes = world->counts.device.metadata_read_bytes;

	perform(world, play_reads, part);
	assert_int_equal(a->reread_pages, inserted_pages(a) - inserted_pages(&first));
	io_is(world, a->reread_pages * 4096,
	      world->counts.device.metadata_read_bytes - metadata_bytes);
	assert_int_equal(world->counts.device.data_read_bytes, inserted_pages(a) * 4096);
	assert_int_equal(blamed(world, A, A), a->reread_pages);
	if (cached_pages(part.path) != UINT64_MAX)
		assert_int_equal(inserted_pages(a) - a->evictions, cached_pages(part.path));
	assert_true(a->reclaim_calls > 0);
	assert_true(a->evictions > 0 && a->evictions <= a->reclaim_freed_pages);
	assert_int_equal(a->page_misses, world->counts.totals.page_misses);
	nobody_else_was_there(world);
}

static void who_forced_a_file_out_is_to_blame(void **state)
{
	struct world *world = *state;
	struct part small = {HERE "/small", A, 0, 4 << 20, 16 << 10, 1};
	struct part big = {HERE "/big", B, 0, 60 << 20, 256 << 10, 1};

	NEEDS_WORLD(world);
	make_file(small.path, small.bytes);
	make_file(big.path, big.bytes);
	forget_all(world);
	perform(world, play_reads, small);
	perform(world, play_reads, big);
	perform(world, play_reads, small);
	assert_int_equal(world->streams[A].reread_pages, small.bytes / 4096);
	assert_int_equal(blamed(world, A, B), small.bytes / 4096);
	assert_int_equal(blamed(world, A, A), 0);
	assert_int_equal(blamed(world, B, B), 0);
	nobody_else_was_there(world);
}

static void touched_pages_are_told_from_those_around(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/mapped", A, 0, 8 << 20, 0, 1};
	struct probe_counters *a;

	NEEDS_WORLD(world);
	a = &world->streams[A];
	make_file(part.path, part.bytes);
	forget_all(world);
	perform(world, play_touches, part);
	assert_int_equal(a->page_misses + a->readahead_pages, part.bytes / 4096);
	assert_true(a->page_misses > 0 && a->page_misses < part.bytes / 4096);
	assert_int_equal(a->reread_pages + a->evictions, 0);
	nobody_else_was_there(world);
}

static void what_advice_dropped_is_no_reread(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/dropped", A, 0, 4 << 20, 64 << 10, 1};

	NEEDS_WORLD(world);
	make_file(part.path, part.bytes);
	forget_all(world);
	perform(world, play_reads, part);
	perform(world, play_dontneed, part);
	assert_int_equal(cached_pages(part.path) % UINT64_MAX, 0);
	perform(world, play_reads, part);
	assert_int_equal(inserted_pages(&world->streams[A]), 2 * part.bytes / 4096);
	assert_int_equal(world->streams[A].reread_pages, 0);
	assert_int_equal(world->streams[A].evictions, 0);
	nobody_else_was_there(world);
}

static void a_write_reads_what_it_covers_in_part(void **state)
{
	struct world *world = *state;
	struct part small = {HERE "/small", A, 0, 4 << 20, 4096, 1};
	struct part big = {HERE "/big", B, 0, 60 << 20, 256 << 10, 1};
	struct part whole = {HERE "/small", A, 0, 1 << 20, 4096, 1};
	struct part in_part = {HERE "/small", A, (1 << 20) + 100, 256 * 4096, 4096 * 2, 1};
	uint64_t metadata_bytes, misses;
	struct probe_counters *a;

	NEEDS_WORLD(world);
	a = &world->streams[A];
	make_file(small.path, small.bytes);
	make_file(big.path, big.bytes);
	forget_all(world);
	perform(world, play_reads, small);
	perform(world, play_reads, big);
	perform(world, play_writes, whole);
	assert_int_equal(a->written_pages, 256);
	assert_int_equal(a->reread_pages, 0);
	metadata_bytes = world->counts.device.metadata_read_bytes;
	misses = a->page_misses;
	perform(world, play_writes, in_part);
	/* Bytes 100 .. 8291 of every 8192: every second page is covered in part, and the last. */
	assert_int_equal(a->page_misses - misses, 129);
	assert_int_equal(a->written_pages, 256 + 128);
	assert_int_equal(a->reread_pages, 129);
	/*
	 * XFS makes one folio of the first two pages, and reads both for the sake of the one
	 * (__iomap_write_begin(), Linux 6.6 to 6.18): a page read again that is not counted so.
	 */
	world->io_read_bytes -= world->counts.device.metadata_read_bytes - metadata_bytes;
	assert_in_range(world->io_read_bytes, 129 * 4096,
			(strcmp(world->filesystem, "xfs") == 0 ? 130 : 129) * 4096);
	nobody_else_was_there(world);
}

static void a_new_file_remembers_nothing_of_the_old(void **state)
{
	struct world *world = *state;
	struct part small = {HERE "/small", A, 0, 4 << 20, 64 << 10, 1};
	struct part big = {HERE "/big", B, 0, 60 << 20, 256 << 10, 1};

	NEEDS_WORLD(world);
	make_file(small.path, small.bytes);
	make_file(big.path, big.bytes);
	forget_all(world);
	perform(world, play_reads, small);
	perform(world, play_reads, big);
	perform(world, play_replacement, small);
	perform(world, play_reads, small);
	assert_true(world->streams[A].page_misses > 0);
	assert_int_equal(world->streams[A].reread_pages, 0);
	nobody_else_was_there(world);
}

static void what_was_cut_is_forgotten(void **state)
{
	struct world *world = *state;
	struct part small = {HERE "/small", A, 0, 4 << 20, 64 << 10, 1};
	struct part big = {HERE "/big", B, 0, 60 << 20, 256 << 10, 1};
	uint64_t kept_bytes = 1000 * 4096;
	int fd;

	NEEDS_WORLD(world);
	make_file(small.path, small.bytes);
	make_file(big.path, big.bytes);
	forget_all(world);
	perform(world, play_reads, small);
	perform(world, play_reads, big);
	fd = open(small.path, O_RDWR | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)kept_bytes), 0);
	probe_forget(world->probe, fd, kept_bytes, small.bytes);
	assert_int_equal(ftruncate(fd, (off_t)small.bytes), 0);
	close(fd);
	perform(world, play_reads, small);
	assert_int_equal(world->streams[A].reread_pages, 1000);
	assert_int_equal(inserted_pages(&world->streams[A]), 2048);
}

static void inodes_go_and_come_back(void **state)
{
	enum { FILES = 30000 };
	struct world *world = *state;
	struct part part = {HERE "/many", A, 0, 0, 0, FILES};
	struct probe_counters *a, first;
	char path[64];

	NEEDS_WORLD(world);
#ifdef REFAULT_CHECK
	skip(); /* the group is full of inodes: the address sanitizer's own memory may be what does not fit */
#endif
	a = &world->streams[A];
	assert_int_equal(mkdir(part.path, 0755), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%d", part.path, i);
		close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	}
	sync();
	forget_all(world);

	perform(world, play_stats, part);
	first = *a;
	/* The directory, and on XFS those inodes that a look-up in vain of the file system's brings. */
	assert_in_range(first.inodes_allocated, FILES + 1, FILES + 2);
	assert_in_range(first.dentries_allocated, FILES + 1, FILES + 2);
	assert_int_equal(first.inodes_reallocated, 0);
	assert_true(first.inodes_evicted > 1000);
	assert_true(first.dentries_evicted >= first.inodes_evicted);
	perform(world, play_stats, part);
	printf("# %s: inodes: %" PRIu64 " allocated, %" PRIu64 " evicted, %" PRIu64
	       " reallocated; dentries: %" PRIu64 ", %" PRIu64 "; others evicted %" PRIu64
	       " (%s)\n",
	       world->filesystem, a->inodes_allocated, a->inodes_evicted, a->inodes_reallocated,
	       a->dentries_allocated, a->dentries_evicted, world->counts.disturbance.inodes_evicted,
	       world->counts.disturbance.evicted_by);
	assert_int_equal(a->inodes_reallocated, a->inodes_allocated - first.inodes_allocated);
	/* A sweep over more than fits: nothing stays for the next one but what is newest. */
	assert_true(a->inodes_evicted >= a->inodes_reallocated);
	assert_true(a->dentries_evicted >= a->dentries_allocated - first.dentries_allocated);
	assert_true(a->shrinker_calls > 0);
}

/* Reads at random, most often from the first eighth: some of it is used again, and activated. */
static void play_favourites(struct probe_worker *ask, const struct part *part)
{
	uint64_t ino = ino_of(part->path), pages = part->bytes / 4096;
	int fd = open(part->path, O_RDONLY | O_CLOEXEC);
	struct random random;
	char buffer[4096];

	random_init(&random, 1, part->stream);
	for (uint64_t i = 0; i < part->count; i++) {
		uint64_t page =
			random_below(&random, random_below(&random, 10) < 7 ? pages / 8 : pages);

		probe_ask(ask, PROBE_OP_READ, part->stream, ino, page * 4096, page * 4096 + 4096);
		if (pread(fd, buffer, sizeof(buffer), (off_t)(page * 4096)) != sizeof(buffer))
			_exit(2);
	}
	close(fd);
}

static void play_sparse(struct probe_worker *ask, const struct part *part)
{
	uint64_t ino = ino_of(part->path);
	int fd = open(part->path, O_RDONLY | O_CLOEXEC);
	char buffer[4096];

	if (posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) != 0)
		_exit(2);
	for (uint64_t at = 0; at < part->bytes; at += 64 * 4096) {
		probe_ask(ask, PROBE_OP_READ, part->stream, ino, at, at + 4096);
		if (pread(fd, buffer, sizeof(buffer), (off_t)at) != sizeof(buffer))
			_exit(2);
	}
	close(fd);
}

static void the_lists_are_as_long_as_counted(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/liked", A, 0, 64 << 20, 0, 40000};
	uint64_t active_pages,
		known = UINT64_C(1) << COUNTER_activations | UINT64_C(1) << COUNTER_deactivations;
	struct probe_counters *totals;
	char path[192];

	NEEDS_WORLD(world);
	totals = &world->counts.totals;
	make_file(part.path, part.bytes);
	forget_all(world);
	perform(world, play_favourites, part);
	if ((world->counts.known & known) != known)
		skip();
	snprintf(path, sizeof(path), "%s/memory.stat", world->cgroup);
	active_pages = number_after(path, "active_file ") / 4096;
	assert_true(probe_activations(totals) > 100);
	/* The cgroup's active pages are our files', and a few of metadata. */
	assert_in_range(active_pages, probe_activations(totals) - totals->deactivations,
			probe_activations(totals) - totals->deactivations + 16);
	assert_int_equal(totals->evictions + world->counts.metadata_evicted_pages,
			 totals->reclaim_freed_pages);
	nobody_else_was_there(world);
}

struct second {
	pid_t tid;
	struct probe *probe;
	struct part part;
};
static struct second second;

static void *second_thread(void *unused)
{
	struct error error;

	(void)unused;
	second.tid = gettid();
	if (!probe_worker_add(second.probe, 1, second.tid, &error))
		_exit(3);
	play_favourites(&probe_workers(second.probe)[1], &second.part);
	return NULL;
}

static void play_two(struct probe_worker *ask, const struct part *part)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, second_thread, NULL) != 0)
		_exit(3);
	play_favourites(ask, part);
	/* Not before it has ended: what it allocates at its end may make it reclaim. */
	pthread_join(thread, NULL);
	probe_worker_remove(second.probe, second.tid);
}

static void threads_are_told_apart(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/one", A, 0, 32 << 20, 0, 20000};
	struct probe_counters *a, *b;

	NEEDS_WORLD(world);
#ifdef REFAULT_CHECK
	skip(); /* the address sanitizer's own memory for a thread may not fit the cgroup */
#endif
	a = &world->streams[A], b = &world->streams[B];
	second = (struct second){0, world->probe, {HERE "/two", B, 0, 32 << 20, 0, 20000}};
	make_file(part.path, part.bytes);
	make_file(second.part.path, second.part.bytes);
	forget_all(world);
	perform(world, play_two, part);
	nobody_else_was_there(world);
	assert_true(a->page_misses > 1000 && b->page_misses > 1000);
	assert_true(a->reread_pages > 100 && b->reread_pages > 100);
	assert_int_equal(a->reread_pages, blamed(world, A, A) + blamed(world, A, B));
	assert_int_equal(b->reread_pages, blamed(world, B, A) + blamed(world, B, B));
	assert_true(blamed(world, A, B) > 0 && blamed(world, B, A) > 0);
	io_is(world, (inserted_pages(a) + inserted_pages(b)) * 4096,
	      world->counts.device.metadata_read_bytes);
	if (cached_pages(part.path) != UINT64_MAX)
		assert_int_equal(inserted_pages(a) + inserted_pages(b) - a->evictions -
					 b->evictions,
				 cached_pages(part.path) + cached_pages(second.part.path));
}

/* One page of each 64, so that there is much to remember for little that is cached. */
static void what_is_remembered_is_not_the_players_memory(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/sparse", A, 0, 4096, 4096, 1};
	uint64_t bytes[2];
	char path[192];
	int fd;

	NEEDS_WORLD(world);
	snprintf(path, sizeof(path), "%s/memory.kmem.usage_in_bytes", world->cgroup);
	if (access(path, R_OK) != 0)
		skip();
	fd = open(part.path, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate(fd, INT64_C(8) << 30), 0);
	close(fd);
	/* What the kernel itself keeps for the file (shadows' nodes) differs from time to time. */
	for (int tries = 0; tries < 5; tries++) {
		for (int is_counting = 0; is_counting < 2; is_counting++) {
			forget_all(world);
			if (!is_counting)
				probe_stop(world->probe);
			part.bytes = UINT64_C(8) << 30;
			perform(world, play_sparse, part);
			bytes[is_counting] = number_after(path, "");
		}
		/* 26,000 blocks of 256 bytes were remembered in the second round. */
		assert_true(world->streams[A].evictions > 20000);
		if (bytes[1] <= bytes[0] + (2 << 20))
			return;
	}
	fail_msg("%" PRIu64 " bytes with the probe, %" PRIu64 " without", bytes[1], bytes[0]);
}

static void what_is_known_is_said(void **state)
{
	struct world *world = *state;
	struct part part = {HERE "/known", A, 0, 1 << 20, 4096, 1};
	uint64_t known = UINT64_C(1) << COUNTER_reread_bytes | UINT64_C(1) << COUNTER_page_misses |
			 UINT64_C(1) << COUNTER_evictions | UINT64_C(1) << COUNTER_inodes_evicted |
			 UINT64_C(1) << COUNTER_read_bytes;

	NEEDS_WORLD(world);
	make_file(part.path, part.bytes);
	forget_all(world);
	perform(world, play_reads, part);
	if (probe_missing(world->probe)[0])
		printf("# missing: %s\n", probe_missing(world->probe));
	else
		assert_int_equal(world->counts.known & known, known);
}

static void a_memory_that_is_full_is_no_truth(void **state)
{
	static const struct probe_options small = {
		.stream_count = STREAMS, .page_blocks_max = 16, .inodes_max = 16};
	struct world *world = *state;
	struct part part = {HERE "/big", A, 0, 40 << 20, 64 << 10, 1};
	struct error error;

	NEEDS_WORLD(world);
	probe_close(world->probe);
	world->probe = probe_open(&small, &error);
	assert_non_null(world->probe);
	make_file(part.path, part.bytes);
	forget_all(world);
	perform(world, play_reads, part);
	assert_false(world->counts.known >> COUNTER_reread_bytes & 1);
	assert_true(world->counts.known >> COUNTER_page_misses & 1);
	assert_true(world->counts.known >> COUNTER_evictions & 1);
}

static void others_are_seen(void **state)
{
	struct world *world = *state;
	static char buffer[1 << 20];
	struct part part = {HERE "/others", A, 0, 1 << 20, 4096, 1};
	int fd;

	NEEDS_WORLD(world);
	make_file(part.path, part.bytes);
	forget_all(world);
	fd = open(part.path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, buffer, 1 << 20, 0), 1 << 20);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	close(fd);
	perform(world, play_reads, part);
	assert_int_equal(world->counts.disturbance.inserted_pages, 256);
	assert_int_equal(world->counts.disturbance.dropped_pages, 256);
	assert_string_not_equal(world->counts.disturbance.inserted_by, "");
	assert_int_equal(inserted_pages(&world->counts.totals), 256);
}

#define ON(test, filesystem)                                                                       \
	{                                                                                          \
#test " (" filesystem ")", test, world_open, world_close, (void *)(filesystem)     \
	}
#define ON_EACH(test) ON(test, "ext4"), ON(test, "xfs"), ON(test, "btrfs")

/*
 * All on one CPU: up to 31 pages wait in a batch of the CPU that brought them in, off all lists, where
 * no reclaim on another finds them (mm/swap.c, struct folio_batch).
 */
static void stay_on_one_cpu(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_SET(cpu, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

int main(void)
{
	static const struct probe_options options = {.stream_count = 1};
	const struct CMUnitTest tests[] = {
		ON_EACH(a_file_larger_than_the_limit_is_read_twice),
		ON_EACH(who_forced_a_file_out_is_to_blame),
		ON_EACH(touched_pages_are_told_from_those_around),
		ON_EACH(what_advice_dropped_is_no_reread),
		ON_EACH(a_write_reads_what_it_covers_in_part),
		ON_EACH(a_new_file_remembers_nothing_of_the_old),
		ON_EACH(what_was_cut_is_forgotten),
		ON_EACH(inodes_go_and_come_back),
		ON_EACH(the_lists_are_as_long_as_counted),
		ON_EACH(threads_are_told_apart),
		ON_EACH(what_is_known_is_said),
		ON(what_is_remembered_is_not_the_players_memory, "ext4"),
		ON(a_memory_that_is_full_is_no_truth, "ext4"),
		ON(others_are_seen, "ext4"),
	};

	stay_on_one_cpu();
	struct error error;
	struct probe *probe = probe_open(&options, &error);

	if (!probe) {
		printf("%s\n", error.message);
		return 77;
	}
	probe_close(probe);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		printf("no mount namespace of one's own to be had: %s\n", strerror(errno));
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
