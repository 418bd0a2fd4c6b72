#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/store_private.h"

/* BUSY_MS: others write for milliseconds; who waits so long would wait forever. */
enum { BUSY_MS = 10000, RETRY_MS = 5 };

/* "rflt": tells our files from other programs' (PRAGMA application_id). */
enum { APPLICATION_ID = 0x72666c74 };

const char *const store_steps[] = {
	"CREATE TABLE command ("
	" number INTEGER PRIMARY KEY AUTOINCREMENT,"
	" name TEXT NOT NULL,"
	" words TEXT NOT NULL," /* JSON */
	" version TEXT NOT NULL,"
	" time_ns INTEGER NOT NULL,"
	" run_count INTEGER NOT NULL,"
	" text BLOB," /* zstd */
	" json BLOB); "
	"CREATE TABLE run ("
	" number INTEGER PRIMARY KEY AUTOINCREMENT,"
	" id TEXT NOT NULL UNIQUE,"
	" command INTEGER NOT NULL REFERENCES command (number),"
	" label TEXT, input TEXT, digest TEXT, experiment TEXT NOT NULL,"
	" machine TEXT, kernel TEXT, policy TEXT, switches TEXT, filesystem TEXT,"
	" memory_bytes INTEGER, is_cgroup INTEGER, seed INTEGER, op_count INTEGER,"
	" read_bytes INTEGER, reread_bytes INTEGER, elapsed_ns INTEGER,"
	" drawing BLOB NOT NULL,"
	" result BLOB NOT NULL); "
	"CREATE INDEX run_command ON run (command);",
	NULL,
};

/* ---- where ---- */

static bool is_absolute(const char *path)
{
	return path && path[0] == '/';
}

bool store_default_path(char *path, size_t bytes, struct error *error)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int length;

	if (is_absolute(data))
		length = snprintf(path, bytes, "%s/refault/runs.db", data);
	else if (is_absolute(home))
		length = snprintf(path, bytes, "%s/.local/share/refault/runs.db", home);
	else
		return error_failed(error, "neither HOME nor XDG_DATA_HOME says where");
	return (size_t)length < bytes || error_failed(error, "the path in %s is too long",
						      is_absolute(data) ? "XDG_DATA_HOME" : "HOME");
}

/* The folders to a file, for the user alone. What is there is left as it is. */
static bool folders_make(const char *path, struct error *error)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
			struct stat status;

			/* A read-only file system says so of folders that are there, too. */
			if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
				return error_system(error, "cannot make %.200s", folder);
		}
		*slash = '/';
	}
	return true;
}

/* ---- SQLite ---- */

bool store_error(struct store *store, struct error *error, const char *what)
{
	int code = sqlite3_extended_errcode(store->database);
	bool is_full = (code & 0xff) == SQLITE_FULL;

	return error_failed(error, "%s %.200s: %s", what, store->path,
			    is_full ? "the disk is full" : sqlite3_errmsg(store->database));
}

bool store_execute(struct store *store, const char *sql, const char *what, struct error *error)
{
	return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK ||
	       store_error(store, error, what);
}

sqlite3_stmt *store_prepare(struct store *store, const char *sql, struct error *error)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
		store_error(store, error, "cannot read");
	return statement;
}

/* The number that a pragma tells. */
static bool pragma_read(struct store *store, const char *sql, int64_t *value, struct error *error)
{
	sqlite3_stmt *statement = store_prepare(store, sql, error);
	bool done;

	if (!statement)
		return false;
	done = sqlite3_step(statement) == SQLITE_ROW;
	*value = done ? sqlite3_column_int64(statement, 0) : 0;
	if (!done)
		store_error(store, error, "cannot read");
	sqlite3_finalize(statement);
	return done;
}

/*
 * WAL mode stays with the file. To turn it on takes the file for oneself, for which SQLite does not
 * wait; where it cannot be had (some network file systems) the older journal is as safe, only slower.
 */
