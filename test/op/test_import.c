/*
 * If this fails, somebody's trace is read as something else than it says: requests are counted twice or not at all, a unit is
 * off by 512, a file of another format is taken for ours, or what was left out is left out in silence.
 */
#include "op_test.h"

#include "base/size.h"
#include "op/import.h"
#include "op/summary.h"
#include "op/touched.h"

#define SAMPLES "test/op/samples/"

/* All ops of a file that is right. */
static struct op_list list_of(const char *path, const struct trace_options *options)
{
	struct op_list list;
	struct error error;

	if (!trace_read(&list, path, options, &error))
		fail_msg("%s: %llu:%llu: %s", path, (unsigned long long)error.line,
			 (unsigned long long)error.column, error.message);
	return list;
}

static struct op_list list_of_text(const char *text, const struct trace_options *options)
{
	return list_of(file_write("a.txt", text, strlen(text)), options);
}

/* What the reader counted under this name; UINT64_MAX: it said nothing. */
static uint64_t counted(const struct op_list *list, const char *key)
{
	const struct trace_note *note;

	for (size_t i = 0; (note = trace_note_at(list->source, i)); i++) {
		if (strcmp(note->key, key) == 0)
			return note->is_counted ? note->count : 1;
	}
	return UINT64_MAX;
}

static void op_is(const struct op_list *list, size_t index, enum op_kind kind, const char *path,
		  uint64_t offset, uint64_t bytes, uint64_t time_ns)
{
	const struct op *op;

	if (index >= list->ops.count)
		fail_msg("there is no op %zu", index);
	op = &list->ops.at[index];
	assert_string_equal(op_kind_name(op->kind), op_kind_name(kind));
	assert_string_equal(list_path(list, op->path), path);
	assert_int_equal(op->offset, offset);
	assert_int_equal(op->bytes, bytes);
	assert_int_equal(op->time_ns, time_ns);
}

static struct trace_summary summary_of(const struct op_list *list)
{
	struct trace_summary summary;

	trace_summary_init(&summary);
	trace_summary_add(&summary, list->ops.at, list->ops.count);
	trace_summary_finish(&summary);
	return summary;
}

/* ---- blkparse ---- */

static void completed_requests_are_counted_once(void **state)
{
	struct op_list list = list_of(SAMPLES "blkparse-stages.txt", NULL);
	struct trace_summary summary = summary_of(&list);
	uint64_t span_ns;

	(void)state;
	assert_string_equal(list.source->format, "blkparse");
	assert_int_equal(list.ops.count, 7);
	op_is(&list, 0, OP_EXISTS, "8,2", 0, (819200 + 2048) * 512, 0);
	op_is(&list, 1, OP_READ, "8,2", 206848 * 512, 32768, 420000);
	op_is(&list, 2, OP_READ, "8,2", 206912 * 512, 131072, 900000);
	op_is(&list, 3, OP_WRITE, "8,2", 409600 * 512, 32768, 950000);
	op_is(&list, 4, OP_WRITE, "8,2", 819200 * 512, 524288, 4000000);
	op_is(&list, 5, OP_WRITE, "8,2", 820224 * 512, 524288, 4500000);
	op_is(&list, 6, OP_READ, "8,2", 206848 * 512, 32768, 5000000);
	/* Who asked, not who was interrupted. */
	assert_int_equal(list.ops.at[1].thread, 1520);
	assert_int_equal(list.ops.at[3].thread, 1533);
	assert_int_equal(list.ops.at[4].thread, 201);
	assert_int_equal(list.ops.at[5].thread, 201);
	assert_int_equal(list.ops.at[1].line, 8);
	assert_int_equal(summary.read.bytes, 196608);
	assert_int_equal(summary.read.distinct_bytes, 196608 - 32768);
	assert_int_equal(summary.write.bytes, 1081344);
	assert_int_equal(summary.file_count, 1);
	assert_int_equal(counted(&list, "flushes"), 1);
	assert_int_equal(counted(&list, "unfinished_discards"), 1);
	assert_int_equal(counted(&list, "unfinished_bytes"), 4194304);
	assert_int_equal(counted(&list, "unfinished_reads"), UINT64_MAX);
	assert_int_equal(counted(&list, "remaps"), 1);
	assert_int_equal(counted(&list, "empty_requests"), UINT64_MAX);
	assert_int_equal(trace_rows(list.source), 35);
	assert_true(trace_span(list.source, &span_ns));
	assert_int_equal(span_ns, 6000000);
	/* From issue to completion: 414.4, 398 and 1998 us. */
	assert_int_equal(trace_responses(list.source, false)->least, 398000);
	assert_int_equal(histogram_mean(trace_responses(list.source, false)),
			 (414400 + 398000 + 1998000) / 3);
	trace_summary_deinit(&summary);
	op_list_deinit(&list);
}

static void a_device_without_completions_is_read_by_what_it_has(void **state)
{
	struct op_list list = list_of(SAMPLES "blkparse-nvme.txt", NULL);

	(void)state;
	assert_string_equal(list.source->format, "blkparse");
	assert_int_equal(list.ops.count, 6);
	op_is(&list, 0, OP_EXISTS, "259,0", 0, 2008 * 512, 0);
	op_is(&list, 1, OP_EXISTS, "9,1", 0, 80 * 512, 0);
	op_is(&list, 2, OP_EXISTS, "7,0", 0, 4096, 0);
	op_is(&list, 3, OP_READ, "259,0", 1001 * 512, 512, 90000);
	op_is(&list, 4, OP_WRITE, "9,1", 64 * 512, 8192, 600000);
	op_is(&list, 5, OP_WRITE, "7,0", 0, 4096, 710000);
	assert_int_equal(list.ops.at[3].thread, 9001);
	assert_int_equal(counted(&list, "discards"), 1);
	assert_int_equal(counted(&list, "discard_bytes"), 1048576);
	assert_int_equal(counted(&list, "failed_requests"), 1);
	assert_int_equal(counted(&list, "passthrough_commands"), 1);
	assert_int_equal(counted(&list, "devices_without_completions"), 1);
	assert_int_equal(counted(&list, "devices_without_issues"), 1);
	assert_int_equal(counted(&list, "lost_events"), 17);
	op_list_deinit(&list);
}

