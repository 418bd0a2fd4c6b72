#include "report/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/change.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/table.h"

enum { WRAP_COLUMNS = 98, CELL_BYTES = 32, RANGE_BYTES = 2 * CELL_BYTES + 8 };

/* Scenarios are drawn in groups; which of them is one in? */
enum group { LOSERS, WINNERS, MIXED, UNCHANGED, NOTHING, LEFT_OUT, GROUPS };

static const char *const headings[GROUPS] = {
	"Lose",
	"Win",
	"Unchanged in sum, but not for each job",
	"Unchanged",
	"Say nothing: 0 either way",
	"Not counted",
};

static const char *verdict_name(enum change_verdict verdict)
{
	static const char *const names[] = {"unchanged", "winner", "loser"};

	return names[verdict];
}

static bool has_failed(const struct change_scenario *scenario)
{
	return scenario->base_failure || scenario->changed_failure;
}

static bool streams_move(const struct change_scenario *scenario)
{
	for (size_t i = 0; i < scenario->stream_count; i++)
		if (scenario->streams[i].effect.verdict != CHANGE_UNCHANGED)
			return true;
	return false;
}

static bool is_nothing(const struct change_scenario *scenario)
{
	return !has_failed(scenario) && scenario->effect.is_known && scenario->effect.base <= 0 &&
	       scenario->effect.changed <= 0;
}

static enum group group_of(const struct change_scenario *scenario)
{
	if (scenario->left_out)
		return LEFT_OUT;
	if (scenario->effect.verdict == CHANGE_LOSER)
		return LOSERS;
	if (scenario->effect.verdict == CHANGE_WINNER)
		return WINNERS;
	if (streams_move(scenario))
		return MIXED;
	return is_nothing(scenario) ? NOTHING : UNCHANGED;
}

/* ---- cells ---- */

static const char *percent(char text[CELL_BYTES], double change)
{
	double value = change * 100;
	bool is_small = value > -0.05 && value < 0.05;

	snprintf(text, CELL_BYTES, value > -100 && value < 100 ? "%+.1f %%" : "%+.0f %%",
		 is_small ? 0.0 : value);
	return is_small ? "0.0 %" : text;
}

static const char *interval(char text[RANGE_BYTES], const struct effect *effect)
{
	char low[CELL_BYTES], high[CELL_BYTES];
	const char *from = percent(low, effect->low), *to = percent(high, effect->high);

	if (effect->is_exact)
		return "exact";
	/* The unit is said once. */
	snprintf(text, RANGE_BYTES, "%.*s .. %s", (int)strcspn(from, " "), from, to);
	return text;
}

static void effect_cells(struct table *table, const struct effect *effect,
			 const struct metric *metric)
{
	char text[METRIC_TEXT_BYTES], cell[CELL_BYTES], range[RANGE_BYTES];

	table_text(table, metric_format(text, metric, effect->base));
	table_text(table, metric_format(text, metric, effect->changed));
	table_text(table, percent(cell, effect->change));
	table_text(table, interval(range, effect));
	table_text(table, effect->is_significant ? "*" : "");
}

static void unknown_cells(struct table *table)
{
	table_unknown(table);
	table_unknown(table);
	table_text(table, "");
	table_text(table, "");
	table_text(table, "");
}

static void work_cell(struct table *table, const struct change_scenario *scenario)
{
	double size = scenario->work_change < 0 ? -scenario->work_change : scenario->work_change;
	char text[CELL_BYTES];

	table_text(table,
		   size * 1e6 < CHANGE_NOTABLE_PPM ? "" : percent(text, scenario->work_change));
}

/* ---- a group ---- */

static int compare_scenarios(const void *a, const void *b)
{
	const struct change_scenario *one = *(const struct change_scenario *const *)a;
	const struct change_scenario *other = *(const struct change_scenario *const *)b;
	double left = one->effect.change, right = other->effect.change;
	int failed = has_failed(other) - has_failed(one);

	/* What fails is worst. */
	if (failed)
		return failed;
	left = left < 0 ? -left : left;
	right = right < 0 ? -right : right;
	if (left > right || left < right)
		return left < right ? 1 : -1;
	return strcmp(one->name, other->name);
}

