#include "source/yaml.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where each line begins; asked for each token, so looked up, not counted. */
static void lines_find(struct yaml *yaml)
{
	size_t count = 1;

	for (size_t i = 0; i < yaml->bytes; i++)
		count += yaml->text[i] == '\n';
	yaml->lines = arena_alloc(yaml->arena, count * sizeof(*yaml->lines));
	yaml->line_count = 1;
	for (size_t i = 0; i < yaml->bytes; i++) {
		if (yaml->text[i] == '\n')
			yaml->lines[yaml->line_count++] = i + 1;
	}
}

/* The byte after line `line` (from 0), without its line feed. */
static size_t line_end(const struct yaml *yaml, size_t line)
{
	return line + 1 < yaml->line_count ? yaml->lines[line + 1] - 1 : yaml->bytes;
}

static struct yaml_place place_of(const struct yaml *yaml, size_t begin, size_t end)
{
	size_t low = 0, high = yaml->line_count;

	if (begin > yaml->bytes)
		begin = yaml->bytes;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (yaml->lines[middle] <= begin)
			low = middle;
		else
			high = middle;
	}
	if (end > line_end(yaml, low))
		end = line_end(yaml, low);
	return (struct yaml_place){
		.line = low + 1,
		.column = begin - yaml->lines[low] + 1,
		.columns = end > begin ? end - begin : 1,
	};
}

static bool error_here(const struct yaml *yaml, struct yaml_place at, const char *origin,
		       struct error *error, const char *message)
{
	size_t begin;

	if (origin)
		return error_at(error, origin, 0, 0, "%s", message);
	error_at(error, yaml->name, at.line, at.column, "%s", message);
	error->columns = at.columns;
	if (at.line == 0 || at.line > yaml->line_count)
		return false;
	begin = yaml->lines[at.line - 1];
	return error_excerpt(error, yaml->text + begin, line_end(yaml, at.line - 1) - begin);
}

#define FORMAT_MESSAGE(message, format)                                                            \
	char message[480];                                                                         \
	do {                                                                                       \
		va_list arguments;                                                                 \
		va_start(arguments, format);                                                       \
		vsnprintf(message, sizeof(message), format, arguments);                            \
		va_end(arguments);                                                                 \
	} while (0)

static bool error_place(const struct yaml *yaml, struct yaml_place at, struct error *error,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

static bool error_place(const struct yaml *yaml, struct yaml_place at, struct error *error,
			const char *format, ...)
{
	FORMAT_MESSAGE(message, format);
	return error_here(yaml, at, NULL, error, message);
}

bool yaml_error(const struct yaml *yaml, const struct yaml_node *node, struct error *error,
		const char *format, ...)
{
	FORMAT_MESSAGE(message, format);
	return error_here(yaml, node->at, node->origin, error, message);
}

bool yaml_error_key(const struct yaml *yaml, const struct yaml_node *node, struct error *error,
		    const char *format, ...)
{
	FORMAT_MESSAGE(message, format);
	return error_here(yaml, node->key ? node->key_at : node->at, node->origin, error, message);
}

const char *yaml_describe(char text[128], const struct yaml_node *node)
{
	switch (node->kind) {
	case YAML_MAPPING:
		snprintf(text, 128, "a mapping of %zu keys", node->count);
		break;
	case YAML_SEQUENCE:
		snprintf(text, 128, "a list of %zu", node->count);
		break;
	case YAML_SCALAR:
		if (node->is_null)
			snprintf(text, 128, "nothing");
		else
			snprintf(text, 128, "\"%.80s\"", node->text);
		break;
	}
	return text;
}

struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key)
{
	if (!mapping || mapping->kind != YAML_MAPPING)
		return NULL;
	for (struct yaml_node *node = mapping->first; node; node = node->next) {
		if (strcmp(node->key, key) == 0)
			return node;
	}
	return NULL;
}

static void child_append(struct yaml_node *parent, struct yaml_node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->count++;
}

/* ---- reading ---- */

