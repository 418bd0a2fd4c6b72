/*
 * If this fails, what ZFS keeps in memory is predicted by other rules than its own: each rule of
 * both rule books is shown by the smallest case that would come out otherwise without it.
 */
#include "cache/arc_private.h"

#include "cache_test.h"

enum { RECORD = 8192 };

static const enum arc_rules both[] = {ARC_CLASSIC, ARC_2_2};

/* c stays at `mib`. */
static struct arc *fixed(enum arc_rules rules, uint64_t mib)
{
	struct arc_config config = {.rules = rules,
				    .memory_bytes = GIB,
				    .size_max_bytes = mib * MIB,
				    .size_min_bytes = mib * MIB};

	return arc_create(NULL, &config);
}

static void end(struct arc *arc)
{
	arc_check(arc);
	arc_destroy(arc);
}

static struct arc_counters counters_of(const struct arc *arc)
{
	struct arc_counters counters;

	arc_counters(arc, &counters);
	return counters;
}

static bool use(struct arc *arc, uint64_t key, uint64_t now_ms)
{
	return arc_use(arc, key, RECORD, ARC_DATA, ARC_USE_DEMAND, now_ms * NS_PER_MS);
}

/* `count` records of 8 KiB, never seen before. */
static void use_new(struct arc *arc, uint64_t first, uint64_t count, enum arc_type type,
		    uint64_t now_ms)
{
	for (uint64_t i = 0; i < count; i++)
		assert_false(
			arc_use(arc, first + i, RECORD, type, ARC_USE_DEMAND, now_ms * NS_PER_MS));
}

/* Records that take `mib`, headers left aside. */
static uint64_t records(uint64_t mib)
{
	return mib * MIB / RECORD;
}

/* ---- states ---- */

static void promotion_takes_more_than_62_ms(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = fixed(both[i], 64);

		assert_false(use(arc, 1, 1000));
		assert_true(use(arc, 1, 1062));
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], 0);
		/* From the first use on: the one in between did not count. */
		assert_true(use(arc, 1, 1063));
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][0], 0);
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], RECORD);
		assert_int_equal(counters_of(arc).hits[ARC_DATA][ARC_USE_DEMAND], 2);
		assert_int_equal(counters_of(arc).misses[ARC_DATA][ARC_USE_DEMAND], 1);
		end(arc);
	}
}

static void the_use_after_a_prefetch_does_not_promote(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = fixed(both[i], 64);

		assert_false(arc_use(arc, 1, RECORD, ARC_DATA, ARC_USE_PREFETCH, 0));
		assert_true(use(arc, 1, 500));
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], 0);
		assert_true(use(arc, 1, 1000));
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], RECORD);
		assert_int_equal(counters_of(arc).misses[ARC_DATA][ARC_USE_PREFETCH], 1);
		end(arc);
	}
}

static void what_was_used_last_is_in_the_dbuf_cache(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 64);

	(void)state;
	/* 64 MiB / 32: 256 records. The one more takes a tenth out. */
	use_new(arc, 1, 256, ARC_DATA, 0);
	assert_int_equal(arc->evictable_bytes[ARC_MRU][ARC_DATA], 0);
	use_new(arc, 1000, 1, ARC_DATA, 0);
	assert_int_equal(arc->evictable_bytes[ARC_MRU][ARC_DATA], 27 * RECORD);
	assert_int_equal(arc->dbuf_bytes, 230 * RECORD);
	/* The oldest went; the second tenth is still there. */
	assert_true(use(arc, 1, 0));
	assert_int_equal(counters_of(arc).dbuf_hits, 0);
	assert_true(use(arc, 28, 0));
	assert_int_equal(counters_of(arc).dbuf_hits, 1);
	end(arc);
}

