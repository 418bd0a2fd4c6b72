#include "report/compared.h"

#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "measure/compared.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report_private.h"
#include "report/runs.h"
#include "report/table.h"

enum { RATIO_BYTES = 32, RANGE_BYTES = 2 * RATIO_BYTES + 8, SEEDS_BYTES = 40, ID_DIGITS = 7 };

static const char *unit_name(enum value_unit unit)
{
	static const char *const names[] = {
		[VALUE_COUNT] = "count",
		[VALUE_BYTES] = "bytes",
		[VALUE_NS] = "ns",
		[VALUE_PER_SECOND] = "per_second",
	};

	return names[unit];
}

static const char *verdict_name(enum change_verdict verdict)
{
	static const char *const names[] = {"unchanged", "better", "worse"};

	return names[verdict];
}

/* ---- cells ---- */

static const char *mean_format(char text[NUMBER_TEXT_BYTES], const struct compared_row *row,
			       size_t side)
{
	const struct compared_cell *cell = &row->cells[side];

	return cell->is_known ? number_format(text, cell->mean, row->unit) : strcpy(text, "?");
}

/* Of nothing there is no multiple. */
static bool has_ratio(const struct compared_cell *cell)
{
	return cell->ratio.is_known && cell->ratio.base > 0;
}

static const char *ratio_format(char text[RATIO_BYTES], const struct compared_cell *cell)
{
	double ratio = 1 + cell->ratio.change;

	if (!has_ratio(cell))
		return strcpy(text, "-");
	snprintf(text, RATIO_BYTES, ratio < 1000 ? "%.3f" : "%.0f", ratio);
	return text;
}

/* Of one run on each side there is none. */
static const char *range_format(char text[RANGE_BYTES], const struct compared_cell *cell)
{
	if (!has_ratio(cell) || !cell->has_interval)
		return strcpy(text, "");
	if (cell->ratio.is_exact)
		return strcpy(text, "exact");
	snprintf(text, RANGE_BYTES, "%.3f .. %.3f", 1 + cell->ratio.low, 1 + cell->ratio.high);
	return text;
}

static const char *star(const struct compared_cell *cell)
{
	return cell->is_significant ? "*" : "";
}

/* "1", "1-5", "1, 3, 9"; "7 (3 times)" of a kernel that was asked three times. */
static const char *seeds_format(char text[SEEDS_BYTES], const struct compared_side *side)
{
	uint64_t first = side->runs[0].seed, last = side->runs[side->run_count - 1].seed;
	bool is_row = true;
	size_t used = 0;

	for (size_t i = 0; i < side->run_count; i++)
		is_row &= side->runs[i].seed == first + i;
	if (first == last && side->run_count > 1) {
		snprintf(text, SEEDS_BYTES, "%" PRIu64 " (%zu times)", first, side->run_count);
	} else if (is_row && side->run_count > 2) {
		snprintf(text, SEEDS_BYTES, "%" PRIu64 "-%" PRIu64, first, last);
	} else {
		for (size_t i = 0; i < side->run_count && used < SEEDS_BYTES; i++)
			used += (size_t)snprintf(text + used, SEEDS_BYTES - used, "%s%" PRIu64,
						 i ? ", " : "", side->runs[i].seed);
		if (used >= SEEDS_BYTES)
			snprintf(text, SEEDS_BYTES, "%zu of them", side->run_count);
	}
	return text;
}

/* "model linux-6.18", "kernel 6.18.44". */
static const char *machine_format(char text[NAME_TEXT_BYTES], const struct compared_side *side)
{
	const char *what = side->policy ? side->policy : side->kernel ? side->kernel : "";
	char shown[NAME_TEXT_BYTES];

	snprintf(text, NAME_TEXT_BYTES, "%s %s", side->machine ? side->machine : "?",
		 name_show(shown, what, NAME_COLUMNS));
	return text;
}

/* ---- text ---- */

