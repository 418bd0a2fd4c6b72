#include "base/histogram.h"

#include <assert.h>

#include "base/memory.h"
#include "base/root.h"

enum { SUB_COUNT = 1 << HISTOGRAM_SUB_BITS, MILLION = 1000000 };

/*
 * The highest HISTOGRAM_SUB_BITS + 1 bits choose the bucket: how far the value is shifted until no
 * more are left (0 below 128), and those bits, of which the highest is 1 from 64 on.
 */
uint32_t histogram_bucket(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * SUB_COUNT)
		return (uint32_t)value;
	shift = 63 - HISTOGRAM_SUB_BITS - (uint32_t)__builtin_clzll(value);
	return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

uint64_t histogram_bucket_low(uint32_t bucket)
{
	uint32_t shift;

	assert(bucket < HISTOGRAM_BUCKETS);
	if (bucket < 2 * SUB_COUNT)
		return bucket;
	shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	return (uint64_t)(bucket - (shift << HISTOGRAM_SUB_BITS)) << shift;
}

uint64_t histogram_bucket_high(uint32_t bucket)
{
	return bucket + 1 < HISTOGRAM_BUCKETS ? histogram_bucket_low(bucket + 1) - 1 : UINT64_MAX;
}

void histogram_deinit(struct histogram *histogram)
{
	memory_free(histogram->buckets);
	*histogram = (struct histogram){0};
}

static void span_widen(struct histogram *histogram, uint64_t least, uint64_t most)
{
	if (histogram->count == 0 || least < histogram->least)
		histogram->least = least;
	if (most > histogram->most)
		histogram->most = most;
}

static void buckets_need(struct histogram *histogram)
{
	if (!histogram->buckets)
		histogram->buckets = memory_alloc(HISTOGRAM_BUCKETS, sizeof(*histogram->buckets));
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	buckets_need(histogram);
	span_widen(histogram, value, value);
	histogram->count++;
	histogram->sum += value;
	histogram->sum_of_squares += (unsigned __int128)value * value;
	histogram->buckets[histogram_bucket(value)]++;
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	if (other->count == 0)
		return;
	buckets_need(histogram);
	span_widen(histogram, other->least, other->most);
	histogram->count += other->count;
	histogram->sum += other->sum;
	histogram->sum_of_squares += other->sum_of_squares;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->buckets[i] += other->buckets[i];
}

uint64_t histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? (uint64_t)(histogram->sum / histogram->count) : 0;
}

/*
 * With q the mean rounded down, r the rest of that division and n values, S = sum of (x - q)^2 =
 * sum of x^2 - q * sum - q * r, and the variance is S/n - (r/n)^2. The first is right whatever
 * overflows on the way, as long as S itself is below 2^128; the second differs from S / n rounded
 * down by less than one either way, so that only its sign has to be known.
 */
uint64_t histogram_deviation(const struct histogram *histogram)
{
	unsigned __int128 count = histogram->count, mean, rest, squares, variance;

	if (count == 0)
		return 0;
	mean = histogram->sum / count;
	rest = histogram->sum % count;
	squares = histogram->sum_of_squares - mean * histogram->sum - mean * rest;
	variance = squares / count;
	if (squares % count * count < rest * rest)
		variance--;
	return square_root_wide(variance);
}

uint64_t histogram_quantile(const struct histogram *histogram, uint32_t millionths)
{
	uint64_t rank, seen = 0;
	uint32_t bucket = 0;

	assert(millionths <= MILLION);
	if (histogram->count == 0)
		return 0;
	rank = (uint64_t)(((unsigned __int128)histogram->count * millionths + MILLION - 1) /
			  MILLION);
	if (rank == 0)
		return histogram->least;
	while (bucket + 1 < HISTOGRAM_BUCKETS && (seen += histogram->buckets[bucket]) < rank)
		bucket++;
	return histogram_bucket_high(bucket) < histogram->most ? histogram_bucket_high(bucket)
							       : histogram->most;
}
