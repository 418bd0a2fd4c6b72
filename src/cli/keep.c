#include "cli/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"
#include "report/drawing.h"
#include "report/name.h"
#include "report/report.h"

enum { IDS_SHOWN_MAX = 8, ID_SHOWN_DIGITS = 7 };

/* What says where results go is no part of what was asked. */
static const char *const own_options[] = {"db", "no-store"};

bool keep_begin(struct keep *keep, const struct keep_arguments *arguments, struct error *error)
{
	struct store *store;

	*keep = (struct keep){.arguments = arguments};
	if (arguments->no_store && arguments->db)
		return error_input(error, "--no-store keeps nothing: leave out --db");
	if (!arguments->db)
		return true;
	if (!store_open(&store, arguments->db, STORE_WRITE, error)) {
		error->kind = ERROR_INPUT;
		return error_context(error, "--db");
	}
	store_close(store);
	return true;
}

static bool is_off(const struct keep *keep)
{
	return keep->arguments->no_store;
}

/* Texts that JSON and SQLite take. */
static const char *kept_text(struct keep *keep, const char *text)
{
	char *utf8;
	const char *kept;

	if (!text)
		return NULL;
	utf8 = name_utf8(text);
	kept = arena_text(&keep->arena, utf8, strlen(utf8));
	memory_free(utf8);
	return kept;
}

/* So many names, and the own options behind them, ended by NULL. */
static const char *const *with_own(struct keep *keep, const char *const *names)
{
	size_t count = 0, own = sizeof(own_options) / sizeof(own_options[0]);
	const char **all;

	while (names[count])
		count++;
	all = arena_alloc(&keep->arena, (count + own + 1) * sizeof(*all));
	for (size_t i = 0; i < count + own; i++)
		all[i] = i < count ? names[i] : own_options[i - count];
	return all;
}

static const char *joined(struct keep *keep, const struct text_list *words)
{
	size_t bytes = 1;
	char *text, *at;

	for (size_t i = 0; i < words->count; i++)
		bytes += strlen(words->at[i]) + 1;
	text = at = arena_alloc(&keep->arena, bytes);
	for (size_t i = 0; i < words->count; i++)
		at += sprintf(at, "%s%s", i ? " " : "", words->at[i]);
	return kept_text(keep, text);
}

void keep_command(struct keep *keep, const char *name, const struct command *command,
		  const void *arguments, const char *const *told)
{
	static const char *const none[] = {NULL};
	const struct text_list *operands =
		(const struct text_list *)(const void *)((const char *)arguments +
							 command->operands_offset);
	struct text_list words, experiment;
	const char **all;
	size_t count = 0;

	if (is_off(keep))
		return;
	words = command_repeat(command, arguments, with_own(keep, none), &keep->arena);
	experiment = command_repeat(command, arguments, with_own(keep, told), &keep->arena);
	all = arena_alloc(&keep->arena, (operands->count + words.count + 2) * sizeof(*all));
	all[count++] = name;
	for (size_t i = 0; i < operands->count - operands->dashed; i++)
		all[count++] = kept_text(keep, operands->at[i]);
	for (size_t i = 0; i < words.count; i++)
		all[count++] = kept_text(keep, words.at[i]);
	if (operands->dashed)
		all[count++] = "--";
	for (size_t i = operands->count - operands->dashed; i < operands->count; i++)
		all[count++] = kept_text(keep, operands->at[i]);
	keep->experiment = joined(keep, &experiment);
	keep->command.name = name;
	keep->command.words = all;
	keep->command.word_count = count;
	keep->command.version = REFAULT_VERSION;
}

void keep_run(struct keep *keep, const struct result *result, const struct report_options *options,
	      const char *label, const char *digest)
{
	if (is_off(keep))
		return;
	*array_push(&keep->runs) = (struct kept_run){
		.label = kept_text(keep, label),
		.input = kept_text(keep, result->input),
		.digest = kept_text(keep, digest),
		.experiment = keep->experiment,
		.result = report_json(result, options),
		.drawing = drawing_json(options),
	};
}

void keep_run_json(struct keep *keep, json_t *result, json_t *drawing, const char *label,
		   const char *digest, const char *experiment)
{
	const json_t *input = json_object_get(result, "input");

	if (is_off(keep))
		return;
	*array_push(&keep->runs) = (struct kept_run){
		.label = kept_text(keep, label),
		.input = kept_text(keep, json_string_value(json_object_get(input, "name"))),
		.digest = kept_text(keep, digest),
		.experiment = experiment ? kept_text(keep, experiment) : keep->experiment,
		.result = json_incref(result),
		.drawing = json_incref(drawing),
	};
}

void keep_answer(struct keep *keep, char *text, json_t *json, bool is_of_runs)
{
	if (is_of_runs)
		json_object_del(json, "runs");
	keep->text = text;
	keep->command.text = text;
	keep->command.json = json;
}

static uint64_t now_ns(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void keep_store(struct keep *keep)
{
	struct store *store = NULL;
	struct error error;

	if (is_off(keep) || keep->runs.count == 0)
		return;
	keep->command.runs = keep->runs.at;
	keep->command.run_count = keep->runs.count;
	keep->command.time_ns = now_ns();
	keep->ids = memory_alloc(keep->runs.count, sizeof(*keep->ids));
	if (!store_open(&store, keep->arguments->db, STORE_WRITE, &error) ||
	    !store_keep(store, &keep->command, keep->ids, &error)) {
		fprintf(stderr, "refault: warning: the result is not kept: %s\n", error.message);
		memory_free(keep->ids);
		keep->ids = NULL;
	}
	store_close(store);
}

/* To whom it may be of use: a program that reads standard error would only wonder. */
static void tell(const struct keep *keep)
{
	if (!keep->ids || !isatty(STDERR_FILENO))
		return;
	fflush(stdout);
	fputs("kept as ", stderr);
	for (size_t i = 0; i < keep->runs.count && i < IDS_SHOWN_MAX; i++)
		fprintf(stderr, "%s%.*s", i ? ", " : "", ID_SHOWN_DIGITS, keep->ids[i]);
	if (keep->runs.count > IDS_SHOWN_MAX)
		fprintf(stderr, " and %zu more", keep->runs.count - IDS_SHOWN_MAX);
	fputs(" (refault list runs)\n", stderr);
}

void keep_end(struct keep *keep)
{
	tell(keep);
	for (size_t i = 0; i < keep->runs.count; i++) {
		json_decref(keep->runs.at[i].result);
		json_decref(keep->runs.at[i].drawing);
	}
	array_deinit(&keep->runs);
	json_decref(keep->command.json);
	memory_free(keep->ids);
	free(keep->text);
	arena_deinit(&keep->arena);
	*keep = (struct keep){0};
}
