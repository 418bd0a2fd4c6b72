/*
 * refault advise: what would help, tried out on the model, and on the kernel if asked for
 */
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/on_kernel.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "cli/trace_input.h"
#include "op/trace.h"
#include "report/remedies.h"
#include "report/report.h"
#include "source/player.h"
#include "study/advise.h"
#include "study/remedy.h"
#include "study/trial.h"
#include "study/validate.h"

enum { SEEDS = 5, SEEDS_MAX = 100, JOBS_MAX = 256, CONFIRM_MAX = 64 };

struct advise_arguments {
	struct text_list inputs, streams, sets;
	struct given memory, cgroup_limit, readahead, pinned, seed, device_size, processors,
		recordsize, seeds, jobs;
	const char *policy, *filesystem, *device, *stream_rule, *only, *places;
	bool json, confirm;
	struct trace_input_arguments trace;
	struct on_kernel_arguments kernel;
};

#define FIELD(name) offsetof(struct advise_arguments, name)

extern const struct command command_advise;

static const struct option options[] = {
	{"memory", 0, "SIZE", "of a trace: memory of the whole machine", OPTION_SIZE, FIELD(memory),
	 COMPLETE_NONE},
	{"cgroup-limit", 0, "SIZE", "of a trace: limit of a memory cgroup that holds the workload",
	 OPTION_SIZE, FIELD(cgroup_limit), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...",
	 "the rules that decide (`refault list policies`); the newest kernel's two lists, or the "
	 "scenario's, when not given; with --confirm those of the kernel of this machine",
	 OPTION_TEXT, FIELD(policy), COMPLETE_POLICY},
	{"filesystem", 0, "NAME", "ext4, or the scenario's, when not given", OPTION_TEXT,
	 FIELD(filesystem), COMPLETE_FILESYSTEM},
	{"readahead", 0, "SIZE", "the device's readahead window; 128KiB when not given",
	 OPTION_SIZE, FIELD(readahead), COMPLETE_NONE},
	{"pinned", 0, "SIZE", "memory that is not cache, taken from the memory", OPTION_SIZE,
	 FIELD(pinned), COMPLETE_NONE},
	{"device", 0, "NAME",
	 "a device, or a profile's file (`refault list devices`): then throughput and latencies "
	 "are "
	 "told, too",
	 OPTION_TEXT, FIELD(device), COMPLETE_DEVICE},
	{"device-size", 0, "SIZE", "how large it is; 512GiB when not given", OPTION_SIZE,
	 FIELD(device_size), COMPLETE_NONE},
	{"processors", 0, "N", "with a device: how many threads compute at once; 4 when not given",
	 OPTION_NUMBER, FIELD(processors), COMPLETE_NONE},
	{"recordsize", 0, "SIZE", "of zfs; 128KiB when not given", OPTION_SIZE, FIELD(recordsize),
	 COMPLETE_NONE},
	{"set", 0, "KEY=VALUE", "change a scenario before it is checked; may be repeated",
	 OPTION_TEXTS, FIELD(sets), COMPLETE_NONE},
	{"only", 0, "REMEDY[,...]",
	 "try these alone; docs/advise.md lists them, and a wrong name gets the nearest",
	 OPTION_TEXT, FIELD(only), COMPLETE_NONE},
	{"streams", 0, "class|path|thread",
	 "who counts as one in a trace: paths that begin alike (when not given), each path, or "
	 "each thread",
	 OPTION_TEXT, FIELD(stream_rule), COMPLETE_WORDS},
	{"stream", 0, "REGEX=NAME",
	 "paths of a trace that match are the stream NAME; may be repeated", OPTION_TEXTS,
	 FIELD(streams), COMPLETE_NONE},
	TRACE_INPUT_OPTIONS(advise_arguments, trace),
	{"seed", 0, "N", "the first seed; 1, or the scenario's, when not given", OPTION_NUMBER,
	 FIELD(seed), COMPLETE_NONE},
	{"seeds", 0, "N",
	 "so many seeds where anything is drawn by lot; 5 when not given, which is the least that "
	 "tells chance from effect",
	 OPTION_NUMBER, FIELD(seeds), COMPLETE_NONE},
	{"jobs", 0, "N",
	 "so many runs at once; as many as there are processors when not given. The answer does "
	 "not depend on it",
	 OPTION_NUMBER, FIELD(jobs), COMPLETE_NONE},
	{"confirm", 0, NULL,
	 "have the kernel of this machine do what helps, in a memory cgroup, as root, and show "
	 "what "
	 "it did beside what was predicted",
	 OPTION_FLAG, FIELD(confirm), COMPLETE_NONE},
	{"places", 0, "N[,...]", "with --confirm: only the remedies at these places of the answer",
	 OPTION_TEXT, FIELD(places), COMPLETE_NONE},
	ON_KERNEL_OPTIONS(advise_arguments, kernel),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct advise_arguments *arguments;
	const char *input;
	bool is_scenario;
	struct trial trial; /* of a scenario */
	struct advise_options advise;
	struct device_profile *device; /* of a trace */
	enum stream_rule rule;
	struct kernel_options kernel;
	size_t confirm[CONFIRM_MAX];
	ARRAY(const char *) only;
	struct arena arena;
	/* what a trace's reader has to say; set by each run alike */
	uint64_t skipped;
	bool is_cut_off, has_warned;
};

