#include "report/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"
#include "measure/result.h"
#include "measure/result_json.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/sheet.h"
#include "report/table.h"

enum { FAILURES_SHOWN_MAX = 8, CELL_TEXT_BYTES = 64, ROW_NAME_COLUMNS = 34 };

/* What is known of a row at a size: the sums over seeds. */
struct square {
	double sum, floor_sum, accesses;
	size_t known, failed, missing;
	bool no_floor; /* of a plain cache: how many pages there are is not known */
};

struct row {
	const char *policy, *settings; /* NULL: not said */
};

struct grid {
	ARRAY(struct row) rows;
	ARRAY(uint64_t) sizes;    /* in the order of the cells; 0: not said */
	struct square *squares;   /* by row, then size */
	size_t seeds;             /* different ones */
	size_t *row_of, *size_of; /* by cell */
	char *input, *filesystem; /* as the first result has them; NULL: no result yet */
	uint64_t op_count;
};

static const json_t *cell_at(const json_t *question, size_t cell)
{
	return json_array_get(json_object_get(question, "cells"), cell);
}

static const char *cell_string(const json_t *question, size_t cell, const char *key)
{
	return json_string_value(json_object_get(cell_at(question, cell), key));
}

static uint64_t cell_number(const json_t *question, size_t cell, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(cell_at(question, cell), key));
}

