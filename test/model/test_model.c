/*
 * If this fails, a trace is carried out as something else than it says, or a mistake in one ends in
 * silence, in a crash or in an endless loop.
 */
#include "model_test.h"

#include "cache/cache_private.h"
#include "machine/model/filesystem.h"
#include "machine/model/model_private.h"
#include "report/report.h"

/* ---- mistakes ---- */

static void ops_on_files_that_do_not_exist(void **state)
{
	static const char *const ops[] = {"read a 0 1",
					  "write a 0 1",
					  "open a",
					  "fsync a",
					  "fdatasync a",
					  "unlink a",
					  "rename a>b",
					  "truncate a 0 1",
					  "fallocate a 0 1",
					  "mmap_read a 0 1",
					  "mmap_write a 0 1",
					  "fadvise_random a",
					  "fadvise_dontneed a",
					  "fadvise_willneed a 0 1"};

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		wrong(ops[i], "there is no such file here");
		/* Looking it up changes nothing about that. */
		for (int before = 0; before < 2; before++) {
			char text[128];

			snprintf(text, sizeof(text),
				 before ? "stat a\n%s" : "exists a 0 4096\nunlink a\n%s", ops[i]);
			wrong(text, "there is no such file here");
		}
	}
	wrong("close a", "not open");
	wrong("exists a 0 1\nclose a", "not open");
	wrong("exists a 0 1\nopen a\nclose a\nclose a", "not open");
}

static void the_message_says_where(void **state)
{
	struct run run = {.has_lines = true};

	(void)state;
	assert_false(run_text(&run, "exists a 0 1\nread a 0 1\nread d/nowhere 0 1"));
	assert_int_equal(run.error.line, 4);
	assert_string_equal(run.error.file, "test");
	assert_non_null(strstr(run.error.message, "read \"d/nowhere\": there is no such file"));
	run.has_lines = false;
	assert_false(run_text(&run, "exists a 0 1\nread a 0 1\nread d/nowhere 0 1"));
	assert_int_equal(run.error.line, 0);
	assert_non_null(strstr(run.error.message, "test: operation 3 (read \"d/nowhere\")"));
}

static void things_that_cannot_be_done(void **state)
{
	(void)state;
	wrong("exists a 0 1\nexists a 0 1", "exists already");
	wrong("exists a 0 1\nstat a\nexists b 0 1", "must come first");
	wrong("mkdir a/b", "its directory does not exist");
	wrong("create a/b", "its directory does not exist");
	wrong("exists a 0 1\ncreate a/b", "its directory does not exist");
	wrong("mkdir a\nmkdir a", "exists already");
	wrong("exists a 0 1\nmkdir a", "exists already");
	wrong("mkdir a\nread a 0 1", "it is a directory");
	wrong("mkdir a\nwrite a 0 1", "it is a directory");
	wrong("mkdir a\ntruncate a 0 0", "it is a directory");
	wrong("mkdir a\ncreate a/b\nunlink a", "not empty");
	wrong("exists d/a 0 1\nunlink d", "not empty");
	wrong("exists a 0 1\nrename a>d/b", "the new name's directory does not exist");
	wrong("exists a 0 1\nopen a\nunlink a\nunlink a", "unlinked already");
	wrong("exists a 0 1\nopen a\nunlink a\nrename a>b", "unlinked already");
}

static void files_beyond_a_pebibyte_are_refused_and_those_below_are_not(void **state)
{
	(void)state;
	wrong("exists a 0 9000000000000000000", "larger than 1 PiB");
	wrong("exists_sparse a 0 1125899906842625", "larger than 1 PiB");
	wrong("create a\nwrite a 4611686018427387904 8192", "larger than 1 PiB");
	wrong("create a\nwrite a 1125899906842623 2", "larger than 1 PiB");
	wrong("create a\ntruncate a 0 9223372036854775807", "larger than 1 PiB");
	wrong("create a\nfallocate a 9223372036854771712 4096", "larger than 1 PiB");
	/* To the last byte; and what only asks there is answered. */
	assert_int_equal(totals_of("exists a 0 1125899906842624\nread a 1125899906842623 10\n"
				   "read a 4611686018427387904 8192\n"
				   "fadvise_willneed a 9223372036854771712 0\n"
				   "fadvise_dontneed a 9223372036854771712 0\n"
				   "fadvise_willneed a 1125899906838528 0")
				 .read_bytes,
			 4096);
	assert_int_equal(totals_of("create a\nwrite a 1125899906842623 1\nsync").write_bytes, 4096);
}

