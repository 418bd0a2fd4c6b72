#include "report/comparison.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/size.h"
#include "measure/value.h"
#include "report/figure.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Nobody gains or loses by less than a hundredth. */
enum { NOTABLE_PERCENT = 1 };

/* ---- rows that nobody asked for: what each stream read again ---- */

static bool streams_name_is_new(const struct comparison *comparison, size_t result, size_t stream)
{
	const char *name = comparison->results[result].streams[stream].name;

	for (size_t i = 0; i < result; i++) {
		if (result_stream_find(&comparison->results[i], name))
			return false;
	}
	return true;
}

static void rows_add_streams(struct comparison_rows *rows, const struct comparison *comparison)
{
	for (size_t r = 0; r < comparison->count; r++) {
		for (size_t s = 0; s < comparison->results[r].stream_count; s++) {
			const char *name = comparison->results[r].streams[s].name;
			const char **streams = arena_alloc(&rows->arena, sizeof(*streams));
			size_t bytes = strlen(name) + sizeof(" read again");
			char *label = arena_alloc(&rows->arena, bytes);

			if (!streams_name_is_new(comparison, r, s))
				continue;
			snprintf(label, bytes, "%s read again", name);
			streams[0] = name;
			*array_push(&rows->list) = (struct comparison_row){
				.label = label,
				.counter = COUNTER_reread_bytes,
				.streams = streams,
				.stream_count = 1,
			};
		}
	}
}

void comparison_rows_make(struct comparison_rows *rows, const struct comparison *comparison)
{
	static const struct {
		const char *label;
		enum counter_id counter;
	} totals[] = {
		{"all read again", COUNTER_reread_bytes},
		{"read from the device", COUNTER_read_bytes},
		{"written to it", COUNTER_write_bytes},
		{"inodes allocated again", COUNTER_inodes_reallocated},
	};

	*rows = (struct comparison_rows){.at = comparison->rows, .count = comparison->row_count};
	if (comparison->row_count)
		return;
	rows_add_streams(rows, comparison);
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		*array_push(&rows->list) = (struct comparison_row){.label = totals[i].label,
								   .counter = totals[i].counter};
	rows->at = rows->list.at;
	rows->count = rows->list.count;
}

void comparison_rows_free(struct comparison_rows *rows)
{
	array_deinit(&rows->list);
	arena_deinit(&rows->arena);
}

/* ---- the table ---- */

static void headings(struct table *table, const struct comparison *comparison, bool published)
{
	table_column(table, comparison->key, TABLE_LEFT, TABLE_KEEP);
	for (int part = 0; part < (published ? 2 : 1); part++) {
		for (size_t i = 0; i < comparison->count; i++) {
			char shown[NAME_TEXT_BYTES], heading[NAME_TEXT_BYTES + 16];

			snprintf(heading, sizeof(heading), "%s%s",
				 part && i == 0 ? "published: " : "",
				 name_show(shown, comparison->settings[i], NAME_COLUMNS));
			table_column(table, heading, TABLE_UNIT, TABLE_KEEP);
		}
		if (comparison->count == 2)
			table_column(table, "ratio", TABLE_RIGHT, TABLE_KEEP);
	}
}

static void row_print(struct table *table, const struct comparison *comparison,
		      const struct comparison_row *row, bool published)
{
	char text[FIGURE_TEXT_BYTES], label[NAME_TEXT_BYTES];
	struct figure values[COMPARISON_SETTINGS_MAX];
	enum value_unit unit = figure_unit(row); /* of a value: what the results say */

	table_text(table, name_show(label, row->label, NAME_COLUMNS_MAX));
	for (size_t i = 0; i < comparison->count; i++) {
		values[i] = figure_value(row, &comparison->results[i]);
		table_text(table, figure_format(text, row, values[i]));
		if (values[i].known)
			unit = values[i].unit;
	}
	if (comparison->count == 2)
		table_text(table, figure_ratio_format(text, values[0], values[1]));
	for (size_t i = 0; published && i < comparison->count; i++) {
		values[i] = figure_published(row, i);
		values[i].unit = unit;
		table_text(table, values[i].known ? figure_format(text, row, values[i]) : "");
	}
	if (published && comparison->count == 2)
		table_text(table, figure_is_published(row, 2)
					  ? figure_ratio_format(text, values[0], values[1])
					  : "");
}

