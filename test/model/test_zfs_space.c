/*
 * If this fails, ZFS puts blocks where it would not, or finds room where it would not, or finds it
 * too easily: what a full, old pool costs is then predicted wrongly.
 *
 * The allocator alone, as the two versions have it: against a slow, obvious one for what is free, and
 * by what an allocation had to look at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/random.h"
#include "base/size.h"
#include "machine/model/fs/zfs_metaslab.h"
#include "machine/model/fs/zfs_version.h"

enum { K = 1024, FIRST = (4 << 20) / ZFS_UNIT_BYTES };

static const enum arc_rules versions[] = {ARC_CLASSIC, ARC_2_2};

static struct zfs_space *pool(enum arc_rules rules, uint64_t bytes)
{
	struct zfs_space *space = zfs_space_create(bytes, &zfs_version_of(rules)->space, 0);

	assert_non_null(space);
	return space;
}

static uint32_t give(struct zfs_space *space, uint32_t units, enum zfs_space_use use,
		     struct zfs_extent *pieces)
{
	struct zfs_space_ask ask = {.units = units, .use = use};

	return zfs_space_allocate(space, &ask, pieces);
}

/* One piece, which there must be room for. */
static struct zfs_extent one(struct zfs_space *space, uint32_t units)
{
	struct zfs_extent pieces[ZFS_PIECES_MAX];

	assert_int_equal(give(space, units, ZFS_SPACE_BLOCK, pieces), 1);
	return pieces[0];
}

static void txgs(struct zfs_space *space, int count)
{
	while (count-- > 0)
		zfs_space_txg_end(space, 0);
}

/* ---- sizes ---- */

static void there_are_a_hundred_metaslabs_or_two(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t metaslabs[2];
	} pools[] = {
		{UINT64_C(480000000000), {111, 111}}, /* of 4 GiB */
		{UINT64_C(17500000000), {130, 32}},   /* 128 MiB; 512 MiB */
		{256 * MIB, {15, 15}},                /* 16 MiB, SPA_MAXBLOCKSHIFT */
	};

	(void)state;
	for (int i = 0; i < 3; i++)
		for (int version = 0; version < 2; version++) {
			struct zfs_space *space = pool(versions[version], pools[i].bytes);

			assert_int_equal(zfs_space_metaslab_count(space),
					 pools[i].metaslabs[version]);
			assert_true(zfs_space_memory_bytes(space) < 20 * MIB);
			zfs_space_check(space);
			zfs_space_destroy(space);
			/* A sixteenth of a pool of 280 GB, with its metaslabs. */
			space = zfs_space_create(UINT64_C(17500000000),
						 &zfs_version_of(versions[version])->space, 12);
			assert_int_equal(zfs_space_metaslab_count(space), 8);
			assert_int_equal(zfs_space_total_bytes(space), 16 * GIB);
			zfs_space_destroy(space);
		}
}

/* ---- in one metaslab ---- */

static void a_fresh_pool_is_filled_in_order(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct zfs_space *space = pool(versions[version], UINT64_C(480000000000));
		struct zfs_extent last = {0}, log[ZFS_PIECES_MAX];

		for (int i = 0; i < 100000; i++) {
			struct zfs_extent piece = one(space, 2);

			if (i > 0)
				assert_int_equal(piece.at, last.at + 2);
			last = piece;
		}
		/* The log is elsewhere, where it has a metaslab of its own. */
		assert_int_equal(give(space, 3, ZFS_SPACE_LOG, log), 1);
		if (versions[version] == ARC_2_2)
			assert_true(log[0].at > last.at + 1000000);
		else
			assert_true(log[0].at < last.at + 100);
		zfs_space_check(space);
		zfs_space_destroy(space);
	}
}

/*
 * A metaslab whose free runs are of 8 KiB, and one of 128 KiB at the end: what a log block has to
 * look at to find it.
 */
