/*
 * refault sweep: policies over sizes, on all cores, on a cluster, and going on where it stopped
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/policy_list.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "cli/sweep_answer.h"
#include "op/held.h"
#include "op/page_key.h"
#include "report/drawing.h"
#include "report/report.h"
#include "report/sweep.h"
#include "report/trace_summary.h"
#include "source/digest.h"
#include "store/store.h"
#include "study/key_set.h"
#include "study/ranks.h"
#include "study/sizes.h"
#include "study/sweep.h"
#include "study/trial.h"

enum { JOBS_MAX = 4096, CELLS_MAX = 1000000, SETTINGS_BYTES = 512, PROGRESS_PARTS = 1000 };

struct sweep_arguments {
	struct text_list inputs, memories, cgroup_limits, pages, policies, seeds, sets, varied,
		streams;
	struct given readahead, pinned, device_size, processors, recordsize, jobs, trace_memory;
	const char *filesystem, *device, *stream_rule, *key, *output, *shard;
	bool bare, resume;
	struct trace_input_arguments trace;
	struct keep_arguments keep;
	struct sweep_answer_arguments answer;
};

#define FIELD(name) offsetof(struct sweep_arguments, name)

extern const struct command command_sweep;

static const struct option options[] = {
	{"memory", 0, "SIZES",
	 "memory of the whole machine: sizes as in 4GiB,6GiB or 1GiB..64GiB:x2 or "
	 "4GiB..8GiB:+1GiB; of a "
	 "scenario, instead of its own",
	 OPTION_TEXTS, FIELD(memories), COMPLETE_NONE},
	{"cgroup-limit", 0, "SIZES", "likewise: limit of a memory cgroup that holds the workload",
	 OPTION_TEXTS, FIELD(cgroup_limits), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...[,NAME...]",
	 "the policies, between commas (`refault list policies`); the newest kernel's two lists, "
	 "or the "
	 "scenario's, when not given",
	 OPTION_TEXTS, FIELD(policies), COMPLETE_POLICY},
	{"seed", 0, "N[,N...]",
	 "seeds, or ranges as in 1..5:+1: means over them are shown; 1, or the scenario's, when "
	 "not given",
	 OPTION_TEXTS, FIELD(seeds), COMPLETE_NONE},
	{"bare", 0, NULL, "the plain cache: one look-up a page and nothing else; needs --pages",
	 OPTION_FLAG, FIELD(bare), COMPLETE_NONE},
	{"pages", 0, "NUMBERS", "sizes of the plain cache, as in 1000..1000000:x10", OPTION_TEXTS,
	 FIELD(pages), COMPLETE_NONE},
	{"key", 0, "page4k|lbn",
	 "what the plain cache looks up: each 4 KiB page of a request's range (when not given), or "
	 "one "
	 "thing a request",
	 OPTION_TEXT, FIELD(key), COMPLETE_WORDS},
	{"vary", 0, "KEY=V1,V2...",
	 "of a scenario: a row for each of these values; several --vary give all combinations",
	 OPTION_TEXTS, FIELD(varied), COMPLETE_NONE},
	{"set", 0, "KEY=VALUE", "change a scenario before it is checked; may be repeated",
	 OPTION_TEXTS, FIELD(sets), COMPLETE_NONE},
	{"filesystem", 0, "NAME", "ext4, or the scenario's, when not given", OPTION_TEXT,
	 FIELD(filesystem), COMPLETE_FILESYSTEM},
	{"readahead", 0, "SIZE", "of a trace: the device's readahead window; 128KiB when not given",
	 OPTION_SIZE, FIELD(readahead), COMPLETE_NONE},
	{"pinned", 0, "SIZE", "of a trace: memory that is not cache, taken from the memory",
	 OPTION_SIZE, FIELD(pinned), COMPLETE_NONE},
	{"device", 0, "NAME",
	 "of a trace: keep time, with this device (`refault list devices`); its own time stamps "
	 "when not "
	 "given",
	 OPTION_TEXT, FIELD(device), COMPLETE_DEVICE},
	{"device-size", 0, "SIZE", "how large it is; 512GiB when not given", OPTION_SIZE,
	 FIELD(device_size), COMPLETE_NONE},
	{"processors", 0, "N", "with a device: how many threads compute at once; 4 when not given",
	 OPTION_NUMBER, FIELD(processors), COMPLETE_NONE},
	{"recordsize", 0, "SIZE", "of a trace on zfs; 128KiB when not given", OPTION_SIZE,
	 FIELD(recordsize), COMPLETE_NONE},
	{"streams", 0, "class|path|thread",
	 "who counts as one in a trace: paths that begin alike (when not given, and the trace does "
	 "not "
	 "say itself), each path, or each thread",
	 OPTION_TEXT, FIELD(stream_rule), COMPLETE_WORDS},
	{"stream", 0, "REGEX=NAME",
	 "paths that match are the stream NAME; may be repeated, the first match counts",
	 OPTION_TEXTS, FIELD(streams), COMPLETE_NONE},
	TRACE_INPUT_OPTIONS(sweep_arguments, trace),
	{"jobs", 0, "N",
	 "so many cells at once, in each rank; as many as there are processors when not given. The "
	 "answer "
	 "does not depend on it",
	 OPTION_NUMBER, FIELD(jobs), COMPLETE_NONE},
	{"resume", 0, NULL,
	 "go on where the same sweep was stopped: cells that are done are not done again",
	 OPTION_FLAG, FIELD(resume), COMPLETE_NONE},
	{"output", 'o', "FILE",
	 "write each cell there when it is done, for --resume and `refault merge`; when not given, "
	 "it is a "
	 "file beside the store of runs, until all is done",
	 OPTION_TEXT, FIELD(output), COMPLETE_FILE},
	{"shard", 0, "I/N",
	 "only the I-th of N parts of the cells, for the I-th task of a job array; needs -o",
	 OPTION_TEXT, FIELD(shard), COMPLETE_NONE},
	{"trace-memory", 0, "SIZE",
	 "how much memory the trace may take, which all cells share; half of what is there when "
	 "not given. A "
	 "larger one is read again for each cell",
	 OPTION_SIZE, FIELD(trace_memory), COMPLETE_NONE},
	KEEP_OPTIONS(sweep_arguments, keep),
	SWEEP_ANSWER_OPTIONS(sweep_arguments, answer),
	{0},
};

struct cell {
	const char *policy; /* NULL: not said */
	struct policy_options policy_options;
	uint64_t size; /* 0: not said */
	bool has_seed;
	uint64_t seed;
	const char *const *sets; /* what is varied, `set_count` of them */
	const char *settings;    /* the same as one text; NULL: nothing */
};

