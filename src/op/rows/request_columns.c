#include "op/rows/request_columns.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { PEEKED_ROWS_MAX = 64, DEVICE_BYTES_MAX = 2000 };

static const char *const column_names[COLUMN_COUNT] = {
	[COLUMN_TIME] = "time",
	[COLUMN_RESPONSE] = "response time",
	[COLUMN_OP] = "op",
	[COLUMN_OFFSET] = "offset",
	[COLUMN_BYTES] = "size",
	[COLUMN_DEVICE] = "device",
	[COLUMN_DEVICE_TOO] = "device",
	[COLUMN_THREAD] = "thread",
};

/* What else block traces call what they do. */
static const char discard_words[] = "d|discard|trim|unmap|erase|ds";
static const char flush_words[] = "f|flush|sync|fsync|fs|barrier";

/* A row as its columns say, or what is wrong with it. */
struct parsed {
	struct request request; /* all but the path */
	struct field device, device_too;
	unsigned int wrong_column; /* COLUMN_COUNT: the row as a whole */
	const char *wrong;         /* NULL: nothing */
	struct field wrong_field;
};

static bool is_wrong(struct parsed *parsed, enum request_column column, const struct field *field,
		     const char *what)
{
	parsed->wrong = what;
	parsed->wrong_column = column;
	if (field)
		parsed->wrong_field = *field;
	return false;
}

static bool number_parse_at(struct parsed *parsed, enum request_column column,
			    const struct field *field, uint64_t unit, uint64_t *value)
{
	enum number_verdict verdict = field_whole(field, false, value);

	if (verdict == NUMBER_FINE && __builtin_mul_overflow(*value, unit, value))
		verdict = NUMBER_TOO_LARGE;
	return verdict == NUMBER_FINE ||
	       is_wrong(parsed, column, field, number_verdict_text(verdict));
}

static bool is_word(const struct field *field)
{
	for (size_t i = 0; i < field->bytes; i++) {
		unsigned int lower = field->at[i] | 0x20;

		if ((lower < 'a' || lower > 'z') && lower != '_' && lower != '-')
			return false;
	}
	return field->bytes > 0;
}

static bool op_parse(const struct request_columns *columns, struct parsed *parsed,
		     const struct field *field)
{
	enum request_kind *kind = &parsed->request.kind;
	uint64_t bits;

	if (columns->op_bit_reads) {
		enum number_verdict verdict = field_whole(field, true, &bits);

		*kind = bits & 1 ? REQUEST_READ : REQUEST_WRITE;
		return verdict == NUMBER_FINE ||
		       is_wrong(parsed, COLUMN_OP, field, number_verdict_text(verdict));
	}
	if (field_is_among(field, columns->reads))
		*kind = REQUEST_READ;
	else if (field_is_among(field, columns->writes))
		*kind = REQUEST_WRITE;
	else if (field_is_among(field, discard_words))
		*kind = REQUEST_DISCARD;
	else if (field_is_among(field, flush_words))
		*kind = REQUEST_FLUSH;
	else if (field->bytes == 0 || is_word(field))
		*kind = REQUEST_OTHER;
	else
		return is_wrong(parsed, COLUMN_OP, field, "is neither a read nor a write");
	return true;
}

/* A response that is not there says nothing of the request. */
static void response_parse(const struct request_columns *columns, struct parsed *parsed,
			   const struct field *field)
{
	parsed->request.has_response = field_scaled(field, columns->response_unit_ns,
						    &parsed->request.response_ns) == NUMBER_FINE;
}

static bool row_parse(const struct request_columns *columns, const struct row *row, char separator,
		      struct parsed *parsed)
{
	struct field fields[COLUMN_PLACE_MAX], *at[COLUMN_COUNT];
	unsigned int count = row_split(row, separator, fields, COLUMN_PLACE_MAX);
	struct request *request = &parsed->request;
	uint64_t thread = 0;

