#include "cli/help.h"

#include <string.h>

#include "cache/policy_options.h"
#include "cli/command.h"
#include "machine/model/model.h"
#include "op/trace.h"

enum { WIDTH = 90, HELP_COLUMN = 28 };

static const char introduction[] = "refault says what Linux's page, dentry and inode caches keep "
				   "in memory, what they forget, what the "
				   "forgetting costs, and what would change that.";

/* Print `text` wrapped at WIDTH, from `column` on; the first line goes where the cursor is. */
static void wrapped(FILE *out, const char *text, int column)
{
	int at = column;

	while (*text) {
		int bytes = (int)strcspn(text, " \n");

		if (at > column && at + 1 + bytes > WIDTH) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(out, "%s%.*s", at > column ? " " : "", bytes, text);
		text += bytes;
		if (text[0] == '\n' && text[1] == '\n') {
			fprintf(out, "\n\n%*s", column, "");
			at = column;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

/* "-o, --output FILE". Returns how wide it is. */
static int option_spelled(char *text, size_t bytes, const struct option *option)
{
	char letter[8] = "";

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	return snprintf(text, bytes, "%s--%s%s%s", letter, option->name,
			option->argument ? " " : "", option->argument ? option->argument : "");
}

static void option_help(FILE *out, const struct option *option)
{
	char spelled[96];
	int width = 2 + option_spelled(spelled, sizeof(spelled), option);

	fprintf(out, "  %s", spelled);
	if (width + 2 > HELP_COLUMN) {
		fputc('\n', out);
		width = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - width, "");
	wrapped(out, option->help, HELP_COLUMN);
}

static const struct option help_option = {"help",      'h', NULL,         "show this",
					  OPTION_FLAG, 0,   COMPLETE_NONE};

void help_command(FILE *out, const struct command_entry *entry)
{
	const struct command *command = entry->command;

	fprintf(out, "refault %s: %s\n\n", entry->name, entry->summary);
	for (size_t i = 0; command->usage[i]; i++)
		fprintf(out, "  refault %s\n", command->usage[i]);
	fputc('\n', out);
	wrapped(out, command->description, 0);
	fprintf(out, "\nOptions\n");
	for (const struct option *option = command->options; option->name; option++)
		option_help(out, option);
	option_help(out, &help_option);
	if (!command->examples[0].command)
		return;
	fprintf(out, "\nExamples\n");
	for (const struct example *example = command->examples; example->command; example++) {
		fprintf(out, "  refault %s\n      ", example->command);
		wrapped(out, example->meaning, 6);
	}
}

void help_overview(FILE *out)
{
	wrapped(out, introduction, 0);
	fprintf(out, "\nCommands\n");
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "  refault %-10s %s\n", command_at(i)->name, command_at(i)->summary);
	fprintf(out, "  refault %-10s %s\n", "help",
		"show this, or `refault help COMMAND` with examples");
	fprintf(out, "\nOptions\n  --version          show the version\n  --help             show "
		     "this\n");
	fprintf(out, "\nSizes are written 16GiB, 512MiB, 8KiB or in bytes. Exit code: 0 done, 1 "
		     "the run failed, "
		     "2 the\narguments or the input are wrong.\n");
}

/* ---- man pages ---- */

/* Text as troff wants it: no line begins with a dot by accident, a hyphen is a hyphen. */
static void troff(FILE *out, const char *text)
{
	bool begins = true;

	for (; *text; text++) {
		if (begins && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		begins = false;
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (text[0] == '\n' && text[1] == '\n')
			fputs("\n.PP\n", out), text++, begins = true;
		else
			fputc(*text, out), begins = *text == '\n';
	}
	fputc('\n', out);
}

static void man_head(FILE *out, const char *title, const char *name, const char *summary)
{
	fprintf(out, ".TH %s 1 \"\" \"refault %s\" \"refault manual\"\n.SH NAME\n", title,
		REFAULT_VERSION);
	fprintf(out, "%s \\- ", name);
	troff(out, summary);
}

static void man_exit_status(FILE *out)
{
	fputs(".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe run failed\n.TP\n2\nthe arguments or the "
	      "input are wrong; "
	      "standard error says where and what was expected\n",
	      out);
}

static void man_option(FILE *out, const struct option *option)
{
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, ".BR \\-%c ,\n", option->letter);
	fputs(".B ", out);
	fputs("\\-\\-", out);
	if (!option->argument) {
		troff(out, option->name);
	} else {
		for (const char *c = option->name; *c; c++)
			fprintf(out, "%s%c", *c == '-' ? "\\" : "", *c);
		fprintf(out, " \\fI%s\\fR\n", option->argument);
	}
	troff(out, option->help);
}

static void man_command(FILE *out, const struct command_entry *entry)
{
	const struct command *command = entry->command;
	char title[64], name[64];

	snprintf(name, sizeof(name), "refault-%s", entry->name);
	snprintf(title, sizeof(title), "%s", name);
	for (char *c = title; *c; c++)
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	man_head(out, title, name, entry->summary);
	fputs(".SH SYNOPSIS\n", out);
	for (size_t i = 0; command->usage[i]; i++) {
		fputs(i ? ".br\n.B refault\n" : ".B refault\n", out);
		troff(out, command->usage[i]);
	}
	fputs(".SH DESCRIPTION\n", out);
	troff(out, command->description);
	fputs(".SH OPTIONS\n", out);
	for (const struct option *option = command->options; option->name; option++)
		man_option(out, option);
	if (command->examples[0].command)
		fputs(".SH EXAMPLES\n", out);
	for (const struct example *example = command->examples; example->command; example++) {
		fputs(".TP\n.B refault ", out);
		troff(out, example->command);
		troff(out, example->meaning);
	}
	man_exit_status(out);
	fputs(".SH SEE ALSO\n.BR refault (1)\n", out);
}

static void man_overview(FILE *out)
{
	man_head(out, "REFAULT", "refault", "what Linux's caches keep, forget and read again");
	fputs(".SH SYNOPSIS\n.B refault\n.I COMMAND\n[options]\n.SH DESCRIPTION\n", out);
	troff(out, introduction);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; command_at(i); i++) {
		fprintf(out, ".TP\n.BR refault\\-%s (1)\n", command_at(i)->name);
		troff(out, command_at(i)->summary);
	}
	fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nset and not empty: no colours\n", out);
	man_exit_status(out);
}

/* ---- bash completion ---- */

static void bash_policies(FILE *out)
{
	fputs("_refault_policies='", out);
	for (size_t i = 0; policy_at(i); i++)
		fprintf(out, "%s%s", i ? " " : "", policy_name(policy_at(i)));
	fputs("'\n_refault_switches='", out);
	for (enum switch_id id = 0; id < SWITCH_COUNT; id++) {
		const char *values = switch_values(id);

		/* A number: only the name can be offered. */
		if (!strchr(values, '|')) {
			fprintf(out, "%s%s=", id ? " " : "", switch_name(id));
			continue;
		}
		for (const char *separator = id ? " " : ""; *values; separator = " ") {
			int bytes = (int)strcspn(values, "|");

			fprintf(out, "%s%s=%.*s", separator, switch_name(id), bytes, values);
			values += bytes + (values[bytes] == '|');
		}
	}
	fputs("'\n", out);
}

static void bash_words(FILE *out)
{
	fputs("_refault_filesystems='", out);
	for (size_t i = 0; filesystem_at(i); i++)
		fprintf(out, "%s%s", i ? " " : "", filesystem_name(filesystem_at(i)));
	fputs("'\n_refault_formats='", out);
	for (size_t i = 0; trace_format_at(i); i++)
		fprintf(out, "%s%s", i ? " " : "", trace_format_at(i)->name);
	fputs("'\n_refault_commands='", out);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "%s ", command_at(i)->name);
	fputs("help'\n", out);
}

