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

	if (import->is_second)
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

void import_remark(struct import *import, const char *key, bool is_warning, uint64_t line,
		   const char *format, ...)
{
	static const struct import_remark left_out = {
		.key = "remarks_left_out",
		.one = "more remark like these was left out",
		.many = "more remarks like these were left out",
		.is_warning = true,
	};
	char text[TRACE_NOTE_BYTES / 2];
	va_list arguments;

	if (import->is_second)
		return;
	if (import->remark_count == REMARKS_MAX) {
		import_note(import, &left_out, 1, line);
		return;
	}
	import->remark_count++;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	*array_push(&import->notes) = (struct trace_note){
		.key = key,
		.text = arena_text(&import->note_texts, text, strlen(text)),
		.line = line,
		.is_warning = is_warning,
	};
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
	if (import->skipped <= WRONG_ROWS_TOLD_MAX)
		import_remark(import, "skipped_row", true, error->line, "left out: %s",
			      error->message);
	if (import->skipped >= WRONG_ROWS_HOPELESS && import->skipped > import->rows / 2)
		return import_too_many_wrong(import, error);
	return true;
}

void import_notes_deinit(struct import *import)
{
	array_deinit(&import->notes);
	arena_deinit(&import->note_texts);
}
