#include "cli/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/size.h"

#define COMMAND(name, summary) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct command_entry entries[] = {
#define COMMAND(name, summary) {#name, summary, &command_##name},
#include "cli/commands.def"
#undef COMMAND
};

const struct command_entry *command_at(size_t index)
{
	return index < sizeof(entries) / sizeof(entries[0]) ? &entries[index] : NULL;
}

const struct command_entry *command_find(const char *name)
{
	for (size_t i = 0; command_at(i); i++) {
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
	}
	return NULL;
}

static void text_list_add(struct text_list *list, const char *text)
{
	list->at = memory_resize(list->at, list->count + 1, sizeof(list->at[0]));
	list->at[list->count++] = text;
}

static bool value_missing(const struct option *option, const char *spelled, struct error *error)
{
	return error_input(error, "%s needs a value: %s %s", spelled, spelled, option->argument);
}

/*
 * Put an option's value where it belongs; `text` is NULL for flags. `spelled` is how it was given.
 */
static bool option_store(const struct option *option, void *arguments, const char *spelled,
			 const char *text, struct error *error)
{
	char *field = (char *)arguments + option->offset;
	struct given *given = (struct given *)(void *)field;

	/* --policy "$UNSET" is a slip, not a wish for what happens without it. */
	if (text && !*text)
		return value_missing(option, spelled, error);
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)(void *)field = true;
		return true;
	case OPTION_TEXT:
		*(const char **)(void *)field = text;
		return true;
	case OPTION_TEXTS:
		text_list_add((struct text_list *)(void *)field, text);
		return true;
	case OPTION_SIZE:
		given->given = true;
		return size_parse(&given->value, text, spelled, error);
	case OPTION_NUMBER:
		given->given = true;
		return number_parse(&given->value, text, spelled, error);
	}
	return true;
}

static const struct option *option_by_letter(const struct command *command, char letter)
{
	for (const struct option *option = command->options; option->name; option++) {
		if (option->letter == letter)
			return option;
	}
	return NULL;
}

static const struct option *option_by_name(const struct command *command, const char *name,
					   size_t bytes)
{
	for (const struct option *option = command->options; option->name; option++) {
		if (strlen(option->name) == bytes && memcmp(option->name, name, bytes) == 0)
			return option;
	}
	return NULL;
}

static bool option_unknown(const struct command_entry *entry, const char *name, size_t bytes,
			   struct error *error)
{
	char wanted[64];
	struct nearest nearest = {.wanted = wanted};

	snprintf(wanted, sizeof(wanted), "%.*s", (int)(bytes < 60 ? bytes : 60), name);
	for (const struct option *option = entry->command->options; option->name; option++)
		nearest_offer(&nearest, option->name);
	if (nearest.best)
		return error_input(error,
				   "%s has no option \"--%s\" (nearest: --%s). `refault %s --help` "
				   "shows all.",
				   entry->name, wanted, nearest.best, entry->name);
	return error_input(error, "%s has no option \"--%s\". `refault %s --help` shows all.",
			   entry->name, wanted, entry->name);
}

/* --name, --name=value, --name value. *used is how many of argv were taken. */
static bool long_option(const struct command_entry *entry, void *arguments, int argc, char **argv,
			int *used, struct error *error)
{
	const char *name = argv[0] + 2;
	size_t bytes = strcspn(name, "=");
	const char *value = name[bytes] ? name + bytes + 1 : NULL;
	const struct option *option = option_by_name(entry->command, name, bytes);
	char spelled[64];

	*used = 1;
	if (!option)
		return option_unknown(entry, name, bytes, error);
	snprintf(spelled, sizeof(spelled), "--%s", option->name);
	if (!option->argument) {
		if (value)
			return error_input(error, "%s takes no value, but \"%.80s\" is given",
					   spelled, value);
	} else if (!value) {
		if (argc < 2)
			return value_missing(option, spelled, error);
		value = argv[1];
		*used = 2;
	}
	return option_store(option, arguments, spelled, value, error);
}

/* -o value, -ovalue; one letter a time. */
static bool short_option(const struct command_entry *entry, void *arguments, int argc, char **argv,
			 int *used, struct error *error)
{
	const struct option *option = option_by_letter(entry->command, argv[0][1]);
	const char spelled[] = {'-', argv[0][1], '\0'};
	const char *value = argv[0][2] ? argv[0] + 2 : NULL;

	*used = 1;
	if (!option || (value && !option->argument))
		return error_input(error,
				   "%s has no option \"%.20s\". `refault %s --help` shows all.",
				   entry->name, argv[0], entry->name);
	if (option->argument && !value) {
		if (argc < 2)
			return value_missing(option, spelled, error);
		value = argv[1];
		*used = 2;
	}
	return option_store(option, arguments, spelled, value, error);
}

static bool operands_check(const struct command_entry *entry, const struct text_list *operands,
			   struct error *error)
{
	const struct command *command = entry->command;

