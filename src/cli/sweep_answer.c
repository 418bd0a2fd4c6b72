#include "cli/sweep_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/name.h"
#include "report/report.h"
#include "report/sweep.h"
#include "study/ranks.h"

bool sweep_answer_check(const struct sweep_answer_arguments *arguments, struct error *error)
{
	struct metric metric;

	if (arguments->json && arguments->csv)
		return error_input(error, "give either --json or --csv");
	return !arguments->metric || metric_find(&metric, arguments->metric, error);
}

static struct sweep_view view_of(const struct sweep_cells *cells,
				 const struct sweep_answer_arguments *arguments)
{
	struct sweep_view view = {
		.question = cells->question, .outcomes = cells->outcomes, .count = cells->count};
	struct error error;

	(void)metric_find(&view.metric,
			  arguments->metric ? arguments->metric
					    : sweep_metric_default(cells->question),
			  &error);
	return view;
}

/* ---- failures ---- */

char *sweep_failure(const struct error *error)
{
	char *message = name_utf8(error->message), *file = name_utf8(error->file);
	char *excerpt = name_utf8(error->excerpt), *text;
	json_t *json = json_pack(
		"{s:{s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:I}}", "failure", "message", message,
		"kind", error->kind == ERROR_INPUT ? "input" : "failed", "file", file, "line",
		(json_int_t)error->line, "column", (json_int_t)error->column, "excerpt", excerpt,
		"excerpt_column", (json_int_t)error->excerpt_column, "excerpt_columns",
		(json_int_t)error->excerpt_columns);

	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	memory_free(message);
	memory_free(file);
	memory_free(excerpt);
	return text;
}

static void text_take(char *to, size_t bytes, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	snprintf(to, bytes, "%s", text ? text : "");
}

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void failure_read(struct error *error, const json_t *failure)
{
	char kind[16];

	*error = (struct error){.line = number_of(failure, "line"),
				.column = number_of(failure, "column"),
				.excerpt_column = number_of(failure, "excerpt_column"),
				.excerpt_columns = number_of(failure, "excerpt_columns")};
	text_take(kind, sizeof(kind), failure, "kind");
	text_take(error->message, sizeof(error->message), failure, "message");
	text_take(error->file, sizeof(error->file), failure, "file");
	text_take(error->excerpt, sizeof(error->excerpt), failure, "excerpt");
	error->kind = strcmp(kind, "input") == 0 ? ERROR_INPUT : ERROR_FAILED;
}

bool sweep_answer_is_failure(const struct sweep_cells *cells, struct error *error)
{
	const json_t *first = NULL;

	for (size_t i = 0; i < cells->count; i++) {
		json_t *failure = json_object_get(cells->outcomes[i], "failure");

		if (!cells->outcomes[i])
			continue;
		if (!failure || (first && !json_equal(first, failure)))
			return false;
		first = failure;
	}
	if (first)
		failure_read(error, first);
	return first != NULL;
}

/* ---- keeping and printing ---- */

void sweep_answer_keep(struct keep *keep, const struct sweep_cells *cells,
		       const struct sweep_answer_arguments *arguments)
{
	const char *digest = json_string_value(json_object_get(cells->question, "digest"));
	const char *experiment = json_string_value(json_object_get(cells->question, "experiment"));
	struct sweep_view view = view_of(cells, arguments);
	char label[SWEEP_CELL_TEXT_BYTES], *text = NULL;
	size_t bytes;
	FILE *out;

	if (keep->arguments->no_store)
		return;
	for (size_t i = 0; i < cells->count; i++) {
		json_t *result = json_object_get(cells->outcomes[i], "result");

		if (result)
			keep_run_json(keep, result, json_object_get(cells->outcomes[i], "drawing"),
				      sweep_cell_text(label, cells->question, i), digest,
				      experiment);
	}
	out = open_memstream(&text, &bytes);
	if (!out)
		return;
	sweep_text(out, &view);
	fclose(out);
	keep_answer(keep, text, sweep_json(&view), true);
}

int sweep_answer_print(const struct sweep_cells *cells,
		       const struct sweep_answer_arguments *arguments)
{
	struct sweep_view view = view_of(cells, arguments);
	struct launcher launcher;
	bool failed = false;

	/* mpirun gives its ranks a terminal, wherever it writes to itself. */
	view.colour = !launcher_find(&launcher) && command_may_colour(stdout);
	for (size_t i = 0; i < cells->count; i++)
		failed |= json_object_get(cells->outcomes[i], "failure") != NULL;
	if (arguments->csv)
		sweep_csv(stdout, &view);
	else if (arguments->json)
		report_json_print(stdout, sweep_json(&view));
	else
		sweep_text(stdout, &view);
	return failed ? 1 : 0;
}
