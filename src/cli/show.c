/*
 * refault show: a kept run, as the command that ran it printed it
 */
#include <string.h>

#include "base/memory.h"
#include "cli/keep.h"
#include "cli/kept.h"
#include "report/drawing.h"
#include "report/report.h"

struct show_arguments {
	struct text_list runs;
	const char *db;
	bool json, group;
};

#define FIELD(name) offsetof(struct show_arguments, name)

static const struct option options[] = {
	{"group", 0, NULL, "all that its command ran, side by side as it was printed", OPTION_FLAG,
	 FIELD(group), COMPLETE_NONE},
	STORE_OPTION(show_arguments, db),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

static void print_run(const struct stored *stored, size_t group_count, bool json)
{
	struct arena arena = {0};
	struct report_options report;

	drawing_read(&report, stored->drawing, &arena);
	report.colour = command_may_colour(stdout);
	if (json)
		report_json_print(stdout, json_incref(stored->json));
	else
		report_text(stdout, &stored->result, &report);
	if (!json && group_count > 1)
		printf("One of %zu runs side by side: refault show %.7s --group\n", group_count,
		       stored->run.id);
	arena_deinit(&arena);
}

/* The results go where they were, at the end. */
static bool runs_add(struct store *store, struct stored_answer *answer, struct error *error)
{
	json_t *runs = json_array();
	bool done = answer->count == answer->kept_count;

	if (!done)
		error_failed(error,
			     "%zu of the %zu runs were deleted since: without --json there is "
			     "still what was printed of them all",
			     answer->kept_count - answer->count, answer->kept_count);
	for (size_t i = 0; done && i < answer->count; i++) {
		struct stored stored;

		done = store_load(store, answer->numbers[i], &stored, error);
		if (done)
			json_array_append(runs, stored.json);
		stored_deinit(&stored);
	}
	json_object_set_new(answer->json, "runs", runs);
	return done;
}

static bool print_group(struct store *store, struct stored_answer *answer, bool json,
			struct error *error)
{
	if (!json) {
		fputs(answer->text, stdout);
		return true;
	}
	if (!json_object_get(answer->json, "runs") && !runs_add(store, answer, error))
		return false;
	report_json_print(stdout, json_incref(answer->json));
	return true;
}

static bool show_one(struct kept *kept, const struct show_arguments *arguments, struct error *error)
{
	struct stored_answer answer = {0};
	struct stored stored;
	bool done = store_load(kept->store, kept->numbers[0], &stored, error) &&
		    store_load_answer(kept->store, stored.run.command_number, &answer, error);

	/* A command with one run printed that. */
	if (done && arguments->group && answer.text && answer.json)
		done = print_group(kept->store, &answer, arguments->json, error);
	else if (done)
		print_run(&stored, answer.text ? answer.kept_count : 1, arguments->json);
	stored_answer_deinit(&answer);
	stored_deinit(&stored);
	return done;
}

static int show(const void *values)
{
	const struct show_arguments *arguments = values;
	struct kept kept;
	struct error error;
	int code = 0;

	if (!kept_open(&kept, arguments->db, STORE_READ, &arguments->runs, &error))
		return command_fail(&error);
	if (!show_one(&kept, arguments, &error))
		code = command_fail(&error);
	kept_close(&kept);
	return code;
}

static const char *const usage[] = {
	"show RUN [--group] [--db PATH] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"show @last", "what the last command printed, again"},
	{"show a7f31c2 --json", "a run by the beginning of its id, for programs"},
	{"show @last --group", "the whole comparison that the last run was part of"},
	{0},
};

const struct command command_show = {
	.usage = usage,
	.description = "Print the result of a run that was kept, just as the command that ran it "
		       "did, as text or as JSON. " KEPT_NAMES "\n\n"
		       "Several runs of one command (several --policy, a scenario that compares "
		       "settings, `refault validate`) are kept one by one, and shown one by one; "
		       "with --group they are shown together, as the command did. docs/runs.md has "
		       "more.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct show_arguments),
	.operands_offset = FIELD(runs),
	.operand = "RUN",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_NONE,
	.run = show,
};
