#include "study/advise.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "measure/metric.h"
#include "source/player.h"
#include "study/bounds.h"
#include "study/remedy.h"
#include "study/remedy_source.h"

enum { STREAMS = REMEDY_TARGETS_MAX + 1, MODES = 2, SEEDS_FIRST = 2, PAIRED_MAX = 6 };

/* Below a hundredth nothing is an effect; of two that are as near, the easier one goes first. */
static const double notable = 0.01;

/* So much of what is read again is to be gone: who searches for memory wants most of it. */
enum { GONE_PERCENT = 90 };

/*
 * An inode that has to be made again is read out of its table: so much of it (mke2fs.conf(5): inode_size 256; mkfs.xfs(8): 512). Whether its block
 * comes from the device is counted with what is read.
 */
static const double INODE_BYTES = 256;

/* A wait of a tenth of a second is one that people notice (R. B. Miller, AFIPS 1968, on response times). */
static const double LONG_WAIT_NS = 1e8;

/* ---- one run ---- */

struct outcome {
	bool done, failed;
	char failure[512];
	uint64_t fingerprint;
	double read, reread, written, inodes_again;
	double resident; /* bytes of file pages in memory, at the most, as far as samples tell */
	bool knows_time, knows_p99;
	double rate, p99_ns, longest_ns;
	double ops; /* of the input: whoever does it faster may do more of it */
	double stream_read[STREAMS], stream_reread[STREAMS];
};

/* A try, with all its runs: by mode and seed. */
struct attempt {
	struct remedy_try it;
	struct outcome *outcomes;   /* [mode * seed_count + seed] */
	struct scenario *scenario;  /* of sets; NULL: as it is */
	struct advice_remedy *told; /* once it is in the answer */
	double score;
	bool is_left_out;
};

struct job {
	struct attempt *attempt;
	size_t mode, seed;
};

struct advise {
	const struct advise_options *options;
	struct advice *advice;
	struct remedy_targets targets;
	struct remedy_facts facts;
	struct attempt base;
	ARRAY(struct attempt *) attempts;
	ARRAY(struct attempt *) pairs;
	size_t modes, seeds; /* that make a difference */
	size_t scout_modes;  /* for a first look */
	char *work;

	ARRAY(struct job) jobs;
	atomic_size_t next_job;
	pthread_mutex_t mutex;
	uint64_t done, total, ops;
};

static bool is_interrupted(const struct advise *advise)
{
	const volatile int *flag = advise->options->model.interrupted;

	return flag && *flag;
}

static struct outcome *outcome_at(const struct advise *advise, const struct attempt *attempt,
				  size_t mode, size_t seed)
{
	return &attempt->outcomes[mode * advise->options->seed_count + seed];
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	/* FNV-1a (public domain), eight bytes at a time. */
	return (hash ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t fingerprint(const struct result *result)
{
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), result->elapsed_ns);

	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		hash = mix(hash, counter_get(&result->totals, id));
	return hash;
}

/* Of calls of the program's own: what a remedy adds (fadvise) is not waited for. */
static bool is_waited_for(const char *name)
{
	return strncmp(name, "read", 4) == 0 || strncmp(name, "write", 5) == 0 ||
	       strncmp(name, "mmap", 4) == 0 || strcmp(name, "fsync") == 0 ||
	       strcmp(name, "fdatasync") == 0;
}

static void outcome_latency(struct outcome *outcome, const struct result *result)
{
	const struct result_latency *work = result_latency_find(result, "transaction");
	struct histogram all = {0};

	if (work && work->ns.count)
		histogram_merge(&all, &work->ns);
	else
		for (size_t i = 0; i < result->latency_count; i++)
			if (is_waited_for(result->latencies[i].name))
				histogram_merge(&all, &result->latencies[i].ns);
	outcome->knows_p99 = all.count > 0;
	if (outcome->knows_p99) {
		outcome->p99_ns = (double)histogram_quantile(&all, 990000);
		outcome->longest_ns = (double)all.most;
	}
	histogram_deinit(&all);
}

static size_t target_index(const struct advise *advise, const char *name)
{
	for (uint32_t i = 1; i < REMEDY_TARGETS_MAX + 2; i++)
		if (advise->targets.names[i] && strcmp(advise->targets.names[i], name) == 0)
			return i - 1;
	return SIZE_MAX;
}

/* Added to what is there: a split has two sides. */
static void outcome_add(const struct advise *advise, struct outcome *outcome,
			const struct result *result, uint64_t op_count, uint64_t elapsed_ns)
{
	double resident = 0;

	outcome->fingerprint = mix(outcome->fingerprint, fingerprint(result));
	outcome->read += (double)result->totals.read_bytes;
	outcome->reread += (double)result->totals.reread_bytes;
	/* What is still dirty at the end has to be written, too. */
	outcome->written +=
		(double)(result->totals.write_bytes + bytes_from_pages(result->totals.dirty_pages));
	for (size_t i = 0; i < result->sample_count; i++) {
		double bytes = (double)bytes_from_pages(result->samples[i].active_file_pages +
							result->samples[i].inactive_file_pages);

		if (bytes > resident)
			resident = bytes;
	}
	outcome->resident += resident;
	outcome->inodes_again += (double)result->totals.inodes_reallocated;
	for (size_t i = 0; i < result->stream_count; i++) {
		size_t target = target_index(advise, result->streams[i].name);

		if (target >= STREAMS)
			continue;
		outcome->stream_read[target] += (double)result->streams[i].counters.read_bytes;
		outcome->stream_reread[target] += (double)result->streams[i].counters.reread_bytes;
	}
	outcome->ops = (double)op_count;
	outcome->knows_time = elapsed_ns > 0;
	if (result->work && result->work_count && result->elapsed_ns)
		outcome->rate = result_work_per_second(result);
	else if (elapsed_ns)
		outcome->rate = (double)op_count * 1e9 / (double)elapsed_ns;
	outcome_latency(outcome, result);
}

static bool source_open(const struct advise *advise, const struct attempt *attempt, uint64_t seed,
			struct op_source **source, struct stream_map **streams, struct error *error)
{
	const struct advise_options *options = advise->options;
	const struct scenario *scenario =
		attempt && attempt->scenario ? attempt->scenario : options->scenario;

	*streams = NULL;
	if (!scenario)
		return options->open(options->context, source, streams, error);
	*source = scenario_source_create(scenario, seed, error);
	return *source != NULL;
}

static void source_close(const struct advise *advise, struct op_source *source,
			 struct stream_map *streams)
{
	if (advise->options->close && !advise->options->scenario)
		advise->options->close(advise->options->context, source);
	op_source_destroy(source);
	stream_map_destroy(streams);
}

