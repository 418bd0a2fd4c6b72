#include "study/miss_curve.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "base/size.h"
#include "cache/policy.h"
#include "op/held.h"
#include "op/page_key.h"
#include "study/key_sample.h"
#include "study/key_set.h"
#include "study/stack.h"
#include "study/sweep.h"

enum {
	BATCH = 4096,
	PROGRESS_BATCHES = 16,
	EVEN_SIZES = 100, /* FAST '15's measure is over sizes that are evenly spaced */
	DRAWS = 200, /* of a bootstrap: enough for a standard error (Efron, Tibshirani, chapter 6) */
	PASSES_MAX = 8,
};

/* A rate above this is no saving. */
static const double rate_max = 0.5;

/* ---- look-ups, one after the other ---- */

struct look_up {
	const struct op *op;
	uint64_t page, key;
};

typedef void look_up_take(void *context, const struct look_up *look_up);

static void look_ups_of(const struct op *op, enum bare_key key, look_up_take *take, void *context)
{
	uint64_t first = op->offset >> PAGE_SHIFT, last;

	if (!op_looks_pages_up(op))
		return;
	last = (op->offset + op->bytes - 1) >> PAGE_SHIFT;
	if (key == BARE_KEY_LBN)
		first = last = op->offset;
	for (uint64_t page = first; page <= last; page++) {
		const struct look_up look_up = {op, page, page_key(op->path, page)};

		take(context, &look_up);
	}
}

static bool interrupted(const struct miss_curve_options *options, struct error *error)
{
	return *options->interrupted && (error_failed(error, "interrupted"), true);
}

/* All of the trace. The source, read to its end, is the caller's to destroy; NULL: failed. */
static struct op_source *trace_read(const struct miss_curve_options *options, look_up_take *take,
				    void *context, struct error *error)
{
	struct op_source *source = options->open(options->context, error);
	struct op *ops = memory_alloc(BATCH, sizeof(*ops));
	unsigned int batch = 0;
	size_t count = 1;

	while (source && count > 0) {
		if (interrupted(options, error) ||
		    !op_source_next(source, ops, BATCH, &count, error)) {
			op_source_destroy(source);
			source = NULL;
			break;
		}
		for (size_t i = 0; i < count; i++)
			look_ups_of(&ops[i], options->key, take, context);
		if (options->progress && ++batch % PROGRESS_BATCHES == 0) {
			uint64_t done, total;

			source->interface->progress(source, &done, &total);
			options->progress(options->progress_context, done, total);
		}
	}
	memory_free(ops);
	if (source && options->read)
		options->read(options->context, source);
	return source;
}

/* ---- sizes ---- */

/* value^n < wanted, without libm. */
static bool power_is_below(double value, size_t n, double wanted)
{
	double product = 1;

	for (size_t i = 0; i < n && product < wanted; i++)
		product *= value;
	return product < wanted;
}

/*
 * From a 4096th of all pages (but not less than 8) to all of them, each so many times the one before. Returns how many: fewer, if they are the same.
 */
static size_t sizes_choose(uint64_t *sizes, size_t points, double pages)
{
	double most = pages < 1 ? 1 : pages, least = most / 4096, low = 1, high = 4096;
	size_t steps = points - 1, count = 0;

	if (least < 8)
		least = most < 8 ? 1 : 8;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		*(power_is_below(middle, steps, most / least) ? &low : &high) = middle;
	}
	for (size_t i = 0; i < points; i++) {
		uint64_t size = (uint64_t)((i == steps ? most : least) + 0.5);

		if (count == 0 || size > sizes[count - 1])
			sizes[count++] = size;
		least *= high;
	}
	return count;
}

