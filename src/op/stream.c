#include "op/stream.h"

#include <assert.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "op/path.h"

struct stream_expression {
	regex_t regex;
	uint16_t stream;
};

struct stream_map {
	enum stream_rule rule;
	ARRAY(struct stream_expression) expressions;
	struct path_table *interned; /* stream names; a name's id + 1 is its stream */
	ARRAY(char *) names;         /* [0] is NULL, then into `interned` */
	ARRAY(uint16_t)
	by_path; /* 1 + stream; 1: no expression matched and the thread decides; 0: not looked at */
	uint32_t thread; /* the last one asked for, and its stream */
	uint16_t thread_stream;
};

struct stream_map *stream_map_create(enum stream_rule rule)
{
	struct stream_map *map = memory_alloc(1, sizeof(*map));

	map->rule = rule;
	map->interned = path_table_create();
	(void)array_push(&map->names);
	return map;
}

void stream_map_destroy(struct stream_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->expressions.count; i++)
		regfree(&map->expressions.at[i].regex);
	array_deinit(&map->expressions);
	array_deinit(&map->names);
	array_deinit(&map->by_path);
	path_table_destroy(map->interned);
	memory_free(map);
}

uint16_t stream_map_name(struct stream_map *map, const char *name, size_t bytes)
{
	static const char other[] = "other";
	uint32_t id;

	if (path_find(map->interned, name, bytes, &id))
		return (uint16_t)(id + 1);
	/* The last stream is kept for whatever does not fit any more. */
	if (path_count(map->interned) >= STREAM_COUNT_MAX - 1) {
		name = other;
		bytes = sizeof(other) - 1;
	}
	id = path_intern(map->interned, name, bytes);
	if (id + 1 == map->names.count)
		*array_push(&map->names) = (char *)path_text(map->interned, id);
	assert(id < STREAM_COUNT_MAX);
	return (uint16_t)(id + 1);
}

bool stream_map_add(struct stream_map *map, const char *regex_and_name, struct error *error)
{
	/* An expression may hold '=', a name hardly: the last one parts them. */
	const char *equals = strrchr(regex_and_name, '=');
	struct stream_expression expression;
	char *regex;
	int failure;

	if (!equals || equals == regex_and_name)
		return error_input(error, "stream \"%.80s\" is not REGEX=NAME", regex_and_name);
	if (equals[1] == '\0')
		return error_input(error,
				   "stream \"%.80s\" has no name after the =", regex_and_name);
	if (strlen(equals + 1) > PATH_BYTES_MAX)
		return error_input(error, "stream \"%.80s...\" has too long a name",
				   regex_and_name);
	regex = memory_alloc(1, (size_t)(equals - regex_and_name) + 1);
	memcpy(regex, regex_and_name, (size_t)(equals - regex_and_name));
	failure = regcomp(&expression.regex, regex, REG_EXTENDED | REG_NOSUB);
	if (failure) {
		char reason[128];

		regerror(failure, &expression.regex, reason, sizeof(reason));
		error_input(error, "stream \"%.80s\": bad regular expression \"%.80s\": %s",
			    regex_and_name, regex, reason);
		memory_free(regex);
		return false;
	}
	memory_free(regex);
	expression.stream = stream_map_name(map, equals + 1, strlen(equals + 1));
	*array_push(&map->expressions) = expression;
	map->by_path.count = 0; /* what was remembered may match now */
	return true;
}

/*
 * "wal12" -> "wal", "d/7/399" -> "d", "12/a" -> "12", "/var/log/x" -> "var"; "8,16" and "web,0" as
 * they are: a number behind a comma is a device's.
 */
static uint16_t stream_of_class(struct stream_map *map, const char *path)
{
	size_t bytes, name;

	while ((path[0] == '/' && path[1]) || (path[0] == '.' && path[1] == '/'))
		path += path[0] == '/' ? 1 : 2;
	bytes = strcspn(path, "/");
	if (bytes == 0)
		bytes = 1; /* the root */
	for (name = bytes; name > 0 && path[name - 1] >= '0' && path[name - 1] <= '9'; name--)
		;
	return stream_map_name(map, path, name && path[name - 1] != ',' ? name : bytes);
}

static uint16_t stream_of_thread(struct stream_map *map, uint32_t thread)
{
	char name[32];

	if (map->thread_stream && map->thread == thread)
		return map->thread_stream;
	snprintf(name, sizeof(name), "thread%" PRIu32, thread);
	map->thread = thread;
	map->thread_stream = stream_map_name(map, name, strlen(name));
	return map->thread_stream;
}

uint16_t stream_map_match(const struct stream_map *map, const char *path)
{
	for (size_t i = 0; i < map->expressions.count; i++) {
		if (regexec(&map->expressions.at[i].regex, path, 0, NULL, 0) == 0)
			return map->expressions.at[i].stream;
	}
	return STREAM_NONE;
}

static uint16_t stream_of_path(struct stream_map *map, const char *path)
{
	uint16_t matched = stream_map_match(map, path);

	if (matched != STREAM_NONE)
		return matched;
	switch (map->rule) {
	case STREAM_BY_PATH:
		return stream_map_name(map, path, strlen(path));
	case STREAM_BY_THREAD:
		return STREAM_NONE;
	case STREAM_BY_CLASS:
		break;
	}
	return stream_of_class(map, path);
}

uint16_t stream_map_get(struct stream_map *map, const struct path_table *paths, const struct op *op)
{
	uint16_t stream;

	if (op->kind == OP_MARK)
		return STREAM_NONE;
	if (op_kind_is_of_no_file(op->kind))
		return map->rule == STREAM_BY_THREAD ? stream_of_thread(map, op->thread)
						     : (uint16_t)STREAM_NONE;
	while (map->by_path.count < path_count(paths))
		*array_push(&map->by_path) = 0;
	assert(op->path < map->by_path.count);
	if (map->by_path.at[op->path] == 0)
		map->by_path.at[op->path] =
			(uint16_t)(stream_of_path(map, path_text(paths, op->path)) + 1);
	stream = (uint16_t)(map->by_path.at[op->path] - 1);
	return stream == STREAM_NONE ? stream_of_thread(map, op->thread) : stream;
}

char *const *stream_map_names(const struct stream_map *map)
{
	return map->names.at;
}

uint32_t stream_map_count(const struct stream_map *map)
{
	return (uint32_t)map->names.count;
}
