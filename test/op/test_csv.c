/*
 * If this fails, a trace is read as something it does not say, or a person with a broken file is not told where it is
 * broken: the two ways in which a replay can lie before it has begun.
 */
#include "op_test.h"

#include "base/random.h"

#define HEADER "time_ns,thread,op,path,offset,bytes\n"

/* The row so many times; free it. */
static char *rows_repeated(const char *row, size_t count)
{
	size_t bytes = strlen(row);
	char *text = memory_alloc(count * bytes + 1, 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * bytes, row, bytes);
	return text;
}

static void the_example_of_the_design_is_read(void **state)
{
	struct op_list list = csv_read("0,1,exists,heap,0,167772160\n"
				       "1000,1,read,heap,8192,8192\n"
				       "2000,7,write,wal0,0,8192\n"
				       "3000,1,fdatasync,wal0,0,0\n"
				       "4000,1,rename,wal0>wal12,0,0\n"
				       "5000,1,mark,half,0,0\n");

	(void)state;
	assert_int_equal(list.ops.count, 6);
	assert_int_equal(list.ops.at[0].kind, OP_EXISTS);
	assert_int_equal(list.ops.at[0].bytes, 167772160);
	assert_int_equal(list.ops.at[1].time_ns, 1000);
	assert_int_equal(list.ops.at[1].offset, 8192);
	assert_int_equal(list.ops.at[1].path, list.ops.at[0].path);
	assert_int_equal(list.ops.at[2].thread, 7);
	assert_string_equal(list_path(&list, list.ops.at[4].path), "wal0");
	assert_string_equal(list_path(&list, list.ops.at[4].path_to), "wal12");
	assert_int_equal(list.ops.at[5].kind, OP_MARK);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(list.ops.at[i].line, i + 2);
	assert_string_equal(list_path(&list, list.ops.at[5].path), "half");
	assert_string_equal(list.source->format, "csv");
	op_list_deinit(&list);
}

static void line_ends_marks_and_a_missing_last_end_are_forgiven(void **state)
{
	static const char *const files[] = {
		HEADER "0,1,read,a,0,1\n1,1,read,a,0,1\n",
		HEADER "0,1,read,a,0,1\n1,1,read,a,0,1",
		"time_ns,thread,op,path,offset,bytes\r\n0,1,read,a,0,1\r\n1,1,read,a,0,1\r\n",
		"time_ns,thread,op,path,offset,bytes\r\n0,1,read,a,0,1\r\n1,1,read,a,0,1\r",
		"\xef\xbb\xbf" HEADER "0,1,read,a,0,1\n1,1,read,a,0,1\n",
		HEADER "0,1,read,a,0,1\n\n\r\n1,1,read,a,0,1\n\n",
		"\"time_ns\",\"thread\",op,path,offset,bytes\n\"0\",\"1\",\"read\",\"a\",\"0\","
		"\"1\"\n"
		"1,1,read,\"a\",0,1",
		HEADER "0000000000000000000000000,1,read,a,00,01\n1,1,read,a,0,1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct op_list list;
		struct error error;

		if (!trace_read(&list, file_write("a.csv", files[i], strlen(files[i])), NULL,
				&error))
			fail_msg("file %zu: %llu:%llu: %s", i, (unsigned long long)error.line,
				 (unsigned long long)error.column, error.message);
		assert_int_equal(list.ops.count, 2);
		assert_string_equal(list_path(&list, list.ops.at[1].path), "a");
		assert_int_equal(list.ops.at[1].bytes, 1);
		assert_int_equal(list.ops.at[1].time_ns, 1);
		op_list_deinit(&list);
	}
}