/* The arguments, checked and turned into things. */
struct plan {
	const struct sweep_arguments *arguments;
	const char *input;
	bool is_scenario, is_cgroup;
	enum bare_key key;
	enum stream_rule rule;
	ARRAY(struct cell) cells;
	size_t set_count; /* how many keys are varied */
	size_t threads;
	uint64_t shard_index, shard_count; /* from 0; 0 of 1: all */
	struct launcher launcher;
	bool is_launched;
	json_t *question;
	struct text_list words; /* for the commands that results propose */
	struct arena arena;
};

/* ---- the cells ---- */

static bool sizes_read(struct plan *plan, struct sizes *sizes, struct error *error)
{
	const struct sweep_arguments *arguments = plan->arguments;
	const struct text_list *list = arguments->bare   ? &arguments->pages
				       : plan->is_cgroup ? &arguments->cgroup_limits
							 : &arguments->memories;
	const char *option = arguments->bare   ? "--pages"
			     : plan->is_cgroup ? "--cgroup-limit"
					       : "--memory";

	for (size_t i = 0; i < list->count; i++)
		if (!sizes_add(sizes, list->at[i], arguments->bare ? SIZES_NUMBER : SIZES_BYTES,
			       option, error))
			return false;
	if (sizes->count > 0 || plan->is_scenario)
		return true;
	if (arguments->bare)
		return error_input(
			error, "--bare needs sizes of the cache, as in --pages 1000..1000000:x10");
	return error_input(error,
			   "how much memory? --memory SIZES for a whole machine, or --cgroup-limit "
			   "SIZES for a "
			   "memory cgroup, as in: refault sweep %.80s --memory 1GiB..64GiB:x2",
			   plan->input);
}

/* "7", "1,5", "1..9:+2"; a list of sizes with 0 among what it may hold. */
static bool seeds_read(struct plan *plan, struct sizes *seeds, struct error *error)
{
	for (size_t i = 0; i < plan->arguments->seeds.count; i++)
		if (!sizes_add(seeds, plan->arguments->seeds.at[i], SIZES_NUMBER, "--seed", error))
			return false;
	return true;
}

/* KEY=V1,V2: KEY=V1, then KEY=V2. */
static bool vary_split(struct plan *plan, const char *text, const char ***sets, size_t *count,
		       struct error *error)
{
	const char *equals = strchr(text, '='), *value;
	size_t key_bytes = equals ? (size_t)(equals - text) + 1 : 0;

	if (!equals || key_bytes == 1 || !equals[1])
		return error_input(error, "--vary: expected KEY=V1,V2, but \"%.80s\" is given",
				   text);
	*count = 1;
	for (value = equals; *value; value++)
		*count += *value == ',';
	*sets = arena_alloc(&plan->arena, *count * sizeof(**sets));
	value = equals + 1;
	for (size_t i = 0; i < *count; i++) {
		size_t bytes = strcspn(value, ",");
		char *set = arena_alloc(&plan->arena, key_bytes + bytes + 1);

		memcpy(set, text, key_bytes);
		memcpy(set + key_bytes, value, bytes);
		(*sets)[i] = set;
		value += bytes + 1;
	}
	return true;
}

struct variation {
	const char **sets;
	const char *settings; /* NULL: nothing is varied */
};

/* All combinations; the last key's values change first. */
static bool variations_make(struct plan *plan, struct variation **variations, size_t *count,
			    struct error *error)
{
	size_t keys = plan->arguments->varied.count, counts[16];
	const char **values[16];

	if (keys > 16)
		return error_input(error, "--vary may be given 16 times");
	*count = 1;
	for (size_t i = 0; i < keys; i++) {
		if (!vary_split(plan, plan->arguments->varied.at[i], &values[i], &counts[i], error))
			return false;
		*count *= counts[i];
		if (*count > CELLS_MAX)
			return error_input(error, "more than %d cells", CELLS_MAX);
	}
	plan->set_count = keys;
	*variations = arena_alloc(&plan->arena, *count * sizeof(**variations));
	for (size_t v = 0; v < *count; v++) {
		char text[SETTINGS_BYTES] = "";
		size_t rest = v;

		(*variations)[v].sets = arena_alloc(&plan->arena, (keys + 1) * sizeof(char *));
		for (size_t i = keys; i-- > 0; rest /= counts[i])
			(*variations)[v].sets[i] = values[i][rest % counts[i]];
		for (size_t i = 0; i < keys; i++) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
				 (*variations)[v].sets[i]);
		}
		(*variations)[v].settings =
			keys ? arena_text(&plan->arena, text, strlen(text)) : NULL;
	}
	return true;
}

static bool policy_read(const struct plan *plan, struct cell *cell, const char *policy,
			struct error *error)
{
	cell->policy = policy;
	if (!policy)
		return true;
	if (!policy_options_parse(&cell->policy_options, policy, error))
		return false;
	(void)plan;
	return true;
}