static void a_dbuf_of_what_is_compressed_is_as_large_as_it_is(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 64);
	struct arc_buffer buffer = {
		.key = 1, .bytes = 8192, .logical_bytes = 131072, .type = ARC_METADATA};

	(void)state;
	assert_false(arc_use_buffer(arc, &buffer, ARC_USE_DEMAND, 0));
	assert_int_equal(arc->dbuf_bytes, 131072);
	assert_int_equal(arc_size_bytes(arc), 8192 + 131072 + 240);
	use_new(arc, 100, 256, ARC_DATA, 0); /* out of the dbuf cache */
	assert_int_equal(arc_size_bytes(arc), 8192 + 256 * RECORD + 257 * 240);
	/* Dirty it is the whole block, and written the size it then has. */
	arc_dirty(arc, 1);
	assert_int_equal(counters_of(arc).dirty_bytes, 131072);
	arc_clean_as(arc, 1, 4096);
	assert_int_equal(counters_of(arc).resident_bytes[ARC_METADATA][0], 4096);
	end(arc);
}

static void what_is_dirty_stays_and_is_as_new_when_it_is_clean(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = fixed(both[i], 64);

		assert_false(use(arc, 1, 0));
		assert_true(use(arc, 1, 100)); /* MFU */
		arc_dirty(arc, 1);
		arc_make(arc, 2, RECORD, ARC_DATA, 0);
		assert_int_equal(counters_of(arc).dirty_bytes, 2 * RECORD);
		use_new(arc, 100, records(200), ARC_DATA, 200);
		assert_true(arc_is_dirty(arc, 1) && arc_is_dirty(arc, 2));
		arc_clean(arc, 1);
		arc_clean(arc, 2);
		assert_true(arc_has(arc, 1) && arc_has(arc, 2));
		assert_int_equal(counters_of(arc).dirty_bytes, 0);
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], 0);
		use_new(arc, 1000000, records(80), ARC_DATA, 200);
		assert_false(arc_has(arc, 1) || arc_has(arc, 2));
		end(arc);
	}
}

/*
 * 20 MiB used twice (keys from 1 << 30), then 55 MiB used once (from 1): more than fits, and the
 * first 8 MiB of the latter are ghosts.
 */
static struct arc *with_ghosts(enum arc_rules rules)
{
	struct arc *arc = fixed(rules, 64);

	use_new(arc, 1 << 30, records(20), ARC_DATA, 0);
	for (uint64_t i = 0; i < records(20); i++)
		assert_true(use(arc, (1 << 30) + i, 1000));
	use_new(arc, 1, records(55), ARC_DATA, 2000);
	assert_true(arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] > 7 * MIB);
	assert_false(arc_has(arc, 1));
	return arc;
}

static void a_ghost_comes_back_as_something_seen_twice(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = with_ghosts(both[i]);

		assert_false(use(arc, 1, 2010)); /* at once: a ghost does not ask for how long */
		assert_int_equal(counters_of(arc).ghost_hits[ARC_DATA][0], 1);
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1],
				 (records(20) + 1) * RECORD);
		/* And as an MFU ghost it comes back to the MFU again. */
		use_new(arc, 1 << 20, 300, ARC_DATA, 2010); /* out of the dbuf cache */
		(void)arc_evict_from(arc, ARC_MFU, ARC_DATA, 100 * MIB);
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], 0);
		assert_false(use(arc, 1, 2020));
		assert_int_equal(counters_of(arc).ghost_hits[ARC_DATA][1], 1);
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], RECORD);
		end(arc);
	}
}

static void a_prefetch_of_a_ghost_is_seen_once(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = with_ghosts(both[i]);

		assert_false(arc_use(arc, 1, RECORD, ARC_DATA, ARC_USE_PREFETCH, 2010 * NS_PER_MS));
		/* Since 2.2 it is asked what brought the ghost in, not what brings it back. */
		assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1],
				 (records(20) + (both[i] == ARC_2_2)) * RECORD);
		end(arc);
	}
}

