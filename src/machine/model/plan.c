/*
 * plan: what the cache wants read and written, asked of the device
 *
 * The file system says where the pages lie. A reader waits for what it asked for; what readahead
 * brings in besides is under way meanwhile, and whoever wants it then waits for that.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/radix.h"
#include "base/size.h"
#include "machine/model/model_private.h"

/*
 * The requests from `first` on bring in, or write, this run of the file's pages. Returns how many
 * pages.
 */
static uint64_t tag(struct io_list *list, size_t first, const struct cache_run *run,
		    bool is_background)
{
	uint64_t index = run->index;

	for (; first < list->at.count; first++) {
		struct io *io = &list->at.at[first];

		if (io->is_metadata)
			continue;
		io->file = run->file;
		io->index = index;
		io->is_background |= is_background;
		index += pages_from_bytes_up(io->bytes);
	}
	return index - run->index;
}

static bool is_asked_for(const struct model *model, const struct cache_run *run)
{
	return run->file != model->asked.file ||
	       (run->index < model->asked.index + model->asked.pages &&
		run->index + run->pages > model->asked.index);
}

static void fetches_ask(struct model *model)
{
	struct io_list *list = model->mount.io;

	/* What maps the data was read before, and says where it is. */
	io_then(list);
	for (uint32_t i = 0; i < model->plan.fetch_count; i++) {
		const struct cache_run *run = &model->plan.fetch[i];
		size_t first = list->at.count;

		model->fs->fetch(&model->mount, run->file, run->index, run->pages);
		tag(list, first, run, !is_asked_for(model, run));
	}
}

enum { MANY_RUNS = 512 }; /* from here on numbers are sorted faster (base/radix.h) */

static int by_place(const void *a, const void *b)
{
	const struct cache_run *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->index < other->index ? -1 : one->index > other->index;
}

/*
 * The same for many runs, by numbers made of (file, index, place in the plan): 13, 38 and 13 bits.
 * False: a file's number is too high.
 */
static bool sort_by_number(struct cache_run *runs, uint32_t count)
{
	enum { PLACE_BITS = 13, INDEX_BITS = 38, FILES = 1 << (64 - PLACE_BITS - INDEX_BITS) };
	uint64_t *numbers;
	struct cache_run *old;
	bool fits = true;

	static_assert(CACHE_PLAN_RUNS <= 1 << PLACE_BITS, "each has a place");
	for (uint32_t i = 0; i < count; i++)
		fits &= runs[i].file < FILES;
	if (!fits)
		return false;
	numbers = memory_alloc(count, sizeof(*numbers));
	old = memory_alloc(count, sizeof(*old));
	for (uint32_t i = 0; i < count; i++) {
		old[i] = runs[i];
		numbers[i] =
			((uint64_t)runs[i].file << INDEX_BITS | runs[i].index) << PLACE_BITS | i;
	}
	radix_sort(numbers, count, PLACE_BITS);
	for (uint32_t i = 0; i < count; i++)
		runs[i] = old[numbers[i] & ((1 << PLACE_BITS) - 1)];
	memory_free(numbers);
	memory_free(old);
	return true;
}

/* Files are written in the order of their pages, those side by side together: write_cache_pages(). */
static void writes_sort(struct cache_plan *plan)
{
	uint32_t kept = 0, sorted = 1;

	if (plan->write_count < 2)
		return;
	while (sorted < plan->write_count &&
	       by_place(&plan->write[sorted - 1], &plan->write[sorted]) < 0)
		sorted++;
	if (sorted < plan->write_count &&
	    (plan->write_count < MANY_RUNS || !sort_by_number(plan->write, plan->write_count)))
		qsort(plan->write, plan->write_count, sizeof(plan->write[0]), by_place);
	for (uint32_t i = 1; i < plan->write_count; i++) {
		struct cache_run *last = &plan->write[kept];

		if (plan->write[i].file == last->file &&
		    plan->write[i].index == last->index + last->pages)
			last->pages += plan->write[i].pages;
		else
			plan->write[++kept] = plan->write[i];
	}
	plan->write_count = kept + 1;
}

static void writes_ask(struct model *model)
{
	struct io_list *list = model->mount.io;

	writes_sort(&model->plan);
	for (uint32_t i = 0; i < model->plan.write_count; i++) {
		const struct cache_run *run = &model->plan.write[i];
		size_t first = list->at.count;

		model->fs->write_back(&model->mount, run->file, run->index, run->pages);
		/* What is kept elsewhere (in an inode, in a file that is gone) is not waited for. */
		if (tag(list, first, run, !model->is_syncing) < run->pages)
			cache_written(model->cache, run);
	}
}

void plan_ask(struct model *model)
{
	if (model->plan.fetch_count > 0 && model->fs->fetch)
		fetches_ask(model);
	if (model->plan.write_count > 0 && model->fs->write_back)
		writes_ask(model);
}
