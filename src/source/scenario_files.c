#include "op/path.h"
#include "source/scenario_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FILE_ENTRIES_MAX = 4096 };

static unsigned int digits_of(uint64_t number)
{
	unsigned int digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits;
}

/* `number` with at least `width` digits at `text`; returns how many. */
static size_t number_write(char *text, uint64_t number, unsigned int width)
{
	unsigned int digits = digits_of(number);

	if (digits < width)
		digits = width;
	for (unsigned int i = digits; i-- > 0; number /= 10)
		text[i] = (char)('0' + number % 10);
	return digits;
}

size_t scenario_path(const struct scenario_file *file, uint64_t index, char *text, size_t bytes)
{
	unsigned int digits;
	size_t length, name_begin;
	uint64_t filler = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	if (!file->is_set) {
		length = strlen(file->path);
		assert(length < bytes);
		memcpy(text, file->path, length + 1);
		return length;
	}
	length = strlen(file->directory);
	assert(length + NAME_BYTES_MAX + 32 < bytes);
	memcpy(text, file->directory, length);
	text[length++] = '/';
	if (file->per_directory < file->count) {
		length += number_write(text + length, index / file->per_directory, 1);
		text[length++] = '/';
	}
	name_begin = length;
	digits = digits_of(file->count - 1);
	length += number_write(text + length, index, digits);
	/* The rest of a long name is letters that differ from file to file, as fs_mark's do. */
	while (length - name_begin < file->name_length) {
		filler ^= filler >> 29;
		filler *= UINT64_C(0xbf58476d1ce4e5b9);
		text[length++] = (char)('a' + (filler >> 40) % 26);
	}
	text[length] = '\0';
	return length;
}

static bool path_check(struct loader *loader, const struct yaml_node *node, const char *path)
{
	size_t length = strlen(path);

	if (length == 0 || length > PATH_BYTES_MAX - NAME_BYTES_MAX - 64)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "a path must have 1 to %d bytes, not %zu",
				      PATH_BYTES_MAX - NAME_BYTES_MAX - 64, length);
	if (path[length - 1] == '/' || strstr(path, "//"))
		return yaml_error_key(loader->yaml, node, loader->error,
				      "\"%.80s\" is no path of a file: an empty name in it", path);
	return true;
}

static bool set_complete(struct loader *loader, struct scenario_file *file,
			 const struct yaml_node *node)
{
	uint64_t total;

	if (yaml_get(node, "path"))
		return yaml_error_key(loader->yaml, yaml_get(node, "path"), loader->error,
				      "a set of files (it has count) has a directory, not a path");
	if (!file->directory)
		file->directory = file->name;
	if (!file->per_directory)
		file->per_directory = file->count;
	if (file->name_length && file->name_length < digits_of(file->count - 1))
		return yaml_error(loader->yaml, yaml_get(node, "name_length"), loader->error,
				  "name_length must be at least %u for %" PRIu64 " different names",
				  digits_of(file->count - 1), file->count);
	if (__builtin_mul_overflow(file->size_bytes, file->count, &total) ||
	    total > SCENARIO_BYTES_MAX)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "%" PRIu64 " files of that size are more than an EiB",
				      file->count);
	return path_check(loader, node, file->directory);
}

static bool single_complete(struct loader *loader, struct scenario_file *file,
			    const struct yaml_node *node)
{
	static const char *const of_sets[] = {"directory", "per_directory", "name_length"};

	for (size_t i = 0; i < sizeof(of_sets) / sizeof(of_sets[0]); i++) {
		if (yaml_get(node, of_sets[i]))
			return yaml_error_key(
				loader->yaml, yaml_get(node, of_sets[i]), loader->error,
				"%s is for a set of files, and this one has no count", of_sets[i]);
	}
	if (!file->path)
		file->path = file->name;
	file->count = file->per_directory = 1;
	return path_check(loader, node, file->path);
}

static bool file_read(struct loader *loader, struct scenario_file *file,
		      const struct yaml_node *node)
{
	struct schema_table table = schema_table(SCHEMA_FILE, file);
	char what[80];

	file->name = node->key;
	file->node = node;
	snprintf(what, sizeof(what), "file \"%.60s\"", node->key);
	if (strcmp(node->key, "this") == 0 || strlen(node->key) > PATH_BYTES_MAX)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "\"this\" and names beyond %d bytes cannot name a file",
				      PATH_BYTES_MAX);
	if (!schema_read(loader->yaml, node, what, &table, 1, loader->error))
		return false;
	file->is_set = file->count != 0;
	if (!(file->is_set ? set_complete(loader, file, node)
			   : single_complete(loader, file, node)))
		return false;
	if (!file->exists && file->cached != SCENARIO_CACHED_NO)
		return yaml_error_key(loader->yaml, yaml_get(node, "cached"), loader->error,
				      "a file that does not exist cannot be cached");
	if (!file->exists && file->sparse)
		return yaml_error_key(loader->yaml, yaml_get(node, "sparse"), loader->error,
				      "a file that does not exist has no holes");
	if (file->sparse && file->cached == SCENARIO_CACHED_WRITTEN)
		return yaml_error_key(loader->yaml, yaml_get(node, "cached"), loader->error,
				      "a file that was written is not sparse");
	loader->scenario->path_count += file->count;
	if (loader->scenario->path_count > SCENARIO_FILES_MAX)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "more than %d files in all", SCENARIO_FILES_MAX);
	return true;
}

/* Does `inner` lie in the directory (or is it the file) `outer`? */
static bool path_is_within(const char *inner, const char *outer)
{
	size_t length = strlen(outer);

	return strncmp(inner, outer, length) == 0 &&
	       (inner[length] == '/' || inner[length] == '\0');
}

/*
 * A file's path must be no other file's, nor a directory. (Names that sets make up are compared
 * when they are made.)
 */
static bool paths_compare(struct loader *loader)
{
	struct scenario *scenario = loader->scenario;

	for (size_t i = 0; i < scenario->file_count; i++) {
		const struct scenario_file *single = &scenario->files[i];

		for (size_t k = 0; k < scenario->file_count && !single->is_set; k++) {
			const struct scenario_file *other = &scenario->files[k];

			if (k != i && path_is_within(other->is_set ? other->directory : other->path,
						     single->path))
				return yaml_error_key(
					loader->yaml, other->node, loader->error,
					"\"%.80s\" is in the way: \"%.80s\" is a file already",
					other->name, single->path);
		}
	}
	return true;
}

bool files_read(struct loader *loader, const struct yaml_node *node)
{
	static const struct yaml_node none = {.kind = YAML_MAPPING, .text = ""};
	struct scenario *scenario = loader->scenario;

	if (!node)
		node = &none;
	if (node->count > FILE_ENTRIES_MAX)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "more than %d entries; a set (count: N) is one",
				      FILE_ENTRIES_MAX);
	scenario->files =
		arena_alloc(&scenario->arena, (node->count + 1) * sizeof(*scenario->files));
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		if (!file_read(loader, &scenario->files[scenario->file_count], child))
			return false;
		scenario->file_count++;
	}
	loader->end_bytes =
		arena_alloc(&scenario->arena, (node->count + 1) * sizeof(*loader->end_bytes));
	loader->is_created =
		arena_alloc(&scenario->arena, (node->count + 1) * sizeof(*loader->is_created));
	for (size_t i = 0; i < scenario->file_count; i++)
		loader->end_bytes[i] = scenario->files[i].size_bytes;
	return paths_compare(loader);
}