/* ---- what ops do ---- */

static void nothing_is_read_beyond_the_end_and_nothing_by_empty_requests(void **state)
{
	struct counters totals =
		totals_of("exists a 0 10000\nread a 0 0\nread a 10000 4096\nread a 20000 4096\n"
			  "write a 0 0\nmmap_read a 0 0\nmmap_read a 20000 4096\nfadvise_willneed "
			  "a 20000 4096");

	(void)state;
	assert_int_equal(totals.read_bytes, 0);
	assert_int_equal(totals.page_accesses, 0);
	/* A read over the end is cut off there. */
	totals = totals_of("exists a 0 10000\nread a 8192 1048576");
	assert_int_equal(totals.read_bytes, 4096);
	assert_int_equal(totals.page_accesses, 1);
	/* A write of nothing far out does not make the file longer. */
	totals = totals_of("create a\nwrite a 1000000 0\nread a 0 4096");
	assert_int_equal(totals.read_bytes + totals.page_accesses, 0);
}

static void an_unlinked_file_lives_until_its_last_descriptor_is_closed(void **state)
{
	struct counters totals = totals_of(
		"exists a 0 1048576\nread a 0 1048576\n@2 open a\nunlink a\nread a 0 1048576\n"
		"close a\n@2 read a 0 1048576\nmark here");

	(void)state;
	assert_int_equal(totals.read_bytes, 1048576);
	assert_int_equal(totals.inactive_file_pages + totals.active_file_pages, 256);
	totals = totals_of(
		"exists a 0 1048576\nread a 0 1048576\n@2 open a\nunlink a\nclose a\n@2 close a");
	assert_int_equal(totals.inactive_file_pages + totals.active_file_pages, 0);
	wrong("exists a 0 1\nopen a\nunlink a\nclose a\nread a 0 1", "no such file");
	/* Its dirty pages die with it. */
	totals = totals_of("create a\nwrite a 0 1048576\nunlink a\nclose a\nsync");
	assert_int_equal(totals.write_bytes, 0);
	assert_int_equal(totals.dirty_pages, 0);
	/* Another file of that name is another file. */
	totals = totals_of("exists a 0 8192\nread a 0 8192\nunlink a\ncreate a\nwrite a 0 "
			   "8192\nread a 0 8192\nsync");
	assert_int_equal(totals.read_bytes, 8192);
	assert_int_equal(totals.write_bytes, 8192);
}

static void a_rename_over_an_open_file(void **state)
{
	/* The journal that is recycled: its pages stay under the new name. */
	struct counters totals = totals_of("create wal0\nwrite wal0 0 1048576\nrename "
					   "wal0>wal1\nread wal1 0 1048576\nfsync wal1");

	(void)state;
	assert_int_equal(totals.read_bytes, 0);
	assert_int_equal(totals.write_bytes, 1048576);
	totals = totals_of("exists a 0 8192\nexists b 0 8192\nread a 0 8192\nread b 0 8192\n@2 "
			   "read b 0 8192\nrename a>b\n"
			   "read b 0 8192\nstat a\nstat b");
	assert_int_equal(totals.read_bytes, 16384);
	wrong("exists a 0 8192\nexists b 0 8192\nrename a>b\nread a 0 1", "no such file");
	/* To itself, and there and back. */
	totals = totals_of("exists a 0 8192\nread a 0 8192\nrename a>a\nrename a>b\nrename "
			   "b>a\nread a 0 8192");
	assert_int_equal(totals.read_bytes, 8192);
}

