/*
 * name: strangers' names and small numbers as text
 */
#ifndef REFAULT_REPORT_NAME_H
#define REFAULT_REPORT_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { NAME_COLUMNS_MAX = 40, NAME_TEXT_BYTES = NAME_COLUMNS_MAX * 4 + 8, SHARE_TEXT_BYTES = 16 };

/*
 * `name` fit for a terminal: what cannot be printed as '?', and the middle left out (…) where it is
 * longer than `columns` (at most NAME_COLUMNS_MAX). Returns `text`.
 */
const char *name_show(char text[NAME_TEXT_BYTES], const char *name, size_t columns);

/* Likewise, of any width: `text` has room for 4 * columns + 8 bytes. */
const char *name_fit(char *text, const char *name, size_t columns);

/* How many columns UTF-8 text takes; wide characters count as one. */
size_t text_columns(const char *text);

/* `name` as valid UTF-8: bytes that are none become U+FFFD. Free with memory_free(). */
char *name_utf8(const char *name);

/* "48 %", "6.6 %", "0", "<0.1 %"; "-" of nothing. Returns `text`. */
const char *share_format(char text[SHARE_TEXT_BYTES], uint64_t part, uint64_t whole);

#endif