static bool cells_make(struct plan *plan, struct error *error)
{
	struct sizes sizes = {0}, seeds = {0};
	struct variation *variations = NULL;
	size_t policy_count, variation_count = 0;
	const char **policies =
		policy_list_split(&plan->arguments->policies, &policy_count, &plan->arena);
	const char *fallback = plan->is_scenario ? NULL : "";
	bool done = false;

	if (!sizes_read(plan, &sizes, error) || !seeds_read(plan, &seeds, error) ||
	    !variations_make(plan, &variations, &variation_count, error))
		goto out;
	if ((double)variation_count * (double)(policy_count + 1) * (double)(sizes.count + 1) *
		    (double)(seeds.count + 1) >
	    CELLS_MAX) {
		error_input(error, "more than %d cells", CELLS_MAX);
		goto out;
	}
	for (size_t v = 0; v < variation_count; v++)
		for (size_t p = 0; p < (policy_count ? policy_count : 1); p++)
			for (size_t n = 0; n < (seeds.count ? seeds.count : 1); n++)
				for (size_t s = 0; s < (sizes.count ? sizes.count : 1); s++) {
					struct cell *cell = array_push(&plan->cells);

					cell->sets = variations[v].sets;
					cell->settings = variations[v].settings;
					cell->size = sizes.count ? sizes.at[s] : 0;
					cell->has_seed = seeds.count > 0;
					cell->seed = seeds.count ? seeds.at[n] : 1;
					if (!policy_read(plan, cell,
							 policy_count ? policies[p] : fallback,
							 error))
						goto out;
				}
	done = true;
out:
	sizes_deinit(&sizes);
	sizes_deinit(&seeds);
	return done;
}

/* ---- checking ---- */

/* What would be ignored is refused. */
static const char *of_machine(const struct sweep_arguments *arguments)
{
	return arguments->readahead.given     ? "--readahead"
	       : arguments->pinned.given      ? "--pinned"
	       : arguments->device            ? "--device"
	       : arguments->device_size.given ? "--device-size"
	       : arguments->processors.given  ? "--processors"
	       : arguments->recordsize.given  ? "--recordsize"
					      : NULL;
}

static bool input_check(const struct plan *plan, struct error *error)
{
	const struct sweep_arguments *arguments = plan->arguments;
	const char *machine = of_machine(arguments);
	const char *of_trace = arguments->stream_rule     ? "--streams"
			       : arguments->streams.count ? "--stream"
			       : arguments->bare          ? "--bare"
							  : trace_input_given(&arguments->trace);

	if (arguments->memories.count && arguments->cgroup_limits.count)
		return error_input(
			error,
			"--memory (a whole machine) and --cgroup-limit (a cgroup in it) are two "
			"different questions: give one");
	if (arguments->bare) {
		if (arguments->memories.count || arguments->cgroup_limits.count || machine ||
		    arguments->filesystem)
			return error_input(
				error,
				"--bare is a plain cache and has no %s: say its sizes with "
				"--pages",
				machine                          ? machine
				: arguments->filesystem          ? "--filesystem"
				: arguments->cgroup_limits.count ? "--cgroup-limit"
								 : "--memory");
	} else if (arguments->pages.count || arguments->key) {
		return error_input(error, "%s is for the plain cache: add --bare",
				   arguments->pages.count ? "--pages" : "--key");
	}
	if (plan->is_scenario && (machine || of_trace))
		return error_input(
			error,
			"%s is for a trace; a scenario says it itself (--set and --vary change "
			"it)",
			machine ? machine : of_trace);
	if (!plan->is_scenario && (arguments->sets.count || arguments->varied.count))
		return error_input(error, "%s changes a scenario, which %.100s is not",
				   arguments->sets.count ? "--set" : "--vary", plan->input);
	return true;
}

static bool shard_read(struct plan *plan, struct error *error)
{
	const char *text = plan->arguments->shard, *slash;
	char first[24];
	uint64_t index;

	plan->shard_count = 1;
	if (!text)
		return true;
	slash = strchr(text, '/');
	if (!slash || (size_t)(slash - text) >= sizeof(first))
		return error_input(
			error, "--shard: expected I/N, as in 2/8, but \"%.60s\" is given", text);
	snprintf(first, sizeof(first), "%.*s", (int)(slash - text), text);
	if (!number_parse(&index, first, "--shard", error) ||
	    !number_parse(&plan->shard_count, slash + 1, "--shard", error))
		return false;
	if (index < 1 || index > plan->shard_count)
		return error_input(error, "--shard %.60s: the parts are 1 to %" PRIu64, text,
				   plan->shard_count);
	if (!plan->arguments->output)
		return error_input(
			error, "--shard is a part of a sweep: -o FILE says where its cells go, for "
			       "`refault merge`");
	plan->shard_index = index - 1;
	return true;
}

/* Processors that this process may use, less those that are for other ranks on this machine. */
static size_t processors(const struct plan *plan)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = online > 0 ? (size_t)online : 1, share = count;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		count = (size_t)CPU_COUNT(&set);
	if (plan->is_launched && plan->launcher.local_size > 1)
		share = (share + plan->launcher.local_size - 1) / plan->launcher.local_size;
	return count < share ? count : share;
}

static struct op_source *trace_source(const struct plan *plan, struct progress *progress,
				      struct error *error)
{
	const struct sweep_arguments *arguments = plan->arguments;
	struct trace_options how = trace_input_options(&arguments->trace);

	how.own_streams = !arguments->streams.count && !arguments->stream_rule;
	how.is_bare = arguments->bare;
	how.progress = progress ? progress_reading : NULL;
	how.progress_context = progress;
	if (how.is_bare)
		return trace_open(plan->input, &how, error);
	return trace_input_open(plan->input, &how, "sweep it with --bare --pages NUMBERS", error);
}

