/*
 * report: results drawn, for people and for programs
 *
 * The same words in both: a counter's JSON name is its name in cache/counters.def. Nothing here
 * writes anywhere but to the stream it is given; nothing is wider than 100 columns.
 */
#ifndef REFAULT_REPORT_REPORT_H
#define REFAULT_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct result;

struct report_options {
	bool colour;           /* the stream is a terminal that may be coloured */
	uint64_t skipped_rows; /* rows of the input that --lenient left out */
	bool is_cut_off;       /* the input ends in the middle, and --lenient took what there is */
	json_t *input_notes; /* what a trace's reader had to say (trace_summary.h); NULL: nothing */
	/* the input is a trace, which `refault replay` takes; else a scenario, for `refault run` */
	bool is_trace;
	uint64_t bare_pages; /* the plain cache of so many pages; 0: a whole machine */
	/* for the command to try next: the input as it was given; NULL: as the result names it */
	const char *input;
	/* and what else was given, word by word, less memory, policy and what the result tells */
	const char *const *words;
	size_t word_count;
};

/*
 * One result: heading, answer, marks, streams, who evicted whom, memory over time, what to try
 * next.
 */
void report_text(FILE *out, const struct result *result, const struct report_options *options);

/* The same input under several policies: a line each. */
void report_side_by_side(FILE *out, const struct result *results, size_t count,
			 const struct report_options *options);

/*
 * The object that `--json` prints: "input", "totals", "marks", "streams", "blame", "samples",
 * "machine"; where time is kept "elapsed_ns", "cpu", "device", "stopped_writers" (because too much was
 * dirty), "latency" (by operation: an empty object if nobody kept it), "workload" and "series", else
 * null; "events" (checkpoints, with their begin and end); and of a kernel "kernel" (what it
 * counts besides), "kernel_runs" and "range"; and "notes", if there are any (a kernel's run: always).
 * blame[victim][evictor]["pages"] is how many pages of `victim` were read again that had been
 * evicted because `evictor` allocated; pairs that are absent are 0. What the machine could not know
 * is null. A new reference.
 */
json_t *report_json(const struct result *result, const struct report_options *options);

/* Print it, keys in the order they were set, and free it. */
void report_json_print(FILE *out, json_t *json);

#endif