/* *count scenarios of a group: losers and winners by how much, the rest as they were given. */
static const struct change_scenario **group_list(const struct change *change, enum group group,
						 size_t *count)
{
	const struct change_scenario **list =
		memory_alloc(change->scenario_count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < change->scenario_count; i++)
		if (group_of(&change->scenarios[i]) == group)
			list[(*count)++] = &change->scenarios[i];
	if (group == LOSERS || group == WINNERS)
		qsort(list, *count, sizeof(*list), compare_scenarios);
	return list;
}

static void scenario_rows(struct table *table, const struct change_scenario *scenario,
			  const struct metric *metric)
{
	char name[NAME_TEXT_BYTES], indented[NAME_TEXT_BYTES + 4];

	table_text(table, name_show(name, scenario->name, NAME_COLUMNS_MAX));
	if (scenario->effect.is_known)
		effect_cells(table, &scenario->effect, metric);
	else
		unknown_cells(table);
	work_cell(table, scenario);
	for (size_t i = 0; scenario->stream_count > 1 && i < scenario->stream_count; i++) {
		const struct change_stream *stream = &scenario->streams[i];

		/* Only who has a part in it. */
		if (!stream->effect.is_known ||
		    (stream->effect.base <= 0 && stream->effect.changed <= 0))
			continue;
		snprintf(indented, sizeof(indented), "  %s",
			 name_show(name, stream->name, NAME_COLUMNS));
		table_text(table, indented);
		effect_cells(table, &stream->effect, metric);
		table_text(table, "");
	}
}

static void failures_print(FILE *out, const struct change_scenario *scenario)
{
	char name[NAME_TEXT_BYTES];

	if (!has_failed(scenario))
		return;
	fprintf(out, "  %s fails%s: %s\n", name_show(name, scenario->name, NAME_COLUMNS_MAX),
		!scenario->changed_failure ? " under the base only"
		: scenario->base_failure   ? " either way"
					   : " under the change only",
		scenario->changed_failure ? scenario->changed_failure : scenario->base_failure);
}

static void group_heading(FILE *out, enum group group, size_t count, bool colour)
{
	char text[96];

	snprintf(text, sizeof(text), "%s (%zu)", headings[group], count);
	report_heading(out, text, colour);
}

static void group_table(FILE *out, const struct change *change, enum group group, bool colour)
{
	size_t count;
	const struct change_scenario **list = group_list(change, group, &count);
	struct table *table = table_create();

	table_column(table, metric_name(&change->metric), TABLE_LEFT, TABLE_KEEP);
	table_column(table, "base", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "changed", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "effect", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "95 % interval", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "more done", TABLE_UNIT, TABLE_HIDE_ZERO);
	for (size_t i = 0; i < count; i++)
		scenario_rows(table, list[i], &change->metric);
	if (count) {
		group_heading(out, group, count, colour);
		table_print(out, table, INDENT, colour);
	}
	for (size_t i = 0; i < count; i++)
		failures_print(out, list[i]);
	table_destroy(table);
	memory_free(list);
}

/* The names of a group, in lines that fit. */
static void group_names(FILE *out, const struct change *change, enum group group, bool colour)
{
	size_t count, at = 0;
	const struct change_scenario **list = group_list(change, group, &count);
	char name[NAME_TEXT_BYTES];

	if (count)
		group_heading(out, group, count, colour);
	for (size_t i = 0; i < count; i++) {
		size_t columns = text_columns(name_show(name, list[i]->name, NAME_COLUMNS_MAX));
		bool is_last = i + 1 == count;

		if (at && at + columns + 2 > WRAP_COLUMNS) {
			fputc('\n', out);
			at = 0;
		}
		at += (size_t)fprintf(out, "%s%s%s", at ? " " : "  ", name, is_last ? "\n" : ",");
	}
	for (size_t i = 0; i < count; i++)
		failures_print(out, list[i]);
	memory_free(list);
}

static void left_out_print(FILE *out, const struct change *change, bool colour)
{
	size_t count;
	const struct change_scenario **list = group_list(change, LEFT_OUT, &count);
	char name[NAME_TEXT_BYTES];

	if (count)
		group_heading(out, LEFT_OUT, count, colour);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %s: %s\n", name_show(name, list[i]->name, NAME_COLUMNS_MAX),
			list[i]->left_out);
	memory_free(list);
}

static size_t group_count(const struct change *change, enum group group)
{
	size_t count;

	memory_free(group_list(change, group, &count));
	return count;
}

