/*
 * refault replay: a trace under one policy, or under several side by side
 */
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/keep.h"
#include "cli/on_kernel.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "cli/trace_input.h"
#include "machine/model/device.h"
#include "machine/model/model.h"
#include "op/trace.h"
#include "report/report.h"
#include "report/trace_summary.h"
#include "source/digest.h"

struct replay_arguments {
	struct text_list traces;
	struct given memory, cgroup_limit, readahead, pinned, pages, seed, device_size, processors,
		recordsize;
	struct text_list policies, streams;
	const char *filesystem, *device, *stream_rule, *key, *machine;
	bool json, bare;
	struct trace_input_arguments trace;
	struct on_kernel_arguments kernel;
	struct keep_arguments keep;
};

#define FIELD(name) offsetof(struct replay_arguments, name)

extern const struct command command_replay;

static const struct option options[] = {
	{"memory", 0, "SIZE", "memory of the whole machine", OPTION_SIZE, FIELD(memory),
	 COMPLETE_NONE},
	{"cgroup-limit", 0, "SIZE",
	 "limit of a memory cgroup that holds the workload; memory is reclaimed at the limit",
	 OPTION_SIZE, FIELD(cgroup_limit), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...",
	 "the rules that decide (`refault list policies`); the newest kernel's two lists when not "
	 "given; several are "
	 "shown side by side",
	 OPTION_TEXTS, FIELD(policies), COMPLETE_POLICY},
	{"filesystem", 0, "NAME",
	 "ext4 (when not given), xfs, btrfs, zfs, or flat, which has no metadata (`refault list "
	 "filesystems`)",
	 OPTION_TEXT, FIELD(filesystem), COMPLETE_FILESYSTEM},
	{"readahead", 0, "SIZE",
	 "the device's readahead window, read_ahead_kb; 128KiB when not given", OPTION_SIZE,
	 FIELD(readahead), COMPLETE_NONE},
	{"pinned", 0, "SIZE",
	 "memory that is not cache: processes, shared_buffers; taken from the memory", OPTION_SIZE,
	 FIELD(pinned), COMPLETE_NONE},
	{"device", 0, "NAME",
	 "a device, or a profile's file (`refault list devices`): then everything takes time, on "
	 "one "
	 "clock, and the result tells it. When not given, the trace's own time stamps are the "
	 "clock",
	 OPTION_TEXT, FIELD(device), COMPLETE_DEVICE},
	{"device-size", 0, "SIZE", "how large it is; 512GiB when not given", OPTION_SIZE,
	 FIELD(device_size), COMPLETE_NONE},
	{"processors", 0, "N", "with a device: how many threads compute at once; 4 when not given",
	 OPTION_NUMBER, FIELD(processors), COMPLETE_NONE},
	{"recordsize", 0, "SIZE", "of zfs; 128KiB when not given", OPTION_SIZE, FIELD(recordsize),
	 COMPLETE_NONE},
	{"streams", 0, "class|path|thread",
	 "who counts as one: paths that begin alike (when not given, and the trace does not say "
	 "itself), each path, or each thread",
	 OPTION_TEXT, FIELD(stream_rule), COMPLETE_WORDS},
	{"stream", 0, "REGEX=NAME",
	 "paths that match are the stream NAME; may be repeated, the first match counts",
	 OPTION_TEXTS, FIELD(streams), COMPLETE_NONE},
	TRACE_INPUT_OPTIONS(replay_arguments, trace),
	{"seed", 0, "N", "seed of whatever is drawn by lot; 1 when not given", OPTION_NUMBER,
	 FIELD(seed), COMPLETE_NONE},
	{"on", 0, "model|kernel",
	 "the machine: `model` (when not given) predicts, `kernel` has the kernel under it do it "
	 "in a memory cgroup, as root",
	 OPTION_TEXT, FIELD(machine), COMPLETE_WORDS},
	ON_KERNEL_OPTIONS(replay_arguments, kernel),
	KEEP_OPTIONS(replay_arguments, keep),
	{"json", 0, NULL, "print JSON; several policies give {\"runs\": [...]}", OPTION_FLAG,
	 FIELD(json), COMPLETE_NONE},
	{"bare", 0, NULL, "the plain cache: one look-up a page and nothing else; needs --pages",
	 OPTION_FLAG, FIELD(bare), COMPLETE_NONE},
	{"pages", 0, "N", "size of the plain cache", OPTION_NUMBER, FIELD(pages), COMPLETE_NONE},
	{"key", 0, "page4k|lbn",
	 "what the plain cache looks up: each 4 KiB page of a request's range (when not given), or "
	 "one thing a request, "
	 "named by its start",
	 OPTION_TEXT, FIELD(key), COMPLETE_WORDS},
	{0},
};

