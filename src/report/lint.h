/*
 * lint: what a trace does without need, for people and for programs
 */
#ifndef REFAULT_REPORT_LINT_H
#define REFAULT_REPORT_LINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct lint_report;
struct result;
struct report_options;

/* What each costs, where it is, and what to do about it. */
void lint_report_text(FILE *out, const struct lint_report *report, const struct result *result,
		      const struct report_options *options);

/*
 * {"input", "operations", "read_bytes", "reread_bytes", "machine": {...}, "lints": [{"id", "path",
 * "stream", "times", "cost_bytes", "title", "text", "remedy", "figures": {NAME: {"value", "unit"}},
 * "places": [{"operation", "line", "what"}]}]}. What is not known is null. A new reference.
 */
json_t *lint_report_json(const struct lint_report *report, const struct result *result,
			 const struct report_options *options);

#endif