/* ---- a cell's machine ---- */

static bool trial_make(const struct plan *plan, const struct cell *cell, struct trial *trial,
		       struct error *error)
{
	const struct sweep_arguments *arguments = plan->arguments;
	size_t count = 0, sets = arguments->sets.count;
	const char **all = memory_alloc(sets + plan->set_count + 1, sizeof(*all));
	char size[64];
	bool done;

	for (size_t i = 0; i < sets; i++)
		all[count++] = arguments->sets.at[i];
	for (size_t i = 0; i < plan->set_count; i++)
		all[count++] = cell->sets[i];
	if (cell->size) {
		snprintf(size, sizeof(size), "machine.%s=%" PRIu64,
			 plan->is_cgroup ? "cgroup_limit" : "memory", cell->size);
		all[count++] = size;
	}
	done = trial_open(trial, plan->input, all, count, error);
	memory_free(all);
	if (!done)
		return false;
	if (cell->has_seed)
		trial->model.seed = cell->seed;
	if (cell->policy)
		trial->model.policy = cell->policy_options;
	if (!arguments->filesystem ||
	    filesystem_choose(&trial->model.filesystem, arguments->filesystem, error))
		return true;
	trial_close(trial);
	return false;
}

/* Of a trace; streams are made. Free with machine_free(). */
static bool machine_make(const struct plan *plan, const struct cell *cell,
			 struct model_options *model, struct device_profile **device,
			 struct error *error)
{
	const struct sweep_arguments *arguments = plan->arguments;
	const struct given size = {.given = true, .value = cell->size};
	const struct given seed = {.given = true, .value = cell->seed};
	struct subject_machine machine = {
		.command = "sweep",
		.input = plan->input,
		.readahead = arguments->readahead,
		.pinned = arguments->pinned,
		.seed = seed,
		.device_size = arguments->device_size,
		.processors = arguments->processors,
		.recordsize = arguments->recordsize,
		.filesystem = arguments->filesystem,
		.device = arguments->device,
	};

	*model = (struct model_options){.seed = cell->seed};
	*device = NULL;
	*(plan->is_cgroup ? &machine.cgroup_limit : &machine.memory) = size;
	if (!arguments->bare && !subject_machine_apply(&machine, model, device, error))
		return false;
	model->policy = cell->policy_options;
	model->streams = subject_streams(plan->rule, &arguments->streams, error);
	if (model->streams)
		return true;
	device_profile_free(*device);
	return false;
}

static void machine_free(struct model_options *model, struct device_profile *device)
{
	stream_map_destroy(model->streams);
	device_profile_free(device);
}

/* A scenario's memory is a machine's or a cgroup's, and stays so. */
static bool scenario_memory_check(const struct plan *plan, struct error *error)
{
	struct cell cell = plan->cells.at[0];
	struct trial trial;
	bool is_cgroup;

	if (cell.size == 0)
		return true;
	cell.size = 0;
	if (!trial_make(plan, &cell, &trial, error))
		return false;
	is_cgroup = trial.model.is_cgroup;
	trial_close(&trial);
	if (is_cgroup == plan->is_cgroup)
		return true;
	return error_input(error, "%.100s has a %s: say its sizes with %s", plan->input,
			   is_cgroup ? "cgroup_limit" : "machine's memory",
			   is_cgroup ? "--cgroup-limit" : "--memory");
}

/* What is wrong with all cells is said before any is run. */
static bool cells_check(const struct plan *plan, struct error *error)
{
	if (plan->is_scenario && !scenario_memory_check(plan, error))
		return false;
	for (size_t i = 0; i < plan->cells.count; i++) {
		const struct cell *cell = &plan->cells.at[i];
		struct trial trial;
		struct model_options model;
		struct device_profile *device;

		if (plan->is_scenario) {
			/* Sizes and policies are read; what is varied may be anything. */
			if (i > 0 && cell->sets == plan->cells.at[i - 1].sets)
				continue;
			if (!trial_make(plan, cell, &trial, error))
				return false;
			trial_close(&trial);
		} else {
			if (i > 0)
				break;
			if (!machine_make(plan, cell, &model, &device, error))
				return false;
			machine_free(&model, device);
		}
	}
	return true;
}

/* ---- the question ---- */

