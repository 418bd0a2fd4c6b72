#include "op/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "op/file_set.h"
#include "op/import.h"

const struct trace_format *trace_format_at(size_t index)
{
	const struct import_format *format = import_format_at(index);

	return format ? &format->about : NULL;
}

bool import_is_text(const unsigned char *head, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (head[i] < 0x20 && !strchr("\t\n\r\f\v\033", head[i]))
			return false;
		if (head[i] == 0)
			return false;
	}
	return true;
}

static const struct import_format *format_named(const char *name)
{
	const struct import_format *format;

	for (size_t i = 0; (format = import_format_at(i)); i++) {
		if (strcasecmp(format->about.name, name) == 0 ||
		    (format->about.alias && strcasecmp(format->about.alias, name) == 0))
			return format;
	}
	return NULL;
}

/* "refault-trace, csv, oraclegeneral" */
static const char *format_names(char *text, size_t bytes)
{
	const struct import_format *format;
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; (format = import_format_at(i)) && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "",
					 format->about.name);
	return text;
}

static const struct import_format *format_recognise(const struct input *input)
{
	size_t bytes = input_visible(input);
	bool whole = input->last && bytes <= IMPORT_HEAD_BYTES;
	const struct import_format *format, *best = NULL;
	enum import_match surest = IMPORT_NO;

	if (bytes > IMPORT_HEAD_BYTES)
		bytes = IMPORT_HEAD_BYTES;
	for (size_t i = 0; (format = import_format_at(i)); i++) {
		enum import_match match = format->match(input->at, bytes, whole);

		if (match > surest) {
			surest = match;
			best = format;
		}
	}
	return best;
}

/* What is not text, and whose format is not known: say what it is if that is easy to see. */
static void unknown_say(const struct input *input, const char *names, struct error *error)
{
	const unsigned char *at = input->at;
	size_t bytes = input_visible(input);

	if (bytes >= 512 && memcmp(at + 257, "ustar", 5) == 0)
		error_at(error, input->name, 0, 0,
			 "is a tar archive: hand over what is in it, as in tar -xOf FILE | refault "
			 "import --summary -");
	else if (bytes >= 4 && memcmp(at, "PK\3\4", 4) == 0)
		error_at(error, input->name, 0, 0,
			 "is a zip archive: hand over what is in it, as in unzip -p FILE | refault "
			 "import --summary -");
	else if (bytes >= 2 && (memcmp(at, "\xff\xfe", 2) == 0 || memcmp(at, "\xfe\xff", 2) == 0))
		error_at(error, input->name, 0, 0,
			 "is text in UTF-16: convert it, as in iconv -f UTF-16 -t UTF-8");
	else
		error_at(error, input->name, 0, 0,
			 "is not a trace in any known format (%s); what it holds is not text",
			 names);
}

static const struct import_format *format_choose(struct input *input, const char *name,
						 const char *columns, struct error *error)
{
	const struct import_format *format;
	char names[300];

	format_names(names, sizeof(names));
	if (name && !format_named(name)) {
		error_input(error, "no trace format \"%.80s\" (known: %s)", name, names);
		return NULL;
	}
	/*
	 * A file cut off within its first bytes may still be recognised: the failure comes again
	 * when they are used up.
	 */
	if (!input_fill(input, IMPORT_HEAD_BYTES, error) && input_visible(input) == 0)
		return NULL;
	if (input_visible(input) == 0) {
		error_at(error, input->name, 0, 0, "is empty: no operations");
		return NULL;
	}
	if (name)
		return format_named(name);
	if (columns)
		return format_named("text");
	format = format_recognise(input);
	if (!format)
		unknown_say(input, names, error);
	return format;
}

/* ---- reading ---- */

/* The reader says that it is done, or failed: what of that is a failure of the whole? */
static void reading_end(struct import *import, const struct error *failure)
{
	import->ended = true;
	if (failure && (!import->lenient || !import->input->cut_off))
		import->failure = *failure;
	else if (import->skipped * 100 > import->rows && !import->is_second)
		import_too_many_wrong(import, &import->failure);
}