static void a_quoted_path_may_hold_commas_quotes_and_line_ends(void **state)
{
	struct op_list list = csv_read("0,1,read,\"a,b\",0,1\n"
				       "0,1,read,\"a\"\"b\",0,1\n"
				       "0,1,read,\"a\nb\r\nc\",0,1\r\n"
				       "0,1,rename,\"x,y>\"\"z\"\"\",0,0\n"
				       "0,1,mark,\"after, say, half\",0,0\n"
				       "0,1,read, a b\t,0,1\n"
				       "0,1,read,\xff\xfe,0,1\n"
				       "0,1,read,a>b,0,1\n");

	(void)state;
	assert_string_equal(list_path(&list, list.ops.at[0].path), "a,b");
	assert_string_equal(list_path(&list, list.ops.at[1].path), "a\"b");
	assert_string_equal(list_path(&list, list.ops.at[2].path), "a\nb\r\nc");
	assert_string_equal(list_path(&list, list.ops.at[3].path), "x,y");
	assert_int_equal(list.ops.at[2].line, 4);
	assert_int_equal(list.ops.at[3].line, 7);
	assert_string_equal(list_path(&list, list.ops.at[3].path_to), "\"z\"");
	assert_string_equal(list_path(&list, list.ops.at[4].path), "after, say, half");
	assert_string_equal(list_path(&list, list.ops.at[5].path), " a b\t");
	assert_string_equal(list_path(&list, list.ops.at[6].path), "\xff\xfe");
	assert_string_equal(list_path(&list, list.ops.at[7].path), "a>b");
	op_list_deinit(&list);
}

static void a_rename_may_write_an_arrow_in_a_name_twice(void **state)
{
	struct op_list list = csv_read("0,1,rename,a>>b>c,0,0\n0,1,rename,a>b>>>>c,0,0\n"
				       "0,1,rename,>>a>b>>,0,0\n0,1,link,a>>b>c/d,0,0\n");

	(void)state;
	assert_string_equal(list_path(&list, list.ops.at[0].path), "a>b");
	assert_string_equal(list_path(&list, list.ops.at[0].path_to), "c");
	assert_string_equal(list_path(&list, list.ops.at[1].path), "a");
	assert_string_equal(list_path(&list, list.ops.at[1].path_to), "b>>c");
	assert_string_equal(list_path(&list, list.ops.at[2].path), ">a");
	assert_string_equal(list_path(&list, list.ops.at[2].path_to), "b>");
	assert_int_equal(list.ops.at[3].kind, OP_LINK);
	assert_string_equal(list_path(&list, list.ops.at[3].path), "a>b");
	assert_string_equal(list_path(&list, list.ops.at[3].path_to), "c/d");
	op_list_deinit(&list);
}

static void what_is_of_no_file_needs_no_path(void **state)
{
	struct op_list list = csv_read("0,1,sync,,0,0\n0,1,sync,a,0,0\n"
				       "0,3,compute,,0,1500\n0,3,compute,\"\",0,0\n"
				       "0,1,sync_file_range,a,4096,8192\n0,1,drop_caches,,0,3\n");

	(void)state;
	assert_string_equal(list_path(&list, list.ops.at[0].path), ".");
	assert_string_equal(list_path(&list, list.ops.at[1].path), "a");
	assert_int_equal(list.ops.at[2].kind, OP_COMPUTE);
	assert_string_equal(list_path(&list, list.ops.at[2].path), ".");
	assert_int_equal(list.ops.at[2].bytes, 1500);
	assert_string_equal(list_path(&list, list.ops.at[3].path), ".");
	assert_int_equal(list.ops.at[4].kind, OP_SYNC_FILE_RANGE);
	assert_int_equal(list.ops.at[4].offset, 4096);
	assert_int_equal(list.ops.at[4].bytes, 8192);
	assert_int_equal(list.ops.at[5].kind, OP_DROP_CACHES);
	assert_string_equal(list_path(&list, list.ops.at[5].path), ".");
	op_list_deinit(&list);
}

