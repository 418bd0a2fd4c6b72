/*
 * If this fails, a dump is not recognised, is taken for another, or is read wrongly: everything that is concluded from it is
 * then about something else.
 */
#include "state_test.h"

/* Read and finished, without judging. */
static struct state *read_text(const char *name, const char *text)
{
	struct state *state = state_create(NULL);
	struct error error = {0};

	if (!state_read_text(state, name, text, strlen(text), CLOCK_NONE, 0, &error) ||
	    !state_finish(state, &error))
		fail_msg("%s:%u: %s", error.file, (unsigned)error.line, error.message);
	return state;
}

static size_t count(const struct state *state, enum dump_id id)
{
	size_t n = 0;

	for (size_t i = 0; i < state->dumps.count; i++)
		n += state->dumps.at[i]->id == id;
	return n;
}

static uint64_t value(const struct state *state, enum dump_id id, const char *cgroup,
		      const char *name)
{
	for (size_t i = 0; i < state->series.count; i++) {
		const struct series *series = &state->series.at[i];
		const struct entry *entry = dump_entry(series->last, name);

		if (series->id == id && entry &&
		    (cgroup ? series->cgroup && strcmp(series->cgroup, cgroup) == 0
			    : !series->cgroup))
			return entry->values[0];
	}
	fail_msg("no %s", name);
	return 0;
}

/* The line that is wrong; 0: nothing is. */
static uint64_t wrong_line(const char *name, const char *text, const char *says)
{
	struct state *state = state_create(NULL);
	struct error error = {0};
	bool fine = state_read_text(state, name, text, strlen(text), CLOCK_NONE, 0, &error);

	if (!fine) {
		assert_int_equal(error.kind, ERROR_INPUT);
		if (!strstr(error.message, says))
			fail_msg("\"%s\" does not say \"%s\"", error.message, says);
	}
	state_destroy(state);
	return fine ? 0 : error.line;
}

static void a_meminfo_is_in_bytes(void **unused)
{
	struct state *state = read_text("x", "MemTotal:  948304 kB\nMemFree: 39924 kB\n"
					     "HugePages_Total:       7\nFutureField:   12 kB\n");

	(void)unused;
	assert_int_equal(count(state, DUMP_MEMINFO), 1);
	assert_int_equal(value(state, DUMP_MEMINFO, NULL, "MemTotal"), 948304 * 1024ul);
	assert_int_equal(value(state, DUMP_MEMINFO, NULL, "HugePages_Total"), 7);
	assert_int_equal(value(state, DUMP_MEMINFO, NULL, "FutureField"), 12 * 1024);
	state_destroy(state);
}

/* What smaps and status have looks like it, and is of a process. */
static void other_tables_in_kb_are_no_meminfo(void **unused)
{
	(void)unused;
	assert_int_equal(wrong_line("x", "Rss:  123 kB\nPss: 12 kB\n", "no dump that is known"), 1);
}

static void files_are_told_apart_by_what_they_hold(void **unused)
{
	/* Without any heading, one after the other. */
	struct state *state =
		read_text("all.txt", "nr_free_pages 9874\n"
				     "pgfault 12\n"
				     "workingset_refault_file 5\n"
				     "anon 4096\n"
				     "file 8192\n"
				     "pgfault 3\n"
				     "workingset_refault_file 2\n"
				     "low 0\nhigh 0\nmax 7\noom 0\noom_kill 0\n"
				     "MemTotal: 1000 kB\n"
				     "some avg10=0.50 avg60=0.25 avg300=0.00 total=9\n"
				     "88200\t80150\t45\t0\t61900\t0\n"
				     "size 4 100\nc 4 200\n"
				     "Linux version 5.10.0-28-amd64 (x) #1 SMP\n");

	(void)unused;
	assert_int_equal(value(state, DUMP_VMSTAT, NULL, "workingset_refault_file"), 5);
	assert_int_equal(value(state, DUMP_MEMORY_STAT, "", "workingset_refault_file"), 2);
	assert_int_equal(value(state, DUMP_MEMORY_EVENTS, "", "max"), 7);
	assert_int_equal(value(state, DUMP_MEMORY_EVENTS, "", "oom_kill"), 0);
	assert_int_equal(value(state, DUMP_MEMINFO, NULL, "MemTotal"), 1024000);
	assert_int_equal(value(state, DUMP_PRESSURE, NULL, "some"), 50);
	assert_int_equal(value(state, DUMP_FS_STATE, NULL, "nr_negative"), 61900);
	assert_int_equal(value(state, DUMP_ARCSTATS, NULL, "c"), 200);
	assert_int_equal(value(state, DUMP_VERSION, NULL, "release"), 5);
	state_destroy(state);
}