static uint64_t segments_to_the_long_run(enum arc_rules rules)
{
	struct metaslab metaslab = {0};
	struct zfs_space_work work = {0};
	uint32_t at;

	metaslab_init(&metaslab, 32768);
	metaslab_take(&metaslab, 0, 32768 - 64);
	for (uint32_t unit = 4; unit < 32768 - 64; unit += 4)
		metaslab_give(&metaslab, unit, 2);
	at = metaslab_pick(&metaslab, &zfs_version_of(rules)->space, 32, &work);
	assert_int_equal(at, 32768 - 64);
	metaslab_take(&metaslab, at, 32);
	metaslab_check(&metaslab);
	metaslab_deinit(&metaslab);
	return work.searched;
}

static void a_log_block_looks_at_all_runs_up_to_the_first_that_will_do(void **state)
{
	uint64_t old, new;

	(void)state;
	old = segments_to_the_long_run(ARC_CLASSIC);
	assert_in_range(old, 8175, 8180); /* (32768 - 64) / 4, and one */
	/* 16 MiB on, 4096 units: every fourth has a run; then the one of that size. */
	new = segments_to_the_long_run(ARC_2_2);
	assert_in_range(new, 1024, 1026);
}

static void the_search_goes_once_round(void **state)
{
	struct metaslab metaslab = {0};
	struct zfs_space_work work = {0};
	const struct zfs_space_rules *rules = &zfs_version_of(ARC_CLASSIC)->space;

	(void)state;
	metaslab_init(&metaslab, 4096);
	metaslab_take(&metaslab, 0, 4096);
	metaslab_give(&metaslab, 100, 40);
	for (uint32_t unit = 1000; unit < 1400; unit += 4)
		metaslab_give(&metaslab, unit, 2);
	metaslab.cursor[5] = 1000; /* of blocks of 32 units */
	assert_int_equal(metaslab_pick(&metaslab, rules, 32, &work), 100);
	assert_int_equal(work.searched, 100 + 1);
	assert_int_equal(metaslab.cursor[5], 132);
	metaslab_deinit(&metaslab);
}

static void without_a_run_of_128_kib_the_smallest_that_fits_is_taken(void **state)
{
	static const uint32_t lengths[] = {9, 4, 31, 3, 7, 3, 20};

	(void)state;
	for (int version = 0; version < 2; version++) {
		struct metaslab metaslab = {0};
		struct zfs_space_work work = {0};
		const struct zfs_space_rules *rules = &zfs_version_of(versions[version])->space;

		metaslab_init(&metaslab, 4096);
		metaslab_take(&metaslab, 0, 4096);
		for (uint32_t i = 0; i < 7; i++)
			metaslab_give(&metaslab, 100 * i + 50, lengths[i]);
		assert_int_equal(metaslab_pick(&metaslab, rules, 3, &work), 350);
		assert_int_equal(metaslab_pick(&metaslab, rules, 5, &work), 450);
		assert_int_equal(metaslab_pick(&metaslab, rules, 10, &work), 650);
		assert_int_equal(metaslab_pick(&metaslab, rules, 32, &work), METASLAB_NOWHERE);
		metaslab_take(&metaslab, 350, 3);
		assert_int_equal(metaslab_pick(&metaslab, rules, 3, &work), 550);
		/* Grown together with what lies beside it, it is another length. */
		metaslab_give(&metaslab, 553, 1);
		assert_int_equal(metaslab_pick(&metaslab, rules, 3, &work), 150);
		assert_int_equal(work.searched, 0);
		assert_int_equal(work.best_fits, 5);
		metaslab_check(&metaslab);
		metaslab_deinit(&metaslab);
	}
}

/* ---- which metaslab ---- */

