/*
 * version: which kernel it is
 *
 *     Linux version 5.10.0-28-amd64 (...) #1 SMP ...          /proc/version
 *     Linux db1 6.1.0-13-amd64 #1 SMP ...                     uname -a
 *
 * Entries   "release": the first two numbers of it
 * Source    init/version.c, linux_proc_banner
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"proc/version", "osrelease", NULL};

/* "5.10.0-28-amd64" */
static bool release_read(const struct field *field, uint64_t *major, uint64_t *minor)
{
	const char *point = memchr(field->at, '.', field->bytes), *end = field->at + field->bytes;
	struct field number;
	size_t digits = 0;

	if (!point)
		return false;
	number = (struct field){field->at, (size_t)(point - field->at)};
	if (number.bytes > 2 || !word_number(&number, major))
		return false;
	point++;
	while (point + digits < end && point[digits] >= '0' && point[digits] <= '9')
		digits++;
	number = (struct field){point, digits};
	return digits <= 3 && word_number(&number, minor);
}

static bool row_release(const struct row *row, uint64_t *major, uint64_t *minor)
{
	if (row->field_count == 1 && strcmp(row->called, "osrelease") == 0)
		return release_read(&row->fields[0], major, minor);
	return row->field_count > 3 && word_is(&row->fields[0], "Linux") &&
	       release_read(&row->fields[2], major, minor);
}

static enum row_match version_match(const struct row *row, const struct dump *open)
{
	uint64_t major, minor;

	(void)open;
	return row_release(row, &major, &minor) ? ROW_BEGINS : ROW_NO;
}

static bool version_resembles(const struct row *row)
{
	(void)row;
	return false;
}

static bool version_read(struct state *state, struct dump *dump, const struct row *row,
			 struct error *error)
{
	static const char name[] = "release";
	uint64_t major, minor;
	struct entry *entry;

	if (!row_release(row, &major, &minor))
		return dump_row_wrong(row, 0, "a kernel's release", error);
	entry = dump_add(state, dump, row, name, strlen(name));
	entry->values[0] = major;
	entry->values[1] = minor;
	entry->value_count = 2;
	return true;
}

const struct dump_kind dump_kind_version = {
	.id = DUMP_VERSION,
	.name = "version",
	.title = "/proc/version",
	.files = files,
	.match = version_match,
	.resembles = version_resembles,
	.read = version_read,
};
