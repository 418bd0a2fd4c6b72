#include "measure/advice.h"

const char *advice_verdict_name(enum advice_verdict verdict)
{
	static const char *const names[] = {"helps", "no-effect", "costs", "failed"};

	return names[verdict];
}

const char *advice_headline_name(enum advice_headline headline)
{
	static const char *const names[] = {"remedy", "more-memory", "nothing-helps",
					    "not-a-caching-problem", "out-of-memory"};

	return names[headline];
}

void advice_deinit(struct advice *advice)
{
	array_deinit(&advice->remedies);
	array_deinit(&advice->left_out);
	array_deinit(&advice->bounds);
	arena_deinit(&advice->arena);
}
