#include "source/scenario.h"

#include "base/size.h"
#include "op/path.h"
#include "op/stream.h"
#include "source/generator.h"
#include "source/shipped.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FILE_ENTRIES_MAX = 4096,
	NAME_BYTES_MAX = 255,
	PATH_TEXT_BYTES = PATH_BYTES_MAX + 1,
	THIS_SET_NONE = STEP_FILE_NONE,
};

/* What is known while a scenario is being read. */
struct loader {
	struct scenario *scenario;
	const struct yaml *yaml;
	struct error *error;
	struct scenario_job *job; /* whose steps are read */
	size_t job_steps;
	/* per file: what jobs do to it */
	uint64_t *end_bytes; /* how long it can become */
	bool *is_created;
};

static const char *file_name_at(const void *context, size_t index)
{
	const struct scenario *scenario = context;

	return index < scenario->file_count ? scenario->files[index].name : NULL;
}

static const char *job_name_at(const void *context, size_t index)
{
	const struct scenario *scenario = context;

	return index < scenario->job_count ? scenario->jobs[index].name : NULL;
}

static const char *generator_name_at(const void *context, size_t index)
{
	(void)context;
	return generator_at(index) ? generator_at(index)->name : NULL;
}

/* " (nearest: "x")", or nothing. */
static const char *nearest_hint(char text[80], const char *word,
				const char *(*at)(const void *, size_t), const void *context)
{
	const char *near = nearest_word(word, at, context);

	text[0] = '\0';
	if (near)
		snprintf(text, 80, " (nearest: \"%.50s\")", near);
	return text;
}

/* ---- machine ---- */

static bool machine_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario_machine *machine = &loader->scenario->machine;
	static const struct yaml_node no_device = {.kind = YAML_MAPPING, .text = ""};
	struct schema_table table = schema_table(SCHEMA_MACHINE, machine);
	struct schema_table device = schema_table(SCHEMA_DEVICE, machine);
	char text[SIZE_TEXT_BYTES];

	machine->node = node;
	if (!schema_read(loader->yaml, node, "machine", &table, 1, loader->error) ||
	    !schema_read(loader->yaml, machine->device_node ? machine->device_node : &no_device,
			 "device", &device, 1, loader->error))
		return false;
	if (machine->memory_bytes && machine->cgroup_bytes)
		return yaml_error_key(
			loader->yaml, yaml_get(node, "cgroup_limit"), loader->error,
			"machine has memory and cgroup_limit: only one can be its limit");
	if (!machine->memory_bytes && !machine->cgroup_bytes)
		return yaml_error_key(
			loader->yaml, node, loader->error,
			"machine needs memory (of the whole machine) or cgroup_limit");
	if (machine->cgroup_bytes) {
		machine->is_cgroup = true;
		machine->memory_bytes = machine->cgroup_bytes;
	}
	if (machine->pinned_bytes >= machine->memory_bytes)
		return yaml_error(loader->yaml, yaml_get(node, "pinned"), loader->error,
				  "pinned must be less than the memory, %s",
				  size_format(text, machine->memory_bytes));
	return true;
}

/* ---- files ---- */

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

/* A file's path must be no other file's, nor a directory. (Names that sets make up are compared when they are made.) */
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

static bool files_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;

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

/* ---- steps ---- */

/* What a verb works on, and so which keys mean something to it. */
enum verb_class {
	VERB_RANGE, /* requests within files */
	VERB_CREATE,
	VERB_ADVICE, /* a file, with a range */
	VERB_TRUNCATE,
	VERB_FILE, /* a file */
	VERB_MARK,
	VERB_SYNC,
	VERB_WAIT,
	VERB_GROUP,
};

struct verb {
	const char *name;
	enum verb_class class;
	enum op_kind op;
};

