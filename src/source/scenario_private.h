/*
 * How a scenario is read: what its parts share. scenario.c reads the whole, the machine and the
 * comparison; scenario_files.c the files; scenario_steps.c what a job does; scenario_jobs.c when,
 * and whether it ever ends. All fail (ERROR_INPUT) into loader->error.
 */
#ifndef REFAULT_SOURCE_SCENARIO_PRIVATE_H
#define REFAULT_SOURCE_SCENARIO_PRIVATE_H

#include "source/scenario.h"

enum { NAME_BYTES_MAX = 255, THIS_SET_NONE = STEP_FILE_NONE };

/* What is known while a scenario is being read. */
struct loader {
	struct scenario *scenario;
	const struct yaml *yaml;
	struct error *error;
	struct scenario_job *job; /* whose steps are read */
	size_t job_steps;
	/* per file: what jobs do to it */
	uint64_t *end_bytes; /* how long it can become */
	bool *is_created;
};

/* " (nearest: "x")", or nothing. */
const char *nearest_hint(char text[80], const char *word, const char *(*at)(const void *, size_t),
			 const void *context);

bool files_read(struct loader *loader, const struct yaml_node *node);
bool jobs_read(struct loader *loader, const struct yaml_node *node);

/*
 * `this_set`: the set whose file `this` is here, or THIS_SET_NONE. is_job: the node is a job that
 * holds its only step's keys.
 */
bool step_read(struct loader *loader, struct scenario_step *step, const struct yaml_node *node,
	       uint32_t this_set, unsigned int depth, bool is_job);
bool steps_read(struct loader *loader, struct scenario_step *parent, const struct yaml_node *list,
		uint32_t this_set, unsigned int depth);

/* The jobs that a value names; NULL: none. */
bool names_read(struct loader *loader, const struct yaml_node *node, uint32_t **indices,
		size_t *count);

#endif
