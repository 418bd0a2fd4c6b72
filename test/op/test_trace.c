/*
 * If this fails, a recording of yesterday cannot be replayed tomorrow: it was written wrong, or a disk that filled up or a
 * byte that fell over takes the whole of it, or, worst, gives other operations than were recorded.
 */
#include "op_test.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "base/random.h"
#include "base/size.h"
#include "op/import.h"
#include "op/native.h"

static const struct trace_options lenient = {.lenient = true};

/* Ops that a generator might make: every kind, names of any bytes, times and ranges near and far. */
static struct op_list ops_random(uint64_t seed, size_t count)
{
	struct op_list list = {0};
	struct import *owner = memory_alloc(1, sizeof(*owner));
	struct random random;
	uint64_t time_ns = 0, ends[40] = {0};

	list.source = &owner->source;
	list.source->paths = path_table_create();
	random_init(&random, seed, 0);
	for (size_t i = 0; i < count; i++) {
		struct op op = {.kind = (uint8_t)random_below(&random, OP_KIND_COUNT)};
		size_t which = random_below(&random, 40);
		char path[48];
		size_t bytes = 1 + random_below(&random, 40);

		if (random_below(&random, 20)) {
			bytes = (size_t)snprintf(path, sizeof(path), "f%zu", which);
		} else {
			for (size_t j = 0; j < bytes; j++)
				path[j] = (char)(1 + random_below(&random, 255));
		}
		op.path = path_intern(list.source->paths, path, bytes);
		if (op_kind_has_two_paths(op.kind))
			op.path_to = path_intern(list.source->paths, path, 1 + bytes / 2);
		time_ns += random_next(&random) >> (30 + random_below(&random, 34));
		op.time_ns = time_ns;
		op.thread = random_below(&random, 9) ? 3 : (uint32_t)random_next(&random);
		switch (random_below(&random, 4)) {
		case 0:
			op.offset = ends[which];
			op.bytes = 8192;
			break;
		case 1:
			op.offset = random_below(&random, 1000) * 4096;
			op.bytes = random_below(&random, 100);
			break;
		case 2:
			op.offset = random_next(&random) >> (1 + random_below(&random, 63));
			op.bytes = (OP_END_MAX - op.offset) >> random_below(&random, 63);
			break;
		default:
			break;
		}
		ends[which] = op.offset + op.bytes < OP_END_MAX / 2 ? op.offset + op.bytes : 0;
		*array_push(&list.ops) = op;
	}
	return list;
}

static void ops_random_end(struct op_list *list)
{
	array_deinit(&list->ops);
	path_table_destroy(list->source->paths);
	memory_free(list->source);
}

static void what_is_written_is_read_again(void **state)
{
	static const size_t counts[] = {1, 2, 17, 1000, 65535, 65536, 65537, 200000};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct op_list written = ops_random(i + 1, counts[i]), read;
		struct error error;

		op_list_write(&written, file_name("a.rft"));
		if (!trace_read(&read, file_name("a.rft"), NULL, &error))
			fail_msg("%s", error.message);
		op_lists_are_equal(&written, &read);
		assert_string_equal(read.source->format, "refault-trace");
		op_list_deinit(&read);
		ops_random_end(&written);
	}
}

static void many_long_paths_fill_a_block_early(void **state)
{
	struct op_list written = {0}, read;
	struct import *owner = memory_alloc(1, sizeof(*owner));
	struct random random;
	char path[PATH_BYTES_MAX];
	struct error error;

	(void)state;
	written.source = &owner->source;
	owner->source.paths = path_table_create();
	random_init(&random, 3, 0);
	for (int i = 0; i < 3000; i++) {
		struct op op = {.kind = OP_STAT};

		for (size_t j = 0; j < sizeof(path); j++)
			path[j] = (char)(1 + random_below(&random, 255));
		op.path = path_intern(owner->source.paths, path, sizeof(path));
		*array_push(&written.ops) = op;
	}
	op_list_write(&written, file_name("a.rft"));
	assert_true(trace_read(&read, file_name("a.rft"), NULL, &error));
	op_lists_are_equal(&written, &read);
	op_list_deinit(&read);
	ops_random_end(&written);
}

/* Three whole blocks and a few ops, regular enough to be a small file. */
static struct op_list ops_regular(void)
{
	enum { COUNT = 3 * NATIVE_BLOCK_OPS_MAX + 100 };
	struct op_list list = {0};
	struct import *owner = memory_alloc(1, sizeof(*owner));

	list.source = &owner->source;
	owner->source.paths = path_table_create();
	for (uint64_t i = 0; i < COUNT; i++) {
		struct op op = {
			.kind = OP_READ, .time_ns = i * 1000, .offset = i * 4096, .bytes = 4096};
		char path[16];
		size_t bytes = (size_t)snprintf(path, sizeof(path), "p%llu",
						(unsigned long long)(i / 30000));

		op.path = path_intern(owner->source.paths, path, bytes);
		*array_push(&list.ops) = op;
	}
	return list;
}

static size_t whole_blocks_of(size_t ops)
{
	return ops % NATIVE_BLOCK_OPS_MAX ? 4 : ops / NATIVE_BLOCK_OPS_MAX;
}

