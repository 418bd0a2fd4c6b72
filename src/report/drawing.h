/*
 * drawing: what drawing a result takes beside it, as JSON that can be kept with it
 */
#ifndef REFAULT_REPORT_DRAWING_H
#define REFAULT_REPORT_DRAWING_H

#include <jansson.h>

struct arena;
struct report_options;

/* All of the options but the colour. A new reference. */
json_t *drawing_json(const struct report_options *options);

/*
 * The options that drawing_json() was made of: report_text() and report_json() then say what they said
 * then. Texts are the drawing's, which must outlive them; lists are in `arena`; no colour. What is not
 * there is as if it had not been given.
 */
void drawing_read(struct report_options *options, const json_t *drawing, struct arena *arena);

#endif
