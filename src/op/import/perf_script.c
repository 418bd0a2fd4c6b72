/*
 * perf-script: the text of `perf script`
 *
 *     page cleaner 31597 [000]  1141.171061:      filemap:mm_filemap_add_to_page_cache: dev 253:3 ...
 *     	ffffffff815a4dc3 __filemap_add_folio+0x4a3 ([kernel.kallsyms])
 *
 * Events      see kernel_events.h.
 * Accepts     "pid/tid", no CPU, nanoseconds (--ns), a period, headers, call chains (-g), of which only
 *             the cause of a deletion is taken; --show-lost-events.
 * Machine     numbers of calls are x86-64's, or arm64's if the header (--header) says so.
 */
#include <string.h>

#include "op/calls/event_text.h"

/* "	ffffffff815a4dc3 __filemap_add_folio+0x4a3 ([kernel.kallsyms])": the symbol, or NULL. */
static const char *frame_symbol(const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end, *from;

	if (*at != '\t' && *at != ' ')
		return NULL;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	from = at;
	while (at < end && ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')))
		at++;
	return at > from && at < end && *at == ' ' ? at + 1 : NULL;
}

/* "perf 1234 [001] 1234.5: PERF_RECORD_LOST lost 37", which perf shows if it is asked to. */
static bool record_read(struct import *import, const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end, *word;
	uint64_t count = 0;

	at = memmem(at, (size_t)(end - at), "PERF_RECORD_", 12);
	if (!at)
		return false;
	if (!event_text_begins(at, end, "PERF_RECORD_LOST"))
		return true;
	word = memmem(at, (size_t)(end - at), "lost ", 5);
	for (at = word ? word + 5 : end; at < end && *at >= '0' && *at <= '9'; at++)
		if (count < UINT64_MAX / 100)
			count = count * 10 + (uint64_t)(*at - '0');
	kernel_events_lost(import, count, row->line);
	return true;
}

/* "# arch : aarch64" */
static void header_read(struct event_text *state, const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end;

	if (event_text_begins(at, end, "# arch :") && memmem(at, (size_t)(end - at), "aarch64", 7))
		state->events.machine = MACHINE_ARM64;
}

static bool is_frame(struct import *import, const struct row *row)
{
	struct event_text *state = import->state;
	const char *symbol = frame_symbol(row);

	if (symbol)
		filemap_called_by(&state->events.filemap, symbol,
				  (size_t)((const char *)row->end - symbol));
	return symbol != NULL;
}

static bool row_take(struct import *import, const struct row *row, struct error *error)
{
	if (!row->is_too_long && row->at[0] == '#') {
		header_read(import->state, row);
		return true;
	}
	if (!row->is_too_long && record_read(import, row))
		return true;
	return event_text_row(import, row, ' ', is_frame, "COMMAND PID [CPU] TIME: EVENT: ...",
			      error);
}

static bool perf_script_next(struct import *import, struct op *ops, size_t count, size_t *got,
			     struct error *error)
{
	return event_text_next(import, ops, count, got, row_take, error);
}

static bool is_around(const struct row *row)
{
	return row->at[0] == '#' || frame_symbol(row);
}

/* Of the lines in sight that are no frames, most are events. */
static enum import_match perf_script_match(const unsigned char *head, size_t bytes, bool whole)
{
	return event_text_match(head, bytes, whole, ' ', is_around);
}

const struct import_format format_perf_script = {
	.about = {.name = "perf-script",
		  .summary = "the text of perf script: system calls, the page cache"},
	.readings = IMPORT_TWICE,
	.state_bytes = sizeof(struct event_text),
	.match = perf_script_match,
	.begin = event_text_begin,
	.again = event_text_again,
	.next = perf_script_next,
	.end = event_text_end,
};