/* Bytes that are no text are found before libfyaml sees them: its message would not say which. */
static bool text_check(const struct yaml *yaml, struct error *error)
{
	const unsigned char *text = (const unsigned char *)yaml->text;

	for (size_t i = 0; i < yaml->bytes;) {
		unsigned char c = text[i];
		size_t length = 1;

		/* libfyaml 0.7.12 never comes back from some broken ones. */
		if (c == '%' && (i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r'))
			return error_place(yaml, place_of(yaml, i, i + 1), error,
					   "directives (%%) are not supported in scenarios");
		if (c < 0x20 && c != '\n' && c != '\r' && c != '\t')
			return error_place(yaml, place_of(yaml, i, i + 1), error,
					   "byte 0x%02x is not text, so this is not YAML", c);
		if (c >= 0x80) {
			length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
			if (c < 0xc2 || c > 0xf4 || i + length > yaml->bytes)
				length = 0;
			for (size_t k = 1; k < length; k++) {
				if ((text[i + k] & 0xc0) != 0x80)
					length = 0;
			}
			if (length == 0)
				return error_place(yaml, place_of(yaml, i, i + 1), error,
						   "byte 0x%02x is not UTF-8, so this is not YAML",
						   c);
		}
		if (c == 0x7f)
			return error_place(yaml, place_of(yaml, i, i + 1), error,
					   "byte 0x7f is not text, so this is not YAML");
		i += length;
	}
	return true;
}

struct level {
	struct yaml_node *node;
	struct yaml_node
		*key; /* of a mapping: the key whose value comes next; NULL: a key comes next */
};

struct reader {
	struct yaml *yaml;
	struct error *error;
	size_t node_count;
	unsigned int depth;
	unsigned int documents;
	struct level levels[YAML_DEPTH_MAX];
};

static struct yaml_place token_place(const struct yaml *yaml, struct fy_token *token)
{
	const struct fy_mark *start = token ? fy_token_start_mark(token) : NULL;
	const struct fy_mark *end = token ? fy_token_end_mark(token) : NULL;

	if (!start)
		return (struct yaml_place){0};
	return place_of(yaml, start->input_pos, end ? end->input_pos : start->input_pos + 1);
}

static bool refuse(struct reader *reader, struct fy_token *token, const char *what)
{
	const struct yaml *yaml = reader->yaml;
	struct yaml_place at = token_place(yaml, token);

	/* The token of &name and *name is the name alone. */
	if (at.line && at.column > 1) {
		char sign = yaml->text[yaml->lines[at.line - 1] + at.column - 2];

		if (sign == '&' || sign == '*') {
			at.column--;
			at.columns++;
		}
	}
	return error_place(yaml, at, reader->error,
			   "%s are not supported in scenarios: write the value out", what);
}

static struct yaml_node *key_twice(const struct yaml_node *mapping, const struct yaml_node *key)
{
	return yaml_get(mapping, key->text);
}

/* Put a finished scalar, or a collection about to be filled, where it belongs. */
static bool node_add(struct reader *reader, struct yaml_node *node)
{
	struct level *level;

	if (++reader->node_count > YAML_NODES_MAX)
		return error_place(reader->yaml, node->at, reader->error,
				   "more than %d values in one scenario", YAML_NODES_MAX);
	if (reader->depth == 0) {
		reader->yaml->root = node;
		return true;
	}
	level = &reader->levels[reader->depth - 1];
	if (level->node->kind == YAML_SEQUENCE) {
		child_append(level->node, node);
		return true;
	}
	if (level->key) {
		node->key = level->key->text;
		node->key_at = level->key->at;
		if (node->at.line == 0)
			node->at = node->key_at;
		child_append(level->node, node);
		level->key = NULL;
		return true;
	}
	if (node->kind != YAML_SCALAR || node->is_null)
		return error_place(reader->yaml, node->at, reader->error,
				   "a key must be a word (KEY: VALUE)");
	if (level->node->at.line == 0)
		level->node->at = node->at;
	if (key_twice(level->node, node))
		return error_place(reader->yaml, node->at, reader->error,
				   "key \"%.80s\" is given twice, first on line %" PRIu64,
				   node->text, key_twice(level->node, node)->key_at.line);
	level->key = node;
	return true;
}

static bool collection_begin(struct reader *reader, enum yaml_kind kind, struct fy_token *token,
			     struct fy_token *anchor, struct fy_token *tag)
{
	struct yaml_node *node = arena_alloc(reader->yaml->arena, sizeof(*node));

	if (anchor)
		return refuse(reader, anchor, "anchors (&name)");
	if (tag)
		return refuse(reader, tag, "tags (!name)");
	node->kind = kind;
	node->text = "";
	node->at = token_place(reader->yaml, token);
	if (!node_add(reader, node))
		return false;
	if (reader->depth == YAML_DEPTH_MAX)
		return error_place(reader->yaml, node->at, reader->error,
				   "nested more than %d deep", YAML_DEPTH_MAX);
	reader->levels[reader->depth++] = (struct level){.node = node};
	return true;
}

static bool scalar_add(struct reader *reader, const struct fy_event *event)
{
	struct yaml_node *node = arena_alloc(reader->yaml->arena, sizeof(*node));
	struct fy_token *token = event->scalar.value;
	const char *text;
	size_t bytes = 0;

	if (event->scalar.anchor)
		return refuse(reader, event->scalar.anchor, "anchors (&name)");
	if (event->scalar.tag)
		return refuse(reader, event->scalar.tag, "tags (!name)");
	text = token ? fy_token_get_text(token, &bytes) : NULL;
	node->kind = YAML_SCALAR;
	node->at = token_place(reader->yaml, token);
	if (text && memchr(text, '\0', bytes))
		return error_place(reader->yaml, node->at, reader->error,
				   "a text with a NUL byte in it");
	node->text = text ? arena_text(reader->yaml->arena, text, bytes) : "";
	if (!token || fy_token_scalar_style(token) == FYSS_PLAIN)
		node->is_null = bytes == 0 || strcmp(node->text, "~") == 0;
	return node_add(reader, node);
}

static bool event_read(struct reader *reader, const struct fy_event *event)
{
	switch (event->type) {
	case FYET_DOCUMENT_START:
		if (reader->documents++ > 0)
			return error_place(
				reader->yaml,
				token_place(reader->yaml, event->document_start.document_start),
				reader->error,
				"a second document begins; a file holds one scenario");
		return true;
	case FYET_MAPPING_START:
		return collection_begin(reader, YAML_MAPPING, event->mapping_start.mapping_start,
					event->mapping_start.anchor, event->mapping_start.tag);
	case FYET_SEQUENCE_START:
		return collection_begin(reader, YAML_SEQUENCE, event->sequence_start.sequence_start,
					event->sequence_start.anchor, event->sequence_start.tag);
	case FYET_MAPPING_END:
	case FYET_SEQUENCE_END:
		assert(reader->depth > 0);
		reader->depth--;
		return true;
	case FYET_SCALAR:
		return scalar_add(reader, event);
	case FYET_ALIAS:
		return refuse(reader, event->alias.anchor, "aliases (*name)");
	default:
		return true;
	}
}

/* What libfyaml complained about first; its own words, our form. */
static bool syntax_error(const struct yaml *yaml, struct fy_diag *diag, struct error *error)
{
	void *position = NULL;
	const struct fy_diag_error *first = fy_diag_errors_iterate(diag, &position);
	struct yaml_place at = {0};
	const char *message = "the text ends or breaks off where YAML does not allow it";

	if (first && first->msg)
		message = first->msg;
	if (first && first->fyt) {
		at = token_place(yaml, first->fyt);
	} else if (first && first->line > 0) {
		at.line = (uint64_t)first->line;
		at.column = first->column > 0 ? (uint64_t)first->column : 1;
		at.columns = 1;
	}
	return error_place(yaml, at, error, "not YAML: %.300s", message);
}

static bool events_read(struct reader *reader, struct fy_parser *parser, struct fy_diag *diag)
{
	for (;;) {
		struct fy_event *event = fy_parser_parse(parser);
		bool ok;

		if (!event)
			break;
		ok = event_read(reader, event);
		fy_parser_event_free(parser, event);
		if (!ok)
			return false;
	}
	if (fy_parser_get_stream_error(parser) || fy_diag_got_error(diag))
		return syntax_error(reader->yaml, diag, reader->error);
	return true;
}

/* The places of collections that have no token of their own: of their first key or item. */
static void places_complete(struct yaml_node *node)
{
	for (struct yaml_node *child = node->first; child; child = child->next)
		places_complete(child);
	if (node->at.line == 0 && node->first)
		node->at = node->first->key ? node->first->key_at : node->first->at;
}

bool yaml_parse(struct yaml *yaml, struct arena *arena, const char *name, const char *text,
		size_t bytes, struct error *error)
{
	struct reader reader = {.yaml = yaml, .error = error};
	struct fy_diag_cfg diag_config;
	struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE};
	struct fy_parser *parser = NULL;
	bool ok = false;

	*yaml = (struct yaml){.arena = arena, .name = name};
	if (bytes > YAML_BYTES_MAX)
		return error_at(error, name, 0, 0,
				"%zu bytes are too long for a scenario (at most %d)", bytes,
				YAML_BYTES_MAX);
	yaml->text = arena_text(arena, text, bytes);
	yaml->bytes = bytes;
	lines_find(yaml);
	if (!text_check(yaml, error))
		return false;

	fy_diag_cfg_default(&diag_config);
	diag_config.fp = NULL;
	diag_config.colorize = false;
	diag_config.output_fn = NULL;
	config.diag = fy_diag_create(&diag_config);
	assert(config.diag);
	fy_diag_set_collect_errors(config.diag, true);
	parser = fy_parser_create(&config);
	assert(parser);
	if (fy_parser_set_string(parser, yaml->text, bytes) != 0)
		error_failed(error, "libfyaml does not take %s", name);
	else
		ok = events_read(&reader, parser, config.diag);
	fy_parser_destroy(parser);
	fy_diag_destroy(config.diag);
	if (!ok)
		return false;
	if (!yaml->root || (yaml->root->kind == YAML_SCALAR && yaml->root->is_null))
		return error_at(error, name, 1, 1, "empty: there is nothing in it");
	places_complete(yaml->root);
	return true;
}

/* ---- --set ---- */

static void origin_set(struct yaml_node *node, const char *origin)
{
	node->origin = origin;
	for (struct yaml_node *child = node->first; child; child = child->next)
		origin_set(child, origin);
}

/*
 * The child whose key is the longest beginning of `path` that ends at a dot or at the end; *bytes:
 * how long.
 */
static struct yaml_node *child_on_path(struct yaml_node *mapping, const char *path, size_t *bytes)
{
	struct yaml_node *best = NULL;

	*bytes = 0;
	for (struct yaml_node *node = mapping->first; node; node = node->next) {
		size_t length = strlen(node->key);

		if (strncmp(node->key, path, length) == 0 &&
		    (path[length] == '.' || path[length] == '\0') && (!best || length > *bytes)) {
			best = node;
			*bytes = length;
		}
	}
	return best;
}

static struct yaml_node *child_by_number(struct yaml_node *sequence, const char *path,
					 size_t *bytes)
{
	struct yaml_node *node = sequence->first;
	size_t index = 0, length = 0;

	while (path[length] >= '0' && path[length] <= '9' && length < 6)
		index = index * 10 + (size_t)(path[length++] - '0');
	*bytes = length;
	if (length == 0 || (path[length] != '.' && path[length] != '\0'))
		return NULL;
	while (node && index-- > 0)
		node = node->next;
	return node;
}

/* The node that `path` names, made if need be. */
static struct yaml_node *path_walk(struct yaml *yaml, const char *path, const char *origin,
				   struct error *error)
{
	struct yaml_node *node = yaml->root;

	while (*path) {
		struct yaml_node *child = NULL;
		size_t bytes = 0;

		if (node->kind == YAML_SEQUENCE) {
			child = child_by_number(node, path, &bytes);
			if (!child) {
				error_at(error, origin, 0, 0,
					 "\"%.80s\" is no number from 0 to %zu, and there is a "
					 "list here",
					 path, node->count ? node->count - 1 : 0);
				return NULL;
			}
		} else if (node->kind == YAML_SCALAR && !node->is_null) {
			error_at(error, origin, 0, 0, "there is no \"%.80s\": %s is not a mapping",
				 path, node->key ? node->key : "the scenario");
			return NULL;
		} else {
			child = child_on_path(node, path, &bytes);
		}
		if (!child) {
			bytes = strcspn(path, ".");
			if (bytes == 0) {
				error_at(error, origin, 0, 0, "an empty key");
				return NULL;
			}
			child = arena_alloc(yaml->arena, sizeof(*child));
			child->kind = YAML_SCALAR;
			child->text = "";
			child->is_null = true;
			child->key = arena_text(yaml->arena, path, bytes);
			child->origin = origin;
			node->kind = YAML_MAPPING;
			node->is_null = false;
			child_append(node, child);
		}
		node = child;
		path += bytes;
		if (*path == '.')
			path++;
	}
	return node;
}

bool yaml_set(struct yaml *yaml, const char *key_and_value, struct error *error)
{
	const char *equals = strchr(key_and_value, '=');
	struct yaml_node *node, saved;
	struct yaml value;
	char *origin;
	size_t bytes = strlen(key_and_value) + sizeof("--set ");

	if (!equals || equals == key_and_value)
		return error_input(error,
				   "--set \"%.80s\" is not KEY=VALUE (like machine.memory=8GiB)",
				   key_and_value);
	origin = arena_alloc(yaml->arena, bytes);
	snprintf(origin, bytes, "--set %s", key_and_value);
	if (equals[1] &&
	    !yaml_parse(&value, yaml->arena, origin, equals + 1, strlen(equals + 1), error))
		return false;
	node = path_walk(yaml,
			 arena_text(yaml->arena, key_and_value, (size_t)(equals - key_and_value)),
			 origin, error);
	if (!node)
		return false;
	saved = *node;
	*node = equals[1] ? *value.root
			  : (struct yaml_node){.kind = YAML_SCALAR, .text = "", .is_null = true};
	origin_set(node, origin);
	node->key = saved.key;
	node->key_at = saved.key_at;
	node->next = saved.next;
	return true;
}