static void is_beginning_of(const struct op_list *part, const struct op_list *all)
{
	assert_true(part->ops.count <= all->ops.count);
	for (size_t i = 0; i < part->ops.count; i++) {
		if (part->ops.at[i].offset != all->ops.at[i].offset ||
		    part->ops.at[i].time_ns != all->ops.at[i].time_ns ||
		    part->ops.at[i].path != all->ops.at[i].path)
			fail_msg("op %zu is another one", i);
	}
}

static void a_file_cut_off_is_good_up_to_its_last_whole_block(void **state)
{
	struct op_list written = ops_regular(), read;
	size_t bytes, step = 11;
	unsigned char *file;
	struct error error;
	bool seen[5] = {false};

	(void)state;
	op_list_write(&written, file_name("whole.rft"));
	file = file_read(file_name("whole.rft"), &bytes);
	for (size_t cut = 5; cut < bytes; cut += cut + step < bytes ? step : 1) {
		const char *path = file_write("cut.rft", file, cut);
		char message[100], ops[2 * SIZE_TEXT_BYTES];
		size_t blocks;

		assert_false(trace_read(&read, path, NULL, &error));
		assert_true(read.is_cut_off || !read.source);
		blocks = whole_blocks_of(read.ops.count);
		seen[blocks] = true;
		snprintf(message, sizeof(message), "cut off after %s ops (%zu whole block%s)",
			 count_format(ops, read.ops.count), blocks, blocks == 1 ? "" : "s");
		assert_string_equal(error.message, message);
		assert_int_equal(error.kind, ERROR_INPUT);
		is_beginning_of(&read, &written);
		op_list_deinit(&read);

		if (blocks == 0)
			continue;
		assert_true(trace_read(&read, path, &lenient, &error));
		assert_int_equal(read.skipped, 0); /* no row was wrong */
		assert_true(read.is_cut_off);
		assert_int_equal(whole_blocks_of(read.ops.count), blocks);
		op_list_deinit(&read);
	}
	for (int i = 0; i < 5; i++)
		assert_true(seen[i]);
	memory_free(file);
	ops_random_end(&written);
}