/* `facts`: of the very first run. `side`: of a split. */
static bool play(struct advise *advise, const struct attempt *attempt,
		 const struct model_options *given, int side, struct remedy_facts *facts,
		 struct outcome *outcome, struct result *result, struct error *error)
{
	struct model_options model = *given;
	struct remedy_source_options wrapped = {
		.targets = &advise->targets,
		.splits_classes = advise->options->splits_classes,
		.facts = facts,
		.attempt = attempt->it.remedy ? &attempt->it : NULL,
		.side = side,
	};
	struct op_source *inner, *source;
	bool done;

	if (!source_open(advise, attempt, model.seed, &inner, &wrapped.streams, error))
		return false;
	source = remedy_source_create(inner, &wrapped);
	done = model_run(&model, source, result, error);
	if (done) {
		/* Only a device makes anybody wait; the sides of a split do not wait for each other. */
		uint64_t elapsed = side ? 0 : result->elapsed_ns;

		outcome_add(advise, outcome, result, remedy_source_ops(source), elapsed);
		pthread_mutex_lock(&advise->mutex);
		advise->ops += result->op_count;
		pthread_mutex_unlock(&advise->mutex);
	}
	op_source_destroy(source);
	source_close(advise, inner, wrapped.streams);
	return done;
}

/* Kernels that sum statistics lazily are tried both ways; the given one first. */
static void mode_set(const struct advise *advise, struct model_options *model, size_t mode)
{
	uint32_t given = advise->options->model.policy.switches.value[SWITCH_statistics];
	struct switches preset;

	if (!policy_has_switches(model->policy.policy))
		return;
	preset = policy_preset(model->policy.policy);
	if (preset.value[SWITCH_statistics])
		model->policy.switches.value[SWITCH_statistics] = mode ? !given : given;
}

static bool has_modes(const struct model_options *model)
{
	return policy_has_switches(model->policy.policy) &&
	       policy_preset(model->policy.policy).value[SWITCH_statistics];
}

static void outcome_fail(struct outcome *outcome, const struct error *error)
{
	*outcome = (struct outcome){.done = true, .failed = true};
	snprintf(outcome->failure, sizeof(outcome->failure), "%s", error->message);
}

static void run_job(struct advise *advise, const struct job *job)
{
	const struct attempt *attempt = job->attempt;
	struct outcome *outcome = outcome_at(advise, attempt, job->mode, job->seed);
	struct model_options model = attempt->it.model;
	struct result result;
	struct error error = {0};
	bool done;

	if (outcome->done)
		return;
	*outcome = (struct outcome){0};
	model.seed = advise->options->model.seed + job->seed;
	mode_set(advise, &model, job->mode);
	done = play(advise, attempt, &model, attempt->it.split_bytes ? -1 : 0, NULL, outcome,
		    &result, &error);
	if (done)
		result_deinit(&result);
	if (done && attempt->it.split_bytes) {
		model.memory_bytes = attempt->it.split_bytes;
		model.pinned_bytes = 0;
		done = play(advise, attempt, &model, 1, NULL, outcome, &result, &error);
		if (done)
			result_deinit(&result);
	}
	if (!done)
		outcome_fail(outcome, &error);
	/* What was ended in the middle says nothing. */
	outcome->done = !is_interrupted(advise);
}

/* ---- many runs ---- */

static void *work(void *argument)
{
	struct advise *advise = argument;
	const struct advise_options *options = advise->options;
	size_t index;

	while ((index = atomic_fetch_add(&advise->next_job, 1)) < advise->jobs.count) {
		if (is_interrupted(advise))
			break;
		run_job(advise, &advise->jobs.at[index]);
		pthread_mutex_lock(&advise->mutex);
		advise->done++;
		if (options->progress)
			options->progress(options->progress_context, advise->done, advise->total,
					  advise->ops, 0);
		pthread_mutex_unlock(&advise->mutex);
	}
	return NULL;
}

static void job_add(struct advise *advise, struct attempt *attempt, size_t mode, size_t seed)
{
	if (!outcome_at(advise, attempt, mode, seed)->done)
		*array_push(&advise->jobs) = (struct job){attempt, mode, seed};
}

static void jobs_run(struct advise *advise)
{
	size_t most = advise->options->thread_count - 1, started = 0;
	pthread_t *threads = memory_alloc(most + 1, sizeof(*threads));

	advise->total = advise->done + advise->jobs.count;
	atomic_store(&advise->next_job, 0);
	while (started < most && started + 1 < advise->jobs.count &&
	       pthread_create(&threads[started], NULL, work, advise) == 0)
		started++;
	work(advise);
	while (started-- > 0)
		pthread_join(threads[started], NULL);
	memory_free(threads);
	advise->jobs.count = 0;
}

/* A first look at a try. */
static void scout(struct advise *advise, struct attempt *attempt)
{
	for (size_t mode = 0; mode < advise->scout_modes; mode++)
		job_add(advise, attempt, mode, 0);
}

static struct attempt *attempt_create(const struct advise *advise, const struct remedy_try *it)
{
	struct attempt *attempt = memory_alloc(1, sizeof(*attempt));

	attempt->it = *it;
	attempt->outcomes =
		memory_alloc(MODES * advise->options->seed_count, sizeof(*attempt->outcomes));
	return attempt;
}

static struct attempt *attempt_add(struct advise *advise, const struct remedy_try *it)
{
	struct attempt *attempt = attempt_create(advise, it);

	*array_push(&advise->attempts) = attempt;
	return attempt;
}

static void attempt_destroy(struct attempt *attempt)
{
	memory_free(attempt->outcomes);
	if (attempt->scenario) {
		scenario_deinit(attempt->scenario);
		memory_free(attempt->scenario);
	}
	memory_free(attempt);
}

/* The scenario with what a try sets in it. */
static bool attempt_load(struct advise *advise, struct attempt *attempt, struct error *error)
{
	const struct advise_options *options = advise->options;
	const char **sets;
	bool ok;

	if (!attempt->it.set_count)
		return true;
	sets = memory_alloc(options->set_count + attempt->it.set_count, sizeof(*sets));
	for (size_t i = 0; i < options->set_count; i++)
		sets[i] = options->sets[i];
	for (size_t i = 0; i < attempt->it.set_count; i++)
		sets[options->set_count + i] = attempt->it.sets[i];
	attempt->scenario = memory_alloc(1, sizeof(*attempt->scenario));
	ok = scenario_load(attempt->scenario, options->scenario_name, sets,
			   options->set_count + attempt->it.set_count, error);
	memory_free(sets);
	if (!ok) {
		memory_free(attempt->scenario);
		attempt->scenario = NULL;
	}
	return ok;
}

/* ---- figures over runs ---- */

enum figure { READ, REREAD, WRITTEN, RATE, P99, LONGEST, INODES_AGAIN, RESIDENT };

