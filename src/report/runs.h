/*
 * runs: what is kept, as a list and for other programs
 */
#ifndef REFAULT_REPORT_RUNS_H
#define REFAULT_REPORT_RUNS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct stored;
struct stored_run;
struct stored_runs;

/* A line each, the newest first, ids of so many digits. */
void runs_text(FILE *out, const struct stored_runs *runs, size_t digits, bool colour);

/*
 * {"runs": [{"id", "number", "group", "time", "time_ns", "command", "words", "version", "input", "digest",
 * "setting", "machine": {"kind", "kernel", "policy", "switches", "filesystem", "memory_bytes", "cgroup",
 * "seed"}, "ops", "read_bytes", "reread_bytes", "elapsed_ns"}]}, the newest first; "group" is equal for the
 * runs of one command, "time" is UTC. A new reference.
 */
json_t *runs_json(const struct stored_runs *runs);

/* One of them; of a whole run with its "result" besides. New references. */
json_t *run_json(const struct stored_run *run);
json_t *run_export_json(const struct stored *stored);

/*
 * A line for the run as a whole, whose "stream" is empty, and one for each of its streams; columns: run,
 * time, command, input, setting, machine, kernel, policy, filesystem, memory_bytes, seed, version, stream,
 * elapsed_ns, and each counter. What is not known is empty.
 */
void run_export_csv_heading(FILE *out);
void run_export_csv(FILE *out, const struct stored *stored);

/* `text` as a field: in quotes where it needs them; NULL is empty. */
void csv_field(FILE *out, const char *text);

/* What is different in this run, in a few words: its setting, its policy, its kernel. Never NULL. */
const char *run_setting(const struct stored_run *run);

#endif