static void a_byte_that_fell_over_never_gives_other_ops(void **state)
{
	struct op_list written = ops_random(9, 300), read;
	size_t bytes;
	unsigned char *file;
	struct error error;

	(void)state;
	op_list_write(&written, file_name("whole.rft"));
	file = file_read(file_name("whole.rft"), &bytes);
	for (size_t i = 4; i < bytes; i += i < 120 ? 1 : 7) {
		file[i] ^= (unsigned char)(1 << i % 8);
		assert_false(
			trace_read(&read, file_write("broken.rft", file, bytes), NULL, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
		/* All 300 are in one block: it is right, or it is not delivered. */
		assert_true(read.ops.count == 0 || read.ops.count == 300);
		op_list_deinit(&read);
		file[i] ^= (unsigned char)(1 << i % 8);
	}
	memory_free(file);
	ops_random_end(&written);
}

static void damage_is_named(void **state)
{
	struct op_list written = ops_regular(), read;
	size_t bytes, body;
	unsigned char *file;
	struct error error;

	(void)state;
	op_list_write(&written, file_name("whole.rft"));
	file = file_read(file_name("whole.rft"), &bytes);
	body = native_get32(file + NATIVE_FILE_HEADER_BYTES + NATIVE_AT_BODY_BYTES);

	file[NATIVE_FILE_HEADER_BYTES + NATIVE_BLOCK_HEADER_BYTES + body +
	     NATIVE_BLOCK_HEADER_BYTES + 3] ^= 1;
	assert_false(trace_read(&read, file_write("a.rft", file, bytes), NULL, &error));
	assert_string_equal(error.message,
			    "block 2 is damaged: its checksum does not match (65,536 ops "
			    "in 1 whole blocks before it)");
	assert_int_equal(read.ops.count, 65536);
	op_list_deinit(&read);
	assert_false(trace_read(&read, file_name("a.rft"), &lenient, &error));
	op_list_deinit(&read);

	native_put32(file + NATIVE_FILE_HEADER_BYTES + NATIVE_AT_BODY_BYTES, UINT32_MAX);
	assert_false(trace_read(&read, file_write("a.rft", file, bytes), NULL, &error));
	assert_string_equal(error.message,
			    "block 1 is damaged: its header makes no sense (0 ops in 0 "
			    "whole blocks before it)");
	op_list_deinit(&read);
	native_put32(file + NATIVE_FILE_HEADER_BYTES + NATIVE_AT_BODY_BYTES, NATIVE_BODY_BYTES_MAX);
	assert_false(trace_read(&read, file_write("a.rft", file, bytes), NULL, &error));
	assert_string_equal(error.message, "cut off after 0 ops (0 whole blocks)");
	op_list_deinit(&read);

	native_put32(file + 8, 7);
	assert_false(trace_read(&read, file_write("a.rft", file, bytes), NULL, &error));
	assert_string_equal(
		error.message,
		"is in version 7 of the trace format; this refault reads versions 1 and 2");
	op_list_deinit(&read);
	native_put32(file + 8, 1);
	file[13] ^= 1;
	assert_false(trace_read(&read, file_write("a.rft", file, bytes), NULL, &error));
	assert_string_equal(error.message, "has a damaged header: its checksum does not match");
	op_list_deinit(&read);
	memcpy(file + 4, "\n\x1a\n\n", 4);
	assert_false(trace_read(&read, file_write("a.rft", file, bytes), NULL, &error));
	assert_string_equal(error.message,
			    "is a refault trace with its line ends changed: copy it as binary");
	op_list_deinit(&read);
	memory_free(file);
	ops_random_end(&written);
}

static char *const stream_names[] = {NULL, "wal", "heap", "wal:2"};

/* Ops of three streams, under a head that tells two facts. */
static void write_with_head(struct op_list *list, const char *path, const struct trace_head *head)
{
	struct error error;
	struct trace_writer *writer = trace_writer_create(path, &error);

	assert_non_null(writer);
	for (size_t i = 0; i < list->ops.count; i++)
		list->ops.at[i].stream = (uint16_t)(i % 4);
	assert_true(trace_writer_head(writer, head, &error));
	assert_true(trace_write(writer, list->source, list->ops.at, list->ops.count, &error));
	assert_true(trace_writer_close(writer, &error));
}

static void a_head_tells_facts_and_names_streams(void **state)
{
	const struct trace_options own = {.own_streams = true};
	const struct trace_head head = {"kernel=6.18\ncommand=a=b\n", stream_names, 4};
	struct op_list written = ops_random(5, 70000), read;
	struct error error;
	char value[4];

	(void)state;
	write_with_head(&written, file_name("a.rft"), &head);
	assert_true(trace_read(&read, file_name("a.rft"), &own, &error));
	assert_int_equal(read.ops.count, 70000);
	for (size_t i = 0; i < read.ops.count; i++)
		assert_int_equal(read.ops.at[i].stream, i % 4);
	assert_int_equal(read.source->stream_count, 4);
	assert_string_equal(read.source->stream_names[3], "wal:2");
	assert_string_equal(trace_facts(read.source), "kernel=6.18\ncommand=a=b\n");
	assert_true(trace_fact(read.source, "kernel", value, sizeof(value)));
	assert_string_equal(value, "6.1"); /* cut to fit */
	assert_true(trace_fact(read.source, "command", value, sizeof(value)));
	assert_string_equal(value, "a=b");
	assert_false(trace_fact(read.source, "kern", value, sizeof(value)));
	assert_false(trace_fact(read.source, "b", value, sizeof(value)));
	op_list_deinit(&read);
	/* Who has streams of his own does not want these. */
	assert_true(trace_read(&read, file_name("a.rft"), NULL, &error));
	assert_null(read.source->stream_names);
	assert_int_equal(read.ops.at[1].stream, 0);
	op_list_deinit(&read);
	ops_random_end(&written);
}

/* What was lost while it was recorded, and what an importer had to say, must reach whoever replays it. */
static void what_was_lost_and_noted_is_told_again(void **state)
{
	const struct trace_head head = {"recorded=all\nevents_lost=7\nevents_skipped=0\n"
					"inserted_pages=10\ninserted_pages_by_calls=6\n"
					"inserted_pages_by_faults=3\n",
					NULL, 0};
	static const char *const told[] = {
		("mapped pages that are used again are not in a recording: only a page's first use "
		 "faults"),
		"7 events did not fit the recorder's buffer: what they told is missing",
		"0 events came in the middle of others, and are missing",
		"2 rows are odd (the first in line 12)",
		"clocks disagree",
	};
	struct op_list written = ops_random(6, 3000), read;
	uint64_t explained, inserted, span_ns;
	char text[TRACE_NOTE_BYTES];
	struct trace_writer *writer;
	struct error error;

	(void)state;
	writer = trace_writer_create(file_name("a.rft"), &error);
	assert_non_null(writer);
	assert_true(trace_writer_head(writer, &head, &error));
	assert_true(trace_write(writer, written.source, written.ops.at, written.ops.count, &error));
	assert_true(trace_writer_tail(writer,
				      "note=odd_rows 2 12 rows are odd\n"
				      "warning=clocks - - clocks disagree\nspan_ns=5000\n"
				      "note=of another tool\n",
				      &error));
	assert_true(trace_writer_close(writer, &error));
	assert_true(trace_read(&read, file_name("a.rft"), NULL, &error));
	assert_int_equal(read.ops.count, 3000);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const struct trace_note *note = trace_note_at(read.source, i);

		assert_non_null(note);
		assert_string_equal(trace_note_format(text, note), told[i]);
		assert_int_equal(note->is_warning, i == 1 || i == 2 || i == 4);
	}
	assert_null(trace_note_at(read.source, sizeof(told) / sizeof(told[0])));
	assert_true(trace_coverage(read.source, &explained, &inserted));
	assert_int_equal(explained, 9);
	assert_int_equal(inserted, 10);
	assert_true(trace_span(read.source, &span_ns));
	assert_int_equal(span_ns, 5000);
	op_list_deinit(&read);
	ops_random_end(&written);
}

static void a_trace_without_a_head_is_what_it_always_was(void **state)
{
	struct op_list written = ops_random(4, 50), read;
	struct error error;
	unsigned char *file;
	size_t bytes;

	(void)state;
	op_list_write(&written, file_name("a.rft"));
	file = file_read(file_name("a.rft"), &bytes);
	assert_int_equal(native_get32(file + 8), 1);
	memory_free(file);
	assert_true(trace_read(&read, file_name("a.rft"), NULL, &error));
	assert_string_equal(trace_facts(read.source), "");
	op_list_deinit(&read);
	ops_random_end(&written);
}

static void a_damaged_head_is_named(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		bool is_summed; /* the checksum is made right again */
		const char *message;
	} cases[] = {
		{NATIVE_AT_MARK, NATIVE_MARK_BLOCK, true, "the head before it makes no sense"},
		{NATIVE_AT_PATHS, 2000, true, "the head before it makes no sense"},
		{NATIVE_AT_TEXT_BYTES, 1 << 30, true, "the head before it makes no sense"},
		{NATIVE_AT_PATHS, 5, true, "a stream has no name"},
		{NATIVE_AT_PATHS, 3, true, "there is more in it than its head"},
		{NATIVE_AT_PATHS, 0, true, "there is more in it than its head"},
		{NATIVE_AT_TEXT_BYTES, 11, true, "what it tells of itself is not lines"},
		{NATIVE_AT_ZERO, 1, false, "the checksum of the head before it does not match"},
	};
	const struct trace_options own = {.own_streams = true};
	const struct trace_head head = {"kernel=6.18\n", stream_names, 4};
	struct op_list written = ops_random(5, 50), read;
	struct error error;

	(void)state;
	write_with_head(&written, file_name("a.rft"), &head);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes;
		unsigned char *file = file_read(file_name("a.rft"), &bytes);
		unsigned char *header = file + NATIVE_FILE_HEADER_BYTES;
		size_t body = native_get32(header + NATIVE_AT_BODY_BYTES);

		native_put32(header + cases[i].at, cases[i].value);
		if (cases[i].is_summed)
			native_put64(
				header + NATIVE_AT_CHECKSUM,
				native_checksum(header, header + NATIVE_BLOCK_HEADER_BYTES, body));
		assert_false(trace_read(&read, file_write("b.rft", file, bytes), &own, &error));
		if (!strstr(error.message, cases[i].message))
			fail_msg("case %zu: %s", i, error.message);
		op_list_deinit(&read);
		memory_free(file);
	}
	ops_random_end(&written);
}

