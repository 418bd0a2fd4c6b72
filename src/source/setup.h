/*
 * setup: what is there before the jobs start
 *
 * The first ops of a scenario (source/player.h): files that exist, the directories of those that do
 * not yet, and reads and writes that put into the cache what `cached` says. Single files are read
 * or written 1 MiB at a time, turn and turn about, as parallel dd's would do it; then sets, file by
 * file.
 */
#ifndef REFAULT_SOURCE_SETUP_H
#define REFAULT_SOURCE_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "op/op.h"

struct path_table;
struct scenario;
struct setup;

/*
 * Interns all paths. *file_paths (owned by the setup) is, per file of the scenario, the id of its
 * first path; the others of a set have the ids that follow. NULL: ERROR_INPUT (two files have one
 * path).
 */
struct setup *setup_create(const struct scenario *scenario, struct path_table *paths,
			   uint32_t **file_paths, struct error *error);
void setup_destroy(struct setup *setup);

/* The next op (zeroed by the caller); false: no more. */
bool setup_next(struct setup *setup, struct op *op);

/* The op delivered last took until `ready_ns`. */
void setup_completed(struct setup *setup, const struct op *op, uint64_t ready_ns);

/* Is anything brought into the cache? */
bool setup_is_cached(const struct setup *setup);

uint64_t setup_now_ns(const struct setup *setup);
uint64_t setup_ops(const struct setup *setup); /* how many in all */

#endif
