#include "measure/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static_assert(COUNTER_COUNT < 64, "known is one bit a counter");

struct counter_row {
	const char *name;
	const char *meaning;
	enum counter_unit unit;
	bool is_level;
	size_t offset;
};

static const struct counter_row rows[COUNTER_COUNT] = {
#define ROW(name, unit, meaning, is_level)                                                         \
	{#name, meaning, COUNTER_UNIT_##unit, is_level, offsetof(struct counters, name)},
#define COUNTER(name, unit, meaning) ROW(name, unit, meaning, false)
#define LEVEL(name, unit, meaning)   ROW(name, unit, meaning, true)
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
#undef ROW
};

static const struct counter_row *row(enum counter_id id)
{
	assert(id < COUNTER_COUNT);
	return &rows[id];
}

const char *counter_name(enum counter_id id)
{
	return row(id)->name;
}

const char *counter_meaning(enum counter_id id)
{
	return row(id)->meaning;
}

enum counter_unit counter_unit(enum counter_id id)
{
	return row(id)->unit;
}

bool counter_is_level(enum counter_id id)
{
	return row(id)->is_level;
}

uint64_t counter_get(const struct counters *counters, enum counter_id id)
{
	return *(const uint64_t *)(const void *)((const char *)counters + row(id)->offset);
}

uint64_t *counter_at(struct counters *counters, enum counter_id id)
{
	return (uint64_t *)(void *)((char *)counters + row(id)->offset);
}

char *text_copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(memory_alloc(bytes, 1), text, bytes);
}

void result_note(struct result *result, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	result->notes =
		memory_resize(result->notes, result->note_count + 1, sizeof(*result->notes));
	result->notes[result->note_count++] = text_copy(text);
}

void result_deinit(struct result *result)
{
	for (size_t i = 0; i < result->note_count; i++)
		memory_free(result->notes[i]);
	memory_free(result->notes);
	for (size_t i = 0; i < result->in_kernel.file_count; i++)
		memory_free(result->in_kernel.files[i].path);
	memory_free(result->in_kernel.files);
	memory_free(result->marks_low);
	memory_free(result->marks_high);
	memory_free(result->kernel);
	memory_free(result->statistics);
	memory_free(result->input);
	memory_free(result->machine);
	memory_free(result->policy);
	memory_free(result->filesystem);
	for (size_t i = 0; i < result->mark_count; i++)
		memory_free(result->marks[i].label);
	memory_free(result->marks);
	for (size_t i = 0; i < result->stream_count; i++)
		memory_free(result->streams[i].name);
	memory_free(result->streams);
	memory_free(result->blame);
	memory_free(result->samples);
	*result = (struct result){0};
}
