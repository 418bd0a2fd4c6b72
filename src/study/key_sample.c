#include "study/key_sample.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "study/key_set.h"
#include "study/stack.h"

enum {
	BITMAP_BITS = 1 << 25, /* counts 10^8 pages to 0.03 %: Whang et al., table II */
	PART_BITS = 7,
	PARTS = 1 << PART_BITS, /* of an octave of distances: 0.8 % */
	OCTAVES = 48,
	BUCKETS = PARTS * (OCTAVES - PART_BITS + 1),
};

/* Look-ups by their scaled distance, each with the weight of its rate. */
struct distances {
	double hits[BUCKETS];
};

struct sampled_key {
	uint64_t hash, key;
};

struct key_sample {
	uint64_t seed, threshold; /* in the sample: hash <= threshold */
	uint64_t max_keys;
	struct sampled_key *heap; /* max_keys: the largest hash first */
	size_t heap_count;

	struct stack *stack, *group_stacks[SAMPLE_GROUPS];
	struct distances *classes;                              /* by class */
	struct distances *groups;                               /* by group, of its own stack */
	double accesses[SAMPLE_CLASSES], pages[SAMPLE_CLASSES]; /* scaled up */
	uint64_t *bitmap;
	uint64_t bits_set, access_count, sampled_count;
};

/* ---- numbers ---- */

double sample_log(double x)
{
	/* x = m 2^e with m in [0.7, 1.4); ln m = 2 artanh((m - 1) / (m + 1)), by its series. */
	static const double ln2 = 0x1.62e42fefa39efp-1;
	double t, square, term, sum = 0;
	int exponent;
	double m = frexp(x, &exponent);

	if (m < 0.7) {
		m *= 2;
		exponent--;
	}
	t = (m - 1) / (m + 1);
	square = t * t;
	term = t;
	for (int i = 1; i < 40; i += 2) {
		sum += term / i;
		term *= square;
	}
	return 2 * sum + exponent * ln2;
}

static uint32_t bucket_of(uint64_t distance)
{
	uint32_t octave;

	if (distance < PARTS)
		return (uint32_t)distance;
	octave = 63 - (uint32_t)__builtin_clzll(distance);
	if (octave >= OCTAVES)
		return BUCKETS - 1;
	return (octave - PART_BITS + 1) * PARTS +
	       ((uint32_t)(distance >> (octave - PART_BITS)) & (PARTS - 1));
}

/* Where it begins; the next one's beginning is its end. */
static double bucket_begin(uint32_t bucket)
{
	uint32_t octave = bucket / PARTS, part = bucket % PARTS;

	if (octave == 0)
		return part;
	return (double)((uint64_t)(PARTS + part) << (octave - 1));
}

/* Those below `distance`; a bucket's are spread evenly over it. */
static double hits_below(const struct distances *distances, double distance)
{
	double sum = 0;

	for (uint32_t i = 0; i < BUCKETS; i++) {
		double begin = bucket_begin(i), end = bucket_begin(i + 1);

		if (end > distance) {
			if (distance > begin)
				sum += distances->hits[i] * (distance - begin) / (end - begin);
			break;
		}
		sum += distances->hits[i];
	}
	return sum;
}

/* ---- the sample ---- */

struct key_sample *key_sample_create(double rate, uint64_t max_keys, uint64_t seed)
{
	struct key_sample *sample = memory_alloc(1, sizeof(*sample));

	assert(rate > 0 && rate <= 1);
	sample->seed = key_hash(seed + 1);
	sample->threshold = rate >= 1 ? UINT64_MAX : (uint64_t)(rate * 0x1p64);
	sample->max_keys = max_keys;
	if (max_keys)
		sample->heap = memory_alloc(max_keys + 1, sizeof(*sample->heap));
	sample->stack = stack_create();
	for (size_t i = 0; i < SAMPLE_GROUPS; i++)
		sample->group_stacks[i] = stack_create();
	sample->classes = memory_alloc(SAMPLE_CLASSES, sizeof(*sample->classes));
	sample->groups = memory_alloc(SAMPLE_GROUPS, sizeof(*sample->groups));
	sample->bitmap = memory_alloc(BITMAP_BITS / 64, sizeof(*sample->bitmap));
	memory_use_randomly(sample->bitmap, BITMAP_BITS / 8);
	return sample;
}

void key_sample_destroy(struct key_sample *sample)
{
	if (!sample)
		return;
	memory_free(sample->heap);
	stack_destroy(sample->stack);
	for (size_t i = 0; i < SAMPLE_GROUPS; i++)
		stack_destroy(sample->group_stacks[i]);
	memory_free(sample->classes);
	memory_free(sample->groups);
	memory_free(sample->bitmap);
	memory_free(sample);
}

