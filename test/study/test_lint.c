/*
 * If this fails, somebody is told that an advice of theirs did something, or nothing, when it is not so; or a figure is not what the
 * kernel does: the counts are those measured on Linux (behaviour cases C01, C03, C07, C09, C51), exact where they are exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "op/trace.h"
#include "source/player.h"
#include "study/lint.h"
#include "study/page_map.h"
#include "study/trial.h"

struct linted {
	struct lint_report report;
	struct result result;
};

static void lint_scenario(struct linted *linted, const char *name)
{
	struct error error = {0};
	struct trial trial;
	struct op_source *source;
	char path[100];

	snprintf(path, sizeof(path), "scenarios/cases/%s.yaml", name);
	assert_true(trial_open(&trial, path, NULL, 0, &error));
	source = scenario_source_create(&trial.scenario, trial.model.seed, &error);
	assert_non_null(source);
	if (!lint_source(&trial.model, source, &linted->report, &linted->result, &error))
		fail_msg("%s", error.message);
	op_source_destroy(source);
	trial_close(&trial);
}

/* Rows after the header; memory 0: plenty. `watched` false: the model alone. */
static void trace_run(struct linted *linted, const char *rows, uint64_t memory_bytes, bool watched)
{
	struct model_options options = {
		.memory_bytes = memory_bytes ? memory_bytes : 4 * GIB,
		.is_cgroup = memory_bytes != 0,
		.device_bytes = MODEL_DEVICE_BYTES,
		.seed = 1,
	};
	char path[] = "/tmp/refault-lint-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	struct error error = {0};
	struct op_source *source;
	bool done;

	assert_non_null(file);
	fprintf(file, "time_ns,thread,op,path,offset,bytes\n%s", rows);
	assert_int_equal(fclose(file), 0);
	assert_true(policy_options_parse(&options.policy, "linux-6.18,statistics=fresh", &error));
	assert_true(filesystem_choose(&options.filesystem, "ext4", &error));
	options.streams = stream_map_create(STREAM_BY_THREAD);
	source = trace_open(path, NULL, &error);
	assert_non_null(source);
	if (watched)
		done = lint_source(&options, source, &linted->report, &linted->result, &error);
	else
		done = model_run(&options, source, &linted->result, &error);
	if (!done)
		fail_msg("line %u: %s", (unsigned)error.line, error.message);
	op_source_destroy(source);
	stream_map_destroy(options.streams);
	unlink(path);
}

static void lint_trace(struct linted *linted, const char *rows, uint64_t memory_bytes)
{
	trace_run(linted, rows, memory_bytes, true);
}

static void dismiss(struct linted *linted)
{
	lint_report_deinit(&linted->report);
	result_deinit(&linted->result);
}

static const struct lint_finding *found(const struct linted *linted, const char *id, size_t index)
{
	for (size_t i = 0; i < linted->report.findings.count; i++) {
		if (strcmp(linted->report.findings.at[i]->id, id) == 0 && index-- == 0)
			return linted->report.findings.at[i];
	}
	return NULL;
}

static double figure(const struct lint_finding *finding, const char *name)
{
	assert_non_null(finding);
	for (size_t i = 0; i < finding->figure_count; i++) {
		if (strcmp(finding->figures[i].name, name) == 0)
			return finding->figures[i].value;
	}
	fail_msg("%s has no figure %s", finding->id, name);
	return 0;
}

static void dontneed_before_reading_drops_nothing(void **state)
{
	struct linted linted;
	const struct lint_finding *finding;

	(void)state;
	lint_scenario(&linted, "c03-dontneed-before-reading");
	assert_int_equal(linted.report.findings.count, 1);
	finding = found(&linted, "dontneed-in-vain", 0);
	assert_non_null(
		strstr(finding->title, "evicted 0 of 16,384 pages: it came before the read"));
	assert_int_equal(finding->times, 1);
	assert_true(figure(finding, "range_pages") == 16384);
	assert_true(figure(finding, "read_afterwards_pages") == 16384);
	assert_int_equal(finding->place_count, 2);
	dismiss(&linted);
}

static void dontneed_on_dirty_pages_is_said(void **state)
{
	struct linted linted;
	const struct lint_finding *finding;

	(void)state;
	lint_scenario(&linted, "c09-dontneed-dirty");
	assert_int_equal(linted.report.findings.count, 1);
	finding = found(&linted, "dontneed-in-vain", 0);
	assert_non_null(strstr(finding->title, "16,384 of 16,384 pages were dirty"));
	/* The second, after fsync, is as it should be. */
	assert_int_equal(finding->times, 1);
	dismiss(&linted);
}

