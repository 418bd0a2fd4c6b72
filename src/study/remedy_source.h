/*
 * remedy_source: a source around another, that tells targets apart and edits what a remedy changes
 *
 * Each op gets its target as its stream, so that the model keeps everything by target: counters, and
 * who pushed out whom. What stands for an op (none, one or several) is delivered one after the other in
 * its place; the source within is told that its op is done when the last of them is. Files of a
 * scenario that are made before its jobs start are left alone.
 */
#ifndef REFAULT_STUDY_REMEDY_SOURCE_H
#define REFAULT_STUDY_REMEDY_SOURCE_H

#include "base/array.h"
#include "op/source.h"
#include "op/stream.h"
#include "study/remedy.h"

/* The targets of all runs of one input: filled by the first, then only looked at. */
struct remedy_targets {
	struct arena arena;
	char *names[REMEDY_TARGETS_MAX + 2]; /* [0] NULL; by stream number of the labelled ops */
	const char *streams[REMEDY_TARGETS_MAX + 2], *classes[REMEDY_TARGETS_MAX + 2];
	uint32_t count; /* with the unused 0 */
	bool is_frozen; /* what is new is "other" */
};

/* After the first run: names as short as they are clear. */
void remedy_targets_freeze(struct remedy_targets *targets);
void remedy_targets_deinit(struct remedy_targets *targets);

struct remedy_source_options {
	struct remedy_targets *targets;
	struct stream_map
		*streams;    /* who is a stream, if the source does not say; used by it alone */
	bool splits_classes; /* else a target is a stream */
	struct remedy_facts *facts;       /* of the first run, to be filled; NULL: of another */
	const struct remedy_try *attempt; /* NULL: as it is */
	/* a cgroup split: only ops of the attempt's targets, or only the others'; 0: all */
	int side;
};

/* `inner` stays the caller's, and must be asked no more. Destroy before it. */
struct op_source *remedy_source_create(struct op_source *inner,
				       const struct remedy_source_options *options);

/* Operations of the source within that were delivered, files that are there before left out. */
uint64_t remedy_source_ops(const struct op_source *source);

#endif
