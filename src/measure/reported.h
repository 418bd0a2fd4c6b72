/*
 * reported: what a source says of itself, in the result
 */
#ifndef REFAULT_MEASURE_REPORTED_H
#define REFAULT_MEASURE_REPORTED_H

#include <stdbool.h>

struct op_source;
struct result;

/*
 * Fill work, figures and latencies of `result` with what the source reports; nothing if it does
 * not. Several workloads of a source may say the same: latencies of one name are put together, sums
 * (per_work) added up; another figure of a name that is there is kept as "NAME#2". Work of several
 * kinds is called "units of work". The source's latencies come before those of the operations.
 */
void result_take_report(struct result *result, struct op_source *source);

/* One figure more: what a machine says of itself. `result` is a struct result. */
void result_take_figure(void *result, const char *name, const char *meaning, double value,
			bool per_work);

#endif
