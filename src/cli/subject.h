/*
 * subject: what a command is about, a trace or a scenario, and the machine that it is to run on
 *
 * What several commands ask for in the same words is read here once. A command's own options stay in its
 * table; it fills in what it has.
 */
#ifndef REFAULT_CLI_SUBJECT_H
#define REFAULT_CLI_SUBJECT_H

#include "base/error.h"
#include "cli/command.h"
#include "machine/model/device.h"
#include "machine/model/model.h"
#include "op/stream.h"
#include "study/trial.h"

/* A file that is there is what it looks like; a name without one is a scenario that ships. */
bool subject_is_scenario(const char *name);

/* A machine as options say it; what is not given is zero. */
struct subject_machine {
	const char *command; /* of whom, for messages: "replay" */
	const char *input;   /* likewise */
	struct given memory, cgroup_limit, readahead, pinned, seed, device_size, processors,
		recordsize;
	const char *filesystem, *device;
	uint64_t memory_bytes; /* where neither is given; 0: one has to be */
};

/*
 * Turn it into a model's options, less policy and streams. *device is to be freed with
 * device_profile_free(). False: ERROR_INPUT, nothing to free.
 */
bool subject_machine_apply(const struct subject_machine *machine, struct model_options *model,
			   struct device_profile **device, struct error *error);

/* class|path|thread; NULL: class. */
bool subject_stream_rule(enum stream_rule *rule, const char *text, struct error *error);

/* NULL: ERROR_INPUT. Destroy with stream_map_destroy(). */
struct stream_map *subject_streams(enum stream_rule rule, const struct text_list *streams,
				   struct error *error);

/* The index of `name` among `names`, which NULL ends. Fails with the nearest. */
bool subject_word(size_t *index, const char *name, const char *const *names, const char *what,
		  struct error *error);

/* So many, from 1 to `most`, or `fallback`. */
bool subject_number(size_t *value, struct given given, size_t fallback, size_t most,
		    const char *option, struct error *error);

#endif