/* ---- the subject ---- */

static bool scenario_make(struct plan *plan, struct error *error)
{
	const struct advise_arguments *arguments = plan->arguments;
	struct model_options *model = &plan->advise.model;
	const char *extra = arguments->memory.given         ? "--memory"
			    : arguments->cgroup_limit.given ? "--cgroup-limit"
			    : arguments->readahead.given    ? "--readahead"
			    : arguments->pinned.given       ? "--pinned"
			    : arguments->device             ? "--device"
			    : arguments->device_size.given  ? "--device-size"
			    : arguments->processors.given   ? "--processors"
			    : arguments->recordsize.given   ? "--recordsize"
			    : arguments->stream_rule        ? "--streams"
			    : arguments->streams.count      ? "--stream"
							    : trace_input_given(&arguments->trace);

	if (extra)
		return error_input(error,
				   "%s is for a trace; a scenario says it itself (--set "
				   "machine.memory=SIZE and the like change it)",
				   extra);
	plan->is_scenario = trial_open(&plan->trial, plan->input, arguments->sets.at,
				       arguments->sets.count, error);
	if (!plan->is_scenario)
		return false;
	*model = plan->trial.model;
	plan->advise.scenario = &plan->trial.scenario;
	plan->advise.scenario_name = plan->input;
	plan->advise.sets = arguments->sets.at;
	plan->advise.set_count = arguments->sets.count;
	/* A job may do several things, each to files of its own. */
	plan->advise.splits_classes = true;
	if (arguments->seed.given)
		model->seed = arguments->seed.value;
	return !arguments->filesystem ||
	       filesystem_choose(&model->filesystem, arguments->filesystem, error);
}

static bool trace_open_again(void *context, struct op_source **source, struct stream_map **streams,
			     struct error *error)
{
	const struct plan *plan = context;
	const struct advise_arguments *arguments = plan->arguments;
	struct trace_options trace = trace_input_options(&arguments->trace);

	trace.own_streams = !arguments->streams.count && !arguments->stream_rule;
	*source = trace_input_open(plan->input, &trace, "there is nothing to advise", error);
	if (!*source)
		return false;
	if ((*source)->stream_names)
		return true;
	*streams = subject_streams(plan->rule, &arguments->streams, error);
	if (!*streams)
		op_source_destroy(*source);
	return *streams != NULL;
}

static void trace_closed(void *context, struct op_source *source)
{
	struct plan *plan = context;

	/* All runs read the same, each to its end. */
	__atomic_store_n(&plan->skipped, trace_skipped(source), __ATOMIC_RELAXED);
	__atomic_store_n(&plan->is_cut_off, trace_is_cut_off(source), __ATOMIC_RELAXED);
	if (!__atomic_exchange_n(&plan->has_warned, true, __ATOMIC_RELAXED))
		trace_input_warn(source);
}

