#include "state/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "state/dump.h"
#include "state/state_private.h"

struct state *state_create(const struct state_options *options)
{
	struct state *state = memory_alloc(1, sizeof(*state));

	if (options)
		state->options = *options;
	return state;
}

void state_destroy(struct state *state)
{
	if (!state)
		return;
	for (size_t i = 0; i < state->dumps.count; i++)
		array_deinit(&state->dumps.at[i]->entries);
	array_deinit(&state->dumps);
	array_deinit(&state->series);
	array_deinit(&state->cgroups);
	array_deinit(&state->cgroup_series);
	array_deinit(&state->notes);
	arena_deinit(&state->arena);
	memory_free(state);
}

static const char *text_va(struct state *state, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

static const char *text_va(struct state *state, const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	return arena_text(&state->arena, text, strlen(text));
}

const char *state_text(struct state *state, const char *format, ...)
{
	va_list arguments;
	const char *text;

	va_start(arguments, format);
	text = text_va(state, format, arguments);
	va_end(arguments);
	return text;
}

void state_note(struct state *state, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	*array_push(&state->notes) = text_va(state, format, arguments);
	va_end(arguments);
}

const char *dump_name(enum dump_id id)
{
	return dump_kind(id)->name;
}

const char *dump_title(enum dump_id id)
{
	return dump_kind(id)->title;
}

const struct entry *dump_entry(const struct dump *dump, const char *name)
{
	for (size_t i = 0; dump && i < dump->entries.count; i++) {
		if (strcmp(dump->entries.at[i].name, name) == 0)
			return &dump->entries.at[i];
	}
	return NULL;
}

bool cgroup_is(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct series *state_series(const struct state *state, enum dump_id id, const char *cgroup,
				  const char *name)
{
	size_t end, at = series_of(state, cgroup, &end);

	for (; at < end; at++) {
		const struct series *series = &state->series.at[at];

		if (series->id == id && (!name || strcmp(series->name, name) == 0))
			return series;
	}
	return NULL;
}

bool state_finish(struct state *state, struct error *error)
{
	series_make(state);
	return page_bytes_find(state, error);
}
