#include "base/size.h"
#include "op/stream.h"
#include "source/scenario_private.h"
#include "source/workload.h"

#include <stdio.h>
#include <string.h>

static const char *job_name_at(const void *context, size_t index)
{
	const struct scenario *scenario = context;

	return index < scenario->job_count ? scenario->jobs[index].name : NULL;
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

/*
 * About how many ops one thread does for this step; saturates. A loop that never ends counts once.
 */
static uint64_t step_ops(const struct scenario *scenario, const struct scenario_step *step)
{
	uint64_t loop = step->loop ? step->loop : 1, ops = 0, item_ops = 1;

	switch (step->kind) {
	case STEP_WAIT:
		return 0;
	case STEP_MARK:
	case STEP_SYNC:
	case STEP_DROP:
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

/*
 * Ops on files that will not be there, or beyond what they can become: the machine would stop at
 * them, or read nothing.
 */
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
	if (!file->exists && !loader->is_created[step->set] && step->op != OP_STAT &&
	    step->op != OP_READDIR)
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

/* ---- jobs that are programs ---- */

static const char *workload_name_at(const void *context, size_t index)
{
	(void)context;
	return workload_at(index) ? workload_at(index)->name : NULL;
}

/* What a program does not do: steps, and what is said of them. */
static bool workload_keys_check(struct loader *loader, const struct scenario_job *job,
				const struct yaml_node *node)
{
	static const char *const of_steps[] = {"steps", "loop", "threads", "think", "rate"};

	for (size_t i = 0; i < sizeof(of_steps) / sizeof(of_steps[0]); i++) {
		const struct yaml_node *child = yaml_get(node, of_steps[i]);
		bool is_own = false;

		for (size_t k = 0; k < job->workload->key_count; k++)
			is_own |= strcmp(job->workload->keys[k].name, of_steps[i]) == 0;
		if (child && !is_own)
			return yaml_error_key(loader->yaml, child, loader->error,
					      "\"%s\" means nothing to workload %s", of_steps[i],
					      job->workload->name);
	}
	return true;
}

static bool is_same_text(const struct yaml_node *one, const struct yaml_node *other)
{
	return strcmp(one && one->text ? one->text : "", other && other->text ? other->text : "") ==
	       0;
}

static bool workload_read(struct loader *loader, struct scenario_job *job,
			  const struct yaml_node *node, const char *what)
{
	const struct yaml_node *name = yaml_get(node, "workload");
	struct schema_table tables[2];
	void *options;
	char hint[80], found[128];

	if (name->kind != YAML_SCALAR || name->is_null)
		return yaml_error(loader->yaml, name, loader->error,
				  "workload must be a name, not %s", yaml_describe(found, name));
	job->workload = workload_find(name->text);
	if (!job->workload)
		return yaml_error(loader->yaml, name, loader->error,
				  "there is no workload \"%.60s\"%s", name->text,
				  nearest_hint(hint, name->text, workload_name_at, NULL));
	for (const struct scenario_job *other = loader->scenario->jobs; other < job; other++)
		if (other->workload == job->workload &&
		    is_same_text(yaml_get(other->node, "directory"), yaml_get(node, "directory")))
			return yaml_error(loader->yaml, name, loader->error,
					  "job \"%.60s\" is a %s, too, and its files have the same "
					  "names: give each a directory",
					  other->name, job->workload->name);
	options = arena_alloc(&loader->scenario->arena, job->workload->options_bytes);
	tables[0] = schema_table(SCHEMA_JOB, job);
	tables[1] = (struct schema_table){
		.keys = job->workload->keys, .count = job->workload->key_count, .to = options};
	if (!schema_read(loader->yaml, node, what, tables, 2, loader->error) ||
	    !workload_keys_check(loader, job, node))
		return false;
	job->workload_options = options;
	job->loop = 1;
	job->threads = job->workload->threads(options);
	return true;
}

/* "db.heap": what the machine's counters are kept by. Numbered from `next`. */
static void streams_name(struct loader *loader, struct scenario_job *job, uint64_t *next)
{
	struct arena *arena = &loader->scenario->arena;
	const char **names;

	job->stream_count = 1;
	job->first_stream = job->stream;
	if (job->workload) {
		for (job->stream_count = 0; job->workload->stream_names[job->stream_count];)
			job->stream_count++;
		job->first_stream = (uint16_t)*next;
		*next += job->stream_count;
	}
	names = arena_alloc(arena, job->stream_count * sizeof(*names));
	job->streams = names;
	for (size_t i = 0; i < job->stream_count; i++) {
		char text[2 * NAME_BYTES_MAX];
		int bytes = snprintf(text, sizeof(text), "%s.%s", job->name,
				     job->workload ? job->workload->stream_names[i] : "");

		names[i] = job->workload ? arena_text(arena, text, (size_t)bytes) : job->name;
	}
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
	if (yaml_get(node, "workload"))
		return workload_read(loader, job, node, what);
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

bool names_read(struct loader *loader, const struct yaml_node *node, uint32_t **indices,
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

static bool has_loop(const struct scenario_step *step)
{
	bool found = step->loop != 1;

	for (size_t i = 0; i < step->step_count && !found; i++)
		found = has_loop(&step->steps[i]);
	return found;
}

/* Who means "until" means that it goes on until then. */
static bool until_check(struct loader *loader, const struct scenario_job *job)
{
	if (!job->until_count || job->workload || yaml_get(job->node, "loop") ||
	    has_loop(&job->root))
		return true;
	return yaml_error_key(loader->yaml, job->until_node, loader->error,
			      "job \"%.60s\" does its steps once, so there is nothing for until to "
			      "end: add `loop: forever`",
			      job->name);
}

static bool is_finite(const struct scenario_job *job)
{
	return job->workload ? job->workload->ends(job->workload_options)
			     : step_is_finite(&job->root);
}

static bool job_ends(const struct scenario_job *job, const bool *ends)
{
	return all_end(ends, job->after, job->after_count) &&
	       (job->duration_ns || is_finite(job) ||
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

/*
 * Why does this job never end? Follow what it waits for to a job that nothing ends, or round a
 * circle.
 */
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
	if (job->workload)
		return yaml_error_key(loader->yaml, job->node, loader->error,
				      "job \"%.60s\" never ends: its workload needs an end of its "
				      "own (transactions), until or duration",
				      job->name);
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

bool jobs_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;
	uint64_t clients = 0, next_stream;

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
	next_stream = scenario->job_count + 1;
	for (size_t i = 0; i < scenario->job_count; i++) {
		struct scenario_job *job = &scenario->jobs[i];

		if (!job_read(loader, job, job->node) ||
		    !names_read(loader, job->after_node, &job->after, &job->after_count) ||
		    !names_read(loader, job->until_node, &job->until, &job->until_count))
			return false;
		if (!until_check(loader, job))
			return false;
		streams_name(loader, job, &next_stream);
		if (next_stream > STREAM_COUNT_MAX + 1)
			return yaml_error_key(loader->yaml, job->node, loader->error,
					      "more than %d streams in all", STREAM_COUNT_MAX);
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