static const struct verb verbs[] = {
	{"read", VERB_RANGE, OP_READ},
	{"write", VERB_RANGE, OP_WRITE},
	{"mmap_read", VERB_RANGE, OP_MMAP_READ},
	{"mmap_write", VERB_RANGE, OP_MMAP_WRITE},
	{"fallocate", VERB_RANGE, OP_FALLOCATE},
	{"create", VERB_CREATE, OP_CREATE},
	{"stat", VERB_FILE, OP_STAT},
	{"open", VERB_FILE, OP_OPEN},
	{"close", VERB_FILE, OP_CLOSE},
	{"unlink", VERB_FILE, OP_UNLINK},
	{"truncate", VERB_TRUNCATE, OP_TRUNCATE},
	{"fsync", VERB_FILE, OP_FSYNC},
	{"fdatasync", VERB_FILE, OP_FDATASYNC},
	{"fadvise_dontneed", VERB_ADVICE, OP_FADVISE_DONTNEED},
	{"fadvise_random", VERB_ADVICE, OP_FADVISE_RANDOM},
	{"fadvise_sequential", VERB_ADVICE, OP_FADVISE_SEQUENTIAL},
	{"fadvise_willneed", VERB_ADVICE, OP_FADVISE_WILLNEED},
	{"fadvise_noreuse", VERB_ADVICE, OP_FADVISE_NOREUSE},
	{"mark", VERB_MARK, OP_MARK},
	{"sync", VERB_SYNC, OP_SYNC},
	{"wait", VERB_WAIT, OP_MARK},
	{"each", VERB_GROUP, OP_MARK},
	{"steps", VERB_GROUP, OP_MARK},
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

/* Keys that mean something to each class, besides the verb and the generator's own. */
static const char *const class_keys[] = {
	[VERB_RANGE] = "pattern request offset bytes count loop split close_after fsync_every "
		       "fdatasync_every",
	[VERB_CREATE] = "pattern request count loop split close_after fsync_every fdatasync_every",
	[VERB_ADVICE] = "pattern offset bytes count loop split",
	[VERB_TRUNCATE] = "pattern bytes count loop split",
	[VERB_FILE] = "pattern count loop split",
	[VERB_MARK] = "",
	[VERB_SYNC] = "",
	[VERB_WAIT] = "",
	[VERB_GROUP] = "pattern count loop split each steps",
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static bool word_is_in(const char *word, const char *words)
{
	size_t length = strlen(word);

	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t bytes = strcspn(at, " ");

		if (bytes == length && strncmp(at, word, length) == 0)
			return true;
		at += bytes;
	}
	return false;
}

static bool table_has(const struct schema_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->keys[i].name, name) == 0)
			return true;
	}
	return false;
}

static struct schema_table generator_table(const struct generator *generator, void *to)
{
	return (struct schema_table){
		.keys = generator->keys, .count = generator->key_count, .to = to};
}

/* The one thing that this step does. */
static bool step_verb(struct loader *loader, const struct yaml_node *node, const char *what,
		      const struct verb **verb)
{
	const struct yaml_node *first = NULL;

	*verb = NULL;
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		const struct verb *found = verb_find(child->key);

		if (!found)
			continue;
		if (*verb && (*verb)->class == VERB_GROUP && found->class == VERB_GROUP)
			continue;
		if (*verb)
			return yaml_error_key(
				loader->yaml, child, loader->error,
				"%s does two things, \"%s\" and \"%s\": make it two steps", what,
				first->key, child->key);
		*verb = found;
		first = child;
	}
	if (!*verb)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "%s does nothing: it needs one of read, write, create, stat, "
				      "mark, wait, steps, ... (docs/scenarios.md)",
				      what);
	if ((*verb)->class == VERB_GROUP && !yaml_get(node, "steps"))
		return yaml_error_key(loader->yaml, node, loader->error,
				      "%s needs the key \"steps\"", what);
	return true;
}

static bool step_generator(struct loader *loader, struct scenario_step *step,
			   const struct yaml_node *node)
{
	const struct yaml_node *pattern = yaml_get(node, "pattern");
	const char *name = "sequential";
	char hint[80], found[128];

	if (pattern) {
		if (pattern->kind != YAML_SCALAR)
			return yaml_error(loader->yaml, pattern, loader->error,
					  "pattern must be a name, not %s",
					  yaml_describe(found, pattern));
		name = pattern->text;
	}
	step->generator = generator_find(name);
	if (!step->generator)
		return yaml_error(loader->yaml, pattern, loader->error,
				  "there is no pattern \"%.60s\"%s", name,
				  nearest_hint(hint, name, generator_name_at, NULL));
	if (step->generator->options_bytes)
		step->generator_options =
			arena_alloc(&loader->scenario->arena, step->generator->options_bytes);
	return true;
}

