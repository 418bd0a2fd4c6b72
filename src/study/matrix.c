#include "study/matrix.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/model/model.h"
#include "source/scenario.h"
#include "study/trial.h"

enum side { BASE, CHANGED, SIDES };

/* With so many seeds it shows whether a scenario draws anything by lot. */
enum { SEEDS_FIRST = 2 };

/* ---- one run ---- */

/* Of a result, what is kept. */
struct outcome {
	char failure[512]; /* "": it came to its end */
	bool is_known;
	double value; /* the metric's */
	uint64_t op_count;
	/* Of all counters of all streams: runs that draw nothing by lot are alike in it. */
	uint64_t fingerprint;
	struct outcome_stream {
		char *name;
		bool is_known;
		double value;
	} * streams;
	size_t stream_count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	/* FNV-1a (public domain), eight bytes at a time. */
	return (hash ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t mix_counters(uint64_t hash, const struct counters *counters)
{
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		hash = mix(hash, counter_get(counters, id));
	return hash;
}

static void outcome_make(struct outcome *outcome, const struct metric *metric,
			 const struct result *result)
{
	uint64_t hash = mix_counters(UINT64_C(0xcbf29ce484222325), &result->totals);

	outcome->op_count = result->op_count;
	outcome->is_known = metric_of_run(metric, result, &outcome->value);
	outcome->streams = memory_alloc(result->stream_count + 1, sizeof(*outcome->streams));
	outcome->stream_count = result->stream_count;
	for (size_t i = 0; i < result->stream_count; i++) {
		struct outcome_stream *stream = &outcome->streams[i];

		stream->name = text_copy(result->streams[i].name);
		stream->is_known = metric_of_stream(metric, &result->streams[i], &stream->value);
		hash = mix_counters(hash, &result->streams[i].counters);
	}
	outcome->fingerprint = mix(mix(hash, result->op_count), result->elapsed_ns);
}

static void outcome_deinit(struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->stream_count; i++)
		memory_free(outcome->streams[i].name);
	memory_free(outcome->streams);
}

static const struct outcome_stream *outcome_stream(const struct outcome *outcome, const char *name)
{
	for (size_t i = 0; i < outcome->stream_count; i++)
		if (strcmp(outcome->streams[i].name, name) == 0)
			return &outcome->streams[i];
	return NULL;
}

/* The model as the scenario's machine asks for it. */
static bool run_one(const struct scenario *scenario, const struct policy_options *policy,
		    uint64_t seed, const struct metric *metric, struct outcome *outcome,
		    struct error *error)
{
	struct device_profile *device;
	struct model_options model;
	struct result result;
	uint64_t elapsed_ns;
	bool done;