static void the_largest_numbers_are_read(void **state)
{
	struct op_list list =
		csv_read("0,4294967295,exists,a,0,9223372036854775807\n"
			 "1,1,read,a,9223372036854775807,1\n"
			 "999999999999999999,1,read,a,999999999999999999,999999999999999999\n"
			 "9223372036854775807,0,read,a,21990232555520,21990232555520\n");

	(void)state;
	assert_int_equal(list.ops.at[0].thread, UINT32_MAX);
	assert_int_equal(list.ops.at[0].bytes, INT64_MAX);
	assert_int_equal(list.ops.at[1].offset, INT64_MAX);
	assert_int_equal(list.ops.at[2].time_ns, UINT64_C(999999999999999999));
	assert_int_equal(list.ops.at[3].time_ns, INT64_MAX);
	assert_int_equal(list.ops.at[3].offset, UINT64_C(20) << 40);
	op_list_deinit(&list);
}

struct mistake {
	const char *rows; /* the last one is wrong */
	const char *message;
	unsigned int line, column, columns;
};

static const struct mistake mistakes[] = {
	{"0,1,read,heap,81 92,8192", "offset \"81 92\" is not a whole number of bytes", 2, 15, 5},
	{"0,1,sync_file_range,,0,1\n", "path is empty", 2, 21, 0},
	{"0,1,compute,,0,\n", "bytes is empty", 2, 16, 0},
	{"0,1,compute,,0,1us\n", "bytes \"1us\" is not a whole number of bytes", 2, 16, 3},
	{"0,1,read,a,0,-1\n", "bytes \"-1\" is negative", 2, 14, 2},
	{"-5,1,read,a,0,1\n", "time_ns \"-5\" is negative", 2, 1, 2},
	{"0,1,read,a,-,1\n", "offset \"-\" is not a whole number of bytes", 2, 12, 1},
	{"0,1,read,a,,1\n", "offset is empty", 2, 12, 0},
	{"0,1,read,a,0,\n", "bytes is empty", 2, 14, 0},
	{",1,read,a,0,1\n", "time_ns is empty", 2, 1, 0},
	{"0,1,read,a,0x10,1\n", "offset \"0x10\" is not a whole number of bytes", 2, 12, 4},
	{"0,1,read,a,+1,1\n", "offset \"+1\" is not a whole number of bytes", 2, 12, 2},
	{"0,1,read,a,1.5,1\n", "offset \"1.5\" is not a whole number of bytes", 2, 12, 3},
	{"0,1,read,a,0, 1\n", "bytes \" 1\" is not a whole number of bytes", 2, 14, 2},
	{"0,1,read,a,0,4KiB\n", "bytes \"4KiB\" is not a whole number of bytes", 2, 14, 4},
	{"0,1,read,a,0,1 \n", "bytes \"1 \" is not a whole number of bytes", 2, 14, 2},
	{"1e3,1,read,a,0,1\n", "time_ns \"1e3\" is not a whole number of nanoseconds", 2, 1, 3},
	{"0,one,read,a,0,1\n", "thread \"one\" is not a whole number", 2, 3, 3},
	{"0,4294967296,read,a,0,1\n", "thread \"4294967296\" is too large (at most 4294967295)", 2,
	 3, 10},
	{"0,1,read,a,9223372036854775808,0\n",
	 "offset \"9223372036854775808\" is too large (at most 9223372036854775807)", 2, 12, 19},
	{"0,1,read,a,0,99999999999999999999999\n",
	 "bytes \"99999999999999999999999\" is too large (at most 9223372036854775807)", 2, 14, 23},
	{"18446744073709551616,1,read,a,0,1\n",
	 "time_ns \"18446744073709551616\" is too large (at most 9223372036854775807)", 2, 1, 20},
	{"0,1,read,a,9223372036854775807,2\n",
	 "offset 9223372036854775807 and bytes 2 together go beyond 2^63", 2, 12, 21},
	{"0,1,raed,a,0,1\n", "unknown op \"raed\" (nearest: read)", 2, 5, 4},
	{"0,1,chmod,a,0,1\n", "unknown op \"chmod\"", 2, 5, 5},
	{"0,1,,a,0,1\n", "op is empty", 2, 5, 0},
	{"0,1,read,a,0\n", "5 fields where 6 were expected (time_ns,thread,op,path,offset,bytes)",
	 2, 1, 12},
	{"hello\n", "1 field where 6 were expected (time_ns,thread,op,path,offset,bytes)", 2, 1, 5},
	{"0,1,read,a,b,0,1\n", "more than 6 fields (a path with a comma in it must be quoted)", 2,
	 16, 1},
	{"0,1,read,a,0,1,\n", "more than 6 fields (a path with a comma in it must be quoted)", 2,
	 16, 0},
	{"5,1,read,a,0,1\n5,1,read,a,0,1\n4,1,read,a,0,1\n",
	 "mis-ordered: time_ns 4 is earlier than the 5 before it", 4, 1, 1},
	{"0,1,read,,0,1\n", "path is empty", 2, 10, 0},
	{"0,1,mark,\"\",0,0\n", "label is empty", 2, 10, 2},
	{"0,1,read,a\"b,0,1\n",
	 "path with a quote in it must be quoted itself, and its quotes doubled", 2, 10, 3},
	{"0,1,read,\"a\"b,0,1\n", "a comma or the line's end was expected after the closing quote",
	 2, 13, 1},
	{"0,1,read,\"a,0,1\n1,1,read,a,0,1\n", "a quote is opened here and not closed", 2, 10, 1},
	{"0,1,rename,a,0,0\n", "rename \"a\" is not from>to", 2, 12, 1},
	{"0,1,link,a,0,0\n", "link \"a\" is not from>to", 2, 10, 1},
	{"0,1,read_dircet,a,0,0\n", "unknown op \"read_dircet\" (nearest: read_direct)", 2, 5, 11},
	{"0,1,rename,a>>b,0,0\n", "rename \"a>>b\" is not from>to", 2, 12, 4},
	{"0,1,rename,a>b>c,0,0\n",
	 "rename has more than one '>' (write from>to, and >> for a '>' in a name)", 2, 12, 5},
	{"0,1,rename,a>>>b,0,0\n", "rename with 3 '>' in a row can be read in more than one way", 2,
	 12, 5},
	{"0,1,rename,>b,0,0\n", "rename's old name is empty", 2, 12, 2},
	{"0,1,rename,a>,0,0\n", "rename's new name is empty", 2, 12, 2},
	{"0,1,read,\"x\ny\",0,1\n0,1,read,\"x\ny\",z,1\n",
	 "offset \"z\" is not a whole number of bytes", 5, 4, 1},
	{"0,1,read,a,0,1\r0,1,read,a,0,1\n",
	 "more than 6 fields (a path with a comma in it must be quoted)", 2, 18, 12},
	{"0,1,read,\033[31m,x,1\n", "offset \"x\" is not a whole number of bytes", 2, 16, 1},
};

