/*
 * Finding runs and loading them.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result_json.h"
#include "store/store_private.h"

/* What is larger was never kept: it is damaged. */
#define UNPACKED_BYTES_MAX (UINT64_C(4) << 30)

enum { ID_DIGITS_SHOWN = 7 };

bool store_column_packed(sqlite3_stmt *statement, int index, char **text, struct error *error)
{
	const void *packed = sqlite3_column_blob(statement, index);
	size_t bytes = (size_t)sqlite3_column_bytes(statement, index);
	unsigned long long unpacked;

	*text = NULL;
	if (sqlite3_column_type(statement, index) == SQLITE_NULL)
		return true;
	unpacked = ZSTD_getFrameContentSize(packed, bytes);
	if (unpacked >= UNPACKED_BYTES_MAX) /* the error values are larger still */
		return error_failed(error, "what is kept of the run is damaged");
	*text = memory_alloc(unpacked + 1, 1);
	if (ZSTD_decompress(*text, unpacked, packed, bytes) == unpacked)
		return true;
	memory_free(*text);
	*text = NULL;
	return error_failed(error, "what is kept of the run is damaged");
}

static char *column_text(sqlite3_stmt *statement, int index)
{
	const unsigned char *text = sqlite3_column_text(statement, index);

	return text ? text_copy((const char *)text) : NULL;
}

static bool column_number(sqlite3_stmt *statement, int index, uint64_t *number)
{
	*number = (uint64_t)sqlite3_column_int64(statement, index);
	return sqlite3_column_type(statement, index) != SQLITE_NULL;
}

/* ---- runs without their results ---- */

#define RUN_COLUMNS                                                                                \
	"run.number, run.id, run.command, command.time_ns, command.name, command.version,"         \
	" command.words, run.label, run.input, run.digest, run.experiment, run.machine,"           \
	" run.kernel, run.policy, run.filesystem, run.switches, run.memory_bytes, run.is_cgroup,"  \
	" run.seed, run.op_count, run.read_bytes, run.reread_bytes, run.elapsed_ns"
#define RUN_TABLES " FROM run JOIN command ON command.number = run.command "

enum { RUN_COLUMN_COUNT = 23 };

static void run_read(sqlite3_stmt *statement, struct stored_run *run)
{
	char **const texts[] = {&run->command, &run->version, &run->words,      &run->label,
				&run->input,   &run->digest,  &run->experiment, &run->machine,
				&run->kernel,  &run->policy,  &run->filesystem, &run->switches};
	const unsigned char *id = sqlite3_column_text(statement, 1);

	column_number(statement, 0, &run->number);
	snprintf(run->id, sizeof(run->id), "%s", id ? (const char *)id : "");
	column_number(statement, 2, &run->command_number);
	column_number(statement, 3, &run->time_ns);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = column_text(statement, 4 + (int)i);
	column_number(statement, 16, &run->memory_bytes);
	run->is_cgroup = sqlite3_column_int(statement, 17);
	column_number(statement, 18, &run->seed);
	column_number(statement, 19, &run->op_count);
	run->read_known = column_number(statement, 20, &run->read_bytes);
	run->reread_known = column_number(statement, 21, &run->reread_bytes);
	run->elapsed_known = column_number(statement, 22, &run->elapsed_ns);
}

bool store_list(struct store *store, struct stored_runs *runs, struct error *error)
{
	sqlite3_stmt *statement;
	int code = SQLITE_DONE;

	*runs = (struct stored_runs){0};
	if (!store->database)
		return true;
	statement =
		store_prepare(store, "SELECT " RUN_COLUMNS RUN_TABLES "ORDER BY run.number", error);
	if (!statement)
		return false;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		run_read(statement, array_push(&runs->list));
	if (code != SQLITE_DONE)
		store_error(store, error, "cannot read");
	sqlite3_finalize(statement);
	return code == SQLITE_DONE;
}

void stored_run_deinit(struct stored_run *run)
{
	char *const texts[] = {run->command, run->version, run->words,      run->label,
			       run->input,   run->digest,  run->experiment, run->machine,
			       run->kernel,  run->policy,  run->filesystem, run->switches};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		memory_free(texts[i]);
	*run = (struct stored_run){0};
}

void stored_runs_deinit(struct stored_runs *runs)
{
	for (size_t i = 0; i < runs->list.count; i++)
		stored_run_deinit(&runs->list.at[i]);
	array_deinit(&runs->list);
}

