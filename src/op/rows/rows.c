#include "op/rows/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "op/import.h"

/* ---- lines ---- */

static bool is_blank(unsigned char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\v' || byte == '\f';
}

/* The line's text, without CR at its end. False: there is nothing but blanks in it. */
static bool row_trim(struct row *row)
{
	const unsigned char *at = row->at;

	while (row->end > row->at && row->end[-1] == '\r')
		row->end--;
	while (at < row->end && is_blank(*at))
		at++;
	return at < row->end;
}

static const unsigned char *mark_skip(const unsigned char *at, const unsigned char *end)
{
	return end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? at + 3 : at;
}

/* Skip what is left of a line that is too long to be kept. False: the file cannot be read on. */
static bool rest_skip(struct input *input, struct error *error)
{
	for (;;) {
		const unsigned char *newline = memchr(input->at, '\n', input_visible(input));

		if (newline) {
			input->at = newline + 1;
			return true;
		}
		input->at = input->end;
		if (input->last)
			return true;
		if (!input_fill(input, 1, error))
			return false;
	}
}

/* See the whole line, or as much as may be. False: the file cannot be read on. */
static bool line_fill(struct input *input, size_t most, const unsigned char **newline,
		      struct error *error)
{
	bool fine = true;

	*newline = memchr(input->at, '\n', input_visible(input));
	for (size_t want = ROW_BYTES_MAX;
	     fine && !*newline && input_visible(input) < most && !input->last;) {
		size_t seen = input_visible(input);

		while (want <= seen)
			want *= 2;
		fine = input_fill(input, want < most ? want : most, error);
		*newline = memchr(input->at + seen, '\n', input_visible(input) - seen);
	}
	return fine;
}

enum row_found row_next(struct rows *rows, struct import *import, struct row *row,
			struct error *error)
{
	size_t most = rows->bytes_max ? rows->bytes_max : ROW_BYTES_MAX;
	struct input *input = import->input;

	for (;;) {
		const unsigned char *newline;
		bool fine = line_fill(input, most, &newline, error);

		/* What stands before a failure is good up to its last line end. */
		if (!newline && !fine)
			return ROW_FAILED;
		if (input_visible(input) == 0)
			return ROW_END;
		if (rows->line++ == 0)
			input->at = mark_skip(input->at, input->end);
		*row = (struct row){.at = input->at, .line = rows->line, .is_ended = true};
		if (newline) {
			row->end = newline;
			row->is_too_long = (size_t)(newline - row->at) > most;
			input->at = newline + 1;
		} else if (input_visible(input) >= most) {
			/* Skipping moves the window: what a message shows of the row is kept. */
			memcpy(rows->kept, row->at, sizeof(rows->kept));
			row->at = rows->kept;
			row->end = rows->kept + sizeof(rows->kept);
			row->is_too_long = true;
			return rest_skip(input, error) ? ROW_FOUND : ROW_FAILED;
		} else {
			row->end = input->end;
			row->is_ended = false;
			input->at = input->end;
		}
		if (row_trim(row))
			return ROW_FOUND;
	}
}

bool row_peek(const unsigned char **at, const unsigned char *end, bool whole, struct row *row)
{
	while (*at < end) {
		const unsigned char *newline = memchr(*at, '\n', (size_t)(end - *at));

		if (!newline && !whole)
			return false;
		*row = (struct row){.at = mark_skip(*at, end), .end = newline ? newline : end};
		row->is_ended = newline != NULL;
		*at = newline ? newline + 1 : end;
		if (row_trim(row))
			return true;
	}
	return false;
}

/* ---- fields ---- */

static void field_trim(struct field *field)
{
	while (field->bytes && is_blank(field->at[0])) {
		field->at++;
		field->bytes--;
	}
	while (field->bytes && is_blank(field->at[field->bytes - 1]))
		field->bytes--;
	if (field->bytes >= 2 && field->at[0] == '"' && field->at[field->bytes - 1] == '"') {
		field->at++;
		field->bytes -= 2;
	}
}

/* The byte behind the field at `at`: a separator, or the row's end. One in quotes is none. */
static const unsigned char *field_end(const unsigned char *at, const unsigned char *end,
				      char separator)
{
	const unsigned char *quote;

	while (at < end && is_blank(*at) && *at != (unsigned char)separator)
		at++;
	if (at < end && *at == '"') {
		quote = memchr(at + 1, '"', (size_t)(end - at - 1));
		if (quote)
			at = quote;
	}
	while (at < end && *at != (unsigned char)separator)
		at++;
	return at;
}

static unsigned int blanks_split(const struct row *row, struct field *fields, unsigned int most)
{
	const unsigned char *at = row->at;
	unsigned int count = 0;

	for (;;) {
		const unsigned char *start;

		while (at < row->end && is_blank(*at))
			at++;
		if (at == row->end)
			return count;
		start = at;
		while (at < row->end && !is_blank(*at))
			at++;
		if (count < most)
			fields[count] = (struct field){start, (size_t)(at - start)};
		count++;
	}
}

