/*
 * blkparse: the default text of blkparse, which shows what blktrace recorded
 *
 *       8,2    0        7     0.000005600  1520  D   R 206848 + 64 [mysqld]
 *       8,2    1        1     0.000420000     0  C   R 206848 + 64 [0]
 *
 * Idea       a request shows up many times: asked for (Q), remapped (A), merged (M, F), split (X),
 *            handed to the driver (D), completed (C). What the device did is what completed; a device
 *            without any C line is read by its D lines, and one without those by its Q lines. They
 *            are never added up. Which it is, only the whole file tells: it is read twice.
 * Source     blktrace 1.2, blkparse.c and blkparse_fmt.c (process_default), blkparse(1): sectors of
 *            512 bytes; RWBS has D for a discard, F before the W for a flush and behind it for FUA, N
 *            for neither; a C line's process is whoever was interrupted, so that the one that asked
 *            is looked for among the Q lines.
 * Differs    1. two devices, one on top of the other, are two files with the same requests; unless
 *            remap lines show it and the upper one has no C lines: then it is left out. 2. what was queued and did not complete is no I/O; it is counted.
 *            3. commands that are no block requests (their bytes in parentheses) are left out.
 * Files      "MAJOR,MINOR"
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"
#include "op/rows/request.h"

enum { SECTOR_BYTES = 512, PENDING_MAX = 4096, FIELDS = 7, REMAPS_MAX = 256 };

enum stage { STAGE_QUEUED, STAGE_ISSUED, STAGE_COMPLETED, STAGE_COUNT };

struct device {
	bool has[STAGE_COUNT]; /* lines of that stage, with sectors */
	bool is_left_out;      /* its requests are seen completing on the device below */
	bool has_path;
	uint32_t path;
};

/* Requests of the one become requests of the other: a logical volume and its disk. */
struct remap {
	uint32_t above, below;
};

/* Asked for and not completed yet; sorted by device and first sector. */
struct pending {
	uint32_t device, thread;
	uint64_t sector, sectors, queued_ns, issued_ns; /* issued_ns 0: not yet */
	uint64_t line;
	enum request_kind kind;
};

struct blkparse {
	struct rows rows;
	struct requests requests;
	struct path_table *devices; /* names; an id is an index of `by_device` */
	ARRAY(struct device) by_device;
	struct remap remaps[REMAPS_MAX];
	size_t remap_count;
	struct pending pending[PENDING_MAX];
	size_t pending_count;
	bool in_summary;
	uint64_t latest_ns; /* of all lines */
};

/* A line of an event. */
struct event {
	struct field device, rwbs;
	struct field rest; /* what follows the RWBS */
	uint64_t time_ns, thread;
	char action[3];
	uint64_t sector, sectors;
	bool has_sectors; /* "SECTOR + SECTORS" */
	bool has_failed;
};

static const struct import_remark other_lines = {
	.key = "lines_of_other_stages",
	.one = "line shows the same requests at another stage, or none",
	.many = "lines show the same requests at other stages, or none",
};

static const struct import_remark unordered_lines = {
	.key = "lines_out_of_order",
	.one = "line is out of time order",
	.many = "lines are out of time order",
};

static const struct import_remark remaps = {
	.key = "remaps",
	.one = "remap line: the same request on a device below",
	.many = "remap lines: the same requests on a device below",
};

static const struct import_remark unfinished[] = {
	[REQUEST_READ] =
		{.key = "unfinished_reads",
		 .one = "read was queued and did not complete within the trace: left out",
		 .many = "reads were queued and did not complete within the trace: left out",
		 .is_warning = true},
	[REQUEST_WRITE] =
		{.key = "unfinished_writes",
		 .one = "write was queued and did not complete within the trace: left out",
		 .many = "writes were queued and did not complete within the trace: left out",
		 .is_warning = true},
	[REQUEST_DISCARD] = {.key = "unfinished_discards",
			     .one = "discard was queued and did not complete within the trace",
			     .many = "discards were queued and did not complete within the trace",
			     .is_warning = true},
	[REQUEST_FLUSH] = {.key = "unfinished_flushes",
			   .one = "flush was queued and did not complete within the trace",
			   .many = "flushes were queued and did not complete within the trace"},
	[REQUEST_OTHER] = {.key = "unfinished_others",
			   .one = "request was queued and did not complete within the trace",
			   .many = "requests were queued and did not complete within the trace"},
};

