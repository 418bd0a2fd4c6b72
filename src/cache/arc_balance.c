/*
 * arc_balance: how large the ARC is, and what it gives up
 *
 * Idea       A target c that grows with what comes in and shrinks when the machine wants memory;
 *            once the size is a margin beyond it, one pass of evictions in a fixed order. Which
 *            state gives is what the ghosts say: up to 2.1 one number p, the MRU's share, with a
 *            limit for metadata; since 2.2 three fractions: metadata's share of all, and the MRU's
 *            of data and of metadata.
 * Source     OpenZFS 2.1.15 (classic) and 2.2.0, module/zfs/arc.c: arc_adapt(), arc_evict(),
 *            arc_evict_adj(), arc_evict_meta_balanced(), arc_is_overflowing(),
 *            arc_reduce_target_size(), arc_reap_cb(); module/os/linux/zfs/arc_os.c:
 *            arc_shrinker_count(), arc_set_sys_free(), arc_free_memory()
 * Differs    1. classic's metadata strategy looks at what is left after each round, as 0.7.9 does
 *               (2.1.15 goes on with the number it began with)
 *            2. the dnodes that a prune goes by are the inodes that nobody uses
 *            3. dbufs, dnodes and bonus buffers, which also count there, do not count
 */
#include "base/root.h"
#include "base/size.h"
#include "cache/arc_private.h"
#include "cache/cache_private.h"

#define FRACTION_ONE (UINT64_C(1) << 32)