/* What a scenario is, whatever is varied in it but for the memory; of a trace its bytes. NULL: not known. */
static json_t *digest_json(const struct plan *plan, struct error *error)
{
	char digest[DIGEST_BYTES];
	struct cell cell = plan->cells.at[0];
	struct trial trial;

	if (!plan->is_scenario)
		return digest_file(digest, plan->input) ? json_string(digest) : json_null();
	cell.size = 0;
	if (!trial_make(plan, &cell, &trial, error))
		return NULL;
	digest_scenario(digest, &trial.scenario);
	trial_close(&trial);
	return json_string(digest);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *cells_json(const struct plan *plan)
{
	json_t *cells = json_array();

	for (size_t i = 0; i < plan->cells.count; i++) {
		const struct cell *cell = &plan->cells.at[i];
		char policy[512];
		const char *name = cell->policy;

		/* The default one has a name, too. */
		if (name && !*name)
			name = policy_options_format(policy, sizeof(policy), &cell->policy_options);
		json_array_append_new(
			cells,
			json_pack("{s:o, s:o, s:o, s:o}", "policy", text_or_null(name), "size",
				  cell->size ? json_integer((json_int_t)cell->size) : json_null(),
				  "seed",
				  cell->has_seed ? json_integer((json_int_t)cell->seed)
						 : json_null(),
				  "settings", text_or_null(cell->settings)));
	}
	return cells;
}

static const char *words_joined(struct plan *plan, const struct text_list *words)
{
	char *text = NULL;
	const char *kept;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	for (size_t i = 0; out && i < words->count; i++)
		fprintf(out, "%s%s", i ? " " : "", words->at[i]);
	if (out)
		fclose(out);
	kept = arena_text(&plan->arena, text ? text : "", bytes);
	free(text);
	return kept;
}

static bool question_make(struct plan *plan, struct error *error)
{
	/* The cells tell these, or they say how it is done and shown. */
	static const char *const how[] = {
		"memory", "cgroup-limit", "pages",        "policy",   "seed",   "set",
		"vary",   "metric",       "csv",          "jobs",     "resume", "output",
		"shard",  "db",           "trace-memory", "no-store", NULL};
	static const char *const results_tell[] = {
		"memory",   "cgroup-limit", "pages",     "policy", "seed",
		"set",      "vary",         "metric",    "csv",    "jobs",
		"resume",   "output",       "shard",     "db",     "trace-memory",
		"no-store", "filesystem",   "readahead", NULL};
	struct text_list words = command_repeat(&command_sweep, plan->arguments, how, &plan->arena);
	json_t *digest = digest_json(plan, error), *sets = json_array();
	const char *experiment;

	if (!digest)
		return false;
	plan->words = command_repeat(&command_sweep, plan->arguments, results_tell, &plan->arena);
	experiment = words_joined(plan, &plan->words);
	for (size_t i = 0; i < plan->arguments->sets.count; i++)
		json_array_append_new(sets, json_string(plan->arguments->sets.at[i]));
	plan->question = json_pack("{s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:o}", "input",
				   plan->input, "kind",
				   plan->is_scenario       ? "scenario"
				   : plan->arguments->bare ? "bare"
							   : "trace",
				   "digest", digest, "version", REFAULT_VERSION, "axis",
				   plan->arguments->bare ? "pages"
				   : plan->is_cgroup     ? "cgroup_limit_bytes"
							 : "memory_bytes",
				   "options", words_joined(plan, &words), "experiment", experiment,
				   "sets", sets, "cells", cells_json(plan));
	return plan->question != NULL ||
	       error_input(error, "an argument is not text in UTF-8, which a sweep needs");
}

static bool plan_make(struct plan *plan, const struct sweep_arguments *arguments,
		      struct error *error)
{
	static const char *const keys[] = {"page4k", "lbn", NULL};
	size_t key = 0;

	*plan = (struct plan){.arguments = arguments, .input = arguments->inputs.at[0]};
	plan->is_launched = launcher_find(&plan->launcher);
	plan->is_scenario = subject_is_scenario(plan->input);
	plan->is_cgroup = arguments->cgroup_limits.count > 0;
	if (!input_check(plan, error) || !shard_read(plan, error) ||
	    (arguments->key && !subject_word(&key, arguments->key, keys, "key", error)) ||
	    !subject_stream_rule(&plan->rule, arguments->stream_rule, error) ||
	    !sweep_answer_check(&arguments->answer, error) ||
	    !subject_number(&plan->threads, arguments->jobs, processors(plan), JOBS_MAX, "--jobs",
			    error))
		return false;
	plan->key = key ? BARE_KEY_LBN : BARE_KEY_PAGE4K;
	if (strcmp(plan->input, "-") == 0 &&
	    (plan->is_launched || arguments->resume || arguments->shard))
		return error_input(error, "%s needs the trace as a file, not as standard input",
				   plan->is_launched   ? plan->launcher.name
				   : arguments->resume ? "--resume"
						       : "--shard");
	return cells_make(plan, error) && cells_check(plan, error) && question_make(plan, error);
}

/* ---- running a cell ---- */

/* What threads share. */
struct run {
	const struct plan *plan;
	const volatile int *interrupted;

	pthread_mutex_t mutex;
	bool is_read; /* the trace: held, or not to be */
	struct held *held;
	bool is_counted; /* distinct_pages */
	uint64_t distinct_pages;
	bool is_warned;           /* of what the trace's reader had to say */
	struct error trace_error; /* kind NONE: it could be read */

	/* rank 0 */
	struct sweep_cells cells;
	struct sweep_file *file;
	bool write_failed;
	struct progress progress;
	uint32_t *parts; /* by worker, of its cell: how much is done, of PROGRESS_PARTS */
	size_t left;     /* cells when it began */
	size_t done;
};

static uint64_t trace_bytes_max(const struct plan *plan)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	uint64_t local =
		plan->is_launched && plan->launcher.local_size ? plan->launcher.local_size : 1;

	if (plan->arguments->trace_memory.given)
		return plan->arguments->trace_memory.value ? plan->arguments->trace_memory.value
							   : 1;
	return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 2 / local
					   : GIB;
}

static void warn(struct run *run, const struct op_source *source)
{
	if (!run->is_warned && (!run->plan->is_launched || run->plan->launcher.rank == 0))
		trace_input_warn(source);
	run->is_warned = true;
}

/* Read it once, for all; the mutex is held. What is too large is read by each cell. */
static void trace_read(struct run *run)
{
	struct progress progress;
	struct op_source *source;
	enum held_end end = HELD_FAILED;

	if (run->is_read || run->plan->is_scenario)
		return;
	run->is_read = true;
	progress_begin(&progress, "reading");
	source = trace_source(run->plan, &progress, &run->trace_error);
	if (source) {
		run->held = held_read(source, trace_bytes_max(run->plan), run->interrupted, &end,
				      &run->trace_error);
		if (run->held)
			warn(run, held_trace(run->held));
	}
	progress_end(&progress);
	if (run->held || (source && end != HELD_FAILED))
		run->trace_error.kind = ERROR_NONE;
	if (source && end == HELD_TOO_LARGE && strcmp(run->plan->input, "-") == 0)
		error_input(
			&run->trace_error,
			"standard input can be read once only, and holds more than the memory for "
			"it (--trace-memory)");
}

