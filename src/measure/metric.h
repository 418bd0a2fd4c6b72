/*
 * metric: the one figure that two runs are compared by
 *
 * Any counter (measure/result.h), of which less is better; how long the jobs took; or the work done
 * in a second, of which more is better. A run that does not know it has none: that is not 0.
 */
#ifndef REFAULT_MEASURE_METRIC_H
#define REFAULT_MEASURE_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "measure/result.h"

enum metric_kind { METRIC_COUNTER, METRIC_ELAPSED, METRIC_WORK };

struct metric {
	enum metric_kind kind;
	enum counter_id counter; /* METRIC_COUNTER */
};

/* Fails (ERROR_INPUT) with the nearest name there is. */
bool metric_find(struct metric *metric, const char *name, struct error *error);

const char *metric_name(const struct metric *metric);
bool metric_more_is_better(const struct metric *metric);

/* Of the whole run, or of one of its streams. False: that is not known. */
bool metric_of_run(const struct metric *metric, const struct result *result, double *value);
bool metric_of_stream(const struct metric *metric, const struct result_stream *stream,
		      double *value);

/*
 * What a difference is relative to at least, in a machine of so much memory: validation's floor
 * for counters; 0 for what is not counted.
 */
double metric_floor(const struct metric *metric, uint64_t memory_bytes);

/* "23.1 MiB", "69,753", "1.20 s", "8,410.5/s". Returns `text`. */
enum { METRIC_TEXT_BYTES = 48 };
const char *metric_format(char text[METRIC_TEXT_BYTES], const struct metric *metric, double value);

#endif
