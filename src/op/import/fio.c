/*
 * fio: what write_iolog writes, versions 2 and 3
 *
 *     fio version 2 iolog             fio version 3 iolog
 *     /data/db/base.0 add             19 /data/db/base.0 add
 *     /data/db/base.0 read 0 16384    118 /data/db/base.0 read 0 16384
 *     /data/db/base.0 wait 250000 0
 *
 * Source     fio's HOWTO, "Trace file format v2" and "v3". Version 2 has waits: microseconds, each
 *            relative to the one before, and everything below 100 is no wait; version 3 has time
 *            stamps, which fio 3.33 writes in microseconds since the start (measured: by running it).
 * Differs    1. fio 3.33 itself replays a wait as milliseconds since the start (measured); the
 *            manual's reading is the one taken here. 2. A name may hold blanks, which fio cannot
 *            read back: the action is looked for from the line's end. 3. trim is left out.
 * Files      as named; there before the start, as large as the log reaches, as fio lays them out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"
#include "op/rows/request.h"

enum { WAIT_US_LEAST = 100, WORDS_MAX = 3 };

static const char header[] = "fio version ";

struct fio {
	struct rows rows;
	struct requests requests;
	int version;
	uint64_t time_ns;         /* version 2: the waits so far */
	ARRAY(bool) open_by_path; /* what close can close */
};

enum action {
	ACTION_ADD,
	ACTION_OPEN,
	ACTION_CLOSE,
	ACTION_READ,
	ACTION_WRITE,
	ACTION_TRIM,
	ACTION_WAIT,
	ACTION_SYNC,
	ACTION_DATASYNC,
	ACTION_SYNC_RANGE,
	ACTION_COUNT,
};

/* `numbers`: how many follow it at least, and at most. */
static const struct {
	const char *words;
	unsigned int least, most;
} actions[ACTION_COUNT] = {
	[ACTION_ADD] = {"add", 0, 0},
	[ACTION_OPEN] = {"open", 0, 0},
	[ACTION_CLOSE] = {"close", 0, 0},
	[ACTION_READ] = {"read", 2, 2},
	[ACTION_WRITE] = {"write", 2, 2},
	[ACTION_TRIM] = {"trim", 2, 2},
	[ACTION_WAIT] = {"wait", 1, 2},
	[ACTION_SYNC] = {"sync|fsync|syncfs", 0, 2},
	[ACTION_DATASYNC] = {"datasync|fdatasync", 0, 2},
	[ACTION_SYNC_RANGE] = {"sync_file_range", 2, 2},
};

/* A line taken apart. */
struct entry {
	struct field name;
	enum action action;
	uint64_t offset, bytes, stamp;
};

static enum import_match fio_match(const unsigned char *head, size_t bytes, bool whole)
{
	(void)whole;
	if (bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
		head += 3;
		bytes -= 3;
	}
	return bytes > sizeof(header) && memcmp(head, header, sizeof(header) - 1) == 0 ? IMPORT_YES
										       : IMPORT_NO;
}

/* The version that a header line says; 0: it is none. */
static int header_version(const struct row *row)
{
	char text[64];
	size_t bytes = (size_t)(row->end - row->at);
	int version, used = 0;

	if (bytes >= sizeof(text))
		return 0;
	memcpy(text, row->at, bytes);
	text[bytes] = '\0';
	return sscanf(text, "fio version %d iolog%n", &version, &used) == 1 && used ? version : 0;
}

static bool fio_begin(struct import *import, struct error *error)
{
	struct fio *fio = import->state;
	struct row row;

	switch (row_next(&fio->rows, import, &row, error)) {
	case ROW_FAILED:
		return false;
	case ROW_END:
		return error_at(error, import->input->name, 1, 1, "no header line");
	case ROW_FOUND:
		break;
	}
	fio->version = header_version(&row);
	if (fio->version != 2 && fio->version != 3)
		return row_wrong(import, &row, NULL, error,
				 "\"fio version 2 iolog\" or \"fio version 3 iolog\" was expected");
	/* Stamps count from the start of fio, not from the first row. */
	fio->requests = (struct requests){.tick_ns = NS_PER_US, .may_wrap = true, .any = true};
	return true;
}

static void fio_end(struct import *import)
{
	struct fio *fio = import->state;

	if (fio)
		array_deinit(&fio->open_by_path);
}

/* ---- a line ---- */

