/*
 * counters: what the core counts, per cache and per stream
 *
 * The list is counters.def; every counter is a uint64_t field of the same name.
 */
#ifndef REFAULT_CACHE_COUNTERS_H
#define REFAULT_CACHE_COUNTERS_H

#include <stdint.h>

struct counters {
#define COUNTER(name, unit, meaning) uint64_t name;
#define LEVEL(name, unit, meaning)   uint64_t name;
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
};

#endif
