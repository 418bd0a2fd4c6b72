#include "report/drawing.h"

#include "base/memory.h"
#include "report/report.h"
#include "report/report_private.h"

json_t *drawing_json(const struct report_options *options)
{
	json_t *json = json_object(), *words = json_array();

	for (size_t i = 0; i < options->word_count; i++)
		json_array_append_new(words, json_text(options->words[i]));
	json_object_set_new(json, "input", json_text(options->input));
	json_object_set_new(json, "words", words);
	json_object_set_new(json, "is_trace", json_boolean(options->is_trace));
	json_object_set_new(json, "bare_pages", json_number(options->bare_pages));
	json_object_set_new(json, "skipped_rows", json_number(options->skipped_rows));
	json_object_set_new(json, "is_cut_off", json_boolean(options->is_cut_off));
	if (options->input_notes)
		json_object_set(json, "input_notes", options->input_notes);
	return json;
}

static uint64_t number(const json_t *drawing, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(drawing, key));
}

void drawing_read(struct report_options *options, const json_t *drawing, struct arena *arena)
{
	const json_t *words = json_object_get(drawing, "words");
	size_t count = json_array_size(words);
	const char **at = arena_alloc(arena, (count + 1) * sizeof(*at));

	*options = (struct report_options){
		.skipped_rows = number(drawing, "skipped_rows"),
		.is_cut_off = json_is_true(json_object_get(drawing, "is_cut_off")),
		.input_notes = json_object_get(drawing, "input_notes"),
		.is_trace = json_is_true(json_object_get(drawing, "is_trace")),
		.bare_pages = number(drawing, "bare_pages"),
		.input = json_string_value(json_object_get(drawing, "input")),
		.words = at,
	};
	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (word)
			at[options->word_count++] = word;
	}
}
