/*
 * subject: what a command looks at on the model: a trace on a machine that its options describe, or a scenario, which says it itself
 *
 * `lint` and `explain` take either. A command's struct of arguments has a struct subject_arguments in it, and its table of options
 * SUBJECT_OPTIONS.
 */
#ifndef REFAULT_CLI_SUBJECT_H
#define REFAULT_CLI_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "cli/trace_input.h"
#include "machine/model/model.h"
#include "study/trial.h"

struct subject_arguments {
	struct text_list sets, streams; /* streams: REGEX=NAME */
	struct given memory, cgroup_limit, readahead, pinned, seed;
	const char *policy, *filesystem, *stream_rule;
	struct trace_input_arguments trace;
};

/* clang-format off */
/*
 * `field`: the struct subject_arguments in the command's own, `type`. For the help: `unsaid`, what is so if no memory is given; what
 * --stream takes and does.
 */
#define SUBJECT_OPTIONS(type, field, unsaid, stream_takes, stream_does)                                                \
	{"memory", 0, "SIZE", "of a trace: memory of the whole machine" unsaid,                                         \
	 OPTION_SIZE, offsetof(struct type, field.memory), COMPLETE_NONE},                                              \
	{"cgroup-limit", 0, "SIZE", "of a trace: limit of a memory cgroup that holds the workload",                     \
	 OPTION_SIZE, offsetof(struct type, field.cgroup_limit), COMPLETE_NONE},                                        \
	{"policy", 0, "NAME[,KEY=VALUE]...",                                                                            \
	 "the rules that decide (`refault list policies`); the newest kernel's two lists, or the scenario's, when "     \
	 "not given",                                                                                                   \
	 OPTION_TEXT, offsetof(struct type, field.policy), COMPLETE_POLICY},                                            \
	{"filesystem", 0, "NAME", "ext4, or the scenario's, when not given",                                            \
	 OPTION_TEXT, offsetof(struct type, field.filesystem), COMPLETE_FILESYSTEM},                                    \
	{"readahead", 0, "SIZE", "of a trace: the device's readahead window; 128KiB when not given",                    \
	 OPTION_SIZE, offsetof(struct type, field.readahead), COMPLETE_NONE},                                           \
	{"pinned", 0, "SIZE", "of a trace: memory that is not cache, taken from the memory",                            \
	 OPTION_SIZE, offsetof(struct type, field.pinned), COMPLETE_NONE},                                              \
	{"set", 0, "KEY=VALUE", "change a scenario before it is checked; may be repeated",                              \
	 OPTION_TEXTS, offsetof(struct type, field.sets), COMPLETE_NONE},                                               \
	{"streams", 0, "class|path|thread",                                                                             \
	 "who counts as one in a trace: paths that begin alike (when not given), each path, or each thread",            \
	 OPTION_TEXT, offsetof(struct type, field.stream_rule), COMPLETE_WORDS},                                        \
	{"stream", 0, stream_takes, stream_does,                                                                        \
	 OPTION_TEXTS, offsetof(struct type, field.streams), COMPLETE_NONE},                                            \
	TRACE_INPUT_OPTIONS(type, field.trace),                                                                         \
	{"seed", 0, "N", "seed of whatever is drawn by lot; 1, or the scenario's, when not given",                      \
	 OPTION_NUMBER, offsetof(struct type, field.seed), COMPLETE_NONE}
/* clang-format on */

struct subject {
	const struct subject_arguments *arguments;
	const char *input;
	bool is_scenario;
	struct trial trial;         /* of a scenario */
	struct model_options model; /* the command may change it */
	struct stream_map *streams; /* of a trace */
};

/* A file that is there is what it looks like; a name without one is a scenario that ships. */
bool subject_is_scenario(const char *input);

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
struct op_source *subject_source(const struct subject *subject, const char *so, struct error *error);

void subject_close(struct subject *subject);

#endif
