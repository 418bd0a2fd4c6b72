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
#include "cli/again.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/keep.h"
#include "cli/kept.h"
#include "cli/on_kernel.h"
#include "cli/progress.h"
#include "cli/subject.h"
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
	struct text_list inputs;
	struct subject_arguments subject;
	struct given seeds, jobs;
	const char *only, *places, *db;
	bool json, confirm;
	struct on_kernel_arguments kernel;
};

#define FIELD(name) offsetof(struct advise_arguments, name)

extern const struct command command_advise;

static const struct option options[] = {
	SUBJECT_OPTIONS(advise_arguments, subject, "", "REGEX=NAME",
			"paths of a trace that match are the stream NAME; may be repeated"),
	SUBJECT_TIME_OPTIONS(advise_arguments, subject),
	{"only", 0, "REMEDY[,...]",
	 "try these alone; docs/advise.md lists them, and a wrong name gets the nearest",
	 OPTION_TEXT, FIELD(only), COMPLETE_NONE},
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
	STORE_OPTION(advise_arguments, db),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct advise_arguments *arguments;
	const struct subject_arguments *asked; /* the arguments', or the kept run's */
	struct subject subject;
	struct again again;               /* of a kept run */
	struct advise_arguments repeated; /* what it had been asked */
	bool is_again;
	struct advise_options advise;
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

/* Who is a stream is what the trace says, unless somebody asked for something else. */
static bool asks_for_streams(const struct plan *plan)
{
	return plan->asked->streams.count || plan->asked->stream_rule;
}

/* The subject has one map of streams; here each run has one of its own, since they run at once. */
static bool trace_open_again(void *context, struct op_source **source, struct stream_map **streams,
			     struct error *error)
{
	const struct plan *plan = context;
	struct trace_options trace = trace_input_options(&plan->asked->trace);

	trace.own_streams = !asks_for_streams(plan);
	*source =
		trace_input_open(plan->subject.input, &trace, "there is nothing to advise", error);
	if (!*source || (*source)->stream_names)
		return *source != NULL;
	*streams = subject_streams(plan->rule, &plan->asked->streams, error);
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

static bool can_be_read_again(const char *input, struct error *error)
{
	struct stat status;

	if (strcmp(input, "-") != 0 && (stat(input, &status) != 0 || S_ISREG(status.st_mode) ||
					S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)))
		return true;
	return error_input(error,
			   "%.200s can be read once only, and each remedy reads it again: give a "
			   "file",
			   input);
}

/* What the run was asked, read as if it had been asked here. */
static bool again_make(struct plan *plan, struct error *error)
{
	const struct subject_arguments *asked = &plan->arguments->subject;
	const char *name = plan->arguments->inputs.at[0];
	bool wants_help;

	if (asked->policy || asked->sets.count || asked->streams.count ||
	    asked->machine.memory.given || asked->machine.cgroup_limit.given)
		return error_input(error,
				   "a kept run says itself what it was: with %.40s there is "
				   "no option about its machine",
				   name);
	if (!again_open(&plan->again, plan->arguments->db, name, error))
		return false;
	plan->is_again = true;
	if (!command_parse(command_find("advise"), &plan->repeated, (int)plan->again.word_count,
			   (char **)(uintptr_t)plan->again.words, &wants_help, error))
		return false;
	plan->asked = &plan->repeated.subject;
	return subject_open(&plan->subject, "advise", plan->repeated.inputs.at[0], plan->asked, 0,
			    error) &&
	       again_check(&plan->again, &plan->subject, error);
}

static bool subject_make(struct plan *plan, struct error *error)
{
	const char *input = plan->arguments->inputs.at[0];
	struct advise_options *advise = &plan->advise;
	struct subject *subject = &plan->subject;

	plan->asked = &plan->arguments->subject;
	if (again_is_run(input) ? !again_make(plan, error)
				: !subject_open(subject, "advise", input, plan->asked, 0, error))
		return false;
	advise->input = subject->input;
	advise->model = subject->model;
	advise->model.streams = NULL;
	if (subject->is_scenario) {
		advise->scenario = &subject->trial.scenario;
		advise->scenario_name = subject->input;
		advise->sets = plan->asked->sets.at;
		advise->set_count = plan->asked->sets.count;
	} else {
		advise->open = trace_open_again;
		advise->close = trace_closed;
		advise->context = plan;
	}
	/* A job may do several things, each to files of its own. */
	advise->splits_classes = subject->is_scenario || !asks_for_streams(plan);
	return subject->is_scenario ||
	       (can_be_read_again(subject->input, error) &&
		subject_stream_rule(&plan->rule, plan->asked->stream_rule, error));
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
				   plan->subject.is_scenario ? "--set machine.cgroup_limit=SIZE"
							     : "--cgroup-limit SIZE");
	if (geteuid() != 0)
		return error_failed(error, "--confirm makes a memory cgroup and file systems, "
					   "which takes root");
	plan->kernel.clock = plan->subject.is_scenario ? KERNEL_CLOCK_SCENARIO : KERNEL_CLOCK_NONE;
	if (!on_kernel_apply(&arguments->kernel, model, &plan->kernel, error) ||
	    !places_parse(plan, error))
		return false;
	plan->kernel.interrupted = model->interrupted;
	plan->advise.kernel = &plan->kernel;
	return plan->asked->policy || plan->is_again || uname(&name) != 0 ||
	       validate_policy(&model->policy, name.release, kernel_has_mglru(),
			       plan->kernel.statistics, error);
}