	*parsed = (struct parsed){.request = {.bytes = columns->bytes_fixed}};
	if (count < columns->least || (columns->most && count > columns->most))
		return is_wrong(parsed, COLUMN_COUNT, NULL, "a wrong number of columns");
	for (unsigned int i = 0; i < COLUMN_COUNT; i++) {
		unsigned int place = columns->place[i];

		at[i] = place && place <= count ? &fields[place - 1] : NULL;
	}
	if (at[COLUMN_OFFSET] && !number_parse_at(parsed, COLUMN_OFFSET, at[COLUMN_OFFSET],
						  columns->offset_unit_bytes, &request->offset))
		return false;
	if (at[COLUMN_BYTES] && !number_parse_at(parsed, COLUMN_BYTES, at[COLUMN_BYTES],
						 columns->bytes_unit_bytes, &request->bytes))
		return false;
	if (at[COLUMN_TIME]) {
		enum number_verdict verdict =
			field_scaled(at[COLUMN_TIME], columns->time_unit_ns / columns->time_tick_ns,
				     &request->stamp);

		if (verdict != NUMBER_FINE)
			return is_wrong(parsed, COLUMN_TIME, at[COLUMN_TIME],
					number_verdict_text(verdict));
	}
	if (at[COLUMN_OP] && !op_parse(columns, parsed, at[COLUMN_OP]))
		return false;
	if (at[COLUMN_THREAD]) {
		if (!number_parse_at(parsed, COLUMN_THREAD, at[COLUMN_THREAD], 1, &thread))
			return false;
		if (thread > UINT32_MAX)
			return is_wrong(parsed, COLUMN_THREAD, at[COLUMN_THREAD], "is too large");
		request->thread = (uint32_t)thread;
	}
	if (at[COLUMN_RESPONSE])
		response_parse(columns, parsed, at[COLUMN_RESPONSE]);
	for (unsigned int i = COLUMN_DEVICE; i <= COLUMN_DEVICE_TOO; i++) {
		if (at[i] && at[i]->bytes == 0)
			return is_wrong(parsed, i, at[i], "is empty");
		if (at[i] &&
		    (at[i]->bytes > DEVICE_BYTES_MAX || memchr(at[i]->at, '\0', at[i]->bytes)))
			return is_wrong(parsed, i, at[i], "is no name of a device");
	}
	if (at[COLUMN_DEVICE])
		parsed->device = *at[COLUMN_DEVICE];
	if (at[COLUMN_DEVICE_TOO])
		parsed->device_too = *at[COLUMN_DEVICE_TOO];
	return true;
}

static bool is_comment(const struct request_columns *columns, const struct row *row)
{
	for (const char *byte = columns->comments; byte && *byte; byte++) {
		if (memchr(row->at, *byte, (size_t)(row->end - row->at)))
			return true;
	}
	return row->at < row->end && *row->at == '#';
}

/* Names instead of numbers: in the columns of numbers there is no digit. */
static bool is_header_with(const struct request_columns *columns, const struct row *row,
			   char separator)
{
	static const enum request_column numbers[] = {COLUMN_TIME, COLUMN_OFFSET, COLUMN_BYTES};
	struct field fields[COLUMN_PLACE_MAX];
	unsigned int count = row_split(row, separator, fields, COLUMN_PLACE_MAX);

	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		unsigned int place = columns->place[numbers[n]];
		const struct field *field;

		if (place == 0)
			continue;
		if (place > count)
			return false;
		field = &fields[place - 1];
		if (field->bytes == 0)
			return false;
		for (size_t i = 0; i < field->bytes; i++) {
			if (field->at[i] >= '0' && field->at[i] <= '9')
				return false;
		}
	}
	return true;
}

static const char *separators_of(const struct request_columns *columns)
{
	return columns->may_be_blanks ? ",;\t |" : ",;\t";
}

/* Does the row begin as the format's header does? */
static bool begins_as_header(const struct request_columns *columns, const struct row *row)
{
	const char *header = columns->header;
	size_t bytes = header ? strcspn(header, ",") : 0, quote = *row->at == '"';

	return bytes && (size_t)(row->end - row->at) > bytes + quote &&
	       strncasecmp((const char *)row->at + quote, header, bytes) == 0;
}

/* Is it the format's header, whole, whatever parts its words? */
static bool is_own_header(const struct request_columns *columns, const struct row *row)
{
	const char *header = columns->header;

	for (const unsigned char *at = row->at; header && at < row->end; at++) {
		if (*at == '"' || *at == ' ')
			continue;
		if (*header == ',' ? !strchr(",;\t|", *at) : tolower(*at) != *header)
			return *header == '\0';
		header++;
	}
	return header && *header == '\0';
}

/* Before the first row anything that looks like one; later only one that begins as it should. */
static bool is_header(const struct request_columns *columns, const struct row *row, bool is_first)
{
	if (!is_first && !begins_as_header(columns, row))
		return false;
	if (columns->separator)
		return is_header_with(columns, row, columns->separator);
	for (const char *at = separators_of(columns); *at; at++) {
		if (is_header_with(columns, row, *at))
			return true;
	}
	return false;
}

/* The separator with which the row makes sense; a comma if none does. */
static char separator_choose(const struct request_columns *columns, const struct row *row)
{
	struct parsed parsed;

	if (columns->separator)
		return columns->separator;
	for (const char *at = separators_of(columns); *at; at++) {
		if (row_parse(columns, row, *at, &parsed))
			return *at;
	}
	return ',';
}

/* ---- recognising ---- */

enum import_match request_columns_match(const struct request_columns *columns,
					const unsigned char *head, size_t bytes, bool whole)
{
	const unsigned char *at = head;
	unsigned int rows = 0, fine = 0;
	bool has_header = false, is_first = true, first_fits = false;
	struct parsed parsed;
	struct row row;

	while (rows < PEEKED_ROWS_MAX && row_peek(&at, head + bytes, whole, &row)) {
		bool is_fine;

		if (is_comment(columns, &row))
			continue;
		has_header |= is_first && is_own_header(columns, &row);
		is_fine = row_parse(columns, &row, separator_choose(columns, &row), &parsed) &&
			  parsed.request.kind != REQUEST_OTHER;
		/* A header, or a file's last line, cut in its middle, is no row. */
		if (is_fine || !(is_header(columns, &row, is_first) || (!row.is_ended && rows)))
			rows++;
		first_fits |= is_fine && rows == 1;
		is_first = false;
		fine += is_fine;
	}
	if (has_header)
		return IMPORT_YES;
	if (rows == 0 || fine * 4 < rows * 3)
		return first_fits ? IMPORT_RATHER : IMPORT_NO;
	return IMPORT_LIKELY;
}