static void sides_table(FILE *out, const struct compared *compared, bool colour)
{
	struct table *table = table_create();
	char text[NAME_TEXT_BYTES], seeds[SEEDS_BYTES];

	table_column(table, "side", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "first run", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "seeds", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "input", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "machine", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "memory", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < compared->side_count; i++) {
		const struct compared_side *side = &compared->sides[i];

		table_text(table, name_show(text, side->name, NAME_COLUMNS));
		snprintf(text, sizeof(text), "%.*s", ID_DIGITS, side->runs[0].id);
		table_text(table, text);
		table_text(table, seeds_format(seeds, side));
		table_text(table, name_show(text, side->input ? side->input : "", NAME_COLUMNS));
		table_text(table, machine_format(text, side));
		if (side->memory_bytes)
			table_size(table, side->memory_bytes);
		else
			table_unknown(table);
	}
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

static void figures_headings(struct table *table, const struct compared *compared,
			     const char *heading)
{
	char shown[NAME_TEXT_BYTES];

	table_column(table, heading, TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < compared->side_count; i++) {
		table_column(table, name_show(shown, compared->sides[i].name, NAME_COLUMNS),
			     TABLE_UNIT, TABLE_KEEP);
		if (i == 0)
			continue;
		table_column(table, "ratio", TABLE_RIGHT, TABLE_KEEP);
		if (compared->side_count == 2)
			table_column(table, "95 % interval", TABLE_LEFT, TABLE_HIDE_ZERO);
		table_column(table, "", TABLE_LEFT, TABLE_HIDE_ZERO);
	}
}

static void figures_row(struct table *table, const struct compared *compared,
			const struct compared_row *row)
{
	char text[NUMBER_TEXT_BYTES], ratio[RATIO_BYTES], range[RANGE_BYTES];
	char label[NAME_TEXT_BYTES];

	table_text(table, name_show(label, row->figure, NAME_COLUMNS_MAX));
	for (size_t i = 0; i < compared->side_count; i++) {
		const struct compared_cell *cell = &row->cells[i];

		table_text(table, mean_format(text, row, i));
		if (i == 0)
			continue;
		table_text(table, ratio_format(ratio, cell));
		if (compared->side_count == 2)
			table_text(table, range_format(range, cell));
		table_text(table, star(cell));
	}
}

static bool is_of(const struct compared_row *row, const char *stream)
{
	return stream ? row->stream && strcmp(row->stream, stream) == 0 : !row->stream;
}

/* The rows of a stream follow each other. */
static bool is_stream_begin(const struct compared *compared, size_t index)
{
	const struct compared_row *row = &compared->rows.at[index];

	return row->stream && (index == 0 || !is_of(&compared->rows.at[index - 1], row->stream));
}

static void figures_table(FILE *out, const struct compared *compared, const char *stream,
			  bool colour)
{
	struct table *table = table_create();
	char heading[NAME_TEXT_BYTES];
	size_t count = 0;

	figures_headings(table, compared,
			 stream ? name_show(heading, stream, NAME_COLUMNS) : "machine");
	for (size_t i = 0; i < compared->rows.count; i++) {
		if (!is_of(&compared->rows.at[i], stream))
			continue;
		figures_row(table, compared, &compared->rows.at[i]);
		count++;
	}
	if (count) {
		fputc('\n', out);
		table_print(out, table, INDENT, colour);
	}
	table_destroy(table);
}

static void streams_tables(FILE *out, const struct compared *compared, bool colour)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < compared->rows.count; i++) {
		if (!is_stream_begin(compared, i))
			continue;
		if (shown == STREAMS_SHOWN_MAX) {
			left++;
			continue;
		}
		figures_table(out, compared, compared->rows.at[i].stream, colour);
		shown++;
	}
	if (left)
		fprintf(out, "\n  and %zu streams more (--json has them all)\n", left);
}

/* ---- in words ---- */

static size_t verdict_list(FILE *out, const struct compared *compared, size_t side,
			   enum change_verdict wanted)
{
	char shown[NAME_TEXT_BYTES];
	size_t count = 0;

	for (size_t i = 0; i < compared->rows.count; i++) {
		const struct compared_row *row = &compared->rows.at[i];

		if (!row->stream || strcmp(row->figure, "reread_bytes") != 0 ||
		    row->cells[side].verdict != wanted)
			continue;
		fprintf(out, "%s%s", count++ ? ", " : "",
			name_show(shown, row->stream, NAME_COLUMNS));
	}
	if (count == 0)
		fputs("nobody", out);
	return count;
}

static void verdicts_print(FILE *out, const struct compared *compared)
{
	char shown[NAME_TEXT_BYTES], first[NAME_TEXT_BYTES];
	bool is_known = false;

	for (size_t i = 0; i < compared->rows.count; i++)
		is_known |= compared->rows.at[i].stream &&
			    strcmp(compared->rows.at[i].figure, "reread_bytes") == 0;
	for (size_t side = 1; is_known && side < compared->side_count; side++) {
		fprintf(out, "%s instead of %s: less is read again by ",
			name_show(shown, compared->sides[side].name, NAME_COLUMNS),
			name_show(first, compared->sides[0].name, NAME_COLUMNS));
		verdict_list(out, compared, side, CHANGE_WINNER);
		fputs(", more by ", out);
		verdict_list(out, compared, side, CHANGE_LOSER);
		fputs(".\n", out);
	}
}

