/*
 * zfs_space: the metaslab allocator
 *
 * Idea       One metaslab is active: the one with the longest free runs. In it, from where the last
 *            block of this alignment was put, the next free segment that is long enough, at most
 *            16 MiB on; else, or when little is free, the smallest that fits. A metaslab whose
 *            longest runs have become a quarter of what they were, or where nothing fits, is left
 *            for the next best. Fresh pools are filled in order; old ones in scattered pieces.
 * Source     OpenZFS 2.2.0 module/zfs/metaslab.c: metaslab_df_alloc(), metaslab_block_picker(),
 *            metaslab_segment_weight(), metaslab_segment_may_passivate(), metaslab_sync_done()
 *            (TXG_DEFER_SIZE); module/zfs/vdev.c: vdev_metaslab_set_size(); module/zfs/spa.c:
 *            embedded log metaslab, spa_get_slop_space()
 * Differs    1. one allocator, where 2.2 has up to four, each with its active metaslab
 *            2. weights are made anew when a group is synced, for metaslabs that changed
 *            3. the smallest segment that fits is looked for among the 4096 smallest of the first
 *               power of two that has any; the list is made when the one before is used up
 *            4. a block that must be cut is cut in halves; the header of its parts is left out
 */
#include "machine/model/fs/zfs_space.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/size.h"

enum {
	UNIT_SHIFT = 12,
	/* VDEV_LABEL_START_SIZE, VDEV_LABEL_END_SIZE */
	START_BYTES = 4 << 20,
	END_BYTES = 512 << 10,
	/* zfs_vdev_default_ms_shift, _default_ms_count, _min_ms_count */
	METASLAB_SHIFT_DEFAULT = 29,
	METASLABS_MOST = 200,
	METASLABS_LEAST = 16,
	METASLAB_SHIFT_MIN = 24,
	METASLAB_SHIFT_MAX = 34,
	/* zfs_embedded_slog_min_ms */
	LOG_METASLABS_MIN = 64,
	/* metaslab_df_alloc_threshold, _free_pct, _max_search; metaslab_min_search_count */
	RUN_MIN_UNITS = (128 << 10) >> UNIT_SHIFT,
	FREE_MIN_PERCENT = 4,
	SEARCH_UNITS = (16 << 20) >> UNIT_SHIFT,
	SEARCH_SEGMENTS = 100,
	SWITCH_THRESHOLD = 2, /* zfs_metaslab_switch_threshold */
	UNLOAD_TXGS = 32,     /* metaslab_unload_delay */
	DEFER_TXGS = 2,       /* TXG_DEFER_SIZE */
	SLOP_SHIFT = 5,       /* spa_slop_shift */
	/* A segment's two ends in a space map: two words of 8 bytes. */
	MAP_ENTRY_BYTES = 16,
	BUCKETS = 24,
	CURSORS = 24,
	SIZED_MOST = 4096,
};

struct metaslab {
	uint64_t *used; /* a bit a unit */
	uint32_t free_units;
	uint32_t run_most; /* no free run is longer; may be less */
	uint32_t cursor[CURSORS];
	uint32_t histogram[BUCKETS]; /* free runs by log2 of their length, at the last weighing */
	uint32_t weight;             /* bucket of the longest << 24 | how many of them */
	uint32_t weight_active;      /* when it became active */
	uint64_t used_txg;           /* loaded if this is not long ago */
	bool is_loaded, has_changed;
	ARRAY(struct zfs_extent) sized; /* by length, for best fits; from `sized_next` */
	size_t sized_next;
	uint32_t sized_units; /* what it was made for */
};

struct zfs_space {
	struct metaslab *metaslabs;
	uint32_t metaslab_count, metaslab_units, shift; /* units of each; log2 */
	uint32_t active, log;                           /* the log's is UINT32_MAX: none */
	uint64_t free_units;
	uint64_t deferred_units;
	uint64_t txg;
	ARRAY(struct zfs_extent) freed[DEFER_TXGS + 1]; /* [0]: in the present group */
	struct zfs_space_work work;
	uint64_t map_bytes; /* of the metaslab loaded last */
};

/* ---- bits ---- */

/* The first unit from `at` on, before `end`, that is free (or used); `end` if there is none. */
static uint32_t find_bit_before(const struct metaslab *metaslab, uint32_t at, uint32_t end,
				bool is_used)
{
	uint64_t flip = is_used ? 0 : UINT64_MAX;

	while (at < end) {
		uint64_t word = (metaslab->used[at / 64] ^ flip) >> (at % 64);

		if (word) {
			at += (uint32_t)__builtin_ctzll(word);
			break;
		}
		at = (at / 64 + 1) * 64;
	}
	return at < end ? at : end;
}

