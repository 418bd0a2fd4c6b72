/*
 * refault import: any trace into the native format
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "op/carried.h"
#include "op/summary.h"
#include "op/trace.h"
#include "report/report.h"
#include "report/trace_summary.h"

struct import_arguments {
	struct text_list files;
	const char *output;
	bool summary, json;
	struct trace_input_arguments trace;
};

#define FIELD(name) offsetof(struct import_arguments, name)

static const struct option options[] = {
	{"output", 'o', "TRACE",
	 "the native trace to write; nothing is left of it if the import fails", OPTION_TEXT,
	 FIELD(output), COMPLETE_FILE},
	TRACE_INPUT_OPTIONS(import_arguments, trace),
	{"summary", 0, NULL,
	 "print what the trace asks for: reads, writes, bytes, files, span; -o is not needed then",
	 OPTION_FLAG, FIELD(summary), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

enum { BATCH = 1024 };

struct outcome {
	uint64_t ops;
	uint64_t skipped;
	uint64_t trace_bytes;
	bool is_cut_off;
	struct trace_summary summary; /* if it is asked for */
	struct op_source *source;     /* still open: it owns the names and the notes */
};

/* ---- killed in the middle ---- */

/* What a handler has to remove; "": nothing. Not in it: SIGKILL, which nobody can handle. */
static char leftover[PATH_MAX + 64];

/* SA_RESETHAND: what is raised here is what the signal does by itself, as soon as we return. */
static void on_signal(int number)
{
	if (leftover[0])
		unlink(leftover);
	raise(number);
}

/* Only a writer whose file has a name already needs this. */
static void leftover_watch(const struct trace_writer *writer)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	const char *path = trace_writer_leftover(writer);
	struct sigaction before;

	if (!path || strlen(path) >= sizeof(leftover))
		return;
	strcpy(leftover, path);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* nohup: who ignores a signal goes on ignoring it */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/* ---- importing ---- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* What it tells of itself, or what it is imported from; and the streams that it names. */
static bool head_write(struct trace_writer *writer, const struct op_source *source,
		       struct error *error)
{
	struct fact_text facts = {0};
	struct trace_head head = {
		.stream_names = source->stream_names,
		.stream_count = source->stream_count,
	};
	bool done;

	if (!*trace_facts(source))
		fact_add(&facts, "imported_from", "%s", source->format);
	fact_lines_add(&facts, trace_facts(source));
	head.facts = fact_text(&facts);
	done = trace_writer_head(writer, &head, error);
	fact_text_deinit(&facts);
	return done;
}

/* What its reader found, and what it told of itself behind its head. */
static bool tail_write(struct trace_writer *writer, const struct op_source *source,
		       size_t head_bytes, struct error *error)
{
	struct fact_text facts = {0};
	bool done;

	carried_notes(&facts, source);
	fact_lines_add(&facts, trace_facts(source) + head_bytes);
	done = trace_writer_tail(writer, fact_text(&facts), error);
	fact_text_deinit(&facts);
	return done;
}

/* Read all ops, and write them if there is a writer. On a failure outcome->ops is how many came. */
static bool copy(const struct import_arguments *arguments, struct op_source *source,
		 struct trace_writer *writer, struct progress *progress, struct outcome *outcome,
		 struct error *error)
{
	size_t head_bytes = strlen(trace_facts(source)), got;
	struct op ops[BATCH];
	bool done;

	if (writer && !head_write(writer, source, error))
		return false;
	while ((done = op_source_next(source, ops, BATCH, &got, error)) && got) {
		uint64_t at = 0, total = 0;

		done = !writer || trace_write(writer, source, ops, got, error);
		if (!done)
			break;
		if (arguments->summary)
			trace_summary_add(&outcome->summary, ops, got);
		outcome->ops += got;
		source->interface->progress(source, &at, &total);
		progress_update(progress, at, total, outcome->ops, 0);
	}
	progress_end(progress);
	return done && (!writer || tail_write(writer, source, head_bytes, error));
}

static bool output_check(const struct import_arguments *arguments, struct error *error)
{
	const char *input = arguments->files.at[0];

	if (!arguments->output)
		return arguments->summary ||
		       error_input(
			       error,
			       "import needs a file to write: refault import %.80s -o TRACE (or "
			       "--summary, to see what is in it)",
			       input);
	if (strcmp(arguments->output, "-") == 0)
		return error_input(error, "-o -: a trace is written to a regular file, not to "
					  "standard output (a file of that name is ./-)");
	if (is_same_file(input, arguments->output))
		return error_input(error, "%.120s is the input itself: name another file with -o",
				   arguments->output);
	return true;
}

static bool import_file(const struct import_arguments *arguments, struct outcome *outcome,
			struct error *error)
{
	struct progress progress;
	struct trace_options trace_options = trace_input_options(&arguments->trace);
	struct trace_writer *writer = NULL;
	struct stat status;

