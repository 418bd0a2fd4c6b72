#include "study/lint_tally.h"

#include <assert.h>

enum { WHATS = 16 };

size_t tally_find(struct tallies *tallies, uint32_t path, uint32_t stream, uint32_t what)
{
	uint64_t key = (uint64_t)stream * WHATS + what;
	uint32_t known = page_map_get(&tallies->by_key, path + 1, key);

	if (known)
		return known - 1;
	*array_push(&tallies->list) = (struct tally){
		.path = path,
		.stream = stream,
		.what = what,
		.files = 1,
	};
	page_map_set(&tallies->by_key, path + 1, key, (uint32_t)tallies->list.count);
	return tallies->list.count - 1;
}

struct tally *tally_get(struct tallies *tallies, uint32_t path, uint32_t stream, uint32_t what)
{
	size_t index = tally_find(tallies, path, stream, what);

	return &tallies->list.at[index];
}

static bool is_alike(const struct tally *a, const struct tally *b)
{
	return a->stream == b->stream && a->what == b->what;
}

static void merge(struct tally *into, const struct tally *from)
{
	into->files += from->files;
	into->times += from->times;
	for (size_t i = 0; i < TALLY_COUNTS; i++)
		into->counts[i] += from->counts[i];
	if (!into->second.op)
		into->second = from->second;
	if (!into->other)
		into->other = from->other;
}

void tallies_merge(struct tallies *tallies)
{
	/* By stream and habit: how many files, and which tally was the first. */
	struct page_map counts = {0}, firsts = {0};
	size_t kept = 0;

	for (size_t i = 0; i < tallies->list.count; i++) {
		const struct tally *tally = &tallies->list.at[i];
		uint32_t stream = tally->stream + 1;

		page_map_set(&counts, stream, tally->what,
			     page_map_get(&counts, stream, tally->what) + 1);
	}
	for (size_t i = 0; i < tallies->list.count; i++) {
		struct tally tally = tallies->list.at[i];
		uint32_t stream = tally.stream + 1;
		uint32_t first = page_map_get(&firsts, stream, tally.what);

		if (page_map_get(&counts, stream, tally.what) > TALLY_FILES_MAX && first) {
			assert(is_alike(&tallies->list.at[first - 1], &tally));
			merge(&tallies->list.at[first - 1], &tally);
			continue;
		}
		tallies->list.at[kept++] = tally;
		if (!first)
			page_map_set(&firsts, stream, tally.what, (uint32_t)kept);
	}
	tallies->list.count = kept;
	page_map_deinit(&counts);
	page_map_deinit(&firsts);
}

void tallies_deinit(struct tallies *tallies)
{
	array_deinit(&tallies->list);
	page_map_deinit(&tallies->by_key);
}

const char *tally_files(struct lint_run *run, const struct tally *tally)
{
	const char *first = lint_path(run, tally->path);

	if (tally->files == 1)
		return first;
	return lint_text_of(run, "%s and %s more files", first, lint_count(run, tally->files - 1));
}
