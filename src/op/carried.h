/*
 * carried: what is known of a trace besides its ops, kept with a native one
 *
 * A reader's notes become facts ("warning=lost_events 37 12 events were lost"), and facts become notes
 * again, so that whoever uses an imported or recorded trace is told what whoever made it was told. What
 * `refault record` counts is among the facts, and told likewise. src/op/README.md has their form.
 */
#ifndef REFAULT_OP_CARRIED_H
#define REFAULT_OP_CARRIED_H

#include "base/array.h"

struct import;
struct op_source;

/* Text that grows; NUL-terminated once something was added. */
struct fact_text {
	ARRAY(char) text;
};
void fact_add(struct fact_text *facts, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void fact_lines_add(struct fact_text *facts, const char *lines);
const char *fact_text(const struct fact_text *facts);
void fact_text_deinit(struct fact_text *facts);

/* The notes of a source that was read to its end, and its span, but for what came from facts itself. */
void carried_notes(struct fact_text *facts, const struct op_source *source);

/* For the native reader: tell what these facts, lines of key=value, say. */
void carried_tell(struct import *import, const char *facts);

#endif
