/*
 * If this fails, a trace that was being written when the process died litters its folder, or takes the place of a good one.
 *
 * What cannot be had on every machine, a file system without O_TMPFILE, is played by an open() of our own.
 */
#include "op_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static bool nameless_is_refused;

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
		va_list arguments;

		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	if ((flags & O_TMPFILE) == O_TMPFILE && nameless_is_refused) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static const struct op one_op = {.kind = OP_SYNC};

static struct op_source *source_of_one_path(void)
{
	static const char text[] = "time_ns,thread,op,path,offset,bytes\n0,1,sync,a,0,0\n";
	struct error error;
	struct op_source *source =
		trace_open(file_write("in.csv", text, sizeof(text) - 1), NULL, &error);
	struct op op;
	size_t got;

	assert_non_null(source);
	assert_true(op_source_next(source, &op, 1, &got, &error));
	return source;
}

/* Written, but not closed. */
static struct trace_writer *half_written(const struct op_source *source)
{
	struct error error;
	struct trace_writer *writer = trace_writer_create(file_name("a.rft"), &error);

	assert_non_null(writer);
	assert_true(trace_write(writer, source, &one_op, 1, &error));
	return writer;
}

static void written_whole(const struct op_source *source)
{
	struct trace_writer *writer = half_written(source);
	struct op_list read;
	struct error error;
	struct stat status;

	if (!trace_writer_close(writer, &error))
		fail_msg("%s", error.message);
	assert_int_equal(folder_count(0), 2);
	assert_int_equal(stat(file_name("a.rft"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_true(trace_read(&read, file_name("a.rft"), NULL, &error));
	assert_int_equal(read.ops.count, 1);
	op_list_deinit(&read);
}

static void a_trace_comes_into_its_place_either_way(void **state)
{
	struct op_source *source = source_of_one_path();
	mode_t mask = umask(027);

	(void)state;
	for (int refused = 0; refused < 2; refused++) {
		nameless_is_refused = refused;
		unlink(file_name("a.rft"));
		written_whole(source);
		written_whole(source); /* and replaces the one before */
	}
	nameless_is_refused = false;
	umask(mask);
	op_source_destroy(source);
	folder_count(1);
}

static void what_would_be_left_is_known(void **state)
{
	struct op_source *source = source_of_one_path();
	struct trace_writer *writer;

	(void)state;
	nameless_is_refused = true;
	writer = half_written(source);
	nameless_is_refused = false;
	assert_non_null(trace_writer_leftover(writer));
	assert_int_equal(access(trace_writer_leftover(writer), F_OK), 0);
	assert_int_equal(folder_count(0), 2);
	trace_writer_abandon(writer);
	assert_int_equal(folder_count(0), 1);
	op_source_destroy(source);
	folder_count(1);
}

static void a_killed_writer_leaves_nothing(void **state)
{
	struct op_source *source = source_of_one_path();
	struct trace_writer *writer = half_written(source);
	bool is_nameless = !trace_writer_leftover(writer);
	pid_t child;
	int status;

	(void)state;
	trace_writer_abandon(writer);
	if (!is_nameless) {
		op_source_destroy(source);
		skip(); /* this file system has no O_TMPFILE */
	}
	child = fork();
	if (child == 0) {
		half_written(source);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(folder_count(0), 1);
	op_source_destroy(source);
	folder_count(1);
}

static void a_trace_without_a_name_is_refused(void **state)
{
	struct error error;

	(void)state;
	assert_null(trace_writer_create("", &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_int_equal(folder_count(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_comes_into_its_place_either_way),
		cmocka_unit_test(what_would_be_left_is_known),
		cmocka_unit_test(a_killed_writer_leaves_nothing),
		cmocka_unit_test(a_trace_without_a_name_is_refused),
	};

	return cmocka_run_group_tests(tests, folder_create, folder_destroy);
}