	if (!trial_machine(scenario, &model, &device, error))
		return false;
	model.policy = *policy;
	model.seed = seed;
	done = trial_play(scenario, &model, &result, &elapsed_ns, error);
	if (done) {
		if (!result.elapsed_ns)
			result.elapsed_ns = elapsed_ns;
		outcome_make(outcome, metric, &result);
		result_deinit(&result);
	}
	device_profile_free(device);
	return done;
}

/* Is this a machine that there is? */
static bool machine_check(const struct scenario *scenario, struct error *error)
{
	struct device_profile *device;
	struct model_options model;
	bool ok = trial_machine(scenario, &model, &device, error);

	if (ok)
		device_profile_free(device);
	return ok;
}

/* ---- the scenarios ---- */

struct entry {
	struct scenario scenarios[SIDES];
	bool loaded[SIDES];
	char left_out[512]; /* why it is not run; "": it is */
	struct outcome *outcomes[SIDES];
	size_t run_count; /* seeds that are run */
};

struct matrix {
	const struct matrix_options *options;
	struct entry *entries;
	atomic_size_t next;
	size_t first_seed, seed_count; /* of this round */
	pthread_mutex_t mutex;
	uint64_t done, total, ops; /* runs; operations */
};

/* Is it the same text, whatever place it came from? */
static bool yaml_same(const struct yaml_node *a, const struct yaml_node *b)
{
	if (a->kind != b->kind || a->count != b->count || !a->key != !b->key ||
	    (a->key && strcmp(a->key, b->key) != 0))
		return false;
	if (a->kind == YAML_SCALAR)
		return a->is_null == b->is_null && strcmp(a->text, b->text) == 0;
	for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
		if (!yaml_same(a, b))
			return false;
	return !a && !b;
}

/* False: the change cannot be made in this scenario; *error says why. */
static bool entry_change(const struct matrix_options *options, struct entry *entry,
			 const char *name, struct error *error)
{
	const struct matrix_change *change = options->change;
	size_t count = options->set_count + change->set_count;
	const char **sets = memory_alloc(count + 1, sizeof(*sets));

	for (size_t i = 0; i < count; i++)
		sets[i] = i < options->set_count ? options->sets[i]
						 : change->sets[i - options->set_count];
	entry->loaded[CHANGED] =
		scenario_load(&entry->scenarios[CHANGED], name, sets, count, error);
	memory_free(sets);
	return entry->loaded[CHANGED] && machine_check(&entry->scenarios[CHANGED], error);
}

static void leave_out(struct entry *entry, const char *why)
{
	snprintf(entry->left_out, sizeof(entry->left_out), "%s", why);
}

/* False: the scenario is wrong as it is. *fits: the change can be made in it; else *error says why. */
static bool entry_load(const struct matrix_options *options, struct entry *entry, const char *name,
		       bool *fits, struct error *error)
{
	const struct matrix_change *change = options->change;
	char size[SIZE_TEXT_BYTES], text[96];
	struct scenario *base = &entry->scenarios[BASE];

	*fits = true;
	if (!scenario_load(base, name, options->sets, options->set_count, error))
		return false;
	entry->loaded[BASE] = true;
	if (!machine_check(base, error))
		return false;
	if (options->memory_bytes_max && base->machine.memory_bytes > options->memory_bytes_max) {
		snprintf(text, sizeof(text), "its machine has %s: name it to have it run",
			 size_format(size, base->machine.memory_bytes));
		leave_out(entry, text);
		return true;
	}
	for (size_t i = 0; options->memory_bytes_max && i < base->job_count; i++) {
		if (!base->jobs[i].workload)
			continue;
		leave_out(entry,
			  "it simulates a program, which takes long: name it to have it run");
		return true;
	}
	*fits = entry_change(options, entry, name, error);
	if (!*fits)
		leave_out(entry, error->message);
	else if (!change->policy_differs &&
		 yaml_same(base->yaml.root, entry->scenarios[CHANGED].yaml.root))
		leave_out(entry, "it has that already");
	return true;
}

/* *run_count: how many are to be run. */
static bool entries_load(struct matrix *matrix, size_t *run_count, struct error *error)
{
	const struct matrix_options *options = matrix->options;
	struct error last;
	bool any_fits = false;

	*run_count = 0;
	for (size_t i = 0; i < options->name_count; i++) {
		struct entry *entry = &matrix->entries[i];
		bool fits;

		if (!entry_load(options, entry, options->names[i], &fits, error))
			return false;
		if (!fits)
			last = *error;
		any_fits |= fits;
		*run_count += !entry->left_out[0];
		for (enum side side = BASE; side < SIDES; side++)
			entry->outcomes[side] =
				memory_alloc(options->seed_count, sizeof(*entry->outcomes[side]));
	}
	if (any_fits || options->name_count == 0)
		return true;
	/* In none of them: that is a mistake in the change. */
	*error = last;
	return false;
}

static void entry_deinit(struct entry *entry)
{
	for (enum side side = BASE; side < SIDES; side++) {
		for (size_t i = 0; i < entry->run_count; i++)
			outcome_deinit(&entry->outcomes[side][i]);
		memory_free(entry->outcomes[side]);
		if (entry->loaded[side])
			scenario_deinit(&entry->scenarios[side]);
	}
}

/* ---- all runs ---- */

static uint64_t seed_at(const struct matrix_options *options, const struct entry *entry,
			size_t index)
{
	return (options->has_first_seed ? options->first_seed : entry->scenarios[BASE].seed) +
	       index;
}

static void run_tell(struct matrix *matrix, const struct outcome *outcome)
{
	const struct matrix_options *options = matrix->options;

	pthread_mutex_lock(&matrix->mutex);
	matrix->done++;
	matrix->ops += outcome->op_count;
	if (options->progress)
		options->progress(options->progress_context, matrix->done, matrix->total,
				  matrix->ops, 0);
	pthread_mutex_unlock(&matrix->mutex);
}

/* Run number `index` of this round: all seeds of a side, all sides of a scenario, all scenarios. */
static void run_at(struct matrix *matrix, size_t index)
{
	const struct matrix_options *options = matrix->options;
	const struct matrix_change *change = options->change;
	size_t seed = matrix->first_seed + index % matrix->seed_count;
	enum side side = index / matrix->seed_count % SIDES;
	struct entry *entry = &matrix->entries[index / matrix->seed_count / SIDES];
	struct outcome *outcome;
	struct error error;

	if (seed >= entry->run_count)
		return;
	outcome = &entry->outcomes[side][seed];
	if (!run_one(&entry->scenarios[side], side == BASE ? &change->base : &change->changed,
		     seed_at(options, entry, seed), &options->metric, outcome, &error))
		snprintf(outcome->failure, sizeof(outcome->failure), "%s", error.message);
	run_tell(matrix, outcome);
}

static void *worker_run(void *argument)
{
	struct matrix *matrix = argument;
	size_t count = matrix->options->name_count * SIDES * matrix->seed_count, index;

	while ((index = atomic_fetch_add(&matrix->next, 1)) < count)
		run_at(matrix, index);
	return NULL;
}

static void round_run(struct matrix *matrix, size_t first_seed, size_t seed_count)
{
	size_t wanted = matrix->options->thread_count - 1, started = 0;
	pthread_t *threads = memory_alloc(wanted + 1, sizeof(*threads));

	matrix->first_seed = first_seed;
	matrix->seed_count = seed_count;
	atomic_store(&matrix->next, 0);
	while (seed_count && started < wanted &&
	       pthread_create(&threads[started], NULL, worker_run, matrix) == 0)
		started++;
	if (seed_count)
		worker_run(matrix);
	while (started-- > 0)
		pthread_join(threads[started], NULL);
	memory_free(threads);
}

/* Did the first seeds give the same to the last counter, on both sides? */
static bool draws_nothing(const struct entry *entry)
{
	for (enum side side = BASE; side < SIDES; side++)
		for (size_t i = 1; i < entry->run_count; i++)
			if (entry->outcomes[side][i].fingerprint !=
				    entry->outcomes[side][0].fingerprint ||
			    strcmp(entry->outcomes[side][i].failure,
				   entry->outcomes[side][0].failure) != 0)
				return false;
	return entry->run_count > 1;
}

static void all_run(struct matrix *matrix, size_t scenario_count)
{
	const struct matrix_options *options = matrix->options;
	size_t first = options->seed_count < SEEDS_FIRST ? options->seed_count : SEEDS_FIRST;

	matrix->total = scenario_count * SIDES * options->seed_count;
	for (size_t i = 0; i < options->name_count; i++)
		matrix->entries[i].run_count = matrix->entries[i].left_out[0] ? 0 : first;
	round_run(matrix, 0, first);
	for (size_t i = 0; i < options->name_count; i++) {
		struct entry *entry = &matrix->entries[i];

		if (!entry->run_count)
			continue;
		if (draws_nothing(entry))
			matrix->total -= SIDES * (options->seed_count - first);
		else
			entry->run_count = options->seed_count;
	}
	round_run(matrix, first, options->seed_count - first);
}

/* ---- effects ---- */

/* The values of a stream (NULL: of the machine) over the seeds; false: not known in all of them. */
static bool values_of(const struct entry *entry, enum side side, const char *stream, double *values)
{
	for (size_t i = 0; i < entry->run_count; i++) {
		const struct outcome *outcome = &entry->outcomes[side][i];
		const struct outcome_stream *own = stream ? outcome_stream(outcome, stream) : NULL;

		/* A stream that is not there did nothing. */
		values[i] = stream ? (own ? own->value : 0) : outcome->value;
		if (stream ? own && !own->is_known : !outcome->is_known)
			return false;
	}
	return true;
}

static struct effect effect_of(const struct matrix *matrix, const struct entry *entry,
			       const char *stream)
{
	const struct metric *metric = &matrix->options->metric;
	uint64_t memory_bytes = entry->scenarios[BASE].machine.memory_bytes;
	double *values[SIDES] = {memory_alloc(entry->run_count, sizeof(double)),
				 memory_alloc(entry->run_count, sizeof(double))};
	struct effect effect = {0};

	if (values_of(entry, BASE, stream, values[BASE]) &&
	    values_of(entry, CHANGED, stream, values[CHANGED]))
		effect = effect_measure(values[BASE], values[CHANGED], entry->run_count,
					metric_floor(metric, memory_bytes),
					metric_more_is_better(metric));
	memory_free(values[BASE]);
	memory_free(values[CHANGED]);
	return effect;
}

static bool has_stream(const struct change_scenario *row, const char *name)
{
	for (size_t i = 0; i < row->stream_count; i++)
		if (strcmp(row->streams[i].name, name) == 0)
			return true;
	return false;
}

static void streams_make(const struct matrix *matrix, const struct entry *entry,
			 struct change_scenario *row)
{
	size_t count = 0;