	if (operands->count < command->operands_min)
		return error_input(error, "%s needs a %s: refault %s", entry->name,
				   command->operand, command->usage[0]);
	if (operands->count <= command->operands_max)
		return true;
	if (command->operands_max == 0)
		return error_input(error, "%s takes no \"%.80s\"", entry->name, operands->at[0]);
	return error_input(error, "%s takes %zu %s, and \"%.80s\" is one more", entry->name,
			   command->operands_max, command->operand,
			   operands->at[command->operands_max]);
}

bool command_parse(const struct command_entry *entry, void *arguments, int argc, char **argv,
		   bool *wants_help, struct error *error)
{
	struct text_list *operands =
		(struct text_list *)(void *)((char *)arguments + entry->command->operands_offset);
	bool only_operands = false;

	*wants_help = false;
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			break;
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			*wants_help = true;
			return true;
		}
	}
	for (int used = 1; argc > 0; argc -= used, argv += used) {
		bool done = true;

		used = 1;
		if (only_operands || argv[0][0] != '-' || argv[0][1] == '\0') {
			text_list_add(operands, argv[0]);
			operands->dashed += only_operands;
		} else if (strcmp(argv[0], "--") == 0)
			only_operands = true;
		else if (argv[0][1] == '-')
			done = long_option(entry, arguments, argc, argv, &used, error);
		else
			done = short_option(entry, arguments, argc, argv, &used, error);
		if (!done)
			return false;
	}
	return operands_check(entry, operands, error);
}

void command_arguments_deinit(const struct command *command, void *arguments)
{
	struct text_list *list =
		(struct text_list *)(void *)((char *)arguments + command->operands_offset);

	memory_free(list->at);
	*list = (struct text_list){0};
	for (const struct option *option = command->options; option->name; option++) {
		if (option->kind != OPTION_TEXTS)
			continue;
		list = (struct text_list *)(void *)((char *)arguments + option->offset);
		memory_free(list->at);
		*list = (struct text_list){0};
	}
}

bool command_may_colour(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no_colour && *no_colour)
		return false;
	return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

int command_fail(const struct error *error)
{
	bool colour = command_may_colour(stderr);
	char place[64] = "";
	int gutter;

	fflush(stdout);
	fprintf(stderr, "%srefault:%s ", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	if (error->line && error->column)
		snprintf(place, sizeof(place), ":%" PRIu64 ":%" PRIu64, error->line, error->column);
	else if (error->line)
		snprintf(place, sizeof(place), ":%" PRIu64, error->line);
	if (error->file[0])
		fprintf(stderr, "%s%s: ", error->file, place);
	fprintf(stderr, "%s\n", error->message);

	if (error->excerpt[0] && error->line) {
		gutter = fprintf(stderr, "  %" PRIu64 " ", error->line);
		fprintf(stderr, "| %s\n", error->excerpt);
		if (error->excerpt_column) {
			fprintf(stderr, "%*s| %*s%s", gutter, "", (int)error->excerpt_column - 1,
				"", colour ? "\033[31m" : "");
			for (uint64_t i = 0; i < error->excerpt_columns; i++)
				fputc('^', stderr);
			fprintf(stderr, "%s\n", colour ? "\033[0m" : "");
		}
	}
	return error->kind == ERROR_INPUT ? 2 : 1;
}

static bool is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return strcmp(name, "json") == 0;
}

static size_t option_values(const struct option *option, const void *field)
{
	switch (option->kind) {
	case OPTION_FLAG:
		return *(const bool *)field;
	case OPTION_TEXT:
		return *(const char *const *)field != NULL;
	case OPTION_TEXTS:
		return ((const struct text_list *)field)->count;
	case OPTION_SIZE:
	case OPTION_NUMBER:
		return ((const struct given *)field)->given;
	}
	return 0;
}

struct text_list command_repeat(const struct command *command, const void *arguments,
				const char *const *except, struct arena *arena)
{
	struct text_list words = {0};
	size_t most = 0;

	for (const struct option *option = command->options; option->name; option++)
		most += 2 * option_values(option, (const char *)arguments + option->offset);
	words.at = arena_alloc(arena, (most + 1) * sizeof(*words.at));
	for (const struct option *option = command->options; option->name; option++) {
		const void *field = (const char *)arguments + option->offset;
		size_t count = is_among(option->name, except) ? 0 : option_values(option, field);

		for (size_t i = 0; i < count; i++) {
			char text[64];

			snprintf(text, sizeof(text), "--%s", option->name);
			words.at[words.count++] = arena_text(arena, text, strlen(text));
			if (option->kind == OPTION_TEXT)
				words.at[words.count++] = *(const char *const *)field;
			else if (option->kind == OPTION_TEXTS)
				words.at[words.count++] = ((const struct text_list *)field)->at[i];
			else if (option->kind != OPTION_FLAG) {
				snprintf(text, sizeof(text), "%" PRIu64,
					 ((const struct given *)field)->value);
				words.at[words.count++] = arena_text(arena, text, strlen(text));
			}
		}
	}
	return words;
}