static const struct import_remark unfinished_bytes = {
	.key = "unfinished_bytes",
	.one = "byte of unfinished requests",
	.many = "bytes of unfinished requests",
};

static const struct import_remark commands = {
	.key = "passthrough_commands",
	.one = "command that is no block request was left out",
	.many = "commands that are no block requests were left out",
};

static const struct import_remark lost = {
	.key = "lost_events",
	.one = "event was lost: all figures are lower bounds",
	.many = "events were lost: all figures are lower bounds",
	.is_warning = true,
};

static const struct import_remark by_issue = {
	.key = "devices_without_completions",
	.one = "device has no completed requests (C): its issued ones (D) are taken",
	.many = "devices have no completed requests (C): their issued ones (D) are taken",
	.is_warning = true,
};

static const struct import_remark by_queue = {
	.key = "devices_without_issues",
	.one = "device has neither completed nor issued requests (C, D): its queued ones (Q) are "
	       "taken",
	.many = "devices have neither completed nor issued requests (C, D): their queued ones (Q) "
		"are "
		"taken",
	.is_warning = true,
};

static const struct import_remark left_out_above = {
	.key = "devices_left_out",
	.one = "device has no completed requests, and they are seen on the device below: it is "
	       "left out",
	.many = "devices have no completed requests, and they are seen on the devices below: they "
		"are "
		"left out",
	.is_warning = true,
};

static const struct import_remark stacked = {
	.key = "stacked_devices",
	.one = "device's requests are those of a device above it as well: they are counted on both",
	.many = "devices' requests are those of devices above them as well: they are counted on "
		"both",
	.is_warning = true,
};

/* ---- a line ---- */

static bool is_digit(unsigned char byte)
{
	return byte >= '0' && byte <= '9';
}

/* "8,2": what every event's line begins with. */
static bool is_device(const struct field *field)
{
	size_t commas = 0;

	for (size_t i = 0; i < field->bytes; i++) {
		commas += field->at[i] == ',';
		if (field->at[i] != ',' && !is_digit(field->at[i]))
			return false;
	}
	return commas == 1 && field->bytes <= 24 && is_digit(field->at[0]) &&
	       is_digit(field->at[field->bytes - 1]);
}

static bool is_event(const struct row *row)
{
	struct field first;

	return row_split(row, ' ', &first, 1) > 1 && is_device(&first);
}

/* What blkparse prints around the events. */
static bool is_around(struct blkparse *state, const struct row *row)
{
	static const char *const beginnings[] = {"CPU",         "Total (",  "Input file ",
						 "Throughput ", "Events (", "Skips:"};
	const unsigned char *at = row->at;

	while (at < row->end && (*at == ' ' || *at == '\t'))
		at++;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t bytes = strlen(beginnings[i]);

		if ((size_t)(row->end - at) >= bytes && memcmp(at, beginnings[i], bytes) == 0) {
			state->in_summary |= at[0] != 'I';
			return true;
		}
	}
	return state->in_summary;
}

/* "Skips: 12 forward (345 -   1.2%)": 345 events are missing. */
static void losses_note(struct import *import, const struct row *row)
{
	char text[128];
	size_t bytes = (size_t)(row->end - row->at);
	unsigned long long skips, events;

	if (bytes >= sizeof(text))
		return;
	memcpy(text, row->at, bytes);
	text[bytes] = '\0';
	if (sscanf(text, " Skips: %llu forward (%llu", &skips, &events) == 2 && skips)
		import_note(import, &lost, events ? events : skips, row->line);
}

/* "206848 + 64 (414400) [0]", "409600 [0]", "[log_writer]", "36 (12 00 ...) [0]" */
static bool sectors_read(const struct import *import, const struct row *row, struct event *event,
			 struct error *error)
{
	const struct row rest = {.at = event->rest.at, .end = event->rest.at + event->rest.bytes};
	struct field words[3];
	unsigned int count = row_split(&rest, ' ', words, 3);
	const unsigned char *bracket;

