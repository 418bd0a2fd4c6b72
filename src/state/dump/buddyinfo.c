/*
 * buddyinfo: free blocks of memory by their size
 *
 *     Node 0, zone   Normal   3413   8332   5739 ...
 *
 * Entries   "0/Normal": blocks of 1, 2, 4, ... pages
 * Source    mm/vmstat.c, frag_show_print()
 */
#include "state/dump.h"

#include <stdio.h>

static const char *const files[] = {"buddyinfo", NULL};

static bool buddyinfo_resembles(const struct row *row)
{
	return row->field_count > 4 && word_is(&row->fields[0], "Node") &&
	       word_is(&row->fields[2], "zone") &&
	       row->fields[3].at[row->fields[3].bytes - 1] != ',';
}

static enum row_match buddyinfo_match(const struct row *row, const struct dump *open)
{
	uint64_t value;

	(void)open;
	if (!buddyinfo_resembles(row) || row->field_count > 4 + ENTRY_VALUES_MAX)
		return ROW_NO;
	for (size_t i = 4; i < row->field_count; i++) {
		if (!word_number(&row->fields[i], &value))
			return ROW_NO;
	}
	return ROW_YES;
}

static bool buddyinfo_read(struct state *state, struct dump *dump, const struct row *row,
			   struct error *error)
{
	char name[64];
	int bytes =
		snprintf(name, sizeof(name), "%.*s/%.*s", (int)((row->fields[1].bytes - 1) & 15),
			 row->fields[1].at, (int)(row->fields[3].bytes & 31), row->fields[3].at);
	struct entry *entry = NULL;

	for (size_t i = 4; i < row->field_count && i < 4 + ENTRY_VALUES_MAX; i++) {
		uint64_t value;

		if (!word_number(&row->fields[i], &value))
			return dump_row_wrong(row, i, "a whole number of blocks", error);
		if (!entry)
			entry = dump_add(state, dump, row, name, (size_t)bytes);
		entry->values[entry->value_count++] = value;
	}
	return true;
}

const struct dump_kind dump_kind_buddyinfo = {
	.id = DUMP_BUDDYINFO,
	.name = "buddyinfo",
	.title = "/proc/buddyinfo",
	.files = files,
	.match = buddyinfo_match,
	.resembles = buddyinfo_resembles,
	.read = buddyinfo_read,
};