static void a_device_on_top_of_another_counts_once_if_that_can_be_seen(void **state)
{
	static const char disk[] =
		"  8,0    0        1     0.000000000   500  A   R 1064 + 8 <- (9,1) 64\n"
		"  8,0    0        2     0.000001000   500  Q   R 1064 + 8 [a]\n"
		"  8,0    0        3     0.000002000   500  D   R 1064 + 8 [a]\n"
		"  8,0    0        4     0.000100000     0  C   R 1064 + 8 [0]\n";
	char text[2000];
	struct op_list list;

	(void)state;
	/* Nothing completes on the upper one: it is the disk's that is counted. */
	snprintf(text, sizeof(text),
		 "  9,1    0        1     0.000000000   500  Q   R 64 + 8 [a]\n%s", disk);
	list = list_of_text(text, NULL);
	assert_int_equal(list.ops.count, 3);
	op_is(&list, 2, OP_READ, "8,0", 1064 * 512, 4096, 100000);
	assert_int_equal(counted(&list, "devices_left_out"), 1);
	assert_int_equal(counted(&list, "stacked_devices"), UINT64_MAX);
	op_list_deinit(&list);
	/* Both complete: both are counted, and it is said. */
	snprintf(text, sizeof(text),
		 "  9,1    0        1     0.000000000   500  Q   R 64 + 8 [a]\n%s"
		 "  9,1    0        2     0.000110000     0  C   R 64 + 8 [0]\n",
		 disk);
	list = list_of_text(text, NULL);
	assert_int_equal(list.ops.count, 4);
	assert_int_equal(counted(&list, "stacked_devices"), 1);
	op_list_deinit(&list);
}

static void a_plain_cache_needs_no_files_and_still_the_whole(void **state)
{
	static const struct trace_options bare = {.is_bare = true};
	struct op_list list = list_of(SAMPLES "blkparse-stages.txt", &bare);

	(void)state;
	/* Which stage is taken, only the whole file tells, whoever asks. */
	assert_int_equal(list.ops.count, 6);
	op_is(&list, 0, OP_READ, "8,2", 206848 * 512, 32768, 420000);
	op_list_deinit(&list);
}

/* ---- fio ---- */

static void fio_2_has_waits_and_names_with_blanks(void **state)
{
	struct op_list list = list_of(SAMPLES "fio-v2.iolog", NULL);
	struct trace_summary summary = summary_of(&list);
	uint64_t span_ns;

	(void)state;
	assert_string_equal(list.source->format, "fio");
	assert_int_equal(list.ops.count, 14);
	op_is(&list, 0, OP_EXISTS, "/data/db/base.0", 0, 5368709120 + 8192, 0);
	op_is(&list, 1, OP_EXISTS, "/data/db/with space.1", 0, 65536, 0);
	op_is(&list, 2, OP_OPEN, "/data/db/base.0", 0, 0, 0);
	op_is(&list, 4, OP_READ, "/data/db/base.0", 16384, 16384, 0);
	op_is(&list, 5, OP_WRITE, "/data/db/base.0", 1536004000, 4000, 250000000);
	op_is(&list, 6, OP_FSYNC, "/data/db/base.0", 0, 0, 250000000);
	op_is(&list, 9, OP_FDATASYNC, "/data/db/with space.1", 0, 0, 250000000);
	op_is(&list, 11, OP_READ, "/data/db/base.0", 5368709120, 8192, 750000000);
	op_is(&list, 13, OP_CLOSE, "/data/db/with space.1", 0, 0, 750000000);
	assert_int_equal(summary.read.count, 4);
	assert_int_equal(summary.read.bytes, 57344);
	assert_int_equal(summary.read.bytes - summary.read.distinct_bytes, 16384);
	assert_int_equal(summary.write.count, 2);
	assert_int_equal(summary.write.bytes, 69536);
	assert_int_equal(summary.cold_partial_write_pages, 2);
	assert_int_equal(summary.file_count, 2);
	assert_int_equal(counted(&list, "discards"), 1);
	assert_int_equal(counted(&list, "discard_bytes"), 65536);
	assert_int_equal(counted(&list, "waits_in_microseconds"), 1);
	assert_true(trace_span(list.source, &span_ns));
	assert_int_equal(span_ns, 750000000);
	trace_summary_deinit(&summary);
	op_list_deinit(&list);
}

static void fio_3_has_time_stamps_in_microseconds(void **state)
{
	struct op_list list = list_of(SAMPLES "fio-v3.iolog", NULL);
	struct trace_summary summary = summary_of(&list);

	(void)state;
	assert_int_equal(list.ops.count, 13);
	op_is(&list, 3, OP_READ, "/data/db/k.0.0", 0, 16384, 118000);
	op_is(&list, 10, OP_READ, "/data/db/k.0.0", 0, 16384, 236000);
	assert_int_equal(summary.read.count, 5);
	assert_int_equal(summary.read.bytes, 81920);
	assert_int_equal(summary.read.distinct_bytes, 65536);
	assert_int_equal(summary.write.bytes, 4096);
	assert_int_equal(counted(&list, "times_in_microseconds"), 1);
	trace_summary_deinit(&summary);
	op_list_deinit(&list);
}