static void what_is_freed_or_made_anew_leaves_no_ghost(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = with_ghosts(both[i]);

		arc_forget(arc, 1);
		assert_false(use(arc, 1, 2000));
		arc_make(arc, 2, RECORD, ARC_DATA, 0);
		assert_true(use(arc, 2, 2000));
		assert_int_equal(counters_of(arc).ghost_hits[ARC_DATA][0], 0);
		arc_forget(arc, 2); /* dirty or not */
		assert_false(arc_has(arc, 2));
		assert_int_equal(counters_of(arc).dirty_bytes, 0);
		assert_false(use(arc, 3, 2000));
		assert_int_equal(counters_of(arc).ghost_hits[ARC_DATA][0], 1);
		end(arc);
	}
}

static void a_young_prefetch_is_passed_over(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = fixed(both[i], 64);

		assert_false(arc_use(arc, 1, RECORD, ARC_DATA, ARC_USE_PREFETCH, 0));
		use_new(arc, 100, records(80), ARC_DATA, 999);
		assert_true(arc_has(arc, 1));
		use_new(arc, 100000, records(80), ARC_DATA, 1000);
		assert_false(arc_has(arc, 1));
		end(arc);
	}
}

/* ---- the size ---- */

static void eviction_begins_half_a_margin_beyond_the_target(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = fixed(both[i], 64);
		/* The margin is 16 MiB; every record has a header of 240 bytes. */
		uint64_t count = 72 * MIB / (RECORD + 240);

		use_new(arc, 1, count, ARC_DATA, 0);
		assert_int_equal(counters_of(arc).evicted_bytes[ARC_DATA], 0);
		use_new(arc, 100000, 2, ARC_DATA, 0);
		assert_true(counters_of(arc).evicted_bytes[ARC_DATA] >= 7 * MIB);
		assert_true(arc_size_bytes(arc) <= 64 * MIB + 3 * RECORD);
		end(arc);
	}
}

static void the_target_grows_with_what_comes_in(void **state)
{
	struct arc_config config = {.rules = ARC_2_2, .memory_bytes = 8 * GIB};
	struct arc *arc = arc_create(NULL, &config);

	(void)state;
	assert_int_equal(counters_of(arc).target_max_bytes, 4 * GIB);
	assert_int_equal(counters_of(arc).target_bytes, 256 * MIB);
	/* Not before the size is within 32 MiB of it. */
	use_new(arc, 1, records(200), ARC_DATA, 0);
	assert_int_equal(counters_of(arc).target_bytes, 256 * MIB);
	use_new(arc, 1 << 20, records(24), ARC_DATA, 0);
	assert_true(counters_of(arc).target_bytes > 256 * MIB);
	assert_int_equal(counters_of(arc).target_bytes % (128 * KIB),
			 0); /* at least so much each time */
	use_new(arc, 2 << 20, records(4300), ARC_DATA, 0);
	assert_int_equal(counters_of(arc).target_bytes, 4 * GIB);
	end(arc);

	/* Classic: by what came. */
	config.rules = ARC_CLASSIC;
	arc = arc_create(NULL, &config);
	use_new(arc, 1, records(300), ARC_DATA, 0);
	assert_true(counters_of(arc).target_bytes > 300 * MIB &&
		    counters_of(arc).target_bytes < 350 * MIB);
	end(arc);
}

/* ---- classic ---- */

static void classic_p_moves_by_ghost_hits(void **state)
{
	struct arc *arc = with_ghosts(ARC_CLASSIC);
	uint64_t p = counters_of(arc).mru_target_bytes;

	(void)state;
	assert_int_equal(p, 32 * MIB); /* at c new data does not move it */
	/* MFU ghosts there are none yet: the step is once the size. */
	assert_false(use(arc, 1, 2000));
	assert_int_equal(counters_of(arc).ghost_hits[ARC_DATA][0], 1);
	assert_int_equal(counters_of(arc).mru_target_bytes, p + RECORD);
	/* Never more than c - c / 16. */
	arc_adapt(arc, 100 * MIB, ARC_MRU_GHOST);
	assert_int_equal(counters_of(arc).mru_target_bytes, 60 * MIB);
	end(arc);
}

