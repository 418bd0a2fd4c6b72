#include "report/validation.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/validation.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/table.h"

/* More runs than this are shown by a line each. */
enum { INDENT_ROWS = 2, WHOLE_RUNS_MAX = 2 };

static const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *percent(char text[32], double error)
{
	double value = error * 100;

	if (value > -0.05 && value < 0.05)
		return strcpy(text, "0.0 %");
	snprintf(text, 32, "%+.1f %%", value);
	return text;
}

/* Only what either side has: counters that stay 0 on both say nothing. */
static bool says_something(const struct validation_row *row)
{
	return row->predicted || row->high;
}

/* In mebibytes where there are some: what is compared should have the same unit, and its digits. */
static void value_cell(struct table *table, enum counter_id id, uint64_t value)
{
	struct counters counters = {0};
	uint64_t bytes = counter_unit(id) == COUNTER_UNIT_BYTES ? value
			 : counter_is_level(id)                 ? bytes_from_pages(value)
								: 0;
	char text[32];

	if (bytes >= MIB) {
		snprintf(text, sizeof(text), "%.1f MiB", (double)bytes / (double)MIB);
		table_text(table, text);
		return;
	}
	*counter_at(&counters, id) = value;
	counter_cell(table, &counters, COUNTERS_ALL_KNOWN, id);
}

static bool has_failed(const struct validation_run *run)
{
	return run->predicted_failure[0] || run->measured_failure[0];
}

static const char *ending(const char *failure)
{
	return failure[0] ? failure : "came to its end";
}

/* Of a run that failed: both sides (0), or one alone (1). */
static double failure_error(const struct validation_run *run)
{
	return run->predicted_failure[0] && run->measured_failure[0] ? 0 : 1;
}

static void run_print(FILE *out, const struct validation_run *run, bool colour)
{
	struct table *table = table_create();
	bool has_range = run->measured->run_count > 1;
	char text[32], name[NAME_TEXT_BYTES], size[SIZE_TEXT_BYTES];
	const char *mark = "";

	fprintf(out, "%s%s%s   cgroup limit %s   %s   Linux %s against %s\n",
		colour ? "\033[1m" : "", name_show(name, run->measured->input, NAME_COLUMNS_MAX),
		colour ? "\033[0m" : "", size_format(size, run->measured->memory_bytes),
		run->measured->filesystem, run->measured->kernel, run->predicted->policy);
	if (has_failed(run)) {
		fprintf(out, "  model: %s.\n  kernel: %s.\n\n", ending(run->predicted_failure),
			ending(run->measured_failure));
		table_destroy(table);
		return;
	}
	table_column(table, "mark", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "counter", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "model", TABLE_UNIT, TABLE_KEEP);
	table_column(table, has_range ? "kernel, least" : "kernel", TABLE_UNIT, TABLE_KEEP);
	if (has_range)
		table_column(table, "most", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "error", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < run->validation->row_count; i++) {
		const struct validation_row *row = &run->validation->rows[i];

		if (!says_something(row))
			continue;
		table_text(table, strcmp(mark, row->mark) == 0
					  ? ""
					  : name_show(name, row->mark, NAME_COLUMNS));
		mark = row->mark;
		table_text(table, counter_name(row->counter));
		value_cell(table, row->counter, row->predicted);
		value_cell(table, row->counter, has_range ? row->low : row->measured);
		if (has_range)
			value_cell(table, row->counter, row->high);
		table_text(table, percent(text, row->error));
		table_text(table, row->is_judged ? "" : "(not judged)");
	}
	table_print(out, table, INDENT_ROWS, colour);
	table_destroy(table);
	for (size_t i = 0; i < run->measured->note_count; i++)
		note_print(out, run->measured->notes[i]);
	fputc('\n', out);
}