/* Shell words that give the candidates for `complete`. */
static void bash_candidates(FILE *out, enum complete complete, const char *words)
{
	switch (complete) {
	case COMPLETE_NONE:
		fputs("return", out);
		break;
	case COMPLETE_FILE:
		fputs("_refault_files", out);
		break;
	case COMPLETE_POLICY:
		fputs("_refault_policy", out);
		break;
	case COMPLETE_FILESYSTEM:
		fputs("_refault_offer \"$_refault_filesystems\"", out);
		break;
	case COMPLETE_FORMAT:
		fputs("_refault_offer \"$_refault_formats\"", out);
		break;
	case COMPLETE_DEVICE:
		fputs("_refault_offer \"$(refault list devices --names 2>/dev/null)\"; "
		      "_refault_files",
		      out);
		break;
	case COMPLETE_SCENARIO:
		fputs("_refault_offer \"$(refault list scenarios --names 2>/dev/null)\"; "
		      "_refault_files",
		      out);
		break;
	case COMPLETE_WORDS:
		fputs("_refault_offer '", out);
		for (; *words; words++)
			fputc(*words == '|' ? ' ' : *words, out);
		fputc('\'', out);
		break;
	}
}

static void bash_command(FILE *out, const struct command_entry *entry)
{
	const struct command *command = entry->command;

	for (const struct option *option = command->options; option->name; option++) {
		if (!option->argument)
			continue;
		fprintf(out, "\t%s:--%s", entry->name, option->name);
		if (option->letter)
			fprintf(out, " | %s:-%c", entry->name, option->letter);
		fputs(") ", out);
		bash_candidates(out, option->complete, option->argument);
		fputs(" ;;\n", out);
	}
	fprintf(out, "\t%s:*)\n\t\tif [[ $value == -* ]]; then\n\t\t\t_refault_offer '",
		entry->name);
	for (const struct option *option = command->options; option->name; option++)
		fprintf(out, "--%s ", option->name);
	fputs("--help'\n\t\telse\n\t\t\t", out);
	bash_candidates(out, command->operands_max ? command->operand_complete : COMPLETE_NONE,
			command->operand);
	fputs("\n\t\tfi ;;\n", out);
}