static void copies_lie_apart(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct zfs_space *space = pool(versions[version], UINT64_C(17500000000));
		uint64_t eighth = zfs_space_total_bytes(space) / ZFS_UNIT_BYTES / 8;

		for (int i = 0; i < 1000; i++) {
			struct zfs_space_ask ask = {.units = 10};
			struct zfs_extent at[3], pieces[ZFS_PIECES_MAX];

			for (uint32_t copy = 0; copy < 3; copy++) {
				assert_int_equal(zfs_space_allocate(space, &ask, pieces), 1);
				at[copy] = pieces[0];
				if (copy < 2)
					ask.others[ask.other_count++] = pieces[0].at;
				for (uint32_t other = 0; other < copy; other++) {
					uint64_t apart = at[copy].at > at[other].at
								 ? at[copy].at - at[other].at
								 : at[other].at - at[copy].at;

					if (versions[version] == ARC_CLASSIC)
						assert_true(apart >= eighth - 32768);
					else
						assert_true(apart >= 10);
				}
			}
		}
		zfs_space_check(space);
		zfs_space_destroy(space);
	}
}

/* Fill it, and free it in part: of every so many units, so many stay used. */
static void fragment(struct zfs_space *space, uint32_t used, uint32_t free)
{
	struct zfs_extent pieces[ZFS_PIECES_MAX];
	uint32_t units = used + free;

	while (give(space, units, ZFS_SPACE_LOG, pieces))
		zfs_space_free(space, pieces[0].at + used, free);
	txgs(space, 4);
}

static void a_log_block_without_a_run_has_no_place_and_others_are_cut(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct zfs_space *space = pool(versions[version], GIB);
		struct zfs_extent pieces[ZFS_PIECES_MAX];
		uint64_t free;
		uint32_t count, units = 0;

		fragment(space, 3, 3);
		assert_in_range(zfs_space_mean_run_bytes(space), 3 * ZFS_UNIT_BYTES,
				3 * ZFS_UNIT_BYTES + 100);
		free = zfs_space_free_bytes(space);
		assert_true(free > zfs_space_total_bytes(space) / 100 * 45);
		assert_int_equal(give(space, 32, ZFS_SPACE_LOG, pieces), 0);
		assert_int_equal(zfs_space_work(space)->log_failures, 1 + 1); /* one to fill it */
		assert_int_equal(give(space, 3, ZFS_SPACE_LOG, pieces), 1);
		free -= 3 * ZFS_UNIT_BYTES;
		/* A header, and three parts, each of which is cut again: 11 is 4 (2, 1, 1), 4, 3. */
		count = give(space, 32, ZFS_SPACE_BLOCK, pieces);
		assert_true(count > 4);
		assert_int_equal(pieces[0].units, 1);
		for (uint32_t i = 0; i < count; i++) {
			units += pieces[i].units;
			assert_true(pieces[i].units <= 5); /* at a metaslab's end */
		}
		assert_int_equal(free - zfs_space_free_bytes(space), units * ZFS_UNIT_BYTES);
		assert_true(units > 32 && units < 64);
		assert_true(zfs_space_work(space)->ganged >= 4);
		zfs_space_check(space);
		zfs_space_destroy(space);
	}
}

/* A block that is too long for the active metaslab: who places small ones there goes on, in 0.7. */
static void a_long_block_has_another_metaslab_made_active(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct zfs_space *space = pool(versions[version], 256 * MIB);
		struct zfs_extent small, log[ZFS_PIECES_MAX];
		uint64_t loads;

		fragment(space, 2, 14);
		small = one(space, 2);
		/* A metaslab with a long run: the one that the first unit lies in, or any other. */
		for (uint32_t unit = 0; unit < 64; unit++)
			zfs_space_free(space, FIRST + 8 * 4096 + unit * 16, 2);
		txgs(space, 4);
		loads = zfs_space_work(space)->loads + zfs_space_work(space)->loads_ahead;
		assert_int_equal(give(space, 32, ZFS_SPACE_LOG, log), 1);
		assert_in_range(log[0].at, FIRST + 8 * 4096, FIRST + 9 * 4096 - 1);
		assert_true(zfs_space_work(space)->loads + zfs_space_work(space)->loads_ahead >=
			    loads);
		/* It has the longest runs, and is active: small blocks follow it there. */
		assert_in_range(one(space, 2).at, FIRST + 8 * 4096, FIRST + 9 * 4096 - 1);
		(void)small;
		zfs_space_check(space);
		zfs_space_destroy(space);
	}
}

