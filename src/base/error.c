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

/* How many characters of a printable text begin in its first `bytes` bytes. */
static uint64_t characters(const char *text, size_t bytes)
{
	uint64_t count = 0;

	for (size_t i = 0; i < bytes && text[i]; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

bool error_excerpt(struct error *error, const char *line, size_t bytes)
{
	enum { ROOM = sizeof(error->excerpt) - 1, BEFORE = 100 };
	size_t mark = error->column ? (size_t)error->column - 1 : 0;
	size_t start = 0, dots = 0, before;
	char head[sizeof(error->excerpt)];

	assert(error->kind != ERROR_NONE);
	if (mark > bytes)
		mark = bytes;
	if (mark + (size_t)error->columns > ROOM && mark > BEFORE) {
		/*
		 * The wrong bytes lie far out: show what stands around them, not what the line
		 * begins with.
		 */
		start = mark - BEFORE;
		while (start < mark && ((unsigned char)line[start] & 0xc0) == 0x80)
			start++;
		dots = 3;
		memcpy(error->excerpt, "...", dots);
	}
	printable_copy(error->excerpt + dots, sizeof(error->excerpt) - dots, line + start,
		       bytes - start);
	if (error->column == 0)
		return false;
	printable_copy(head, sizeof(head), line + start, mark - start);
	before = dots + strlen(head);
	error->excerpt_column = dots + characters(head, strlen(head)) + 1;
	error->excerpt_columns =
		characters(error->excerpt + before, error->columns ? (size_t)error->columns : 1);
	if (error->excerpt_columns == 0)
		error->excerpt_columns = 1;
	return false;
}
