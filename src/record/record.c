#include "record/record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "op/carried.h"
#include "op/consistent.h"
#include "op/path.h"
#include "op/source.h"
#include "op/trace.h"
#include "record/memory_group.h"
#include "record/mount_table.h"
#include "record/queue.h"
#include "record/target.h"
#include "record/tracer.h"

enum {
	BATCH = 1024,
	LISTEN_MS = 100,        /* the ring is looked at so often at least */
	WINDOW_NS = 50000000,   /* a call may take so long without coming late */
	QUEUE_MAX = 262144,     /* events that wait for their turn; 100 bytes each and more */
	ENDING_NS = 2000000000, /* what a command has after a Ctrl-C */
	PROGRAMS_MAX = 8,
};

struct recording {
	const struct record_options *options;
	struct record_summary *summary;
	struct mount_table *mounts;
	struct path_table *paths;
	struct tracer *tracer;
	struct translator *translator;
	struct queue queue;
	struct memory_group memory; /* id 0: none is watched */
	struct target_command command;

	struct trace_writer *spool;
	struct op_source source; /* as the writer wants it: the paths alone */
	struct op batch[BATCH];
	size_t batched;
	bool failed; /* the disk: `error` says so */
	struct error *error;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* ---- from events to the spool ---- */

static void spool_flush(struct recording *recording)
{
	if (!recording->failed && recording->batched)
		recording->failed =
			!trace_write(recording->spool, &recording->source, recording->batch,
				     recording->batched, recording->error);
	recording->batched = 0;
}

static void on_op(void *context, const struct op *op)
{
	struct recording *recording = context;

	recording->batch[recording->batched++] = *op;
	recording->summary->ops++;
	if (recording->batched == BATCH)
		spool_flush(recording);
}

static void on_event(void *context, const struct record_event *event)
{
	struct recording *recording = context;

	queue_put(&recording->queue, event);
}

static void drain(struct recording *recording, uint64_t until_ns)
{
	struct record_event *event;

	while ((event = queue_take(&recording->queue, until_ns))) {
		translate(recording->translator, event);
		memory_free(event);
	}
}

static bool listen_once(struct recording *recording, int timeout_ms)
{
	if (!tracer_listen(recording->tracer, timeout_ms, on_event, recording, recording->error))
		return false;
	mount_table_refresh(recording->mounts);
	drain(recording, now_ns());
	return !recording->failed;
}

/* ---- from the start to the end ---- */

static bool is_over(struct recording *recording, uint64_t start_ns)
{
	const struct record_options *options = recording->options;
	int status;

	if (options->duration_ns && now_ns() - start_ns >= options->duration_ns)
		return true;
	if (options->interrupted && *options->interrupted)
		return true;
	if (recording->command.pid &&
	    waitpid(recording->command.pid, &status, WNOHANG) == recording->command.pid) {
		recording->summary->command_status = status;
		recording->command.pid = 0;
		return true;
	}
	if (options->pid)
		return !target_is_alive(options->pid);
	return options->cgroup && access(options->cgroup, F_OK) != 0;
}

/* Not beyond the end. */
static int listen_ms(const struct record_options *options, uint64_t elapsed_ns)
{
	uint64_t left_ns =
		options->duration_ns > elapsed_ns ? options->duration_ns - elapsed_ns : 0;

	if (options->duration_ns && left_ns < LISTEN_MS * NS_PER_MS)
		return (int)(left_ns / NS_PER_MS) + 1;
	return LISTEN_MS;
}

/* That the command ends is to be noticed at once: any signal ends the waiting. */
static void on_child(int number)
{
	(void)number;
}

static bool listen_till_over(struct recording *recording)
{
	const struct sigaction wake = {.sa_handler = on_child};
	const struct record_options *options = recording->options;
	struct record_counters counters;
	uint64_t start_ns = now_ns(), shown_ns = start_ns, skipped;
	struct sigaction before;
	bool done = true;

	sigaction(SIGCHLD, &wake, &before);
	while (done && !is_over(recording, start_ns)) {
		done = listen_once(recording, listen_ms(options, now_ns() - start_ns));
		if (!options->progress || now_ns() - shown_ns < NS_PER_SECOND / 4)
			continue;
		shown_ns = now_ns();
		if (tracer_counters(recording->tracer, &counters, &skipped, recording->error))
			options->progress(options->progress_context, shown_ns - start_ns,
					  recording->summary->ops, counters.events_lost);
	}
	sigaction(SIGCHLD, &before, NULL);
	recording->summary->elapsed_ns = now_ns() - start_ns;
	return done;
}

/* Interrupted, or out of time: the command is asked to end, and then made to. */
static void command_end(struct recording *recording)
{
	struct target_command *command = &recording->command;
	uint64_t start_ns = now_ns();
	int status;

	if (!command->pid)
		return;
	kill(command->pid, SIGTERM);
	while (now_ns() - start_ns < ENDING_NS) {
		if (waitpid(command->pid, &status, WNOHANG) == command->pid) {
			recording->summary->command_status = status;
			command->pid = 0;
			return;
		}
		usleep(10000);
	}
	target_stop(command);
}

/* The root cgroup counts nothing, and what is in others is not told apart from here. */
static void memory_found(struct recording *recording)
{
	if (recording->memory.level > 0)
		tracer_watch_memory(recording->tracer, &recording->memory);
	else
		recording->memory.id = 0;
}

static void memory_watch(struct recording *recording, pid_t process)
{
	if (memory_group_of_process(&recording->memory, process))
		memory_found(recording);
}

static bool targets_add(struct recording *recording)
{
	const struct record_options *options = recording->options;
	struct error ignored;

	if (options->pid) {
		memory_watch(recording, options->pid);
		return target_add_tree(recording->tracer, options->pid, recording->error);
	}
	if (options->cgroup && memory_group_open(&recording->memory, options->cgroup, &ignored))
		memory_found(recording);
	if (!options->command)
		return true;
	if (!target_start(&recording->command, recording->tracer, options->command,
			  options->directory, recording->error))
		return false;
	if (options->prepare &&
	    !options->prepare(options->context, recording->command.pid, recording->error))
		return false;
	memory_watch(recording, recording->command.pid);
	return target_go(&recording->command, options->command[0], recording->error);
}

/* The spool keeps streams by their numbers: what they are called is known in the end. */
static bool spool_head_write(struct recording *recording)
{
	char *names[STREAM_COUNT_MAX + 1];
	const struct trace_head head = {.stream_names = names,
					.stream_count = STREAM_COUNT_MAX + 1};

	for (size_t i = 0; i <= STREAM_COUNT_MAX; i++)
		names[i] = "?";
	return trace_writer_head(recording->spool, &head, recording->error);
}

static bool open_all(struct recording *recording)
{
	const struct record_options *options = recording->options;
	const struct tracer_options tracer = {
		.scope = options->is_all   ? RECORD_SCOPE_ALL
			 : options->cgroup ? RECORD_SCOPE_CGROUP
					   : RECORD_SCOPE_PROCESSES,
		.cgroup = options->cgroup,
		.ring_bytes = options->ring_bytes ? options->ring_bytes : RECORD_RING_BYTES,
	};
	struct translate_options translate_options = {
		.streams = options->streams,
		.device = options->device,
		.root = options->root,
		.deliver = on_op,
		.context = recording,
	};

	recording->spool = trace_writer_create(options->trace, recording->error);
	if (!recording->spool)
		return false;
	if (!spool_head_write(recording))
		return false;
	recording->mounts = mount_table_open(recording->error);
	if (!recording->mounts)
		return false;
	recording->tracer = tracer_open(&tracer, recording->error);
	if (!recording->tracer)
		return false;
	recording->paths = recording->source.paths = path_table_create();
	recording->queue.window_ns = WINDOW_NS;
	recording->queue.count_max = QUEUE_MAX;
	translate_options.paths = recording->paths;
	translate_options.mounts = recording->mounts;
	translate_options.start_ns = now_ns();
	translate_options.tells_of_sums = tracer_has(recording->tracer, "memcg_flush_stats");
	translate_options.tells_of_exec = tracer_has(recording->tracer, "mm_filemap_get_pages");
	recording->translator = translator_create(&translate_options);
	return true;
}

static void close_all(struct recording *recording)
{
	target_stop(&recording->command);
	tracer_close(recording->tracer);
	translator_destroy(recording->translator);
	queue_deinit(&recording->queue);
	mount_table_close(recording->mounts);
	trace_writer_abandon(recording->spool);
	path_table_destroy(recording->paths);
}

/* What it has come to, while all of it is still there. */
static bool summarise(struct recording *recording)
{
	struct record_summary *summary = recording->summary;
	size_t count = translator_program_count(recording->translator);

	if (!tracer_counters(recording->tracer, &summary->counters, &summary->skipped,
			     recording->error))
		return false;
	translator_counts(recording->translator, &summary->translated);
	calls_counts(translator_calls(recording->translator), &summary->calls);
	snprintf(summary->missing, sizeof(summary->missing), "%s",
		 tracer_missing(recording->tracer));
	summary->programs = memory_alloc(count + 1, sizeof(*summary->programs));
	summary->names = memory_alloc(count + 1, RECORD_COMMAND_BYTES + 1);
	for (size_t i = 0; i < count; i++) {
		char *name = summary->names + i * (RECORD_COMMAND_BYTES + 1);
		struct translate_program program;
		size_t at = i;

		translator_program(recording->translator, i, &program);
		snprintf(name, RECORD_COMMAND_BYTES + 1, "%s", program.command);
		program.command = name;
		/* The busiest first; of equals, the one seen first. */
		for (; at > 0 && summary->programs[at - 1].ops < program.ops; at--)
			summary->programs[at] = summary->programs[at - 1];
		summary->programs[at] = program;
	}
	summary->program_count = count;
	return true;
}

/* ---- the trace ---- */

static void fact_count(struct fact_text *facts, const char *key, uint64_t count)
{
	fact_add(facts, key, "%" PRIu64, count);
}

static void facts_about_target(struct fact_text *facts, const struct record_options *options)
{
	char text[900] = "";
	size_t used = 0;

	if (options->is_all) {
		fact_add(facts, "recorded", "all");
	} else if (options->cgroup) {
		fact_add(facts, "recorded", "cgroup");
		fact_add(facts, "cgroup", "%s", options->cgroup);
	} else if (options->pid) {
		fact_add(facts, "recorded", "process");
		fact_add(facts, "process", "%d", (int)options->pid);
	} else {
		for (size_t i = 0; options->command[i] && used < sizeof(text); i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 i ? " " : "", options->command[i]);
		fact_add(facts, "recorded", "command");
		fact_add(facts, "command", "%s", text);
	}
}

static void facts_make(struct fact_text *facts, const struct recording *recording)
{
	const struct record_summary *summary = recording->summary;
	const struct record_counters *counters = &summary->counters;
	struct utsname name;

	facts_about_target(facts, recording->options);
	if (uname(&name) == 0) {
		fact_add(facts, "kernel", "%s", name.release);
		fact_add(facts, "machine", "%s", name.machine);
	}
	fact_count(facts, "memory_bytes",
		   (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
	if (recording->options->device)
		fact_add(facts, "filesystem", "%s",
			 mount_table_filesystem(recording->mounts, recording->options->device));
	if (recording->memory.id) {
		fact_add(facts, "memory_cgroup", "%s", recording->memory.path);
		if (recording->memory.limit_bytes < UINT64_C(1) << 60)
			fact_count(facts, "memory_limit_bytes", recording->memory.limit_bytes);
	}
	fact_count(facts, "elapsed_ns", summary->elapsed_ns);
	fact_count(facts, "processes", summary->translated.processes);
	fact_count(facts, "threads", summary->translated.threads);
	fact_count(facts, "events", counters->events);
	fact_count(facts, "events_lost", counters->events_lost);
	fact_count(facts, "events_skipped", summary->skipped);
	fact_count(facts, "calls_unseen", counters->calls_unseen);
	fact_count(facts, "calls_of_32_bit", counters->calls_foreign);
	fact_count(facts, "paths_unread", counters->texts_unread);
	fact_count(facts, "paths_unknown", summary->translated.names_unknown);
	fact_count(facts, "inserted_pages", record_inserted_pages(counters));
	fact_count(facts, "inserted_pages_by_calls", counters->pages_by_call);
	fact_count(facts, "inserted_pages_by_faults", counters->pages_by_fault);
	fact_count(facts, "inserted_pages_by_exec", counters->pages_by_exec);
	fact_count(facts, "inserted_pages_lost", counters->pages_lost);
	fact_count(facts, "inserted_pages_unexplained", counters->pages_by_other);
	fact_count(facts, "inserted_metadata_pages", counters->pages_metadata);
	fact_count(facts, "read_bytes", counters->read_bytes);
	fact_count(facts, "cached_pages_at_start", summary->translated.cached_pages);
	fact_count(facts, "cached_files_at_start", summary->translated.files_cached);
	fact_add(facts, "tracepoints_missing", "%s", summary->missing);
}

/* What goes into the trace: nothing that a machine would refuse. */
struct output {
	struct recording *recording;
	struct trace_writer *writer;
	struct consistent *consistent;
};

static bool output_write(struct output *output, struct op *ops, size_t count)
{
	struct recording *recording = output->recording;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (consistent_take(output->consistent, &ops[i]))
			ops[kept++] = ops[i];
		else
			recording->summary->left_out++;
	}
	return kept == 0 ||
	       trace_write(output->writer, &recording->source, ops, kept, recording->error);
}

struct existing {
	struct output *output;
	bool failed;
	ARRAY(struct op) later; /* directories and links: made when all files are there */
};

static void existing_write(struct existing *existing, struct op *op)
{
	if (!existing->failed)
		existing->failed = !output_write(existing->output, op, 1);
	existing->output->recording->summary->existing++;
}

static void on_existing(void *context, const struct calls_existing *found)
{
	struct existing *existing = context;
	struct op op = {.kind = OP_EXISTS, .path = found->path, .bytes = found->bytes};

	if (found->is_link)
		*array_push(&existing->later) = (struct op){
			.kind = OP_LINK, .path = found->link_of, .path_to = found->path};
	else if (found->is_directory)
		*array_push(&existing->later) = (struct op){.kind = OP_MKDIR, .path = found->path};
	else
		existing_write(existing, &op);
}

static bool existing_write_all(struct output *output)
{
	struct existing existing = {.output = output};

	calls_existing(translator_calls(output->recording->translator), on_existing, &existing);
	for (size_t i = 0; i < existing.later.count; i++)
		existing_write(&existing, &existing.later.at[i]);
	array_deinit(&existing.later);
	return !existing.failed;
}

static bool copy_spool(struct output *output, int spool_fd)
{
	struct recording *recording = output->recording;
	const struct trace_options options = {.own_streams = true};
	struct op *ops = memory_alloc(BATCH, sizeof(*ops));
	ARRAY(uint32_t) ids = {0}; /* ours, by the spool's */
	struct op_source *source;
	char name[32];
	size_t got = 0;
	bool fine;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", spool_fd);
	source = trace_open(name, &options, recording->error);
	fine = source != NULL;
	while (fine && (fine = op_source_next(source, ops, BATCH, &got, recording->error)) &&
	       got > 0) {
		while (ids.count < path_count(source->paths)) {
			uint32_t id = (uint32_t)ids.count;

			*array_push(&ids) =
				path_intern(recording->paths, path_text(source->paths, id),
					    path_bytes(source->paths, id));
		}
		for (size_t i = 0; i < got; i++) {
			ops[i].path = ids.at[ops[i].path];
			if (op_kind_has_two_paths(ops[i].kind))
				ops[i].path_to = ids.at[ops[i].path_to];
		}
		fine = output_write(output, ops, got);
	}
	op_source_destroy(source);
	array_deinit(&ids);
	memory_free(ops);
	return fine;
}

static bool trace_write_all(struct recording *recording, int spool_fd, bool has_ops)
{
	struct stream_map *streams = recording->options->streams;
	struct fact_text facts = {0}, late = {0};
	struct trace_head head = {
		.stream_names = stream_map_names(streams),
		.stream_count = stream_map_count(streams),
	};
	struct output output = {.recording = recording};
	struct stat status;
	bool fine;

	output.writer = trace_writer_create(recording->options->trace, recording->error);
	if (!output.writer)
		return false;
	facts_make(&facts, recording);
	head.facts = fact_text(&facts);
	output.consistent = consistent_create(recording->paths);
	fine = trace_writer_head(output.writer, &head, recording->error) &&
	       existing_write_all(&output) && (!has_ops || copy_spool(&output, spool_fd));
	consistent_destroy(output.consistent);
	fact_count(&late, "ops_left_out", recording->summary->left_out);
	fine = fine && trace_writer_tail(output.writer, fact_text(&late), recording->error);
	fact_text_deinit(&facts);
	fact_text_deinit(&late);
	if (!fine) {
		trace_writer_abandon(output.writer);
		return false;
	}
	if (!trace_writer_close(output.writer, recording->error))
		return false;
	if (stat(recording->options->trace, &status) == 0)
		recording->summary->trace_bytes = (uint64_t)status.st_size;
	return true;
}

static bool finish(struct recording *recording)
{
	struct record_summary *summary = recording->summary;
	int spool_fd;
	bool done;

	tracer_stop(recording->tracer);
	if (!listen_once(recording, 0))
		return false;
	drain(recording, UINT64_MAX);
	spool_flush(recording);
	if (recording->failed || !summarise(recording))
		return false;
	spool_fd = trace_writer_close_nameless(recording->spool, recording->error);
	recording->spool = NULL;
	if (spool_fd < 0)
		return false;
	done = trace_write_all(recording, spool_fd, summary->ops > 0);
	close(spool_fd);
	return done;
}

bool record(const struct record_options *options, struct record_summary *summary,
	    struct error *error)
{
	struct recording *recording = memory_alloc(1, sizeof(*recording));
	bool done;

	assert((options->command != NULL) + (options->pid != 0) + (options->cgroup != NULL) +
		       options->is_all ==
	       1);
	*summary = (struct record_summary){.command_status = -1};
	recording->options = options;
	recording->summary = summary;
	recording->error = error;
	recording->command = (struct target_command){.go_fd = -1, .failed_fd = -1};
	done = open_all(recording) && targets_add(recording) && listen_till_over(recording);
	if (done) {
		command_end(recording);
		done = finish(recording);
	}
	close_all(recording);
	memory_free(recording);
	return done;
}

void record_summary_deinit(struct record_summary *summary)
{
	memory_free(summary->programs);
	memory_free(summary->names);
	*summary = (struct record_summary){0};
}

uint64_t record_explained_pages(const struct record_counters *counters)
{
	return counters->pages_by_call + counters->pages_by_fault + counters->pages_by_exec;
}

uint64_t record_inserted_pages(const struct record_counters *counters)
{
	return record_explained_pages(counters) + counters->pages_lost + counters->pages_by_other;
}