static void the_best_metaslabs_are_in_memory_and_idle_ones_leave_it(void **state)
{
	struct zfs_space *space = pool(ARC_CLASSIC, UINT64_C(17500000000));
	const struct zfs_space_work *work = zfs_space_work(space);
	struct zfs_space_load load;
	uint32_t loads = 0;

	(void)state;
	(void)one(space, 2);
	assert_int_equal(work->loads, 1);
	txgs(space, 1);
	assert_int_equal(work->loads_ahead, 3 - 1); /* the active one is the first of the three */
	while (zfs_space_load_next(space, &load)) {
		assert_int_equal(load.is_ahead, loads > 0);
		loads++;
	}
	assert_int_equal(loads, 3);
	/* They are the best still: they stay. */
	txgs(space, 20);
	assert_int_equal(work->loads_ahead, 2);
	(void)one(space, 2);
	assert_int_equal(work->loads, 1);
	zfs_space_destroy(space);
}

/* ---- when ---- */

static void what_is_freed_is_used_two_groups_later(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct zfs_space *space = pool(versions[version], GIB);
		struct zfs_extent piece[ZFS_PIECES_MAX], last = {0};
		uint64_t total = zfs_space_total_bytes(space);
		uint32_t count = 0;

		while (give(space, 32, ZFS_SPACE_LOG, piece)) {
			last = piece[0];
			count++;
		}
		assert_int_equal(count, total / (128 * K));
		/* If only slop is left (128 MiB) it is used at once. */
		zfs_space_free(space, last.at, 32);
		assert_int_equal(zfs_space_free_bytes(space), 128 * K);
		assert_int_equal(zfs_space_usable_bytes(space), 0);
		assert_int_equal(give(space, 32, ZFS_SPACE_LOG, piece), 0);
		txgs(space, 1);
		assert_int_equal(give(space, 32, ZFS_SPACE_LOG, piece), 1);
		for (uint32_t i = 0; i < 1100; i++)
			zfs_space_free(space, FIRST + i * 32, 32);
		for (int group = 0; group < 3; group++) {
			assert_int_equal(give(space, 1, ZFS_SPACE_BLOCK, piece), 0);
			txgs(space, 1);
		}
		assert_int_equal(give(space, 32, ZFS_SPACE_BLOCK, piece), 1);
		zfs_space_check(space);
		zfs_space_destroy(space);
	}
}

/* ---- space maps ---- */

static void a_group_appends_to_the_map_of_each_metaslab_that_it_changed(void **state)
{
	struct zfs_space *space = pool(ARC_CLASSIC, UINT64_C(17500000000));
	struct zfs_space_map map;
	struct zfs_extent piece;

	(void)state;
	for (int i = 0; i < 100; i++)
		piece = one(space, 2); /* one run */
	assert_true(zfs_space_map_next(space, &map));
	assert_int_equal(map.from_bytes, 0);
	assert_int_equal(map.to_bytes, 2 * 8); /* the run, and an entry that says when */
	assert_false(map.is_new);
	assert_false(zfs_space_map_next(space, &map));
	assert_false(zfs_space_map_next(space, &map)); /* nothing has changed */
	zfs_space_free(space, piece.at - 10, 2);
	zfs_space_free(space, piece.at - 20, 2);
	zfs_space_free(space, piece.at - 8, 2); /* beside the first: one run */
	(void)one(space, 2);
	assert_true(zfs_space_map_next(space, &map));
	assert_int_equal(map.from_bytes, 2 * 8);
	assert_int_equal(map.to_bytes, (2 + 2 + 3) * 8);
	zfs_space_destroy(space);
}

