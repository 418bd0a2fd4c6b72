#include "machine/model/once.h"

#include "base/memory.h"

static bool put(struct once *once, uint64_t stored)
{
	size_t at = (size_t)(stored * 0x9e3779b97f4a7c15u >> 20) & once->mask;

	for (; once->keys[at]; at = (at + 1) & once->mask)
		if (once->keys[at] == stored)
			return false;
	once->keys[at] = stored;
	return true;
}

bool once(struct once *once, uint64_t key)
{
	if (once->count * 2 >= once->mask) {
		uint64_t *old = once->keys;
		size_t old_count = once->mask ? once->mask + 1 : 0;

		once->mask = once->mask ? once->mask * 2 + 1 : 255;
		once->keys = memory_alloc(once->mask + 1, sizeof(*once->keys));
		for (size_t i = 0; i < old_count; i++)
			if (old[i])
				put(once, old[i]);
		memory_free(old);
	}
	if (!put(once, key + 1))
		return false;
	once->count++;
	return true;
}

void once_deinit(struct once *once)
{
	memory_free(once->keys);
	*once = (struct once){0};
}
