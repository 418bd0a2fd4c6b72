#include "study/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "measure/metric.h"
#include "measure/validation.h"

/* Which runs are on which side. */
struct sides {
	struct {
		char *key;
		const struct stored **runs; /* by seed, then as they were kept */
		size_t count;
	} at[COMPARE_SIDES_MAX];
	size_t count;
};

/* ---- sides ---- */

/* All that has to be equal, as one text. Owned. */
static char *key_of(const struct stored *stored)
{
	const struct stored_run *run = &stored->run;
	json_t *machine = json_copy(json_object_get(stored->json, "machine")), *key;
	char *text, *copy;

	json_object_del(machine, "seed");
	key = json_pack("[o, s?, s?, s, s, I]", machine ? machine : json_null(), run->digest,
			run->digest ? NULL : run->input, run->experiment, run->version,
			(json_int_t)(run->digest ? 0 : run->op_count));
	text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
	copy = text_copy(text ? text : "");
	free(text);
	json_decref(key);
	return copy;
}

static bool side_add(struct sides *sides, const struct stored *run, bool each, struct error *error)
{
	char *key = key_of(run);
	size_t side = 0;

	while (side < sides->count && (each || strcmp(sides->at[side].key, key) != 0))
		side++;
	if (side == COMPARE_SIDES_MAX) {
		memory_free(key);
		return error_input(error, "at most %d sides can be compared, and these are more",
				   COMPARE_SIDES_MAX);
	}
	if (side == sides->count)
		sides->at[sides->count++].key = key;
	else
		memory_free(key);
	sides->at[side].runs = memory_resize(sides->at[side].runs, sides->at[side].count + 1,
					     sizeof(*sides->at[side].runs));
	sides->at[side].runs[sides->at[side].count++] = run;
	return true;
}