static void sizes_make(struct miss_curves *curves, const struct miss_curve_options *options)
{
	if (!options->sizes) {
		curves->sizes = memory_alloc(options->point_count, sizeof(*curves->sizes));
		curves->size_count =
			sizes_choose(curves->sizes, options->point_count, curves->pages);
	} else {
		curves->sizes = memory_alloc(options->size_count + 1, sizeof(*curves->sizes));
		memcpy(curves->sizes, options->sizes, options->size_count * sizeof(*curves->sizes));
		curves->size_count = options->size_count;
	}
	for (size_t p = 0; p < curves->policy_count; p++) {
		struct miss_curve *curve = &curves->curves[p];

		curve->misses = memory_alloc(curves->size_count, sizeof(*curve->misses));
		curve->deviation = memory_alloc(curves->size_count, sizeof(*curve->deviation));
		curve->mean_error = curve->knee = (double)NAN;
		for (size_t i = 0; i < curves->size_count; i++)
			curve->misses[i] = curve->deviation[i] = (double)NAN;
	}
}

static bool is_lru(const struct policy_options *policy)
{
	return strcmp(policy_name(policy->policy), "lru") == 0;
}

/* ---- knees ---- */

/* Between two sizes on a straight line: what is above the pages themselves at the least size, less nine in ten. */
static void knee_find(const struct miss_curves *curves, struct miss_curve *curve)
{
	double again = curve->misses[0] - curves->pages, target = curves->pages + again / 10;

	if (!(again > 0.5))
		return;
	for (size_t i = 1; i < curves->size_count; i++) {
		double before = curve->misses[i - 1], here = curve->misses[i];
		double from = (double)curves->sizes[i - 1];

		if (isnan(here) || isnan(before))
			return;
		if (here > target)
			continue;
		curve->knee = from + ((double)curves->sizes[i] - from) * (before - target) /
					     (before - here);
		return;
	}
}

/* ---- LRU, exactly ---- */

struct exact {
	struct stack *stack;
	ARRAY(uint64_t) hits; /* by distance */
	uint64_t accesses;
};

static void exact_take(void *context, const struct look_up *look_up)
{
	struct exact *exact = context;
	uint64_t distance = stack_access(exact->stack, look_up->key);

	exact->accesses++;
	if (distance == STACK_COLD)
		(void)array_push(&exact->hits);
	else
		exact->hits.at[distance]++;
}

static void exact_curve(const struct exact *exact, const struct miss_curves *curves,
			struct miss_curve *curve)
{
	uint64_t misses = exact->accesses, distance = 0;
	double target = -1;

	for (size_t i = 0; i < curves->size_count; i++) {
		for (; distance < curves->sizes[i] && distance < exact->hits.count; distance++)
			misses -= exact->hits.at[distance];
		curve->misses[i] = (double)misses;
	}
	/* All sizes are known: the knee is the first that does. */
	misses = exact->accesses;
	for (distance = 0; distance < exact->hits.count; distance++) {
		if (distance == curves->sizes[0] && misses > exact->hits.count)
			target = curves->pages + (double)(misses - exact->hits.count) / 10;
		if (target >= 0 && (double)misses <= target)
			break;
		misses -= exact->hits.at[distance];
	}
	if (target >= 0)
		curve->knee = (double)distance;
}

static bool exact_make(struct miss_curves *curves, const struct miss_curve_options *options,
		       struct error *error)
{
	struct exact exact = {.stack = stack_create()};
	struct op_source *source = trace_read(options, exact_take, &exact, error);
	bool done = source != NULL;

	op_source_destroy(source);
	curves->passes++;
	if (done) {
		curves->accesses = exact.accesses;
		curves->pages = (double)exact.hits.count;
		sizes_make(curves, options);
		for (size_t p = 0; p < curves->policy_count; p++)
			if (is_lru(&options->policies[p]))
				exact_curve(&exact, curves, &curves->curves[p]);
	}
	stack_destroy(exact.stack);
	array_deinit(&exact.hits);
	return done;
}

/* ---- a run for each size ---- */

/* One size of one policy; of a sample the size is scaled, and classes are streams. */
struct runs {
	struct miss_curves *curves;
	const struct miss_curve_options *options;
	struct held *held; /* NULL: the trace is opened for each run */
	pthread_mutex_t mutex;
	struct error failure; /* of the trace itself */

	const struct key_sample *sample; /* NULL: the whole trace */
	struct sample_known known;
	bool has_class[SAMPLE_CLASSES]; /* it looks anything up */
	double *values;                 /* by run, by class */
};

