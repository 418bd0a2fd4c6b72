/*
 * keep: what every command that runs something does with its results
 *
 *     keep_begin()     before anything runs: a --db that cannot be written is said at once
 *     keep_command()   what was asked
 *     keep_run()       each result; keep_answer(), if there are several
 *     keep_store()     before the answer is printed: who stops reading it does not lose it
 *     keep_end()       after it: says on a terminal what the runs are called
 *
 * That it cannot be kept is a warning, never a failure. With --no-store all of these do nothing.
 */
#ifndef REFAULT_CLI_KEEP_H
#define REFAULT_CLI_KEEP_H

#include <jansson.h>

#include "base/array.h"
#include "cli/command.h"
#include "store/store.h"

struct report_options;

struct keep_arguments {
	const char *db;
	bool no_store;
};

/* Its lines in a command's table; `field` is the struct above in the command's own. */
#define STORE_OPTION(type, field)                                                                  \
	{                                                                                          \
		"db", 0, "PATH",                                                                   \
			"the store of runs; $XDG_DATA_HOME/refault/runs.db, or "                   \
			"~/.local/share/refault/runs.db, when not given",                          \
			OPTION_TEXT, offsetof(struct type, field), COMPLETE_FILE                   \
	}

#define KEEP_OPTIONS(type, field)                                                                  \
	STORE_OPTION(type, field.db),                                                              \
	{                                                                                          \
		"no-store", 0, NULL, "do not keep the result (see `refault list runs`)",           \
			OPTION_FLAG, offsetof(struct type, field.no_store), COMPLETE_NONE          \
	}

struct keep {
	const struct keep_arguments *arguments;
	struct kept_command command;
	ARRAY(struct kept_run) runs;
	const char *experiment;
	char (*ids)[STORE_ID_BYTES]; /* NULL: not kept */
	char *text;
	struct arena arena;
};

/* False: --db names what cannot be written (exit 2: nothing was run); nothing to end. */
bool keep_begin(struct keep *keep, const struct keep_arguments *arguments, struct error *error);

/*
 * The command as it was given. `told` are the options (ended by NULL) that do not tell experiments
 * apart: what results or digests tell, and where things are kept meanwhile.
 */
void keep_command(struct keep *keep, const char *name, const struct command *command,
		  const void *arguments, const char *const *told);

/*
 * One result, to be drawn with these options. label and digest may be NULL. All is copied.
 */
void keep_run(struct keep *keep, const struct result *result, const struct report_options *options,
	      const char *label, const char *digest);

/*
 * The same of a result that is JSON already, as report_json() makes it, with its drawing_json(). Both are borrowed. experiment NULL: as keep_command()
 * found it.
 */
void keep_run_json(struct keep *keep, json_t *result, json_t *drawing, const char *label,
		   const char *digest, const char *experiment);

/*
 * What is printed of several runs: text, which is freed with free(), and JSON, taken over; if that ends
 * with a list "runs" of just these results, is_of_runs.
 */
void keep_answer(struct keep *keep, char *text, json_t *json, bool is_of_runs);

void keep_store(struct keep *keep);
void keep_end(struct keep *keep);

#endif