static int by_seed(const void *a, const void *b)
{
	const struct stored_run *left = &(*(const struct stored *const *)a)->run;
	const struct stored_run *right = &(*(const struct stored *const *)b)->run;

	if (left->seed != right->seed)
		return left->seed < right->seed ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static bool sides_make(struct sides *sides, const struct stored *runs, size_t count, bool each,
		       struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (!side_add(sides, &runs[i], each, error))
			return false;
	for (size_t i = 0; i < sides->count; i++)
		qsort(sides->at[i].runs, sides->at[i].count, sizeof(*sides->at[i].runs), by_seed);
	if (sides->count > 1)
		return true;
	return error_input(
		error,
		count == 1 ? "one run alone: a comparison takes two"
			   : "these %zu runs are of one experiment, so that there is nothing "
			     "to hold them against; --each compares run by run",
		count);
}

static void sides_free(struct sides *sides)
{
	for (size_t i = 0; i < sides->count; i++) {
		memory_free(sides->at[i].key);
		memory_free(sides->at[i].runs);
	}
}

/* Seed by seed the same, each once. */
static bool is_paired(const struct sides *sides, size_t side)
{
	for (size_t i = 0; i < sides->at[side].count; i++) {
		uint64_t seed = sides->at[side].runs[i]->run.seed;

		if (sides->at[0].count != sides->at[side].count ||
		    sides->at[0].runs[i]->run.seed != seed ||
		    (i && sides->at[side].runs[i - 1]->run.seed == seed))
			return false;
	}
	return true;
}

/* ---- what sides are called ---- */

static char *copy_or_null(const char *text)
{
	return text ? text_copy(text) : NULL;
}

static void side_describe(struct compared_side *side, const struct sides *sides, size_t index)
{
	const struct stored *first = sides->at[index].runs[0];

	*side = (struct compared_side){
		.input = copy_or_null(first->run.input),
		.setting = copy_or_null(first->run.label),
		.machine = copy_or_null(first->run.machine),
		.kernel = copy_or_null(first->run.kernel),
		.policy = copy_or_null(first->run.policy),
		.filesystem = copy_or_null(first->run.filesystem),
		.version = copy_or_null(first->run.version),
		.memory_bytes = first->run.memory_bytes,
		.run_count = sides->at[index].count,
		.runs = memory_alloc(sides->at[index].count, sizeof(*side->runs)),
		.is_paired = is_paired(sides, index),
	};
	for (size_t i = 0; i < side->run_count; i++) {
		side->runs[i].id = text_copy(sides->at[index].runs[i]->run.id);
		side->runs[i].seed = sides->at[index].runs[i]->run.seed;
	}
}

enum told_by {
	BY_SETTING,
	BY_POLICY,
	BY_KERNEL,
	BY_MEMORY,
	BY_INPUT,
	BY_MACHINE,
	BY_FILESYSTEM,
	BY_VERSION,
	BY_LETTER
};

/* "": it does not say. */
static const char *told(char text[SIZE_TEXT_BYTES], const struct compared_side *side, size_t index,
			enum told_by by)
{
	const char *const texts[] = {
		[BY_SETTING] = side->setting, [BY_POLICY] = side->policy,
		[BY_KERNEL] = side->kernel,   [BY_INPUT] = side->input,
		[BY_MACHINE] = side->machine, [BY_FILESYSTEM] = side->filesystem,
		[BY_VERSION] = side->version, [BY_LETTER] = NULL,
	};

	if (by == BY_MEMORY)
		return side->memory_bytes ? size_format(text, side->memory_bytes) : "";
	if (by == BY_LETTER) {
		snprintf(text, SIZE_TEXT_BYTES, "%c", (char)('A' + (int)index));
		return text;
	}
	return texts[by] ? texts[by] : "";
}

static bool tells_apart(const struct compared *compared, enum told_by by)
{
	char one[SIZE_TEXT_BYTES], other[SIZE_TEXT_BYTES];

	for (size_t i = 0; i < compared->side_count; i++) {
		const char *name = told(one, &compared->sides[i], i, by);

		if (!name[0])
			return false;
		for (size_t k = 0; k < i; k++)
			if (strcmp(name, told(other, &compared->sides[k], k, by)) == 0)
				return false;
	}
	return true;
}

static void sides_name(struct compared *compared)
{
	char text[SIZE_TEXT_BYTES];
	enum told_by by = BY_SETTING;

	while (!tells_apart(compared, by))
		by++;
	for (size_t i = 0; i < compared->side_count; i++)
		compared->sides[i].name = text_copy(told(text, &compared->sides[i], i, by));
}

/* ---- values ---- */

static bool counter_find(enum counter_id *id, const char *name)
{
	for (*id = 0; *id < COUNTER_COUNT; ++*id)
		if (strcmp(counter_name(*id), name) == 0)
			return true;
	return false;
}

/* Who is not among the streams did nothing; but where there are none, nobody knows. */
static bool stream_value(const struct result *result, const char *stream, enum counter_id id,
			 double *value)
{
	*value = 0;
	for (size_t i = 0; i < result->stream_count; i++) {
		if (strcmp(result->streams[i].name, stream) != 0)
			continue;
		*value = (double)counter_get(&result->streams[i].counters, id);
		return result->streams[i].known >> id & 1;
	}
	return result->stream_count > 0 && (result->streams[0].known >> id & 1);
}

static bool value_of(const struct stored *run, const char *stream, const char *figure,
		     double *value, enum value_unit *unit)
{
	enum counter_id id;

	if (!stream)
		return result_value(&run->result, figure, value, unit);
	if (!counter_find(&id, figure))
		return false;
	*unit = counter_unit(id) == COUNTER_UNIT_BYTES ? VALUE_BYTES : VALUE_COUNT;
	return stream_value(&run->result, stream, id, value);
}

/* Of work there can be more, of everything else less. */
static bool is_better_more(const char *figure)
{
	static const char *const names[] = {"tps", "work", "work_per_second", "ops_per_second"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], figure) == 0)
			return true;
	return false;
}

