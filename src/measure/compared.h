/*
 * compared: runs side by side, figure by figure, with what is chance and what is not
 *
 * A side is one experiment: one run, or several that differ in nothing but the seed. A row is a figure of
 * the whole machine or of a stream. Each side but the first has an effect against the first
 * (measure/change.h). All texts and lists are owned.
 */
#ifndef REFAULT_MEASURE_COMPARED_H
#define REFAULT_MEASURE_COMPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "measure/change.h"
#include "measure/value.h"

struct compared_run {
	char *id;
	uint64_t seed;
};

struct compared_side {
	char *name; /* what tells it from the others: "linux-4.5", "256 MiB"; or a letter */
	char *input, *setting, *machine, *kernel, *policy, *filesystem,
		*version;      /* NULL: not known */
	uint64_t memory_bytes; /* 0: not known */
	struct compared_run *runs;
	size_t run_count;
	/* It has the first side's seeds, each once: differences are taken seed by seed. */
	bool is_paired;
};

struct compared_cell {
	bool is_known;            /* each run of the side knows it */
	double mean, least, most; /* of all that was seen, each repetition of a kernel's too */
	/* Against the first side's; is_known is false of the first. */
	struct effect ratio; /* relative to the first side's mean, without a floor */
	bool has_interval;   /* of the ratio: more than one value on a side was seen */
	/* With the floor: a dozen pages are no change of a machine. */
	enum change_verdict verdict;
	bool is_significant; /* not unchanged, and not by chance */
};

struct compared_row {
	char *stream; /* NULL: the whole machine's */
	char *figure; /* a value's name (measure/value.h) */
	enum value_unit unit;
	bool more_is_better;
	struct compared_cell *cells; /* one for each side */
};

struct compared {
	struct compared_side *sides;
	size_t side_count;
	ARRAY(struct compared_row) rows; /* the machine's first, then stream by stream */
};

void compared_deinit(struct compared *compared);

#endif
