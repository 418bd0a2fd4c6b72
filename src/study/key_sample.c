#include "study/key_sample.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "study/key_set.h"
#include "study/stack.h"

enum {
	BITMAP_BITS = 1 << 25, /* counts 10^8 pages to 0.03 %: Whang et al., table II */
	PART_BITS = 7,
	PARTS = 1 << PART_BITS, /* of an octave of distances: 0.8 % */
	OCTAVES = 48,
	BUCKETS = PARTS * (OCTAVES - PART_BITS + 1),
};

enum { KNOWN_ACCESSES, KNOWN_PAGES, KNOWN_HEAD };

/* Look-ups by their scaled distance, each with the weight of its rate. */
struct distances {
	double hits[BUCKETS];
};

/*
 * A stack of sampled pages, with a clock: how many look-ups missed the head, of all, and of this stack's pages. Between two look-ups of a page, that many of
 * all to that many of the sample's tells how much of what came between is in the sample there and then, where the rate only tells it on the whole.
 */
struct ticks {
	uint64_t all;
	double sampled; /* scaled up by the rate of their time */
};

struct clocked {
	struct stack *stack;
	ARRAY(struct ticks) then; /* by id: at its last look-up */
	double sampled;
};

struct sampled_key {
	uint64_t hash, key;
};

struct key_sample {
	uint64_t seed, threshold; /* in the sample: hash <= threshold */
	uint64_t max_keys;
	struct sampled_key *heap; /* max_keys: the largest hash first */
	size_t heap_count;

	struct clocked whole, parts[SAMPLE_GROUPS];
	uint64_t ticks;            /* look-ups that missed the head */
	struct distances *classes; /* by class */
	struct distances *groups;  /* by group, of its own stack */
	struct sample_known known; /* of_class, scaled up */
	struct stack *head;        /* of all pages: the SAMPLE_HEAD that were looked up last */
	uint64_t head_hits[SAMPLE_HEAD]; /* by distance */
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

/* What is in all buckets before each. Free with memory_free(). */
static struct distances *distances_sum(const struct distances *of, size_t count)
{
	struct distances *sums = memory_alloc(count, sizeof(*sums));

	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 1; k < BUCKETS; k++)
			sums[i].hits[k] = sums[i].hits[k - 1] + of[i].hits[k - 1];
	return sums;
}

/* Those below `distance`; a bucket's are spread evenly over it. */
static double hits_below(const struct distances *distances, const struct distances *sums,
			 double distance)
{
	uint32_t bucket = bucket_of((uint64_t)distance);
	double begin = bucket_begin(bucket), end = bucket_begin(bucket + 1);

	return sums->hits[bucket] + distances->hits[bucket] * (distance - begin) / (end - begin);
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
	sample->whole.stack = stack_create();
	sample->head = stack_create();
	for (size_t i = 0; i < SAMPLE_GROUPS; i++)
		sample->parts[i].stack = stack_create();
	sample->classes = memory_alloc(SAMPLE_CLASSES, sizeof(*sample->classes));
	sample->groups = memory_alloc(SAMPLE_GROUPS, sizeof(*sample->groups));
	sample->bitmap = memory_alloc(BITMAP_BITS / 64, sizeof(*sample->bitmap));
	memory_use_randomly(sample->bitmap, BITMAP_BITS / 8);
	return sample;
}

static void clocked_deinit(struct clocked *clocked)
{
	stack_destroy(clocked->stack);
	array_deinit(&clocked->then);
}

void key_sample_destroy(struct key_sample *sample)
{
	if (!sample)
		return;
	memory_free(sample->heap);
	clocked_deinit(&sample->whole);
	stack_destroy(sample->head);
	for (size_t i = 0; i < SAMPLE_GROUPS; i++)
		clocked_deinit(&sample->parts[i]);
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
	stack_forget(sample->whole.stack, largest.key);
	stack_forget(sample->parts[group_of(largest.hash)].stack, largest.key);
}

/* ---- a look-up ---- */

/*
 * A look-up in the sample: how many pages of the whole came between; -1: it is new. `distance` of the sample did, so that the whole had that many by the rate,
 * and up to one more: where in between is drawn by lot, of the look-up's number. The clock's own rate is trusted as much as it has ticked: beside
 * so many ticks at the sample's rate.
 */
static double clocked_access(struct clocked *clocked, const struct key_sample *sample, uint64_t key,
			     double rate, bool ticks)
{
	static const double ticks_at_rate =
		20; /* ours: a rate from fewer is off by more than a fifth */
	double lot = (double)(key_hash(sample->access_count) >> 11) * 0x1p-53, between = -1;
	uint32_t id;
	uint64_t distance = stack_access_id(clocked->stack, key, &id);
	struct ticks *then;

	if (ticks)
		clocked->sampled += 1 / rate;
	while (clocked->then.count <= id)
		(void)array_push(&clocked->then);
	then = &clocked->then.at[id];
	if (distance != STACK_COLD) {
		double all = (double)(sample->ticks - then->all);
		double sampled = clocked->sampled - then->sampled;

		between = ((double)distance + lot) / rate * (all + ticks_at_rate / rate) /
			  (sampled + ticks_at_rate / rate);
	}
	*then = (struct ticks){sample->ticks, clocked->sampled};
	return between;
}

