/*
 * held: a trace in memory, read once for many that carry it out, also at the same time
 *
 * 48 bytes an op, and the table of paths. Whoever carries it out gets a source of his own, with a place of its own
 * in it; all of them share what is held, which nobody changes.
 */
#ifndef REFAULT_OP_HELD_H
#define REFAULT_OP_HELD_H

#include <stdint.h>

#include "op/source.h"

struct held; /* opaque */

/* Why held_read() returned NULL. */
enum held_end { HELD_FAILED, HELD_TOO_LARGE, HELD_INTERRUPTED };

/*
 * Read all of `source`, a trace, which is taken over, in any case. NULL: *end says why; if HELD_FAILED, the error.
 * More than bytes_max of ops (0: no limit) are HELD_TOO_LARGE. `interrupted` not 0 ends it; NULL: nothing does.
 */
struct held *held_read(struct op_source *source, uint64_t bytes_max,
		       const volatile int *interrupted, enum held_end *end, struct error *error);

/* Nothing but an empty copy of what `source` names: its paths, streams and notes; ops are added. Takes it over. */
struct held *held_create(struct op_source *source);
void held_add(struct held *held, const struct op *op);

void held_destroy(struct held *held); /* after all its sources; NULL is fine */

/* The trace that was read, for what it tells besides its ops. */
const struct op_source *held_trace(const struct held *held);
uint64_t held_count(const struct held *held);
const struct op *held_op(const struct held *held, uint64_t index);

/*
 * All of it from the beginning. If *interrupted is not 0 any more, op_source_next() fails (ERROR_FAILED); NULL: nothing does.
 * Destroy with op_source_destroy().
 */
struct op_source *held_source(const struct held *held, const volatile int *interrupted);

#endif