static double figure_of(const struct outcome *outcome, enum figure figure)
{
	switch (figure) {
	case READ:
		return outcome->read;
	case REREAD:
		return outcome->reread;
	case WRITTEN:
		return outcome->written;
	case RATE:
		return outcome->rate;
	case P99:
		return outcome->p99_ns;
	case LONGEST:
		return outcome->longest_ns;
	case INODES_AGAIN:
		return outcome->inodes_again;
	case RESIDENT:
		return outcome->resident;
	}
	return 0;
}

static bool knows(const struct outcome *outcome, enum figure figure)
{
	return figure == RATE                       ? outcome->knows_time
	       : figure == P99 || figure == LONGEST ? outcome->knows_p99
						    : true;
}

/* One target's reads, or all's figure. */
static double value_of(const struct outcome *outcome, enum figure figure, size_t stream)
{
	return stream < STREAMS ? outcome->stream_read[stream] : figure_of(outcome, figure);
}

/*
 * Where jobs run until others are done, whoever is faster does more, and reads more by it, or the same
 * once. Of the sum and of what it would be for as much work, that which differs less is taken.
 */
static double nearest_to(double base, double one, double other)
{
	double low = one < other ? one : other, high = one < other ? other : one;

	return base < low ? low : base > high ? high : base;
}

static bool is_sum(enum figure figure)
{
	return figure == READ || figure == REREAD || figure == WRITTEN || figure == INODES_AGAIN;
}

/* The samples that both have: pairs of the same mode and seed. */
struct samples {
	double *base, *changed;
	size_t count;
	bool is_known;
};

static bool has_both(const struct advise *advise, const struct attempt *attempt, size_t mode,
		     size_t seed)
{
	const struct outcome *base = outcome_at(advise, &advise->base, mode, seed);
	const struct outcome *changed = outcome_at(advise, attempt, mode, seed);

	return base->done && !base->failed && changed->done && !changed->failed;
}

/* `stream`: READ of one target; SIZE_MAX: of all. */
static struct samples samples_take(const struct advise *advise, const struct attempt *attempt,
				   enum figure figure, size_t stream)
{
	size_t most = MODES * advise->options->seed_count;
	struct samples samples = {
		.base = memory_alloc(most, sizeof(double)),
		.changed = memory_alloc(most, sizeof(double)),
		.is_known = true,
	};

	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++) {
			const struct outcome *base = outcome_at(advise, &advise->base, mode, seed);
			const struct outcome *changed = outcome_at(advise, attempt, mode, seed);

			if (!has_both(advise, attempt, mode, seed))
				continue;
			samples.is_known &= knows(base, figure) && knows(changed, figure);
			samples.base[samples.count] = value_of(base, figure, stream);
			samples.changed[samples.count] = value_of(changed, figure, stream);
			if (is_sum(figure) && changed->ops > 0)
				samples.changed[samples.count] = nearest_to(
					samples.base[samples.count], samples.changed[samples.count],
					samples.changed[samples.count] * base->ops / changed->ops);
			samples.count++;
		}
	return samples;
}

static void samples_free(struct samples *samples)
{
	memory_free(samples->base);
	memory_free(samples->changed);
}

static double floor_bytes(const struct advise *advise)
{
	const struct metric metric = {METRIC_COUNTER, COUNTER_read_bytes};

	return metric_floor(&metric, advise->options->model.memory_bytes);
}

static struct effect effect_of(const struct advise *advise, const struct attempt *attempt,
			       enum figure figure, size_t stream)
{
	struct samples samples = samples_take(advise, attempt, figure, stream);
	double least =
		figure == RATE || figure == P99 || figure == LONGEST ? 0 : floor_bytes(advise);
	struct effect effect = {0};

	if (samples.count && samples.is_known)
		effect = effect_measure(samples.base, samples.changed, samples.count, least,
					figure == RATE);
	samples_free(&samples);
	return effect;
}

/* Whose operations are changed, and what the gain counts for: of both, if it is two remedies. */
static uint64_t targets_of(const struct attempt *attempt)
{
	return attempt->it.targets | (attempt->it.second ? attempt->it.second->targets : 0);
}

static unsigned int ease_of(const struct attempt *attempt)
{
	unsigned int ease = attempt->it.remedy->ease;

	return attempt->it.second && attempt->it.second->remedy->ease < ease
		       ? attempt->it.second->remedy->ease
		       : ease;
}

static double bounded(double value, double most)
{
	return value > most ? most : value < -most ? -most : value;
}

/* What a target reads again, in the mean of what both have run. */
static double stream_reread(const struct advise *advise, const struct attempt *attempt,
			    size_t target)
{
	double sum = 0;
	size_t count = 0;

	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++) {
			const struct outcome *outcome = outcome_at(advise, attempt, mode, seed);

			if (!outcome->done || outcome->failed)
				continue;
			sum += outcome->stream_reread[target];
			count++;
		}
	return count ? sum / (double)count : 0;
}

/*
 * How much of what the others read again is gone, as a share: who pushes others out and stops it cures
 * them, whatever becomes of its own pages. 0 where they do not suffer.
 */
static double relief_of(const struct advise *advise, const struct attempt *attempt, double read)
{
	double base = 0, changed = 0;

	for (size_t i = 0; targets_of(attempt) && i < advise->facts.target_count; i++) {
		if (targets_of(attempt) >> i & 1)
			continue;
		base += stream_reread(advise, &advise->base, i);
		changed += stream_reread(advise, attempt, i);
	}
	return base > 0 && base >= read * notable ? bounded((base - changed) / base, 1) : 0;
}

/*
 * What it saves less what it costs others, as a share of what is read. Bytes written count as bytes read
 * do, where they change notably; what others read more counts once more, and so does each byte of memory
 * that has to be found. Half of how far it relieves others is added. Where time is kept, the share of it that is saved is added, half of that of
 * the 99th percentile, and a quarter of that of the longest wait where that is one that people notice: ours, so that what saves no bytes (a limit of
 * dirty pages) can be ranked.
 */