static void every_mistake_is_named_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *mistake = &mistakes[i];
		char text[512];
		struct op_list list;
		struct error error;
		const char *path;

		snprintf(text, sizeof(text), HEADER "%s", mistake->rows);
		path = file_write("broken.csv", text, strlen(text));
		if (trace_read(&list, path, NULL, &error))
			fail_msg("nobody has said: %s", mistake->message);
		assert_string_equal(error.message, mistake->message);
		if (error.line != mistake->line || error.column != mistake->column ||
		    error.columns != mistake->columns)
			fail_msg("%s: found at %u:%u+%u", mistake->message,
				 (unsigned int)error.line, (unsigned int)error.column,
				 (unsigned int)error.columns);
		assert_int_equal(error.kind, ERROR_INPUT);
		assert_string_equal(error.file, path);
		assert_int_not_equal(error.excerpt[0], '\0');
		assert_null(strchr(error.excerpt, '\033'));
		op_list_deinit(&list);
	}
}

static void the_error_screen_has_all_it_shows(void **state)
{
	FILE *file = fopen(file_name("broken.csv"), "w");
	struct op_list list;
	struct error error;

	(void)state;
	assert_non_null(file);
	fputs(HEADER, file);
	for (int i = 1; i < 4811; i++)
		fprintf(file, "%d000,1,read,heap,%d,8192\n", i, i * 8192);
	fputs("4811000,1,read,heap,81 92,8192\n4812000,1,read,heap,0,8192\n", file);
	fclose(file);
	assert_false(trace_read(&list, file_name("broken.csv"), NULL, &error));
	assert_int_equal(error.line, 4812);
	assert_int_equal(error.column, 21);
	assert_int_equal(error.columns, 5);
	assert_string_equal(error.message, "offset \"81 92\" is not a whole number of bytes");
	assert_string_equal(error.excerpt, "4811000,1,read,heap,81 92,8192");
	assert_int_equal(list.ops.count, 4810);
	op_list_deinit(&list);

	assert_true(trace_read(&list, file_name("broken.csv"),
			       &(struct trace_options){.lenient = true}, &error));
	assert_int_equal(list.ops.count, 4811);
	assert_int_equal(list.skipped, 1);
	op_list_deinit(&list);
}