static void directories_are_there_when_something_in_them_is(void **state)
{
	struct counters totals =
		totals_of("exists d/e/f/a 0 4096\nread d/e/f/a 0 4096\ncreate d/e/f/b\nmkdir "
			  "d/g\ncreate d/g/c\nunlink d/g/c\nunlink d/g\n"
			  "mkdir d/g\nopen d\nfsync d\nclose d");

	(void)state;
	/* d, e, f, a; b, g, c, and g once more. */
	assert_int_equal(totals.dentries_allocated, 7);
	assert_int_equal(totals.inodes_allocated, 8);
	/* Ways to write the same name. */
	totals = totals_of("exists d/a 0 4096\nread d/a 0 4096\nread /d/a 0 4096\nread ./d//a 0 "
			   "4096\nread d/./a 0 4096");
	assert_int_equal(totals.read_bytes, 4096);
	assert_int_equal(totals.dentries_allocated, 2);
	/* A walk ends at the first name that is not there. */
	totals = totals_of("exists a 0 4096\nstat x/y/z\nstat x/y\nstat x");
	assert_int_equal(totals.dentries_allocated, 1);
	assert_int_equal(totals.inodes_allocated, 0);
}

static void truncate_and_fallocate(void **state)
{
	struct counters totals =
		totals_of("exists a 0 1048576\nread a 0 1048576\ntruncate a 0 4096\nmark cut\nread "
			  "a 0 1048576\ntruncate a 0 1048576\nread a 0 1048576");

	(void)state;
	/* What grows again is a hole. */
	assert_int_equal(totals.read_bytes, 1048576);
	totals =
		totals_of("create a\nfallocate a 0 1048576\nread a 0 1048576\nwrite a 0 100\nsync");
	assert_int_equal(totals.read_bytes, 0);
	assert_int_equal(totals.write_bytes, 4096);
}

/* ---- large things ---- */

static void a_20_tib_file_read_at_its_end(void **state)
{
	static const char *const systems[] = {"flat", "ext4", "xfs", "btrfs"};
	const uint64_t size = UINT64_C(20) << 40;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct run run = {.filesystem = systems[i], .memory_bytes = 16 * MIB};
		struct op_memory *memory = op_memory_create();

		op_add(memory, OP_EXISTS_SPARSE, "sparse", 0, size);
		op_add(memory, OP_EXISTS, "full", 0, size);
		op_add(memory, OP_READ, "sparse", size - 100000, 100000);
		op_add(memory, OP_READ, "full", size - 100000, 100000);
		/* A mapping costs a page table for each 2 MiB touched, not for all 20 TiB. */
		op_add(memory, OP_MMAP_READ, "sparse", size - 8192, 8192);
		op_add(memory, OP_FADVISE_RANDOM, "full", 0, 0);
		for (uint64_t j = 0; j < 3000; j++)
			op_add(memory, OP_READ, "full", size / 3000 * j & ~(PAGE_BYTES - 1), 4096);
		op_add(memory, OP_WRITE, "sparse", size - 4096, 4096);
		op_add(memory, OP_FADVISE_DONTNEED, "full", 0, 0);
		op_add(memory, OP_FADVISE_DONTNEED, "sparse", size - MIB, 0);
		op_add(memory, OP_SYNC, "", 0, 0);
		if (!run_ops(&run, memory))
			fail_msg("%s", run.error.message);
		/* btrfs reads a tree node of checksums for each place. */
		assert_in_range(run.result.totals.read_bytes, 3025 * 4096,
				3025 * (4096 + (strcmp(systems[i], "btrfs") == 0 ? 16384 : 0)) +
					4 * MIB);
		run_end(&run);
	}
}

static void a_million_files(void **state)
{
	enum { FILES = 1000000 };
	struct run run = {.filesystem = "ext4", .memory_bytes = 256 * MIB};
	struct op_memory *memory = op_memory_create();
	char path[64];

	(void)state;
	for (uint32_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "d%u/f%u", i / 1000, i);
		op_add(memory, OP_EXISTS, path, 0, 4096);
	}
	for (uint32_t i = 0; i < FILES; i += 3) {
		snprintf(path, sizeof(path), "d%u/f%u", i / 1000, i);
		op_add(memory, OP_STAT, path, 0, 0);
	}
	if (!run_ops(&run, memory))
		fail_msg("%s", run.error.message);
	assert_int_equal(run.result.file_count, FILES + 1000);
	assert_int_equal(run.result.totals.inodes_allocated - run.result.totals.inodes_reallocated,
			 (FILES + 2) / 3 + 1000);
	/* They do not fit: dentries and inodes were shrunk. */
	assert_true(run.result.totals.inodes_evicted > 0);
	assert_true(run.result.totals.slab_bytes < 256 * MIB);
	run_end(&run);
}

