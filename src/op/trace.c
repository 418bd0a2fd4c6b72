#include "op/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
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

static const struct import_format *format_choose(struct input *input, const char *name,
						 struct error *error)
{
	const struct import_format *format;
	char names[200];

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
	format = format_recognise(input);
	if (!format)
		error_at(error, input->name, 0, 0,
			 "is not a trace in any known format (%s); what it holds is not text",
			 names);
	return format;
}

static bool import_next(struct op_source *source, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct import *import = (struct import *)source;
	struct error failure;

	*got = 0;
	if (import->failure.kind != ERROR_NONE) {
		*error = import->failure;
		return false;
	}
	if (import->ended || count == 0)
		return true;
	if (!import->format->next(import, ops, count, got, &failure)) {
		import->ended = true;
		if (!import->lenient || !import->input->cut_off)
			import->failure = failure;
	} else if (*got == 0) {
		import->ended = true;
	}
	import->delivered += *got;
	if (import->ended && import->delivered == 0 && import->failure.kind == ERROR_NONE)
		error_at(&import->failure, import->input->name, 0, 0,
			 import->input->cut_off ? "cut off before its first operation"
			 : import->skipped      ? "holds no operations (%" PRIu64
					     " wrong rows were skipped)"
					   : "holds no operations",
			 import->skipped);
	if (*got == 0 && import->failure.kind != ERROR_NONE) {
		*error = import->failure;
		return false;
	}
	return true;
}

static void import_progress(const struct op_source *source, uint64_t *done, uint64_t *total)
{
	input_progress(((const struct import *)source)->input, done, total);
}

static void import_destroy(struct op_source *source)
{
	struct import *import = (struct import *)source;

	if (import->format && import->format->end)
		import->format->end(import);
	memory_free(import->state);
	input_close(import->input);
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
	import->lenient = options->lenient;
	import->input = input_open(path, error);
	if (!import->input)
		goto failed;
	import->source.name = import->input->name;
	import->format = format_choose(import->input, options->format, error);
	if (!import->format)
		goto failed;
	import->source.format = import->format->about.name;
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
