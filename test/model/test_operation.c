/*
 * If this fails, a recorded program that links, lists or removes, or moves its data past the cache, does something else
 * in the model than it did.
 */
#include "model_test.h"

static const char *const filesystems[] = {"flat", "ext4", "xfs", "btrfs", "btrfs-nodatacow", "zfs"};
enum { FILESYSTEMS = sizeof(filesystems) / sizeof(filesystems[0]) };

static struct counters totals_on(const char *filesystem, const char *text)
{
	struct run run = {.filesystem = filesystem};
	struct counters totals;

	if (!run_text(&run, text))
		fail_msg("%s: %s", filesystem, run.error.message);
	totals = run.result.totals;
	run_end(&run);
	return totals;
}

/* ---- O_DIRECT and RWF_DONTCACHE ---- */

static void direct_bytes_are_the_devices(void **state)
{
	struct counters now = totals_of("exists a 0 1048576\nread_direct a 512 1024\n"
					"write_direct a 0 8192\nread_direct a 0 1048576\n");

	(void)state;
	assert_int_equal(now.read_bytes, 1024 + 1048576);
	assert_int_equal(now.write_bytes, 8192);
	assert_int_equal(now.page_accesses, 0);
	assert_int_equal(now.active_file_pages + now.inactive_file_pages, 0);
}

static void what_is_not_aligned_is_refused_or_buffered(void **state)
{
	struct counters now;

	(void)state;
	wrong("exists a 0 1048576\nread_direct a 100 512\n", "multiples of 512");
	wrong("exists a 0 1048576\nwrite_direct a 0 1000\n", "multiples of 512");
	now = totals_on("btrfs", "exists a 0 1048576\nread_direct a 100 512\n");
	assert_int_equal(now.page_misses, 1);
	assert_true(now.inactive_file_pages > 0);
	/* ZFS has no O_DIRECT to 2.2: the ARC it is. */
	now = totals_on("zfs", "exists a 0 1048576\nread_direct a 100 512\nread a 100 512\n");
	assert_int_equal(now.page_accesses, 2);
	assert_int_equal(now.page_misses, 1);
}

static void btrfs_buffers_direct_writes_of_what_has_checksums(void **state)
{
	static const char text[] = "exists a 0 1048576\nwrite_direct a 0 65536\n";
	struct counters now = totals_on("btrfs", text);
	struct run older = {.filesystem = "btrfs", .policy = "linux-6.12,statistics=fresh"};

	(void)state;
	assert_int_equal(now.page_accesses, 16);
	assert_int_equal(now.write_bytes, 65536);
	assert_int_equal(now.active_file_pages + now.inactive_file_pages, 0);
	assert_int_equal(totals_on("btrfs-nodatacow", text).page_accesses, 0);
	assert_true(run_text(&older, text));
	assert_int_equal(older.result.totals.page_accesses, 0);
	run_end(&older);
}

static void btrfs_reads_what_was_dirty_from_the_cache(void **state)
{
	static const char text[] = "exists a 0 1048576\nwrite a 0 65536\nread_direct a 0 65536\n";

	(void)state;
	assert_int_equal(totals_on("ext4", text).page_accesses, 16);
	assert_int_equal(totals_on("ext4", text).write_bytes, 65536);
	assert_int_equal(totals_on("btrfs", text).page_accesses, 32);
}

static void a_file_system_that_does_not_know_dontcache_says_so(void **state)
{
	static const char text[] = "exists a 0 1048576\nread_dontcache a 0 65536\n"
				   "write_dontcache a 0 4096\n";

	(void)state;
	for (int i = 0; i < FILESYSTEMS; i++) {
		struct run run = {.filesystem = filesystems[i]};
		bool knows = i < 3;

		assert_true(run_text(&run, text));
		assert_int_equal(run.result.note_count, knows ? 0 : 1);
		if (!knows)
			assert_non_null(strstr(run.result.notes[0], "2 reads and writes"));
		run_end(&run);
	}
}

static void a_page_written_piece_by_piece_is_read_once(void **state)
{
	struct op_memory *memory = op_memory_create();
	struct run run = {.filesystem = "xfs"};
	struct counters *now = &run.result.totals;

	(void)state;
	op_add(memory, OP_EXISTS, "a", 0, 1048576);
	for (uint64_t at = 0; at < 65536; at += 1024)
		op_add(memory, OP_WRITE_DONTCACHE, "a", at, 1000);
	op_add(memory, OP_MARK, "end", 0, 0);
	assert_true(run_ops(&run, memory));
	assert_int_equal(now->read_bytes, 65536 + 16384);
	assert_int_equal(now->write_bytes, 65536);
	assert_int_equal(now->inactive_file_pages, 0);
	run_end(&run);
}