/* Keys that are known, but mean nothing here: of another generator, or of another verb. */
static bool step_keys_check(struct loader *loader, const struct scenario_step *step,
			    const struct yaml_node *node, const struct verb *verb, bool is_job)
{
	struct schema_table job = schema_table(SCHEMA_JOB, NULL);
	struct schema_table steps = schema_table(SCHEMA_STEP, NULL);
	struct schema_table own = generator_table(step->generator, NULL);

	for (const struct yaml_node *child = node->first; child; child = child->next) {
		const struct generator *other;

		if (table_has(&own, child->key) || verb_find(child->key) ||
		    (is_job && table_has(&job, child->key)))
			continue;
		if (table_has(&steps, child->key)) {
			if (!word_is_in(child->key, class_keys[verb->class]))
				return yaml_error_key(loader->yaml, child, loader->error,
						      "\"%s\" means nothing to \"%s\"", child->key,
						      verb->name);
			continue;
		}
		for (size_t i = 0; (other = generator_at(i)); i++) {
			struct schema_table theirs = generator_table(other, NULL);

			if (table_has(&theirs, child->key))
				return yaml_error_key(
					loader->yaml, child, loader->error,
					"\"%s\" belongs to pattern %s, and this step's is %s",
					child->key, other->name, step->generator->name);
		}
	}
	return true;
}

/* The file that a verb names: an index, or `this`. */
static bool target_find(struct loader *loader, const struct yaml_node *node, uint32_t this_set,
			uint32_t *file)
{
	struct scenario *scenario = loader->scenario;
	char hint[80], found[128];

	if (node->kind != YAML_SCALAR || node->is_null)
		return yaml_error(loader->yaml, node, loader->error, "%s must name a file, not %s",
				  node->key, yaml_describe(found, node));
	if (strcmp(node->text, "this") == 0) {
		if (this_set == THIS_SET_NONE)
			return yaml_error(
				loader->yaml, node, loader->error,
				"\"this\" stands for a file only in the steps of an \"each\"");
		*file = STEP_FILE_THIS;
		return true;
	}
	for (size_t i = 0; i < scenario->file_count; i++) {
		if (strcmp(scenario->files[i].name, node->text) == 0) {
			*file = (uint32_t)i;
			if (scenario->files[i].stream == STREAM_NONE)
				scenario->files[i].stream = loader->job->stream;
			return true;
		}
	}
	return yaml_error(loader->yaml, node, loader->error, "there is no file \"%.60s\"%s",
			  node->text, nearest_hint(hint, node->text, file_name_at, scenario));
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How many items the step has, and how many one execution takes. */
static bool step_range(struct loader *loader, struct scenario_step *step,
		       const struct yaml_node *node, const struct verb *verb,
		       const struct scenario_file *file, uint64_t *end_bytes)
{
	char text[SIZE_TEXT_BYTES];

	if (!step->range_given) {
		if (step->offset_bytes >= file->size_bytes)
			return yaml_error_key(
				loader->yaml, yaml_get(node, verb->name), loader->error,
				"nothing to %s: \"%s\" has %s at the start; say how many "
				"`bytes`",
				verb->name, file->name, size_format(text, file->size_bytes));
		step->range_bytes = file->size_bytes - step->offset_bytes;
	}
	if (step->range_bytes == 0)
		return yaml_error(loader->yaml, yaml_get(node, "bytes"), loader->error,
				  "nothing to %s: bytes is 0", verb->name);
	step->file_items = (step->range_bytes - 1) / step->request_bytes + 1;
	if (step->op == OP_WRITE || step->op == OP_FALLOCATE || step->op == OP_MMAP_WRITE)
		*end_bytes = max_u64(*end_bytes, step->offset_bytes + step->range_bytes);
	return true;
}

static bool step_target(struct loader *loader, struct scenario_step *step,
			const struct yaml_node *node, const struct verb *verb, uint32_t this_set)
{
	struct scenario *scenario = loader->scenario;
	uint64_t files = 1;
	uint32_t index;

	if (!target_find(loader, yaml_get(node, verb->name), this_set, &step->file))
		return false;
	index = step->file == STEP_FILE_THIS ? this_set : step->file;
	step->set = index;
	if (step->file != STEP_FILE_THIS)
		files = scenario->files[index].count;
	step->file_items = 1;
	if (verb->class == VERB_RANGE &&
	    !step_range(loader, step, node, verb, &scenario->files[index],
			&loader->end_bytes[index]))
		return false;
	if (verb->class == VERB_TRUNCATE)
		loader->end_bytes[index] = max_u64(loader->end_bytes[index], step->range_bytes);
	if (verb->class == VERB_CREATE)
		loader->is_created[index] = true;
	if (__builtin_mul_overflow(files, step->file_items, &step->item_count) ||
	    step->item_count > SCENARIO_BYTES_MAX)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "more requests than a run could ever do");
	return true;
}

