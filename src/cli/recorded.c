#include "cli/recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "base/size.h"
#include "report/name.h"

void recorded_print_coverage(const struct record_summary *summary)
{
	const struct record_counters *counters = &summary->counters;
	uint64_t inserted = record_inserted_pages(counters),
		 explained = record_explained_pages(counters);
	char all[2 * SIZE_TEXT_BYTES], part[5][SHARE_TEXT_BYTES];

	if (inserted == 0) {
		puts("  coverage      nothing was brought into the page cache meanwhile");
		return;
	}
	printf("  coverage      %s of the %s pages that came into the page cache belong to what "
	       "was "
	       "recorded\n",
	       share_format(part[0], explained, inserted), count_format(all, inserted));
	printf("                (calls %s, faults on mapped files %s, starting programs %s; lost "
	       "%s, "
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

void recorded_print_unseen(const struct record_summary *summary)
{
	const struct record_counters *counters = &summary->counters;

	print_missed(counters->events_lost,
		     "events that did not fit the buffer (--buffer SIZE makes it larger)");
	print_missed(summary->skipped, "events in the middle of another one");
	print_missed(counters->tasks_lost, "times, a new process, for want of memory");
	print_missed(counters->calls_unseen,
		     "operations by io_submit, or of io_uring's rarer kinds");
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
		printf("  cached        %s of %s files were in memory before they were used; in "
		       "the "
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

void recorded_print(const char *trace, const struct record_summary *summary)
{
	char ops[2 * SIZE_TEXT_BYTES], size[SIZE_TEXT_BYTES], time[SIZE_TEXT_BYTES],
		files[2 * SIZE_TEXT_BYTES];

	printf("%s   %s ops   %s", trace, count_format(ops, summary->ops),
	       size_format(size, summary->trace_bytes));
	if (summary->ops)
		printf("   %.2f bytes an op", (double)summary->trace_bytes / (double)summary->ops);
	printf("   %s\n\n", time_format(time, summary->elapsed_ns));
	print_programs(summary);
	printf("\n  files         %s that were there before\n",
	       count_format(files, summary->existing));
	printf("  kernel        read %s from devices for these processes\n",
	       size_format(size, summary->counters.read_bytes));
	recorded_print_coverage(summary);
	print_cached(summary);
	recorded_print_unseen(summary);
	printf("\nNext: refault replay %s --cgroup-limit 256MiB\n", trace);
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
	json_object_set_new(
		json, "explained_ratio",
		inserted ? json_real((double)record_explained_pages(counters) / (double)inserted)
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

		json_array_append_new(programs,
				      json_pack("{s:s, s:I, s:I, s:I}", "program", name, "ops",
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

json_t *recorded_json(const char *trace, const struct record_summary *summary)
{
	json_t *json = json_object();
	char *name = name_utf8(trace);
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
	return json;
}