	for (enum side side = BASE; side < SIDES; side++)
		for (size_t i = 0; i < entry->run_count; i++)
			count += entry->outcomes[side][i].stream_count;
	row->streams = memory_alloc(count + 1, sizeof(*row->streams));
	for (enum side side = BASE; side < SIDES; side++)
		for (size_t i = 0; i < entry->run_count; i++) {
			const struct outcome *outcome = &entry->outcomes[side][i];

			for (size_t k = 0; k < outcome->stream_count; k++) {
				const char *name = outcome->streams[k].name;

				if (has_stream(row, name))
					continue;
				row->streams[row->stream_count++] = (struct change_stream){
					text_copy(name), effect_of(matrix, entry, name)};
			}
		}
}

/* The first seed's that failed. */
static char *failure_of(const struct entry *entry, enum side side)
{
	for (size_t i = 0; i < entry->run_count; i++)
		if (entry->outcomes[side][i].failure[0])
			return text_copy(entry->outcomes[side][i].failure);
	return NULL;
}

static double ops_of(const struct entry *entry, enum side side)
{
	double sum = 0;

	for (size_t i = 0; i < entry->run_count; i++)
		sum += (double)entry->outcomes[side][i].op_count;
	return sum;
}

/* "corpus/many-streams" as it ships; a file by its own name. */
static char *name_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *end = strrchr(name, '.');
	char text[256];

