#include "report/shell.h"

#include <stdbool.h>
#include <string.h>

#include "report/name.h"
#include "report/table.h"

/* Room for " \" at the end of a line. */
enum { LAST_COLUMN = TABLE_WIDTH_MAX - 2, PIECE_COLUMNS = 80 };

void shell_word(FILE *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-/=,:@%+";

	if (*text && text[strspn(text, plain)] == '\0') {
		fputs(text, out);
		return;
	}
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
	fputc('\'', out);
}

/* How long the word is that begins here: to a blank that is not quoted. A comment is one, to its end. */
static size_t word_bytes(const char *text)
{
	char quote = '\0';
	size_t bytes = 0;

	if (text[0] == '#')
		return strlen(text);

	for (; text[bytes] && (quote || text[bytes] != ' '); bytes++) {
		if (!quote && text[bytes] == '\\' && text[bytes + 1])
			bytes++;
		else if (!quote && (text[bytes] == '\'' || text[bytes] == '"'))
			quote = text[bytes];
		else if (text[bytes] == quote)
			quote = '\0';
	}
	return bytes;
}

static size_t columns(const char *text, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/*
 * A word that is wider than a line: in pieces, each ended by a backslash, the next at the line's beginning, where it is the same word.
 * Returns the column behind it.
 */
static size_t long_word(FILE *out, const char *text, size_t bytes, size_t at)
{
	bool quoted = false;

	for (size_t i = 0; i < bytes; i++) {
		if (at >= PIECE_COLUMNS && ((unsigned char)text[i] & 0xc0) != 0x80) {
			fputs(quoted ? "'\\\n'" : "\\\n", out);
			at = quoted;
		}
		if (!quoted && text[i] == '\\' && i + 1 < bytes) {
			fputc(text[i++], out);
			at++;
		} else if (text[i] == '\'') {
			quoted = !quoted;
		}
		fputc(text[i], out);
		at = text[i] == '\n' ? 0 : at + (((unsigned char)text[i] & 0xc0) != 0x80);
	}
	return at;
}

void shell_command(FILE *out, const char *command, size_t at, size_t indent)
{
	bool begun = false;

	while (*command) {
		size_t bytes = word_bytes(command), width = columns(command, bytes);
		size_t last = command[bytes] ? LAST_COLUMN : TABLE_WIDTH_MAX;

		if (begun && at + 1 + width > last) {
			fprintf(out, " \\\n%*s", (int)indent, "");
			at = indent;
		} else if (begun) {
			fputc(' ', out);
			at++;
		}
		if (at + width > last) {
			at = long_word(out, command, bytes, at);
		} else {
			fwrite(command, 1, bytes, out);
			at += width;
		}
		begun = true;
		command += bytes;
		command += strspn(command, " ");
	}
	fputc('\n', out);
}