unsigned int row_split(const struct row *row, char separator, struct field *fields,
		       unsigned int most)
{
	const unsigned char *at = row->at;
	unsigned int count = 0;

	if (separator == ' ')
		return blanks_split(row, fields, most);
	for (;;) {
		const unsigned char *end = field_end(at, row->end, separator);

		if (count < most) {
			fields[count] = (struct field){at, (size_t)(end - at)};
			field_trim(&fields[count]);
		}
		count++;
		if (end == row->end)
			return count;
		at = end + 1;
	}
}

bool field_is(const struct field *field, const char *word)
{
	return strlen(word) == field->bytes &&
	       strncasecmp((const char *)field->at, word, field->bytes) == 0;
}

bool field_is_among(const struct field *field, const char *words)
{
	while (*words) {
		size_t bytes = strcspn(words, "|");

		if (bytes == field->bytes && bytes &&
		    strncasecmp((const char *)field->at, words, bytes) == 0)
			return true;
		words += bytes;
		words += *words == '|';
	}
	return false;
}

/* ---- numbers ---- */

enum { DIGITS_MAX = 64, FAST_DIGITS_MAX = 18, DECIMALS_MAX = 18 };

/* A number taken apart: its digits, and how many of them stand before the point. */
struct digits {
	unsigned char digit[DIGITS_MAX]; /* 0 .. 9 */
	int count, point;
};

static bool is_digit(unsigned char byte)
{
	return byte >= '0' && byte <= '9';
}

/* "1,610,645,504": a comma before each three digits, and nothing else. */
static bool is_grouped(const unsigned char *at, size_t bytes)
{
	const unsigned char *comma = memchr(at, ',', bytes);
	size_t first = comma ? (size_t)(comma - at) : 0;

	if (first < 1 || first > 3 || (bytes - first) % 4 || (first == 1 && at[0] == '0'))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		bool is_comma = i >= first && (i - first) % 4 == 0;

		if (is_comma ? at[i] != ',' : !is_digit(at[i]))
			return false;
	}
	return true;
}

/* The digits at `at`, with a decimal point or comma, and an exponent. */
static enum number_verdict digits_read(struct digits *digits, const unsigned char *at, size_t bytes,
				       bool may_be_grouped)
{
	bool grouped = may_be_grouped && is_grouped(at, bytes), any = false;
	size_t i = 0;
	int exponent = 0;

	*digits = (struct digits){.point = -1};
	for (; i < bytes; i++) {
		if (is_digit(at[i])) {
			any = true;
			/* Zeros in front say nothing; digits behind the last kept one, little. */
			if (digits->count == 0 && at[i] == '0' && digits->point < 0)
				continue;
			if (digits->count < DIGITS_MAX)
				digits->digit[digits->count++] = (unsigned char)(at[i] - '0');
			else if (digits->point < 0)
				return NUMBER_TOO_LARGE;
		} else if (at[i] == ',' && grouped) {
			continue;
		} else if ((at[i] == '.' || at[i] == ',') && digits->point < 0) {
			digits->point = digits->count;
		} else {
			break;
		}
	}
	if (!any)
		return NUMBER_NONE;
	if (digits->point < 0)
		digits->point = digits->count;
	if (i < bytes && (at[i] == 'e' || at[i] == 'E')) {
		bool is_negative = false, any_digit = false;

		i++;
		if (i < bytes && (at[i] == '+' || at[i] == '-'))
			is_negative = at[i++] == '-';
		for (; i < bytes && is_digit(at[i]) && exponent < 1000; i++) {
			exponent = exponent * 10 + (at[i] - '0');
			any_digit = true;
		}
		if (!any_digit)
			return NUMBER_NONE;
		digits->point += is_negative ? -exponent : exponent;
	}
	return i == bytes ? NUMBER_FINE : NUMBER_NONE;
}

static unsigned int digit_at(const struct digits *digits, int place)
{
	return place >= 0 && place < digits->count ? digits->digit[place] : 0;
}

/* The whole part, and the decimals as so many 10^-18. */
static enum number_verdict digits_value(const struct digits *digits, uint64_t *whole,
					uint64_t *decimals)
{
	*whole = *decimals = 0;
	if (digits->count && digits->point > DIGITS_MAX)
		return NUMBER_TOO_LARGE;
	for (int i = 0; i < digits->point; i++) {
		if (__builtin_mul_overflow(*whole, UINT64_C(10), whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)digit_at(digits, i), whole))
			return NUMBER_TOO_LARGE;
	}
	for (int i = 0; i < DECIMALS_MAX; i++)
		*decimals = *decimals * 10 + digit_at(digits, digits->point + i);
	return NUMBER_FINE;
}

