/*
 * If this fails, calls of processes are turned into ops on the wrong file, at the wrong place, or on none: what is
 * recorded or imported is not what happened.
 */
#include "op_test.h"

#include "op/calls/calls.h"

struct world {
	struct path_table *paths;
	struct calls *calls;
	char *text; /* the ops, a line each */
	size_t bytes;
	FILE *file;
	struct calls_when when;
};

static void op_print(void *context, const struct op *op)
{
	struct world *world = context;

	fprintf(world->file, "%u %s %s", op->thread, op_kind_name(op->kind),
		path_text(world->paths, op->path));
	if (op_kind_has_two_paths(op->kind))
		fprintf(world->file, ">%s", path_text(world->paths, op->path_to));
	if (op_kind_takes(op->kind) == OP_TAKES_RANGE)
		fprintf(world->file, " %llu", (unsigned long long)op->offset);
	if (op_kind_takes(op->kind) == OP_TAKES_RANGE || op_kind_takes(op->kind) == OP_TAKES_SIZE)
		fprintf(world->file, " %llu", (unsigned long long)op->bytes);
	fputc('\n', world->file);
}

static void existing_print(void *context, const struct calls_existing *existing)
{
	struct world *world = context;

	if (existing->is_link)
		fprintf(world->file, "link %s>%s\n", path_text(world->paths, existing->link_of),
			path_text(world->paths, existing->path));
	else if (existing->is_directory)
		fprintf(world->file, "directory %s\n", path_text(world->paths, existing->path));
	else
		fprintf(world->file, "exists %s %llu\n", path_text(world->paths, existing->path),
			(unsigned long long)existing->bytes);
}

/* ---- a small language for the calls ---- */

static struct world *now; /* whose calls these are */

static const struct calls_when *by(uint32_t tid)
{
	now->when.tid = tid;
	now->when.time_ns++;
	return &now->when;
}

static struct calls_name at(const char *text)
{
	return (struct calls_name){CALLS_CWD, text, text ? strlen(text) : 0};
}

static void opens(uint32_t tid, const char *path, unsigned int flags, int64_t result)
{
	struct calls_name name = at(path);

	calls_open(now->calls, by(tid), &name, flags, result, NULL);
}

static void reads(uint32_t tid, int fd, int64_t bytes)
{
	calls_read(now->calls, by(tid), fd, CALLS_AT_POSITION, CALLS_ASKED_UNKNOWN, 0, bytes);
}

static void preads(uint32_t tid, int fd, uint64_t offset, uint64_t asked, int64_t bytes)
{
	calls_read(now->calls, by(tid), fd, offset, asked, 0, bytes);
}

static void writes(uint32_t tid, int fd, int64_t bytes)
{
	calls_write(now->calls, by(tid), fd, CALLS_AT_POSITION, CALLS_ASKED_UNKNOWN, 0, bytes);
}

static void closes(uint32_t tid, int fd)
{
	calls_close(now->calls, by(tid), fd, 0);
}

static void unlinks(uint32_t tid, const char *path)
{
	struct calls_name name = at(path);

	calls_unlink(now->calls, by(tid), &name, 0);
}

static void renames(uint32_t tid, const char *from, const char *to)
{
	struct calls_name one = at(from), other = at(to);

	calls_rename(now->calls, by(tid), &one, &other, false, 0);
}

static void stats(uint32_t tid, const char *path, int64_t result)
{
	struct calls_name name = at(path);

	calls_look_up(now->calls, by(tid), &name, true, result, NULL);
}

/* The calls are made twice, as an importer does; what is delivered the second time must be `expected`. */
static void ops_are(void (*these)(void), const char *expected)
{
	struct world world = {.paths = path_table_create()};
	struct calls_options options = {.paths = world.paths, .context = &world};

	world.calls = calls_create(&options);
	world.file = open_memstream(&world.text, &world.bytes);
	now = &world;
	these();
	calls_existing(world.calls, existing_print, &world);
	options.deliver = op_print;
	calls_again(world.calls, &options);
	world.when = (struct calls_when){0};
	these();
	fclose(world.file);
	calls_destroy(world.calls);
	path_table_destroy(world.paths);
	if (strcmp(world.text, expected) != 0)
		fail_msg("expected:\n%s\nwere:\n%s", expected, world.text);
	free(world.text);
}

static void shared(void)
{
	opens(1, "/a", 0, 3);
	reads(1, 3, 100);
	calls_dup(now->calls, by(1), 3, 5, false);
	reads(1, 5, 100);
	calls_fork(now->calls, by(1), 2, 0);
	reads(2, 3, 100);
	closes(2, 3);
	reads(1, 3, 100);
	calls_seek(now->calls, by(1), 5, 0, 0, 0);
	reads(1, 3, 50);
	closes(1, 3);
	closes(1, 5);
	reads(2, 5, 7);
	calls_exit(now->calls, by(2), true);
}

static void dup_and_fork_share_the_position_and_the_last_one_closes(void **state)
{
	(void)state;
	ops_are(shared, "exists /a 400\n"
			"1 open /a\n"
			"1 read /a 0 100\n"
			"1 read /a 100 100\n"
			"2 read /a 200 100\n"
			"1 read /a 300 100\n"
			"1 read /a 0 50\n"
			"2 read /a 50 7\n"
			"1 close /a\n"
			"2 close /a\n");
}

