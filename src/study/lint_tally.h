/*
 * lint_tally: what a lint counts, by file and by who does it
 *
 * At the end, where a stream does the same with more than TALLY_FILES_MAX files, these are put
 * together: nobody reads twenty thousand findings. Everything is in the order of the first place.
 */
#ifndef REFAULT_STUDY_LINT_TALLY_H
#define REFAULT_STUDY_LINT_TALLY_H

#include "study/lint.h"
#include "study/page_map.h"

enum { TALLY_FILES_MAX = 5, TALLY_COUNTS = 6 };

struct tally {
	uint32_t path; /* of the first */
	uint32_t stream;
	uint32_t what;  /* the lint's own: which habit; tallies of different ones are kept apart */
	uint64_t files; /* put together in this one */
	uint64_t times; /* ops */
	uint64_t counts[TALLY_COUNTS];   /* the lint's own */
	struct lint_where first, second; /* the lint's own: what comes first, and what after it */
	uint32_t other;                  /* the lint's own: another stream */
};

struct tallies {
	ARRAY(struct tally) list;
	struct page_map by_key; /* (path + 1, stream and what): index + 1 */
};

/* The one of this file, stream and habit, made if it is new. Its index: tallies move. */
size_t tally_find(struct tallies *tallies, uint32_t path, uint32_t stream, uint32_t what);

/* The same; good until the next new one. */
struct tally *tally_get(struct tallies *tallies, uint32_t path, uint32_t stream, uint32_t what);

/* Put together those of streams with many files. */
void tallies_merge(struct tallies *tallies);

void tallies_deinit(struct tallies *tallies);

/* "heap", or "heap and 11 more files". */
const char *tally_files(struct lint_run *run, const struct tally *tally);

#endif