/* A row of its own: how long it all took. */
static void elapsed_print(struct table *table, const struct comparison *comparison, bool published)
{
	size_t cells = published ? comparison->count : 0;
	char text[SIZE_TEXT_BYTES];

	if (!comparison->elapsed_ns)
		return;
	table_text(table, "time it takes");
	for (size_t i = 0; i < comparison->count; i++)
		table_text(table, time_format(text, comparison->elapsed_ns[i]));
	cells += comparison->count == 2 ? (published ? 2 : 1) : 0;
	while (cells-- > 0)
		table_text(table, "");
}

static void table_of_rows(FILE *out, const struct comparison *comparison,
			  const struct comparison_rows *rows, bool colour)
{
	struct table *table = table_create();
	bool published = false;

	for (size_t i = 0; i < rows->count; i++)
		published |= figure_is_published(&rows->at[i], comparison->count);
	headings(table, comparison, published);
	for (size_t i = 0; i < rows->count; i++)
		row_print(table, comparison, &rows->at[i], published);
	elapsed_print(table, comparison, published);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

/* ---- in words ---- */

enum verdict { VERDICT_SAME, VERDICT_GAINS, VERDICT_LOSES };

/* By one stream's own figures of what it had to fetch again; the first that differs decides. */
static enum verdict stream_verdict(const struct comparison *comparison,
				   const struct comparison_rows *rows, const char *name)
{
	const struct result *first = &comparison->results[0];
	const struct result *last = &comparison->results[comparison->count - 1];

	for (size_t i = 0; i < rows->count; i++) {
		const struct comparison_row *row = &rows->at[i];
		struct figure a, b;
		uint64_t larger, difference;

		if (row->value || row->stream_count != 1 || strcmp(row->streams[0], name) != 0 ||
		    (row->counter != COUNTER_reread_bytes &&
		     row->counter != COUNTER_inodes_reallocated))
			continue;
		a = figure_value(row, first);
		b = figure_value(row, last);
		larger = (uint64_t)(a.number > b.number ? a.number : b.number);
		difference = larger - (uint64_t)(a.number > b.number ? b.number : a.number);
		if (!a.known || !b.known || difference <= larger / 100 * NOTABLE_PERCENT)
			continue;
		return b.number < a.number ? VERDICT_GAINS : VERDICT_LOSES;
	}
	return VERDICT_SAME;
}

static void verdict_list(FILE *out, const struct comparison *comparison,
			 const struct comparison_rows *rows, enum verdict wanted,
			 const char *nobody)
{
	const struct result *first = &comparison->results[0];
	const char *between = "";
	char name[NAME_TEXT_BYTES];

	for (size_t i = 0; i < first->stream_count; i++) {
		if (stream_verdict(comparison, rows, first->streams[i].name) != wanted)
			continue;
		fprintf(out, "%s%s", between,
			name_show(name, first->streams[i].name, NAME_COLUMNS));
		between = ", ";
	}
	if (!between[0])
		fputs(nobody, out);
}

static void verdicts(FILE *out, const struct comparison *comparison,
		     const struct comparison_rows *rows)
{
	char last[NAME_TEXT_BYTES], first[NAME_TEXT_BYTES];

	if (comparison->count < 2)
		return;
	fprintf(out, "\nWith %s %s instead of %s: who gains: ", comparison->key,
		name_show(last, comparison->settings[comparison->count - 1], NAME_COLUMNS),
		name_show(first, comparison->settings[0], NAME_COLUMNS));
	verdict_list(out, comparison, rows, VERDICT_GAINS, "nobody");
	fputs(".  Who loses: ", out);
	verdict_list(out, comparison, rows, VERDICT_LOSES, "nobody here");
	fputs(".\n", out);
}

/* A value that no run has, and that is no machine's, is probably misspelt. */
static void unknown_values(FILE *out, const struct comparison *comparison,
			   const struct comparison_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const char *value = rows->at[i].value, *near;
		char text[VALUE_NAME_BYTES], shown[NAME_TEXT_BYTES];
		size_t known = 0;

		if (!value || value_name_exists(value))
			continue;
		for (size_t r = 0; r < comparison->count; r++)
			known += figure_value(&rows->at[i], &comparison->results[r]).known;
		if (known)
			continue;
		near = value_name_nearest(text, &comparison->results[0], value);
		fprintf(out, "No run says anything of \"%s\"%s%s%s.\n",
			name_show(shown, value, NAME_COLUMNS_MAX), near ? " (nearest: \"" : "",
			near ? near : "", near ? "\")" : "");
	}
}