/* Many runs: a line each. */
static void summary_print(FILE *out, const struct validation_report *report)
{
	struct table *table = table_create();
	char text[32], name[NAME_TEXT_BYTES];

	table_column(table, "input", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "limit", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "figures", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "median", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "worst", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "of", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "at", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < report->count; i++) {
		const struct validation_run *run = &report->runs[i];
		const struct validation_row *worst = run->validation->worst_row;

		table_text(table, name_show(name, path_last(run->measured->input), NAME_COLUMNS));
		table_text(table, run->measured->filesystem);
		table_size(table, run->measured->memory_bytes);
		table_count(table, has_failed(run) ? 1 : run->validation->judged_count);
		if (has_failed(run)) {
			table_text(table, percent(text, failure_error(run)));
			table_text(table, percent(text, failure_error(run)));
			table_text(table, "failing");
			table_text(table, "");
			continue;
		}
		table_text(table, percent(text, run->validation->median));
		table_text(table, worst ? percent(text, worst->error) : "?");
		table_text(table, worst ? counter_name(worst->counter) : "?");
		table_text(table, worst ? name_show(name, worst->mark, NAME_COLUMNS) : "?");
	}
	table_print(out, table, INDENT_ROWS, report->colour);
	table_destroy(table);
	for (size_t i = 0; i < report->count; i++) {
		const struct result *measured = report->runs[i].measured;

		for (size_t k = 0; k < measured->note_count; k++)
			fprintf(out, "  %s: %s.\n",
				name_show(name, path_last(measured->input), NAME_COLUMNS),
				measured->notes[k]);
	}
	fputc('\n', out);
}

struct verdict {
	double median, worst;
	size_t mark_count, counter_count;
	const struct validation_run *worst_run;
};

static void verdict_make(struct verdict *verdict, const struct validation_report *report)
{
	size_t count = 0, used = 0;
	double *errors;

	*verdict = (struct verdict){0};
	for (size_t i = 0; i < report->count; i++)
		count += report->runs[i].validation->judged_count + has_failed(&report->runs[i]);
	errors = memory_alloc(count + 1, sizeof(*errors));
	for (size_t i = 0; i < report->count; i++) {
		const struct validation_run *run = &report->runs[i];
		const char *mark = "";

		if (has_failed(run))
			errors[used++] = failure_error(run);
		for (size_t k = 0; k < run->validation->row_count; k++) {
			const struct validation_row *row = &run->validation->rows[k];

			verdict->mark_count += strcmp(mark, row->mark) != 0;
			mark = row->mark;
			if (row->is_judged)
				errors[used++] = row->error < 0 ? -row->error : row->error;
		}
		if (run->validation->worst_row &&
		    (!verdict->worst_run ||
		     run->validation->worst > verdict->worst_run->validation->worst))
			verdict->worst_run = run;
	}
	verdict->counter_count = used;
	errors_sum_up(errors, used, &verdict->median, &verdict->worst);
	memory_free(errors);
}

bool validation_holds(const struct validation_report *report)
{
	struct verdict verdict;

	verdict_make(&verdict, report);
	return verdict.worst <= report->tolerance;
}

static void departure_print(FILE *out, const struct validation_run *run)
{
	const struct validation_departure *departure = &run->validation->departure;
	char name[NAME_TEXT_BYTES], ops[SIZE_TEXT_BYTES * 2], predicted[SIZE_TEXT_BYTES * 2],
		measured[SIZE_TEXT_BYTES * 2];

	if (!departure->is_known)
		return;
	fprintf(out,
		"In %s, %s departs first, at operation %s: %s predicted, %s measured.\nLikely: "
		"%s.\n",
		name_show(name, run->measured->input, NAME_COLUMNS_MAX), departure->what,
		count_format(ops, departure->op_index),
		count_format(predicted, departure->predicted),
		count_format(measured, departure->measured), departure->mechanism);
}

static void within_print(FILE *out, const struct validation_report *report,
			 const struct verdict *verdict)
{
	if (verdict->counter_count)
		fprintf(out, "%s the tolerance of %g %%.\n",
			verdict->worst <= report->tolerance ? "Within" : "NOT within",
			report->tolerance * 100);
}

void validation_text(FILE *out, const struct validation_report *report)
{
	struct verdict verdict;
	char worst[32], name[NAME_TEXT_BYTES], mark[NAME_TEXT_BYTES];

	if (report->count <= WHOLE_RUNS_MAX) {
		for (size_t i = 0; i < report->count; i++)
			run_print(out, &report->runs[i], report->colour);
	} else {
		summary_print(out, report);
	}
	verdict_make(&verdict, report);
	if (verdict.counter_count == 0)
		fputs("Nothing could be compared.\n", out);
	if (!verdict.worst_run) {
		within_print(out, report, &verdict);
		return;
	}
	fprintf(out,
		"%zu run%s, %zu mark%s, %zu judged figure%s: median %.1f %%, worst %s (%s at %s",
		report->count, report->count == 1 ? "" : "s", verdict.mark_count,
		verdict.mark_count == 1 ? "" : "s", verdict.counter_count,
		verdict.counter_count == 1 ? "" : "s", verdict.median * 100,
		percent(worst, verdict.worst_run->validation->worst_row->error),
		counter_name(verdict.worst_run->validation->worst_row->counter),
		name_show(mark, verdict.worst_run->validation->worst_row->mark, NAME_COLUMNS));
	if (report->count > 1)
		fprintf(out, " of %s on %s",
			name_show(name, verdict.worst_run->measured->input, NAME_COLUMNS_MAX),
			verdict.worst_run->measured->filesystem);
	fprintf(out, ").\n");
	departure_print(out, verdict.worst_run);
	within_print(out, report, &verdict);
}

