/*
 * What the parts of the text report share.
 */
#ifndef REFAULT_REPORT_REPORT_PRIVATE_H
#define REFAULT_REPORT_REPORT_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/array.h"
#include "base/memory.h"
#include "measure/result.h"
#include "report/comparison.h"

struct report_options;
struct table;

/* Enough to see the shape; JSON has all. */
enum { INDENT = 2, STREAMS_SHOWN_MAX = 12, MARKS_SHOWN_MAX = 20, NAME_COLUMNS = 24 };

bool result_knows(const struct result *result, enum counter_id id);

/*
 * "wal.csv 120,000 ops, 3 streams, 2 files cgroup limit 256 MiB [policy linux-6.18 ]ext4"
 */
void report_headline(FILE *out, const struct result *result, const struct report_options *options,
		     bool with_policy);

/*
 * How many marks are shown, and which: all, or some evenly spread, the first and the last among
 * them.
 */
size_t marks_shown(const struct result *result);
size_t mark_shown_at(const struct result *result, size_t index);
void marks_left_out(FILE *out, const struct result *result); /* a line that says so, if any are */

/* A title above a table. */
void report_heading(FILE *out, const char *text, bool colour);

/*
 * Words of `text` from `column` on, in lines of at most 98 columns; the first goes where the cursor
 * is.
 */
void report_wrapped(FILE *out, const char *text, size_t column);

/* "note: ...", in lines that fit: what must be known before the figures are believed. */
void note_print(FILE *out, const char *note);

/* What a comparison shows: what it was asked for, or what each stream read again. */
struct comparison_rows {
	struct arena arena;
	ARRAY(struct comparison_row) list;
	const struct comparison_row *at;
	size_t count;
};

void comparison_rows_make(struct comparison_rows *rows, const struct comparison *comparison);
void comparison_rows_free(struct comparison_rows *rows);

/* Where the published figures are from, and what to look at next. */
void comparison_foot(FILE *out, const struct comparison *comparison);

/* The next cell of `table`; levels in pages are shown as sizes, as people think of memory. */
void counter_cell(struct table *table, const struct counters *counters, uint64_t known,
		  enum counter_id id);
void stream_cell(struct table *table, const struct result_stream *stream, enum counter_id id);

/*
 * The streams in the order to show them: as they came, or if they are too many, those that matter
 * first. Free with memory_free().
 */
size_t *streams_order(const struct result *result);
void streams_print(FILE *out, const struct result *result, bool colour);
void blame_print(FILE *out, const struct result *result, bool colour);

/* Lists, dirty pages and slab over the run. */
void samples_print(FILE *out, const struct result *result);

/* What is there when time is kept: the answer, and the evidence. */
void time_answer_print(FILE *out, const struct result *result);
void time_print(FILE *out, const struct result *result, bool colour);
void time_json_set(json_t *json, const struct result *result);
void time_json_set_mark(json_t *json, const struct result *result, const struct result_mark *mark);

/* A number; a text as UTF-8, or null for NULL. New references. */
json_t *json_number(uint64_t value);
json_t *json_text(const char *value);

#endif
