/*
 * refault run: a scenario, under one setting or under several side by side
 */
#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cache/policy_options.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/keep.h"
#include "cli/on_kernel.h"
#include "cli/progress.h"
#include "machine/model/model.h"
#include "measure/value.h"
#include "report/comparison.h"
#include "report/report.h"
#include "report/settings.h"
#include "source/digest.h"
#include "source/player.h"
#include "source/scenario.h"
#include "source/shipped.h"
#include "study/trial.h"

struct run_arguments {
	struct text_list scenarios, sets, policies;
	struct given seed;
	const char *machine, *clock;
	bool json;
	struct on_kernel_arguments kernel;
	struct keep_arguments keep;
};

#define FIELD(name) offsetof(struct run_arguments, name)

extern const struct command command_run;

static const struct option options[] = {
	{"set", 0, "KEY=VALUE",
	 "change the scenario before it is checked: KEY is a path of its keys, as in "
	 "machine.cgroup_limit=96MiB or jobs.app.count=400; may be repeated",
	 OPTION_TEXTS, FIELD(sets), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...",
	 "instead of the scenario's own (`refault list policies`); several are shown side by side, "
	 "instead of what it compares",
	 OPTION_TEXTS, FIELD(policies), COMPLETE_POLICY},
	{"seed", 0, "N", "of all that is drawn by lot; the scenario's own when not given",
	 OPTION_NUMBER, FIELD(seed), COMPLETE_NONE},
	{"on", 0, "model|kernel",
	 "the machine: `model` (when not given) predicts, `kernel` has the kernel under it do it "
	 "in a memory cgroup, as root",
	 OPTION_TEXT, FIELD(machine), COMPLETE_WORDS},
	{"clock", 0, "real|scenario",
	 "on the kernel: `real` (when not given) has each thread of a job be one, as fast as this "
	 "machine is; `scenario` lets one operation after the other take as long as the "
	 "scenario's device and processor would, so that jobs go at the pace that they have in "
	 "the model",
	 OPTION_TEXT, FIELD(clock), COMPLETE_WORDS},
	ON_KERNEL_OPTIONS(run_arguments, kernel),
	KEEP_OPTIONS(run_arguments, keep),
	{"json", 0, NULL, "print JSON; a comparison gives {\"figures\": [...], \"runs\": [...]}",
	 OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

/* The arguments, and all settings to run: checked before the first of them runs. */
struct plan {
	const struct run_arguments *arguments;
	struct trial base;               /* the scenario as it is; on the kernel, what is run */
	const struct scenario *scenario; /* the base's */
	bool on_kernel;
	struct kernel_options kernel; /* all but progress */
	struct guest_kernel guest;
	struct arena arena;

	const char *key;       /* what differs; NULL: one run, nothing to compare */
	const char **settings; /* what the columns are called */
	size_t setting_count;
	struct trial *trials; /* the settings, for each cell in turn */
	size_t trial_count;
	struct result *results; /* copies: the trials' own */
	uint64_t *elapsed_ns;
	struct comparison_row *rows;
	size_t row_count;
};

/* ---- what is run ---- */

static bool setting_apply(struct policy_options *policy, const char *key, const char *value,
			  struct error *error)
{
	char *both;
	bool ok;

	if (strcmp(key, "policy") == 0)
		return *value ? policy_options_parse(policy, value, error)
			      : error_input(error, "policy is empty");
	both = memory_alloc(strlen(key) + strlen(value) + 2, 1);
	stpcpy(stpcpy(stpcpy(both, key), "="), value);
	ok = policy_options_set(policy, both, error);
	memory_free(both);
	return ok;
}

/* What is wrong with something that it sets, at the place where it does. Always false. */
static bool setting_blame(const struct scenario *scenario, const struct scenario_setting *setting,
			  struct error *error)
{
	const struct yaml_node *set =
		setting && setting->set_node ? setting->set_node->first : NULL;

	for (size_t i = 0; set && i < setting->set_count; i++, set = set->next) {
		if (strncmp(error->file, "--set ", 6) == 0 &&
		    strcmp(error->file + 6, setting->sets[i]) == 0)
			return scenario_error(scenario, set, error);
	}
	return false;
}

/*
 * The scenario with what the cell and the setting set (NULL: nothing), then what the user did. What
 * it compares was read once, and is not again.
 */
static bool trial_add(struct plan *plan, const struct scenario_setting *cell,
		      const struct scenario_setting *setting, struct error *error)
{
	const struct run_arguments *arguments = plan->arguments;
	size_t most = (cell ? cell->set_count : 0) + (setting ? setting->set_count : 0) +
		      arguments->sets.count + 3,
	       count = 0;
	const char **sets = memory_alloc(most, sizeof(*sets));
	struct trial *trial = &plan->trials[plan->trial_count];
	bool ok;

	for (size_t i = 0; cell && i < cell->set_count; i++)
		sets[count++] = cell->sets[i];
	for (size_t i = 0; setting && i < setting->set_count; i++)
		sets[count++] = setting->sets[i];
	for (size_t i = 0; i < arguments->sets.count; i++)
		sets[count++] = arguments->sets.at[i];
	sets[count++] = "cells=";
	sets[count++] = "figures=";
	sets[count++] = "compare=";
	ok = trial_open(trial, arguments->scenarios.at[0], sets, count, error);
	memory_free(sets);
	if (!ok)
		return setting_blame(plan->scenario, cell, error) ||
		       setting_blame(plan->scenario, setting, error);
	if (arguments->seed.given)
		trial->model.seed = arguments->seed.value;
	plan->trial_count++;
	return true;
}

/* Several --policy. */
static bool trials_by_policies(struct plan *plan, struct error *error)
{
	const struct text_list *policies = &plan->arguments->policies;

	if (policies->count > COMPARISON_SETTINGS_MAX)
		return error_input(error, "--policy can be given %d times at most",
				   COMPARISON_SETTINGS_MAX);
	plan->key = "policy";
	plan->setting_count = policies->count;
	for (size_t i = 0; i < policies->count; i++) {
		plan->settings[i] = policies->at[i];
		if (!trial_add(plan, NULL, NULL, error) ||
		    !policy_options_parse(&plan->trials[i].model.policy, policies->at[i], error))
			return false;
	}
	return true;
}

/* What the scenario compares: values of a policy's switch. */
static bool trials_by_switch(struct plan *plan, struct error *error)
{
	const struct scenario *scenario = plan->scenario;

	for (size_t i = 0; i < plan->setting_count; i++) {
		if (!trial_add(plan, NULL, NULL, error))
			return false;
		plan->trials[i].model.policy = plan->base.model.policy;
		if (!plan->key)
			continue;
		plan->settings[i] = scenario->variants[i];
		if (!setting_apply(&plan->trials[i].model.policy, plan->key, plan->settings[i],
				   error))
			return scenario_error(scenario, scenario->variant_nodes[i], error);
	}
	return true;
}

/* Settings that may change anything, in each cell. */
static bool trials_by_settings(struct plan *plan, struct error *error)
{
	const struct scenario *scenario = plan->scenario;
	size_t cells = scenario->cell_count ? scenario->cell_count : 1;

	for (size_t cell = 0; cell < cells; cell++) {
		for (size_t i = 0; i < plan->setting_count; i++) {
			plan->settings[i] = scenario->variants[i];
			if (!trial_add(plan, scenario->cell_count ? &scenario->cells[cell] : NULL,
				       &scenario->settings[i], error))
				return false;
		}
	}
	return true;
}

static bool trials_make(struct plan *plan, struct error *error)
{
	const struct scenario *scenario = plan->scenario;
	const struct text_list *policies = &plan->arguments->policies;
	struct model_options *base = &plan->base.model;
	size_t count;

	static_assert((int)SCENARIO_VARIANTS_MAX <= (int)COMPARISON_SETTINGS_MAX,
		      "what a scenario can compare can be shown");
	if (policies->count && !policy_options_parse(&base->policy, policies->at[0], error))
		return false;
	plan->key = scenario->compare_key;
	/*
	 * With one --policy there may be nothing to compare: it is the policy, or has no switches.
	 */
	if (plan->key && policies->count && !scenario->settings &&
	    (strcmp(plan->key, "policy") == 0 || !policy_has_switches(base->policy.policy)))
		plan->key = NULL;
	if (scenario->settings && policies->count)
		return error_input(error,
				   "--policy: this scenario compares settings, which name their "
				   "policies themselves (--set compare= for a run of its own)");
	plan->setting_count = plan->key ? scenario->variant_count : 1;
	count = policies->count > 1
			? policies->count
			: plan->setting_count * (scenario->cell_count ? scenario->cell_count : 1);
	plan->trials = memory_alloc(count, sizeof(*plan->trials));
	plan->settings = memory_alloc(count, sizeof(*plan->settings));
	if (policies->count > 1)
		return trials_by_policies(plan, error);
	return scenario->settings && plan->key ? trials_by_settings(plan, error)
					       : trials_by_switch(plan, error);
}

/* ---- the kernel ---- */

static bool clock_choose(struct plan *plan, struct error *error)
{
	const char *clock = plan->arguments->clock ? plan->arguments->clock : "real";

	plan->kernel.clock = KERNEL_CLOCK_REAL;
	if (strcmp(clock, "scenario") == 0)
		plan->kernel.clock = KERNEL_CLOCK_SCENARIO;
	else if (strcmp(clock, "real") != 0)
		return error_input(error, "--clock \"%.60s\": there are real and scenario", clock);
	return true;
}

/* What the kernel decides itself is refused, so that nobody believes that it was heeded. */
static bool kernel_check(struct plan *plan, struct error *error)
{
	const struct run_arguments *arguments = plan->arguments;

	if (arguments->policies.count)
		return error_input(error,
				   "--policy: on the kernel, that is what the kernel has; `refault "
				   "validate` holds a policy against it");
	if (!plan->base.model.is_cgroup)
		return error_input(error,
				   "on the kernel the workload runs in a memory cgroup: this "
				   "scenario is about a whole machine (--set "
				   "machine.cgroup_limit=SIZE)");
	if (arguments->kernel.guest && strcmp(arguments->scenarios.at[0], "-") == 0)
		return error_input(error,
				   "a guest needs the scenario as a file, not as standard input");
	/* One run: there is nothing to compare. */
	plan->key = NULL;
	return clock_choose(plan, error) &&
	       on_kernel_apply(&arguments->kernel, &plan->base.model, &plan->kernel, error) &&
	       on_kernel_guest(&arguments->kernel, &plan->guest, &plan->arena, error);
}

static bool machine_choose(struct plan *plan, struct error *error)
{
	const char *name = plan->arguments->machine ? plan->arguments->machine : "model";
	const char *extra =
		plan->arguments->clock ? "--clock" : on_kernel_given(&plan->arguments->kernel);

	if (strcmp(name, "kernel") == 0) {
		plan->on_kernel = true;
		return kernel_check(plan, error);
	}
	if (strcmp(name, "model") != 0)
		return error_input(error, "no machine \"%.80s\": there are model, kernel", name);
	return !extra ||
	       error_input(error, "%s is for a run on the kernel: add --on kernel", extra);
}

static struct op_source *scenario_open(void *context, struct error *error)
{
	struct plan *plan = context;

	return scenario_source_create(plan->scenario, plan->base.model.seed, error);
}

static void scenario_close(void *context, struct op_source *source)
{
	struct plan *plan = context;

	plan->base.elapsed_ns = scenario_source_elapsed_ns(source);
	op_source_destroy(source);
}

static bool run_on_kernel(struct plan *plan, struct error *error)
{
	const struct kernel_source source = {
		.open = scenario_open, .close = scenario_close, .context = plan};
	struct progress progress;
	bool done;

	on_kernel_begin(&plan->kernel, &progress, "running");
	done = kernel_run(&plan->kernel, &source, &plan->base.result, error);
	on_kernel_end(&progress);
	return done;
}

/* The same command there, with the scenario's own file. */
static bool run_in_guest(struct plan *plan, struct error *error)
{
	const struct text_list *sets = &plan->arguments->sets;
	const char **words = memory_alloc(2 * sets->count + 1, sizeof(*words));
	char path[PATH_MAX];
	const struct guest_machine machine = {.kernel = plan->guest,
					      .subcommand = "run",
					      .input = path,
					      .name = plan->scenario->name,
					      .words = words};
	bool done;

	for (size_t i = 0; i < sets->count; i++) {
		words[2 * i] = "--set";
		words[2 * i + 1] = sets->at[i];
	}
	done = shipped_find(path, sizeof(path), plan->arguments->scenarios.at[0], error) &&
	       guest_machine_run(&machine, &plan->kernel, &plan->base.result, error);
	memory_free(words);
	return done;
}

/* ---- the figures ---- */

static bool counter_find(enum counter_id *id, const char *name)
{
	for (*id = 0; *id < COUNTER_COUNT; ++*id) {
		if (strcmp(counter_name(*id), name) == 0)
			return true;
	}
	return false;
}

/* Which figures a workload has of its own shows when it has run. */
static bool has_workload(const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->job_count; i++) {
		if (yaml_get(scenario->jobs[i].node, "workload"))
			return true;
	}
	return false;
}

/* Is there such a value? `key` of `node` names it. */
static bool value_exists(const struct scenario *scenario, const struct yaml_node *node,
			 const char *key, const char *name, struct error *error)
{
	char text[VALUE_NAME_BYTES];
	const char *near;
	enum counter_id counter;

	if (counter_find(&counter, name) || value_name_exists(name) || has_workload(scenario))
		return true;
	near = value_name_nearest(text, NULL, name);
	error_input(error, "no counter \"%.60s\"%s%s%s", name, near ? " (nearest: \"" : "",
		    near ? near : "", near ? "\")" : "");
	return scenario_error(scenario, yaml_get(node, key), error);
}

/* A figure that is no plain counter. */
static bool value_check(const struct scenario *scenario, const struct scenario_figure *figure,
			struct error *error)
{
	if (!value_exists(scenario, figure->node, "counter", figure->counter, error))
		return false;
	if (figure->job_count == 0)
		return true;
	error_input(error, "\"%.60s\" is of the whole run: only plain counters are kept by job",
		    figure->counter);
	return scenario_error(scenario, yaml_get(figure->node, "jobs"), error);
}

static bool row_make(struct plan *plan, struct comparison_row *row,
		     const struct scenario_figure *figure, struct error *error)
{
	const struct scenario *scenario = plan->scenario;
	size_t stream_count = 0;
	const char **streams;

	for (size_t i = 0; i < figure->job_count; i++)
		stream_count += scenario->jobs[figure->jobs[i]].stream_count;
	streams = memory_alloc(stream_count + 1, sizeof(*streams));
	stream_count = 0;
	for (size_t i = 0; i < figure->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[figure->jobs[i]];

		for (size_t k = 0; k < job->stream_count; k++)
			streams[stream_count++] = job->streams[k];
	}
	*row = (struct comparison_row){
		.label = figure->label,
		.streams = streams,
		.stream_count = stream_count,
		.whole_passes = figure->counted == 1,
		.per_bytes = figure->per_bytes,
		.note = figure->note,
	};
	plan->row_count++;
	/*
	 * What was published belongs to what the scenario compares, not to what somebody else asks
	 * for.
	 */
	for (size_t i = 0; i < scenario->variant_count && plan->key == scenario->compare_key; i++) {
		row->published[i] = figure->published[i];
		row->published_known[i] = figure->published_known[i];
	}
	if (counter_find(&row->counter, figure->counter))
		return true;
	row->value = figure->counter;
	return value_check(scenario, figure, error);
}

static bool rows_make(struct plan *plan, struct error *error)
{
	plan->rows = memory_alloc(plan->scenario->figure_count + 1, sizeof(*plan->rows));
	for (size_t i = 0; i < plan->scenario->figure_count; i++) {
		if (!row_make(plan, &plan->rows[i], &plan->scenario->figures[i], error))
			return false;
	}
	for (size_t i = 0; i < plan->scenario->claim_count; i++) {
		const struct scenario_claim *claim = &plan->scenario->claims[i];

		if (!value_exists(plan->scenario, claim->node, "value", claim->value, error))
			return false;
	}
	return true;
}

/* ---- running ---- */

static bool plan_make(struct plan *plan, const struct run_arguments *arguments, struct error *error)
{
	*plan = (struct plan){.arguments = arguments};
	plan->scenario = &plan->base.scenario;
	if (!trial_open(&plan->base, arguments->scenarios.at[0], arguments->sets.at,
			arguments->sets.count, error))
		return false;
	if (arguments->seed.given)
		plan->base.model.seed = arguments->seed.value;
	return machine_choose(plan, error) && (plan->on_kernel || trials_make(plan, error)) &&
	       rows_make(plan, error);
}

static void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->trial_count; i++)
		trial_close(&plan->trials[i]);
	for (size_t i = 0; i < plan->row_count; i++)
		memory_free((void *)(uintptr_t)plan->rows[i].streams);
	memory_free(plan->rows);
	memory_free(plan->elapsed_ns);
	memory_free(plan->results);
	memory_free(plan->trials);
	memory_free(plan->settings);
	arena_deinit(&plan->arena);
	trial_close(&plan->base);
}

