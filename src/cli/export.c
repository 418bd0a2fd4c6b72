/*
 * refault export: kept runs for other programs
 */
#include <string.h>

#include "base/nearest.h"
#include "cli/keep.h"
#include "cli/kept.h"
#include "report/report.h"
#include "report/runs.h"

struct export_arguments {
	struct text_list runs;
	const char *db, *format;
	bool json;
};

#define FIELD(name) offsetof(struct export_arguments, name)

static const struct option options[] = {
	{"format", 0, "json|csv",
	 "`json` (when not given) has each run whole; `csv` its counters: a line for the run and "
	 "one for each of its streams",
	 OPTION_TEXT, FIELD(format), COMPLETE_WORDS},
	STORE_OPTION(export_arguments, db),
	{"json", 0, NULL, "the same as --format json", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

static bool format_choose(const struct export_arguments *arguments, bool *is_csv,
			  struct error *error)
{
	const char *format = arguments->format ? arguments->format : "json";

	*is_csv = strcmp(format, "csv") == 0;
	if (!*is_csv && strcmp(format, "json") != 0)
		return error_input(error, "--format \"%.60s\": there are json and csv", format);
	if (*is_csv && arguments->json)
		return error_input(error, "--json and --format csv are two answers: give one");
	return true;
}

static bool print_csv(struct kept *kept, struct error *error)
{
	bool done = true;

	run_export_csv_heading(stdout);
	for (size_t i = 0; done && i < kept->count; i++) {
		struct stored stored;

		done = store_load(kept->store, kept->numbers[i], &stored, error);
		if (done)
			run_export_csv(stdout, &stored);
		stored_deinit(&stored);
	}
	return done;
}

static bool print_json(struct kept *kept, struct error *error)
{
	json_t *runs = json_array();
	bool done = true;

	for (size_t i = 0; done && i < kept->count; i++) {
		struct stored stored;

		done = store_load(kept->store, kept->numbers[i], &stored, error);
		if (done)
			json_array_append_new(runs, run_export_json(&stored));
		stored_deinit(&stored);
	}
	if (done)
		report_json_print(stdout, json_pack("{s:O}", "runs", runs));
	json_decref(runs);
	return done;
}

static int export_runs(const void *values)
{
	const struct export_arguments *arguments = values;
	struct kept kept;
	struct error error;
	bool is_csv;
	int code = 0;

	if (!format_choose(arguments, &is_csv, &error) ||
	    !kept_open(&kept, arguments->db, STORE_READ, &arguments->runs, &error))
		return command_fail(&error);
	if (!(is_csv ? print_csv(&kept, &error) : print_json(&kept, &error)))
		code = command_fail(&error);
	kept_close(&kept);
	return code;
}

static const char *const usage[] = {
	"export RUN... [--format json|csv] [--db PATH]",
	NULL,
};

static const struct example examples[] = {
	{"export @last --format csv",
	 "the counters of the last run and of its streams, a line each"},
	{"export a7f31c2 91c04be", "two runs whole, with what is known of how they were made"},
	{0},
};

const struct command command_export = {
	.usage = usage,
	.description = "Write runs that were kept to standard output, for other programs, in the "
		       "order in which they are named. " KEPT_NAMES "\n\n"
		       "JSON is {\"runs\": [...]}, each with what `refault list runs --json` says "
		       "of it and its \"result\", which is what its command printed with --json.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct export_arguments),
	.operands_offset = FIELD(runs),
	.operand = "RUN",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_NONE,
	.run = export_runs,
};