static void bytes_that_are_no_text_are_called_so(void **state)
{
	static const char nul[] = HEADER "0,1,read,a,0,1\n\0\0\0\1\2\n";
	static const char in_path[] = HEADER "0,1,read,a\0b,0,1\n";
	static const char in_number[] = HEADER "0,1,read,a,1\0,1\n";
	struct op_list list;
	struct error error;

	(void)state;
	assert_false(trace_read(&list, file_write("a.csv", nul, sizeof(nul) - 1), NULL, &error));
	assert_string_equal(error.message, "a NUL byte: this is not text");
	assert_int_equal(error.line, 3);
	op_list_deinit(&list);
	assert_false(
		trace_read(&list, file_write("a.csv", in_path, sizeof(in_path) - 1), NULL, &error));
	assert_string_equal(error.message, "path holds a NUL byte");
	assert_string_equal(error.excerpt, "0,1,read,a?b,0,1");
	op_list_deinit(&list);
	assert_false(trace_read(&list, file_write("a.csv", in_number, sizeof(in_number) - 1), NULL,
				&error));
	assert_int_equal(error.column, 12);
	op_list_deinit(&list);
}

static void a_path_too_long_is_refused_and_the_longest_is_not(void **state)
{
	char *text = memory_alloc(200000, 1);
	char *good = rows_repeated("1,1,read,a,0,1\n", 400);
	const struct trace_options lenient = {.lenient = true};
	struct op_list list;
	struct error error;
	size_t at;

	(void)state;
	at = (size_t)sprintf(text, HEADER "0,1,read,");
	memset(text + at, 'x', PATH_BYTES_MAX + 1);
	strcpy(text + at + PATH_BYTES_MAX + 1, ",0,1\n");
	assert_false(trace_read(&list, file_write("a.csv", text, strlen(text)), NULL, &error));
	assert_string_equal(error.message, "path is 4096 bytes long (at most 4095)");
	op_list_deinit(&list);

	strcpy(text + at + PATH_BYTES_MAX, ",0,1\n");
	assert_true(trace_read(&list, file_write("a.csv", text, strlen(text)), NULL, &error));
	assert_int_equal(strlen(list_path(&list, 0)), PATH_BYTES_MAX);
	op_list_deinit(&list);

	/* A row that never ends must not be kept in memory to its end. */
	memset(text + at, 'x', 150000);
	strcpy(text + at + 150000, ",0,1\n");
	strcat(text + at, good);
	assert_false(trace_read(&list, file_write("a.csv", text, strlen(text)), NULL, &error));
	assert_string_equal(error.message, "the row is longer than 64 KiB");
	assert_int_equal(error.line, 2);
	op_list_deinit(&list);
	assert_true(trace_read(&list, file_write("a.csv", text, strlen(text)), &lenient, &error));
	assert_int_equal(list.ops.count, 400);
	op_list_deinit(&list);
	memory_free(good);
	memory_free(text);
}

