/*
 * If this fails, what a program really did to its files is not what its trace says.
 *
 * This program is its own subject: started as "test_record act NAME", in a folder, it makes some system calls; recorded
 * while it does, the ops must be these. Needs root, a kernel with BTF, and a disk under the build folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "op/path.h"
#include "op/trace.h"
#include "record/record.h"

/* ---- what is done: in the recorded process ---- */

static char block[65536];

#define DO(call)                                                                                   \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			perror(#call);                                                             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void act_positions(void)
{
	int fd = open("old", O_RDWR), other, appended;

	DO(read(fd, block, 1000));
	DO(read(fd, block, 500));
	other = dup(fd);
	DO(read(other, block, 100)); /* goes on where the other stopped */
	DO(lseek(fd, 5000, SEEK_SET));
	if (fork() == 0) {
		DO(read(other, block, 10));
		_exit(0);
	}
	wait(NULL);
	DO(read(fd, block, 20)); /* behind what the child read */
	DO(pread(fd, block, 300, 8192));
	DO(pwrite(fd, block, 40, 100));
	close(fd);
	DO(read(other, block, 1));
	close(other);
	appended = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	DO(write(appended, block, 10));
	DO(pwrite(appended, block, 5, 0)); /* Linux appends */
	close(appended);
}

static void act_ends(void)
{
	int fd = open("old", O_RDONLY);

	DO(lseek(fd, 19990, SEEK_SET));
	DO(read(fd, block, 4096)); /* 10 bytes are left of 20000 */
	DO(read(fd, block, 4096)); /* nothing */
	close(fd);
}

static void act_names(void)
{
	struct stat status;
	int fd, folder;

	DO(stat("old", &status));
	(void)!stat("missing", &status);
	(void)!open("absent/too", O_RDONLY);
	DO(mkdir("d", 0755));
	fd = open("d/a", O_WRONLY | O_CREAT | O_EXCL, 0644);
	DO(write(fd, block, 100));
	DO(rename("d/a", "d/b"));
	DO(write(fd, block, 50)); /* its name is another now */
	close(fd);
	DO(link("d/b", "d/c"));
	DO(unlink("d/b"));
	folder = open("d", O_RDONLY | O_DIRECTORY);
	fd = openat(folder, "./../d//c", O_RDONLY);
	DO(read(fd, block, 10));
	DO(syscall(SYS_getdents64, folder, block, sizeof(block)));
	DO(syscall(SYS_getdents64, folder, block, sizeof(block)));
	DO(unlinkat(folder, "c", 0));
	DO(read(fd, block, 20)); /* without a name, and still there */
	close(fd);
	close(folder);
	DO(symlink("old", "way"));
	fd = open("way", O_RDONLY);
	DO(read(fd, block, 7));
	close(fd);
	DO(chdir("d"));
	DO(stat("../old", &status));
	DO(rmdir("../d"));
}

static void act_advice(void)
{
	int fd = open("old", O_RDWR);

	DO(-posix_fadvise(fd, 0, 8192, POSIX_FADV_WILLNEED));
	DO(-posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	DO(-posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM));
	DO(readahead(fd, 4096, 4096));
	DO(fsync(fd));
	DO(fdatasync(fd));
	DO(sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE));
	DO(fallocate(fd, 0, 20000, 5000));
	DO(ftruncate(fd, 100));
	close(fd);
	DO(truncate("old", 50));
}

static void act_copies(void)
{
	int from = open("old", O_RDONLY), to = open("copy", O_WRONLY | O_CREAT, 0644), pipes[2];
	off_t at = 4096;

	DO(sendfile(to, from, NULL, 1000));
	DO(sendfile(to, from, &at, 2000));
	DO(read(from, block, 10)); /* behind the first */
	DO(pipe(pipes));
	DO(splice(from, NULL, pipes[1], NULL, 500, 0));
	DO(splice(pipes[0], NULL, to, NULL, 500, 0));
	close(from);
	close(to);
}

