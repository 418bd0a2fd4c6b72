/*
 * command: what a subcommand says about itself, and how its arguments are read
 *
 * A subcommand is one file with a `const struct command command_NAME` and a line in commands.def.
 * Its options are a static table; from that table come parsing, `--help`, the man page and the bash
 * completion, so that none of them can disagree. Options land in a plain struct of the command's
 * own, each at its offset:
 *
 *     struct replay_arguments { struct text_list traces; bool json; struct given memory; };
 *     static const struct option options[] = {
 *             {"memory", 0, "SIZE", "memory of the whole machine", OPTION_SIZE, offsetof(struct
 *             replay_arguments, memory), COMPLETE_NONE}, {"json", 0, NULL, "print JSON",
 *             OPTION_FLAG, offsetof(struct replay_arguments, json), COMPLETE_NONE}, {0}};
 */
#ifndef REFAULT_CLI_COMMAND_H
#define REFAULT_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* What an option's value is, and so the type of the field it lands in. */
enum option_kind {
	OPTION_FLAG,   /* takes none; bool */
	OPTION_TEXT,   /* const char *; NULL when not given; the last one given counts */
	OPTION_TEXTS,  /* may be given several times; struct text_list */
	OPTION_SIZE,   /* "16GiB"; struct given, in bytes */
	OPTION_NUMBER, /* "12"; struct given */
};

/* What a shell can complete here. */
enum complete {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_POLICY, /* NAME[,KEY=VALUE]... */
	COMPLETE_FILESYSTEM,
	COMPLETE_DEVICE,
	COMPLETE_FORMAT,
	COMPLETE_SCENARIO, /* a name that ships, or a file */
	COMPLETE_WORDS,    /* one of the words in `argument`, between | */
};

struct text_list {
	const char **at; /* [0 .. count - 1]; the texts are argv's */
	size_t count;
	size_t dashed; /* operands: how many of them, the last ones, came behind a "--" */
};

struct given {
	bool given;
	uint64_t value;
};

struct option {
	const char *name;     /* "memory" for --memory; NULL ends the table */
	char letter;          /* 'o' for -o; 0: none */
	const char *argument; /* "SIZE" in help; NULL: takes none */
	const char *help;     /* what it does, from lower case, without a full stop */
	enum option_kind kind;
	size_t offset; /* of the field in the command's struct */
	enum complete complete;
};

struct example {
	const char *command;
	const char *meaning;
};

struct command {
	const char *const *usage; /* lines after "refault "; NULL ends */
	const char *
		/* paragraphs separated by blank lines; wrapped to fit where it is shown */
		description;
	const struct option *options;   /* ended by {0} */
	const struct example *examples; /* ended by {0} */

	size_t arguments_bytes; /* of the command's struct; it is zeroed before parsing */
	size_t operands_offset; /* of a struct text_list for what is not an option */
	const char *operand;    /* "TRACE", for messages; NULL: takes none */
	size_t operands_min, operands_max;
	enum complete operand_complete;

	/* Do it. Returns the exit code: 0 done, or what command_fail() returned. */
	int (*run)(const void *arguments);
};

/* What commands.def says of each. */
struct command_entry {
	const char *name;
	const char *summary;
	const struct command *command;
};
const struct command_entry *command_at(size_t index); /* NULL after the last */
const struct command_entry *command_find(const char *name);

/*
 * Read argv[0 .. argc - 1] (what follows the subcommand's name) into `arguments`. Fails
 * (ERROR_INPUT) with the nearest option there is. *wants_help: --help was among them; then nothing
 * else matters. Free with command_arguments_deinit(), also after a failure.
 */
bool command_parse(const struct command_entry *entry, void *arguments, int argc, char **argv,
		   bool *wants_help, struct error *error);
void command_arguments_deinit(const struct command *command, void *arguments);

/*
 * The options that were given, as words to give again, but for those in `except` (names, ended by
 * NULL) and --json. Texts are the arguments' own or in `arena`, and so is the list.
 */
struct arena;
struct text_list command_repeat(const struct command *command, const void *arguments,
				const char *const *except, struct arena *arena);

/*
 * Print `error` as people are to see it, on stderr. Returns the exit code: 2 for wrong input, 1 for
 * a failed run.
 */
int command_fail(const struct error *error);

/* Is this stream a terminal that may be coloured? (NO_COLOR unset or empty, TERM not "dumb".) */
bool command_may_colour(FILE *stream);

#endif