	/* A process may have a plus in its name. */
	if (count >= 2 && words[0].at[0] != '[' && field_is(&words[1], "+")) {
		if (count < 3 || field_whole(&words[0], false, &event->sector) != NUMBER_FINE ||
		    field_whole(&words[2], false, &event->sectors) != NUMBER_FINE)
			return row_wrong(import, row, &event->rest, error,
					 "\"SECTOR + SECTORS\" was expected");
		event->has_sectors = true;
		if (event->sectors == 0)
			event->sector = 0; /* of a flush, it says nothing */
		if (event->sector > OP_END_MAX / SECTOR_BYTES ||
		    event->sectors > OP_END_MAX / SECTOR_BYTES - event->sector)
			return row_wrong(import, row, &event->rest, error,
					 "its sectors go beyond 2^63 bytes");
	}
	if (event->action[0] != 'C')
		return true;
	/* "[0]", or the error's number. */
	bracket = memrchr(rest.at, '[', (size_t)(rest.end - rest.at));
	event->has_failed = bracket && rest.end - bracket > 2 && memcmp(bracket, "[0]", 3) != 0;
	return true;
}

static bool event_read(const struct import *import, const struct row *row, struct event *event,
		       struct error *error)
{
	struct field fields[FIELDS];
	unsigned int count = row_split(row, ' ', fields, FIELDS);
	enum number_verdict verdict;

	*event = (struct event){.device = fields[0]};
	if (count < FIELDS)
		return row_wrong(import, row, NULL, error,
				 "\"MAJ,MIN CPU NUMBER TIME PID ACTION RWBS ...\" was expected");
	verdict = field_scaled(&fields[3], NS_PER_SECOND, &event->time_ns);
	if (verdict != NUMBER_FINE)
		return row_wrong(import, row, &fields[3], error, "time \"%.*s\" %s",
				 field_shown(&fields[3]), (const char *)fields[3].at,
				 number_verdict_text(verdict));
	if (event->time_ns > OP_TIME_MAX)
		return row_wrong(import, row, &fields[3], error, "time is more than 292 years");
	verdict = field_whole(&fields[4], false, &event->thread);
	if (verdict != NUMBER_FINE || event->thread > UINT32_MAX)
		return row_wrong(import, row, &fields[4], error, "\"%.*s\" is no process",
				 field_shown(&fields[4]), (const char *)fields[4].at);
	if (fields[5].bytes > 2)
		return row_wrong(import, row, &fields[5], error, "\"%.*s\" is no action",
				 field_shown(&fields[5]), (const char *)fields[5].at);
	memcpy(event->action, fields[5].at, fields[5].bytes);
	event->rwbs = fields[6];
	event->rest.at = fields[6].at + fields[6].bytes;
	event->rest.bytes = (size_t)(row->end - event->rest.at);
	switch (event->action[0]) {
	case 'Q':
	case 'D':
	case 'C':
	case 'M':
	case 'F':
	case 'X':
		return sectors_read(import, row, event, error);
	default:
		return true;
	}
}

static bool has_letter(const struct field *field, char letter)
{
	return memchr(field->at, letter, field->bytes) != NULL;
}

/* D stands first in a discard's letters, and nowhere in others'. */
static enum request_kind kind_of(const struct event *event)
{
	const struct field *rwbs = &event->rwbs;

	if (has_letter(rwbs, 'D') || has_letter(rwbs, 'E'))
		return REQUEST_DISCARD;
	if (has_letter(rwbs, 'W'))
		return event->sectors ? REQUEST_WRITE : REQUEST_FLUSH;
	if (has_letter(rwbs, 'F'))
		return REQUEST_FLUSH;
	return has_letter(rwbs, 'R') ? REQUEST_READ : REQUEST_OTHER;
}

static enum stage stage_of(const struct event *event)
{
	switch (event->action[0]) {
	case 'Q':
		return STAGE_QUEUED;
	case 'D':
		return STAGE_ISSUED;
	case 'C':
		return STAGE_COMPLETED;
	default:
		return STAGE_COUNT;
	}
}

static uint32_t device_find(struct blkparse *state, const struct field *name)
{
	uint32_t device = path_intern(state->devices, (const char *)name->at, name->bytes);

	while (state->by_device.count <= device)
		*array_push(&state->by_device) = (struct device){0};
	return device;
}

/* ---- what is under way ---- */