/*
 * Two paths of 2000 directories each, all cold, on ext4: every one is searched in blocks that lie
 * apart.
 */
static void a_rename_between_two_very_deep_directories(void **state)
{
	enum { DEPTH = 2000, WIDE = 400 };
	struct run run = {.filesystem = "ext4", .memory_bytes = 256 * MIB};
	struct op_memory *memory = op_memory_create();
	char *path = memory_alloc(2 * PATH_BYTES_MAX + 2, 1),
	     *name = memory_alloc(2 * PATH_BYTES_MAX + 2, 1);

	(void)state;
	/*
	 * Level by level, so that the blocks of one path's directories alternate with the other's;
	 * near the top with so many names that each has several.
	 */
	for (int level = 1; level <= DEPTH; level++) {
		for (int side = 0; side < 2; side++) {
			for (int i = 0; i < level; i++)
				memcpy(path + 2 * i, side ? "b/" : "a/", 2);
			for (int file = 0; file < (level <= WIDE ? 18 : 1); file++) {
				int bytes = snprintf(name, PATH_BYTES_MAX, "%.*s%0*d", 2 * level,
						     path, level <= WIDE ? 250 : 1, file);

				assert_true(bytes <= PATH_BYTES_MAX);
				op_add(memory, OP_EXISTS, name, 0, 0);
			}
		}
	}
	for (int i = 0; i < DEPTH; i++) {
		memcpy(name + 2 * i, "a/", 2);
		memcpy(name + 2 * DEPTH + 2 + 2 * i, "b/", 2);
	}
	memcpy(name + 2 * DEPTH, "0>", 2);
	memcpy(name + 4 * DEPTH + 2, "new", 4);
	op_add(memory, OP_RENAME, name, 0, 0);
	if (!run_ops(&run, memory))
		fail_msg("%s", run.error.message);
	assert_true(run.result.totals.read_bytes > 2 * DEPTH * PAGE_BYTES);
	run_end(&run);
	memory_free(path);
	memory_free(name);
}

/* ---- memory ---- */

static void memory_smaller_than_a_step_is_refused(void **state)
{
	static const uint64_t sizes[] = {1, 4096, 32 * 4096, 4 * MIB - 1};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int is_machine = 0; is_machine < 2; is_machine++) {
			struct run run = {.memory_bytes = sizes[i], .is_machine = is_machine};

			assert_false(run_text(&run, "exists a 0 4096\nread a 0 4096"));
			assert_int_equal(run.error.kind, ERROR_INPUT);
			assert_non_null(strstr(run.error.message, "too small"));
		}
	}
}

static void the_smallest_memory_works(void **state)
{
	(void)state;
	for (size_t policy = 0; policy_of_pages_at(policy); policy++) {
		const char *name = policy_name(policy_of_pages_at(policy));

		/* With 64 lots for each page that cannot go, this would take long. */
		if (strcmp(name, "hyperbolic") == 0)
			name = "hyperbolic,samples=4";
		for (int i = (int)policy % 4; i < 8; i += 4) {
			struct run run = {.policy = name,
					  .filesystem = filesystem_name(
						  filesystem_at((size_t)i % 4 < 3 ? i % 3 : 0)),
					  .memory_bytes = i & 1 ? 4 * MIB : GIB,
					  .pinned_bytes = i & 1 ? 0 : GIB - 4 * MIB,
					  .is_machine = i & 4,
					  .readahead_bytes = i & 2 ? 512 * KIB : 4096};
			bool done = run_text(
				&run,
				"exists a 0 50000000\nread a 0 50000000\ncreate b\nwrite b 0 "
				"20000000\nfsync b\n"
				"mmap_read a 0 9000000\nread a 9000000 9000000\nunlink b\nstat a");

			if (!done)
				fail_msg("%s, %s, variant %d: %s", run.policy, run.filesystem, i,
					 run.error.message);
			assert_true(run.result.totals.read_bytes >= 20000000);
			run_end(&run);
		}
	}
}

