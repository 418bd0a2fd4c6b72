#include "measure/validation.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"

/* What decides each counter: read where a prediction departs from what was measured. */
static const struct {
	enum counter_id counter;
	bool is_judged;
	const char *mechanism;
} counters[] = {
	{COUNTER_read_bytes, true,
	 "readahead, or what the file system reads for itself: nothing else is off before it"},
	{COUNTER_reread_bytes, true, "which pages were evicted"},
	{COUNTER_refaults, true, "which pages were evicted, and whether their shadows were kept"},
	/*
	 * What a request misses and what readahead had brought before it share the same reads; where
	 * a file larger than memory is read round and round, one run of a kernel has three times the
	 * misses of the next (16,525 and 40,315 in cache-pressure-256m).
	 */
	{COUNTER_page_misses, false, "which pages were evicted, or readahead"},
	{COUNTER_refault_activations, false, "the refault distance and what it is held against"},
	{COUNTER_activations, false, "the rules by which a use marks a page"},
	{COUNTER_deactivations, false, "when active pages may be demoted (inactive_is_low)"},
	{COUNTER_evictions, false, "how much memory there is for pages"},
	{COUNTER_readahead_pages, false, "readahead windows"},
	{COUNTER_dentries_allocated, false, "which dentries were evicted"},
	{COUNTER_inodes_allocated, false, "which inodes were evicted"},
	{COUNTER_inodes_evicted, false, "the shrinkers: how many objects they look at"},
	{COUNTER_inodes_reallocated, true, "the shrinkers: which inodes they take"},
	{COUNTER_active_file_pages, false, "promotion and demotion between the two lists"},
	{COUNTER_inactive_file_pages, false, "how much memory there is for pages"},
	{COUNTER_slab_bytes, false,
	 "dentries and inodes: how many are kept (shrinkers), and what each weighs"},
};

enum { COMPARED_COUNT = sizeof(counters) / sizeof(counters[0]) };

bool validation_is_judged(enum counter_id counter)
{
	for (size_t i = 0; i < COMPARED_COUNT; i++)
		if (counters[i].counter == counter)
			return counters[i].is_judged;
	return false;
}

static const char *mechanism_of(enum counter_id counter)
{
	for (size_t i = 0; i < COMPARED_COUNT; i++)
		if (counters[i].counter == counter)
			return counters[i].mechanism;
	return "";
}

static double distance(uint64_t predicted, uint64_t low, uint64_t high, double least)
{
	double off = predicted < low    ? (double)predicted - (double)low
		     : predicted > high ? (double)predicted - (double)high
					: 0;
	double scale = predicted < low ? (double)low : (double)high;

	return off / (scale > least ? scale : least);
}

double validation_floor(uint64_t memory_bytes, enum counter_id counter)
{
	double bytes = (double)memory_bytes * VALIDATION_FLOOR_PPM / 1e6;

	if (counter_unit(counter) == COUNTER_UNIT_BYTES)
		return bytes;
	switch (counter) {
	case COUNTER_dentries_allocated:
	case COUNTER_dentries_evicted:
	case COUNTER_inodes_allocated:
	case COUNTER_inodes_evicted:
	case COUNTER_inodes_reallocated:
		return bytes / (double)KIB;
	default:
		return bytes / (double)PAGE_BYTES;
	}
}

struct rows {
	ARRAY(struct validation_row) all;
};

