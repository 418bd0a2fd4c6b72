#include "study/eviction_age.h"

#include "base/size.h"
#include "study/remedy.h"

enum { MOMENTS = 1 << 20 };

void eviction_age_init(struct eviction_age *age, struct explained_ages *ages)
{
	*age = (struct eviction_age){.ages = ages, .times_every = 1};
}

void eviction_age_deinit(struct eviction_age *age)
{
	page_map_deinit(&age->arrived);
	page_map_deinit(&age->used);
	array_deinit(&age->times_ns);
}

/* ---- when ---- */

/* Of more ops than there is room for every second one's time is dropped, again and again. */
static void time_note(struct eviction_age *age, const struct model_moment *moment)
{
	uint64_t at = (moment->number - 1) / age->times_every;

	if (age->last_op == 0)
		age->first_ns = moment->op->time_ns;
	age->last_op = moment->number;
	age->last_ns = moment->op->time_ns;
	if ((moment->number - 1) % age->times_every)
		return;
	if (age->times_ns.count == MOMENTS) {
		for (size_t i = 0; i < MOMENTS / 2; i++)
			age->times_ns.at[i] = age->times_ns.at[2 * i];
		age->times_ns.count = MOMENTS / 2;
		age->times_every *= 2;
		at /= 2;
	}
	while (age->times_ns.count <= at)
		*array_push(&age->times_ns) = moment->op->time_ns;
}

static uint64_t time_of(const struct eviction_age *age, uint32_t number)
{
	uint64_t at = (number - 1) / age->times_every;

	return at < age->times_ns.count ? age->times_ns.at[at] : age->last_ns;
}

/* Op numbers beyond what 32 bits hold are all the last. */
static uint32_t number_of(const struct model_moment *moment)
{
	return moment->number < UINT32_MAX ? (uint32_t)moment->number : UINT32_MAX;
}

/* ---- what came, was used, went ---- */

static void age_add(const struct eviction_age *age, struct histogram *ops, struct histogram *ns,
		    uint32_t from, const struct model_moment *moment)
{
	uint64_t then = time_of(age, from), now = moment->op->time_ns;

	histogram_add(ops, number_of(moment) - from);
	histogram_add(ns, now > then ? now - then : 0);
}

/* Does the op ask for pages of its file? Which ones: up to the file's end. */
static bool pages_of(const struct model_moment *moment, uint64_t *first, uint64_t *end)
{
	unsigned int kind = moment->op->kind;
	uint64_t pages;

	if (!moment->file || !moment->op->bytes || kind == OP_READ_DIRECT ||
	    kind == OP_WRITE_DIRECT ||
	    !(op_kind_is_read(kind) || op_kind_is_write(kind) || op_kind_is_mapped(kind)))
		return false;
	pages = pages_from_bytes_up(cache_file_size(moment->cache, moment->file));
	*first = moment->op->offset / PAGE_BYTES;
	*end = pages_from_bytes_up(moment->op->offset + moment->op->bytes);
	*end = *end < pages ? *end : pages;
	return true;
}

static void evicted_take(struct eviction_age *age, const struct model_moment *moment)
{
	struct explained_ages *ages = age->ages;
	size_t count;
	const struct cache_eviction *evicted = cache_evictions(moment->cache, &count);
	uint64_t first = 0, end = 0;

	if (age->seen < count)
		(void)pages_of(moment, &first, &end);
	for (; age->seen < count; age->seen++) {
		const struct cache_eviction *run = &evicted[age->seen];

		for (uint64_t page = run->index; page < run->index + run->pages; page++) {
			uint32_t arrived = page_map_get(&age->arrived, run->file, page);
			uint32_t used = page_map_get(&age->used, run->file, page);

			/*
			 * An op larger than the memory pushes out what it has brought in itself, and
			 * asked for, before it is said that it came.
			 */
			if (!arrived)
				arrived = number_of(moment);
			if (!used && arrived == number_of(moment) && run->file == moment->file &&
			    page >= first && page < end)
				used = arrived;
			ages->pages++;
			age_add(age, &ages->arrived_ops, &ages->arrived_ns, arrived, moment);
			if (used)
				age_add(age, &ages->used_ops, &ages->used_ns, used, moment);
			else
				ages->never_used++;
			page_map_set(&age->arrived, run->file, page, 0);
			page_map_set(&age->used, run->file, page, 0);
		}
	}
}

void eviction_age_before(struct eviction_age *age, const struct model_moment *moment)
{
	uint64_t first, end;

	age->seen = 0;
	time_note(age, moment);
	if (!pages_of(moment, &first, &end))
		return;
	/* What was cut off or advised away meanwhile comes in anew. */
	for (uint64_t page = first; page < end; page++)
		if (page_map_get(&age->arrived, moment->file, page) &&
		    !(cache_peek(moment->cache, moment->file, page) & CACHE_PEEK_RESIDENT)) {
			page_map_set(&age->arrived, moment->file, page, 0);
			page_map_set(&age->used, moment->file, page, 0);
		}
}

void eviction_age_fetched(struct eviction_age *age, const struct model_moment *moment,
			  const struct cache_run *runs, size_t count)
{
	evicted_take(age, moment);
	for (size_t i = 0; i < count; i++)
		for (uint64_t page = runs[i].index; page < runs[i].index + runs[i].pages; page++) {
			bool is_there =
				cache_peek(moment->cache, runs[i].file, page) & CACHE_PEEK_RESIDENT;

			page_map_set(&age->arrived, runs[i].file, page,
				     is_there ? number_of(moment) : 0);
			page_map_set(&age->used, runs[i].file, page, 0);
		}
}

void eviction_age_after(struct eviction_age *age, const struct model_moment *moment)
{
	uint64_t first, end;

	evicted_take(age, moment);
	if (!pages_of(moment, &first, &end))
		return;
	for (uint64_t page = first; page < end; page++) {
		if (!(cache_peek(moment->cache, moment->file, page) & CACHE_PEEK_RESIDENT))
			continue;
		if (!page_map_get(&age->arrived, moment->file, page))
			page_map_set(&age->arrived, moment->file, page, number_of(moment));
		page_map_set(&age->used, moment->file, page, number_of(moment));
	}
}

void eviction_age_finish(struct eviction_age *age)
{
	age->ages->by_time =
		age->last_op > 0 && (age->last_ns - age->first_ns) / age->last_op >= NS_PER_US;
}
