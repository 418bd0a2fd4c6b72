/*
 * histogram: how often each value was, in log-linear buckets
 *
 * Values below 128 exactly, above within 1/64 (0.8 % from a bucket's middle): as HdrHistogram and
 * fio do. Integers from end to end. 30 KiB, all of it in the struct's one allocation.
 */
#ifndef REFAULT_BASE_HISTOGRAM_H
#define REFAULT_BASE_HISTOGRAM_H

#include <stdint.h>

struct histogram {
	uint64_t count;
	uint64_t least, most; /* of all values, exactly; 0 without any */
	unsigned __int128 sum, sum_of_squares;
	uint64_t *buckets; /* NULL: no value yet */
};

enum {
	HISTOGRAM_SUB_BITS = 6,
	HISTOGRAM_BUCKETS = (64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS
};

/* All zero is an empty one; free with histogram_deinit(). */
void histogram_deinit(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);
/* Add all of `other`'s values. */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/* 0 without values. The deviation is of the values as a whole (population), rounded down. */
uint64_t histogram_mean(const struct histogram *histogram);
uint64_t histogram_deviation(const struct histogram *histogram);

/*
 * The value that so many millionths of all are not above (500000: the median; 999900: p99.99): the
 * highest that its bucket holds, but not above the largest value.
 */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t millionths);

/* The bucket of a value, and the lowest and highest value of a bucket; for JSON and drawings. */
uint32_t histogram_bucket(uint64_t value);
uint64_t histogram_bucket_low(uint32_t bucket);
uint64_t histogram_bucket_high(uint32_t bucket);

#endif