static void classic_p_steps_by_the_ratio_of_the_ghosts(void **state)
{
	struct arc *arc = fixed(ARC_CLASSIC, 64);
	uint64_t p = arc->mru_target, ghosts[2];

	(void)state;
	/* Set the stage: an MFU ghost list that is many times the MRU's. */
	use_new(arc, 1, records(70), ARC_DATA, 0);
	for (uint64_t key = 1; key <= records(70); key++)
		(void)use(arc, key, 1000);
	use_new(arc, 1 << 20, records(20), ARC_DATA, 2000);
	ghosts[0] = arc->state_bytes[ARC_MRU_GHOST][ARC_DATA];
	ghosts[1] = arc->state_bytes[ARC_MFU_GHOST][ARC_DATA];
	assert_true(ghosts[1] > 0);
	p = arc->mru_target;
	arc_adapt(arc, RECORD, ARC_MFU_GHOST);
	assert_int_equal(p - arc->mru_target,
			 RECORD * (ghosts[1] >= ghosts[0]       ? 1
				   : ghosts[0] / ghosts[1] > 10 ? 10
								: ghosts[0] / ghosts[1]));
	/* By hand: 40 to 10 is four times, 400 to 10 ten times. */
	arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] = 10 * MIB;
	arc->state_bytes[ARC_MFU_GHOST][ARC_DATA] = 40 * MIB;
	arc->mru_target = 32 * MIB;
	arc_adapt(arc, RECORD, ARC_MRU_GHOST);
	assert_int_equal(arc->mru_target, 32 * MIB + 4 * RECORD);
	arc->state_bytes[ARC_MFU_GHOST][ARC_DATA] = 400 * MIB;
	arc_adapt(arc, RECORD, ARC_MRU_GHOST);
	assert_int_equal(arc->mru_target, 32 * MIB + 14 * RECORD);
	/* And down to c / 16. */
	arc_adapt(arc, 31 * MIB, ARC_MFU_GHOST);
	assert_int_equal(arc->mru_target, 4 * MIB);
	arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] = ghosts[0];
	arc->state_bytes[ARC_MFU_GHOST][ARC_DATA] = ghosts[1];
	end(arc);
}

static void classic_has_a_limit_for_metadata(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arc *arc = fixed(both[i], 128);
		uint64_t key = 0;

		while (counters_of(arc).evicted_bytes[ARC_METADATA] == 0)
			use_new(arc, ++key, 1, ARC_METADATA, 0);
		if (both[i] == ARC_CLASSIC)
			assert_in_range(arc_size_bytes(arc), 95 * MIB, 96 * MIB + 2 * RECORD);
		else
			assert_in_range(arc_size_bytes(arc), 127 * MIB, 128 * MIB + 2 * RECORD);
		/* Nothing but the file systems could help: they are asked to. */
		for (uint64_t i2 = 0; i2 < records(110); i2++)
			arc_make(arc, (1 << 20) + i2, RECORD, ARC_METADATA, 0);
		if (both[i] == ARC_CLASSIC)
			assert_true(counters_of(arc).prunes == 0);
		for (uint64_t i2 = 0; i2 < records(40); i2++)
			arc_make(arc, (2 << 20) + i2, RECORD, ARC_METADATA, 0);
		assert_true(counters_of(arc).prunes > 0 || both[i] == ARC_2_2);
		end(arc);
	}
}