/* What a difference is relative to at least. */
static double floor_of(const struct sides *sides, const char *figure)
{
	enum counter_id id;

	return counter_find(&id, figure)
		       ? validation_floor(sides->at[0].runs[0]->run.memory_bytes, id)
		       : 0;
}

/* A side's values, in the order of its runs. Owned; NULL: not each of them knows it. */
static double *side_values(const struct sides *sides, size_t side, struct compared_row *row)
{
	size_t count = sides->at[side].count;
	double *values = memory_alloc(count, sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		if (value_of(sides->at[side].runs[i], row->stream, row->figure, &values[i],
			     &row->unit))
			continue;
		memory_free(values);
		return NULL;
	}
	return values;
}

/*
 * What a kernel that was asked several times in one run (--runs) has shown: of the machine's counters the
 * least and the most are known. How often it was asked; 1: this value is all there is.
 */
static uint64_t repetitions(const struct stored *run, const struct compared_row *row,
			    enum counter_id *id)
{
	const struct result *result = &run->result;

	return !row->stream && result->run_count > 1 && counter_find(id, row->figure)
		       ? result->run_count
		       : 1;
}

/* Widen the cell by it; *seen: how many values that makes. */
static bool cell_widen(struct compared_cell *cell, const struct sides *sides, size_t side,
		       const struct compared_row *row, uint64_t *seen)
{
	bool is_wider = false;

	*seen = 0;
	for (size_t i = 0; i < sides->at[side].count; i++) {
		const struct stored *run = sides->at[side].runs[i];
		enum counter_id id;
		uint64_t times = repetitions(run, row, &id);
		double low, high;

		*seen += times;
		if (times == 1)
			continue;
		low = (double)counter_get(&run->result.low, id);
		high = (double)counter_get(&run->result.high, id);
		cell->least = low < cell->least ? low : cell->least;
		cell->most = high > cell->most ? high : cell->most;
		is_wider = true;
	}
	return is_wider;
}

/*
 * The interval between all that either side has shown. Two times five values that do not overlap come by
 * chance once in 126 times, so that this is significant, too.
 */
static void cell_range(struct compared_cell *cell, const struct compared_cell *base, uint64_t seen,
		       uint64_t base_seen)
{
	struct effect *ratio = &cell->ratio;
	double notable = (double)CHANGE_NOTABLE_PPM / 1e6;

	if (!(base->mean > 0))
		return;
	ratio->low = base->most > 0 ? cell->least / base->most - 1 : ratio->change;
	ratio->high = base->least > 0 ? cell->most / base->least - 1 : ratio->change;
	ratio->is_exact = false;
	cell->has_interval = true;
	if ((ratio->low <= 0 && ratio->high >= 0) ||
	    (ratio->change < notable && ratio->change > -notable))
		cell->verdict = CHANGE_UNCHANGED;
	cell->is_significant = cell->verdict != CHANGE_UNCHANGED && seen >= CHANGE_SEEDS_MIN &&
			       base_seen >= CHANGE_SEEDS_MIN;
}

static void cell_sum_up(struct compared_cell *cell, const double *values, size_t count)
{
	double sum = 0;

	cell->is_known = true;
	cell->least = cell->most = values[0];
	for (size_t i = 0; i < count; i++) {
		sum += values[i];
		cell->least = values[i] < cell->least ? values[i] : cell->least;
		cell->most = values[i] > cell->most ? values[i] : cell->most;
	}
	cell->mean = sum / (double)count;
}

static struct effect effect_of(const struct sides *sides, size_t side, const double *base,
			       const double *values, double scale_min, bool more_is_better)
{
	size_t count = sides->at[side].count;

	return is_paired(sides, side)
		       ? effect_measure(base, values, count, scale_min, more_is_better)
		       : effect_measure_apart(base, sides->at[0].count, values, count, scale_min,
					      more_is_better);
}

