#include "op/carried.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"

/* ---- facts ---- */

void fact_add(struct fact_text *facts, const char *key, const char *format, ...)
{
	char line[2 * TRACE_NOTE_BYTES];
	va_list arguments;
	int used = snprintf(line, sizeof(line), "%s=", key);

	va_start(arguments, format);
	vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);
	va_end(arguments);
	/* A value is one line, whatever is in it. */
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	strcat(line, "\n");
	fact_lines_add(facts, line);
}

void fact_lines_add(struct fact_text *facts, const char *lines)
{
	if (facts->text.count)
		facts->text.count--; /* the NUL */
	do
		*array_push(&facts->text) = *lines;
	while (*lines++);
}

const char *fact_text(const struct fact_text *facts)
{
	return facts->text.count ? facts->text.at : "";
}

void fact_text_deinit(struct fact_text *facts)
{
	array_deinit(&facts->text);
}

/* ---- notes as facts ---- */

/* "37", or "-" where there is none. */
static const char *number_or_none(char text[24], bool is_there, uint64_t number)
{
	snprintf(text, 24, "%" PRIu64, number);
	return is_there ? text : "-";
}

void carried_notes(struct fact_text *facts, const struct op_source *source)
{
	const struct trace_note *note;
	char told[2];
	uint64_t span_ns;

	if (!trace_fact(source, "span_ns", told, sizeof(told)) && trace_span(source, &span_ns))
		fact_add(facts, "span_ns", "%" PRIu64, span_ns);
	for (size_t i = 0; (note = trace_note_at(source, i)); i++) {
		char count[24], line[24];

		if (note->of != &import_carried)
			fact_add(facts, note->is_warning ? "warning" : "note", "%s %s %s %s",
				 note->key, number_or_none(count, note->is_counted, note->count),
				 number_or_none(line, note->line, note->line), note->text);
	}
}

/* ---- facts as notes ---- */

/* What `refault record` counts, in docs/record.md; told if there is any. */
static const struct {
	const char *fact;
	struct import_remark remark;
} counted[] = {
	{"events_lost",
	 {"lost_events", "event did not fit the recorder's buffer: what it told is missing",
	  "events did not fit the recorder's buffer: what they told is missing", true}},
	{"events_skipped",
	 {"events_skipped", "event came in the middle of another one, and is missing",
	  "events came in the middle of others, and are missing", true}},
	{"ops_left_out",
	 {"ops_left_out", "operation contradicted others, and was left out",
	  "operations contradicted others, and were left out", false}},
	{"calls_unseen",
	 {"calls_unseen", "operation by io_submit, or of io_uring's rarer kinds, was not recorded",
	  "operations by io_submit, or of io_uring's rarer kinds, were not recorded", true}},
	{"calls_of_32_bit",
	 {"calls_of_32_bit", "call of a 32-bit program was not recorded",
	  "calls of 32-bit programs were not recorded", true}},
	{"paths_unread",
	 {"paths_unread", "name could not be read", "names could not be read", false}},
	{"paths_unknown",
	 {"paths_unknown", "name could not be placed", "names could not be placed", false}},
	{"inserted_pages_lost",
	 {"inserted_pages_lost",
	  "page came into the page cache by what did not fit the recorder's buffer",
	  "pages came into the page cache by what did not fit the recorder's buffer", false}},
	{"cached_pages_at_start",
	 {"cached_pages_at_start",
	  "page was in memory before it was used first, and is not in the trace",
	  "pages were in memory before they were used first, and are not in the trace", false}},
};

static bool number_take(const char **at, char after, bool *is_there, uint64_t *number)
{
	char *end;

	*is_there = **at != '-';
	*number = 0;
	if (!*is_there) {
		(*at)++;
	} else {
		if (**at < '0' || **at > '9')
			return false;
		errno = 0;
		*number = strtoull(*at, &end, 10);
		*at = end;
		if (errno)
			return false;
	}
	return *(*at)++ == after;
}

/* "KEY COUNT LINE TEXT". What is not like that is some other tool's: left alone. */
static void note_tell(struct import *import, const char *value, bool is_warning)
{
	struct trace_note note = {.is_warning = is_warning};
	char key[64];
	size_t key_bytes = strcspn(value, " ");
	bool has_line;

	if (key_bytes == 0 || key_bytes >= sizeof(key) || value[key_bytes] != ' ')
		return;
	memcpy(key, value, key_bytes);
	key[key_bytes] = '\0';
	value += key_bytes + 1;
	if (!number_take(&value, ' ', &note.is_counted, &note.count) ||
	    !number_take(&value, ' ', &has_line, &note.line) || !*value)
		return;
	note.key = key;
	note.text = value;
	import_carry(import, &note);
}

static void count_tell(struct import *import, const char *key, const char *value)
{
	uint64_t count = strtoull(value, NULL, 10);

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		const struct import_remark *remark = &counted[i].remark;
		const struct trace_note note = {
			.key = remark->key,
			.text = count == 1 ? remark->one : remark->many,
			.is_counted = true,
			.count = count,
			.is_warning = remark->is_warning,
		};

		if (strcmp(counted[i].fact, key) == 0)
			import_carry(import, &note);
	}
}

static void sentence_tell(struct import *import, const char *key, bool is_warning,
			  const char *before, const char *value, const char *after)
{
	char text[TRACE_NOTE_BYTES / 2];
	const struct trace_note note = {.key = key, .text = text, .is_warning = is_warning};

	snprintf(text, sizeof(text), "%s%.150s%s", before, value, after);
	import_carry(import, &note);
}

static void fact_tell(struct import *import, const char *key, const char *value)
{
	if (strcmp(key, "note") == 0 || strcmp(key, "warning") == 0) {
		note_tell(import, value, key[0] == 'w');
	} else if (strcmp(key, "span_ns") == 0) {
		import_stamp(import, 0);
		import_stamp(import, strtoull(value, NULL, 10));
	} else if (strcmp(key, "imported_from") == 0) {
		sentence_tell(import, key, false, "imported from ", value,
			      ": lines are those of what was read then");
	} else if (strcmp(key, "recorded") == 0) {
		sentence_tell(import, "mapped_hits_unseen", false,
			      "mapped pages that are used again are not in a recording: only a "
			      "page's first use faults",
			      "", "");
	} else if (strcmp(key, "tracepoints_missing") == 0 && *value) {
		sentence_tell(import, key, true,
			      "not recorded, for want of tracepoints in that kernel: ", value, "");
	} else {
		count_tell(import, key, value);
	}
}

void carried_tell(struct import *import, const char *facts)
{
	while (*facts) {
		const char *end = strchr(facts, '\n'), *equals = strchr(facts, '=');
		char *line = memory_alloc((size_t)(end - facts) + 1, 1);

		memcpy(line, facts, (size_t)(end - facts));
		line[equals - facts] = '\0';
		fact_tell(import, line, line + (equals - facts) + 1);
		memory_free(line);
		facts = end + 1;
	}
}
