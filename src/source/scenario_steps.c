#include "op/path.h"
#include "base/size.h"
#include "source/generator.h"
#include "source/scenario_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *file_name_at(const void *context, size_t index)
{
	const struct scenario *scenario = context;

	return index < scenario->file_count ? scenario->files[index].name : NULL;
}

static const char *generator_name_at(const void *context, size_t index)
{
	(void)context;
	return generator_at(index) ? generator_at(index)->name : NULL;
}

/* What a verb works on, and so which keys mean something to it. */
enum verb_class {
	VERB_TRANSFER, /* requests within files, by a call */
	VERB_RANGE,    /* requests within files */
	VERB_CREATE,
	VERB_ADVICE, /* a file, with a range */
	VERB_TRUNCATE,
	VERB_FILE,      /* a file */
	VERB_DIRECTORY, /* the directory that a file is in */
	VERB_MARK,
	VERB_SYNC,
	VERB_DROP,
	VERB_WAIT,
	VERB_GROUP,
};

struct verb {
	const char *name;
	enum verb_class class;
	enum op_kind op;
};

static const struct verb verbs[] = {
	{"read", VERB_TRANSFER, OP_READ},
	{"write", VERB_TRANSFER, OP_WRITE},
	{"mmap_read", VERB_RANGE, OP_MMAP_READ},
	{"mmap_write", VERB_RANGE, OP_MMAP_WRITE},
	{"fallocate", VERB_RANGE, OP_FALLOCATE},
	{"create", VERB_CREATE, OP_CREATE},
	{"stat", VERB_FILE, OP_STAT},
	{"readdir", VERB_DIRECTORY, OP_READDIR},
	{"open", VERB_FILE, OP_OPEN},
	{"close", VERB_FILE, OP_CLOSE},
	{"unlink", VERB_FILE, OP_UNLINK},
	{"truncate", VERB_TRUNCATE, OP_TRUNCATE},
	{"fsync", VERB_FILE, OP_FSYNC},
	{"fdatasync", VERB_FILE, OP_FDATASYNC},
	{"fadvise_dontneed", VERB_ADVICE, OP_FADVISE_DONTNEED},
	{"fadvise_random", VERB_ADVICE, OP_FADVISE_RANDOM},
	{"madvise_random", VERB_ADVICE, OP_MADVISE_RANDOM},
	{"fadvise_sequential", VERB_ADVICE, OP_FADVISE_SEQUENTIAL},
	{"fadvise_willneed", VERB_ADVICE, OP_FADVISE_WILLNEED},
	{"fadvise_noreuse", VERB_ADVICE, OP_FADVISE_NOREUSE},
	{"mark", VERB_MARK, OP_MARK},
	{"sync", VERB_SYNC, OP_SYNC},
	{"drop_caches", VERB_DROP, OP_DROP_CACHES},
	{"wait", VERB_WAIT, OP_MARK},
	{"each", VERB_GROUP, OP_MARK},
	{"steps", VERB_GROUP, OP_MARK},
};

/* What O_DIRECT is aligned to. */
enum { SECTOR_BYTES = 512 };

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

/* Keys that mean something to each class, besides the verb and the generator's own. */
static const char *const class_keys[] = {
	[VERB_TRANSFER] = ("pattern request offset bytes count loop split close_after fsync_every "
			   "fdatasync_every direct dontcache list"),
	[VERB_RANGE] = ("pattern request offset bytes count loop split close_after fsync_every "
			"fdatasync_every"),
	[VERB_CREATE] = "pattern request count loop split close_after fsync_every fdatasync_every",
	[VERB_ADVICE] = "pattern request offset bytes count loop split",
	[VERB_TRUNCATE] = "pattern bytes count loop split",
	[VERB_FILE] = "pattern count loop split list",
	[VERB_DIRECTORY] = "pattern count loop split",
	[VERB_MARK] = "",
	[VERB_SYNC] = "",
	[VERB_DROP] = "",
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
				      "mark, wait, steps, ...",
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

/* O_DIRECT, or RWF_DONTCACHE. */
static bool way_check(struct loader *loader, const struct scenario_step *step,
		      const struct yaml_node *node)
{
	if (step->direct && step->dontcache)
		return yaml_error_key(loader->yaml, yaml_get(node, "dontcache"), loader->error,
				      "a request is direct, or it is dontcache: what goes past "
				      "the cache leaves nothing there");
	if (step->direct &&
	    (step->request_bytes | step->offset_bytes | step->range_bytes) % SECTOR_BYTES)
		return yaml_error_key(
			loader->yaml, yaml_get(node, "direct"), loader->error,
			"direct requests are multiples of 512 bytes, and begin at such: "
			"`request` is %" PRIu64 ", `offset` %" PRIu64 " and `bytes` %" PRIu64,
			step->request_bytes, step->offset_bytes, step->range_bytes);
	return true;
}

static bool list_check(struct loader *loader, const struct scenario_step *step,
		       const struct yaml_node *node)
{
	if (step->list &&
	    (step->file == STEP_FILE_THIS || !loader->scenario->files[step->set].is_set))
		return yaml_error_key(loader->yaml, yaml_get(node, "list"), loader->error,
				      "list is for the files of a set, which has a count");
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
	if (verb->class == VERB_DIRECTORY) {
		const struct scenario_file *file = &scenario->files[index];

		if (step->file == STEP_FILE_THIS)
			return yaml_error_key(loader->yaml, yaml_get(node, verb->name),
					      loader->error,
					      "readdir is about the directories of a file or a "
					      "set: name it, instead of `this`");
		files = (file->count - 1) / file->per_directory + 1;
	}
	if (step->by_request && !step_range(loader, step, node, verb, &scenario->files[index],
					    &loader->end_bytes[index]))
		return false;
	if (!way_check(loader, step, node) || !list_check(loader, step, node))
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
	case VERB_DROP:
		step->kind = STEP_DROP;
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
bool step_read(struct loader *loader, struct scenario_step *step, const struct yaml_node *node,
	       uint32_t this_set, unsigned int depth, bool is_job)
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
	step->by_request = verb->class == VERB_RANGE || verb->class == VERB_TRANSFER ||
			   (verb->class == VERB_ADVICE && yaml_get(node, "request") != NULL);
	return step_complete(loader, step, node, verb, this_set, depth);
}

bool steps_read(struct loader *loader, struct scenario_step *parent, const struct yaml_node *list,
		uint32_t this_set, unsigned int depth)
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
