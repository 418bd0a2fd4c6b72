/*
 * report_input: the runs that a report is of, from the store and from files of JSON
 */
#ifndef REFAULT_CLI_REPORT_INPUT_H
#define REFAULT_CLI_REPORT_INPUT_H

#include "cli/command.h"
#include "store/store.h"

struct report_input {
	ARRAY(struct stored) runs;
};

/*
 * In the order of `names`; a kept run that is named twice is there once. A name that begins with @ is a kept run's,
 * another is a file if there is one, or if it has a / or a dot in it; "-" is standard input. A file holds what `run`, `replay`,
 * `explain` or `export` printed with --json: one result, or several under "runs". Free with
 * report_input_deinit(), after a failure too.
 */
bool report_input_load(struct report_input *input, const char *db, const struct text_list *names,
		       struct error *error);
void report_input_deinit(struct report_input *input);

#endif
