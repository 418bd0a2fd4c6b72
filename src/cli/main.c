/*
 * refault's front door: find the subcommand, read its arguments, do it. The only place that exits.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/glyph.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/help.h"

static int run(const struct command_entry *entry, int argc, char **argv)
{
	void *arguments = memory_alloc(1, entry->command->arguments_bytes);
	struct error error;
	bool wants_help;
	int code = 0;

	if (!command_parse(entry, arguments, argc, argv, &wants_help, &error))
		code = command_fail(&error);
	else if (wants_help)
		help_command(stdout, entry);
	else
		code = entry->command->run(arguments);
	command_arguments_deinit(entry->command, arguments);
	memory_free(arguments);
	return code;
}

static int unknown(const char *name)
{
	struct nearest nearest = {.wanted = name};
	struct error error;
	const char *what = name[0] == '-' ? "option" : "command";

	for (size_t i = 0; command_at(i); i++)
		nearest_offer(&nearest, command_at(i)->name);
	nearest_offer(&nearest, "help");
	nearest_offer(&nearest, "--help");
	nearest_offer(&nearest, "--version");
	if (nearest.best)
		error_input(&error, "no %s \"%.80s\" (nearest: %s). `refault help` shows all.",
			    what, name, nearest.best);
	else
		error_input(&error, "no %s \"%.80s\". `refault help` shows all.", what, name);
	return command_fail(&error);
}

static int dispatch(int argc, char **argv)
{
	const struct command_entry *entry;

	if (argc < 2) {
		help_overview(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("refault %s\n", REFAULT_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_overview(stdout);
		return 0;
	}
	if (strcmp(argv[1], "help") == 0)
		return help_main(argc - 2, argv + 2);
	entry = command_find(argv[1]);
	return entry ? run(entry, argc - 2, argv + 2) : unknown(argv[1]);
}

/* What programs read, and pages for others, do not depend on where they were made. */
static bool is_for_elsewhere(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return argc > 1 && strcmp(argv[1], "report") == 0;
}

int main(int argc, char **argv)
{
	int code;

	glyphs_use_ascii(glyphs_environment_is_ascii() && !is_for_elsewhere(argc, argv));

	/*
	 * A reader that has seen enough (| head) is no failure worth a message, but no success
	 * either.
	 */
	signal(SIGPIPE, SIG_DFL);
	code = dispatch(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "refault: cannot write the answer: %s\n", strerror(errno));
		return 1;
	}
	return code;
}
