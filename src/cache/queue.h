/*
 * queue: what the full model does for a queue policy (policy.h), within this room
 */
#ifndef REFAULT_CACHE_QUEUE_H
#define REFAULT_CACHE_QUEUE_H

#include <stdint.h>

struct cache;
struct scan;

/* The page array is there, and the lists of a kernel's policy. */
void cache_queue_init(struct cache *cache);
void cache_queue_deinit(struct cache *cache); /* the page array too */
/* The page array is about to have room for so many. */
void cache_queue_grow(struct cache *cache, uint32_t capacity);

/*
 * A page that is not there is about to be brought in, before room is made. Returns its ghost's
 * slot, which is the caller's to fill or to free, or 0.
 */
uint32_t cache_queue_asked(struct cache *cache, uint32_t file, uint64_t page_index);

/* A page has left, and its ghost stays. */
void cache_ghost_charge(struct cache *cache);
void cache_ghost_uncharge(struct cache *cache);
/* The data that the ghost at this place stands for is no more. */
void cache_ghost_forget(struct cache *cache, uint32_t node, uint32_t at);

/* One priority's worth of scanning. */
void cache_queue_scan(struct cache *cache, struct scan *scan);
void cache_queue_check(const struct cache *cache);

#endif