static bool reads_twice(const struct import *import)
{
	return import->format->readings == IMPORT_TWICE ||
	       (import->format->readings == IMPORT_TWICE_FOR_FILES && !import->is_bare);
}

/* Of two readings, the first is the first half. */
static void import_progress(const struct op_source *source, uint64_t *done, uint64_t *total)
{
	const struct import *import = (const struct import *)source;

	input_progress(import->input, done, total);
	if (!reads_twice(import))
		return;
	if (import->is_second)
		*done += *total;
	*total *= 2;
}

/*
 * The first of two readings: all notes, all files that are found to have been there, and every
 * mistake, before anything is delivered.
 */
static bool first_reading(struct import *import)
{
	enum { BATCHES_A_WORD = 256 };
	struct op ops[256];
	struct error failure;
	uint64_t done, total;
	size_t got = 1;

	for (unsigned int batch = 1; !import->ended; batch++) {
		if (import->progress && batch % BATCHES_A_WORD == 0) {
			import_progress(&import->source, &done, &total);
			import->progress(import->progress_context, done, total);
		}
		if (!import->format->next(import, ops, 256, &got, &failure))
			reading_end(import, &failure);
		else if (got == 0)
			reading_end(import, NULL);
	}
	return import->failure.kind == ERROR_NONE;
}

static bool second_reading_begin(struct import *import)
{
	const struct import_format *format = import->format;
	struct error *failure = &import->failure;

	import->is_second = true;
	import->ended = false;
	import->first_rows = import->rows;
	import->rows = 0;
	if (!input_again(import->input, failure))
		return false;
	if (format->again)
		return format->again(import, failure);
	if (format->end)
		format->end(import);
	memset(import->state, 0, format->state_bytes);
	return !format->begin || format->begin(import, failure);
}

/* Files that were there before the start, in the order in which they are first named. */
static size_t found_deliver(struct import *import, struct op *ops, size_t count)
{
	size_t given = 0;

	while (given < count && import->found_path < import->found.count) {
		uint32_t path = import->found_path++;

		if (import->found.at[path])
			ops[given++] = (struct op){
				.kind = OP_EXISTS,
				.path = path,
				.bytes = import->found.at[path] - 1,
			};
	}
	return given;
}

static bool import_next(struct op_source *source, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct import *import = (struct import *)source;
	struct error failure;

	*got = 0;
	if (count == 0)
		return true;
	if (reads_twice(import) && !import->is_second && !import->ended) {
		if (!first_reading(import) || !second_reading_begin(import))
			import->ended = true;
	}
	if (import->failure.kind != ERROR_NONE) {
		*error = import->failure;
		return false;
	}
	if (import->is_second && !import->is_bare)
		*got = found_deliver(import, ops, count);
	if (*got || import->ended)
		return true;
	if (!import->format->next(import, ops, count, got, &failure))
		reading_end(import, &failure);
	else if (*got == 0)
		reading_end(import, NULL);
	import->delivered += *got;
	if (import->ended && import->delivered == 0 && import->failure.kind == ERROR_NONE)
		error_at(&import->failure, import->input->name, 0, 0,
			 import->input->cut_off ? "cut off before its first operation"
						: "holds no operations");
	if (*got == 0 && import->failure.kind != ERROR_NONE) {
		*error = import->failure;
		return false;
	}
	return true;
}

static void import_destroy(struct op_source *source)
{
	struct import *import = (struct import *)source;

	if (import->format && import->format->end)
		import->format->end(import);
	memory_free(import->state);
	import_notes_deinit(import);
	array_deinit(&import->found);
	input_close(import->input);
	file_set_destroy(import->files);
	path_table_destroy(source->paths);
	memory_free(import);
}

static const struct op_source_interface import_interface = {
	.next = import_next,
	.progress = import_progress,
	.destroy = import_destroy,
};

struct op_source *trace_open(const char *path, const struct trace_options *options,
			     struct error *error)
{
	static const struct trace_options defaults;
	struct import *import = memory_alloc(1, sizeof(*import));

