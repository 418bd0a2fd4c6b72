/*
 * validation: the model's figures beside the kernel's, and how far they are apart
 */
#ifndef REFAULT_REPORT_VALIDATION_H
#define REFAULT_REPORT_VALIDATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct result;
struct validation;

/* One input, run on both. */
struct validation_run {
	const struct result *predicted, *measured;
	const struct validation *validation;
	const char *predicted_failure, *measured_failure; /* "": that side came to its end */
};

struct validation_report {
	const struct validation_run *runs;
	size_t count;
	double tolerance;
	bool colour;
};

/* A table for each run, then the verdict over all. */
void validation_text(FILE *out, const struct validation_report *report);

/*
 * {"runs": [{"input", "filesystem", "kernel", "policy", "rows": [{"mark", "counter", "model",
 * "kernel", "kernel_low", "kernel_high", "error", "judged"}], "median", "worst", "departs", "notes"}],
 * "verdict": {"median", "worst", "tolerance", "within", ...}}. A new reference.
 */
json_t *validation_json(const struct validation_report *report);

/* Is the worst of all within the tolerance? */
bool validation_holds(const struct validation_report *report);

#endif
