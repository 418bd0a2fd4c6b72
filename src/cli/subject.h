/*
 * subject: what a command is about, a trace or a scenario, and the machine that it is to run on
 *
 * What several commands ask for in the same words is read here once. A command that takes either has a
 * struct subject_arguments in its own, and SUBJECT_OPTIONS in its table; one with options of its own fills
 * in a struct subject_machine.
 */
#ifndef REFAULT_CLI_SUBJECT_H
#define REFAULT_CLI_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/trace_input.h"
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

/* ---- a trace on a machine that options describe, or a scenario, which says it itself ---- */

struct subject_arguments {
	struct subject_machine machine; /* less command, input and memory_bytes */
	struct text_list sets, streams; /* streams: REGEX=NAME */
	const char *policy, *stream_rule;
	struct trace_input_arguments trace;
};

/* clang-format off */
/*
 * `field`: the struct subject_arguments in the command's own, `type`. For the help: `unsaid`, what is so if no memory is given; what
 * --stream takes and does.
 */
#define SUBJECT_OPTIONS(type, field, unsaid, stream_takes, stream_does)                                                \
	{"memory", 0, "SIZE", "of a trace: memory of the whole machine" unsaid,                                         \
	 OPTION_SIZE, offsetof(struct type, field.machine.memory), COMPLETE_NONE},                                              \
	{"cgroup-limit", 0, "SIZE", "of a trace: limit of a memory cgroup that holds the workload",                     \
	 OPTION_SIZE, offsetof(struct type, field.machine.cgroup_limit), COMPLETE_NONE},                                        \
	{"policy", 0, "NAME[,KEY=VALUE]...",                                                                            \
	 "the rules that decide (`refault list policies`); the newest kernel's two lists, or the scenario's, when "     \
	 "not given",                                                                                                   \
	 OPTION_TEXT, offsetof(struct type, field.policy), COMPLETE_POLICY},                                            \
	{"filesystem", 0, "NAME", "ext4, or the scenario's, when not given",                                            \
	 OPTION_TEXT, offsetof(struct type, field.machine.filesystem), COMPLETE_FILESYSTEM},                                    \
	{"readahead", 0, "SIZE", "of a trace: the device's readahead window; 128KiB when not given",                    \
	 OPTION_SIZE, offsetof(struct type, field.machine.readahead), COMPLETE_NONE},                                           \
	{"pinned", 0, "SIZE", "of a trace: memory that is not cache, taken from the memory",                            \
	 OPTION_SIZE, offsetof(struct type, field.machine.pinned), COMPLETE_NONE},                                              \
	{"set", 0, "KEY=VALUE", "change a scenario before it is checked; may be repeated",                              \
	 OPTION_TEXTS, offsetof(struct type, field.sets), COMPLETE_NONE},                                               \
	{"streams", 0, "class|path|thread",                                                                             \
	 "who counts as one in a trace: paths that begin alike (when not given), each path, or each thread",            \
	 OPTION_TEXT, offsetof(struct type, field.stream_rule), COMPLETE_WORDS},                                        \
	{"stream", 0, stream_takes, stream_does,                                                                        \
	 OPTION_TEXTS, offsetof(struct type, field.streams), COMPLETE_NONE},                                            \
	TRACE_INPUT_OPTIONS(type, field.trace),                                                                         \
	{"seed", 0, "N", "seed of whatever is drawn by lot; 1, or the scenario's, when not given",                      \
	 OPTION_NUMBER, offsetof(struct type, field.machine.seed), COMPLETE_NONE}

/* For those that keep time. */
#define SUBJECT_TIME_OPTIONS(type, field)                                                                               \
	{"device", 0, "NAME",                                                                                           \
	 "of a trace: keep time, with this device (`refault list devices`); its own time stamps when not given",        \
	 OPTION_TEXT, offsetof(struct type, field.machine.device), COMPLETE_DEVICE},                                    \
	{"device-size", 0, "SIZE", "how large it is; 512GiB when not given",                                            \
	 OPTION_SIZE, offsetof(struct type, field.machine.device_size), COMPLETE_NONE},                                 \
	{"processors", 0, "N", "with a device: how many threads compute at once; 4 when not given",                     \
	 OPTION_NUMBER, offsetof(struct type, field.machine.processors), COMPLETE_NONE},                                \
	{"recordsize", 0, "SIZE", "of a trace on zfs; 128KiB when not given",                                           \
	 OPTION_SIZE, offsetof(struct type, field.machine.recordsize), COMPLETE_NONE}
/* clang-format on */

struct subject {
	const struct subject_arguments *arguments;
	const char *input;
	bool is_scenario;
	struct trial trial;            /* of a scenario */
	struct model_options model;    /* the command may change it */
	struct stream_map *streams;    /* of a trace */
	struct device_profile *device; /* of a trace; NULL: it keeps no time */
};

/*
 * Read what `input` and the options say; `memory_bytes` is a trace's memory if they do not, 0: they must. `command` is for the
 * message then. False: ERROR_INPUT. Close it in any case.
 */
bool subject_open(struct subject *subject, const char *command, const char *input,
		  const struct subject_arguments *arguments, uint64_t memory_bytes,
		  struct error *error);

/*
 * Its ops, once more; to be destroyed. NULL: the error says why; of a trace of objects, not of files, with `so`.
 */
struct op_source *subject_source(const struct subject *subject, const char *so,
				 struct error *error);

void subject_close(struct subject *subject);

#endif