/* *says_something: a side knows it, and it is not 0. */
static void row_fill(struct compared_row *row, const struct sides *sides, bool *says_something)
{
	double *base = side_values(sides, 0, row), floor = floor_of(sides, row->figure);
	uint64_t base_seen = 0;
	bool base_wider = false;

	row->cells = memory_alloc(sides->count, sizeof(*row->cells));
	row->more_is_better = is_better_more(row->figure);
	*says_something = false;
	for (size_t i = 0; i < sides->count; i++) {
		struct compared_cell *cell = &row->cells[i];
		double *values = side_values(sides, i, row);
		uint64_t seen = 0;
		bool is_wider = false;

		if (values) {
			cell_sum_up(cell, values, sides->at[i].count);
			is_wider = cell_widen(cell, sides, i, row, &seen);
			*says_something |= cell->most > 0;
		}
		if (i == 0) {
			base_seen = seen;
			base_wider = is_wider;
		}
		if (values && base && i) {
			struct effect judged =
				effect_of(sides, i, base, values, floor, row->more_is_better);

			cell->ratio = effect_of(sides, i, base, values, 0, row->more_is_better);
			cell->verdict = judged.verdict;
			cell->is_significant = judged.is_significant;
			cell->has_interval = sides->at[0].count + sides->at[i].count > 2;
			if (is_wider || base_wider)
				cell_range(cell, &row->cells[0], seen, base_seen);
		}
		memory_free(values);
	}
	memory_free(base);
}

/* ---- rows ---- */

enum row_if { ROW_IF_SOMETHING, ROW_ALWAYS };

static void row_free(struct compared_row *row)
{
	memory_free(row->stream);
	memory_free(row->figure);
	memory_free(row->cells);
}

static bool row_add(struct compared *compared, const struct sides *sides, const char *stream,
		    const char *figure, enum row_if when)
{
	struct compared_row row = {.stream = copy_or_null(stream), .figure = text_copy(figure)};
	bool says_something, is_known = false;

	row_fill(&row, sides, &says_something);
	for (size_t i = 0; i < sides->count; i++)
		is_known |= row.cells[i].is_known;
	if (!is_known || (when == ROW_IF_SOMETHING && !says_something)) {
		row_free(&row);
		return false;
	}
	*array_push(&compared->rows) = row;
	return true;
}

static bool has_row(const struct compared *compared, const char *figure)
{
	for (size_t i = 0; i < compared->rows.count; i++)
		if (strcmp(compared->rows.at[i].figure, figure) == 0)
			return true;
	return false;
}

/* Of whatever operations a run kept latencies of. */
static void rows_latencies(struct compared *compared, const struct sides *sides, bool all)
{
	static const char *const few[] = {"mean", "p99", NULL};
	static const char *const many[] = {"mean", "p50", "p95", "p99", "p99.9", "max", NULL};

	for (size_t side = 0; side < sides->count; side++) {
		const struct result *result = &sides->at[side].runs[0]->result;

		for (size_t i = 0; i < result->latency_count; i++) {
			for (const char *const *what = all ? many : few; *what; what++) {
				char name[VALUE_NAME_BYTES];

				snprintf(name, sizeof(name), "latency.%s.%s",
					 result->latencies[i].name, *what);
				if (!has_row(compared, name))
					row_add(compared, sides, NULL, name, ROW_IF_SOMETHING);
			}
		}
	}
}

static void rows_workload(struct compared *compared, const struct sides *sides)
{
	for (size_t side = 0; side < sides->count; side++) {
		const struct result *result = &sides->at[side].runs[0]->result;

		for (size_t i = 0; i < result->figure_count; i++)
			if (!has_row(compared, result->figures[i].name))
				row_add(compared, sides, NULL, result->figures[i].name,
					ROW_IF_SOMETHING);
	}
}

