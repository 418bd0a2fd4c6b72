/*
 * zfs_space: which metaslab a block goes to, and what is free when
 *
 * Idea       Metaslabs stand in the order of their longest free runs, the active ones first. A block
 *            goes to the first that has room for it, a copy of it to the first that is elsewhere.
 *            A metaslab's turn begins when it is chosen (its space map is loaded then) and ends when
 *            its longest runs have become a quarter of what they were, or it has none that is long
 *            enough. Fresh pools are filled in order; old ones in scattered pieces.
 * Source     OpenZFS 0.7.9 and 2.2.0 module/zfs/metaslab.c: metaslab_group_alloc_normal(),
 *            find_valid_metaslab(), metaslab_should_allocate(), metaslab_segment_may_passivate(),
 *            metaslab_sync(), metaslab_should_condense(), metaslab_sync_done() (TXG_DEFER_SIZE),
 *            metaslab_group_preload(); module/zfs/vdev.c: vdev_metaslab_set_size(); module/zfs/zio.c:
 *            zio_write_gang_block(); module/zfs/space_map.c: space_map_write();
 *            module/zfs/spa_misc.c: spa_get_slop_space()
 * Differs    1. one allocator; since 0.8 there are four, each with its active metaslabs
 *            2. weights are made of what can be taken now, whether the map is in memory or not; for
 *               those that are not, ZFS has counts that miss what has grown together since
 *            3. a block of n copies that must be cut has n headers, not n + 1
 *            4. in 2.2 a metaslab's own map is as long as its free runs need: when the log of all
 *               changes is written out to it (spa_flush_metaslabs()) is not modelled
 */
#include "machine/model/fs/zfs_space.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/model/fs/zfs_metaslab.h"

enum {
	UNIT_SHIFT = 12,
	/* VDEV_LABEL_START_SIZE, VDEV_LABEL_END_SIZE */
	START_BYTES = 4 << 20,
	END_BYTES = 512 << 10,
	/* metaslabs_per_vdev of 0.7, zfs_vdev_default_ms_count, _min_ms_count */
	METASLABS = 200,
	METASLABS_LEAST = 16,
	METASLAB_SHIFT_MIN = 24, /* SPA_MAXBLOCKSHIFT */
	METASLAB_SHIFT_MAX = 34, /* zfs_vdev_max_ms_shift */
	/* zfs_embedded_slog_min_ms */
	LOG_METASLABS_MIN = 64,
	SWITCH_THRESHOLD = 2, /* zfs_metaslab_switch_threshold */
	DEFER_TXGS = 2,       /* TXG_DEFER_SIZE */
	SLOP_SHIFT = 5,       /* spa_slop_shift */
	DISTANCE_SHIFT = 3,   /* ditto_same_vdev_distance_shift */
	GANG_POINTERS = 3,    /* SPA_GBH_NBLKPTRS */
	/* Entries of a space map: of one word; with a device's number, of two. */
	MAP_ENTRY_BYTES = 8,
	MAP_ENTRY_LONG_BYTES = 16,
	CONDENSE_TIMES = 2,  /* zfs_condense_pct */
	CONDENSE_BLOCKS = 4, /* zfs_metaslab_condense_block_threshold */
};

#define NONE UINT32_MAX

struct zfs_space {
	const struct zfs_space_rules *rules;
	struct metaslab *metaslabs;
	uint32_t *order; /* metaslabs, the one to choose first in front */
	uint32_t metaslab_count, metaslab_units, shift; /* units of each; log2 */
	uint32_t log;                                   /* NONE: there is none */
	uint64_t free_units, deferred_units;
	uint64_t txg, asks, now_ns;
	ARRAY(struct zfs_extent) freed[DEFER_TXGS + 1]; /* [0]: in the present group */
	size_t freed_counted;                           /* of freed[0]: given_runs has them */
	ARRAY(struct zfs_space_load) loads;
	size_t loads_told;
	uint32_t maps_told;
	struct zfs_space_work work;
};

/* ---- the order of choice ---- */

static bool comes_before(const struct zfs_space *space, uint32_t a, uint32_t b)
{
	const struct metaslab *one = &space->metaslabs[a], *other = &space->metaslabs[b];

	if (one->turn != other->turn)
		return one->turn > other->turn;
	if (one->weight != other->weight)
		return one->weight > other->weight;
	return a < b;
}