static uint32_t find_bit(const struct zfs_space *space, const struct metaslab *metaslab,
			 uint32_t at, bool is_used)
{
	return find_bit_before(metaslab, at, space->metaslab_units, is_used);
}

/* Where the free run at `at` ends, but no farther than `units` on: that is enough. */
static uint32_t run_end(const struct zfs_space *space, const struct metaslab *metaslab, uint32_t at,
			uint32_t units)
{
	uint32_t end = space->metaslab_units - at < units ? space->metaslab_units : at + units;

	return find_bit_before(metaslab, at, end, true);
}

static void set_bits(struct metaslab *metaslab, uint32_t at, uint32_t units, bool is_used)
{
	while (units > 0) {
		uint32_t first = at % 64, count = units < 64 - first ? units : 64 - first;
		uint64_t mask = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
		uint64_t *word = &metaslab->used[at / 64];

		assert((*word & mask) == (is_used ? 0 : mask));
		*word ^= mask;
		at += count;
		units -= count;
	}
}

static uint32_t bucket_of(uint32_t units)
{
	return 31 - (uint32_t)__builtin_clz(units);
}

/* metaslab_segment_weight(): all free runs are counted. */
static void weigh(const struct zfs_space *space, struct metaslab *metaslab)
{
	uint32_t at = find_bit(space, metaslab, 0, false), end;

	for (int i = 0; i < BUCKETS; i++)
		metaslab->histogram[i] = 0;
	metaslab->run_most = 0;
	for (; at < space->metaslab_units; at = find_bit(space, metaslab, end, false)) {
		end = find_bit(space, metaslab, at, true);
		metaslab->histogram[bucket_of(end - at)]++;
		if (end - at > metaslab->run_most)
			metaslab->run_most = end - at;
	}
	metaslab->weight = 0;
	for (uint32_t i = BUCKETS; i-- > 0 && !metaslab->weight;)
		if (metaslab->histogram[i])
			metaslab->weight = (i + 1) << 24 | metaslab->histogram[i];
	metaslab->has_changed = false;
}

/* ---- life ---- */

static uint32_t highest_bit(uint64_t value)
{
	return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

struct zfs_space *zfs_space_create(uint64_t device_bytes)
{
	struct zfs_space *space;
	uint64_t bytes, count;
	uint32_t shift;

	if (device_bytes < UINT64_C(64) << 20 || device_bytes > UINT64_C(8) << 40)
		return NULL;
	bytes = device_bytes - START_BYTES - END_BYTES;
	count = bytes >> METASLAB_SHIFT_DEFAULT;
	shift = count < METASLABS_LEAST  ? highest_bit(bytes / METASLABS_LEAST)
		: count > METASLABS_MOST ? highest_bit(bytes / METASLABS_MOST)
					 : METASLAB_SHIFT_DEFAULT;
	shift = shift < METASLAB_SHIFT_MIN   ? METASLAB_SHIFT_MIN
		: shift > METASLAB_SHIFT_MAX ? METASLAB_SHIFT_MAX
					     : shift;
	if (bytes >> shift == 0)
		return NULL;
	space = memory_alloc(1, sizeof(*space));
	space->shift = shift - UNIT_SHIFT;
	space->metaslab_units = 1u << space->shift;
	space->metaslab_count = (uint32_t)(bytes >> shift);
	space->metaslabs = memory_alloc(space->metaslab_count, sizeof(*space->metaslabs));
	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		struct metaslab *metaslab = &space->metaslabs[i];

		metaslab->used = memory_alloc(space->metaslab_units / 64, sizeof(uint64_t));
		metaslab->free_units = space->metaslab_units;
		weigh(space, metaslab);
	}
	space->free_units = (uint64_t)space->metaslab_count << space->shift;
	space->active = UINT32_MAX;
	space->log =
		space->metaslab_count >= LOG_METASLABS_MIN ? space->metaslab_count / 2 : UINT32_MAX;
	return space;
}

void zfs_space_destroy(struct zfs_space *space)
{
	if (!space)
		return;
	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		memory_free(space->metaslabs[i].used);
		array_deinit(&space->metaslabs[i].sized);
	}
	for (int i = 0; i <= DEFER_TXGS; i++)
		array_deinit(&space->freed[i]);
	memory_free(space->metaslabs);
	memory_free(space);
}