static void nothing_may_follow_the_end(void **state)
{
	struct op_list written = ops_random(4, 50), read;
	size_t bytes;
	unsigned char *file, *twice;
	struct error error;

	(void)state;
	op_list_write(&written, file_name("a.rft"));
	file = file_read(file_name("a.rft"), &bytes);
	twice = memory_alloc(2, bytes);
	memcpy(twice, file, bytes);
	memcpy(twice + bytes, file, bytes);
	assert_false(trace_read(&read, file_write("b.rft", twice, 2 * bytes), NULL, &error));
	assert_string_equal(error.message,
			    "has bytes behind its end (are these two traces in one file?)");
	assert_int_equal(read.ops.count, 50);
	op_list_deinit(&read);
	memory_free(file);
	memory_free(twice);
	ops_random_end(&written);
}

static void a_writer_refuses_what_no_trace_may_hold(void **state)
{
	struct op_list list = ops_random(4, 2);
	struct error error;
	struct trace_writer *writer = trace_writer_create(file_name("never.rft"), &error);
	struct op ops[2] = {{.time_ns = 5, .kind = OP_READ}, {.time_ns = 4, .kind = OP_READ}};

	(void)state;
	assert_false(trace_write(writer, list.source, ops, 2, &error));
	assert_string_equal(error.message, "op 2 at 4 ns cannot follow one at 5 ns in a trace");
	ops[1] = (struct op){.time_ns = 5, .offset = OP_END_MAX, .bytes = 1};
	assert_false(trace_write(writer, list.source, &ops[1], 1, &error));
	assert_string_equal(error.message,
			    "op 2 ends beyond 2^63 bytes: offset 9223372036854775808, bytes 1");
	trace_writer_abandon(writer);
	assert_int_not_equal(access(file_name("never.rft"), F_OK), 0);
	ops_random_end(&list);
}

static void a_writer_that_fails_leaves_nothing_behind(void **state)
{
	struct op_list list = ops_random(4, 100000);
	struct rlimit old, small;
	struct error error = {0};
	struct trace_writer *writer;
	bool fine = true;

	(void)state;
	folder_count(1);
	file_write("a.rft", "precious", 8);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 100000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	writer = trace_writer_create(file_name("a.rft"), &error);
	assert_non_null(writer);
	fine = trace_write(writer, list.source, list.ops.at, list.ops.count, &error);
	assert_int_equal(folder_count(0), 1 + (trace_writer_leftover(writer) != NULL));
	if (fine)
		fine = trace_writer_close(writer, &error);
	else
		trace_writer_abandon(writer);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_false(fine);
	assert_int_equal(error.kind, ERROR_FAILED);
	assert_non_null(strstr(error.message, "File too large"));
	assert_int_equal(folder_count(0), 1);
	memory_free(file_read(file_name("a.rft"), &(size_t){0}));
	ops_random_end(&list);

	assert_null(trace_writer_create(file_name("no/such/a.rft"), &error));
	assert_non_null(strstr(error.message, "No such file or directory"));
	assert_null(trace_writer_create(test_folder, &error));
	assert_non_null(strstr(error.message, "is a directory: a trace must be a regular file"));
	assert_null(trace_writer_create("/dev/null", &error));
	assert_string_equal(error.message,
			    "/dev/null is not a file: a trace must be a regular file");
	assert_int_equal(folder_count(0), 1);
}

