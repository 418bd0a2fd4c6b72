/*
 * If this fails, ops mean something else than they say: a kind under another's name, two paths taken for one, pages
 * charged to the wrong stream.
 */
#include "op_test.h"

#include "op/op.h"
#include "op/stream.h"

static void every_kind_is_found_by_its_name(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < OP_KIND_COUNT; i++) {
		const char *name = op_kind_name((enum op_kind)i);
		enum op_kind kind = OP_KIND_COUNT;

		assert_true(op_kind_from_name(&kind, name, strlen(name)));
		assert_int_equal(kind, i);
		assert_false(op_kind_from_name(&kind, name, strlen(name) - 1));
		assert_string_equal(op_kind_nearest(name, strlen(name)), name);
	}
	assert_int_equal(op_kind_takes(OP_READ), OP_TAKES_RANGE);
	assert_int_equal(op_kind_takes(OP_TRUNCATE), OP_TAKES_SIZE);
	assert_int_equal(op_kind_takes(OP_MARK), OP_TAKES_LABEL);
	assert_int_equal(op_kind_takes(OP_SYNC_FILE_RANGE), OP_TAKES_RANGE);
	assert_int_equal(op_kind_takes(OP_COMPUTE), OP_TAKES_SIZE);
	assert_int_equal(op_kind_takes(OP_WRITE_DONTCACHE), OP_TAKES_RANGE);
	assert_int_equal(op_kind_takes(OP_DROP_CACHES), OP_TAKES_SIZE);
	for (unsigned int i = 0; i < OP_KIND_COUNT; i++)
		assert_int_equal(op_kind_has_two_paths(i),
				 op_kind_takes((enum op_kind)i) == OP_TAKES_RENAME);
}

/* The numbers are in files: a kind may be added at the end, and no other may move. */
static void kinds_keep_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(OP_EXISTS, 0);
	assert_int_equal(OP_READ, 5);
	assert_int_equal(OP_RENAME, 12);
	assert_int_equal(OP_FADVISE_NOREUSE, 19);
	assert_int_equal(OP_MARK, 23);
	assert_int_equal(OP_SYNC_FILE_RANGE, 24);
	assert_int_equal(OP_COMPUTE, 25);
	assert_int_equal(OP_READ_DIRECT, 26);
	assert_int_equal(OP_WRITE_DIRECT, 27);
	assert_int_equal(OP_READ_DONTCACHE, 28);
	assert_int_equal(OP_WRITE_DONTCACHE, 29);
	assert_int_equal(OP_READDIR, 30);
	assert_int_equal(OP_RMDIR, 31);
	assert_int_equal(OP_LINK, 32);
	assert_int_equal(OP_SYMLINK, 33);
	assert_int_equal(OP_DROP_CACHES, 34);
	assert_int_equal(OP_PIN, 35);
	assert_int_equal(OP_SUM_STATISTICS, 36);
}

/* What people read of them is what is there: a row for each. */
static void every_kind_has_a_row_in_the_documentation(void **state)
{
	static const char *const takes[] = {"", "bytes", "offset, bytes", "path: from>to",
					    "path: a label"};
	static const char *const meanings[] = {
#define OP(name, NAME, takes, help) help,
#include "op/ops.def"
#undef OP
	};
	char *text = calloc(1, 1 << 16), row[512];
	FILE *file = fopen("docs/operations.md", "r");

	(void)state;
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	for (unsigned int i = 0; i < OP_KIND_COUNT; i++) {
		snprintf(row, sizeof(row), "\n| `%s` | %s | %s |\n", op_kind_name((enum op_kind)i),
			 takes[op_kind_takes((enum op_kind)i)], meanings[i]);
		if (!strstr(text, row))
			fail_msg("docs/operations.md needs the row%s", row);
	}
	free(text);
}

static void a_mistyped_op_finds_its_neighbour(void **state)
{
	(void)state;
	assert_string_equal(op_kind_nearest("raed", 4), "read");
	assert_string_equal(op_kind_nearest("READ", 4), "read");
	assert_string_equal(op_kind_nearest("fdatsync", 8), "fdatasync");
	assert_string_equal(op_kind_nearest("fadvise_dontned", 15), "fadvise_dontneed");
	assert_string_equal(op_kind_nearest("exist", 5), "exists");
	assert_null(op_kind_nearest("", 0));
	assert_null(op_kind_nearest("chmod", 5));
	assert_null(op_kind_nearest("a very long word indeed, of no use", 34));
}