/* metaslab_group_sort(): it has another turn or weight. */
static void rank(struct zfs_space *space, uint32_t id)
{
	uint32_t at = space->metaslabs[id].rank;

	for (; at > 0 && comes_before(space, id, space->order[at - 1]); at--) {
		space->order[at] = space->order[at - 1];
		space->metaslabs[space->order[at]].rank = at;
	}
	for (; at + 1 < space->metaslab_count && comes_before(space, space->order[at + 1], id);
	     at++) {
		space->order[at] = space->order[at + 1];
		space->metaslabs[space->order[at]].rank = at;
	}
	space->order[at] = id;
	space->metaslabs[id].rank = at;
}

static void turn_end(struct zfs_space *space, uint32_t id)
{
	struct metaslab *metaslab = &space->metaslabs[id];

	metaslab->turn = METASLAB_PASSIVE;
	metaslab->weight = metaslab_weight(metaslab);
	rank(space, id);
}

static void load(struct zfs_space *space, uint32_t id, bool is_ahead)
{
	struct metaslab *metaslab = &space->metaslabs[id];

	metaslab->selected_txg = space->txg;
	metaslab->selected_ns = space->now_ns;
	if (metaslab->is_loaded)
		return;
	metaslab->is_loaded = true;
	space->work.loads += !is_ahead;
	space->work.loads_ahead += is_ahead;
	space->work.loaded +=
		zfs_space_map_bytes(space, id) /
		(space->rules->map_block_bytes ? MAP_ENTRY_BYTES : MAP_ENTRY_LONG_BYTES);
	*array_push(&space->loads) = (struct zfs_space_load){id, is_ahead};
}

/* ---- life ---- */

static uint32_t highest_bit(uint64_t value)
{
	return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

/* vdev_metaslab_set_size() */
static uint32_t metaslab_shift(uint64_t bytes, const struct zfs_space_rules *rules, uint32_t most)
{
	uint64_t count = rules->metaslab_shift ? bytes >> rules->metaslab_shift : UINT64_MAX;
	uint32_t shift = count > most              ? highest_bit(bytes / most)
			 : count < METASLABS_LEAST ? highest_bit(bytes / METASLABS_LEAST)
						   : rules->metaslab_shift;

	return shift < METASLAB_SHIFT_MIN   ? METASLAB_SHIFT_MIN
	       : shift > METASLAB_SHIFT_MAX ? METASLAB_SHIFT_MAX
					    : shift;
}

struct zfs_space *zfs_space_create(uint64_t device_bytes, const struct zfs_space_rules *rules,
				   uint32_t metaslabs)
{
	struct zfs_space *space;
	uint64_t bytes;
	uint32_t shift;

	if (device_bytes < UINT64_C(64) << 20 || device_bytes > UINT64_C(8) << 40)
		return NULL;
	bytes = device_bytes - START_BYTES - END_BYTES;
	shift = metaslab_shift(bytes, rules, metaslabs ? metaslabs : METASLABS);
	if (bytes >> shift == 0)
		return NULL;
	space = memory_alloc(1, sizeof(*space));
	space->rules = rules;
	space->shift = shift - UNIT_SHIFT;
	space->metaslab_units = 1u << space->shift;
	space->metaslab_count = (uint32_t)(bytes >> shift);
	space->metaslabs = memory_alloc(space->metaslab_count, sizeof(*space->metaslabs));
	space->order = memory_alloc(space->metaslab_count, sizeof(*space->order));
	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		metaslab_init(&space->metaslabs[i], space->metaslab_units);
		space->metaslabs[i].weight = metaslab_weight(&space->metaslabs[i]);
		space->metaslabs[i].rank = space->order[i] = i;
	}
	space->free_units = (uint64_t)space->metaslab_count << space->shift;
	space->log = rules->has_log_metaslab && space->metaslab_count >= LOG_METASLABS_MIN
			     ? space->metaslab_count / 2
			     : NONE;
	return space;
}

void zfs_space_destroy(struct zfs_space *space)
{
	if (!space)
		return;
	for (uint32_t i = 0; i < space->metaslab_count; i++)
		metaslab_deinit(&space->metaslabs[i]);
	for (int i = 0; i <= DEFER_TXGS; i++)
		array_deinit(&space->freed[i]);
	array_deinit(&space->loads);
	memory_free(space->metaslabs);
	memory_free(space->order);
	memory_free(space);
}

