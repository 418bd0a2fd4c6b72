#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "report/diagnosis.h"
#include "report/report_private.h"
#include "state/diagnosis.h"

static const char *unit_name(enum quantity_unit unit)
{
	static const char *const names[] = {
		"bytes", "pages", "count", "ns", "percent", "per_second", "bytes_per_second",
		"times"};

	return names[unit];
}

/* A whole number as one, so that no digit is lost to a double's notation. */
static json_t *value_json(double value)
{
	if (value >= 0 && value < 9e15 && value == floor(value))
		return json_integer((json_int_t)value);
	if (value < 0 && value > -9e15 && value == ceil(value))
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *figures_json(const struct finding *finding)
{
	json_t *figures = json_object();

	for (size_t i = 0; i < finding->figures.count; i++) {
		const struct figure *figure = &finding->figures.at[i];
		json_t *one = json_object();

		json_object_set_new(one, "value", value_json(figure->value));
		json_object_set_new(one, "unit", json_string(unit_name(figure->unit)));
		json_object_set_new(one, "formula", json_text(figure->formula));
		if (json_object_set_new(figures, figure->name, one) != 0) {
			/* A cache's name need not be UTF-8. */
			json_t *again = json_text(figure->name);

			one = json_object();
			json_object_set_new(one, "value", value_json(figure->value));
			json_object_set_new(one, "unit", json_string(unit_name(figure->unit)));
			json_object_set_new(one, "formula", json_text(figure->formula));
			json_object_set_new(figures, json_string_value(again), one);
			json_decref(again);
		}
	}
	return figures;
}

static json_t *evidence_json(const struct finding *finding)
{
	json_t *evidence = json_array();

	for (size_t i = 0; i < finding->evidence.count; i++) {
		const struct entry *entry = finding->evidence.at[i];
		json_t *one = json_object();

		json_object_set_new(one, "file", json_text(entry->file));
		json_object_set_new(one, "line", json_number(entry->line));
		json_object_set_new(one, "text", json_text(entry->text));
		json_array_append_new(evidence, one);
	}
	return evidence;
}

static json_t *finding_json(const struct finding *finding)
{
	static const char *const severities[] = {NULL, "low", "medium", "high"};
	json_t *json = json_object();

	json_object_set_new(json, "id", json_string(finding->id));
	json_object_set_new(json, "kind", json_string(finding_kind_name((int)finding->kind)));
	json_object_set_new(json, "severity", json_text(severities[finding->severity]));
	json_object_set_new(json, "cgroup", json_text(finding->cgroup));
	json_object_set_new(json, "title", json_text(finding->title));
	json_object_set_new(json, "text", json_text(finding->text));
	json_object_set_new(json, "rule", json_text(finding->rule));
	json_object_set_new(json, "remedy", json_text(finding->remedy));
	json_object_set_new(json, "figures", figures_json(finding));
	json_object_set_new(json, "evidence", evidence_json(finding));
	return json;
}

static json_t *seconds_json(uint64_t ns)
{
	return value_json((double)ns / (double)NS_PER_SECOND);
}

static json_t *dumps_json(const struct state *state)
{
	json_t *dumps = json_array();

	for (size_t i = 0; i < state->dumps.count; i++) {
		const struct dump *dump = state->dumps.at[i];
		json_t *one = json_object();

		json_object_set_new(one, "kind", json_string(dump_name(dump->id)));
		json_object_set_new(one, "name", json_text(dump->name));
		json_object_set_new(one, "cgroup", json_text(dump->cgroup));
		json_object_set_new(one, "file", json_text(dump->file));
		json_object_set_new(one, "first_line", json_number(dump->first_line));
		json_object_set_new(one, "last_line", json_number(dump->last_line));
		json_object_set_new(one, "label", json_text(dump->label));
		json_object_set_new(one, "time_s",
				    dump->clock == CLOCK_NONE ? json_null()
							      : seconds_json(dump->time_ns));
		json_object_set_new(one, "entries", json_number(dump->entries.count));
		json_array_append_new(dumps, one);
	}
	return dumps;
}

static json_t *pairs_json(const struct state *state)
{
	static const char *const orders[] = {"one", "as_read", "turned", "reset"};
	json_t *pairs = json_array();

	for (size_t i = 0; i < state->series.count; i++) {
		const struct series *series = &state->series.at[i];
		json_t *one;

		if (series->first == series->last)
			continue;
		one = json_object();
		json_object_set_new(one, "kind", json_string(dump_name(series->id)));
		json_object_set_new(one, "name", json_text(series->name));
		json_object_set_new(one, "cgroup", json_text(series->cgroup));
		json_object_set_new(one, "order", json_string(orders[series->order]));
		json_object_set_new(one, "interval_s",
				    series->has_interval ? seconds_json(series->interval_ns)
							 : json_null());
		json_array_append_new(pairs, one);
	}
	return pairs;
}

/* All levels in bytes that are known. */
static json_t *memory_json(const struct view *view)
{
	json_t *memory = json_object();

	for (enum quantity_id id = 0; id < QUANTITY_COUNT_OF_THEM; id++) {
		struct quantity quantity = quantity_now(view, id);

		if (quantity.known && id <= QUANTITY_dirty_background)
			json_object_set_new(memory, quantity_name(id), json_number(quantity.value));
	}
	return memory;
}

json_t *diagnosis_json(const struct diagnosis *diagnosis)
{
	static const char *const verdicts[] = {"caching", "not_caching", "no_problem",
					       "cannot_tell"};
	const struct state *state = diagnosis->state;
	const struct view system = {.state = state};
	json_t *json = json_object(), *findings = json_array(), *gaps = json_array(),
	       *notes = json_array(), *cgroups = json_object();

	for (size_t i = 0; i < diagnosis->findings.list.count; i++)
		json_array_append_new(findings, finding_json(diagnosis->findings.list.at[i]));
	for (size_t i = 0; i < diagnosis->gaps.count; i++)
		json_array_append_new(
			gaps, json_pack("{s:o, s:o}", "what", json_text(diagnosis->gaps.at[i].what),
					"needs", json_text(diagnosis->gaps.at[i].needs)));
	for (size_t i = 0; i < state->notes.count; i++)
		json_array_append_new(notes, json_text(state->notes.at[i]));
	for (size_t i = 0; i < state->cgroups.count; i++) {
		const struct view view = {.state = state, .cgroup = state->cgroups.at[i]};
		json_t *name = json_text(view.cgroup);

		json_object_set_new(cgroups, json_string_value(name), memory_json(&view));
		json_decref(name);
	}
	json_object_set_new(json, "verdict", json_string(verdicts[diagnosis->verdict]));
	json_object_set_new(json, "summary", json_text(diagnosis->summary));
	json_object_set_new(json, "page_bytes", json_number(state->page_bytes));
	json_object_set_new(json, "page_bytes_from", json_text(state->page_bytes_from));
	json_object_set_new(json, "dumps", dumps_json(state));
	json_object_set_new(json, "pairs", pairs_json(state));
	json_object_set_new(json, "memory", memory_json(&system));
	json_object_set_new(json, "cgroups", cgroups);
	json_object_set_new(json, "findings", findings);
	json_object_set_new(json, "cannot_show", gaps);
	json_object_set_new(json, "notes", notes);
	json_object_set_new(json, "skipped_rows", json_number(state->skipped));
	json_object_set_new(json, "passed_over_lines", json_number(state->passed_over));
	return json;
}