static void paths_get_dense_numbers_and_keep_their_text(void **state)
{
	enum { COUNT = 200000 };
	struct path_table *table = path_table_create();
	char text[64];
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "d/%u/%u", i % 64, i);
		assert_int_equal(path_intern(table, text, strlen(text)), i);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "d/%u/%u", i % 64, i);
		assert_int_equal(path_intern(table, text, strlen(text)), i);
		assert_string_equal(path_text(table, i), text);
		assert_int_equal(path_bytes(table, i), strlen(text));
	}
	assert_int_equal(path_count(table), COUNT);
	assert_true(path_find(table, "d/7/7", 5, &id));
	assert_int_equal(id, 7);
	assert_false(path_find(table, "d/7/", 4, &id));
	assert_int_equal(path_count(table), COUNT);
	path_table_destroy(table);
}

static void a_path_may_be_as_long_as_the_kernel_allows(void **state)
{
	struct path_table *table = path_table_create();
	char text[PATH_BYTES_MAX];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t bytes = 1; bytes <= sizeof(text); bytes++)
		assert_int_equal(path_intern(table, text, bytes), bytes - 1);
	assert_int_equal(path_bytes(table, PATH_BYTES_MAX - 1), PATH_BYTES_MAX);
	assert_int_equal(strlen(path_text(table, PATH_BYTES_MAX - 1)), PATH_BYTES_MAX);
	path_table_destroy(table);
}

struct stream_case {
	struct path_table *paths;
	struct stream_map *map;
};

static const char *stream_of(struct stream_case *with, const char *path, uint32_t thread)
{
	struct op op = {.kind = OP_READ, .thread = thread};
	uint16_t stream;

	op.path = path_intern(with->paths, path, strlen(path));
	stream = stream_map_get(with->map, with->paths, &op);
	assert_in_range(stream, 1, stream_map_count(with->map) - 1);
	assert_int_equal(stream_map_get(with->map, with->paths, &op), stream);
	return stream_map_names(with->map)[stream];
}

static void stream_case_begin(struct stream_case *with, enum stream_rule rule)
{
	with->paths = path_table_create();
	with->map = stream_map_create(rule);
	assert_null(stream_map_names(with->map)[0]);
}

static void stream_case_end(struct stream_case *with)
{
	stream_map_destroy(with->map);
	path_table_destroy(with->paths);
}

static void a_path_class_is_its_first_part_without_the_number(void **state)
{
	struct stream_case with;

	(void)state;
	stream_case_begin(&with, STREAM_BY_CLASS);
	assert_string_equal(stream_of(&with, "wal12", 1), "wal");
	assert_string_equal(stream_of(&with, "wal0", 2), "wal");
	assert_string_equal(stream_of(&with, "d/7/399", 1), "d");
	assert_string_equal(stream_of(&with, "12/a", 1), "12");
	assert_string_equal(stream_of(&with, "heap", 1), "heap");
	assert_string_equal(stream_of(&with, "/var/lib/x", 1), "var");
	assert_string_equal(stream_of(&with, "/", 1), "/");
	assert_string_equal(stream_of(&with, "//tmp9", 1), "tmp");
	assert_int_equal(stream_map_count(with.map), 1 + 7);
	stream_case_end(&with);
}

static void streams_may_be_paths_or_threads(void **state)
{
	struct stream_case with;

	(void)state;
	stream_case_begin(&with, STREAM_BY_PATH);
	assert_string_equal(stream_of(&with, "wal12", 1), "wal12");
	assert_string_equal(stream_of(&with, "d/7/399", 1), "d/7/399");
	stream_case_end(&with);
	stream_case_begin(&with, STREAM_BY_THREAD);
	assert_string_equal(stream_of(&with, "wal12", 1), "thread1");
	assert_string_equal(stream_of(&with, "wal12", 4000000000), "thread4000000000");
	assert_string_equal(stream_of(&with, "heap", 1), "thread1");
	stream_case_end(&with);
}