static void dontneed_that_others_pay_for(void **state)
{
	struct linted linted;
	const struct lint_finding *finding;

	(void)state;
	/* 100 MiB of the hot file, and none of the cold ones. */
	lint_scenario(&linted, "c01-backup-dontneed");
	assert_int_equal(linted.report.findings.count, 1);
	finding = found(&linted, "dontneed-read-again", 0);
	assert_string_equal(finding->path, "hot");
	assert_true(figure(finding, "read_again_pages") == 25600);
	assert_int_equal(finding->cost_bytes, 100 * MIB);
	dismiss(&linted);
	/* The same between two threads. */
	lint_trace(&linted,
		   "0,1,exists,hot,0,4194304\n"
		   "1,1,read,hot,0,4194304\n2,1,read,hot,0,4194304\n"
		   "3,2,read,hot,0,4194304\n4,2,fadvise_dontneed,hot,0,0\n"
		   "5,1,read,hot,0,4194304\n",
		   0);
	finding = found(&linted, "dontneed-read-again", 0);
	assert_true(figure(finding, "read_again_by_others_pages") == 1024);
	assert_int_equal(finding->places[0].line, 6);
	assert_int_equal(finding->places[1].line, 7);
	dismiss(&linted);
}

static void a_shipper_that_drops_the_page_being_written(void **state)
{
	struct linted linted;

	(void)state;
	lint_scenario(&linted, "c07-log-shipper-whole");
	/* Each second but the first, and but when the log ends at a page's end. */
	assert_true(figure(found(&linted, "partial-write", 0), "pages_read_first") == 59);
	assert_non_null(found(&linted, "dontneed-read-again", 0));
	dismiss(&linted);
	lint_scenario(&linted, "c07-log-shipper-range");
	assert_null(found(&linted, "partial-write", 0));
	/* The reader behind pays in both: 2.2 MiB, within a fifth. */
	assert_true(
		labs((long)figure(found(&linted, "dontneed-read-again", 0), "read_again_bytes") -
		     2197 * 1024) < 2197 * 1024 / 5);
	dismiss(&linted);
}

static void less_than_a_page_is_nothing(void **state)
{
	struct linted linted;
	const struct lint_finding *finding;

	(void)state;
	lint_trace(&linted,
		   "0,1,exists,log,0,1048576\n1,1,read,log,0,1048576\n"
		   "2,1,fadvise_dontneed,log,100,3000\n3,1,fadvise_dontneed,log,5000,4096\n",
		   0);
	finding = found(&linted, "dontneed-in-vain", 0);
	assert_non_null(strstr(finding->title, "covers no whole page"));
	assert_int_equal(finding->times, 2);
	assert_int_equal(finding->places[0].line, 4);
	assert_int_equal(linted.report.findings.count, 1);
	dismiss(&linted);
}

static void writes_of_parts_of_pages_read_them(void **state)
{
	struct linted linted;

	(void)state;
	lint_scenario(&linted, "c51-overwrite-in-pieces");
	/* By 1000 and by 512 bytes: 16 MiB each. Whole pages and appends: nothing. */
	assert_int_equal(linted.report.findings.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct lint_finding *finding = found(&linted, "partial-write", i);

		assert_true(figure(finding, "pages_read_first") == 4096);
		assert_int_equal(finding->cost_bytes, 16 * MIB);
		assert_true(finding->path[0] == 'a' || finding->path[0] == 'b');
	}
	dismiss(&linted);
}

static void readahead_that_nobody_uses(void **state)
{
	struct linted linted;

	(void)state;
	lint_scenario(&linted, "c15-mmap-readahead");
	assert_true(figure(found(&linted, "readahead-unused", 0), "unused_share") > 95);
	dismiss(&linted);
	/* A file read to its end, by and by: all that is ahead is used. */
	lint_trace(&linted,
		   "0,1,exists,f,0,4194304\n1,1,read,f,0,1048576\n2,1,read,f,1048576,1048576\n"
		   "3,1,read,f,2097152,1048576\n4,1,read,f,3145728,1048576\n",
		   0);
	assert_int_equal(linted.report.findings.count, 0);
	dismiss(&linted);
}

/* Rows of `passes` readings of a file of `mib` MiB. */
static char *loop_rows(unsigned mib, unsigned passes)
{
	static char rows[1 << 18];
	size_t used = (size_t)sprintf(rows, "0,1,exists,big,0,%u\n", mib << 20);

	for (unsigned pass = 0, time = 1; pass < passes; pass++) {
		for (unsigned at = 0; at < mib; at++)
			used += (size_t)sprintf(rows + used, "%u000,1,read,big,%u,1048576\n",
						time++, at << 20);
	}
	return rows;
}