static void classic_evicts_the_type_whose_oldest_is_older(void **state)
{
	struct arc *arc = fixed(ARC_CLASSIC, 64);

	(void)state;
	/* Above the least for metadata, 16 MiB. */
	use_new(arc, 1, records(20), ARC_METADATA, 1);
	use_new(arc, 1 << 20, records(51), ARC_DATA, 1000);
	assert_int_equal(counters_of(arc).evicted_bytes[ARC_DATA], 0);
	assert_true(counters_of(arc).evicted_bytes[ARC_METADATA] > 7 * MIB);
	end(arc);
	/* Below it, data goes, however young. */
	arc = fixed(ARC_CLASSIC, 64);
	use_new(arc, 1, records(8), ARC_METADATA, 1);
	use_new(arc, 1 << 20, records(63), ARC_DATA, 1000);
	assert_int_equal(counters_of(arc).evicted_bytes[ARC_METADATA], 0);
	assert_true(counters_of(arc).evicted_bytes[ARC_DATA] > 7 * MIB);
	end(arc);
}

static void classic_ghosts_have_a_limit(void **state)
{
	struct arc *arc = fixed(ARC_CLASSIC, 64);

	(void)state;
	for (uint64_t round = 0; round < 6; round++) {
		use_new(arc, (round + 1) << 20, records(50), ARC_DATA, round * 1000);
		for (uint64_t i = 0; i < records(40); i++)
			(void)use(arc, ((round + 1) << 20) + i, round * 1000 + 500);
	}
	use_new(arc, 100 << 20, records(8), ARC_DATA, 9000);
	/* As of the last pass; 9 MiB may have left the resident lists or come since. */
	assert_true(arc->state_bytes[ARC_MRU][ARC_DATA] +
			    arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] <=
		    73 * MIB);
	assert_true(arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] +
			    arc->state_bytes[ARC_MFU_GHOST][ARC_DATA] <=
		    65 * MIB);
	end(arc);
}

/* ---- 2.2 ---- */

static void metadata_over_its_share_goes_first(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 64);

	(void)state;
	use_new(arc, 1, records(30), ARC_DATA, 0);           /* old data ... */
	use_new(arc, 1 << 20, records(41), ARC_METADATA, 0); /* ... and young metadata */
	assert_int_equal(counters_of(arc).evicted_bytes[ARC_DATA], 0);
	assert_true(counters_of(arc).evicted_bytes[ARC_METADATA] > 7 * MIB);
	end(arc);
	/* Up to a quarter it is safe, and data goes. */
	arc = fixed(ARC_2_2, 64);
	use_new(arc, 1 << 20, records(7), ARC_METADATA, 0);
	use_new(arc, 1, records(64), ARC_DATA, 1000);
	assert_int_equal(counters_of(arc).evicted_bytes[ARC_METADATA], 0);
	assert_true(counters_of(arc).evicted_bytes[ARC_DATA] > 7 * MIB);
	end(arc);
}

static void the_mru_of_data_gives_down_to_its_half_then_the_mfu(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 64);
	uint64_t mfu;

	(void)state;
	use_new(arc, 1, records(50), ARC_DATA, 0);
	for (uint64_t key = 1; key <= records(50); key++)
		assert_true(use(arc, key, 1000));
	use_new(arc, 1 << 20, records(21), ARC_DATA, 2000);
	/* MFU 50, MRU 21 MiB, 71 with headers 73 or so: about 9 must go, none of it the MRU's. */
	mfu = counters_of(arc).resident_bytes[ARC_DATA][1];
	assert_true(mfu < 43 * MIB);
	assert_true(counters_of(arc).resident_bytes[ARC_DATA][0] > 20 * MIB);
	end(arc);
	/* The other way round, the MRU gives. */
	arc = fixed(ARC_2_2, 64);
	use_new(arc, 1, records(21), ARC_DATA, 0);
	for (uint64_t key = 1; key <= records(21); key++)
		assert_true(use(arc, key, 1000));
	use_new(arc, 1 << 20, records(50), ARC_DATA, 2000);
	assert_true(counters_of(arc).resident_bytes[ARC_DATA][0] < 43 * MIB);
	assert_int_equal(counters_of(arc).resident_bytes[ARC_DATA][1], records(21) * RECORD);
	end(arc);
}

