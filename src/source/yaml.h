/*
 * yaml: a text read into a tree in which every node knows its place
 *
 * A reader of the part of YAML that scenarios use: mappings, sequences, scalars; everything scalar
 * is text. What is refused is refused with its place: a key given twice, anchors, aliases and tags,
 * a second document, keys that are not plain text. libfyaml does the reading; nothing else in the
 * house sees it. All memory is the arena's.
 */
#ifndef REFAULT_SOURCE_YAML_H
#define REFAULT_SOURCE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_place {
	uint64_t line;    /* 1-based; 0: not from the text */
	uint64_t column;  /* 1-based, bytes */
	uint64_t columns; /* how many bytes it takes on its line */
};

struct yaml_node {
	enum yaml_kind kind;
	const char *text;         /* scalars; "" for an empty one */
	bool is_null;             /* nothing, or ~ */
	const char *key;          /* in a mapping: the key this is the value of; else NULL */
	struct yaml_place at;     /* the value's */
	struct yaml_place key_at; /* the key's */
	const char
		*origin; /* NULL: the text; else where it comes from instead ("--set KEY=VALUE") */
	struct yaml_node *first, *last, *next;
	size_t count; /* children */
};

struct yaml {
	struct arena *arena;
	const char *name; /* as the user gave it, for messages */
	const char *text;
	size_t bytes;
	size_t *lines; /* where each begins */
	size_t line_count;
	struct yaml_node *root;
};

enum {
	YAML_BYTES_MAX = 1 << 20,
	YAML_NODES_MAX = 1 << 16,
	YAML_DEPTH_MAX = 24,
};

/*
 * Copies `text`. Fails (ERROR_INPUT, with line and column) if it is not the YAML described above;
 * `root` is never NULL after success.
 */
bool yaml_parse(struct yaml *yaml, struct arena *arena, const char *name, const char *text,
		size_t bytes, struct error *error);

/* The value of a key, NULL if there is none (or `mapping` is none). */
struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);

/*
 * Apply "KEY=VALUE": KEY is a path of keys (and, in sequences, numbers from 0) joined by dots,
 * VALUE is YAML. What is there is replaced, what is not is added: whether it makes sense is the
 * schema's question. Fails (ERROR_INPUT) on a malformed argument, or where the path goes through
 * something that has no keys.
 */
bool yaml_set(struct yaml *yaml, const char *key_and_value, struct error *error);

/* The input is wrong at this value, or at its key. Both return false. */
bool yaml_error(const struct yaml *yaml, const struct yaml_node *node, struct error *error,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
bool yaml_error_key(const struct yaml *yaml, const struct yaml_node *node, struct error *error,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "a mapping (KEY: VALUE)", "a list", "the text \"x\"", "nothing": for messages. Returns `text`. */
const char *yaml_describe(char text[128], const struct yaml_node *node);

#endif
