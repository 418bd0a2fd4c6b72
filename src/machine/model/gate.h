/*
 * gate: who waits for whom around a journal's running transaction, and for a place in the queue
 *
 * A commit closes the running transaction. It waits for those who are at work on it (who hold a
 * handle), and meanwhile nobody else may begin: not even a write, which changes the file's time
 * stamp. Short calls are through at once; but where a kernel has it so (the switch ext4_writeback)
 * write-back is at work on the transaction for as long as it takes to ask the device for a file's
 * pages, and a commit waits for that, and everybody who writes for the commit:
 *
 *     write-back   ====== file 7 ======|          |== file 8 ==
 *     commit                ^ waits    |-journal--|-flush, record-|
 *     writers               ^ wait ...............|
 *
 * Once it is closed, blocks that are on their way into the journal cannot be changed: who writes to
 * a file whose inode is among them waits until they are there. The next commit waits for this one.
 *
 * And of the requests that somebody waits for, only so many are under way; who finds no place free
 * stands in line, and may then place a batch.
 *
 * Both know tasks by number, and put those that may look again into `woken`.
 */
#ifndef REFAULT_MACHINE_MODEL_GATE_H
#define REFAULT_MACHINE_MODEL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct tasks {
	ARRAY(uint32_t) list;
};

enum gate_state {
	GATE_OPEN,
	GATE_LOCKED,  /* the committer waits for those who are at work on the transaction */
	GATE_LOGGING, /* its blocks are being written into the journal */
	GATE_CLOSED,  /* the next one runs; this one's record is being written */
};

struct gate {
	enum gate_state state;
	uint32_t committer; /* and 1 more; 0: nobody */
	uint32_t holders;   /* who are at work on the running transaction */
	bool committer_waits;
	struct tasks joiners, closers; /* who wait to change something; for a commit to be done */
};

void gate_deinit(struct gate *gate);

/* May the task change something? false: it is in line. */
bool gate_join(struct gate *gate, uint32_t task);
/* It is at work on the transaction until gate_leave(). False: in line. */
bool gate_hold(struct gate *gate, uint32_t task);
void gate_leave(struct gate *gate, struct tasks *woken);
/* Is the committer waiting for those who are at work? Then nobody may begin to be. */
static inline bool gate_is_locked(const struct gate *gate)
{
	return gate->state == GATE_LOCKED;
}

/* It commits: may its blocks go into the journal? False: it is in line, or waits for the holders. */
bool gate_close(struct gate *gate, uint32_t task);
/* They are there. */
void gate_open(struct gate *gate, uint32_t task, struct tasks *woken);
/* The commit is done, if it was this task's. */
void gate_done(struct gate *gate, uint32_t task, struct tasks *woken);
/* Is no commit of somebody else's under way? False: in line. */
bool gate_follow(struct gate *gate, uint32_t task);

struct places {
	uint32_t taken;
	struct tasks line;
	size_t line_first;
	ARRAY(uint32_t) batch; /* by task: how many more it may place, having waited */
};

void places_deinit(struct places *places);
/* May the task place a request? False: it is in line. The request is then counted in `taken`. */
bool places_ask(struct places *places, uint32_t task);
/* A request is done. */
void places_give(struct places *places, struct tasks *woken);

#endif