static void ghost_hits_move_the_fractions(void **state)
{
	struct arc *arc = with_ghosts(ARC_2_2);
	uint64_t data_mru = arc->data_mru, meta = arc->meta;

	(void)state;
	assert_int_equal(counters_of(arc).meta_fraction, 1u << 30);
	assert_int_equal(counters_of(arc).data_mru_fraction, 1u << 31);
	assert_int_equal(counters_of(arc).metadata_mru_fraction, 1u << 31);
	/* Data ghosts: data's MRU share up, metadata's share down. */
	for (uint64_t key = 1; key <= records(1); key++)
		assert_false(use(arc, key, 2100));
	assert_int_equal(counters_of(arc).ghost_hits[ARC_DATA][0], records(1));
	use_new(arc, 1 << 20, records(9), ARC_DATA, 2100);
	assert_true(arc->data_mru > data_mru);
	assert_true(arc->meta < meta);
	/* By as much as the hits are of the ghosts, and metadata by a fifth of that. */
	assert_true((arc->data_mru - data_mru) / 2 > meta - arc->meta);
	assert_int_equal(arc->metadata_mru, 1u << 31);
	end(arc);
}

static void a_fraction_beyond_4_to_1_moves_less(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 64);
	uint64_t step[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		arc->data_mru = (UINT64_C(1) << 32) / 100 * (i == 0 ? 50 : 95);
		arc->ghost_size[ARC_DATA][0] = arc->ghost_size[ARC_DATA][1] = 50 * MIB;
		arc->ghost_hit_bytes[ARC_DATA][0] = MIB;
		step[i] = arc->data_mru;
		/* An empty ARC: a pass moves the fractions and evicts nothing. */
		arc->size_target = arc->size_max;
		arc->state_bytes[ARC_ANON][ARC_DATA] += 80 * MIB;
		arc_make_room(arc);
		arc->state_bytes[ARC_ANON][ARC_DATA] -= 80 * MIB;
		step[i] = arc->data_mru - step[i];
	}
	/* 1 %; at 19 to 1 divided by 9. */
	assert_in_range(step[0], (UINT64_C(1) << 32) / 101, (UINT64_C(1) << 32) / 99);
	assert_in_range(step[0] / step[1], 9, 10);
	end(arc);
}

static void ghosts_of_2_2_are_half_of_the_others(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 64);

	(void)state;
	/* All is MRU data: its ghosts can only be as many as half of nothing. */
	use_new(arc, 1, records(300), ARC_DATA, 0);
	assert_true(arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] == 0);
	end(arc);
	arc = fixed(ARC_2_2, 64);
	use_new(arc, 1, records(30), ARC_DATA, 0);
	for (uint64_t key = 1; key <= records(30); key++)
		assert_true(use(arc, key, 1000));
	use_new(arc, 1 << 20, records(300), ARC_DATA, 2000);
	assert_in_range(arc->state_bytes[ARC_MRU_GHOST][ARC_DATA], 14 * MIB, 15 * MIB);
	end(arc);
}

/* ---- the machine ---- */

static const struct cache_filesystem own UNUSED = {
	.folios = CACHE_FOLIOS_NEVER,
	.data_in_arc = true,
	.dentry_bytes = 200,
	.inline_name_bytes = 39,
	.long_name_bytes = 104,
	.inode_bytes = 1000,
};

static struct arc *of_machine(struct world *world, uint64_t memory_mib)
{
	struct arc_config config = {.rules = arc_rules_of(world->cache),
				    .memory_bytes = memory_mib * MIB};

	return arc_create(world->cache, &config);
}