static struct op_source *cell_source(struct run *run, struct error *error)
{
	return run->held ? held_source(run->held, run->interrupted)
			 : trace_source(run->plan, NULL, error);
}

/* How many different pages a plain cache is asked for: what it cannot but miss. The mutex is held. */
static bool pages_count(struct run *run, struct error *error)
{
	struct op_source *source;
	struct key_set keys = {0};
	struct op ops[1024];
	size_t count;
	bool done = false;

	if (run->is_counted)
		return true;
	source = cell_source(run, error);
	while (source && (done = op_source_next(source, ops, 1024, &count, error)) && count > 0)
		for (size_t i = 0; i < count; i++) {
			uint64_t first = ops[i].offset >> PAGE_SHIFT;
			uint64_t last = (ops[i].offset + ops[i].bytes - 1) >> PAGE_SHIFT;

			if (!op_looks_pages_up(&ops[i]))
				continue;
			if (run->plan->key == BARE_KEY_LBN)
				first = last = ops[i].offset;
			for (uint64_t page = first; page <= last; page++)
				(void)key_set_add(&keys, page_key(ops[i].path, page));
		}
	op_source_destroy(source);
	run->distinct_pages = keys.count;
	run->is_counted = done;
	key_set_deinit(&keys);
	return done;
}

/* Takes the result over. */
static char *outcome_text(struct run *run, const struct cell *cell, struct result *result,
			  const struct op_source *source)
{
	const struct plan *plan = run->plan;
	struct report_options report = {
		.words = plan->words.at,
		.word_count = plan->words.count,
		.is_trace = !plan->is_scenario,
		.bare_pages = plan->arguments->bare ? cell->size : 0,
	};
	json_t *outcome;
	char *text;

	if (source) {
		report.skipped_rows = trace_skipped(source);
		report.is_cut_off = trace_is_cut_off(source);
		report.input_notes = trace_notes_json(source);
	}
	outcome = json_pack("{s:o, s:o}", "result", report_json(result, &report), "drawing",
			    drawing_json(&report));
	if (plan->arguments->bare)
		json_object_set_new(outcome, "distinct_pages",
				    json_integer((json_int_t)run->distinct_pages));
	text = json_dumps(outcome, JSON_COMPACT);
	json_decref(outcome);
	json_decref(report.input_notes);
	result_deinit(result);
	return text;
}

struct cell_progress {
	struct run *run;
	size_t worker;
};

static void cell_progress(void *context, uint64_t done, uint64_t total, uint64_t ops,
			  uint64_t again)
{
	struct cell_progress *progress = context;
	struct run *run = progress->run;
	uint64_t sum = 0;

	(void)ops;
	(void)again;
	if (total == 0 || pthread_mutex_trylock(&run->mutex) != 0)
		return;
	run->parts[progress->worker] = (uint32_t)((unsigned __int128)(done < total ? done : total) *
						  PROGRESS_PARTS / total);
	for (size_t i = 0; i < run->plan->threads; i++)
		sum += run->parts[i];
	progress_reading(&run->progress, run->done * PROGRESS_PARTS + sum,
			 run->left * PROGRESS_PARTS);
	pthread_mutex_unlock(&run->mutex);
}

static bool scenario_run(struct run *run, const struct cell *cell, struct cell_progress *progress,
			 char **outcome, struct error *error)
{
	struct trial trial;
	bool done;

	/* Its reader is another's library. */
	pthread_mutex_lock(&run->mutex);
	done = trial_make(run->plan, cell, &trial, error);
	pthread_mutex_unlock(&run->mutex);
	if (!done)
		return false;
	trial.model.interrupted = run->interrupted;
	trial.model.progress = run->progress.wanted ? cell_progress : NULL;
	trial.model.progress_context = progress;
	done = trial_play(&trial.scenario, &trial.model, &trial.result, &trial.elapsed_ns, error);
	if (done) {
		*outcome = outcome_text(run, cell, &trial.result, NULL);
		trial.result = (struct result){0};
	}
	trial_close(&trial);
	return done;
}

static bool trace_run(struct run *run, const struct cell *cell, struct cell_progress *progress,
		      char **outcome, struct error *error)
{
	const struct plan *plan = run->plan;
	struct model_options model;
	struct device_profile *device;
	struct stream_map *streams;
	struct op_source *source;
	struct result result;
	bool done;

	/* A device's reader is another's library. */
	pthread_mutex_lock(&run->mutex);
	done = machine_make(plan, cell, &model, &device, error);
	pthread_mutex_unlock(&run->mutex);
	if (!done)
		return false;
	source = cell_source(run, error);
	streams = model.streams;
	if (source && source->stream_names)
		model.streams = NULL; /* it names them itself */
	model.interrupted = run->interrupted;
	model.progress = run->progress.wanted ? cell_progress : NULL;
	model.progress_context = progress;
	done = source && (plan->arguments->bare ? model_bare_run(&model, cell->size, plan->key,
								 source, &result, error)
						: model_run(&model, source, &result, error));
	if (done) {
		*outcome = outcome_text(run, cell, &result,
					run->held ? held_trace(run->held) : source);
		pthread_mutex_lock(&run->mutex);
		if (!run->held)
			warn(run, source);
		pthread_mutex_unlock(&run->mutex);
	} else {
		trace_excerpt(plan->input, error);
	}
	op_source_destroy(source);
	model.streams = streams;
	machine_free(&model, device);
	return done;
}

