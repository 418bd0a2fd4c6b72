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
#include "op/trace.h"

struct import_arguments {
	struct text_list files;
	const char *format, *output;
	bool lenient, json;
};

#define FIELD(name) offsetof(struct import_arguments, name)

static const struct option options[] = {
	{"output", 'o', "TRACE",
	 "the native trace to write; nothing is left of it if the import fails", OPTION_TEXT,
	 FIELD(output), COMPLETE_FILE},
	{"format", 0, "NAME", "what FILE is (`refault list formats`); recognised when not given",
	 OPTION_TEXT, FIELD(format), COMPLETE_FORMAT},
	{"lenient", 0, NULL,
	 "skip rows that cannot be read and count them; of a trace that was cut off, keep what can "
	 "be read",
	 OPTION_FLAG, FIELD(lenient), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

enum { BATCH = 1024 };

struct outcome {
	uint64_t ops;
	uint64_t skipped;
	uint64_t trace_bytes;
	bool is_cut_off;
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

/* Copy all ops. On a failure outcome->ops is how many there were before. */
static bool copy(struct op_source *source, struct trace_writer *writer, struct outcome *outcome,
		 struct error *error)
{
	struct op ops[BATCH];
	struct progress progress;
	size_t got;
	bool done;

	progress_begin(&progress, "importing");
	while ((done = op_source_next(source, ops, BATCH, &got, error)) && got) {
		uint64_t at = 0, total = 0;

		done = trace_write(writer, source, ops, got, error);
		if (!done)
			break;
		outcome->ops += got;
		source->interface->progress(source, &at, &total);
		progress_update(&progress, at, total, outcome->ops, 0);
	}
	progress_end(&progress);
	return done;
}

static bool import_file(const struct import_arguments *arguments, struct outcome *outcome,
			struct error *error)
{
	const struct trace_options trace_options = {
		.format = arguments->format,
		.lenient = arguments->lenient,
	};
	const char *input = arguments->files.at[0];
	struct trace_writer *writer = NULL;
	struct op_source *source;
	struct stat status;
	bool done = false;

	if (!arguments->output)
		return error_input(error,
				   "import needs a file to write: refault import %.80s -o TRACE",
				   input);
	if (strcmp(arguments->output, "-") == 0)
		return error_input(error, "-o -: a trace is written to a regular file, not to "
					  "standard output (a file of that name is ./-)");
	if (is_same_file(input, arguments->output))
		return error_input(error, "%.120s is the input itself: name another file with -o",
				   arguments->output);
	source = trace_open(input, &trace_options, error);
	if (!source)
		return false;
	writer = trace_writer_create(arguments->output, error);
	if (!writer)
		goto out;
	leftover_watch(writer);
	if (!copy(source, writer, outcome, error)) {
		trace_writer_abandon(writer);
		goto out;
	}
	if (!trace_writer_close(writer, error))
		goto out;
	outcome->skipped = trace_skipped(source);
	outcome->is_cut_off = trace_is_cut_off(source);
	if (stat(arguments->output, &status) == 0)
		outcome->trace_bytes = (uint64_t)status.st_size;
	done = true;
out:
	op_source_destroy(source);
	return done;
}

static void print_json(const struct outcome *outcome)
{
	printf("{\"ops\": %" PRIu64 ", \"skipped_rows\": %" PRIu64
	       ", \"cut_off\": %s, \"trace_bytes\": %" PRIu64 "}\n",
	       outcome->ops, outcome->skipped, outcome->is_cut_off ? "true" : "false",
	       outcome->trace_bytes);
}

static void print(const struct import_arguments *arguments, const struct outcome *outcome)
{
	char ops[2 * SIZE_TEXT_BYTES], size[SIZE_TEXT_BYTES], skipped[2 * SIZE_TEXT_BYTES];

	printf("%s   %s ops   %s", arguments->output, count_format(ops, outcome->ops),
	       size_format(size, outcome->trace_bytes));
	if (outcome->ops)
		printf("   %.2f bytes an op", (double)outcome->trace_bytes / (double)outcome->ops);
	putchar('\n');
	if (outcome->skipped)
		printf("  %s row%s could not be read and %s left out (--lenient)\n",
		       count_format(skipped, outcome->skipped), outcome->skipped == 1 ? "" : "s",
		       outcome->skipped == 1 ? "was" : "were");
	if (outcome->is_cut_off)
		puts("  the input is cut off: this is what could be read of it (--lenient)");
}

static int import(const void *values)
{
	const struct import_arguments *arguments = values;
	struct outcome outcome = {0};
	struct error error = {0};
	int code;

	if (import_file(arguments, &outcome, &error)) {
		if (arguments->json)
			print_json(&outcome);
		else
			print(arguments, &outcome);
		return 0;
	}
	code = command_fail(&error);
	if (error.kind == ERROR_INPUT && outcome.ops) {
		char ops[2 * SIZE_TEXT_BYTES];

		fprintf(stderr,
			"Nothing was written. %s ops before it can be read: `--lenient` keeps what "
			"there is.\n",
			count_format(ops, outcome.ops));
	}
	return code;
}

static const char *const usage[] = {
	"import FILE [--format NAME] [--lenient] -o TRACE",
	NULL,
};

static const struct example examples[] = {
	{"import wal.csv -o wal.rft",
	 "a few bytes an op, checksummed, and read many times faster than the CSV"},
	{"import --format oracleGeneral cloud.bin.zst -o cloud.rft",
	 "someone else's trace, named because it cannot be recognised"},
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