static void its_size_is_the_machines_memory(void **state)
{
	struct world *world = world_create(
		(struct world_options){.fs = &own, .memory_mib = 1024, .is_machine = true});
	struct arc *arc = of_machine(world, 1024);
	uint64_t before = world->cache->domain.usage_pages;

	(void)state;
	assert_int_equal(arc->rules, ARC_2_2);
	use_new(arc, 1, records(100), ARC_DATA, 0);
	assert_int_equal(world->cache->domain.usage_pages - before,
			 pages_from_bytes_up(arc_size_bytes(arc)));
	cache_check(world->cache);
	end(arc);
	assert_int_equal(world->cache->domain.usage_pages, before);
	world_destroy(world);
}

static void a_cgroup_does_not_pay_for_it(void **state)
{
	struct world *world = world_create((struct world_options){.fs = &own, .memory_mib = 64});
	struct arc *arc = of_machine(world, 1024);

	(void)state;
	use_new(arc, 1, records(300), ARC_DATA, 0);
	assert_true(arc_size_bytes(arc) > 300 * MIB);
	assert_int_equal(world->cache->domain.usage_pages, 0);
	assert_int_equal(arc_shrinker_count(world->cache), 0);
	end(arc);
	world_destroy(world);
}

static void other_memory_shrinks_it_to_its_least(void **state)
{
	struct world *world = world_create((struct world_options){.policy = "arc-classic," FRESH,
								  .fs = &own,
								  .memory_mib = 2048,
								  .is_machine = true});
	struct arc *arc = of_machine(world, 2048);
	uint64_t full;

	(void)state;
	assert_int_equal(arc->rules, ARC_CLASSIC);
	use_new(arc, 1, records(1500), ARC_DATA, 0);
	full = arc_size_bytes(arc);
	assert_true(full > 1000 * MIB && full < 1100 * MIB);
	/* Kernel memory that cannot go: the ARC is all that can. */
	for (int i = 0; i < 1600; i++)
		cache_other_slab(world->cache, MIB);
	assert_true(cache_in_memory(world->cache));
	assert_true(arc_size_bytes(arc) < full - 400 * MIB);
	assert_true(counters_of(arc).target_bytes >= 64 * MIB);
	assert_true(arc->no_growth);
	/* And it does not grow as long as memory is short, nor for 5 s after it was. */
	use_new(arc, 1 << 20, records(5), ARC_DATA, 1000);
	assert_int_equal(arc->grow_ns, 6 * NS_PER_SECOND);
	full = counters_of(arc).target_bytes;
	cache_other_slab(world->cache, -(int64_t)(1600 * MIB));
	use_new(arc, 100 << 20, records(100), ARC_DATA, 2500);
	use_new(arc, 101 << 20, records(100), ARC_DATA, 5900);
	assert_int_equal(counters_of(arc).target_bytes, full);
	use_new(arc, 102 << 20, records(100), ARC_DATA, 7000);
	assert_true(counters_of(arc).target_bytes > full);
	cache_check(world->cache);
	end(arc);
	world_destroy(world);
}