static char *cell_run(void *context, size_t index, size_t worker)
{
	struct run *run = context;
	const struct cell *cell = &run->plan->cells.at[index];
	struct cell_progress progress = {run, worker};
	struct error error = {0};
	char *outcome = NULL;
	bool done = true;

	pthread_mutex_lock(&run->mutex);
	trace_read(run);
	run->parts[worker] = 0;
	if (run->trace_error.kind != ERROR_NONE) {
		error = run->trace_error;
		done = false;
	} else if (run->plan->arguments->bare) {
		done = pages_count(run, &error);
	}
	pthread_mutex_unlock(&run->mutex);
	if (done)
		done = run->plan->is_scenario ? scenario_run(run, cell, &progress, &outcome, &error)
					      : trace_run(run, cell, &progress, &outcome, &error);
	/* What there was by then is not what was asked for. */
	if (*run->interrupted) {
		free(outcome);
		return NULL;
	}
	return done ? outcome : sweep_failure(&error);
}

/* What is wrong with the trace is wrong with all cells, and none of them is kept. */
static bool trace_prepare(void *context, struct error *error)
{
	struct run *run = context;

	pthread_mutex_lock(&run->mutex);
	trace_read(run);
	*error = run->trace_error;
	pthread_mutex_unlock(&run->mutex);
	if (error->kind == ERROR_NONE)
		progress_begin(&run->progress, "sweeping");
	return error->kind == ERROR_NONE;
}

static void cell_finished(void *context, size_t cell, const char *outcome, unsigned int by)
{
	struct run *run = context;
	struct error error;

	(void)by;
	if (!sweep_cells_add(&run->cells, cell, outcome))
		return;
	pthread_mutex_lock(&run->mutex);
	run->done++;
	pthread_mutex_unlock(&run->mutex);
	if (run->file && !run->write_failed && !sweep_file_add(run->file, cell, outcome, &error)) {
		fprintf(stderr, "refault: warning: cells are not kept any more: %s\n",
			error.message);
		run->write_failed = true;
	}
}

static void cell_lost(void *context, size_t cell, unsigned int rank)
{
	struct run *run = context;
	char text[SWEEP_CELL_TEXT_BYTES];

	fprintf(stderr, "refault: warning: rank %u is lost; another does %s\n", rank,
		sweep_cell_text(text, run->plan->question, cell));
}

/* ---- where the cells are kept ---- */

/* The folders of a path that are not there. */
static bool folders_make(const char *path, struct error *error)
{
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) != 0 && errno != EEXIST && access(folder, F_OK) != 0)
			return error_system(error, "cannot make %.200s", folder);
		*slash = '/';
	}
	return true;
}

/* -o's, or one that the question alone names, beside the store. */
static bool state_path(const struct plan *plan, char *path, size_t bytes, struct error *error)
{
	char store[4096], *slash;

	if (plan->arguments->output)
		return (size_t)snprintf(path, bytes, "%s", plan->arguments->output) < bytes ||
		       error_input(error, "-o: the path is too long");
	if (!store_default_path(store, sizeof(store) - 64, error))
		return false;
	slash = strrchr(store, '/');
	snprintf(path, bytes, "%.*s/sweeps/%016" PRIx64 ".sweep", (int)(slash - store), store,
		 sweep_question_hash(plan->question));
	return folders_make(path, error);
}

static bool file_open(struct run *run, struct error *error)
{
	const struct plan *plan = run->plan;
	const struct sweep_arguments *arguments = plan->arguments;
	bool is_asked = arguments->output || arguments->resume;
	char path[4096 + 64];

	if (!is_asked && (arguments->keep.no_store || strcmp(plan->input, "-") == 0))
		return true;
	if (state_path(plan, path, sizeof(path), error))
		run->file = sweep_file_open(path, arguments->resume, &run->cells, error);
	if (run->file || is_asked)
		return run->file != NULL;
	fprintf(stderr, "refault: warning: if this is stopped, it cannot go on: %s\n",
		error->message);
	return true;
}

/* All is done: -o's is put in order, the other one has done its duty. */
static bool file_finish(struct run *run, bool is_whole, struct error *error)
{
	char path[4096 + 64];
	bool done = true;

	if (!run->file)
		return true;
	if (is_whole && state_path(run->plan, path, sizeof(path), error)) {
		if (run->plan->arguments->output)
			done = sweep_cells_write(&run->cells, path, error);
		else
			unlink(path);
	}
	sweep_file_close(run->file);
	run->file = NULL;
	return done;
}

/* ---- all of it ---- */

static bool *shard_cells(const struct plan *plan)
{
	bool *wanted = memory_alloc(plan->cells.count, sizeof(*wanted));

	for (size_t i = 0; i < plan->cells.count; i++)
		wanted[i] = i % plan->shard_count == plan->shard_index;
	return wanted;
}

static bool ranks_meet(const struct plan *plan, struct ranks **ranks, struct error *error)
{
	char path[4096 + 64], *slash;

	*ranks = NULL;
	if (!plan->is_launched)
		return true;
	if (!state_path(plan, path, sizeof(path), error))
		return false;
	slash = strrchr(path, '/');
	if (slash == path)
		slash[1] = '\0';
	else if (slash)
		*slash = '\0';
	*ranks = ranks_open(&plan->launcher, slash ? path : ".",
			    sweep_question_hash(plan->question), error);
	return *ranks != NULL;
}

static bool cells_run(struct run *run, const bool *wanted, struct error *error)
{
	const struct plan *plan = run->plan;
	struct sweep sweep = {
		.count = plan->cells.count,
		.done = run->cells.done,
		.wanted = wanted,
		.threads = plan->threads,
		.prepare = trace_prepare,
		.run = cell_run,
		.finished = cell_finished,
		.lost = cell_lost,
		.context = run,
		.interrupted = run->interrupted,
	};
	bool *before = memory_alloc(plan->cells.count, sizeof(*before)), done;

	/* `done` changes while it runs. */
	memcpy(before, run->cells.done, plan->cells.count * sizeof(*before));
	sweep.done = before;
	for (size_t i = 0; i < plan->cells.count; i++)
		run->left += wanted[i] && !before[i];
	done = ranks_meet(plan, &sweep.ranks, error);
	if (done)
		done = sweep_run(&sweep, error);
	progress_end(&run->progress);
	ranks_close(sweep.ranks);
	memory_free(before);
	return done;
}

