/*
 * series: which dumps are of the same thing, and in which order they were made
 *
 * Headings that tell the time decide. Where there are none, the order in which they came counts,
 * unless every counter says that it is the wrong one. Counters that went back although the times are
 * known to go on belong to a machine, or a cgroup, that began anew: nothing is subtracted then.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "state/dump.h"
#include "state/state_private.h"

bool counter_change(uint64_t before, uint64_t after, uint64_t *change)
{
	const uint64_t wrap = UINT64_C(1) << 32;

	*change = after - before;
	if (after >= before)
		return true;
	/* An unsigned long of a 32-bit kernel goes back to 0: from its last quarter to its first. */
	if (before >= wrap || before < wrap / 4 * 3 || after >= wrap / 4)
		return false;
	*change = after + wrap - before;
	return true;
}

static bool is_among(const char *name, const char *const *words)
{
	const struct field field = {name, strlen(name)};

	return word_is_among(&field, words);
}

bool entry_is_counter(enum dump_id id, const char *name)
{
	static const char *const levels[] = {"nr_*", "workingset_nodes", NULL};
	static const char *const counting[] = {"nr_dirtied",  "nr_written", "nr_throttled_written",
					       "nr_vmscan_*", "nr_foll_*",  NULL};
	static const char *const of_cgroups[] = {"pg*",
						 "total_pg*",
						 "workingset_refault*",
						 "workingset_activate*",
						 "workingset_restore*",
						 "workingset_nodereclaim",
						 "total_workingset_*",
						 NULL};
	static const char *const of_arc[] = {
		"hits",           "misses",         "demand_*",   "prefetch_*", "mru_hits",
		"mfu_hits",       "deleted",        "mutex_miss", "evict_skip", "arc_prune",
		"mru_ghost_hits", "mfu_ghost_hits", "l2_hits",    "l2_misses",  NULL};

	switch (id) {
	case DUMP_VMSTAT:
		return is_among(name, counting) || !is_among(name, levels);
	case DUMP_MEMORY_STAT:
		return is_among(name, of_cgroups);
	case DUMP_ARCSTATS:
		return is_among(name, of_arc);
	case DUMP_MEMORY_EVENTS:
	case DUMP_UPTIME:
	case DUMP_CPU_STAT:
		return true;
	default:
		return false;
	}
}

/* ---- grouping ---- */

static bool is_of(const struct dump *dump, const struct series *series)
{
	return dump->id == series->id && cgroup_is(dump->cgroup, series->cgroup) &&
	       strcmp(dump->name, series->name) == 0;
}

static void cgroup_add(struct state *state, const char *cgroup)
{
	for (size_t i = 0; i < state->cgroups.count; i++) {
		if (strcmp(state->cgroups.at[i], cgroup) == 0)
			return;
	}
	*array_push(&state->cgroups) = cgroup;
}

static bool has_same_clock(const struct dump *a, const struct dump *b)
{
	return a->clock != CLOCK_NONE && a->clock == b->clock && a->time_ns != b->time_ns;
}

/* The first and the last in time; where no clock tells, in the order of their coming. */
static void dump_join(struct series *series, const struct dump *dump)
{
	series->dump_count++;
	if (has_same_clock(dump, series->first) && dump->time_ns < series->first->time_ns &&
	    dump->clock != CLOCK_DAY)
		series->first = dump;
	else if (!has_same_clock(dump, series->last) || dump->time_ns > series->last->time_ns ||
		 dump->clock == CLOCK_DAY)
		series->last = dump;
}

static void group(struct state *state)
{
	for (size_t i = 0; i < state->dumps.count; i++) {
		const struct dump *dump = state->dumps.at[i];
		size_t at = 0;

		if (dump->entries.count == 0)
			continue;
		while (at < state->series.count && !is_of(dump, &state->series.at[at]))
			at++;
		if (at < state->series.count) {
			dump_join(&state->series.at[at], dump);
			continue;
		}
		*array_push(&state->series) = (struct series){
			.id = dump->id,
			.name = dump->name,
			.cgroup = dump->cgroup,
			.first = dump,
			.last = dump,
			.dump_count = 1,
		};
		if (dump->cgroup)
			cgroup_add(state, dump->cgroup);
	}
}

/* The system's first, then those of each cgroup, in the order in which they came. */
static void arrange(struct state *state)
{
	struct series *sorted = memory_alloc(state->series.count, sizeof(*sorted));
	size_t count = 0;

	for (size_t i = 0; i < state->series.count; i++) {
		if (!state->series.at[i].cgroup)
			sorted[count++] = state->series.at[i];
	}
	for (size_t cgroup = 0; cgroup < state->cgroups.count; cgroup++) {
		*array_push(&state->cgroup_series) = count;
		for (size_t i = 0; i < state->series.count; i++) {
			if (cgroup_is(state->series.at[i].cgroup, state->cgroups.at[cgroup]) &&
			    state->series.at[i].cgroup)
				sorted[count++] = state->series.at[i];
		}
	}
	*array_push(&state->cgroup_series) = count;
	assert(count == state->series.count);
	for (size_t i = 0; i < count; i++)
		state->series.at[i] = sorted[i];
	memory_free(sorted);
}