static bool trace_make(struct plan *plan, struct error *error)
{
	const struct advise_arguments *arguments = plan->arguments;
	const struct subject_machine machine = {
		.command = "advise",
		.input = plan->input,
		.memory = arguments->memory,
		.cgroup_limit = arguments->cgroup_limit,
		.readahead = arguments->readahead,
		.pinned = arguments->pinned,
		.seed = arguments->seed,
		.device_size = arguments->device_size,
		.processors = arguments->processors,
		.recordsize = arguments->recordsize,
		.filesystem = arguments->filesystem,
		.device = arguments->device,
	};
	struct stat status;

	if (arguments->sets.count)
		return error_input(error, "--set changes a scenario, which %.100s is not",
				   plan->input);
	if (strcmp(plan->input, "-") == 0 ||
	    (stat(plan->input, &status) == 0 && !S_ISREG(status.st_mode) &&
	     !S_ISDIR(status.st_mode) && !S_ISBLK(status.st_mode)))
		return error_input(error,
				   "%.200s can be read once only, and each remedy reads it again: "
				   "give a file",
				   plan->input);
	if (!subject_machine_apply(&machine, &plan->advise.model, &plan->device, error) ||
	    !subject_stream_rule(&plan->rule, arguments->stream_rule, error))
		return false;
	plan->advise.open = trace_open_again;
	plan->advise.close = trace_closed;
	plan->advise.context = plan;
	plan->advise.splits_classes = !arguments->streams.count && !arguments->stream_rule;
	return true;
}

/* ---- what is tried ---- */

static const char *remedy_name_at(const void *context, size_t index)
{
	const struct remedy *remedy = remedy_at(index);

	(void)context;
	return remedy ? remedy->id : NULL;
}

static bool only_parse(struct plan *plan, struct error *error)
{
	const char *text = plan->arguments->only;

	while (text && *text) {
		size_t bytes = strcspn(text, ",");
		const char *id = arena_text(&plan->arena, text, bytes), *near;

		if (!remedy_find(id)) {
			near = nearest_word(id, remedy_name_at, NULL);
			return error_input(error, "--only: no remedy \"%.60s\"%s%s%s", id,
					   near ? " (nearest: " : "", near ? near : "",
					   near ? ")" : "");
		}
		*array_push(&plan->only) = id;
		text += bytes + (text[bytes] == ',');
	}
	plan->advise.only = plan->only.at;
	plan->advise.only_count = plan->only.count;
	return !plan->arguments->only || plan->only.count ||
	       error_input(error, "--only names no remedy");
}

static bool places_parse(struct plan *plan, struct error *error)
{
	const char *text = plan->arguments->places;

	while (text && *text) {
		size_t bytes = strcspn(text, ",");
		const char *word = arena_text(&plan->arena, text, bytes);
		uint64_t place;

		if (!number_parse(&place, word, "--places", error))
			return false;
		if (place == 0 || plan->advise.confirm_count == CONFIRM_MAX)
			return error_input(error, "--places: from 1 on, at most %d of them",
					   CONFIRM_MAX);
		plan->confirm[plan->advise.confirm_count++] = place;
		text += bytes + (text[bytes] == ',');
	}
	plan->advise.confirm = plan->confirm;
	return true;
}

static bool kernel_make(struct plan *plan, struct error *error)
{
	const struct advise_arguments *arguments = plan->arguments;
	const char *extra = arguments->places ? "--places" : on_kernel_given(&arguments->kernel);
	struct model_options *model = &plan->advise.model;
	struct utsname name;

	if (!arguments->confirm)
		return !extra ||
		       error_input(error, "%s is for a run on the kernel: add --confirm", extra);
	if (arguments->kernel.guest || arguments->kernel.directory)
		return error_input(error,
				   "--confirm runs on the kernel of this machine, on file "
				   "systems made for it: no %s",
				   arguments->kernel.guest ? "--guest" : "--directory");
	if (!model->is_cgroup)
		return error_input(error,
				   "--confirm: on the kernel the workload runs in a memory cgroup, "
				   "and this is about a whole machine (%s)",
				   plan->is_scenario ? "--set machine.cgroup_limit=SIZE"
						     : "--cgroup-limit SIZE");
	if (geteuid() != 0)
		return error_failed(error, "--confirm makes a memory cgroup and file systems, "
					   "which takes root");
	plan->kernel.clock = plan->is_scenario ? KERNEL_CLOCK_SCENARIO : KERNEL_CLOCK_NONE;
	if (!on_kernel_apply(&arguments->kernel, model, &plan->kernel, error) ||
	    !places_parse(plan, error))
		return false;
	plan->kernel.interrupted = model->interrupted;
	plan->advise.kernel = &plan->kernel;
	return arguments->policy || uname(&name) != 0 ||
	       validate_policy(&model->policy, name.release, plan->kernel.statistics, error);
}

