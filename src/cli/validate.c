/*
 * refault validate: the model beside the kernel
 */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/keep.h"
#include "cli/on_kernel.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "cli/trace_input.h"
#include "cli/validate_command.h"
#include "machine/kernel/scratch.h"
#include "op/trace.h"
#include "report/report.h"
#include "report/validation.h"
#include "source/digest.h"
#include "source/player.h"
#include "source/scenario.h"
#include "source/shipped.h"
#include "study/validate.h"

struct validate_arguments {
	struct text_list inputs, sets, streams, filesystems;
	struct given cgroup_limit, readahead, pinned, seed;
	const char *policy, *tolerance, *setup, *output;
	bool json;
	struct trace_input_arguments trace;
	struct on_kernel_arguments kernel;
	struct keep_arguments keep;
};

#define FIELD(name) offsetof(struct validate_arguments, name)

extern const struct command command_validate;

static const struct option options[] = {
	{"cgroup-limit", 0, "SIZE",
	 "limit of the memory cgroup; a trace needs it, a scenario has its own", OPTION_SIZE,
	 FIELD(cgroup_limit), COMPLETE_NONE},
	{"filesystem", 0, "NAME",
	 "ext4 (when not given, and a scenario says nothing), xfs or btrfs; several are tried one "
	 "after the other",
	 OPTION_TEXTS, FIELD(filesystems), COMPLETE_FILESYSTEM},
	{"readahead", 0, "SIZE", "the device's readahead window; 128KiB when not given",
	 OPTION_SIZE, FIELD(readahead), COMPLETE_NONE},
	{"pinned", 0, "SIZE", "memory that is not cache, taken from the limit", OPTION_SIZE,
	 FIELD(pinned), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...",
	 "what is held against the kernel; when not given, the policy that stands for it",
	 OPTION_TEXT, FIELD(policy), COMPLETE_POLICY},
	{"tolerance", 0, "PERCENT",
	 "how far the worst judged figure may be off, 5 when not given, 10 for a COMMAND; exit 1 "
	 "if "
	 "it is further",
	 OPTION_TEXT, FIELD(tolerance), COMPLETE_NONE},
	{"stream", 0, "REGEX=NAME", "paths of a trace that match are the stream NAME", OPTION_TEXTS,
	 FIELD(streams), COMPLETE_NONE},
	TRACE_INPUT_OPTIONS(validate_arguments, trace),
	{"setup", 0, "COMMAND",
	 "for the shell, before a COMMAND: what it is to find in its directory; neither limited "
	 "nor "
	 "recorded",
	 OPTION_TEXT, FIELD(setup), COMPLETE_NONE},
	{"output", 'o', "TRACE", "keep what was recorded of a COMMAND", OPTION_TEXT, FIELD(output),
	 COMPLETE_FILE},
	{"set", 0, "KEY=VALUE", "change a scenario before it is checked; may be repeated",
	 OPTION_TEXTS, FIELD(sets), COMPLETE_NONE},
	{"seed", 0, "N", "of all that is drawn by lot; the scenario's own, or 1, when not given",
	 OPTION_NUMBER, FIELD(seed), COMPLETE_NONE},
	ON_KERNEL_OPTIONS(validate_arguments, kernel),
	KEEP_OPTIONS(validate_arguments, keep),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

/* ---- inputs ---- */

/* One thing to validate: a trace, or a scenario, on one file system. */
struct input {
	const struct validate_arguments *arguments;
	char *name; /* owned */
	bool is_scenario, has_warned;
	struct scenario scenario;
	struct stream_map *streams;
	struct validate_options options;
	struct arena arena;
	struct guest_machine guest;
	ARRAY(const char *) guest_words;
	char path[PATH_MAX]; /* of the file that the guest gets */
	char filesystem[32]; /* of --directory */
};

static struct op_source *input_source(void *context, struct error *error)
{
	struct input *input = context;
	const struct trace_options how = trace_input_options(&input->arguments->trace);

	if (input->is_scenario)
		return scenario_source_create(&input->scenario, input->options.model.seed, error);
	return trace_input_open(input->name, &how, "there is nothing to do for a kernel", error);
}

static void input_source_close(void *context, struct op_source *source)
{
	struct input *input = context;

	if (!input->is_scenario && !input->has_warned)
		trace_input_warn(source);
	input->has_warned = true;
	op_source_destroy(source);
}

static bool scenario_input(struct input *input, const char *filesystem, struct error *error)
{
	const struct validate_arguments *arguments = input->arguments;
	const struct scenario_machine *machine;
	struct model_options *model = &input->options.model;

	if (trace_input_given(&arguments->trace))
		return error_input(error, "%s is for a trace, which %.100s is not",
				   trace_input_given(&arguments->trace), input->name);
	if (!scenario_load(&input->scenario, input->name, arguments->sets.at, arguments->sets.count,
			   error))
		return false;
	input->is_scenario = true;
	machine = &input->scenario.machine;
	if (!machine->is_cgroup)
		return error_input(error,
				   "%s is about a whole machine; the kernel is held against the "
				   "model in a memory cgroup (--set machine.cgroup_limit=SIZE)",
				   input->name);
	model->memory_bytes = machine->memory_bytes;
	model->pinned_bytes = machine->pinned_bytes;
	model->readahead_bytes = machine->readahead_bytes;
	model->pace = machine->pace;
	model->seed = input->scenario.seed;
	input->options.kernel.clock = KERNEL_CLOCK_SCENARIO;
	return filesystem_choose(&model->filesystem, filesystem ? filesystem : machine->filesystem,
				 error);
}

static bool trace_input(struct input *input, const char *filesystem, struct error *error)
{
	const struct validate_arguments *arguments = input->arguments;

	if (arguments->sets.count)
		return error_input(error, "--set changes a scenario, which %.100s is not",
				   input->name);
	if (!arguments->cgroup_limit.given)
		return error_input(error,
				   "how much memory? --cgroup-limit SIZE, as in: refault validate "
				   "%.80s --cgroup-limit 256MiB",
				   input->name);
	input->options.model.seed = 1;
	input->streams = stream_map_create(STREAM_BY_CLASS);
	for (size_t i = 0; i < arguments->streams.count; i++)
		if (!stream_map_add(input->streams, arguments->streams.at[i], error))
			return false;
	input->options.model.streams = input->options.kernel.streams = input->streams;
	return filesystem_choose(&input->options.model.filesystem, filesystem ? filesystem : "ext4",
				 error);
}

/* In a directory, the model has to take what is there. */
static bool directory_apply(struct input *input, struct error *error)
{
	const struct validate_arguments *arguments = input->arguments;
	struct model_options *model = &input->options.model;

	if (arguments->filesystems.count || arguments->readahead.given)
		return error_input(error,
				   "--directory uses the file system that is there: no %s with it",
				   arguments->readahead.given ? "--readahead" : "--filesystem");
	if (!scratch_directory_look(arguments->kernel.directory, input->filesystem,
				    &model->readahead_bytes, error))
		return false;
	model->filesystem = filesystem_find(input->filesystem);
	if (model->filesystem)
		return true;
	return error_input(error,
			   "--directory %.200s is on %.30s, which the model does not know: it has "
			   "to be on ext4, xfs or btrfs",
			   arguments->kernel.directory, input->filesystem);
}

static void word_add(struct input *input, const char *word)
{
	*array_push(&input->guest_words) = word;
}

static void option_add(struct input *input, const char *option, const char *value)
{
	word_add(input, option);
	word_add(input, value);
}

/* The command for a guest; *release is its kernel's, or stays as it is. */
static bool guest_make(struct input *input, const char **release, struct error *error)
{
	const struct validate_arguments *arguments = input->arguments;
	int image = -1;
	bool opened;

	if (!on_kernel_guest(&arguments->kernel, &input->guest.kernel, &input->arena, error))
		return false;
	if (!input->guest.kernel.image)
		return true;
	input->guest.subcommand = input->is_scenario ? "run" : "replay";
	for (size_t i = 0; input->is_scenario && i < arguments->sets.count; i++)
		option_add(input, "--set", arguments->sets.at[i]);
	for (size_t i = 0; !input->is_scenario && i < arguments->streams.count; i++)
		option_add(input, "--stream", arguments->streams.at[i]);
	if (arguments->trace.format)
		option_add(input, "--format", arguments->trace.format);
	if (arguments->trace.columns)
		option_add(input, "--columns", arguments->trace.columns);
	if (arguments->trace.lenient)
		word_add(input, "--lenient");
	word_add(input, NULL);
	opened =
		guest_kernel_open(&image, release, input->guest.kernel.image, &input->arena, error);
	if (image >= 0)
		close(image);
	return opened;
}

/* "5", "2.5" or "2.5%", in percent. */
static bool tolerance_parse(double *tolerance, const char *text, double when_not_given,
			    struct error *error)
{
	double percent = when_not_given;
	char *end = NULL;

	if (text)
		percent = strtod(text, &end);
	/* Not so for what is no number, either. */
	if (end && (end == text || strcmp(*end == '%' ? end + 1 : end, "") != 0 ||
		    !(percent >= 0 && percent <= 1e6)))
		return error_input(error, "--tolerance \"%.60s\" is no number of percent", text);
	*tolerance = percent / 100;
	return true;
}

/* What was given on the command line goes before a scenario's own. */
static bool input_make(struct input *input, const char *filesystem, struct error *error)
{
	const struct validate_arguments *arguments = input->arguments;
	struct model_options *model = &input->options.model;
	struct kernel_options *kernel = &input->options.kernel;
	const char *release = NULL;
	struct utsname name;
	bool has_mglru;

	model->is_cgroup = true;
	if (!(subject_is_scenario(input->name) ? scenario_input(input, filesystem, error)
					       : trace_input(input, filesystem, error)))
		return false;
	if (arguments->kernel.directory && !directory_apply(input, error))
		return false;
	if (arguments->cgroup_limit.given)
		model->memory_bytes = arguments->cgroup_limit.value;
	if (arguments->readahead.given)
		model->readahead_bytes = arguments->readahead.value;
	if (arguments->pinned.given)
		model->pinned_bytes = arguments->pinned.value;
	if (arguments->seed.given)
		model->seed = arguments->seed.value;
	if (model->readahead_bytes % PAGE_BYTES)
		return error_input(error, "--readahead is in whole pages of 4KiB, at least one");
	if (!on_kernel_apply(&arguments->kernel, model, kernel, error))
		return false;
	if (!tolerance_parse(&input->options.tolerance, arguments->tolerance, 5, error) ||
	    !guest_make(input, &release, error))
		return false;
	if (arguments->policy)
		return policy_options_parse(&model->policy, arguments->policy, error);
	/* A guest's own default is not known before it runs: two lists, in Debian's. */
	has_mglru = input->guest.kernel.image ? input->guest.kernel.mglru == GUEST_MGLRU_ON
					      : kernel_has_mglru();
	if (!release && uname(&name) == 0)
		release = name.release;
	return validate_policy(&model->policy, release, has_mglru, kernel->statistics, error);
}

static void input_free(struct input *input)
{
	if (input->is_scenario)
		scenario_deinit(&input->scenario);
	stream_map_destroy(input->streams);
	array_deinit(&input->guest_words);
	arena_deinit(&input->arena);
	memory_free(input->name);
}

/* ---- all of them ---- */

struct plan {
	const struct validate_arguments *arguments;
	ARRAY(struct input) inputs;
	struct validated *validated;
	size_t done;
};

static void input_add(struct plan *plan, const char *folder, const char *name)
{
	struct input *input = array_push(&plan->inputs);
	size_t bytes = (folder ? strlen(folder) + 1 : 0) + strlen(name) + 1;

	input->arguments = plan->arguments;
	input->name = memory_alloc(bytes, 1);
	snprintf(input->name, bytes, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
}

static bool ends_in(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static int is_input(const struct dirent *entry)
{
	static const char *const ends[] = {".yaml",    ".yml",    ".csv",    ".rft",
					   ".csv.zst", ".csv.gz", ".csv.xz", ".rft.zst"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_in(entry->d_name, ends[i]))
			return 1;
	return 0;
}

/* Of a folder, those that the kernel cannot be held against are passed over: who names one is told. */
static bool is_of_whole_machine(const struct plan *plan, const char *folder, const char *name)
{
	const struct text_list *sets = &plan->arguments->sets;
	char path[PATH_MAX];
	struct scenario scenario;
	struct error error;
	bool is_whole;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!subject_is_scenario(path) ||
	    !scenario_load(&scenario, path, sets->at, sets->count, &error))
		return false;
	is_whole = !scenario.machine.is_cgroup;
	scenario_deinit(&scenario);
	return is_whole;
}

/* All traces and scenarios of a folder, by name. */
static bool folder_add(struct plan *plan, const char *folder, struct error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_input, alphasort);

	if (count < 0)
		return error_system(error, "cannot read %.200s", folder);
	for (int i = 0; i < count; i++) {
		if (is_of_whole_machine(plan, folder, entries[i]->d_name))
			fprintf(stderr, "refault: %s/%s is about a whole machine: left out\n",
				folder, entries[i]->d_name);
		else
			input_add(plan, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return count > 0 ||
	       error_input(error,
			   "%.200s has no traces and no scenarios (.csv, .rft, .yaml; compressed "
			   "ones too)",
			   folder);
}

static bool plan_make(struct plan *plan, struct error *error)
{
	const struct validate_arguments *arguments = plan->arguments;
	size_t rounds = arguments->filesystems.count ? arguments->filesystems.count : 1;

	for (size_t round = 0; round < rounds; round++) {
		const char *filesystem =
			arguments->filesystems.count ? arguments->filesystems.at[round] : NULL;
		size_t first = plan->inputs.count;

		for (size_t i = 0; i < arguments->inputs.count; i++) {
			const char *name = arguments->inputs.at[i];
			struct stat status;

			if (stat(name, &status) != 0 || !S_ISDIR(status.st_mode))
				input_add(plan, NULL, name);
			else if (!folder_add(plan, name, error))
				return false;
		}
		for (size_t i = first; i < plan->inputs.count; i++)
			if (!input_make(&plan->inputs.at[i], filesystem, error))
				return false;
	}
	return true;
}

static bool validate_one(struct plan *plan, size_t index, struct error *error)
{
	struct input *input = &plan->inputs.at[index];
	const struct kernel_source source = {
		.open = input_source, .close = input_source_close, .context = input};
	struct progress progress;
	char what[64];
	bool done;

	snprintf(what, sizeof(what), "%zu of %zu", index + 1, plan->inputs.count);
	if (input->guest.kernel.image) {
		if (!input->is_scenario)
			snprintf(input->path, sizeof(input->path), "%s", input->name);
		else if (!shipped_find(input->path, sizeof(input->path), input->name, error))
			return false;
		input->guest.words = input->guest_words.at;
		input->guest.input = input->path;
		input->guest.name = input->is_scenario ? input->scenario.name : input->name;
		input->options.guest = &input->guest;
	}
	on_kernel_begin(&input->options.kernel, &progress, what);
	done = validate_run(&input->options, &source, &plan->validated[index], error);
	on_kernel_end(&progress);
	if (!done && input->is_scenario && error->line == 0)
		error_context(error, "%s", input->name);
	return done;
}

/* What came to its end; of a side that failed there is nothing to keep. */
static void keep_input(struct keep *keep, const struct input *input,
		       const struct validated *validated)
{
	const struct report_options report = {.input = input->name,
					      .is_trace = !input->is_scenario};
	char digest[DIGEST_BYTES];
	bool is_known = true;

	if (input->is_scenario)
		digest_scenario(digest, &input->scenario);
	else
		is_known = digest_file(digest, input->name);
	if (!validated->predicted_failure[0])
		keep_run(keep, &validated->predicted, &report, NULL, is_known ? digest : NULL);
	if (!validated->measured_failure[0])
		keep_run(keep, &validated->measured, &report, NULL, is_known ? digest : NULL);
}

static void keep_all(struct keep *keep, const struct plan *plan, struct validation_report report)
{
	/* The results tell these, or the scenario's digest. */
	static const char *const told[] = {
		"set",       "cgroup-limit", "filesystem",   "readahead", "policy",
		"tolerance", "seed",         "output",       "guest",     "runs",
		"images",    "image-size",   "block-device", NULL};
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (plan->arguments->keep.no_store)
		return;
	keep_command(keep, "validate", &command_validate, plan->arguments, told);
	for (size_t i = 0; i < plan->done; i++)
		keep_input(keep, &plan->inputs.at[i], &plan->validated[i]);
	out = open_memstream(&text, &bytes);
	if (!out)
		return;
	report.colour = false;
	validation_text(out, &report);
	fclose(out);
	keep_answer(keep, text, validation_json(&report), false);
}

static int answer(struct keep *keep, const struct plan *plan)
{
	struct validation_run *runs = memory_alloc(plan->done, sizeof(*runs));
	const struct validation_report report = {
		.runs = runs,
		.count = plan->done,
		.tolerance = plan->inputs.at[0].options.tolerance,
		.colour = command_may_colour(stdout),
	};
	bool holds;

	for (size_t i = 0; i < plan->done; i++)
		runs[i] = (struct validation_run){
			&plan->validated[i].predicted, &plan->validated[i].measured,
			&plan->validated[i].validation, plan->validated[i].predicted_failure,
			plan->validated[i].measured_failure};
	keep_all(keep, plan, report);
	keep_store(keep);
	if (plan->arguments->json)
		report_json_print(stdout, validation_json(&report));
	else
		validation_text(stdout, &report);
	holds = validation_holds(&report);
	memory_free(runs);
	return holds ? 0 : 1;
}

/* ---- a command ---- */

static bool command_make(const struct validate_arguments *arguments,
			 struct validate_command *command, struct error *error)
{
	struct model_options *model = &command->options.model;
	const char *extra = arguments->sets.count            ? "--set"
			    : arguments->streams.count       ? "--stream"
			    : arguments->pinned.given        ? "--pinned"
			    : arguments->kernel.guest        ? "--guest"
			    : arguments->kernel.directory    ? "--directory"
			    : arguments->kernel.block_device ? "--block-device"
			    : arguments->kernel.statistics   ? "--statistics"
			    : arguments->kernel.runs.given   ? "--runs"
							     : trace_input_given(&arguments->trace);
	struct utsname name;

	if (arguments->inputs.dashed != arguments->inputs.count)
		return error_input(error, "%.80s before the --: a COMMAND is validated alone",
				   arguments->inputs.at[0]);
	if (extra)
		return error_input(error, "%s is not for a COMMAND, which is recorded once", extra);
	if (!arguments->cgroup_limit.given)
		return error_input(error,
				   "how much memory? --cgroup-limit SIZE, as in: refault validate "
				   "--cgroup-limit 256MiB -- make");
	*command = (struct validate_command){
		.words = arguments->inputs.at,
		.word_count = arguments->inputs.count,
		.filesystems = &arguments->filesystems,
		.json = arguments->json,
		.options = {.setup = arguments->setup,
			    .trace = arguments->output,
			    .image_directory = arguments->kernel.images,
			    .image_bytes = arguments->kernel.image_size.value},
	};
	model->memory_bytes = arguments->cgroup_limit.value;
	model->is_cgroup = true;
	model->readahead_bytes = arguments->readahead.value;
	model->seed = arguments->seed.given ? arguments->seed.value : 1;
	if (model->readahead_bytes % PAGE_BYTES)
		return error_input(error, "--readahead is in whole pages of 4KiB, at least one");
	if (!tolerance_parse(&command->tolerance, arguments->tolerance, 10, error))
		return false;
	if (arguments->policy)
		return policy_options_parse(&model->policy, arguments->policy, error);
	/* Nobody sums the statistics of a cgroup in which something merely runs. */
	return validate_policy(&model->policy, uname(&name) == 0 ? name.release : "",
			       kernel_has_mglru(), KERNEL_STATISTICS_LAZY, error);
}

static int validate_recorded(const struct validate_arguments *arguments, struct keep *keep)
{
	/* The results tell these. */
	static const char *const told[] = {"cgroup-limit", "filesystem", "readahead", "policy",
					   "tolerance",    "seed",       "output",    "images",
					   "image-size",   NULL};
	struct validate_command command;
	struct error error;

	if (!command_make(arguments, &command, &error))
		return command_fail(&error);
	keep_command(keep, "validate", &command_validate, arguments, told);
	command.keep = keep;
	return validate_command_run(&command);
}

static int validate(const void *values)
{
	struct plan plan = {.arguments = values};
	struct keep keep;
	struct error error;
	int code = 0;

	if (!keep_begin(&keep, &plan.arguments->keep, &error))
		return command_fail(&error);
	if (plan.arguments->inputs.dashed) {
		code = validate_recorded(plan.arguments, &keep);
		keep_end(&keep);
		return code;
	}
	if (plan.arguments->setup || plan.arguments->output) {
		error_input(&error, "%s is for a COMMAND, behind --",
			    plan.arguments->setup ? "--setup" : "-o");
		return command_fail(&error);
	}
	if (!plan_make(&plan, &error)) {
		code = command_fail(&error);
		goto out;
	}
	plan.validated = memory_alloc(plan.inputs.count, sizeof(*plan.validated));
	for (; plan.done < plan.inputs.count; plan.done++) {
		if (validate_one(&plan, plan.done, &error))
			continue;
		if (!plan.inputs.at[plan.done].is_scenario)
			trace_excerpt(plan.inputs.at[plan.done].name, &error);
		code = command_fail(&error);
		goto out;
	}
	code = answer(&keep, &plan);
out:
	keep_end(&keep);
	for (size_t i = 0; i < plan.done; i++)
		validated_deinit(&plan.validated[i]);
	for (size_t i = 0; i < plan.inputs.count; i++)
		input_free(&plan.inputs.at[i]);
	array_deinit(&plan.inputs);
	memory_free(plan.validated);
	return code;
}

static const char *const usage[] = {
	"validate (TRACE|DIRECTORY)... --cgroup-limit SIZE [--filesystem NAME]... [--format NAME] "
	"[--columns NAME=COLUMN,...] [--json]",
	"validate SCENARIO... [--set KEY=VALUE]... [--json]",
	"validate --cgroup-limit SIZE [--setup COMMAND] [--filesystem NAME]... [-o TRACE] -- "
	"COMMAND...",
	NULL,
};

static const struct example examples[] = {
	{"validate wal.csv --cgroup-limit 256MiB",
	 "what the model says, what this machine's kernel does, and the difference"},
	{"validate cache-pressure-256m --tolerance 15", "a scenario, on its own clock"},
	{"validate traces/ --cgroup-limit 256MiB --filesystem ext4 --filesystem xfs",
	 "every trace of a folder on two file systems, a line each"},
	{"validate wal.csv --cgroup-limit 256MiB --policy linux-6.1",
	 "how far the rules of another kernel would be off here"},
	{"validate --cgroup-limit 40MiB --setup 'cp -r /usr/share/doc .' -- tar cf doc.tar doc",
	 "a command, recorded while it runs in 40 MiB, replayed, and compared"},
	{0},
};

const struct command command_validate = {
	.usage = usage,
	.description =
		"Have the model predict what a trace or a scenario does to the caches, have the "
		"kernel of this machine do it (see `refault replay --on kernel`; needs root), and "
		"show both, counter by counter, at each mark. An error is relative to the kernel's "
		"figure, or to 1.6 % of the memory where that is more. read_bytes, reread_bytes, "
		"refaults and inodes_reallocated are judged; the others are shown to tell why. If "
		"the worst is further off than --tolerance, the counter that departs "
		"first is named, with the operation where it does, and exit is 1.\n\n"
		"A scenario runs on its own clock on both (see `refault run --clock scenario`). "
		"With "
		"--statistics lazy the kernel runs several times, and what lies between its own "
		"extremes is right. DIRECTORY stands for all traces and scenarios in it.\n\n"
		"A COMMAND is recorded (see `refault record`) while it runs in a memory cgroup "
		"with "
		"the limit, in a directory on a file system made for it, whose caches are cold; "
		"--setup puts there what it needs. What the device of that file system was read is "
		"held against what the model reads for the trace.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct validate_arguments),
	.operands_offset = FIELD(inputs),
	.operand = "TRACE, SCENARIO, DIRECTORY or -- COMMAND",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_FILE,
	.run = validate,
};
