#include "report/settings.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "report/figure.h"
#include "report/name.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/table.h"

static bool is_published(const struct comparison *comparison, size_t row)
{
	return figure_is_published(&comparison->rows[row], comparison->count);
}

static const struct result *result_at(const struct settings_table *table, size_t cell,
				      size_t setting)
{
	return &table->comparison->results[cell * table->comparison->count + setting];
}

/* ---- a line for each setting ---- */

static void settings_print(FILE *out, const struct settings_table *table, bool colour)
{
	const struct comparison *comparison = table->comparison;
	struct table *lines = table_create();
	char text[FIGURE_TEXT_BYTES], label[NAME_TEXT_BYTES];

	table_column(lines, "setting", TABLE_LEFT, TABLE_KEEP);
	for (size_t row = 0; row < comparison->row_count; row++) {
		table_column(lines, comparison->rows[row].label, TABLE_UNIT, TABLE_KEEP);
		if (is_published(comparison, row))
			table_column(lines, "published", TABLE_UNIT, TABLE_KEEP);
	}
	for (size_t i = 0; i < comparison->count; i++) {
		const struct result *result = result_at(table, 0, i);

		table_text(lines, name_show(label, comparison->settings[i], NAME_COLUMNS_MAX));
		for (size_t row = 0; row < comparison->row_count; row++) {
			const struct comparison_row *at = &comparison->rows[row];
			struct figure value = figure_value(at, result);
			struct figure published = figure_published(at, i);

			table_text(lines, figure_format(text, at, value));
			if (!is_published(comparison, row))
				continue;
			published.unit = value.unit;
			table_text(lines,
				   published.known ? figure_format(text, at, published) : "");
		}
	}
	table_print(out, lines, INDENT, colour);
	table_destroy(lines);
}

/* ---- a line for each cell ---- */

/* One figure: each setting's, and with two of them the second's share of the first. */
static void cells_print(FILE *out, const struct settings_table *table, size_t row, bool colour)
{
	const struct comparison *comparison = table->comparison;
	const struct comparison_row *at = &comparison->rows[row];
	struct table *lines = table_create();
	char text[FIGURE_TEXT_BYTES], label[NAME_TEXT_BYTES];
	bool shows_published = false;

	for (size_t cell = 0; row == 0 && cell < table->cell_count; cell++)
		shows_published |= table->cells_published[cell] != NULL;
	table_column(lines, at->label, TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < comparison->count; i++)
		table_column(lines, name_show(label, comparison->settings[i], NAME_COLUMNS),
			     TABLE_UNIT, TABLE_KEEP);
	if (comparison->count == 2)
		table_column(lines, "ratio", TABLE_RIGHT, TABLE_KEEP);
	if (shows_published)
		table_column(lines, "published", TABLE_LEFT, TABLE_KEEP);
	for (size_t cell = 0; cell < table->cell_count; cell++) {
		struct figure values[COMPARISON_SETTINGS_MAX];

		table_text(lines, name_show(label, table->cells[cell], NAME_COLUMNS_MAX));
		for (size_t i = 0; i < comparison->count; i++) {
			values[i] = figure_value(at, result_at(table, cell, i));
			table_text(lines, figure_format(text, at, values[i]));
		}
		if (comparison->count == 2)
			table_text(lines, figure_ratio_format(text, values[0], values[1]));
		if (shows_published)
			table_text(lines, table->cells_published[cell]
						  ? table->cells_published[cell]
						  : "");
	}
	table_print(out, lines, INDENT, colour);
	table_destroy(lines);
}

/* ---- claims ---- */

static struct figure claim_value(const struct settings_table *table,
				 const struct settings_claim *claim)
{
	const struct result *results = table->comparison->results;
	struct figure value = {0}, divisor = {0};

	value.known = result_value(&results[claim->run], claim->value, &value.number, &value.unit);
	if (claim->against == SIZE_MAX)
		return value;
	divisor.known = result_value(&results[claim->against], claim->value, &divisor.number,
				     &divisor.unit);
	value.known &= divisor.known && divisor.number != 0;
	value.number = value.known ? value.number / divisor.number : 0;
	value.unit = VALUE_COUNT;
	return value;
}

static bool claim_holds(const struct settings_claim *claim, struct figure value)
{
	return value.known && value.number >= claim->low && value.number <= claim->high;
}