/* ---- reading ---- */

void request_columns_begin(struct import *import, const struct request_columns *columns)
{
	struct request_reader *reader = import->state;

	assert(columns->place[COLUMN_OFFSET]);
	reader->columns = *columns;
	if (columns->place[COLUMN_TIME]) {
		reader->requests.tick_ns = columns->time_tick_ns;
		reader->requests.may_wrap = columns->time_tick_ns > 1;
	}
}

/* The device's name: its columns, with a comma between two. */
static size_t device_name(const struct parsed *parsed, unsigned char *name)
{
	const struct field *first = &parsed->device, *second = &parsed->device_too;
	size_t bytes = first->bytes;

	if (first->bytes)
		memcpy(name, first->at, first->bytes);
	if (second->bytes) {
		name[bytes++] = ',';
		memcpy(name + bytes, second->at, second->bytes);
		bytes += second->bytes;
	}
	return bytes;
}

static bool device_find(struct import *import, const struct parsed *parsed, uint32_t *path)
{
	struct request_reader *reader = import->state;
	const char *fixed = reader->columns.device;
	unsigned char name[2 * DEVICE_BYTES_MAX + 1];
	struct field field = {name, device_name(parsed, name)};

	if (reader->device_bytes == field.bytes + 1 &&
	    memcmp(reader->device, name, field.bytes) == 0) {
		*path = reader->path;
		return true;
	}
	if (field.bytes
		    ? !request_path(import, fixed, &field, path)
		    : !request_path(import, "",
				    &(struct field){(const unsigned char *)fixed, strlen(fixed)},
				    path))
		return false;
	reader->device_bytes = 0;
	if (field.bytes <= sizeof(reader->device)) {
		memcpy(reader->device, name, field.bytes);
		reader->device_bytes = field.bytes + 1;
	}
	reader->path = *path;
	return true;
}

static bool parsed_wrong(const struct import *import, const struct row *row,
			 const struct parsed *parsed, struct error *error)
{
	const struct request_reader *reader = import->state;

	if (parsed->wrong_column == COLUMN_COUNT) {
		struct field none;
		unsigned int count =
			row_split(row, reader->separator ? reader->separator : ',', &none, 1);

		return row_wrong(import, row, NULL, error, "%u column%s where %s%u were expected",
				 count, count == 1 ? "" : "s",
				 reader->columns.most == reader->columns.least ? "" : "at least ",
				 reader->columns.least);
	}
	return row_wrong(import, row, &parsed->wrong_field, error, "%s \"%.*s\" %s",
			 column_names[parsed->wrong_column], field_shown(&parsed->wrong_field),
			 (const char *)parsed->wrong_field.at, parsed->wrong);
}

static const struct import_remark headers = {
	.key = "headers_within",
	.one = "header line within the file was skipped",
	.many = "header lines within the file were skipped",
};

/* Read one row. *is_op false: nothing to carry out. */
static bool row_read(struct import *import, const struct row *row, struct op *op, bool *is_op,
		     struct error *error)
{
	struct request_reader *reader = import->state;
	struct parsed parsed;
	char separator;

	*is_op = false;
	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the row is longer than 64 KiB");
	if (is_comment(&reader->columns, row))
		return true;
	if (reader->columns.first_is_header && !reader->header_seen) {
		reader->header_seen = true;
		return true;
	}
	/* The first row that makes sense settles it. */
	separator = reader->separator ? reader->separator : separator_choose(&reader->columns, row);
	if (!row_parse(&reader->columns, row, separator, &parsed)) {
		if (is_header(&reader->columns, row, !reader->has_begun && !reader->header_seen)) {
			if (reader->has_begun || reader->header_seen)
				import_note(import, &headers, 1, row->line);
			reader->header_seen = true;
			return true;
		}
		if (!row->is_ended && reader->has_begun) {
			import_note(import, &import_last_line_cut, 1, row->line);
			return true;
		}
		return parsed_wrong(import, row, &parsed, error);
	}
	reader->has_begun = true;
	reader->separator = separator;
	if (!device_find(import, &parsed, &parsed.request.path))
		return row_wrong(import, row, NULL, error, "its device has no name");
	if (!request_read(import, &reader->requests, &parsed.request, row, op, is_op, error))
		return false;
	import->rows++;
	return true;
}

bool request_columns_next(struct import *import, struct op *ops, size_t count, size_t *got,
			  struct error *error)
{
	struct request_reader *reader = import->state;

	return rows_ops(&reader->rows, import, row_read, ops, count, got, error);
}