/* Nearly all numbers: at most 18 digits and nothing else. */
static bool digits_fast(const struct field *field, uint64_t *value)
{
	uint64_t number = 0;

	if (field->bytes == 0 || field->bytes > FAST_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < field->bytes; i++) {
		unsigned int digit = (unsigned int)field->at[i] - '0';

		if (digit > 9)
			return false;
		number = number * 10 + digit;
	}
	*value = number;
	return true;
}

static enum number_verdict hexadecimal_read(const unsigned char *at, size_t bytes, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < bytes; i++) {
		unsigned int lower = at[i] | 0x20;
		unsigned int digit = is_digit(at[i])                ? at[i] - (unsigned int)'0'
				     : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
								    : 16;

		if (digit == 16)
			return NUMBER_NONE;
		if (*value >> 60)
			return NUMBER_TOO_LARGE;
		*value = *value << 4 | digit;
	}
	return NUMBER_FINE;
}

/* Read it into its whole part and its decimals. */
static enum number_verdict number_read(const struct field *field, bool hexadecimal,
				       bool may_be_grouped, uint64_t *whole, uint64_t *decimals)
{
	const unsigned char *at = field->at;
	size_t bytes = field->bytes;
	struct digits digits;
	enum number_verdict verdict;

	*decimals = 0;
	if (bytes == 0)
		return NUMBER_EMPTY;
	if (bytes > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		return hexadecimal_read(at + 2, bytes - 2, whole);
	if (hexadecimal)
		return hexadecimal_read(at, bytes, whole);
	if (bytes > 1 && (at[0] == '+' || at[0] == '-')) {
		verdict = digits_read(&digits, at + 1, bytes - 1, may_be_grouped);
		if (verdict == NUMBER_FINE && at[0] == '-')
			return NUMBER_NEGATIVE;
	} else {
		verdict = digits_read(&digits, at, bytes, may_be_grouped);
	}
	return verdict == NUMBER_FINE ? digits_value(&digits, whole, decimals) : verdict;
}

enum number_verdict field_whole(const struct field *field, bool hexadecimal, uint64_t *value)
{
	enum number_verdict verdict;
	uint64_t decimals;

	if (!hexadecimal && digits_fast(field, value))
		return NUMBER_FINE;
	verdict = number_read(field, hexadecimal, true, value, &decimals);
	return verdict == NUMBER_FINE && decimals ? NUMBER_NOT_WHOLE : verdict;
}

enum number_verdict field_scaled(const struct field *field, uint64_t unit, uint64_t *value)
{
	enum number_verdict verdict;
	uint64_t whole, decimals = 0;
	unsigned __int128 product;

	if (!digits_fast(field, &whole)) {
		verdict = number_read(field, false, false, &whole, &decimals);
		if (verdict != NUMBER_FINE)
			return verdict;
	}
	product = (unsigned __int128)whole * unit +
		  (unsigned __int128)decimals * unit / UINT64_C(1000000000000000000);
	if (product > UINT64_MAX)
		return NUMBER_TOO_LARGE;
	*value = (uint64_t)product;
	return NUMBER_FINE;
}

const char *number_verdict_text(enum number_verdict verdict)
{
	switch (verdict) {
	case NUMBER_FINE:
		return "is fine";
	case NUMBER_EMPTY:
		return "is empty";
	case NUMBER_NONE:
		return "is not a number";
	case NUMBER_NEGATIVE:
		return "is negative";
	case NUMBER_NOT_WHOLE:
		return "is not a whole number";
	case NUMBER_TOO_LARGE:
		break;
	}
	return "is too large";
}

/* ---- mistakes ---- */

int field_shown(const struct field *field)
{
	return field->bytes > 100 ? 100 : (int)field->bytes;
}

bool row_wrong(const struct import *import, const struct row *row, const struct field *field,
	       struct error *error, const char *format, ...)
{
	char message[sizeof(error->message)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	error_at(error, import->input->name, row->line, 1, "%s", message);
	error->columns = (uint64_t)(row->end - row->at);
	if (field) {
		error->column = (uint64_t)(field->at - row->at) + 1;
		error->columns = field->bytes;
	}
	return error_excerpt(error, (const char *)row->at, (size_t)(row->end - row->at));
}

bool rows_ops(struct rows *rows, struct import *import, row_read_op *read, struct op *ops,
	      size_t count, size_t *got, struct error *error)
{
	struct row row;

	*got = 0;
	while (*got < count) {
		bool is_op;

		switch (row_next(rows, import, &row, error)) {
		case ROW_FOUND:
			break;
		case ROW_END:
			return true;
		case ROW_FAILED:
			return false;
		}
		if (read(import, &row, &ops[*got], &is_op, error))
			*got += is_op;
		else if (!import_row_wrong(import, error))
			return false;
	}
	return true;
}