	if (!end || (strcmp(end, ".yaml") != 0 && strcmp(end, ".yml") != 0))
		return text_copy(name);
	name = slash ? slash + 1 : name;
	snprintf(text, sizeof(text), "%.*s", (int)(end - name), name);
	return text_copy(text);
}

static void row_make(const struct matrix *matrix, const struct entry *entry,
		     struct change_scenario *row)
{
	const char *summary = entry->scenarios[BASE].summary;
	char why[96];

	row->summary = summary ? text_copy(summary) : NULL;
	if (entry->left_out[0]) {
		row->left_out = text_copy(entry->left_out);
		return;
	}
	row->seed_count = entry->run_count;
	row->base_failure = failure_of(entry, BASE);
	row->changed_failure = failure_of(entry, CHANGED);
	if (row->base_failure || row->changed_failure) {
		/* To fail is to lose, whatever was read until then. */
		if (!row->base_failure != !row->changed_failure)
			row->effect.verdict = row->changed_failure ? CHANGE_LOSER : CHANGE_WINNER;
		return;
	}
	row->effect = effect_of(matrix, entry, NULL);
	if (!row->effect.is_known) {
		snprintf(why, sizeof(why), "it has no %s", metric_name(&matrix->options->metric));
		row->left_out = text_copy(why);
	}
	row->work_change = ops_of(entry, CHANGED) / ops_of(entry, BASE) - 1;
	streams_make(matrix, entry, row);
}

bool matrix_run(const struct matrix_options *options, struct change *change, struct error *error)
{
	struct matrix matrix = {.options = options, .mutex = PTHREAD_MUTEX_INITIALIZER};
	char policy[1024];
	size_t run_count;
	bool done;

	assert(options->seed_count > 0 && options->thread_count > 0);
	*change = (struct change){.metric = options->metric, .seed_count = options->seed_count};
	matrix.entries = memory_alloc(options->name_count + 1, sizeof(*matrix.entries));
	done = entries_load(&matrix, &run_count, error);
	if (!done)
		goto out;
	all_run(&matrix, run_count);
	policy_options_format(policy, sizeof(policy), &options->change->base);
	change->base = text_copy(policy);
	change->changed = text_copy(options->change->text);
	change->scenarios = memory_alloc(options->name_count + 1, sizeof(*change->scenarios));
	change->scenario_count = options->name_count;
	for (size_t i = 0; i < options->name_count; i++) {
		change->scenarios[i].name = name_of(options->names[i]);
		row_make(&matrix, &matrix.entries[i], &change->scenarios[i]);
	}
out:
	for (size_t i = 0; i < options->name_count; i++)
		entry_deinit(&matrix.entries[i]);
	memory_free(matrix.entries);
	return done;
}
