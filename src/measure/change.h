/*
 * change: what a change does to a corpus of scenarios, one by one: who gains, who loses
 *
 * Each scenario is run under a base and under the change, with the same seeds: what a seed draws is
 * the same for both, so that differences are taken seed by seed. An effect is the mean difference
 * relative to the base's mean, or to the metric's floor where that is more (a dozen pages are not
 * 1200 % of one). Its 95 % interval comes from resampling the seeds, pairs as they are; what all
 * seeds agree on to the byte is exact and has none. All texts and lists are owned.
 */
#ifndef REFAULT_MEASURE_CHANGE_H
#define REFAULT_MEASURE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/metric.h"

/* Nobody gains or loses by less than a hundredth. */
enum { CHANGE_NOTABLE_PPM = 10000 };

/* With fewer seeds nothing is called significant: five agree by chance once in sixteen times. */
enum { CHANGE_SEEDS_MIN = 5 };

enum change_verdict { CHANGE_UNCHANGED, CHANGE_WINNER, CHANGE_LOSER };

struct effect {
	bool is_known;        /* the runs know the metric; else nothing here means anything */
	bool is_exact;        /* all seeds gave the same */
	bool is_significant;  /* exact, or the interval does not hold 0, of enough seeds */
	double base, changed; /* means over the seeds */
	double change;        /* relative: 0.05 is 5 % more */
	double low, high;     /* the interval of `change`; exact: `change` both */
	enum change_verdict verdict;
};

/*
 * From a value a seed on each side. `scale_min`: what a difference is relative to at least (0: the
 * base's mean alone). Draws by lot from a seed of its own: the same values give the same effect.
 */
struct effect effect_measure(const double *base, const double *changed, size_t count,
			     double scale_min, bool more_is_better);

/*
 * The same of values that do not belong together in pairs: other seeds, or more of them, on one side. Each
 * side is resampled by itself. A few values (fewer than CHANGE_SEEDS_MIN on a side) give the interval
 * from the least to the most that one of each could have shown.
 */
struct effect effect_measure_apart(const double *base, size_t base_count, const double *changed,
				   size_t changed_count, double scale_min, bool more_is_better);

struct change_stream {
	char *name;
	struct effect effect;
};

struct change_scenario {
	char *name;
	char *summary; /* NULL: none */
	/*
	 * Why it is not counted: larger than was asked for, the change is nothing to it, or it knows no
	 * such metric. NULL: it is.
	 */
	char *left_out;
	/* Why a side did not come to its end. NULL: it did. */
	char *base_failure, *changed_failure;
	size_t seed_count;    /* of those that were run */
	struct effect effect; /* of the whole machine; its verdict is the scenario's */
	double work_change; /* of the operations done, relative: what loops for a time does more or less */
	struct change_stream *streams; /* as they came; none if there is but one */
	size_t stream_count;
};

struct change {
	char *base;    /* the policy, "linux-4.5" */
	char *changed; /* what was changed, "activate_on_write=never, refault_on_write=no" */
	struct metric metric;
	size_t seed_count; /* asked for */
	struct change_scenario *scenarios;
	size_t scenario_count;
};

/* Of those that count: how many have this verdict. */
size_t change_count(const struct change *change, enum change_verdict verdict);

void change_deinit(struct change *change);

#endif