static void bash_completion(FILE *out)
{
	fputs("# bash completion for refault; made by `refault help --bash`\n\n", out);
	bash_policies(out);
	bash_words(out);
	fputs("\n"
	      "# Add the candidates among WORDS, each with what stands before the word that is "
	      "completed.\n"
	      "_refault_offer() {\n"
	      "\tlocal word\n"
	      "\tfor word in $1; do\n"
	      "\t\t[[ $word != \"$value\"* ]] || COMPREPLY+=(\"$before$word\")\n"
	      "\tdone\n"
	      "}\n\n"
	      "_refault_files() {\n"
	      "\tlocal file\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\twhile IFS= read -r file; do COMPREPLY+=(\"$before$file\"); done < <(compgen -f -- "
	      "\"$value\")\n"
	      "}\n\n"
	      "# NAME[,KEY=VALUE]...: after a comma, the switches.\n"
	      "_refault_policy() {\n"
	      "\tcompopt -o nospace 2>/dev/null\n"
	      "\tif [[ $value == *,* ]]; then\n"
	      "\t\tbefore=$before${value%,*},\n"
	      "\t\tvalue=${value##*,}\n"
	      "\t\t_refault_offer \"$_refault_switches\"\n"
	      "\telse\n"
	      "\t\t_refault_offer \"$_refault_policies\"\n"
	      "\tfi\n"
	      "}\n\n"
	      "_refault() {\n"
	      "\t# Words as the program will see them: readline would cut them at = and :.\n"
	      "\tlocal line=${COMP_LINE:0:COMP_POINT} value before='' cut='' option='' i\n"
	      "\tlocal -a words\n"
	      "\tread -ra words <<<\"$line\"\n"
	      "\t[[ $line == *[[:space:]] ]] && words+=('')\n"
	      "\tCOMPREPLY=()\n"
	      "\tvalue=${words[${#words[@]} - 1]}\n"
	      "\tif [[ ${#words[@]} -le 2 ]]; then\n"
	      "\t\t_refault_offer \"$_refault_commands --help --version\"\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\toption=${words[${#words[@]} - 2]}\n"
	      "\tif [[ $value == --*=* ]]; then\n"
	      "\t\toption=${value%%=*}\n"
	      "\t\tbefore=$option=\n"
	      "\t\tvalue=${value#*=}\n"
	      "\tfi\n"
	      "\tcase ${words[1]}:$option in\n"
	      "\thelp:*) _refault_offer \"$_refault_commands\" ;;\n",
	      out);
	for (size_t i = 0; command_at(i); i++)
		bash_command(out, command_at(i));
	fputs("\tesac\n"
	      "\t# What readline takes for the word begins after the last = or :.\n"
	      "\tline=${words[${#words[@]} - 1]}\n"
	      "\t[[ $COMP_WORDBREAKS != *=* || $line != *=* ]] || cut=${line%=*}=\n"
	      "\tfor i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"$cut\"}; done\n"
	      "}\n\n"
	      "complete -F _refault refault\n",
	      out);
}

int help_main(int argc, char **argv)
{
	const struct command_entry *entry;
	const char *name = argc > 0 ? argv[0] : NULL;
	bool man = name && strcmp(name, "--man") == 0;
	struct error error;

	if (man)
		name = argc > 1 ? argv[1] : NULL;
	if (!name) {
		if (man)
			man_overview(stdout);
		else
			help_overview(stdout);
		return 0;
	}
	if (strcmp(name, "--bash") == 0) {
		bash_completion(stdout);
		return 0;
	}
	if (strcmp(name, "--commands") == 0) {
		for (size_t i = 0; command_at(i); i++)
			puts(command_at(i)->name);
		return 0;
	}
	entry = command_find(name);
	if (!entry) {
		error_input(&error, "no command \"%.80s\". `refault help` shows all.", name);
		return command_fail(&error);
	}
	if (man)
		man_command(stdout, entry);
	else
		help_command(stdout, entry);
	return 0;
}
