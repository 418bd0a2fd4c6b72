#include "state/row.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

void dump_row_cut(struct row *row, const char *line, size_t bytes)
{
	size_t at = 0;

	row->raw = line;
	row->raw_bytes = bytes;
	row->field_count = 0;
	while (at < bytes && row->field_count < ROW_FIELDS_MAX) {
		size_t from;

		while (at < bytes && is_blank(line[at]))
			at++;
		from = at;
		while (at < bytes && !is_blank(line[at]))
			at++;
		if (at > from)
			row->fields[row->field_count++] = (struct field){line + from, at - from};
	}
}

bool word_is(const struct field *field, const char *text)
{
	return field->bytes == strlen(text) && memcmp(field->at, text, field->bytes) == 0;
}

bool word_starts(const struct field *field, const char *text)
{
	size_t bytes = strlen(text);

	return field->bytes >= bytes && memcmp(field->at, text, bytes) == 0;
}

bool word_number(const struct field *field, uint64_t *value)
{
	uint64_t number = 0;

	if (field->bytes == 0)
		return false;
	for (size_t i = 0; i < field->bytes; i++) {
		char c = field->at[i];

		if (c < '0' || c > '9' || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(c - '0'), &number))
			return false;
	}
	*value = number;
	return true;
}

bool word_hundredths(const struct field *field, uint64_t *value)
{
	const char *point = memchr(field->at, '.', field->bytes);
	struct field whole = {field->at, point ? (size_t)(point - field->at) : field->bytes};
	uint64_t number, scale = 10;

	if (!word_number(&whole, &number) || number > UINT64_MAX / 200)
		return false;
	number *= 100;
	for (size_t i = whole.bytes + 1; i < field->bytes; i++) {
		if (field->at[i] < '0' || field->at[i] > '9')
			return false;
		number += scale * (uint64_t)(field->at[i] - '0');
		scale /= 10;
	}
	*value = number;
	return !point || whole.bytes + 1 < field->bytes;
}

bool word_is_name(const struct field *field)
{
	for (size_t i = 0; i < field->bytes; i++) {
		char c = field->at[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.')))
			return false;
	}
	return field->bytes > 0;
}

bool dump_row_wrong(const struct row *row, size_t field, const char *expected, struct error *error)
{
	const struct field *wrong = field < row->field_count ? &row->fields[field] : NULL;

	if (!wrong) {
		error_at(error, row->file, row->line, row->raw_bytes + 1,
			 "the line ends where %s is expected", expected);
		error->columns = 1;
	} else {
		error_at(error, row->file, row->line, (uint64_t)(wrong->at - row->raw) + 1,
			 "found \"%.*s\", expected %s", wrong->bytes > 60 ? 60 : (int)wrong->bytes,
			 wrong->at, expected);
		error->columns = wrong->bytes;
	}
	error_excerpt(error, row->raw, row->raw_bytes);
	return false;
}