/* ---- allocation in one metaslab ---- */

enum { NOWHERE = UINT32_MAX };

static uint32_t cursor_of(uint32_t units)
{
	return (uint32_t)__builtin_ctz(units);
}

/* metaslab_block_picker() */
static uint32_t pick(struct zfs_space *space, struct metaslab *metaslab, uint32_t units)
{
	uint32_t *cursor = &metaslab->cursor[cursor_of(units)];
	uint32_t at = find_bit(space, metaslab, *cursor, false), first = at, searched = 0;

	while (at < space->metaslab_units &&
	       (at - first <= SEARCH_UNITS || searched < SEARCH_SEGMENTS)) {
		uint32_t end = run_end(space, metaslab, at, units);

		space->work.searched++;
		if (end - at >= units) {
			*cursor = at + units;
			return at;
		}
		at = find_bit(space, metaslab, end, false);
		searched++;
	}
	*cursor = 0;
	return NOWHERE;
}

static int by_length(const void *a, const void *b)
{
	const struct zfs_extent *one = a, *other = b;

	if (one->units != other->units)
		return one->units < other->units ? -1 : 1;
	return one->at < other->at ? -1 : one->at > other->at;
}

/* The free runs of the lowest power of two that has one of `units` or more. */
static void sized_fill(struct zfs_space *space, struct metaslab *metaslab, uint32_t units)
{
	uint32_t best = BUCKETS, at = find_bit(space, metaslab, 0, false), end;

	metaslab->sized.count = metaslab->sized_next = 0;
	metaslab->run_most = 0;
	for (; at < space->metaslab_units; at = find_bit(space, metaslab, end, false)) {
		uint32_t bucket;

		end = find_bit(space, metaslab, at, true);
		space->work.sorted++;
		if (end - at > metaslab->run_most)
			metaslab->run_most = end - at;
		bucket = bucket_of(end - at);
		if (end - at < units || bucket > best)
			continue;
		if (bucket < best)
			metaslab->sized.count = 0;
		best = bucket;
		if (metaslab->sized.count < SIZED_MOST)
			*array_push(&metaslab->sized) = (struct zfs_extent){at, end - at};
	}
	if (metaslab->sized.count > 1)
		qsort(metaslab->sized.at, metaslab->sized.count, sizeof(metaslab->sized.at[0]),
		      by_length);
}

/* Is this run still there, as long as it was or at least long enough? */
static bool is_free(const struct zfs_space *space, const struct metaslab *metaslab, uint32_t at,
		    uint32_t units)
{
	return !(metaslab->used[at / 64] >> (at % 64) & 1) &&
	       run_end(space, metaslab, at, units) - at >= units;
}

/* The smallest segment that fits. */
static uint32_t pick_by_size(struct zfs_space *space, struct metaslab *metaslab, uint32_t units)
{
	bool is_new = false;

	space->work.best_fits++;
	for (;;) {
		/* A list for longer runs leaves out those that would do now. */
		if (metaslab->sized_next == metaslab->sized.count ||
		    units < metaslab->sized_units) {
			if (is_new || units > metaslab->run_most)
				return NOWHERE;
			sized_fill(space, metaslab, units);
			metaslab->sized_units = units;
			is_new = true;
		}
		while (metaslab->sized_next < metaslab->sized.count) {
			struct zfs_extent *run = &metaslab->sized.at[metaslab->sized_next];
			uint32_t at = run->at;

			if (run->units < units || !is_free(space, metaslab, at, units)) {
				metaslab->sized_next++;
				continue;
			}
			/* What is left is the shortest now: it stays in front. */
			run->at += units;
			run->units -= units;
			return at;
		}
	}
}

static void take(struct zfs_space *space, struct metaslab *metaslab, uint32_t at, uint32_t units)
{
	set_bits(metaslab, at, units, true);
	metaslab->free_units -= units;
	metaslab->has_changed = true;
	metaslab->used_txg = space->txg;
	space->free_units -= units;
}

/* metaslab_df_alloc() */
static uint32_t allocate_in(struct zfs_space *space, struct metaslab *metaslab, uint32_t units)
{
	uint32_t at = NOWHERE;

	if (metaslab->free_units < units || metaslab->run_most < units)
		return NOWHERE;
	if (metaslab->run_most >= RUN_MIN_UNITS &&
	    (uint64_t)metaslab->free_units * 100 >=
		    (uint64_t)space->metaslab_units * FREE_MIN_PERCENT)
		at = pick(space, metaslab, units);
	if (at == NOWHERE) {
		at = pick_by_size(space, metaslab, units);
		if (at == NOWHERE) {
			/* As the search has just shown. */
			if (metaslab->run_most >= units)
				metaslab->run_most = units - 1;
			return NOWHERE;
		}
		metaslab->cursor[cursor_of(units)] = at + units;
	}
	take(space, metaslab, at, units);
	return at;
}