	if (!options)
		options = &defaults;
	import->source.interface = &import_interface;
	import->source.paths = path_table_create();
	import->own_streams = options->own_streams;
	import->lenient = options->lenient;
	import->is_bare = options->is_bare;
	import->columns = options->columns;
	import->files = file_set_find(path);
	if (import->files)
		path = import->files->members.at[0].path;
	import->progress = options->progress;
	import->progress_context = options->progress_context;
	import->input = input_open(path, error);
	if (!import->input)
		goto failed;
	import->source.name = import->input->name;
	import->format = format_choose(import->input, options->format, options->columns, error);
	if (!import->format)
		goto failed;
	import->source.format = import->format->about.name;
	if (import->columns && !import->format->about.takes_columns) {
		error_input(error,
			    "columns were named, but %.120s is read as %s, which has its own",
			    import->input->name, import->format->about.name);
		goto failed;
	}
	if (import->files && import->files->members.count > 1 && !import->format->reads_sets) {
		error_input(error,
			    "%.120s and %zu more files: several files are one trace only if "
			    "strace -ff wrote them, and this is %s",
			    path, import->files->members.count - 1, import->format->about.name);
		goto failed;
	}
	if (!reads_twice(import))
		input_keep_nothing(import->input);
	import->state = memory_alloc(1, import->format->state_bytes);
	if (import->format->begin && !import->format->begin(import, error))
		goto failed;
	return &import->source;

failed:
	import_destroy(&import->source);
	return NULL;
}

/* NULL: a scenario, which has no rows to skip and no end to lose. */
static const struct import *import_of(const struct op_source *source)
{
	return source->interface == &import_interface ? (const struct import *)source : NULL;
}

const char *trace_facts(const struct op_source *source)
{
	return import_of(source) && import_of(source)->facts ? import_of(source)->facts : "";
}

bool trace_fact(const struct op_source *source, const char *key, char *value, size_t bytes)
{
	size_t length = strlen(key);

	for (const char *line = trace_facts(source); *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');
		size_t room = bytes - 1;

		if (strncmp(line, key, length) != 0 || line[length] != '=')
			continue;
		line += length + 1;
		if (room > (size_t)(end - line))
			room = (size_t)(end - line);
		memcpy(value, line, room);
		value[room] = '\0';
		return true;
	}
	return false;
}

static uint64_t fact_number(const struct op_source *source, const char *key)
{
	char value[24];

	return trace_fact(source, key, value, sizeof(value)) ? strtoull(value, NULL, 10) : 0;
}

bool trace_coverage(const struct op_source *source, uint64_t *explained_pages,
		    uint64_t *inserted_pages)
{
	*inserted_pages = fact_number(source, "inserted_pages");
	*explained_pages = fact_number(source, "inserted_pages_by_calls") +
			   fact_number(source, "inserted_pages_by_faults") +
			   fact_number(source, "inserted_pages_by_exec");
	return *inserted_pages > 0 && *explained_pages <= *inserted_pages;
}

uint64_t trace_rows(const struct op_source *source)
{
	const struct import *import = import_of(source);

	return !import ? 0 : import->is_second ? import->first_rows : import->rows;
}

bool trace_span(const struct op_source *source, uint64_t *ns)
{
	const struct import *import = import_of(source);

	if (!import || !import->has_stamps)
		return false;
	*ns = import->stamp_last_ns - import->stamp_first_ns + import->early_ns;
	return true;
}

const struct histogram *trace_responses(const struct op_source *source, bool of_writes)
{
	const struct import *import = import_of(source);

	return import && import->responses[of_writes].count ? &import->responses[of_writes] : NULL;
}

const struct trace_note *trace_note_at(const struct op_source *source, size_t index)
{
	const struct import *import = import_of(source);

	return import && index < import->notes.count ? &import->notes.at[index] : NULL;
}

uint64_t trace_skipped(const struct op_source *source)
{
	return import_of(source) ? import_of(source)->skipped : 0;
}

bool trace_is_cut_off(const struct op_source *source)
{
	return import_of(source) && import_of(source)->input->cut_off;
}

bool trace_has_files(const struct op_source *source)
{
	return !import_of(source) || !import_of(source)->format->about.is_objects;
}
