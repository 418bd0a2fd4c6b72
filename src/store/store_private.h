/*
 * What the files of the store share.
 */
#ifndef REFAULT_STORE_STORE_PRIVATE_H
#define REFAULT_STORE_STORE_PRIVATE_H

#include <sqlite3.h>

#include "store/store.h"

struct store {
	sqlite3 *database; /* NULL: there is no file, and nothing was to be written */
	char *path;
};

/*
 * What makes a store out of nothing, step by step, ended by NULL: the schema version is how many of
 * them were done. A step that was published is never changed; what changes is one more.
 */
extern const char *const store_steps[];

/* store_open() with other steps, for tests of what older and newer versions do. */
bool store_open_with(struct store **store, const char *path, enum store_access access,
		     const char *const *steps, struct error *error);

/* Put SQLite's complaint behind the message. Returns false (ERROR_FAILED). */
bool store_error(struct store *store, struct error *error, const char *what);

/* One or several statements without results. */
bool store_execute(struct store *store, const char *sql, const char *what, struct error *error);

/* NULL: it failed. Finalize with sqlite3_finalize(). */
sqlite3_stmt *store_prepare(struct store *store, const char *sql, struct error *error);

/* Text in zstd; NULL is kept as NULL. */
void store_bind_packed(sqlite3_stmt *statement, int index, const char *text);
/* Owned; NULL where NULL was kept. False (ERROR_FAILED): it is damaged. */
bool store_column_packed(sqlite3_stmt *statement, int index, char **text, struct error *error);

#endif
