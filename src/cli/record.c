/*
 * refault record: watch what processes do to files, and write it as a trace
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "record/record.h"
#include "report/name.h"
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
	{"pid", 0, "PID", "record this process, all its threads, and what they start", OPTION_NUMBER,
	 FIELD(pid), COMPLETE_NONE},
	{"cgroup", 0, "DIR",
	 "record what is in this cgroup, or comes into it: a directory below /sys/fs/cgroup, of "
	 "version 2, or of version 1's memory controller",
	 OPTION_TEXT, FIELD(cgroup), COMPLETE_FILE},
	{"all", 0, NULL, "record the whole machine, but for refault itself", OPTION_FLAG, FIELD(all),
	 COMPLETE_NONE},
	{"duration", 0, "TIME", "stop after so long, as in 30s or 5min", OPTION_TEXT,
	 FIELD(duration), COMPLETE_NONE},
	{"stream", 0, "REGEX=NAME",
	 "paths that match are the stream NAME; may be repeated, the first match counts; all others "
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
	if (arguments->pid.given &&
	    (arguments->pid.value == 0 || arguments->pid.value > INT32_MAX))
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

/* ---- what it came to ---- */

static void print_coverage(const struct record_summary *summary)
{
	const struct record_counters *counters = &summary->counters;
	uint64_t inserted = record_inserted_pages(counters),
		 explained = record_explained_pages(counters);
	char all[2 * SIZE_TEXT_BYTES], part[5][SHARE_TEXT_BYTES];

	if (inserted == 0) {
		puts("  coverage      nothing was brought into the page cache meanwhile");
		return;
	}
	printf("  coverage      %s of the %s pages that came into the page cache belong to what was "
	       "recorded\n",
	       share_format(part[0], explained, inserted), count_format(all, inserted));
	printf("                (calls %s, faults on mapped files %s, starting programs %s; lost %s, "
	       "unexplained %s)\n",
	       share_format(part[0], counters->pages_by_call, inserted),
	       share_format(part[1], counters->pages_by_fault, inserted),
	       share_format(part[2], counters->pages_by_exec, inserted),
	       share_format(part[3], counters->pages_lost, inserted),
	       share_format(part[4], counters->pages_by_other, inserted));
}

/* A line for what is not in the trace, if it is any. */
static void print_missed(uint64_t count, const char *what)
{
	char text[2 * SIZE_TEXT_BYTES];

	if (count)
		printf("  not recorded  %s %s\n", count_format(text, count), what);
}

static void print_unseen(const struct record_summary *summary)
{
	const struct record_counters *counters = &summary->counters;

	print_missed(counters->events_lost,
		     "events that did not fit the buffer (--buffer SIZE makes it larger)");
	print_missed(summary->skipped, "events in the middle of another one");
	print_missed(counters->tasks_lost, "times, a new process, for want of memory");
	print_missed(counters->calls_unseen, "operations by io_submit, or of io_uring's rarer kinds");
	print_missed(counters->calls_foreign, "calls of 32-bit programs");
	print_missed(counters->texts_unread + summary->translated.names_unknown,
		     "names that could not be read or placed");
	print_missed(summary->calls.unseen[CALLS_UNSEEN_CLONE_RANGE],
		     "ranges that share another file's blocks: written as allocated");
	print_missed(summary->calls.unseen[CALLS_UNSEEN_HOLE], "holes punched or ranges zeroed");
	if (summary->missing[0])
		printf("  not recorded  what this kernel has no tracepoints for: %s\n",
		       summary->missing);
	if (summary->translated.faults)
		puts("  not recorded  mapped pages that are used again: only a page's first use "
		     "faults");
}

static void print_cached(const struct record_summary *summary)
{
	char size[SIZE_TEXT_BYTES], files[2 * SIZE_TEXT_BYTES];

	if (summary->translated.cached_pages)
		printf("  cached        %s of %s files were in memory before they were used; in the "
		       "trace they are not\n",
		       size_format(size, bytes_from_pages(summary->translated.cached_pages)),
		       count_format(files, summary->translated.files_cached));
}

static void print_programs(const struct record_summary *summary)
{
	enum { SHOWN = 6 };
	char ops[2 * SIZE_TEXT_BYTES], in[SIZE_TEXT_BYTES], out[SIZE_TEXT_BYTES];
	char name[NAME_TEXT_BYTES];

	for (size_t i = 0; i < summary->program_count && i < SHOWN; i++) {
		const struct translate_program *program = &summary->programs[i];

		if (program->ops)
			printf("  %-12s  %10s ops   read %9s   written %9s\n",
			       name_show(name, program->command, RECORD_COMMAND_BYTES),
			       count_format(ops, program->ops),
			       size_format(in, program->read_bytes),
			       size_format(out, program->written_bytes));
	}
	if (summary->program_count > SHOWN)
		printf("  and %zu more programs\n", summary->program_count - SHOWN);
}