static void hit_add(struct distances *distances, double between, double weight)
{
	if (between >= 0)
		distances->hits[bucket_of((uint64_t)between)] += weight;
}

/* Did it hit an LRU cache of SAMPLE_HEAD pages? */
static bool head_access(struct key_sample *sample, uint64_t key)
{
	uint64_t distance = stack_access(sample->head, key);

	if (distance != STACK_COLD) {
		sample->head_hits[distance]++;
		return true;
	}
	if (stack_count(sample->head) > SAMPLE_HEAD)
		stack_forget_oldest(sample->head);
	return false;
}

bool key_sample_access(struct key_sample *sample, uint64_t key)
{
	uint64_t hash = hash_of(sample, key);
	uint32_t class = class_of(hash), group = group_of(hash);
	double rate, weight, between, group_between;
	bool in_head = head_access(sample, key);

	sample->access_count++;
	sample->ticks += !in_head;
	page_count(sample, hash);
	if (hash > sample->threshold)
		return false;
	rate = key_sample_rate(sample);
	weight = 1 / rate;
	sample->sampled_count++;
	sample->known.of_class[KNOWN_ACCESSES][class] += weight;
	if (in_head)
		sample->known.of_class[KNOWN_HEAD][class] += weight;
	between = clocked_access(&sample->whole, sample, key, rate, !in_head);
	group_between =
		clocked_access(&sample->parts[group], sample, key, rate / SAMPLE_GROUPS, !in_head);
	hit_add(&sample->classes[class], between, weight);
	hit_add(&sample->groups[group], group_between, weight);
	if (between >= 0)
		return true;
	sample->known.of_class[KNOWN_PAGES][class] += weight;
	if (!sample->max_keys)
		return true;
	heap_push(sample, (struct sampled_key){hash, key});
	if (sample->heap_count > sample->max_keys)
		shrink(sample);
	return hash <= sample->threshold;
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
			 : (double)stack_count(sample->whole.stack) / key_sample_rate(sample);
}

uint64_t key_sample_sampled(const struct key_sample *sample)
{
	return sample->sampled_count;
}

uint64_t key_sample_sampled_pages(const struct key_sample *sample)
{
	return stack_count(sample->whole.stack);
}

/* ---- what it says of the whole ---- */

void key_sample_known(const struct key_sample *sample, struct sample_known *known)
{
	*known = sample->known;
	known->of_all[KNOWN_ACCESSES] = (double)sample->access_count;
	known->of_all[KNOWN_PAGES] = key_sample_pages(sample);
	known->of_all[KNOWN_HEAD] = 0;
	for (size_t i = 0; i < SAMPLE_HEAD; i++)
		known->of_all[KNOWN_HEAD] += (double)sample->head_hits[i];
}

/* Sums over the classes: of products of what is known with itself, and with the values. */
struct normal {
	double with[SAMPLE_KNOWN][SAMPLE_KNOWN], values[SAMPLE_KNOWN];
	double sums[SAMPLE_KNOWN], value;
};

static void normal_make(struct normal *normal, const double *values,
			const struct sample_known *known, const uint32_t *weights)
{
	double count = 0;

	*normal = (struct normal){0};
	for (size_t i = 0; i < SAMPLE_CLASSES; i++) {
		double weight = weights ? weights[i] : 1;

		count += weight;
		normal->value += weight * values[i];
		for (size_t a = 0; a < SAMPLE_KNOWN; a++)
			normal->sums[a] += weight * known->of_class[a][i];
	}
	for (size_t i = 0; i < SAMPLE_CLASSES; i++) {
		double weight = weights ? weights[i] : 1, off[SAMPLE_KNOWN];

		for (size_t a = 0; a < SAMPLE_KNOWN; a++)
			off[a] = known->of_class[a][i] - normal->sums[a] / count;
		for (size_t a = 0; a < SAMPLE_KNOWN; a++) {
			normal->values[a] += weight * off[a] * (values[i] - normal->value / count);
			for (size_t b = 0; b < SAMPLE_KNOWN; b++)
				normal->with[a][b] += weight * off[a] * off[b];
		}
	}
}

/*
 * Least squares, by elimination (Gauss) from the first to the last. What the ones before it explain nearly wholly says nothing more: its coefficient is 0.
 */
