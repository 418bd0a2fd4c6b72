#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * The length of the printable UTF-8 character at `text`, 0 if there is none. Names and rows come
 * from strangers: bytes that could move a terminal's cursor (C0, DEL, C1) and broken sequences are
 * not printable.
 */
static size_t printable_bytes(const unsigned char *text, size_t bytes)
{
	uint32_t code;
	size_t length;

	if (bytes == 0)
		return 0;
	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	if (text[0] >= 0xc2 && text[0] <= 0xdf) {
		length = 2;
		code = text[0] & 0x1f;
	} else if (text[0] >= 0xe0 && text[0] <= 0xef) {
		length = 3;
		code = text[0] & 0x0f;
	} else if (text[0] >= 0xf0 && text[0] <= 0xf4) {
		length = 4;
		code = text[0] & 0x07;
	} else {
		return 0;
	}
	if (length > bytes)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < 0xa0 || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return 0;
	if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000))
		return 0;
	if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2066 && code <= 0x2069))
		return 0; /* invisible, or turns the writing direction round */
	return length;
}

/*
 * Copy what fits, each unprintable byte as '?', a tab as a blank. Ends in NUL. Returns the bytes
 * taken from `from`.
 */
static size_t printable_copy(char *to, size_t to_bytes, const char *from, size_t from_bytes)
{
	size_t taken = 0, given = 0;

	while (taken < from_bytes) {
		size_t step =
			printable_bytes((const unsigned char *)from + taken, from_bytes - taken);

		if (given + (step ? step : 1) >= to_bytes)
			break;
		if (step == 0) {
			to[given++] = from[taken++] == '\t' ? ' ' : '?';
			continue;
		}
		memcpy(to + given, from + taken, step);
		given += step;
		taken += step;
	}
	to[given] = '\0';
	return taken;
}

__attribute__((format(printf, 2, 0))) static void message_set(struct error *error,
							      const char *format, va_list arguments)
{
	char raw[sizeof(error->message)];

	vsnprintf(raw, sizeof(raw), format, arguments);
	printable_copy(error->message, sizeof(error->message), raw, strlen(raw));
}

static void error_begin(struct error *error, enum error_kind kind)
{
	assert(error);
	*error = (struct error){.kind = kind};
}

bool error_input(struct error *error, const char *format, ...)
{
	va_list arguments;

	error_begin(error, ERROR_INPUT);
	va_start(arguments, format);
	message_set(error, format, arguments);
	va_end(arguments);
	return false;
}

bool error_at(struct error *error, const char *file, uint64_t line, uint64_t column,
	      const char *format, ...)
{
	va_list arguments;

	error_begin(error, ERROR_INPUT);
	error->line = line;
	error->column = column;
	if (file)
		printable_copy(error->file, sizeof(error->file), file, strlen(file));
	va_start(arguments, format);
	message_set(error, format, arguments);
	va_end(arguments);
	return false;
}

bool error_failed(struct error *error, const char *format, ...)
{
	va_list arguments;

	error_begin(error, ERROR_FAILED);
	va_start(arguments, format);
	message_set(error, format, arguments);
	va_end(arguments);
	return false;
}

bool error_system(struct error *error, const char *format, ...)
{
	int number = errno;
	va_list arguments;
	size_t length;

	error_begin(error, ERROR_FAILED);
	va_start(arguments, format);
	message_set(error, format, arguments);
	va_end(arguments);
	length = strlen(error->message);
	snprintf(error->message + length, sizeof(error->message) - length, ": %s",
		 strerror(number));
	return false;
}

bool error_context(struct error *error, const char *format, ...)
{
	char old[sizeof(error->message)];
	va_list arguments;
	size_t length;

	assert(error && error->kind != ERROR_NONE);
	memcpy(old, error->message, sizeof(old));
	va_start(arguments, format);
	message_set(error, format, arguments);
	va_end(arguments);
	length = strlen(error->message);
	snprintf(error->message + length, sizeof(error->message) - length, ": %s", old);
	return false;
}

/* How many bytes the character at `at` has; one that will be shown as '?' is a byte. */
static size_t character_bytes(const char *line, size_t at, size_t bytes)
{
	size_t step = printable_bytes((const unsigned char *)line + at, bytes - at);

	return step ? step : 1;
}

/* How many characters there are from byte `from` to byte `to`; `bytes` is the line's length. */
static size_t characters(const char *line, size_t from, size_t to, size_t bytes)
{
	size_t count = 0;

	for (; from < to; from += character_bytes(line, from, bytes))
		count++;
	return count;
}

/* The byte where that many characters behind byte `at` end. */
static size_t skip(const char *line, size_t at, size_t count, size_t bytes)
{
	for (; count > 0 && at < bytes; count--)
		at += character_bytes(line, at, bytes);
	return at;
}

/*
 * The part of a line that is shown, in characters: the wrong ones in the middle of it if the line
 * is too long, and if they are too many themselves, where they begin.
 */
struct window {
	size_t first, count;
	bool is_cut_before, is_cut_after;
};

static struct window window_choose(size_t total, size_t mark, size_t marked)
{
	enum { DOTS = 3, INSIDE = EXCERPT_COLUMNS_MAX - 2 * DOTS, BEFORE = 20 };
	size_t lead = marked + 2 * BEFORE < INSIDE ? (INSIDE - marked) / 2 : BEFORE;

	if (total <= EXCERPT_COLUMNS_MAX)
		return (struct window){.count = total};
	if (mark <= lead || mark + marked <= INSIDE + DOTS)
		return (struct window){.count = INSIDE + DOTS, .is_cut_after = true};
	if (mark - lead + INSIDE + DOTS >= total)
		return (struct window){.first = total - INSIDE - DOTS,
				       .count = INSIDE + DOTS,
				       .is_cut_before = true};
	return (struct window){mark - lead, INSIDE, true, true};
}

bool error_excerpt(struct error *error, const char *line, size_t bytes)
{
	static const char dots[] = "...";
	size_t mark_byte = error->column ? (size_t)error->column - 1 : 0, end_byte;
	size_t mark, marked, first_byte, last_byte;
	struct window window;
	char *to = error->excerpt;

	static_assert(sizeof(error->excerpt) > 4 * EXCERPT_COLUMNS_MAX, "a character has 4 bytes");
	assert(error->kind != ERROR_NONE);
	if (mark_byte > bytes)
		mark_byte = bytes;
	end_byte = error->columns < bytes - mark_byte ? mark_byte + (size_t)error->columns : bytes;
	mark = characters(line, 0, mark_byte, bytes);
	marked = characters(line, mark_byte, end_byte, bytes);
	if (marked == 0)
		marked = 1;
	window = window_choose(characters(line, 0, bytes, bytes), mark, marked);
	first_byte = skip(line, 0, window.first, bytes);
	last_byte = skip(line, first_byte, window.count, bytes);
	if (window.is_cut_before)
		to = stpcpy(to, dots);
	printable_copy(to, sizeof(error->excerpt) - (size_t)(to - error->excerpt),
		       line + first_byte, last_byte - first_byte);
	to += strlen(to);
	if (window.is_cut_after)
		strcpy(to, dots);
	if (error->column == 0)
		return false;
	if (marked > window.first + window.count - mark)
		marked =
			mark < window.first + window.count ? window.first + window.count - mark : 1;
	error->excerpt_column = mark - window.first + (window.is_cut_before ? strlen(dots) : 0) + 1;
	error->excerpt_columns = marked;
	return false;
}
