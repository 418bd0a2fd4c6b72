/*
 * zfs_metaslab: the dynamic fit
 *
 * Idea       As long as there is a free run of 128 KiB, the first that is long enough from where the
 *            last block of this alignment was put; else, or when little is free, the smallest that
 *            fits. Blocks written together lie together; large ones make the cursor pass over short
 *            runs, which are then left for the next time round.
 *
 *                ..##...#####.#..........##..#....     8 KiB blocks go on at the cursor; a log block
 *                  ^cursor       ^128 KiB              of 128 KiB looks at every run up to there
 *
 * Source     OpenZFS module/zfs/metaslab.c: metaslab_df_alloc(), metaslab_block_picker(): 0.7.9,
 *            which goes on to the end and once round, and 2.2.0, which gives up after 16 MiB
 *            (metaslab_df_max_search, since 2.0) and takes the smallest that fits
 * Differs    1. a cursor in the middle of a free run goes on there, not at the run's beginning
 *            2. in 2.2, allocation by size begins where the run is at least 16 KiB long
 *               (metaslab_by_size_min_shift); here all runs are found
 */
#include "machine/model/fs/zfs_metaslab.h"

#include <assert.h>

#include "base/array.h"

enum {
	/* metaslab_df_alloc_threshold (SPA_OLD_MAXBLOCKSIZE), _free_pct */
	RUN_MIN_UNITS = (128 << 10) / ZFS_UNIT_BYTES,
	FREE_MIN_PERCENT = 4,
};

/* ---- bits ---- */

/* The first word from `at` on that has its bit set; `count` if there is none. */
static uint32_t find_word(const uint64_t *bits, uint32_t at, uint32_t count)
{
	while (at < count) {
		uint64_t word = bits[at / 64] >> (at % 64);

		if (word) {
			at += (uint32_t)__builtin_ctzll(word);
			break;
		}
		at = (at / 64 + 1) * 64;
	}
	return at < count ? at : count;
}

/* The first unit from `at` on that is used (or free); `units` if there is none. */
static uint32_t find(const struct metaslab *metaslab, uint32_t at, bool is_used)
{
	uint64_t flip = is_used ? 0 : UINT64_MAX, word;
	uint32_t words = metaslab->units / 64, here = at / 64;

	if (at >= metaslab->units)
		return metaslab->units;
	word = (metaslab->used[here] ^ flip) >> (at % 64);
	if (word)
		return at + (uint32_t)__builtin_ctzll(word);
	here = find_word(is_used ? metaslab->some_used : metaslab->some_free, here + 1, words);
	if (here == words)
		return metaslab->units;
	return here * 64 + (uint32_t)__builtin_ctzll(metaslab->used[here] ^ flip);
}

/* Where the free run that `at` is in begins. */
static uint32_t run_begin(const struct metaslab *metaslab, uint32_t at)
{
	uint32_t here = at / 64;
	uint64_t word = metaslab->used[here] & ((UINT64_C(1) << (at % 64)) - 1);

	while (!word) {
		uint64_t some;

		if (here == 0)
			return 0;
		here--;
		some = metaslab->some_used[here / 64] << (63 - here % 64) >> (63 - here % 64);
		if (some) {
			here = here / 64 * 64 + 63 - (uint32_t)__builtin_clzll(some);
			word = metaslab->used[here];
		} else {
			here = here / 64 * 64;
		}
	}
	return here * 64 + 64 - (uint32_t)__builtin_clzll(word);
}

static void mark(uint64_t *bits, uint32_t at, bool value)
{
	uint64_t bit = UINT64_C(1) << (at % 64);

	bits[at / 64] = value ? bits[at / 64] | bit : bits[at / 64] & ~bit;
}

static void set_bits(struct metaslab *metaslab, uint32_t at, uint32_t units, bool is_used)
{
	while (units > 0) {
		uint32_t first = at % 64, count = units < 64 - first ? units : 64 - first;
		uint64_t mask = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
		uint64_t *word = &metaslab->used[at / 64];

		assert((*word & mask) == (is_used ? 0 : mask));
		*word ^= mask;
		mark(metaslab->some_used, at / 64, *word != 0);
		mark(metaslab->some_free, at / 64, *word != UINT64_MAX);
		at += count;
		units -= count;
	}
}

/* ---- runs ---- */

static uint32_t log2_of(uint32_t units)
{
	return 31 - (uint32_t)__builtin_clz(units);
}

static void run_add(struct metaslab *metaslab, uint32_t at, uint32_t units)
{
	if (units == 0)
		return;
	metaslab->run_count++;
	if (units >= METASLAB_SHORT) {
		metaslab->long_runs[log2_of(units)]++;
		metaslab->long_buckets |= 1u << log2_of(units);
		return;
	}
	metaslab->short_runs[units]++;
	metaslab->short_lengths |= UINT64_C(1) << units;
	if (at < metaslab->short_first[units])
		metaslab->short_first[units] = at;
}