static void claims_print(FILE *out, const struct settings_table *table, bool colour)
{
	struct table *lines = table_create();
	char text[NUMBER_TEXT_BYTES], low[NUMBER_TEXT_BYTES], high[NUMBER_TEXT_BYTES];
	char within[2 * NUMBER_TEXT_BYTES + 8], label[NAME_TEXT_BYTES];

	table_column(lines, "claim", TABLE_LEFT, TABLE_KEEP);
	table_column(lines, "here", TABLE_UNIT, TABLE_KEEP);
	table_column(lines, "published", TABLE_LEFT, TABLE_KEEP);
	table_column(lines, "within", TABLE_LEFT, TABLE_KEEP);
	table_column(lines, "", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < table->claim_count; i++) {
		const struct settings_claim *claim = &table->claims[i];
		struct figure value = claim_value(table, claim);

		snprintf(within, sizeof(within), "%s .. %s",
			 number_format(low, claim->low, VALUE_COUNT),
			 number_format(high, claim->high, VALUE_COUNT));
		table_text(lines, name_show(label, claim->label, NAME_COLUMNS_MAX));
		table_text(lines,
			   value.known ? number_format(text, value.number, value.unit) : "?");
		table_text(lines, claim->published ? claim->published : "");
		table_text(lines, within);
		table_text(lines, claim_holds(claim, value) ? "holds" : "does NOT hold");
	}
	fputc('\n', out);
	table_print(out, lines, INDENT, colour);
	table_destroy(lines);
}

/* ---- all ---- */

/* The table with rows to show, where nobody asked for any and nothing is claimed. */
struct shown {
	struct comparison_rows rows;
	struct comparison comparison;
	struct settings_table table;
};

static const struct settings_table *shown_make(struct shown *shown,
					       const struct settings_table *table)
{
	shown->comparison = *table->comparison;
	shown->rows = (struct comparison_rows){0};
	if (table->claim_count == 0) {
		comparison_rows_make(&shown->rows, table->comparison);
		shown->comparison.rows = shown->rows.at;
		shown->comparison.row_count = shown->rows.count;
	}
	shown->table = *table;
	shown->table.comparison = &shown->comparison;
	return &shown->table;
}

void settings_text(FILE *out, const struct settings_table *given,
		   const struct report_options *options)
{
	struct shown shown;
	const struct settings_table *table = shown_make(&shown, given);
	const struct comparison *comparison = table->comparison;

	assert(comparison->count >= 1 && comparison->count <= COMPARISON_SETTINGS_MAX);
	report_headline(out, &comparison->results[0], options, true);
	if (comparison->summary) {
		fprintf(out, "%*s", INDENT, "");
		report_wrapped(out, comparison->summary, INDENT);
	}
	if (table->cells) {
		for (size_t row = 0; row < comparison->row_count; row++) {
			fputc('\n', out);
			cells_print(out, table, row, options->colour);
		}
	} else if (comparison->row_count > 0) {
		fputc('\n', out);
		settings_print(out, table, options->colour);
	}
	if (table->claim_count > 0)
		claims_print(out, table, options->colour);
	fputc('\n', out);
	for (size_t i = 0; i < comparison->row_count; i++)
		if (comparison->rows[i].note)
			report_wrapped(out, comparison->rows[i].note, 0);
	comparison_foot(out, comparison);
	comparison_rows_free(&shown.rows);
}

static json_t *claims_json(const struct settings_table *table)
{
	json_t *claims = json_array();

	for (size_t i = 0; i < table->claim_count; i++) {
		const struct settings_claim *claim = &table->claims[i];
		struct figure value = claim_value(table, claim);
		json_t *object = json_object();

		json_object_set_new(object, "label", json_text(claim->label));
		json_object_set_new(object, "value", json_text(claim->value));
		json_object_set_new(object, "number", figure_json(value));
		json_object_set_new(object, "published", json_text(claim->published));
		json_object_set_new(object, "low", json_real(claim->low));
		json_object_set_new(object, "high", json_real(claim->high));
		json_object_set_new(object, "holds",
				    value.known ? json_boolean(claim_holds(claim, value))
						: json_null());
		json_array_append_new(claims, object);
	}
	return claims;
}

json_t *settings_json(const struct settings_table *given, const struct report_options *options)
{
	struct shown shown;
	const struct settings_table *table = shown_make(&shown, given);
	const struct comparison *comparison = table->comparison;
	json_t *json = comparison_json(comparison, options);
	json_t *cells = json_array();

	if (table->cells) {
		json_t *runs = json_array();

		for (size_t cell = 0; cell < table->cell_count; cell++) {
			struct comparison one = *comparison;
			json_t *object = json_object(), *figures = json_array();

			one.results += cell * comparison->count;
			for (size_t row = 0; row < one.row_count; row++)
				json_array_append_new(figures,
						      comparison_row_json(&one, &one.rows[row]));
			for (size_t i = 0; i < one.count; i++)
				json_array_append_new(runs, report_json(&one.results[i], options));
			json_object_set_new(object, "label", json_text(table->cells[cell]));
			json_object_set_new(object, "published",
					    json_text(table->cells_published[cell]));
			json_object_set_new(object, "figures", figures);
			json_array_append_new(cells, object);
		}
		json_object_del(json, "figures");
		json_object_del(json, "elapsed_ns");
		json_object_set_new(json, "runs", runs);
	}
	json_object_set_new(json, "cells", cells);
	json_object_set_new(json, "claims", claims_json(table));
	comparison_rows_free(&shown.rows);
	return json;
}