static void rows_machine(struct compared *compared, const struct sides *sides, bool all)
{
	static const char *const counters[] = {"read_bytes",  "reread_bytes", "write_bytes",
					       "page_misses", "refaults",     "inodes_reallocated",
					       NULL};
	static const char *const times[] = {"tps", "ops_per_second", "elapsed_ns", NULL};
	static const char *const device[] = {"cpu.busy_ns",    "device.reads",   "device.writes",
					     "device.flushes", "device.busy_ns", NULL};

	for (enum counter_id id = 0; all && id < COUNTER_COUNT; id++)
		row_add(compared, sides, NULL, counter_name(id), ROW_IF_SOMETHING);
	for (size_t i = 0; !all && counters[i]; i++)
		row_add(compared, sides, NULL, counters[i], ROW_IF_SOMETHING);
	for (size_t i = 0; times[i]; i++)
		row_add(compared, sides, NULL, times[i], ROW_IF_SOMETHING);
	for (size_t i = 0; all && device[i]; i++)
		row_add(compared, sides, NULL, device[i], ROW_IF_SOMETHING);
	rows_latencies(compared, sides, all);
	if (all)
		rows_workload(compared, sides);
}

static void rows_stream(struct compared *compared, const struct sides *sides, const char *stream,
			const struct compare_options *options)
{
	static const char *const counters[] = {"read_bytes", "reread_bytes", "page_misses",
					       "inodes_reallocated", NULL};

	for (size_t i = 0; i < options->figure_count; i++)
		row_add(compared, sides, stream, options->figures[i], ROW_IF_SOMETHING);
	for (enum counter_id id = 0; options->all && id < COUNTER_COUNT; id++)
		row_add(compared, sides, stream, counter_name(id), ROW_IF_SOMETHING);
	for (size_t i = 0; !options->figure_count && !options->all && counters[i]; i++)
		row_add(compared, sides, stream, counters[i], ROW_IF_SOMETHING);
}

static bool has_stream(const struct result *result, size_t before, const char *name)
{
	for (size_t i = 0; i < before && i < result->stream_count; i++)
		if (strcmp(result->streams[i].name, name) == 0)
			return true;
	return false;
}

/* Each stream that any run has, as they came. */
static void rows_streams(struct compared *compared, const struct stored *runs, size_t count,
			 const struct sides *sides, const struct compare_options *options)
{
	for (size_t r = 0; r < count; r++) {
		for (size_t s = 0; s < runs[r].result.stream_count; s++) {
			const char *name = runs[r].result.streams[s].name;
			bool is_new = true;

			for (size_t before = 0; before < r; before++)
				is_new &= !has_stream(&runs[before].result, SIZE_MAX, name);
			if (is_new)
				rows_stream(compared, sides, name, options);
		}
	}
}

static bool figure_unknown(const struct stored *runs, const char *figure, struct error *error)
{
	char text[VALUE_NAME_BYTES];
	const char *near = value_name_nearest(text, &runs[0].result, figure);

	if (value_name_exists(figure) || !near || strcmp(near, figure) == 0)
		return error_input(error, "none of these runs knows \"%.80s\"", figure);
	return error_input(error, "no figure \"%.80s\" (nearest: %s)", figure, near);
}

static bool rows_make(struct compared *compared, const struct stored *runs, size_t count,
		      const struct sides *sides, const struct compare_options *options,
		      struct error *error)
{
	for (size_t i = 0; i < options->figure_count; i++)
		if (!row_add(compared, sides, NULL, options->figures[i], ROW_ALWAYS))
			return figure_unknown(runs, options->figures[i], error);
	if (!options->figure_count)
		rows_machine(compared, sides, options->all);
	rows_streams(compared, runs, count, sides, options);
	return true;
}

bool compare_runs(struct compared *compared, const struct stored *runs, size_t count,
		  const struct compare_options *options, struct error *error)
{
	struct sides sides = {0};
	bool done = sides_make(&sides, runs, count, options->each, error);

	*compared = (struct compared){0};
	if (done) {
		compared->side_count = sides.count;
		compared->sides = memory_alloc(sides.count, sizeof(*compared->sides));
		for (size_t i = 0; i < sides.count; i++)
			side_describe(&compared->sides[i], &sides, i);
		sides_name(compared);
		done = rows_make(compared, runs, count, &sides, options, error);
	}
	if (!done)
		compared_deinit(compared);
	sides_free(&sides);
	return done;
}
