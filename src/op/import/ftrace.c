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

#include "op/calls/event_text.h"

/* "CPU:1 [LOST 37 EVENTS]", "CPU:1 [37 EVENTS DROPPED]", "CPU:1 [EVENTS DROPPED]" */
static bool loss_read(struct import *import, const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end;
	uint64_t count = 0;

	if (!event_text_begins(at, end, "CPU:"))
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
		if (event_text_begins(at, end, beginnings[i]))
			return true;
	return false;
}

static bool is_no_event(struct import *import, const struct row *row)
{
	return is_around(row) || loss_read(import, row);
}

static bool row_take(struct import *import, const struct row *row, struct error *error)
{
	return event_text_row(import, row, '-', is_no_event,
			      "TASK-PID [CPU] FLAGS TIME: EVENT: ...", error);
}

static bool ftrace_next(struct import *import, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	return event_text_next(import, ops, count, got, row_take, error);
}

/* It says so itself, or most lines in sight are events. */
static enum import_match ftrace_match(const unsigned char *head, size_t bytes, bool whole)
{
	static const char mark[] = "# tracer: ";

	if (bytes >= sizeof(mark) && memcmp(head, mark, sizeof(mark) - 1) == 0)
		return IMPORT_YES;
	return event_text_match(head, bytes, whole, '-', is_around);
}

const struct import_format format_ftrace = {
	.about = {.name = "ftrace",
		  .summary = "the text of ftrace and trace-cmd: system calls, the page cache"},
	.readings = IMPORT_TWICE,
	.state_bytes = sizeof(struct event_text),
	.match = ftrace_match,
	.begin = event_text_begin,
	.again = event_text_again,
	.next = ftrace_next,
	.end = event_text_end,
};