/* ---- allocation ---- */

static uint32_t metaslab_of(const struct zfs_space *space, uint32_t at)
{
	return (at - (START_BYTES >> UNIT_SHIFT)) >> space->shift;
}

/* metaslab_distance(), metaslab_is_unique(): it is far enough from the copies before. */
static bool is_elsewhere(const struct zfs_space *space, uint32_t id,
			 const struct zfs_space_ask *ask)
{
	uint64_t distance = (uint64_t)space->metaslab_count << space->shift >> DISTANCE_SHIFT;

	if (distance <= space->metaslab_units)
		distance = 0;
	if (space->metaslabs[id].free_units == space->metaslab_units)
		distance += distance / 2;
	for (uint32_t i = 0; i < ask->other_count; i++) {
		uint32_t other = metaslab_of(space, ask->others[i]);
		uint64_t apart = (uint64_t)(other < id ? id - other : other - id) << space->shift;

		if (space->rules->copies_are_far ? apart < distance : other == id)
			return false;
	}
	return true;
}

/*
 * metaslab_should_allocate(): of one that is not in memory only the longest run's log2 is known, so
 * that it may be loaded for nothing.
 */
static bool may_have_room(const struct zfs_space *space, const struct metaslab *metaslab,
			  uint32_t units)
{
	if (metaslab->tried == space->asks || metaslab->free_units < units)
		return false;
	if (metaslab->is_loaded)
		return metaslab_has_run(metaslab, units);
	return metaslab->weight != 0 && (uint64_t)units < UINT64_C(2) << (metaslab->weight >> 32);
}

/* NONE: no metaslab is left to try. `anywhere`: the distance of copies matters no more. */
static uint32_t choose(struct zfs_space *space, const struct zfs_space_ask *ask, bool anywhere)
{
	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		uint32_t id = space->order[i];
		const struct metaslab *metaslab = &space->metaslabs[id];

		if (id == space->log)
			continue;
		if (!may_have_room(space, metaslab, ask->units)) {
			/* Versions differ: does its turn end because one block is too long? */
			if (space->rules->stays_active || ask->other_count > 0 ||
			    metaslab->turn != METASLAB_PRIMARY)
				continue;
			turn_end(space, id);
			return choose(space, ask, anywhere);
		}
		if (anywhere || is_elsewhere(space, id, ask))
			return id;
	}
	return NONE;
}

/* metaslab_activate() */
static void turn_begin(struct zfs_space *space, uint32_t id, enum metaslab_turn turn)
{
	struct metaslab *metaslab = &space->metaslabs[id];

	load(space, id, false);
	if (metaslab->turn == turn || metaslab->turn == METASLAB_PRIMARY)
		return;
	metaslab->turn = turn;
	metaslab->active_bucket = (uint32_t)(metaslab->weight >> 32);
	rank(space, id);
}

static struct zfs_extent place(struct zfs_space *space, uint32_t id, uint32_t at, uint32_t units)
{
	metaslab_take(&space->metaslabs[id], at, units);
	space->free_units -= units;
	space->work.allocations++;
	return (struct zfs_extent){
		.at = (START_BYTES >> UNIT_SHIFT) + (id << space->shift) + at,
		.units = units,
	};
}

static bool allocate_in(struct zfs_space *space, uint32_t id, const struct zfs_space_ask *ask,
			struct zfs_extent *piece)
{
	struct metaslab *metaslab = &space->metaslabs[id];
	uint32_t at = metaslab_pick(metaslab, space->rules, ask->units, &space->work);

	if (at == METASLAB_NOWHERE)
		return false;
	*piece = place(space, id, at, ask->units);
	return true;
}

static bool allocate_whole(struct zfs_space *space, const struct zfs_space_ask *ask,
			   struct zfs_extent *piece)
{
	enum metaslab_turn turn = ask->other_count ? METASLAB_SECONDARY : METASLAB_PRIMARY;

