/* If this fails, a result that took hours is lost, half there, or somebody else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/store_private.h"

static char folder[] = "/tmp/refault-store-XXXXXX";
static char path[PATH_MAX];

static int fresh(void **state)
{
	static int count;

	(void)state;
	snprintf(path, sizeof(path), "%s/%d.db", folder, ++count);
	return 0;
}

/* A result as far as the store looks at it. */
static json_t *result_of(uint64_t seed, uint64_t reread_bytes)
{
	return json_pack("{s:{s:s, s:I, s:I}, s:{s:I, s:n}, s:{}, s:{s:s, s:s, s:I, s:b, s:I}}",
			 "input", "name", "a.csv", "ops", (json_int_t)12, "files", (json_int_t)1,
			 "totals", "reread_bytes", (json_int_t)reread_bytes, "refaults", "streams",
			 "machine", "kind", "model", "policy", "lru", "memory_bytes",
			 (json_int_t)4096, "cgroup", 1, "seed", (json_int_t)seed);
}

/* Keep a command with so many runs. */
static bool keep_runs(struct store *store, size_t count, uint64_t seed, char (*ids)[STORE_ID_BYTES],
		      struct error *error)
{
	static const char *const words[] = {"run", "hello"};
	struct kept_run runs[8] = {0};
	struct kept_command command = {.name = "run",
				       .words = words,
				       .word_count = 2,
				       .version = "0.1.0",
				       .time_ns = 1000000007,
				       .text = count > 1 ? "side by side\n" : NULL,
				       .runs = runs,
				       .run_count = count};
	bool done;

	for (size_t i = 0; i < count; i++)
		runs[i] = (struct kept_run){.label = count > 1 ? "one of them" : NULL,
					    .input = "a.csv",
					    .digest = "00ff",
					    .experiment = "",
					    .result = result_of(seed, 100 + i)};
	if (count > 1)
		command.json = json_pack("{s:i}", "compare", 1);
	done = store_keep(store, &command, ids, error);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i].result);
	json_decref(command.json);
	return done;
}

static struct store *opened(enum store_access access)
{
	struct store *store;
	struct error error;

	if (!store_open(&store, path, access, &error))
		fail_msg("%s", error.message);
	return store;
}

static int64_t number_from(struct store *store, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int64_t number = -1;

	assert_int_equal(sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL), SQLITE_OK);
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

static void what_is_kept_comes_back(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[3][STORE_ID_BYTES];
	struct stored stored;
	struct stored_answer answer;
	struct error error;
	uint64_t number;
	json_t *expected = result_of(7, 101);

	(void)state;
	assert_true(keep_runs(store, 3, 7, ids, &error));
	store_close(store);
	store = opened(STORE_READ);
	assert_true(store_find(store, ids[1], &number, &error));
	assert_true(store_load(store, number, &stored, &error));
	assert_true(json_equal(stored.json, expected));
	assert_string_equal(stored.run.id, ids[1]);
	assert_string_equal(stored.run.label, "one of them");
	assert_string_equal(stored.run.digest, "00ff");
	assert_string_equal(stored.run.words, "[\"run\",\"hello\"]");
	assert_string_equal(stored.run.policy, "lru");
	assert_null(stored.run.kernel);
	assert_int_equal(stored.run.seed, 7);
	assert_int_equal(stored.run.time_ns, 1000000007);
	/* Not told is not known, never 0. */
	assert_true(stored.run.reread_known && !stored.run.read_known);
	assert_int_equal(stored.result.totals.reread_bytes, 101);
	assert_true(stored.result.known >> COUNTER_reread_bytes & 1);
	assert_false(stored.result.known >> COUNTER_refaults & 1);
	assert_true(store_load_answer(store, stored.run.command_number, &answer, &error));
	assert_string_equal(answer.text, "side by side\n");
	assert_int_equal(answer.count, 3);
	assert_int_equal(answer.numbers[1], number);
	stored_answer_deinit(&answer);
	stored_deinit(&stored);
	json_decref(expected);
	store_close(store);
}

static void the_same_result_kept_twice_has_two_ids(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[2][STORE_ID_BYTES];
	struct error error;

	(void)state;
	assert_true(keep_runs(store, 1, 1, &ids[0], &error));
	assert_true(keep_runs(store, 1, 1, &ids[1], &error));
	assert_string_not_equal(ids[0], ids[1]);
	store_close(store);
}

static void says(const struct error *error, const char *text)
{
	if (!strstr(error->message, text))
		fail_msg("\"%s\" does not say \"%s\"", error->message, text);
}

