/*
 * ftrace: the text of /sys/kernel/tracing/trace and trace_pipe, and of `trace-cmd report`
 *
 *     dbwriter-3956    [000] .....  1163.377547: mm_filemap_add_to_page_cache: dev 253:3 ino a1c ...
 *
 * Events      see kernel_events.h.
 * Accepts     flags of four (5.10) and of five characters, none (trace-cmd, nooption irq-info), the
 *             process beside the thread (record-tgid), "<...>" for a name that was forgotten, stacks.
 * Times       of any clock with a point in it; counters are taken as they are.
 * Machine     numbers of calls are read as x86-64's: the text does not say.
 */
#include <string.h>

#include "op/import.h"
#include "op/calls/kernel_events.h"

struct ftrace {
	struct rows rows;
	struct kernel_events events;
};

static bool begins(const char *at, const char *end, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(end - at) >= bytes && memcmp(at, text, bytes) == 0;
}

/* "CPU:1 [LOST 37 EVENTS]", "CPU:1 [37 EVENTS DROPPED]", "CPU:1 [EVENTS DROPPED]" */
static bool loss_read(struct import *import, const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end;
	uint64_t count = 0;

	if (!begins(at, end, "CPU:"))
		return false;
	at = memchr(at, '[', (size_t)(end - at));
	if (!at || !memmem(at, (size_t)(end - at), "EVENTS", 6))
		return false;
	for (; at < end; at++)
		if (*at >= '0' && *at <= '9' && count < UINT64_MAX / 100)
			count = count * 10 + (uint64_t)(*at - '0');
	kernel_events_lost(import, count, row->line);
	return true;
}

/* Headers, marks between CPUs' buffers, stacks. */
static bool is_around(const struct row *row)
{
	static const char *const beginnings[] = {
		"#",          "=> ",  "<stack trace>", "<user stack trace>", "cpus=",
		"version = ", "CPU ", "Buffer: ",      "trace-cmd:"};
	const char *at = (const char *)row->at, *end = (const char *)row->end;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (begins(at, end, beginnings[i]))
			return true;
	return false;
}

static bool row_read(struct import *import, const struct row *row, struct error *error)
{
	struct ftrace *state = import->state;
	struct kernel_event event;

	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the line is longer than 64 KiB");
	if (kernel_event_split(row, '-', &event)) {
		if (kernel_event_take(&state->events, import, &event)) {
			import->rows++;
			return true;
		}
	} else if (is_around(row) || loss_read(import, row)) {
		return true;
	}
	if (!row->is_ended) {
		import_note(import, &import_last_line_cut, 1, row->line);
		return true;
	}
	return row_wrong(import, row, NULL, error,
			 "\"TASK-PID [CPU] FLAGS TIME: EVENT: ...\" was expected");
}

static bool ftrace_next(struct import *import, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct ftrace *state = import->state;
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

static bool ftrace_begin(struct import *import, struct error *error)
{
	struct ftrace *state = import->state;

	(void)error;
	kernel_events_begin(&state->events, import);
	return true;
}

static bool ftrace_again(struct import *import, struct error *error)
{
	struct ftrace *state = import->state;

	(void)error;
	state->rows = (struct rows){0};
	kernel_events_again(&state->events, import);
	return true;
}

static void ftrace_end(struct import *import)
{
	struct ftrace *state = import->state;

	if (state)
		kernel_events_deinit(&state->events);
}

/* It says so itself, or most lines in sight are events. */
static enum import_match ftrace_match(const unsigned char *head, size_t bytes, bool whole)
{
	static const char mark[] = "# tracer: ";
	const unsigned char *at = head;
	unsigned int rows = 0, events = 0;
	struct row row;

	if (bytes >= sizeof(mark) && memcmp(head, mark, sizeof(mark) - 1) == 0)
		return IMPORT_YES;
	while (row_peek(&at, head + bytes, whole, &row)) {
		struct kernel_event event;
		bool is_event = kernel_event_split(&row, '-', &event);

		if (!is_event && is_around(&row))
			continue;
		rows++;
		events += is_event;
	}
	return events && events * 2 >= rows ? IMPORT_LIKELY : IMPORT_NO;
}

const struct import_format format_ftrace = {
	.about = {.name = "ftrace",
		  .summary = "the text of ftrace and trace-cmd: system calls, the page cache"},
	.readings = IMPORT_TWICE,
	.state_bytes = sizeof(struct ftrace),
	.match = ftrace_match,
	.begin = ftrace_begin,
	.again = ftrace_again,
	.next = ftrace_next,
	.end = ftrace_end,
};
