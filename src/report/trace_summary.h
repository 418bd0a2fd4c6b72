/*
 * trace_summary: what a trace asks for, drawn
 *
 * For `refault import --summary`, and what a trace's reader has to say for everybody who reads one.
 * What is not known is null in JSON, and left out of the text.
 */
#ifndef REFAULT_REPORT_TRACE_SUMMARY_H
#define REFAULT_REPORT_TRACE_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct op_source;
struct trace_summary;

/*
 * "format", "rows", "reads", "read_bytes", ...: docs/traces.md has them all. `summary` is finished,
 * and `source` read to its end. A new reference.
 */
json_t *trace_summary_json(const struct trace_summary *summary, const struct op_source *source);

/* The same as a person reads it. */
void trace_summary_print(FILE *out, const struct trace_summary *summary,
			 const struct op_source *source, bool colour);

/*
 * The reader's notes, warnings among them: [{"key", "count", "line", "warning", "text"}]; count is
 * null where there is nothing to count. A new reference.
 */
json_t *trace_notes_json(const struct op_source *source);

/* The warnings among them, a line each; how many. `prefix` goes in front. */
size_t trace_warnings_print(FILE *out, const struct op_source *source, const char *prefix);

#endif
