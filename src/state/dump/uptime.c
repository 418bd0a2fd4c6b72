/*
 * uptime: how long the machine has been running
 *
 *     350735.47 234388.90
 *
 * Entries   "uptime": hundredths of a second
 * Source    fs/proc/uptime.c
 */
#include "state/dump.h"

static const char *const files[] = {"proc/uptime", NULL};

static bool has_point(const struct field *field)
{
	return field->bytes > 3 && field->at[field->bytes - 3] == '.';
}

static enum row_match uptime_match(const struct row *row, const struct dump *open)
{
	uint64_t value;

	(void)open;
	return row->field_count == 2 && has_point(&row->fields[0]) && has_point(&row->fields[1]) &&
			       word_hundredths(&row->fields[0], &value) &&
			       word_hundredths(&row->fields[1], &value)
		       ? ROW_BEGINS
		       : ROW_NO;
}

static bool uptime_resembles(const struct row *row)
{
	return row->field_count == 2 && has_point(&row->fields[0]);
}

static bool uptime_read(struct state *state, struct dump *dump, const struct row *row,
			struct error *error)
{
	const struct field name = {"uptime", 6};
	uint64_t value;

	if (!word_hundredths(&row->fields[0], &value))
		return dump_row_wrong(row, 0, "seconds", error);
	dump_add_value(state, dump, row, &name, value);
	return true;
}

const struct dump_kind dump_kind_uptime = {
	.id = DUMP_UPTIME,
	.name = "uptime",
	.title = "/proc/uptime",
	.files = files,
	.match = uptime_match,
	.resembles = uptime_resembles,
	.read = uptime_read,
};