enum {
	/* SPA_MAXBLOCKSIZE, SPA_OLD_MAXBLOCKSIZE */
	BLOCK_BYTES_MAX = 16 << 20,
	BLOCK_BYTES_MAX_OLD = 128 << 10,
	/* arc_p_min_shift, arc_shrink_shift, arc_no_grow_shift, zfs_arc_overflow_shift */
	MRU_TARGET_MIN_SHIFT = 4,
	SHRINK_SHIFT = 7,
	NO_GROWTH_SHIFT = 5,
	OVERFLOW_SHIFT = 8,
	GROW_RETRY_SECONDS = 5, /* arc_grow_retry */
	GHOST_STEP_MAX = 10,    /* zfs_arc_p_dampener_disable = 0 */
	META_LIMIT_PERCENT = 75,
	META_RESTARTS = 4096,
	META_PRUNE = 10000,
	DNODE_LIMIT_PERCENT = 10,
	DNODE_REDUCE_PERCENT = 10,
	META_BALANCE = 500,
	SHRINKER_LIMIT_PAGES = 10000, /* zfs_arc_shrinker_limit */
	/* arc_buf_hdr_t of 2.2.0: the sum of its fields on a 64-bit machine */
	HEADER_BYTES = 240,
	/* dnode_t: an estimate, "about 1 KiB" */
	DNODE_BYTES = 1024,
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum arc_rules arc_rules_of(const struct cache *cache)
{
	return cache->policy->arc_rules ? (enum arc_rules)(cache->policy->arc_rules - 1) : ARC_2_2;
}

/* ---- sizes ---- */

static uint64_t metadata_bytes(const struct arc *arc)
{
	return arc_resident_bytes(arc, ARC_METADATA) + arc->overhead_bytes[ARC_METADATA] +
	       arc->header_count * HEADER_BYTES;
}

uint64_t arc_size_bytes(const struct arc *arc)
{
	return arc_resident_bytes(arc, ARC_DATA) + arc->overhead_bytes[ARC_DATA] +
	       metadata_bytes(arc);
}

/* arc_set_sys_free() */
static uint64_t free_wanted(uint64_t memory_bytes)
{
	uint64_t mark = 4 * square_root(memory_bytes / 1024) * 1024;

	mark = most(least(mark, 64 << 20), 128 << 10);
	mark += mark * 150 / 100;
	return mark * 3 + memory_bytes / 32;
}

void arc_balance_init(struct arc *arc, const struct arc_config *config)
{
	uint64_t memory = config->memory_bytes;

	arc->is_charged = arc->cache && !arc->cache->domain.is_cgroup;
	arc->memory_bytes = memory;
	arc->free_wanted_bytes = free_wanted(memory);
	arc->size_min = config->size_min_bytes ? config->size_min_bytes
					       : most(memory / 32, 2 * BLOCK_BYTES_MAX);
	arc->size_max = config->size_max_bytes ? config->size_max_bytes : memory / 2;
	if (arc->size_max < arc->size_min) {
		/* zfs_arc_max: the least is half of it; and never below two blocks. */
		arc->size_min = most(arc->size_max / 2, 2 * BLOCK_BYTES_MAX);
		arc->size_max = most(arc->size_max, arc->size_min);
	}
	arc->size_target = arc->size_min;
	arc->mru_target = arc->size_target / 2;
	arc->meta_min = BLOCK_BYTES_MAX;
	arc->meta_limit = most(
		arc->meta_min,
		arc->size_max * (config->meta_percent ? config->meta_percent : META_LIMIT_PERCENT) /
			100);
	arc->dnode_limit = (arc->rules == ARC_2_2 ? arc->size_max : arc->meta_limit) *
			   DNODE_LIMIT_PERCENT / 100;
	arc->meta = FRACTION_ONE / 4;
	arc->data_mru = arc->metadata_mru = FRACTION_ONE / 2;
	if (arc->cache)
		arc->cache->arc = arc;
}

void arc_destroy(struct arc *arc)
{
	if (!arc)
		return;
	if (arc->cache) {
		domain_uncharge(arc->cache, arc->charged_pages);
		arc->cache->domain.arc_pages = 0;
		arc->cache->arc = NULL;
	}
	memory_free(arc->buckets);
	array_deinit(&arc->headers);
	memory_free(arc);
}

/* ---- the machine's memory ---- */

/* arc_available_memory(): what may be taken before the ARC must give. */
static int64_t available_bytes(const struct arc *arc)
{
	const struct domain *domain;
	uint64_t free;

	if (!arc->is_charged)
		return INT64_MAX;
	domain = &arc->cache->domain;
	free = domain->limit_pages > domain->usage_pages ? domain->limit_pages - domain->usage_pages
							 : 0;
	return (int64_t)bytes_from_pages(free + domain->list_pages[LIST_INACTIVE]) -
	       (int64_t)arc->free_wanted_bytes;
}

void arc_charge(struct arc *arc)
{
	uint64_t pages = pages_from_bytes_up(arc_size_bytes(arc)), more;

	if (!arc->is_charged || pages == arc->charged_pages)
		return;
	if (pages < arc->charged_pages) {
		domain_uncharge(arc->cache, arc->charged_pages - pages);
		arc->charged_pages = arc->cache->domain.arc_pages = pages;
		return;
	}
	more = pages - arc->charged_pages;
	/* Before the reclaim that this may cause: it may shrink us. */
	arc->charged_pages = arc->cache->domain.arc_pages = pages;
	cache_enter(arc->cache, ALLOCATION_JOURNAL); /* memory for ZFS never enters a file system */
	(void)domain_charge(arc->cache, more, CHARGE_ALWAYS);
}

static void evict(struct arc *arc);

/* arc_reduce_target_size(): so much is really to go, however large c is. */
static void reduce_target(struct arc *arc, uint64_t bytes)
{
	uint64_t size = arc_size_bytes(arc), from = least(size, arc->size_target);

	if (arc->size_target <= arc->size_min)
		return;
	if (from > bytes && from - bytes > arc->size_min) {
		arc->size_target = from - bytes;
		arc->mru_target -= arc->mru_target >> SHRINK_SHIFT;
		if (arc->mru_target > arc->size_target)
			arc->mru_target = arc->size_target / 2;
	} else {
		arc->size_target = arc->size_min;
		arc->mru_target = least(arc->mru_target, arc->size_target);
	}
	if (size > arc->size_target)
		evict(arc);
}

void arc_reap(struct arc *arc)
{
	int64_t available = available_bytes(arc), bytes;

	arc->reap_ns = arc->now_ns + NS_PER_SECOND;
	if (available < 0) {
		arc->no_growth = true;
		arc->grow_ns = arc->now_ns + GROW_RETRY_SECONDS * NS_PER_SECOND;
		bytes = (int64_t)((arc->size_target - arc->size_min) >> SHRINK_SHIFT) - available;
		if (arc->size_target > arc->size_min && bytes > 0)
			reduce_target(arc, (uint64_t)bytes);
	} else if ((uint64_t)available < arc->size_target >> NO_GROWTH_SHIFT) {
		arc->no_growth = true;
	} else if (arc->now_ns >= arc->grow_ns) {
		arc->no_growth = false;
	}
}

/* arc_shrinker_count() */
uint64_t arc_shrinker_count(const struct cache *cache)
{
	const struct arc *arc = cache->arc;
	uint64_t clean = 0, size, dirty;

	if (!arc || !arc->is_charged)
		return 0;
	for (int type = 0; type < 2; type++)
		clean += arc->evictable_bytes[ARC_MRU][type] + arc->evictable_bytes[ARC_MFU][type];
	size = arc_size_bytes(arc);
	dirty = size > clean ? size - clean : 0;
	if (dirty < arc->size_min)
		clean = size > arc->size_min ? size - arc->size_min : 0;
	return least(SHRINKER_LIMIT_PAGES, pages_from_bytes_down(clean));
}

/* arc_shrinker_scan() */
uint64_t arc_shrinker_scan(struct cache *cache, uint64_t pages)
{
	struct arc *arc = cache->arc;
	uint64_t before = arc->charged_pages;

	reduce_target(arc, bytes_from_pages(pages));
	arc->no_growth = true;
	return before - arc->charged_pages;
}

/* arc_prune_async(): the file systems drop dentries and inodes. */
static void prune(struct arc *arc, uint64_t count)
{
	struct cache *cache = arc->cache;
	struct scan scan = {0};

	arc->counters.prunes++;
	if (!arc->is_charged || cache->is_bare)
		return;
	scan.domain = &cache->domain;
	scan.fs_allowed = true;
	(void)dentries_prune(cache, count);
	(void)inodes_prune(cache, &scan, count);
}

/* ---- growth, and classic's p ---- */

static void adapt_mru_target(struct arc *arc, uint64_t bytes, enum arc_state ghost)
{
	uint64_t mru = arc->state_bytes[ARC_MRU_GHOST][ARC_DATA] +
		       arc->state_bytes[ARC_MRU_GHOST][ARC_METADATA];
	uint64_t mfu = arc->state_bytes[ARC_MFU_GHOST][ARC_DATA] +
		       arc->state_bytes[ARC_MFU_GHOST][ARC_METADATA];
	uint64_t edge = arc->size_target >> MRU_TARGET_MIN_SHIFT;

	if (ghost == ARC_MRU_GHOST) {
		bytes *= mru >= mfu ? 1 : least(mfu / mru, GHOST_STEP_MAX);
		arc->mru_target = least(arc->size_target - edge, arc->mru_target + bytes);
	} else if (ghost == ARC_MFU_GHOST) {
		bytes *= mfu >= mru ? 1 : least(mru / mfu, GHOST_STEP_MAX);
		arc->mru_target = most(edge, arc->mru_target - least(bytes, arc->mru_target));
	}
}

void arc_adapt(struct arc *arc, uint64_t bytes, enum arc_state ghost)
{
	bool is_classic = arc->rules == ARC_CLASSIC;
	uint64_t size;

	if (is_classic)
		adapt_mru_target(arc, bytes, ghost);
	size = arc_size_bytes(arc);
	if (!arc->no_growth && arc->size_target < arc->size_max &&
	    size + 2 * BLOCK_BYTES_MAX >= arc->size_target && available_bytes(arc) >= 0) {
		arc->size_target += is_classic ? bytes : most(bytes, BLOCK_BYTES_MAX_OLD);
		if (arc->size_target > arc->size_max)
			arc->size_target = arc->size_max;
		else if (is_classic && ghost == ARC_ANON && arc->mru_target < arc->size_target / 2)
			arc->mru_target += bytes;
		arc->mru_target = least(arc->mru_target, arc->size_target);
	}
	/* arc_get_data_impl(): growing, and new data has outgrown p */
	if (is_classic && ghost == ARC_ANON && size < arc->size_target &&
	    arc->mru_target < arc->size_target / 2 &&
	    arc_resident_bytes(arc, ARC_DATA) + arc_resident_bytes(arc, ARC_METADATA) + bytes -
			    arc->state_bytes[ARC_MFU][ARC_DATA] -
			    arc->state_bytes[ARC_MFU][ARC_METADATA] >
		    arc->mru_target)
		arc->mru_target = least(arc->size_target, arc->mru_target + bytes);
}

/* ---- classic eviction ---- */

static uint64_t evictable_min(const struct arc *arc, enum arc_state state, enum arc_type type,
			      int64_t bytes)
{
	return bytes > 0 ? least(arc->evictable_bytes[state][type], (uint64_t)bytes) : 0;
}

/* One type of every state, residents first, as long as metadata is over its limit. */
static uint64_t evict_round(struct arc *arc, enum arc_type type)
{
	uint64_t gone = 0, part;
	int64_t over = (int64_t)(metadata_bytes(arc) - arc->meta_limit);

	for (enum arc_state state = ARC_MRU; state < ARC_STATES; state++) {
		if (state == ARC_MRU_GHOST)
			over = (int64_t)(metadata_bytes(arc) - arc->meta_limit);
		part = evictable_min(arc, state, type, over);
		gone += arc_evict_from(arc, state, type, (int64_t)part);
		over -= (int64_t)part;
	}
	return gone;
}

/* arc_evict_meta_balanced() */
static uint64_t evict_metadata_classic(struct arc *arc)
{
	uint64_t gone = 0, pruned = 0, round = 0, before;

	for (uint32_t restart = 0; restart <= META_RESTARTS; restart++) {
		enum arc_type type = restart % 2 == 0 ? ARC_DATA : ARC_METADATA;

		if (metadata_bytes(arc) <= arc->meta_limit)
			break;
		before = gone;
		gone += evict_round(arc, type);
		round = gone - before + (type == ARC_METADATA ? round : 0);
		if (type == ARC_DATA || metadata_bytes(arc) <= arc->meta_limit)
			continue;
		pruned += META_PRUNE;
		prune(arc, pruned);
		if (round == 0)
			break; /* nothing is left, and nothing would change */
	}
	return gone;
}

static uint32_t oldest_of(const struct arc *arc, enum arc_state state, enum arc_type type)
{
	uint32_t list = arc_list(state, type), id = arc->headers.at[list].prev;

	return id == list ? 0 : id;
}

/* arc_evict_type(): the type whose oldest is older. */
static enum arc_type older_type(const struct arc *arc, enum arc_state state)
{
	uint32_t data = oldest_of(arc, state, ARC_DATA);
	uint32_t metadata = oldest_of(arc, state, ARC_METADATA);

