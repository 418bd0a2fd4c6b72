/*
 * memory_events: how often a memory cgroup met its limits
 *
 *     max 4217
 *     oom_kill 0
 *
 * Entries   a name: how often
 * Source    mm/memcontrol.c, memory_events_show() (Linux 4.5; oom_kill since 4.13)
 * Differs   1. memory.events.local, which does not count the groups below, is kept apart: "local"
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"memory.events.local", "memory.events", NULL};

static const char *const own[] = {"low", "high", "max", "oom", "oom_group_kill", "sock_throttled",
				  NULL};
static const char *const shared[] = {"oom_kill", NULL};

static enum row_match events_match(const struct row *row, const struct dump *open)
{
	if (!pair_is(row))
		return ROW_NO;
	if (word_is_among(&row->fields[0], own))
		return ROW_YES;
	if (word_is_among(&row->fields[0], shared))
		return open ? ROW_YES : ROW_PERHAPS;
	return ROW_NO;
}

static const char *events_which(const char *called)
{
	return strstr(called, ".local") ? "local" : "";
}

const struct dump_kind dump_kind_memory_events = {
	.id = DUMP_MEMORY_EVENTS,
	.name = "memory.events",
	.title = "a memory cgroup's memory.events",
	.files = files,
	.match = events_match,
	.resembles = pair_resembles,
	.read = pair_read,
	.which = events_which,
};
