/*
 * refault report: kept runs as a page, or as pictures
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/keep.h"
#include "cli/kept.h"
#include "cli/report_input.h"
#include "report/page.h"
#include "report/report.h"
#include "study/compare.h"

struct report_arguments {
	struct text_list runs;
	const char *output, *svg, *db;
	bool each, json;
};

#define FIELD(name) offsetof(struct report_arguments, name)

static const struct option options[] = {
	{"output", 'o', "FILE",
	 "write the report there: one HTML file that needs nothing else; - is "
	 "standard output",
	 OPTION_TEXT, FIELD(output), COMPLETE_FILE},
	{"svg", 0, "DIR",
	 "write each chart there as a picture of its own (SVG), for papers; the "
	 "folder is made if it is not there",
	 OPTION_TEXT, FIELD(svg), COMPLETE_FILE},
	{"each", 0, NULL, "each run is a side, also those that differ in the seed alone",
	 OPTION_FLAG, FIELD(each), COMPLETE_NONE},
	STORE_OPTION(report_arguments, db),
	{"json", 0, NULL, "say as JSON what was written", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

/* Several runs of one experiment are held against each other run by run. */
static bool compare_all(struct compared *compared, const struct report_input *input, bool each,
			struct error *error)
{
	struct compare_options wanted = {.each = each};
	struct error first;

	if (compare_runs(compared, input->runs.at, input->runs.count, &wanted, &first))
		return true;
	wanted.each = true;
	return compare_runs(compared, input->runs.at, input->runs.count, &wanted, error);
}

static bool file_finish(FILE *file, const char *path, struct error *error)
{
	bool done = !ferror(file);

	done = (file == stdout ? fflush(file) : fclose(file)) == 0 && done;
	return done || error_system(error, "cannot write %s", path);
}

static bool page_to(const char *path, const struct page *page, const struct sheet *sheet,
		    struct error *error)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

	if (!file)
		return error_system(error, "cannot write %s", path);
	page_write(file, page, sheet);
	return file_finish(file, path, error);
}

static bool picture_to(const char *folder, const struct sheet_chart *chart, struct error *error)
{
	char path[4096];
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%s.svg", folder, chart->picture.id) >=
	    (int)sizeof(path))
		return error_input(error, "--svg: the folder's name is too long");
	file = fopen(path, "we");
	if (!file)
		return error_system(error, "cannot write %s", path);
	svg_begin_alone(file, &chart->picture);
	fputs(chart->drawn, file);
	svg_end(file);
	return file_finish(file, path, error);
}

static bool pictures_to(const char *folder, const struct sheet *sheet, struct error *error)
{
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return error_system(error, "--svg: cannot make %s", folder);
	for (size_t i = 0; i < sheet->charts.count; i++)
		if (!picture_to(folder, &sheet->charts.at[i], error))
			return false;
	return true;
}

static void tell(const struct report_arguments *arguments, const struct sheet *sheet)
{
	json_t *charts = json_array();

	for (size_t i = 0; i < sheet->charts.count; i++)
		json_array_append_new(charts, json_string(sheet->charts.at[i].picture.id));
	report_json_print(stdout, json_pack("{s:s?, s:s?, s:o}", "report", arguments->output, "svg",
					    arguments->svg, "charts", charts));
}

static bool draw(const struct report_arguments *arguments, const struct report_input *input,
		 const struct compared *compared, struct error *error)
{
	struct page page;
	struct sheet sheet;
	bool done;

	sheet_init(&sheet);
	page_init(&page, input->runs.at, input->runs.count, compared, REFAULT_VERSION);
	page_draw(&page, &sheet);
	sheet_finish(&sheet);
	done = (!arguments->output || page_to(arguments->output, &page, &sheet, error)) &&
	       (!arguments->svg || pictures_to(arguments->svg, &sheet, error));
	if (done && arguments->json)
		tell(arguments, &sheet);
	page_deinit(&page);
	sheet_deinit(&sheet);
	return done;
}

static bool arguments_check(const struct report_arguments *arguments, struct error *error)
{
	if (!arguments->output && !arguments->svg)
		return error_input(error, "where to? -o FILE.html writes the report, --svg DIR its "
					  "charts");
	if (arguments->json && arguments->output && strcmp(arguments->output, "-") == 0)
		return error_input(error, "--json and -o - both want standard output: give one");
	return true;
}

static int report(const void *values)
{
	const struct report_arguments *arguments = values;
	struct report_input input = {0};
	struct compared compared = {0};
	struct error error;
	int code = 0;

	if (!arguments_check(arguments, &error) ||
	    !report_input_load(&input, arguments->db, &arguments->runs, &error))
		code = command_fail(&error);
	else if (input.runs.count > 1 && !compare_all(&compared, &input, arguments->each, &error))
		code = command_fail(&error);
	else if (!draw(arguments, &input, input.runs.count > 1 ? &compared : NULL, &error))
		code = command_fail(&error);
	compared_deinit(&compared);
	report_input_deinit(&input);
	return code;
}

static const char *const usage[] = {
	"report RUN... -o FILE [--svg DIR] [--each] [--db PATH] [--json]",
	"report RUN... --svg DIR",
	NULL,
};

static const struct example examples[] = {
	{"report @last -o report.html", "the last run"},
	{"report @-2 @last -o report.html", "two runs side by side"},
	{"report story.json -o report.html",
	 "what `refault explain db.csv --cgroup-limit 256MiB --json > story.json` found"},
	{"report @-4 @-3 @-2 @last -o curve.html --svg figures",
	 "four sizes of memory, and each chart as a file for a paper"},
	{0},
};

const struct command command_report = {
	.usage = usage,
	.description =
		"Draw runs as a report that can be sent to somebody: one HTML file that loads "
		"nothing from anywhere, with the result in a sentence, the figures, who evicted "
		"whom, the run over time, latencies, what differs, and how to repeat "
		"it. " KEPT_NAMES
		" It is also a file with what `run`, `replay`, `explain` or `export` "
		"printed with --json (a name with a dot or a / in it, or of a file that is "
		"there); - is standard input.\n\n"
		"Several runs are compared as `refault compare` does. If some of them differ in "
		"memory alone, there is a curve of misses over memory with its knee. What "
		"`refault explain --json` printed adds how far off it was what came back, and "
		"where in the files. The same runs give the same bytes. docs/report.md has more.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct report_arguments),
	.operands_offset = FIELD(runs),
	.operand = "RUN",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_FILE,
	.run = report,
};