static void memory_that_nothing_can_be_taken_from_ends_the_run(void **state)
{
	struct run run = {.filesystem = "ext4", .memory_bytes = 4 * MIB};
	struct op_memory *memory = op_memory_create();
	char path[32];

	(void)state;
	/* Each open file pins its dentry and inode. */
	op_add(memory, OP_MKDIR, "d", 0, 0);
	for (int i = 0; i < 20000; i++) {
		snprintf(path, sizeof(path), "d/%d", i);
		op_add(memory, OP_CREATE, path, 0, 0);
	}
	assert_false(run_ops(&run, memory));
	assert_int_equal(run.error.kind, ERROR_FAILED);
	assert_non_null(strstr(run.error.message, "out of memory at operation"));
}

static void a_window_that_is_absurd_is_refused(void **state)
{
	struct run run = {.readahead_bytes = 16 * MIB + 4096};

	(void)state;
	assert_false(run_text(&run, "exists a 0 4096\nread a 0 4096"));
	assert_int_equal(run.error.kind, ERROR_INPUT);
	run.readahead_bytes = UINT64_MAX;
	assert_false(run_text(&run, "exists a 0 4096\nread a 0 4096"));
	run.readahead_bytes = 16 * MIB;
	assert_true(run_text(&run, "exists a 0 409600000\nread a 0 409600000"));
	assert_int_equal(run.result.totals.read_bytes, 409600000);
	run_end(&run);
}

/* ---- what is reported ---- */

static void marks_keep_the_counters_of_their_moment(void **state)
{
	struct run run = {0};

	(void)state;
	assert_true(run_text(&run, "exists a 0 1048576\nmark before\nread a 0 524288\nmark "
				   "half\nread a 524288 524288\nmark half\nmark end"));
	assert_int_equal(run.result.mark_count, 4);
	assert_string_equal(run.result.marks[0].label, "before");
	assert_int_equal(run.result.marks[0].counters.read_bytes, 0);
	assert_string_equal(run.result.marks[1].label, "half");
	assert_in_range(run.result.marks[1].counters.read_bytes, 524288, 1048576);
	assert_string_equal(run.result.marks[2].label, "half");
	assert_int_equal(run.result.marks[2].counters.read_bytes, 1048576);
	assert_int_equal(run.result.marks[3].op_index, 7);
	assert_memory_equal(&run.result.marks[3].counters, &run.result.totals,
			    sizeof(run.result.totals));
	run_end(&run);
}

static const struct result_stream *stream_named(const struct result *result, const char *name,
						size_t *at)
{
	for (*at = 0; *at < result->stream_count; ++*at)
		if (strcmp(result->streams[*at].name, name) == 0)
			return &result->streams[*at];
	fail_msg("no stream %s", name);
	return NULL;
}

static struct op_memory *three_streams(void)
{
	struct op_memory *memory = op_memory_create();

	op_add(memory, OP_EXISTS, "heap", 0, 10 * MIB);
	op_add(memory, OP_EXISTS, "backup", 0, 64 * MIB);
	op_add(memory, OP_CREATE, "wal", 0, 0);
	for (uint64_t i = 0; i < 6000; i++) {
		op_add(memory, OP_READ, "heap", i * 7919 % 2560 * 4096, 4096);
		op_add(memory, OP_WRITE, "wal", i % 2048 * 4096, 4096);
		op_add(memory, OP_READ, "backup", i * 3 % 16384 * 4096, 8192)->thread = 2;
		if (i == 3000)
			op_add(memory, OP_MARK, "half", 0, 0);
	}
	return memory;
}

