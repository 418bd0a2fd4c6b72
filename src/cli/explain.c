/*
 * refault explain: the story of a run: what came back, who had pushed it out, and when
 */
#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "cli/again.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/keep.h"
#include "cli/kept.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "op/trace.h"
#include "report/explanation.h"
#include "report/report.h"
#include "study/explain.h"

struct explain_arguments {
	struct text_list inputs;
	struct subject_arguments subject; /* streams: those to narrow to among them */
	const char *file, *at, *db;
	bool ops, json;
};

#define FIELD(name) offsetof(struct explain_arguments, name)

extern const struct command command_explain;

static const struct option options[] = {
	{"file", 0, "PATH",
	 "only what was read again of this file: its whole path, or the last part of it",
	 OPTION_TEXT, FIELD(file), COMPLETE_NONE},
	{"at", 0, "TIME[..TIME]",
	 "only what was read again then: the second that begins at this time, or between the two; "
	 "times of operations, from the first one's (12s, 1.5m)",
	 OPTION_TEXT, FIELD(at), COMPLETE_NONE},
	{"ops", 0, NULL,
	 "list each operation that read something again, and in which one it had been pushed out",
	 OPTION_FLAG, FIELD(ops), COMPLETE_NONE},
	SUBJECT_OPTIONS(explain_arguments, subject, "", "NAME|REGEX=NAME",
			"NAME: only what this stream read again; REGEX=NAME: paths of a trace that "
			"match are the stream NAME; may be repeated"),
	SUBJECT_TIME_OPTIONS(explain_arguments, subject),
	STORE_OPTION(explain_arguments, db),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct explain_arguments *arguments;
	struct subject_arguments subject_arguments;
	ARRAY(const char *) stream_rules;
	struct subject subject;
	struct again again;                /* of a kept run */
	struct explain_arguments repeated; /* what it had been asked */
	bool is_again;
	struct explain_filter filter;
	uint64_t skipped;
	bool is_cut_off;
};

/* "12s", "10s..20s" */
static bool at_parse(struct explain_filter *filter, const char *text, struct error *error)
{
	const char *dots = strstr(text, "..");
	char from[64];
	size_t bytes = dots ? (size_t)(dots - text) : strlen(text);

	if (bytes >= sizeof(from))
		return error_input(error, "--at is TIME or TIME..TIME, not \"%.80s\"", text);
	memcpy(from, text, bytes);
	from[bytes] = '\0';
	if (!time_parse(&filter->from_ns, from, "--at", error))
		return false;
	if (!dots) {
		filter->until_ns = filter->from_ns + NS_PER_SECOND;
		return true;
	}
	if (!time_parse(&filter->until_ns, dots + 2, "--at", error))
		return false;
	return filter->until_ns > filter->from_ns ||
	       error_input(error, "--at %.80s ends before it begins", text);
}

/* Of --stream, NAME narrows, and REGEX=NAME is the trace's. */
static bool filter_make(struct plan *plan, struct error *error)
{
	const struct explain_arguments *arguments = plan->arguments;
	const struct text_list *streams = &arguments->subject.streams;

	plan->filter = (struct explain_filter){
		.path = arguments->file, .until_ns = UINT64_MAX, .wants_list = arguments->ops};
	plan->subject_arguments = arguments->subject;
	for (size_t i = 0; i < streams->count; i++) {
		if (strchr(streams->at[i], '='))
			*array_push(&plan->stream_rules) = streams->at[i];
		else if (plan->filter.stream)
			return error_input(error,
					   "--stream %.80s and --stream %.80s: one stream at a "
					   "time",
					   plan->filter.stream, streams->at[i]);
		else
			plan->filter.stream = streams->at[i];
	}
	plan->subject_arguments.streams.at = plan->stream_rules.at;
	plan->subject_arguments.streams.count = plan->stream_rules.count;
	return !arguments->at || at_parse(&plan->filter, arguments->at, error);
}

/* What the run was asked, read as if it had been asked here. */
static bool again_make(struct plan *plan, struct error *error)
{
	const struct explain_arguments *arguments = plan->arguments;
	bool wants_help;

	if (plan->stream_rules.count || arguments->subject.policy ||
	    arguments->subject.sets.count || arguments->subject.machine.memory.given ||
	    arguments->subject.machine.cgroup_limit.given)
		return error_input(error,
				   "a kept run says itself what it was: with %.40s there are "
				   "--file, --stream NAME, --at and --ops",
				   arguments->inputs.at[0]);
	if (!again_open(&plan->again, arguments->db, arguments->inputs.at[0], error))
		return false;
	plan->is_again = true;
	if (!command_parse(command_find("explain"), &plan->repeated, (int)plan->again.word_count,
			   (char **)(uintptr_t)plan->again.words, &wants_help, error))
		return false;
	return subject_open(&plan->subject, "explain", plan->repeated.inputs.at[0],
			    &plan->repeated.subject, 0, error) &&
	       again_check(&plan->again, &plan->subject, error);
}

static bool plan_make(struct plan *plan, struct error *error)
{
	const struct explain_arguments *arguments = plan->arguments;

	if (!filter_make(plan, error))
		return false;
	if (again_is_run(arguments->inputs.at[0]))
		return again_make(plan, error);
	return subject_open(&plan->subject, "explain", arguments->inputs.at[0],
			    &plan->subject_arguments, 0, error);
}