	if (!output_check(arguments, error))
		return false;
	progress_begin(&progress, arguments->output ? "importing" : "reading");
	trace_options.own_streams = true;
	trace_options.progress = progress_reading;
	trace_options.progress_context = &progress;
	outcome->source = trace_open(arguments->files.at[0], &trace_options, error);
	if (!outcome->source)
		return false;
	if (arguments->output) {
		writer = trace_writer_create(arguments->output, error);
		if (!writer)
			return false;
		leftover_watch(writer);
	}
	if (!copy(arguments, outcome->source, writer, &progress, outcome, error)) {
		trace_writer_abandon(writer);
		return false;
	}
	if (writer && !trace_writer_close(writer, error))
		return false;
	if (arguments->summary)
		trace_summary_finish(&outcome->summary);
	outcome->skipped = trace_skipped(outcome->source);
	outcome->is_cut_off = trace_is_cut_off(outcome->source);
	if (writer && stat(arguments->output, &status) == 0)
		outcome->trace_bytes = (uint64_t)status.st_size;
	return true;
}

static void print_json(const struct import_arguments *arguments, const struct outcome *outcome)
{
	json_t *json;

	if (arguments->summary) {
		json = trace_summary_json(&outcome->summary, outcome->source);
		if (arguments->output)
			json_object_set_new(json, "trace_bytes",
					    json_integer((json_int_t)outcome->trace_bytes));
	} else {
		json = json_pack("{s:I, s:I, s:b, s:I, s:o}", "ops", (json_int_t)outcome->ops,
				 "skipped_rows", (json_int_t)outcome->skipped, "cut_off",
				 outcome->is_cut_off, "trace_bytes",
				 (json_int_t)outcome->trace_bytes, "notes",
				 trace_notes_json(outcome->source));
	}
	report_json_print(stdout, json);
}

static void print(const struct import_arguments *arguments, const struct outcome *outcome)
{
	char ops[2 * SIZE_TEXT_BYTES], size[SIZE_TEXT_BYTES], skipped[2 * SIZE_TEXT_BYTES];

	if (arguments->summary)
		trace_summary_print(stdout, &outcome->summary, outcome->source,
				    command_may_colour(stdout));
	if (arguments->summary && arguments->output)
		putchar('\n');
	if (arguments->output) {
		printf("%s   %s ops   %s", arguments->output, count_format(ops, outcome->ops),
		       size_format(size, outcome->trace_bytes));
		if (outcome->ops)
			printf("   %.2f bytes an op",
			       (double)outcome->trace_bytes / (double)outcome->ops);
		putchar('\n');
	}
	if (outcome->skipped)
		printf("  %s row%s could not be read and %s left out (--lenient)\n",
		       count_format(skipped, outcome->skipped), outcome->skipped == 1 ? "" : "s",
		       outcome->skipped == 1 ? "was" : "were");
	if (outcome->is_cut_off)
		puts("  the input is cut off: this is what could be read of it (--lenient)");
}

static int import_fail(const struct import_arguments *arguments, const struct outcome *outcome,
		       const struct error *error)
{
	int code = command_fail(error);
	char ops[2 * SIZE_TEXT_BYTES];

	if (error->kind != ERROR_INPUT || !outcome->source || arguments->trace.lenient)
		return code;
	if (outcome->ops && arguments->output)
		fprintf(stderr,
			"Nothing was written. %s ops before it can be read: `--lenient` keeps what "
			"there is.\n",
			count_format(ops, outcome->ops));
	else if (error->line && error->excerpt[0])
		fprintf(stderr, "%s`--lenient` skips such rows and counts them.\n",
			arguments->output ? "Nothing was written. " : "");
	return code;
}

static int import(const void *values)
{
	const struct import_arguments *arguments = values;
	struct outcome outcome = {0};
	struct error error = {0};
	int code = 0;

	trace_summary_init(&outcome.summary);
	if (!import_file(arguments, &outcome, &error)) {
		code = import_fail(arguments, &outcome, &error);
	} else {
		if (arguments->json)
			print_json(arguments, &outcome);
		else
			print(arguments, &outcome);
		/* The text summary has them all. */
		if (arguments->json || !arguments->summary)
			trace_input_warn(outcome.source);
	}
	op_source_destroy(outcome.source);
	trace_summary_deinit(&outcome.summary);
	return code;
}

static const char *const usage[] = {
	"import FILE [--format NAME] [--columns NAME=COLUMN,...] [--lenient] [--summary] -o TRACE",
	"import FILE --summary [--json]",
	NULL,
};

static const struct example examples[] = {
	{"import wal.csv -o wal.rft",
	 "a few bytes an op, checksummed, and read many times faster than the CSV"},
	{"import --format oracleGeneral cloud.bin.zst -o cloud.rft",
	 "someone else's trace, named because it cannot be recognised"},
	{"import --summary prxy_0.csv.gz",
	 "what it reads and writes, before anything is simulated"},
	{"import --columns time=1,op=2,offset=3,bytes=4,unit=512 mine.txt -o mine.rft",
	 "any text with a request in each row"},
	{0},
};

const struct command command_import = {
	.usage = usage,
	.description = "Read a trace in any known format (`refault list formats`), plain or "
		       "compressed, and write the native one: "
		       "compressed, checksummed, versioned, and readable up to the last whole "
		       "block should it be cut off. `replay` takes "
		       "foreign traces as they are, so this is for keeping them small and reading "
		       "them fast.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct import_arguments),
	.operands_offset = FIELD(files),
	.operand = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = import,
};
