#include "report/name.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/glyph.h"
#include "base/memory.h"

/*
 * Bytes of the UTF-8 sequence that begins at `at`; 0 if it is none. NUL ends it like any wrong
 * byte.
 */
static size_t sequence_bytes(const unsigned char *at)
{
	size_t bytes;
	uint32_t code;

	if (at[0] < 0x80)
		return at[0] != 0;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		bytes = 2, code = at[0] & 0x1fu;
	else if ((at[0] & 0xf0) == 0xe0)
		bytes = 3, code = at[0] & 0x0fu;
	else if (at[0] >= 0xf0 && at[0] <= 0xf4)
		bytes = 4, code = at[0] & 0x07u;
	else
		return 0;
	for (size_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fu);
	}
	if ((bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return bytes;
}

/*
 * Would this character stay in its place on a terminal? Not: controls, and marks that are invisible
 * or turn the direction.
 */
static bool is_printable(const unsigned char *at, size_t bytes)
{
	if (bytes == 1)
		return at[0] >= 0x20 && at[0] != 0x7f;
	if (bytes == 2)
		return !(at[0] == 0xc2 && at[1] < 0xa0);
	if (bytes == 3 && at[0] == 0xe2 && at[1] == 0x80)
		return !(at[2] >= 0x8b && at[2] <= 0x8f) && !(at[2] >= 0xa8 && at[2] <= 0xae);
	if (bytes == 3 && at[0] == 0xe2 && at[1] == 0x81)
		return !(at[2] >= 0xa6 && at[2] <= 0xa9);
	/* U+FFFD: what a wrong byte has become in JSON is shown as the byte itself is. */
	if (bytes == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] == 0xbd)
		return false;
	return bytes > 0;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

const char *name_fit(char *text, const char *name, size_t columns)
{
	const unsigned char *at = (const unsigned char *)name;
	size_t all = 0, given = 0, head, tail, seen = 0;

	assert(columns >= 3);
	for (const unsigned char *c = at; *c; all++) {
		size_t bytes = sequence_bytes(c);

		c += bytes ? bytes : 1;
	}
	/* The ends of paths tell more than their middles. */
	head = all > columns ? columns / 2 : all;
	tail = all > columns ? columns - 1 - head : 0;
	for (; *at; seen++) {
		size_t bytes = sequence_bytes(at);

		if (seen == head)
			given += (size_t)sprintf(text + given, "%s", glyph(GLYPH_ELLIPSIS));
		if (seen >= head && seen < all - tail) {
			at += bytes ? bytes : 1;
			continue;
		}
		if (is_printable(at, bytes)) {
			memcpy(text + given, at, bytes);
			given += bytes;
		} else {
			text[given++] = '?';
		}
		at += bytes ? bytes : 1;
	}
	text[given] = '\0';
	return text;
}

const char *name_show(char text[NAME_TEXT_BYTES], const char *name, size_t columns)
{
	assert(columns <= NAME_COLUMNS_MAX);
	return name_fit(text, name, columns);
}

char *name_utf8(const char *name)
{
	const unsigned char *at = (const unsigned char *)name;
	char *text = memory_alloc(strlen(name) * 3 + 1, 1);
	size_t given = 0;

	while (*at) {
		size_t bytes = sequence_bytes(at);

		if (bytes) {
			memcpy(text + given, at, bytes);
			given += bytes;
			at += bytes;
		} else {
			memcpy(text + given, "\xef\xbf\xbd", 3);
			given += 3;
			at++;
		}
	}
	return text;
}

const char *share_format(char text[SHARE_TEXT_BYTES], uint64_t part, uint64_t whole)
{
	uint64_t tenths;

	if (whole == 0)
		return strcpy(text, "-");
	if (part == 0)
		return strcpy(text, "0");
	tenths = (uint64_t)(((unsigned __int128)part * 1000 + whole / 2) / whole);
	if (tenths == 0)
		return strcpy(text, "<0.1 %");
	if (tenths < 100)
		snprintf(text, SHARE_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10,
			 tenths % 10);
	else if (tenths < 10000000)
		snprintf(text, SHARE_TEXT_BYTES, "%" PRIu64 " %%",
			 (uint64_t)(((unsigned __int128)part * 100 + whole / 2) / whole));
	else
		strcpy(text, "large");
	return text;
}