/* ---- which metaslab ---- */

static void load(struct zfs_space *space, struct metaslab *metaslab)
{
	uint64_t segments = 0;

	if (metaslab->is_loaded)
		return;
	metaslab->is_loaded = true;
	metaslab->used_txg = space->txg;
	if (metaslab->has_changed)
		weigh(space, metaslab);
	for (int i = 0; i < BUCKETS; i++)
		segments += metaslab->histogram[i];
	space->work.loads++;
	space->work.loaded += segments;
	space->map_bytes = segments * MAP_ENTRY_BYTES;
}

/* The best that can have such a run; NULL: none can. */
static uint32_t best_metaslab(const struct zfs_space *space, uint32_t units)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		const struct metaslab *metaslab = &space->metaslabs[i];

		if (i == space->log || metaslab->run_most < units || metaslab->free_units < units)
			continue;
		if (best == UINT32_MAX || metaslab->weight > space->metaslabs[best].weight)
			best = i;
	}
	return best;
}

static struct zfs_extent place(struct zfs_space *space, uint32_t metaslab, uint32_t at,
			       uint32_t units)
{
	return (struct zfs_extent){
		.at = (START_BYTES >> UNIT_SHIFT) + (metaslab << space->shift) + at,
		.units = units,
	};
}

static bool allocate_whole(struct zfs_space *space, uint32_t units, enum zfs_space_use use,
			   struct zfs_extent *piece)
{
	uint32_t at;

	if (use == ZFS_SPACE_LOG && space->log != UINT32_MAX) {
		at = allocate_in(space, &space->metaslabs[space->log], units);
		if (at != NOWHERE) {
			*piece = place(space, space->log, at, units);
			return true;
		}
	}
	for (;;) {
		if (space->active != UINT32_MAX) {
			at = allocate_in(space, &space->metaslabs[space->active], units);
			if (at != NOWHERE) {
				*piece = place(space, space->active, at, units);
				return true;
			}
		}
		space->active = best_metaslab(space, units);
		if (space->active == UINT32_MAX)
			return false;
		load(space, &space->metaslabs[space->active]);
		space->metaslabs[space->active].weight_active =
			space->metaslabs[space->active].weight;
	}
}

static uint32_t allocate_cut(struct zfs_space *space, uint32_t units, enum zfs_space_use use,
			     struct zfs_extent *pieces, uint32_t room)
{
	uint32_t first, second;

	if (room == 0)
		return 0;
	if (allocate_whole(space, units, use, pieces))
		return 1;
	if (units == 1)
		return 0;
	first = allocate_cut(space, units - units / 2, use, pieces, room - 1);
	if (first == 0)
		return 0;
	second = allocate_cut(space, units / 2, use, pieces + first, room - first);
	if (second > 0)
		return first + second;
	for (uint32_t i = 0; i < first; i++)
		zfs_space_free(space, pieces[i].at, pieces[i].units);
	return 0;
}

uint32_t zfs_space_allocate(struct zfs_space *space, uint32_t units, enum zfs_space_use use,
			    struct zfs_extent pieces[ZFS_PIECES_MAX])
{
	assert(units > 0 && units <= space->metaslab_units);
	space->work.allocations++;
	if (allocate_whole(space, units, use, pieces))
		return 1;
	if (space->free_units < units)
		return 0;
	space->work.ganged++;
	return allocate_cut(space, units, use, pieces, ZFS_PIECES_MAX);
}

/* ---- freeing ---- */

void zfs_space_free(struct zfs_space *space, uint32_t at, uint32_t units)
{
	struct zfs_extent *last =
		space->freed[0].count ? &space->freed[0].at[space->freed[0].count - 1] : NULL;

	assert(at >= START_BYTES >> UNIT_SHIFT && units > 0);
	space->deferred_units += units;
	if (last && last->at + last->units == at)
		last->units += units;
	else
		*array_push(&space->freed[0]) = (struct zfs_extent){at, units};
}

