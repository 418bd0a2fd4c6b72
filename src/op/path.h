/*
 * path: names to small numbers and back
 *
 * Interns path strings (and mark labels). Ids are dense from 0 in the order of first interning.
 * About 24 bytes a path plus the text. A path is any sequence of bytes but NUL, at most
 * PATH_BYTES_MAX long, not empty.
 */
#ifndef REFAULT_OP_PATH_H
#define REFAULT_OP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATH_BYTES_MAX = 4095 };

struct path_table; /* opaque */

struct path_table *path_table_create(void);
void path_table_destroy(struct path_table *table);

/* The id of this path, new or known. `bytes` excludes a NUL, which need not be there. */
uint32_t path_intern(struct path_table *table, const char *path, size_t bytes);

/* The id of a path interned before; false: it was not. */
bool path_find(const struct path_table *table, const char *path, size_t bytes, uint32_t *id);

/* The path's text, NUL-ended; stays valid until the table is destroyed. */
const char *path_text(const struct path_table *table, uint32_t path);

/* Its length, without the NUL: cheaper than strlen(). */
size_t path_bytes(const struct path_table *table, uint32_t path);

uint32_t path_count(const struct path_table *table);

#endif
