/* If this fails, a sweep runs the wrong cells, or loses those that were done, or one of two machines works in vain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/size.h"
#include "study/ranks.h"
#include "study/sizes.h"
#include "study/sweep.h"
#include "study/sweep_file.h"

/* ---- sizes ---- */

static void sizes_are(const char *text, enum sizes_unit unit, const char *expected)
{
	struct sizes sizes;
	struct error error;
	char found[400] = "";

	if (!sizes_parse(&sizes, text, unit, "--memory", &error))
		fail_msg("%s: %s", text, error.message);
	for (size_t i = 0; i < sizes.count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%llu",
			 i ? " " : "", (unsigned long long)sizes.at[i]);
	assert_string_equal(found, expected);
	sizes_deinit(&sizes);
}

static void lists_and_ranges_of_sizes_are_read(void **state)
{
	(void)state;
	sizes_are("1KiB..8KiB:x2", SIZES_BYTES, "1024 2048 4096 8192");
	sizes_are("1KiB..9KiB", SIZES_BYTES, "1024 2048 4096 8192");
	sizes_are("4KiB..8KiB:+2KiB", SIZES_BYTES, "4096 6144 8192");
	sizes_are("8KiB,4KiB,8KiB", SIZES_BYTES, "8192 4096");
	sizes_are("16KiB..64KiB:x1.5", SIZES_BYTES, "16384 24576 36864 57344");
	sizes_are("1..4:x1.1", SIZES_NUMBER, "1 2 3 4");
	sizes_are("10,1..3:+1", SIZES_NUMBER, "10 1 2 3");
	/* A range that ends at the end of all numbers ends. */
	sizes_are("16000PiB..16383PiB:+300PiB,1KiB", SIZES_BYTES,
		  "18014398509481984000 18352168481534771200 1024");
}