static void give_back(struct zfs_space *space, struct zfs_extent run)
{
	run.at -= START_BYTES >> UNIT_SHIFT;
	while (run.units > 0) {
		struct metaslab *metaslab = &space->metaslabs[run.at >> space->shift];
		uint32_t at = run.at & (space->metaslab_units - 1),
			 units = run.units < space->metaslab_units - at
					 ? run.units
					 : space->metaslab_units - at;

		set_bits(metaslab, at, units, false);
		metaslab->free_units += units;
		metaslab->has_changed = true;
		space->free_units += units;
		space->deferred_units -= units;
		run.at += units;
		run.units -= units;
	}
}

void zfs_space_txg_end(struct zfs_space *space)
{
	typeof(space->freed[0]) oldest = space->freed[DEFER_TXGS];

	for (size_t i = 0; i < oldest.count; i++)
		give_back(space, oldest.at[i]);
	for (int i = DEFER_TXGS; i > 0; i--)
		space->freed[i] = space->freed[i - 1];
	oldest.count = 0;
	space->freed[0] = oldest;
	space->txg++;
	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		struct metaslab *metaslab = &space->metaslabs[i];

		if (metaslab->has_changed) {
			weigh(space, metaslab);
			metaslab->sized.count = metaslab->sized_next = 0;
		}
		if (metaslab->is_loaded && i != space->active &&
		    space->txg - metaslab->used_txg > UNLOAD_TXGS)
			metaslab->is_loaded = false;
	}
	/* It has only short runs left, of those it was chosen for. */
	if (space->active != UINT32_MAX &&
	    (space->metaslabs[space->active].weight_active >> 24) >
		    (space->metaslabs[space->active].weight >> 24) + SWITCH_THRESHOLD)
		space->active = UINT32_MAX;
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

/* spa_get_slop_space(): a 32nd, 128 MiB at least (but no more than half), 128 GiB at most. */
uint64_t zfs_space_usable_bytes(const struct zfs_space *space)
{
	uint64_t total = zfs_space_total_bytes(space), slop = total >> SLOP_SHIFT;
	uint64_t least = total / 2 < 128 * MIB ? total / 2 : 128 * MIB;
	uint64_t free = zfs_space_free_bytes(space);

	slop = slop > 128 * GIB ? 128 * GIB : slop < least ? least : slop;
	return free > slop ? free - slop : 0;
}

const struct zfs_space_work *zfs_space_work(const struct zfs_space *space)
{
	return &space->work;
}

uint64_t zfs_space_map_bytes(const struct zfs_space *space)
{
	return space->map_bytes;
}

uint64_t zfs_space_mean_run_bytes(const struct zfs_space *space)
{
	uint64_t units = 0, runs = 0;

	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		const struct metaslab *metaslab = &space->metaslabs[i];
		uint32_t at = find_bit(space, metaslab, 0, false), end;

		for (; at < space->metaslab_units; at = find_bit(space, metaslab, end, false)) {
			end = find_bit(space, metaslab, at, true);
			units += end - at;
			runs++;
		}
	}
	return runs ? units * ZFS_UNIT_BYTES / runs : 0;
}

uint32_t zfs_space_metaslab_count(const struct zfs_space *space)
{
	return space->metaslab_count;
}

uint64_t zfs_space_memory_bytes(const struct zfs_space *space)
{
	uint64_t bytes = sizeof(*space) + space->metaslab_count * sizeof(*space->metaslabs) +
			 ((uint64_t)space->metaslab_count << space->shift) / 8;

	for (uint32_t i = 0; i < space->metaslab_count; i++)
		bytes += space->metaslabs[i].sized.capacity * sizeof(struct zfs_extent);
	for (int i = 0; i <= DEFER_TXGS; i++)
		bytes += space->freed[i].capacity * sizeof(struct zfs_extent);
	return bytes;
}

void zfs_space_check(const struct zfs_space *space)
{
	uint64_t free = 0, deferred = 0;

	for (uint32_t i = 0; i < space->metaslab_count; i++) {
		const struct metaslab *metaslab = &space->metaslabs[i];
		uint32_t used = 0;

		for (uint32_t word = 0; word < space->metaslab_units / 64; word++)
			used += (uint32_t)__builtin_popcountll(metaslab->used[word]);
		assert(used + metaslab->free_units == space->metaslab_units);
		free += metaslab->free_units;
	}
	for (int i = 0; i <= DEFER_TXGS; i++)
		for (size_t at = 0; at < space->freed[i].count; at++)
			deferred += space->freed[i].at[at].units;
	assert(free == space->free_units && deferred == space->deferred_units);
}