/* A grep of names that vmstat and memory.stat share: the heading, or the file's name, says it. */
static void what_is_shared_is_what_it_is_called(void **unused)
{
	struct state *state = read_text("memory.stat.1", "workingset_refault_file 2\npgfault 1\n");

	(void)unused;
	assert_int_equal(value(state, DUMP_MEMORY_STAT, "", "workingset_refault_file"), 2);
	state_destroy(state);
	state = read_text("x", "# grep refault /sys/fs/cgroup/db/memory.stat\n"
			       "workingset_refault_file 2\n");
	assert_int_equal(value(state, DUMP_MEMORY_STAT, "/db", "workingset_refault_file"), 2);
	state_destroy(state);
	/* Names that only vmstat had when this was written. */
	state = read_text(
		"x",
		"==> memory.stat <==\nanon 5\nnr_future 1\npswpin 7\nworkingset_refault_file 2\n");
	assert_int_equal(count(state, DUMP_VMSTAT), 0);
	assert_int_equal(value(state, DUMP_MEMORY_STAT, "", "workingset_refault_file"), 2);
	state_destroy(state);
	state = read_text("x", "workingset_refault_file 2\nanon 5\n");
	assert_int_equal(value(state, DUMP_MEMORY_STAT, "", "workingset_refault_file"), 2);
	state_destroy(state);
	state = read_text("x", "workingset_refault_file 2\n");
	assert_int_equal(value(state, DUMP_VMSTAT, NULL, "workingset_refault_file"), 2);
	state_destroy(state);
}

static void headings_say_what_a_number_is(void **unused)
{
	struct state *state =
		read_text("x", "==> /sys/fs/cgroup/a.slice/db.service/memory.max <==\n268435456\n"
			       "==> /sys/fs/cgroup/a.slice/db.service/memory.high <==\nmax\n"
			       "$ cat /sys/fs/cgroup/memory/docker/memory.usage_in_bytes "
			       "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes\n"
			       "1000\n9223372036854771712\n"
			       "/sys/fs/cgroup/x/memory.current:77\n"
			       "root@db1:~# cat /proc/sys/vm/swappiness\n60\n");
	const struct view view = {.state = state, .cgroup = "/docker"};

	(void)unused;
	assert_int_equal(value(state, DUMP_CGROUP_VALUE, "/a.slice/db.service", "memory.max"),
			 268435456);
	assert_true(value(state, DUMP_CGROUP_VALUE, "/a.slice/db.service", "memory.high") ==
		    VALUE_UNLIMITED);
	assert_int_equal(value(state, DUMP_CGROUP_VALUE, "/docker", "memory.usage_in_bytes"), 1000);
	/* What version 1 shows without a limit is none. */
	assert_false(quantity_now(&view, QUANTITY_limit).known);
	assert_int_equal(value(state, DUMP_CGROUP_VALUE, "/x", "memory.current"), 77);
	assert_int_equal(value(state, DUMP_SETTING, NULL, "swappiness"), 60);
	state_destroy(state);
}