	if (ask->use == ZFS_SPACE_LOG && space->log != NONE &&
	    allocate_in(space, space->log, ask, piece))
		return true;
	for (int anywhere = ask->other_count == 0; anywhere < 2; anywhere++) {
		uint32_t id;

		space->asks++;
		while ((id = choose(space, ask, anywhere)) != NONE) {
			struct metaslab *metaslab = &space->metaslabs[id];

			turn_begin(space, id, turn);
			if (allocate_in(space, id, ask, piece)) {
				if (metaslab_bucket(metaslab) + SWITCH_THRESHOLD <=
				    metaslab->active_bucket)
					turn_end(space, id);
				return true;
			}
			metaslab->tried = space->asks;
			turn_end(space, id);
		}
	}
	return false;
}

static uint32_t allocate_cut(struct zfs_space *space, const struct zfs_space_ask *ask,
			     struct zfs_extent *pieces, uint32_t room);

static uint32_t allocate_part(struct zfs_space *space, const struct zfs_space_ask *ask,
			      struct zfs_extent *pieces, uint32_t room)
{
	if (room == 0)
		return 0;
	if (allocate_whole(space, ask, pieces))
		return 1;
	return ask->units > 1 ? allocate_cut(space, ask, pieces, room) : 0;
}

/* zio_write_gang_block(): a header, and three parts. */
static uint32_t allocate_cut(struct zfs_space *space, const struct zfs_space_ask *ask,
			     struct zfs_extent *pieces, uint32_t room)
{
	struct zfs_space_ask part = *ask;
	uint32_t count = 0, left = ask->units;

	part.units = 1;
	space->work.ganged++;
	if (room > 0 && allocate_whole(space, &part, pieces))
		count = 1;
	for (uint32_t i = 0; count > 0 && left > 0; i++) {
		uint32_t more;

		part.units = (left + GANG_POINTERS - i - 1) / (GANG_POINTERS - i);
		more = allocate_part(space, &part, pieces + count, room - count);
		left -= part.units;
		if (more == 0) {
			while (count > 0) {
				count--;
				zfs_space_free(space, pieces[count].at, pieces[count].units);
			}
		} else {
			count += more;
		}
	}
	return count;
}

uint32_t zfs_space_allocate(struct zfs_space *space, const struct zfs_space_ask *ask,
			    struct zfs_extent pieces[ZFS_PIECES_MAX])
{
	assert(ask->units > 0 && ask->units <= space->metaslab_units);
	if (allocate_whole(space, ask, pieces))
		return 1;
	if (ask->use == ZFS_SPACE_LOG) {
		space->work.log_failures++;
		return 0;
	}
	if (space->free_units < ask->units || ask->units == 1)
		return 0;
	return allocate_cut(space, ask, pieces, ZFS_PIECES_MAX);
}

/* ---- freeing ---- */

void zfs_space_free(struct zfs_space *space, uint32_t at, uint32_t units)
{
	struct zfs_extent *last = space->freed[0].count > space->freed_counted
					  ? &space->freed[0].at[space->freed[0].count - 1]
					  : NULL;

	assert(at >= START_BYTES >> UNIT_SHIFT && units > 0);
	space->deferred_units += units;
	if (last && last->at + last->units == at &&
	    metaslab_of(space, last->at) == metaslab_of(space, at))
		last->units += units;
	else
		*array_push(&space->freed[0]) = (struct zfs_extent){at, units};
}