/* The arguments, checked and turned into things. */
struct plan {
	const struct replay_arguments *arguments;
	const char *trace;
	struct model_options model; /* all but policy, streams and progress */
	struct policy_options *policies;
	size_t policy_count;
	enum bare_key key;
	enum stream_rule rule;
	bool on_kernel;
	struct kernel_options kernel; /* all but streams and progress */
	struct guest_kernel guest;
	struct device_profile *device; /* NULL: none */
	struct arena arena;
};

/*
 * The plain cache takes --pages and --key; everything else about a machine would be ignored, so it
 * is refused.
 */
static bool bare_check(struct plan *plan, struct error *error)
{
	static const char *const keys[] = {"page4k", "lbn", NULL};
	const struct replay_arguments *arguments = plan->arguments;
	const char *extra = arguments->memory.given         ? "--memory"
			    : arguments->cgroup_limit.given ? "--cgroup-limit"
			    : arguments->readahead.given    ? "--readahead"
			    : arguments->pinned.given       ? "--pinned"
			    : arguments->filesystem         ? "--filesystem"
			    : arguments->device             ? "--device"
							    : NULL;
	size_t key = 0;

	if (extra)
		return error_input(
			error, "--bare is a plain cache and has no %s: say its size with --pages N",
			extra);
	if (!arguments->pages.given)
		return error_input(error, "--bare needs the size of the cache: --pages N");
	if (arguments->pages.value == 0)
		return error_input(error, "--pages 0: a cache has at least 1 page");
	if (arguments->key && !subject_word(&key, arguments->key, keys, "key", error))
		return false;
	plan->key = key ? BARE_KEY_LBN : BARE_KEY_PAGE4K;
	return true;
}

static bool machine_check(struct plan *plan, struct error *error)
{
	const struct replay_arguments *arguments = plan->arguments;
	const struct subject_machine machine = {
		.command = "replay",
		.input = plan->trace,
		.memory = arguments->memory,
		.cgroup_limit = arguments->cgroup_limit,
		.readahead = arguments->readahead,
		.pinned = arguments->pinned,
		.seed = arguments->seed,
		.device_size = arguments->device_size,
		.processors = arguments->processors,
		.recordsize = arguments->recordsize,
		.filesystem = arguments->filesystem,
		.device = arguments->device,
	};

	if (arguments->pages.given || arguments->key)
		return error_input(error, "%s is for the plain cache: add --bare",
				   arguments->pages.given ? "--pages" : "--key");
	return subject_machine_apply(&machine, &plan->model, &plan->device, error);
}