static bool is_bare(const json_t *question)
{
	const char *kind = json_string_value(json_object_get(question, "kind"));

	return kind && strcmp(kind, "bare") == 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

const char *sweep_metric_default(const json_t *question)
{
	return is_bare(question) ? "page_misses" : "reread_bytes";
}

static const char *size_text(char text[CELL_TEXT_BYTES], const json_t *question, uint64_t size)
{
	char count[2 * SIZE_TEXT_BYTES];

	if (size == 0)
		snprintf(text, CELL_TEXT_BYTES, "its memory");
	else if (is_bare(question))
		snprintf(text, CELL_TEXT_BYTES, "%s", count_format(count, size));
	else
		snprintf(text, CELL_TEXT_BYTES, "%s", size_format(count, size));
	return text;
}

const char *sweep_cell_text(char text[SWEEP_CELL_TEXT_BYTES], const json_t *question, size_t cell)
{
	const char *policy = cell_string(question, cell, "policy");
	const char *settings = cell_string(question, cell, "settings");
	const json_t *seed = json_object_get(cell_at(question, cell), "seed");
	char size[CELL_TEXT_BYTES], number[32] = "";

	if (json_is_integer(seed))
		snprintf(number, sizeof(number), ", seed %lld",
			 (long long)json_integer_value(seed));
	snprintf(text, SWEEP_CELL_TEXT_BYTES, "%.80s%s%.60s at %s%s%s",
		 policy     ? policy
		 : settings ? ""
			    : "the default policy",
		 policy && settings ? ", " : "", settings ? settings : "",
		 size_text(size, question, cell_number(question, cell, "size")),
		 is_bare(question) ? " pages" : "", number);
	return text;
}

/* ---- the grid ---- */

static size_t row_find(struct grid *grid, const struct row *row)
{
	for (size_t i = 0; i < grid->rows.count; i++)
		if (same_text(grid->rows.at[i].policy, row->policy) &&
		    same_text(grid->rows.at[i].settings, row->settings))
			return i;
	*array_push(&grid->rows) = *row;
	return grid->rows.count - 1;
}

static size_t size_find(struct grid *grid, uint64_t size)
{
	for (size_t i = 0; i < grid->sizes.count; i++)
		if (grid->sizes.at[i] == size)
			return i;
	*array_push(&grid->sizes) = size;
	return grid->sizes.count - 1;
}

/* False: there is no result, or it is none. Free with result_deinit(). */
static bool outcome_result(const json_t *outcome, struct result *result)
{
	char *text = json_dumps(json_object_get(outcome, "result"), JSON_COMPACT);
	struct error error;
	bool done = text && result_json_read(result, text, strlen(text), &error);

	free(text);
	return done;
}

static void grid_describe(struct grid *grid, const struct result *result)
{
	if (grid->input)
		return;
	grid->input = text_copy(result->input ? result->input : "?");
	grid->filesystem = result->filesystem ? text_copy(result->filesystem) : NULL;
	grid->op_count = result->op_count;
}

static void square_add(struct square *square, const struct sweep_view *view, size_t cell,
		       struct grid *grid)
{
	const json_t *outcome = view->outcomes[cell];
	struct result result;
	double value;

	if (!outcome) {
		square->missing++;
		return;
	}
	if (!outcome_result(outcome, &result)) {
		square->failed++;
		return;
	}
	grid_describe(grid, &result);
	if (metric_of_run(&view->metric, &result, &value)) {
		square->known++;
		square->sum += value;
		square->floor_sum += json_number_value(json_object_get(outcome, "distinct_pages"));
		square->no_floor |= is_bare(view->question) &&
				    !json_is_integer(json_object_get(outcome, "distinct_pages"));
		square->accesses += (double)result.totals.page_accesses;
	}
	result_deinit(&result);
}

static size_t seeds_count(const struct sweep_view *view)
{
	size_t seeds = 0;

	for (size_t i = 0; i < view->count; i++) {
		size_t k = 0;

		while (k < i && cell_number(view->question, k, "seed") !=
					cell_number(view->question, i, "seed"))
			k++;
		seeds += k == i;
	}
	return seeds;
}

static void grid_make(struct grid *grid, const struct sweep_view *view)
{
	*grid = (struct grid){.seeds = seeds_count(view)};
	grid->row_of = memory_alloc(view->count + 1, sizeof(*grid->row_of));
	grid->size_of = memory_alloc(view->count + 1, sizeof(*grid->size_of));
	for (size_t i = 0; i < view->count; i++) {
		struct row row = {cell_string(view->question, i, "policy"),
				  cell_string(view->question, i, "settings")};

		grid->row_of[i] = row_find(grid, &row);
		grid->size_of[i] = size_find(grid, cell_number(view->question, i, "size"));
	}
	grid->squares =
		memory_alloc(grid->rows.count * grid->sizes.count + 1, sizeof(*grid->squares));
	for (size_t i = 0; i < view->count; i++)
		square_add(&grid->squares[grid->row_of[i] * grid->sizes.count + grid->size_of[i]],
			   view, i, grid);
}

static void grid_free(struct grid *grid)
{
	array_deinit(&grid->rows);
	array_deinit(&grid->sizes);
	memory_free(grid->squares);
	memory_free(grid->row_of);
	memory_free(grid->size_of);
	memory_free(grid->input);
	memory_free(grid->filesystem);
}

static const struct square *square_at(const struct grid *grid, size_t row, size_t size)
{
	return &grid->squares[row * grid->sizes.count + size];
}

/* A mean; NAN: not known of all of its seeds. */
static double square_value(const struct square *square)
{
	return square->known && !square->failed && !square->missing
		       ? square->sum / (double)square->known
		       : (double)NAN;
}

/* What nobody can follow, as it knows what comes: beside it, the best of the others is marked. */
static bool is_bound(const struct row *row)
{
	return row->policy && strcmp(row->policy, "opt") == 0;
}

/* Is it as good as any of its size, and is any worse? */
static bool is_best(const struct sweep_view *view, const struct grid *grid, size_t row, size_t size)
{
	double value = square_value(square_at(grid, row, size));
	double sign = metric_more_is_better(&view->metric) ? -1 : 1;
	bool any_worse = false;

	if (is_bound(&grid->rows.at[row]))
		return false;
	for (size_t i = 0; i < grid->rows.count; i++) {
		double other = square_value(square_at(grid, i, size));

		if (is_bound(&grid->rows.at[i]))
			continue;
		if (!isfinite(value) || (isfinite(other) && sign * other < sign * value))
			return false;
		any_worse |= isfinite(other) && other != value;
	}
	return any_worse;
}

/* ---- knees ---- */

double sweep_knee(const double *sizes, const double *values, size_t count, double floor)
{
	double target = floor + (values[0] - floor) / 10;

	if (!(values[0] > floor))
		return (double)NAN;
	for (size_t i = 1; i < count; i++)
		if (values[i] <= target)
			return sizes[i - 1] + (sizes[i] - sizes[i - 1]) * (values[i - 1] - target) /
						      (values[i - 1] - values[i]);
	return (double)NAN;
}

enum knee_kind { KNEE_UNKNOWN, KNEE_NONE, KNEE_NOTHING, KNEE_AT };

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of what is read again; of a plain cache, of misses that are no first look-ups. */
static enum knee_kind knee_of(const struct sweep_view *view, const struct grid *grid, size_t row,
			      double *knee)
{
	bool counts_again =
		view->metric.kind == METRIC_COUNTER &&
		view->metric.counter ==
			(is_bare(view->question) ? COUNTER_page_misses : COUNTER_reread_bytes);
	size_t count = grid->sizes.count;
	double(*points)[2] = memory_alloc(count + 1, sizeof(*points));
	double *sizes = memory_alloc(count + 1, sizeof(*sizes));
	double *values = memory_alloc(count + 1, sizeof(*values)), floor = 0;
	enum knee_kind kind = counts_again && count > 1 ? KNEE_NONE : KNEE_UNKNOWN;

	for (size_t i = 0; i < count; i++) {
		const struct square *square = square_at(grid, row, i);

		points[i][0] = (double)grid->sizes.at[i];
		points[i][1] = square_value(square);
		if (!isfinite(points[i][1]) || square->no_floor)
			kind = KNEE_UNKNOWN;
		else
			floor = square->floor_sum / (double)square->known;
	}
	qsort(points, count, sizeof(*points), by_size);
	for (size_t i = 0; i < count; i++) {
		sizes[i] = points[i][0];
		values[i] = points[i][1];
	}
	if (kind != KNEE_UNKNOWN) {
		*knee = sweep_knee(sizes, values, count, floor);
		kind = isfinite(*knee) ? KNEE_AT : values[0] > floor ? KNEE_NONE : KNEE_NOTHING;
	}
	memory_free(points);
	memory_free(sizes);
	memory_free(values);
	return kind;
}

static const char *row_name(char text[NAME_TEXT_BYTES], const struct row *row)
{
	char both[256];

	snprintf(both, sizeof(both), "%s%s%s", row->policy ? row->policy : "",
		 row->policy && row->settings ? " " : "", row->settings ? row->settings : "");
	return name_show(text, *both ? both : "its policy", ROW_NAME_COLUMNS);
}

static void knees_print(FILE *out, const struct sweep_view *view, const struct grid *grid)
{
	static const char *const begins[] = {
		[KNEE_AT] = "Knee: 90 % of the re-reads are gone at ",
		[KNEE_NONE] = "None of these sizes removes 90 % of the re-reads: ",
		[KNEE_NOTHING] = "Nothing is read again at any of these sizes: "};
	static const enum knee_kind order[] = {KNEE_AT, KNEE_NONE, KNEE_NOTHING};

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		char *text = NULL, name[NAME_TEXT_BYTES], size[AXIS_TEXT_BYTES];
		size_t bytes, said = 0;
		FILE *line = open_memstream(&text, &bytes);

		for (size_t row = 0; line && row < grid->rows.count; row++) {
			double knee;

			if (knee_of(view, grid, row, &knee) != order[k])
				continue;
			if (said++ == 0)
				fputs(begins[order[k]], line);
			else
				fputs(", ", line);
			if (order[k] == KNEE_AT)
				fprintf(line, "%s%s (%s)",
					axis_format(size, knee,
						    is_bare(view->question) ? AXIS_COUNT
									    : AXIS_BYTES),
					is_bare(view->question) ? " pages" : "",
					row_name(name, &grid->rows.at[row]));
			else
				fputs(row_name(name, &grid->rows.at[row]), line);
		}
		if (line) {
			fputc('.', line);
			fclose(line);
		}
		if (said)
			report_wrapped(out, text, 0);
		free(text);
	}
}