static int by_place(const void *a, const void *b)
{
	const struct zfs_extent *one = a, *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

/* What the space maps will have to say of what was freed: runs, as they lie together. */
static void freed_count(struct zfs_space *space)
{
	const struct zfs_extent *last = NULL;
	size_t count = space->freed[0].count - space->freed_counted;

	if (count > 1)
		qsort(space->freed[0].at + space->freed_counted, count,
		      sizeof(space->freed[0].at[0]), by_place);
	for (; space->freed_counted < space->freed[0].count; space->freed_counted++) {
		const struct zfs_extent *run = &space->freed[0].at[space->freed_counted];
		uint32_t id = metaslab_of(space, run->at);

		if (!last || last->at + last->units != run->at ||
		    metaslab_of(space, last->at) != id)
			space->metaslabs[id].given_runs++;
		last = run;
	}
}

static void give_back(struct zfs_space *space, struct zfs_extent run)
{
	uint32_t id = metaslab_of(space, run.at);

	run.at -= START_BYTES >> UNIT_SHIFT;
	metaslab_give(&space->metaslabs[id], run.at & (space->metaslab_units - 1), run.units);
	space->free_units += run.units;
	space->deferred_units -= run.units;
}

static uint64_t slop_bytes(const struct zfs_space *space)
{
	/* spa_get_slop_space(): a 32nd, 128 MiB at least (but no more than half), 128 GiB at most. */
	uint64_t total = zfs_space_total_bytes(space), slop = total >> SLOP_SHIFT;
	uint64_t least = total / 2 < 128 * MIB ? total / 2 : 128 * MIB;

	return slop > 128 * GIB ? 128 * GIB : slop < least ? least : slop;
}

static void freed_give_back(struct zfs_space *space, int list)
{
	for (size_t i = 0; i < space->freed[list].count; i++)
		give_back(space, space->freed[list].at[i]);
	space->freed[list].count = 0;
}

static void metaslabs_reassess(struct zfs_space *space)
{
	for (uint32_t id = 0; id < space->metaslab_count; id++) {
		struct metaslab *metaslab = &space->metaslabs[id];

		if (metaslab->has_changed) {
			metaslab->weight = metaslab_weight(metaslab);
			metaslab->has_changed = false;
		}
		if (metaslab->is_loaded && id != space->log &&
		    space->txg - metaslab->selected_txg > space->rules->unload_txgs &&
		    space->now_ns - metaslab->selected_ns >= space->rules->unload_ns) {
			metaslab->is_loaded = false;
			metaslab->turn = METASLAB_PASSIVE;
		}
		rank(space, id);
	}
	for (uint32_t i = 0, left = space->rules->preloads; i < space->metaslab_count && left > 0;
	     i++) {
		if (space->order[i] == space->log)
			continue;
		load(space, space->order[i], true);
		left--;
	}
}

void zfs_space_txg_end(struct zfs_space *space, uint64_t now_ns)
{
	typeof(space->freed[0]) oldest;

	freed_count(space);
	freed_give_back(space, DEFER_TXGS);
	oldest = space->freed[DEFER_TXGS];
	for (int i = DEFER_TXGS; i > 0; i--)
		space->freed[i] = space->freed[i - 1];
	space->freed[0] = oldest;
	space->freed_counted = 0;
	/* defer_allowed of metaslab_sync_done(): not if only slop is left. */
	if (zfs_space_free_bytes(space) <= slop_bytes(space))
		freed_give_back(space, 1);
	space->txg++;
	space->now_ns = now_ns;
	metaslabs_reassess(space);
}

/* ---- space maps ---- */

bool zfs_space_load_next(struct zfs_space *space, struct zfs_space_load *next)
{
	if (space->loads_told == space->loads.count) {
		space->loads_told = space->loads.count = 0;
		return false;
	}
	*next = space->loads.at[space->loads_told++];
	return true;
}

uint64_t zfs_space_map_bytes(const struct zfs_space *space, uint32_t id)
{
	const struct metaslab *metaslab = &space->metaslabs[id];

	return space->rules->map_block_bytes ? metaslab->map_entries * MAP_ENTRY_BYTES
					     : (uint64_t)metaslab->run_count * MAP_ENTRY_LONG_BYTES;
}

/* metaslab_should_condense() */
static bool should_condense(const struct zfs_space *space, const struct metaslab *metaslab)
{
	uint64_t bytes = metaslab->map_entries * MAP_ENTRY_BYTES;

	return metaslab->is_loaded &&
	       metaslab->map_entries >= (uint64_t)metaslab->run_count * CONDENSE_TIMES &&
	       bytes > (uint64_t)space->rules->map_block_bytes * CONDENSE_BLOCKS;
}

bool zfs_space_map_next(struct zfs_space *space, struct zfs_space_map *map)
{
	if (space->maps_told == 0)
		freed_count(space);
	while (space->maps_told < space->metaslab_count) {
		uint32_t id = space->maps_told++;
		struct metaslab *metaslab = &space->metaslabs[id];
		uint64_t entries = metaslab->map_entries;

		if (metaslab->taken_runs == 0 && metaslab->given_runs == 0)
			continue;
		*map = (struct zfs_space_map){.metaslab = id};
		map->is_new = should_condense(space, metaslab);
		/* Each of the two kinds of changes begins with an entry that says when. */
		if (map->is_new)
			metaslab->map_entries = metaslab->run_count + 2;
		else
			metaslab->map_entries += metaslab->taken_runs + metaslab->given_runs +
						 (metaslab->taken_runs > 0) +
						 (metaslab->given_runs > 0);
		metaslab->taken_runs = metaslab->given_runs = 0;
		map->from_bytes = map->is_new ? 0 : entries * MAP_ENTRY_BYTES;
		map->to_bytes = metaslab->map_entries * MAP_ENTRY_BYTES;
		return true;
	}
	space->maps_told = 0;
	return false;
}

uint64_t zfs_space_changes(struct zfs_space *space)
{
	uint64_t changes = 0;

	freed_count(space);
	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		struct metaslab *metaslab = &space->metaslabs[i];

		changes += metaslab->taken_runs + metaslab->given_runs;
		metaslab->taken_runs = metaslab->given_runs = 0;
	}
	return changes;
}

