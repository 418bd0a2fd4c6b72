/*
 * If this fails, what strace, perf or ftrace saw is taken for something else: bytes that were asked for are counted instead
 * of those that came, a file is split in two or two are made one, a process gets another's descriptors, or what the trace
 * cannot show is passed over in silence.
 */
#include "op_test.h"

#include "op/import.h"
#include "op/calls/syscall.h"

#define SAMPLES "test/op/samples/"

static struct op_list list_of(const char *path, const struct trace_options *options)
{
	struct op_list list;
	struct error error;

	if (!trace_read(&list, path, options, &error))
		fail_msg("%s: %llu:%llu: %s", path, (unsigned long long)error.line,
			 (unsigned long long)error.column, error.message);
	return list;
}

static struct op_list list_of_text(const char *text)
{
	return list_of(file_write("a.txt", text, strlen(text)), NULL);
}

/* What the reader counted under this name; UINT64_MAX: it said nothing. */
static uint64_t counted(const struct op_list *list, const char *key)
{
	const struct trace_note *note;

	for (size_t i = 0; (note = trace_note_at(list->source, i)); i++)
		if (strcmp(note->key, key) == 0)
			return note->is_counted ? note->count : 1;
	return UINT64_MAX;
}

struct sums {
	uint64_t reads, read_bytes, writes, written_bytes;
};

static bool is_read(const struct op *op)
{
	return op->kind == OP_READ || op->kind == OP_READ_DIRECT || op->kind == OP_READ_DONTCACHE;
}

static bool is_write(const struct op *op)
{
	return op->kind == OP_WRITE || op->kind == OP_WRITE_DIRECT ||
	       op->kind == OP_WRITE_DONTCACHE;
}

/* Of all files, or of one, by any of its names: "a|b". */
static struct sums sums_of(const struct op_list *list, const char *names)
{
	struct sums sums = {0};

	for (size_t i = 0; i < list->ops.count; i++) {
		const struct op *op = &list->ops.at[i];
		const char *path = list_path(list, op->path), *at;

		at = names ? strstr(names, path) : path;
		if (!at || (names && at > names && at[-1] != '|') ||
		    (names && at[strlen(path)] && at[strlen(path)] != '|'))
			continue;
		sums.reads += is_read(op);
		sums.read_bytes += is_read(op) ? op->bytes : 0;
		sums.writes += is_write(op);
		sums.written_bytes += is_write(op) ? op->bytes : 0;
	}
	return sums;
}

static void sums_are(const struct op_list *list, const char *names, uint64_t reads,
		     uint64_t read_bytes, uint64_t writes, uint64_t written_bytes)
{
	struct sums sums = sums_of(list, names);

	assert_int_equal(sums.reads, reads);
	assert_int_equal(sums.read_bytes, read_bytes);
	assert_int_equal(sums.writes, writes);
	assert_int_equal(sums.written_bytes, written_bytes);
}

/* The ops as text, a line each, without times: "1 read /a 0 100". */
static char *text_of(const struct op_list *list)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	for (size_t i = 0; i < list->ops.count; i++) {
		const struct op *op = &list->ops.at[i];
		enum op_takes takes = op_kind_takes(op->kind);

		fprintf(file, "%u %s %s", op->thread, op_kind_name(op->kind),
			list_path(list, op->path));
		if (op_kind_has_two_paths(op->kind))
			fprintf(file, ">%s", list_path(list, op->path_to));
		if (takes == OP_TAKES_RANGE)
			fprintf(file, " %llu", (unsigned long long)op->offset);
		if (takes == OP_TAKES_RANGE || takes == OP_TAKES_SIZE)
			fprintf(file, " %llu", (unsigned long long)op->bytes);
		fputc('\n', file);
	}
	fclose(file);
	return text;
}

static void ops_are(const char *trace, const char *expected)
{
	struct op_list list = list_of_text(trace);
	char *text = text_of(&list);

	if (strcmp(text, expected) != 0)
		fail_msg("expected:\n%s\nwere:\n%s", expected, text);
	free(text);
	op_list_deinit(&list);
}

/* The nth op of this kind on this path: its offset. */
static uint64_t offset_of(const struct op_list *list, enum op_kind kind, const char *path,
			  unsigned int nth)
{
	for (size_t i = 0; i < list->ops.count; i++) {
		const struct op *op = &list->ops.at[i];

		if (op->kind == kind && strcmp(list_path(list, op->path), path) == 0 && nth-- == 0)
			return op->offset;
	}
	return UINT64_MAX;
}

static uint64_t span_of(const struct op_list *list)
{
	uint64_t ns;

	assert_true(trace_span(list->source, &ns));
	return ns;
}

/* ---- the samples ---- */

