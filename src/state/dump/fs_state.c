/*
 * fs_state: how many dentries, inodes and open files there are
 *
 *     88200	80150	45	0	61900	0            /proc/sys/fs/dentry-state
 *     67236	154	0	0	0	0	0        /proc/sys/fs/inode-state
 *
 * Entries   nr_dentry, nr_unused, age_limit, want_pages, nr_negative; nr_inodes, nr_free_inodes;
 *           nr_files
 * Source    fs/dcache.c, struct dentry_stat_t: the fifth number is nr_negative since Linux 5.0 and
 *           a 0 before; fs/inode.c, struct inodes_stat_t
 * Differs   1. nr_unused are the dentries on LRU lists: what is not there is in use, and cannot be
 *              reclaimed
 */
#include "state/dump.h"

#include <stdio.h>
#include <string.h>

static const char *const files[] = {"dentry-state", "inode-state", "inode-nr", "file-nr", NULL};

struct layout {
	const char *file;
	size_t count;         /* of numbers */
	const char *names[5]; /* of the first; NULL: the rest is of no use */
};

static const struct layout layouts[] = {
	{"dentry-state", 6, {"nr_dentry", "nr_unused", "age_limit", "want_pages", "nr_negative"}},
	{"inode-state", 7, {"nr_inodes", "nr_free_inodes"}},
	{"inode-nr", 2, {"nr_inodes", "nr_free_inodes"}},
	{"file-nr", 3, {"nr_files"}},
};

/* Where the numbers begin: behind "fs.dentry-state =" of sysctl. */
static size_t numbers_from(const struct row *row, const char **called)
{
	const struct field *name = &row->fields[0];
	size_t from = row->field_count > 1 && word_is(&row->fields[1], "=") ? 2 : 1;

	*called = row->called;
	if (!word_starts(name, "fs."))
		return 0;
	for (size_t i = 0; files[i]; i++) {
		size_t bytes = strlen(files[i]);

		if (name->bytes >= 3 + bytes && memcmp(name->at + 3, files[i], bytes) == 0)
			*called = files[i];
	}
	return from;
}

/* Of rows of numbers: by what the file is called, else by what only that file can hold. */
static const struct layout *layout_of(const struct row *row, size_t *from)
{
	uint64_t values[7];
	const char *called;
	size_t count;

	*from = numbers_from(row, &called);
	count = row->field_count - *from;
	if (row->field_count < *from + 2 || count > 7)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!word_number(&row->fields[*from + i], &values[i]))
			return NULL;
	}
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (strcmp(layouts[i].file, called) == 0)
			return layouts[i].count == count ? &layouts[i] : NULL;
	}
	if (count == 6 && values[2] == 45 && values[3] == 0 && values[5] == 0)
		return &layouts[0];
	if (count == 7 && !values[2] && !values[3] && !values[4] && !values[5] && !values[6])
		return &layouts[1];
	return NULL;
}

static enum row_match fs_match(const struct row *row, const struct dump *open)
{
	size_t from;

	(void)open;
	return layout_of(row, &from) ? ROW_BEGINS : ROW_NO;
}

static bool fs_resembles(const struct row *row)
{
	const char *called;
	size_t from = numbers_from(row, &called);

	for (size_t i = 0; files[i]; i++) {
		if (strcmp(files[i], called) == 0)
			return row->field_count > from && row->fields[from].at[0] >= '0' &&
			       row->fields[from].at[0] <= '9';
	}
	return false;
}

static bool fs_read(struct state *state, struct dump *dump, const struct row *row,
		    struct error *error)
{
	size_t from;
	const struct layout *layout = layout_of(row, &from);

	if (!layout)
		return dump_row_wrong(row, 0, "the numbers of dentry-state or inode-state", error);
	dump->own_text = layout->file;
	for (size_t i = 0; i < 5 && layout->names[i]; i++) {
		const struct field name = {layout->names[i], strlen(layout->names[i])};
		uint64_t value = 0;

		word_number(&row->fields[from + i], &value);
		dump_add_value(state, dump, row, &name, value);
	}
	return true;
}

const struct dump_kind dump_kind_fs_state = {
	.id = DUMP_FS_STATE,
	.name = "fs-state",
	.title = "/proc/sys/fs/dentry-state and inode-state",
	.files = files,
	.match = fs_match,
	.resembles = fs_resembles,
	.read = fs_read,
};
