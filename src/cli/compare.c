/*
 * refault compare: kept runs side by side
 */
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "cli/keep.h"
#include "cli/kept.h"
#include "report/compared.h"
#include "report/report.h"
#include "study/compare.h"

struct compare_arguments {
	struct text_list runs, metrics;
	const char *db, *format;
	bool all, each, json;
};

#define FIELD(name) offsetof(struct compare_arguments, name)

static const struct option options[] = {
	{"metric", 0, "NAME",
	 "this figure only: a counter, tps, latency.read.p99, device.reads/work, ... (see "
	 "docs/scenarios.md); may be repeated. Counters are shown by stream too",
	 OPTION_TEXTS, FIELD(metrics), COMPLETE_NONE},
	{"all", 0, NULL, "all counters, latencies and workloads' figures that are not 0 everywhere",
	 OPTION_FLAG, FIELD(all), COMPLETE_NONE},
	{"each", 0, NULL, "each run is a side, also those that differ in the seed alone",
	 OPTION_FLAG, FIELD(each), COMPLETE_NONE},
	{"format", 0, "text|markdown|csv|json", "how it is written; text when not given",
	 OPTION_TEXT, FIELD(format), COMPLETE_WORDS},
	STORE_OPTION(compare_arguments, db),
	{"json", 0, NULL, "the same as --format json", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_CSV, FORMAT_JSON, FORMATS };

static bool format_choose(const struct compare_arguments *arguments, enum format *format,
			  struct error *error)
{
	static const char *const names[FORMATS] = {"text", "markdown", "csv", "json"};
	struct nearest nearest = {.wanted = arguments->format};

	*format = arguments->json ? FORMAT_JSON : FORMAT_TEXT;
	if (!arguments->format)
		return true;
	for (*format = 0; *format < FORMATS; ++*format) {
		if (strcmp(names[*format], arguments->format) == 0)
			break;
		nearest_offer(&nearest, names[*format]);
	}
	if (*format == FORMATS)
		return error_input(error,
				   "--format \"%.60s\"%s%s%s: there are text, markdown, csv and "
				   "json",
				   arguments->format, nearest.best ? " (nearest: " : "",
				   nearest.best ? nearest.best : "", nearest.best ? ")" : "");
	return !arguments->json || *format == FORMAT_JSON ||
	       error_input(error, "--json and --format %s are two answers: give one",
			   arguments->format);
}

static void print(const struct compared *compared, enum format format)
{
	switch (format) {
	case FORMAT_MARKDOWN:
		compared_markdown(stdout, compared);
		return;
	case FORMAT_CSV:
		compared_csv(stdout, compared);
		return;
	case FORMAT_JSON:
		report_json_print(stdout, compared_json(compared));
		return;
	default:
		compared_text(stdout, compared, command_may_colour(stdout));
	}
}

/* In the order in which they were named. */
static bool load_all(struct kept *kept, struct stored *runs, struct error *error)
{
	for (size_t i = 0; i < kept->count; i++)
		if (!store_load(kept->store, kept->numbers[i], &runs[i], error))
			return false;
	return true;
}

static int compare(const void *values)
{
	const struct compare_arguments *arguments = values;
	const struct compare_options wanted = {
		.figures = arguments->metrics.at,
		.figure_count = arguments->metrics.count,
		.all = arguments->all,
		.each = arguments->each,
	};
	struct compared compared = {0};
	struct stored *runs;
	struct kept kept;
	struct error error;
	enum format format;
	int code = 0;

	if (arguments->all && arguments->metrics.count) {
		error_input(&error, "--all and --metric are two answers: give one");
		return command_fail(&error);
	}
	if (!format_choose(arguments, &format, &error) ||
	    !kept_open(&kept, arguments->db, STORE_READ, &arguments->runs, &error))
		return command_fail(&error);
	runs = memory_alloc(kept.count, sizeof(*runs));
	if (load_all(&kept, runs, &error) &&
	    compare_runs(&compared, runs, kept.count, &wanted, &error))
		print(&compared, format);
	else
		code = command_fail(&error);
	compared_deinit(&compared);
	for (size_t i = 0; i < kept.count; i++)
		stored_deinit(&runs[i]);
	memory_free(runs);
	kept_close(&kept);
	return code;
}

static const char *const usage[] = {
	"compare RUN RUN... [--metric NAME]... [--format text|markdown|csv|json] [--db PATH]",
	NULL,
};

static const struct example examples[] = {
	{"compare @-2 @last", "the last two runs"},
	{"compare @-2 @last --metric reread_bytes --metric latency.read.p99",
	 "two figures of theirs"},
	{"compare 3f1 77c 9a0 e41 --format markdown", "four runs, as a table for a mail"},
	{0},
};

const struct command command_compare = {
	.usage = usage,
	.description =
		"Show kept runs side by side: the machine's figures, each stream's, and the ratio "
		"to "
		"the first side. " KEPT_NAMES "\n\n"
		"Runs that differ in nothing but the seed are one side: the same trace or scenario "
		"(by what is in it, not by its name), machine, policy, switches and options, by "
		"the "
		"same version of refault. Sides are in the order in which their first runs are "
		"named, the first is what the others are held against. With several runs to a side "
		"figures are means, and a star marks a ratio that is not chance: the interval of "
		"95 "
		"% comes from resampling the seeds (seed by seed, if both sides have the same "
		"ones), and does not hold 1. docs/runs.md has more.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct compare_arguments),
	.operands_offset = FIELD(runs),
	.operand = "RUN",
	.operands_min = 2,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_NONE,
	.run = compare,
};