/* ---- names ---- */

static void both_names_reach_the_same_pages(void **state)
{
	(void)state;
	for (int i = 0; i < FILESYSTEMS; i++) {
		struct counters before =
			totals_on(filesystems[i], "exists a 0 65536\nread a 0 65536\n");
		struct counters now = totals_on(
			filesystems[i], "exists a 0 65536\nread a 0 65536\nclose a\nlink a>b\n"
					"unlink a\nread b 0 65536\nclose b\nlink b>a\n"
					"read a 0 65536\nrename b>c\nread c 0 65536\n");

		assert_int_equal(now.page_misses, before.page_misses);
		assert_true(now.page_accesses == before.page_accesses * 4);
		assert_int_equal(now.inodes_allocated, 1);
	}
}

static void a_file_goes_with_its_last_name(void **state)
{
	(void)state;
	for (int i = 0; i < FILESYSTEMS; i++) {
		struct run run = {.filesystem = filesystems[i]};
		const struct result_mark *marks;

		if (strcmp(filesystems[i], "zfs") == 0)
			continue; /* its pages are not in the page cache */
		assert_true(run_text(&run, "exists a 0 1048576\nread a 0 1048576\nclose a\n"
					   "link a>b\nunlink b\nmark one\nlink a>d\nunlink a\n"
					   "mark other\nunlink d\nmark none"));
		marks = run.result.marks;
		assert_true(marks[0].counters.inactive_file_pages >= 256);
		assert_true(marks[1].counters.inactive_file_pages >= 256);
		assert_true(marks[2].counters.inactive_file_pages < 256);
		assert_int_equal(marks[2].counters.dentries_allocated, 3);
		run_end(&run);
	}
}

static void two_names_of_one_file_can_be_open_at_once(void **state)
{
	(void)state;
	/* Each has its own descriptor, and where it was read last. */
	(void)totals_of("exists a 0 65536\nlink a>b\n@1 open a\n@2 open a\n@3 open a\n@1 open b\n"
			"@2 open b\n@1 read a 0 4096\n@1 read b 0 4096\n@2 close b\n@1 close b\n"
			"@3 close a\n@1 read a 4096 4096\nunlink a\n@2 read a 0 4096\n@1 close a\n"
			"@2 close a\nread b 0 4096\n");
	wrong("exists a 0 65536\nlink a>b\n@1 open a\n@1 close b\n", "it is not open");
}

static void renaming_onto_another_name_of_it_does_nothing(void **state)
{
	struct counters now =
		totals_of("exists a 0 65536\nread a 0 65536\nlink a>b\nrename a>b\n"
			  "read a 0 65536\nread b 0 65536\nunlink a\nread b 0 65536\n");

	(void)state;
	assert_int_equal(now.read_bytes, 65536);
}

static void what_cannot_be_linked_is_refused(void **state)
{
	(void)state;
	wrong("exists a 0 1\nlink a>a", "is there already");
	wrong("exists a 0 1\nexists b 0 1\nlink a>b", "is there already");
	wrong("exists a 0 1\nlink a>d/b", "directory does not exist");
	wrong("mkdir d\nlink d>e", "one name only");
	wrong("link a>b", "no such file");
	wrong("create a\nunlink a\nlink a>b", "unlinked already");
}

static void directories_are_removed_when_they_are_empty(void **state)
{
	(void)state;
	wrong("exists a 0 1\nrmdir a", "not a directory");
	wrong("mkdir d\ncreate d/a\nrmdir d", "not empty");
	wrong("rmdir d", "no such file");
	wrong("mkdir d\nrmdir .", "root directory");
	for (int i = 0; i < FILESYSTEMS; i++)
		(void)totals_on(filesystems[i],
				"mkdir d\ncreate d/a\nunlink d/a\nclose d/a\n"
				"rmdir d\nmkdir d\nmkdir d/e\nrmdir d/e\nrmdir d\n");
}

/* Names that are not there keep their dentries, until their directory goes. */
static void an_empty_directorys_dentries_go_with_it(void **state)
{
	struct op_memory *memory = op_memory_create();
	struct run run = {0};
	char path[32];

	(void)state;
	op_add(memory, OP_MKDIR, "d", 0, 0);
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "d/%d", i);
		op_add(memory, OP_STAT, path, 0, 0);
	}
	op_add(memory, OP_MARK, "before", 0, 0);
	op_add(memory, OP_RMDIR, "d", 0, 0);
	assert_true(run_ops(&run, memory));
	assert_true(run.result.marks[0].counters.slab_bytes > 100 * 200);
	assert_true(run.result.totals.slab_bytes < 1000);
	run_end(&run);
}

