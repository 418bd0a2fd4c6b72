#include "cli/subject.h"

#include <string.h>
#include <sys/stat.h>

#include "base/size.h"
#include "op/trace.h"
#include "source/player.h"

static bool ends_in(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

bool subject_is_scenario(const char *input)
{
	struct stat status;

	return ends_in(input, ".yaml") || ends_in(input, ".yml") ||
	       (strcmp(input, "-") != 0 && stat(input, &status) != 0 && !strstr(input, ".csv") &&
		!strstr(input, ".rft"));
}

static bool scenario_open(struct subject *subject, struct error *error)
{
	const struct subject_arguments *arguments = subject->arguments;
	const char *extra = arguments->memory.given         ? "--memory"
			    : arguments->cgroup_limit.given ? "--cgroup-limit"
			    : arguments->readahead.given    ? "--readahead"
			    : arguments->pinned.given       ? "--pinned"
			    : arguments->stream_rule        ? "--streams"
			    : arguments->streams.count      ? "--stream REGEX=NAME"
							    : trace_input_given(&arguments->trace);

	if (extra)
		return error_input(error,
				   "%s is for a trace; a scenario says it itself (--set "
				   "machine.memory=SIZE and the like change it)",
				   extra);
	subject->is_scenario = trial_open(&subject->trial, subject->input, arguments->sets.at,
					  arguments->sets.count, error);
	if (!subject->is_scenario)
		return false;
	subject->model = subject->trial.model;
	if (arguments->seed.given)
		subject->model.seed = arguments->seed.value;
	if (arguments->filesystem &&
	    !filesystem_choose(&subject->model.filesystem, arguments->filesystem, error))
		return false;
	return !arguments->policy ||
	       policy_options_parse(&subject->model.policy, arguments->policy, error);
}

static bool streams_make(struct subject *subject, struct error *error)
{
	static const char *const rules[] = {"class", "path", "thread"};
	const struct subject_arguments *arguments = subject->arguments;
	enum stream_rule rule = STREAM_BY_CLASS;

	if (arguments->stream_rule) {
		for (rule = STREAM_BY_CLASS; rule <= STREAM_BY_THREAD; rule++) {
			if (strcmp(rules[rule], arguments->stream_rule) == 0)
				break;
		}
		if (rule > STREAM_BY_THREAD)
			return error_input(error,
					   "no streams \"%.80s\" (there are class, path, thread)",
					   arguments->stream_rule);
	}
	subject->streams = stream_map_create(rule);
	for (size_t i = 0; i < arguments->streams.count; i++) {
		if (!stream_map_add(subject->streams, arguments->streams.at[i], error))
			return false;
	}
	subject->model.streams = subject->streams;
	return true;
}

static bool memory_choose(struct subject *subject, const char *command, uint64_t memory_bytes,
			  struct error *error)
{
	const struct subject_arguments *arguments = subject->arguments;
	struct model_options *model = &subject->model;

	if (arguments->memory.given && arguments->cgroup_limit.given)
		return error_input(error,
				   "--memory (a whole machine) and --cgroup-limit (a cgroup in it) "
				   "are two different questions: give one");
	if (!arguments->memory.given && !arguments->cgroup_limit.given && !memory_bytes)
		return error_input(error,
				   "how much memory? --memory SIZE for a whole machine, or "
				   "--cgroup-limit SIZE for a memory cgroup, as in: refault %s "
				   "%.80s --cgroup-limit 256MiB",
				   command, subject->input);
	model->is_cgroup = arguments->cgroup_limit.given;
	model->memory_bytes = arguments->cgroup_limit.given ? arguments->cgroup_limit.value
			      : arguments->memory.given     ? arguments->memory.value
							    : memory_bytes;
	return true;
}

static bool trace_open_on(struct subject *subject, const char *command, uint64_t memory_bytes,
			  struct error *error)
{
	const struct subject_arguments *arguments = subject->arguments;
	struct model_options *model = &subject->model;

	if (arguments->sets.count)
		return error_input(error, "--set changes a scenario, which %.100s is not",
				   subject->input);
	if (arguments->readahead.given &&
	    (arguments->readahead.value < PAGE_BYTES || arguments->readahead.value % PAGE_BYTES))
		return error_input(error, "--readahead is in whole pages of 4KiB, at least one");
	if (!memory_choose(subject, command, memory_bytes, error))
		return false;
	model->pinned_bytes = arguments->pinned.value;
	model->readahead_bytes = arguments->readahead.value;
	model->device_bytes = MODEL_DEVICE_BYTES;
	model->seed = arguments->seed.given ? arguments->seed.value : 1;
	return filesystem_choose(&model->filesystem,
				 arguments->filesystem ? arguments->filesystem : "ext4", error) &&
	       policy_options_parse(&model->policy, arguments->policy ? arguments->policy : "",
				    error) &&
	       streams_make(subject, error);
}

bool subject_open(struct subject *subject, const char *command, const char *input,
		  const struct subject_arguments *arguments, uint64_t memory_bytes,
		  struct error *error)
{
	*subject = (struct subject){.arguments = arguments, .input = input};
	return subject_is_scenario(input) ? scenario_open(subject, error)
					  : trace_open_on(subject, command, memory_bytes, error);
}

struct op_source *subject_source(const struct subject *subject, const char *so, struct error *error)
{
	const struct trace_options trace = trace_input_options(&subject->arguments->trace);

	if (subject->is_scenario)
		return scenario_source_create(&subject->trial.scenario, subject->model.seed, error);
	return trace_input_open(subject->input, &trace, so, error);
}

void subject_close(struct subject *subject)
{
	if (subject->is_scenario)
		trial_close(&subject->trial);
	stream_map_destroy(subject->streams);
}