static double score_of(const struct advise *advise, const struct attempt *attempt)
{
	struct effect read = effect_of(advise, attempt, READ, SIZE_MAX);
	struct effect written = effect_of(advise, attempt, WRITTEN, SIZE_MAX);
	struct effect rate = effect_of(advise, attempt, RATE, SIZE_MAX);
	struct effect p99 = effect_of(advise, attempt, P99, SIZE_MAX);
	struct effect longest = effect_of(advise, attempt, LONGEST, SIZE_MAX);
	struct effect resident = effect_of(advise, attempt, RESIDENT, SIZE_MAX);
	struct effect inodes = effect_of(advise, attempt, INODES_AGAIN, SIZE_MAX);
	double scale = floor_bytes(advise), saved, score, taken;

	if (!read.is_known)
		return -10;
	scale = read.base > scale ? read.base : scale;
	saved = read.base - read.changed;
	if (written.change > notable || written.change < -notable)
		saved += written.base - written.changed;
	if (inodes.is_known)
		saved += (inodes.base - inodes.changed) * INODE_BYTES;
	for (size_t i = 0; i < STREAMS && i < advise->facts.target_count; i++) {
		struct effect own = effect_of(advise, attempt, READ, i);

		if (!(targets_of(attempt) >> i & 1) && own.changed > own.base)
			saved -= own.changed - own.base;
	}
	/* Memory that it fills is not there for others: what there was not, or what stayed free. */
	taken = attempt->it.split_bytes ? 0 : resident.changed - resident.base;
	if (taken < (double)attempt->it.memory_bytes)
		taken = (double)attempt->it.memory_bytes;
	score = (saved - taken) / scale;
	if (score >= notable)
		score += relief_of(advise, attempt, read.base) / 2;
	if (rate.is_known)
		score += bounded(rate.change, 1);
	/* A quantile is known to a bucket of its histogram, 1/64: less than two of them say nothing. */
	if (p99.is_known && (p99.change > 2.0 / 64 || p99.change < -2.0 / 64))
		score -= bounded(p99.change, 1) / 2;
	if (longest.is_known && longest.base >= LONG_WAIT_NS)
		score -= bounded(longest.change, 1) / 4;
	return score > 0 ? score * ease_of(attempt) / 100 : score;
}

static bool has_failed(const struct advise *advise, const struct attempt *attempt)
{
	for (size_t i = 0; i < MODES * advise->options->seed_count; i++)
		if (attempt->outcomes[i].done && attempt->outcomes[i].failed)
			return true;
	return false;
}

static const char *failure_of(const struct advise *advise, const struct attempt *attempt)
{
	for (size_t i = 0; i < MODES * advise->options->seed_count; i++)
		if (attempt->outcomes[i].done && attempt->outcomes[i].failed)
			return attempt->outcomes[i].failure;
	return NULL;
}

/* ---- the run as it is ---- */

static void facts_samples(struct remedy_facts *facts, const struct result *result)
{
	facts->slab_bytes = result->totals.slab_bytes;
	facts->dirty_pages = result->totals.dirty_pages;
	for (size_t i = 0; i < result->sample_count; i++) {
		const struct result_sample *sample = &result->samples[i];

		if (sample->slab_bytes > facts->slab_bytes)
			facts->slab_bytes = sample->slab_bytes;
		if (sample->dirty_pages > facts->dirty_pages)
			facts->dirty_pages = sample->dirty_pages;
	}
}

/* What the device does in a second in which it has something to do all the time. */
static uint64_t device_rate(const struct result_device *device)
{
	return device->busy_ns ? (uint64_t)((double)(device->read_bytes + device->write_bytes) *
					    1e9 / (double)device->busy_ns)
			       : 0;
}

static void facts_finish(struct advise *advise, const struct result *result)
{
	struct remedy_facts *facts = &advise->facts;

	facts->target_count = advise->targets.count ? advise->targets.count - 1 : 0;
	for (size_t i = 0; i < facts->target_count; i++) {
		facts->targets[i].name = advise->targets.names[i + 1];
		facts->targets[i].stream = advise->targets.streams[i + 1];
		facts->targets[i].class_name = advise->targets.classes[i + 1];
	}
	facts->totals = result->totals;
	facts->read_bytes = result->totals.read_bytes;
	facts->reread_bytes = result->totals.reread_bytes;
	facts->device_bytes_per_s = device_rate(&result->device);
	facts_samples(facts, result);
	for (size_t v = 0; v < result->stream_count; v++) {
		size_t target = target_index(advise, result->streams[v].name);

		if (target < STREAMS) {
			facts->targets[target].device_read_bytes +=
				result->streams[v].counters.read_bytes;
			facts->targets[target].reread_bytes +=
				result->streams[v].counters.reread_bytes;
		}
		for (size_t e = 0; result->blame && e < result->stream_count; e++) {
			uint64_t pages = result->blame[v * result->stream_count + e];
			size_t evictor = target_index(advise, result->streams[e].name);

			facts->blamed_pages += pages;
			if (evictor < STREAMS)
				facts->targets[evictor].blamed_pages += pages;
		}
	}
}

/* The first run, which finds out who does what. False: the input is wrong. */
static bool base_first(struct advise *advise, struct error *error)
{
	struct outcome *outcome = outcome_at(advise, &advise->base, 0, 0);
	struct model_options model = advise->base.it.model;
	struct result result = {0};
	bool done;

	model.progress = advise->options->progress;
	model.progress_context = advise->options->progress_context;
	done = play(advise, &advise->base, &model, 0, &advise->facts, outcome, &result, error);
	if (!done && error->kind == ERROR_INPUT)
		return false;
	if (!done) {
		outcome_fail(outcome, error);
		advise->facts.fails = true;
	}
	outcome->done = !is_interrupted(advise);
	if (done) {
		/* By the names that they have in this run, before they are made short. */
		facts_finish(advise, &result);
		advise->advice->op_count = result.op_count;
		advise->work = result.work && result.work_count && result.elapsed_ns
				       ? text_copy(result.work)
				       : text_copy("operations");
		advise->facts.keeps_time = outcome->knows_time;
		bounds_find(advise->advice, &result);
		result_deinit(&result);
	} else {
		advise->work = text_copy("operations");
		advise->facts.target_count = advise->targets.count ? advise->targets.count - 1 : 0;
	}
	remedy_targets_freeze(&advise->targets);
	for (size_t i = 0; i < advise->facts.target_count; i++)
		advise->facts.targets[i].name = advise->targets.names[i + 1];
	advise->done++;
	return true;
}

/* Do seeds and ways of summing make a difference? */
static void base_rest(struct advise *advise)
{
	size_t seeds = advise->options->seed_count;
	struct attempt *base = &advise->base;

	advise->modes = has_modes(&base->it.model) ? MODES : 1;
	advise->seeds = seeds < SEEDS_FIRST ? seeds : SEEDS_FIRST;
	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++)
			job_add(advise, base, mode, seed);
	jobs_run(advise);
	if (is_interrupted(advise)) {
		advise->seeds = advise->modes = advise->scout_modes = 1;
		return;
	}
	if (advise->seeds > 1 && outcome_at(advise, base, 0, 0)->fingerprint ==
					 outcome_at(advise, base, 0, 1)->fingerprint)
		advise->seeds = 1;
	else if (advise->seeds > 1)
		advise->seeds = seeds;
	advise->scout_modes =
		advise->modes > 1 && outcome_at(advise, base, 0, 0)->fingerprint !=
					     outcome_at(advise, base, 1, 0)->fingerprint
			? MODES
			: 1;
	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++)
			job_add(advise, base, mode, seed);
	jobs_run(advise);
}

