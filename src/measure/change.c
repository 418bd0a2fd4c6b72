#include "measure/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"

enum { RESAMPLES = 10000, RESAMPLE_SEED = 1 };

/*
 * Which part of the resampled means, in millionths, is cut off at each end, by the number of seeds
 * from CHANGE_SEEDS_MIN on. Plain percentiles (2.5 % at each end) are too narrow for a few seeds;
 * these are the normal distribution's left of -sqrt(n / (n - 1)) x t, with Student's t for 97.5 %
 * and n - 1 degrees of freedom.
 *
 * Source: Tim Hesterberg, "What Teachers Should Know About the Bootstrap", The American
 * Statistician 69 (2015), expanded percentile intervals.
 */
static uint32_t tail_ppm(size_t count)
{
	static const uint16_t by_count[] = {954,   2432,  4109,  5738,  7225,  8551,  9722,  10757,
					    11671, 12483, 13207, 13856, 14439, 14966, 15445, 15881};
	enum { TABLE = sizeof(by_count) / sizeof(by_count[0]) };

	if (count < CHANGE_SEEDS_MIN)
		return 0; /* the least and the most */
	if (count - CHANGE_SEEDS_MIN < TABLE)
		return by_count[count - CHANGE_SEEDS_MIN];
	/* What is said of fewer seeds makes an interval too wide, never too narrow. */
	return count < 25 ? 15881 : count < 30 ? 17582 : count < 50 ? 18754 : 21179;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* 0 of 0 is no change; something out of nothing, with no floor, is a change of all. */
static double relative(double base, double changed, double scale_min)
{
	double scale = base > scale_min ? base : scale_min;

	if (scale > 0)
		return (changed - base) / scale;
	return changed > base ? 1 : 0;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The middle of the means, however many values they are of. */
static void interval_take(struct effect *effect, double *means, size_t samples, size_t count)
{
	size_t cut = (size_t)((uint64_t)samples * tail_ppm(count) / 1000000);

	qsort(means, samples, sizeof(*means), by_value);
	effect->low = means[cut];
	effect->high = means[samples - 1 - cut];
}

static void interval(struct effect *effect, const double *base, const double *changed, size_t count,
		     double scale_min)
{
	size_t samples = count < CHANGE_SEEDS_MIN ? count : RESAMPLES;
	double *means = memory_alloc(samples, sizeof(*means));
	struct random random;

	random_init(&random, RESAMPLE_SEED, count);
	for (size_t i = 0; i < samples; i++) {
		double base_sum = 0, changed_sum = 0;

		for (size_t k = 0; k < count; k++) {
			/* Of a few seeds, each alone. */
			size_t seed = samples == count ? i : (size_t)random_below(&random, count);

			base_sum += base[seed];
			changed_sum += changed[seed];
		}
		means[i] =
			relative(base_sum / (double)count, changed_sum / (double)count, scale_min);
	}
	interval_take(effect, means, samples, count);
	memory_free(means);
}

static double resampled_mean(const double *values, size_t count, struct random *random)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[random_below(random, count)];
	return sum / (double)count;
}

static void interval_apart(struct effect *effect, const double *base, size_t base_count,
			   const double *changed, size_t changed_count, double scale_min)
{
	size_t fewer = base_count < changed_count ? base_count : changed_count;
	bool is_few = fewer < CHANGE_SEEDS_MIN;
	size_t samples = is_few ? base_count * changed_count : RESAMPLES;
	double *means = memory_alloc(samples, sizeof(*means));
	struct random random;

	random_init(&random, RESAMPLE_SEED, fewer);
	for (size_t i = 0; i < samples; i++) {
		double from = is_few ? base[i / changed_count]
				     : resampled_mean(base, base_count, &random);
		double to = is_few ? changed[i % changed_count]
				   : resampled_mean(changed, changed_count, &random);

		means[i] = relative(from, to, scale_min);
	}
	interval_take(effect, means, samples, fewer);
	memory_free(means);
}

static bool all_the_same(const double *values, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (values[i] < values[0] || values[i] > values[0])
			return false;
	return true;
}

static enum change_verdict verdict_of(const struct effect *effect, bool more_is_better)
{
	double size = effect->change < 0 ? -effect->change : effect->change;

	if (size * 1e6 < CHANGE_NOTABLE_PPM || (effect->low <= 0 && effect->high >= 0))
		return CHANGE_UNCHANGED;
	return (effect->change > 0) == more_is_better ? CHANGE_WINNER : CHANGE_LOSER;
}

static struct effect effect_begin(const double *base, size_t base_count, const double *changed,
				  size_t changed_count, double scale_min)
{
	struct effect effect = {.is_known = base_count > 0 && changed_count > 0};

	if (!effect.is_known)
		return effect;
	effect.base = mean_of(base, base_count);
	effect.changed = mean_of(changed, changed_count);
	effect.change = relative(effect.base, effect.changed, scale_min);
	effect.low = effect.high = effect.change;
	effect.is_exact = base_count > 1 && changed_count > 1 && all_the_same(base, base_count) &&
			  all_the_same(changed, changed_count);
	return effect;
}

static void effect_judge(struct effect *effect, size_t count, bool more_is_better)
{
	effect->verdict = verdict_of(effect, more_is_better);
	effect->is_significant = (effect->is_exact || count >= CHANGE_SEEDS_MIN) &&
				 effect->verdict != CHANGE_UNCHANGED;
}

struct effect effect_measure(const double *base, const double *changed, size_t count,
			     double scale_min, bool more_is_better)
{
	struct effect effect = effect_begin(base, count, changed, count, scale_min);

	if (!effect.is_known)
		return effect;
	if (!effect.is_exact)
		interval(&effect, base, changed, count, scale_min);
	effect_judge(&effect, count, more_is_better);
	return effect;
}

struct effect effect_measure_apart(const double *base, size_t base_count, const double *changed,
				   size_t changed_count, double scale_min, bool more_is_better)
{
	struct effect effect = effect_begin(base, base_count, changed, changed_count, scale_min);

	if (!effect.is_known)
		return effect;
	if (!effect.is_exact)
		interval_apart(&effect, base, base_count, changed, changed_count, scale_min);
	effect_judge(&effect, base_count < changed_count ? base_count : changed_count,
		     more_is_better);
	return effect;
}

size_t change_count(const struct change *change, enum change_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < change->scenario_count; i++)
		count += !change->scenarios[i].left_out &&
			 change->scenarios[i].effect.verdict == verdict;
	return count;
}

static void scenario_deinit(struct change_scenario *scenario)
{
	for (size_t i = 0; i < scenario->stream_count; i++)
		memory_free(scenario->streams[i].name);
	memory_free(scenario->streams);
	memory_free(scenario->name);
	memory_free(scenario->summary);
	memory_free(scenario->left_out);
	memory_free(scenario->base_failure);
	memory_free(scenario->changed_failure);
}

void change_deinit(struct change *change)
{
	for (size_t i = 0; i < change->scenario_count; i++)
		scenario_deinit(&change->scenarios[i]);
	memory_free(change->scenarios);
	memory_free(change->base);
	memory_free(change->changed);
	*change = (struct change){0};
}