bool store_id_digits(struct store *store, size_t *digits, struct error *error)
{
	sqlite3_stmt *statement;
	char before[STORE_ID_BYTES] = "";
	int code;

	*digits = ID_DIGITS_SHOWN;
	if (!store->database)
		return true;
	statement = store_prepare(store, "SELECT id FROM run ORDER BY id", error);
	if (!statement)
		return false;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *id = (const char *)sqlite3_column_text(statement, 0);
		size_t same = 0;

		while (before[same] && before[same] == id[same])
			same++;
		*digits = same + 1 > *digits ? same + 1 : *digits;
		snprintf(before, sizeof(before), "%s", id);
	}
	if (code != SQLITE_DONE)
		store_error(store, error, "cannot read");
	sqlite3_finalize(statement);
	return code == SQLITE_DONE;
}

/* ---- names ---- */

/* Of the statement's first row; false: it has none. */
static bool number_of(struct store *store, const char *sql, const char *text, uint64_t value,
		      uint64_t *number, bool *found, struct error *error)
{
	sqlite3_stmt *statement = store_prepare(store, sql, error);
	int code;

	if (!statement)
		return false;
	if (text)
		sqlite3_bind_text(statement, 1, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)value);
	code = sqlite3_step(statement);
	*found = code == SQLITE_ROW && column_number(statement, 0, number);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		store_error(store, error, "cannot read");
	sqlite3_finalize(statement);
	return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* How many runs are kept; 0 of a store that is not there. */
static bool run_count(struct store *store, uint64_t *count, struct error *error)
{
	bool found;

	*count = 0;
	return !store->database || number_of(store, "SELECT count(*) FROM run WHERE ?1 = 0", NULL,
					     0, count, &found, error);
}

/* @last, @-N; *back counts from 1. */
static bool back_parse(const char *name, uint64_t *back, struct error *error)
{
	*back = 1;
	if (strcmp(name, "@last") == 0)
		return true;
	if (strncmp(name, "@-", 2) == 0 && name[2] >= '0' && name[2] <= '9' &&
	    number_parse(back, name + 2, "RUN", error) && *back > 0)
		return true;
	return error_input(
		error, "\"%.60s\" names no run: @last is the last one, @-2 the one before", name);
}

static bool find_back(struct store *store, const char *name, uint64_t *number, struct error *error)
{
	uint64_t back, count;
	bool found = false;

	if (!back_parse(name, &back, error) || !run_count(store, &count, error))
		return false;
	if (count == 0)
		return error_input(error, "no run is kept in %.300s", store->path);
	if (back > count)
		return error_input(error, "no run %.60s: %" PRIu64 " %s kept in %.300s", name,
				   count, count == 1 ? "is" : "are", store->path);
	if (!number_of(store, "SELECT number FROM run ORDER BY number DESC LIMIT 1 OFFSET ?1", NULL,
		       back - 1, number, &found, error))
		return false;
	return found || error_input(error, "no run %.60s is kept any more", name);
}