static void runs_are_named_by_beginnings_and_from_the_last(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[3][STORE_ID_BYTES], name[STORE_ID_BYTES];
	struct error error;
	uint64_t number;
	size_t digits;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_true(keep_runs(store, 1, i, &ids[i], &error));
	sqlite3_exec(store->database,
		     "UPDATE run SET id = 'abcd000000000001' WHERE number = 1;"
		     "UPDATE run SET id = 'abcd000000000002' WHERE number = 2;"
		     "UPDATE run SET id = 'ab00000000000003' WHERE number = 3",
		     NULL, NULL, NULL);
	assert_true(store_find(store, "ab0", &number, &error) && number == 3);
	assert_true(store_find(store, "AB0", &number, &error) && number == 3);
	assert_true(store_find(store, "abcd000000000002", &number, &error) && number == 2);
	assert_true(store_find(store, "@last", &number, &error) && number == 3);
	assert_true(store_find(store, "@-1", &number, &error) && number == 3);
	assert_true(store_find(store, "@-3", &number, &error) && number == 1);
	assert_true(store_id_digits(store, &digits, &error));
	assert_int_equal(digits, 16);

	assert_false(store_find(store, "abcd", &number, &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	says(&error, "2 runs: abcd000000000001, abcd000000000002");
	assert_false(store_find(store, "ff", &number, &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	says(&error, "no run \"ff\"");
	snprintf(name, sizeof(name), "@-4");
	assert_false(store_find(store, name, &number, &error));
	says(&error, "3 are kept");
	for (size_t i = 0; i < 7; i++) {
		static const char *const wrong[] = {
			"", "@", "@-0", "@-", "@-x", "xyz", "0123456789abcdef0"};

		assert_false(store_find(store, wrong[i], &number, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
	}
	store_close(store);
}

static void a_store_that_is_not_there_is_empty_and_stays_away(void **state)
{
	struct store *store = opened(STORE_READ);
	struct stored_runs runs;
	struct stored stored;
	struct error error;
	uint64_t number;

	(void)state;
	assert_true(store_list(store, &runs, &error));
	assert_int_equal(runs.list.count, 0);
	assert_false(store_find(store, "@last", &number, &error));
	says(&error, "no run is kept");
	assert_false(store_find(store, "ab", &number, &error));
	assert_false(store_load(store, 1, &stored, &error));
	store_close(store);
	assert_int_equal(access(path, F_OK), -1);
}

static void deleting_is_all_or_nothing_and_gives_numbers_to_nobody(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[3][STORE_ID_BYTES];
	uint64_t numbers[] = {1, 2, 3};
	struct stored_runs runs;
	struct stored_answer answer;
	struct error error;

	(void)state;
	assert_true(keep_runs(store, 3, 1, ids, &error));
	assert_true(store_delete(store, numbers, 2, &error));
	assert_true(store_list(store, &runs, &error));
	assert_int_equal(runs.list.count, 1);
	assert_string_equal(runs.list.at[0].id, ids[2]);
	stored_runs_deinit(&runs);
	assert_true(store_load_answer(store, 1, &answer, &error));
	assert_int_equal(answer.count, 1);
	assert_int_equal(answer.kept_count, 3);
	stored_answer_deinit(&answer);
	assert_true(store_delete(store, numbers, 3, &error));
	assert_int_equal(number_from(store, "SELECT count(*) FROM command"), 0);
	assert_true(keep_runs(store, 1, 1, ids, &error));
	assert_int_equal(number_from(store, "SELECT number FROM run"), 4);
	store_close(store);
}

/* ---- many at once, and killed ---- */

static void the_whole_is_sound(struct store *store, int64_t runs_of_each)
{
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM command WHERE (SELECT count(*) FROM run WHERE run.command ="
		 " command.number) != %lld",
		 (long long)runs_of_each);
	assert_int_equal(number_from(store, sql), 0);
	assert_int_equal(number_from(store, "SELECT count(*) FROM run WHERE command NOT IN"
					    " (SELECT number FROM command)"),
			 0);
	assert_int_equal(number_from(store, "SELECT count(*) FROM pragma_integrity_check"
					    " WHERE integrity_check != 'ok'"),
			 0);
}

static void many_processes_keep_at_once_and_nothing_is_lost(void **state)
{
	enum { PROCESSES = 6, COMMANDS = 12 };
	pid_t children[PROCESSES];
	struct store *store;

	(void)state;
	/* The file is not there: they make it at once, too. */
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			char ids[2][STORE_ID_BYTES];
			struct error error;
			bool done = true;

			for (int k = 0; done && k < COMMANDS; k++) {
				done = store_open(&store, path, STORE_WRITE, &error) &&
				       keep_runs(store, 2, (uint64_t)i, ids, &error);
				store_close(store);
			}
			if (!done)
				fprintf(stderr, "# %s\n", error.message);
			_exit(done ? 0 : 1);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	store = opened(STORE_READ);
	assert_int_equal(number_from(store, "SELECT count(*) FROM run"), 2 * PROCESSES * COMMANDS);
	the_whole_is_sound(store, 2);
	store_close(store);
}

/* Keeps until it is killed; says each time that it is done. */
static void keep_forever(int out)
{
	char ids[3][STORE_ID_BYTES];
	struct store *store;
	struct error error;

	for (uint64_t seed = 0;; seed++) {
		if (!store_open(&store, path, STORE_WRITE, &error) ||
		    !keep_runs(store, 3, seed, ids, &error) || write(out, "x", 1) != 1)
			_exit(1);
		store_close(store);
	}
}

static void who_is_killed_leaves_all_or_nothing(void **state)
{
	enum { KILLS = 12 };
	int64_t said = 0, kept = 0;
	struct store *store;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		/* From before the file is there to the middle of the tenth command. */
		const struct timespec pause = {.tv_nsec = i * i * 700000 + 300000};
		int ends[2], status;
		char said_now[4096];
		ssize_t bytes;
		pid_t child;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (child == 0)
			keep_forever(ends[1]);
		close(ends[1]);
		nanosleep(&pause, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		while ((bytes = read(ends[0], said_now, sizeof(said_now))) > 0)
			said += bytes;
		close(ends[0]);
		store = opened(STORE_WRITE);
		the_whole_is_sound(store, 3);
		kept = number_from(store, "SELECT count(*) FROM command");
		/* Killed between the two, a command is kept that nobody heard of. */
		assert_in_range(kept, said, said + i + 1);
		store_close(store);
	}
	assert_true(kept > 3);
}

static void a_full_disk_keeps_nothing_and_says_so(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[8][STORE_ID_BYTES];
	struct error error;
	bool done = true;

	(void)state;
	sqlite3_exec(store->database, "PRAGMA max_page_count = 16", NULL, NULL, NULL);
	for (int i = 0; done && i < 1000; i++)
		done = keep_runs(store, 8, 1, ids, &error);
	assert_false(done);
	assert_int_equal(error.kind, ERROR_FAILED);
	says(&error, "the disk is full");
	the_whole_is_sound(store, 8);
	sqlite3_exec(store->database, "PRAGMA max_page_count = 1000", NULL, NULL, NULL);
	assert_true(keep_runs(store, 8, 1, ids, &error));
	store_close(store);
}

/* ---- versions ---- */

static void an_older_store_is_brought_up_to_date_and_loses_nothing(void **state)
{
	const char *const steps[] = {
		store_steps[0], "ALTER TABLE run ADD COLUMN colour TEXT DEFAULT 'green'", NULL};
	struct store *store = opened(STORE_WRITE);
	char ids[2][STORE_ID_BYTES];
	struct error error;
	uint64_t number;

	(void)state;
	assert_true(keep_runs(store, 2, 1, ids, &error));
	store_close(store);
	/* Whoever only reads finds it as it has to be, too. */
	assert_true(store_open_with(&store, path, STORE_READ, steps, &error));
	assert_int_equal(number_from(store, "SELECT count(*) FROM run WHERE colour = 'green'"), 2);
	assert_int_equal(number_from(store, "PRAGMA user_version"), 2);
	assert_true(store_find(store, ids[0], &number, &error));
	store_close(store);

	/* And now this version is the older one. */
	for (int i = 0; i < 2; i++) {
		assert_false(store_open(&store, path, i ? STORE_READ : STORE_WRITE, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
		says(&error, "newer refault: its schema is version 2, and this one knows 1");
	}
}

static void a_step_that_fails_leaves_the_old_version_whole(void **state)
{
	const char *const steps[] = {store_steps[0],
				     "ALTER TABLE run ADD COLUMN colour TEXT; SELECT broken", NULL};
	struct store *store = opened(STORE_WRITE);
	char ids[1][STORE_ID_BYTES];
	struct error error;

	(void)state;
	assert_true(keep_runs(store, 1, 1, ids, &error));
	store_close(store);
	assert_false(store_open_with(&store, path, STORE_WRITE, steps, &error));
	store = opened(STORE_WRITE);
	assert_int_equal(number_from(store, "SELECT count(*) FROM pragma_table_info('run')"
					    " WHERE name = 'colour'"),
			 0);
	assert_true(keep_runs(store, 1, 1, ids, &error));
	store_close(store);
}

static void other_files_are_refused_and_left_alone(void **state)
{
	static const char text[] = "this is a text, and long enough to be no header of a database, "
				   "of which the first hundred bytes count";
	char back[sizeof(text)];
	sqlite3 *other;
	struct store *store;
	struct error error;
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_int_equal(write(file, text, sizeof(text)), sizeof(text));
	close(file);
	assert_false(store_open(&store, path, STORE_WRITE, &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	says(&error, "is no store of runs");
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(file, back, sizeof(back)), sizeof(back));
	close(file);
	assert_string_equal(back, text);

	fresh(NULL);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	sqlite3_exec(other, "CREATE TABLE theirs (a)", NULL, NULL, NULL);
	sqlite3_close(other);
	assert_false(store_open(&store, path, STORE_WRITE, &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	says(&error, "of another program");
}

static void what_is_damaged_is_said_to_be(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[2][STORE_ID_BYTES];
	struct stored stored;
	struct error error;

	(void)state;
	assert_true(keep_runs(store, 2, 1, ids, &error));
	sqlite3_exec(store->database,
		     "UPDATE run SET result = substr(result, 1, length(result) - 9)"
		     " WHERE number = 1; UPDATE run SET result = x'00' WHERE number = 2",
		     NULL, NULL, NULL);
	for (uint64_t number = 1; number <= 2; number++) {
		assert_false(store_load(store, number, &stored, &error));
		says(&error, "damaged");
		stored_deinit(&stored);
	}
	store_close(store);
}

/* ---- places ---- */

static void the_default_place_is_where_xdg_says(void **state)
{
	char place[PATH_MAX];
	struct error error;

	(void)state;
	setenv("HOME", "/home/somebody", 1);
	setenv("XDG_DATA_HOME", "/data", 1);
	assert_true(store_default_path(place, sizeof(place), &error));
	assert_string_equal(place, "/data/refault/runs.db");
	/* The specification has relative ones ignored. */
	setenv("XDG_DATA_HOME", "data", 1);
	assert_true(store_default_path(place, sizeof(place), &error));
	assert_string_equal(place, "/home/somebody/.local/share/refault/runs.db");
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	assert_false(store_default_path(place, sizeof(place), &error));
	assert_int_equal(error.kind, ERROR_FAILED);
}

static void who_may_only_read_can(void **state)
{
	struct store *store = opened(STORE_WRITE);
	char ids[1][STORE_ID_BYTES];
	struct error error;
	int status;
	pid_t child;

	(void)state;
	assert_true(keep_runs(store, 1, 1, ids, &error));
	store_close(store);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(folder, 0555), 0);
	child = fork();
	if (child == 0) {
		struct stored_runs runs;

		if (getuid() == 0 && setuid(65534) != 0)
			_exit(2);
		if (!store_open(&store, path, STORE_READ, &error) ||
		    !store_list(store, &runs, &error))
			_exit(3);
		if (runs.list.count != 1 || strcmp(runs.list.at[0].id, ids[0]) != 0)
			_exit(4);
		/* To write is refused, not half done. */
		_exit(store_open(&store, path, STORE_WRITE, &error) &&
				      keep_runs(store, 1, 1, ids, &error)
			      ? 5
			      : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	chmod(folder, 0755);
	assert_int_equal(status, 0);
}

static int folder_make(void **state)
{
	(void)state;
	return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1;
}

static int folder_remove(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_kept_comes_back, fresh),
		cmocka_unit_test_setup(the_same_result_kept_twice_has_two_ids, fresh),
		cmocka_unit_test_setup(runs_are_named_by_beginnings_and_from_the_last, fresh),
		cmocka_unit_test_setup(a_store_that_is_not_there_is_empty_and_stays_away, fresh),
		cmocka_unit_test_setup(deleting_is_all_or_nothing_and_gives_numbers_to_nobody,
				       fresh),
		cmocka_unit_test_setup(many_processes_keep_at_once_and_nothing_is_lost, fresh),
		cmocka_unit_test_setup(who_is_killed_leaves_all_or_nothing, fresh),
		cmocka_unit_test_setup(a_full_disk_keeps_nothing_and_says_so, fresh),
		cmocka_unit_test_setup(an_older_store_is_brought_up_to_date_and_loses_nothing,
				       fresh),
		cmocka_unit_test_setup(a_step_that_fails_leaves_the_old_version_whole, fresh),
		cmocka_unit_test_setup(other_files_are_refused_and_left_alone, fresh),
		cmocka_unit_test_setup(what_is_damaged_is_said_to_be, fresh),
		cmocka_unit_test_setup(the_default_place_is_where_xdg_says, fresh),
		cmocka_unit_test_setup(who_may_only_read_can, fresh),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