/* Items of one thread: all, or its part. */
static bool step_pass(struct loader *loader, struct scenario_step *step,
		      const struct yaml_node *node)
{
	uint64_t items = step->item_count;

	if (step->split) {
		items /= loader->job->threads;
		if (items == 0)
			return yaml_error_key(loader->yaml, node, loader->error,
					      "%" PRIu64 " threads cannot split %" PRIu64
					      " requests or files",
					      loader->job->threads, step->item_count);
	}
	step->pass_items = step->count;
	if (!step->count)
		step->pass_items =
			step->generator->pass_items
				? step->generator->pass_items(step->generator_options, items)
				: items;
	step->walk = loader->job->walk_count++;
	return true;
}

static bool steps_read(struct loader *loader, struct scenario_step *parent,
		       const struct yaml_node *list, uint32_t this_set, unsigned int depth);

static bool group_read(struct loader *loader, struct scenario_step *step,
		       const struct yaml_node *node, uint32_t this_set, unsigned int depth)
{
	const struct yaml_node *each = yaml_get(node, "each");

	step->kind = STEP_GROUP;
	step->each = STEP_FILE_NONE;
	if (depth >= SCENARIO_DEPTH_MAX)
		return yaml_error_key(loader->yaml, yaml_get(node, "steps"), loader->error,
				      "steps within steps more than %d deep", SCENARIO_DEPTH_MAX);
	if (each) {
		if (!target_find(loader, each, THIS_SET_NONE, &step->each))
			return false;
		if (!loader->scenario->files[step->each].is_set)
			return yaml_error(loader->yaml, each, loader->error,
					  "each needs a set of files, and \"%s\" has no count",
					  each->text);
		step->file_items = 1;
		step->item_count = loader->scenario->files[step->each].count;
		if (!step_pass(loader, step, node))
			return false;
		this_set = step->each;
	} else {
		static const char *const of_each[] = {"pattern", "count", "split"};

		for (size_t i = 0; i < sizeof(of_each) / sizeof(of_each[0]); i++) {
			if (yaml_get(node, of_each[i]))
				return yaml_error_key(
					loader->yaml, yaml_get(node, of_each[i]), loader->error,
					"\"%s\" means nothing to steps without an \"each\"",
					of_each[i]);
		}
	}
	return steps_read(loader, step, step->steps_node, this_set, depth + 1);
}

static bool step_complete(struct loader *loader, struct scenario_step *step,
			  const struct yaml_node *node, const struct verb *verb, uint32_t this_set,
			  unsigned int depth)
{
	switch (verb->class) {
	case VERB_MARK:
		step->kind = STEP_MARK;
		if (!step->mark[0] || strlen(step->mark) > PATH_BYTES_MAX)
			return yaml_error_key(loader->yaml, yaml_get(node, "mark"), loader->error,
					      "a mark needs a label of 1 to %d bytes",
					      PATH_BYTES_MAX);
		return true;
	case VERB_SYNC:
		step->kind = STEP_SYNC;
		if (!step->sync)
			return yaml_error(loader->yaml, yaml_get(node, "sync"), loader->error,
					  "sync: no does nothing");
		return true;
	case VERB_WAIT:
		step->kind = STEP_WAIT;
		return true;
	case VERB_GROUP:
		return group_read(loader, step, node, this_set, depth);
	case VERB_CREATE:
		if (!yaml_get(node, "split"))
			step->split = true;
		if (!yaml_get(node, "close_after"))
			step->close_after = true;
		break;
	default:
		break;
	}
	step->kind = STEP_ITEMS;
	step->op = verb->op;
	if (!step_target(loader, step, node, verb, this_set))
		return false;
	if (step->file == STEP_FILE_THIS)
		step->split = false;
	return step_pass(loader, step, node);
}

/* `node` is a step, or (is_job) a job that holds its only step's keys. */
static bool step_read(struct loader *loader, struct scenario_step *step,
		      const struct yaml_node *node, uint32_t this_set, unsigned int depth,
		      bool is_job)
{
	struct schema_table tables[3];
	const struct verb *verb;
	char what[80], found[128];

	step->node = node;
	step->file = step->set = step->each = STEP_FILE_NONE;
	snprintf(what, sizeof(what), "%s \"%.60s\"", is_job ? "job" : "a step of job",
		 loader->job->name);
	if (node->kind != YAML_MAPPING)
		return yaml_error(loader->yaml, node, loader->error,
				  "%s must be a mapping (like `read: FILE`), not %s", what,
				  yaml_describe(found, node));
	if (++loader->job_steps > SCENARIO_STEPS_MAX)
		return yaml_error(loader->yaml, node, loader->error,
				  "more than %d steps in one job", SCENARIO_STEPS_MAX);
	if (!step_generator(loader, step, node))
		return false;
	tables[0] = schema_table(SCHEMA_STEP, step);
	tables[1] = generator_table(step->generator, step->generator_options);
	tables[2] = schema_table(SCHEMA_JOB, loader->job);
	/* What is unknown is said before what is missing: a misspelt verb is both. */
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		if (!verb_find(child->key) && !table_has(&tables[0], child->key) &&
		    !table_has(&tables[1], child->key) &&
		    !(is_job && table_has(&tables[2], child->key))) {
			bool is_others = false;

			for (size_t i = 0; generator_at(i) && !is_others; i++) {
				struct schema_table theirs = generator_table(generator_at(i), NULL);

				is_others = table_has(&theirs, child->key);
			}
			if (!is_others)
				return schema_read(loader->yaml, node, what, tables, is_job ? 3 : 2,
						   loader->error);
		}
	}
	if (!step_verb(loader, node, what, &verb) ||
	    !step_keys_check(loader, step, node, verb, is_job) ||
	    !schema_read(loader->yaml, node, what, tables, is_job ? 3 : 2, loader->error))
		return false;
	if (is_job)
		step->loop = 1; /* the job's own loop counts passes */
	step->range_given = yaml_get(node, "bytes") != NULL;
	return step_complete(loader, step, node, verb, this_set, depth);
}

