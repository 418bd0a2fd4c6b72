/*
 * csv: the op CSV, the plainest way in
 *
 *     time_ns,thread,op,path,offset,bytes
 *     1000,1,read,heap,8192,8192
 *     2000,1,rename,wal0>wal12,0,0
 *     3000,1,mark,"after, say, half",0,0
 *
 * Idea       two readers of one grammar. row_fast() knows only the row that nearly all rows are: no
 *            quotes, numbers of at most 18 digits, a name of printable bytes, times in order.
 *            Whatever else it meets, it gives up without a word, and row_slow() reads the same row
 *            from its beginning: RFC 4180 quotes, and all the mistakes.
 * Accepts    LF and CRLF, a UTF-8 byte order mark, a last line without its end, empty lines
 *            (skipped), fields in quotes that hold commas, quotes ("" is one) and line ends.
 * Refuses    everything else, with the place: see the messages below.
 * rename     path is from>to, of link too. In it, a '>' that belongs to a name is written twice:
 *            a>>b>c renames "a>b" to "c". Three (or five, ...) in a row could be read two ways and
 *            are refused.
 * sync       needs no path, nor do compute and drop_caches: an empty one stands for ".".
 */
#include "op/import.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FIELD_TIME,
	FIELD_THREAD,
	FIELD_OP,
	FIELD_PATH,
	FIELD_OFFSET,
	FIELD_BYTES,
	FIELD_COUNT,
	ROW_BYTES_MAX = 64 * 1024, /* a quoted rename of two long names has about 33 KiB */
	FAST_DIGITS_MAX = 18,
	KIND_CACHE = 16,
};

static const char *const field_names[FIELD_COUNT] = {"time_ns", "thread", "op",
						     "path",    "offset", "bytes"};
static const char header[] = "time_ns,thread,op,path,offset,bytes";

struct field {
	const unsigned char *at; /* as it stands in the file, quotes included */
	size_t bytes;
	const char *text; /* without them; not ended by NUL */
	size_t text_bytes;
};

struct row {
	const unsigned char *at;
	size_t bytes;              /* without the line end */
	const unsigned char *next; /* where the next row begins */
	const unsigned char *lost; /* or, if this one cannot be read: behind its first line */
	struct field fields[FIELD_COUNT + 1];
	unsigned int count; /* of fields; FIELD_COUNT + 1 stands for all that are too many */
};

struct csv {
	uint64_t line;    /* of the row at hand, from 1 */
	uint64_t time_ns; /* of the row before */
	uint32_t path;    /* the last one; the next is often the same or the one after it */
	struct {
		char text[31];
		uint8_t bytes; /* 0: free */
		enum op_kind kind;
	} kinds[KIND_CACHE]; /* op names seen, by length and first letter */
	char unquoted[2 * ROW_BYTES_MAX];
	size_t unquoted_bytes;
};

/*
 * Fill in where the error is: `bytes` at `at`, which lies in `row`, and the line of the file that
 * holds it.
 */
static bool row_point(const struct import *import, const struct row *row, const unsigned char *at,
		      size_t bytes, struct error *error)
{
	const struct csv *csv = import->state;
	const unsigned char *start = row->at, *stop = row->at + row->bytes, *newline;

	error->line = csv->line;
	while ((newline = memchr(start, '\n', (size_t)(at - start)))) {
		start = newline + 1;
		error->line++;
	}
	newline = memchr(at, '\n', (size_t)(stop - at));
	if (newline)
		stop = newline;
	error->column = (uint64_t)(at - start) + 1;
	error->columns = bytes < (size_t)(stop - at) ? bytes : (size_t)(stop - at);
	return error_excerpt(error, (const char *)start, (size_t)(stop - start));
}

static bool field_point(const struct import *import, const struct row *row,
			const struct field *field, struct error *error)
{
	return row_point(import, row, field->at, field->bytes, error);
}

/* For "%.*s": enough of a field to recognise it. */
static int shown(size_t bytes)
{
	return bytes > 100 ? 100 : (int)bytes;
}