/* With as much more memory as it says, nothing is read again; with less than what is missing, all is. */
static void how_much_more_memory_is_missing(void **state)
{
	const uint64_t limit = 64 * MIB;
	struct linted linted, larger;
	const struct lint_finding *finding;
	uint64_t more;

	(void)state;
	lint_trace(&linted, loop_rows(80, 3), limit);
	finding = found(&linted, "read-again", 0);
	assert_true(figure(finding, "bytes_read_again") == 160.0 * MIB);
	assert_int_equal(linted.result.totals.reread_bytes, 160 * MIB);
	more = (uint64_t)figure(finding, "more_memory_for_all_bytes");
	/* 16 MiB, the group's kernel memory, and as much as large folios are coarse. */
	assert_true(more > 16 * MIB && more < 20 * MIB);
	lint_trace(&larger, loop_rows(80, 3), limit + more);
	assert_int_equal(larger.result.totals.reread_bytes, 0);
	assert_null(found(&larger, "read-again", 0));
	dismiss(&larger);
	lint_trace(&larger, loop_rows(80, 3), limit + 15 * MIB);
	assert_int_equal(larger.result.totals.reread_bytes, 160 * MIB);
	dismiss(&larger);
	dismiss(&linted);
}

static void names_that_do_not_exist(void **state)
{
	struct linted linted;
	char *rows = malloc(200000);
	size_t used = (size_t)sprintf(rows, "0,1,exists,etc/passwd,0,100\n");

	(void)state;
	for (int i = 0; i < 3000; i++)
		used += (size_t)sprintf(rows + used, "%d,1,stat,etc/nope%d,0,0\n", i + 1, i % 1500);
	lint_trace(&linted, rows, 0);
	assert_true(figure(found(&linted, "missing-names", 0), "failed_lookups") == 3000);
	assert_true(figure(found(&linted, "missing-names", 0), "different_names") == 1500);
	assert_int_equal(found(&linted, "missing-names", 0)->places[0].line, 3);
	dismiss(&linted);
	/* 750 different ones are nothing to speak of. */
	rows[used / 4] = '\0';
	strrchr(rows, '\n')[1] = '\0';
	lint_trace(&linted, rows, 0);
	assert_null(found(&linted, "missing-names", 0));
	dismiss(&linted);
	free(rows);
}

static void other_advice_that_does_little(void **state)
{
	struct linted linted;
	const struct lint_finding *finding;

	(void)state;
	lint_trace(&linted,
		   "0,1,exists,f,0,16777216\n1,1,fadvise_noreuse,f,0,0\n"
		   "2,1,fadvise_willneed,f,0,0\n3,1,read,f,0,16777216\n"
		   "4,1,fadvise_willneed,f,0,0\n",
		   0);
	assert_non_null(found(&linted, "noreuse", 0));
	finding = found(&linted, "willneed", 0);
	assert_true(figure(finding, "missing_pages") == 4096);
	assert_true(figure(finding, "pages_not_read") > 2048);
	assert_non_null(strstr(found(&linted, "willneed", 1)->title, "read nothing"));
	dismiss(&linted);
}

/* Whoever looks on changes nothing. */
static void watching_changes_nothing(void **state)
{
	struct linted watched, alone;

	(void)state;
	lint_trace(&watched, loop_rows(24, 3), 16 * MIB);
	trace_run(&alone, loop_rows(24, 3), 16 * MIB, false);
	assert_memory_equal(&watched.result.totals, &alone.result.totals,
			    sizeof(alone.result.totals));
	dismiss(&watched);
	result_deinit(&alone.result);
}

static void a_page_map_keeps_what_it_is_given(void **state)
{
	struct page_map map = {0};

	(void)state;
	assert_int_equal(page_map_get(&map, 1, 5), 0);
	for (uint32_t file = 1; file < 40; file++) {
		for (uint64_t page = 0; page < 5000; page += 7)
			page_map_set(&map, file, page << (file % 8), (uint32_t)page + file);
	}
	for (uint32_t file = 1; file < 40; file++) {
		for (uint64_t page = 0; page < 5000; page++)
			assert_int_equal(page_map_get(&map, file, page << (file % 8)),
					 page % 7 == 0 ? page + file : 0);
	}
	page_map_set(&map, 3, 7 << 3, 0);
	assert_int_equal(page_map_get(&map, 3, 7 << 3), 0);
	page_map_deinit(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dontneed_before_reading_drops_nothing),
		cmocka_unit_test(dontneed_on_dirty_pages_is_said),
		cmocka_unit_test(dontneed_that_others_pay_for),
		cmocka_unit_test(a_shipper_that_drops_the_page_being_written),
		cmocka_unit_test(less_than_a_page_is_nothing),
		cmocka_unit_test(writes_of_parts_of_pages_read_them),
		cmocka_unit_test(readahead_that_nobody_uses),
		cmocka_unit_test(how_much_more_memory_is_missing),
		cmocka_unit_test(names_that_do_not_exist),
		cmocka_unit_test(other_advice_that_does_little),
		cmocka_unit_test(watching_changes_nothing),
		cmocka_unit_test(a_page_map_keeps_what_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