static bool plan_make(struct plan *plan, struct error *error)
{
	const struct advise_arguments *arguments = plan->arguments;
	struct advise_options *advise = &plan->advise;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	advise->input = plan->input;
	if (!(subject_is_scenario(plan->input) ? scenario_make(plan, error)
					       : trace_make(plan, error)))
		return false;
	if (!plan->is_scenario || arguments->policy) {
		if (!policy_options_parse(&advise->model.policy,
					  arguments->policy ? arguments->policy : "", error))
			return false;
	}
	return subject_number(&advise->seed_count, arguments->seeds, SEEDS, SEEDS_MAX, "--seeds",
			      error) &&
	       subject_number(&advise->thread_count, arguments->jobs,
			      processors > 0 ? (size_t)processors : 1, JOBS_MAX, "--jobs", error) &&
	       only_parse(plan, error) && kernel_make(plan, error);
}

/* ---- the command ---- */

static void print(const struct plan *plan, const struct advice *advice)
{
	static const char *const told[] = {"confirm", "places", "seeds", "jobs", "only", NULL};
	struct arena arena = {0};
	struct text_list words = command_repeat(&command_advise, plan->arguments, told, &arena);
	const struct report_options report = {
		.colour = command_may_colour(stdout),
		.skipped_rows = plan->skipped,
		.is_cut_off = plan->is_cut_off,
		.is_trace = !plan->is_scenario,
		.input = plan->input,
		.words = words.at,
		.word_count = words.count,
	};

	if (plan->arguments->json)
		report_json_print(stdout, remedies_json(advice, &report));
	else
		remedies_text(stdout, advice, &report);
	arena_deinit(&arena);
}

static int advise(const void *values)
{
	struct plan plan = {.arguments = values};
	struct progress progress;
	struct advice advice;
	struct error error;
	bool done;
	int code = 0;

	plan.input = plan.arguments->inputs.at[0];
	if (!plan_make(&plan, &error)) {
		code = command_fail(&error);
		goto out;
	}
	plan.advise.model.interrupted = plan.kernel.interrupted = interrupt_begin();
	progress_begin(&progress, "trying");
	plan.advise.progress = progress.wanted ? progress_update : NULL;
	plan.advise.progress_context = &progress;
	done = advise_run(&plan.advise, &advice, &error);
	progress_end(&progress);
	if (done) {
		print(&plan, &advice);
		advice_deinit(&advice);
	} else {
		if (!plan.is_scenario)
			trace_excerpt(plan.input, &error);
		code = command_fail(&error);
	}
	interrupt_end();
out:
	if (plan.is_scenario)
		trial_close(&plan.trial);
	device_profile_free(plan.device);
	array_deinit(&plan.only);
	arena_deinit(&plan.arena);
	return code;
}

static const char *const usage[] = {
	"advise TRACE (--memory SIZE | --cgroup-limit SIZE) [--device NAME] [--only REMEDY[,...]] "
	"[--json]",
	"advise SCENARIO [--set KEY=VALUE]... [--only REMEDY[,...]] [--json]",
	"advise TRACE|SCENARIO ... --confirm [--places N[,...]]",
	NULL,
};

static const struct example examples[] = {
	{"advise wal.csv --cgroup-limit 256MiB",
	 "what would have most of what is read again stay, and whom it would cost"},
	{"advise db.rft --memory 16GiB --pinned 4GiB --device nvme-tlc",
	 "with throughput and latencies, since there is a device to wait for"},
	{"advise cases/c10-wal-recycle --only dontneed,dontcache,memory",
	 "some remedies for a scenario that ships"},
	{"advise wal.csv --cgroup-limit 256MiB --confirm --places 1,2",
	 "and what the kernel of this machine does with the first two (as root)"},
	{0},
};

const struct command command_advise = {
	.usage = usage,
	.description =
		"Try what may help on the same operations, and rank it by what it saves less what "
		"it costs others: DONTNEED behind what a stream reads or writes, RWF_DONTCACHE, "
		"O_DIRECT, FADV_RANDOM, NOREUSE, whole pages, new files instead of old ones, "
		"readahead, a memory cgroup of its own, vfs_cache_pressure, memory, another "
		"kernel or file system, and a database's own settings. Each with its change of "
		"device reads, throughput and 99th percentile, who gains and who loses, the "
		"setting to apply, since which kernel there is such a thing, and its risk.\n\n"
		"Every remedy is run, not guessed: over several seeds where anything is drawn by "
		"lot, and with fresh and lazy statistics where the kernel has both. That nothing "
		"helps, that this is not a caching problem, and how much memory would do are "
		"answers, too. docs/advise.md says how it is ranked. Ctrl-C prints what is known "
		"until then.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct advise_arguments),
	.operands_offset = FIELD(inputs),
	.operand = "TRACE|SCENARIO",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = advise,
};