/* What the kernel decides itself is refused, so that nobody believes that it was heeded. */
static bool kernel_check(struct plan *plan, struct error *error)
{
	const struct replay_arguments *arguments = plan->arguments;
	const char *extra = arguments->policies.count ? "--policy"
			    : arguments->device       ? "--device"
						      : NULL;

	if (arguments->bare)
		return error_input(error, "--bare is a plain cache, which no kernel is: leave out "
					  "--on kernel");
	if (extra)
		return error_input(error,
				   "%s: on the kernel, that is what the kernel has; `refault "
				   "validate` holds a policy against it",
				   extra);
	if (arguments->memory.given)
		return error_input(error, "on the kernel the workload runs in a memory cgroup: "
					  "--cgroup-limit SIZE instead of --memory");
	if (arguments->kernel.directory && (arguments->filesystem || arguments->readahead.given))
		return error_input(error,
				   "--directory uses the file system that is there: no %s with it",
				   arguments->filesystem ? "--filesystem" : "--readahead");
	if (arguments->kernel.guest && strcmp(plan->trace, "-") == 0)
		return error_input(error,
				   "a guest needs the trace as a file, not as standard input");
	return on_kernel_apply(&arguments->kernel, &plan->model, &plan->kernel, error) &&
	       on_kernel_guest(&arguments->kernel, &plan->guest, &plan->arena, error);
}

/* --on, and what belongs to it. */
static bool machine_choose(struct plan *plan, struct error *error)
{
	static const char *const machines[] = {"model", "kernel", NULL};
	const char *extra = on_kernel_given(&plan->arguments->kernel);
	size_t machine = 0;

	if (plan->arguments->machine &&
	    !subject_word(&machine, plan->arguments->machine, machines, "machine", error))
		return false;
	plan->on_kernel = machine == 1;
	if (plan->on_kernel)
		return kernel_check(plan, error);
	return !extra ||
	       error_input(error, "%s is for a run on the kernel: add --on kernel", extra);
}

static bool policies_parse(struct plan *plan, struct error *error)
{
	const struct text_list *texts = &plan->arguments->policies;
	size_t count = texts->count ? texts->count : 1;

	plan->policies = memory_alloc(count, sizeof(plan->policies[0]));
	for (size_t i = 0; i < count; i++) {
		if (!policy_options_parse(&plan->policies[i], texts->count ? texts->at[i] : "",
					  error))
			return false;
	}
	plan->policy_count = count;
	return true;
}

/* A trace that does not exist is none of our business: opening it says so. */
static bool trace_can_be_read_again(const char *trace, struct error *error)
{
	bool is_standard = strcmp(trace, "-") == 0;
	struct stat status;

	if (!is_standard && (stat(trace, &status) != 0 || S_ISREG(status.st_mode) ||
			     S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)))
		return true;
	return error_input(error, "%s can be read once only: give one --policy, or a file",
			   is_standard ? "standard input" : trace);
}

static bool plan_make(struct plan *plan, const struct replay_arguments *arguments,
		      struct error *error)
{
	*plan = (struct plan){.arguments = arguments, .trace = arguments->traces.at[0]};
	plan->model.seed = arguments->seed.given ? arguments->seed.value : 1;
	if (!(arguments->bare ? bare_check(plan, error) : machine_check(plan, error)))
		return false;
	if (!subject_stream_rule(&plan->rule, arguments->stream_rule, error))
		return false;
	if (!policies_parse(plan, error) || !machine_choose(plan, error))
		return false;
	return plan->policy_count == 1 || trace_can_be_read_again(plan->trace, error);
}

static struct stream_map *streams_make(const struct plan *plan, struct error *error)
{
	return subject_streams(plan->rule, &plan->arguments->streams, error);
}

/* What the trace turned out to be. */
struct reading {
	bool is_open; /* it was recognised, so that what is wrong is wrong in a row */
	bool is_cut_off;
	uint64_t skipped;
	json_t *notes; /* what its reader has to say; NULL: nothing yet */
};

/* All that is known of a trace once it was read; the same whichever run read it. */
static void reading_note(struct reading *reading, const struct op_source *source)
{
	reading->skipped = trace_skipped(source);
	reading->is_cut_off = trace_is_cut_off(source);
	if (!reading->notes) {
		reading->notes = trace_notes_json(source);
		trace_input_warn(source);
	}
}

static bool asks_for_streams(const struct replay_arguments *arguments)
{
	return arguments->streams.count || arguments->stream_rule;
}