static void listing_makes_no_dentries(void **state)
{
	struct op_memory *memory;
	char path[32];

	(void)state;
	for (int i = 0; i < FILESYSTEMS; i++) {
		struct run run = {.filesystem = filesystems[i]};
		struct result_mark *marks;

		memory = op_memory_create();
		for (int k = 0; k < 2000; k++) {
			snprintf(path, sizeof(path), "d/file%d", k);
			op_add(memory, OP_EXISTS, path, 0, 0);
		}
		op_add(memory, OP_STAT, "d", 0, 0);
		op_add(memory, OP_MARK, "stat", 0, 0);
		op_add(memory, OP_READDIR, "d", 0, 0);
		op_add(memory, OP_MARK, "first", 0, 0);
		op_add(memory, OP_READDIR, "d/", 0, 0);
		assert_true(run_ops(&run, memory));
		marks = run.result.marks;
		assert_int_equal(run.result.totals.dentries_allocated, 1);
		assert_int_equal(run.result.totals.inodes_allocated, 1);
		assert_int_equal(run.result.totals.read_bytes, marks[1].counters.read_bytes);
		/* 2000 names of 8 letters: 32 to 120 KiB of entries, without what finds them. */
		if (i > 0)
			assert_in_range(marks[1].counters.read_bytes - marks[0].counters.read_bytes,
					32 * KIB, 280 * KIB);
		run_end(&run);
	}
	wrong("exists a 0 1\nreaddir a", "not a directory");
	wrong("readdir a", "no such file");
	(void)totals_of("readdir .\nreaddir /\n");
}

static void a_symbolic_link_is_a_name_and_no_more(void **state)
{
	(void)state;
	for (int i = 0; i < FILESYSTEMS; i++) {
		struct counters now =
			totals_on(filesystems[i], "symlink s 0 20\nstat s\nlink s>t\nrename s>u\n"
						  "unlink t\nunlink u\nsymlink s 0 4095\n");

		assert_int_equal(now.page_accesses, 0);
		assert_int_equal(now.inodes_allocated, 2);
	}
	wrong("symlink s 0 20\nread s 0 10", "symbolic link");
	wrong("symlink s 0 20\nsymlink s 0 20", "exists already");
	wrong("symlink s 0 4096", "4095");
	wrong("symlink d/s 0 1", "directory does not exist");
}

static void drop_caches_takes_one_two_or_three(void **state)
{
	struct run run = {.filesystem = "ext4"};
	const struct result_mark *marks;

	(void)state;
	wrong("drop_caches . 0 0", "1, 2 or 3");
	wrong("drop_caches . 0 4", "1, 2 or 3");
	assert_true(run_text(&run, "exists a 0 1048576\nexists b 0 0\nread a 0 1048576\nstat b\n"
				   "drop_caches . 0 1\nmark one\nread a 0 1048576\n"
				   "drop_caches . 0 2\nmark two\nread a 0 1048576\n"
				   "drop_caches . 0 3\nmark three\nread a 0 1048576\nstat b\n"));
	marks = run.result.marks;
	assert_int_equal(marks[0].counters.inactive_file_pages, 0);
	assert_int_equal(marks[0].counters.dentries_evicted, 0);
	assert_int_equal(marks[1].counters.inactive_file_pages, 256);
	assert_int_equal(marks[1].counters.dentries_evicted, 1); /* a is open */
	assert_int_equal(marks[2].counters.inactive_file_pages, 0);
	assert_int_equal(run.result.totals.inodes_reallocated, 1);
	assert_true(run.result.totals.read_bytes >= 3 * 1048576);
	run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct_bytes_are_the_devices),
		cmocka_unit_test(what_is_not_aligned_is_refused_or_buffered),
		cmocka_unit_test(btrfs_buffers_direct_writes_of_what_has_checksums),
		cmocka_unit_test(btrfs_reads_what_was_dirty_from_the_cache),
		cmocka_unit_test(a_file_system_that_does_not_know_dontcache_says_so),
		cmocka_unit_test(a_page_written_piece_by_piece_is_read_once),
		cmocka_unit_test(both_names_reach_the_same_pages),
		cmocka_unit_test(a_file_goes_with_its_last_name),
		cmocka_unit_test(two_names_of_one_file_can_be_open_at_once),
		cmocka_unit_test(renaming_onto_another_name_of_it_does_nothing),
		cmocka_unit_test(what_cannot_be_linked_is_refused),
		cmocka_unit_test(directories_are_removed_when_they_are_empty),
		cmocka_unit_test(an_empty_directorys_dentries_go_with_it),
		cmocka_unit_test(listing_makes_no_dentries),
		cmocka_unit_test(a_symbolic_link_is_a_name_and_no_more),
		cmocka_unit_test(drop_caches_takes_one_two_or_three),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