static void legend_print(FILE *out, const struct change *change)
{
	if (change_count(change, CHANGE_LOSER) + change_count(change, CHANGE_WINNER) == 0)
		return;
	if (change->seed_count < CHANGE_SEEDS_MIN)
		fprintf(out,
			"With fewer than %d seeds the interval is from the least to the most, and "
			"only what is exact is\ncalled significant (*).\n",
			CHANGE_SEEDS_MIN);
	else
		fputs("*: significant: the interval of the differences, seed by seed, does not "
		      "hold "
		      "0. exact: all seeds\ngive the same.\n",
		      out);
}

void matrix_text(FILE *out, const struct change *change, bool colour)
{
	size_t nothing = group_count(change, NOTHING);
	const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";

	fprintf(out, "%s%s%s, changed: %s%s%s\n", bold, change->base, plain, bold, change->changed,
		plain);
	fprintf(out, "%zu seed%s, the same for both; %s %s is better\n", change->seed_count,
		change->seed_count == 1 ? "" : "s",
		metric_more_is_better(&change->metric) ? "more" : "less",
		metric_name(&change->metric));
	group_table(out, change, LOSERS, colour);
	group_table(out, change, WINNERS, colour);
	group_table(out, change, MIXED, colour);
	group_names(out, change, UNCHANGED, colour);
	group_names(out, change, NOTHING, colour);
	left_out_print(out, change, colour);
	fputc('\n', out);
	legend_print(out, change);
	fprintf(out, "%zu win, %zu lose, %zu unchanged", change_count(change, CHANGE_WINNER),
		change_count(change, CHANGE_LOSER), change_count(change, CHANGE_UNCHANGED));
	if (nothing)
		fprintf(out, " (%zu of them have 0 %s either way)", nothing,
			metric_name(&change->metric));
	fputs(".\n", out);
}

/* ---- JSON ---- */

static void effect_set(json_t *object, const struct effect *effect)
{
	static const char *const keys[] = {"base", "changed", "effect", "low", "high"};
	const double values[] = {effect->base, effect->changed, effect->change, effect->low,
				 effect->high};

	json_object_set_new(object, "verdict", json_text(verdict_name(effect->verdict)));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set_new(object, keys[i],
				    effect->is_known ? json_real(values[i]) : json_null());
	json_object_set_new(object, "significant", json_boolean(effect->is_significant));
	json_object_set_new(object, "exact", json_boolean(effect->is_exact));
}

static json_t *scenario_json(const struct change_scenario *scenario)
{
	json_t *object = json_object(), *streams = json_object();

	json_object_set_new(object, "name", json_text(scenario->name));
	json_object_set_new(object, "summary", json_text(scenario->summary));
	json_object_set_new(object, "left_out", json_text(scenario->left_out));
	if (!scenario->left_out) {
		effect_set(object, &scenario->effect);
		json_object_set_new(object, "seeds", json_number(scenario->seed_count));
		json_object_set_new(object, "work_change",
				    has_failed(scenario) ? json_null()
							 : json_real(scenario->work_change));
		json_object_set_new(object, "base_failure", json_text(scenario->base_failure));
		json_object_set_new(object, "changed_failure",
				    json_text(scenario->changed_failure));
	}
	for (size_t i = 0; i < scenario->stream_count; i++) {
		json_t *stream = json_object();
		char *name = name_utf8(scenario->streams[i].name);

		effect_set(stream, &scenario->streams[i].effect);
		json_object_set_new(streams, name, stream);
		memory_free(name);
	}
	json_object_set_new(object, "streams", streams);
	return object;
}

json_t *matrix_json(const struct change *change)
{
	json_t *json = json_object(), *scenarios = json_array();

	for (size_t i = 0; i < change->scenario_count; i++)
		json_array_append_new(scenarios, scenario_json(&change->scenarios[i]));
	json_object_set_new(json, "base", json_text(change->base));
	json_object_set_new(json, "change", json_text(change->changed));
	json_object_set_new(json, "metric", json_text(metric_name(&change->metric)));
	json_object_set_new(json, "seeds", json_number(change->seed_count));
	json_object_set_new(json, "scenarios", scenarios);
	json_object_set_new(json, "winners", json_number(change_count(change, CHANGE_WINNER)));
	json_object_set_new(json, "losers", json_number(change_count(change, CHANGE_LOSER)));
	json_object_set_new(json, "unchanged", json_number(change_count(change, CHANGE_UNCHANGED)));
	json_object_set_new(json, "left_out", json_number(group_count(change, LEFT_OUT)));
	return json;
}