static void grep_prefixes_and_sysctl_are_read(void **unused)
{
	struct state *state =
		read_text("x", "/proc/vmstat:nr_dirty 3\n/proc/vmstat:nr_writeback 4\n"
			       "/proc/vmstat:nr_dirty 5\n/proc/vmstat:nr_writeback 6\n"
			       "memory.stat:anon 9\n"
			       "vm.dirty_ratio = 20\nvm.dirty_background_bytes: 7\n"
			       "fs.dentry-state = 88200\t80150\t45\t0\t61900\t0\n");

	(void)unused;
	assert_int_equal(count(state, DUMP_VMSTAT), 2);
	assert_int_equal(value(state, DUMP_VMSTAT, NULL, "nr_dirty"), 5);
	assert_int_equal(value(state, DUMP_MEMORY_STAT, "", "anon"), 9);
	assert_int_equal(value(state, DUMP_SETTING, NULL, "dirty_ratio"), 20);
	assert_int_equal(value(state, DUMP_SETTING, NULL, "dirty_background_bytes"), 7);
	assert_int_equal(value(state, DUMP_FS_STATE, NULL, "nr_negative"), 61900);
	state_destroy(state);
}

/* In mails, with prompts and remarks; a second one of the same begins a new dump. */
static void what_people_paste_is_read(void **unused)
{
	struct state *state = read_text("x", "Hi list,\n"
					     "my machine is slow. Here is what it says:\n\n"
					     "> $ cat /proc/meminfo\r\n"
					     "> MemTotal:  1000 kB\r\n"
					     "> MemFree:  10 kB\r\n"
					     "\n"
					     "and a minute later, with the job running\n"
					     "> MemTotal:  1000 kB\n"
					     "> MemFree:  5 kB\n"
					     "Any ideas?\n");

	(void)unused;
	assert_int_equal(count(state, DUMP_MEMINFO), 2);
	assert_int_equal(value(state, DUMP_MEMINFO, NULL, "MemFree"), 5 * 1024);
	assert_int_equal(state->passed_over, 3);
	state_destroy(state);
}

static void times_are_read(void **unused)
{
	static const struct {
		const char *first, *second;
		uint64_t seconds;
	} pairs[] = {
		{"### t=0 /proc/vmstat", "### t=30 /proc/vmstat", 30},
		{"t=0s", "t=500ms", 0},
		{"Mon Jan  5 23:59:50 UTC 2026", "Tue Jan  6 00:00:20 UTC 2026", 30},
		{"== 23:59:50 ==", "== 00:00:20 ==", 30},
		{"2026-01-05T10:00:00", "2026-01-05 10:01:00", 60},
		{"1796029365", "1796029425", 60},
		{"$ date +%s", "$ sleep 45; cat /proc/vmstat", 45},
		{"Mi 31. Dez 23:59:50", "Do 1. Jan 00:00:00", 10},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char text[400];
		struct state *state;

		snprintf(text, sizeof(text),
			 "%s\nnr_dirty 1\npgfault 10\n%s\nnr_dirty 2\npgfault 20\n", pairs[i].first,
			 pairs[i].second);
		state = read_text("x", text);
		assert_int_equal(count(state, DUMP_VMSTAT), 2);
		if (!state->series.at[0].has_interval)
			fail_msg("\"%s\" and \"%s\" are no times", pairs[i].first, pairs[i].second);
		assert_int_equal(state->series.at[0].interval_ns / NS_PER_SECOND, pairs[i].seconds);
		state_destroy(state);
	}
}

static void a_rebooted_machine_is_not_subtracted(void **unused)
{
	struct state *state =
		read_text("x", "t=0\npgfault 1000\npgpgin 500\nt=30\npgfault 10\npgpgin 5\n");
	const struct view view = {.state = state};

	(void)unused;
	assert_int_equal(state->series.at[0].order, SERIES_RESET);
	assert_false(quantity_change(&view, QUANTITY_read).known);
	assert_int_equal(state->notes.count, 1);
	state_destroy(state);
	/* Without times: so much less that it cannot be the same boot. */
	state = read_text("x", "pgfault 1000\npgpgin 500\npgfault 10\npgpgin 5\n");
	assert_int_equal(state->series.at[0].order, SERIES_RESET);
	state_destroy(state);
}