static void run_fail(struct runs *runs, struct miss_curve *curve, const struct error *error,
		     bool is_trace)
{
	pthread_mutex_lock(&runs->mutex);
	if (is_trace && runs->failure.kind == ERROR_NONE)
		runs->failure = *error;
	if (!curve->failure[0])
		snprintf(curve->failure, sizeof(curve->failure), "%s", error->message);
	pthread_mutex_unlock(&runs->mutex);
}

/* In the order of classes, of those that did anything. */
static void classes_take(struct runs *runs, size_t index, const struct result *result)
{
	double scale = 1 / key_sample_rate(runs->sample),
	       *values = &runs->values[index * SAMPLE_CLASSES];
	size_t stream = 0;

	for (size_t i = 0; i < SAMPLE_CLASSES && stream < result->stream_count; i++)
		if (runs->has_class[i])
			values[i] = scale * (double)result->streams[stream++].counters.page_misses;
}

static uint64_t run_pages(const struct runs *runs, uint64_t size)
{
	double share;

	if (!runs->sample)
		return size;
	share = (double)key_sample_sampled_pages(runs->sample) / key_sample_pages(runs->sample);
	return (uint64_t)((double)size * share + 0.5);
}

static char *run_one(void *context, size_t index, size_t worker)
{
	struct runs *runs = context;
	struct miss_curves *curves = runs->curves;
	const struct miss_curve_options *options = runs->options;
	size_t policy = index / curves->size_count, size = index % curves->size_count;
	struct miss_curve *curve = &curves->curves[policy];
	struct model_options model = {.policy = options->policies[policy], .seed = options->seed};
	uint64_t pages = run_pages(runs, curves->sizes[size]);
	struct error error = {0};
	struct op_source *source;
	struct result result;
	bool done;

	(void)worker;
	/* A miniature of less than a page is none. */
	if (pages == 0)
		return strdup("");
	source = runs->held ? held_source(runs->held, options->interrupted)
			    : options->open(options->context, &error);
	done = source && model_bare_run(&model, pages, options->key, source, &result, &error);
	op_source_destroy(source);
	if (*options->interrupted) {
		if (done)
			result_deinit(&result);
		return NULL;
	}
	if (!done) {
		run_fail(runs, curve, &error, !source);
		return strdup("");
	}
	if (runs->sample)
		classes_take(runs, index, &result);
	else
		curve->misses[size] = (double)result.totals.page_misses;
	if (runs->values)
		curve->misses[size] = 0; /* known: to be made of the classes */
	result_deinit(&result);
	return strdup("");
}

static void run_finished(void *context, size_t index, const char *outcome, unsigned int by)
{
	struct runs *runs = context;

	(void)outcome;
	(void)by;
	if (runs->options->progress)
		runs->options->progress(runs->options->progress_context, index,
					runs->curves->policy_count * runs->curves->size_count);
}

static void run_lost(void *context, size_t index, unsigned int rank)
{
	(void)context;
	(void)index;
	(void)rank;
}

static bool runs_do(struct runs *runs, struct error *error)
{
	struct miss_curves *curves = runs->curves;
	size_t count = curves->policy_count * curves->size_count;
	bool *done = memory_alloc(count + 1, sizeof(*done));
	const struct sweep sweep = {
		.count = count,
		.done = done,
		.threads = runs->options->threads,
		.run = run_one,
		.finished = run_finished,
		.lost = run_lost,
		.context = runs,
		.interrupted = runs->options->interrupted,
	};

	for (size_t i = 0; i < count; i++)
		done[i] = is_lru(&runs->options->policies[i / curves->size_count]);
	(void)sweep_run(&sweep, error);
	memory_free(done);
	if (interrupted(runs->options, error))
		return false;
	if (runs->failure.kind != ERROR_NONE)
		*error = runs->failure;
	return runs->failure.kind == ERROR_NONE;
}