static void print(const struct record_options *record, const struct record_summary *summary)
{
	char ops[2 * SIZE_TEXT_BYTES], size[SIZE_TEXT_BYTES], time[SIZE_TEXT_BYTES],
		files[2 * SIZE_TEXT_BYTES];

	printf("%s   %s ops   %s", record->trace, count_format(ops, summary->ops),
	       size_format(size, summary->trace_bytes));
	if (summary->ops)
		printf("   %.2f bytes an op", (double)summary->trace_bytes / (double)summary->ops);
	printf("   %s\n\n", time_format(time, summary->elapsed_ns));
	print_programs(summary);
	printf("\n  files         %s that were there before\n",
	       count_format(files, summary->existing));
	printf("  kernel        read %s from devices for these processes\n",
	       size_format(size, summary->counters.read_bytes));
	print_coverage(summary);
	print_cached(summary);
	print_unseen(summary);
	printf("\nNext: refault replay %s --cgroup-limit 256MiB\n", record->trace);
}

static json_t *counted(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static json_t *coverage_json(const struct record_counters *counters)
{
	uint64_t inserted = record_inserted_pages(counters);
	json_t *json = json_object();

	json_object_set_new(json, "inserted_pages", counted(inserted));
	json_object_set_new(json, "explained_ratio",
			    inserted ? json_real((double)record_explained_pages(counters) /
						 (double)inserted)
				     : json_null());
	json_object_set_new(json, "by_calls_pages", counted(counters->pages_by_call));
	json_object_set_new(json, "by_faults_pages", counted(counters->pages_by_fault));
	json_object_set_new(json, "by_exec_pages", counted(counters->pages_by_exec));
	json_object_set_new(json, "lost_pages", counted(counters->pages_lost));
	json_object_set_new(json, "unexplained_pages", counted(counters->pages_by_other));
	json_object_set_new(json, "metadata_pages", counted(counters->pages_metadata));
	return json;
}

static json_t *programs_json(const struct record_summary *summary)
{
	json_t *programs = json_array();

	for (size_t i = 0; i < summary->program_count; i++) {
		const struct translate_program *program = &summary->programs[i];
		char *name = name_utf8(program->command);

		json_array_append_new(
			programs,
			json_pack("{s:s, s:I, s:I, s:I}", "program",
				  name, "ops",
				  (json_int_t)program->ops, "read_bytes",
				  (json_int_t)program->read_bytes, "written_bytes",
				  (json_int_t)program->written_bytes));
		memory_free(name);
	}
	return programs;
}

static json_t *not_recorded_json(const struct record_summary *summary)
{
	const struct record_counters *counters = &summary->counters;
	json_t *json = json_object();

	json_object_set_new(json, "events_lost", counted(counters->events_lost));
	json_object_set_new(json, "events_skipped", counted(summary->skipped));
	json_object_set_new(json, "processes_lost", counted(counters->tasks_lost));
	json_object_set_new(json, "calls_unseen", counted(counters->calls_unseen));
	json_object_set_new(json, "calls_of_32_bit", counted(counters->calls_foreign));
	json_object_set_new(json, "names_unknown",
			    counted(counters->texts_unread + summary->translated.names_unknown));
	json_object_set_new(json, "clone_ranges",
			    counted(summary->calls.unseen[CALLS_UNSEEN_CLONE_RANGE]));
	json_object_set_new(json, "holes", counted(summary->calls.unseen[CALLS_UNSEEN_HOLE]));
	json_object_set_new(json, "tracepoints_missing", json_string(summary->missing));
	/* Only faults are seen: how often a mapped page is used nobody knows. */
	json_object_set_new(json, "mapped_hits", json_null());
	return json;
}

static void print_json(const struct record_options *record, const struct record_summary *summary)
{
	json_t *json = json_object();
	char *name = name_utf8(record->trace);
	int status = summary->command_status;

	json_object_set_new(json, "trace", json_string(name));
	memory_free(name);
	json_object_set_new(json, "trace_bytes", counted(summary->trace_bytes));
	json_object_set_new(json, "elapsed_ns", counted(summary->elapsed_ns));
	json_object_set_new(json, "ops", counted(summary->ops));
	json_object_set_new(json, "existing", counted(summary->existing));
	json_object_set_new(json, "processes", counted(summary->translated.processes));
	json_object_set_new(json, "threads", counted(summary->translated.threads));
	json_object_set_new(json, "events", counted(summary->counters.events));
	json_object_set_new(json, "faults", counted(summary->translated.faults));
	json_object_set_new(json, "read_bytes", counted(summary->counters.read_bytes));
	json_object_set_new(json, "cached_pages_at_start",
			    counted(summary->translated.cached_pages));
	json_object_set_new(json, "command_exit_code",
			    status >= 0 && WIFEXITED(status) ? json_integer(WEXITSTATUS(status))
							     : json_null());
	json_object_set_new(json, "coverage", coverage_json(&summary->counters));
	json_object_set_new(json, "not_recorded", not_recorded_json(summary));
	json_object_set_new(json, "programs", programs_json(summary));
	report_json_print(stdout, json);
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
		print_json(&record_options, &summary);
	else if (code == 0)
		print(&record_options, &summary);
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
