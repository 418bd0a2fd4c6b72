/*
 * markup: strangers' texts in HTML, SVG and JSON inside HTML
 */
#ifndef REFAULT_REPORT_MARKUP_H
#define REFAULT_REPORT_MARKUP_H

#include <jansson.h>
#include <stdio.h>

/*
 * `text` as the content of an element or of an attribute in double quotes, of HTML and of XML: what is not
 * UTF-8, and control characters but tab and newline (which XML cannot hold) become U+FFFD, and so do those
 * that turn the direction of what follows.
 */
void markup_text(FILE *out, const char *text);

/* printf() whose output goes through markup_text(). */
void markup_format(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * JSON between <script> and </script>: no byte of it but ASCII, and neither < nor > nor &. Numbers that are not
 * whole have so many digits.
 */
void markup_json(FILE *out, const json_t *json, size_t digits);

#endif