static void a_map_twice_as_long_as_need_be_is_written_anew(void **state)
{
	struct zfs_space *space = pool(ARC_CLASSIC, UINT64_C(17500000000));
	struct zfs_space_map map;
	struct zfs_extent before[100];
	uint64_t most = 0, written = 0;
	int condensed = 0;

	(void)state;
	for (int group = 0; group < 200; group++) {
		struct zfs_extent at[100];

		for (int i = 0; i < 100; i++)
			at[i] = one(space, 2);
		/* Half of them now, the others with the next group. */
		for (int i = 0; i < 100; i += 2)
			zfs_space_free(space, at[i].at, 2);
		for (int i = 1; group > 0 && i < 100; i += 2)
			zfs_space_free(space, before[i].at, 2);
		memcpy(before, at, sizeof(at));
		while (zfs_space_map_next(space, &map)) {
			condensed += map.is_new;
			written += map.to_bytes - map.from_bytes;
			most = map.to_bytes > most ? map.to_bytes : most;
			assert_int_equal(map.to_bytes, zfs_space_map_bytes(space, map.metaslab));
		}
		txgs(space, 1);
	}
	/* 200 x (101 runs and 2 entries) x 8 bytes in all; never much more than four blocks. */
	assert_in_range(written, 150000, 400000);
	assert_true(condensed >= 1);
	assert_in_range(most, 4 * 4096, 24000);
	zfs_space_destroy(space);
}

/* ---- a long life ---- */

enum { UNITS = 15 * 4096, BLOCKS = 3000 };

/* The slow, obvious one: an owner a unit. */
static struct {
	struct zfs_space *space;
	uint16_t owner[UNITS]; /* 0: free, as far as anybody knows */
	struct {
		struct zfs_extent at[ZFS_PIECES_MAX];
		uint32_t count;
	} block[BLOCKS];
} t;

static void own(const struct zfs_extent *piece, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < piece->units; i++) {
		assert_in_range(piece->at + i, FIRST, FIRST + UNITS - 1);
		assert_int_equal(t.owner[piece->at - FIRST + i], from);
		t.owner[piece->at - FIRST + i] = to;
	}
}

static void nothing_is_given_twice_and_nothing_is_lost(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct random random;

		random_init(&random, 3, (uint64_t)version);
		memset(&t, 0, sizeof(t));
		t.space = pool(versions[version], 256 * MIB);
		for (int step = 0; step < 40000; step++) {
			uint32_t which = (uint32_t)random_below(&random, BLOCKS);
			uint32_t units = 1 + (uint32_t)random_below(&random, 40);

			for (uint32_t i = 0; i < t.block[which].count; i++) {
				const struct zfs_extent *piece = &t.block[which].at[i];

				own(piece, (uint16_t)(which + 1), 0);
				zfs_space_free(t.space, piece->at, piece->units);
			}
			t.block[which].count =
				give(t.space, units, ZFS_SPACE_BLOCK, t.block[which].at);
			for (uint32_t i = 0; i < t.block[which].count; i++)
				own(&t.block[which].at[i], 0, (uint16_t)(which + 1));
			if (step % 40 == 0)
				txgs(t.space, 1);
			if (step % 1000 == 0)
				zfs_space_check(t.space);
		}
		zfs_space_check(t.space);
		zfs_space_destroy(t.space);
	}
}

