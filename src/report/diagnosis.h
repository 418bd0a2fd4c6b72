/*
 * diagnosis: what dumps of a system show, for people and for programs
 */
#ifndef REFAULT_REPORT_DIAGNOSIS_H
#define REFAULT_REPORT_DIAGNOSIS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct diagnosis;

struct diagnosis_options {
	bool colour;
	bool is_live; /* it was read from this machine: the next command can ask it again */
	bool has_interval;
	const char *cgroup; /* that was asked for; NULL: none */
};

/* The answer; each finding with its figures and the lines it rests on; what is not shown. */
void diagnosis_text(FILE *out, const struct diagnosis *diagnosis,
		    const struct diagnosis_options *options);

/*
 * {"verdict": "caching|not_caching|no_problem|cannot_tell", "summary", "page_bytes", "page_bytes_from",
 * "dumps": [{"kind", "name", "cgroup", "file", "first_line", "last_line", "label", "time_s", "used_as"}],
 * "intervals": [{"kind", "name", "cgroup", "interval_s", "order"}], "memory": {...}, "cgroups": {...},
 * "findings": [{"id", "kind", "severity", "cgroup", "title", "text", "rule", "remedy", "figures": {NAME:
 * {"value", "unit", "formula"}}, "evidence": [{"file", "line", "text"}]}], "cannot_show": [{"what",
 * "needs"}], "notes", "skipped_rows", "passed_over_lines"}. What is not known is null. A new reference.
 */
json_t *diagnosis_json(const struct diagnosis *diagnosis);

/* "problem", "not_caching", ...: the words of both. */
const char *finding_kind_name(int kind);

#endif
