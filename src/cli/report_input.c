#include "cli/report_input.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/kept.h"
#include "measure/result_json.h"

/* ---- files ---- */

static char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text_copy(text) : NULL;
}

static bool is_result(const json_t *json)
{
	return json_is_object(json_object_get(json, "totals")) &&
	       json_is_object(json_object_get(json, "machine"));
}

/* What `refault export` tells of it besides; NULL: nothing. */
static void exported_read(struct stored_run *run, const json_t *exported)
{
	json_t *words = json_object_get(exported, "words");

	run->version = text_of(exported, "version");
	run->digest = text_of(exported, "digest");
	run->label = text_of(exported, "setting");
	if (json_is_array(words)) {
		char *text = json_dumps(words, JSON_COMPACT);

		run->words = text ? text_copy(text) : NULL;
		free(text);
	}
}

static bool result_read(struct stored *stored, struct error *error)
{
	char *text = json_dumps(stored->json, JSON_COMPACT);
	bool done = text && result_json_read(&stored->result, text, strlen(text), error);

	free(text);
	return done;
}

static char *copy_or_null(const char *text)
{
	return text ? text_copy(text) : NULL;
}

static void stored_describe(struct stored *stored, const char *file, size_t index)
{
	const struct result *result = &stored->result;
	json_t *pages = json_object_get(json_object_get(stored->json, "machine"), "pages");
	struct stored_run *run = &stored->run;

	snprintf(run->id, sizeof(run->id), "json-%zu", index + 1);
	run->number = index;
	run->input = copy_or_null(result->input);
	run->machine = copy_or_null(result->machine);
	run->kernel = copy_or_null(result->kernel);
	run->policy = copy_or_null(result->policy);
	run->filesystem = copy_or_null(result->filesystem);
	run->experiment = text_copy("");
	run->version = run->version ? run->version : text_copy("");
	run->memory_bytes = result->memory_bytes;
	run->is_cgroup = result->is_cgroup;
	run->seed = result->seed;
	run->op_count = result->op_count;
	stored->drawing = json_object();
	json_object_set_new(stored->drawing, "file", json_string(file));
	if (json_is_integer(pages))
		json_object_set(stored->drawing, "bare_pages", pages);
}

/* `json` is a result, or one of export's with its "result". */
static bool run_take(struct report_input *input, json_t *json, const char *file, const char *label,
		     struct error *error)
{
	json_t *result = is_result(json) ? json : json_object_get(json, "result");
	struct stored *stored;

	if (!is_result(result))
		return error_at(
			error, file, 0, 0,
			"no result is in it: expected what `refault run`, `replay`, `explain` "
			"or `export` prints with --json");
	stored = array_push(&input->runs);
	stored->json = json_incref(result);
	if (result != json)
		exported_read(&stored->run, json);
	if (label && !stored->run.label)
		stored->run.label = text_copy(label);
	if (!result_read(stored, error))
		return error_context(error, "%s", file);
	stored_describe(stored, file, input->runs.count - 1);
	return true;
}

static bool json_take(struct report_input *input, json_t *json, const char *file,
		      struct error *error)
{
	const json_t *runs = json_object_get(json, "runs");
	const json_t *settings = json_object_get(json_object_get(json, "compare"), "values");
	bool has_settings = json_array_size(settings) == json_array_size(runs);

	if (!json_is_array(runs))
		return run_take(input, json, file, NULL, error);
	if (json_array_size(runs) == 0)
		return error_at(error, file, 0, 0, "there is no run in it");
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const char *label =
			has_settings ? json_string_value(json_array_get(settings, i)) : NULL;

		if (!run_take(input, json_array_get(runs, i), file, label, error))
			return false;
	}
	return true;
}

static bool file_load(struct report_input *input, const char *name, struct error *error)
{
	bool is_stdin = strcmp(name, "-") == 0, done;
	FILE *file = is_stdin ? stdin : fopen(name, "re");
	json_error_t wrong;
	json_t *json;

	if (!file) {
		error_system(error, "cannot open %s", name);
		error->kind = ERROR_INPUT;
		return false;
	}
	json = json_loadf(file, JSON_REJECT_DUPLICATES, &wrong);
	if (!is_stdin)
		fclose(file);
	if (!json)
		return error_at(
			error, name, wrong.line > 0 ? (uint64_t)wrong.line : 0,
			wrong.column > 0 ? (uint64_t)wrong.column : 0,
			"no JSON: %s; expected what `refault run --json` or the like printed",
			wrong.text);
	done = json_take(input, json, name, error);
	json_decref(json);
	return done;
}

/* ---- the store ---- */

static bool is_file(const char *name)
{
	if (name[0] == '@')
		return false;
	return strcmp(name, "-") == 0 || strpbrk(name, "/.") || access(name, F_OK) == 0;
}

/* Those that are no files; counts[] is by name. */
static bool kept_find(struct store *store, const struct text_list *names, uint64_t **numbers,
		      size_t *counts, struct error *error)
{
	const char **kept = memory_alloc(names->count + 1, sizeof(*kept));
	size_t *found = memory_alloc(names->count + 1, sizeof(*found)), count = 0;
	bool done;

	for (size_t i = 0; i < names->count; i++)
		if (!is_file(names->at[i]))
			kept[count++] = names->at[i];
	done = kept_numbers(store, kept, count, numbers, found, error);
	count = 0;
	for (size_t i = 0; done && i < names->count; i++)
		counts[i] = is_file(names->at[i]) ? 0 : found[count++];
	memory_free(kept);
	memory_free(found);
	return done;
}

static bool kept_load(struct report_input *input, struct store *store, const uint64_t *numbers,
		      size_t index, struct error *error)
{
	for (size_t i = 0; i < index; i++)
		if (numbers[i] == numbers[index])
			return true;
	return store_load(store, numbers[index], array_push(&input->runs), error);
}

bool report_input_load(struct report_input *input, const char *db, const struct text_list *names,
		       struct error *error)
{
	size_t *counts = memory_alloc(names->count + 1, sizeof(*counts)), kept = 0, next = 0;
	uint64_t *numbers = NULL;
	struct store *store = NULL;
	bool done = true;

	*input = (struct report_input){0};
	for (size_t i = 0; i < names->count; i++)
		kept += !is_file(names->at[i]);
	if (kept)
		done = store_open(&store, db, STORE_READ, error) &&
		       kept_find(store, names, &numbers, counts, error);
	for (size_t i = 0; done && i < names->count; i++) {
		if (is_file(names->at[i]))
			done = file_load(input, names->at[i], error);
		for (size_t k = 0; done && k < counts[i]; k++)
			done = kept_load(input, store, numbers, next++, error);
	}
	store_close(store);
	memory_free(numbers);
	memory_free(counts);
	return done;
}

void report_input_deinit(struct report_input *input)
{
	for (size_t i = 0; i < input->runs.count; i++)
		stored_deinit(&input->runs.at[i]);
	array_deinit(&input->runs);
}