static bool is_blank(unsigned char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Cut the last word off. False: there is none. */
static bool last_word(const unsigned char *start, const unsigned char **end, struct field *word)
{
	const unsigned char *at;

	while (*end > start && is_blank((*end)[-1]))
		(*end)--;
	for (at = *end; at > start && !is_blank(at[-1]);)
		at--;
	*word = (struct field){at, (size_t)(*end - at)};
	*end = at;
	return word->bytes > 0;
}

/*
 * The action: the last word, or the one before a number, or before two. *numbers is how many follow
 * it, in words[0 .. *numbers - 1] from the last one on; *end is where the name ends.
 */
static bool action_find(const unsigned char *start, const unsigned char **end, struct field *words,
			unsigned int *numbers, enum action *action)
{
	uint64_t value;

	for (*numbers = 0; *numbers < WORDS_MAX; ++*numbers) {
		struct field *word = &words[*numbers];

		if (!last_word(start, end, word))
			return false;
		for (unsigned int i = 0; i < ACTION_COUNT; i++) {
			if (*numbers >= actions[i].least && *numbers <= actions[i].most &&
			    field_is_among(word, actions[i].words)) {
				*action = (enum action)i;
				return true;
			}
		}
		if (field_whole(word, false, &value) != NUMBER_FINE)
			return false;
	}
	return false;
}

static bool number_read(const struct import *import, const struct row *row,
			const struct field *field, const char *what, uint64_t *value,
			struct error *error)
{
	enum number_verdict verdict = field_whole(field, false, value);

	return verdict == NUMBER_FINE ||
	       row_wrong(import, row, field, error, "%s \"%.*s\" %s", what, field_shown(field),
			 (const char *)field->at, number_verdict_text(verdict));
}

static bool entry_read(const struct import *import, const struct row *row, struct entry *entry,
		       struct error *error)
{
	const struct fio *fio = import->state;
	const unsigned char *start = row->at, *end = row->end;
	struct field words[WORDS_MAX], stamp;
	unsigned int numbers;

	*entry = (struct entry){0};
	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the row is longer than 64 KiB");
	while (is_blank(*start))
		start++;
	if (fio->version == 3) {
		stamp.at = start;
		while (start < end && !is_blank(*start))
			start++;
		stamp.bytes = (size_t)(start - stamp.at);
		if (!number_read(import, row, &stamp, "time", &entry->stamp, error))
			return false;
		while (start < end && is_blank(*start))
			start++;
	}
	if (!action_find(start, &end, words, &numbers, &entry->action))
		return row_wrong(import, row, NULL, error,
				 "no action was found: \"NAME read OFFSET BYTES\" or the like was "
				 "expected");
	while (end > start && is_blank(end[-1]))
		end--;
	entry->name = (struct field){start, (size_t)(end - start)};
	if (numbers &&
	    !number_read(import, row, &words[numbers - 1], "offset", &entry->offset, error))
		return false;
	return numbers < 2 || number_read(import, row, &words[0], "length", &entry->bytes, error);
}

/* ---- as an op ---- */

static bool *is_open(struct fio *fio, uint32_t path)
{
	while (fio->open_by_path.count <= path)
		*array_push(&fio->open_by_path) = false;
	return &fio->open_by_path.at[path];
}

static const struct import_remark not_open = {
	.key = "closes_of_files_not_open",
	.one = "close of a file that is not open was left out",
	.many = "closes of files that are not open were left out",
};

static bool wait_for(struct import *import, const struct row *row, const struct entry *entry,
		     struct error *error)
{
	static const struct import_remark reading = {
		.key = "waits_in_microseconds",
		.one = "waits are read as the manual has them: microseconds, each relative to the "
		       "wait before (fio 3.33 replays them as milliseconds since the start)",
	};
	static const struct import_remark too_short = {
		.key = "waits_too_short",
		.one = "wait of less than 100 microseconds is none, as the manual says",
		.many = "waits of less than 100 microseconds are none, as the manual says",
	};
	struct fio *fio = import->state;
	uint64_t ns;

	import_note(import, &reading, 0, 0);
	if (fio->version == 3)
		return true; /* the stamps say all */
	if (entry->offset < WAIT_US_LEAST) {
		import_note(import, &too_short, 1, row->line);
		return true;
	}
	if (__builtin_mul_overflow(entry->offset, NS_PER_US, &ns) ||
	    ns > OP_TIME_MAX - fio->time_ns)
		return row_wrong(import, row, NULL, error, "it waits for more than 292 years");
	import_stamp(import, fio->time_ns);
	fio->time_ns += ns;
	import_stamp(import, fio->time_ns);
	return true;
}

/* Reads, writes and trims. */
static bool request_entry(struct import *import, const struct row *row, const struct entry *entry,
			  uint32_t path, struct op *op, bool *is_op, struct error *error)
{
	struct fio *fio = import->state;
	struct requests untimed = {0};
	const struct request request = {
		.kind = entry->action == ACTION_READ    ? REQUEST_READ
			: entry->action == ACTION_WRITE ? REQUEST_WRITE
							: REQUEST_DISCARD,
		.offset = entry->offset,
		.bytes = entry->bytes,
		.path = path,
	};

	/* The row's time is known already. */
	if (!request_read(import, &untimed, &request, row, op, is_op, error))
		return false;
	if (*is_op) {
		op->time_ns = fio->time_ns;
		*is_open(fio, path) = true;
	}
	return true;
}

/* Actions on a file that have a kind of op of their own. */
static bool file_entry(struct import *import, const struct row *row, const struct entry *entry,
		       uint32_t path, struct op *op, bool *is_op)
{
	struct fio *fio = import->state;
	bool *open = is_open(fio, path);

	*op = (struct op){.time_ns = fio->time_ns, .path = path, .line = row_line_kept(row)};
	*is_op = true;
	switch (entry->action) {
	case ACTION_OPEN:
		op->kind = OP_OPEN;
		*open = true;
		return true;
	case ACTION_CLOSE:
		op->kind = OP_CLOSE;
		*is_op = *open;
		if (!*open)
			import_note(import, &not_open, 1, row->line);
		*open = false;
		return true;
	case ACTION_SYNC:
		op->kind = OP_FSYNC;
		*open = true;
		return true;
	case ACTION_DATASYNC:
		op->kind = OP_FDATASYNC;
		*open = true;
		return true;
	default: /* add */
		*is_op = false;
		return true;
	}
}

static bool row_read(struct import *import, const struct row *row, struct op *op, bool *is_op,
		     struct error *error)
{
	static const struct import_remark again = {
		.key = "headers_within",
		.one = "header line within the file was skipped",
		.many = "header lines within the file were skipped",
	};
	static const struct import_remark microseconds = {
		.key = "times_in_microseconds",
		.one = "time stamps are read as microseconds since the start, as fio 3.33 writes "
		       "them",
	};
	struct fio *fio = import->state;
	struct entry entry;
	uint32_t path;
	bool fine = true;

	*is_op = false;
	if (header_version(row)) {
		import_note(import, &again, 1, row->line);
		return true;
	}
	if (!entry_read(import, row, &entry, error)) {
		if (row->is_ended || row->is_too_long)
			return false;
		import_note(import, &import_last_line_cut, 1, row->line);
		return true;
	}
	if (fio->version == 3) {
		import_note(import, &microseconds, 0, 0);
		if (!request_time(import, &fio->requests, entry.stamp, row->line, &fio->time_ns))
			return row_wrong(import, row, NULL, error,
					 "its time is more than 292 years from the start");
	}
	if (!request_path(import, "", &entry.name, &path))
		return row_wrong(import, row, &entry.name, error, "the name is %s",
				 entry.name.bytes ? "no name: too long, or with a NUL byte"
						  : "missing");
	if (entry.offset > OP_END_MAX || entry.bytes > OP_END_MAX - entry.offset)
		return row_wrong(import, row, NULL, error,
				 "offset and bytes together go beyond 2^63");
	import_file_found(import, path, 0);
	switch (entry.action) {
	case ACTION_WAIT:
		fine = wait_for(import, row, &entry, error);
		break;
	case ACTION_READ:
	case ACTION_WRITE:
	case ACTION_TRIM:
		fine = request_entry(import, row, &entry, path, op, is_op, error);
		break;
	case ACTION_SYNC_RANGE:
		*op = (struct op){.time_ns = fio->time_ns,
				  .offset = entry.offset,
				  .bytes = entry.bytes,
				  .path = path,
				  .line = row_line_kept(row),
				  .kind = OP_SYNC_FILE_RANGE};
		*is_op = *is_open(fio, path) = true;
		break;
	default:
		fine = file_entry(import, row, &entry, path, op, is_op);
		break;
	}
	import->rows += fine;
	return fine;
}

static bool fio_next(struct import *import, struct op *ops, size_t count, size_t *got,
		     struct error *error)
{
	struct fio *fio = import->state;

	return rows_ops(&fio->rows, import, row_read, ops, count, got, error);
}

const struct import_format format_fio = {
	.about = {.name = "fio", .summary = "fio's iolog, versions 2 and 3"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct fio),
	.match = fio_match,
	.begin = fio_begin,
	.next = fio_next,
	.end = fio_end,
};