/* ---- text ---- */

static void head_print(FILE *out, const struct sweep_view *view, const struct grid *grid)
{
	char name[NAME_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES];
	const char *input = json_string_value(json_object_get(view->question, "input"));

	fprintf(out, "%s   ",
		name_show(name,
			  grid->input ? grid->input
			  : input     ? input
				      : "?",
			  NAME_COLUMNS_MAX));
	if (grid->input)
		fprintf(out, "%s ops   ", count_format(count, grid->op_count));
	fprintf(out, "%zu %s by %zu %s", grid->rows.count, grid->rows.count == 1 ? "row" : "rows",
		grid->sizes.count, grid->sizes.count == 1 ? "size" : "sizes");
	if (grid->seeds > 1)
		fprintf(out, ", means of %zu seeds", grid->seeds);
	if (grid->filesystem)
		fprintf(out, "   %s", grid->filesystem);
	fputc('\n', out);
}

static const char *metric_heading(const struct sweep_view *view)
{
	if (view->metric.kind == METRIC_COUNTER && view->metric.counter == COUNTER_reread_bytes)
		return "read again";
	if (view->metric.kind == METRIC_COUNTER && view->metric.counter == COUNTER_read_bytes)
		return "read";
	if (view->metric.kind == METRIC_COUNTER && view->metric.counter == COUNTER_page_misses)
		return "misses";
	return metric_name(&view->metric);
}