static void threads_share_and_forks_share_positions(void **state)
{
	struct op_list list = list_of(SAMPLES "strace-threads.txt", NULL);
	static const char base[] = "/data/db/base.dat";
	const struct op *exists = NULL;

	(void)state;
	assert_string_equal(list.source->format, "strace");
	sums_are(&list, NULL, 17, 280676, 8, 1265875);
	sums_are(&list, base, 15, 271972, 1, 1048576);
	sums_are(&list, "/data/db/copy.dat|/data/db/copy.new", 1, 512, 3, 212992);
	sums_are(&list, "/data/db/sparse", 1, 8192, 1, 4096);
	sums_are(&list, "pid 4100 fd 7", 0, 0, 1, 11);
	sums_are(&list, "/data/db/app.log", 0, 0, 2, 200);
	assert_int_equal(counted(&list, "transfers"), 2);
	assert_int_equal(counted(&list, "transfer_bytes"), 196608);
	assert_int_equal(counted(&list, "eof_reads"), 1);
	assert_int_equal(counted(&list, "failed_reads"), UINT64_MAX);
	assert_int_equal(counted(&list, "failed_lookups"), 3);
	assert_int_equal(counted(&list, "failed_calls"), 3);
	assert_int_equal(counted(&list, "unknown_files"), 1);
	assert_int_equal(counted(&list, "unknown_written_bytes"), 11);
	assert_int_equal(counted(&list, "mapped_bytes"), 65536);
	assert_int_equal(counted(&list, "assumed_new"), 3);
	assert_int_equal(counted(&list, "processes"), 2);
	assert_int_equal(counted(&list, "threads"), 4);
	assert_int_equal(counted(&list, "calls_not_returned"), UINT64_MAX);
	assert_int_equal(trace_rows(list.source), 101);
	/* Split calls, whose offsets stand in the second half. */
	assert_int_equal(offset_of(&list, OP_READ, base, 0), 0);
	assert_int_equal(offset_of(&list, OP_READ, base, 1), 8192);
	assert_int_equal(offset_of(&list, OP_READ, base, 2), 16384);
	assert_int_equal(offset_of(&list, OP_READ, base, 3), 524288);
	assert_int_equal(offset_of(&list, OP_READ, base, 5), 540672);
	/* lseek from the end, a dup, sendfile with an offset of its own, a fork. */
	assert_int_equal(offset_of(&list, OP_READ, base, 8), 1048064);
	assert_int_equal(offset_of(&list, OP_READ, base, 9), 0);
	assert_int_equal(offset_of(&list, OP_READ, base, 10), 0);
	assert_int_equal(offset_of(&list, OP_READ, base, 11), 65536);
	assert_int_equal(offset_of(&list, OP_READ, base, 13), 100);
	assert_int_equal(offset_of(&list, OP_READ, base, 14), 612);
	assert_int_equal(offset_of(&list, OP_READ, "/data/db/copy.new", 0), 0);
	assert_int_equal(offset_of(&list, OP_WRITE, "/data/db/app.log", 1), 100);
	assert_int_equal(offset_of(&list, OP_WRITE, "/data/db/sparse", 0), 5368709120);
	assert_int_equal(offset_of(&list, OP_TRUNCATE, "/data/db/sparse", 0), 0);
	/* Nothing but the unknown descriptor was there: O_CREAT makes. */
	for (size_t i = 0; i < list.ops.count; i++)
		if (list.ops.at[i].kind == OP_EXISTS)
			exists = &list.ops.at[i];
	assert_string_equal(list_path(&list, exists->path), "pid 4100 fd 7");
	op_list_deinit(&list);
}

static void annotated_paths_end_by_rules(void **state)
{
	struct op_list list = list_of(SAMPLES "strace-paths.txt", NULL);
	static const char weird[] =
		"/data/db/seg dir/we\"ird\nname|/data/db/seg dir/we\"ird\nname (deleted)";

	(void)state;
	sums_are(&list, NULL, 11, 570248, 8, 641328);
	sums_are(&list, weird, 2, 9096, 1, 10000);
	sums_are(&list, "/data/db/seg dir/caf\303\251.idx", 3, 12288, 1, 12288);
	sums_are(&list, "/data/db/direct.dat", 1, 16384, 1, 65536);
	sums_are(&list, "/data/db/#1048707 (deleted)", 1, 8192, 1, 20000);
	sums_are(&list, "/data/db/wal-0001|/data/db/wal-0005", 4, 524288, 4, 533504);
	assert_int_equal(counted(&list, "direct_reads"), 1);
	assert_int_equal(counted(&list, "direct_read_bytes"), 16384);
	assert_int_equal(counted(&list, "direct_writes"), 1);
	assert_int_equal(counted(&list, "direct_written_bytes"), 65536);
	assert_int_equal(counted(&list, "eof_reads"), 1);
	assert_int_equal(counted(&list, "failed_calls"), 0);
	assert_int_equal(counted(&list, "dontcache_reads"), 1);
	assert_int_equal(counted(&list, "punched_holes"), 1);
	assert_int_equal(counted(&list, "synchronous_writes"), 3);
	assert_int_equal(offset_of(&list, OP_READ_DONTCACHE, "/data/db/seg dir/caf\303\251.idx", 0),
			 4096);
	assert_int_equal(offset_of(&list, OP_WRITE, "/data/db/wal-0005", 2), 1024);
	assert_int_equal(span_of(&list), 12476000);
	assert_int_equal(trace_responses(list.source, false)->count, 11);
	assert_int_equal(trace_responses(list.source, true)->count, 8);
	op_list_deinit(&list);
}

static void the_clock_passes_midnight_and_a_process_number_is_used_again(void **state)
{
	struct op_list list = list_of(SAMPLES "strace-midnight.txt", NULL);
	static const char part[] = "/data/db/part.001";

	(void)state;
	sums_are(&list, part, 7, 286240, 0, 0);
	sums_are(&list, "/data/db/part.002", 0, 0, 1, 8192);
	sums_are(&list, NULL, 7, 286240, 1, 8192);
	assert_int_equal(offset_of(&list, OP_WRITE, "/data/db/part.002", 0), 40960);
	assert_int_equal(counted(&list, "eof_reads"), 1);
	assert_int_equal(counted(&list, "failed_reads"), 1);
	assert_int_equal(counted(&list, "failed_calls"), 1);
	assert_int_equal(counted(&list, "last_line_cut_off"), 1);
	assert_int_equal(counted(&list, "processes"), 3);
	assert_int_equal(span_of(&list) / 1000000, 1105);
	/* The first two share the position; the third has its own. */
	assert_int_equal(offset_of(&list, OP_READ, part, 0), 0);
	assert_int_equal(offset_of(&list, OP_READ, part, 1) + offset_of(&list, OP_READ, part, 2),
			 65536 + 131072);
	assert_int_equal(offset_of(&list, OP_READ, part, 3), 196608);
	assert_int_equal(offset_of(&list, OP_READ, part, 4), 0);
	assert_int_equal(offset_of(&list, OP_READ, part, 5), 131072);
	assert_int_equal(offset_of(&list, OP_READ, part, 6), 32768);
	/* Its size, from the end of file. */
	assert_int_equal(list.ops.at[0].kind, OP_EXISTS);
	assert_string_equal(list_path(&list, list.ops.at[0].path), part);
	assert_int_equal(list.ops.at[0].bytes, 216608);
	op_list_deinit(&list);
}

