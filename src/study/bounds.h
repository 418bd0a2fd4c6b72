/*
 * bounds: what a run waits for, when it is not the cache
 *
 * From a result that has time: how busy device and processors were, and what the waiting was for: the device's flushes, reads, writers that
 * were stopped because too much was dirty, locks of the workload's own.
 */
#ifndef REFAULT_STUDY_BOUNDS_H
#define REFAULT_STUDY_BOUNDS_H

struct advice;
struct result;

/* Fills advice->bounds, those that are limits first. Nothing where no time is kept. */
void bounds_find(struct advice *advice, const struct result *result);

/* "the device's flushes"; NULL: none of them is at its limit. */
const char *bounds_name(const struct advice *advice);

#endif
