/*
 * bare: the plain cache of exactly N pages
 *
 * Each key is looked up once: a hit, or a miss that inserts it and evicts one page when the cache
 * is full. No readahead, no metadata, no dirty rules; so that policies can be held against
 * published miss counts. Keys are any 64-bit numbers.
 *
 * Cost: 16 bytes a page and 16/12 x 4 / 0.68 = 7.8 bytes of index, plus 1/8 byte if the policy marks
 * pages: 24 bytes; ghosts and a policy's own bytes beside that. The index is an array of 64-byte
 * lines of twelve entries; a key lives in the line its hash names, or, when that is full, in the
 * next with room. An entry is a slot, and a byte of the hash, compared with all twelve at once: a
 * look-up touches one line and one page record, and both can be prefetched.
 */
#ifndef REFAULT_CACHE_BARE_H
#define REFAULT_CACHE_BARE_H

#include "cache/policy.h"

struct bare; /* opaque; bare_loop.h is for policies */

/*
 * A cache of `pages` pages (1 .. 2^30). `policy` must be a queue policy. Free with bare_destroy().
 */
struct bare *bare_create(uint64_t pages, const struct policy *policy);
/* With its options set, and the seed of what it draws by lot (1 otherwise). */
struct bare *bare_create_with(uint64_t pages, const struct policy_options *options, uint64_t seed);
void bare_destroy(struct bare *bare);

/*
 * A policy that foresees needs this once, before it is asked anything. `future` is settled, holds
 * all the keys that will be looked up, in order, and outlives `bare`.
 */
void bare_foresee(struct bare *bare, const struct future *future);

/* Look up all keys in order. Returns how many missed. */
uint64_t bare_access(struct bare *bare, const uint64_t *keys, size_t count);

uint64_t bare_evictions(const struct bare *bare);
uint64_t bare_resident(const struct bare *bare);
uint64_t bare_memory_bytes(const struct bare *bare);

/* Walk everything and assert what must hold. */
void bare_check(const struct bare *bare);

#endif
