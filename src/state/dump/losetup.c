/*
 * losetup: files that are mounted as devices
 *
 *     NAME       SIZELIMIT OFFSET AUTOCLEAR RO BACK-FILE      DIO LOG-SEC
 *     /dev/loop0         0      0         0  0 /srv/disk.img    0     512
 *
 * Entries   "/dev/loop0": 1 if its file is read and written around the page cache (DIO), else 0; no
 *           value where the list does not say
 * Source    util-linux, sys-utils/losetup.c: `losetup` or `losetup -l`; `losetup -a` has no DIO
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"losetup", NULL};

static bool is_heading(const struct row *row)
{
	bool has_file = false;

	for (size_t i = 0; i < row->field_count; i++)
		has_file |= word_is(&row->fields[i], "BACK-FILE");
	return has_file && word_is(&row->fields[0], "NAME");
}

static enum row_match losetup_match(const struct row *row, const struct dump *open)
{
	(void)open;
	if (is_heading(row))
		return ROW_BEGINS;
	return word_starts(&row->fields[0], "/dev/loop") && row->field_count > 1 ? ROW_YES : ROW_NO;
}

static bool losetup_resembles(const struct row *row)
{
	return word_starts(&row->fields[0], "/dev/loop");
}

/* How many columns stand behind DIO's: names of files may have blanks, numbers have none. */
static void heading_read(struct dump *dump, const struct row *row)
{
	for (size_t i = 0; i < row->field_count; i++) {
		if (word_is(&row->fields[i], "DIO"))
			dump->own[0] = row->field_count - i;
	}
}

static bool losetup_read(struct state *state, struct dump *dump, const struct row *row,
			 struct error *error)
{
	struct field name = row->fields[0];
	uint64_t from_end = dump->own[0], dio;
	struct entry *entry;

	if (is_heading(row)) {
		heading_read(dump, row);
		return true;
	}
	if (name.at[name.bytes - 1] == ':')
		name.bytes--;
	if (from_end && (row->field_count <= from_end ||
			 !word_number(&row->fields[row->field_count - from_end], &dio)))
		return dump_row_wrong(row, row->field_count, "0 or 1 for DIO", error);
	entry = dump_add(state, dump, row, name.at, name.bytes);
	if (from_end) {
		entry->values[0] = dio;
		entry->value_count = 1;
	}
	return true;
}

const struct dump_kind dump_kind_losetup = {
	.id = DUMP_LOSETUP,
	.name = "losetup",
	.title = "losetup",
	.files = files,
	.match = losetup_match,
	.resembles = losetup_resembles,
	.read = losetup_read,
};