static void square_text(char text[CELL_TEXT_BYTES], const struct sweep_view *view,
			const struct grid *grid, size_t row, size_t size)
{
	const struct square *square = square_at(grid, row, size);
	double value = square_value(square);
	char number[METRIC_TEXT_BYTES];
	bool is_share = is_bare(view->question) && view->metric.kind == METRIC_COUNTER &&
			view->metric.counter == COUNTER_page_misses && square->accesses > 0;

	if (square->failed)
		snprintf(text, CELL_TEXT_BYTES, "failed");
	else if (square->missing)
		snprintf(text, CELL_TEXT_BYTES, "-");
	else if (!isfinite(value))
		snprintf(text, CELL_TEXT_BYTES, "?");
	else if (is_share)
		snprintf(text, CELL_TEXT_BYTES, "%.2f %%", 100 * square->sum / square->accesses);
	else
		snprintf(text, CELL_TEXT_BYTES, "%s", metric_format(number, &view->metric, value));
	if (is_best(view, grid, row, size))
		strcat(text, " *");
}

static void table_of(FILE *out, const struct sweep_view *view, const struct grid *grid)
{
	struct table *table = table_create();
	char text[CELL_TEXT_BYTES], name[NAME_TEXT_BYTES];
	bool any_best = false;

	table_column(table, metric_heading(view), TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < grid->sizes.count; i++)
		table_column(table, size_text(text, view->question, grid->sizes.at[i]), TABLE_UNIT,
			     TABLE_KEEP);
	for (size_t row = 0; row < grid->rows.count; row++) {
		table_text(table, row_name(name, &grid->rows.at[row]));
		for (size_t size = 0; size < grid->sizes.count; size++) {
			square_text(text, view, grid, row, size);
			table_text(table, text);
			any_best |= is_best(view, grid, row, size);
		}
	}
	table_print(out, table, INDENT, view->colour);
	table_destroy(table);
	if (any_best)
		fprintf(out, "%*s* the best of its size\n", INDENT, "");
}

static const char *failure_of(const json_t *outcome)
{
	return json_string_value(json_object_get(json_object_get(outcome, "failure"), "message"));
}

static void failures_print(FILE *out, const struct sweep_view *view)
{
	char text[SWEEP_CELL_TEXT_BYTES];
	size_t failed = 0, missing = 0;

	for (size_t i = 0; i < view->count; i++) {
		const char *failure = failure_of(view->outcomes[i]);

		missing += view->outcomes[i] == NULL;
		if (!failure || failed++ >= FAILURES_SHOWN_MAX)
			continue;
		fprintf(out, "Failed: %s: %s.\n", sweep_cell_text(text, view->question, i),
			failure);
	}
	if (failed > FAILURES_SHOWN_MAX)
		fprintf(out, "%zu more failed: --json has them all.\n",
			failed - FAILURES_SHOWN_MAX);
	if (missing)
		fprintf(out, "%zu of %zu cells are not there yet.\n", missing, view->count);
}

void sweep_text(FILE *out, const struct sweep_view *view)
{
	struct grid grid;

	grid_make(&grid, view);
	head_print(out, view, &grid);
	fputc('\n', out);
	table_of(out, view, &grid);
	failures_print(out, view);
	knees_print(out, view, &grid);
	grid_free(&grid);
}

/* ---- JSON ---- */

static json_t *value_json(const struct sweep_view *view, const json_t *outcome)
{
	struct result result;
	json_t *json = json_null();
	double value;

	if (!outcome || !outcome_result(outcome, &result))
		return json;
	if (metric_of_run(&view->metric, &result, &value))
		json = view->metric.kind == METRIC_COUNTER ? json_number((uint64_t)value)
							   : json_real(value);
	result_deinit(&result);
	return json;
}

