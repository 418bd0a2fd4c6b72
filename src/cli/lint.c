/*
 * refault lint: what a trace or a scenario does without need, with its place
 */
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "op/trace.h"
#include "report/lint.h"
#include "report/report.h"
#include "study/lint.h"

struct lint_arguments {
	struct text_list inputs;
	struct subject_arguments subject;
	bool json;
};

#define FIELD(name) offsetof(struct lint_arguments, name)

/* Where nobody says: so much that nothing is evicted but by what it does itself. */
#define MEMORY_PLENTY (64 * GIB)

static const struct option options[] = {
	SUBJECT_OPTIONS(lint_arguments, subject,
			"; 64GiB when not given, and then little is evicted", "REGEX=NAME",
			"paths of a trace that match are the stream NAME; may be repeated"),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct lint_arguments *arguments;
	struct subject subject;
	uint64_t skipped;
	bool is_cut_off;
};

static bool plan_run(struct plan *plan, struct lint_report *report, struct result *result,
		     struct error *error)
{
	struct model_options *model = &plan->subject.model;
	struct op_source *source =
		subject_source(&plan->subject, "there are no habits in it", error);
	struct progress progress;
	bool done;

	if (!source)
		return false;
	/* Nobody waits here: what is found does not hang on how fast a device is. */
	model->device = NULL;
	progress_begin(&progress, "replaying");
	model->progress = progress.wanted ? progress_update : NULL;
	model->progress_context = &progress;
	done = lint_source(model, source, report, result, error);
	progress_end(&progress);
	plan->skipped = trace_skipped(source);
	plan->is_cut_off = trace_is_cut_off(source);
	if (done)
		trace_input_warn(source);
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
		.is_trace = !plan->subject.is_scenario,
		.input = plan->subject.input,
	};

	if (plan->arguments->json)
		report_json_print(stdout, lint_report_json(found, result, &report));
	else
		lint_report_text(stdout, found, result, &report);
}

static int lint(const void *values)
{
	const struct lint_arguments *arguments = values;
	struct plan plan = {.arguments = arguments};
	struct lint_report report;
	struct result result;
	struct error error;
	int code = 0;

	if (!subject_open(&plan.subject, "lint", arguments->inputs.at[0], &arguments->subject,
			  MEMORY_PLENTY, &error)) {
		code = command_fail(&error);
		goto out;
	}
	plan.subject.model.interrupted = interrupt_begin();
	if (plan_run(&plan, &report, &result, &error)) {
		print(&plan, &report, &result);
		lint_report_deinit(&report);
		result_deinit(&result);
	} else {
		if (!plan.subject.is_scenario)
			trace_excerpt(plan.subject.input, &error);
		code = command_fail(&error);
	}
	interrupt_end();
out:
	subject_close(&plan.subject);
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