static void a_pair_in_reverse_order_is_turned(void **unused)
{
	struct state *state = read_text("x", "pgfault 1000\npgpgin 500\nMemFree: 5 kB\n"
					     "pgfault 900\npgpgin 400\nMemFree: 9 kB\n");
	const struct view view = {.state = state};

	(void)unused;
	assert_int_equal(state->series.at[0].order, SERIES_TURNED);
	assert_int_equal(quantity_change(&view, QUANTITY_read).value, 100 * 1024);
	/* What has no counters goes with it. */
	assert_int_equal(quantity_now(&view, QUANTITY_free).value, 5 * 1024);
	state_destroy(state);
}

static void a_counter_of_32_bits_wraps(void **unused)
{
	struct state *state = read_text("x", "t=0\npgpgin 4294967000\npgfault 5\n"
					     "t=1\npgpgin 704\npgfault 6\n");
	const struct view view = {.state = state};

	(void)unused;
	assert_int_equal(quantity_change(&view, QUANTITY_read).value, 1000 * 1024);
	state_destroy(state);
}

static void one_counter_that_went_back_is_not_known(void **unused)
{
	struct state *state = read_text(
		"x",
		"t=0\npgpgin 100\npgfault 5\npgfree 5\npgalloc_dma 5\npgactivate 5\nnr_dirty 9\n"
		"t=1\npgpgin 99\npgfault 6\npgfree 6\npgalloc_dma 6\npgactivate 6\nnr_dirty 3\n");
	const struct view view = {.state = state};

	(void)unused;
	assert_int_equal(state->series.at[0].order, SERIES_AS_READ);
	assert_false(quantity_change(&view, QUANTITY_read).known);
	state_destroy(state);
}

static void the_page_size_is_found(void **unused)
{
	/* 64 KiB, of an arm64 or ppc64 kernel. */
	struct state *state = read_text("x", "MemTotal: 16000000 kB\nMemFree: 640000 kB\n"
					     "Active(file): 1280000 kB\nAnonPages: 64000 kB\n"
					     "nr_free_pages 10000\nnr_active_file 20010\n"
					     "nr_anon_pages 999\n");

	(void)unused;
	assert_int_equal(state->page_bytes, 64 * KIB);
	assert_non_null(state->page_bytes_evidence[0]);
	state_destroy(state);
	/* By what a slab holds: 341 dentries. */
	state = read_text("x",
			  "dentry 88200 88389 192 341 1 : tunables 0 0 0 : slabdata 260 260 0\n");
	assert_int_equal(state->page_bytes, 64 * KIB);
	state_destroy(state);
	state = read_text("x", "nr_free_pages 10000\n");
	assert_int_equal(state->page_bytes, 4 * KIB);
	assert_string_equal(state->page_bytes_from, "assumed");
	state_destroy(state);
}

static void a_page_size_that_cannot_be_is_refused(void **unused)
{
	const struct state_options options = {.page_bytes = 4 * KIB};
	static const char text[] = "MemFree: 640000 kB\nnr_free_pages 10000\n";
	struct state *state = state_create(&options);
	struct error error = {0};

	(void)unused;
	assert_true(state_read_text(state, "x", text, strlen(text), CLOCK_NONE, 0, &error));
	assert_false(state_finish(state, &error));
	assert_non_null(strstr(error.message, "65536"));
	state_destroy(state);
}