static struct op_source *source_open(const struct plan *plan, struct progress *progress,
				     struct error *error)
{
	struct trace_options how = trace_input_options(&plan->arguments->trace);

	how.own_streams = !plan->on_kernel && !asks_for_streams(plan->arguments);
	how.is_bare = plan->arguments->bare;
	how.progress = progress ? progress_reading : NULL;
	how.progress_context = progress;
	if (how.is_bare)
		return trace_open(plan->trace, &how, error);
	return trace_input_open(plan->trace, &how, "replay it with --bare --pages N", error);
}

/* A trace that is read once for each run on the kernel. */
struct rereading {
	const struct plan *plan;
	struct reading *reading;
};

static struct op_source *reread_open(void *context, struct error *error)
{
	struct rereading *rereading = context;
	struct op_source *source = source_open(rereading->plan, NULL, error);

	rereading->reading->is_open = source != NULL;
	return source;
}

static void reread_close(void *context, struct op_source *source)
{
	struct rereading *rereading = context;

	reading_note(rereading->reading, source);
	op_source_destroy(source);
}

static bool replay_on_kernel(const struct plan *plan, struct result *result,
			     struct reading *reading, struct error *error)
{
	struct rereading rereading = {plan, reading};
	struct kernel_options kernel = plan->kernel;
	const struct kernel_source source = {
		.open = reread_open,
		.close = reread_close,
		.is_once = !trace_can_be_read_again(plan->trace, error),
		.context = &rereading,
	};
	struct progress progress;
	bool done;

	reading->is_open = false;
	kernel.streams = streams_make(plan, error);
	if (!kernel.streams)
		return false;
	on_kernel_begin(&kernel, &progress, "running");
	done = kernel_run(&kernel, &source, result, error);
	on_kernel_end(&progress);
	stream_map_destroy(kernel.streams);
	return done;
}

/* The same command there, as far as it is about the trace. */
static bool replay_in_guest(const struct plan *plan, struct result *result, struct error *error)
{
	static const char *const told[] = {"on",           "guest",      "statistics", "runs",
					   "cgroup-limit", "filesystem", "readahead",  "pinned",
					   "seed",         "json",       "image-size", "db",
					   "no-store",     NULL};
	struct arena arena = {0};
	struct text_list repeated = command_repeat(&command_replay, plan->arguments, told, &arena);
	const char **words = memory_alloc(repeated.count + 1, sizeof(*words));
	const struct guest_machine machine = {.kernel = plan->guest,
					      .subcommand = "replay",
					      .input = plan->trace,
					      .name = plan->trace,
					      .words = words};
	bool done;

	for (size_t i = 0; i < repeated.count; i++)
		words[i] = repeated.at[i];
	done = guest_machine_run(&machine, &plan->kernel, result, error);
	memory_free(words);
	arena_deinit(&arena);
	return done;
}

/* One policy over the whole trace. */
static bool replay_one(const struct plan *plan, const struct policy_options *policy,
		       struct result *result, struct reading *reading, struct error *error)
{
	struct model_options model = plan->model;
	struct progress progress;
	struct op_source *source;
	bool done;

	reading->is_open = false;
	model.policy = *policy;
	model.streams = streams_make(plan, error);
	if (!model.streams)
		return false;
	progress_begin(&progress, "replaying");
	source = source_open(plan, &progress, error);
	if (!source) {
		stream_map_destroy(model.streams);
		return false;
	}
	reading->is_open = true;
	if (source->stream_names) {
		stream_map_destroy(model.streams);
		model.streams = NULL; /* it names them itself */
	}
	model.progress = progress.wanted ? progress_update : NULL;
	model.progress_context = &progress;
	if (plan->arguments->bare)
		done = model_bare_run(&model, plan->arguments->pages.value, plan->key, source,
				      result, error);
	else
		done = model_run(&model, source, result, error);
	progress_end(&progress);
	if (done)
		reading_note(reading, source);
	else
		reading->is_cut_off = trace_is_cut_off(source);
	op_source_destroy(source);
	stream_map_destroy(model.streams);
	return done;
}

