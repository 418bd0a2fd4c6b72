#include "source/workload/turns.h"

#include "base/memory.h"

void turns_init(struct turns *turns, uint32_t threads)
{
	turns->ready = memory_alloc(threads, sizeof(*turns->ready));
	turns->is_ready = memory_alloc(threads, sizeof(*turns->is_ready));
	turns->count = 0;
}

void turns_deinit(struct turns *turns)
{
	memory_free(turns->ready);
	memory_free(turns->is_ready);
}

static inline bool goes_before(const struct turn_ready *a, const struct turn_ready *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->thread < b->thread;
}

static void ready_remove(struct turns *turns, uint32_t thread)
{
	uint32_t at = 0;

	while (turns->ready[at].thread != thread)
		at++;
	for (turns->count--; at < turns->count; at++)
		turns->ready[at] = turns->ready[at + 1];
}

void turns_wake(struct turns *turns, uint32_t thread, uint64_t ns)
{
	struct turn_ready ready = {ns, thread};
	uint32_t at;

	if (turns->is_ready[thread])
		ready_remove(turns, thread);
	turns->is_ready[thread] = true;
	for (at = turns->count++; at > 0 && goes_before(&turns->ready[at - 1], &ready); at--)
		turns->ready[at] = turns->ready[at - 1];
	turns->ready[at] = ready;
}
