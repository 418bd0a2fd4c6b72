#include "report/markup.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/name.h"

#define REPLACEMENT "\xef\xbf\xbd"

/*
 * How many bytes at `at` are a character that must not be there: control characters, U+0080 to U+009F, and the
 * marks that turn text round (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). 0: it may.
 */
static size_t unfit_bytes(const unsigned char *at)
{
	if ((*at < 0x20 && *at != '\t' && *at != '\n') || *at == 0x7f)
		return 1;
	if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
		return 2;
	if (at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe)
		return 3; /* U+FFFE and U+FFFF are no characters of XML's */
	if (at[0] != 0xe2)
		return 0;
	if (at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae)))
		return 3;
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
}

void markup_text(FILE *out, const char *text)
{
	char *utf8 = name_utf8(text);

	for (const char *at = utf8; *at;) {
		size_t unfit = unfit_bytes((const unsigned char *)at);

		if (unfit) {
			fputs(REPLACEMENT, out);
			at += unfit;
			continue;
		}
		switch (*at) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*at, out);
		}
		at++;
	}
	memory_free(utf8);
}

void markup_format(FILE *out, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		markup_text(out, text);
	free(text);
}

/* < and > and & are only in strings, where each may be written by its number. */
void markup_json(FILE *out, const json_t *json, size_t digits)
{
	char *text =
		json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits));

	for (const char *at = text ? text : "null"; *at; at++) {
		if (*at == '<' || *at == '>' || *at == '&')
			fprintf(out, "\\u%04x", (unsigned int)*at);
		else
			fputc(*at, out);
	}
	free(text);
}
