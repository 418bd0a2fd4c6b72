/*
 * arc: an adaptive replacement cache of buffers of any size, as ZFS keeps
 *
 * Two states of resident buffers (seen once: MRU; again: MFU) and two of ghosts, each apart for data
 * and metadata. It decides what stays; whoever uses it reads and writes. Two rule books: `classic`
 * (OpenZFS to 2.1: p, metadata limit) and `2.2` (three fractions, no metadata limit). Part of a
 * cache's memory: its size counts in the domain of a whole machine, and reclaim shrinks it (its
 * shrinker); a memory cgroup has nothing to do with it. Sources: arc.c.
 */
#ifndef REFAULT_CACHE_ARC_H
#define REFAULT_CACHE_ARC_H

#include <stdbool.h>
#include <stdint.h>

struct cache;
struct arc;

enum arc_rules { ARC_CLASSIC, ARC_2_2 };
enum arc_type { ARC_DATA, ARC_METADATA };
enum arc_use { ARC_USE_DEMAND, ARC_USE_PREFETCH };

struct arc_config {
	enum arc_rules rules;
	uint64_t memory_bytes; /* the machine's; c_max is half of it unless size_max_bytes says */
	uint64_t size_max_bytes, size_min_bytes; /* 0: the rules' own (c_max, c_min) */
	uint32_t meta_percent; /* classic: zfs_arc_meta_limit_percent, of c_max; 0: 75 */
};

/* A buffer: its size in the ARC, and what a user of it sees when it is compressed (0: the same). */
struct arc_buffer {
	uint64_t key; /* unique over types */
	uint32_t bytes, logical_bytes;
	enum arc_type type;
};

enum { ARC_BUFFER_BYTES_MAX = 65535 * 512, ARC_BUFFER_UNIT_BYTES = 512 };

/* The rules that the cache's policy names; 2.2's when it names none. */
enum arc_rules arc_rules_of(const struct cache *cache);

/* `cache`: the machine whose memory it shares; NULL: it stands alone (tests). */
struct arc *arc_create(struct cache *cache, const struct arc_config *config);
void arc_destroy(struct arc *arc);

/*
 * Use the buffer named by `key` (unique over types). True: it was resident. False: it is now, and
 * must be read by the caller unless it has just been made (arc_make()).
 */
bool arc_use(struct arc *arc, uint64_t key, uint32_t bytes, enum arc_type type, enum arc_use use,
	     uint64_t now_ns);
bool arc_use_buffer(struct arc *arc, const struct arc_buffer *buffer, enum arc_use use,
		    uint64_t now_ns);
/*
 * A hint that it will be used: brings what that touches into the processor's caches, in steps, each
 * to be taken some uses after the one before. Changes nothing.
 */
enum arc_prefetch { ARC_PREFETCH_BUCKET, ARC_PREFETCH_HEADER, ARC_PREFETCH_NEIGHBOURS };
void arc_prefetch(const struct arc *arc, uint64_t key, enum arc_prefetch step);
/* Is it resident? Nothing changes. */
bool arc_has(const struct arc *arc, uint64_t key);
/* Is it resident and referenced: in the dbuf cache, or dirty? */
bool arc_is_held(const struct arc *arc, uint64_t key);
/* A buffer that is written whole: resident and dirty, not evictable until arc_clean(). */
void arc_make(struct arc *arc, uint64_t key, uint32_t bytes, enum arc_type type, uint64_t now_ns);
void arc_make_buffer(struct arc *arc, const struct arc_buffer *buffer, uint64_t now_ns);
/* A resident buffer becomes dirty / has been written. */
void arc_dirty(struct arc *arc, uint64_t key);
void arc_clean(struct arc *arc, uint64_t key);
/* The same for one that has another size now. */
void arc_clean_as(struct arc *arc, uint64_t key, uint32_t bytes);
/* Is it resident and dirty? */
bool arc_is_dirty(const struct arc *arc, uint64_t key);
/* What it stood for is gone (freed on the device): no ghost stays. */
void arc_forget(struct arc *arc, uint64_t key);

struct arc_counters {
	uint64_t hits[2][2], misses[2][2]; /* [type][use] */
	uint64_t ghost_hits[2][2];         /* [type][0 MRU, 1 MFU] */
	uint64_t evicted_bytes[2];         /* by type */
	uint64_t prunes, dbuf_hits;
	uint64_t size_bytes, target_bytes, target_max_bytes; /* levels: size, c, c_max */
	uint64_t mru_target_bytes;                           /* classic: p */
	uint32_t meta_fraction, data_mru_fraction, metadata_mru_fraction; /* 2.2: of 2^32 */
	uint64_t resident_bytes[2][2];                                    /* [type][0 MRU, 1 MFU] */
	uint64_t dirty_bytes;
};
void arc_counters(const struct arc *arc, struct arc_counters *counters);

/* The present size of all it has, headers too. */
uint64_t arc_size_bytes(const struct arc *arc);

/* Bytes of our own memory. */
uint64_t arc_memory_bytes(const struct arc *arc);

/* Walk everything and assert what must hold. */
void arc_check(const struct arc *arc);

#endif