static void streams_add_up_to_the_totals_and_blame_to_what_was_read_again(void **state)
{
	static const char *const policies[] = {"linux-6.18", "linux-4.5", "lru", "clock",
					       "linux-5.15"};

	(void)state;
	for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
		struct run run = {.memory_bytes = 12 * MIB, .policy = policies[p]};
		uint64_t sums[COUNTER_COUNT] = {0}, blamed = 0;
		size_t at;

		assert_true(run_ops(&run, three_streams()));
		assert_int_equal(run.result.stream_count, 3);
		for (size_t i = 0; i < run.result.stream_count; i++) {
			uint64_t row = 0;

			for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
				sums[id] += counter_get(&run.result.streams[i].counters, id);
			for (size_t j = 0; j < run.result.stream_count; j++)
				row += run.result.blame[i * run.result.stream_count + j];
			assert_int_equal(row * PAGE_BYTES,
					 run.result.streams[i].counters.reread_bytes);
			blamed += row;
		}
		assert_int_equal(blamed * PAGE_BYTES, run.result.totals.reread_bytes);
		assert_true(blamed > 0);
		for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
			if (!counter_is_level(id) || id == COUNTER_active_file_pages ||
			    id == COUNTER_inactive_file_pages || id == COUNTER_dirty_pages)
				assert_int_equal(sums[id], counter_get(&run.result.totals, id));
		assert_int_equal(stream_named(&run.result, "heap", &at)->counters.page_accesses,
				 6000);
		assert_int_equal(stream_named(&run.result, "wal", &at)->counters.read_bytes, 0);
		assert_true(stream_named(&run.result, "backup", &at)->counters.read_bytes >
			    48 * MIB);
		/* What was read again was read. */
		assert_true(run.result.totals.reread_bytes <= run.result.totals.read_bytes);
		assert_true(run.result.totals.page_misses <= run.result.totals.page_accesses);
		assert_true(run.result.totals.inodes_reallocated <=
			    run.result.totals.inodes_allocated);
		run_end(&run);
	}
}

static char *json_of(void)
{
	struct run run = {.memory_bytes = 12 * MIB, .filesystem = "ext4", .policy = "linux-6.18"};
	struct report_options options = {.is_trace = true};
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_true(run_ops(&run, three_streams()));
	report_json_print(out, report_json(&run.result, &options));
	fclose(out);
	run_end(&run);
	return text;
}

static void the_same_run_twice_is_the_same_json_to_the_byte(void **state)
{
	char *first = json_of(), *second = json_of();

	(void)state;
	assert_true(strlen(first) > 1000);
	assert_string_equal(first, second);
	free(first);
	free(second);
}

static void time_is_what_makes_old_dirty_pages_go(void **state)
{
	(void)state;
	assert_int_equal(totals_of("create a\nwrite a 0 1048576\n+29\nstat a").write_bytes, 0);
	assert_int_equal(
		totals_of("create a\nwrite a 0 1048576\n+29\nstat a\n+7\nstat a").write_bytes,
		1048576);
	/* Time stamps that stand still are no reason not to end. */
	assert_int_equal(totals_of("create a\nwrite a 0 1048576\nsync\nsync\nfsync a\nfdatasync a")
				 .write_bytes,
			 1048576);
}

static void several_threads_have_descriptors_of_their_own(void **state)
{
	/* E8: two descriptors, two marks. */
	struct counters totals = totals_of("exists a 0 4096\nread a 0 4096\nread a 0 4096");

	(void)state;
	assert_int_equal(totals.active_file_pages, 0);
	totals = totals_of("exists a 0 4096\nread a 0 4096\n@2 read a 0 4096");
	assert_int_equal(totals.active_file_pages, 1);
	totals = totals_of("exists a 0 4096\nread a 0 4096\nclose a\nread a 0 4096");
	assert_int_equal(totals.active_file_pages, 1);
	/* Threads of a process share what is open: whoever closes it, closes it. */
	totals = totals_of("exists a 0 4096\nread a 0 4096\n@2 close a\nread a 0 4096");
	assert_int_equal(totals.active_file_pages, 1);
}

/* ---- bare ---- */

static bool bare(const char *policy, uint64_t pages, enum bare_key key, const char *text,
		 struct counters *totals, struct error *error)
{
	struct op_memory *memory = op_memory_parse(text);
	struct model_options options = {0};
	struct result result;
	bool done;