static size_t fewest_runs(const struct compared *compared)
{
	size_t fewest = SIZE_MAX;

	for (size_t i = 0; i < compared->side_count; i++)
		if (compared->sides[i].run_count < fewest)
			fewest = compared->sides[i].run_count;
	return fewest;
}

static bool has_intervals(const struct compared *compared)
{
	for (size_t i = 0; i < compared->rows.count; i++)
		for (size_t side = 1; side < compared->side_count; side++)
			if (compared->rows.at[i].cells[side].has_interval)
				return true;
	return false;
}

static const char *legend(const struct compared *compared)
{
	if (!has_intervals(compared))
		return "A side with one run says nothing about chance: run it with other seeds too "
		       "(--seed), and name all of them.";
	if (fewest_runs(compared) < CHANGE_SEEDS_MIN)
		return "*: significant. With fewer than 5 runs on a side the interval is from the "
		       "least to the most, and significant is only what is exact, or what a kernel "
		       "has shown five times.";
	return "*: significant: by a hundredth or more, and the interval does not hold 1. exact: "
	       "all seeds give the same.";
}

void compared_text(FILE *out, const struct compared *compared, bool colour)
{
	sides_table(out, compared, colour);
	figures_table(out, compared, NULL, colour);
	streams_tables(out, compared, colour);
	fputc('\n', out);
	verdicts_print(out, compared);
	report_wrapped(out, legend(compared), 0);
}

/* ---- Markdown ---- */

/* What would end a cell. */
static void markdown_cell(FILE *out, const char *text)
{
	fputs(" ", out);
	for (; *text; text++)
		fprintf(out, *text == '|' ? "\\|" : "%c", *text);
	fputs(" |", out);
}

static void markdown_sides(FILE *out, const struct compared *compared)
{
	char text[NAME_TEXT_BYTES], seeds[SEEDS_BYTES], size[SIZE_TEXT_BYTES];

	fputs("| side | first run | seeds | input | machine | memory |\n"
	      "|---|---|---|---|---|---:|\n",
	      out);
	for (size_t i = 0; i < compared->side_count; i++) {
		const struct compared_side *side = &compared->sides[i];

		fputc('|', out);
		markdown_cell(out, name_show(text, side->name, NAME_COLUMNS));
		snprintf(text, sizeof(text), "%.*s", ID_DIGITS, side->runs[0].id);
		markdown_cell(out, text);
		markdown_cell(out, seeds_format(seeds, side));
		markdown_cell(out, name_show(text, side->input ? side->input : "", NAME_COLUMNS));
		markdown_cell(out, machine_format(text, side));
		markdown_cell(out,
			      side->memory_bytes ? size_format(size, side->memory_bytes) : "?");
		fputc('\n', out);
	}
}

static void markdown_headings(FILE *out, const struct compared *compared)
{
	char shown[NAME_TEXT_BYTES];

	fputs("\n| stream | figure |", out);
	for (size_t i = 0; i < compared->side_count; i++) {
		markdown_cell(out, name_show(shown, compared->sides[i].name, NAME_COLUMNS));
		fputs(i ? " ratio | 95 % interval |" : "", out);
	}
	fputs("\n|---|---|", out);
	for (size_t i = 0; i < compared->side_count; i++)
		fputs(i ? "---:|---:|---|" : "---:|", out);
	fputc('\n', out);
}

void compared_markdown(FILE *out, const struct compared *compared)
{
	char text[NUMBER_TEXT_BYTES], ratio[RATIO_BYTES], range[RANGE_BYTES];
	char name[NAME_TEXT_BYTES];

	markdown_sides(out, compared);
	markdown_headings(out, compared);
	for (size_t i = 0; i < compared->rows.count; i++) {
		const struct compared_row *row = &compared->rows.at[i];

		fputc('|', out);
		markdown_cell(out, row->stream ? name_show(name, row->stream, NAME_COLUMNS) : "");
		markdown_cell(out, name_show(name, row->figure, NAME_COLUMNS_MAX));
		for (size_t side = 0; side < compared->side_count; side++) {
			const struct compared_cell *cell = &row->cells[side];
			char both[RATIO_BYTES + 4];

			markdown_cell(out, mean_format(text, row, side));
			if (side == 0)
				continue;
			snprintf(both, sizeof(both), "%s%s", ratio_format(ratio, cell),
				 cell->is_significant ? " \\*" : "");
			markdown_cell(out, both);
			markdown_cell(out, range_format(range, cell));
		}
		fputc('\n', out);
	}
	fprintf(out, "\n%s%s\n", legend(compared)[0] == '*' ? "\\" : "", legend(compared));
}

/* ---- CSV ---- */

static void csv_number(FILE *out, bool is_known, double value)
{
	fputc(',', out);
	if (is_known)
		fprintf(out, "%.17g", value);
}

