#include "source/workload/turns.h"

#include <assert.h>

#include "base/memory.h"

void turns_init(struct turns *turns, uint32_t threads)
{
	turns->heap = memory_alloc(threads, sizeof(*turns->heap));
	turns->place = memory_alloc(threads, sizeof(*turns->place));
	turns->ready_ns = memory_alloc(threads, sizeof(*turns->ready_ns));
	turns->count = 0;
}

void turns_deinit(struct turns *turns)
{
	memory_free(turns->heap);
	memory_free(turns->place);
	memory_free(turns->ready_ns);
}

static bool goes_before(const struct turns *turns, uint32_t a, uint32_t b)
{
	if (turns->ready_ns[a] != turns->ready_ns[b])
		return turns->ready_ns[a] < turns->ready_ns[b];
	return a < b;
}

static void put(struct turns *turns, uint32_t at, uint32_t thread)
{
	turns->heap[at] = thread;
	turns->place[thread] = at + 1;
}

static void rise(struct turns *turns, uint32_t at, uint32_t thread)
{
	while (at > 0 && goes_before(turns, thread, turns->heap[(at - 1) / 2])) {
		put(turns, at, turns->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(turns, at, thread);
}

static void sink(struct turns *turns, uint32_t at, uint32_t thread)
{
	for (;;) {
		uint32_t child = at * 2 + 1;

		if (child >= turns->count)
			break;
		if (child + 1 < turns->count &&
		    goes_before(turns, turns->heap[child + 1], turns->heap[child]))
			child++;
		if (!goes_before(turns, turns->heap[child], thread))
			break;
		put(turns, at, turns->heap[child]);
		at = child;
	}
	put(turns, at, thread);
}

void turns_wake(struct turns *turns, uint32_t thread, uint64_t ns)
{
	uint64_t before = turns->ready_ns[thread];

	turns->ready_ns[thread] = ns;
	if (turns->place[thread] == 0)
		rise(turns, turns->count++, thread);
	else if (ns < before)
		rise(turns, turns->place[thread] - 1, thread);
	else
		sink(turns, turns->place[thread] - 1, thread);
}

uint64_t turns_next_ns(const struct turns *turns)
{
	return turns->count ? turns->ready_ns[turns->heap[0]] : UINT64_MAX;
}

uint32_t turns_take(struct turns *turns)
{
	uint32_t first, last;

	assert(turns->count > 0);
	first = turns->heap[0];
	last = turns->heap[--turns->count];
	turns->place[first] = 0;
	if (last != first)
		sink(turns, 0, last);
	return first;
}