size_t series_of(const struct state *state, const char *cgroup, size_t *end)
{
	size_t at = 0;

	*end = 0;
	if (state->cgroup_series.count == 0)
		return 0;
	if (!cgroup) {
		*end = state->cgroup_series.at[0];
		return 0;
	}
	/* Whoever asks has the very text, mostly. */
	while (at < state->cgroups.count && state->cgroups.at[at] != cgroup)
		at++;
	for (size_t i = 0; at == state->cgroups.count && i < state->cgroups.count; i++) {
		if (strcmp(state->cgroups.at[i], cgroup) == 0)
			at = i;
	}
	if (at == state->cgroups.count)
		return 0;
	*end = state->cgroup_series.at[at + 1];
	return state->cgroup_series.at[at];
}

/* ---- order ---- */

struct votes {
	size_t up, down;
	uint64_t largest_before, largest_after; /* of the counters that went back */
};

static void vote(const struct entry *before, const struct entry *after, struct votes *votes)
{
	uint64_t change;

	for (uint32_t i = 0; i < before->value_count && i < after->value_count; i++) {
		uint64_t from = before->values[i], to = after->values[i];

		if (from == to)
			continue;
		if (counter_change(from, to, &change)) {
			votes->up++;
			continue;
		}
		votes->down++;
		if (from > votes->largest_before) {
			votes->largest_before = from;
			votes->largest_after = to;
		}
	}
}

static struct votes votes_of(const struct series *series)
{
	struct votes votes = {0};

	for (size_t i = 0; i < series->first->entries.count; i++) {
		const struct entry *before = &series->first->entries.at[i];
		const struct entry *after = dump_entry(series->last, before->name);

		if (after && entry_is_counter(series->id, before->name))
			vote(before, after, &votes);
	}
	return votes;
}

static bool is_timed(const struct series *series)
{
	return has_same_clock(series->first, series->last);
}

/*
 * All counters went back, and the largest by less than half: so near each other they are of one
 * boot, and in the wrong order. "Half" is ours: a machine that has started again counts from 0.
 */
static bool looks_turned(const struct votes *votes)
{
	return votes->down > 0 && votes->up == 0 &&
	       votes->largest_after >= votes->largest_before / 2;
}

/* A few counters may go back by themselves: per-CPU parts are summed without a lock. */
static bool looks_reset(const struct votes *votes)
{
	return votes->down > 0 && votes->down * 4 > votes->up;
}

static void turn(struct series *series)
{
	const struct dump *first = series->first;

	series->first = series->last;
	series->last = first;
	series->order = SERIES_TURNED;
}

static const char *series_text(struct state *state, const struct series *series)
{
	return state_text(state, "%s%s%s", series->name, series->name[0] ? " of " : "",
			  dump_title(series->id));
}

static void order(struct state *state)
{
	bool is_turned = false;

	for (size_t i = 0; i < state->series.count; i++) {
		struct series *series = &state->series.at[i];
		struct votes votes;

		if (series->first == series->last)
			continue;
		series->order = SERIES_AS_READ;
		votes = votes_of(series);
		if (!is_timed(series) && looks_turned(&votes)) {
			is_turned = true;
			turn(series);
		} else if (looks_reset(&votes)) {
			series->order = SERIES_RESET;
			state_note(state,
				   "the counters of %s went back between the two: it began anew, "
				   "so nothing is subtracted",
				   series_text(state, series));
		}
	}
	if (!is_turned)
		return;
	state_note(state,
		   "the later dumps came first: all counters are smaller in the second ones, so "
		   "they are compared the other way round");
	/* What has no counters was dumped beside what has. */
	for (size_t i = 0; i < state->series.count; i++) {
		struct series *series = &state->series.at[i];
		struct votes votes;

		if (series->order != SERIES_AS_READ || is_timed(series))
			continue;
		votes = votes_of(series);
		if (votes.up == 0)
			turn(series);
	}
}

/* ---- how far apart ---- */

static bool uptime_interval(const struct state *state, uint64_t *ns)
{
	const struct series *series = state_series(state, DUMP_UPTIME, NULL, NULL);
	const struct entry *before, *after;

	if (!series || series->first == series->last || series->order == SERIES_RESET)
		return false;
	before = dump_entry(series->first, "uptime");
	after = dump_entry(series->last, "uptime");
	*ns = (after->values[0] - before->values[0]) * (NS_PER_SECOND / 100);
	return after->values[0] > before->values[0];
}

static void interval_set(const struct state *state, struct series *series)
{
	const uint64_t day_ns = UINT64_C(24) * 3600 * NS_PER_SECOND;

	if (series->first == series->last || series->order == SERIES_RESET)
		return;
	series->has_interval = true;
	if (state->options.interval_ns) {
		series->interval_ns = state->options.interval_ns;
	} else if (is_timed(series)) {
		series->interval_ns = series->last->time_ns - series->first->time_ns;
		/* Over midnight. */
		if (series->last->time_ns < series->first->time_ns)
			series->interval_ns += day_ns;
	} else {
		series->has_interval = uptime_interval(state, &series->interval_ns);
	}
}

void series_make(struct state *state)
{
	group(state);
	arrange(state);
	order(state);
	for (size_t i = 0; i < state->series.count; i++)
		interval_set(state, &state->series.at[i]);
}
