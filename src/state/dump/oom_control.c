/*
 * oom_control: whether a version 1 memory cgroup kills, and how often it has
 *
 *     oom_kill_disable 0
 *     under_oom 0
 *     oom_kill 0
 *
 * Source    mm/memcontrol-v1.c, mem_cgroup_oom_control_read() (oom_kill since Linux 4.17)
 */
#include "state/dump.h"

static const char *const files[] = {"memory.oom_control", NULL};

static const char *const own[] = {"oom_kill_disable", "under_oom", NULL};
static const char *const shared[] = {"oom_kill", NULL};

static enum row_match control_match(const struct row *row, const struct dump *open)
{
	if (!pair_is(row))
		return ROW_NO;
	if (word_is_among(&row->fields[0], own))
		return ROW_YES;
	return open && word_is_among(&row->fields[0], shared) ? ROW_YES : ROW_NO;
}

const struct dump_kind dump_kind_oom_control = {
	.id = DUMP_OOM_CONTROL,
	.name = "memory.oom_control",
	.title = "a memory cgroup's memory.oom_control",
	.files = files,
	.match = control_match,
	.resembles = pair_resembles,
	.read = pair_read,
};