static double base_mean(const struct advise *advise, enum figure figure)
{
	double sum = 0;
	size_t count = 0;

	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++) {
			const struct outcome *outcome =
				outcome_at(advise, &advise->base, mode, seed);

			if (!outcome->done || outcome->failed)
				continue;
			sum += figure_of(outcome, figure);
			count++;
		}
	return count ? sum / (double)count : 0;
}

/* ---- the search for memory ---- */

static struct attempt *memory_attempt(struct advise *advise, const struct remedy_try *it,
				      uint64_t extra)
{
	struct attempt *attempt = attempt_add(advise, it);
	uint64_t bytes = (extra + MIB - 1) / MIB * MIB;
	const char *size = remedy_size(advise->advice, bytes);

	attempt->is_left_out = true;
	attempt->it.is_search = false;
	attempt->it.memory_bytes = bytes;
	attempt->it.model.memory_bytes += bytes;
	attempt->it.title = remedy_text(advise->advice, "memory +%s", size);
	attempt->it.pays = remedy_text(advise->advice, "%s of memory", size);
	if (it->model.is_cgroup)
		attempt->it.command =
			remedy_memory_max(advise->advice, attempt->it.model.memory_bytes);
	else
		attempt->it.how =
			remedy_text(advise->advice, "a machine with %s",
				    remedy_size(advise->advice, attempt->it.model.memory_bytes));
	scout(advise, attempt);
	return attempt;
}

/* Is that enough? As it was looked at. */
static bool is_enough(const struct advise *advise, const struct attempt *attempt)
{
	double base = 0, changed = 0, base_inodes = 0, inodes = 0;

	if (has_failed(advise, attempt))
		return false;
	for (size_t mode = 0; mode < advise->scout_modes; mode++) {
		const struct outcome *one = outcome_at(advise, &advise->base, mode, 0);
		const struct outcome *other = outcome_at(advise, attempt, mode, 0);

		if (!other->done)
			return false;
		base += one->reread;
		changed += other->reread;
		base_inodes += one->inodes_again;
		inodes += other->inodes_again;
	}
	if (advise->facts.fails)
		return true;
	return base > 0 ? changed * 100 <= base * (100 - GONE_PERCENT)
			: inodes * 100 <= base_inodes * (100 - GONE_PERCENT);
}

/* Try all of these at once; the least that is enough. `below`: the most known not to be. */
static struct attempt *memory_round(struct advise *advise, const struct remedy_try *it,
				    const uint64_t *extras, size_t count, uint64_t *below)
{
	struct attempt *tried[8];

	assert(count <= sizeof(tried) / sizeof(tried[0]));
	for (size_t i = 0; i < count; i++)
		tried[i] = memory_attempt(advise, it, extras[i]);
	jobs_run(advise);
	for (size_t i = 0; i < count; i++) {
		if (is_enough(advise, tried[i]))
			return tried[i];
		*below = tried[i]->it.memory_bytes;
	}
	return NULL;
}

static void memory_search(struct advise *advise, const struct remedy_try *it)
{
	uint64_t memory = it->model.memory_bytes, below = 0;
	const uint64_t near[] = {memory / 8, memory / 4, memory / 2, memory};
	const uint64_t far[] = {memory * 3, memory * 7, memory * 15};
	struct attempt *enough = memory_round(advise, it, near, 4, &below), *closer;

	if (!enough && memory < UINT64_C(1) << 36)
		enough = memory_round(advise, it, far, 3, &below);
	for (size_t round = 0; enough && round < 2 && !is_interrupted(advise); round++) {
		uint64_t gap = enough->it.memory_bytes - below;
		const uint64_t between[] = {below + gap / 4, below + gap / 2, below + gap / 4 * 3};

		if (gap < 4 * MIB)
			break;
		closer = memory_round(advise, it, between, 3, &below);
		enough = closer ? closer : enough;
	}
	if (enough)
		enough->is_left_out = false;
	else if (!is_interrupted(advise))
		*array_push(&advise->advice->left_out) = (struct advice_left_out){
			it->remedy->id,
			"even several times as much does not remove 90 % of what is "
			"read again"};
}

/* ---- what is tried ---- */

static bool is_wanted(const struct advise_options *options, const char *id)
{
	for (size_t i = 0; i < options->only_count; i++)
		if (strcmp(options->only[i], id) == 0)
			return true;
	return options->only_count == 0;
}

static void propose_all(struct advise *advise, const struct remedy *const *remedies)
{
	struct error error;

	for (size_t i = 0; remedies[i]; i++) {
		struct remedy_proposals proposals = {
			.facts = &advise->facts, .advice = advise->advice, .remedy = remedies[i]};

		if (!is_wanted(advise->options, remedies[i]->id))
			continue;
		/* What does not come to its end is only tried with what makes room. */
		if (advise->facts.fails && strcmp(remedies[i]->id, "memory") != 0)
			continue;
		remedies[i]->propose(&proposals);
		for (size_t k = 0; k < proposals.list.count; k++) {
			struct attempt *attempt;

			if (proposals.list.at[k].is_search) {
				memory_search(advise, &proposals.list.at[k]);
				continue;
			}
			attempt = attempt_add(advise, &proposals.list.at[k]);
			attempt->is_left_out = !attempt_load(advise, attempt, &error);
			if (!attempt->is_left_out)
				scout(advise, attempt);
			else
				*array_push(&advise->advice->left_out) = (struct advice_left_out){
					remedies[i]->id,
					remedy_text(advise->advice, "%s", error.message)};
		}
		array_deinit(&proposals.list);
	}
	jobs_run(advise);
}

/* A remedy for each target: all that it does not hurt at once. */
static void propose_groups(struct advise *advise)
{
	size_t count = advise->attempts.count;

	for (size_t i = 0; i < count; i++) {
		const struct remedy *remedy = advise->attempts.at[i]->it.remedy;
		struct remedy_try group = advise->attempts.at[i]->it;
		size_t members = 0;

		if (!remedy->is_for_each ||
		    (i > 0 && advise->attempts.at[i - 1]->it.remedy == remedy))
			continue;
		group.targets = 0;
		for (size_t k = i; k < count; k++) {
			struct attempt *one = advise->attempts.at[k];

			if (one->it.remedy != remedy || has_failed(advise, one) ||
			    score_of(advise, one) < -notable)
				continue;
			group.targets |= one->it.targets;
			members++;
		}
		if (members < 2)
			continue;
		remedy_name(advise->advice, &advise->facts, &group);
		scout(advise, attempt_add(advise, &group));
	}
	jobs_run(advise);
}

/* What does something is run with everything. */
static void run_rest(struct advise *advise)
{
	for (size_t i = 0; i < advise->attempts.count; i++) {
		struct attempt *attempt = advise->attempts.at[i];
		double score;

		if (attempt->is_left_out || has_failed(advise, attempt))
			continue;
		score = score_of(advise, attempt);
		if (score > -notable && score < notable)
			continue;
		for (size_t mode = 0; mode < advise->modes; mode++)
			for (size_t seed = 0; seed < advise->seeds; seed++)
				job_add(advise, attempt, mode, seed);
	}
	jobs_run(advise);
}