/* The first one not before this device and sector. */
static size_t pending_from(const struct blkparse *state, uint32_t device, uint64_t sector)
{
	size_t low = 0, high = state->pending_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct pending *at = &state->pending[middle];

		if (at->device < device || (at->device == device && at->sector < sector))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void pending_remove(struct blkparse *state, size_t index)
{
	state->pending_count--;
	memmove(&state->pending[index], &state->pending[index + 1],
		(state->pending_count - index) * sizeof(state->pending[0]));
}

static void pending_unfinished(struct import *import, const struct pending *pending)
{
	import_note(import, &unfinished[pending->kind], 1, pending->line);
	import_note(import, &unfinished_bytes, pending->sectors * SECTOR_BYTES, pending->line);
}

/* Room for one more: the one that was queued first is given up. */
static void pending_make_room(struct import *import)
{
	struct blkparse *state = import->state;
	size_t oldest = 0;

	if (state->pending_count < PENDING_MAX)
		return;
	for (size_t i = 1; i < state->pending_count; i++) {
		if (state->pending[i].line < state->pending[oldest].line)
			oldest = i;
	}
	pending_unfinished(import, &state->pending[oldest]);
	pending_remove(state, oldest);
}

static bool is_within(const struct pending *pending, uint32_t device, const struct event *event)
{
	return pending->device == device && pending->sector >= event->sector &&
	       pending->sector - event->sector < event->sectors;
}

static void pending_add(struct import *import, uint32_t device, const struct event *event,
			uint64_t line)
{
	struct blkparse *state = import->state;
	size_t at;

	pending_make_room(import);
	at = pending_from(state, device, event->sector);
	memmove(&state->pending[at + 1], &state->pending[at],
		(state->pending_count - at) * sizeof(state->pending[0]));
	state->pending_count++;
	state->pending[at] = (struct pending){
		.device = device,
		.thread = (uint32_t)event->thread,
		.sector = event->sector,
		.sectors = event->sectors,
		.queued_ns = event->time_ns,
		.line = line,
		.kind = kind_of(event),
	};
}

/* What was queued within these sectors is issued; what nobody saw queued, is queued now. */
static void pending_issue(struct import *import, uint32_t device, const struct event *event,
			  uint64_t line)
{
	struct blkparse *state = import->state;
	size_t first = pending_from(state, device, event->sector), at = first;

	for (; at < state->pending_count && is_within(&state->pending[at], device, event); at++)
		state->pending[at].issued_ns = event->time_ns;
	if (at == first) {
		pending_add(import, device, event, line);
		state->pending[pending_from(state, device, event->sector)].issued_ns =
			event->time_ns;
	}
}

/*
 * What was queued within these sectors is done: one request, or several that were merged; of one
 * that was split, the first part. Who asked for it, and how long it took, is the first one's.
 */
static void pending_complete(struct blkparse *state, uint32_t device, const struct event *event,
			     struct request *request)
{
	size_t at = pending_from(state, device, event->sector);
	bool any = false;

	while (at < state->pending_count && is_within(&state->pending[at], device, event)) {
		const struct pending *pending = &state->pending[at];
		uint64_t began_ns = pending->issued_ns ? pending->issued_ns : pending->queued_ns;

		if (!any) {
			request->thread = pending->thread;
			request->has_response = event->time_ns >= began_ns;
			request->response_ns = event->time_ns - began_ns;
		}
		any = true;
		pending_remove(state, at);
	}
}

/* ---- reading ---- */

/* The device's file. */
static uint32_t path_of(struct import *import, uint32_t device)
{
	struct blkparse *state = import->state;
	struct device *at = &state->by_device.at[device];

	if (!at->has_path) {
		const struct field name = {
			(const unsigned char *)path_text(state->devices, device),
			path_bytes(state->devices, device),
		};

		at->has_path = request_path(import, "", &name, &at->path);
		assert(at->has_path); /* is_device() */
	}
	return at->path;
}

/* "206848 + 64 <- (8,2) 2048": from a sector of that device. */
static void remap_survey(struct blkparse *state, const struct event *event)
{
	const unsigned char *end = event->rest.at + event->rest.bytes;
	const unsigned char *open = memchr(event->rest.at, '(', event->rest.bytes);
	const unsigned char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
	struct field name;
	struct remap remap;

	if (!close)
		return;
	name = (struct field){open + 1, (size_t)(close - open - 1)};
	if (!is_device(&name) || state->remap_count == REMAPS_MAX)
		return;
	remap.above = device_find(state, &name);
	remap.below = device_find(state, &event->device);
	for (size_t i = 0; i < state->remap_count; i++) {
		if (state->remaps[i].above == remap.above && state->remaps[i].below == remap.below)
			return;
	}
	state->remaps[state->remap_count++] = remap;
}

/* First reading: which stages are there, and how far does the device reach? */
static void event_survey(struct import *import, const struct event *event)
{
	struct blkparse *state = import->state;
	enum request_kind kind = kind_of(event);
	enum stage stage = stage_of(event);
	uint32_t device;

	if (event->action[0] == 'A')
		remap_survey(state, event);
	if (stage == STAGE_COUNT || !event->sectors)
		return;
	device = device_find(state, &event->device);
	state->by_device.at[device].has[stage] = true;
	if ((kind == REQUEST_READ || kind == REQUEST_WRITE) && !event->has_failed)
		import_file_found(import, path_of(import, device),
				  (event->sector + event->sectors) * SECTOR_BYTES);
}

static enum stage stage_taken(const struct device *device)
{
	return device->has[STAGE_COMPLETED] ? STAGE_COMPLETED
	       : device->has[STAGE_ISSUED]  ? STAGE_ISSUED
					    : STAGE_QUEUED;
}

static struct request request_of(struct import *import, const struct event *event, uint32_t device)
{
	struct request request = {
		.kind = kind_of(event),
		.stamp = event->time_ns,
		.offset = event->sector * SECTOR_BYTES,
		.bytes = event->sectors * SECTOR_BYTES,
		.thread = (uint32_t)event->thread,
		.has_failed = event->has_failed,
	};

	if ((request.kind == REQUEST_READ || request.kind == REQUEST_WRITE) && request.bytes)
		request.path = path_of(import, device);
	return request;
}

/* A line is of the stage at which its device is read, or it says more of a request that is. */
static bool event_deliver(struct import *import, const struct row *row, const struct event *event,
			  struct op *op, bool *is_op, struct error *error)
{
	struct blkparse *state = import->state;
	enum stage stage = stage_of(event);
	struct request request;
	uint32_t device;

	if (event->action[0] == 'A')
		import_note(import, &remaps, 1, row->line);
	if (stage == STAGE_COUNT) {
		import_note(import, &other_lines, 1, row->line);
		return true;
	}
	device = device_find(state, &event->device);
	if (event->sectors && stage == STAGE_QUEUED)
		pending_add(import, device, event, row->line);
	if (event->sectors && stage == STAGE_ISSUED)
		pending_issue(import, device, event, row->line);
	if (stage != stage_taken(&state->by_device.at[device]) ||
	    state->by_device.at[device].is_left_out) {
		import_note(import, &other_lines, 1, row->line);
		return true;
	}
	if (!event->has_sectors && kind_of(event) != REQUEST_FLUSH) {
		import_note(import, &commands, 1, row->line);
		return true;
	}
	request = request_of(import, event, device);
	if (stage == STAGE_COMPLETED)
		pending_complete(state, device, event, &request);
	return request_read(import, &state->requests, &request, row, op, is_op, error);
}

/* What the last line leaves behind. */
static void end_note(struct import *import)
{
	struct blkparse *state = import->state;

	for (size_t i = 0; i < state->pending_count; i++) {
		const struct pending *pending = &state->pending[i];

		/* Where nothing completes, or nobody looks, nothing is unfinished. */
		if (stage_taken(&state->by_device.at[pending->device]) == STAGE_COMPLETED)
			pending_unfinished(import, pending);
	}
	state->pending_count = 0;
	for (size_t i = 0; i < state->by_device.count; i++) {
		const struct device *device = &state->by_device.at[i];

		if (!device->has_path)
			continue;
		if (device->is_left_out)
			import_note(import, &left_out_above, 1, 0);
		else if (stage_taken(device) == STAGE_ISSUED)
			import_note(import, &by_issue, 1, 0);
		else if (stage_taken(device) == STAGE_QUEUED)
			import_note(import, &by_queue, 1, 0);
	}
	for (size_t i = 0; i < state->remap_count; i++) {
		const struct device *above = &state->by_device.at[state->remaps[i].above];
		const struct device *below = &state->by_device.at[state->remaps[i].below];

		if (above->has_path && below->has_path && !above->is_left_out)
			import_note(import, &stacked, 1, 0);
	}
}

static bool row_read(struct import *import, const struct row *row, struct op *op, bool *is_op,
		     struct error *error)
{
	struct blkparse *state = import->state;
	struct event event;

	*is_op = false;
	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the row is longer than 64 KiB");
	if (!is_event(row)) {
		if (is_around(state, row)) {
			losses_note(import, row);
			return true;
		}
		if (row->is_ended)
			return row_wrong(import, row, NULL, error,
					 "a device was expected at the beginning, as in \"8,0\"");
	}
	if (!event_read(import, row, &event, error)) {
		if (row->is_ended)
			return false;
		import_note(import, &import_last_line_cut, 1, row->line);
		return true;
	}
	state->in_summary = false;
	if (event.time_ns < state->latest_ns)
		import_note(import, &unordered_lines, 1, row->line);
	else
		state->latest_ns = event.time_ns;
	import_stamp(import, event.time_ns);
	if (!import->is_second)
		event_survey(import, &event);
	else if (!event_deliver(import, row, &event, op, is_op, error))
		return false;
	import->rows++;
	return true;
}

static bool blkparse_next(struct import *import, struct op *ops, size_t count, size_t *got,
			  struct error *error)
{
	struct blkparse *state = import->state;

	if (!rows_ops(&state->rows, import, row_read, ops, count, got, error))
		return false;
	if (import->is_second && *got == 0)
		end_note(import);
	return true;
}

static bool blkparse_begin(struct import *import, struct error *error)
{
	struct blkparse *state = import->state;

	(void)error;
	state->devices = path_table_create();
	/* Times count from the recording's start. */
	state->requests = (struct requests){.tick_ns = 1, .any = true};
	return true;
}

static bool blkparse_again(struct import *import, struct error *error)
{
	struct blkparse *state = import->state;

	(void)error;
	for (size_t i = 0; i < state->remap_count; i++) {
		struct device *above = &state->by_device.at[state->remaps[i].above];
		const struct device *below = &state->by_device.at[state->remaps[i].below];

		above->is_left_out |= !above->has[STAGE_COMPLETED] && below->has[STAGE_COMPLETED];
	}
	state->rows = (struct rows){0};
	state->in_summary = false;
	state->latest_ns = 0;
	return true;
}

static void blkparse_end(struct import *import)
{
	struct blkparse *state = import->state;

	if (!state)
		return;
	path_table_destroy(state->devices);
	array_deinit(&state->by_device);
}

/* Of the lines in sight, three quarters look like events. */
static enum import_match blkparse_match(const unsigned char *head, size_t bytes, bool whole)
{
	const unsigned char *at = head;
	unsigned int rows = 0, events = 0;
	struct field fields[FIELDS];
	uint64_t number;
	struct row row;

	while (row_peek(&at, head + bytes, whole, &row)) {
		static const char around[] = "Input file ";
		bool is_event_row;

		if ((size_t)(row.end - row.at) > sizeof(around) &&
		    memcmp(row.at, around, sizeof(around) - 1) == 0)
			continue;
		is_event_row = row_split(&row, ' ', fields, FIELDS) >= FIELDS &&
			       is_device(&fields[0]) &&
			       field_whole(&fields[1], false, &number) == NUMBER_FINE &&
			       field_whole(&fields[2], false, &number) == NUMBER_FINE &&
			       field_scaled(&fields[3], 1, &number) == NUMBER_FINE &&
			       field_whole(&fields[4], false, &number) == NUMBER_FINE &&
			       fields[5].bytes <= 2;
		/* A file's last line may be cut in its middle. */
		rows += is_event_row || row.is_ended || !rows;
		events += is_event_row;
	}
	return rows && events * 4 >= rows * 3 ? IMPORT_LIKELY : IMPORT_NO;
}

const struct import_format format_blkparse = {
	.about = {.name = "blkparse", .summary = "blkparse's default text (of blktrace)"},
	.readings = IMPORT_TWICE,
	.state_bytes = sizeof(struct blkparse),
	.match = blkparse_match,
	.begin = blkparse_begin,
	.again = blkparse_again,
	.next = blkparse_next,
	.end = blkparse_end,
};
