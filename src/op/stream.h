/*
 * stream: who asks, when the trace itself does not say
 *
 * Every op, page and object belongs to a stream. Scenarios name their own (a job is a stream). For
 * a trace the stream is the path's class: by default the first component of the path without the
 * digits at its end ("wal12" -> "wal", "d/7/399" -> "d", "12/a" -> "12", "/var/log/x" -> "var";
 * but "8,16" and "web,0", of block traces, stay whole).
 * Other rules: one per path, one per thread, or REGEX=NAME pairs (POSIX extended, first match wins,
 * tried before the rule). There are at most STREAM_COUNT_MAX; what comes later is counted as the
 * stream "other".
 */
#ifndef REFAULT_OP_STREAM_H
#define REFAULT_OP_STREAM_H

#include "base/error.h"
#include "op/op.h"

struct path_table;

enum stream_rule { STREAM_BY_CLASS, STREAM_BY_PATH, STREAM_BY_THREAD };

struct stream_map; /* opaque */

struct stream_map *stream_map_create(enum stream_rule rule);
void stream_map_destroy(struct stream_map *map);

/* Add "REGEX=NAME". Fails (ERROR_INPUT) on a bad expression or an empty name. */
bool stream_map_add(struct stream_map *map, const char *regex_and_name, struct error *error);

/*
 * The stream of an op (1 ..). Remembers per path: a hash-free look-up after the first time.
 * STREAM_NONE for what belongs to no path: a mark (its path is a label) and, unless the thread
 * decides, a sync.
 */
uint16_t stream_map_get(struct stream_map *map, const struct path_table *paths,
			const struct op *op);

/*
 * For whoever has a rule of his own: the first expression that this path matches, STREAM_NONE if none
 * does; and the stream of this name, new or known.
 */
uint16_t stream_map_match(const struct stream_map *map, const char *path);
uint16_t stream_map_name(struct stream_map *map, const char *name, size_t bytes);

/* Names so far; [0] is NULL. Valid until the map is destroyed. */
char *const *stream_map_names(const struct stream_map *map);
uint32_t stream_map_count(const struct stream_map *map); /* including the unused 0 */

#endif
