/*
 * Keeping and deleting: each in one transaction, so that whoever is killed in it has done nothing.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/memory.h"
#include "store/store_private.h"

enum { PACK_LEVEL = 3 };

void store_bind_packed(sqlite3_stmt *statement, int index, const char *text)
{
	size_t bytes = text ? strlen(text) : 0, bound = ZSTD_compressBound(bytes), packed;
	char *out;

	if (!text) {
		sqlite3_bind_null(statement, index);
		return;
	}
	out = memory_alloc(bound, 1);
	packed = ZSTD_compress(out, bound, text, bytes, PACK_LEVEL);
	/* The room is enough, and memory does not end here (base/memory.h). */
	assert(!ZSTD_isError(packed));
	sqlite3_bind_blob64(statement, index, out, packed, SQLITE_TRANSIENT);
	memory_free(out);
}

/* ---- binding ---- */

static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(statement, index);
}

static void bind_json_text(sqlite3_stmt *statement, int index, const json_t *object,
			   const char *key)
{
	bind_text(statement, index, json_string_value(json_object_get(object, key)));
}

/* What is null there, or not there, is NULL here. */
static void bind_json_number(sqlite3_stmt *statement, int index, const json_t *object,
			     const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value))
		sqlite3_bind_int64(statement, index, json_integer_value(value));
	else
		sqlite3_bind_null(statement, index);
}

/* Owned; free with memory_free(). "null" of NULL. */
static char *json_line(const json_t *json)
{
	char *line = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	char *copy = text_copy(line ? line : "null");

	free(line);
	return copy;
}

/* ---- keeping ---- */

/*
 * Digits that no other run has. They come from what came out, when, and in which place: the same
 * result kept twice has two ids.
 */
static bool id_choose(struct store *store, char id[STORE_ID_BYTES], const char *result,
		      uint64_t time_ns, struct error *error)
{
	static const char seek[] =
		"SELECT (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'run'),"
		" EXISTS (SELECT 1 FROM run WHERE id = ?)";
	sqlite3_stmt *statement = store_prepare(store, seek, error);
	bool is_taken = true, done = statement != NULL;
	uint64_t number = 0;

	for (uint64_t attempt = 0; done && is_taken; attempt++) {
		uint64_t seed = time_ns + (number << 32) + attempt;

		snprintf(id, STORE_ID_BYTES, "%016llx",
			 (unsigned long long)XXH3_64bits_withSeed(result, strlen(result), seed));
		sqlite3_reset(statement);
		sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
		done = sqlite3_step(statement) == SQLITE_ROW ||
		       store_error(store, error, "cannot read");
		number = done ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
		/* The first round only asks for the number. */
		is_taken = attempt == 0 || (done && sqlite3_column_int(statement, 1));
	}
	sqlite3_finalize(statement);
	return done;
}

static void run_bind_machine(sqlite3_stmt *statement, const json_t *result)
{
	const json_t *machine = json_object_get(result, "machine");
	const json_t *totals = json_object_get(result, "totals");
	const json_t *switches = json_object_get(machine, "switches");
	char *line = json_is_object(switches) ? json_line(switches) : NULL;

	bind_json_text(statement, 7, machine, "kind");
	bind_json_text(statement, 8, machine, "kernel");
	bind_json_text(statement, 9, machine, "policy");
	bind_text(statement, 10, line);
	bind_json_text(statement, 11, machine, "filesystem");
	bind_json_number(statement, 12, machine, "memory_bytes");
	sqlite3_bind_int(statement, 13, json_is_true(json_object_get(machine, "cgroup")));
	bind_json_number(statement, 14, machine, "seed");
	bind_json_number(statement, 15, json_object_get(result, "input"), "ops");
	bind_json_number(statement, 16, totals, "read_bytes");
	bind_json_number(statement, 17, totals, "reread_bytes");
	bind_json_number(statement, 18, result, "elapsed_ns");
	memory_free(line);
}

