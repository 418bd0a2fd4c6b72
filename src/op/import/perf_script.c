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

#include "op/import.h"
#include "op/calls/kernel_events.h"

struct perf_script {
	struct rows rows;
	struct kernel_events events;
};

static bool begins(const char *at, const char *end, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(end - at) >= bytes && memcmp(at, text, bytes) == 0;
}

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
	if (!begins(at, end, "PERF_RECORD_LOST"))
		return true;
	word = memmem(at, (size_t)(end - at), "lost ", 5);
	for (at = word ? word + 5 : end; at < end && *at >= '0' && *at <= '9'; at++)
		if (count < UINT64_MAX / 100)
			count = count * 10 + (uint64_t)(*at - '0');
	kernel_events_lost(import, count, row->line);
	return true;
}

/* "# arch : aarch64" */
static void header_read(struct perf_script *state, const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end;

	if (begins(at, end, "# arch :") && memmem(at, (size_t)(end - at), "aarch64", 7))
		state->events.machine = MACHINE_ARM64;
}

static bool row_read(struct import *import, const struct row *row, struct error *error)
{
	struct perf_script *state = import->state;
	const char *end = (const char *)row->end, *symbol;
	struct kernel_event event;

	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the line is longer than 64 KiB");
	if (row->at[0] == '#') {
		header_read(state, row);
		return true;
	}
	if (record_read(import, row))
		return true;
	if (kernel_event_split(row, ' ', &event)) {
		if (kernel_event_take(&state->events, import, &event)) {
			import->rows++;
			return true;
		}
	} else if ((symbol = frame_symbol(row))) {
		filemap_called_by(&state->events.filemap, symbol, (size_t)(end - symbol));
		return true;
	}
	if (!row->is_ended) {
		import_note(import, &import_last_line_cut, 1, row->line);
		return true;
	}
	return row_wrong(import, row, NULL, error,
			 "\"COMMAND PID [CPU] TIME: EVENT: ...\" was expected");
}

static bool perf_script_next(struct import *import, struct op *ops, size_t count, size_t *got,
			     struct error *error)
{
	struct perf_script *state = import->state;
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
		if (!row_read(import, &row, error) && !import_row_wrong(import, error))
			return false;
	}
}

static bool perf_script_begin(struct import *import, struct error *error)
{
	struct perf_script *state = import->state;

	(void)error;
	kernel_events_begin(&state->events, import);
	return true;
}

static bool perf_script_again(struct import *import, struct error *error)
{
	struct perf_script *state = import->state;

	(void)error;
	state->rows = (struct rows){0};
	kernel_events_again(&state->events, import);
	return true;
}

static void perf_script_end(struct import *import)
{
	struct perf_script *state = import->state;

	if (state)
		kernel_events_deinit(&state->events);
}

/* Of the lines in sight that are no frames, most are events. */
static enum import_match perf_script_match(const unsigned char *head, size_t bytes, bool whole)
{
	const unsigned char *at = head;
	unsigned int rows = 0, events = 0;
	struct row row;

	while (row_peek(&at, head + bytes, whole, &row)) {
		struct kernel_event event;
		bool is_event = kernel_event_split(&row, ' ', &event);

		if (!is_event && (row.at[0] == '#' || frame_symbol(&row)))
			continue;
		rows++;
		events += is_event;
	}
	return events && events * 2 >= rows ? IMPORT_LIKELY : IMPORT_NO;
}

const struct import_format format_perf_script = {
	.about = {.name = "perf-script",
		  .summary = "the text of perf script: system calls, the page cache"},
	.readings = IMPORT_TWICE,
	.state_bytes = sizeof(struct perf_script),
	.match = perf_script_match,
	.begin = perf_script_begin,
	.again = perf_script_again,
	.next = perf_script_next,
	.end = perf_script_end,
};
