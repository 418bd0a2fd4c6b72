/*
 * zoneinfo: free memory and watermarks by zone
 *
 *     Node 0, zone   Normal
 *       pages free     3840
 *             min      10
 *
 * Entries   "0/Normal" (0), and of it "0/Normal/free", min, low, high, managed, present: in pages
 * Source    mm/vmstat.c, zoneinfo_show_print(), of Linux 2.6.13 to 6.18
 * Differs   1. everything else in it stands in vmstat too, and is passed over
 */
#include "state/dump.h"

#include <stdio.h>
#include <string.h>

static const char *const files[] = {"zoneinfo", NULL};

static const char *const wanted[] = {"free", "min", "low", "high", "managed", "present", NULL};

static bool is_zone(const struct row *row)
{
	return row->field_count >= 4 && word_is(&row->fields[0], "Node") &&
	       word_is(&row->fields[2], "zone") &&
	       row->fields[1].at[row->fields[1].bytes - 1] == ',';
}

static enum row_match zoneinfo_match(const struct row *row, const struct dump *open)
{
	if (is_zone(row))
		return row->field_count == 4 ? ROW_YES : ROW_NO;
	return open && row->indent > 0 ? ROW_YES : ROW_NO;
}

static bool zoneinfo_resembles(const struct row *row)
{
	return row->indent > 0;
}

static bool zoneinfo_read(struct state *state, struct dump *dump, const struct row *row,
			  struct error *error)
{
	/* "pages free 3840": the name is the second. */
	size_t at = word_is(&row->fields[0], "pages") ? 1 : 0;
	char text[80];
	struct field name = {.at = text};
	uint64_t value;

	if (is_zone(row)) {
		name.bytes = (size_t)snprintf(
			text, sizeof(text), "%.*s/%.*s", (int)((row->fields[1].bytes - 1) & 15),
			row->fields[1].at, (int)(row->fields[3].bytes & 31), row->fields[3].at);
		dump->own_text = state_text(state, "%s", text);
		dump_add_value(state, dump, row, &name, 0);
		return true;
	}
	if (at >= row->field_count || !word_is_among(&row->fields[at], wanted) || !dump->own_text)
		return true;
	if (row->field_count != at + 2 || !word_number(&row->fields[at + 1], &value))
		return dump_row_wrong(row, at + 1, "a whole number of pages", error);
	name.bytes = (size_t)snprintf(text, sizeof(text), "%s/%.*s", dump->own_text,
				      (int)(row->fields[at].bytes & 15), row->fields[at].at);
	dump_add_value(state, dump, row, &name, value);
	return true;
}

const struct dump_kind dump_kind_zoneinfo = {
	.id = DUMP_ZONEINFO,
	.name = "zoneinfo",
	.title = "/proc/zoneinfo",
	.files = files,
	.match = zoneinfo_match,
	.resembles = zoneinfo_resembles,
	.read = zoneinfo_read,
};
