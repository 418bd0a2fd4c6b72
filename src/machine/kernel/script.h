/*
 * script: ops into calls
 *
 * Knows which descriptors are open (one per thread and file, as the model keeps them), and what
 * their files are called now: a descriptor follows its file through renames, and outlives its name.
 * Paths are spelled anew from the scratch file system's root: "//a/./b" and "a/b" are one file, ".."
 * does not lead out.
 */
#ifndef REFAULT_MACHINE_KERNEL_SCRIPT_H
#define REFAULT_MACHINE_KERNEL_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "op/op.h"
#include "op/path.h"

struct player;
struct script; /* opaque */

/* `paths` is the source's and must outlive the script; `player` may be set later. */
struct script *script_create(const struct path_table *paths);
void script_destroy(struct script *script);
void script_player(struct script *script, struct player *player);

/* The path as it is below the root; valid until the script is destroyed. "" is the root itself. */
const char *script_path(struct script *script, uint32_t path);

/* Does this rename or create end or move descriptors that other threads may be using? */
bool script_is_shared(struct script *script, const struct op *op);

/*
 * Send what this op is to a worker of the player. Not for exists and marks. False: the op cannot be
 * (ERROR_INPUT kind, the message without its place), or the player has failed (ERROR_NONE: ask it).
 */
bool script_op(struct script *script, const struct op *op, uint32_t stream, uint32_t worker,
	       uint64_t op_number, struct error *error);

#endif