static void run_remove(struct metaslab *metaslab, uint32_t units)
{
	if (units == 0)
		return;
	metaslab->run_count--;
	if (units >= METASLAB_SHORT) {
		if (--metaslab->long_runs[log2_of(units)] == 0)
			metaslab->long_buckets &= ~(1u << log2_of(units));
	} else if (--metaslab->short_runs[units] == 0) {
		metaslab->short_lengths &= ~(UINT64_C(1) << units);
		metaslab->short_first[units] = metaslab->units;
	}
}

bool metaslab_has_run(const struct metaslab *metaslab, uint32_t units)
{
	if (units < METASLAB_SHORT)
		return metaslab->short_lengths >> units || metaslab->long_buckets;
	return metaslab->long_buckets >> log2_of(units);
}

uint32_t metaslab_bucket(const struct metaslab *metaslab)
{
	if (metaslab->long_buckets)
		return log2_of(metaslab->long_buckets);
	return metaslab->short_lengths
		       ? log2_of(63 - (uint32_t)__builtin_clzll(metaslab->short_lengths))
		       : 0;
}

uint64_t metaslab_weight(const struct metaslab *metaslab)
{
	uint32_t bucket = metaslab_bucket(metaslab), count = 0;

	if (metaslab->long_buckets)
		count = metaslab->long_runs[bucket];
	else if (metaslab->short_lengths)
		for (uint32_t units = 1u << bucket; units < 2u << bucket; units++)
			count += metaslab->short_runs[units];
	return (uint64_t)bucket << 32 | count;
}

uint32_t metaslab_runs(const struct metaslab *metaslab, uint32_t units)
{
	uint32_t count = 0;

	for (uint32_t length = units; length < METASLAB_SHORT; length++)
		count += metaslab->short_runs[length];
	for (uint32_t bucket = 0; bucket < METASLAB_BUCKETS; bucket++)
		if (1u << bucket >= units)
			count += metaslab->long_runs[bucket];
	return count;
}

/* ---- life ---- */

void metaslab_init(struct metaslab *metaslab, uint32_t units)
{
	uint32_t words = units / 64;

	assert(units % 64 == 0 && units > 0);
	metaslab->units = metaslab->free_units = units;
	metaslab->used = memory_alloc(words, sizeof(uint64_t));
	metaslab->some_used = memory_alloc((words + 63) / 64, sizeof(uint64_t));
	metaslab->some_free = memory_alloc((words + 63) / 64, sizeof(uint64_t));
	for (uint32_t word = 0; word < words; word++)
		mark(metaslab->some_free, word, true);
	for (uint32_t length = 0; length < METASLAB_SHORT; length++)
		metaslab->short_first[length] = units;
	run_add(metaslab, 0, units);
}

void metaslab_deinit(struct metaslab *metaslab)
{
	memory_free(metaslab->used);
	memory_free(metaslab->some_used);
	memory_free(metaslab->some_free);
}

void metaslab_take(struct metaslab *metaslab, uint32_t at, uint32_t units)
{
	uint32_t begin = run_begin(metaslab, at), end = find(metaslab, at, true);

	assert(at + units <= end);
	run_remove(metaslab, end - begin);
	run_add(metaslab, begin, at - begin);
	run_add(metaslab, at + units, end - at - units);
	set_bits(metaslab, at, units, true);
	metaslab->free_units -= units;
	metaslab->has_changed = true;
	if (metaslab->taken_runs == 0 || metaslab->taken_end != at)
		metaslab->taken_runs++;
	metaslab->taken_end = at + units;
}

void metaslab_give(struct metaslab *metaslab, uint32_t at, uint32_t units)
{
	uint32_t begin, end;

	set_bits(metaslab, at, units, false);
	begin = run_begin(metaslab, at);
	end = find(metaslab, at, true);
	run_remove(metaslab, at - begin);
	run_remove(metaslab, end - at - units);
	run_add(metaslab, begin, end - begin);
	metaslab->free_units += units;
	metaslab->has_changed = true;
}

/* ---- where a block goes ---- */

/* metaslab_block_picker() over segments by offset, from the cursor: as far as the rules say. */
static uint32_t pick_on(struct metaslab *metaslab, const struct zfs_space_rules *rules,
			uint32_t units, struct zfs_space_work *work)
{
	uint32_t *cursor = &metaslab->cursor[__builtin_ctz(units)];
	uint32_t at = find(metaslab, *cursor, false), first = at, searched = 0;
	uint64_t most = rules->search_bytes / ZFS_UNIT_BYTES;

	while (at < metaslab->units &&
	       (most == 0 || at - first <= most || searched < rules->search_segments)) {
		uint32_t end = find(metaslab, at, true);

		searched++;
		if (end - at >= units) {
			work->searched += searched;
			*cursor = at + units;
			return at;
		}
		at = find(metaslab, end, false);
	}
	work->searched += searched;
	return METASLAB_NOWHERE;
}

