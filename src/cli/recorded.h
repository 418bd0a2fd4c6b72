/*
 * recorded: what a recording came to, for people and for programs
 */
#ifndef REFAULT_CLI_RECORDED_H
#define REFAULT_CLI_RECORDED_H

#include <jansson.h>

#include "record/record.h"

/* All of it; `trace` is where it was written. */
void recorded_print(const char *trace, const struct record_summary *summary);
json_t *recorded_json(const char *trace, const struct record_summary *summary); /* new */

/* How much of what came into the page cache is explained, alone. */
void recorded_print_coverage(const struct record_summary *summary);

/* What is not in the trace, a line each. */
void recorded_print_unseen(const struct record_summary *summary);

#endif