static void a_policy_of_zfs_is_refused_elsewhere(void **state)
{
	static const char *const names[] = {"arc-2.2", "arc-classic"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct policy_options policy;
		struct error error = {0};
		struct cache_config config = {
			.policy = &policy, .filesystem = &plain, .memory_bytes = 64 * MIB};

		assert_true(policy_options_parse(&policy, names[i], &error));
		assert_null(cache_create(&config, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
		assert_non_null(strstr(error.message, "zfs"));
	}
}

/* ---- all of it at random ---- */

static void random_uses(struct arc *arc, uint64_t seed)
{
	struct random random;
	uint64_t now_ns = 0;

	random_init(&random, seed, 0);
	for (int step = 0; step < 60000; step++) {
		uint64_t dice = random_below(&random, 100);
		/* Sizes by key, as a block has one. */
		uint64_t key = random_below(&random, 1 + random_below(&random, 20000));
		struct arc_buffer buffer = {
			.key = key,
			.bytes = 512 << key % 9,
			.logical_bytes = key % 3 ? 0 : 131072,
			.type = key % 3 ? ARC_DATA : ARC_METADATA,
		};

		now_ns += random_below(&random, 2 * NS_PER_MS);
		if (dice < 80) {
			(void)arc_use_buffer(arc, &buffer,
					     dice < 8 ? ARC_USE_PREFETCH : ARC_USE_DEMAND, now_ns);
		} else if (dice < 88) {
			arc_make_buffer(arc, &buffer, now_ns);
		} else if (dice < 92) {
			if (arc_has(arc, key))
				arc_dirty(arc, key);
		} else if (dice < 98) {
			for (uint64_t i = 0; i < 100; i++)
				if (arc_is_dirty(arc, key + i))
					arc_clean(arc, key + i);
		} else {
			arc_forget(arc, key);
		}
		if (step % 2000 == 0)
			arc_check(arc);
	}
}

static void whatever_happens_the_sums_are_right(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		for (uint64_t seed = 1; seed < 4; seed++) {
			struct world *world = world_create((struct world_options){
				.fs = &own, .memory_mib = 512, .is_machine = true});
			struct arc *arc = fixed(both[i], 64);

			random_uses(arc, seed);
			end(arc);
			arc = of_machine(world, 512);
			arc->rules = both[i];
			cache_other_slab(world->cache, (int64_t)(100 * seed * MIB));
			random_uses(arc, seed + 10);
			cache_check(world->cache);
			end(arc);
			world_destroy(world);
		}
}

static void a_buffer_costs_forty_bytes(void **state)
{
	struct arc *arc = fixed(ARC_2_2, 8192);

	(void)state;
	use_new(arc, 1, 1 << 20, ARC_DATA, 0);
	assert_true(arc_memory_bytes(arc) <= (UINT64_C(40) << 20) * 2);
	end(arc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promotion_takes_more_than_62_ms),
		cmocka_unit_test(the_use_after_a_prefetch_does_not_promote),
		cmocka_unit_test(what_was_used_last_is_in_the_dbuf_cache),
		cmocka_unit_test(a_dbuf_of_what_is_compressed_is_as_large_as_it_is),
		cmocka_unit_test(what_is_dirty_stays_and_is_as_new_when_it_is_clean),
		cmocka_unit_test(a_ghost_comes_back_as_something_seen_twice),
		cmocka_unit_test(a_prefetch_of_a_ghost_is_seen_once),
		cmocka_unit_test(what_is_freed_or_made_anew_leaves_no_ghost),
		cmocka_unit_test(a_young_prefetch_is_passed_over),
		cmocka_unit_test(eviction_begins_half_a_margin_beyond_the_target),
		cmocka_unit_test(the_target_grows_with_what_comes_in),
		cmocka_unit_test(classic_p_moves_by_ghost_hits),
		cmocka_unit_test(classic_p_steps_by_the_ratio_of_the_ghosts),
		cmocka_unit_test(classic_has_a_limit_for_metadata),
		cmocka_unit_test(classic_evicts_the_type_whose_oldest_is_older),
		cmocka_unit_test(classic_ghosts_have_a_limit),
		cmocka_unit_test(metadata_over_its_share_goes_first),
		cmocka_unit_test(the_mru_of_data_gives_down_to_its_half_then_the_mfu),
		cmocka_unit_test(ghost_hits_move_the_fractions),
		cmocka_unit_test(a_fraction_beyond_4_to_1_moves_less),
		cmocka_unit_test(ghosts_of_2_2_are_half_of_the_others),
		cmocka_unit_test(its_size_is_the_machines_memory),
		cmocka_unit_test(a_cgroup_does_not_pay_for_it),
		cmocka_unit_test(other_memory_shrinks_it_to_its_least),
		cmocka_unit_test(a_policy_of_zfs_is_refused_elsewhere),
		cmocka_unit_test(whatever_happens_the_sums_are_right),
		cmocka_unit_test(a_buffer_costs_forty_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