static bool plan_make(struct plan *plan, struct error *error)
{
	const struct advise_arguments *arguments = plan->arguments;
	struct advise_options *advise = &plan->advise;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (!subject_make(plan, error))
		return false;
	return subject_number(&advise->seed_count, arguments->seeds, SEEDS, SEEDS_MAX, "--seeds",
			      error) &&
	       subject_number(&advise->thread_count, arguments->jobs,
			      processors > 0 ? (size_t)processors : 1, JOBS_MAX, "--jobs", error) &&
	       only_parse(plan, error) && kernel_make(plan, error);
}

/* ---- the command ---- */

static void print(const struct plan *plan, const struct advice *advice)
{
	static const char *const told[] = {"confirm", "places", NULL};
	struct arena arena = {0};
	struct text_list words = command_repeat(&command_advise, plan->arguments, told, &arena);
	const struct report_options report = {
		.colour = command_may_colour(stdout),
		.skipped_rows = plan->skipped,
		.is_cut_off = plan->is_cut_off,
		.is_trace = !plan->subject.is_scenario,
		.input = plan->arguments->inputs.at[0],
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
		if (!plan.subject.is_scenario)
			trace_excerpt(plan.subject.input, &error);
		code = command_fail(&error);
	}
	interrupt_end();
out:
	subject_close(&plan.subject);
	if (plan.is_again)
		command_arguments_deinit(&command_advise, &plan.repeated);
	again_close(&plan.again);
	array_deinit(&plan.only);
	arena_deinit(&plan.arena);
	return code;
}

static const char *const usage[] = {
	"advise TRACE (--memory SIZE | --cgroup-limit SIZE) [--device NAME] [--only REMEDY[,...]]",
	"advise SCENARIO [--set KEY=VALUE]... [--only REMEDY[,...]] [--json]",
	"advise RUN [--only REMEDY[,...]] [--json]",
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
		"O_DIRECT, FADV_RANDOM, NOREUSE, or what of these is there left out, whole pages, "
		"new files instead of old ones, readahead, a memory cgroup of its own, memory.low, "
		"vfs_cache_pressure, dirty limits, MGLRU, ZFS's limits, memory, another kernel or "
		"file system, a database's own settings, and the best two at once. Each with its "
		"change of "
		"device reads, throughput and 99th percentile, who gains and who loses, the "
		"setting to apply, since which kernel there is such a thing, and its risk.\n\n"
		"Every remedy is run, not guessed: over several seeds where anything is drawn by "
		"lot, and with fresh and lazy statistics where the kernel has both. That nothing "
		"helps, that this is not a caching problem, and how much memory would do are "
		"answers, too. docs/advise.md says how it is ranked. Ctrl-C prints what is known "
		"until then.\n\n" KEPT_NAMES,
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct advise_arguments),
	.operands_offset = FIELD(inputs),
	.operand = "TRACE|SCENARIO|RUN",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = advise,
};