static bool run_insert(struct store *store, sqlite3_stmt *statement, int64_t command,
		       const struct kept_command *kept, const struct kept_run *run,
		       char id[STORE_ID_BYTES], struct error *error)
{
	char *result = json_line(run->result);
	char *drawing = run->drawing ? json_line(run->drawing) : text_copy("{}");
	bool done = id_choose(store, id, result, kept->time_ns, error);

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	sqlite3_bind_text(statement, 1, id, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(statement, 2, command);
	bind_text(statement, 3, run->label);
	bind_text(statement, 4, run->input);
	bind_text(statement, 5, run->digest);
	bind_text(statement, 6, run->experiment);
	run_bind_machine(statement, run->result);
	store_bind_packed(statement, 19, drawing);
	store_bind_packed(statement, 20, result);
	if (done && sqlite3_step(statement) != SQLITE_DONE)
		done = store_error(store, error, "cannot write");
	memory_free(result);
	memory_free(drawing);
	return done;
}

static bool command_insert(struct store *store, const struct kept_command *kept, int64_t *number,
			   struct error *error)
{
	sqlite3_stmt *statement = store_prepare(
		store,
		"INSERT INTO command (name, words, version, time_ns, run_count, text, json)"
		" VALUES (?, ?, ?, ?, ?, ?, ?)",
		error);
	json_t *words = json_array();
	char *line, *answer = kept->json ? json_line(kept->json) : NULL;
	bool done;

	for (size_t i = 0; i < kept->word_count; i++) {
		json_t *word = json_string(kept->words[i]);

		/* A file's name in bytes that are no UTF-8. */
		json_array_append_new(words, word ? word : json_string("?"));
	}
	line = json_line(words);
	if (statement) {
		bind_text(statement, 1, kept->name);
		bind_text(statement, 2, line);
		bind_text(statement, 3, kept->version);
		sqlite3_bind_int64(statement, 4, (sqlite3_int64)kept->time_ns);
		sqlite3_bind_int64(statement, 5, (sqlite3_int64)kept->run_count);
		store_bind_packed(statement, 6, kept->text);
		store_bind_packed(statement, 7, answer);
	}
	done = statement && (sqlite3_step(statement) == SQLITE_DONE ||
			     store_error(store, error, "cannot write"));
	*number = sqlite3_last_insert_rowid(store->database);
	sqlite3_finalize(statement);
	memory_free(answer);
	memory_free(line);
	json_decref(words);
	return done;
}

static bool all_insert(struct store *store, const struct kept_command *kept,
		       char (*ids)[STORE_ID_BYTES], struct error *error)
{
	static const char insert[] =
		"INSERT INTO run (id, command, label, input, digest, experiment, machine, kernel,"
		" policy, switches, filesystem, memory_bytes, is_cgroup, seed, op_count, "
		"read_bytes,"
		" reread_bytes, elapsed_ns, drawing, result)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *statement;
	int64_t command;
	bool done;

	if (!command_insert(store, kept, &command, error))
		return false;
	statement = store_prepare(store, insert, error);
	done = statement != NULL;
	for (size_t i = 0; done && i < kept->run_count; i++)
		done = run_insert(store, statement, command, kept, &kept->runs[i], ids[i], error);
	sqlite3_finalize(statement);
	return done;
}

bool store_keep(struct store *store, const struct kept_command *command,
		char (*ids)[STORE_ID_BYTES], struct error *error)
{
	if (!store_execute(store, "BEGIN IMMEDIATE", "cannot write", error))
		return false;
	if (all_insert(store, command, ids, error) &&
	    store_execute(store, "COMMIT", "cannot write", error))
		return true;
	sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

/* ---- deleting ---- */

static bool all_delete(struct store *store, const uint64_t *numbers, size_t count,
		       struct error *error)
{
	sqlite3_stmt *statement = store_prepare(store, "DELETE FROM run WHERE number = ?", error);
	bool done = statement != NULL;

	for (size_t i = 0; done && i < count; i++) {
		sqlite3_reset(statement);
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)numbers[i]);
		done = sqlite3_step(statement) == SQLITE_DONE ||
		       store_error(store, error, "cannot write");
	}
	sqlite3_finalize(statement);
	return done && store_execute(store,
				     "DELETE FROM command WHERE NOT EXISTS"
				     " (SELECT 1 FROM run WHERE run.command = command.number)",
				     "cannot write", error);
}

bool store_delete(struct store *store, const uint64_t *numbers, size_t count, struct error *error)
{
	if (!store_execute(store, "BEGIN IMMEDIATE", "cannot write", error))
		return false;
	if (!all_delete(store, numbers, count, error) ||
	    !store_execute(store, "COMMIT", "cannot write", error)) {
		sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
		return false;
	}
	/* The room goes back to the file system, as far as nobody reads. */
	sqlite3_exec(store->database, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
	return true;
}