static bool has_others(const struct miss_curve_options *options)
{
	for (size_t i = 0; i < options->policy_count; i++)
		if (!is_lru(&options->policies[i]))
			return true;
	return false;
}

/* All others than LRU, over the whole trace. */
static bool others_exactly(struct miss_curves *curves, const struct miss_curve_options *options,
			   struct held *held, struct error *error)
{
	struct runs runs = {.curves = curves,
			    .options = options,
			    .held = held,
			    .mutex = PTHREAD_MUTEX_INITIALIZER};
	bool done = runs_do(&runs, error);

	for (size_t p = 0; done && p < curves->policy_count; p++)
		if (!is_lru(&options->policies[p]))
			knee_find(curves, &curves->curves[p]);
	pthread_mutex_destroy(&runs.mutex);
	return done;
}

/* In memory for the passes to come, if it fits and there are any. */
static bool trace_hold(const struct miss_curve_options *options, struct held **held,
		       struct error *error)
{
	struct op_source *source;
	enum held_end end;

	*held = NULL;
	if (!has_others(options))
		return true;
	source = options->open(options->context, error);
	if (!source)
		return false;
	*held = held_read(source, options->held_bytes_max, options->interrupted, &end, error);
	if (*held || (end == HELD_TOO_LARGE && !options->is_once))
		return true;
	if (end == HELD_TOO_LARGE)
		return error_input(error,
				   "standard input can be read once only, and holds more than the "
				   "memory for it (--trace-memory)");
	return end == HELD_FAILED ? false : error_failed(error, "interrupted");
}

/* Options that read what is held instead of the trace. */
struct from_held {
	const struct miss_curve_options *outer;
	struct held *held;
};

static struct op_source *held_open(void *context, struct error *error)
{
	struct from_held *from = context;

	(void)error;
	return held_source(from->held, from->outer->interrupted);
}

static void held_was_read(void *context, const struct op_source *source)
{
	struct from_held *from = context;

	(void)source;
	if (from->outer->read)
		from->outer->read(from->outer->context, held_trace(from->held));
}

static bool all_exactly(struct miss_curves *curves, const struct miss_curve_options *options,
			struct error *error)
{
	struct miss_curve_options inner = *options;
	struct from_held from = {.outer = options};
	bool done;

	if (!trace_hold(options, &from.held, error))
		return false;
	if (from.held) {
		inner.open = held_open;
		inner.read = held_was_read;
		inner.context = &from;
	}
	done = exact_make(curves, &inner, error) &&
	       others_exactly(curves, &inner, from.held, error);
	held_destroy(from.held);
	return done;
}

/* ---- a sample ---- */

struct sampling {
	const struct miss_curve_options *options;
	struct key_sample *sample;
	bool keeps;
	struct held *kept; /* its look-ups, an op each; streams are classes */
	ARRAY(struct op) ops;
};

static void sample_take(void *context, const struct look_up *look_up)
{
	struct sampling *sampling = context;

	if (key_sample_access(sampling->sample, look_up->key) && sampling->keeps)
		*array_push(&sampling->ops) = (struct op){
			.kind = OP_READ,
			.path = look_up->op->path,
			.offset = sampling->options->key == BARE_KEY_LBN
					  ? look_up->page
					  : look_up->page << PAGE_SHIFT,
			.bytes = 1,
			.stream = (uint16_t)(1 + key_sample_class(sampling->sample, look_up->key)),
		};
}

/* Its page, or, of requests by their start, that. */
static uint64_t kept_page(const struct op *op, enum bare_key key)
{
	return key == BARE_KEY_LBN ? op->offset : op->offset >> PAGE_SHIFT;
}

/* What is in the sample in the end. */
static void sample_keep(struct sampling *sampling, struct op_source *source)
{
	sampling->kept = held_create(source);
	for (size_t i = 0; i < sampling->ops.count; i++) {
		const struct op *op = &sampling->ops.at[i];

		if (key_sample_has(sampling->sample,
				   page_key(op->path, kept_page(op, sampling->options->key))))
			held_add(sampling->kept, op);
	}
	array_deinit(&sampling->ops);
}

