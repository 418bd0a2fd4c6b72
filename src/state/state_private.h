/*
 * What the parts of a state share.
 */
#ifndef REFAULT_STATE_STATE_PRIVATE_H
#define REFAULT_STATE_STATE_PRIVATE_H

#include "state/state.h"

/* Are they the same cgroup, or both the system? */
bool cgroup_is(const char *a, const char *b);

/* Where the series of a cgroup, or of the system (NULL), begin, and where they end. */
size_t series_of(const struct state *state, const char *cgroup, size_t *end);

/* From state->dumps: state->series and state->cgroups. */
void series_make(struct state *state);

/* How large a page is: said, held against other dumps, or assumed. Fails if that cannot be. */
bool page_bytes_find(struct state *state, struct error *error);

/* What a counter of this name grew by between two dumps; false: it went back, and did not wrap. */
bool counter_change(uint64_t before, uint64_t after, uint64_t *change);

/* Does an entry of this name only ever grow? */
bool entry_is_counter(enum dump_id id, const char *name);

#endif
