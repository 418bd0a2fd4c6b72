/*
 * sweep_answer: what `refault sweep` and `refault merge` print and keep of cells, the same whoever ran them
 */
#ifndef REFAULT_CLI_SWEEP_ANSWER_H
#define REFAULT_CLI_SWEEP_ANSWER_H

#include "cli/keep.h"
#include "measure/metric.h"
#include "study/sweep_file.h"

struct sweep_answer_arguments {
	const char *metric;
	bool json, csv;
};

/* Their lines in a command's table; `field` is the struct above in the command's own. */
#define SWEEP_ANSWER_OPTIONS(type, field)                                                          \
	{"metric",                                                                                 \
	 0,                                                                                        \
	 "NAME",                                                                                   \
	 "what is compared: a counter of --json, elapsed_ns, or tps; reread_bytes when not "       \
	 "given, of plain caches page_misses",                                                     \
	 OPTION_TEXT,                                                                              \
	 offsetof(struct type, field.metric),                                                      \
	 COMPLETE_NONE},                                                                           \
		{"csv",        0,                                                                  \
		 NULL,         "print CSV: a line a cell, a column a counter",                     \
		 OPTION_FLAG,  offsetof(struct type, field.csv),                                   \
		 COMPLETE_NONE},                                                                   \
	{                                                                                          \
		"json", 0, NULL, "print JSON: the cells, and the results of all runs",             \
			OPTION_FLAG, offsetof(struct type, field.json), COMPLETE_NONE              \
	}

/* Before anything runs. */
bool sweep_answer_check(const struct sweep_answer_arguments *arguments, struct error *error);

/* All cells failed of one and the same reason, which `error` then is. */
bool sweep_answer_is_failure(const struct sweep_cells *cells, struct error *error);

/* Keep the results; before it is printed. */
void sweep_answer_keep(struct keep *keep, const struct sweep_cells *cells,
		       const struct sweep_answer_arguments *arguments);

/* Returns the exit code: 1 if a cell failed. */
int sweep_answer_print(const struct sweep_cells *cells,
		       const struct sweep_answer_arguments *arguments);

/* An error as an outcome, to be freed with free(). */
char *sweep_failure(const struct error *error);

#endif