/* Names that nobody has are wrong, not merely without a story. */
static bool names_check(const struct plan *plan, const struct result *result, struct error *error)
{
	struct nearest nearest = {.wanted = plan->filter.stream};

	if (!plan->filter.stream)
		return true;
	for (size_t i = 0; i < result->stream_count; i++) {
		if (strcmp(result->streams[i].name, plan->filter.stream) == 0)
			return true;
		nearest_offer(&nearest, result->streams[i].name);
	}
	return error_input(error, "no stream \"%.80s\" in %.100s%s%.80s%s", plan->filter.stream,
			   plan->subject.input, nearest.best ? " (nearest: " : "",
			   nearest.best ? nearest.best : "", nearest.best ? ")" : "");
}

static void print(const struct plan *plan, const struct explanation *explanation,
		  const struct lint_report *lints, const struct result *result)
{
	const struct explanation_asked asked = {
		.path = plan->filter.path,
		.stream = plan->filter.stream,
		.at = plan->arguments->at,
		.wants_list = plan->filter.wants_list,
	};
	const struct report_options report = {
		.colour = command_may_colour(stdout),
		.skipped_rows = plan->skipped,
		.is_cut_off = plan->is_cut_off,
		.is_trace = !plan->subject.is_scenario,
		.input = plan->subject.input,
	};

	if (plan->arguments->json)
		report_json_print(stdout,
				  explanation_json(explanation, lints, result, &asked, &report));
	else
		explanation_text(stdout, explanation, lints, result, &asked, &report);
}

static bool plan_run(struct plan *plan, struct error *error)
{
	struct model_options *model = &plan->subject.model;
	struct op_source *source = subject_source(&plan->subject, "there is no story in it", error);
	struct explanation explanation;
	struct lint_report lints;
	struct progress progress;
	struct result result;
	bool done;

	if (!source)
		return false;
	progress_begin(&progress, "looking on");
	model->progress = progress.wanted ? progress_update : NULL;
	model->progress_context = &progress;
	done = explain_source(model, source, &plan->filter, &explanation, &lints, &result, error);
	progress_end(&progress);
	plan->skipped = trace_skipped(source);
	plan->is_cut_off = trace_is_cut_off(source);
	if (done)
		trace_input_warn(source);
	op_source_destroy(source);
	if (!done)
		return false;
	done = names_check(plan, &result, error);
	if (done)
		print(plan, &explanation, &lints, &result);
	explanation_deinit(&explanation);
	lint_report_deinit(&lints);
	result_deinit(&result);
	return done;
}

static int explain(const void *values)
{
	const struct explain_arguments *arguments = values;
	struct plan plan = {.arguments = arguments};
	struct error error;
	int code = 0;

	if (!plan_make(&plan, &error)) {
		code = command_fail(&error);
		goto out;
	}
	plan.subject.model.interrupted = interrupt_begin();
	if (!plan_run(&plan, &error)) {
		if (!plan.subject.is_scenario)
			trace_excerpt(plan.subject.input, &error);
		code = command_fail(&error);
	}
	interrupt_end();
out:
	subject_close(&plan.subject);
	command_arguments_deinit(&command_explain, &plan.repeated);
	again_close(&plan.again);
	array_deinit(&plan.stream_rules);
	return code;
}

static const char *const usage[] = {
	"explain TRACE (--memory SIZE | --cgroup-limit SIZE) [--file PATH] [--stream NAME] [--at "
	"TIME] [--ops] [--json]",
	"explain SCENARIO [--set KEY=VALUE]... [--file PATH] [--stream NAME] [--at TIME] [--ops] "
	"[--json]",
	"explain RUN [--file PATH] [--stream NAME] [--at TIME] [--ops] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"explain db.csv --cgroup-limit 256MiB", "who pushed out what was read again, and when"},
	{"explain db.csv --cgroup-limit 256MiB --stream heap --ops",
	 "each read of the heap that found a page gone, and the operation that had done it"},
	{"explain @last", "the run that was kept last, done once more"},
	{"explain pgbench-30 --set machine.memory=512MiB --at 10s..20s",
	 "ten seconds of a scenario"},
	{0},
};

const struct command command_explain = {
	.usage = usage,
	.description =
		"Carry a trace or a scenario out on the model with somebody looking on, and tell "
		"what happened: which files were read again after their eviction, by whom, and in "
		"which part of them; whose allocations had pushed the pages out, and when; how "
		"much had aged out in between, which says how much more memory would have kept "
		"them; lists and slab over time; what the shrinkers did; what was done without "
		"need.\n\n"
		"The model is deterministic: it is the run that `refault replay` or `refault run` "
		"with the same options does. A scenario that compares settings or has cells is "
		"run as its machine and jobs say; --set makes it one of the others; and so does "
		"the "
		"name of a kept run, which is done again as it was. " KEPT_NAMES "\n\n"
		"An operation's number counts from 1, and --ops shows all that the figures are "
		"sums of.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct explain_arguments),
	.operands_offset = FIELD(inputs),
	.operand = "TRACE|SCENARIO|RUN",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = explain,
};
