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

static void bucket_put(struct opens *opens, uint32_t id)
{
	const struct open *open = &opens->all.at[id];
	uint32_t at = opens_bucket(opens, open->file, open->thread);

	while (opens->buckets[at].id)
		at = (at + 1) & opens->bucket_mask;
	opens->buckets[at] =
		(struct open_bucket){id, open->file, open->thread, open->handle, open->list};
}

static void hash_double(struct opens *opens)
{
	struct open_bucket *old = opens->buckets;
	uint32_t count = opens->bucket_mask + 1;

	opens->bucket_mask = count * 2 - 1;
	opens->buckets = memory_alloc((size_t)count * 2, sizeof(*opens->buckets));
	for (uint32_t i = 0; i < count; i++)
		if (old[i].id)
			bucket_put(opens, old[i].id);
	memory_free(old);
}

static void hash_add(struct opens *opens, uint32_t id)
{
	if (++opens->hashed_count * 2 > opens->bucket_mask)
		hash_double(opens);
	bucket_put(opens, id);
}

static void hash_remove(struct opens *opens, uint32_t id)
{
	const struct open *open = &opens->all.at[id];
	uint32_t mask = opens->bucket_mask, hole = opens_bucket(opens, open->file, open->thread);

	while (opens->buckets[hole].id != id)
		hole = (hole + 1) & mask;
	opens->buckets[hole].id = 0;
	for (uint32_t at = (hole + 1) & mask; opens->buckets[at].id; at = (at + 1) & mask) {
		const struct open_bucket *later = &opens->buckets[at];
		uint32_t home = opens_bucket(opens, later->file, later->thread);

		/* Unless its home lies between the hole and it. */
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			opens->buckets[hole] = opens->buckets[at];
			opens->buckets[at].id = 0;
			hole = at;
		}
	}
	opens->hashed_count--;
}

/* ---- the lists ---- */

/* The bucket of (file, thread) in this list, or the empty one where the search for it ends. */
static inline const struct open_bucket *
bucket_find(const struct opens *opens, const struct open_list *list, uint32_t file, uint32_t thread)
{
	for (uint32_t at = opens_bucket(opens, file, thread);; at = (at + 1) & opens->bucket_mask) {
		const struct open_bucket *bucket = &opens->buckets[at];

		if (!bucket->id ||
		    (bucket->thread == thread && bucket->file == file && bucket->list == list->id))
			return bucket;
	}
}

uint32_t opens_find(const struct opens *opens, const struct open_list *list, uint32_t file,
		    uint32_t thread)
{
	if (!list->is_hashed)
		return opens->all.at[list->first].thread == thread ? list->first : 0;
	return bucket_find(opens, list, file, thread)->id;
}

uint32_t opens_handle(const struct opens *opens, const struct open_list *list, uint32_t file,
		      uint32_t thread)
{
	const struct open *first = &opens->all.at[list->first];
	const struct open_bucket *bucket;

	if (!list->is_hashed)
		return first->thread == thread ? first->handle : 0;
	bucket = bucket_find(opens, list, file, thread);
	return bucket->id ? bucket->handle : 0;
}

void opens_add(struct opens *opens, struct open_list *list, const struct open *open)
{
	uint32_t id = opens->free, next = list->first;

	if (id)
		opens->free = opens->all.at[id].next;
	else
		id = (uint32_t)((void)array_push(&opens->all), opens->all.count - 1);
	opens->all.at[id] = *open;
	opens->all.at[id].next = next;
	opens->all.at[id].prev = 0;
	if (next) {
		opens->all.at[next].prev = id;
		if (!list->is_hashed) {
			list->id = ++opens->list_count & INT32_MAX;
			opens->all.at[next].list = list->id;
			hash_add(opens, next);
		}
		opens->all.at[id].list = list->id;
		hash_add(opens, id);
		list->is_hashed = true;
	}
	list->first = id;
	opens->count++;
}

void opens_remove(struct opens *opens, struct open_list *list, uint32_t id)
{
	struct open *open = &opens->all.at[id];

	if (list->is_hashed)
		hash_remove(opens, id);
	if (open->prev)
		opens->all.at[open->prev].next = open->next;
	else
		list->first = open->next;
	if (open->next)
		opens->all.at[open->next].prev = open->prev;
	if (!list->first)
		list->is_hashed = false;
	open->next = opens->free;
	opens->free = id;
	opens->count--;
}
