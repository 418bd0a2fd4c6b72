/*
 * validate_command: `refault validate -- COMMAND`: record, replay and compare in one go
 */
#ifndef REFAULT_CLI_VALIDATE_COMMAND_H
#define REFAULT_CLI_VALIDATE_COMMAND_H

#include "cli/command.h"
#include "cli/keep.h"
#include "study/roundtrip.h"

struct validate_command {
	const char *const *words; /* of the command */
	size_t word_count;
	const struct text_list *filesystems;
	struct roundtrip_options options; /* all but the command and the file system */
	double tolerance;
	bool json;
	struct keep *keep; /* begun; ended by the caller */
};

/* Returns the exit code: 1 too if a figure is further off than the tolerance. */
int validate_command_run(const struct validate_command *command);

#endif