static void sampling_deinit(struct sampling *sampling)
{
	key_sample_destroy(sampling->sample);
	held_destroy(sampling->kept);
	array_deinit(&sampling->ops);
	*sampling = (struct sampling){0};
}

static bool sampling_make(struct sampling *sampling, const struct miss_curve_options *options,
			  double rate, struct error *error)
{
	struct op_source *source;

	*sampling = (struct sampling){
		.options = options,
		.sample = key_sample_create(rate, options->max_keys, options->seed),
		.keeps = has_others(options)};
	source = trace_read(options, sample_take, sampling, error);
	if (!source)
		return false;
	sample_keep(sampling, source);
	return true;
}

/* Means of groups that are drawn with repetition, less the mean of all: means[size]. */
static void groups_draw(const double *misses, size_t count, const uint32_t drawn[SAMPLE_GROUPS],
			double *means)
{
	for (size_t k = 0; k < count; k++) {
		double sum = 0;

		for (size_t g = 0; g < SAMPLE_GROUPS; g++)
			sum += ((double)drawn[g] - 1) * misses[g * count + k];
		means[k] = sum / SAMPLE_GROUPS;
	}
}

/*
 * The bootstrap: standard errors by size, and the mean over all sizes and draws of how far off it is. A mean of n drawn from n wanders by sqrt((n - 1) / n)
 * of what one of n new ones would.
 */
static double groups_bootstrap(const double *misses, size_t count, uint64_t seed, double *deviation)
{
	double *means = memory_alloc(count + 1, sizeof(*means)), sum = 0;
	double *squares = memory_alloc(count + 1, sizeof(*squares));
	double correction = sqrt((double)SAMPLE_GROUPS / (SAMPLE_GROUPS - 1));
	struct random random;

	random_init(&random, seed, 1);
	for (int draw = 0; draw < DRAWS; draw++) {
		uint32_t drawn[SAMPLE_GROUPS] = {0};

		for (size_t g = 0; g < SAMPLE_GROUPS; g++)
			drawn[random_below(&random, SAMPLE_GROUPS)]++;
		groups_draw(misses, count, drawn, means);
		for (size_t k = 0; k < count; k++) {
			squares[k] += means[k] * means[k];
			sum += fabs(means[k]);
		}
	}
	for (size_t k = 0; deviation && k < count; k++)
		deviation[k] = correction * sqrt(squares[k] / DRAWS);
	memory_free(means);
	memory_free(squares);
	return correction * sum / DRAWS / (double)count;
}

static double error_over(const struct key_sample *sample, const uint64_t *sizes, size_t count,
			 uint64_t seed)
{
	double *misses = memory_alloc(SAMPLE_GROUPS * count, sizeof(*misses)), error;

	key_sample_group_misses(sample, sizes, count, misses);
	error = groups_bootstrap(misses, count, seed, NULL);
	memory_free(misses);
	return error / (double)key_sample_accesses(sample);
}

/* Of LRU's miss ratio: over sizes that are evenly spaced, or, if that is more, over those that are drawn when nobody says which. */
static double sampled_error(const struct key_sample *sample, uint64_t seed)
{
	double pages = key_sample_pages(sample), even, drawn;
	uint64_t sizes[EVEN_SIZES];

	static_assert(EVEN_SIZES >= (int)MISS_CURVE_POINTS, "room for both");
	for (size_t i = 0; i < EVEN_SIZES; i++)
		sizes[i] = (uint64_t)(pages * (double)(i + 1) / EVEN_SIZES + 0.5);
	even = error_over(sample, sizes, EVEN_SIZES, seed);
	drawn = error_over(sample, sizes, sizes_choose(sizes, MISS_CURVE_POINTS, pages), seed);
	return even > drawn ? even : drawn;
}

static void sampled_lru(const struct miss_curves *curves, const struct miss_curve_options *options,
			const struct key_sample *sample, struct miss_curve *curve)
{
	size_t count = curves->size_count;
	double *misses = memory_alloc(SAMPLE_GROUPS * count + 1, sizeof(*misses));

	key_sample_misses(sample, curves->sizes, count, curve->misses);
	key_sample_group_misses(sample, curves->sizes, count, misses);
	(void)groups_bootstrap(misses, count, options->seed, curve->deviation);
	curve->mean_error = sampled_error(sample, options->seed);
	knee_find(curves, curve);
	memory_free(misses);
}