/* ---- two at once ---- */

static bool is_among(const struct attempt *const *list, size_t count, const struct attempt *one)
{
	for (size_t i = 0; i < count; i++)
		if (list[i]->it.remedy == one->it.remedy)
			return true;
	return false;
}

/* Those that help most, each of another remedy, best first; of two as good the one that comes first on the shelf. */
static size_t best_few(const struct advise *advise, const struct attempt *best[PAIRED_MAX])
{
	size_t count = 0;

	while (count < PAIRED_MAX) {
		const struct attempt *next = NULL;
		double most = notable;

		for (size_t i = 0; i < advise->attempts.count; i++) {
			const struct attempt *one = advise->attempts.at[i];

			if (!one->is_left_out && !has_failed(advise, one) && one->score > most &&
			    !is_among(best, count, one))
				most = one->score;
		}
		for (size_t i = 0; i < advise->attempts.count && !next; i++) {
			const struct attempt *one = advise->attempts.at[i];

			if (!one->is_left_out && !has_failed(advise, one) &&
			    one->score >= most - notable && one->score > notable &&
			    !is_among(best, count, one))
				next = one;
		}
		if (!next)
			break;
		best[count++] = next;
	}
	return count;
}

static void pair_add(struct advise *advise, const struct attempt *one, const struct attempt *other)
{
	struct remedy_try both;
	struct attempt *attempt;
	struct error error;

	if (!remedy_combine(&advise->options->model, &one->it, &other->it, &both))
		return;
	attempt = attempt_create(advise, &both);
	if (!attempt_load(advise, attempt, &error)) {
		attempt_destroy(attempt);
		return;
	}
	attempt->it.title =
		remedy_text(advise->advice, "%s; and %s", one->it.title, other->it.title);
	attempt->score = one->score > other->score ? one->score : other->score;
	*array_push(&advise->pairs) = attempt;
	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++)
			job_add(advise, attempt, mode, seed);
}

/* The best with each of the next, tried with everything, and told only if the two do more than the better of them. */
static struct attempt *pairs_run(struct advise *advise)
{
	const struct attempt *best[PAIRED_MAX];
	struct attempt *found = NULL;
	double most = 0;
	size_t count;

	if (advise->facts.fails || is_interrupted(advise))
		return NULL;
	for (size_t i = 0; i < advise->attempts.count; i++)
		advise->attempts.at[i]->score = score_of(advise, advise->attempts.at[i]);
	count = best_few(advise, best);
	/* Where the best leaves nothing to be saved, a second one cannot do more. */
	if (count && !advise->facts.keeps_time &&
	    effect_of(advise, best[0], REREAD, SIZE_MAX).changed <
		    notable * effect_of(advise, best[0], READ, SIZE_MAX).base &&
	    advise->facts.totals.inodes_reallocated == 0)
		return NULL;
	for (size_t i = 1; i < count; i++)
		pair_add(advise, best[0], best[i]);
	jobs_run(advise);
	for (size_t i = 0; i < advise->pairs.count && !is_interrupted(advise); i++) {
		struct attempt *pair = advise->pairs.at[i];
		double score = has_failed(advise, pair) ? -1 : score_of(advise, pair);

		if (score >= pair->score + notable && score > most) {
			most = score;
			found = pair;
		}
	}
	return found;
}

/* ---- the answer ---- */

static const char *who_pays(struct advise *advise, const struct advice_remedy *told,
			    const struct attempt *attempt)
{
	char text[200] = "", size[SIZE_TEXT_BYTES];
	size_t used = 0, named = 0;

	if (attempt->it.pays)
		used += (size_t)snprintf(text, sizeof(text), "%s", attempt->it.pays);
	for (size_t i = 0; i < told->stream_count && named < 2 && used < sizeof(text); i++) {
		const struct effect *reads = &told->streams[i].reads;

		if (reads->change < notable || reads->changed - reads->base < (double)MIB)
			continue;
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%.40s +%s", used ? ", " : "",
			told->streams[i].name,
			size_format(size, (uint64_t)(reads->changed - reads->base)));
		named++;
	}
	return used ? remedy_text(advise->advice, "%s", text) : NULL;
}

static struct advice_remedy *tell(struct advise *advise, struct attempt *attempt)
{
	struct advice *advice = advise->advice;
	const struct remedy *remedy = attempt->it.remedy;
	struct advice_remedy *told = arena_alloc(&advice->arena, sizeof(*told));
	const char *failure = failure_of(advise, attempt);

	*told = (struct advice_remedy){
		.id = attempt->it.second ? remedy_text(advice, "%s+%s", remedy->id,
						       attempt->it.second->remedy->id)
					 : remedy->id,
		.target = targets_of(attempt)
				  ? remedy_target_names(advice, &advise->facts, targets_of(attempt))
				  : NULL,
		.title = attempt->it.title,
		.how = attempt->it.how,
		.command = attempt->it.command,
		.since = remedy->since,
		.risk = remedy->risk,
		.failure = failure ? arena_text(&advice->arena, failure, strlen(failure)) : NULL,
		.reads = effect_of(advise, attempt, READ, SIZE_MAX),
		.rereads = effect_of(advise, attempt, REREAD, SIZE_MAX),
		.writes = effect_of(advise, attempt, WRITTEN, SIZE_MAX),
		.rate = effect_of(advise, attempt, RATE, SIZE_MAX),
		.p99 = effect_of(advise, attempt, P99, SIZE_MAX),
		.longest = effect_of(advise, attempt, LONGEST, SIZE_MAX),
		.inodes = effect_of(advise, attempt, INODES_AGAIN, SIZE_MAX),
		.memory_bytes = attempt->it.memory_bytes,
		.can_be_confirmed = remedy->can_be_confirmed,
	};
	for (size_t mode = 0; mode < advise->modes; mode++)
		for (size_t seed = 0; seed < advise->seeds; seed++)
			told->sample_count += has_both(advise, attempt, mode, seed);
	told->streams = arena_alloc(&advice->arena,
				    (advise->facts.target_count + 1) * sizeof(*told->streams));
	for (size_t i = 0; i < advise->facts.target_count; i++)
		told->streams[told->stream_count++] = (struct advice_stream){
			.name = remedy_text(advice, "%s", advise->facts.targets[i].name),
			.reads = effect_of(advise, attempt, READ, i),
		};
	told->score = attempt->score = failure ? -100 : score_of(advise, attempt);
	told->verdict = failure                  ? ADVICE_FAILED
			: told->score >= notable ? ADVICE_HELPS
			: told->score > -notable ? ADVICE_NO_EFFECT
						 : ADVICE_COSTS;
	/* Without a way to compare, that it comes to its end is the help. */
	if (advise->facts.fails && !failure) {
		told->verdict = ADVICE_HELPS;
		told->score = 1;
	}
	told->pays = who_pays(advise, told, attempt);
	attempt->told = told;
	return told;
}

