/*
 * refault record: watch what processes do to files, and write it as a trace
 */
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/recorded.h"
#include "record/record.h"
#include "report/report.h"

struct record_arguments {
	struct text_list command;
	struct text_list streams;
	struct given pid, ring;
	const char *cgroup, *duration, *output;
	bool all, json;
};

#define FIELD(name) offsetof(struct record_arguments, name)

static const struct option options[] = {
	{"output", 'o', "TRACE", "the native trace to write; record.rft when not given",
	 OPTION_TEXT, FIELD(output), COMPLETE_FILE},
	{"pid", 0, "PID", "record this process, all its threads, and what they start",
	 OPTION_NUMBER, FIELD(pid), COMPLETE_NONE},
	{"cgroup", 0, "DIR",
	 "record what is in this cgroup, or comes into it: a directory below /sys/fs/cgroup, of "
	 "version 2, or of version 1's memory controller",
	 OPTION_TEXT, FIELD(cgroup), COMPLETE_FILE},
	{"all", 0, NULL, "record the whole machine, but for refault itself", OPTION_FLAG,
	 FIELD(all), COMPLETE_NONE},
	{"duration", 0, "TIME", "stop after so long, as in 30s or 5min", OPTION_TEXT,
	 FIELD(duration), COMPLETE_NONE},
	{"stream", 0, "REGEX=NAME",
	 "paths that match are the stream NAME; may be repeated, the first match counts; all "
	 "others "
	 "are streams by program and directory",
	 OPTION_TEXTS, FIELD(streams), COMPLETE_NONE},
	{"buffer", 0, "SIZE",
	 "memory for what was seen and not yet taken, a power of two; 32MiB when not given",
	 OPTION_SIZE, FIELD(ring), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

/* ---- arguments ---- */

static bool target_choose(const struct record_arguments *arguments, struct record_options *record,
			  struct error *error)
{
	int chosen = (arguments->command.count > 0) + arguments->pid.given +
		     (arguments->cgroup != NULL) + arguments->all;

	if (chosen == 0)
		return error_input(error, "record whom? -- COMMAND, --pid PID, --cgroup DIR or "
					  "--all, as in: refault record -o build.rft -- make -j4");
	if (chosen > 1)
		return error_input(error, "-- COMMAND, --pid, --cgroup and --all: one of them");
	if (arguments->pid.given && (arguments->pid.value == 0 || arguments->pid.value > INT32_MAX))
		return error_input(error, "--pid is the number of a process");
	record->pid = (pid_t)arguments->pid.value;
	record->cgroup = arguments->cgroup;
	record->is_all = arguments->all;
	return true;
}

static bool options_make(const struct record_arguments *arguments, struct record_options *record,
			 struct error *error)
{
	*record = (struct record_options){
		.trace = arguments->output ? arguments->output : "record.rft",
		.ring_bytes = arguments->ring.value,
	};
	if (!target_choose(arguments, record, error))
		return false;
	if (strcmp(record->trace, "-") == 0)
		return error_input(error, "-o -: a trace is written to a regular file, not to "
					  "standard output (a file of that name is ./-)");
	if (arguments->duration &&
	    !time_parse(&record->duration_ns, arguments->duration, "--duration", error))
		return false;
	if (arguments->duration && record->duration_ns == 0)
		return error_input(error, "--duration 0: nothing would be recorded");
	if (arguments->ring.given &&
	    (arguments->ring.value < 64 * KIB || arguments->ring.value > GIB ||
	     (arguments->ring.value & (arguments->ring.value - 1))))
		return error_input(error, "--buffer is a power of two from 64KiB to 1GiB");
	record->streams = stream_map_create(STREAM_BY_CLASS);
	for (size_t i = 0; i < arguments->streams.count; i++)
		if (!stream_map_add(record->streams, arguments->streams.at[i], error))
			return false;
	return true;
}

static void on_progress(void *context, uint64_t elapsed_ns, uint64_t ops, uint64_t lost)
{
	(void)elapsed_ns;
	progress_update(context, 0, 0, ops, lost);
}

static int record_run(const void *values)
{
	const struct record_arguments *arguments = values;
	char **command = memory_alloc(arguments->command.count + 1, sizeof(*command));
	struct record_options record_options;
	struct record_summary summary = {0};
	struct progress progress;
	struct error error = {0};
	int code = 0;

	if (!options_make(arguments, &record_options, &error)) {
		code = command_fail(&error);
		goto out;
	}
	for (size_t i = 0; i < arguments->command.count; i++)
		command[i] = (char *)arguments->command.at[i];
	if (arguments->command.count)
		record_options.command = command;
	/* A command has the terminal to itself. */
	if (!record_options.command) {
		progress_begin(&progress, "recording");
		record_options.progress = progress.wanted ? on_progress : NULL;
		record_options.progress_context = &progress;
	}
	record_options.interrupted = interrupt_begin();
	if (!record(&record_options, &summary, &error))
		code = command_fail(&error);
	if (!record_options.command)
		progress_end(&progress);
	if (code == 0 && arguments->json)
		report_json_print(stdout, recorded_json(record_options.trace, &summary));
	else if (code == 0)
		recorded_print(record_options.trace, &summary);
	/* Ctrl-C is how most recordings end: what was recorded is whole. */
	interrupt_forget();
out:
	record_summary_deinit(&summary);
	stream_map_destroy(record_options.streams);
	memory_free(command);
	return code;
}

static const char *const usage[] = {
	"record [-o TRACE] [--stream REGEX=NAME]... [--json] -- COMMAND...",
	"record [-o TRACE] (--pid PID | --cgroup DIR | --all) [--duration TIME] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"record -o build.rft -- make -j4", "all that a build does to files, till it ends"},
	{"record -o db.rft --pid $(pgrep -o postgres) --duration 5min --stream '/pg_wal/=wal'",
	 "a database that runs already, with all its processes, for five minutes"},
	{"record -o web.rft --cgroup /sys/fs/cgroup/system.slice/nginx.service",
	 "a service, till Ctrl-C"},
	{"record -o all.rft --all --duration 1min", "the whole machine"},
	{0},
};

const struct command command_record = {
	.usage = usage,
	.description =
		"Watch processes through the kernel's tracepoints (BPF; as root), and write what "
		"they do to files as a native trace, which `replay`, `sweep` and the others take: "
		"reads and writes with their offsets, mapped pages that fault, opens, look-ups and "
		"failed ones, directories read, advice, syncs, renames and the rest.\n\n"
		"It ends when the command, or the process, ends, after --duration, or with Ctrl-C. "
		"Streams are named by program and directory (postgres:pg_wal), or by --stream.\n\n"
		"What was lost is counted, and so is how much of what the kernel brought into the "
		"page cache belongs to something that was recorded: the coverage. docs/record.md "
		"tells what can be seen, and what not.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct record_arguments),
	.operands_offset = FIELD(command),
	.operand = "COMMAND",
	.operands_min = 0,
	.operands_max = 65536,
	.operand_complete = COMPLETE_FILE,
	.run = record_run,
};