static void twice(void)
{
	opens(1, "/a", 0, 3);
	opens(1, "/a", 0, 4);
	closes(1, 3);
	preads(1, 4, 4096, 4096, 100);
	closes(1, 4);
	opens(1, "/a", 0, 3);
}

/* To a machine a file is open or not, for a thread: two closes would be one too many. */
static void a_file_open_twice_is_closed_once(void **state)
{
	(void)state;
	ops_are(twice, "exists /a 4196\n"
		       "1 open /a\n"
		       "1 open /a\n"
		       "1 read /a 4096 100\n"
		       "1 close /a\n"
		       "1 open /a\n");
}

static void named(void)
{
	opens(1, "/d/a", CALLS_O_CREATE | CALLS_O_WRITE, 3);
	writes(1, 3, 10);
	unlinks(1, "/d/a");
	writes(1, 3, 10);
	opens(1, "/d/a", CALLS_O_CREATE | CALLS_O_WRITE, 4);
	writes(1, 4, 1);
	writes(1, 3, 10);
	renames(1, "/d/a", "/d/b");
	writes(1, 4, 1);
	renames(1, "/d", "/e");
	writes(1, 4, 1);
	stats(1, "/e/b", 0);
	closes(1, 4);
	opens(1, "/e/b", 0, 4);
	reads(1, 4, 3);
}

static void a_descriptor_follows_its_file_and_not_the_name(void **state)
{
	(void)state;
	ops_are(named, "directory /d\n"
		       "1 create /d/a\n"
		       "1 write /d/a 0 10\n"
		       "1 rename /d/a>/d/a (deleted)\n"
		       "1 unlink /d/a (deleted)\n"
		       "1 write /d/a (deleted) 10 10\n"
		       "1 create /d/a\n"
		       "1 write /d/a 0 1\n"
		       "1 write /d/a (deleted) 20 10\n"
		       "1 rename /d/a>/d/b\n"
		       "1 write /d/b 1 1\n"
		       "1 rename /d>/e\n"
		       "1 write /e/b 2 1\n"
		       "1 stat /e/b\n"
		       "1 close /e/b\n"
		       "1 open /e/b\n"
		       "1 read /e/b 0 3\n");
}

static void unknown(void)
{
	writes(1, 7, 11);
	reads(1, 7, 5);
	closes(1, 7);
	writes(1, 7, 1);
	calls_seek(now->calls, by(1), 1, 0, 1, CALLS_ESPIPE);
	writes(1, 1, 1);
}

static void a_descriptor_that_was_open_before_is_a_file_of_its_own(void **state)
{
	(void)state;
	ops_are(unknown, "exists pid 1 fd 7 16\n"
			 "exists pid 1 fd 7 (2) 0\n"
			 "1 write pid 1 fd 7 0 11\n"
			 "1 read pid 1 fd 7 11 5\n"
			 "1 close pid 1 fd 7\n"
			 "1 write pid 1 fd 7 (2) 0 1\n");
}

static void grown(void)
{
	opens(1, "/log", CALLS_O_WRITE | CALLS_O_APPEND, 3);
	writes(1, 3, 10);
	writes(1, 3, 10);
	calls_seek(now->calls, by(1), 3, 0, 2, 1020);
	opens(1, "/new", CALLS_O_WRITE | CALLS_O_CREATE, 4);
	preads(1, 4, 8192, 4096, 4096);
	opens(1, "/fresh", CALLS_O_WRITE | CALLS_O_CREATE | CALLS_O_EXCLUSIVE, 5);
	preads(1, 5, 0, 4096, 0);
}

static void sizes_are_learned_in_the_first_reading(void **state)
{
	(void)state;
	ops_are(grown, "exists /log 1000\n"
		       "exists /new 12288\n"
		       "1 open /log\n"
		       "1 write /log 1000 10\n"
		       "1 write /log 1010 10\n"
		       "1 create /new\n"
		       "1 read /new 8192 4096\n"
		       "1 create /fresh\n");
}

static void relative(void)
{
	stats(1, "x/../y", CALLS_ENOENT);
	opens(1, "a", 0, 3);
	calls_cwd_is(now->calls, by(1), "/data/db", 8);
	opens(1, "/data/db/a", 0, 4);
	opens(1, "../c", CALLS_O_CREATE, 5);
}

static void names_are_relative_to_a_directory_that_may_be_told_late(void **state)
{
	(void)state;
	ops_are(relative, "exists /data/db/a 0\n"
			  "1 stat /data/db/y\n"
			  "1 open /data/db/a\n"
			  "1 open /data/db/a\n"
			  "1 create /data/c\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dup_and_fork_share_the_position_and_the_last_one_closes),
		cmocka_unit_test(a_file_open_twice_is_closed_once),
		cmocka_unit_test(a_descriptor_follows_its_file_and_not_the_name),
		cmocka_unit_test(a_descriptor_that_was_open_before_is_a_file_of_its_own),
		cmocka_unit_test(sizes_are_learned_in_the_first_reading),
		cmocka_unit_test(names_are_relative_to_a_directory_that_may_be_told_late),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