/* Overwrite at random until it is old, with so much of it in use; what an allocation then costs. */
static void grow_old(enum arc_rules rules, uint32_t used_percent, uint64_t *run_bytes,
		     double *searched, double *requests)
{
	struct zfs_space *space = pool(rules, 2 * GIB);
	uint32_t blocks = (uint32_t)(zfs_space_total_bytes(space) / (128 * K) * used_percent / 100);
	struct zfs_extent(*at)[64] = memory_alloc(blocks, sizeof(*at)), pieces[ZFS_PIECES_MAX];
	uint32_t *count = memory_alloc(blocks, sizeof(*count)), *units = memory_alloc(blocks, 4);
	struct zfs_space_work before = {0};
	struct random random;
	uint64_t all = 0, rewrites = blocks * UINT64_C(6);

	random_init(&random, 7, used_percent);
	for (uint64_t i = 0; i < blocks + rewrites; i++) {
		uint32_t which = i < blocks ? (uint32_t)i : (uint32_t)random_below(&random, blocks);

		if (i == blocks + rewrites / 2)
			before = *zfs_space_work(space), all = 0;
		for (uint32_t piece = 0; piece < count[which]; piece++)
			zfs_space_free(space, at[which][piece].at, at[which][piece].units);
		/* 8 to 128 KiB, but as large as can be until the share is reached. */
		units[which] = i >= blocks && zfs_space_free_bytes(space) >
						       zfs_space_total_bytes(space) / 100 *
							       (100 - used_percent)
				       ? 32
				       : 2u << random_below(&random, 5);
		count[which] = give(space, units[which], ZFS_SPACE_BLOCK, pieces);
		assert_in_range(count[which], 1, 64);
		memcpy(at[which], pieces, count[which] * sizeof(*pieces));
		all += count[which];
		if (i % 50 == 0)
			txgs(space, 1);
	}
	rewrites -= rewrites / 2;
	*run_bytes = zfs_space_mean_run_bytes(space);
	*searched = (double)(zfs_space_work(space)->searched - before.searched) / (double)rewrites;
	*requests = (double)all / (double)rewrites;
	zfs_space_check(space);
	zfs_space_destroy(space);
	memory_free(at);
	memory_free(count);
	memory_free(units);
}

static void near_full_runs_are_short_and_allocations_dear(void **state)
{
	static const uint32_t used[] = {30, 60, 80, 90, 95};

	(void)state;
	for (int version = 0; version < 2; version++) {
		uint64_t run[5];
		double searched[5], requests[5];

		for (int i = 0; i < 5; i++) {
			grow_old(versions[version], used[i], &run[i], &searched[i], &requests[i]);
			print_message("%s, %u %% used: free runs of %llu KiB, %.2f segments and "
				      "%.3f requests a block\n",
				      zfs_version_of(versions[version])->name, used[i],
				      (unsigned long long)run[i] / K, searched[i], requests[i]);
		}
		for (int i = 1; i < 5; i++)
			assert_true(run[i] < run[i - 1]);
		assert_true(searched[4] > 2 * searched[0]);
		assert_true(requests[0] < 1.01);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_a_hundred_metaslabs_or_two),
		cmocka_unit_test(a_fresh_pool_is_filled_in_order),
		cmocka_unit_test(a_log_block_looks_at_all_runs_up_to_the_first_that_will_do),
		cmocka_unit_test(the_search_goes_once_round),
		cmocka_unit_test(without_a_run_of_128_kib_the_smallest_that_fits_is_taken),
		cmocka_unit_test(copies_lie_apart),
		cmocka_unit_test(a_log_block_without_a_run_has_no_place_and_others_are_cut),
		cmocka_unit_test(a_long_block_has_another_metaslab_made_active),
		cmocka_unit_test(the_best_metaslabs_are_in_memory_and_idle_ones_leave_it),
		cmocka_unit_test(what_is_freed_is_used_two_groups_later),
		cmocka_unit_test(a_group_appends_to_the_map_of_each_metaslab_that_it_changed),
		cmocka_unit_test(a_map_twice_as_long_as_need_be_is_written_anew),
		cmocka_unit_test(nothing_is_given_twice_and_nothing_is_lost),
		cmocka_unit_test(near_full_runs_are_short_and_allocations_dear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