static void ftrace_tells_of_pages_by_order(void **state)
{
	struct op_list list = list_of(SAMPLES "ftrace-filemap.txt", NULL);
	struct sums sums = sums_of(&list, NULL);
	unsigned int files = 0;

	(void)state;
	assert_string_equal(list.source->format, "ftrace");
	assert_int_equal(sums.reads, 16);
	assert_int_equal(sums.read_bytes, 434176);
	sums_are(&list, "dev 254:0 ino 0xa1c", 1, 65536, 0, 0);
	assert_int_equal(offset_of(&list, OP_READ, "dev 253:3 ino 0xa1d", 0), 4294967296);
	for (size_t i = 0; i < list.ops.count; i++)
		files += list.ops.at[i].kind == OP_EXISTS;
	assert_int_equal(files, 3);
	assert_int_equal(counted(&list, "page_cache_insertions"), 16);
	assert_int_equal(counted(&list, "inserted_pages"), 106);
	assert_int_equal(counted(&list, "page_cache_deletions"), 2);
	assert_int_equal(counted(&list, "deleted_pages"), 68);
	assert_int_equal(counted(&list, "pages_inserted_again"), 25);
	assert_int_equal(counted(&list, "distinct_pages_inserted_again"), 24);
	assert_int_equal(counted(&list, "resident_pages"), 38);
	assert_int_equal(counted(&list, "pages_deleted_by_reclaim"), 4);
	assert_int_equal(counted(&list, "pages_cached_before"), UINT64_MAX);
	assert_int_equal(counted(&list, "lost_events"), 37);
	assert_int_equal(list.ops.at[3].thread, 3956);
	assert_int_equal(list.ops.at[list.ops.count - 1].thread, 3990);
	op_list_deinit(&list);
}

static void perf_tells_of_pages_between_call_chains(void **state)
{
	struct op_list list = list_of(SAMPLES "perf-filemap.txt", NULL);

	(void)state;
	assert_string_equal(list.source->format, "perf-script");
	sums_are(&list, "dev 253:3 ino 0xc", 3, 66 * 4096, 0, 0);
	assert_int_equal(counted(&list, "page_cache_insertions"), 3);
	assert_int_equal(counted(&list, "inserted_pages"), 66);
	assert_int_equal(counted(&list, "page_cache_deletions"), 2);
	assert_int_equal(counted(&list, "deleted_pages"), 65);
	assert_int_equal(counted(&list, "pages_inserted_again"), 2);
	assert_int_equal(counted(&list, "resident_pages"), 2);
	assert_int_equal(counted(&list, "pages_cached_before"), 1);
	assert_int_equal(counted(&list, "pages_deleted_by_advice"), 64);
	assert_int_equal(counted(&list, "pages_deleted_by_reclaim"), UINT64_MAX);
	assert_int_equal(counted(&list, "other_events"), 1);
	assert_int_equal(trace_rows(list.source), 6);
	assert_int_equal(list.ops.at[list.ops.count - 1].thread, 31597);
	op_list_deinit(&list);
}

/* What both recordings show of the same small program, from its opening of the file on. */
static void calls_are(const struct op_list *list, const char *first, const char *last)
{
	struct sums sums = sums_of(list, NULL);

	assert_int_equal(sums.reads, 6);
	assert_int_equal(sums.read_bytes, 4096 + 10 + 10 + 20 + 10000 + 8192);
	assert_int_equal(sums.writes, 2);
	assert_int_equal(sums.written_bytes, 100 + 10000);
	assert_int_equal(offset_of(list, OP_READ, first, 0), 8192);
	assert_int_equal(offset_of(list, OP_WRITE, first, 0), 5000);
	assert_int_equal(offset_of(list, OP_READ, first, 1), 65526);
	assert_int_equal(offset_of(list, OP_READ, first, 2), 0);
	assert_int_equal(offset_of(list, OP_READ, first, 3), 10);
	assert_int_equal(offset_of(list, OP_READ, first, 4), 0);
	assert_int_not_equal(offset_of(list, OP_READ, last, 0), UINT64_MAX);
	assert_int_equal(offset_of(list, OP_FADVISE_DONTNEED, first, 0), 0);
	assert_int_equal(counted(list, "eof_reads"), 1);
	assert_int_equal(counted(list, "failed_lookups"), 1);
	assert_int_equal(counted(list, "transfers"), 1);
	assert_int_equal(counted(list, "no_names"), 1);
	assert_int_equal(counted(list, "processes"), 2);
}

static void calls_by_number_meet_the_pages_that_they_use(void **state)
{
	struct op_list list = list_of(SAMPLES "ftrace-calls.txt", NULL);
	static const char file[] = "dev 254:0 ino 0xa833b2";

	(void)state;
	calls_are(&list, file, file);
	/* Both openings are the same file, as the page cache shows; the calls are the ops. */
	sums_are(&list, file, 6, 22328, 1, 100);
	assert_int_equal(counted(&list, "unnamed_files"), 1);
	assert_int_equal(counted(&list, "page_cache_insertions"), 12);
	assert_string_equal(list_path(&list, list.ops.at[0].path), file);
	assert_int_equal(list.ops.at[0].bytes, 65536);
	op_list_deinit(&list);
}