static void rank(struct advise *advise)
{
	struct advice *advice = advise->advice;
	size_t count = advise->attempts.count;
	bool *taken = memory_alloc(count + 1, sizeof(*taken));

	for (size_t round = 0; round < count; round++) {
		size_t best = SIZE_MAX, easiest = SIZE_MAX;

		for (size_t i = 0; i < count; i++)
			if (advise->attempts.at[i]->told && !taken[i] &&
			    (best == SIZE_MAX || advise->attempts.at[i]->told->score >
							 advise->attempts.at[best]->told->score))
				best = i;
		if (best == SIZE_MAX)
			break;
		/* As good as the best, and before it on the shelf; fewer targets before more. */
		for (size_t i = 0; i < count && easiest == SIZE_MAX; i++)
			if (advise->attempts.at[i]->told && !taken[i] &&
			    advise->attempts.at[i]->told->score >=
				    advise->attempts.at[best]->told->score - notable &&
			    advise->attempts.at[i]->told->verdict ==
				    advise->attempts.at[best]->told->verdict)
				easiest = i;
		taken[easiest] = true;
		*array_push(&advice->remedies) = advise->attempts.at[easiest]->told;
	}
	memory_free(taken);
}

/* A target's remedy that is no better than the best of the same for fewer is not told twice. */
static void drop_idle_groups(struct advise *advise)
{
	for (size_t i = 0; i < advise->attempts.count; i++) {
		struct attempt *group = advise->attempts.at[i];

		if (!group->told || !group->it.remedy->is_for_each ||
		    !(group->it.targets & (group->it.targets - 1)))
			continue;
		for (size_t k = 0; k < advise->attempts.count; k++) {
			struct attempt *one = advise->attempts.at[k];

			if (one == group || !one->told || one->it.remedy != group->it.remedy ||
			    one->told->score < group->told->score - notable)
				continue;
			group->told = NULL;
			break;
		}
	}
}

/* The list is in the shelf's order, groups behind: bring each group behind the last of its own. */
static void order_by_shelf(struct advise *advise, const struct remedy *const *remedies)
{
	size_t count = advise->attempts.count, kept = 0;
	struct attempt **sorted = memory_alloc(count + 1, sizeof(*sorted));

	for (size_t r = 0; remedies[r]; r++)
		for (size_t i = 0; i < count; i++)
			if (advise->attempts.at[i]->it.remedy == remedies[r])
				sorted[kept++] = advise->attempts.at[i];
	assert(kept == count);
	if (count)
		memcpy(advise->attempts.at, sorted, count * sizeof(*sorted));
	memory_free(sorted);
}

/* What it is instead. */
static const char *bounded_by(struct advice *advice)
{
	const char *name = bounds_name(advice);

	if (!advice->bounds.count)
		return "";
	return name ? remedy_text(advice, " It is bound by %s.", name)
		    : " Nothing else is at its limit: whoever asks does not ask for more.";
}

static void headline(struct advise *advise)
{
	struct advice *advice = advise->advice;
	const struct advice_remedy *best =
		advice->remedies.count && advice->remedies.at[0]->verdict == ADVICE_HELPS
			? advice->remedies.at[0]
			: NULL;
	char read[SIZE_TEXT_BYTES], again[SIZE_TEXT_BYTES], memory[SIZE_TEXT_BYTES];
	const char *half = "";

	size_format(read, (uint64_t)advice->read_bytes);
	size_format(again, (uint64_t)advice->reread_bytes);
	size_format(memory, advice->memory_bytes);
	for (size_t i = 0; i < advice->remedies.count; i++)
		if (strcmp(advice->remedies.at[i]->id, "less-memory") == 0 &&
		    advice->remedies.at[i]->verdict == ADVICE_NO_EFFECT)
			half = " Half the memory would do.";
	if (is_interrupted(advise) && !best) {
		advice->headline = ADVICE_NOTHING;
		advice->text = "Interrupted before anything that helps was found.";
	} else if (advise->facts.fails) {
		advice->headline = ADVICE_OUT_OF_MEMORY;
		advice->text =
			best ? remedy_text(advice,
					   "It does not fit: %s. With %s more it comes to "
					   "its end.",
					   advice->failure, size_format(again, best->memory_bytes))
			     : remedy_text(advice,
					   "It does not fit: %s. Nothing that was "
					   "tried changes that.",
					   advice->failure);
	} else if (best && strcmp(best->id, "memory") == 0) {
		advice->headline = ADVICE_MORE_MEMORY;
		advice->text = remedy_text(
			advice, "More memory: +%s removes %.0f %% of what is read again.",
			size_format(memory, best->memory_bytes),
			best->rereads.base > 0
				? 100 * (1 - best->rereads.changed / best->rereads.base)
				: 100.0);
	} else if (best) {
		advice->headline = ADVICE_REMEDY;
		advice->text = remedy_text(
			advice, "%s%s.", best->title,
			best->pays ? remedy_text(advice, " (%s pays)", best->pays) : "");
	} else if (advice->reread_bytes * 100 >= advice->read_bytes && advice->reread_bytes > 0) {
		advice->headline = ADVICE_NOTHING;
		advice->text = remedy_text(
			advice, "Nothing that was tried helps: %s of %s are read again.%s%s", again,
			read, bounded_by(advice), half);
	} else {
		advice->headline = ADVICE_NOT_CACHING;
		advice->text = remedy_text(
			advice,
			"This is not a caching problem: %s read from the device, %s of it again, "
			"with %s of memory.%s%s",
			read, advice->reread_bytes > 0 ? again : "nothing", memory,
			bounded_by(advice), half);
	}
}

static void answer(struct advise *advise, const struct remedy *const *remedies,
		   struct attempt *together)
{
	struct advice *advice = advise->advice;
	const struct outcome *first = outcome_at(advise, &advise->base, 0, 0);
	const char *failure = failure_of(advise, &advise->base);

	advice->read_bytes = base_mean(advise, READ);
	advice->reread_bytes = base_mean(advise, REREAD);
	advice->write_bytes = base_mean(advise, WRITTEN);
	advice->rate = base_mean(advise, RATE);
	advice->p99_ns = base_mean(advise, P99);
	advice->longest_ns = base_mean(advise, LONGEST);
	advice->knows_time = first->knows_time;
	advice->knows_p99 = first->knows_p99;
	advice->work = arena_text(&advice->arena, advise->work, strlen(advise->work));
	advice->seed_count = advise->seeds;
	advice->both_statistics = advise->modes > 1;
	advice->failure = failure ? arena_text(&advice->arena, failure, strlen(failure)) : NULL;
	order_by_shelf(advise, remedies);
	for (size_t i = 0; i < advise->attempts.count; i++) {
		struct attempt *attempt = advise->attempts.at[i];
		bool looked_at = true;

		for (size_t mode = 0; mode < advise->scout_modes; mode++)
			looked_at &= outcome_at(advise, attempt, mode, 0)->done;
		if (!attempt->is_left_out && looked_at)
			(void)tell(advise, attempt);
	}
	drop_idle_groups(advise);
	rank(advise);
	if (together)
		advice->together = tell(advise, together);
	headline(advise);
	advice->run_count = advise->done;
	advice->is_interrupted = is_interrupted(advise);
}