static void normal_solve(struct normal *normal, double coefficients[SAMPLE_KNOWN])
{
	bool used[SAMPLE_KNOWN];

	for (size_t a = 0; a < SAMPLE_KNOWN; a++) {
		double whole = normal->with[a][a];

		for (size_t b = 0; b < a; b++) {
			double factor = used[b] ? normal->with[a][b] / normal->with[b][b] : 0;

			for (size_t c = b; used[b] && c < SAMPLE_KNOWN; c++)
				normal->with[a][c] -= factor * normal->with[b][c];
			normal->values[a] -= factor * normal->values[b];
		}
		used[a] = whole > 0 && normal->with[a][a] > 1e-6 * whole;
	}
	for (size_t a = SAMPLE_KNOWN; a-- > 0;) {
		double left = normal->values[a];

		for (size_t b = a + 1; b < SAMPLE_KNOWN; b++)
			left -= normal->with[a][b] * coefficients[b];
		coefficients[a] = used[a] ? left / normal->with[a][a] : 0;
	}
}

double sample_estimate(const double *values, const struct sample_known *known,
		       const uint32_t *weights, double coefficients[SAMPLE_KNOWN])
{
	struct normal normal;
	double estimate;

	normal_make(&normal, values, known, weights);
	estimate = normal.value;
	normal_solve(&normal, coefficients);
	for (size_t a = 0; a < SAMPLE_KNOWN; a++)
		estimate -= coefficients[a] * (normal.sums[a] - known->of_all[a]);
	return estimate;
}

static double between(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* Misses of the sample's classes, scaled up. */
static void class_misses(const struct key_sample *sample, const struct distances *sums,
			 double distance, double values[SAMPLE_CLASSES])
{
	for (size_t i = 0; i < SAMPLE_CLASSES; i++)
		values[i] = sample->known.of_class[KNOWN_ACCESSES][i] -
			    hits_below(&sample->classes[i], &sums[i], distance);
}

/* Of caches no larger than the head. */
static double head_misses(const struct key_sample *sample, uint64_t size)
{
	uint64_t misses = sample->access_count;

	for (uint64_t i = 0; i < size; i++)
		misses -= sample->head_hits[i];
	return (double)misses;
}

void key_sample_misses(const struct key_sample *sample, const uint64_t *sizes, size_t count,
		       double *misses)
{
	double most = (double)sample->access_count;
	double coefficients[SAMPLE_KNOWN], values[SAMPLE_CLASSES], pages;
	struct distances *sums = distances_sum(sample->classes, SAMPLE_CLASSES);
	struct sample_known known;

	key_sample_known(sample, &known);
	pages = known.of_all[KNOWN_PAGES];
	for (size_t k = 0; k < count; k++) {
		if (sizes[k] <= SAMPLE_HEAD) {
			misses[k] = most = head_misses(sample, sizes[k]);
			continue;
		}
		if (k == 0)
			most = head_misses(sample, SAMPLE_HEAD);
		class_misses(sample, sums, (double)sizes[k], values);
		misses[k] = between(sample_estimate(values, &known, NULL, coefficients),
				    between(pages, 0, most), most);
		/* A larger LRU never misses more. */
		most = misses[k];
	}
	memory_free(sums);
}

/* The coefficients of groups would be those of 8 figures each: they are the whole's. */
void key_sample_group_misses(const struct key_sample *sample, const uint64_t *sizes, size_t count,
			     double *misses)
{
	double coefficients[SAMPLE_KNOWN], values[SAMPLE_CLASSES];
	struct distances *sums = distances_sum(sample->classes, SAMPLE_CLASSES);
	struct distances *group_sums = distances_sum(sample->groups, SAMPLE_GROUPS);
	struct sample_known known;

	key_sample_known(sample, &known);
	for (size_t k = 0; k < count; k++) {
		class_misses(sample, sums, (double)sizes[k], values);
		(void)sample_estimate(values, &known, NULL, coefficients);
		for (size_t g = 0; g < SAMPLE_GROUPS; g++) {
			double group[SAMPLE_KNOWN] = {0}, estimate;

			for (size_t i = g; i < SAMPLE_CLASSES; i += SAMPLE_GROUPS)
				for (size_t a = 0; a < SAMPLE_KNOWN; a++)
					group[a] += SAMPLE_GROUPS * known.of_class[a][i];
			estimate = group[KNOWN_ACCESSES] -
				   SAMPLE_GROUPS * hits_below(&sample->groups[g], &group_sums[g],
							      (double)sizes[k]);
			for (size_t a = 0; a < SAMPLE_KNOWN; a++)
				estimate -= coefficients[a] * (group[a] - known.of_all[a]);
			misses[g * count + k] =
				sizes[k] <= SAMPLE_HEAD ? head_misses(sample, sizes[k]) : estimate;
		}
	}
	memory_free(sums);
	memory_free(group_sums);
}