static void expressions_come_before_the_rule_and_in_order(void **state)
{
	struct stream_case with;
	struct error error = {0};

	(void)state;
	stream_case_begin(&with, STREAM_BY_THREAD);
	assert_string_equal(stream_of(&with, "base/1/2", 3), "thread3");
	assert_true(stream_map_add(with.map, "^base/.*_vm$=maps", &error));
	assert_true(stream_map_add(with.map, "^base/=tables", &error));
	assert_true(stream_map_add(with.map, "a=b=odd", &error));
	assert_string_equal(stream_of(&with, "base/1/2", 3), "tables");
	assert_string_equal(stream_of(&with, "base/1/2_vm", 3), "maps");
	assert_string_equal(stream_of(&with, "a=b", 3), "odd");
	assert_string_equal(stream_of(&with, "wal/1", 3), "thread3");

	assert_false(stream_map_add(with.map, "nothing", &error));
	assert_string_equal(error.message, "stream \"nothing\" is not REGEX=NAME");
	assert_false(stream_map_add(with.map, "=x", &error));
	assert_false(stream_map_add(with.map, "x=", &error));
	assert_string_equal(error.message, "stream \"x=\" has no name after the =");
	assert_false(stream_map_add(with.map, "(=x", &error));
	assert_string_equal(error.message,
			    "stream \"(=x\": bad regular expression \"(\": Unmatched ( or \\(");
	assert_int_equal(error.kind, ERROR_INPUT);
	stream_case_end(&with);
}

static void what_does_not_fit_is_the_stream_other(void **state)
{
	struct stream_case with;
	char text[32];

	(void)state;
	stream_case_begin(&with, STREAM_BY_PATH);
	for (int i = 1; i < STREAM_COUNT_MAX; i++) {
		snprintf(text, sizeof(text), "p%d", i);
		assert_string_equal(stream_of(&with, text, 1), text);
	}
	assert_string_equal(stream_of(&with, "one more", 1), "other");
	assert_string_equal(stream_of(&with, "and another", 1), "other");
	assert_string_equal(stream_of(&with, "p1", 1), "p1");
	assert_int_equal(stream_map_count(with.map), STREAM_COUNT_MAX + 1);
	stream_case_end(&with);
}

static void a_mark_belongs_to_nobody(void **state)
{
	struct stream_case with;
	struct op op = {.kind = OP_MARK};

	(void)state;
	stream_case_begin(&with, STREAM_BY_CLASS);
	op.path = path_intern(with.paths, "half", 4);
	assert_int_equal(stream_map_get(with.map, with.paths, &op), STREAM_NONE);
	op.kind = OP_SYNC;
	assert_int_equal(stream_map_get(with.map, with.paths, &op), STREAM_NONE);
	op.kind = OP_COMPUTE;
	assert_int_equal(stream_map_get(with.map, with.paths, &op), STREAM_NONE);
	op.kind = OP_DROP_CACHES;
	assert_int_equal(stream_map_get(with.map, with.paths, &op), STREAM_NONE);
	op.kind = OP_PIN;
	assert_int_equal(stream_map_get(with.map, with.paths, &op), STREAM_NONE);
	op.kind = OP_SUM_STATISTICS;
	assert_int_equal(stream_map_get(with.map, with.paths, &op), STREAM_NONE);
	assert_int_equal(stream_map_count(with.map), 1);
	stream_case_end(&with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_found_by_its_name),
		cmocka_unit_test(kinds_keep_their_numbers),
		cmocka_unit_test(every_kind_has_a_row_in_the_documentation),
		cmocka_unit_test(a_mistyped_op_finds_its_neighbour),
		cmocka_unit_test(paths_get_dense_numbers_and_keep_their_text),
		cmocka_unit_test(a_path_may_be_as_long_as_the_kernel_allows),
		cmocka_unit_test(a_path_class_is_its_first_part_without_the_number),
		cmocka_unit_test(streams_may_be_paths_or_threads),
		cmocka_unit_test(expressions_come_before_the_rule_and_in_order),
		cmocka_unit_test(what_does_not_fit_is_the_stream_other),
		cmocka_unit_test(a_mark_belongs_to_nobody),
	};

	return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
