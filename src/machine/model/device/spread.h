/*
 * spread: times drawn by lot around a mean, lognormally
 *
 * The distribution cut into 1024 equally likely parts, each as its middle: a draw is a look-up. Made
 * with integers alone, so it is the same on every machine.
 */
#ifndef REFAULT_MACHINE_MODEL_DEVICE_SPREAD_H
#define REFAULT_MACHINE_MODEL_DEVICE_SPREAD_H

#include <stdint.h>

#include "base/random.h"

enum { SPREAD_BITS = 10, SPREAD_COUNT = 1 << SPREAD_BITS };
#define SPREAD_SIGMA_MAX UINT64_C(2000000) /* millionths */
#define SPREAD_NS_MAX    UINT64_C(1000000000)

struct spread {
	uint32_t ns[SPREAD_COUNT]; /* ascending */
};

/* `sigma_millionths`: of the time's logarithm. The mean is that of the whole table. */
void spread_init(struct spread *spread, uint64_t mean_ns, uint64_t sigma_millionths);

/* One of them; `lot` is 64 random bits, of which the upper ten are used. */
static inline uint64_t spread_draw(const struct spread *spread, uint64_t lot)
{
	return spread->ns[lot >> (64 - SPREAD_BITS)];
}

/* Uniform in low .. high. */
static inline uint64_t spread_between(struct random *random, uint64_t low, uint64_t high)
{
	return low + random_below(random, high - low + 1);
}

#endif