static json_t *cells_json(const struct sweep_view *view, json_t *runs)
{
	json_t *cells = json_array();

	for (size_t i = 0; i < view->count; i++) {
		json_t *cell = json_deep_copy(cell_at(view->question, i));
		json_t *outcome = view->outcomes[i], *result = json_object_get(outcome, "result");
		json_t *distinct = json_object_get(outcome, "distinct_pages");
		json_t *failure = json_object_get(outcome, "failure");

		json_object_set_new(cell, "value", value_json(view, outcome));
		if (is_bare(view->question))
			json_object_set(cell, "distinct_pages", distinct ? distinct : json_null());
		json_object_set(cell, "failure", failure ? failure : json_null());
		json_object_set_new(cell, "run",
				    result ? json_number(json_array_size(runs)) : json_null());
		if (result)
			json_array_append(runs, result);
		json_array_append_new(cells, cell);
	}
	return cells;
}

static json_t *knees_json(const struct sweep_view *view, const struct grid *grid)
{
	json_t *knees = json_array();

	for (size_t row = 0; row < grid->rows.count; row++) {
		double knee = 0;
		enum knee_kind kind = knee_of(view, grid, row, &knee);

		if (kind == KNEE_UNKNOWN)
			continue;
		json_array_append_new(
			knees,
			json_pack("{s:o, s:o, s:o}", "policy", json_text(grid->rows.at[row].policy),
				  "settings", json_text(grid->rows.at[row].settings), "size",
				  kind == KNEE_AT ? json_number((uint64_t)knee) : json_null()));
	}
	return knees;
}

json_t *sweep_json(const struct sweep_view *view)
{
	json_t *sweep = json_object(), *runs = json_array();
	static const char *const keys[] = {"input", "kind", "axis", "digest"};
	size_t done = 0;
	struct grid grid;

	grid_make(&grid, view);
	for (size_t i = 0; i < view->count; i++)
		done += view->outcomes[i] != NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(view->question, keys[i]);

		json_object_set(sweep, keys[i], value ? value : json_null());
	}
	json_object_set_new(sweep, "metric", json_text(metric_name(&view->metric)));
	json_object_set_new(sweep, "complete", json_boolean(done == view->count));
	json_object_set_new(sweep, "cells", cells_json(view, runs));
	json_object_set_new(sweep, "knees", knees_json(view, &grid));
	grid_free(&grid);
	return json_pack("{s:o, s:o}", "sweep", sweep, "runs", runs);
}

/* ---- CSV ---- */

static void csv_text(FILE *out, const char *text)
{
	bool quotes = text && strpbrk(text, ",\"\n\r");

	if (quotes)
		fputc('"', out);
	for (; text && *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quotes)
		fputc('"', out);
}

static void csv_counters(FILE *out, const json_t *outcome)
{
	struct result result;
	bool done = outcome && outcome_result(outcome, &result);

	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		fputc(',', out);
		if (done && result_knows(&result, id))
			fprintf(out, "%" PRIu64, counter_get(&result.totals, id));
	}
	fputc(',', out);
	if (done && result.elapsed_ns)
		fprintf(out, "%" PRIu64, result.elapsed_ns);
	if (done)
		result_deinit(&result);
}

void sweep_csv(FILE *out, const struct sweep_view *view)
{
	const char *axis = json_string_value(json_object_get(view->question, "axis"));

	fprintf(out, "policy,settings,%s,seed,failure", axis ? axis : "size");
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		fprintf(out, ",%s", counter_name(id));
	fputs(",elapsed_ns\n", out);
	for (size_t i = 0; i < view->count; i++) {
		const json_t *cell = cell_at(view->question, i);
		const json_t *size = json_object_get(cell, "size");
		const json_t *seed = json_object_get(cell, "seed");

		csv_text(out, cell_string(view->question, i, "policy"));
		fputc(',', out);
		csv_text(out, cell_string(view->question, i, "settings"));
		fputc(',', out);
		if (json_is_integer(size))
			fprintf(out, "%lld", (long long)json_integer_value(size));
		fputc(',', out);
		if (json_is_integer(seed))
			fprintf(out, "%lld", (long long)json_integer_value(seed));
		fputc(',', out);
		csv_text(out, failure_of(view->outcomes[i]));
		csv_counters(out, view->outcomes[i]);
		fputc('\n', out);
	}
}
