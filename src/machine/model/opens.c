#include "machine/model/opens.h"

void opens_init(struct opens *opens)
{
	*opens = (struct opens){.bucket_mask = 63};
	opens->buckets = memory_alloc(opens->bucket_mask + 1, sizeof(*opens->buckets));
	(void)array_push(&opens->all);
}

void opens_deinit(struct opens *opens)
{
	array_deinit(&opens->all);
	memory_free(opens->buckets);
}

/* ---- the hash: linear probing, at most half full; a removal moves later entries back ---- */

static inline uint32_t bucket_of(const struct opens *opens, uint32_t file, uint32_t thread)
{
	uint64_t mixed = ((uint64_t)file << 32 | thread) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 40) & opens->bucket_mask;
}

static void bucket_put(struct opens *opens, uint32_t id)
{
	const struct open *open = &opens->all.at[id];
	uint32_t at = bucket_of(opens, open->file, open->thread);

	while (opens->buckets[at])
		at = (at + 1) & opens->bucket_mask;
	opens->buckets[at] = id;
}

static void hash_double(struct opens *opens)
{
	uint32_t *old = opens->buckets, count = opens->bucket_mask + 1;

	opens->bucket_mask = count * 2 - 1;
	opens->buckets = memory_alloc((size_t)count * 2, sizeof(*opens->buckets));
	for (uint32_t i = 0; i < count; i++)
		if (old[i])
			bucket_put(opens, old[i]);
	memory_free(old);
}

static void hash_add(struct opens *opens, uint32_t id)
{
	if (opens->all.at[id].is_hashed)
		return;
	if (++opens->hashed_count * 2 > opens->bucket_mask)
		hash_double(opens);
	opens->all.at[id].is_hashed = true;
	bucket_put(opens, id);
}

static void hash_remove(struct opens *opens, uint32_t id)
{
	const struct open *open = &opens->all.at[id];
	uint32_t mask = opens->bucket_mask, hole = bucket_of(opens, open->file, open->thread);

	while (opens->buckets[hole] != id)
		hole = (hole + 1) & mask;
	opens->buckets[hole] = 0;
	for (uint32_t at = (hole + 1) & mask; opens->buckets[at]; at = (at + 1) & mask) {
		const struct open *later = &opens->all.at[opens->buckets[at]];
		uint32_t home = bucket_of(opens, later->file, later->thread);

		/* Unless its home lies between the hole and it. */
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			opens->buckets[hole] = opens->buckets[at];
			opens->buckets[at] = 0;
			hole = at;
		}
	}
	opens->hashed_count--;
}

/* ---- the lists ---- */

uint32_t opens_find(const struct opens *opens, uint32_t first, uint32_t thread)
{
	const struct open *open = &opens->all.at[first];
	uint32_t file = open->file, at, id;

	if (!first || open->thread == thread)
		return first;
	/* Alone since it came. */
	if (!open->is_hashed)
		return 0;
	for (at = bucket_of(opens, file, thread); (id = opens->buckets[at]) != 0;
	     at = (at + 1) & opens->bucket_mask) {
		open = &opens->all.at[id];
		if (open->thread == thread && open->file == file)
			return id;
	}
	return 0;
}

void opens_add(struct opens *opens, uint32_t *first, const struct open *open)
{
	uint32_t id = opens->free, next = *first;

	if (id)
		opens->free = opens->all.at[id].next;
	else
		id = (uint32_t)((void)array_push(&opens->all), opens->all.count - 1);
	opens->all.at[id] = *open;
	opens->all.at[id].next = next;
	opens->all.at[id].prev = 0;
	opens->all.at[id].is_hashed = false;
	if (next) {
		opens->all.at[next].prev = id;
		hash_add(opens, next);
		hash_add(opens, id);
	}
	*first = id;
	opens->count++;
}

void opens_remove(struct opens *opens, uint32_t *first, uint32_t id)
{
	struct open *open = &opens->all.at[id];

	if (open->is_hashed)
		hash_remove(opens, id);
	if (open->prev)
		opens->all.at[open->prev].next = open->next;
	else
		*first = open->next;
	if (open->next)
		opens->all.at[open->next].prev = open->prev;
	open->next = opens->free;
	opens->free = id;
	opens->count--;
}
