/*
 * cgroup_stat: how many cgroups there are below one, and how many dead ones still hold memory
 *
 *     nr_descendants 12
 *     nr_dying_descendants 340
 *
 * Source    kernel/cgroup/cgroup.c, cgroup_stat_show() (Linux 4.14)
 */
#include "state/dump.h"

static const char *const files[] = {"cgroup.stat", NULL};

static const char *const own[] = {"nr_descendants", "nr_dying_descendants", "nr_subsys_*",
				  "nr_dying_subsys_*", NULL};

static enum row_match stat_match(const struct row *row, const struct dump *open)
{
	(void)open;
	return pair_is(row) && word_is_among(&row->fields[0], own) ? ROW_YES : ROW_NO;
}

const struct dump_kind dump_kind_cgroup_stat = {
	.id = DUMP_CGROUP_STAT,
	.name = "cgroup.stat",
	.title = "a cgroup's cgroup.stat",
	.files = files,
	.match = stat_match,
	.resembles = pair_resembles,
	.read = pair_read,
};
