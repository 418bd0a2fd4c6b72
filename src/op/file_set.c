#include "op/file_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/size.h"
#include "op/import.h"

enum { NUMBER_DIGITS_MAX = 9 };

/* ---- which files ---- */

/* "trace.4100": where the number begins; 0: it has none. */
static size_t number_at_end(const char *name, uint32_t *number)
{
	size_t bytes = strlen(name), at = bytes;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at == bytes || bytes - at > NUMBER_DIGITS_MAX || at < 2 || name[at - 1] != '.')
		return 0;
	*number = (uint32_t)strtoul(name + at, NULL, 10);
	return at;
}

static int member_compare(const void *one, const void *other)
{
	const struct file_set_member *a = one, *b = other;
	uint32_t number;
	size_t a_bytes = number_at_end(a->path, &number), b_bytes = number_at_end(b->path, &number);
	int order = strncmp(a->path, b->path, a_bytes < b_bytes ? a_bytes : b_bytes);

	if (order || a_bytes != b_bytes)
		return order ? order : a_bytes < b_bytes ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* All of `folder` whose names are STEM.NUMBER; `stem` NULL: any. */
static void members_collect(struct file_set *set, const char *folder, const char *stem)
{
	DIR *directory = opendir(folder);
	size_t stem_bytes = stem ? strlen(stem) : 0;
	struct dirent *entry;
	struct stat status;

	while (directory && (entry = readdir(directory))) {
		struct file_set_member *member;
		size_t bytes = strlen(folder) + strlen(entry->d_name) + 2, at;
		uint32_t number;
		char *path;

		at = number_at_end(entry->d_name, &number);
		if (!at || (stem &&
			    (at != stem_bytes + 1 || memcmp(entry->d_name, stem, stem_bytes) != 0)))
			continue;
		path = memory_alloc(bytes, 1);
		snprintf(path, bytes, "%s/%s", folder, entry->d_name);
		if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
			memory_free(path);
			continue;
		}
		member = array_push(&set->members);
		*member = (struct file_set_member){.path = path, .number = number};
	}
	if (directory)
		closedir(directory);
}

static void member_close(struct file_set_member *member)
{
	input_close(member->input);
	member->input = NULL;
}

void file_set_destroy(struct file_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->members.count; i++) {
		member_close(&set->members.at[i]);
		memory_free(set->members.at[i].path);
	}
	array_deinit(&set->members);
	memory_free(set);
}

struct file_set *file_set_find(const char *path)
{
	struct file_set *set = memory_alloc(1, sizeof(*set));
	const char *slash = strrchr(path, '/');
	struct stat status;
	char *folder;

	if (strcmp(path, "-") == 0) {
		/* standard input */
	} else if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			members_collect(set, path, NULL);
	} else if (errno == ENOENT && path[0] && !(slash && slash[1] == '\0')) {
		size_t bytes = slash ? (size_t)(slash - path) : 0;

		folder = memory_alloc(bytes + 2, 1);
		memcpy(folder,
		       slash && bytes ? path
		       : slash        ? "/"
				      : ".",
		       slash && bytes ? bytes : 1);
		members_collect(set, folder, slash ? slash + 1 : path);
		memory_free(folder);
	}
	if (set->members.count > 1)
		qsort(set->members.at, set->members.count, sizeof(*set->members.at),
		      member_compare);
	if (set->members.count)
		return set;
	file_set_destroy(set);
	return NULL;
}

/* ---- their rows ---- */

/* Its next row and that one's time. One without a stamp goes with the one before. */
static bool member_step(struct file_set_member *member, file_set_stamp *stamp, struct error *error)
{
	const uint64_t day_ns = 24 * 3600 * NS_PER_SECOND;
	struct import reader = {.input = member->input};
	uint64_t ns, before = member->stamp_ns;
	bool is_day;

	switch (row_next(&member->rows, &reader, &member->row, error)) {
	case ROW_FOUND:
		break;
	case ROW_END:
		member->is_done = true;
		member_close(member);
		return true;
	case ROW_FAILED:
		return false;
	}
	if (!stamp(&member->row, &ns, &is_day))
		return true;
	while (is_day && ns + day_ns / 2 < before)
		ns += day_ns;
	member->stamp_ns = ns > before ? ns : before;
	return true;
}

static bool member_open(struct file_set_member *member, file_set_stamp *stamp, struct error *error)
{
	member->rows = (struct rows){.bytes_max = member->bytes_max};
	member->is_done = false;
	member->input = input_open(member->path, error);
	if (!member->input)
		return false;
	input_keep_nothing(member->input);
	return member_step(member, stamp, error);
}

/* The time of its first row. */
static bool member_begin(struct file_set_member *member, file_set_stamp *stamp, bool *is_day,
			 struct error *error)
{
	bool fine;

	member->stamp_ns = 0;
	if (!member_open(member, stamp, error))
		return false;
	fine = !member->is_done && stamp(&member->row, &member->first_ns, is_day);
	member_close(member);
	if (!fine)
		return error_at(error, member->path, 1, 0,
				"several files can be put in order by time stamps only, and there "
				"is none here: record with -ttt, or read one at a time");
	return true;
}

bool file_set_begin(struct file_set *set, size_t bytes_max, file_set_stamp *stamp,
		    struct error *error)
{
	const uint64_t half_day_ns = 12 * 3600 * NS_PER_SECOND;
	uint64_t latest = 0;
	bool is_day = false;

	set->given = NULL;
	for (size_t i = 0; i < set->members.count; i++) {
		struct file_set_member *member = &set->members.at[i];

		member_close(member);
		member->bytes_max = bytes_max;
		if (!member_begin(member, stamp, &is_day, error))
			return false;
		if (member->first_ns > latest)
			latest = member->first_ns;
		member->is_done = false;
	}
	/* What begins early in the day, while others begin late, began after midnight. */
	for (size_t i = 0; i < set->members.count && is_day; i++)
		if (set->members.at[i].first_ns + half_day_ns < latest)
			set->members.at[i].first_ns += 2 * half_day_ns;
	for (size_t i = 0; i < set->members.count; i++)
		set->members.at[i].stamp_ns = set->members.at[i].first_ns;
	return true;
}

enum row_found file_set_next(struct file_set *set, struct import *import, file_set_stamp *stamp,
			     struct row *row, uint32_t *number, struct error *error)
{
	struct file_set_member *first = NULL;

	/* The row that was given last is of the member whose turn it was. */
	if (set->given && !member_step(set->given, stamp, error))
		return ROW_FAILED;
	set->given = NULL;
	for (size_t i = 0; i < set->members.count; i++) {
		struct file_set_member *member = &set->members.at[i];

		if (!member->is_done && (!first || member->stamp_ns < first->stamp_ns))
			first = member;
	}
	if (!first)
		return ROW_END;
	if (!first->input && !member_open(first, stamp, error))
		return ROW_FAILED;
	set->given = first;
	import->input = first->input;
	*row = first->row;
	*number = first->number;
	return ROW_FOUND;
}
