#include "state/slab.h"

uint64_t slab_bytes(const struct state *state, const struct entry *entry)
{
	uint64_t bytes;

	if (entry->values[SLAB_BYTES])
		return entry->values[SLAB_BYTES];
	if (__builtin_mul_overflow(entry->values[SLAB_SLABS], entry->values[SLAB_PAGES], &bytes) ||
	    __builtin_mul_overflow(bytes, state->page_bytes, &bytes))
		return 0;
	return bytes;
}

const struct dump *slab_dump(const struct state *state)
{
	const struct series *series = state_series(state, DUMP_SLABINFO, NULL, NULL);

	if (!series)
		series = state_series(state, DUMP_SLABTOP, NULL, NULL);
	return series ? series->last : NULL;
}

size_t slab_largest(const struct state *state, const struct entry **caches, size_t count)
{
	const struct dump *dump = slab_dump(state);
	size_t got = 0;

	for (size_t i = 0; dump && i < dump->entries.count; i++) {
		const struct entry *entry = &dump->entries.at[i];
		uint64_t bytes = slab_bytes(state, entry);
		size_t at = got;

		if (bytes == 0)
			continue;
		while (at > 0 && slab_bytes(state, caches[at - 1]) < bytes)
			at--;
		if (at == count)
			continue;
		if (got < count)
			got++;
		for (size_t j = got - 1; j > at; j--)
			caches[j] = caches[j - 1];
		caches[at] = entry;
	}
	return got;
}