static json_t *answer_json(const struct result *results, size_t count,
			   const struct report_options *report)
{
	json_t *runs;

	if (count == 1)
		return report_json(&results[0], report);
	runs = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(runs, report_json(&results[i], report));
	return json_pack("{s:o}", "runs", runs);
}

static void answer_text(FILE *out, const struct result *results, size_t count,
			const struct report_options *report)
{
	if (count == 1)
		report_text(out, &results[0], report);
	else
		report_side_by_side(out, results, count, report);
}

static void keep_all(struct keep *keep, const struct plan *plan, const struct result *results,
		     const struct report_options *report)
{
	/* The result tells these. */
	static const char *const told[] = {
		"memory", "cgroup-limit", "policy", "filesystem", "readahead",    "seed", "on",
		"guest",  "runs",         "images", "image-size", "block-device", NULL};
	char digest[DIGEST_BYTES], *text = NULL;
	bool is_known;
	size_t bytes;
	FILE *out;

	if (plan->arguments->keep.no_store)
		return;
	is_known = digest_file(digest, plan->trace);
	keep_command(keep, "replay", &command_replay, plan->arguments, told);
	for (size_t i = 0; i < plan->policy_count; i++)
		keep_run(keep, &results[i], report,
			 plan->policy_count > 1 ? plan->arguments->policies.at[i] : NULL,
			 is_known ? digest : NULL);
	out = plan->policy_count > 1 ? open_memstream(&text, &bytes) : NULL;
	if (!out)
		return;
	answer_text(out, results, plan->policy_count, report);
	fclose(out);
	keep_answer(keep, text, answer_json(results, plan->policy_count, report), true);
}

static void answer(struct keep *keep, const struct plan *plan, const struct result *results,
		   const struct reading *reading)
{
	/* The result tells these itself, or they are what the next command changes. */
	static const char *const told[] = {"memory",    "cgroup-limit", "policy",   "filesystem",
					   "readahead", "db",           "no-store", NULL};
	/* Of a run on the kernel, the next command is to validate: it takes these not. */
	static const char *const not_validated[] = {
		"cgroup-limit", "filesystem", "readahead", "pinned", "on",       "streams",
		"format",       "columns",    "lenient",   "db",     "no-store", NULL};
	struct arena arena = {0};
	struct text_list words = command_repeat(&command_replay, plan->arguments,
						plan->on_kernel ? not_validated : told, &arena);
	struct report_options report = {
		.words = words.at,
		.word_count = words.count,
		.skipped_rows = reading->skipped,
		.is_cut_off = reading->is_cut_off,
		.input_notes = reading->notes,
		.is_trace = true,
		.bare_pages = plan->arguments->bare ? plan->arguments->pages.value : 0,
	};

	keep_all(keep, plan, results, &report);
	keep_store(keep);
	report.colour = command_may_colour(stdout);
	if (plan->arguments->json)
		report_json_print(stdout, answer_json(results, plan->policy_count, &report));
	else
		answer_text(stdout, results, plan->policy_count, &report);
	arena_deinit(&arena);
}

/*
 * A row that cannot be read can be left out, and so can what is missing of a trace that was cut
 * off. A header, an option, a file that is no trace, or an op that makes no sense (the model says
 * that, and has no row to show) cannot.
 */
static int fail(const struct plan *plan, const struct reading *reading, struct error *error)
{
	bool is_row = error->line && error->excerpt[0];
	bool may_help =
		reading->is_open && error->kind == ERROR_INPUT && !plan->arguments->trace.lenient;
	int code;

	trace_excerpt(plan->trace, error);
	code = command_fail(error);
	if (may_help && is_row)
		fputs("Nothing was run. `--lenient` skips such rows and counts them.\n", stderr);
	else if (may_help && reading->is_cut_off)
		fputs("Nothing was run. `--lenient` takes what there is.\n", stderr);
	return code;
}