static bool steps_read(struct loader *loader, struct scenario_step *parent,
		       const struct yaml_node *list, uint32_t this_set, unsigned int depth)
{
	if (!list || list->count == 0)
		return yaml_error_key(loader->yaml, yaml_get(parent->node, "steps"), loader->error,
				      "steps is empty");
	parent->steps = arena_alloc(&loader->scenario->arena, list->count * sizeof(*parent->steps));
	for (const struct yaml_node *child = list->first; child; child = child->next) {
		if (!step_read(loader, &parent->steps[parent->step_count], child, this_set, depth,
			       false))
			return false;
		parent->step_count++;
	}
	return true;
}

/* ---- what steps add up to ---- */

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* About how many ops one thread does for this step; saturates. A loop that never ends counts once. */
static uint64_t step_ops(const struct scenario *scenario, const struct scenario_step *step)
{
	uint64_t loop = step->loop ? step->loop : 1, ops = 0, item_ops = 1;

	switch (step->kind) {
	case STEP_WAIT:
		return 0;
	case STEP_MARK:
	case STEP_SYNC:
		return 1;
	case STEP_GROUP:
		for (size_t i = 0; i < step->step_count; i++)
			ops = plus(ops, step_ops(scenario, &step->steps[i]));
		return times(times(ops, loop), step->each == STEP_FILE_NONE ? 1 : step->pass_items);
	case STEP_ITEMS:
		break;
	}
	if (step->op == OP_CREATE)
		item_ops += pages_from_bytes_up(scenario->files[step->set].size_bytes) *
				    PAGE_BYTES / step->request_bytes +
			    step->close_after;
	return times(times(step->pass_items, item_ops), loop);
}

static bool step_is_finite(const struct scenario_step *step)
{
	if (step->loop == 0)
		return false;
	for (size_t i = 0; i < step->step_count; i++) {
		if (!step_is_finite(&step->steps[i]))
			return false;
	}
	return true;
}

/* Going round without an op would be going round for ever, or nearly. */
static bool loops_check(struct loader *loader, const struct scenario_step *step)
{
	if (step->loop != 1 && step_ops(loader->scenario, step) == 0)
		return yaml_error_key(
			loader->yaml, step->node, loader->error,
			"a loop that only waits: it needs a step that does something");
	for (size_t i = 0; i < step->step_count; i++) {
		if (!loops_check(loader, &step->steps[i]))
			return false;
		if (!step_is_finite(&step->steps[i]) && i + 1 < step->step_count)
			return yaml_error_key(loader->yaml, step->steps[i + 1].node, loader->error,
					      "this step is never reached: the one before it loops "
					      "forever");
	}
	return true;
}

/* Ops on files that will not be there, or beyond what they can become: the machine would stop at them, or read nothing. */
static bool steps_check(struct loader *loader, const struct scenario_step *step)
{
	const struct scenario_file *file;
	char text[SIZE_TEXT_BYTES], end[SIZE_TEXT_BYTES];

	for (size_t i = 0; i < step->step_count; i++) {
		if (!steps_check(loader, &step->steps[i]))
			return false;
	}
	if (step->kind != STEP_ITEMS)
		return true;
	file = &loader->scenario->files[step->set];
	if (!file->exists && !loader->is_created[step->set] && step->op != OP_STAT)
		return yaml_error_key(
			loader->yaml, step->node, loader->error,
			"file \"%.60s\" does not exist at the start, and no job creates it",
			file->name);
	if ((step->op == OP_READ || step->op == OP_MMAP_READ) &&
	    step->offset_bytes + step->range_bytes > loader->end_bytes[step->set])
		return yaml_error_key(loader->yaml, step->node, loader->error,
				      "reads %s from \"%.60s\", which never grows beyond %s",
				      size_format(text, step->offset_bytes + step->range_bytes),
				      file->name, size_format(end, loader->end_bytes[step->set]));
	return true;
}

