/*
 * player: the ops of a scenario, in the order of their times
 *
 * Every thread of every job is a client with a clock of its own. Of all clients the one that is
 * ready first goes next (the earlier job, then the earlier thread, if several are): it delivers one
 * op, and is ready again when the machine says that the op is done (op_source_interface.completed),
 * or later if its job thinks or keeps a rate. That is a closed loop: a slower disk makes a slower
 * reader. If nobody says when ops are done they take a nanosecond each, so that a scenario can be
 * written out as a trace.
 *
 * A job that is a workload (source/workload.h) is asked beside them, on the same clock; its threads
 * come after those of the jobs before it. At the end of its time it is not asked any more, and is
 * over when what is under way is done.
 *
 * First come the files: `exists` ops at time 0 (workloads' too), the directories of files to come,
 * then what `cached` asks for, as real ops on a clock of their own, ended by a mark "start" if there
 * were any. The jobs' time begins there.
 *
 * At the end of each pass of a looping job comes a mark that has the job's stream: it is the
 * stream's, not the scenario's own (marks that a scenario asks for have stream 0).
 *
 * About 10 ns an op; paths are interned when the source is made, so that no op formats or looks up
 * anything. Same scenario, seed and answers: same ops, to the byte.
 */
#ifndef REFAULT_SOURCE_PLAYER_H
#define REFAULT_SOURCE_PLAYER_H

#include <stdint.h>

#include "base/error.h"
#include "op/source.h"

struct scenario;

/*
 * The scenario must outlive the source. NULL: ERROR_INPUT (two files have one path). Destroy with
 * op_source_destroy().
 */
struct op_source *scenario_source_create(const struct scenario *scenario, uint64_t seed,
					 struct error *error);

/* Whole passes that a job (by its number) has done so far, by all its threads together. */
uint64_t scenario_source_passes(const struct op_source *source, size_t job);

/* How long the jobs have been running, from their beginning to the last op done. */
uint64_t scenario_source_elapsed_ns(const struct op_source *source);

#endif