static void wrong_sizes_are_refused_with_what_was_found(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {{"", "expected sizes"},
		     {"1GiB,", "expected sizes"},
		     {"1GiB..2GiB:2", "expected xFACTOR"},
		     {"2GiB..1GiB", "smaller one comes first"},
		     {"1GiB..2GiB:x1", "leads nowhere"},
		     {"1GiB:x2", "no range"},
		     {"0", "more than 0"},
		     {"1GiB..2GiB:+0", "more than 0"},
		     {"1..100000000:+1", "more than"}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sizes sizes;
		struct error error;

		assert_false(sizes_parse(&sizes, wrong[i].text, SIZES_BYTES, "--memory", &error));
		if (!strstr(error.message, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, error.message);
		assert_int_equal(error.kind, ERROR_INPUT);
	}
}

/* ---- threads ---- */

enum { CELLS = 200 };

struct counted {
	pthread_mutex_t mutex;
	unsigned int runs[CELLS], finished[CELLS];
	bool done[CELLS], wanted[CELLS];
	volatile int interrupted;
	size_t interrupt_after; /* runs; 0: never */
	size_t run_count;
};

static char *counted_run(void *context, size_t cell, size_t worker)
{
	struct counted *counted = context;
	char *text = malloc(64);
	bool stop;

	(void)worker;
	pthread_mutex_lock(&counted->mutex);
	counted->runs[cell]++;
	counted->run_count++;
	stop = counted->interrupt_after && counted->run_count > counted->interrupt_after;
	if (stop)
		counted->interrupted = 2;
	pthread_mutex_unlock(&counted->mutex);
	snprintf(text, 64, "{\"cell\": %zu}", cell);
	if (!stop)
		return text;
	free(text);
	return NULL;
}

static void counted_finished(void *context, size_t cell, const char *outcome, unsigned int by)
{
	struct counted *counted = context;
	char expected[64];

	(void)by;
	snprintf(expected, sizeof(expected), "{\"cell\": %zu}", cell);
	assert_string_equal(outcome, expected);
	counted->finished[cell]++;
}

static void counted_lost(void *context, size_t cell, unsigned int rank)
{
	(void)context;
	(void)cell;
	(void)rank;
}

static struct sweep counted_sweep(struct counted *counted, size_t threads)
{
	*counted = (struct counted){.mutex = PTHREAD_MUTEX_INITIALIZER};
	return (struct sweep){.count = CELLS,
			      .done = counted->done,
			      .threads = threads,
			      .run = counted_run,
			      .finished = counted_finished,
			      .lost = counted_lost,
			      .context = counted,
			      .interrupted = &counted->interrupted};
}

static void each_cell_runs_once_but_for_those_that_are_done_or_not_wanted(void **state)
{
	(void)state;
	for (size_t threads = 1; threads <= 9; threads += 4) {
		struct counted counted;
		struct sweep sweep = counted_sweep(&counted, threads);
		struct error error;

		sweep.wanted = counted.wanted;
		for (size_t i = 0; i < CELLS; i++) {
			counted.done[i] = i % 3 == 0;
			counted.wanted[i] = i % 2 == 0;
		}
		assert_true(sweep_run(&sweep, &error));
		for (size_t i = 0; i < CELLS; i++) {
			assert_int_equal(counted.runs[i], i % 3 != 0 && i % 2 == 0);
			assert_int_equal(counted.finished[i], counted.runs[i]);
		}
	}
}

static bool not_prepared(void *context, struct error *error)
{
	(void)context;
	return error_input(error, "no such thing");
}

static void what_cannot_be_prepared_runs_nothing(void **state)
{
	struct counted counted;
	struct sweep sweep = counted_sweep(&counted, 3);
	struct error error;

	(void)state;
	sweep.prepare = not_prepared;
	assert_false(sweep_run(&sweep, &error));
	assert_string_equal(error.message, "no such thing");
	assert_int_equal(counted.run_count, 0);
	/* Where all is done, there is nothing to prepare. */
	memset(counted.done, 1, sizeof(counted.done));
	assert_true(sweep_run(&sweep, &error));
}

static void an_interrupted_sweep_keeps_what_was_finished(void **state)
{
	struct counted counted;
	struct sweep sweep = counted_sweep(&counted, 3);
	struct error error;
	size_t finished = 0;

	(void)state;
	counted.interrupt_after = 20;
	assert_true(sweep_run(&sweep, &error));
	for (size_t i = 0; i < CELLS; i++)
		finished += counted.finished[i];
	assert_int_equal(finished, 20);
}

/* ---- files ---- */

static json_t *question(int cells)
{
	json_t *list = json_array();

	for (int i = 0; i < cells; i++)
		json_array_append_new(list, json_pack("{s:i}", "size", i));
	return json_pack("{s:s, s:o}", "input", "t", "cells", list);
}

static char *scratch_path(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/test-sweep-%ld-%s", (long)getpid(), name);
	return path;
}

static struct sweep_cells cells_of(int count)
{
	struct sweep_cells cells;
	json_t *asked = question(count);

	sweep_cells_init(&cells, asked);
	json_decref(asked);
	return cells;
}

static void add(const char *path, bool resume, size_t cell, const char *outcome)
{
	struct sweep_cells cells = cells_of(3);
	struct error error;
	struct sweep_file *file = sweep_file_open(path, resume, &cells, &error);

	assert_non_null(file);
	assert_true(sweep_file_add(file, cell, outcome, &error));
	sweep_file_close(file);
	sweep_cells_deinit(&cells);
}

static void half_a_line_is_nothing_and_the_next_run_goes_on_behind_it(void **state)
{
	char *path = scratch_path("half");
	struct sweep_cells cells = cells_of(3);
	struct error error;
	struct sweep_file *file;
	FILE *torn;

	(void)state;
	add(path, false, 1, "{\"a\":1.5}");
	torn = fopen(path, "a");
	fputs("{\"cell\":2,\"outcome\":{\"a\"", torn);
	fclose(torn);
	file = sweep_file_open(path, true, &cells, &error);
	assert_non_null(file);
	assert_int_equal(cells.done_count, 1);
	assert_true(cells.done[1]);
	/* Nobody else may write it at the same time. */
	assert_null(sweep_file_open(path, true, &cells, &error));
	assert_non_null(strstr(error.message, "another sweep"));
	assert_true(sweep_file_add(file, 2, "{\"a\":2}", &error));
	sweep_file_close(file);
	sweep_cells_deinit(&cells);
	assert_true(sweep_cells_read(&cells, path, &error));
	assert_int_equal(cells.done_count, 2);
	sweep_cells_deinit(&cells);
	/* Without `resume` it begins anew. */
	add(path, false, 0, "{}");
	assert_true(sweep_cells_read(&cells, path, &error));
	assert_int_equal(cells.done_count, 1);
	assert_true(cells.done[0]);
	sweep_cells_deinit(&cells);
	unlink(path);
}

static void parts_are_put_together_and_contradictions_are_refused(void **state)
{
	struct sweep_cells a = cells_of(3), b = cells_of(3), other = cells_of(4);
	struct error error;

	(void)state;
	assert_true(sweep_cells_add(&a, 0, "{\"x\":1}"));
	assert_false(sweep_cells_add(&a, 0, "{\"x\":2}"));
	assert_false(sweep_cells_add(&a, 3, "{\"x\":2}"));
	assert_false(sweep_cells_add(&a, 1, "no"));
	assert_true(sweep_cells_add(&b, 0, "{\"x\":1}"));
	assert_true(sweep_cells_add(&b, 2, "{\"x\":3}"));
	assert_true(sweep_cells_take(&a, &b, "b", &error));
	assert_int_equal(a.done_count, 2);
	assert_false(sweep_cells_take(&a, &other, "c", &error));
	assert_non_null(strstr(error.message, "another sweep"));
	assert_true(sweep_cells_add(&b, 1, "{\"x\":4}"));
	assert_true(sweep_cells_add(&a, 1, "{\"x\":5}"));
	assert_false(sweep_cells_take(&a, &b, "b", &error));
	assert_non_null(strstr(error.message, "cell 2"));
	sweep_cells_deinit(&a);
	sweep_cells_deinit(&b);
	sweep_cells_deinit(&other);
}

static void the_whole_is_the_same_in_whatever_order_it_came(void **state)
{
	static const char *const outcomes[] = {"{\"x\":0.1}", "{\"x\":1}", "{\"x\":2}"};
	char written[2][400] = {{0}};
	struct error error;

	(void)state;
	for (int way = 0; way < 2; way++) {
		char *path = scratch_path("whole");
		struct sweep_cells cells = cells_of(3);
		FILE *file;

		for (size_t i = 0; i < 3; i++) {
			size_t cell = way ? 2 - i : i;

			assert_true(sweep_cells_add(&cells, cell, outcomes[cell]));
		}
		assert_true(sweep_cells_write(&cells, path, &error));
		file = fopen(path, "r");
		assert_true(fread(written[way], 1, sizeof(written[way]) - 1, file) > 0);
		fclose(file);
		unlink(path);
		sweep_cells_deinit(&cells);
	}
	assert_string_equal(written[0], written[1]);
}

static void what_is_no_such_file_is_said(void **state)
{
	char *path = scratch_path("wrong");
	struct sweep_cells cells;
	struct error error;
	static const char *const texts[] = {"", "hello\n", "{}\n",
					    "{\"refault_sweep\":9,\"question\":{\"cells\":[1]}}\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *file = fopen(path, "w");

		fputs(texts[i], file);
		fclose(file);
		assert_false(sweep_cells_read(&cells, path, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
	}
	assert_non_null(strstr(error.message, "version 9"));
	unlink(path);
}

/* ---- ranks ---- */

static const char *const variables[] = {
	"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
	"SLURM_STEP_NUM_TASKS", "SLURM_PROCID",         NULL};

static void the_launcher_is_found_by_what_it_says(void **state)
{
	struct launcher launcher;

	(void)state;
	for (size_t i = 0; variables[i]; i++)
		unsetenv(variables[i]);
	assert_false(launcher_find(&launcher));
	for (size_t i = 0; variables[i]; i += 2) {
		setenv(variables[i], "4", 1);
		setenv(variables[i + 1], "3", 1);
		assert_true(launcher_find(&launcher));
		assert_int_equal(launcher.rank, 3);
		assert_int_equal(launcher.size, 4);
		setenv(variables[i + 1], "4", 1);
		assert_false(launcher_find(&launcher));
		/* Alone, there is nobody to speak with. */
		setenv(variables[i], "1", 1);
		setenv(variables[i + 1], "0", 1);
		assert_false(launcher_find(&launcher));
		unsetenv(variables[i]);
		unsetenv(variables[i + 1]);
	}
}

/* Rank `rank` of 3 in this process; dies in the middle of its first cell, if it shall. */
static int be_rank(uint32_t rank, const char *folder, bool dies)
{
	struct launcher launcher = {
		.name = "test", .rank = rank, .size = 3, .local_size = 3, .job = "j"};
	struct error error;
	struct ranks *ranks = ranks_open(&launcher, folder, 42, &error);
	uint64_t cell;
	bool lost;
	int fd = ranks_connect(ranks, NULL, &error);
	char mark[100];

	if (fd < 0)
		return 2;
	snprintf(mark, sizeof(mark), "%s/dies", folder);
	while (rank_next_cell(fd, &cell, &lost, NULL)) {
		char text[64];

		if (dies) {
			fclose(fopen(mark, "w"));
			_exit(9);
		}
		/* Till the other has something to lose, for ten seconds at most. */
		for (int i = 0; i < 10000 && access(mark, F_OK) != 0; i++)
			usleep(1000);
		snprintf(text, sizeof(text), "{\"cell\": %zu}", (size_t)cell);
		if (!rank_send_outcome(fd, text))
			return 3;
	}
	close(fd);
	ranks_close(ranks);
	return lost ? 4 : 0;
}

static atomic_uint finished_by[3], lost_by[3];

static void by_finished(void *context, size_t cell, const char *outcome, unsigned int by)
{
	counted_finished(context, cell, outcome, by);
	finished_by[by]++;
}

static void by_lost(void *context, size_t cell, unsigned int rank)
{
	(void)context;
	(void)cell;
	lost_by[rank]++;
}

static char *slow_run(void *context, size_t cell, size_t worker)
{
	/* Till the others have come, for ten seconds at most: who is late has nothing to lose. */
	for (int i = 0; i < 10000 && (finished_by[1] == 0 || lost_by[2] == 0); i++)
		usleep(1000);
	return counted_run(context, cell, worker);
}

static void a_lost_rank_loses_only_what_it_was_doing(void **state)
{
	struct launcher launcher = {
		.name = "test", .rank = 0, .size = 3, .local_size = 3, .job = "j"};
	char *folder = scratch_path("ranks");
	struct counted counted;
	struct sweep sweep = counted_sweep(&counted, 1);
	struct error error;
	pid_t children[2];
	char command[200];

	(void)state;
	snprintf(command, sizeof(command), "mkdir %s", folder);
	assert_int_equal(system(command), 0);
	for (uint32_t i = 0; i < 2; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(be_rank(i + 1, folder, i == 1));
	}
	sweep.ranks = ranks_open(&launcher, folder, 42, &error);
	assert_non_null(sweep.ranks);
	sweep.run = slow_run;
	sweep.finished = by_finished;
	sweep.lost = by_lost;
	assert_true(sweep_run(&sweep, &error));
	ranks_close(sweep.ranks);
	for (size_t i = 0; i < CELLS; i++)
		assert_int_equal(counted.finished[i], 1);
	for (size_t i = 0; i < 2; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(WEXITSTATUS(status), i == 1 ? 9 : 0);
	}
	assert_true(finished_by[0] > 0 && finished_by[1] > 0 && finished_by[2] == 0);
	assert_int_equal(lost_by[2], 1);
	assert_int_equal(lost_by[1], 0);
	snprintf(command, sizeof(command), "rm %s/dies && rmdir %s", folder, folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_and_ranges_of_sizes_are_read),
		cmocka_unit_test(wrong_sizes_are_refused_with_what_was_found),
		cmocka_unit_test(each_cell_runs_once_but_for_those_that_are_done_or_not_wanted),
		cmocka_unit_test(what_cannot_be_prepared_runs_nothing),
		cmocka_unit_test(an_interrupted_sweep_keeps_what_was_finished),
		cmocka_unit_test(half_a_line_is_nothing_and_the_next_run_goes_on_behind_it),
		cmocka_unit_test(parts_are_put_together_and_contradictions_are_refused),
		cmocka_unit_test(the_whole_is_the_same_in_whatever_order_it_came),
		cmocka_unit_test(what_is_no_such_file_is_said),
		cmocka_unit_test(the_launcher_is_found_by_what_it_says),
		cmocka_unit_test(a_lost_rank_loses_only_what_it_was_doing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
