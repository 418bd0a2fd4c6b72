/*
 * refault lint: what a trace or a scenario does without need, with its place
 */
#include "base/memory.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "machine/model/device.h"
#include "op/trace.h"
#include "report/lint.h"
#include "report/report.h"
#include "source/player.h"
#include "study/lint.h"
#include "study/trial.h"

struct lint_arguments {
	struct text_list inputs, streams, sets;
	struct given memory, cgroup_limit, readahead, pinned, seed;
	const char *policy, *filesystem, *stream_rule, *format;
	bool lenient, json;
};

#define FIELD(name) offsetof(struct lint_arguments, name)

/* Where nobody says: so much that nothing is evicted but by what it does itself. */
#define MEMORY_PLENTY (64 * GIB)

static const struct option options[] = {
	{"memory", 0, "SIZE",
	 "of a trace: memory of the whole machine; 64GiB when not given, and then little is "
	 "evicted",
	 OPTION_SIZE, FIELD(memory), COMPLETE_NONE},
	{"cgroup-limit", 0, "SIZE", "of a trace: limit of a memory cgroup that holds the workload",
	 OPTION_SIZE, FIELD(cgroup_limit), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...",
	 "the rules that decide (`refault list policies`); the newest kernel's two lists, or the "
	 "scenario's, when not given",
	 OPTION_TEXT, FIELD(policy), COMPLETE_POLICY},
	{"filesystem", 0, "NAME", "ext4, or the scenario's, when not given", OPTION_TEXT,
	 FIELD(filesystem), COMPLETE_FILESYSTEM},
	{"readahead", 0, "SIZE", "the device's readahead window; 128KiB when not given",
	 OPTION_SIZE, FIELD(readahead), COMPLETE_NONE},
	{"pinned", 0, "SIZE", "memory that is not cache, taken from the memory", OPTION_SIZE,
	 FIELD(pinned), COMPLETE_NONE},
	{"set", 0, "KEY=VALUE", "change a scenario before it is checked; may be repeated",
	 OPTION_TEXTS, FIELD(sets), COMPLETE_NONE},
	{"streams", 0, "class|path|thread",
	 "who counts as one in a trace: paths that begin alike (when not given), each path, or "
	 "each "
	 "thread",
	 OPTION_TEXT, FIELD(stream_rule), COMPLETE_WORDS},
	{"stream", 0, "REGEX=NAME",
	 "paths of a trace that match are the stream NAME; may be repeated", OPTION_TEXTS,
	 FIELD(streams), COMPLETE_NONE},
	{"format", 0, "NAME",
	 "what the trace is (`refault list formats`); recognised when not given", OPTION_TEXT,
	 FIELD(format), COMPLETE_FORMAT},
	{"lenient", 0, NULL, "skip rows that cannot be read and count them", OPTION_FLAG,
	 FIELD(lenient), COMPLETE_NONE},
	{"seed", 0, "N", "seed of whatever is drawn by lot; 1, or the scenario's, when not given",
	 OPTION_NUMBER, FIELD(seed), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct lint_arguments *arguments;
	const char *input;
	bool is_scenario;
	struct trial trial; /* of a scenario */
	struct model_options model;
	struct stream_map *streams;
	uint64_t skipped;
	bool is_cut_off;
};

static bool scenario_make(struct plan *plan, struct error *error)
{
	const struct lint_arguments *arguments = plan->arguments;
	const char *extra = arguments->memory.given         ? "--memory"
			    : arguments->cgroup_limit.given ? "--cgroup-limit"
			    : arguments->readahead.given    ? "--readahead"
			    : arguments->pinned.given       ? "--pinned"
			    : arguments->stream_rule        ? "--streams"
			    : arguments->streams.count      ? "--stream"
			    : arguments->format             ? "--format"
			    : arguments->lenient            ? "--lenient"
							    : NULL;

	if (extra)
		return error_input(error,
				   "%s is for a trace; a scenario says it itself (--set "
				   "machine.memory=SIZE and the like change it)",
				   extra);
	plan->is_scenario = trial_open(&plan->trial, plan->input, arguments->sets.at,
				       arguments->sets.count, error);
	if (!plan->is_scenario)
		return false;
	plan->model = plan->trial.model;
	/* Nobody waits here: what is found does not hang on how fast a device is. */
	plan->model.device = NULL;
	if (arguments->seed.given)
		plan->model.seed = arguments->seed.value;
	if (arguments->filesystem &&
	    !filesystem_choose(&plan->model.filesystem, arguments->filesystem, error))
		return false;
	return !arguments->policy ||
	       policy_options_parse(&plan->model.policy, arguments->policy, error);
}

static bool trace_make(struct plan *plan, struct error *error)
{
	const struct lint_arguments *arguments = plan->arguments;
	const struct subject_machine machine = {
		.memory = arguments->memory,
		.cgroup_limit = arguments->cgroup_limit,
		.readahead = arguments->readahead,
		.pinned = arguments->pinned,
		.seed = arguments->seed,
		.filesystem = arguments->filesystem,
		.memory_bytes = MEMORY_PLENTY,
	};
	struct device_profile *device;
	enum stream_rule rule;

	if (arguments->sets.count)
		return error_input(error, "--set changes a scenario, which %.100s is not",
				   plan->input);
	if (!subject_machine_apply(&machine, &plan->model, &device, error) ||
	    !policy_options_parse(&plan->model.policy, arguments->policy ? arguments->policy : "",
				  error) ||
	    !subject_stream_rule(&rule, arguments->stream_rule, error))
		return false;
	/* What is found does not hang on how long a call takes. */
	plan->model.pace = (struct pace){0};
	plan->model.processors = 0;
	plan->streams = subject_streams(rule, &arguments->streams, error);
	plan->model.streams = plan->streams;
	return plan->streams != NULL;
}

static struct op_source *source_open(const struct plan *plan, struct error *error)
{
	const struct trace_options trace = {
		.format = plan->arguments->format,
		.lenient = plan->arguments->lenient,
	};
	struct op_source *source;

	if (plan->is_scenario)
		return scenario_source_create(&plan->trial.scenario, plan->model.seed, error);
	source = trace_open(plan->input, &trace, error);
	if (!source || trace_has_files(source))
		return source;
	error_at(error, source->name, 0, 0,
		 "an %s trace is about objects, not about files: there are no habits in it",
		 source->format);
	op_source_destroy(source);
	return NULL;
}

static bool plan_run(struct plan *plan, struct lint_report *report, struct result *result,
		     struct error *error)
{
	struct op_source *source = source_open(plan, error);
	struct progress progress;
	bool done;

	if (!source)
		return false;
	progress_begin(&progress, "replaying");
	plan->model.progress = progress.wanted ? progress_update : NULL;
	plan->model.progress_context = &progress;
	done = lint_source(&plan->model, source, report, result, error);
	progress_end(&progress);
	plan->skipped = trace_skipped(source);
	plan->is_cut_off = trace_is_cut_off(source);
	op_source_destroy(source);
	return done;
}

static void print(const struct plan *plan, const struct lint_report *found,
		  const struct result *result)
{
	const struct report_options report = {
		.colour = command_may_colour(stdout),
		.skipped_rows = plan->skipped,
		.is_cut_off = plan->is_cut_off,
		.is_trace = !plan->is_scenario,
		.input = plan->input,
	};

	if (plan->arguments->json)
		report_json_print(stdout, lint_report_json(found, result, &report));
	else
		lint_report_text(stdout, found, result, &report);
}

static int lint(const void *values)
{
	const struct lint_arguments *arguments = values;
	struct plan plan = {.arguments = arguments, .input = arguments->inputs.at[0]};
	struct lint_report report;
	struct result result;
	struct error error;
	int code = 0;

	if (!(subject_is_scenario(plan.input) ? scenario_make(&plan, &error)
					      : trace_make(&plan, &error))) {
		code = command_fail(&error);
		goto out;
	}
	plan.model.interrupted = interrupt_begin();
	if (plan_run(&plan, &report, &result, &error)) {
		print(&plan, &report, &result);
		lint_report_deinit(&report);
		result_deinit(&result);
	} else {
		if (!plan.is_scenario)
			trace_excerpt(plan.input, &error);
		code = command_fail(&error);
	}
	interrupt_end();
out:
	if (plan.is_scenario)
		trial_close(&plan.trial);
	stream_map_destroy(plan.streams);
	return code;
}

static const char *const usage[] = {
	"lint TRACE [--memory SIZE | --cgroup-limit SIZE] [--policy NAME[,KEY=VALUE]...] [--json]",
	"lint SCENARIO [--set KEY=VALUE]... [--json]",
	NULL,
};

static const struct example examples[] = {
	{"lint backup.csv", "advice that did nothing, partial writes, readahead that nobody used"},
	{"lint backup.csv --cgroup-limit 256MiB",
	 "and what is read again in that memory, with how much more would have kept it"},
	{"lint cases/c03-dontneed-before-reading", "a scenario that ships"},
	{0},
};

const struct command command_lint = {
	.usage = usage,
	.description = "Carry a trace or a scenario out on the model, and say what it does that "
		       "costs without "
		       "need: DONTNEED that came before the read, on dirty pages, on less than a "
		       "page, or on what "
		       "others then read again; writes of parts of pages, which read them first; "
		       "readahead that "
		       "nobody used; files read again after their eviction, and how much more "
		       "memory would have "
		       "kept them; names that do not exist, looked up by the thousand; WILLNEED "
		       "and NOREUSE that did "
		       "little. Each with the first operation and line, the figures, and what to "
		       "do about it.\n\n"
		       "A trace is replayed as `refault replay` does; without a size it has 64 "
		       "GiB, so that only what "
		       "does not hang on memory is found.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct lint_arguments),
	.operands_offset = FIELD(inputs),
	.operand = "TRACE|SCENARIO",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = lint,
};