/* "a7f31c2, a7f4410 and 3 more" */
static bool ambiguous(struct store *store, const char *prefix, struct error *error)
{
	enum { SHOWN = 4 };
	sqlite3_stmt *statement = store_prepare(
		store, "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id",
		error);
	char shown[SHOWN * (STORE_ID_BYTES + 2)] = "";
	size_t used = 0, count = 0;

	if (!statement)
		return false;
	sqlite3_bind_text(statement, 1, prefix, -1, SQLITE_STATIC);
	for (; sqlite3_step(statement) == SQLITE_ROW; count++)
		if (count < SHOWN)
			used += (size_t)snprintf(shown + used, sizeof(shown) - used, "%s%s",
						 count ? ", " : "",
						 (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return error_input(error, "\"%.20s\" begins the names of %zu runs: %s%s", prefix, count,
			   shown, count > SHOWN ? ", ..." : "");
}

static bool find_prefix(struct store *store, const char *prefix, uint64_t *number,
			struct error *error)
{
	uint64_t count = 0;
	bool found;

	if (store->database &&
	    !number_of(store, "SELECT count(*) FROM run WHERE substr(id, 1, length(?1)) = ?1",
		       prefix, 0, &count, &found, error))
		return false;
	if (count == 0)
		return error_input(error,
				   "no run \"%.60s\" is kept in %.300s; `refault list runs` shows "
				   "those that are",
				   prefix, store->path);
	if (count > 1)
		return ambiguous(store, prefix, error);
	return number_of(store, "SELECT number FROM run WHERE substr(id, 1, length(?1)) = ?1",
			 prefix, 0, number, &found, error);
}

bool store_find(struct store *store, const char *name, uint64_t *number, struct error *error)
{
	char prefix[STORE_ID_BYTES];
	size_t digits = strspn(name, "0123456789abcdefABCDEF");

	if (name[0] == '@')
		return find_back(store, name, number, error);
	if (digits == 0 || digits >= sizeof(prefix) || name[digits])
		return error_input(
			error,
			"\"%.60s\" names no run: that is @last, @-2, or the beginning of "
			"an id (`refault list runs`)",
			name);
	for (size_t i = 0; i <= digits; i++)
		prefix[i] =
			name[i] >= 'A' && name[i] <= 'F' ? (char)(name[i] - 'A' + 'a') : name[i];
	return find_prefix(store, prefix, number, error);
}

bool store_find_all(struct store *store, const char *const *names, size_t count, uint64_t *numbers,
		    struct error *error)
{
	bool done = true;

	if (store->database && !store_execute(store, "BEGIN", "cannot read", error))
		return false;
	for (size_t i = 0; done && i < count; i++)
		done = store_find(store, names[i], &numbers[i], error);
	if (store->database)
		sqlite3_exec(store->database, "COMMIT", NULL, NULL, NULL);
	return done;
}

/* ---- results ---- */

static bool json_parse(const char *text, json_t **json, struct error *error)
{
	json_error_t where;

	*json = text ? json_loads(text, JSON_DECODE_ANY, &where) : NULL;
	return *json || error_failed(error, "what is kept of the run is damaged");
}

static bool load_row(sqlite3_stmt *statement, struct stored *stored, struct error *error)
{
	char *drawing = NULL, *result = NULL;
	bool done;

	run_read(statement, &stored->run);
	done = store_column_packed(statement, RUN_COLUMN_COUNT, &drawing, error) &&
	       store_column_packed(statement, RUN_COLUMN_COUNT + 1, &result, error) &&
	       json_parse(drawing, &stored->drawing, error) &&
	       json_parse(result, &stored->json, error) &&
	       result_json_read(&stored->result, result, strlen(result), error);
	memory_free(drawing);
	memory_free(result);
	return done;
}

bool store_load(struct store *store, uint64_t number, struct stored *stored, struct error *error)
{
	sqlite3_stmt *statement;
	bool done;

	*stored = (struct stored){0};
	if (!store->database)
		return error_failed(error, "no run is kept in %.300s", store->path);
	statement = store_prepare(
		store, "SELECT " RUN_COLUMNS ", drawing, result" RUN_TABLES "WHERE run.number = ?",
		error);
	if (!statement)
		return false;
	sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
	if (sqlite3_step(statement) == SQLITE_ROW)
		done = load_row(statement, stored, error);
	else
		done = error_failed(error, "the run is not in %.300s any more", store->path);
	sqlite3_finalize(statement);
	return done;
}

void stored_deinit(struct stored *stored)
{
	stored_run_deinit(&stored->run);
	json_decref(stored->json);
	json_decref(stored->drawing);
	result_deinit(&stored->result);
	*stored = (struct stored){0};
}

static bool answer_runs(struct store *store, uint64_t command, struct stored_answer *answer,
			struct error *error)
{
	sqlite3_stmt *statement = store_prepare(
		store, "SELECT number FROM run WHERE command = ? ORDER BY number", error);
	int code;

	if (!statement)
		return false;
	sqlite3_bind_int64(statement, 1, (sqlite3_int64)command);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		answer->numbers =
			memory_resize(answer->numbers, answer->count + 1, sizeof(*answer->numbers));
		answer->numbers[answer->count++] = (uint64_t)sqlite3_column_int64(statement, 0);
	}
	if (code != SQLITE_DONE)
		store_error(store, error, "cannot read");
	sqlite3_finalize(statement);
	return code == SQLITE_DONE;
}

static bool answer_row(sqlite3_stmt *statement, struct stored_answer *answer, struct error *error)
{
	char *json = NULL;
	uint64_t count;
	bool done;

	column_number(statement, 0, &count);
	answer->kept_count = (size_t)count;
	done = store_column_packed(statement, 1, &answer->text, error) &&
	       store_column_packed(statement, 2, &json, error) &&
	       (!json || json_parse(json, &answer->json, error));
	memory_free(json);
	return done;
}

bool store_load_answer(struct store *store, uint64_t command_number, struct stored_answer *answer,
		       struct error *error)
{
	sqlite3_stmt *statement;
	bool done;

	*answer = (struct stored_answer){0};
	if (!store->database)
		return error_failed(error, "no run is kept in %.300s", store->path);
	statement = store_prepare(
		store, "SELECT run_count, text, json FROM command WHERE number = ?", error);
	if (!statement)
		return false;
	sqlite3_bind_int64(statement, 1, (sqlite3_int64)command_number);
	if (sqlite3_step(statement) == SQLITE_ROW)
		done = answer_row(statement, answer, error);
	else
		done = error_failed(error, "the run is not in %.300s any more", store->path);
	sqlite3_finalize(statement);
	return done && answer_runs(store, command_number, answer, error);
}

void stored_answer_deinit(struct stored_answer *answer)
{
	memory_free(answer->text);
	json_decref(answer->json);
	memory_free(answer->numbers);
	*answer = (struct stored_answer){0};
}