static bool journal_choose(struct store *store, struct error *error)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
	int code;

	for (int waited = 0;; waited += RETRY_MS) {
		code = sqlite3_exec(store->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if (((code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) ||
		    waited >= BUSY_MS)
			break;
		nanosleep(&pause, NULL);
	}
	return code == SQLITE_OK || store_error(store, error, "cannot write");
}

/* ---- the schema ---- */

static int step_count(const char *const *steps)
{
	int count = 0;

	while (steps[count])
		count++;
	return count;
}

/*
 * Is it ours, and do we know it? *version 0: it is empty. In a transaction, so that what is read is of
 * one moment: somebody may be making the file.
 */
static bool version_check_within(struct store *store, const char *const *steps, int64_t *version,
				 struct error *error)
{
	int64_t application, tables;
	int known = step_count(steps);

	if (!pragma_read(store, "PRAGMA application_id", &application, error)) {
		if ((sqlite3_errcode(store->database) & 0xff) == SQLITE_NOTADB)
			return error_input(error, "%.300s is no store of runs, but something else",
					   store->path);
		return false;
	}
	if (!pragma_read(store, "PRAGMA user_version", version, error) ||
	    !pragma_read(store, "SELECT count(*) FROM sqlite_master", &tables, error))
		return false;
	if (application != APPLICATION_ID && (*version || tables))
		return error_input(error, "%.300s is a database of another program", store->path);
	if (*version > known)
		return error_input(error,
				   "%.300s was written by a newer refault: its schema is version "
				   "%lld, and this one knows %d at most",
				   store->path, (long long)*version, known);
	return true;
}

static bool version_check(struct store *store, const char *const *steps, int64_t *version,
			  struct error *error)
{
	bool done = store_execute(store, "BEGIN", "cannot read", error) &&
		    version_check_within(store, steps, version, error);

	sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return done;
}

/* Someone else may be doing the same: whoever comes second finds it done. */
static bool schema_raise(struct store *store, const char *const *steps, struct error *error)
{
	int64_t version;
	char pragma[64];

	if (!store_execute(store, "BEGIN IMMEDIATE", "cannot write", error))
		return false;
	if (!version_check_within(store, steps, &version, error))
		goto undo;
	for (; steps[version]; version++)
		if (!store_execute(store, steps[version], "cannot bring up to date", error))
			goto undo;
	snprintf(pragma, sizeof(pragma), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION_ID, (int)version);
	if (!store_execute(store, pragma, "cannot write", error) ||
	    !store_execute(store, "COMMIT", "cannot write", error))
		goto undo;
	return true;
undo:
	sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

/* ---- opening ---- */

/* What only reads does not mend: an older schema is for those who write. */
static bool open_read(struct store *store, const char *const *steps, struct error *error)
{
	int64_t version;

	if (!version_check(store, steps, &version, error))
		return false;
	if (version == 0) {
		/* A writer has made the file, but not kept anything: or was killed before. */
		sqlite3_close(store->database);
		store->database = NULL;
		return true;
	}
	return version == step_count(steps) || schema_raise(store, steps, error);
}

static bool open_write(struct store *store, const char *const *steps, struct error *error)
{
	int64_t version;

	if (!version_check(store, steps, &version, error))
		return false;
	/* Room that deleting leaves can be given back: has to be said before there is anything. */
	if (version == 0 &&
	    !store_execute(store, "PRAGMA auto_vacuum = INCREMENTAL", "cannot write", error))
		return false;
	if (!journal_choose(store, error))
		return false;
	if (!steps[version])
		return true;
	return schema_raise(store, steps, error);
}

static int open_file(struct store *store, int flags)
{
	int code = sqlite3_open_v2(store->path, &store->database,
				   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

	if (code == SQLITE_OK)
		sqlite3_busy_timeout(store->database, BUSY_MS);
	return code;
}

/*
 * To read a file in WAL mode takes the right to write beside it. Who has not (another user's file, a
 * read-only file system) reads what is in the file itself: nobody writes there either, or it is
 * caught up with soon.
 */
static bool open_unwritable(struct store *store, struct error *error)
{
	char *escaped, *at;
	int code;

	sqlite3_close(store->database);
	escaped = memory_alloc(3 * strlen(store->path) + 32, 1);
	at = stpcpy(escaped, "file:");
	for (const char *c = store->path; *c; c++)
		at += sprintf(at, strchr("%?#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
	strcpy(at, "?immutable=1");
	code = sqlite3_open_v2(escaped, &store->database,
			       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	memory_free(escaped);
	return code == SQLITE_OK || store_error(store, error, "cannot open");
}

static bool is_there(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0;
}

static bool can_write(const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	return access(path, W_OK) == 0 && access(slash ? folder : ".", W_OK) == 0;
}

static bool open_it(struct store *store, enum store_access access, const char *const *steps,
		    struct error *error)
{
	if (access == STORE_WRITE) {
		if (open_file(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) != SQLITE_OK)
			return store_error(store, error, "cannot open");
		return open_write(store, steps, error);
	}
	if (!is_there(store->path))
		return true;
	if (!can_write(store->path))
		return open_unwritable(store, error) && open_read(store, steps, error);
	if (open_file(store, SQLITE_OPEN_READWRITE) != SQLITE_OK)
		return store_error(store, error, "cannot open");
	return open_read(store, steps, error);
}

bool store_open_with(struct store **store, const char *path, enum store_access access,
		     const char *const *steps, struct error *error)
{
	char default_path[PATH_MAX];

	*store = NULL;
	if (!path) {
		if (!store_default_path(default_path, sizeof(default_path), error) ||
		    (access == STORE_WRITE && !folders_make(default_path, error)))
			return false;
		path = default_path;
	}
	*store = memory_alloc(1, sizeof(**store));
	(*store)->path = text_copy(path);
	/* FULL: what is kept is on the disk, and not only for those who are killed. */
	if (open_it(*store, access, steps, error) &&
	    (!(*store)->database || access == STORE_READ ||
	     store_execute(*store, "PRAGMA synchronous = FULL", "cannot write", error)))
		return true;
	store_close(*store);
	*store = NULL;
	return false;
}

bool store_open(struct store **store, const char *path, enum store_access access,
		struct error *error)
{
	return store_open_with(store, path, access, store_steps, error);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->database)
		sqlite3_close(store->database);
	memory_free(store->path);
	memory_free(store);
}

const char *store_path(const struct store *store)
{
	return store->path;
}