/*
 * What is known of the sample by class. Where its rate fell, look-ups before that were weighted by theirs, and are not those that are kept: of the kept ones
 * look-ups and pages are counted again, and of the head there is nothing.
 */
static void classes_know(struct runs *runs, const struct held *kept)
{
	double scale = 1 / key_sample_rate(runs->sample);
	bool falls = runs->options->max_keys > 0;
	struct key_set keys = {0};

	key_sample_known(runs->sample, &runs->known);
	if (falls)
		memset(runs->known.of_class, 0, sizeof(runs->known.of_class));
	for (uint64_t i = 0; i < held_count(kept); i++) {
		const struct op *op = held_op(kept, i);
		size_t class = op->stream - 1u;

		runs->has_class[class] = true;
		if (!falls)
			continue;
		runs->known.of_class[0][class] += scale;
		if (key_set_add(&keys, page_key(op->path, kept_page(op, runs->options->key))))
			runs->known.of_class[1][class] += scale;
	}
	key_set_deinit(&keys);
}

static void classes_bootstrap(const struct runs *runs, const double *values, uint64_t seed,
			      double whole, double *deviation, double *mean_error)
{
	double squares = 0, sum = 0;
	struct random random;

	random_init(&random, seed, 2);
	for (int draw = 0; draw < DRAWS; draw++) {
		uint32_t weights[SAMPLE_CLASSES] = {0};
		double wander, coefficients[SAMPLE_KNOWN];

		for (size_t i = 0; i < SAMPLE_CLASSES; i++)
			weights[random_below(&random, SAMPLE_CLASSES)]++;
		wander = sample_estimate(values, &runs->known, weights, coefficients) - whole;
		squares += wander * wander;
		sum += fabs(wander);
	}
	*deviation = sqrt(squares / DRAWS);
	*mean_error = sum / DRAWS / (double)runs->curves->accesses;
}

static void sampled_other(const struct runs *runs, size_t policy)
{
	const struct miss_curves *curves = runs->curves;
	struct miss_curve *curve = &curves->curves[policy];
	double pages = curves->pages, accesses = (double)curves->accesses, error_sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < curves->size_count; i++) {
		const double *values =
			&runs->values[(policy * curves->size_count + i) * SAMPLE_CLASSES];
		double whole, mean_error, coefficients[SAMPLE_KNOWN];

		if (isnan(curve->misses[i]))
			continue;
		whole = sample_estimate(values, &runs->known, NULL, coefficients);
		classes_bootstrap(runs, values, runs->options->seed, whole, &curve->deviation[i],
				  &mean_error);
		whole = whole < pages ? pages : whole;
		curve->misses[i] = whole > accesses ? accesses : whole;
		error_sum += mean_error;
		known++;
	}
	if (known)
		curve->mean_error = error_sum / (double)known;
	knee_find(curves, curve);
}

static bool others_sampled(struct miss_curves *curves, const struct miss_curve_options *options,
			   const struct sampling *sampling, struct error *error)
{
	size_t count = curves->policy_count * curves->size_count;
	struct runs runs = {.curves = curves,
			    .options = options,
			    .held = sampling->kept,
			    .sample = sampling->sample,
			    .mutex = PTHREAD_MUTEX_INITIALIZER,
			    .values = memory_alloc(count * SAMPLE_CLASSES + 1, sizeof(double))};
	bool done;

	classes_know(&runs, sampling->kept);
	done = runs_do(&runs, error);
	for (size_t p = 0; done && p < curves->policy_count; p++)
		if (!is_lru(&options->policies[p]))
			sampled_other(&runs, p);
	pthread_mutex_destroy(&runs.mutex);
	memory_free(runs.values);
	return done;
}

