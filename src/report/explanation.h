/*
 * explanation: the story of a run on a page
 *
 * What came back, of which file and where in it; whose allocations had pushed it out, and when; how much more memory would have kept it;
 * lists over time, what the shrinkers did, and what was done in vain.
 */
#ifndef REFAULT_REPORT_EXPLANATION_H
#define REFAULT_REPORT_EXPLANATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct explanation;
struct lint_report;
struct report_options;
struct result;

/* What the story was narrowed to. */
struct explanation_asked {
	const char *path, *stream; /* NULL: all */
	const char *at;            /* as it was given; NULL: the whole run */
	bool wants_list;
};

void explanation_text(FILE *out, const struct explanation *explanation,
		      const struct lint_report *lints, const struct result *result,
		      const struct explanation_asked *asked, const struct report_options *options);

/* A new reference. */
json_t *explanation_json(const struct explanation *explanation, const struct lint_report *lints,
			 const struct result *result, const struct explanation_asked *asked,
			 const struct report_options *options);

#endif
