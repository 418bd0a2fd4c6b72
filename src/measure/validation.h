/*
 * validation: one result held against another, counter by counter
 *
 * The model's beside the kernel's. An error is the difference relative to the kernel's figure, or to
 * VALIDATION_FLOOR_PPM of the memory where that is more, so that a dozen pages too many out of two
 * dozen do not pass for a model that is off by half. Where the kernel's own runs give a range, what
 * lies within it is right, and what does not is as wrong as it is far from it.
 *
 * Counters that people decide by are judged (validation_is_judged()); levels and what explains them
 * are shown, and say which mechanism departs first.
 */
#ifndef REFAULT_MEASURE_VALIDATION_H
#define REFAULT_MEASURE_VALIDATION_H

#include "measure/result.h"

enum { VALIDATION_FLOOR_PPM = 16000 }; /* 4 MiB of 256 MiB: what bench/accuracy.c has, too */

struct validation_row {
	const char *mark; /* a result's label, or "end" */
	uint64_t op_index;
	enum counter_id counter;
	uint64_t predicted, measured;
	uint64_t low, high; /* of all measured runs */
	double error;       /* of the prediction; + is too much */
	bool is_judged;
};

/* Where the two part: the first sample at which a counter is off by more than the tolerance. */
struct validation_departure {
	bool is_known;
	uint64_t op_index; /* the ops before it agree */
	const char *what;  /* a counter's name */
	uint64_t predicted, measured;
	const char *mechanism; /* what decides such a thing, in a few words */
};

struct validation {
	struct validation_row *rows;
	size_t row_count;
	size_t judged_count;
	double median, worst; /* of the judged rows, without sign; 0 if there are none */
	const struct validation_row *worst_row;
	struct validation_departure
		departure; /* of the worst row's run; unknown if nothing departs */
};

bool validation_is_judged(enum counter_id counter);

/* The floor in the counter's own unit: bytes, or pages, or objects of about a kibibyte. */
double validation_floor(uint64_t memory_bytes, enum counter_id counter);

/*
 * Compare at each mark that both have, and at the end. The results must outlive it. `tolerance` is
 * what counts as a departure, 0.05 for 5 %. Free with validation_deinit().
 */
void validation_make(struct validation *validation, const struct result *predicted,
		     const struct result *measured, double tolerance);
void validation_deinit(struct validation *validation);

/* The middle and the largest of so many errors without sign, which are put in order. */
void errors_sum_up(double *errors, size_t count, double *median, double *worst);

#endif