static void slabs_are_read_in_all_forms(void **unused)
{
	static const char *const texts[] = {
		"slabinfo - version: 2.1\n# name            <active_objs> <num_objs> <objsize>\n"
		"dentry  88200  88389    192   21    1 : tunables    0    0    0 : slabdata   4209 "
		"  4209      0\n",
		/* SLAB: tunables, and statistics behind */
		"dentry  88200  88389    192   21    1 : tunables  120   60    8 : slabdata   4209 "
		"  4209      0 "
		": globalstat 1 2 3 : cpustat 4 5 6\n",
		/* cut by awk */
		"dentry  88200  88389    192   21    1\n",
		/* Linux 2.4 */
		"slabinfo - version: 1.1\ndentry_cache  88200  88389    192   4209 4209    1\n",
	};
	struct state *state;

	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct entry *entry;

		state = read_text("x", texts[i]);
		assert_int_equal(state->series.count, 1);
		entry = &state->series.at[0].last->entries.at[0];
		/* objects / objects a slab, slabs, pages: 4209 slabs of a page */
		assert_int_equal(entry->values[0], 88200);
		assert_int_equal(entry->values[4] * entry->values[5], 4209);
		state_destroy(state);
	}
	state = read_text("x", " Active / Total Objects (% used)    : 97600 / 97839 (99.8%)\n"
			       "  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME\n"
			       " 88389  88200  99%    0.19K   4209       21     16836K dentry\n");
	assert_int_equal(state->series.at[0].last->entries.at[0].values[6], 16836 * 1024);
	state_destroy(state);
}

static void zones_and_blocks_are_read(void **unused)
{
	struct state *state =
		read_text("x", "Node 0, zone      DMA\n  per-node stats\n"
			       "      nr_inactive_anon 2765\n  pages free     3840\n"
			       "        min      10\n        low      13\n        high     16\n"
			       "        managed  3840\n        protection: (0, 1, 2)\n"
			       "  pagesets\n    cpu: 0\n              count: 0\n"
			       "              high:  0\n"
			       "Node 0, zone   Normal\n  pages free     77\n"
			       "Node 0, zone   Normal      5      4      8\n");

	(void)unused;
	assert_int_equal(count(state, DUMP_VMSTAT), 0);
	assert_int_equal(value(state, DUMP_ZONEINFO, NULL, "0/DMA/high"), 16);
	assert_int_equal(value(state, DUMP_ZONEINFO, NULL, "0/Normal/free"), 77);
	assert_int_equal(value(state, DUMP_BUDDYINFO, NULL, "0/Normal"), 5);
	state_destroy(state);
}

static void arcstats_are_read_in_all_forms(void **unused)
{
	static const char *const texts[] = {
		"13 1 0x01 147 39984 1 2\nname                            type data\n"
		"hits 4 7\nmemory_available_bytes 3 -123\n",
		"kstat.zfs.misc.arcstats.hits: 7\nkstat.zfs.misc.arcstats.memory_available_bytes: "
		"-123\n",
		"zfs:0:arcstats:hits\t7\nzfs:0:arcstats:memory_available_bytes\t-123\n",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct state *state = read_text("x", texts[i]);

		assert_int_equal(value(state, DUMP_ARCSTATS, NULL, "hits"), 7);
		assert_int_equal(
			(int64_t)value(state, DUMP_ARCSTATS, NULL, "memory_available_bytes"), -123);
		state_destroy(state);
	}
	/* Another kstat, whose names are some of its own. */
	assert_int_equal(
		wrong_line("x", "==> /proc/spl/kstat/zfs/zfetchstats <==\nhits 4 7\nmisses 4 8\n",
			   ""),
		0);
}