static void act_mapped(void)
{
	int fd = open("old", O_RDWR);
	volatile char *at = mmap(NULL, 20000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	(void)at[8192];
	at[4097] = 1;
	DO(msync((void *)(uintptr_t)at, 8192, MS_SYNC));
	DO(madvise((void *)(uintptr_t)(at + 12288), 4096, MADV_WILLNEED));
	munmap((void *)(uintptr_t)at, 20000);
}

static void act_many(void)
{
	struct iovec two[2] = {{block, 100}, {block + 100, 200}};
	int fd = open("old", O_RDWR);

	DO(readv(fd, two, 2));
	DO(preadv(fd, two, 2, 4000));
	DO(preadv2(fd, two, 2, -1, 0));
	DO(pwritev2(fd, two, 2, 0, RWF_APPEND));
	close(fd);
}

static void act_direct(void)
{
	void *aligned;
	int fd = open("old", O_RDONLY | O_DIRECT);

	if (fd < 0 || posix_memalign(&aligned, 4096, 4096) != 0)
		exit(77);
	DO(pread(fd, aligned, 4096, 4096));
	DO(fcntl(fd, F_SETFL, 0));
	DO(pread(fd, aligned, 4096, 8192));
	close(fd);
	free(aligned);
}

/* Two requests in one ring, with nothing but system calls. */
static void act_uring(void)
{
	struct io_uring_params parameters = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters), fd = open("old", O_RDWR);
	struct io_uring_sqe *entries;
	unsigned char *queue;
	uint32_t *array, *tail;

	if (ring < 0)
		exit(77);
	queue = mmap(NULL, parameters.sq_off.array + parameters.sq_entries * 4,
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	entries = mmap(NULL, parameters.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	array = (uint32_t *)(queue + parameters.sq_off.array);
	tail = (uint32_t *)(queue + parameters.sq_off.tail);
	memset(entries, 0, 2 * sizeof(*entries));
	entries[0] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
					   .fd = fd,
					   .off = 4096,
					   .addr = (uintptr_t)block,
					   .len = 1000};
	entries[0].flags = IOSQE_IO_LINK;
	entries[1] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
					   .fd = fd,
					   .off = 50,
					   .addr = (uintptr_t)block,
					   .len = 70};
	array[0] = 0;
	array[1] = 1;
	__atomic_store_n(tail, *tail + 2, __ATOMIC_RELEASE);
	DO(syscall(SYS_io_uring_enter, ring, 2, 2, IORING_ENTER_GETEVENTS, NULL, 0));
	close(fd);
	close(ring);
}

static const struct act {
	const char *name;
	void (*act)(void);
} acts[] = {
	{"positions", act_positions}, {"ends", act_ends},     {"names", act_names},
	{"advice", act_advice},       {"copies", act_copies}, {"mapped", act_mapped},
	{"many", act_many},           {"direct", act_direct}, {"uring", act_uring},
};

/* ---- recording it ---- */

static char program[PATH_MAX], home[PATH_MAX], folder[PATH_MAX + 16], trace[PATH_MAX + 16];

static int folder_make(void **state)
{
	int fd;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/record-XXXXXX", home);
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return -1;
	snprintf(trace, sizeof(trace), "%s/trace.rft", home);
	fd = open("old", O_WRONLY | O_CREAT, 0644);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)i;
	return write(fd, block, 20000) == 20000 && close(fd) == 0 ? 0 : -1;
}