static void csv_row(FILE *out, const struct compared *compared, const struct compared_row *row,
		    size_t side)
{
	const struct compared_cell *cell = &row->cells[side];
	bool has = has_ratio(cell);

	csv_field(out, row->stream);
	fputc(',', out);
	csv_field(out, row->figure);
	fprintf(out, ",%s,", unit_name(row->unit));
	csv_field(out, compared->sides[side].name);
	fprintf(out, ",%zu", compared->sides[side].run_count);
	csv_number(out, cell->is_known, cell->mean);
	csv_number(out, cell->is_known, cell->least);
	csv_number(out, cell->is_known, cell->most);
	csv_number(out, has, 1 + cell->ratio.change);
	csv_number(out, has, 1 + cell->ratio.low);
	csv_number(out, has, 1 + cell->ratio.high);
	csv_number(out, side > 0, cell->is_significant);
	csv_number(out, side > 0, cell->ratio.is_exact);
	fputc('\n', out);
}

void compared_csv(FILE *out, const struct compared *compared)
{
	fputs("stream,figure,unit,side,runs,mean,least,most,ratio,ratio_low,ratio_high,"
	      "significant,exact\n",
	      out);
	for (size_t i = 0; i < compared->rows.count; i++)
		for (size_t side = 0; side < compared->side_count; side++)
			csv_row(out, compared, &compared->rows.at[i], side);
}

/* ---- JSON ---- */

static json_t *side_json(const struct compared_side *side)
{
	json_t *json = json_object(), *runs = json_array();

	for (size_t i = 0; i < side->run_count; i++)
		json_array_append_new(runs, json_pack("{s:s, s:o}", "id", side->runs[i].id, "seed",
						      json_number(side->runs[i].seed)));
	json_object_set_new(json, "name", json_text(side->name));
	json_object_set_new(json, "input", json_text(side->input));
	json_object_set_new(json, "setting", json_text(side->setting));
	json_object_set_new(json, "machine", json_text(side->machine));
	json_object_set_new(json, "kernel", json_text(side->kernel));
	json_object_set_new(json, "policy", json_text(side->policy));
	json_object_set_new(json, "filesystem", json_text(side->filesystem));
	json_object_set_new(json, "memory_bytes",
			    side->memory_bytes ? json_number(side->memory_bytes) : json_null());
	json_object_set_new(json, "version", json_text(side->version));
	json_object_set_new(json, "runs", runs);
	json_object_set_new(json, "paired", json_boolean(side->is_paired));
	return json;
}

static json_t *real_or_null(bool is_known, double value)
{
	return is_known ? json_real(value) : json_null();
}

static json_t *cell_json(const struct compared_cell *cell)
{
	json_t *json = json_object();
	bool has = has_ratio(cell), is_judged = cell->ratio.is_known;

	json_object_set_new(json, "mean", real_or_null(cell->is_known, cell->mean));
	json_object_set_new(json, "least", real_or_null(cell->is_known, cell->least));
	json_object_set_new(json, "most", real_or_null(cell->is_known, cell->most));
	json_object_set_new(json, "ratio", real_or_null(has, 1 + cell->ratio.change));
	json_object_set_new(json, "low", real_or_null(has, 1 + cell->ratio.low));
	json_object_set_new(json, "high", real_or_null(has, 1 + cell->ratio.high));
	json_object_set_new(json, "verdict",
			    is_judged ? json_text(verdict_name(cell->verdict)) : json_null());
	json_object_set_new(json, "significant",
			    is_judged ? json_boolean(cell->is_significant) : json_null());
	json_object_set_new(json, "exact",
			    is_judged ? json_boolean(cell->ratio.is_exact) : json_null());
	return json;
}

json_t *compared_json(const struct compared *compared)
{
	json_t *json = json_object(), *sides = json_array(), *figures = json_array();

	for (size_t i = 0; i < compared->side_count; i++)
		json_array_append_new(sides, side_json(&compared->sides[i]));
	for (size_t i = 0; i < compared->rows.count; i++) {
		const struct compared_row *row = &compared->rows.at[i];
		json_t *figure = json_object(), *values = json_array();

		for (size_t side = 0; side < compared->side_count; side++)
			json_array_append_new(values, cell_json(&row->cells[side]));
		json_object_set_new(figure, "stream", json_text(row->stream));
		json_object_set_new(figure, "figure", json_text(row->figure));
		json_object_set_new(figure, "unit", json_text(unit_name(row->unit)));
		json_object_set_new(figure, "better",
				    json_text(row->more_is_better ? "more" : "less"));
		json_object_set_new(figure, "values", values);
		json_array_append_new(figures, figure);
	}
	json_object_set_new(json, "sides", sides);
	json_object_set_new(json, "figures", figures);
	return json;
}