/* ---- figures ---- */

uint64_t zfs_space_total_bytes(const struct zfs_space *space)
{
	return ((uint64_t)space->metaslab_count << space->shift) * ZFS_UNIT_BYTES;
}

uint64_t zfs_space_free_bytes(const struct zfs_space *space)
{
	return (space->free_units + space->deferred_units) * ZFS_UNIT_BYTES;
}

uint64_t zfs_space_usable_bytes(const struct zfs_space *space)
{
	uint64_t free = zfs_space_free_bytes(space), slop = slop_bytes(space);

	return free > slop ? free - slop : 0;
}

const struct zfs_space_work *zfs_space_work(const struct zfs_space *space)
{
	return &space->work;
}

uint64_t zfs_space_runs(const struct zfs_space *space, uint32_t units)
{
	uint64_t runs = 0;

	for (uint32_t i = 0; i < space->metaslab_count; i++)
		runs += metaslab_runs(&space->metaslabs[i], units);
	return runs;
}

uint64_t zfs_space_mean_run_bytes(const struct zfs_space *space)
{
	uint64_t runs = zfs_space_runs(space, 1);

	return runs ? space->free_units * ZFS_UNIT_BYTES / runs : 0;
}

/* zfs_frag_table: 100 for runs of 512 bytes to 0 for 16 MiB; those of a unit and more */
uint32_t zfs_space_fragmentation_percent(const struct zfs_space *space)
{
	static const uint8_t weights[] = {95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0};
	enum { LAST = sizeof(weights) - 1 };
	uint64_t sum = 0, total = 0;

	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		const struct metaslab *metaslab = &space->metaslabs[i];

		for (uint32_t bucket = 0; bucket < METASLAB_BUCKETS; bucket++) {
			uint64_t runs = metaslab->long_runs[bucket], units;

			for (uint32_t n = 1u << bucket; n < METASLAB_SHORT && n < 2u << bucket; n++)
				runs += metaslab->short_runs[n];
			/* The table's sum takes a run for its power of two. */
			units = runs << bucket;
			total += units;
			sum += units * weights[bucket < LAST ? bucket : LAST];
		}
	}
	return total ? (uint32_t)(sum / total) : 0;
}

bool zfs_space_has_log(const struct zfs_space *space)
{
	return space->log != NONE;
}

uint32_t zfs_space_metaslab_count(const struct zfs_space *space)
{
	return space->metaslab_count;
}

uint64_t zfs_space_memory_bytes(const struct zfs_space *space)
{
	uint64_t units = (uint64_t)space->metaslab_count << space->shift;
	uint64_t bytes = sizeof(*space) + space->metaslab_count * sizeof(*space->metaslabs) +
			 units / 8 + units / 64 / 8 * 2;

	for (int i = 0; i <= DEFER_TXGS; i++)
		bytes += space->freed[i].capacity * sizeof(struct zfs_extent);
	return bytes;
}

void zfs_space_check(const struct zfs_space *space)
{
	uint64_t free = 0, deferred = 0;

	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		metaslab_check(&space->metaslabs[i]);
		free += space->metaslabs[i].free_units;
		assert(space->order[space->metaslabs[i].rank] == i);
		assert(i == 0 || !comes_before(space, space->order[i], space->order[i - 1]));
	}
	for (int i = 0; i <= DEFER_TXGS; i++)
		for (size_t at = 0; at < space->freed[i].count; at++)
			deferred += space->freed[i].at[at].units;
	assert(free == space->free_units && deferred == space->deferred_units);
}
