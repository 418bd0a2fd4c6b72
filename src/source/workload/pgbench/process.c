/*
 * Who goes next: each process is a stack of routines that stops at an op, a wait or a sleep
 *
 * A routine is a switch over its own steps. It never blocks: it hands over an op and is called
 * again when that is done, or waits until another process wakes it. What is done at a later moment (a
 * machine that carries out one op at a time says at once when that will be) is only noted in the
 * turns, so that everything happens in the order of time.
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

#include "base/memory.h"

/* When the first one is ready; UINT64_MAX: not before an op under way is done. */
static inline uint64_t first_ns(const struct pgbench *pg)
{
	return pg->is_over ? UINT64_MAX : turns_next_ns(&pg->turns);
}

void process_wake(struct pgbench *pg, struct process *process, uint64_t ns)
{
	process->ready_ns = ns;
	process->waits = WAIT_NONE;
	turns_wake(&pg->turns, process->index, ns);
}

enum turn process_sleep(struct pgbench *pg, struct process *process, uint64_t until_ns)
{
	process_wake(pg, process, until_ns);
	process->waits = WAIT_SLEEP;
	return TURN_WAIT;
}

struct frame *routine_call(struct process *process, routine *which)
{
	struct frame *frame;

	assert(process->depth < FRAME_COUNT);
	frame = &process->frames[process->depth++];
	*frame = (struct frame){.routine = which};
	return frame;
}

enum turn routine_done(struct process *process)
{
	assert(process->depth > 1 && "a process's own routine has no end");
	process->depth--;
	return TURN_ON;
}

enum turn op_make(struct pgbench *pg, struct process *process, enum op_kind kind,
		  enum stream_id stream, uint32_t path, uint64_t offset, uint64_t bytes)
{
	*pg->op = (struct op){
		.time_ns = pg->now_ns,
		.offset = offset,
		.bytes = bytes,
		.path = path,
		.thread = pg->place.first_thread + process->index,
		.stream = (uint16_t)(pg->place.first_stream + stream),
		.kind = (uint8_t)kind,
	};
	return TURN_OP;
}

enum turn op_compute(struct pgbench *pg, struct process *process, uint64_t ns)
{
	if (ns == 0)
		return TURN_ON;
	return op_make(pg, process, OP_COMPUTE, STREAM_OTHER, 0, 0, ns);
}

static enum turn process_run(struct pgbench *pg, struct process *process)
{
	enum turn turn;

	do {
		struct frame *frame = &process->frames[process->depth - 1];

		turn = frame->routine(pg, process, frame);
	} while (turn == TURN_ON);
	return turn;
}

bool processes_next(struct pgbench *pg, uint64_t now_ns, struct op *op, uint64_t *next_ns)
{
	assert(now_ns < UINT64_MAX);
	pg->op = op;
	while ((*next_ns = first_ns(pg)) <= now_ns) {
		struct process *process = &pg->processes[turns_take(&pg->turns)];

		assert(process->ready_ns >= pg->now_ns);
		pg->now_ns = process->ready_ns;
		if (process_run(pg, process) != TURN_OP)
			continue;
		process->is_under_way = true;
		pg->under_way++;
		*next_ns = first_ns(pg);
		return true;
	}
	return false;
}

void process_completed(struct pgbench *pg, const struct op *op, uint64_t done_ns)
{
	struct process *process = &pg->processes[op->thread - pg->place.first_thread];

	assert(process->is_under_way);
	process->is_under_way = false;
	pg->under_way--;
	process_wake(pg, process, done_ns > pg->now_ns ? done_ns : pg->now_ns);
}

void processes_init(struct pgbench *pg)
{
	static routine *const routines[SERVER_PROCESSES] = {
		[CHECKPOINTER] = checkpointer_main,
		[WRITER] = writer_main,
		[WAL_WRITER] = wal_writer_main,
	};
	uint32_t clients = (uint32_t)pg->options->clients;

	pg->process_count = clients + SERVER_PROCESSES;
	pg->processes = memory_alloc(pg->process_count, sizeof(*pg->processes));
	pg->oldest = memory_alloc(clients, sizeof(*pg->oldest));
	turns_init(&pg->turns, pg->process_count);
	for (uint32_t i = 0; i < pg->process_count; i++) {
		struct process *process = &pg->processes[i];

		process->index = i;
		process->brought = BLOCK_NONE;
		routine_call(process, i < clients ? backend_main : routines[i - clients]);
		if (i < clients)
			backend_init(pg, process);
	}
}