static void calls_by_name_know_descriptors_only(void **state)
{
	struct op_list list = list_of(SAMPLES "perf-calls.txt", NULL);

	(void)state;
	assert_string_equal(list.source->format, "perf-script");
	calls_are(&list, "pid 15221 fd 3", "pid 15221 fd 3 (2)");
	assert_int_equal(counted(&list, "unknown_files"), 1);
	assert_int_equal(counted(&list, "unnamed_files"), 2);
	assert_int_equal(counted(&list, "calls_not_begun"), 1);
	op_list_deinit(&list);
}

/* ---- strace's ways to write ---- */

/* The same two calls under all the options that change how a line begins and ends. */
static void prefixes_and_ends_are_known(void **state)
{
	static const struct {
		const char *begin, *end;
		uint32_t thread;
	} ways[] = {
		{"", "", 0},
		{"4100 ", "", 4100},
		{"4100  ", " <0.000012>", 4100},
		{"[pid  4100] ", "", 4100},
		{"4100<cat> ", "", 4100},
		{"[pid 4100<cat>] ", "", 4100},
		{"4100 12:00:01 ", "", 4100},
		{"4100  12:00:01.000001 ", " <0.000012>", 4100},
		{"1796029365.014275 ", " <0.000012>", 0},
		{"4100 1796029365.014275123 ", "", 4100},
		{"     0.000123 ", "", 0},
		{"4100      0.000123 ", "", 4100},
		{"12:00:01 (+     0.000123) ", "", 0},
		{"[pid  4100] 12:00:01 ", "", 4100},
		{"4100  [ 257] ", "", 4100},
		{"[00007f12345678ab] ", "", 0},
		{"4100 12:00:01 [ 257] [00007f12345678ab] ", "", 4100},
		{"1796029365 ", "", 0},
		{"4100 12:00:01,000001 ", "", 4100},
		{"", "\r", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char text[1000];
		struct op_list list;

		snprintf(text, sizeof(text),
			 "%sopenat(AT_FDCWD, \"/a\", O_RDONLY)   = 3%s\n"
			 "%sread(3, \"ab\\\"c, 9) = 7\"..., 4096)  = 4096%s\n",
			 ways[i].begin, ways[i].end, ways[i].begin, ways[i].end);
		list = list_of_text(text);
		if (list.ops.count != 3 || list.ops.at[2].thread != ways[i].thread ||
		    list.ops.at[2].bytes != 4096)
			fail_msg("\"%s\" and \"%s\" are not understood", ways[i].begin,
				 ways[i].end);
		op_list_deinit(&list);
	}
}

static void descriptors_are_told_in_brackets(void **state)
{
	static const struct {
		const char *text, *path; /* NULL: it is no file */
	} ways[] = {
		{"3</a>", "/a"},
		{"3</a b, c) = 0>", "/a b, c) = 0"},
		{"3</we\\\"ird\\nname>", "/we\"ird\nname"},
		{"3</caf\\303\\251\\74\\76>", "/caf\303\251<>"},
		{"3</a>b>", "/a>b"},
		{"3</a>(deleted)", "/a (deleted)"},
		{"3</a (deleted)>", "/a (deleted)"},
		{"3</dev/sda<block 8:0>>", "/dev/sda"},
		{"3</dev/null<char 1:3>>", NULL},
		{"3</dev/null>", NULL},
		{"3</proc/4100/maps>", NULL},
		{"3<pipe:[1234]>", NULL},
		{"3<socket:[1234]>", NULL},
		{"3<TCP:[127.0.0.1:22->127.0.0.1:5000]>", NULL},
		{"3<UNIX-STREAM:[1->2, \"/run/x\"]>", NULL},
		{"3<anon_inode:[eventfd]>", NULL},
		{"3</memfd:x>(deleted)", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char text[1000];
		struct op_list list;
		const char *path = ways[i].path;

		snprintf(text, sizeof(text),
			 "4100 read(%s, \"x\", 4096) = 7\n"
			 "4100 openat(AT_FDCWD, \"/z\", O_RDONLY) = 9\n",
			 ways[i].text);
		list = list_of_text(text);
		if (path)
			sums_are(&list, path, 1, 7, 0, 0);
		else
			assert_int_equal(counted(&list, "other_read_bytes"), 7);
		sums_are(&list, NULL, path != NULL, path ? 7 : 0, 0, 0);
		op_list_deinit(&list);
	}
}

static void advice_needs_no_opening(void **state)
{
	(void)state;
	ops_are("1520  fadvise64(5, 0, 4096, POSIX_FADV_DONTNEED)  = 0\n"
		"1520  fadvise64(5, 0, 8192, POSIX_FADV_DONTNEED)  = 0\n"
		"1520  readahead(5, 8192, 4096)  = 0\n",
		"0 exists pid 1520 fd 5 0\n"
		"1520 fadvise_dontneed pid 1520 fd 5 0 4096\n"
		"1520 fadvise_dontneed pid 1520 fd 5 0 8192\n"
		"1520 fadvise_willneed pid 1520 fd 5 8192 4096\n");
}

/* Reads show what they read in the second half, writes what they write in the first. */
static void calls_in_two_halves_are_put_together(void **state)
{
	(void)state;
	ops_are("10 openat(AT_FDCWD, \"/d\", O_RDWR|O_DIRECT) = 4\n"
		"10 pread64(4,  <unfinished ...>\n"
		"10 <... pread64 resumed>\"\\0\\\"\\377, 1) = 9\"..., 512, 1024) = 512\n"
		"10 pwrite64(4, \"a\\\"b\\0\"..., 512, 2048 <unfinished ...>\n"
		"10 <... pwrite64 resumed>)         = 512\n"
		"10 read(4, \"\", 512 <unfinished ...>\n"
		"10 <... read resumed> ) = 0\n"
		"11 <... read resumed>\"\", 512) = 512\n"
		"10 fsync(4 <unfinished ...>\n",
		"0 exists /d 1536\n"
		"10 open /d\n"
		"10 read_direct /d 1024 512\n"
		"10 write_direct /d 2048 512\n");
}

static void raw_numbers_are_hexadecimal_and_names_are_not_told(void **state)
{
	(void)state;
	ops_are("7 openat(0xffffff9c, 0x55d0a7b3f2c0, 0x42, 0x1a4) = 0x3\n"
		"7 read(0x3, 0x7ffd, 0x1000) = 0x1000\n"
		"7 lseek(0x3, 0x10, 0) = 0x10\n"
		"7 pread64(0x3, 0x7ffd, 0x1000, 0x2000) = 0x800\n"
		"7 read(0x3, 0x7ffd, 0x1000) = -1 (errno 4)\n"
		"7 open(\"/x\", 0x241, 0644) = 4\n"
		"7 openat(-100 /* AT_FDCWD */, \"/y\", 0x4000 /* O_DIRECT */) = 5\n"
		"7 read(5, \"\"..., 512) = 512\n",
		"0 exists pid 7 fd 3 10240\n"
		"0 exists /y 512\n"
		"7 read pid 7 fd 3 0 4096\n"
		"7 read pid 7 fd 3 8192 2048\n"
		"7 create /x\n"
		"7 open /y\n"
		"7 read_direct /y 0 512\n");
}

static void a_terminal_breaks_lines(void **state)
{
	struct op_list list;

	(void)state;
	list = list_of_text(
		"execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0\n"
		"openat(AT_FDCWD, \"/a\", O_RDONLY) = 3\n"
		"clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLDstrace: Process 12 "
		"attached\n"
		", child_tidptr=0x7f) = 12\n"
		"[pid    11] read(3,  <unfinished ...>\n"
		"[pid    12] write(1, \"hello\\n\", 6hello\n"
		" <unfinished ...>\n"
		"[pid    11] <... read resumed>\"x\", 100) = 100\n"
		"[pid    12] <... write resumed>) = 6\n"
		"[pid    12] write(1, \"a(b\", 3a(b)              = 3\n"
		"[pid    12] write(1, \"two\\nlines\\n\", 10two\n"
		"lines\n"
		")     = 10\n"
		"[pid    12] exit_group(0)              = ?\n"
		"[pid    12] +++ exited with 0 +++\n"
		"--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=12} ---\n"
		"read(3, strace: Process 11 detached\n"
		" <detached ...>\n"
		"% time     seconds  usecs/call     calls    errors syscall\n"
		"------ ----------- ----------- --------- --------- ----------------\n");
	sums_are(&list, "/a", 1, 100, 0, 0);
	sums_are(&list, "pid 11 fd 1", 0, 0, 3, 19);
	assert_int_equal(counted(&list, "processes"), 2);
	assert_int_equal(counted(&list, "threads_before"), 1);
	op_list_deinit(&list);
}

static void attached_threads_are_one_process(void **state)
{
	(void)state;
	ops_are("strace: Process 20 attached with 3 threads\n"
		"[pid    21] openat(AT_FDCWD, \"/a\", O_RDONLY) = 3\n"
		"[pid    22] read(3, \"\", 100) = 100\n"
		"[pid    20] read(3, \"\", 100) = 100\n"
		"[pid    23] read(3, \"\", 100) = 100\n",
		"0 exists /a 200\n"
		"0 exists pid 23 fd 3 100\n"
		"21 open /a\n"
		"22 read /a 0 100\n"
		"20 read /a 100 100\n"
		"23 read pid 23 fd 3 0 100\n");
}

/* A thread that is heard of before its fork has returned; then the number comes again. */
static void children_are_found_before_forks_return(void **state)
{
	(void)state;
	ops_are("30 openat(AT_FDCWD, \"/a\", O_RDONLY|O_CLOEXEC) = 3\n"
		"30 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_FS|CLONE_THREAD, exit_signal=0} "
		"<unfinished ...>\n"
		"31 close(3) = 0\n"
		"30 <... clone3 resumed> => {parent_tid=[31]}, 88) = 31\n"
		"30 read(3, 0x1, 10) = -1 EBADF (Bad file descriptor)\n"
		"31 openat(AT_FDCWD, \"/b\", O_RDONLY) = 3\n"
		"30 vfork( <unfinished ...>\n"
		"32 dup2(3, 9) = 9\n"
		"32 execve(\"/bin/true\", [\"true\"], 0x0 /* 0 vars */ <unfinished ...>\n"
		"30 <... vfork resumed>) = 32\n"
		"32 <... execve resumed>) = 0\n"
		"32 read(9, \"\", 5) = 5\n"
		"32 +++ exited with 0 +++\n"
		"30 read(3, \"\", 5) = 5\n"
		"30 read(9, \"\", 1) = 1\n",
		"0 exists /a 0\n"
		"0 exists /b 10\n"
		"0 exists /bin/true 0\n"
		"0 exists pid 30 fd 9 1\n"
		"30 open /a\n"
		"30 close /a\n"
		"31 open /b\n"
		"32 stat /bin/true\n"
		"32 read /b 0 5\n"
		"30 read /b 5 5\n"
		"30 read pid 30 fd 9 0 1\n");
}

static void transfers_and_vectors_and_the_rest(void **state)
{
	(void)state;
	ops_are("5 open(\"/in\", O_RDONLY) = 3\n"
		"5 creat(\"/out\", 0644) = 4\n"
		"5 pipe2([6<pipe:[1]>, 7<pipe:[1]>], O_CLOEXEC) = 0\n"
		"5 splice(3, [4096] => [8192], 7, NULL, 4096, 0) = 4096\n"
		"5 sendfile64(4, 3, NULL, 100) = 100\n"
		"5 readv(3, [{iov_base=\"\", iov_len=10}, {iov_base=\"\", iov_len=20}], 2) = 30\n"
		"5 writev(4, [{\"abc\", 3}, {\"d\", 1}], 2) = 4\n"
		"5 pwritev2(4, [{iov_base=\"\", iov_len=8}], 1, -1, RWF_APPEND|RWF_DSYNC) = 8\n"
		"5 _llseek(3, 0, [50], SEEK_SET) = 0\n"
		"5 read(3, \"\", 1) = 1\n"
		"5 ftruncate(4, 50) = 0\n"
		"5 fallocate(4, 0, 0, 4096) = 0\n"
		"5 fallocate(4, FALLOC_FL_KEEP_SIZE, 0, 8192) = 0\n"
		"5 syncfs(4) = 0\n"
		"5 sync_file_range(4, 0, 0, SYNC_FILE_RANGE_WRITE) = 0\n"
		"5 fcntl(4, F_DUPFD_CLOEXEC, 10) = 10\n"
		"5 fcntl(10, F_GETFL) = 0x8402 (flags O_RDWR|O_APPEND|O_LARGEFILE)\n"
		"5 write(4, \"\", 6) = 6\n"
		"5 close_range(4, 4294967295, 0) = 0\n"
		"5 io_uring_enter(8, 3, 0, 0, NULL, 8) = 3\n",
		"0 exists /in 8192\n"
		"5 open /in\n"
		"5 create /out\n"
		"5 read /in 4096 4096\n"
		"5 read /in 0 100\n"
		"5 write /out 0 100\n"
		"5 read /in 100 30\n"
		"5 write /out 100 4\n"
		"5 write /out 104 8\n"
		"5 fdatasync /out\n"
		"5 read /in 50 1\n"
		"5 truncate /out 50\n"
		"5 fallocate /out 0 4096\n"
		"5 fallocate /out 0 4096\n"
		"5 sync .\n"
		"5 sync_file_range /out 0 4096\n"
		"5 write /out 4096 6\n"
		"5 close /out\n");
}

static void names_are_looked_up_listed_linked_and_exchanged(void **state)
{
	(void)state;
	ops_are("5 chdir(\"/d\") = 0\n"
		"5 getcwd(\"/d\", 100) = 3\n"
		"5 mkdir(\"sub\", 0755) = 0\n"
		"5 openat(AT_FDCWD, \"sub/../a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3\n"
		"5 link(\"a\", \"b\") = 0\n"
		"5 symlink(\"sub\", \"s\") = 0\n"
		"5 renameat2(AT_FDCWD, \"a\", AT_FDCWD, \"b2\", RENAME_NOREPLACE) = 0\n"
		"5 openat(AT_FDCWD, \"s/new\", O_WRONLY|O_CREAT, 0644) = 4\n"
		"5 renameat2(AT_FDCWD, \"b\", AT_FDCWD, \"sub/new\", RENAME_EXCHANGE) = 0\n"
		"5 write(4, \"\", 3) = 3\n"
		"5 openat(AT_FDCWD, \"sub\", O_RDONLY|O_DIRECTORY) = 5\n"
		"5 getdents64(5, 0x5 /* 3 entries */, 32768) = 80\n"
		"5 getdents64(5, 0x5 /* 0 entries */, 32768) = 0\n"
		"5 unlinkat(5, \"new\", 0) = 0\n"
		"5 unlinkat(AT_FDCWD, \"sub\", AT_REMOVEDIR) = 0\n"
		"5 statx(AT_FDCWD, \"/q\", 0, STATX_ALL, {stx_mask=STATX_ALL, "
		"stx_mode=S_IFREG|0644, stx_size=77, ...}) = 0\n"
		"5 connect(9, {sa_family=AF_UNIX, sun_path=\"/run/no\"}, 110) = -1 ENOENT (No "
		"such file or directory)\n",
		"0 exists /q 77\n"
		"5 mkdir /d\n"
		"5 stat /d\n"
		"5 mkdir /d/sub\n"
		"5 create /d/a\n"
		"5 link /d/a>/d/b\n"
		"5 symlink /d/s 3\n"
		"5 rename /d/a>/d/b2\n"
		"5 create /d/sub/new\n"
		"5 rename /d/b>(exchanged)\n"
		"5 rename /d/sub/new>/d/b\n"
		"5 rename (exchanged)>/d/sub/new\n"
		"5 write /d/b 0 3\n"
		"5 open /d/sub\n"
		"5 readdir /d/sub\n"
		"5 unlink /d/sub/new\n"
		"5 rename /d/sub>/d/sub (deleted)\n"
		"5 rmdir /d/sub (deleted)\n"
		"5 stat /q\n"
		"5 stat /run/no\n");
}

static void asynchronous_requests_are_taken_as_complete(void **state)
{
	(void)state;
	ops_are("9 open(\"/d\", O_RDWR|O_DIRECT) = 3\n"
		"9 io_submit(0x7f, 2, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, "
		"aio_buf=0x5, aio_nbytes=4096, aio_offset=8192}, {aio_data=0, "
		"aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_buf=\"\\0\"..., "
		"aio_nbytes=512, aio_offset=0}]) = 2\n",
		"0 exists /d 12288\n"
		"9 open /d\n"
		"9 read_direct /d 8192 4096\n"
		"9 write_direct /d 0 512\n");
}

static void caches_that_are_dropped_by_hand_are_an_op(void **state)
{
	(void)state;
	ops_are("9 openat(AT_FDCWD, \"/proc/sys/vm/drop_caches\", O_WRONLY|O_TRUNC) = 3\n"
		"9 write(3, \"3\\n\", 2) = 2\n"
		"9 sync() = 0\n",
		"9 drop_caches . 3\n"
		"9 sync .\n");
}

/* ---- several files ---- */

static void the_files_of_ff_are_read_by_their_time_stamps(void **state)
{
	static const char parent[] =
		"23:59:59.000001 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3\n"
		"23:59:59.000002 clone(child_stack=NULL, flags=SIGCHLD) = 101\n"
		"23:59:59.000003 wait4(101, NULL, 0, NULL) = 101\n"
		"00:00:02.000001 read(3, \"\", 10) = 10\n"
		"00:00:02.000002 +++ exited with 0 +++\n";
	static const char child[] = "00:00:01.000001 read(3, \"\", 10) = 10\n"
				    "00:00:01.000002 exit_group(0) = ?\n"
				    "00:00:01.000003 +++ exited with 0 +++\n";
	struct op_list list;
	char *text;

	(void)state;
	file_write("trace.100", parent, sizeof(parent) - 1);
	file_write("trace.101", child, sizeof(child) - 1);
	list = list_of(file_name("trace"), NULL);
	text = text_of(&list);
	assert_string_equal(text, "0 exists /a 20\n"
				  "100 open /a\n"
				  "101 read /a 0 10\n"
				  "100 read /a 10 10\n"
				  "100 close /a\n"
				  "101 close /a\n");
	free(text);
	assert_int_equal(span_of(&list), 3000001000);
	assert_int_equal(counted(&list, "files"), 1);
	op_list_deinit(&list);
	/* One that is named itself is read alone. */
	list = list_of(file_name("trace.101"), NULL);
	sums_are(&list, "pid 101 fd 3", 1, 10, 0, 0);
	assert_int_equal(counted(&list, "one_of_files"), 1);
	op_list_deinit(&list);
	folder_count(1);
}

static void files_without_time_stamps_have_no_order(void **state)
{
	static const char text[] = "read(3, \"\", 10) = 10\n";
	struct op_list list;
	struct error error;

	(void)state;
	file_write("trace.100", text, sizeof(text) - 1);
	file_write("trace.101", text, sizeof(text) - 1);
	assert_false(trace_read(&list, file_name("trace"), NULL, &error));
	assert_non_null(strstr(error.message, "time stamps"));
	op_list_deinit(&list);
	folder_count(1);
}

/* ---- what cannot be read ---- */

static void a_line_that_is_no_call_is_told_with_its_number(void **state)
{
	static const char text[] = "close(3) = 0\n"
				   "this is what the program said\n"
				   "close(4) = 0\n";
	struct trace_options lenient = {.lenient = true};
	struct op_list list;
	struct error error;

	(void)state;
	assert_false(trace_read(&list, file_write("a.txt", text, sizeof(text) - 1), NULL, &error));
	assert_int_equal(error.line, 2);
	assert_non_null(strstr(error.message, "system call was expected"));
	op_list_deinit(&list);
	/* One in three is too many even then. */
	assert_false(trace_read(&list, file_name("a.txt"), &lenient, &error));
	assert_non_null(strstr(error.message, "1 of 3 rows"));
	op_list_deinit(&list);
}

static void ftrace_and_perf_are_told_apart_whatever_tasks_are_called(void **state)
{
	static const struct {
		const char *format, *line;
		uint32_t thread;
	} lines[] = {
		{"ftrace", "    kworker/u8:2-wr-420   [001] d..2.  11.400207: ", 420},
		{"ftrace", "            a [b] c-42    [000] ....    11.400207: ", 42},
		{"ftrace", "           <...>-3990    [001] .....  1163.396010: ", 3990},
		{"ftrace", "            cat-77    (     70) [001] .....  1163.396010: ", 77},
		{"ftrace", "            cat-77    (-------) [001] .....  1163.396010: ", 77},
		{"ftrace", "            cat-77    [001]  1163.396010123: ", 77},
		{"perf-script", "page cleaner 31597 [000]  1141.171061:      filemap:", 31597},
		{"perf-script", "             cat  7/8 [000]  1141.171061123: filemap:", 8},
		{"perf-script", "a 1 b    31597 [000]  1141.171061:       1 filemap:", 31597},
		{"perf-script", "cat 31597  1141.171061: filemap:", 31597},
		{"perf-script", "swapper     0 [000]  1141.171061: filemap:", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[1000];
		struct op_list list;

		snprintf(text, sizeof(text),
			 "%smm_filemap_add_to_page_cache: dev 8:2 ino ff page=0x1f2 pfn=498 "
			 "ofs=8192\n",
			 lines[i].line);
		list = list_of_text(text);
		assert_string_equal(list.source->format, lines[i].format);
		assert_int_equal(list.ops.count, 2);
		assert_int_equal(list.ops.at[1].offset, 8192);
		assert_int_equal(list.ops.at[1].bytes, 4096);
		if (list.ops.at[1].thread != lines[i].thread)
			fail_msg("%s: thread %u", lines[i].line, list.ops.at[1].thread);
		op_list_deinit(&list);
	}
}

static void losses_are_told_in_all_spellings(void **state)
{
	struct op_list list = list_of_text(
		"cat-7 [000] .....  1.000001: sys_read(fd: 3, buf: 5, count: 1000)\n"
		"CPU:1 [LOST 37 EVENTS]\n"
		"CPU:0 [5 EVENTS DROPPED]\n"
		"CPU:1 [LOST EVENTS]\n"
		"##### CPU 1 buffer started ####\n"
		"cat-7 [000] .....  1.000002: sys_read -> 0x10\n"
		"cat-7 [000] .....  1.000003: sys_enter_read: fd: 0x3, buf: 0x5, count: "
		"0x1000\n"
		"cat-7 [000] .....  1.000004: sys_exit_read: -9\n");

	(void)state;
	assert_int_equal(counted(&list, "lost_events"), 42);
	assert_int_equal(counted(&list, "losses"), 1);
	sums_are(&list, "pid 7 fd 3", 1, 16, 0, 0);
	assert_int_equal(counted(&list, "failed_calls"), 1);
	op_list_deinit(&list);
	list = list_of_text("cat  7 [000]  1.000001: raw_syscalls:sys_enter: NR 0 (3, 5, 1000, 0, "
			    "0, 0)\n"
			    "cat  7 [000]  1.000002: raw_syscalls:sys_exit: NR 0 = 16\n"
			    "cat  7 [000]  1.000003: PERF_RECORD_LOST lost 11\n");
	assert_int_equal(counted(&list, "lost_events"), 11);
	sums_are(&list, "pid 7 fd 3", 1, 16, 0, 0);
	op_list_deinit(&list);
}

/* The header says that numbers are another machine's. */
static void numbers_are_the_machines(void **state)
{
	struct op_list list = list_of_text(
		"# arch : aarch64\n"
		"cat  7 [000]  1.000001: raw_syscalls:sys_enter: NR 63 (3, 5, 1000, 0, 0, 0)\n"
		"cat  7 [000]  1.000002: raw_syscalls:sys_exit: NR 63 = 16\n");

	(void)state;
	sums_are(&list, "pid 7 fd 3", 1, 16, 0, 0);
	op_list_deinit(&list);
}

/* Since Linux 6.12 uses are seen, too: then they are the ops. */
static void uses_are_better_than_insertions(void **state)
{
	(void)state;
	ops_are("cat-7 [000] .....  1.000001: mm_filemap_get_pages: dev=8:2 ino=ff ofs=0-8191\n"
		"cat-7 [000] .....  1.000002: mm_filemap_add_to_page_cache: dev 8:2 ino ff "
		"pfn=0x1 ofs=0 order=2\n"
		"cat-7 [000] .....  1.000003: mm_filemap_get_pages: dev=8:2 ino=ff ofs=0-8191\n"
		"cat-7 [000] .....  1.000004: mm_filemap_fault: dev=8:2 ino=ff ofs=4096\n",
		"0 exists dev 8:2 ino 0xff 16384\n"
		"7 read dev 8:2 ino 0xff 0 8192\n"
		"7 read dev 8:2 ino 0xff 0 8192\n"
		"7 mmap_read dev 8:2 ino 0xff 4096 4096\n");
}

/* ---- tables ---- */

static void calls_are_found_by_name_and_number(void **state)
{
	(void)state;
	assert_null(syscall_named("rea", 3));
	assert_null(syscall_named("readd", 5));
	assert_null(syscall_named("", 0));
	assert_ptr_equal(syscall_named("read", 4), syscall_numbered(0, MACHINE_X86_64));
	assert_ptr_equal(syscall_named("read", 4), syscall_numbered(63, MACHINE_ARM64));
	assert_ptr_equal(syscall_named("_llseek", 7), syscall_named("_llseek(", 7));
	assert_ptr_equal(syscall_named("openat2", 7), syscall_numbered(437, MACHINE_X86_64));
	assert_null(syscall_numbered(1000000, MACHINE_X86_64));
	assert_null(syscall_numbered(39, MACHINE_X86_64)); /* getpid */
}

static void every_flag_is_found(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} flags[] = {
		{"AT_EMPTY_PATH", 0x1000},
		{"CLONE_VM|CLONE_FS|CLONE_FILES|SIGCHLD", 0x700},
		{"O_RDWR|O_CREAT|O_TRUNC|O_LARGEFILE|O_CLOEXEC|0x40000000", 0x40080242},
		{"O_TMPFILE|O_WRONLY", 020200001},
		{"O_SYNC", 04010000},
		{"POSIX_FADV_DONTNEED", 4},
		{"S_IFSOCK|0644", 0140644},
		{"RWF_DONTCACHE", 0x80},
		{"0x80 /* RWF_??? */", 0x80},
		{"SYNC_FILE_RANGE_WRITE_AND_WAIT", 7},
		{"F_SETFL", 4},
		{"MS_SYNC", 4},
		{"MADV_POPULATE_WRITE", 23},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct syscall_text text = {flags[i].text, strlen(flags[i].text)};

		if (flags_read(&text, false) != flags[i].value)
			fail_msg("%s: %#llx", flags[i].text,
				 (unsigned long long)flags_read(&text, false));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_and_forks_share_positions),
		cmocka_unit_test(annotated_paths_end_by_rules),
		cmocka_unit_test(the_clock_passes_midnight_and_a_process_number_is_used_again),
		cmocka_unit_test(ftrace_tells_of_pages_by_order),
		cmocka_unit_test(perf_tells_of_pages_between_call_chains),
		cmocka_unit_test(calls_by_number_meet_the_pages_that_they_use),
		cmocka_unit_test(calls_by_name_know_descriptors_only),
		cmocka_unit_test(prefixes_and_ends_are_known),
		cmocka_unit_test(descriptors_are_told_in_brackets),
		cmocka_unit_test(advice_needs_no_opening),
		cmocka_unit_test(calls_in_two_halves_are_put_together),
		cmocka_unit_test(raw_numbers_are_hexadecimal_and_names_are_not_told),
		cmocka_unit_test(a_terminal_breaks_lines),
		cmocka_unit_test(attached_threads_are_one_process),
		cmocka_unit_test(children_are_found_before_forks_return),
		cmocka_unit_test(transfers_and_vectors_and_the_rest),
		cmocka_unit_test(names_are_looked_up_listed_linked_and_exchanged),
		cmocka_unit_test(asynchronous_requests_are_taken_as_complete),
		cmocka_unit_test(caches_that_are_dropped_by_hand_are_an_op),
		cmocka_unit_test(the_files_of_ff_are_read_by_their_time_stamps),
		cmocka_unit_test(files_without_time_stamps_have_no_order),
		cmocka_unit_test(a_line_that_is_no_call_is_told_with_its_number),
		cmocka_unit_test(ftrace_and_perf_are_told_apart_whatever_tasks_are_called),
		cmocka_unit_test(losses_are_told_in_all_spellings),
		cmocka_unit_test(numbers_are_the_machines),
		cmocka_unit_test(uses_are_better_than_insertions),
		cmocka_unit_test(calls_are_found_by_name_and_number),
		cmocka_unit_test(every_flag_is_found),
	};

	return cmocka_run_group_tests_name("call traces", tests, folder_create, folder_destroy);
}
