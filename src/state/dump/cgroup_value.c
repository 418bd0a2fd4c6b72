/*
 * cgroup_value: the files of a memory cgroup that hold one number
 *
 *     268435456     or     max
 *
 * Entries   the file's name: bytes (memory.failcnt: how often); VALUE_UNLIMITED where it says max, or
 *           what version 1 shows when there is no limit: the largest whole number of pages
 * Source    mm/memcontrol.c, memory_files[]; mm/memcontrol-v1.c, mem_cgroup_legacy_files[];
 *           Linux 2.6.25 shows 2^63 - 1
 * Differs   1. nothing in the number tells what it is: the heading, or the file's name, must
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"memory.current",
				    "memory.max",
				    "memory.high",
				    "memory.low",
				    "memory.min",
				    "memory.peak",
				    "memory.swap.current",
				    "memory.swap.max",
				    "memory.usage_in_bytes",
				    "memory.limit_in_bytes",
				    "memory.max_usage_in_bytes",
				    "memory.soft_limit_in_bytes",
				    "memory.failcnt",
				    "memory.swappiness",
				    "memory.memsw.usage_in_bytes",
				    "memory.memsw.limit_in_bytes",
				    "memory.kmem.usage_in_bytes",
				    "memory.kmem.limit_in_bytes",
				    NULL};

static const char *value_which(const char *called)
{
	for (size_t i = 0; files[i]; i++) {
		if (strcmp(files[i], called) == 0)
			return files[i];
	}
	return "";
}

static enum row_match value_match(const struct row *row, const struct dump *open)
{
	uint64_t value;

	(void)open;
	if (row->field_count != 1 || !*value_which(row->called))
		return ROW_NO;
	return word_is(&row->fields[0], "max") || word_number(&row->fields[0], &value) ? ROW_BEGINS
										       : ROW_NO;
}

static bool value_resembles(const struct row *row)
{
	return row->field_count == 1 && *value_which(row->called);
}

static bool value_read(struct state *state, struct dump *dump, const struct row *row,
		       struct error *error)
{
	const struct field name = {row->called, strlen(row->called)};
	uint64_t value = VALUE_UNLIMITED;

	if (!word_is(&row->fields[0], "max") && !word_number(&row->fields[0], &value))
		return dump_row_wrong(row, 0, "a whole number, or max", error);
	/* No machine has 2^60 bytes: version 1 without a limit. */
	if (value >> 60)
		value = VALUE_UNLIMITED;
	dump_add_value(state, dump, row, &name, value);
	return true;
}

const struct dump_kind dump_kind_cgroup_value = {
	.id = DUMP_CGROUP_VALUE,
	.name = "cgroup-value",
	.title = "a memory cgroup's files of one number",
	.files = files,
	.match = value_match,
	.resembles = value_resembles,
	.read = value_read,
	.which = value_which,
};