static void a_file_without_operations_is_an_error(void **state)
{
	struct op_list list;
	struct error error;

	(void)state;
	assert_false(trace_read(&list, file_write("a.csv", "", 0), NULL, &error));
	assert_string_equal(error.message, "is empty: no operations");
	assert_string_equal(error.file, file_name("a.csv"));
	op_list_deinit(&list);
	assert_false(trace_read(&list, file_write("a.csv", "", 0),
				&(struct trace_options){.format = "csv"}, &error));
	assert_string_equal(error.message, "is empty: no operations");
	op_list_deinit(&list);
	assert_false(trace_read(&list, file_write("a.csv", HEADER, strlen(HEADER)), NULL, &error));
	assert_string_equal(error.message, "holds no operations");
	op_list_deinit(&list);
	assert_false(trace_read(&list, file_write("a.csv", HEADER "x\ny\n", strlen(HEADER) + 4),
				&(struct trace_options){.lenient = true}, &error));
	assert_string_equal(
		error.message,
		"2 of 2 rows cannot be read, and more than 1 % is too many: the first: 1 "
		"field where 6 were expected (time_ns,thread,op,path,offset,bytes)");
	assert_int_equal(error.line, 2);
	op_list_deinit(&list);
}

static void a_missing_or_wrong_header_is_named(void **state)
{
	static const char *const files[] = {
		"0,1,read,a,0,1\n",
		"time_ns,thread,op,path,offset\n0,1,read,a,0,1\n",
		"time,thread,op,path,offset,bytes\n",
		"time_ns,thread,op,path,offset,bytes,more\n",
		"time_ns, thread,op,path,offset,bytes\n",
		("\n" HEADER),
		"some prose\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct op_list list;
		struct error error;

		assert_false(trace_read(&list, file_write("a.csv", files[i], strlen(files[i])),
					NULL, &error));
		assert_string_equal(error.message, "the header line was expected: "
						   "time_ns,thread,op,path,offset,bytes (of "
						   "another text, --columns says what is where)");
		assert_int_equal(error.line, 1);
		assert_int_equal(error.column, 1);
		op_list_deinit(&list);
	}
}

static void lenient_leaves_out_the_wrong_rows_and_counts_them(void **state)
{
	static const char start[] = HEADER "0,1,read,a,0,1\n"
					   "0,1,raed,a,0,1\n"
					   "9,1,read,a,0,1\n"
					   "5,1,read,a,0,1\n"
					   "9,1,read,\"a,0,1\n"
					   "10,1,read,b,0,1\n";
	char *good = rows_repeated("10,1,read,b,0,1\n", 394), *text = memory_alloc(16384, 1);
	struct op_list list;
	struct error error;

	(void)state;
	/* 4 of 401: within 1 % ... */
	sprintf(text, "%s%snonsense", start, good);
	assert_true(trace_read(&list, file_write("a.csv", text, strlen(text)),
			       &(struct trace_options){.lenient = true}, &error));
	assert_int_equal(list.ops.count, 397);
	assert_int_equal(list.skipped, 4);
	assert_int_equal(trace_rows(list.source), 401);
	assert_int_equal(list.ops.at[2].time_ns, 10);
	/* ... each told with its line ... */
	for (size_t i = 0; i < 4; i++) {
		static const unsigned int lines[] = {3, 5, 6, 402};

		assert_int_equal(trace_note_at(list.source, i)->line, lines[i]);
		assert_string_equal(trace_note_at(list.source, i)->key, "skipped_row");
		assert_true(trace_note_at(list.source, i)->is_warning);
	}
	assert_null(trace_note_at(list.source, 4));
	op_list_deinit(&list);
	/* ... and one more is too many, in any case. */
	strcat(text, "\nnonsense");
	assert_false(trace_read(&list, file_write("a.csv", text, strlen(text)),
				&(struct trace_options){.lenient = true}, &error));
	assert_int_equal(list.ops.count, 397);
	assert_int_equal(error.line, 3);
	assert_string_equal(
		error.message,
		"5 of 402 rows cannot be read, and more than 1 % is too many: the first: "
		"unknown op \"raed\" (nearest: read)");
	op_list_deinit(&list);
	memory_free(good);
	memory_free(text);
}

