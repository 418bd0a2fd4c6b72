/*
 * advice: the result in one sentence, and the command to try next
 */
#ifndef REFAULT_REPORT_ADVICE_H
#define REFAULT_REPORT_ADVICE_H

#include <stddef.h>
#include <stdio.h>

struct result;
struct report_options;

void advice_print(FILE *out, const struct result *result, const struct report_options *options);
/* The sentence alone, without a newline. */
void advice_sentence(FILE *out, const struct result *result, const struct report_options *options);
/* "Try: refault advise ...", without a newline; nothing if there is nothing to try. */
void advice_command(FILE *out, const struct result *result, const struct report_options *options);
void advice_side_by_side(FILE *out, const struct result *results, size_t count,
			 const struct report_options *options);

#endif