/* ---- jobs ---- */

/* Is there a verb, so that the job is its own only step? */
static bool job_is_step(const struct yaml_node *node)
{
	return !yaml_get(node, "steps") || yaml_get(node, "each");
}

static bool job_read(struct loader *loader, struct scenario_job *job, const struct yaml_node *node)
{
	struct schema_table table = schema_table(SCHEMA_JOB, job);
	char what[80], found[128];

	loader->job = job;
	loader->job_steps = 0;
	snprintf(what, sizeof(what), "job \"%.60s\"", job->name);
	if (node->kind != YAML_MAPPING)
		return yaml_error(loader->yaml, node, loader->error, "%s must be a mapping, not %s",
				  what, yaml_describe(found, node));
	job->root = (struct scenario_step){
		.node = node, .kind = STEP_GROUP, .each = STEP_FILE_NONE, .file = STEP_FILE_NONE};
	if (job_is_step(node)) {
		job->root.steps = arena_alloc(&loader->scenario->arena, sizeof(*job->root.steps));
		job->root.step_count = 1;
		if (!step_read(loader, &job->root.steps[0], node, THIS_SET_NONE, 0, true))
			return false;
	} else {
		if (!schema_read(loader->yaml, node, what, &table, 1, loader->error) ||
		    !steps_read(loader, &job->root, job->steps_node, THIS_SET_NONE, 0))
			return false;
	}
	job->root.loop = job->loop;
	if (!loops_check(loader, &job->root))
		return false;
	if (step_is_finite(&job->root))
		job->op_count = times(step_ops(loader->scenario, &job->root), job->threads);
	return true;
}

static bool names_read(struct loader *loader, const struct yaml_node *node, uint32_t **indices,
		       size_t *count)
{
	struct scenario *scenario = loader->scenario;
	const struct yaml_node *item = node;
	char hint[80], found[128];

	if (!node)
		return true;
	if (node->kind == YAML_SEQUENCE)
		item = node->first;
	if (!item)
		return yaml_error(loader->yaml, node, loader->error, "%s names no job", node->key);
	*indices = arena_alloc(&scenario->arena, (node->count + 1) * sizeof(**indices));
	for (; item; item = node->kind == YAML_SEQUENCE ? item->next : NULL) {
		size_t i = 0;

		if (item->kind != YAML_SCALAR || item->is_null)
			return yaml_error(loader->yaml, item, loader->error,
					  "%s must name jobs, not %s", node->key,
					  yaml_describe(found, item));
		while (i < scenario->job_count && strcmp(scenario->jobs[i].name, item->text) != 0)
			i++;
		if (i == scenario->job_count)
			return yaml_error(loader->yaml, item, loader->error,
					  "there is no job \"%.60s\"%s", item->text,
					  nearest_hint(hint, item->text, job_name_at, scenario));
		(*indices)[(*count)++] = (uint32_t)i;
	}
	return true;
}

static bool all_end(const bool *ends, const uint32_t *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!ends[jobs[i]])
			return false;
	}
	return true;
}

static bool job_ends(const struct scenario_job *job, const bool *ends)
{
	return all_end(ends, job->after, job->after_count) &&
	       (job->duration_ns || step_is_finite(&job->root) ||
		(job->until_count && all_end(ends, job->until, job->until_count)));
}

/* The first of these jobs that never ends, or -1. */
static int64_t first_endless(const bool *ends, const uint32_t *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!ends[jobs[i]])
			return jobs[i];
	}
	return -1;
}

/* Why does this job never end? Follow what it waits for to a job that nothing ends, or round a circle. */
static bool endless_explain(struct loader *loader, const bool *ends, uint32_t index)
{
	struct scenario *scenario = loader->scenario;
	bool *is_seen = arena_alloc(&scenario->arena, scenario->job_count * sizeof(*is_seen));
	char path[300] = "";
	size_t used = 0;
	const struct scenario_job *job;

	for (;;) {
		int64_t next;

		job = &scenario->jobs[index];
		if (used < sizeof(path) - 8)
			used += (size_t)snprintf(path + used, sizeof(path) - used, "%s%.60s",
						 used ? " -> " : "", job->name);
		if (is_seen[index])
			return yaml_error_key(loader->yaml, job->node, loader->error,
					      "jobs wait for each other in a circle: %s", path);
		is_seen[index] = true;
		next = first_endless(ends, job->after, job->after_count);
		if (next < 0)
			next = first_endless(ends, job->until, job->until_count);
		if (next < 0)
			break;
		index = (uint32_t)next;
	}
	return yaml_error_key(
		loader->yaml, yaml_get(job->node, "loop") ? yaml_get(job->node, "loop") : job->node,
		loader->error,
		"job \"%.60s\" never ends: it loops forever, and has neither until nor "
		"duration",
		job->name);
}