static int replay(const void *values)
{
	const struct replay_arguments *arguments = values;
	struct result *results = NULL;
	struct plan plan;
	struct keep keep;
	struct reading reading = {0};
	struct error error;
	size_t done = 0;
	int code = 0;

	if (!keep_begin(&keep, &arguments->keep, &error))
		return command_fail(&error);
	if (!plan_make(&plan, arguments, &error)) {
		code = command_fail(&error);
		goto out;
	}
	results = memory_alloc(plan.policy_count, sizeof(*results));
	if (!plan.on_kernel)
		plan.model.interrupted = interrupt_begin();
	for (; done < plan.policy_count; done++) {
		if (plan.guest.image ? replay_in_guest(&plan, &results[done], &error)
		    : plan.on_kernel ? replay_on_kernel(&plan, &results[done], &reading, &error)
				     : replay_one(&plan, &plan.policies[done], &results[done],
						  &reading, &error))
			continue;
		code = fail(&plan, &reading, &error);
		goto out;
	}
	answer(&keep, &plan, results, &reading);
out:
	keep_end(&keep);
	for (size_t i = 0; i < done; i++)
		result_deinit(&results[i]);
	json_decref(reading.notes);
	memory_free(results);
	memory_free(plan.policies);
	device_profile_free(plan.device);
	arena_deinit(&plan.arena);
	if (plan.model.interrupted)
		interrupt_end();
	return code;
}

static const char *const usage[] = {
	"replay TRACE (--memory SIZE | --cgroup-limit SIZE) [--policy NAME[,KEY=VALUE]...]... "
	"[--json]",
	"replay TRACE --on kernel --cgroup-limit SIZE [--filesystem NAME] [--statistics "
	"fresh|lazy] "
	"[--json]",
	"replay TRACE --bare --pages N [--policy NAME]... [--key page4k|lbn] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"replay wal.csv --cgroup-limit 256MiB",
	 "what a 256 MiB cgroup on the newest kernel keeps, forgets and reads again"},
	{"replay wal.csv --cgroup-limit 256MiB --policy linux-4.5 --policy "
	 "linux-4.5,activate_on_write=never",
	 "the kernel's own rules beside the same kernel with one of them changed"},
	{"replay db.csv.zst --memory 16GiB --pinned 4GiB --filesystem xfs --stream '^pg_wal/=wal' "
	 "--json",
	 "a whole machine, 4 GiB of which the database keeps to itself; JSON for programs"},
	{"replay wal.csv --cgroup-limit 256MiB --on kernel --filesystem xfs",
	 "what the kernel of this machine does with it, for real (as root)"},
	{"replay wal.csv --cgroup-limit 256MiB --on kernel --guest /boot/vmlinuz-6.12.9,mglru=off",
	 "what that kernel does with it, in a machine of its own"},
	{"replay block.bin --bare --pages 65536 --policy lru",
	 "misses of a plain LRU cache of 65,536 pages"},
	{0},
};

const struct command command_replay = {
	.usage = usage,
	.description =
		"Carry out the file operations of a trace on a model of the Linux page, dentry and "
		"inode caches, and say what "
		"was read, what was read again after it had been evicted, and whose pages pushed "
		"it out.\n\n"
		"The trace may be the native format, the op CSV "
		"(time_ns,thread,op,path,offset,bytes) or a foreign format "
		"(`refault list formats`), plain or compressed with zstd, gzip or xz; - is "
		"standard input. With several "
		"--policy the trace is replayed under each, and they are shown side by side.\n\n"
		"With --on kernel the operations are system calls: a process makes them as fast as "
		"they go, in a memory cgroup, on a file system made for the run, whose caches are "
		"cold; the counters are the kernel's. Nothing of it is left afterwards. With "
		"--guest another kernel "
		"is booted for it, in QEMU, which needs no root.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct replay_arguments),
	.operands_offset = FIELD(traces),
	.operand = "TRACE",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = replay,
};
