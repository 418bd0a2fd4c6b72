#include "cli/subject.h"

#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "base/size.h"
#include "op/trace.h"
#include "source/player.h"

static bool ends_in(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

bool subject_is_scenario(const char *name)
{
	struct stat status;

	return ends_in(name, ".yaml") || ends_in(name, ".yml") ||
	       (strcmp(name, "-") != 0 && stat(name, &status) != 0 && !strstr(name, ".csv") &&
		!strstr(name, ".rft"));
}

bool subject_word(size_t *index, const char *name, const char *const *names, const char *what,
		  struct error *error)
{
	struct nearest nearest = {.wanted = name};
	char known[128] = "";

	for (size_t i = 0; names[i]; i++) {
		size_t used = strlen(known);

		if (strcmp(names[i], name) == 0) {
			*index = i;
			return true;
		}
		nearest_offer(&nearest, names[i]);
		snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", names[i]);
	}
	if (nearest.best)
		return error_input(error, "no %s \"%.80s\" (nearest: %s; there are %s)", what, name,
				   nearest.best, known);
	return error_input(error, "no %s \"%.80s\" (there are %s)", what, name, known);
}

bool subject_stream_rule(enum stream_rule *rule, const char *text, struct error *error)
{
	static const char *const names[] = {"class", "path", "thread", NULL};
	static const enum stream_rule rules[] = {STREAM_BY_CLASS, STREAM_BY_PATH, STREAM_BY_THREAD};
	size_t index = 0;

	if (text && !subject_word(&index, text, names, "streams", error))
		return false;
	*rule = rules[index];
	return true;
}

struct stream_map *subject_streams(enum stream_rule rule, const struct text_list *streams,
				   struct error *error)
{
	struct stream_map *map = stream_map_create(rule);

	for (size_t i = 0; i < streams->count; i++) {
		if (!stream_map_add(map, streams->at[i], error)) {
			stream_map_destroy(map);
			return NULL;
		}
	}
	return map;
}

bool subject_number(size_t *value, struct given given, size_t fallback, size_t most,
		    const char *option, struct error *error)
{
	if (given.given && (given.value < 1 || given.value > most))
		return error_input(error, "%s is from 1 to %zu", option, most);
	*value = given.given ? (size_t)given.value : fallback;
	return true;
}

/* A call's processor time and a page's, as a scenario's machine has them if it does not say. */
static const struct pace pace_with_device = {.op_ns = 1000, .hit_ns_per_page = 400};

static bool device_apply(const struct subject_machine *machine, struct model_options *model,
			 struct device_profile **device, struct error *error)
{
	if (!machine->device && (machine->device_size.given || machine->processors.given))
		return error_input(error, "%s is for a machine that keeps time: add --device NAME",
				   machine->device_size.given ? "--device-size" : "--processors");
	if (machine->device_size.given && machine->device_size.value < GIB)
		return error_input(error, "--device-size is at least 1GiB");
	if (machine->processors.given &&
	    (machine->processors.value == 0 || machine->processors.value > 4096))
		return error_input(error, "--processors is from 1 to 4096");
	if (machine->recordsize.given &&
	    (machine->recordsize.value < 4096 || machine->recordsize.value > 16 * MIB ||
	     (machine->recordsize.value & (machine->recordsize.value - 1))))
		return error_input(error, "--recordsize is a power of two from 4KiB to 16MiB");
	if (machine->recordsize.given &&
	    (!machine->filesystem || strcmp(machine->filesystem, "zfs") != 0))
		return error_input(error, "--recordsize is of zfs: add --filesystem zfs");
	model->record_bytes = machine->recordsize.value;
	model->device_bytes =
		machine->device_size.given ? machine->device_size.value : MODEL_DEVICE_BYTES;
	model->processors = machine->processors.given ? (uint32_t)machine->processors.value : 4;
	model->pace = pace_with_device;
	if (!machine->device)
		return true;
	*device = device_profile_load(machine->device, error);
	model->device = *device;
	return *device != NULL;
}

bool subject_machine_apply(const struct subject_machine *machine, struct model_options *model,
			   struct device_profile **device, struct error *error)
{
	*device = NULL;
	if (machine->memory.given && machine->cgroup_limit.given)
		return error_input(error,
				   "--memory (a whole machine) and --cgroup-limit (a cgroup in it) "
				   "are two different questions: give one");
	if (!machine->memory.given && !machine->cgroup_limit.given && !machine->memory_bytes)
		return error_input(
			error,
			"how much memory? --memory SIZE for a whole machine, or --cgroup-limit "
			"SIZE for a memory cgroup, as in: refault %s %.80s --cgroup-limit "
			"256MiB",
			machine->command, machine->input);
	if (machine->readahead.given &&
	    (machine->readahead.value < PAGE_BYTES || machine->readahead.value % PAGE_BYTES))
		return error_input(error, "--readahead is in whole pages of 4KiB, at least one");
	if (!device_apply(machine, model, device, error))
		return false;
	model->seed = machine->seed.given ? machine->seed.value : 1;
	model->is_cgroup = machine->cgroup_limit.given;
	model->memory_bytes = machine->cgroup_limit.given ? machine->cgroup_limit.value
			      : machine->memory.given     ? machine->memory.value
							  : machine->memory_bytes;
	model->pinned_bytes = machine->pinned.value;
	model->readahead_bytes = machine->readahead.value;
	if (filesystem_choose(&model->filesystem,
			      machine->filesystem ? machine->filesystem : "ext4", error))
		return true;
	device_profile_free(*device);
	*device = NULL;
	return false;
}

/* ---- a trace or a scenario ---- */

static bool scenario_open(struct subject *subject, struct error *error)
{
	const struct subject_arguments *arguments = subject->arguments;
	const char *extra = arguments->machine.memory.given         ? "--memory"
			    : arguments->machine.cgroup_limit.given ? "--cgroup-limit"
			    : arguments->machine.readahead.given    ? "--readahead"
			    : arguments->machine.pinned.given       ? "--pinned"
			    : arguments->machine.device             ? "--device"
			    : arguments->machine.device_size.given  ? "--device-size"
			    : arguments->machine.processors.given   ? "--processors"
			    : arguments->machine.recordsize.given   ? "--recordsize"
			    : arguments->stream_rule                ? "--streams"
			    : arguments->streams.count              ? "--stream REGEX=NAME"
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
	if (arguments->machine.seed.given)
		subject->model.seed = arguments->machine.seed.value;
	if (arguments->machine.filesystem &&
	    !filesystem_choose(&subject->model.filesystem, arguments->machine.filesystem, error))
		return false;
	return !arguments->policy ||
	       policy_options_parse(&subject->model.policy, arguments->policy, error);
}

static bool trace_open_on(struct subject *subject, const struct subject_machine *machine,
			  struct error *error)
{
	const struct subject_arguments *arguments = subject->arguments;
	enum stream_rule rule;

	if (arguments->sets.count)
		return error_input(error, "--set changes a scenario, which %.100s is not",
				   subject->input);
	if (!subject_machine_apply(machine, &subject->model, &subject->device, error) ||
	    !policy_options_parse(&subject->model.policy,
				  arguments->policy ? arguments->policy : "", error) ||
	    !subject_stream_rule(&rule, arguments->stream_rule, error))
		return false;
	subject->streams = subject_streams(rule, &arguments->streams, error);
	subject->model.streams = subject->streams;
	return subject->streams != NULL;
}

bool subject_open(struct subject *subject, const char *command, const char *input,
		  const struct subject_arguments *arguments, uint64_t memory_bytes,
		  struct error *error)
{
	struct subject_machine machine = arguments->machine;

	*subject = (struct subject){.arguments = arguments, .input = input};
	machine.command = command;
	machine.input = input;
	machine.memory_bytes = memory_bytes;
	return subject_is_scenario(input) ? scenario_open(subject, error)
					  : trace_open_on(subject, &machine, error);
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
	device_profile_free(subject->device);
}