static bool ends_check(struct loader *loader)
{
	struct scenario *scenario = loader->scenario;
	bool *ends = arena_alloc(&scenario->arena, scenario->job_count * sizeof(*ends));
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < scenario->job_count; i++) {
			if (!ends[i] && job_ends(&scenario->jobs[i], ends))
				ends[i] = changed = true;
		}
	}
	for (uint32_t i = 0; i < scenario->job_count; i++) {
		if (!ends[i])
			return endless_explain(loader, ends, i);
	}
	return true;
}

static bool jobs_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;
	uint64_t clients = 0;

	if (node->count == 0)
		return yaml_error_key(loader->yaml, node, loader->error, "there is no job");
	if (node->count > STREAM_COUNT_MAX)
		return yaml_error_key(loader->yaml, node, loader->error,
				      "more than %d jobs; a job can have threads",
				      STREAM_COUNT_MAX);
	scenario->jobs = arena_alloc(&scenario->arena, node->count * sizeof(*scenario->jobs));
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		struct scenario_job *job = &scenario->jobs[scenario->job_count++];

		job->name = child->key;
		job->node = child;
		job->stream = (uint16_t)scenario->job_count;
		if (!job->name[0] || strlen(job->name) > NAME_BYTES_MAX)
			return yaml_error_key(loader->yaml, child, loader->error,
					      "a job's name must have 1 to %d bytes",
					      NAME_BYTES_MAX);
	}
	for (size_t i = 0; i < scenario->job_count; i++) {
		struct scenario_job *job = &scenario->jobs[i];

		if (!job_read(loader, job, job->node) ||
		    !names_read(loader, job->after_node, &job->after, &job->after_count) ||
		    !names_read(loader, job->until_node, &job->until, &job->until_count))
			return false;
		clients += job->threads;
		if (clients > SCENARIO_CLIENTS_MAX)
			return yaml_error_key(loader->yaml, job->node, loader->error,
					      "more than %d threads in all", SCENARIO_CLIENTS_MAX);
	}
	for (size_t i = 0; i < scenario->job_count; i++) {
		if (!steps_check(loader, &scenario->jobs[i].root))
			return false;
	}
	for (size_t i = 0; i < scenario->file_count; i++) {
		if (scenario->files[i].stream == STREAM_NONE)
			scenario->files[i].stream = 1;
	}
	return ends_check(loader);
}

/* ---- comparison ---- */

static bool compare_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;
	const struct yaml_node *list = node ? node->first : NULL;
	char found[128];

	if (!node)
		return true;
	if (node->count != 1)
		return yaml_error_key(
			loader->yaml, node, loader->error,
			"compare takes one key (policy, or a switch of the policy), not %zu",
			node->count);
	if (list->kind != YAML_SEQUENCE || list->count < 1 || list->count > SCENARIO_VARIANTS_MAX)
		return yaml_error(loader->yaml, list, loader->error,
				  "%.60s must be a list of 1 to %d values, not %s", list->key,
				  SCENARIO_VARIANTS_MAX, yaml_describe(found, list));
	scenario->compare_key = list->key;
	for (const struct yaml_node *item = list->first; item; item = item->next) {
		if (item->kind != YAML_SCALAR || item->is_null)
			return yaml_error(loader->yaml, item, loader->error,
					  "%.60s must be a list of values, not of %s", list->key,
					  yaml_describe(found, item));
		scenario->variant_nodes[scenario->variant_count] = item;
		scenario->variants[scenario->variant_count++] = item->text;
	}
	return true;
}