static void garbled_rows_are_errors(void **unused)
{
	(void)unused;
	assert_int_equal(wrong_line("x", "nr_dirty 1\nnr_writeback 4x\nnr_mapped 2\n",
				    "found \"4x\", expected a whole number"),
			 2);
	assert_int_equal(wrong_line("x", "nr_dirty 1\nnr_writeback\nnr_mapped 2\n", "expected"), 2);
	assert_int_equal(wrong_line("x", "nr_dirty 1\nnr_writeback -4\nnr_mapped 2\n", "\"-4\""),
			 2);
	assert_int_equal(wrong_line("x", "nr_dirty 1\nnr_writeback 99999999999999999999\n",
				    "expected a whole number"),
			 2);
	assert_int_equal(wrong_line("x", "nr_dirty 1\nnr_mapped 2\nnr_fre", "line ends"), 3);
	assert_int_equal(wrong_line("x", "MemTotal: 12 kB\nMemFree: 1o kB\n", "\"1o\""), 2);
	assert_int_equal(
		wrong_line("x", "MemTotal: 12 kB\nMemFree: 99999999999999999999 kB\n", "found"), 2);
	assert_int_equal(
		wrong_line("x", "MemTotal: 12 kB\nMemFree: 18446744073709551615 kB\n", "16 EiB"),
		2);
	assert_int_equal(wrong_line("x", "nr_dirty 1\nsome words without sense\nnr_mapped 2\n",
				    "stands in the middle of /proc/vmstat"),
			 2);
	assert_int_equal(wrong_line("x",
				    "a 1 2 3 4 1 : tunables 0 0 0 : slabdata 1 1 0\n"
				    "b 1 x 3 4 1 : tunables 0 0 0 : slabdata 1 1 0\n",
				    "\"x\""),
			 2);
	assert_int_equal(
		wrong_line("x", "some avg10=0.00 avg60=0.00 avg300=0.00 total=x\n", "microseconds"),
		1);
	assert_int_equal(wrong_line("x", "hits 4 1\nmisses 4 abc\n", "\"abc\""), 2);
	assert_int_equal(wrong_line("x", "hello\nworld\n", "no dump that is known"), 1);
	assert_int_equal(wrong_line("x", "268435456\n", "memory.max"), 1);
	assert_int_equal(wrong_line("memory.max", "268435456\n", ""), 0);
	assert_int_equal(wrong_line("memory.max", "lots\n", "no dump"), 1);
}

static void lenient_skips_and_counts(void **unused)
{
	const struct state_options options = {.lenient = true};
	static const char few[] = "nr_dirty 1\nnr_writeback 4x\nnr_mapped 2\n";
	struct state *state = state_create(&options);
	struct error error = {0};
	char many[4000] = "";

	(void)unused;
	assert_true(state_read_text(state, "x", few, strlen(few), CLOCK_NONE, 0, &error));
	assert_true(state_finish(state, &error));
	assert_int_equal(state->skipped, 1);
	assert_int_equal(value(state, DUMP_VMSTAT, NULL, "nr_mapped"), 2);
	state_destroy(state);

	for (int i = 0; i < 100; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "nr_x%d %s\n", i,
			 i % 20 == 7 ? "?" : "1");
	state = state_create(&options);
	assert_false(state_read_text(state, "vmstat", many, strlen(many), CLOCK_NONE, 0, &error));
	assert_non_null(strstr(error.message, "more than 1 %"));
	state_destroy(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_meminfo_is_in_bytes),
		cmocka_unit_test(other_tables_in_kb_are_no_meminfo),
		cmocka_unit_test(files_are_told_apart_by_what_they_hold),
		cmocka_unit_test(what_is_shared_is_what_it_is_called),
		cmocka_unit_test(headings_say_what_a_number_is),
		cmocka_unit_test(grep_prefixes_and_sysctl_are_read),
		cmocka_unit_test(what_people_paste_is_read),
		cmocka_unit_test(times_are_read),
		cmocka_unit_test(a_rebooted_machine_is_not_subtracted),
		cmocka_unit_test(a_pair_in_reverse_order_is_turned),
		cmocka_unit_test(a_counter_of_32_bits_wraps),
		cmocka_unit_test(one_counter_that_went_back_is_not_known),
		cmocka_unit_test(the_page_size_is_found),
		cmocka_unit_test(a_page_size_that_cannot_be_is_refused),
		cmocka_unit_test(slabs_are_read_in_all_forms),
		cmocka_unit_test(zones_and_blocks_are_read),
		cmocka_unit_test(arcstats_are_read_in_all_forms),
		cmocka_unit_test(garbled_rows_are_errors),
		cmocka_unit_test(lenient_skips_and_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
