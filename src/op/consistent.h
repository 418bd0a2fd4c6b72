/*
 * consistent: may this op follow those before it?
 *
 * A machine refuses what cannot be: a read of a file that is not there, a directory made twice, a close
 * of what is not open. Whoever makes ops of what he saw of a running system has not seen all of it (what
 * ran before, what was lost, what others did), and leaves out what contradicts the rest: then a machine
 * takes it. Names and who has them open are kept, as op.h says what each op does to them; nothing else.
 * Costs about 40 bytes a name, and its text.
 */
#ifndef REFAULT_OP_CONSISTENT_H
#define REFAULT_OP_CONSISTENT_H

#include <stdbool.h>

#include "op/op.h"

struct consistent; /* opaque */
struct path_table;

/* Of ops with ids of this table, which must stay. */
struct consistent *consistent_create(const struct path_table *paths);
void consistent_destroy(struct consistent *consistent);

/* True: it may follow, and has happened. False: it may not, and nothing is changed. */
bool consistent_take(struct consistent *consistent, const struct op *op);

#endif