/* ---- JSON ---- */

static json_t *rows_json(const struct validation *validation)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < validation->row_count; i++) {
		const struct validation_row *row = &validation->rows[i];
		json_t *object = json_object();

		json_object_set_new(object, "mark", json_text(row->mark));
		json_object_set_new(object, "op_index", json_number(row->op_index));
		json_object_set_new(object, "counter", json_text(counter_name(row->counter)));
		json_object_set_new(object, "model", json_number(row->predicted));
		json_object_set_new(object, "kernel", json_number(row->measured));
		json_object_set_new(object, "kernel_low", json_number(row->low));
		json_object_set_new(object, "kernel_high", json_number(row->high));
		json_object_set_new(object, "error", json_real(row->error));
		json_object_set_new(object, "judged", json_boolean(row->is_judged));
		json_array_append_new(rows, object);
	}
	return rows;
}

static json_t *departure_json(const struct validation_departure *departure)
{
	json_t *object;

	if (!departure->is_known)
		return json_null();
	object = json_object();
	json_object_set_new(object, "op_index", json_number(departure->op_index));
	json_object_set_new(object, "counter", json_text(departure->what));
	json_object_set_new(object, "model", json_number(departure->predicted));
	json_object_set_new(object, "kernel", json_number(departure->measured));
	json_object_set_new(object, "mechanism", json_text(departure->mechanism));
	return object;
}

static json_t *run_json(const struct validation_run *run)
{
	json_t *object = json_object(), *notes = json_array();

	for (size_t i = 0; i < run->measured->note_count; i++)
		json_array_append_new(notes, json_text(run->measured->notes[i]));
	json_object_set_new(object, "input", json_text(run->measured->input));
	json_object_set_new(object, "filesystem", json_text(run->measured->filesystem));
	json_object_set_new(object, "cgroup_limit_bytes", json_number(run->measured->memory_bytes));
	json_object_set_new(object, "kernel", json_text(run->measured->kernel));
	json_object_set_new(object, "statistics", json_text(run->measured->statistics));
	json_object_set_new(object, "policy", json_text(run->predicted->policy));
	json_object_set_new(object, "kernel_runs",
			    json_number(run->measured->run_count ? run->measured->run_count : 1));
	json_object_set_new(object, "model_failure",
			    json_text(run->predicted_failure[0] ? run->predicted_failure : NULL));
	json_object_set_new(object, "kernel_failure",
			    json_text(run->measured_failure[0] ? run->measured_failure : NULL));
	json_object_set_new(object, "rows", rows_json(run->validation));
	json_object_set_new(object, "median", json_real(run->validation->median));
	json_object_set_new(object, "worst", json_real(run->validation->worst));
	json_object_set_new(object, "departs", departure_json(&run->validation->departure));
	json_object_set_new(object, "notes", notes);
	return object;
}

json_t *validation_json(const struct validation_report *report)
{
	json_t *json = json_object(), *runs = json_array(), *object = json_object();
	const struct validation_row *row;
	struct verdict verdict;

	verdict_make(&verdict, report);
	for (size_t i = 0; i < report->count; i++)
		json_array_append_new(runs, run_json(&report->runs[i]));
	json_object_set_new(object, "judged", json_number(verdict.counter_count));
	json_object_set_new(object, "median", json_real(verdict.median));
	json_object_set_new(object, "worst", json_real(verdict.worst));
	json_object_set_new(object, "tolerance", json_real(report->tolerance));
	json_object_set_new(object, "within", json_boolean(verdict.worst <= report->tolerance));
	row = verdict.worst_run ? verdict.worst_run->validation->worst_row : NULL;
	json_object_set_new(object, "worst_input",
			    row ? json_text(verdict.worst_run->measured->input) : json_null());
	json_object_set_new(object, "worst_mark", row ? json_text(row->mark) : json_null());
	json_object_set_new(object, "worst_counter",
			    row ? json_text(counter_name(row->counter)) : json_null());
	json_object_set_new(json, "runs", runs);
	json_object_set_new(json, "verdict", object);
	return json;
}