static uint64_t hash_of(const struct key_sample *sample, uint64_t key)
{
	return key_hash(key ^ sample->seed);
}

static uint32_t class_of(uint64_t hash)
{
	return (uint32_t)hash % SAMPLE_CLASSES;
}

static uint32_t group_of(uint64_t hash)
{
	return class_of(hash) % SAMPLE_GROUPS;
}

double key_sample_rate(const struct key_sample *sample)
{
	return sample->threshold == UINT64_MAX ? 1 : (double)sample->threshold * 0x1p-64;
}

static void page_count(struct key_sample *sample, uint64_t hash)
{
	uint64_t at = (hash >> 7) % BITMAP_BITS, bit = UINT64_C(1) << at % 64;

	sample->bits_set += !(sample->bitmap[at / 64] & bit);
	sample->bitmap[at / 64] |= bit;
}

/* ---- at most so many ---- */

static void heap_push(struct key_sample *sample, struct sampled_key key)
{
	size_t at = sample->heap_count++;

	for (size_t up; at > 0 && sample->heap[up = (at - 1) / 2].hash < key.hash; at = up)
		sample->heap[at] = sample->heap[up];
	sample->heap[at] = key;
}

static struct sampled_key heap_pop(struct key_sample *sample)
{
	struct sampled_key top = sample->heap[0], last = sample->heap[--sample->heap_count];
	size_t at = 0;

	for (;;) {
		size_t down = 2 * at + 1;

		if (down >= sample->heap_count)
			break;
		if (down + 1 < sample->heap_count &&
		    sample->heap[down + 1].hash > sample->heap[down].hash)
			down++;
		if (sample->heap[down].hash <= last.hash)
			break;
		sample->heap[at] = sample->heap[down];
		at = down;
	}
	sample->heap[at] = last;
	return top;
}

/* One too many: the largest hash goes, and the threshold is below it. */
static void shrink(struct key_sample *sample)
{
	struct sampled_key largest = heap_pop(sample);

	sample->threshold = largest.hash - 1;
	stack_forget(sample->stack, largest.key);
	stack_forget(sample->group_stacks[group_of(largest.hash)], largest.key);
}

/* ---- a look-up ---- */

/*
 * `distance` sampled pages came between, so that the whole had that many by the rate, and up to one more: where in between is drawn by lot, of the look-up's number.
 */
static void hit_add(struct distances *distances, uint64_t distance, double rate, uint64_t number,
		    double weight)
{
	double lot = (double)(key_hash(number) >> 11) * 0x1p-53;

	distances->hits[bucket_of((uint64_t)(((double)distance + lot) / rate))] += weight;
}

bool key_sample_access(struct key_sample *sample, uint64_t key)
{
	uint64_t hash = hash_of(sample, key), distance, group_distance;
	uint32_t class = class_of(hash), group = group_of(hash);
	double rate, weight;

	sample->access_count++;
	page_count(sample, hash);
	if (hash > sample->threshold)
		return false;
	rate = key_sample_rate(sample);
	weight = 1 / rate;
	sample->sampled_count++;
	sample->accesses[class] += weight;
	distance = stack_access(sample->stack, key);
	group_distance = stack_access(sample->group_stacks[group], key);
	if (distance == STACK_COLD) {
		sample->pages[class] += weight;
		if (!sample->max_keys)
			return true;
		heap_push(sample, (struct sampled_key){hash, key});
		if (sample->heap_count > sample->max_keys)
			shrink(sample);
		return hash <= sample->threshold;
	}
	hit_add(&sample->classes[class], distance, rate, sample->access_count, weight);
	hit_add(&sample->groups[group], group_distance, rate / SAMPLE_GROUPS, sample->access_count,
		weight);
	return true;
}

bool key_sample_has(const struct key_sample *sample, uint64_t key)
{
	return hash_of(sample, key) <= sample->threshold;
}

uint32_t key_sample_class(const struct key_sample *sample, uint64_t key)
{
	return class_of(hash_of(sample, key));
}

uint64_t key_sample_accesses(const struct key_sample *sample)
{
	return sample->access_count;
}

double key_sample_pages(const struct key_sample *sample)
{
	double zeros = (double)(BITMAP_BITS - sample->bits_set);

	return zeros > 0 ? -(double)BITMAP_BITS * sample_log(zeros / BITMAP_BITS)
			 : (double)stack_count(sample->stack) / key_sample_rate(sample);
}