static int folder_remove(void **state)
{
	char command[2 * PATH_MAX + 64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s' '%s'", folder, trace);
	return chdir(home) == 0 && system(command) == 0 ? 0 : -1;
}

/* The ops on what is in the folder, one a line, like "read old 0 1000". */
static void ops_print(char *text, size_t room, bool with_existing)
{
	struct error error;
	struct op_source *source = trace_open(trace, NULL, &error);
	size_t used = 0, got, bytes = strlen(folder);
	struct op op;

	assert_non_null(source);
	text[0] = '\0';
	while (op_source_next(source, &op, 1, &got, &error) && got) {
		const char *path = path_text(source->paths, op.path);
		const char *to = path_text(source->paths, op.path_to);
		bool has_range = op_kind_takes(op.kind) == OP_TAKES_RANGE,
		     has_size = op_kind_takes(op.kind) == OP_TAKES_SIZE;

		if (strncmp(path, folder, bytes) != 0 || path[bytes] != '/' ||
		    (op.kind == OP_EXISTS && !with_existing))
			continue;
		used += (size_t)snprintf(text + used, room - used, "%s %s", op_kind_name(op.kind),
					 path + bytes + 1);
		if (op_kind_has_two_paths(op.kind))
			used += (size_t)snprintf(text + used, room - used, " %s", to + bytes + 1);
		if (has_range)
			used += (size_t)snprintf(text + used, room - used, " %llu",
						 (unsigned long long)op.offset);
		if (has_range || has_size)
			used += (size_t)snprintf(text + used, room - used, " %llu",
						 (unsigned long long)op.bytes);
		used += (size_t)snprintf(text + used, room - used, "\n");
		assert_true(used < room);
	}
	op_source_destroy(source);
}

static void recorded(const char *name, char *text, size_t room, bool with_existing)
{
	char *command[] = {program, "act", (char *)name, NULL};
	struct stream_map *streams = stream_map_create(STREAM_BY_CLASS);
	const struct record_options options = {
		.command = command, .trace = trace, .streams = streams};
	struct record_summary summary;
	struct error error;
	bool done = record(&options, &summary, &error);
	int status = summary.command_status;

	stream_map_destroy(streams);
	if (!done)
		fail_msg("%s", error.message);
	assert_int_equal(summary.counters.events_lost, 0);
	assert_int_equal(summary.counters.pages_by_other, 0);
	record_summary_deinit(&summary);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		text[0] = '\0';
		return;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	ops_print(text, room, with_existing);
}

#define RECORDED(name, expected)                                                                   \
	do {                                                                                       \
		static char text_[16384];                                                          \
		recorded(name, text_, sizeof(text_), false);                                       \
		if (!text_[0])                                                                     \
			skip();                                                                    \
		assert_string_equal(text_, expected);                                              \
	} while (0)

static void positions_are_known_through_dup_fork_and_append(void **state)
{
	(void)state;
	RECORDED("positions",
		 "open old\nread old 0 1000\nread old 1000 500\nread old 1500 100\nread old 5000 "
		 "10\nread old 5010 20\n"
		 "read old 8192 300\nwrite old 100 40\nread old 5030 1\nclose old\nclose old\n"
		 "create log\nwrite log 0 10\nwrite log 10 5\nclose log\n");
}

static void a_read_over_the_end_has_what_there_was(void **state)
{
	(void)state;
	RECORDED("ends", "open old\nread old 19990 10\nclose old\n");
}

static void names_come_change_and_go(void **state)
{
	(void)state;
	RECORDED("names",
		 "stat old\nstat missing\nstat absent/too\nmkdir d\n"
		 "create d/a\nwrite d/a 0 100\nrename d/a d/b\nwrite d/b 100 50\nclose d/b\n"
		 "link d/b d/c\nunlink d/b\nopen d\nopen d/c\nread d/c 0 10\nreaddir d\n"
		 "rename d/c d/c (deleted)\nunlink d/c (deleted)\nread d/c (deleted) 10 20\nclose "
		 "d/c (deleted)\nclose d\n"
		 "symlink way 3\nopen old\nread old 0 7\nclose old\nstat old\nrmdir d\n");
}

static void advice_syncs_and_sizes_are_kept(void **state)
{
	(void)state;
	RECORDED("advice",
		 "open old\nfadvise_willneed old 0 8192\nfadvise_dontneed old 0 0\nfadvise_random "
		 "old 0 0\n"
		 "fadvise_willneed old 4096 4096\nfsync old\nfdatasync old\nsync_file_range old 0 "
		 "4096\n"
		 "fallocate old 20000 5000\ntruncate old 100\nclose old\ntruncate old 50\n");
}

static void copies_inside_the_kernel_are_reads_and_writes(void **state)
{
	(void)state;
	RECORDED("copies", "open old\ncreate copy\nread old 0 1000\nwrite copy 0 1000\nread old "
			   "4096 2000\nwrite copy 1000 2000\n"
			   "read old 1000 10\nread old 1010 500\nwrite copy 3000 500\nclose "
			   "old\nclose copy\n");
}

static void mapped_pages_are_seen_when_they_fault(void **state)
{
	static char text[16384];

	(void)state;
	recorded("mapped", text, sizeof(text), false);
	/* Whether a page that is cached is mapped with its neighbours is the kernel's business. */
	assert_non_null(strstr(text, "mmap_read old 8192 4096\n"));
	assert_non_null(strstr(text, "mmap_write old 4096 4096\n"));
	assert_non_null(strstr(text, "fdatasync old\n"));
	assert_non_null(strstr(text, "fadvise_willneed old 12288 4096\n"));
}

static void vectors_are_one_op(void **state)
{
	(void)state;
	RECORDED("many", "open old\nread old 0 300\nread old 4000 300\nread old 300 300\nwrite old "
			 "20000 300\nclose old\n");
}

static void direct_reads_are_told_apart(void **state)
{
	(void)state;
	RECORDED("direct", "open old\nread_direct old 4096 4096\nread old 8192 4096\nclose old\n");
}

static void requests_of_io_uring_are_seen(void **state)
{
	(void)state;
	RECORDED("uring", "open old\nread old 4096 1000\nwrite old 50 70\nclose old\n");
}

static void what_was_there_before_comes_first(void **state)
{
	static char text[16384];

	(void)state;
	recorded("ends", text, sizeof(text), true);
	assert_int_equal(strncmp(text, "exists old 20000\n", 17), 0);
	assert_null(strstr(text, "exists log"));
}

/* ---- the rest ---- */

static int kernel_can(void)
{
	char *command[] = {"true", NULL};
	struct stream_map *streams = stream_map_create(STREAM_BY_CLASS);
	const struct record_options options = {
		.command = command, .trace = "kernel-can.rft", .streams = streams};
	struct record_summary summary;
	struct error error;
	bool done = record(&options, &summary, &error);

	stream_map_destroy(streams);
	record_summary_deinit(&summary);
	if (!done)
		printf("%s\n", error.message);
	unlink("kernel-can.rft");
	return done;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)
	const struct CMUnitTest tests[] = {
		TEST(positions_are_known_through_dup_fork_and_append),
		TEST(a_read_over_the_end_has_what_there_was),
		TEST(names_come_change_and_go),
		TEST(advice_syncs_and_sizes_are_kept),
		TEST(copies_inside_the_kernel_are_reads_and_writes),
		TEST(mapped_pages_are_seen_when_they_fault),
		TEST(vectors_are_one_op),
		TEST(direct_reads_are_told_apart),
		TEST(requests_of_io_uring_are_seen),
		TEST(what_was_there_before_comes_first),
	};

	if (argc == 3 && strcmp(argv[1], "act") == 0) {
		for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
			if (strcmp(acts[i].name, argv[2]) == 0)
				acts[i].act();
		return 0;
	}
	if (!realpath("/proc/self/exe", program))
		return 1;
	/* On the disk that the build is on: /tmp may be in memory, and what is there is not recorded. */
	snprintf(home, sizeof(home), "%s", program);
	*strrchr(home, '/') = '\0';
	if (chdir(home) != 0)
		return 1;
	if (!kernel_can())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