static bool published_read(struct loader *loader, struct scenario_figure *figure)
{
	struct scenario *scenario = loader->scenario;
	const struct yaml_node *list = figure->published_node;
	char found[128];
	size_t i = 0;

	if (!list || scenario->variant_count == 0)
		return true; /* nothing is compared (any more: --set compare=), so nothing is shown */
	if (list->count != scenario->variant_count)
		return yaml_error(
			loader->yaml, list, loader->error,
			"published must have one value for each of the %zu in compare, not %zu",
			scenario->variant_count, list->count);
	for (const struct yaml_node *item = list->first; item; item = item->next, i++) {
		struct error inner;

		if (item->kind != YAML_SCALAR)
			return yaml_error(loader->yaml, item, loader->error,
					  "published must be a list of numbers, not of %s",
					  yaml_describe(found, item));
		if (item->is_null)
			continue;
		if (!size_parse(&figure->published[i], item->text, "published", &inner))
			return yaml_error(loader->yaml, item, loader->error, "%s", inner.message);
		figure->published_known[i] = true;
	}
	return true;
}

static bool figures_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;

	if (!node)
		return true;
	scenario->figures =
		arena_alloc(&scenario->arena, (node->count + 1) * sizeof(*scenario->figures));
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		struct scenario_figure *figure = &scenario->figures[scenario->figure_count++];
		struct schema_table table = schema_table(SCHEMA_FIGURE, figure);

		figure->node = child;
		if (!schema_read(loader->yaml, child, "a figure", &table, 1, loader->error) ||
		    !names_read(loader, figure->jobs_node, &figure->jobs, &figure->job_count) ||
		    !published_read(loader, figure))
			return false;
		if (figure->counted && !figure->job_count)
			return yaml_error_key(loader->yaml, yaml_get(child, "counted"),
					      loader->error,
					      "whole passes are a job's: the figure needs jobs");
	}
	return true;
}

/* ---- all of it ---- */

/* "dir/cache-pressure.yaml" is called cache-pressure. */
static const char *name_from_path(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t bytes = strlen(base);

	if (bytes > 5 && strcmp(base + bytes - 5, ".yaml") == 0)
		bytes -= 5;
	else if (bytes > 4 && strcmp(base + bytes - 4, ".yml") == 0)
		bytes -= 4;
	return arena_text(arena, base, bytes);
}

static bool scenario_read(struct scenario *scenario, const char *name, const char *text,
			  size_t bytes, const char *const *sets, size_t set_count,
			  struct error *error)
{
	struct loader loader = {.scenario = scenario, .yaml = &scenario->yaml, .error = error};
	struct schema_table table = schema_table(SCHEMA_SCENARIO, scenario);
	struct yaml *yaml = &scenario->yaml;
	char found[128];

	name = arena_text(&scenario->arena, name, strlen(name));
	if (!yaml_parse(yaml, &scenario->arena, name, text, bytes, error))
		return false;
	if (yaml->root->kind != YAML_MAPPING)
		return yaml_error(yaml, yaml->root, error,
				  "a scenario must be a mapping (machine:, files:, jobs:), not %s",
				  yaml_describe(found, yaml->root));
	for (size_t i = 0; i < set_count; i++) {
		if (!yaml_set(yaml, sets[i], error))
			return false;
	}
	if (!schema_read(yaml, yaml->root, "scenario", &table, 1, error))
		return false;
	if (!scenario->name)
		scenario->name = name_from_path(&scenario->arena, name);
	return machine_read(&loader, scenario->machine_node) &&
	       files_read(&loader, scenario->files_node) &&
	       jobs_read(&loader, scenario->jobs_node) &&
	       compare_read(&loader, scenario->compare_node) &&
	       figures_read(&loader, scenario->figures_node);
}

bool scenario_parse(struct scenario *scenario, const char *name, const char *text, size_t bytes,
		    const char *const *sets, size_t set_count, struct error *error)
{
	*scenario = (struct scenario){0};
	if (scenario_read(scenario, name, text, bytes, sets, set_count, error))
		return true;
	scenario_deinit(scenario);
	return false;
}

bool scenario_load(struct scenario *scenario, const char *name, const char *const *sets,
		   size_t set_count, struct error *error)
{
	char path[4096];
	char *text;
	size_t bytes;
	bool ok;

	if (!shipped_find(path, sizeof(path), name, error) ||
	    !shipped_read(&text, &bytes, path, YAML_BYTES_MAX, error))
		return false;
	ok = scenario_parse(scenario, path, text, bytes, sets, set_count, error);
	memory_free(text);
	return ok;
}

void scenario_deinit(struct scenario *scenario)
{
	struct arena arena = scenario->arena;

	arena_deinit(&arena);
	*scenario = (struct scenario){0};
}

bool scenario_error(const struct scenario *scenario, const struct yaml_node *node,
		    struct error *error)
{
	char message[sizeof(error->message)];

	memcpy(message, error->message, sizeof(message));
	return yaml_error(&scenario->yaml, node, error, "%s", message);
}