/*
 * Read the quoted field at `at`, which is a quote. Returns the byte after it, NULL if it never
 * ends.
 */
static const unsigned char *field_unquote(struct csv *csv, struct field *field,
					  const unsigned char *at, const unsigned char *end)
{
	char *to = csv->unquoted + csv->unquoted_bytes;

	field->at = at++;
	field->text = to;
	for (; at < end; at++) {
		if (*at == '"' && (at + 1 == end || at[1] != '"')) {
			at++;
			field->bytes = (size_t)(at - field->at);
			field->text_bytes = (size_t)(to - field->text);
			csv->unquoted_bytes += field->text_bytes;
			return at;
		}
		if (*at == '"')
			at++;
		*to++ = (char)*at;
	}
	return NULL;
}

static const unsigned char *field_plain(struct field *field, const unsigned char *at,
					const unsigned char *end)
{
	field->at = at;
	field->text = (const char *)at;
	while (at < end && *at != ',' && *at != '\n' &&
	       !(*at == '\r' && at + 1 < end && at[1] == '\n'))
		at++;
	if (at == end && at > field->at && at[-1] == '\r')
		at--;
	field->bytes = field->text_bytes = (size_t)(at - field->at);
	return at;
}

/*
 * Find the row's fields and its end. At most ROW_BYTES_MAX bytes are looked at; they are visible.
 */
