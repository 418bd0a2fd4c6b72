#include "op/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

/* ---- what a reader has to say ---- */

enum {
	REMARKS_MAX = 100,          /* sentences of their own */
	WRONG_ROWS_TOLD_MAX = 20,   /* one by one */
	WRONG_ROWS_HOPELESS = 10000 /* and most of all so far: there is no need to see the end */
};

/* Of two readings, which one is it whose notes count? */
static bool is_told(const struct import *import)
{
	return import->is_second == (import->format->readings == IMPORT_TWICE);
}

static struct trace_note *note_find(struct import *import, const void *of)
{
	for (size_t i = 0; i < import->notes.count; i++) {
		if (import->notes.at[i].of == of)
			return &import->notes.at[i];
	}
	return NULL;
}

void import_note(struct import *import, const struct import_remark *remark, uint64_t count,
		 uint64_t line)
{
	struct trace_note *note;

	if (!is_told(import))
		return;
	note = note_find(import, remark);
	if (!note) {
		note = array_push(&import->notes);
		*note = (struct trace_note){
			.key = remark->key,
			.is_counted = remark->many != NULL,
			.is_warning = remark->is_warning,
			.of = remark,
		};
	}
	if (note->count == 0)
		note->line = line;
	note->count += count;
	note->text = note->count == 1 || !remark->many ? remark->one : remark->many;
}

static void remark_add(struct import *import, const char *key, bool is_warning, uint64_t line,
		       const char *text)
{
	static const struct import_remark left_out = {
		.key = "remarks_left_out",
		.one = "more remark like these was left out",
		.many = "more remarks like these were left out",
		.is_warning = true,
	};

	if (import->remark_count == REMARKS_MAX) {
		import_note(import, &left_out, 1, line);
		return;
	}
	import->remark_count++;
	*array_push(&import->notes) = (struct trace_note){
		.key = key,
		.text = arena_text(&import->note_texts, text, strlen(text)),
		.line = line,
		.is_warning = is_warning,
	};
}

void import_remark(struct import *import, const char *key, bool is_warning, uint64_t line,
		   const char *format, ...)
{
	char text[TRACE_NOTE_BYTES / 2];
	va_list arguments;

	if (!is_told(import))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	remark_add(import, key, is_warning, line, text);
}

const struct import_remark import_carried;

void import_carry(struct import *import, const struct trace_note *note)
{
	enum { CARRIED_MAX = 1000 };
	struct trace_note *kept;

	if (!is_told(import) || import->notes.count >= CARRIED_MAX)
		return;
	kept = array_push(&import->notes);
	*kept = *note;
	kept->key = arena_text(&import->note_texts, note->key, strlen(note->key));
	kept->text = arena_text(&import->note_texts, note->text, strlen(note->text));
	kept->of = &import_carried;
}

void import_stamp(struct import *import, uint64_t stamp_ns)
{
	if (!import->has_stamps)
		import->stamp_first_ns = stamp_ns;
	if (!import->has_stamps || stamp_ns > import->stamp_last_ns)
		import->stamp_last_ns = stamp_ns;
	if (import->has_stamps && stamp_ns < import->stamp_first_ns)
		import_early(import, import->stamp_first_ns - stamp_ns);
	import->has_stamps = true;
}

void import_early(struct import *import, uint64_t ns)
{
	if (ns > import->early_ns)
		import->early_ns = ns;
}

const char *trace_note_format(char text[TRACE_NOTE_BYTES], const struct trace_note *note)
{
	char count[2 * SIZE_TEXT_BYTES + 1] = "", place[48] = "";

	if (note->is_counted) {
		count_format(count, note->count);
		strcat(count, " ");
	}
	if (note->line && (!note->is_counted || note->count == 1))
		snprintf(place, sizeof(place), " (line %" PRIu64 ")", note->line);
	else if (note->line)
		snprintf(place, sizeof(place), " (the first in line %" PRIu64 ")", note->line);
	snprintf(text, TRACE_NOTE_BYTES, "%s%s%s", count, note->text, place);
	return text;
}

/* ---- wrong rows ---- */

const struct import_remark import_last_line_cut = {
	.key = "last_line_cut_off",
	.one = "the last line ends in its middle and was left out",
	.is_warning = true,
};

bool import_too_many_wrong(struct import *import, struct error *error)
{
	char wrong[2 * SIZE_TEXT_BYTES], all[2 * SIZE_TEXT_BYTES];

	*error = import->wrong;
	return error_context(error,
			     "%s of %s rows cannot be read, and more than 1 %% is too many: the "
			     "first",
			     count_format(wrong, import->skipped), count_format(all, import->rows));
}

bool import_row_wrong(struct import *import, struct error *error)
{
	import->rows++;
	if (!import->lenient)
		return false;
	if (import->is_second)
		return true;
	if (import->skipped++ == 0)
		import->wrong = *error;
	if (import->skipped <= WRONG_ROWS_TOLD_MAX) {
		char text[TRACE_NOTE_BYTES / 2];

		snprintf(text, sizeof(text), "a row was left out: %.250s", error->message);
		remark_add(import, "skipped_row", true, error->line, text);
	}
	if (import->skipped >= WRONG_ROWS_HOPELESS && import->skipped > import->rows / 2)
		return import_too_many_wrong(import, error);
	return true;
}

void import_response(struct import *import, bool is_write, uint64_t ns)
{
	if (is_told(import))
		histogram_add(&import->responses[is_write], ns);
}

void import_notes_deinit(struct import *import)
{
	histogram_deinit(&import->responses[0]);
	histogram_deinit(&import->responses[1]);
	array_deinit(&import->notes);
	arena_deinit(&import->note_texts);
}