	assert_true(policy_options_parse(&options.policy, policy, error));
	done = model_bare_run(&options, pages, key, &memory->source, &result, error);
	*totals = result.totals;
	if (done)
		result_deinit(&result);
	op_source_destroy(&memory->source);
	return done;
}

static void bare_mode_looks_each_page_up_once(void **state)
{
	static const char *const names[] = {"lru", "fifo", "clock", "linux-6.18", "linux-4.5"};
	struct counters totals;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(bare(names[i], 100, BARE_KEY_PAGE4K,
				 "exists a 0 1\nread a 0 4096\nread a 1 4096\nwrite a 8192 "
				 "8192\nread b 0 1\nstat a\nread a 0 0",
				 &totals, &error));
		assert_int_equal(totals.page_accesses, 6);
		assert_int_equal(totals.page_misses, 5);
		assert_true(bare(names[i], 100, BARE_KEY_LBN,
				 "read a 0 65536\nread a 512 10\nread a 0 1\nread a 512 512",
				 &totals, &error));
		assert_int_equal(totals.page_accesses, 4);
		assert_int_equal(totals.page_misses, 2);
	}
	assert_false(bare("lru", 0, BARE_KEY_PAGE4K, "read a 0 1", &totals, &error));
	assert_false(bare("lru", (UINT64_C(1) << 30) + 1, BARE_KEY_PAGE4K, "read a 0 1", &totals,
			  &error));
}

static void bare_mode_tells_far_pages_apart_or_says_that_it_cannot(void **state)
{
	struct counters totals;
	struct error error;

	(void)state;
	/* Pages 0, 2^38 and 2^50. */
	assert_true(bare("lru", 100, BARE_KEY_PAGE4K,
			 "read a 0 1\nread a 1125899906842624 1\nread a 4611686018427387904 1",
			 &totals, &error));
	assert_int_equal(totals.page_misses, 3);
	assert_false(bare("linux-6.18", 100, BARE_KEY_PAGE4K,
			  "read a 0 1\nread a 1125899906842624 1", &totals, &error));
	assert_non_null(strstr(error.message, "beyond 2^38"));
	assert_true(bare("linux-6.18", 100, BARE_KEY_PAGE4K,
			 "read a 0 1\nread a 1125899906842623 1", &totals, &error));
	assert_int_equal(totals.page_misses, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ops_on_files_that_do_not_exist),
		cmocka_unit_test(the_message_says_where),
		cmocka_unit_test(things_that_cannot_be_done),
		cmocka_unit_test(files_beyond_a_pebibyte_are_refused_and_those_below_are_not),
		cmocka_unit_test(nothing_is_read_beyond_the_end_and_nothing_by_empty_requests),
		cmocka_unit_test(an_unlinked_file_lives_until_its_last_descriptor_is_closed),
		cmocka_unit_test(a_rename_over_an_open_file),
		cmocka_unit_test(directories_are_there_when_something_in_them_is),
		cmocka_unit_test(truncate_and_fallocate),
		cmocka_unit_test(a_20_tib_file_read_at_its_end),
		cmocka_unit_test(a_million_files),
		cmocka_unit_test(a_rename_between_two_very_deep_directories),
		cmocka_unit_test(memory_smaller_than_a_step_is_refused),
		cmocka_unit_test(the_smallest_memory_works),
		cmocka_unit_test(memory_that_nothing_can_be_taken_from_ends_the_run),
		cmocka_unit_test(a_window_that_is_absurd_is_refused),
		cmocka_unit_test(marks_keep_the_counters_of_their_moment),
		cmocka_unit_test(streams_add_up_to_the_totals_and_blame_to_what_was_read_again),
		cmocka_unit_test(the_same_run_twice_is_the_same_json_to_the_byte),
		cmocka_unit_test(time_is_what_makes_old_dirty_pages_go),
		cmocka_unit_test(several_threads_have_descriptors_of_their_own),
		cmocka_unit_test(bare_mode_looks_each_page_up_once),
		cmocka_unit_test(bare_mode_tells_far_pages_apart_or_says_that_it_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