static void fio_may_close_what_nobody_opened(void **state)
{
	struct op_list list = list_of_text("fio version 2 iolog\r\n"
					   "\r\n"
					   "a close\r\n"
					   "a read 0 512\r\n"
					   "a close\r\n"
					   "a close\r\n"
					   "a wait 50 0\r\n"
					   "a wait 100\r\n"
					   "fio version 2 iolog\r\n"
					   "a read 512 0\r\n"
					   "a write 512 512\r\n"
					   "a rea",
					   NULL);

	(void)state;
	assert_int_equal(list.ops.count, 4);
	op_is(&list, 0, OP_EXISTS, "a", 0, 1024, 0);
	op_is(&list, 1, OP_READ, "a", 0, 512, 0);
	op_is(&list, 2, OP_CLOSE, "a", 0, 0, 0);
	op_is(&list, 3, OP_WRITE, "a", 512, 512, 100000);
	assert_int_equal(counted(&list, "closes_of_files_not_open"), 2);
	assert_int_equal(counted(&list, "waits_too_short"), 1);
	assert_int_equal(counted(&list, "headers_within"), 1);
	assert_int_equal(counted(&list, "empty_requests"), 1);
	assert_int_equal(counted(&list, "last_line_cut_off"), 1);
	op_list_deinit(&list);
}

/* ---- a request in each row ---- */

static void msr_has_windows_time_and_two_disks(void **state)
{
	struct op_list list = list_of(SAMPLES "msr-two-disks.csv", NULL);
	struct trace_summary summary = summary_of(&list);
	uint64_t span_ns;

	(void)state;
	assert_string_equal(list.source->format, "msr");
	assert_int_equal(list.ops.count, 9);
	op_is(&list, 0, OP_EXISTS, "web,0", 0, 549755813888 + 65536, 0);
	op_is(&list, 1, OP_EXISTS, "web,1", 0, 880803840 + 4096, 0);
	op_is(&list, 2, OP_READ, "web,0", 1610645504, 32768, 0);
	op_is(&list, 3, OP_WRITE, "web,0", 5370691584, 24576, 0);
	op_is(&list, 5, OP_READ, "web,1", 880803840, 4096, 1976543300);
	/* Out of order: kept where it stands, and time stands still. */
	op_is(&list, 6, OP_READ, "web,0", 1610645504, 32768, 1976543300);
	assert_int_equal(list.ops.at[6].line, 5);
	op_is(&list, 8, OP_READ, "web,0", 549755813888, 65536, 3976543300);
	assert_int_equal(summary.read.count, 5);
	assert_int_equal(summary.read.bytes, 147456);
	assert_int_equal(summary.read.pages, 36);
	assert_int_equal(summary.write.count, 2);
	assert_int_equal(summary.write.bytes, 28672);
	assert_int_equal(summary.cold_read_pages, 24);
	assert_int_equal(counted(&list, "rows_out_of_order"), 1);
	assert_int_equal(counted(&list, "empty_requests"), 1);
	assert_int_equal(trace_rows(list.source), 8);
	assert_true(trace_span(list.source, &span_ns));
	assert_int_equal(span_ns, 3976543300);
	assert_int_equal(trace_responses(list.source, true)->most, 3001100);
	trace_summary_deinit(&summary);
	op_list_deinit(&list);
}

static void msr_comes_with_headers_semicolons_and_quotes_too(void **state)
{
	static const char *const texts[] = {
		"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
		"131487204001234567,web,0,Read,4096,8192,7\n"
		"131487204001234667,web,0,Write,0x3000,512,7\n",
		/* a table program's: semicolons, quotes, decimals, digits grouped */
		"\xef\xbb\xbf\"Timestamp\";\"Hostname\";\"DiskNumber\";\"Type\";\"Offset\";"
		"\"Size\";\"R\"\r\n"
		"131487204001234567;\"web\";0;\"READ\";\"4,096\";8192,0;7\r\n"
		"131487204001234667;\"web\";0;\"write\";1.2288E+4;512;7\r\n",
		/* no response, and a second file behind the first */
		"131487204001234567\tweb\t0\tr\t4096\t8192\n\n"
		"Timestamp\tHostname\tDiskNumber\tType\tOffset\tSize\n"
		"# a comment\n"
		"131487204001234667\tweb\t0\tw\t12288\t512\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct op_list list = list_of_text(texts[i], NULL);

		assert_string_equal(list.source->format, "msr");
		assert_int_equal(list.ops.count, 3);
		op_is(&list, 1, OP_READ, "web,0", 4096, 8192, 0);
		op_is(&list, 2, OP_WRITE, "web,0", 12288, 512, 10000);
		op_list_deinit(&list);
	}
}