static void rows_add(struct rows *rows, const struct result *predicted,
		     const struct result *measured, const char *mark, uint64_t op_index,
		     const struct counters *model, const struct counters *kernel,
		     const struct counters *low, const struct counters *high)
{
	uint64_t known = predicted->known & measured->known;

	for (size_t i = 0; i < COMPARED_COUNT; i++) {
		enum counter_id id = counters[i].counter;
		struct validation_row row = {
			.mark = mark,
			.op_index = op_index,
			.counter = id,
			.is_judged = counters[i].is_judged,
		};

		if (!(known >> id & 1))
			continue;
		row.predicted = counter_get(model, id);
		row.measured = counter_get(kernel, id);
		row.low = counter_get(low ? low : kernel, id);
		row.high = counter_get(high ? high : kernel, id);
		row.error = distance(row.predicted, row.low, row.high,
				     validation_floor(measured->memory_bytes, id));
		*array_push(&rows->all) = row;
	}
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

void errors_sum_up(double *errors, size_t count, double *median, double *worst)
{
	*median = *worst = 0;
	if (count == 0)
		return;
	qsort(errors, count, sizeof(*errors), by_value);
	*median = errors[count / 2];
	*worst = errors[count - 1];
}

static void judge(struct validation *validation)
{
	double *errors = memory_alloc(validation->row_count + 1, sizeof(*errors));
	double largest = -1;

	for (size_t i = 0; i < validation->row_count; i++) {
		const struct validation_row *row = &validation->rows[i];
		double size = row->error < 0 ? -row->error : row->error;

		if (!row->is_judged)
			continue;
		errors[validation->judged_count++] = size;
		if (size > largest) {
			largest = size;
			validation->worst_row = row;
		}
	}
	errors_sum_up(errors, validation->judged_count, &validation->median, &validation->worst);
	memory_free(errors);
}

/* ---- where they part ---- */

static uint64_t sample_value(const struct result_sample *sample, enum counter_id counter)
{
	switch (counter) {
	case COUNTER_active_file_pages:
		return sample->active_file_pages;
	case COUNTER_inactive_file_pages:
		return sample->inactive_file_pages;
	case COUNTER_slab_bytes:
		return sample->slab_bytes;
	default:
		return sample->read_bytes;
	}
}

/* In the order in which one explains the other: objects take memory from pages, lists decide which. */
static const enum counter_id sampled[] = {COUNTER_slab_bytes, COUNTER_active_file_pages,
					  COUNTER_read_bytes};

static bool sample_departs(const struct result *measured, const struct result_sample *a,
			   const struct result_sample *b, double tolerance,
			   struct validation_departure *departure)
{
	for (size_t i = 0; i < sizeof(sampled) / sizeof(sampled[0]); i++) {
		uint64_t predicted = sample_value(a, sampled[i]),
			 kernel = sample_value(b, sampled[i]);
		double off = distance(predicted, kernel, kernel,
				      validation_floor(measured->memory_bytes, sampled[i]));

		if ((off < 0 ? -off : off) <= tolerance)
			continue;
		*departure = (struct validation_departure){
			.is_known = true,
			.op_index = b->op_index,
			.what = counter_name(sampled[i]),
			.predicted = predicted,
			.measured = kernel,
			.mechanism = mechanism_of(sampled[i]),
		};
		return true;
	}
	return false;
}

/* Both have samples at the same ops, but for the last ones: the rule by which they thin out is one. */
static void departure_find(struct validation *validation, const struct result *predicted,
			   const struct result *measured, double tolerance)
{
	size_t a = 0;

	for (size_t b = 0; b < measured->sample_count; b++) {
		uint64_t op = measured->samples[b].op_index;

		while (a < predicted->sample_count && predicted->samples[a].op_index < op)
			a++;
		if (a == predicted->sample_count)
			break;
		if (predicted->samples[a].op_index == op &&
		    sample_departs(measured, &predicted->samples[a], &measured->samples[b],
				   tolerance, &validation->departure))
			return;
	}
	/* Without samples (lazy statistics), marks have to do. */
	for (size_t i = 0; i < validation->row_count; i++) {
		const struct validation_row *row = &validation->rows[i];

		if ((row->error < 0 ? -row->error : row->error) <= tolerance)
			continue;
		validation->departure = (struct validation_departure){
			.is_known = true,
			.op_index = row->op_index,
			.what = counter_name(row->counter),
			.predicted = row->predicted,
			.measured = row->measured,
			.mechanism = mechanism_of(row->counter),
		};
		return;
	}
}

void validation_make(struct validation *validation, const struct result *predicted,
		     const struct result *measured, double tolerance)
{
	struct rows rows = {0};
	size_t mark = 0;

	*validation = (struct validation){0};
	for (size_t i = 0; i < measured->mark_count; i++) {
		const struct result_mark *kernel = &measured->marks[i];

		/* The same source: the same marks, but where clients raced each other. */
		while (mark < predicted->mark_count &&
		       strcmp(predicted->marks[mark].label, kernel->label) != 0)
			mark++;
		if (mark == predicted->mark_count)
			break;
		rows_add(&rows, predicted, measured, kernel->label, kernel->op_index,
			 &predicted->marks[mark].counters, &kernel->counters,
			 measured->marks_low ? &measured->marks_low[i] : NULL,
			 measured->marks_high ? &measured->marks_high[i] : NULL);
		mark++;
	}
	if (measured->mark_count == 0 ||
	    measured->marks[measured->mark_count - 1].op_index + 1 < measured->op_count)
		rows_add(&rows, predicted, measured, "end", measured->op_count, &predicted->totals,
			 &measured->totals, measured->run_count > 1 ? &measured->low : NULL,
			 measured->run_count > 1 ? &measured->high : NULL);
	validation->rows = rows.all.at;
	validation->row_count = rows.all.count;
	judge(validation);
	if (validation->worst > tolerance)
		departure_find(validation, predicted, measured, tolerance);
}

void validation_deinit(struct validation *validation)
{
	memory_free(validation->rows);
	*validation = (struct validation){0};
}
