/*
 * miss_curve: how many look-ups of a plain cache miss, over its size
 *
 * Exactly: LRU at all sizes in one pass (stack.h), other policies by a run for each size. Or from a sample: the pages whose hash is below a threshold, so
 * that a page is in the sample always or never (Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC construction with SHARDS", FAST '15); LRU's
 * distances are then scaled, and other policies run on caches scaled by the rate (Waldspurger, Saemundsson, Ahmad, Park, "Cache modeling and
 * optimization using miniature simulations", ATC '17). Either at a rate, or with so many pages at most: then the rate falls as pages come.
 *
 * Differs from SHARDS:
 * 1. What is known of the whole trace without holding it corrects the estimate: how many look-ups there are (as SHARDS-adj does); how many
 *    pages, counted in a bitmap of 4 MiB (linear counting: Whang, Vander-Zanden, Taylor, ACM TODS 15(2), 1990); and what LRU caches of up to 32,768 pages do, for
 *    which the stack's first pages are kept as they are, so that small caches are exact. The correction is a linear regression over
 *    classes of sampled pages, as survey statistics has it (Cochran, Sampling Techniques, 3rd ed., chapter 7).
 * 2. A distance is not scaled by the rate, but by what share of the look-ups that missed those first pages, in just that stretch of the trace, is in the
 *    sample. On P6 of the ARC paper's traces that is a tenth of the error, on P12 two thirds.
 * 3. The error is estimated: the sample is taken apart into 16 groups by hash, each with a stack of its own; means of groups drawn with repetition (a
 *    bootstrap over groups: Efron, Tibshirani, An Introduction to the Bootstrap, 1993) show how far the estimate would wander. Of policies other than LRU, classes
 *    of pages are drawn, of one and the same run: what the scaling of the cache itself does is not in it.
 * 4. If the mean absolute error is estimated to be more than what is wanted, over evenly spaced sizes (FAST '15's measure) or over those that are drawn, the
 *    rate is raised.
 */
#ifndef REFAULT_STUDY_MISS_CURVE_H
#define REFAULT_STUDY_MISS_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/policy_options.h"
#include "machine/model/model.h"

/* How many when nobody says, and at most. */
enum { MISS_CURVE_POINTS = 32, MISS_CURVE_POINTS_MAX = 4096 };

struct miss_curve_options {
	const struct policy_options *policies;
	size_t policy_count;
	enum bare_key key;
	const uint64_t *sizes; /* pages, rising; NULL: point_count of them, from few to all pages */
	size_t size_count, point_count;

	double rate;       /* of the sample; 0: no sample, unless max_keys */
	uint64_t max_keys; /* of the sample, whose rate falls; 0: a fixed rate */
	double error_wanted; /* of a fixed rate, which is raised until it holds; 0: it is not raised */
	uint64_t seed;       /* which sample; and the bootstrap */

	size_t threads;
	uint64_t held_bytes_max; /* what the trace may take in memory for runs (op/held.h) */

	/* The trace, once more. NULL: failed. */
	struct op_source *(*open)(void *context, struct error *error);
	/* It is read to its end, or failed, before it is destroyed. */
	void (*read)(void *context, const struct op_source *source);
	bool is_once; /* it can be opened once only */
	void *context;

	const volatile int *interrupted;                                /* not NULL */
	void (*progress)(void *context, uint64_t done, uint64_t total); /* NULL: not wanted */
	void *progress_context;
};

struct miss_curve {
	double *misses;    /* by size; NAN: not known */
	double *deviation; /* by size: its standard error; NAN: exact, or not known */
	double mean_error; /* estimated mean absolute error of the miss ratio; NAN: exact, or not known */
	double knee; /* pages: nine in ten of the re-reads at the least size are gone; NAN: at none */
	char failure[512]; /* the first size that could not be run; "": none */
};

struct miss_curves {
	uint64_t *sizes;
	size_t size_count;
	struct miss_curve *curves; /* by policy */
	size_t policy_count;
	uint64_t accesses;
	double pages; /* different ones; an estimate if sampled */
	bool is_sampled;
	double rate_asked, rate; /* of the sample; in the end */
	uint64_t sampled_accesses, sampled_pages;
	unsigned int passes;
};

/* False: the trace is wrong, or it was interrupted. Free with miss_curves_deinit() in any case. */
bool miss_curves_make(struct miss_curves *curves, const struct miss_curve_options *options,
		      struct error *error);
void miss_curves_deinit(struct miss_curves *curves);

#endif
