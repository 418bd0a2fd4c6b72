/*
 * eviction_age: how old pages are when they are evicted
 *
 * Looks on with a watch (machine/model/watch.h): when a page came in, and by which op it was last asked for. 8 bytes a page of all files
 * that were used, and 8 an op, of at most MOMENTS.
 */
#ifndef REFAULT_STUDY_EVICTION_AGE_H
#define REFAULT_STUDY_EVICTION_AGE_H

#include "machine/model/watch.h"
#include "measure/explanation.h"
#include "study/page_map.h"

struct eviction_age {
	struct explained_ages *ages;
	struct page_map arrived, used; /* op numbers; 0: not there, not asked for */
	ARRAY(uint64_t) times_ns;      /* of one op in so many */
	uint64_t times_every, last_op, first_ns, last_ns;
	size_t seen; /* of the present op's evictions */
};

void eviction_age_init(struct eviction_age *age, struct explained_ages *ages);
void eviction_age_deinit(struct eviction_age *age);

/* For the watch's three calls. */
void eviction_age_before(struct eviction_age *age, const struct model_moment *moment);
void eviction_age_fetched(struct eviction_age *age, const struct model_moment *moment,
			  const struct cache_run *runs, size_t count);
void eviction_age_after(struct eviction_age *age, const struct model_moment *moment);

/* At the run's end. */
void eviction_age_finish(struct eviction_age *age);

#endif
