/*
 * quantity: a figure by what it means, with the lines that it stands on
 *
 * Kernels rename their counters; findings ask by meaning (quantities.def). A quantity that no dump
 * has is not known: that is not 0.
 */
#ifndef REFAULT_STATE_QUANTITY_H
#define REFAULT_STATE_QUANTITY_H

#include "state/state.h"

enum quantity_id {
#define QUANTITY(name, unit, sources, meaning) QUANTITY_##name,
#include "state/quantities.def"
#undef QUANTITY
	QUANTITY_COUNT_OF_THEM,
};

enum quantity_unit {
	UNIT_BYTES,
	UNIT_PAGES,
	UNIT_COUNT,
	UNIT_NS,
	UNIT_PERCENT,
	UNIT_PER_SECOND,
	UNIT_BYTES_PER_SECOND,
	UNIT_TIMES, /* so many times as much */
};

enum { QUANTITY_ENTRIES_MAX = 12 };

struct quantity {
	bool known;
	uint64_t value;
	enum quantity_unit unit;
	/* the figures it is the sum of; of a change: those before, then those after */
	const struct entry *entries[QUANTITY_ENTRIES_MAX];
	size_t entry_count;
	const char
		*scale; /* what the lines count in, if not in the value's unit: " pages", " KiB" */
	bool has_interval; /* of a change: it took interval_ns */
	uint64_t interval_ns;
};

/* Whose: a cgroup's, or (NULL) the system's. */
struct view {
	const struct state *state;
	const char *cgroup;
};

/* In the latest dump that has it. */
struct quantity quantity_now(const struct view *view, enum quantity_id id);

/* In the first and the last dump of a pair; false: there is no pair of it. */
bool quantity_pair(const struct view *view, enum quantity_id id, struct quantity *before,
		   struct quantity *after);

/* What a counter grew by; not known without a pair, or where it went back. */
struct quantity quantity_change(const struct view *view, enum quantity_id id);

const char *quantity_name(enum quantity_id id);
const char *quantity_meaning(enum quantity_id id);

/* Known ones' values added; one that is not known is left out of `sum`, and counts as 0. */
uint64_t quantity_or_zero(const struct quantity *quantity);

/* part * 100 / whole, and so on, in double: for showing, never for an order. */
double share_percent(uint64_t part, uint64_t whole);
double per_second(uint64_t amount, uint64_t interval_ns);

/* Is part / whole at least percent / 100? Exact. */
bool is_share_at_least(uint64_t part, uint64_t whole, uint64_t percent);
/* Is amount / interval at least so much a second? */
bool is_rate_at_least(uint64_t amount, uint64_t interval_ns, uint64_t per_second);

#endif