static bool run_all(struct plan *plan, struct error *error)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const volatile int *interrupted = interrupt_begin();
	struct progress progress;
	bool done;

	progress_begin(&progress, "running");
	for (size_t i = 0; i < plan->trial_count; i++) {
		plan->trials[i].model.progress = progress.wanted ? progress_update : NULL;
		plan->trials[i].model.progress_context = &progress;
		plan->trials[i].model.interrupted = interrupted;
	}
	done = trials_run(plan->trials, plan->trial_count, processors > 0 ? (size_t)processors : 1,
			  error);
	progress_end(&progress);
	return done;
}

/* Leave out what the next command sets anew: the memory. */
static void words_without_memory(struct text_list *words)
{
	size_t kept = 0;

	for (size_t i = 0; i < words->count; i++) {
		const char *next = i + 1 < words->count ? words->at[i + 1] : "";

		if (strcmp(words->at[i], "--set") == 0 &&
		    (strncmp(next, "machine.cgroup_limit=", 21) == 0 ||
		     strncmp(next, "machine.memory=", 15) == 0))
			i++;
		else
			words->at[kept++] = words->at[i];
	}
	words->count = kept;
}

/* The shortest way to name the scenario again: its own name, if that finds the file that was given. */
static const char *name_again(const struct plan *plan)
{
	const char *given = plan->arguments->scenarios.at[0], *name = plan->scenario->name;
	char path[PATH_MAX], given_path[PATH_MAX];
	struct stat a, b;
	struct error error;

	if (shipped_find(path, sizeof(path), name, &error) &&
	    shipped_find(given_path, sizeof(given_path), given, &error) && stat(path, &a) == 0 &&
	    stat(given_path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return name;
	return given;
}

/* The results in a row, as a comparison wants them; they stay the trials'. */
static void results_gather(struct plan *plan)
{
	plan->results = memory_alloc(plan->trial_count + 1, sizeof(*plan->results));
	plan->elapsed_ns = memory_alloc(plan->trial_count + 1, sizeof(*plan->elapsed_ns));
	for (size_t i = 0; i < plan->trial_count; i++) {
		plan->results[i] = plan->trials[i].result;
		plan->elapsed_ns[i] = plan->trials[i].elapsed_ns;
	}
}

/* The answer, made ready to be drawn as text or as JSON, and more than once. */
struct view {
	struct arena arena;
	struct report_options report; /* no colour */
	struct comparison comparison;
	struct settings_table table; /* if is_settings */
	bool is_settings;
};

static void view_settings(struct view *view, const struct plan *plan)
{
	const struct scenario *scenario = plan->scenario;
	size_t cells = scenario->cell_count;
	const char **labels = arena_alloc(&view->arena, (cells + 1) * sizeof(*labels));
	const char **published = arena_alloc(&view->arena, (cells + 1) * sizeof(*published));
	struct settings_claim *claims =
		arena_alloc(&view->arena, (scenario->claim_count + 1) * sizeof(*claims));

	view->is_settings = true;
	view->table = (struct settings_table){
		.comparison = &view->comparison,
		.cells = cells ? labels : NULL,
		.cells_published = published,
		.cell_count = cells,
		.claims = claims,
		.claim_count = scenario->claim_count,
	};
	for (size_t i = 0; i < cells; i++) {
		labels[i] = scenario->cells[i].label;
		published[i] = scenario->cells[i].published;
	}
	for (size_t i = 0; i < scenario->claim_count; i++) {
		const struct scenario_claim *claim = &scenario->claims[i];
		size_t first = cells ? claim->cell_index * plan->setting_count : 0;

		claims[i] = (struct settings_claim){
			.label = claim->label,
			.value = claim->value,
			.published = claim->published,
			.run = first + claim->setting_index,
			.against = claim->against ? first + claim->against_index : SIZE_MAX,
			.low = (double)claim->low_ppm / 1e6,
			.high = (double)claim->high_ppm / 1e6,
		};
	}
}

static void view_make(struct view *view, const struct plan *plan)
{
	static const char *const told[] = {"policy", "db", "no-store", NULL};
	/* Of a run on the kernel, the next command is to validate: it takes these not. */
	static const char *const not_validated[] = {"on", "clock", "db", "no-store", NULL};
	struct text_list words;

	*view = (struct view){0};
	words = command_repeat(&command_run, plan->arguments,
			       plan->on_kernel ? not_validated : told, &view->arena);
	words_without_memory(&words);
	view->report = (struct report_options){
		.input = name_again(plan),
		.words = words.at,
		.word_count = words.count,
	};
	view->comparison = (struct comparison){
		.summary = plan->scenario->summary,
		.key = plan->key,
		.settings = plan->settings,
		.results = plan->results,
		.elapsed_ns = plan->elapsed_ns,
		.count = plan->setting_count,
		.rows = plan->rows,
		.row_count = plan->row_count,
		.source = plan->scenario->source,
		.see = plan->scenario->see,
	};
	if (plan->key && plan->scenario->settings && strcmp(plan->key, "settings") == 0)
		view_settings(view, plan);
}

static const struct result *only_result(const struct plan *plan)
{
	return plan->on_kernel ? &plan->base.result : &plan->trials[0].result;
}

static json_t *view_json(const struct view *view, const struct plan *plan)
{
	if (!plan->key)
		return report_json(only_result(plan), &view->report);
	if (view->is_settings)
		return settings_json(&view->table, &view->report);
	return comparison_json(&view->comparison, &view->report);
}

static void view_text(FILE *out, const struct view *view, const struct plan *plan, bool colour)
{
	struct report_options report = view->report;

	report.colour = colour;
	if (!plan->key)
		report_text(out, only_result(plan), &report);
	else if (view->is_settings)
		settings_text(out, &view->table, &report);
	else
		comparison_text(out, &view->comparison, &report);
}

/* ---- what is kept ---- */

/* "linux-4.5", "referenced_on_first_use=yes", "xfs, with wal_recycle": what is different in it. */
static const char *label_of(const struct view *view, const struct plan *plan, size_t index,
			    struct arena *arena)
{
	const char *setting = plan->settings[index % plan->setting_count];
	const char *before = "", *between = "";
	size_t bytes;
	char *label;

	if (view->is_settings && view->table.cells) {
		before = view->table.cells[index / plan->setting_count];
		between = ", ";
	} else if (!view->is_settings && strcmp(plan->key, "policy") != 0) {
		before = plan->key;
		between = "=";
	}
	bytes = strlen(before) + strlen(between) + strlen(setting) + 1;
	label = arena_alloc(arena, bytes);
	snprintf(label, bytes, "%s%s%s", before, between, setting);
	return label;
}

static void keep_all(struct keep *keep, struct view *view, const struct plan *plan)
{
	/* The result tells these, or the scenario's digest. */
	static const char *const told[] = {"set",  "policy", "seed",       "on",           "guest",
					   "runs", "images", "image-size", "block-device", NULL};
	char digest[DIGEST_BYTES], *text = NULL;
	size_t bytes;
	FILE *out;

	if (plan->arguments->keep.no_store)
		return;
	keep_command(keep, "run", &command_run, plan->arguments, told);
	if (!plan->key) {
		digest_scenario(digest,
				plan->on_kernel ? plan->scenario : &plan->trials[0].scenario);
		keep_run(keep, only_result(plan), &view->report, NULL, digest);
		return;
	}
	for (size_t i = 0; i < plan->trial_count; i++) {
		digest_scenario(digest, &plan->trials[i].scenario);
		keep_run(keep, &plan->trials[i].result, &view->report,
			 label_of(view, plan, i, &view->arena), digest);
	}
	out = open_memstream(&text, &bytes);
	if (!out)
		return;
	view_text(out, view, plan, false);
	fclose(out);
	keep_answer(keep, text, view_json(view, plan), true);
}

static void answer(struct keep *keep, const struct plan *plan)
{
	struct view view;

	view_make(&view, plan);
	keep_all(keep, &view, plan);
	keep_store(keep);
	if (plan->arguments->json)
		report_json_print(stdout, view_json(&view, plan));
	else
		view_text(stdout, &view, plan, command_may_colour(stdout));
	arena_deinit(&view.arena);
}

static int run(const void *values)
{
	const struct run_arguments *arguments = values;
	struct plan plan;
	struct keep keep;
	struct error error;
	char manual[PATH_MAX];
	int code = 0;

	if (!keep_begin(&keep, &arguments->keep, &error))
		return command_fail(&error);
	if (!plan_make(&plan, arguments, &error)) {
		code = command_fail(&error);
		if (error.kind == ERROR_INPUT && error.line)
			fprintf(stderr, "Nothing was run. %s lists the keys of a scenario.\n",
				shipped_manual(manual, sizeof(manual)));
		goto out;
	}
	if (!(plan.guest.image ? run_in_guest(&plan, &error)
	      : plan.on_kernel ? run_on_kernel(&plan, &error)
			       : run_all(&plan, &error))) {
		code = command_fail(&error);
		goto out;
	}
	results_gather(&plan);
	answer(&keep, &plan);
	interrupt_end();
out:
	keep_end(&keep);
	plan_free(&plan);
	return code;
}

static const char *const usage[] = {
	"run SCENARIO [--set KEY=VALUE]... [--policy NAME[,KEY=VALUE]...]... [--seed N] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"run hello", "the smallest scenario; its file is made to be changed"},
	{"run cache-pressure-256m",
	 "one-use dentries and inodes against two files, with the published figures beside"},
	{"run ./mine.yaml --policy linux-4.5 --policy linux-6.18 --policy lru",
	 "a scenario of one's own under three policies"},
	{"run inode-pressure-256m --on kernel",
	 "on the kernel of this machine, for real (as root)"},
	{"run hello --set machine.cgroup_limit=96MiB --set jobs.app.pattern=uniform",
	 "the same with another machine and another order"},
	{0},
};

const struct command command_run = {
	.usage = usage,
	.description =
		"Run a scenario: a machine, files, and jobs that read, write, create and look up, "
		"each "
		"at its own pace. SCENARIO is a file, or the name of one that ships (`refault list "
		"scenarios`); docs/scenarios.md explains the format (installed, it is "
		"share/doc/refault/scenarios.md).\n\n"
		"A scenario that compares settings of a policy is run under each, and the figures "
		"are "
		"shown side by side, with what was published beside them. A mistake in a scenario "
		"is "
		"named with its line and column, and nothing is run.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct run_arguments),
	.operands_offset = FIELD(scenarios),
	.operand = "SCENARIO",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_SCENARIO,
	.run = run,
};
