/*
 * event_text: what the readers of perf's and ftrace's texts share
 *
 * Both are rows of which most are events (kernel_events.h); what stands around those is theirs.
 */
#ifndef REFAULT_OP_CALLS_EVENT_TEXT_H
#define REFAULT_OP_CALLS_EVENT_TEXT_H

#include "op/calls/kernel_events.h"
#include "op/import.h"

/* The state of such a reader. */
struct event_text {
	struct rows rows;
	struct kernel_events events;
};

/* For struct import_format. */
bool event_text_begin(struct import *import, struct error *error);
bool event_text_again(struct import *import, struct error *error);
void event_text_end(struct import *import);

/* The reader's `next`, which has this done with each row; false: it cannot be read. */
bool event_text_next(struct import *import, struct op *ops, size_t count, size_t *got,
		     bool (*take)(struct import *import, const struct row *row,
				  struct error *error),
		     struct error *error);

/*
 * One that is an event, or is none: `is_around` says of a row that is no event whether it may stand
 * between them. `expected` is how an event looks like.
 */
bool event_text_row(struct import *import, const struct row *row, char separator,
		    bool (*is_around)(struct import *import, const struct row *row),
		    const char *expected, struct error *error);

/* IMPORT_LIKELY: of the rows in sight, those around left out, at least half are events. */
enum import_match event_text_match(const unsigned char *head, size_t bytes, bool whole,
				   char separator, bool (*is_around)(const struct row *row));

/* Does the text up to `end` begin so? */
bool event_text_begins(const char *at, const char *end, const char *text);

#endif
