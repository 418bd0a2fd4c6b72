/*
 * Who goes next: each process is a stack of routines that stops at an op, a wait or a sleep
 *
 * A routine is a switch over its own steps. It never blocks: it hands over an op and is called
 * again when that is done, or waits until another process wakes it. Ready processes are in a heap,
 * earliest first, ties by number. What is done at a later moment (a machine that carries out one
 * op at a time says at once when that will be) is only noted in the heap, so that everything
 * happens in the order of time.
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

#include "base/memory.h"

static inline bool goes_before(const struct process *a, const struct process *b)
{
	return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->index < b->index;
}

static inline void heap_put(struct pgbench *pg, uint32_t at, struct process *process)
{
	pg->heap[at] = process;
	process->heap_at = at + 1;
}

static void heap_rise(struct pgbench *pg, uint32_t at, struct process *process)
{
	while (at > 0 && goes_before(process, pg->heap[(at - 1) / 2])) {
		heap_put(pg, at, pg->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(pg, at, process);
}

static void heap_sink(struct pgbench *pg, uint32_t at, struct process *process)
{
	for (;;) {
		uint32_t child = at * 2 + 1;

		if (child >= pg->heap_count)
			break;
		if (child + 1 < pg->heap_count && goes_before(pg->heap[child + 1], pg->heap[child]))
			child++;
		if (!goes_before(pg->heap[child], process))
			break;
		heap_put(pg, at, pg->heap[child]);
		at = child;
	}
	heap_put(pg, at, process);
}

static struct process *heap_pop(struct pgbench *pg)
{
	struct process *first = pg->heap[0], *last = pg->heap[--pg->heap_count];

	first->heap_at = 0;
	if (last != first)
		heap_sink(pg, 0, last);
	return first;
}

void process_wake(struct pgbench *pg, struct process *process, uint64_t ns)
{
	uint64_t before = process->ready_ns;

	process->ready_ns = ns;
	process->waits = WAIT_NONE;
	if (!process->heap_at)
		heap_rise(pg, pg->heap_count++, process);
	else if (ns < before)
		heap_rise(pg, process->heap_at - 1, process);
	else
		heap_sink(pg, process->heap_at - 1, process);
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
	process->op = (struct op){
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

/* When the first one is ready; UINT64_MAX: not before an op under way is done. */
static uint64_t ready_ns(const struct pgbench *pg)
{
	return pg->heap_count && !pg->is_over ? pg->heap[0]->ready_ns : UINT64_MAX;
}

bool processes_next(struct pgbench *pg, uint64_t now_ns, struct op *op, uint64_t *next_ns)
{
	while (pg->heap_count && pg->heap[0]->ready_ns <= now_ns && !pg->is_over) {
		struct process *process = heap_pop(pg);

		assert(process->ready_ns >= pg->now_ns);
		pg->now_ns = process->ready_ns;
		if (process_run(pg, process) != TURN_OP)
			continue;
		*op = process->op;
		process->is_under_way = true;
		pg->under_way++;
		*next_ns = ready_ns(pg);
		return true;
	}
	*next_ns = ready_ns(pg);
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
	pg->heap = memory_alloc(pg->process_count, sizeof(*pg->heap));
	for (uint32_t i = 0; i < pg->process_count; i++) {
		struct process *process = &pg->processes[i];

		process->index = i;
		process->brought = BLOCK_NONE;
		routine_call(process, i < clients ? backend_main : routines[i - clients]);
		if (i < clients)
			backend_init(pg, process);
	}
}