static uint32_t pick_by_place(struct metaslab *metaslab, const struct zfs_space_rules *rules,
			      uint32_t units, struct zfs_space_work *work)
{
	uint32_t *cursor = &metaslab->cursor[__builtin_ctz(units)];
	uint32_t at = pick_on(metaslab, rules, units, work);

	if (at != METASLAB_NOWHERE)
		return at;
	if (rules->search_bytes == 0 && *cursor > 0) {
		*cursor = 0;
		return pick_on(metaslab, rules, units, work);
	}
	*cursor = 0;
	return METASLAB_NOWHERE;
}

/* The first run of exactly so many units: there is one. */
static uint32_t find_short(struct metaslab *metaslab, uint32_t units)
{
	uint32_t at = metaslab->short_first[units], end;

	/* In the middle of a run that has grown since? */
	if (at > 0 && at < metaslab->units &&
	    !(metaslab->used[(at - 1) / 64] >> ((at - 1) % 64) & 1))
		at = find(metaslab, at, true);
	for (at = find(metaslab, at, false); at < metaslab->units;
	     at = find(metaslab, end, false)) {
		end = find(metaslab, at, true);
		if (end - at == units)
			break;
	}
	assert(at < metaslab->units);
	metaslab->short_first[units] = at;
	return at;
}

/* The shortest of the long runs that will do. */
static uint32_t find_long(const struct metaslab *metaslab, uint32_t units)
{
	uint32_t best = METASLAB_NOWHERE, best_units = UINT32_MAX, end;

	for (uint32_t at = find(metaslab, 0, false); at < metaslab->units;
	     at = find(metaslab, end, false)) {
		end = find(metaslab, at, true);
		if (end - at >= units && end - at < best_units) {
			best = at;
			best_units = end - at;
		}
	}
	return best;
}

/* The smallest segment that fits; of these, the first. A step in a tree, not a search. */
static uint32_t pick_by_size(struct metaslab *metaslab, uint32_t units, struct zfs_space_work *work)
{
	uint64_t lengths = units < METASLAB_SHORT ? metaslab->short_lengths >> units : 0;

	work->best_fits++;
	if (lengths)
		return find_short(metaslab, units + (uint32_t)__builtin_ctzll(lengths));
	return find_long(metaslab, units);
}

uint32_t metaslab_pick(struct metaslab *metaslab, const struct zfs_space_rules *rules,
		       uint32_t units, struct zfs_space_work *work)
{
	uint32_t *cursor = &metaslab->cursor[__builtin_ctz(units)], at;
	bool is_poor =
		!metaslab_has_run(metaslab, RUN_MIN_UNITS) ||
		(uint64_t)metaslab->free_units * 100 < (uint64_t)metaslab->units * FREE_MIN_PERCENT;

	if (!metaslab_has_run(metaslab, units))
		return METASLAB_NOWHERE;
	if (!is_poor) {
		at = pick_by_place(metaslab, rules, units, work);
		if (at != METASLAB_NOWHERE || rules->search_bytes == 0)
			return at;
	}
	at = pick_by_size(metaslab, units, work);
	if (at != METASLAB_NOWHERE)
		*cursor = at + units;
	return at;
}

void metaslab_check(const struct metaslab *metaslab)
{
	uint32_t units = 0, runs = 0, short_runs[METASLAB_SHORT] = {0}, end;

	for (uint32_t at = find(metaslab, 0, false); at < metaslab->units;
	     at = find(metaslab, end, false)) {
		end = find(metaslab, at, true);
		assert(run_begin(metaslab, end - 1) == at);
		units += end - at;
		runs++;
		if (end - at < METASLAB_SHORT) {
			short_runs[end - at]++;
			assert(metaslab->short_first[end - at] <= at);
		}
	}
	assert(units == metaslab->free_units && runs == metaslab->run_count);
	for (uint32_t length = 1; length < METASLAB_SHORT; length++) {
		assert(short_runs[length] == metaslab->short_runs[length]);
		assert((metaslab->short_lengths >> length & 1) == (short_runs[length] > 0));
		runs -= short_runs[length];
	}
	for (uint32_t bucket = 0; bucket < METASLAB_BUCKETS; bucket++) {
		assert((metaslab->long_buckets >> bucket & 1) == (metaslab->long_runs[bucket] > 0));
		runs -= metaslab->long_runs[bucket];
	}
	assert(runs == 0);
}
