/*
 * call_ops: what readers of system calls share: two readings, a queue of ops, and what is told of them
 *
 * A call may become several ops or none, so they wait here until they are asked for. The first
 * reading delivers nothing; from it come the files and directories that were there before the start.
 * At the end of the second one everything is said that must be known before the ops are believed.
 */
#ifndef REFAULT_OP_CALLS_CALL_OPS_H
#define REFAULT_OP_CALLS_CALL_OPS_H

#include "base/array.h"
#include "op/calls/calls.h"

struct error;
struct import;

struct call_ops {
	struct calls *calls;
	ARRAY(struct op) queue;
	size_t taken;              /* of the queue */
	ARRAY(struct op) existing; /* directories and links of before, for the second reading */
	size_t made;               /* of them, delivered */
};

/* What every reader of calls has to say. */
extern const struct import_remark call_ops_cannot_see;

void call_ops_begin(struct call_ops *ops, struct import *import);
void call_ops_again(struct call_ops *ops, struct import *import);
void call_ops_deinit(struct call_ops *ops);

/* Move at most `count` ops out of the queue; returns how many. */
size_t call_ops_take(struct call_ops *ops, struct op *to, size_t count);

/*
 * The first reading is over: is it worth another one, before it counts? Then begin with the first call
 * again; the input is at its beginning.
 */
bool call_ops_once_more(struct call_ops *ops, struct import *import, struct error *error);

/* Nothing more comes in this reading. */
void call_ops_finish(struct call_ops *ops, struct import *import);

#endif
