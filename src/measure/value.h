/*
 * value: any single figure of a result, by its name
 *
 *   COUNTER                      one of cache/counters.def: "reread_bytes"
 *   elapsed_ns                   simulated time
 *   work, work_per_second, tps   units of work (transactions), and in a second (tps is the same)
 *   ops_per_second
 *   cpu.busy_ns, cpu.count
 *   device.FIELD                 of struct result_device: "device.read_bytes"
 *   latency.NAME.WHAT            NAME: an operation or a workload's ("transaction"); WHAT: mean,
 *                                deviation, p50, p90, p95, p99, p99.9, p99.99, min, max, count
 *   mean.LEVEL                   of the series, over the run: "mean.dirty_pages"
 *   first.FIELD, middle.FIELD, last.FIELD
 *                                of the series, over a third of the run, a second's worth of what is
 *                                no level: "last.work:middle.work" tells a throughput that falls
 *   least.FIELD, most.FIELD      the same over the twelfth of the run that has least or most of it:
 *                                "least.work:first.work" tells a trough
 *   FIGURE                       what a workload says of itself: "wal_bytes"
 *
 * "/work" behind any of them divides by the units of work done: "device.reads/work". "A:B" is A for
 * one of B: "active_file_pages:inactive_file_pages".
 */
#ifndef REFAULT_MEASURE_VALUE_H
#define REFAULT_MEASURE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct result;

enum value_unit { VALUE_COUNT, VALUE_BYTES, VALUE_NS, VALUE_PER_SECOND };

/* False: there is none of this name, or the result does not know it. */
bool result_value(const struct result *result, const char *name, double *value,
		  enum value_unit *unit);

/* The unit that a name tells: "wal_bytes", "elapsed_ns", "latency.read.p99", "tps"; else a count. */
enum value_unit value_unit_of_name(const char *name);

/*
 * Is there a value of this name, whatever the result? Of a workload's own figures none can know, but
 * the result of a run.
 */
bool value_name_exists(const char *name);

/*
 * All the names that exist (less "/work"), one after the other; NULL after the last. `result`: its
 * figures come first; NULL: none.
 */
const char *value_name_at(const struct result *result, size_t index);

/* The one that `name` was probably meant to be, "/work" included; NULL: none is near. */
enum { VALUE_NAME_BYTES = 80 };
const char *value_name_nearest(char text[VALUE_NAME_BYTES], const struct result *result,
			       const char *name);

#endif