/* The quick reader and the careful one must agree: the same random rows, once plain and once with all fields quoted. */
static void quotes_change_nothing_about_a_row(void **state)
{
	FILE *plain = fopen(file_name("plain.csv"), "w"),
	     *quoted = fopen(file_name("quoted.csv"), "w");
	struct op_list a, b;
	struct random random;
	struct error error;
	uint64_t time_ns = 0;

	(void)state;
	random_init(&random, 5, 0);
	fputs(HEADER, plain);
	fputs(HEADER, quoted);
	for (int i = 0; i < 100000; i++) {
		unsigned int kind = (unsigned int)random_below(&random, OP_KIND_COUNT);
		uint64_t offset = random_next(&random) >> (2 + random_below(&random, 60));
		uint64_t bytes = random_next(&random) >> (2 + random_below(&random, 60));
		unsigned int thread =
			(unsigned int)(random_next(&random) >> (32 + random_below(&random, 32)));
		char path[100];
		const char *name = op_kind_name((enum op_kind)kind);

		time_ns += random_next(&random) >> (20 + random_below(&random, 44));
		time_ns &= INT64_MAX;
		snprintf(path, sizeof(path), "d/%u/%u%s", (unsigned int)random_below(&random, 9),
			 (unsigned int)random_below(&random, 5000),
			 op_kind_has_two_paths(kind) ? ">b" : "");
		fprintf(plain, "%llu,%u,%s,%s,%llu,%llu%s", (unsigned long long)time_ns, thread,
			name, path, (unsigned long long)offset, (unsigned long long)bytes,
			random_below(&random, 2) ? "\n" : "\r\n");
		fprintf(quoted, "\"%llu\",\"%u\",\"%s\",\"%s\",\"%llu\",\"%llu\"\n",
			(unsigned long long)time_ns, thread, name, path, (unsigned long long)offset,
			(unsigned long long)bytes);
	}
	fclose(plain);
	fclose(quoted);
	assert_true(trace_read(&a, file_name("plain.csv"), NULL, &error));
	assert_true(trace_read(&b, file_name("quoted.csv"), NULL, &error));
	assert_int_equal(a.ops.count, 100000);
	op_lists_are_equal(&a, &b);
	assert_int_equal(path_count(a.source->paths), path_count(b.source->paths));
	op_list_deinit(&a);
	op_list_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_design_is_read),
		cmocka_unit_test(line_ends_marks_and_a_missing_last_end_are_forgiven),
		cmocka_unit_test(a_quoted_path_may_hold_commas_quotes_and_line_ends),
		cmocka_unit_test(a_rename_may_write_an_arrow_in_a_name_twice),
		cmocka_unit_test(what_is_of_no_file_needs_no_path),
		cmocka_unit_test(the_largest_numbers_are_read),
		cmocka_unit_test(every_mistake_is_named_with_its_place),
		cmocka_unit_test(the_error_screen_has_all_it_shows),
		cmocka_unit_test(bytes_that_are_no_text_are_called_so),
		cmocka_unit_test(a_path_too_long_is_refused_and_the_longest_is_not),
		cmocka_unit_test(a_file_without_operations_is_an_error),
		cmocka_unit_test(a_missing_or_wrong_header_is_named),
		cmocka_unit_test(lenient_leaves_out_the_wrong_rows_and_counts_them),
		cmocka_unit_test(quotes_change_nothing_about_a_row),
	};

	return cmocka_run_group_tests_name("csv", tests, folder_create, folder_destroy);
}