static bool row_split(const struct import *import, struct row *row, struct error *error)
{
	struct csv *csv = import->state;
	const struct input *input = import->input;
	const unsigned char *end = input->end, *at = input->at, *newline;
	bool whole = input->last;

	if (end - at > ROW_BYTES_MAX) {
		end = at + ROW_BYTES_MAX;
		whole = false;
	}
	newline = memchr(at, '\n', (size_t)(end - at));
	*row = (struct row){.at = at, .bytes = (size_t)(end - at), .next = end};
	row->lost = newline ? newline + 1 : end;
	csv->unquoted_bytes = 0;
	for (;;) {
		struct field *field =
			&row->fields[row->count < FIELD_COUNT ? row->count : FIELD_COUNT];
		struct field spare;

		if (row->count > FIELD_COUNT)
			field = &spare; /* the first one too many is the one to point at */
		else
			row->count++;
		if (at < end && *at == '"') {
			const unsigned char *quote = at;

			at = field_unquote(csv, field, at, end);
			if (!at) {
				error_at(error, input->name, 1, 1,
					 "a quote is opened here and not closed%s",
					 whole ? "" : " within 64 KiB");
				return row_point(import, row, quote, 1, error);
			}
		} else {
			at = field_plain(field, at, end);
		}
		if (at < end && *at == ',') {
			at++;
			continue;
		}
		if (at == end || *at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n')))
			break;
		error_at(error, input->name, 1, 1,
			 "a comma or the line's end was expected after the closing quote");
		return row_point(import, row, at, 1, error);
	}
	if (at == end && input->failed) {
		*error = input->failure;
		return false;
	}
	if (at == end && !whole) {
		error_at(error, input->name, 1, 1, "the row is longer than 64 KiB");
		return row_point(import, row, row->at, 0, error);
	}
	row->bytes = (size_t)(at - row->at);
	if (at < end && *at == '\r')
		at++;
	if (at < end && *at == '\n')
		at++;
	row->next = at;
	return true;
}

static bool number_wrong(const struct import *import, const struct row *row, unsigned int which,
			 const char *reason, struct error *error)
{
	const struct field *field = &row->fields[which];

	error_at(error, import->input->name, 1, 1, "%s \"%.*s\" %s", field_names[which],
		 shown(field->text_bytes), field->text, reason);
	return field_point(import, row, field, error);
}

static bool number_read(const struct import *import, const struct row *row, unsigned int which,
			uint64_t most, uint64_t *value, struct error *error)
{
	const struct field *field = &row->fields[which];
	const char *whole = which == FIELD_TIME     ? "is not a whole number of nanoseconds"
			    : which == FIELD_THREAD ? "is not a whole number"
						    : "is not a whole number of bytes";
	bool overflow = false, negative;
	size_t i;

	*value = 0;
	if (field->text_bytes == 0) {
		error_at(error, import->input->name, 1, 1, "%s is empty", field_names[which]);
		return field_point(import, row, field, error);
	}
	negative = field->text[0] == '-' && field->text_bytes > 1;
	for (i = negative; i < field->text_bytes; i++) {
		if (field->text[i] < '0' || field->text[i] > '9')
			return number_wrong(import, row, which, whole, error);
		overflow |= __builtin_mul_overflow(*value, UINT64_C(10), value);
		overflow |= __builtin_add_overflow(*value, (uint64_t)(field->text[i] - '0'), value);
	}
	if (negative)
		return number_wrong(import, row, which, "is negative", error);
	if (overflow || *value > most) {
		char reason[64];

		snprintf(reason, sizeof(reason), "is too large (at most %" PRIu64 ")", most);
		return number_wrong(import, row, which, reason, error);
	}
	return true;
}

static bool kind_read(const struct import *import, const struct row *row, enum op_kind *kind,
		      struct error *error)
{
	const struct field *field = &row->fields[FIELD_OP];
	const char *nearest;

	if (op_kind_from_name(kind, field->text, field->text_bytes))
		return true;
	nearest = op_kind_nearest(field->text, field->text_bytes);
	if (field->text_bytes == 0)
		error_at(error, import->input->name, 1, 1, "op is empty");
	else if (nearest)
		error_at(error, import->input->name, 1, 1, "unknown op \"%.*s\" (nearest: %s)",
			 shown(field->text_bytes), field->text, nearest);
	else
		error_at(error, import->input->name, 1, 1, "unknown op \"%.*s\"",
			 shown(field->text_bytes), field->text);
	return field_point(import, row, field, error);
}

static bool name_check(const struct import *import, const struct row *row, const char *what,
		       const char *text, size_t bytes, struct error *error)
{
	const char *name = import->input->name;

	if (bytes == 0)
		error_at(error, name, 1, 1, "%s is empty", what);
	else if (memchr(text, '\0', bytes))
		error_at(error, name, 1, 1, "%s holds a NUL byte", what);
	else if (bytes > PATH_BYTES_MAX)
		error_at(error, name, 1, 1, "%s is %zu bytes long (at most %d)", what, bytes,
			 PATH_BYTES_MAX);
	else
		return true;
	return field_point(import, row, &row->fields[FIELD_PATH], error);
}

/* "from>to", where ">>" is a '>' in a name: take both apart, in place of the quoted text. */
static bool two_paths_read(const struct import *import, const struct row *row, struct op *op,
			   struct error *error)
{
	struct csv *csv = import->state;
	const struct field *field = &row->fields[FIELD_PATH];
	const char *at = field->text, *end = at + field->text_bytes;
	char *from = csv->unquoted + csv->unquoted_bytes, *to = from;
	char *target = NULL, what[32];
	const char *name = import->input->name, *kind = op_kind_name((enum op_kind)op->kind);

	while (at < end) {
		size_t arrows = 0;

		if (*at != '>') {
			*to++ = *at++;
			continue;
		}
		while (at < end && *at == '>') {
			arrows++;
			at++;
		}
		if (arrows % 2 && arrows > 1) {
			error_at(error, name, 1, 1,
				 "%s with %zu '>' in a row can be read in more than one way", kind,
				 arrows);
			return field_point(import, row, field, error);
		}
		if (arrows > 1) {
			memset(to, '>', arrows / 2);
			to += arrows / 2;
			continue;
		}
		if (target) {
			error_at(error, name, 1, 1,
				 "%s has more than one '>' (write from>to, and >> for a '>' in "
				 "a name)",
				 kind);
			return field_point(import, row, field, error);
		}
		target = to;
	}
	if (!target) {
		error_at(error, name, 1, 1, "%s \"%.*s\" is not from>to", kind,
			 shown(field->text_bytes), field->text);
		return field_point(import, row, field, error);
	}
	snprintf(what, sizeof(what), "%s's old name", kind);
	if (!name_check(import, row, what, from, (size_t)(target - from), error))
		return false;
	snprintf(what, sizeof(what), "%s's new name", kind);
	if (!name_check(import, row, what, target, (size_t)(to - target), error))
		return false;
	op->path = path_intern(import->source.paths, from, (size_t)(target - from));
	op->path_to = path_intern(import->source.paths, target, (size_t)(to - target));
	return true;
}

static bool path_read(const struct import *import, const struct row *row, struct op *op,
		      struct error *error)
{
	const char *text = row->fields[FIELD_PATH].text;
	size_t bytes = row->fields[FIELD_PATH].text_bytes;

	if (op_kind_has_two_paths(op->kind))
		return two_paths_read(import, row, op, error);
	if (op_kind_is_of_no_file(op->kind) && bytes == 0) {
		text = ".";
		bytes = 1;
	}
	if (!name_check(import, row, op->kind == OP_MARK ? "label" : "path", text, bytes, error))
		return false;
	op->path = path_intern(import->source.paths, text, bytes);
	return true;
}

/* As an op keeps it: from four thousand million lines on, nowhere. */
static uint32_t line_kept(uint64_t line)
{
	return line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* A row of six fields. The path comes last, so that a wrong row leaves no path behind. */
static bool row_read(const struct import *import, const struct row *row, struct op *op,
		     struct error *error)
{
	const struct csv *csv = import->state;
	enum op_kind kind;
	uint64_t thread;

	*op = (struct op){.line = line_kept(csv->line)};
	if (!number_read(import, row, FIELD_TIME, OP_TIME_MAX, &op->time_ns, error) ||
	    !number_read(import, row, FIELD_THREAD, UINT32_MAX, &thread, error) ||
	    !kind_read(import, row, &kind, error) ||
	    !number_read(import, row, FIELD_OFFSET, OP_END_MAX - 1, &op->offset, error) ||
	    !number_read(import, row, FIELD_BYTES, OP_END_MAX - 1, &op->bytes, error))
		return false;
	op->thread = (uint32_t)thread;
	op->kind = (uint8_t)kind;
	if (op->offset + op->bytes > OP_END_MAX) {
		const struct field *field = &row->fields[FIELD_OFFSET];

		error_at(error, import->input->name, 1, 1,
			 "offset %" PRIu64 " and bytes %" PRIu64 " together go beyond 2^63",
			 op->offset, op->bytes);
		return row_point(import, row, field->at, (size_t)(row->at + row->bytes - field->at),
				 error);
	}
	if (op->time_ns < csv->time_ns) {
		error_at(error, import->input->name, 1, 1,
			 "mis-ordered: time_ns %" PRIu64 " is earlier than the %" PRIu64
			 " before it",
			 op->time_ns, csv->time_ns);
		return field_point(import, row, &row->fields[FIELD_TIME], error);
	}
	return path_read(import, row, op, error);
}

static bool count_wrong(const struct import *import, const struct row *row, struct error *error)
{
	const char *name = import->input->name;

	if (row->count > FIELD_COUNT) {
		error_at(error, name, 1, 1,
			 "more than 6 fields (a path with a comma in it must be quoted)");
		return row_point(import, row, row->fields[FIELD_COUNT].at,
				 (size_t)(row->at + row->bytes - row->fields[FIELD_COUNT].at),
				 error);
	}
	if (memchr(row->at, '\0', row->bytes))
		error_at(error, name, 1, 1, "a NUL byte: this is not text");
	else
		error_at(error, name, 1, 1, "%u field%s where 6 were expected (%s)", row->count,
			 row->count == 1 ? "" : "s", header);
	return row_point(import, row, row->at, row->bytes, error);
}

/*
 * An unquoted field with a quote in it: RFC 4180 forbids it, since nobody can say what was meant.
 */
static bool quotes_wrong(const struct import *import, const struct row *row, struct error *error)
{
	for (unsigned int i = 0; i < row->count; i++) {
		const struct field *field = &row->fields[i];

		if (field->at[0] == '"' || !memchr(field->at, '"', field->bytes))
			continue;
		error_at(error, import->input->name, 1, 1,
			 "%s with a quote in it must be quoted itself, and its quotes doubled",
			 field_names[i]);
		field_point(import, row, field, error);
		return true;
	}
	return false;
}

/*
 * Read the row at input->at, whatever it holds; *any false: an empty line. Moves on behind it, also
 * from a wrong one.
 */
static bool row_slow(struct import *import, struct op *op, bool *any, struct error *error)
{
	struct csv *csv = import->state;
	struct input *input = import->input;
	const unsigned char *next, *newline;
	struct row row;
	bool fine;

	fine = row_split(import, &row, error);
	next = fine ? row.next : row.lost;
	*any = !fine || row.bytes > 0;
	if (fine && *any) {
		if (row.count != FIELD_COUNT)
			fine = count_wrong(import, &row, error);
		else
			fine = !quotes_wrong(import, &row, error) &&
			       row_read(import, &row, op, error);
	}
	while ((newline = memchr(input->at, '\n', (size_t)(next - input->at)))) {
		csv->line++;
		input->at = newline + 1;
	}
	input->at = next;
	return fine;
}

static const unsigned char *digits(const unsigned char *at, uint64_t *value)
{
	uint64_t number = 0;
	unsigned int digit;

	while ((digit = (unsigned int)*at - '0') <= 9) {
		number = number * 10 + digit;
		at++;
	}
	*value = number;
	return at;
}

/* Were these the digits of a number that needs no further look, and does `after` follow? */
static bool plain_number(const unsigned char *from, const unsigned char *to, unsigned char after)
{
	return to != from && to - from <= FAST_DIGITS_MAX && *to == after;
}

static bool kind_fast(struct csv *csv, const unsigned char *text, size_t bytes, enum op_kind *kind)
{
	size_t at = (bytes + text[0]) % KIND_CACHE;

	if (bytes == 0)
		return false;
	if (csv->kinds[at].bytes == bytes && memcmp(csv->kinds[at].text, text, bytes) == 0) {
		*kind = csv->kinds[at].kind;
		return true;
	}
	if (bytes > sizeof(csv->kinds[at].text) ||
	    !op_kind_from_name(kind, (const char *)text, bytes))
		return false;
	memcpy(csv->kinds[at].text, text, bytes);
	csv->kinds[at].bytes = (uint8_t)bytes;
	csv->kinds[at].kind = *kind;
	return true;
}

static bool path_is(const struct path_table *paths, uint32_t path, const char *text, size_t bytes)
{
	return path < path_count(paths) && path_bytes(paths, path) == bytes &&
	       memcmp(path_text(paths, path), text, bytes) == 0;
}

static uint32_t path_fast(struct csv *csv, struct path_table *paths, const char *text, size_t bytes)
{
	if (path_is(paths, csv->path, text, bytes))
		return csv->path;
	if (path_is(paths, csv->path + 1, text, bytes))
		return ++csv->path;
	return csv->path = path_intern(paths, text, bytes);
}

/*
 * The usual row. False: not usual, and nothing has happened. Needs no look at input->end: the 0
 * that stands there ends every loop, and a row is taken only with its line end.
 */
static bool row_fast(struct import *import, struct op *op)
{
	struct csv *csv = import->state;
	const unsigned char *at = import->input->at, *start = at, *path;
	uint64_t time_ns, thread, offset, bytes;
	enum op_kind kind;
	size_t path_length;

	at = digits(start, &time_ns);
	if (!plain_number(start, at, ',') || time_ns < csv->time_ns)
		return false;
	start = ++at;
	at = digits(start, &thread);
	if (!plain_number(start, at, ',') || thread > UINT32_MAX)
		return false;
	start = ++at;
	while (*at >= '_')
		at++;
	if (*at != ',' || !kind_fast(csv, start, (size_t)(at - start), &kind) ||
	    op_kind_has_two_paths(kind))
		return false;
	path = ++at;
	while (*at >= ' ' && *at != ',' && *at != '"')
		at++;
	path_length = (size_t)(at - path);
	if (*at != ',' || path_length == 0 || path_length > PATH_BYTES_MAX)
		return false;
	start = ++at;
	at = digits(start, &offset);
	if (!plain_number(start, at, ','))
		return false;
	start = ++at;
	at = digits(start, &bytes);
	if (*at == '\r' && at[1] == '\n') {
		if (!plain_number(start, at, '\r'))
			return false;
		at++;
	} else if (!plain_number(start, at, '\n')) {
		return false;
	}
	*op = (struct op){
		.time_ns = time_ns,
		.offset = offset,
		.bytes = bytes,
		.path = path_fast(csv, import->source.paths, (const char *)path, path_length),
		.thread = (uint32_t)thread,
		.line = line_kept(csv->line),
		.kind = (uint8_t)kind,
	};
	import->input->at = at + 1;
	csv->line++;
	return true;
}

static bool csv_next(struct import *import, struct op *ops, size_t count, size_t *got,
		     struct error *error)
{
	struct csv *csv = import->state;
	struct input *input = import->input;
	struct error unreadable;

	*got = 0;
	while (*got < count) {
		struct op *op = &ops[*got];
		bool any, readable = true;

		/* A whole row is visible, or none is left to come. */
		if (input_visible(input) < ROW_BYTES_MAX && !input->last)
			readable = input_fill(input, ROW_BYTES_MAX, &unreadable);
		if (row_fast(import, op)) {
			csv->time_ns = op->time_ns;
			import->rows++;
			++*got;
			continue;
		}
		if (!readable && !memchr(input->at, '\n', input_visible(input))) {
			*error = unreadable;
			return false;
		}
		if (input->at == input->end)
			return true;
		if (row_slow(import, op, &any, error)) {
			if (any) {
				csv->time_ns = op->time_ns;
				import->rows++;
				++*got;
			}
		} else if (!import_row_wrong(import, error)) {
			return false;
		}
	}
	return true;
}

static enum import_match csv_match(const unsigned char *head, size_t bytes, bool whole)
{
	(void)whole;
	if (bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
		head += 3;
		bytes -= 3;
	}
	if (bytes >= sizeof(header) - 1 && memcmp(head, header, sizeof(header) - 1) == 0)
		return IMPORT_YES;
	return import_is_text(head, bytes) ? IMPORT_PERHAPS : IMPORT_NO;
}

static bool csv_begin(struct import *import, struct error *error)
{
	struct csv *csv = import->state;
	struct input *input = import->input;
	struct row row;

	csv->line = 1;
	if (!input_fill(input, ROW_BYTES_MAX, error) &&
	    !memchr(input->at, '\n', input_visible(input)))
		return false;
	if (input_visible(input) >= 3 && memcmp(input->at, "\xef\xbb\xbf", 3) == 0)
		input->at += 3;
	if (!row_split(import, &row, error))
		return error_context(error, "no header line \"%s\"", header);
	for (unsigned int i = 0; i < FIELD_COUNT && row.count == FIELD_COUNT; i++) {
		const struct field *field = &row.fields[i];

		if (field->text_bytes != strlen(field_names[i]) ||
		    memcmp(field->text, field_names[i], field->text_bytes) != 0)
			row.count = 0;
	}
	if (row.count != FIELD_COUNT) {
		error_at(
			error, input->name, 1, 1,
			"the header line was expected: %s (of another text, --columns says what is "
			"where)",
			header);
		return row_point(import, &row, row.at, row.bytes, error);
	}
	input->at = row.next;
	csv->line = 2;
	return true;
}

const struct import_format format_csv = {
	.about = {.name = "csv", .summary = "the op CSV: time_ns,thread,op,path,offset,bytes"},
	.state_bytes = sizeof(struct csv),
	.match = csv_match,
	.begin = csv_begin,
	.next = csv_next,
};