/* ---- on the kernel ---- */

struct kernel_context {
	struct advise *advise;
	const struct attempt *attempt;
	struct op_source *inner;
	struct stream_map *streams;
};

static struct op_source *kernel_open(void *data, struct error *error)
{
	struct kernel_context *context = data;
	struct advise *advise = context->advise;
	struct remedy_source_options wrapped = {
		.targets = &advise->targets,
		.splits_classes = advise->options->splits_classes,
		.attempt = context->attempt->it.remedy ? &context->attempt->it : NULL,
	};

	if (!source_open(advise, context->attempt, advise->options->model.seed, &context->inner,
			 &context->streams, error))
		return NULL;
	wrapped.streams = context->streams;
	return remedy_source_create(context->inner, &wrapped);
}

static void kernel_close(void *data, struct op_source *source)
{
	struct kernel_context *context = data;

	op_source_destroy(source);
	source_close(context->advise, context->inner, context->streams);
}

static bool measure(struct advise *advise, const struct attempt *attempt, uint64_t *read_bytes,
		    struct error *error)
{
	struct kernel_context context = {.advise = advise, .attempt = attempt};
	const struct kernel_source source = {
		.open = kernel_open, .close = kernel_close, .context = &context};
	struct kernel_options options = *advise->options->kernel;
	struct result result;

	options.cgroup_limit_bytes = attempt->it.model.memory_bytes;
	options.pinned_bytes = attempt->it.model.pinned_bytes;
	options.filesystem = filesystem_name(attempt->it.model.filesystem);
	options.readahead_bytes = attempt->it.model.readahead_bytes;
	if (!kernel_run(&options, &source, &result, error))
		return false;
	*read_bytes = result.totals.read_bytes;
	if (!(result.known >> COUNTER_read_bytes & 1)) {
		result_deinit(&result);
		return error_failed(error, "this kernel does not say what was read");
	}
	result_deinit(&result);
	return true;
}

static bool is_to_be_confirmed(const struct advise_options *options, size_t place)
{
	for (size_t i = 0; i < options->confirm_count; i++)
		if (options->confirm[i] == place)
			return true;
	return options->confirm_count == 0;
}

static const struct attempt *attempt_of(const struct advise *advise,
					const struct advice_remedy *told)
{
	for (size_t i = 0; i < advise->attempts.count; i++)
		if (advise->attempts.at[i]->told == told)
			return advise->attempts.at[i];
	return NULL;
}

static void confirm_one(struct advise *advise, struct advice_remedy *told, uint64_t base_bytes)
{
	struct advice *advice = advise->advice;
	struct error error;
	uint64_t bytes;
	double scale = floor_bytes(advise);

	if (!measure(advise, attempt_of(advise, told), &bytes, &error)) {
		told->measured.failure =
			arena_text(&advice->arena, error.message, strlen(error.message));
		return;
	}
	scale = (double)base_bytes > scale ? (double)base_bytes : scale;
	told->measured = (struct advice_measured){
		.is_known = true,
		.base_bytes = base_bytes,
		.changed_bytes = bytes,
		.change = ((double)bytes - (double)base_bytes) / scale,
	};
}

static bool confirm(struct advise *advise, struct error *error)
{
	const struct advise_options *options = advise->options;
	struct advice *advice = advise->advice;
	uint64_t base_bytes = 0;
	bool has_base = false;

	for (size_t i = 0; i < advice->remedies.count && !is_interrupted(advise); i++) {
		struct advice_remedy *told = advice->remedies.at[i];

		if (!is_to_be_confirmed(options, i + 1) ||
		    (options->confirm_count == 0 &&
		     (told->verdict != ADVICE_HELPS || !told->can_be_confirmed)))
			continue;
		if (!told->can_be_confirmed) {
			told->measured.failure = (char *)"the kernel machine cannot do this one";
			continue;
		}
		if (!has_base && !measure(advise, &advise->base, &base_bytes, error))
			return error_context(error, "--confirm");
		has_base = true;
		confirm_one(advise, told, base_bytes);
	}
	return true;
}

bool advise_run(const struct advise_options *options, struct advice *advice, struct error *error)
{
	struct advise advise = {
		.options = options,
		.advice = advice,
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.facts = {.model = &options->model, .scenario = options->scenario},
		.base = {.it = {.model = options->model}},
		.modes = 1,
		.seeds = 1,
		.scout_modes = 1,
	};
	const struct remedy **remedies;
	size_t remedy_count = 0;
	bool done;

	assert(options->seed_count > 0 && options->thread_count > 0);
	while (remedy_at(remedy_count))
		remedy_count++;
	remedies = memory_alloc(remedy_count + 1, sizeof(*remedies));
	for (size_t i = 0; i < remedy_count; i++)
		remedies[i] = remedy_at(i);
	*advice = (struct advice){
		.memory_bytes = options->model.memory_bytes,
		.readahead_bytes = options->model.readahead_bytes,
		.is_cgroup = options->model.is_cgroup,
	};
	advise.base.outcomes = memory_alloc(MODES * options->seed_count, sizeof(struct outcome));
	done = base_first(&advise, error);
	if (done) {
		char policy[1024];

		advice->input = remedy_text(advice, "%s", options->input);
		advice->policy = remedy_text(
			advice, "%s",
			policy_options_format(policy, sizeof(policy), &options->model.policy));
		advice->filesystem = filesystem_name(options->model.filesystem);
		base_rest(&advise);
		propose_all(&advise, remedies);
		propose_groups(&advise);
		run_rest(&advise);
		answer(&advise, remedies, pairs_run(&advise));
		if (options->kernel)
			done = confirm(&advise, error);
	}
	for (size_t i = 0; i < advise.attempts.count; i++)
		attempt_destroy(advise.attempts.at[i]);
	for (size_t i = 0; i < advise.pairs.count; i++)
		attempt_destroy(advise.pairs.at[i]);
	memory_free(remedies);
	array_deinit(&advise.attempts);
	array_deinit(&advise.pairs);
	array_deinit(&advise.jobs);
	memory_free(advise.base.outcomes);
	memory_free(advise.work);
	remedy_targets_deinit(&advise.targets);
	if (!done)
		advice_deinit(advice);
	return done;
}