void comparison_foot(FILE *out, const struct comparison *comparison)
{
	if (comparison->source) {
		fputs("Published: ", out);
		report_wrapped(out, comparison->source, strlen("Published: "));
	}
	if (comparison->see) {
		fputs("Next: ", out);
		report_wrapped(out, comparison->see, strlen("Next: "));
	}
}

void comparison_text(FILE *out, const struct comparison *comparison,
		     const struct report_options *options)
{
	struct comparison_rows rows;

	assert(comparison->count >= 1 && comparison->count <= COMPARISON_SETTINGS_MAX);
	report_headline(out, &comparison->results[0], options,
			strcmp(comparison->key, "policy") != 0);
	if (comparison->summary) {
		fprintf(out, "%*s", INDENT, "");
		report_wrapped(out, comparison->summary, INDENT);
	}
	fputc('\n', out);
	comparison_rows_make(&rows, comparison);
	table_of_rows(out, comparison, &rows, options->colour);
	verdicts(out, comparison, &rows);
	unknown_values(out, comparison, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		if (rows.at[i].note)
			report_wrapped(out, rows.at[i].note, 0);
	}
	comparison_foot(out, comparison);
	comparison_rows_free(&rows);
}

/* ---- JSON ---- */

json_t *comparison_row_json(const struct comparison *comparison, const struct comparison_row *row)
{
	json_t *object = json_object(), *streams = json_array(), *values = json_array();
	json_t *published = json_array();
	size_t last = comparison->count - 1;

	for (size_t i = 0; i < row->stream_count; i++)
		json_array_append_new(streams, json_text(row->streams[i]));
	for (size_t i = 0; i < comparison->count; i++) {
		json_array_append_new(values,
				      figure_json(figure_value(row, &comparison->results[i])));
		json_array_append_new(published, figure_json(figure_published(row, i)));
	}
	json_object_set_new(object, "label", json_text(row->label));
	json_object_set_new(object, "counter",
			    json_text(row->value ? row->value : counter_name(row->counter)));
	json_object_set_new(object, "streams", streams);
	json_object_set_new(object, "counted",
			    json_string(row->whole_passes ? "whole_passes" : "end"));
	json_object_set_new(object, "per_bytes",
			    row->per_bytes ? json_integer((json_int_t)row->per_bytes)
					   : json_null());
	json_object_set_new(object, "values", values);
	json_object_set_new(object, "ratio",
			    figure_ratio_json(figure_value(row, &comparison->results[0]),
					      figure_value(row, &comparison->results[last])));
	json_object_set_new(object, "published", published);
	json_object_set_new(
		object, "published_ratio",
		figure_ratio_json(figure_published(row, 0), figure_published(row, last)));
	return object;
}

json_t *comparison_json(const struct comparison *comparison, const struct report_options *options)
{
	json_t *json = json_object(), *runs = json_array(), *figures = json_array();
	json_t *compare = json_object(), *settings = json_array(), *elapsed = json_array();
	struct comparison_rows rows;

	comparison_rows_make(&rows, comparison);
	for (size_t i = 0; i < comparison->count; i++) {
		json_array_append_new(settings, json_text(comparison->settings[i]));
		json_array_append_new(runs, report_json(&comparison->results[i], options));
		if (comparison->elapsed_ns)
			json_array_append_new(elapsed,
					      json_integer((json_int_t)comparison->elapsed_ns[i]));
	}
	for (size_t i = 0; i < rows.count; i++)
		json_array_append_new(figures, comparison_row_json(comparison, &rows.at[i]));
	json_object_set_new(compare, "key", json_text(comparison->key));
	json_object_set_new(compare, "values", settings);
	json_object_set_new(json, "compare", compare);
	json_object_set_new(json, "figures", figures);
	json_object_set_new(json, "elapsed_ns", elapsed);
	json_object_set_new(json, "runs", runs);
	comparison_rows_free(&rows);
	return json;
}