static void interrupted_say(const struct run *run)
{
	const struct sweep_cells *cells = &run->cells;

	fprintf(stderr, "refault: interrupted: %zu of %zu cells are done", cells->done_count,
		cells->count);
	if (run->file)
		fputs("; the same command with --resume goes on", stderr);
	fputc('\n', stderr);
}

static int answer(struct run *run, struct keep *keep, struct error *error)
{
	static const char *const told[] = {NULL};
	const struct plan *plan = run->plan;
	bool is_whole = run->cells.done_count == run->cells.count;

	if (sweep_answer_is_failure(&run->cells, error)) {
		struct error ignored;

		(void)file_finish(run, is_whole, &ignored);
		return command_fail(error);
	}
	if (is_whole) {
		keep_command(keep, "sweep", &command_sweep, plan->arguments, told);
		sweep_answer_keep(keep, &run->cells, &plan->arguments->answer);
		keep_store(keep);
	}
	if (!file_finish(run, is_whole, error))
		return command_fail(error);
	return sweep_answer_print(&run->cells, &plan->arguments->answer);
}

static int sweep_all(struct plan *plan, struct keep *keep)
{
	struct run run = {.plan = plan, .mutex = PTHREAD_MUTEX_INITIALIZER};
	bool is_first = !plan->is_launched || plan->launcher.rank == 0;
	bool *wanted = shard_cells(plan);
	struct error error;
	int code;

	run.interrupted = interrupt_begin();
	run.parts = memory_alloc(plan->threads, sizeof(*run.parts));
	sweep_cells_init(&run.cells, plan->question);
	if ((is_first && !file_open(&run, &error)) || !cells_run(&run, wanted, &error)) {
		code = command_fail(&error);
	} else if (!is_first) {
		code = 0;
	} else if (*run.interrupted) {
		interrupted_say(&run);
		code = 1;
	} else {
		code = answer(&run, keep, &error);
	}
	sweep_file_close(run.file);
	sweep_cells_deinit(&run.cells);
	held_destroy(run.held);
	memory_free(run.parts);
	memory_free(wanted);
	pthread_mutex_destroy(&run.mutex);
	return code;
}

static int sweep(const void *values)
{
	const struct sweep_arguments *arguments = values;
	struct plan plan;
	struct keep keep;
	struct error error;
	bool is_follower;
	int code;

	if (!keep_begin(&keep, &arguments->keep, &error))
		return command_fail(&error);
	if (plan_make(&plan, arguments, &error)) {
		code = sweep_all(&plan, &keep);
	} else {
		/* All ranks are asked the same: one says it. */
		is_follower = plan.is_launched && plan.launcher.rank > 0;
		code = is_follower ? 2 : command_fail(&error);
	}
	keep_end(&keep);
	json_decref(plan.question);
	array_deinit(&plan.cells);
	arena_deinit(&plan.arena);
	interrupt_end();
	return code;
}

static const char *const usage[] = {
	"sweep TRACE (--memory SIZES | --cgroup-limit SIZES) [--policy NAME,...] [--jobs N] "
	"[--resume]",
	"sweep TRACE --bare --pages NUMBERS [--policy NAME,...]",
	"sweep SCENARIO [--memory SIZES] [--policy NAME,...] [--vary KEY=V1,V2]... [--seed N,...]",
	"sweep ... --shard I/N -o FILE",
	NULL,
};

static const struct example examples[] = {
	{"sweep db.rft --memory 4GiB..64GiB:x2 --policy linux-6.18,linux-4.5,lru",
	 "what each policy reads again with how much memory"},
	{"sweep block.bin --bare --pages 1000..1000000:x10 --policy lru,fifo,arc --csv",
	 "misses of plain caches, for a plot"},
	{"sweep cache-pressure --vary machine.readahead=128KiB,512KiB --seed 1..5:+1",
	 "a scenario under two settings, means over five seeds"},
	{"sweep db.rft --memory 1GiB..64GiB:x1.2 --resume", "go on after it was stopped"},
	{"sweep db.rft --memory 1GiB..64GiB:x1.2 --shard 3/8 -o part-3.sweep",
	 "an eighth of it, in a job array; `refault merge part-*.sweep` is all of it"},
	{0},
};

const struct command command_sweep = {
	.usage = usage,
	.description = "Run a trace or a scenario under each policy with each size of memory, and "
		       "show the cells beside each other, the best of each size "
		       "marked, and where nine in ten of the re-reads are gone. The trace is "
		       "decoded once, and all cells share it in memory; --jobs of them "
		       "run at once, on all processors when not given. The answer is the same to "
		       "the byte whatever their "
		       "number. All results are kept as runs, which `refault compare` and `refault "
		       "report` take.\n\n"
		       "Cells that are done survive Ctrl-C, and kill: the same command with "
		       "--resume goes on. A cell that "
		       "fails is told, and takes no other with it (exit code 1).\n\n"
		       "Under mpirun or srun the cells are spread over the ranks, which ask rank 0 "
		       "for the next one when they are free; a rank that is "
		       "lost loses what it was doing, and another does it. Ranks need the trace "
		       "under the same path, a shared folder (the store's, or "
		       "-o's), and TCP between them; no MPI library. In a job array, --shard I/N "
		       "does a part, and `refault merge` puts the "
		       "parts together. docs/sweep.md and docs/cluster.md tell more.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct sweep_arguments),
	.operands_offset = FIELD(inputs),
	.operand = "TRACE or SCENARIO",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = sweep,
};
