/*
 * Source     Linux fs/jbd2/transaction.c start_this_handle() (T_LOCKED), do_get_write_access()
 *            (BH_Shadow); commit.c jbd2_journal_commit_transaction(). What write-back holds: commit
 *            dddbd6ac8f25 (4.13) says what it was before: all of a file's pages are submitted under
 *            one handle, and commits of a simulated PostgreSQL took 18 s on average. Places: 4.5
 *            block/blk-core.c get_request(), ioc_set_batching(), freed_request().
 * Differs    1. Every inode that is written to counts as one of the committing transaction's.
 *            2. Whoever commits does the journal's thread's work.
 *            3. Places are 128 with every kernel and device (multi-queue ones have 64 on SATA, 1023 on NVMe).
 */
#include "machine/model/gate.h"

enum {
	PLACES = 128,          /* nr_requests: BLKDEV_MAX_RQ */
	PLACES_BATCHING = 192, /* and half as many for those who have waited */
	BATCH = 32,            /* BLK_BATCH_REQ */
};

static void tasks_add(struct tasks *tasks, uint32_t task)
{
	*array_push(&tasks->list) = task;
}

static void tasks_move(struct tasks *from, struct tasks *to)
{
	for (size_t i = 0; i < from->list.count; i++)
		tasks_add(to, from->list.at[i]);
	from->list.count = 0;
}

void gate_deinit(struct gate *gate)
{
	array_deinit(&gate->joiners.list);
	array_deinit(&gate->closers.list);
}

bool gate_join(struct gate *gate, uint32_t task)
{
	if ((gate->state != GATE_LOCKED && gate->state != GATE_LOGGING) ||
	    gate->committer == task + 1)
		return true;
	tasks_add(&gate->joiners, task);
	return false;
}

bool gate_hold(struct gate *gate, uint32_t task)
{
	if (gate->state == GATE_LOCKED) {
		tasks_add(&gate->joiners, task);
		return false;
	}
	gate->holders++;
	return true;
}

void gate_leave(struct gate *gate, struct tasks *woken)
{
	if (--gate->holders > 0 || !gate->committer_waits)
		return;
	gate->committer_waits = false;
	tasks_add(woken, gate->committer - 1);
}

bool gate_follow(struct gate *gate, uint32_t task)
{
	if (gate->committer == 0 || gate->committer == task + 1)
		return true;
	tasks_add(&gate->closers, task);
	return false;
}

bool gate_close(struct gate *gate, uint32_t task)
{
	if (!gate_follow(gate, task))
		return false;
	gate->committer = task + 1;
	gate->state = gate->holders > 0 ? GATE_LOCKED : GATE_LOGGING;
	gate->committer_waits = gate->holders > 0;
	return !gate->committer_waits;
}

void gate_open(struct gate *gate, uint32_t task, struct tasks *woken)
{
	if (gate->committer != task + 1 || gate->state != GATE_LOGGING)
		return;
	gate->state = GATE_CLOSED;
	tasks_move(&gate->joiners, woken);
}

void gate_done(struct gate *gate, uint32_t task, struct tasks *woken)
{
	if (gate->committer != task + 1)
		return;
	gate->committer = 0;
	gate->state = GATE_OPEN;
	tasks_move(&gate->joiners, woken);
	tasks_move(&gate->closers, woken);
}

void places_deinit(struct places *places)
{
	array_deinit(&places->line.list);
	array_deinit(&places->batch);
}

bool places_ask(struct places *places, uint32_t task)
{
	while (places->batch.count <= task)
		(void)array_push(&places->batch);
	if (places->taken < PLACES && places->line.list.count == 0)
		return true;
	if (places->batch.at[task] > 0 && places->taken < PLACES_BATCHING) {
		places->batch.at[task]--;
		return true;
	}
	tasks_add(&places->line, task);
	return false;
}

void places_give(struct places *places, struct tasks *woken)
{
	struct tasks *line = &places->line;
	uint32_t first;

	if (--places->taken >= PLACES || line->list.count == 0)
		return;
	first = line->list.at[places->line_first++];
	places->batch.at[first] = BATCH;
	tasks_add(woken, first);
	if (places->line_first == line->list.count)
		places->line_first = line->list.count = 0;
}