	if (!metadata)
		return ARC_DATA;
	if (!data)
		return ARC_METADATA;
	return (int32_t)(arc->headers.at[data].access_ms - arc->headers.at[metadata].access_ms) < 0
		       ? ARC_DATA
		       : ARC_METADATA;
}

static uint64_t evict_older_first(struct arc *arc, enum arc_state state, int64_t bytes)
{
	enum arc_type first = older_type(arc, state);
	uint64_t gone;

	if (bytes <= 0)
		return 0;
	if (metadata_bytes(arc) <= arc->meta_min)
		first = ARC_DATA;
	gone = arc_evict_from(arc, state, first, bytes);
	return gone + arc_evict_from(arc, state, first == ARC_DATA ? ARC_METADATA : ARC_DATA,
				     bytes - (int64_t)gone);
}

static int64_t over_target(const struct arc *arc)
{
	return (int64_t)(arc_size_bytes(arc) - arc->size_target);
}

static uint64_t state_sum(const struct arc *arc, enum arc_state state)
{
	return arc->state_bytes[state][ARC_DATA] + arc->state_bytes[state][ARC_METADATA];
}

static uint64_t evict_classic(struct arc *arc)
{
	uint64_t gone = evict_metadata_classic(arc), part;
	int64_t over = over_target(arc);
	/* All metadata counts as if it were the MRU's. */
	int64_t mru_over = (int64_t)(state_sum(arc, ARC_ANON) + state_sum(arc, ARC_MRU) +
				     metadata_bytes(arc) - arc->mru_target);

	gone += evict_older_first(arc, ARC_MRU, over < mru_over ? over : mru_over);
	gone += evict_older_first(arc, ARC_MFU, over_target(arc));

	over = (int64_t)(state_sum(arc, ARC_MRU) + state_sum(arc, ARC_MRU_GHOST) -
			 arc->size_target);
	part = arc_evict_from(arc, ARC_MRU_GHOST, ARC_DATA, over);
	(void)arc_evict_from(arc, ARC_MRU_GHOST, ARC_METADATA, over - (int64_t)part);
	over = (int64_t)(state_sum(arc, ARC_MRU_GHOST) + state_sum(arc, ARC_MFU_GHOST) -
			 arc->size_target);
	part = arc_evict_from(arc, ARC_MFU_GHOST, ARC_DATA, over);
	(void)arc_evict_from(arc, ARC_MFU_GHOST, ARC_METADATA, over - (int64_t)part);
	return gone;
}

/* ---- 2.2 eviction ---- */

/* arc_evict_adj(): a fraction moves by ghost hits up and down, of so many bytes of ghosts in all. */
static uint64_t fraction_move(uint64_t fraction, uint64_t total, uint64_t up, uint64_t down,
			      uint32_t balance)
{
	uint64_t rest = FRACTION_ONE - fraction;
	uint32_t shift;

	if (total < 8 || up + down == 0)
		return fraction;
	if (up + down >= total / 4) {
		uint64_t scale = (up + down) / (total / 8);

		up /= scale;
		down /= scale;
	}
	shift = (uint32_t)__builtin_clzll(total);
	shift = shift < 32 ? shift : 32;
	if (fraction >= 4 * rest)
		up /= fraction / (2 * rest + 1);
	up = (up << shift) / (total >> (32 - shift));
	if (rest >= 4 * fraction)
		down /= rest / (2 * fraction + 1);
	down = (down << shift) / (total >> (32 - shift));
	down = down * 100 / balance;
	return fraction + up - down;
}

static void fractions_move(struct arc *arc)
{
	uint64_t(*hits)[2] = arc->ghost_hit_bytes, (*size)[2] = arc->ghost_size;
	const int d = ARC_DATA, m = ARC_METADATA;

	arc->meta = fraction_move(arc->meta, size[d][0] + size[d][1] + size[m][0] + size[m][1],
				  hits[m][0] + hits[m][1], hits[d][0] + hits[d][1], META_BALANCE);
	arc->data_mru =
		fraction_move(arc->data_mru, size[d][0] + size[d][1], hits[d][0], hits[d][1], 100);
	arc->metadata_mru = fraction_move(arc->metadata_mru, size[m][0] + size[m][1], hits[m][0],
					  hits[m][1], 100);
	for (int type = 0; type < 2; type++)
		hits[type][0] = hits[type][1] = 0;
}

/* (whole x fraction), as the source rounds it */
static int64_t part_of(int64_t whole, uint64_t fraction)
{
	return whole * (int64_t)(fraction >> 16) >> 16;
}

static void prune_dnodes(struct arc *arc, int64_t metadata_wanted)
{
	uint64_t held = 0, dnodes = arc->is_charged ? arc->cache->inode_lru.count : 0, count = 0;

	for (enum arc_state state = ARC_MRU; state <= ARC_MFU; state++)
		held += arc->state_bytes[state][ARC_METADATA] -
			arc->evictable_bytes[state][ARC_METADATA];
	if ((int64_t)held > metadata_wanted * 3 / 4)
		count = dnodes * DNODE_REDUCE_PERCENT / 100;
	else if (dnodes * DNODE_BYTES > arc->dnode_limit)
		count = (dnodes - arc->dnode_limit / DNODE_BYTES) * DNODE_REDUCE_PERCENT / 100;
	if (count > 0)
		prune(arc, count);
}

static void evict_ghosts(struct arc *arc, uint64_t data_mru, uint64_t data_mfu,
			 uint64_t metadata_mru, uint64_t metadata_mfu)
{
	uint64_t sum = data_mru + data_mfu + metadata_mru + metadata_mfu;
	uint64_t own[2][2] = {{data_mru, data_mfu}, {metadata_mru, metadata_mfu}};

	for (int mfu = 0; mfu < 2; mfu++)
		for (int type = 0; type < 2; type++) {
			enum arc_state state = mfu ? ARC_MFU_GHOST : ARC_MRU_GHOST;

			arc->ghost_size[type][mfu] = (sum - own[type][mfu]) / 2;
			(void)arc_evict_from(arc, state, (enum arc_type)type,
					     (int64_t)(arc->state_bytes[state][type] -
						       arc->ghost_size[type][mfu]));
		}
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static uint64_t evict_2_2(struct arc *arc)
{
	int64_t data_mru = (int64_t)(arc->state_bytes[ARC_MRU][ARC_DATA] +
				     arc->state_bytes[ARC_ANON][ARC_DATA]);
	int64_t metadata_mru = (int64_t)(arc->state_bytes[ARC_MRU][ARC_METADATA] +
					 arc->state_bytes[ARC_ANON][ARC_METADATA]);
	int64_t data_mfu = (int64_t)arc->state_bytes[ARC_MFU][ARC_DATA];
	int64_t metadata_mfu = (int64_t)arc->state_bytes[ARC_MFU][ARC_METADATA];
	int64_t metadata = metadata_mru + metadata_mfu, over, wanted, bytes, gone;

	fractions_move(arc);
	over = over_target(arc);
	wanted = data_mru + data_mfu + metadata - over;
	prune_dnodes(arc, part_of(wanted, arc->meta));

	bytes = metadata_mru -
		(wanted * (int64_t)((uint64_t)((unsigned __int128)arc->meta * arc->metadata_mru >>
					       48)) >>
		 16);
	bytes = (int64_t)arc_evict_from(arc, ARC_MRU, ARC_METADATA, smaller(over, bytes));
	metadata_mru -= bytes;
	over -= bytes;
	gone = bytes;

	bytes = smaller(over, metadata - part_of(wanted, arc->meta));
	bytes = (int64_t)arc_evict_from(arc, ARC_MFU, ARC_METADATA, bytes);
	metadata_mfu -= bytes;
	over -= bytes;
	gone += bytes;

	wanted -= metadata - gone;
	bytes = smaller(over, data_mru - part_of(wanted, arc->data_mru));
	bytes = (int64_t)arc_evict_from(arc, ARC_MRU, ARC_DATA, bytes);
	data_mru -= bytes;
	over -= bytes;
	gone += bytes;

	bytes = (int64_t)arc_evict_from(arc, ARC_MFU, ARC_DATA, over);
	data_mfu -= bytes;
	gone += bytes;

	evict_ghosts(arc, (uint64_t)data_mru, (uint64_t)data_mfu, (uint64_t)metadata_mru,
		     (uint64_t)metadata_mfu);
	return (uint64_t)gone;
}

/* ---- when ---- */

/* arc_evict_cb(): passes until the size is the target's, or nothing more goes. */
static void evict(struct arc *arc)
{
	uint64_t gone;

	do
		gone = arc->rules == ARC_CLASSIC ? evict_classic(arc) : evict_2_2(arc);
	while (gone > 0 && over_target(arc) > 0);
	arc_charge(arc);
}

void arc_make_room(struct arc *arc)
{
	uint64_t overflow = most(BLOCK_BYTES_MAX, arc->size_target >> OVERFLOW_SHIFT);

	if (over_target(arc) >= (int64_t)(overflow / 2))
		evict(arc);
}
