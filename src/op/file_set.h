/*
 * file_set: several files that are one trace, as `strace -ff -o NAME` writes them: NAME.PID
 *
 * Who names NAME, which is no file, or a directory of such files, means all of them. Their rows are
 * read as one text, by their time stamps. A file is open only while the time is in it, so that there
 * may be thousands.
 */
#ifndef REFAULT_OP_FILE_SET_H
#define REFAULT_OP_FILE_SET_H

#include "base/array.h"
#include "op/rows/rows.h"

struct import;
struct input;

struct file_set_member {
	char *path;
	uint32_t number;     /* at the end of its name */
	struct input *input; /* NULL: not begun, or at its end */
	struct rows rows;
	struct row row;    /* the next one */
	uint64_t stamp_ns; /* of it */
	uint64_t first_ns; /* of the first one */
	size_t bytes_max;  /* of a row */
	bool is_done;
};

struct file_set {
	ARRAY(struct file_set_member) members; /* by name's beginning and number */
	struct file_set_member *given;         /* whose row was given last */
};

/* NULL: `path` is a file, or nothing of the kind. */
struct file_set *file_set_find(const char *path);
void file_set_destroy(struct file_set *set); /* NULL is fine */

/*
 * The time stamp of a row; *is_day: of a clock that begins again at midnight. False: it has none.
 */
typedef bool file_set_stamp(const struct row *row, uint64_t *ns, bool *is_day);

/*
 * Begin with the earliest row, also once more; one has at most `bytes_max` bytes. False: a file cannot
 * be read, or has no stamps.
 */
bool file_set_begin(struct file_set *set, size_t bytes_max, file_set_stamp *stamp,
		    struct error *error);

/*
 * The next row of all, and the member that it is of: import->input is that file from then on. FAILED:
 * likewise.
 */
enum row_found file_set_next(struct file_set *set, struct import *import, file_set_stamp *stamp,
			     struct row *row, uint32_t *number, struct error *error);

#endif