uint64_t key_sample_sampled(const struct key_sample *sample)
{
	return sample->sampled_count;
}

uint64_t key_sample_sampled_pages(const struct key_sample *sample)
{
	return stack_count(sample->stack);
}

/* ---- what it says of the whole ---- */

double sample_estimate(const double *values, const double *accesses, const double *pages,
		       const uint32_t *weights, double all_accesses, double all_pages)
{
	double count = 0, value = 0, a = 0, p = 0, aa = 0, pp = 0, ap = 0, av = 0, pv = 0, by_a,
	       by_p;
	double determinant;

	for (size_t i = 0; i < SAMPLE_CLASSES; i++) {
		double weight = weights ? weights[i] : 1;

		count += weight;
		value += weight * values[i];
		a += weight * accesses[i];
		p += weight * pages[i];
	}
	for (size_t i = 0; i < SAMPLE_CLASSES; i++) {
		double weight = weights ? weights[i] : 1;
		double da = accesses[i] - a / count, dp = pages[i] - p / count;
		double dv = values[i] - value / count;

		aa += weight * da * da;
		pp += weight * dp * dp;
		ap += weight * da * dp;
		av += weight * da * dv;
		pv += weight * dp * dv;
	}
	determinant = aa * pp - ap * ap;
	/* Where pages and look-ups are much the same, one of them says it all. */
	if (determinant > 1e-6 * aa * pp) {
		by_a = (av * pp - pv * ap) / determinant;
		by_p = (pv * aa - av * ap) / determinant;
	} else {
		by_a = aa > 0 ? av / aa : 0;
		by_p = 0;
	}
	return value - by_a * (a - all_accesses) - by_p * (p - all_pages);
}

static double between(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

void key_sample_misses(const struct key_sample *sample, const uint64_t *sizes, size_t count,
		       double *misses)
{
	double pages = key_sample_pages(sample), sampled = 0, most = (double)sample->access_count;

	for (size_t i = 0; i < SAMPLE_CLASSES; i++)
		sampled += sample->pages[i];
	for (size_t k = 0; k < count; k++) {
		double values[SAMPLE_CLASSES];
		double distance = (double)sizes[k] * sampled / pages;

		for (size_t i = 0; i < SAMPLE_CLASSES; i++)
			values[i] = sample->accesses[i] - hits_below(&sample->classes[i], distance);
		misses[k] = between(sample_estimate(values, sample->accesses, sample->pages, NULL,
						    (double)sample->access_count, pages),
				    between(pages, 0, most), most);
		/* A larger LRU never misses more. */
		most = misses[k];
	}
}

/* The coefficients of groups would be those of 16 figures: each group's estimate is made as that of the whole with its classes alone. */
void key_sample_group_misses(const struct key_sample *sample, const uint64_t *sizes, size_t count,
			     double *misses)
{
	double pages = key_sample_pages(sample), all = (double)sample->access_count;
	double values[SAMPLE_CLASSES], whole_sampled = 0;

	for (size_t i = 0; i < SAMPLE_CLASSES; i++)
		whole_sampled += sample->pages[i];
	for (size_t k = 0; k < count; k++) {
		double by_a, by_p, base;
		double distance = (double)sizes[k] * whole_sampled / pages;

		for (size_t i = 0; i < SAMPLE_CLASSES; i++)
			values[i] = sample->accesses[i] - hits_below(&sample->classes[i], distance);
		/* The estimate is linear in what is known: so its coefficients are differences. */
		base = sample_estimate(values, sample->accesses, sample->pages, NULL, all, pages);
		by_a = (sample_estimate(values, sample->accesses, sample->pages, NULL, all + 1e6,
					pages) -
			base) /
		       1e6;
		by_p = (sample_estimate(values, sample->accesses, sample->pages, NULL, all,
					pages + 1e6) -
			base) /
		       1e6;
		for (size_t g = 0; g < SAMPLE_GROUPS; g++) {
			double accesses = 0, sampled = 0, hits;

			for (size_t i = g; i < SAMPLE_CLASSES; i += SAMPLE_GROUPS) {
				accesses += SAMPLE_GROUPS * sample->accesses[i];
				sampled += SAMPLE_GROUPS * sample->pages[i];
			}
			hits = SAMPLE_GROUPS *
			       hits_below(&sample->groups[g], (double)sizes[k] * sampled / pages);
			misses[g * count + k] = accesses - hits - by_a * (accesses - all) -
						by_p * (sampled - pages);
		}
	}
}