static void a_trace_replaces_the_one_before_through_links(void **state)
{
	struct op_list written = ops_random(4, 10), read;
	struct stat status;
	struct error error;
	mode_t mask = umask(027);

	(void)state;
	folder_count(1);
	file_write("real.rft", "old", 3);
	assert_int_equal(symlink("real.rft", file_name("link.rft")), 0);
	op_list_write(&written, file_name("link.rft"));
	umask(mask);
	assert_int_equal(lstat(file_name("link.rft"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(file_name("real.rft"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_true(trace_read(&read, file_name("real.rft"), NULL, &error));
	op_lists_are_equal(&written, &read);
	op_list_deinit(&read);
	assert_int_equal(folder_count(0), 2);
	ops_random_end(&written);
}

/* `count` rows of CSV. */
static char *csv_text(size_t count, size_t *bytes)
{
	size_t room = 64 + count * 64, used;
	char *text = memory_alloc(room, 1);

	used = (size_t)snprintf(text, room, "time_ns,thread,op,path,offset,bytes\n");
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, room - used, "%zu,1,read,heap%zu,%zu,8192\n",
					 i * 1000, i % 7, i * i % 1000 * 8192);
	*bytes = used;
	return text;
}

static size_t pack(const char *how, unsigned char *to, size_t room, const char *from, size_t bytes)
{
	if (strcmp(how, "zst") == 0) {
		return ZSTD_compress(to, room, from, bytes, 3);
	} else if (strcmp(how, "gz") == 0) {
		z_stream stream = {0};
		size_t packed;

		assert_int_equal(
			deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
		stream.next_in = (unsigned char *)(uintptr_t)from;
		stream.avail_in = (unsigned int)bytes;
		stream.next_out = to;
		stream.avail_out = (unsigned int)room;
		assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
		packed = stream.total_out;
		deflateEnd(&stream);
		return packed;
	} else {
		size_t packed = 0;

		assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL,
							 (const uint8_t *)from, bytes, to, &packed,
							 room),
				 LZMA_OK);
		return packed;
	}
}

static const char *const packings[] = {"zst", "gz", "xz"};
static const char *const packing_names[] = {"zstd", "gzip", "xz"};

/* Two halves packed apart and put together, as `cat` and parallel compressors do. */
static unsigned char *pack_halves(const char *how, const char *text, size_t bytes, size_t *packed)
{
	size_t room = 2 * bytes + 1000, half = bytes / 2 + 13;
	unsigned char *file = memory_alloc(room, 1);

	*packed = pack(how, file, room, text, half);
	*packed += pack(how, file + *packed, room - *packed, text + half, bytes - half);
	return file;
}

static void packed_traces_are_unpacked_on_the_way(void **state)
{
	size_t bytes, packed;
	char *text = csv_text(60000, &bytes);
	struct op_list plain, list;
	struct error error;

	(void)state;
	assert_true(trace_read(&plain, file_write("a.csv", text, bytes), NULL, &error));
	for (size_t i = 0; i < 3; i++) {
		unsigned char *file = pack_halves(packings[i], text, bytes, &packed);
		uint64_t done, total;

		if (!trace_read(&list, file_write("a.csv.packed", file, packed), NULL, &error))
			fail_msg("%s: %s", packings[i], error.message);
		op_lists_are_equal(&plain, &list);
		list.source->interface->progress(list.source, &done, &total);
		assert_int_equal(done, packed);
		assert_int_equal(total, packed);
		op_list_deinit(&list);
		memory_free(file);
	}
	op_list_deinit(&plain);
	memory_free(text);
}

static void packed_data_cut_off_says_how_far_it_came(void **state)
{
	size_t bytes, packed;
	char *text = csv_text(3000, &bytes);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		unsigned char *file = pack_halves(packings[i], text, bytes, &packed);
		char start[100];

		snprintf(start, sizeof(start), "cut off: its %s data ends in the middle, after ",
			 packing_names[i]);
		for (size_t cut = 6; cut < packed; cut += 97) {
			const char *path = file_write("a.csv.packed", file, cut);
			struct op_list list, mild;
			struct error error;
			bool fine = trace_read(&list, path, NULL, &error);

			/* Between the halves nothing shows the cut but a row in two; there the CSV reader speaks. */
			if (fine)
				fail_msg("%s cut after %zu bytes was not noticed", packings[i],
					 cut);
			if (memcmp(error.message, start, strlen(start)) != 0 && error.line == 0)
				fail_msg("%s cut after %zu: %s", packings[i], cut, error.message);
			if (list.ops.count) {
				assert_true(trace_read(&mild, path, &lenient, &error));
				op_lists_are_equal(&list, &mild);
				/* What is left of the last row is a wrong one. */
				assert_int_equal(mild.skipped + mild.is_cut_off, 1);
				op_list_deinit(&mild);
			}
			op_list_deinit(&list);
		}
		memory_free(file);
	}
	memory_free(text);
}

static void damaged_packed_data_is_an_error(void **state)
{
	size_t bytes, packed;
	char *text = csv_text(3000, &bytes);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		unsigned char *file = pack_halves(packings[i], text, bytes, &packed);
		struct op_list list;
		struct error error;

		memset(file + packed / 3, 0x55, 40);
		assert_false(
			trace_read(&list, file_write("a.csv.packed", file, packed), NULL, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
		op_list_deinit(&list);
		memory_free(file);
	}
	memory_free(text);
}

static void bytes_behind_packed_data_are_an_error(void **state)
{
	size_t bytes, packed;
	char *text = csv_text(100, &bytes);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		unsigned char *file = memory_alloc(2 * bytes + 1000, 1);
		struct op_list list;
		struct error error;

		packed = pack(packings[i], file, 2 * bytes, text, bytes);
		memcpy(file + packed, "garbage, and more of it", 23);
		assert_false(trace_read(&list, file_write("a.csv.packed", file, packed + 23), NULL,
					&error));
		assert_int_equal(list.ops.count, 100);
		assert_int_equal(error.kind, ERROR_INPUT);
		op_list_deinit(&list);
		memory_free(file);
	}
	memory_free(text);
}

static void a_native_trace_may_be_packed_and_cut_off_too(void **state)
{
	struct op_list written = ops_regular(), list;
	size_t bytes, packed;
	unsigned char *file, *zst;
	struct error error;

	(void)state;
	op_list_write(&written, file_name("a.rft"));
	file = file_read(file_name("a.rft"), &bytes);
	zst = memory_alloc(bytes + 1000, 1);
	packed = pack("zst", zst, bytes + 1000, (const char *)file, bytes);
	assert_true(trace_read(&list, file_write("a.rft.zst", zst, packed), NULL, &error));
	op_lists_are_equal(&written, &list);
	op_list_deinit(&list);
	assert_false(trace_read(&list, file_write("a.rft.zst", zst, packed - 5), NULL, &error));
	assert_non_null(strstr(error.message, "cut off"));
	op_list_deinit(&list);
	memory_free(file);
	memory_free(zst);
	ops_random_end(&written);
}

static void opening_what_cannot_be_opened_says_why(void **state)
{
	struct op_list list;
	struct error error;
	char message[300];

	(void)state;
	assert_false(trace_read(&list, file_name("none.csv"), NULL, &error));
	snprintf(message, sizeof(message), "cannot open %s: No such file or directory",
		 file_name("none.csv"));
	assert_string_equal(error.message, message);
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_false(trace_read(&list, test_folder, NULL, &error));
	snprintf(message, sizeof(message), "cannot read %s: Is a directory", test_folder);
	assert_string_equal(error.message, message);
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_false(trace_read(&list, file_write("a.csv", "x", 1),
				&(struct trace_options){.format = "xml"}, &error));
	assert_non_null(strstr(error.message, "no trace format \"xml\" (known: refault-trace, csv, "
					      "oracleGeneral, "));
}

static void what_is_no_trace_is_not_taken_for_one(void **state)
{
	struct op_list list;
	struct error error;
	unsigned char noise[8192];
	struct random random;

	(void)state;
	random_init(&random, 1, 0);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (unsigned char)random_next(&random);
	assert_false(trace_read(&list, file_write("noise", noise, sizeof(noise)), NULL, &error));
	assert_non_null(strstr(error.message,
			       "is not a trace in any known format (refault-trace, csv, "
			       "oracleGeneral, "));
	assert_non_null(strstr(error.message, "); what it holds is not text"));
	memset(noise, 0, sizeof(noise));
	assert_false(trace_read(&list, file_write("zeros", noise, sizeof(noise)), NULL, &error));
	assert_false(trace_read(&list, file_write("image", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16),
				NULL, &error));
	memcpy(noise + 257, "ustar", 5);
	assert_false(trace_read(&list, file_write("tar", noise, sizeof(noise)), NULL, &error));
	assert_non_null(strstr(error.message, "is a tar archive"));
	memset(noise, 0, sizeof(noise));
	assert_false(trace_read(&list, file_write("noise", noise, 1), NULL, &error));
	assert_false(trace_read(&list, file_write("noise", "\x28\xb5\x2f\xfd", 4), NULL, &error));
	assert_string_equal(
		error.message,
		"cut off: its zstd data ends in the middle, after 4 bytes (0 unpacked)");
}

static void record_put(unsigned char *at, uint32_t time_s, uint64_t id, uint32_t size, int64_t next)
{
	native_put32(at, time_s);
	native_put64(at + 4, id);
	native_put32(at + 12, size);
	native_put64(at + 16, (uint64_t)next);
}

static void an_oracle_general_record_is_a_read_of_one_page(void **state)
{
	unsigned char file[5 * 24];
	struct op_list list;
	struct error error;

	(void)state;
	record_put(file, 7, 5, 512, 4);
	record_put(file + 24, 7, 0, 4096, -1);
	record_put(file + 48, 8, UINT64_C(1) << 51, 1, -1);
	record_put(file + 72, 9, UINT64_MAX, 1, -1);
	record_put(file + 96, 9, 5, 512, -1);
	assert_true(trace_read(&list, file_write("a.bin", file, sizeof(file)), NULL, &error));
	assert_int_equal(list.ops.count, 5);
	assert_string_equal(list.source->format, "oracleGeneral");
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(list.ops.at[i].kind, OP_READ);
		assert_int_equal(list.ops.at[i].bytes, 4096);
		assert_true(list.ops.at[i].offset <= OP_END_MAX - 4096);
	}
	assert_int_equal(list.ops.at[0].offset, 5 * 4096);
	assert_int_equal(list.ops.at[0].time_ns, UINT64_C(7000000000));
	assert_string_equal(list_path(&list, list.ops.at[0].path), "objects");
	assert_string_equal(list_path(&list, list.ops.at[2].path), "objects+1");
	assert_int_equal(list.ops.at[2].offset, 0);
	assert_string_equal(list_path(&list, list.ops.at[3].path), "objects+8191");
	assert_int_equal(list.ops.at[4].path, list.ops.at[0].path);
	op_list_deinit(&list);

	assert_false(trace_read(&list, file_write("a.bin", file, sizeof(file) - 5), NULL, &error));
	assert_string_equal(error.message,
			    "cut off after 4 records: 19 of the next one's 24 bytes are there");
	assert_int_equal(list.ops.count, 4);
	op_list_deinit(&list);

	record_put(file + 96, 8, 5, 512, -1);
	assert_true(trace_read(&list, file_write("a.bin", file, sizeof(file)),
			       &(struct trace_options){.format = "oraclegeneral"}, &error));
	assert_int_equal(list.ops.at[4].time_ns, list.ops.at[3].time_ns);
	assert_string_equal(trace_note_at(list.source, 0)->key, "rows_out_of_order");
	assert_int_equal(trace_note_at(list.source, 0)->count, 1);
	op_list_deinit(&list);
}

static void formats_are_listed(void **state)
{
	(void)state;
	assert_string_equal(trace_format_at(0)->name, "refault-trace");
	assert_string_equal(trace_format_at(1)->name, "csv");
	assert_string_equal(trace_format_at(2)->name, "oracleGeneral");
	for (size_t i = 0; trace_format_at(i); i++) {
		assert_true(strlen(trace_format_at(i)->summary) > 10);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(trace_format_at(i)->name, trace_format_at(j)->name);
	}
}

/* The program's help speaks of "the native format". */
static void our_format_answers_to_native(void **state)
{
	struct op_list written = ops_random(4, 10), read;
	const struct trace_options native = {.format = "native"};
	struct error error;

	(void)state;
	op_list_write(&written, file_name("n.rft"));
	assert_true(trace_read(&read, file_name("n.rft"), &native, &error));
	assert_true(trace_has_files(read.source));
	op_list_deinit(&read);
	ops_random_end(&written);
	assert_true(trace_format_at(2)->is_objects);
}

/* What the machine says of an op: where, but not yet what stands there. */
static struct error op_error_at(const char *path, uint64_t line)
{
	struct error error;

	error_at(&error, path, line, 0, "there is no such file");
	trace_excerpt(path, &error);
	return error;
}

static void a_line_is_found_again(void **state)
{
	static const char head[] = "\xef\xbb\xbftime_ns,thread,op,path,offset,bytes\r\n"
				   "\r\n"
				   "0,1,read,\"a, b\",0,1\r\n";
	size_t bytes, packed_bytes, room = 3 * 1000 * 1000;
	char *text = memory_alloc(room, 1);
	unsigned char *packed;
	struct error error;

	(void)state;
	bytes = (size_t)snprintf(text, room, "%s", head);
	for (int i = 4; i < 50000; i++)
		bytes += (size_t)snprintf(text + bytes, room - bytes, "%d,1,read,file%d,0,1\n", i,
					  i);
	bytes += (size_t)snprintf(text + bytes, room - bytes, "50000,1,read,last,0,1");
	packed_bytes = ZSTD_compressBound(bytes);
	packed = memory_alloc(packed_bytes, 1);
	packed_bytes = ZSTD_compress(packed, packed_bytes, text, bytes, 1);
	file_write("e.csv", text, bytes);
	file_write("e.zst", packed, packed_bytes);
	for (int i = 0; i < 2; i++) {
		const char *path = file_name(i ? "e.zst" : "e.csv");

		error = op_error_at(path, 3);
		assert_string_equal(error.excerpt, "0,1,read,\"a, b\",0,1");
		assert_int_equal(error.column, 10);
		assert_int_equal(error.columns, 6);
		assert_int_equal(error.excerpt_column, 10);
		assert_int_equal(error.line, 3);
		assert_string_equal(error.message, "there is no such file");
		error = op_error_at(path, 49999);
		assert_string_equal(error.excerpt, "49999,1,read,file49999,0,1");
		assert_int_equal(error.column, 14);
		assert_int_equal(error.columns, 9);
		error = op_error_at(path, 50000);
		assert_string_equal(error.excerpt, "50000,1,read,last,0,1");
	}
	memory_free(packed);
	memory_free(text);
}

static void a_line_that_is_not_there_is_not_made_up(void **state)
{
	struct error error;

	(void)state;
	file_write("short.csv", "a\nb\n", 4);
	assert_string_equal(op_error_at(file_name("short.csv"), 3).excerpt, "");
	assert_string_equal(op_error_at(file_name("short.csv"), 0).excerpt, "");
	assert_string_equal(op_error_at(file_name("never.csv"), 1).excerpt, "");
	assert_string_equal(op_error_at(test_folder, 1).excerpt, "");
	assert_string_equal(op_error_at("-", 1).excerpt, "");
	assert_string_equal(op_error_at("/dev/zero", 1).excerpt, "");
	error = op_error_at(file_name("short.csv"), 2);
	assert_string_equal(error.excerpt, "b");
	assert_int_equal(error.column, 0);
}

static void the_published_trace_is_read_as_published(void **state)
{
	const char *path = shared_file("traces/cloudPhysicsIO.oracleGeneral.bin");
	struct op_list list;
	struct error error;
	uint64_t sum = 0;

	(void)state;
	if (!path) {
		print_message("skipped: no ../shared/traces here (REFAULT_SHARED)\n");
		skip();
	}
	assert_true(trace_read(&list, path, NULL, &error));
	assert_int_equal(list.ops.count, 113872);
	for (size_t i = 0; i < list.ops.count; i++)
		sum += (i + 1) * (list.ops.at[i].offset / 4096);
	assert_int_equal(sum, UINT64_C(185480605573491364));
	op_list_deinit(&list);
}

/* Other people's files must be refused in words, not read as something they are not. */
static void formats_not_read_are_not_mistaken(void **state)
{
	static const char *const names[] = {
		"traces/w106.trace.xz", /* only when named */
		"traces/expected.csv",  "traces/README.md",
		"truth/measured.jsonl", "cases/files/s10-procfs-pair.txt",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = shared_file(names[i]);
		struct op_list list;
		struct error error;

		if (!path) {
			print_message("skipped: no ../shared/traces here (REFAULT_SHARED)\n");
			skip();
		}
		if (trace_read(&list, path, NULL, &error))
			fail_msg("%s was read as %s", names[i], list.source->format);
		assert_int_equal(list.ops.count, 0);
		assert_int_equal(error.kind, ERROR_INPUT);
		op_list_deinit(&list);
	}
}

static void recorded_traces_survive_and_take_four_bytes_an_op_at_most(void **state)
{
	static const char *const names[] = {
		"backup",  "hotscan", "loop-0.8",     "loop-1.1",    "mmap-small",
		"partial", "phase",   "seqsmall-fit", "statstream",  "storm",
		"strided", "uniform", "wal-dontneed", "wal-recycle", "zipf",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct op_list from, to;
		struct error error;
		struct stat status;
		char name[64];
		const char *path;

		snprintf(name, sizeof(name), "truth/%s.csv.zst", names[i]);
		path = shared_file(name);
		if (!path) {
			print_message("skipped: no ../shared/truth here (REFAULT_SHARED)\n");
			skip();
		}
		assert_true(trace_read(&from, path, NULL, &error));
		op_list_write(&from, file_name("a.rft"));
		assert_true(trace_read(&to, file_name("a.rft"), NULL, &error));
		op_lists_are_equal(&from, &to);
		assert_int_equal(stat(file_name("a.rft"), &status), 0);
		assert_true((uint64_t)status.st_size <= 4 * from.ops.count);
		op_list_deinit(&from);
		op_list_deinit(&to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(many_long_paths_fill_a_block_early),
		cmocka_unit_test(a_file_cut_off_is_good_up_to_its_last_whole_block),
		cmocka_unit_test(a_byte_that_fell_over_never_gives_other_ops),
		cmocka_unit_test(damage_is_named),
		cmocka_unit_test(nothing_may_follow_the_end),
		cmocka_unit_test(a_writer_refuses_what_no_trace_may_hold),
		cmocka_unit_test(a_writer_that_fails_leaves_nothing_behind),
		cmocka_unit_test(a_trace_replaces_the_one_before_through_links),
		cmocka_unit_test(packed_traces_are_unpacked_on_the_way),
		cmocka_unit_test(packed_data_cut_off_says_how_far_it_came),
		cmocka_unit_test(damaged_packed_data_is_an_error),
		cmocka_unit_test(bytes_behind_packed_data_are_an_error),
		cmocka_unit_test(a_native_trace_may_be_packed_and_cut_off_too),
		cmocka_unit_test(opening_what_cannot_be_opened_says_why),
		cmocka_unit_test(what_is_no_trace_is_not_taken_for_one),
		cmocka_unit_test(an_oracle_general_record_is_a_read_of_one_page),
		cmocka_unit_test(formats_are_listed),
		cmocka_unit_test(our_format_answers_to_native),
		cmocka_unit_test(a_line_is_found_again),
		cmocka_unit_test(a_line_that_is_not_there_is_not_made_up),
		cmocka_unit_test(a_head_tells_facts_and_names_streams),
		cmocka_unit_test(what_was_lost_and_noted_is_told_again),
		cmocka_unit_test(a_trace_without_a_head_is_what_it_always_was),
		cmocka_unit_test(a_damaged_head_is_named),
		cmocka_unit_test(the_published_trace_is_read_as_published),
		cmocka_unit_test(formats_not_read_are_not_mistaken),
		cmocka_unit_test(recorded_traces_survive_and_take_four_bytes_an_op_at_most),
	};

	return cmocka_run_group_tests_name("trace", tests, folder_create, folder_destroy);
}