/* Errors fall with the square root of the rate; a fifth more, so that it need not be raised again. */
static double rate_raised(double rate, double error, double wanted)
{
	double times = error / wanted * (error / wanted) * 1.2;

	times = times < 1.5 ? 1.5 : times > 16 ? 16 : times;
	return rate * times;
}

static bool curves_from_sample(struct miss_curves *curves, const struct miss_curve_options *options,
			       const struct sampling *sampling, struct error *error)
{
	const struct key_sample *sample = sampling->sample;

	curves->is_sampled = true;
	curves->rate = key_sample_rate(sample);
	curves->accesses = key_sample_accesses(sample);
	curves->pages = key_sample_pages(sample);
	curves->sampled_accesses = key_sample_sampled(sample);
	curves->sampled_pages = key_sample_sampled_pages(sample);
	sizes_make(curves, options);
	for (size_t p = 0; p < curves->policy_count; p++)
		if (is_lru(&options->policies[p]))
			sampled_lru(curves, options, sample, &curves->curves[p]);
	return !has_others(options) || others_sampled(curves, options, sampling, error);
}

/* How far off the worst of the curves is; LRU's is known before it is drawn. */
static double worst_error(const struct miss_curves *curves)
{
	double worst = 0;

	for (size_t p = 0; p < curves->policy_count; p++)
		if (curves->curves[p].mean_error > worst)
			worst = curves->curves[p].mean_error;
	return worst;
}

/* Curves are there if *good, or if it failed, perhaps. */
static bool sampled_once(struct miss_curves *curves, const struct miss_curve_options *options,
			 double rate, double *error_found, bool *good, struct error *error)
{
	bool may_raise = !options->max_keys && options->error_wanted > 0 && !options->is_once &&
			 curves->passes + 1 < PASSES_MAX;
	struct sampling sampling;
	bool done = sampling_make(&sampling, options, rate, error);

	curves->passes++;
	*error_found = 1;
	if (done && key_sample_sampled(sampling.sample) > 0)
		*error_found = sampled_error(sampling.sample, options->seed);
	*good = !may_raise || *error_found <= options->error_wanted;
	if (done && *good && key_sample_sampled(sampling.sample) == 0)
		done = error_input(error,
				   "no page of it is in the sample: a larger --sample has some");
	if (done && *good) {
		done = curves_from_sample(curves, options, &sampling, error);
		if (worst_error(curves) > *error_found)
			*error_found = worst_error(curves);
		*good = !done || !may_raise || *error_found <= options->error_wanted;
	}
	sampling_deinit(&sampling);
	return done;
}

static void curves_forget(struct miss_curves *curves)
{
	for (size_t i = 0; i < curves->policy_count; i++) {
		memory_free(curves->curves[i].misses);
		memory_free(curves->curves[i].deviation);
		curves->curves[i] = (struct miss_curve){0};
	}
	memory_free(curves->sizes);
	curves->sizes = NULL;
	curves->size_count = 0;
	curves->is_sampled = false;
}

static bool all_sampled(struct miss_curves *curves, const struct miss_curve_options *options,
			struct error *error)
{
	double rate = options->max_keys ? 1 : options->rate, found;
	bool good = false;

	curves->rate_asked = options->max_keys ? 0 : rate;
	for (;;) {
		if (!sampled_once(curves, options, rate, &found, &good, error))
			return false;
		if (good)
			return true;
		curves_forget(curves);
		rate = rate_raised(rate, found, options->error_wanted);
		if (rate > rate_max)
			return all_exactly(curves, options, error);
	}
}

bool miss_curves_make(struct miss_curves *curves, const struct miss_curve_options *options,
		      struct error *error)
{
	*curves = (struct miss_curves){
		.policy_count = options->policy_count,
		.curves = memory_alloc(options->policy_count + 1, sizeof(*curves->curves)),
	};
	return options->rate > 0 || options->max_keys ? all_sampled(curves, options, error)
						      : all_exactly(curves, options, error);
}

void miss_curves_deinit(struct miss_curves *curves)
{
	curves_forget(curves);
	memory_free(curves->curves);
	*curves = (struct miss_curves){0};
}