static void every_block_format_has_its_columns_and_units(void **state)
{
	static const struct {
		const char *file, *format;
		struct {
			enum op_kind kind;
			const char *path;
			uint64_t offset, bytes, time_ns;
		} ops[8];
	} samples[] = {
		{"systor.csv",
		 "systor17",
		 {{OP_EXISTS, "lun,0", 0, 139264, 0},
		  {OP_EXISTS, "lun,3", 0, 8192, 0},
		  {OP_READ, "lun,0", 8192, 131072, 0},
		  {OP_READ, "lun,0", 8192, 4096, 0},
		  {OP_WRITE, "lun,3", 1024, 512, 6924000},
		  {OP_READ, "lun,3", 0, 8192, 1000000500}}},
		{"tencent.csv",
		 "tencent",
		 {{OP_EXISTS, "volume,1058", 0, 4247328ull * 512, 0},
		  {OP_EXISTS, "volume,63", 0, 512, 0},
		  {OP_WRITE, "volume,1058", 4247200ull * 512, 65536, 0},
		  {OP_READ, "volume,1058", 4247200ull * 512, 4096, 0},
		  {OP_READ, "volume,63", 0, 512, 1000000000}}},
		{"alibaba.csv",
		 "alibaba",
		 {{OP_EXISTS, "device,419", 0, 8792731648 + 16384, 0},
		  {OP_EXISTS, "device,725", 0, 12288, 0},
		  {OP_WRITE, "device,419", 8792731648, 16384, 0},
		  {OP_READ, "device,725", 4096, 8192, 0},
		  {OP_READ, "device,419", 8792731648, 4096, 233000}}},
		{"umass.spc",
		 "spc",
		 {{OP_EXISTS, "asu,0", 0, 303567ull * 512 + 3584, 0},
		  {OP_EXISTS, "asu,1", 0, 55590ull * 512 + 3072, 0},
		  {OP_WRITE, "asu,0", 303567ull * 512, 3584, 0},
		  {OP_READ, "asu,1", 55590ull * 512, 3072, 26214000},
		  {OP_READ, "asu,0", 303567ull * 512, 512, 78643000}}},
		{"disksim.trace",
		 "disksim",
		 {{OP_EXISTS, "disk,0", 0, 1016 * 512, 0},
		  {OP_EXISTS, "disk,2", 0, 16 * 512, 0},
		  {OP_READ, "disk,0", 512000, 4096, 0},
		  {OP_WRITE, "disk,0", 512000, 8192, 250000},
		  {OP_READ, "disk,2", 4096, 4096, 1500000}}},
		/* no newline at its end, and nothing is missing */
		{"mqsim.trace",
		 "disksim",
		 {{OP_EXISTS, "disk,0", 0, 657744ull * 512, 0},
		  {OP_EXISTS, "disk,1", 0, 31244848ull * 512, 0},
		  {OP_READ, "disk,0", 657728ull * 512, 8192, 0},
		  {OP_WRITE, "disk,1", 31244784ull * 512, 32768, 152000},
		  {OP_READ, "disk,1", 31244784ull * 512, 8192, 308000}}},
		{"lirs.trace",
		 "lirs",
		 {{OP_EXISTS, "pages", 0, 32768, 0},
		  {OP_READ, "pages", 0, 4096, 0},
		  {OP_READ, "pages", 4096, 4096, 0},
		  {OP_READ, "pages", 28672, 4096, 0},
		  {OP_READ, "pages", 4096, 4096, 0}}},
		{"arc.lis",
		 "arc",
		 {{OP_EXISTS, "pages", 0, 230035ull * 4096, 0},
		  {OP_READ, "pages", 230027ull * 4096, 32768, 0},
		  {OP_READ, "pages", 230030ull * 4096, 8192, 0},
		  {OP_READ, "pages", 20480, 4096, 0}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		char path[100];
		struct op_list list;
		size_t count = 0;

		snprintf(path, sizeof(path), SAMPLES "%s", samples[i].file);
		list = list_of(path, NULL);
		assert_string_equal(list.source->format, samples[i].format);
		for (; count < 8 && samples[i].ops[count].path; count++)
			op_is(&list, count, samples[i].ops[count].kind, samples[i].ops[count].path,
			      samples[i].ops[count].offset, samples[i].ops[count].bytes,
			      samples[i].ops[count].time_ns);
		assert_int_equal(list.ops.count, count);
		assert_int_equal(counted(&list, "last_line_cut_off"), UINT64_MAX);
		op_list_deinit(&list);
		/* And for a plain cache the same, without what was there before. */
		list = list_of(path, &(struct trace_options){.is_bare = true});
		assert_int_equal(list.ops.at[0].kind, samples[i].ops[2].kind == OP_READ
							      ? OP_READ
							      : samples[i].ops[2].kind);
		op_list_deinit(&list);
	}
}

/* ---- binary ---- */

static void put(unsigned char *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

struct vscsi_record {
	unsigned int command;
	uint32_t bytes;
	uint64_t block, time_us, response_us;
};

static size_t vscsi_write(unsigned char *to, const struct vscsi_record *records, size_t count,
			  bool is_second)
{
	size_t each = is_second ? 40 : 32;

	memset(to, 0, count * each);
	for (size_t i = 0; i < count; i++) {
		unsigned char *at = to + i * each;

		put(at + (is_second ? 4 : 0), i, 4);
		put(at + (is_second ? 8 : 4), records[i].bytes, 4);
		put(at + (is_second ? 12 : 8), 1, 4);
		put(at + (is_second ? 0 : 12), records[i].command, 2);
		put(at + (is_second ? 2 : 14), is_second ? 0x200 : 0x100, 2);
		put(at + 16, records[i].block, 8);
		put(at + 24, records[i].time_us, 8);
		if (is_second)
			put(at + 32, records[i].response_us, 8);
	}
	return count * each;
}

static void vscsi_is_read_in_both_versions(void **state)
{
	/* The clock has 32 bits, and wraps; one command asks for the capacity, one flushes. */
	static const struct vscsi_record records[] = {
		{0x28, 4096, 100, 4294967000u, 50},
		{0x2a, 512, 1ull << 40, 4294967290u, 60},
		{0x25, 8, 0, 4294967290u, 1},
		{0x88, 8192, 7, 4, 70},
		{0x8a, 1024, 9, 4294967295u, 80},
		{0x35, 0, 0, 10, 1},
		{0x42, 65536, 0, 11, 1},
	};
	unsigned char bytes[7 * 40];
	struct op_list list;
	struct error error;

	(void)state;
	for (int second = 0; second < 2; second++) {
		size_t count = vscsi_write(bytes, records, 7, second);

		list = list_of(file_write("a.vscsi", bytes, count), NULL);
		assert_string_equal(list.source->format, "vscsi");
		assert_int_equal(list.ops.count, 5);
		op_is(&list, 0, OP_EXISTS, "disk", 0, (1ull << 49) + 512, 0);
		op_is(&list, 1, OP_READ, "disk", 51200, 4096, 0);
		op_is(&list, 2, OP_WRITE, "disk", 1ull << 49, 512, 290000);
		op_is(&list, 3, OP_READ, "disk", 3584, 8192, 300000);
		/* from before the wrap: late, not a round later */
		op_is(&list, 4, OP_WRITE, "disk", 4608, 1024, 300000);
		assert_int_equal(counted(&list, "clock_wraps"), 1);
		assert_int_equal(counted(&list, "rows_out_of_order"), 1);
		assert_int_equal(counted(&list, "other_requests"), 1);
		assert_int_equal(counted(&list, "flushes"), 1);
		assert_int_equal(counted(&list, "discards"), 1);
		assert_int_equal(trace_responses(list.source, true) != NULL, second);
		op_list_deinit(&list);
		/* Cut off in the middle of a record. */
		assert_false(
			trace_read(&list, file_write("a.vscsi", bytes, count - 3), NULL, &error));
		assert_non_null(strstr(error.message, "cut off after 6 records"));
		op_list_deinit(&list);
		assert_true(trace_read(&list, file_write("a.vscsi", bytes, count - 3),
				       &(struct trace_options){.lenient = true}, &error));
		assert_int_equal(list.ops.count, 5);
		assert_true(list.is_cut_off);
		op_list_deinit(&list);
	}
}

static void keys_of_32_bits_are_read_when_named(void **state)
{
	static const unsigned char bytes[] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0};
	struct op_list list = list_of(file_write("keys", bytes, sizeof(bytes)),
				      &(struct trace_options){.format = "u32"});

	(void)state;
	assert_int_equal(list.ops.count, 4);
	op_is(&list, 0, OP_EXISTS, "pages", 0, 1ull << 44, 0);
	op_is(&list, 2, OP_READ, "pages", 4294967295ull * 4096, 4096, 0);
	op_list_deinit(&list);
}

/* ---- any text ---- */

static void a_text_is_read_as_its_columns_are_said_to_be(void **state)
{
	static const struct {
		const char *columns, *text;
	} cases[] = {
		{"time=1,op=2,offset=3,bytes=4,unit=512", "0.5,R,8,16\n0.75,W,32,1\n"},
		{"time=1,time-unit=ms,op=2,sector=3,sectors=4,separator=blank",
		 "500.0 r 8 16\n750,0 w 32 1\n"},
		{"op=kind,offset=start,bytes=length,time=when,offset-unit=512,bytes-unit=512",
		 "when;length;kind;start\n0,5;16;READ;8\n0,75;1;WRITE;32\n"},
		{"op=1,read=0,write=1,offset=2,bytes=3,time=4,time-unit=us",
		 "0|4096|8192|500000\n1|16384|512|750000\n"},
	};
	struct op_list list;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		list = list_of_text(cases[i].text,
				    &(struct trace_options){.columns = cases[i].columns});
		assert_string_equal(list.source->format, "text");
		assert_int_equal(list.ops.count, 3);
		op_is(&list, 0, OP_EXISTS, "disk", 0, 16896, 0);
		op_is(&list, 1, OP_READ, "disk", 4096, 8192, 0);
		op_is(&list, 2, OP_WRITE, "disk", 16384, 512, 250000000);
		op_list_deinit(&list);
	}
	list = list_of_text(
		"7 /var/db/a b\n",
		&(struct trace_options){.columns = "page=1,device=2,device2=3,thread=1"});
	op_is(&list, 1, OP_READ, "/var/db/a,b", 28672, 4096, 0);
	assert_int_equal(list.ops.at[1].thread, 7);
	op_list_deinit(&list);
}

static void what_is_wrong_with_the_columns_is_said(void **state)
{
	static const struct {
		const char *columns, *message;
	} cases[] = {
		{"offset=1",
		 "--columns: how large are requests? (bytes=COLUMN, sectors= or pages=, or "
		 "size=SIZE for all)"},
		{"bytes=1",
		 "--columns: which one is the offset? (offset=COLUMN, or sector= or page=)"},
		{"ofset=1,bytes=2", "--columns: there is no \"ofset\" (nearest: offset)"},
		{"offset=1,bytes", "--columns: \"bytes\" is not NAME=COLUMN"},
		{"offset=0,bytes=2", "--columns offset=0: columns are 1 to 64"},
		{"offset=1,sector=2,bytes=3",
		 "--columns: the offset has a column already when sector=2 comes"},
		{"offset=lba,bytes=2", "no column of the first row is called \"lba\""},
		{"offset=1,bytes=2,time=3,time-unit=h",
		 "--columns: a time's unit \"h\" is none of ns, us, ms, s, 100ns"},
		{"offset=1,bytes=2,size=4096", "--columns: bytes= and size= are one too many"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct trace_options options = {.columns = cases[i].columns};
		struct op_list list;
		struct error error;

		assert_false(
			trace_read(&list, file_write("a.txt", "0,512\n", 6), &options, &error));
		assert_string_equal(error.message, cases[i].message);
		op_list_deinit(&list);
	}
}

/* ---- mistakes ---- */

static void a_wrong_row_is_named_with_its_line_and_place(void **state)
{
	static const struct {
		const char *row, *message;
		unsigned int column;
	} cases[] = {
		{"131487204001234567,web,0,Read,x4096,8192,7", "offset \"x4096\" is not a number",
		 31},
		{"131487204001234567,web,0,Read,-4096,8192,7", "offset \"-4096\" is negative", 31},
		{"131487204001234567,web,0,Read,4096.5,8192,7",
		 "offset \"4096.5\" is not a whole number", 31},
		{"131487204001234567,web,0,Read,18446744073709551616,8192,7",
		 "offset \"18446744073709551616\" is too large", 31},
		{"131487204001234567,web,0,Read,4096,3000000000000,7",
		 "its size is more than 2 TiB, which no request has", 1},
		{"131487204001234567,web,0,Read,9223372036854775807,8192,7",
		 "offset and bytes together go beyond 2^63", 1},
		{"131487204001234567,web,0,17,4096,8192,7",
		 "op \"17\" is neither a read nor a write", 26},
		{"131487204001234567,web,0,Read,4096", "5 columns where at least 6 were expected",
		 1},
		{"131487204001234567,,0,Read,4096,8192,7", "device \"\" is empty", 20},
		{"noon,web,0,Read,4096,8192,7", "time \"noon\" is not a number", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static const char good[] = "131487204001234567,web,0,Read,4096,8192,7\r\n";
		char *text = memory_alloc(8192, 1);
		struct op_list list;
		struct error error;

		for (int row = 0; row < 100; row++) {
			strcat(text, row == 3 ? cases[i].row : good);
			strcat(text, row == 3 ? "\r\n" : "");
		}
		assert_false(
			trace_read(&list, file_write("a.csv", text, strlen(text)), NULL, &error));
		assert_string_equal(error.message, cases[i].message);
		assert_int_equal(error.line, 4);
		assert_int_equal(error.column, cases[i].column);
		assert_string_equal(error.excerpt, cases[i].row);
		/* It is read twice: nothing is delivered before the whole was seen. */
		assert_int_equal(list.ops.count, 0);
		op_list_deinit(&list);
		assert_true(trace_read(&list, file_name("a.csv"),
				       &(struct trace_options){.lenient = true}, &error));
		assert_int_equal(list.skipped, 1);
		assert_int_equal(list.ops.count, 1 + 99);
		assert_int_equal(trace_rows(list.source), 100);
		op_list_deinit(&list);
		memory_free(text);
	}
}

static void a_line_cut_in_its_middle_is_left_out_with_a_word(void **state)
{
	static const struct {
		const char *text;
		size_t ops;
	} cases[] = {
		{"131487204001234567,web,0,Read,4096,8192,7\n131487204001234567,web,0,Re", 2},
		{"0,1,4096,r,0.5\n0,1,4096,r,0.5\n0,1,40", 3},
		{"11413000 0 657728 16 1\n11565000 1 3124", 2},
		{"  8,0    0        1     0.000000000  1520  Q   R 8 + 8 [a]\n  8,0    0        2  "
		 "   0.0",
		 2},
		/* long enough to be a row: whether it is the whole row, nobody can say */
		{"131487204001234567,web,0,Read,4096,8192,7\n131487204001234567,web,0,Read,4096,81",
		 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_list list = list_of_text(cases[i].text, NULL);

		assert_int_equal(list.ops.count, cases[i].ops);
		if (i + 1 < sizeof(cases) / sizeof(cases[0]))
			assert_int_equal(counted(&list, "last_line_cut_off"), 1);
		op_list_deinit(&list);
	}
}

static void operations_that_are_none_are_counted(void **state)
{
	struct op_list list = list_of_text("419,W,0,16384,1\n"
					   "419,R,0,4096,2\n"
					   "419,discard,0,4096,3\n"
					   "419,Flush,0,0,4\n"
					   "419,R,0,4096,5\n"
					   "419,R,0,4096,6\n"
					   "419,zone-report,0,0,7\n",
					   NULL);

	(void)state;
	assert_string_equal(list.source->format, "alibaba");
	assert_int_equal(list.ops.count, 1 + 4);
	assert_int_equal(counted(&list, "discards"), 1);
	assert_int_equal(counted(&list, "flushes"), 1);
	assert_int_equal(counted(&list, "other_requests"), 1);
	assert_int_equal(trace_rows(list.source), 7);
	op_list_deinit(&list);
}

static void rows_before_the_first_ones_time_lengthen_the_span(void **state)
{
	struct op_list list = list_of_text("100,8,8,0,1\n97,8,8,0,1\n101,8,8,0,1\n", NULL);
	uint64_t span_ns;

	(void)state;
	assert_string_equal(list.source->format, "tencent");
	assert_true(trace_span(list.source, &span_ns));
	assert_int_equal(span_ns, 4 * NS_PER_SECOND);
	op_is(&list, 3, OP_READ, "volume,1", 4096, 4096, NS_PER_SECOND);
	op_list_deinit(&list);
}

static void columns_are_refused_where_the_format_has_its_own(void **state)
{
	const struct trace_options options = {.format = "msr", .columns = "offset=1,bytes=2"};
	struct op_list list;
	struct error error;

	(void)state;
	assert_false(trace_read(&list, SAMPLES "msr-two-disks.csv", &options, &error));
	assert_non_null(strstr(error.message, "is read as msr, which has its own"));
	op_list_deinit(&list);
}

/* ---- what is touched, against a byte each ---- */

static void touched_bytes_are_exact(void **state)
{
	enum { BYTES = 200000 };
	unsigned char *before[2] = {memory_alloc(BYTES, 1), memory_alloc(BYTES, 1)};
	struct touched *touched = touched_create();
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint64_t offset, bytes, fresh = 0, pages = 0, fresh_pages = 0, untouched = 0;
		unsigned int side;
		struct touch touch;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		side = seed >> 63;
		offset = (seed >> 20) % BYTES;
		bytes = 1 + (seed >> 40) % (i % 3 ? 700 : 9000);
		if (i % 5 == 0)
			offset = offset / 512 * 512, bytes = (bytes + 511) / 512 * 512;
		if (offset + bytes > BYTES)
			bytes = BYTES - offset;
		for (uint64_t page = offset / 4096; page <= (offset + bytes - 1) / 4096; page++) {
			bool mine = false, any = false;

			for (uint64_t at = page * 4096; at < (page + 1) * 4096 && at < BYTES;
			     at++) {
				mine |= before[side][at];
				any |= before[0][at] | before[1][at];
			}
			pages++;
			fresh_pages += !mine;
			untouched += !any;
		}
		for (uint64_t at = offset; at < offset + bytes; at++) {
			fresh += !before[side][at];
			before[side][at] = 1;
		}
		assert_true(touched_add(touched, 7, offset, bytes, side, &touch));
		assert_int_equal(touch.new_bytes, fresh);
		assert_int_equal(touch.pages, pages);
		assert_int_equal(touch.new_pages, fresh_pages);
		assert_int_equal(touch.untouched_pages, untouched);
	}
	touched_destroy(touched);
	memory_free(before[0]);
	memory_free(before[1]);
}

static void a_renamed_file_is_one_and_a_name_used_again_two(void **state)
{
	struct op_list list = csv_read("0,1,exists,a,0,8192\n"
				       "0,1,read,a,0,4096\n"
				       "0,2,rename,a>b,0,0\n"
				       "0,2,read,b,0,4096\n"
				       "0,2,unlink,b,0,0\n"
				       "0,2,create,b,0,0\n"
				       "0,2,write,b,0,100\n"
				       "0,2,read,b,0,100\n"
				       "0,2,mkdir,d,0,0\n");
	struct trace_summary summary = summary_of(&list);

	(void)state;
	assert_int_equal(summary.file_count, 2);
	assert_int_equal(summary.directory_count, 1);
	assert_int_equal(summary.thread_count, 2);
	assert_int_equal(summary.read.bytes - summary.read.distinct_bytes, 4096);
	assert_string_equal(list_path(&list, summary.files.at[0].path), "b");
	assert_string_equal(list_path(&list, summary.files.at[0].first_path), "a");
	assert_int_equal(summary.files.at[0].read_count, 2);
	assert_int_equal(summary.files.at[1].write_bytes, 100);
	assert_int_equal(summary.cold_read_pages, 1);
	assert_int_equal(summary.cold_partial_write_pages, 1);
	trace_summary_deinit(&summary);
	op_list_deinit(&list);
}

/* /a is there because /a/b is; the trace says more only of the latter. */
static void directories_on_the_way_to_others_are_not_counted(void **state)
{
	static const char calls[] = "1 1.0 chdir(\"/a/b\") = 0\n"
				    "1 2.0 open(\"c\", O_RDONLY|O_DIRECTORY) = 3\n"
				    "1 3.0 openat(3, \"d\", O_RDWR|O_CREAT, 0644) = 4\n"
				    "1 4.0 write(4, \"\"..., 100) = 100\n";
	struct op_list list;
	struct error error;
	struct trace_summary summary;

	(void)state;
	assert_true(trace_read(&list, file_write("mkdir.txt", calls, sizeof(calls) - 1),
			       &(struct trace_options){.format = "strace"}, &error));
	summary = summary_of(&list);
	assert_int_equal(summary.kinds[OP_MKDIR], 3);
	assert_int_equal(summary.directory_count, 2);
	assert_int_equal(summary.file_count, 1);
	trace_summary_deinit(&summary);
	op_list_deinit(&list);
}

/* ---- other people's traces ---- */

/* The device's number in its file's name: "volume,1058". */
static uint64_t device_number(const char *name)
{
	const char *comma = strrchr(name, ',');

	return comma ? strtoull(comma + 1, NULL, 10) : 0;
}

/* Counts and checksums as test data's own description has them, made by others. */
static void others_traces_hold_what_is_known_of_them(void **state)
{
	static const struct {
		const char *file, *format;
		uint64_t rows, reads, writes, requests, distinct, checksum;
	} traces[] = {
		{"cloudPhysicsIO.oracleGeneral.bin", "oracleGeneral", 113872, 113872, 0, 113872,
		 48974, 185480605573491364},
		{"cloudPhysicsIO.vscsi", "vscsi", 113872, 46974, 66898, 1141869, 269210,
		 2585179408433781370},
		{"lirs_2_pools.trace.gz", "lirs", 100000, 100000, 0, 100000, 9939, 12694604177733},
		{"lirs_cpp.trace.gz", "lirs", 9047, 9047, 0, 9047, 1223, 7716377393},
		{"lirs_cs.trace.gz", "lirs", 6781, 6781, 0, 6781, 1409, 17083902761},
		{"lirs_gli.trace.gz", "lirs", 6015, 6015, 0, 6015, 2529, 18254159831},
		{"lirs_loop.trace.gz", "lirs", 505500, 505500, 0, 505500, 1011, 64564572568750},
		{"lirs_multi1.trace.gz", "lirs", 15858, 15858, 0, 15858, 2606, 89209413131},
		{"lirs_multi2.trace.gz", "lirs", 26311, 26311, 0, 26311, 5684, 492768091360},
		{"lirs_multi3.trace.gz", "lirs", 30241, 30241, 0, 30241, 7454, 957309225355},
		{"lirs_ps.trace.gz", "lirs", 10448, 10448, 0, 10448, 3083, 41489467897},
		{"lirs_sprite.trace.gz", "lirs", 133996, 133996, 0, 133996, 7075, 17622446709143},
		{"w106.trace.xz", "u32", 5292456, 5292456, 0, 5292456, 275171, 6417564612520317681},
		{"OLTP.lis.zst", "arc", 914145, 914145, 0, 914145, 186880, 28460343386821174},
		{"P3.lis.zst", "arc", 238578, 238578, 0, 3912296, 762543, 3887650260038707971},
		{"P6.lis.zst", "arc", 519711, 519711, 0, 12672123, 773770, 14049386503330292163u},
		{"P12.lis.zst", "arc", 547147, 547147, 0, 13208930, 3153310, 16792169443833426372u},
		{"msr-cambridge1-sample.csv", "msr", 1000, 508, 492, 2473, 1917, 5617795558087},
		{"systor17-traces-sample.csv.gz", "systor17", 999, 826, 173, 10466, 9831,
		 54053017717094411},
		{"systor17-additional-sample.csv.gz", "systor17", 999, 700, 299, 5890, 5460,
		 5254628592842071},
		{"tencent_cloud_storage-sample.bz2", "tencent", 50000, 24521, 25479, 378253, 348239,
		 5631462274972633961},
		{"tpcc-small.trace", "disksim", 6999, 4381, 2618, 20669, 20470,
		 9506597367011564539u},
		{"wsrch-small.trace", "disksim", 24783, 24779, 4, 93312, 93029,
		 9569297759275697162u},
	};
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		char name[200];
		struct trace_options options = {0};
		uint64_t requests = 0, checksum = 0;
		struct trace_summary summary;
		struct op_list list;
		const char *path;

		snprintf(name, sizeof(name), "traces/%s", traces[i].file);
		path = shared_file(name);
		if (!path)
			continue;
		found++;
		if (strcmp(traces[i].format, "u32") == 0)
			options.format = "u32";
		list = list_of(path, &options);
		assert_string_equal(list.source->format, traces[i].format);
		for (size_t n = 0; n < list.ops.count; n++) {
			const struct op *op = &list.ops.at[n];
			uint64_t device = device_number(list_path(&list, op->path));

			if (op->kind == OP_EXISTS)
				continue;
			for (uint64_t page = op->offset / 4096;
			     page <= (op->offset + op->bytes - 1) / 4096; page++)
				checksum += ++requests * ((device << 40) + page);
		}
		summary = summary_of(&list);
		assert_int_equal(trace_rows(list.source), traces[i].rows);
		assert_int_equal(summary.read.count, traces[i].reads);
		assert_int_equal(summary.write.count, traces[i].writes);
		assert_int_equal(requests, traces[i].requests);
		assert_int_equal(summary.read.pages + summary.write.pages, traces[i].requests);
		assert_int_equal(summary.distinct_pages, traces[i].distinct);
		if (checksum != traces[i].checksum)
			fail_msg("%s: other requests", traces[i].file);
		trace_summary_deinit(&summary);
		op_list_deinit(&list);
	}
	if (!found)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completed_requests_are_counted_once),
		cmocka_unit_test(a_device_without_completions_is_read_by_what_it_has),
		cmocka_unit_test(a_device_on_top_of_another_counts_once_if_that_can_be_seen),
		cmocka_unit_test(a_plain_cache_needs_no_files_and_still_the_whole),
		cmocka_unit_test(fio_2_has_waits_and_names_with_blanks),
		cmocka_unit_test(fio_3_has_time_stamps_in_microseconds),
		cmocka_unit_test(fio_may_close_what_nobody_opened),
		cmocka_unit_test(msr_has_windows_time_and_two_disks),
		cmocka_unit_test(msr_comes_with_headers_semicolons_and_quotes_too),
		cmocka_unit_test(every_block_format_has_its_columns_and_units),
		cmocka_unit_test(vscsi_is_read_in_both_versions),
		cmocka_unit_test(keys_of_32_bits_are_read_when_named),
		cmocka_unit_test(a_text_is_read_as_its_columns_are_said_to_be),
		cmocka_unit_test(what_is_wrong_with_the_columns_is_said),
		cmocka_unit_test(a_wrong_row_is_named_with_its_line_and_place),
		cmocka_unit_test(a_line_cut_in_its_middle_is_left_out_with_a_word),
		cmocka_unit_test(operations_that_are_none_are_counted),
		cmocka_unit_test(rows_before_the_first_ones_time_lengthen_the_span),
		cmocka_unit_test(columns_are_refused_where_the_format_has_its_own),
		cmocka_unit_test(touched_bytes_are_exact),
		cmocka_unit_test(a_renamed_file_is_one_and_a_name_used_again_two),
		cmocka_unit_test(directories_on_the_way_to_others_are_not_counted),
		cmocka_unit_test(others_traces_hold_what_is_known_of_them),
	};

	return cmocka_run_group_tests_name("import", tests, folder_create, folder_destroy);
}
