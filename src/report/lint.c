#include "report/lint.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "measure/lint.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report.h"
#include "report/report_private.h"

enum { TEXT_COLUMN = 4 };

static void figure_print(FILE *out, const struct lint_figure *figure)
{
	char text[NUMBER_TEXT_BYTES], name[80];
	size_t i = 0;

	for (; figure->name[i] && i < sizeof(name) - 1; i++)
		name[i] = figure->name[i] == '_' ? ' ' : figure->name[i];
	name[i] = '\0';
	if (figure->unit == LINT_PERCENT)
		snprintf(text, sizeof(text), "%.4g %%", figure->value);
	else
		number_format(text, figure->value,
			      figure->unit == LINT_BYTES ? VALUE_BYTES : VALUE_COUNT);
	fprintf(out, "%s %s", name, text);
}

static void figures_print(FILE *out, const struct lint_finding *finding)
{
	size_t on_line = 0;

	for (size_t i = 0; i < finding->figure_count; i++) {
		fprintf(out, "%*s", on_line ? 3 : TEXT_COLUMN, "");
		figure_print(out, &finding->figures[i]);
		if (++on_line == 2 || i + 1 == finding->figure_count) {
			fputc('\n', out);
			on_line = 0;
		}
	}
}

static void place_print(FILE *out, const struct lint_place *place, const char *input)
{
	char operation[2 * SIZE_TEXT_BYTES], name[NAME_TEXT_BYTES];
	const char *slash = input ? strrchr(input, '/') : NULL;

	fprintf(out, "%*s", TEXT_COLUMN, "");
	if (place->line)
		fprintf(out, "%s:%" PRIu64 "  ",
			name_show(name, slash ? slash + 1 : input, NAME_COLUMNS_MAX), place->line);
	fprintf(out, "operation %s: %s\n", count_format(operation, place->op), place->what);
}

static void finding_print(FILE *out, const struct lint_finding *finding,
			  const struct result *result, bool colour)
{
	char name[NAME_TEXT_BYTES];

	fprintf(out, "\n%s%s%s", colour ? "\033[1m" : "", finding->id, colour ? "\033[0m" : "");
	if (finding->stream)
		fprintf(out, "   by %s", name_show(name, finding->stream, NAME_COLUMNS_MAX));
	fputc('\n', out);
	fprintf(out, "%*s", TEXT_COLUMN, "");
	report_wrapped(out, finding->title, TEXT_COLUMN);
	if (finding->text[0]) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		report_wrapped(out, finding->text, TEXT_COLUMN);
	}
	figures_print(out, finding);
	for (size_t i = 0; i < finding->place_count; i++)
		place_print(out, &finding->places[i], result->input);
	if (finding->remedy[0]) {
		fprintf(out, "%*stry: ", TEXT_COLUMN, "");
		report_wrapped(out, finding->remedy, TEXT_COLUMN + 5);
	}
}

void lint_report_text(FILE *out, const struct lint_report *report, const struct result *result,
		      const struct report_options *options)
{
	char count[2 * SIZE_TEXT_BYTES], read[SIZE_TEXT_BYTES], again[SIZE_TEXT_BYTES];

	report_headline(out, result, options, true);
	fprintf(out,
		"\n  %s habit%s that cost%s without need; %s read in all, of which again %s.\n",
		report->findings.count ? count_format(count, report->findings.count) : "No",
		report->findings.count == 1 ? "" : "s", report->findings.count == 1 ? "s" : "",
		size_format(read, report->read_bytes), size_format(again, report->reread_bytes));
	for (size_t i = 0; i < report->findings.count; i++)
		finding_print(out, report->findings.at[i], result, options->colour);
	if (options->skipped_rows)
		fprintf(out, "\n  %s row%s could not be read and %s left out (--lenient)\n",
			count_format(count, options->skipped_rows),
			options->skipped_rows == 1 ? "" : "s",
			options->skipped_rows == 1 ? "was" : "were");
}

static json_t *number_json(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value)
							   : json_real(value);
}

static json_t *finding_json(const struct lint_finding *finding)
{
	static const char *const units[] = {"count", "pages", "bytes", "percent"};
	json_t *json = json_object(), *figures = json_object(), *places = json_array();

	for (size_t i = 0; i < finding->figure_count; i++)
		json_object_set_new(figures, finding->figures[i].name,
				    json_pack("{s:o, s:s}", "value",
					      number_json(finding->figures[i].value), "unit",
					      units[finding->figures[i].unit]));
	for (size_t i = 0; i < finding->place_count; i++) {
		const struct lint_place *place = &finding->places[i];

		json_array_append_new(
			places,
			json_pack("{s:o, s:o, s:s}", "operation", json_number(place->op), "line",
				  place->line ? json_number(place->line) : json_null(), "what",
				  place->what));
	}
	json_object_set_new(json, "id", json_string(finding->id));
	json_object_set_new(json, "path", json_text(finding->path));
	json_object_set_new(json, "stream", json_text(finding->stream));
	json_object_set_new(json, "times", json_number(finding->times));
	json_object_set_new(json, "cost_bytes", json_number(finding->cost_bytes));
	json_object_set_new(json, "title", json_text(finding->title));
	json_object_set_new(json, "text", json_text(finding->text));
	json_object_set_new(json, "remedy", json_text(finding->remedy));
	json_object_set_new(json, "figures", figures);
	json_object_set_new(json, "places", places);
	return json;
}

json_t *lint_report_json(const struct lint_report *report, const struct result *result,
			 const struct report_options *options)
{
	json_t *json = json_object(), *lints = json_array();

	for (size_t i = 0; i < report->findings.count; i++)
		json_array_append_new(lints, finding_json(report->findings.at[i]));
	json_object_set_new(json, "input", json_text(result->input));
	json_object_set_new(json, "operations", json_number(report->op_count));
	json_object_set_new(json, "read_bytes", json_number(report->read_bytes));
	json_object_set_new(json, "reread_bytes", json_number(report->reread_bytes));
	json_object_set_new(
		json, "machine",
		json_pack("{s:o, s:o, s:o, s:b, s:o}", "policy", json_text(result->policy),
			  "filesystem", json_text(result->filesystem), "memory_bytes",
			  json_number(result->memory_bytes), "is_cgroup", result->is_cgroup,
			  "readahead_bytes", json_number(result->readahead_bytes)));
	json_object_set_new(json, "lints", lints);
	json_object_set_new(json, "skipped_rows", json_number(options->skipped_rows));
	return json;
}
