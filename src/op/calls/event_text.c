#include "op/calls/event_text.h"

#include <string.h>

bool event_text_begin(struct import *import, struct error *error)
{
	struct event_text *state = import->state;

	(void)error;
	kernel_events_begin(&state->events, import);
	return true;
}

bool event_text_again(struct import *import, struct error *error)
{
	struct event_text *state = import->state;

	(void)error;
	state->rows = (struct rows){0};
	kernel_events_again(&state->events, import);
	return true;
}

void event_text_end(struct import *import)
{
	struct event_text *state = import->state;

	if (state)
		kernel_events_deinit(&state->events);
}

bool event_text_next(struct import *import, struct op *ops, size_t count, size_t *got,
		     bool (*take)(struct import *import, const struct row *row,
				  struct error *error),
		     struct error *error)
{
	struct event_text *state = import->state;
	struct row row;

	for (;;) {
		*got = call_ops_take(&state->events.ops, ops, count);
		if (*got)
			return true;
		switch (row_next(&state->rows, import, &row, error)) {
		case ROW_FOUND:
			break;
		case ROW_END:
			kernel_events_finish(&state->events, import);
			return true;
		case ROW_FAILED:
			return false;
		}
		if (!take(import, &row, error) && !import_row_wrong(import, error))
			return false;
	}
}

bool event_text_row(struct import *import, const struct row *row, char separator,
		    bool (*is_around)(struct import *import, const struct row *row),
		    const char *expected, struct error *error)
{
	struct event_text *state = import->state;
	struct kernel_event event;

	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the line is longer than 64 KiB");
	if (kernel_event_split(row, separator, &event)) {
		if (kernel_event_take(&state->events, import, &event)) {
			import->rows++;
			return true;
		}
	} else if (is_around(import, row)) {
		return true;
	}
	if (!row->is_ended) {
		import_note(import, &import_last_line_cut, 1, row->line);
		return true;
	}
	return row_wrong(import, row, NULL, error, "\"%s\" was expected", expected);
}

enum import_match event_text_match(const unsigned char *head, size_t bytes, bool whole,
				   char separator, bool (*is_around)(const struct row *row))
{
	const unsigned char *at = head;
	unsigned int rows = 0, events = 0;
	struct row row;

	while (row_peek(&at, head + bytes, whole, &row)) {
		struct kernel_event event;
		bool is_event = kernel_event_split(&row, separator, &event);

		if (!is_event && is_around(&row))
			continue;
		rows++;
		events += is_event;
	}
	return events && events * 2 >= rows ? IMPORT_LIKELY : IMPORT_NO;
}

bool event_text_begins(const char *at, const char *end, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(end - at) >= bytes && memcmp(at, text, bytes) == 0;
}
