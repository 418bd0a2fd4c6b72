/*
 * key_sample: a sample of pages, and the LRU distances in it
 *
 * A page is in the sample if its hash is below a threshold; so all of its look-ups are, or none. Beside it, the first SAMPLE_HEAD pages of the stack are kept
 * for all of the trace: so small caches are known exactly, and what is above them is corrected by it. Costs some 10 MiB, and 60 bytes a sampled page; of
 * the whole trace nothing grows. miss_curve.h tells what is made of it.
 */
#ifndef REFAULT_STUDY_KEY_SAMPLE_H
#define REFAULT_STUDY_KEY_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLE_CLASSES = 128, SAMPLE_GROUPS = 16, SAMPLE_HEAD = 32768 };

struct key_sample; /* opaque */

/* At most `max_keys` pages, falling from `rate`; 0: all at that rate, which is in (0, 1]. */
struct key_sample *key_sample_create(double rate, uint64_t max_keys, uint64_t seed);
void key_sample_destroy(struct key_sample *sample);

/* A look-up of the whole trace. True: it is in the sample, as it is now. */
bool key_sample_access(struct key_sample *sample, uint64_t key);

/* Is it in the sample in the end? And in which class? */
bool key_sample_has(const struct key_sample *sample, uint64_t key);
uint32_t key_sample_class(const struct key_sample *sample, uint64_t key);

double key_sample_rate(const struct key_sample *sample);       /* in the end */
uint64_t key_sample_accesses(const struct key_sample *sample); /* of the whole trace */
double key_sample_pages(const struct key_sample *sample);      /* likewise, counted by a bitmap */
uint64_t key_sample_sampled(const struct key_sample *sample);  /* look-ups in the sample */
uint64_t key_sample_sampled_pages(const struct key_sample *sample); /* pages in it */

/* How many look-ups of the whole trace miss in LRU caches of these sizes, pages. */
void key_sample_misses(const struct key_sample *sample, const uint64_t *sizes, size_t count,
		       double *misses);

/* The same, by each group of the sample alone: misses[group * count + size]. */
void key_sample_group_misses(const struct key_sample *sample, const uint64_t *sizes, size_t count,
			     double *misses);

/*
 * What is known of each class of the sample, scaled up to the whole, and of the whole itself: look-ups, pages, and look-ups that hit the head
 * of the stack.
 */
enum { SAMPLE_KNOWN = 3 };

struct sample_known {
	double of_class[SAMPLE_KNOWN][SAMPLE_CLASSES];
	double of_all[SAMPLE_KNOWN];
};

void key_sample_known(const struct key_sample *sample, struct sample_known *known);

/*
 * An estimate of the sum over the whole of what the sample's classes have (scaled up), corrected by what is known. The coefficients are those of the classes;
 * `weights` is how often each class counts (a bootstrap's draw); NULL: once.
 */
double sample_estimate(const double *values, const struct sample_known *known,
		       const uint32_t *weights, double coefficients[SAMPLE_KNOWN]);

/* The natural logarithm of x > 0, the same on all machines. */
double sample_log(double x);

#endif
